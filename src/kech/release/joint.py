"""Joint candidates: among how many each row hides in all releases of a table that changes.

In: releases, each linked to its own version of the table, with a key that finds a row again in the next version.
Out: the candidates of every row that several releases could hold.

    C_v(r) = rows of version v that some class of its release covers together with row r
    C(r)   = the intersection of C_v(r) over all v whose release could hold r

The joint k is the smallest |C(r)|, or the fewest people among C(r).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kech.release.composition import Cover, count_candidates, cover_classes, find_cover, intersect_all
from kech.release.linkage import Bools, Linkage, check_covers, link
from kech.release.published import Ints


@dataclass(frozen=True, eq=False, repr=False)
class Version:
    """A release and its original, whose rows carry numbers that are the same in all versions."""

    linkage: Linkage
    key: Ints

    def cover(self, option: str) -> Cover:
        """Which keys could be in which class."""
        cover = find_cover(self.linkage, option)
        order = np.argsort(self.key[cover.row], kind="stable")
        return Cover(self.key[cover.row][order], cover.cell[order])

    def cover_held(self, earlier: Sequence["Version"], option: str) -> Cover:
        """Which keys could be in which class of a series, which may still hold their cells of earlier versions."""
        release = self.linkage.release
        pairs = []
        for version in (self, *earlier):
            cover = cover_classes(link(release, version.linkage.table))
            pairs.append(np.stack([version.key[cover.row], cover.cell]))
        keys, cells = np.unique(np.concatenate(pairs, axis=1), axis=1)
        classes = len(release.labels)
        check_covers(self.linkage, np.arange(classes), np.bincount(cells, minlength=classes), option)
        return Cover(keys, cells)


def cover_all(versions: Sequence[Version], option: str) -> list[Cover]:
    """Which keys could be in which class of every release."""
    return [
        version.cover_held(versions[:place], option)
        if "series" in version.linkage.release.document
        else version.cover(option)
        for place, version in enumerate(versions)
    ]


@dataclass(frozen=True, eq=False, repr=False)
class JointCandidates:
    """Keys that several releases could hold, and the rows or people that each hides among."""

    key: Ints
    count: Ints


def count_joint(
    covers: Sequence[Cover], enough: int, person: Ints | None = None, check: Callable[[int], None] | None = None
) -> JointCandidates:
    """Candidates of every key in several covers; counts of `enough` or more may be too low, never too high.

    Keys that the same releases could hold are counted together: their candidates are in all of these.
    """
    present = find_present(covers)
    patterns, pattern_of = np.unique(present, axis=0, return_inverse=True)
    keys, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for number in np.flatnonzero(patterns.sum(axis=1) > 1).tolist():
        pattern = patterns[number]
        both = np.all(present[:, pattern], axis=1)
        joint = intersect_all([restrict(covers[v], both) for v in np.flatnonzero(pattern).tolist()], check)
        covered = np.unique(joint.row)
        mine = pattern_of.ravel()[covered] == number
        keys.append(covered[mine])
        counts.append(count_candidates(joint, enough, person)[mine])
    return JointCandidates(np.concatenate(keys), np.concatenate(counts))


def find_present(covers: Sequence[Cover]) -> Bools:
    """For each key and each cover whether it could be in a class."""
    keys = 1 + max(int(cover.row.max(initial=-1)) for cover in covers)
    present = np.zeros((keys, len(covers)), bool)
    for place, cover in enumerate(covers):
        present[cover.row, place] = True
    return present


def restrict(cover: Cover, mask: Bools) -> Cover:
    """A cover of the keys that the mask chooses."""
    kept = mask[cover.row]
    return Cover(cover.row[kept], cover.cell[kept])

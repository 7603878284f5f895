"""Joint candidates: among how many each row hides in all releases of a table that changes.

In: releases, each linked to its own version of the table, with a key that finds a row again in the next version.
Out: the candidates of every row that several releases could hold.

    C_v(r) = rows of version v that some class of its release covers together with row r
    C(r)   = the intersection of C_v(r) over all v whose release must hold r

The joint k is the smallest |C(r)|, or the fewest people among C(r).  A release must hold every row of its version that
a class covers, but for one of a series that says that rows wait or were withdrawn: a row may wait, unless an earlier
release in which none waits could hold it; and it may be withdrawn, if it could be in a class that lost rows since.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kech.errors import BadOption
from kech.release.composition import (
    Cover,
    count_candidates,
    count_contents,
    cover_classes,
    find_cover,
    find_same,
    intersect_all,
)
from kech.release.linkage import Bools, Linkage, check_covers, link
from kech.release.published import Ints

HELD = (
    "some classes hold rows that none of the originals has: rows that left stay with their cohorts. Name all releases "
    "of the series from the first on, each with its original."
)


@dataclass(frozen=True, eq=False, repr=False)
class LinkedVersion:
    """A release and its original, whose rows carry numbers that are the same in all versions."""

    linkage: Linkage
    key: Ints

    @property
    def section(self) -> Mapping[str, Any] | None:
        """What the certificate of a release of a series says about rows that came and went."""
        return self.linkage.release.document.get("series")

    def cover(self, option: str) -> Cover:
        """Which keys could be in which class."""
        cover = find_cover(self.linkage, option)
        order = np.argsort(self.key[cover.row], kind="stable")
        return Cover(self.key[cover.row][order], cover.cell[order])

    def cover_held(self, earlier: Sequence["LinkedVersion"], option: str) -> Cover:
        """Which keys could be in which class of a series, which may still hold their cells of earlier versions."""
        release = self.linkage.release
        pairs = []
        for version in (self, *earlier):
            cover = cover_classes(link(release, version.linkage.table))
            pairs.append(np.stack([version.key[cover.row], cover.cell]))
        keys, cells = np.unique(np.concatenate(pairs, axis=1), axis=1)
        classes = len(release.labels)
        try:
            check_covers(self.linkage, np.arange(classes), np.bincount(cells, minlength=classes), option)
        except BadOption:
            if release.document["series"]["version"] == 1 + len(earlier):
                raise
            raise BadOption(option, HELD) from None
        return Cover(keys, cells)


def cover_all(versions: Sequence[LinkedVersion], option: str) -> list[Cover]:
    """Which keys could be in which class of every release."""
    return [
        version.cover_held(versions[:place], option) if version.section else version.cover(option)
        for place, version in enumerate(versions)
    ]


def find_certain(versions: Sequence[LinkedVersion], covers: Sequence[Cover]) -> Bools:
    """For each key and each release whether it must be in a class."""
    certain = find_present(covers)
    for place, version in enumerate(versions):
        section, earlier = version.section, versions[:place]
        if section and section["waiting"]:
            waits = np.ones(len(certain), bool)
            for before in (each for each in earlier if each.section and not each.section["waiting"]):
                waits[before.key] = False
            certain[waits, place] = False
        if section and count_missing(section):
            certain[find_withdrawn(version, earlier, covers, len(certain)), place] = False
    return certain


def find_withdrawn(
    version: LinkedVersion, earlier: Sequence[LinkedVersion], covers: Sequence[Cover], keys: int
) -> Bools:
    """Keys that could be in a class that lost rows since an earlier release; all, where rows were missing from it."""
    may_be = np.zeros(keys, bool)
    of_series = [(each, cover) for each, cover in zip(earlier, covers, strict=False) if each.section]
    for before, cover in of_series:
        may_be[cover.row[find_shrunk(before.linkage, version.linkage)[cover.cell]]] = True
    first = of_series[0][0].section if of_series else version.section
    return may_be | bool(first and count_missing(first))


def find_shrunk(before: Linkage, after: Linkage) -> Bools:
    """Of each class of a release whether a later one lacks some of its rows, by label and other cells."""
    columns = [name for name in before.release.cells if name in after.release.cells]
    old, new, same = count_contents(before, columns), count_contents(after, columns), find_same(before, after)
    return np.array([place not in same or bool(old[place] - new[same[place]]) for place in range(len(old))], bool)


def count_missing(section: Mapping[str, Any]) -> int:
    """Rows that the series published once and this release lacks."""
    return int(section["withdrawn"] + section["withdrawn_before"] - section["returned"])


@dataclass(frozen=True, eq=False, repr=False)
class JointCandidates:
    """Keys that several releases must hold, and the rows or people that each hides among."""

    key: Ints
    count: Ints


def count_joint(
    covers: Sequence[Cover],
    certain: Bools,
    enough: int,
    person: Ints | None = None,
    check: Callable[[int], None] | None = None,
) -> JointCandidates:
    """Candidates of every key that several releases must hold; counts of `enough` or more may be too low, not too high.

    Keys that the same releases must hold are counted together: their candidates could be in all of these.
    """
    present = find_present(covers)
    patterns, pattern_of = np.unique(certain, axis=0, return_inverse=True)
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

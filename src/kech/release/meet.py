"""Meet: the rows that stay together through several releases of a table, and the joint k.

In: covers of releases by the same numbers of rows.  Out: a `Meet`; candidates of every row.

    M(r) = the rows that could be with row r in one class of every release that holds r
    joint k = the fewest rows, or people, of any such intersection of classes, and no more than its smallest class holds

Where the class of every row is known, the M(r) are the classes of the meet of the partitions.  A row that fits several
classes of a release is read as one that stays under equal labels where it can; else it counts in every intersection.
Somebody who knows the versions of a row excludes from M(r) those that must be in a release that cannot hold r.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kech.release.covers import (
    Cover,
    count_candidates,
    count_distinct,
    find_present,
    find_smallest_cells,
    intersect_all,
    pair_cells,
    restrict,
)
from kech.release.linkage import Bools
from kech.release.published import Ints, Published

Check = Callable[[int], None]


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedClasses:
    """Of each class of a release: the number of its labels, the same in all releases, and the rows it holds."""

    label: Ints
    size: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Meet:
    """Keys that several releases hold, and the rows or people that each stays together with."""

    key: Ints
    together: Ints  # in the smallest intersection of classes that it could be in
    undecided: int  # keys that could be in several classes of a release
    at_least: int | None  # what joint k is in every reading: of each intersection only rows that must be in it count

    @property
    def joint_k(self) -> int | None:
        """The smallest intersection; None where no key is in several releases."""
        return int(self.together.min()) if len(self.key) else None

    def find_below(self, k: int) -> Ints:
        """Keys that stay together with fewer than k."""
        return self.key[self.together < k]


@dataclass(frozen=True, eq=False, repr=False)
class JointCandidates:
    """Keys that several releases hold, and the rows or people that each shares a class with in all of them."""

    key: Ints
    count: Ints


def find_meet(
    covers: Sequence[Cover],
    classes: Sequence[ReleasedClasses],
    holders: Bools,
    surely: Bools,
    person: Ints | None = None,
    check: Check | None = None,
) -> Meet:
    """The meet of several releases.

    `holders` says which releases count for a key, and `surely` which must hold it.  `check` hears how many pairs of a
    key and an intersection there will be.
    """
    keys, together, surest, undecided = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [], 0
    for is_mine, parts in list_patterns(covers, holders, surely):
        joint, most = meet_all(list(parts.values()), [classes[v] for v in parts], check)
        covered, first = np.unique(joint.row, return_index=True)
        mine = is_mine[covered]
        keys.append(covered[mine])
        fewest = np.minimum.reduceat(most, first) if len(first) else first
        together.append(np.minimum(find_smallest_cells(joint, person), fewest)[mine])
        surest += count_surest(intersect_all(list(parts.values()), check), person)[mine].tolist()
        fits = [np.bincount(part.row, minlength=len(is_mine)) > 1 for part in parts.values()]
        undecided += int((np.logical_or.reduce(fits) & is_mine)[covered[mine]].sum())
    in_one_reading = np.concatenate(together)
    at_least = min([*surest, *in_one_reading.tolist()], default=None)
    return Meet(np.concatenate(keys), in_one_reading, undecided, at_least)


def count_surest(joint: Cover, person: Ints | None) -> Ints:
    """For each row the rows, or people, that must be with it, whichever of its intersections it is in."""
    _, first, cells = np.unique(joint.row, return_index=True, return_counts=True)
    if not len(first):
        return first
    who = joint.row if person is None else person[joint.row]
    is_sure = np.repeat(cells == 1, cells)
    sure = np.zeros(int(joint.cell.max()) + 1, np.int64)
    counts = count_distinct(joint.cell[is_sure], who[is_sure])
    sure[: len(counts)] = counts
    fewest = np.minimum.reduceat(sure[joint.cell], first)
    return np.asarray(np.maximum(fewest + (cells > 1) * (person is None), 1))


def count_joint(
    covers: Sequence[Cover],
    holders: Bools,
    surely: Bools,
    enough: int,
    person: Ints | None = None,
    check: Check | None = None,
) -> JointCandidates:
    """Candidates of every key that several releases hold; counts of `enough` or more may be too low, not too high."""
    keys, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for is_mine, parts in list_patterns(covers, holders, surely):
        joint = intersect_all(list(parts.values()), check)
        covered = np.unique(joint.row)
        mine = is_mine[covered]
        keys.append(covered[mine])
        counts.append(count_candidates(joint, enough, person)[mine])
    return JointCandidates(np.concatenate(keys), np.concatenate(counts))


def list_patterns(covers: Sequence[Cover], holders: Bools, surely: Bools) -> Iterator[tuple[Bools, dict[int, Cover]]]:
    """Keys that the same releases hold, with the covers of these by all keys that could be held by the same ones."""
    present = find_present(covers, len(holders))
    patterns, pattern_of = np.unique(np.hstack([holders & present, present]), axis=0, return_inverse=True)
    for number in np.flatnonzero(patterns[:, : len(covers)].sum(axis=1) > 1).tolist():
        holds, could_hold = np.split(patterns[number], 2)
        fits = np.asarray(present[:, holds].all(axis=1) & ~surely[:, ~could_hold].any(axis=1))
        yield pattern_of.ravel() == number, {v: restrict(covers[v], fits) for v in np.flatnonzero(holds).tolist()}


def meet_all(covers: Sequence[Cover], classes: Sequence[ReleasedClasses], check: Check | None) -> tuple[Cover, Ints]:
    """The intersections of all covers, each row under equal labels from one to the next where it can.

    With each pair the rows of its smallest class, of which an intersection holds no more.
    """
    joint, label, most = covers[0], classes[0].label[covers[0].cell], classes[0].size[covers[0].cell]
    for cover, released in zip(covers[1:], classes[1:], strict=True):
        intersection = Cover(joint.row, np.arange(len(joint.row)))
        if check:
            check(int(np.bincount(cover.row, minlength=int(joint.row.max(initial=-1)) + 1)[joint.row].sum()))
        row, ours, theirs = pair_cells(intersection, cover)
        kept = prefer_equal_labels(row, label[ours] == released.label[theirs])
        row, ours, theirs = row[kept], ours[kept], theirs[kept]
        pairs = joint.cell[ours] * (int(theirs.max(initial=0)) + 1) + theirs
        joint, label = Cover(row, np.unique(pairs, return_inverse=True)[1].ravel()), released.label[theirs]
        most = np.minimum(most[ours], released.size[theirs])
    return joint, most


def prefer_equal_labels(row: Ints, is_same: Bools) -> Bools:
    """Which pairs to keep: those with equal labels of rows that have such a pair, otherwise all."""
    has_same = np.zeros(int(row.max(initial=-1)) + 1, bool)
    has_same[row[is_same]] = True
    return is_same | ~has_same[row]


def list_classes(releases: Sequence[Published]) -> list[ReleasedClasses]:
    """The classes of each release; those of two releases have the same number where all labels are equal."""
    numbers: dict[tuple[object, ...], int] = {}
    classes = []
    for release in releases:
        names = sorted(release.quasi_identifiers)
        columns = zip(*(release.column_labels(name) for name in names), strict=True)
        label = np.array([numbers.setdefault((*names, *labels), len(numbers)) for labels in columns], np.int64)
        classes.append(ReleasedClasses(label, release.sizes))
    return classes

"""Composition: what several releases of one table tell together.

In: releases, each linked to the table they were made of.  Out: which classes were merged, or the joint candidates.
A record that is found in several releases could be any row that all its classes cover.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce

import numpy as np

from kech.certificate import Cell
from kech.linkage import Bools, Linkage, LinkedColumn, check_covers
from kech.published import Ints, plain


@dataclass(frozen=True, slots=True)
class Composition:
    """What is left to hide among for somebody who has several releases; k is the smallest class of any of them."""

    rows: int
    k: int
    joint_k: int
    below: int  # rows with fewer than k candidates
    worst_k: int  # in any intersection of classes, also of those in which nobody may be


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Cover:
    """Which rows could be in which cell; rows ascend, and each stands once for every cell it could be in."""

    row: Ints
    cell: Ints

    @property
    def sizes(self) -> Ints:
        """Rows that could be in each cell."""
        return np.bincount(self.cell)


def compose(linkages: Sequence[Linkage], option: str) -> Composition:
    """How many rows a person is confused with, at least, by somebody who has all these releases.

    With C_i(r) the rows that some class of release i covers together with row r,

        joint k = min_r |C_1(r) & C_2(r) & ...|

    Where no boxes overlap, these are the classes of the joined table.
    """
    k = min(int(linkage.release.sizes.min()) for linkage in linkages)
    joint = reduce(intersect, [find_cover(linkage, option) for linkage in linkages])
    found = count_candidates(joint, k)
    joint_k, worst_k = (int(counts.min(initial=linkages[0].rows)) for counts in (found, joint.sizes))
    return Composition(len(found), k, joint_k, int((found < k).sum()), worst_k)


def count_candidates(cover: Cover, enough: int) -> Ints:
    """For each covered row the rows it shares a cell with, itself too; from `enough` on, not more than there are."""
    rows, first, cells = np.unique(cover.row, return_index=True, return_counts=True)
    if not len(rows):
        return rows
    found = np.maximum.reduceat(cover.sizes[cover.cell], first)
    by_cell = cover.row[np.argsort(cover.cell, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(cover.sizes)])
    for place in np.flatnonzero((found < enough) & (cells > 1)).tolist():
        held = cover.cell[first[place] : first[place] + cells[place]].tolist()
        found[place] = len(set().union(*(by_cell[starts[cell] : starts[cell + 1]].tolist() for cell in held)))
    return found


def find_cover(linkage: Linkage, option: str) -> Cover:
    """The rows that each class of a release covers; a table that lacks some of its people is another one."""
    held = [linkage.candidates(group) for group in range(len(linkage.release.labels))]
    counts = np.array(list(map(len, held)))
    check_covers(linkage, np.arange(len(held)), counts, option)
    rows, cells = np.concatenate(held), np.repeat(np.arange(len(held)), counts)
    order = np.argsort(rows, kind="stable")
    return Cover(rows[order], cells[order])


def intersect(first: Cover, second: Cover) -> Cover:
    """Every pair of cells that some row could be in."""
    rows = int(max(first.row.max(initial=-1), second.row.max(initial=-1))) + 1
    times = np.bincount(second.row, minlength=rows)
    starts = np.concatenate([[0], np.cumsum(times)])[:-1]
    repeats = times[first.row]
    nth = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    row, ours = np.repeat(first.row, repeats), np.repeat(first.cell, repeats)
    theirs = second.cell[starts[row] + nth]
    pairs = ours * (int(second.cell.max(initial=0)) + 1) + theirs
    return Cover(row, np.unique(pairs, return_inverse=True)[1].ravel())


# -- nested releases -----------------------------------------------------------------------------------------


def is_coarsening(later: Linkage, earlier: Linkage) -> bool:
    """Whether the later file could have been made from the earlier one alone, by merging classes and leaving some out.

    Each earlier class goes into a later one whose labels cover all that its own cover; then every later class must
    have as many rows as went into it, with the same cells in all columns that both files publish as they are.
    """
    into = find_merges(earlier, later)
    if into is None:
        return False
    common = [name for name in earlier.release.cells if name in later.release.cells]
    moved = Counter(zip(into[earlier.release.group].tolist(), *cells_of(earlier, common), strict=True))
    found = Counter(zip(later.release.group.tolist(), *cells_of(later, common), strict=True))
    return found == Counter({key: rows for key, rows in moved.items() if key[0] >= 0})


def cells_of(linkage: Linkage, columns: Sequence[str]) -> list[list[Cell]]:
    """Cells that are published as they are, in a form that CSV and Parquet share."""
    return [[plain(cell) for cell in linkage.release.cells[name]] for name in columns]


def find_merges(earlier: Linkage, later: Linkage) -> Ints | None:
    """The later class that each earlier one goes into, -1 for none; None where the later file could not lack it."""
    missing = earlier.release.rows - later.release.rows
    known = {column.axis["column"]: column for column in earlier.columns}
    holders = [Holder(known.get(column.axis["column"]), column) for column in later.columns]
    places = [list(known).index(name) if name in known else None for name in later.release.quasi_identifiers]
    same = {labels: group for group, labels in enumerate(later.release.labels)}
    into = []
    for labels, rows in zip(earlier.release.labels, earlier.release.sizes.tolist(), strict=True):
        found = tuple(None if place is None else labels[place] for place in places)
        into.append(choose_holder(holders, found, same.get(found), later.release.sizes))
        missing -= rows if into[-1] < 0 else 0
        if missing < 0:
            return None
    return np.array(into, np.int64)


def choose_holder(holders: Sequence["Holder"], labels: tuple[Cell, ...], same: int | None, sizes: Ints) -> int:
    """The class with equal labels, else the smallest one that covers all that these labels cover, else none: -1."""
    pairs = list(zip(holders, labels, strict=True))
    if same is not None and all(holder.holds(label, label) for holder, label in pairs):
        return same
    groups = np.flatnonzero(np.logical_and.reduce([holder.holding(label) for holder, label in pairs]))
    return int(groups[np.argmin(sizes[groups])]) if len(groups) else -1


@dataclass(frozen=True, eq=False, repr=False)
class Holder:
    """One quasi-identifier of two releases; where the earlier one lacks it, anything may be below its labels."""

    earlier: LinkedColumn | None
    later: LinkedColumn

    @cached_property
    def lacking(self) -> tuple[Ints, Bools]:
        """For each later class the number of its label; for each label the distinct cells it does not cover."""
        place = {label: i for i, label in enumerate(dict.fromkeys(self.later.labels))}
        of_class = np.array([place[label] for label in self.later.labels])
        return of_class, ~np.stack([self.later.covered(label) for label in place])

    def occurring(self, label: Cell) -> Bools:
        """The distinct cells below an earlier label."""
        below = self.later.counts > 0
        return below if self.earlier is None else np.asarray(below & self.earlier.covered(label))

    def holds(self, label: Cell, within: Cell) -> bool:
        """Whether a later label covers all that an earlier one covers."""
        return not bool((self.occurring(label) & ~self.later.covered(within)).any())

    @cached_property
    def holding(self) -> Callable[[Cell], Bools]:
        """Of an earlier label: which later classes have a label that covers all it covers."""
        of_class, lacking = self.lacking
        return lru_cache(maxsize=1024)(lambda label: ~np.any(lacking[:, self.occurring(label)], axis=1)[of_class])

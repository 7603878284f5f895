"""Composition: what several releases of one table tell together.

In: releases, each linked to the table they were made of.  Out: which classes were merged, or the joint candidates.
A record that is found in several releases could be any row that all its classes cover.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np

from kech.certificate import Cell
from kech.linkage import Bools, Linkage, LinkedColumn, check_covers
from kech.published import Ints, plain


@dataclass(frozen=True, slots=True)
class Composition:
    """Candidates of a record in several releases at once; `below` rows have fewer than k, the smallest class of any."""

    rows: int
    k: int
    joint_k: int
    below: int


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
    """The smallest number of rows that a record could be, for somebody who has all these releases.

    With C_i(r) the rows that the class of row r in release i covers, joint k = min_r |C_1(r) & C_2(r) & ...|.
    Where boxes overlap, a row could be in several classes: the smallest intersection counts; joint k is at least that.
    """
    least = joint_candidates([find_cover(linkage, option) for linkage in linkages])
    k = min(int(linkage.release.sizes.min()) for linkage in linkages)
    return Composition(len(least), k, int(least.min(initial=linkages[0].rows)), int((least < k).sum()))


def joint_candidates(covers: Sequence[Cover]) -> Ints:
    """For each row that all releases cover, its candidates where they are fewest."""
    joint = reduce(intersect, covers)
    rows, first = np.unique(joint.row, return_index=True)
    return np.minimum.reduceat(joint.sizes[joint.cell], first) if len(rows) else rows


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
    holders = [find_holders(earlier, column) for column in later.columns]
    ours, theirs = earlier.release.quasi_identifiers, later.release.quasi_identifiers
    places = [ours.index(name) if name in ours else None for name in theirs]
    same = {labels: group for group, labels in enumerate(later.release.labels)}
    into = []
    for labels, rows in zip(earlier.release.labels, earlier.release.sizes.tolist(), strict=True):
        found = tuple(None if place is None else labels[place] for place in places)
        holding = np.logical_and.reduce([hold(label) for hold, label in zip(holders, found, strict=True)])
        into.append(choose_holder(holding, same.get(found), later.release.sizes))
        missing -= rows if into[-1] < 0 else 0
        if missing < 0:
            return None
    return np.array(into, np.int64)


def choose_holder(holding: Bools, same: int | None, sizes: Ints) -> int:
    """The class with equal labels, else the smallest that covers them, else none: -1."""
    if same is not None and holding[same]:
        return same
    groups = np.flatnonzero(holding)
    return int(groups[np.argmin(sizes[groups])]) if len(groups) else -1


def find_holders(earlier: Linkage, later_column: LinkedColumn) -> Callable[[Cell], Bools]:
    """Of an earlier label: which later classes have a label in this column that covers all it covers."""
    name = later_column.axis["column"]
    ours = next((column for column in earlier.columns if column.axis["column"] == name), None)
    labels = list(dict.fromkeys(later_column.labels))
    place = {label: i for i, label in enumerate(labels)}
    of_class = np.array([place[label] for label in later_column.labels])
    lacking = ~np.stack([later_column.covered(label) for label in labels])

    @lru_cache(maxsize=1024)
    def holding(label: Cell) -> Bools:
        covered = np.ones(lacking.shape[1], bool) if ours is None else ours.covered(label)
        occurring = covered & (later_column.counts > 0)
        lacks = np.asarray(lacking[:, occurring].any(axis=1))
        return np.asarray(~lacks[of_class])

    return holding

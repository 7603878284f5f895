"""Covers: which rows of a table could be in which class of a release, and in which classes of several.

In: releases, each linked to a table.  Out: a `Cover`; intersections of covers, and how many rows or people each holds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kech.release.linkage import Bools, Linkage, check_covers
from kech.release.published import Ints


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Cover:
    """Which rows could be in which cell; rows ascend, and each stands once for every cell it could be in."""

    row: Ints
    cell: Ints

    @property
    def sizes(self) -> Ints:
        """Rows that could be in each cell."""
        return np.bincount(self.cell)


def count_candidates(cover: Cover, enough: int, person: Ints | None = None) -> Ints:
    """For each covered row the rows it shares a cell with, itself too; from `enough` on, not more than there are.

    Where the person of each row is given, the people of these rows are counted.
    """
    rows, first, cells = np.unique(cover.row, return_index=True, return_counts=True)
    if not len(rows):
        return rows
    who = cover.row if person is None else person[cover.row]
    candidates = np.maximum.reduceat(count_distinct(cover.cell, who)[cover.cell], first)
    by_cell = who[np.argsort(cover.cell, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(cover.sizes)])
    for at in np.flatnonzero((candidates < enough) & (cells > 1)).tolist():
        own_cells = cover.cell[first[at] : first[at] + cells[at]].tolist()
        candidates[at] = len(set().union(*(by_cell[starts[cell] : starts[cell + 1]].tolist() for cell in own_cells)))
    return candidates


def count_distinct(cell: Ints, who: Ints) -> Ints:
    """Of each cell how many different rows or people are in it."""
    order = np.lexsort((who, cell))
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(cell[order]) != 0) | (np.diff(who[order]) != 0)
    return np.bincount(cell[order][is_new])


def find_smallest_cells(cover: Cover, person: Ints | None = None) -> Ints:
    """For each covered row the rows, or people, of the smallest of its cells."""
    if not len(cover.row):
        return cover.row
    who = cover.row if person is None else person[cover.row]
    _, first = np.unique(cover.row, return_index=True)
    return np.minimum.reduceat(count_distinct(cover.cell, who)[cover.cell], first)


def find_cover(linkage: Linkage, option: str, least_people: Ints | None = None) -> Cover:
    """The rows that each class of a release covers; a table that lacks some of its people is another one.

    Where a person may have several rows, every class needs as many rows as it `held` people.
    """
    cover, classes = cover_classes(linkage), len(linkage.release.labels)
    check_covers(linkage, np.arange(classes), np.bincount(cover.cell, minlength=classes), option, least_people)
    return cover


def cover_classes(linkage: Linkage) -> Cover:
    """Which rows of a table could be in which class of a release, by their quasi-identifiers; nothing is refused."""
    rows_of = [linkage.candidates(group) for group in range(len(linkage.release.labels))]
    rows, cells = np.concatenate(rows_of), np.repeat(np.arange(len(rows_of)), list(map(len, rows_of)))
    order = np.argsort(rows, kind="stable")
    return Cover(rows[order], cells[order])


def intersect(first: Cover, second: Cover) -> Cover:
    """The cover of pairs of cells, one of each cover, that some row could be in."""
    row, ours, theirs = pair_cells(first, second)
    pairs = ours * (int(second.cell.max(initial=0)) + 1) + theirs
    return Cover(row, np.unique(pairs, return_inverse=True)[1].ravel())


def pair_cells(first: Cover, second: Cover) -> tuple[Ints, Ints, Ints]:
    """Every row with each cell of the first and each of the second that it could be in."""
    times = count_cells(second, first)
    starts = np.concatenate([[0], np.cumsum(times)])[:-1]
    repeats = times[first.row]
    nth = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    row, ours = np.repeat(first.row, repeats), np.repeat(first.cell, repeats)
    return row, ours, second.cell[starts[row] + nth]


def intersect_all(covers: Sequence[Cover], check: Callable[[int], None] | None = None) -> Cover:
    """The cells of all of these together; `check` hears how many pairs of a row and a cell there will be."""
    joint, *others = covers
    for cover in others:
        if check:
            check(int(count_cells(cover, joint)[joint.row].sum()))
        joint = intersect(joint, cover)
    return joint


def count_cells(cover: Cover, other: Cover) -> Ints:
    """For each row of either the cells of the first that it could be in."""
    return np.bincount(cover.row, minlength=int(other.row.max(initial=-1)) + 1)


def find_present(covers: Sequence[Cover], keys: int = 0) -> Bools:
    """For each key and each cover whether the key could be in a class; keys are numbered from 0."""
    keys = max(keys, 1 + max(int(cover.row.max(initial=-1)) for cover in covers))
    present = np.zeros((keys, len(covers)), bool)
    for index, cover in enumerate(covers):
        present[cover.row, index] = True
    return present


def restrict(cover: Cover, mask: Bools) -> Cover:
    """The cover with only the keys that the mask chooses."""
    kept = mask[cover.row]
    return Cover(cover.row[kept], cover.cell[kept])


def isolate_undecided(cover: Cover) -> Cover:
    """A cover in which each row that could be in several cells has one of its own, and no other."""
    _, first, cells = np.unique(cover.row, return_index=True, return_counts=True)
    is_alone = np.repeat(cells > 1, cells)
    cell = cover.cell.copy()
    cell[first[cells > 1]] = int(cell.max(initial=-1)) + 1 + np.arange(int((cells > 1).sum()))
    kept = ~is_alone
    kept[first] = True
    return Cover(cover.row[kept], cell[kept])

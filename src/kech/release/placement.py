"""Placement: which class a row of the table is in, as far as labels, sizes of classes and published cells tell.

In: a release linked to a table, and which rows its labels cover.  Out: a narrower `Cover`.

Every class holds just so many rows.  A row could be in a class if some way to put all rows into classes puts it there;
the kernel finds all such pairs by a maximum matching.  The owner knows more: a row is where its cells are published.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kech._kernels import find_placements
from kech.release.covers import Cover
from kech.release.linkage import Bools, Linkage, read_codes
from kech.release.published import Ints, normalize_cell


def rule_out_impossible(cover: Cover, sizes: Ints) -> Cover:
    """The cover without pairs of a row and a class that no placement has which fills every class."""
    possible = find_fillable_pairs(cover.row, cover.cell, sizes)
    return Cover(cover.row[possible], cover.cell[possible])


def find_fillable_pairs(row: Ints, slot: Ints, room: Ints) -> Bools:
    """Which pairs of a row and a slot are in some placement that fills every slot; rows may be left over.

    All are, where slots have room for more rows than there are, or cannot be filled: then rows are read in another way.
    """
    rows, counts = np.unique(row, return_counts=True)
    left_over = len(rows) - int(room.sum())
    if left_over < 0 or not len(rows) or not (room > 0).all():
        return np.ones(len(row), bool)
    starts = np.concatenate([[0], np.cumsum(counts + (left_over > 0))])
    own = np.ones(int(starts[-1]), bool)
    right = np.full(int(starts[-1]), len(room), np.int64)  # left over, where that is possible
    if left_over:
        own[starts[1:] - 1] = False
    right[own] = slot
    all_placed, possible = find_placements(starts, right, np.append(room, left_over) if left_over else room)
    return possible[own].astype(bool) if all_placed else np.ones(len(row), bool)


@dataclass(frozen=True, eq=False, repr=False)
class Slots:
    """Records of a release that have the same class and cells, by the first of them."""

    record: Ints  # ascending
    cell: Ints  # the class of each
    room: Ints  # records that it stands for
    width: int
    name: Ints  # of each: a number of class and cells together, ascending in the order of `by_name`
    by_name: Ints

    def look_up(self, cell: Ints, code: Ints) -> Ints:
        """The slot of these cells in these classes; -1 where there is none."""
        name = cell * self.width + code
        index = np.minimum(np.searchsorted(self.name, name), len(self.name) - 1)
        return np.where(self.name[index] == name, self.by_name[index], -1)


def cover_own_cells(cover: Cover, linkages: Sequence[tuple[Linkage, Ints]]) -> Cover:
    """What the owner knows beyond a reader: a row is where its own cells are published, if they are.

    The release is linked to the versions of the table that it may hold rows of, each with the keys of its rows.
    """
    pairs, slots = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for linkage, key in linkages:
        listed, codes = list_slots(linkage)
        row = np.full(1 + max(int(key.max(initial=-1)), int(cover.row.max(initial=-1))), -1)
        row[key] = np.arange(len(key))
        known = np.flatnonzero(row[cover.row] >= 0)
        slot = listed.look_up(cover.cell[known], codes[row[cover.row[known]]])
        pairs.append(known[slot >= 0])
        slots.append(slot[slot >= 0])
    pair, slot = fill_others(cover, listed, np.concatenate(pairs), np.concatenate(slots))
    possible = find_fillable_pairs(cover.row[pair], slot, listed.room)
    kept = np.unique(pair[possible])
    return Cover(cover.row[kept], cover.cell[kept])


def fill_others(cover: Cover, slots: Slots, pair: Ints, slot: Ints) -> tuple[Ints, Ints]:
    """Pairs with their slots, in the order of rows; rows whose cells no class publishes may be in any slot."""
    has_own = np.zeros(int(cover.row.max(initial=-1)) + 1, bool)
    has_own[cover.row[pair]] = True
    others = np.flatnonzero(~has_own[cover.row])
    by_class = np.argsort(slots.cell, kind="stable")
    counts = np.bincount(slots.cell, minlength=int(cover.cell.max(initial=0)) + 1)
    first, times = np.cumsum(counts) - counts, counts[cover.cell[others]]
    nth = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    any_slot = by_class[np.repeat(first[cover.cell[others]], times) + nth]
    pairs = np.stack([np.concatenate([pair, np.repeat(others, times)]), np.concatenate([slot, any_slot])])
    pair, slot = np.unique(pairs, axis=1)
    return pair, slot


def list_slots(linkage: Linkage) -> tuple[Slots, Ints]:
    """The slots of a release, and the number of the cells of each row of the table."""
    columns = [name for name in linkage.release.cells if name in linkage.table.loaded]
    records, rows = encode_cells(linkage, columns)
    width = 1 + int(max(records.max(initial=0), rows.max(initial=0)))
    name, first, room = np.unique(linkage.release.group * width + records, return_index=True, return_counts=True)
    order = np.argsort(first)
    by_name = np.empty(len(order), np.int64)
    by_name[order] = np.arange(len(order))
    return Slots(first[order], linkage.release.group[first[order]], room[order], width, name, by_name), rows


def encode_cells(linkage: Linkage, columns: Sequence[str]) -> tuple[Ints, Ints]:
    """A number for the cells of each record of the release and of each row of the table; equal cells have the same."""
    released, rows = linkage.release.rows, linkage.rows
    codes = np.zeros((released + rows, max(1, len(columns))), np.int64)
    for index, name in enumerate(columns):
        numbers: dict[object, int] = {}
        texts, of_row = read_codes(linkage.table, [name])[name]
        known = {text: numbers.setdefault(normalize_cell(text), len(numbers)) for text in dict.fromkeys(texts)}
        cells = linkage.release.cells[name]
        known |= {text: numbers.setdefault(normalize_cell(text), len(numbers)) for text in dict.fromkeys(cells)}
        codes[:released, index] = [known[text] for text in cells]
        codes[released:, index] = np.array([known[text] for text in texts], np.int64)[of_row]
    numbered = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    return numbered[:released], numbered[released:]

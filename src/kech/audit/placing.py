"""Placing: one class for every row of an original, where boxes overlap and a row fits several.

In: which rows fit which classes, and how many rows each class holds.  Out: the class of each row.
A row stays under the labels it had before where it can; classes get as many rows as they hold.  That is one reading
that fits the file, not the only one: who is in which class of several is not written anywhere.
"""

from collections import deque
from collections.abc import Collection, Mapping

import numpy as np

from kech.errors import BadOption
from kech.release.covers import Cover
from kech.release.published import Ints


def assign_rows_to_classes(
    cover: Cover, sizes: Ints, preferred: Mapping[int, int], known: Collection[int]
) -> tuple[Ints, Ints]:
    """Rows and their classes: each class has as many rows as it holds; rows left over are in none.

    Rows that fit their preferred class come first, then those that are not known, and last known ones whose labels are
    gone.  Of these, the ones that fit a single class begin.  At last, rows that found their classes full move others
    along a shortest chain of classes they fit, which makes the number of placed rows the largest possible.
    """
    keys, first, counts = np.unique(cover.row, return_index=True, return_counts=True)
    cells = cover.cell.tolist()
    fits = {key: cells[i : i + n] for key, i, n in zip(keys.tolist(), first.tolist(), counts.tolist(), strict=True)}
    seats = ClassSeats(fits, sizes)

    def rank(key: int) -> tuple[bool, bool, bool]:
        return preferred.get(key, -1) not in fits[key], key in known, len(fits[key]) > 1

    order = sorted(fits, key=rank)
    for key in order:
        seats.take_free_seat(key, preferred.get(key, -1))
    for key in order:
        seats.move_others(key)
    if len(seats.of) < sizes.sum():
        missing = int(sizes.sum()) - len(seats.of)
        reason = f"{missing:,} released rows fit no row of it that is left. Name the table that the file was made of."
        raise BadOption("--original", reason)
    assigned = sorted(seats.of.items())
    return np.array([key for key, _ in assigned], np.int64), np.array([cell for _, cell in assigned], np.int64)


class ClassSeats:
    """Who sits in which class; a class has as many seats as it holds rows."""

    def __init__(self, fits: Mapping[int, list[int]], sizes: Ints) -> None:
        self.fits, self.free = fits, sizes.tolist()
        self.keys_of_class: list[dict[int, None]] = [{} for _ in self.free]
        self.of: dict[int, int] = {}
        self.closed: set[int] = set()  # full classes, whose rows fit only full classes

    def take_free_seat(self, key: int, preferred: int) -> None:
        """Give a row a seat that is free, the preferred one where it is."""
        room = [cell for cell in self.fits[key] if self.free[cell]]
        if room:
            self.move_row(key, preferred if preferred in room else max(room, key=lambda cell: self.free[cell]))

    def move_others(self, key: int) -> None:
        """Give a row a seat that others make free by moving."""
        came, end = self.find_chain(self.fits[key]) if key not in self.of else ({}, None)
        if end is None:
            return
        cell = end
        while (step := came[cell]) is not None:
            self.move_row(step[0], cell)
            cell = step[1]
        self.move_row(key, cell)

    def move_row(self, key: int, cell: int) -> None:
        """Put a row into a class that has room, out of its own."""
        if key in self.of:
            del self.keys_of_class[self.of[key]][key]
            self.free[self.of[key]] += 1
        self.of[key] = cell
        self.keys_of_class[cell][key] = None
        self.free[cell] -= 1

    def find_chain(self, choices: list[int]) -> tuple[dict[int, tuple[int, int] | None], int | None]:
        """The nearest class with room, and for each class on the way the row that moves into it and from where."""
        came: dict[int, tuple[int, int] | None] = {cell: None for cell in choices if cell not in self.closed}
        queue = deque(came)
        while queue:
            cell = queue.popleft()
            if self.free[cell]:
                return came, cell
            for key in self.keys_of_class[cell]:
                for other in self.fits[key]:
                    if other not in came and other not in self.closed:
                        came[other] = (key, cell)
                        queue.append(other)
        self.closed.update(came)
        return came, None

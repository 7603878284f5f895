"""Tally: how many rows there are of each combination of cells, in memory for the combinations only.

In: texts of each column, and which of them each row has, some rows at a time.  Out: combinations, each once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Cell: TypeAlias = str | None
Coded: TypeAlias = tuple[Sequence[Cell], NDArray[Any]]  # different texts, and the place of each row's text among them

MOST_BITS = 62  # of the number of a combination
FOLDED = 31  # bits of a number that stands for several columns
TOGETHER = 1_000_000  # rows that are added up at once


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Combinations of cells, each once, and how many rows each has."""

    texts: list[list[Cell]]  # of each column
    places: list[Ints]  # for each column the place of the text of each combination
    rows: Ints

    def items(self) -> Iterator[tuple[tuple[Cell, ...], int]]:
        """Every combination, and its rows."""
        columns = [[texts[i] for i in places.tolist()] for texts, places in zip(self.texts, self.places, strict=True)]
        return zip(zip(*columns, strict=True), self.rows.tolist(), strict=True)

    def first(self, columns: int) -> tuple["Counts", Ints]:
        """Combinations of the first columns alone, and which of them each combination has."""
        packing = Packing([max(len(texts) - 1, 0).bit_length() for texts in self.texts[:columns]])
        keys, group = np.unique(packing.pack(self.places[:columns]), return_inverse=True)
        rows = sums(group, self.rows, len(keys)).astype(np.int64)
        return Counts(self.texts[:columns], packing.unpack(keys), rows), group


class Tally:
    """Counts in the making: a text is a number of its column, and the numbers of a row are packed into one."""

    def __init__(self, columns: int) -> None:
        self._known: list[dict[Cell, int]] = [{} for _ in range(columns)]
        self._packing = Packing([0] * columns)
        self._keys, self._rows = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._waiting: list[Ints] = []

    def add(self, columns: Iterable[Coded]) -> None:
        """Some more rows."""
        numbers = [
            np.array([known.setdefault(text, len(known)) for text in texts], np.int64)[places]
            for known, (texts, places) in zip(self._known, columns, strict=True)
        ]
        self._widen([max(len(known) - 1, 0).bit_length() for known in self._known])
        self._waiting.append(self._packing.pack(numbers))
        if sum(map(len, self._waiting)) > max(TOGETHER, len(self._keys)):
            self._settle()

    def counts(self) -> Counts:
        """What was added so far."""
        self._settle()
        return Counts(list(map(list, self._known)), self._packing.unpack(self._keys), self._rows)

    def _widen(self, bits: list[int]) -> None:
        """Make room for the numbers of more texts."""
        if bits != self._packing.bits:
            self._settle()
            held, self._packing = self._packing.unpack(self._keys), Packing(bits)
            keys = self._packing.pack(held)
            order = np.argsort(keys)
            self._keys, self._rows = keys[order], self._rows[order]

    def _settle(self) -> None:
        keys, rows = np.unique(np.concatenate([self._keys[:0], *self._waiting]), return_counts=True)
        self._waiting = []
        at = np.searchsorted(self._keys, keys)
        known = np.r_[self._keys, -1][at] == keys
        self._rows[at[known]] += rows[known]
        self._keys = np.insert(self._keys, at[~known], keys[~known])
        self._rows = np.insert(self._rows, at[~known], rows[~known])


class Packing:
    """So many bits for each column in one number; columns that do not fit beside those before them fold these first."""

    def __init__(self, bits: list[int]) -> None:
        self.bits = bits
        self._folds: dict[int, dict[int, int]] = {}  # by the column before which it is made
        used = 0
        for column, width in enumerate(bits):
            if used + width > MOST_BITS:
                self._folds[column], used = {}, FOLDED
            used += width

    def pack(self, numbers: Sequence[Ints]) -> Ints:
        """The number of each combination."""
        packed = np.zeros(len(numbers[0]), np.int64)
        for column, (part, width) in enumerate(zip(numbers, self.bits, strict=True)):
            if (fold := self._folds.get(column)) is not None:
                different, which = np.unique(packed, return_inverse=True)
                packed = np.array([fold.setdefault(x, len(fold)) for x in different.tolist()], np.int64)[which]
            packed <<= width
            packed |= part
        return packed

    def unpack(self, packed: Ints) -> list[Ints]:
        """The numbers of each column."""
        numbers = []
        for column, width in reversed(list(enumerate(self.bits))):
            numbers.append(packed & ((1 << width) - 1))
            packed = packed >> width
            if (fold := self._folds.get(column)) is not None:
                packed = np.array(list(fold), np.int64)[packed]
        return numbers[::-1]


def sums(group: Ints, figures: NDArray[Any], groups: int) -> NDArray[np.float64]:
    """The sum of figures in each group."""
    return np.asarray(np.bincount(group, figures, groups), np.float64)


def tally(batches: Iterable[Sequence[Sequence[Cell]]], columns: int) -> Counts:
    """Combinations of cells that come as lists, one a column."""
    found = Tally(columns)
    for batch in batches:
        found.add(map(_listed, batch))
    return found.counts()


def _listed(cells: Sequence[Cell]) -> Coded:
    """Each text once, and its place for every row."""
    seen: dict[Cell, int] = {}
    places = [seen.setdefault(cell, len(seen)) for cell in cells]
    return list(seen), np.array(places, np.int64)

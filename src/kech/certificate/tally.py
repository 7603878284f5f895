"""Tally: how many rows there are of each combination of cells, in memory for the combinations only.

In: texts of each column, and which of them each row has, some rows at a time.  Out: combinations, each once.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Cell: TypeAlias = str | None
Coded: TypeAlias = tuple[Sequence[Cell], NDArray[Any]]  # different texts, and the place of each row's text among them
Block: TypeAlias = tuple["Packing", list[Ints]]
Item = TypeVar("Item")
Result = TypeVar("Result")

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

    def count(self, batches: Iterable[Iterable[Coded]]) -> Counts:
        """All rows; some are sorted while the next are read."""
        for packing, keys, rows in map_ahead(_count_keys, self._blocks(batches), 1):
            self._widen(packing)
            self._add(keys, rows)
        return Counts(list(map(list, self._known)), self._packing.unpack(self._keys), self._rows)

    def _blocks(self, batches: Iterable[Iterable[Coded]]) -> Iterator[Block]:
        """Blocks of many rows, each row as one packed number; a new block begins where new texts need more bits."""
        packing, waiting = self._packing, [np.zeros(0, np.int64)]
        for columns in batches:
            numbers = self._numbers(columns)
            bits = [max(len(numbers_of_text) - 1, 0).bit_length() for numbers_of_text in self._known]
            if bits != packing.bits or sum(map(len, waiting)) > max(TOGETHER, len(self._keys) // 2):
                yield packing, waiting
                waiting = []
            packing = packing if bits == packing.bits else Packing(bits)
            waiting.append(packing.pack(numbers))
        yield packing, waiting

    def _numbers(self, columns: Iterable[Coded]) -> list[Ints]:
        """For each column the number of each row's text."""
        return [
            np.array([number_of_text.setdefault(text, len(number_of_text)) for text in texts], np.int64)[places]
            for number_of_text, (texts, places) in zip(self._known, columns, strict=True)
        ]

    def _widen(self, packing: "Packing") -> None:
        """Make room for the numbers of more texts."""
        if packing is not self._packing:
            keys = packing.pack(self._packing.unpack(self._keys))
            order = np.argsort(keys)
            self._packing, self._keys, self._rows = packing, keys[order], self._rows[order]

    def _add(self, keys: Ints, rows: Ints) -> None:
        at = np.searchsorted(self._keys, keys)
        is_known = np.r_[self._keys, -1][at] == keys
        self._rows[at[is_known]] += rows[is_known]
        self._keys = np.insert(self._keys, at[~is_known], keys[~is_known])
        self._rows = np.insert(self._rows, at[~is_known], rows[~is_known])


def _count_keys(block: Block) -> tuple["Packing", Ints, Ints]:
    packing, keys = block
    return packing, *np.unique(np.concatenate(keys), return_counts=True)


def map_ahead(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """What is made of each item, in their order; while one is used the next ones are made."""
    coming: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for item in items:
            coming.append(pool.submit(work, item))
            if len(coming) > workers:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


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
    return Tally(columns).count(map(_list_cells, batch) for batch in batches)


def _list_cells(cells: Sequence[Cell]) -> Coded:
    """Each text once, and its place for every row."""
    place_of_cell: dict[Cell, int] = {}
    places = [place_of_cell.setdefault(cell, len(place_of_cell)) for cell in cells]
    return list(place_of_cell), np.array(places, np.int64)

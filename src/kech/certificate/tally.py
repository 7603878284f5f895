"""Tally: counts the rows of each combination of cells; only the combinations are in memory.

In: the distinct texts of each column and the index of each row's text, a batch of rows at a time.
Out: the distinct combinations with their rows.
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
Coded: TypeAlias = tuple[Sequence[Cell], NDArray[Any]]  # distinct texts, and the index of each row's text
Block: TypeAlias = tuple["PackedNumbers", list[Ints]]
Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_BITS = 62  # of the number of a combination
FOLDED = 31  # bits of a number that replaces the numbers of several columns
BLOCK_ROWS = 1_000_000  # that are counted at once


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """The distinct combinations of cells, and how many rows each has."""

    texts: list[list[Cell]]  # distinct texts of each column
    indices: list[Ints]  # for each column the index of the text of each combination
    rows: Ints

    def items(self) -> Iterator[tuple[tuple[Cell, ...], int]]:
        """Every combination with the number of its rows."""
        columns = [
            [texts[i] for i in indices.tolist()] for texts, indices in zip(self.texts, self.indices, strict=True)
        ]
        return zip(zip(*columns, strict=True), self.rows.tolist(), strict=True)

    def group_by_first(self, columns: int) -> tuple["Counts", Ints]:
        """The combinations of the first columns only, and for each combination the index of its first cells there."""
        packing = PackedNumbers([max(len(texts) - 1, 0).bit_length() for texts in self.texts[:columns]])
        keys, group = np.unique(packing.pack(self.indices[:columns]), return_inverse=True)
        rows = sums(group, self.rows, len(keys)).astype(np.int64)
        return Counts(self.texts[:columns], packing.unpack(keys), rows), group


class CellCounter:
    """Counts while they are collected: each text has a number, and the numbers of a row are packed into one."""

    def __init__(self, columns: int) -> None:
        self._known: list[dict[Cell, int]] = [{} for _ in range(columns)]
        self._packing = PackedNumbers([0] * columns)
        self._keys, self._rows = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def count(self, batches: Iterable[Iterable[Coded]]) -> Counts:
        """The counts of all rows; a block is sorted on another thread while the next one is read."""
        for packing, keys, rows in map_ahead(_count_keys, self._blocks(batches), 1):
            self._widen(packing)
            self._add(keys, rows)
        return Counts(list(map(list, self._known)), self._packing.unpack(self._keys), self._rows)

    def _blocks(self, batches: Iterable[Iterable[Coded]]) -> Iterator[Block]:
        """Blocks of rows, each row as one packed number; a new block begins where new texts need more bits."""
        packing, block = self._packing, [np.zeros(0, np.int64)]
        for columns in batches:
            numbers = self._numbers(columns)
            bits = [max(len(numbers_of_text) - 1, 0).bit_length() for numbers_of_text in self._known]
            if bits != packing.bits or sum(map(len, block)) > max(BLOCK_ROWS, len(self._keys) // 2):
                yield packing, block
                block = []
            packing = packing if bits == packing.bits else PackedNumbers(bits)
            block.append(packing.pack(numbers))
        yield packing, block

    def _numbers(self, columns: Iterable[Coded]) -> list[Ints]:
        """For each column the number of each row's text; a new text gets the next number."""
        return [
            np.array([number_of_text.setdefault(text, len(number_of_text)) for text in texts], np.int64)[indices]
            for number_of_text, (texts, indices) in zip(self._known, columns, strict=True)
        ]

    def _widen(self, packing: "PackedNumbers") -> None:
        """Pack the counted combinations anew, with more bits for the numbers of texts."""
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


def _count_keys(block: Block) -> tuple["PackedNumbers", Ints, Ints]:
    packing, keys = block
    return packing, *np.unique(np.concatenate(keys), return_counts=True)


def map_ahead(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """The results of `work` for all items, in order, computed ahead on other threads; few items are read ahead."""
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) > workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


class PackedNumbers:
    """Numbers of several columns packed into one number of 62 bits.

    Where the next column does not fit, the number packed so far is folded: replaced by its index among those seen.
    """

    def __init__(self, bits: list[int]) -> None:
        self.bits = bits
        self._folds: dict[int, dict[int, int]] = {}  # for each column before which is folded: number -> index
        used = 0
        for column, width in enumerate(bits):
            if used + width > MOST_BITS:
                self._folds[column], used = {}, FOLDED
            used += width

    def pack(self, numbers: Sequence[Ints]) -> Ints:
        """One number for each row, from the numbers of its columns."""
        packed = np.zeros(len(numbers[0]), np.int64)
        for column, (part, width) in enumerate(zip(numbers, self.bits, strict=True)):
            if (fold := self._folds.get(column)) is not None:
                different, which = np.unique(packed, return_inverse=True)
                packed = np.array([fold.setdefault(x, len(fold)) for x in different.tolist()], np.int64)[which]
            packed <<= width
            packed |= part
        return packed

    def unpack(self, packed: Ints) -> list[Ints]:
        """The numbers of each column, from packed ones."""
        numbers = []
        for column, width in reversed(list(enumerate(self.bits))):
            numbers.append(packed & ((1 << width) - 1))
            packed = packed >> width
            if (fold := self._folds.get(column)) is not None:
                packed = np.array(list(fold), np.int64)[packed]
        return numbers[::-1]


def sums(group: Ints, figures: NDArray[Any], groups: int) -> NDArray[np.float64]:
    """The sum of the figures of each group."""
    return np.asarray(np.bincount(group, figures, groups), np.float64)


def tally(batches: Iterable[Sequence[Sequence[Cell]]], columns: int) -> Counts:
    """The counts of rows whose cells come in batches of lists, one list for each column."""
    return CellCounter(columns).count(map(_list_cells, batch) for batch in batches)


def _list_cells(cells: Sequence[Cell]) -> Coded:
    """The distinct cells of a list, and the index of each cell among them."""
    index_of_cell: dict[Cell, int] = {}
    indices = [index_of_cell.setdefault(cell, len(index_of_cell)) for cell in cells]
    return list(index_of_cell), np.array(indices, np.int64)

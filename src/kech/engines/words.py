"""Words: texts become numbers while rows are read, so that each is held once and rows are narrow.

In: record batches with columns c<i>.  Out: the same, with k<i> instead where the texts of a column are few.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech._kernels import Words

MOST, MOST_BYTES = 1 << 20, 1 << 26  # of the texts of a column
FEW, REPEATED = 1000, 2  # more texts than this must be repeated so often
TYPES = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER"}


class TooManyWords(Exception):
    """A column holds too many texts to be numbered."""

    def __init__(self, column: int) -> None:
        self.column = column


class Numbering:
    """The words of several columns."""

    def __init__(self, columns: Sequence[int], threads: int | None) -> None:
        self.words = {column: Words() for column in columns}
        self.threads = threads

    def number(self, batches: Any) -> Iterator[Any]:
        """Each batch with numbers for texts; 0 is NULL."""
        rows = 0
        with ThreadPoolExecutor(self.threads) as pool:
            for batch in batches:
                rows += batch.num_rows
                cells = {column: batch.column(f"c{column}") for column in self.words}
                found = dict(zip(cells, pool.map(number_cells, self.words.values(), cells.values()), strict=True))
                self._check(rows)
                yield pa.table(dict(self._columns(batch, found)))

    def _check(self, rows: int) -> None:
        for column, words in self.words.items():
            if words.count > MOST or words.bytes > MOST_BYTES or words.count > max(FEW, rows // REPEATED):
                raise TooManyWords(column)

    def _columns(self, batch: Any, found: dict[int, NDArray[np.uint32]]) -> Iterator[tuple[str, Any]]:
        for name in batch.schema.names:
            column = int(name[1:])
            if column in found:
                yield f"k{column}", found[column].astype(self.kind(column))
            else:
                yield name, batch.column(name)

    def kind(self, column: int) -> Any:
        """The narrowest type for the numbers of a column."""
        return np.min_scalar_type(self.words[column].count - 1)

    def listed(self, column: int) -> Any:
        """All texts of a column with their numbers; NULL is the first."""
        ends, letters = self.words[column].texts()
        texts = pa.Array.from_buffers(
            pa.large_string(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(letters)]
        )
        numbers = np.arange(len(ends)).astype(self.kind(column))
        return pa.table({f"k{column}": numbers, f"c{column}": pa.chunked_array([pa.nulls(1, texts.type), texts])})


def number_cells(words: Words, cells: Any) -> NDArray[np.uint32]:
    """The number of each cell of an Arrow array of text."""
    present, ends, letters = (np.frombuffer(part or b"", np.uint8) for part in cells.buffers())
    bounds = ends.view(np.int32)[cells.offset : cells.offset + len(cells) + 1]
    return words.number(present, cells.offset, bounds, letters)

"""Words: texts become numbers while rows are read, so that each is held once and rows are narrow.

In: record batches with columns c<i>.  Out: the same, with k<i> instead where the texts of a column are few.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech._kernels import Words
from kech.tables.dealing import join_batches

MOST, MOST_BYTES = 1 << 20, 1 << 26  # of the texts of a column
FEW, REPEATED = 1000, 2  # more texts than this must be repeated so often
TYPES = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER"}


class Numbering:
    """The words of several columns; a column that turns out to have too many is spelled out from then on."""

    def __init__(self, columns: Sequence[int], threads: int | None, most: int = MOST_BYTES) -> None:
        self.words = {column: Words() for column in columns}
        self.given_up: dict[int, Words] = {}
        self.threads = threads
        self.most = most  # bytes of the texts of a column

    def number(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Each batch with numbers for texts; 0 is NULL."""
        rows = 0
        with ThreadPoolExecutor(self.threads) as pool:
            for batch in batches:
                rows += batch.num_rows
                found = dict(zip(self.words, pool.map(number_cells, self._cells(batch)), strict=True))
                for column in [i for i, words in self.words.items() if found[i] is None or self._too_many(words, rows)]:
                    self.given_up[column] = self.words.pop(column)
                yield pa.table(dict(self._columns(batch, found)))

    def _cells(self, batch: Any) -> list[tuple[Words, Any]]:
        return [(words, batch.column(f"c{column}")) for column, words in self.words.items()]

    def _columns(self, batch: Any, found: dict[int, Any]) -> Iterator[tuple[str, Any]]:
        for name in batch.schema.names:
            column = int(name[1:])
            if column in self.words:
                yield f"k{column}", found[column].astype(self.kind(column))
            else:
                yield name, batch.column(name)

    def _too_many(self, words: Words, rows: int) -> bool:
        """Whether texts had better be held where they are."""
        return words.count > MOST or words.bytes > self.most or words.count > max(FEW, rows // REPEATED)

    def kind(self, column: int) -> Any:
        """The narrowest type for the numbers of a column."""
        return narrowest(self.words[column])

    def list_words(self, column: int) -> Any:
        """All texts of a column with their numbers; NULL is the first.  What was given up is let go."""
        words = self.given_up.pop(column, None) or self.words[column]
        ends, letters = words.texts()
        texts = pa.Array.from_buffers(
            pa.large_string(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(letters)]
        )
        numbers = np.arange(len(ends)).astype(narrowest(words))
        return pa.table({f"k{column}": numbers, f"c{column}": pa.chunked_array([pa.nulls(1, texts.type), texts])})


def narrowest(words: Words) -> Any:
    """The type that holds all numbers."""
    return np.min_scalar_type(words.count - 1)


def number_cells(given: tuple[Words, Any]) -> NDArray[np.uint32] | None:
    """The number of each cell of an Arrow array of text; None where the texts together are too long."""
    words, cells = given
    try:
        held = cells.cast(pa.string())
    except pa.ArrowInvalid:
        return None
    present, ends, letters = (np.frombuffer(part or b"", np.uint8) for part in held.buffers())
    bounds = ends.view(np.int32)[held.offset : held.offset + len(held) + 1]
    return words.number(present, held.offset, bounds, letters)


def gather(batches: Iterable[Any], rows: int, most: int) -> Iterator[Any]:
    """Small batches together, so that each has about so many rows, and no more bytes than can be held at once."""
    held: list[Any] = []
    count = size = 0
    for batch in batches:
        if held and size + batch.nbytes > most:
            yield join_batches(held)
            held, count, size = [], 0, 0
        held.append(batch)
        count, size = count + len(batch), size + batch.nbytes
        if count >= rows:
            yield join_batches(held)
            held, count, size = [], 0, 0
    if held:
        yield join_batches(held)

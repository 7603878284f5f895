"""Hashes: rows and cells as 128 bits under a key of the owner, so that a folder knows rows again and holds no cell.

In: columns of text.  Out: an array of 16 bytes for each row.
A cell is hashed with the name of its column, then the cells of a row together: nothing in a row hash can be compared
with another row but the whole.
"""

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kech.system.secret import OwnerSecret

Hashes: TypeAlias = NDArray[np.uint8]  # rows x 16

SIZE = 16  # bytes
Fold: TypeAlias = Callable[[str], str]
MISSING = b"n"
WHOLE_NUMBER = re.compile(r"([+-]?[0-9]+)\.0+")
MIDNIGHT = re.compile(r"(.*[0-9]{2}-[0-9]{2})[ T]00:00:00(?:\.0+)?(?:[+]00)?")


def fold_cell(text: str) -> str:
    """A cell as it is compared: whole numbers and days are the same in every format.

    >>> fold_cell(" 12.0"), fold_cell("012"), fold_cell("2020-12-31 00:00:00")
    ('12', '012', '2020-12-31')
    """
    text = text.strip()
    found = WHOLE_NUMBER.fullmatch(text) or MIDNIGHT.fullmatch(text)
    return found[1] if found else text


class RowHasher:
    """Hashes under a key that nobody has without the owner's secret."""

    def __init__(self, secret: OwnerSecret, series: bytes) -> None:
        self._key = secret.derive("series", series)

    def hash_rows(self, purpose: str, columns: Sequence[Any], names: Sequence[str], fold: Fold = fold_cell) -> Hashes:
        """One hash for the cells of each row; other purposes give hashes that have nothing to do with it."""
        cells = [self._hash_cells(column, name, fold) for column, name in zip(columns, names, strict=True)]
        return self._hash(purpose, np.hstack(cells)) if cells else np.zeros((0, SIZE), np.uint8)

    def number(self, hashes: Hashes, occurrences: NDArray[np.int64]) -> Hashes:
        """Hashes told apart by the number of the occurrence, from 0 on."""
        numbers = occurrences.astype("<i8").view(np.uint8).reshape(-1, 8)
        return self._hash("occurrence", np.hstack([hashes, numbers]))

    def hash_pair(self, first: Hashes, second: Hashes) -> Hashes:
        """One hash of two."""
        return self._hash("pair", np.hstack([first, second]))

    def _hash_cells(self, column: Any, name: str, fold: Fold) -> Hashes:
        coded = pc.dictionary_encode(column.cast(pa.string()))
        coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
        key = blake2b(name.encode(), key=self._key, digest_size=32, person=b"cell").digest()
        texts = [MISSING if text is None else b"v" + fold(text).encode() for text in coded.dictionary.to_pylist()]
        digests = [blake2b(text, key=key, digest_size=SIZE).digest() for text in (*texts, MISSING)]
        listed = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, SIZE)
        return np.asarray(listed[coded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)])

    def _hash(self, purpose: str, rows: Hashes) -> Hashes:
        key = blake2b(key=self._key, digest_size=32, person=purpose.encode()).digest()
        held, width = np.ascontiguousarray(rows).tobytes(), rows.shape[1]
        starts = range(0, len(held), width)
        digests = b"".join(blake2b(held[i : i + width], key=key, digest_size=SIZE).digest() for i in starts)
        return np.frombuffer(digests, np.uint8).reshape(-1, SIZE)


def as_arrow(hashes: Hashes) -> Any:
    """Hashes as an Arrow array, in which they can be looked up."""
    held = np.ascontiguousarray(hashes)
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(SIZE), len(held), [None, pa.py_buffer(held)])


def as_hashes(column: Any) -> Hashes:
    """Hashes of an Arrow column."""
    held = column.combine_chunks()
    bytes_of = np.frombuffer(held.buffers()[1], np.uint8) if len(held) else np.empty(0, np.uint8)
    return bytes_of[held.offset * SIZE : (held.offset + len(held)) * SIZE].reshape(-1, SIZE)


def find_places(wanted: Hashes, known: Hashes) -> NDArray[np.int64]:
    """Where each wanted hash stands among the known ones; -1 where it does not."""
    found = pc.index_in(as_arrow(wanted), value_set=as_arrow(known))
    return np.asarray(found.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)


def number_alike(hashes: Hashes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each hash a number that equal ones share, and which occurrence of it each is, from 0 on."""
    coded = as_arrow(hashes).dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
    order = np.argsort(coded, kind="stable")
    first = np.searchsorted(coded[order], coded[order])
    occurrence = np.empty(len(coded), np.int64)
    occurrence[order] = np.arange(len(coded)) - first
    return coded, occurrence

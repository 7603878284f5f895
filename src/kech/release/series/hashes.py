"""Hashes: rows and cells as 128 bits under a key of the owner, so that a folder knows rows again and holds no cell.

In: columns of text.  Out: an array of 16 bytes for each row.
A cell is hashed with the name of its column, then the cells of a row together: nothing in a row hash can be compared
with another row but the whole.
"""

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kech._kernels import find_hashes, hash_texts
from kech.axes.spelling import fold_person
from kech.system.secret import OwnerSecret
from kech.tables.batches import fill_indices

Hashes: TypeAlias = NDArray[np.uint8]  # rows x 16

SIZE = 16  # bytes
WHOLE = np.dtype(f"V{SIZE}")  # a hash as one value
MISSING = "n"
AT_ONCE = 1 << 14  # rows that are hashed together: their cells fit in a cache
SAMPLE = 1_000  # cells that tell whether a column repeats
WHOLE_NUMBER = re.compile(r"(?:-(?=0+\.))?([+-]?[0-9]+)\.0+")  # without the sign of a zero
MIDNIGHT = re.compile(r"(.*[0-9]{2}-[0-9]{2})[ T]00:00:00(?:\.0+)?(?:[+]00)?")


def fold_cell(text: str) -> str:
    """A cell as it is compared: whole numbers and days are the same in every format.

    >>> fold_cell(" 12.0"), fold_cell("012"), fold_cell("-0.0"), fold_cell("2020-12-31 00:00:00")
    ('12', '012', '0', '2020-12-31')
    """
    text = text.strip()
    match = WHOLE_NUMBER.fullmatch(text) or MIDNIGHT.fullmatch(text)
    return match[1] if match else text


class Fold(NamedTuple):
    """How cells are compared: most of them at once, those that a pattern finds one by one."""

    one: Callable[[str], str]
    pattern: str  # finds every text that `most` folds otherwise than `one`
    most: Callable[[Any], Any]

    def fold_texts(self, texts: Any) -> Any:
        """An Arrow array of texts, folded."""
        slow = pc.match_substring_regex(texts, self.pattern)
        folded = pa.array(map(self.one, texts.filter(slow).to_pylist()), pa.string())
        return pc.replace_with_mask(self.most(texts), slow, folded)


CELLS = Fold(fold_cell, r"[^ -~]|^ | $|\.0|:00", lambda texts: texts)
PEOPLE = Fold(fold_person, r"[^A-Za-z0-9]|^0|^[0-9]+[A-Za-z]|^[0-9]{27}", pc.ascii_lower)


class RowHasher:
    """Hashes under a key that nobody has without the owner's secret."""

    def __init__(self, secret: OwnerSecret, series: bytes) -> None:
        self._key = secret.derive("series", series)
        self.public_id = secret.derive("series-public", series)[:8].hex()

    def hash_rows(self, purpose: str, columns: Sequence[Any], names: Sequence[str], fold: Fold = CELLS) -> Hashes:
        """One hash for the cells of each row; other purposes give hashes that have nothing to do with it."""
        listed = [self._list_cells(column, name, fold) for column, name in zip(columns, names, strict=True)]
        digests = [np.empty((0, SIZE), np.uint8)]
        for start in range(0, len(columns[0]) if columns else 0, AT_ONCE):
            cells = [hashes[numbers[start : start + AT_ONCE]] for hashes, numbers in listed]
            digests.append(self._hash(purpose, np.stack(cells, axis=1).view(np.uint8)))
        return np.concatenate(digests)

    def number(self, hashes: Hashes, occurrences: NDArray[np.int64]) -> Hashes:
        """Hashes told apart by the number of the occurrence, from 0 on."""
        numbers = occurrences.astype("<i8").view(np.uint8).reshape(-1, 8)
        return self._hash("occurrence", np.hstack([hashes, numbers]))

    def hash_pair(self, first: Hashes, second: Hashes) -> Hashes:
        """One hash of two."""
        return self._hash("pair", np.hstack([first, second]))

    def _list_cells(self, column: Any, name: str, fold: Fold) -> tuple[NDArray[np.void], NDArray[Any]]:
        """Hashes of cells, and the number of the one of each row; texts of a dictionary are hashed once."""
        key = blake2b(name.encode(), key=self._key, digest_size=32, person=b"cell").digest()
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if not pa.types.is_dictionary(column.type):
            column = column.cast(pa.string())
            if rarely_repeats(column):
                return as_single_values(hash_array(key, mark_texts(fold.fold_texts(column)))), np.arange(len(column))
            column = column.dictionary_encode()
        texts = mark_texts(fold.fold_texts(column.dictionary.cast(pa.string())))
        listed = as_single_values(hash_array(key, pa.concat_arrays([texts, pa.array([MISSING])])))
        return listed, fill_indices(column, len(listed) - 1)

    def _hash(self, purpose: str, rows: Hashes) -> Hashes:
        key = blake2b(key=self._key, digest_size=32, person=purpose.encode()).digest()
        ends = np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
        return hash_texts(key, SIZE, ends, np.ascontiguousarray(rows).ravel()).reshape(-1, SIZE)


def rarely_repeats(texts: Any) -> bool:
    """Whether the first cells are nearly all different: then it does not pay to list every text once."""
    first = texts[:SAMPLE].drop_null()
    return len(first) == SAMPLE and len(first.unique()) > 0.9 * SAMPLE


def mark_texts(texts: Any) -> Any:
    """Texts that none of them is taken for a missing one."""
    return pc.fill_null(pc.binary_join_element_wise("v", texts, ""), MISSING)


def hash_array(key: bytes, texts: Any) -> Hashes:
    """A keyed hash of each text of an Arrow array without NULL."""
    _, ends, letters = texts.buffers()
    bounds = np.frombuffer(ends, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    return hash_texts(key, SIZE, bounds, np.frombuffer(letters, np.uint8)).reshape(-1, SIZE)


def as_single_values(hashes: Hashes) -> NDArray[np.void]:
    """Hashes as single values, which numpy selects and copies faster than rows of bytes."""
    return hashes.view(WHOLE)[:, 0]


def as_arrow(hashes: Hashes) -> Any:
    """Hashes as an Arrow array, in which they can be looked up."""
    contiguous = np.ascontiguousarray(hashes)
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(SIZE), len(contiguous), [None, pa.py_buffer(contiguous)])


def as_hashes(column: Any) -> Hashes:
    """Hashes of an Arrow column."""
    chunk = column.combine_chunks()
    bytes_of = np.frombuffer(chunk.buffers()[1], np.uint8) if len(chunk) else np.empty(0, np.uint8)
    return bytes_of[chunk.offset * SIZE : (chunk.offset + len(chunk)) * SIZE].reshape(-1, SIZE)


def find_positions(sought: Hashes, known: Hashes) -> NDArray[np.int64]:
    """Where each wanted hash first stands among the known ones; -1 where it does not."""
    return find_hashes(np.ascontiguousarray(sought).ravel(), np.ascontiguousarray(known).ravel())


def first_half(hashes: Hashes) -> NDArray[np.uint64]:
    """The first 8 bytes of each hash, as a number."""
    return np.ascontiguousarray(hashes).view(np.uint64)[:, 0].copy()


def have_repeats(hashes: Hashes) -> bool:
    """Whether some hash stands there twice, as far as first halves tell: no means no."""
    ranked = np.sort(first_half(hashes))
    return bool((ranked[1:] == ranked[:-1]).any())


def number_alike(hashes: Hashes) -> NDArray[np.int64]:
    """For each hash a number, from 0 on, that equal ones share."""
    return np.asarray(as_arrow(hashes).dictionary_encode().indices.to_numpy(zero_copy_only=False), np.int64)


def count_before(hashes: Hashes) -> NDArray[np.int64]:
    """How many equal hashes stand before each."""
    coded = number_alike(hashes)
    order, times = np.argsort(coded, kind="stable"), np.bincount(coded)
    before = np.empty(len(coded), np.int64)
    before[order] = np.arange(len(coded)) - (np.cumsum(times) - times)[coded[order]]
    return before


def differ(first: Hashes, second: Hashes) -> NDArray[np.bool_]:
    """Which rows have different hashes."""
    one, other = (np.ascontiguousarray(hashes).view(np.uint64) for hashes in (first, second))
    return np.asarray((one[:, 0] != other[:, 0]) | (one[:, 1] != other[:, 1]))

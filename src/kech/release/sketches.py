"""Sketches: keyed hashes of a sample of the values of a table, by which its rows are known again.

In: a table, and a secret.  Out: `Sketch`es, which `recognition.py` compares.

A sketch holds distinct values of a set of columns, each as a keyed hash with its rows.  Of many values it holds those
whose unkeyed hash begins with `depth` zero bits: the same ones in every table, so that sketches of tables of any size
can be compared.  Numbers are rounded to six digits, dates to days; case and outer spaces of texts do not count.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from kech._kernels import hash_texts
from kech.points.people import mix, scramble
from kech.system.memory import BASE_BYTES, CODE_BYTES, TUPLE_BYTES
from kech.system.secret import OwnerSecret
from kech.tables.engine import HashedValues
from kech.tables.sql import ColumnCodes
from kech.tables.table import Table

Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]
MOST_VALUES = 8_192  # of a sketch
MOST_NAMES = 1  # unique identifiers: to hash a million takes as long as all other columns
MOST_COLUMNS = 24  # that have sketches of their own
MOST_TRAITS = 6  # quasi-identifiers by which names are confirmed


class SketchKind(NamedTuple):
    """What is sketched: some columns, as a `column`, a `tuple`, a `name` of people or rows, or a name's `trait`."""

    kind: str
    columns: tuple[str, ...]

    @property
    def is_single(self) -> bool:
        """Whether it is one column."""
        return len(self.columns) == 1


class Sketch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Distinct values of some columns; names and their traits count once each, however many rows they have."""

    kind: str
    columns: tuple[str, ...]
    rows: int  # that have a value in all these columns; of names: how many there are
    depth: int
    hashes: bytes
    counts: bytes
    zeros: bytes  # with which each unkeyed hash begins

    @property
    def of(self) -> SketchKind:
        """What was sketched."""
        return SketchKind(self.kind, self.columns)

    def sample(self, depth: int) -> tuple[Hashes, Ints]:
        """Hashes and rows of the values at this depth, which is not less than the sketch's own."""
        is_sampled = np.frombuffer(self.zeros, np.uint8) >= depth
        counts = np.frombuffer(self.counts, "<u4").astype(np.int64)
        return np.frombuffer(self.hashes, "<u8")[is_sampled], counts[is_sampled]


def list_kinds(table: Table) -> list[SketchKind]:
    """What is remembered of a table: names, quasi-identifiers together, and its columns one by one."""
    unique = (name for name in table.identifiers if name in list_readable(table) and is_unique(table, name))
    names = [table.person] if table.person else [(name,) for name in islice(unique, MOST_NAMES)]
    alone = [name for name in table.loaded if name in list_readable(table) and (name,) not in names][:MOST_COLUMNS]
    traits = [name for name in table.quasi_identifiers if name in alone][:MOST_TRAITS]
    return [
        *(SketchKind("name", name) for name in names),
        *(SketchKind("trait", (*name, trait)) for name in names if len(name) == 1 for trait in traits),
        *([SketchKind("tuple", table.quasi_identifiers)] if len(table.quasi_identifiers) > 1 else []),
        *(SketchKind("column", (name,)) for name in alone),
    ]


def list_readable(table: Table) -> list[str]:
    """Columns that are in the engine and hold text, numbers or dates."""
    columns = (*table.loaded, *table.counted)
    return [name for name in columns if table.engine.layout.columns[table.index(name)].kind != "other"]


def is_unique(table: Table, column: str) -> bool:
    """Whether no two rows have the same value."""
    distinct, rows = table.engine.count_present(table.index(column))
    return distinct == rows


def make_sketches(table: Table, kinds: Iterable[SketchKind], secret: OwnerSecret) -> dict[SketchKind, Sketch]:
    """Sketches of all kinds whose columns the source has; columns that are not in the engine are read now."""
    spelled = spell_columns(table.columns, dict.fromkeys(kinds))
    with with_columns(table, chain.from_iterable(own.columns for own in spelled.values())) as read:
        readable = {*list_readable(read)}
        known = dict.fromkeys(own for own in spelled.values() if {*own.columns} <= readable)
        hashed = HashedTable(read, [own for own in known if own.is_single or has_room(read, known)])
        drawn = {own: hashed.choose_sketcher(own)(own) for own in hashed.kinds}
        return {kind: key_sketch(kind, drawn[own], secret) for kind, own in spelled.items() if own in drawn}


def spell_columns(columns: Sequence[str], kinds: Iterable[SketchKind]) -> dict[SketchKind, SketchKind]:
    """Every kind with its columns as this table spells them: letter case, spaces and punctuation do not count.

    Kinds that lack a column are left out, and so are those whose names fit several columns.
    """
    names = {name: [name] for name in columns}
    folded: dict[str, list[str]] = {}
    for name in columns:
        folded.setdefault(fold_name(name), []).append(name)
    spelled = {}
    for kind in kinds:
        own = [names.get(name) or folded.get(fold_name(name), []) for name in kind.columns]
        if all(len(fitting) == 1 for fitting in own):
            spelled[kind] = SketchKind(kind.kind, tuple(name for (name,) in own))
    return spelled


def fold_name(name: str) -> str:
    """The name of a column in comparable form: its letters and digits.

    >>> fold_name(" Date_of-Birth ")
    'dateofbirth'
    """
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name).casefold()) or name


def has_room(table: Table, kinds: Iterable[SketchKind]) -> bool:
    """Whether memory holds all rows of columns that are sketched together; one column is sampled inside the engine."""
    together = {name for kind in kinds if not kind.is_single for name in kind.columns}
    return BASE_BYTES + table.rows * (CODE_BYTES * len(together) + TUPLE_BYTES) <= table.allowed_bytes


@contextmanager
def with_columns(table: Table, columns: Iterable[str]) -> Iterator[Table]:
    """The table, read once more where it lacks some of these columns."""
    names = dict.fromkeys(columns)
    if {*names} <= {*table.loaded, *table.counted}:
        yield table
        return
    with table.reread(quasi_identifiers=list(names), sensitive=(), identifiers=(), person=(), keep=()) as again:
        yield again


class UnkeyedSketch(NamedTuple):
    """What a sketch holds, before it is keyed."""

    rows: int
    depth: int
    hashes: Hashes
    counts: Ints
    zeros: NDArray[np.uint8]


class HashedTable:
    """A table whose values are hashed, and the value of each row where columns are sketched together."""

    def __init__(self, table: Table, kinds: Sequence[SketchKind]) -> None:
        self.table, self.kinds = table, kinds
        together = [kind for kind in kinds if not kind.is_single]
        traits = [kind.columns for kind in together if kind.kind == "trait"]
        others = [kind.columns for kind in together if kind.kind != "trait"]
        whole = dict.fromkeys(chain(chain.from_iterable(others), (columns[-1] for columns in traits)))
        names = [name for name in dict.fromkeys(columns[0] for columns in traits) if name not in whole]
        self.values = {name: table.hash_values(name, 0) for name in whole}
        self.values |= {name: self.sample(name) for name in names}
        codes = table.engine.code_rows([self.number(name) for name in self.values]) if self.values else np.empty((0, 0))
        self.codes = {name: codes[:, j] for j, name in enumerate(self.values)}

    def choose_sketcher(self, kind: SketchKind) -> Callable[[SketchKind], UnkeyedSketch]:
        """The method that makes a sketch of this kind."""
        return (
            self.sketch_traits if kind.kind == "trait" else self.sketch_values if kind.is_single else self.sketch_tuples
        )

    def sample(self, column: str) -> HashedValues:
        """So many values of a column as a sketch holds."""
        distinct, _ = self.table.engine.count_present(self.table.index(column))
        return self.table.hash_values(column, find_depth(distinct))

    def number(self, column: str) -> ColumnCodes:
        """The values of a column, numbered; what is none of them comes last."""
        texts = self.values[column].texts
        return ColumnCodes(self.table.index(column), "text", texts, np.arange(len(texts), dtype=np.int32), len(texts))

    def sketch_values(self, kind: SketchKind) -> UnkeyedSketch:
        """The sketch of one column: its values; a name counts once."""
        (column,) = kind.columns
        values = self.values.get(column) or self.sample(column)
        once = kind.kind == "name"
        rows, counts = (values.distinct, np.ones_like(values.rows)) if once else (values.present, values.rows)
        return keep_depth(values.hashes, counts, rows, find_depth(values.distinct))

    def sketch_tuples(self, kind: SketchKind) -> UnkeyedSketch:
        """The sketch of several columns: rows that have a value in all, each hashed by the hashes of its values."""
        columns = [(self.values[name].hashes, self.codes[name]) for name in kind.columns]
        is_complete = np.logical_and.reduce([codes < len(hashes) for hashes, codes in columns])
        rows = scramble(mix([hashes[codes[is_complete]].view(np.int64) for hashes, codes in columns]).view(np.uint64))
        hashes, counts = np.unique(rows, return_counts=True)
        once = kind.kind == "name"
        present, counts = (len(hashes), np.ones_like(counts)) if once else (len(rows), counts)
        return keep_depth(hashes, counts, present, find_depth(len(hashes)))

    def sketch_traits(self, kind: SketchKind) -> UnkeyedSketch:
        """The sketch of a trait: the different values that each sampled name has in a quasi-identifier."""
        (names, who), (values, what) = ((self.values[name].hashes, self.codes[name]) for name in kind.columns)
        complete = np.flatnonzero((who < len(names)) & (what < len(values)))
        name = names[who[complete]]
        pairs = np.unique(np.stack([name, scramble(name ^ values[what[complete]])]), axis=1)
        depth, zeros = find_depth(self.values[kind.columns[0]].distinct), count_zeros(pairs[0])
        kept = pairs[1, zeros >= depth]
        return UnkeyedSketch(len(kept), depth, kept, np.ones(len(kept), np.int64), zeros[zeros >= depth])


def keep_depth(hashes: Hashes, counts: Ints, rows: int, depth: int) -> UnkeyedSketch:
    """The values whose hashes begin with `depth` zero bits, each once."""
    kept = count_zeros(hashes) >= depth
    distinct, index = np.unique(hashes[kept], return_inverse=True)
    summed = np.bincount(index.ravel(), counts[kept], len(distinct)).astype(np.int64)
    return UnkeyedSketch(rows, depth, distinct, summed, count_zeros(distinct))


def find_depth(distinct: int) -> int:
    """How many zero bits a hash must begin with, so that about as many are left as a sketch holds."""
    return max(0, (distinct - 1).bit_length() - (MOST_VALUES - 1).bit_length())


def count_zeros(hashes: Hashes) -> NDArray[np.uint8]:
    """With how many zero bits each hash begins, as far as 52 bits tell."""
    exponent = np.frexp((hashes >> np.uint64(12)).astype(np.float64))[1]
    return (52 - exponent).astype(np.uint8)


def key_sketch(kind: SketchKind, drawn: UnkeyedSketch, secret: OwnerSecret) -> Sketch:
    """A sketch whose hashes tell nothing without the secret; each set of columns has a key of its own."""
    key = secret.derive("ledger sketch", kind.kind.encode(), *(name.encode() for name in kind.columns))
    letters = np.ascontiguousarray(drawn.hashes.astype("<u8")).view(np.uint8)
    keyed = hash_texts(key, 8, np.arange(len(drawn.hashes) + 1, dtype=np.int64) * 8, letters)
    return Sketch(
        *kind, drawn.rows, drawn.depth, keyed.tobytes(), drawn.counts.astype("<u4").tobytes(), drawn.zeros.tobytes()
    )

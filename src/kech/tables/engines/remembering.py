"""Remembering engine: DuckDB, whose answers about a large file are kept in the cache of this user.

Facts, values and points that were found before are not asked for again, and rows are read only when something else is
wanted: to publish, or to leave rows out.  An answer is known by the files (where they lie, their size, times and
numbers), by how they are read, and by the whole question, codes of all values included.
"""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech.errors import TooManyPoints, UnreadableFile
from kech.tables.cache import Cache
from kech.tables.engines import ColumnFacts, Mapping1D, Output
from kech.tables.engines.describing import as_array
from kech.tables.engines.duckdb import DuckDBEngine

T = TypeVar("T")
LARGE, MANY = 50_000_000, 1_000_000  # bytes or rows of a source from which on answers are worth keeping
PART = 50  # an answer that takes more than this part of the memory that is allowed is not kept
SETTLED = 2.0  # seconds: a file that was changed just now could change again with the same time
TEXTS_AT_ONCE = 1000  # that are hashed


class Notes:
    """What is remembered of one source, read in one way."""

    def __init__(self, cache: Cache, files: Sequence[Path], how: object, room: int) -> None:
        self.cache, self.files, self.most = cache, files, room // PART
        self.seen = identity(files)
        self.bytes = sum(file.stat().st_size for file in files)
        self.settled = time.time() - max(file.stat().st_ctime for file in files) > SETTLED
        self.key = json.dumps([version("kech"), duckdb.__version__, self.seen, how]).encode()

    @property
    def same(self) -> bool:
        """Whether the files are still what they were."""
        try:
            return identity(self.files) == self.seen
        except OSError:
            return False

    def find(self, question: Sequence[object]) -> Any:
        """The answer to a question as an Arrow table; None where it is not known."""
        body = self.cache.find(self.name(question))
        if body is None:
            return None
        try:
            return pa.ipc.open_stream(body).read_all()
        except (pa.ArrowException, OSError):
            self.cache.drop(self.name(question))
            return None

    def keep(self, question: Sequence[object], answer: Any) -> None:
        """Remember an answer, unless writing it would take too much memory."""
        if answer.nbytes > self.most:
            return
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, answer.schema) as writer:
            writer.write_table(answer)
        self.cache.keep(self.name(question), memoryview(sink.getvalue()))

    def name(self, question: Sequence[object]) -> str:
        """A hash of the source, how it is read, and the question."""
        return blake2b(self.key + json.dumps(question).encode(), digest_size=32).hexdigest()


class RememberingEngine:
    """An engine that asks its notes first."""

    def __init__(self, engine: DuckDBEngine, fill: Callable[[], None], wanted: Sequence[int], notes: Notes) -> None:
        self._engine, self._fill, self._wanted, self._notes = engine, fill, wanted, notes
        self._filled = self._closed = self._keeps = False
        self._known = notes.find(["read", *wanted]) is not None
        if not self._known:
            self._rows()

    def describe(self, column: int, beside: Sequence[int] = ()) -> ColumnFacts:
        """Facts about one column."""
        question = ["describe", column]
        return self._answer(question, lambda: self._rows().describe(column, beside), facts_table, read_facts)

    def count_values(self, column: int, kind: str) -> tuple[Any, NDArray[np.int64]]:
        """Distinct values read as `kind`, and their rows."""
        question = ["count", column, kind]
        return self._answer(question, lambda: self._rows().count_values(column, kind), values_table, read_values)

    def text_bytes(self, column: int) -> int:
        """Bytes of the distinct values of a column as text."""
        question = ["bytes", column]
        return self._answer(question, lambda: self._rows().text_bytes(column), number_table, read_number)

    def group(
        self, mappings: Sequence[Mapping1D], most: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Distinct code tuples and their rows."""
        question = ["group", [hash_mapping(mapping) for mapping in mappings]]
        codes, rows = self._answer(question, lambda: self._rows().group(mappings, most), points_table, read_points)
        if most is not None and len(rows) > most:
            raise TooManyPoints(len(rows), most)
        return codes, rows

    def code_rows(self, mappings: Sequence[Mapping1D], every: int = 1) -> NDArray[np.int32]:
        """Codes of every row, or of each n-th; only a sample is kept."""
        if every == 1:
            return self._rows().code_rows(mappings)
        question = ["code", every, [hash_mapping(mapping) for mapping in mappings]]
        return self._answer(question, lambda: self._rows().code_rows(mappings, every), codes_table, read_codes)

    def count_together(self, columns: Sequence[int]) -> tuple[int, int]:
        """Combinations of values, and rows that have one."""
        question = ["together", *columns]
        return self._answer(question, lambda: self._rows().count_together(columns), pair_table, read_pair)

    def head(self, columns: Sequence[int], rows: int) -> list[list[str | None]]:
        """The first rows as text."""
        return self._rows().head(columns, rows)

    def without(self, mappings: Sequence[Mapping1D], points: NDArray[np.int64]) -> DuckDBEngine:
        """The rows of all other points, as an engine that remembers nothing."""
        return self._rows().without(mappings, points)

    def publish(
        self,
        mappings: Sequence[Mapping1D],
        shares: Mapping[str, NDArray[np.int64]],
        outputs: Sequence[Output],
        *,
        for_csv: bool,
        key: bytes | None = None,
    ) -> Any:
        """A stream of record batches."""
        return self._rows().publish(mappings, shares, outputs, for_csv=for_csv, key=key)

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """A hash of the whole source."""
        return self._rows().fingerprint(columns, batches)

    def close(self) -> None:
        """Forget all rows; notes stay."""
        self._closed = True
        self._engine.close()

    def _answer(
        self, question: Sequence[object], ask: Callable[[], T], write: Callable[[T], Any], read: Callable[[Any], T]
    ) -> T:
        """What the notes know, or else the engine; before anything else is done, it is noted."""
        noted = None if self._closed else self._notes.find(question)
        if noted is not None:
            return read(noted)
        found = ask()
        if self._keeps:
            self._notes.keep(question, write(found))
        return found

    def _rows(self) -> DuckDBEngine:
        """The engine with its rows; answers of before are not mixed with a file that has changed since."""
        if not self._filled and not self._closed:
            self._fill()
            self._filled = True
            if self._known and not self._notes.same:
                raise UnreadableFile(self._notes.files[0], "it was changed while kech worked on it. Run again.")
            large = self._notes.bytes >= LARGE or self._engine.describe(self._wanted[0]).rows >= MANY
            self._keeps = large and self._notes.settled and self._notes.same
            if self._keeps:
                self._notes.keep(["read", *self._wanted], pa.table({}))  # nothing is wrong with these columns
        return self._engine


def identity(files: Sequence[Path]) -> list[list[object]]:
    """Where files lie, and what the file system says of them; whoever writes to one changes it."""
    stats = [(os.fsencode(file.resolve()).hex(), file.stat()) for file in files]
    return [[path, s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns] for path, s in stats]


def hash_mapping(mapping: Mapping1D) -> list[object]:
    """A mapping as a part of a question: all its values and codes."""
    values, codes = blake2b(digest_size=32), blake2b(mapping.codes.tobytes(), digest_size=32)
    if mapping.kind == "text":
        for start in range(0, len(mapping.values), TEXTS_AT_ONCE):
            values.update(json.dumps(mapping.values[start : start + TEXTS_AT_ONCE]).encode())
    else:
        values.update(np.asarray(mapping.values, np.float64).tobytes())
    return [mapping.column, mapping.kind, int(mapping.null), values.hexdigest(), codes.hexdigest()]


# -- answers as Arrow tables, and back -----------------------------------------------------------------


def facts_table(facts: ColumnFacts) -> Any:
    """Facts in one row."""
    return pa.Table.from_pylist([asdict(facts)])


def read_facts(noted: Any) -> ColumnFacts:
    """Facts from their row."""
    return ColumnFacts(**noted.to_pylist()[0])


def values_table(found: tuple[Any, NDArray[np.int64]]) -> Any:
    """Values and their rows."""
    values, rows = found
    return pa.table({"x": pa.array(values, pa.string() if isinstance(values, list) else pa.float64()), "n": rows})


def read_values(noted: Any) -> tuple[Any, NDArray[np.int64]]:
    """Text as a list, numbers and dates as an array; and their rows."""
    is_text = pa.types.is_string(noted.schema.field("x").type)
    return noted["x"].to_pylist() if is_text else as_array(noted, "x", np.float64), as_array(noted, "n", np.int64)


def number_table(found: int) -> Any:
    """A number."""
    return pa.table({"n": [found]})


def read_number(noted: Any) -> int:
    """A number again."""
    return int(noted["n"][0].as_py())


def pair_table(found: tuple[int, int]) -> Any:
    """Two numbers."""
    return pa.table({"n": list(found)})


def read_pair(noted: Any) -> tuple[int, int]:
    """Two numbers again."""
    first, second = noted["n"].to_pylist()
    return first, second


def points_table(found: tuple[NDArray[np.int32], NDArray[np.int64]]) -> Any:
    """Codes and the rows of each tuple."""
    return codes_table(found[0]).append_column("n", pa.array(found[1]))


def read_points(noted: Any) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Codes and the rows of each tuple."""
    return stacked(noted, noted.num_columns - 1), as_array(noted, "n", np.int64)


def codes_table(codes: NDArray[np.int32]) -> Any:
    """Codes, a column for each axis."""
    return pa.table({f"q{j}": np.ascontiguousarray(codes[:, j]) for j in range(codes.shape[1])})


def read_codes(noted: Any) -> NDArray[np.int32]:
    """Codes as one matrix."""
    return stacked(noted, noted.num_columns)


def stacked(found: Any, axes: int) -> NDArray[np.int32]:
    """Code columns as one matrix."""
    return np.ascontiguousarray(np.stack([as_array(found, f"q{j}", np.int32) for j in range(axes)], axis=1))

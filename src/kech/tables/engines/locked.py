"""Locked connection: DuckDB in memory, which reaches one file and its own encrypted spill, and hands rows out."""

import math
import os
import re
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.func import PythonUDFType

from kech.errors import OutOfMemory
from kech.system.files import claim_folder, let_go
from kech.tables.engines.dealing import chances, shuffled
from kech.tables.engines.dialect import Dialect
from kech.tables.engines.failures import FAILURES, SHARE, refusal
from kech.tables.engines.sql import SqlEngine

FOR_ROWS = 0.1  # of the memory that is allowed, while rows are written
MOST_ROWS = 1 << 30  # bytes of them, where no limit is given
A_CARD, MOST_CARDS = 4, (1 << 32) - 1  # bytes for the place of a row, and how many there are
A_THREAD = 400_000_000  # bytes of memory for each thread: with less, DuckDB cannot even spill
MOST_THREADS = 256
PIECE, A_ROW = 122_880, 25_000  # rows that DuckDB keeps together, and bytes of memory for each that is on its way
SMALL, VECTOR, HANDED = 600_000_000, 2048, 8192  # a limit, and rows that DuckDB hands out at a time below and above it
BATCHES = 20  # that memory must hold
NUMBER_TYPES = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|BIGNUM)$")
DATE_TYPES = re.compile(r"(DATE|TIMESTAMP.*)$")
TEXT_TYPES = re.compile(r"(VARCHAR|ENUM.*|BOOLEAN|UUID|\"NULL\")$")
SHORT_TYPES = {"BOOLEAN": 1, "TINYINT": 1, "UTINYINT": 1, "SMALLINT": 2, "USMALLINT": 2, "INTEGER": 4, "UINTEGER": 4}
SHORT_TYPES |= {"FLOAT": 4, "DATE": 4, "BIGINT": 8, "UBIGINT": 8, "DOUBLE": 8, "TIMESTAMP": 8}  # and their bytes


class LockedEngine(SqlEngine):
    """One connection, one private folder."""

    dialect = Dialect()

    def __init__(self, *, memory: int | None = None, threads: int | None = None) -> None:
        super().__init__()
        self.memory = memory
        self.folder, held = claim_folder()
        self._finalizer: weakref.finalize[..., LockedEngine] = weakref.finalize(self, let_go, self.folder, held)
        settings: dict[str, Any] = {
            "threads": min(threads or MOST_THREADS, max(memory // A_THREAD, 1)) if memory else threads,
            "memory_limit": memory and f"{int(memory * SHARE / 1000)}KB",
            "temp_directory": str(self.folder / "spill"),
            "force_mbedtls_unsafe": True,  # without it DuckDB encrypts nothing unless it may download an extension
            "temp_file_encryption": True,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "python_enable_replacements": False,
        }
        self.connection = self._connect({name: value for name, value in settings.items() if value is not None})
        self._origin: tuple[Path, os.stat_result] | None = None
        self._piece = min(PIECE, max(memory // A_ROW, 1)) if memory else PIECE
        self._handed = PIECE if not memory else VECTOR if memory < SMALL else HANDED
        self._for_rows = int(memory * FOR_ROWS) if memory else MOST_ROWS
        self._finalizer.detach()
        self._finalizer = weakref.finalize(self, shut, self.connection, self.folder, held)
        self._run("SET enable_progress_bar = false", "starting")
        self.connection.create_function(
            "kech_chance", chance_of, ["BIGINT"], "UBIGINT", type=PythonUDFType.ARROW, side_effects=True
        )

    def _connect(self, settings: dict[str, Any]) -> duckdb.DuckDBPyConnection:
        try:
            return duckdb.connect(":memory:", config=settings)
        except duckdb.Error as failure:
            self._finalizer()
            raise refusal(failure, "starting", self.memory) from None

    def _lock(self, path: Path | None) -> None:
        """From here on the connection reaches nothing but this file and its own encrypted spill."""
        allowed = []
        if path is not None:
            link = self.folder / "source"
            link.symlink_to(path.resolve())
            allowed = [str(link), str(path.resolve())]
            self._origin = path, path.stat()
        settings = {
            "timezone": "'UTC'",  # moments with a zone read the same everywhere
            "allowed_paths": "[" + ", ".join(map(self.dialect.literal, allowed)) + "]",
            "enable_external_access": "false",
            "lock_configuration": "true",
        }
        for name, value in settings.items():
            self._run(f"SET GLOBAL {name} = {value}", "locking the engine")  # for cursors too

    def _shut(self) -> None:
        self._finalizer()

    def _type(self, column: int) -> str:
        return self._kind_of(self.types[column])

    def _kind_of(self, type: str) -> str:
        types = {"number": NUMBER_TYPES, "date": DATE_TYPES, "text": TEXT_TYPES}
        return next((kind for kind, pattern in types.items() if pattern.match(type)), "other")

    def _create(self, name: str, query: str, doing: str) -> None:
        self._run(f"CREATE TABLE {name} AS {query}", doing)

    def _define(self, name: str, query: str) -> None:
        self._run(f"CREATE VIEW {name} AS {query}", "leaving rows out")

    def _drop(self, name: str, kind: str) -> None:
        self._run(f"DROP {kind} IF EXISTS {name}", "tidying up")

    def _put(self, name: str, table: Any, doing: str) -> None:
        try:
            self.connection.register(name, table)
        except duckdb.Error as failure:
            raise refusal(failure, doing, self.memory) from None

    def _get(self, query: str, doing: str) -> Any:
        try:
            return self.connection.sql(query).to_arrow_table()
        except FAILURES as failure:
            raise refusal(failure, doing, self.memory, query) from None

    def _stream(self, query: str, doing: str = "publishing") -> Any:
        try:
            reader = self.connection.cursor().sql(query).to_arrow_reader(self._handed)
        except FAILURES as failure:
            raise refusal(failure, doing, self.memory, query) from None
        return pa.RecordBatchReader.from_batches(reader.schema, self._short(self._batches(reader, doing, query), doing))

    def _shuffled(self, query: str, row: str) -> Any:
        """Short rows that fit are shuffled here, which takes a third of the time; DuckDB sorts the others by chance."""
        try:
            found = self.connection.sql(query)
            if not self._fit(found.types):
                return super()._shuffled(query, row)
            rows = found.to_arrow_table()
        except FAILURES as failure:
            raise refusal(failure, "publishing", self.memory, query) from None
        return pa.RecordBatchReader.from_batches(rows.schema, shuffled(rows, self._piece))

    def _fit(self, types: Sequence[Any]) -> bool:
        """Whether rows of these types may be held beside all else: twice, and a card for each."""
        each, rows = [SHORT_TYPES.get(str(kind), math.inf) for kind in types], int(self._weights.sum())
        return rows <= MOST_CARDS and rows * (2 * sum(each) + A_CARD) <= self._for_rows

    def _short(self, batches: Iterator[Any], doing: str) -> Iterator[Any]:
        """The batches; rows so long that memory does not hold enough of them are refused."""
        for batch in batches:
            if self.memory and (need := BATCHES * batch.nbytes) > self.memory:
                more = HANDED // self._handed if need >= SMALL else 1  # with so much memory, more rows are handed out
                raise OutOfMemory(doing, self.memory, need * more)
            yield batch

    def _batches(self, reader: Any, doing: str, query: str = "") -> Iterator[Any]:
        """The batches of a query; a failure on the way does not quote the rows."""
        try:
            yield from reader
        except (*FAILURES, pa.ArrowException, OSError) as failure:
            raise refusal(failure, doing, self.memory, query) from None

    def _rows(self, query: str, doing: str) -> list[tuple[Any, ...]]:
        return self._run(query, doing)

    def _run(self, sql: str, doing: str) -> list[tuple[Any, ...]]:
        try:
            return self.connection.execute(sql).fetchall()
        except FAILURES as failure:
            raise refusal(failure, doing, self.memory, sql) from None


def chance_of(rows: Any) -> Any:
    """A number for each row that nobody can know."""
    return pa.array(chances(len(rows)))


def shut(connection: duckdb.DuckDBPyConnection, folder: Path, held: int) -> None:
    """Forget all rows and remove the private folder."""
    connection.close()
    let_go(folder, held)

"""DuckDB: rows in a locked database in memory, spilled to encrypted files.  Its own files: `duckdb_files.py`.

In: a file, a table of a DuckDB file, or record batches.  Out: a `Backend` for an engine.
"""

import errno
import math
import os
import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.func import PythonUDFType

from kech.errors import (
    BadColumns,
    CannotWrite,
    KechError,
    OutOfMemory,
    ResourceError,
    UnreadableFile,
)
from kech.request.parts import MOST_THREADS
from kech.system.files import claim_folder, remove_folder
from kech.tables.batches import MOST_BYTES, TYPES, Numbering, draw_numbers, join_small_batches, read_ahead, shuffle_rows
from kech.tables.csv_dialect import CsvDialect, longest_row, read_longest
from kech.tables.source import Address
from kech.tables.sql import Column, Dialect, hash_rows, quote

SHARE = 0.3  # of the memory that is allowed; points, classes and the interpreter need the rest
FOR_ROWS, FOR_WORDS = 0.1, 0.1  # of the memory that is allowed, while rows are written and while they are read
MOST_ROWS = 1 << 30  # bytes of rows on their way, where no limit is given
ROW_NUMBER_BYTES, MOST_ROW_NUMBERS = 4, (1 << 32) - 1  # bytes for the place of a row, and how many there are
A_THREAD = 400_000_000  # bytes of memory for each thread: with less, DuckDB cannot even spill
PIECE, A_ROW = 122_880, 25_000  # rows that DuckDB keeps together, and bytes of memory for each that is on its way
SMALL, VECTOR, HANDED = 600_000_000, 2048, 8192  # a limit, and rows that DuckDB hands out at a time below and above it
BATCHES, GATHERED = 20, 1 << 28  # batches that memory must hold, and bytes of those that are put together
LINE, LINES = 1 << 25, 6  # bytes of a line of CSV at most, and how many of them DuckDB must have room for
A_JOIN, BLOCKS = 6_000_000, 4  # bytes that DuckDB holds for a join, and how many blocks it may want
READING = "reading the table"
ENUM = "ENUM("  # how the name of a type that lists its values begins
NUMBER_TYPES = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|BIGNUM)$")
DATE_TYPES = re.compile(r"(DATE|TIMESTAMP.*)$")
TEXT_TYPES = re.compile(r"(VARCHAR|ENUM.*|BOOLEAN|UUID|\"NULL\")$")
SAME_IN_ARROW = re.compile(r"(U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|VARCHAR|BOOLEAN|DATE|TIMESTAMP)$")
SHORT_TYPES = {"BOOLEAN": 1, "TINYINT": 1, "UTINYINT": 1, "SMALLINT": 2, "USMALLINT": 2, "INTEGER": 4, "UINTEGER": 4}
SHORT_TYPES |= {"FLOAT": 4, "DATE": 4, "BIGINT": 8, "UBIGINT": 8, "DOUBLE": 8, "TIMESTAMP": 8}  # and their bytes


class DuckDB:
    """One locked connection in memory, which reaches one file and its own encrypted spill in a private folder."""

    dialect = Dialect()
    on_workers = False
    reads = ("csv", "parquet", "duckdb")

    def __init__(self, *, memory: int | None = None, threads: int | None = None) -> None:
        self.memory, self.threads = memory, threads
        self.columns: dict[int, Column] = {}
        self.piece = min(PIECE, max(memory // A_ROW, 1)) if memory else PIECE
        self.row_bytes = int(memory * FOR_ROWS) if memory else MOST_ROWS  # that may be shuffled here
        self.word_bytes = int(memory * FOR_WORDS) if memory else None  # of the words of all columns
        self._handed = PIECE if not memory else VECTOR if memory < SMALL else HANDED
        self._source = ""  # what the rows were read from, if they can be read again
        self._origin: tuple[Path, os.stat_result] | None = None
        self.folder, handle = claim_folder()
        self._finalizer: weakref.finalize[..., DuckDB] = weakref.finalize(self, remove_folder, self.folder, handle)
        self.connection = self._connect(self._settings())
        self._finalizer.detach()
        self._finalizer = weakref.finalize(self, close_and_remove, self.connection, self.folder, handle)
        self.rows("SET enable_progress_bar = false", "starting")
        self.connection.create_function(
            "kech_random", draw_random_numbers, ["BIGINT"], "UBIGINT", type=PythonUDFType.ARROW, side_effects=True
        )

    def _settings(self) -> dict[str, Any]:
        memory, threads = self.memory, self.threads
        settings = {
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
        return {name: value for name, value in settings.items() if value is not None}

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
            self.rows(f"SET GLOBAL {name} = {value}", "locking the engine")  # for cursors too

    def close(self) -> None:
        """Forget all rows and remove the private folder."""
        self._finalizer()

    # -- rows in ---------------------------------------------------------------------------------------------

    def load_csv(self, path: Path, dialect: CsvDialect, selected: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a plain CSV file (UTF-8, all lines ending alike) in a pinned dialect, every cell as text."""
        names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(dialect.header)))
        line = longest_line(self.memory)
        options = (
            f"auto_detect = false, header = true, quote = '\"', escape = '\"', strict_mode = true, "
            f"null_padding = false, max_line_size = {line}, columns = {{{names}}}, "
            f"delim = {self.dialect.literal(dialect.delimiter)}{f', buffer_size = {2 * line}' if self.memory else ''}"
        )
        check_lines(path, dialect.delimiter, self.memory)
        self._lock(path)
        self._source = f"read_csv({self.dialect.literal(str(self.folder / 'source'))}, {options})"
        self._store({i: f"c{i}" for i in selected}, nulls, path)

    def load_parquet(self, path: Path, names: Sequence[str], selected: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a Parquet file."""
        self._lock(path)
        self._source = f"read_parquet({self.dialect.literal(str(self.folder / 'source'))})"
        self._store({i: names[i] for i in selected}, nulls, path)

    def load_table(self, address: Address, names: Sequence[str], selected: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a table or view of a DuckDB file, which is let go again."""
        self.attach(address)
        self._store({i: names[i] for i in selected}, nulls, address)
        self.rows("DETACH given", "closing the file")

    def attach(self, address: Address) -> None:
        """Look at a table or view of a DuckDB file; a view reaches nothing outside its file."""
        try:
            self.connection.execute(f"ATTACH {literal_file(address)} AS given (TYPE duckdb, READ_ONLY)")
        except FAILURES as failure:
            raise KeyboardInterrupt if is_stopped(failure) else refuse_reading(failure, address) from None
        self._lock(None)
        self._source = ".".join(map(quote, ("given", *address.names)))

    def load_arrow(self, batches: Any, selected: Sequence[int], nulls: Sequence[str], path: object) -> None:
        """Read a stream of record batches; what is wrong with them is refused in the words of their maker."""
        self._lock(None)
        fields = [batches.schema.field(i) for i in selected]
        schema = pa.schema([field.with_name(f"c{i}") for i, field in zip(selected, fields, strict=True)])
        types = self._types_in(schema)
        if types is None:
            field = next(field for field in fields if self._types_in(pa.schema([field])) is None)
            reason = f"column {field.name!r} is of type {field.type}. Convert it to text, a number or a date."
            raise BadColumns(path, reason)
        with refuse_as_unreadable(path):
            self._store_numbered(select_columns(batches, schema), dict(zip(selected, types, strict=True)))
        self._finish_loading(nulls)

    def _types_in(self, schema: Any) -> list[str] | None:
        """The types of columns that come through Arrow; None where DuckDB does not know one."""
        try:
            return list(map(str, self.connection.from_arrow(schema.empty_table()).types))
        except duckdb.Error:
            return None

    def _store(self, names: Mapping[int, str], nulls: Sequence[str], path: object) -> None:
        """Keep the rows of the source, narrow if they can pass through Arrow as they are."""
        picked = ", ".join(f"{quote(name)} AS c{i}" for i, name in names.items())
        query = f"SELECT {picked} FROM {self._source}"
        with refuse_as_unreadable(path):
            described = self.rows(f"DESCRIBE {query}", READING)
            types = {int(name[1:]): str(kind) for name, kind, *_ in described}
            if enums := [i for i, kind in types.items() if kind.startswith(ENUM)]:  # their type lists all their members
                texts = ", ".join(f"CAST(c{i} AS VARCHAR) AS c{i}" for i in enums)
                query, types = f"SELECT * REPLACE ({texts}) FROM ({query})", types | dict.fromkeys(enums, "VARCHAR")
            if not self._store_narrow(query, types):
                self._set_columns(types)
                self.rows(f"CREATE OR REPLACE TABLE source AS {query}", READING)
        self._finish_loading(nulls)

    def _store_narrow(self, query: str, types: dict[int, str]) -> bool:
        if "VARCHAR" not in types.values() or not all(map(SAME_IN_ARROW.match, types.values())):
            return False
        try:
            self._store_numbered(self.stream(query, READING), types)
        except DuckDBFailed:  # texts of a batch can be too long for Arrow
            return False
        return True

    def _set_columns(self, types: Mapping[int, str], numbered: Sequence[int] = ()) -> None:
        """Say how columns are held from now on."""
        self.columns.update({i: Column(kind, kind_of(kind), i in numbered) for i, kind in types.items()})

    def _store_numbered(self, batches: Iterator[Any], types: dict[int, str]) -> None:
        """Keep rows, with numbers for the texts of columns that have few."""
        texts = [i for i, kind in types.items() if kind == "VARCHAR"]
        most = MOST_BYTES if self.word_bytes is None else min(MOST_BYTES, self.word_bytes // max(len(texts), 1))
        numbering = Numbering(texts, self.threads, most)
        kinds = {i: numbering.kind(i) for i in texts}
        cells = ", ".join(f"k{i} UTINYINT" if i in kinds else f"c{i} {t}" for i, t in types.items())
        self.rows(f"CREATE OR REPLACE TABLE source ({cells})", READING)
        gathered = join_small_batches(
            batches, self.piece, min(GATHERED, self.memory // BATCHES) if self.memory else GATHERED
        )
        for piece in numbering.number(read_ahead(self.check_batches(gathered, READING))):
            for i in list(kinds):
                self._widen(i, numbering, kinds)
            self.put("incoming", piece, READING)
            self.rows("INSERT INTO source BY NAME SELECT * FROM incoming", READING)
        for i in kinds:
            self.put("incoming", numbering.list_words(i), READING)
            self.create(f"words{i}", "SELECT * FROM incoming", READING)
        self.connection.unregister("incoming")
        self._set_columns(types, list(kinds))

    def _widen(self, column: int, numbering: Numbering, kinds: dict[int, Any]) -> None:
        """Make room for more words; or spell out what is held, where a column has too many."""
        if column in numbering.given_up:
            del kinds[column]
            self.put("spelled", numbering.list_words(column), READING)
            self.rows(
                f"""CREATE OR REPLACE TABLE source AS SELECT source.* EXCLUDE (k{column}), spelled.c{column}
                FROM source JOIN spelled ON spelled.k{column} = source.k{column} ORDER BY source.rowid""",
                READING,
            )
            self.connection.unregister("spelled")
        elif kinds[column] != (wider := numbering.kind(column)):
            self.rows(f"ALTER TABLE source ALTER k{column} TYPE {TYPES[wider.itemsize]}", READING)
            kinds[column] = wider

    def _finish_loading(self, nulls: Sequence[str]) -> None:
        """Texts that mean NULL become NULL; only now: while it reads Parquet, DuckDB believes the file's statistics,
        which know no NaN.
        """
        cells = {
            i: f"{self.dialect.without(f'c{i}', column.type, nulls)} AS c{i}" for i, column in self.columns.items()
        }
        for i in [i for i, column in self.columns.items() if nulls and column.in_words]:
            self.rows(f"CREATE OR REPLACE TABLE words{i} AS SELECT k{i}, {cells[i]} FROM words{i}", READING)
            cells[i] = f"k{i}"
        if nulls and not all(column.in_words for column in self.columns.values()):
            self.rows(f"CREATE OR REPLACE TABLE source AS SELECT {', '.join(cells.values())} FROM source", READING)
        self.rows("CREATE VIEW kept AS SELECT rowid AS r, * FROM source", READING)

    def overwrite(self, column: int, value: str, where: str) -> None:
        """Give a column of the loaded rows another value where a condition holds."""
        table = f"words{column}" if self.columns[column].in_words else "source"
        self.rows(f"UPDATE {table} SET c{column} = {value} WHERE {where}", READING)

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """The source is read once more, all its columns."""
        if batches is not None:
            self.connection.register("incoming", batches)
        elif self._origin is not None and has_changed(*self._origin):
            raise UnreadableFile(self._origin[0], "it was changed while kech worked on it. Run again.")
        source, doing = self._source if batches is None else "incoming", "comparing tables"
        types = [str(kind) for _, kind, *_ in self.rows(f"DESCRIBE SELECT * FROM {source}", doing)]
        cells = {name: (f"c{i}", types[i], kind_of(types[i])) for i, name in enumerate(columns)}
        rows = f"{source} AS held({', '.join(f'c{i}' for i in range(len(columns)))})"
        (figures,) = self.rows(hash_rows(self.dialect, cells, rows), doing)
        if batches is not None:
            self.connection.unregister("incoming")
        return tuple(int(figure or 0) for figure in figures)

    # -- queries ---------------------------------------------------------------------------------------------

    def create(self, name: str, query: str, doing: str) -> None:
        """Keep the rows of a query under a name."""
        self.rows(f"CREATE TABLE {name} AS {query}", doing)

    def define(self, name: str, query: str, doing: str) -> None:
        """Name a query; its rows are computed when they are asked for."""
        self.rows(f"CREATE VIEW {name} AS {query}", doing)

    def drop(self, name: str, kind: str) -> None:
        """Forget a TABLE or VIEW."""
        self.rows(f"DROP {kind} IF EXISTS {name}", "tidying up")

    def broadcast_small(self, name: str, rows: int) -> None:
        """Nothing: there are no workers."""

    def put(self, name: str, table: Any, doing: str) -> None:
        """An Arrow table under a name, for the next query."""
        try:
            self.connection.register(name, table)
        except duckdb.Error as failure:
            raise refusal(failure, doing, self.memory) from None

    def rows(self, query: str, doing: str) -> list[tuple[Any, ...]]:
        """The few rows of a query."""
        try:
            return self.connection.execute(query).fetchall()
        except FAILURES as failure:
            raise refusal(failure, doing, self.memory, query) from None

    def read(self, query: str, doing: str) -> Any:
        """The rows of a query as an Arrow table."""
        try:
            return self.connection.sql(query).to_arrow_table()
        except FAILURES as failure:
            raise refusal(failure, doing, self.memory, query) from None

    def stream(self, query: str, doing: str) -> Any:
        """The rows of a query as record batches; rows so long that memory does not hold enough are refused."""
        try:
            reader = self.connection.cursor().sql(query).to_arrow_reader(self._handed)
        except FAILURES as failure:
            raise refusal(failure, doing, self.memory, query) from None
        batches = self._check_length(self.check_batches(reader, doing, query), doing)
        return pa.RecordBatchReader.from_batches(reader.schema, batches)

    def shuffle(self, query: str, row: str, rows: int) -> Any:
        """Short rows that fit are shuffled here, which takes a third of the time; DuckDB sorts the others at random."""
        try:
            result = self.connection.sql(query)
            if not self.fits(result.types, rows):
                return self.stream(f"{query} ORDER BY {self.dialect.secret(row)}", "publishing")
            table = result.to_arrow_table()
        except FAILURES as failure:
            raise refusal(failure, "publishing", self.memory, query) from None
        return pa.RecordBatchReader.from_batches(table.schema, shuffle_rows(table, self.piece))

    def fits(self, types: Sequence[Any], rows: int) -> bool:
        """Whether rows of these types may be held beside all else: twice, and a number for each."""
        each = [SHORT_TYPES.get(str(kind), math.inf) for kind in types]
        return rows <= MOST_ROW_NUMBERS and rows * (2 * sum(each) + ROW_NUMBER_BYTES) <= self.row_bytes

    def check_batches(self, batches: Any, doing: str, query: str = "") -> Iterator[Any]:
        """The batches of a query; a failure on the way does not quote the rows."""
        try:
            yield from batches
        except (*FAILURES, pa.ArrowException, OSError) as failure:
            raise refusal(failure, doing, self.memory, query) from None

    def _check_length(self, batches: Iterator[Any], doing: str) -> Iterator[Any]:
        for batch in batches:
            if self.memory and (need := BATCHES * batch.nbytes) > self.memory:
                more = HANDED // self._handed if need >= SMALL else 1  # with so much memory, more rows are handed out
                raise OutOfMemory(doing, self.memory, need * more)
            yield batch


def kind_of(type: str) -> str:
    """What a type is for kech: number, date, text or other."""
    types = {"number": NUMBER_TYPES, "date": DATE_TYPES, "text": TEXT_TYPES}
    return next((kind for kind, pattern in types.items() if pattern.match(type)), "other")


def draw_random_numbers(rows: Any) -> Any:
    """A number for each row that nobody can know."""
    return pa.array(draw_numbers(len(rows)))


def close_and_remove(connection: duckdb.DuckDBPyConnection, folder: Path, handle: int) -> None:
    """Forget all rows and remove the private folder."""
    connection.close()
    remove_folder(folder, handle)


def longest_line(memory: int | None) -> int:
    """Bytes of a line that can be read with so much memory."""
    return min(LINE, int(memory * SHARE) // LINES) if memory else LINE


def check_lines(path: Path, delimiter: str, memory: int | None) -> None:
    """Refuse rows of CSV that are too long; the last one, if it is longer than a buffer, DuckDB loses silently."""
    most = longest_line(memory)
    if path.stat().st_size <= most or longest_row(path) <= most:
        return
    longest = read_longest(path, delimiter, LINE)
    if longest > LINE:
        raise UnreadableFile(path, "a row is longer than 32 MB. Is a quote missing?")
    if longest > most:
        raise OutOfMemory("reading long lines", memory, int(LINES * LINE / SHARE) + 1)


def select_columns(batches: Any, schema: Any) -> Iterator[Any]:
    """The wanted columns, under the names of the schema."""
    selected = [int(name[1:]) for name in schema.names]
    for batch in batches:
        yield pa.record_batch([batch.column(i) for i in selected], schema=schema)


def has_changed(path: Path, before: os.stat_result) -> bool:
    """Whether a file is no longer the one it was."""
    now = path.stat() if path.exists() else None
    return now is None or any(getattr(now, at) != getattr(before, at) for at in ("st_ino", "st_size", "st_mtime_ns"))


def literal_file(address: Address) -> str:
    """The file as a constant of SQL."""
    return "'" + str(file_of(address)).replace("'", "''") + "'"


def file_of(address: Address) -> Path:
    """The file itself, where a link is named: its log lies beside it, and not beside the link."""
    return Path(address.place).resolve()


# -- what it says when it fails -------------------------------------------------------------------------------

STOPPED = re.compile(
    "Query interrupted$|Invalid Input Error: (Python exception .* the UDF|.* failed): KeyboardInterrupt", re.DOTALL
)
OUT_OF_MEMORY = re.compile(
    r"Out of Memory|^TransactionContext Error: Failed to commit: (could not|failed to) (allocate|pin)"
)
HELD = re.compile(r"Could not set lock on file|Unique file handle conflict")  # by another process, or in this one
HOLDER = re.compile(r"\(PID (\d+)\)")
OF_A_FILE = re.compile(r'file "(.*)": ([^":]+)$', re.DOTALL)
REASONS = {os.strerror(code): code for code in errno.errorcode}
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ASKED = re.compile(r"of size ([\d.]+) (bytes|[KMG]iB)")  # what DuckDB wanted
FAILURES = (duckdb.Error, RuntimeError)  # the latter where a query is interrupted


class DuckDBFailed(ResourceError):
    """Neither memory nor disk was short."""


@contextmanager
def refusals(doing: str, memory: int | None = None, target: Address | None = None) -> Iterator[None]:
    """What DuckDB says as a refusal; `target` is the table whose file is being written."""
    try:
        yield
    except FAILURES as failure:
        if not isinstance(failure, duckdb.Error) and not is_stopped(failure):
            raise
        if is_short_of_memory(failure):
            raise OutOfMemory(doing, memory, memory and 2 * memory) from None
        raise (target and refuse_writing(failure, target)) or refusal(failure, doing, memory) from None


@contextmanager
def refuse_as_unreadable(path: object) -> Iterator[None]:
    """What fails while a file is read is the fault of the file."""
    try:
        yield
    except DuckDBFailed:
        raise UnreadableFile(path, "it is damaged, or not in the format that its name says. Save it again.") from None


def refusal(failure: Exception, doing: str, memory: int | None, query: str = "") -> KechError | KeyboardInterrupt:
    """What DuckDB says, without the cells it quotes; Ctrl-C ends its queries too."""
    if is_stopped(failure):
        return KeyboardInterrupt()
    if is_full(failure):
        room = "Free some space, or set TMPDIR to a folder with more."
        return ResourceError(f"The disk is full while {doing}. {room}")
    if is_short_of_memory(failure):
        return OutOfMemory(doing, memory, memory and estimate_need(str(failure), memory, query))
    return DuckDBFailed(f"DuckDB failed while {doing} ({type(failure).__name__}).")


def estimate_need(message: str, memory: int, query: str) -> int:
    """Bytes of memory that are likely to be enough for a query that had too few: twice as many, or what is known."""
    requested = ASKED.search(message)
    block = float(requested[1]) * 1024 ** ("bKMG".index(requested[2][0])) if requested else 0.0
    estimate = (query.count("JOIN") + 1) * A_JOIN + BLOCKS * block
    return max(2 * memory, int(estimate / SHARE))


def is_stopped(failure: Exception) -> bool:
    """Whether somebody pressed Ctrl-C."""
    return isinstance(failure, duckdb.InterruptException) or STOPPED.match(str(failure)) is not None


def is_short_of_memory(failure: Exception) -> bool:
    """Whether DuckDB ran out of memory, under any name."""
    return isinstance(failure, duckdb.OutOfMemoryException) or OUT_OF_MEMORY.search(str(failure)) is not None


def is_full(failure: Exception) -> bool:
    """Whether a disk has no room."""
    return any(os.strerror(code) in str(failure) for code in FULL)


def is_open_elsewhere(failure: Exception) -> bool:
    """Whether somebody else has the file open."""
    return HELD.search(str(failure)) is not None


def find_file_error(failure: Exception) -> tuple[str, int | None]:
    """The file that could not be opened or written, and why, as the system numbers it."""
    match = OF_A_FILE.search(str(failure))
    return (match[1], REASONS.get(match[2])) if match else ("", None)


def refuse_writing(failure: Exception, target: Address) -> CannotWrite | None:
    """Why the file of a table cannot be written; None where the failure is none of this file."""
    if is_open_elsewhere(failure):
        return CannotWrite(target, name_holder(failure))
    file, code = find_file_error(failure)
    if code is None or not file.startswith(str(Path(target.place).resolve())):
        return None
    room = " Free some space on its disk, or write to another." if code in FULL else ""
    return CannotWrite(target, f"{os.strerror(code).lower()}.{room}")


def refuse_reading(failure: Exception, source: Address) -> UnreadableFile:
    """Why a file cannot be opened."""
    _, code = find_file_error(failure)
    reason = f"{os.strerror(code).lower()}." if code else f"it is no DuckDB file ({type(failure).__name__})."
    return UnreadableFile(source, name_holder(failure) if is_open_elsewhere(failure) else reason)


def name_holder(failure: Exception) -> str:
    """Who has the file open, and what to do."""
    match = HOLDER.search(str(failure))
    who = f"another program has it open (process {match[1]})" if match else "another connection has it open"
    return f"{who}. Close it there, and try again."

"""DuckDB: rows in a locked database in memory, spilled to encrypted files.  `duckdb_files.py` is for DuckDB files.

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
from kech.system.files import claim_folder, link_or_name, remove_folder
from kech.system.memory import (
    BATCH_ROW_BYTES,
    BATCHES,
    BLOCKS,
    DUCKDB_SHARE,
    GATHERED_BYTES,
    JOIN_BYTES,
    LINE_BYTES,
    LINES,
    ROW_NUMBER_BYTES,
    SHUFFLED_BYTES,
    SMALL_BYTES,
    THREAD_BYTES,
    WORDS_SHARE,
    WRITTEN_SHARE,
)
from kech.tables.batches import (
    MOST_BYTES,
    TYPES,
    TextNumbers,
    draw_numbers,
    join_small_batches,
    read_ahead,
    shuffle_rows,
)
from kech.tables.csv_dialect import CsvDialect, longest_row, read_longest
from kech.tables.source import Address
from kech.tables.sql import ColumnType, Dialect, hash_rows, quote

MOST_ROW_NUMBERS = (1 << 32) - 1  # of shuffled rows
PIECE = 122_880  # rows of a row group of DuckDB
VECTOR, HANDED = 2048, 8192  # rows of a batch with a small --memory, and with a larger one
READING = "reading the table"
ENUM = "ENUM("  # prefix of a type that lists its values
NUMBER_TYPES = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|BIGNUM)$")
DATE_TYPES = re.compile(r"(DATE|TIMESTAMP.*)$")
TEXT_TYPES = re.compile(r"(VARCHAR|ENUM.*|BOOLEAN|UUID|\"NULL\")$")
SAME_IN_ARROW = re.compile(r"(U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|VARCHAR|BOOLEAN|DATE|TIMESTAMP)$")
SHORT_TYPES = {"BOOLEAN": 1, "TINYINT": 1, "UTINYINT": 1, "SMALLINT": 2, "USMALLINT": 2, "INTEGER": 4, "UINTEGER": 4}
SHORT_TYPES |= {"FLOAT": 4, "DATE": 4, "BIGINT": 8, "UBIGINT": 8, "DOUBLE": 8, "TIMESTAMP": 8}  # and their bytes


class DuckDB:
    """One locked connection in memory, with access to one file and to its encrypted spill in a private folder."""

    dialect = Dialect()
    on_workers = False
    reads = ("csv", "parquet", "duckdb")

    def __init__(self, *, memory: int | None = None, threads: int | None = None) -> None:
        self.memory, self.threads = memory, threads
        self.columns: dict[int, ColumnType] = {}
        self.piece = min(PIECE, max(memory // BATCH_ROW_BYTES, 1)) if memory else PIECE
        self.row_bytes = int(memory * WRITTEN_SHARE) if memory else SHUFFLED_BYTES  # that may be shuffled in Python
        self.word_bytes = int(memory * WORDS_SHARE) if memory else None  # of the words of all columns
        self._handed = PIECE if not memory else VECTOR if memory < SMALL_BYTES else HANDED
        self._source = ""  # the SQL of the source, if it can be read again
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
            "threads": min(threads or MOST_THREADS, max(memory // THREAD_BYTES, 1)) if memory else threads,
            "memory_limit": memory and f"{int(memory * DUCKDB_SHARE / 1000)}KB",
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

    def _lock_to(self, path: Path) -> str:
        """Lock the connection to this file; a constant of SQL with a name of it that has no pattern."""
        file = path.resolve()
        name = link_or_name(self.folder / "source", file)
        if name == file and "[" in str(file):
            raise UnreadableFile(path, "Windows allows no link to it, which its [ needs. Rename it or its folder.")
        self._lock(name, file)
        self._origin = path, path.stat()
        return self.dialect.literal(str(name))

    def _lock(self, *allowed: Path) -> None:
        """Lock the connection: from now on it has access to these files and its encrypted spill only."""
        settings = {
            "timezone": "'UTC'",  # times with a zone are the same everywhere
            "allowed_paths": "[" + ", ".join(map(self.dialect.literal, map(str, allowed))) + "]",
            "enable_external_access": "false",
            "lock_configuration": "true",
        }
        for name, value in settings.items():
            self.rows(f"SET GLOBAL {name} = {value}", "locking the engine")  # for cursors too

    def close(self) -> None:
        """Close the connection and remove the private folder."""
        self._finalizer()

    # -- rows in ---------------------------------------------------------------------------------------------

    def load_csv(self, path: Path, dialect: CsvDialect, selected: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a plain CSV file (UTF-8, equal line ends) in a known dialect, every cell as text."""
        names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(dialect.header)))
        line = longest_line(self.memory)
        options = (
            f"auto_detect = false, header = true, quote = '\"', escape = '\"', strict_mode = true, "
            f"null_padding = false, max_line_size = {line}, columns = {{{names}}}, "
            f"delim = {self.dialect.literal(dialect.delimiter)}{f', buffer_size = {2 * line}' if self.memory else ''}"
        )
        check_lines(path, dialect.delimiter, self.memory)
        self._source = f"read_csv({self._lock_to(path)}, {options})"
        self._store({i: f"c{i}" for i in selected}, nulls, path)

    def load_parquet(self, path: Path, names: Sequence[str], selected: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a Parquet file."""
        self._source = f"read_parquet({self._lock_to(path)})"
        self._store({i: names[i] for i in selected}, nulls, path)

    def load_table(self, address: Address, names: Sequence[str], selected: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a table or view of a DuckDB file, which is detached afterwards."""
        self.attach(address)
        self._store({i: names[i] for i in selected}, nulls, address)
        self.rows("DETACH given", "closing the file")

    def attach(self, address: Address) -> None:
        """Attach a DuckDB file read-only, and lock the connection: a view has no access outside its file."""
        try:
            self.connection.execute(f"ATTACH {literal_file(address)} AS given (TYPE duckdb, READ_ONLY)")
        except FAILURES as failure:
            raise KeyboardInterrupt if is_stopped(failure) else refuse_reading(failure, address) from None
        self._lock()
        self._source = ".".join(map(quote, ("given", *address.names)))

    def load_arrow(self, batches: Any, selected: Sequence[int], nulls: Sequence[str], path: object) -> None:
        """Read a stream of record batches; a column of a type that DuckDB does not know is refused by name."""
        self._lock()
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
        """The DuckDB types of the columns of an Arrow schema; None where DuckDB does not know one."""
        try:
            return list(map(str, self.connection.from_arrow(schema.empty_table()).types))
        except duckdb.Error:
            return None

    def _store(self, names: Mapping[int, str], nulls: Sequence[str], path: object) -> None:
        """Load the rows of the source; with numbers for texts where all types are the same in Arrow."""
        picked = ", ".join(f"{quote(name)} AS c{i}" for i, name in names.items())
        query = f"SELECT {picked} FROM {self._source}"
        with refuse_as_unreadable(path):
            described = self.rows(f"DESCRIBE {query}", READING)
            types = {int(name[1:]): str(kind) for name, kind, *_ in described}
            if enums := [i for i, kind in types.items() if kind.startswith(ENUM)]:  # their type lists all values
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
        """Record how the columns are stored."""
        self.columns.update({i: ColumnType(kind, kind_of(kind), i in numbered) for i, kind in types.items()})

    def _store_numbered(self, batches: Iterator[Any], types: dict[int, str]) -> None:
        """Load rows, with numbers in place of texts in columns with few distinct ones."""
        texts = [i for i, kind in types.items() if kind == "VARCHAR"]
        most = MOST_BYTES if self.word_bytes is None else min(MOST_BYTES, self.word_bytes // max(len(texts), 1))
        numbering = TextNumbers(texts, self.threads, most)
        kinds = {i: numbering.kind(i) for i in texts}
        cells = ", ".join(f"k{i} UTINYINT" if i in kinds else f"c{i} {t}" for i, t in types.items())
        self.rows(f"CREATE OR REPLACE TABLE source ({cells})", READING)
        gathered = join_small_batches(
            batches, self.piece, min(GATHERED_BYTES, self.memory // BATCHES) if self.memory else GATHERED_BYTES
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

    def _widen(self, column: int, numbering: TextNumbers, kinds: dict[int, Any]) -> None:
        """Give a column of numbers a wider type; or replace its numbers by texts, where it has too many."""
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
        """Replace the texts that mean NULL, and create the view `kept`.

        This is done after loading: while DuckDB reads Parquet, it trusts statistics that ignore NaN.
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
        """Replace the value of a column in the loaded rows that meet a condition."""
        table = f"words{column}" if self.columns[column].in_words else "source"
        self.rows(f"UPDATE {table} SET c{column} = {value} WHERE {where}", READING)

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """A hash of the whole source, which is read once more with all its columns; or of the batches."""
        if batches is not None:
            self.connection.register("incoming", batches)
        elif self._origin is not None and has_changed(*self._origin):
            raise UnreadableFile(self._origin[0], "it was changed while kech worked on it. Run the command again.")
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
        """Create a table from the rows of a query."""
        self.rows(f"CREATE TABLE {name} AS {query}", doing)

    def define(self, name: str, query: str, doing: str) -> None:
        """Create a view of a query."""
        self.rows(f"CREATE VIEW {name} AS {query}", doing)

    def drop(self, name: str, kind: str) -> None:
        """Drop a TABLE or VIEW if it exists."""
        self.rows(f"DROP {kind} IF EXISTS {name}", "tidying up")

    def broadcast_small(self, name: str, rows: int) -> None:
        """Do nothing: DuckDB has no workers."""

    def put(self, name: str, table: Any, doing: str) -> None:
        """Make an Arrow table available to the next query."""
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
        """The rows of a query as record batches; refused where a batch is too large for --memory."""
        try:
            reader = self.connection.cursor().sql(query).to_arrow_reader(self._handed)
        except FAILURES as failure:
            raise refusal(failure, doing, self.memory, query) from None
        batches = self._check_length(self.check_batches(reader, doing, query), doing)
        return pa.RecordBatchReader.from_batches(reader.schema, batches)

    def shuffle(self, query: str, row: str, rows: int) -> Any:
        """The rows of a query in a secret order: shuffled in Python where they fit, which is faster, else by DuckDB."""
        try:
            result = self.connection.sql(query)
            if not self.fits(result.types, rows):
                return self.stream(f"{query} ORDER BY {self.dialect.secret(row)}", "publishing")
            table = result.to_arrow_table()
        except FAILURES as failure:
            raise refusal(failure, "publishing", self.memory, query) from None
        return pa.RecordBatchReader.from_batches(table.schema, shuffle_rows(table, self.piece))

    def fits(self, types: Sequence[Any], rows: int) -> bool:
        """Whether two copies of rows of these types, and a number for each row, fit in memory."""
        each = [SHORT_TYPES.get(str(kind), math.inf) for kind in types]
        return rows <= MOST_ROW_NUMBERS and rows * (2 * sum(each) + ROW_NUMBER_BYTES) <= self.row_bytes

    def check_batches(self, batches: Any, doing: str, query: str = "") -> Iterator[Any]:
        """The same batches; a failure while they are read becomes a refusal that quotes no cell."""
        try:
            yield from batches
        except (*FAILURES, pa.ArrowException, OSError) as failure:
            raise refusal(failure, doing, self.memory, query) from None

    def _check_length(self, batches: Iterator[Any], doing: str) -> Iterator[Any]:
        for batch in batches:
            if self.memory and (need := BATCHES * batch.nbytes) > self.memory:
                more = HANDED // self._handed if need >= SMALL_BYTES else 1  # with so much memory, batches are larger
                raise OutOfMemory(doing, self.memory, need * more)
            yield batch


def kind_of(type: str) -> str:
    """The kind of a DuckDB type: number, date, text or other."""
    types = {"number": NUMBER_TYPES, "date": DATE_TYPES, "text": TEXT_TYPES}
    return next((kind for kind, pattern in types.items() if pattern.match(type)), "other")


def draw_random_numbers(rows: Any) -> Any:
    """A secret random number for each row."""
    return pa.array(draw_numbers(len(rows)))


def close_and_remove(connection: duckdb.DuckDBPyConnection, folder: Path, handle: int) -> None:
    """Close the connection and remove the private folder."""
    connection.close()
    remove_folder(folder, handle)


def longest_line(memory: int | None) -> int:
    """Bytes of the longest line that can be read with this --memory."""
    return min(LINE_BYTES, int(memory * DUCKDB_SHARE) // LINES) if memory else LINE_BYTES


def check_lines(path: Path, delimiter: str, memory: int | None) -> None:
    """Refuse a CSV file with a row that is too long: DuckDB silently loses a last row longer than its buffer."""
    most = longest_line(memory)
    if path.stat().st_size <= most or longest_row(path) <= most:
        return
    longest = read_longest(path, delimiter, LINE_BYTES)
    if longest > LINE_BYTES:
        raise UnreadableFile(path, "a row is longer than 32 MB. Check whether a quote is missing.")
    if longest > most:
        raise OutOfMemory("reading long lines", memory, int(LINES * LINE_BYTES / DUCKDB_SHARE) + 1)


def select_columns(batches: Any, schema: Any) -> Iterator[Any]:
    """The columns of the schema from each batch, under its names c<i>."""
    selected = [int(name[1:]) for name in schema.names]
    for batch in batches:
        yield pa.record_batch([batch.column(i) for i in selected], schema=schema)


def has_changed(path: Path, before: os.stat_result) -> bool:
    """Whether a file was replaced, changed or removed since its status was read."""
    now = path.stat() if path.exists() else None
    return now is None or any(getattr(now, at) != getattr(before, at) for at in ("st_ino", "st_size", "st_mtime_ns"))


def literal_file(address: Address) -> str:
    """The path of a DuckDB file as a constant of SQL."""
    return "'" + str(file_of(address)).replace("'", "''") + "'"


def file_of(address: Address) -> Path:
    """The path of a DuckDB file with links resolved: its log is next to the file, not next to a link."""
    return Path(address.location).resolve()


# -- refusals -------------------------------------------------------------------------------------------------

STOPPED = re.compile(
    "Query interrupted$|Invalid Input Error: (Python exception .* the UDF|.* failed): KeyboardInterrupt", re.DOTALL
)
OUT_OF_MEMORY = re.compile(
    r"Out of Memory|^TransactionContext Error: Failed to commit: (could not|failed to) (allocate|pin)"
)
HELD = re.compile(r"Could not set lock on file|Unique file handle conflict")  # by another process, or by this one
HOLDER = re.compile(r"\(PID (\d+)\)")
OF_A_FILE = re.compile(r'file "(.*)": ([^":]+)$', re.DOTALL)
REASONS = {os.strerror(code): code for code in errno.errorcode}
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
REQUESTED = re.compile(r"of size ([\d.]+) (bytes|[KMG]iB)")  # the memory that DuckDB requested
FAILURES = (duckdb.Error, RuntimeError)  # the latter where a query is interrupted


class DuckDBFailed(ResourceError):
    """DuckDB failed for another reason than memory or disk."""


@contextmanager
def refusals(doing: str, memory: int | None = None, target: Address | None = None) -> Iterator[None]:
    """Turn failures of DuckDB inside the block into refusals; `target` is the table that is written."""
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
    """Turn an unknown failure of DuckDB while a file is read into the refusal of that file."""
    try:
        yield
    except DuckDBFailed:
        raise UnreadableFile(path, "it is damaged, or not in the format that its name says. Save it again.") from None


def refusal(failure: Exception, doing: str, memory: int | None, query: str = "") -> KechError | KeyboardInterrupt:
    """The refusal for a failure of DuckDB, without the cells that its message quotes; KeyboardInterrupt for Ctrl-C."""
    if is_stopped(failure):
        return KeyboardInterrupt()
    if is_full(failure):
        return ResourceError(f"The disk is full while {doing}. Free some space, or set TMPDIR to a folder with more.")
    if is_short_of_memory(failure):
        return OutOfMemory(doing, memory, memory and estimate_need(str(failure), memory, query))
    advice = "Run the command again. If it fails again, please report it."
    return DuckDBFailed(f"DuckDB failed while {doing} ({type(failure).__name__}). {advice}")


def estimate_need(message: str, memory: int, query: str) -> int:
    """Bytes of memory that are likely to be enough for a query that ran out: twice as many, or an estimate."""
    requested = REQUESTED.search(message)
    block = float(requested[1]) * 1024 ** ("bKMG".index(requested[2][0])) if requested else 0.0
    estimate = (query.count("JOIN") + 1) * JOIN_BYTES + BLOCKS * block
    return max(2 * memory, int(estimate / DUCKDB_SHARE))


def is_stopped(failure: Exception) -> bool:
    """Whether Ctrl-C caused the failure."""
    return isinstance(failure, duckdb.InterruptException) or STOPPED.match(str(failure)) is not None


def is_short_of_memory(failure: Exception) -> bool:
    """Whether DuckDB ran out of memory, by the type or the message of the failure."""
    return isinstance(failure, duckdb.OutOfMemoryException) or OUT_OF_MEMORY.search(str(failure)) is not None


def is_full(failure: Exception) -> bool:
    """Whether a full disk caused the failure."""
    return any(os.strerror(code) in str(failure) for code in FULL)


def is_open_elsewhere(failure: Exception) -> bool:
    """Whether the file is open in another process or connection."""
    return HELD.search(str(failure)) is not None


def find_file_error(failure: Exception) -> tuple[str, int | None]:
    """The path and the error number in a failure to open or write a file; empty and None for other failures."""
    match = OF_A_FILE.search(str(failure))
    return (match[1], REASONS.get(match[2])) if match else ("", None)


def refuse_writing(failure: Exception, target: Address) -> CannotWrite | None:
    """The refusal where the file of a table cannot be written; None where the failure is not about this file."""
    if is_open_elsewhere(failure):
        return CannotWrite(target, name_holder(failure))
    file, code = find_file_error(failure)
    if code is None or not file.startswith(str(Path(target.location).resolve())):
        return None
    advice = "Free some space on its disk, or write to another." if code in FULL else "Check its permissions."
    return CannotWrite(target, f"{os.strerror(code).lower()}. {advice}")


def refuse_reading(failure: Exception, source: Address) -> UnreadableFile:
    """The refusal where a DuckDB file cannot be opened."""
    _, code = find_file_error(failure)
    reason = os.strerror(code).lower() if code else f"it is no DuckDB file ({type(failure).__name__})"
    advice = f"{reason}. Check the path and its permissions."
    return UnreadableFile(source, name_holder(failure) if is_open_elsewhere(failure) else advice)


def name_holder(failure: Exception) -> str:
    """A sentence with the process that has the file open, and what to do."""
    match = HOLDER.search(str(failure))
    who = f"another program has it open (process {match[1]})" if match else "another connection has it open"
    return f"{who}. Close it there, and try again."

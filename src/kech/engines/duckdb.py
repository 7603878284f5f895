"""DuckDB engine: rows in a locked database in memory, spilled to encrypted files when they do not fit."""

import csv
import math
import os
import re
import shutil
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from duckdb.func import PythonUDFType

from kech.databases.address import Address
from kech.databases.arrow import ahead, together
from kech.databases.failures import full_disk, is_full, is_short_of_memory, is_stopped, unread
from kech.engines import Output
from kech.engines.dealing import Listed, chances, list_values, shuffled
from kech.engines.dialect import Dialect
from kech.engines.sql import EngineFailed, SqlEngine
from kech.engines.words import MOST_BYTES, TYPES, Numbering
from kech.errors import BadColumns, KechError, OutOfMemory, UnreadableFile
from kech.files import claim_folder

FOR_WORDS = 0.1  # of the memory that is allowed, while rows are read
FOR_ROWS = 0.1  # of it, while they are written
MOST_ROWS = 1 << 30  # bytes of them, where no limit is given
A_CARD, MOST_CARDS = 4, (1 << 32) - 1  # bytes for the place of a row, and how many there are
SHARE = 0.3  # of the memory that is allowed; points, classes and the interpreter need the rest
A_THREAD = 400_000_000  # bytes of memory for each thread: with less, DuckDB cannot even spill
A_JOIN = 6_000_000  # bytes that DuckDB holds for a join, however small its tables
LINE, LINES = 1 << 25, 6  # bytes of a line of CSV at most, and how many of them the engine must have room for
BLOCK = 1 << 20  # bytes of a CSV file that are looked at together
MOST_THREADS = 256
PIECE, A_ROW = 122_880, 25_000  # rows that DuckDB keeps together, and bytes of memory for each that is on its way
SMALL, VECTOR, HANDED = 600_000_000, 2048, 8192  # a limit, and rows that DuckDB hands out at a time below and above it
GATHERED, BATCHES = 1 << 28, 20  # bytes of batches that are put together, and how many of them memory must hold
NUMBER_TYPES = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|BIGNUM)$")
DATE_TYPES = re.compile(r"(DATE|TIMESTAMP.*)$")
SAME_IN_ARROW = re.compile(r"(U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|VARCHAR|BOOLEAN|DATE|TIMESTAMP)$")
SHORT_TYPES = {"BOOLEAN": 1, "TINYINT": 1, "UTINYINT": 1, "SMALLINT": 2, "USMALLINT": 2, "INTEGER": 4, "UINTEGER": 4}
SHORT_TYPES |= {"FLOAT": 4, "DATE": 4, "BIGINT": 8, "UBIGINT": 8, "DOUBLE": 8, "TIMESTAMP": 8}  # and their bytes
TEXT_TYPES = re.compile(r"(VARCHAR|ENUM.*|BOOLEAN|UUID|\"NULL\")$")
FAILURES = (duckdb.Error, RuntimeError)  # the latter where a query is interrupted
ASKED, BLOCKS = re.compile(r"of size ([\d.]+) (bytes|[KMG]iB)"), 4  # what DuckDB wanted, and how many it may want


class DuckDBEngine(SqlEngine):
    """One table, one locked connection, one private folder."""

    dialect = Dialect()

    def __init__(self, *, memory: int | None = None, threads: int | None = None) -> None:
        super().__init__()
        self.memory = memory
        self.folder, held = claim_folder()
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
        self.connection = self._connect({name: value for name, value in settings.items() if value is not None}, held)
        self._source = ""  # what the rows were read from, if they can be read again
        self._origin: tuple[Path, os.stat_result] | None = None
        self._numbered: dict[int, Any] = {}  # columns whose texts are words, and the types of their numbers
        self._threads = threads
        self._piece = min(PIECE, max(memory // A_ROW, 1)) if memory else PIECE
        self._handed = PIECE if not memory else VECTOR if memory < SMALL else HANDED
        self._bytes = min(GATHERED, memory // BATCHES) if memory else GATHERED
        self._line = min(LINE, int(memory * SHARE) // LINES) if memory else LINE
        self._words = int(memory * FOR_WORDS) if memory else None  # bytes of the words of all columns
        self._for_rows = int(memory * FOR_ROWS) if memory else MOST_ROWS
        self._finalizer = weakref.finalize(self, shut, self.connection, self.folder, held)
        self._run("SET enable_progress_bar = false", "starting")
        self.connection.create_function(
            "kech_chance", chance_of, ["BIGINT"], "UBIGINT", type=PythonUDFType.ARROW, side_effects=True
        )

    def _connect(self, settings: dict[str, Any], held: int) -> duckdb.DuckDBPyConnection:
        try:
            return duckdb.connect(":memory:", config=settings)
        except duckdb.Error as failure:
            let_go(self.folder, held)
            raise refusal(failure, "starting", self.memory) from None

    def _shut(self) -> None:
        self._finalizer()

    # -- loading -----------------------------------------------------------------------------------

    def load_csv(self, path: Path, columns: int, wanted: Sequence[int], nulls: Sequence[str], delimiter: str) -> None:
        """Read a plain CSV file (UTF-8, all lines ending alike) in a pinned dialect, every cell as text."""
        names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(columns))
        options = (
            f"auto_detect = false, header = true, quote = '\"', escape = '\"', strict_mode = true, "
            f"null_padding = false, max_line_size = {self._line}, columns = {{{names}}}, "
            f"delim = {self.dialect.literal(delimiter)}{f', buffer_size = {2 * self._line}' if self.memory else ''}"
        )
        self._check_rows(path, delimiter)
        self._lock(path)
        self._source = f"read_csv({self.dialect.literal(str(self.folder / 'source'))}, {options})"
        self._store(self._source, {i: f"c{i}" for i in wanted}, nulls, path)

    def _check_rows(self, path: Path, delimiter: str) -> None:
        """Refuse rows that are too long: the last of a file, if it is longer than its buffer, DuckDB loses silently."""
        if path.stat().st_size <= self._line or longest_row(path) <= self._line:
            return
        longest = read_longest(path, delimiter)
        if longest > LINE:
            raise UnreadableFile(path, "a row is longer than 32 MB. Is a quote missing?")
        if longest > self._line:
            raise OutOfMemory("reading long lines", self.memory, int(LINES * LINE / SHARE) + 1)

    def load_parquet(self, path: Path, names: Sequence[str], wanted: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a Parquet file."""
        self._lock(path)
        self._source = f"read_parquet({self.dialect.literal(str(self.folder / 'source'))})"
        self._store(self._source, {i: names[i] for i in wanted}, nulls, path)

    def load_table(self, address: Address, names: Sequence[str], wanted: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a table or view of a DuckDB file, which is let go again."""
        self.attach(address)
        self._store(self._source, {i: names[i] for i in wanted}, nulls, address)
        self._run("DETACH given", "closing the file")

    def attach(self, address: Address) -> None:
        """Look at a table or view of a DuckDB file; a view reaches nothing outside its file."""
        file = self.dialect.literal(str(Path(address.place).resolve()))
        try:
            self.connection.execute(f"ATTACH {file} AS given (TYPE duckdb, READ_ONLY)")
        except duckdb.Error as failure:
            raise unread(failure, address) from None
        self._lock(None)
        self._source = ".".join(map(self.dialect.quote, ("given", *address.names)))

    def load_arrow(self, batches: Any, wanted: Sequence[int], nulls: Sequence[str], path: object) -> None:
        """Read a stream of record batches; what is wrong with them is refused in the words of whoever makes them."""
        self._lock(None)
        fields = [batches.schema.field(i) for i in wanted]
        schema = pa.schema([field.with_name(f"c{i}") for i, field in zip(wanted, fields, strict=True)])
        types = self._types_in(schema)
        if types is None:
            field = next(field for field in fields if self._types_in(pa.schema([field])) is None)
            reason = f"column {field.name!r} is of type {field.type}. Convert it to text, a number or a date."
            raise BadColumns(path, reason)
        with readable(path):
            self._number(pick(batches, schema), dict(zip(wanted, types, strict=True)))
        self._ready(nulls)

    def _types_in(self, schema: Any) -> list[str] | None:
        """The types of columns that come through Arrow; None where DuckDB does not know one."""
        try:
            return list(map(str, self.connection.from_arrow(schema.empty_table()).types))
        except duckdb.Error:
            return None

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

    def _store(self, source: str, names: Mapping[int, str], nulls: Sequence[str], path: object) -> None:
        picked = ", ".join(f"{self.dialect.quote(name)} AS c{i}" for i, name in names.items())
        with readable(path):
            self._fill(f"SELECT {picked} FROM {source}")
        self._ready(nulls)

    def _ready(self, nulls: Sequence[str]) -> None:
        if nulls:  # only now: while it reads Parquet, DuckDB believes the file's statistics, which know no NaN
            self._mend(nulls)
        self._run("CREATE VIEW kept AS SELECT rowid AS r, * FROM source", "reading the table")

    def _types(self, query: str) -> dict[int, str]:
        described = self._run(f"DESCRIBE {query}", "reading the table")
        return {int(name[1:]): str(kind) for name, kind, *_ in described}

    def _fill(self, query: str) -> None:
        """Keep the rows of a query, narrow if they can pass through Arrow as they are."""
        types = self._types(query)
        if "VARCHAR" in types.values() and all(map(SAME_IN_ARROW.match, types.values())):
            try:
                self._number(self._stream(query, "reading the table"), types)
            except EngineFailed:  # texts of a batch can be too long for Arrow
                self._numbered = {}
            else:
                return
        self.types = types
        self._run(f"CREATE OR REPLACE TABLE source AS {query}", "reading the table")

    def _number(self, batches: Iterator[Any], types: dict[int, str]) -> None:
        """Keep rows, with numbers for the texts of columns that have few."""
        self.types = types
        texts = [i for i, kind in types.items() if kind == "VARCHAR"]
        most = MOST_BYTES if self._words is None else min(MOST_BYTES, self._words // max(len(texts), 1))
        numbering = Numbering(texts, self._threads, most)
        self._numbered = {i: numbering.kind(i) for i in numbering.words}
        cells = ", ".join(f"k{i} UTINYINT" if i in self._numbered else f"c{i} {t}" for i, t in types.items())
        self._run(f"CREATE OR REPLACE TABLE source ({cells})", "reading the table")
        for piece in numbering.number(
            ahead(self._batches(gathered(batches, self._piece, self._bytes), "reading the table"))
        ):
            for i in list(self._numbered):
                self._widen(i, numbering)
            self._put("incoming", piece, "reading the table")
            self._run("INSERT INTO source BY NAME SELECT * FROM incoming", "reading the table")
        for i in self._numbered:
            self._put("incoming", numbering.listed(i), "reading the table")
            self._create(f"words{i}", "SELECT * FROM incoming", "reading the table")
        self.connection.unregister("incoming")

    def _widen(self, column: int, numbering: Numbering) -> None:
        """Make room for more words; or spell out what is held, where a column has too many."""
        if column in numbering.given_up:
            del self._numbered[column]
            self._put("spelled", numbering.listed(column), "reading the table")
            self._run(
                f"""CREATE OR REPLACE TABLE source AS SELECT source.* EXCLUDE (k{column}), spelled.c{column}
                FROM source JOIN spelled ON spelled.k{column} = source.k{column} ORDER BY source.rowid""",
                "reading the table",
            )
            self.connection.unregister("spelled")
        elif self._numbered[column] != (wider := numbering.kind(column)):
            self._run(f"ALTER TABLE source ALTER k{column} TYPE {TYPES[wider.itemsize]}", "reading the table")
            self._numbered[column] = wider

    def _mend(self, nulls: Sequence[str]) -> None:
        """Texts that mean NULL become NULL."""
        cells = {i: f"{self.dialect.without(f'c{i}', kind, nulls)} AS c{i}" for i, kind in self.types.items()}
        for i in self._numbered:
            self._run(f"CREATE OR REPLACE TABLE words{i} AS SELECT k{i}, {cells[i]} FROM words{i}", "reading the table")
            cells[i] = f"k{i}"
        if len(self._numbered) < len(cells):
            mended = ", ".join(cells.values())
            self._run(f"CREATE OR REPLACE TABLE source AS SELECT {mended} FROM source", "reading the table")

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """The source is read once more, all its columns."""
        if batches is not None:
            self.connection.register("incoming", batches)
        elif self._origin is not None and changed(*self._origin):
            raise UnreadableFile(self._origin[0], "it was changed while kech worked on it. Run again.")
        source = self._source if batches is None else "incoming"
        types = [str(kind) for _, kind, *_ in self._run(f"DESCRIBE SELECT * FROM {source}", "comparing tables")]
        names = [f"c{i}" for i in range(len(columns))]
        cells = {name: (f"c{i}", types[i], self._kind_of(types[i])) for i, name in enumerate(columns)}
        found = self._hashed(cells, f"{source} AS held({', '.join(names)})")
        if batches is not None:
            self.connection.unregister("incoming")
        return found

    # -- what the verbs stand on -----------------------------------------------------------------------

    def _type(self, column: int) -> str:
        return self._kind_of(self.types[column])

    def _kind_of(self, type: str) -> str:
        types = {"number": NUMBER_TYPES, "date": DATE_TYPES, "text": TEXT_TYPES}
        return next((kind for kind, pattern in types.items() if pattern.match(type)), "other")

    def _create(self, name: str, query: str, doing: str) -> None:
        self._run(f"CREATE TABLE {name} AS {query}", doing)

    def _overwrite(self, column: int, value: str, where: str) -> None:
        table = f"words{column}" if column in self._numbered else "source"
        self._run(f"UPDATE {table} SET c{column} = {value} WHERE {where}", "reading the table")

    def _as_read(self, columns: Sequence[int]) -> str:
        worded = [i for i in dict.fromkeys(columns) if i in self._numbered]
        cells = ", ".join(["kept.*", *(f"words{i}.c{i}" for i in worded)])
        joins = " ".join(f"JOIN words{i} ON words{i}.k{i} = kept.k{i}" for i in worded)
        return f"(SELECT {cells} FROM {self._named('kept')} AS kept {joins})"

    def _counts(self, column: int, value: str) -> str:
        if column not in self._numbered:
            return super()._counts(column, value)
        numbers = f"SELECT k{column}, count(*) AS n, min(r) + 1 AS first FROM {self._named('kept')} GROUP BY k{column}"
        return f"""SELECT {value} AS value, CAST(sum(n) AS BIGINT) AS n, min(first) AS first
            FROM ({numbers}) AS numbers JOIN words{column} USING (k{column}) GROUP BY value"""

    def _keys(self, column: int) -> tuple[str, str, bool]:
        if column not in self._numbered:
            return super()._keys(column)
        return f"k{column}", f"(SELECT k{column} AS key, c{column} AS value FROM words{column})", False

    def _lists(self, outputs: Sequence[Output], for_csv: bool) -> dict[int, Listed]:
        lists = super()._lists(outputs, for_csv)
        for i, output in enumerate(outputs):
            if output.source in self._numbered:
                words = f"words{output.source} AS kept ORDER BY k{output.source}"
                found = self._get(f"SELECT {self._published(output, i, for_csv)} AS x FROM {words}", "publishing")
                lists[i] = list_values(found["x"].combine_chunks())
        return lists

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


def refusal(failure: Exception, doing: str, memory: int | None, query: str = "") -> KechError | KeyboardInterrupt:
    """What DuckDB says, without the cells it quotes; Ctrl-C ends its queries too."""
    said = str(failure)
    if is_stopped(failure):
        return KeyboardInterrupt()
    if is_full(failure):
        return full_disk(doing)
    if is_short_of_memory(failure):
        return OutOfMemory(doing, memory, memory and needed(said, memory, query))
    return EngineFailed(f"The engine failed while {doing} ({type(failure).__name__}).")


def needed(said: str, memory: int, query: str) -> int:
    """Bytes of memory that are likely to be enough for a query that had too few: twice as many, or what is known."""
    asked = ASKED.search(said)
    block = float(asked[1]) * 1024 ** ("bKMG".index(asked[2][0])) if asked else 0.0
    known = (query.count("JOIN") + 1) * A_JOIN + BLOCKS * block
    return max(2 * memory, int(known / SHARE))


@contextmanager
def readable(path: object) -> Iterator[None]:
    """What fails while a file is read is the fault of the file."""
    try:
        yield
    except EngineFailed:
        raise UnreadableFile(path, "it is damaged or not in the format its name says.") from None


def pick(batches: Any, schema: Any) -> Iterator[Any]:
    """The wanted columns, under the names of the schema."""
    wanted = [int(name[1:]) for name in schema.names]
    for batch in batches:
        yield pa.record_batch([batch.column(i) for i in wanted], schema=schema)


def gathered(batches: Iterable[Any], rows: int, most: int) -> Iterator[Any]:
    """Small batches together, so that each has about so many rows, and no more bytes than can be held at once."""
    held: list[Any] = []
    count = size = 0
    for batch in batches:
        if held and size + batch.nbytes > most:
            yield together(held)
            held, count, size = [], 0, 0
        held.append(batch)
        count, size = count + len(batch), size + batch.nbytes
        if count >= rows:
            yield together(held)
            held, count, size = [], 0, 0
    if held:
        yield together(held)


def longest_row(path: Path) -> int:
    """Bytes of the longest row of a CSV file, or of a block where all are shorter; quotes are taken to be in pairs."""
    longest, start, place, inside = BLOCK, 0, 0, False
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            ends = row_ends(block, inside)
            if len(ends):
                longest, start = max(longest, place + int(ends[0]) - start), place + int(ends[-1])
            place, inside = place + len(block), inside ^ bool(block.count(b'"') % 2)
    return max(longest, place - start)


def row_ends(block: bytes, inside: bool) -> Any:
    """Where rows end in a part of a file, the first and the last at least; line ends within quotes end none."""
    end = b"\n" if b"\n" in block else b"\r"
    if not inside and b'"' not in block:
        return [block.find(end), block.rfind(end)] if end in block else []
    cells = np.frombuffer(block, np.uint8)
    ends, quotes = (np.flatnonzero(cells == sign[0]) for sign in (end, b'"'))
    return ends[(np.searchsorted(quotes, ends) + inside) % 2 == 0]


def read_longest(path: Path, delimiter: str) -> int:
    """The same for files with single quotes in their cells too, a row at a time."""
    csv.field_size_limit(max(csv.field_size_limit(), LINE))
    try:
        with path.open(encoding="latin-1", newline="") as file:  # a byte is a letter
            return max(sum(map(len, row)) + len(row) for row in csv.reader(file, delimiter=delimiter))
    except csv.Error:
        return LINE + 1


def changed(path: Path, before: os.stat_result) -> bool:
    """Whether a file is no longer the one it was."""
    now = path.stat() if path.exists() else None
    return now is None or (now.st_ino, now.st_size, now.st_mtime_ns) != (
        before.st_ino,
        before.st_size,
        before.st_mtime_ns,
    )


def shut(connection: duckdb.DuckDBPyConnection, folder: Path, held: int) -> None:
    """Forget all rows and remove the private folder."""
    connection.close()
    let_go(folder, held)


def let_go(folder: Path, held: int) -> None:
    """Remove a private folder."""
    shutil.rmtree(folder, ignore_errors=True)
    os.close(held)

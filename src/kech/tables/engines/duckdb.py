"""DuckDB engine: rows in a locked database in memory, spilled to encrypted files when they do not fit.

In: a file, a table or a stream of batches.  Out: rows whose texts are held once, where a column has few.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from kech.errors import BadColumns, UnreadableFile
from kech.tables.databases.address import Address
from kech.tables.databases.arrow import ahead, gathered
from kech.tables.databases.failures import is_stopped, unread
from kech.tables.engines import Output
from kech.tables.engines.dealing import Listed, list_values
from kech.tables.engines.failures import FAILURES, EngineFailed, readable
from kech.tables.engines.lines import check_lines, longest_line
from kech.tables.engines.locked import BATCHES, LockedEngine
from kech.tables.engines.words import MOST_BYTES, TYPES, Numbering

FOR_WORDS = 0.1  # of the memory that is allowed, while rows are read
GATHERED = 1 << 28  # bytes of batches that are put together
ENUM = "ENUM("  # how the name of a type that lists its values begins
SAME_IN_ARROW = re.compile(r"(U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|VARCHAR|BOOLEAN|DATE|TIMESTAMP)$")


class DuckDBEngine(LockedEngine):
    """One table."""

    def __init__(self, *, memory: int | None = None, threads: int | None = None) -> None:
        super().__init__(memory=memory, threads=threads)
        self._source = ""  # what the rows were read from, if they can be read again
        self._numbered: dict[int, Any] = {}  # columns whose texts are words, and the types of their numbers
        self._threads = threads
        self._bytes = min(GATHERED, memory // BATCHES) if memory else GATHERED
        self._line = longest_line(memory)
        self._words = int(memory * FOR_WORDS) if memory else None  # bytes of the words of all columns

    # -- loading -----------------------------------------------------------------------------------

    def load_csv(self, path: Path, columns: int, wanted: Sequence[int], nulls: Sequence[str], delimiter: str) -> None:
        """Read a plain CSV file (UTF-8, all lines ending alike) in a pinned dialect, every cell as text."""
        names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(columns))
        options = (
            f"auto_detect = false, header = true, quote = '\"', escape = '\"', strict_mode = true, "
            f"null_padding = false, max_line_size = {self._line}, columns = {{{names}}}, "
            f"delim = {self.dialect.literal(delimiter)}{f', buffer_size = {2 * self._line}' if self.memory else ''}"
        )
        check_lines(path, delimiter, self.memory)
        self._lock(path)
        self._source = f"read_csv({self.dialect.literal(str(self.folder / 'source'))}, {options})"
        self._store(self._source, {i: f"c{i}" for i in wanted}, nulls, path)

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
        except FAILURES as failure:
            raise KeyboardInterrupt if is_stopped(failure) else unread(failure, address) from None
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
        if enums := [i for i, kind in types.items() if kind.startswith(ENUM)]:  # their type lists all their members
            texts = ", ".join(f"CAST(c{i} AS VARCHAR) AS c{i}" for i in enums)
            query, types = f"SELECT * REPLACE ({texts}) FROM ({query})", types | dict.fromkeys(enums, "VARCHAR")
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

    # -- rows whose texts are words ----------------------------------------------------------------

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

    def _cell(self, column: int) -> tuple[str, str]:
        return (f"k{column}", "UINTEGER") if column in self._numbered else super()._cell(column)

    def _spelled(self, column: int) -> tuple[str, str]:
        if column not in self._numbered:
            return super()._spelled(column)
        number = f"CAST(substr(contents.e{column}, 2) AS UINTEGER)"
        return f"words{column}.c{column}", f"JOIN words{column} ON words{column}.k{column} = {number}"

    def _lists(self, outputs: Sequence[Output], for_csv: bool) -> dict[int, Listed]:
        lists = super()._lists(outputs, for_csv)
        for i, output in enumerate(outputs):
            if output.source in self._numbered:
                words = f"{self._held_words(output.source)} AS kept ORDER BY k{output.source}"
                found = self._get(f"SELECT {self._published(output, i, for_csv)} AS x FROM {words}", "publishing")
                lists[i] = list_values(found["x"].combine_chunks())
        return lists

    def _held_words(self, column: int) -> str:
        """The words of a column, with NULL for those that no row holds: they need not read as the others do."""
        held = f"SELECT DISTINCT k{column} FROM {self._named('kept')}"
        cell = f"CASE WHEN held.k{column} IS NOT NULL THEN c{column} END AS c{column}"
        return (
            f"(SELECT words.k{column}, {cell} FROM words{column} AS words LEFT JOIN ({held}) AS held USING (k{column}))"
        )


def pick(batches: Any, schema: Any) -> Iterator[Any]:
    """The wanted columns, under the names of the schema."""
    wanted = [int(name[1:]) for name in schema.names]
    for batch in batches:
        yield pa.record_batch([batch.column(i) for i in wanted], schema=schema)


def changed(path: Path, before: os.stat_result) -> bool:
    """Whether a file is no longer the one it was."""
    now = path.stat() if path.exists() else None
    return now is None or (now.st_ino, now.st_size, now.st_mtime_ns) != (
        before.st_ino,
        before.st_size,
        before.st_mtime_ns,
    )

"""DuckDB engine: rows in a locked database in memory, spilled to encrypted files when they do not fit."""

import os
import re
import secrets
import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech.engines import ColumnFacts, Mapping1D, Output
from kech.errors import BadColumns, KechError, OutOfMemory, ResourceError, UnreadableFile
from kech.files import claim_folder

NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
NOT_FINITE = r"(?i)[+-]?(nan|inf|infinity)"
ZERO_PADDED = r"[+-]?0[0-9].*"
DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?"
WHOLE = r"[+-]?[0-9]+"
FORMULA = r"(?s)'*[\s\x0b\x1c-\x1f\x{85}\p{Z}]*[=+\-@\t\r].*"
LONGEST_FLOAT = 24  # no double needs more characters to be written exactly

NUMBER_TYPES = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|BIGNUM)$")
DATE_TYPES = re.compile(r"(DATE|TIMESTAMP.*)$")
TEXT_TYPES = re.compile(r"(VARCHAR|ENUM.*|BOOLEAN|UUID|\"NULL\")$")


def stacked(found: Mapping[str, Any], axes: int) -> NDArray[np.int32]:
    """Code columns as one matrix."""
    return np.ascontiguousarray(np.stack([np.asarray(found[f"q{j}"], np.int32) for j in range(axes)], axis=1))


def quote(name: str) -> str:
    """An identifier, whatever its characters."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A string constant, whatever its characters."""
    return "'" + text.replace("'", "''") + "'"


class DuckDBEngine:
    """One table, one locked connection, one private folder."""

    def __init__(self, *, memory: str | None = None, threads: int | None = None) -> None:
        self.memory = memory
        self.folder, held = claim_folder()
        self.connection = duckdb.connect(":memory:")
        self.schema = "main"
        self.types: dict[int, str] = {}
        self._source = ""  # what the rows were read from, if they can be read again
        self._origin: tuple[Path, os.stat_result] | None = None
        self._whole: DuckDBEngine | None = None  # of which this one holds a part
        self._rests: list[duckdb.DuckDBPyConnection] = []
        self._finalizer: weakref.finalize[..., Any] = weakref.finalize(
            self, _shut, self.connection, self._rests, self.folder, held
        )
        self._counted: set[int] = set()
        self._grouped: Sequence[Mapping1D] = ()
        settings = {"enable_progress_bar": "false", "threads": threads, "memory_limit": memory and literal(memory)}
        for name, value in settings.items():
            if value is not None:
                self._run(f"SET {name} = {value}", "starting")

    def close(self) -> None:
        """Forget all rows and remove the private folder."""
        self._finalizer()

    # -- loading -----------------------------------------------------------------------------------

    def load_csv(self, path: Path, columns: int, wanted: Sequence[int], nulls: Sequence[str], delimiter: str) -> None:
        """Read a plain CSV file (UTF-8, all lines ending alike) in a pinned dialect, every cell as text."""
        names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(columns))
        options = (
            f"auto_detect = false, header = true, quote = '\"', escape = '\"', strict_mode = true, "
            f"null_padding = false, max_line_size = 33554432, columns = {{{names}}}, "
            f"delim = {literal(delimiter)}"
        )
        self._lock(path)
        self._source = f"read_csv({literal(str(self.folder / 'source'))}, {options})"
        self._store(self._source, {i: f"c{i}" for i in wanted}, nulls, path)

    def load_parquet(self, path: Path, names: Sequence[str], wanted: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a Parquet file."""
        self._lock(path)
        self._source = f"read_parquet({literal(str(self.folder / 'source'))})"
        self._store(self._source, {i: names[i] for i in wanted}, nulls, path)

    def load_arrow(self, batches: Any, wanted: Sequence[int], nulls: Sequence[str], path: object) -> None:
        """Read a stream of record batches; what is wrong with them is refused in the words of whoever makes them."""
        self._lock(None)
        fields = [batches.schema.field(i) for i in wanted]
        for field in fields:
            self._check_type(field, path)
        schema = pa.schema([field.with_name(f"c{i}") for i, field in zip(wanted, fields, strict=True)])
        refused: list[KechError] = []
        self.connection.register("incoming", pa.RecordBatchReader.from_batches(schema, pick(batches, schema, refused)))
        try:
            self._store("incoming", {i: f"c{i}" for i in wanted}, nulls, path)
        except KechError as refusal:
            raise (refused or [refusal])[0] from None
        self.connection.unregister("incoming")

    def _check_type(self, field: Any, path: object) -> None:
        try:
            self.connection.from_arrow(pa.schema([field]).empty_table())
        except duckdb.Error:
            reason = f"column {field.name!r} is of type {field.type}. Convert it to text, a number or a date."
            raise BadColumns(path, reason) from None

    def _lock(self, path: Path | None) -> None:
        """From here on the connection reaches nothing but this file and its own encrypted spill."""
        allowed = []
        if path is not None:
            link = self.folder / "source"
            link.symlink_to(path.resolve())
            allowed = [str(link), str(path.resolve())]
            self._origin = path, path.stat()
        settings = {
            "temp_directory": literal(str(self.folder / "spill")),
            "force_mbedtls_unsafe": "true",  # without it DuckDB encrypts nothing unless it may download an extension
            "temp_file_encryption": "true",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "python_enable_replacements": "false",
            "timezone": "'UTC'",  # moments with a zone read the same everywhere
            "allowed_paths": "[" + ", ".join(map(literal, allowed)) + "]",
            "enable_external_access": "false",
            "lock_configuration": "true",
        }
        for name, value in settings.items():
            self._run(f"SET GLOBAL {name} = {value}", "locking the engine")  # for cursors too

    def _store(self, source: str, names: Mapping[int, str], nulls: Sequence[str], path: object) -> None:
        picked = ", ".join(f"{quote(name)} AS c{i}" for i, name in names.items())
        try:
            self._run(f"CREATE TABLE loaded AS SELECT {picked} FROM {source}", "reading the table")
        except EngineFailed:
            raise UnreadableFile(path, "it is damaged or not in the format its name says.") from None
        if nulls:  # only now: while it reads Parquet, DuckDB believes the file's statistics, which know no NaN
            mended = ", ".join(f"{without(f'c{i}', nulls)} AS c{i}" for i in names)
            self._run(f"CREATE OR REPLACE TABLE loaded AS SELECT {mended} FROM loaded", "reading the table")
        described = self._run("DESCRIBE loaded", "reading the table")
        self._run("CREATE VIEW source AS SELECT rowid AS r, * FROM loaded", "reading the table")
        self.types = {int(name[1:]): str(kind) for name, kind, *_ in described}

    # -- the five verbs ------------------------------------------------------------------------------

    def describe(self, column: int) -> ColumnFacts:
        """Facts about one column, from its distinct values."""
        self._count(column)
        kind, numeric = self._type(column), self._reads(column, "number")
        text = "trim(CAST(value AS VARCHAR))"
        finite = f"regexp_full_match({text}, {literal(NUMBER)}) AND isfinite(TRY_CAST({numeric} AS DOUBLE))"
        odd = f"regexp_full_match({text}, {literal(NOT_FINITE)}) OR NOT isfinite(TRY_CAST({numeric} AS DOUBLE))"
        padded = f"regexp_full_match({text}, {literal(ZERO_PADDED)})"
        date = f"TRY_CAST({self._reads(column, 'date')} AS DOUBLE) IS NOT NULL"
        if kind not in ("text", "number"):
            finite = odd = padded = "false"
        if kind not in ("text", "date"):
            date = "false"
        (row,) = self._run(
            f"""SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER (value IS NULL), 0), count(value),
                coalesce(sum(n) FILTER ({finite}), 0),
                min(first) FILTER (value IS NOT NULL AND NOT coalesce({finite}, false)),
                min(first) FILTER ({odd}), coalesce(sum(n) FILTER ({padded}), 0),
                coalesce(sum(n) FILTER ({date}), 0),
                min(first) FILTER (value IS NOT NULL AND NOT {date}),
                coalesce(max(length({text})) FILTER (regexp_full_match({text}, {literal(WHOLE)})), 0)
            FROM v{column}""",
            "describing columns",
        )
        return ColumnFacts(kind, *(None if x is None else int(x) for x in row))  # type: ignore[arg-type]

    def count_values(self, column: int, kind: str) -> tuple[Any, NDArray[np.int64]]:
        """Distinct values of a column read as `kind`, and their rows."""
        self._count(column)
        found = self._arrays(
            f"""SELECT {self._reads(column, kind)} AS x, CAST(sum(n) AS BIGINT) AS n FROM v{column}
            WHERE value IS NOT NULL GROUP BY x ORDER BY x""",
            "counting values",
        )
        values = found["x"].tolist() if kind == "text" else np.asarray(found["x"], np.float64)
        return values, np.asarray(found["n"], np.int64)

    def head(self, columns: Sequence[int], rows: int) -> list[list[str | None]]:
        """The first rows as text."""
        cells = ", ".join(f"CAST(c{column} AS VARCHAR)" for column in columns)
        found = self._run(f"SELECT {cells} FROM source ORDER BY r LIMIT {int(rows)}", "reading the table")
        return [list(row) for row in found]

    def group(self, mappings: Sequence[Mapping1D]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Code every row, then one GROUP BY."""
        columns = self._code(mappings)
        self._run(
            f"""CREATE OR REPLACE TABLE points AS SELECT row_number() OVER (ORDER BY {columns}) - 1 AS p, *
            FROM (SELECT {columns}, count(*) AS n FROM coded GROUP BY {columns}) ORDER BY p""",
            "grouping rows",
        )
        self._grouped = mappings
        found = self._arrays(f"SELECT {columns}, n FROM points ORDER BY p", "grouping rows")
        return stacked(found, len(mappings)), np.asarray(found["n"], np.int64)

    def code_rows(self, mappings: Sequence[Mapping1D]) -> NDArray[np.int32]:
        """Codes of every row, in the order of the table."""
        columns = self._code(mappings)
        return stacked(self._arrays(f"SELECT {columns} FROM coded ORDER BY r", "coding rows"), len(mappings))

    def without(self, mappings: Sequence[Mapping1D], points: NDArray[np.int64]) -> "DuckDBEngine":
        """The rows of all other points, as an engine of their own: no row is copied, and nothing here changes."""
        same = self._grouped_rows(mappings)
        rest = copy(self)
        rest.schema, rest.connection = f"rest{len(self._rests)}", self.connection.cursor()
        rest._whole, rest._counted, rest._grouped = self, set(), ()  # which stays open as long as its part
        self._rests.append(rest.connection)
        rest._finalizer = weakref.finalize(rest, _forget, rest.connection, rest.schema)
        self.connection.register("mapping", pa.table({"p": points}))
        for made in (
            f"SCHEMA {rest.schema}",
            f"TABLE {rest.schema}.left_out AS SELECT r FROM coded JOIN points ON {same} JOIN mapping USING (p)",
            f"""VIEW {rest.schema}.source AS SELECT source.* FROM {self.schema}.source
            ANTI JOIN {rest.schema}.left_out USING (r)""",
        ):
            self._run(f"CREATE {made}", "leaving rows out")
        self.connection.unregister("mapping")
        rest._run(f"USE {rest.schema}", "leaving rows out")
        return rest

    def publish(
        self,
        mappings: Sequence[Mapping1D],
        shares: Mapping[str, NDArray[np.int64]],
        outputs: Sequence[Output],
        *,
        for_csv: bool,
    ) -> Any:
        """Each row gets the labels of its class.

        Rows of a point that several classes share, or of which some are suppressed, are dealt out in one secret
        order, and the whole table is written in another: the place of a row in the file says nothing about how
        it was dealt.  Rows in no share are not published.
        """
        same = self._grouped_rows(mappings)
        self._load_shares(shares, outputs)
        deal, order = secret_order(), secret_order()
        dealt = f"""SELECT r, {order} AS h, p, split, row_number() OVER (PARTITION BY p ORDER BY {deal}, r) AS i
            FROM coded JOIN points ON {same} JOIN parts USING (p) WHERE split"""
        whole = f"""SELECT r, {order} AS h, p, split, 1 AS i
            FROM coded JOIN points ON {same} JOIN parts USING (p) WHERE NOT split"""
        columns = ", ".join(f"{self._published(o, j, for_csv)} AS {quote(o.name)}" for j, o in enumerate(outputs))
        query = f"""SELECT {columns} FROM ({dealt} UNION ALL {whole}) AS row
            JOIN shares ON shares.p = row.p AND (NOT row.split OR row.i BETWEEN shares.first AND shares.last)
            JOIN labels USING (class) JOIN source ON source.r = row.r ORDER BY row.h, row.r"""
        return self._stream(query)

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """Rows, and twice the sum of a hash of each row; the source is read once more, all its columns.

        Cells are taken for what they read as: 1.0 is 1, TRUE is true, and empty text is NULL.
        """
        if batches is not None:
            self.connection.register("incoming", batches)
        elif self._origin is not None and changed(*self._origin):
            raise UnreadableFile(self._origin[0], "it was changed while kech worked on it. Run again.")
        source = self._source if batches is None else "incoming"
        types = [str(kind) for _, kind, *_ in self._run(f"DESCRIBE SELECT * FROM {source}", "comparing tables")]
        names = [f"c{i}" for i in range(len(columns))]
        cells = [plain(name, types[i]) for _, i, name in sorted(zip(columns, range(len(columns)), names, strict=True))]
        (found,) = self._run(
            f"""SELECT count(*), sum(md5_number_lower(cells)), sum(md5_number_upper(cells))
            FROM (SELECT concat_ws(chr(31), {", ".join(cells)}) AS cells FROM {source} AS held({", ".join(names)}))""",
            "comparing tables",
        )
        if batches is not None:
            self.connection.unregister("incoming")
        return tuple(int(figure or 0) for figure in found)

    # -- inside --------------------------------------------------------------------------------------

    def _grouped_rows(self, mappings: Sequence[Mapping1D]) -> str:
        """Coded rows and their points; the condition under which a row is of a point."""
        if self._grouped is not mappings:
            self.group(mappings)
        return " AND ".join(f"coded.q{j} = points.q{j}" for j in range(len(mappings)))

    def _code(self, mappings: Sequence[Mapping1D]) -> str:
        """A table of coded rows; the names of its code columns."""
        for mapping in mappings:
            self._load(mapping)
        self._grouped = ()  # the points of before are not of these codes
        codes = ", ".join(f"coalesce(m{m.column}.code, {m.null})::INTEGER AS q{j}" for j, m in enumerate(mappings))
        joins = " ".join(f"LEFT JOIN m{m.column} ON c{m.column} = m{m.column}.value" for m in mappings)
        self._run(
            f"CREATE OR REPLACE TABLE coded AS SELECT source.r, {codes} FROM source {joins}",
            "coding rows",
        )
        return ", ".join(f"q{j}" for j in range(len(mappings)))

    def _type(self, column: int) -> str:
        types = {"number": NUMBER_TYPES, "date": DATE_TYPES, "text": TEXT_TYPES}
        return next((kind for kind, pattern in types.items() if pattern.match(self.types[column])), "other")

    def _reads(self, column: int, kind: str) -> str:
        """How a distinct value is read as a number, as seconds since 1970, or as text."""
        text = self._type(column) == "text"
        plain = "trim(CAST(value AS VARCHAR))" if text else "value"
        if kind == "number":
            return f"TRY_CAST({plain} AS DOUBLE) + 0.0"
        if kind == "date":
            guarded = f"CASE WHEN regexp_full_match({plain}, {literal(DATE)}) THEN {plain} END" if text else plain
            return f"epoch_us(TRY_CAST({guarded} AS TIMESTAMP)) / 1e6"
        return "CAST(value AS VARCHAR)"

    def _count(self, column: int) -> None:
        if column not in self._counted:
            self._run(
                f"""CREATE TABLE v{column} AS SELECT c{column} AS value, count(*) AS n, min(r) + 1 AS first
                FROM source GROUP BY c{column}""",
                "counting values",
            )
            self._counted.add(column)

    def _load(self, mapping: Mapping1D) -> None:
        kind = pa.string() if mapping.kind == "text" else pa.float64()
        loaded = pa.table({"x": pa.array(mapping.values, kind), "code": pa.array(mapping.codes)})
        self.connection.register("mapping", loaded)
        self._run(
            f"""CREATE OR REPLACE TABLE m{mapping.column} AS SELECT value, code FROM v{mapping.column}
            JOIN mapping ON {self._reads(mapping.column, mapping.kind)} = x""",
            "loading codes",
        )
        self.connection.unregister("mapping")

    def _load_shares(self, shares: Mapping[str, NDArray[np.int64]], outputs: Sequence[Output]) -> None:
        labels = {f"l{j}": pa.array(o.labels, pa.string()) for j, o in enumerate(outputs) if o.source is None}
        classes = len(next(iter(labels.values())))
        tables = {
            "shares": pa.table(dict(shares)),
            "labels": pa.table({"class": np.arange(classes), **labels}),
        }
        for name, table in tables.items():
            self.connection.register("mapping", table)
            self._run(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM mapping", "loading labels")
            self.connection.unregister("mapping")
        self._run(
            """CREATE OR REPLACE TABLE parts AS SELECT p, count(*) > 1 OR max(last) < any_value(n) AS split
            FROM shares JOIN points USING (p) GROUP BY p""",
            "loading labels",
        )

    def _published(self, output: Output, position: int, for_csv: bool) -> str:
        """Labels and text, defused for CSV; numbers and dates; anything else as text."""
        if output.source is None:
            return harmless(f"l{position}") if for_csv else f"l{position}"
        cell, kind = f"source.c{output.source}", self._type(output.source)
        if kind == "other" or (kind == "text" and for_csv):
            text = f"CAST({cell} AS VARCHAR)"
            return harmless(text) if for_csv else text
        return self._typed(cell, output.source) if kind == "text" and output.typed else cell

    def _typed(self, cell: str, column: int) -> str:
        """Text that reads as numbers or dates throughout, and loses nothing by it, becomes what it reads as."""
        facts = self.describe(column)
        text = "trim(CAST(value AS VARCHAR))"
        ((whole, longest),) = self._run(
            f"SELECT bool_and(regexp_full_match({text}, {literal(WHOLE)})), max(length({text})) FROM v{column}",
            "publishing",
        )
        present = facts.rows - facts.nulls
        exact = not facts.zero_padded and facts.longest <= 15 and (longest or 0) <= LONGEST_FLOAT
        if present and facts.numbers == present and exact:
            return f"CAST(trim({cell}) AS {'BIGINT' if whole else 'DOUBLE'})"
        if present and facts.dates == present:
            return f"CAST(trim({cell}) AS {'DATE' if longest == len('2020-12-31') else 'TIMESTAMP'})"
        return cell

    def _stream(self, query: str) -> Any:
        try:
            cursor = self.connection.cursor()
            cursor.execute(f"USE {self.schema}")
            reader = cursor.sql(query).to_arrow_reader(100_000)
        except duckdb.Error as failure:
            raise refusal(failure, "publishing", self.memory) from None
        return pa.RecordBatchReader.from_batches(reader.schema, self._batches(reader))

    def _batches(self, reader: Any) -> Iterator[Any]:
        """The batches of a query; a failure on the way does not quote the rows."""
        try:
            yield from reader
        except (duckdb.Error, pa.ArrowException, OSError) as failure:
            raise refusal(failure, "publishing", self.memory) from None

    def _run(self, sql: str, doing: str) -> list[Any]:
        try:
            return self.connection.execute(sql).fetchall()
        except duckdb.Error as failure:
            raise refusal(failure, doing, self.memory) from None

    def _arrays(self, sql: str, doing: str) -> dict[str, Any]:
        try:
            return self.connection.execute(sql).fetchnumpy()
        except duckdb.Error as failure:
            raise refusal(failure, doing, self.memory) from None


def refusal(failure: Exception, doing: str, memory: str | None) -> KechError:
    """What DuckDB says, without the cells it quotes."""
    said = str(failure)
    if "No space left on device" in said:
        return ResourceError(f"The disk is full while {doing}. Free some space, or set TMPDIR to a folder with more.")
    if isinstance(failure, duckdb.OutOfMemoryException) or "Out of Memory" in said:
        return OutOfMemory(doing, memory or "of this machine")
    return EngineFailed(f"The engine failed while {doing} ({type(failure).__name__}).")


class EngineFailed(ResourceError):
    """Neither memory nor disk was short."""


def pick(batches: Any, schema: Any, refused: list[KechError]) -> Iterator[Any]:
    """The wanted columns, under the names of the schema; DuckDB forgets what was raised, so it is kept here."""
    wanted = [int(name[1:]) for name in schema.names]
    try:
        for batch in batches:
            yield pa.record_batch([batch.column(i) for i in wanted], schema=schema)
    except KechError as refusal:
        refused.append(refusal)
        raise


def secret_order() -> str:
    """A number for each row r that nobody can know: the key is forgotten with the query."""
    return f"('0x' || sha256({literal(secrets.token_hex(32))} || r)[:16])::UBIGINT"


def without(cell: str, nulls: Sequence[str]) -> str:
    """A cell, with the texts that mean NULL turned into NULL."""
    if not nulls:
        return cell
    texts = ", ".join(literal(text.lower()) for text in nulls)
    return f"CASE WHEN lower(CAST({cell} AS VARCHAR)) NOT IN ({texts}) THEN {cell} END"


def plain(cell: str, kind: str) -> str:
    """A cell of any type as text that is the same for all types it could have."""
    text = f"CAST({cell} AS VARCHAR)"
    if DATE_TYPES.match(kind):
        return f"coalesce(regexp_replace({text}, ' 00:00:00(\\+00)?$', ''), '')"
    number = f"nullif(TRY_CAST(trim({text}) AS DOUBLE) + 0.0, 'nan')"
    return f"coalesce(CAST({number} AS VARCHAR), nullif(lower(trim({text})), 'nan'), '')"


def changed(path: Path, before: os.stat_result) -> bool:
    """Whether a file is no longer the one it was."""
    now = path.stat() if path.exists() else None
    return now is None or (now.st_ino, now.st_size, now.st_mtime_ns) != (
        before.st_ino,
        before.st_size,
        before.st_mtime_ns,
    )


def harmless(cell: str) -> str:
    """Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    number = f"regexp_full_match({cell}, {literal(NUMBER)})"
    return (
        f"CASE WHEN regexp_full_match({cell}, {literal(FORMULA)}) AND NOT {number} THEN '''' || {cell} ELSE {cell} END"
    )


def _forget(connection: duckdb.DuckDBPyConnection, schema: str) -> None:
    with suppress(duckdb.Error):  # closed together with the whole table
        connection.execute(f"DROP SCHEMA {schema} CASCADE")
    connection.close()


def _shut(
    connection: duckdb.DuckDBPyConnection, rests: list[duckdb.DuckDBPyConnection], folder: Path, held: int
) -> None:
    for open_ in (*rests, connection):
        open_.close()
    shutil.rmtree(folder, ignore_errors=True)
    os.close(held)

"""DuckDB engine: rows in a locked database in memory, spilled to encrypted files when they do not fit."""

import os
import re
import secrets
import shutil
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech.engines import ColumnFacts, Mapping1D, Output
from kech.errors import BadRow, KechError, OutOfMemory, ResourceError, UnreadableFile
from kech.files import claim_folder

NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
NOT_FINITE = r"(?i)[+-]?(nan|inf|infinity)"
ZERO_PADDED = r"[+-]?0[0-9].*"
DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?"
WHOLE = r"[+-]?[0-9]{1,18}"
FORMULA = r"(?s)'*\s*[=+\-@\t\r].*"

NUMBER_TYPES = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|BIGNUM)$")
DATE_TYPES = re.compile(r"(DATE|TIMESTAMP.*)$")
TEXT_TYPES = re.compile(r"(VARCHAR|ENUM.*|BOOLEAN|UUID)$")


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
        self.types: list[str] = []
        self._finalizer = weakref.finalize(self, _shut, self.connection, self.folder, held)
        self._counted: set[int] = set()
        self._grouped: Sequence[Mapping1D] = ()
        settings = {"threads": threads, "memory_limit": memory and literal(memory)}
        for name, value in settings.items():
            if value is not None:
                self._run(f"SET {name} = {value}", "starting")

    def close(self) -> None:
        """Forget all rows and remove the private folder."""
        self._finalizer()

    # -- loading -----------------------------------------------------------------------------------

    def load_csv(
        self,
        path: Path,
        columns: int,
        wanted: Sequence[int],
        nulls: Sequence[str],
        dialect: Mapping[str, str],
    ) -> None:
        """Read a CSV file in a pinned dialect, every cell as text."""
        names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(columns))
        options = (
            f"auto_detect = false, header = true, quote = '\"', escape = '\"', strict_mode = true, "
            f"null_padding = false, max_line_size = 33554432, columns = {{{names}}}, "
            f"delim = {literal(dialect['delimiter'])}, encoding = {literal(dialect['encoding'])}"
        )
        self._lock(path)
        source = f"read_csv({literal(str(self.folder / 'source'))}, {options})"
        self._store(source, range(columns), wanted, nulls, path)

    def load_parquet(self, path: Path, names: Sequence[str], wanted: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a Parquet file."""
        self._lock(path)
        source = f"read_parquet({literal(str(self.folder / 'source'))})"
        self._store(source, names, wanted, nulls, path)

    def load_arrow(self, batches: Any, wanted: Sequence[int], nulls: Sequence[str], path: object) -> None:
        """Read a stream of record batches."""
        self._lock(None)
        self.connection.register("incoming", batches)
        self._store("incoming", batches.schema.names, wanted, nulls, path)
        self.connection.unregister("incoming")

    def _lock(self, path: Path | None) -> None:
        """From here on the connection reaches nothing but this file and its own encrypted spill."""
        allowed = []
        if path is not None:
            link = self.folder / "source"
            link.symlink_to(path.resolve())
            allowed = [str(link), str(path.resolve())]
        settings = {
            "temp_directory": literal(str(self.folder / "spill")),
            "force_mbedtls_unsafe": "true",  # without it DuckDB encrypts nothing unless it may download an extension
            "temp_file_encryption": "true",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "python_enable_replacements": "false",
            "enable_progress_bar": "false",
            "allowed_paths": "[" + ", ".join(map(literal, allowed)) + "]",
            "enable_external_access": "false",
            "lock_configuration": "true",
        }
        for name, value in settings.items():
            self._run(f"SET {name} = {value}", "locking the engine")

    def _store(
        self, source: str, names: Sequence[object], wanted: Sequence[int], nulls: Sequence[str], path: object
    ) -> None:
        inside = [f"c{name}" if isinstance(name, int) else str(name) for name in names]
        picked = ", ".join(f"{without(quote(inside[i]), nulls)} AS c{i}" for i in wanted)
        try:
            self._run(f"CREATE TABLE source AS SELECT {picked} FROM {source}", "reading the table")
        except UnreadableSource as failure:
            raise failure.about(path) from None
        described = self._run("DESCRIBE source", "reading the table").fetchall()
        kinds = {int(name[1:]): str(kind) for name, kind, *_ in described}
        self.types = [kinds.get(i, "") for i in range(len(inside))]

    # -- the four verbs ------------------------------------------------------------------------------

    def describe(self, column: int) -> ColumnFacts:
        """Facts about one column, from its distinct values."""
        self._count(column)
        kind, numeric = self._type(column), self._reads(column, "number")
        text = "CAST(value AS VARCHAR)"
        finite = f"regexp_full_match(trim({text}), {literal(NUMBER)}) AND isfinite(TRY_CAST({numeric} AS DOUBLE))"
        odd = f"regexp_full_match(trim({text}), {literal(NOT_FINITE)}) OR NOT isfinite(TRY_CAST({numeric} AS DOUBLE))"
        padded = f"regexp_full_match(trim({text}), {literal(ZERO_PADDED)})"
        date = f"TRY_CAST({self._reads(column, 'date')} AS DOUBLE) IS NOT NULL"
        if kind not in ("text", "number"):
            finite = odd = padded = "false"
        if kind not in ("text", "date"):
            date = "false"
        row = self._run(
            f"""SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER (value IS NULL), 0), count(value),
                coalesce(sum(n) FILTER ({finite}), 0),
                min(first) FILTER (value IS NOT NULL AND NOT coalesce({finite}, false)),
                min(first) FILTER ({odd}), coalesce(sum(n) FILTER ({padded}), 0),
                coalesce(sum(n) FILTER ({date}), 0),
                min(first) FILTER (value IS NOT NULL AND NOT {date}),
                coalesce(max(length(trim({text}))), 0)
            FROM v{column}""",
            "describing columns",
        ).fetchall()[0]
        return ColumnFacts(kind, *(None if x is None else int(x) for x in row))  # type: ignore[arg-type]

    def count_values(self, column: int, kind: str) -> tuple[Any, NDArray[np.int64]]:
        """Distinct values of a column read as `kind`, and their rows."""
        self._count(column)
        found = self._run(
            f"""SELECT {self._reads(column, kind)} AS x, CAST(sum(n) AS BIGINT) AS n FROM v{column}
            WHERE value IS NOT NULL GROUP BY x ORDER BY x""",
            "counting values",
        ).fetchnumpy()
        values = found["x"].tolist() if kind == "text" else np.asarray(found["x"], np.float64)
        return values, np.asarray(found["n"], np.int64)

    def group(self, mappings: Sequence[Mapping1D]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Code every row, then one GROUP BY."""
        for mapping in mappings:
            self._load(mapping)
        self._grouped = mappings
        codes = ", ".join(f"coalesce(m{m.column}.code, {m.null})::INTEGER AS q{j}" for j, m in enumerate(mappings))
        joins = " ".join(f"LEFT JOIN m{m.column} ON c{m.column} = m{m.column}.value" for m in mappings)
        self._run(
            f"CREATE OR REPLACE TABLE coded AS SELECT source.rowid AS r, {codes} FROM source {joins}",
            "coding rows",
        )
        columns = ", ".join(f"q{j}" for j in range(len(mappings)))
        self._run(
            f"""CREATE OR REPLACE TABLE points AS SELECT row_number() OVER (ORDER BY {columns}) - 1 AS p, *
            FROM (SELECT {columns}, count(*) AS n FROM coded GROUP BY {columns}) ORDER BY p""",
            "grouping rows",
        )
        found = self._run(f"SELECT {columns}, n FROM points ORDER BY p", "grouping rows").fetchnumpy()
        codes_found = [np.asarray(found[f"q{j}"], np.int32) for j in range(len(mappings))]
        return np.ascontiguousarray(np.stack(codes_found, axis=1)), np.asarray(found["n"], np.int64)

    def publish(
        self,
        mappings: Sequence[Mapping1D],
        shares: Mapping[str, NDArray[np.int64]],
        outputs: Sequence[Output],
        *,
        for_csv: bool,
    ) -> Any:
        """Each row gets the labels of its class.

        Rows of a point that several classes share are dealt out in the secret order in which the whole
        table is then written.
        """
        if self._grouped is not mappings:
            self.group(mappings)
        self._load_shares(shares, outputs)
        key = secrets.token_hex(32)
        order = f"('0x' || sha256({literal(key)} || r)[:16])::UBIGINT"
        keys = [f"q{j}" for j in range(len(mappings))]
        same = " AND ".join(f"coded.{q} = points.{q}" for q in keys)
        dealt = f"""SELECT r, {order} AS h, p, split, row_number() OVER (PARTITION BY p ORDER BY {order}, r) AS i
            FROM coded JOIN points ON {same} JOIN parts USING (p) WHERE split"""
        whole = f"""SELECT r, {order} AS h, p, split, 1 AS i
            FROM coded JOIN points ON {same} JOIN parts USING (p) WHERE NOT split"""
        columns = ", ".join(f"{self._published(o, j, for_csv)} AS {quote(o.name)}" for j, o in enumerate(outputs))
        query = f"""SELECT {columns} FROM ({dealt} UNION ALL {whole}) AS row
            JOIN shares ON shares.p = row.p AND (NOT row.split OR row.i BETWEEN shares.first AND shares.last)
            JOIN labels USING (class) JOIN source ON source.rowid = row.r ORDER BY row.h, row.r"""
        return self._stream(query)

    # -- inside --------------------------------------------------------------------------------------

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
                f"""CREATE TABLE v{column} AS SELECT c{column} AS value, count(*) AS n, min(rowid) + 1 AS first
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
            "CREATE OR REPLACE TABLE parts AS SELECT p, count(*) > 1 AS split FROM shares GROUP BY p",
            "loading labels",
        )

    def _published(self, output: Output, position: int, for_csv: bool) -> str:
        if output.source is None:
            return harmless(f"l{position}") if for_csv else f"l{position}"
        cell, text = f"source.c{output.source}", self._type(output.source) == "text"
        if text and for_csv:
            return harmless(f"CAST({cell} AS VARCHAR)")
        return self._typed(cell, output.source) if text and output.typed else cell

    def _typed(self, cell: str, column: int) -> str:
        facts = self.describe(column)
        present = facts.rows - facts.nulls
        if present and facts.numbers == present and not facts.zero_padded and facts.longest <= 15:
            whole = self._run(
                f"SELECT bool_and(regexp_full_match(trim(CAST(value AS VARCHAR)), {literal(WHOLE)})) FROM v{column}",
                "publishing",
            ).fetchall()[0][0]
            return f"CAST(trim({cell}) AS {'BIGINT' if whole else 'DOUBLE'})"
        if present and facts.dates == present:
            return f"CAST(trim({cell}) AS {'DATE' if facts.longest == 10 else 'TIMESTAMP'})"
        return cell

    def _stream(self, query: str) -> Any:
        try:
            return self.connection.cursor().sql(query).to_arrow_reader(100_000)
        except duckdb.Error as failure:
            raise refusal(failure, "publishing", self.memory) from None

    def _run(self, sql: str, doing: str) -> duckdb.DuckDBPyConnection:
        try:
            return self.connection.execute(sql)
        except duckdb.Error as failure:
            raise refusal(failure, doing, self.memory) from None


class UnreadableSource(KechError):
    """A file the engine could not read; becomes a refusal once the caller's name for it is known."""

    def __init__(self, line: int | None, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason

    def about(self, path: object) -> KechError:
        """The refusal, with the name of the file."""
        return UnreadableFile(path, self.reason) if self.line is None else BadRow(path, self.line, self.reason)


def refusal(failure: duckdb.Error, doing: str, memory: str | None) -> KechError:
    """What DuckDB said, without the cells it quotes."""
    said = str(failure)
    if isinstance(failure, duckdb.OutOfMemoryException):
        return OutOfMemory(doing, memory or "of this machine")
    line = re.search(r"CSV Error on Line: (\d+)", said)
    if line:
        return UnreadableSource(int(line[1]), csv_reason(said))
    if "CSV" in said:
        return UnreadableSource(
            None, "its lines end in different ways or its quotes do not match; save it again as plain CSV."
        )
    if doing == "reading the table":
        return UnreadableSource(None, "it is damaged or not in the format its name says.")
    return ResourceError(f"The engine failed while {doing} ({type(failure).__name__}).")


def csv_reason(said: str) -> str:
    """Which of the known faults a line has."""
    counts = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", said)
    if counts:
        return f"it has {counts[2]} fields where the header has {counts[1]}. Is the delimiter right (--delimiter)?"
    if "quote" in said:
        return "a quote is opened and never closed, or text follows a closing quote."
    if "unicode" in said or "encoded" in said:
        return "it is not UTF-8. Name its encoding: --encoding latin-1 or --encoding utf-16."
    if "size" in said:
        return "the line is longer than 32 MB."
    return "it is not valid CSV."


def without(cell: str, nulls: Sequence[str]) -> str:
    """A cell, with the texts that mean NULL turned into NULL."""
    if not nulls:
        return cell
    texts = ", ".join(literal(text.lower()) for text in nulls)
    return f"CASE WHEN lower(CAST({cell} AS VARCHAR)) NOT IN ({texts}) THEN {cell} END"


def harmless(cell: str) -> str:
    """Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    number = f"regexp_full_match({cell}, {literal(NUMBER)})"
    return (
        f"CASE WHEN regexp_full_match({cell}, {literal(FORMULA)}) AND NOT {number} THEN '''' || {cell} ELSE {cell} END"
    )


def _shut(connection: duckdb.DuckDBPyConnection, folder: Path, held: int) -> None:
    connection.close()
    shutil.rmtree(folder, ignore_errors=True)
    os.close(held)

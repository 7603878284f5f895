"""PostgreSQL engine: the rows stay in the server, in temporary tables that only this session sees."""

import secrets
import weakref
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from kech.tables.databases.address import Address
from kech.tables.databases.postgres import (
    connect,
    copy_in,
    create_table,
    read_batches,
    refusals,
    schema_of,
)
from kech.tables.databases.text import quote
from kech.tables.engines.dialect import NOT_FINITE, NUMBER, Dialect
from kech.tables.engines.sql import SqlEngine

SHARE = 8  # of the memory allowed, for each of the sorts and joins that a query holds together
FUNCTIONS = {
    "kech_number(given text) RETURNS double precision LANGUAGE plpgsql IMMUTABLE": """
        BEGIN RETURN given::double precision;
        EXCEPTION WHEN numeric_value_out_of_range THEN
            RETURN CASE WHEN given ~ '[eE]-' OR given ~ '^[+-]?0*[.]0' THEN '0'
                WHEN given ~ '^-' THEN '-Infinity' ELSE 'Infinity' END;
        END""",
    "kech_moment(given text) RETURNS timestamp LANGUAGE plpgsql IMMUTABLE": """
        BEGIN RETURN given::timestamp; EXCEPTION WHEN OTHERS THEN RETURN NULL; END""",
    "kech_float(given text) RETURNS text LANGUAGE sql IMMUTABLE": """
        SELECT CASE WHEN given ~ '[NI]' THEN left(lower(given), CASE WHEN given ~ '^-' THEN 4 ELSE 3 END)
            WHEN plain ~ '^-?[0-9]+$' THEN plain || '.0' ELSE plain END
        FROM (SELECT CASE WHEN given ~ 'e[+](0.|1[0-5])$' THEN given::numeric::text ELSE given END AS plain) AS w""",
    "kech_half(given text, start integer) RETURNS numeric LANGUAGE sql IMMUTABLE": """
        SELECT CASE WHEN half < 0 THEN half + 18446744073709551616 ELSE half END FROM (SELECT ('x' || string_agg(
            substr(md5(given), 2 * (start + byte) + 1, 2), '' ORDER BY byte DESC))::bit(64)::bigint::numeric AS half
            FROM generate_series(0, 7) AS byte) AS read""",
}
FLOATS = ("real", "double precision")


class PostgresDialect(Dialect):
    """What PostgreSQL says differently."""

    float_type = "double precision"
    nan = "CAST('NaN' AS double precision)"

    def matches(self, text: str, pattern: str) -> str:
        """Whether a pattern fits the whole of a text."""
        return f"({text}) ~ {self.literal(f'^(?:{pattern})$')}"

    def text(self, cell: str, type: str) -> str:
        """A cell as text; floats as Python writes them."""
        text = f"CAST({cell} AS text)"
        return f'{f"pg_temp.kech_float({text})" if type in FLOATS else text} COLLATE "C"'

    def number(self, text: str) -> str:
        """A text as a float."""
        return f"pg_temp.kech_number({text})"

    def loose_number(self, text: str) -> str:
        """A text as a float, infinities and NaN too."""
        return self.number(f"CASE WHEN {self.matches(text, f'{NUMBER}|{NOT_FINITE}')} THEN {text} END")

    def digests(self, text: str) -> tuple[str, str]:
        """The two halves of the MD5 of a text, as whole numbers."""
        return f"pg_temp.kech_half({text}, 8)", f"pg_temp.kech_half({text}, 0)"

    def moment(self, text: str) -> str:
        """A text as a date with its time."""
        return f"pg_temp.kech_moment({text})"

    def seconds(self, moment: str) -> str:
        """Seconds since 1970, from whole microseconds."""
        whole = f"CAST(extract(epoch FROM {moment}) * 1000000 AS bigint)"
        return f"(CASE WHEN isfinite({moment}) THEN CAST({whole} AS double precision) / 1e6::double precision END)"

    def finite(self, number: str) -> str:
        """Whether a float is neither NaN nor infinite."""
        return f"({number} NOT IN ('NaN', 'Infinity', '-Infinity'))"

    def bytes(self, text: str) -> str:
        """How many bytes a text has in UTF-8."""
        return f"octet_length({text})"

    def lower(self, text: str) -> str:
        """A text in small letters; ICU knows all scripts."""
        return f'lower({text} COLLATE "und-x-icu") COLLATE "C"'

    def secret(self, row: str) -> str:
        """A text for each row that nobody can know: its hash with a key of its own."""
        return f"sha256(decode({self.literal(secrets.token_hex(32))}, 'hex') || int8send({row}))"


class PostgresEngine(SqlEngine):
    """One session; everything it makes goes with it."""

    dialect = PostgresDialect()

    def __init__(self, address: Address, *, memory: int | None = None, threads: int | None = None) -> None:
        super().__init__()
        self.kinds: dict[int, str] = {}
        self._table = ""  # what the rows were read from
        self.connection = connect(address)
        self._finalizer = weakref.finalize(self, self.connection.close)
        settings = {
            "enable_nestloop": "off",  # many equal columns make it expect one row where there are many
            "jit": "off",  # it takes a second for each query that is thought to be dear
            "synchronize_seqscans": "off",  # rows are numbered as they lie
            "max_parallel_workers_per_gather": str((threads or 1) - 1),
        }
        settings |= {"work_mem": str(max(64, memory // 1024 // SHARE))} if memory else {}
        with refusals("starting"):
            for name, value in settings.items():
                self.connection.execute("SELECT set_config(%s, %s, false)", (name, value))
            for head, body in FUNCTIONS.items():
                self.connection.execute(f"CREATE FUNCTION pg_temp.{head} AS $${body}$$")

    def _shut(self) -> None:
        self._finalizer()

    # -- loading -------------------------------------------------------------------------------------------

    def load_table(self, address: Address, names: Sequence[str], wanted: Sequence[int], nulls: Sequence[str]) -> None:
        """Number the rows of a table or view as they lie, and keep the wanted columns."""
        schema = address.names[:-1] or (self._look_up("SELECT current_schema()")[0][0],)
        self._table = ".".join(map(quote, (*schema, address.names[-1])))
        for i, held in zip(wanted, self._held([names[i] for i in wanted]), strict=True):
            self.kinds[i], self.types[i] = held
        self._keep(self._table, {i: f"CAST({quote(names[i])} AS {self.types[i]})" for i in wanted}, nulls)

    def _held(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """What columns of the table are for kech, and the types they are kept in."""
        with refusals("reading the table"):
            picked = ", ".join(map(quote, names))
            described = self.connection.execute(f"SELECT {picked} FROM {self._table} LIMIT 0").description
            oids = [column.type_code for column in described]
            categories = dict(
                self._look_up("SELECT oid::bigint, typcategory FROM pg_type WHERE oid = ANY(%s)", (oids,))
            )
        return [held_as(column, categories[column.type_code]) for column in described]

    def load_arrow(self, batches: Any, wanted: Sequence[int], nulls: Sequence[str], path: object) -> None:
        """Read a stream of record batches."""
        names = [batches.schema.names[i] for i in wanted]
        schema = pa.schema([batches.schema.field(i) for i in wanted])
        self._load_batches(pa.RecordBatchReader.from_batches(schema, picked(batches, wanted)), path)
        for i, held in zip(wanted, self._held(names), strict=True):
            self.kinds[i], self.types[i] = held
        self._keep(self._table, {i: quote(batches.schema.names[i]) for i in wanted}, nulls)
        self._drop("incoming", "TABLE")

    def _load_batches(self, batches: Any, path: object) -> None:
        """Record batches as a table."""
        self._table = "pg_temp.incoming"
        self._drop("incoming", "TABLE")
        with refusals("reading the table", path):
            create_table(self.connection, "TEMP TABLE", "incoming", batches.schema, path)
            copy_in(self.connection, "incoming", batches, path)

    def _keep(self, table: str, cells: dict[int, str], nulls: Sequence[str]) -> None:
        """Rows are numbered by one worker in one scan, and only then may queries look at all of them together."""
        mended = {i: self.dialect.without(cell, self.types[i], nulls) for i, cell in cells.items()}
        collated = {i: f'{cell} COLLATE "C"' if self.types[i] == "text" else cell for i, cell in mended.items()}
        columns = ", ".join(f"{cell} AS c{i}" for i, cell in collated.items())
        self._create("kept", f"SELECT row_number() OVER () - 1 AS r, {columns} FROM {table}", "reading the table")
        self._run("SET search_path = pg_catalog, pg_temp", "reading the table")  # nobody's functions but the server's

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """The table in the server, all its columns; or the batches, which are put there."""
        if batches is not None:
            self._load_batches(batches, "table")
        held = dict(zip(columns, self._held(columns), strict=True))
        cells = {name: (f"CAST({quote(name)} AS {type})", type, kind) for name, (kind, type) in held.items()}
        return self._hashed(cells, self._table)

    # -- what the verbs stand on -----------------------------------------------------------------------------

    def _type(self, column: int) -> str:
        return self.kinds[column]

    def _create(self, name: str, query: str, doing: str) -> None:
        self._run(f"CREATE TEMP TABLE {name} AS {query}", doing)

    def _overwrite(self, column: int, value: str, where: str) -> None:
        self._run(f"UPDATE kept SET c{column} = {value} WHERE {where}", "reading the table")

    def _define(self, name: str, query: str) -> None:
        self._run(f"CREATE TEMP VIEW {name} AS {query}", "leaving rows out")

    def _drop(self, name: str, kind: str) -> None:
        self._run(f"DROP {kind} IF EXISTS pg_temp.{name} CASCADE", "tidying up")

    def _put(self, name: str, table: Any, doing: str) -> None:
        self._drop(name, "TABLE")
        with refusals(doing):
            create_table(self.connection, "TEMP TABLE", name, table.schema, "labels")
            copy_in(self.connection, name, table.to_batches(), "labels")

    def _get(self, query: str, doing: str) -> Any:
        with refusals(doing):
            schema = schema_of(self.connection, query)
            return pa.Table.from_batches(read_batches(self.connection, query, schema), schema)

    def _stream(self, query: str) -> Any:
        with refusals("publishing"):
            schema = schema_of(self.connection, query)
        return pa.RecordBatchReader.from_batches(schema, self._batches(query, schema))

    def _batches(self, query: str, schema: Any) -> Any:
        with refusals("publishing"):
            yield from read_batches(self.connection, query, schema)

    def _run(self, sql: str, doing: str) -> None:
        with refusals(doing):
            self.connection.execute(sql)

    def _rows(self, query: str, doing: str) -> list[tuple[Any, ...]]:
        with refusals(doing):
            return self._look_up(query)

    def _look_up(self, sql: str, values: Sequence[Any] | None = None) -> list[Any]:
        return list(self.connection.execute(sql, values).fetchall())


HELD = {
    16: ("text", "boolean"),
    20: ("number", "bigint"),
    21: ("number", "smallint"),
    23: ("number", "integer"),
    700: ("number", "real"),
    701: ("number", "double precision"),
    1082: ("date", "date"),
    1114: ("date", "timestamp"),
    1184: ("date", "timestamptz"),
    2950: ("text", "text"),  # uuid
}


def held_as(column: Any, category: str) -> tuple[str, str]:
    """What a column is for kech, and the type it is kept in; numbers without a scale are kept as their text."""
    if column.type_code == 1700:
        scaled = column.precision is not None and 0 <= column.scale <= column.precision <= 38
        return ("number", f"numeric({column.precision}, {column.scale})") if scaled else ("text", "text")
    return HELD.get(column.type_code, ("text" if category in "SE" and category else "other", "text"))


def picked(batches: Any, wanted: Sequence[int]) -> Any:
    """The wanted columns of a stream."""
    for batch in batches:
        yield batch.select(wanted)

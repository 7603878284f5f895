"""PostgreSQL: rows stay in the server, in temporary tables of this session; and tables, read and written.

In: a table of a server, or record batches.  Out: a `Backend` for an engine; a `Database` for a release.
"""

import io
import re
import secrets
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc

from kech.errors import BadTarget, InputError, KechError, MissingExtra, NoSuchTable, ResourceError, UnreadableFile
from kech.system.memory import SORT_PART
from kech.tables.batches import SIZES
from kech.tables.frames import as_plain, plain_type
from kech.tables.source import Address
from kech.tables.sql import MARK, NOT_FINITE, NUMBER, ColumnType, Dialect, guard, hash_rows, quote

try:
    import psycopg
except ImportError:  # pragma: no cover - the tests install it
    raise MissingExtra("A table of PostgreSQL", "postgres") from None

READING = "reading the table"
BLOCK = 1 << 22  # bytes of text turned into a record batch together
SESSION = {
    "timezone": "UTC",  # times with a zone are the same everywhere
    "datestyle": "ISO, YMD",
    "bytea_output": "hex",
    "extra_float_digits": "1",  # shortest exact digits
    "standard_conforming_strings": "on",
    "client_encoding": "UTF8",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "row_security": "off",  # a policy that hides rows is refused, not followed silently
}
ARROW = {
    16: pa.bool_(),
    20: pa.int64(),
    21: pa.int16(),
    23: pa.int32(),
    700: pa.float32(),
    701: pa.float64(),
    1082: pa.date32(),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", tz="UTC"),
}
NUMERIC = 1700
STORED = {
    pa.string(): 'text COLLATE "C"',
    pa.bool_(): "boolean",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", tz="UTC"): "timestamptz",
}
KEPT = {
    16: ColumnType("boolean", "text"),
    20: ColumnType("bigint", "number"),
    21: ColumnType("smallint", "number"),
    23: ColumnType("integer", "number"),
    700: ColumnType("real", "number"),
    701: ColumnType("double precision", "number"),
    1082: ColumnType("date", "date"),
    1114: ColumnType("timestamp", "date"),
    1184: ColumnType("timestamptz", "date"),
    2950: ColumnType("text", "text"),  # uuid
}
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
    """The SQL of PostgreSQL where it differs from DuckDB."""

    float_type = "double precision"
    nan = "CAST('NaN' AS double precision)"

    def matches(self, text: str, pattern: str) -> str:
        """Whether a pattern matches the whole text."""
        return f"({text}) ~ {self.literal(f'^(?:{pattern})$')}"

    def text(self, cell: str, type: str) -> str:
        """A cell as text; floats as Python writes them."""
        text = f"CAST({cell} AS text)"
        return f'{f"pg_temp.kech_float({text})" if type in FLOATS else text} COLLATE "C"'

    def number(self, text: str) -> str:
        """A text as a float."""
        return f"pg_temp.kech_number({text})"

    def loose_number(self, text: str) -> str:
        """A text as a float, which may be an infinity or NaN."""
        return self.number(f"CASE WHEN {self.matches(text, f'{NUMBER}|{NOT_FINITE}')} THEN {text} END")

    def digests(self, text: str) -> tuple[str, str]:
        """The two halves of the MD5 of a text, as whole numbers."""
        return f"pg_temp.kech_half({text}, 8)", f"pg_temp.kech_half({text}, 0)"

    def moment(self, text: str) -> str:
        """A text as a date with time."""
        return f"pg_temp.kech_moment({text})"

    def seconds(self, moment: str) -> str:
        """Seconds since 1970, from whole microseconds."""
        whole = f"CAST(extract(epoch FROM {moment}) * 1000000 AS bigint)"
        return f"(CASE WHEN isfinite({moment}) THEN CAST({whole} AS double precision) / 1e6::double precision END)"

    def is_finite(self, number: str) -> str:
        """Whether a float is neither NaN nor infinite."""
        return f"({number} NOT IN ('NaN', 'Infinity', '-Infinity'))"

    def bytes(self, text: str) -> str:
        """The number of bytes of a text in UTF-8."""
        return f"octet_length({text})"

    def lower(self, text: str) -> str:
        """A text in small letters; ICU knows all scripts."""
        return f'lower({text} COLLATE "und-x-icu") COLLATE "C"'

    def secret(self, row: str) -> str:
        """A secret random text for each row: its hash with a new key."""
        return f"sha256(decode({self.literal(secrets.token_hex(32))}, 'hex') || int8send({row}))"


class Postgres:
    """One session; its temporary tables are deleted when it ends."""

    dialect = PostgresDialect()
    piece = SIZES[0]
    on_workers = False
    reads = ("postgresql",)

    def __init__(self, address: Address, *, memory: int | None = None, threads: int | None = None) -> None:
        self.columns: dict[int, ColumnType] = {}
        self._table = ""  # the table of the source
        self.connection = connect(address)
        self._finalizer = weakref.finalize(self, self.connection.close)
        settings = {
            "enable_nestloop": "off",  # the planner underestimates joins on many equal columns
            "jit": "off",  # compiling takes a second for each expensive query
            "synchronize_seqscans": "off",  # rows are numbered in the order of the table
            "max_parallel_workers_per_gather": str((threads or 1) - 1),
        }
        settings |= {"work_mem": str(max(64, memory // 1024 // SORT_PART))} if memory else {}
        with refusals("starting"):
            for name, value in settings.items():
                self.connection.execute("SELECT set_config(%s, %s, false)", (name, value))
            for head, body in FUNCTIONS.items():
                self.connection.execute(f"CREATE FUNCTION pg_temp.{head} AS $${body}$$")

    def close(self) -> None:
        """End the session."""
        self._finalizer()

    # -- rows in ---------------------------------------------------------------------------------------------

    def load_table(self, address: Address, names: Sequence[str], selected: Sequence[int], nulls: Sequence[str]) -> None:
        """Copy the selected columns of a table or view into the table `kept`, with a number for each row."""
        schema = address.names[:-1] or (self.rows("SELECT current_schema()", READING)[0][0],)
        self._table = ".".join(map(quote, (*schema, address.names[-1])))
        self._copy_columns([names[i] for i in selected], selected, nulls)

    def load_arrow(self, batches: Any, selected: Sequence[int], nulls: Sequence[str], path: object) -> None:
        """Read a stream of record batches."""
        schema = pa.schema([batches.schema.field(i) for i in selected])
        self._load_batches(pa.RecordBatchReader.from_batches(schema, select_columns(batches, selected)), path)
        self._copy_columns(schema.names, selected, nulls)
        self.drop("incoming", "TABLE")

    def _load_batches(self, batches: Any, path: object) -> None:
        """Copy record batches into a temporary table."""
        self._table = "pg_temp.incoming"
        self.drop("incoming", "TABLE")
        with refusals(READING, path):
            create_table(self.connection, "TEMP TABLE", "incoming", batches.schema, path)
            copy_in(self.connection, "incoming", batches, path)

    def _copy_columns(self, names: Sequence[str], selected: Sequence[int], nulls: Sequence[str]) -> None:
        """Create the table `kept`: the selected columns, and a number for each row.

        One scan numbers them, so that every later query has the same numbers.
        """
        self.columns.update(zip(selected, self._describe(names), strict=True))
        cells = []
        for i, name in zip(selected, names, strict=True):
            type = self.columns[i].type
            cell = self.dialect.without(f"CAST({quote(name)} AS {type})", type, nulls)
            collation = ' COLLATE "C"' if type == "text" else ""
            cells.append(f"{cell}{collation} AS c{i}")
        query = f"SELECT row_number() OVER () - 1 AS r, {', '.join(cells)} FROM {self._table}"
        self.create("kept", query, READING)
        self._run("SET search_path = pg_catalog, pg_temp", READING)  # only functions of the server and our own

    def _describe(self, names: Sequence[str]) -> list[ColumnType]:
        """The kinds of columns of the table, and the types in which `kept` stores them."""
        with refusals(READING):
            picked = ", ".join(map(quote, names))
            described = self.connection.execute(f"SELECT {picked} FROM {self._table} LIMIT 0").description
            oids = [column.type_code for column in described]
            query = "SELECT oid::bigint, typcategory FROM pg_type WHERE oid = ANY(%s)"
            categories = dict(self.connection.execute(query, (oids,)).fetchall())
        return [keep_as(column, categories[column.type_code]) for column in described]

    def overwrite(self, column: int, value: str, where: str) -> None:
        """Replace the value of a column in the loaded rows that meet a condition."""
        self._run(f"UPDATE kept SET c{column} = {value} WHERE {where}", READING)

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """A hash of the whole table in the server; or of the batches, which are copied there."""
        if batches is not None:
            self._load_batches(batches, "table")
        described = dict(zip(columns, self._describe(columns), strict=True))
        cells = {name: (f"CAST({quote(name)} AS {one.type})", one.type, one.kind) for name, one in described.items()}
        (figures,) = self.rows(hash_rows(self.dialect, cells, self._table), "comparing tables")
        return tuple(int(figure or 0) for figure in figures)

    # -- queries ---------------------------------------------------------------------------------------------

    def create(self, name: str, query: str, doing: str) -> None:
        """Create a table from the rows of a query."""
        self._run(f"CREATE TEMP TABLE {name} AS {query}", doing)

    def define(self, name: str, query: str, doing: str) -> None:
        """Create a view of a query."""
        self._run(f"CREATE TEMP VIEW {name} AS {query}", doing)

    def drop(self, name: str, kind: str) -> None:
        """Drop a TABLE or VIEW if it exists."""
        self._run(f"DROP {kind} IF EXISTS pg_temp.{name} CASCADE", "tidying up")

    def broadcast_small(self, name: str, rows: int) -> None:
        """Do nothing: the server has no workers that kech knows."""

    def put(self, name: str, table: Any, doing: str) -> None:
        """Copy an Arrow table to the server, in place of an earlier one of this name."""
        self.drop(name, "TABLE")
        with refusals(doing):
            create_table(self.connection, "TEMP TABLE", name, table.schema, "labels")
            copy_in(self.connection, name, table.to_batches(), "labels")

    def rows(self, query: str, doing: str) -> list[tuple[Any, ...]]:
        """The few rows of a query."""
        with refusals(doing):
            return list(self.connection.execute(query).fetchall())

    def read(self, query: str, doing: str) -> Any:
        """The rows of a query as an Arrow table."""
        with refusals(doing):
            schema = schema_of(self.connection, query)
            return pa.Table.from_batches(read_batches(self.connection, query, schema), schema)

    def shuffle(self, query: str, row: str, rows: int) -> Any:  # noqa: ARG002 - the server sorts any number
        """The rows of a query in a secret random order."""
        with refusals("publishing"):
            schema = schema_of(self.connection, query)
        return pa.RecordBatchReader.from_batches(schema, self._sort(query, row, schema))

    def _sort(self, query: str, row: str, schema: Any) -> Iterator[Any]:
        with refusals("publishing"):
            yield from read_batches(self.connection, f"{query} ORDER BY {self.dialect.secret(row)}", schema)

    def _run(self, statement: str, doing: str) -> None:
        with refusals(doing):
            self.connection.execute(statement)


def connect(address: Address) -> Any:
    """A new session; a refusal quotes the server, which has received no row yet."""
    try:
        connection = psycopg.connect(address.location, autocommit=True, application_name="kech")
        for name, value in SESSION.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    except (psycopg.Error, UnicodeError) as failure:
        message = str(failure).strip() if isinstance(failure, psycopg.OperationalError) else "see its URL"
        reason = [line for line in message.splitlines() if not line.startswith("\t")][-1]  # others are advice
        advice = "Check the address, the password and that the server runs."
        raise UnreadableFile(address, f"the server cannot be used: {reason}. {advice}") from None
    return connection


def keep_as(column: Any, category: str) -> ColumnType:
    """The kind of a column, and the type in which `kept` stores it; numbers without a scale become text."""
    if column.type_code == NUMERIC:
        scaled = column.precision is not None and 0 <= column.scale <= column.precision <= 38
        return (
            ColumnType(f"numeric({column.precision}, {column.scale})", "number")
            if scaled
            else ColumnType("text", "text")
        )
    return KEPT.get(column.type_code, ColumnType("text", "text" if category in "SE" and category else "other"))


def select_columns(batches: Any, selected: Sequence[int]) -> Any:
    """The selected columns of each batch."""
    for batch in batches:
        yield batch.select(selected)


# -- refusals -------------------------------------------------------------------------------------------------


@contextmanager
def refusals(doing: str, path: object = None) -> Iterator[None]:
    """Turn failures of the server into refusals without cells; `path` is the source of rows that are sent to it."""
    try:
        yield
    except psycopg.Error as failure:
        if path is not None and isinstance(failure, psycopg.DataError):
            raise UnreadableFile(
                path, "it has text or dates that PostgreSQL cannot store, such as NUL. Use --engine duckdb."
            ) from None
        raise refusal(failure, doing) from None


def refusal(failure: Exception, doing: str) -> KechError:
    """The refusal for a failure of the server, by the kind of failure only."""
    if isinstance(failure, psycopg.errors.DiskFull | psycopg.errors.OutOfMemory):
        return ResourceError(f"The server is out of memory or disk while {doing}. Free some, or name fewer columns.")
    if isinstance(failure, psycopg.errors.InsufficientPrivilege):
        return ResourceError(
            f"This user lacks a right on the server while {doing}. Ask for the rights in docs/how-to/databases.md."
        )
    if isinstance(failure, psycopg.OperationalError):
        return ResourceError(f"The connection to the server was lost while {doing}. Run the command again.")
    return ResourceError(f"The server failed while {doing} ({type(failure).__name__}). Check its log.")


# -- rows out ------------------------------------------------------------------------------------------------


def schema_of(connection: Any, query: str) -> Any:
    """The Arrow schema of a query's columns; a type that Arrow lacks becomes text."""
    described = connection.execute(f"SELECT * FROM ({query}) AS described LIMIT 0").description
    return pa.schema([(column.name, arrow_type(column)) for column in described])


def arrow_type(column: Any) -> Any:
    """The Arrow type for a column of PostgreSQL."""
    if column.type_code == NUMERIC and column.precision is not None and 0 <= column.scale <= column.precision <= 38:
        return pa.decimal128(column.precision, column.scale)
    return ARROW.get(column.type_code, pa.string())


def read_batches(connection: Any, query: str, schema: Any) -> Iterator[Any]:
    """The rows of a query as record batches, in its order."""
    with connection.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)") as rows:
        for block in blocks(rows):
            yield from as_batches(block, schema)


def blocks(rows: Iterable[Any]) -> Iterator[bytes]:
    """Blocks of about 4 MB from the messages of the server, each of which is one row."""
    block = bytearray()
    for row in rows:
        block += row
        if len(block) > BLOCK:
            yield bytes(block)
            block.clear()
    if block:
        yield bytes(block)


def as_batches(block: bytes, schema: Any) -> Iterable[Any]:
    """Record batches from the CSV of PostgreSQL, in which only NULL is unquoted."""
    fields = pa.schema([(f"f{i}", field.type) for i, field in enumerate(schema)])  # names may be equal, or empty
    try:
        table = read_text(block, fields)
    except pa.ArrowException as failure:  # which quotes the cell
        match = re.match(r"In CSV column #(\d+)", str(failure))
        column = repr(schema.names[int(match[1])]) if match else "a column"
        reason = f"{column} has a value that kech cannot read: an infinity, NaN in a decimal, or a date after 9999."
        raise InputError(f"Reading the table: {reason} Cast it to text, or omit the column.") from None
    return list(table.rename_columns(schema.names).cast(schema).to_batches())


def read_text(block: bytes, fields: Any) -> Any:
    """The Arrow table in the CSV of PostgreSQL."""
    return pc.read_csv(
        pa.BufferReader(block),
        read_options=pc.ReadOptions(column_names=fields.names, use_threads=False, block_size=len(block) + 1),
        parse_options=pc.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pc.ConvertOptions(
            column_types=fields,
            null_values=[""],
            true_values=["t"],
            false_values=["f"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


# -- rows in -------------------------------------------------------------------------------------------------


def create_table(connection: Any, kind: str, name: str, schema: Any, path: object) -> None:
    """Create an empty table with the columns of an Arrow schema."""
    columns = ", ".join(f"{quote(field.name)} {stored_type(field, path)}" for field in schema)
    connection.execute(f"CREATE {kind} {name} ({columns})")


def stored_type(field: Any, path: object) -> str:
    """The type of PostgreSQL for a column of Arrow."""
    kind = plain_type(field, path)
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    return STORED[kind]


def copy_in(connection: Any, name: str, batches: Iterable[Any], path: object) -> None:
    """Copy record batches into a table."""
    options = pc.WriteOptions(include_header=False, quoting_style="all_valid")
    with connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
        for batch in batches:
            text = io.BytesIO()
            pc.write_csv(as_plain(batch, path), text, options)
            copy.write(text.getbuffer())


# -- a table, read and written --------------------------------------------------------------------------------


class PostgresDatabase:
    """One table of a server, and a session."""

    def __init__(self, address: Address, connection: Any) -> None:
        self.address = address
        self.connection = connection
        with refusals("looking for the table"):
            (here,) = connection.execute("SELECT current_schema()").fetchone()
        self.schema, self.name = address.names if len(address.names) == 2 else (here or "public", *address.names)
        self.quoted = f"{quote(self.schema)}.{quote(self.name)}"

    @classmethod
    @contextmanager
    def open(cls, address: Address) -> Iterator["PostgresDatabase"]:
        """The database of a table, with a session that ends with the block."""
        connection = connect(address)
        try:
            yield cls(address, connection)
        finally:
            connection.close()

    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        if self.identity() is None:
            raise NoSuchTable(self.address, "the database has no such table, or this user may not see it. Check both.")
        with refusals("reading the columns"):
            return [
                column.name for column in self.connection.execute(f"SELECT * FROM {self.quoted} LIMIT 0").description
            ]

    def identity(self) -> object:
        """The start time of the server and the numbers of database and table; None without the table."""
        with refusals("looking for the table"):
            return self.connection.execute(
                """SELECT pg_postmaster_start_time(), d.oid, c.oid FROM pg_database d, pg_class c
                JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE d.datname = current_database() AND n.nspname = %s AND c.relname = %s""",
                (self.schema, self.name),
            ).fetchone()

    def export(self, path: Path) -> None:
        """Write its rows as CSV, every cell as text, sorted by their text."""
        self.columns()
        with refusals("reading the released table"):
            export(self.connection, self.quoted, path)

    @contextmanager
    def write_draft(self, batches: Any) -> Iterator["PostgresDraft"]:
        """A draft of the table in a transaction, which is rolled back unless the draft is put in place."""
        self.check_free()
        with refusals("writing the table"):
            self.connection.execute("BEGIN")
            try:
                draft = PostgresDraft(self)
                create_table(self.connection, "TABLE", draft.quoted, batches.schema, self.address)
                copy_in(self.connection, draft.quoted, batches, self.address)
                yield draft
            finally:
                if not self.connection.closed:
                    self.connection.rollback()

    def check_free(self) -> None:
        """Refuse a target that is a table or view kech did not write."""
        with refusals("looking for the table"):
            entry = self.connection.execute(
                """SELECT c.relkind = 'r' AND obj_description(c.oid, 'pg_class') = %s FROM pg_class c
                JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s""",
                (MARK, self.schema, self.name),
            ).fetchone()
        if entry is not None and not entry[0]:
            reason = "a table of this name exists that kech did not write. Drop it yourself, or choose another name."
            raise BadTarget(self.address, reason)


class PostgresDraft:
    """The draft of a table inside a transaction, invisible to other sessions."""

    def __init__(self, database: PostgresDatabase) -> None:
        self.database = database
        self.name = f"{database.name[:40]}.kech-draft"
        self.quoted = f"{quote(database.schema)}.{quote(self.name)}"

    def export(self, path: Path) -> None:
        """Write its rows as CSV, every cell as text, sorted by their text."""
        export(self.database.connection, self.quoted, path)

    def put_in_place(self) -> None:
        """Replace an earlier release, and commit the transaction."""
        target, run = self.database, self.database.connection.execute
        run(f"DROP TABLE IF EXISTS {target.quoted}")
        run(f"ALTER TABLE {self.quoted} RENAME TO {quote(target.name)}")
        run(f"COMMENT ON TABLE {target.quoted} IS '{MARK}'")
        target.connection.commit()


def export(connection: Any, name: str, path: Path) -> None:
    """Write a table as CSV, every cell as text, rows sorted by their text: equal rows give equal bytes."""
    names = [column.name for column in connection.execute(f"SELECT * FROM {name} LIMIT 0").description]
    texts = ", ".join(f'{guard(f"{quote(column)}::text")} COLLATE "C" AS {quote(column)}' for column in names)
    order = ", ".join(str(number) for number in range(1, len(names) + 1))
    query = f"SELECT {texts} FROM {name} ORDER BY {order}"
    statement = f"COPY ({query}) TO STDOUT (FORMAT csv, HEADER true)"
    with path.open("wb") as file, connection.cursor() as cursor, cursor.copy(statement) as rows:
        for row in rows:
            file.write(row)

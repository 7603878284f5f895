"""PostgreSQL: a session with known settings, rows in and out as Arrow, a table written in one transaction."""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc

from kech.errors import BadTarget, InputError, KechError, MissingExtra, NoSuchTable, ResourceError, UnreadableFile
from kech.tables.databases.address import Address
from kech.tables.databases.arrow import as_plain, plain_type
from kech.tables.databases.text import MARK, guarded, quote

try:
    import psycopg
except ImportError:  # pragma: no cover - the tests install it
    raise MissingExtra("A table of PostgreSQL", "postgres") from None

BLOCK = 1 << 22  # bytes of text turned into a record batch together
SESSION = {
    "timezone": "UTC",  # moments with a zone read the same everywhere
    "datestyle": "ISO, YMD",
    "bytea_output": "hex",
    "extra_float_digits": "1",  # shortest digits that read back
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


def connect(address: Address) -> Any:
    """A session of its own; the reason of a failure is that of the server, which has seen no row yet."""
    try:
        connection = psycopg.connect(address.place, autocommit=True, application_name="kech")
        for name, value in SESSION.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    except (psycopg.Error, UnicodeError) as failure:
        said = str(failure).strip() if isinstance(failure, psycopg.OperationalError) else "see its URL"
        reason = [line for line in said.splitlines() if not line.startswith("\t")][-1]  # others are advice
        raise UnreadableFile(address, f"the server cannot be used: {reason}.") from None
    return connection


@contextmanager
def refusals(doing: str, path: object = None) -> Iterator[None]:
    """What the server says, without the cells it quotes; `path` is the source of rows it may be unable to hold."""
    try:
        yield
    except psycopg.Error as failure:
        if path is not None and isinstance(failure, psycopg.DataError):
            raise UnreadableFile(path, "it holds text or dates that PostgreSQL cannot, such as NUL.") from None
        raise refusal(failure, doing) from None


def refusal(failure: Exception, doing: str) -> KechError:
    """What is short at the server, or only the kind of failure."""
    if isinstance(failure, psycopg.errors.DiskFull | psycopg.errors.OutOfMemory):
        return ResourceError(f"The server is out of memory or disk while {doing}.")
    if isinstance(failure, psycopg.errors.InsufficientPrivilege):
        return ResourceError(f"The server does not allow this user what is needed while {doing}.")
    if isinstance(failure, psycopg.OperationalError):
        return ResourceError(f"The connection to the server was lost while {doing}.")
    return ResourceError(f"The server failed while {doing} ({type(failure).__name__}).")


# -- rows out ------------------------------------------------------------------------------------------------


def schema_of(connection: Any, query: str) -> Any:
    """The names and types of a query's columns, as Arrow has them; what Arrow has not is text."""
    described = connection.execute(f"SELECT * FROM ({query}) AS described LIMIT 0").description
    return pa.schema([(column.name, arrow_type(column)) for column in described])


def arrow_type(column: Any) -> Any:
    """A type of PostgreSQL in Arrow."""
    if column.type_code == NUMERIC and column.precision is not None and 0 <= column.scale <= column.precision <= 38:
        return pa.decimal128(column.precision, column.scale)
    return ARROW.get(column.type_code, pa.string())


def read_batches(connection: Any, query: str, schema: Any) -> Iterator[Any]:
    """The rows of a query, in its order, as record batches."""
    with connection.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)") as rows:
        for block in blocks(rows):
            yield from as_batches(block, schema)


def blocks(rows: Iterable[Any]) -> Iterator[bytes]:
    """Rows of text put together; each message of the server is one row."""
    held = bytearray()
    for row in rows:
        held += row
        if len(held) > BLOCK:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)


def as_batches(block: bytes, schema: Any) -> Iterable[Any]:
    """Text in the CSV of PostgreSQL as record batches: what is quoted is there, what is not is NULL."""
    places = pa.schema([(f"f{i}", field.type) for i, field in enumerate(schema)])  # names may be equal, or empty
    try:
        table = read_text(block, places)
    except pa.ArrowException as failure:  # which quotes the cell
        found = re.match(r"In CSV column #(\d+)", str(failure))
        column = repr(schema.names[int(found[1])]) if found else "a column"
        reason = (
            f"{column} holds what no file can: an infinity, NaN in a decimal, or a date beyond the years 1 to 9999."
        )
        raise InputError(f"Reading the table: {reason} Cast it to text, or leave it out.") from None
    return list(table.rename_columns(schema.names).cast(schema).to_batches())


def read_text(block: bytes, places: Any) -> Any:
    """Text in the CSV of PostgreSQL as a table."""
    return pc.read_csv(
        pa.BufferReader(block),
        read_options=pc.ReadOptions(column_names=places.names, use_threads=False, block_size=len(block) + 1),
        parse_options=pc.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pc.ConvertOptions(
            column_types=places,
            null_values=[""],
            true_values=["t"],
            false_values=["f"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


# -- rows in -------------------------------------------------------------------------------------------------


def create_table(connection: Any, kind: str, name: str, schema: Any, path: object) -> None:
    """A table for Arrow rows."""
    columns = ", ".join(f"{quote(field.name)} {stored_type(field, path)}" for field in schema)
    connection.execute(f"CREATE {kind} {name} ({columns})")


def stored_type(field: Any, path: object) -> str:
    """The type of PostgreSQL that holds a column of Arrow."""
    kind = plain_type(field, path)
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    return STORED[kind]


def copy_in(connection: Any, name: str, batches: Iterable[Any], path: object) -> None:
    """Fill a table."""
    options = pc.WriteOptions(include_header=False, quoting_style="all_valid")
    with connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
        for batch in batches:
            text = io.BytesIO()
            pc.write_csv(as_plain(batch, path), text, options)
            copy.write(text.getbuffer())


# -- a table ---------------------------------------------------------------------------------------------------


class PostgresDatabase:
    """One table of a server, and the session that reaches it."""

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
        """A session that ends with the block."""
        connection = connect(address)
        try:
            yield cls(address, connection)
        finally:
            connection.close()

    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        if self.identity() is None:
            raise NoSuchTable(self.address, "the database has no such table, or this user may not see it.")
        with refusals("reading the columns"):
            return [
                column.name for column in self.connection.execute(f"SELECT * FROM {self.quoted} LIMIT 0").description
            ]

    def identity(self) -> object:
        """When the server was started, and the numbers of database and table."""
        with refusals("looking for the table"):
            return self.connection.execute(
                """SELECT pg_postmaster_start_time(), d.oid, c.oid FROM pg_database d, pg_class c
                JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE d.datname = current_database() AND n.nspname = %s AND c.relname = %s""",
                (self.schema, self.name),
            ).fetchone()

    def export(self, path: Path) -> None:
        """Its rows as CSV, every cell as text, in the order of the text."""
        self.columns()
        with refusals("reading the released table"):
            export(self.connection, self.quoted, path)

    @contextmanager
    def write_aside(self, batches: Any) -> Iterator["PostgresDraft"]:
        """One transaction, which is undone unless the draft is put in place."""
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
        """A table that kech did not write is never replaced."""
        with refusals("looking for the table"):
            found = self.connection.execute(
                """SELECT c.relkind = 'r' AND obj_description(c.oid, 'pg_class') = %s FROM pg_class c
                JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s""",
                (MARK, self.schema, self.name),
            ).fetchone()
        if found is not None and not found[0]:
            reason = "a table of this name exists that kech did not write. Drop it yourself, or choose another name."
            raise BadTarget(self.address, reason)


class PostgresDraft:
    """A table inside a transaction: no other session sees it."""

    def __init__(self, database: PostgresDatabase) -> None:
        self.database = database
        self.name = f"{database.name[:40]}.kech-draft"
        self.quoted = f"{quote(database.schema)}.{quote(self.name)}"

    def export(self, path: Path) -> None:
        """Its rows as CSV, every cell as text, in the order of the text."""
        export(self.database.connection, self.quoted, path)

    def put_in_place(self) -> None:
        """Take the place of an earlier release, and end the transaction."""
        target, run = self.database, self.database.connection.execute
        run(f"DROP TABLE IF EXISTS {target.quoted}")
        run(f"ALTER TABLE {self.quoted} RENAME TO {quote(target.name)}")
        run(f"COMMENT ON TABLE {target.quoted} IS '{MARK}'")
        target.connection.commit()


def export(connection: Any, name: str, path: Path) -> None:
    """A table as CSV, every cell as text, rows in the order of the text: the same bytes for the same rows."""
    names = [column.name for column in connection.execute(f"SELECT * FROM {name} LIMIT 0").description]
    texts = ", ".join(f'{guarded(f"{quote(column)}::text")} COLLATE "C" AS {quote(column)}' for column in names)
    order = ", ".join(str(place) for place in range(1, len(names) + 1))
    query = f"SELECT {texts} FROM {name} ORDER BY {order}"
    statement = f"COPY ({query}) TO STDOUT (FORMAT csv, HEADER true)"
    with path.open("wb") as file, connection.cursor() as cursor, cursor.copy(statement) as rows:
        for row in rows:
            file.write(row)

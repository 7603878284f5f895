"""Tables of DuckDB files, read and written with connections of their own, separate from the backend.

In: the address of a table, and the record batches of a release.  Out: a `Database`, and a `Draft` in a private file.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv as pc

from kech.errors import BadTarget, NoSuchFile, NoSuchTable
from kech.system.files import NO_FOLDER, private_folder
from kech.system.memory import BASE_BYTES, FILE_SHARE, FILE_SHARE_BEYOND
from kech.tables.duckdb import (
    HANDED,
    file_of,
    is_open_elsewhere,
    is_stopped,
    literal_file,
    refusals,
    refuse_reading,
    refuse_writing,
)
from kech.tables.source import Address
from kech.tables.sql import MARK, guard, quote

LEAST = 3 * 4096  # bytes of the headers of a DuckDB file
PATIENCE, PAUSE = 2.0, 0.05  # seconds to wait for a file that is open elsewhere, and between two attempts
LOCK = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "timezone": "'UTC'",
    "enable_external_access": "false",  # a view in the file reaches nothing outside it
    "lock_configuration": "true",
}


def open_connection(file: str, folder: Path, memory: int | None) -> Any:
    """A new instance of DuckDB, apart from the backend, which spills into the folder; `memory` is --memory."""
    limits: dict[str, Any] = {"threads": 1, "memory_limit": f"{memory_for_writer(memory) // 1000}KB"} if memory else {}
    connection = duckdb.connect(file, config={"temp_directory": str(folder / "spill"), **limits})
    connection.execute("SET enable_progress_bar = false")  # in a notebook DuckDB draws one
    return connection


def memory_for_writer(memory: int) -> int:
    """Bytes for an instance: DuckDB can sort any number of long texts in 100 MB, but not in 60 MB."""
    return int(max(FILE_SHARE * memory, FILE_SHARE_BEYOND * (memory - BASE_BYTES)))


@contextmanager
def open_locked(address: Address, memory: int | None, *, to_write: bool = False) -> Iterator[Any]:
    """A locked connection with the file attached as `target`; nothing is changed.

    With `to_write` it also refuses a file that another program has open; the log of a crash is not applied yet.
    """
    as_writer = to_write and not log_of(file_of(address)).exists()
    with private_folder() as folder, closing(open_connection(":memory:", folder, memory)) as connection:
        try:
            attach(connection, address, "" if as_writer else ", READ_ONLY")
        except duckdb.Error as failure:
            raise (to_write and refuse_writing(failure, address)) or refuse_reading(failure, address) from None
        for name, value in LOCK.items():
            connection.execute(f"SET GLOBAL {name} = {value}")
        yield connection


def attach(connection: Any, address: Address, mode: str = "") -> None:
    """Attach the file as `target`; wait a moment where another program has it open."""
    end = monotonic() + PATIENCE
    while True:
        try:
            connection.execute(f"ATTACH {literal_file(address)} AS target (TYPE duckdb{mode})")
        except (duckdb.Error, RuntimeError) as failure:
            if is_stopped(failure):
                raise KeyboardInterrupt from None
            if not is_open_elsewhere(failure) or monotonic() > end:
                raise
            sleep(PAUSE)
        else:
            return


def log_of(file: Path) -> Path:
    """The path of the write-ahead log of a DuckDB file."""
    return Path(f"{file}.wal")


class DuckDBDatabase:
    """One table of a DuckDB file."""

    def __init__(self, address: Address, memory: int | None = None) -> None:
        self.address = address
        self.memory = memory
        self.schema, self.name = address.names if len(address.names) == 2 else ("main", *address.names)
        self.quoted = f"target.{quote(self.schema)}.{quote(self.name)}"

    @classmethod
    @contextmanager
    def open(cls, address: Address, memory: int | None = None) -> Iterator["DuckDBDatabase"]:
        """The database of a table; the file is open only while it is read or written."""
        yield cls(address, memory)

    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        with self.open_reader() as connection, refusals("reading the columns"):
            return list(names_of(connection, self.quoted))

    def identity(self) -> object:
        """Device and inode of the file, with the name of the table in small letters; None without a file."""
        path = Path(self.address.location)
        status = path.stat() if path.exists() else None
        return status and (status.st_dev, status.st_ino, self.schema.casefold(), self.name.casefold())

    def export(self, path: Path) -> None:
        """Write its rows as CSV, every cell as text, sorted by their text."""
        with self.open_reader() as connection, refusals("reading the released table", self.memory):
            export(connection, self.quoted, path)

    @contextmanager
    def open_reader(self) -> Iterator[Any]:
        """A read-only connection; refused where the file or the table is missing."""
        if not Path(self.address.location).is_file():
            raise NoSuchFile(self.address.location)
        with open_locked(self.address, self.memory) as connection:
            if self.comment(connection) is None:
                raise NoSuchTable(self.address, "the file has no such table. Check the name behind #.")
            yield connection

    @contextmanager
    def write_draft(self, batches: Any) -> Iterator["DuckDBDraft"]:
        """A draft of the table in a private file; the database is opened only to put it in place."""
        self.check_free()
        with (
            private_folder() as folder,
            refusals("writing the table", self.memory),
            closing(open_connection(str(folder / "draft.db"), folder, self.memory)) as connection,
        ):
            fill(connection, batches)
            yield DuckDBDraft(self, connection)

    def check_free(self) -> None:
        """Refuse a target that is a table kech did not write, or that cannot be written."""
        path = Path(self.address.location)
        if not path.parent.is_dir():
            raise BadTarget(self.address, NO_FOLDER)
        if not path.exists():
            if self.schema.casefold() != "main":
                raise BadTarget(self.address, "a new file has no schema but main. Omit the schema.")
            return
        with open_locked(self.address, self.memory, to_write=True) as connection:
            entry = self.comment(connection)
        if entry not in (None, ("TABLE", MARK)):
            reason = "a table of this name exists that kech did not write. Drop it yourself, or choose another name."
            raise BadTarget(self.address, reason)

    def comment(self, connection: Any) -> tuple[str, str | None] | None:
        """Whether the name is a TABLE or a VIEW, and its comment; None where it does not exist."""
        with refusals("looking for the table"):
            entry = connection.execute(
                """SELECT 'TABLE', comment FROM duckdb_tables() WHERE lower(schema_name) = lower($1)
                AND lower(table_name) = lower($2) UNION ALL SELECT 'VIEW', comment FROM duckdb_views()
                WHERE lower(schema_name) = lower($1) AND lower(view_name) = lower($2)""",
                [self.schema, self.name],
            ).fetchone()
        return entry and (str(entry[0]), entry[1])


class DuckDBDraft:
    """The draft of a table, in a private file."""

    def __init__(self, database: DuckDBDatabase, connection: Any) -> None:
        self.database = database
        self.connection = connection

    def export(self, path: Path) -> None:
        """Write its rows as CSV, every cell as text, sorted by their text."""
        export(self.connection, "draft", path)

    def put_in_place(self) -> None:
        """Replace an earlier release in one transaction; where that fails, a newly created file is removed."""
        self.database.check_free()
        address = self.database.address
        with refusals("writing the table", self.database.memory, address):
            is_new = self.attach()
            try:
                self.replace()
            except BaseException:
                remove_remains(file_of(address), is_new)
                raise
        with suppress(duckdb.Error):  # the release is written: rows that do not fit in the file stay in its log
            self.connection.execute("DETACH target")

    def attach(self) -> bool:
        """Attach the file as `target`; returns whether it was created for that."""
        file = file_of(self.database.address)
        is_new = not file.exists()
        try:
            attach(self.connection, self.database.address)
        except duckdb.Error:
            if is_new and file.exists() and file.stat().st_size < LEAST:
                file.unlink()
            raise
        return (
            is_new
            and not self.connection.execute("SELECT 1 FROM duckdb_tables() WHERE database_name = 'target'").fetchall()
        )

    def replace(self) -> None:
        """Replace the target by the draft, in one transaction."""
        target, run = self.database.quoted, self.connection.execute
        run("BEGIN")
        run(f"DROP TABLE IF EXISTS {target}")
        run(f"CREATE TABLE {target} AS SELECT * FROM draft")
        run(f"COMMENT ON TABLE {target} IS '{MARK}'")
        run("COMMIT")


def fill(connection: Any, batches: Any) -> None:
    """Write rows into the table `draft`; a failure while they are computed is raised unchanged."""
    failures: list[BaseException] = []

    def make_rows() -> Iterator[Any]:
        try:
            yield from batches
        except BaseException as failure:
            failures.append(failure)
            raise

    connection.register("incoming", pa.RecordBatchReader.from_batches(batches.schema, make_rows()))
    try:
        connection.execute("CREATE TABLE draft AS SELECT * FROM incoming")
    except duckdb.Error:
        if failures:
            raise failures[0] from None
        raise
    connection.unregister("incoming")


def remove_remains(file: Path, is_new: bool) -> None:
    """Remove what a failed transaction leaves: an empty log, and a new file."""
    log = log_of(file)
    if log.exists() and (is_new or not log.stat().st_size):
        log.unlink()
    if is_new:
        file.unlink(missing_ok=True)


def names_of(connection: Any, name: str) -> Sequence[str]:
    """The names of the columns of a table."""
    with connection.cursor() as cursor:
        return [column[0] for column in cursor.execute(f"SELECT * FROM {name} LIMIT 0").description]


def export(connection: Any, name: str, path: Path) -> None:
    """Write a table as CSV, every cell as text, rows sorted by their text: equal rows give equal bytes."""
    names = names_of(connection, name)
    texts = ", ".join(f"{guard(f'CAST({quote(column)} AS VARCHAR)')} AS {quote(column)}" for column in names)
    columns = ", ".join(str(number) for number in range(1, len(names) + 1))
    with connection.cursor() as cursor, path.open("wb") as file:
        batches = cursor.sql(f"SELECT {texts} FROM {name} ORDER BY {columns}").to_arrow_reader(HANDED)
        with pc.CSVWriter(file, batches.schema) as writer:
            for batch in batches:
                writer.write_batch(batch)

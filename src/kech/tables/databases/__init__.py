"""Databases: tables that are not files.  Their columns, a table written aside and put in place, and its rows as text.

In: an address.  Out: a `Database` to read from and write to.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from kech.tables.databases.address import Address, find_address

__all__ = ["Address", "Database", "Draft", "check_free", "find_address", "open_database"]


class Draft(Protocol):
    """A table that nobody sees yet; it is gone unless it is put in place."""

    def export(self, path: Path) -> None:
        """Its rows as CSV, every cell as text, in the order of the text."""

    def put_in_place(self) -> None:
        """Give it the name of the target, in place of an earlier release."""


class Database(Protocol):
    """One table of a database."""

    def columns(self) -> Sequence[str]:
        """The names of its columns."""

    def identity(self) -> object:
        """The same for the same table, by whatever address; None where there is none."""

    def export(self, path: Path) -> None:
        """Its rows as CSV, every cell as text, in the order of the text."""

    def check_free(self) -> None:
        """Refuse to write where others have a table, or where nothing can be written now."""

    def write_aside(self, batches: Any) -> AbstractContextManager[Draft]:
        """The rows as a table that nobody sees yet."""


def open_database(address: Address, memory: int | None = None) -> AbstractContextManager[Database]:
    """A connection to the database of a table; where it works in this process, with so much memory in all."""
    if address.scheme == "duckdb":
        from kech.tables.databases.duckdb import DuckDBDatabase

        return DuckDBDatabase.open(address, memory)
    if address.scheme == "spark":
        from kech.tables.databases.spark import SparkDatabase

        return SparkDatabase.open(address)
    from kech.tables.databases.postgres import PostgresDatabase

    return PostgresDatabase.open(address)


def check_free(target: Address, source: Address | None = None) -> None:
    """Refuse a target before any work.

    The source itself is refused once it is read, in words of its own; what Spark reaches, once its application runs.
    """
    if target.scheme != "spark" and (source is None or source.anywhere != target.anywhere):
        with open_database(target) as database:
            database.check_free()

"""Queries: what an engine must know by itself, and the names of what it keeps."""

from abc import ABC, abstractmethod
from typing import Any

from kech.tables.engines.dialect import Dialect


class Queries(ABC):
    """One connection, and the tables and views that were made on it."""

    dialect: Dialect

    def __init__(self) -> None:
        self.types: dict[int, str] = {}
        self.prefix = ""
        self._made: dict[str, str] = {}  # name and kind of what this engine keeps
        self._garbage: dict[str, str] = {}  # the same of engines that are gone

    @abstractmethod
    def _shut(self) -> None:
        """Forget all rows and end the connection."""

    @abstractmethod
    def _overwrite(self, column: int, value: str, where: str) -> None:
        """Give a column of the loaded rows another value where a condition holds."""

    @abstractmethod
    def _type(self, column: int) -> str:
        """What a column holds: number, date, text or other."""

    @abstractmethod
    def _create(self, name: str, query: str, doing: str) -> None:
        """Keep the rows of a query under a name."""

    @abstractmethod
    def _define(self, name: str, query: str) -> None:
        """Name a query; its rows are computed when they are asked for."""

    @abstractmethod
    def _drop(self, name: str, kind: str) -> None:
        """Forget a TABLE or VIEW, where there is one of this name."""

    @abstractmethod
    def _put(self, name: str, table: Any, doing: str) -> None:
        """An Arrow table under a name, for the next query, in place of the one before."""

    @abstractmethod
    def _get(self, query: str, doing: str) -> Any:
        """The rows of a query as an Arrow table."""

    @abstractmethod
    def _rows(self, query: str, doing: str) -> list[tuple[Any, ...]]:
        """The few rows of a query."""

    @abstractmethod
    def _stream(self, query: str) -> Any:
        """The rows of a query as record batches, in the order of the query."""

    def _named(self, name: str) -> str:
        return self.prefix + name

    def _make(self, name: str, query: str, doing: str) -> None:
        self._create(self._new(name), query, doing)

    def _new(self, name: str, kind: str = "TABLE") -> str:
        """A name of this engine, free to be used; what gone engines left is dropped on the way."""
        while self._garbage:
            self._drop(*self._garbage.popitem())  # the last made first
        named = self._named(name)
        if named in self._made:
            self._drop(named, kind)
        self._made[named] = kind
        return named

"""Engines: where the rows live.  Rows stay inside; only counts, codes and published labels come out.

Five verbs, the same on every engine: describe columns; count values; group coded rows into points; leave points
out; publish.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What an engine knows about a column: counts and row numbers (from 1), never a value."""

    type: str  # text, number, date or other
    rows: int
    nulls: int
    distinct: int  # without NULL
    numbers: int  # rows that read as a finite number
    first_other: int | None  # first row that is neither NULL nor a finite number
    not_finite: int | None  # first row with NaN or an infinity
    zero_padded: int  # rows such as 02138
    dates: int
    first_not_date: int | None
    longest: int  # digits or characters of the longest value


@dataclass(frozen=True, slots=True, repr=False)
class Mapping1D:
    """A column, how its values are read, and the code of each distinct value."""

    column: int
    kind: str  # number, date or text
    values: Any  # ascending floats, or text
    codes: NDArray[np.int32]
    null: int


@dataclass(frozen=True, slots=True, repr=False)
class Output:
    """A column of the release: labels of a quasi-identifier, or a source column as it is."""

    name: str
    source: int | None  # None for labels
    labels: Sequence[str | None] = ()  # one a class
    typed: bool = False  # turn text that reads as numbers or dates into them
    private: bool = False  # text of the source as it stands there, for the eyes of its owner


class Engine(Protocol):
    """What every engine can do."""

    def describe(self, column: int, beside: Sequence[int] = ()) -> ColumnFacts:
        """Facts about one column; what is asked for beside it is looked up on the way."""

    def count_values(self, column: int, kind: str) -> tuple[Any, NDArray[np.int64]]:
        """Distinct values read as `kind`, without NULL, and their rows; numbers and dates ascend."""

    def text_bytes(self, column: int) -> int:
        """Bytes that the distinct values of a column have as text."""

    def count_together(self, columns: Sequence[int]) -> tuple[int, int]:
        """Distinct combinations of values in these columns, and the rows that have one in any of them; '' is none."""

    def head(self, columns: Sequence[int], rows: int) -> list[list[str | None]]:
        """The first rows as text, as they were read: for the eyes of whoever owns the table."""

    def group(
        self, mappings: Sequence[Mapping1D], most: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Distinct code tuples, in their own order, and their rows; refused where there are more than so many."""

    def code_rows(self, mappings: Sequence[Mapping1D], every: int = 1) -> NDArray[np.int32]:
        """Codes of every row, or of each n-th, in the order of the table."""

    def without(self, mappings: Sequence[Mapping1D], points: NDArray[np.int64]) -> "Engine":
        """The rows of all other points, as an engine of their own."""

    def publish(
        self,
        mappings: Sequence[Mapping1D],
        shares: Mapping[str, NDArray[np.int64]],
        outputs: Sequence[Output],
        *,
        for_csv: bool,
        key: bytes | None = None,
    ) -> Any:
        """A stream of record batches: the rows, recoded and in an order nobody can know.  Texts may be dictionaries.

        Rows of a point that several classes share are dealt out by what they hold, under the key; without one, at
        random.
        """

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """A hash of the whole source, or of the batches, whatever the order of rows and columns."""

    def close(self) -> None:
        """Forget all rows."""

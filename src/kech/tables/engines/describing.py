"""Describing: the columns of the rows, and their distinct values.

In: a table `kept` of rows, numbered by r from 0, with columns c0, c1, ...  Out: facts, and values with their rows.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.tables.engines import ColumnFacts
from kech.tables.engines.dialect import (
    COMMA_NUMBER,
    DATE,
    DAY_FIRST,
    MONTH_FIRST,
    NOT_FINITE,
    NUMBER,
    WHOLE,
    ZERO_PADDED,
)
from kech.tables.engines.facts import Alike, facts_of
from kech.tables.engines.queries import Queries

MOSTLY = 0.9  # a column of text with this share of such numbers or dates is one of them
TOGETHER = 16  # columns that are described by one query
FLOATS = ("float", "double", "real")  # how the names of their types begin


class Describing(Queries):
    """Columns are looked at once: their distinct values are kept as tables v0, v1, ..."""

    def __init__(self) -> None:
        super().__init__()
        self._counted: set[int] = set()
        self._facts: dict[int, ColumnFacts] = {}

    def rewrite(self, *, decimal: str | None, dates: str | None) -> None:
        """Numbers with decimal commas, and dates that begin with the day or the month, as kech reads them.

        Only columns of text that hold hardly anything else are rewritten; a cell of another kind is left as it is.
        """
        for column in (column for column in self.types if self._type(column) == "text"):
            if decimal == ",":
                self._rewrite(column, COMMA_NUMBER, NUMBER, self.dialect.point_number)
            if dates in ("dmy", "mdy"):
                foreign = DAY_FIRST if dates == "dmy" else MONTH_FIRST
                self._rewrite(column, foreign, DATE, partial(self.dialect.year_first, day_first=dates == "dmy"))

    def _rewrite(self, column: int, foreign: str, own: str, turned: Callable[[str], str]) -> None:
        cell, sql = f"c{column}", self.dialect
        text = f"trim({sql.text(cell, self.types[column])})"
        counted = f"count(*) FILTER (WHERE {sql.matches(text, f'({foreign})|({own})')})"
        query = f"SELECT {counted}, count({cell}) FROM {self._as_read([column])} AS kept"
        ((fitting, present),) = self._rows(query, "reading the table")
        if fitting >= MOSTLY * present > 0:
            self._overwrite(column, turned(text), sql.matches(text, foreign))

    def describe(self, column: int, beside: Sequence[int] = ()) -> ColumnFacts:
        """Facts about one column, from its distinct values; they are looked up once, a few columns together."""
        if column not in self._facts:
            unknown = [i for i in dict.fromkeys((column, *beside)) if i not in self._facts]
            self._facts |= self._describe(unknown[:TOGETHER])
        return self._facts[column]

    def _describe(self, columns: Sequence[int]) -> dict[int, ColumnFacts]:
        """Values that are alike in all that facts tell of are counted together; each pattern is tried once."""
        for column in columns:
            self._count(column)
        sql = self.dialect
        number, date = (f"CASE WHEN {sql.matches('written', pattern)} THEN written END" for pattern in (NUMBER, DATE))
        each = {
            "number": f"coalesce(number, {sql.number(number)})",
            "dated": f"dated OR {sql.moment(date)} IS NOT NULL",
            "odd": sql.matches("written", NOT_FINITE),
            "padded": sql.matches("written", ZERO_PADDED),
            "digits": f"CASE WHEN {sql.matches('written', WHOLE)} THEN length(written) END",
        }
        finite = sql.finite("number")
        alike = f"i, missing, coalesce({finite}, false), coalesce(odd OR NOT {finite}, false), padded, dated"
        found = self._rows(
            f"""SELECT {alike}, CAST(sum(n) AS BIGINT), count(*), min(first), max(digits)
            FROM (SELECT i, n, first, missing, {", ".join(f"{cell} AS {name}" for name, cell in each.items())}
            FROM ({" UNION ALL ".join(map(self._written, columns))}) AS cells) AS told GROUP BY {alike}""",
            "describing columns",
        )
        return {i: facts_of(self._type(i), [Alike(*told) for at, *told in found if at == i]) for i in columns}

    def _written(self, column: int) -> str:
        """The query for the distinct values of a column as text, and what is known of them by their type alone."""
        kind, type, sql = self._type(column), self.types[column], self.dialect
        is_float = self._is_float(column)
        number = "value" if is_float else self._reads(column, "number") if kind == "number" else "NULL"
        dated = f"{self._reads(column, 'date')} IS NOT NULL" if kind == "date" else "false"
        text = sql.text("value" if kind in ("text", "number") and not is_float else "NULL", type)
        return f"""SELECT {column} AS i, n, first, value IS NULL AS missing, trim({text}) AS written,
            CAST({number} AS {sql.float_type}) AS number, {dated} AS dated FROM {self._named(f"v{column}")}"""

    def count_values(self, column: int, kind: str) -> tuple[Any, NDArray[np.int64]]:
        """Distinct values of a column read as `kind`, and their rows."""
        self._count(column)
        found = self._get(
            f"""SELECT x, CAST(sum(n) AS BIGINT) AS n FROM (SELECT {self._reads(column, kind)} AS x, n
            FROM {self._named(f"v{column}")} WHERE value IS NOT NULL) AS read GROUP BY x ORDER BY x NULLS LAST""",
            "counting values",
        )
        values = found["x"].to_pylist() if kind == "text" else as_array(found, "x", np.float64)
        return values, as_array(found, "n", np.int64)

    def text_bytes(self, column: int) -> int:
        """Bytes of the distinct values of a column as text."""
        self._count(column)
        text = self._reads(column, "text")
        ((found,),) = self._rows(
            f"""SELECT CAST(coalesce(sum({self.dialect.bytes(text)}), 0) AS BIGINT)
            FROM {self._named(f"v{column}")} WHERE value IS NOT NULL""",
            "counting values",
        )
        return int(found)

    def count_together(self, columns: Sequence[int]) -> tuple[int, int]:
        """Distinct combinations of values, and the rows that have a value in one of these columns; '' is none."""
        cells = [f"nullif(c{i}, '')" if self._type(i) == "text" else f"c{i}" for i in columns]
        held = ", ".join(f"{cell} AS h{place}" for place, cell in enumerate(cells))
        names = [f"h{place}" for place in range(len(cells))]
        ((found, rows),) = self._rows(
            f"""SELECT count(*), CAST(coalesce(sum(n), 0) AS BIGINT) FROM (SELECT count(*) AS n
            FROM (SELECT {held} FROM {self._as_read(columns)} AS kept) AS held
            WHERE {" OR ".join(f"{name} IS NOT NULL" for name in names)}
            GROUP BY {", ".join(names)}) AS together""",
            "counting values",
        )
        return int(found), int(rows)

    def head(self, columns: Sequence[int], rows: int) -> list[list[str | None]]:
        """The first rows as text."""
        cells = ", ".join(f"{self.dialect.text(f'c{i}', self.types[i])} AS c{i}" for i in columns)
        found = self._get(
            f"SELECT {cells} FROM {self._as_read(columns)} AS kept ORDER BY r LIMIT {int(rows)}", "reading the table"
        )
        return [list(row) for row in zip(*(column.to_pylist() for column in found.columns), strict=True)]

    def _reads(self, column: int, kind: str) -> str:
        """How a distinct value is read as a number, as seconds since 1970, or as text."""
        sql, is_text = self.dialect, self._type(column) == "text"
        text = sql.text("value", self.types[column])
        if kind == "text":
            return text
        fits = sql.matches(f"trim({text})", NUMBER if kind == "number" else DATE)
        guarded = f"CASE WHEN {fits} THEN trim({text}) END"
        if kind == "number":
            number = sql.number(guarded) if is_text else f"CAST(value AS {sql.float_type})"
            return f"({number} + CAST(0 AS {sql.float_type}))"
        return sql.seconds(sql.moment(guarded) if is_text else "value")

    def _is_float(self, column: int) -> bool:
        return self.types[column].lower().startswith(FLOATS)

    def _count(self, column: int) -> None:
        if column not in self._counted:
            zero = f" + CAST(0 AS {self.types[column]})" if self._is_float(column) else ""  # -0.0 becomes 0.0
            self._make(f"v{column}", self._counts(column, f"c{column}{zero}"), "counting values")
            self._counted.add(column)

    def _counts(self, column: int, value: str) -> str:  # noqa: ARG002 - others count something shorter
        """The query for the distinct values of a column, how many rows each has, and its first one."""
        return f"""SELECT value, count(*) AS n, min(r) + 1 AS first
            FROM (SELECT r, {value} AS value FROM {self._named("kept")}) AS cells GROUP BY value"""

    def _as_read(self, columns: Sequence[int]) -> str:  # noqa: ARG002 - others must look them up
        """The rows with these columns as they were read."""
        return self._named("kept")


def as_array(found: Any, name: str, kind: Any) -> NDArray[Any]:
    """A column of an Arrow table as an array."""
    return np.asarray(found[name].to_numpy(), kind)

"""The five verbs in SQL, one text for all engines; what differs is in their dialect.

In: a table `kept` of rows, numbered by r from 0, with columns c0, c1, ...  Out: facts, points and published rows.
"""

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech.databases.arrow import SIZES
from kech.engines import ColumnFacts, Mapping1D, Output
from kech.engines.dealing import Dealer, Listed, dealt, list_values
from kech.engines.dialect import (
    COMMA_NUMBER,
    DATE,
    DAY_FIRST,
    MONTH_FIRST,
    NOT_FINITE,
    NUMBER,
    WHOLE,
    ZERO_PADDED,
    Dialect,
)
from kech.engines.packing import Packing
from kech.errors import ResourceError, TooManyPoints

LONGEST_FLOAT = 24  # no double needs more characters to be written exactly
MOSTLY = 0.9  # a column of text with this share of such numbers or dates is one of them
TOGETHER = 16  # columns that are described by one query
FLOATS = ("float", "double", "real")  # how the names of their types begin


class EngineFailed(ResourceError):
    """Neither memory nor disk was short."""


class SqlEngine(ABC):
    """One table and everything made from it; `without` gives further engines on the same connection."""

    dialect: Dialect

    def __init__(self) -> None:
        self.types: dict[int, str] = {}
        self.prefix = ""
        self._piece = SIZES[0]  # rows that may be on their way at a time
        self._whole: Self | None = None  # of what is left of a table, which keeps it open
        self._made: dict[str, str] = {}  # name and kind of what this engine keeps
        self._garbage: dict[str, str] = {}  # the same of engines that are gone
        self._rests = 0
        self._counted: set[int] = set()
        self._facts: dict[int, ColumnFacts] = {}
        self._grouped: Sequence[Mapping1D] = ()
        self._weights = np.zeros(0, np.int64)  # rows of the points of these
        self._loaded: Sequence[Mapping1D] = ()  # whose codes lie in the engine

    # -- what an engine must know by itself ------------------------------------------------------------

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

    def close(self) -> None:
        """Forget all rows; what `without` gave is forgotten together with the whole."""
        if self._whole is None:
            self._shut()

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

    # -- the verbs ---------------------------------------------------------------------------------------

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

    def head(self, columns: Sequence[int], rows: int) -> list[list[str | None]]:
        """The first rows as text."""
        cells = ", ".join(f"{self.dialect.text(f'c{i}', self.types[i])} AS c{i}" for i in columns)
        found = self._get(
            f"SELECT {cells} FROM {self._as_read(columns)} AS kept ORDER BY r LIMIT {int(rows)}", "reading the table"
        )
        return [list(row) for row in zip(*(column.to_pylist() for column in found.columns), strict=True)]

    def group(
        self, mappings: Sequence[Mapping1D], most: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Code every row in one number, or a few, and GROUP BY that."""
        self._grouped = ()  # the points of before are not of these codes
        packing = Packing(mappings)
        keys = ", ".join(packing.names)
        self._make(
            "points",
            f"""SELECT row_number() OVER (ORDER BY {keys}) - 1 AS p, grouped.* FROM (SELECT {keys}, count(*) AS n
            FROM ({self._coded_rows(mappings)}) AS coded GROUP BY {keys}) AS grouped ORDER BY p""",
            "grouping rows",
        )
        if most is not None and self.describe(mappings[0].column).rows > most:
            self._check_points(most)
        found = self._get(f"SELECT {keys}, n FROM {self._named('points')} ORDER BY p", "grouping rows")
        self._grouped, self._weights = mappings, as_array(found, "n", np.int64)
        return packing.unpack(found), self._weights

    def _check_points(self, most: int) -> None:
        ((found,),) = self._rows(f"SELECT count(*) FROM {self._named('points')}", "grouping rows")
        if found > most:
            raise TooManyPoints(found, most)

    def code_rows(self, mappings: Sequence[Mapping1D], every: int = 1) -> NDArray[np.int32]:
        """Codes of every row, or of each n-th, in the order of the table."""
        query = f"{self._coded_rows(mappings)} WHERE kept.r % {int(every)} = 0 ORDER BY kept.r"
        return Packing(mappings).unpack(self._get(query, "coding rows"))

    def without(self, mappings: Sequence[Mapping1D], points: NDArray[np.int64]) -> Self:
        """The rows of all other points, as an engine of their own: nothing here changes."""
        same = self._grouped_rows(mappings)
        whole = self._whole or self
        whole._rests += 1
        rest = copy(self)
        rest.prefix, rest._whole, rest._made = f"rest{whole._rests}_", whole, {}
        rest._counted, rest._facts, rest._grouped, rest._loaded = set(), {}, (), ()
        weakref.finalize(rest, self._garbage.update, rest._made)  # only names: another query may be under way
        rest._put("gone", pa.table({"p": points}), "leaving rows out")
        rest._make(
            "left_out",
            f"""SELECT coded.r FROM ({self._coded_rows(mappings)}) AS coded
            JOIN {self._named("points")} AS points ON {same} JOIN gone ON gone.p = points.p""",
            "leaving rows out",
        )
        rest._define(
            rest._new("kept", "VIEW"),
            f"""SELECT kept.* FROM {self._named("kept")} AS kept WHERE NOT EXISTS
            (SELECT 1 FROM {rest._named("left_out")} AS left_out WHERE left_out.r = kept.r)""",
        )
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

        Rows leave the engine as narrow as they can, in an order nobody can know, and are dealt to their classes here:
        of a point that several share, or of which some rows are suppressed, by a draw of its own for each row.
        """
        same = self._grouped_rows(mappings)
        lists = self._lists(outputs, for_csv)
        cells = {
            f"o{i}": f"kept.{self._keys(o.source)[0]}" if i in lists else self._published(o, i, for_csv)
            for i, o in enumerate(outputs)
            if o.source is not None
        }
        also = "".join(f", {cell} AS {name}" for name, cell in cells.items())
        columns = [o.source for i, o in enumerate(outputs) if o.source is not None and i not in lists]
        told = ", ".join(f"{cell} AS {self.dialect.quote(outputs[int(cell[1:])].name)}" for cell in cells)
        stream = self._shuffled(
            f"""SELECT CAST(points.p AS INTEGER) AS p{told and ", " + told}
            FROM ({self._coded_rows(mappings, also, columns)}) AS coded
            JOIN {self._named("points")} AS points ON {same}""",
            "coded.r",
        )  # refusals on the way name columns of the table
        named = renamed(stream, ["p", *cells])
        return dealt(named, Dealer(shares, self._weights), outputs, lists, self._piece)

    def _shuffled(self, query: str, row: str) -> Any:
        """What a query finds, in an order nobody can know."""
        return self._stream(f"{query} ORDER BY {self.dialect.secret(row)}")

    def _hashed(self, cells: Mapping[str, tuple[str, str, str]], source: str) -> tuple[int, ...]:
        """Rows, and twice the sum of a hash of each row; for each column its cell, its type and what it holds.

        Cells are taken for what they read as: 1.0 is 1, TRUE is true, and empty text is NULL.
        """
        sql = self.dialect
        joined = ", ".join(self._compared(*cells[name]) for name in sorted(cells))
        low, high = sql.digests("cells")
        (found,) = self._rows(
            f"""SELECT count(*), {sql.text(f"sum({low})", "")}, {sql.text(f"sum({high})", "")}
            FROM (SELECT concat_ws(chr(31), {joined}) AS cells FROM {source}) AS rows_of_text""",
            "comparing tables",
        )
        return tuple(int(figure or 0) for figure in found)

    def _compared(self, cell: str, type: str, kind: str) -> str:
        """A cell of any type as text that is the same for all types it could have."""
        sql = self.dialect
        text = sql.text(cell, type)
        if kind == "date":
            return f"coalesce(regexp_replace({text}, ' 00:00:00([+]00)?$', ''), '')"
        number = f"nullif({sql.loose_number(f'trim({text})')} + CAST(0 AS {sql.float_type}), {sql.nan})"
        return f"coalesce({sql.text(number, sql.float_type)}, nullif({sql.lower(f'trim({text})')}, 'nan'), '')"

    # -- inside --------------------------------------------------------------------------------------------

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

    def _grouped_rows(self, mappings: Sequence[Mapping1D]) -> str:
        """Points of these codes; the condition under which a coded row is of a point."""
        if self._grouped is not mappings:
            self.group(mappings)
        return " AND ".join(f"coded.{key} = points.{key}" for key in Packing(mappings).names)

    def _coded_rows(self, mappings: Sequence[Mapping1D], also: str = "", columns: Sequence[int] = ()) -> str:
        """The query for coded rows, and what else is wanted of `kept`: of these columns, as they were read."""
        packing = Packing(mappings)
        if self._loaded is not mappings:
            self._loaded = ()
            for mapping, stride in zip(mappings, packing.strides, strict=True):
                self._load(mapping, stride)
            self._loaded = mappings
        loaded = [self._found(m, stride) for m, stride in zip(mappings, packing.strides, strict=True)]
        sums = [" + ".join(loaded[j][0] for j in held) for held in packing.keys]
        keys = ", ".join(f"{added} AS {name}" for name, added in zip(packing.names, sums, strict=True))
        joins = " ".join(join for _, join in loaded)
        return f"SELECT kept.r, {keys}{also} FROM {self._as_read(columns)} AS kept {joins}"

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

    def _keys(self, column: int) -> tuple[str, str, bool]:
        """How a column is held, a table of its keys with their values, and whether some rows have none."""
        missing = self.describe(column).nulls > 0
        return f"c{column}", f"(SELECT value AS key, value FROM {self._named(f'v{column}')})", missing

    def _load(self, mapping: Mapping1D, stride: int) -> None:
        """A table with the part of each value in the number of a row."""
        column, kind = mapping.column, pa.string() if mapping.kind == "text" else pa.float64()
        _, key_table, _ = self._keys(column)
        loaded = {"x": pa.array(mapping.values, kind), "part": pa.array(mapping.codes.astype(np.int64) * stride)}
        self._put("mapping", pa.table(loaded), "loading codes")
        self._make(
            f"m{column}",
            f"""SELECT key, coalesce(part, {mapping.null * stride}) AS part
            FROM (SELECT key, {self._reads(column, mapping.kind)} AS x FROM {key_table} AS keyed) AS read
            LEFT JOIN mapping ON mapping.x = read.x""",
            "loading codes",
        )

    def _found(self, mapping: Mapping1D, stride: int) -> tuple[str, str]:
        """The part of a value in the number of a row, and the join that finds it."""
        column = mapping.column
        name, _, missing = self._keys(column)
        join = f"JOIN {self._named(f'm{column}')} AS m{column} ON m{column}.key = kept.{name}"
        if missing:
            return f"coalesce(m{column}.part, {mapping.null * stride})", f"LEFT {join}"
        return f"m{column}.part", join

    def _lists(self, outputs: Sequence[Output], for_csv: bool) -> dict[int, Listed]:
        """For outputs that are no cells of the table, the labels of the classes as they are published, each once."""
        lists = {i: list_values(pa.array(o.labels, pa.string())) for i, o in enumerate(outputs) if o.source is None}
        if for_csv and lists:
            texts = pa.chunked_array([found.values for found in lists.values()])
            self._put("labels", pa.table({"i": np.arange(len(texts)), "l": texts}), "loading labels")
            query = f"SELECT {self.dialect.harmless('l')} AS x FROM labels ORDER BY i"
            written, start = self._get(query, "loading labels")["x"].cast(pa.string()), 0
            for i, found in lists.items():
                lists[i] = replace(found, values=written.slice(start, len(found.values)).combine_chunks())
                start += len(found.values)
        return {i: replace(found, labels=True) for i, found in lists.items()}

    def _published(self, output: Output, position: int, for_csv: bool) -> str:
        """Labels and text, defused for CSV; numbers and dates; anything else as text."""
        sql = self.dialect
        if output.source is None:
            return sql.harmless(f"l{position}") if for_csv else f"l{position}"
        cell, kind = f"kept.c{output.source}", self._type(output.source)
        if output.private:
            return sql.text(cell, self.types[output.source])
        if kind == "other" or (kind == "text" and for_csv):
            text = sql.text(cell, self.types[output.source])
            return sql.harmless(text) if for_csv else text
        return self._typed(cell, output.source) if kind == "text" and output.typed else cell

    def _typed(self, cell: str, column: int) -> str:
        """Text that reads as numbers or dates throughout, and loses nothing by it, becomes what it reads as."""
        facts, sql = self.describe(column), self.dialect
        text = f"trim({sql.text('value', self.types[column])})"
        ((whole, longest),) = self._rows(
            f"""SELECT min(CASE WHEN {sql.matches(text, WHOLE)} THEN 1 ELSE 0 END),
            coalesce(max(length({text})), 0) FROM {self._named(f"v{column}")} WHERE value IS NOT NULL""",
            "publishing",
        )
        present = facts.rows - facts.nulls
        exact = not facts.zero_padded and facts.longest <= 15 and longest <= LONGEST_FLOAT
        trimmed = f"trim({cell})"
        if present and facts.numbers == present and exact:
            return f"CAST({trimmed} AS BIGINT)" if whole else sql.number(trimmed)
        if present and facts.dates == present:
            return f"CAST({trimmed} AS DATE)" if longest == len("2020-12-31") else sql.moment(trimmed)
        return cell


class Alike(NamedTuple):
    """Distinct values of a column of which the same is true."""

    missing: bool
    finite: bool
    odd: bool  # NaN or an infinity
    padded: bool | None
    dated: bool
    rows: int
    held: int  # how many values
    first: int  # row of one of them
    digits: int | None  # of the longest that is a whole number


def facts_of(kind: str, told: Sequence[Alike]) -> ColumnFacts:
    """Facts about a column from all its values."""

    def first(of: Iterable[Alike]) -> int | None:
        return min((one.first for one in of), default=None)

    present = [one for one in told if not one.missing]
    return ColumnFacts(
        kind,
        rows=sum(one.rows for one in told),
        nulls=sum(one.rows for one in told if one.missing),
        distinct=sum(one.held for one in present),
        numbers=sum(one.rows for one in told if one.finite),
        first_other=first(one for one in present if not one.finite),
        not_finite=first(one for one in told if one.odd),
        zero_padded=sum(one.rows for one in told if one.padded),
        dates=sum(one.rows for one in told if one.dated),
        first_not_date=first(one for one in present if not one.dated),
        longest=max((one.digits or 0 for one in told), default=0),
    )


def as_array(found: Any, name: str, kind: Any) -> NDArray[Any]:
    """A column of an Arrow table as an array."""
    return np.asarray(found[name].to_numpy(), kind)


def stacked(found: Any, axes: int) -> NDArray[np.int32]:
    """Code columns as one matrix."""
    return np.ascontiguousarray(np.stack([as_array(found, f"q{j}", np.int32) for j in range(axes)], axis=1))


def renamed(stream: Any, names: Sequence[str]) -> Any:
    """The columns of a stream under other names."""
    schema = pa.schema([field.with_name(name) for field, name in zip(stream.schema, names, strict=True)])
    return pa.RecordBatchReader.from_batches(schema, (pa.record_batch(b.columns, schema=schema) for b in stream))

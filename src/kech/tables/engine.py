"""Engine: every query on the rows of one table.  Rows stay in the backend; counts, codes and labels come out.

In: a `Backend` that stores the rows: DuckDB, PostgreSQL or Spark.  Out: facts of columns, values, points, a release.
`sql.py` writes the queries, and a backend runs them.  Facts decide whether a column is read as numbers, dates or text;
a doubtful column is refused with the number of a row.
"""

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from shlex import quote
from typing import Any, NamedTuple, Protocol
from unicodedata import normalize

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech.errors import BadValue, InputError, TooManyPoints
from kech.request.parts import MOST_FOLDED
from kech.system.memory import ENGINE_POINT_BYTES
from kech.tables import sql
from kech.tables.batches import (
    CodedValues,
    EqualRows,
    Output,
    RowAssigner,
    assign_classes,
    code_values,
    divide_shares,
    shared_points,
)
from kech.tables.source import Address
from kech.tables.sql import MOST_DIGITS, CodedRows, ColumnCodes, ColumnType, Dialect, Layout, PackedCodes

MOSTLY = 0.9  # share of numbers or dates from which a column of text is read as these
COLUMNS_PER_QUERY = 16  # that are described together
LONGEST_FLOAT = 24  # characters of the longest exact double
MOST_SHORT = 1 << 31  # numbers that fit an INTEGER
ASSIGNING = "assigning rows to classes"
LEAVING = "leaving rows out"
MOST_HERE = 1_000_000  # rows chosen among those on workers that are worked on here
CHOOSING = "choosing rows"


class Backend(Protocol):
    """The database with the rows: one connection, a table `kept` of the rows, and tables derived from it.

    `doing` names the work in refusals, since the message of a database could quote cells.
    """

    columns: dict[int, ColumnType]

    @property
    def dialect(self) -> Dialect:
        """The SQL of this backend, where it differs from others."""

    @property
    def reads(self) -> Sequence[str]:
        """Formats of sources that it reads itself; from other sources it loads record batches."""

    @property
    def piece(self) -> int:
        """Rows of a batch at most."""

    @property
    def on_workers(self) -> bool:
        """Whether its workers add the labels to the rows."""

    def load_arrow(self, batches: Any, selected: Sequence[int], nulls: Sequence[str], path: object) -> None:
        """Read a stream of record batches; `nulls` are texts that mean NULL."""

    def load_table(self, address: Address, names: Sequence[str], selected: Sequence[int], nulls: Sequence[str]) -> None:
        """Read a table of a database."""

    def create(self, name: str, query: str, doing: str) -> None:
        """Create a table from the rows of a query."""

    def define(self, name: str, query: str, doing: str) -> None:
        """Create a view of a query."""

    def drop(self, name: str, kind: str) -> None:
        """Drop a TABLE or VIEW if it exists."""

    def put(self, name: str, table: Any, doing: str) -> None:
        """Make an Arrow table available to the next query, in place of an earlier one of this name."""

    def broadcast_small(self, name: str, rows: int) -> None:
        """Copy a table to every worker if it has few rows; a backend without workers does nothing."""

    def overwrite(self, column: int, value: str, where: str) -> None:
        """Replace the value of a column in the loaded rows that meet a condition."""

    def read(self, query: str, doing: str) -> Any:
        """The rows of a query as an Arrow table."""

    def rows(self, query: str, doing: str) -> list[tuple[Any, ...]]:
        """The few rows of a query."""

    def shuffle(self, query: str, row: str, rows: int) -> Any:
        """The rows of a query in a secret random order; `row` is an expression that identifies a row."""

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """A hash of the whole source, or of the batches, independent of the order of rows and columns."""

    def close(self) -> None:
        """Delete all rows."""


@dataclass(frozen=True, slots=True)
class Division:
    """The groups of rows that are divided among classes: points, or equal rows of points that classes share.

    `cells`, `joins` and `number` are the SQL with which a query finds the number of a row's group.
    """

    shares: Mapping[str, NDArray[np.int64]]
    weights: NDArray[np.int64]
    cells: str = ""  # columns of `kept` that the joins need
    joins: str = ""
    number: str = "points.point"

    @property
    def type(self) -> str:
        """The SQL type of a group's number."""
        return "INTEGER" if len(self.weights) < MOST_SHORT else "BIGINT"


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """Counts and row numbers (from 1) about a column; it contains no cell."""

    type: str  # text, number, date or other
    rows: int
    nulls: int
    blank: int  # rows with empty text
    distinct: int  # without NULL
    numbers: int  # rows that read as a finite number
    first_other: int | None  # first row that is neither NULL nor a finite number
    not_finite: int | None  # first row with NaN or an infinity
    zero_padded: int  # rows such as 02138
    dates: int
    first_not_date: int | None
    longest: int  # digits or characters of the longest value


class HashedValues(NamedTuple):
    """Distinct values of a column, all or a sample, as text and as hashes of their comparable form; PRIVATE."""

    texts: list[str]
    hashes: NDArray[np.uint64]
    rows: NDArray[np.int64]
    depth: int  # number of zero bits at the start of each hash
    distinct: int  # distinct values of the whole column
    present: int  # rows with a value


class ValueGroup(NamedTuple):
    """Distinct values of a column with equal properties, counted."""

    missing: bool
    blank: bool  # empty text
    finite: bool  # a finite number
    odd: bool  # NaN or an infinity
    padded: bool | None  # a number with leading zeros
    dated: bool  # a date
    rows: int
    distinct: int
    first: int  # the first row with one of them
    digits: int | None  # of the longest whole number


class Engine:
    """One table and the tables derived from it; `without` returns further engines on the same backend."""

    def __init__(self, backend: Backend, prefix: str = "", whole: "Engine | None" = None) -> None:
        self.backend = backend
        self.layout = Layout(backend.dialect, backend.columns, prefix)
        self._whole = whole  # the engine of the whole table, where this one has some of its rows
        self._parent: Engine | None = None  # the engine whose rows the view `kept` of this one selects
        self._rests = 0
        self._created: dict[str, str] = {}  # name -> TABLE or VIEW, of this engine
        self._garbage: dict[str, str] = whole._garbage if whole else {}  # the same of deleted engines
        self._facts: dict[int, ColumnFacts] = {}
        self._counted: set[int] = set()  # columns with a table of distinct values in the backend
        self._present: dict[int, tuple[int, int]] = {}  # of each column: distinct values, and rows with a value
        self._loaded: dict[int, ColumnCodes] = {}  # columns with a table of codes in the backend
        self._grouped: Sequence[ColumnCodes] = ()  # the mappings of the table `points` in the backend
        self._weights = np.zeros(0, np.int64)  # rows of these points

    def close(self) -> None:
        """Delete all rows; those of engines from `without` are deleted together with the whole table."""
        if self._whole is None:
            self.backend.close()

    def fingerprint(self, columns: Sequence[str], batches: Any = None) -> tuple[int, ...]:
        """A hash of the whole source, or of the batches, independent of the order of rows and columns."""
        return self.backend.fingerprint(columns, batches)

    def _make(self, name: str, query: str, doing: str) -> None:
        self.backend.create(self._claim(name, "TABLE"), query, doing)

    def _claim(self, name: str, kind: str) -> str:
        """The full name of a table or view of this engine; an earlier one and those of deleted engines are dropped."""
        while self._garbage:
            self.backend.drop(*self._garbage.popitem())  # the last created first
        full = self.layout.name(name)
        if full in self._created:
            self.backend.drop(full, kind)
        self._created[full] = kind
        return full

    # -- columns ---------------------------------------------------------------------------------------------

    def fold_texts(self) -> None:
        """Replace each text of a category by its normalized spelling."""
        for column in (i for i, stored in self.layout.columns.items() if stored.kind == "text"):
            records = self.backend.rows(sql.first_distinct_texts(self.layout, column, MOST_FOLDED), "reading the table")
            texts = {text: normalize_spelling(text) for (text,) in records if isinstance(text, str)}
            changed = {text: folded for text, folded in texts.items() if folded != text}
            if changed and len(records) <= MOST_FOLDED:
                self.backend.overwrite(column, *sql.replacement_of_texts(self.layout, column, changed))

    def rewrite(self, *, decimal: str | None, dates: str | None, fold: bool = False) -> None:
        """Rewrite numbers with decimal commas, and dates that begin with the day or the month, to the usual form.

        Only columns of text that contain almost nothing else are rewritten; other cells in them stay unchanged.
        With `fold`, texts of categories get one spelling.
        """
        for column in (i for i, stored in self.layout.columns.items() if stored.kind == "text"):
            if decimal == ",":
                self._rewrite(column, sql.COMMA_NUMBER, sql.NUMBER, self.layout.dialect.point_number)
            if dates in ("dmy", "mdy"):
                foreign = sql.DAY_FIRST if dates == "dmy" else sql.MONTH_FIRST
                turn = partial(self.layout.dialect.year_first, day_first=dates == "dmy")
                self._rewrite(column, foreign, sql.DATE, turn)
        if fold:
            self.fold_texts()

    def _rewrite(self, column: int, foreign: str, own: str, turn: Callable[[str], str]) -> None:
        query = sql.count_matching_cells(self.layout, column, f"({foreign})|({own})")
        ((fitting, present),) = self.backend.rows(query, "reading the table")
        if fitting >= MOSTLY * present > 0:
            text = f"trim({self.layout.text(column, f'c{column}')})"
            self.backend.overwrite(column, turn(text), self.layout.dialect.matches(text, foreign))

    def describe(self, column: int, beside: Sequence[int] = ()) -> ColumnFacts:
        """Facts about one column, from its distinct values; the first query also describes columns of `beside`."""
        if column not in self._facts:
            unknown = [i for i in dict.fromkeys((column, *beside)) if i not in self._facts][:COLUMNS_PER_QUERY]
            for i in unknown:
                self._count(i)
            records = self.backend.rows(sql.grouped_values(self.layout, unknown), "describing columns")
            for i in unknown:
                alike = [ValueGroup(*facts) for at, *facts in records if at == i]
                self._facts[i] = summarize_groups(self.layout.columns[i].kind, alike)
        return self._facts[column]

    def count_values(self, column: int, kind: str) -> tuple[Any, NDArray[np.int64]]:
        """The distinct values of a column, read as `kind`, without NULL, and their rows; numbers and dates ascend."""
        self._count(column)
        counts = self.backend.read(sql.read_values(self.layout, column, kind), "counting values")
        values = counts["x"].to_pylist() if kind == "text" else as_array(counts, "x", np.float64)
        return values, as_array(counts, "n", np.int64)

    def text_bytes(self, column: int) -> int:
        """Bytes of all distinct values of a column as text."""
        self._count(column)
        ((size,),) = self.backend.rows(sql.text_bytes(self.layout, column), "counting values")
        return int(size)

    def count_present(self, column: int) -> tuple[int, int]:
        """The number of distinct values of a column, and of rows with a value; empty text is no value."""
        if column not in self._present:
            self._count(column)
            ((distinct, rows),) = self.backend.rows(sql.present_values(self.layout, column), "comparing tables")
            self._present[column] = int(distinct), int(rows)
        return self._present[column]

    def hash_values(self, column: int, depth: int) -> HashedValues:
        """The distinct values whose hash begins with `depth` zero bits; the query contains no key."""
        distinct, present = self.count_present(column)
        table = self.backend.read(sql.hashed_values(self.layout, column, depth), "comparing tables")
        hashes = np.asarray(table["h"].cast(pa.string()).cast(pa.uint64()).to_numpy(), np.uint64)
        return HashedValues(table["x"].to_pylist(), hashes, as_array(table, "n", np.int64), depth, distinct, present)

    def count_together(self, columns: Sequence[int]) -> tuple[int, int]:
        """The number of distinct combinations in these columns, and of rows with a value in any; '' is no value."""
        return self.count_repeats(columns)[:2]

    def count_repeats(self, columns: Sequence[int], *, folded: bool = False) -> tuple[int, int, int]:
        """Numbers of distinct combinations, rows with a value, rows of the commonest; folded: 1.0 is 1, A is a."""
        ((distinct, rows, most),) = self.backend.rows(sql.combinations(self.layout, columns, folded), "counting values")
        return int(distinct), int(rows), int(most)

    def count_with(self, column: int, others: Sequence[int], *, folded: bool = False) -> int:
        """The number of distinct combinations of a column and others, in the rows with a value in the column."""
        sought = sql.combinations(self.layout, [column, *others], folded, by_first=True)
        ((distinct, _, _),) = self.backend.rows(sought, "counting values")
        return int(distinct)

    def count_by_value(self, column: int, by: int) -> list[tuple[int, int]]:
        """For each value of the second column its rows, and those with a value in the first; '' is no value."""
        records = self.backend.rows(sql.rows_by_value(self.layout, column, by), "counting values")
        return [(int(rows), int(present)) for rows, present in records]

    def count_nearly_empty(self, columns: Sequence[int], most: int) -> tuple[int, int]:
        """Rows with a value in so many of these columns at most, and the number of the last one, from 1; '' is none."""
        ((rows, last),) = self.backend.rows(sql.rows_with_few_cells(self.layout, columns, most), "counting values")
        return int(rows), int(last)

    def head(self, columns: Sequence[int], rows: int) -> list[list[str | None]]:
        """The first rows as text; PRIVATE."""
        table = self.backend.read(sql.first_rows(self.layout, columns, rows), "reading the table")
        return [list(row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]

    def read_texts(self, columns: Sequence[int]) -> Any:
        """All rows as an Arrow table: their numbers r, then these columns as text.

        Where the backend stores a column as words, it is dictionary-encoded.
        """
        rows = self.backend.read(sql.all_rows(self.layout, columns), "reading the table")
        for index, column in enumerate(columns, 1):
            if self.layout.columns[column].in_words:
                words = self.backend.read(sql.all_words(column), "reading the table").column(0).combine_chunks()
                coded = pa.DictionaryArray.from_arrays(rows.column(index).combine_chunks(), words)
                rows = rows.set_column(index, rows.field(index).name, coded)
        return rows

    def _count(self, column: int) -> None:
        if column not in self._counted:
            self._make(f"v{column}", sql.distinct_values(self.layout, column), "counting values")
            self._counted.add(column)

    # -- points ------------------------------------------------------------------------------------------------

    def group(
        self, mappings: Sequence[ColumnCodes], most: int | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The distinct code tuples, ascending, and their rows; refused where there are more than `most`."""
        self._grouped = ()  # the table `points` is about to change
        coded, points = self._code(mappings), self.layout.name("points")
        self._make("points", coded.points(), "grouping rows")
        if most is not None and self.describe(mappings[0].column).rows > most:
            ((count,),) = self.backend.rows(f"SELECT count(*) FROM {points}", "grouping rows")
            if count > most:
                raise TooManyPoints(count, most, count * ENGINE_POINT_BYTES)
        keys = ", ".join(coded.packing.names)
        table = self.backend.read(f"SELECT {keys}, n FROM {points} ORDER BY point", "grouping rows")
        self._grouped, self._weights = mappings, as_array(table, "n", np.int64)
        self.backend.broadcast_small(points, len(self._weights))
        return coded.packing.unpack(table), self._weights

    def code_all(self, mappings: Sequence[ColumnCodes]) -> NDArray[np.int32]:
        """Codes of every row, in any order."""
        coded = self._code(mappings)
        query = f"SELECT {', '.join(coded.packing.names)} FROM ({coded.select()}) AS coded"
        return coded.packing.unpack(self.backend.read(query, "counting values"))

    def code_rows(self, mappings: Sequence[ColumnCodes], every: int = 1) -> NDArray[np.int32]:
        """The codes of each `every`-th row, in the order of the table."""
        coded = self._code(mappings)
        query = f"{coded.select()} WHERE kept.r % {int(every)} = 0 ORDER BY kept.r"
        return coded.packing.unpack(self.backend.read(query, "coding rows"))

    def without(self, mappings: Sequence[ColumnCodes], points: NDArray[np.int64]) -> "Engine":
        """A new engine with the rows of all other points; this one stays unchanged."""
        coded = self._find_points(mappings)
        self.backend.put("gone", pa.table({"point": points}), LEAVING)
        return self._leave_out(f"SELECT coded.r FROM {coded.with_points()} JOIN gone ON gone.point = points.point")

    def shorten(
        self, mappings: Sequence[ColumnCodes], kept: NDArray[np.int64], columns: Sequence[int], key: bytes
    ) -> "Engine":
        """A new engine with `kept` rows of each point, chosen by a hash of these columns under the key."""
        coded, taken = self._find_points(mappings), np.flatnonzero(kept)
        shares = {"point": taken, "class": np.zeros_like(taken), "first": np.ones_like(taken), "last": kept[taken]}
        split = self._split(coded, shares, columns, key)
        stays = np.bincount(split.shares["point"], split.shares["last"], len(split.weights)).astype(np.int64)
        gone = np.flatnonzero(stays < split.weights)
        self.backend.put("gone", pa.table({"point": gone, "kept": stays[gone]}), LEAVING)
        rows = f"{coded.with_points(split.cells)} {split.joins} JOIN gone ON gone.point = {split.number}"
        return self._leave_out(sql.surplus_rows(rows))

    def choose(self, numbers: NDArray[np.int64], start: Callable[[], Any]) -> "Engine":
        """A new engine with a copy of the rows with these numbers.

        Few rows leave their workers for a new backend: a query of Spark takes as long for a hundred rows as for many.
        """
        self.backend.put("chosen", pa.table({"r": numbers}), CHOOSING)
        if self.backend.on_workers and len(numbers) <= MOST_HERE:
            here = start()
            rows = self.backend.read(f"{sql.chosen_rows(self.layout)} ORDER BY kept.r", CHOOSING)
            here.load_arrow(spread_columns(rows), sorted(self.layout.columns), (), CHOOSING)
            return Engine(here)
        some = self._branch()
        some._make("kept", sql.chosen_rows(self.layout), CHOOSING)
        return some

    def _leave_out(self, rows: str) -> "Engine":
        """A new engine with all rows but those of a query."""
        rest = self._branch()
        rest._make("left_out", rows, LEAVING)
        self.backend.define(rest._claim("kept", "VIEW"), sql.rows_not_left_out(self.layout, rest.layout), LEAVING)
        return rest

    def _branch(self) -> "Engine":
        """A new engine on the same backend, without rows."""
        whole = self._whole or self
        whole._rests += 1
        rest = Engine(self.backend, f"rest{whole._rests}_", whole)
        rest._parent = self
        weakref.finalize(rest, self._garbage.update, rest._created)  # dropped later: a query may be running
        return rest

    def _find_points(self, mappings: Sequence[ColumnCodes]) -> CodedRows:
        """The coded rows, after creating the table `points` where it has other mappings."""
        if self._grouped is not mappings:
            self.group(mappings)
        return self._code(mappings)

    def _code(self, mappings: Sequence[ColumnCodes]) -> CodedRows:
        """The coded rows, after creating the tables with the code of each value."""
        packing = PackedCodes(mappings)
        for mapping in mappings:
            if self._loaded.get(mapping.column) is not mapping:
                self._load(mapping)
        as_values = [m.column for m in mappings if not self.layout.columns[m.column].in_words]
        return CodedRows(self.layout, mappings, packing, {i for i in as_values if self._has_nulls(i)})

    def _has_nulls(self, column: int) -> bool:
        if column in self._facts:
            return self._facts[column].nulls > 0
        self._count(column)
        return bool(self.backend.rows(sql.missing_value(self.layout, column), "coding rows"))

    def _load(self, mapping: ColumnCodes) -> None:
        column, kind = mapping.column, pa.string() if mapping.kind == "text" else pa.float64()
        if not self.layout.columns[column].in_words:
            self._count(column)
        self._loaded.pop(column, None)
        codes = pa.array(mapping.codes.astype(np.int64))
        self.backend.put("mapping", pa.table({"x": pa.array(mapping.values, kind), "code": codes}), "loading codes")
        self._make(f"m{column}", sql.codes_of_values(self.layout, mapping), "loading codes")
        self.backend.broadcast_small(self.layout.name(f"m{column}"), len(mapping.values))
        self._loaded[column] = mapping

    # -- a release -----------------------------------------------------------------------------------------------

    def publish(
        self,
        mappings: Sequence[ColumnCodes],
        shares: Mapping[str, NDArray[np.int64]],
        outputs: Sequence[Output],
        *,
        for_csv: bool,
        key: bytes | None = None,
    ) -> Any:
        """A stream of record batches: the published rows in a secret random order.  Texts may be dictionary-encoded.

        Rows of a point that several classes share are divided by a hash of their published cells under the key;
        without a key, at random.
        """
        coded = self._find_points(mappings)
        columns = list(dict.fromkeys(o.source for o in outputs if o.source is not None and not o.private))
        split = self._split(coded, shares, columns, key)
        publish = self._publish_on_workers if self.backend.on_workers else self._publish_here
        return publish(coded, split, outputs, for_csv)

    def _publish_here(self, coded: CodedRows, split: Division, outputs: Sequence[Output], for_csv: bool) -> Any:
        """Read point and cells of each row in a secret order, then add classes and labels in Python.

        To keep rows narrow, cells of the outputs in `lists` are numbers, which are replaced by listed values here.
        Where several classes share equal rows, or some of them are suppressed, each row is drawn at random.
        """
        lists = self._list_labels(outputs, for_csv) | self._list_words(outputs, for_csv)
        source_of = {i: o.source for i, o in enumerate(outputs) if o.source is not None}
        cells = {
            f"o{i}": f"kept.{self.layout.key(source)}"
            if i in lists or (outputs[i].private and sql.is_whole(self.layout.columns[source]))
            else self._publish_cell(outputs[i], for_csv)
            for i, source in source_of.items()
        }
        also = "".join(f", {cell} AS {name}" for name, cell in cells.items()) + split.cells
        rows = coded.with_points(also, [source for i, source in source_of.items() if i not in lists])
        columns = "".join(f", o{i} AS {self.layout.dialect.quote(outputs[i].name)}" for i in source_of)
        query = f"SELECT CAST({split.number} AS {split.type}) AS point{columns} FROM {rows} {split.joins}"
        stream = self.backend.shuffle(query, "coded.r", int(self._weights.sum()))  # refusals name columns of the table
        assigner = RowAssigner(split.shares, split.weights)
        return assign_classes(rename_columns(stream, ["point", *cells]), assigner, outputs, lists, self.backend.piece)

    def _publish_on_workers(self, coded: CodedRows, split: Division, outputs: Sequence[Output], for_csv: bool) -> Any:
        """Let the workers add the labels of its class to each row.

        Equal rows that several classes share, or of which some are suppressed, are divided in one secret order, and
        the table is written in another.  So the position of a row in the file does not reveal its class.  Rows in no
        share are not published.
        """
        self._put_shares(split, outputs)
        quote = self.layout.dialect.quote
        cells = {f"o{j}": self._publish_cell(o, for_csv) for j, o in enumerate(outputs) if o.source is not None}
        names = {f"l{j}" if o.source is None else f"o{j}": quote(o.name) for j, o in enumerate(outputs)}
        rows = coded.with_points("".join(f", {cell} AS {o}" for o, cell in cells.items()) + split.cells)
        query = sql.labelled_rows(self.layout, f"{rows} {split.joins}", split.number, names, for_csv)
        return self.backend.shuffle(query, "taken.r", int(self._weights.sum()))

    def _put_shares(self, split: Division, outputs: Sequence[Output]) -> None:
        labels = {f"l{j}": pa.array(o.labels, pa.string()) for j, o in enumerate(outputs) if o.source is None}
        classes, taken = len(next(iter(labels.values()))), np.unique(split.shares["point"])
        divided = np.isin(taken, shared_points(split.shares, split.weights))
        tables = {
            "shares": dict(split.shares),
            "labels": {"class": np.arange(classes), **labels},
            "takers": {"point": taken, "split": divided},
        }
        for name, cells in tables.items():
            self.backend.put(self._claim(name, "TABLE"), pa.table(cells), "loading labels")

    def _split(
        self, coded: CodedRows, shares: Mapping[str, NDArray[np.int64]], columns: Sequence[int], key: bytes | None
    ) -> Division:
        """The division of rows among classes: points, and for points that classes share, their groups of equal rows.

        Groups are divided by hashes under the key, so that equal tables give equal divisions in any order, format and
        backend.  Without a key only points are used.
        """
        points = shared_points(shares, self._weights)
        if key is None or not columns or not len(points):
            return Division(shares, self._weights)
        self.backend.put("shared", pa.table({"point": points}), ASSIGNING)
        self._make("shared_points", "SELECT point FROM shared", ASSIGNING)
        self._make("equal_rows", sql.equal_rows(coded, columns), ASSIGNING)
        table = self.backend.read(sql.equal_row_hashes(self.layout, columns), ASSIGNING)
        hashes, letters = (table[name].to_pylist() for name in ("hash", "letters"))
        equal_rows = EqualRows(as_array(table, "point", np.int64), as_array(table, "n", np.int64), hashes, letters)
        number = f"coalesce(equal_rows.g + {len(self._weights)}, points.point)"
        cells, joins = sql.equal_row_cells(self.layout, columns), sql.equal_row_joins(self.layout, columns)
        return Division(*divide_shares(shares, self._weights, equal_rows, key), cells, joins, number)

    def _list_labels(self, outputs: Sequence[Output], for_csv: bool) -> dict[int, CodedValues]:
        """For each output of labels, the distinct labels as they are published and the label of each class."""
        lists = {i: code_values(pa.array(o.labels, pa.string())) for i, o in enumerate(outputs) if o.source is None}
        if for_csv and lists:
            texts = pa.chunked_array([labels_of_output.values for labels_of_output in lists.values()])
            self.backend.put("labels", pa.table({"i": np.arange(len(texts)), "l": texts}), "loading labels")
            query = f"SELECT {self.layout.dialect.guard_formula('l')} AS x FROM labels ORDER BY i"
            written, start = self.backend.read(query, "loading labels")["x"].cast(pa.string()), 0
            for i, labels_of_output in lists.items():
                lists[i] = replace(
                    labels_of_output, values=written.slice(start, len(labels_of_output.values)).combine_chunks()
                )
                start += len(labels_of_output.values)
        return {i: replace(labels_of_output, labels=True) for i, labels_of_output in lists.items()}

    def _list_words(self, outputs: Sequence[Output], for_csv: bool) -> dict[int, CodedValues]:
        """For each output of a column that is stored as words, its texts as they are published."""
        lists = {}
        for i, output in enumerate(outputs):
            if output.source is not None and self.layout.columns[output.source].in_words:
                words = f"{sql.held_words(self.layout, output.source)} AS kept ORDER BY k{output.source}"
                query = f"SELECT {self._publish_cell(output, for_csv)} AS x FROM {words}"
                lists[i] = code_values(self.backend.read(query, "publishing")["x"].combine_chunks())
        return lists

    def _publish_cell(self, output: Output, for_csv: bool) -> str:
        """The SQL of a published cell of the source; a column of text with numbers or dates only gets their type."""
        cell = sql.published_cell(self.layout, output, for_csv)
        is_text = output.source is not None and self.layout.columns[output.source].kind == "text"
        if output.source is None or not is_text or not output.typed or output.private or for_csv:
            return cell
        return self._type_cell(cell, output.source)

    def _type_cell(self, cell: str, column: int) -> str:
        """The SQL that turns text into numbers or dates, if that is exact for the whole column; otherwise the cell."""
        facts, dialect = self.describe(column), self.layout.dialect
        ((whole, longest),) = self.backend.rows(sql.text_lengths(self.layout, column), "publishing")
        present = facts.rows - facts.nulls
        exact = not facts.zero_padded and facts.longest <= MOST_DIGITS and longest <= LONGEST_FLOAT
        trimmed = f"trim({cell})"
        if present and facts.numbers == present and exact:
            return f"CAST({trimmed} AS BIGINT)" if whole else dialect.number(trimmed)
        if present and facts.dates == present:
            return f"CAST({trimmed} AS DATE)" if longest == len("2020-12-31") else dialect.moment(trimmed)
        return cell


def normalize_spelling(text: str) -> str:
    """A text in small letters, with one space between words and none around, as --fold-variants publishes it.

    Comparisons use `axes.spelling.fold`, which ignores more differences.

    >>> normalize_spelling(" Never  Married ")
    'never married'
    """
    return " ".join(normalize("NFKC", text).casefold().split())


def as_array(table: Any, name: str, kind: Any) -> NDArray[Any]:
    """A column of an Arrow table as an array."""
    return np.asarray(table[name].to_numpy(), kind)


def spread_columns(rows: Any) -> Any:
    """A stream of rows whose column c<i> is at position i, as in the source; others are empty."""
    at = {int(name[1:]): name for name in rows.column_names if name != "r"}
    empty = pa.nulls(rows.num_rows)
    cells = {at.get(i, f"none{i}"): rows[at[i]] if i in at else empty for i in range(1 + max(at))}
    return pa.table(cells).to_reader()


def rename_columns(stream: Any, names: Sequence[str]) -> Any:
    """The same stream with other names of its columns."""
    schema = pa.schema([field.with_name(name) for field, name in zip(stream.schema, names, strict=True)])
    return pa.RecordBatchReader.from_batches(schema, (pa.record_batch(b.columns, schema=schema) for b in stream))


# -- facts of a column, and how it is read --------------------------------------------------------------


def summarize_groups(kind: str, groups: Sequence[ValueGroup]) -> ColumnFacts:
    """The facts about a column, from the groups of all its values."""

    def first(of: Iterable[ValueGroup]) -> int | None:
        return min((one.first for one in of), default=None)

    present = [one for one in groups if not one.missing]
    return ColumnFacts(
        kind,
        rows=sum(one.rows for one in groups),
        nulls=sum(one.rows for one in groups if one.missing),
        blank=sum(one.rows for one in groups if one.blank),
        distinct=sum(one.distinct for one in present),
        numbers=sum(one.rows for one in groups if one.finite),
        first_other=first(one for one in present if not one.finite),
        not_finite=first(one for one in groups if one.odd),
        zero_padded=sum(one.rows for one in groups if one.padded),
        dates=sum(one.rows for one in groups if one.dated),
        first_not_date=first(one for one in present if not one.dated),
        longest=max((one.digits or 0 for one in groups), default=0),
    )


def check_kind(column: str, facts: ColumnFacts, kind: str) -> str:
    """The kind that the user chose; refused where a value cannot be read so."""
    present = facts.rows - facts.nulls
    if kind == "number":
        check_finite(column, facts)
        if facts.numbers < present:
            hint = "Correct it, name the texts that mean missing (--null-values), or the decimal mark (--decimal)."
            raise BadValue(
                column, facts.first_other or 1, f"this is not a number, but its axis is one of numbers. {hint}"
            )
        return "number"
    if kind == "date":
        if facts.dates < present:
            hint = "Correct it, name the texts that mean missing (--null-values), or the order of dates (--dates)."
            raise BadValue(
                column,
                facts.first_not_date or 1,
                f"this is no date such as 2020-12-31, but its axis is one of dates. {hint}",
            )
        return "date"
    return "text"


def guess_kind(column: str, facts: ColumnFacts) -> str:
    """The kind of a quasi-identifier: number or date where all values are; otherwise text, as codes such as 02138.

    A column with almost only numbers or dates is refused.
    """
    present = facts.rows - facts.nulls
    if facts.type == "other":
        raise InputError(f"Column {column!r} has lists, blobs or times of day as cells. Convert it to text first.")
    if facts.type == "number" or facts.numbers >= MOSTLY * present:
        check_finite(column, facts)
    if not present or is_code(facts):
        return "text"
    if facts.numbers >= MOSTLY * present:
        check_all(column, facts.numbers == present, facts.first_other, "numbers")
        return "number"
    if facts.dates >= MOSTLY * present:
        check_all(column, facts.dates == present, facts.first_not_date, "dates")
        return "date"
    return "text"


def plain_kind(facts: ColumnFacts) -> str:
    """The kind of a sensitive column: number or date where all values are, otherwise text; nothing is refused."""
    present = facts.rows - facts.nulls
    if not present or is_code(facts):
        return "text"
    return "number" if facts.numbers == present else "date" if facts.dates == present else "text"


def is_code(facts: ColumnFacts) -> bool:
    """Whether numbers are codes, not quantities: they have leading zeros, or are very long."""
    return not facts.dates and (facts.zero_padded > 0 or facts.longest > MOST_DIGITS)


def check_all(column: str, are_all: bool, row: int | None, words: str) -> None:
    """Refuse a column of which almost all values, but not this row, are numbers or dates."""
    if not are_all:
        ways = f"name the texts that mean missing (--null-values), or say --axis {quote(column)}=set."
        raise BadValue(column, row or 1, f"nearly all values are {words}, this one is not. Correct it, {ways}")


def check_finite(column: str, facts: ColumnFacts) -> None:
    """Refuse a column with NaN or an infinity, which no interval can contain."""
    if facts.not_finite is not None:
        hint = "Correct it; or, if it means missing, say --null-values NaN,inf,-inf."
        raise BadValue(column, facts.not_finite, f"NaN or an infinity cannot be generalized. {hint}")

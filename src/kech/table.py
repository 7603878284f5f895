"""Table: the only door for foreign data.  Names are checked here, roles are given here; rooms behind trust it.

In: a file or a dataframe, and the roles of its columns.  Out: a `Table`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import narwhals as nw
import pyarrow as pa

from kech.engines import ColumnFacts, Engine
from kech.engines.duckdb import DuckDBEngine
from kech.errors import BadColumns, BadOption, BadValue, ColumnInTwoRoles, InputError, NoSuchColumn
from kech.sources import Source, arrow_batches, check_columns, excel_batches, open_source

ROLES = ("quasi_identifiers", "sensitive", "identifiers", "keep")
MOSTLY = 0.9  # a column of text with this share of numbers was meant to hold numbers


class ArrowStream(Protocol):
    """Anything that hands out Arrow data."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@dataclass(frozen=True, slots=True)
class AxisChoice:
    """How a user wants a column to be generalized; None leaves it to kech."""

    kind: str | None = None  # numeric, date, ordinal, categorical
    order: tuple[str, ...] = ()
    grid: str | float | None = None


@dataclass(frozen=True)
class Table:
    """Rows in an engine, and what each column is for."""

    engine: Engine
    source: Source
    columns: tuple[str, ...]
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    hierarchies: Any = None
    axes: Mapping[str, AxisChoice] = field(default_factory=dict)
    null_values: tuple[str, ...] = ()
    native: Any = None  # the caller's dataframe library, for the way back

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.facts(self.loaded[0]).rows

    @property
    def loaded(self) -> tuple[str, ...]:
        """The columns that were read: all, or only those with a role."""
        named = {name for role in ROLES for name in getattr(self, role) if role != "identifiers"}
        return tuple(name for name in self.columns if not self.quasi_identifiers or name in named)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Columns that no release contains."""
        published = {*self.quasi_identifiers, *self.sensitive, *self.keep}
        return tuple(name for name in self.columns if name not in published)

    def index(self, column: str) -> int:
        """Position of a column in the source."""
        return self.columns.index(column)

    def facts(self, column: str) -> ColumnFacts:
        """What the engine knows about a column."""
        return self.engine.describe(self.index(column))

    def kind(self, column: str) -> str:
        """How a quasi-identifier is read: number, date or text; a doubtful column is refused with the row."""
        wish = self.axes.get(column, AxisChoice()).kind
        return asked_kind(column, self.facts(column), wish) if wish else guessed_kind(column, self.facts(column))

    def close(self) -> None:
        """Forget the rows."""
        self.engine.close()

    def __enter__(self) -> "Table":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_table(
    source: str | PathLike[str] | ArrowStream,
    *,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    keep: Sequence[str] = (),
    hierarchies: Any = None,
    axes: Mapping[str, AxisChoice | str | Sequence[str]] | None = None,
    null_values: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    memory: str | None = None,
    threads: int | None = None,
) -> Table:
    """Read a CSV, Parquet, Arrow or Excel file, or take a pandas, polars or pyarrow dataframe.

    Only columns with a role are read, once a quasi-identifier is named; without any, all are.
    """
    roles = {name: as_names(value) for name, value in zip(ROLES, (quasi_identifiers, sensitive, identifiers, keep), strict=True)}
    is_file = isinstance(source, str | PathLike)
    opened = open_source(Path(source), delimiter=delimiter, encoding=encoding) if is_file else open_frame(source)  # type: ignore[arg-type]
    choices = {name: as_choice(name, choice) for name, choice in (axes or {}).items()}
    check_roles(opened.columns, roles, choices)
    engine = DuckDBEngine(memory=check_memory(memory), threads=check_threads(threads))
    native = None if is_file else nw.get_native_namespace(nw.from_native(source, eager_or_interchange_only=False))  # type: ignore[call-overload]
    table = Table(
        engine, opened, opened.columns, **roles, hierarchies=hierarchies, axes=choices,
        null_values=tuple(null_values), native=native,
    )  # fmt: skip
    load(engine, opened, [opened.columns.index(name) for name in table.loaded], tuple(null_values), source)
    return table


def load(engine: DuckDBEngine, source: Source, wanted: Sequence[int], nulls: Sequence[str], given: Any) -> None:
    """Put the rows into the engine."""
    if source.format == "csv":
        dialect = {"delimiter": source.delimiter or ",", "encoding": source.encoding or "utf-8"}
        engine.load_csv(source.path, len(source.columns), wanted, nulls, dialect)
    elif source.format == "parquet":
        engine.load_parquet(source.path, source.columns, wanted, nulls)
    else:
        readers = {"arrow": arrow_batches, "excel": excel_batches}
        batches = readers[source.format](source.path) if source.format in readers else frame_batches(given)
        engine.load_arrow(batches, wanted, nulls, source.path)


def open_frame(frame: Any) -> Source:
    """Column names of a dataframe of any library."""
    try:
        names = nw.from_native(frame).collect_schema().names()
    except TypeError:
        raise InputError(f"A table is a file or a dataframe, not {type(frame).__name__}.") from None
    if not all(isinstance(name, str) for name in names):
        raise BadColumns("dataframe", "every column needs a name that is text. Rename them: df.columns = [...].")
    source = Source(Path("dataframe"), "frame", tuple(names))
    check_columns(source)
    return source


def frame_batches(frame: Any) -> Any:
    """A dataframe as record batches; a column of mixed types is refused by name."""
    held = nw.from_native(frame)
    collected = held.collect() if isinstance(held, nw.LazyFrame) else held
    try:
        return collected.to_arrow().to_reader()
    except (pa.ArrowException, TypeError):
        for name in collected.columns:
            try:
                collected.select(name).to_arrow()
            except (pa.ArrowException, TypeError):
                raise BadColumns("dataframe", f"column {name!r} mixes types. Convert it to one: astype(str).") from None
        raise


# -- checks at the door --------------------------------------------------------------------------------


def as_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """A role as a tuple of names, each once; a single name is welcome."""
    return tuple(dict.fromkeys((names,) if isinstance(names, str) else names))


def as_choice(column: str, choice: AxisChoice | str | Sequence[str]) -> AxisChoice:
    """An axis choice from its short forms: a kind, or the order of an ordinal column."""
    if isinstance(choice, str):
        choice = AxisChoice(kind=choice)
    elif not isinstance(choice, AxisChoice):
        choice = AxisChoice(kind="ordinal", order=tuple(choice))
    if choice.kind not in (None, "numeric", "date", "ordinal", "categorical"):
        raise BadOption("--axis", f"column {column!r} can be numeric, date, ordinal or categorical.")
    if (choice.kind == "ordinal") != bool(choice.order):
        raise BadOption("--axis", f"column {column!r}: an ordinal axis names its order, low to high: {column}=low<middle<high.")
    return choice


def check_roles(columns: Sequence[str], roles: Mapping[str, Sequence[str]], axes: Mapping[str, AxisChoice]) -> None:
    """Every named column exists and has one role."""
    held: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            if name not in columns:
                raise NoSuchColumn(name, columns)
            if name in held:
                raise ColumnInTwoRoles(name, held[name].replace("_", "-"), role.replace("_", "-"))
            held[name] = role
    for name in axes:
        if name not in columns:
            raise NoSuchColumn(name, columns)


def check_memory(memory: str | None) -> str | None:
    """A size such as 2GB."""
    import re

    if memory is not None and not re.fullmatch(r"\d+(\.\d+)?\s*([KMGT]i?B)", memory):
        raise BadOption("--memory", "write a size such as 512MB or 2GB.")
    return memory


def check_threads(threads: int | None) -> int | None:
    """At least one."""
    if threads is not None and threads < 1:
        raise BadOption("--threads", "give 1 or more.")
    return threads


def asked_kind(column: str, facts: ColumnFacts, wish: str) -> str:
    """The kind the user named, if every value can be read so."""
    present = facts.rows - facts.nulls
    if wish == "numeric":
        if facts.not_finite is not None:
            raise not_finite(column, facts.not_finite)
        if facts.numbers < present:
            raise BadValue(column, facts.first_other or 1, "it is not a number, and the column is declared numeric.")
        return "number"
    if wish == "date":
        if facts.dates < present:
            raise BadValue(column, facts.first_not_date or 1, "it is not a date (YYYY-MM-DD), and the column is declared a date.")
        return "date"
    return "text"


def guessed_kind(column: str, facts: ColumnFacts) -> str:
    """Numbers and dates when every value is one; codes such as 02138 and everything else are text."""
    present = facts.rows - facts.nulls
    if facts.type == "other":
        raise InputError(f"Column {column!r} holds lists, blobs or times of day; these cannot be generalized. Drop or convert it.")
    if facts.not_finite is not None and (facts.type == "number" or facts.numbers >= MOSTLY * present):
        raise not_finite(column, facts.not_finite)
    if not present or facts.zero_padded or facts.longest > 15 and facts.type == "text" and not facts.dates:
        return "text" if facts.type == "text" or not present else "number"
    for count, first, kind, word in (
        (facts.numbers, facts.first_other, "number", "numbers"),
        (facts.dates, facts.first_not_date, "date", "dates"),
    ):
        if count == present:
            return kind
        if count >= MOSTLY * present:
            hint = f"Mend it, name the text that means missing (--null-values), or keep the column as text (--axis {column}=categorical)."
            raise BadValue(column, first or 1, f"nearly all values are {word}, this one is not. {hint}")
    return "text"


def not_finite(column: str, row: int) -> BadValue:
    """NaN and infinities have no place on an axis."""
    return BadValue(column, row, "it is NaN or infinite. If that means missing: --null-values NaN,inf,-inf.")

"""Table: the only way in for foreign data.  Names are checked and roles given here; everything behind trusts it.

In: a file or a dataframe, and the roles of its columns.  Out: a `Table`.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from msgspec.structs import replace as replace_part
from numpy.typing import NDArray

from kech.errors import (
    BadOption,
    KechError,
    ManyValues,
    NoSuchColumn,
    TooLarge,
    UnreadableFile,
)
from kech.request import FIELDS, AxisChoice, Columns, Labels, Request
from kech.request.parts import DEFAULT_AXIS, ROLES, Reading
from kech.request.request import find_field
from kech.system.memory import BASE_BYTES, TEXT_BYTES, TEXT_COPIES, TEXT_SHARE, allowed_bytes, check_memory, limit_of
from kech.system.secret import OwnerSecret, open_secret
from kech.tables.csv_dialect import find_fault
from kech.tables.duckdb import DuckDB
from kech.tables.engine import Backend, ColumnFacts, Engine, HashedValues, check_kind, guess_kind, plain_kind
from kech.tables.formats import find_parts, measure_parquet
from kech.tables.frames import frame_batches, is_short, native_library, open_frame, wrap_frame
from kech.tables.person_names import names_people
from kech.tables.source import Address, Source, find_address, open_source, read_batches
from kech.tables.sql import Mapping1D

if TYPE_CHECKING:
    from kech.tables.repeats import Repeat

FEW_ROWS, FEW_BYTES = 10_000, 1 << 18  # of a small table; a thread of DuckDB takes 122,880 rows at a time
BLOWN_UP = 1000  # times its size on disk: no table of people repeats itself so much
FILES = ("csv", "parquet", "folder", "arrow", "excel")
TEXT_FILES = (".csv", ".tsv", ".txt")  # only they have a delimiter and an encoding


class ArrowStream(Protocol):
    """Anything that hands out Arrow data."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@dataclass(frozen=True, repr=False)
class Table:
    """Rows in an engine, and what each column is for."""

    engine: Engine
    source: Source
    request: Request  # as it was when the table was read; its columns and axes are those of the table
    native: ModuleType | None = None  # the caller's dataframe library, for the way back
    threads: int = 1
    frame: Any = None  # the dataframe it was read from
    kinds: Mapping[str, str] = field(default_factory=dict)  # how columns are read, where that is not found anew
    other_secret: OwnerSecret | None = None  # in place of the owner's: an attacker's, or that of the demo

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Columns that could point at a person."""
        return self.request.columns.quasi_identifiers

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Columns to protect."""
        return self.request.columns.sensitive

    @property
    def person(self) -> tuple[str, ...]:
        """Columns that tell people apart; none where every row is another person."""
        return self.request.columns.person

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Columns that name a person."""
        return self.request.columns.identifiers

    @property
    def keep(self) -> tuple[str, ...]:
        """Other columns to publish."""
        return self.request.columns.keep

    @property
    def row_key(self) -> tuple[str, ...]:
        """Columns that tell the rows of a series apart; none where whole rows are compared."""
        return self.request.series.key

    @property
    def hierarchies(self) -> Any:
        """Where hierarchies of columns are found."""
        return self.request.columns.hierarchies

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the source."""
        return self.source.columns

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.facts((*self.quasi_identifiers, *self.loaded)[0]).rows

    @property
    def allowed_bytes(self) -> int:
        """Bytes of memory that may be used."""
        return allowed_bytes(self.request.limits.memory)

    @property
    def limit(self) -> int | None:
        """The memory that the user allows, or None."""
        return limit_of(self.request.limits.memory)

    @property
    def is_limited(self) -> bool:
        """Whether somebody did."""
        return self.limit is not None

    @property
    def loaded(self) -> tuple[str, ...]:
        """The columns that were read: all, or only those with a role."""
        with_role = {*self.quasi_identifiers, *self.sensitive, *self.person, *self.keep, *self.row_key}
        return tuple(name for name in self.columns if not self.quasi_identifiers or name in with_role)

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns that were read only to count how often they repeat: identifiers, and what names people."""
        if self.request.columns.rows_are_people:
            return ()
        others = [name for name in self.columns if name not in self.loaded]
        return tuple(name for name in others if name in self.identifiers or (not self.person and names_people(name)))

    @cached_property
    def repeats(self) -> "tuple[Repeat, ...]":
        """Columns that seem to name people and repeat, though nobody said whose rows they are."""
        from kech.tables.repeats import find_repeats

        return find_repeats(self)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Columns that no release contains."""
        published = {*self.quasi_identifiers, *self.sensitive, *self.keep}
        return tuple(name for name in self.columns if name not in published)

    def index(self, column: str) -> int:
        """Position of a column in the source."""
        return self.columns.index(column)

    def choice(self, column: str) -> AxisChoice:
        """How the user wants a column to be generalized."""
        return self.request.axes.get(column, DEFAULT_AXIS)

    def resolve_request(self, request: Request | None, fields: Mapping[str, Any]) -> Request:
        """What is asked of this table: a request, or the one it was read with, but for the fields that are named."""
        check_is_request(request)
        for name in fields:
            decides = find_field(name).part not in ("goal", "cut", "labels", "series") or name == "key"
            if decides and name != "max_points":
                raise BadOption(FIELDS[name].option, "it decides how a table is read: say it to read_table.")
        merged, own = (request or self.request).override(**fields), self.request
        if merged.columns not in (Columns(), own.columns) or merged.axes not in ({}, own.axes):
            raise BadOption("request", "the table was read with other columns or axes: read_table(source, request).")
        merged.goal.check_sensitive(self.sensitive)
        series = replace_part(merged.series, key=own.series.key)
        return replace_part(merged, columns=own.columns, axes=own.axes, reading=own.reading, series=series)

    def labels_on(self, grid: str | float | None) -> Labels:
        """How labels are made: on a grid that is named, or as the request says."""
        return self.request.labels if grid is None else Labels(grid=grid)

    def facts(self, column: str) -> ColumnFacts:
        """What the engine knows about a column; columns with the roles that always matter are looked up together."""
        beside = (*self.quasi_identifiers, *self.sensitive, *self.keep)
        return self.engine.describe(self.index(column), [self.index(name) for name in beside if column in beside])

    def head(self, rows: int = 10) -> list[list[str | None]]:
        """The first rows of the loaded columns as text; PRIVATE."""
        return self.engine.head([self.index(name) for name in self.loaded], rows)

    def values(self, column: str, kind: str) -> tuple[Any, NDArray[np.int64]]:
        """Distinct values of a column and their rows; long texts are refused where memory cannot hold them."""
        if kind == "text" and self.is_limited:
            texts = self.facts(column).distinct
            need = TEXT_COPIES * (self.engine.text_bytes(self.index(column)) + TEXT_BYTES * texts)
            if need > max(self.allowed_bytes - BASE_BYTES, TEXT_SHARE * self.allowed_bytes):
                raise ManyValues(column, texts, BASE_BYTES + need, self.allowed_bytes)
        return self.engine.count_values(self.index(column), kind)

    def hash_values(self, column: str, depth: int) -> HashedValues:
        """Distinct values of a column as hashes that begin with so many zero bits; PRIVATE."""
        return self.engine.hash_values(self.index(column), depth)

    def text_codes(self, column: str) -> Mapping1D:
        """A column as text: each distinct cell has a code, and NULL the one behind them."""
        values, _ = self.values(column, "text")
        return Mapping1D(self.index(column), "text", values, np.arange(len(values), dtype=np.int32), len(values))

    def kind(self, column: str) -> str:
        """How a quasi-identifier is read: number, date or text; a doubtful column is refused with the row."""
        if column in self.kinds:
            return self.kinds[column]
        kind = self.choice(column).kind
        return check_kind(column, self.facts(column), kind) if kind else guess_kind(column, self.facts(column))

    def secret_kind(self, column: str) -> str:
        """How a sensitive column is read: number, date or text; a doubtful one is text."""
        kind = self.choice(column).kind
        return check_kind(column, self.facts(column), kind) if kind else plain_kind(self.facts(column))

    @cached_property
    def secret(self) -> OwnerSecret:
        """What labels of this table are drawn with: the owner's secret, or that of a key file."""
        return self.other_secret or open_secret(self.request.labels.key_file)

    @property
    def library(self) -> str | None:
        """The name of the caller's dataframe library."""
        return self.native.__name__ if self.native else None

    def without(self, mappings: Sequence[Mapping1D], points: NDArray[np.int64]) -> "Table":
        """The rows of all other points, each column read as it is here; it lives as long as this table."""
        kinds = {self.columns[mapping.column]: mapping.kind for mapping in mappings}
        return replace(self, engine=self.engine.without(mappings, points), kinds=kinds)

    def shorten(self, mappings: Sequence[Mapping1D], kept: NDArray[np.int64], key: bytes) -> "Table":
        """So many rows of each point; which ones, the key decides by what is published of them."""
        kinds = {self.columns[mapping.column]: mapping.kind for mapping in mappings}
        columns = [self.index(name) for name in (*self.quasi_identifiers, *self.sensitive, *self.keep)]
        return replace(self, engine=self.engine.shorten(mappings, kept, columns, key), kinds=kinds)

    def choose(self, numbers: NDArray[np.int64], axes: Mapping[str, AxisChoice]) -> "Table":
        """The rows with these numbers, generalized as these axes say; it lives as long as this table."""
        request = replace_part(self.request, axes={**self.request.axes, **axes})
        return replace(self, engine=self.engine.choose(numbers), request=request)

    def fingerprint(self) -> tuple[int, ...]:
        """A hash of the whole source, all its columns: the same for equal rows in any order."""
        if self.source.address and self.source.format == "duckdb":
            return self._fingerprint_of_file(self.source.address)
        again = not can_read(self.engine.backend, self.source)
        return self.engine.fingerprint(self.columns, stream_source(self.source, self.frame) if again else None)

    def _fingerprint_of_file(self, address: Address) -> tuple[int, ...]:
        """The fingerprint of a DuckDB file, by a backend of its own: that of the engine no longer reaches the file."""
        backend = DuckDB(memory=self.limit, threads=self.threads)
        try:
            backend.attach(address)
            return backend.fingerprint(self.columns)
        finally:
            backend.close()

    def reopen(self, columns: Sequence[str]) -> "Table":
        """The same source with these columns as quasi-identifiers, read in the same way."""
        return self.reread(quasi_identifiers=columns, sensitive=(), identifiers=(), keep=())

    def reread(self, **fields: Any) -> "Table":
        """The same source, read with some fields of the request said otherwise."""
        source = (self.source.address or self.source.path) if self.frame is None else self.frame.to_native()
        dialect = {"delimiter": self.source.delimiter, "encoding": self.source.encoding}
        return read_table(source, self.request, **{**dialect, **fields})

    def __repr__(self) -> str:
        try:
            rows = f"{self.rows:,} rows"
        except KechError:
            rows = "closed"
        return f"Table({rows}, {len(self.columns)} columns)"

    def _repr_html_(self) -> str | None:
        from kech.views.notebook import show_table

        try:
            return show_table(self)
        except KechError:  # it is closed: the text says so
            return None

    def close(self) -> None:
        """Forget the rows."""
        self.engine.close()

    def __enter__(self) -> "Table":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_table(
    source: str | PathLike[str] | Address | ArrowStream,
    request: Request | None = None,
    **fields: Any,
) -> Table:
    """Read a CSV, Parquet, Arrow or Excel file, a folder of Parquet files or a table of a database; or a dataframe.

    Columns, axes, reading and limits are those of a request, or fields of it by name: `quasi_identifiers=["age"]`.
    A table of a database is named by its address: `postgresql://user@host/base?table=schema.name` (its rows stay in
    the server), `duckdb:file.db#table`, or what Spark reaches: `spark://host:7077/path`, `s3a://bucket/path`.  With
    `engine="spark"` the rows of any file are on the workers of `master`.
    Text such as 1.234,5 is a number with `decimal=","`; 31.12.2020 is a date with `dates="dmy"`, 12/31/2020 with "mdy".
    Only columns with a role are read, once a quasi-identifier is named; without any, all are.  Columns that seem to
    name people are read to be counted, unless `person` says who they are or `rows_are_people` is true.
    Labels are drawn with the owner's secret, or with that of a `key_file` that a team shares (`kech.write_key_file`).
    """
    check_is_request(request)
    chosen_request = drop_dialect(request or Request(), source).override(**fields)
    reading, limits, frame = chosen_request.reading, chosen_request.limits, None
    workers, address = limits.threads or os.cpu_count() or 1, find_address(source)
    chosen = choose_engine(address, limits.engine, limits.master)
    start = partial(open_backend, chosen, address, memory=check_memory(limits.memory), master=limits.master)
    backend = start(threads=workers) if address and chosen == "spark" else None  # to look at the source, Spark starts
    try:
        if isinstance(source, str | PathLike | Address):
            opened = open_with_reading(source, reading)
        else:
            opened = open_frame(frame := wrap_frame(source))
        check_columns(opened.columns, chosen_request)
        check_key(chosen_request.labels.key_file)
        backend = backend or start(threads=limits.threads or (1 if is_small(chosen, opened, frame) else workers))
        native = None if frame is None else native_library(frame)
        table = Table(Engine(backend), opened, chosen_request, native=native, threads=workers, frame=frame)
        selected = sorted({*table.loaded, *table.counted}, key=table.index)
        if opened.format in ("parquet", "folder") and chosen == "duckdb":
            check_size(opened, selected, limits.memory)
        load(backend, opened, [table.index(name) for name in selected], reading.null_values, frame)
        table.engine.rewrite(decimal=reading.decimal, dates=reading.dates, fold=reading.fold_variants)
        return table
    except BaseException:
        if backend is not None:
            backend.close()
        raise


def open_with_reading(source: Any, reading: Reading) -> Source:
    """Look at a file or table as a request says that it is written."""
    dialect = {"delimiter": reading.delimiter, "encoding": reading.encoding}
    return open_source(source, **dialect, rename_duplicates=reading.rename_duplicates)


def drop_dialect(request: Request, source: Any) -> Request:
    """A request without delimiter and encoding where the source is no text, so that one plan serves both."""
    is_file = isinstance(source, str | PathLike) and not find_address(source)
    if is_file and Path(source).suffix.lower() in TEXT_FILES:
        return request
    return replace_part(request, reading=replace_part(request.reading, delimiter=None, encoding=None))


def choose_engine(address: Address | None, engine: str | None, master: str | None) -> str:
    """Rows of a server stay there; all others come into DuckDB, or to the workers of Spark where that is asked."""
    natural = {"postgresql": "postgres", "spark": "spark"}.get(address.scheme if address else "", "duckdb")
    if engine not in (None, natural, *(("spark",) if address is None else ())):
        raise BadOption(
            "--engine", f"this table is read by {natural}. Omit --engine. Only files and dataframes take spark too."
        )
    if master is not None and "spark" not in (engine, natural):
        raise BadOption("--master", "only --engine spark has one. Name that engine, or omit the master.")
    if master is not None and address and address.master not in (None, master):
        raise BadOption("--master", "the address of the table names another. Omit one of the two.")
    return engine or natural


def is_small(engine: str, source: Source, frame: Any) -> bool:
    """Whether a second thread of the engine would wait more than it helps; Spark is started for other tables too."""
    if engine != "duckdb":
        return False
    if frame is not None:
        return is_short(frame, FEW_ROWS)
    return source.format in FILES and source.path.is_file() and source.path.stat().st_size <= FEW_BYTES


def open_backend(
    name: str, address: Address | None, *, memory: str | None, threads: int, master: str | None
) -> Backend:
    """A backend without rows."""
    size = limit_of(memory)
    if name == "duckdb":
        return DuckDB(memory=size, threads=threads)
    if name == "spark":
        from kech.tables.spark import Spark

        of_address = address.master if address else None
        return Spark(master=master or of_address, memory=size, threads=threads)
    from kech.tables.postgres import Postgres

    return Postgres(address, memory=size, threads=threads)  # type: ignore[arg-type]


def load(backend: Any, source: Source, selected: Sequence[int], nulls: Sequence[str], frame: Any) -> None:
    """Put the rows into the backend."""
    if not can_read(backend, source):
        backend.load_arrow(stream_source(source, frame), selected, nulls, source.path)
    elif source.csv:
        try:
            backend.load_csv(source.path, source.csv, selected, nulls)
        except UnreadableFile as refusal:
            raise find_fault(source.path, source.csv) or refusal from None
    elif source.address:
        backend.load_table(source.address, source.columns, selected, nulls)
    else:
        backend.load_parquet(source.path, source.columns, selected, nulls)


def can_read(backend: Backend, source: Source) -> bool:
    """Whether a backend reads this source by itself."""
    return source.format in backend.reads and (source.csv is None or source.csv.plain)


def stream_source(source: Source, frame: Any) -> Any:
    """The rows of a dataframe, or of a file that the engine does not read itself."""
    return read_batches(source) if frame is None else frame_batches(frame)


# -- checks at the entry --------------------------------------------------------------------------------


def check_columns(columns: Sequence[str], request: Request) -> None:
    """Every column that is named exists."""
    with_role = [name for role in ROLES for name in getattr(request.columns, role)]
    for name in (*with_role, *request.axes, *request.series.key):
        if name not in columns:
            raise NoSuchColumn(name, columns)


def check_size(source: Source, columns: Sequence[str], memory: str | None) -> None:
    """Parquet that cannot fit is refused by what it says of itself, before a row is read.

    What does not fit into memory goes to disk, but not what a tiny file blows up.
    """
    files = find_parts(source.path) if source.format == "folder" else [source.path]
    rows, need, stored = measure_parquet(files, columns)
    allowed = allowed_bytes(memory)
    room = allowed if need > BLOWN_UP * stored else allowed + shutil.disk_usage(tempfile.gettempdir()).free
    if need > room:
        raise TooLarge(source.path, rows, need, room)


def check_key(key_file: str | PathLike[str] | None) -> None:
    """A key file that was named is refused before rows are read, if it is none."""
    if key_file is not None:
        open_secret(key_file)


def check_is_request(request: object) -> None:
    """Refuse the name of a plan file, or a dictionary, where a request is needed."""
    if request is not None and not isinstance(request, Request):
        raise BadOption("request", "give a kech.Request; kech.read_request reads one from a plan file.")


def check_is_table(table: object, name: str = "table") -> None:
    """Refuse a path or a dataframe where a table is needed."""
    if not isinstance(table, Table):
        raise BadOption(name, f"it is a {type(table).__name__}, not a kech.Table. Read it first: kech.read_table(...).")

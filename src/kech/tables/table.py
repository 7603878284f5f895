"""Table: rows in an engine, with the roles of their columns.  All data enters kech here and is checked here.

In: a file or a dataframe, and a request with the roles of its columns.  Out: a `Table`.
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
    unusable_value,
)
from kech.request import FIELDS, AxisChoice, Columns, Labels, Request
from kech.request.parts import DEFAULT_AXIS, ROLES, Input
from kech.request.request import find_field
from kech.system.memory import BASE_BYTES, TEXT_BYTES, TEXT_COPIES, TEXT_SHARE, allowed_bytes, check_memory, limit_of
from kech.system.secret import OwnerSecret, open_secret
from kech.tables.csv_dialect import find_fault
from kech.tables.duckdb import DuckDB
from kech.tables.engine import Backend, ColumnFacts, Engine, HashedValues, check_kind, guess_kind, plain_kind
from kech.tables.formats import find_parts, measure_parquet
from kech.tables.frames import frame_batches, is_short, native_library, open_frame, wrap_frame
from kech.tables.person_names import names_people
from kech.tables.source import (
    DIALECT,
    LINED_FORMATS,
    READ_FORMATS,
    Address,
    Source,
    find_address,
    open_source,
    read_batches,
)
from kech.tables.sql import ColumnCodes

if TYPE_CHECKING:
    from kech.tables.repeats import Repeat

FEW_ROWS, FEW_BYTES = 10_000, 1 << 18  # of a small table; a thread of DuckDB processes 122,880 rows at a time
LARGEST_EXPANSION = 1000  # times the size on disk: no table of people is compressed so much
FILES = ("csv", "parquet", "folder", "arrow", "excel")
TEXT_FILES = (".csv", ".tsv", ".txt")  # only they have a delimiter and an encoding


class ArrowStream(Protocol):
    """An object that exports an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@dataclass(frozen=True, repr=False)
class Table:
    """Rows in an engine, and the roles of their columns."""

    engine: Engine
    source: Source
    request: Request  # with which the table was read; its columns and axes are those of the table
    native: ModuleType | None = None  # the caller's dataframe library, for results
    threads: int = 1
    frame: Any = None  # the dataframe from which it was read
    kinds: Mapping[str, str] = field(default_factory=dict)  # kinds of columns that were found before
    other_secret: OwnerSecret | None = None  # in place of the owner's secret: that of an attacker or of the demo

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
        """Columns that identify a person; empty where every row is another person."""
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
        """Columns that identify a row of a series; empty where whole rows are compared."""
        return self.request.series.key

    @property
    def hierarchies(self) -> Any:
        """The folder or mapping with the hierarchies of columns."""
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
        """Bytes of memory that may be used: --memory, or 80 % of the machine."""
        return allowed_bytes(self.request.limits.memory)

    @property
    def limit(self) -> int | None:
        """--memory in bytes; None where the user set no limit."""
        return limit_of(self.request.limits.memory)

    @property
    def is_limited(self) -> bool:
        """Whether the user set --memory."""
        return self.limit is not None

    @property
    def loaded(self) -> tuple[str, ...]:
        """The columns that were read: all, or only those with a role."""
        with_role = {*self.quasi_identifiers, *self.sensitive, *self.person, *self.keep, *self.row_key}
        return tuple(name for name in self.columns if not self.quasi_identifiers or name in with_role)

    @property
    def counted(self) -> tuple[str, ...]:
        """Columns that are loaded only to count repeats: identifiers, and columns whose names mean people."""
        if self.request.columns.rows_are_people:
            return ()
        others = [name for name in self.columns if name not in self.loaded]
        return tuple(name for name in others if name in self.identifiers or (not self.person and names_people(name)))

    @cached_property
    def repeats(self) -> "tuple[Repeat, ...]":
        """Columns that seem to name people and repeat, though the request names no person."""
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
        """The user's choice for the axis of a column."""
        return self.request.axes.get(column, DEFAULT_AXIS)

    def resolve_request(self, request: Request | None, fields: Mapping[str, Any]) -> Request:
        """The request for this table: the given one, or that of the table, with the named fields changed."""
        check_is_request(request)
        for name in fields:
            is_for_reading = find_field(name).part not in ("goal", "cut", "labels", "series") or name == "key"
            if is_for_reading and name != "max_points":
                raise BadOption(FIELDS[name].option, "it decides how a table is read. Pass it to read_table.")
        merged, own = (request or self.request).override(**fields), self.request
        if merged.columns not in (Columns(), own.columns) or merged.axes not in ({}, own.axes):
            reason = "the table was read with other columns or axes. Read it again: read_table(source, request)."
            raise BadOption("request", reason)
        merged.goal.check_sensitive(self.sensitive)
        series = replace_part(merged.series, key=own.series.key)
        return replace_part(merged, columns=own.columns, axes=own.axes, input=own.input, series=series)

    def labels_on(self, grid: str | float | None) -> Labels:
        """The label options of the request; with a grid, that grid and defaults."""
        return self.request.labels if grid is None else Labels(grid=grid)

    def facts(self, column: str) -> ColumnFacts:
        """The facts about a column; columns with a published role are described in one query."""
        beside = (*self.quasi_identifiers, *self.sensitive, *self.keep)
        return self.engine.describe(self.index(column), [self.index(name) for name in beside if column in beside])

    def head(self, rows: int = 10) -> list[list[str | None]]:
        """The first rows of the loaded columns as text; PRIVATE."""
        return self.engine.head([self.index(name) for name in self.loaded], rows)

    def values(self, column: str, kind: str) -> tuple[Any, NDArray[np.int64]]:
        """The distinct values of a column, read as `kind`, and their rows; refused where texts exceed --memory."""
        if kind == "text" and self.is_limited:
            texts = self.facts(column).distinct
            need = TEXT_COPIES * (self.engine.text_bytes(self.index(column)) + TEXT_BYTES * texts)
            if need > max(self.allowed_bytes - BASE_BYTES, TEXT_SHARE * self.allowed_bytes):
                raise ManyValues(column, texts, BASE_BYTES + need, self.allowed_bytes)
        return self.engine.count_values(self.index(column), kind)

    def hash_values(self, column: str, depth: int) -> HashedValues:
        """The distinct values of a column whose hashes begin with `depth` zero bits; PRIVATE."""
        return self.engine.hash_values(self.index(column), depth)

    def text_codes(self, column: str) -> ColumnCodes:
        """Codes for the distinct texts of a column, from 0; NULL has the last code."""
        values, _ = self.values(column, "text")
        return ColumnCodes(self.index(column), "text", values, np.arange(len(values), dtype=np.int32), len(values))

    def kind(self, column: str) -> str:
        """The kind of a quasi-identifier: number, date or text; a doubtful column is refused with a row."""
        if column in self.kinds:
            return self.kinds[column]
        kind = self.choice(column).kind
        return check_kind(column, self.facts(column), kind) if kind else guess_kind(column, self.facts(column))

    def sensitive_kind(self, column: str) -> str:
        """The kind of a sensitive column: number, date or text; a doubtful column is text."""
        kind = self.choice(column).kind
        return check_kind(column, self.facts(column), kind) if kind else plain_kind(self.facts(column))

    @cached_property
    def secret(self) -> OwnerSecret:
        """The secret from which labels are drawn: the owner's, or that of a key file."""
        return self.other_secret or open_secret(self.request.labels.key_file)

    @property
    def library(self) -> str | None:
        """The name of the caller's dataframe library."""
        return self.native.__name__ if self.native else None

    def without(self, mappings: Sequence[ColumnCodes], points: NDArray[np.int64]) -> "Table":
        """The table without the rows of these points, with the same kinds; usable until this table is closed."""
        kinds = {self.columns[mapping.column]: mapping.kind for mapping in mappings}
        return replace(self, engine=self.engine.without(mappings, points), kinds=kinds)

    def shorten(self, mappings: Sequence[ColumnCodes], kept: NDArray[np.int64], key: bytes) -> "Table":
        """The table with `kept` rows of each point, chosen by a hash of their published cells under the key."""
        kinds = {self.columns[mapping.column]: mapping.kind for mapping in mappings}
        columns = [self.index(name) for name in (*self.quasi_identifiers, *self.sensitive, *self.keep)]
        return replace(self, engine=self.engine.shorten(mappings, kept, columns, key), kinds=kinds)

    def choose(self, numbers: NDArray[np.int64], axes: Mapping[str, AxisChoice]) -> "Table":
        """The table with only the rows of these numbers, and these axes; usable until this table is closed."""
        request = replace_part(self.request, axes={**self.request.axes, **axes})
        start = partial(DuckDB, memory=self.limit, threads=1 if len(numbers) <= FEW_ROWS else self.threads)
        return replace(self, engine=self.engine.choose(numbers, start), request=request)

    def fingerprint(self) -> tuple[int, ...]:
        """A hash of the whole source with all columns; it does not depend on the order of rows."""
        if self.source.address and self.source.format == "duckdb":
            return self._fingerprint_of_file(self.source.address)
        again = not can_read(self.engine.backend, self.source)
        return self.engine.fingerprint(self.columns, stream_source(self.source, self.frame) if again else None)

    def _fingerprint_of_file(self, address: Address) -> tuple[int, ...]:
        """The fingerprint of a DuckDB file, read by a new backend: that of the engine has no access to the file now."""
        backend = DuckDB(memory=self.limit, threads=self.threads)
        try:
            backend.attach(address)
            return backend.fingerprint(self.columns)
        finally:
            backend.close()

    def reopen(self, columns: Sequence[str]) -> "Table":
        """The same source, read again with these columns as quasi-identifiers and no other role."""
        return self.reread(quasi_identifiers=columns, sensitive=(), identifiers=(), keep=())

    def reread(self, **fields: Any) -> "Table":
        """The same source, read again with some fields of the request changed."""
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
        except KechError:  # the table is closed, and its repr says so
            return None

    def close(self) -> None:
        """Delete the rows."""
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

    Columns, axes, input and limits are those of a request, or fields of it by name: `quasi_identifiers=["age"]`.
    A table of a database is named by its address: `postgresql://user@host/base?table=schema.name` (its rows stay in
    the server), `duckdb:file.db#table`, or an address of Spark: `spark://host:7077/path`, `s3a://bucket/path`.  With
    `engine="spark"` the rows of any file are on the workers of `master`.
    Text such as 1.234,5 is a number with `decimal=","`; 31.12.2020 is a date with `dates="dmy"`, 12/31/2020 with "mdy".
    With quasi-identifiers only columns with a role are loaded, without them all columns.  Columns that seem to name
    people are loaded too and counted, unless `person` names the people or `rows_are_people` is true.
    Labels are drawn with the owner's secret, or with that of a `key_file` that a team shares (`kech.write_key_file`).
    """
    check_is_request(request)
    chosen_request = drop_dialect(request or Request(), source).override(**fields)
    options, limits, frame = chosen_request.input, chosen_request.limits, None
    workers, address = limits.threads or os.cpu_count() or 1, find_address(source)
    chosen = choose_engine(address, limits.engine, limits.master)
    start = partial(open_backend, chosen, address, memory=check_memory(limits.memory), master=limits.master)
    backend = start(threads=workers) if address and chosen == "spark" else None  # Spark opens the source
    try:
        if isinstance(source, str | PathLike | Address):
            opened = open_with_reading(source, options)
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
        load(backend, opened, [table.index(name) for name in selected], options.null_values, frame)
        table.engine.rewrite(decimal=options.decimal, dates=options.dates, fold=options.fold_variants)
        return table
    except BaseException:
        if backend is not None:
            backend.close()
        raise


def open_with_reading(source: Any, options: Input) -> Source:
    """The source for a file or table, opened with the options of input of a request."""
    dialect = {name: getattr(options, name) for name in DIALECT}
    return open_source(source, **dialect, rename_duplicates=options.rename_duplicates)


def drop_dialect(request: Request, source: Any) -> Request:
    """The request without a delimiter, sheet and so on where the source has none: a plan may be for several files."""
    is_file = isinstance(source, str | PathLike) and not find_address(source)
    ending = Path(source).suffix.lower() if is_file else ""
    unused = {"delimiter": None, "encoding": None} if ending not in TEXT_FILES else {}
    unused |= {"sheet": None} if READ_FORMATS.get(ending) != "excel" else {}
    unused |= {"header_line": None} if READ_FORMATS.get(ending) not in LINED_FORMATS else {}
    return replace_part(request, input=replace_part(request.input, **unused))


def choose_engine(address: Address | None, engine: str | None, master: str | None) -> str:
    """The name of the engine: that of the address, or duckdb for files and dataframes; Spark where it is requested."""
    natural = {"postgresql": "postgres", "spark": "spark"}.get(address.scheme if address else "", "duckdb")
    if engine not in (None, natural, *(("spark",) if address is None else ())):
        raise BadOption(
            "--engine", f"only {natural} reads this table. Omit --engine. Spark also reads files and dataframes."
        )
    if master is not None and "spark" not in (engine, natural):
        raise BadOption("--master", "only --engine spark has a master. Add --engine spark, or omit --master.")
    if master is not None and address and address.master not in (None, master):
        raise BadOption("--master", "the address of the table names another master. Omit one of the two.")
    return engine or natural


def is_small(engine: str, source: Source, frame: Any) -> bool:
    """Whether a table is so small that DuckDB needs one thread only."""
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
    """Load the selected columns of the source into the backend."""
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
    """Whether a backend reads this source itself."""
    return source.format in backend.reads and (source.csv is None or source.csv.plain)


def stream_source(source: Source, frame: Any) -> Any:
    """The rows of a dataframe, or of a file that the backend does not read itself, as record batches."""
    return read_batches(source) if frame is None else frame_batches(frame)


# -- checks at the entry --------------------------------------------------------------------------------


def check_columns(columns: Sequence[str], request: Request) -> None:
    """Refuse a request that names a column which does not exist."""
    with_role = [name for role in ROLES for name in getattr(request.columns, role)]
    for name in (*with_role, *request.axes, *request.series.key):
        if name not in columns:
            raise NoSuchColumn(name, columns)


def check_size(source: Source, columns: Sequence[str], memory: str | None) -> None:
    """Refuse Parquet files that cannot fit in memory and disk, by their metadata, before a row is read.

    A tiny file that expands to a huge table must fit in memory, without the disk.
    """
    files = find_parts(source.path) if source.format == "folder" else [source.path]
    rows, need, stored = measure_parquet(files, columns)
    allowed = allowed_bytes(memory)
    if need <= LARGEST_EXPANSION * stored:
        allowed += shutil.disk_usage(tempfile.gettempdir()).free
    if need > allowed:
        raise TooLarge(source.path, rows, need, allowed)


def check_key(key_file: str | PathLike[str] | None) -> None:
    """Refuse a wrong key file before rows are read."""
    if key_file is not None:
        open_secret(key_file)


def check_is_request(request: object) -> None:
    """Refuse an argument that is not a Request, such as the path of a plan."""
    if request is not None and not isinstance(request, Request):
        raise unusable_value("request", "Give a kech.Request; kech.read_request reads one from a plan file.")


def check_is_table(table: object, name: str = "table") -> None:
    """Refuse an argument that is not a Table, such as a path or a dataframe."""
    if not isinstance(table, Table):
        raise BadOption(name, f"it is a {type(table).__name__}, not a kech.Table. Read it first: kech.read_table(...).")

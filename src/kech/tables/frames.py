"""Frames: dataframes of any library, in and out; Arrow types that every database knows."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import narwhals as nw
import pyarrow as pa

from kech.errors import BadColumns, InputError
from kech.tables.source import Source, check_columns


def wrap_frame(frame: Any) -> Any:
    """A dataframe of any library, or anything that hands out Arrow data, behind one interface."""
    try:
        return nw.from_native(frame)
    except nw.exceptions.DuplicateError:
        raise BadColumns("dataframe", "the names are not distinct. Rename them: df.columns = [...].") from None
    except TypeError:
        return wrap_arrow(frame)


def wrap_arrow(stream: Any) -> Any:
    """What no library of dataframes knows, but hands out Arrow data."""
    try:
        return nw.from_arrow(stream, backend="pyarrow")
    except (TypeError, pa.ArrowException):
        raise InputError(f"A table is a file or a dataframe, not {type(stream).__name__}.") from None


def open_frame(frame: Any) -> Source:
    """Column names of a dataframe."""
    try:
        names = frame.collect_schema().names()
    except Exception as failure:  # of a lazy frame; what it says may quote cells
        raise refuse_lazy(failure) from None
    if not all(isinstance(name, str) for name in names):
        raise BadColumns("dataframe", "every column needs a name that is text. Rename them: df.columns = [...].")
    source = Source(Path("dataframe"), "frame", tuple(names))
    check_columns(source)
    return source


def is_short(frame: Any, rows: int) -> bool:
    """Whether a dataframe is known to have so many rows at most."""
    return isinstance(frame, nw.DataFrame) and len(frame) <= rows


def frame_batches(frame: Any) -> Any:
    """A dataframe as record batches; a column of mixed types is refused by name."""
    collected = collect(frame)
    try:
        return collected.to_arrow().select(collected.columns).to_reader()  # without the index of pandas
    except (pa.ArrowException, TypeError, ValueError):
        name = next((name for name in collected.columns if not is_uniform(collected, name)), "?")
        raise BadColumns("dataframe", f"column {name!r} mixes types. Convert it to one: astype(str).") from None


def collect(frame: Any) -> Any:
    """A dataframe with its rows, behind one interface; a lazy one is computed."""
    wrapped = wrap_frame(frame)
    try:
        return wrapped.collect() if isinstance(wrapped, nw.LazyFrame) else wrapped
    except Exception as failure:  # what it says may quote cells
        raise refuse_lazy(failure) from None


def refuse_lazy(failure: Exception) -> InputError:
    """A lazy frame that fails when its rows are asked for."""
    return InputError(f"The lazy frame cannot be computed ({type(failure).__name__}). Collect it yourself to see why.")


def is_uniform(frame: Any, column: str) -> bool:
    """Whether a column converts to Arrow."""
    try:
        frame.select(column).to_arrow()
    except (pa.ArrowException, TypeError, ValueError):
        return False
    return True


def as_frame(records: Sequence[Mapping[str, Any]], library: str | None) -> Any:
    """Records as a dataframe of the library of that name; without one, pandas where it is installed."""
    return as_native(pa.Table.from_pylist(list(records)), import_module(library) if library else None)


def native_library(frame: Any) -> ModuleType | None:
    """The library a dataframe belongs to, if it can hold rows in memory."""
    kind = frame.implementation
    library: ModuleType = kind.to_native_namespace()
    return library if kind.is_pandas_like() or kind.is_polars() or kind.is_pyarrow() else None


def as_native(arrow: Any, library: ModuleType | None) -> Any:
    """An Arrow table as a dataframe of the library; without one, pandas where it is installed."""
    if library is not None:
        return nw.from_arrow(arrow, backend=library).to_native()
    try:
        return arrow.to_pandas()
    except ImportError:
        return arrow


# -- types that every database knows; others are turned into them where nothing is lost --------------------


def plain_type(field: Any, path: object) -> Any:
    """The plain type that holds all values of a column."""
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_integer(kind):
        return plain_integer(kind)
    if pa.types.is_decimal(kind) and 0 <= kind.scale <= kind.precision <= 38:
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=kind.tz and "UTC")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    simple = {pa.null(): pa.string(), pa.date64(): pa.date32()}
    simple |= {same: same for same in (pa.bool_(), pa.float32(), pa.float64(), pa.date32())}
    if kind in simple:
        return simple[kind]
    reason = f"column {field.name!r} is of type {field.type}. Convert it to text, a number or a date."
    raise BadColumns(path, reason)


def plain_integer(kind: Any) -> Any:
    """The smallest type with a sign that holds all values."""
    bits = kind.bit_width + pa.types.is_unsigned_integer(kind)
    return next((type for type in (pa.int16(), pa.int32(), pa.int64()) if bits <= type.bit_width), pa.decimal128(20))


def as_plain(batch: Any, path: object) -> Any:
    """Rows in plain types; a column that would lose something is refused by name."""
    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        try:
            columns.append(column.cast(plain_type(field, path)))
        except pa.ArrowException:
            raise BadColumns(
                path, f"column {field.name!r} holds values finer than a database keeps. Round them."
            ) from None
    return pa.record_batch(columns, names=batch.schema.names)

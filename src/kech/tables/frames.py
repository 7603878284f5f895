"""Frames: conversion of dataframes from and to any library; Arrow types that every database has."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from kech.errors import BadColumns, InputError
from kech.tables.source import Source, check_columns


def narwhals() -> Any:
    """The library that knows the dataframes of others.  Files need none, and to import it takes 50 ms."""
    return import_module("narwhals")


def wrap_frame(frame: Any) -> Any:
    """A narwhals frame around a dataframe of any library, or around an Arrow stream."""
    try:
        return narwhals().from_native(frame)
    except narwhals().exceptions.DuplicateError:
        raise BadColumns("dataframe", "the names are not distinct. Rename them: df.columns = [...].") from None
    except TypeError:
        return wrap_arrow(frame)


def wrap_arrow(stream: Any) -> Any:
    """A narwhals frame around an object that exports an Arrow stream; other objects are refused."""
    try:
        return narwhals().from_arrow(stream, backend="pyarrow")
    except (TypeError, pa.ArrowException):
        raise InputError(f"A {type(stream).__name__} is no table. Give the path of a file, or a dataframe.") from None


def open_frame(frame: Any) -> Source:
    """The source for a dataframe: its column names, checked."""
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
    """Whether a dataframe, which is not lazy, has at most this many rows."""
    return isinstance(frame, narwhals().DataFrame) and len(frame) <= rows


def frame_batches(frame: Any) -> Any:
    """The record batches of a dataframe; a column of mixed types is refused by name."""
    collected = collect(frame)
    try:
        return collected.to_arrow().select(collected.columns).to_reader()  # without the index of pandas
    except (pa.ArrowException, TypeError, ValueError):
        name = next((name for name in collected.columns if not is_uniform(collected, name)), None)
        what = "a column" if name is None else f"column {name!r}"
        raise BadColumns("dataframe", f"{what} mixes types. Convert it to one: astype(str).") from None


def collect(frame: Any) -> Any:
    """A narwhals dataframe; a lazy frame is computed."""
    wrapped = wrap_frame(frame)
    try:
        return wrapped.collect() if isinstance(wrapped, narwhals().LazyFrame) else wrapped
    except Exception as failure:  # what it says may quote cells
        raise refuse_lazy(failure) from None


def refuse_lazy(failure: Exception) -> InputError:
    """The refusal of a lazy frame that fails when it is computed."""
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
    """The library of a dataframe, if it stores rows in memory."""
    kind = frame.implementation
    library: ModuleType = kind.to_native_namespace()
    return library if kind.is_pandas_like() or kind.is_polars() or kind.is_pyarrow() else None


def as_native(arrow: Any, library: ModuleType | None) -> Any:
    """An Arrow table as a dataframe of the library; without one, pandas where it is installed."""
    if library is not None:
        return narwhals().from_arrow(arrow, backend=library).to_native()
    try:
        return arrow.to_pandas()
    except ImportError:
        return arrow


# -- types that every database has; others are converted to them where that is exact --------------------------


def plain_type(field: Any, path: object) -> Any:
    """The plain type that represents all values of a column; other types are refused."""
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
    """The smallest signed type that represents all values of an integer type."""
    bits = kind.bit_width + pa.types.is_unsigned_integer(kind)
    return next((type for type in (pa.int16(), pa.int32(), pa.int64()) if bits <= type.bit_width), pa.decimal128(20))


def as_plain(batch: Any, path: object) -> Any:
    """A record batch converted to plain types; a column that would lose precision is refused by name."""
    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        try:
            columns.append(column.cast(plain_type(field, path)))
        except pa.ArrowException:
            raise BadColumns(
                path, f"column {field.name!r} has values too precise for a database. Round them."
            ) from None
    return pa.record_batch(columns, names=batch.schema.names)

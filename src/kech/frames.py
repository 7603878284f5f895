"""Frames: dataframes of any library, in and out."""

from pathlib import Path
from types import ModuleType
from typing import Any

import narwhals as nw
import pyarrow as pa

from kech.errors import BadColumns, InputError
from kech.sources import Source, check_columns


def open_frame(frame: Any) -> Source:
    """Column names of a dataframe."""
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
    held: Any = nw.from_native(frame)
    collected = held.collect() if isinstance(held, nw.LazyFrame) else held
    try:
        return collected.to_arrow().to_reader()
    except (pa.ArrowException, TypeError, ValueError):
        name = next((name for name in collected.columns if not is_uniform(collected, name)), "?")
        raise BadColumns("dataframe", f"column {name!r} mixes types. Convert it to one: astype(str).") from None


def is_uniform(frame: Any, column: str) -> bool:
    """Whether a column converts to Arrow."""
    try:
        frame.select(column).to_arrow()
    except (pa.ArrowException, TypeError, ValueError):
        return False
    return True


def native_library(frame: Any) -> ModuleType:
    """The library a dataframe belongs to."""
    library: ModuleType = nw.from_native(frame).implementation.to_native_namespace()
    return library


def as_native(arrow: Any, library: ModuleType | None) -> Any:
    """An Arrow table as a dataframe of the library; without one, pandas where it is installed."""
    if library is not None:
        return nw.from_arrow(arrow, backend=library).to_native()
    try:
        return arrow.to_pandas()
    except ImportError:
        return arrow

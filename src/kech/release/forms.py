"""Forms: how the intervals of a release are written: `[22, 25]`, `22-25`, or in two columns.

In: an axis as its certificate describes it, and the labels of its classes.  Out: what the certificate says of the form,
and the cells of every column that is published.  `certificate/forms.py` reads them back.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from kech.errors import BadOption

Cell: TypeAlias = str | None
Written: TypeAlias = dict[str, list[Cell]]  # cells of each published column, one a class

LINES = ("numeric", "date")
INTERVAL = re.compile(r"\[([^,]+), ([^,]+)([\])])")
EVERYTHING = ("-inf", "inf")


def check_intervals(form: str, axes: Iterable[Mapping[str, Any]]) -> None:
    """Only intervals have forms."""
    if form != "brackets" and not any(axis["axis"] in LINES for axis in axes):
        raise BadOption("--labels", "no quasi-identifier is published as intervals, so there is nothing to write so.")


def write_form(form: str, axis: Mapping[str, Any], labels: Sequence[Cell]) -> tuple[dict[str, Any], Written]:
    """The axis with its form, and the cells of its columns; only numbers and dates have forms."""
    column = axis["column"]
    if axis["axis"] not in LINES:
        return dict(axis), {column: list(labels)}
    if form == "columns":
        names = [f"{column}_low", f"{column}_high"]
        ends = [both_ends(label) for label in labels]
        closed = not any(label and (label.endswith(")") or label.startswith("< ")) for label in labels)
        cells = {name: [pair[i] for pair in ends] for i, name in enumerate(names)}
        return {**axis, "form": form, "columns": names, "closed": closed}, cells
    written = [write_dash(axis, label) for label in labels] if form == "dash" else list(labels)
    return {**axis, "form": form}, {column: written}


def write_dash(axis: Mapping[str, Any], label: Cell) -> Cell:
    """`22-25`; of dates `2001-01-01/2001-12-31`, as ISO 8601 writes them.  What could be misread is refused."""
    found = INTERVAL.fullmatch(label or "")
    if found is None:
        return label
    if found[3] == ")":
        raise no_dash(axis, "its intervals do not hold their last end, and 1.5-2.5 would say that they do")
    if axis["axis"] == "date":
        return f"{found[1]}/{found[2]}"
    if "-" in found[1] + found[2]:
        raise no_dash(axis, "it has ends with a minus, and -5--3 is misread by whoever splits it at the dash")
    return f"{found[1]}-{found[2]}"


def no_dash(axis: Mapping[str, Any], reason: str) -> BadOption:
    """Why a column cannot be written with a dash."""
    return BadOption("--labels", f"column {axis['column']!r}: {reason}. Take --labels brackets or columns.")


def both_ends(label: Cell) -> tuple[Cell, Cell]:
    """The two cells of a label; an open end is infinite, a missing value has none.

    >>> both_ends("[22, 25]"), both_ends(">= 80"), both_ends("*"), both_ends("7")
    (('22', '25'), ('80', 'inf'), ('-inf', 'inf'), ('7', '7'))
    """
    if label == "*":
        return EVERYTHING
    if found := INTERVAL.fullmatch(label or ""):
        return found[1], found[2]
    sign, _, end = (label or "").partition(" ")
    if sign == ">=":
        return end, EVERYTHING[1]
    return (EVERYTHING[0], end) if sign in ("<", "<=") else (label, label)


def as_numbers(stream: Any, axes: Iterable[Mapping[str, Any]]) -> Any:
    """A stream in which the ends of numbers are numbers."""
    ends = {name for axis in axes if axis["axis"] == "numeric" for name in axis.get("columns", ())}
    return recast(stream, lambda field: pa.float64() if field.name in ends else field.type)


def as_texts(stream: Any) -> Any:
    """A stream in which labels that were listed once are written out in every row."""
    return recast(stream, lambda field: field.type.value_type if pa.types.is_dictionary(field.type) else field.type)


def as_missing(stream: Any, columns: int) -> Any:
    """A stream in which empty text in the first columns is missing: most readers of CSV do not tell them apart."""
    written = (
        pa.record_batch([*map(drop_empty, batch.columns[:columns]), *batch.columns[columns:]], batch.schema.names)
        for batch in stream
    )
    return pa.RecordBatchReader.from_batches(stream.schema, written)


def drop_empty(column: Any) -> Any:
    """A column without empty texts."""
    if not pa.types.is_string(column.type):
        return column
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)


def recast(stream: Any, type_of: Callable[[Any], Any]) -> Any:
    """A stream with columns of other types; the same where nothing changes."""
    schema = pa.schema([field.with_type(type_of(field)) for field in stream.schema])
    if schema == stream.schema:
        return stream
    written = (pa.record_batch(list(map(convert, batch.columns, schema.types)), schema=schema) for batch in stream)
    return pa.RecordBatchReader.from_batches(schema, written)


def convert(column: Any, kind: Any) -> Any:
    """A column of another type."""
    coded = pa.types.is_dictionary(column.type) and column.type != kind
    return (column.dictionary.take(column.indices) if coded else column).cast(kind)


def check_names(published: Sequence[str]) -> None:
    """Columns that are made for ends must not have names that are taken."""
    seen: set[str] = set()
    for name in published:
        if name.casefold() in seen:
            raise BadOption("--labels", f"two published columns would be named {name!r}. Rename one in the table.")
        seen.add(name.casefold())

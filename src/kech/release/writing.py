"""Writing: the files of a release: their names, how intervals stand in them, and how rows are written.

In: names that somebody gave, axes and labels of classes, a stream of rows.  Out: paths or BadTarget, the cells of every
published column, CSV or Parquet.
Intervals are written `[22, 25]`, `22-25`, or in two columns; `certificate/labels.py` reads them back.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from kech.certificate import certificate_path
from kech.certificate.labels import (
    DAY,
    EVERYTHING,
    TWO_COLUMNS,
    exact_ends,
    exact_position,
    format_position,
    label_reader,
    split_interval,
)
from kech.errors import BadOption, BadTarget, check_path
from kech.system.files import NO_FOLDER, refuse_disk_errors
from kech.tables.batches import read_ahead
from kech.tables.source import Address
from kech.tables.table import Table

Cell: TypeAlias = str | None
Written: TypeAlias = dict[str, list[Cell]]  # cells of each published column, one a class

WRITTEN_FORMATS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
LINES = ("number", "date")
OPEN_ENDS = {"number": ("-inf", "inf"), "date": ("0001-01-01", "9999-12-31")}
ENDS = {"columns": ("low", "high"), "midpoint": ("mid", "half_width")}  # of names of columns


# -- names of files ----------------------------------------------------------------------------------------------------


def check_target(target: Path, table: Table) -> Path:
    """A file name kech can write, which is not the source."""
    if target.suffix.lower() not in WRITTEN_FORMATS and not target.is_dir():
        raise BadTarget(target, f"its name must end in {' or '.join(WRITTEN_FORMATS)}. Rename it.")
    check_output_path(target, table)
    if certificate_path(target).is_dir():
        raise BadTarget(target, "a folder stands where its certificate would go. Choose another name.")
    return target


def check_certificate_path(certificate: Path, table: Table, target: Path | None = None) -> Path:
    """A name for a certificate: neither the source nor the release."""
    check_output_path(certificate, table)
    if target is not None and certificate.resolve() == target.resolve():
        raise BadTarget(certificate, "the release itself goes there. Name another file for the certificate.")
    return certificate


def check_mapping(mapping: str | PathLike[str] | None, table: Table, *others: Path) -> Path | None:
    """A name for a mapping, if one is wanted: a .json file that is nothing else."""
    if mapping is None:
        return None
    target = Path(mapping)
    with refuse_disk_errors(target):
        if target.suffix.lower() != ".json":
            raise BadTarget(target, "the name of a mapping must end in .json. Rename it.")
        check_output_path(target, table)
        if any(target.resolve() == other.resolve() for other in others):
            raise BadTarget(target, "the release or its certificate goes there. Name another file for the mapping.")
    return target


def check_query_file(path: str | PathLike[str], table: Table) -> Path:
    """A name for a query: a .sql file that is no part of the source."""
    check_path(path, "sql")
    target = Path(path)
    with refuse_disk_errors(target):
        if target.suffix.lower() != ".sql":
            raise BadTarget(target, "the name of a query must end in .sql. Rename it.")
        check_output_path(target, table)
    return target


def check_output_path(target: Path, table: Table) -> None:
    """A file that may be written: its folder is there, and it is no part of the source."""
    if target.is_dir():
        raise BadTarget(target, "it is a folder. Name a file.")
    if not target.parent.is_dir():
        raise BadTarget(target, NO_FOLDER)
    source = table.source.here
    if target.exists() and source.exists() and target.samefile(source):
        raise BadTarget(target, "it is the source table itself. Choose another name.")
    if source.is_dir() and source.resolve() in target.resolve().parents:
        raise BadTarget(target, "it lies in the folder of the source table. Choose another folder.")


def check_elsewhere(address: Address, identity: object, table: Table) -> None:
    """A table of a database that is not the source, nor a folder in it."""
    source = table.source
    own = source.identity or (None if source.format == "frame" else source.path.resolve().as_uri())
    if identity is not None and identity == own:
        raise BadTarget(address, "it is the source table itself. Choose another name.")
    if isinstance(identity, str) and identity.startswith(f"{own}/"):
        raise BadTarget(address, "it lies in the folder of the source table. Choose another folder.")


# -- forms of intervals ------------------------------------------------------------------------------------------------


def check_intervals(form: str, axes: Iterable[Mapping[str, Any]]) -> None:
    """Only intervals have forms."""
    if form != "text" and not any(axis["axis"] in LINES for axis in axes):
        raise BadOption("--labels", "no quasi-identifier is published as intervals. Omit --labels.")


def write_form(form: str, axis: Mapping[str, Any], labels: Sequence[Cell]) -> tuple[dict[str, Any], Written]:
    """The axis with its form, and the cells of its columns; only numbers and dates have forms."""
    column = axis["column"]
    if axis["axis"] not in LINES:
        return dict(axis), {column: list(labels)}
    if form in TWO_COLUMNS:
        names = [f"{column}_{end}" for end in ENDS[form]]
        distinct = {label: CELLS[form](axis, label) for label in set(labels)}
        closed = not any(label and (label.endswith(")") or label.startswith("< ")) for label in distinct)
        written_axis = {**axis, "form": form, "columns": names, "closed": closed}
        check_read_back(written_axis, distinct)
        return written_axis, {name: [distinct[label][i] for label in labels] for i, name in enumerate(names)}
    written = [write_dash(axis, label) for label in labels] if form == "dash" else list(labels)
    return {**axis, "form": form}, {column: written}


def check_read_back(axis: Mapping[str, Any], cells: Mapping[Cell, tuple[Cell, Cell]]) -> None:
    """Refuse cells that the reader of labels would not read as the labels they were made from.

    An open label that is as wide as the domain has the middle of any value, and is read as that.
    """
    read = label_reader(axis)
    for label, pair in cells.items():
        is_any = pair == CELLS[axis["form"]](axis, EVERYTHING) and read(*pair) == EVERYTHING
        if not is_any and not is_same_label(axis, label, read(*pair)):
            raise BadOption(
                "--labels",
                f"column {axis['column']!r}: some label cannot be read back exactly from two columns. "
                "Take --labels text.",
            )


def is_same_label(axis: Mapping[str, Any], label: Cell, other: Cell) -> bool:
    """Whether two labels have the same ends."""
    if label is None or other is None or "*" in (label, other):
        return label == other
    try:
        return exact_ends(axis, label) == exact_ends(axis, other)
    except ValueError:
        return False


def write_dash(axis: Mapping[str, Any], label: Cell) -> Cell:
    """`22-25`; of dates `2001-01-01/2001-12-31`, as ISO 8601 writes them.  What could be misread is refused."""
    if label is None:
        return None
    low, high, closed = split_interval(label)
    if low is None or high is None or low == label:
        return label
    if not closed:
        raise no_dash(axis, "its intervals do not hold their last end, and 1.5-2.5 would say that they do")
    if axis["axis"] == "date":
        return f"{low}/{high}"
    if "-" in low + high:
        raise no_dash(axis, "it has ends with a minus, and -5--3 is misread when it is split at the dash")
    return f"{low}-{high}"


def no_dash(axis: Mapping[str, Any], reason: str) -> BadOption:
    """Why a column cannot be written with a dash."""
    return BadOption("--labels", f"column {axis['column']!r}: {reason}. Take --labels text or --labels columns.")


def both_ends(axis: Mapping[str, Any], label: Cell) -> tuple[Cell, Cell]:
    """The two cells of a label; an open end is infinite, or at the end of the calendar; a missing value has none.

    >>> age, day = {"axis": "number"}, {"axis": "date"}
    >>> both_ends(age, "[22, 25]"), both_ends(age, ">= 80"), both_ends(day, "*"), both_ends(age, "7")
    (('22', '25'), ('80', 'inf'), ('0001-01-01', '9999-12-31'), ('7', '7'))
    """
    if label is None:
        return None, None
    first, last = OPEN_ENDS[axis["axis"]]
    low, high, _ = (None, None, True) if label == EVERYTHING else split_interval(label)
    return low or first, high or last


def middle_and_half(axis: Mapping[str, Any], label: Cell) -> tuple[Cell, Cell]:
    """The middle of a label and its half width, of dates in days.

    An open label has the middle of its end and the end of the domain, which no outermost person decides, and
    no half width: values can lie farther away.  `*` is open on both sides.

    >>> age = {"axis": "number", "domain": [10, 90]}
    >>> [middle_and_half(age, label) for label in ("[22, 25]", ">= 80", "<= 20", "*")]
    [('23.5', '1.5'), ('85', None), ('15', None), ('50', None)]
    """
    if label is None:
        return None, None
    low, high, _ = (None, None, True) if label == EVERYTHING else split_interval(label)
    start, stop = (
        exact_position(axis, str(end) if own is None else own)
        for own, end in zip((low, high), axis["domain"], strict=True)
    )
    is_date, half = axis["axis"] == "date", Fraction(stop - start) / 2
    middle = format_moment((start + stop) // 2) if is_date else format_number(float((start + stop) / 2))
    if low is None or high is None:
        return middle, None
    return middle, format_number(float(half / DAY if is_date else half))


def format_moment(microseconds: int) -> str:
    """A moment by its microseconds since the year 1."""
    return (datetime.min + timedelta(microseconds=microseconds)).isoformat(sep=" ").removesuffix(" 00:00:00")


def format_number(value: float) -> str:
    """A number as labels write it."""
    return format_position({}, value)


CELLS = {"columns": both_ends, "midpoint": middle_and_half}


def check_names(published: Sequence[str]) -> None:
    """Refuse names of two columns for one interval that another published column has."""
    seen: set[str] = set()
    for name in published:
        if name.casefold() in seen:
            raise BadOption("--labels", f"two published columns would be named {name!r}. Rename one in the table.")
        seen.add(name.casefold())


# -- rows --------------------------------------------------------------------------------------------------------------


def as_typed(stream: Any, axes: Iterable[Mapping[str, Any]], whole: Sequence[str] = (), *, for_csv: bool) -> Any:
    """A stream in which labels of two columns are numbers and, but in CSV, moments; some columns are whole numbers."""
    kinds: dict[str, Any] = dict.fromkeys(whole, pa.int64())
    for axis in (axis for axis in axes if axis.get("form") in TWO_COLUMNS):
        moments = axis["columns"][: 2 if axis["form"] == "columns" else 1] if axis["axis"] == "date" else ()
        kinds |= {name: pa.float64() for name in axis["columns"] if name not in moments}
        kinds |= {} if for_csv else dict.fromkeys(moments, pa.timestamp("us"))
    return recast(stream, lambda field: kinds.get(field.name, field.type))


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


def as_json(certificate: Mapping[str, Any]) -> str:
    """A certificate as it is written."""
    return json.dumps(certificate, indent=2, ensure_ascii=False) + "\n"


def write_batches(batches: Any, draft: Path, target: Path) -> None:
    """Write a stream of record batches as CSV or Parquet."""
    as_csv = WRITTEN_FORMATS[target.suffix.lower()] == "csv"
    with draft.open("wb") as file, (csv_writer if as_csv else parquet_writer)(file, batches.schema) as writer:
        for batch in read_ahead(batches):
            writer.write_batch(batch)


def csv_writer(file: Any, schema: Any) -> Any:
    """A writer of CSV."""
    import pyarrow.csv as pc

    return pc.CSVWriter(file, schema)


def parquet_writer(file: Any, schema: Any) -> Any:
    """A writer of Parquet: listed labels are written as they are listed, and read back as text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    listed = {field.name for field in schema if pa.types.is_dictionary(field.type)}
    plain = pa.schema([field.with_type(field.type.value_type) if field.name in listed else field for field in schema])
    others = [name for name in schema.names if name not in listed]  # the least and the greatest label tell nothing
    writer = pq.ParquetWriter(file, schema, store_schema=False, write_statistics=others)
    writer.add_key_value_metadata({"ARROW:schema": b64encode(plain.serialize())})
    return writer

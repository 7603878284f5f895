"""Writing: the files of a release, their names, and how rows and intervals stand in them.

In: names that somebody gave, the axes of a certificate, labels of classes, a stream of rows.  Out: paths or BadTarget,
cells of every published column, CSV or Parquet; and, where its owner asks for it, the PRIVATE mapping.
Intervals are written `[22, 25]`, `22-25`, or in two columns; `certificate/labels.py` reads them back.
"""

import json
import re
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kech.axes.coarsening import count_distinct
from kech.axes.spelling import fold_people
from kech.certificate import certificate_path
from kech.certificate.labels import (
    DAY,
    EVERYTHING,
    TWO_COLUMNS,
    exact_ends,
    exact_place,
    format_place,
    label_reader,
    split_interval,
)
from kech.errors import BadOption, BadTarget
from kech.points.people import scramble
from kech.release.published import hash_cells, mix
from kech.system.files import clear_refusals, draft_file, put_in_place
from kech.tables.batches import read_ahead
from kech.tables.source import Address
from kech.tables.table import Table

Cell: TypeAlias = str | None
Written: TypeAlias = dict[str, list[Cell]]  # cells of each published column, one a class

LINES = ("number", "date")
INTERVAL = re.compile(r"\[([^,]+), ([^,]+)([\])])")
INFINITE = "inf"
OPEN_ENDS = {"number": ("-inf", INFINITE), "date": ("0001-01-01", "9999-12-31")}
ENDS = {"columns": ("low", "high"), "midpoint": ("mid", "half_width")}  # of names of columns
FORMATS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
BANNER = (
    "PRIVATE: not for publication. Whoever has this file and the release undoes the release. Keep it as you keep the "
    "original, or delete it."
)


# -- names of files --------------------------------------------------------------------------------------------------


def check_target(target: Path, table: Table) -> Path:
    """A file name kech can write, which is not the source."""
    if target.suffix.lower() not in FORMATS and not target.is_dir():
        raise BadTarget(target, f"its name must end in {' or '.join(FORMATS)}.")
    check_place(target, table)
    if certificate_path(target).is_dir():
        raise BadTarget(target, "a folder stands where its certificate would go. Choose another name.")
    return target


def check_beside(certificate: Path, table: Table, target: Path | None = None) -> Path:
    """A name for a certificate: neither the source nor the release."""
    check_place(certificate, table)
    if target is not None and certificate.resolve() == target.resolve():
        raise BadTarget(certificate, "the release itself goes there. Name another file for the certificate.")
    return certificate


def check_mapping(mapping: str | PathLike[str] | None, table: Table, *others: Path) -> Path | None:
    """A name for a mapping, if one is wanted: a .json file that is nothing else."""
    if mapping is None:
        return None
    target = Path(mapping)
    with clear_refusals(target):
        if target.suffix.lower() != ".json":
            raise BadTarget(target, "the name of a mapping must end in .json.")
        check_place(target, table)
        if any(target.resolve() == other.resolve() for other in others):
            raise BadTarget(target, "the release or its certificate goes there. Name another file for the mapping.")
    return target


def check_place(target: Path, table: Table) -> None:
    """A file that may be written: its folder is there, and it is no part of the source."""
    if target.is_dir():
        raise BadTarget(target, "it is a folder; name a file.")
    if not target.parent.is_dir():
        raise BadTarget(target, "its folder does not exist; create it first.")
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


# -- forms of intervals ----------------------------------------------------------------------------------------------


def check_intervals(form: str, axes: Iterable[Mapping[str, Any]]) -> None:
    """Only intervals have forms."""
    if form != "brackets" and not any(axis["axis"] in LINES for axis in axes):
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
    """Refuse cells that the reader of labels would not read as the labels they were made from."""
    read = label_reader(axis)
    for label, pair in cells.items():
        if not is_same_label(axis, label, read(*pair)):
            raise BadOption(
                "--labels",
                f"column {axis['column']!r}: some label cannot be read back exactly from two columns. "
                "Take --labels brackets.",
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
    match = INTERVAL.fullmatch(label or "")
    if match is None:
        return label
    if match[3] == ")":
        raise no_dash(axis, "its intervals do not hold their last end, and 1.5-2.5 would say that they do")
    if axis["axis"] == "date":
        return f"{match[1]}/{match[2]}"
    if "-" in match[1] + match[2]:
        raise no_dash(axis, "it has ends with a minus, and -5--3 is misread when it is split at the dash")
    return f"{match[1]}-{match[2]}"


def no_dash(axis: Mapping[str, Any], reason: str) -> BadOption:
    """Why a column cannot be written with a dash."""
    return BadOption("--labels", f"column {axis['column']!r}: {reason}. Take --labels brackets or columns.")


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

    An open tail has the middle of its end and the end of the domain, which follows from the published edges alone, and
    an infinite half width.  `*` has no middle.

    >>> age = {"axis": "number", "domain": [10, 90]}
    >>> middle_and_half(age, "[22, 25]"), middle_and_half(age, ">= 80"), middle_and_half(age, "*")
    (('23.5', '1.5'), ('85', 'inf'), (None, 'inf'))
    """
    if label is None or label == EVERYTHING:
        return None, label and INFINITE
    low, high, _ = split_interval(label)
    start, stop = (
        exact_place(axis, str(end) if own is None else own)
        for own, end in zip((low, high), axis["domain"], strict=True)
    )
    is_date, half = axis["axis"] == "date", Fraction(stop - start) / 2
    middle = format_moment((start + stop) // 2) if is_date else format_number(float((start + stop) / 2))
    return middle, INFINITE if None in (low, high) else format_number(float(half / DAY if is_date else half))


def format_moment(microseconds: int) -> str:
    """A moment by its microseconds since the year 1."""
    return (datetime.min + timedelta(microseconds=microseconds)).isoformat(sep=" ").removesuffix(" 00:00:00")


def format_number(value: float) -> str:
    """A number as labels write it."""
    return format_place({}, value)


def as_typed(stream: Any, axes: Iterable[Mapping[str, Any]], whole: Sequence[str] = (), *, for_csv: bool) -> Any:
    """A stream in which labels of two columns are numbers and, but in CSV, moments; some columns are whole numbers."""
    kinds: dict[str, Any] = dict.fromkeys(whole, pa.int64())
    for axis in (axis for axis in axes if axis.get("form") in TWO_COLUMNS):
        moments = axis["columns"][: 2 if axis["form"] == "columns" else 1] if axis["axis"] == "date" else ()
        kinds |= {name: pa.float64() for name in axis["columns"] if name not in moments}
        kinds |= {} if for_csv else dict.fromkeys(moments, pa.timestamp("us"))
    return recast(stream, lambda field: kinds.get(field.name, field.type))


CELLS = {"columns": both_ends, "midpoint": middle_and_half}


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


# -- files -----------------------------------------------------------------------------------------------------------


def as_json(certificate: Mapping[str, Any]) -> str:
    """A certificate as it is written."""
    return json.dumps(certificate, indent=2, ensure_ascii=False) + "\n"


def write_batches(batches: Any, draft: Path, target: Path) -> None:
    """Write a stream of record batches as CSV or Parquet."""
    as_csv = FORMATS[target.suffix.lower()] == "csv"
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


# -- people: how many different ones each written class has ----------------------------------------------------------


class Tally(Protocol):
    """Hears the values of some columns while rows pass by."""

    columns: list[str]

    def watch(self, stream: Any) -> Any:
        """The stream without these columns, which are its last."""


class PeopleTally:
    """Counts the different people of every class by its labels as they are written, while rows pass by.

    It knows nothing of the partition: a class that is too small is found here.
    """

    def __init__(self, labels: Sequence[str], columns: Sequence[str]) -> None:
        self.labels = list(labels)  # the published columns of the quasi-identifiers
        self.columns = list(columns)  # the person columns
        self.pairs: list[NDArray[np.int64]] = []  # of each batch: every class with each of its people, as numbers

    def watch(self, stream: Any) -> Any:
        """The stream without the person columns, which are its last."""
        schema = pa.schema([stream.schema.field(i) for i in range(len(stream.schema) - len(self.columns))])
        return pa.RecordBatchReader.from_batches(schema, self._count(stream, schema))

    def _count(self, stream: Any, schema: Any) -> Iterator[Any]:
        for batch in stream:
            labels = hash_published(batch, self.labels)
            people = [hash_column(column, fold_people) for column in batch.columns[len(schema) :]]
            self.pairs.append(distinct_pairs(np.stack([mix(labels), mix(people)])))
            yield pa.record_batch(batch.columns[: len(schema)], schema=schema)

    def state(self) -> dict[str, Any]:
        """What the maker of a file states: people of the smallest class, and of all classes."""
        classes, people = distinct_pairs(np.concatenate([np.empty((2, 0), np.int64), *self.pairs], axis=1))
        sizes = np.unique(classes, return_counts=True)[1]
        return {"promise": "person", "k": int(sizes.min()) if len(sizes) else 0, "people": count_distinct(people)}


class HistoryTally(PeopleTally):
    """Counts the people who share a history, by their labels as they are written, while rows pass by."""

    def __init__(self, labels: Sequence[str], columns: Sequence[str], number: str) -> None:
        super().__init__(labels, columns)
        self.number = number  # the published column of numbers
        self.rows: list[NDArray[np.int64]] = []  # of each batch: number, person and class of every row

    def _count(self, stream: Any, schema: Any) -> Iterator[Any]:
        for batch in stream:
            number, *labels = hash_published(batch, [self.number, *self.labels])
            people = [hash_column(column, fold_people) for column in batch.columns[len(schema) :]]
            self.rows.append(np.stack([number, mix(people), mix(labels)]))
            yield pa.record_batch(batch.columns[: len(schema)], schema=schema)

    def state(self) -> dict[str, Any]:
        """What the maker of a file states: the fewest people who share a history, and all people.

        No history is safe where a number is of several people, or a person has several numbers.
        """
        number, person, group = np.concatenate([np.empty((3, 0), np.int64), *self.rows], axis=1)
        pairs = distinct_pairs(np.stack([number, person]))
        people, who = np.unique(person, return_inverse=True)
        one_to_one = len(people) == len(np.unique(number)) == pairs.shape[1]
        sums = np.zeros(len(people), np.uint64)
        np.add.at(sums, who.ravel(), scramble(group.view(np.uint64)))  # equal for equal multisets of labels
        sizes = np.unique(sums, return_counts=True)[1]
        k = int(sizes.min()) if len(sizes) and one_to_one else 0
        return {"promise": "history", "k": k, "people": len(people)}


def distinct_pairs(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Two rows of numbers, each column once."""
    ordered = pairs[:, np.lexsort(pairs)]
    new = np.r_[True, (np.diff(ordered, axis=1) != 0).any(axis=0)][: ordered.shape[1]]
    return ordered[:, new]


def hash_published(batch: Any, names: Sequence[str]) -> list[NDArray[np.int64]]:
    """Numbers for the cells of published columns; original values that pass by under the same names come later."""
    return [hash_column(batch.column(batch.schema.names.index(name)), list) for name in names]


def hash_column(column: Any, read: Callable[[Sequence[str]], Sequence[str]]) -> NDArray[np.int64]:
    """A number for each cell, by how it reads; what is missing reads as nothing."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    texts = read([str(value) if value is not None else "" for value in coded.dictionary.to_pylist()])
    numbers: NDArray[np.int64] = np.append(hash_cells(texts), hash(""))
    places = coded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return np.asarray(numbers[places])


# -- mapping: which values stand behind the labels of a class --------------------------------------------------------


class ValueTally:
    """Counts the original values of every class while rows pass by."""

    many = 100_000  # rows that are counted together

    def __init__(self, labels: Sequence[str], columns: Sequence[str]) -> None:
        self.labels = list(labels)  # the published columns of the quasi-identifiers
        self.columns = list(columns)  # the quasi-identifiers
        self.counts: list[Counter[tuple[Cell, ...]]] = [Counter() for _ in self.columns]  # (*labels, value) -> rows

    def watch(self, stream: Any) -> Any:
        """The stream without the original values, which are its last columns."""
        schema = pa.schema([stream.schema.field(i) for i in range(len(stream.schema) - len(self.columns))])
        return pa.RecordBatchReader.from_batches(schema, self._passing(stream, schema))

    def _passing(self, stream: Any, schema: Any) -> Iterator[Any]:
        waiting: list[Any] = []
        for batch in stream:
            waiting.append(batch)
            yield pa.record_batch(batch.columns[: len(schema)], schema=schema)
            if sum(map(len, waiting)) >= self.many:
                self._count(waiting, schema)
                waiting = []
        self._count(waiting, schema)

    def _count(self, batches: Sequence[Any], schema: Any) -> None:
        if not batches:
            return
        columns = pa.Table.from_batches(batches).columns
        labels = [columns[schema.get_field_index(name)] for name in self.labels]
        names = [str(i) for i in range(len(labels) + 1)]
        for counts, column in zip(self.counts, columns[len(schema) :], strict=True):
            counted = pa.table([*labels, column], names=names).group_by(names).aggregate([([], "count_all")])
            keys = zip(*(counted[name].to_pylist() for name in names), strict=True)
            counts.update(dict(zip(keys, counted["count_all"].to_pylist(), strict=True)))

    def to_json(self, released: str) -> dict[str, Any]:
        """Classes in the order of their labels; `released` is the SHA-256 of the file they are in."""
        classes: defaultdict[tuple[Cell, ...], dict[str, list[tuple[Cell, int]]]] = defaultdict(dict)
        for column, counts in zip(self.columns, self.counts, strict=True):
            for key, rows in counts.items():
                classes[key[:-1]].setdefault(column, []).append((key[-1], rows))
        listed = [
            {
                "rows": sum(rows for _, rows in values[self.columns[0]]),
                "labels": dict(zip(self.labels, labels, strict=True)),
                "values": {name: sorted(pairs, key=lambda pair: in_order(pair[:1])) for name, pairs in values.items()},
            }
            for labels, values in sorted(classes.items(), key=lambda item: in_order(item[0]))
        ]
        return {"private": True, "notice": BANNER, "released": released, "classes": listed}

    def text(self, released: str) -> str:
        """The document as it is written, a class on each line."""
        document = self.to_json(released)
        lines = [json.dumps(one, ensure_ascii=False) for one in document.pop("classes")]
        return json.dumps(document, ensure_ascii=False)[:-1] + ', "classes": [\n' + ",\n".join(lines) + "\n]}\n"


@dataclass(frozen=True, slots=True)
class MappingDraft:
    """A mapping that is put in place together with its release; one without a target is none."""

    tally: ValueTally | None = None
    draft: Path = Path()
    target: Path = Path()

    def fill(self, released: str) -> None:
        """Write the draft, once all rows have passed by."""
        if self.tally is not None:
            self.draft.write_text(self.tally.text(released), "utf-8")

    def put_in_place(self) -> None:
        """Give it its name, readable to its owner only."""
        if self.tally is not None:
            put_in_place({self.draft: self.target}, private=True)


@contextmanager
def mapping_aside(target: Path | None, tally: ValueTally) -> Iterator[MappingDraft]:
    """A private draft beside the target, which is gone afterwards unless it was put in place."""
    if target is None:
        yield MappingDraft()
        return
    with clear_refusals(target), draft_file(target) as draft:
        yield MappingDraft(tally, draft, target)


def in_order(cells: Sequence[Cell]) -> list[tuple[bool, str]]:
    """Missing cells after all others."""
    return [(cell is None, cell or "") for cell in cells]

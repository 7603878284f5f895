"""Twin: a released file with plain values, one drawn inside every label.

In: a released file and its certificate, nothing else; and a seed.  Out: rows in the order of the file.
Whoever has the release can make the twin, so it tells nothing more about anybody, and nothing more precisely.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kech.certificate import AnyPath, Axis, Cell, certificate_path, open_published, published_columns
from kech.certificate.labels import DAY, EVERYTHING, exact_position, range_reader, read_set, split_interval
from kech.errors import BadTarget, check_path, unusable_value
from kech.release.published import Ints, Published, dialect_of, read_published
from kech.release.writing import WRITTEN_FORMATS, write_batches
from kech.system.files import draft_file, put_in_place, refuse_disk_errors
from kech.tables.frames import as_native
from kech.tables.sql import FORMULA, NUMBER, OPEN_END

Draw: TypeAlias = Callable[[int], NDArray[np.float64]]  # so many numbers from 0 up to 1

RARE_VALUE = "rare value"  # stands for any of the values that a set only counts
RUNS, PLAIN = re.compile(FORMULA, re.DOTALL), re.compile(f"{NUMBER}|{OPEN_END}")
LARGEST, MOST_DIGITS = 2**53, 15  # whole numbers and digits that a float holds
FINER = 2  # digits of drawn numbers beyond those of half-open labels
SECOND = DAY // 86_400
EPOCH = exact_position({"axis": "date"}, "1970-01-01")


@dataclass(frozen=True, eq=False, repr=False)
class Twin:
    """Rows of a release with a value drawn inside every label."""

    path: Path  # of the release
    certificate: Path
    document: Mapping[str, Any]  # the certificate, which holds for the release
    table: Any  # an Arrow table
    seed: int

    def __repr__(self) -> str:
        return f"Twin({self.table.num_rows:,} rows, seed {self.seed})"

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_twin

        return show_twin(self)

    @cached_property
    def frame(self) -> Any:
        """The rows as a dataframe of pandas, where it is installed, or as an Arrow table."""
        return as_native(self.table, None)

    def write(self, path: str | PathLike[str]) -> dict[str, Any]:
        """Write the rows as .csv or .parquet; give back what `kech twin --json` prints."""
        check_path(path)
        target = Path(path)
        with refuse_disk_errors(target):
            self.check_target(target)
            with draft_file(target) as draft:
                for_csv = WRITTEN_FORMATS[target.suffix.lower()] == "csv"
                table = omit_fractions(guard_formulas(self.table)) if for_csv else self.table
                write_batches(table.to_reader(), draft, target)
                put_in_place({draft: target})
        return self.to_json() | {"file": str(target)}

    def check_target(self, target: Path) -> None:
        """A file name that kech can write, and that is not taken by the release."""
        if target.suffix.lower() not in WRITTEN_FORMATS:
            raise BadTarget(target, f"its name must end in {' or '.join(WRITTEN_FORMATS)}. Rename it.")
        if target.is_dir() or not target.parent.is_dir():
            raise BadTarget(target, "it is a folder, or its folder does not exist. Name a file in a folder.")
        if target.resolve() in (self.path.resolve(), self.certificate.resolve()):
            raise BadTarget(target, "the release or its certificate is there. Choose another name.")
        if certificate_path(target).exists():
            raise BadTarget(target, "a release with a certificate is there. Choose another name.")

    def to_json(self) -> dict[str, Any]:
        """What the twin was made from."""
        return {
            "release": str(self.path),
            "sha256": self.document["file"]["sha256"],
            "k": self.document["claims"]["k"],
            "rows": self.table.num_rows,
            "seed": self.seed,
            "columns": {field.name: str(field.type) for field in self.table.schema},
        }


def make_twin(path: AnyPath, certificate: AnyPath | None = None, *, seed: int = 0) -> Twin:
    """Draw a plain value inside every label of a released file, for tools that cannot read labels.

    It reads the file and its certificate, which must hold, and nothing else.  Equal files and seeds give equal twins.
    Numbers and dates are drawn evenly between the ends of a label, an open one up to the end of the domain; members of
    a set or an order evenly too.  Labels of hierarchies stay.  `*` is drawn as the label of another row of its column.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise unusable_value("--seed", "Write a whole number, 0 or more.")
    published = read_published(path, certificate=certificate)
    draw = np.random.Generator(np.random.PCG64(seed)).random
    drawn = {
        name: draw_column(published.axes[name], published.column_labels(name), published.group, draw)
        for name in published.quasi_identifiers
    }
    beside = Path(certificate) if certificate is not None else certificate_path(path)
    return Twin(Path(path), beside, published.document, join_columns(published, drawn), seed)


def join_columns(published: Published, drawn: Mapping[str, Any]) -> Any:
    """Drawn columns under the names that they had in the original, and all others, in the order of the file."""
    axis_of = {part: name for name, axis in published.axes.items() for part in published_columns(axis)}
    names = open_published(published.path, **dialect_of(published.document)).columns
    others = read_others(published, [name for name in names if name not in axis_of])
    return pa.table({axis_of.get(name, name): drawn.get(axis_of.get(name, ""), others.get(name)) for name in names})


def read_others(published: Published, names: Sequence[str]) -> dict[str, Any]:
    """Columns that are published as they are, typed: in CSV as text, or as numbers where the certificate says so."""
    if published.document["file"]["format"] == "parquet":
        table = pq.read_table(published.path, columns=list(names))
        return {name: table.column(name) for name in names}
    text = open_published(published.path, **dialect_of(published.document))
    cells: dict[str, list[Cell]] = {name: [] for name in names}
    for batch in text.batches(names):
        for name, values in zip(names, batch, strict=True):
            cells[name] += map(text.label, values)
    kinds = published.document.get("values", {})
    return {name: as_kind(pa.array(column, pa.string()), kinds.get(name, {})) for name, column in cells.items()}


def as_kind(column: Any, stated: Mapping[str, Any]) -> Any:
    """A column of text as the certificate reads it: whole numbers, numbers, or text."""
    for kind in (pa.int64(), pa.float64()) if stated.get("kind") == "number" else ():
        try:
            return column.cast(kind)
        except pa.ArrowException:
            continue
    return column


# -- one column ------------------------------------------------------------------------------------------------------


def draw_column(axis: Axis, labels: Sequence[Cell], group: Ints, draw: Draw) -> Any:
    """A value inside the label of each row."""
    distinct = list(dict.fromkeys(labels))
    index_of = {label: index for index, label in enumerate(distinct)}
    row_labels = np.array([index_of[label] for label in labels], np.int64)[group]
    row_labels = draw_anything(row_labels, index_of.get(EVERYTHING, -1), draw)
    return DRAWS[axis["axis"]](axis, distinct, row_labels, draw)


def draw_anything(row_labels: Ints, everything: int, draw: Draw) -> Ints:
    """Rows with `*` have the label of another row of the column; where all have `*`, it stays."""
    unknown, known = np.flatnonzero(row_labels == everything), np.flatnonzero(row_labels != everything)
    if not len(unknown) or not len(known):
        return row_labels
    chosen = known[(draw(len(unknown)) * len(known)).astype(np.int64)]
    drawn = row_labels.copy()
    drawn[unknown] = row_labels[chosen]
    return drawn


def draw_members(lists: Sequence[Sequence[Cell]], row_labels: Ints, draw: Draw) -> Any:
    """One of the values that each label lists; missing where it lists none."""
    values = list(dict.fromkeys(value for members in lists for value in members))
    index_of = {value: index for index, value in enumerate(values)}
    counts = np.array([len(members) for members in lists], np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)])
    members_at = np.array([index_of[value] for members in lists for value in members] + [0], np.int64)
    chosen = starts[row_labels] + (draw(len(row_labels)) * counts[row_labels]).astype(np.int64)
    mask = counts[row_labels] == 0
    return pa.array(values or [None], pa.string()).take(pa.array(members_at[chosen], mask=mask))


def draw_set(axis: Axis, labels: Sequence[Cell], row_labels: Ints, draw: Draw) -> Any:
    """A member of a set; all values that it only counts are one member."""
    del axis

    def members(label: Cell) -> list[Cell]:
        values, rare = read_set(label or "")
        return [*values, *[RARE_VALUE] * bool(rare)]

    return draw_members([[] if is_nothing(label) else members(label) for label in labels], row_labels, draw)


def draw_order(axis: Axis, labels: Sequence[Cell], row_labels: Ints, draw: Draw) -> Any:
    """A value of an order between two others."""
    order, read = [str(value) for value in axis["order"]], range_reader(axis["order"])

    def members(label: Cell) -> list[str]:
        first, last = read(label or "")
        return order[first : last + 1]

    return draw_members([[] if is_nothing(label) else members(label) for label in labels], row_labels, draw)


def keep_node(axis: Axis, labels: Sequence[Cell], row_labels: Ints, draw: Draw) -> Any:
    """Nodes of a hierarchy stay: the certificate does not name the values below them."""
    del axis
    return draw_members([[] if is_nothing(label) else [label] for label in labels], row_labels, draw)


def is_nothing(label: Cell) -> bool:
    """Whether a label tells no value."""
    return not label or label == EVERYTHING


# -- lines -----------------------------------------------------------------------------------------------------------


def draw_number(axis: Axis, labels: Sequence[Cell], row_labels: Ints, draw: Draw) -> Any:
    """A number of as many digits as the ends of labels have; some more where these do not hold their last end."""
    ends = [end for label in labels if not is_nothing(label) for end in split_interval(label or "")[:2] if end]
    digits = max(map(count_digits, ends), default=0) + (0 if are_closed(labels) else FINER)
    low, high = find_bounds(axis, labels, Fraction(1, 10**digits))
    if digits > MOST_DIGITS or max((abs(step) for step in (*low, *high) if step is not None), default=0) > LARGEST:
        low, high = find_bounds(axis, labels, None)
        start, stop = (np.array(bounds, np.float64)[row_labels] for bounds in (low, high))
        values = start + draw(len(row_labels)) * (stop - start)
        return pa.array(np.where(values < stop, values, start), mask=np.isnan(start))
    steps, mask = draw_steps(low, high, row_labels, draw)
    if not digits:
        return pa.array(np.nan_to_num(steps).astype(np.int64), mask=mask)
    return pa.array(steps / 10.0**digits, mask=mask)


def draw_date(axis: Axis, labels: Sequence[Cell], row_labels: Ints, draw: Draw) -> Any:
    """A day, or a second where labels have times of day."""
    ends = [*map(str, axis["domain"]), *(end for label in labels if label for end in split_interval(label)[:2] if end)]
    has_time = any(":" in end for end in ends)
    low, high = find_bounds(axis, labels, Fraction(SECOND if has_time else DAY))
    steps, mask = draw_steps(low, high, row_labels, draw)
    since = np.nan_to_num(steps).astype(np.int64) - EPOCH // (SECOND if has_time else DAY)
    if has_time:
        return pa.array(since, pa.timestamp("s"), mask=mask).cast(pa.timestamp("us"))
    return pa.array(since.astype(np.int32), pa.date32(), mask=mask)


def count_digits(text: str) -> int:
    """Digits behind the point of a number as it is written."""
    return max(0, -int(Decimal(text).as_tuple().exponent))


def are_closed(labels: Sequence[Cell]) -> bool:
    """Whether no interval excludes its last end."""
    return not any(label and (label.endswith(")") or label.startswith("< ")) for label in labels)


def find_bounds(axis: Axis, labels: Sequence[Cell], unit: Fraction | None) -> tuple[list[Any], list[Any]]:
    """The first and the last multiple of a unit inside each label, or its ends; None where it tells no value."""
    bounds: list[tuple[Any, Any]] = []
    for label in labels:
        first, last, closed = split_interval(label or "")
        if is_nothing(label):
            bounds.append((None, None))
            continue
        start, stop = (
            exact_position(axis, str(end) if own is None else own)
            for own, end in zip((first, last), axis["domain"], strict=True)
        )
        start, stop = (min(start, stop), stop) if first is None else (start, max(start, stop))
        if unit is None:
            bounds.append((float(start), float(stop)))
        else:
            top = floor(stop / unit) if closed or last is None else ceil(stop / unit) - 1
            bounds.append((ceil(start / unit), max(top, ceil(start / unit))))
    return [low for low, _ in bounds], [high for _, high in bounds]


def draw_steps(low: Sequence[Any], high: Sequence[Any], row_labels: Ints, draw: Draw) -> tuple[Any, Any]:
    """A whole number between two others for each row, and where there is none."""
    start, stop = (np.array(ends, np.float64) for ends in (low, high))
    span = (stop - start + 1)[row_labels]
    steps = start[row_labels] + np.minimum(np.floor(draw(len(row_labels)) * span), span - 1)
    return steps, np.isnan(steps)


DRAWS: dict[str, Callable[[Axis, Sequence[Cell], Ints, Draw], Any]] = {
    "number": draw_number,
    "date": draw_date,
    "set": draw_set,
    "ordered": draw_order,
    "hierarchy": keep_node,
}


def omit_fractions(table: Any) -> Any:
    """Times that are whole seconds, so that a text of them ends with its seconds, as labels do."""
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            with suppress(pa.ArrowException):  # some have fractions
                table = table.set_column(index, field.name, table.column(index).cast(pa.timestamp("s", field.type.tz)))
    return table


def guard_formulas(table: Any) -> Any:
    """Texts that a spreadsheet would run as a formula begin with an apostrophe."""
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            coded = table.column(index).combine_chunks().dictionary_encode()
            texts = pa.array(map(guard_formula, coded.dictionary.to_pylist()), pa.string())
            table = table.set_column(index, field, texts.take(coded.indices))
    return table


def guard_formula(text: str) -> str:
    """One text, with an apostrophe in front where it is a formula and no number."""
    return f"'{text}" if RUNS.fullmatch(text) and not PLAIN.fullmatch(text) else text

"""Score: what a released file lost, and its k, read from the published labels alone; the same for every tool.

width of a cell     numbers and dates:  (hi - lo) / (max - min of the input), cut to the input's range
                    text:               (values of the input under the label - 1) / (values of the input - 1)
GCP                 mean width over all cells of the input; a row that is missing counts 1 in every column
k                   rows of the smallest group of equal labels

An empty cell of the input is a value of its own.  A label nobody can read is an error, not a guess.
"""

import re
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

END = r"(\d{4}-\d\d-\d\d|-?\d+(?:\.\d+)?)"
INTERVAL = re.compile(rf"\[{END}, {END}[])]|{END}-{END}")
TAIL = re.compile(rf"(<=?|>=?) {END}")
EPOCH = date(1970, 1, 1).toordinal()
EVERYTHING = "*"
RARE = re.compile("[0-9]+ rare values?")
MISSING = "nan"  # how peers print an empty cell

Width = Callable[[str], float]


def score_release(
    source: Path, released: Path, quasi_identifiers: Sequence[str], numbers: Sequence[str], delimiter: str = ","
) -> dict[str, Any]:
    """GCP, k, classes and lost rows of a released file."""
    given = read_columns(source, quasi_identifiers, delimiter)
    found = read_columns(released, quasi_identifiers, ",")
    lost = given.num_rows - found.num_rows
    total = float(lost * len(quasi_identifiers))
    for column in quasi_identifiers:
        values = given[column].unique().to_pylist()
        width = line_width(values) if column in numbers else set_width(values)
        counted = zip(*found[column].value_counts().flatten(), strict=True)
        total += sum(width(label.as_py()) * rows.as_py() for label, rows in counted)
    sizes = found.group_by(list(quasi_identifiers)).aggregate([([], "count_all")])["count_all"]
    return {
        "gcp": total / (given.num_rows * len(quasi_identifiers)),
        "k": pc.min(sizes).as_py(),
        "classes": len(sizes),
        "rows_lost": lost,
    }


def read_columns(path: Path, columns: Sequence[str], delimiter: str) -> pa.Table:
    """The columns as text; an empty cell is empty text."""
    parse = pyarrow.csv.ParseOptions(delimiter=delimiter)
    convert = pyarrow.csv.ConvertOptions(
        include_columns=list(columns), column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
    )
    return pyarrow.csv.read_csv(path, parse_options=parse, convert_options=convert)


def line_width(values: Sequence[str]) -> Width:
    """Width of an interval, a tail or a single value."""
    positions = [position(value) for value in values if value]
    first, last = min(positions), max(positions)

    def width(label: str) -> float:
        low, high = ends_of(label, first, last)
        return max(0.0, high - low) / ((last - first) or 1.0) if label != EVERYTHING else 1.0

    return width


def ends_of(label: str, first: float, last: float) -> tuple[float, float]:
    """The ends of an interval, a tail, a single value or everything, within the range of the input."""
    if label == EVERYTHING:
        return first, last
    if tail := TAIL.fullmatch(label):
        low, high = (first, position(tail[2])) if tail[1][0] == "<" else (position(tail[2]), last)
    elif interval := INTERVAL.fullmatch(label):
        low, high = (position(end) for end in interval.groups() if end is not None)
    else:
        low = high = position(label)
    return max(low, first), min(high, last)


def position(text: str) -> float:
    """A number, or the days of a date since 1970."""
    return date.fromisoformat(text).toordinal() - EPOCH if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else float(text)


def set_width(values: Sequence[str]) -> Width:
    """Width of a value, a set of values, a prefix with stars, or a range of the sorted values."""
    known = set(values)

    def width(label: str) -> float:
        return (len(covered(label, known)) - 1) / max(len(known) - 1, 1)

    return width


def covered(label: str, known: set[str]) -> set[str]:
    """The values of the input that a label stands for; of rare values, which are only counted, as many others."""
    members = named(label, known)
    return members | {*sorted(known - members)[: count_rare(label, known)]}


def count_rare(label: str, known: set[str]) -> int:
    """How many values a label counts without their names."""
    parts = () if label in known else split_set(label)
    return sum(int(part.split()[0]) for part in parts if RARE.fullmatch(part))


def split_set(label: str) -> list[str]:
    """The members of a set, or the label itself."""
    return label[1:-1].split(", ") if label.startswith("{") else label.split(",")


def named(label: str, known: set[str]) -> set[str]:
    """The values of the input that a label names, or all of them."""
    if label in known:
        return {label}
    if label == EVERYTHING:
        return known
    if label.endswith("*"):
        return {value for value in known if len(value) == len(label) and value.startswith(label.rstrip("*"))}
    if ".." in label:
        low, high = label.split("..")
        members = {low, high} - {""} | {value for value in known if low <= value and (not high or value <= high)}
    else:
        members = {"" if part == MISSING else part for part in split_set(label) if not RARE.fullmatch(part)}
    if not members <= known:
        raise ValueError(f"a label cannot be read: {label[:40]}")
    return members

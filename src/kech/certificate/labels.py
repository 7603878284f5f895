"""Labels: reads the labels of a quasi-identifier by its axis in the certificate.

In: an axis of a certificate and a label.  Out: the ends of an interval or a range, the values of a set; and its width,
the fraction of the axis that it covers, 0 to 1.
This is the only reader of labels; `release/writing.py` and the axes write them.  Intervals have one of four forms:

text       [22, 25]
dash       22-25, and of dates 2001-01-01/2001-12-31
columns    two columns, low and high; -inf and inf, or 0001-01-01 and 9999-12-31, where an end is open
midpoint   two columns, middle and half width, of dates in days; no half width where an end is open

Single values, open tails (`>= 80`) and `*` are written alike in the first two.  Two columns are both empty where a
value is missing.  The middle of an open tail is that of its end and the end of the domain, which tells the open side:
an upper tail has its middle above that of the domain, and `*` has just that one.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache, partial
from math import ulp
from typing import Any

from kech.certificate.cells import Batch, TextTable
from kech.certificate.tally import Cell
from kech.errors import BadOption

Axis = Mapping[str, Any]

EVERYTHING = "*"
INTERVAL = re.compile(r"\[([^,]+), ([^,]+)([\])])")
TAIL = re.compile(r"(>=|<=|<) (.+)")
MEMBER = re.compile(  # of a set: a JSON string, a text without , { } " \ and outer spaces, or nothing
    r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"|[^,{}"\\ ](?:[^,{}"\\]*[^,{}"\\ ])?|'
)
MOST_ENDS = 65_536  # of intervals that are cached
RARE = re.compile("[0-9]+ rare values?")  # the count, in a set, of the values that fewer than k rows have
EPOCH = datetime(1970, 1, 1)
DAY = 86_400_000_000  # microseconds
ROUNDINGS = 4  # of floats in the computation of a middle and a half width
FORMS = ("text", "dash", "columns", "midpoint")
TWO_COLUMNS = ("columns", "midpoint")
DASHES = {
    "number": re.compile(r"([0-9.]+(?:[eE]\+?[0-9]+)?)-([0-9.]+(?:[eE]\+?[0-9]+)?)"),
    "date": re.compile(r"([-0-9:. ]+)/([-0-9:. ]+)"),
}
BEGINS_POSITION = re.compile("[-+.0-9]")  # the beginning of a number or a date
OPEN = {  # the texts of open ends: of numbers also those of DuckDB and PostgreSQL, of dates the ends of the calendar
    "number": {"-inf": "-", "-Infinity": "-", "inf": "+", "Infinity": "+"},
    "date": {"0001-01-01": "-", "9999-12-31": "+"},
}


# -- intervals -------------------------------------------------------------------------------------------


def is_line(axis: Axis) -> bool:
    """Whether the labels of an axis are intervals: it is of numbers or dates."""
    return axis.get("axis") in ("number", "date")


def split_interval(label: str) -> tuple[str | None, str | None, bool]:
    """Both ends as text, None where a tail is open, and whether the second end belongs to the interval.

    >>> split_interval("[22, 25)"), split_interval(">= 80"), split_interval("7")
    (('22', '25', False), ('80', None, False), ('7', '7', True))
    """
    if match := INTERVAL.fullmatch(label):
        return match[1], match[2], match[3] == "]"
    if match := TAIL.fullmatch(label):
        return (match[2], None, False) if match[1] == ">=" else (None, match[2], match[1] == "<=")
    return label, label, True


def read_interval(axis: Axis, label: str) -> tuple[float, float, bool]:
    """Both ends as numbers, infinite where a tail is open, NaN where unreadable; whether the second belongs to it."""
    low, high, closed = split_interval(label)
    start = float("-inf") if low is None else read_position(axis, low)
    return start, float("inf") if high is None else read_position(axis, high), closed


def bound_interval(axis: Axis, label: str) -> tuple[float, float, bool]:
    """Both ends as numbers, with the end of the domain for an open tail; `*` is the whole domain."""
    start, stop = read_domain(axis)
    if label == EVERYTHING:
        return start, stop, True
    low, high, closed = read_interval(axis, label)
    low, high = (min(start, high) if low == float("-inf") else low, max(stop, low) if high == float("inf") else high)
    return low, high, closed or label.startswith(">=")


def read_domain(axis: Axis) -> tuple[float, float]:
    """The two ends of the domain, which has width 1."""
    low, high = (read_position(axis, str(end)) for end in axis["domain"])
    return low, high


def read_position(axis: Axis, text: Cell) -> float:
    """The number in a text, or a date as microseconds since 1970; NaN for any other text."""
    try:
        return (_microseconds if axis["axis"] == "date" else _number)((text or "").strip())
    except (ValueError, OverflowError):
        return float("nan")


def format_position(axis: Axis, value: float) -> str:
    """A number, or a date from microseconds since 1970, as text."""
    if axis.get("axis") != "date":
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    moment = EPOCH + timedelta(microseconds=round(value))
    return moment.isoformat(sep=" ", timespec="seconds").removesuffix(" 00:00:00")


def _number(text: str) -> float:
    if "_" in text:
        raise ValueError
    return float(text)


def _microseconds(text: str) -> float:
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    return (moment - EPOCH) / timedelta(microseconds=1)


# -- sets, ranges and prefixes ---------------------------------------------------------------------------


def split_set(label: str) -> list[str]:
    r"""The members of a set as text; a member with , { } " \ or outer spaces is a JSON string.

    >>> split_set('{a, "b, c", d}')
    ['a', '"b, c"', 'd']
    """
    position, members = 1, []
    while True:
        match = MEMBER.match(label, position)
        members.append(match[0] if match else "")
        position += len(members[-1])
        if not label.startswith(", ", position):
            break
        position += 2
    if position != len(label) - 1 or label[position] != "}":
        raise ValueError
    return members


def read_set(label: str) -> tuple[list[str], int]:
    """The values that a set lists, and how many rare ones it only counts; a label without braces is one value.

    >>> read_set('{a, "b, c", 3 rare values}')
    (['a', 'b, c'], 3)
    """
    if not label.startswith("{"):
        return [label], 0
    members = split_set(label)
    counts = [int(text.split()[0]) for text in members if RARE.fullmatch(text)]
    values = [json.loads(text) if text[:1] == '"' else text for text in members if not RARE.fullmatch(text)]
    return values, sum(counts)


def range_reader(order: Sequence[Any]) -> Callable[[str], tuple[int, int]]:
    """A function from a label to its first and last rank; labels are `value`, `low..high`, `low..` and `..high`.

    The function raises ValueError for any other label.

    >>> range_reader(["low", "middle", "high"])("middle..")
    (1, 2)
    """
    ranks = {str(value): rank for rank, value in enumerate(order)}
    starts = sorted(ranks, key=len)
    longest = 2 * max(map(len, ranks), default=0) + 2

    def read(label: str) -> tuple[int, int]:
        if label in ranks:
            return ranks[label], ranks[label]
        for start in starts if len(label) <= longest else ():
            last = ranks.get(label[len(start) + 2 :], -1) if label.startswith(start + "..") else -1
            if ranks[start] <= last:
                return ranks[start], last
        return _read_open_range(ranks, label)

    return read


def _read_open_range(ranks: Mapping[str, int], label: str) -> tuple[int, int]:
    if label.endswith("..") and label[:-2] in ranks:
        return ranks[label[:-2]], len(ranks) - 1
    if label.startswith("..") and label[2:] in ranks:
        return 0, ranks[label[2:]]
    raise ValueError


def read_prefix(label: str) -> str | None:
    """The prefix of all values under a label such as 476**; None for any other label."""
    prefix = label.rstrip(EVERYTHING)
    return None if prefix == label else prefix


# -- forms ---------------------------------------------------------------------------------------------


def form_of(axis: Mapping[str, Any]) -> str:
    """The form of the intervals of an axis; ValueError or TypeError where it is malformed."""
    form = str(axis.get("form", "text"))
    if form not in FORMS or (form != "text" and axis["axis"] not in DASHES):
        raise ValueError
    if form in TWO_COLUMNS:
        one, other = axis["columns"]
        if not isinstance(one, str) or not isinstance(other, str) or one == other or type(axis["closed"]) is not bool:
            raise TypeError
    return form


def published_columns(axis: Mapping[str, Any]) -> list[str]:
    """The columns of the file with the labels of an axis: one, or two in the forms columns and midpoint."""
    return list(axis["columns"]) if form_of(axis) in TWO_COLUMNS else [axis["column"]]


def as_brackets(table: TextTable, axes: Sequence[Mapping[str, Any]]) -> TextTable:
    """The same table with one column for each axis, and every interval in the form text."""
    forms = {axis["column"]: axis for axis in axes if form_of(axis) != "text"}
    readers = {name: lru_cache(maxsize=None)(_distinguish_cells(label_reader(axis))) for name, axis in forms.items()}
    parts = {axis["column"]: published_columns(axis) for axis in axes if axis["column"] in readers}
    columns_of = {
        name: columns_of_axis for name, columns_of_axis in parts.items() if set(columns_of_axis) <= set(table.columns)
    }
    hidden = {part for columns_of_axis in columns_of.values() for part in columns_of_axis}

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        columns_of_axes = [columns_of.get(name, [name]) for name in names]
        for batch in table.batches([part for columns_of_axis in columns_of_axes for part in columns_of_axis]):
            cells = iter(batch)
            cells_of_axes = [[next(cells) for _ in columns_of_axis] for columns_of_axis in columns_of_axes]
            yield [
                list(map(readers[name], *columns)) if name in columns_of else columns[0]
                for name, columns in zip(names, cells_of_axes, strict=True)
            ]

    columns = [*(name for name in table.columns if name not in hidden), *columns_of]
    return TextTable(columns, batches, table.label) if columns_of else table


def _distinguish_cells(read: Callable[..., Cell]) -> Callable[..., Cell]:
    """The reader, but different cells with an equal label (`-inf` and `-Infinity`) stay different.

    The second of them gets a text that no axis can read.
    """
    cells_of_label: dict[Cell, tuple[Cell, ...]] = {}

    def distinct(*cells: Cell) -> Cell:
        label = read(*cells)
        return label if cells_of_label.setdefault(label, cells) == cells else f"written otherwise: {cells}"

    return distinct


def _read_dash(axis: Mapping[str, Any]) -> Callable[..., Cell]:
    """A function from cells such as 20-29 to [20, 29]; a cell in brackets is not readable in this form."""
    pattern = DASHES[axis["axis"]]

    def read(cell: Cell) -> Cell:
        if match := pattern.fullmatch(cell or ""):
            return f"[{match[1]}, {match[2]}]"
        return f"no dash: {cell}" if cell and cell.startswith("[") else cell

    return read


def _read_columns(axis: Mapping[str, Any]) -> Callable[..., Cell]:
    closed, opens = axis["closed"], OPEN[axis["axis"]]

    def read(low: Cell, high: Cell) -> Cell:
        if not low and not high:
            return low
        low, high = (_plain_position(axis, cell) for cell in (low, high))
        start, stop = opens.get(low or ""), opens.get(high or "")
        if low == high:
            return low if low and BEGINS_POSITION.match(low) and not start else f"no place: {low}"
        if not low or not high or start == "+" or stop == "-":
            return f"[{low}, {high}]"
        return _spell(None if start else low, None if stop else high, closed)

    return read


def _read_midpoint(axis: Mapping[str, Any]) -> Callable[..., Cell]:
    closed, domain = axis["closed"], [exact_position(axis, str(end)) for end in axis["domain"]]

    def read(middle: Cell, half: Cell) -> Cell:
        if not middle and not half:
            return middle
        try:
            centre = exact_position(axis, middle or "")
            if not half:
                return _spell(*_ends_of_tail(axis, centre, domain), closed)
            return _spell(*_ends_around(axis, centre, exact_number(half)), closed)
        except (ValueError, OverflowError):
            return f"no middle: {middle} {half}"

    return read


def _ends_of_tail(axis: Axis, centre: Any, domain: Sequence[Any]) -> tuple[Cell, Cell]:
    """The ends of an open label; its middle is that of its edge and the end of the domain, or that of the domain."""
    largest = max(abs(centre), *map(abs, domain))
    if _is_near(axis, 2 * centre, sum(domain), largest):
        return None, None
    is_upper = 2 * centre > sum(domain)
    edge = 2 * centre - domain[is_upper]
    if not domain[0] <= edge <= domain[1]:
        raise ValueError
    text = _format_exact(axis, edge, largest)
    return (text, None) if is_upper else (None, text)


def _is_near(axis: Axis, one: Any, other: Any, largest: Any) -> bool:
    """Whether two sums are equal within the rounding of a written middle: of dates a microsecond."""
    return bool(abs(one - other) <= (2 if axis["axis"] == "date" else Fraction(ROUNDINGS * ulp(float(largest)))))


def _ends_around(axis: Axis, centre: Any, half: Fraction) -> tuple[Cell, Cell]:
    """The ends of an interval from its middle and half width, of dates in days."""
    distance = round(half * DAY) if axis["axis"] == "date" else half
    if distance < 0:
        raise ValueError
    ends = (centre - distance, centre + distance)
    low, high = (_format_exact(axis, end, abs(centre) + distance) for end in ends)
    return low, high


def _format_exact(axis: Axis, position: Any, largest: Any) -> str:
    """An exact number or date as text; of a number the shortest decimal within the rounding of sums of this size."""
    if axis["axis"] == "date":
        return (datetime.min + timedelta(microseconds=position)).isoformat(sep=" ").removesuffix(" 00:00:00")
    slack, value = Fraction(ROUNDINGS * ulp(float(largest))), float(position)
    texts = (f"{value:.{digits}g}" for digits in range(1, 17))
    return format_position(
        axis, float(next((text for text in texts if abs(Fraction(text) - position) <= slack), value))
    )


def _plain_position(axis: Axis, cell: Cell) -> Cell:
    """A date without its time where that is midnight; other cells unchanged."""
    try:
        return _format_exact(axis, exact_moment(cell or ""), 0) if axis["axis"] == "date" else cell
    except ValueError:
        return cell


def _spell(low: Cell, high: Cell, closed: bool) -> Cell:
    """The label in brackets of an interval; an end is None where a tail is open."""
    if low is None:
        return EVERYTHING if high is None else f"{'<=' if closed else '<'} {high}"
    if high is None:
        return f">= {low}"
    return low if low == high else f"[{low}, {high}{']' if closed else ')'}"


def label_reader(axis: Mapping[str, Any]) -> Callable[..., Cell]:
    """A function from the cells of an axis, in its form, to a label in brackets."""
    return _READERS[form_of(axis)](axis)


_READERS = {"dash": _read_dash, "columns": _read_columns, "midpoint": _read_midpoint}


# -- widths --------------------------------------------------------------------------------------------


def width_readers(axes: Sequence[Axis]) -> dict[str, Callable[[Cell], float | None]]:
    """For each column a function from a label to its width, or to None where the axis cannot read it."""
    try:
        readers = {axis["column"]: width_reader(axis) for axis in axes}
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise BadOption("quasi_identifiers", "an axis is malformed. Ask for a whole certificate.") from None
    if not 0 < len(readers) == len(axes):
        raise BadOption("quasi_identifiers", "it is missing or malformed. Ask for a whole certificate.")
    return readers


def width_reader(axis: Axis) -> Callable[[Cell], float | None]:
    """A function from a label to its width, or to None where the axis cannot read it."""
    if not isinstance(axis["column"], str):
        raise TypeError
    form_of(axis)
    if type(axis.get("domain_given", False)) is not bool or (axis.get("domain_given") and not is_line(axis)):
        raise TypeError
    widths: dict[Cell, float] = {None: 0.0, "": 0.0, "*": 1.0}
    if axis["axis"] == "hierarchy":
        widths |= {label: _share(under, axis["leaves"]) for label, under in axis["labels"].items()}
    read = _AXES[axis["axis"]](axis)

    def width(label: Cell) -> float | None:
        try:
            return float(min(1, max(0, widths[label] if label in widths else read(label))))
        except ValueError:
            return None

    return width


def _share(part: int, whole: int) -> float:
    return (part - 1) / (whole - 1) if whole > 1 else 0.0


def _read_set(axis: Axis) -> Callable[[Any], float]:
    values, rare = int(axis["values"]), _rare_values(axis)
    return lambda label: _share(_count_covered(label, rare), values) if label.startswith("{") else 0.0


def _rare_values(axis: Axis) -> list[int] | None:
    """The numbers of rare values that sets of this axis count: one, or those of all versions of a series.

    None where the certificate states no such number.
    """
    rare = axis.get("rare")
    if rare is None:
        return None
    counts = rare if isinstance(rare, list) else [rare]
    if not all(type(count) is int and 0 <= count <= int(axis["values"]) for count in counts):
        raise ValueError
    return counts


def _count_covered(label: str, rare: Sequence[int] | None) -> int:
    """The number of values of a set: its members, with the rare ones that its last member counts.

    >>> _count_covered("{a, b, 7 rare values}", [7])
    9
    """
    members = split_set(label)
    counts = [i for i, member in enumerate(members) if rare is not None and RARE.fullmatch(member)]
    if not counts:
        return len(members)
    count_of_text = {f"{count} rare value{'s' * (count != 1)}": count for count in rare or () if count}
    if counts != [len(members) - 1] or members[-1] not in count_of_text:
        raise ValueError
    return len(members) - 1 + count_of_text[members[-1]]


def _read_ordinal(axis: Axis) -> Callable[[Any], float]:
    read, values = range_reader(axis["order"]), len({str(value) for value in axis["order"]})

    def width(label: str) -> float:
        first, last = read(label)
        return _share(last - first + 1, values)

    return width


def _read_interval(read: Callable[[str], Any], axis: Axis) -> Callable[[Any], Any]:
    edge = lru_cache(MOST_ENDS)(read)  # many labels have a common end
    low, high = (edge(str(end)) for end in axis["domain"])
    if low > high:
        raise ValueError

    def width(label: str) -> Any:
        start, stop = _edges(label, edge, low, high)
        if start > stop:
            raise ValueError
        covered = min(stop, high) - max(start, low)
        return covered / (high - low) if covered > 0 else 0.0

    return width


def _read_number(text: str) -> Fraction | int:
    """An exact number, whole where it is one: fractions take ten times as long."""
    if text.isascii() and text.isdecimal():
        return int(text)
    number = exact_number(text)
    return number.numerator if number.denominator == 1 else number


def _edges(label: str, edge: Callable[[str], Any], low: Any, high: Any) -> tuple[Any, Any]:
    """Both ends, with the end of the domain for an open tail."""
    first, last, _ = split_interval(label)
    start = min(edge(last or ""), low) if first is None else edge(first)
    return start, max(start, high) if last is None else edge(last)


def count_beyond(axis: Axis, labels: Iterable[Cell]) -> int:
    """Labels that end beyond the domain of their axis; those that cannot be read are not counted."""
    low, high = (exact_position(axis, str(end)) for end in axis["domain"])
    beyond = 0
    for label in labels:
        try:
            start, stop, _ = exact_ends(axis, label) if label and label != EVERYTHING else (None, None, True)
        except ValueError:
            continue
        beyond += (start is not None and start < low) or (stop is not None and stop > high)
    return beyond


def exact_ends(axis: Axis, label: str) -> tuple[Any, Any, bool]:
    """Both ends without rounding, None where a tail is open; and whether the second belongs to the interval."""
    low, high, closed = split_interval(label)
    start, stop = (None if end is None else exact_position(axis, end) for end in (low, high))
    return start, stop, closed


def exact_position(axis: Axis, text: str) -> Any:
    """A number as a fraction, or a date in whole microseconds; ValueError for any other text."""
    return (exact_moment if axis["axis"] == "date" else exact_number)(text)


def exact_number(text: str) -> Fraction:
    """A decimal number as a fraction; ValueError for any other text."""
    if not re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", text):
        raise ValueError
    return Fraction(text)


def exact_moment(text: str) -> int:
    """A date, with or without time, in whole microseconds since year 1; ValueError for any other text."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?)?", text):
        raise ValueError
    return (datetime.fromisoformat(text) - datetime.min) // timedelta(microseconds=1)


_AXES: dict[str, Callable[[Axis], Callable[[Any], Any]]] = {
    "number": partial(_read_interval, _read_number),
    "date": partial(_read_interval, exact_moment),
    "hierarchy": lambda _axis: lambda _label: 0.0,
    "set": _read_set,
    "ordered": _read_ordinal,
}


# -- rare values ---------------------------------------------------------------------------------------


def broken_sets(axis: Mapping[str, Any], rows: Mapping[Cell, int], k: int) -> list[str]:
    """Complaints where sets list more values than k rows each could have, or count more rare values than rows.

    In: the rows of each label.  With k = 0 nothing is checked.
    """
    if axis["axis"] != "set" or axis.get("rare") is None or not k:
        return []
    members = {label: _read_members(label) for label in rows if label and label != "*"}
    listed = {label: values for label, (values, _) in members.items()}
    rows_by_count = Counter[int]()
    for label, (_, rare) in members.items():
        rows_by_count[rare] += rows[label]
    column, any_value = axis["column"], rows.get("*", 0)
    broken = []
    if _missing_rows(listed, rows, k) > any_value:
        broken.append(f"{column!r}: its sets list more values than {k} rows each could have")
    if any(count > rows_by_count[count] + any_value for count in _rare_values(axis) or ()):
        broken.append(f"{column!r}: its sets count more rare values than there are rows to have them")
    return broken


def _missing_rows(listed: Mapping[str, list[str]], rows: Mapping[Cell, int], k: int) -> int:
    """The fewest rows that must be added so that every listed value can have k rows.

    In: the values that each label lists, and the rows of each label.  A row with a label has one of its values.
    So labels with a common value are one group, which needs k rows for each value in it.
    """
    groups = _UnionFind(listed.values())
    values, group_rows = Counter(map(groups.find, groups.parent)), Counter[str]()
    for label, texts in listed.items():
        if texts:
            group_rows[groups.find(texts[0])] += rows[label]
    return sum(max(0, k * count - group_rows[first]) for first, count in values.items())


def _read_members(label: str) -> tuple[list[str], int]:
    """The values that a label lists, and how many rare ones it counts; nothing where it cannot be read."""
    try:
        return read_set(label)
    except ValueError:
        return [], 0


class _UnionFind:
    """Groups of values, joined where a list contains both."""

    def __init__(self, lists: Iterable[list[str]]) -> None:
        self.parent: dict[str, str] = {}
        for texts in lists:
            for text in texts:
                self.parent[self.find(text)] = self.find(texts[0])

    def find(self, text: str) -> str:
        """The representative of the group of a value."""
        while (parent := self.parent.setdefault(text, text)) != text:
            self.parent[text] = parent = self.parent[parent]
            text = parent
        return text

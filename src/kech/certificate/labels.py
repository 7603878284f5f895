"""Labels: what the cells of a quasi-identifier stand for, as its axis in the certificate says.

In: an axis of a certificate and a label.  Out: the ends of an interval or a range, the values of a set; and its width,
the share of the axis that it covers, 0 to 1.
This is the only reader of labels; `release/writing.py` and the axes write them.  Intervals have one of four forms:

brackets   [22, 25]
dash       22-25, and of dates 2001-01-01/2001-12-31
columns    two columns, low and high; -inf and inf, or 0001-01-01 and 9999-12-31, where an end is open
midpoint   two columns, middle and half width, of dates in days; inf where the upper end is open, -inf the lower

Single values, open tails (`>= 80`) and `*` are written alike in the first two.  Two columns are both empty where a
value is missing.  The middle of an open tail is that of its end and the end of the domain; `*` has none.
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
MOST_ENDS = 65_536  # of intervals, that are held after they were read
RARE = re.compile("[0-9]+ rare values?")  # how a set counts the values that fewer than k rows hold
EPOCH = datetime(1970, 1, 1)
DAY = 86_400_000_000  # microseconds
ROUNDINGS = 4  # of floats, that a middle and a half width have passed through
FORMS = ("brackets", "dash", "columns", "midpoint")
TWO_COLUMNS = ("columns", "midpoint")
DASHES = {
    "number": re.compile(r"([0-9.]+(?:[eE]\+?[0-9]+)?)-([0-9.]+(?:[eE]\+?[0-9]+)?)"),
    "date": re.compile(r"([-0-9:. ]+)/([-0-9:. ]+)"),
}
PLACE = re.compile("[-+.0-9]")  # how a number or a date begins
OPEN = {  # ends that are open: of numbers as DuckDB and PostgreSQL write them too, of dates the ends of the calendar
    "number": {"-inf": "-", "-Infinity": "-", "inf": "+", "Infinity": "+"},
    "date": {"0001-01-01": "-", "9999-12-31": "+"},
}


# -- intervals -------------------------------------------------------------------------------------------


def is_line(axis: Axis) -> bool:
    """Whether labels are intervals."""
    return axis.get("axis") in ("number", "date")


def split_interval(label: str) -> tuple[str | None, str | None, bool]:
    """Both ends as they are written, None where a tail is open, and whether the second belongs to the interval.

    >>> split_interval("[22, 25)"), split_interval(">= 80"), split_interval("7")
    (('22', '25', False), ('80', None, False), ('7', '7', True))
    """
    if match := INTERVAL.fullmatch(label):
        return match[1], match[2], match[3] == "]"
    if match := TAIL.fullmatch(label):
        return (match[2], None, False) if match[1] == ">=" else (None, match[2], match[1] == "<=")
    return label, label, True


def read_interval(axis: Axis, label: str) -> tuple[float, float, bool]:
    """Both ends as places on the line, infinite or NaN where there is none, and whether the second belongs to it."""
    low, high, closed = split_interval(label)
    start = float("-inf") if low is None else read_place(axis, low)
    return start, float("inf") if high is None else read_place(axis, high), closed


def bound_interval(axis: Axis, label: str) -> tuple[float, float, bool]:
    """Both ends as places on the line, an open tail ended by the domain; `*` is all of the domain."""
    start, stop = read_domain(axis)
    if label == EVERYTHING:
        return start, stop, True
    low, high, closed = read_interval(axis, label)
    low, high = (min(start, high) if low == float("-inf") else low, max(stop, low) if high == float("inf") else high)
    return low, high, closed or label.startswith(">=")


def read_domain(axis: Axis) -> tuple[float, float]:
    """The ends that widths are measured from."""
    low, high = (read_place(axis, str(end)) for end in axis["domain"])
    return low, high


def read_place(axis: Axis, text: Cell) -> float:
    """A number, or microseconds since 1970, as labels and cells write them; NaN for what is neither."""
    try:
        return (_microseconds if axis["axis"] == "date" else _number)((text or "").strip())
    except (ValueError, OverflowError):
        return float("nan")


def format_place(axis: Axis, value: float) -> str:
    """A place on a line as people write it: a number, or a date."""
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
    r"""Members of a set as they are written; one with , { } " \ or outer spaces is a JSON string.

    >>> split_set('{a, "b, c", d}')
    ['a', '"b, c"', 'd']
    """
    place, members = 1, []
    while True:
        match = MEMBER.match(label, place)
        members.append(match[0] if match else "")
        place += len(members[-1])
        if not label.startswith(", ", place):
            break
        place += 2
    if place != len(label) - 1 or label[place] != "}":
        raise ValueError
    return members


def read_set(label: str) -> tuple[list[str], int]:
    """The values that a set spells out, and how many rare ones it only counts; a label without braces is a value.

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
    """A reader of the first and the last rank of `value`, `low..high`, `low..` (or more) and `..high` (or less).

    It raises ValueError for any other label.

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
    """What values under a label such as 476** begin with; None where it is not written so."""
    prefix = label.rstrip(EVERYTHING)
    return None if prefix == label else prefix


# -- forms ---------------------------------------------------------------------------------------------


def form_of(axis: Mapping[str, Any]) -> str:
    """The form of an axis; ValueError where it has none that is known."""
    form = str(axis.get("form", "brackets"))
    if form not in FORMS or (form != "brackets" and axis["axis"] not in DASHES):
        raise ValueError
    if form in TWO_COLUMNS:
        one, other = axis["columns"]
        if not isinstance(one, str) or not isinstance(other, str) or one == other or type(axis["closed"]) is not bool:
            raise TypeError
    return form


def published_columns(axis: Mapping[str, Any]) -> list[str]:
    """The columns of the file that hold the labels of an axis."""
    return list(axis["columns"]) if form_of(axis) in TWO_COLUMNS else [axis["column"]]


def as_brackets(table: TextTable, axes: Sequence[Mapping[str, Any]]) -> TextTable:
    """The same table with one column for each axis, and every interval as `[low, high]`."""
    forms = {axis["column"]: axis for axis in axes if form_of(axis) != "brackets"}
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
    """A reader that reads no two cells alike: `-inf` and `-Infinity` tell rows apart.  The second is no label."""
    cells_of_label: dict[Cell, tuple[Cell, ...]] = {}

    def distinct(*cells: Cell) -> Cell:
        label = read(*cells)
        return label if cells_of_label.setdefault(label, cells) == cells else f"written otherwise: {cells}"

    return distinct


def _read_dash(axis: Mapping[str, Any]) -> Callable[..., Cell]:
    """A reader of cells such as 20-29, which gives [20, 29]; a cell that is in brackets already is no label here."""
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
        low, high = (_plain_place(axis, cell) for cell in (low, high))
        start, stop = opens.get(low or ""), opens.get(high or "")
        if low == high:
            return low if low and PLACE.match(low) and not start else f"no place: {low}"
        if not low or not high or start == "+" or stop == "-":
            return f"[{low}, {high}]"
        return _spell(None if start else low, None if stop else high, closed)

    return read


def _read_midpoint(axis: Mapping[str, Any]) -> Callable[..., Cell]:
    closed, domain = axis["closed"], [exact_place(axis, str(end)) for end in axis["domain"]]

    def read(middle: Cell, half: Cell) -> Cell:
        if not middle and not half:
            return middle
        side = OPEN["number"].get(half or "")
        if not middle and side == "+":
            return EVERYTHING
        try:
            centre = exact_place(axis, middle or "")
            if side:
                return _spell(*_ends_of_tail(axis, centre, domain, side), closed)
            return _spell(*_ends_around(axis, centre, exact_number(half or "")), closed)
        except (ValueError, OverflowError):
            return f"no middle: {middle} {half}"

    return read


def _ends_of_tail(axis: Axis, centre: Any, domain: Sequence[Any], side: str) -> tuple[Cell, Cell]:
    """The ends of a tail that is open on one side: its middle lies between its edge and the end of the domain there."""
    end = domain[side == "+"]
    if not domain[0] <= 2 * centre - end <= domain[1]:
        raise ValueError
    edge = _format_exact(axis, 2 * centre - end, max(abs(centre), abs(end)))
    return (edge, None) if side == "+" else (None, edge)


def _ends_around(axis: Axis, centre: Any, half: Fraction) -> tuple[Cell, Cell]:
    """The ends of an interval by its middle and half width, of dates in days."""
    reach = round(half * DAY) if axis["axis"] == "date" else half
    if reach < 0:
        raise ValueError
    low, high = (_format_exact(axis, end, abs(centre) + reach) for end in (centre - reach, centre + reach))
    return low, high


def _format_exact(axis: Axis, place: Any, largest: Any) -> str:
    """A place as labels write it: of a number the shortest decimal that lies within the rounding of sums so large."""
    if axis["axis"] == "date":
        return (datetime.min + timedelta(microseconds=place)).isoformat(sep=" ").removesuffix(" 00:00:00")
    slack, value = Fraction(ROUNDINGS * ulp(float(largest))), float(place)
    texts = (f"{value:.{digits}g}" for digits in range(1, 17))
    return format_place(axis, float(next((text for text in texts if abs(Fraction(text) - place) <= slack), value)))


def _plain_place(axis: Axis, cell: Cell) -> Cell:
    """A date as labels write it, without the midnight that columns of times have; other cells as they are."""
    try:
        return _format_exact(axis, exact_moment(cell or ""), 0) if axis["axis"] == "date" else cell
    except ValueError:
        return cell


def _spell(low: Cell, high: Cell, closed: bool) -> Cell:
    """The label of an interval by its ends; None where a tail is open."""
    if low is None:
        return EVERYTHING if high is None else f"{'<=' if closed else '<'} {high}"
    if high is None:
        return f">= {low}"
    return low if low == high else f"[{low}, {high}{']' if closed else ')'}"


def label_reader(axis: Mapping[str, Any]) -> Callable[..., Cell]:
    """What reads the cells of an axis with a form as a label in brackets."""
    return _READERS[form_of(axis)](axis)


_READERS = {"dash": _read_dash, "columns": _read_columns, "midpoint": _read_midpoint}


# -- widths --------------------------------------------------------------------------------------------


def width_readers(axes: Sequence[Axis]) -> dict[str, Callable[[Cell], float | None]]:
    """For each column the width of a label, or None where its axis cannot read it."""
    try:
        readers = {axis["column"]: width_reader(axis) for axis in axes}
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise BadOption("quasi_identifiers", "an axis is malformed. Ask for a whole certificate.") from None
    if not 0 < len(readers) == len(axes):
        raise BadOption("quasi_identifiers", "it is missing or malformed. Ask for a whole certificate.")
    return readers


def width_reader(axis: Axis) -> Callable[[Cell], float | None]:
    """Width of a label, or None when this axis cannot read it."""
    if not isinstance(axis["column"], str):
        raise TypeError
    form_of(axis)
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
    """How many values a set prints as a count: one number, or those of all versions of a series.

    None in certificates that know no such sets.
    """
    rare = axis.get("rare")
    if rare is None:
        return None
    counts = rare if isinstance(rare, list) else [rare]
    if not all(type(count) is int and 0 <= count <= int(axis["values"]) for count in counts):
        raise ValueError
    return counts


def _count_covered(label: str, rare: Sequence[int] | None) -> int:
    """Values that a set stands for: its members, and as many rare ones as its last member says.

    >>> _count_covered("{a, b, 7 rare values}", [7])
    9
    """
    members = split_set(label)
    counts = [i for i, member in enumerate(members) if rare is not None and RARE.fullmatch(member)]
    if not counts:
        return len(members)
    spelled = {f"{count} rare value{'s' * (count != 1)}": count for count in rare or () if count}
    if counts != [len(members) - 1] or members[-1] not in spelled:
        raise ValueError
    return len(members) - 1 + spelled[members[-1]]


def _read_ordinal(axis: Axis) -> Callable[[Any], float]:
    read, values = range_reader(axis["order"]), len({str(value) for value in axis["order"]})

    def width(label: str) -> float:
        first, last = read(label)
        return _share(last - first + 1, values)

    return width


def _read_interval(read: Callable[[str], Any], axis: Axis) -> Callable[[Any], Any]:
    edge = lru_cache(MOST_ENDS)(read)  # many labels share an end
    low, high = (edge(str(end)) for end in axis["domain"])
    if low > high:
        raise ValueError

    def width(label: str) -> Any:
        start, stop = _edges(label, edge, low, high)
        if start > stop:
            raise ValueError
        return (min(stop, high) - max(start, low)) / (high - low) if low < high else 0.0

    return width


def _edges(label: str, edge: Callable[[str], Any], low: Any, high: Any) -> tuple[Any, Any]:
    """Both ends; the domain ends an open tail."""
    first, last, _ = split_interval(label)
    start = min(edge(last or ""), low) if first is None else edge(first)
    return start, max(start, high) if last is None else edge(last)


def exact_ends(axis: Axis, label: str) -> tuple[Any, Any, bool]:
    """Both ends of a label, exactly: None where a tail is open; and whether the second belongs to the interval."""
    low, high, closed = split_interval(label)
    start, stop = (None if end is None else exact_place(axis, end) for end in (low, high))
    return start, stop, closed


def exact_place(axis: Axis, text: str) -> Any:
    """A number, or a moment in microseconds, exactly."""
    return (exact_moment if axis["axis"] == "date" else exact_number)(text)


def exact_number(text: str) -> Fraction:
    """A plain number, exactly."""
    if not re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", text):
        raise ValueError
    return Fraction(text)


def exact_moment(text: str) -> int:
    """A plain date or time in microseconds, exactly."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?)?", text):
        raise ValueError
    return (datetime.fromisoformat(text) - datetime.min) // timedelta(microseconds=1)


_AXES: dict[str, Callable[[Axis], Callable[[Any], Any]]] = {
    "number": partial(_read_interval, exact_number),
    "date": partial(_read_interval, exact_moment),
    "hierarchy": lambda _axis: lambda _label: 0.0,
    "set": _read_set,
    "ordered": _read_ordinal,
}


# -- rare values ---------------------------------------------------------------------------------------


def broken_spelling(axis: Mapping[str, Any], rows: Mapping[Cell, int], k: int) -> list[str]:
    """Complaints where more values are spelled out, or counted as rare, than rows can hold; none for a k of 0."""
    if axis["axis"] != "set" or axis.get("rare") is None or not k:
        return []
    listed = {label: _read_members(label) for label in rows if label and label != "*"}
    spelled = {label: values for label, (values, _) in listed.items()}
    rows_by_count = Counter[int]()
    for label, (_, counted) in listed.items():
        rows_by_count[counted] += rows[label]
    column, anything = axis["column"], rows.get("*", 0)
    broken = []
    if _missing_rows(spelled, rows, k) > anything:
        broken.append(f"{column!r}: its sets spell out more values than {k} rows each could hold")
    if any(count > rows_by_count[count] + anything for count in _rare_values(axis) or ()):
        broken.append(f"{column!r}: more rare values are counted than there are rows to hold them")
    return broken


def _missing_rows(spelled: Mapping[str, list[str]], rows: Mapping[Cell, int], k: int) -> int:
    """How many rows are missing, at least, for each value that is spelled out to be held by k rows.

    In: the values that each label spells out, and the rows of each label.  A row with a label holds one of its values.
    So labels that share values are one group, which needs k rows for each value in it.
    """
    groups = _UnionFind(spelled.values())
    values, group_rows = Counter(map(groups.find, groups.above)), Counter[str]()
    for label, texts in spelled.items():
        if texts:
            group_rows[groups.find(texts[0])] += rows[label]
    return sum(max(0, k * count - group_rows[first]) for first, count in values.items())


def _read_members(label: str) -> tuple[list[str], int]:
    """The values that a label lists, and how many rare ones it counts; none where it cannot be read."""
    try:
        return read_set(label)
    except ValueError:
        return [], 0


class _UnionFind:
    """Values, joined where they are listed together."""

    def __init__(self, lists: Iterable[list[str]]) -> None:
        self.above: dict[str, str] = {}
        for texts in lists:
            for text in texts:
                self.above[self.find(text)] = self.find(texts[0])

    def find(self, text: str) -> str:
        """The value that stands for all of its group."""
        while (above := self.above.setdefault(text, text)) != text:
            self.above[text] = above = self.above[above]
            text = above
        return text

"""Labels: what a published label stands for, as its axis in the certificate says.

In: an axis of a certificate and a label.  Out: the ends of an interval or a range, the values of a set.
This is the only reader of labels; `release/forms.py` and the axes write them.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from kech.certificate.tally import Cell

Axis = Mapping[str, Any]

EVERYTHING = "*"
INTERVAL = re.compile(r"\[([^,]+), ([^,]+)([\])])")
TAIL = re.compile(r"(>=|<=|<) (.+)")
MEMBER = re.compile(  # of a set: a JSON string, a text without , { } " \ and outer spaces, or nothing
    r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"|[^,{}"\\ ](?:[^,{}"\\]*[^,{}"\\ ])?|'
)
RARE = re.compile("[0-9]+ rare values?")  # how a set counts the values that fewer than k rows hold
EPOCH = datetime(1970, 1, 1)
DAY = 86_400_000_000  # microseconds


# -- intervals -------------------------------------------------------------------------------------------


def is_line(axis: Axis) -> bool:
    """Whether labels are intervals."""
    return axis.get("axis") in ("numeric", "date")


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
    """The same with ends as places on the line: infinite where a tail is open, NaN where the label is no interval."""
    low, high, closed = split_interval(label)
    start = float("-inf") if low is None else read_place(axis, low)
    return start, float("inf") if high is None else read_place(axis, high), closed


def bound_interval(axis: Axis, label: str) -> tuple[float, float, bool]:
    """The same with an open tail ended by the domain; `*` is all of the domain."""
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
        found = MEMBER.match(label, place)
        members.append(found[0] if found else "")
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

"""Labels: what a published label stands for, as its axis in the certificate says.

In: an axis of a certificate and a label.  Out: the ends of an interval, the values of a set or of a range.
"""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from kech.certificate import Axis, Cell

EVERYTHING = "*"
MEMBER = re.compile(r'"(?:[^"\\]|\\.)*+"?|[^,{}"\\]+')  # a string that does not end is read once, to the last letter
RARE = re.compile("[0-9]+ rare values?")
EPOCH = datetime(1970, 1, 1)
DAY = 86_400_000_000  # microseconds


def is_line(axis: Axis) -> bool:
    """Whether labels are intervals."""
    return axis.get("axis") in ("numeric", "date")


def place(axis: Axis, text: Cell) -> float:
    """A number, or microseconds since 1970, as labels and cells write them; NaN for what is neither."""
    try:
        return (_microseconds if axis["axis"] == "date" else _number)((text or "").strip())
    except (ValueError, OverflowError):
        return float("nan")


def interval(axis: Axis, label: str) -> tuple[float, float, bool]:
    """Both ends, and whether the second belongs to it; infinite where a tail is open, NaN where the label is none."""
    if match := re.fullmatch(r"\[([^,]+), ([^,]+)([\])])", label):
        return place(axis, match[1]), place(axis, match[2]), match[3] == "]"
    if match := re.fullmatch(r">= (.+)", label):
        return place(axis, match[1]), float("inf"), False
    if match := re.fullmatch(r"<(=?) (.+)", label):
        return float("-inf"), place(axis, match[2]), match[1] == "="
    return place(axis, label), place(axis, label), True


def domain(axis: Axis) -> tuple[float, float]:
    """The ends that widths are measured from."""
    low, high = (place(axis, str(end)) for end in axis["domain"])
    return low, high


def within(axis: Axis, label: str) -> tuple[float, float, bool]:
    """The same as `interval`, with an open tail ended by the domain; `*` is all of the domain."""
    start, stop = domain(axis)
    if label == EVERYTHING:
        return start, stop, True
    low, high, closed = interval(axis, label)
    low, high = (min(start, high) if low == float("-inf") else low, max(stop, low) if high == float("inf") else high)
    return low, high, closed or label.startswith(">=")


def set_members(label: str) -> list[str]:
    """The values that a set spells out; a label without braces is a value itself.

    >>> set_members('{a, "b, c", 3 rare values}')
    ['a', 'b, c']
    """
    if not label.startswith("{"):
        return [label]
    found = [text.strip() for text in MEMBER.findall(label)]
    return [_unquoted(text) if text[0] == '"' else text for text in found if text and not RARE.fullmatch(text)]


def _unquoted(text: str) -> str:
    """A JSON string; as it stands where it is none."""
    try:
        return str(json.loads(text))
    except ValueError:
        return text


def count_rare(label: str) -> int:
    """How many values, held by fewer than k rows each, a set counts and does not spell out.

    >>> count_rare("{a, 3 rare values}"), count_rare("{a, b}")
    (3, 0)
    """
    members = [text.strip() for text in MEMBER.findall(label)] if label.startswith("{") else []
    return next((int(text.split()[0]) for text in members if RARE.fullmatch(text)), 0)


def range_ends(order: Sequence[str], label: str) -> tuple[str, str]:
    """The first and the last value of a range, of an open one that of the order; both are the label where it is none.

    >>> range_ends(["low", "middle", "high"], "middle..")
    ('middle', 'high')
    """
    known = set(order)
    for start in sorted(known, key=len) if len(label) <= 2 * max(map(len, known), default=0) + 2 else ():
        if label.startswith(start + "..") and label[len(start) + 2 :] in known:
            return start, label[len(start) + 2 :]
    if label.endswith("..") and label[:-2] in known:
        return label[:-2], order[-1]
    return (order[0], label[2:]) if label.startswith("..") and label[2:] in known else (label, label)


def prefix_of(label: str) -> str | None:
    """What values under a label such as 476** begin with; None where it is not written so."""
    prefix = label.rstrip(EVERYTHING)
    return prefix if prefix and prefix != label else None


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

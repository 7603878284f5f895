"""Widths: the share of an axis that a published label covers, 0 to 1."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from functools import partial
from typing import Any

from kech.certificate.forms import form_of
from kech.certificate.labels import RARE, Axis, range_reader, split_interval, split_set
from kech.certificate.tally import Cell
from kech.errors import BadOption


def width_readers(axes: Sequence[Axis]) -> dict[str, Callable[[Cell], float | None]]:
    """For each column the width of a label, or None where its axis cannot read it."""
    try:
        readers = {axis["column"]: width_reader(axis) for axis in axes}
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise BadOption("quasi_identifiers", "an axis is malformed.") from None
    if not 0 < len(readers) == len(axes):
        raise BadOption("quasi_identifiers", "it is missing or malformed.")
    return readers


def width_reader(axis: Axis) -> Callable[[Cell], float | None]:
    """Width of a label, or None when this axis cannot read it."""
    if not isinstance(axis["column"], str):
        raise TypeError
    form_of(axis)
    known: dict[Cell, float] = {None: 0.0, "": 0.0, "*": 1.0}
    if axis["axis"] == "tree":
        known |= {label: _share(under, axis["leaves"]) for label, under in axis["labels"].items()}
    read = _AXES[axis["axis"]](axis)

    def width(label: Cell) -> float | None:
        try:
            return float(min(1, max(0, known[label] if label in known else read(label))))
        except ValueError:
            return None

    return width


def _share(part: int, whole: int) -> float:
    return (part - 1) / (whole - 1) if whole > 1 else 0.0


def _read_set(axis: Axis) -> Callable[[Any], float]:
    values, rare = int(axis["values"]), _rare_values(axis)
    return lambda label: _share(_count_covered(label, rare), values) if label.startswith("{") else 0.0


def _rare_values(axis: Axis) -> int | None:
    """How many values a set prints as a count; None in certificates that know no such sets."""
    rare = axis.get("rare")
    if rare is not None and not (type(rare) is int and 0 <= rare <= int(axis["values"])):
        raise ValueError
    return rare


def _count_covered(label: str, rare: int | None) -> int:
    """Values that a set stands for: its members, and as many rare ones as its last member says.

    >>> _count_covered("{a, b, 7 rare values}", 7)
    9
    """
    members = split_set(label)
    counts = [i for i, member in enumerate(members) if rare is not None and RARE.fullmatch(member)]
    if counts and (counts != [len(members) - 1] or members[-1] != f"{rare} rare value{'s' * (rare != 1)}" or not rare):
        raise ValueError
    return len(members) + ((rare or 0) - 1 if counts else 0)


def _read_ordinal(axis: Axis) -> Callable[[Any], float]:
    read, values = range_reader(axis["order"]), len({str(value) for value in axis["order"]})

    def width(label: str) -> float:
        first, last = read(label)
        return _share(last - first + 1, values)

    return width


def _read_interval(edge: Callable[[str], Any], axis: Axis) -> Callable[[Any], Any]:
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


def number(text: str) -> Fraction:
    """A plain number, exactly."""
    if not re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", text):
        raise ValueError
    return Fraction(text)


def _microseconds(text: str) -> int:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?)?", text):
        raise ValueError
    return (datetime.fromisoformat(text) - datetime.min) // timedelta(microseconds=1)


_AXES: dict[str, Callable[[Axis], Callable[[Any], Any]]] = {
    "numeric": partial(_read_interval, number),
    "date": partial(_read_interval, _microseconds),
    "tree": lambda _axis: lambda _label: 0.0,
    "set": _read_set,
    "ordinal": _read_ordinal,
}

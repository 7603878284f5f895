"""Models: what a class tells about the sensitive columns: l, t, alpha, beta and delta."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import exp, fsum, log
from typing import Any

from kech.certificate.cells import Cell, Counts, TextTable
from kech.certificate.widths import number

Figures = dict[str, Any]
Value = tuple[int, Any]  # of a sensitive column, as it is compared; what is missing comes first

GOALS = ("l", "l_kind", "c", "t", "t_kind", "alpha")
MODELS = ("l", "t", "entropy_l", "recursive_c", "t_ordered", "alpha", "beta", "enhanced_beta", "delta")


def model_figures(
    table: TextTable,
    within: Mapping[str, Counts],
    read_as: Mapping[str, Mapping[str, Any]],
    goals: Mapping[str, Any],
) -> Figures:
    """For each model the figure of each sensitive column; one that is not in `read_as` is read as its cells look."""
    figures: Figures = {name: {} for name in MODELS}
    for column, counts in within.items():
        read = read_as.get(column) or _guess_kind(table, counts)
        found = _column_figures(_by_class(counts, _value_reader(table, read)), read["kind"] != "text", goals)
        for name, figure in found.items():
            figures[name][column] = figure
    return figures


def _column_figures(parts: Sequence[Counter[Value]], ordered: bool, goals: Mapping[str, Any]) -> Figures:
    """The worst of all classes; parts are the values of each class.  None where a figure does not exist."""
    overall: Counter[Value] = Counter()
    for part in parts:
        overall.update(part)
    diversity = min(map(len, parts), default=0)
    depth = goals["l"] if goals.get("l_kind") == "recursive" else max(diversity, 1)
    factors = [factor for part in parts if (factor := _recursive_factor(part, depth)) is not None]
    gains = [_gains(part, overall) for part in parts]
    return {
        "l": diversity,
        "t": max((_equal_distance(part, overall) for part in parts), default=0.0),
        "entropy_l": exp(min(map(_entropy, parts))) if parts else 0.0,
        "recursive_c": max(factors, default=0.0) if len(factors) == len(parts) else None,
        "t_ordered": _ordered_distance(parts, overall) if ordered else None,
        "alpha": max((max(part.values()) / part.total() for part in parts), default=0.0),
        "beta": max((gain for gain, _ in gains), default=0.0),
        "enhanced_beta": max((gain for gain, _ in gains), default=0.0) if all(ok for _, ok in gains) else None,
        "delta": max((_disclosure(part, overall) for part in parts), default=0.0),
    }


def _by_class(counts: Counts, read: Callable[[Cell], Value]) -> list[Counter[Value]]:
    parts: defaultdict[tuple[Cell, ...], Counter[Value]] = defaultdict(Counter)
    known: dict[Cell, Value] = {}
    for key, rows in counts.items():
        cell = key[-1]
        if cell not in known:
            known[cell] = read(cell)
        parts[key[:-1]][known[cell]] += rows
    return list(parts.values())


def _equal_distance(part: Counter[Value], overall: Counter[Value]) -> float:
    """How far the values of a class are from those of the whole table.

    With all values equally far apart the earth mover's distance is the total variation:

        t = 1/2 sum_v |p(v) - q(v)| = sum_v max(0, p(v) - q(v))
    """
    size, rows = part.total(), overall.total()
    return sum(max(0, found * rows - overall[value] * size) for value, found in part.items()) / (size * rows)


def _ordered_distance(parts: Sequence[Counter[Value]], overall: Counter[Value]) -> float:
    """The same with m values on a line, neighbours 1 / (m - 1) apart: 1 / (m - 1) sum_i |P(i) - Q(i)|.

    P(i) and Q(i) are the shares up to the i-th value; in whole numbers, |P(i) rows - Q(i) size| / (size rows).
    """
    values = sorted(overall)
    place = {value: i for i, value in enumerate(values)}
    up_to, sums = [0], [0]
    for value in values:
        up_to.append(up_to[-1] + overall[value])
        sums.append(sums[-1] + up_to[-1])
    del up_to[0]
    rows, worst = overall.total(), 0.0
    for part in parts:
        size, level, start, moved = part.total(), 0, 0, 0
        for stop, found in [*sorted((place[value], found) for value, found in part.items()), (len(values) - 1, 0)]:
            cross = min(max(bisect_right(up_to, level * rows // size), start), stop)
            moved += level * rows * (2 * cross - start - stop)
            moved += size * (sums[stop] - 2 * sums[cross] + sums[start])
            level, start = level + found, stop
        worst = max(worst, moved / (size * rows))
    return worst / max(len(values) - 1, 1)


def _entropy(part: Counter[Value]) -> float:
    size = part.total()
    return -fsum(rows / size * log(rows / size) for rows in part.values())


def _recursive_factor(part: Counter[Value], depth: int) -> float | None:
    """r_1 / (r_l + r_(l+1) + ...), the counts descending; None where fewer than l values are."""
    rows = sorted(part.values(), reverse=True)
    tail = sum(rows[depth - 1 :])
    return rows[0] / tail if tail else None


def _gains(part: Counter[Value], overall: Counter[Value]) -> tuple[float, bool]:
    """The largest (p(v) - q(v)) / q(v), and whether each is at most -log q(v)."""
    size, rows = part.total(), overall.total()
    found = [(part[v] * rows / (size * overall[v]) - 1, -log(overall[v] / rows)) for v in part]
    return max(0.0, *(gain for gain, _ in found)), all(gain <= most + 1e-9 for gain, most in found)


def _disclosure(part: Counter[Value], overall: Counter[Value]) -> float:
    """The largest |log(p(v) / q(v))| over the values of a class."""
    size, rows = part.total(), overall.total()
    return max(abs(log(part[v] * rows / (size * overall[v]))) for v in part)


def _value_reader(table: TextTable, read: Mapping[str, Any]) -> Callable[[Cell], Value]:
    """A sensitive cell as it is compared: 1.0 is 1 among numbers; an empty cell is a missing one."""
    ranks = {value: rank for rank, value in enumerate(read.get("order", ()))}
    parse = ranks.__getitem__ if read["kind"] == "ordinal" else VALUES[read["kind"]]

    def value(cell: Cell) -> Value:
        text = table.label(cell)
        if not text:
            return (0, 0)
        try:
            return (1, parse(text))
        except (ValueError, LookupError, OverflowError):
            return (2, text)

    return value


def _guess_kind(table: TextTable, counts: Counts) -> dict[str, str]:
    """Number or date where every cell that is not empty is one."""
    cells = {key[-1] for key in counts}
    for kind in ("number", "date"):
        read = _value_reader(table, {"kind": kind})
        places = {read(cell)[0] for cell in cells}
        if 1 in places and 2 not in places:
            return {"kind": kind}
    return {"kind": "text"}


def _moment(text: str) -> datetime:
    """A date or a time as it is compared; moments with a zone in UTC."""
    if not re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


VALUES: dict[str, Callable[[str], Any]] = {
    "number": lambda text: float(number(text.strip())),
    "date": lambda text: _moment(text.strip()),
    "text": str,
}

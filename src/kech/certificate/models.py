"""Models: the privacy figures of the sensitive columns: l, t, alpha, beta and delta.

Two sensitive texts are equal where they differ only in case, width (NFKC), kinds of spaces, invisible characters, or
dots at the end.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import exp
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kech.certificate.cells import TextTable
from kech.certificate.labels import exact_number
from kech.certificate.tally import Cell, Ints, sums

Figures = dict[str, Any]
Value = tuple[int, Any]  # a sensitive value in comparable form; a missing one comes first
Floats: TypeAlias = NDArray[np.float64]

GOALS = ("l", "l_kind", "c", "t", "t_kind", "alpha")
MODELS = ("l", "t", "entropy_l", "recursive_c", "t_ordered", "alpha", "beta", "enhanced_beta", "delta")
HIDDEN = re.compile(  # invisible characters (Default_Ignorable_Code_Point of Unicode)
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, slots=True, eq=False)
class ClassCells:
    """The rows of each class and cell of a sensitive column; a pair of both may occur more than once."""

    group: Ints  # the number of the class
    cells: Sequence[Cell]  # distinct cells, some of which may not occur
    index: Ints  # the index of the cell
    rows: Ints

    def find_occurring(self) -> list[int]:
        """The indexes of the cells that occur."""
        return np.flatnonzero(np.bincount(self.index)).tolist()

    def values(self, read: Callable[[Cell], Value]) -> "ClassValues":
        """The rows of each class and comparable value."""
        occurring = self.find_occurring()
        value_of_cell = {i: read(self.cells[i]) for i in occurring}
        order = {value: rank for rank, value in enumerate(sorted(set(value_of_cell.values())))}
        rank = np.zeros(len(self.cells), np.int64)
        rank[occurring] = [order[value_of_cell[i]] for i in occurring]
        keys, which = np.unique(self.group * len(order) + rank[self.index], return_inverse=True)
        group, value = np.divmod(keys, max(len(order), 1))
        return ClassValues(group, value, sums(which, self.rows, len(keys)))


class ClassValues:
    """The rows of each pair of a class and a value that occurs in it, ordered by class, then value.

    `size` has the rows of each class, `overall` the rows of each value in the whole table.
    """

    def __init__(self, group: Ints, value: Ints, rows: Floats) -> None:
        self.group, self.value, self.rows = group, value, rows
        self.size = sums(group, rows, 0)
        self.overall = sums(value, rows, 0)
        self.total = float(rows.sum())
        self.share: Floats = rows / self.size[group]
        self.ratio: Floats = (
            rows * self.total / (self.size[group] * self.overall[value])
        )  # of the share to that in the whole table

    def per_class(self, figures: Floats) -> Floats:
        """The sum of the figures of each class."""
        return sums(self.group, figures, len(self.size))


def model_figures(
    table: TextTable,
    within: Mapping[str, ClassCells],
    read_as: Mapping[str, Mapping[str, Any]],
    goals: Mapping[str, Any],
) -> Figures:
    """For each model the figure of each sensitive column; the kind of a column not in `read_as` is guessed."""
    figures: Figures = {name: {} for name in MODELS}
    for column, counts in within.items():
        read = read_as.get(column) or guess_kind(table, [counts.cells[i] for i in counts.find_occurring()])
        column_figures = _column_figures(counts.values(value_reader(table, read)), read["kind"] != "text", goals)
        for name, figure in column_figures.items():
            figures[name][column] = figure
    return figures


def _column_figures(values: ClassValues, ordered: bool, goals: Mapping[str, Any]) -> Figures:
    """The worst figure of any class, for each model; None where a figure does not exist."""
    if not len(values.size):
        return dict.fromkeys(MODELS, 0.0) | {"l": 0, "t_ordered": 0.0 if ordered else None}
    diversity = int(np.bincount(values.group).min())
    depth = goals["l"] if goals.get("l_kind") == "recursive" else diversity
    gains = values.ratio - 1
    bounded = bool(np.all(gains <= 1e-9 - np.log(values.overall / values.total)[values.value]))
    beta = float(gains.max())
    return {
        "l": diversity,
        "t": _equal_distance(values),
        "entropy_l": exp(values.per_class(-values.share * np.log(values.share)).min()),
        "recursive_c": _recursive_factor(values, depth),
        "t_ordered": _ordered_distance(values) if ordered else None,
        "alpha": float(values.share.max()),
        "beta": beta,
        "enhanced_beta": beta if bounded else None,
        "delta": float(np.abs(np.log(values.ratio)).max()),
    }


def _equal_distance(values: ClassValues) -> float:
    """The largest distance t between the values of a class and those of the whole table.

    With all values equally far apart the earth mover's distance is the total variation:

        t = 1/2 sum_v |p(v) - q(v)| = sum_v max(0, p(v) - q(v))
    """
    more = values.rows * values.total - values.overall[values.value] * values.size[values.group]
    return float((values.per_class(np.maximum(0.0, more)) / (values.size * values.total)).max())


def _ordered_distance(values: ClassValues) -> float:
    """The largest distance t with m values on a line, neighbours 1 / (m - 1) apart: 1 / (m - 1) sum_i |P(i) - Q(i)|.

    P(i) and Q(i) are the shares up to the i-th value.  Between two values of a class P is constant, and Q, which
    ascends, crosses it once.  So the sum there follows from cumulative sums of Q.
    """
    whole = np.cumsum(values.overall) / values.total
    last = len(whole) - 1
    first = np.concatenate([[True], values.group[1:] != values.group[:-1]])
    below = np.cumsum(values.rows) - values.rows
    share_below = (below - below[first][values.group]) / values.size[values.group]
    before = np.where(first, 0, np.concatenate([[0], values.value[:-1]]))
    largest = values.value[np.concatenate([first[1:], [True]])]
    up_to_largest = values.per_class(_sum_of_differences(whole, share_below, before, values.value))
    beyond = _sum_of_differences(whole, np.ones(len(largest)), largest, np.full(len(largest), last))
    return float((up_to_largest + beyond).max()) / max(last, 1)


def _sum_of_differences(whole: Floats, share: Floats, start: Ints, stop: Ints) -> Floats:
    """For each share P of a class: the sum of |P - Q(i)| for i in [start, stop), where Q = `whole` ascends.

    Before Q crosses P the terms are P - Q(i), after it Q(i) - P.
    """
    sums = np.concatenate([[0.0], np.cumsum(whole)])
    cross = np.clip(np.searchsorted(whole, share, "right"), start, stop)
    total: Floats = share * (2 * cross - start - stop) + sums[stop] - 2 * sums[cross] + sums[start]
    return total


def _recursive_factor(values: ClassValues, depth: int) -> float | None:
    """The largest r_1 / (r_l + r_(l+1) + ...) of a class, with counts r descending; None where one has < l values."""
    rows = values.rows[np.lexsort((-values.rows, values.group))]
    starts = np.searchsorted(values.group, np.arange(len(values.size)))
    rank = np.arange(len(rows)) - starts[values.group]
    tail = values.per_class(np.where(rank >= depth - 1, rows, 0.0))
    return float((rows[starts] / tail).max()) if tail.all() else None


def value_reader(table: TextTable, read: Mapping[str, Any]) -> Callable[[Cell], Value]:
    """A function from a sensitive cell of a file to its comparable value."""
    compared = text_reader(read)
    return lambda cell: compared(table.label(cell))


def text_reader(read: Mapping[str, Any]) -> Callable[[Cell], Value]:
    """A function from a sensitive text to its comparable value: the number 1.0 is 1, HIV is hiv, "" is missing."""
    ranks = {value: rank for rank, value in enumerate(read.get("order", ()))}
    parse = ranks.__getitem__ if read["kind"] == "ordered" else VALUES[read["kind"]]

    def value(text: Cell) -> Value:
        if not text:
            return (0, 0)
        try:
            key = (1, parse(text))
        except (ValueError, LookupError, OverflowError):
            key = (2, fold_text(text))
        return (0, 0) if key[1] == "" else key

    return value


def guess_kind(table: TextTable, cells: Sequence[Cell]) -> dict[str, str]:
    """The kind of a column: number or date where every cell that is not empty is one, otherwise text."""
    for kind in ("number", "date"):
        read = value_reader(table, {"kind": kind})
        kinds = {read(cell)[0] for cell in cells}
        if 1 in kinds and 2 not in kinds:
            return {"kind": kind}
    return {"kind": "text"}


def _moment(text: str) -> datetime:
    """A date, with or without time, for comparison; with a time zone it is converted to UTC."""
    if not re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def fold_text(text: str) -> str:
    """A text in comparable form; one without a visible character becomes empty."""
    passes = 0 if text.isascii() and text.isprintable() else 2  # a wide letter may decompose to an invisible one
    for _ in range(passes):
        text = HIDDEN.sub("", "".join(map(_show_letter, text)))
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        text = HIDDEN.sub("", "".join(map(_show_letter, text)))
    text = re.sub(r"[\s\u2800]+", " ", text.lower() if text.isascii() else text).strip(" ")
    end = len(text)
    while end and text[end - 1] in ". ":
        end -= 1
    return text[:end] if end else text


def _show_letter(letter: str) -> str:
    """The letter; a plain space for any space, and nothing for an invisible character."""
    if letter.isspace():
        return " "
    return "" if unicodedata.category(letter) in {"Cc", "Cf"} else letter


VALUES: dict[str, Callable[[str], Any]] = {
    "number": lambda text: float(exact_number(text.strip())),
    "date": lambda text: _moment(text.strip()),
    "text": fold_text,
}

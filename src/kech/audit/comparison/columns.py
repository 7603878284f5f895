"""Columns side by side: the parts of a column, and how the rows lie in them before and after.

A part is a value, or for numbers and dates a stretch between quantiles of the original.  A released row lies in several
parts at once, in each with the share that its label covers: of a set or node every value it stands for counts the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kech.audit.comparison.pieces import Floats, Pieces, find_unit, point_pieces, spread_labels
from kech.certificate import Cell
from kech.certificate.labels import read_position
from kech.release.linkage import Linkage, LinkedColumn, read_codes
from kech.release.published import Ints, Published

MOST_VALUES = 20  # of a text column; the others are one part
MOST_STRETCHES = 10
MISSING, OTHERS = "missing", "other values"
LINES = ("number", "date")


@dataclass(frozen=True, eq=False, repr=False)
class LineColumn:
    """Numbers or dates: the values of the original and the pieces of the release, without what is missing."""

    before: Pieces
    after: Pieces
    unit: float


@dataclass(frozen=True, eq=False, repr=False)
class Side:
    """One column, before and after; the last part is what is missing."""

    column: str
    role: str
    kind: str  # number, date, ordered or text
    parts: tuple[str, ...]
    before: Ints  # the part of each row of the original
    label: Ints  # of each released row, a row of `shares`
    shares: Floats  # labels x parts
    line: LineColumn | None
    masses: tuple[Floats, Floats] | None  # of every value of a text column: its share before and after
    numbers: tuple[Floats, Floats] | None = (
        None  # of each row of a line: its value before, the middle of its label after
    )

    @property
    def is_ordered(self) -> bool:
        """Whether parts have an order."""
        return self.kind != "text"


def pair_column(release: Published, linkage: Linkage, name: str) -> Side:
    """A published column, before and after: a quasi-identifier, or one that is published as it is."""
    for column in linkage.columns:
        if column.axis["column"] == name:
            return pair_labels(column, release.group)
    texts, codes = read_codes(linkage.table, [name])[name]
    role = "sensitive" if name in release.sensitive else "kept"
    kind = linkage.table.sensitive_kind(name)
    return pair_cells(name, role, kind, texts, codes.astype(np.int64), release.cells[name])


# -- quasi-identifiers -----------------------------------------------------------------------------------


def pair_labels(column: LinkedColumn, group: Ints) -> Side:
    """A generalized column, before and after."""
    known = {label: i for i, label in enumerate(dict.fromkeys(column.labels))}
    label = np.array([known[each] for each in column.labels])[group]
    name, kind = column.axis["column"], column.axis["axis"]
    if kind in LINES:
        values = column.numbers[column.codes]
        unit = find_unit(values[~np.isnan(values)], kind)
        return pair_line(name, "quasi-identifier", kind, values, unit, column, list(known), label)
    parts, part_of = name_parts(column)
    shares = np.array([spread_values(column, each, part_of, len(parts)) for each in known])
    rows = np.bincount(label, minlength=len(known))
    after = np.sum(
        [count * spread_over(column, each) for each, count in zip(known, rows.tolist(), strict=True)], axis=0
    )
    masses = (column.counts / max(column.counts.sum(), 1), after / max(rows.sum(), 1))
    kind = "ordered" if column.axis["axis"] == "ordered" else "text"
    return Side(name, "quasi-identifier", kind, parts, part_of[column.codes], label, shares, None, masses)


def pair_line(
    name: str,
    role: str,
    kind: str,
    values: Floats,
    unit: float,
    column: LinkedColumn,
    labels: Sequence[Cell],
    label: Ints,
) -> Side:
    """A column of numbers or dates, before and after: its values, and the intervals that stand for them."""
    present = values[~np.isnan(values)]
    rows = np.bincount(label, minlength=len(labels))
    labelled = [i for i, each in enumerate(labels) if each is not None]
    after = spread_labels(column.axis, [str(labels[i]) for i in labelled], rows[labelled], unit)
    line = LineColumn(point_pieces(*count_values(present)), after, unit)
    edges = find_edges(present)
    shares = np.zeros((len(labels), len(edges) + 2))
    shares[:, -1] = 1.0
    shares[labelled, -1] = 0.0
    shares[labelled, :-1] = np.diff(after.shares_below(edges, strict=True), axis=1, prepend=0.0, append=1.0)
    middles = np.full(len(labels), np.nan)
    middles[labelled] = (after.low + after.high) / 2
    parts = name_stretches(len(edges))
    rows_of = (values, middles[label])
    return Side(name, role, kind, parts, part_numbers(values, edges), label, shares, line, None, rows_of)


def name_parts(column: LinkedColumn) -> tuple[tuple[str, ...], Ints]:
    """The parts of a text column, and the part of each of its distinct cells."""
    order = [text for text in column.values_in_order if text]
    return part_texts(column.texts, order, len(order) if column.axis["axis"] == "ordered" else MOST_VALUES)


def part_texts(texts: Sequence[Cell], order: Sequence[str], most: int) -> tuple[tuple[str, ...], Ints]:
    """The first texts of an order, all others where there are any, and what is missing; and the part of each text."""
    index_of_text = {text: i for i, text in enumerate(order[:most])}
    others = any(text and text not in index_of_text for text in texts)
    parts = (*index_of_text, *([OTHERS] if others else []), MISSING)
    return parts, np.array(
        [index_of_text.get(text, len(index_of_text)) if text else len(parts) - 1 for text in texts], np.int64
    )


def spread_over(column: LinkedColumn, label: Cell) -> Floats:
    """A row with this label, spread over the distinct cells of the original that it covers."""
    covered = column.cover(label) & (column.counts > 0)
    weights = covered if covered.any() else column.cover(label)
    return np.asarray(weights / max(weights.sum(), 1))


def spread_values(column: LinkedColumn, label: Cell, part_of: Ints, parts: int) -> Floats:
    """A row with this label, spread over the parts of the column: the share of the row in each part."""
    return np.asarray(np.bincount(part_of, spread_over(column, label), parts), np.float64)


# -- columns that are published as they are --------------------------------------------------------------


def pair_cells(name: str, role: str, kind: str, texts: list[Cell], codes: Ints, cells: Sequence[Cell]) -> Side:
    """A sensitive or kept column, before and after."""
    if kind in LINES:
        axis = {"axis": "date" if kind == "date" else "number"}
        before = np.array([read_position(axis, text) for text in texts])[codes]
        after = np.array([read_position(axis, cell) for cell in cells], float)
        return pair_numbers(name, role, kind, before, after)
    counts = np.bincount(codes, minlength=len(texts))
    order = [str(texts[code]) for code in np.argsort(-counts, kind="stable") if texts[code] and counts[code]]
    distinct = list(dict.fromkeys([*texts, *cells]))
    parts, part_of = part_texts(distinct, order, MOST_VALUES)
    part_of_text = dict(zip(distinct, part_of.tolist(), strict=True))
    before = np.array([part_of_text[text] for text in texts])[codes]
    label = np.array([part_of_text[cell] for cell in cells], np.int64)
    masses = compare_texts(texts, counts, cells)
    return Side(name, role, "text", parts, before, label, np.eye(len(parts)), None, masses)


def compare_texts(texts: Sequence[Cell], counts: Ints, cells: Sequence[Cell]) -> tuple[Floats, Floats]:
    """Shares of all texts, before and after."""
    known = {
        text: i
        for i, text in enumerate(dict.fromkeys([*(text or "" for text in texts), *(cell or "" for cell in cells)]))
    }
    before = np.bincount([known[text or ""] for text in texts], counts, len(known))
    after = np.bincount([known[cell or ""] for cell in cells], minlength=len(known))
    return before / max(before.sum(), 1), after / max(after.sum(), 1)


def pair_numbers(name: str, role: str, kind: str, before: Floats, after: Floats) -> Side:
    """A column of numbers that is published as it is, before and after."""
    present, kept = (values[~np.isnan(values)] for values in (before, after))
    edges = find_edges(present)
    line = LineColumn(point_pieces(*count_values(present)), point_pieces(*count_values(kept)), find_unit(present, kind))
    parts = name_stretches(len(edges))
    rows = (part_numbers(before, edges), part_numbers(after, edges))
    return Side(name, role, kind, parts, *rows, np.eye(len(parts)), line, None, (before, after))


# -- stretches of numbers --------------------------------------------------------------------------------


def count_values(values: Floats) -> tuple[Floats, Ints]:
    """Distinct values and their rows."""
    distinct, rows = np.unique(values, return_counts=True)
    return distinct, rows


def find_edges(values: Floats) -> Floats:
    """Values of the original that part it into stretches of about equally many rows; few values are parts themselves.

    Where nearly all rows have the smallest value, no quantile lies above it: the others are a stretch of their own.
    """
    distinct = np.unique(values)
    if len(distinct) <= MOST_STRETCHES:
        return distinct[1:]
    shares = np.arange(1, MOST_STRETCHES) / MOST_STRETCHES
    edges = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    edges = edges[edges > distinct[0]]
    return np.asarray(edges if len(edges) else distinct[1:2])


def part_numbers(values: Floats, edges: Floats) -> Ints:
    """The stretch of each number; the last part for what is missing."""
    return np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="right"))


def name_stretches(edges: int) -> tuple[str, ...]:
    """The names of stretches: their numbers."""
    return (*map(str, range(edges + 1)), MISSING)

"""Axes: each quasi-identifier coded to integers in an order; how wide a range of codes is; how it is printed.

In: the distinct values of a column.  Out: codes, widths and labels, all functions of a range [lo, hi] of codes.
NULL, where a column has it, is the last code: a value of its own, and together with any other all is lost.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths
from kech.errors import BadHierarchy, BadOption
from kech.grid import ALWAYS, LARGEST, Grid, Ints, build_date_grid, build_number_grid, build_step_grid
from kech.hierarchy import GeneralizationTree
from kech.rulers import (
    CALENDAR_ENDS,
    DAY,
    EXACT_POWER,
    MOST_DIGITS,
    Floats,
    date_unit,
    format_date,
    format_number,
    last_before,
    number_unit,
)

Codes = NDArray[np.int32]

EVERYTHING = "*"
DOTS = ".."
MICROSECOND = 1e-6  # the finest time that is written
HIDING = ("auto", "loose", "tight")  # grids on which every edge hides among k rows
LONGEST_SET = 50  # a set of more values says no more than `*`


@dataclass(frozen=True, eq=False, repr=False)
class Axis(ABC):
    """A column as a range of codes."""

    column: str
    codes: Codes  # the code of each distinct value, in the order the values were given
    has_null: bool

    @property
    @abstractmethod
    def kind(self) -> str:
        """numeric, date, ordinal, set or tree."""

    @property
    @abstractmethod
    def values(self) -> int:
        """Number of codes without NULL."""

    @abstractmethod
    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """Width in [0, 1] of what is printed for each range of codes."""

    @abstractmethod
    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """The whole range that the label of [lo, hi] stands for: equal labels, equal ranges."""

    @abstractmethod
    def label(self, lo: int, hi: int) -> str | None:
        """What is printed for a closed range."""

    @abstractmethod
    def encode(self, values: Any) -> Codes:
        """Codes of values that may be new; -1 where an axis has no place for one."""

    @abstractmethod
    def add_to(self, widths: Widths) -> None:
        """Tell the kernels about this axis."""

    @abstractmethod
    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """What a reader must know to measure the published labels."""

    @property
    def null(self) -> int:
        """Code of NULL, or -1."""
        return self.values if self.has_null else -1

    @property
    def size(self) -> int:
        """Number of codes."""
        return self.values + self.has_null

    @property
    def widens(self) -> bool:
        """Whether its labels are widened by chance."""
        return False

    def at(self, k: int) -> Self:
        """This axis as it may be published for k; only grids change."""
        del k
        return self

    def labels(self, lo: Ints, hi: Ints) -> list[str | None]:
        """The label of each closed range."""
        pairs, inverse = np.unique(np.stack([lo, hi], axis=1), axis=0, return_inverse=True)
        texts = [None if a == b == self.null else self.label(int(a), int(b)) for a, b in pairs]
        return [texts[i] for i in inverse.ravel()]

    def all_lost(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """NULL together with something else."""
        return np.asarray((hi == self.null) & (lo < hi))


@dataclass(frozen=True, eq=False, repr=False)
class LineAxis(Axis):
    """Numbers or dates: a code is a stretch [low, high] of the line, printed as an interval."""

    is_date: bool
    low: Floats  # -inf where the tail is open
    high: Floats  # inf where the tail is open
    hides: Ints  # for each inner boundary between codes, the largest k at which it is published
    span: tuple[float, float] | None  # the ends to measure widths from; None: one step beyond the outermost edges
    unit: float
    inclusive: bool  # is `high` the last value, or the first one beyond
    grid: str | float
    k: int = 1
    fine: "LineAxis | None" = None  # what it was before it was coarsened; edges it lost hide nobody

    @property
    def kind(self) -> str:
        """Numeric or date."""
        return "date" if self.is_date else "numeric"

    @property
    def values(self) -> int:
        """Number of stretches."""
        return len(self.low)

    @property
    def widens(self) -> bool:
        """On the grid we chose, unless somebody asked for narrower labels."""
        return self.grid == "auto"

    def at(self, k: int) -> Self:
        """Only boundaries that hide among k rows remain."""
        return replace(self, k=k)

    @cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """For each code the first and last code of its published cell."""
        group = np.concatenate([[0], np.cumsum(self.hides >= self.k)])
        first = np.searchsorted(group, group)
        last = np.searchsorted(group, group, side="right") - 1
        null = np.full(int(self.has_null), self.null)
        return np.concatenate([first, null]), np.concatenate([last, null])

    @cached_property
    def domain(self) -> tuple[float, float]:
        """The ends to measure widths from, known from the published edges alone."""
        if self.span is not None:
            return self.span
        if self.fine is not None:
            return self.fine.at(self.k).domain
        return open_domain(self.low[1:][self.hides >= self.k], self.unit, self.is_date)

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """Left and right end of each code's published cell, in whole units where the data is."""
        low, high = (x[c[: self.values]] for x, c in zip((self.low, self.high), self.cells, strict=True))
        left, right = (self.in_units(np.clip(x, *self.domain)) for x in (low, high))
        pad = np.zeros(int(self.has_null))
        return np.concatenate([left, pad]), np.concatenate([right, pad])

    @cached_property
    def length(self) -> float:
        """Length of the domain in the same measure, 1 where it has none."""
        start, stop = self.in_units(np.array(self.domain))
        return float(stop - start) or 1.0

    def in_units(self, values: Floats) -> Floats:
        """Equal distances become equal numbers wherever they lie, as a reader of the decimals finds them."""
        unit = self.unit or (MICROSECOND if self.is_date else 0.0)
        if unit:
            return np.round(values / unit)
        start, stop = self.domain
        if np.spacing(max(-start, stop)) < (stop - start) * 1e-12:
            return values
        return np.array([float(Fraction(repr(x)) - Fraction(repr(start))) for x in values.tolist()])

    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """(max - min) / domain."""
        left, right = self.ends
        return np.where(self.all_lost(lo, hi), 1.0, (right[hi] - left[lo]) / self.length)

    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """From the start of the first cell to the end of the last."""
        first, last = self.cells[0][lo], self.cells[1][hi]
        whole = self.all_lost(lo, hi) | self._is_everything(first, last)
        return np.where(whole, 0, first), np.where(whole, self.size - 1, last)

    def _is_everything(self, first: Ints, last: Ints) -> NDArray[np.bool_]:
        inner = last < self.values
        open_both = (self.low[first * inner] == -np.inf) & (self.high[last * inner] == np.inf)
        return np.asarray(inner & open_both)

    def label(self, lo: int, hi: int) -> str:
        """`25`, `[22, 25]`, `[22, 25)`, `<= 21`, `>= 80` or `*`."""
        if hi == self.null:
            return EVERYTHING
        low, high = self.low[lo], self.high[hi]
        if low == -np.inf:
            return EVERYTHING if high == np.inf else f"{'<=' if self.inclusive else '<'} {self.text(high)}"
        if high == np.inf:
            return f">= {self.text(low)}"
        if low == high:
            return self.text(low)
        return f"[{self.text(low)}, {self.text(high)}{']' if self.inclusive else ')'}"

    def encode(self, values: Floats) -> Codes:
        """The stretch a number lies in; NaN is NULL."""
        codes = np.searchsorted(self.low, values, side="right") - 1
        known = np.clip(codes, 0, None)
        inside = values <= self.high[known] if self.inclusive else values < self.high[known]
        found = np.where(inside & (codes >= 0), self.at(1).cells[0][known], -1)
        return np.where(np.isnan(values), self.null, found).astype(np.int32)

    def text(self, value: float) -> str:
        """One end of an interval."""
        return (format_date if self.is_date else format_number)(value, self.unit)

    def add_to(self, widths: Widths) -> None:
        """A line."""
        widths.add_line(*self.ends, self.length, np.inf, self.null)

    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """The domain, and how the edges were chosen."""
        del labels
        ends = [self.text(x) if self.is_date else x for x in self.domain]
        return {"column": self.column, "axis": self.kind, "domain": ends, "grid": self.grid}


@dataclass(frozen=True, eq=False, repr=False)
class TextAxis(Axis):
    """Values that are text, in the order of their codes."""

    @property
    @abstractmethod
    def texts(self) -> tuple[str, ...]:
        """The value of each code."""

    @property
    @abstractmethod
    def starts(self) -> Ints | None:
        """The first code of each cell, where cells hold several values."""

    @cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """For each code the first and last code of its cell; NULL is alone."""
        starts = np.arange(self.values) if self.starts is None else self.starts
        starts = np.append(starts, [self.values] * self.has_null).astype(np.int64)
        held = np.diff(np.append(starts, self.size))
        return np.repeat(starts, held), np.repeat(starts + held - 1, held)

    def spread(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """The whole cells that a range touches."""
        return (lo, hi) if self.starts is None else (self.cells[0][lo], self.cells[1][hi])

    @property
    def values(self) -> int:
        """Number of values."""
        return len(self.texts)

    def encode(self, values: Sequence[str | None]) -> Codes:
        """The code of each text; None is NULL."""
        known: dict[str | None, int] = {text: code for code, text in enumerate(self.texts)}
        known[None] = self.null
        codes = np.array([known.get(value, -1) for value in values], dtype=np.int64)
        return np.where(codes < 0, -1, self.spread(codes, codes)[0]).astype(np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class RankAxis(TextAxis):
    """Values in an order; a range is printed by its ends (ordinal) or as the set of its values."""

    order: tuple[str, ...]
    ordinal: bool
    widened: bool
    counted: int | None = None  # values a set is measured by, with NULL, where not all are published
    starts: Ints | None = None

    @property
    def kind(self) -> str:
        """Ordinal or set."""
        return "ordinal" if self.ordinal else "set"

    @property
    def texts(self) -> tuple[str, ...]:
        """The values in their order."""
        return self.order

    @property
    def widens(self) -> bool:
        """Where lines are."""
        return self.widened

    @property
    def members(self) -> int:
        """Values of a set; NULL is one of them."""
        return self.size if self.counted is None else self.counted

    @property
    def steps(self) -> int:
        """Steps from the first value to the last."""
        return max((self.values if self.ordinal else self.members) - 1, 1)

    def too_long(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Ranges printed as `*`."""
        long = (hi - lo >= LONGEST_SET) & (not self.ordinal)
        whole = (lo == 0) & (hi == self.values - 1) & (self.values > 1) & (not self.ordinal)
        return np.asarray(self.all_lost(lo, hi) | long | whole)

    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """(rank max - rank min) / (values - 1)."""
        lo, hi = self.spread(lo, hi)
        return np.where(self.too_long(lo, hi), 1.0, (hi - lo) / self.steps)

    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """The range itself, or everything."""
        lo, hi = self.spread(lo, hi)
        lost = self.too_long(lo, hi)
        return np.where(lost, 0, lo), np.where(lost, self.size - 1, hi)

    def label(self, lo: int, hi: int) -> str:
        """`a`, `{a, b}`, `low..high` or `*`."""
        if bool(self.too_long(np.int64(lo), np.int64(hi))):  # type: ignore[arg-type]
            return EVERYTHING
        if self.ordinal:
            return self.texts[lo] if lo == hi else f"{self.texts[lo]}{DOTS}{self.texts[hi]}"
        if lo == hi and not self.texts[lo].startswith("{") and self.texts[lo] != EVERYTHING:
            return self.texts[lo]
        return "{" + ", ".join(map(member, sorted(self.texts[lo : hi + 1]))) + "}"

    def add_to(self, widths: Widths) -> None:
        """A line of equal steps; longer than the longest set, all is lost."""
        left, right = (np.where(np.arange(self.size) < self.values, end, 0).astype(np.float64) for end in self.cells)
        longest = np.inf if self.ordinal else max(min(LONGEST_SET, self.values - 1), 1) - 0.5
        widths.add_line(left, right, float(self.steps), longest, self.null)

    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """The order, or the number of values; and whether labels are widened."""
        del labels
        known = {"order": list(self.texts)} if self.ordinal else {"values": self.members}
        return {"column": self.column, "axis": self.kind, **known, **({"grid": "auto"} if self.widens else {})}


@dataclass(frozen=True, eq=False, repr=False)
class TreeAxis(TextAxis):
    """Values under a generalization tree; a range is printed as the label of its lowest common ancestor."""

    tree: GeneralizationTree
    starts: Ints | None = None

    @property
    def kind(self) -> str:
        """Tree."""
        return "tree"

    @property
    def texts(self) -> tuple[str, ...]:
        """The leaves."""
        return self.tree.leaves

    @cached_property
    def root(self) -> str:
        """Label of everything."""
        return self.tree.level_labels(self.tree.height - 1)[0]

    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """All leaves under the label; the root also stands for NULL."""
        lo, hi = self.spread(lo, hi)
        inside = hi != self.null
        leaves = lo * inside, hi * inside
        first, last = (np.where(inside, span, self.null) for span in self.tree.spans(*leaves))
        lost = self.all_lost(lo, hi) | (inside & self.tree.is_root(*leaves))
        return np.where(lost, 0, first), np.where(lost, self.size - 1, last)

    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """(leaves under the label - 1) / (leaves - 1)."""
        first, last = self.close(lo, hi)
        return (last - first) / max(self.size - 1, 1)

    def label(self, lo: int, hi: int) -> str:
        """The label of the lowest common ancestor."""
        return self.root if hi == self.null else self.tree.label(lo, hi)

    def add_to(self, widths: Widths) -> None:
        """Leaves and the gaps between them."""
        codes = np.arange(self.size)
        widths.add_tree(self.widths(codes, codes), self.widths(codes[:-1], codes[1:]))

    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """Leaves under each published label that stands for several, or that a reader would take for all."""
        counts: Mapping[str, int] = self.tree.leaf_counts()
        known = {x: counts[x] for x in sorted({x for x in labels if x})}
        known |= {x: self.size for x in known if x == self.root and self.has_null}
        return tree_parameters(self.column, self.size, known)


@dataclass(frozen=True, eq=False, repr=False)
class NodeAxis(Axis):
    """The nodes of one level of a tree, each printed as its label there; two of them together are everything."""

    nodes: tuple[str, ...]  # the label of each code
    places: Mapping[str, int]  # the code of each leaf
    counts: Mapping[str, int]  # leaves that a reader of each label has to think of; of the root, NULL too
    leaves: int  # all of them, and NULL
    root: str

    @property
    def kind(self) -> str:
        """Tree."""
        return "tree"

    @property
    def values(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    @cached_property
    def shares(self) -> Floats:
        """Width of each code."""
        under = [self.counts.get(label, 1) for label in self.nodes] + [1] * self.has_null
        return (np.array(under, np.float64) - 1) / max(self.leaves - 1, 1)

    def is_everything(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Whether each range is printed as the root."""
        roots = np.array([label == self.root for label in self.nodes] + [False] * self.has_null)
        return np.asarray((lo < hi) | roots[lo])

    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """(leaves under the label - 1) / (leaves - 1)."""
        return np.where(self.is_everything(lo, hi), float(self.leaves > 1), self.shares[lo])

    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """One node, or all; the root also stands for NULL."""
        lost = self.is_everything(lo, hi)
        return np.where(lost, 0, lo), np.where(lost, self.size - 1, hi)

    def label(self, lo: int, hi: int) -> str:
        """The label of the node, or of the root."""
        return self.nodes[lo] if lo == hi else self.root

    def encode(self, values: Sequence[str | None]) -> Codes:
        """The node above each leaf; None is NULL."""
        return np.array([self.null if x is None else self.places.get(x, -1) for x in values], dtype=np.int32)

    def add_to(self, widths: Widths) -> None:
        """Nodes, and nothing between them and the root."""
        codes = np.arange(self.size)
        widths.add_tree(self.widths(codes, codes), self.widths(codes[:-1], codes[1:]))

    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """Leaves under each published label that stands for several, or that a reader would take for all."""
        known = {x: self.counts.get(x, 1) for x in sorted({x for x in labels if x})}
        return tree_parameters(self.column, self.leaves, known)


def tree_parameters(column: str, leaves: int, known: Mapping[str, int]) -> dict[str, Any]:
    """A tree as a reader must know it: leaves under labels that stand for several, or would be taken for all."""
    several = {label: count for label, count in known.items() if count > 1 or label == EVERYTHING}
    return {"column": column, "axis": "tree", "leaves": leaves, "labels": several}


def open_domain(edges: Floats, unit: float, is_date: bool) -> tuple[float, float]:
    """The ends to measure widths from where tails are open: one step beyond the outermost edges.

    The step is the mean distance of the edges, rounded up to whole units, and never nothing.
    """
    if not len(edges):
        return 0.0, unit or 1.0  # nothing but `*` is printed
    mean = (edges[-1] - edges[0]) / max(len(edges) - 1, 1) or unit or 1.0
    visible = np.abs(edges).max() * 1e-6  # smaller steps would drown in the rounding of the ends
    step = (np.floor(mean / unit) + 1) * unit if unit else max(mean, visible)
    ends = np.array([edges[0] - step, last_before(edges[-1:] + step, unit)[0]])
    low, high = np.clip(ends, *(CALENDAR_ENDS if is_date else (-LARGEST, LARGEST))).tolist()
    return low, high


def member(text: str) -> str:
    """A value inside `{...}`, quoted where it could be misread."""
    plain = text and text == text.strip() and not set(text) & set(',{}"\\')
    return text if plain else json.dumps(text, ensure_ascii=False)


def build_line_axis(
    column: str, values: Floats, counts: Ints, has_null: bool, *, is_date: bool, grid: str | float
) -> Axis:
    """Numbers, or dates in seconds, ascending; `grid` is auto, loose (the same, but labels are
    not widened), tight (and ends not moved), steps (equal ones, for levels), exact or a step.
    """
    if not len(values):
        return build_rank_axis(column, (), (), has_null, ordinal=False)
    unit = (date_unit if is_date else number_unit)(values)
    if grid == "exact":
        return exact_axis(column, values, has_null, is_date, unit)
    if grid == "steps":
        return grid_axis(column, values, has_null, is_date, build_step_grid(values, counts, is_date), "auto")
    if grid in HIDING:
        found = (build_date_grid if is_date else build_number_grid)(values, counts)
        return grid_axis(column, values, has_null, is_date, found, grid)
    return step_axis(column, values, has_null, is_date, unit, float(grid) * (DAY if is_date else 1))


def exact_axis(column: str, values: Floats, has_null: bool, is_date: bool, unit: float) -> LineAxis:
    """Every distinct value is a code."""
    codes = np.arange(len(values), dtype=np.int32)
    low, high = np.clip(values[[0, -1]], -LARGEST, LARGEST).tolist()
    always_shown = always(len(values))
    return LineAxis(column, codes, has_null, is_date, values, values, always_shown, (low, high), unit, True, "exact")


def grid_axis(column: str, values: Floats, has_null: bool, is_date: bool, found: Grid, grid: str | float) -> LineAxis:
    """Every cell of the finest grid is a code; tails are open."""
    low = np.concatenate([[-np.inf], found.edges])
    high = np.concatenate([last_before(found.edges, found.unit), [np.inf]])
    codes = np.searchsorted(found.edges, values, side="right").astype(np.int32)
    return LineAxis(column, codes, has_null, is_date, low, high, found.hides, None, found.unit, found.unit > 0, grid)


def step_axis(column: str, values: Floats, has_null: bool, is_date: bool, unit: float, step: float) -> LineAxis:
    """Every occupied multiple of the step is a code; ends are printed as closed where a unit allows it."""
    if np.abs(values).max() >= step * 10.0**MOST_DIGITS:
        raise BadOption("--grid", f"the step is too small for the numbers in column {column!r}.")
    cells = np.floor(values / step)
    cells += multiples(cells + 1, step) <= values
    cells -= multiples(cells, step) > values
    cells, codes = np.unique(cells, return_inverse=True)
    unit = unit if unit and abs(step / unit - round(step / unit)) < 1e-9 else 0.0
    low, high = multiples(cells, step), last_before(multiples(cells + 1, step), unit)
    if is_date:
        low, high = (np.clip(x, CALENDAR_ENDS[0], CALENDAR_ENDS[1] + DAY - (unit or 1.0)) for x in (low, high))
    span, shown = (float(low[0]), float(high[-1])), step / (DAY if is_date else 1)
    return LineAxis(
        column, codes.astype(np.int32), has_null, is_date, low, high, always(len(low)), span, unit, unit > 0, shown
    )


def multiples(counts: Floats, step: float) -> Floats:
    """Multiples of a step, as they are written: three times 0.1 is 0.3."""
    digits = -int(Decimal(repr(step)).normalize().as_tuple().exponent)
    return np.round(counts * step, digits) if 0 < digits <= EXACT_POWER else counts * step


def always(codes: int) -> Ints:
    """Boundaries published for every k."""
    return np.full(max(codes - 1, 0), ALWAYS)


def build_rank_axis(
    column: str,
    values: Sequence[str],
    order: Sequence[str],
    has_null: bool,
    *,
    ordinal: bool,
    widened: bool = False,
) -> RankAxis:
    """Values in the given order."""
    if ordinal:
        check_order(column, order)
    rank = {text: i for i, text in enumerate(order)}
    codes = np.array([rank[value] for value in values], dtype=np.int32)
    return RankAxis(column, codes, has_null, tuple(order), ordinal, widened)


def check_order(column: str, order: Sequence[str]) -> None:
    """Each value once, and none that could be read as a range."""
    if len(set(order)) < len(order):
        raise BadHierarchy(f"order of {column}", None, "a value is listed twice. Remove one of the two.")
    if any(DOTS in text or text == EVERYTHING for text in order):
        reason = f"a value is {EVERYTHING!r} or contains {DOTS!r}, with which ranges are written. Rename it."
        raise BadHierarchy(f"order of {column}", None, reason)


def build_tree_axis(column: str, values: Sequence[str], tree: GeneralizationTree, has_null: bool) -> Axis:
    """Values under a tree, which is cut back to the values that occur."""
    if not values:
        return build_rank_axis(column, values, (), has_null, ordinal=False)
    present = tree.restrict(values)
    rank = {text: i for i, text in enumerate(present.leaves)}
    codes = np.array([rank[value] for value in values], dtype=np.int32)
    return TreeAxis(column, codes, has_null, present)

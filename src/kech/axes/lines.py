"""Lines: axes of numbers and dates, whose labels are intervals with ends on a grid."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths
from kech.axes.axis import EVERYTHING, Axis, Codes
from kech.axes.grid import (
    ALWAYS,
    CALENDAR_ENDS,
    DAY,
    EXACT_POWER,
    LARGEST,
    MOST_DIGITS,
    DomainRule,
    Floats,
    Grid,
    Ints,
    build_round_grid,
    build_step_grid,
    date_unit,
    fix_domain,
    format_date,
    format_number,
    give_domain,
    last_before,
    number_unit,
)
from kech.axes.ranks import build_rank_axis
from kech.errors import BadOption

MICROSECOND = 1e-6  # the finest time that is written


@dataclass(frozen=True, eq=False, repr=False)
class LineAxis(Axis):
    """Numbers or dates: a code is an interval [low, high] of the line."""

    is_date: bool
    low: Floats  # -inf where the tail is open
    high: Floats  # inf where the tail is open
    largest_k: Ints  # for each inner boundary between codes, the largest k at which it is published
    domain_rule: DomainRule  # where the domain ends at each k
    unit: float  # all values are multiples of it; 0 without a unit
    inclusive: bool  # whether `high` belongs to the interval
    grid: str | float  # round (every edge hides among k rows), exact, or a step
    protect: str = "none"  # protection of the labels of a round grid: full, ends or none
    k: int = 1
    fine: "LineAxis | None" = None  # the axis before it was coarsened

    @property
    def kind(self) -> str:
        """Number or date."""
        return "date" if self.is_date else "number"

    @property
    def values(self) -> int:
        """Number of intervals."""
        return len(self.low)

    @property
    def is_padded(self) -> bool:
        """Whether labels are padded: with the protection full."""
        return self.protect == "full"

    def at(self, k: int) -> Self:
        """The axis with only those edges that hide among k rows."""
        return replace(self, k=k)

    @property
    def state(self) -> bytes:
        """The published edges and the domain, as bytes that are equal exactly for equal ones."""
        return self.cells[0].tobytes() + np.array(self.domain).tobytes()

    @cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """For each code the first and last code of its published cell."""
        group = np.concatenate([[0], np.cumsum(self.largest_k >= self.k)])
        first = np.searchsorted(group, group)
        last = np.searchsorted(group, group, side="right") - 1
        null = np.full(int(self.has_null), self.null)
        return np.concatenate([first, null]), np.concatenate([last, null])

    @cached_property
    def domain(self) -> tuple[float, float]:
        """The two ends between which widths are measured; where no edge is published, any."""
        if self.fine is not None:
            return self.fine.at(self.k).domain
        if not self.domain_rule.is_given and self.low[0] == -np.inf and not (self.largest_k >= self.k).any():
            return 0.0, self.unit or 1.0  # the only label is `*`
        return self.domain_rule.at(self.k)

    @property
    def has_tails(self) -> bool:
        """Whether labels may be open on both sides, as on every grid that kech chooses."""
        return self.grid == "round"

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """Left and right end of each code's published cell, in units."""
        low, high = (x[c[: self.values]] for x, c in zip((self.low, self.high), self.cells, strict=True))
        left, right = (self.in_units(np.clip(x, *self.domain)) for x in (low, high))
        pad = np.zeros(int(self.has_null))
        return np.concatenate([left, pad]), np.concatenate([right, pad])

    @cached_property
    def length(self) -> float:
        """Length of the domain in units; 1 where it is 0."""
        start, stop = self.in_units(np.array(self.domain))
        return float(stop - start) or 1.0

    def in_units(self, values: Floats) -> Floats:
        """Values in units, so that equal decimal distances are equal floats anywhere on the line."""
        unit = min(self.unit, self.domain_rule.unit) or (MICROSECOND if self.is_date else 0.0)
        if unit:
            return np.round(values / unit)
        start, stop = self.domain
        if np.spacing(max(-start, stop)) < (stop - start) * 1e-12:
            return values
        return np.array([float(Fraction(repr(x)) - Fraction(repr(start))) for x in values.tolist()])

    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """(max - min) / domain."""
        left, right = self.ends
        return np.where(self.mixes_null(lo, hi), 1.0, (right[hi] - left[lo]) / self.length)

    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """From the start of the first cell to the end of the last; everything for `*`."""
        first, last = self.cells[0][lo], self.cells[1][hi]
        whole = self.mixes_null(lo, hi) | self._is_everything(first, last)
        return np.where(whole, 0, first), np.where(whole, self.size - 1, last)

    def _is_everything(self, first: Ints, last: Ints) -> NDArray[np.bool_]:
        inner = last < self.values
        open_both = (self.low[first * inner] == -np.inf) & (self.high[last * inner] == np.inf)
        return np.asarray(inner & open_both)

    def is_open(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Whether each label is an open tail: `<= 21` or `>= 80`."""
        inner = hi < self.values
        low, high = self.low[lo * inner] == -np.inf, self.high[hi * inner] == np.inf
        return np.asarray(inner & (low != high))

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
        """The code of the interval that contains each number; NaN is NULL."""
        codes = np.searchsorted(self.low, values, side="right") - 1
        nearest = np.clip(codes, 0, None)
        inside = values <= self.high[nearest] if self.inclusive else values < self.high[nearest]
        cells = np.where(inside & (codes >= 0), self.at(1).cells[0][nearest], -1)
        return np.where(np.isnan(values), self.null, cells).astype(np.int32)

    def text(self, value: float) -> str:
        """The text of one end of an interval."""
        return (format_date if self.is_date else format_number)(value, self.unit)

    def add_to(self, widths: Widths) -> None:
        """Add the ends of all cells."""
        widths.add_line(*self.ends, self.length, np.inf, self.null)

    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """The domain, the grid and the protection."""
        del labels
        unit = min(self.unit, self.domain_rule.unit)
        ends = [format_date(x, unit) if self.is_date else x for x in self.domain]
        about: dict[str, Any] = {"column": self.column, "axis": self.kind, "domain": ends}
        about |= {"domain_given": True} if self.domain_rule.is_given else {}
        return about | {"grid": self.grid, "protect": self.protect}


def build_line_axis(
    column: str,
    values: Floats,
    counts: Ints,
    has_null: bool,
    *,
    is_date: bool,
    grid: str | float,
    protect: str = "none",
    domain: tuple[float, float] | None = None,
) -> Axis:
    """The axis of ascending numbers, or dates in seconds; `grid` is round, exact, a step, or levels (equal steps).

    A domain is that of the user: a value beyond it counts as lying at its end.
    """
    if not len(values):
        return build_rank_axis(column, (), (), has_null, is_ordered=False)
    own = None if domain is None else give_domain(*domain, is_date=is_date)
    if grid == "exact":
        return exact_axis(column, values, has_null, is_date, own)
    if grid == "levels":
        return grid_axis(column, values, has_null, is_date, build_step_grid(values, counts, is_date, own), "none")
    if grid == "round":
        round_grid = build_round_grid(values, counts, is_date, own)
        return grid_axis(column, values, has_null, is_date, round_grid, protect)
    unit = date_unit(values) if is_date else min(number_unit(values), 1.0)
    return step_axis(column, values, has_null, is_date, unit, float(grid) * (DAY if is_date else 1), own)


def exact_axis(column: str, values: Floats, has_null: bool, is_date: bool, own: DomainRule | None) -> LineAxis:
    """The axis in which every distinct value is a code; an end of a given domain is open if values lie beyond it."""
    known, codes = values, np.arange(len(values))
    domain = own or fix_domain(*np.clip(values[[0, -1]], -LARGEST, LARGEST).tolist())
    if own:
        known, codes = np.unique(np.clip(values, *own.at(1)), return_inverse=True)
    low, high = open_sides(known, known, below=values[0] < known[0], above=values[-1] > known[-1])
    unit = date_unit(known) if is_date else min(number_unit(known), 1.0)
    how = (low, high, publish_always(len(known)), domain, unit, True, "exact")
    return LineAxis(column, codes.astype(np.int32), has_null, is_date, *how)


def open_sides(low: Floats, high: Floats, *, below: bool, above: bool) -> tuple[Floats, Floats]:
    """Both ends of all cells, with the first one open below, or the last one above."""
    return np.append(-np.inf if below else low[0], low[1:]), np.append(high[:-1], np.inf if above else high[-1])


def grid_axis(column: str, values: Floats, has_null: bool, is_date: bool, grid: Grid, protect: str) -> LineAxis:
    """The axis in which every cell of the finest grid is a code; both tails are open."""
    low = np.concatenate([[-np.inf], grid.edges])
    high = np.concatenate([last_before(grid.edges, grid.unit), [np.inf]])
    codes = np.searchsorted(grid.edges, values, side="right").astype(np.int32)
    unit, closed = grid.unit, grid.unit > 0
    how = (grid.domain, unit, closed, "round", protect)
    return LineAxis(column, codes, has_null, is_date, low, high, grid.largest_k, *how)


def step_axis(
    column: str,
    values: Floats,
    has_null: bool,
    is_date: bool,
    unit: float,
    step: float,
    own: DomainRule | None = None,
) -> LineAxis:
    """The axis in which every occupied step is a code; intervals are closed where the step has whole units.

    The steps in which a given domain begins and ends are open, whether or not values lie beyond.
    """
    ends = own.at(1) if own else ()
    places = np.append(np.clip(values, *ends), ends) if own else values
    if np.abs(places).max() >= step * 10.0**MOST_DIGITS:
        raise BadOption("--grid", f"the step is too small for the numbers in column {column!r}. Choose a larger one.")
    cells = np.floor(places / step)
    cells += multiples(cells + 1, step) <= places
    cells -= multiples(cells, step) > places
    outer = cells[len(values) :]
    cells, codes = np.unique(cells[: len(values)], return_inverse=True)
    unit = unit if unit and abs(step / unit - round(step / unit)) < 1e-9 else 0.0
    low, high = multiples(cells, step), last_before(multiples(cells + 1, step), unit)
    if is_date:
        low, high = (np.clip(x, CALENDAR_ENDS[0], CALENDAR_ENDS[1] + DAY - (unit or 1.0)) for x in (low, high))
    domain = own or fix_domain(float(low[0]), float(high[-1]))
    if own:
        low, high = open_sides(low, high, below=cells[0] == outer[0], above=cells[-1] == outer[1])
    printed_step = step / (DAY if is_date else 1)
    return LineAxis(
        column,
        codes.astype(np.int32),
        has_null,
        is_date,
        low,
        high,
        publish_always(len(low)),
        domain,
        unit,
        unit > 0,
        printed_step,
    )


def multiples(counts: Floats, step: float) -> Floats:
    """Multiples of a step, rounded to its decimals: three times 0.1 is 0.3."""
    digits = -int(Decimal(repr(step)).normalize().as_tuple().exponent)
    return np.round(counts * step, digits) if 0 < digits <= EXACT_POWER else counts * step


def publish_always(codes: int) -> Ints:
    """`largest_k` of an axis whose edges are published at every k."""
    return np.full(max(codes - 1, 0), ALWAYS)

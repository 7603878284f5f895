"""Grid: round edges for numbers and dates, each published only at a k for which it hides among k rows.

In: the distinct values of a column with their counts.  Out: edges, and for each edge the largest k at which it may be
published.  Rulers have marks at round numbers or calendar dates.  Dates are seconds since 1970, so the same code grids
both.

The edges form a tree: a cell is split at the roundest mark with many rows on both sides, and so on.
An edge may be published at k when it, and every edge above it in the tree, has k rows on either side (or none).
So the edges at a larger k are among those at a smaller one: grids are nested.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kech._kernels import find_largest_k

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Span = tuple[float, float]

MOST_MARKS = 5000  # of the finest ruler of an axis
MOST_RULERS = 7  # of an axis whose steps divide one another
MOST_DAYS = 50_000  # steps of such an axis of dates
DAY = 86400.0
EPOCH = datetime(1970, 1, 1)
CALENDAR_ENDS = (-62135596800.0, 253402214400.0)  # 0001-01-01 and 9999-12-31, the limits of ISO dates
EXACT_POWER = 22  # the largest power of ten that is an exact float
USUAL = 0.95  # share of the rows that decides the unit: of Titanic's ages 3 % are estimates such as 28.5
LARGER_UNITS = [digits * 10**zeros for zeros in range(6, -1, -1) for digits in (50, 25, 20, 10)] + [5, 2]
FEWEST_MULTIPLES = 10  # distinct values that tell a unit above 1
LEAST_EVIDENCE = 9  # decimal places of the probability that so many whole numbers at random are multiples of it
FINEST_CLOSED = 0.01  # the finest unit with which intervals are printed closed: [20, 29.99]
MOST_DIGITS = 15  # of a decimal that a float represents


class Ruler(Protocol):
    """Marks at equal or nearly equal distances; `size` is the approximate distance."""

    @property
    def size(self) -> float:
        """Distance of two marks."""

    def marks(self, low: float, high: float) -> Floats:
        """All marks from the last one at or below `low` to the first one at or above `high`."""


@dataclass(frozen=True, slots=True)
class NumberRuler:
    """Marks at the multiples of mantissa * 10^exponent, exact as decimals."""

    mantissa: int
    exponent: int

    @property
    def size(self) -> float:
        """Distance of two marks."""
        return float(f"{self.mantissa}e{self.exponent}")

    def marks(self, low: float, high: float) -> Floats:
        """Multiples of the step around [low, high]."""
        first, last = np.floor(low / self.size + 1e-9), np.ceil(high / self.size - 1e-9)
        multiples = np.arange(first, last + 1) * self.mantissa
        if abs(self.exponent) > EXACT_POWER:
            return np.array([float(f"{int(multiple)}e{self.exponent}") for multiple in multiples])
        scale = 10.0 ** abs(self.exponent)
        return multiples * scale if self.exponent >= 0 else multiples / scale


@dataclass(frozen=True, slots=True)
class DateRuler:
    """Marks at the starts of every n-th year, month, day, hour, minute or second."""

    seconds: float
    period: str  # a unit of numpy.datetime64
    every: int

    @property
    def size(self) -> float:
        """Distance of two marks, in seconds."""
        return self.seconds * self.every

    def marks(self, low: float, high: float) -> Floats:
        """Starts of periods around [low, high]."""
        shift = 1970 if self.period == "Y" else 0
        first, last = (self._index(x) + shift for x in (low, high))
        starts = np.arange(first // self.every, last // self.every + 2) * self.every - shift
        marks = starts.astype(f"datetime64[{self.period}]").astype("datetime64[s]").astype(np.float64)
        return np.unique(np.clip(marks[: int(np.searchsorted(marks, high)) + 1], *CALENDAR_ENDS))

    def _index(self, seconds: float) -> int:
        moment = np.datetime64(int(seconds // 1), "s")
        return int(moment.astype(f"datetime64[{self.period}]").astype(np.int64))


CALENDAR = (
    *(DateRuler(365.25 * DAY, "Y", years) for years in (100, 50, 20, 10, 5, 2, 1)),
    *(DateRuler(30.4 * DAY, "M", months) for months in (6, 3, 1)),
    DateRuler(DAY, "D", 1),
    *(DateRuler(3600, "h", hours) for hours in (6, 1)),
    *(DateRuler(60, "m", minutes) for minutes in (10, 1)),
    DateRuler(1, "s", 1),
)


def number_rulers(span: float, unit: float, reach: float = 0.0) -> list[Ruler]:
    """Rulers with steps of 1, 2 and 5 times a power of ten, from the length of the span (or reach) down to the unit.

    Steps are multiples of a unit above 1, and the unit itself is the finest one.
    """
    longest = max(span, reach)
    top, last = (int(np.ceil(np.log10(length))) for length in (longest, span))
    steps = [NumberRuler(m, e) for e in range(top, last - 8, -1) for m in (5, 2, 1)]
    rulers: list[Ruler] = [r for r in steps if span / MOST_MARKS <= r.size and unit * 0.99 <= r.size <= longest * 2]
    if unit > 1:
        rulers = [r for r in rulers if r.size % unit == 0]
        if rulers and rulers[-1].size > unit >= span / MOST_MARKS:
            rulers.append(base_ruler(unit))
    return rulers


def date_rulers(span: float, unit: float, reach: float = 0.0) -> list[Ruler]:
    """Rulers with calendar steps, from the length of the span (or reach) down to the unit."""
    longest = max(span, reach)
    fitting = [r for r in CALENDAR if span / MOST_MARKS <= r.size and unit <= r.size <= longest * 2]
    return list(fitting or [DateRuler(DAY, "D", 1) if unit == DAY else DateRuler(1, "s", 1)])


def dividing_number_rulers(span: float, base: NumberRuler) -> list[Ruler]:
    """Rulers with round multiples of a step, coarse to fine, each dividing the one before: 50, 10, 5, 1.

    The coarsest step is at most the span; of more than seven rulers the finest are omitted.
    """
    steps = max(int(span / base.size + 1e-9), 1)
    power = 10 ** (len(str(steps)) - 1)
    factors = [next(digit * power for digit in (5, 2, 1) if digit * power <= steps)]
    while factors[-1] > 1 and len(factors) < MOST_RULERS:
        factors.append(factors[-1] // (5 if str(factors[-1])[0] == "5" else 2))
    return [NumberRuler(base.mantissa * factor, base.exponent) for factor in factors]


def dividing_date_rulers(span: float, unit: float) -> list[Ruler]:
    """Rulers of 100 years, 10 years, years, months, days, hours, minutes and seconds, as far as they fit the span."""
    nested = [r for r in CALENDAR if r.every == 1 or (r.period == "Y" and r.every in (10, 100))]
    fitting = [r for r in nested if span / MOST_DAYS <= r.size and unit <= r.size <= span]
    return list(fitting[:MOST_RULERS] or date_rulers(span, unit)[-1:])


def base_ruler(step: float) -> NumberRuler:
    """The ruler with marks at the multiples of any step."""
    _, digits, exponent = Decimal(repr(step)).normalize().as_tuple()
    return NumberRuler(int("".join(map(str, digits))), int(exponent))


def unit_ruler(span: float, unit: float) -> NumberRuler:
    """The ruler of the unit of a column; without a unit, of about a thousandth of the span."""
    return base_ruler(unit) if unit else NumberRuler(1, Decimal(span).adjusted() - 3)


def number_unit(values: Floats) -> float:
    """The largest unit that divides every value: 1, 2, 5, 10, 20, 25, 50 and so on, or 0.1 and below; 0 if none."""
    return find_unit(values, np.ones(len(values), np.int64), 1.0)


def usual_unit(values: Floats, counts: Ints) -> float:
    """The unit of 95 % of the rows, so that a few exceptions do not decide the edges."""
    return find_unit(values, counts, USUAL)


def find_unit(values: Floats, counts: Ints, share: float) -> float:
    """The largest unit that divides this share of the rows; one above 1 divides them all; 0 if none does."""
    largest = float(np.abs(values).max(initial=0.0))
    for digits in range(7):
        if largest >= 10.0 ** (MOST_DIGITS - digits):
            break
        if counts[np.round(values, digits) == values].sum() >= share * counts.sum():
            return 10.0**-digits if digits else find_larger_unit(values)
    return 0.0


def find_larger_unit(values: Floats) -> float:
    """The largest unit from 1 on that divides all values, which are more than would be its multiples at random."""
    if len(values) < FEWEST_MULTIPLES:
        return 1.0
    evident = (unit for unit in LARGER_UNITS if len(values) * math.log10(unit) >= LEAST_EVIDENCE)
    return next((float(unit) for unit in evident if not np.fmod(values, unit).any()), 1.0)


def closing_unit(values: Floats, unit: float) -> float:
    """The unit of closed intervals `[20, 29]`; 0 where intervals are half-open, `[20, 30)`."""
    return unit if unit >= FINEST_CLOSED and number_unit(values) == unit else 0.0


def date_unit(values: Floats) -> float:
    """A day, a second, or 0 for finer times."""
    return next((unit for unit in (DAY, 1.0) if bool(np.all(values % unit == 0))), 0.0)


def last_before(edges: Floats, unit: float) -> Floats:
    """The last multiple of the unit before each edge; the edge itself where there is no unit."""
    return round_to_unit(edges - unit, unit)


def round_to_unit(values: Floats, unit: float) -> Floats:
    """Values rounded to decimals of the unit; unchanged without a unit."""
    return np.round(values, max(0, round(-math.log10(unit)))) if unit else values


@lru_cache(MOST_MARKS)
def format_number(value: float, unit: float) -> str:
    """The shortest exact decimal of a number, rounded to its unit."""
    exact = round(value, max(0, round(-math.log10(unit)))) if unit else value
    return str(int(exact)) if exact == int(exact) and abs(exact) < 1e15 else repr(float(exact))


def read_date(text: str) -> float:
    """The seconds since 1970 of an ISO date, with or without the time of day."""
    return (datetime.fromisoformat(text) - EPOCH).total_seconds()


@lru_cache(MOST_MARKS)
def format_date(seconds: float, unit: float) -> str:
    """An ISO date; with the time of day where the unit is finer than a day."""
    moment = EPOCH + timedelta(seconds=seconds)
    return moment.date().isoformat() if unit == DAY else moment.isoformat(sep=" ")


# -- edges of a grid ------------------------------------------------------------------------------------


ALWAYS = np.iinfo(np.int64).max  # the `largest_k` of an edge that is published at every k
LARGEST = 1e307  # of a value: the length of an axis must be a float
LABEL_ENDS = {False: (-LARGEST, LARGEST), True: (CALENDAR_ENDS[0], CALENDAR_ENDS[1] - 2 * DAY)}  # of numbers, of dates
FEWEST_STEPS = 5  # the span of the bulk is rounded outward to a step of at most about a fifth of its length
FEWEST_ROWS, FEWEST_SHARE = 20, 200  # rows that are no bulk, and that decide an end of the domain: 20, or 0.5 % of many
SMALL_SHARE = 10  # but not more than a tenth of all rows
FACTOR = 4  # rows that are counted from an end, each this many times the one before, tell where a tail ends
LONGEST_TAIL = 4.0  # the largest growth of the gaps between them: that of values in proportion to 1 / rank
TAIL_STEPS = 50  # how many of its steps a ruler reaches into a tail


class DomainEnd(NamedTuple):
    """A place where the domain of an axis may end, and the number of rows that this fact is about."""

    rows: int
    place: float


@dataclass(frozen=True, slots=True)
class DomainRule:
    """Where the widths of an axis are measured; ends that few rows decide are replaced by wider ones."""

    low: tuple[DomainEnd, ...]  # the closest first, the last one is always possible
    high: tuple[DomainEnd, ...]
    fewest: int = 1  # rows that decide an end, at every k
    is_given: bool = False  # by the user: no edge is published beyond it
    unit: float = math.inf  # both ends of a given domain are multiples of it; 0 without such a unit

    def at(self, k: int) -> tuple[float, float]:
        """Both ends at k: the closest that k rows decide, or 20 where k is larger."""
        needed = max(self.fewest, min(k, FEWEST_ROWS))
        low, high = (next((end for end in ends if end.rows >= needed), ends[-1]) for ends in (self.low, self.high))
        return low.place, high.place


def fix_domain(low: float, high: float) -> DomainRule:
    """The domain with the same ends at every k."""
    return DomainRule((DomainEnd(ALWAYS, low),), (DomainEnd(ALWAYS, high),))


def give_domain(low: float, high: float, *, is_date: bool) -> DomainRule:
    """The domain that the user gave."""
    ends = np.array([low, high], np.float64)
    return replace(fix_domain(low, high), is_given=True, unit=(date_unit if is_date else number_unit)(ends))


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Inner edges, ascending; `largest_k[i]` is the largest k at which edge i is published."""

    edges: Floats
    largest_k: Ints
    domain: DomainRule  # contains all edges; labels beyond its ends are open tails
    unit: float  # all values are multiples of it; 0 without a unit


def build_round_grid(values: Floats, counts: Ints, is_date: bool, domain: DomainRule | None = None) -> Grid:
    """The grid of round numbers, or of calendar dates in seconds since 1970; `values` ascend.

    A value beyond a given domain counts as lying at its end.
    """
    unit = date_unit(values) if is_date else usual_unit(values, counts)
    within = values if domain is None else np.clip(values, *domain.at(1))
    bulk, reach = bulk_span(within, counts, is_date), find_reach(within, counts, is_date)
    if is_date:
        span, long = (max(end - start, unit, 1.0) for start, end in (bulk, reach))
        grid = build_grid(within, counts, (bulk, reach), unit, date_rulers(span, unit, long))
        written = grid.edges > CALENDAR_ENDS[0]  # no date is before the first day of the calendar
        grid = replace(grid, edges=grid.edges[written], largest_k=grid.largest_k[written])
    else:
        span, long = (max(end - start, 10 * unit, abs(bulk[0]) * 1e-9, 1e-290) for start, end in (bulk, reach))
        grid = build_grid(within, counts, (bulk, reach), closing_unit(values, unit), number_rulers(span, unit, long))
    return grid if domain is None else limit_edges(grid, values, domain)


def limit_edges(grid: Grid, values: Floats, domain: DomainRule) -> Grid:
    """The grid without the edges that labels would print beyond a given domain; what is there is an open tail.

    An edge at its low end, or one unit after its high end, stays where nobody lies beyond.
    """
    low, high = domain.at(1)
    first, last = grid.edges, last_before(grid.edges, grid.unit)
    is_above = ((first > low) & (last >= low)) | ((first >= low) & (values[0] >= low))
    is_below = (first <= high) | ((last <= high) & (values[-1] <= high))
    kept = is_above & is_below
    return Grid(grid.edges[kept], grid.largest_k[kept], domain, grid.unit)


def build_step_grid(values: Floats, counts: Ints, is_date: bool, domain: DomainRule | None = None) -> Grid:
    """The grid of equal steps, for cuts that print a whole column at one level; tails beyond most rows are open.

    Every printed cell contains a class of k rows or more.  So each edge hides among k rows at every k.
    """
    unit = date_unit(values) if is_date else usual_unit(values, counts)
    within = values if domain is None else np.clip(values, *domain.at(1))
    low, high = bulk_span(within, counts, is_date)
    rulers = step_rulers(low, high, unit, is_date)
    low, high = round_outward((low, high), unit, rulers)
    edges = rulers[-1].marks(low, high)
    edges = edges[edges > (CALENDAR_ENDS[0] if is_date else -LARGEST)]
    closing = unit if is_date else closing_unit(values, unit)
    grid = Grid(edges, np.full(len(edges), ALWAYS), fix_domain(*open_domain(edges, closing, is_date)), closing)
    return grid if domain is None else limit_edges(grid, values, domain)


def step_rulers(low: float, high: float, unit: float, is_date: bool) -> list[Ruler]:
    """Rulers whose steps divide one another, coarse to fine, from the length high - low down to the unit."""
    if is_date:
        return dividing_date_rulers(max(high - low, unit, 1.0), unit)
    span = max(high - low, unit, abs(low) * 1e-9, 1e-290)
    return dividing_number_rulers(span, unit_ruler(span, unit))


def bulk_span(values: Floats, counts: Ints, is_date: bool, depth: int = 0) -> Span:
    """The span without the outermost rows at each end, within the limits of labels; deeper, without 4 times as many."""
    left_out = count_outermost(counts) * FACTOR**depth
    rows_up_to = np.cumsum(counts)
    low = values[np.searchsorted(rows_up_to, left_out, side="right")]
    high = values[np.searchsorted(rows_up_to, rows_up_to[-1] - left_out, side="left")]
    low, high = np.clip((low, high), *LABEL_ENDS[is_date]).tolist()
    return low, high


def count_outermost(counts: Ints) -> int:
    """The rows at each end that are no bulk: 20, or 0.5 % of many, or a quarter of few."""
    rows = int(counts.sum())
    return min(max(FEWEST_ROWS, rows // FEWEST_SHARE), rows // 4)


def find_reach(values: Floats, counts: Ints, is_date: bool) -> Span:
    """Where the outermost rows are expected, judged by rows further inside: the bulk and its tails.

    Count m rows from an end (those outside the bulk), 4 m and 16 m.  The gaps between these three rows grow by a
    factor.  The gaps from m to m / 4 and so on, down to the outermost row, are expected to grow by the same factor:
    about 1 for exponential tails, less for shorter ones, more for heavy ones.  Small tables have no such tails.
    """
    outermost = count_outermost(counts)
    if 2 * FACTOR**2 * outermost > counts.sum():
        return bulk_span(values, counts, is_date)
    ends = zip(*(bulk_span(values, counts, is_date, depth) for depth in range(3)), strict=True)
    low, high = np.clip([extend_tail(places, outermost) for places in ends], *LABEL_ENDS[is_date]).tolist()
    return low, high


def extend_tail(places: Sequence[float], outermost: int) -> float:
    """The expected place of the outermost row, from those of the rows m, 4 m and 16 m from the end."""
    place, gap, before = places[0], places[0] - places[1], places[1] - places[2]
    if not gap or not before:
        return place
    growth = min(gap / before, LONGEST_TAIL)
    while outermost >= FACTOR:
        outermost //= FACTOR
        gap *= growth
        place += gap
    return place


def build_grid(values: Floats, counts: Ints, spans: tuple[Span, Span], unit: float, rulers: Sequence[Ruler]) -> Grid:
    """The grid with edges at marks of these rulers (coarse to fine), each with its largest k.

    `spans` are bulk and reach.  Marks lie in the rounded reach; the finer a ruler, the less far from the bulk.
    """
    bulk, reach = (round_outward(span, unit, rulers) for span in spans)
    marks, ranks = all_marks(reach, bulk, rulers)
    is_inside = ((marks > reach[0]) | (reach[0] == bulk[0])) & ((marks < reach[1]) | (reach[1] == bulk[1]))
    marks, ranks = marks[is_inside], ranks[is_inside]  # beyond an edge where a tail ends, labels would have no width
    values_below = np.searchsorted(values, marks)
    rows_below = np.concatenate([[0], np.cumsum(counts)])[values_below]
    largest_k = find_largest_k(np.r_[0, rows_below, counts.sum()], np.r_[0, values_below, len(values)], ranks)
    keep = largest_k > 1
    edges, largest_k = marks[keep], largest_k[keep]
    coarser = rulers[: rulers.index(find_span_ruler(spans[0][1] - spans[0][0], rulers)) + 1]
    domain = find_domain((values, counts), (edges, largest_k), (bulk, reach), unit, coarser[::-1])
    return Grid(edges, largest_k, domain, unit)


def find_domain(
    column: tuple[Floats, Ints],
    edges: tuple[Floats, Ints],
    spans: tuple[Span, Span],
    unit: float,
    rulers: Sequence[Ruler],
) -> DomainRule:
    """The domain of an axis whose edges, each with its largest k, lie in the rounded reach of its rows.

    Where a tail is expected beyond the rounded bulk, it ends with the reach.  Elsewhere it ends at the outermost edge,
    if nobody lies beyond that.  Otherwise there is an open tail, and it ends one step beyond the bulk: a step of the
    first ruler, fine to coarse, with enough rows in the tail and the last step inside.
    A tail is wider than one value: it has a unit more.
    """
    (values, counts), (places, largest_k) = column, edges
    rows_up_to, people = np.concatenate([[0], np.cumsum(counts)]), int(counts.sum())
    bulk, reach = spans
    low = [DomainEnd(ALWAYS, reach[0])] if reach[0] < bulk[0] else []
    high = [DomainEnd(ALWAYS, reach[1])] if reach[1] > bulk[1] else []
    if len(places) and places[0] <= values[0]:
        low.append(DomainEnd(int(largest_k[0]), float(places[0])))
    if len(places) and places[-1] > values[-1]:
        high.append(DomainEnd(int(largest_k[-1]), float(last_before(places[-1], unit))))
    for ruler in rulers:
        marks = ruler.marks(bulk[0] - 1.5 * ruler.size, bulk[1] + 1.5 * ruler.size)
        rows_below = rows_up_to[np.searchsorted(values, marks)]
        first, last = int(np.searchsorted(marks, bulk[0], "right")) - 1, int(np.searchsorted(marks, bulk[1]))
        start = max(float(last_before(marks[first - 1], unit)), float(marks[0])) if first else float(marks[0])
        low.append(DomainEnd(int(rows_below[first + 1]), start))
        high.append(DomainEnd(people - int(rows_below[last - 1]), float(marks[min(last + 1, len(marks) - 1)])))
    return DomainRule(tuple(low), tuple(high), min(max(FEWEST_ROWS, people // FEWEST_SHARE), people // SMALL_SHARE))


def round_outward(span: tuple[float, float], unit: float, rulers: Sequence[Ruler]) -> tuple[float, float]:
    """The span, rounded outward to the coarsest marks that divide it into about five steps or more.

    The last mark is greater than the span, since steps are half open.
    """
    length = span[1] - span[0]
    ruler = find_span_ruler(length, rulers)
    beyond = (unit if length else 2 * unit) or ruler.size / 100
    marks = ruler.marks(span[0], span[1] + beyond)
    return float(marks[0]), float(marks[-1])


def open_domain(edges: Floats, unit: float, is_date: bool) -> tuple[float, float]:
    """The domain of an axis with open tails: one step beyond the outermost edges.

    The step is the next whole unit above the mean distance of the edges, so that an open tail is wider than one value.
    """
    if not len(edges):
        return 0.0, unit or 1.0  # the only label is `*`
    mean = (edges[-1] - edges[0]) / max(len(edges) - 1, 1) or unit or 1.0
    visible = np.abs(edges).max() * 1e-6  # a smaller step would vanish in the rounding of the ends
    step = (np.floor(mean / unit) + 1) * unit if unit else max(mean, visible)
    ends = round_to_unit(np.array([edges[0] - step, edges[-1] + step - unit]), unit)
    low, high = np.clip(ends, *(CALENDAR_ENDS if is_date else (-LARGEST, LARGEST))).tolist()
    return low, high


def find_span_ruler(length: float, rulers: Sequence[Ruler]) -> Ruler:
    """The coarsest ruler that divides a length into five steps or more; the finest where there is none."""
    return next((ruler for ruler in rulers if ruler.size * FEWEST_STEPS <= length), rulers[-1])


def all_marks(span: Span, bulk: Span, rulers: Sequence[Ruler]) -> tuple[Floats, Ints]:
    """Every mark of a span with its rank: 0 is the roundest.  Rulers do not reach far from the bulk."""
    low, high = span
    far = [TAIL_STEPS * ruler.size for ruler in rulers]
    each = [
        ruler.marks(max(low, bulk[0] - beyond), min(high, bulk[1] + beyond))
        for ruler, beyond in zip(rulers, far, strict=True)
    ]
    ranks = np.repeat(np.arange(len(each)), [len(marks) for marks in each])
    marks, roundest = np.unique(np.concatenate(each), return_index=True)
    inside = (marks >= low) & (marks <= high)
    return marks[inside], ranks[roundest][inside]

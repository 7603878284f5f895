"""Grid: round edges for numbers and dates, each published only while it hides among k rows.

In: the distinct values of a column with their counts.  Out: edges, and for each edge the largest k it serves.

The edges form a tree: a cell is parted at the roundest mark that leaves many rows on both sides, and so on.
An edge serves k when it, and every edge above it in the tree, leaves k rows on either side (or none).
So the edges of a larger k are among those of a smaller one: grids are nested.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kech.axes.rulers import (
    CALENDAR_ENDS,
    DAY,
    Floats,
    Ruler,
    date_rulers,
    date_unit,
    dividing_date_rulers,
    dividing_number_rulers,
    last_before,
    number_rulers,
    number_unit,
    unit_ruler,
)

Ints = NDArray[np.int64]

ALWAYS = np.iinfo(np.int64).max  # as `hides`: an edge published for every k
LARGEST = 1e307  # beyond it the length of an axis would be no float
FEWEST_STEPS = 5  # the domain is rounded outward to a step of at most about a fifth of its length


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Inner edges, ascending; `hides[i]` is the largest k at which edge i is published."""

    edges: Floats
    hides: Ints
    span: tuple[float, float]  # edges lie in it; all beyond is an open tail
    unit: float  # values are multiples of it; 0 where they are not


def build_number_grid(values: Floats, counts: Ints) -> Grid:
    """Grid of round numbers; `values` ascend."""
    unit = number_unit(values)
    low, high = np.clip(bulk_span(values, counts), -LARGEST, LARGEST).tolist()
    rulers = number_rulers(max(high - low, 10 * unit, abs(low) * 1e-9, 1e-290), unit)
    return build_grid(values, counts, (low, high), unit, rulers)


def build_date_grid(values: Floats, counts: Ints) -> Grid:
    """Grid of calendar dates; `values` are seconds since 1970 and ascend."""
    unit = date_unit(values)
    low, high = np.clip(bulk_span(values, counts), CALENDAR_ENDS[0], CALENDAR_ENDS[1] - 2 * DAY).tolist()
    grid = build_grid(values, counts, (low, high), unit, date_rulers(max(high - low, unit, 1.0), unit))
    written = grid.edges > CALENDAR_ENDS[0]  # before the first day of the calendar there is nothing to write
    return replace(grid, edges=grid.edges[written], hides=grid.hides[written])


def build_step_grid(values: Floats, counts: Ints, is_date: bool) -> Grid:
    """Grid of equal steps, for levels that hide their edges by themselves: tails beyond the bulk of the rows are open.

    Such a grid is published one level for the whole column, and every cell that is printed holds a class of
    k rows or more.  So equal edges hide among k rows by construction, and serve every k.
    """
    unit = (date_unit if is_date else number_unit)(values)
    ends = (CALENDAR_ENDS[0], CALENDAR_ENDS[1] - 2 * DAY) if is_date else (-LARGEST, LARGEST)
    low, high = np.clip(bulk_span(values, counts), *ends).tolist()
    rulers = step_rulers(low, high, unit, is_date)
    low, high = round_outward((low, high), unit, rulers)
    edges = rulers[-1].marks(low, high)
    edges = edges[edges > ends[0]]
    return Grid(edges, np.full(len(edges), ALWAYS), (low, high), unit)


def step_rulers(low: float, high: float, unit: float, is_date: bool) -> list[Ruler]:
    """Steps that divide one another, coarse to fine, from the length of a stretch down to the unit."""
    if is_date:
        return dividing_date_rulers(max(high - low, unit, 1.0), unit)
    span = max(high - low, unit, abs(low) * 1e-9, 1e-290)
    return dividing_number_rulers(span, unit_ruler(span, unit))


def bulk_span(values: Floats, counts: Ints) -> tuple[float, float]:
    """The span of all but the outermost rows: 20, or half a percent, at each end."""
    rows = int(counts.sum())
    left_out = min(max(20, rows // 200), rows // 4)
    running = np.cumsum(counts)
    low = values[np.searchsorted(running, left_out, side="right")]
    high = values[np.searchsorted(running, rows - left_out, side="left")]
    return float(low), float(high)


def build_grid(values: Floats, counts: Ints, span: tuple[float, float], unit: float, rulers: Sequence[Ruler]) -> Grid:
    """Edges at the marks of `rulers` (coarse to fine), each with the k it serves."""
    low, high = round_outward(span, unit, rulers)
    marks, ranks = all_marks(low, high, rulers)
    below = np.concatenate([[0], np.cumsum(counts)])[np.searchsorted(values, marks)]
    hides = hidden_rows(below, ranks, int(counts.sum()))
    keep = hides > 1
    return Grid(marks[keep], hides[keep], (low, float(last_before(np.array(high), unit))), unit)


def round_outward(span: tuple[float, float], unit: float, rulers: Sequence[Ruler]) -> tuple[float, float]:
    """The span, rounded outward to the coarsest marks that cut it into about five steps or more.

    The last mark lies beyond the span, since steps are half open.
    """
    length = span[1] - span[0]
    ruler = next((ruler for ruler in rulers if ruler.size * FEWEST_STEPS <= length), rulers[-1])
    beyond = (unit if length else 2 * unit) or ruler.size / 100
    marks = ruler.marks(span[0], span[1] + beyond)
    return float(marks[0]), float(marks[-1])


def all_marks(low: float, high: float, rulers: Sequence[Ruler]) -> tuple[Floats, Ints]:
    """Every mark from low to high with its rank: 0 is the roundest."""
    each = [ruler.marks(low, high) for ruler in rulers]
    ranks = np.repeat(np.arange(len(each)), [len(marks) for marks in each])
    marks, roundest = np.unique(np.concatenate(each), return_index=True)
    inside = (marks >= low) & (marks <= high)
    return marks[inside], ranks[roundest][inside]


def hidden_rows(below: Ints, ranks: Ints, rows: int) -> Ints:
    """For each mark the largest k it serves, 0 for never; `below` counts the rows left of a mark.

    A mark between two occupied parts hides among the rows of the smaller part.  A mark at the end of an
    empty stretch hides among the rows of the step, of its own roundness, that touches it.
    """
    running = np.concatenate([[0], below, [rows]])
    before, after = rounder_neighbours(ranks)
    hides = np.zeros(len(running), np.int64)
    cells = [(0, len(running) - 1, rows)]
    while cells:
        low, high, limit = cells.pop()
        inner = np.arange(low + 1, high)
        hiding = rows_at_marks(running, before, after, low, high, inner)
        best = hiding.max(initial=0)
        if min(best, limit) < 2:
            continue
        fair = np.flatnonzero(hiding * 2 >= best)
        at = fair[np.lexsort((-hiding[fair], ranks[inner[fair] - 1]))[0]]
        mark, limit = int(inner[at]), int(min(limit, hiding[at]))
        hides[mark] = limit
        cells += [(low, mark, limit), (mark, high, limit)]
    return hides[1:-1]


def rows_at_marks(running: Ints, before: Ints, after: Ints, low: int, high: int, inner: Ints) -> Ints:
    """Among how many rows each inner mark of the cell (low, high) would hide."""
    left, right = running[inner] - running[low], running[high] - running[inner]
    step_left = running[inner] - running[np.maximum(before[inner], low)]
    step_right = running[np.minimum(after[inner], high)] - running[inner]
    return np.where(left == 0, step_right, np.where(right == 0, step_left, np.minimum(left, right)))


def rounder_neighbours(ranks: Ints) -> tuple[Ints, Ints]:
    """For each mark, counted from 1, the nearest mark on either side that is as round or rounder."""
    beyond = len(ranks) + 1
    before, after = np.zeros(beyond + 1, np.int64), np.full(beyond + 1, beyond)
    for rank in np.unique(ranks):
        round_enough = np.flatnonzero(ranks <= rank) + 1
        own = ranks[round_enough - 1] == rank
        before[round_enough[own]] = np.concatenate([[0], round_enough[:-1]])[own]
        after[round_enough[own]] = np.concatenate([round_enough[1:], [beyond]])[own]
    return before, after

"""Levels: the steps by which a whole column is blurred, from the codes as they are up to one cell with everything.

In: an axis.  Out: for each level the cell of every code, and the axis on which the cells are published; a cell is a
range of codes and lies in one cell of the next level.  NULL is a cell of its own below the top.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from kech.axes import Axis, LineAxis, NodeAxis, RankAxis, TreeAxis, open_domain, publish_always
from kech.axes.grid import (
    CALENDAR_ENDS,
    DAY,
    LARGEST,
    Floats,
    Ints,
    Ruler,
    base_ruler,
    dividing_number_rulers,
    last_before,
    step_rulers,
)

Measure: TypeAlias = Callable[[Ints], Axis]


@dataclass(frozen=True, eq=False, repr=False)
class Level:
    """Cells of one level, each printed as one label on the axis of the level.

    Nothing on that axis depends on codes it was not measured by: not the labels, not their widths, not what a
    certificate says of it.  Only where the steps of a line lie is known from the whole column.
    """

    cells: Ints  # the cell of each code, ascending from 0
    places: Ints  # the place of each code on the axis of the level; NULL has one of its own
    measure: Measure  # that axis, measured by the rows of each code
    axis: Axis  # measured by all codes of the column
    lo: Ints  # first and last place that the label of each cell stands for
    hi: Ints
    widths: Floats  # of each cell, as it is printed

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.lo)

    def labels(self) -> list[str | None]:
        """What is printed for each cell."""
        return self.axis.labels(self.lo, self.hi)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Draft:
    """A level without NULL."""

    cells: Ints
    places: Ints
    measure: Measure


def build_levels(axis: Axis, rows: Ints | None = None) -> tuple[Level, ...]:
    """The levels of an axis, 0 as coded, the last one cell; measured by the rows of each code, or by one of each.

    A tree has the levels of its hierarchy, and a cell is printed as its node there, whichever of its leaves occur.  An
    ordered axis merges neighbours by 2, 4, 8 and so on, numbers and dates have round steps that divide one another, a
    set has nothing between its values and everything.
    """
    rows = mark_values(axis) if rows is None else rows
    drafts = FINDERS[type(axis)](axis, np.flatnonzero(rows))[: 1 if axis.size == 1 else None]
    cells = [append_null(axis, draft.cells) for draft in drafts[:-1]] + [np.zeros(axis.size, np.int64)]
    return tuple(build_level(axis, *pair, rows) for pair in zip(cells, drafts, strict=True))


def mark_values(axis: Axis) -> Ints:
    """A row for every value of the column, and for NULL."""
    codes = np.append(axis.codes, [axis.null] * axis.has_null).astype(np.int64)
    return np.asarray(np.bincount(codes, minlength=axis.size) > 0).astype(np.int64)


def build_level(axis: Axis, cells: Ints, draft: Draft, rows: Ints) -> Level:
    """A level from the cell of each code."""
    numbers = np.arange(cells[-1] + 1)
    places, printed = append_null(axis, draft.places), draft.measure(rows)
    first, last = (places[np.searchsorted(cells, numbers, side) - (side == "right")] for side in ("left", "right"))
    lo, hi = printed.close(first, last)
    return Level(cells, places, draft.measure, printed, lo, hi, printed.widths(lo, hi))


def append_null(axis: Axis, numbers: Ints) -> Ints:
    """Numbers of codes, and one more for NULL."""
    return np.append(numbers, numbers.max(initial=-1) + 1) if axis.has_null else numbers


def number_cells(cells: Ints) -> Ints:
    """Ascending cells, numbered from 0."""
    return np.concatenate([[0], np.cumsum(np.diff(cells) != 0)]).astype(np.int64)


# -- trees -----------------------------------------------------------------------------------------------


def tree_levels(axis: TreeAxis, occupied: Ints) -> list[Draft]:
    """Nodes of the hierarchy's levels."""
    del occupied
    top = axis.tree.height - 1
    levels = [*range(max(top, 1)), top]
    codes = [axis.tree.level_codes(level).astype(np.int64) for level in levels]
    return [Draft(x, x, partial(measure_nodes, axis, level)) for x, level in zip(codes, levels, strict=True)]


def measure_nodes(axis: TreeAxis, level: int, rows: Ints) -> NodeAxis:
    """All nodes of a level; leaves are counted as the rows tell them."""
    codes, leaf_rows = axis.tree.level_codes(level), rows[: axis.values]
    nulls, is_public = (
        int(rows[axis.values :].sum()),
        axis.public_sizes is not None or (axis.rows is not None and axis.k > 1),
    )
    tree = (
        axis.tree if is_public else axis.tree.restrict(axis.texts[leaf] for leaf in np.flatnonzero(leaf_rows).tolist())
    )
    measured = replace(axis, rows=None if axis.rows is None else leaf_rows, nulls=nulls, has_null=nulls > 0, tree=tree)
    return NodeAxis(
        axis.column,
        codes[axis.codes],
        axis.has_null,
        axis.tree.level_labels(level),
        dict(zip(axis.texts, codes.tolist(), strict=True)),
        tree.leaf_counts(measured.sizes),
        measured.leaves,
        axis.root,
    )


# -- orders and sets -------------------------------------------------------------------------------------


def rank_levels(axis: RankAxis, occupied: Ints) -> list[Draft]:
    """Each value alone; where there is an order, also two neighbours, four, eight and so on; everything."""
    del occupied
    values, measure = np.arange(axis.values), partial(measure_ranks, axis)
    merges = max(axis.values - 1, 1).bit_length() if axis.is_ordered else 1
    return [Draft(cells, values, measure) for cells in (*(values >> merge for merge in range(merges)), values * 0)]


def measure_ranks(axis: RankAxis, rows: Ints) -> RankAxis:
    """An order is public, but ranges end at values that k rows hold; values of a set count where they are held."""
    if axis.is_ordered:
        return axis if axis.rows is None else replace(axis, rows=rows[: axis.values])
    return replace(axis, counted=int((rows > 0).sum()), k=1)


# -- lines -----------------------------------------------------------------------------------------------


def line_levels(axis: LineAxis, occupied: Ints) -> list[Draft]:
    """The cells as they are, then whole steps between the marks of coarser and coarser rulers, then all.

    Marks below the first start are no edges of a line with open tails: a tail stays as open.  A step that joins no
    two values of the column is left out.
    """
    low, high = outer_starts(axis)
    cells, inner = number_cells(axis.cells[0][: axis.values]), occupied[occupied < axis.values]
    levels = [line_level(axis, cells, *cell_ends(axis, cells), inclusive=axis.inclusive)]
    for ruler in reversed(line_rulers(axis)):
        marks = ruler.marks(low, high + ruler.size)
        marks = marks[marks >= low] if axis.span is None else marks
        starts = axis.low[np.searchsorted(cells, cells)]  # of the cell of each code
        marks_passed = np.searchsorted(marks, starts, side="right")
        above = number_cells(marks_passed)
        if 1 < count_occupied(above, inner) < count_occupied(cells, inner):
            cells = above
            ends = cell_ends(axis, cells) if axis.span is None else widen_to_marks(axis, cells, marks, marks_passed)
            levels.append(line_level(axis, cells, *ends, inclusive=axis.unit > 0))
    open_sides = np.array([-np.inf]), np.array([np.inf])
    return [*levels, line_level(axis, np.zeros(axis.values, np.int64), *open_sides, inclusive=axis.unit > 0)]


def line_level(axis: LineAxis, cells: Ints, low: Floats, high: Floats, *, inclusive: bool) -> Draft:
    """Cells of a line, printed from low to high."""
    codes, largest_k = cells[axis.codes].astype(np.int32), publish_always(len(low))
    line = replace(axis, codes=codes, low=low, high=high, largest_k=largest_k, span=None, inclusive=inclusive, k=1)
    return Draft(cells, cells, partial(measure_line, line, cells, axis.span is not None))


def cell_ends(axis: LineAxis, cells: Ints) -> tuple[Floats, Floats]:
    """The low and high ends of each cell: from its first stretch to its last."""
    first = np.flatnonzero(np.diff(cells, prepend=-1))
    return axis.low[first], axis.high[np.append(first[1:], len(cells)) - 1]


def widen_to_marks(axis: LineAxis, cells: Ints, marks: Floats, marks_passed: Ints) -> tuple[Floats, Floats]:
    """The low and high ends of each cell, widened to the marks around it.

    In: the cell of each code, ascending; the marks, ascending; and for each code how many marks lie at or below it.
    """
    low, high = cell_ends(axis, cells)
    first_codes = np.flatnonzero(np.diff(cells, prepend=-1))
    mark = np.clip(marks_passed[first_codes] - 1, 0, len(marks) - 2)
    limits = (CALENDAR_ENDS[0], CALENDAR_ENDS[1] + DAY - (axis.unit or 1.0)) if axis.is_date else (-LARGEST, LARGEST)
    left, right = np.clip(marks[mark], *limits), np.clip(last_before(marks[mark + 1], axis.unit), *limits)
    return np.minimum(left, low), np.maximum(right, high)


def measure_line(line: LineAxis, cells: Ints, closed: bool, rows: Ints) -> LineAxis:
    """The domain follows from the cells that are printed: from first to last, or a step beyond their edges."""
    at = np.unique(cells[np.flatnonzero(rows[: len(cells)])])
    low, high = line.low[at], line.high[at]
    if closed and np.isfinite(low).any():
        return replace(line, span=tuple(np.clip([low[0], high[-1]], -LARGEST, LARGEST).tolist()))
    edges = np.unique(np.append(low, line.low[at[at + 1 < line.values] + 1]))
    return replace(line, span=open_domain(edges[np.isfinite(edges)], line.unit, line.is_date))


def count_occupied(cells: Ints, occupied: Ints) -> int:
    """Cells that hold a value of the column."""
    return len(np.unique(cells[occupied]))


def line_rulers(axis: LineAxis) -> list[Ruler]:
    """Rulers of a line, coarse to fine: multiples of the step that was asked for, or round ones."""
    low, high = outer_starts(axis)
    if isinstance(axis.grid, str):
        return step_rulers(low, high, axis.unit, axis.is_date)
    return dividing_number_rulers(high - low, base_ruler(axis.grid * (DAY if axis.is_date else 1)))


def outer_starts(axis: LineAxis) -> tuple[float, float]:
    """Where the first and the last stretch start; an open tail starts nowhere."""
    finite = axis.low[np.isfinite(axis.low)]
    return (float(finite[0]), float(finite[-1])) if len(finite) else (0.0, 0.0)


FINDERS: dict[type[Axis], Callable[[Any, Ints], Sequence[Draft]]] = {
    TreeAxis: tree_levels,
    RankAxis: rank_levels,
    LineAxis: line_levels,
}

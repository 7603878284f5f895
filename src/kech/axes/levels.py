"""Levels: the generalization levels of a whole column, from single codes (level 0) to one cell with all codes.

In: an axis.  Out: for each level the cell of every code, and the axis on which the cells are published; a cell is a
range of codes inside one cell of the next level.  NULL is a cell of its own, except on the top level.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from kech.axes import Axis, LineAxis, NodeAxis, RankAxis, TreeAxis, publish_always, step_axis
from kech.axes.grid import (
    CALENDAR_ENDS,
    DAY,
    LARGEST,
    Floats,
    Ints,
    Ruler,
    base_ruler,
    dividing_number_rulers,
    fix_domain,
    last_before,
    open_domain,
    step_rulers,
)
from kech.errors import BadOption

Measure: TypeAlias = Callable[[Ints], Axis]


@dataclass(frozen=True, eq=False, repr=False)
class Level:
    """The cells of one level; each is printed as one label on the axis of the level.

    Labels, widths and certificate parameters of that axis depend only on the rows by which it is measured.  Only the
    steps of a line follow from the whole column.
    """

    cells: Ints  # the cell of each code, ascending from 0
    axis_codes: Ints  # the code on the axis of the level of each code; NULL has its own
    measure: Measure  # a function from the rows of each code to the axis of the level
    axis: Axis  # that axis, measured by all codes of the column
    lo: Ints  # first code, on that axis, of the label of each cell
    hi: Ints  # last one
    widths: Floats  # of the label of each cell

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.lo)

    def labels(self) -> list[str | None]:
        """The label of each cell."""
        return self.axis.labels(self.lo, self.hi)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LevelCells:
    """A level without NULL."""

    cells: Ints
    axis_codes: Ints
    measure: Measure


def build_levels(axis: Axis, rows: Ints | None = None) -> tuple[Level, ...]:
    """The levels of an axis: 0 has the codes themselves, the last has one cell; measured by the rows of each code.

    A tree has the levels of its hierarchy, and a cell is printed as its node there.  An ordered axis merges 2, 4, 8 and
    so on neighbours.  Numbers and dates have round steps that divide one another.  A set has only its values and
    everything.  Without `rows` every value counts as one row.
    """
    rows = mark_values(axis) if rows is None else rows
    drafts = FINDERS[type(axis)](axis, np.flatnonzero(rows))[: 1 if axis.size == 1 else None]
    cells = [append_null(axis, draft.cells) for draft in drafts[:-1]] + [np.zeros(axis.size, np.int64)]
    return tuple(build_level(axis, *pair, rows) for pair in zip(cells, drafts, strict=True))


def build_fixed_levels(axis: Axis, level: int | None = None) -> list[Level]:
    """One level, or all, whose labels and widths depend on no row: each label follows from the value, and what the user
    chose.

    They are for trees and orders of the user, and for lines with a step, which is their only level.  Numbers are
    printed as [20, 30), since whether they are whole follows from the rows.  Only the domain of a line depends on
    rows: `measure`.
    """
    fixed = fix_axis(axis)
    drafts = FINDERS[type(fixed)](fixed, np.arange(fixed.size))
    if level is not None and level >= len(drafts):
        reason = f"column {axis.column!r} has the levels 0 to {len(drafts) - 1}. Choose one of these."
        raise BadOption("--levels", reason)
    chosen = drafts[:1] if isinstance(axis, LineAxis) else drafts if level is None else [drafts[level]]
    return [build_level(fixed, draft.cells, draft, np.ones(fixed.size, np.int64)) for draft in chosen]


def fix_axis(axis: Axis) -> Axis:
    """The axis without what follows from its rows: the unit of numbers.  At k = 1 no value of a text is rare."""
    if not isinstance(axis, LineAxis):
        return axis
    unit, step = (DAY, float(axis.grid) * DAY) if axis.is_date else (0.0, float(axis.grid))
    own = axis.domain_rule if axis.domain_rule.is_given else None
    return replace(step_axis(axis.column, axis.low, False, axis.is_date, unit, step, own), codes=axis.codes)


def mark_values(axis: Axis) -> Ints:
    """One row for every code that occurs in the column, with NULL; 0 for other codes."""
    codes = np.append(axis.codes, [axis.null] * axis.has_null).astype(np.int64)
    return np.asarray(np.bincount(codes, minlength=axis.size) > 0).astype(np.int64)


def build_level(axis: Axis, cells: Ints, draft: LevelCells, rows: Ints) -> Level:
    """The level with these cells, measured by the rows of each code."""
    numbers = np.arange(cells[-1] + 1)
    axis_codes, printed = append_null(axis, draft.axis_codes), draft.measure(rows)
    first, last = (axis_codes[np.searchsorted(cells, numbers, side) - (side == "right")] for side in ("left", "right"))
    lo, hi = printed.close(first, last)
    return Level(cells, axis_codes, draft.measure, printed, lo, hi, printed.widths(lo, hi))


def append_null(axis: Axis, numbers: Ints) -> Ints:
    """The numbers of all codes, with the next number for NULL where the axis has it."""
    return np.append(numbers, numbers.max(initial=-1) + 1) if axis.has_null else numbers


def number_cells(cells: Ints) -> Ints:
    """Ascending cells, renumbered from 0 without gaps."""
    return np.concatenate([[0], np.cumsum(np.diff(cells) != 0)]).astype(np.int64)


# -- trees -----------------------------------------------------------------------------------------------


def tree_levels(axis: TreeAxis, occupied: Ints) -> list[LevelCells]:
    """The levels of a hierarchy; cells are nodes."""
    del occupied
    top = axis.tree.height - 1
    levels = [*range(max(top, 1)), top]
    codes = [axis.tree.level_codes(level).astype(np.int64) for level in levels]
    return [LevelCells(x, x, partial(measure_nodes, axis, level)) for x, level in zip(codes, levels, strict=True)]


def measure_nodes(axis: TreeAxis, level: int, rows: Ints) -> NodeAxis:
    """The axis of all nodes of a level, with leaves counted by these rows."""
    codes, counted = axis.tree.level_codes(level), count_leaves(axis, rows)
    return NodeAxis(
        axis.column,
        codes[axis.codes],
        axis.has_null,
        axis.tree.level_labels(level),
        dict(zip(axis.texts, codes.tolist(), strict=True)),
        counted.tree.leaf_counts(counted.sizes),
        counted.leaves,
        axis.root,
    )


def count_leaves(axis: TreeAxis, rows: Ints) -> TreeAxis:
    """The axis with these rows at its codes; a tree that is not public keeps only the leaves that have rows."""
    leaf_rows, nulls, tree = rows[: axis.values], int(rows[axis.values :].sum()), axis.tree
    if axis.public_sizes is None and (axis.rows is None or axis.k <= 1):
        tree = tree.restrict(axis.texts[leaf] for leaf in np.flatnonzero(leaf_rows).tolist())
    return replace(axis, rows=None if axis.rows is None else leaf_rows, nulls=nulls, has_null=nulls > 0, tree=tree)


# -- orders and sets -------------------------------------------------------------------------------------


def rank_levels(axis: RankAxis, occupied: Ints) -> list[LevelCells]:
    """The levels of an order or set: single values; in an order runs of 2, 4, 8 and so on; everything."""
    del occupied
    values, measure = np.arange(axis.values), partial(measure_ranks, axis)
    merges = max(axis.values - 1, 1).bit_length() if axis.is_ordered else 1
    return [LevelCells(cells, values, measure) for cells in (*(values >> merge for merge in range(merges)), values * 0)]


def measure_ranks(axis: RankAxis, rows: Ints) -> RankAxis:
    """The axis measured by these rows: an order is public, but its rare values change; a set counts its values."""
    if axis.is_ordered:
        return axis if axis.rows is None else replace(axis, rows=rows[: axis.values])
    return replace(axis, counted=int((rows > 0).sum()), k=1)


# -- lines -----------------------------------------------------------------------------------------------


def line_levels(axis: LineAxis, occupied: Ints) -> list[LevelCells]:
    """The levels of a line: its cells, then the steps of coarser and coarser rulers, then everything.

    On a line with open tails, marks below the first edge are no edges.  A ruler whose steps join no two values of the
    column is omitted.  Steps that go on beyond a given domain are open there.
    """
    low, high = outer_starts(axis)
    cells, inner = number_cells(axis.cells[0][: axis.values]), occupied[occupied < axis.values]
    levels = [line_level(axis, cells, *cell_ends(axis, cells), inclusive=axis.inclusive)]
    for ruler in reversed(line_rulers(axis)):
        marks = ruler.marks(low, high + ruler.size)
        marks = marks[marks >= low] if axis.has_tails else marks
        starts = find_starts(axis)[np.searchsorted(cells, cells)]  # of the cell of each code
        marks_passed = np.searchsorted(marks, starts, side="right")
        above = number_cells(marks_passed)
        if 1 < count_occupied(above, inner) < count_occupied(cells, inner):
            cells = above
            ends = cell_ends(axis, cells) if axis.has_tails else widen_to_marks(axis, cells, marks, marks_passed)
            levels.append(line_level(axis, cells, *ends, inclusive=axis.unit > 0))
    open_sides = np.array([-np.inf]), np.array([np.inf])
    return [*levels, line_level(axis, np.zeros(axis.values, np.int64), *open_sides, inclusive=axis.unit > 0)]


def line_level(axis: LineAxis, cells: Ints, low: Floats, high: Floats, *, inclusive: bool) -> LevelCells:
    """The level with these cells, each printed from its low to its high end."""
    codes, largest_k = cells[axis.codes].astype(np.int32), publish_always(len(low))
    line = replace(axis, codes=codes, low=low, high=high, largest_k=largest_k, inclusive=inclusive, k=1)
    return LevelCells(cells, cells, partial(measure_line, line, cells, not axis.has_tails))


def cell_ends(axis: LineAxis, cells: Ints) -> tuple[Floats, Floats]:
    """The low end of the first code and the high end of the last code of each cell."""
    first = np.flatnonzero(np.diff(cells, prepend=-1))
    return axis.low[first], axis.high[np.append(first[1:], len(cells)) - 1]


def widen_to_marks(axis: LineAxis, cells: Ints, marks: Floats, marks_passed: Ints) -> tuple[Floats, Floats]:
    """The low and high ends of each cell, widened to the marks around it.

    In: the cell of each code, ascending; the marks, ascending; and for each code the number of marks at or below it.
    """
    low, high = cell_ends(axis, cells)
    first_codes = np.flatnonzero(np.diff(cells, prepend=-1))
    mark = np.clip(marks_passed[first_codes] - 1, 0, len(marks) - 2)
    limits = (CALENDAR_ENDS[0], CALENDAR_ENDS[1] + DAY - (axis.unit or 1.0)) if axis.is_date else (-LARGEST, LARGEST)
    left, right = np.clip(marks[mark], *limits), np.clip(last_before(marks[mark + 1], axis.unit), *limits)
    if axis.domain_rule.is_given:
        start, stop = axis.domain
        left, right = np.where(left < start, -np.inf, left), np.where(right > stop, np.inf, right)
    return np.minimum(left, low), np.maximum(right, high)


def measure_line(line: LineAxis, cells: Ints, closed: bool, rows: Ints) -> LineAxis:
    """The axis with the domain of the occupied cells: from first to last, or with open tails one step beyond.

    A domain that the user gave stays.
    """
    if line.domain_rule.is_given:
        return line
    at = np.unique(cells[np.flatnonzero(rows[: len(cells)])])
    low, high = line.low[at], line.high[at]
    if closed and np.isfinite(low).any():
        return replace(line, domain_rule=fix_domain(*np.clip([low[0], high[-1]], -LARGEST, LARGEST).tolist()))
    edges = np.unique(np.append(low, line.low[at[at + 1 < line.values] + 1]))
    domain = open_domain(edges[np.isfinite(edges)], line.unit, line.is_date)
    return replace(line, domain_rule=fix_domain(*domain))


def count_occupied(cells: Ints, occupied: Ints) -> int:
    """The number of cells with an occupied code."""
    return len(np.unique(cells[occupied]))


def line_rulers(axis: LineAxis) -> list[Ruler]:
    """The rulers of a line, coarse to fine: multiples of the user's step, or round ones."""
    low, high = outer_starts(axis)
    if isinstance(axis.grid, str):
        return step_rulers(low, high, axis.unit, axis.is_date)
    return dividing_number_rulers(high - low, base_ruler(axis.grid * (DAY if axis.is_date else 1)))


def outer_starts(axis: LineAxis) -> tuple[float, float]:
    """The low ends of the first and the last code, without open tails."""
    starts = find_starts(axis)
    finite = starts[np.isfinite(starts)]
    return (float(finite[0]), float(finite[-1])) if len(finite) else (0.0, 0.0)


def find_starts(axis: LineAxis) -> Floats:
    """The low end of each code; of one that is open where a given domain begins, that is its end."""
    return axis.low if axis.has_tails or not axis.domain_rule.is_given else np.maximum(axis.low, axis.domain[0])


FINDERS: dict[type[Axis], Callable[[Any, Ints], Sequence[LevelCells]]] = {
    TreeAxis: tree_levels,
    RankAxis: rank_levels,
    LineAxis: line_levels,
}

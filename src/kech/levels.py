"""Levels: the steps by which a whole column is blurred, from the codes as they are up to one cell with everything.

In: an axis.  Out: for each level the cell of every code; a cell is a range of codes and lies in one cell of the next
level.  NULL is a cell of its own below the top.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kech.axes import Axis, LineAxis, RankAxis, TreeAxis
from kech.grid import Ints, step_rulers
from kech.rulers import DAY, Floats, Ruler, base_ruler, dividing_number_rulers


@dataclass(frozen=True, eq=False, repr=False)
class Level:
    """Cells of one level, each printed as the label of its closed range."""

    cells: Ints  # the cell of each code, ascending from 0
    lo: Ints  # first and last code that the label of each cell stands for
    hi: Ints
    widths: Floats  # of each cell, as it is printed

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.lo)


def build_levels(axis: Axis) -> tuple[Level, ...]:
    """The levels of an axis, 0 as coded, the last one cell.

    A tree has the levels of its hierarchy; a cell is printed as the lowest node above its values.  An ordinal axis
    merges neighbours by 2, 4, 8 and so on, numbers and dates have round steps that divide one another, a set has
    nothing between its values and everything.
    """
    inner = FINDERS[type(axis)](axis) if axis.size > 1 else ()
    groups = [np.append(cells, cells[-1] + 1) if axis.has_null else cells for cells in map(counted, inner)]
    return tuple(build_level(axis, cells) for cells in [*groups, np.zeros(axis.size, np.int64)])


def build_level(axis: Axis, cells: Ints) -> Level:
    """A level from the cell of each code."""
    numbers = np.arange(cells[-1] + 1)
    first, last = np.searchsorted(cells, numbers), np.searchsorted(cells, numbers, side="right") - 1
    lo, hi = axis.close(first, last)
    return Level(cells, lo, hi, axis.widths(lo, hi))


def counted(cells: Ints) -> Ints:
    """Ascending cells, numbered from 0."""
    return np.concatenate([[0], np.cumsum(np.diff(cells) != 0)]).astype(np.int64)


# -- the levels between, without NULL and without the top ------------------------------------------------


def tree_cells(axis: TreeAxis) -> Iterable[Ints]:
    """Nodes of the hierarchy's levels below its root."""
    return [axis.tree.level_codes(level).astype(np.int64) for level in range(max(axis.tree.height - 1, 1))]


def rank_cells(axis: RankAxis) -> Iterable[Ints]:
    """Each value alone; where there is an order, also two neighbours, four, eight and so on."""
    values = np.arange(axis.values)
    merges = max(axis.values - 1, 1).bit_length() if axis.ordinal else 1
    return [values >> merge for merge in range(merges)] if axis.values else ()


def line_cells(axis: LineAxis) -> Iterable[Ints]:
    """The stretches as they are, then those between the marks of coarser and coarser rulers.

    Marks beyond the outermost starts are no edges, so an open tail stays as open.  A step that joins no two values
    of the column is left out.
    """
    low, high = ends(axis)
    found = [counted(axis.cells[0][: axis.values])]
    for ruler in reversed(line_rulers(axis)):
        marks = ruler.marks(low, high)
        starts = axis.low[np.searchsorted(found[-1], found[-1])]  # of the cells below
        cells = counted(np.searchsorted(marks[marks >= low], starts, side="right"))
        if 1 < occupied(axis, cells) < occupied(axis, found[-1]):
            found.append(cells)
    return found


def occupied(axis: Axis, cells: Ints) -> int:
    """Cells that hold a value of the column."""
    return len(np.unique(cells[axis.codes]))


def line_rulers(axis: LineAxis) -> list[Ruler]:
    """Rulers of a line, coarse to fine: multiples of the step that was asked for, or round ones."""
    low, high = ends(axis)
    if isinstance(axis.grid, str):
        return step_rulers(low, high, axis.unit, axis.is_date)
    return dividing_number_rulers(high - low, base_ruler(axis.grid * (DAY if axis.is_date else 1)))


def ends(axis: LineAxis) -> tuple[float, float]:
    """Where the first and the last stretch start; an open tail starts nowhere."""
    known = axis.low[np.isfinite(axis.low)]
    return (float(known[0]), float(known[-1])) if len(known) else (0.0, 0.0)


FINDERS: dict[type[Axis], Callable[[Any], Iterable[Ints]]] = {
    TreeAxis: tree_cells,
    RankAxis: rank_cells,
    LineAxis: line_cells,
}

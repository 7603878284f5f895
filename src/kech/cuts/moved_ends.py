"""Loosening: ends of published intervals are moved outward by chance, so that an end is hardly ever somebody's value.

In: a partition whose boxes close on their rows.  Out: the same classes in boxes that do not, where steps are small.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kech._kernels import BoxCounter, Widths
from kech.axes import LineAxis
from kech.axes.grid import Ints
from kech.cuts.noise import draw_chances
from kech.cuts.padding import DRAWS, FINE, Boxes, units_of, wide_axes, widen
from kech.points.partition import Partition, box_partition
from kech.points.points import Points

NARROW = 3  # units of the narrowest interval that is loosened: in narrower ones an end is several people's value


def loosen(partition: Partition) -> Partition:
    """Labels are widened, and every loose end moves outward by one or two steps of its grid, by the other number of
    them where the first one would single somebody out.
    """
    moved = loose_axes(partition.points) or wide_axes(partition.points)
    return partition.once("loosened", loosen_anew) if moved else partition


def loosen_anew(partition: Partition) -> Partition:
    """The partition with wider labels and its ends moved."""
    axes, loose, wide = partition.points.axes, loose_axes(partition.points), wide_axes(partition.points)
    chances = draw_chances(partition, 2 * len(loose) + DRAWS * len(wide))
    moves = 1 + (chances[:, : 2 * len(loose)] < 0.5).reshape(len(chances), len(loose), 2)
    boxes = widen(partition, wide, chances[:, 2 * len(loose) :])
    places = {}
    for place, (j, axis) in enumerate(loose.items()):
        ends = boxes[0][:, j], boxes[1][:, j]
        places[j], drawn = (move_ends(axis, *ends, steps) for steps in (3 - moves[:, place], moves[:, place]))
        boxes[0][:, j], boxes[1][:, j] = drawn
    settle(partition.points, boxes, places)
    for j in {*loose, *(at.place for at in wide)}:
        boxes[0][:, j], boxes[1][:, j] = axes[j].close(boxes[0][:, j], boxes[1][:, j])
    found = box_partition(partition.points, partition.point, partition.group, partition.rows, *boxes)
    return replace(found, eps=partition.eps, eps_bound=partition.eps_bound)


def settle(points: Points, boxes: Boxes, places: dict[int, tuple[Ints, Ints]]) -> None:
    """Ends go to their other place where they single out one row of the table, and would not there."""
    counter = points.once("counter", BoxCounter)
    for j, others in places.items():
        for box, other in zip(boxes, others, strict=True):
            tried = np.flatnonzero(box[:, j] != other)
            tried = tried[count_at(counter, boxes, tried, j, box[tried, j]) == 1]
            tried = tried[count_at(counter, boxes, tried, j, other[tried]) != 1]
            box[tried, j] = other[tried]


def count_at(counter: BoxCounter, boxes: Boxes, classes: Ints, j: int, at: Ints) -> Ints:
    """Rows of the table in the boxes of some classes, and there at one code of an axis; 2 or more are enough."""
    lo, hi = (corner[classes].astype(np.int32) for corner in boxes)
    lo[:, j] = hi[:, j] = at
    return counter.count(lo, hi, 1)


def loose_axes(points: Points) -> dict[int, LineAxis]:
    """Where intervals are loosened: on axes whose round edges we chose, and whose values are multiples of a unit."""
    lines = {j: axis for j, axis in enumerate(points.axes) if isinstance(axis, LineAxis)}
    return {j: axis for j, axis in lines.items() if axis.protect in ("full", "ends") and axis.unit > 0}


def loose_widths(points: Points) -> Widths:
    """The axes as the search knows them: sides end where they are published on average."""
    return points.hold("loose widths", make_loose_widths)


def make_loose_widths(points: Points) -> Widths:
    """The axes of these points, with loose ends."""
    widths = points.widths()
    for j, axis in loose_axes(points).items():
        codes = np.arange(axis.values)
        far = [move_all(axis, moves) for moves in (1, 2)]
        left, right = (ends.copy() for ends in axis.ends)
        left[codes] = np.mean([axis.ends[0][lo] for lo, _ in far], axis=0)
        right[codes] = np.mean([axis.ends[1][hi] for _, hi in far], axis=0)
        widths.loosen(j, left, right, NARROW - 1.5)
    return widths


def move_all(axis: LineAxis, moves: int) -> tuple[Ints, Ints]:
    """For each code, where an end at its cell would be after so many moves."""
    starts, cell, units = steps_of(axis)
    far = np.full(axis.values, moves)
    return starts[walk(cell, -1, far, units)], starts[walk(cell, 1, far, units)]


def steps_of(axis: LineAxis) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """The first code of each published cell, the cell of each code, and how many units each cell has."""
    starts, cell = np.unique(axis.cells[0][: axis.values], return_inverse=True)
    return starts, cell, units_of(axis, starts)


def move_ends(axis: LineAxis, lo: Ints, hi: Ints, moves: NDArray[np.int64]) -> tuple[Ints, Ints]:
    """The first and the last code of each box after its ends were moved."""
    starts, cell, units = steps_of(axis)
    edges = np.append(axis.low[starts], np.inf)
    held = np.minimum(hi, axis.values - 1)
    left, right = cell[np.minimum(lo, held)], cell[held]
    wide = (hi < axis.values) & (left < right) & (edges[right + 1] - edges[left] >= (NARROW - 0.5) * axis.unit)
    left = walk(left, -1, np.where(wide, moves[:, 0], 0), units)
    right = walk(right, 1, np.where(wide, moves[:, 1], 0), units)
    return np.where(wide, starts[left], lo), np.where(wide, axis.cells[1][starts[right]], hi)


def walk(cell: Ints, way: int, moves: NDArray[np.int64], units: NDArray[np.float64]) -> Ints:
    """So many cells onward, as long as cells are small; open tails are not entered."""
    for step in range(int(moves.max(initial=0))):
        onward = np.clip(cell + way, 0, len(units) - 1)
        inner = (onward > 0) & (onward < len(units) - 1)
        cell = np.where((moves > step) & inner & (units[onward] <= FINE), onward, cell)
    return cell

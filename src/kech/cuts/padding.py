"""Padding: labels grow at random, so that they are no tighter than labels around random rows.

In: a partition whose boxes close on their rows.  Out: its boxes, some with an empty half, many with an empty end part.
Of n random rows in a label none lies in its first half with probability 2^-n, and none in the first of its m parts with
probability (1 - 1/m)^n.  An attacker who knows that labels always touch both their ends knows more than the labels say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kech._kernels import BoxCounter
from kech.axes import Axis, Codes, LineAxis, RankAxis
from kech.axes.grid import Floats, Ints
from kech.points.partition import Partition
from kech.points.people import Persons
from kech.points.points import Points, cache_on_points, number_runs

Bools = NDArray[np.bool_]
Boxes = tuple[Ints, Ints]  # the first and the last code of each class on each axis

DRAWS = 4  # for each class and axis: its left end, its right end, whether a half is added, and where if all is even
HALVES = {"number": 3.0, "date": 3.0, "ordered": 6.0, "set": 6.0}  # how often, in units of 2^-n: columns are not
# even, wide labels overlap, and orders and sets are short, so that many of their labels have no room
FEWEST = 5  # rows; in smaller classes labels would have to be far wider
FINE = 31  # units of the widest part an end is moved by anyway (a month of days)
CROWD = 5  # rows of the table from which on a half is as full as any


@dataclass(frozen=True)
class PaddedAxis:
    """An axis as the parts its labels are made of."""

    index: int
    axis: LineAxis | RankAxis
    first: Ints  # code of each part
    last: Ints
    edges: Floats  # where parts begin, and where the last one ends
    units: Floats  # how long each part is
    open: int  # parts at either side that have no end

    @property
    def most(self) -> int:
        """The last part that is not open."""
        return len(self.first) - 1 - self.open


class Sides(NamedTuple):
    """The first and the last part of labels, and which of them may grow."""

    left: Ints
    right: Ints
    grows: Ints


@cache_on_points
def find_padded_axes(points: Points) -> list[PaddedAxis]:
    """The axes of these points whose labels are padded, in parts."""
    return [split_axis(j, axis) for j, axis in enumerate(points.axes) if axis.is_padded and axis.values > 1]


def split_axis(index: int, axis: Axis) -> PaddedAxis:
    """The parts of an axis: published cells of a line, values of an order."""
    assert isinstance(axis, LineAxis | RankAxis)
    cells = axis.runs if isinstance(axis, RankAxis) and axis.is_ordered else axis.cells
    first = np.unique(cells[0][: axis.values])
    last = np.append(first[1:], axis.values) - 1
    if isinstance(axis, RankAxis):
        return PaddedAxis(index, axis, first, last, np.append(first, axis.values) * 1.0, np.full(len(first), np.inf), 0)
    edges = np.append(axis.low[first], np.inf)
    return PaddedAxis(index, axis, first, last, edges, units_of(axis, first), 1)


def units_of(axis: LineAxis, first: Ints) -> Floats:
    """How many units each part of a line has, given the first code of each."""
    lengths = np.diff(np.append(axis.low[first], np.inf))
    return np.round(lengths / axis.unit) if axis.unit else np.full(len(first), np.inf)


def pad_labels(partition: Partition, padded_axes: Sequence[PaddedAxis], noise: Floats) -> Boxes:
    """The boxes of all classes, with wider sides."""
    lo, hi = partition.lo.copy(), partition.hi.copy()
    rows = np.maximum(partition.people, FEWEST)
    for padded, draws in zip(
        padded_axes, np.split(noise, len(padded_axes), axis=1) if padded_axes else [], strict=True
    ):
        sides = find_sides(padded, lo[:, padded.index], hi[:, padded.index])
        ends = add_parts(padded, sides, rows, draws)
        chosen = np.flatnonzero(sides.grows & (draws[:, 2] < 2 * HALVES[padded.axis.kind] * 0.5**rows))
        add_halves(padded, sides, ends, chosen, draws[chosen, 3] < 0.5, partition)
        first, last = padded.first[ends[0]], padded.last[ends[1]]
        fits = sides.grows & (padded.axis.widths(first, last) < 1)
        lo[fits, padded.index], hi[fits, padded.index] = first[fits], last[fits]
    return lo, hi


def padding_loss(partition: Partition) -> float:
    """What a partition loses by padding, on average over what may be drawn."""
    lost, rows = 0.0, np.maximum(partition.people, FEWEST)
    for padded in find_padded_axes(partition.points):
        sides = find_sides(padded, partition.lo[:, padded.index], partition.hi[:, padded.index])
        grows = np.flatnonzero(sides.grows)
        growing, n = Sides(*(side[grows] for side in sides)), rows[grows]
        doubled = 2 * HALVES[padded.axis.kind] * 0.5**n
        ends = (1 - doubled / 2) * part_chance(growing, n) * width_of_more_ends(padded, growing)
        wider = float((partition.sizes[grows] * (ends + doubled * width_of_more_half(padded, growing))).sum())
        lost += float(partition.points.column_weights[padded.index]) * wider
    return lost / (partition.points.rows * len(partition.points.axes))


def width_of_more_ends(padded: PaddedAxis, sides: Sides) -> Floats:
    """By how much one more part at either end would widen labels."""
    left, right = next_part(padded, sides.left, -1), next_part(padded, sides.right, 1)
    return added_width(padded, sides, left, sides.right) + added_width(padded, sides, sides.left, right)


def width_of_more_half(padded: PaddedAxis, sides: Sides) -> Floats:
    """By how much a half would widen labels; on average, where there is room on both sides."""
    (far_left, far_right), (room_left, room_right) = far_ends(padded, sides)
    to_left = added_width(padded, sides, np.where(room_left, far_left, sides.left), sides.right)
    to_right = added_width(padded, sides, sides.left, np.where(room_right, far_right, sides.right))
    return np.where(room_left & room_right, 0.5, 1.0) * (to_left + to_right)


def added_width(padded: PaddedAxis, sides: Sides, left: Ints, right: Ints) -> Floats:
    """By how much labels are wider than they were; those that would stand for everything are not."""
    before, after = (
        padded.axis.widths(padded.first[a], padded.last[b]) for a, b in ((sides.left, sides.right), (left, right))
    )
    return np.where(after < 1, after - before, 0.0)


def find_sides(padded: PaddedAxis, lo: Ints, hi: Ints) -> Sides:
    """Labels of several parts grow, unless they have an open end or stand for everything."""
    last = np.minimum(hi, padded.axis.values - 1)
    left, right = (np.searchsorted(padded.first, code, side="right") - 1 for code in (np.minimum(lo, last), last))
    return Sides(left, right, (hi == last) & (left < right) & (left >= padded.open) & (right <= padded.most))


def add_parts(padded: PaddedAxis, sides: Sides, rows: Ints, draws: Floats) -> tuple[Ints, Ints]:
    """Both ends, some of them one part further out; into small parts they are moved by others."""
    chance = part_chance(sides, rows)
    ends = []
    for end, way, draw in ((sides.left, -1, draws[:, 0]), (sides.right, 1, draws[:, 1])):
        ends.append(np.where(sides.grows & (draw < chance), next_part(padded, end, way), end))
    return ends[0], ends[1]


def part_chance(sides: Sides, rows: Ints) -> Floats:
    """How often as many rows at random would leave the first part of a label empty that is one part longer."""
    chance: Floats = (1 - 1 / (sides.right - sides.left + 2.0)) ** rows
    return chance


def next_part(padded: PaddedAxis, end: Ints, way: int) -> Ints:
    """One part further out, unless that part is small or open."""
    onward = np.clip(end + way, padded.open, padded.most)
    return np.where(padded.units[onward] > FINE, onward, end)


def add_halves(
    padded: PaddedAxis, sides: Sides, ends: tuple[Ints, Ints], chosen: Ints, first: Bools, partition: Partition
) -> None:
    """Labels of the chosen classes twice as wide, to the side where fewer rows of the table are.

    Where it is even, to the first side if that was drawn; where there is no room, to the other one.
    """
    chosen_sides = Sides(*(side[chosen] for side in sides))
    (far_left, far_right), (room_left, room_right) = far_ends(padded, chosen_sides)
    below = count_rows(padded, partition, chosen, far_left, chosen_sides.left - 1)
    above = count_rows(padded, partition, chosen, chosen_sides.right + 1, far_right)
    to_left = room_left & (~room_right | (below < above) | ((below == above) & first))
    to_right = room_right & ~to_left
    ends[0][chosen[to_left]] = far_left[to_left]
    ends[1][chosen[to_right]] = far_right[to_right]


def far_ends(padded: PaddedAxis, sides: Sides) -> tuple[tuple[Ints, Ints], tuple[Bools, Bools]]:
    """The first and the last part of labels that are twice as wide to that side, and where there is room for it."""
    left, right = sides.left, sides.right
    width = padded.edges[right + 1] - padded.edges[left]
    far_left = np.searchsorted(padded.edges, padded.edges[left] - width, side="right") - 1
    far_right = np.searchsorted(padded.edges, padded.edges[right + 1] + width, side="left") - 1
    return (far_left, far_right), (far_left >= padded.open, far_right <= padded.most)


def count_rows(padded: PaddedAxis, partition: Partition, chosen: Ints, first: Ints, last: Ints) -> Ints:
    """People of the table who lie beside some boxes, in a stretch of parts; a crowd is enough."""
    lo, hi = (corner[chosen].astype(np.int32) for corner in (partition.lo, partition.hi))
    lo[:, padded.index] = padded.first[np.clip(first, 0, len(padded.first) - 1)]
    hi[:, padded.index] = padded.last[np.clip(last, 0, len(padded.first) - 1)]
    return np.minimum(box_counter(partition.points).count(lo, hi, CROWD), CROWD)


def box_counter(points: Points) -> BoxCounter:
    """A counter of the people in boxes, or of rows where every row is another person; made once."""
    person = points.person
    if person is None:
        return points.compute_once("counter", BoxCounter)
    return points.compute_once("counter", lambda *_: BoxCounter(*find_few_people(points, person)))


def find_few_people(points: Points, person: Persons) -> tuple[Codes, Ints, Persons]:
    """Of each tuple as many points as are one more than a crowd: more people than these make no difference."""
    at = number_runs(points.codes)
    few = np.flatnonzero(np.arange(len(at)) - np.flatnonzero(np.diff(at, prepend=-1))[at] <= CROWD)
    return points.codes[few], points.weights[few], person[few]

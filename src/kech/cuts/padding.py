"""Padding: labels grow at random, so that they are no tighter than labels around random rows.

In: a partition whose boxes close on their rows.  Out: its boxes, some with an empty half, many with an empty end part.
Of n random rows in a label none lies in its first half with probability 2^-n, and none in the first of its m parts with
probability (1 - 1/m)^n.  An attacker who knows that labels always touch both their ends knows more than the labels say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kech._kernels import BoxCounter
from kech.axes import Axis, Codes, LineAxis, RankAxis
from kech.axes.grid import Floats, Ints
from kech.axes.ranks import Members, is_set, name_members
from kech.cuts.decoys import expected_growth
from kech.points.partition import Partition
from kech.points.people import Persons
from kech.points.points import Points, cache_on_points, number_runs

Bools = NDArray[np.bool_]
Boxes = tuple[Ints, Ints]  # the first and the last code of each class on each axis

DRAWS = 4  # for each class and axis: its left end, its right end, whether a half is added, and where if all is even
HALVES = {"number": 3.0, "date": 3.0, "ordered": 6.0}  # how often, in units of 2^-n: columns are not even, wide
# labels overlap, and orders are short, so that many of their labels have no room
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
    """The axes of these points whose intervals and ranges are padded, in parts."""
    padded = {j: axis for j, axis in enumerate(points.axes) if axis.is_padded and axis.values > 1}
    return [split_axis(j, axis) for j, axis in padded.items() if axis.kind != "set"]


def find_padded_sets(points: Points) -> dict[int, RankAxis]:
    """The axes of sets whose labels list decoys."""
    return {j: axis for j, axis in enumerate(points.axes) if axis.is_padded and is_set(axis) and axis.values > 2}


def split_axis(index: int, axis: Axis) -> PaddedAxis:
    """The parts of an axis: published cells of a line, values of an order."""
    assert isinstance(axis, LineAxis | RankAxis)
    cells = axis.runs if isinstance(axis, RankAxis) else axis.cells
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


def pad_labels(
    partition: Partition, padded_axes: Sequence[PaddedAxis], noise: Floats, counter: "LabelCounter | None" = None
) -> Boxes:
    """The boxes of all classes, with wider sides; a counter knows what sets list, if not what the partition says."""
    lo, hi = partition.lo.copy(), partition.hi.copy()
    counter = counter or count_labels(partition.points, partition.members)
    rows = np.maximum(partition.people, FEWEST)
    for padded, draws in zip(
        padded_axes, np.split(noise, len(padded_axes), axis=1) if padded_axes else [], strict=True
    ):
        sides = find_sides(padded, lo[:, padded.index], hi[:, padded.index])
        ends = add_parts(padded, sides, rows, draws)
        chosen = np.flatnonzero(sides.grows & (draws[:, 2] < 2 * HALVES[padded.axis.kind] * 0.5**rows))
        add_halves(padded, sides, ends, chosen, draws[chosen, 3] < 0.5, (partition, counter))
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
    for j, axis in find_padded_sets(partition.points).items():
        wider = float((partition.sizes * expected_growth(axis, partition.members[j], rows)).sum())
        lost += float(partition.points.column_weights[j]) * wider
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
    padded: PaddedAxis,
    sides: Sides,
    ends: tuple[Ints, Ints],
    chosen: Ints,
    first: Bools,
    table: tuple[Partition, "LabelCounter"],
) -> None:
    """Labels of the chosen classes twice as wide, to the side where fewer rows of the table are.

    Where it is even, to the first side if that was drawn; where there is no room, to the other one.
    """
    chosen_sides = Sides(*(side[chosen] for side in sides))
    (far_left, far_right), (room_left, room_right) = far_ends(padded, chosen_sides)
    below = count_rows(padded, *table, chosen, far_left, chosen_sides.left - 1)
    above = count_rows(padded, *table, chosen, chosen_sides.right + 1, far_right)
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


def count_rows(
    padded: PaddedAxis, partition: Partition, counter: "LabelCounter", chosen: Ints, first: Ints, last: Ints
) -> Ints:
    """People of the table who lie beside some boxes, in a stretch of parts; a crowd is enough."""
    start = padded.first[np.clip(first, 0, len(padded.first) - 1)]
    stop = padded.last[np.clip(last, 0, len(padded.first) - 1)]
    boxes = partition.lo, partition.hi
    return np.minimum(counter.count_within(boxes, chosen, padded.index, start, stop, CROWD), CROWD)


@dataclass(frozen=True, eq=False, repr=False)
class LabelCounter:
    """Counts the people of the table whom the labels of a class cover."""

    counter: BoxCounter
    members: Codes  # classes x members of all sets
    set_axes: Ints  # the axis of each of these columns

    def count_within(self, boxes: Boxes, classes: Ints, j: int, first: Ints, last: Ints, enough: int) -> Ints:
        """People whom some classes cover, and who are in this range of an axis; more than `enough` need not be told."""
        lo, hi = (corner[classes].astype(np.int32) for corner in boxes)
        lo[:, self.set_axes], hi[:, self.set_axes] = 0, np.iinfo(np.int32).max
        lo[:, j], hi[:, j] = first, last
        if not len(self.set_axes):
            return self.counter.count(lo, hi, enough)
        return self.counter.count(lo, hi, enough, self.members[classes], self.set_axes)


def count_labels(points: Points, members: Mapping[int, Members]) -> LabelCounter:
    """A counter of people, or of rows where every row is another person, for labels of sets as given."""
    tables = [table.astype(np.int32) for table in members.values()]
    lists = np.hstack(tables) if tables else np.zeros((0, 0), np.int32)
    set_axes = np.repeat(np.array(list(members), np.int64), [table.shape[1] for table in tables])
    counter = points.compute_once("counter", lambda *_: BoxCounter(*find_few_people(points)))
    return LabelCounter(counter, lists, set_axes)


def find_few_people(points: Points) -> tuple[Codes, Ints] | tuple[Codes, Ints, Persons]:
    """The points, with one code for all rare values of a set.

    Where people are counted, of each tuple as many points as are one more than a crowd: more make no difference.
    """
    codes = points.codes.copy()
    for j, axis in enumerate(points.axes):
        if is_set(axis):
            codes[:, j] = name_members(axis, points.codes[:, j].astype(np.int64))
    if points.person is None:
        return codes, points.weights
    at = number_runs(points.codes)
    few = np.flatnonzero(np.arange(len(at)) - np.flatnonzero(np.diff(at, prepend=-1))[at] <= CROWD)
    return codes[few], points.weights[few], points.person[few]

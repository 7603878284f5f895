"""Partition: the points divided into classes; a class is a box of codes with one label on each axis.

In: how many rows of each point belong to each class.  Out: closed boxes, class sizes, k, loss.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from kech._kernels import add_up, distinct_rows
from kech.axes import RankAxis
from kech.axes.grid import Floats, Ints
from kech.axes.ranks import Members, bound_members, is_set, label_members, list_members, measure_members
from kech.points.models import ValueCounts, count_values
from kech.points.people import count_holders, count_people
from kech.points.points import Points, order_grains
from kech.tables.batches import interleave_takers

NO_MEMBERS: Mapping[int, Members] = MappingProxyType({})


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """Shares, each of a point, a class and a number of rows; and the box of each class.  Labels of classes differ.

    Rows that are in no share, or in no point, are suppressed.
    """

    points: Points
    point: Ints  # of each share
    group: Ints  # the class of each share
    rows: Ints  # of each share
    lo: Ints  # classes x axes: the closed box of each class
    hi: Ints
    members: dict[int, Members] = field(default_factory=dict)  # of axes of sets: what the label of each class lists
    eps: float | None = None  # the common radius of all classes, where a cut has one
    eps_bound: float | None = None  # a lower bound of the radius of any partition, where a cut has one
    loss_bound: tuple[int, float] | None = None  # a k and a lower bound of the loss at that k, where a cut proved one
    radius: float | None = None  # half the widest side of any class, without the rare values of its label
    results: dict[str, "Partition"] = field(default_factory=dict, init=False)  # cached: `compute_once`

    def compute_once(self, name: str, make: Callable[["Partition"], "Partition"]) -> "Partition":
        """The cached result of a function of this partition."""
        if name not in self.results:
            self.results[name] = make(self)
        return self.results[name]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.lo)

    @property
    def sizes(self) -> Ints:
        """Rows of each class."""
        return np.bincount(self.group, weights=self.rows, minlength=self.classes).astype(np.int64)

    @property
    def rows_in(self) -> int:
        """Rows of the table."""
        return self.points.rows + self.points.left_out

    @property
    def suppressed(self) -> int:
        """Rows that are not published."""
        return self.rows_in - int(self.rows.sum())

    @cached_property
    def people(self) -> Ints:
        """Number of different people of each class; of rows where every row is another person."""
        person = self.points.person
        if person is None:
            return self.sizes
        return count_people(self.group, person[self.point], self.rows, self.classes)

    @property
    def k(self) -> int:
        """People of the smallest published class, or rows where every row is another person."""
        return int(self.people.min())

    def labels(self, axis: int) -> list[str | None]:
        """The label of each class on one axis."""
        if axis in self.members:
            return label_members(self.set_axis(axis), self.members[axis])
        return self.points.axes[axis].labels(self.lo[:, axis], self.hi[:, axis])

    def widths(self, axis: int) -> Floats:
        """The width of each class's label on one axis."""
        if axis in self.members:
            return measure_members(self.set_axis(axis), self.members[axis])
        return self.points.axes[axis].widths(self.lo[:, axis], self.hi[:, axis])

    def set_axis(self, axis: int) -> RankAxis:
        """An axis whose labels list values."""
        set_axis = self.points.axes[axis]
        assert is_set(set_axis)
        return set_axis

    def shares(self) -> dict[str, NDArray[np.int64]]:
        """For each share its point, its class, and the first and last of the point's rows (from 1) in the class."""
        order = np.lexsort((self.group, self.point))
        point, rows = self.point[order], self.rows[order]
        last = np.cumsum(rows)
        start = np.searchsorted(point, point)
        last -= np.where(start > 0, last[start - 1], 0)
        return {"point": point, "class": self.group[order], "first": last - rows + 1, "last": last}


def build_partition(points: Points, point: Ints, group: Ints, rows: Ints) -> Partition:
    """The partition of these shares: the box of each group is closed, and groups with equal labels are joined.

    Labels of sets list the values that occur.
    """
    starts = np.searchsorted(group, np.arange(int(group[-1]) + 1))
    codes = points.codes[point].astype(np.int64)
    lo, hi = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    radius = float(box_radii(points, lo, hi).max())
    members = {}
    for j, axis in enumerate(points.axes):
        if is_set(axis):
            members[j] = list_members(axis, group, codes[:, j], len(starts))
        else:
            lo[:, j], hi[:, j] = axis.close(lo[:, j], hi[:, j])
    return replace(box_partition(points, point, group, rows, lo, hi, members), radius=radius)


def box_radii(points: Points, lo: Ints, hi: Ints) -> Floats:
    """Half the widest side of each box, in the metric of eps."""
    return np.asarray(np.maximum.reduce([axis.metric(lo[:, j], hi[:, j]) for j, axis in enumerate(points.axes)]) / 2)


def box_partition(
    points: Points,
    point: Ints,
    group: Ints,
    rows: Ints,
    lo: Ints,
    hi: Ints,
    members: Mapping[int, Members] = NO_MEMBERS,
) -> Partition:
    """The partition of groups with these closed boxes, and members of sets; groups with equal ones are joined."""
    bound_sets(points, lo, hi, members)
    first, name = distinct_rows(np.hstack([lo, hi, *members.values()]))
    kept = {j: table[first] for j, table in members.items()}
    return Partition(points, *add_up(point, name[group], rows), lo[first], hi[first], kept)


def bound_sets(points: Points, lo: Ints, hi: Ints, members: Mapping[int, Members]) -> None:
    """Let boxes begin and end where lists of members do."""
    for j, table in members.items():
        axis = points.axes[j]
        assert is_set(axis)
        lo[:, j], hi[:, j] = bound_members(axis, table)


def merge_all_classes(partition: Partition) -> Partition:
    """The partition with all published rows in one class."""
    return build_partition(partition.points, partition.point, np.zeros_like(partition.group), partition.rows)


def assign_grains(partition: Partition) -> Partition:
    """The same classes with shares of grains in place of points; the rows of divided points are assigned to grains."""
    grains = partition.points.grains
    if grains is None or grains.part_of is None:
        return partition
    of = grains.part_of
    order = np.lexsort((partition.group, partition.point))
    point, group, rows = partition.point[order], partition.group[order], partition.rows[order]
    whole = rows == partition.points.weights[point]
    owner = np.full(len(partition.points.weights), -1)
    owner[point[whole]] = group[whole]
    undivided = np.flatnonzero(owner[of] >= 0)
    divided = np.zeros(len(owner), bool)
    divided[point[~whole]] = True
    line = np.flatnonzero(divided[of])  # ordered by point and value, as the engine orders grains
    line = line if grains.person is None else order_grains(grains, line)
    taken, taker = assign_rows(of[line], grains.weights[line], point[~whole], rows[~whole])
    grain = line[taken]
    shares = add_up(
        np.r_[undivided, grain],
        np.r_[owner[of[undivided]], group[~whole][taker]],
        np.r_[grains.weights[undivided], np.ones(len(grain), np.int64)],
    )
    assigned = replace(grains, axes=partition.points.axes)
    point, group, rows = shares
    return replace(partition, points=assigned, point=point, group=group, rows=rows)


def assign_rows(of: Ints, weights: Ints, point: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """For every row of divided points its grain and the index of its share; grains and shares ascend by point.

    `of` is the point of each grain, `weights` its rows.  Each share gets every value in proportion to its rows, as
    nearly as whole rows allow: shares take turns, the rows of the point are ordered by value, and both are matched.
    """
    taker = interleave_takers(point, rows)
    line = np.repeat(np.arange(len(of)), weights)
    start = np.searchsorted(of[line], point[taker])
    first = np.searchsorted(point[taker], point[taker])
    return line[start + np.arange(len(taker)) - first], taker


def tally_sensitive(partition: Partition) -> list[ValueCounts]:
    """For each sensitive column the rows of each class and value; empty for points without sensitive values."""
    sensitive = partition.points.sensitive
    if sensitive is None:
        return []
    return [
        count_values(partition.group, sensitive.codes[partition.point, s], partition.rows, ordered=column.ordered)
        for s, column in enumerate(sensitive.columns)
    ]


def tally_people(partition: Partition) -> list[ValueCounts]:
    """For each sensitive column the different people of each class and value; empty where every row is a person."""
    points, sensitive = partition.points, partition.points.sensitive
    if sensitive is None or points.person is None:
        return []
    person, people, together = points.person[partition.point], partition.people, np.zeros_like(partition.group)
    tallies = []
    for s, column in enumerate(sensitive.columns):
        values = sensitive.codes[partition.point, s]
        of_classes, of_table = (
            count_values(*count_holders(group, values, person, partition.rows), ordered=column.ordered)
            for group in (partition.group, together)
        )
        tallies.append(replace(of_classes, people=people, holders=of_table.rows))
    return tallies


# -- loss ----------------------------------------------------------------------------------------------------


def class_widths(partition: Partition) -> Floats:
    """Width of each class on each axis."""
    return np.stack([partition.widths(j) for j in range(len(partition.points.axes))], axis=1)


def column_losses(partition: Partition) -> Floats:
    """The average width of the labels of each column; a suppressed row counts with width 1.

    A matrix product would round differently on other processors, and losses decide between partitions.
    """
    widths = (partition.sizes[:, None] * class_widths(partition)).sum(axis=0)
    return np.asarray((widths + partition.suppressed) / partition.rows_in)


def mean_loss(partition: Partition) -> float:
    """GCP: the average width of all labels, from 0 for the table itself to 1; columns count by their weights."""
    return float((partition.points.column_weights * column_losses(partition)).mean())


def published_loss(partition: Partition) -> float:
    """The loss of the published rows only, for releases that hide the number of suppressed rows."""
    widths = class_widths(partition) * partition.points.column_weights
    return float((partition.sizes[:, None] * widths).mean(axis=1).sum() / partition.sizes.sum())


def discernibility(partition: Partition) -> int:
    """The discernibility metric: sum over rows of the size of their class; of the table for a suppressed row."""
    return int((partition.sizes**2).sum()) + partition.suppressed * partition.rows_in


def largest_radius(partition: Partition) -> float:
    """eps: the radius of the cut, or half the widest side of any class; an open tail counts as one step.

    Two values of a set are at distance 1, whatever their labels.  The rows of a class are measured, without the rare
    values that its label adds, and before classes with equal labels were joined.
    """
    if partition.eps is not None:
        return partition.eps
    if partition.radius is not None:
        return partition.radius
    return float(box_radii(partition.points, partition.lo, partition.hi).max())

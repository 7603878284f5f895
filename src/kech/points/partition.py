"""Partition: the points in classes; a class is a box of codes and is printed as one label an axis.

In: which rows of which point go to which class.  Out: closed boxes, class sizes, k, loss.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kech._kernels import add_up, distinct_rows
from kech.axes.grid import Floats, Ints
from kech.points.models import Tally, count_values
from kech.points.people import count_holders, count_people
from kech.points.points import Points, order_grains
from kech.tables.batches import interleave_takers


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """Shares (point, class, rows) and the box of each class; classes with equal labels are one.

    Rows that are in no share, or in no point, are suppressed.
    """

    points: Points
    point: Ints
    group: Ints
    rows: Ints
    lo: Ints  # classes x axes
    hi: Ints
    eps: float | None = None  # the one radius of all classes, where a cut has one
    eps_bound: float | None = None  # no partition has a smaller radius, where a cut knows
    radius: float | None = None  # half the widest side of rows put together; what is printed of rare values is wider
    results: dict[str, "Partition"] = field(default_factory=dict, init=False)  # see `compute_once`

    def compute_once(self, name: str, make: Callable[["Partition"], "Partition"]) -> "Partition":
        """What is made of this partition, made once."""
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
        """Different people of each class; its rows where every row is another person."""
        person = self.points.person
        if person is None:
            return self.sizes
        return count_people(self.group, person[self.point], self.rows, self.classes)

    @property
    def k(self) -> int:
        """People of the smallest published class, or rows where every row is another person."""
        return int(self.people.min())

    def labels(self, axis: int) -> list[str | None]:
        """What is printed for each class on one axis."""
        return self.points.axes[axis].labels(self.lo[:, axis], self.hi[:, axis])

    def shares(self) -> dict[str, NDArray[np.int64]]:
        """For each point and class, which of the point's rows (counted from 1) the class takes."""
        order = np.lexsort((self.group, self.point))
        point, rows = self.point[order], self.rows[order]
        last = np.cumsum(rows)
        start = np.searchsorted(point, point)
        last -= np.where(start > 0, last[start - 1], 0)
        return {"p": point, "class": self.group[order], "first": last - rows + 1, "last": last}


def build_partition(points: Points, point: Ints, group: Ints, rows: Ints) -> Partition:
    """Close the box of each group and join groups that are printed alike; groups ascend from 0."""
    starts = np.searchsorted(group, np.arange(int(group[-1]) + 1))
    codes = points.codes[point].astype(np.int64)
    lo, hi = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    radius = box_radius(points, lo, hi)
    for j, axis in enumerate(points.axes):
        lo[:, j], hi[:, j] = axis.close(lo[:, j], hi[:, j])
    return replace(box_partition(points, point, group, rows, lo, hi), radius=radius)


def box_radius(points: Points, lo: Ints, hi: Ints) -> float:
    """Half the widest side of any box, as eps measures it."""
    return max(float(axis.metric(lo[:, j], hi[:, j]).max()) for j, axis in enumerate(points.axes)) / 2


def box_partition(points: Points, point: Ints, group: Ints, rows: Ints, lo: Ints, hi: Ints) -> Partition:
    """Groups with closed boxes of their own; those that are printed alike are joined."""
    first, name = distinct_rows(np.hstack([lo, hi]))
    return Partition(points, *add_up(point, name[group], rows), lo[first], hi[first])


def merge_all_classes(partition: Partition) -> Partition:
    """All published rows together."""
    return build_partition(partition.points, partition.point, np.zeros_like(partition.group), partition.rows)


def assign_grains(partition: Partition) -> Partition:
    """The same classes, with the rows of a point that several share assigned to its grains."""
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
    line = np.flatnonzero(divided[of])  # by point and value, as an engine hands them over
    line = line if grains.person is None else order_grains(grains, line)
    place, taker = assign_rows(of[line], grains.weights[line], point[~whole], rows[~whole])
    grain = line[place]
    shares = add_up(
        np.r_[undivided, grain],
        np.r_[owner[of[undivided]], group[~whole][taker]],
        np.r_[grains.weights[undivided], np.ones(len(grain), np.int64)],
    )
    assigned = replace(grains, axes=partition.points.axes)
    point, group, rows = shares
    return replace(partition, points=assigned, point=point, group=group, rows=rows)


def assign_rows(of: Ints, weights: Ints, point: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """For every row of divided points its grain and its taker; grains and takers ascend by point.

    `of` is the point of each grain, `weights` its rows.  Each taker gets every value in proportion to what it takes of
    the point, as nearly as whole rows allow: takers take turns, the rows of the point are lined up by value, and both
    lines are matched.
    """
    taker = interleave_takers(point, rows)
    line = np.repeat(np.arange(len(of)), weights)
    start = np.searchsorted(of[line], point[taker])
    first = np.searchsorted(point[taker], point[taker])
    return line[start + np.arange(len(taker)) - first], taker


def tally_sensitive(partition: Partition) -> list[Tally]:
    """The sensitive values of each class, a tally for each column; none where they are not known."""
    sensitive = partition.points.sensitive
    if sensitive is None:
        return []
    return [
        count_values(partition.group, sensitive.codes[partition.point, s], partition.rows, ordered=column.ordered)
        for s, column in enumerate(sensitive.columns)
    ]


def tally_people(partition: Partition) -> list[Tally]:
    """For each sensitive column how many different people of each class hold each value; none where rows are people."""
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


# -- loss: how much of the table a partition blurs, as it is printed -----------------------------------------


def class_widths(partition: Partition) -> Floats:
    """Width of each class on each axis."""
    axes = partition.points.axes
    return np.stack([axis.widths(partition.lo[:, j], partition.hi[:, j]) for j, axis in enumerate(axes)], axis=1)


def column_losses(partition: Partition) -> Floats:
    """Average width of the printed cells of each column; a suppressed row counts as all lost.

    A matrix product would round otherwise on another processor, and losses choose between partitions.
    """
    widths = (partition.sizes[:, None] * class_widths(partition)).sum(axis=0)
    return np.asarray((widths + partition.suppressed) / partition.rows_in)


def mean_loss(partition: Partition) -> float:
    """GCP: the average width of all printed cells, 0 for the table itself and 1 when all is lost.

    Columns count as much as their weights say.
    """
    return float((partition.points.column_weights * column_losses(partition)).mean())


def published_loss(partition: Partition) -> float:
    """The average width of the cells that are printed: all that may be said where so few rows are suppressed that
    their number is hidden.
    """
    published = partition.rows_in - partition.suppressed
    return (mean_loss(partition) * partition.rows_in - partition.suppressed) / published


def discernibility(partition: Partition) -> int:
    """Sum over rows of the rows each is confused with: of its class, or all where it is suppressed."""
    return int((partition.sizes**2).sum()) + partition.suppressed * partition.rows_in


def largest_radius(partition: Partition) -> float:
    """eps: the radius of the cut, or half the widest side of any class; an open tail counts as one step.

    Two values of a set are at distance 1, however it is printed.  Rows are measured, and not the rare values that a
    label takes in with them; classes that only these make alike count as they were put together.
    """
    if partition.eps is not None:
        return partition.eps
    if partition.radius is not None:
        return partition.radius
    return box_radius(partition.points, partition.lo, partition.hi)

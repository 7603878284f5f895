"""Crowds: people who stand at one point together and need nobody else.

In: points where somebody has several rows.  Out: the points without crowds, to be searched, and partitions with them.

Where rows are people, any number of equal rows is one point.  Where people differ, each of them there is a point of
their own, and a search would look at all.  So of a tuple of codes with many people only the first 2 k stay: enough for
neighbours on both sides.  All others, k or more, are a class without width.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kech.axes.grid import Ints
from kech.cuts.local import Run, cut_local
from kech.points.partition import Partition, build_partition
from kech.points.people import ALONE
from kech.points.points import Points, number_runs
from kech.request import Cut

KEPT_FACTOR = 2  # times k people of a tuple stay; with 3 k, five tables of 30,000 to 1,000,000 rows lost 0.3 % more


@dataclass(frozen=True, eq=False, repr=False)
class Crowds:
    """Points apart from crowds."""

    points: Points  # all
    rest: Points
    kept: Ints  # the point of each point of the rest
    point: Ints  # points of the crowds, by crowd
    group: Ints  # the crowd of each

    def join(self, partition: Partition) -> Partition:
        """A partition of the rest, and each crowd a class."""
        if not len(self.point):
            return partition
        points = replace(self.points, axes=partition.points.axes)
        shares = (
            np.r_[self.kept[partition.point], self.point],
            np.r_[partition.group, self.group + partition.classes],
            np.r_[partition.rows, self.points.weights[self.point]],
        )
        return replace(build_partition(points, *shares), radius=partition.radius)


def cut_crowded(points: Points, ks: Sequence[int], cut: Cut, run: Run) -> Iterator[Partition]:
    """The local cut; for a single k, crowds are not searched, unless equal rows stay together.

    Without the rows that are left out, nobody may have several rows any more: then there are no crowds.
    """
    if len(ks) > 1 or not run.split_points or points.person is None:
        return cut_local(points, ks, cut, run)
    crowds = set_crowds_aside(points, ks[0])
    return map(crowds.join, cut_local(crowds.rest, ks, cut, run))


def set_crowds_aside(points: Points, k: int) -> Crowds:
    """The rows of people beyond the first 2 k of each tuple, where these are k people or more.

    Points come in the order of their tuples.
    """
    assert points.person is not None
    at, several = number_runs(points.codes), points.person != ALONE
    upto = np.r_[0, np.cumsum(np.where(several, 1, points.weights))]
    start = np.flatnonzero(np.diff(at, prepend=-1))
    beyond = several & (upto[:-1] - upto[start][at] >= KEPT_FACTOR * k)
    beyond &= np.bincount(at[beyond], minlength=len(start))[at] >= k
    kept, crowded = np.flatnonzero(~beyond), np.flatnonzero(beyond)
    if not len(crowded):
        return Crowds(points, points, kept, crowded, crowded)
    codes, weights, whose = points.codes[kept], points.weights[kept], points.person[kept]
    rest = replace(points, codes=codes, weights=weights, person=whose, grains=None, results={})
    return Crowds(points, rest, kept, crowded, number_runs(at[crowded, None]))

"""Crowds: people who stand at one point together and need nobody else.

In: points where somebody has several rows.  Out: the points without crowds, to be searched, and partitions with them.

Where rows are people, any number of equal rows is one point.  Where people differ, each of them there is a point of
their own, and a search would look at all.  So of a tuple of codes with many people only the first 3 k stay: a class has
no more than k of them to give on both sides.  All others, k or more, are a class without width.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kech.axes.grid import Ints
from kech.cuts.local import Run, cut_local
from kech.points.partition import Partition, build_partition
from kech.points.people import ALONE
from kech.points.points import Points
from kech.request import Cut

STAY = 3  # times k people of a tuple stay


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
        group = np.r_[partition.group, self.group + partition.group[-1] + 1]
        point = np.r_[self.kept[partition.point], self.point]
        return build_partition(points, point, group, np.r_[partition.rows, self.points.weights[self.point]])


def cut_crowded(points: Points, ks: Sequence[int], cut: Cut, run: Run) -> Iterator[Partition]:
    """The local cut; for a single k, crowds are not searched, unless equal rows stay together.

    Without the rows that are left out, nobody may have several rows any more: then there are no crowds.
    """
    if len(ks) > 1 or not run.split_points or points.person is None:
        return cut_local(points, ks, cut, run)
    crowds = set_crowds_aside(points, ks[0])
    return map(crowds.join, cut_local(crowds.rest, ks, cut, run))


def set_crowds_aside(points: Points, k: int) -> Crowds:
    """The rows of people beyond the first 3 k of each tuple, where these are k people or more."""
    everybody, nobody = np.arange(len(points.weights)), np.zeros(0, np.int64)
    assert points.person is not None
    tuples, place = points.merge_people()
    order = np.lexsort((points.person, place))
    person, at = points.person[order], place[order]
    people = np.where(person == ALONE, points.weights[order], 1)
    before = np.cumsum(people) - people
    before -= before[np.searchsorted(at, at)]
    beyond = (person != ALONE) & (before >= STAY * k)
    beyond &= np.bincount(at[beyond], minlength=len(tuples.weights))[at] >= k
    if not beyond.any():
        return Crowds(points, points, everybody, nobody, nobody)
    kept = np.sort(order[~beyond])
    codes, weights, whose = points.codes[kept], points.weights[kept], points.person[kept]
    rest = replace(points, codes=codes, weights=weights, person=whose, grains=None, results={})
    return Crowds(points, rest, kept, order[beyond], np.unique(at[beyond], return_inverse=True)[1].ravel())

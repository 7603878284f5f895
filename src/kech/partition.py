"""Partition: the points in classes; a class is a box of codes and is printed as one label an axis.

In: which rows of which point go to which class.  Out: closed boxes, class sizes, k.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kech.grid import Ints
from kech.points import Points


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """Shares (point, class, rows) and the box of each class; classes with equal labels are one.

    Rows that are in no share are suppressed.
    """

    points: Points
    point: Ints
    group: Ints
    rows: Ints
    lo: Ints  # classes x axes
    hi: Ints
    eps: float | None = None  # the one radius of all classes, where a cut has one
    eps_bound: float | None = None  # no partition has a smaller radius, where a cut knows

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.lo)

    @property
    def sizes(self) -> Ints:
        """Rows of each class."""
        return np.bincount(self.group, weights=self.rows, minlength=self.classes).astype(np.int64)

    @property
    def suppressed(self) -> int:
        """Rows that are not published."""
        return self.points.rows - int(self.rows.sum())

    @property
    def k(self) -> int:
        """Rows of the smallest published class."""
        return int(self.sizes.min())

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
    for j, axis in enumerate(points.axes):
        lo[:, j], hi[:, j] = axis.close(lo[:, j], hi[:, j])
    return box_partition(points, point, group, rows, lo, hi)


def box_partition(points: Points, point: Ints, group: Ints, rows: Ints, lo: Ints, hi: Ints) -> Partition:
    """Groups with closed boxes of their own; those that are printed alike are joined."""
    boxes, joined = np.unique(np.hstack([lo, hi]), axis=0, return_inverse=True)
    point, group, rows = add_up(point, joined.ravel()[group], rows)
    axes = len(points.axes)
    return Partition(points, point, group, rows, boxes[:, :axes], boxes[:, axes:])


def add_up(point: Ints, group: Ints, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """One share for each point and class."""
    order = np.lexsort((point, group))
    point, group, rows = point[order], group[order], rows[order]
    first = np.flatnonzero(np.r_[True, (np.diff(point) != 0) | (np.diff(group) != 0)])
    return point[first], group[first], np.add.reduceat(rows, first)

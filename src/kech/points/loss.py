"""Loss: how much of the table a partition blurs, as it is printed."""

import numpy as np

from kech.axes.rulers import Floats
from kech.points.partition import Partition, box_radius


def class_widths(partition: Partition) -> Floats:
    """Width of each class on each axis."""
    axes = partition.points.axes
    return np.stack([axis.widths(partition.lo[:, j], partition.hi[:, j]) for j, axis in enumerate(axes)], axis=1)


def column_losses(partition: Partition) -> Floats:
    """Average width of the printed cells of each column; a suppressed row counts as all lost."""
    return (add_widths(partition) + partition.suppressed) / partition.rows_in


def add_widths(partition: Partition) -> Floats:
    """Widths of the printed cells of each column, added up class by class.

    A matrix product would round otherwise on another processor, and losses choose between partitions.
    """
    return np.asarray((partition.sizes[:, None] * class_widths(partition)).sum(axis=0))


def mean_loss(partition: Partition) -> float:
    """GCP: the average width of all printed cells, 0 for the table itself and 1 when all is lost."""
    return float(column_losses(partition).mean())


def published_loss(partition: Partition) -> float:
    """The average width of the cells that are printed: all that may be said where so few rows are suppressed that
    their number is hidden.
    """
    return float((add_widths(partition) / partition.rows.sum()).mean())


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

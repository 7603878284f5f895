"""Gathering: a start of the minimal cut that is at most twice as wide as the narrowest partition, and what it proves.

Take centres that lie farther apart than a reach until every row is within the reach of one.  If some partition has no
side wider than the reach, no two centres share a class of it, so each can have k rows within its reach: a flow finds
them, or shows that there is no such partition.  Classes around centres are at most two reaches wide.
"""

from math import inf

from kech._kernels import gather_points
from kech.points.partition import Partition, build_partition
from kech.points.points import Points

MOST_PAIRS = 3e6  # of points and centres that are compared for one reach
ROUNDING = 1e-12


def gather(points: Points, k: int, bound: float, eps: float) -> tuple[list[Partition], float]:
    """Classes whose reach is the smallest not shown to be impossible, if any; and the bound of eps raised to it.

    A partition of radius eps is known.  Where it is within twice the bound, nothing is done that takes long.
    """
    pairs = MOST_PAIRS if eps <= 2 * bound else inf
    low, high, found = 2 * bound, 2 * eps, reach_out(points, k, 2 * bound, pairs)
    if found is not None:
        return found, bound
    while high - low > ROUNDING:
        reach = (low + high) / 2
        classes = reach_out(points, k, reach, pairs)
        low, high, found = (reach, high, found) if classes is None else (low, reach, classes)
    return found or [], low / 2


def reach_out(points: Points, k: int, reach: float, pairs: float) -> list[Partition] | None:
    """Classes within the reach of their centres, nothing where that would take long, or None where there are none."""
    possible, shares = gather_points(points.codes, points.weights, points.metric(), k, reach + ROUNDING, pairs)
    if not possible:
        return None
    return [build_partition(points, *shares)] if len(shares[0]) else []

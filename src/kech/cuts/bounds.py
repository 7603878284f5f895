"""Bounds: below what no partition into classes of k rows can go.

Whatever class holds a row holds k - 1 others, so it is at least as wide as the box around the row and the
k-th nearest one, itself counted.  Over all rows this gives

    eps*(k)  >= max over rows of  max_j metric_j / 2        the loneliest row decides
    loss(k)  >= mean over rows of  mean_j width_j           every row pays at least this
"""

from collections.abc import Sequence
from typing import NamedTuple

from kech._kernels import bound_side, reach_farthest, reach_rows
from kech.points.points import Points


class Bound(NamedTuple):
    """What every partition at one k costs, at least."""

    eps: float
    loss: float


def lower_bounds(points: Points, ks: Sequence[int], *, threads: int = 1) -> list[Bound]:
    """A bound for each k, ascending, on the axes as they are."""
    rows, asked = (points.codes, points.weights), (list(ks), threads)
    cells = points.rows * len(points.axes)
    both = zip(reach_farthest(*rows, points.metric(), *asked), reach_rows(*rows, points.widths(), *asked), strict=True)
    return [Bound(float(side) / 2, float(total) / cells) for side, total in both]


def eps_bound(points: Points, k: int, *, threads: int = 1) -> float:
    """The best bound of eps: half the narrowest box around the loneliest row that holds k rows."""
    return bound_side(points.codes, points.weights, points.metric(), k, threads) / 2

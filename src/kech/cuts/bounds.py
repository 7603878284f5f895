"""Bounds: below what no partition into classes of k rows can go.

Whatever class holds a row holds k - 1 others, so it is at least as wide as the box around the row and the
k-th nearest one, itself counted.  Over all rows this gives

    eps*(k)  >= max over rows of  max_j metric_j / 2        the loneliest row decides
    loss(k)  >= mean over rows of  mean_j width_j           every row pays at least this

Where all axes are trees, prices of rows bound the loss more closely.  A class under trees is published as a cell of the
lattice.  Give every row a price v.  Where in no cell k rows or more are priced above its width together, no class costs
less than the prices of its rows, so no partition costs less than all prices.  Where some are, what they are above is
taken off:

    loss(k) >= sum over rows of v - sum over cells of max(0, largest sum of (v - width) over k or more of its rows)

This is the dual of the linear program in which rows may lie in several classes in part: crowded rows, which lonely ones
need to be k, are priced low, and lonely ones high.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from kech._kernels import Pricer, bound_side, reach_farthest, reach_rows
from kech.axes import TreeAxis
from kech.cuts.starts import level_tables
from kech.points.points import Points
from kech.system.progress import report

CLIMBS, STEPS = 8, 60  # looks at all cells, and steps before each
MOST = 2e8  # points times nodes: their cells are held in memory


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


def price_bound(points: Points, k: int, loss: float, *, climbs: int = CLIMBS, threads: int = 1) -> float:
    """A lower bound of the loss at k; the bound of the nearest rows where axes are no trees or cells too many.

    `loss` is that of some partition: how far prices may hope to climb.
    """
    (nearest,) = lower_bounds(points, [k], threads=threads)
    levels = level_tables(points)
    if not all(isinstance(axis, TreeAxis) for axis in points.axes):
        return nearest.loss
    if len(points.weights) * prod(map(len, levels)) > MOST:
        return nearest.loss
    cells = points.rows * len(points.axes)
    pricer = Pricer(points.codes, points.weights, points.widths(), levels, k)
    for climb in range(climbs):
        report(f"bounding at k={k}, loss {pricer.bound / cells:.4f} or more", climb / climbs)
        pricer.climb(STEPS, loss * cells)
    return max(nearest.loss, pricer.bound / cells)

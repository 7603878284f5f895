"""Pricing: below what no partition under trees can go, by prices of rows.

In: points whose axes are all trees.  Out: a bound of the loss, closer than that of the nearest rows (`bounds.py`).

A class under trees is published as a cell of the lattice.  Give every row a price v.  Where in no cell k rows or more
are priced above its width together, no class costs less than the prices of its rows, so no partition costs less than
all prices.  Where some are, what they are above is taken off:

    loss(k) >= sum over rows of v - sum over cells of max(0, largest sum of (v - width) over k or more of its rows)

This is the dual of the linear program in which rows may lie in several classes in part: crowded rows, which lonely ones
need to be k, are priced low, and lonely ones high.
"""

from math import prod

from kech._kernels import Pricer
from kech.axes import TreeAxis
from kech.cuts.bounds import lower_bounds
from kech.cuts.peeling import level_tables
from kech.points.points import Points
from kech.system.progress import report

CLIMBS, STEPS = 8, 60  # looks at all cells, and steps before each
MOST = 2e8  # points times nodes: their cells are held in memory


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

"""Bounds: below what no partition into classes of k rows can go.

A class that holds a row holds k - 1 others, so it is at least as wide as the box around the row and the
k-th nearest one, itself counted.  Over all rows this gives

    eps*(k)  >= max over rows of  max_j metric_j / 2        the loneliest row decides
    loss(k)  >= mean over rows of  mean_j width_j           every row pays at least this

Labels of a set list the values that occur, so their width is that of two values, whichever values lie between.

Where all axes are trees, prices of rows bound the loss more closely.  A class under trees is published as a cell of the
lattice.  Give every row a price v.  Where in no cell k rows or more are priced above its width together, no class costs
less than the prices of its rows, so no partition costs less than all prices.  Where some are, what they are above is
taken off:

    loss(k) >= sum over rows of v - sum over cells of max(0, largest sum of (v - width) over k or more of its rows)

This is the dual of the linear program in which rows may lie in several classes in part: crowded rows, which lonely ones
need to be k, are priced low, and lonely ones high.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from kech._kernels import Pricer, bound_side, reach_farthest, reach_rows
from kech.axes import TreeAxis
from kech.cuts.starts import level_tables
from kech.points.partition import Partition, mean_loss
from kech.points.points import Points
from kech.request import Cut
from kech.system.console import report

CLIMBS, STEPS = 8, 60  # looks at all cells, and steps before each
MOST = 2e8  # points times nodes: their cells are held in memory
MOST_BOUNDED = 500_000  # points; with more of them bounds would take longer than releases


class Bound(NamedTuple):
    """What every partition at one k costs, at least."""

    eps: float
    loss: float


@dataclass(frozen=True, slots=True)
class LossBound:
    """How far the loss of a release is above what any release of the same rows on the same grid could reach.

    PRIVATE: the bound is computed from raw rows, and an exact figure of them lets an attacker test guesses.
    """

    k: int
    loss: float
    lower_bound: float | None = None  # no release loses less
    why_none: str | None = None  # where there is no bound
    gap_asked: float | None = None  # at which the search was to end
    variance: float | None = None  # inside classes, as a share of that of the table; with the objective variance
    variance_lower_bound: float | None = None

    @property
    def gap(self) -> float | None:
        """The share of the bound by which the loss is above it, at most."""
        return find_gap(self.loss, self.lower_bound)

    def to_json(self) -> dict[str, Any]:
        """What `kech release --bound --json` prints of it."""
        return {
            "private": True,
            "k": self.k,
            "loss": self.loss,
            "loss_lower_bound": self.lower_bound,
            "loss_gap": self.gap,
            "gap_asked": self.gap_asked,
            "why_none": self.why_none,
            "variance": self.variance,
            "variance_lower_bound": self.variance_lower_bound,
        }


def bound_release(partition: Partition, k: int, cut: Cut, *, threads: int = 1) -> LossBound:
    """The closest bound there is for a partition, on its own axes, or why there is none."""
    loss, why = mean_loss(partition), explain_no_bound(partition.points, cut)
    if why:
        return LossBound(k, loss, None, why, cut.gap)
    known = known_bound(partition, k)
    bound = closest_bound(partition, k, threads=threads).loss if known is None else known
    return LossBound(k, loss, bound, None, cut.gap)


def explain_no_bound(points: Points, cut: Cut) -> str | None:
    """Why no release of these points is bounded; None where it is."""
    if cut.suppress:
        return "rows may be left out (--suppress), and bounds are of releases of all rows"
    if cut.by_level:
        return "the domain cut measures each level by itself; kech lattice says whether its node is the best"
    if len(points.merge_grains().weights) > MOST_BOUNDED:
        return f"there are more than {MOST_BOUNDED:,} points; --max-points leaves fewer"
    return None


def closest_bound(partition: Partition, k: int, *, threads: int = 1) -> Bound:
    """The bounds of every partition of the same rows on the same axes, from all that is known here."""
    points, known = partition.points.merge_grains(), known_bound(partition, k)
    (nearest,) = lower_bounds(points, [k], threads=threads)
    raised = raise_bound(points, k, nearest.loss, mean_loss(partition)) if known is None else known
    return Bound(nearest.eps, max(nearest.loss, raised))


def known_bound(partition: Partition, k: int) -> float | None:
    """The lower bound of the loss that was proven before the search; None where there is none for this k."""
    proven_k, bound = partition.loss_bound or (None, None)
    return bound if proven_k == k else None


def find_gap(loss: float, lower_bound: float | None) -> float | None:
    """By which share of the bound a loss is above it, at most; None where no bound is known, or only 0 is.

    >>> find_gap(0.53, 0.5), find_gap(0.0, 0.0), find_gap(0.1, 0.0)
    (0.06000000000000005, 0.0, None)
    """
    if lower_bound is None or (lower_bound <= 0 < loss):
        return None
    return max(0.0, loss / lower_bound - 1) if lower_bound > 0 else 0.0


def lower_bounds(points: Points, ks: Sequence[int], *, threads: int = 1) -> list[Bound]:
    """A bound for each k, ascending, on the axes as they are."""
    rows, how = (points.codes, points.weights), (list(ks), threads)
    cells = points.rows * len(points.axes)
    both = zip(reach_farthest(*rows, points.metric(), *how), reach_rows(*rows, points.pair_widths(), *how), strict=True)
    return [Bound(float(side) / 2, float(total) / cells) for side, total in both]


def eps_bound(points: Points, k: int, *, threads: int = 1) -> float:
    """The best bound of eps: half the narrowest box around the loneliest row that holds k rows."""
    return bound_side(points.codes, points.weights, points.metric(), k, threads) / 2


def price_bound(points: Points, k: int, loss: float, *, climbs: int = CLIMBS, threads: int = 1) -> float:
    """A lower bound of the loss at k; the bound of the nearest rows where axes are no trees or cells too many.

    `loss` is that of some partition: how far prices may hope to climb.
    """
    (nearest,) = lower_bounds(points, [k], threads=threads)
    return raise_bound(points, k, nearest.loss, loss, climbs)


def raise_bound(points: Points, k: int, nearest: float, loss: float, climbs: int = CLIMBS) -> float:
    """The bound of the nearest rows, raised by prices where axes are trees and cells are not too many."""
    if not all(isinstance(axis, TreeAxis) for axis in points.axes):
        return nearest
    levels = level_tables(points)
    if len(points.weights) * prod(map(len, levels)) > MOST:
        return nearest
    cells = points.rows * len(points.axes)
    pricer = Pricer(points.codes, points.weights, points.widths(), levels, k)
    for climb in range(climbs):
        report(f"bounding at k={k}, loss {pricer.bound / cells:.4f} or more", climb / climbs)
        pricer.climb(STEPS, loss * cells)
    return max(nearest, pricer.bound / cells)

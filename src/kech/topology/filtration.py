"""Anonymity complexes: how the components of the points merge while eps grows, and when each is a full simplex.

In: points and a metric.  Out: a `Filtration`, the merge tree with weights and simplex radii.

Rows form a simplex at eps when their closed eps-balls share a point.  eps is a radius.

    box:   eps(S) = max_j width_j(S) / 2            any axes; two values of a set are at distance 1
    ball:  eps(S) = radius of the smallest ball around S, in the unit cube; numbers and dates only
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths, merge_points
from kech.axes import Axis, LineAxis
from kech.errors import BadOption, unusable_value
from kech.points.points import Points
from kech.request import FIELDS
from kech.system.console import report

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDING = 1e-9  # of a number of rows
MOST_BALL_AXES = 10  # the smallest ball of a few points is found by trying all of their subsets


@dataclass(frozen=True, eq=False, repr=False)
class Filtration:
    """The merge tree: node i < m is point i, later nodes are merges; equal radii are one merge.

    A node lives on [birth, death), stands for `weight` rows, and is a full simplex from `simplex_from` on
    (inf if it dies before).  Its points are order[begin:end].  Where a person may have several rows, `people` are the
    different ones of each node, `units` the points told apart by person, and `point_of_unit` the point of each of them.
    """

    metric: str
    points: Points  # distinct
    units: Points
    point_of_unit: Ints
    parent: Ints
    weight: Ints
    birth: Floats
    death: Floats
    simplex_from: Floats
    begin: Ints
    end: Ints
    order: Ints
    people: Ints | None = None

    @property
    def hidden_among(self) -> Ints:
        """How many people each node has, or rows where every row is another person: what k counts."""
        return self.weight if self.people is None else self.people

    def nodes_at(self, eps: float) -> Ints:
        """Nodes that are components at eps."""
        return np.flatnonzero((self.birth <= eps) & (eps < self.death))

    def components(self, eps: float) -> Ints:
        """For each unit the number of its component at eps."""
        nodes = self.nodes_at(eps)
        nodes = nodes[np.argsort(self.begin[nodes])]
        component = np.empty(len(self.order), np.int64)
        component[self.order] = np.repeat(np.arange(len(nodes)), (self.end - self.begin)[nodes])
        return component[self.point_of_unit]

    def find_joining_radii(self, k: int) -> Floats:
        """For each unit, the eps from which on its component has k people or more; inf where there are fewer.

        A unit is in one node that has fewer than k and whose parent has not: that node ends there.
        """
        hidden, parent = self.hidden_among, self.parent
        last = np.flatnonzero((hidden < k) & ((parent < 0) | (hidden[parent] >= k)))
        size = (self.end - self.begin)[last]
        before = np.cumsum(size) - size
        position = np.arange(int(size.sum())) - np.repeat(before - self.begin[last], size)
        radii = np.zeros(len(self.order))
        radii[self.order[position]] = np.repeat(self.death[last], size)
        return np.asarray(radii[self.point_of_unit])

    def find_joining_quantiles(self, k: int, shares: Sequence[float]) -> list[tuple[float, int]]:
        """For each share of the rows, the smallest eps at which that many are in components of k people or more, and
        how many rows are not there.
        """
        radii = self.find_joining_radii(k)
        order = np.argsort(radii, kind="stable")
        ranked, rows = radii[order], np.cumsum(self.units.weights[order])
        needed = [max(ceil(share * int(rows[-1]) - ROUNDING), 1) for share in shares]
        quantiles = ranked[np.searchsorted(rows, needed)]
        there = rows[np.searchsorted(ranked, quantiles, side="right") - 1]
        return list(zip(quantiles.tolist(), (rows[-1] - there).tolist(), strict=True))


def build_filtration(points: Points, metric: str = "box", *, threads: int = 1) -> Filtration:
    """Minimum spanning tree of the distinct points, then one sweep over its edges."""
    check_metric(points, metric)
    report("growing balls")
    distinct, point_of_unit = points.merge_people()
    units = None if points.person is None else (point_of_unit, points.person, points.weights)
    tree = merge_points(distinct.codes, distinct.weights, points.metric(), metric == "ball", threads, units)
    return Filtration(metric, distinct, points, point_of_unit, **tree)


def simplex_radius(points: Points, chosen: Ints, metric: str = "box", widths: Widths | None = None) -> float:
    """Smallest eps at which the chosen points form one simplex; `widths` of the points save time if they are known.

    The root of their own merge tree knows it, as does any tree in which they are a node, to the last bit.
    """
    own = np.unique(chosen)
    tree = merge_points(points.codes[own], points.weights[own], widths or points.metric(), metric == "ball", 1)
    return float(tree["simplex_from"][-1])


def check_metric(points: Points, metric: str) -> None:
    """Refuse balls for columns that are not numbers or dates as they are; boxes measure any column."""
    FIELDS["metric"].check(metric)
    if metric == "box":
        return
    if len(points.axes) > MOST_BALL_AXES:
        raise BadOption("--metric", f"ball takes at most {MOST_BALL_AXES} columns. Name fewer, or use --metric box.")
    for axis in points.axes:
        if reason := say_why_not_exact(axis):
            reason = f"column {axis.column!r} {reason}or use --metric box."
            raise BadOption("--metric", f"ball takes exact numbers and dates only: {reason}")


def say_why_not_exact(axis: Axis) -> str:
    """Why a column has no exact numbers; empty where it has them."""
    if not isinstance(axis, LineAxis):
        return "does not hold numbers or dates; omit it, "
    if axis.has_null:
        return "has NULLs; fill them, "
    return "" if np.array_equal(*axis.ends) else "is on a grid; add --grid exact, "


def check_radii(radii: Sequence[float], option: str, *, least: int = 0) -> list[float]:
    """Radii, ascending; refused where one is negative or endless, or where there are fewer than the least number."""
    if len(radii) < least or any(not 0 <= eps < float("inf") for eps in radii):
        raise unusable_value(option, f"Give numbers of 0 or more: {option} 0.05,0.1,0.2.")
    return sorted(set(radii))

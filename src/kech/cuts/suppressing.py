"""Suppressing: rows that cost more in every class than outside are left out, within a limit, and the rest is cut anew.

A row that is left out loses everything: it is as wide as all axes together.  On the points of all rows classes let
rows go while that lowers the loss.  Then the points are made anew from the rest, on axes that know nothing of the rows
left out, and cut as if there had never been others.  What costs more than all rows together is dropped.

The rows of a point leave together: where one of them stays in a class, the others cost no more there than outside.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kech._kernels import leave_out
from kech.axes import Axis, LineAxis, RankAxis
from kech.cuts import Wishes
from kech.cuts.local import search, serve_smaller, studied_ks, usual_effort
from kech.cuts.minimal import shrink, worth
from kech.grid import Ints
from kech.loss import class_widths, mean_loss
from kech.partition import Partition, add_up, build_partition
from kech.points import Grains, Points, points_without
from kech.progress import report
from kech.rulers import Floats

ROUNDS = 3  # of letting rows go and searching again

Cut = Callable[[Points, Sequence[int], Wishes], Iterator[Partition]]


def cut_rest(cut: Cut, points: Points, ks: Sequence[int], wishes: Wishes, *, narrow: bool) -> Iterator[Partition]:
    """A partition for each k, of all rows or of those that are not left out, whichever loses less (or is narrower)."""
    limit = points.limit(wishes.suppress)
    effort = wishes.effort if wishes.effort is not None else usual_effort(ks)
    wishes = replace(wishes, suppress=0.0, effort=effort)
    studied, found = studied_ks(ks, effort), []
    for k, whole in zip(ks, list(cut(points, ks, wishes)), strict=True):
        rest = rest_of(whole, points.at(k), k, limit, wishes, narrow=narrow) if k in studied else None
        found.append(min([whole, *(cut(rest, [k], wishes) if rest else [])], key=worth if narrow else mean_loss))
    best = serve_smaller(ks, found, worth if narrow else mean_loss)
    return (replace(partition, eps_bound=None) for partition in best)


def rest_of(whole: Partition, points: Points, k: int, limit: int, wishes: Wishes, *, narrow: bool) -> Points | None:
    """The points of the rows that stay; None where all do."""
    least = max(k, wishes.goals.least_rows if wishes.goals else 1)
    start = on_points(whole, points)
    most = min(limit, points.rows - least)
    report(f"leaving rows out at k={k}")
    go = partial(let_go, k=least, most=most, effort=wishes.effort or 0, wishes=wishes)
    found = shrink(start, k, 0.0, go) if narrow else go(start)
    out = np.setdiff1d(np.arange(len(points.weights)), found.point)
    return points_without(points, out) if len(out) else None


def on_points(partition: Partition, points: Points) -> Partition:
    """A partition whose rows are told apart by their quasi-identifiers only."""
    if not isinstance(partition.points, Grains):
        return partition
    shares = add_up(partition.points.point[partition.point], partition.group, partition.rows)
    return build_partition(points, *shares)


def let_go(
    start: Partition, k: int, most: int, effort: str | float, wishes: Wishes, *, limit: float = float("inf")
) -> Partition:
    """The cheapest partition found in which at most so many rows are in no class."""
    points, best = start.points, start
    for _ in range(ROUNDS):
        shares = leave_out(
            points.codes,
            points.weights,
            points.widths().limited(limit),
            [price * lost_values(axis) for price, axis in zip(best.sizes @ class_widths(best), points.axes, strict=True)],
            k,
            best.point,
            best.group,
            best.rows,
            float(len(points.axes)),
            most,
        )
        best = search(build_partition(points, *shares), k, effort, wishes, limit=limit)
    return best


def lost_values(axis: Axis) -> Floats:
    """By how much all widths of an axis grow when the last row with a code is left out: the axis is measured anew."""
    grown = np.zeros(axis.size)
    if isinstance(axis, LineAxis):
        if axis.span is not None and axis.values > 2:
            ends = axis.widths(np.array([1, 0]), np.array([axis.values - 1, axis.values - 2]))
            grown[[0, axis.values - 1]] = 1 / np.maximum(ends, 1e-9) - 1
    elif not (isinstance(axis, RankAxis) and axis.ordinal) and axis.size > 2:
        grown[:] = 1 / (axis.size - 2)
    return grown

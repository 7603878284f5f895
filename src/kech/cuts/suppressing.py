"""Suppressing: rows that cost more in every class than outside are left out, within a limit, and the rest is cut anew.

A row that is left out loses everything: it is as wide as all axes together.  On the points of all rows classes let
rows go while that lowers the loss.  Then the points are made anew from the rest, on axes that know nothing of the rows
left out, and cut as if there had never been others.  What costs more than all rows together is dropped.

The rows of a point leave together: where one of them stays in a class, the others cost no more there than outside.

Nobody is left out for a sensitive value.  If no partition of all rows keeps a goal, and one of the rest does, then the
rows left out break that goal together, or are fewer than k people: otherwise they would be one more class.  So their
absence would tell of them what the goal forbids to tell.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf

import msgspec
import numpy as np

from kech._kernels import leave_out
from kech.axes import Axis, LineAxis
from kech.axes.grid import Floats, Ints
from kech.cuts.local import (
    Run,
    SearchedCut,
    choose_effort,
    enforce_monotone_loss,
    ks_to_search,
    limited_widths,
    protected_loss,
    search,
)
from kech.cuts.minimal import ROUNDING, narrow_by_steps
from kech.errors import GoalNotMet
from kech.points.partition import Partition, build_partition, largest_radius
from kech.points.points import Points, rebuild_without
from kech.request import Cut, Goal
from kech.system.console import report

NO_WAY_OUT = "--suppress does not help: rows that are missing for their values would tell them. Omit it."
PRICES = (0.5, 0.75, 1.0)  # of a row outside, round by round: cheap at first, so that classes try to do without it


def cut_rest(
    cut_searched: SearchedCut, goal: Goal, points: Points, ks: Sequence[int], cut: Cut, run: Run
) -> Iterator[Partition]:
    """A partition for each k: of all rows, or of the rest where that loses less (for the minimal cut: is narrower)."""
    narrow = cut.cut == "minimal"
    limit, key = points.suppression_limit(cut.suppress), protected_width_and_loss if narrow else protected_loss
    cut = msgspec.structs.replace(cut, suppress=0.0)
    try:
        partitions = list(cut_searched(points, ks, cut, run))
    except GoalNotMet as refusal:
        raise GoalNotMet(f"{refusal} {NO_WAY_OUT}") from None
    cut = msgspec.structs.replace(cut, effort=choose_effort(ks, cut.effort))
    for k in ks_to_search(ks):
        at = ks.index(k)
        fewer = search_suppressed(join_grains(partitions[at], points.published_at(k)), k, limit, goal, cut, run)
        partitions[at] = min([partitions[at], *cut_others(cut_searched, goal, points, fewer, k, cut, run)], key=key)
    for partition in enforce_monotone_loss(ks, partitions, key):
        yield replace(partition, eps=largest_radius(partition) if narrow else partition.eps, eps_bound=None)


def protected_width_and_loss(partition: Partition) -> tuple[float, float]:
    """Narrow first, then cheap when its labels are protected."""
    return largest_radius(partition), protected_loss(partition)


def join_grains(partition: Partition, points: Points) -> Partition:
    """A partition whose rows are told apart by their quasi-identifiers only."""
    part_of = partition.points.part_of
    if part_of is None:
        return partition
    return build_partition(points, part_of[partition.point], partition.group, partition.rows)


def cut_others(
    cut_searched: SearchedCut, goal: Goal, points: Points, fewer: Partition, k: int, cut: Cut, run: Run
) -> Iterator[Partition]:
    """The rows that are not left out, coded anew: in the same classes where that is possible, and cut anew."""
    kept = np.unique(fewer.point)
    if len(kept) == len(points.weights):
        return
    rest = rebuild_without(points, np.setdiff1d(np.arange(len(points.weights)), kept))
    new_point = match_points(rest, points, kept) if points.person is None else None
    if new_point is not None and not goal.has_sensitive_goals:
        yield build_partition(rest.published_at(k), new_point[fewer.point], fewer.group, fewer.rows)
    with suppress(GoalNotMet):  # what all rows together reach, the rest may not
        yield from cut_searched(rest, [k], cut, run)


def match_points(rest: Points, points: Points, kept: Ints) -> Ints | None:
    """For each of the points its number among those of the rest, which are coded anew; -1 where it is not kept.

    None where new edges part the rows of one point.
    """
    codes = np.empty((len(kept), len(points.axes)), np.int32)
    for j, (axis, now) in enumerate(zip(points.axes, rest.axes, strict=True)):
        codes_now = dict(zip(rest.mappings[j].values, now.codes.tolist(), strict=True))
        old = zip(points.mappings[j].values, axis.codes.tolist(), strict=True)
        pairs = {(code, codes_now[value]) for value, code in old if value in codes_now}
        pairs |= {(axis.null, now.null)} if now.has_null else set()
        moved = dict(pairs)
        if len(moved) < len(pairs):
            return None
        codes[:, j] = [moved[code] for code in points.codes[kept, j].tolist()]
    new_point = np.full(len(points.weights), -1)
    new_point[kept] = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    return new_point


# -- letting rows go ---------------------------------------------------------------------------------------


def search_suppressed(start: Partition, k: int, limit: int, goal: Goal, cut: Cut, run: Run) -> Partition:
    """The best partition found on these axes in which at most so many rows are in no class.

    k people outside could as well be a class, which is no wider than its axes: for the lowest loss fewer are enough.
    Where a person has several rows, fewer people may have more than k rows.
    """
    narrow, least = cut.cut == "minimal", max(k, min(goal.least_rows, start.points.people))
    is_free = narrow or goal.has_sensitive_goals or start.points.person is not None
    most = min(limit, start.points.rows - least if is_free else k - 1)
    report(f"leaving rows out at k={k}")
    go = partial(suppress_and_search, k=least, most=most, effort=cut.effort or 0.0, run=run)
    return narrow_by_steps(start, k, 0.0, go) if narrow else go(start)


def suppress_and_search(
    start: Partition, k: int, most: int, effort: str | float, run: Run, *, limit: float = inf
) -> Partition:
    """Rows leave their classes and come back, and classes search what to do without them; what is wider than the
    limit is dear.
    """
    best = start
    for price in PRICES:
        partition = build_partition(best.points, *suppress_at_price(best, k, most, price, limit))
        if partition.suppressed:
            partition = search(partition, k, effort, run, limit=limit)
        best = partition
    return best


def suppress_at_price(partition: Partition, k: int, most: int, price: float, limit: float) -> tuple[Ints, Ints, Ints]:
    """The shares of the rows that stay; a row outside costs this share of the widest class there is."""
    points = partition.points
    growth = [growth_without_value(axis) for axis in points.axes]
    shares = (partition.point, partition.group, partition.rows)
    how = (price * len(points.axes), most, points.person)
    return leave_out(points.codes, points.weights, limited_widths(points, limit), growth, k, *shares, *how)


def growth_without_value(axis: Axis) -> Floats:
    """By how much all widths of an axis grow when the last row with a code is left out: the axis is measured anew.

    Where one value is left, nothing has a width.
    """
    growth = np.zeros(axis.size)
    if axis.kind in ("ordered", "hierarchy"):
        return growth  # of a tree, what few rows hold is not counted
    if isinstance(axis, LineAxis) and (axis.has_tails or axis.domain_rule.is_given):
        return growth
    if axis.size <= 2:
        return growth - 1
    if not isinstance(axis, LineAxis):
        return growth + 1 / (axis.size - 2)
    if axis.values > 2:
        shorter = axis.widths(np.array([1, 0]), np.array([axis.values - 1, axis.values - 2]))
        growth[[0, axis.values - 1]] = 1 / np.maximum(shorter, ROUNDING) - 1
    return growth

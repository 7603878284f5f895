"""Cuts: ways to part the points into classes of at least k rows, one file each.

In: points and what a request says of cut and goal.  Out: a partition for each k, with its labels protected and its
sensitive values assigned to classes.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from kech.cuts.balls import cut_balls
from kech.cuts.crowds import cut_crowded
from kech.cuts.domain import cut_domain
from kech.cuts.goals import cut_for_goals, protect_for_goals
from kech.cuts.history import cut_histories
from kech.cuts.local import Run, SearchedCut, cut_local
from kech.cuts.minimal import cut_minimal
from kech.cuts.protection import derive_seed, protect_labels
from kech.cuts.regime import cut_regime
from kech.cuts.sampled import cut_sampled
from kech.cuts.suppressing import cut_rest
from kech.cuts.target import DRAFTS, reweigh, weigh_columns
from kech.cuts.variance import cut_variance
from kech.points.partition import Partition, assign_grains
from kech.points.points import Points
from kech.request import Cut, Goal
from kech.request.parts import FEW_KS
from kech.system.console import report

__all__ = ["cut_many", "cut_points"]


def cut_points(
    points: Points,
    ks: Sequence[int],
    cut: Cut,
    goal: Goal,
    *,
    threads: int = 1,
    split_points: bool = True,
    table_rows: int = 0,
) -> Iterator[Partition]:
    """One partition for each k; with `split_points` the rows of one point may go to several classes of a searched cut.
    Where the points are a part of a table of `table_rows`, they are searched as a part of it.
    The regime cut with an eps gives the components at that eps, for each k on the grid that they reach.
    """
    if cut.target is not None:
        points, cut = weigh_for_target(points, min(ks), cut, goal, threads=threads)
    if goal.protect_history:
        return cut_histories(points, ks, cut, goal, Run(threads, derive_seed(points, cut.seed)))
    if goal.dp_epsilon is not None:
        return (cut_sampled(points, k, cut, goal) for k in ks)
    if cut.by_level:
        return map(assign_grains, cut_domain(points, ks, cut, goal, threads=threads))
    if not cut.is_searched:
        return map(assign_grains, map(protect_labels, cut_regime(points, ks, cut, goal, threads=threads)))
    lowest_loss: SearchedCut = cut_local if points.person is None else cut_crowded
    smallest_eps: SearchedCut = cut_balls if cut.metric == "ball" else cut_minimal
    lowest = cut_variance if cut.objective == "variance" else lowest_loss
    cut_searched: SearchedCut = smallest_eps if cut.cut == "minimal" else lowest
    if goal.has_sensitive_goals:
        cut_searched = partial(cut_for_goals, cut_searched, goal)
    if cut.suppress:
        cut_searched = partial(cut_rest, cut_searched, goal)
    partitions = cut_searched(points, ks, cut, Run(threads, derive_seed(points, cut.seed), split_points, table_rows))
    return finish_partitions(partitions, ks, goal, split_points)


def weigh_for_target(points: Points, k: int, cut: Cut, goal: Goal, *, threads: int) -> tuple[Points, Cut]:
    """The points with weights of columns by their use for the target, and the cut without one; named weights stay.

    Weights are measured on drafts, which keep k and all goals, as if these were published.
    """
    named, target, cut = cut.weights or {}, cut.target, replace(cut, target=None)
    if all(axis.column in named for axis in points.axes):
        return points, cut
    assert target is not None
    report("weighing columns")
    for _ in range(DRAFTS):
        (draft,) = cut_points(points, [k], replace(cut, effort="quick", gap=None), goal, threads=threads)
        points = reweigh(points, {**weigh_columns(draft, target), **named})
    return points, cut


def cut_many(
    points: Points, ks: Sequence[int], cut: Cut, goal: Goal, *, threads: int
) -> Iterator[tuple[int, Partition]]:
    """Each k with its partition, in the order in which they are made: what the caller drops takes no memory."""
    by_width = cut.cut == "local" and cut.objective == "width"
    is_chained = by_width and len(ks) > FEW_KS and not (cut.suppress or goal.has_sensitive_goals)
    order = sorted(ks, reverse=is_chained)
    return zip(order, cut_points(points, order, cut, goal, threads=threads), strict=True)


def finish_partitions(
    partitions: Iterator[Partition], ks: Sequence[int], goal: Goal, split_points: bool
) -> Iterator[Partition]:
    """Each partition with its labels protected and its grains assigned; what several k share is made once."""
    last = finished = None
    for k, partition in zip(ks, partitions, strict=True):
        protected = protect_for_goals(partition, k, goal, split_points=split_points)
        if finished is None or protected is not last:
            finished = assign_grains(protected)
        last = protected
        yield finished

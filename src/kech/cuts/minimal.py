"""Minimal cut: the smallest eps first, then the lowest loss with every class of radius eps or less.

The minimal anonymity complex of the paper.  A handful of rows is solved exactly.  Otherwise a local search is run on
axes on which what is wider than a limit is dear; the limit sinks towards a lower bound of eps as the search follows.
One of its starts is within a factor of 2, so the result is too.  Where a person may have several rows, that start may
have too few people and is passed over: then the bound of eps holds, and the factor is not proven.

Gathering makes that start.  Take centres that lie farther apart than a reach until every row is within the reach of
one.  If some partition has no side wider than the reach, no two centres share a class of it, so each can have k rows
within its reach: a flow finds them, or shows that there is no such partition.  Classes around centres are at most two
reaches wide.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import inf

import numpy as np

from kech._kernels import gather_points
from kech.axes import Axis
from kech.axes.grid import Ints
from kech.cuts.bounds import eps_bound
from kech.cuts.local import Run, choose_effort, cut_local, on_grid_of, search
from kech.points.partition import Partition, build_partition, largest_radius, mean_loss
from kech.points.points import Points
from kech.request import Cut
from kech.system.console import report
from kech.topology.minimal import minimal_complex

TRIES = 24  # limits between what is reached and the bound
FIRST_STEP, LAST_STEP = 0.2, 0.005  # by which share of eps the limit sinks
MOST_CLASSES = 3000  # of the even start
MOST_PAIRS = 3e6  # of points and centres that are compared for one reach
ROUNDING = 1e-12


def cut_minimal(points: Points, ks: Sequence[int], cut: Cut, run: Run) -> Iterator[Partition]:
    """A partition for each k, with the bound that its eps cannot go below."""
    effort = choose_effort(ks, cut.effort)
    for k, start in zip(ks, cut_local(points, ks, cut, run), strict=True):
        yield narrow_local(points, k, start, effort, run)


def narrow_local(points: Points, k: int, start: Partition, effort: str | float, run: Run) -> Partition:
    """The minimal cut, begun with what the local cut found."""
    exact = solve_exactly(points.published_at(k), k) if run.split_points else None
    if exact:
        narrow, bound = exact, largest_radius(exact)
    else:
        narrow, bound = find_narrowest(on_grid_of(k, start), k, effort, run)
    cheapest = cheapen(narrow, k, effort, run)
    return replace(cheapest, eps=largest_radius(cheapest), eps_bound=bound)


def find_narrowest(start: Partition, k: int, effort: str | float, run: Run) -> tuple[Partition, float]:
    """The narrowest partition found, and the bound of eps: where rows of a point may be parted, at most twice eps*."""
    points = start.points
    starts = {largest_radius(partition): partition for partition in (*even_start(points, k), start) if partition.k >= k}
    lowest = eps_bound(points, k, threads=run.threads)
    gathered, bound = gather_classes(points, k, lowest, min(starts))
    usable = (partition for partition in gathered if run.split_points and partition.k >= k)
    starts |= {eps: partition for partition in usable if (eps := largest_radius(partition)) < min(starts)}
    improve = partial(search, k=k, effort=effort, run=run)
    return min(
        (narrow_by_steps(partition, k, bound, improve) for partition in starts.values()), key=width_and_loss
    ), bound


def solve_exactly(points: Points, k: int, metric: str = "box") -> Partition | None:
    """The narrowest partition of a handful of rows; None for more."""
    answer = minimal_complex(points, k, metric)
    if answer is None:
        return None
    group = np.repeat(np.arange(len(answer[1])), [len(part) for part in answer[1]])
    point = np.concatenate(answer[1]).astype(np.int64)
    return build_partition(points, point, group, np.ones(len(point), np.int64))


def width_and_loss(partition: Partition) -> tuple[float, float]:
    """A key to sort partitions by: narrow first, then cheap."""
    return largest_radius(partition), mean_loss(partition)


def even_start(points: Points, k: int) -> list[Partition]:
    """All rows halved again and again across their widest side; none where that would take long."""
    if points.rows > MOST_CLASSES * k:
        return []
    done: list[Ints] = []
    open_ = [np.arange(len(points.weights))]
    while open_:
        group_rows = open_.pop()
        halves = halve(points, group_rows, k)
        (open_ if halves else done).extend(halves or [group_rows])
    group = np.repeat(np.arange(len(done)), [len(group_rows) for group_rows in done])
    point = np.concatenate(done)
    return [build_partition(points, point, group, points.weights[point])]


def halve(points: Points, rows_of: Ints, k: int) -> list[Ints]:
    """Two parts of k rows or more, as narrow as can be across the widest side that can be parted; or nothing."""
    codes = points.codes[rows_of].astype(np.int64)
    sides = [axis.metric(low[None], high[None])[0] for axis, low, high in code_spans(points, codes)]
    for j in np.argsort(-np.array(sides), kind="stable"):
        order = np.argsort(codes[:, j], kind="stable")
        along, below = codes[order, j], np.cumsum(points.weights[rows_of[order]])
        ends = np.flatnonzero((along[1:] > along[:-1]) & (below[:-1] >= k) & (below[-1] - below[:-1] >= k))
        if len(ends):
            axis = points.axes[j]
            left = axis.metric(np.full(len(ends), along[0]), along[ends])
            right = axis.metric(along[ends + 1], np.full(len(ends), along[-1]))
            cut = ends[np.argmin(np.maximum(left, right))] + 1
            return [rows_of[order[:cut]], rows_of[order[cut:]]]
    return []


def code_spans(points: Points, codes: Ints) -> Iterator[tuple[Axis, Ints, Ints]]:
    """Each axis with the lowest and the highest code."""
    return zip(points.axes, codes.min(axis=0), codes.max(axis=0), strict=True)


def narrow_by_steps(start: Partition, k: int, bound: float, improve: Callable[..., Partition]) -> Partition:
    """The narrowest partition found: the limit sinks step by step, and by smaller steps where a step was too large."""
    best, step = start, FIRST_STEP
    for tried in range(TRIES):
        eps = largest_radius(best)
        if eps <= bound + ROUNDING or step < LAST_STEP:
            break
        report(f"narrowing at k={k}", tried / TRIES)
        limit = max(bound, eps * (1 - step))
        narrower = improve(best, limit=2 * limit + ROUNDING)
        best = min(best, narrower, key=width_and_loss)
        step = step if largest_radius(narrower) <= limit + ROUNDING else step / 2
    return best


def cheapen(narrow: Partition, k: int, effort: str | float, run: Run) -> Partition:
    """The cheapest partition found that is no wider."""
    eps = largest_radius(narrow)
    cheaper = search(narrow, k, effort, run, limit=2 * eps + ROUNDING)
    return min(
        (partition for partition in (narrow, cheaper) if largest_radius(partition) <= eps + ROUNDING), key=mean_loss
    )


# -- gathering ---------------------------------------------------------------------------------------------


def gather_classes(
    points: Points, k: int, bound: float, eps: float, metric: str = "box"
) -> tuple[list[Partition], float]:
    """Classes whose reach is the smallest not shown to be impossible, if any; and the bound of eps raised to it.

    A partition of radius eps is known.  Where it is within twice the bound, nothing is done that takes long.
    """
    pairs = MOST_PAIRS if eps <= 2 * bound else inf
    low, high, best = 2 * bound, 2 * eps, gather_within(points, k, 2 * bound, pairs, metric)
    if best is not None:
        return best, bound
    while high - low > ROUNDING:
        reach = (low + high) / 2
        classes = gather_within(points, k, reach, pairs, metric)
        low, high, best = (reach, high, best) if classes is None else (low, reach, classes)
    return best or [], low / 2


def gather_within(points: Points, k: int, reach: float, pairs: float, metric: str = "box") -> list[Partition] | None:
    """Classes within the reach of their centres, nothing where that would take long, or None where there are none."""
    how = (points.metric(), metric == "ball", k, reach + ROUNDING, pairs)
    possible, shares = gather_points(points.codes, points.weights, *how)
    if not possible:
        return None
    return [build_partition(points, *shares)] if len(shares[0]) else []

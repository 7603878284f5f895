"""Minimal cut in the ball metric: the ball around the widest class is as small as the search can make it.

A handful of rows is solved exactly.  Otherwise the search begins with the classes of the minimal cut by boxes.  The
widest class gives rows to its neighbours, and takes others for them, until all balls fit into a limit; the limit sinks
towards a lower bound of eps.  Then rows move to save loss, and no ball grows beyond the widest.  Another start gathers
rows around centres: it is within a factor of 2, so the result is too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kech._kernels import cheapen_balls, narrow_balls
from kech.axes.grid import Floats, Ints
from kech.cuts.local import Run, choose_effort, cut_local, on_grid_of
from kech.cuts.minimal import ROUNDING, find_narrowest, gather_classes, narrow_by_steps, solve_exactly, width_and_loss
from kech.errors import BadOption
from kech.points.partition import Partition, build_partition, largest_radius, mean_loss
from kech.points.points import Points
from kech.request import Cut
from kech.system.console import report
from kech.topology.filtration import check_metric, simplex_radius
from kech.topology.profile import compute_hiding_radii

PASSES = 6  # over all rows, to save loss; tables of 30 to 3,000 rows gained nothing after four


def cut_balls(points: Points, ks: Sequence[int], cut: Cut, run: Run) -> Iterator[Partition]:
    """A partition for each k, with the bound that its eps cannot go below."""
    check_metric(points, "ball")
    if points.person is not None:
        raise BadOption("--metric", "ball counts rows, and here k counts people. Use --metric box.")
    effort = choose_effort(ks, cut.effort)
    for k, start in zip(ks, cut_local(points, ks, cut, run), strict=True):
        exact = solve_exactly(points.published_at(k), k, "ball") if run.split_points else None
        narrow, bound = (exact, None) if exact else narrow_all(on_grid_of(k, start), k, effort, run)
        cheapest = cheapen(narrow, k, run)
        yield replace(cheapest, eps_bound=cheapest.eps if bound is None else bound)


def narrow_all(start: Partition, k: int, effort: str | float, run: Run) -> tuple[Partition, float]:
    """The narrowest partition found, and the bound of eps."""
    points = start.points
    starts = [narrow_to(partition, k, run) for partition in (start, find_narrowest(start, k, effort, run)[0])]
    lowest = float(compute_hiding_radii(points, "ball", k, threads=run.threads).at(k).max())
    gathered, bound = gather_classes(points, k, lowest, min(map(largest_radius, starts)), "ball")
    starts += [narrow_to(partition, k, run) for partition in gathered if run.split_points]

    def improve(best: Partition, *, limit: float) -> Partition:
        return narrow_to(best, k, run, limit / 2)

    return min((narrow_by_steps(partition, k, bound, improve) for partition in starts), key=width_and_loss), bound


def narrow_to(start: Partition, k: int, run: Run, limit: float = float("inf")) -> Partition:
    """The classes in balls of the limit, or as near to that as the search comes."""
    points, shares = start.points, (start.point, start.group, start.rows)
    radius, narrower = narrow_balls(points.codes, points.metric(), k, run.split_points, *shares, limit)
    return replace(build_partition(points, *narrower), eps=radius)


def cheapen(narrow: Partition, k: int, run: Run) -> Partition:
    """The cheapest partition found that is no wider; its eps is told to the last bit."""
    points = narrow.points
    eps = widest_ball(points, narrow.point, narrow.group)
    best, limit = replace(narrow, eps=eps), eps + ROUNDING
    for done in range(PASSES):
        report(f"saving loss at k={k}", done / PASSES)
        how = (points.metric(), points.widths(), k, run.split_points, best.point, best.group, best.rows, limit)
        shares = cheapen_balls(points.codes, *how)
        cheaper = replace(build_partition(points, *shares), eps=widest_ball(points, *shares[:2]))
        if mean_loss(cheaper) >= mean_loss(best) - ROUNDING:
            break
        best = cheaper
    return best


def widest_ball(points: Points, point: Ints, group: Ints) -> float:
    """The radius of the smallest ball around each class, of all classes the largest."""
    return float(measure_balls(points, point, group).max())


def measure_balls(points: Points, point: Ints, group: Ints) -> Floats:
    """The radius of the smallest ball around each class."""
    order = group.argsort(kind="stable")
    ends = group[order].searchsorted(range(1, int(group.max()) + 1))
    widths = points.metric()
    parts = (point[order[a:b]] for a, b in zip([0, *ends], [*ends, len(order)], strict=True))
    return np.array([simplex_radius(points, part, "ball", widths) for part in parts])

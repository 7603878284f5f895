"""Regime cut: one eps for the whole table; classes are the connected components."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kech.cuts.goals import check_goals, check_reachable, keeps_goals
from kech.cuts.protection import protect_labels
from kech.cuts.starts import by_grid
from kech.errors import GoalNotMet
from kech.points.partition import Partition, assign_grains, build_partition
from kech.points.points import Points, rebuild_without
from kech.request import Cut, Goal
from kech.system.console import report
from kech.topology.barcode import WeightedBarcode, build_barcode
from kech.topology.filtration import Filtration, Ints, build_filtration
from kech.topology.homology import highest_dimension

MOST_TRIED = 100  # of the first regimes, where all rows as one class miss a goal by people
UNMET = "no regime that was tried reaches it by people, and the last one reaches"


def cut_regime(points: Points, ks: Sequence[int], cut: Cut, goal: Goal, *, threads: int = 1) -> Iterator[Partition]:
    """For each k the components at the eps that is asked, or at the smallest one whose regime holds.

    Equal rows are never parted.
    """
    if cut.eps is not None:
        yield from (cut_components(points, k, cut.eps, goal, threads=threads) for k in ks)
        return
    if cut.suppress:
        yield from (cut_without_lonely(points, k, cut, goal, threads=threads) for k in ks)
        return
    for at, batch in by_grid(points, ks):
        barcode = read_barcode(at, cut, threads=threads)
        for k in batch:
            yield cut_at_first_regime(barcode, cut.reading, k, goal)
            report("cutting", (ks.index(k) + 1) / len(ks))


def cut_components(points: Points, k: int, eps: float, goal: Goal, *, threads: int) -> Partition:
    """The components at eps, on the grid of the k they reach; the goals are checked on what will be published."""
    partition, grid_k = cut_at_eps(build_filtration(points.published_at(k), threads=threads), eps), 0
    while grid_k < partition.k:
        grid_k = partition.k
        partition = build_partition(points.published_at(grid_k), partition.point, partition.group, partition.rows)
    if goal.has_sensitive_goals:
        check_goals(assign_grains(protect_labels(partition)), goal, "The components at this eps reach")
    return partition


def cut_without_lonely(points: Points, k: int, cut: Cut, goal: Goal, *, threads: int) -> Partition:
    """The rows of the first regime that leaves few enough out, cut as if there had never been others.

    Without some rows axes can change, so the rest is looked at again, until a regime leaves none of it out.  It is
    the first one of the rest alone, whatever was left out.
    """
    left = points.suppression_limit(cut.suppress)
    while True:
        report(f"leaving rows out at k={k}")
        barcode = read_barcode(points.published_at(k), cut, threads=threads)
        lonely = find_lonely(barcode, cut.reading, k, left)
        if not len(lonely):
            return cut_at_first_regime(barcode, cut.reading, k, goal)
        left -= int(points.weights[lonely].sum())
        points = rebuild_without(points, lonely)


def find_lonely(barcode: WeightedBarcode, reading: str, k: int, limit: int) -> Ints:
    """The units that the first regime leaves out, at most so many rows; none where there is no regime."""
    tree, regimes = barcode.filtration, barcode.regimes_within(reading, k, limit)
    if not regimes or not regimes[0].suppressed:
        return np.empty(0, np.int64)
    eps = regimes[0].start
    component, nodes = tree.components(eps), tree.nodes_at(eps)
    nodes = nodes[np.argsort(tree.begin[nodes])]
    kept = (tree.hidden_among >= k) & ((reading != "strict") | (tree.simplex_from <= eps))
    return np.flatnonzero(~kept[nodes][component])


def read_barcode(points: Points, cut: Cut, *, threads: int) -> WeightedBarcode:
    """The barcode as far as a reading needs it."""
    dimension = max(highest_dimension(points, "box"), 0) if cut.reading == "homological" else 0
    return build_barcode(points, "box", dimension, threads=threads, field=cut.field)


def cut_at_first_regime(barcode: WeightedBarcode, reading: str, k: int, goal: Goal) -> Partition:
    """The components at the smallest eps at which k, and what else is asked, holds.

    Components only merge as eps grows, so from some regime on the goals hold; in the last one all rows are together.
    By people these may miss a goal that the first regimes keep, where fewer people are in a class twice.
    """
    regimes = barcode.regimes(reading, k)
    if not regimes:
        raise GoalNotMet(f"No eps makes the table {k}-anonymous under the {reading} reading. Try --cut local.")
    starts = [regime.start for regime in regimes]
    if not goal.has_sensitive_goals:
        return cut_at_eps(barcode.filtration, starts[0])
    whole = check_reachable(barcode.filtration.units, goal)

    def holds(eps: float) -> bool:
        partition = cut_at_eps(barcode.filtration, eps)
        return keeps_goals(
            assign_grains(partition if partition.points.person is None else protect_labels(partition)), goal
        )

    above = bisect_left(starts, True, key=holds)
    if barcode.filtration.people is None:
        return cut_at_eps(barcode.filtration, [*starts, starts[-1]][above])
    tried = starts[above:] if keeps_goals(whole, goal) else starts[:MOST_TRIED]
    partition = cut_at_eps(barcode.filtration, next(filter(holds, tried), starts[-1]))
    check_goals(assign_grains(protect_labels(partition)), goal, UNMET)
    return partition


def cut_at_eps(filtration: Filtration, eps: float) -> Partition:
    """The components at eps, as a partition."""
    component, units = filtration.components(eps), filtration.units
    order = np.argsort(component, kind="stable")
    partition = build_partition(units, order, component[order], units.weights[order])
    return replace(partition, eps=eps)

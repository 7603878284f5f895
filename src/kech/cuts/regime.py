"""Regime cut: one eps for the whole table; classes are the connected components."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kech.cuts import Wishes
from kech.cuts.goals import check_goals, check_reachable
from kech.cuts.protection import protect_labels
from kech.cuts.starts import by_grid
from kech.errors import GoalNotMet
from kech.points.models import hold
from kech.points.partition import Partition, build_partition, deal, tally_sensitive
from kech.points.points import Points
from kech.request import Goal
from kech.system.progress import report
from kech.topology.barcode import WeightedBarcode, build_barcode
from kech.topology.filtration import Filtration, build_filtration
from kech.topology.homology import highest_dimension
from kech.topology.homology.reduction import check_field


def cut_regime(points: Points, ks: Sequence[int], wishes: Wishes) -> Iterator[Partition]:
    """For each k the components at the eps that is asked, or at the smallest one whose regime holds.

    Equal rows are never parted.
    """
    if wishes.eps is not None:
        yield from (cut_components(points, k, wishes.eps, wishes) for k in ks)
        return
    reading = wishes.reading
    check_field(wishes.field)
    wishes.keep_all()
    for at, batch in by_grid(points, ks):
        barcode = read_barcode(at, wishes)
        for k in batch:
            yield first_cut(barcode, reading, k, wishes.goals)
            report("cutting", (ks.index(k) + 1) / len(ks))


def cut_components(points: Points, k: int, eps: float, wishes: Wishes) -> Partition:
    """The components at eps, on the grid of the k they reach; the goals are checked on what will be published."""
    wishes.keep_all()
    found, grid_k = cut_at(build_filtration(points.at(k), threads=wishes.threads), eps), 0
    while grid_k < found.k:
        grid_k = found.k
        found = build_partition(points.at(grid_k), found.point, found.group, found.rows)
    if wishes.goals:
        check_goals(deal(protect_labels(found)), wishes.goals, "and the components at this eps reach")
    return found


def read_barcode(points: Points, wishes: Wishes) -> WeightedBarcode:
    """The barcode as far as a reading needs it."""
    dimension = max(highest_dimension(points, "box"), 0) if wishes.reading == "homological" else 0
    return build_barcode(points, "box", dimension, threads=wishes.threads, field=wishes.field)


def first_cut(barcode: WeightedBarcode, reading: str, k: int, goals: Goal | None) -> Partition:
    """The components at the smallest eps at which k, and what else is asked, holds.

    Components only merge as eps grows, so from some regime on the goals hold; in the last one all rows are together.
    """
    regimes = barcode.regimes(reading, k)
    if not regimes:
        raise GoalNotMet(f"No eps makes the table {k}-anonymous under the {reading} reading. Try --cut local.")
    starts = [regime.start for regime in regimes]
    if goals is None:
        return cut_at(barcode.filtration, starts[0])
    check_reachable(barcode.filtration.points, goals)

    def holds(eps: float) -> bool:
        return hold(goals, tally_sensitive(deal(cut_at(barcode.filtration, eps))))

    return cut_at(barcode.filtration, starts[bisect_left(starts, True, key=holds)])


def cut_at(filtration: Filtration, eps: float) -> Partition:
    """The components at eps, as a partition."""
    component = filtration.components(eps)
    order = np.argsort(component, kind="stable")
    found = build_partition(filtration.points, order, component[order], filtration.points.weights[order])
    return replace(found, eps=eps)

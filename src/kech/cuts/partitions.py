"""What partitions reach: between which radii the narrowest partition of a table lies, at any size.

In: a barcode and k.  Out: the barcode, with a bound of eps and with what the cuts minimal and local reach.

No partition of classes of k is narrower than the bound.  The minimal cut searches for one that reaches it; where it
does, eps* is known.  Balls are not searched for: classes that boxes found are measured as balls.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kech.cuts import cut_points
from kech.cuts.bounds import eps_bound
from kech.cuts.minimal import ROUNDING
from kech.errors import BadOption
from kech.points.partition import Partition, largest_radius, mean_loss
from kech.points.points import Points
from kech.request import Cut, Goal, check_k
from kech.system.console import report
from kech.topology.barcode import Reached, WeightedBarcode
from kech.topology.filtration import Filtration, simplex_radius
from kech.topology.profile import LAST_SHARE, Profile, reach_points

CUTS = ("minimal", "local")


def search_partitions(barcode: WeightedBarcode, k: int | Sequence[int], *, threads: int = 1) -> WeightedBarcode:
    """The barcode, with the narrowest partition that was found at each k, and the bound below which there is none.

    Its reading `partition` is then known at any size, as a stretch of eps in which k begins to hold.
    """
    if not isinstance(barcode, WeightedBarcode):
        raise BadOption("barcode", "it is no barcode. Make one: kech.compute_barcode(table).")
    goals = [check_k(goal) for goal in ([k] if isinstance(k, int) else k)]
    units = barcode.filtration.units
    reached = {goal: reach(barcode, goal, threads) for goal in goals if goal <= units.people}
    return replace(barcode, reached={**barcode.reached, **reached})


def weigh_last_rows(profile: Profile, k: int) -> dict[str, Any]:
    """What leaving out 0.5 % of the rows would save at k: the loss of the local cut of all rows and of the others.

    A row that is left out loses everything.  The table must still be open: the others are coded anew.
    """
    report(f"cutting at k={k}")
    every, fewer = (
        next(cut_points(profile.units, [k], Cut(suppress=share), Goal(k=k), threads=profile.threads))
        for share in (0.0, LAST_SHARE)
    )
    return {"k": k, "loss": mean_loss(every), "loss_without": mean_loss(fewer), "left_out": fewer.suppressed}


def reach(barcode: WeightedBarcode, k: int, threads: int) -> Reached:
    """What the cuts reach at k, and the bound."""
    tree = barcode.filtration
    report(f"cutting at k={k}")
    minimal, local = (next(cut_points(tree.units, [k], Cut(cut=cut), Goal(k=k), threads=threads)) for cut in CUTS)
    known = barcode.count_most(k)
    eps, classes = known[0] if known else (measure(tree, minimal), minimal.classes)
    bound = eps if known else bound_radius(tree, k, minimal, threads)
    return Reached(k, eps if bound > eps - ROUNDING else bound, eps, classes, measure(tree, local), local.classes)


def bound_radius(tree: Filtration, k: int, minimal: Partition, threads: int) -> float:
    """No partition of classes of k is narrower."""
    if tree.metric == "box":
        return eps_bound(tree.units, k, threads=threads) if minimal.eps_bound is None else minimal.eps_bound
    return float(reach_points(tree.units, tree.metric, k, threads=threads).at(k).max())


def measure(tree: Filtration, partition: Partition) -> float:
    """The radius of the widest class."""
    return largest_radius(partition) if tree.metric == "box" else widest_ball(tree.units, partition)


def widest_ball(points: Points, partition: Partition) -> float:
    """The radius of the smallest ball around each class, of all classes the largest."""
    order = partition.group.argsort(kind="stable")
    ends = partition.group[order].searchsorted(range(1, partition.classes))
    widths = points.metric()
    parts = (partition.point[order[a:b]] for a, b in zip([0, *ends], [*ends, len(order)], strict=True))
    return max(simplex_radius(points, part, "ball", widths) for part in parts)

"""What partitions reach: between which radii the narrowest partition of a table lies, at any size.

In: a barcode and k.  Out: the barcode, with a bound of eps and with what the cuts minimal and local reach.

No partition of classes of k is narrower than the bound.  The minimal cut searches for one that reaches it; where it
does, eps* is known.  Where k counts people, balls are not searched for: classes that boxes found are measured as balls.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec
import numpy as np

from kech.cuts import cut_points
from kech.cuts.balls import measure_balls, widest_ball
from kech.cuts.local import Run, choose_effort, cut_local
from kech.cuts.minimal import ROUNDING, narrow_local
from kech.cuts.protection import derive_seed, protect_labels
from kech.errors import BadOption
from kech.points.partition import Partition, box_radii, largest_radius, published_loss
from kech.points.points import Points
from kech.request import Cut, Goal, check_k
from kech.request.parts import USUAL_K
from kech.system.console import report
from kech.topology.barcode import PartitionReach, WeightedBarcode
from kech.topology.filtration import Filtration, Floats, Ints
from kech.topology.profile import LAST_SHARE, Profile, compute_hiding_radii, find_isolating_column

Shape = TypeVar("Shape", WeightedBarcode, Profile)

FEW_POINTS = 5_000  # are cut at every k of a profile in a second or two


def search_partitions(
    barcode: Shape,
    k: int | Sequence[int],
    *,
    effort: str | float | None = None,
    threads: int = 1,
    most_points: int | None = None,
) -> Shape:
    """The barcode or profile, with the narrowest partition that was found at each k, and the bound below which there
    is none.

    The reading `partition` of a barcode is then known at any size, as a stretch of eps in which k begins to hold, and
    so is the column that isolates rows most.  The effort is that of a release.  Where `most_points` is named, tables
    with more are not searched, and a profile of more than 5,000 at one k only.
    """
    if not isinstance(barcode, WeightedBarcode | Profile):
        raise BadOption("barcode", "it is neither a barcode nor a profile. Make one: kech.compute_barcode(table).")
    goals = [check_k(goal) for goal in ([k] if isinstance(k, int) else k)]
    units = barcode.filtration.units
    how = Cut(effort=effort)
    bars = WeightedBarcode(barcode.filtration) if isinstance(barcode, Profile) else barcode
    goals = choose_goals(barcode, [goal for goal in goals if goal <= units.people], most_points)
    reached, class_radii = dict(barcode.reached), dict[int, Floats]()
    larger: tuple[PartitionReach, Partition] | None = None
    for goal in sorted(goals, reverse=True):
        minimal, local = search_cuts(bars.filtration, goal, how, threads)
        reached[goal] = measure_reach(bars, goal, (minimal, local), how, threads)
        if isinstance(barcode, Profile):
            if larger and larger[0].eps_at_most < reached[goal].eps_at_most:
                reached[goal], minimal = take_larger(reached[goal], larger[0]), larger[1]
            larger = reached[goal], minimal
            class_radii[goal] = measure_classes(bars.filtration, (minimal, local), reached[goal])
    reached = {goal: reached[goal] for goal in sorted(reached)}
    if isinstance(barcode, Profile):
        return replace(barcode, reached=reached, class_radii={**barcode.class_radii, **class_radii})
    advice = {goal: find_isolating_column(bars.filtration, goal, threads=threads) for goal in goals}
    return replace(barcode, reached=reached, advice={**barcode.advice, **advice})


def take_larger(reach: PartitionReach, larger: PartitionReach) -> PartitionReach:
    """What is reached at k where the search at a larger k found narrower classes: they hold k, too."""
    reach = replace(reach, minimal_eps=larger.minimal_eps, minimal_classes=larger.minimal_classes)
    return replace(reach, eps_at_most=larger.eps_at_most, classes=larger.classes)


def choose_goals(barcode: WeightedBarcode | Profile, goals: list[int], most_points: int | None) -> list[int]:
    """The k to search at: all of them; where points are many, none, or of a profile a usual one."""
    points = len(barcode.filtration.units.codes)
    if most_points is not None and points > most_points:
        return []
    if most_points is None or points <= FEW_POINTS or not goals:
        return goals
    return [min(goals, key=lambda goal: abs(goal - USUAL_K))] if isinstance(barcode, Profile) else goals


def weigh_last_rows(profile: Profile, k: int) -> dict[str, Any]:
    """What leaving out 0.5 % of the rows at most would save at k: the loss of the local cut of all rows and of others.

    The cut itself leaves a row out only where it costs its class more than everything.  `loss_without_last` is that of
    the rows but the last to hide; None where there are none.  The table must still be open: the others are coded anew.
    """
    report(f"cutting at k={k}")
    every, fewer = (cut_at(profile, profile.units, k, share) for share in (0.0, LAST_SHARE))
    rest = profile.without_last_rows(k)
    figures = {"loss": published_loss(every), "loss_without": published_loss(fewer), "left_out": fewer.suppressed}
    last = None if rest is None else published_loss(cut_at(profile, rest, k))
    return {"k": k} | figures | {"loss_without_last": last}


def cut_at(profile: Profile, points: Points, k: int, suppress: float = 0.0) -> Partition:
    """The local cut at k that a release makes by default."""
    return next(cut_points(points, [k], Cut(suppress=suppress), Goal(k=k), threads=profile.threads))


def measure_reach(
    barcode: WeightedBarcode, k: int, cuts: tuple[Partition, Partition], how: Cut, threads: int
) -> PartitionReach:
    """What the cuts reach at k, and the bound; of a few dozen rows the narrowest partition is known without them."""
    tree, known = barcode.filtration, barcode.find_class_counts(k)
    minimal, local = ((find_widest_radius(tree, cut), cut.classes) for cut in cuts)
    eps, classes = known[0] if known else min(minimal, local, key=lambda reach: reach[0])
    bound = eps if known else bound_radius(tree, k, cuts[0], threads)
    ends = (eps if bound > eps - ROUNDING else bound, eps)
    return PartitionReach(k, *ends, classes, *minimal, *local, choose_effort([k], how.effort))


def measure_classes(tree: Filtration, cuts: tuple[Partition, Partition], reach: PartitionReach) -> Floats:
    """For each unit, the radius of the narrowest class that has a row of it.

    Where classes with equal labels were joined, each was no wider than the widest before.
    """
    radii = np.full(len(tree.units.weights), reach.eps_at_most)
    for partition, widest in zip(cuts, (reach.eps_at_most, reach.local_eps), strict=True):
        of_class, unit = np.minimum(measure_each_class(tree, partition), widest), find_units(partition)
        np.minimum.at(radii, unit, of_class[partition.group])
    return radii


def find_units(partition: Partition) -> Ints:
    """The unit of each share: a cut of people gives shares of grains, which are parts of units."""
    part_of = partition.points.part_of
    return partition.point if part_of is None else part_of[partition.point]


def measure_each_class(tree: Filtration, partition: Partition) -> Floats:
    """The radius of the rows of each class."""
    points, point, group = tree.units, find_units(partition), partition.group
    if tree.metric == "ball":
        return measure_balls(points, point, group)
    order = np.argsort(group, kind="stable")
    codes, starts = points.codes[point[order]].astype(np.int64), group[order].searchsorted(range(partition.classes))
    return box_radii(points, np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts))


def search_cuts(tree: Filtration, k: int, how: Cut, threads: int) -> tuple[Partition, Partition]:
    """The minimal and the local cut; in boxes of rows, one search serves both, since the minimal cut begins with it."""
    report(f"cutting at k={k}")
    units = tree.units
    if tree.metric == "box" and units.person is None:
        run, effort = Run(threads, derive_seed(units, how.seed)), choose_effort([k], how.effort)
        local = next(cut_local(units, [k], how, run))
        return protect_labels(narrow_local(units, k, local, effort, run)), protect_labels(local)
    searched = tree.metric if units.person is None else "box"
    cuts = (msgspec.structs.replace(how, cut="minimal", metric=searched), how)
    minimal, local = (next(cut_points(units, [k], cut, Goal(k=k), threads=threads)) for cut in cuts)
    return minimal, local


def bound_radius(tree: Filtration, k: int, minimal: Partition, threads: int) -> float:
    """The radius below which no partition into classes of k exists.

    Where k counts people, the bound of rows holds in boxes, and so does that of the nearest people.
    """
    units, bounds = tree.units, list[float]()
    if minimal.eps_bound is not None and (tree.metric == "box" or units.person is None):
        bounds.append(minimal.eps_bound)
    if not bounds or units.person is not None:
        bounds.append(float(compute_hiding_radii(units, tree.metric, k, threads=threads).at(k).max()))
    return max(bounds)


def find_widest_radius(tree: Filtration, partition: Partition) -> float:
    """The radius of the widest class of a partition."""
    if tree.metric == "box" or (tree.units.person is None and partition.eps is not None):
        return largest_radius(partition)
    return widest_ball(partition.points, partition.point, partition.group)

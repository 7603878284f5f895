"""Meeting goals: from classes of k rows to classes that also keep the goals for the sensitive columns.

A class that breaks a goal trades rows with its neighbours or is merged with one, whichever adds less loss, until all
hold; what has become too large is parted again where both parts hold.  Merging never breaks a goal that holds
(models.py), so this always ends.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from kech._kernels import Aims, repair_classes
from kech.cuts import Wishes
from kech.cuts.local import enforce_monotone_loss
from kech.cuts.protection import expected_widths
from kech.errors import GoalNotMet
from kech.points.models import hold, spell_figures, worst_figures
from kech.points.partition import Partition, build_partition, deal, mean_loss, tally_sensitive
from kech.points.points import Points, SensitiveValues
from kech.request import Goal
from kech.request.parts import L_KINDS
from kech.system.progress import report

DOUBLINGS = 5  # cuts of 2, 4, 8, ... times the rows are offered too: hard goals need large classes
HARD = 0.5  # where repair leaves fewer classes than this share, the whole table is parted from above as well


def cut_for_goals(
    cut: Callable[[Points, Sequence[int], Wishes], Iterator[Partition]],
    points: Points,
    ks: Sequence[int],
    wishes: Wishes,
) -> Iterator[Partition]:
    """A partition for each k that keeps the goals; the best of the cuts for k and for larger k, each repaired."""
    goals = wishes.goals or Goal()
    check_reachable(points, goals)
    starts = start_sizes(ks, goals, points.rows)
    made: dict[int, Partition] = {}
    for k, found in zip(starts, cut(points, starts, replace(wishes, goals=None)), strict=True):
        report("meeting goals", len(made) / len(starts))
        made[k] = meet_goals(found, k, goals, part=wishes.part)
    sizes = sorted({*ks, *starts})
    best = enforce_monotone_loss(sizes, [made.get(k, made[starts[0]]) for k in sizes])
    return iter([best[sizes.index(k)] for k in ks])


def start_sizes(ks: Sequence[int], goals: Goal, rows: int) -> list[int]:
    """The k to cut for: at least as many rows as any goal needs, and the largest one doubled a few times."""
    sizes = {max(k, goals.least_rows) for k in ks}
    sizes |= {max(sizes) << doubling for doubling in range(1, DOUBLINGS + 1)}
    return sorted(size for size in sizes if size <= rows)


def meet_goals(partition: Partition, k: int, goals: Goal, *, part: bool = True) -> Partition:
    """A partition that keeps the goals, from one whose classes have k rows; all rows as one class must keep them."""
    dealt = deal(partition)
    if hold(goals, tally_sensitive(dealt)):
        return dealt
    mended = repair(dealt, k, goals, part=part, apart=False)
    if mended.classes > HARD * dealt.classes:
        return mended
    return min(mended, repair(one_class(dealt), k, goals, part=part, apart=True), key=mean_loss)


def repair(dealt: Partition, k: int, goals: Goal, *, part: bool, apart: bool) -> Partition:
    """Merge what breaks a goal, then part what was merged, or everything; without `part`, equal rows stay together."""
    points = dealt.points
    assert points.sensitive is not None
    aims, values = build_aims(goals, points.sensitive), points.sensitive.codes
    shares = (dealt.point, dealt.group, dealt.rows)
    return build_partition(
        points, *repair_classes(points.codes, values, expected_widths(points), k, aims, *shares, part, apart)
    )


def build_aims(goals: Goal, sensitive: SensitiveValues) -> Aims:
    """The goals as the kernel knows them."""
    ordered = [goals.t_kind == "ordered" and column.ordered for column in sensitive.columns]
    t, alpha = (inf if goal is None else goal for goal in (goals.t, goals.alpha))
    return Aims(L_KINDS.index(goals.l_kind), goals.l or 0.0, goals.c or 0.0, t, alpha, ordered)


def one_class(partition: Partition) -> Partition:
    """All published rows together."""
    return build_partition(partition.points, partition.point, np.zeros_like(partition.group), partition.rows)


def check_reachable(points: Points, goals: Goal) -> None:
    """What all rows together do not reach, no partition does."""
    everybody = np.arange(len(points.weights))
    whole = deal(build_partition(points, everybody, np.zeros_like(everybody), points.weights))
    check_goals(whole, goals, "and all rows as one class, which is the best there is, reach")


def check_goals(partition: Partition, goals: Goal, where: str) -> None:
    """Refuse a partition that breaks a goal; figures only, no value is named."""
    tallies = tally_sensitive(partition)
    if not hold(goals, tallies):
        asked = spell_figures({name: goal for name, goal in goals.for_values().items() if not isinstance(goal, str)})
        names = ", ".join(repr(name) for name in broken_columns(partition, goals))
        raise GoalNotMet(
            f"{asked} was asked, {where} {spell_figures(worst_figures(goals, tallies))} ({names}). Ask for less."
        )


def broken_columns(partition: Partition, goals: Goal) -> list[str]:
    """The sensitive columns that break a goal."""
    sensitive = partition.points.sensitive
    assert sensitive is not None
    pairs = zip(sensitive.columns, tally_sensitive(partition), strict=True)
    return [held.column for held, tally in pairs if not hold(goals, [tally])]

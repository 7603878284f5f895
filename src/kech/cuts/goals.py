"""Meeting goals: from classes of k rows to classes that also keep the goals for the sensitive columns.

A class that breaks a goal trades rows with its neighbours or is merged with one, whichever adds less loss, until all
hold; what has become too large is parted again where both parts hold.  Repair goes by widths, also where the objective
is variance; whole partitions are then compared by variance.  Merging never breaks a goal that holds by rows
(models.py), so what all rows as one class miss by rows is refused.  By people merging may break one: a person in both
classes counts once.  Then what was repaired is published where it holds, also if all rows as one class do not.
"""

from collections.abc import Callable, Iterator, Sequence
from math import inf

import numpy as np

from kech._kernels import Aims, repair_classes
from kech.cuts.local import Run, SearchedCut, enforce_monotone_loss, protected_loss
from kech.cuts.protection import expected_widths, protect_labels
from kech.cuts.variance import find_variance
from kech.errors import GoalNotMet
from kech.points.models import all_classes_meet, format_figures, worst_figures
from kech.points.partition import (
    Partition,
    assign_grains,
    build_partition,
    mean_loss,
    merge_all_classes,
    tally_people,
    tally_sensitive,
)
from kech.points.points import Points, SensitiveValues
from kech.request import Cut, Goal
from kech.request.parts import L_KINDS
from kech.system.console import report

Worth = Callable[[Partition], float]  # of two partitions the one of less is better

UNMET = "No partition that kech tried reaches it by people, and all rows in one class reach"
DOUBLINGS = 5  # cuts of 2, 4, 8, ... times the rows are offered too: hard goals need large classes
MOST_REPAIRS = 4  # of classes that break a goal by people because they are printed alike; one was enough so far
HARD = 0.5  # where repair leaves fewer classes than this share, the whole table is parted from above as well


def cut_for_goals(
    cut_searched: SearchedCut, goal: Goal, points: Points, ks: Sequence[int], cut: Cut, run: Run
) -> Iterator[Partition]:
    """A partition for each k that keeps the goals; the best of the cuts for k and for larger k, each repaired."""
    whole, by_variance = check_reachable(points, goal), cut.objective == "variance"
    worth, draft_worth = (find_variance, find_variance) if by_variance else (protected_loss, mean_loss)
    repaired: dict[int, Partition] = {}
    for starts in start_sizes(ks, goal, points.people):
        partitions = list(cut_searched(points, starts, cut, run))
        if repaired and is_dearer(partitions[-1], list(repaired.values())[-1], goal, worth):
            break
        for k, partition in zip(starts, partitions, strict=True):
            report("meeting goals")
            repaired[k] = meet_goals(partition, k, goal, split_points=run.split_points, worth=draft_worth)
    if not keeps_goals(whole, goal):
        repaired = {k: partition for k, partition in repaired.items() if keeps_goals(partition, goal)}
    if max(repaired, default=0) < max(ks):
        check_goals(whole, goal, UNMET)
    sizes = sorted({*ks, *repaired})
    best = enforce_monotone_loss(sizes, [repaired[min(j for j in repaired if j >= k)] for k in sizes], worth)
    return iter([best[sizes.index(k)] for k in ks])


def start_sizes(ks: Sequence[int], goal: Goal, people: int) -> Iterator[list[int]]:
    """The k to cut for: first those with at least as many rows as any goal needs, then the largest doubled, one by one.

    One person may hold several values, so a goal may need more rows than there are people.
    """
    sizes = sorted({max(k, min(goal.least_rows, people)) for k in ks if k <= people})
    yield sizes
    yield from ([sizes[-1] << doubling] for doubling in range(1, DOUBLINGS + 1) if sizes[-1] << doubling <= people)


def is_dearer(larger: Partition, repaired: Partition, goal: Goal, worth: Worth) -> bool:
    """Whether a cut for a larger k loses more than what was repaired for a smaller one.

    Its own repair can only add to that, and a still larger k loses still more.
    """
    return keeps_goals(repaired, goal) and worth(larger) >= worth(repaired)


def meet_goals(
    partition: Partition, k: int, goal: Goal, *, split_points: bool = True, worth: Worth = mean_loss
) -> Partition:
    """A partition that keeps the goals, from one whose classes have k rows.

    By people it may keep them only where all rows as one class do.
    """
    assigned = assign_grains(partition)
    if keeps_goals(assigned, goal):
        return assigned
    repaired = repair(assigned, k, goal, split_points=split_points, part_all=False)
    if repaired.classes > HARD * assigned.classes:
        return repaired
    parted = repair(merge_all_classes(assigned), k, goal, split_points=split_points, part_all=True)
    return min(repaired, parted, key=worth)


def repair(assigned: Partition, k: int, goal: Goal, *, split_points: bool, part_all: bool) -> Partition:
    """Classes that keep the goals.  Those that are printed alike are one, which can break a goal by people: such
    classes are repaired again, and where that does not end, all rows are one class.
    """
    repaired = repair_once(assigned, k, goal, split_points=split_points, part_all=part_all)
    for _ in range(MOST_REPAIRS):
        if repaired.points.person is None or keeps_goals(repaired, goal):
            return repaired
        repaired = repair_once(repaired, k, goal, split_points=split_points, part_all=False)
    return merge_all_classes(assigned)


def repair_once(assigned: Partition, k: int, goal: Goal, *, split_points: bool, part_all: bool) -> Partition:
    """Merge what breaks a goal, then part what was merged, or everything; `split_points` may part equal rows."""
    points = assigned.points
    assert points.sensitive is not None
    aims, values = build_aims(goal, points.sensitive), points.sensitive.codes
    shares = (assigned.point, assigned.group, assigned.rows)
    how = (expected_widths(points), k, aims, *shares, split_points, part_all, points.person)
    return build_partition(points, *repair_classes(points.codes, values, *how))


def protect_for_goals(partition: Partition, k: int, goal: Goal, *, split_points: bool) -> Partition:
    """A partition that keeps the goals as it is published: protected labels can make two classes one."""
    protected = protect_labels(partition)
    for _ in range(MOST_REPAIRS):
        if (
            protected.points.person is None
            or not goal.has_sensitive_goals
            or keeps_goals(assign_grains(protected), goal)
        ):
            return protected
        protected = protect_labels(repair(assign_grains(protected), k, goal, split_points=split_points, part_all=False))
    protected = protect_labels(merge_all_classes(assign_grains(partition)))
    check_goals(assign_grains(protected), goal, UNMET)
    return protected


def merge_for_goals(partition: Partition, k: int, goal: Goal) -> Partition:
    """The classes at hand, merged and parted until they keep the goals; quick, since nothing is searched anew."""
    classes = build_partition(partition.points, partition.point, partition.group, partition.rows)
    return protect_for_goals(repair(classes, k, goal, split_points=True, part_all=False), k, goal, split_points=True)


def build_aims(goal: Goal, sensitive: SensitiveValues) -> Aims:
    """The goals as the kernel knows them."""
    ordered = [goal.t_kind == "ordered" and column.ordered for column in sensitive.columns]
    t, alpha = (inf if limit is None else limit for limit in (goal.t, goal.alpha))
    return Aims(list(L_KINDS).index(goal.l_kind), goal.l or 0.0, goal.c or 0.0, t, alpha, ordered)


def check_reachable(points: Points, goal: Goal) -> Partition:
    """All rows as one class; refuse goals that they do not reach by rows, since then no partition reaches them.

    Counted by people, smaller classes may reach a goal that all rows together do not: that is not refused here.
    """
    everybody = np.arange(len(points.weights))
    whole = assign_grains(build_partition(points, everybody, np.zeros_like(everybody), points.weights))
    if not all_classes_meet(goal, tally_sensitive(whole)):
        check_goals(whole, goal, "Even all rows in one class reach")
    return whole


def check_goals(partition: Partition, goal: Goal, what_reaches: str) -> None:
    """Refuse a partition that breaks a goal; the message has figures only and names no value."""
    tallies = [*tally_sensitive(partition), *tally_people(partition)]
    if not all_classes_meet(goal, tallies):
        goals = format_figures(
            {name: value for name, value in goal.sensitive_goals().items() if not isinstance(value, str)}
        )
        names = ", ".join(repr(name) for name in broken_columns(partition, goal))
        figures = format_figures(worst_figures(goal, tallies))
        raise GoalNotMet(f"You asked for {goals}. {what_reaches} {figures} ({names}). Ask for less.")


def broken_columns(partition: Partition, goal: Goal) -> list[str]:
    """The sensitive columns that break a goal."""
    sensitive = partition.points.sensitive
    assert sensitive is not None
    by_rows, by_people = tally_sensitive(partition), tally_people(partition)
    tallies = zip(by_rows, by_people or by_rows, strict=True)
    return [
        column.column
        for column, pair in zip(sensitive.columns, tallies, strict=True)
        if not all_classes_meet(goal, pair)
    ]


def keeps_goals(partition: Partition, goal: Goal) -> bool:
    """Whether every class keeps the goals, counted by rows and, where there are people, by people too."""
    return all_classes_meet(goal, [*tally_sensitive(partition), *tally_people(partition)])

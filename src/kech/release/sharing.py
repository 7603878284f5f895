"""Shared values: the rows whose class gives a sensitive value away, and what it costs to hide it.

In: the partition of a release and its request, or points.  Out: shares of the rows, and the loss once every class has
two values.
"""

from collections.abc import Callable
from math import ceil
from typing import Any

import msgspec

from kech.cuts import cut_points
from kech.cuts.goals import keeps_goals, merge_for_goals
from kech.points.models import distinct_values
from kech.points.partition import Partition, mean_loss, merge_all_classes, tally_sensitive
from kech.points.points import Points
from kech.release.column_costs import FIRST_CUT
from kech.request import Goal, Request

FindLoss = Callable[[Partition], float]


def weigh_shared_values(
    partition: Partition, request: Request, find_loss: FindLoss | None = mean_loss
) -> dict[str, Any]:
    """Of each sensitive column the share of the rows whose class has one value, and the loss with two in every class.

    For it, the classes at hand are merged where they share a value.  A release with l = 2 searches too.
    `find_loss` is that of the loss it is compared with; without it, there is no price.
    """
    shares = find_shared(partition)
    return {
        "given_away": shares,
        "loss_with_l_2": price_diversity(partition, request, find_loss) if shares and find_loss else None,
    }


def estimate_given_away(points: Points, k: int, *, threads: int = 1) -> dict[str, float]:
    """For each sensitive column the share of rows whose value their class would give away, by a first cut."""
    if points.people < 2 * k:
        return {}
    (partition,) = cut_points(points, [k], FIRST_CUT, Goal(), threads=threads)
    return find_shared(partition)


def find_shared(partition: Partition) -> dict[str, float]:
    """The share of the published rows whose class has one value, of each sensitive column that has such rows."""
    sensitive, shares = partition.points.sensitive, dict[str, float]()
    for column, tally in zip(sensitive.columns if sensitive else (), tally_sensitive(partition), strict=True):
        alike = int(tally.sizes[distinct_values(tally) == 1].sum())
        shares |= {column.column: alike / int(tally.sizes.sum())} if alike else {}
    return shares


def round_price(loss: float | None) -> float | None:
    """A price as certificates state it: rounded up to three digits, so that it tells little of single rows.

    >>> round_price(0.12301), round_price(1.0), round_price(None)
    (0.124, 1.0, None)
    """
    return None if loss is None else min(1.0, ceil(round(loss * 1000, 9)) / 1000)


def price_diversity(partition: Partition, request: Request, find_loss: FindLoss) -> float | None:
    """What the classes lose once each has two values; None where a cut does not merge classes, or nothing mends it."""
    goal = msgspec.structs.replace(request.goal, l=2, l_kind="distinct", c=None)
    if not request.cut.is_searched or goal.protect_history or not keeps_goals(merge_all_classes(partition), goal):
        return None
    return find_loss(merge_for_goals(partition, goal.k or partition.k, goal))

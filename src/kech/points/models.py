"""Models: the privacy figures of classes for sensitive columns (l, t, alpha), and whether they meet the goals.

In: class, value and rows of each share of one sensitive column.  Out: a figure for each class; whether it meets a goal.

When two classes merge, the merged one is no worse than the worse of the two, in every figure with a goal.
With C = A + B its shares p_C lie between p_A and p_B, p_C = x p_A + (1 - x) p_B, and

- distinct values only become more;
- entropy is concave, so it is at least the smaller one;
- t and alpha are convex in p, so each is at most the larger one;
- the sum of the h largest counts is subadditive: so r_1(C) <= r_1(A) + r_1(B), and what C has from the l-th count on is
  at least what A and B have together: if r_1 < c (r_l + r_(l+1) + ...) in both, it holds in C.

Hence goals that are met stay met while classes merge, and one class of all rows has the best value of every figure.

Counted by people this is true of distinct values only: a person of both classes counts once in the merged one, so
p_C need not lie between p_A and p_B.  Code that merges classes of people must check the goals again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.axes.grid import Floats, Ints
from kech.request import Goal
from kech.request.parts import ROUNDING

LOWER_LIMITS = ("l",)  # goals that are lower limits; all others are upper limits

# -- figures of each class ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ValueCounts:
    """The rows of each class and value of one sensitive column; entries ascend by class, then value.

    Values are numbered from 0 in their order, and all of them occur.
    """

    group: Ints
    value: Ints
    rows: Ints  # or different people with the value
    ordered: bool
    people: Ints | None = None  # of each class, where people are counted: a person may have several values
    holders: Ints | None = None  # people with each value in the table, where people are counted

    @cached_property
    def first(self) -> Ints:
        """The first entry of each class."""
        return np.flatnonzero(np.r_[True, np.diff(self.group) > 0])

    @cached_property
    def shares(self) -> Floats:
        """p: the share of each entry in its class."""
        return np.asarray(self.rows / self.sizes[self.group])

    @cached_property
    def sizes(self) -> Ints:
        """Rows of each class."""
        return np.add.reduceat(self.rows, self.first)

    @cached_property
    def overall(self) -> Floats:
        """q: the share of each value in the table."""
        total = np.bincount(self.value, weights=self.rows) if self.holders is None else self.holders
        return np.asarray(total / total.sum())

    def figure_per_class(self, figure: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        """A reduction (sum, maximum) over the entries of each class."""
        return np.asarray(figure.reduceat(values, self.first))


def count_values(group: Ints, value: NDArray[Any], rows: Ints, *, ordered: bool) -> ValueCounts:
    """The tally of these shares; classes ascend from 0, and values that do not occur are omitted."""
    values, value = np.unique(value, return_inverse=True)
    key, inverse = np.unique(group * len(values) + value.ravel(), return_inverse=True)
    total = np.bincount(inverse.ravel(), weights=rows).astype(np.int64)
    return ValueCounts(key // len(values), key % len(values), total, ordered)


def distinct_values(tally: ValueCounts) -> Ints:
    """Distinct l-diversity: the number of values of each class."""
    return tally.figure_per_class(np.add, np.ones(len(tally.rows), np.int64))


def entropy_values(tally: ValueCounts) -> Floats:
    """Entropy l-diversity of each class: exp(- sum_v p(v) log p(v))."""
    return np.asarray(np.exp(-tally.figure_per_class(np.add, tally.shares * np.log(tally.shares))))


def recursive_factors(tally: ValueCounts, l: int) -> Floats:  # noqa: E741
    """Recursive (c, l)-diversity: r_1 / (r_l + r_(l+1) + ...), which must be below c; inf with fewer than l values.

    r_1 >= r_2 >= ... are the rows of the values of a class.
    """
    by_rows = tally.rows[np.lexsort((-tally.rows, tally.group))]
    rank = np.arange(len(by_rows)) - tally.first[tally.group]
    tail = tally.figure_per_class(np.add, np.where(rank >= l - 1, by_rows, 0))
    factors = np.full(len(tail), inf)
    np.divide(by_rows[tally.first], tail, out=factors, where=tail > 0)
    return factors


def largest_shares(tally: ValueCounts) -> Floats:
    """(alpha, k)-anonymity: the share of the most frequent value, in the rows or the people of a class."""
    if tally.people is None:
        return tally.figure_per_class(np.maximum, tally.shares)
    return np.asarray(tally.figure_per_class(np.maximum, tally.rows) / tally.people)


def equal_distances(tally: ValueCounts) -> Floats:
    """t-closeness with all values equally far apart: sum_v max(0, p(v) - q(v))."""
    return tally.figure_per_class(np.add, np.maximum(0.0, tally.shares - tally.overall[tally.value]))


def ordered_distances(tally: ValueCounts) -> Floats:
    """t-closeness with m values on a line: 1 / (m - 1) sum_i |P(i) - Q(i)|, P and Q the shares up to value i.

    Between two values of a class P is constant, and Q ascends.  So the sum there follows from cumulative sums of Q.
    """
    steps = len(tally.overall) - 1
    if steps < 1:
        return np.zeros(len(tally.sizes))
    overall = np.cumsum(tally.overall)
    sums = np.r_[0.0, np.cumsum(overall)]
    last = np.r_[tally.first[1:], len(tally.rows)] - 1
    stop = np.r_[tally.value[1:], 0]
    stop[last] = steps
    up_to = np.cumsum(tally.shares)
    up_to -= np.r_[0.0, up_to[last[:-1]]][tally.group]
    before = area_between(overall, sums, np.zeros(len(last)), np.zeros(len(last), np.int64), tally.value[tally.first])
    after = tally.figure_per_class(np.add, area_between(overall, sums, up_to, np.minimum(tally.value, stop), stop))
    return np.asarray((before + after) / steps)


def area_between(overall: Floats, sums: Floats, level: Floats, start: Ints, stop: Ints) -> Floats:
    """The sum of |level - Q(i)| for i in [start, stop), from Q = `overall` and its cumulative sums."""
    cross = np.clip(np.searchsorted(overall, level, side="right"), start, stop)
    below = level * (cross - start) - (sums[cross] - sums[start])
    return below + (sums[stop] - sums[cross]) - level * (stop - cross)


# -- goals -------------------------------------------------------------------------------------------------


def class_figures(goals: Goal, tally: ValueCounts) -> dict[str, NDArray[Any]]:
    """For every goal that is set the figure of each class; ordered t only where the column has an order."""
    figures: dict[str, NDArray[Any]] = {}
    if goals.l is not None and goals.l_kind == "distinct":
        figures["l"] = distinct_values(tally)
    elif goals.l is not None and goals.l_kind == "entropy":
        figures["l"] = entropy_values(tally)
    elif goals.l is not None:
        figures["c"] = recursive_factors(tally, int(goals.l))
    if goals.t is not None:
        ordered = goals.t_kind == "ordered" and tally.ordered
        figures["t"] = (ordered_distances if ordered else equal_distances)(tally)
    if goals.alpha is not None:
        figures["alpha"] = largest_shares(tally)
    return figures


def classes_meet(goals: Goal, tally: ValueCounts) -> NDArray[np.bool_]:
    """Whether each class meets the goals for one sensitive column."""
    is_met = np.ones(len(tally.sizes), bool)
    for name, figure in class_figures(goals, tally).items():
        bound = getattr(goals, name)
        is_met &= (
            figure >= bound - ROUNDING
            if name in LOWER_LIMITS
            else figure < bound
            if name == "c"
            else figure <= bound + ROUNDING
        )
    return is_met


def all_classes_meet(goals: Goal, tallies: Sequence[ValueCounts]) -> bool:
    """Whether all classes meet the goals for all sensitive columns."""
    return all(bool(classes_meet(goals, tally).all()) for tally in tallies)


def worst_figures(goals: Goal, tallies: Sequence[ValueCounts]) -> dict[str, float]:
    """For every goal that is set the worst figure of any class and column."""
    figures_of_columns = [class_figures(goals, tally) for tally in tallies]
    worst = {name: np.min if name in LOWER_LIMITS else np.max for name in figures_of_columns[0]}
    return {name: worst[name]([worst[name](figures[name]) for figures in figures_of_columns]).item() for name in worst}


def format_figures(figures: dict[str, float]) -> str:
    """Figures as `l = 2, t = 0.25`."""
    return ", ".join(f"{name} = {value:.4g}" for name, value in figures.items())

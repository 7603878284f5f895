"""Models against their definitions, row by row, in whole numbers; and the law of merging."""

import math
from collections import Counter
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from kech.errors import BadOption
from kech.points.models import (
    count_values,
    distinct_values,
    entropy_values,
    equal_distances,
    hold,
    keeps,
    largest_shares,
    ordered_distances,
    recursive_factors,
    worst_figures,
)
from kech.request import Goal
from strategies import unhurried

quick = settings(unhurried, max_examples=50)

value_lists = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=9), min_size=1, max_size=5)


def tally(classes, ordered=True):
    """Each class a list of values, one a row."""
    group = np.repeat(np.arange(len(classes)), [len(values) for values in classes])
    value = np.concatenate([np.array(values) for values in classes])
    return count_values(group, value, np.ones(len(group), np.int64), ordered=ordered)


def shares(values, everybody):
    return [Fraction(values.count(v), len(values)) for v in sorted(set(everybody))]


def moved(p, q, distance):
    """Earth mover's distance as a linear program: the least work that turns p into q."""
    m = len(p)
    cost = [distance(i, j) for i in range(m) for j in range(m)]
    out = [[1 if i == row else 0 for i in range(m) for _ in range(m)] for row in range(m)]
    into = [[1 if j == column else 0 for _ in range(m) for j in range(m)] for column in range(m)]
    return linprog(cost, A_eq=out + into, b_eq=[float(x) for x in [*p, *q]], method="highs").fun


def brute_factor(values, depth):
    counts = sorted(Counter(values).values(), reverse=True)
    return Fraction(counts[0], sum(counts[depth - 1 :])) if len(counts) >= depth else math.inf


@given(value_lists, st.integers(1, 4))
@unhurried
def test_figures_are_those_of_the_definitions(classes, depth):
    found, everybody = tally(classes), list(chain(*classes))
    q = shares(everybody, everybody)
    for i, values in enumerate(classes):
        p = shares(values, everybody)
        steps = max(len(q) - 1, 1)
        cumulated = [sum(p[: j + 1]) - sum(q[: j + 1]) for j in range(len(q))]

        assert distinct_values(found)[i] == len(set(values))
        assert entropy_values(found)[i] == pytest.approx(math.exp(-sum(x * math.log(x) for x in p if x)))
        assert recursive_factors(found, depth)[i] == pytest.approx(float(brute_factor(values, depth)))
        assert largest_shares(found)[i] == pytest.approx(float(max(p)))
        assert equal_distances(found)[i] == pytest.approx(float(sum(map(abs, map(Fraction.__sub__, p, q))) / 2))
        assert ordered_distances(found)[i] == pytest.approx(float(sum(map(abs, cumulated)) / steps), abs=1e-12)


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=6), min_size=2, max_size=3))
@quick
def test_distances_are_the_least_work(classes):
    found, everybody = tally(classes), list(chain(*classes))
    q, steps = shares(everybody, everybody), max(len(set(everybody)) - 1, 1)
    for i, values in enumerate(classes):
        p = shares(values, everybody)
        assert equal_distances(found)[i] == pytest.approx(moved(p, q, lambda a, b: float(a != b)), abs=1e-7)
        assert ordered_distances(found)[i] == pytest.approx(moved(p, q, lambda a, b: abs(a - b) / steps), abs=1e-7)


def test_the_salaries_of_the_paper_on_t_closeness():
    """Li, Li, Venkatasubramanian 2007, section 4.1: 0.375 for {3k, 4k, 5k}, 0.167 for {6k, 8k, 11k}."""
    salaries = [[3, 4, 5], [6, 8, 11], [7, 9, 10]]
    assert ordered_distances(tally(salaries))[:2] == pytest.approx([0.375, 1 / 6])


def test_one_value_tells_nothing_new():
    found = tally([[3, 3], [3]])
    for figure in (equal_distances, ordered_distances):
        assert figure(found).tolist() == [0, 0]
    assert entropy_values(found).tolist() == [1, 1]
    assert recursive_factors(found, 2).tolist() == [math.inf, math.inf]


# The law of merging


goals = st.one_of(
    st.builds(Goal, l=st.integers(1, 4)),
    st.builds(Goal, l=st.floats(1, 4), l_kind=st.just("entropy")),
    st.builds(Goal, l=st.integers(1, 3), l_kind=st.just("recursive"), c=st.floats(0.2, 5)),
    st.builds(Goal, t=st.floats(0, 1), t_kind=st.sampled_from(["equal", "ordered"])),
    st.builds(Goal, alpha=st.floats(0.1, 1)),
)


@given(value_lists.filter(lambda classes: len(classes) > 1), goals)
@unhurried
def test_what_holds_goes_on_holding_while_classes_merge(classes, goal):
    before = keeps(goal, tally(classes))
    after = keeps(goal, tally([classes[0] + classes[1], *classes[2:]]))

    assert after[0] or not (before[0] and before[1])
    assert after[1:].tolist() == before[2:].tolist()


@given(value_lists.filter(lambda classes: len(classes) > 1), st.integers(1, 3))
@unhurried
def test_a_merged_class_is_no_worse_than_the_worse_of_two(classes, depth):
    two, one = tally(classes), tally([classes[0] + classes[1], *classes[2:]])
    for figure in (distinct_values, entropy_values):
        assert figure(one)[0] >= figure(two)[:2].min() - 1e-12
    rising = [largest_shares, equal_distances, ordered_distances]
    for figure in [*rising, lambda found: recursive_factors(found, depth)]:
        assert figure(one)[0] <= figure(two)[:2].max() + 1e-12


@given(value_lists, goals)
@unhurried
def test_all_rows_together_reach_the_best_of_all(classes, goal):
    together = tally([list(chain(*classes))])
    if hold(goal, [tally(classes)]):
        assert hold(goal, [together])
    figures, best = worst_figures(goal, [tally(classes)]), worst_figures(goal, [together])
    assert all(best[x] >= figures[x] - 1e-12 if x == "l" else best[x] <= figures[x] + 1e-12 for x in figures)


@given(value_lists, goals)
@unhurried
def test_no_class_smaller_than_the_least_holds(classes, goal):
    sizes = np.array([len(values) for values in classes])
    assert not (keeps(goal, tally(classes)) & (sizes < goal.least_rows)).any()


# Goals


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        ({"l": 0}, "l:"),
        ({"l": 0.5, "l_kind": "entropy"}, "l:"),
        ({"l": 2.5}, "l: distinct"),
        ({"l": math.nan}, "l:"),
        ({"l": math.inf, "l_kind": "entropy"}, "l:"),
        ({"l": 2, "l_kind": "other"}, "l_kind:"),
        ({"l": 2, "l_kind": "recursive"}, "c:"),
        ({"l": 2, "c": 2}, "c:"),
        ({"c": 2}, "c:"),
        ({"l": 2, "l_kind": "recursive", "c": 0}, "c:"),
        ({"l": 2, "l_kind": "recursive", "c": math.inf}, "c:"),
        ({"t": -0.1}, "t:"),
        ({"t": 1.1}, "t:"),
        ({"t": math.nan}, "t:"),
        ({"t": 0.1, "t_kind": "hierarchical"}, "t_kind:"),
        ({"alpha": 0}, "alpha:"),
        ({"alpha": 1.5}, "alpha:"),
    ],
)
def test_goals_that_mean_nothing_are_refused(wish, says):
    with pytest.raises(BadOption, match=f"^{says}"):
        Goal(**wish)


@pytest.mark.parametrize("wish", [{"l": 2}, {"t": 0.5}, {"alpha": 0.5}])
def test_goals_need_a_sensitive_column(wish):
    with pytest.raises(BadOption, match=r"sensitive=\[COLUMN\]"):
        Goal(**wish).check_sensitive([])


def test_no_wish_is_no_goal():
    assert not Goal(k=5).is_for_values
    assert Goal(l=2.0).for_values() == {"l": 2, "l_kind": "distinct"}

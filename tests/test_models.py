"""Models against their definitions, row by row, in whole numbers; and the law of merging."""

import math
from itertools import chain, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from cutting import say_goal
from kech.errors import BadOption
from kech.points.models import class_figures, classes_meet, count_values
from oracles import recursive_factor, shares_of, value_figures, values_keep
from strategies import unhurried

quick = settings(unhurried, max_examples=50)

value_lists = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=9), min_size=1, max_size=5)


def tally(classes, ordered=True):
    """Each class a list of values, one a row."""
    group = np.repeat(np.arange(len(classes)), [len(values) for values in classes])
    value = np.concatenate([np.array(values) for values in classes])
    return count_values(group, value, np.ones(len(group), np.int64), ordered=ordered)


def figure_of(name, **goal):
    """The figure of each class that decides about a goal."""
    return lambda found: class_figures(say_goal(**goal), found)[name]


distinct_values, entropy_values = figure_of("l", l=1), figure_of("l", l=1, l_kind="entropy")
largest_shares = figure_of("alpha", alpha=1)
equal_distances, ordered_distances = (figure_of("t", t=1, t_kind=kind) for kind in ("equal", "ordered"))


def recursive_factors(found, depth):
    return figure_of("c", l=depth, l_kind="recursive", c=1)(found)


def moved(p, q, distance):
    """Earth mover's distance as a linear program: the least work that turns p into q."""
    m = len(p)
    cost = [distance(i, j) for i in range(m) for j in range(m)]
    out = [[1 if i == row else 0 for i in range(m) for _ in range(m)] for row in range(m)]
    into = [[1 if j == column else 0 for _ in range(m) for j in range(m)] for column in range(m)]
    return linprog(cost, A_eq=out + into, b_eq=[float(x) for x in [*p, *q]], method="highs").fun


@given(value_lists, st.integers(1, 4))
@unhurried
def test_figures_are_those_of_the_definitions(classes, depth):
    found, everybody = tally(classes), list(chain(*classes))
    for i, values in enumerate(classes):
        defined = value_figures(values, everybody)

        assert distinct_values(found)[i] == defined["l"]
        assert entropy_values(found)[i] == pytest.approx(defined["entropy_l"])
        assert recursive_factors(found, depth)[i] == pytest.approx(float(recursive_factor(values, depth)))
        assert largest_shares(found)[i] == pytest.approx(defined["alpha"])
        assert equal_distances(found)[i] == pytest.approx(defined["t"])
        assert ordered_distances(found)[i] == pytest.approx(defined["t_ordered"], abs=1e-12)


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=6), min_size=2, max_size=3))
@quick
def test_distances_are_the_least_work(classes):
    found, everybody = tally(classes), list(chain(*classes))
    q, steps = shares_of(everybody, everybody), max(len(set(everybody)) - 1, 1)
    for i, values in enumerate(classes):
        p = shares_of(values, everybody)
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
    st.builds(say_goal, l=st.integers(1, 4)),
    st.builds(say_goal, l=st.floats(1, 4), l_kind=st.just("entropy")),
    st.builds(say_goal, l=st.integers(1, 3), l_kind=st.just("recursive"), c=st.floats(0.2, 5)),
    st.builds(say_goal, t=st.floats(0, 1), t_kind=st.sampled_from(["equal", "ordered"])),
    st.builds(say_goal, alpha=st.floats(0.1, 1)),
)


@given(value_lists.filter(lambda classes: len(classes) > 1), goals)
@unhurried
def test_what_holds_goes_on_holding_while_classes_merge(classes, goal):
    before = classes_meet(goal, tally(classes))
    after = classes_meet(goal, tally([classes[0] + classes[1], *classes[2:]]))

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
    if classes_meet(goal, tally(classes)).all():
        assert classes_meet(goal, together).all()
    figures, best = class_figures(goal, tally(classes)), class_figures(goal, together)
    worst = {name: found.min() if name == "l" else found.max() for name, found in figures.items()}
    assert all(best[x][0] >= worst[x] - 1e-12 if x == "l" else best[x][0] <= worst[x] + 1e-12 for x in worst)


def close_goals(figures):
    """Goals that these figures of a class just reach, or just miss."""
    for off in (-0.01, 0.0, 0.01):
        yield say_goal(alpha=min(max(figures["alpha"] + off, 0.01), 1.0))
        yield say_goal(l=max(figures["entropy_l"] + off, 1.0), l_kind="entropy")
        for kind, name in (("equal", "t"), ("ordered", "t_ordered")):
            yield say_goal(t=min(max(figures[name] + off, 0.0), 1.0), t_kind=kind)
    yield from (say_goal(l=figures["l"] + more) for more in (0, 1))


@given(value_lists, st.data())
@unhurried
def test_classes_keep_a_goal_where_the_definition_says_so(classes, data):
    everybody = list(chain(*classes))
    near = list(close_goals(value_figures(data.draw(st.sampled_from(classes)), everybody)))
    for goal, ordered in product([data.draw(goals), *near], (False, True)):
        expected = [values_keep(goal, values, everybody, ordered) for values in classes]
        assert classes_meet(goal, tally(classes, ordered)).tolist() == expected


@given(value_lists, goals)
@unhurried
def test_no_class_smaller_than_the_least_holds(classes, goal):
    sizes = np.array([len(values) for values in classes])
    assert not (classes_meet(goal, tally(classes)) & (sizes < goal.least_rows)).any()


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
        say_goal(**wish)


@pytest.mark.parametrize("wish", [{"l": 2}, {"t": 0.5}, {"alpha": 0.5}])
def test_goals_need_a_sensitive_column(wish):
    with pytest.raises(BadOption, match=r"sensitive=\[COLUMN\]"):
        say_goal(**wish).check_sensitive([])


def test_no_wish_is_no_goal():
    assert not say_goal(k=5).has_sensitive_goals
    assert say_goal(l=2.0).sensitive_goals() == {"l": 2, "l_kind": "distinct"}

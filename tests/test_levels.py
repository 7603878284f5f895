from dataclasses import replace
from datetime import datetime
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kech
from kech import read_hierarchy
from kech.axes import build_line_axis, build_rank_axis, build_tree_axis
from kech.axes.levels import build_levels
from kech.points.points import build_points
from oracles import label_width
from strategies import axes, held_codes, kernel_widths, line_axes, seconds, tree_axes, unhurried

stepped = line_axes(grids=("levels",))


def held(axis, level):
    """Cells behind which there are values; nothing is ever printed for the others."""
    return np.unique(level.cells[held_codes(axis)])


def printed(axis, level):
    """The label of every such cell."""
    labels = level.labels()
    return [labels[cell] for cell in held(axis, level)]


def labels_of(axis):
    return [printed(axis, level) for level in build_levels(axis)]


def numbers(values, grid="levels", null=False):
    distinct, counts = np.unique(np.array(values, float), return_counts=True)
    return build_line_axis("c", distinct, counts, null, is_date=False, grid=grid)


# The paper's two trees

COUNTRIES = {
    0: ["Portugal", "Spain", "Hungary", "Poland", "USA", "Canada", "Brazil"],
    1: ["West Europe"] * 2 + ["East Europe"] * 2 + ["North America"] * 2 + ["South America"],
    2: ["Europe"] * 4 + ["America"] * 3,
    3: ["*"] * 7,
}


def test_the_levels_of_the_papers_countries():
    axis = build_tree_axis("country", COUNTRIES[0], read_hierarchy(COUNTRIES), False)

    assert labels_of(axis) == [
        ["Portugal", "Spain", "Hungary", "Poland", "USA", "Canada", "Brazil"],
        ["West Europe", "East Europe", "North America", "South America"],
        ["Europe", "America"],
        ["*"],
    ]
    assert build_levels(axis)[2].widths.tolist() == pytest.approx([3 / 6, 2 / 6])


# Laws


@given(st.one_of(axes, stepped))
@unhurried
def test_from_the_codes_up_to_one_cell_every_level_lies_in_the_next(drawn):
    axis, _ = drawn
    levels = build_levels(axis)

    assert levels[-1].size == 1
    for level in levels:
        assert level.cells.tolist() == sorted(level.cells.tolist())
        assert set(level.cells.tolist()) == set(range(level.size))
        assert len(level.cells) == axis.size
    for below, above in pairwise(levels):
        assert len(set(zip(below.cells.tolist(), above.cells.tolist(), strict=True))) == below.size


@given(st.one_of(axes, stepped))
@unhurried
def test_a_cell_is_as_wide_as_its_label(drawn):
    axis, _ = drawn
    for level in build_levels(axis):
        labels = printed(axis, level)
        public = level.axis.parameters(labels)
        widths = level.widths[held(axis, level)].tolist()
        assert widths == pytest.approx([label_width(label, public) for label in labels], abs=1e-9)
        assert np.array_equal(level.axis.close(level.lo, level.hi), (level.lo, level.hi))
        rare = axis.kind == "ordered" and level.axis.rare.any()  # ranges around rare values may reach equally far
        assert len(set(labels)) == len(labels) or rare


@given(tree_axes())
@unhurried
def test_kernels_know_the_widths_of_nodes(drawn):
    for level in build_levels(drawn[0]):
        kernel, codes = kernel_widths(level.axis), range(level.axis.size)
        for lo, hi in combinations_with_replacement(codes, 2):
            assert kernel.width(0, lo, hi) == level.axis.widths(np.array([lo]), np.array([hi]))[0]


@given(tree_axes(), st.data())
@unhurried
def test_leaves_that_are_not_held_are_not_counted(drawn, data):
    """The axis of a level over some leaves says what that of a tree of these leaves alone says."""
    axis, values = drawn
    axis = replace(axis, public_sizes=None, k=1)
    kept = data.draw(st.lists(st.sampled_from(values), unique=True, min_size=1))
    alone = build_tree_axis("c", kept, axis.tree, False, is_public=False)
    rows = np.bincount(axis.encode(kept), minlength=axis.size)
    for level, other in zip(build_levels(axis), build_levels(alone), strict=False):
        labels, measured = set(other.labels()), level.measure(rows)
        assert measured.parameters(labels) == other.axis.parameters(labels)
        assert labels <= {*level.labels(), *(["all"] if axis.has_null else [])}  # with NULL the top is `*`


@given(st.one_of(axes, stepped))
@unhurried
def test_null_is_a_cell_of_its_own_below_the_top(drawn):
    axis, _ = drawn
    for level in build_levels(axis)[:-1]:
        if axis.has_null:
            assert (level.cells == level.cells[axis.null]).sum() == 1
            assert printed(axis, level)[-1] is None


def is_even(drawn):
    """A grid whose cells differ in width is no lattice's: there, levels are steps, given or round."""
    return drawn[0].kind not in ("number", "date") or not drawn[0].has_tails


@given(st.one_of(axes.filter(is_even), stepped))
@unhurried
def test_going_up_no_code_gets_narrower(drawn):
    axis, _ = drawn
    codes = held_codes(axis)
    for below, above in pairwise(build_levels(axis)):
        slack = 0.01 if has_least_domain(below) else 1e-9
        assert (below.widths[below.cells[codes]] <= above.widths[above.cells[codes]] + slack).all()


def has_least_domain(level):
    """Edges within a millionth of their own size: the domain reaches a millionth beyond them, whatever their steps.

    Then its tails are nearly half of it each, and give way where the first edge of the next level lies lower.
    """
    if level.axis.kind != "number":
        return False
    edges = level.axis.low[np.isfinite(level.axis.low)]
    return len(edges) > 0 and level.axis.unit == 0 and np.ptp(edges) < 1e-6 * np.abs(edges).max() * len(edges)


def test_crowded_values_far_from_zero_may_narrow_their_tail_a_little():
    """Found by hypothesis: four values in a billionth of their size; the last tail falls from .4833 to .4831."""
    values = [9.99999971e-272, 9.99999974e-272, 1.000000035e-271, 1.000000097e-271]
    axis = build_line_axis("c", np.array(values), np.array([10, 1, 5, 1]), False, is_date=False, grid="levels")
    below, above = build_levels(axis)[:2]

    assert has_least_domain(below)
    assert below.labels()[-1] == above.labels()[-1]
    assert 0 < below.widths[-1] - above.widths[-1] < 0.001


@given(stepped)
@unhurried
def test_steps_are_equal_and_hide_by_themselves(drawn):
    """All edges of a level lie at one distance, or on the calendar, so they tell nothing of single rows."""
    axis, _ = drawn
    assert (axis.largest_k == np.iinfo(np.int64).max).all()
    for level in build_levels(axis)[:-1]:
        edges = level.axis.low
        gaps = np.diff(edges[np.isfinite(edges)])
        if len(gaps) and axis.is_date:
            assert gaps.max() <= gaps.min() * 1.15  # 28 days in February, 31 in March
        elif len(gaps):
            assert gaps.max() == pytest.approx(gaps.min(), rel=1e-3)


@given(stepped)
@unhurried
def test_there_are_at_most_eight_levels_of_steps(drawn):
    axis, _ = drawn
    assert len(build_levels(axis)) <= 8
    assert axis.size <= 120_000


# What the steps look like


def test_ages_have_steps_of_1_5_10_and_50():
    axis = numbers([*range(17, 91)] * 30)
    starts = [[x for x in level.axis.low if np.isfinite(x)] for level in build_levels(axis)]

    assert [np.diff(x)[0] if len(x) > 1 else None for x in starts] == [1, 5, 10, 50, None]
    assert labels_of(axis)[3] == ["<= 49", "[50, 99]"]


def test_a_few_very_rich_people_do_not_stretch_the_steps():
    axis = numbers([*range(1000, 3000), *range(10**6, 10**6 + 5)])

    assert ">= 3000" in labels_of(axis)[0]
    assert max(axis.low) == 3000


def test_days_months_years_and_tens_of_years():
    days = np.arange(seconds(datetime(1980, 3, 1)), seconds(datetime(2019, 8, 1)), 86400.0)
    axis = build_line_axis("c", days, np.ones(len(days), np.int64), False, is_date=True, grid="levels")
    labels = labels_of(axis)

    assert "1984-02-29" in labels[0]
    assert "[1984-02-01, 1984-02-29]" in labels[1]
    assert "[1984-01-01, 1984-12-31]" in labels[2]
    assert "[1990-01-01, 1999-12-31]" in labels[3]
    assert labels[4] == ["*"]


def test_with_a_step_of_ones_own_levels_are_multiples_of_it():
    axis = numbers(range(70), grid=7.0)

    assert labels_of(axis)[0][:2] == ["[0, 6]", "[7, 13]"]
    assert labels_of(axis)[1:] == [["[0, 34]", "[35, 69]"], ["*"]]


def test_a_step_of_many_digits_still_nests():
    """Found by hypothesis: multiples of such a step are rounded, each level's in its own way."""
    values = [
        -3.1393935387322803e294,
        -3.1082917714617414e294,
        2.199e291,
        3.1415926535897934e292,
        6.283185307179587e292,
    ]
    levels = build_levels(numbers(values, grid=3.1393935387322804e282))
    for below, above in pairwise(levels):
        assert (below.widths[below.cells] <= above.widths[above.cells] + 1e-9).all()


def test_exact_values_are_level_0():
    axis = numbers([1, 2, 11, 30], grid="exact")

    assert labels_of(axis)[0] == ["1", "2", "11", "30"]
    assert labels_of(axis)[1:] == [["[0, 4]", "[10, 14]", "[30, 34]"], ["[0, 19]", "[20, 39]"], ["*"]]


def test_neighbours_in_an_order_merge_by_twos():
    axis = build_rank_axis("c", list("abcde"), list("abcde"), True, is_ordered=True)

    assert labels_of(axis) == [
        ["a", "b", "c", "d", "e", None],
        ["a..b", "c..d", "e", None],
        ["a..d", "e", None],
        ["*"],
    ]


def test_a_set_has_its_values_and_everything():
    assert labels_of(build_rank_axis("c", list("abc"), list("abc"), False, is_ordered=False)) == [
        ["a", "b", "c"],
        ["*"],
    ]


def test_a_label_that_repeats_upward_is_as_wide_as_its_highest_node():
    levels = {0: ["clerk", "boss", "Other", "misc"], 1: ["office", "office", "Other", "Other"], 2: ["*"] * 4}
    axis = build_tree_axis("job", levels[0], read_hierarchy(levels), False)
    level = build_levels(axis)[0]
    other = printed(axis, level).index("Other")

    assert level.widths[other] == pytest.approx(1 / 3)
    assert level.widths.sum() == pytest.approx(1 / 3)


# The odd ones


def test_a_constant_column_keeps_its_value():
    axis = numbers([5, 5, 5])

    assert "5" in labels_of(axis)[0]
    assert len(build_levels(axis)) == 2


def test_one_leaf_and_no_null_is_one_level():
    axis = build_tree_axis("c", ["a"], read_hierarchy({0: ["a", "b"], 1: ["*", "*"]}), False)

    assert [level.size for level in build_levels(axis)] == [1]


def test_a_hierarchy_with_one_level_is_leaves_and_everything():
    tree = read_hierarchy({0: ["a", "b", "c"]})
    axis = build_tree_axis("c", ["a", "b", "c"], tree, True)

    assert [level.size for level in build_levels(axis)] == [4, 1]


def test_nothing_but_null():
    (level,) = build_levels(build_rank_axis("c", (), (), True, is_ordered=False))

    assert level.cells.tolist() == [0]
    assert level.widths.tolist() == [0]


@pytest.mark.long
def test_a_tree_of_100_000_leaves():
    leaves = [f"{x:05}" for x in range(100_000)]
    paths = {0: leaves, 1: [x[:3] + "__" for x in leaves], 2: [x[:1] + "____" for x in leaves], 3: ["*"] * len(leaves)}
    axis = build_tree_axis("c", leaves, read_hierarchy(paths), True)

    assert [level.size for level in build_levels(axis)] == [100_001, 1001, 11, 1]


def test_an_adaptive_grid_and_one_of_steps_are_chosen_by_whoever_builds_the_points():
    ages = pa.table({"age": [*range(20, 80)] * 5, "pay": [100.0 * x for x in range(300)]})
    with kech.read_table(ages, quasi_identifiers=["age", "pay"], axes={"pay": kech.AxisChoice(grid=50)}) as table:
        adaptive, equal = build_points(table), build_points(table, by_level=True)

    assert [axis.kind for axis in equal.axes] == ["number", "number"]
    assert (equal.axes[0].largest_k > adaptive.axes[0].largest_k.max()).all()
    assert [points.axes[1].grid for points in (adaptive, equal)] == [50, 50]

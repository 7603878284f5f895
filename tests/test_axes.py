import csv
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from by_hand import measure
from kech import read_hierarchy
from kech.axes import build_line_axis, build_rank_axis, build_tree_axis
from kech.axes.hierarchy import build_prefix_tree
from kech.certificate.labels import width_reader
from kech.errors import BadHierarchy, BadOption
from kech.tables.demo import nine_rows
from oracles import label_width, means, set_members
from strategies import DAY, axes, kernel_widths, line_axes, seconds, unhurried


def ranges(axis, most=40):
    """All ranges of codes, or those with both ends among `most` codes spread over the axis."""
    codes = np.unique(np.linspace(0, axis.size - 1, min(axis.size, most)).astype(np.int64))
    lo, hi = np.meshgrid(codes, codes, indexing="ij")
    return lo[lo <= hi], hi[lo <= hi]


def occupied(axis, most=40):
    """The same, where both ends hold values: only these are ever printed."""
    held = np.unique([*axis.codes, *([axis.null] if axis.has_null else [])])
    held = held[np.unique(np.linspace(0, len(held) - 1, min(len(held), most)).astype(int))]
    lo, hi = np.meshgrid(held, held, indexing="ij")
    return lo[lo <= hi].astype(np.int64), hi[lo <= hi].astype(np.int64)


def printed(axis, lo, hi):
    return axis.labels(*axis.close(lo, hi))


def line(values, grid, *, is_date=False, has_null=False):
    values, counts = np.unique(np.array(values, float), return_counts=True)
    return build_line_axis("c", values, counts, has_null, is_date=is_date, grid=grid)


def label_of(axis, lo, hi):
    return printed(axis, np.array([lo]), np.array([hi]))[0]


def width_of(axis, lo, hi):
    return float(axis.widths(np.array([lo]), np.array([hi]))[0])


# Edges of the definitions


def test_a_boundary_that_hides_k_rows_is_published_for_k_and_not_beyond():
    axis = replace(line(range(40), 10), largest_k=np.array([3, 5, 4]))
    assert axis.values == 4
    assert [axis.at(k).cells[0].tolist() for k in (3, 4, 5, 6)] == [
        [0, 1, 2, 3],
        [0, 0, 2, 3],
        [0, 0, 2, 2],
        [0, 0, 0, 0],
    ]


def test_missing_cells_alone_lose_nothing():
    axis = line([1, 2], "exact", has_null=True)
    assert axis.mixes_null(np.array([2, 1, 0]), np.array([2, 2, 1])).tolist() == [False, True, False]
    assert [width_of(axis, *at) for at in ((2, 2), (1, 2), (0, 1))] == [0, 1, 1]


def test_lengths_are_counted_in_the_unit_of_the_data_or_in_microseconds():
    numbers, dates = line([0, 2, 6], "exact"), line([0, 2, 6], "exact", is_date=True)
    assert replace(numbers, unit=2.0).in_units(np.array([4.0])).tolist() == [2]
    assert replace(dates, unit=2.0).in_units(np.array([4.0])).tolist() == [2]
    assert replace(numbers, unit=0.0).in_units(np.array([4.0])).tolist() == [4]
    assert replace(dates, unit=0.0).in_units(np.array([4.0])).tolist() == [4e6]


# The paper's nine rows


def test_the_ages_of_table_1b():
    axis = line(nine_rows()["age"], "exact")

    assert label_of(axis, 0, 2) == "[22, 25]"
    assert label_of(axis, 3, 3) == "32"
    assert width_of(axis, 0, 2) == 3 / 30
    assert width_of(axis, 0, 8) == 1


def test_the_zip_codes_of_table_1b():
    axis = line(nine_rows()["zip"], "exact")

    assert [label_of(axis, lo, lo) for lo in range(2)] == ["47602", "47605"]
    assert label_of(axis, 1, 3) == "[47605, 47673]"


# Laws


@given(axes)
@unhurried
def test_kernels_know_the_same_widths(case):
    axis, _ = case
    kernel = kernel_widths(axis)
    lo, hi = ranges(axis)

    assert [kernel.width(0, a, b) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)] == axis.widths(
        lo, hi
    ).tolist()


@given(axes)
@unhurried
def test_the_certificate_reads_the_same_width_from_the_label(case):
    axis, _ = case
    lo, hi = occupied(axis)
    labels = printed(axis, lo, hi)
    public = axis.parameters(labels)
    read = width_reader(public)

    for label, width in zip(labels, axis.widths(lo, hi), strict=True):
        assert read(label) == pytest.approx(width, abs=1e-9), label
        assert label_width(label, public) == pytest.approx(width, abs=1e-9), label


@given(axes)
@unhurried
def test_the_written_file_has_the_average_width(tmp_path_factory, case):
    axis, _ = case
    lo, hi = occupied(axis, 12)
    labels = printed(axis, lo, hi)
    path = tmp_path_factory.getbasetemp() / "labels.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        guarded = ["'" + label if label and label.lstrip("'").startswith("=") else label for label in labels]
        csv.writer(file).writerows([["c", "d"], *([label, "x"] for label in guarded)])

    figures = measure(path, [axis.parameters(labels)])
    assert figures["loss"] == pytest.approx(axis.widths(lo, hi).mean(), abs=1e-9)


@given(axes)
@unhurried
def test_a_wider_range_is_never_narrower(case):
    axis, _ = case
    lo, hi = ranges(axis)
    width = axis.widths(lo, hi)

    assert (width >= 0).all()
    assert (width <= 1).all()
    for wider_lo, wider_hi in ((np.maximum(lo - 1, 0), hi), (lo, np.minimum(hi + 1, axis.size - 1))):
        assert (axis.widths(wider_lo, wider_hi) >= width - 1e-12).all()


@given(axes)
@unhurried
def test_closing_twice_is_closing_once_and_costs_nothing(case):
    axis, _ = case
    lo, hi = ranges(axis)
    first, last = axis.close(lo, hi)

    assert (first <= lo).all()
    assert (last >= hi).all()
    assert np.array_equal(axis.close(first, last), (first, last))
    assert axis.widths(first, last).tolist() == axis.widths(lo, hi).tolist()


@given(axes)
@unhurried
def test_equal_labels_are_equal_ranges(case):
    axis, _ = case
    lo, hi = occupied(axis)
    closed = list(zip(*(x.tolist() for x in axis.close(lo, hi)), strict=True))
    meaning = {}
    for label, box in zip(printed(axis, lo, hi), closed, strict=True):
        assert meaning.setdefault(label, box) == box, label
    assert len(set(meaning.values())) == len(meaning)


@given(axes)
@unhurried
def test_a_label_stands_for_every_value_of_its_range(case):
    axis, values = case
    paths = {path[0]: path for path in axis.tree.paths} if axis.kind == "hierarchy" else None
    lo, hi = occupied(axis, 12)
    labels = printed(axis, lo, hi)
    hidden = {text for text, rare in zip(axis.texts, axis.rare, strict=True) if rare} if axis.kind == "set" else set()
    public = axis.parameters(labels) | {"hidden": hidden}
    coded = list(zip(values, axis.codes.tolist(), strict=True)) + ([(None, axis.null)] if axis.has_null else [])
    for a, b, label in zip(lo, hi, labels, strict=True):
        for value, code in coded:
            if a <= code <= b:
                assert means(label, value, public, paths), (label, value)


@given(axes)
@unhurried
def test_null_alone_is_null_and_with_anything_else_all_is_lost(case):
    axis, _ = case
    if not axis.has_null:
        return
    assert label_of(axis, axis.null, axis.null) is None
    assert width_of(axis, axis.null, axis.null) == 0
    for code in range(axis.values):
        assert width_of(axis, code, axis.null) == 1
        assert label_of(axis, code, axis.null) == "*"


@given(axes)
@unhurried
def test_values_find_their_codes_again(case):
    axis, values = case
    is_line = axis.kind in ("number", "date")
    given = np.array([seconds_of(x) for x in values]) if is_line else values

    assert axis.encode(given).tolist() == axis.codes.tolist()
    nothing = np.array([np.nan]) if is_line else [None]
    assert axis.encode(nothing).tolist() == [axis.null]


def seconds_of(value):
    return (value - datetime(1970, 1, 1)).total_seconds() if isinstance(value, datetime) else value


@given(line_axes(grids=("step",)))
@unhurried
def test_steps_are_multiples_and_hold_their_values(case):
    axis, _ = case
    assert (axis.low <= axis.high).all()
    assert (np.diff(axis.low) > 0).all()
    assert (axis.high[:-1] <= axis.low[1:]).all()


# Grids by hand


def test_a_step_prints_closed_intervals_of_whole_numbers():
    axis = line([0, 4, 5, 9, 12], 5)

    assert [label_of(axis, code, code) for code in range(3)] == ["[0, 4]", "[5, 9]", "[10, 14]"]
    assert label_of(axis, 0, 1) == "[0, 9]"
    assert width_of(axis, 0, 0) == 4 / 14


def test_a_step_finer_than_the_unit_is_printed_in_full():
    axis = line([0, 7], 0.5)

    assert [label_of(axis, code, code) for code in range(2)] == ["[0, 0.5)", "[7, 7.5)"]


def test_three_times_a_tenth_is_three_tenths():
    axis = line([0.1, 0.2, 0.3, 0.7], 0.1)

    assert [label_of(axis, code, code) for code in range(4)] == ["0.1", "0.2", "0.3", "0.7"]


def test_a_value_just_below_an_edge_stays_below_it():
    edge, below = 0.9, float(np.nextafter(0.9, 0))
    axis = line([below, edge], 0.3)

    assert np.floor(below / 0.3) == 3  # division alone would put it above
    assert [label_of(axis, code, code) for code in range(2)] == ["[0.6, 0.9)", "[0.9, 1.2)"]
    assert axis.codes.tolist() == [0, 1]


def test_close_decimals_far_from_zero_are_as_wide_as_they_are_written():
    axis = line([1000000000.123456789, 1000000000.2, 1000000000.3], "exact")
    read = width_reader(axis.parameters([]))

    for lo, hi in ((0, 1), (1, 2), (0, 2)):
        assert width_of(axis, lo, hi) == pytest.approx(read(label_of(axis, lo, hi)), abs=1e-12)


def test_a_single_value_is_as_narrow_in_the_kernels():
    for axis in (ranked(["a"]), ranked(["a"], has_null=True), ranked(["a"], is_ordered=True)):
        kernel = kernel_widths(axis)
        assert kernel.width(0, 0, 0) == width_of(axis, 0, 0) == 0


def test_a_step_of_dates_counts_days():
    axis = line([seconds(datetime(2020, 2, day)) for day in (1, 28, 29)], 7, is_date=True)

    assert label_of(axis, *axis.codes[[0, 0]]) == "[2020-01-30, 2020-02-05]"
    assert label_of(axis, *axis.codes[[1, 2]]) == "[2020-02-27, 2020-03-04]"


def test_half_days_show_the_time():
    axis = line([0, 10 * DAY], 0.5, is_date=True)

    assert label_of(axis, 0, 0) == "[1970-01-01 00:00:00, 1970-01-01 12:00:00)"


def test_a_step_too_small_for_floats_is_refused():
    with pytest.raises(BadOption, match="step is too small"):
        line([1e20, 2e20], 1.0)


def test_auto_prints_open_tails_and_exact_prints_values():
    ages = [*range(20, 80)] * 3
    auto, exact = line(ages, "round").at(5), line(ages, "exact").at(5)

    assert label_of(auto, 0, 0).startswith("<= ")
    assert label_of(auto, auto.values - 1, auto.values - 1).startswith(">= ")
    assert label_of(auto, 0, auto.values - 1) == "*"
    assert label_of(exact, 0, 59) == "[20, 79]"
    assert [label_of(exact, i, i) for i in (0, 59)] == ["20", "79"]


def test_fractions_print_half_open_intervals():
    axis = line(np.linspace(0, 1, 200) / 3, "round").at(10)
    label = label_of(axis, 1, 2)

    assert label.endswith(")")
    assert label_of(axis, 0, 0).startswith("< ")


# Sets, orders and trees by hand


def ranked(values, *, is_ordered=False, has_null=False):
    return build_rank_axis("c", values, values, has_null, is_ordered=is_ordered)


def test_a_set_is_printed_in_alphabetic_order_not_in_the_order_of_rows():
    assert label_of(ranked(["c", "b", "a", "d"]), 0, 1) == "{b, c}"


def test_all_values_together_are_everything():
    axis = ranked(["a", "b", "c"])

    assert label_of(axis, 0, 2) == "*"
    assert width_of(axis, 0, 2) == 1
    assert width_of(axis, 0, 1) == 1 / 2


def test_null_is_one_more_value_of_a_set():
    axis = ranked(["a", "b", "c"], has_null=True)

    assert width_of(axis, 0, 1) == 1 / 3
    assert label_of(axis, 0, 2) == "*"


@pytest.mark.parametrize(("members", "is_set"), [(50, True), (51, False)])
def test_sets_of_more_than_fifty_values_say_nothing(members, is_set):
    axis = ranked([f"v{i:03}" for i in range(120)])
    label = label_of(axis, 10, 10 + members - 1)

    assert (label != "*") == is_set
    assert not is_set or len(set_members(label)) == members
    assert width_of(axis, 10, 10 + members - 1) == ((members - 1) / 119 if is_set else 1)


def test_odd_members_are_quoted():
    odd = ["a, b", "{x}", 'q"', "\\", " pad ", "*", ""]
    label = label_of(ranked([*odd, "z"]), 0, 6)

    assert sorted(set_members(label)) == sorted(odd)


def test_a_value_that_looks_like_everything_or_a_set_is_braced():
    axis = ranked(["*", "{a, b}", "a", "b"])

    assert [label_of(axis, i, i) for i in range(4)] == ["{*}", '{"{a, b}"}', "a", "b"]
    assert label_of(axis, 2, 3) == "{a, b}"


def test_an_order_is_printed_by_its_ends():
    axis = ranked(["low", "middle", "high"], is_ordered=True, has_null=True)

    assert label_of(axis, 0, 1) == "low..middle"
    assert width_of(axis, 0, 1) == 1 / 2
    assert label_of(axis, 0, 2) == "low..high"
    assert label_of(axis, 0, 3) == "*"


@pytest.mark.parametrize("order", [["a", "a..b"], ["*", "a"], ["a", "b", "a"], ["", "a"], [".", "a"]])
def test_an_order_that_could_be_misread_is_refused(order):
    with pytest.raises(BadHierarchy, match="order of c"):
        ranked(order, is_ordered=True)


OTHERS = [["Other", "Other", "*"], ["Misc", "Other", "*"], ["Clerk", "Office", "*"], ["Boss", "Office", "*"]]


def tree(rows, values=None, *, has_null=False):
    given = read_hierarchy({level: list(labels) for level, labels in enumerate(zip(*rows, strict=True))})
    return build_tree_axis("c", values or [row[0] for row in rows], given, has_null)


def test_a_leaf_that_bears_the_name_of_its_parent_is_as_wide():
    axis = tree(OTHERS)

    assert axis.close(np.array([0]), np.array([0])) == (0, 1)
    assert label_of(axis, 0, 0) == label_of(axis, 0, 1) == "Other"
    assert width_of(axis, 0, 0) == 1 / 3
    assert label_of(axis, 2, 2) == "Clerk"


def test_padding_up_to_the_root_is_the_root():
    axis = tree([["x", "*", "*"], ["a", "A", "*"], ["b", "A", "*"]])

    assert label_of(axis, 0, 1) == "*"
    assert width_of(axis, *sorted(axis.codes[1:].tolist())) == 1 / 2


def test_a_named_root_does_not_stand_for_null():
    axis = tree([["a", "all"], ["b", "all"]], has_null=True)

    assert [label_of(axis, lo, hi) for lo, hi in ((0, 1), (0, 2), (1, 2), (2, 2))] == ["all", "*", "*", None]
    assert [width_of(axis, lo, hi) for lo, hi in ((0, 1), (0, 2), (2, 2))] == [1 / 2, 1, 0]
    assert axis.close(np.array([0, 0]), np.array([1, 2]))[1].tolist() == [1, 2]
    assert axis.parameters(["all", "*"])["labels"] == {"*": 3, "all": 2}


def test_all_leaves_of_a_given_tree_count():
    axis = tree(OTHERS, ["Misc", "Clerk", "Boss"])

    assert width_of(axis, *axis.codes[1:]) == 1 / 3
    assert axis.parameters(["Office"])["leaves"] == 4


def test_a_star_below_a_named_root_is_refused_where_values_are_missing():
    rows = [["a", "*", "all"], ["b", "*", "all"], ["c", "c", "all"]]
    assert label_of(tree(rows), 0, 1) == "*"
    with pytest.raises(BadHierarchy, match="missing values"):
        tree(rows, has_null=True)


def test_leaves_that_few_rows_hold_change_no_count():
    """Of a tree built from the values, whatever of them fewer than k rows hold."""
    rows = {"100": 5, "101": 6, "110": 5, "120": 1, "121": 2}
    found = []
    for rare in ([], ["120"], ["120", "121"]):
        values = [value for value in rows if rows[value] >= 5 or value in rare]
        counts = np.array([rows[value] for value in values])
        axis = build_tree_axis("c", values, build_prefix_tree(values), False, is_public=False, rows=counts).at(5)
        found.append(axis.parameters(["10*", "1**", "*", "11*"]))
    assert found[0] == found[1] == found[2]
    assert found[0]["labels"] == {"*": 7, "1**": 6, "10*": 3, "11*": 2}


def test_rare_values_of_a_set_are_one_member():
    texts = ["clerk", "nurse", "smith", "abbot", "diver"]
    axis = build_rank_axis("c", texts, texts, False, is_ordered=False, rows=np.array([9, 5, 4, 1, 1])).at(5)

    assert [label_of(axis, lo, hi) for lo, hi in ((0, 0), (0, 1), (1, 2), (3, 3), (2, 4), (0, 4))] == [
        "clerk",
        "{clerk, nurse}",
        "{nurse, 3 rare values}",
        "{3 rare values}",
        "{3 rare values}",
        "*",
    ]
    assert [width_of(axis, lo, hi) for lo, hi in ((0, 1), (1, 2), (3, 3))] == [1 / 4, 3 / 4, 2 / 4]
    assert axis.parameters([]) == {"column": "c", "axis": "set", "values": 5, "rare": 3}
    assert label_of(axis.at(2), 2, 3) == "{smith, 2 rare values}"
    assert label_of(axis.at(1), 2, 3) == "{abbot, smith}"
    assert width_reader(axis.parameters([]))("{nurse, 2 rare values}") is None
    assert width_reader(axis.parameters([]))("{3 rare values, nurse}") is None


def test_a_value_that_looks_like_a_count_of_rare_ones_is_quoted():
    texts = ["3 rare values", "a", "b"]
    axis = build_rank_axis("c", texts, texts, False, is_ordered=False, rows=np.array([9, 9, 1])).at(5)
    assert label_of(axis, 0, 0) == '{"3 rare values"}'
    assert label_of(axis, 0, 1) == '{"3 rare values", a}'
    assert label_of(axis, 1, 2) == "{a, 1 rare value}"
    read = width_reader(axis.parameters([]))
    assert [read(label_of(axis, lo, hi)) for lo, hi in ((0, 0), (0, 1), (1, 2))] == [0, 0.5, 0.5]


def test_rare_values_of_a_long_set_take_one_place():
    texts = [f"v{i:03}" for i in range(150)]
    rows = np.array([9] * 60 + [1] * 90)
    axis = build_rank_axis("c", texts, texts, False, is_ordered=False, rows=rows).at(5)
    assert label_of(axis, 20, 30).count(",") == 10
    assert label_of(axis, 11, 61).endswith("v059, 90 rare values}")
    assert label_of(axis, 10, 61) == label_of(axis, 5, 55) == "*"


def test_a_range_ends_at_values_that_k_rows_hold_or_is_open():
    texts = ["none", "low", "middle", "high", "top"]
    axis = build_rank_axis("c", texts, texts, True, is_ordered=True, rows=np.array([1, 9, 2, 9, 3])).at(5)
    ranges = ((1, 1), (1, 3), (2, 2), (1, 2), (0, 1), (0, 0), (3, 4), (4, 4), (2, 4), (0, 4), (3, 5))
    assert [label_of(axis, lo, hi) for lo, hi in ranges] == [
        "low",
        "low..high",
        "low..high",
        "low..high",
        "..low",
        "..low",
        "high..",
        "high..",
        "low..",
        "*",
        "*",
    ]
    read = width_reader(axis.parameters([]))
    assert [read(text) for text in ("..low", "high..", "low..", "low..high")] == [1 / 4, 1 / 4, 3 / 4, 2 / 4]
    assert [width_of(axis, lo, hi) for lo, hi in ((0, 0), (4, 4), (2, 4), (2, 2))] == [1 / 4, 1 / 4, 3 / 4, 2 / 4]
    assert read("..none..") is None


@pytest.mark.parametrize("values", [1, 2, 3, 4])
def test_every_pattern_of_rare_values_in_an_order_is_printed_as_it_is_measured(values):
    """An order of one rare value was printed as an empty cell, which is read as missing."""
    texts = tuple("abcd"[:values])
    for rows, cuts, has_null in product(
        product([1, 9], repeat=values), product([0, 1], repeat=values - 1), [False, True]
    ):
        fine = build_rank_axis("c", texts, texts, has_null, is_ordered=True, rows=np.array(rows)).at(5)
        axis = replace(fine, starts=np.flatnonzero([1, *cuts]))
        read, kernel = width_reader(axis.parameters([])), kernel_widths(axis)
        lo, hi = ranges(axis)
        for a, b, label in zip(lo.tolist(), hi.tolist(), printed(axis, lo, hi), strict=True):
            assert (label is None) == (a == b == axis.null) and label != ""
            assert read(label) == width_of(axis, a, b) == kernel.width(0, a, b)
            assert label is None or not {text for text, n in zip(texts, rows, strict=True) if n < 5} & set(label)


@pytest.mark.parametrize("leaf", ["a", "*"])
def test_a_single_leaf_loses_nothing(leaf):
    axis = tree([[leaf, "*"]])

    assert label_of(axis, 0, 0) == leaf
    assert width_of(axis, 0, 0) == 0
    assert width_reader(axis.parameters([leaf]))(leaf) == 0


@pytest.mark.parametrize("grid", ["round", "exact", 5.0])
@pytest.mark.parametrize("is_date", [False, True])
def test_a_column_of_nothing_but_null(grid, is_date):
    for axis in (line([], grid, is_date=is_date, has_null=True), tree_of_nothing(), ranked([], has_null=True)):
        kernel = kernel_widths(axis)

        assert axis.size == 1
        assert label_of(axis, 0, 0) is None
        assert width_of(axis, 0, 0) == kernel.width(0, 0, 0) == 0
        assert width_reader(axis.parameters([None]))(None) == 0


def tree_of_nothing():
    return build_tree_axis("c", [], read_hierarchy({0: ["a", "b"], 1: ["*", "*"]}), True)


def test_new_values_have_no_code():
    assert tree(OTHERS).encode(["Boss", "new", None]).tolist() == [3, -1, -1]
    assert ranked(["a"], has_null=True).encode(["a", "b", None]).tolist() == [0, -1, 1]
    assert line([1, 2, 9], "exact").encode(np.array([0.0, 1.5, 2, 10])).tolist() == [-1, -1, 1, -1]
    assert line([0, 4, 12], 5).encode(np.array([-1.0, 3, 6, 14, 15])).tolist() == [-1, 0, -1, 1, -1]
    auto = line([*range(100)], "round")
    assert auto.encode(np.array([-1e9, 1e9])).tolist() == [0, auto.values - 1]


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=30), st.integers(1, 50))
@unhurried
def test_widths_are_exact_fractions_of_whole_numbers(values, step):
    axis = line(values, float(step))
    lo, hi = ranges(axis)
    start, stop = (int(x) for x in axis.domain)
    for a, b, width in zip(lo, hi, axis.widths(lo, hi), strict=True):
        exact = Fraction(int(axis.high[b]) - int(axis.low[a]), max(stop - start, 1))
        assert width == float(exact)

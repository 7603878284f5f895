"""Codes of an axis: ranges close to labels, kernels and labels agree on widths, and new values find their code."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import kech
from kech.axes import build_line_axis, build_rank_axis, build_tree_axis
from kech.axes.grid import open_domain
from kech.axes.levels import build_levels
from kech.certificate.labels import width_reader
from kech.errors import BadOption
from strategies import kernel_widths

PLACES = {0: ["oslo", "bergen", "rome"], 1: ["north", "north", "south"], 2: ["all"] * 3}


@pytest.mark.parametrize("values", [[20, 21, 25, 25, 30] * 40, ["a", "b", "b", "c", "c"] * 40])
@pytest.mark.parametrize(
    ("grid", "protect"), [("round", "full"), ("round", "ends"), ("round", "none"), ("exact", None)]
)
def test_a_certificate_tells_which_labels_are_widened(values, grid, protect, tmp_path):
    """On a line it says how the edges were chosen; of a set or an order, only that they are widened."""
    with kech.read_table(pa.table({"a": values}), quasi_identifiers=["a"]) as read:
        made = kech.make_release(read, k=40, grid=grid, protect=protect)
        told = made.summarize(tmp_path / "t.csv", made.write(tmp_path / "t.csv", ledger=False))
    line = isinstance(values[0], int)
    assert made.axes[0].get("grid") == (grid if line else None)
    assert made.axes[0].get("protect") == ((protect or "none") if line or protect == "full" else None)
    assert [axis.is_padded for axis in made.partition.points.axes] == [protect == "full"]
    assert told["unhidden_edges"] == (["a"] if line and grid == "exact" else [])


def test_a_column_without_values_has_no_labels_to_widen():
    nothing = pa.table({"a": pa.array([None] * 9, pa.int64()), "b": pa.array([None] * 9, pa.string())})
    with kech.read_table(nothing, quasi_identifiers=["a", "b"], axes={"a": "number"}) as read:
        made = kech.make_release(read, k=3)
    assert made.axes[0] == {"column": "a", "axis": "set", "values": 1, "rare": 0}


def line_of(values, grid, *, has_null=False, is_date=False):
    """An axis of numbers, each in as many rows as it is named."""
    values, counts = np.unique(np.array(values, float), return_counts=True)
    return build_line_axis("c", values, counts, has_null, is_date=is_date, grid=grid)


def test_codes_are_as_wide_as_the_kernels_take_them():
    towns = build_tree_axis("c", ["oslo", "rome"], kech.read_hierarchy(PLACES), False)
    lines = [line_of(range(40), grid) for grid in ("exact", "round", "levels", 5)]
    made = [*lines, build_rank_axis("c", "ab", "ab", False, is_ordered=True), towns]
    assert {axis.codes.dtype for axis in made} == {np.dtype(np.int32)}
    assert [axis.grid for axis in lines] == ["exact", "round", "round", 5]


def test_numbers_of_sixteen_digits_and_more_are_too_long_for_a_step():
    with pytest.raises(BadOption, match=r"^grid: the step is too small"):
        line_of([1, 1e15], 1.0)
    longest = line_of([1e15 - 3, 1e15 - 1], 1.0)
    assert longest.labels(longest.codes, longest.codes) == ["999999999999997", "999999999999999"]


LAST_DAY = 253402214400.0  # 9999-12-31


@pytest.mark.parametrize(
    ("step", "label"),
    [(7, "[9999-12-30, 9999-12-31]"), (1.5, "[9999-12-31 00:00:00, 9999-12-31 23:59:59)")],
)
def test_steps_of_dates_end_with_the_calendar(step, label):
    axis = line_of([LAST_DAY], step, is_date=True)
    assert (axis.labels(axis.codes, axis.codes), axis.grid) == ([label], step)


@pytest.mark.parametrize(
    ("values", "step", "labels"),
    [
        ([5e-22, 1.9e-21], 1e-22, ["[5e-22, 6e-22)", "[1.9e-21, 2e-21)"]),
        ([0.3], 0.1, ["0.3"]),
        ([30, -20], 10.0, ["[-20, -11]", "[30, 39]"]),
    ],
)
def test_multiples_of_a_step_are_written_as_people_write_them(values, step, labels):
    """As long as floats know its power of ten."""
    axis = line_of(values, step)
    assert axis.labels(axis.codes, axis.codes) == labels


def test_boundaries_are_one_fewer_than_codes():
    assert [len(line_of(range(n), "exact").largest_k) for n in (1, 2, 5)] == [0, 1, 4]


def test_a_tree_of_no_values_is_an_empty_set():
    axis = build_tree_axis("c", [], kech.read_hierarchy(PLACES), True)
    assert axis.parameters(()) == {"column": "c", "axis": "set", "values": 1, "rare": 0}


def closed_ranges(axis):
    """For every range of codes the range that its label stands for."""
    lo, hi = np.triu_indices(axis.size)
    first, last = axis.close(lo, hi)
    return {(a, b): (c, d) for a, b, c, d in zip(*(x.tolist() for x in (lo, hi, first, last)), strict=True)}


def test_a_range_is_closed_to_its_cells_or_to_everything():
    """NULL, the last code, is closed alone to itself; both open tails together, or NULL with a value, are all."""
    four = [0, 10, 20, 30]
    closed = line_of(four, 10, has_null=True)
    pairs = {(a, b): (a, b) for b in range(4) for a in range(b + 1)}
    assert closed_ranges(closed) == pairs | {(a, 4): (0, 4) for a in range(4)} | {(4, 4): (4, 4)}
    assert closed_ranges(line_of(four, 10)) == pairs
    tails = {"low": np.array([-np.inf, 10, 20, 30]), "high": np.array([9, 19, 29, np.inf])}
    opened = replace(closed, **tails)
    assert closed_ranges(opened) == closed_ranges(closed) | {(0, 3): (0, 4)}
    halves = replace(opened, largest_k=np.array([0, 9, 0]))
    assert halves.cells[0].tolist() == [0, 0, 2, 2, 4]
    assert halves.cells[1].tolist() == [1, 1, 3, 3, 4]
    expected = {(a, b): (a // 2 * 2, b // 2 * 2 + 1) for a, b in pairs}
    everything = dict.fromkeys([*((a, b) for a, b in pairs if a < 2 <= b), *((a, 4) for a in range(4))], (0, 4))
    assert closed_ranges(halves) == expected | everything | {(4, 4): (4, 4)}


def test_new_values_find_a_stretch_or_none():
    """Stretches that reach up to their end do not hold it, unless the data has a unit; NaN is NULL."""
    half_open = line_of([0, 7], 0.5, has_null=True)
    assert half_open.encode(np.array([-0.1, 0, 0.4, 0.5, 7, 7.5, np.nan])).tolist() == [-1, 0, 0, -1, 1, -1, 2]
    whole = line_of([0, 17], 5)
    assert whole.encode(np.array([-1, 0, 4, 5, 15, 19, 20, np.nan])).tolist() == [-1, 0, 0, -1, 1, 1, -1, -1]
    joined = replace(line_of([0, 10, 20, 30], 10), largest_k=np.array([0, 9, 0]))
    assert joined.encode(np.array([5, 15, 25, 35, 45])).tolist() == [0, 0, 2, 2, -1]


def test_texts_in_cells_of_several_have_the_code_of_the_first():
    alone = build_rank_axis("c", "abcde", "abcde", True, is_ordered=True)
    cells = replace(alone, starts=np.array([0, 2, 4]))
    assert [x.tolist() for x in alone.cells] == [[0, 1, 2, 3, 4, 5]] * 2
    assert [x.tolist() for x in cells.cells] == [[0, 0, 2, 2, 4, 5], [1, 1, 3, 3, 4, 5]]
    assert cells.encode(["a", "b", "d", "e", "x", None]).tolist() == [0, 0, 2, 4, -1, 5]
    assert alone.encode(["a", "b", "d", "e", "x", None]).tolist() == [0, 1, 3, 4, -1, 5]
    assert cells.encode([]).tolist() == []
    assert replace(cells, has_null=False).encode(["b", None]).tolist() == [0, -1]


@pytest.mark.parametrize("sign", [1, -1])
def test_close_decimals_far_on_either_side_are_as_wide_as_they_are_written(sign):
    axis = line_of([sign * x for x in (1000000000.123456789, 1000000000.2, 1000000000.3)], "exact")
    read = width_reader(axis.parameters([]))
    lo, hi = np.array([0, 1, 0]), np.array([1, 2, 2])
    assert axis.widths(lo, hi).tolist() == pytest.approx([read(label) for label in axis.labels(lo, hi)], abs=1e-12)


@pytest.mark.parametrize("has_null", [False, True])
@pytest.mark.parametrize("is_ordered", [False, True])
@pytest.mark.parametrize("values", [1, 2, 3, 50, 51, 53])
def test_orders_and_sets_are_as_wide_in_the_kernels_as_by_definition(values, is_ordered, has_null):
    """Ranks apart over those of the whole axis; more than fifty values of a set, or all, are everything."""
    texts = [f"v{i:02}" for i in range(values)]
    axis = build_rank_axis("c", texts, texts, has_null, is_ordered=is_ordered)
    kernel = kernel_widths(axis)
    lo, hi = np.triu_indices(axis.size)
    steps = max(values - 1 if is_ordered else axis.size - 1, 1)

    def width(a, b):
        lost = b == values and a < b
        lost |= not is_ordered and (b - a >= 50 or b - a == values - 1 > 0)
        return 1 if lost and a < b else 0 if a == b else (b - a) / steps

    expected = [width(a, b) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)]
    assert axis.widths(lo, hi).tolist() == pytest.approx(expected)
    assert [kernel.width(0, a, b) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)] == pytest.approx(expected)


def node_axis(level, *, has_null):
    """One level of the three towns."""
    tree = kech.read_hierarchy(PLACES)
    return build_levels(build_tree_axis("c", ["oslo", "bergen", "rome"], tree, has_null))[level].axis


@pytest.mark.parametrize("has_null", [False, True])
def test_the_nodes_of_a_level_are_printed_alone_or_as_the_root(has_null):
    axis = node_axis(1, has_null=has_null)
    leaves = 3 + has_null
    lo, hi = (np.array(ends) for ends in zip(*[(a, b) for b in range(axis.size) for a in range(b + 1)], strict=True))
    first, last = axis.close(lo, hi)
    assert all((a, b) in {(c, d), (0, 1), (0, axis.size - 1)} for a, b, c, d in zip(first, last, lo, hi, strict=True))
    labels = axis.labels(first, last)
    alone = ["north", "south", None]
    assert labels == [alone[a] if a == b else "*" if b == 2 else "all" for a, b in zip(lo, hi, strict=True)]
    share = {"north": 1 / (leaves - 1), "south": 0, "all": 2 / (leaves - 1), "*": 1, None: 0}
    assert axis.widths(lo, hi).tolist() == [share[label] for label in labels]
    kernel = kernel_widths(axis)
    assert [kernel.width(0, a, b) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)] == axis.widths(
        lo, hi
    ).tolist()
    assert (axis.kind, axis.is_padded) == ("hierarchy", False)
    assert axis.encode(["rome", "oslo", "bergen", "paris", None]).tolist() == [1, 0, 0, -1, 2 if has_null else -1]
    assert axis.encode([]).dtype == np.int32
    assert axis.parameters(labels) == {
        "column": "c",
        "axis": "hierarchy",
        "leaves": leaves,
        "labels": {**({"*": 4} if has_null else {}), "all": 3, "north": 2},
    }


@pytest.mark.parametrize(("rows", "widths"), [([1, 0, 0], [0, 0, 0]), ([2, 1, 0], [0, 1, 1]), ([1, 1, 1], [0, 0.5, 1])])
def test_nodes_are_measured_by_the_leaves_that_are_held(rows, widths):
    tree = kech.read_hierarchy(PLACES)
    levels = build_levels(build_tree_axis("c", ["oslo", "bergen", "rome"], tree, False, is_public=False))
    axes = [level.measure(np.array(rows)) for level in levels]
    assert [float(axis.widths(np.array([0]), np.array([0]))[0]) for axis in axes] == widths


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("X", "X"),
        ("", '""'),
        (" a", '" a"'),
        ("ü,b", '"ü,b"'),
        ("{", '"{"'),
        ("}", '"}"'),
        ('"', r'"\""'),
        ("\\", r'"\\"'),
    ],
)
def test_members_of_a_set_are_quoted_where_they_could_be_misread(text, written):
    texts = [text, "Y", "Z"]
    axis = build_rank_axis("c", texts, texts, False, is_ordered=False)
    assert axis.labels(np.array([0]), np.array([1])) in (["{%s, Y}" % written], ["{Y, %s}" % written])  # noqa: UP031


@pytest.mark.parametrize(
    ("edges", "unit", "domain"),
    [
        ([], 0.0, (0, 1)),
        ([], 5.0, (0, 5)),
        ([10], 1.0, (8, 11)),
        ([10], 0.0, (9, 11)),
        ([10, 20], 1.0, (-1, 30)),
        ([10, 20], 0.0, (0, 30)),
        ([10, 20, 40], 1.0, (-6, 55)),
        ([10, 30], 10.0, (-20, 50)),
        ([-1e9, -1e9 + 1], 0.0, (-1e9 - 1000, -1e9 + 1001)),
        ([0, 1e307], 0.0, (-1e307, 1e307)),
        ([9999992.4], 0.1, (9999992.2, 9999992.5)),  # 9999992.4 - 0.2 is 9999992.200000001 in floats
    ],
)
def test_tails_of_a_level_end_one_step_beyond_the_outermost_edges(edges, unit, domain):
    """The mean step, more than nothing: a unit more where there is one, and never lost in the digits of the ends."""
    assert open_domain(np.array(edges, float), unit, False) == domain


def test_tails_of_dates_end_with_the_calendar():
    first, last = -62135596800.0, 253402214400.0
    assert open_domain(np.array([first + 5, last - 5]), 1.0, True) == (first, last)


def test_labels_in_an_order_are_widened_only_where_that_is_asked_for():
    assert not build_rank_axis("a", ["x"], ["x"], False, is_ordered=True).is_padded
    assert build_rank_axis("a", ["x"], ["x"], False, is_ordered=True, is_padded=True).is_padded

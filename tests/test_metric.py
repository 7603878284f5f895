"""The metric of eps: it obeys the triangle inequality on every axis, and how often a value occurs never shows in it."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from cutting import say_labels
from kech.cuts.bounds import eps_bound, lower_bounds
from kech.cuts.minimal import gather_classes
from kech.points.partition import largest_radius
from kech.points.points import build_points
from kech.topology.homology import find_holes
from kech.topology.minimal import minimal_complex
from strategies import axes, unhurried
from topology_oracles import build_filtration, eps_widths
from topology_oracles import gather as points_of


def exact_points(columns, **options):
    with kech.read_table(pa.table(columns), quasi_identifiers=list(columns), **options) as table:
        return build_points(table, labels=say_labels(grid="exact"))


# A metric


@settings(unhurried, max_examples=60)
@given(axes)
def test_two_sides_of_a_triangle_are_no_shorter_than_the_third(drawn):
    axis = drawn[0]
    codes = np.arange(axis.size)[:: max(axis.size // 12, 1)]
    x, y, z = np.array(list(product(codes, repeat=3)), np.int64).reshape(-1, 3).T

    def distance(a, b):
        return axis.metric(np.minimum(a, b), np.maximum(a, b))

    assert (distance(x, z) <= distance(x, y) + distance(y, z) + 1e-12).all()


@settings(unhurried, max_examples=60)
@given(axes)
def test_kernels_measure_eps_as_the_definition_does(drawn):
    axis = drawn[0]
    lo, hi = np.triu_indices(axis.size)
    kernel = points_of([axis], np.zeros((1, 1))).metric()

    assert [kernel.width(0, a, b) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)] == axis.metric(
        lo, hi
    ).tolist()
    assert axis.metric(lo, hi).tolist() == eps_widths(axis, lo, hi).tolist()
    plain = axis if axis.kind in ("number", "date") else axis.at(1)
    assert (plain.widths(lo, hi) <= axis.metric(lo, hi) + 1e-12).all()
    assert axis.metric(lo, hi).tolist() == plain.metric(lo, hi).tolist()
    if axis.kind in ("ordered", "set") or (
        axis.kind == "hierarchy" and all(path[0] != path[1] for path in axis.tree.paths)
    ):
        assert not axis.metric(lo, lo).any()


# How often a value occurs

words = st.sampled_from(["red", "blue", "green", "grey", None])
cells = {"number": st.integers(0, 9), "set": words, "code": st.sampled_from(["10115", "10117", "20095", "20099"])}


@st.composite
def tables(draw):
    """A few rows of numbers, words without an order (some missing), codes with common prefixes, and sizes."""
    rows = draw(st.lists(st.tuples(*cells.values(), st.sampled_from("SML")), min_size=2, max_size=8))
    return dict(zip([*cells, "size"], map(list, zip(*rows, strict=True)), strict=True))


@settings(unhurried, max_examples=12)
@given(tables(), st.data())
def test_a_twin_changes_weights_and_no_merge(columns, data):
    row = data.draw(st.integers(0, len(columns["set"]) - 1))
    twice = {name: [*values, values[row]] for name, values in columns.items()}
    how = {"axes": {"size": ["S", "M", "L"], "set": "set"}}
    one, two = exact_points(columns, **how), exact_points(twice, **how)

    assert two.rows == one.rows + 1
    for k in (1, 2, 3):
        assert merges(one.published_at(k)) == merges(two.published_at(k)) == merges(one)
        assert simplices(one.published_at(k)) == simplices(two.published_at(k)) == simplices(one)


KINDS = {
    "codes": ([f"N{a}{b}{c}" for a in "12" for b in "123" for c in "1234"], {}),
    "star": (list("abcdef"), {"axes": {"c": "star"}}),
    "order": (list("abcdef"), {"axes": {"c": list("abcdef")}}),
    "set": (list("abcdef"), {"axes": {"c": "set"}}),
    "hierarchy": (list("abcdef"), {"hierarchies": {"c": {"*": {"low": list("abc"), "high": list("def")}}}}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_twin_that_makes_a_rare_value_common_changes_no_merge(kind):
    """Of codes and orders, distances at k were those of the labels for k: wider where a value is rare."""
    values, how = KINDS[kind]
    rows = [value for i, value in enumerate(values) for _ in range(1 + i % 5)]
    plain, states = exact_points({"c": rows}, **how), set()
    for value in values[3::5]:
        more = exact_points({"c": [*rows, value]}, **how)
        states.add(more.published_at(5).axes[0].state)
        assert merges(more.published_at(5)) == merges(plain.published_at(5)) == merges(plain)
    assert states != {plain.published_at(5).axes[0].state} or kind == "hierarchy"


def merges(points):
    """For each two of the points, by their values, the eps at which they are in one component."""
    tree, found = build_filtration(points), {}
    names = named(points.published_at(1))
    for node in range(len(points.weights), len(tree.parent)):
        held = sorted(names[i] for i in tree.order[tree.begin[node] : tree.end[node]])
        for pair in product(held, held):
            found.setdefault(pair, float(tree.birth[node]))
    return found


def simplices(points):
    tree, names = build_filtration(points), named(points.published_at(1))
    held = (frozenset(names[i] for i in tree.order[a:b]) for a, b in zip(tree.begin, tree.end, strict=True))
    return dict(zip(held, tree.simplex_from.tolist(), strict=True))


def named(points):
    """The values of each point, as text."""
    printed = [axis.labels(codes, codes) for axis, codes in zip(points.axes, points.codes.T.astype(int), strict=True)]
    return [tuple(map(str, row)) for row in zip(*printed, strict=True)]


def test_a_new_value_moves_no_old_ones():
    values = ["a", "a", "b", "c", None]
    before, after = (
        merges(exact_points({"c": rows}, axes={"c": "set"})) for rows in (values, [*values, "d", "d", "d"])
    )

    assert before.items() <= after.items()
    assert set(after.values()) == {0.5}


def test_values_without_an_order_meet_at_a_half():
    """As docs/explanation/mixed.md says; by the order of frequency they met at a quarter."""
    tree = build_filtration(exact_points({"sex": ["f"] * 5 + ["m"] * 4 + ["x"] * 3}, axes={"sex": "set"}))

    assert tree.birth.tolist() == [0, 0, 0, 0.5]
    assert tree.simplex_from[-1] == 0.5


def test_sets_have_no_holes():
    rng = np.random.default_rng(1)
    columns = {name: rng.choice(list("abcdefgh"), 40).tolist() for name in "xyz"}
    points = exact_points(columns, axes=dict.fromkeys("xyz", "set"))

    assert kech.WeightedBarcode(build_filtration(points)).is_complete
    assert find_holes(points, "box", 2).bars[1].tolist() == []


# What stands on it


def test_a_start_of_the_minimal_cut_is_within_twice_the_bound_where_values_are_missing():
    """Printed widths of 1/3, 1/3 and 1 broke the triangle inequality, and the start was three times as wide."""
    rows = [(0, "b")] * 2 + [(1, "a")] * 2 + [(2, "c")] + [(100, None)] * 2
    points = exact_points(dict(zip("xc", map(list, zip(*rows, strict=True)), strict=True)), axes={"c": "set"})
    best = minimal_complex(points, 2)[0]
    found, bound = gather_classes(points, 2, eps_bound(points, 2), 0.5)

    assert bound <= best
    assert all(largest_radius(made) <= 2 * best for made in found)


def test_a_start_of_the_minimal_cut_is_within_twice_the_bound_on_a_long_set():
    """A set of more than 50 values is printed as `*`, and its width jumped to 1."""
    values = [f"v{i:02}" for i in range(80)] * 2 + ["v00"] * 100
    points = exact_points({"c": values}, axes={"c": "set"})

    found, bound = gather_classes(points, 2, eps_bound(points, 2), 0.5)
    assert bound == 0
    assert [largest_radius(made) for made in found] == [0]
    (three,) = lower_bounds(points, [3])
    assert three.eps == eps_bound(points, 3) == 0.5


@pytest.mark.parametrize("cut", ["minimal", "regime"])
def test_no_label_is_wider_than_eps_says(cut):
    rng = np.random.default_rng(4)
    columns = {"x": rng.integers(0, 40, 120), "c": rng.choice(["a", "b", "c", "d"], 120, p=[0.5, 0.3, 0.15, 0.05])}
    with kech.read_table(pa.table(columns), quasi_identifiers=["x", "c"]) as table:
        spectrum = kech.compute_spectrum(table, k=[4], cut=cut, grid="exact", effort="quick", bound=True)
        release = kech.make_release(table, k=4, cut=cut, grid="exact", effort="quick")
    partition = release.partition
    printed = [axis.widths(partition.lo[:, j], partition.hi[:, j]) for j, axis in enumerate(partition.points.axes)]

    (line,) = spectrum.rows()
    assert np.max(printed) <= 2 * largest_radius(partition) + 1e-12
    assert line["eps_lower_bound"] <= line["eps"]
    assert line["eps"] == pytest.approx(largest_radius(partition))

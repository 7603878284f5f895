"""Pricing: below every partition, and closer to the cheapest than the bound of the nearest rows."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kech
from kech._kernels import Pricer
from kech.axes import build_tree_axis
from kech.cuts import Wishes
from kech.cuts.bounds import lower_bounds
from kech.cuts.local import cut_local
from kech.cuts.peeling import level_tables
from kech.cuts.pricing import price_bound
from kech.points.loss import mean_loss
from kech.points.points import Points, build_points
from kech.request import Labels
from strategies import point_sets, tree_axes, unhurried
from test_local import cheapest

TREE = kech.read_hierarchy({"ab": ["a", "b"], "cd": ["c", "d"]})


def tree_points(rows):
    """Rows of codes of leaves of one tree, the same for each column."""
    codes, weights = np.unique(rows, axis=0, return_counts=True)
    axes = tuple(build_tree_axis(f"c{j}", TREE.leaves, TREE, False) for j in range(codes.shape[1]))
    return Points(axes, (), codes.astype(np.int32), weights.astype(np.int64))


def many_points(rows):
    rng = np.random.default_rng(5)
    return tree_points(rng.integers(0, 4, (rows, 4)) * rng.integers(0, 2, (rows, 4)))


def price(points, k):
    return Pricer(points.codes, points.weights, points.widths(), level_tables(points), k)


@pytest.mark.long
@settings(unhurried, max_examples=60)
@given(
    point_sets(most_rows=7, heaviest=3, kinds=tree_axes()), st.sampled_from([2, 3]), st.integers(0, 3), st.floats(0, 3)
)
def test_no_partition_is_cheaper_whatever_is_hoped_for(points, k, climbs, hope):
    assume(points.rows >= k)
    (nearest,) = lower_bounds(points, [k])

    assert nearest.loss <= price_bound(points, k, hope, climbs=climbs) <= cheapest(points, k) + 1e-9


def test_lonely_rows_pay_for_those_they_need():
    points = tree_points([[0], [0], [1], [2], [2]])  # b must share a label with both of a, or with all
    (nearest,) = lower_bounds(points, [2])

    assert nearest.loss == pytest.approx(1 / 3 / 5)
    assert cheapest(points, 2) == pytest.approx(3 * 1 / 3 / 5)
    assert price_bound(points, 2, 1.0) == pytest.approx(2 * 1 / 3 / 5, rel=0.02)


def test_it_is_closer_than_the_nearest_rows_and_below_what_is_found():
    points, k = many_points(400), 10
    (nearest,) = lower_bounds(points, [k])
    (found,) = cut_local(points, [k], Wishes(effort="normal"))
    bound = price_bound(points, k, mean_loss(found))

    assert 1.2 * nearest.loss < bound <= mean_loss(found)
    assert bound == price_bound(points, k, mean_loss(found), threads=2)


def test_it_begins_with_the_narrowest_cells_and_never_falls():
    points, k = many_points(300), 5
    pricer = price(points, k)
    (nearest,) = lower_bounds(points, [k])
    bounds = [pricer.bound]
    for _ in range(6):
        pricer.climb(20, 2 * bounds[0])
        bounds.append(pricer.bound)

    assert bounds[0] >= nearest.loss * points.rows * 4 - 1e-9
    assert bounds == sorted(bounds)
    assert bounds[-1] > bounds[0]


def test_axes_that_are_no_trees_have_the_bound_of_the_nearest_rows():
    with kech.read_table(pa.table({"x": list(range(30))}), quasi_identifiers=["x"]) as table:
        points = build_points(table, labels=Labels(grid="exact"))
    (nearest,) = lower_bounds(points, [4])

    assert price_bound(points, 4, 1.0) == nearest.loss


def test_too_many_cells_are_not_priced(monkeypatch):
    points = many_points(100)
    (nearest,) = lower_bounds(points, [4])
    monkeypatch.setattr("kech.cuts.pricing.MOST", 100)

    assert price_bound(points, 4, 1.0) == nearest.loss


def test_a_goal_that_is_no_number_and_a_k_beyond_the_rows():
    points = many_points(20)
    with pytest.raises(ValueError, match="finite"):
        price(points, 2).climb(1, float("nan"))
    with pytest.raises(ValueError, match="k"):
        price(points, 21)

"""Gathering: within twice the exhaustive optimum, with a bound below it; the odd ones."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cutting import code_points, cut, recording
from kech.cuts.bounds import eps_bound
from kech.cuts.minimal import gather_classes, gather_within
from kech.points.partition import largest_radius
from kech.topology.minimal import minimal_complex
from strategies import point_sets, unhurried
from topology_oracles import eps_widths


def exact_points(**columns):
    return code_points(pa.table(columns), grid="exact")


def printed_minimum(points, k):
    """The smallest radius of all partitions; a row alone is printed as wide as its cell, too."""
    codes = points.codes.astype(np.int64)
    cells = [eps_widths(axis, codes[:, j], codes[:, j]).max() / 2 for j, axis in enumerate(points.axes)]
    return max(minimal_complex(points, k)[0], *cells)


def check(partition, points, k):
    """Every row in one class of k rows or more."""
    rows = np.bincount(partition.point, weights=partition.rows, minlength=len(points.weights))
    assert rows.tolist() == points.weights.tolist()
    assert partition.sizes.min() >= k
    assert partition.rows.min() > 0


@settings(unhurried, max_examples=120)
@given(point_sets(most_rows=9, heaviest=3), st.booleans(), st.data())
def test_it_is_at_most_twice_as_wide_as_the_narrowest_and_the_bound_is_below(points, know, data):
    assume(points.rows <= 10)
    k = data.draw(st.integers(1, points.rows))
    at = points.published_at(k)
    best = printed_minimum(at, k)
    found, bound = gather_classes(at, k, eps_bound(at, k) if know else 0.0, 0.5)

    assert bound <= best + 1e-12
    for partition in found:
        check(partition, at, k)
        assert largest_radius(partition) <= 2 * best + 1e-9
    assert found or best == pytest.approx(0.5)


@settings(unhurried, max_examples=60)
@given(point_sets(most_rows=9, heaviest=3), st.data())
def test_no_reach_that_a_partition_has_is_refused(points, data):
    assume(points.rows <= 10)
    k = data.draw(st.integers(1, points.rows))
    at = points.published_at(k)

    assert gather_within(at, k, 2 * printed_minimum(at, k), np.inf)


def test_a_row_that_two_centres_need_raises_the_bound():
    points = exact_points(x=[0, 1, 2])
    found, bound = gather_classes(points, 2, eps_bound(points, 2), 0.5)

    assert eps_bound(points, 2) == 0.25
    assert bound == pytest.approx(0.5, abs=1e-11)
    assert [partition.classes for partition in found] in ([], [1])


def test_rows_are_fetched_through_other_centres():
    points = exact_points(x=[0, 4, 8, 8, 12, 16, 16, 16])
    (partition,) = gather_within(points, 2, 0.25, np.inf)

    check(partition, points, 2)
    assert partition.classes == 3


def test_what_would_take_long_is_left_where_nothing_depends_on_it():
    rng = np.random.default_rng(5)
    points = exact_points(x=rng.random(300), y=rng.random(300))

    assert gather_within(points, 3, 0.01, 10) == []
    assert gather_within(points, 3, 0.01, np.inf) is None


@pytest.mark.parametrize("k", [2, 9])
def test_the_minimal_cut_is_within_twice_its_bound(k):
    rng = np.random.default_rng(k)
    points = exact_points(x=rng.random(150).round(3), y=np.exp(rng.normal(0, 2, 150)).round(3))
    with recording("kech.cuts.minimal.gather_classes") as calls:
        (found,) = cut(points, [k], "minimal", effort="quick")
    ((_, ((gathered,), raised)),) = calls
    bound = found.eps_bound

    check(found, points, k)
    assert eps_bound(points, k) <= raised == bound <= largest_radius(found)
    assert largest_radius(gathered) <= 2 * bound + 1e-9
    assert largest_radius(found) <= 2 * bound + 1e-9

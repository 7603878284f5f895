"""Bounds: against every pair of rows, and below every partition."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutting import code_points, cut
from kech.cuts.bounds import lower_bounds
from kech.points.partition import largest_radius, mean_loss
from kech.tables.demo import nine_rows
from kech.topology.minimal import minimal_complex
from oracles import set_width
from strategies import point_sets, unhurried
from topology_oracles import eps_widths


def pairwise(points, width):
    """Width of the box around each two points on each axis: m x m x d."""
    found = []
    for axis, codes in zip(points.axes, points.codes.T.astype(np.int64), strict=True):
        lo, hi = np.minimum.outer(codes, codes), np.maximum.outer(codes, codes)
        found.append(width(axis, lo.ravel(), hi.ravel()).reshape(lo.shape))
    return np.stack(found, axis=2)


def label_widths(axis, lo, hi):
    """Of the narrowest label around two codes."""
    if axis.kind != "set":
        return axis.widths(lo, hi)
    return np.array([set_width(axis, pair) for pair in zip(lo, hi, strict=True)])


def expected(points, ks):
    """For each k the k-th nearest row of each row, one by one."""
    weights, places = points.weights, np.array(ks) - 1
    sides, sums = [], []
    for far in pairwise(points, eps_widths):
        sides.append(np.sort(np.repeat(far.max(axis=1), weights))[places])
    for own in pairwise(points, label_widths):
        sums.append(np.sort(np.repeat(own.sum(axis=1), weights))[places])
    losses = np.average(sums, axis=0, weights=weights) / len(points.axes)
    return [pytest.approx(pair, abs=1e-12) for pair in zip(np.max(sides, axis=0) / 2, losses, strict=True)]


@settings(unhurried, max_examples=150)
@given(point_sets(), st.data())
def test_bounds_are_those_of_all_pairs(points, data):
    ks = sorted(data.draw(st.sets(st.integers(1, points.rows), min_size=1, max_size=5)))
    found = lower_bounds(points, ks, threads=data.draw(st.sampled_from([1, 2])))

    assert found == expected(points, ks)


@settings(unhurried, max_examples=100)
@given(point_sets(), st.data())
def test_no_partition_is_below_its_bound(points, data):
    k = data.draw(st.integers(1, points.rows))
    (partition,) = cut(points, [k])
    (bound,) = lower_bounds(partition.points, [k])  # on the grid of a larger k, where that serves

    assert bound.eps <= largest_radius(partition) + 1e-12
    assert bound.loss <= mean_loss(partition) + 1e-12


def test_the_nine_rows():
    points = code_points(nine_rows(), ["age", "zip"], grid="exact")
    (bound,) = lower_bounds(points, [3])

    assert bound.eps <= minimal_complex(points, 3)[0]
    assert [bound] == expected(points, [3])


def test_the_bound_of_one_row_is_nothing():
    assert lower_bounds(code_points(nine_rows().slice(0, 1), ["age", "zip"], grid="exact"), [1]) == [(0.0, 0.0)]


@pytest.mark.long
def test_many_points_in_blocks_give_the_same_on_any_number_of_threads():
    rng = np.random.default_rng(3)
    frame = {"a": rng.integers(0, 400, 3000), "b": rng.normal(size=3000).round(2), "c": rng.integers(0, 5, 3000)}
    points = code_points(pa.table(frame), grid="exact")
    one, two = (lower_bounds(points, [2, 7, 40], threads=threads) for threads in (1, 2))

    assert one == two
    assert one == expected(points, [2, 7, 40])

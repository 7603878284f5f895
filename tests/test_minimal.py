"""The minimal anonymity complex is the best of all partitions, counted one by one."""

import numpy as np
import pytest

from kech.topology.minimal import minimal_complex
from topology_oracles import (
    KINDS,
    all_radii,
    coordinates,
    line_points,
    mixed_points,
    partition_radii,
    set_partitions,
    simplex_radius,
)

METRICS = ("box", "ball")


def small_sets(seed, count, metric, rows=7):
    rng = np.random.default_rng(seed)
    kinds = list(KINDS)
    for i in range(count):
        shape = int(rng.integers(1, rows + 1)), int(rng.integers(1, 4))
        if metric == "box" and i % 2:
            yield mixed_points(rng, *shape)
        else:
            yield line_points(coordinates(rng, kinds[i % len(kinds)], *shape))


def assert_is_partition(points, classes, k):
    rows = [point for part in classes for point in part]
    assert sorted(rows) == np.repeat(np.arange(len(points.weights)), points.weights).tolist()
    assert min(map(len, classes)) >= k


def test_the_oracle_counts_all_partitions():
    assert [len(set_partitions(n)) for n in range(8)] == [1, 1, 2, 5, 15, 52, 203, 877]
    for partition in set_partitions(5):
        assert sorted(i for part in partition for i in part) == list(range(5))
    assert len({frozenset(map(frozenset, partition)) for partition in set_partitions(6)}) == 203


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_best_of_all_partitions(metric, seed):
    for points in small_sets(seed, 40, metric):
        radii = all_radii(points, metric)
        for k in range(1, points.rows + 1):
            eps, classes = minimal_complex(points, k, metric)
            best = partition_radii(points, k, metric, radii)[0][0]
            widest = max(simplex_radius(points, np.array(part), metric) for part in classes)

            assert_is_partition(points, classes, k)
            assert eps == widest
            assert eps == (best if metric == "box" else pytest.approx(best, rel=1e-13))


@pytest.mark.parametrize("metric", METRICS)
def test_rows_of_one_point_may_go_to_several_classes(metric):
    points = line_points([[0], [0], [0], [0], [1], [9], [9], [9], [10]])

    eps, classes = minimal_complex(points, 3, metric)
    assert eps == 0.05
    assert sorted(classes) == [(0, 0, 0, 0, 1), (2, 2, 2, 3)]
    eps, classes = minimal_complex(points, 2, metric)
    assert eps == 0.05
    assert_is_partition(points, classes, 2)
    assert len(classes) == 4


@pytest.mark.parametrize("metric", METRICS)
def test_twins_need_no_eps(metric):
    points = line_points([[1, 2]] * 4 + [[5, 6]] * 3)

    assert minimal_complex(points, 3, metric)[0] == 0
    assert minimal_complex(points, 4, metric)[0] == (0.5 if metric == "box" else 0.5**0.5)


@pytest.mark.parametrize("metric", METRICS)
def test_all_rows_are_the_only_class_above_half_of_them(metric):
    points = line_points(np.random.default_rng(1).random((9, 2)))
    everybody = simplex_radius(points, np.arange(9), metric)

    for k in range(5, 10):
        assert minimal_complex(points, k, metric) == (everybody, [tuple(range(9))])
    assert minimal_complex(points, 4, metric)[0] < everybody


def test_a_larger_k_never_needs_a_smaller_eps():
    for points in small_sets(9, 40, "box", rows=9):
        found = [minimal_complex(points, k)[0] for k in range(1, points.rows + 1)]
        assert found == sorted(found)
        assert found[0] == 0


def test_it_is_for_a_handful_of_rows():
    few, many = (line_points(np.arange(rows)[:, None] // 2) for rows in (12, 13))

    assert minimal_complex(few, 2)[0] == 0
    assert minimal_complex(many, 2) is None
    assert minimal_complex(few, 13) is None
    assert minimal_complex(few, 0) is None

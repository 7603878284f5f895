"""Merge trees and simplex radii are those of the definitions, looked at pair by pair and subset by subset."""

from datetime import datetime
from itertools import combinations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

from kech import _kernels
from kech.axes import build_rank_axis
from kech.errors import BadOption
from strategies import seeds
from topology_oracles import (
    KINDS,
    WHOLE,
    ball_bounds,
    build_filtration,
    components,
    coordinates,
    distances,
    exact_square_radius,
    gather,
    line_axis,
    line_points,
    merge_tree,
    mixed_points,
    simplex_eps,
    simplex_radius,
)

SCIPY = {"box": "chebyshev", "ball": "euclidean"}
METRICS = list(SCIPY)


def members(tree, node):
    return frozenset(tree.order[tree.begin[node] : tree.end[node]].tolist())


def nodes(tree):
    """Every node as (its points, birth, death)."""
    return [(members(tree, n), float(tree.birth[n]), float(tree.death[n])) for n in range(len(tree.parent))]


def lasting(found, shortest=1e-12):
    """The same by points, without those that never live, or by rounding alone."""
    return {part: (birth, death) for part, birth, death in found if death - birth > shortest}


def assert_same_values(found, expected):
    assert found.keys() == expected.keys()
    for part, values in expected.items():
        assert found[part] == pytest.approx(values, rel=1e-12)


def random_sets(seed, count, *, rows=12, axes=3, kinds=KINDS):
    """Sets of numbers, of every kind in turn."""
    rng = np.random.default_rng(seed)
    kinds = list(kinds)
    for i in range(count):
        shape = int(rng.integers(1, rows + 1)), int(rng.integers(1, axes + 1))
        yield line_points(coordinates(rng, kinds[i % len(kinds)], *shape))


def random_mixed_sets(seed, count, *, rows=12, axes=3):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield mixed_points(rng, int(rng.integers(1, rows + 1)), int(rng.integers(1, axes + 1)))


# Merges


def test_four_corners_of_a_square_are_one_merge_of_four():
    points = line_points([[0, 0], [0, 1], [1, 0], [1, 1]])
    for metric, simplex in (("box", 0.5), ("ball", 0.5**0.5)):
        tree = build_filtration(points, metric)

        assert tree.parent.tolist() == [4, 4, 4, 4, -1]
        assert tree.birth.tolist() == [0, 0, 0, 0, 0.5]
        assert tree.death.tolist() == [0.5, 0.5, 0.5, 0.5, np.inf]
        assert tree.weight.tolist() == [1, 1, 1, 1, 4]
        assert tree.simplex_from.tolist() == [0, 0, 0, 0, simplex]


@pytest.mark.parametrize("seed", seeds(4))
def test_boxes_of_numbers_merge_as_single_linkage_says_and_as_the_definition_says(seed):
    for points in random_sets(seed, 300):
        distance, tree = distances(points, "box"), build_filtration(points)

        assert set(nodes(tree)) == set(merge_tree(distance))
        assert merge_heights(tree) == approx_heights(scipy_heights(points, "box"))


@pytest.mark.parametrize("seed", seeds(4))
def test_boxes_of_mixed_axes_merge_as_the_definition_says(seed):
    for points in random_mixed_sets(seed, 300):
        tree = build_filtration(points)

        assert lasting(nodes(tree), 0.0) == lasting(merge_tree(distances(points, "box")), 0.0)


@pytest.mark.parametrize("seed", seeds(4))
def test_balls_merge_as_single_linkage_says_and_as_the_definition_says(seed):
    for points in random_sets(seed, 200):
        tree = build_filtration(points, "ball")

        assert_same_values(lasting(nodes(tree)), lasting(merge_tree(distances(points, "ball"))))
        assert merge_heights(tree) == approx_heights(scipy_heights(points, "ball"))


def scipy_heights(points, metric):
    """Radii at which scipy joins two clusters, ascending."""
    if len(points.weights) == 1:
        return []
    return sorted(linkage(pdist(rescaled(points), SCIPY[metric]), "single")[:, 2] / 2)


def rescaled(points):
    """Coordinates in the unit cube, as the paper takes them."""
    values = np.stack([axis.low[codes] for axis, codes in zip(points.axes, points.codes.T, strict=True)], axis=1)
    return (values - values.min(axis=0)) / np.where(np.ptp(values, axis=0) > 0, np.ptp(values, axis=0), 1.0)


def merge_heights(tree):
    """The same of a tree: a merge of n is n - 1 merges of two."""
    children = np.bincount(tree.parent[tree.parent >= 0], minlength=len(tree.parent))
    return sorted(np.repeat(tree.birth, np.maximum(children - 1, 0)).tolist())


def approx_heights(heights):
    return pytest.approx(heights, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("metric", METRICS)
def test_on_whole_numbers_equal_distances_are_one_merge(metric):
    several = 0
    for points in random_sets(11, 300, rows=16, axes=4, kinds=WHOLE):
        tree = build_filtration(points, metric)
        assert {part for part, _, _ in nodes(tree)} == {part for part, _, _ in merge_tree(distances(points, metric))}
        assert (np.diff(np.unique(tree.birth)) > 1e-9).all()
        assert (tree.birth < tree.death).all()
        several += (np.bincount(tree.parent[tree.parent >= 0]) > 2).sum()

    assert several > 200


def test_three_four_five_is_as_far_as_five_in_a_cube_of_any_length():
    for length in (5, 7, 9, 11, 30, 307):
        corners = [[0, 0, 0], [length, length, length]]
        points = line_points([*corners, [5, 0, 0], [0, 3, 4], [3, 4, 0]])
        births = np.unique(build_filtration(points, "ball").birth)

        assert (np.diff(births) > 1e-9).all()


def test_two_dates_a_microsecond_apart_are_as_far_apart_as_their_column_says():
    moment = datetime(2024, 2, 29, 12).timestamp()
    seconds = moment + np.array([0, 1e-6, 2e-6, 1.0])
    points = line_points(np.stack([seconds, seconds], axis=1), is_date=True)
    tree = build_filtration(points, "ball")

    assert tree.birth[4] == pytest.approx(1e-6 / 2**0.5, rel=1e-9)
    assert simplex_radius(points, np.arange(3), "ball") == pytest.approx(1e-6 * 2**0.5, rel=1e-9)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(2))
def test_a_tree_is_a_tree_and_its_weights_are_rows(seed, metric):
    for points in [*random_sets(seed, 100), *(random_mixed_sets(seed, 100) if metric == "box" else [])]:
        tree = build_filtration(points, metric)
        count = len(points.weights)
        assert (tree.parent == -1).sum() == 1
        assert sorted(tree.order.tolist()) == list(range(count))
        for node, (part, birth, death) in enumerate(nodes(tree)):
            assert tree.weight[node] == sum(points.weights[i] for i in part)
            up = tree.parent[node]
            assert birth == 0 or len(part) > 1
            assert death == (np.inf if up < 0 else tree.birth[up])
            assert up < 0 or (up > node and part < members(tree, up))
            assert node >= count or part == {node}


@pytest.mark.parametrize("metric", METRICS)
def test_threads_change_nothing(metric):
    rng = np.random.default_rng(5)
    for values in (rng.random((3000, 3)), rng.integers(0, 12, (4000, 3)), rng.integers(0, 9, (300, 8))):
        points = line_points(values)
        one, *others = [build_filtration(points, metric, threads=threads) for threads in (1, 2, 3)]
        for other in others:
            for name in ("parent", "weight", "birth", "death", "simplex_from", "begin", "end", "order"):
                assert getattr(one, name).tolist() == getattr(other, name).tolist()


def test_threads_change_nothing_on_mixed_axes():
    for points in random_mixed_sets(6, 20, rows=1500, axes=4):
        one, *others = [build_filtration(points, threads=threads) for threads in (1, 2, 3)]
        for other in others:
            for name in ("parent", "birth", "death", "simplex_from", "order"):
                assert getattr(one, name).tolist() == getattr(other, name).tolist()


@pytest.mark.long
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["uniform", "clusters", "whole"])
def test_twenty_thousand_points_merge_along_a_minimum_spanning_tree(kind, metric):
    rng = np.random.default_rng(1)
    values = {
        "uniform": rng.random((20_000, 3)),
        "clusters": rng.random((20_000, 2)) + 1.04 * rng.integers(0, 3, (20_000, 2)),
        "whole": rng.integers(0, 90, (20_000, 3)),
    }[kind]
    points = line_points(values)
    heights = merge_heights(build_filtration(points, metric, threads=2))

    assert len(heights) == len(points.weights) - 1
    assert heights == pytest.approx(spanning_heights(rescaled(points), metric, 2.001 * heights[-1]), rel=1e-9)


def spanning_heights(where, metric, reach):
    """Radii of the edges of the minimum spanning tree, which has no edge longer than some reach that connects all."""
    tree = cKDTree(where)
    near = tree.sparse_distance_matrix(tree, reach, p=np.inf if metric == "box" else 2, output_type="coo_matrix")
    found = minimum_spanning_tree(near.tocsr())
    assert found.nnz == len(where) - 1
    return sorted(found.data / 2)


# Components at one eps


@pytest.mark.parametrize("metric", METRICS)
def test_components_at_any_eps_are_those_of_the_definition(metric):
    rng = np.random.default_rng(8)
    for points in [*random_sets(8, 150), *(random_mixed_sets(8, 150) if metric == "box" else [])]:
        distance, tree = distances(points, metric), build_filtration(points, metric)
        for eps in [0.0, *rng.random(4), *(tree.birth if metric == "box" else [])]:
            labels = tree.components(eps)
            parts = {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}
            assert parts == components(distance, eps)
            assert set(labels.tolist()) == set(range(len(parts)))
            assert {members(tree, node) for node in tree.nodes_at(eps)} == parts


# Simplices


@pytest.mark.parametrize("seed", seeds(3))
def test_boxes_are_simplices_from_half_their_widest_side_on(seed):
    for points in [*random_sets(seed, 150), *random_mixed_sets(seed, 250)]:
        tree = build_filtration(points)
        for node, (part, birth, death) in enumerate(nodes(tree)):
            radius = simplex_eps(points, part, "box")
            assert birth <= radius
            assert tree.simplex_from[node] == (radius if radius < death else np.inf)
            assert simplex_radius(points, np.array(sorted(part))) == radius


@pytest.mark.parametrize("seed", range(3))
def test_balls_are_simplices_from_the_radius_of_their_smallest_ball_on(seed):
    for points in random_sets(seed, 60, rows=7):
        tree = build_filtration(points, "ball")
        for node, (part, birth, death) in enumerate(nodes(tree)):
            radius = simplex_eps(points, part, "ball")
            found = tree.simplex_from[node]
            assert found >= birth
            if found == np.inf:
                assert radius >= death * (1 - 1e-12)
            else:
                assert found < death
                assert found == pytest.approx(radius, rel=1e-13)
                assert found == simplex_radius(points, np.array(sorted(part)), "ball")


@pytest.mark.parametrize("metric", METRICS)
def test_a_set_has_one_radius_in_every_tree_to_the_last_bit(metric):
    rng = np.random.default_rng(4)
    checked = 0
    for _ in range(8):
        points = line_points(rng.normal(rng.integers(0, 40, (240, 1)), 0.1, (240, 3)))
        tree = build_filtration(points, metric)
        for node in np.flatnonzero((tree.end - tree.begin > 3) & np.isfinite(tree.simplex_from)):
            part = np.array(sorted(members(tree, node)))
            assert tree.simplex_from[node] == simplex_radius(points, part, metric)
            checked += 1

    assert checked > 100


@pytest.mark.parametrize("metric", METRICS)
def test_two_points_are_a_simplex_the_moment_they_meet(metric):
    for points in random_sets(3, 400, rows=6, axes=8):
        distance = distances(points, metric)
        for a, b in np.argwhere(np.triu(distance) > 0)[:5]:
            pair = gather(points.axes, points.codes[[a, b]])
            tree = build_filtration(pair, metric)
            assert tree.simplex_from[2] == tree.birth[2] == simplex_radius(points, np.array([a, b]), metric)


@pytest.mark.parametrize("metric", METRICS)
def test_one_point_is_a_simplex_from_the_start(metric):
    tree = build_filtration(line_points([[3, 4]] * 5), metric)

    assert nodes(tree) == [({0}, 0.0, np.inf)]
    assert tree.weight.tolist() == [5]
    assert tree.simplex_from.tolist() == [0.0]


def test_the_radius_of_a_set_does_not_depend_on_where_and_in_which_order_it_lies():
    rng = np.random.default_rng(9)
    for points in random_sets(9, 100, rows=12, axes=4):
        chosen = rng.permutation(len(points.weights))[: rng.integers(1, len(points.weights) + 1)]
        radius = simplex_radius(points, chosen, "ball")
        assert radius == simplex_radius(points, np.repeat(chosen[::-1], 2), "ball")
        assert radius == pytest.approx(simplex_eps(points, chosen.tolist(), "ball") if len(chosen) < 7 else radius)


# The smallest ball


def test_the_smallest_ball_is_the_smallest_of_all_subsets():
    rng = np.random.default_rng(10)
    for i in range(600):
        kind = list(KINDS)[i % len(KINDS)]
        where = coordinates(rng, kind, int(rng.integers(1, 7)), int(rng.integers(1, 4)))
        square = exact_square_radius(where.tolist())
        assert _kernels.enclosing_radius(where) == pytest.approx(float(square) ** 0.5, rel=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_ball_holds_all_and_no_smaller_one_does(kind):
    rng = np.random.default_rng(20)
    for _ in range(400):
        assert_smallest(coordinates(rng, kind, int(rng.integers(1, 25)), int(rng.integers(1, 9))))


def test_the_smallest_ball_of_thirds_in_five_dimensions():
    rng = np.random.default_rng(21)
    for _ in range(300):
        assert_smallest(rng.integers(0, 4, (int(rng.integers(2, 40)), 5)) / 3)


def test_the_smallest_ball_of_points_on_a_sphere():
    rng = np.random.default_rng(22)
    for _ in range(300):
        where = rng.normal(size=(int(rng.integers(2, 30)), int(rng.integers(2, 9))))
        assert_smallest(where / np.linalg.norm(where, axis=1, keepdims=True) + rng.integers(-3, 3))


def test_the_smallest_ball_of_points_that_nearly_touch():
    rng = np.random.default_rng(23)
    for _ in range(600):
        rows, axes = int(rng.integers(2, 12)), int(rng.integers(1, 5))
        corner = rng.integers(0, 2, (rows, axes)) * rng.integers(0, 2)
        assert_smallest(corner + rng.random(axes) + rng.random((rows, axes)) * 10.0 ** -rng.integers(1, 12))


def test_a_ball_is_held_by_the_points_on_it_where_others_have_the_same_centre():
    """The middle of two inner points is the centre of the ball here; they do not hold it."""
    corners = np.array([[0.0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 0], [0.25, 0.5, 0.5], [0.75, 0.5, 0.5]])
    for shift in range(6):
        assert _kernels.enclosing_radius(np.roll(corners, shift, axis=0)) == 0.75**0.5


def assert_smallest(where):
    lower, upper = ball_bounds(where)
    assert upper <= lower * (1 + 1e-12)
    assert lower * (1 - 2e-15) <= _kernels.enclosing_radius(np.ascontiguousarray(where)) <= upper * (1 + 2e-15)


def test_balls_meet_when_any_few_of_them_do():
    """Helly's theorem, on which the oracle of complexes stands."""
    rng = np.random.default_rng(24)
    for _ in range(60):
        where = rng.integers(0, 6, (5, 2)).tolist()
        few = [exact_square_radius(where[i] for i in trio) for trio in combinations(range(5), 3)]
        assert exact_square_radius(where) == max(few)


# Which axes a metric takes


def test_a_ball_takes_exact_numbers_only_and_says_which_column_is_none():
    number = line_axis(np.arange(4.0))
    reasons = ["does not hold numbers or dates", "has NULLs", "is on a grid", "is on a grid"]
    others = [
        build_rank_axis("c", ["a", "b"], ["a", "b"], False, is_ordered=True),
        line_axis(np.arange(4.0), has_null=True),
        line_axis(np.arange(40.0), grid="round"),
        line_axis(np.arange(40.0), grid=10.0),
    ]
    build_filtration(gather([number], np.zeros((1, 1))), "ball")
    for axis, reason in zip(others, reasons, strict=True):
        points = gather([number, axis], np.zeros((1, 2)))
        build_filtration(points, "box")
        with pytest.raises(BadOption, match=rf"column 'c' {reason}; .*, or use metric=.box."):
            build_filtration(points, "ball")


def test_a_ball_takes_ten_columns_and_no_more():
    for axes in (10, 11):
        points = gather([line_axis(np.arange(2.0))] * axes, np.eye(axes))
        if axes == 10:
            assert build_filtration(points, "ball").birth.max() == pytest.approx(2**0.5 / 2)
        else:
            with pytest.raises(BadOption, match="at most 10 columns"):
                build_filtration(points, "ball")


def test_there_are_two_metrics():
    with pytest.raises(BadOption, match="Choose among box, ball"):
        build_filtration(line_points([[1], [2]]), "rips")

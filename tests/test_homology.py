"""Holes: against the whole complex of every subset of a few points, and against GUDHI on many."""

import os
import sys
from importlib.util import find_spec
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from cutting import code_points, recording
from kech.axes import build_line_axis, build_rank_axis
from kech.errors import BadOption, MissingExtra, ResourceError
from kech.points.points import Points
from kech.tables.demo import nine_rows
from kech.topology.barcode import build_barcode
from kech.topology.homology import find_holes
from kech.topology.homology.boxes import box_bars, rips_bars
from strategies import point_sets, unhurried
from topology_oracles import build_filtration, eps_widths, simplex_radius

METRICS = [pytest.param("box", marks=pytest.mark.skipif(not find_spec("ripser"), reason="no ripser")), "ball"]
boxes_too = pytest.mark.parametrize("metric", METRICS)
needs_ripser = METRICS[0].marks[0]


def points_at(places, *, beyond=()):
    """Distinct rows as points; the values `beyond` widen every axis and are nobody's."""
    rows = np.unique(np.asarray(places, float), axis=0)
    values = [np.unique(np.append(column, beyond)) for column in rows.T]
    axes = [build_line_axis("c", x, np.ones(len(x), int), False, is_date=False, grid="exact") for x in values]
    codes = [np.searchsorted(x, column) for x, column in zip(values, rows.T, strict=True)]
    return Points(tuple(axes), (), np.stack(codes, axis=1).astype(np.int32), np.ones(len(rows), np.int64))


def unit_cube(places):
    """Each column from 0 to 1, as kech measures it."""
    rows = np.unique(np.asarray(places, float), axis=0)
    span = np.ptp(rows, axis=0)
    return (rows - rows.min(axis=0)) / np.where(span > 0, span, 1)


def higher_bars(points, metric, top, **options):
    """The bars alone."""
    return find_holes(points, metric, top, **options).bars


# The oracle: every subset of the points is a simplex at its radius; one boundary matrix, reduced column by column


def cech_bars(count, radius, top):
    """Bars of the complex of all subsets, those of zero length too; radius(subset) is its eps."""
    subsets = [subset for size in range(1, top + 3) for subset in combinations(range(count), size)]
    eps = {subset: radius(subset) for subset in subsets}
    order = sorted(subsets, key=lambda subset: (eps[subset], len(subset)))
    place = {subset: i for i, subset in enumerate(order)}
    columns, bars = {}, {n: [] for n in range(1, top + 1)}
    for subset in order:
        column = {place[face] for face in combinations(subset, len(subset) - 1) if face}
        while column and max(column) in columns:
            column ^= columns[max(column)]
        if column:
            columns[max(column)] = column
            if len(subset) > 2:
                bars[len(subset) - 2].append((eps[order[max(column)]], eps[subset]))
    return {n: np.array(found).reshape(-1, 2) for n, found in bars.items()}


def ball_radius(places):
    """The smallest sphere through some points of a subset that holds all of it."""
    spheres = {}

    def sphere(some):
        if some not in spheres:
            first, rest = places[some[0]], places[list(some[1:])]
            sides = rest - first
            offset = np.linalg.lstsq(2 * sides, (sides**2).sum(axis=1), rcond=1e-10)[0] if len(rest) else 0 * first
            spheres[some] = first + offset, np.linalg.norm(offset)
        return spheres[some]

    def radius(subset):
        balls = [sphere(some) for size in range(1, len(subset) + 1) for some in combinations(subset, size)]
        far = [np.linalg.norm(places[list(subset)] - centre, axis=1).max() for centre, _ in balls]
        return min(r for (_, r), reach in zip(balls, far, strict=True) if reach <= r + 1e-10)

    return radius


def box_radius(points):
    """Half the widest side of a subset's box of codes."""

    def radius(subset):
        lo, hi = points.codes[list(subset)].min(axis=0), points.codes[list(subset)].max(axis=0)
        widths = [eps_widths(axis, lo[[j]], hi[[j]])[0] for j, axis in enumerate(points.axes) if lo[j] < hi[j]]
        return max(widths, default=0.0) / 2

    return radius


def same_bars(found, expected, *, shortest=1e-9, off=1e-9):
    """Each bar longer than `shortest` has its own match, in any order."""
    left = [bar for bar in np.asarray(expected) if bar[1] - bar[0] > shortest]
    for bar in (bar for bar in found if bar[1] - bar[0] > shortest):
        distance = [np.abs(bar - other).max() for other in left]
        if not left or min(distance) > off:
            return False
        left.pop(int(np.argmin(distance)))
    return not left


# Few points of every degenerate kind

CIRCLE = [(x, y) for x in range(-5, 6) for y in range(-5, 6) if x * x + y * y == 25]
SPHERE = [(x, y, z) for x, y in np.ndindex(7, 7) for z in range(7) if (x - 3) ** 2 + (y - 3) ** 2 + (z - 3) ** 2 == 9]


@st.composite
def clouds(draw, most=8):
    """Free, on a grid, on a line, in a plane, on a sphere, or with a constant column; twins now and then."""
    kind = draw(st.sampled_from(["free", "grid", "grid", "line", "plane", "circle", "sphere", "constant"]))
    if kind in ("circle", "sphere"):
        return np.array(
            draw(st.lists(st.sampled_from(CIRCLE if kind == "circle" else SPHERE), min_size=1, max_size=most))
        )
    axes = draw(st.integers(1, 3))
    inner = {"line": 1, "plane": 2}.get(kind, axes)
    numbers = st.integers(0, 10**4 if kind in ("free", "constant") else 3)
    rows = np.array(draw(st.lists(st.tuples(*[numbers] * inner), min_size=1, max_size=most)))
    if kind in ("line", "plane"):
        rows = rows @ np.array(draw(st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=inner, max_size=inner)))
    return np.insert(rows, 0, 7, axis=1) if kind == "constant" else rows


@settings(unhurried, max_examples=300)
@given(clouds())
def test_balls_have_the_bars_of_the_whole_complex(places):
    cube = unit_cube(places)
    found = higher_bars(points_at(places), "ball", 3)
    expected = cech_bars(len(cube), ball_radius(cube), 2)

    assert all(same_bars(found[n], expected[n]) for n in (1, 2))
    assert len(found[3]) == 0


@needs_ripser
@settings(unhurried, max_examples=200)
@given(clouds())
def test_boxes_have_the_bars_of_the_whole_complex(places):
    points = points_at(places)
    found, expected = higher_bars(points, "box", 2), cech_bars(len(points.codes), box_radius(points), 2)

    assert all(same_bars(found[n], expected[n], shortest=0, off=0) for n in (1, 2))


@needs_ripser
@settings(unhurried, max_examples=200)
@given(point_sets())
def test_boxes_of_every_kind_of_axis_have_no_holes_above_the_highest_dimension(points):
    found, expected = higher_bars(points, "box", 2), cech_bars(len(points.codes), box_radius(points), 2)

    assert all(same_bars(found[n], expected[n], shortest=0, off=0) for n in (1, 2))
    for computed in ({}, {1: found[1]}):
        if kech.WeightedBarcode(build_filtration(points), computed).is_complete:
            assert all(len(found[n]) == 0 for n in (1, 2) if n not in computed)


@needs_ripser
@settings(unhurried, max_examples=200)
@given(point_sets())
def test_bars_of_zero_length_of_boxes_are_counted_and_shown_when_asked_for(points):
    expected = cech_bars(len(points.codes), box_radius(points), 2)
    short = {n: int((bars[:, 0] == bars[:, 1]).sum()) for n, bars in expected.items()}

    assert find_holes(points, "box", 2).left_out == short
    found = find_holes(points, "box", 2, zero_length=True)
    assert found.left_out == {1: 0, 2: 0}
    assert all(found.bars[n].tolist() == sorted(expected[n].tolist()) for n in (1, 2))


@needs_ripser
def test_points_that_rounding_cannot_part_merge_at_once():
    """ripser lists no merge at distance 0, and holes were counted that are none, or fewer than none."""
    points = points_at([[0, 0], [1e-320, 0], [0, 1e-320], [1e308, 0], [5e307, 1e308]])
    expected = cech_bars(5, box_radius(points), 2)
    found = find_holes(points, "box", 2, zero_length=True)

    assert found.left_out == {1: 0, 2: 0}
    assert all(found.bars[n].tolist() == sorted(expected[n].tolist()) for n in (1, 2))


@settings(unhurried, max_examples=200)
@given(clouds())
def test_bars_of_zero_length_of_balls_are_counted_and_shown_when_asked_for(places):
    points = points_at(places)
    some, every = (find_holes(points, "ball", 2, zero_length=asked) for asked in (False, True))

    assert every.left_out == {1: 0, 2: 0}
    for n in (1, 2):
        short = every.bars[n][:, 0] == every.bars[n][:, 1]
        assert some.left_out[n] == short.sum()
        assert some.bars[n].tolist() == every.bars[n][~short].tolist()


def test_bars_of_zero_length_of_a_square_and_one_more():
    square, more = points_at([[0, 0], [0, 1], [1, 0], [1, 1]]), points_at([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]])

    assert find_holes(square, "ball", 1).left_out == {1: 1}
    assert find_holes(more, "ball", 1).left_out == {1: 2}


@needs_ripser
def test_refuses_to_list_more_bars_of_zero_length_than_fit():
    points = points_at(many_points("uniform", 3, 200, seed=8))

    with pytest.raises(ResourceError, match="200 points"):
        higher_bars(points, "box", 2, memory=10_000_000, zero_length=True)
    assert len(higher_bars(points, "box", 2, memory=10**9)[1])


# Many points


def many_points(kind, axes, count, seed):
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        return rng.random((count, axes))
    if kind == "grid":
        return rng.integers(0, 9, (count, axes))
    if kind == "clusters":
        return rng.random((5, axes))[rng.integers(0, 5, count)] + rng.normal(0, 0.003, (count, axes))
    ring = rng.normal(size=(count, axes))
    return ring / np.linalg.norm(ring, axis=1, keepdims=True)


KINDS = pytest.mark.parametrize("kind", ["uniform", "grid", "clusters", "sphere"])


@KINDS
@pytest.mark.parametrize(("axes", "count"), [(2, 20), (2, 200), (3, 150), (4, 60), (5, 40)])
def test_balls_agree_with_gudhi(kind, axes, count):
    gudhi = pytest.importorskip("gudhi")
    places = many_points(kind, axes, count, seed=axes + count)
    tree = gudhi.AlphaComplex(points=unit_cube(places), precision="exact").create_simplex_tree(
        output_squared_values=False
    )
    tree.compute_persistence()
    found = higher_bars(points_at(places), "ball", axes)

    for n in range(1, axes):
        assert same_bars(found[n], tree.persistence_intervals_in_dimension(n).reshape(-1, 2))


@needs_ripser
@KINDS
@pytest.mark.parametrize(("axes", "count", "top"), [(2, 60, 1), (3, 40, 2)])
def test_boxes_agree_with_gudhi(kind, axes, count, top):
    gudhi = pytest.importorskip("gudhi")
    places = many_points(kind, axes, count, seed=axes + count)
    cube = unit_cube(places)
    distances = np.abs(cube[:, None] - cube[None]).max(axis=2)
    tree = gudhi.RipsComplex(distance_matrix=distances).create_simplex_tree(max_dimension=top + 1)
    tree.compute_persistence()
    found = higher_bars(points_at(places), "box", top)

    for n in range(1, top + 1):
        assert same_bars(found[n], tree.persistence_intervals_in_dimension(n).reshape(-1, 2) / 2)


@needs_ripser
@settings(unhurried, max_examples=200)
@given(point_sets(), st.sampled_from([2, 3]))
def test_loops_of_boxes_are_those_of_ripser_on_every_kind_of_axis(points, field):
    expected = rips_bars(points, 1, 1, 10**9, field=field, zero_length=False)
    found = box_bars(points, 1, 1, 10**9, field=field, zero_length=False)

    assert found.bars[1].tolist() == expected.bars[1].tolist()
    assert found.left_out == expected.left_out


@needs_ripser
@KINDS
@pytest.mark.parametrize(("axes", "count"), [(2, 250), (3, 200), (4, 80)])
def test_loops_of_many_boxes_are_those_of_ripser_to_the_last_bit(kind, axes, count):
    points = points_at(many_points(kind, axes, count, seed=axes))
    expected = rips_bars(points, 1, 1, 10**9, field=3, zero_length=False)

    assert box_bars(points, 1, 1, 10**9, field=3, zero_length=False).bars[1].tolist() == expected.bars[1].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_loops_of_boxes_are_those_of_a_union_of_cells(seed):
    """GUDHI's cubical complex on cells of half a unit: each enters when the first box covers it."""
    gudhi = pytest.importorskip("gudhi")
    places = np.random.default_rng(seed).integers(0, 31, (120, 2))
    places[:2] = [[0, 0], [30, 30]]
    middles = (np.arange(-30, 90) + 0.5) / 2
    cells = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1)
    enters = np.min([np.abs(cells - place).max(axis=2) + 0.25 for place in places], axis=0)
    cubical = gudhi.CubicalComplex(top_dimensional_cells=enters)
    cubical.compute_persistence()

    assert same_bars(higher_bars(points_at(places), "box", 1)[1], cubical.persistence_intervals_in_dimension(1) / 30)


def test_loops_of_twenty_thousand_boxes_are_not_refused():
    bars = higher_bars(points_at(many_points("uniform", 2, 20_000, seed=1)), "box", 1)[1]

    assert len(bars) > 5_000


@needs_ripser
def test_boxes_agree_with_ripser_on_the_plain_distances():
    from ripser import ripser

    cube = unit_cube(many_points("uniform", 3, 150, seed=1))
    plain = ripser(np.abs(cube[:, None] - cube[None]).max(axis=2), maxdim=1, distance_matrix=True)["dgms"][1] / 2

    assert same_bars(higher_bars(points_at(cube), "box", 1)[1], plain, shortest=1e-6, off=1e-6)


# Known shapes


def nine_points():
    return code_points(nine_rows(), ["age", "zip"], grid="exact")


def test_the_nine_rows_have_three_holes_between_balls():
    expected = [[0.1669, 0.1801], [0.1834, 0.1879], [0.5021, 0.5031]]

    assert higher_bars(nine_points(), "ball", 1)[1] == pytest.approx(np.array(expected), abs=1e-4)


@needs_ripser
def test_the_nine_rows_have_no_hole_between_boxes():
    assert len(higher_bars(nine_points(), "box", 2)[1]) == 0


@boxes_too
def test_a_ring_of_eight_on_a_grid(metric):
    ring = [(x, y) for x, y in np.ndindex(3, 3) if (x, y) != (1, 1)]

    assert higher_bars(points_at(ring), metric, 1)[1].tolist() == [[0.25, 0.5]]


def test_an_octahedron_is_hollow():
    corners = [sign * np.eye(3)[j] for j in range(3) for sign in (-1, 1)]
    found = higher_bars(points_at(corners), "ball", 2)

    assert found[1] == pytest.approx(np.array([[1 / np.sqrt(8), 1 / np.sqrt(6)]] * 7))  # 8 faces, 7 of them free
    assert found[2] == pytest.approx(np.array([[1 / np.sqrt(6), 0.5]]))


@boxes_too
@pytest.mark.parametrize(
    "places",
    [[[3, 4]], [[0, 0], [1, 1]], [[0], [3], [7]], [[1, 0], [1, 2], [1, 5], [1, 6]], [[0, 0, 0], [1, 0, 0], [0, 1, 0]]],
    ids=["one row", "two rows", "one column", "a constant column", "three rows in space"],
)
def test_no_holes(metric, places):
    assert {n: bars.shape for n, bars in higher_bars(points_at(places), metric, 3).items()} == dict.fromkeys(
        (1, 2, 3), (0, 2)
    )


@boxes_too
def test_dimension_zero_is_left_to_the_filtration(metric):
    assert higher_bars(nine_points(), metric, 0) == {}


# Fields


def projective_plane(rows=90):
    """A spiral on a hemisphere, on whose rim (x, y, z) and (-x, -y, -z) are one place: (xy, xz, yy - zz, 2yz)."""
    at = np.arange(rows) + 0.5
    z, turn = at / rows, at * np.pi * (3 - 5**0.5)
    x, y = np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn)
    columns = np.stack([x * y, x * z, y * y - z * z, 2 * y * z], axis=1)
    return np.round(1000 * (columns - columns.min(axis=0)) / np.ptp(columns, axis=0))


def alive(bars, eps):
    return [int(((found[:, 0] <= eps) & (eps < found[:, 1])).sum()) for found in bars.values()]


@needs_ripser
def test_a_projective_plane_has_holes_over_two_that_it_has_not_over_three():
    gudhi = pytest.importorskip("gudhi")
    rows = projective_plane()
    points = points_at(rows)
    tree = gudhi.RipsComplex(distance_matrix=box_distances(rows), max_edge_length=0.4).create_simplex_tree(
        max_dimension=3
    )
    for field, expected in ((2, [1, 1]), (3, [0, 0]), (5, [0, 0])):
        found = higher_bars(points, "box", 2, field=field)
        tree.compute_persistence(homology_coeff_field=field)

        assert alive(found, 0.196) == expected
        for n in (1, 2):
            known = tree.persistence_intervals_in_dimension(n).reshape(-1, 2) / 2
            early = [bar for bar in found[n].tolist() if bar[1] < 0.2]
            assert same_bars(early, [bar for bar in known.tolist() if bar[1] < 0.2])


def box_distances(rows):
    cube = unit_cube(rows)
    return np.abs(cube[:, None] - cube[None]).max(axis=2)


@pytest.mark.parametrize("field", [2, 3, 5])
def test_a_projective_plane_of_balls_agrees_with_gudhi_over_every_field(field):
    gudhi = pytest.importorskip("gudhi")
    rows = projective_plane()
    tree = gudhi.AlphaComplex(points=unit_cube(rows), precision="exact").create_simplex_tree(
        output_squared_values=False
    )
    tree.compute_persistence(homology_coeff_field=field)
    found = higher_bars(points_at(rows), "ball", 3, field=field)

    assert all(same_bars(found[n], tree.persistence_intervals_in_dimension(n).reshape(-1, 2)) for n in (1, 2, 3))


@needs_ripser
def test_the_homological_reading_is_that_of_its_field():
    points = points_at(projective_plane())
    for field, holds in ((2, False), (3, True)):
        barcode = build_barcode(points, "box", 3, threads=1, field=field)
        regimes = barcode.regimes("homological", 90)

        assert any(regime.start <= 0.196 < regime.stop for regime in regimes) == holds
        assert barcode.to_json(90)["field"] == field


@boxes_too
def test_fields_differ_on_the_projective_plane(metric):
    points = points_at(projective_plane())
    two, three = (higher_bars(points, metric, 1, field=field)[1] for field in (2, 3))

    assert two.tolist() != three.tolist()


def test_a_field_is_a_prime_that_is_not_too_large():
    refused = pytest.raises(BadOption, match=r"field: kech cannot use this value. Give a prime from 2 to 127")
    with kech.read_table(nine_rows(), quasi_identifiers=["age"]) as table, refused:
        kech.compute_barcode(table, field=131)


@boxes_too
def test_the_largest_field_gives_the_holes_of_small_ones_where_nothing_is_twisted(metric):
    points = points_at(many_points("uniform", 2, 40, seed=4))
    two, large = (higher_bars(points, metric, 1, field=field)[1].tolist() for field in (2, 127))

    assert two == large


# Laws


@boxes_too
@settings(unhurried, max_examples=50)
@given(places=clouds(), shift=st.integers(-9, 9), scale=st.integers(1, 9))
def test_only_proportions_matter(metric, places, shift, scale):
    found, again = (higher_bars(points_at(p), metric, 1)[1] for p in (places, places[:, ::-1] * -scale + shift))

    assert same_bars(found, again)


@boxes_too
@settings(unhurried, max_examples=50)
@given(places=clouds(), times=st.sampled_from([2, 4, 8]))
def test_on_longer_axes_the_bars_are_shorter(metric, places, times):
    span = int(np.ptp(places)) or 1
    found, halved = (
        higher_bars(points_at(places, beyond=places.min() + np.array([0, span * n])), metric, 2) for n in (1, times)
    )

    assert all(same_bars(found[n] / times, halved[n]) for n in (1, 2))


@boxes_too
@settings(unhurried, max_examples=50)
@given(places=clouds())
def test_loops_are_born_at_the_radius_of_a_pair_to_the_last_bit(metric, places):
    points = points_at(places)
    pairs = {simplex_radius(points, np.array(pair), metric) for pair in combinations(range(len(points.codes)), 2)}

    assert set(higher_bars(points, metric, 1)[1][:, 0].tolist()) <= pairs


@boxes_too
@pytest.mark.parametrize("seed", range(9))
def test_on_a_grid_equal_radii_are_equal_numbers(metric, seed):
    points = points_at(many_points("grid", 3, 60, seed) * np.random.default_rng(seed).integers(1, 40, 3))
    bars = higher_bars(points, metric, 2)
    radii = np.unique(np.concatenate([build_filtration(points, metric).birth, *(bars[n].ravel() for n in bars)]))

    assert np.diff(radii).min() > 1e-9


@boxes_too
@KINDS
def test_bars_are_ordered_and_end_before_all_rows_are_one_simplex(metric, kind):
    points = points_at(many_points(kind, 3, 80, seed=2))
    everything = build_filtration(points, metric).simplex_from[-1]

    for bars in higher_bars(points, metric, 2).values():
        assert bars.tolist() == sorted(bars.tolist())
        assert (bars[:, 0] < bars[:, 1]).all()
        assert (bars[:, 1] <= everything + 1e-12).all()


# Refusals


@boxes_too
def test_refuses_what_does_not_fit_into_memory(metric, monkeypatch):
    monkeypatch.setattr(
        f"kech.topology.homology.{'boxes.find_holes' if metric == 'box' else 'balls.build_skeleton'}", None
    )
    points = points_at(many_points("uniform", 3, 300, seed=3))

    with pytest.raises(ResourceError, match=r"Holes among 300 points may need .* MB .* max_dimension=0") as refusal:
        higher_bars(points, metric, 1, memory=100_000)
    assert refusal.value.exit_code == 5


@needs_ripser
def test_refuses_boxes_when_their_simplices_do_not_fit():
    points = points_at(many_points("sphere", 3, 100, seed=4))
    higher_bars(points, "box", 1, memory=75_000_000)

    with pytest.raises(ResourceError, match="100 points"):
        higher_bars(points, "box", 2, memory=75_000_000)


def test_refuses_quadratic_delaunay_complexes_from_samples():
    """Points on two skew lines: each piece of one line makes a cell with each piece of the other."""
    steps = np.sort(np.random.default_rng(5).random(2000))
    zeros, ones = np.zeros(2000), np.ones(2000)
    lines = np.concatenate([np.stack([steps, zeros, zeros], axis=1), np.stack([zeros, steps, ones], axis=1)])

    with recording("kech.topology.homology.balls.triangulate") as calls:
        with pytest.raises(ResourceError, match="4,000 points"):
            higher_bars(points_at(lines), "ball", 1, memory=10**8)
    assert max(len(places) for (places,), _ in calls) <= 1000


@needs_ripser
def test_refuses_more_distances_than_ripser_can_tell_apart(monkeypatch):
    monkeypatch.setattr("kech.topology.homology.boxes.FLOAT32_COUNTS", 20)

    with pytest.raises(ResourceError, match="too many distances"):
        higher_bars(points_at(many_points("uniform", 3, 9, seed=3)), "box", 2)


def test_refuses_balls_in_many_columns():
    with pytest.raises(ResourceError, match="8 columns"):
        higher_bars(points_at(np.random.default_rng(6).random((20, 9))), "ball", 1)


def with_outlier(bulk):
    places = np.random.default_rng(7).random((60, 2)) * bulk
    places[0] = 1
    return points_at(places)


@pytest.mark.parametrize("bulk", [1e-7, 1e-9])
def test_refuses_balls_where_an_outlier_leaves_no_room(bulk):
    with pytest.raises(BadOption, match="too close together"):
        higher_bars(with_outlier(bulk), "ball", 1)


def test_rows_closer_than_rounding_are_in_one_place():
    assert len(higher_bars(with_outlier(1e-14), "ball", 1)[1]) == 0


def test_balls_need_numbers():
    line = nine_points().axes[0]
    null = build_line_axis("n", np.arange(3.0), np.ones(3, int), True, is_date=False, grid="exact")
    step = build_line_axis("g", np.arange(9.0), np.ones(9, int), False, is_date=False, grid=2.5)
    text = build_rank_axis("t", ["a", "b"], ["a", "b"], False, is_ordered=True)
    codes = np.array([[0, 0], [1, 1]], np.int32)
    for axis in (null, step, text):
        with pytest.raises(BadOption, match=rf"metric: .*column '{axis.column}'"):
            higher_bars(Points((line, axis), (), codes, np.ones(2, np.int64)), "ball", 1)
    with pytest.raises(BadOption, match="among box, ball"):
        higher_bars(nine_points(), "cube", 1)


def test_names_the_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ripser", None)

    with pytest.raises(MissingExtra, match=r"Homology .*dimension 1.*kech\[topology\]"):
        higher_bars(points_at(many_points("uniform", 3, 9, seed=3)), "box", 2)
    assert len(higher_bars(points_at([[0], [1], [3]]), "box", 1)[1]) == 0  # no holes on a line: nothing to install


def test_allows_half_of_the_memory(monkeypatch):
    """On a machine of 2 MB, of which one is allowed."""
    points = points_at(many_points("uniform", 3, 300, seed=3))
    small, real = {"SC_PAGE_SIZE": 4000, "SC_PHYS_PAGES": 500}, os.sysconf
    monkeypatch.setattr("kech.system.machine.sysconf", lambda name: small.get(name) or real(name))
    with pytest.raises(ResourceError, match="and 1 MB are allowed"):
        higher_bars(points, "box", 2)

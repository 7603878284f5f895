"""Bars and regimes are those of the complexes themselves, at every eps; what was not computed is unknown."""

import dataclasses
import json
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest

import kech
from kech.errors import BadOption
from kech.tables.demo import nine_rows
from kech.topology.barcode import build_barcode
from kech.topology.minimal import minimal_complex
from strategies import seeds
from topology_oracles import (
    KINDS,
    all_radii,
    betti_numbers,
    build_filtration,
    components,
    coordinates,
    distances,
    gather,
    line_points,
    mixed_points,
    partition_radii,
    persistent_holes,
    simplex_eps,
    unit_cube,
)

INF = float("inf")
METRICS = ("box", "ball")
metrics = pytest.mark.parametrize("metric", METRICS)


def small_sets(seed, count, metric, *, rows=7, axes=3):
    """Points of every kind in turn; boxes also on mixed axes."""
    rng = np.random.default_rng(seed)
    kinds = list(KINDS)
    for i in range(count):
        shape = int(rng.integers(1, rows + 1)), int(rng.integers(1, axes + 1))
        if metric == "box" and i % 2:
            yield mixed_points(rng, *shape)
        else:
            yield line_points(coordinates(rng, kinds[i % len(kinds)], *shape))


def complete_barcode(points, metric, radii=None):
    """With the holes of the definition, so that regimes do not wait for a library."""
    dimensions = len(points.axes) - 1
    holes = persistent_holes(all_radii(points, metric) if radii is None else radii, dimensions)
    return kech.WeightedBarcode(
        build_filtration(points, metric), {n: np.array(bars).reshape(-1, 2) for n, bars in holes.items()}
    )


def stops(*values):
    """All values, and the middle of every two neighbours; those that rounding alone parts are one."""
    ends = np.unique(np.concatenate([np.ravel(value) for value in values]))
    ends = ends[np.isfinite(ends)]
    apart = [(a, b) for a, b in pairwise([*ends, ends[-1] + 1]) if b - a > 1e-9]
    return ends.tolist(), [(a + b) / 2 for a, b in apart]


class Scene:
    """The complex at one eps, by definition."""

    def __init__(self, points, metric, radii, eps):
        self.metric = metric
        self.points, self.parts = points, components(distances(points, metric), eps)
        self.weights = sorted(int(points.weights[list(part)].sum()) for part in self.parts)
        self.betti = betti_numbers(radii, eps, max(len(points.axes) - 1, 0))
        self.strict = all(simplex_eps(points, part, metric) <= eps for part in self.parts)


# Laws of every eps


@metrics
def test_classes_are_nested_and_hold_all_rows(metric):
    rng = np.random.default_rng(1)
    for points in small_sets(1, 60, metric, rows=12):
        tree = build_filtration(points, metric)
        exact, middles = stops(tree.birth)
        before = None
        for eps in sorted([*exact, *middles, *rng.random(3)]):
            labels, alive = tree.components(eps), tree.nodes_at(eps)
            assert tree.weight[alive].sum() == points.rows
            assert len(alive) == len(set(labels.tolist()))
            if before is not None:
                assert len(set(zip(before.tolist(), labels.tolist(), strict=True))) == len(set(before.tolist()))
            before = labels


@metrics
def test_the_number_of_classes_is_the_dimension_of_h_0(metric):
    for points in small_sets(2, 40, metric, rows=6):
        radii, barcode = all_radii(points, metric), kech.WeightedBarcode(build_filtration(points, metric))
        exact, middles = stops([0.0, *radii.values()])
        for eps in [*middles, *(exact if metric == "box" else [])]:
            (seen,) = barcode.at([eps])
            assert seen["classes"] == betti_numbers(radii, eps, 0)[0]


@metrics
def test_duplicating_every_row_doubles_weights_and_changes_no_value(metric):
    for points in small_sets(3, 40, metric):
        once = build_filtration(points, metric)
        twice = build_filtration(gather(points.axes, np.repeat(points.codes, 2 * points.weights, axis=0)), metric)
        assert twice.weight.tolist() == (2 * once.weight).tolist()
        for name in ("parent", "birth", "death", "simplex_from", "order"):
            assert getattr(twice, name).tolist() == getattr(once, name).tolist()


@metrics
@pytest.mark.parametrize("factor", [2, 3, 0.5, 10, 7])
def test_the_unit_of_a_column_does_not_matter(metric, factor):
    rng = np.random.default_rng(4)
    for _ in range(20):
        rows = rng.integers(0, 40, (10, 2))
        bars = [bar_values(values, metric) for values in (rows, rows * [factor, 1], rows * factor)]
        if metric == "box":
            assert bars[0] == bars[1] == bars[2]
        else:
            assert bars[1] == pytest.approx(bars[0], rel=1e-14)
            assert bars[2] == pytest.approx(bars[0], rel=1e-14)


def bar_values(values, metric):
    bars = kech.WeightedBarcode(build_filtration(line_points(values), metric)).bars()
    return [number for bar in bars for number in (bar.birth, bar.death, bar.weight, bar.simplex_from)]


@metrics
@pytest.mark.parametrize("factor", [2, 3, 10])
def test_in_the_unit_of_the_column_bars_grow_with_the_values(metric, factor):
    rng = np.random.default_rng(5)
    for _ in range(20):
        values = np.append(rng.integers(0, 50, (9, 2)), [[0, 0], [50, 50]], axis=0)
        short, long = (line_points(values), line_points(values * factor))
        lengths = [points.axes[0].length for points in (short, long)]
        one, many = (np.array(bar_values(v, metric)).reshape(-1, 4) for v in (values, values * factor))
        assert lengths == [50, 50 * factor]
        for column in (0, 1, 3):
            assert many[:, column] * lengths[1] == pytest.approx(one[:, column] * lengths[0] * factor, rel=1e-14)


# Regimes


@pytest.mark.parametrize("seed", range(3))
@metrics
def test_regimes_hold_where_the_definition_holds_and_nowhere_else(metric, seed):
    for points in small_sets(seed, 30, metric, rows=6):
        radii = all_radii(points, metric)
        barcode = complete_barcode(points, metric, radii)
        exact, middles = stops([0.0, *radii.values()])
        for eps in [*middles, *(exact if metric == "box" else [])]:
            scene = Scene(points, metric, radii, eps)
            smallest, classes = scene.weights[0], len(scene.parts)
            expected = {"homological": not any(scene.betti[1:]), "strict": scene.strict}
            for reading, holds in expected.items():
                for k in range(1, points.rows + 2):
                    found = [(r.k, r.classes) for r in barcode.regimes(reading, k) if r.start <= eps < r.stop]
                    assert found == ([(smallest, classes)] if holds and smallest >= k else [])


@metrics
def test_partition_regimes_begin_at_the_eps_of_the_best_partition(metric):
    for points in small_sets(7, 30, metric, rows=6):
        barcode = kech.WeightedBarcode(build_filtration(points, metric))
        radii = all_radii(points, metric)
        for k in range(1, points.rows + 1):
            first, *_ = regimes = barcode.regimes("partition", k)
            every = partition_radii(points, k, metric, radii)

            assert round(first.start, 9) == round(every[0][0], 9)
            assert {(regime.k, regime.proven) for regime in regimes} == {(k, True)}
            for regime in regimes:
                assert regime.classes == max(len(classes) for eps, classes in every if eps <= regime.start + 1e-12)
            assert regimes[-1].classes == max(len(classes) for _, classes in every)
        assert barcode.regimes("partition", points.rows + 1) == []


@metrics
def test_of_ties_the_partition_with_most_classes_is_told(metric):
    """Two pairs of twins far apart and one row between them: one class of five or two classes have the same eps."""
    points = line_points([[0], [0], [5], [10], [10]])
    barcode = kech.WeightedBarcode(build_filtration(points, metric))

    assert [*map(dataclasses.astuple, barcode.regimes("partition", 2))] == [(0.25, INF, 2, 2, 0, True)]
    twins = kech.WeightedBarcode(build_filtration(line_points([[1]] * 6), metric))
    assert [*map(dataclasses.astuple, twins.regimes("partition", 2))] == [(0.0, INF, 2, 3, 0, True)]
    assert minimal_complex(twins.filtration.points, 2, metric)[1] == [(0, 0)] * 3


@metrics
def test_regimes_are_half_open_ascend_and_never_touch_with_equal_classes(metric):
    for points in small_sets(8, 40, metric):
        barcode = complete_barcode(points, metric)
        for reading in ("strict", "homological", "partition"):
            regimes = barcode.regimes(reading, 1)
            assert all(r.start < r.stop for r in regimes)
            assert regimes[-1].stop == INF
            if reading == "partition":
                continue
            for one, two in pairwise(regimes):
                assert one.stop <= two.start
                assert one.stop < two.start or one.classes > two.classes
                assert one.k <= two.k
            for k in range(1, points.rows + 2):
                assert barcode.regimes(reading, k) == [r for r in regimes if r.k >= k]


@metrics
def test_strict_implies_homological_and_partition(metric):
    for points in small_sets(9, 40, metric, rows=6):
        barcode = complete_barcode(points, metric)
        for strict in barcode.regimes("strict", 1):
            assert covers(barcode.regimes("partition", strict.k), strict.start)
            eps = strict.start + (0.0 if metric == "box" else 1e-12)  # the holes are those of an oracle
            assert eps < strict.stop
            assert covers(barcode.regimes("homological", strict.k), eps)


def covers(regimes, eps):
    return any(regime.start <= eps < regime.stop for regime in regimes)


@metrics
@pytest.mark.parametrize("seed", seeds(6))
def test_strict_implies_homological_to_the_last_bit(metric, seed):
    for points in small_sets(10 + seed, 80, metric, rows=12, axes=3):
        barcode = computed(points, metric)
        homological = barcode.regimes("homological", 1)
        assert all(lasts(homological, strict) for strict in barcode.regimes("strict", 1))


def lasts(regimes, strict):
    """Whether regimes cover all of one, without a gap."""
    eps = strict.start
    while eps < strict.stop:
        found = [regime.stop for regime in regimes if regime.start <= eps < regime.stop]
        if not found:
            return False
        (eps,) = found
    return True


def computed(points, metric, **options):
    pytest.importorskip("ripser" if metric == "box" else "scipy")
    return build_barcode(points, metric, max(len(points.axes) - 1, 1), threads=1, **options)


def test_regimes_compare_stored_values_exactly():
    """Two pairs meet at the same eps, one of them a rounding later: the stretch between is a regime of its own."""
    points = line_points([[0.0], [0.1], [0.7], [0.7 + 0.1 + 2e-16], [1.0]])
    tree = build_filtration(points)
    births = np.unique(tree.birth)
    edges = [edge for r in kech.WeightedBarcode(tree).regimes("strict", 1) for edge in (r.start, r.stop)]

    assert np.diff(births).min() < 1e-15
    assert set(edges) <= {*births.tolist(), *tree.simplex_from.tolist(), INF}


@metrics
def test_smallest_weights_are_those_of_the_living(metric):
    for points in small_sets(11, 60, metric, rows=14):
        tree = build_filtration(points, metric)
        exact, middles = stops(tree.birth)
        radii = sorted(float(eps) for eps in {*exact, *middles})
        seen = kech.WeightedBarcode(tree).at(radii)
        assert [found["k"] for found in seen] == [min(tree.weight[tree.nodes_at(eps)]) for eps in radii]
        for regime in kech.WeightedBarcode(tree).regimes("strict", 1):
            assert regime.k == min(tree.weight[tree.nodes_at(regime.start)])


# Rows that are left out


@metrics
@pytest.mark.parametrize("reading", ["strict", "homological"])
def test_regimes_that_leave_rows_out_are_those_of_the_definition(metric, reading):
    rng = np.random.default_rng(23)
    for points in small_sets(23, 12, metric, rows=7, axes=2):
        radii = all_radii(points, metric)
        barcode = complete_barcode(points, metric, radii)
        _, middles = stops([0.0, *radii.values()])
        share, k = float(rng.choice([0, 0.2, 0.5, 0.9])), int(rng.integers(1, 5))
        regimes = barcode.regimes(reading, k, share)
        for eps in middles:
            here = [regime for regime in regimes if regime.start <= eps < regime.stop]
            assert [(regime.k, regime.classes, regime.suppressed) for regime in here] == kept_classes(
                Scene(points, metric, radii, eps), reading, k, share, eps
            )


def kept_classes(scene, reading, k, share, eps):
    """Smallest class, classes and rows left out, where the reading holds for enough rows; looked up part by part."""
    points, kept = scene.points, []
    for part in scene.parts:
        full = reading != "strict" or simplex_eps(points, part, scene.metric) <= eps
        if full and points.weights[list(part)].sum() >= k:
            kept.append(int(points.weights[list(part)].sum()))
    out = points.rows - sum(kept)
    holes = reading == "homological" and any(scene.betti[1:])
    fits = out <= min(int(share * points.rows + 1e-9), points.rows - 1)
    return [(min(kept), len(kept), out)] if kept and fits and not holes else []


@metrics
def test_without_a_share_to_leave_out_nothing_is(metric):
    for points in small_sets(29, 20, metric):
        for regime in kech.WeightedBarcode(build_filtration(points, metric)).regimes("strict", 2) or ():
            assert regime.suppressed == 0


def test_regimes_leave_people_out_by_their_component():
    frame = pa.table({"x": [0, 1, 2, 50, 51, 100], "who": [*"abacca"]})
    with kech.read_table(frame, quasi_identifiers=["x"], person="who") as table:
        regimes = kech.compute_barcode(table, max_dimension=0).regimes("homological", 2, 0.5)

    assert [(r.start, r.k, r.classes, r.suppressed) for r in regimes][:1] == [(0.005, 2, 1, 3)]
    assert regimes[-1].suppressed == 0


@metrics
def test_rows_join_components_of_k_where_the_definition_says(metric):
    for points in small_sets(61, 40, metric):
        barcode, far = kech.WeightedBarcode(build_filtration(points, metric)), distances(points, metric)
        radii = [0.0, *np.unique(far / 2).tolist()]
        for k in range(1, points.rows + 2):
            small = {eps: count_in_small_components(points, far, k, eps + 1e-12 * (metric == "ball")) for eps in radii}
            for line in barcode.describe(k)["joined"]:
                enough = [eps for eps in radii if points.rows - small[eps] >= line["share"] * points.rows - 1e-9]
                expected = min(enough, default=None)
                assert line["eps"] == (expected if expected is None else pytest.approx(expected, abs=1e-9))
                if metric == "box":
                    assert line["rows_left"] == (small[expected] if enough else 0)


def count_in_small_components(points, far, k, eps):
    sizes = [points.weights[list(part)].sum() for part in components(far, eps)]
    return sum(size for size in sizes if size < k)


def test_k_is_that_of_the_plan_unless_it_is_typed(tmp_path, run):
    (tmp_path / "t.csv").write_text("x\n" + "".join(f"{x}\n" for x in range(20)), "utf-8")
    (tmp_path / "kech.toml").write_text('[columns]\nquasi_identifiers = ["x"]\n[goal]\nk = 5\n', "utf-8")
    words = ("barcode", tmp_path / "t.csv", "--plan", tmp_path / "kech.toml", "--max-dimension", 0, "--json")
    assert (run(*words).json["k"], run(*words, "--k", 3).json["k"]) == (5, 3)


def test_the_screen_says_regimes_in_words(tmp_path, run):
    rows = "".join(f"{x}\n" for x in [*range(20), *range(500, 520), 1000])
    (tmp_path / "t.csv").write_text("x\n" + rows, "utf-8")
    shown = run("barcode", tmp_path / "t.csv", "--qi", "x", "--k", 5, "--suppress", "5%", "--max-dimension", 0).out
    found = json.loads(
        run(
            "barcode", tmp_path / "t.csv", "--qi", "x", "--k", 5, "--suppress", "5%", "--max-dimension", 0, "--json"
        ).out
    )

    assert "homological: k = 5 holds from eps 0.0005 for 97.6\u00a0% of the rows, 2 classes" in shown
    assert " with round edges and leaves out " in shown
    assert (found["suppress"], found["regimes"]["strict"][0]["suppressed"]) == (0.05, 1)


@metrics
def test_partitions_that_leave_out_rows_begin_between_the_two_radii(metric):
    """Every choice of rows to leave out, and every partition of the others into simplices of k, by recursion."""
    for points in small_sets(8, 24, metric, rows=6, axes=2):
        barcode, radii = complete_barcode(points, metric), all_radii(points, metric)
        rows = np.repeat(np.arange(len(points.weights)), points.weights).tolist()
        for k, limit in ((2, 1), (3, 1), (2, 2)):
            start = barcode.find_start("partition", k, min((limit + 0.5) / points.rows, 0.99))
            kept = [
                some for out in range(min(limit, points.rows) + 1) for some in combinations(rows, points.rows - out)
            ]
            first = min((narrowest_parts(some, k, radii) for some in kept if some), default=INF)
            assert start.at_least <= first + 1e-9
            assert first <= start.at_most + 1e-9


def narrowest_parts(rows, k, radii):
    """The smallest eps at which rows can be parted into simplices of k rows or more; infinity where there is none."""
    if not rows:
        return 0.0
    parts = (
        max(radii[tuple(sorted({rows[0], *(rows[i] for i in others)}))], narrowest_parts(rest, k, radii))
        for size in range(k - 1, len(rows))
        for others in combinations(range(1, len(rows)), size)
        for rest in [tuple(rows[i] for i in range(1, len(rows)) if i not in others)]
    )
    return min(parts, default=INF)


def test_no_hole_delays_a_partition_and_its_classes_are_counted_where_rows_may_be_left_out():
    ring = complete_barcode(line_points([[0, 1], [1, 0], [2, 1], [1, 2]]), "box")
    assert ring.holes[1].tolist() == [[0.25, 0.5]]

    for suppress in (0.0, 0.25):
        start = ring.find_start("partition", 2, suppress)
        assert (start.at_least, start.at_most, start.classes) == (0.25, 0.25, 2)


@pytest.mark.parametrize("suppress", [0.0, 0.2])
def test_it_is_said_which_holes_were_computed_where_not_all_were(suppress):
    """And how many components are large enough at the lower eps; the definition counts them."""
    lonely = np.full(4, 2.0)
    points = line_points(np.vstack([np.random.default_rng(3).random((39, 4)), lonely]))
    known = build_barcode(points, "box", 1, threads=1)
    starts = [barcode.find_start("homological", 3, suppress) for barcode in (known, replace(known, holes={}))]
    for start, after in zip(starts, (", without holes up to dimension 1; others", ", but holes"), strict=True):
        parts = components(distances(points, "box"), start.at_least + 1e-12)
        large = [part for part in parts if len(part) >= 3]
        left = 40 - sum(map(len, large))
        without = f" (without {left} row{'s' * (left > 1)})" * (len(large) < len(parts))
        enough = f"component{without} is" if len(large) == 1 else f"components{without} are"

        assert start.at_least < start.at_most
        assert bool(without) == bool(suppress)
        assert start.reason == f"at the lower eps {len(large)} {enough} large enough{after} were not computed"


def test_the_screen_begins_with_what_to_do_and_has_equal_bars_in_one_line(tmp_path, run):
    rows = "".join(f"{x},{x % 2}\n" for x in [*range(0, 200, 2), 1000])
    (tmp_path / "t.csv").write_text("x,y\n" + rows, "utf-8")
    words = ("barcode", tmp_path / "t.csv", "--qi", "x", "y", "--k", 5)
    found, lines = run(*words, "--json").json, run(*words).out.splitlines()
    exact = ("--grid", "exact", "--effort", "quick", "-o", tmp_path / "safe.csv")
    released = run("release", *words[1:], *exact, "--json").json

    many = found["reached"][0]["local_classes"]
    assert lines[2] == "Rows join at eps where no column differs by more than 2 eps of its range."
    assert lines[4] == f"k = 5: all rows fit into {many} classes; x isolates most"
    assert released["classes"] == many
    assert lines[5] == "Rows joined with 4 others or more: 99 % from eps 0.001 (without 1 row), all from 0.401"
    assert sum(line.startswith(" 100    0.0000  0.0010     1        0.0000") for line in lines) == 1


def test_an_unknown_reading_and_no_k_are_refused():
    barcode = complete_barcode(line_points([[1, 2], [3, 4]]), "box")
    with pytest.raises(BadOption, match="Choose among homological, strict, partition"):
        barcode.regimes("loose")
    for reading in ("strict", "homological", "partition"):
        with pytest.raises(
            BadOption, match=r"k: kech cannot use this value. Write a number of rows or people, 1 or more"
        ):
            barcode.regimes(reading, 0)


# What was not computed is unknown


def test_homological_is_unknown_while_a_dimension_below_the_number_of_axes_is_missing():
    square = line_points([[0, 0, 0], [0, 3, 0], [3, 0, 0], [3, 3, 1]])
    tree = build_filtration(square, "ball")
    none = np.empty((0, 2))
    for holes in ({}, {1: none}, {2: none}, {1: none, 3: none}):
        barcode = kech.WeightedBarcode(tree, holes)
        assert not barcode.is_complete
        assert barcode.regimes("homological", 2) is None
        assert barcode.at([0.6])[0]["homological"] is None
        assert barcode.to_json(2)["regimes"]["homological"] is None
        assert barcode.regimes("strict", 2)
    assert kech.WeightedBarcode(tree, {1: none, 2: none}).regimes("homological", 2)


def test_one_hole_is_enough_to_say_no():
    square = line_points([[0, 0, 0], [0, 3, 0], [3, 0, 0], [3, 3, 1]])
    barcode = kech.WeightedBarcode(build_filtration(square, "ball"), {1: np.array([[0.6, 0.7]])})

    assert [at["homological"] for at in barcode.at([0.5, 0.6, 0.65, 0.7])] == [None, False, False, None]


def test_on_one_axis_nothing_is_missing():
    barcode = kech.WeightedBarcode(build_filtration(line_points([[0], [1], [4], [5]])))

    assert [dataclasses.astuple(regime)[:4] for regime in barcode.regimes("homological", 2)] == [
        (0.1, 0.3, 2, 2),
        (0.3, INF, 4, 1),
    ]


def test_partition_is_unknown_above_forty_rows_until_it_is_searched_and_empty_above_the_table():
    for rows, known in ((12, True), (13, True), (40, True), (41, False), (500, False)):
        barcode = kech.WeightedBarcode(build_filtration(line_points(np.arange(rows)[:, None])))
        assert (barcode.regimes("partition", 2) is not None) == known
        assert kech.search_partitions(barcode, 2).regimes("partition", 2) is not None
        assert barcode.regimes("partition", rows + 1) == []


# Algorithm 1


@metrics
@pytest.mark.parametrize("seed", range(2))
def test_complexes_at_given_radii_are_those_built_there(metric, seed):
    rng = np.random.default_rng(seed)
    for points in small_sets(20 + seed, 25, metric, rows=8, axes=2 + seed):
        radii = all_radii(points, metric)
        exact, middles = stops([0.0, *radii.values()])
        choice = [*middles, *(exact if metric == "box" else [])]
        grid = sorted({float(x) for x in rng.choice(choice, min(5, len(choice)), replace=False)})
        barcode = complete_barcode(points, metric, radii)
        for seen, eps in zip(barcode.at(grid[::-1]), grid, strict=True):
            scene = Scene(points, metric, radii, eps)
            assert seen == {
                "eps": eps,
                "classes": len(scene.parts),
                "k": scene.weights[0],
                "holes": dict(enumerate(scene.betti[1:], 1)),
                "homological": not any(scene.betti[1:]),
                "strict": scene.strict,
            }


@metrics
@pytest.mark.parametrize("seed", range(2))
def test_a_sampled_barcode_is_the_barcode_of_the_complexes_at_these_radii(metric, seed):
    rng = np.random.default_rng(seed)
    for points in small_sets(30 + seed, 25, metric, rows=8, axes=2 + seed):
        radii = all_radii(points, metric)
        exact, middles = stops([0.0, *radii.values()])
        choice = [*middles, *(exact if metric == "box" else [])]
        grid = sorted({float(x) for x in rng.choice(choice, min(6, len(choice)), replace=False)})
        found = complete_barcode(points, metric, radii).sample(grid).bars()

        assert sorted(bar for bar in map(astuple, found) if bar[-1] == 0) == sampled_classes(points, metric, grid)
        for n, bars in persistent_holes(seen_from(grid, radii), len(points.axes) - 1).items():
            assert sorted((bar.birth, bar.death) for bar in found if bar.dimension == n) == bars


def astuple(bar):
    return bar.birth, bar.death, bar.weight, bar.simplex_from, bar.dimension


def seen_from(grid, radii):
    """Each simplex at the first radius at which its complex has it; inf where none has."""
    return {subset: next((eps for eps in grid if radius <= eps), INF) for subset, radius in radii.items()}


def sampled_classes(points, metric, grid):
    """Components of the complexes at the radii: from the first one that has them to the first that has not."""
    distance = distances(points, metric)
    at = [components(distance, eps) for eps in grid]
    bars = []
    for part in set().union(*at):
        lives = [eps for eps, parts in zip(grid, at, strict=True) if part in parts]
        later = [eps for eps in grid if eps > lives[-1]]
        full = [eps for eps in lives if simplex_eps(points, part, metric) <= eps]
        weight = int(points.weights[list(part)].sum())
        bars.append((lives[0], (later or [INF])[0], weight, (full or [INF])[0], 0))
    return sorted(bars)


def test_all_radii_at_once_are_the_exact_barcode():
    for points in small_sets(40, 30, "box"):
        barcode = complete_barcode(points, "box")
        tree = barcode.filtration
        ends = [tree.birth, tree.simplex_from, *(bars.ravel() for bars in barcode.holes.values())]
        exact, _ = stops(*ends)
        assert barcode.sample(exact).bars() == barcode.bars()


@metrics
@pytest.mark.parametrize("zero_length", [False, True])
def test_every_bar_is_shown_at_the_radii_or_counted_as_left_out(metric, zero_length):
    for points in small_sets(41, 25, metric, rows=9, axes=2):
        found = computed(points, metric, zero_length=True)
        exact = replace(found, zero_length=zero_length)
        for radii in ([0.1, 0.3], [0.0, 0.2, 5.0], [4.0]):
            sample = exact.sample(radii)
            assert counted(sample) == counted(exact)
            assert all(bar.birth in radii for bar in sample.bars())
            assert exact.to_json(2, radii)["left_out"] == sample.left_out


def counted(barcode):
    """By dimension, bars that are shown and those that are left out."""
    shown = Counter(bar.dimension for bar in barcode.bars())
    return {n: shown[n] + left_out for n, left_out in barcode.left_out.items()}


def test_left_out_is_that_of_the_radii_asked_for():
    barcode = kech.WeightedBarcode(build_filtration(line_points([[0], [0], [1], [4], [10]])))

    assert barcode.to_json(2)["left_out"] == {0: 1}
    assert barcode.to_json(2, [0.3])["left_out"] == {0: 7}  # all but {0, 0, 1, 4, 10}


def test_radii_are_sorted_once_and_checked():
    barcode = complete_barcode(line_points([[0, 0], [1, 1]]), "box")

    assert [at["eps"] for at in barcode.at([0.7, 0.1, 0.7])] == [0.1, 0.7]
    assert barcode.at([]) == barcode.sample([]).bars() == []
    for bad in (-0.1, INF, float("nan")):
        for look in (barcode.at, barcode.sample):
            with pytest.raises(BadOption, match=r"^radii: "):
                look([0.1, bad])


# Bars


@metrics
def test_bars_are_nodes_and_holes_of_positive_length(metric):
    for points in small_sets(50, 40, metric):
        barcode = complete_barcode(points, metric)
        tree, bars = barcode.filtration, barcode.bars()
        lived = tree.birth < tree.death
        columns = (tree.birth, tree.death, tree.weight, tree.simplex_from)
        expected = sorted(zip(*(column[lived].tolist() for column in columns), strict=True))

        assert sorted(astuple(bar)[:4] for bar in bars if bar.dimension == 0) == expected
        assert [(b.dimension, b.birth) for b in bars] == sorted((b.dimension, b.birth) for b in bars)
        for n, holes in barcode.holes.items():
            assert sorted([b.birth, b.death] for b in bars if b.dimension == n) == sorted(holes.tolist())
        assert all(b.weight is None and b.simplex_from is None for b in bars if b.dimension)


@metrics
def test_computed_holes_are_those_of_the_definition(metric):
    for points in small_sets(51, 60, metric):
        found = computed(points, metric)
        for n, bars in persistent_holes(all_radii(points, metric), len(points.axes) - 1).items():
            lasting = [bar for bar in bars if bar[1] - bar[0] > 1e-9]
            here = [(b.birth, b.death) for b in found.bars() if b.dimension == n and b.death - b.birth > 1e-9]
            assert here == [pytest.approx(bar, rel=1e-12) for bar in lasting]
            if metric == "box":
                assert here == bars


@metrics
@pytest.mark.parametrize("kind", ["uniform", "grid", "cospherical"])
def test_computed_bars_are_those_gudhi_finds(metric, kind):
    gudhi = pytest.importorskip("gudhi")
    rng = np.random.default_rng(52)
    for axes in (2, 3):
        points = line_points(coordinates(rng, kind, 40, axes))
        where = np.array(unit_cube(points), float)
        if metric == "ball":
            tree = gudhi.AlphaComplex(points=where).create_simplex_tree(output_squared_values=False)
        else:
            rips = gudhi.RipsComplex(distance_matrix=distances(points, "box") / 2)
            tree = rips.create_simplex_tree(max_dimension=axes)
        tree.compute_persistence()
        found = computed(points, metric)

        assert lasting_ends(found.filtration) == pytest.approx(sorted(tree.persistence_intervals_in_dimension(0)[:, 1]))
        for n in range(1, axes):
            bars = [bar for bar in tree.persistence_intervals_in_dimension(n).tolist() if bar[1] - bar[0] > 1e-6]
            here = [(b.birth, b.death) for b in found.bars() if b.dimension == n and b.death - b.birth > 1e-6]
            assert here == [pytest.approx(tuple(bar), abs=1e-7) for bar in sorted(bars)]


def lasting_ends(tree):
    """Ends of the bars of H_0 by the elder rule: of n components that meet, one goes on."""
    children = np.bincount(tree.parent[tree.parent >= 0], minlength=len(tree.parent))
    return sorted([*np.repeat(tree.birth, np.maximum(children - 1, 0)).tolist(), INF])


def test_rows_too_close_for_a_square_to_tell_are_one_from_the_start():
    points = line_points([[0.0], [1e-200], [1.0]])
    ball, box = (kech.WeightedBarcode(build_filtration(points, metric)).bars() for metric in ("ball", "box"))

    assert [astuple(bar)[:3] for bar in ball] == [(0.0, 0.5, 1), (0.0, 0.5, 2), (0.5, INF, 3)]
    assert [astuple(bar)[:3] for bar in box][:2] == [(0.0, 5e-201, 1), (0.0, 5e-201, 1)]


def test_holes_of_no_length_are_left_out_and_part_no_regime():
    holes = {1: np.array([[0.3, 0.3], [0.1, 0.2], [0.4, 0.4], [0.7, 0.7]])}
    barcode = kech.WeightedBarcode(build_filtration(line_points([[0, 0], [1, 1]])), holes)
    regimes = [(r.start, r.stop) for r in barcode.regimes("homological", 1)]

    assert [astuple(b) for b in barcode.bars() if b.dimension] == [(0.1, 0.2, None, None, 1)]
    assert regimes == [(0.0, 0.1), (0.2, 0.5), (0.5, INF)]


@pytest.mark.parametrize(("metric", "instant"), [("box", 1), ("ball", 0)])
def test_bars_of_zero_length_are_counted_or_shown(metric, instant):
    """Three boxes that meet in pairs meet; three balls need not."""
    pytest.importorskip("ripser")
    frame = pa.table({"a": [0, 0, 0, 1, 1, 2], "b": [0, 0, 0, 1, 1, 0]})
    with kech.read_table(frame, quasi_identifiers=["a", "b"]) as table:
        some, every = (
            kech.compute_barcode(table, metric=metric, zero_length=asked, grid="exact") for asked in (False, True)
        )
    short = [bar for bar in every.bars() if bar.birth == bar.death]

    assert some.left_out == {n: sum(bar.dimension == n for bar in short) for n in (0, 1)} == {0: 3, 1: instant}
    assert every.left_out == {0: 0, 1: 0}
    assert [bar for bar in every.bars() if bar.birth < bar.death] == some.bars()
    assert every.regimes("homological", 1) == some.regimes("homological", 1)
    assert [bar.weight for bar in short if bar.dimension == 0] == [1, 1, 1]


# JSON, as people script against it


def test_the_json_has_the_fields_of_the_manual():
    points = line_points([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]])
    found = complete_barcode(points, "ball").to_json(2, [0.5, 0.7, 0.75])
    text = json.loads(json.dumps(found, allow_nan=False))

    assert set(text) >= {"private", "metric", "rows", "bars", "regimes", "radii"}
    assert text["private"] is True
    assert (text["metric"], text["rows"]) == ("ball", 5)
    assert text["bars"] == [
        {"birth": 0.5, "death": None, "weight": 5, "people": None, "simplex_from": 0.75, "dimension": 0},
        {"birth": 0.5, "death": 0.75, "weight": None, "people": None, "simplex_from": None, "dimension": 1},
    ]
    assert text["regimes"]["strict"] == [
        {"start": 0.5**0.5, "stop": None, "k": 5, "classes": 1, "suppressed": 0, "proven": False}
    ]
    assert set(text["regimes"]) == {"homological", "strict", "partition"}
    assert [at["eps"] for at in text["radii"]] == [0.5, 0.7, 0.75]
    assert text["radii"][0] == {
        "eps": 0.5,
        "classes": 1,
        "k": 5,
        "holes": {"1": 1},
        "homological": False,
        "strict": False,
    }


def test_without_radii_the_json_has_the_exact_bars():
    found = complete_barcode(line_points([[0], [1], [4]]), "box").to_json()

    assert found["radii"] == []
    assert [(bar["birth"], bar["death"], bar["weight"]) for bar in found["bars"]] == [
        (0.0, 0.125, 1),
        (0.0, 0.125, 1),
        (0.0, 0.375, 1),
        (0.125, 0.375, 2),
        (0.375, None, 3),
    ]


# From a table


def test_a_table_gives_the_barcode_of_its_points():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        flat = kech.compute_barcode(table, metric="ball", max_dimension=0)
        rounded = kech.compute_barcode(table, max_dimension=0, grid=10.0)

    assert len(flat.bars()) == 17
    assert flat.holes == {}
    assert len(rounded.bars()) != 17


def test_rows_that_are_equal_are_together_from_the_start():
    rows = pa.table({"a": [1, 1, 1, 5, 5], "b": ["x", "x", "y", "x", None]})
    with kech.read_table(rows, quasi_identifiers=["a", "b"]) as table:
        bars = kech.compute_barcode(table, max_dimension=0).bars()

    assert sorted(bar.weight for bar in bars) == [1, 1, 1, 2, 5]
    assert {(bar.birth, bar.death) for bar in bars if bar.weight < 5} == {(0.0, 0.5)}


def test_a_negative_dimension_is_refused():
    with (
        kech.read_table(nine_rows(), quasi_identifiers=["age"]) as table,
        pytest.raises(BadOption, match="0 or more"),
    ):
        kech.compute_barcode(table, max_dimension=-1)

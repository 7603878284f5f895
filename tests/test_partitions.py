"""Partitions at any size: eps* lies between the bound and what was found, and is exact for a few dozen rows."""

import time

import numpy as np
import pandas as pd
import pytest

import kech
from kech.errors import BadOption, ResourceError
from kech.points.partition import largest_radius
from kech.topology.barcode import build_barcode
from kech.topology.filtration import build_filtration
from kech.topology.minimal import best_partitions, find_class_counts_by_program
from kech.topology.profile import build_profile
from test_minimal import METRICS, small_sets
from topology_oracles import coordinates, line_points, mixed_points

NINE = pd.DataFrame({"x": [1, 2, 2, 5, 6, 7, 9, 9, 10], "y": [3, 3, 4, 8, 8, 7, 1, 2, 2]})
INF = float("inf")


def barcode_of(points, metric="box"):
    return kech.WeightedBarcode(build_filtration(points, metric))


def read(frame, person=None):
    columns = [name for name in frame if name != person]
    return kech.read_table(frame, quasi_identifiers=columns, person=[person] if person else [])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_the_integer_program_agrees_with_all_partitions(metric, seed):
    for points in small_sets(seed, 12, metric, rows=9):
        for k in range(1, points.rows + 1):
            every, program = best_partitions(points, k, metric).steps, find_class_counts_by_program(points, k, metric)

            assert [classes for _, classes in program] == [classes for _, classes in every]
            assert np.allclose([eps for eps, _ in program], [eps for eps, _ in every], rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_the_integer_program_counts_people(seed):
    rng = np.random.default_rng(seed)
    who = rng.integers(0, 4, 4 + seed)
    with read(pd.DataFrame({"x": rng.integers(0, 20, len(who)), "who": who}), "who") as table:
        points = kech.compute_barcode(table, max_dimension=0).filtration.units
    for k in range(1, len(set(who)) + 1):
        assert np.allclose(find_class_counts_by_program(points, k, "box"), best_partitions(points, k, "box").steps)


def test_the_nine_rows_are_known_exactly_and_the_cuts_are_no_narrower():
    with read(NINE) as table:
        barcode = kech.search_partitions(kech.compute_barcode(table, max_dimension=0), [2, 3])
    for k in (2, 3):
        (first, *_), reached = barcode.regimes("partition", k), barcode.reached[k]
        start = barcode.find_start("partition", k)

        assert reached.eps_at_least == reached.eps_at_most == first.start == start.at_least == start.at_most
        assert reached.local_eps >= reached.eps_at_most
        assert first.proven


@pytest.mark.parametrize(("metric", "seed", "rows", "k"), [("box", 1, 29, 4), ("ball", 18, 29, 4), ("box", 6, 35, 5)])
def test_what_is_said_of_the_minimal_cut_is_what_it_reaches_though_eps_is_known(metric, seed, rows, k):
    """Of few rows a program knows the narrowest partition; a release need not find it."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.random(rows).round(3) for name in "xy"})
    with read(frame) as table:
        barcode = kech.search_partitions(kech.compute_barcode(table, metric=metric, max_dimension=0), k, effort="quick")
        profile = kech.search_partitions(kech.compute_profile(table, metric=metric), [k], effort="quick")
        cut = {"cut": "minimal", "metric": metric, "grid": "exact", "effort": "quick"}
        partition = kech.make_release(table, k=k, **cut).partition
    eps, reached = largest_radius(partition), barcode.reached[k]

    assert (reached.minimal_eps, reached.minimal_classes) == (pytest.approx(eps, abs=1e-9), partition.classes)
    assert reached.eps_at_least == reached.eps_at_most == barcode.find_start("partition", k).at_most < eps - 1e-6
    assert profile.reached[k] == reached
    text = barcode._repr_html_()
    assert f"into {partition.classes} classes, none wider than {eps:.4g} (none is narrower than " in text


@pytest.mark.parametrize("metric", METRICS)
def test_the_stretch_holds_the_exact_eps(metric, monkeypatch):
    """The exact answer is kept from the search, which must not go past it on either side."""
    rng = np.random.default_rng(5)
    for rows, columns, k in ((20, 2, 3), (30, 3, 4), (40, 2, 5)):
        tree = build_filtration(line_points(coordinates(rng, "uniform", rows, columns)), metric)
        exact = find_class_counts_by_program(tree.units, k, metric)[0][0]
        with monkeypatch.context() as patched:
            patched.setattr("kech.topology.program.MOST_ROWS", 0)
            patched.setattr("kech.topology.minimal.MOST_ROWS", 0)
            reached = kech.search_partitions(kech.WeightedBarcode(tree), k).reached[k]

        assert reached.eps_at_least <= exact + 1e-11
        assert exact <= reached.eps_at_most + 1e-11
        assert reached.eps_at_most <= 2 * reached.eps_at_least or metric == "ball"


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("who", [None, "who"])
def test_no_partition_is_said_to_be_possible_before_every_row_can_hide(metric, who):
    """The k-th nearest row, or row of a k-th person, is a bound of every class of k."""
    rng = np.random.default_rng(8)
    places = np.repeat(rng.random((60, 2)), 5, axis=0)  # all rows of a person at one place
    frame = pd.DataFrame({"x": places[:, 0], "y": places[:, 1], "who": np.repeat(np.arange(60), 5)})
    with read(frame if who else frame[["x", "y"]], who) as table:
        profile = kech.search_partitions(kech.compute_profile(table, metric=metric), [2, 5], effort="quick")

    for k in (2, 5):
        assert profile.eps_for(k, [1.0])[0] <= profile.reached[k].eps_at_least <= profile.reached[k].eps_at_most


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["uniform", "grid", "clusters"])
def test_forty_rows_are_searched_within_ten_seconds(metric, kind):
    points = line_points(coordinates(np.random.default_rng(33), kind, 40, 3))
    began = time.process_time()
    eps, classes = find_class_counts_by_program(points, 3, metric)[0]

    assert time.process_time() - began < 10
    assert eps >= build_profile(points, metric).eps_for(3, [1.0])[0] - 1e-11
    assert 1 <= classes <= 13


def test_mixed_columns_and_large_tables_have_a_stretch_too():
    points = mixed_points(np.random.default_rng(2), 300, 3)
    barcode = kech.search_partitions(barcode_of(points), [2, 7])
    for k in (2, 7):
        start, reached = barcode.find_start("partition", k), barcode.reached[k]

        assert 0 <= start.at_least <= start.at_most <= reached.eps_at_most <= 0.5
        assert reached.classes <= points.rows // k
        assert start.classes >= 1


def test_unknown_readings_lie_between_components_and_full_simplices():
    barcode = barcode_of(line_points(coordinates(np.random.default_rng(3), "uniform", 60, 3)))
    strict = barcode.regimes("strict", 3)[0]
    for reading in ("homological", "partition"):
        start = barcode.find_start(reading, 3)

        assert barcode.regimes(reading, 3) is None
        assert 0 < start.at_least < start.at_most == strict.start
        assert start.classes == strict.classes
        assert start.reason
    exact = kech.compute_barcode(read(pd.DataFrame({"x": range(60)})), max_dimension=0).find_start("homological", 3)
    assert exact.is_exact


def test_a_barcode_is_drawn_where_holes_need_too_much_memory_and_says_so(monkeypatch):
    monkeypatch.setattr("kech.topology.homology.half_the_memory", lambda: 500_000)
    points = line_points(coordinates(np.random.default_rng(0), "uniform", 400, 4))
    barcode = build_barcode(points, "box", None, threads=1)
    with pytest.raises(ResourceError, match="Holes among 400 points"):
        build_barcode(points, "box", 1, threads=1)

    assert not barcode.holes
    assert barcode.no_holes.startswith("holes were not computed (Holes among 400 points may need")
    assert barcode.to_json()["no_holes"] == barcode.no_holes


def test_odd_questions_are_refused_or_have_no_answer():
    barcode = barcode_of(line_points([[0]]))

    assert kech.search_partitions(barcode, 2).reached == {}
    assert barcode.find_start("partition", 2).at_least == INF
    with pytest.raises(BadOption, match="it is neither a barcode nor a profile"):
        kech.search_partitions("town.csv", 2)


def test_leaving_out_lonely_rows_is_told_where_it_lets_k_hold_earlier():
    """Ten rows close together, and one far away: a tenth left out is enough, and 5 % is not."""
    barcode = barcode_of(line_points([[place] for place in (*range(10), 100)]))
    lines = barcode.to_json(5)["leaving_out"]

    assert [line["share"] for line in lines] == [0.1]
    assert lines[0]["at_least"] == lines[0]["at_most"] == pytest.approx(0.005)
    assert (lines[0]["suppressed"], lines[0]["classes"]) == (1, 1)
    assert barcode.find_start("homological", 5).at_most == pytest.approx(0.455)

"""Pricing: below every partition, and closer to the cheapest than the bound of the nearest rows."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kech
from cutting import code_points, cut, recording
from kech import _kernels
from kech.axes import build_tree_axis
from kech.cuts.bounds import lower_bounds, price_bound
from kech.points.partition import mean_loss
from kech.points.points import Points
from strategies import point_sets, seeds, tree_axes, unhurried
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
    with recording("kech.cuts.bounds.level_tables") as calls:
        price_bound(points, 2, 1.0, climbs=0)
    ((_, levels),) = calls
    return _kernels.Pricer(points.codes, points.weights, points.widths(), levels, k)


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
    (found,) = cut(points, [k], effort="normal")
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
    points = code_points(pa.table({"x": list(range(30))}), grid="exact")
    (nearest,) = lower_bounds(points, [4])

    assert price_bound(points, 4, 1.0) == nearest.loss


def test_too_many_cells_are_not_priced(monkeypatch):
    points = many_points(100)
    (nearest,) = lower_bounds(points, [4])
    monkeypatch.setattr("kech.cuts.bounds.MOST", 100)

    assert price_bound(points, 4, 1.0) == nearest.loss


# Bounds of spectra and releases


def few_rows(seed):
    """Six rows of three people each way: trees given and built, an order, a set and a missing value."""
    rng = np.random.default_rng(seed)
    columns = {
        "tree": [*rng.choice(["a", "b", "c", "d"], 5), None],
        "code": [f"{code}" for code in rng.choice([101, 102, 112, 211], 6)],
        "age": rng.integers(20, 30, 6),
        "set": rng.choice(["x", "y", "z"], 6),
    }
    names = [name for name in columns if rng.random() < 0.6] or ["code"]
    return pa.table({name: columns[name] for name in names} | {"ill": rng.choice(["p", "q"], 6)}), names


@pytest.mark.parametrize("seed", seeds(12))
@pytest.mark.parametrize("grid", ["round", "exact"])
def test_no_release_loses_less_than_the_bound_of_a_spectrum(seed, grid):
    """Against the best of all partitions of the six rows, as they would be published on the same axes."""
    cells, names = few_rows(seed)
    how = {"quasi_identifiers": names, "sensitive": ["ill"], "hierarchies": {"tree": TREE} if "tree" in names else None}
    for k in (2, 3):
        with kech.read_table(cells, **how) as table:
            (row,) = kech.compute_spectrum(table, k=[k], grid=grid, bound=True).rows()
            release = kech.make_release(table, k=k, grid=grid)
        found = release.bound()
        best = cheapest(release.partition.points.merge_grains(), k)

        assert found.lower_bound <= best + 1e-9
        assert best <= found.loss + 1e-9
        assert (row["loss"], row["loss_lower_bound"], row["loss_gap"]) == (found.loss, found.lower_bound, found.gap)
        assert found.gap is None or found.loss == pytest.approx(found.lower_bound * (1 + found.gap), abs=1e-9)


def test_it_is_as_close_for_rows_with_sensitive_values():
    cells = {"a": list("aabbccdd") * 5, "b": list("abcdabcd") * 5}
    how = {"quasi_identifiers": ["a", "b"], "hierarchies": {"a": TREE, "b": TREE}}
    with kech.read_table(pa.table(cells), **how) as table:
        plain = kech.make_release(table, k=7).bound()
    with kech.read_table(pa.table(cells | {"ill": list("pqrst") * 8}), sensitive=["ill"], **how) as table:
        assert kech.make_release(table, k=7).bound() == plain
    assert plain.gap < 0.5


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"suppress": 0.1}, "rows may be left out"),
        ({"cut": "domain"}, "the domain cut measures each level by itself"),
        ({}, "more than 5 points"),
    ],
)
def test_where_there_is_no_bound_the_reason_is_said(asked, why, monkeypatch):
    monkeypatch.setattr("kech.cuts.bounds.MOST_BOUNDED", 5)
    with kech.read_table(pa.table({"x": list(range(30))}), quasi_identifiers=["x"]) as table:
        found = kech.compute_spectrum(table, k=[2], bound=True, **asked)
        silent = kech.compute_spectrum(table, k=[2], **asked)
        bound = kech.make_release(table, k=2, **asked).bound()

    assert list(found.no_bound) == [asked.get("cut", "local")]
    assert why in found.no_bound[asked.get("cut", "local")]
    assert why in bound.why_none
    assert bound.lower_bound is bound.gap is None
    assert silent.no_bound is None
    assert all(row["loss_lower_bound"] is row["loss_gap"] is None for row in (*found.rows(), *silent.rows()))


def three_trees(rows=400):
    rng = np.random.default_rng(7)
    cells = {name: rng.choice(list("abcd"), rows) for name in "xy"}
    codes = [str(code) for code in rng.integers(100, 190, rows)]
    how = {"hierarchies": {"x": TREE, "y": TREE}, "axes": {"z": "hierarchy"}}
    return kech.read_table(pa.table(cells | {"z": codes}), quasi_identifiers=["x", "y", "z"], **how)


def test_a_search_ends_at_the_gap_that_is_asked_for():
    with three_trees() as table:
        loosest, tight, free = (kech.make_release(table, k=3, gap=gap) for gap in (0.9, 0.09, None))
        rows = kech.compute_spectrum(table, k=[3, 4], gap=0.09).rows()
    loosest, tight, free = (release.bound() for release in (loosest, tight, free))
    assert 0 <= tight.gap <= 0.09 < loosest.gap <= 0.9
    assert free.loss <= tight.loss < loosest.loss
    assert (loosest.gap_asked, tight.gap_asked, free.gap_asked) == (0.9, 0.09, None)
    assert all(0 <= row["loss_gap"] <= 0.09 for row in rows)


def test_a_bound_is_proven_once_where_the_gap_is_missed(monkeypatch):
    proofs = []

    def count_pricer(*given):
        proofs.append(given[-1])
        return _kernels.Pricer(*given)

    monkeypatch.setattr("kech.cuts.bounds.Pricer", count_pricer)
    with three_trees() as table:
        missed = kech.make_release(table, k=3, gap=0.0, effort="quick").bound()
        rows = kech.compute_spectrum(table, k=[4, 5], gap=0.0, effort="quick").rows()
    assert proofs == [3, 4, 5]
    assert missed.gap > 0
    assert all(row["loss_gap"] > 0 for row in rows)


def test_what_was_proven_before_the_search_holds_for_its_k_alone():
    with three_trees() as table:
        release = kech.make_release(table, k=3, gap=0.9)
        bounds = [row["loss_lower_bound"] for row in kech.compute_spectrum(table, k=[2, 3], gap=0.9).rows()]
    assert release.partition.loss_bound == (3, release.bound().lower_bound)
    assert 0 < bounds[0] < bounds[1]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"cut": "minimal"}, 'only cut="local"'),
        ({"cut": "domain"}, 'only cut="local"'),
        ({"suppress": 0.1}, "with suppress"),
        ({"l": 2}, "with l, t and alpha"),
        ({"gap": 1.0}, "0 or more"),
        ({"gap": -0.1}, "0 or more"),
    ],
)
def test_a_gap_is_refused_where_nothing_is_proven(fields, says):
    with pytest.raises(kech.errors.BadOption, match=says):
        kech.Request().override(**{"gap": 0.1, "k": 3} | fields)


def test_a_gap_is_refused_for_many_k_many_points_and_people_with_several_rows(monkeypatch):
    cells = pa.table({"x": list(range(30)), "who": [f"p{i // 2}" for i in range(30)]})
    with kech.read_table(cells, quasi_identifiers=["x"]) as table:
        with pytest.raises(kech.errors.BadOption, match="up to 8 k"):
            kech.compute_spectrum(table, gap=0.1)
        monkeypatch.setattr("kech.cuts.bounds.MOST_BOUNDED", 5)
        with pytest.raises(kech.errors.BadOption, match="more than 5 points"):
            kech.make_release(table, k=3, gap=0.1)
    with kech.read_table(cells, quasi_identifiers=["x"], person=["who"]) as table:
        with pytest.raises(kech.errors.BadOption, match="somebody has several rows"):
            kech.make_release(table, k=3, gap=0.1)


def test_the_screen_says_privately_whether_the_gap_was_reached(run, tmp_path):
    source = tmp_path / "t.csv"
    source.write_text("x,y\n" + "".join(f"{i * 7 % 30},{i * i % 23}\n" for i in range(60)))
    words = ["release", str(source), "-o", str(tmp_path / "out.csv"), "--qi", "x", "y", "--k", "4", "--no-ledger"]
    shown = " ".join(run(*words, "--gap", "0%").out.split())
    assert "PRIVATE: The loss" in shown
    assert "You asked for 0.0 %: search longer (--effort best), or protect less." in shown
    assert "gap" not in (tmp_path / "out.csv.certificate.json").read_text()


def test_the_bound_of_a_release_is_private(run, tmp_path):
    source, target = tmp_path / "t.csv", tmp_path / "out.csv"
    source.write_text("x,y\n" + "".join(f"{i * 7 % 30},{i % 4}\n" for i in range(60)))
    words = ["release", str(source), "-o", str(target), "--qi", "x", "--k", "4", "--no-ledger"]
    told = json.loads(run(*words, "--bound", "--json").out)
    with_bound = (tmp_path / "out.csv.certificate.json").read_text()
    without = json.loads(run(*words, "--json").out)
    shown = run(*words, "--bound").out

    assert told["bound"]["private"]
    assert 0 < told["bound"]["loss_lower_bound"] <= told["loss"] + 1e-9
    assert "bound" not in without
    assert "bound" not in with_bound
    assert "gap" not in with_bound
    assert "PRIVATE: The loss" in shown
    assert "above what any release of these rows at k = 4 on this grid could reach" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("loss", "bound", "gap", "words"),
    [
        (0.53, 0.5, 0.06, "at most 6.0 % above"),
        (0.5301, 0.5, 0.0602, "at most 6.1 % above"),
        (0.5, 0.5, 0.0, "at most 0.0 % above"),
        (0.5, 0.5 + 1e-12, 0.0, "at most 0.0 % above"),
        (0.0, 0.0, 0.0, "at most 0.0 % above"),
        (0.1, 0.0, None, "is 0."),
        (0.1, None, None, "No lower bound of the loss: it rains."),
    ],
)
def test_a_gap_is_a_share_of_the_bound_and_is_rounded_up(loss, bound, gap, words, run, tmp_path, monkeypatch):
    with kech.read_table(pa.table({"x": [1, 2, 3, 4]}), quasi_identifiers=["x"]) as table:
        made = kech.make_release(table, k=2).bound()
    found = replace(made, loss=loss, lower_bound=bound, why_none=None if bound is not None else "it rains")

    assert found.gap == (gap if gap is None else pytest.approx(gap))
    monkeypatch.setattr(kech.Release, "bound", lambda _: found)
    (tmp_path / "t.csv").write_text("x\n1\n2\n3\n4\n", "utf-8")
    told = run("release", tmp_path / "t.csv", "--qi", "x", "--k", 2, "-o", tmp_path / "s.csv", "--no-ledger", "--bound")
    assert words in told.out


def test_a_goal_that_is_no_number_and_a_k_beyond_the_rows():
    points = many_points(20)
    with pytest.raises(ValueError, match="finite"):
        price(points, 2).climb(1, float("nan"))
    with pytest.raises(ValueError, match="k"):
        price(points, 21)

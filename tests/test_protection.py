"""Loosening: boxes only grow, by one or two steps an end, and nobody can tell by how many."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import kech
from kech._kernels import BoxCounter
from kech.axes import LineAxis
from kech.cuts import Wishes
from kech.cuts.local import cut_local
from kech.cuts.protection import NARROW, expected_widths, keyed_noise, move_ends, protect_anew, protect_labels
from kech.points.partition import mean_loss
from kech.points.points import build_points
from kech.request import Labels
from kech.tables.demo import generate_town
from strategies import random_case, seeds

COLUMNS = ["age", "sex", "zip", "moved_in", "job"]


def cut(table, k=5, grid="round", protect="ends"):
    points = build_points(table, labels=Labels(grid=grid, protect=protect if grid == "round" else None))
    (found,) = cut_local(points, [k], Wishes(effort="quick"))
    return found


@pytest.fixture(scope="module")
def town():
    with kech.read_table(generate_town(2_000), quasi_identifiers=COLUMNS) as table:
        yield table


@pytest.mark.parametrize("seed", seeds(30))
def test_boxes_grow_around_the_same_rows(seed):
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        tight = cut(table, min(3, table.rows), grid=case.grid)
    loose = protect_labels(tight)
    assert loose.rows.sum() == tight.rows.sum()
    assert loose.k >= tight.k
    assert mean_loss(loose) >= mean_loss(tight) - 1e-12
    codes = loose.points.codes[loose.point]
    assert ((loose.lo[loose.group] <= codes) & (codes <= loose.hi[loose.group])).all()
    for j, axis in enumerate(loose.points.axes):
        lo, hi = axis.close(loose.lo[:, j], loose.hi[:, j])
        assert (lo == loose.lo[:, j]).all()
        assert (hi == loose.hi[:, j]).all()


def test_an_end_moves_by_one_or_two_steps(town):
    tight = cut(town)
    loose = protect_labels(tight)
    assert loose.classes == tight.classes  # here no two boxes become one, so they can be told apart
    order = np.argsort(tight.group, kind="stable")
    box = dict(zip(zip(loose.point.tolist(), loose.rows.tolist(), strict=True), loose.group.tolist(), strict=True))
    assert len(box) > 0.99 * len(order)  # but for shares of one point that are equal
    shares = Counter(zip(tight.point.tolist(), tight.rows.tolist(), strict=True))
    twin = np.zeros(tight.classes, int)
    for point, rows, group in zip(tight.point.tolist(), tight.rows.tolist(), tight.group.tolist(), strict=True):
        twin[group] = box[point, rows] if shares[point, rows] == 1 else twin[group]
    age = tight.points.axes[0]
    assert isinstance(age, LineAxis)
    cell = np.unique(age.cells[0], return_inverse=True)[1]
    left = cell[tight.lo[:, 0]] - cell[loose.lo[twin, 0]]
    right = cell[loose.hi[twin, 0]] - cell[tight.hi[:, 0]]
    inner = (cell[tight.lo[:, 0]] > 2) & (cell[tight.hi[:, 0]] < cell.max() - 2)
    width = age.high[tight.hi[:, 0]] - age.low[tight.lo[:, 0]] + 1
    wide = inner & (width >= NARROW)
    assert wide.sum() > 100
    assert set(left[wide]) == set(right[wide]) == {1, 2}
    assert 0.4 < (left[wide] == 1).mean() < 0.6
    assert not left[inner & ~wide].any()
    assert not right[inner & ~wide].any()
    for j, axis in enumerate(tight.points.axes):
        if not isinstance(axis, LineAxis):
            assert (tight.lo[:, j] == loose.lo[twin, j]).all()
            assert (tight.hi[:, j] == loose.hi[twin, j]).all()


def test_boxes_are_counted():
    rng = np.random.default_rng(4)
    for points, axes, values in ((0, 2, 3), (1, 1, 1), (7, 2, 3), (400, 3, 9), (500, 1, 600)):
        codes = rng.integers(0, values, (points, axes), dtype=np.int32)
        weights = rng.integers(1, 4, points)
        lo, hi = np.sort(rng.integers(0, values, (2, 60, axes), dtype=np.int32), axis=0)
        inside = ((lo[:, None] <= codes) & (codes <= hi[:, None])).all(2) @ weights
        found = BoxCounter(codes, weights)
        assert (found.count(lo, hi, int(weights.sum())) == inside).all()
        few = found.count(lo, hi, 1)
        assert (np.minimum(few, 2) == np.minimum(inside, 2)).all()


def test_settled_ends_single_out_fewer(town, monkeypatch):
    tight = cut(town)
    settled = protect_labels(tight)
    assert protect_labels(tight) is settled
    monkeypatch.setattr("kech.cuts.protection.avoid_singling_out", lambda *_: None)
    drawn = protect_anew(tight)
    assert single_ends(settled) < 0.7 * single_ends(drawn)
    assert mean_loss(settled) == pytest.approx(mean_loss(drawn), rel=0.01)


def single_ends(partition):
    """Ends of published ages, not in open tails, that one row of the table in that box has."""
    codes, weights, age = partition.points.codes, partition.points.weights, partition.points.axes[0]
    found = 0
    for lo, hi in zip(partition.lo, partition.hi, strict=True):
        inside = ((lo <= codes) & (codes <= hi)).all(1)
        ends = {int(end) for end in (lo[0], hi[0]) if lo[0] < hi[0] and np.isfinite(age.high[end] - age.low[end])}
        found += sum(int(weights[inside & (codes[:, 0] == end)].sum()) == 1 for end in ends)
    return found


def test_open_tails_are_not_entered(town):
    tight = cut(town)
    loose = protect_labels(tight)
    for j in (0, 3):
        last = tight.points.axes[j].values - 1
        assert (loose.lo[:, j] == 0).sum() == (tight.lo[:, j] == 0).sum()
        assert (loose.hi[:, j] == last).sum() == (tight.hi[:, j] == last).sum()


@pytest.mark.parametrize(("grid", "protect"), [("round", "none"), ("exact", None), (5, None)])
def test_only_protected_ends_are_moved(town, grid, protect):
    tight = cut(town, grid=grid, protect=protect)
    assert protect_labels(tight) is tight


def test_grids_that_hide_have_the_same_edges(town):
    full, ends, none = (
        build_points(town, labels=Labels(protect=protect)).axes[0] for protect in ("full", "ends", "none")
    )
    assert (full.low == ends.low).all()
    assert (full.low == none.low).all()
    assert (full.hides == none.hides).all()
    assert (full.protect, ends.protect, none.protect) == ("full", "ends", "none")


def test_chance_is_made_of_the_whole_table(town):
    tight = cut(town)
    drawn = keyed_noise(tight, 50)
    assert (drawn == keyed_noise(tight, 50)).all()
    assert drawn.mean() == pytest.approx(0.5, abs=0.02)
    assert 0 <= drawn.min() < 0.01
    assert 0.99 < drawn.max() < 1
    weights = tight.points.weights.copy()
    weights[-1] += 1
    other = replace(tight, points=replace(tight.points, weights=weights))
    assert abs(np.corrcoef(drawn.ravel(), keyed_noise(other, 50).ravel())[0, 1]) < 0.05


def test_what_is_released_is_what_the_spectrum_said(town, folder):
    (row,) = kech.compute_spectrum(town, k=[5], effort="quick").rows()
    certificate = kech.make_release(town, k=5, effort="quick").write(folder / "released.csv", ledger=False)
    assert certificate["claims"]["loss"] == pytest.approx(row["loss"], abs=1e-9)
    loose, tight = (
        kech.make_release(town, k=5, effort="quick", protect=protect).write(folder / f"{protect}.csv", ledger=False)
        for protect in ("ends", "none")
    )
    assert tight["claims"]["loss"] < loose["claims"]["loss"] < certificate["claims"]["loss"]
    assert [found["parameters"]["protect"] for found in (certificate, loose, tight)] == ["full", "ends", "none"]


def test_the_search_knows_where_ends_are_on_average(town):
    points = build_points(town).at(5)
    widths, tight = expected_widths(points), points.widths()
    rng = np.random.default_rng(1)
    for j, axis in enumerate(points.axes):
        lo, hi = np.sort(rng.integers(0, axis.size, (2, 200)), axis=0)
        if not isinstance(axis, LineAxis):
            assert [widths.width(j, a, b) for a, b in zip(lo, hi, strict=True)] == pytest.approx(axis.widths(lo, hi))
            continue
        moved = [
            axis.widths(*move_ends(axis, lo, hi, np.tile(moves, (200, 1))))
            for moves in ((1, 1), (1, 2), (2, 1), (2, 2))
        ]
        found = [widths.width(j, a, b) for a, b in zip(lo, hi, strict=True)]
        assert found == pytest.approx(np.mean(moved, axis=0))
        assert max(np.array(found) - [tight.width(j, a, b) for a, b in zip(lo, hi, strict=True)]) > 0

"""Loosening: boxes only grow, by one or two steps an end, and nobody can tell by how many."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import kech
from cutting import cut_unprotected, say_labels
from kech import _kernels
from kech.cuts.protection import expected_widths, protect_labels
from kech.points.partition import mean_loss
from kech.points.points import build_points
from kech.tables.demo import generate_town
from strategies import random_case, seeds

COLUMNS = ["age", "sex", "zip", "moved_in", "job"]


def cut(table, k=5, grid="round", protect="ends"):
    points = build_points(table, labels=say_labels(grid=grid, protect=protect if grid == "round" else None))
    return cut_unprotected(points, k)


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
    assert age.kind == "number"
    cell = np.unique(age.cells[0], return_inverse=True)[1]
    left = cell[tight.lo[:, 0]] - cell[loose.lo[twin, 0]]
    right = cell[loose.hi[twin, 0]] - cell[tight.hi[:, 0]]
    inner = (cell[tight.lo[:, 0]] > 2) & (cell[tight.hi[:, 0]] < cell.max() - 2)
    width = age.high[tight.hi[:, 0]] - age.low[tight.lo[:, 0]] + 1
    wide = inner & (width >= 3)
    assert wide.sum() > 100
    assert set(left[wide]) == set(right[wide]) == {1, 2}
    assert 0.4 < (left[wide] == 1).mean() < 0.6
    assert not left[inner & ~wide].any()
    assert not right[inner & ~wide].any()
    for j, axis in enumerate(tight.points.axes):
        if axis.kind not in ("number", "date"):
            assert (tight.lo[:, j] == loose.lo[twin, j]).all()
            assert (tight.hi[:, j] == loose.hi[twin, j]).all()


def test_boxes_are_counted():
    rng = np.random.default_rng(4)
    sizes = ((0, 2, 3), (1, 1, 1), (7, 2, 3), (400, 3, 9), (500, 1, 600), (3000, 3, 5))
    for points, axes, values, step in (*((*size, 1) for size in sizes), (300, 2, 9, 10**8)):  # the last with far codes
        codes = rng.integers(0, values, (points, axes), dtype=np.int32) * np.int32(step)
        weights = rng.integers(1, 4, points)
        lo, hi = np.sort(rng.integers(0, values, (2, 60, axes), dtype=np.int32), axis=0) * np.int32(step)
        inside = ((lo[:, None] <= codes) & (codes <= hi[:, None])).all(2) @ weights
        found = _kernels.BoxCounter(codes, weights)
        assert (found.count(lo, hi, int(weights.sum())) == inside).all()
        few = found.count(lo, hi, 1)
        assert (np.minimum(few, 2) == np.minimum(inside, 2)).all()


@pytest.mark.parametrize("people", [False, True])
def test_boxes_that_list_codes_are_counted(people):
    rng = np.random.default_rng(5)
    for points, values in ((7, 3), (400, 6), (3000, 12)):
        codes, weights = rng.integers(0, values, (points, 3), dtype=np.int32), rng.integers(1, 4, points)
        person = rng.integers(-1, points // 3, points, dtype=np.int32)
        lo, hi = np.sort(rng.integers(0, values, (2, 60, 3), dtype=np.int32), axis=0)
        lo[:, [0, 2]], hi[:, [0, 2]] = 0, np.iinfo(np.int32).max
        listed = np.where(rng.random((60, 2 * values)) < 0.4, np.tile(np.arange(values), 2), values)
        listed = np.sort(listed.reshape(60, 2, values), axis=2)
        listed = np.where(listed == values, -1, listed).astype(np.int32)
        inside = ((lo[:, None] <= codes) & (codes <= hi[:, None])).all(2)
        for i, j in enumerate((0, 2)):
            held = (listed[:, i, None] == codes[None, :, j, None]).any(2)
            inside &= held | (listed[:, i, :1] < 0)  # nothing listed: every code
        counter = _kernels.BoxCounter(codes, weights, *([person] if people else []))
        found = counter.count(lo, hi, 10**6, listed.reshape(60, -1), np.repeat([0, 2], values))
        counted = [
            len({*person[here & (person >= 0)].tolist()}) + weights[here & (person < 0)].sum()
            if people
            else weights[here].sum()
            for here in inside
        ]
        assert found.tolist() == counted


def test_settled_ends_single_out_fewer(town, monkeypatch):
    tight = cut(town)
    settled = protect_labels(tight)
    assert protect_labels(tight) is settled
    monkeypatch.setattr("kech.cuts.protection.avoid_singling_out", lambda *_: None)
    drawn = protect_labels(cut(town))
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
        build_points(town, labels=say_labels(protect=protect)).axes[0] for protect in ("full", "ends", "none")
    )
    assert (full.low == ends.low).all()
    assert (full.low == none.low).all()
    assert (full.largest_k == none.largest_k).all()
    assert (full.protect, ends.protect, none.protect) == ("full", "ends", "none")


def test_chance_is_made_of_the_whole_table(town):
    """Each label has two moved sides, so one in sixteen is the same by chance, and a few that do not move."""
    tight = cut(town)
    weights = tight.points.weights.copy()
    weights[-1] += 1
    other = replace(tight, points=replace(tight.points, weights=weights))
    drawn, again, others = (boxes_of(protect_labels(made)) for made in (tight, replace(tight), other))
    assert drawn == again
    assert len(drawn & others) < 0.25 * len(drawn)


def boxes_of(partition):
    return set(map(tuple, np.hstack([partition.lo, partition.hi]).tolist()))


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


def move(axis, lo, hi, left, right):
    """A box of several cells and three units or more, its ends so many small cells further out, open tails aside."""
    starts = np.unique(axis.cells[0][: axis.values]).tolist()
    edges = [*(axis.low[code] for code in starts), np.inf]
    units = [round((edges[i + 1] - edges[i]) / axis.unit) for i in range(1, len(starts) - 1)]
    small = {i for i, length in enumerate(units, 1) if length <= 31}
    first, last = (int(np.searchsorted(starts, code, side="right")) - 1 for code in (lo, hi))
    if hi == axis.null or first == last or edges[last + 1] - edges[first] < 2.5 * axis.unit:
        return lo, hi
    for _ in range(left):
        first -= first - 1 in small
    for _ in range(right):
        last += last + 1 in small
    return starts[first], axis.cells[1][starts[last]]


def test_the_search_knows_where_ends_are_on_average(town):
    points = build_points(town).published_at(5)
    widths, tight = expected_widths(points), points.widths()
    rng = np.random.default_rng(1)
    for j, axis in enumerate(points.axes):
        lo, hi = np.sort(rng.integers(0, axis.size, (2, 200)), axis=0)
        if axis.kind not in ("number", "date"):
            assert [widths.width(j, a, b) for a, b in zip(lo, hi, strict=True)] == pytest.approx(axis.widths(lo, hi))
            continue
        moved = [
            axis.widths(*np.transpose([move(axis, *ends, *moves) for ends in zip(lo, hi, strict=True)]))
            for moves in ((1, 1), (1, 2), (2, 1), (2, 2))
        ]
        found = [widths.width(j, a, b) for a, b in zip(lo, hi, strict=True)]
        assert found == pytest.approx(np.mean(moved, axis=0))
        assert max(np.array(found) - [tight.width(j, a, b) for a, b in zip(lo, hi, strict=True)]) > 0

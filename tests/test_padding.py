"""Widening: labels only grow, as often as chance asks, and never into an open tail or to everything."""

import numpy as np
import pyarrow as pa
import pytest

import kech
from cutting import cut_unprotected, say_labels
from kech.cuts.padding import find_padded_axes, pad_labels, padding_loss
from kech.points.partition import build_partition
from kech.points.points import build_points
from strategies import random_case

DRAWS = 4  # of each class on each axis
LINES = 3  # columns of the square whose labels are intervals or ranges
FEWEST = 5  # rows: smaller classes are padded as if they had so many


def cut(table, k=5, protect="full"):
    points = build_points(table, labels=say_labels(protect=protect))
    return cut_unprotected(points, k)


def widened(partition, chances=None):
    wide = find_padded_axes(partition.points)
    if chances is None:
        chances = np.random.default_rng(1).random((partition.classes, DRAWS * len(wide)))
    return pad_labels(partition, wide, chances)


@pytest.fixture(scope="module")
def square():
    """Even numbers in two columns, and an order."""
    rng = np.random.default_rng(3)
    held = {name: rng.integers(0, 100_000, 4_000) / 100 for name in ("a", "b")}
    held |= {"grade": rng.integers(0, 40, 4_000).astype(str)}
    order = [str(i) for i in range(40)]
    with kech.read_table(pa.table(held), quasi_identifiers=list(held), axes={"grade": order}) as table:
        yield table


@pytest.mark.parametrize("seed", range(20))
def test_labels_grow_around_the_same_rows(seed):
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        tight = cut(table, min(3, table.rows))
    draws = DRAWS * len(find_padded_axes(tight.points))
    for drawn in (0.0, 0.5, 1 - 2**-16):
        check_grown(tight, *widened(tight, np.full((tight.classes, draws), drawn)))


def check_grown(tight, lo, hi):
    assert (lo <= tight.lo).all()
    assert (hi >= tight.hi).all()
    for j, axis in enumerate(tight.points.axes):
        grown = (lo[:, j] < tight.lo[:, j]) | (hi[:, j] > tight.hi[:, j])
        assert not grown.any() or (axis.widths(lo[grown, j], hi[grown, j]) < 1).all()
        assert not (grown & (tight.lo[:, j] == tight.hi[:, j])).any()  # one code tells nothing of its ends
        if j in tight.members:
            continue  # sets list decoys: test_sets.py
        first, last = axis.close(lo[:, j], hi[:, j])
        assert (first == lo[:, j]).all()
        assert (last == hi[:, j]).all()
        if axis.kind in ("number", "date"):
            assert ((lo[:, j] > 0) | (tight.lo[:, j] == 0)).all()
            assert ((hi[:, j] < axis.values - 1) | (tight.hi[:, j] >= axis.values - 1)).all()
    assert smallest_box(tight, lo, hi) >= tight.k


def smallest_box(tight, lo, hi):
    """Rows of the smallest class, where equal boxes are one class."""
    boxes, which = np.unique(np.hstack([lo, hi]), axis=0, return_inverse=True)
    return np.bincount(which.ravel(), weights=tight.sizes, minlength=len(boxes)).min()


def test_no_chance_leaves_every_label(square):
    tight = cut(square)
    lo, hi = widened(tight, np.ones((tight.classes, LINES * DRAWS)))
    assert (lo == tight.lo).all()
    assert (hi == tight.hi).all()


def test_a_half_is_empty_as_often_as_was_meant(square):
    tight = cut(square)
    chances = np.tile([1.0, 1.0, 0.0, 0.0], (tight.classes, LINES))
    chances[:, 2::DRAWS] = np.random.default_rng(2).random((tight.classes, LINES))
    lo, hi = widened(tight, chances)
    ends = tight.points.axes[0].ends
    tall = (
        (tight.lo[:, 0] > 30) & (tight.hi[:, 0] < tight.points.axes[0].values - 31) & (tight.lo[:, 0] < tight.hi[:, 0])
    )
    before = ends[1][tight.hi[tall, 0]] - ends[0][tight.lo[tall, 0]]
    after = ends[1][hi[tall, 0]] - ends[0][lo[tall, 0]]
    small = before < ends[1].max() / 10  # there is room at both sides
    doubled = after[small] >= 2 * before[small] - 2
    assert (doubled | (after[small] == before[small])).all()
    meant = 2 * 3.0 * 0.5 ** np.maximum(tight.sizes[tall][small], FEWEST)
    assert doubled.mean() == pytest.approx(np.minimum(meant, 1).mean(), abs=0.04)


def test_an_end_part_is_empty_as_often_as_was_meant(square):
    tight = cut(square)
    chances = np.random.default_rng(2).random((tight.classes, LINES * DRAWS))
    chances[:, 2::DRAWS] = 1.0
    lo, hi = widened(tight, chances)
    grade = next(at for at in find_padded_axes(tight.points) if at.axis.column == "grade").index
    inner = (tight.lo[:, grade] > 0) & (tight.hi[:, grade] < 39) & (tight.lo[:, grade] < tight.hi[:, grade])
    assert set((tight.lo - lo)[inner, grade].tolist()) == {0, 1}
    parts = (tight.hi - tight.lo)[inner, grade] + 2
    meant = (1 - 1 / parts) ** np.maximum(tight.sizes[inner], FEWEST)
    for moved in ((tight.lo - lo)[inner, grade], (hi - tight.hi)[inner, grade]):
        assert moved.mean() == pytest.approx(meant.mean(), abs=0.06)


def test_a_half_is_added_where_fewer_rows_are():
    """Nobody has the places 0 to 3 beside the class at 4 to 7, and many have the places 8 to 11."""
    order = [str(i) for i in range(20)]
    places = [*range(4, 8)] * 2 + [*range(8, 20)] * 9 + [*range(4)]
    other = ["x"] * 8 + ["x"] * 108 + ["y"] * 4
    held = pa.table({"place": list(map(str, places)), "other": other})
    with kech.read_table(held, quasi_identifiers=["place", "other"], axes={"place": order, "other": "set"}) as table:
        points = build_points(table)
    point = np.arange(len(points.weights))
    at = points.codes[:, 0]
    group = np.where(points.codes[:, 1] == points.codes[at == 0, 1], 2, np.where(at < 8, 0, 1))
    sort = np.argsort(group, kind="stable")
    tight = build_partition(points, point[sort], group[sort], points.weights[sort])
    lo, hi = widened(tight, np.array([[1.0, 1.0, 0.0, 1.0]] * tight.classes))
    (mine,) = np.flatnonzero((tight.lo[:, 0] == 4) & (tight.hi[:, 0] == 7))
    assert (lo[mine, 0], hi[mine, 0]) == (0, 7)


def test_halves_do_not_lean_to_one_side(square):
    """Every label grows here: where there is room at both sides, as often to the first as to the last."""
    tight = cut(square)
    chances = np.random.default_rng(5).random((tight.classes, LINES * DRAWS))
    chances[:, :2], chances[:, 2] = 1.0, 0.0
    lo, hi = widened(tight, chances)
    left, right = (tight.lo > lo)[:, 0], (hi > tight.hi)[:, 0]
    codes = tight.points.axes[0].values
    inner = (tight.lo[:, 0] > codes / 3) & (tight.hi[:, 0] < codes * 2 / 3) & (left | right)
    assert inner.sum() > 100
    assert left[inner].mean() == pytest.approx(0.5, abs=2.6 * 0.5 / np.sqrt(inner.sum()))


@pytest.mark.parametrize("said", [{"protect": "ends"}, {"protect": "none"}, {"grid": "exact"}, {"grid": 5}])
def test_only_fully_protected_labels_are_padded(square, said):
    assert find_padded_axes(build_points(square, labels=say_labels(**said))) == []


@pytest.mark.parametrize("k", [3, 5, 9])
def test_what_is_expected_is_the_mean_of_many_draws(k, square):
    tight, rng = cut(square, k), np.random.default_rng(k)
    draws = DRAWS * len(find_padded_axes(tight.points))
    drawn = [lost(tight, *widened(tight, rng.random((tight.classes, draws)))) for _ in range(20)]
    cells = tight.points.rows * len(tight.points.axes)

    assert padding_loss(tight) == pytest.approx(np.mean(drawn) / cells, rel=0.05)


def test_nothing_is_expected_where_nothing_is_widened(square):
    assert padding_loss(cut(square, protect="ends")) == 0


def lost(tight, lo, hi):
    """What all rows lose by wider labels."""
    return sum(
        (tight.sizes * (axis.widths(lo[:, j], hi[:, j]) - axis.widths(tight.lo[:, j], tight.hi[:, j]))).sum()
        for j, axis in enumerate(tight.points.axes)
        if j not in tight.members
    )

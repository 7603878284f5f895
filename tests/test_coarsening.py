from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

import kech
from cutting import say_labels
from kech.axes import build_line_axis
from kech.axes.coarsening import cover, covering_error, round_axis
from kech.errors import BadOption, TooManyPoints
from kech.points.partition import build_partition
from kech.points.points import build_points
from oracles import means, smallest_class
from strategies import axes, held_codes, kernel_widths, random_case, unhurried
from test_oracle_tables import as_read, paths_of, read_cells
from topology_oracles import eps_widths

few = settings(unhurried, max_examples=40)
steps = st.one_of(st.floats(0.001, 1.0), st.sampled_from([0.05, 0.1, 0.25, 0.5, 1.0]))


def ranges(axis):
    """All ranges of codes behind which there are values."""
    held = np.array(held_codes(axis))
    lo, hi = np.triu_indices(len(held))
    return held[lo], held[hi]


# One axis


@few
@given(axes, steps, st.integers(1, 20), st.integers(0, 20))
def test_a_covered_range_grows_by_no_more_than_is_said(drawn, step, k, more):
    fine = drawn[0].at(k)
    coarse, exact = cover(fine, step, k).at(k + more), fine.at(k + more)
    first, last = ranges(fine)

    grown = eps_widths(coarse, first, last) - eps_widths(exact, first, last)

    assert (coarse.widths(first, last) - exact.widths(first, last) >= -1e-12).all()
    assert (grown >= -1e-12).all()
    assert grown.max(initial=0) / 2 <= covering_error(coarse) + 1e-12


@few
@given(axes, steps, st.integers(1, 20))
def test_a_covered_axis_is_wrong_by_a_step_at_most(drawn, step, k):
    fine = drawn[0].at(k)
    coarse = cover(fine, step, k).at(k)
    if fine.kind == "hierarchy":
        assert covering_error(coarse) <= step / 2 + 1e-12
    assert covering_error(coarse) <= (0 if fine.kind == "set" else step + 1e-12)


@few
@given(axes, steps, st.integers(1, 20))
def test_a_covered_label_stands_for_every_code_the_fine_one_stands_for(drawn, step, k):
    fine = drawn[0].at(k)
    coarse = cover(fine, step, k).at(k)
    first, last = ranges(fine)

    inner, outer = fine.close(first, last), coarse.close(first, last)

    assert (outer[0] <= inner[0]).all()
    assert (outer[1] >= inner[1]).all()
    if fine.kind in ("number", "date"):  # no edge that was not one before
        assert set(coarse.cells[0].tolist()) <= set(fine.cells[0].tolist())


@few
@given(axes, steps)
def test_a_rounded_range_changes_by_no_more_than_is_said(drawn, step):
    axis = drawn[0].at(1)
    moved, error = round_axis(axis, step)
    to = np.arange(axis.size)
    to[axis.codes] = moved.codes
    first, last = ranges(axis)

    changed = np.abs(eps_widths(axis, to[first], to[last]) - eps_widths(axis, first, last))

    assert changed.max(initial=0) / 2 <= error + 1e-12
    assert error <= step / 2 + 1e-12


@pytest.mark.parametrize("values", [3, 40, 55])
def test_values_of_a_set_stay_as_they_are(values):
    """Sets of 50 values or fewer were joined in runs: eps was wrong by 0.5, and kernels measured other widths."""
    names = [*(f"v{i}" for i in range(values)), None]
    with kech.read_table(pa.table({"c": names}), quasi_identifiers=["c"], axes={"c": "set"}) as table:
        (axis,) = build_points(table).axes
    coarse = cover(axis, 0.5, 2).at(2)
    kernel = kernel_widths(coarse)
    lo, hi = ranges(axis)

    assert coarse.runs[0].tolist() == list(range(len(names)))
    assert round_axis(axis, 0.5)[0].codes.tolist() == axis.codes.tolist()
    assert covering_error(coarse) == 0
    assert [kernel.width(0, *ends) for ends in zip(lo.tolist(), hi.tolist(), strict=True)] == coarse.widths(
        lo, hi
    ).tolist()


def test_numbers_are_made_coarser_and_sets_alone_are_refused():
    rng = np.random.default_rng(7)
    sets, numbers = {name: rng.choice(list("abcdefgh"), 600) for name in "xyz"}, rng.integers(0, 1000, 600)

    mixed = points_of(pa.table({"x": sets["x"], "n": numbers}), most=40)
    assert len(mixed.weights) <= 40 and 0 < mixed.eps_error() < 0.5
    with pytest.raises(TooManyPoints, match=r"100 are allowed.*hierarchy"):
        points_of(pa.table(sets), most=100)


def test_edges_of_larger_k_part_first():
    axis = replace(exact_axis(np.arange(10.0)), largest_k=np.array([9, 2, 2, 2, 2, 2, 2, 2, 2]))

    kept = cover(axis, 4 / 9, 2).largest_k > 0

    assert np.flatnonzero(kept).tolist() == [0, 5]  # 0 | 1..5 | 6..9: 1..9 is too long for the k that knows only 0 | 1


# Points


def numbers(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table({f"c{j}": rng.integers(0, 1000, rows) for j in range(columns)})


def points_of(table, most, grid="round", *, rounding=False):
    """The points of a release, or of a barcode, for which values are moved; no more than so many."""
    with kech.read_table(table, quasi_identifiers=table.column_names) as read:
        if rounding:
            return kech.compute_barcode(read, max_dimension=0, grid=grid, max_points=most).filtration.points
        return kech.make_release(read, k=2, grid=grid, effort=0, max_points=most).partition.points


@pytest.mark.parametrize("rounding", [False, True])
@pytest.mark.parametrize("most", [1, 40, 400])
def test_there_are_no_more_points_than_allowed_and_no_row_is_lost(rounding, most):
    points = points_of(numbers(400, 3), most, rounding=rounding)

    assert len(points.weights) <= most
    assert points.rows == 400
    assert (points.step > 0) == (most < 400)
    assert (points.eps_error() > 0) == (most < 400)


@pytest.mark.long
def test_as_many_points_as_memory_holds():
    """Of 320 MB, 64,000."""
    for rows, fits in ((64_000, True), (64_001, False)):
        cells = pa.table({"a": range(rows), "b": np.arange(rows) % 2})
        with kech.read_table(cells, quasi_identifiers=["a", "b"], memory="320MB") as table:
            points = build_points(table, labels=say_labels(grid="exact"))
        assert (points.step == 0) == (len(points.weights) == rows) == fits
        assert len(points.weights) <= 64_000


def test_levels_are_not_made_coarser_but_refused():
    with kech.read_table(numbers(300, 2), quasi_identifiers=["c0", "c1"]) as table:
        with pytest.raises(TooManyPoints, match="distinct points, and 5 are allowed"):
            kech.make_release(table, k=2, cut="domain", max_points=5)
        with pytest.raises(BadOption, match="max_points"):
            kech.compute_spectrum(table, k=[2], max_points=0)


def test_a_sample_foretells_points():
    """Every second of these rows is looked at, and axes become no coarser than they must."""
    rng = np.random.default_rng(1)
    rows = pa.table({name: rng.integers(0, 1_000, 1_200_000) for name in "ab"})
    for most in (50_000, 1_000):
        assert most / 3 < len(points_of(rows, most, "exact", rounding=True).weights) <= most


# Against the exact result

triples = st.lists(st.tuples(*[st.integers(0, 200)] * 3), min_size=4, max_size=25).map(np.array)
tables = st.lists(st.tuples(*[st.integers(0, 60)] * 2), min_size=3, max_size=6).map(np.array)


@settings(unhurried, max_examples=30)
@given(tables, st.integers(2, 3), steps)
def test_the_smallest_eps_is_as_near_as_is_said(rows, k, step):
    spans = np.maximum(np.ptp(rows, axis=0), 1)
    exact = smallest_eps(len(rows), k, lambda held: (np.ptp(rows[held], axis=0) / spans).max() / 2)
    axes = [exact_axis(column) for column in rows.T]

    covered = [cover(axis, step, k) for axis in axes]
    moved, errors = zip(*(round_axis(axis, step) for axis in axes), strict=True)

    widest = max(map(covering_error, covered))
    assert exact - 1e-9 <= smallest_eps(len(rows), k, printed(covered, rows)) <= exact + widest + 1e-9
    assert abs(smallest_eps(len(rows), k, printed(moved, rows)) - exact) <= max(errors) + 1e-9


def exact_axis(column):
    values, counts = np.unique(column.astype(float), return_counts=True)
    return build_line_axis("c", values, counts, False, is_date=False, grid="exact")


def smallest_eps(rows, k, radius):
    """Over all ways to part rows into classes of k or more."""
    if rows < k:
        return np.inf

    def best(left):
        if not left:
            return 0.0
        first, rest = left[0], left[1:]
        classes = ((first, *others) for n in range(k - 1, len(left)) for others in combinations(rest, n))
        return min((max(radius(list(c)), best(tuple(x for x in rest if x not in c))) for c in classes), default=np.inf)

    return best(tuple(range(rows)))


def printed(axes, rows):
    """Half the widest side of the box around some rows."""
    codes = [axis.codes[np.unique(column, return_inverse=True)[1]] for axis, column in zip(axes, rows.T, strict=True)]

    def radius(held):
        ends = [(on[held].min(keepdims=True), on[held].max(keepdims=True)) for on in codes]
        return max(float(axis.widths(*end)[0]) for axis, end in zip(axes, ends, strict=True)) / 2

    return radius


def merges(table, metric):
    """For each pair of rows, the radius at which they are joined: single linkage of scipy."""
    values = np.stack([np.array(column, float) for column in table.columns], axis=1)
    spans = np.ptp(values, axis=0)
    scaled = (values - values.min(axis=0)) / np.where(spans, spans, 1)
    tree = linkage(scaled, "single", {"box": "chebyshev", "ball": "euclidean"}[metric])
    return squareform(cophenet(tree)) / 2


@settings(unhurried, max_examples=8)
@given(triples, st.sampled_from(["box", "ball"]), st.integers(1, 12))
def test_every_merge_of_two_rows_is_as_near_as_is_said(rows, metric, most):
    table = pa.table({f"c{j}": rows[:, j] for j in range(3)})
    with kech.read_table(table, quasi_identifiers=table.column_names) as read:
        barcode = kech.compute_barcode(read, metric=metric, max_dimension=0, grid="exact", max_points=most)
        codes = read.engine.code_rows(barcode.filtration.points.mappings)
    tree, place = barcode.filtration, {bytes(code): i for i, code in enumerate(barcode.filtration.points.codes)}
    point, exact = [place[bytes(code)] for code in codes], merges(table, metric)

    for i, j in combinations(range(len(rows)), 2):
        assert abs(meeting(tree, point[i], point[j]) - exact[i, j]) <= barcode.eps_error + 1e-9


def meeting(tree, a, b):
    """The radius at which two points are in one component."""
    while a != b:
        a, b = min(a, b), max(a, b)
        a = tree.parent[a]
    return 0.0 if a < len(tree.points.weights) else tree.birth[a]


def test_half_a_step_is_too_little_for_printed_boxes_and_for_balls():
    """The numbers of docs/explanation/claims/coarse.md."""
    line = pa.table({"a": [0, 4, 5, 9, 100]})
    covered = points_of(line, 3, "exact")
    one_class = build_partition(covered, np.array([0, 1]), np.array([0, 0]), np.array([1, 1]))

    assert covered.step < 0.1
    assert one_class.labels(0) == ["[0, 9]"]  # printed for 4 and 5 too, which are 0.01 apart: eps 0.045, not 0.005
    assert covered.eps_error() == pytest.approx(0.04)
    assert covered.eps_error() > covered.step / 2

    diagonal = pa.table({"a": [0, 4, 8, 100], "b": [0, 4, 8, 100]})
    square = points_of(diagonal, 2, "exact", rounding=True)
    assert square.eps_error() == pytest.approx(0.04)
    assert square.eps_error("ball") == pytest.approx(0.04 * 2**0.5)
    assert square.eps_error("ball") > square.step / 2


# Releases


@pytest.mark.parametrize("seed", range(12))
def test_labels_of_coarse_axes_are_true(seed, tmp_path):
    case = random_case(seed)
    most = 1 + seed % 7
    kept = case.roles | {"keep": ["x"]}
    with kech.read_table(case.table, **kept) as table:
        try:
            made = kech.make_release(table, k=case.k, grid=case.grid, effort="quick", max_points=most)
        except TooManyPoints:  # sets of many texts
            return
        path = tmp_path / f"out{case.suffix}"
        certificate = made.write(path, ledger=False)
    kech.check_certificate(path)
    header, cells = read_cells(path)
    labels = {row[header.index("x")]: row for row in cells}
    for axis in certificate["quasi_identifiers"]:
        values = [as_read(x, axis) for x in case.table[axis["column"]].to_pylist()]
        above = paths_of(case, axis, values)
        for value, name in zip(values, case.table["x"].to_pylist(), strict=True):
            assert means(labels[name][header.index(axis["column"])], value, axis, above)
    assert smallest_class([[row[header.index(q)] for q in case.quasi_identifiers] for row in cells]) >= case.k
    if "coarse" in certificate["parameters"]:
        assert 0 <= certificate["parameters"]["coarse"]["eps_error"] <= 1
    else:
        assert len(np.unique(made.partition.points.codes, axis=0)) <= most


def test_a_spectrum_says_how_coarse_it_is():
    with kech.read_table(numbers(500, 3), quasi_identifiers=["c0", "c1", "c2"]) as table:
        exact = kech.compute_spectrum(table, k=[2, 5, 20], grid="exact")
        coarse = kech.compute_spectrum(table, k=[2, 5, 20], grid="exact", max_points=100)

    assert exact.step == 0
    assert {line.eps_error for line in exact.lines} == {0.0}
    assert coarse.points <= 100
    assert coarse.to_json()["step"] == coarse.step > 0
    assert all(0 < line.eps_error <= coarse.step for line in coarse.lines)

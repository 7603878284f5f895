import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kech
from kech.axes import build_line_axis
from kech.release.linkage import link
from kech.release.published import read_published
from kech.tables.demo import nine_rows
from oracles import lies_in, read_date
from strategies import DAY, date_columns, number_columns, seconds, unhurried

EPOCH = datetime(1970, 1, 1)

columns = st.one_of(
    st.tuples(st.just(False), number_columns()),
    st.tuples(st.just(True), date_columns()),
)


@dataclass(frozen=True)
class Edges:
    """What an axis with a round grid publishes: edges, each with the largest k that it serves."""

    axis: Any

    @property
    def edges(self):
        return self.axis.low[1:]

    @property
    def largest_k(self):
        return self.axis.largest_k

    @property
    def unit(self):
        return self.axis.unit

    @property
    def domain(self):
        return self.axis.domain


FIRST_DAY, LAST_DAY = -62135596800.0, 253402214400.0  # of the calendar, in seconds since 1970


def build(is_date, column):
    return Edges(build_line_axis("c", *column, False, is_date=is_date, grid="round"))


def counted(values):
    values, counts = np.unique(np.array(values, float), return_counts=True)
    return values, counts


def bulk_of(values, counts):
    """The first and last value without 20 rows at each end, or half a percent of many, or a quarter of few."""
    rows = np.repeat(values, counts)
    apart = min(max(20, len(rows) // 200), len(rows) // 4)
    return rows[apart], rows[len(rows) - apart - 1]


def expected_reach(column):
    """Where the outermost rows are expected: the gaps between rows m, 4 m and 16 m from an end go on growing."""
    rows = np.repeat(*column).tolist()
    m = min(max(20, len(rows) // 200), len(rows) // 4)
    if 32 * m > len(rows):
        return bulk_of(*column)
    ends = []
    for line in (rows, rows[::-1]):
        near, middle, far = line[m], line[4 * m], line[16 * m]
        growth = min((near - middle) / (middle - far), 4) if middle != far else 0
        ends.append(near + (near - middle) * sum(growth**step for step in range(1, 20) if 4**step <= m))
    return tuple(ends)


def heavy_tail(seed, rows, spread):
    """Amounts whose logarithms are normal."""
    return np.random.default_rng(seed).lognormal(6, spread, rows).round(1)


def rows_between(edges, values, counts):
    """Rows of each stretch between neighbouring edges, tails included; one value at a time."""
    rows = [0] * (len(edges) + 1)
    for value, count in zip(values, counts, strict=True):
        rows[sum(edge <= value for edge in edges)] += int(count)
    return rows


# The paper's nine rows


def test_nine_ages_are_cut_at_the_tens_where_three_rows_hide():
    grid = build(False, counted(nine_rows()["age"]))

    assert grid.edges.tolist() == [30, 40]
    assert grid.largest_k.tolist() == [3, 3]
    assert grid.unit == 1


def test_nine_zip_codes_fall_into_their_three_towns():
    grid = build(False, counted(nine_rows()["zip"]))
    edges = grid.edges[grid.largest_k >= 3]

    assert [n for n in rows_between(edges, *counted(nine_rows()["zip"])) if n] == [3, 3, 3]
    assert rows_between(grid.edges[grid.largest_k >= 4], *counted(nine_rows()["zip"])) == [0, 9]


# Laws


@given(columns)
@unhurried
def test_between_published_edges_lie_k_rows_or_none_for_every_k(column):
    _, (values, counts) = column
    grid = build(*column)
    for k in range(1, int(counts.sum()) + 1):
        rows = rows_between(grid.edges[grid.largest_k >= k], values, counts)
        assert all(n == 0 or n >= k for n in rows), (k, rows)


@given(columns, st.sampled_from([1, 30, 400]))
@unhurried
def test_edges_lie_within_reach_and_all_beyond_is_an_open_tail(column, times):
    """Beyond the reach there is no more than the rest of one step, which is no longer than twice the reach."""
    is_date, (values, counts) = column
    grid = build(is_date, (values, counts * times))
    start, stop = expected_reach((values, counts * times))
    step = 2 * max(stop - start, 10 * grid.unit, 1.0 if is_date else 0.0, abs(start) * 1e-9, 1e-290)

    assert grid.domain[0] <= grid.domain[1]
    assert all(start - step <= edge <= stop + step for edge in grid.edges)
    cells = np.searchsorted(grid.edges, values, side="right")
    assert all(cells[values < start - step] == 0)
    assert all(cells[values > stop + step] == len(grid.edges))


@given(columns)
@unhurried
def test_edges_ascend_and_are_round(column):
    is_date, _ = column
    grid = build(*column)

    assert all(np.diff(grid.edges) > 0)
    for edge in grid.edges:
        if is_date:
            moment = EPOCH + timedelta(seconds=float(edge))
            assert moment.microsecond == 0
            assert grid.unit < DAY or moment.time() == datetime.min.time()
        else:
            assert float(f"{edge:.14g}") == edge


@given(columns, st.booleans())
@unhurried
def test_grids_are_nested_and_every_value_lies_in_the_interval_its_label_says(column, has_null):
    is_date, (values, counts) = column
    axis = build_line_axis("c", values, counts, has_null, is_date=is_date, grid="round")
    known = [EPOCH + timedelta(seconds=float(x)) for x in values] if is_date else values.tolist()
    last = None
    for k in sorted({1, 2, 3, 5, 8, 21, 100}):
        at = axis.at(k)
        codes = at.codes.astype(np.int64)
        lo, hi = at.close(codes, codes)
        for value, label in zip(known, at.labels(lo, hi), strict=True):
            assert lies_in(value, label, read_date if is_date else float), (value, label)
        boundaries = {(int(a), int(b)) for a, b in zip(*at.cells, strict=True)}
        assert last is None or all(any(a <= c and d <= b for a, b in boundaries) for c, d in last)
        last = boundaries


@given(st.integers(1, 40), st.integers(40, 400), st.integers(0, 10**6))
@unhurried
def test_where_rows_are_many_cells_are_fine(k, people, seed):
    """On evenly spread whole numbers a published cell holds at most about 2 x 5/2 x 2k rows."""
    values = np.random.default_rng(seed).integers(0, 1000, people * k)
    grid = build(False, counted(values))
    edges = grid.edges[grid.largest_k >= k]
    rows = rows_between(edges, *counted(values))

    assert max(rows) <= max(20 * k, people * k / 4)


@pytest.mark.parametrize("spread", [0.5, 1, 2, 3])
@pytest.mark.parametrize("rows", [700, 3000])
def test_few_rows_of_a_heavy_tail_are_beyond_all_edges(rows, spread):
    """The open tail holds nobody, or k rows or more, and never many times k."""
    for seed in range(10):
        values = heavy_tail(seed, rows, spread)
        grid = build(False, counted(values))
        for k in (3, 5, 10, 20):
            beyond = (values >= grid.edges[grid.largest_k >= k][-1]).sum()
            assert beyond == 0 or k <= beyond < 4 * k


@pytest.mark.parametrize("spread", [0, 0.5, 1, 2])
@pytest.mark.parametrize("rows", [700, 3000, 20_000])
def test_the_domain_ends_about_where_the_data_do(rows, spread):
    """The median of 15 tables: neither is the domain half of the data, nor are the data half of the domain."""
    draw = np.random.default_rng(7)
    tables = [heavy_tail(seed, rows, spread) if spread else draw.normal(0, 1e4, rows).round() for seed in range(15)]
    shares = [build(False, counted(values)).axis.at(5).domain[1] / values.max() for values in tables]
    assert 0.5 < np.median(shares) < 2


@pytest.mark.parametrize("seed", range(4))
def test_the_outermost_rows_of_a_heavy_tail_move_no_end_of_its_domain(seed):
    """Nineteen rows at the end may lie anywhere beyond the others, also within reach."""
    rows = np.sort(heavy_tail(seed, 3000, 1.7))
    apart = np.r_[np.zeros(2981), np.sort(np.random.default_rng(seed).lognormal(10, 2, 19)).round(1)]
    one, other = (build(False, counted(values)) for values in (rows, np.r_[rows[:2981], rows[2980] + apart[2981:]]))
    assert one.domain == other.domain
    assert one.domain[1] > rows[-20] * 1.5


# One domain


@given(columns, st.sampled_from([1, 4, 30]))
@unhurried
def test_the_domain_holds_all_edges_and_each_of_its_ends_many_rows_decide(column, times):
    """Of 200 rows or more it is one at every k.  Where somebody is beyond the outermost edge, it goes on."""
    is_date, (values, counts) = column
    grid = build(is_date, (values, counts * times))
    rows = int(counts.sum()) * times
    domains = {k: grid.axis.at(k).domain for k in (2, 5, 20, 100) if (grid.largest_k >= k).any()}
    assert rows < 200 or len(set(domains.values())) <= 1
    for k, (start, stop) in domains.items():
        edges = grid.edges[grid.largest_k >= max(min(k, 20), min(max(20, rows // 200), rows // 10))]
        first, last, after = grid.edges[0], grid.edges[-1], stop + grid.unit
        nobody_below, nobody_above = len(edges) and edges[0] <= values[0], len(edges) and edges[-1] > values[-1]
        assert (start == first and nobody_below) or start < first or start == FIRST_DAY
        assert (after == pytest.approx(last, rel=1e-15) and nobody_above) or after > last or stop >= LAST_DAY - DAY
        low, high = expected_reach((values, counts * times))
        assert start == first if nobody_below and start > low else start <= max(low, first)
        assert after == pytest.approx(last, rel=1e-15) if nobody_above and stop < high else after > min(high, last)


@pytest.mark.parametrize("seed", range(8))
def test_nobody_far_out_moves_the_domain(seed):
    """The ten rows at either end may lie anywhere beyond the others."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.normal(0, 1000, 400) ** 3 if seed % 2 else rng.exponential(1e5, 400) - 1e5).round()
    outward = np.repeat([-1, 0, 1], [10, 380, 10])
    one, other = (build(False, counted(rows + far * outward)) for far in (1e11, 7e12))
    assert one.domain == other.domain
    length = rows[-21] - rows[20]
    assert all(0 < beyond < 0.45 * length for beyond in (rows[20] - one.domain[0], one.domain[1] - rows[-21]))


@pytest.mark.parametrize(("values", "domain"), [((1, 2, 3), (1, 3)), ((0, 1), (0, 1)), (range(1, 11), (1, 10))])
def test_small_whole_numbers_are_measured_from_the_first_to_the_last(values, domain):
    grid = build(False, counted([*values] * 25))
    assert {grid.axis.at(k).domain for k in (2, 5, 10, 20, 25)} == {domain}


def test_every_release_of_a_table_is_measured_by_one_domain(tmp_path):
    """At each k, with each searched cut and protection, after coarsening, and as its certificate says."""
    rng = np.random.default_rng(3)
    columns = {"age": rng.integers(18, 90, 210), "mark": rng.integers(1, 4, 210), "pay": rng.exponential(900, 210)}
    with kech.read_table(pa.table(columns), quasi_identifiers=list(columns)) as table:
        one = [{"k": 30, "protect": protect} for protect in ("full", "ends", "none")]
        other = [{"k": 9, "cut": "minimal"}, {"k": 2, "cut": "regime"}, {"k": 12, "max_points": 40}]
        made = [kech.make_release(table, effort="quick", **fields) for fields in (*one, *other)]
        written = made[0].write(tmp_path / "one.csv", ledger=False)["quasi_identifiers"]
    domains = [[axis["domain"] for axis in release.axes] for release in made]
    assert domains == [[axis["domain"] for axis in written]] * len(made)
    assert domains[0][1] == [1, 3]
    assert not {*domains[0][2]} & {columns["pay"].min(), columns["pay"].max()}


def test_in_a_small_table_equal_edges_with_another_domain_are_another_grid():
    """Of 50 rows the domain follows k beyond 5, and no k may be published with that of a smaller one."""
    values = np.random.default_rng(0).integers(0, 40, 50)
    axis = build(False, counted(values)).axis
    assert np.array_equal(axis.at(14).cells, axis.at(15).cells)
    assert axis.at(14).domain != axis.at(15).domain
    assert axis.at(14).state != axis.at(15).state
    with kech.read_table(pa.table({"a": values}), quasi_identifiers=["a"]) as table:
        alone, beside = (kech.compute_spectrum(table, k=ks, effort="quick").rows()[-1] for ks in ([15], [14, 15]))
    assert alone == beside


def test_an_open_tail_is_wider_than_one_value():
    """Five of 45 rows lie far out: nobody knows how far, so their label has a width."""
    axis = build(False, counted([30, 31, 32, 33] * 10 + [50, 60, 70, 80, 90])).axis.at(5)
    tail = np.array([axis.codes[-1]])
    assert axis.labels(*axis.close(tail, tail)) == [">= 34"]
    assert axis.widths(tail, tail)[0] > 0.15


def test_where_no_edge_is_published_the_domain_tells_nothing():
    assert build(False, counted([3, 4, 5] * 10)).axis.at(40).domain == (0, 1)


# The odd ones


def test_one_row_has_no_edge():
    assert len(build(False, counted([5])).edges) == 0
    assert len(build(True, counted([0])).edges) == 0


@pytest.mark.parametrize("value", [0, 5, -7.5, 1 / 3, 1e300, 1e-300, -(10**12), 5e-324, 1.7e308])
def test_a_constant_column_is_published_as_it_is(value):
    column = counted([value] * 6)
    grid = build(False, column)

    assert grid.domain[0] <= grid.domain[1]
    assert rows_between(grid.edges[grid.largest_k >= 6], *column).count(6) == 1
    if grid.unit:
        axis = build_line_axis("c", *column, False, is_date=False, grid="round").at(6)
        assert Fraction(axis.labels(np.array([axis.codes[0]]), np.array([axis.codes[0]]))[0]) == Fraction(value)


def test_twins_hide_among_themselves():
    grid = build(False, counted([1, 1, 9, 9]))

    assert max(rows_between(grid.edges[grid.largest_k >= 2], *counted([1, 1, 9, 9]))) == 2
    assert max(rows_between(grid.edges[grid.largest_k >= 3], *counted([1, 1, 9, 9]))) == 4


def test_an_outlier_stays_in_the_open_tail():
    column = counted([*range(30, 60)] * 4 + [10**9])
    grid = build(False, column)

    assert grid.edges[-1] < 100
    assert grid.domain[1] < 200


@pytest.mark.parametrize("values", [[-1.7e308, 1.7e308] * 9, [1.7e308, 0.5] * 9, [5e-324, 0, 1e-323] * 9])
def test_the_ends_of_the_floats(values):
    grid = build(False, counted(values))

    assert np.isfinite([*grid.edges, *grid.domain]).all()
    assert all(n == 0 or n >= 9 for n in rows_between(grid.edges[grid.largest_k >= 9], *counted(values)))


@pytest.mark.parametrize("day", ["0001-01-01", "0001-01-02", "9999-12-30", "9999-12-31"])
@pytest.mark.parametrize("others", [0, 20])
def test_the_ends_of_the_calendar_can_be_written(day, others):
    column = counted([seconds(read_date(day))] * 5 + [x * DAY for x in range(others)])
    axis = build_line_axis("c", *column, False, is_date=True, grid="round")
    codes = axis.codes.astype(np.int64)

    assert all(read_date(end) for end in axis.parameters([])["domain"])
    for k in (1, 2, 5):
        lo, hi = axis.at(k).close(codes, codes)
        assert "" not in axis.at(k).labels(lo, hi)


@pytest.mark.parametrize(("rows", "apart"), [(1000, 20), (10_000, 50), (8, 2)])
def test_the_bulk_leaves_out_as_many_rows_at_each_end(rows, apart):
    """So many rows may lie anywhere: the grid of the others stays the same, and one row more changes it."""
    inner = list(range(rows - 2 * apart))
    edges = [
        build(False, counted([*inner, *(-(10.0**6) - i for i in range(n)), *(10.0**6 + i for i in range(n))])).edges
        for n in (apart, apart + apart // 2 + 1)
    ]
    assert -rows < edges[0].min() and edges[0].max() < 2 * rows
    assert np.abs(edges[1]).max() > 2 * rows


def test_no_edge_stands_at_the_first_day_of_the_calendar():
    first = seconds(datetime.min)
    grid = build(True, (np.array([first, first + DAY]), np.array([2, 2])))

    assert grid.edges.min() == first + DAY


@pytest.mark.parametrize("cut", ["local", "domain"])
@pytest.mark.parametrize(
    ("odd", "finest"),
    [([0.42], 0), ([0.42, 28.5, 30.25] * 5, 0), ([], 0), ([age + 0.37 for age in range(20, 80)], 2)],
)
def test_labels_are_as_precise_as_nearly_all_values(odd, finest, cut):
    """Whole years stay whole years, each label holds its values, and a few odd ones decide nothing."""
    ages = [18 + row * 7 % 60 for row in range(400)] + odd
    with kech.read_table(
        pa.table({"age": ages, "row": range(len(ages))}), quasi_identifiers=["age"], keep=["row"]
    ) as t:
        released = kech.make_release(t, k=5, cut=cut).frame.to_pydict()
    for label, row in zip(released["age"], released["row"], strict=True):
        ends = [float(end) for end in re.findall(r"\d+(?:\.\d+)?", label)]
        assert all(round(end, finest) == end for end in ends), label
        low, high = (ends * 2)[:2] if label[0] in "[0123456789" else (ends[0], inf) if ">" in label else (-inf, ends[0])
        assert low <= ages[row] <= high or label == "*"
        assert not label.endswith(")") or ages[row] < high
    assert any(label.endswith(")") for label in released["age"]) == bool(odd and finest == 0)


@pytest.mark.parametrize("unit", [2, 5, 10, 20, 25, 50, 100, 250, 500, 1000])
@pytest.mark.parametrize("grid", ["round", "levels"])
def test_where_all_values_are_multiples_so_are_all_ends(unit, grid):
    """Else whoever knows that prices are multiples of 50 reads the outermost one off each end of a label."""
    draw = np.random.default_rng(unit)
    values = unit * np.unique(draw.lognormal(5, 0.7, 400).astype(int)) * 1.0
    counts = draw.integers(1, 40, len(values))
    for k in (2, 5, 20):
        axis = build_line_axis("c", values, counts, False, is_date=False, grid=grid).at(k)
        assert (np.fmod(np.concatenate([axis.low[1:], axis.high[:-1], axis.domain]), unit) == 0).all()
        assert axis.unit == unit and (axis.encode(values) == axis.at(1).cells[0][axis.codes]).all()
    odd = np.append(values, values[-1] + 1), np.append(counts, 1)
    assert build_line_axis("c", *odd, False, is_date=False, grid=grid).unit == 1


@given(st.integers(0, 10**6), st.sampled_from([10, 1000]), st.sampled_from(["round", "levels"]), st.integers(2, 20))
def test_whole_thousands_are_cut_as_their_numbers_of_thousands(seed, unit, grid, k):
    """Nobody reads [145000, 145999] where all prices are whole thousands: it says 145000."""
    draw = np.random.default_rng(seed)
    rows = np.unique(np.append(draw.lognormal(4, 0.6, 300).astype(int), range(101, 121)))
    counts = draw.integers(1, 40, len(rows))
    one, many = (
        build_line_axis("c", rows * scale, counts, False, is_date=False, grid=grid).at(k) for scale in (1.0, 1.0 * unit)
    )
    assert (many.low == one.low * unit).all() and (many.high == one.high * unit).all()
    assert many.domain == tuple(end * unit for end in one.domain)
    assert (many.largest_k == one.largest_k).all() and many.unit == one.unit * unit
    assert (many.ends[0] == one.ends[0]).all() and (many.ends[1] == one.ends[1]).all()


@pytest.mark.parametrize("grid", ["round", "exact", 500, 250, 0.5])
def test_prices_in_thousands_have_labels_in_thousands(grid):
    prices = [1000 * (90 + row * 7 % 83) for row in range(600)]
    table = kech.read_table(pa.table({"price": prices, "row": range(600)}), quasi_identifiers=["price"], keep=["row"])
    with table:
        released = kech.make_release(table, k=9, grid=grid).frame.to_pydict()
    for label, row in zip(released["price"], released["row"], strict=True):
        ends = [float(end) for end in re.findall(r"\d+(?:\.\d+)?", label)]
        low, high = (ends * 2)[:2] if label[0] in "[0123456789" else (ends[0], inf) if ">" in label else (-inf, ends[0])
        assert low <= prices[row] <= high, label
        assert grid not in ("round", "exact") or all(end % 1000 == 0 for end in ends), label


def test_few_round_numbers_are_round_by_chance():
    """Nobody concludes from the ages 20, 30 and 40 that all end with 0, nor from twenty even ones that all are even."""
    columns = {(10, 7): 1, (10, 10): 10, (2, 20): 1, (2, 30): 2, (1000, 9): 1}
    for (step, count), unit in columns.items():
        values, counts = step * np.arange(1.0, count + 1), np.full(count, 9)
        assert build_line_axis("c", values, counts, False, is_date=False, grid="round").unit == unit


def test_odd_values_are_found_in_their_class_again(tmp_path):
    """Whoever compares an original with its release finds 22.5 in its label: every row fits a class."""
    ages = [18 + row * 7 % 60 for row in range(400)] + [22.5, 30.25, 44.75]
    source = pa.table({"age": ages, "row": range(len(ages))})
    with kech.read_table(source, quasi_identifiers=["age"], keep=["row"]) as table:
        kech.make_release(table, k=5).write(tmp_path / "safe.csv", ledger=False)
        linkage = link(read_published(tmp_path / "safe.csv"), table)

    assert all(map(len, linkage.classes_of(np.arange(len(ages)))))


def test_one_decimal_with_a_leading_zero_makes_no_codes_of_ages(tmp_path):
    """The public table of strokes has an age of 01.08 among 5,110."""
    for odd, kind in (("01.08", "number"), ("018", "text"), ("018-2", "text")):
        rows = [str(18 + row * 7 % 60) for row in range(400)] + [odd]
        (tmp_path / "t.csv").write_text("age\n" + "\n".join(rows) + "\n", "utf-8")
        with kech.read_table(tmp_path / "t.csv") as table:
            assert table.kind("age") == kind


def test_no_end_has_more_decimals_than_people_read():
    weights = [40 + row * 0.73123 for row in range(300)]
    with kech.read_table(pa.table({"weight": weights}), quasi_identifiers=["weight"]) as table:
        labels = kech.make_release(table, k=5).frame["weight"].to_pylist()
    assert max(len(end) for label in labels for end in re.findall(r"\d+\.?\d*", label)) <= 6


def test_ends_between_months_are_no_oftener_somebodys_date_than_chance():
    """Where few rows lie in a month, edges lie inside of it: in the middle between two dates, not after one."""
    rng = np.random.default_rng(3)
    days = np.datetime64("1997-01-01") + rng.choice(1500, 300, replace=False)
    release = kech.make_release(
        pa.table({"admitted": days.astype(str)}),
        **{"k": 2, "quasi_identifiers": ["admitted"], "rows_are_people": True, "effort": "quick", "protect": "none"},
    )
    ends = [label.strip("[]").split(", ") for label in release.labels["admitted"] if label.startswith("[")]
    held = {str(day) for day in days}
    lower = {low for low, _ in ends if not low.endswith("-01")}
    upper = {high for _, high in ends if np.datetime64(high) + 1 != (np.datetime64(high) + 1).astype("datetime64[M]")}
    for inside in (lower, upper):
        assert len(inside) > 10
        assert len(inside & held) < 0.5 * len(inside)

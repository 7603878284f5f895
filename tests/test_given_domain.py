"""Domains that the user gives: one ruler for every k, cut, grid and protection."""

import csv
import json
import warnings
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from kech.axes import build_line_axis
from kech.axes.levels import build_levels
from kech.certificate.labels import width_reader
from kech.cli import main
from kech.errors import BadOption, ClaimBroken, DoubtfulColumn, NoSuchColumn
from kech.points.partition import mean_loss
from oracles import cheapest_cut, interval_ends, label_width, lies_in, read_date, table_loss
from strategies import line_axes, unhurried

GIVEN = line_axes(grids=("round", "exact", "step"), domains=(True,))
pytestmark = pytest.mark.filterwarnings("ignore:.*lie beyond its domain")
RULER = {"axes": {"income": {"domain": [0, 5000]}, "born": {"domain": ["1930-01-01", "2010-12-31"]}}}


def people(rows=60, seed=0):
    """Incomes, some of them beyond 0 to 5,000, days of birth, some before 1930, and a diagnosis."""
    rng = np.random.default_rng(seed)
    born = np.datetime64("1925-01-01") + rng.integers(0, 28_000, rows)
    income = np.round(rng.exponential(1500, rows)).astype(int) - 90
    return pa.table({"income": income, "born": born, "illness": rng.choice(list("abc"), rows), "row": np.arange(rows)})


def read(table=None, **fields):
    roles = {"quasi_identifiers": ["income", "born"], "sensitive": ["illness"], "keep": ["row"]}
    return kech.read_table(people() if table is None else table, **{**roles, **RULER, **fields})


def published_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def is_within(label, axis):
    """Whether no end of a label lies beyond the domain."""
    read_end = read_date if axis["axis"] == "date" else Fraction
    start, stop = (read_end(str(end)) for end in axis["domain"])
    low, high, _ = interval_ends(label, read_end)
    return (low is None or start <= low) and (high is None or high <= stop)


# Laws of one axis


@given(GIVEN, st.data())
@unhurried
def test_widths_are_those_that_a_reader_of_the_labels_computes(case, data):
    """By exact fractions of the given ends, and by the reader of certificates; no label ends beyond the domain."""
    axis, _ = case
    public = axis.parameters(())
    reads, codes = width_reader(public), sorted({*axis.codes.tolist()})
    ends = data.draw(st.lists(st.tuples(st.sampled_from(codes), st.sampled_from(codes)), min_size=1, max_size=8))
    lo, hi = axis.close(*np.array([sorted(pair) for pair in ends]).T)
    for label, width in zip(axis.labels(lo, hi), axis.widths(lo, hi).tolist(), strict=True):
        assert label_width(label, public) == pytest.approx(width, abs=1e-9), label
        assert reads(label) == pytest.approx(width, abs=1e-9), label
        assert is_within(label, public), label
    assert public["domain_given"] is True


@given(GIVEN)
@unhurried
def test_every_value_lies_in_its_label_on_every_level(case):
    axis, values = case
    read_end = read_date if axis.is_date else float
    codes = axis.codes.astype(np.int64)
    printed = [axis.labels(*axis.close(codes, codes))]
    if axis.grid != "round":
        levels = build_levels(axis)
        printed += [np.array(level.labels(), object)[level.cells[codes]].tolist() for level in levels]
        for level in levels:
            public = level.axis.parameters(())
            assert public["domain"] == axis.parameters(())["domain"]
            assert all(is_within(label, public) for label in level.labels() if label)
            widths = [label_width(label, public) for label in level.labels()]
            assert widths == pytest.approx(level.widths.tolist(), abs=1e-9)
    for labels in printed:
        assert all(lies_in(value, label, read_end) for value, label in zip(values, labels, strict=True))


counted = st.dictionaries(st.integers(-60, 160), st.integers(1, 9), min_size=1, max_size=30)
whole_ends = st.tuples(st.integers(-70, 170), st.integers(1, 150)).map(lambda ends: (ends[0], sum(ends)))
grids = st.sampled_from(["round", "levels", "exact", 7.0, 25.0])


@given(counted, whole_ends, grids, st.integers(1, 12))
@unhurried
def test_a_value_beyond_an_end_counts_as_lying_at_the_end(rows, ends, grid, k):
    """The same widths and, but for open ends, the same labels as of a column whose values stop at the ends."""
    stopped = {}
    for value, count in rows.items():
        place = min(max(value, ends[0]), ends[1])
        stopped[place] = stopped.get(place, 0) + count
    one, other = (build(column, ends, grid, k) for column in (rows, stopped))
    places = np.array([sorted(stopped).index(min(max(value, ends[0]), ends[1])) for value in sorted(rows)])
    for step in range(len(rows)):
        lo, hi = one.codes[: len(rows) - step].astype(int), one.codes[step:].astype(int)
        lo_, hi_ = (other.codes[places[at]].astype(int) for at in (np.arange(len(lo)), np.arange(step, len(rows))))
        widths, widths_ = one.widths(*one.close(lo, hi)), other.widths(*other.close(lo_, hi_))
        is_any, is_any_ = (np.array(labels) == "*" for labels in (labels_of(one, lo, hi), labels_of(other, lo_, hi_)))
        assert widths[~is_any & ~is_any_] == pytest.approx(widths_[~is_any & ~is_any_], abs=1e-9)


def build(rows, ends, grid, k):
    values, counts = (np.array(x) for x in zip(*sorted(rows.items()), strict=True))
    return build_line_axis("c", values * 1.0, counts, False, is_date=False, grid=grid, domain=ends).at(k)


def labels_of(axis, lo, hi):
    return axis.labels(*axis.close(lo, hi))


@given(counted, whole_ends)
@unhurried
def test_edges_within_a_domain_hide_among_k_and_are_nested(rows, ends):
    last = None
    for k in range(1, sum(rows.values()) + 1):
        axis = build(rows, ends, "round", k)
        edges = axis.low[1:][axis.largest_k >= k]
        between = [0] * (len(edges) + 1)
        for value, count in rows.items():
            between[sum(edge <= value for edge in edges.tolist())] += count
        assert all(n == 0 or n >= k for n in between)
        assert axis.domain == ends
        assert last is None or set(edges.tolist()) <= last
        last = set(edges.tolist())


@given(counted, counted, whole_ends, st.sampled_from([7.0, 25.0, 1.0]))
@unhurried
def test_labels_of_steps_follow_from_the_value_alone(rows, others, ends, step):
    """Whoever lies beyond, and whichever rows there are."""
    known = {}
    for column in (rows, others, {**rows, **others}):
        axis = build(column, ends, step, 1)
        codes = axis.codes.astype(int)
        for value, label in zip(sorted(column), labels_of(axis, codes, codes), strict=True):
            assert known.setdefault(value, label) == label


def test_what_a_private_sample_prints_is_known_before_its_rows():
    known = {"< 20", *(f"[{low}, {low + 20})" for low in (20, 40, 60)), ">= 80"}
    for ages in (np.arange(600) % 100, np.arange(600) % 50 + 25):
        axes = {"age": {"kind": "number", "grid": 20, "domain": [0, 99]}}
        sample = {"dp_epsilon": 1.0, "dp_delta": 0.1, "dp_rate": 0.4, "cut": "domain"}
        release = kech.make_release(pa.table({"age": ages}), quasi_identifiers=["age"], axes=axes, **sample)
        assert {*release.labels["age"]} <= known
        assert release.axes[0]["domain"] == [0, 99]


@pytest.mark.parametrize("grid", ["round", "levels", "exact", 5.0])
def test_a_domain_between_units_measures_exactly_and_keeps_whole_labels(grid):
    axis = build(dict.fromkeys(range(40), 4), (0.5, 99.25), grid, 2)
    codes = axis.codes.astype(int)
    first, last = axis.close(codes[[10]], codes[[29]])
    (label,) = axis.labels(first, last)
    assert label == "[10, 29]"
    assert axis.widths(first, last)[0] == pytest.approx(19 / 98.75, abs=1e-12)
    assert axis.parameters(())["domain"] == [0.5, 99.25]


def test_edges_within_a_domain_are_as_fine_as_its_own_values_allow():
    """Four of five incomes are millions, and all of interest lies below 1,000."""
    axis = build(
        {**dict.fromkeys(range(1000), 3), **dict.fromkeys(range(10**6, 5 * 10**6, 1000), 3)}, (0, 1000), "round", 5
    )
    edges = axis.low[1:][axis.largest_k >= 5]
    assert edges.max() <= 1000 and np.diff(edges).max() <= 10


def test_a_row_far_out_is_left_out_as_it_does_not_end_the_domain():
    """With its value the class of three would be half as wide as the domain, and the others are no wider without it."""
    roles = {"quasi_identifiers": ["x"], "axes": {"x": {"domain": [0, 1000]}}}
    with kech.read_table(pa.table({"x": [*range(30), 500]}), **roles) as table:
        release = kech.make_release(table, k=3, grid="exact", suppress=0.1)
    assert release.partition.suppressed == 1
    assert release.partition.widths(0).max() < 0.01


def test_where_no_edge_is_published_the_given_domain_stays():
    assert build({3: 9, 4: 9}, (0, 10), "round", 40).domain == (0, 10)


# Laws of releases


WAYS = [
    {},
    {"protect": "ends"},
    {"protect": "none", "k": 9},
    {"grid": "exact"},
    {"grid": "exact", "k": 2, "labels": "midpoint"},
    {"grid": 365, "k": 3},
    {"cut": "minimal"},
    {"cut": "minimal", "grid": "exact", "k": 11},
    {"cut": "domain", "k": 3},
    {"cut": "domain", "grid": "exact", "suppress": 0.1},
    {"cut": "regime", "k": 2},
    {"suppress": 0.1, "l": 2},
    {"max_points": 12},
    {"objective": "variance", "grid": "exact"},
]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_every_release_is_measured_by_the_given_domain(way, tmp_path):
    """As computed before it is written, by the certificate's own code, and by definition from the file."""
    with read() as table:
        release = kech.make_release(table, **{"k": 5, "effort": "quick", **way})
        document = release.write(tmp_path / "one.csv", ledger=False)
    axes = document["quasi_identifiers"]
    assert [axis["domain"] for axis in axes] == [[0, 5000], ["1930-01-01", "2010-12-31"]]
    assert all(axis["domain_given"] for axis in axes)
    kech.verify_release(tmp_path / "one.csv")
    labels = list(zip(*(release.labels[axis["column"]] for axis in axes), strict=True))
    rows = [labels[group] for group, size in enumerate(release.partition.sizes.tolist()) for _ in range(size)]
    suppressed = release.partition.suppressed
    loss = (table_loss(rows, axes) * len(rows) + suppressed) / (len(rows) + suppressed)
    assert document["claims"]["loss"] == pytest.approx(table_loss(rows, axes) if suppressed < 5 else loss, abs=1e-9)
    income = people()["income"].to_pylist()
    if way.get("labels") != "midpoint":
        for row in published_rows(tmp_path / "one.csv"):
            assert lies_in(income[int(row["row"])], row["income"], float)
            low, high, _ = interval_ends(row["income"], float)
            assert (low is None or low >= 0) and (high is None or high <= 5000)


def test_one_label_has_one_width_in_every_release(tmp_path):
    widths = {}
    with read() as table:
        for way in WAYS:
            release = kech.make_release(table, **{"k": 5, "effort": "quick", **way, "labels": "text"})
            for j, axis in enumerate(release.axes):
                for label, width in zip(release.labels[axis["column"]], release.partition.widths(j), strict=True):
                    assert widths.setdefault((j, label), float(width)) == pytest.approx(float(width), abs=1e-9)
    assert len(widths) > 60


def test_what_is_searched_and_shown_goes_by_the_same_domain():
    """Spectra, barcodes, profiles and lattices: twice the domain makes half the radius."""
    table = pa.table({"x": [10, 11, 13, 16, 20, 25, 31, 38]})
    found = []
    for high in (100, 200):
        with kech.read_table(table, quasi_identifiers=["x"], axes={"x": {"domain": [0, high]}}) as opened:
            (row,) = kech.compute_spectrum(opened, k=[2], grid="exact", bound=True).rows()
            bars = kech.compute_barcode(opened, max_dimension=0).to_json()
            profile = kech.compute_profile(opened).to_json()
            found.append((row["loss"], row["eps"], row["loss_lower_bound"], bars, profile))
    one, other = found
    assert one[:3] == pytest.approx([2 * figure for figure in other[:3]], abs=1e-12)
    assert one[3] != other[3] and one[4] != other[4]


tiny = st.lists(st.integers(-3, 23), min_size=4, max_size=9)


@given(tiny, st.integers(2, 4), st.sampled_from([(0, 20), (5, 12), (-40, 60)]))
@settings(unhurried, max_examples=25)
def test_no_release_is_below_the_cheapest_one_and_exact_edges_reach_it(values, k, ends):
    """One ruler: the least loss of all cuts of the values, computed from them alone, is a bound of every release."""
    if len(values) < k:
        return
    places = sorted(min(max(value, ends[0]), ends[1]) for value in values)
    units = [((place,), 1) for place in places]
    least = cheapest_cut(units, k, lambda codes: (max(codes)[0] - min(codes)[0]) / (ends[1] - ends[0])) / len(values)
    losses = {}
    roles = {"quasi_identifiers": ["x"], "axes": {"x": {"domain": ends}}}
    for way in ({"grid": "exact"}, {"protect": "none"}, {"protect": "ends"}, {}, {"cut": "domain"}, {"grid": 4}):
        with kech.read_table(pa.table({"x": values}), **roles) as table:
            release = kech.make_release(table, k=k, **way)
        losses[str(way)] = mean_loss(release.partition)
    assert all(loss >= least - 1e-9 for loss in losses.values())
    if "*" not in kech_labels(values, k, ends):
        assert losses[str({"grid": "exact"})] == pytest.approx(least, abs=1e-9)


def kech_labels(values, k, ends):
    roles = {"quasi_identifiers": ["x"], "axes": {"x": {"domain": ends}}}
    with kech.read_table(pa.table({"x": values}), **roles) as table:
        return kech.make_release(table, k=k, grid="exact").labels["x"]


# The certificate


def test_a_label_that_ends_beyond_the_given_domain_breaks_the_certificate(tmp_path):
    path = tmp_path / "one.csv"
    with read() as table:
        kech.make_release(table, k=5, grid="exact", effort="quick").write(path, ledger=False)
    certificate = tmp_path / "one.csv.certificate.json"
    certificate.write_text(certificate.read_text("utf-8").replace("5000", "900"), "utf-8")
    with pytest.raises(ClaimBroken, match="labels end beyond the domain that was given"):
        kech.verify_release(path)


def test_people_are_recounted_with_the_domain_that_the_certificate_states(tmp_path):
    table = people().append_column("name", pa.array([f"n{i // 2}" for i in range(60)]))
    with read(table, person=["name"], keep=[]) as opened:
        kech.make_release(opened, k=4).write(tmp_path / "one.csv", ledger=False)
    with kech.read_table(table, person=["name"]) as original:
        verified = kech.verify_release(tmp_path / "one.csv", original=original)
    assert verified["recounted"]["made_again"]


# Warnings and refusals


def test_rows_beyond_a_domain_are_counted_in_a_warning_and_few_are_not():
    values = [*range(50), 400, 401, 500, -7]
    with kech.read_table(pa.table({"x": values}), quasi_identifiers=["x"], axes={"x": {"domain": (0, 60)}}) as table:
        with pytest.warns(DoubtfulColumn, match="Column 'x': 4 rows lie beyond its domain"):
            kech.make_release(table, k=4)
        with pytest.warns(DoubtfulColumn, match="fewer than 5 rows lie beyond its domain"):
            kech.make_release(table, k=5)
        (column,) = kech.inspect_table(table).columns
        assert column.hint.startswith("fewer than 5 rows lie beyond its domain")
    with kech.read_table(pa.table({"x": values}), quasi_identifiers=["x"], axes={"x": {"domain": (-7, 500)}}) as table:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kech.make_release(table, k=5)


NO_DOMAINS = [[0], [0, 1, 2], [5, 5], [6, 5], [0, float("inf")], [float("nan"), 1], [0, 1e308], "0:5", 5, [True, 2]]
NO_DOMAINS += [["2020-01-02", "2020-01-01"], ["2020-13-01", "2021-01-01"], ["2020-01-01", 5], ["a", "b"], {0: 1, 1: 2}]


@pytest.mark.parametrize("domain", [*NO_DOMAINS, [None, 1]], ids=str)
def test_ends_that_are_no_domain_are_refused(domain):
    with pytest.raises(BadOption, match="Write two numbers, or two dates"):
        kech.AxisChoice(domain=domain)


@pytest.mark.parametrize(
    "choice", [{"kind": "set"}, {"kind": "hierarchy"}, {"kind": "ordered", "order": ["a", "b"]}, {"hierarchy": "t.csv"}]
)
def test_only_numbers_and_dates_have_a_domain(choice):
    with pytest.raises(BadOption, match="only numbers and dates have a domain"):
        kech.AxisChoice(domain=(0, 5), **choice)
    assert kech.Request(axes={"c": {"domain": (0, 5)}}).override(axes={"c": "set"}).axes["c"].domain is None


@pytest.mark.parametrize(
    ("column", "domain", "says"),
    [
        ("illness", [0, 5], "column 'illness' is no number or date"),
        ("born", [0, 5], "column 'born' is a date, and its domain is not. Write two dates."),
        ("income", ["2020-01-01", "2021-01-01"], "column 'income' is a number, and its domain is not"),
        ("wages", [0, 5], "wages"),
    ],
)
def test_a_domain_of_another_kind_or_of_no_column_is_refused(column, domain, says):
    with pytest.raises((BadOption, NoSuchColumn), match=says):
        roles = {"quasi_identifiers": [column if column != "wages" else "born"], "axes": {column: {"domain": domain}}}
        with kech.read_table(people(), **roles) as table:
            kech.make_release(table, k=2)


# Plans, series and the command line


def test_a_domain_is_written_to_a_plan_and_read_back(tmp_path):
    moments = (datetime(2020, 1, 1, 12), date(2021, 1, 1))
    request = kech.Request(axes={"a": {"domain": [0.5, 5e5]}, "b": {"domain": moments}})
    kech.write_request(request, tmp_path / "kech.toml")
    assert kech.read_request(tmp_path / "kech.toml") == request
    assert request.axes["b"].domain == ("2020-01-01 12:00:00", "2021-01-01")
    (tmp_path / "kech.toml").write_text("[axes.b]\ndomain = [2020-01-01T12:00:00, 2021-01-01]\n", "utf-8")
    assert kech.read_request(tmp_path / "kech.toml").axes["b"] == request.axes["b"]


def test_a_series_keeps_its_domain_and_takes_rows_beyond_it(tmp_path):
    series = kech.open_series(tmp_path / "clinic")
    roles = {"quasi_identifiers": ["x"], "key": ["id"], "rows_are_people": True}

    def publish(rows, name, **fields):
        table = pa.table({"id": list(range(rows)), "x": [i * 37 % 50 if i < 12 else 40 + 9 * i for i in range(rows)]})
        with kech.read_table(table, **{**roles, "axes": {"x": {"domain": [0, 60]}}, **fields}) as opened:
            return series.publish(opened, tmp_path / name, k=3, grid="exact", effort="quick")

    publish(12, "one.csv")
    with pytest.warns(DoubtfulColumn, match="6 rows lie beyond"):
        publish(18, "two.csv")
    assert kech.verify_series(series)["holds"]
    text = (tmp_path / "two.csv").read_text("utf-8")
    assert ">= 60" in text and "202" not in text
    for axes in ({}, {"x": {"domain": [0, 61]}}):
        with pytest.raises(BadOption, match="Different now: axes"):
            publish(18, "three.csv", axes=axes)


@pytest.mark.parametrize(
    ("typed", "domain"),
    [
        ("income=0:5e3", (0, 5000)),
        ("income=-90.5:-1", (-90.5, -1)),
        ("born=1930-01-01:2010-12-31", ("1930-01-01", "2010-12-31")),
        ("born=1930-01-01 10:30:00:2010-12-31 10:30:00", ("1930-01-01 10:30:00", "2010-12-31 10:30:00")),
    ],
)
def test_a_domain_is_typed_and_beside_it_a_plan_keeps_the_rest(typed, domain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(people(), "people.csv")
    plan = kech.Request(columns={"quasi_identifiers": ["income", "born"]}, axes={"income": {"grid": 250}})
    kech.write_request(plan, "kech.toml")
    words, column = ["people.csv", "--axis", "born=date", "--domain", typed], typed.split("=")[0]
    main(["inspect", *words, "--plan", "inspected.toml"])
    assert kech.read_request("inspected.toml").axes[column].domain == domain
    main(["release", *words, "--plan", "kech.toml", "--k", "4", "-o", "safe.csv", "--no-ledger"])
    document = json.loads(Path("safe.csv.certificate.json").read_text("utf-8"))
    axes = {axis["column"]: axis for axis in document["quasi_identifiers"]}
    assert axes[column]["domain"] == [*domain] and axes[column]["domain_given"]
    assert axes["income"]["grid"] == 250


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (typed, "--domain: kech cannot use this value. Write ")
        for typed in ("income", "0:5", "=0:5", "income=", "income=5")
    ]
    + [
        (f"income={ends}", "--domain: kech cannot use this value. Write two numbers")
        for ends in ("5:1", "1:2:3", "a:b")
    ]
    + [("row=0:5", "--domain: column 'row' is no quasi-identifier"), ("illness=0:5", "'illness' is no number or date")],
)
def test_what_is_no_domain_is_refused_as_typed(typed, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(people(), "people.csv")
    with pytest.raises(SystemExit) as ended:
        main(["release", "people.csv", "--qi", "income", "illness", "--k", "4", "-o", "o.csv", "--domain", typed])
    assert ended.value.code == 2
    assert says in " ".join(capsys.readouterr().err.split())

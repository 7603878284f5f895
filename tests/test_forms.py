"""Forms of intervals: whatever the form, the file is the same release, and everybody reads it alike."""

import csv
import json
import re
from collections import Counter
from datetime import timedelta

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import kech
from by_hand import certify, measure, write
from kech import Anonymizer
from kech.certificate import make_certificate
from kech.errors import BadCertificate, BadOption, ClaimBroken
from kech.release.linkage import link
from kech.release.published import read_published
from kech.tables.demo import generate_town
from oracles import interval_ends, label_width, lies_in, read_date

COLUMNS = ["age", "moved_in", "sex"]
FORMS = ("text", "dash", "columns", "midpoint")
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A town in which some ages and some dates are missing."""
    rows = generate_town(300, seed=5).to_pandas()
    rows.loc[::17, "age"] = None
    rows.loc[5::23, "moved_in"] = None
    path = tmp_path_factory.mktemp("town") / "town.csv"
    rows.to_csv(path, index=False)
    return path


def read(town):
    return kech.read_table(town, quasi_identifiers=COLUMNS, sensitive=["diagnosis"])


@pytest.fixture(scope="module")
def released(town, tmp_path_factory):
    """The same release in every form, as CSV, with its mapping."""
    folder = tmp_path_factory.mktemp("forms")
    with read(town) as table:
        for form in FORMS:
            made = kech.make_release(table, k=4, effort="quick", labels=form)
            made.write(folder / f"{form}.csv", mapping=folder / f"{form}.json", ledger=False)
    return folder


def certificate(path):
    return json.loads(path.with_name(path.name + ".certificate.json").read_text("utf-8"))


def change(path, edit):
    """Change a certificate in place."""
    document = certificate(path)
    edit(document)
    path.with_name(path.name + ".certificate.json").write_text(json.dumps(document), "utf-8")


def rounded(found):
    """Sums over rows depend on the order of the file in their last digits."""
    if isinstance(found, dict):
        return {name: rounded(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [rounded(value) for value in found]
    return round(found, 9) if isinstance(found, float) else found


# Everybody reads every form alike


@pytest.mark.parametrize("form", FORMS)
def test_the_certificate_states_the_form_and_holds(released, form):
    file = released / f"{form}.csv"
    figures = kech.verify_release(file, k=4)
    axes = {axis["column"]: axis for axis in certificate(file)["quasi_identifiers"]}

    assert figures == kech.verify_release(released / "text.csv", k=4)
    assert [axes[name].get("form") for name in COLUMNS] == [form, form, None]


@pytest.mark.parametrize("form", ["midpoint", *(pytest.param(form, marks=pytest.mark.long) for form in FORMS[1:3])])
def test_risk_report_compare_and_attack_find_the_same(released, town, form):
    files = released / "text.csv", released / f"{form}.csv"
    with read(town) as table:
        risks, compared = zip(
            *((kech.compute_risk(file, population=table), kech.compare(table, file).to_json()) for file in files),
            strict=True,
        )
        attacked = [kech.run_attacks(file, table, attacks=["downcode", "homogeneity"]) for file in files]
    shown = [kech.make_report(file).to_json() for file in files]

    assert risks[0] == risks[1]
    assert rounded({**compared[0], "file": None}) == rounded({**compared[1], "file": None})
    assert [attack.hits for attack in attacked[0]] == [attack.hits for attack in attacked[1]]
    for name in ("columns", "barcode", "risk"):
        assert rounded(shown[0][name]) == rounded(shown[1][name])


def test_a_release_in_another_form_tells_nothing_new(town, released, tmp_path, monkeypatch):
    monkeypatch.setenv("KECH_HOME", str(tmp_path / "ledger"))
    with read(town) as table:
        for form in FORMS:
            made = kech.make_release(table, k=4, effort="quick", labels=form)
            made.write(tmp_path / f"{form}.csv")
        assert made.admissions[-1].verdict == "nested"


# Other people's readers


def ends_of(axis, low, high, read):
    return tuple(None if text in ("inf", "-inf", "0001-01-01", "9999-12-31") else read(text) for text in (low, high))


def ends_around(axis, middle, half, read):
    """Both ends of a middle; an open label has one, as far from its middle as that is from the end of the domain."""
    if not half:
        ends = [read(str(end)) for end in axis["domain"]]
        centre = ends[0] + (ends[1] - ends[0]) / 2
        if abs(read(middle) - centre) <= 1e-9 * (ends[1] - ends[0]):
            return None, None
        is_upper = read(middle) > centre
        edge = read(middle) - (ends[is_upper] - read(middle))
        return (edge, None) if is_upper else (None, edge)
    width = float(half) * (DAY if axis["axis"] == "date" else 1)
    return read(middle) - width, read(middle) + width


def read_row(form, axis, row):
    """Both ends as somebody who knows the form reads them; None where the value is missing, infinite where open."""
    read = float if axis["axis"] == "number" else read_date
    if form in ("columns", "midpoint"):
        texts = [row[name] for name in axis["columns"]]
        return None if texts == ["", ""] else (ends_of if form == "columns" else ends_around)(axis, *texts, read)
    text = row[axis["column"]]
    if not text:
        return None
    mark = "/" if axis["axis"] == "date" else "-"
    if form == "dash" and text[0].isdigit() and len(parts := text.split(mark)) == 2:
        return tuple(map(read, parts))
    return interval_ends(text, read)[:2]


@pytest.mark.parametrize("form", FORMS)
def test_every_value_lies_between_the_ends_that_are_published_for_it(released, form):
    mapping = json.loads((released / f"{form}.json").read_text("utf-8"))
    file = released / f"{form}.csv"
    with file.open(newline="", encoding="utf-8") as rows:
        published = Counter(
            tuple(row[name] for name in mapping["classes"][0]["labels"]) for row in csv.DictReader(rows)
        )
    assert {tuple(x or "" for x in c["labels"].values()): c["rows"] for c in mapping["classes"]} == dict(published)
    axes = [axis for axis in certificate(file)["quasi_identifiers"] if axis["axis"] in ("number", "date")]
    for one in mapping["classes"]:
        for axis in axes:
            ends = read_row(form, axis, {name: text or "" for name, text in one["labels"].items()})
            read = float if axis["axis"] == "number" else read_date
            for value, _ in one["values"][axis["column"]]:
                if ends is None:
                    assert value is None
                elif value is not None:
                    assert (ends[0] is None or ends[0] <= read(value)) and (ends[1] is None or read(value) <= ends[1])
                else:
                    assert ends == (None, None)


def test_two_columns_are_numbers_for_everybody(released, town, tmp_path):
    frame = pd.read_csv(released / "columns.csv")
    assert [str(frame[name].dtype) for name in ("age_low", "age_high")] == ["float64"] * 2
    assert (frame.age_low <= frame.age_high)[frame.age_low.notna()].all()
    with read(town) as table:
        made = kech.make_release(table, k=4, effort="quick", labels="columns")
        made.write(tmp_path / "safe.parquet", ledger=False)
        made.write(f"duckdb:{tmp_path / 'base.db'}#safe", tmp_path / "base.json", ledger=False)
        types = dict(zip(made.frame.columns, map(str, made.frame.dtypes), strict=True))
    with duckdb.connect(str(tmp_path / "base.db"), read_only=True) as base:
        found = base.sql("SELECT count(*) FROM safe WHERE age_low <= 30 AND 30 <= age_high").fetchall()[0]

    assert types["age_low"] == types["age_high"] == "float64"
    assert pd.read_parquet(tmp_path / "safe.parquet").age_low.dtype == np.float64
    assert found == (int(((frame.age_low <= 30) & (frame.age_high >= 30)).sum()),)
    assert kech.verify_release(tmp_path / "safe.parquet")["k"] >= 4
    assert kech.verify_release(f"duckdb:{tmp_path / 'base.db'}#safe", certificate=tmp_path / "base.json")["k"] >= 4


def test_negative_and_fractional_numbers_in_two_columns(tmp_path):
    drawn = np.random.default_rng(1).normal(0, 1, 120)
    source = pa.table({"x": drawn, "kept": list(range(120))})
    with kech.read_table(source, quasi_identifiers=["x"], keep=["kept"]) as table:
        made = kech.make_release(table, k=5, labels="columns")
        made.write(tmp_path / "safe.csv", ledger=False)
    frame = pd.read_csv(tmp_path / "safe.csv")
    (axis,) = certificate(tmp_path / "safe.csv")["quasi_identifiers"]

    assert axis["closed"] is False
    assert (frame.x_low.to_numpy() <= drawn[frame.kept]).all()
    assert (drawn[frame.kept] < frame.x_high.to_numpy()).all()
    assert frame.x_low.min() < 0


def test_dates_are_dates_for_everybody(town, tmp_path):
    with read(town) as table:
        made = {form: kech.make_release(table, k=4, effort="quick", labels=form) for form in FORMS[2:]}
        for form, release in made.items():
            release.write(tmp_path / f"{form}.parquet", ledger=False)
            release.write(f"duckdb:{tmp_path / 'base.db'}#{form}", tmp_path / f"{form}.json", ledger=False)
    with duckdb.connect(str(tmp_path / "base.db"), read_only=True) as base:
        types = {row[0]: row[1] for form in FORMS[2:] for row in base.sql(f"DESCRIBE {form}").fetchall()}
    columns, middles = (pd.read_parquet(tmp_path / f"{form}.parquet") for form in FORMS[2:])

    assert {str(columns.moved_in_low.dtype), str(middles.moved_in_mid.dtype)} == {"datetime64[us]"}
    assert types["moved_in_low"] == types["moved_in_mid"] == "TIMESTAMP"
    assert types["moved_in_half_width"] == types["age_mid"] == types["age_half_width"] == "DOUBLE"
    assert (columns.moved_in_low <= columns.moved_in_high)[columns.moved_in_low.notna()].all()
    for form in FORMS[2:]:
        base = f"duckdb:{tmp_path / 'base.db'}#{form}"
        found = kech.verify_release(base, certificate=tmp_path / f"{form}.json")
        assert found["k"] == kech.verify_release(tmp_path / f"{form}.parquet")["k"] >= 4


# The middle of an open label tells no more than its edge


def test_an_outlier_moves_no_midpoint(tmp_path):
    """An open label has the middle of its edge and the end of the published domain, wherever its rows lie."""
    ages = [*range(20, 60), *range(20, 60), 97, 98]
    files = []
    for outlier in (99, 100_000):
        with kech.read_table(pd.DataFrame({"age": [*ages, outlier]}), quasi_identifiers=["age"]) as table:
            made = kech.make_release(table, k=5, labels="midpoint")
            made.write(tmp_path / "safe.csv", ledger=False)
        frame = pd.read_csv(tmp_path / "safe.csv")
        low, high = certificate(tmp_path / "safe.csv")["quasi_identifiers"][0]["domain"]
        files.append(sorted(zip(frame.age_mid, frame.age_half_width.fillna(-1), strict=True)))
        assert frame.age_half_width.isna().any()
        assert np.isfinite(frame.age_half_width.dropna()).all()
        assert frame.age_mid.between(low, high).all()
        assert high < 90
    assert files[0] == files[1]


def test_an_open_label_as_wide_as_the_domain_has_the_middle_of_any_value(tmp_path):
    """Of `>= 0` on a domain from 0 to 6 the middle is 3, as that of any value is: it was refused."""
    children, losses = [row % 3 for row in range(300)] + [0, 1, 2, 3, 5], []
    frame = pd.DataFrame({"children": children, "sex": ["f", "m"] * 150 + ["x"] * 5})
    for form in ("text", "midpoint"):
        with kech.read_table(frame, quasi_identifiers=["children", "sex"]) as table:
            made = kech.make_release(table, k=5, labels=form)
            made.write(tmp_path / f"{form}.csv", ledger=False)
        losses.append(kech.check_certificate(tmp_path / f"{form}.csv")["loss"])
    assert ">= 0" in set(pd.read_csv(tmp_path / "text.csv")["children"])
    assert losses[0] == pytest.approx(losses[1])


def test_whole_years_stay_whole_although_one_infant_is_0_42(tmp_path):
    ages = [*(i % 80 for i in range(400)), 0.42]
    with kech.read_table(pd.DataFrame({"age": ages}), quasi_identifiers=["age"]) as table:
        frame = kech.make_release(table, k=5, labels="columns").frame
    ends = np.concatenate([frame.age_low, frame.age_high])
    assert (ends[np.isfinite(ends)] % 1 == 0).all()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 12))])
def test_midpoints_of_all_kinds_of_numbers_are_read_as_their_labels(tmp_path, seed):
    draw = np.random.default_rng(seed)
    columns = {
        "money": np.round(draw.lognormal(8, 1.5, 150), 2),
        "skewed": draw.lognormal(0, 4, 150),
        "large": draw.integers(10**12, 10**12 + 10**6, 150),
        "negative": draw.normal(0, 1e-4, 150),
        "moment": pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 10**9, 150), unit="s"),
    }
    for name, column in columns.items():
        with kech.read_table(pd.DataFrame({name: column}), quasi_identifiers=[name]) as table:
            for form in ("text", "midpoint"):
                kech.make_release(table, k=3, labels=form).write(tmp_path / f"{form}.parquet", ledger=False)
        figures = [kech.verify_release(tmp_path / f"{form}.parquet", k=3) for form in ("text", "midpoint")]
        assert rounded(figures[0]) == rounded(figures[1])


# What cannot be read back is refused


def test_a_form_that_nobody_knows_is_refused():
    with pytest.raises(BadOption, match="text, dash, columns, midpoint"):
        kech.Request().override(labels="points")


@pytest.mark.parametrize(
    ("form", "column", "options"),
    [
        ("midpoint", [0.1234567890123456, 1e9, 0.1234567890123456, 1e9], {"grid": "exact", "k": 4}),
        ("columns", pd.to_datetime(["2001-02-03", "9999-12-31"] * 2), {"grid": "exact", "k": 4}),
        ("columns", pd.to_datetime(["9999-12-31"] * 4), {"grid": "exact", "k": 4}),
    ],
    ids=["too many digits", "end of the calendar", "at the end of the calendar"],
)
def test_two_columns_that_would_be_misread_are_refused(form, column, options):
    with kech.read_table(pd.DataFrame({"x": column}), quasi_identifiers=["x"]) as table:
        with pytest.raises(BadOption, match="'x': some label cannot be read back"):
            kech.make_release(table, labels=form, **options)


def test_a_series_has_no_midpoints(town, tmp_path):
    with read(town) as table, pytest.raises(BadOption, match="would move with the domain"):
        kech.open_series(tmp_path / "series").publish(table, tmp_path / "safe.csv", k=4, labels="midpoint")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("column", "options", "said"),
    [
        ([-3, -3, -2, -2, 5, 5], {"grid": "exact", "k": 4}, "minus"),
        ([0.123456789 * i**1.5 for i in range(40)], {"k": 3}, "last end"),
        (["a", "a", "b", "b"], {"k": 2}, "no quasi-identifier is published as intervals"),
    ],
    ids=["negative", "half open", "sets"],
)
def test_a_dash_that_would_be_misread_is_refused(column, options, said):
    with kech.read_table(pa.table({"x": column}), quasi_identifiers=["x"]) as table:
        with pytest.raises(BadOption, match=said):
            kech.make_release(table, labels="dash", **options)


def test_names_that_are_taken_are_refused():
    source = pa.table({"x": [1, 1, 2, 2], "X_low": [1, 2, 3, 4]})
    with kech.read_table(source, quasi_identifiers=["x"], keep=["X_low"]) as table:
        with pytest.raises(BadOption, match="'X_low'"):
            kech.make_release(table, k=2, labels="columns")


# The checker is not fooled


@pytest.mark.parametrize(
    "edit",
    [
        {"form": "midpoint"},
        {"form": "columns"},
        {"form": "columns", "columns": ["age", "age"], "closed": True},
        {"form": "columns", "columns": ["a", 1], "closed": True},
        {"form": "columns", "columns": ["a", "diagnosis"], "closed": True},
        {"form": "columns", "columns": ["a", "sex"], "closed": True},
    ],
)
def test_a_malformed_form_is_no_certificate(released, tmp_path, edit):
    for name in ("dash.csv", "dash.csv.certificate.json"):
        (tmp_path / name).write_bytes((released / name).read_bytes())
    change(tmp_path / "dash.csv", lambda document: document["quasi_identifiers"][0].update(edit))
    with pytest.raises(BadCertificate):
        kech.check_certificate(tmp_path / "dash.csv")


def test_sets_have_no_form(released, tmp_path):
    for name in ("dash.csv", "dash.csv.certificate.json"):
        (tmp_path / name).write_bytes((released / name).read_bytes())
    change(tmp_path / "dash.csv", lambda document: document["quasi_identifiers"][2].update({"form": "dash"}))
    with pytest.raises(BadCertificate):
        kech.check_certificate(tmp_path / "dash.csv")


def test_a_file_in_another_form_than_it_says_is_found_out(released, tmp_path):
    for name in ("dash", "columns"):
        (tmp_path / f"{name}.csv").write_bytes((released / "text.csv").read_bytes())
        beside = (released / f"{name}.csv.certificate.json").read_bytes()
        (tmp_path / f"{name}.csv.certificate.json").write_bytes(beside)
    with pytest.raises(ClaimBroken, match="its axis cannot read"):
        kech.check_certificate(tmp_path / "dash.csv")
    with pytest.raises(ClaimBroken, match="the file lacks 'age_high', 'age_low'"):
        kech.check_certificate(tmp_path / "columns.csv")


def test_cells_that_look_alike_only_to_kech_are_not_one_class(tmp_path):
    """`22-25` and `[22, 25]` are two labels for a reader of the file."""
    axis = {"column": "x", "axis": "number", "domain": [0, 99], "grid": "round"}
    for form, rows in {
        "dash": [("22-25",), ("[22, 25]",)],
        "columns": [("*", "*"), ("-inf", "inf"), (">= 5", ">= 5"), ("5", "inf"), ("[1, 2]", "[1, 2]"), ("1", "2")],
    }.items():
        names = ["x"] if form == "dash" else ["x_low", "x_high"]
        described = {**axis, "form": form, "columns": names, "closed": True}
        assert (
            smallest_of(write(tmp_path / f"{form}.csv", names, rows), described, 2) == "k: asked 2, claimed 1, found 1"
        )


def smallest_of(path, axis, k):
    """What the certificate of a file that was asked for too many rows says of its smallest class."""
    options = {"published_name": path.name, "sensitive": [], "kept": [], "rows_in": 99, "kech_version": "0"}
    with pytest.raises(ClaimBroken) as refusal:
        make_certificate(path, axes=[axis], **options, parameters={"k": k})
    assert any("its axis cannot read" in complaint for complaint in refusal.value.broken)
    return next(complaint for complaint in refusal.value.broken if complaint.startswith("k: "))


@pytest.mark.parametrize(
    "rows",
    [
        [("-inf", "5"), ("-Infinity", "5")],
        [("5", "inf"), ("5", "Infinity")],
        [("-inf", "inf"), ("-inf", "Infinity"), ("-Infinity", "inf"), ("-Infinity", "Infinity")],
        [("1, 2", "3"), ("1", "2, 3")],
        [(None, None), (None, ""), ("", None), ("", "")],
    ],
)
def test_ends_that_are_written_in_two_ways_are_two_classes(tmp_path, rows):
    """Whoever wrote them so marked some rows of a class: k is that of the cells, and the certificate is refused."""
    axis = {"column": "x", "axis": "number", "domain": [0, 99], "form": "columns", "closed": True}
    axis |= {"columns": ["x_low", "x_high"]}
    low, high = (pa.array(cells, pa.string()) for cells in zip(*(row for row in rows for _ in range(2)), strict=True))
    pq.write_table(pa.table({"x_low": low, "x_high": high}), tmp_path / "marked.parquet")
    assert smallest_of(tmp_path / "marked.parquet", axis, 3) == "k: asked 3, claimed 2, found 2"
    with pytest.raises(ClaimBroken, match="its axis cannot read"):
        measure(tmp_path / "marked.parquet", [axis])


# Reading is the inverse of what the form says

numbers = st.integers(-50, 50) | st.sampled_from([0.5, 2.25, 1e21])
cells = st.one_of(
    st.none(),
    st.just("*"),
    numbers.map(str),
    numbers.map(lambda end: f">= {end}"),
    numbers.map(lambda end: f"<= {end}"),
    st.tuples(numbers, numbers).filter(lambda ends: ends[0] < ends[1]).map(lambda ends: f"[{ends[0]}, {ends[1]}]"),
)


def in_form(form, text):
    """A label in brackets as the form says that it is written."""
    ends = re.fullmatch(r"\[(.+), (.+)\]", text or "")
    if form == "dash":
        return (f"{ends[1]}-{ends[2]}" if ends else text,)
    if form == "midpoint":
        return around_middle(text, *map(float, ends.groups() if ends else ()))
    if ends:
        return ends[1], ends[2]
    if text and text[0] in "<>":
        return (text[3:], "inf") if text[0] == ">" else ("-inf", text[3:])
    return ("-inf", "inf") if text == "*" else (text, text)


def around_middle(text, low=None, high=None):
    """The middle and the half width of a label on an axis from -50 to 50."""
    if text is None or text == "*":
        return text and "0", None
    if text[0] in "<>":
        return (float(text[3:]) + (50 if text[0] == ">" else -50)) / 2, None
    return ((low + high) / 2, (high - low) / 2) if low is not None else (text, 0)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(FORMS[1:]), st.lists(cells, min_size=1, max_size=6))
def test_what_is_written_in_a_form_is_read_back(tmp_path, form, texts):
    assume(form == "columns" or not any(re.search(r"\[.*-", text or "") for text in texts))
    axis = {"column": "x", "axis": "number", "domain": [-50, 50], "grid": "round"}
    assume(form != "midpoint" or not any(re.search(r"e\+|^50", text or "") for text in texts))
    names = ["x"] if form == "dash" else ["low", "high"]
    described = axis | {"form": form} | ({"columns": names, "closed": True} if form != "dash" else {})
    plain = write(tmp_path / "plain.csv", ["x"], [(text,) for text in texts])
    other = write(tmp_path / "other.csv", names, [in_form(form, text) for text in texts])

    assert measure(other, [described]) == measure(plain, [axis])


signs = st.sampled_from([">", ">=", "<", "<=", "=", ""])


@given(
    signs.flatmap(lambda sign: numbers.map(lambda end: f"{sign} {end}".strip()))
    | st.text(st.sampled_from("[]()<>=, 0159.-e*"), max_size=9)
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_the_certificate_reads_labels_read_alike(tmp_path, halves, label):
    """Every label that has a width covers, for attacks, reports and comparisons, the values between its ends."""
    axis = {"column": "x", "axis": "number", "domain": [-50, 50], "grid": "round"}
    try:
        path = certify(tmp_path / "label.csv", ("x",), [(label,)], [axis])
    except ClaimBroken:
        return
    if label in ("", "*"):
        return
    covered = link(read_published(path), halves).candidates(0)
    assert [i / 2 - 60 for i in covered] == [x / 2 - 60 for x in range(240) if lies_in(x / 2 - 60, label, float)]
    assert kech.check_certificate(path)["loss"] == pytest.approx(label_width(label, axis))


@pytest.fixture(scope="module")
def halves():
    """Every half from -60 on."""
    with kech.read_table(pa.table({"x": [i / 2 - 60 for i in range(240)]}), quasi_identifiers=["x"]) as table:
        yield table


def test_a_sign_that_nobody_writes_is_not_read(tmp_path):
    axis = {"column": "x", "axis": "number", "domain": [0, 9], "grid": "round"}
    with pytest.raises(ClaimBroken, match="cannot read"):
        measure(write(tmp_path / "t.csv", ["x"], [("> 5",)]), [axis])
    assert measure(write(tmp_path / "t.csv", ["x"], [(">= 5",)]), [axis])["loss"] == pytest.approx(4 / 9)


# Commands, plans and pipelines


def test_the_form_is_an_option_and_a_word_of_the_plan(run, town, tmp_path):
    roles = ["--qi", *COLUMNS, "--sensitive", "diagnosis"]
    plan = tmp_path / "kech.toml"
    plan.write_text('[goal]\nk = 4\n[labels]\nlabels = "columns"\n[cut]\neffort = "quick"\n', "utf-8")
    typed = run("release", town, "-o", tmp_path / "dash.csv", *roles, "--plan", plan, "--labels", "dash", "--no-ledger")
    planned = run("release", town, "-o", tmp_path / "columns.csv", *roles, "--plan", plan, "--no-ledger")
    refused = run("release", town, "-o", tmp_path / "x.csv", *roles, "--k", "4", "--labels", "middle")

    assert (typed.code, planned.code, refused.code) == (0, 0, 2)
    assert "age_low" in (tmp_path / "columns.csv").read_text("utf-8").splitlines()[0]
    assert run("verify", tmp_path / "dash.csv").code == run("verify", tmp_path / "columns.csv", "--k", "4").code == 0
    assert run("spectrum", town, *roles, "--plan", plan, "--k", "5").code == 0


def test_a_pipeline_gives_every_form():
    frame = pd.DataFrame({"x": list(range(20)), "job": ["a", "b"] * 10, "pay": range(20)})
    options = {"k": 5, "grid": 10, "quasi_identifiers": ["x"]}

    def transform(form):
        return Anonymizer(**options, request=kech.Request().override(labels=form)).set_output(transform="pandas")

    dashes, columns, middles = (transform(form).fit_transform(frame) for form in FORMS[1:])

    assert set(dashes.x) == {"0-9", "10-19"}
    assert set(zip(columns.x_low, columns.x_high, strict=True)) == {(0, 9), (10, 19)}
    assert set(zip(middles.x_mid, middles.x_half_width, strict=True)) == {(4.5, 4.5), (14.5, 4.5)}
    assert list(middles.columns) == ["x_mid", "x_half_width", "job", "pay"]
    assert list(map(str, middles.dtypes)) == ["float64", "float64", "str", "int64"]


def test_a_pipeline_of_numbers_stays_one_of_numbers():
    rows = np.arange(60.0).reshape(20, 3)
    fitted = Anonymizer(k=5, request=kech.Request().override(labels="midpoint", suppress=0.5)).fit(rows)
    made = fitted.transform([[1e9, 0, 0], *rows.tolist()])

    assert made.dtype == np.float64
    assert made.shape == (21, 6)
    assert list(fitted.get_feature_names_out()[:2]) == ["x0_mid", "x0_half_width"]
    assert np.isfinite(made[:, 0]).all()
    assert np.isnan(made[0, 1])


def test_names_that_are_taken_are_refused_in_a_pipeline():
    with pytest.raises(BadOption, match="'x_mid'"):
        Anonymizer(k=2, quasi_identifiers=["x"], request=kech.Request().override(labels="midpoint")).fit(
            pd.DataFrame({"x": [1, 1, 2, 2], "x_mid": [1, 2, 3, 4]})
        )

"""Twins: every drawn value lies in the label of its row, and nothing but the published file is asked."""

import json
from datetime import date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kech
from by_hand import certify
from kech.tables.demo import generate_town, nine_rows
from oracles import lies_in, means, read_date

ORDER = ["primary", "secondary", "bachelor", "master", "doctorate"]
COLUMNS = ["age", "moved_in", "sex", "zip", "job", "schooling"]


def release(source, path, k, *, roles=None, **options):
    """Write a release of a frame or file; it holds its rows in the order of the file."""
    roles = roles or {"quasi_identifiers": ["age", "zip"], "sensitive": ["salary"]}
    with kech.read_table(source, **roles) as table:
        kech.make_release(table, k=k, **options).write(path, ledger=False)
    return path


def axes_of(path):
    document = json.loads(path.with_name(path.name + ".certificate.json").read_text("utf-8"))
    return {axis["column"]: axis for axis in document["quasi_identifiers"]}


# The paper's nine rows


def test_the_nine_rows_get_whole_numbers_inside_their_labels(tmp_path):
    file = release(nine_rows(), tmp_path / "safe.parquet", 3, grid="exact")
    labels, drawn = pq.read_table(file).to_pylist(), kech.make_twin(file).table

    assert drawn.schema.types == [pa.int64()] * 3
    for row, twin in zip(labels, drawn.to_pylist(), strict=True):
        assert twin["salary"] == row["salary"]
        assert all(lies_in(twin[name], row[name], float) for name in ("age", "zip"))
    assert len({(row["age"], row["zip"]) for row in drawn.to_pylist()}) > 3


# Laws


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A release of numbers, dates, sets, an order and prefixes, with missing values."""
    rows = generate_town(600, seed=3).to_pandas()
    rows.loc[::17, "age"] = None
    rows.loc[5::23, "moved_in"] = None
    path = tmp_path_factory.mktemp("town")
    roles = {"quasi_identifiers": COLUMNS, "sensitive": ["diagnosis"], "axes": {"schooling": ORDER}}
    return release(rows, path / "safe.parquet", 3, roles=roles, effort="quick")


@pytest.mark.parametrize("seed", [0, 7])
def test_every_value_lies_in_the_label_of_its_row(town, seed):
    labels, twin, axes = pq.read_table(town).to_pylist(), kech.make_twin(town, seed=seed), axes_of(town)
    kinds = {name: str(twin.table.schema.field(name).type) for name in COLUMNS}

    assert kinds == dict.fromkeys(COLUMNS, "string") | {"age": "int64", "moved_in": "date32[day]"}
    for row, drawn in zip(labels, twin.table.to_pylist(), strict=True):
        for name, label in row.items():
            value = drawn[name]
            if name not in axes or axes[name]["axis"] == "hierarchy":
                assert value == label
            elif label is None:
                assert value is None
            elif label != "*" and axes[name]["axis"] in ("number", "date"):
                assert lies_in(value, label, float if name == "age" else lambda text: read_date(text).date())
            elif label != "*":
                assert value == "rare value" or means(label, value, axes[name])
    assert any(label == "*" for row in labels for label in row.values())
    assert "*" not in {value for name in ("sex", "job") for value in twin.table[name].to_pylist()}


def test_equal_seeds_give_equal_files_and_others_do_not(town, tmp_path):
    for name, seed in (("a.csv", 1), ("b.csv", 1), ("c.csv", 2)):
        kech.make_twin(town, seed=seed).write(tmp_path / name)
    a, b, c = ((tmp_path / name).read_bytes() for name in ("a.csv", "b.csv", "c.csv"))
    assert a == b != c


@pytest.mark.parametrize("form", ["dash", "columns", "midpoint"])
def test_a_twin_does_not_depend_on_the_form_of_labels(tmp_path, form):
    labels = {
        "dash": [("22-25",), (">= 80",)],
        "columns": [(22, 25), (80, "inf")],
        "midpoint": [(23.5, 1.5), (85, "")],
    }
    names = {"dash": ["x"], "columns": ["x_low", "x_high"], "midpoint": ["x_mid", "x_half_width"]}[form]
    axis = NUMBER | {"form": form, "columns": names, "closed": True}
    file = certify(tmp_path / "other.csv", names, labels[form] * 50, [axis])
    plain = certify(tmp_path / "plain.csv", ["x"], [("[22, 25]",), (">= 80",)] * 50, [NUMBER])
    assert kech.make_twin(file).table.equals(kech.make_twin(plain).table)


# Labels of every kind

NUMBER = {"column": "x", "axis": "number", "domain": [0, 90]}
DATE = {"column": "x", "axis": "date", "domain": ["2001-01-01", "2001-12-31"]}


def draw(tmp_path, axis, labels, **stated):
    """What is drawn for labels, each 300 times; certified by hand."""
    rows = [(label, i) for i in range(300) for label in labels]
    path = certify(tmp_path / "safe.csv", ("x", "y"), rows, [axis], sensitive=["y"], **stated)
    drawn = kech.make_twin(path).table["x"].to_pylist()
    return [set(drawn[i :: len(labels)]) for i in range(len(labels))]


def test_whole_numbers_reach_both_ends_and_open_tails_the_end_of_the_domain(tmp_path):
    found = draw(tmp_path, NUMBER, ["[22, 25]", "7", ">= 88", "<= 2", ""])
    assert found == [{22, 23, 24, 25}, {7}, {88, 89, 90}, {0, 1, 2}, {None}]
    assert all(type(value) is int for value in found[0])


def test_half_open_intervals_and_decimals(tmp_path):
    tenths, halves = draw(tmp_path, NUMBER, ["[1.5, 1.7]", "7.0"]), draw(tmp_path, NUMBER, ["[1, 2)", "5"])
    assert tenths == [{1.5, 1.6, 1.7}, {7.0}]
    assert all(1 <= value < 2 and round(value, 2) == value for value in halves[0])
    assert len(halves[0]) > 50


def test_numbers_that_no_float_counts_are_drawn_too(tmp_path):
    huge, tiny = draw(tmp_path, NUMBER | {"domain": [0, 1e300]}, ["[1e+22, 1e+23)", "[1e-30, 2e-30)"])
    assert all(1e22 <= value < 1e23 for value in huge)
    assert all(1e-30 <= value < 2e-30 for value in tiny)


def test_days_and_seconds(tmp_path):
    days = draw(tmp_path, DATE, ["[2001-02-27, 2001-03-01]", ">= 2001-12-30"])
    times = draw(tmp_path, DATE, ["[2001-02-27 23:59:59, 2001-02-28 00:00:00]", "2001-03-01 00:00:00"])
    assert days == [{date(2001, 2, 27), date(2001, 2, 28), date(2001, 3, 1)}, {date(2001, 12, 30), date(2001, 12, 31)}]
    assert times == [{datetime(2001, 2, 27, 23, 59, 59), datetime(2001, 2, 28)}, {datetime(2001, 3, 1)}]


def test_members_of_sets_and_orders(tmp_path):
    set_axis = {"column": "x", "axis": "set", "values": 5, "rare": 3}
    order = {"column": "x", "axis": "ordered", "order": ["low", "middle", "high"]}
    assert draw(tmp_path, set_axis, ['{"a, b", c}', "{c, 3 rare values}"]) == [{"a, b", "c"}, {"c", "rare value"}]
    assert draw(tmp_path, order, ["low..middle", "middle..", "high"]) == [
        {"low", "middle"},
        {"middle", "high"},
        {"high"},
    ]


def test_any_value_is_drawn_as_that_of_another_row_or_is_missing_where_there_is_none(tmp_path):
    assert draw(tmp_path, NUMBER, ["*", "[1, 2]", "9"])[0] == {1, 2, 9}
    assert draw(tmp_path, NUMBER, ["*"]) == [{None}]


def test_numbers_are_drawn_evenly(tmp_path):
    rows = [("[1, 10]", 0)] * 10_000
    path = certify(tmp_path / "safe.csv", ("x", "y"), rows, [NUMBER], sensitive=["y"])
    counts = np.bincount(kech.make_twin(path).table["x"].to_numpy(), minlength=11)[1:]
    assert counts.min() > 900
    assert counts.max() < 1100


def test_other_columns_of_csv_are_typed_where_the_certificate_says_so(tmp_path):
    rows = [("[1, 2]", 5, "007"), ("[1, 2]", 6, "008")]
    options = {"sensitive": ["pay"], "kept": ["code"], "values": {"pay": {"kind": "number"}}}
    path = certify(tmp_path / "safe.csv", ("x", "pay", "code"), rows, [NUMBER], **options)
    assert [str(kind) for kind in kech.make_twin(path).table.schema.types] == ["int64", "int64", "string"]


def test_formulas_are_guarded_in_csv_alone(tmp_path):
    axis = {"column": "x", "axis": "set", "values": 2}
    path = certify(tmp_path / "safe.csv", ("x", "y"), [("{=1+1, b}", "-3")] * 20, [axis], sensitive=["y"])
    twin = kech.make_twin(path)
    twin.write(tmp_path / "twin.csv")
    twin.write(tmp_path / "twin.parquet")
    assert set(pd.read_csv(tmp_path / "twin.csv", dtype=str).x) == {"'=1+1", "b"}
    assert set(pd.read_csv(tmp_path / "twin.csv", dtype=str).y) == {"-3"}
    assert set(pd.read_parquet(tmp_path / "twin.parquet").x) == {"=1+1", "b"}


# The command, and what it refuses


def test_times_in_csv_end_with_their_seconds_unless_they_have_fractions(tmp_path):
    rows = {"seen": [datetime(2001, 2, 3, 4, 5, number) for number in range(40)]}
    rows |= {"heard": [datetime(2001, 2, 3, 4, 5, 6, 500 * number) for number in range(40)]}
    roles = {"quasi_identifiers": ["seen"], "keep": ["heard"]}
    file = release(pa.table(rows), tmp_path / "safe.parquet", 3, roles=roles, effort="quick")
    kech.make_twin(file).write(tmp_path / "twin.csv")
    twin = pd.read_csv(tmp_path / "twin.csv", dtype=str)
    assert twin["seen"].str.fullmatch(r"2001-02-03 04:05:\d\d").all()
    assert twin["heard"].str.fullmatch(r"2001-02-03 04:05:06\.\d{6}").all()


def test_the_command_writes_and_says_what_holds(run, town, tmp_path):
    plain = run("twin", town, "-o", tmp_path / "twin.parquet")
    told = json.loads(run("twin", town, "-o", tmp_path / "twin.csv", "--seed", 3, "--json").out)

    assert plain.code == 0
    assert "no more private or precise" in plain.out
    assert (told["k"], told["rows"], told["seed"], told["file"]) == (3, 600, 3, str(tmp_path / "twin.csv"))
    assert told["columns"]["age"] == "int64"
    assert kech.make_twin(town).table.equals(pq.read_table(tmp_path / "twin.parquet"))


def test_what_is_no_release_is_refused_and_nothing_is_written(refuse, folder):
    rows = [("[22, 25]", 1), ("[22, 25]", 2)]
    file = certify(folder / "safe.csv", ("x", "y"), rows, [NUMBER], sensitive=["y"])
    beside = file.with_name("safe.csv.certificate.json")
    twin = ("twin", file, "-o", folder / "twin.csv")

    refuse("twin", file, "-o", file, code=2, says="the release or its certificate is there")
    refuse("twin", file, "-o", folder / "twin.xlsx", code=2, says="must end in .csv")
    refuse("twin", file, "-o", folder / "none" / "twin.csv", code=2, says="does not exist")
    refuse(*twin, "--seed", "-1", code=2, says="0 or more")
    refuse("twin", folder / "none.csv", "-o", folder / "twin.csv", code=3, says="none.csv")
    file.write_text(file.read_text("utf-8").replace("25", "26"), "utf-8")
    refuse(*twin, code=4, says="not the file that was certified")
    beside.unlink()
    refuse(*twin, code=3, says="certificate")

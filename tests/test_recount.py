"""The recount of a written file: models as they are defined, cells as they are written, goals up to their limits."""

import csv
import json
import math
import random
from collections import Counter
from fractions import Fraction
from io import StringIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kech
from kech import check_certificate, check_table
from kech.certificate import cells as certificate_cells
from kech.certificate import make_certificate
from kech.certificate.labels import as_brackets
from kech.certificate.tally import map_ahead
from kech.errors import BadCertificate, BadOption, ClaimBroken, ColumnInTwoRoles, InputError, UnreadableFile
from kech.tables.demo import nine_rows


@pytest.fixture
def nine():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"], sensitive=["salary"]) as table:
        yield table


def test_moments_of_different_zones_are_compared_as_moments(tmp_path):
    """The first two are one moment: two values, not three."""
    moments = ["2020-01-01T12:00:00+00:00", "2020-01-01T13:00:00+01:00", "2020-01-01T12:00:00+01:00"]
    pq.write_table(pa.table({"a": ["x"] * 3, "s": moments}), tmp_path / "t.parquet")
    figures = check_table(tmp_path / "t.parquet", ["a"], 3, ["s"])
    assert (figures["l"], figures["alpha"]) == ({"s": 2}, {"s": 2 / 3})
    assert figures["t_ordered"] == {"s": 0}


def model_figures_by_definition(classes, depth):
    """The models of one sensitive column as they are defined: each class a list of numbers, `depth` a recursive l."""
    everybody = [value for part in classes for value in part]
    values = sorted(set(everybody))
    p = [{value: Fraction(part.count(value), len(part)) for value in values} for part in classes]
    q = {value: Fraction(everybody.count(value), len(everybody)) for value in values}
    counts = [sorted(Counter(part).values(), reverse=True) for part in classes]
    depth = depth or min(map(len, counts))
    tails = [(found[0], sum(found[depth - 1 :])) for found in counts]
    gains = [(float(one[v] / q[v] - 1), -math.log(q[v])) for one in p for v in values if one[v]]
    beta = max(0.0, *(gain for gain, _ in gains))
    along = [[sum(one[v] - q[v] for v in values[: i + 1]) for i in range(len(values))] for one in p]
    return {
        "l": min(map(len, counts)),
        "t": float(max(sum(abs(one[v] - q[v]) for v in values) / 2 for one in p)),
        "entropy_l": math.exp(min(-sum(float(x) * math.log(x) for x in one.values() if x) for one in p)),
        "recursive_c": max(first / tail for first, tail in tails) if all(tail for _, tail in tails) else None,
        "t_ordered": float(max(sum(map(abs, moved)) for moved in along)) / max(len(values) - 1, 1),
        "alpha": float(max(max(one.values()) for one in p)),
        "beta": beta,
        "enhanced_beta": beta if all(gain <= most + 1e-9 for gain, most in gains) else None,
        "delta": max(abs(math.log(one[v] / q[v])) for one in p for v in values if one[v]),
    }


def check_rows(folder, rows, **options):
    """The figures of a table with two labels and a sensitive cell in each row."""
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    texts = dict(zip("abs", (pa.array(column, pa.string()) for column in columns), strict=True))
    pq.write_table(pa.table(texts), folder / "t.parquet")
    return check_table(folder / "t.parquet", ["a", "b"], 1, ["s"], **options)


def certify(path, axes, sensitive=(), **options):
    """A certificate of a file that somebody else wrote."""
    usual = {"kept": [], "rows_in": 0, "parameters": {}, "kech_version": "0"}
    return make_certificate(path, published_name=path.name, axes=axes, sensitive=sensitive, **usual | options)


@pytest.mark.parametrize("together", [0, pytest.param(3, marks=pytest.mark.long), 1_000])
@pytest.mark.parametrize("depth", [None, 1, pytest.param(2, marks=pytest.mark.long), 3])
def test_models_are_those_of_the_definitions(tmp_path, monkeypatch, depth, together):
    """Classes are told apart by all their labels; the sensitive cells are numbers, written in two ways."""
    monkeypatch.setattr("kech.certificate.tally.BLOCK_ROWS", together)
    rng = random.Random(depth)
    goals = {"l": depth, "l_kind": "recursive", "c": 10**9} if depth else {}
    seen = set()
    for _ in range(60):
        classes = [rng.choices(range(-3, rng.randint(-2, 3)), k=rng.randint(1, 9)) for _ in range(rng.randint(1, 4))]
        rows = [(f"{i % 2}", f"{i}", rng.choice([f"{x}", f"{x}.0"])) for i, part in enumerate(classes) for x in part]
        expected = model_figures_by_definition(classes, depth)
        seen |= {name for name, figure in expected.items() if figure is None}
        if depth and expected["recursive_c"] is None:
            with pytest.raises(ClaimBroken, match=f"asked 1000000000 for l = {depth}, found None"):
                check_rows(tmp_path, rows, goals=goals)
            del expected["recursive_c"]
            found = check_rows(tmp_path, rows)
        else:
            found = check_rows(tmp_path, rows, goals=goals)
        assert {name: found[name]["s"] for name in expected} == pytest.approx(expected)
        assert summarize(found) == (len(rows), len(classes), min(map(len, classes)))
    assert seen == {"enhanced_beta", *(["recursive_c"] if depth and depth > 1 else [])}


def test_sensitive_columns_are_counted_apart_from_one_another(tmp_path):
    columns = {"a": ["x"] * 4, "s": ["p", "p", "p", "q"], "t": ["u", "v", "w", "u"]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    figures = check_table(tmp_path / "t.parquet", ["a"], 4, ["s", "t"])
    assert (figures["l"], figures["alpha"]) == ({"s": 2, "t": 3}, {"s": 0.75, "t": 0.5})
    assert (figures["classes"], figures["average_class"]) == (1, 4)


@pytest.mark.parametrize(
    ("cells", "read_as", "values", "ordered"),
    [
        (["1", "1.0", "2"], None, 2, True),
        (["1", "x"], None, 2, False),
        (["", None, ""], None, 1, False),
        (["0", "", None], None, 2, True),
        (["1e999", "2e999", "1"], {"kind": "number"}, 3, True),
        (["low", "odd", "high", "odd"], {"kind": "ordered", "order": ["low", "high"]}, 3, True),
        (["2020-01-01", "2020-01-01 00:00:00", "2020-01-02"], None, 2, True),
        (["20200101", "20200102"], {"kind": "date"}, 2, True),
        (["2020-01-01", "2020-13-01"], None, 2, False),
        (["2020-01-01 12:00:00", "2020-01-01T13:00:00+01:00", "2020-01-02T00:00:00+00:00"], None, 2, True),
        ([" 7", "7 ", "7"], None, 1, True),
        ([" 2020-01-01", "2020-01-01 "], None, 1, True),
        ([" 7", "7"], {"kind": "text"}, 1, False),
        (["7", "7.0"], {"kind": "text"}, 2, False),
    ],
)
def test_sensitive_cells_are_read_as_numbers_dates_or_text(tmp_path, cells, read_as, values, ordered):
    """What cannot be read as the others are is a value of its own; empty cells are one value, below all others."""
    rows = [("5", "x", cell) for cell in cells]
    figures = check_rows(tmp_path, rows, values={"s": read_as} if read_as else None)
    assert (figures["l"]["s"], figures["t_ordered"]["s"] is not None) == (values, ordered)


def test_values_in_an_order_lie_on_a_line_as_they_are_named(tmp_path):
    """The first class holds the first of three values only, and the table half of it: 1/2 (1/2 + 1/4)."""
    rows = [("1", "x", "b"), ("1", "x", "b"), ("2", "x", "c"), ("2", "x", "a")]
    for order, t in {"bac": 0.375, "abc": 0.25}.items():
        found = check_rows(tmp_path, rows, values={"s": {"kind": "ordered", "order": [*order]}})
        assert found["t_ordered"] == {"s": t}


@pytest.mark.parametrize(("kind", "ordered"), [("number", 0), ("text", None)])
def test_a_table_without_rows_tells_nothing(tmp_path, kind, ordered):
    path = tmp_path / "t.csv"
    path.write_text("a,s\n", "utf-8")
    document = certify(path, [{"column": "a", "axis": "set", "values": 2}], ["s"], values={"s": {"kind": kind}})
    names = ("l", "t", "entropy_l", "recursive_c", "alpha", "beta", "enhanced_beta", "delta")
    expected = {name: {"s": 0} for name in names} | {"t_ordered": {"s": ordered}, "average_class": 0}
    assert document["measured"] == expected
    with pytest.raises(ClaimBroken, match="k: asked 1, found 0"):
        check_table(path, ["a"], 1, ["s"])


SALARIES = [("[0, 9]" if i < 3 else "*", salary) for i, salary in enumerate([3, 4, 5, 6, 7, 8, 9, 10, 11])]


@pytest.mark.parametrize(
    ("goals", "says"),
    [
        ({"t": 0.38, "t_kind": "ordered"}, None),
        ({"t": 0.37, "t_kind": "ordered"}, "t of 's': asked 0.37, found 0.375"),
        ({"t": 0.38, "t_kind": "equal"}, "t of 's': asked 0.38, found 0.6667"),
        ({"t": 0.38}, "t of 's': asked 0.38, found 0.6667"),
        ({"t": 0.67}, None),
    ],
)
def test_t_along_a_line_is_the_goal_where_it_was_asked(tmp_path, goals, says):
    """The three lowest salaries of the paper on t-closeness: 0.375 along the line, 2/3 with all equally far apart."""
    pq.write_table(pa.table({"a": [a for a, _ in SALARIES], "s": [s for _, s in SALARIES]}), tmp_path / "t.parquet")
    if says is None:
        assert check_table(tmp_path / "t.parquet", ["a"], 3, ["s"], goals=goals)["k"] == 3
    else:
        with pytest.raises(ClaimBroken) as caught:
            check_table(tmp_path / "t.parquet", ["a"], 3, ["s"], goals=goals)
        assert f"goals: {says}. Do not publish it." in str(caught.value)


ZERO_RECURSIVE = {"l": 0, "l_kind": "recursive", "c": 1}


def test_goals_up_to_their_limits(tmp_path):
    rows = [("1", "x", "p"), ("1", "x", "q")]
    check_rows(tmp_path, rows, goals={"l": 1, "l_kind": "recursive", "c": 9, "t": 0.0, "t_kind": "ordered"})
    with pytest.raises(ClaimBroken, match=r"c of 's': asked 0 for l = 1, found 0\.5"):  # a c that no class keeps
        check_rows(tmp_path, rows, goals={"l": 1, "l_kind": "recursive", "c": 0})
    check_rows(tmp_path, rows, goals={"alpha": 999_999_999_999_999})
    for name, goals in {"t": {"t": 1e15}, "alpha": {"alpha": -1e-9}, "c": {"c": "1"}, "l": ZERO_RECURSIVE}.items():
        with pytest.raises(BadOption, match=rf"goals\.{name}\b.*malformed"):
            check_rows(tmp_path, rows, goals=goals)


KINDS_OF_L = [{}, *({"l_kind": kind} | c for kind in ("distinct", "entropy") for c in ({}, {"c": 1}))]


@pytest.mark.parametrize("kind", KINDS_OF_L)
def test_an_l_counts_values_unless_its_kind_says_otherwise(tmp_path, kind):
    rows = [("1", "x", "p"), ("1", "x", "q")]
    assert check_rows(tmp_path, rows, goals={"l": 2, **kind})["l"] == {"s": 2}
    with pytest.raises(ClaimBroken, match=r"'s': asked 3, found 2"):
        check_rows(tmp_path, rows, goals={"l": 3, **kind})


def test_what_cannot_be_checked_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n1\n", "utf-8")
    with pytest.raises(BadOption, match=r"^k: kech cannot use this value. Write a number of rows, 1 or more\."):
        check_table(tmp_path / "t.csv", ["a"], 0)
    with pytest.raises(ColumnInTwoRoles) as refusal:
        check_table(tmp_path / "t.csv", ["a"], 2, ["a"])
    assert "two roles: quasi-identifier and sensitive." in str(refusal.value)


VALUES = ([], {"salary": {"kind": "text", "order": [1]}}, {"salary": {"kind": "odd"}})


@pytest.mark.parametrize(
    ("place", "value"),
    [("certificate", 6), ("parameters.k", "3"), ("claims.goals", []), *(("values", value) for value in VALUES)],
)
def test_a_refused_certificate_is_told_where(nine, tmp_path, place, value):
    kech.make_release(nine, k=3).write(tmp_path / "t.csv", ledger=False)
    beside = tmp_path / "t.csv.certificate.json"
    document = json.loads(beside.read_bytes())
    *above, name = place.split(".")
    (document[above[0]] if above else document)[name] = value
    beside.write_text(json.dumps(document), "utf-8")
    with pytest.raises(BadCertificate) as refusal:
        check_certificate(tmp_path / "t.csv")
    assert f"json': {place}: " in str(refusal.value)


ENDS = {
    "column": "a",
    "axis": "number",
    "domain": [0, 9],
    "form": "columns",
    "columns": ["low", "high"],
    "closed": True,
}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda d: None, None),
        (lambda d: d["quasi_identifiers"].append({"column": "low", "axis": "set", "values": 2}), "quasi_identifiers"),
        (lambda d: d["kept"].append("high"), "sensitive"),
        (lambda d: d["sensitive"].append("a"), "sensitive"),
    ],
)
def test_a_column_has_one_role_in_a_certificate(tmp_path, change, place):
    pq.write_table(pa.table({"low": ["1", "1"], "high": ["5", "5"]}), tmp_path / "t.parquet")
    document = certify(tmp_path / "t.parquet", [ENDS], rows_in=2, parameters={"k": 2})
    change(document)
    (tmp_path / "c.json").write_text(json.dumps(document), "utf-8")
    if place is None:
        assert check_certificate(tmp_path / "t.parquet", tmp_path / "c.json")["loss"] == pytest.approx(4 / 9)
    else:
        with pytest.raises(BadCertificate, match=f"{place}: it is missing or malformed"):
            check_certificate(tmp_path / "t.parquet", tmp_path / "c.json")


DASHED = {"column": "a", "axis": "number", "form": "dash", "domain": [0, 9]}
MIDDLES = ENDS | {"form": "midpoint", "domain": [0, 10]}
MIDDLE_DAYS = MIDDLES | {"axis": "date", "domain": ["2001-01-01", "2001-01-10"]}


@pytest.mark.parametrize(
    ("axis", "cells", "label"),
    [
        (DASHED, ["22-25"], "[22, 25]"),
        (DASHED, ["1e5-2.5E+6"], "[1e5, 2.5E+6]"),
        (DASHED, ["[22, 25]"], "no dash: [22, 25]"),
        (DASHED, [">= 80"], ">= 80"),
        (DASHED, [None], None),
        (DASHED | {"axis": "date"}, ["2001-01-01/2001-12-31 10:00:00.5"], "[2001-01-01, 2001-12-31 10:00:00.5]"),
        (ENDS, ["22", "25"], "[22, 25]"),
        (ENDS | {"closed": False}, ["22", "25"], "[22, 25)"),
        (ENDS, ["-1", "-1"], "-1"),
        (ENDS, ["x", "x"], "no place: x"),
        (ENDS, [None, None], None),
        (ENDS, ["", ""], ""),
        (ENDS, ["", "5"], "[, 5]"),
        (ENDS, ["5", None], "[5, None]"),
        (ENDS, ["-inf", "5"], "<= 5"),
        (ENDS | {"closed": False}, ["-Infinity", "5"], "< 5"),
        (ENDS, ["5", "inf"], ">= 5"),
        (ENDS, ["5", "Infinity"], ">= 5"),
        (ENDS, ["-inf", "inf"], "*"),
        (ENDS, ["-Infinity", "Infinity"], "*"),
        (ENDS, ["inf", "5"], "[inf, 5]"),
        (ENDS, ["5", "-inf"], "[5, -inf]"),
        (ENDS, ["-inf", "-inf"], "no place: -inf"),
        (ENDS | {"axis": "date"}, ["2001-01-01", "2001-12-31 00:00:00.000000"], "[2001-01-01, 2001-12-31]"),
        (ENDS | {"axis": "date"}, ["0001-01-01 00:00:00", "2001-12-31"], "<= 2001-12-31"),
        (ENDS | {"axis": "date"}, ["2001-01-01", "9999-12-31"], ">= 2001-01-01"),
        (ENDS | {"axis": "date"}, ["2001-01-01", "inf"], "[2001-01-01, inf]"),
        (MIDDLES, ["23.5", "1.5"], "[22, 25]"),
        (MIDDLES | {"closed": False}, ["0.15", "0.05"], "[0.1, 0.2)"),
        (MIDDLES, ["7", "0"], "7"),
        (MIDDLES, ["7", None], ">= 4"),
        (MIDDLES, ["2", ""], "<= 4"),
        (MIDDLES, ["5", None], "*"),
        (MIDDLES, ["7", "inf"], "no middle: 7 inf"),
        (MIDDLES, ["2", "-inf"], "no middle: 2 -inf"),
        (MIDDLES, ["11", None], "no middle: 11 None"),
        (MIDDLES, [None, "inf"], "no middle: None inf"),
        (MIDDLES, [None, None], None),
        (MIDDLES, ["5", "-1"], "no middle: 5 -1"),
        (MIDDLES, [None, "1"], "no middle: None 1"),
        (MIDDLES, ["1e999", "1"], "no middle: 1e999 1"),
        (MIDDLE_DAYS, ["2001-01-02 12:00:00.000", "1.5"], "[2001-01-01, 2001-01-04]"),
        (MIDDLE_DAYS, ["2001-01-08", None], ">= 2001-01-06"),
        (MIDDLE_DAYS, ["2001-01-08", "1e12"], "no middle: 2001-01-08 1e12"),
    ],
)
def test_a_cell_of_every_form_is_read_as_a_label(axis, cells, label):
    """Of ends that nobody writes none is read as a label that somebody does."""
    table = certificate_cells.TextTable(
        axis.get("columns", ["a"]), lambda _: iter([[[cell] for cell in cells]]), lambda cell: cell
    )
    read = as_brackets(table, [axis])
    assert read.columns == ["a"]
    assert list(read.batches(["a"])) == [[[label]]]


def test_an_end_that_the_file_lacks_is_no_column():
    table = certificate_cells.TextTable(["low", "b"], lambda names: iter([[[name] for name in names]]), str)
    read = as_brackets(table, [ENDS, DASHED | {"column": "b"}])
    assert read.columns == ["low", "b"]
    assert list(read.batches(["b", "low"])) == [[["b"], ["low"]]]


@pytest.mark.parametrize(
    ("axes", "says"),
    [
        ([], "it is missing or malformed"),
        ([DASHED, DASHED], "it is missing or malformed"),
        ([DASHED | {"form": "points"}], "an axis is malformed"),
        ([ENDS | {"columns": ["low", "low"]}], "an axis is malformed"),
        ([{"column": 5, "axis": "set", "values": 2}], "an axis is malformed"),
        ([DASHED | {"axis": "set", "values": 3}], "an axis is malformed"),
    ],
)
def test_axes_that_nobody_can_read_are_refused(nine, tmp_path, axes, says):
    kech.make_release(nine, k=3).write(tmp_path / "t.csv", ledger=False)
    beside = tmp_path / "t.csv.certificate.json"
    document = json.loads(beside.read_bytes()) | {"quasi_identifiers": axes}
    beside.write_text(json.dumps(document), "utf-8")
    with pytest.raises(BadCertificate, match=rf"json': quasi_identifiers: {says}"):
        check_certificate(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("dialect", "option"),
    [({"format": "xlsx"}, "format"), *(({"delimiter": sign}, "delimiter") for sign in ("", ";;", '"', "\n", "\0", 5))],
)
def test_a_dialect_that_nobody_writes_is_refused(tmp_path, dialect, option):
    (tmp_path / "t.csv").write_text("a\n1\n1\n", "utf-8")
    with pytest.raises(BadOption, match=rf"^{option}: "):
        check_table(tmp_path / "t.csv", ["a"], 2, **dialect)
    assert check_table(tmp_path / "t.csv", ["a"], 2, delimiter="X")["rows"] == 2


def test_a_table_of_csv_can_be_read_twice(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n1,"x\ny"\n2,z\n', "utf-8")
    table = certificate_cells.open_published(tmp_path / "t.csv")
    batches = [list(table.batches(["b", "a"])) for _ in range(2)]
    assert batches == [[[["x\ny", "z"], ["1", "2"]]]] * 2
    assert [dict(table.count(["b"]).items()) for _ in range(2)] == [{("x\ny",): 1, ("z",): 1}] * 2


def test_a_file_is_called_what_it_is_whatever_its_name(tmp_path):
    path = tmp_path / "t.pq"
    path.write_text("a\n1\n1\n", "utf-8")
    axes = [{"column": "a", "axis": "set", "values": 2}]
    document = certify(path, axes, rows_in=2, format="csv")
    assert (document["file"]["name"], document["file"]["format"]) == ("t.pq", "csv")
    with pytest.raises(UnreadableFile, match="no Parquet file"):
        certify(path, axes, rows_in=2)


def test_a_folder_is_no_file_and_a_torn_file_is_damaged(tmp_path):
    with pytest.raises(UnreadableFile, match="is a directory"):
        check_table(tmp_path, ["a"], 2)
    pq.write_table(pa.table({"a": [f"{i}" for i in range(999)]}), tmp_path / "t.parquet")
    torn = bytearray((tmp_path / "t.parquet").read_bytes())
    torn[4:200] = bytes(196)
    (tmp_path / "t.parquet").write_bytes(torn)
    with pytest.raises(UnreadableFile, match=r"it is damaged|can be read as text"):
        check_table(tmp_path / "t.parquet", ["a"], 2)


@pytest.mark.parametrize(("before", "after"), [(2**17, 2**24), (2**25, 2**25)])
def test_long_cells_are_read_and_a_larger_limit_is_kept(tmp_path, before, after):
    (tmp_path / "t.csv").write_text(f"a\n{'x' * 200_000}\n", "utf-8")
    usual = csv.field_size_limit(before)
    try:
        assert check_table(tmp_path / "t.csv", ["a"], 1)["rows"] == 1
        assert csv.field_size_limit() == after
    finally:
        csv.field_size_limit(usual)


def test_line_ends_inside_a_cell_tell_rows_apart(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'a\r\n"x\r\ny"\r\n"x\ny"\r\n"x\ry"\r\n')
    assert check_table(tmp_path / "t.csv", ["a"], 1)["classes"] == 3


@pytest.mark.parametrize(
    ("written", "name"),
    [(b'a,"b\nc"\n1,2\n1,2\n', "b\nc"), (b"\n1\n1\n", ""), (b'""\n1\n1\n', ""), (b"\xef\xbb\xbfa\n1\n1\n", "a")],
)
def test_headers_of_two_lines_and_of_none(tmp_path, written, name):
    (tmp_path / "t.csv").write_bytes(written)
    figures = check_table(tmp_path / "t.csv", [name], 2)
    assert (figures["rows"], figures["classes"]) == (2, 1)


@pytest.mark.parametrize("at_once", range(1, 8))
def test_parquet_is_counted_alike_however_many_rows_are_read_at_once(tmp_path, monkeypatch, at_once):
    """Batches with few new classes wait to be added up; those with many are added at once."""
    cells = ["a", "b", None, "a", "a", "a", "b", "", "c", "a", "d", "d", "a"]
    pq.write_table(pa.table({"x": cells, "y": cells[::-1]}), tmp_path / "t.parquet")
    monkeypatch.setattr(certificate_cells, "ROWS_AT_ONCE", at_once)
    counts = certificate_cells.open_published(tmp_path / "t.parquet").count(["x", "y"])
    assert dict(counts.items()) == Counter(zip(cells, cells[::-1], strict=True))


@pytest.mark.parametrize(("most", "folded"), [(62, 31), (14, 7), (15, 8)])
@pytest.mark.parametrize("width", [1, 2, 3, 7, 40, 70])
def test_classes_of_many_columns_are_told_apart(tmp_path, monkeypatch, width, most, folded):
    """Their numbers do not fit into one integer, and one cell is enough to tell two classes apart.

    Numbers that were folded are unfolded when texts of later rows need more room.
    """
    monkeypatch.setattr("kech.certificate.cells.ROWS_AT_ONCE", 9)
    monkeypatch.setattr("kech.certificate.tally.BLOCK_ROWS", 0)
    monkeypatch.setattr("kech.certificate.tally.MOST_BITS", most)
    monkeypatch.setattr("kech.certificate.tally.FOLDED", folded)
    rng = random.Random(width)
    rows = [[rng.randrange(1, 60) for _ in range(width)] for _ in range(40)]
    rows += [rows[0], rows[7], *([*rows[9][:at], 60, *rows[9][at + 1 :]] for at in range(width))]
    secrets = [rng.choice("xyz") for _ in rows]
    names = [f"c{i}" for i in range(width)]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    labels = {name: [f"[0, {high}]" for high in cells] for name, cells in columns.items()}
    pq.write_table(pa.table(labels | {"s": secrets}), tmp_path / "t.parquet")
    classes = {}
    for row, secret in zip(rows, secrets, strict=True):
        classes.setdefault(tuple(row), []).append(secret)
    figures = check_table(tmp_path / "t.parquet", names, 1, ["s"])
    assert (figures["rows"], figures["classes"]) == (len(rows), len(classes))
    assert figures["k"] == min(map(len, classes.values()))
    assert figures["alpha"] == {"s": max(held.count(x) / len(held) for held in classes.values() for x in held)}
    assert figures["t"] == pytest.approx({"s": max(distance(held, secrets) for held in classes.values())})
    axes = [{"column": name, "axis": "number", "domain": [0, 60], "grid": "round"} for name in names]
    claims = certify(tmp_path / "t.parquet", axes, ["s"], rows_in=len(rows))["claims"]
    losses = {name: sum(cells) / len(rows) / 60 for name, cells in columns.items()}
    assert claims["loss_per_column"] == pytest.approx(losses)


def distance(held, everybody):
    """Half the sum of the differences between the shares in a class and in the whole table."""
    share = {x: held.count(x) / len(held) - everybody.count(x) / len(everybody) for x in set(everybody)}
    return sum(map(abs, share.values())) / 2


@pytest.mark.parametrize("workers", [1, 2])
def test_while_one_thing_is_used_the_next_are_made(workers):
    taken = []
    found = map_ahead(lambda x: 2 * x, (taken.append(x) or x for x in range(6)), workers)
    assert next(found) == 0
    assert taken == list(range(workers + 1))
    assert list(found) == [2, 4, 6, 8, 10]


LINES = {
    "plain": b"a,b\n1,x\n2,y\n1,x\n",
    "no last end": b"a,b\n1,x\n1,x",
    "ends of Windows": b"a,b\r\n1,x\r\n1,x\r\n",
    "quoted": b'a,b\n"1","x,y"\n"1","x,y"\n"a ""b""",\n',
    "empty cells": b"a,b\n,\n,\n1,\n",
    "letters": "\ufeffa,b\n\u00fc,\u20ac\n\u00fc,\u20ac\n".encode(),
    "one row": b"a,b\n1,x\n",
}


def count_rows(written):
    """How often each row occurs, as the csv module of Python reads them."""
    _, *rows = csv.reader(StringIO(written.decode("utf-8-sig"), newline=""), strict=True)
    return Counter(map(tuple, rows))


@pytest.fixture
def parsed(monkeypatch):
    """Every line that the reader of CSV is given, one row after the other."""
    lines, read = [], csv.reader
    monkeypatch.setattr(csv, "reader", lambda given, **dialect: read((lines.append(x) or x for x in given), **dialect))
    return lines


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@pytest.mark.parametrize("written", LINES.values(), ids=LINES)
def test_lines_are_counted_alike_however_long_the_blocks_are(tmp_path, monkeypatch, parsed, written, block):
    """Cell by cell, each text once, and never one row after the other, which would count alike, and take longer."""
    counts = count_rows(written)
    monkeypatch.setattr("kech.certificate.cells.BLOCK", block)
    (tmp_path / "t.csv").write_bytes(written)
    parsed.clear()
    figures = check_table(tmp_path / "t.csv", ["b", "a"], 1)
    assert summarize(figures) == (counts.total(), len(counts), min(counts.values()))
    _, *rows = written.decode("utf-8-sig").splitlines()
    assert parsed
    assert not {line.rstrip("\r\n") for line in parsed}.intersection(rows)


def summarize(figures):
    return figures["rows"], figures["classes"], figures["k"]


NO_ROWS = {
    "an open quote": b'a,b\n1,"x\n',
    "few cells": b"a,b\n1\n2,x,y\n",
    "more cells": b"a,b\n1,x,y,z\n",
    "cells in another line": b"a,b\n1,x,2\ny\n",
    "a quote inside": b'a,b\n1,x"y"\n1,"x"y\n',
    "a return inside": b"a,b\n1\r2,x\n",
    "a return at an end": b"a,b\n1\r,x\n",
    "a NUL byte": b"a,b\n1,\0\n",
    "no UTF-8": b"a,b\n1,\xff\n",
}


@pytest.mark.parametrize("written", NO_ROWS.values(), ids=NO_ROWS)
def test_lines_that_are_no_rows_are_refused(tmp_path, written):
    (tmp_path / "t.csv").write_bytes(written)
    with pytest.raises(InputError):
        check_table(tmp_path / "t.csv", ["a"], 1)


ODD_ROWS = {
    "a line end in a cell": b'a,b\n"1\n2",x\n"1\n2",x\n"1",x\n',
    "a header of two lines": b'"a\n",b\n1,x\n1,x\n2,x\n',
    "a header that ends with a return": b"a,b\r1,x\n1,x\n2,x\n",
    "ends of an old Macintosh": b"a,b\r1,x\r1,x\r2,x\r",
}


@pytest.mark.parametrize("written", ODD_ROWS.values(), ids=ODD_ROWS)
def test_rows_that_are_no_lines_are_counted(tmp_path, written):
    (tmp_path / "t.csv").write_bytes(written)
    header = next(csv.reader(StringIO(written.decode(), newline="")))
    counts = count_rows(written)
    assert summarize(check_table(tmp_path / "t.csv", header, 1)) == (3, 2, 1)
    assert (counts.total(), len(counts), min(counts.values())) == (3, 2, 1)


@pytest.mark.parametrize(
    ("loss", "doubted"), [(0.55, {"suppressed"}), (0.5, {"suppressed", "loss", "loss_per_column"})]
)
def test_one_row_left_out_loses_everything_too(tmp_path, loss, doubted):
    """No release says 1, and the number itself is refused; but the loss must be that of ten rows."""
    path, beside = tmp_path / "t.csv", tmp_path / "t.csv.certificate.json"
    path.write_text("a\n" + '"[0, 45]"\n' * 9, "utf-8")
    axes = [{"column": "a", "axis": "number", "domain": [0, 90], "grid": "round"}]
    document = certify(path, axes, rows_in=10)
    told = {"suppressed": 1, "rows_in": 10, "loss": loss, "loss_per_column": {"a": loss}}
    beside.write_text(json.dumps(document | {"claims": document["claims"] | told}), "utf-8")
    with pytest.raises(ClaimBroken) as refusal:
        check_certificate(path)
    assert {reason.partition(":")[0] for reason in refusal.value.broken} == doubted

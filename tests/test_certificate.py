import ast
import csv
import hashlib
import json
import math
import random
import signal
import sys
import traceback
import tracemalloc
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import kech
from by_hand import certify as certify_rows
from by_hand import measure
from kech import check_certificate, check_table
from kech.certificate import cells, make_certificate, open_published
from kech.errors import (
    BadCertificate,
    BadColumns,
    BadOption,
    ClaimBroken,
    KechError,
    NoQuasiIdentifier,
    NoSuchColumn,
    NoSuchFile,
    UnreadableFile,
)

in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

NUMERIC = {"column": "c", "axis": "number", "domain": [0, 100]}
DATE = {"column": "c", "axis": "date", "domain": ["1920-01-01", "1920-01-11"]}
TREE = {"column": "c", "axis": "hierarchy", "leaves": 5, "labels": {"north": 3, "'=odd": 2, "=sum": 4}}
SET = {"column": "c", "axis": "set", "values": 5}
ORDINAL = {"column": "c", "axis": "ordered", "order": ["low", "mid", "a..b", "b", "high"]}
STAR = {"column": "c", "axis": "hierarchy", "leaves": 2, "labels": {}}  # values, or *
AXES = (NUMERIC, DATE, TREE, SET, ORDINAL, STAR)
MODELS = ["l", "t", "entropy_l", "recursive_c", "t_ordered", "alpha", "beta", "enhanced_beta", "delta"]


def write(path, columns, rows):
    """The same rows as CSV (None becomes nothing) or Parquet, whatever the name asks for."""
    if path.suffix == ".parquet":
        cells = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in columns]
        fields = [pyarrow.array(column, pyarrow.string()) for column in cells]
        parquet.write_table(pyarrow.table(fields, names=columns), path)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([columns, *rows])
    return path


def width_of(folder, axis, label, name="t.parquet"):
    figures = measure(write(folder / name, ["c", "d"], [[label, "x"]]), [axis])
    assert figures["loss_per_column"] == {"c": figures["loss"]}
    return figures["loss"]


# Widths, worked by hand


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize(
    ("axis", "label", "width"),
    [
        (NUMERIC, "37", 0),
        (NUMERIC, "-1.5e3", 0),
        (NUMERIC, "[.5, 1e+1]", 0.095),
        (NUMERIC, "[20, 30]", 0.1),
        (NUMERIC, "[20, 30)", 0.1),
        (NUMERIC, "[-20, 30)", 0.3),
        (NUMERIC, "[90.5, 130)", 0.095),
        (NUMERIC, "[-5, 500]", 1),
        (NUMERIC, "[200, 300]", 0),
        (NUMERIC, "[1e900, 2e900]", 0),
        (NUMERIC, ">= 80", 0.2),
        (NUMERIC, ">= 180", 0),
        (NUMERIC, "<= 15", 0.15),
        (NUMERIC, "< 15", 0.15),
        (NUMERIC, "< -15", 0),
        (NUMERIC | {"domain": [7, 7]}, "[7, 9]", 0),
        (NUMERIC | {"domain": [7, 7]}, "*", 1),
        (NUMERIC | {"domain": [2**60, 2**60 + 10]}, f"[{2**60 + 1}, {2**60 + 4}]", 0.3),
        (NUMERIC | {"domain": [0.1, 0.3]}, "[0.1, 0.2)", 0.5),
        (DATE, "1920-01-05", 0),
        (DATE, "[1920-01-02, 1920-01-04]", 0.2),
        (DATE, "[1920-01-02, 1920-01-04)", 0.2),
        (DATE, "[1920-01-02 00:00:00, 1920-01-02 12:00:00)", 0.05),
        (DATE, "[1920-01-02 00:00:00.000000, 1920-01-02 06:00:00.5]", 0.025 + 0.5 / 864_000),
        (DATE | {"domain": ["2020-01-01", "2020-01-01 00:00:00.000003"]}, "< 2020-01-01 00:00:00.000001", 1 / 3),
        (DATE, ">= 1920-01-10", 0.1),
        (DATE, "<= 1920-01-10", 0.9),
        (DATE, "[1919-01-01, 1920-01-02)", 0.1),
        (DATE | {"domain": ["0001-01-01", "9999-12-31"]}, "*", 1),
        (TREE, "north", 0.5),
        (TREE, "Oslo", 0),
        (TREE | {"labels": {"*": 5}}, "*", 1),
        (TREE | {"labels": {"*": 3}}, "*", 0.5),
        (TREE | {"labels": {"forged": 9}}, "forged", 1),
        (TREE | {"labels": {"forged": -9}}, "forged", 0),
        (TREE | {"leaves": 1, "labels": {"all": 1}}, "all", 0),
        (SET, "red", 0),
        (SET, "a, b", 0),
        (SET, "{red, green}", 0.25),
        (SET, "{red, green, blue}", 0.5),
        (SET, '{red, "a, b", "}{", "\\"", " x"}', 1),
        (SET, '{"\\u00e9\\n", b}', 0.25),
        (SET, "{, a}", 0.25),
        (SET, "{a b, c d}", 0.25),
        (SET, "{a, b, c, d, e, f, g}", 1),
        (SET | {"values": 2}, "{a, b}", 1),
        (SET | {"values": 1}, "{a}", 0),
        (ORDINAL, "mid", 0),
        (ORDINAL, "low..mid", 0.25),
        (ORDINAL, "mid..", 0.75),
        (ORDINAL, "..mid", 0.25),
        (ORDINAL, "low..high", 1),
        (ORDINAL, "a..b", 0),
        (ORDINAL, "mid..a..b", 0.25),
        (ORDINAL, "a..b..high", 0.5),
        (ORDINAL | {"order": ["only"]}, "only..only", 0),
        (STAR, "anything", 0),
        *((axis, "", 0) for axis in AXES),
        *((axis, None, 0) for axis in AXES),
        *((axis, "*", 1) for axis in AXES),
    ],
)
def test_width_of_a_label(tmp_path, name, axis, label, width):
    assert width_of(tmp_path, axis, label, name) == pytest.approx(width, abs=1e-12)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize(
    ("axis", "label"),
    [
        *((NUMERIC, label) for label in ("old", "nan", "inf", "1_000", "37 ", " 37", "[20,30]", "[20, 30")),
        *((NUMERIC, label) for label in ("[20, x]", "[30, 20]", ">=80", ">= 80 ", "=> 80", "> 80", "[, 3]", "٣")),
        *((NUMERIC, label) for label in ("1e99999999999999999999", "[0, 1e99999999999999999999]")),
        *((DATE, label) for label in ("1920-13-01", "19200101", "1920-01-01T10:00:00", "1920-01-01 ", "12")),
        *((DATE, label) for label in ("[1920-01-02]", "[1920-01-04, 1920-01-02]", "1920-01-02 25:00:00")),
        *((SET, label) for label in ("{a,b}", "{a, b", "{a , b}", "{ a, b}", '{"a, b}', "{a}b}", "{a, b} ")),
        *((SET, label) for label in ('{x"y", z}', '{"\\q", z}', "{a\\b, c}", "{{, c}")),
        *(
            (ORDINAL, label)
            for label in ("Low", "high..low", "low...mid", "lo..", "..", "..low..", "low.mid", "low..mid ")
        ),
    ],
)
def test_label_outside_the_grammar_is_a_broken_claim_that_does_not_show_it(tmp_path, name, axis, label):
    path = write(tmp_path / name, ["c"], [["*"], [label], ["*"], [label]])

    with pytest.raises(ClaimBroken) as caught:
        measure(path, [axis])

    complaint = "does not meet its claims or goals: 'c': 2 rows have a label that its axis cannot read."
    assert str(caught.value).startswith(f"{str(path)!r} {complaint}")


@pytest.mark.parametrize(
    ("written", "width"),
    [("'=sum", 0.75), ("''=odd", 0.25), ("' =sum", 0), ("=sum", 0.75), ("'north", 0), ("north", 0.5)],
)
def test_guard_against_formulas_is_undone_in_csv_only(tmp_path, written, width):
    assert width_of(tmp_path, TREE, written, "t.csv") == width


def test_parquet_labels_are_taken_as_they_are(tmp_path):
    assert width_of(tmp_path, TREE, "'=odd") == 0.25
    assert width_of(tmp_path, TREE, "'=sum") == 0
    with pytest.raises(ClaimBroken):
        width_of(tmp_path, ORDINAL | {"order": ["-a", "b"]}, "'-a..b")


def test_guarded_labels_of_other_axes(tmp_path):
    assert width_of(tmp_path, ORDINAL | {"order": ["-a", "b", "c"]}, "'-a..b", "t.csv") == 0.5
    assert width_of(tmp_path, NUMERIC, "-5", "t.csv") == 0


# Figures, against definitions written out in full


def intervals():
    ends = st.tuples(st.integers(-5, 15), st.integers(-5, 15)).map(sorted)
    closed = ends.map(lambda e: (f"[{e[0]}, {e[1]}]", Fraction(max(0, min(e[1], 10) - max(e[0], 0)), 10)))
    above = st.integers(0, 10).map(lambda a: (f">= {a}", Fraction(10 - a, 10)))
    return st.one_of(closed, above, st.sampled_from([("7", 0), ("*", 1), ("", 0)]))


def subsets():
    values = st.sets(st.sampled_from(["a", "b, c", "{", " d", '"']), min_size=2)
    plain = values.map(lambda s: sorted(v if v == "a" else json.dumps(v) for v in s))
    many = plain.map(lambda s: ("{" + ", ".join(s) + "}", Fraction(len(s) - 1, 4)))
    return st.one_of(many, st.sampled_from([("a", 0), ("*", 1), ("", 0)]))


def ranges():
    pairs = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted)
    return pairs.map(lambda p: (f"v{p[0]}..v{p[1]}" if p[0] < p[1] else f"v{p[0]}", Fraction(p[1] - p[0], 3)))


TABLE_AXES = [
    {"column": "number", "axis": "number", "domain": [0, 10]},
    {"column": "set", "axis": "set", "values": 5},
    {"column": "range", "axis": "ordered", "order": ["v0", "v1", "v2", "v3"]},
]
quasi_rows = st.lists(st.tuples(intervals(), subsets(), ranges()), min_size=1, max_size=4)
sensitive_cells = st.tuples(st.sampled_from(["flu", "hiv", "", "it's"]), st.sampled_from("xy"))
tables = quasi_rows.flatmap(lambda q: st.lists(st.tuples(st.sampled_from(q), sensitive_cells), max_size=25))


def brute_figures(rows):
    """rows: [((label, width) per quasi-identifier, sensitive cells)]; the definitions, row by row."""
    keys = [tuple(label for label, _ in quasi) for quasi, _ in rows]
    groups = {key: [secret for other, (_, secret) in zip(keys, rows, strict=True) if other == key] for key in keys}
    columns = [
        float(sum((quasi[j][1] for quasi, _ in rows), Fraction()) / max(len(rows), 1)) for j in range(len(TABLE_AXES))
    ]
    return {
        "k": min(map(len, groups.values()), default=0),
        "classes": len(groups),
        "rows": len(rows),
        "average_class": len(rows) / len(groups) if groups else 0,
        "loss": sum(columns) / len(columns),
        "loss_per_column": dict(zip(["number", "set", "range"], columns, strict=True)),
        "l": {name: min((len({s[j] for s in g}) for g in groups.values()), default=0) for j, name in enumerate("st")},
        "t": {name: brute_t(groups, j) for j, name in enumerate("st")},
        **brute_models(groups),
    }


def brute_models(groups):
    """What else a class tells about `s` and `t`, neither of which has an order."""
    found = {name: {} for name in ("entropy_l", "recursive_c", "t_ordered", "alpha", "beta", "enhanced_beta", "delta")}
    for j, name in enumerate("st"):
        everybody = [secret[j] for group in groups.values() for secret in group]
        parts = [[secret[j] for secret in group] for group in groups.values()]
        p = [{value: share(value, part) for value in set(part)} for part in parts]
        q = {value: share(value, everybody) for value in set(everybody)}
        depth = max(min((len(part) for part in p), default=1), 1)
        tails = [sorted(Counter(part).values(), reverse=True) for part in parts]
        gains = [(x / q[value] - 1, -math.log(q[value])) for part in p for value, x in part.items()]
        entropies = [-sum(x * math.log(x) for x in part.values()) for part in p]
        found["entropy_l"][name] = math.exp(min(entropies)) if p else 0
        found["recursive_c"][name] = float(max((Fraction(x[0], sum(x[depth - 1 :])) for x in tails), default=0))
        found["t_ordered"][name] = None
        found["alpha"][name] = float(max((max(part.values()) for part in p), default=0))
        found["beta"][name] = float(max((gain for gain, _ in gains), default=0))
        likely = all(gain <= most + 1e-9 for gain, most in gains)
        found["enhanced_beta"][name] = found["beta"][name] if likely else None
        found["delta"][name] = max((abs(math.log(gain + 1)) for gain, _ in gains), default=0.0)
    return found


def brute_t(groups, j):
    everybody = [secret[j] for group in groups.values() for secret in group]
    distances = [
        sum(abs(share(value, [s[j] for s in group]) - share(value, everybody)) for value in set(everybody)) / 2
        for group in groups.values()
    ]
    return float(max(distances, default=0))


def share(value, values):
    return Fraction(values.count(value), len(values))


def close(figures):
    if isinstance(figures, dict):
        return {name: close(value) for name, value in figures.items()}
    return pytest.approx(figures, abs=1e-12) if isinstance(figures, float) else figures


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@in_one_folder
@given(rows=tables)
def test_figures_are_those_of_the_definitions(tmp_path, name, rows):
    cells = [[*(label for label, _ in quasi), *secret] for quasi, secret in rows]
    path = write(tmp_path / name, ["number", "set", "range", "s", "t"], cells)

    figures = measure(path, TABLE_AXES, ["s", "t"])

    assert figures == close(brute_figures(rows))
    assert list(figures) == ["k", "classes", "rows", "average_class", "loss", "loss_per_column", *MODELS]


@in_one_folder
@given(rows=tables, suppressed=st.integers(3, 9))
def test_a_suppressed_row_costs_as_much_as_a_row_of_stars(tmp_path, rows, suppressed):
    cells = [[label for label, _ in quasi] for quasi, _ in rows]
    names = ["number", "set", "range"]
    starred = measure(write(tmp_path / "stars.csv", names, cells + [["*"] * 3] * suppressed), TABLE_AXES)
    asked = min(suppressed, min(Counter(map(tuple, cells)).values(), default=0))

    path = write(tmp_path / "t.csv", names, cells)
    claims = certify(path, TABLE_AXES, rows_in=len(rows) + suppressed, k=asked)["claims"]

    assert claims["suppressed"] == suppressed
    assert claims["loss"] == pytest.approx(starred["loss"], abs=1e-12)
    assert claims["loss_per_column"] == pytest.approx(starred["loss_per_column"], abs=1e-12)
    assert check_certificate(path)["loss"] == claims["loss"]


def test_null_is_a_value_in_parquet_and_empty_text_in_csv(tmp_path):
    rows = [["a", None], ["a", ""], ["a", None], ["a", ""], ["a", ""]]
    expected = {"t.parquet": (2, 2), "t.csv": (5, 1)}

    for name, (k, classes) in expected.items():
        path = write(tmp_path / name, ["x", "c"], rows)
        figures = check_table(path, ["c"], k, sensitive=["x"])
        assert (figures["k"], figures["classes"], figures["l"]) == (k, classes, {"x": 1})
        assert check_table(path, ["x"], 5, sensitive=["c"])["l"] == {"c": 1}


def test_parquet_cells_of_every_type_are_read_as_text(tmp_path):
    arrays = [
        pyarrow.array([1.5, 1.5]),
        pyarrow.array([3, 3]).dictionary_encode(),
        pyarrow.array([0, 0], "timestamp[us]"),
    ]
    parquet.write_table(pyarrow.table(arrays, names=["a", "a.b", "d"]), tmp_path / "t.parquet")
    axes = [
        {"column": "a", "axis": "number", "domain": [0, 9]},
        {"column": "a.b", "axis": "number", "domain": [0, 9]},
        {"column": "d", "axis": "date", "domain": ["1970-01-01", "1971-01-01"]},
    ]

    assert measure(tmp_path / "t.parquet", axes)["loss"] == 0


def test_narrow_dictionaries_have_room_for_what_is_missing(tmp_path):
    texts = [f"v{i:03}" for i in range(128)]
    codes = pyarrow.array([*range(128), None, *range(128), None], "int8")
    column = pyarrow.DictionaryArray.from_arrays(codes, texts)
    parquet.write_table(pyarrow.table({"c": column}), tmp_path / "t.parquet")

    figures = check_table(tmp_path / "t.parquet", ["c"], 2)

    assert (figures["k"], figures["classes"], figures["rows"]) == (2, 129, 258)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_empty_table_has_no_class_and_no_k(tmp_path, name):
    path = write(tmp_path / name, ["c", "s"], [])

    figures = measure(path, [STAR], ["s"])

    nothing = dict.fromkeys(["k", "classes", "rows", "average_class", "loss"], 0)
    assert figures == nothing | {"loss_per_column": {"c": 0}} | {name: {"s": 0} for name in MODELS} | {
        "t_ordered": {"s": None}
    }
    with pytest.raises(ClaimBroken, match="k: asked 1, found 0"):
        check_table(path, ["c"], 1)


# A certificate that holds

PEOPLE = ["age", "zip", "disease", "note"]
ROWS = [
    *(["[20, 30)", "13***", disease, "n"] for disease in ("flu", "flu", "hiv")),
    *(["[30, 50)", "*", disease, "n"] for disease in ("flu", "flu", "flu")),
    *(["", "14***", disease, "n"] for disease in ("flu", "hiv", "cold", "cold")),
]
PEOPLE_AXES = [
    {"column": "age", "axis": "number", "domain": [0, 100]},
    {"column": "zip", "axis": "hierarchy", "leaves": 11, "labels": {"13***": 6, "14***": 5}},
]


def certify(path, axes, *, sensitive=(), kept=(), rows_in, k, goals=None, **options):
    document = make_certificate(
        path,
        published_name=path.name,
        axes=axes,
        sensitive=sensitive,
        kept=kept,
        rows_in=rows_in,
        parameters={"k": k, "cut": "local", **(goals or {})},
        kech_version="0.1.0",
        **options,
    )
    beside(path).write_text(json.dumps(document))
    return json.loads(beside(path).read_text())


def beside(path):
    return path.with_name(path.name + ".certificate.json")


def release(path, rows=ROWS, rows_in=None, k=3):
    write(path, PEOPLE, rows)
    return certify(path, PEOPLE_AXES, sensitive=["disease"], kept=["note"], rows_in=rows_in or len(rows), k=k)


def broken(path, **options):
    """Names of the broken claims."""
    with pytest.raises(ClaimBroken) as caught:
        check_certificate(path, **options)
    listed = str(caught.value).split("goals: ", 1)[1]
    return {claim.split(":")[0] for claim in listed.split("; ")}


@pytest.fixture(params=["out.csv", "out.parquet"])
def out(tmp_path, request):
    release(tmp_path / request.param)
    return tmp_path / request.param


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_certificate_of_ten_people(tmp_path, name):
    path = tmp_path / name
    document = release(path)
    loss = {"age": (3 * 0.1 + 3 * 0.2) / 10, "zip": (3 * 0.5 + 3 * 1 + 4 * 0.4) / 10}
    dialect = {"delimiter": ","} if name == "out.csv" else {}

    assert document["not_promised"] and all(isinstance(line, str) for line in document.pop("not_promised"))
    assert document == {
        "certificate": 5,
        "kech": "0.1.0",
        "file": {
            "name": name,
            "format": path.suffix[1:],
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            **dialect,
        },
        "claims": {
            "k": 3,
            "classes": 3,
            "rows": 10,
            "rows_in": 10,
            "suppressed": 0,
            "loss": pytest.approx((loss["age"] + loss["zip"]) / 2),
            "loss_per_column": pytest.approx(loss),
            "goals": {},
        },
        "measured": {
            "average_class": pytest.approx(10 / 3),
            "l": {"disease": 1},
            "t": {"disease": pytest.approx(0.4)},  # the class of three flus; six of ten have flu
            "entropy_l": {"disease": 1},
            "recursive_c": {"disease": 1},
            "t_ordered": {"disease": None},
            "alpha": {"disease": 1},
            "beta": {"disease": pytest.approx(1.5)},  # two of ten have a cold, in the last class two of four
            "enhanced_beta": {"disease": None},  # six of ten have flu: a gain of 2/3 is more than -log 0.6
            "delta": {"disease": pytest.approx(math.log(2.5))},
        },
        "values": {"disease": {"kind": "text"}},
        "quasi_identifiers": PEOPLE_AXES,
        "sensitive": ["disease"],
        "kept": ["note"],
        "parameters": {"k": 3, "cut": "local"},
    }


def test_certificate_that_holds_gives_the_figures(out):
    figures = check_certificate(out)

    assert figures == measure(out, PEOPLE_AXES, ["disease"])
    assert check_certificate(str(out), str(beside(out))) == figures


def test_renamed_file_and_given_certificate(out):
    moved = out.rename(out.with_name("moved" + out.suffix))

    assert check_certificate(moved, beside(out))["rows"] == 10
    with pytest.raises(BadCertificate, match="there is no such file"):
        check_certificate(moved)


def test_format_comes_from_the_published_name(tmp_path):
    release(tmp_path / "out.parquet")
    hidden = (tmp_path / "out.parquet").rename(tmp_path / ".tmp123")
    roles = {"axes": PEOPLE_AXES, "sensitive": ["disease"], "kept": ["note"]}

    document = make_certificate(
        hidden, published_name="out.parquet", **roles, rows_in=10, parameters={}, kech_version="0"
    )

    assert document["file"]["format"] == "parquet"


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_format_that_is_given_outweighs_the_name(tmp_path, name):
    release(tmp_path / name)
    odd = (tmp_path / name).rename(tmp_path / ("out.csv" if name == "out.parquet" else "out.pq"))
    given = {"format": name.split(".")[1]}

    certify(odd, PEOPLE_AXES, sensitive=["disease"], kept=["note"], rows_in=10, k=3, **given)

    figures = [check_certificate(odd), measure(odd, PEOPLE_AXES, **given), check_table(odd, ["age"], 3, **given)]
    assert [found["k"] for found in figures] == [3, 3, 3]
    with pytest.raises(UnreadableFile):
        check_table(odd, ["age"], 3)


def test_other_delimiter_and_byte_order_mark(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("c;d\n1,5;x\n1,5;x\n", encoding="utf-8-sig")
    certify(path, [STAR], kept=["d"], rows_in=2, k=2, delimiter=";")

    assert check_certificate(path)["k"] == 2
    assert check_table(path, ["c", "d"], 2, delimiter=";")["classes"] == 1


def test_certificate_without_an_asked_k(out):
    edit_certificate(out, lambda document: document["parameters"].pop("k"))

    assert check_certificate(out)["k"] == 3


def test_a_larger_k_than_claimed_keeps_the_promise(tmp_path):
    release(tmp_path / "out.csv", k=2)
    edit_certificate(tmp_path / "out.csv", lambda document: document["claims"].update(k=2))

    assert check_certificate(tmp_path / "out.csv")["k"] == 3


@pytest.mark.parametrize(
    ("rows_in", "shown"),
    [(10, (10, 0)), (11, (None, "<3")), (12, (None, "<3")), (13, (13, 3)), (110, (110, 100))],
)
def test_few_suppressed_rows_are_not_counted_in_public(tmp_path, rows_in, shown):
    path = tmp_path / "out.csv"

    document = release(path, rows_in=rows_in)
    claims = document["claims"]

    assert (claims["rows_in"], claims["suppressed"]) == shown
    published = measure(path, PEOPLE_AXES)["loss"]
    hidden = isinstance(shown[1], str)
    assert claims["loss"] == pytest.approx(published if hidden else (published * 10 + rows_in - 10) / rows_in)
    assert check_certificate(path)["loss"] == claims["loss"]


@pytest.mark.parametrize(
    ("options", "claim"),
    [
        ({"k": 4}, "k"),
        ({"rows_in": 9}, "suppressed"),
        ({"kept": []}, "columns"),
        ({"kept": ["note", "ghost"]}, "columns"),
        ({"axes": [PEOPLE_AXES[0] | {"domain": [0, 1], "axis": "date"}]}, None),
    ],
)
def test_no_certificate_for_a_file_that_breaks_it(tmp_path, options, claim):
    path = write(tmp_path / "out.csv", PEOPLE, ROWS)
    usual = {"axes": PEOPLE_AXES, "sensitive": ["disease"], "kept": ["note"], "rows_in": 10, "k": 3}

    with pytest.raises(ClaimBroken if claim else BadOption, match=claim and f"goals: {claim}:"):
        certify(path, **usual | options)


# Seeded faults in the file


def reseal(path):
    """A forger brings the hash up to date, and nothing else."""
    edit_certificate(path, lambda d: d["file"].update(sha256=hashlib.sha256(path.read_bytes()).hexdigest()))


def edit_certificate(path, change):
    document = json.loads(beside(path).read_text())
    change(document)
    beside(path).write_text(json.dumps(document))


def with_cell(row, column, cell):
    return [
        *ROWS[:row],
        [cell if name == column else old for name, old in zip(PEOPLE, ROWS[row], strict=True)],
        *ROWS[row + 1 :],
    ]


AVERAGES = {"loss", "loss_per_column", "average_class"}
relabelled = [["[20, 31)", *row[1:]] for row in ROWS[:3]] + ROWS[3:]


@pytest.mark.parametrize(
    ("rows", "claims"),
    [
        pytest.param(ROWS[1:], {"k", "rows", "t", *AVERAGES}, id="a class one row short"),
        pytest.param([*ROWS, ["", "", "", "n"]], {"k", "rows", "classes", "t", *AVERAGES}, id="an empty row"),
        pytest.param([*ROWS, ["NaN", "*", "flu", "n"]], {"'age'", "k", "rows", "classes", "t", *AVERAGES}, id="NaN"),
        pytest.param(with_cell(0, "age", "[20, 30) "), {"'age'", "k", "classes", *AVERAGES}, id="trailing space"),
        pytest.param(with_cell(0, "zip", "13*** "), {"k", "classes", *AVERAGES}, id="trailing space in a tree"),
        pytest.param(with_cell(0, "age", "25"), {"k", "classes", *AVERAGES}, id="one label"),
        pytest.param(relabelled, {"loss", "loss_per_column"}, id="a label in all rows of its class"),
        pytest.param(with_cell(2, "disease", "flu"), {"t"}, id="a sensitive value"),
        pytest.param(with_cell(4, "disease", "hiv"), {"l", "t"}, id="a sensitive value, diversity"),
        pytest.param(with_cell(0, "note", "m"), set(), id="a kept value"),
    ],
)
def test_edited_file(out, rows, claims):
    write(out, PEOPLE, rows)

    assert broken(out) - set(MODELS[2:]) == {"sha256", *claims}

    reseal(out)
    if claims:
        assert broken(out) - set(MODELS[2:]) == claims
    else:
        check_certificate(out)


def test_extra_column_and_missing_columns(out):
    write(out, [*PEOPLE, "ssn"], [[*row, "1"] for row in ROWS])
    assert broken(out) == {"sha256", "columns"}
    with pytest.raises(ClaimBroken, match="columns: the file also has 'ssn'"):
        check_certificate(out)

    write(out, PEOPLE[:3], [row[:3] for row in ROWS])
    assert broken(out) == {"sha256", "columns"}

    write(out, PEOPLE[1:], [row[1:] for row in ROWS])
    assert broken(out) == {"sha256", "columns"}
    with pytest.raises(ClaimBroken, match="columns: the file lacks 'age'"):
        check_certificate(out)


def test_order_of_rows_and_columns_is_no_claim(out):
    write(out, PEOPLE[::-1], [row[::-1] for row in ROWS[::-1]])
    reseal(out)

    assert check_certificate(out)["k"] == 3


def test_certificate_of_another_file(tmp_path):
    release(tmp_path / "a.csv")
    release(tmp_path / "b.csv", rows=ROWS * 2)

    assert broken(tmp_path / "a.csv", certificate=beside(tmp_path / "b.csv")) == {
        "sha256",
        "k",
        "rows",
        "average_class",
    }


# Seeded faults in the certificate

LOSSES = {"loss", "loss_per_column"}
CHANGES = {
    "k too large": (lambda d: d["claims"].update(k=4), {"k"}),
    "k below the one asked": (lambda d: d["claims"].update(k=2), {"k"}),
    "asked k": (lambda d: d["parameters"].update(k=4), {"k"}),
    "classes": (lambda d: d["claims"].update(classes=4), {"classes"}),
    "rows": (lambda d: d["claims"].update(rows=9, rows_in=9), {"rows"}),
    "rows, rows_in kept": (lambda d: d["claims"].update(rows=9), {"rows", "suppressed"}),
    "rows_in": (lambda d: d["claims"].update(rows_in=14), {"suppressed"}),
    "rows_in hidden": (lambda d: d["claims"].update(rows_in=None), {"suppressed"}),
    "suppressed": (lambda d: d["claims"].update(suppressed=4), {"suppressed", *LOSSES}),
    "suppressed and rows_in": (lambda d: d["claims"].update(suppressed=4, rows_in=14), LOSSES),
    "suppressed below zero": (lambda d: d["claims"].update(suppressed=-1, rows_in=9), {"suppressed"}),
    "suppressed below zero, k too": (
        lambda d: (d["claims"].update(suppressed=-1, rows_in=9), d["parameters"].update(k=-5)),
        {"suppressed"},
    ),
    "one suppressed shown": (lambda d: d["claims"].update(suppressed=1, rows_in=11), {"suppressed", *LOSSES}),
    "few suppressed shown": (lambda d: d["claims"].update(suppressed=2, rows_in=12), {"suppressed", *LOSSES}),
    "hidden suppressed of another k": (
        lambda d: d["claims"].update(suppressed="<4", rows_in=None),
        {"suppressed"},
    ),
    "hidden suppressed, rows_in shown": (
        lambda d: d["claims"].update(suppressed="<3", rows_in=12),
        {"suppressed"},
    ),
    "loss": (lambda d: d["claims"].update(loss=d["claims"]["loss"] + 1e-8), {"loss"}),
    "loss, not a number": (lambda d: d["claims"].update(loss=float("nan")), {"loss"}),
    "loss of one column": (lambda d: d["claims"]["loss_per_column"].update(age=0.1), {"loss_per_column"}),
    "loss as text": (lambda d: d["claims"]["loss_per_column"].update(age="0.09"), {"loss_per_column"}),
    "loss as an object": (lambda d: d["claims"]["loss_per_column"].update(age={}), {"loss_per_column"}),
    "loss of a column left out": (lambda d: d["claims"]["loss_per_column"].pop("age"), {"loss_per_column"}),
    "average": (lambda d: d["measured"].update(average_class=3.0), {"average_class"}),
    "l": (lambda d: d["measured"]["l"].update(disease=2), {"l"}),
    "t": (lambda d: d["measured"]["t"].update(disease=0.3), {"t"}),
    "t left out": (lambda d: d["measured"]["t"].clear(), {"t"}),
    "sha256": (lambda d: d["file"].update(sha256="0" * 64), {"sha256"}),
    "domain": (lambda d: d["quasi_identifiers"][0].update(domain=[0, 99]), LOSSES),
    "leaves": (lambda d: d["quasi_identifiers"][1].update(leaves=12), LOSSES),
    "quasi-identifier left out": (lambda d: d["quasi_identifiers"].pop(), {"columns", *LOSSES}),
    "quasi-identifier called kept": (
        lambda d: d["kept"].append(d["quasi_identifiers"].pop()["column"]),
        LOSSES,
    ),
    "sensitive called kept": (lambda d: d["kept"].append(d["sensitive"].pop()), set(MODELS)),
    "alpha": (lambda d: d["measured"]["alpha"].update(disease=0.5), {"alpha"}),
    "entropy": (lambda d: d["measured"]["entropy_l"].update(disease=1.5), {"entropy_l"}),
    "a goal the parameters do not know": (lambda d: d["claims"]["goals"].update(alpha=1.0), {"goals"}),
    "a goal of the parameters left out": (lambda d: d["parameters"].update(t=0.5), {"goals"}),
    "a goal that does not hold": (
        lambda d: (d["claims"]["goals"].update(alpha=0.9), d["parameters"].update(alpha=0.9)),
        {"alpha of 'disease'"},
    ),
    "an ordered distance of texts": (
        lambda d: [goals.update(t=0.9, t_kind="ordered") for goals in (d["claims"]["goals"], d["parameters"])],
        {"t_kind"},
    ),
    "kept left out": (lambda d: d["kept"].clear(), {"columns"}),
    "kept column that is not there": (lambda d: d["kept"].append("ghost"), {"columns"}),
}


@pytest.mark.parametrize("fault", CHANGES)
def test_changed_certificate(out, fault):
    change, claims = CHANGES[fault]

    edit_certificate(out, change)

    assert broken(out) == claims


# Goals beyond k

DISEASE = {"sensitive": ["disease"], "kept": ["note"], "rows_in": 10, "k": 3}


@pytest.mark.parametrize(
    ("goals", "says"),
    [
        ({"l": 2, "l_kind": "distinct"}, "l of 'disease': asked 2, found 1"),
        ({"l": 1.5, "l_kind": "entropy"}, "l of 'disease': asked 1.5, found 1"),
        ({"l": 2, "l_kind": "recursive", "c": 9.0}, "c of 'disease': asked 9.0 for l = 2, found None"),
        ({"l": 1, "l_kind": "recursive", "c": 1.0}, "c of 'disease': asked 1.0 for l = 1, found 1.0"),
        ({"t": 0.39, "t_kind": "equal"}, "t of 'disease': asked 0.39, found 0.4"),
        ({"t": 0.3, "t_kind": "ordered"}, "t of 'disease': asked 0.3, found 0.4"),
        ({"alpha": 0.99}, "alpha of 'disease': asked 0.99, found 1"),
    ],
)
def test_a_file_below_its_own_goals_gets_no_certificate(tmp_path, goals, says):
    path = write(tmp_path / "out.csv", PEOPLE, ROWS)

    with pytest.raises(ClaimBroken) as caught:
        certify(path, PEOPLE_AXES, **DISEASE, goals=goals)

    assert says in str(caught.value)


@pytest.mark.parametrize(
    "goals",
    [
        {"l": 1, "l_kind": "distinct", "t": 0.4, "t_kind": "equal", "alpha": 1.0},
        {"l": 1.0, "l_kind": "entropy"},
        {"l": 1, "l_kind": "recursive", "c": 1.1},
    ],
)
def test_goals_that_hold_are_claimed_and_checked(tmp_path, goals):
    path = write(tmp_path / "out.csv", PEOPLE, ROWS)
    assert certify(path, PEOPLE_AXES, **DISEASE, goals=goals)["claims"]["goals"] == goals
    assert check_certificate(path)["l"] == {"disease": 1}


def test_a_certificate_of_before_goals_still_holds(out):
    def forget(document):
        del document["claims"]["goals"], document["values"]
        for name in MODELS[2:]:
            del document["measured"][name]

    edit_certificate(out, forget)

    assert check_certificate(out)["alpha"] == {"disease": 1}


@pytest.mark.parametrize(
    "goals",
    [
        *([], {"x": 1}, {"l": "2"}, {"l": True}, {"t": float("nan")}, {"alpha": float("inf")}, {"l": 10**400}),
        *({"l": 2, "l_kind": "other"}, {"l": 2, "l_kind": "recursive"}, {"l": 0, "l_kind": "recursive", "c": 1}),
        *({"l": 1.5, "l_kind": "recursive", "c": 1}, {"t": 0.5, "t_kind": []}, {"c": 1, "l_kind": "recursive"}),
    ],
    ids=str,
)
def test_malformed_goals(out, goals):
    edit_certificate(out, lambda document: document["claims"].update(goals=goals))

    with pytest.raises(BadCertificate, match=r"claims\.goals"):
        check_certificate(out)


@pytest.mark.parametrize("values", [[], {"disease": 1}, {"disease": {}}, {"disease": {"kind": []}},
                                    {"disease": {"kind": "ordered", "order": [1]}}], ids=str)  # fmt: skip
def test_malformed_values(out, values):
    edit_certificate(out, lambda document: document.update(values=values))

    with pytest.raises(BadCertificate, match="values"):
        check_certificate(out)


def test_distance_along_a_line(tmp_path):
    """The salaries of the paper on t-closeness; missing ones lie below all others."""
    rows = [["*" if i < 3 else "a", str(x)] for i, x in enumerate([3, 4, 5, 6, 7, 8, 9, 10, 11])]
    figures = check_table(write(tmp_path / "t.csv", ["c", "s"], rows), ["c"], 3, sensitive=["s"])
    assert figures["t_ordered"]["s"] == pytest.approx(0.375)
    rows = [["*", ""], ["*", "1"], ["a", "2.50"], ["a", "2.5"]]
    figures = check_table(write(tmp_path / "u.csv", ["c", "s"], rows), ["c"], 2, sensitive=["s"])
    assert (figures["l"]["s"], figures["t_ordered"]["s"]) == (1, pytest.approx((0.25 + 0.5) / 2))


def test_hidden_suppression_holds(out):
    edit_certificate(out, lambda document: document["claims"].update(suppressed="<3", rows_in=None))

    assert check_certificate(out)["rows"] == 10


def test_rounding_of_the_last_digits_is_forgiven(out):
    edit_certificate(out, lambda document: document["claims"].update(loss=document["claims"]["loss"] + 1e-10))

    assert check_certificate(out)


def places(value, path=()):
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@in_one_folder
@given(data=st.data())
def test_forged_certificate_is_refused_or_weighed_and_never_crashes(tmp_path, data):
    path = tmp_path / "out.csv"
    document = {"root": release(path)}
    *parents, last = data.draw(st.sampled_from(list(places(document))[1:]))
    place = document
    for key in parents:
        place = place[key]
    place[last] = data.draw(json_values)
    beside(path).write_text(json.dumps(document["root"]))

    with suppress(BadCertificate, ClaimBroken):
        assert check_certificate(path)["rows"] == 10


REQUIRED = [
    *(
        "certificate",
        "kech",
        "file",
        "claims",
        "measured",
        "quasi_identifiers",
        "sensitive",
        "kept",
        "parameters",
    ),
    *("not_promised", "file.name", "file.format", "file.sha256", "claims.k", "claims.classes", "claims.rows"),
    *(
        "claims.rows_in",
        "claims.suppressed",
        "claims.loss",
        "claims.loss_per_column",
        "measured.average_class",
    ),
    *("measured.l", "measured.t"),
]


@pytest.mark.parametrize("place", REQUIRED)
@pytest.mark.parametrize("value", [None, True, [1]])
def test_missing_or_malformed_part_of_a_certificate(tmp_path, place, value):
    path = tmp_path / "out.csv"
    document = release(path)
    *parents, last = place.split(".")
    part = document[parents[0]] if parents else document
    if value is None:
        del part[last]
    elif place == "certificate":
        part[last] = 6
    elif isinstance(part[last], list):
        part[last] = {"x": 1}
    else:
        part[last] = value
    beside(path).write_text(json.dumps(document))

    with pytest.raises(
        BadCertificate, match="does not know its version" if place == "certificate" else place.split(".")[0]
    ):
        check_certificate(path)


def test_a_field_that_stands_twice_is_refused(tmp_path):
    path = tmp_path / "out.csv"
    release(path)
    text = beside(path).read_text("utf-8")
    beside(path).write_text(text.replace('"k"', '"k": 99, "k"', 1), "utf-8")

    with pytest.raises(BadCertificate, match="one field stands twice"):
        check_certificate(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", "[" * 100_000, "\udcff", '{"certificate": 5'])
def test_text_that_is_no_certificate(tmp_path, text):
    path = tmp_path / "out.csv"
    release(path)
    beside(path).write_text(text, errors="surrogateescape")

    with pytest.raises(BadCertificate):
        check_certificate(path)


@pytest.mark.parametrize(
    "axes",
    [
        [],
        ["age"],
        [{}],
        [{"column": "age"}],
        [{"column": "age", "axis": "circle"}],
        [{"column": "age", "axis": []}],
        [STAR | {"column": 3}],
        [STAR | {"column": []}],
        [STAR, STAR],
        [NUMERIC | {"domain": [0]}],
        [NUMERIC | {"domain": [1, 0]}],
        [NUMERIC | {"domain": [0, True]}],
        [NUMERIC | {"domain": [0, float("nan")]}],
        [{"column": "c", "axis": "number"}],
        [DATE | {"domain": [0, 1]}],
        [TREE | {"labels": []}],
        [TREE | {"labels": {"x": "many"}}],
        [TREE | {"labels": {"x": 10**400}}],
        [{"column": "c", "axis": "hierarchy", "leaves": 3}],
        [SET | {"values": None}],
        [ORDINAL | {"order": 3}],
    ],
)
def test_malformed_axes(tmp_path, axes):
    path = tmp_path / "out.csv"
    release(path)
    with pytest.raises(BadOption, match="quasi_identifiers"):
        measure(path, axes)

    edit_certificate(path, lambda document: document.update(quasi_identifiers=axes))
    with pytest.raises(BadCertificate, match="quasi_identifiers"):
        check_certificate(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: d["file"].update(format="xlsx"), "format"),
        (lambda d: d["file"].update(delimiter=",,"), "delimiter"),
        (lambda d: d["file"].update(delimiter=3), "delimiter"),
        (lambda d: d["file"].update(delimiter='"'), "delimiter"),
        (lambda d: d["parameters"].update(k="3"), "parameters.k"),
        (lambda d: d["parameters"].update(unbreakable=True), "parameters.unbreakable: this kech does not know it"),
        (lambda d: d["claims"].update(epsilon=0.1), "claims.epsilon: this kech does not know it"),
        (lambda d: d["measured"].update(rows=3), "measured.rows: this kech does not know it"),
        (lambda d: d["quasi_identifiers"][0].update(noise="dp"), "quasi_identifiers.noise: this kech does not know it"),
        (lambda d: d["file"].update(author="kech"), "file.author: this kech does not know it"),
        (lambda d: d.update(guarantee="all"), "guarantee: this kech does not know it"),
        (lambda d: d["sensitive"].append(3), "sensitive"),
        (lambda d: d["kept"].append(None), "kept"),
        (lambda d: d.update(certificate=6), "version"),
        (lambda d: d.update(certificate=1), "an earlier version"),
        (lambda d: d.update(certificate=2), "an earlier version"),
        (lambda d: d.update(certificate="1"), "version"),
    ],
)
def test_certificate_that_cannot_be_checked(tmp_path, change, reason):
    path = tmp_path / "out.csv"
    release(path)
    edit_certificate(path, change)

    with pytest.raises(BadCertificate, match=reason):
        check_certificate(path)


# Files


def test_missing_files_and_folders(tmp_path):
    release(tmp_path / "out.csv")

    for name in ("ghost.csv", "ghost.parquet"):
        with pytest.raises(NoSuchFile):
            check_certificate(tmp_path / name)
        with pytest.raises(NoSuchFile):
            check_table(tmp_path / name, ["c"], 1)
    for folder in (tmp_path, tmp_path / "f.parquet"):
        folder.mkdir(exist_ok=True)
        with pytest.raises(UnreadableFile):
            check_table(folder, ["c"], 1)
    with pytest.raises(BadCertificate, match="cannot be read"):
        check_certificate(tmp_path / "out.csv", tmp_path)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"c,d\n1,2\n3\n", 3),
        (b"c,d\n1,2\n3,4,5\n", 3),
        (b"c,d\n1,2\n\n3,4\n", 3),
        (b'c,d\n"1\n1",2\n3\n', 4),
        (b"c,d\n1,2\n3,\x004\n", 3),
        (b"c,d\n1,2\n3,4\xff\n", 3),
        (b"c,d\n1,2\n3,\xed\xa0\x80\n", 3),
        (b"c\xff,d\n1,2\n", 1),
        (b'c,d\n1,2\n"3,4\n5,6\n7,8\n', 3),
        (b'c,d\n1,2\n"3"3,4\n', 3),
    ],
)
def test_line_that_is_no_row(tmp_path, content, line):
    (tmp_path / "t.csv").write_bytes(content)

    for check in (lambda path: check_table(path, ["c"], 1), lambda path: measure(path, [STAR])):
        with pytest.raises(UnreadableFile, match=f"line {line}: "):
            check(tmp_path / "t.csv")


def test_text_beyond_ascii_is_fine(tmp_path):
    (tmp_path / "t.csv").write_text("ç,d\nø,\U0001f600\n", encoding="utf-8")

    assert check_table(tmp_path / "t.csv", ["ç", "d"], 1)["rows"] == 1


def test_blank_line_is_a_row_only_where_there_is_one_column(tmp_path):
    (tmp_path / "t.csv").write_text('c\na\n\n""\n')

    figures = check_table(tmp_path / "t.csv", ["c"], 1)

    assert (figures["rows"], figures["classes"]) == (3, 3)  # "" is empty text, a blank line is missing


def test_cell_longer_than_the_limit_of_csv(tmp_path):
    write(tmp_path / "t.csv", ["c", "d"], [["a", "x" * 200_000]])

    assert check_table(tmp_path / "t.csv", ["c"], 1)["k"] == 1


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
def test_file_without_a_header(tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content)

    with pytest.raises(UnreadableFile, match="no columns"):
        check_table(tmp_path / "t.csv", ["c"], 1)


def test_parquet_that_is_not(tmp_path):
    path = write(tmp_path / "t.parquet", ["c"], [["a"]] * 100)
    whole = path.read_bytes()

    for content in (b"", b"c\n1\n", whole[:-8], whole[4:], b"PAR1" * 3):
        path.write_bytes(content)
        with pytest.raises(UnreadableFile):
            check_table(path, ["c"], 1)


def test_same_column_twice(tmp_path):
    (tmp_path / "t.csv").write_text("c,c\n1,2\n")
    with pytest.raises(BadColumns):
        check_table(tmp_path / "t.csv", ["c"], 1)

    parquet.write_table(pyarrow.table([["1"], ["2"]], names=["c", "c"]), tmp_path / "t.parquet")
    with pytest.raises(BadColumns):
        measure(tmp_path / "t.parquet", [STAR])


@in_one_folder
@given(st.binary(max_size=60) | st.text('ab,"\n\r\0', max_size=20).map(str.encode))
def test_any_bytes_are_counted_or_refused(tmp_path, content):
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + content)

    with suppress(KechError):
        assert check_table(tmp_path / "t.csv", ["a"], 1)["rows"] > 0


@in_one_folder
@given(
    st.sampled_from([b"a,b\n", b"\xef\xbb\xbfa,b\r\n", b'"a",b\r', b'a,"b\n"\n']),
    st.lists(
        st.sampled_from(
            [b"x,y", b'"x",y', b'x","y', b'"x', b'y"', b",", b'""', b"\r", b"x,y\r", b"\xff", b"", b"x,y,z", b"'=x,y"]
        )
    ),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.booleans(),
)
def test_lines_that_are_alike_are_read_as_if_they_were_not(tmp_path, header, lines, end, closed):
    (tmp_path / "t.csv").write_bytes(header + end.join(lines) + (end if closed else b""))

    def found(count):
        table = open_published(tmp_path / "t.csv")
        try:
            return dict(count(table, table.columns).items())
        except UnreadableFile as refusal:
            return str(refusal)

    def one_by_one(table, names):
        rows = [row for batch in table.batches(names) for row in zip(*batch, strict=True)]
        return Counter(rows)

    assert found(lambda table, names: table.count(names)) == found(one_by_one)


@pytest.mark.parametrize("way", ["lines", "rows"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('"",,x', ["", None, "x"]),
        (',"",""', [None, "", ""]),
        ('"a,"",b","",', ['a,",b', "", None]),
        ('"""","",""', ['"', "", ""]),
        ('a"b,"",', ['a"b', "", None]),
        ('"x\n"",""\ny","",""', ['x\n","\ny', "", ""]),
        ('"\n""","",', ['\n"', "", None]),
    ],
)
def test_csv_tells_empty_text_from_nothing(tmp_path, line, found, end, way):
    (tmp_path / "t.csv").write_bytes(("a,b,c\n" + line + "\n").replace("\n", end).encode())
    table = open_published(tmp_path / "t.csv")
    if way == "lines":
        ((cells_found, _),) = table.count(["a", "b", "c"]).items()
    else:
        (cells_found,) = zip(*next(table.batches(["a", "b", "c"])), strict=True)

    assert list(cells_found) == [cell and cell.replace("\n", end) for cell in found]


@pytest.fixture
def parted(monkeypatch):
    """How many lines were parted at a time."""
    lines, real = [], cells._parse_lines
    counting = lambda block, **how: lines.append(block.count(b"\n")) or real(block, **how)  # noqa: E731
    monkeypatch.setattr("kech.certificate.cells._parse_lines", counting)
    return lines


@pytest.mark.parametrize("block", [5, 50, 5_000])
def test_lines_are_counted_alike_however_many_are_read_at_once(tmp_path, monkeypatch, parted, block):
    """New cells come all the time, so that numbers get wider; the last line is not closed."""
    monkeypatch.setattr("kech.certificate.cells.BLOCK", block)
    monkeypatch.setattr("kech.certificate.tally.BLOCK_ROWS", 40)
    rows = [(f"a, {i % 7}", f"{i // 3}", 'say "x"' if i % 2 else "") for i in range(300)]
    write(tmp_path / "t.csv", ["a", "b", "c"], rows)
    (tmp_path / "t.csv").write_bytes((tmp_path / "t.csv").read_bytes().rstrip(b"\r\n"))

    found = dict(open_published(tmp_path / "t.csv").count(["c", "a"]).items())
    assert found == Counter((c or None, a) for a, _, c in rows)
    assert dict(open_published(tmp_path / "t.csv").count(["b"]).items()) == {(f"{i}",): 3 for i in range(100)}
    assert sum(parted) == 600


@pytest.mark.parametrize(
    "lines",
    [
        "1,2\n1;3,4\n",  # fine
        '1,"2\n2"\n1,2\n',  # a row of two lines is one, where a block holds both
        "1,2\n3\n",
        "1,2\n3,4,5\n,\n",
        '1,2\n5" x,6" y\n',
        '1,2\n5" x,6 y\n',
        '1,2\n5" x,6" y,7\n',
        '1,"2\n',
        "1\r,2\n",
        "1,2\r\n",
        "1,2\r\r\n",
        "1,\0\n",
    ],
)
def test_odd_lines_are_read_as_rows(tmp_path, lines):
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + lines.encode())

    def found(read):
        try:
            return Counter(dict(read(open_published(tmp_path / "t.csv")).items()))
        except UnreadableFile as refusal:
            return str(refusal)

    assert found(lambda table: table.count(["a", "b"])) == found(
        lambda table: Counter(row for batch in table.batches(["a", "b"]) for row in zip(*batch, strict=True))
    )


@pytest.mark.parametrize("lines", ["a,b\n1,2\n3\n4\n", "a,b,c\n1,2,3\n4,5\n6\n", "a,b,c\n1,2,3\n4\n5,6\n"])
def test_short_lines_that_make_up_a_row_together_are_refused(tmp_path, lines):
    (tmp_path / "t.csv").write_text(lines)

    with pytest.raises(UnreadableFile, match=r"line 3: . cells under"):
        open_published(tmp_path / "t.csv").count(["a", "b"])


def test_a_delimiter_of_several_bytes_is_one_too(tmp_path):
    (tmp_path / "t.csv").write_text("a§b\n1§2\n1§3\n", "utf-8")

    assert dict(open_published(tmp_path / "t.csv", delimiter="§").count(["a"]).items()) == {("1",): 2}


def test_long_lines_are_not_held_all_at_once(tmp_path, monkeypatch):
    """Found by review: the limit was a number of lines, whatever their length."""
    monkeypatch.setattr("kech.certificate.cells.BLOCK", 1 << 16)
    lines = [f"{i % 5},{i}{'x' * 5_000}\n" for i in range(600)]
    (tmp_path / "t.csv").write_text("c,note\n" + "".join(lines))
    del lines

    tracemalloc.start()
    try:
        assert dict(open_published(tmp_path / "t.csv").count(["c"]).items()) == {(str(c),): 120 for c in range(5)}
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_500_000


def test_a_line_that_is_too_long_is_read_as_a_row(tmp_path, monkeypatch, parted):
    monkeypatch.setattr("kech.certificate.cells.LONGEST", 200)
    monkeypatch.setattr("kech.certificate.cells.BLOCK", 50)
    (tmp_path / "t.csv").write_text(f"c,note\n1,{'x' * 900}\n1,y\n2,y\n")

    assert dict(open_published(tmp_path / "t.csv").count(["c"]).items()) == {("1",): 2, ("2",): 1}
    assert not parted


@pytest.mark.parametrize("bits", [0, 3, 5, 62])
def test_cells_that_one_number_cannot_hold_are_counted(tmp_path, monkeypatch, bits):
    monkeypatch.setattr("kech.certificate.tally.MOST_BITS", bits)
    monkeypatch.setattr("kech.certificate.tally.BLOCK_ROWS", 150)
    monkeypatch.setattr("kech.certificate.cells.ROWS_AT_ONCE", 70)
    chance = random.Random(1)
    rows = [
        [None, chance.choice(["x", "y", None]), chance.randrange(9), chance.choice("abcdef"), i % 7] for i in range(500)
    ]
    columns = dict(zip("nabcd", map(list, zip(*rows, strict=True)), strict=True))
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")

    found = open_published(tmp_path / "t.parquet").count(["n", "a", "b", "c", "d"])
    expected = Counter((n, a, str(b), c, str(d)) for n, a, b, c, d in rows)
    assert dict(found.items()) == expected
    classes, group = found.group_by_first(3)
    firsts = Counter((n, a, str(b)) for n, a, b, _, _ in rows)
    assert dict(classes.items()) == firsts
    names = [cells for cells, _ in classes.items()]
    assert [names[i] for i in group] == [cells[:3] for cells, _ in found.items()]


def test_memory_grows_with_classes_not_with_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("kech.certificate.cells.BLOCK", 1 << 14)
    monkeypatch.setattr("kech.certificate.tally.BLOCK_ROWS", 10_000)
    path = write(tmp_path / "t.csv", ["c", "s"], [["*", "x"], ["b", "y"]] * 200_000)

    tracemalloc.start()
    try:
        measure(path, [STAR], ["s"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 2_000_000  # ten, where no counts are added up before the end


# Without a certificate


def test_table_that_holds_k(out):
    figures = check_table(out, ["age", "zip"], 3, sensitive=["disease"])

    assert figures == measure(out, PEOPLE_AXES, ["disease"]) | {"loss": None, "loss_per_column": {}}


def test_table_that_does_not(out):
    with pytest.raises(ClaimBroken, match="k: asked 4, found 3"):
        check_table(out, ["age", "zip"], 4)
    with pytest.raises(ClaimBroken, match="k: asked 2, found 1"):
        check_table(out, ["age", "disease"], 2)


def test_questions_that_are_wrong(out):
    with pytest.raises(NoSuchColumn, match="Did you mean 'disease'"):
        check_table(out, ["age"], 3, sensitive=["diseases"])
    with pytest.raises(NoSuchColumn):
        check_table(out, ["age", "ghost"], 3)
    with pytest.raises(NoSuchColumn):
        measure(out, [STAR])
    with pytest.raises(NoQuasiIdentifier):
        check_table(out, [], 3)
    with pytest.raises(BadOption):
        check_table(out, ["age"], 0)
    with pytest.raises(BadOption):
        check_table(out, ["age"], 3, format="xlsx")
    with pytest.raises(BadOption):
        measure(out, PEOPLE_AXES, delimiter="")


# What is never shown, and what is never imported

CANARY = "Kim7Canary"


def everything_said(error):
    """Texts that reach a log: the error, its causes, the printed traceback."""
    said = [*traceback.format_exception(error), str(error), repr(error), repr(error.__cause__)]
    assert error.__context__ is None or error.__suppress_context__
    return "".join(said)


odd_labels = [CANARY, f"[{CANARY}, 3]", f">= {CANARY}", f'{{"{CANARY}, b}}', f"low..{CANARY}"]


@pytest.mark.parametrize("axis", [NUMERIC, DATE, SET, ORDINAL], ids=["number", "date", "set", "ordered"])
@pytest.mark.parametrize("label", odd_labels)
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_unreadable_label_is_never_shown(tmp_path, axis, label, name):
    path = write(tmp_path / name, ["c"], [["*"]])
    certify(path, [axis], rows_in=1, k=1)
    write(path, ["c"], [[label]])

    for check in (check_certificate, lambda path: measure(path, [axis])):
        try:
            check(path)
        except KechError as error:
            assert CANARY not in everything_said(error)
        else:
            assert axis is SET and check is not check_certificate


@pytest.mark.parametrize(
    "content",
    [
        f"c,d\n{CANARY}\n",
        f"c,d\n{CANARY},{CANARY},{CANARY}\n",
        f'c,d\n"{CANARY},1\n',
        f'c,d\n"{CANARY}"{CANARY},1\n',
        f"c,d\n{CANARY}\0,1\n",
        f"c,d\n{CANARY}\udcff,1\n",
        f"{CANARY},{CANARY}\n1,2\n",
        f"c,d\n{CANARY},1\n",
        f"{CANARY},1\n{CANARY},1\n",
    ],
)
def test_cell_of_a_damaged_file_is_never_shown(tmp_path, content):
    path = write(tmp_path / "t.csv", ["c", "d"], [["1", "2"]])
    certify(path, [NUMERIC], kept=["d"], rows_in=1, k=1)
    path.write_bytes(content.encode(errors="surrogateescape"))

    with pytest.raises(KechError) as caught:
        check_certificate(path)

    assert CANARY not in everything_said(caught.value)


no_text = pyarrow.array([CANARY.encode() + b"\xff"])
unchecked = pyarrow.Array.from_buffers(pyarrow.string(), 1, no_text.buffers())


@pytest.mark.parametrize("array", [no_text, unchecked, pyarrow.array([[CANARY]])], ids=["bytes", "text", "list"])
def test_parquet_cell_that_is_no_text_is_never_shown(tmp_path, array):
    parquet.write_table(pyarrow.table([array], names=["c"]), tmp_path / "t.parquet")

    with pytest.raises(UnreadableFile) as caught:
        check_table(tmp_path / "t.parquet", ["c"], 1)

    assert CANARY not in everything_said(caught.value)


def test_text_of_a_malformed_axis_is_never_shown(tmp_path):
    path = write(tmp_path / "t.csv", ["c"], [["1"]])

    for axis in (STAR | {"axis": CANARY}, NUMERIC | {"domain": [0, CANARY]}, SET | {"values": CANARY}):
        with pytest.raises(BadOption) as caught:
            measure(path, [axis])
        assert CANARY not in everything_said(caught.value)


@in_one_folder
@given(data=st.data())
def test_text_put_into_a_certificate_is_never_shown(tmp_path, data):
    """Column names apart: those are named on purpose."""
    path = tmp_path / "out.csv"
    document = {"root": release(path)}
    spots = [spot for spot in places(document) if spot[1:] and not {"column", "sensitive", "kept"}.intersection(spot)]
    *parents, last = data.draw(st.sampled_from(spots))
    place = document
    for key in parents:
        place = place[key]
    odd_axis = {"column": "age", "axis": CANARY}
    place[last] = data.draw(st.sampled_from([CANARY, [CANARY], {CANARY: CANARY}, odd_axis]))
    beside(path).write_text(json.dumps(document["root"]) + data.draw(st.sampled_from(["", "", CANARY])))

    try:
        check_certificate(path)
    except KechError as error:
        assert CANARY not in everything_said(error)


def test_checker_shares_no_code_with_the_rest_of_kech():
    room = Path(kech.__file__).with_name("certificate")
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in room.glob("*.py")]
    assert len(trees) > 5
    names = {name for tree in trees for node in ast.walk(tree) for name in imported(node)}
    outside = {name for name in names if name.split(".")[0] not in sys.stdlib_module_names}

    assert {name for name in outside if not name.startswith("kech.certificate")} == {
        "kech.errors",
        "numpy",
        "numpy.typing",
        "pyarrow",
        "pyarrow.parquet",
    }
    assert not any(name.startswith("pyarrow") for tree in trees for node in tree.body for name in imported(node))


def imported(node):
    if isinstance(node, ast.ImportFrom):
        return [node.module]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


# Labels of any length are read in one pass

MANY = 1_000_000  # letters: who looks at pairs of them never ends
LONG_LABELS = {
    "dots of an ordinal": (ORDINAL, "." * MANY),
    "dots behind a value": (ORDINAL, "low" + "." * MANY),
    "commas of an interval": (NUMERIC, "[" + ", " * MANY),
    "digits": (NUMERIC, "1" * MANY + "x"),
    "an interval of digits": (NUMERIC, f"[1, {'1' * MANY}x]"),
    "an interval of dates": (DATE, "[" + "1920-01-01, " * MANY),
    "a set of nothing": (SET, "{" + ", " * MANY),
    "a set of spaces": (SET, "{a" + " " * MANY),
    "a string of quotes": (SET, '{"' + '\\"' * MANY),
    "dashes": (NUMERIC | {"form": "dash"}, "1-" * MANY),
    "guards": (NUMERIC, "'" * MANY + " "),
}


@pytest.fixture
def soon():
    """A minute: a thousand times what one pass takes, and a thousandth of what pairs of letters take."""

    def give_up(*_):
        raise TimeoutError("it takes more than one pass")

    if not hasattr(signal, "SIGALRM"):
        pytest.skip("Windows has no alarm")
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("case", LONG_LABELS)
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_long_label_is_read_in_one_pass(tmp_path, case, name, soon):
    axis, label = LONG_LABELS[case]
    path = write(tmp_path / name, ["c"], [[label]])
    with pytest.raises(ClaimBroken, match="1 rows have a label that its axis cannot read"):
        measure(path, [axis])


@pytest.mark.long
def test_ranges_are_read_as_before(tmp_path):
    order = ["a", "a.", "b", ".b"]
    axis = {"column": "c", "axis": "ordered", "order": order}
    for low, high in ((low, high) for low in order for high in order):
        label = f"{low}..{high}"
        first = [
            (label[:i], label[i + 2 :])
            for i in range(len(label) - 1)
            if label[i : i + 2] == ".." and label[:i] in order and label[i + 2 :] in order
        ]
        ranks = [(order.index(start), order.index(end)) for start, end in first]
        rising = [(start, end) for start, end in ranks if start <= end]
        if not rising:
            with pytest.raises(ClaimBroken, match="cannot read"):
                width_of(tmp_path, axis, label)
            continue
        start, end = rising[0]
        assert width_of(tmp_path, axis, label) == (end - start) / 3
        path = certify_rows(tmp_path / "range.csv", ("c",), [(label,)], [axis])
        for rank, value in enumerate(order):  # who has this value, twice, is one of two whom the range covers
            people = pyarrow.table({"c": [value, value, *order]})
            with kech.read_table(people, quasi_identifiers=["c"], axes={"c": order}) as population:
                covered = kech.compute_risk(path, population=population).k_map
            assert covered == end - start + 1 + 2 * (start <= rank <= end)

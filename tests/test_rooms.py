"""What the rooms that claim, check and write promise, one promise a test: each notices changes that no other did."""

import csv
import json
import math
import random
import re
from base64 import b64decode
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import kech
from kech._kernels import Widths
from kech.axes import RankAxis, build_line_axis, build_rank_axis, build_tree_axis, open_domain
from kech.axes.hierarchy import read_hierarchy
from kech.axes.levels import build_levels
from kech.axes.lines import multiples
from kech.axes.ranks import member
from kech.certificate import cells as certificate_cells
from kech.certificate import check_certificate, check_table, make_certificate
from kech.certificate.claims import broken_goals, with_suppressed
from kech.certificate.counting import count
from kech.certificate.document import check_goals
from kech.certificate.forms import as_brackets, published_columns
from kech.certificate.models import MODELS, model_figures
from kech.certificate.tally import Packing, meanwhile, tally
from kech.certificate.widths import width_reader, width_readers
from kech.cuts.dispatcher import cut_points
from kech.errors import (
    AlreadyReleased,
    BadCertificate,
    BadOption,
    BadTarget,
    CannotWrite,
    ClaimBroken,
    ColumnInTwoRoles,
    GoalNotMet,
    NoSuchFile,
    TooFewRows,
    UnreadableFile,
)
from kech.points.partition import build_partition, deal, tally_sensitive
from kech.points.points import build_points
from kech.release.ledger import Entry, open_ledger
from kech.release.published import find_pointers
from kech.release.release import as_json, pick_ledger, state_options
from kech.release.targets import check_elsewhere
from kech.request import Labels
from kech.system.progress import listen
from kech.tables.demo import nine_rows
from kech.tables.source import find_address

PLACES = {0: ["oslo", "bergen", "rome"], 1: ["north", "north", "south"], 2: ["all"] * 3}
PLAIN = {"cut": "local", "grid": "round", "protect": "full"}  # what every certificate of a usual release states


@pytest.fixture
def nine():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"], sensitive=["salary"]) as table:
        yield table


# -- certificate -----------------------------------------------------------------------------------------------------


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


def counted_by_class(rows):
    """A table with two labels and a sensitive cell in each row, and its cells in each class."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    table = certificate_cells.TextTable(["a", "b", "s"], lambda _: iter([columns]), lambda cell: cell)
    return table, count(table, ["a", "b"], ["s"])[1]


@pytest.mark.parametrize("depth", [None, 1, 2, 3])
def test_models_are_those_of_the_definitions(depth):
    """Classes are told apart by all their labels; the sensitive cells are numbers, written in two ways."""
    rng = random.Random(depth)
    goals = {"l": depth, "l_kind": "recursive", "c": 9} if depth else {}
    seen = set()
    for _ in range(150):
        classes = [rng.choices(range(-3, rng.randint(-2, 3)), k=rng.randint(1, 9)) for _ in range(rng.randint(1, 4))]
        rows = [(f"{i % 2}", f"{i}", rng.choice([f"{x}", f"{x}.0"])) for i, part in enumerate(classes) for x in part]
        table, within = counted_by_class(rows)
        found = model_figures(table, within, {}, goals)
        expected = model_figures_by_definition(classes, depth)
        assert {name: by_column["s"] for name, by_column in found.items()} == pytest.approx(expected)
        seen |= {name for name, figure in expected.items() if figure is None}
    assert seen == {"enhanced_beta", *(["recursive_c"] if depth and depth > 1 else [])}


def test_sensitive_columns_are_counted_apart_from_one_another(tmp_path):
    columns = {"a": ["x"] * 4, "s": ["p", "p", "p", "q"], "t": ["u", "v", "w", "u"]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    figures = check_table(tmp_path / "t.parquet", ["a"], 4, ["s", "t"])
    assert (figures["l"], figures["alpha"]) == ({"s": 2, "t": 3}, {"s": 0.75, "t": 0.5})
    assert (figures["classes"], figures["average_class"]) == (1, 4)


def figures_of(cells, read_as=None):
    """The models of a column in one class with two labels."""
    table, within = counted_by_class([("5", "x", cell) for cell in cells])
    found = model_figures(table, within, {"s": read_as} if read_as else {}, {})
    return {name: by_column["s"] for name, by_column in found.items()}


@pytest.mark.parametrize(
    ("cells", "read_as", "values", "ordered"),
    [
        (["1", "1.0", "2"], None, 2, True),
        (["1", "x"], None, 2, False),
        (["", None, ""], None, 1, False),
        (["0", "", None], None, 2, True),
        (["1e999", "2e999", "1"], {"kind": "number"}, 3, True),
        (["low", "odd", "high", "odd"], {"kind": "ordinal", "order": ["low", "high"]}, 3, True),
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
def test_sensitive_cells_are_read_as_numbers_dates_or_text(cells, read_as, values, ordered):
    """What cannot be read as the others are is a value of its own; empty cells are one value, below all others."""
    figures = figures_of(cells, read_as)
    assert (figures["l"], figures["t_ordered"] is not None) == (values, ordered)


def test_values_in_an_order_lie_on_a_line_as_they_are_named():
    """The first class holds the first of three values only, and the table half of it: 1/2 (1/2 + 1/4)."""
    table, within = counted_by_class([("1", "x", "b"), ("1", "x", "b"), ("2", "x", "c"), ("2", "x", "a")])
    for order, t in {"bac": 0.375, "abc": 0.25}.items():
        found = model_figures(table, within, {"s": {"kind": "ordinal", "order": [*order]}}, {})
        assert found["t_ordered"] == {"s": t}


@pytest.mark.parametrize(("kind", "ordered"), [("number", 0), ("text", None)])
def test_a_table_without_rows_tells_nothing(kind, ordered):
    table = certificate_cells.TextTable(["a", "s"], lambda _: iter([]), lambda cell: cell)
    found = model_figures(table, count(table, ["a"], ["s"])[1], {"s": {"kind": kind}}, {})
    assert found == {name: {"s": 0} for name in MODELS} | {"t_ordered": {"s": ordered}}


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
        assert str(caught.value).endswith(f"asked: {says}.")


ZERO_RECURSIVE = {"l": 0, "l_kind": "recursive", "c": 1}


def test_goals_up_to_their_limits():
    check_goals(
        "goals", {"l": 1, "l_kind": "recursive", "c": 0, "t": 0.0, "t_kind": "ordered", "alpha": 999_999_999_999_999}
    )
    for name, goals in {"t": {"t": 1e15}, "alpha": {"alpha": -1e-9}, "c": {"c": "1"}, "l": ZERO_RECURSIVE}.items():
        with pytest.raises(BadOption, match=rf"goals\.{name}\b.*malformed"):
            check_goals("goals", goals)


def test_a_certificate_is_checked_as_it_was_made(people, nine, tmp_path):
    """Values are compared in their order, and a recursive l is as deep as it was asked."""
    for name, made in {
        "ordered.csv": kech.make_release(people, k=5),
        "deep.csv": kech.make_release(nine, k=3, grid="exact", l=2, l_kind="recursive", c=3),
    }.items():
        document = made.write(tmp_path / name, ledger=False)
        assert check_certificate(tmp_path / name) | document["measured"] == check_certificate(tmp_path / name)
    assert document["measured"]["recursive_c"] == {"salary": 0.5}


def test_what_cannot_be_checked_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n1\n", "utf-8")
    with pytest.raises(BadOption, match=r"^k: it is a number of rows"):
        check_table(tmp_path / "t.csv", ["a"], 0)
    with pytest.raises(ColumnInTwoRoles) as refusal:
        check_table(tmp_path / "t.csv", ["a"], 2, ["a"])
    assert "as quasi-identifier and as sensitive." in str(refusal.value)


@pytest.mark.parametrize("kind", ["distinct", "entropy"])
def test_a_kind_of_l_is_known_with_c_and_without(kind):
    check_goals("goals", {"l": 2, "l_kind": kind})
    check_goals("goals", {"l": 2, "l_kind": kind, "c": 1})


VALUES = ([], {"salary": {"kind": "text", "order": [1]}}, {"salary": {"kind": "odd"}})


@pytest.mark.parametrize(
    ("place", "value"),
    [("certificate", 3), ("parameters.k", "3"), ("claims.goals", []), *(("values", value) for value in VALUES)],
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
    "axis": "numeric",
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
    document = make_certificate(
        tmp_path / "t.parquet",
        published_name="t.parquet",
        axes=[ENDS],
        sensitive=[],
        kept=[],
        rows_in=2,
        parameters={"k": 2},
        kech_version="0",
    )
    change(document)
    (tmp_path / "c.json").write_text(json.dumps(document), "utf-8")
    if place is None:
        assert check_certificate(tmp_path / "t.parquet", tmp_path / "c.json")["loss"] == pytest.approx(4 / 9)
    else:
        with pytest.raises(BadCertificate, match=f"{place}: it is missing or malformed"):
            check_certificate(tmp_path / "t.parquet", tmp_path / "c.json")


DASHED = {"column": "a", "axis": "numeric", "form": "dash", "domain": [0, 9]}


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
        (ENDS, ["-inf", "-inf"], "-inf"),
    ],
)
def test_a_cell_of_every_form_is_read_as_a_label(axis, cells, label):
    """Of ends that nobody writes none is read as a label that somebody does."""
    table = certificate_cells.TextTable(
        published_columns(axis), lambda _: iter([[[cell] for cell in cells]]), lambda cell: cell
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
def test_axes_that_nobody_can_read_are_refused(axes, says):
    with pytest.raises(BadOption, match=rf"^quasi_identifiers: {says}"):
        width_readers(axes)


@pytest.mark.parametrize(
    ("dialect", "option"),
    [({"format": "xlsx"}, "format"), *(({"delimiter": sign}, "delimiter") for sign in ("", ";;", '"', "\n", "\0", 5))],
)
def test_a_dialect_that_nobody_writes_is_refused(tmp_path, dialect, option):
    (tmp_path / "t.csv").write_text("a\n1\n1\n", "utf-8")
    with pytest.raises(BadOption, match=rf"^{option}: "):
        check_table(tmp_path / "t.csv", ["a"], 2, **dialect)
    assert check_table(tmp_path / "t.csv", ["a"], 2, delimiter="X")["rows"] == 2


def test_a_name_that_is_no_file_is_not_proposed_again(tmp_path):
    (tmp_path / "plan.toml").mkdir()
    (tmp_path / "plan.tom").touch()
    assert str(NoSuchFile(tmp_path / "plan.toml")).endswith(f"Did you mean {str(tmp_path / 'plan.tom')!r}?")
    (tmp_path / "plan.tom").unlink()
    assert "mean" not in str(NoSuchFile(tmp_path / "plan.toml"))


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"k": 10},
        {"k": 0},
        {"k": 3, "eps": 0.1},
        *({"k": 3, "cut": cut} for cut in ("best", ("local",), ["local"])),
    ],
)
def test_a_wish_that_cannot_be_kept_is_refused_before_rows_are_counted(nine, monkeypatch, wish):
    monkeypatch.setattr("kech.points.points.build_points", None)
    with pytest.raises((BadOption, TooFewRows)):
        kech.make_release(nine, **wish)


def test_labels_in_an_order_are_widened_only_where_that_is_asked_for():
    assert not RankAxis("a", np.zeros(1, np.int32), False, ("x",), True).widens
    assert not build_rank_axis("a", ["x"], ["x"], False, ordinal=True).widens
    assert build_rank_axis("a", ["x"], ["x"], False, ordinal=True, widens=True).widens


def test_a_table_of_csv_can_be_read_twice(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n1,"x\ny"\n2,z\n', "utf-8")
    table = certificate_cells.open_published(tmp_path / "t.csv")
    batches = [list(table.batches(["b", "a"])) for _ in range(2)]
    assert batches == [[[["x\ny", "z"], ["1", "2"]]]] * 2
    assert [dict(table.count(["b"]).items()) for _ in range(2)] == [{("x\ny",): 1, ("z",): 1}] * 2


def test_a_folder_is_no_file_and_a_torn_file_is_damaged(tmp_path):
    with pytest.raises(UnreadableFile, match="Is a directory"):
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


@pytest.mark.parametrize("bits", [[0], [62], [31, 31], [31, 32], [40, 0, 40, 0], [30] * 7, [1] * 70])
def test_numbers_of_columns_are_packed_into_one_and_found_again(bits):
    rng = np.random.default_rng(5)
    numbers = [rng.integers(0, 1 << width, 40) for width in bits]
    rows = np.r_[:40, 5, 7, 5]
    packing = Packing(bits)
    packed = packing.pack([part[rows] for part in numbers])
    assert packed[40:].tolist() == packed[[5, 7, 5]].tolist()
    assert len(set(packed.tolist())) == len(set(zip(*(part.tolist() for part in numbers), strict=True)))
    assert [part.tolist() for part in packing.unpack(packed)] == [part[rows].tolist() for part in numbers]
    assert packing.pack([part[:3] for part in numbers]).tolist() == packed[:3].tolist()


@pytest.mark.parametrize("workers", [1, 2])
def test_while_one_thing_is_used_the_next_are_made(workers):
    taken = []
    found = meanwhile(lambda x: 2 * x, (taken.append(x) or x for x in range(6)), workers)
    assert next(found) == 0
    assert taken == list(range(workers + 1))
    assert list(found) == [2, 4, 6, 8, 10]


@pytest.mark.parametrize("together", [0, 3, 1_000])
def test_combinations_of_cells_are_counted_and_those_of_the_first_columns(monkeypatch, together):
    monkeypatch.setattr("kech.certificate.tally.TOGETHER", together)
    rng = random.Random(together)
    rows = [(rng.choice("ab"), rng.choice(["x", None, "", "y"]), f"{rng.randrange(12)}") for _ in range(90)]
    batches = [[list(cells) for cells in zip(*rows[i : i + 9], strict=True)] for i in range(0, 90, 9)]
    counts = tally(batches, 3)
    assert dict(counts.items()) == Counter(rows)
    first, group = counts.first(2)
    assert dict(first.items()) == Counter(row[:2] for row in rows)
    known = [combination for combination, _ in first.items()]
    assert [known[at] for at in group] == [combination[:2] for combination, _ in counts.items()]


LINES = {
    "plain": b"a,b\n1,x\n2,y\n1,x\n",
    "no last end": b"a,b\n1,x\n1,x",
    "ends of Windows": b"a,b\r\n1,x\r\n1,x\r\n",
    "quoted": b'a,b\n"1","x,y"\n"1","x,y"\n"a ""b""",\n',
    "empty cells": b"a,b\n,\n,\n1,\n",
    "letters": "\ufeffa,b\n\u00fc,\u20ac\n\u00fc,\u20ac\n".encode(),
    "one row": b"a,b\n1,x\n",
}


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@pytest.mark.parametrize("written", LINES.values(), ids=LINES)
def test_lines_that_are_rows_are_counted_at_once(tmp_path, monkeypatch, written, block):
    """Never one row after the other, which would count alike, and take longer."""
    monkeypatch.setattr(certificate_cells, "BLOCK", block)
    (tmp_path / "t.csv").write_bytes(written)
    _, *texts = csv.reader(written.decode("utf-8-sig").splitlines())
    rows = [[cell or None for cell in row] for row in texts]
    counts = certificate_cells._count_lines(tmp_path / "t.csv", ",", ["a", "b"], ["b", "a"])
    assert dict(counts.items()) == Counter((b, a) for a, b in rows)
    assert set(counts.texts[1]) == {a for a, _ in rows}


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
    "a header of two lines": b'"a\n",b\n1,x\n',
}


@pytest.mark.parametrize("written", NO_ROWS.values(), ids=NO_ROWS)
def test_lines_that_may_be_no_rows_are_left_to_the_reader_of_rows(tmp_path, written):
    (tmp_path / "t.csv").write_bytes(written)
    with pytest.raises(csv.Error):
        certificate_cells._count_lines(tmp_path / "t.csv", ",", ["a", "b"], ["a"])


# -- release ---------------------------------------------------------------------------------------------------------


def test_the_sizes_of_classes_are_drawn(nine):
    drawn = kech.make_release(nine, k=3, grid="exact").plot()
    ((box,),) = (bars.get_paths() for bars in drawn.collections)
    assert (box.vertices[:4, 0].mean(), box.vertices[:4, 1].max()) == (3, 3)
    assert kech.make_release(nine, k=3, grid="exact").plot(ax=drawn) is drawn


def test_a_table_in_a_database_needs_a_named_certificate(nine, tmp_path):
    with pytest.raises(BadOption, match=r"^certificate: .* name a file"):
        kech.make_release(nine, k=3).write(f"duckdb:{tmp_path / 'base.db'}#safe")
    assert list(tmp_path.iterdir()) == []


def test_the_source_in_a_database_is_no_target(nine, tmp_path):
    address = f"duckdb:{tmp_path / 'base.db'}#safe"
    kech.make_release(nine, k=3).write(address, tmp_path / "c.json")
    with kech.read_table(address, quasi_identifiers=["age"]) as table:
        with pytest.raises(BadTarget, match="source table itself"):
            kech.make_release(table, k=3).write(address, tmp_path / "d.json")


def test_a_folder_in_the_folder_of_the_source_is_no_target(tmp_path):
    (tmp_path / "people").mkdir()
    pq.write_table(nine_rows(), tmp_path / "people" / "a.parquet")
    address = find_address("spark://host:7077/safe")
    with kech.read_table(tmp_path / "people", quasi_identifiers=["age"]) as table:
        for identity in (f"{(tmp_path / 'people').as_uri()}/safe", (tmp_path / "people").as_uri()):
            with pytest.raises(BadTarget, match="source table"):
                check_elsewhere(address, identity, table)
        check_elsewhere(address, f"{(tmp_path / 'people').as_uri()}2", table)
        check_elsewhere(address, None, table)
    with kech.read_table(nine_rows(), quasi_identifiers=["age"]) as frame:  # it lies nowhere
        check_elsewhere(address, frame.source.path.resolve().as_uri(), frame)


def test_the_components_at_an_eps_must_keep_the_goals():
    table = pa.table({"a": [0, 1, 2, 10, 11, 12, 50, 51, 52], "s": list("xxxyyyxyz")})
    with kech.read_table(table, quasi_identifiers=["a"], sensitive=["s"]) as read:
        found = kech.make_release(read, cut="regime", grid="exact", eps=1 / 52, l=1)
        with pytest.raises(GoalNotMet, match="l = 2 was asked, and the components at this eps reach l = 1"):
            kech.make_release(read, cut="regime", grid="exact", eps=1 / 52, l=2)
    assert found.partition.sizes.tolist() == [3, 3, 3]
    reached = {"k": 3, "k_reached": True, "cut": "regime", "grid": "exact", "protect": "none", "eps": 1 / 52}
    assert found.parameters == {**reached, "l": 1, "l_kind": "distinct"}


PEOPLE = {
    "name": list("abcdefghij"),
    "age": [21, 22, 23, 24, 25, 41, 42, 43, 44, 45],
    "size": list("SMSMSMSMSL"),
    "code": ["=1", *(f"u{i}" for i in range(8)), "=1"],  # nine values in ten rows: not yet nearly all
    "note": [f"n{i}" for i in range(10)],
    "n": list(range(10)),
    "other": ["x"] * 10,
}


@pytest.fixture
def people():
    roles = {
        "quasi_identifiers": ["age"],
        "sensitive": ["size"],
        "keep": ["note", "n", "code"],
        "identifiers": ["name"],
    }
    with kech.read_table(pa.table(PEOPLE), **roles, axes={"size": ["S", "M", "L"]}) as table:
        yield table


@pytest.mark.parametrize("role", ["keep", "quasi_identifiers"])
def test_texts_of_their_own_are_told_of_though_some_are_missing(role, tmp_path):
    texts = [None if i % 3 else "so " * i + "ill" for i in range(60)]
    roles = {"quasi_identifiers": ["age"], "keep": []}
    roles[role] = [*roles[role], "story"]
    with kech.read_table(pa.table({"age": [i % 5 for i in range(60)], "story": texts}), **roles) as table:
        made = kech.make_release(table, k=3)
        document = made.write(tmp_path / "t.csv", ledger=False)
        told = made.summarize(tmp_path / "t.csv", document)
    expected = {"keep": (["story"], []), "quasi_identifiers": ([], ["story"])}
    assert (told["identifying"], told["rare_texts"]) == expected[role]
    assert find_pointers(tmp_path / "t.csv", document) == told["identifying"]


def test_what_is_told_of_a_release(people, tmp_path):
    made = kech.make_release(people, k=5, grid=10)
    path, mapping = tmp_path / "t.csv", tmp_path / "m.json"
    document = made.write(path, mapping=mapping)
    told = made.summarize(path, document, mapping=mapping)
    assert document["values"] == {"size": {"kind": "ordinal", "order": ["S", "M", "L"]}}
    assert document["parameters"] == {"k": 5, "cut": "local", "grid": 10, "protect": "none", "owner_secret": True}
    assert told == document["claims"] | {
        "file": str(path),
        "certificate": f"{path}.certificate.json",
        "measured": document["measured"],
        "coarse": None,
        "dropped": ["name", "other"],
        "ledger": told["ledger"],
        "identifying": ["note", "n"],
        "identifying_together": [["size", "code"]],
        "rare_texts": [],
        "unhidden_edges": ["age"],
        "mapping": str(mapping),
    }
    assert told["ledger"]["verdict"] == "first"
    behind = json.loads(mapping.read_text("utf-8"))
    assert behind["released"] == document["file"]["sha256"]
    assert [(one["labels"], [value for value, _ in one["values"]["age"]]) for one in behind["classes"]] == [
        ({"age": "[20, 29]"}, ["21", "22", "23", "24", "25"]),
        ({"age": "[40, 49]"}, ["41", "42", "43", "44", "45"]),
    ]
    auto = kech.make_release(people, k=5)
    again = auto.write(tmp_path / "u.csv", tmp_path / "u.json", ledger=False)
    bare = auto.summarize(tmp_path / "u.csv", again, tmp_path / "u.json")
    assert (bare["certificate"], bare["mapping"], bare["unhidden_edges"]) == (str(tmp_path / "u.json"), None, [])
    assert again["parameters"] == PLAIN | {"k": 5, "owner_secret": True, "no_ledger": True}
    assert again["quasi_identifiers"][0]["grid"] == "round"


def test_every_target_holds_the_named_columns_and_only_csv_guards_formulas(people, tmp_path):
    made = kech.make_release(people, k=5, grid=10)
    base = tmp_path / "base.db"
    made.write(tmp_path / "t.csv", ledger=False)
    made.write(tmp_path / "t.parquet", ledger=False)
    made.write(f"duckdb:{base}#safe", tmp_path / "c.json", ledger=False)
    with duckdb.connect(str(base), read_only=True) as database:
        stored = database.sql("FROM safe").to_arrow_table()
    files = {"'=1": pc.read_csv(tmp_path / "t.csv"), "=1": pq.read_table(tmp_path / "t.parquet")}
    for guarded, found in [*files.items(), ("=1", stored)]:
        assert found.column_names == ["age", "size", "code", "note", "n"]
        assert sorted(found["n"].to_pylist()) == PEOPLE["n"]
        assert Counter(found["code"].to_pylist()) == Counter(guarded if x == "=1" else x for x in PEOPLE["code"])
        assert Counter(found["age"].to_pylist()) == {"[20, 29]": 5, "[40, 49]": 5}


def test_a_mapping_and_a_certificate_hold_text_as_it_stands(tmp_path):
    table = pa.table({"größe": ["=1", "=1", "ü", "ü"]})
    with kech.read_table(table, quasi_identifiers=["größe"], axes={"größe": "set"}) as read:
        kech.make_release(read, k=2).write(tmp_path / "t.csv", mapping=tmp_path / "m.json")
    behind = json.loads((tmp_path / "m.json").read_text("utf-8"))["classes"]
    assert sorted(one["values"]["größe"] for one in behind) == [[["=1", 2]], [["ü", 2]]]
    written = (tmp_path / "t.csv.certificate.json").read_text("utf-8")
    assert '"größe"' in written
    assert written.endswith("\n}\n")


@pytest.mark.parametrize(("k", "suppressed", "loss"), [(3, "3", "0.2308"), (5, "&lt;5", "0")])
def test_a_notebook_shows_the_figures_of_the_certificate(k, suppressed, loss):
    """Where the number of suppressed rows is hidden, so is what they lose."""
    table = pa.table({"a": [1] * 5 + [2] * 5 + [50, 90, 99]})
    with kech.read_table(table, quasi_identifiers=["a"]) as read:
        shown = kech.make_release(read, k=k, suppress=0.25, cut="minimal", grid="exact")._repr_html_()
    cells = re.findall("<td[^>]*>([^<]*)</td>", shown)
    assert cells == ["columns", "a", "loss", loss, "suppressed", suppressed]


def test_an_l_of_no_kind_counts_values():
    figures = {name: {"s": None} for name in MODELS} | {"l": {"s": 2}}
    assert broken_goals({"l": 3}, figures) == ["l of 's': asked 3, found 2"]
    assert broken_goals({"l": 2}, figures) == []


def test_one_row_left_out_loses_everything_too():
    """No release says 1, but a certificate that others wrote may."""
    figures = {"rows": 9, "loss": 0.5, "loss_per_column": {"a": 0.5}}
    assert with_suppressed(figures, 1)["loss_per_column"] == {"a": pytest.approx(0.55)}
    assert with_suppressed(figures, 0) == figures


@pytest.mark.parametrize("cut", ["minimal", "domain"])
@pytest.mark.parametrize(("k", "rows_in", "suppressed", "loss"), [(3, 13, 3, 3 / 13), (5, None, "<5", 0)])
def test_rows_that_are_left_out_are_counted_and_lose_everything(tmp_path, cut, k, rows_in, suppressed, loss):
    """Few of them are not counted in public: then the loss is that of the published rows."""
    table = pa.table({"a": [1] * 5 + [2] * 5 + [50, 90, 99], "s": list("xyxyxyxyxyxyx")})
    with kech.read_table(table, quasi_identifiers=["a"], sensitive=["s"]) as read:
        made = kech.make_release(read, k=k, suppress=0.25, cut=cut, grid="exact")
        claims = made.write(tmp_path / "t.csv", ledger=False)["claims"]
    assert (made.partition.rows_in, made.partition.suppressed) == (13, 3)
    assert (claims["rows_in"], claims["suppressed"], claims["rows"]) == (rows_in, suppressed, 10)
    assert claims["loss"] == pytest.approx(loss)
    drawn = {"owner_secret": True} if cut == "minimal" else {}
    assert made.parameters == {"k": k, "cut": cut, "grid": "exact", "protect": "none", "suppress": 0.25, **drawn}


@pytest.mark.parametrize(
    ("k", "says"),
    [(3, "k=3 was asked; the smallest class would have 1 rows"), (None, "two or more; the smallest class")],
)
def test_components_that_hide_nobody_are_no_release(nine, k, says):
    with pytest.raises(GoalNotMet, match=says):
        kech.make_release(nine, k=k, cut="regime", grid="exact", eps=0)


def test_coarse_axes_are_measured_by_the_domain_of_the_fine_ones(tmp_path):
    with kech.read_table(pa.table({"a": [i * 7 % 100 for i in range(200)]}), quasi_identifiers=["a"]) as read:
        fine, coarse = (kech.make_release(read, k=5, protect="none", max_points=most) for most in (None, 6))
        even = kech.make_release(read, k=5, cut="domain")
        document = coarse.write(tmp_path / "t.csv")
        told = coarse.summarize(tmp_path / "t.csv", document)
    assert coarse.axes[0]["domain"] == fine.axes[0]["domain"] == even.axes[0]["domain"] == [4, 95]
    assert (fine.axes[0]["protect"], even.axes[0]["grid"]) == ("none", "round")
    assert coarse.partition.classes <= 6 < fine.partition.classes
    assert fine.parameters == PLAIN | {"k": 5, "protect": "none", "owner_secret": True}
    assert (
        told["coarse"]
        == document["parameters"]["coarse"]
        == {"step": pytest.approx(0.2102, abs=1e-4), "eps_error": 15 / 91}
    )


def test_edges_that_serve_no_k_that_is_asked_go_before_others():
    """Those of k = 50 are few; with an eps alone, those of k = 2 all stay, though they are more than those of 3."""
    with kech.read_table(pa.table({"a": list(range(200))}), quasi_identifiers=["a"]) as read:
        assert kech.make_release(read, k=50, protect="none", max_points=20).parameters["coarse"]["step"] == 2**-14
        assert kech.make_release(read, k=2, protect="none", max_points=20).parameters["coarse"]["step"] == 2**-4
    with kech.read_table(pa.table({"a": [i * i * 7 % 1000 for i in range(40)]}), quasi_identifiers=["a"]) as read:
        at_eps = {"cut": "regime", "eps": 0.5, "protect": "none", "max_points": 8}
        alone, two, three = (kech.make_release(read, k=k, **at_eps).parameters["coarse"] for k in (None, 2, 3))
    assert alone == two
    assert (two["step"], three["step"]) == (pytest.approx(2**-2.5), 2**-14)


def test_components_of_two_rows_are_a_release():
    with kech.read_table(pa.table({"a": [0, 1, 10, 11]}), quasi_identifiers=["a"]) as read:
        made = kech.make_release(read, cut="regime", grid="exact", eps=0.1)
    assert made.partition.sizes.tolist() == [2, 2]


def test_a_call_and_a_plan_that_say_nothing_say_the_same(nine):
    """The defaults of the library are those of the command line."""
    bare, planned = kech.make_release(nine, k=3), kech.make_release(nine, kech.Request().override(k=3))
    assert bare.parameters == planned.parameters == PLAIN | {"k": 3, "owner_secret": True}
    assert bare.labels == planned.labels
    assert bare.version == version("kech")
    assert kech.make_release(nine, k=3, cut="regime").parameters["reading"] == "strict"


def test_every_wish_reaches_the_cut(nine, monkeypatch):
    heard = []

    def heed(points, ks, cut, wishes):
        heard.append(wishes)
        return cut_points(points, ks, cut, wishes)

    monkeypatch.setattr("kech.release.release.cut_points", heed)
    asked_for = {"suppress": 0.1, "effort": "quick", "seed": 7}
    kech.make_release(nine, k=3, l=2, **asked_for)
    assert {name: getattr(heard[0], name) for name in asked_for} == asked_for
    assert heard[0].goals.for_values() == {"l": 2, "l_kind": "distinct"}


@pytest.mark.parametrize("eps", [0, 0.3])
def test_the_components_at_an_eps_are_printed_on_the_grid_of_the_k_they_reach(eps):
    """Edges that hide two rows part the pairs; where components are larger, only edges that hide as many are left."""
    pairs = [10 * i for i in range(12) for _ in range(2)]
    with kech.read_table(pa.table({"a": pairs}), quasi_identifiers=["a"]) as read:
        made = kech.make_release(read, cut="regime", protect="none", eps=eps)
        with pytest.raises(BadOption, match="every row"):
            kech.make_release(read, cut="regime", protect="none", eps=eps, suppress=0.1)
    assert made.partition.k == (2 if eps == 0 else 24)
    assert [axis.k for axis in made.partition.points.axes] == [made.partition.k]


def test_columns_are_judged_by_the_rows_that_are_published(tmp_path):
    """The notes of the ten rows that stay are all different; those of the rows that are left out are not."""
    columns = {"a": [1] * 5 + [2] * 5 + [50, 90, 99], "note": [*map(str, range(10)), "0", "0", "0"]}
    with kech.read_table(pa.table(columns), quasi_identifiers=["a"], keep=["note"]) as read:
        made = kech.make_release(read, k=3, suppress=0.25, cut="minimal", grid="exact")
        told = made.summarize(tmp_path / "t.csv", made.write(tmp_path / "t.csv", ledger=False))
    assert (told["rows"], told["identifying"]) == (10, ["note"])


def test_a_release_in_another_form_has_heard_nothing_of_the_ledger_yet(nine, tmp_path):
    made = kech.make_release(nine, k=3)
    made.write(tmp_path / "t.pq", ledger=False)
    assert (len(made.words), replace(made, request=made.request.override(labels="dash")).words) == (1, [])


def test_labels_are_texts_in_a_frame_and_listed_in_a_file(nine, tmp_path):
    """A .pq is a Parquet file like others."""
    made = kech.make_release(nine, k=3)
    document = made.write(tmp_path / "t.pq")
    written = pq.read_table(tmp_path / "t.pq")
    for table in (made.frame, written):
        assert table.schema.types == [pa.string(), pa.string(), nine_rows().schema.field("salary").type]
    assert Counter(written["age"].to_pylist()) == Counter(made.frame["age"].to_pylist())
    assert check_certificate(tmp_path / "t.pq")["rows"] == document["claims"]["rows"] == 9
    stored = pq.read_metadata(tmp_path / "t.pq").row_group(0)
    known = {stored.column(i).path_in_schema: stored.column(i).is_stats_set for i in range(stored.num_columns)}
    assert known == {"age": False, "zip": False, "salary": True}
    assert (tmp_path / "t.pq").read_bytes().count(b"ARROW:schema") == 1
    told = b64decode(pq.read_metadata(tmp_path / "t.pq").metadata[b"ARROW:schema"])
    assert pa.ipc.read_schema(pa.py_buffer(told)).types == written.schema.types


def test_numbers_of_a_csv_file_are_published_as_numbers(tmp_path):
    pc.write_csv(nine_rows(), tmp_path / "in.csv")
    with kech.read_table(tmp_path / "in.csv", quasi_identifiers=["age", "zip"], sensitive=["salary"]) as table:
        kech.make_release(table, k=3).write(tmp_path / "t.parquet", ledger=False)
    assert pq.read_schema(tmp_path / "t.parquet").types == [pa.string(), pa.string(), pa.int64()]


def test_intervals_that_a_form_cannot_write_are_no_release(nine):
    with pytest.raises(BadOption, match="brackets, dash, columns"):
        kech.make_release(nine, k=3, labels="points")
    with kech.read_table(pa.table({"x": [-3, -3, -2, -2]}), quasi_identifiers=["x"]) as read:
        with pytest.raises(BadOption, match="minus"):
            kech.make_release(read, k=4, grid="exact", labels="dash")
    with kech.read_table(pa.table({"x": [1, 1], "x_low": [1, 2]}), quasi_identifiers=["x"], keep=["x_low"]) as read:
        with pytest.raises(BadOption, match="'x_low'"):
            kech.make_release(read, k=2, labels="columns")


def test_a_file_that_loses_more_than_its_partition_is_not_certified(nine, tmp_path):
    """One that loses as much is, and is called what it is whatever its name."""
    fine, coarse = (kech.make_release(nine, k=k, grid="exact") for k in (3, 9))
    coarse.write(tmp_path / "t.csv", ledger=False)
    assert coarse.certify(tmp_path / "t.csv", "t.pq", "csv", {})["file"]["format"] == "csv"
    with pytest.raises(ClaimBroken) as caught:
        fine.certify(tmp_path / "t.csv", "t.csv", "csv", {})
    assert str(caught.value).endswith("loss: the written file loses more or less than the partition.")


def test_targets_that_hold_something_else_are_refused(tmp_path):
    pc.write_csv(nine_rows(), tmp_path / "in.csv")
    for name in ("plain", "t.csv.certificate.json", "here"):
        (tmp_path / name).mkdir()
    with kech.read_table(tmp_path / "in.csv", quasi_identifiers=["age", "zip"]) as table:
        made = kech.make_release(table, k=3)

        def refused(says, path, certificate=None, mapping=None):
            places = {
                name: place and tmp_path / place
                for name, place in {"certificate": certificate, "mapping": mapping}.items()
            }
            with pytest.raises(BadTarget, match=says):
                made.write(tmp_path / path, **places)

        refused("it is a folder; name a file", "plain")
        refused("kech writes .csv, .parquet, .pq", "out.txt")
        refused("a folder stands where its certificate would go", "t.csv")
        refused("its folder does not exist", "nowhere/u.csv")
        refused("it is the source table itself", "in.csv")
        refused("the release itself goes there", "u.csv", "here/../u.csv")
        refused("it is the source table itself", "u.csv", "in.csv")
        refused(r"a mapping is written as \.json", "u.csv", None, "m.txt")
        refused("the release or its certificate goes there", "u.csv", None, "u.csv.certificate.json")
        refused("the release or its certificate goes there", "u.csv", "c.json", "here/../c.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "in.csv", "plain", "t.csv.certificate.json"]


def test_a_folder_that_is_the_source_takes_no_file(tmp_path):
    (tmp_path / "people").mkdir()
    pq.write_table(nine_rows(), tmp_path / "people" / "a.parquet")
    with kech.read_table(tmp_path / "people", quasi_identifiers=["age"]) as table:
        made = kech.make_release(table, k=3)
        with pytest.raises(BadTarget, match="it lies in the folder of the source table"):
            made.write(tmp_path / "people" / "b.parquet")
        assert made.write(tmp_path / "people.csv")["claims"]["rows"] == 9


def test_a_release_is_no_source_until_it_is_edited(nine, tmp_path):
    path = tmp_path / "t.csv"
    kech.make_release(nine, k=3).write(path)
    with kech.read_table(path, quasi_identifiers=["age"]) as table, pytest.raises(AlreadyReleased):
        kech.make_release(table, k=3)
    path.write_text(path.read_text("utf-8") + "5,5,5\n", "utf-8")
    with kech.read_table(path, quasi_identifiers=["salary"]) as table:
        assert kech.make_release(table, k=3).partition.rows_in == 10


def test_a_certificate_is_written_as_people_write():
    assert as_json({"column": "Größe"}) == '{\n  "column": "Größe"\n}\n'


def test_which_ledger_is_asked_and_what_a_reader_is_told_of_it():
    own = open_ledger()
    assert pick_ledger(own) is own
    assert type(pick_ledger(True)) is type(own)
    assert pick_ledger(False) is None
    assert state_options(False, False) == {"no_ledger": True}
    assert state_options(own, True) == state_options(True, True) == {"allow_composition": True}
    assert state_options(own, False) == state_options(True, False) == {}


def test_nothing_is_allowed_by_saying_nothing(nine, tmp_path):
    written = kech.make_release(nine, k=3).write(tmp_path / "t.csv")
    assert written["parameters"] == PLAIN | {"k": 3, "owner_secret": True}


def test_a_release_strikes_out_what_a_killed_run_had_entered(nine, tmp_path):
    ledger, draft = open_ledger(), tmp_path / ".t.csv.1.kech-draft"
    draft.touch()
    with ledger.lock() as book:
        ledger.add(book, Entry("another table", "", "f" * 64, 5, "2026-01-01T00:00:00Z", draft=str(draft)))
    document = kech.make_release(nine, k=3).write(tmp_path / "t.csv")
    assert [held.release for held in ledger.read().releases] == [document["file"]["sha256"]]


def test_a_table_that_others_see_stays_in_the_ledger_though_its_certificate_is_lost(nine, tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    address = f"duckdb:{tmp_path / 'base.db'}#safe"
    monkeypatch.setattr("kech.release.release.put_in_place", full)
    with pytest.raises(CannotWrite):
        kech.make_release(nine, k=3).write(address, tmp_path / "c.json")
    with duckdb.connect(str(tmp_path / "base.db"), read_only=True) as database:
        assert database.sql("FROM safe").to_arrow_table().num_rows == 9
    assert [held.k for held in open_ledger().read().releases] == [3]


def test_whoever_listens_hears_what_is_done(nine, tmp_path):
    made, heard = kech.make_release(nine, k=3), []
    with listen(lambda doing, _: heard.append(doing)):
        file = made.write(tmp_path / "t.csv", ledger=False)
        table = made.write(f"duckdb:{tmp_path / 'base.db'}#safe", tmp_path / "c.json", ledger=False)
    assert file["claims"] == table["claims"]
    last = "looking for earlier releases"
    assert heard == ["writing", "checking the written file", last, "writing", "checking the written table", last]


def test_a_release_needs_a_k_or_an_eps(nine):
    with pytest.raises(BadOption, match=r"^k: say among how many rows"):
        kech.make_release(nine)
    with pytest.raises(BadOption, match=r"^eps: only cut=\"regime\""):
        kech.make_release(nine, eps=0.1)
    for eps in (-0.1, float("inf"), float("nan")):
        with pytest.raises(BadOption, match=r"^eps: .*0 or more"):
            kech.make_release(nine, cut="regime", eps=eps)


# -- partition -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", [(1, 11), (2, 10), (4, 8), (5, 7), (6, 6), (9, 3), (11, 1)])
def test_rows_of_a_divided_point_are_dealt_by_their_values(split):
    """The j-th of n rows that a class takes stands at (j + 1/2) / n beside the rows of the point, lined up by value."""
    values = "xxxxxxxyyyyz"
    table = pa.table({"a": [1] * 12 + [2] * 3, "s": [*values, *"wwv"]})
    with kech.read_table(table, quasi_identifiers=["a"], sensitive=["s"]) as read:
        points = build_points(read, labels=Labels(grid="exact"), with_sensitive=True).at(2)
    made = build_partition(points, np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([*split, 3]))
    dealt = deal(made)
    turns = sorted((Fraction(2 * j + 1, 2 * rows), taker) for taker, rows in enumerate(split) for j in range(rows))
    expected = Counter([(1, "w"), (1, "w"), (1, "v")])
    expected.update((taker, value) for value, (_, taker) in zip(values, turns, strict=True))
    _, codes = np.unique(dealt.points.sensitive.codes[dealt.point, 0], return_inverse=True)
    found = Counter()
    for group, code, rows in zip(dealt.group.tolist(), codes.tolist(), dealt.rows.tolist(), strict=True):
        found[group, "vwxyz"[code]] += rows
    assert found == expected
    assert dealt.sizes.tolist() == made.sizes.tolist() == [split[0], split[1] + 3]
    assert dealt.labels(0) == made.labels(0) == ["1", "[1, 2]"]
    assert dealt.points.axes is points.axes
    assert made.once("itself", lambda partition: partition) is made
    assert dealt.made == deal(made).made == {}
    assert tally_sensitive(made) == []
    assert len(tally_sensitive(dealt)) == 1


def test_rows_of_two_divided_points_are_dealt_each_among_its_own_classes():
    table = pa.table({"a": [1] * 4 + [2] * 4 + [3] * 2, "s": list("xxyyuuvvww")})
    with kech.read_table(table, quasi_identifiers=["a"], sensitive=["s"]) as read:
        points = build_points(read, labels=Labels(grid="exact"), with_sensitive=True).at(2)
    made = build_partition(points, np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 2]), np.array([2, 2, 2, 2, 2]))
    dealt = deal(made)
    _, codes = np.unique(dealt.points.sensitive.codes[dealt.point, 0], return_inverse=True)
    shares = zip(dealt.group.tolist(), codes.tolist(), dealt.rows.tolist(), strict=True)
    assert {(group, "uvwxy"[code]): rows for group, code, rows in shares} == {
        (0, "x"): 1, (0, "y"): 1,
        (1, "x"): 1, (1, "y"): 1, (1, "u"): 1, (1, "v"): 1,
        (2, "u"): 1, (2, "v"): 1, (2, "w"): 2,
    }  # fmt: skip


# -- axes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[20, 21, 25, 25, 30] * 40, ["a", "b", "b", "c", "c"] * 40])
@pytest.mark.parametrize(
    ("grid", "protect"), [("round", "full"), ("round", "ends"), ("round", "none"), ("exact", None)]
)
def test_a_certificate_tells_which_labels_are_widened(values, grid, protect, tmp_path):
    """On a line it says how the edges were chosen; of a set or an order, only that they are widened."""
    with kech.read_table(pa.table({"a": values}), quasi_identifiers=["a"]) as read:
        made = kech.make_release(read, k=40, grid=grid, protect=protect)
        told = made.summarize(tmp_path / "t.csv", made.write(tmp_path / "t.csv", ledger=False))
    line = isinstance(values[0], int)
    assert made.axes[0].get("grid") == (grid if line else None)
    assert made.axes[0].get("protect") == ((protect or "none") if line or protect == "full" else None)
    assert [axis.widens for axis in made.partition.points.axes] == [protect == "full"]
    assert told["unhidden_edges"] == (["a"] if line and grid == "exact" else [])


def test_a_column_without_values_has_no_labels_to_widen():
    nothing = pa.table({"a": pa.array([None] * 9, pa.int64()), "b": pa.array([None] * 9, pa.string())})
    with kech.read_table(nothing, quasi_identifiers=["a", "b"], axes={"a": "number"}) as read:
        made = kech.make_release(read, k=3)
    assert made.axes[0] == {"column": "a", "axis": "set", "values": 1, "rare": 0}


def line_of(values, grid, *, has_null=False, is_date=False):
    """An axis of numbers, each in as many rows as it is named."""
    values, counts = np.unique(np.array(values, float), return_counts=True)
    return build_line_axis("c", values, counts, has_null, is_date=is_date, grid=grid)


def test_codes_are_as_wide_as_the_kernels_take_them():
    towns = build_tree_axis("c", ["oslo", "rome"], read_hierarchy(PLACES), False)
    lines = [line_of(range(40), grid) for grid in ("exact", "round", "steps", 5)]
    made = [*lines, build_rank_axis("c", "ab", "ab", False, ordinal=True), towns]
    assert {axis.codes.dtype for axis in made} == {np.dtype(np.int32)}
    assert [axis.grid for axis in lines] == ["exact", "round", "round", 5]


def test_numbers_of_sixteen_digits_and_more_are_too_long_for_a_step():
    with pytest.raises(BadOption, match=r"^grid: the step is too small"):
        line_of([1, 1e15], 1.0)
    longest = line_of([1e15 - 3, 1e15 - 1], 1.0)
    assert longest.labels(longest.codes, longest.codes) == ["999999999999997", "999999999999999"]


LAST_DAY = 253402214400.0  # 9999-12-31


@pytest.mark.parametrize(
    ("step", "label"),
    [(7, "[9999-12-30, 9999-12-31]"), (1.5, "[9999-12-31 00:00:00, 9999-12-31 23:59:59)")],
)
def test_steps_of_dates_end_with_the_calendar(step, label):
    axis = line_of([LAST_DAY], step, is_date=True)
    assert (axis.labels(axis.codes, axis.codes), axis.grid) == ([label], step)


def test_multiples_of_a_step_are_those_that_are_written():
    """As long as floats know its power of ten."""
    assert multiples(np.array([5.0, 19.0]), 1e-22).tolist() == [5e-22, 1.9e-21]
    assert multiples(np.array([3.0]), 0.1).tolist() == [0.3]
    assert multiples(np.array([3.0, -2.0]), 10.0).tolist() == [30, -20]


def test_boundaries_are_one_fewer_than_codes():
    assert [len(line_of(range(n), "exact").hides) for n in (1, 2, 5)] == [0, 1, 4]


def test_a_tree_of_no_values_is_an_empty_set():
    axis = build_tree_axis("c", [], read_hierarchy(PLACES), True)
    assert axis.parameters(()) == {"column": "c", "axis": "set", "values": 1, "rare": 0}


def closed_ranges(axis):
    """For every range of codes the range that its label stands for."""
    lo, hi = np.triu_indices(axis.size)
    first, last = axis.close(lo, hi)
    return {(a, b): (c, d) for a, b, c, d in zip(*(x.tolist() for x in (lo, hi, first, last)), strict=True)}


def test_a_range_is_closed_to_its_cells_or_to_everything():
    """NULL, the last code, is closed alone to itself; both open tails together, or NULL with a value, are all."""
    four = [0, 10, 20, 30]
    closed = line_of(four, 10, has_null=True)
    pairs = {(a, b): (a, b) for b in range(4) for a in range(b + 1)}
    assert closed_ranges(closed) == pairs | {(a, 4): (0, 4) for a in range(4)} | {(4, 4): (4, 4)}
    assert closed_ranges(line_of(four, 10)) == pairs
    tails = {"low": np.array([-np.inf, 10, 20, 30]), "high": np.array([9, 19, 29, np.inf]), "span": None}
    opened = replace(closed, **tails)
    assert closed_ranges(opened) == closed_ranges(closed) | {(0, 3): (0, 4)}
    halves = replace(opened, hides=np.array([0, 9, 0]))
    assert halves.cells[0].tolist() == [0, 0, 2, 2, 4]
    assert halves.cells[1].tolist() == [1, 1, 3, 3, 4]
    expected = {(a, b): (a // 2 * 2, b // 2 * 2 + 1) for a, b in pairs}
    everything = dict.fromkeys([*((a, b) for a, b in pairs if a < 2 <= b), *((a, 4) for a in range(4))], (0, 4))
    assert closed_ranges(halves) == expected | everything | {(4, 4): (4, 4)}


def test_new_values_find_a_stretch_or_none():
    """Stretches that reach up to their end do not hold it, unless the data has a unit; NaN is NULL."""
    half_open = line_of([0, 7], 0.5, has_null=True)
    assert half_open.encode(np.array([-0.1, 0, 0.4, 0.5, 7, 7.5, np.nan])).tolist() == [-1, 0, 0, -1, 1, -1, 2]
    whole = line_of([0, 17], 5)
    assert whole.encode(np.array([-1, 0, 4, 5, 15, 19, 20, np.nan])).tolist() == [-1, 0, 0, -1, 1, 1, -1, -1]
    joined = replace(line_of([0, 10, 20, 30], 10), hides=np.array([0, 9, 0]))
    assert joined.encode(np.array([5, 15, 25, 35, 45])).tolist() == [0, 0, 2, 2, -1]


def test_texts_in_cells_of_several_have_the_code_of_the_first():
    alone = build_rank_axis("c", "abcde", "abcde", True, ordinal=True)
    cells = replace(alone, starts=np.array([0, 2, 4]))
    assert [x.tolist() for x in alone.cells] == [[0, 1, 2, 3, 4, 5]] * 2
    assert [x.tolist() for x in cells.cells] == [[0, 0, 2, 2, 4, 5], [1, 1, 3, 3, 4, 5]]
    assert cells.encode(["a", "b", "d", "e", "x", None]).tolist() == [0, 0, 2, 4, -1, 5]
    assert alone.encode(["a", "b", "d", "e", "x", None]).tolist() == [0, 1, 3, 4, -1, 5]
    assert cells.encode([]).tolist() == []
    assert replace(cells, has_null=False).encode(["b", None]).tolist() == [0, -1]


@pytest.mark.parametrize("sign", [1, -1])
def test_close_decimals_far_on_either_side_are_as_wide_as_they_are_written(sign):
    axis = line_of([sign * x for x in (1000000000.123456789, 1000000000.2, 1000000000.3)], "exact")
    read = width_reader(axis.parameters([]))
    lo, hi = np.array([0, 1, 0]), np.array([1, 2, 2])
    assert axis.widths(lo, hi).tolist() == pytest.approx([read(label) for label in axis.labels(lo, hi)], abs=1e-12)


@pytest.mark.parametrize("has_null", [False, True])
@pytest.mark.parametrize("ordinal", [False, True])
@pytest.mark.parametrize("values", [1, 2, 3, 50, 51, 53])
def test_orders_and_sets_are_as_wide_in_the_kernels_as_by_definition(values, ordinal, has_null):
    """Ranks apart over those of the whole axis; more than fifty values of a set, or all, are everything."""
    texts = [f"v{i:02}" for i in range(values)]
    axis, kernel = build_rank_axis("c", texts, texts, has_null, ordinal=ordinal), Widths()
    axis.add_to(kernel)
    lo, hi = np.triu_indices(axis.size)
    steps = max(values - 1 if ordinal else axis.size - 1, 1)

    def width(a, b):
        lost = b == values and a < b
        lost |= not ordinal and (b - a >= 50 or b - a == values - 1 > 0)
        return 1 if lost and a < b else 0 if a == b else (b - a) / steps

    expected = [width(a, b) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)]
    assert axis.widths(lo, hi).tolist() == pytest.approx(expected)
    assert [kernel.width(0, a, b) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)] == pytest.approx(expected)


def node_axis(level, *, has_null):
    """One level of the three towns."""
    tree = read_hierarchy(PLACES)
    return build_levels(build_tree_axis("c", ["oslo", "bergen", "rome"], tree, has_null))[level].axis


@pytest.mark.parametrize("has_null", [False, True])
def test_the_nodes_of_a_level_are_printed_alone_or_as_the_root(has_null):
    axis = node_axis(1, has_null=has_null)
    leaves = 3 + has_null
    lo, hi = (np.array(ends) for ends in zip(*[(a, b) for b in range(axis.size) for a in range(b + 1)], strict=True))
    first, last = axis.close(lo, hi)
    assert all((a, b) in {(c, d), (0, 1), (0, axis.size - 1)} for a, b, c, d in zip(first, last, lo, hi, strict=True))
    labels = axis.labels(first, last)
    alone = ["north", "south", None]
    assert labels == [alone[a] if a == b else "*" if b == 2 else "all" for a, b in zip(lo, hi, strict=True)]
    share = {"north": 1 / (leaves - 1), "south": 0, "all": 2 / (leaves - 1), "*": 1, None: 0}
    assert axis.widths(lo, hi).tolist() == [share[label] for label in labels]
    kernel = Widths()
    axis.add_to(kernel)
    assert [kernel.width(0, a, b) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)] == axis.widths(
        lo, hi
    ).tolist()
    assert (axis.kind, axis.widens) == ("tree", False)
    assert axis.encode(["rome", "oslo", "bergen", "paris", None]).tolist() == [1, 0, 0, -1, 2 if has_null else -1]
    assert axis.encode([]).dtype == np.int32
    assert axis.parameters(labels) == {
        "column": "c",
        "axis": "tree",
        "leaves": leaves,
        "labels": {**({"*": 4} if has_null else {}), "all": 3, "north": 2},
    }


@pytest.mark.parametrize(("rows", "widths"), [([1, 0, 0], [0, 0, 0]), ([2, 1, 0], [0, 1, 1]), ([1, 1, 1], [0, 0.5, 1])])
def test_nodes_are_measured_by_the_leaves_that_are_held(rows, widths):
    tree = read_hierarchy(PLACES)
    levels = build_levels(build_tree_axis("c", ["oslo", "bergen", "rome"], tree, False, given=False))
    axes = [level.measure(np.array(rows)) for level in levels]
    assert [float(axis.widths(np.array([0]), np.array([0]))[0]) for axis in axes] == widths


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("X", "X"),
        ("", '""'),
        (" a", '" a"'),
        ("ü,b", '"ü,b"'),
        ("{", '"{"'),
        ("}", '"}"'),
        ('"', r'"\""'),
        ("\\", r'"\\"'),
    ],
)
def test_members_of_a_set_are_quoted_where_they_could_be_misread(text, written):
    assert member(text) == written


@pytest.mark.parametrize(
    ("edges", "unit", "domain"),
    [
        ([], 0.0, (0, 1)),
        ([], 5.0, (0, 5)),
        ([10], 1.0, (8, 11)),
        ([10], 0.0, (9, 11)),
        ([10, 20], 1.0, (-1, 30)),
        ([10, 20], 0.0, (0, 30)),
        ([10, 20, 40], 1.0, (-6, 55)),
        ([10, 30], 10.0, (-20, 50)),
        ([-1e9, -1e9 + 1], 0.0, (-1e9 - 1000, -1e9 + 1001)),
        ([0, 1e307], 0.0, (-1e307, 1e307)),
        ([9999992.4], 0.1, (9999992.2, 9999992.5)),  # 9999992.4 - 0.2 is 9999992.200000001 in floats
    ],
)
def test_open_tails_end_one_step_beyond_the_outermost_edges(edges, unit, domain):
    """The mean step, more than nothing: a unit more where there is one, and never lost in the digits of the ends."""
    assert open_domain(np.array(edges, float), unit, False) == domain


def test_open_tails_of_dates_end_with_the_calendar():
    first, last = -62135596800.0, 253402214400.0
    assert open_domain(np.array([first + 5, last - 5]), 1.0, True) == (first, last)

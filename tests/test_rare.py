"""Values that fewer than k people hold: spelled out in no label, counted where they are, told apart by no figure."""

import csv
import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from cutting import say_labels
from kech.axes.hierarchy import build_prefix_tree
from kech.certificate import make_certificate
from kech.errors import ClaimBroken
from kech.points.partition import largest_radius, mean_loss
from kech.points.points import build_points
from oracles import listed, means, smallest_class, table_loss
from strategies import random_case, seeds, unhurried

K = 5
GRADES = ["none", "low", "middle", "high", "top"]


def people(rows=160, seed=1):
    """Jobs with many rare ones, postcodes, an order with rare ends, ages; some cells are missing."""
    rng = np.random.default_rng(seed)
    jobs = [f"job{i:02}" for i in np.minimum(rng.zipf(1.6, rows), 60)]
    codes = [f"{a}{b}{c}" for a, b, c in zip(*(np.minimum(rng.geometric(0.5, rows), 9) for _ in range(3)), strict=True)]
    grades = rng.choice(GRADES, rows, p=[0.02, 0.4, 0.16, 0.4, 0.02]).tolist()
    return pa.table(
        {
            "job": [None if i % 23 == 7 else job for i, job in enumerate(jobs)],
            "code": codes,
            "grade": grades,
            "age": rng.integers(20, 60, rows),
        }
    )


GRADED = {"grade": kech.AxisChoice("ordered", order=tuple(GRADES))}
AXES = {"job": "set", **GRADED}


def release_of(table, columns, folder, **asked):
    with kech.read_table(
        table, quasi_identifiers=columns, axes={k: v for k, v in AXES.items() if k in columns}
    ) as read:
        made = kech.make_release(read, **{"k": K, "effort": "quick", **asked})
        made.write(folder / "safe.csv", ledger=False)
    with (folder / "safe.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return rows, json.loads((folder / "safe.csv.certificate.json").read_text("utf-8"))


def rare_in(values):
    return {value for value, count in Counter(values).items() if value is not None and count < K}


@pytest.mark.parametrize(
    "asked",
    [{}, {"grid": "exact"}, {"cut": "minimal"}, {"cut": "regime"}, {"cut": "domain"}, {"max_points": 60}],
    ids=str,
)
def test_no_label_spells_out_a_value_that_fewer_than_k_rows_hold(tmp_path, asked):
    table = people(90 if asked.get("cut") == "minimal" else 160)
    rows, document = release_of(table, ["job", "grade", "age"], tmp_path, **asked)
    jobs, grades = ({row[name] for row in rows} for name in ("job", "grade"))
    rare = rare_in(table["job"].to_pylist())
    assert len(rare) > 5
    assert not rare & {member for label in jobs if label != "*" for member in listed(label)[0]}
    ends = {end for label in grades for end in label.split("..")}
    assert not ends & (rare_in(table["grade"].to_pylist()) or {"nothing"})
    axes = document["quasi_identifiers"]
    labels = [tuple(row[axis["column"]] or None for axis in axes) for row in rows]
    assert smallest_class(labels) >= K
    assert table_loss(labels, axes) == pytest.approx(document["claims"]["loss"], abs=1e-9)
    assert kech.check_certificate(tmp_path / "safe.csv")["k"] >= K
    assert not any(value in json.dumps(document) for value in rare)


@pytest.mark.parametrize("block", seeds(6))
def test_random_tables_spell_out_no_rare_value(block):
    """Sets and ranges of any table, read by an outside reader of labels; rare by the rows that are published."""
    for seed in range(block * 12, block * 12 + 12):
        case = random_case(seed)
        with kech.read_table(case.table, **case.roles) as table:
            made = kech.make_release(table, k=case.k, grid=case.grid, effort="quick")
        for axis in made.axes:
            cells = case.table.column(axis["column"]).to_pylist()
            held = Counter(str(cell).lower() if isinstance(cell, bool) else str(cell) for cell in cells)
            labels = {label for label in made.labels[axis["column"]] if label not in (None, "*")}
            spelled = {text for label in labels for text in listed(label)[0]} if axis["axis"] == "set" else set()
            spelled |= {end for label in labels for end in label.split("..")} if axis["axis"] == "ordered" else set()
            assert all(held[text] >= case.k for text in spelled - {""}), (seed, axis["column"])


def test_a_class_with_a_rare_value_counts_all_of_them(tmp_path):
    table = people()
    rows, document = release_of(table, ["job"], tmp_path)
    rare = rare_in(table["job"].to_pylist())
    counts = {listed(row["job"])[1] for row in rows}
    assert counts == {0, len(rare)}
    assert document["quasi_identifiers"][0] | {"protect": "full"} == {
        "column": "job",
        "axis": "set",
        "values": len(set(table["job"].to_pylist())),
        "rare": len(rare),
        "protect": "full",
    }


def test_rare_is_judged_by_the_published_rows():
    table = pa.table({"job": ["a"] * 40 + ["b"] * K, "age": [30] * 40 + [30] * (K - 1) + [900]})
    with kech.read_table(table, quasi_identifiers=["job", "age"], axes={"job": "set"}) as read:
        points = build_points(read, labels=say_labels(grid="exact"))
        left = read.without(points.mappings, np.flatnonzero(points.codes[:, 1] == 1))
        rest = build_points(left, labels=say_labels(grid="exact"))
    assert [each.published_at(K).axes[0].rare.tolist() for each in (points, rest)] == [[False, False], [False, True]]


def postcodes(*extra):
    codes = ["A111"] * 20 + ["A112"] * 20 + ["A211"] * 20 + [f"A3{i:02}" for i in range(20) for _ in range(K)]
    return pa.table({"code": [*codes, *extra], "x": [*([0, 1] * 80), *(0 for _ in extra)]})


@pytest.mark.parametrize("cut", ["local", "domain"])
def test_postcodes_are_counted_as_k_rows_tell(tmp_path, cut):
    """A rare leaf shows in no count, wherever it lies in the tree."""
    found = []
    for extra in ([], ["A114"], ["A219"], ["A114", "A219"]):
        rows, document = release_of(postcodes(*extra), ["code"], tmp_path, cut=cut)
        axis = document["quasi_identifiers"][0]
        assert axis["axis"] == "hierarchy" and not {row["code"] for row in rows} & {*extra}
        found.append(axis["leaves"])
    assert found == [found[0]] * 4


def test_a_node_of_the_lattice_loses_what_its_release_loses():
    with kech.read_table(people(), quasi_identifiers=["code", "grade"], axes={"code": "star", **GRADED}) as read:
        lattice = kech.compute_lattice(read)
        for k in (1, 2, K, 9):
            node = lattice.best(k)
            partition = lattice.partition(node.levels, k)
            assert partition.k >= k
            assert mean_loss(partition) == pytest.approx(node.loss, abs=1e-12)
            assert lattice.loss_of(node.levels, k) == pytest.approx(node.loss, abs=1e-12)


# -- missing values ------------------------------------------------------------------------------------------

EUROPE = {0: ["fr", "de", "pl"], 1: ["West", "West", "East"], 2: ["Europe"] * 3}


@pytest.mark.parametrize("cut", ["local", "domain", "regime"])
def test_a_missing_country_is_not_in_europe(tmp_path, cut):
    countries = ["fr"] * 4 + ["pl"] * 3 + [None] * 2
    table = pa.table({"country": countries, "age": [30] * 9})
    with kech.read_table(table, quasi_identifiers=["country", "age"], hierarchies={"country": EUROPE}) as read:
        made = kech.make_release(read, k=3, cut=cut)
        made.write(tmp_path / "safe.csv", ledger=False)
    with (tmp_path / "safe.csv").open(encoding="utf-8", newline="") as file:
        labels = Counter(row["country"] for row in csv.DictReader(file))
    assert labels["*"] >= 2 and "Europe" not in labels
    figures = kech.check_certificate(tmp_path / "safe.csv")
    assert figures["loss_per_column"]["country"] >= labels["*"] / 9


def test_where_nothing_is_missing_the_root_is_printed():
    table = pa.table({"country": ["fr"] * 2 + ["pl"] * 2 + [None] * 4})
    with kech.read_table(table, quasi_identifiers=["country"], hierarchies={"country": EUROPE}) as read:
        made = kech.make_release(read, k=4)
    assert sorted(map(str, made.labels["country"])) == ["Europe", "None"]
    assert made.axes[0] == {"column": "country", "axis": "hierarchy", "leaves": 4, "labels": {"Europe": 3}}


# -- what a reader can recount -------------------------------------------------------------------------------


def forged(folder, labels, axis, k=3):
    """A file with a certificate that was made without kech's own search."""
    path = folder / "safe.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["job", "x"], *([label, "1"] for label in labels)])
    return make_certificate(
        path,
        published_name="safe.csv",
        axes=[{"column": "job", "axis": "set", **axis}],
        sensitive=[],
        kept=["x"],
        rows_in=len(labels),
        parameters={"k": k},
        kech_version="0",
    )


@pytest.mark.parametrize(
    ("labels", "axis", "holds"),
    [
        (["{a, b}"] * 6, {"values": 2, "rare": 0}, True),
        (["{a, b}"] * 5, {"values": 2, "rare": 0}, False),
        (["{a, b}"] * 5, {"values": 2}, True),  # of an older version, which promised nothing
        (["{a, b}"] * 5 + ["*"] * 3, {"values": 2, "rare": 0}, True),
        (["{a, b}"] * 3 + ["{b, c}"] * 6, {"values": 3, "rare": 0}, True),
        (["{a, b}"] * 3 + ["{c, d}"] * 9, {"values": 4, "rare": 0}, False),
        (
            ["d"] * 2 + ["{b, d, e}"] * 2 + ["a"] * 2 + ["{b, c}"] * 2 + ["{a, b, c, d, e}"] * 3,
            {"values": 5, "rare": 0},
            2,
        ),
        (["{a, 2 rare values}"] * 4, {"values": 3, "rare": 2}, True),
        (["{a, 9 rare values}"] * 4, {"values": 10, "rare": 9}, False),
        (["{a, 2 rare values}"] * 4, {"values": 4, "rare": 3}, False),
        (["a"] * 3 + ['{"2 rare values"}'] * 3, {"values": 2, "rare": 0}, True),
    ],
)
def test_more_values_than_rows_can_hold_are_refused(tmp_path, labels, axis, holds):
    k = 3 if holds is True or not holds else holds
    if holds:
        assert forged(tmp_path, labels, axis, k)["claims"]["k"] >= k
        return
    with pytest.raises(ClaimBroken):
        forged(tmp_path, labels, axis, k)


# -- readers of such labels ----------------------------------------------------------------------------------


def test_a_linked_class_covers_the_rare_values_of_the_table(tmp_path):
    table = people()
    published, certificate = release_of(table, ["job", "age"], tmp_path)
    job, age = ({**axis, "hidden": rare_in(table["job"].to_pylist())} for axis in certificate["quasi_identifiers"])
    people_of = list(zip(table["job"].to_pylist(), table["age"].to_pylist(), strict=True))
    classes = Counter((row["job"], row["age"]) for row in published)
    covered = {
        label: sum(means(label[0], held[0], job) and means(label[1], held[1], age) for held in people_of)
        for label in classes
    }
    with kech.read_table(table, quasi_identifiers=["job", "age"], axes={"job": "set"}) as read:
        risk = kech.compute_risk(tmp_path / "safe.csv", population=read).to_json()
        assert kech.run_attacks(tmp_path / "safe.csv", read)
    assert all(covered[label] >= rows for label, rows in classes.items())
    assert risk["k_map"] == min(covered.values())
    expected = sum(rows / covered[label] for label, rows in classes.items()) / len(published)
    assert risk["marketer"]["average"] == pytest.approx(expected)


@pytest.mark.parametrize(("ks", "is_nested"), [((K, 160), True), ((160, K), False)])
def test_a_release_of_a_larger_k_holds_the_rare_values_of_a_smaller_one(run, folder, ks, is_nested):
    """Merged classes of the same table are nested, though more values are rare; finer ones are not."""
    table = people(160)
    pyarrow.csv.write_csv(table, folder / "people.csv")
    words = ("--qi", "job", "--axis", "job=set", "--effort", "quick", "--json")
    first, second = (
        run("release", folder / "people.csv", "-o", folder / f"{k}.csv", "--k", k, *words).json for k in ks
    )
    assert first["ledger"]["verdict"] == "first"
    if is_nested:
        assert second["ledger"]["verdict"] == "nested"
    else:
        assert "This one is not a coarsening of it" in second["message"]


def test_prefixes_are_counted_by_hand():
    tree = build_prefix_tree(["111", "112", "121", "211"])
    rows = np.array([5, 5, 1, 5])
    assert tree.known_sizes(rows, 5)[:, 0].tolist() == [1, 3, 4, 8]
    assert tree.known_sizes(rows, 5)[:, 2].tolist() == [1, 2, 4, 8]
    assert tree.known_sizes(rows, 5)[:, 3].tolist() == [1, 2, 3, 8]


@given(st.lists(st.text("012", min_size=3, max_size=4), min_size=1, max_size=12, unique=True), st.data())
@settings(unhurried, max_examples=30)
def test_a_label_of_a_built_tree_never_counts_one_value(codes, data):
    """Counts grow upward, and follow from which nodes k rows hold."""
    tree = build_prefix_tree(codes)
    rows = np.array(data.draw(st.lists(st.integers(1, 7), min_size=len(codes), max_size=len(codes))))
    sizes = tree.known_sizes(rows, K)
    held = np.stack(
        [np.bincount(tree.level_codes(level), rows)[tree.level_codes(level)] for level in range(tree.height)]
    )

    assert (sizes[0] == 1).all() and (sizes[1:] >= 2).all()
    assert (np.diff(sizes, axis=0) >= 0).all()
    assert (np.diff(sizes, axis=0)[held[:-1] >= K] >= 1).all()


@pytest.mark.parametrize("cut", ["local", "minimal", "domain"])
def test_a_prefix_of_postcodes_that_few_rows_hold_is_not_free(tmp_path, cut):
    """All rows were printed as `N10*`, `N11*` ... of width 0: loss 0 and eps 0 by labels that name no postcode."""
    table = pa.table({"postcode": [f"N{10 + i // 4}{i % 4}" for i in range(60) for _ in range(2)]})
    with kech.read_table(table, quasi_identifiers=["postcode"]) as read:
        release = kech.make_release(read, k=K, cut=cut, effort="quick")
        release.write(tmp_path / "safe.csv", ledger=False)
        (seen,) = kech.compute_preview(release).columns

    checked = kech.check_certificate(tmp_path / "safe.csv")
    assert checked["loss"] == pytest.approx(mean_loss(release.partition))
    assert checked["loss"] > 0 and seen.exact == 0
    assert cut == "domain" or largest_radius(release.partition) > 0


ODD = {"star": ("town", {"kind": "star"}), "codes": ("code", {}), "ordered": ("grade", {"kind": "ordered"})}


@pytest.mark.parametrize("whose", [{"person": "who"}, {"rows_are_people": True}], ids=["people", "rows"])
@pytest.mark.parametrize(("kind", "cut"), [*((kind, "domain") for kind in ODD), ("star", "local"), ("star", "minimal")])
def test_a_value_that_only_suppressed_rows_hold_shows_in_no_parameter(tmp_path, kind, cut, whose):
    column, choice = ODD[kind]
    values = {"town": "abcdq", "code": ["101", "102", "201", "203", "999"], "grade": GRADES}[column]
    choice = choice | ({"order": GRADES} if kind == "ordered" else {})
    rows = [(f"p{i}", values[i % 4]) for i in range(40)]
    found = []
    for others in ([], [("odd", values[4])], [("odd", values[4])] * 2):
        frame = pa.table(dict(zip(("who", column), map(list, zip(*rows, *others, strict=True)), strict=True)))
        with kech.read_table(frame, quasi_identifiers=column, axes={column: choice}, **whose) as table:
            made = kech.make_release(table, k=3, cut=cut, suppress=0.1, effort="quick")
            certificate = made.write(tmp_path / "safe.csv", ledger=False)
        assert certificate["claims"]["rows"] == 40
        found.append(certificate["quasi_identifiers"])

    assert found[0] == found[1] == found[2]

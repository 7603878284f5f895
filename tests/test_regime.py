"""The regime cut publishes the components at one eps, found by definition here."""

import csv
import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import kech
from cutting import cut, say_labels
from kech.errors import BadOption, GoalNotMet, TooFewRows
from kech.points.points import build_points
from kech.tables.demo import nine_rows, write_csv
from topology_oracles import (
    KINDS,
    all_radii,
    betti_numbers,
    build_filtration,
    components,
    coordinates,
    distances,
    line_points,
    mixed_points,
    simplex_eps,
)

COLUMNS = ["age", "zip"]
SIX_AND_THREE = {("[22, 47]", "[47602, 47678]"): 6, ("[38, 52]", "[47905, 47909]"): 3}


def classes(partition):
    """The points of each class."""
    return {frozenset(partition.point[partition.group == g].tolist()) for g in range(partition.classes)}


def first_eps(points, k, reading):
    """The smallest eps at which all components have k rows and, by definition, the reading holds."""
    radii, distance = all_radii(points, "box"), distances(points, "box")
    for eps in sorted({0.0, *radii.values()}):
        parts = components(distance, eps)
        full = all(simplex_eps(points, part, "box") <= eps for part in parts)
        holes = betti_numbers(radii, eps, max(len(points.axes) - 1, 1))[1:]
        holds = full if reading == "strict" else not any(holes)
        if holds and min(points.weights[list(part)].sum() for part in parts) >= k:
            return eps
    raise AssertionError("one simplex of all rows is always there")


# The cut


@pytest.mark.parametrize("reading", ["strict", "homological"])
@pytest.mark.parametrize("seed", range(2))
def test_classes_are_the_components_at_the_smallest_eps_that_holds(reading, seed):
    if reading == "homological":
        pytest.importorskip("ripser")
    rng = np.random.default_rng(seed)
    kinds = list(KINDS)
    for i in range(40):
        shape = int(rng.integers(2, 8)), int(rng.integers(1, 4))
        points = line_points(coordinates(rng, kinds[i // 2 % 8], *shape)) if i % 2 else mixed_points(rng, *shape)
        ks = range(1, points.rows + 1)
        for k, partition in zip(ks, cut(points, ks, "regime", reading=reading), strict=True):
            at_k = points.published_at(k)
            parts = components(distances(at_k, "box"), first_eps(at_k, k, reading))
            assert partition.k >= k
            assert partition.sizes.sum() == points.rows
            assert all(any(part <= group for group in classes(partition)) for part in parts)
            if len({printed(at_k, part) for part in parts}) == len(parts):
                assert classes(partition) == parts


def printed(points, part):
    """The closed box around some points."""
    codes = points.codes[list(part)].astype(np.int64)
    ends = zip(points.axes, codes.min(axis=0), codes.max(axis=0), strict=True)
    return tuple(int(end) for axis, lo, hi in ends for end in axis.close(lo, hi))


def test_components_at_an_eps_are_its_classes():
    rng = np.random.default_rng(3)
    for _ in range(40):
        points = line_points(rng.integers(0, 30, (40, 1)))
        eps = float(rng.random() / 10)
        (partition,) = cut(points, [1], "regime", eps=eps)
        assert classes(partition) == components(distances(points, "box"), eps)


# Releases


@pytest.fixture
def town():
    """A table of every kind of column, with NULLs, twins and two crowds that no chain of people connects."""
    rng = np.random.default_rng(5)
    ages = np.append(rng.integers(20, 30, 60), rng.integers(60, 70, 60))
    return pa.table(
        {
            "age": ages,
            "city": pa.array(np.where(ages < 40, "north", "south")),
            "seen": pa.array([None if age == 25 else f"2024-01-{age % 28 + 1:02}" for age in ages]),
            "pay": rng.integers(1, 9, 120),
        }
    )


@pytest.mark.parametrize("grid", ["exact", "round"])
@pytest.mark.parametrize("choice", [{"k": 5}, {"k": 7, "reading": "homological"}, {"eps": 0.3}, {"eps": 0.2, "k": 4}])
def test_a_release_of_any_table_keeps_its_promise(town, tmp_path, grid, choice):
    if "reading" in choice:
        pytest.importorskip("ripser")
    with kech.read_table(town, quasi_identifiers=["age", "city", "seen"], sensitive=["pay"]) as table:
        release = kech.make_release(table, cut="regime", grid=grid, **choice)
        claims = release.write(tmp_path / "out.csv", ledger=False)["claims"]
        figures = kech.check_certificate(tmp_path / "out.csv")
    rows = read_rows(tmp_path / "out.csv", ["age", "city", "seen"])

    assert sum(rows.values()) == 120
    assert min(rows.values()) == figures["k"] >= choice.get("k", 1)
    assert (claims["k"], claims["classes"]) == (figures["k"], len(rows))
    assert release.parameters["cut"] == "regime"


def test_the_components_of_two_crowds_are_two_classes(town):
    with kech.read_table(town, quasi_identifiers=["age", "city"]) as table:
        release = kech.make_release(table, cut="regime", grid="exact", eps=0.2)

    assert release.partition.sizes.tolist() == [60, 60]
    assert release.parameters == {
        "k": 60,
        "k_reached": True,
        "cut": "regime",
        "grid": "exact",
        "protect": "none",
        "eps": 0.2,
    }


def test_the_eps_of_a_release_is_a_radius_of_the_table():
    with kech.read_table(nine_rows(), quasi_identifiers=COLUMNS) as table:
        tree = build_filtration(build_points(table, labels=say_labels(grid="exact")))
        for eps in np.unique(tree.birth):
            for radius, change in ((eps, 0), (np.nextafter(eps, 0), -1)):
                made = kech.make_release(table, k=1, cut="regime", grid="exact", eps=float(max(radius, 0)))
                assert made.partition.k == tree.weight[tree.nodes_at(max(radius, 0))].min()
                assert change == 0 or eps == 0 or made.partition.classes > len(tree.nodes_at(eps))


def test_an_eps_that_hides_nobody_is_refused_unless_asked_for(tmp_path):
    with kech.read_table(nine_rows(), quasi_identifiers=COLUMNS) as table:
        with pytest.raises(GoalNotMet, match="smallest class would have 1 row"):
            kech.make_release(table, cut="regime", grid="exact", eps=0.0)
        assert kech.make_release(table, k=1, cut="regime", grid="exact", eps=0.0).partition.k == 1


@pytest.mark.parametrize(
    ("seed", "rows", "eps"), [(7, 15, 0.3), (8, 15, 0.3), (51, 12, 0.25), (3, 150, 0.1), (4, 90, 0.2)]
)
def test_on_a_grid_components_are_those_for_two_rows_and_edges_hide_as_many_as_the_classes_hold(seed, rows, eps):
    """The first three need a second, coarser grid: on the first one classes with equal labels join."""
    rng = np.random.default_rng(seed)
    rng.integers(8, 60)
    frame = pa.table({"a": rng.integers(0, 60, rows), "b": rng.integers(0, 3, rows)})
    with kech.read_table(frame, quasi_identifiers=["a", "b"]) as table:
        points = build_points(table, labels=say_labels(grid="round")).published_at(2)
        partition = kech.make_release(table, cut="regime", eps=eps).partition
    parts = components(distances(points, "box"), eps)
    assert all(any(part <= group for group in classes(partition)) for part in parts)
    assert {axis.k for axis in partition.points.axes} == {partition.k}


def test_the_spectrum_of_the_regime_cut_shows_the_regimes():
    with kech.read_table(nine_rows(), quasi_identifiers=COLUMNS) as table:
        rows = kech.compute_spectrum(table, k=[2, 3, 4], cut="regime", grid="exact").rows()

    assert [(row["k"], row["cut"], row["classes"], row["eps"]) for row in rows] == [
        (k, "regime", 1, 0.5) for k in (2, 3, 4)
    ]


def test_refusals_of_the_library(town):
    with kech.read_table(town, quasi_identifiers=["age", "city"]) as table:
        for wrong, error in [
            ({"cut": "local", "k": 5, "eps": 0.1}, BadOption),
            ({"cut": "regime"}, BadOption),
            ({"cut": "regime", "eps": -0.1}, BadOption),
            ({"cut": "regime", "eps": float("nan")}, BadOption),
            ({"cut": "regime", "k": 3, "reading": "partition"}, BadOption),
            ({"cut": "regime", "eps": 0.3, "reading": "homological", "field": 3}, BadOption),
            ({"cut": "regime", "k": 121}, TooFewRows),
            ({"cut": "regime", "k": 5, "eps": 0.0, "grid": "exact"}, GoalNotMet),
        ]:
            with pytest.raises(error):
                kech.make_release(table, **wrong)


@pytest.mark.parametrize("field", [3, 5])
@pytest.mark.parametrize("cut", ["local", "minimal", "domain"])
def test_a_field_is_refused_where_no_homology_is_computed(cut, field):
    asked = {"cut": cut, "reading": "homological", "field": field}
    with kech.read_table(nine_rows(), quasi_identifiers=COLUMNS) as table:
        for ask in (
            lambda: kech.make_release(table, k=3, **asked),
            lambda: kech.compute_spectrum(table, k=[3], **asked),
            lambda: kech.Request().override(k=3, **asked),
        ):
            with pytest.raises(BadOption, match='only the homological reading of cut="regime" uses it'):
                ask()
        kech.compute_spectrum(table, k=[3], **asked | {"cut": [cut, "regime"], "field": 3})


# The command line


@pytest.fixture
def nine(tmp_path):
    return str(write_csv(nine_rows(), tmp_path / "nine.csv"))


def read_rows(path, columns=COLUMNS):
    """Rows of each class of a written file."""
    with path.open(newline="", encoding="utf-8") as file:
        return Counter(tuple(row[name] for name in columns) for row in csv.DictReader(file))


@pytest.fixture
def release(run, nine):
    """Release the nine rows; the outcome, whatever it is."""
    said = ("--qi", *COLUMNS, "--sensitive", "salary", "--grid", "exact")
    return lambda out, *words: run("release", nine, "-o", out, *said, *words)


def test_homological_release_of_the_nine_rows(release, run, tmp_path):
    pytest.importorskip("ripser")
    out = tmp_path / "out.csv"
    found = release(out, "--cut", "regime", "--reading", "homological", "--k", "3", "--json").json

    assert read_rows(out) == SIX_AND_THREE
    assert (found["k"], found["rows"]) == (3, 9)
    assert run("verify", out, "--json").json["holds"] is True


@pytest.mark.parametrize("words", [["--k", "3"], ["--k", "3", "--reading", "strict"], ["--eps", "0.5"]])
def test_strict_release_of_the_nine_rows_is_one_class(release, tmp_path, words):
    assert release(tmp_path / "out.csv", "--cut", "regime", *words).code == 0
    assert list(read_rows(tmp_path / "out.csv").values()) == [9]


@pytest.mark.parametrize("words", [["--eps", "0.1834"], ["--eps", "0.3", "--k", "3"], ["--eps", "0.3696", "--k", "2"]])
def test_release_of_the_nine_rows_at_an_eps(release, tmp_path, words):
    assert release(tmp_path / "out.csv", "--cut", "regime", *words).code == 0
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text("utf-8"))

    assert read_rows(tmp_path / "out.csv") == SIX_AND_THREE
    assert certificate["claims"]["k"] == 3
    assert certificate["parameters"]["eps"] == float(words[1])
    assert certificate["parameters"].get("k_reached", False) == ("--k" not in words)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--cut", "local", "--k", "3", "--eps", "0.3"], 2, "only --cut regime uses a radius"),
        (["--eps", "0.3"], 2, "only --cut regime uses a radius"),
        (["--cut", "regime"], 2, "--k"),
        (["--cut", "regime", "--eps", "-1"], 2, "--eps"),
        (["--cut", "regime", "--eps", "nan"], 2, "--eps"),
        (["--cut", "regime", "--eps", "much"], 2, "much"),
        (["--cut", "regime", "--k", "3", "--reading", "partition"], 2, "--reading"),
        (["--cut", "regime", "--k", "3", "--reading", "loose"], 2, "--reading"),
        (["--cut", "rigid", "--k", "3"], 2, "--cut"),
        (["--cut", "regime", "--k", "0"], 2, "--k"),
        (["--cut", "regime", "--k", "10"], 4, "the table has 9"),
        (["--cut", "regime", "--k", "4", "--eps", "0.3"], 4, "smallest class would have 3 rows"),
    ],
)
def test_refusals_say_why_and_write_nothing(release, tmp_path, words, code, says):
    refused = release(tmp_path / "out.csv", *words)

    assert refused.code == code
    assert says in " ".join(refused.err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["nine.csv"]


@pytest.mark.parametrize("typed", [["--cut", "local"], ["--eps", "0.3"]])
def test_the_field_of_a_plan_is_left_to_its_own_cut(release, run, nine, tmp_path, typed):
    plan = kech.Request().override(k=3, cut="regime", reading="homological", field=3)
    kech.write_request(plan, tmp_path / "plan.toml")
    assert release(tmp_path / "out.csv", "--plan", tmp_path / "plan.toml", "--no-ledger", *typed).code == 0
    parameters = json.loads((tmp_path / "out.csv.certificate.json").read_text("utf-8"))["parameters"]
    assert "field" not in parameters
    words = ["--qi", *COLUMNS, "--plan", tmp_path / "plan.toml", "--cut", "local", "--k", "3"]
    assert run("spectrum", nine, *words).code == 0


# Rows that are left out


def lonely_rows(seed):
    """Clusters on two columns, and a few rows far from all of them."""
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, 5, (5, 2)) * 20
    rows = np.concatenate(
        [*(centre + rng.integers(0, 4, (12, 2)) for centre in centres), rng.integers(200, 900, (3, 2))]
    )
    return pa.table({"age": rows[:, 0], "zip": rows[:, 1], "id": np.arange(len(rows))})


@pytest.mark.parametrize("grid", ["exact", "round"])
@pytest.mark.parametrize("reading", ["strict", "homological"])
def test_what_is_left_out_decides_nothing_of_the_rest(grid, reading):
    if reading == "homological":
        pytest.importorskip("ripser")
    for seed in range(3):
        frame, asked = lonely_rows(seed), {"k": 5, "cut": "regime", "reading": reading, "grid": grid}
        with kech.read_table(frame, quasi_identifiers=COLUMNS, keep=["id"]) as table:
            release = kech.make_release(table, suppress=0.1, **asked)
            found, kept = release.partition, release.frame["id"].to_pylist()
        assert 0 < found.suppressed <= 6
        assert found.k >= 5
        rest = frame.filter(pc.is_in(frame["id"], pa.array(kept)))
        with kech.read_table(rest, quasi_identifiers=COLUMNS) as table:
            alone = kech.make_release(table, **asked).partition
        assert (found.eps, classes(found)) == (alone.eps, classes(alone))
        for one, other in zip(found.points.axes, alone.points.axes, strict=True):
            assert one.at(5).labels(*[np.arange(one.at(5).size)] * 2) == other.at(5).labels(
                *[np.arange(other.at(5).size)] * 2
            )


@pytest.mark.parametrize("grid", ["exact", "round"])
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 40))])
def test_a_barcode_announces_what_the_release_gives(tmp_path, run, seed, grid):
    """The written file decides: its rows and classes are counted by hand."""
    rng = np.random.default_rng(seed)
    frame = lonely_rows(seed) if seed % 2 else lonely_columns(rng)
    write_csv(frame, tmp_path / "t.csv")
    columns = [name for name in frame.column_names if name != "id"]
    words = ("--qi", *columns, "--suppress", "10%", "--k", int(rng.integers(2, 7)), "--grid", grid, "--rows-are-people")
    found = run("barcode", tmp_path / "t.csv", *words, "--no-partitions", "--json").json["released"]
    assert "strict" in [one["reading"] for one in found]
    for one in found:
        target = tmp_path / f"{one['reading']}.csv"
        how = ("--cut", "regime", "--reading", one["reading"], "-o", target, "--no-ledger")
        outcome = run("release", tmp_path / "t.csv", *words, *how)
        assert (outcome.code == 0) == (one["classes"] > 0)
        if outcome.code == 0:
            with target.open(encoding="utf-8") as file:
                labels = Counter(tuple(row[name] for name in columns) for row in csv.DictReader(file))
            assert (one["classes"], one["rows"]) == (len(labels), labels.total())
            assert one["suppressed"] == len(frame) - labels.total()
            assert one["grid"] == grid


def lonely_columns(rng):
    """Three columns, one without an order, and rows far out on each of them: without these, others are lonely."""
    rows = int(rng.integers(40, 90))
    spread = np.exp(rng.normal(0, 1.5, (rows, 2))).round(1)
    return pa.table({"a": spread[:, 0], "b": spread[:, 1], "c": rng.choice([*"xyz"], rows), "id": np.arange(rows)})


def test_the_table_of_three_lonely_rows_is_released(tmp_path, run):
    write_csv(lonely_rows(1), tmp_path / "t.csv")
    words = ("--qi", *COLUMNS, "--k", 5, "--cut", "regime", "--suppress", "5%", "--grid", "exact")
    outcome = run("release", tmp_path / "t.csv", *words, "-o", tmp_path / "safe.csv")
    assert (outcome.code, run("verify", tmp_path / "safe.csv").code) == (0, 0)

    with (tmp_path / "safe.csv").open(encoding="utf-8") as file:
        labels = Counter(tuple(row[name] for name in COLUMNS) for row in csv.DictReader(file))
    assert 60 <= labels.total() < 63
    assert min(labels.values()) >= 5


def test_a_radius_and_a_share_to_leave_out_are_refused():
    with pytest.raises(BadOption, match="every component is a class"):
        kech.Request().override(cut="regime", eps=0.1, suppress=0.1)

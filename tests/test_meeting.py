"""Goals beyond k in every cut: they hold in the written file, k holds too, and no row is lost."""

import json
import math
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from cutting import code_points, cut, recording, say_goal, say_labels
from kech.cuts.goals import meet_goals
from kech.errors import BadHierarchy, GoalNotMet
from kech.points.partition import assign_grains, build_partition, mean_loss
from kech.points.points import Points, build_points
from kech.tables.demo import generate_town, write_csv
from kech.topology.lattice import build_lattice
from oracles import class_values, keeps_goals, value_figures
from strategies import further, point_sets, random_case, seeds, unhurried

fewer = settings(unhurried, max_examples=40)
TOWN = ["age", "sex", "zip", "schooling"]

goals = st.one_of(
    st.builds(say_goal, l=st.integers(1, 3)),
    st.builds(say_goal, l=st.floats(1, 2.5), l_kind=st.just("entropy")),
    st.builds(say_goal, l=st.integers(1, 3), l_kind=st.just("recursive"), c=st.floats(0.5, 4)),
    st.builds(say_goal, t=st.floats(0, 0.6), t_kind=st.sampled_from(["equal", "ordered"])),
    st.builds(say_goal, alpha=st.floats(0.3, 1)),
    st.builds(say_goal, l=st.just(2), t=st.floats(0.1, 0.5), alpha=st.floats(0.4, 1)),
)


@st.composite
def grained(draw, columns=2):
    """Points whose rows carry sensitive values."""
    points = draw(point_sets())
    count, rows = draw(st.integers(1, columns)), points.rows
    drawn = [draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)) for _ in range(count)]
    point = np.repeat(np.arange(len(points.weights)), points.weights)
    held, weights = np.unique(np.column_stack([point, *map(np.array, drawn)]), axis=0, return_counts=True)
    numbers = sensitive_numbers()
    values = replace(numbers, columns=numbers.columns[:count], codes=np.ascontiguousarray(held[:, 1:], np.int32))
    line = {"sensitive": values, "part_of": held[:, 0]}
    grains = Points(points.axes, (), points.codes[held[:, 0]], weights.astype(np.int64), **line)
    return Points(points.axes, (), points.codes, points.weights, grains)


@cache
def sensitive_numbers():
    """Two sensitive columns of numbers, as they are read from a table."""
    cells, names = pa.table({"q": [1, 2], "s0": [0, 1], "s1": [0, 1]}), ["s0", "s1"]
    return code_points(cells, ["q"], with_sensitive=True, roles={"sensitive": names}).grains.sensitive


def is_valid(partition, points, k):
    """Every row once, classes of k rows, and every row inside the box of its class."""
    grains = points.grains
    taken = np.bincount(partition.point, weights=partition.rows, minlength=len(grains.weights))
    assert taken.tolist() == grains.weights.tolist()
    assert partition.k >= k
    assert (partition.rows > 0).all()
    codes = grains.codes[partition.point]
    assert ((partition.lo[partition.group] <= codes) & (codes <= partition.hi[partition.group])).all()


def reachable(points, goal):
    everybody = np.arange(len(points.weights))
    return keeps_goals(goal, assign_grains(build_partition(points, everybody, 0 * everybody, points.weights)))


# Dealing


@given(grained(), st.integers(1, 6))
@unhurried
def test_dealing_changes_no_class(points, k):
    with recording("kech.cuts.assign_grains") as calls:
        cut(points, [min(k, points.rows)])
    for (made,), dealt in calls:
        is_valid(dealt, points, min(k, points.rows))
        back = np.zeros((made.classes, len(points.weights)))
        np.add.at(back, (dealt.group, points.grains.part_of[dealt.point]), dealt.rows)
        given_rows = np.zeros_like(back)
        np.add.at(given_rows, (made.group, made.point), made.rows)
        assert (back == given_rows).all()


def test_rows_of_a_shared_point_are_dealt_in_proportion():
    table = pa.table({"a": [1] * 12 + [5], "s": ["x"] * 6 + ["y"] * 6 + ["z"]})
    with kech.read_table(table, quasi_identifiers=["a"], sensitive=["s"]) as read:
        points = build_points(read, labels=say_labels(grid="exact"), with_sensitive=True)
    shares = (np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([8, 4, 1]))
    dealt = assign_grains(build_partition(points, *shares))

    ((_, classes),) = class_values(dealt)
    assert [sorted(Counter(values).values()) for values in classes] == [[4, 4], [1, 2, 2]]


# Local


@given(grained(), st.integers(1, 5), goals)
@unhurried
def test_the_local_cut_keeps_goals_or_says_that_nobody_can(points, k, goal):
    k = min(k, points.rows)
    ks = sorted({k, min(k + 2, points.rows)})
    if not reachable(points, goal):
        with pytest.raises(GoalNotMet, match=r"^You asked for .* Even all rows in one class reach"):
            cut(points, ks, goal=goal)
        return
    made = cut(points, ks, goal=goal)
    for at, partition in zip(ks, made, strict=True):
        is_valid(partition, points, at)
        assert keeps_goals(goal, partition)


@given(grained(columns=1), st.integers(1, 4), goals)
@fewer
def test_meeting_goals_starts_from_any_partition(points, k, goal):
    k = min(k, points.rows)
    if reachable(points, goal):
        with recording("kech.cuts.assign_grains") as calls:
            cut(points, [k])
        for (made,), _ in calls:
            met = meet_goals(made, k, goal)
            is_valid(met, points, k)
            assert keeps_goals(goal, met)
            assert mean_loss(met) >= mean_loss(made) - 1e-12 or met.classes >= made.classes


def set_partitions(items):
    """Every way to part a list."""
    if not items:
        yield []
        return
    for rest in set_partitions(items[1:]):
        yield [[items[0]], *rest]
        for i in range(len(rest)):
            yield [*rest[:i], [items[0], *rest[i]], *rest[i + 1 :]]


def best_loss(points, k, goal):
    """The least loss of all partitions of up to 8 rows."""
    grains = points.grains
    rows = np.repeat(np.arange(len(grains.weights)), grains.weights).tolist()
    best = math.inf
    for parts in set_partitions(list(range(len(rows)))):
        if min(map(len, parts)) >= k:
            group = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
            grain = np.array([rows[i] for part in parts for i in part])
            made = build_partition(grains, grain, group, np.ones(len(grain), np.int64))
            if keeps_goals(goal, made):
                best = min(best, mean_loss(made))
    return best


@pytest.mark.long
def test_small_tables_are_near_the_best_of_all_partitions():
    excess = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        cells = {"a": rng.integers(0, 9, 7), "b": rng.integers(0, 5, 7), "s": rng.integers(0, 3, 7).astype(str)}
        goal = [say_goal(l=2), say_goal(t=0.4), say_goal(alpha=0.5), say_goal(l=1.8, l_kind="entropy")][seed % 4]
        with kech.read_table(pa.table(cells), quasi_identifiers=["a", "b"], sensitive=["s"]) as read:
            points = build_points(read, labels=say_labels(grid="exact"), with_sensitive=True)
        if reachable(points, goal):
            (made,) = cut(points, [2], goal=goal)
            best = best_loss(points.published_at(2), 2, goal)
            assert mean_loss(made) >= best - 1e-12
            excess.append(mean_loss(made) - best)
    assert len(excess) > 9
    assert np.mean(excess) < 0.05


def test_classes_with_equal_middles_can_be_lined_up():
    """The kd order knows distinct points only; many boxes here share their middle."""
    table = pa.table({"a": [0, 2, 1, 1, 0, 2, 1, 1], "b": [0, 2, 1, 1, 2, 0, 1, 1], "s": list("aabbccdd")})
    with kech.read_table(table, quasi_identifiers=["a", "b"], sensitive=["s"]) as read:
        points = build_points(read, labels=say_labels(grid="exact"), with_sensitive=True)
    codes = [tuple(code) for code in points.codes.tolist()]
    pairs = [
        [codes.index((0, 0)), codes.index((2, 2))],
        [codes.index((0, 2)), codes.index((2, 0))],
        [codes.index((1, 1))],
    ]
    shares = [(p, g, int(points.weights[p])) for g, pair in enumerate(pairs) for p in pair]
    start = build_partition(points, *(np.array(column) for column in zip(*shares, strict=True)))

    met = meet_goals(start, 2, say_goal(l=2))

    is_valid(met, points, 2)
    assert keeps_goals(say_goal(l=2), met)


# Domain and regime


@given(grained(columns=1), st.integers(1, 4), goals, st.sampled_from([0.0, 0.2]))
@fewer
def test_the_domain_cut_is_the_best_of_all_nodes_that_keep_the_goals(points, k, goal, suppress):
    k = min(k, points.rows)
    lattice = build_lattice(points)
    fitting = []
    for levels in product(*map(range, lattice.heights)):
        if lattice.suppressed_of(levels, k) <= lattice.suppression_limit(suppress):
            made = assign_grains(lattice.partition(levels, k, suppress))
            if keeps_goals(goal, made):
                fitting.append((lattice.loss_of(levels, k), mean_loss(made)))
    if not fitting:
        with pytest.raises(GoalNotMet):
            cut(points, [k], "domain", goal=goal, suppress=suppress)
        return
    (made,) = cut(points, [k], "domain", goal=goal, suppress=suppress)

    least = min(loss for loss, _ in fitting)
    assert keeps_goals(goal, made)
    assert mean_loss(made) in [pytest.approx(own, abs=1e-9) for loss, own in fitting if loss <= least + 1e-9]
    assert suppress or mean_loss(made) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("goal", [None, say_goal(l=1)])
def test_the_best_node_under_a_given_tree_is_measured_by_all_its_leaves_though_few_remain(goal):
    """Of 11 towns two remain, both in the north: 10% of the country, which is public whoever is left out."""
    towns = [f"town{i}" for i in range(11)]
    tree = {0: towns, 1: ["north", "north", *(f"place{i}" for i in range(2, 11))], 2: ["all"] * 11}
    rows = pa.table({"a": [*["town0"] * 10, *["town1"] * 2, *towns[2:]], "s": ["x"] * 21})
    with kech.read_table(rows, quasi_identifiers=["a"], sensitive=["s"], hierarchies={"a": tree}) as read:
        points = build_points(read, with_sensitive=True)
    lattice = build_lattice(points)
    (made,) = cut(points, [3], "domain", goal=goal, suppress=0.6)

    losses = pytest.approx([11 / 21, (9 + 12 / 10) / 21])
    assert [lattice.loss_of([level], 3) for level in (0, 1)] == losses
    assert [mean_loss(lattice.partition([level], 3, 0.6)) for level in (0, 1)] == losses
    assert (made.labels(0), made.suppressed) == (["north"], 9)


@pytest.mark.parametrize("goal", [None, say_goal(l=1)])
def test_the_best_node_is_best_among_all_rows_though_another_may_lose_less_of_those_published(goal):
    """Of numbers from 1 to 95 those from 1 to 3 remain: a small part of the line as it was, and all that is left."""
    rows = pa.table({"a": [*[1] * 10, *[3] * 2, 40, 90, 95, 60, 55, 77, 31, 22, 85], "s": ["x"] * 21})
    with kech.read_table(rows, quasi_identifiers=["a"], sensitive=["s"]) as read:
        points = build_points(read, labels=say_labels(grid="exact"), by_level=True, with_sensitive=True)
    lattice = build_lattice(points)
    (made,) = cut(points, [3], "domain", goal=goal, suppress=0.6)

    among_all = [lattice.loss_of([level], 3) for level in range(5)]
    published = [mean_loss(lattice.partition([level], 3, 0.6)) for level in range(5)]
    assert (among_all.index(min(among_all)), published.index(min(published))) == (1, 3)
    assert (made.suppressed, mean_loss(made), published[1]) == (9, 1, 1)


def test_the_search_of_a_large_lattice_keeps_goals_too():
    with kech.read_table(generate_town(400), quasi_identifiers=TOWN, sensitive=["diagnosis"]) as table:
        lattice = build_lattice(build_points(table, by_level=True, with_sensitive=True))
    goal = say_goal(l=4, t=0.05)

    def holds(levels):
        return keeps_goals(goal, assign_grains(lattice.partition(levels, 5)))

    listed, searched = lattice.best(5, holds=holds), lattice._choice(5, 0, holds).search(10**6)
    assert holds(searched.levels)
    assert searched.loss == pytest.approx(listed.loss)
    assert listed.loss > lattice.best(5).loss
    with pytest.raises(GoalNotMet):
        lattice._choice(5, 0, lambda levels: False).search(10**6)


def test_the_regime_cut_takes_the_first_regime_that_keeps_the_goals():
    table = pa.table({"a": [0, 1, 2, 10, 11, 12, 50, 51, 52], "s": list("xxxyyyxyz")})
    with kech.read_table(table, quasi_identifiers=["a"], sensitive=["s"]) as read:
        plain = kech.make_release(read, k=3, cut="regime", grid="exact", reading="homological").partition
        two = kech.make_release(read, k=3, cut="regime", grid="exact", reading="homological", l=2).partition
        one = kech.make_release(read, k=3, cut="regime", grid="exact", reading="homological", t=0.1).partition
        with pytest.raises(GoalNotMet, match=r"l = 2\. The components at this eps reach l = 1"):
            kech.make_release(read, cut="regime", grid="exact", eps=plain.eps, l=2)

    assert (plain.classes, two.classes, one.classes) == (3, 2, 1)
    assert sorted(two.sizes) == [3, 6]


# Written files, counted by SQL


def source_of(path, columns):
    if path.suffix == ".parquet":
        return f"read_parquet('{path}')"
    names = dict.fromkeys(columns, "VARCHAR")
    return f"read_csv('{path}', header=true, all_varchar=true, auto_detect=false, columns={names}, quote='\"')"


def sql_figures(path, columns, quasi_identifiers, sensitive):
    """l, entropy l, alpha, equal t and c at l = 2, as SQL counts them."""
    keys = ", ".join(f"coalesce(CAST(\"{name}\" AS VARCHAR), '')" for name in quasi_identifiers)
    query = f"""
        WITH rows AS (
            SELECT ({keys},) AS g, coalesce(CAST("{sensitive}" AS VARCHAR), '') AS v FROM {source_of(path, columns)}
        ),
        cells AS (SELECT g, v, count(*) AS n FROM rows GROUP BY g, v),
        shares AS (
            SELECT g, v, n, n / sum(n) OVER (PARTITION BY g) AS p,
            row_number() OVER (PARTITION BY g ORDER BY n DESC) AS r FROM cells
        ),
        overall AS (SELECT v, count(*) / (SELECT count(*) FROM rows) AS q FROM rows GROUP BY v),
        classes AS (
            SELECT count(*) AS l, exp(-sum(p * ln(p))) AS entropy_l, max(p) AS alpha, sum(greatest(0, p - q)) AS t,
            sum(n) AS k, max(n) / sum(n) FILTER (r >= 2) AS c FROM shares JOIN overall USING (v) GROUP BY g
        )
        SELECT min(k), min(l), min(entropy_l), max(alpha), max(t), CASE WHEN min(l) > 1 THEN max(c) END FROM classes"""
    with duckdb.connect() as database:
        found = database.execute(query).fetchone()
    return dict(zip(["k", "l", "entropy_l", "alpha", "t", "c"], found, strict=True))


ASKED = [
    {"l": 2},
    {"l": 3, "t": 0.5},
    {"l": 2.2, "l_kind": "entropy"},
    {"l": 2, "l_kind": "recursive", "c": 3},
    {"t": 0.25},
    {"alpha": 0.6},
]


def keeps(figures, asked, claims_k):
    kind = asked.get("l_kind")
    assert figures["k"] >= claims_k
    assert kind == "recursive" or figures["entropy_l" if kind else "l"] >= asked.get("l", 0) - 1e-9
    assert kind != "recursive" or figures["c"] < asked["c"]
    assert figures["t"] <= asked.get("t", 1) + 1e-9
    assert figures["alpha"] <= asked.get("alpha", 1) + 1e-9


@pytest.mark.parametrize("effort", ["quick", *further([None])], ids=str)
@pytest.mark.parametrize("cut", ["local", *further(["domain"])])
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_the_written_town_keeps_the_goals(tmp_path, cut, asked, effort):
    paths = [tmp_path / f"town{suffix}" for suffix in (".csv", ".parquet")]
    with kech.read_table(generate_town(1500), quasi_identifiers=TOWN, sensitive=["diagnosis"]) as table:
        release = kech.make_release(table, k=4, cut=cut, effort=effort, **asked)
        certificates = [release.write(path, ledger=False) for path in paths]
    for path, certificate in zip(paths, certificates, strict=True):
        figures = sql_figures(path, release.columns, TOWN, "diagnosis")
        checked = kech.check_certificate(path)

        keeps(figures, asked, 4)
        assert certificate["claims"]["goals"].items() >= asked.items()
        for name in ("l", "entropy_l", "alpha", "t"):
            assert checked[name]["diagnosis"] == pytest.approx(figures[name])


@pytest.mark.parametrize("seed", seeds(30))
def test_random_tables_keep_goals_in_what_is_written(seed, tmp_path):
    """Sensitive values of every kind: texts with NULL, formulas, numbers, all different."""
    case = random_case(seed)
    asked = ASKED[seed % len(ASKED)]
    path = tmp_path / f"out{case.suffix}"
    with kech.read_table(case.table, **case.roles) as table:
        try:
            release = kech.make_release(table, k=case.k, grid=case.grid, cut=["local", "domain"][seed % 2], **asked)
        except GoalNotMet as refusal:
            assert "one class" in str(refusal)
            return
        certificate = release.write(path, ledger=False)
    keeps(sql_figures(path, release.columns, case.quasi_identifiers, "s"), asked, case.k)
    assert certificate["claims"]["goals"].items() >= asked.items()


# Sensitive columns of every sort


def release(cells, *, k=2, sensitive="s", axes=None, **asked):
    names = [name for name in cells if name.startswith("q")]
    with kech.read_table(pa.table(cells), quasi_identifiers=names, sensitive=sensitive, axes=axes) as table:
        return kech.make_release(table, k=k, grid="exact", **asked).partition


def test_null_is_a_value_and_so_is_no_text_but_not_another_one():
    assert release({"q": [1, 1], "s": ["a", None]}, l=2).classes == 1
    with pytest.raises(GoalNotMet, match="reach l = 1"):
        release({"q": [1, 1], "s": ["", None]}, l=2)


def test_recursive_diversity_is_rounded_as_its_checker_rounds(tmp_path):
    """2.2 * 25 is more than 55, and 55 / 25 is not less than 2.2."""
    cells = {"q": [1] * 80 + [2] * 80, "s": [*"x" * 55, *"y" * 25, *"x" * 30, *"y" * 30, *"z" * 20]}
    with kech.read_table(pa.table(cells), quasi_identifiers=["q"], sensitive=["s"]) as table:
        made = kech.make_release(table, k=80, l=2, l_kind="recursive", c=2.2, grid="exact")
        found = made.write(tmp_path / "safe.csv", ledger=False)
    assert found["measured"]["recursive_c"]["s"] < 2.2


def test_one_value_only():
    cells = {"q": [1, 2, 3, 4], "s": ["a"] * 4}
    assert release(cells, l=1, t=0, alpha=1).classes == 2
    with pytest.raises(
        GoalNotMet, match=r"^You asked for l = 2\. Even all rows in one class reach l = 1 \('s'\)\. Ask"
    ):
        release(cells, l=2)
    with pytest.raises(GoalNotMet, match=r"^You asked for l = 2\. .* reach l = 1 \('s'\)\. Ask"):
        release(cells, l=2, cut="domain", suppress=0.25)
    with pytest.raises(GoalNotMet, match=r"asked for alpha = 0.5\. .* reach alpha = 1 \('s'\)"):
        release(cells, alpha=0.5)
    with pytest.raises(GoalNotMet, match="reach c = inf"):
        release(cells, l=2, l_kind="recursive", c=3)


def test_k_of_all_rows():
    assert release({"q": [1, 2, 3], "s": ["a", "b", "c"]}, k=3, l=3, t=0).classes == 1


def test_every_sensitive_column_is_protected():
    cells = {"q": [1, 1, 2, 2], "s": ["a", "b", "a", "b"], "u": ["x", "x", "y", "y"]}
    assert release(cells, sensitive=["s"], l=2).classes == 2
    assert release(cells, sensitive=["s", "u"], l=2).classes == 1


def test_numbers_are_compared_as_numbers():
    """1 and 1.0 are one salary, whatever the file writes."""
    with pytest.raises(GoalNotMet, match="reach l = 1"):
        release({"q": [1, 1], "s": ["1", "1.0"]}, l=2)
    assert release({"q": [1, 1], "s": ["1", "1.0"]}, l=2, axes={"s": "set"}).classes == 1


def test_order_of_a_sensitive_column():
    cells = {"q": [1, 1, 2, 2, 3, 3], "s": ["low", "mid", "mid", "high", "low", "high"]}
    order = {"s": ["low", "mid", "high", "unheard of"]}
    assert release(cells, t=0.25, t_kind="ordered", axes=order).classes == 3
    assert release(cells, t=0.25, t_kind="ordered").classes < 3
    with pytest.raises(BadHierarchy, match="1 values"):
        release(cells, t=0.2, axes={"s": ["low", "mid"]})


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_certificates_read_numbers_dates_and_orders_as_the_partition_did(tmp_path, suffix):
    rng = np.random.default_rng(1)
    n = 120
    cells = {
        "q": rng.integers(0, 50, n),
        "number": [["7", "7.0", "-3", "12", None, "1e1"][i] for i in rng.integers(0, 6, n)],
        "date": [["2020-01-01", "2020-01-01 00:00:00", "2020-03-01T12:00", None][i] for i in rng.integers(0, 4, n)],
        "size": [["S", "M", "L"][i] for i in rng.integers(0, 3, n)],
        "=text": [["=1+1", "-x", "'", "'=1+1", None, " "][i] for i in rng.integers(0, 6, n)],
    }
    names = ["number", "date", "size", "=text"]
    path = tmp_path / f"out{suffix}"
    with kech.read_table(
        pa.table(cells), quasi_identifiers=["q"], sensitive=names, axes={"size": ["S", "M", "L"]}
    ) as table:
        made = kech.make_release(table, k=3, l=2, t=0.4, t_kind="ordered")
        certificate = made.write(path, ledger=False)
    tallies = dict(zip(names, class_values(made.partition), strict=True))

    assert {name: read["kind"] for name, read in certificate["values"].items()} == {
        "number": "number", "date": "date", "size": "ordered", "=text": "text",
    }  # fmt: skip
    figures = kech.check_certificate(path)
    for name, (ordered, classes) in tallies.items():
        expected = worst_of(classes)
        for figure in ("l", "t", "entropy_l", "alpha"):
            assert figures[figure][name] == pytest.approx(expected[figure])
        assert figures["t_ordered"][name] == (pytest.approx(expected["t_ordered"]) if ordered else None)


# Spectrum


def worst_of(classes):
    """The figures of the worst class."""
    everybody = [value for values in classes for value in values]
    found = [value_figures(values, everybody) for values in classes]
    return {name: (min if name in ("l", "entropy_l") else max)(each[name] for each in found) for name in found[0]}


@pytest.mark.long
def test_the_spectrum_shows_what_a_release_reaches():
    with kech.read_table(generate_town(500), quasi_identifiers=TOWN, sensitive=["diagnosis", "income"]) as table:
        asked = {"k": [2, 5, 9], "effort": "quick"}
        rows = kech.compute_spectrum(table, **asked).rows()
        goals = kech.compute_spectrum(table, **asked, l=3, t=0.6, t_kind="ordered").rows()
        for row in rows:
            partition = kech.make_release(table, k=row["k"], effort="quick").partition
            worst = [worst_of(classes) for _, classes in class_values(partition)]
            assert row["l"] == min(found["l"] for found in worst)
            assert row["t"] == pytest.approx(max(found["t"] for found in worst))
    assert all(row["l"] >= 3 and row["t"] <= 0.6 for row in goals)
    assert [row["loss"] for row in goals] == sorted(row["loss"] for row in goals)


def test_without_sensitive_columns_nothing_is_said():
    with kech.read_table(generate_town(200), quasi_identifiers=TOWN) as table:
        (row,) = kech.compute_spectrum(table, k=[5]).rows()
    assert (row["l"], row["t"]) == (None, None)


# Commands


@pytest.fixture
def town(folder):
    return write_csv(generate_town(600), folder / "town.csv")


def test_goals_on_the_command_line(run, folder, town):
    words = [
        "--qi",
        *TOWN,
        "--sensitive",
        "diagnosis",
        "--l",
        "2",
        "--l-kind",
        "entropy",
        "--t",
        "0.5",
        "--alpha",
        "0.9",
        "--effort",
        "quick",
    ]
    made = run("release", town, "-o", folder / "out.parquet", "--k", 3, *words, "--json")
    assert made.code == 0, made.err
    verified = json.loads(run("verify", folder / "out.parquet", "--json").out)
    assert verified["entropy_l"]["diagnosis"] >= 2 - 1e-9
    assert verified["t"]["diagnosis"] <= 0.5
    assert "entropy l" in run("verify", folder / "out.parquet").out
    assert len(pq.read_table(folder / "out.parquet")) == 600
    shown = json.loads(run("spectrum", town, "--k", "2,3", *words, "--json").out)
    assert all(row["t"] <= 0.5 for row in shown["spectrum"])


def test_goals_of_a_plan(run, folder, town):
    plan = folder / "kech.toml"
    plan.write_text(
        f"[columns]\nquasi_identifiers = {TOWN}\nsensitive = ['diagnosis']\n"
        "[goal]\nk = 3\nl = 2\nl_kind = 'recursive'\nc = 5.0\n[cut]\neffort = 'quick'\n",
        "utf-8",
    )

    def goals(*words):
        made = run("release", town, "-o", folder / "out.csv", "--plan", plan, "--no-ledger", *words, "--json")
        assert made.code == 0, made.err
        return json.loads(made.out)["goals"]

    assert goals() == {"l": 2, "l_kind": "recursive", "c": 5.0}
    assert goals("--l", 3) == {"l": 3, "l_kind": "distinct"}
    assert run("verify", folder / "out.csv").code == 0


def test_infeasible_goals_exit_4_and_write_nothing(refuse, folder, town):
    words = ["release", town, "-o", folder / "out.csv", "--qi", *TOWN, "--sensitive", "diagnosis", "--k", 3]
    refuse(*words, "--l", 50, code=4, says="You asked for l = 50. Even all rows in one class")
    refuse(*words, "--l", 0, code=2, says="--l:")
    refuse(*words, "--t", 2, code=2, says="--t:")
    refuse(*words, "--alpha", 0, code=2, says="--alpha:")
    refuse(*words, "--l", 2, "--l-kind", "recursive", code=2, says="--c:")
    refuse("release", town, "-o", folder / "out.csv", "--qi", *TOWN, "--k", 3, "--t", 0.5, code=2, says="--sensitive")

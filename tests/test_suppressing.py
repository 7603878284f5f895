"""Rows that are left out of the local and minimal cuts: they pay, they are counted, and they show nowhere."""

import pickle
from collections import Counter
from dataclasses import replace
from itertools import combinations
from statistics import mean

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import kech
from cutting import cut, recording, say_goal, say_labels
from kech import _kernels
from kech.errors import BadOption, GoalNotMet
from kech.points.partition import build_partition, largest_radius, mean_loss
from kech.points.points import build_points
from kech.tables.demo import generate_town
from oracles import keeps_goals, label_width
from strategies import point_sets, random_case, seeds, unhurried
from test_domain import read_rows
from test_meeting import grained, reachable

fewer = settings(unhurried, max_examples=40)

WORTH = {"local": mean_loss, "minimal": lambda made: (round(largest_radius(made), 9), mean_loss(made))}
TOWN = ["age", "sex", "zip", "schooling"]


@pytest.fixture
def lonely(tmp_path):
    """Two crowds, and three people far from them and from each other."""
    rows = [("a", 20)] * 44 + [("b", 60)] * 43 + [("c", 150), ("d", -70), ("e", 95)]
    path = tmp_path / "rows.csv"
    path.write_text("group,age,note\n" + "".join(f"{g},{age},n{i}\n" for i, (g, age) in enumerate(rows)), "utf-8")
    return path


# Rows in are rows out and suppressed


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("cut", ["local", "minimal"])
@pytest.mark.parametrize(("suppress", "left_out"), [(0.05, "<8"), (0.01, 0), (0.0, 0)])
def test_rows_in_are_rows_out_and_suppressed(lonely, tmp_path, cut, name, suppress, left_out):
    with kech.read_table(lonely, quasi_identifiers=["group", "age"], keep=["note"]) as table:
        release = kech.make_release(table, k=8, cut=cut, grid="exact", suppress=suppress)
        claims = release.write(tmp_path / name)["claims"]
    figures = kech.check_certificate(tmp_path / name)
    rows = read_rows(tmp_path / name, ["group", "age"])

    assert release.partition.suppressed == (3 if left_out else 0)
    assert (claims["suppressed"], claims["rows_in"]) == (left_out, None if left_out else 90)
    assert sum(rows.values()) == claims["rows"] == figures["rows"] == 90 - release.partition.suppressed
    assert min(rows.values()) == figures["k"] >= 8
    notes = read_rows(tmp_path / name, ["note"])
    assert set(notes.values()) == {1}
    assert not left_out or {("n87",), ("n88",), ("n89",)}.isdisjoint(notes)


def test_many_left_out_rows_are_counted_in_public(tmp_path):
    ages = [*range(20, 60)] * 10 + [90 + 9 * i for i in range(8)]
    with kech.read_table(pa.table({"age": ages}), quasi_identifiers=["age"]) as table:
        release = kech.make_release(table, k=4, cut="minimal", grid="exact", suppress=0.02)
        claims = release.write(tmp_path / "out.csv")["claims"]

    assert claims["suppressed"] == release.partition.suppressed == 8
    assert (claims["rows"], claims["rows_in"]) == (400, 408)
    assert claims["loss"] == pytest.approx(mean_loss(release.partition), abs=1e-12)


@pytest.mark.parametrize("seed", seeds(16))
@pytest.mark.parametrize("cut", ["local", "minimal"])
def test_any_table_is_released_and_never_loses_more(cut, seed, tmp_path):
    case = random_case(seed)
    k = max(case.k, 2)
    with kech.read_table(case.table, **case.roles) as table:
        whole = kech.make_release(table, k=k, cut=cut, grid=case.grid, effort="quick").partition
        release = kech.make_release(table, k=k, cut=cut, grid=case.grid, suppress=0.3, effort="quick")
        release.write(tmp_path / f"out{case.suffix}")
    made, rows = release.partition, case.table.num_rows
    labels = [release.labels[name] for name in case.quasi_identifiers]
    widths = [[label_width(x, axis) for x in texts] for texts, axis in zip(labels, release.axes, strict=True)]
    lost = sum(made.sizes @ np.array(widths).T) + made.suppressed * len(labels)

    assert kech.check_certificate(tmp_path / f"out{case.suffix}")["k"] >= k
    assert 0 <= made.suppressed <= 0.3 * rows + 1e-9
    assert made.sizes.sum() + made.suppressed == made.rows_in == rows
    assert cut == "minimal" or made.suppressed < k
    assert WORTH[cut](made) <= WORTH[cut](whole)
    assert mean_loss(made) == pytest.approx(lost / rows / len(labels), abs=1e-9)


# Nobody who is left out shows


def cells_of(points):
    """What is printed of the axes, as bytes."""
    return [axis.state for axis in points.axes]


@pytest.mark.parametrize("seed", seeds(24))
@pytest.mark.parametrize("cut", ["local", "minimal"])
def test_the_published_rows_alone_decide_every_parameter(cut, seed):
    """The same points and axes from a table in which the others never were; only kinds are those of all rows."""
    case = random_case(seed)
    k = max(case.k, 2)
    roles = case.roles | {"keep": ["x"], "sensitive": []}
    with kech.read_table(case.table, **roles) as table:
        release = kech.make_release(table, k=k, cut=cut, grid=case.grid, suppress=0.4, effort="quick")
        names, read = set(release.frame["x"].to_pylist()), release.table.kinds
    published = case.table.filter(pa.array([name in names for name in case.table["x"].to_pylist()]))
    with kech.read_table(published, **roles) as opened:
        table = replace(opened, kinds=read)
        points = build_points(table, labels=say_labels(grid=case.grid))
    made = release.partition
    grids = (points.published_at(j) for j in range(k, k + 7))  # what serves a larger k may serve k
    alone = next(at for at in grids if cells_of(at) == cells_of(made.points))
    parameters = [axis.parameters(release.labels[axis.column]) for axis in alone.axes]

    assert published.num_rows == made.sizes.sum()
    assert made.points.codes.tolist() == alone.codes.tolist()
    assert made.points.weights.tolist() == alone.weights.tolist()
    assert parameters == [{name: axis[name] for name in axis if name != "form"} for axis in release.axes]
    anew = replace(made, points=replace(made.points, axes=alone.axes))
    assert [anew.labels(j) for j in range(len(alone.axes))] == [*release.labels.values()]


def test_a_value_that_only_somebody_left_out_has_is_not_counted(lonely):
    with kech.read_table(lonely, quasi_identifiers=["group", "age"]) as table:
        axes = kech.make_release(table, k=8, suppress=0.05, grid="exact").axes

    assert axes == [
        {"column": "group", "axis": "set", "values": 2, "rare": 0},
        {
            "column": "age",
            "axis": "number",
            "domain": [20.0, 60.0],
            "grid": "exact",
            "protect": "none",
            "form": "text",
        },
    ]


# How near the best


def cheapest(points, k):
    """The least sum of widths over all partitions into classes of k rows, by exhaustion."""
    units = np.repeat(points.codes, points.weights, axis=0).astype(np.int64)
    prices = [np.inf]
    for mask in range(1, 1 << len(units)):
        codes = units[[i for i in range(len(units)) if mask >> i & 1]]
        ends = zip(points.axes, codes.min(axis=0), codes.max(axis=0), strict=True)
        width = sum(float(axis.widths(np.array([lo]), np.array([hi]))[0]) for axis, lo, hi in ends)
        prices.append(len(codes) * width if len(codes) >= k else np.inf)
    best = {0: 0.0}
    for mask in range(1, 1 << len(units)):
        rest = mask & (mask - 1)
        part, found = rest, np.inf
        while True:
            held = part | (mask ^ rest)
            found = min(found, prices[held] + best[mask ^ held])
            if not part:
                break
            part = (part - 1) & rest
        best[mask] = found
    return best[(1 << len(units)) - 1]


def optimum(table, k, most):
    """The lowest loss of all ways to leave rows out and to part the others, each measured by its own rows."""
    rows, names = table.num_rows, table.column_names
    losses = []
    for count in range(most + 1):
        for out in combinations(range(rows), count):
            rest = table.take([i for i in range(rows) if i not in out])
            with kech.read_table(rest, quasi_identifiers=names) as read:
                points = build_points(read, labels=say_labels(grid="exact")).published_at(k)
            losses.append((cheapest(points, k) / len(names) + count) / rows)
    return min(losses)


@pytest.mark.long
def test_tiny_tables_against_the_optimum():
    excess, gains = [], []
    for seed in (7, 8, 12, 13):
        rng = np.random.default_rng(seed)
        numbers = rng.choice([0, 1, 2, 3, 30], 6).tolist(), rng.choice(["u", "v", "w"], 6, p=[0.5, 0.4, 0.1]).tolist()
        table = pa.table(dict(zip("ab", numbers, strict=True)))
        with kech.read_table(table, quasi_identifiers=["a", "b"]) as read:
            made = {s: kech.make_release(read, k=4, grid="exact", suppress=s).partition for s in (0.0, 0.34)}
        best = optimum(table, 4, 2)
        excess.append(mean_loss(made[0.34]) - best)
        gains.append(mean_loss(made[0.0]) - mean_loss(made[0.34]))

    assert min(excess) >= -1e-9
    assert min(gains) >= -1e-12
    assert max(gains) > 0
    assert mean(excess) < 0.01


# Letting go, on points


@given(point_sets(), st.integers(1, 5), st.integers(0, 12))
@fewer
def test_letting_rows_go_never_costs_more_and_keeps_classes_whole(points, k, most):
    k = min(k, points.rows)
    most = min(most, points.rows - k)
    (start,) = cut(points, [k])
    at, free = start.points, [np.zeros(axis.size) for axis in points.axes]
    shares = (start.point, start.group, start.rows)
    price = float(len(points.axes))
    found = build_partition(at, *_kernels.leave_out(at.codes, at.weights, at.widths(), free, k, *shares, price, most))
    kept = np.bincount(found.point, weights=found.rows, minlength=len(at.weights))

    assert found.k >= k
    assert found.suppressed <= most
    assert set(kept.tolist()) <= {0, *at.weights.tolist()}
    assert all(rows in (0, weight) for rows, weight in zip(kept, at.weights, strict=True))
    assert mean_loss(found) <= mean_loss(start) + 1e-9


@given(point_sets(), st.data())
@fewer
def test_a_class_of_those_left_out_costs_no_more_than_they_do(points, data):
    """Why fewer than k rows suffice: k of them could as well be a class."""
    everybody = np.arange(len(points.weights))
    out = np.array(data.draw(st.lists(st.booleans(), min_size=len(everybody), max_size=len(everybody))))
    if out.all() or not out.any():
        return
    kept = everybody[~out]
    found = build_partition(points, kept, np.zeros_like(kept), points.weights[kept])
    order = np.argsort(out, kind="stable")
    together = build_partition(points, order, out[order].astype(np.int64), points.weights[order])

    assert found.suppressed == points.weights[out].sum()
    assert mean_loss(together) <= mean_loss(found) + 1e-9


@pytest.mark.parametrize("grid", ["exact", "round"])
def test_what_an_axis_grows_by_without_a_value(grid):
    """Against the axes of tables without it."""
    columns = {"n": [1, 2, 5, 9], "s": ["u", "v", "w", "u"], "o": ["S", "M", "L", "M"]}
    roles = {"quasi_identifiers": list("nso"), "axes": {"o": kech.AxisChoice("ordered", ("S", "M", "L"))}}
    with (
        kech.read_table(pa.table(columns), **roles) as table,
        recording("kech.cuts.suppressing.growth_without_value") as calls,
    ):
        kech.make_release(table, k=2, grid=grid, suppress=0.3)
    grown = [values.tolist() for _, values in calls[:3]]

    assert grown[1:] == [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    if grid == "exact":
        assert grown[0] == pytest.approx([8 / 7 - 1, 0, 0, 8 / 4 - 1])
    else:
        assert set(grown[0]) == {0.0}


# Spectrum


def test_the_spectrum_shows_what_each_cut_leaves_out(lonely):
    with kech.read_table(lonely, quasi_identifiers=["group", "age"]) as table:
        cuts = ["local", "domain", "minimal"]
        rows = kech.compute_spectrum(table, k=[2, 8, 20], cut=cuts, grid="exact", suppress=0.04).rows()
    found = {(row["cut"], row["k"]): row["suppressed"] for row in rows}

    assert [found["local", k] for k in (2, 8, 20)] == [
        1,
        3,
        3,
    ]  # at 2 a class with one rare group is as wide as all of them
    assert [found["domain", k] for k in (2, 8, 20)] == [3, 3, 3]
    assert [found["minimal", k] for k in (2, 8, 20)] == [3, 3, 3]
    assert all(row["average_class"] * row["classes"] == pytest.approx(90 - row["suppressed"]) for row in rows)
    assert all(row["eps_lower_bound"] is None and row["loss_lower_bound"] is None for row in rows)


def test_a_larger_k_never_costs_less():
    """Of equal axes; grids differ from k to k."""
    with kech.read_table(generate_town(300), quasi_identifiers=TOWN) as table:
        rows = kech.compute_spectrum(table, k=range(2, 30), grid="exact", suppress=0.05).rows()
        whole = kech.compute_spectrum(table, k=range(2, 30), grid="exact").rows()
    losses = [row["loss"] for row in rows]

    assert losses == sorted(losses)
    assert all(row["loss"] <= all_rows["loss"] for row, all_rows in zip(rows, whole, strict=True))
    assert any(row["suppressed"] for row in rows)


def test_shares_are_checked(lonely):
    with kech.read_table(lonely, quasi_identifiers=["group", "age"]) as table:
        for cut in ("local", "minimal"):
            with pytest.raises(BadOption, match=r"^suppress: "):
                kech.make_release(table, k=5, cut=cut, suppress=1.0)
        with pytest.raises(BadOption, match=r"^suppress: "):
            kech.make_release(table, cut="regime", eps=0.1, suppress=0.1)


# Goals


@pytest.mark.parametrize("seed", seeds(12))
@pytest.mark.parametrize("goal", [{"l": 2}, {"t": 0.4}, {"alpha": 0.7}])
def test_goals_hold_for_the_rows_that_stay(seed, goal, tmp_path):
    case = random_case(seed)
    k = max(case.k, 2)
    asked = {"k": k, "grid": case.grid, "effort": "quick"} | goal
    with kech.read_table(case.table, **case.roles) as table:
        try:
            whole = kech.make_release(table, **asked).partition
        except GoalNotMet:
            return
        release = kech.make_release(table, suppress=0.3, **asked)
        release.write(tmp_path / "out.csv", ledger=False)
    made, figures = release.partition, kech.check_certificate(tmp_path / "out.csv")

    assert figures["l"]["s"] >= goal.get("l", 1)
    assert figures["t"]["s"] <= goal.get("t", 1) + 1e-9
    assert figures["alpha"]["s"] <= goal.get("alpha", 1) + 1e-9
    assert made.k >= k
    assert made.suppressed <= 0.3 * case.table.num_rows + 1e-9
    assert mean_loss(made) <= mean_loss(whole)


# The engine


def test_an_engine_without_some_rows_leaves_the_whole_as_it_is():
    table = kech.read_table(pa.table({"a": [1, 1, 2, 3], "b": ["u", "v", "v", None]}), quasi_identifiers=["a", "b"])
    points = build_points(table, labels=say_labels(grid="exact"))
    gone = [i for i, codes in enumerate(points.codes[:, 0]) if codes == 2 or points.codes[i, 1] == 1]
    rest = table.without(points.mappings, np.array(gone))
    last = rest.without(build_points(rest, labels=say_labels(grid="exact")).mappings, np.array([0]))

    assert [one.rows for one in (table, rest, last)] == [4, 2, 1]
    assert rest.engine.count_values(1, "text")[0] == ["v"]
    assert table.engine.count_values(1, "text")[0] == ["u", "v"]
    assert (rest.facts("b").nulls, table.facts("b").nulls) == (0, 1)
    del table, rest
    assert last.rows == 1


def test_a_release_outlives_the_name_of_its_table(lonely):
    release = kech.make_release(
        kech.read_table(lonely, quasi_identifiers=["group", "age"]), k=8, grid="exact", suppress=0.05
    )

    assert len(release.frame) == 87


# The transformer


def test_rows_that_are_left_out_get_stars(lonely):
    frame = pa.csv.read_csv(lonely).select(["group", "age"])
    fitted = pickle.loads(
        pickle.dumps(kech.Anonymizer(k=8, grid="exact", request=kech.Request().override(suppress=0.05)).fit(frame))
    )
    rows = [tuple(row) for row in fitted.transform(frame)]

    assert rows[87:] == [("*", "*")] * 3
    assert Counter(rows[:87]).most_common()[-1][1] >= 8
    assert ("*", "*") not in rows[:87]


@pytest.mark.parametrize("cut", ["local", "minimal", "domain"])
def test_the_transformer_keeps_goals_and_equal_rows_together(cut):
    frame = generate_town(150).to_pandas()[[*TOWN, "diagnosis"]]
    request = kech.Request().override(l=2, alpha=0.8, suppress=0.06, effort="quick")
    asked = kech.Anonymizer(k=4, sensitive=["diagnosis"], cut=cut, request=request)
    rows = clone(asked).fit_transform(frame)
    classes, labels = {}, {}
    for row, told in zip(rows.tolist(), frame[TOWN].itertuples(index=False), strict=True):
        classes.setdefault(tuple(row[:-1]), []).append(row[-1])
        assert labels.setdefault(told, row[:-1]) == row[:-1]
    stars = len(classes.pop(("*",) * len(TOWN), []))

    assert stars <= 9
    for held in classes.values():
        assert len(held) >= 4
        assert len(set(held)) >= 2
        assert Counter(held).most_common(1)[0][1] <= 0.8 * len(held)


@given(grained(), st.integers(1, 4))
@fewer
def test_goals_are_met_without_parting_equal_rows(points, k):
    k, goal = min(k, points.rows), say_goal(l=2)
    if not reachable(points, goal):
        return
    (made,) = cut(points, [k], goal=goal, split_points=False)
    owners = {}
    for point, group in zip(made.points.part_of[made.point].tolist(), made.group.tolist(), strict=True):
        assert owners.setdefault(point, group) == group

    assert keeps_goals(goal, made)
    assert made.rows.sum() == points.rows

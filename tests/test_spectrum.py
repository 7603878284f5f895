import json

import numpy as np
import pyarrow as pa
import pytest

import kech
from cutting import cut, recording, say_labels
from kech.cuts.protection import protect_labels
from kech.errors import BadOption, NoQuasiIdentifier, TooFewRows
from kech.points.partition import build_partition, mean_loss
from kech.points.points import build_points
from kech.tables.demo import generate_town, nine_rows
from strategies import random_case, seeds

FIELDS = [
    "k", "cut", "eps", "eps_error", "eps_lower_bound", "classes", "loss", "loss_lower_bound", "loss_gap",
    "variance", "variance_lower_bound", "suppressed", "average_class", "c_avg", "discernibility", "loss_per_column",
    "l", "t",
]  # fmt: skip
TOWN = {"quasi_identifiers": ["age", "sex", "zip", "moved_in", "schooling", "job"], "sensitive": ["diagnosis"]}


@pytest.fixture(scope="module")
def nine():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"], sensitive=["salary"]) as table:
        yield table


@pytest.fixture(scope="module")
def town():
    with kech.read_table(generate_town(2000), **TOWN) as table:
        yield table


def check_against_releases(table, spectrum, grid, every=1, effort=None, protect=None):
    """A release at k, for which no less is searched, costs about as much as its row says or less.

    Ends are moved at random, and a spectrum takes the luckiest k: the fewer the classes, the more that may be.
    """
    for row in spectrum.rows()[::every]:
        partition = kech.make_release(table, k=row["k"], grid=grid, protect=protect, effort=effort).partition
        luck = 0 if grid == "exact" else 0.2 / partition.classes**0.5
        assert mean_loss(partition) <= (1.05 + luck) * row["loss"] + 1e-12
        assert row["average_class"] == table.rows / row["classes"]
        assert row["c_avg"] == row["average_class"] / row["k"]
        assert row["discernibility"] >= table.rows * row["average_class"] - 1e-6
        assert sum(row["loss_per_column"].values()) / len(table.quasi_identifiers) == pytest.approx(row["loss"])
        assert partition.k >= row["k"]


@pytest.mark.parametrize("cut", ["best", "", [], ["local", "best"]])
def test_a_cut_that_is_none_is_refused_before_rows_are_counted(nine, monkeypatch, cut):
    monkeypatch.setattr("kech.points.points.build_points", None)
    with pytest.raises(BadOption, match="local, minimal, domain, regime"):
        kech.compute_spectrum(nine, cut=cut)


# The paper's nine rows


def test_the_nine_rows_at_every_k(nine):
    rows = kech.compute_spectrum(nine, grid="exact").rows()

    assert [row["k"] for row in rows] == list(range(2, 10))
    assert [row["classes"] for row in rows] == [4, 3, 2, 1, 1, 1, 1, 1]
    assert rows[1]["eps"] == 0.25
    assert rows[1]["loss"] == pytest.approx(((3 + 14 + 15) / 30 + (76 + 4 + 68) / 307) / 6)
    assert [row["loss"] for row in rows[3:]] == [1] * 5


def test_the_json_of_the_nine_rows(nine):
    made = kech.compute_spectrum(nine, grid="exact").to_json()

    assert json.loads(json.dumps(made)) == made
    assert list(made) == ["rows", "counted", "people", "points", "step", "quasi_identifiers", "no_bound", "spectrum"]
    assert (made["rows"], made["points"], made["quasi_identifiers"]) == (9, 9, ["age", "zip"])
    assert all(list(row) == FIELDS for row in made["spectrum"])
    assert {row["cut"] for row in made["spectrum"]} == {"local"}


# Laws


@pytest.mark.parametrize("seed", seeds(30))
def test_a_release_costs_what_its_row_says(seed):
    case = random_case(seed)
    protect = "ends" if case.grid == "round" else None  # without labels that are padded at random
    with kech.read_table(case.table, **case.roles) as table:
        spectrum = kech.compute_spectrum(table, grid=case.grid, protect=protect, effort="quick")

        assert [row["k"] for row in spectrum.rows()] == list(range(2, case.table.num_rows + 1))
        assert all(0 <= row["loss"] <= 1 for row in spectrum.rows())
        assert all(0 <= row["eps"] <= 0.5 for row in spectrum.rows())
        every = 1 + case.table.num_rows // 4
        check_against_releases(table, spectrum, case.grid, every=every, protect=protect, effort="quick")


@pytest.mark.parametrize("seed", seeds(40))
def test_the_loss_never_falls_as_k_grows_and_no_larger_k_is_cheaper_on_the_grid_of_k(seed):
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        points = build_points(table, labels=say_labels(grid=case.grid))
    ks = range(1, points.rows + 1)
    with recording("kech.cuts.goals.protect_labels") as calls:
        cut(points, ks)
    made = [tight for (tight,), _ in calls]
    for k, mine, next_one in zip(ks[:-1], made[:-1], made[1:], strict=True):
        theirs = build_partition(points.published_at(k), next_one.point, next_one.group, next_one.rows)
        assert mean_loss(protect_labels(mine)) <= mean_loss(protect_labels(theirs)) + 1e-12, k
    assert all(np.diff([mean_loss(protect_labels(partition)) for partition in made]) >= 0)


@pytest.mark.parametrize("seed", seeds(12))
def test_the_loss_of_many_k_never_falls(seed):
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        rows = kech.compute_spectrum(table, k=range(1, table.rows + 1), grid=case.grid).rows()

    assert all(np.diff([row["loss"] for row in rows]) >= 0)
    assert all(row["average_class"] >= row["k"] for row in rows)


@pytest.mark.long
def test_a_town_from_2_to_100(town):
    spectrum = kech.compute_spectrum(town)
    rows = spectrum.rows()
    losses = [row["loss"] for row in rows]

    assert [row["k"] for row in rows] == list(range(2, 101))
    assert all(np.diff(losses) >= 0)
    assert all(row["loss_lower_bound"] is None for row in rows)
    assert losses[0] < 0.2 < losses[-1]
    assert all(np.diff([row["classes"] for row in rows]) <= 0.1 * rows[0]["classes"])
    check_against_releases(town, spectrum, "round", every=17, effort="quick")


@pytest.mark.parametrize("goal", [{"l": 4}, {"l": 3, "suppress": 0.05}])
def test_the_loss_never_falls_with_goals_and_rows_left_out_either(goal):
    with kech.read_table(generate_town(250), **TOWN) as table:
        rows = kech.compute_spectrum(table, k=[2, 3, 7, 8], effort="quick", **goal).rows()

    assert all(np.diff([row["loss"] for row in rows]) >= 0)


@pytest.mark.long
def test_large_k_are_released_as_their_rows_say(town):
    spectrum = kech.compute_spectrum(town, k=[255, 300, 1001, 2000], effort="quick")
    losses = [row["loss"] for row in spectrum.rows()]

    check_against_releases(town, spectrum, "round", effort="quick")
    assert all(np.diff(losses) >= 0)


def test_the_order_in_which_k_are_asked_does_not_matter(nine):
    assert kech.compute_spectrum(nine, k=[5, 3, 3, 2]).rows() == kech.compute_spectrum(nine, k=[2, 3, 5]).rows()


# The odd ones


def test_k_of_one_and_of_all(nine):
    first, last = kech.compute_spectrum(nine, k=[1, 9], grid="exact").rows()

    assert (first["loss"], first["classes"], first["eps"]) == (0, 9, 0)
    assert (last["loss"], last["classes"], last["eps"]) == (1, 1, 0.5)


def test_twins_cost_nothing():
    with kech.read_table(
        pa.table({"a": [1, 1, 7, 7], "b": ["x", "x", "y", "y"]}), quasi_identifiers=["a", "b"]
    ) as table:
        rows = kech.compute_spectrum(table, grid="exact").rows()

    assert [(row["k"], row["loss"], row["classes"]) for row in rows] == [(2, 0, 2), (3, 1, 1), (4, 1, 1)]


def test_a_constant_column_costs_nothing():
    with kech.read_table(pa.table({"a": [5] * 6, "b": ["x"] * 6}), quasi_identifiers=["a", "b"]) as table:
        for grid in ("round", "exact", 10):
            rows = kech.compute_spectrum(table, grid=grid).rows()
            assert [row["classes"] for row in rows] == [1] * 5
            assert grid == 10 or [row["loss"] for row in rows] == [0] * 5


def test_goals_nobody_can_keep(nine):
    with pytest.raises(TooFewRows, match="k=10 needs 10 rows"):
        kech.compute_spectrum(nine, k=[2, 10])
    with pytest.raises(BadOption, match=r"^k: "):
        kech.compute_spectrum(nine, k=[0, 2])
    with pytest.raises(BadOption, match=r"^cut: "):
        kech.compute_spectrum(nine, cut="none")
    with kech.read_table(nine_rows().slice(0, 1), quasi_identifiers=["age"]) as table, pytest.raises(TooFewRows):
        kech.compute_spectrum(table)
    with kech.read_table(nine_rows()) as table, pytest.raises(NoQuasiIdentifier):
        kech.compute_spectrum(table)

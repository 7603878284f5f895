from collections import Counter
from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest

import kech
from cutting import say_labels
from kech.errors import BadHierarchy, BadOption, NoQuasiIdentifier
from kech.points.points import build_points
from kech.tables.demo import nine_rows
from oracles import means
from strategies import random_case, seeds
from test_oracle_tables import as_read, paths_of


def points_of(columns, names=None, *, grid="round", **options):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    with kech.read_table(table, quasi_identifiers=names or table.column_names, **options) as read:
        return build_points(read, labels=say_labels(grid=grid))


# The paper's nine rows


def test_nine_rows_are_nine_points():
    points = points_of(nine_rows(), ["age", "zip"], grid="exact")

    assert [axis.kind for axis in points.axes] == ["number", "number"]
    assert points.rows == 9
    assert points.weights.tolist() == [1] * 9
    assert points.codes[:, 0].tolist() == list(range(9))  # 22, 24, 25, 32, ...
    assert points.codes[:, 1].tolist() == [0, 5, 4, 2, 3, 7, 6, 1, 8]


def test_on_the_grid_the_nine_rows_are_fewer_points():
    points = points_of(nine_rows(), ["age"])

    assert points.weights.tolist() == [3, 3, 3]


# Laws


@pytest.mark.parametrize("seed", seeds(60))
def test_points_are_distinct_and_weigh_what_their_rows_count(seed):
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        points = build_points(table, labels=say_labels(grid=case.grid))
    columns = [[as_read(x, axis.parameters([])) for x in column] for axis, column in held(points, case)]
    coded = Counter(
        zip(*(encode(axis, column) for axis, column in zip(points.axes, columns, strict=True)), strict=True)
    )
    found = dict(zip(map(tuple, points.codes.tolist()), points.weights.tolist(), strict=True))

    assert found == coded
    assert points.codes.dtype == np.int32
    assert points.codes.flags.c_contiguous


@pytest.mark.parametrize("seed", seeds(60))
def test_the_label_of_a_code_stands_for_the_values_behind_it(seed):
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        points = build_points(table, labels=say_labels(grid=case.grid)).published_at(case.k)
    for axis, column in held(points, case):
        values = [as_read(x, axis.parameters([])) for x in column]
        codes = np.array(encode(axis, values))
        labels = axis.labels(*axis.close(codes, codes))
        public = axis.parameters(labels)
        for value, label in zip(values, labels, strict=True):
            assert means(label, value, public, paths_of(case, public, values)), (label, value)


def held(points, case):
    return [(axis, case.table.column(axis.column).to_pylist()) for axis in points.axes]


def encode(axis, values):
    if axis.kind in ("number", "date"):
        return axis.encode(np.array([seconds(x) for x in values], float)).tolist()
    return axis.encode(values).tolist()


def seconds(value):
    if value is None:
        return np.nan
    return (value - datetime(1970, 1, 1)).total_seconds() if isinstance(value, datetime) else value


# Which axis a column gets


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "number"),
        ([1.5, None], "number"),
        (["1", "2"], "number"),
        ([date(2020, 1, 1)], "date"),
        (["2020-01-01", "2020-02-29"], "date"),
        ([datetime(2020, 1, 1, 12)], "date"),
        (["a", "b"], "set"),
        ([True, False], "set"),
        ([f"{x:05}" for x in range(2100, 2150)], "hierarchy"),
        ([f"{x:05}" for x in range(2100, 2105)], "set"),
        (pa.array([None, None], pa.string()), "set"),
        (pa.array([None, None], pa.float64()), "set"),
        (pa.array(["a", "b", "a"]).dictionary_encode(), "set"),
    ],
)
def test_kinds(values, kind):
    assert points_of({"c": values}).axes[0].kind == kind


def test_a_hierarchy_makes_a_tree_even_of_numbers():
    levels = {0: ["1", "2", "3"], 1: ["low", "low", "high"], 2: ["*"] * 3}
    points = points_of({"c": [1, 2, 3, 3, None]}, hierarchies={"c": levels})

    assert points.axes[0].kind == "hierarchy"
    assert points.weights.tolist() == [1, 1, 2, 1]


def test_a_hierarchy_over_a_column_of_nothing():
    points = points_of({"c": pa.array([None, None], pa.string())}, hierarchies={"c": {0: ["a"], 1: ["*"]}})

    assert points.weights.tolist() == [2]
    assert points.axes[0].size == 1


@pytest.mark.parametrize("kind", ["number", "date", "set"])
def test_a_declared_column_of_nothing(kind):
    points = points_of({"c": pa.array([None, None], pa.string()), "d": [1, 2]}, axes={"c": kind})

    assert points.axes[0].size == 1


def test_an_order_names_every_value():
    assert points_of({"c": ["lo", "hi"]}, axes={"c": ["lo", "mid", "hi"]}).codes.tolist() == [[0], [2]]
    with pytest.raises(BadHierarchy, match="1 values of the column are missing"):
        points_of({"c": ["lo", "other"]}, axes={"c": ["lo", "hi"]})


def test_frequent_values_stand_first_in_a_set():
    points = points_of({"c": ["b", "a", "c", "c", "b", "c"]})

    assert points.axes[0].texts == ("c", "b", "a")


# Grids


@pytest.mark.parametrize("grid", ["round", "exact", 5, 0.1, "5"])
def test_grids_that_are_known(grid):
    assert say_labels(grid=grid).grid in ("round", "exact", 5.0, 0.1)


@pytest.mark.parametrize("grid", ["coarse", 0, -1, float("inf"), float("nan"), ""])
def test_grids_that_are_refused(grid):
    with pytest.raises(BadOption, match=r"^grid: "):
        say_labels(grid=grid)


def test_a_column_has_its_own_grid():
    choice = kech.AxisChoice(grid=10.0)
    points = points_of({"a": [1, 2, 30], "b": [1, 2, 30]}, grid="exact", axes={"a": choice})

    assert [axis.size for axis in points.axes] == [2, 3]


# The odd ones


def test_one_row():
    points = points_of({"a": [5], "b": ["x"], "c": pa.array([None], pa.string())})

    assert points.codes.shape == (1, 3)
    assert points.rows == 1


def test_twins_are_one_point():
    assert points_of({"a": [5, 5, 7], "b": ["x", "x", "x"]}, grid="exact").weights.tolist() == [2, 1]


def test_null_is_a_value_of_its_own():
    points = points_of({"a": [1, None, 1, None], "b": ["x", None, "x", "y"]}, grid="exact")

    assert sorted(points.weights.tolist()) == [1, 1, 2]


def test_equal_numbers_written_differently_are_one_value():
    assert points_of({"a": ["1", "1.0", "+1", "1e0"]}).weights.tolist() == [4]


def test_no_quasi_identifier():
    with kech.read_table(nine_rows()) as table, pytest.raises(NoQuasiIdentifier):
        build_points(table)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kech
from cutting import say_labels
from kech.cuts.starts import cut_ordering
from kech.points.partition import largest_radius, mean_loss
from kech.points.points import build_points
from kech.tables.demo import nine_rows
from oracles import label_width, table_loss
from strategies import point_sets, random_case, unhurried


@st.composite
def partitions(draw):
    points = draw(point_sets())
    k = draw(st.integers(1, points.rows))
    return next(cut_ordering(points, [k], threads=1))


def spells_all_values(partition):
    """Whether no value is rare: eps measures rows, and a label may be wider only where it takes in rare values."""
    axes = partition.points.axes
    return all(axis.state == axis.at(1).state for axis in axes)


def nine(k):
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        return next(cut_ordering(build_points(table, labels=say_labels(grid="exact")), [k], threads=1))


def printed_rows(partition):
    """Labels of every row, and the public axes."""
    labels = [partition.labels(j) for j in range(len(partition.points.axes))]
    rows = [cells for cells, size in zip(zip(*labels, strict=True), partition.sizes, strict=True) for _ in range(size)]
    return rows, [axis.parameters(labels[j]) for j, axis in enumerate(partition.points.axes)]


# The paper's nine rows


def test_the_loss_of_table_1b():
    """Ages 3, 14 and 15 of 30, ZIP codes 76, 4 and 68 of 307 wide."""
    partition = nine(3)

    assert mean_loss(partition) == pytest.approx(((3 + 14 + 15) / 3 / 30 + (76 + 4 + 68) / 3 / 307) / 2)
    assert largest_radius(partition) == 0.25  # eps* of MATH


def test_the_table_itself_loses_nothing_and_one_class_loses_all():
    assert mean_loss(nine(1)) == 0
    assert mean_loss(nine(9)) == 1
    assert largest_radius(nine(9)) == 0.5


# Laws


@given(partitions())
@unhurried
def test_loss_is_the_average_width_of_what_is_printed(partition):
    assert mean_loss(partition) == pytest.approx(table_loss(*printed_rows(partition)), abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_the_loss_of_a_column_is_the_average_over_its_cells(seed):
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        asked = {"k": [case.k], "grid": case.grid, "effort": 0, "cut": "domain"}
        (row,) = kech.compute_spectrum(table, **asked).rows()
        made = kech.make_release(table, **asked | {"k": case.k})
    for axis in made.axes:
        widths = [label_width(label, axis) for label in made.labels[axis["column"]]]
        expected = np.average(widths, weights=made.partition.sizes)
        assert row["loss_per_column"][axis["column"]] == pytest.approx(expected, abs=1e-9)


@given(partitions())
@unhurried
def test_no_loss_is_below_0_or_above_1(partition):
    assert 0 <= mean_loss(partition) <= 1


@given(partitions().filter(spells_all_values))
@unhurried
def test_no_class_is_wider_than_2_eps_and_one_is_as_wide(partition):
    """Of a set two values are 1 apart, however they are printed."""
    eps = largest_radius(partition)
    axes = partition.points.axes
    distances = [axis.metric(partition.lo[:, j], partition.hi[:, j]) for j, axis in enumerate(axes)]

    assert all((axis.widths(partition.lo[:, j], partition.hi[:, j]) <= 2 * eps).all() for j, axis in enumerate(axes))
    assert np.max(distances) == 2 * eps

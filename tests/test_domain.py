import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from kech.cuts.domain import cut_domain
from kech.lattice import build_lattice
from kech.loss import column_losses, mean_loss
from kech.partition import build_partition
from kech.points import build_points
from oracles import label_width
from strategies import point_sets, random_case, unhurried

fewer = settings(unhurried, max_examples=40)


# Laws


@given(point_sets(), st.integers(1, 40), st.sampled_from([0.0, 0.05, 0.3]))
@fewer
def test_the_cut_is_the_best_node_of_the_lattice(points, k, suppress):
    k = min(k, points.rows)
    (partition,) = cut_domain(points, [k], threads=1, suppress=suppress)
    best = build_lattice(points).best(k, suppress)

    assert partition.k >= k
    assert partition.suppressed == best.suppressed <= suppress * points.rows + 1e-9
    assert partition.classes == best.classes
    assert mean_loss(partition) == pytest.approx(best.loss, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_every_row_of_a_column_is_at_the_same_level(seed):
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        points = build_points(table, grid=case.grid, steps=True)
    (partition,) = cut_domain(points, [case.k], threads=2)
    levels = build_lattice(points).levels
    for j in range(len(points.axes)):
        boxes = set(zip(partition.lo[:, j].tolist(), partition.hi[:, j].tolist(), strict=True))
        fitting = [level for level in levels[j] if boxes <= set(zip(level.lo.tolist(), level.hi.tolist(), strict=True))]
        assert fitting
    assert partition.k >= case.k
    assert partition.sizes.sum() == points.rows


@given(point_sets(), st.integers(2, 6))
@fewer
def test_suppressed_rows_lose_everything(points, k):
    """Against the rows as printed: a row without labels is 1 wide on every axis."""
    lattice = build_lattice(points)
    bottom = (0,) * len(points.axes)
    if not 0 < lattice.suppressed_of(bottom, k) < points.rows:
        return
    partition = lattice.partition(bottom, k, suppress=0.999)
    for j, (axis, loss) in enumerate(zip(points.axes, column_losses(partition), strict=True)):
        labels = partition.labels(j)
        widths = [label_width(label, axis.parameters(labels)) for label in labels]
        lost = partition.suppressed + sum(n * w for n, w in zip(partition.sizes.tolist(), widths, strict=True))
        assert loss == pytest.approx(lost / points.rows, abs=1e-9)


# What a release would show


def ages():
    """Ten women and ten men of every age from 20 to 79."""
    return pa.table({"age": [*range(20, 80)] * 20, "sex": ["f"] * 600 + ["m"] * 600})


def test_ages_are_printed_in_equal_steps():
    with kech.read_table(ages(), quasi_identifiers=["age", "sex"]) as table:
        (partition,) = cut_domain(build_points(table, steps=True), [50], threads=1)
    closed = {label for label in partition.labels(0) if label.startswith("[")}
    widths = {int(high) - int(low) for low, high in (label[1:-1].split(", ") for label in closed)}

    assert widths == {4}
    assert partition.sizes.tolist() == [50] * 24
    assert set(partition.labels(1)) == {"f", "m"}


def test_the_spectrum_sets_the_domain_cut_beside_the_others():
    with kech.read_table(ages(), quasi_identifiers=["age", "sex"]) as table:
        found = kech.compute_spectrum(table, k=[2, 5, 20], cut=["local", "domain"])
        alone = kech.compute_spectrum(table, k=[2, 5, 20], cut="domain")
    rows = [row for row in found.rows() if row["cut"] == "domain"]

    assert [row["k"] for row in rows] == [2, 5, 20]
    assert rows == alone.rows()
    assert [row["loss"] for row in rows] == sorted(row["loss"] for row in rows)


# The odd ones


def test_without_suppression_a_partition_covers_the_table():
    with kech.read_table(ages(), quasi_identifiers=["age"]) as table:
        points = build_points(table)
    whole = build_partition(points, np.arange(len(points.weights)), np.zeros(len(points.weights), int), points.weights)

    assert whole.suppressed == 0

from collections import Counter

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from kech.cuts import Wishes
from kech.cuts.domain import cut_domain
from kech.errors import BadOption
from kech.lattice import build_lattice
from kech.loss import column_losses, mean_loss, published_loss
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
    (partition,) = cut_domain(points, [k], Wishes(1, suppress=suppress))
    best = build_lattice(points).best(k, suppress)

    assert partition.k >= k
    assert partition.suppressed == best.suppressed <= suppress * points.rows + 1e-9
    assert partition.classes == best.classes
    if not partition.suppressed:
        assert mean_loss(partition) == pytest.approx(best.loss, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_every_row_of_a_column_is_at_the_same_level(seed):
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        points = build_points(table, grid=case.grid, steps=True)
    (partition,) = cut_domain(points, [case.k], Wishes(2))
    for j, levels in enumerate(build_lattice(points).levels):
        assert any(set(partition.labels(j)) <= set(level.labels()) for level in levels)
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
    for j, (axis, loss) in enumerate(zip(partition.points.axes, column_losses(partition), strict=True)):
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
        (partition,) = cut_domain(build_points(table, steps=True), [50], Wishes(1))
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


# Rows that are left out


@pytest.fixture
def lonely(tmp_path):
    """Two crowds, seven rows far from both, and three people whose like nobody is."""
    rows = [("a", 20)] * 40 + [("b", 60)] * 40 + [("c", 21)] * 7 + [("d", 95)] * 3
    path = tmp_path / "rows.csv"
    path.write_text("group,age,note\n" + "".join(f"{g},{age},n{i}\n" for i, (g, age) in enumerate(rows)), "utf-8")
    return path


def read_rows(path, columns):
    """Rows of each class of a written file, counted by SQL."""
    names = ", ".join(f'"{column}"' for column in columns)
    found = duckdb.sql(f"SELECT {names}, count(*) FROM '{path}' GROUP BY ALL").fetchall()
    return Counter({row[:-1]: row[-1] for row in found})


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize(("k", "suppress", "left_out"), [(5, 0.05, "<5"), (8, 0.12, 10), (8, 0.0, 0)])
def test_rows_in_are_rows_out_and_suppressed(lonely, tmp_path, name, k, suppress, left_out):
    with kech.read_table(lonely, quasi_identifiers=["group", "age"], keep=["note"]) as table:
        release = kech.make_release(table, k=k, cut="domain", suppress=suppress)
        claims = release.write(tmp_path / name)["claims"]
    figures = kech.check_certificate(tmp_path / name)
    rows = read_rows(tmp_path / name, ["group", "age"])

    assert sum(rows.values()) == claims["rows"] == figures["rows"] == 90 - release.partition.suppressed
    assert min(rows.values()) == figures["k"] >= k
    assert claims["suppressed"] == left_out
    assert claims["rows_in"] == (None if left_out == "<5" else 90)
    notes = read_rows(tmp_path / name, ["note"])
    assert len(notes) == claims["rows"]
    assert max(notes.values()) == 1


def test_a_hidden_number_of_suppressed_rows_does_not_show_in_the_loss(lonely, tmp_path):
    with kech.read_table(lonely, quasi_identifiers=["group", "age"]) as table:
        release = kech.make_release(table, k=5, cut="domain", suppress=0.05)
        claims = release.write(tmp_path / "out.csv")["claims"]

    assert release.partition.suppressed == 3
    assert claims["loss"] == pytest.approx(published_loss(release.partition), abs=1e-12)
    assert claims["loss"] < mean_loss(release.partition)


@pytest.mark.parametrize(("cut", "choice"), [("local", {"k": 5}), ("regime", {"k": 5}), ("regime", {"eps": 0.2})])
def test_other_cuts_refuse_to_leave_rows_out(lonely, cut, choice):
    with kech.read_table(lonely, quasi_identifiers=["group", "age"]) as table:
        with pytest.raises(BadOption, match="--suppress"):
            kech.make_release(table, cut=cut, suppress=0.1, **choice)


def test_the_spectrum_shows_what_is_left_out(lonely):
    with kech.read_table(lonely, quasi_identifiers=["group", "age"]) as table:
        rows = kech.compute_spectrum(table, k=[2, 5, 8], cut="domain", suppress=0.12).rows()

    assert [row["suppressed"] for row in rows] == [0, 3, 10]
    assert [row["average_class"] * row["classes"] for row in rows] == pytest.approx([90, 87, 80])

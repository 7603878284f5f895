from collections import Counter

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from cutting import code_points, cut, say_labels
from kech.errors import BadOption, KechError
from kech.points.partition import build_partition, mean_loss
from kech.points.points import build_points
from kech.tables.demo import nine_rows
from kech.topology.lattice import build_lattice
from oracles import interval_ends, label_width
from strategies import bare_axes, point_sets, random_case, seeds, unhurried

fewer = settings(unhurried, max_examples=40)


# Laws


@given(point_sets(kinds=bare_axes), st.integers(1, 40), st.sampled_from([0.0, 0.05, 0.3]))
@fewer
def test_the_cut_is_the_best_node_of_the_lattice(points, k, suppress):
    k = min(k, points.rows)
    (partition,) = cut(points, [k], "domain", suppress=suppress)
    best = build_lattice(points).best(k, suppress)

    assert partition.k >= k
    assert partition.suppressed == best.suppressed <= suppress * points.rows + 1e-9
    assert partition.classes == best.classes
    if not partition.suppressed:
        assert mean_loss(partition) == pytest.approx(best.loss, abs=1e-9)


@pytest.mark.parametrize("seed", seeds(40))
def test_every_row_of_a_column_is_at_the_same_level(seed):
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        points = build_points(table, labels=say_labels(grid=case.grid), by_level=True)
    (partition,) = cut(points, [case.k], "domain", threads=2)
    for j, levels in enumerate(build_lattice(points.published_at(case.k)).levels):
        assert any(set(partition.labels(j)) <= set(level.labels()) for level in levels)
    assert partition.k >= case.k
    assert partition.sizes.sum() == points.rows


@pytest.mark.parametrize("seed", seeds(12))
def test_levels_that_are_named_are_the_node_that_is_released(seed):
    """Every minimal node of the lattice, by name: its classes, its loss, and its levels in the parameters."""
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        lattice = kech.compute_lattice(table, grid=case.grid)
        for node in lattice.minimal_nodes(case.k)[:3]:
            levels = dict(zip(lattice.columns, node, strict=True))
            asked = {"cut": "domain", "k": case.k, "grid": case.grid, "levels": levels}
            release = kech.make_release(table, **asked, preview=True)
            assert release.partition.classes == lattice.classes_of(node)
            assert mean_loss(release.partition) == pytest.approx(lattice.loss_of(node, case.k), abs=1e-9)
            assert release.parameters["levels"] == levels


ROLES = {"quasi_identifiers": ["age", "zip"], "sensitive": ["salary"]}


@pytest.mark.parametrize(
    ("levels", "goals", "said"),
    [
        ({"age": 1}, {}, "column 'zip' has no level"),
        ({"age": 1, "zip": 1, "salary": 0}, {}, "'salary' is no quasi-identifier"),
        ({"age": 99, "zip": 0}, {}, "column 'age' has the levels 0 to 3"),
        ({"age": 0, "zip": 0}, {}, "9 rows are in classes of fewer than 3"),
        ({"age": 3, "zip": 2}, {"l": 9}, "This node reaches l = 3"),
        ({"age": 1, "zip": 1}, {"cut": "local"}, "only .*domain.* has levels"),
    ],
)  # fmt: skip
def test_levels_that_cannot_be_released_are_refused(levels, goals, said):
    with pytest.raises(KechError, match=said), kech.read_table(nine_rows(), **ROLES) as table:
        kech.make_release(table, **{"cut": "domain", "levels": levels, "k": 3} | goals, preview=True)


@given(point_sets(kinds=bare_axes), st.integers(2, 6))
@fewer
def test_suppressed_rows_lose_everything(points, k):
    """Against the rows as printed: a row without labels is 1 wide on every axis."""
    lattice = build_lattice(points)
    bottom = (0,) * len(points.axes)
    if not 0 < lattice.suppressed_of(bottom, k) < points.rows:
        return
    partition = lattice.partition(bottom, k, suppress=0.999)
    lost = []
    for j, axis in enumerate(partition.points.axes):
        labels = partition.labels(j)
        widths = [label_width(label, axis.parameters(labels)) for label in labels]
        lost.append(partition.suppressed + sum(n * w for n, w in zip(partition.sizes.tolist(), widths, strict=True)))
    assert mean_loss(partition) == pytest.approx(np.mean(lost) / points.rows, abs=1e-9)


# What a release would show


def ages():
    """Ten women and ten men of every age from 20 to 79."""
    return pa.table({"age": [*range(20, 80)] * 20, "sex": ["f"] * 600 + ["m"] * 600})


def test_ages_are_printed_in_equal_steps():
    (partition,) = cut(code_points(ages(), by_level=True), [50], "domain")
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
        claims = release.write(tmp_path / name, ledger=False)["claims"]
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
        claims = release.write(tmp_path / "out.csv", ledger=False)["claims"]

    assert release.partition.suppressed == 3
    printed = [[label_width(x, axis) for x in release.labels[axis["column"]]] for axis in release.axes]
    widths = np.mean(printed, axis=0)
    assert claims["loss"] == pytest.approx(np.average(widths, weights=release.partition.sizes), abs=1e-12)
    assert claims["loss"] < mean_loss(release.partition)


def test_the_regime_cut_at_an_eps_refuses_to_leave_rows_out(lonely):
    with kech.read_table(lonely, quasi_identifiers=["group", "age"]) as table:
        with pytest.raises(BadOption, match=r"^suppress: "):
            kech.make_release(table, cut="regime", suppress=0.1, eps=0.2)


def test_the_spectrum_shows_what_is_left_out(lonely):
    with kech.read_table(lonely, quasi_identifiers=["group", "age"]) as table:
        rows = kech.compute_spectrum(table, k=[2, 5, 8], cut="domain", suppress=0.12).rows()

    assert [row["suppressed"] for row in rows] == [0, 3, 10]
    assert [row["average_class"] * row["classes"] for row in rows] == pytest.approx([90, 87, 80])


# Nobody who is left out shows

WEST_AND_EAST = {0: ["FR", "DE", "PL", "CZ"], 1: ["West", "West", "East", "East"], 2: ["*"] * 4}
TWELVE = [("FR", "m")] * 6 + [("PL", "m")] * 3 + [("CZ", "m")] * 3


def released(people, path):
    """Labels and certified axes of people of some country and sex, at k = 5."""
    table = pa.table({"country": [country for country, _ in people], "sex": [sex for _, sex in people]})
    trees = {"country": WEST_AND_EAST}
    with kech.read_table(table, quasi_identifiers=["country", "sex"], hierarchies=trees) as read:
        axes = kech.make_release(read, k=5, cut="domain", suppress=0.1).write(path, ledger=False)["quasi_identifiers"]
    kech.check_certificate(path)
    return read_rows(path, ["country", "sex"]), axes


def test_a_suppressed_person_shows_neither_in_labels_nor_in_the_certificate(tmp_path):
    alone = released(TWELVE, tmp_path / "alone.csv")

    assert alone == released([*TWELVE, ("DE", "f")], tmp_path / "with_her.csv")
    assert alone[0] == {("West", "m"): 6, ("East", "m"): 6}
    assert alone[1] == [
        {"column": "country", "axis": "hierarchy", "leaves": 4, "labels": {"East": 2, "West": 2}},
        {"column": "sex", "axis": "set", "values": 1, "rare": 0},
    ]


def test_a_node_is_printed_whichever_of_its_leaves_occur(tmp_path):
    """One Frenchman or none: the label of the west is the same."""
    rows, _ = released([("FR", "m")] * 7 + TWELVE[6:], tmp_path / "out.csv")

    assert rows == {("West", "m"): 7, ("East", "m"): 6}


def columns_of(rng, rows):
    """A tree whose labels repeat upward, a set and an order, all with NULLs."""
    picks = {
        "job": ["clerk", "boss", "Other", "misc", "nurse", None],
        "color": ["red", "green", "{a}", "*", None],
        "size": ["S", "M", "L", "XL"],
    }
    return {name: [values[i] for i in rng.integers(0, len(values), rows)] for name, values in picks.items()}


JOBS = {
    0: ["clerk", "boss", "Other", "misc", "nurse", "doctor"],
    1: ["office", "office", "Other", "Other", "health", "health"],
    2: ["all"] * 6,
}


def lattice_of(columns):
    axes = {"size": kech.AxisChoice("ordered", ("S", "M", "L", "XL", "XXL"))}
    with kech.read_table(
        pa.table(columns), quasi_identifiers=list(columns), hierarchies={"job": JOBS}, axes=axes
    ) as table:
        return kech.compute_lattice(table)


def shown(partition):
    """Classes by their labels, and what a certificate says of the axes."""
    labels = [partition.labels(j) for j in range(len(partition.points.axes))]
    axes = [axis.parameters(texts) for axis, texts in zip(partition.points.axes, labels, strict=True)]
    return Counter(dict(zip(zip(*labels, strict=True), partition.sizes.tolist(), strict=True))), axes


def test_a_missing_value_that_is_left_out_shows_in_no_label():
    lattice = lattice_of(
        {"job": ["nurse", "nurse", "clerk", "clerk", None], "color": ["red"] * 4 + ["*"], "size": ["S"] * 5}
    )
    labels, axes = shown(lattice.partition((2, 0, 0), 2, suppress=0.5))

    assert labels == Counter({("all", "red", "S"): 4})
    assert axes[0]["leaves"] == len(JOBS[0])


@given(st.integers(0, 10**6), st.integers(4, 30), st.integers(2, 5), st.data())
@fewer
def test_without_the_suppressed_rows_the_release_is_the_same(seed, rows, k, data):
    columns = columns_of(np.random.default_rng(seed), rows)
    lattice = lattice_of(columns)
    node = tuple(data.draw(st.integers(0, height - 1)) for height in lattice.heights)
    if not lattice.suppressed_of(node, k) < rows:
        return
    partition = lattice.partition(node, k, suppress=0.9999)
    kept = set(map(tuple, lattice.points.codes[partition.point].tolist()))
    codes = [axis.encode(texts) for axis, texts in zip(lattice.points.axes, columns.values(), strict=True)]
    published = [row in kept for row in zip(*(column.tolist() for column in codes), strict=True)]
    fewer_rows = {
        name: [x for x, keep in zip(texts, published, strict=True) if keep] for name, texts in columns.items()
    }
    again = lattice_of(fewer_rows)

    assert sum(published) == rows - partition.suppressed
    if again.heights == lattice.heights:
        assert shown(again.partition(node, k)) == shown(partition)


@pytest.mark.parametrize("grid", ["round", "exact", 5.0])
@pytest.mark.parametrize("suppress", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_a_domain_follows_from_the_printed_labels(seed, suppress, grid):
    """Rounded outward by a step, or for grids that do not hide their edges from the first end to the last."""
    rng = np.random.default_rng(seed)
    columns = {"age": rng.normal(50, 20, 80).round().tolist(), "sex": rng.choice(["f", "m"], 80, p=[0.1, 0.9])}
    with kech.read_table(pa.table(columns), quasi_identifiers=["age", "sex"]) as table:
        lattice = kech.compute_lattice(table, grid=grid)
    for node in np.ndindex(lattice.heights):
        if lattice.suppressed_of(node, 4) > suppress * 80:
            continue
        labels, axes = shown(lattice.partition(node, 4, suppress))
        assert axes[0]["domain"] == pytest.approx(domain_of({age for age, _ in labels}, closed=grid != "round"))


def domain_of(labels, *, closed):
    ends = [interval_ends(label, float) for label in labels]
    edges = sorted(
        {low for low, _, _ in ends if low is not None} | {high + 1 for _, high, _ in ends if high is not None}
    )
    if not edges:
        return [0, 1]
    if closed:
        return [edges[0], edges[-1] - 1]
    step = (edges[-1] - edges[0]) // max(len(edges) - 1, 1) + 1 if len(edges) > 1 else 2
    return [edges[0] - step, edges[-1] + step - 1]


def test_where_every_age_is_a_star_the_certificate_tells_no_age():
    rng = np.random.default_rng(3)
    ages = pa.table({"age": rng.permutation(np.arange(20, 60))[:20]})
    with kech.read_table(ages, quasi_identifiers=["age"]) as table:
        lattice = kech.compute_lattice(table)

    assert shown(lattice.partition(lattice.top, 5)) == (
        {("*",): 20},
        [{"column": "age", "axis": "number", "domain": [0.0, 1.0], "grid": "round", "protect": "none"}],
    )


def test_multiples_of_a_step_are_printed_whole():
    ages = pa.table({"age": [22, 26, 33, 61, 62, 73] * 3})
    with kech.read_table(ages, quasi_identifiers=["age"]) as table:
        levels = kech.compute_lattice(table, grid=5).levels[0]

    assert [level.labels() for level in levels] == [
        ["[20, 24]", "[25, 29]", "[30, 34]", "[60, 64]", "[70, 74]"],
        ["[0, 24]", "[25, 49]", "[50, 74]"],
        ["[0, 49]", "[50, 99]"],
        ["*"],
    ]


def test_almost_all_rows_may_be_suppressed_but_not_all():
    with kech.read_table(pa.table({"x": ["a", "b"]}), quasi_identifiers=["x"]) as table:
        release = kech.make_release(table, k=2, cut="domain", suppress=0.9999999999)

    assert release.labels == {"x": ["*"]}


@pytest.mark.parametrize("suppress", [0.0, 0.3])
@pytest.mark.parametrize("seed", seeds(25))
def test_any_table_is_released_and_its_certificate_holds(seed, suppress, tmp_path):
    case = random_case(seed)
    path = tmp_path / f"out{case.suffix}"
    k = max(case.k, 2)
    with kech.read_table(case.table, **case.roles) as table:
        kech.make_release(table, k=k, cut="domain", grid=case.grid, suppress=suppress).write(path, ledger=False)

    assert kech.check_certificate(path)["k"] == min(read_rows(path, case.quasi_identifiers).values()) >= k

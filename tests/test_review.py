"""Hierarchies to look at: every value under its labels, every row counted, and the file reads back as the same tree."""

import csv

import pyarrow as pa
import pytest

import kech
from kech import read_hierarchy
from kech.errors import BadHierarchy, BadOption, BadTarget, NoSuchColumn
from kech.tables.demo import generate_town

COLUMNS = ["age", "sex", "zip", "moved_in", "schooling", "job"]
ORDER = ("primary", "secondary", "bachelor", "master", "doctorate")


@pytest.fixture(scope="module")
def town():
    axes = {"schooling": kech.AxisChoice("ordered", ORDER)}
    with kech.read_table(generate_town(800, seed=5), quasi_identifiers=COLUMNS, axes=axes) as table:
        yield table


def walk(nodes):
    """All nodes of a nested tree, from the root down."""
    for node in nodes:
        yield node
        yield from walk(node["children"])


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("age", "intervals"),
        ("moved_in", "dates"),
        ("zip", "prefixes"),
        ("schooling", "ordered"),
        ("sex", "star"),
        ("job", "star"),
    ],
)
def test_each_column_has_a_hierarchy_of_its_own_kind(town, column, kind, tmp_path):
    review = kech.review_hierarchy(town, column)
    found = review.to_json()

    assert (found["kind"], found["private"], found["column"], found["rows"]) == (
        kind,
        True,
        column,
        800 - town.facts(column).nulls,
    )
    assert all(
        not node["children"] or node["rows"] == sum(c["rows"] for c in node["children"]) for node in walk(found["tree"])
    )
    leaves = [node for node in walk(found["tree"]) if not node["children"]]
    assert len(leaves) == found["leaves"] == found["levels"][0]
    assert found["levels"] == sorted(found["levels"], reverse=True)
    assert found["levels"][-1] == len(found["tree"]) == 1

    review.write(tmp_path / f"{column}.csv")
    assert read_hierarchy(tmp_path / f"{column}.csv").paths == review.tree.paths
    assert (tmp_path / f"{column}.csv").stat().st_mode & 0o777 == 0o600
    with kech.read_table(generate_town(800, seed=5), quasi_identifiers=[column], hierarchies=tmp_path) as table:
        assert kech.review_hierarchy(table, column).to_json()["kind"] == "given"
        assert kech.make_release(table, k=5).partition.k >= 5


def test_intervals_hold_their_values():
    ages = [3, 17, 21, 22, 38, 39, 40, 64, 65, 88] * 30
    with kech.read_table(pa.table({"age": ages}), quasi_identifiers=["age"]) as table:
        tree = kech.review_hierarchy(table, "age").tree
    for value, *labels in tree.paths:
        for label in labels:
            if label.startswith("["):
                low, high = map(int, label.strip("[]").split(", "))
                assert low <= int(value) <= high
            elif label.startswith(">= "):
                assert int(value) >= int(label[3:])
    assert tree.paths[0][-1] == "*"


def test_neighbours_in_an_order_are_merged_by_two_four_eight(town):
    assert kech.review_hierarchy(town, "schooling").tree.paths[:3] == (
        ("primary", "primary..secondary", "primary..master", "primary..doctorate"),
        ("secondary", "primary..secondary", "primary..master", "primary..doctorate"),
        ("bachelor", "bachelor..master", "primary..master", "primary..doctorate"),
    )


def test_another_kind_can_be_asked_for(town):
    assert kech.review_hierarchy(town, "age", kind="star").to_json()["levels"][1:] == [1]
    prefixes = kech.review_hierarchy(town, "age", kind="prefixes")
    assert all(path[-1] == "*" for path in prefixes.tree.paths)
    assert kech.review_hierarchy(town, "job", kind="ordered").kind == "ordered"


def test_a_given_hierarchy_is_checked_against_the_column(town):
    tree = {"any": {"women": ["female"], "others": ["male", "other", "nobody"]}}
    review = kech.review_hierarchy(town, "sex", source=tree)
    assert (review.kind, review.unused) == ("given", 1)
    with pytest.raises(BadHierarchy, match="no leaf for 1 distinct value"):
        kech.review_hierarchy(town, "sex", source={"any": ["female", "male"]})


def test_values_of_unequal_depth_are_padded_only_when_asked(town, tmp_path):
    file = tmp_path / "sex.csv"
    file.write_text("female;women;*\nmale;*\nother;*\n", "utf-8")
    with pytest.raises(BadHierarchy, match="pad"):
        kech.review_hierarchy(town, "sex", source=file)
    padded = kech.review_hierarchy(town, "sex", source=file, pad=True)
    assert {len(path) for path in padded.tree.paths} == {3}


def test_numbers_are_written_as_the_table_writes_them(tmp_path):
    (tmp_path / "t.csv").write_text("x\n1.50\n2\n2.0\n 3\n" + "7\n" * 40, "utf-8")
    with kech.read_table(tmp_path / "t.csv", quasi_identifiers=["x"]) as table:
        review = kech.review_hierarchy(table, "x")
    assert {"1.50", "2", "2.0", "7"} < set(review.tree.leaves)
    review.write(tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        assert [row[0] for row in csv.reader(file, delimiter=";")] == list(review.tree.leaves)


def test_null_is_no_leaf():
    frame = pa.table({"x": ["a", None, "b", "a"]})
    with kech.read_table(frame, quasi_identifiers=["x"]) as table:
        assert kech.review_hierarchy(table, "x").to_json()["rows"] == 3


def test_a_constant_column_and_one_row():
    with kech.read_table(pa.table({"x": [5]}), quasi_identifiers=["x"]) as table:
        assert kech.review_hierarchy(table, "x").to_json()["levels"][-1] == 1


def test_refusals(town, tmp_path):
    with pytest.raises(NoSuchColumn, match="'zip'"):
        kech.review_hierarchy(town, "zipp")
    with pytest.raises(BadOption, match=r"^kind: "):
        kech.review_hierarchy(town, "zip", kind="circles")
    with pytest.raises(BadOption, match="has its levels already"):
        kech.review_hierarchy(town, "zip", kind="star", source={"a": ["b"]})
    with pytest.raises(BadTarget, match="csv"):
        kech.review_hierarchy(town, "zip").write(tmp_path / "zip.toml")
    with kech.read_table(pa.table({"x": pa.array([None, None], pa.string())}), quasi_identifiers=["x"]) as table:
        with pytest.raises(BadHierarchy, match="no values"):
            kech.review_hierarchy(table, "x")

"""An exact repeat: equal table, request and secret give equal labels and equal rows, and the ledger admits it."""

import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from conftest import read_cells
from kech.tables.batches import EqualRows, divide_shares
from test_assigning import shares_of

WORDS = ("--qi", "age,sex", "--sensitive", "illness", "--keep", "score,town,seen", "--k", 7, "--grid", "exact")


def crowded(rows=100, seed=1):
    """Few ages, so that many rows have equal quasi-identifiers and other cells that tell them apart."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(0, 15, rows),
            "sex": rng.choice(["f", "m"], rows, p=[0.9, 0.1]),
            "illness": rng.choice(["flu", "cold"], rows, p=[0.8, 0.2]),
            "score": np.round(rng.normal(0, 9, rows), 1),
            "town": pa.array([None if x < 2 else f"town {x}" for x in rng.integers(0, 12, rows)]),
            "seen": np.datetime64("2020-01-01") + rng.integers(0, 400, rows),
        }
    )


def shuffled(table, seed=0):
    order = list(range(table.num_rows))
    random.Random(seed).shuffle(order)
    return table.take(order)


def rows_of(cells):
    """A release as a multiset of rows, in a form that CSV and Parquet share."""
    return Counter(zip(*([as_read(cell) for cell in cells[name]] for name in sorted(cells)), strict=True))


def as_read(cell):
    try:
        return str(float(cell))
    except ValueError:
        return cell.removesuffix(" 00:00:00")


@pytest.fixture
def crowd(folder):
    path = folder / "crowd.csv"
    pc.write_csv(crowded(), path)
    return path


@pytest.fixture
def repeat(run, folder):
    """Release once more, see what the ledger says and what was written."""

    def run_again(source, target, *words):
        made = run("release", source, "-o", folder / target, *WORDS, "--json", *words)
        assert made.code == 0, made.err
        return made.json["ledger"]["verdict"], rows_of(read_cells(folder / target))

    return run_again


def test_points_are_shared_here(crowd):
    """Otherwise nothing below is tested."""
    with kech.read_table(crowd, quasi_identifiers=["age", "sex"], sensitive=["illness"], keep=["score"]) as table:
        partition = kech.make_release(table, k=7, grid="exact").partition
    assert np.bincount(partition.point).max() > 1


def test_an_exact_repeat_is_admitted_again_and_again(crowd, repeat):
    said, first = repeat(crowd, "first.csv")
    assert said == "first"
    for target in ("first.csv", "second.csv", "third.parquet", "fourth.csv"):
        assert repeat(crowd, target) == ("nested", first)


def test_neither_the_order_of_rows_nor_the_format_matters(crowd, repeat, folder):
    _, first = repeat(crowd, "first.csv")
    table = shuffled(crowded())
    pc.write_csv(table, folder / "mixed.csv")
    pq.write_table(table, folder / "mixed.parquet")
    assert repeat(folder / "mixed.csv", "second.csv") == ("nested", first)
    assert repeat(folder / "mixed.parquet", "third.csv") == ("nested", first)
    assert repeat(folder / "mixed.parquet", "fourth.parquet", "--threads", 1) == ("nested", first)


def test_a_repeat_without_kept_columns_is_admitted(crowd, run, folder):
    run("release", crowd, "-o", folder / "first.csv", *WORDS)
    fewer = run("release", crowd, "-o", folder / "second.csv", *WORDS[:4], *WORDS[6:], "--json")
    assert fewer.json["ledger"]["verdict"] == "nested", fewer.err


def test_rows_that_are_left_out_are_left_out_again(crowd, repeat):
    _, first = repeat(crowd, "first.csv", "--suppress", "0.1")
    assert repeat(crowd, "second.csv", "--suppress", "0.1") == ("nested", first)


def test_the_order_of_the_rows_in_the_file_is_new_each_time(crowd, repeat, folder):
    repeat(crowd, "first.csv")
    repeat(crowd, "second.csv")
    one, two = ((folder / name).read_text("utf-8") for name in ("first.csv", "second.csv"))
    assert one != two
    assert sorted(one.splitlines()) == sorted(two.splitlines())


def test_another_owner_deals_otherwise(crowd, tmp_path, monkeypatch):
    """One owner always alike, another otherwise."""
    found = []
    for name in ("one", "two"):
        monkeypatch.setenv("KECH_HOME", str(tmp_path / name))
        with kech.read_table(crowd, quasi_identifiers=["age", "sex"], keep=["score"]) as table:
            release = kech.make_release(table, k=7, grid="exact", effort="quick")
            found.append([rows_of(frame_cells(release)) for _ in range(2)])
    assert found[0][0] == found[0][1]
    assert found[1][0] == found[1][1]
    assert found[0][0] != found[1][0]


def frame_cells(release):
    table = release.batches(for_csv=False).read_all()
    return {name: [str(cell) for cell in table[name].to_pylist()] for name in table.column_names}


# -- shares of equal rows ----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=5), min_size=1, max_size=4), st.data())
def test_every_taker_gets_what_it_takes(contents, data):
    weights = np.array([sum(rows) for rows in contents])
    listed = []
    for point, rows in enumerate(weights.tolist()):
        first = data.draw(st.integers(1, rows))
        listed += [(point, 2 * point, first)]
        listed += [(point, 2 * point + 1, more)] if (more := data.draw(st.integers(0, rows - first))) else []
    shares = shares_of(*listed)
    shared = {p for p, _, rows in listed if rows < weights[p]}  # several classes take them, or somebody is left out
    held = [(p, rows, f"{p} {i}") for p in shared for i, rows in enumerate(contents[p])]
    if not held:
        return
    order = data.draw(st.permutations(held))
    results = [split(shares, weights, some) for some in (held, order)]
    assert results[0] == results[1]  # the order of contents decides nothing
    taken = Counter()
    for (point, _, group), rows in results[0].items():
        taken[point, group] += rows
    assert taken == Counter({(p, group): rows for p, group, rows in listed if p in shared})


def split(shares, weights, held):
    """(point, content, class) -> rows."""
    point, rows, names = zip(*held, strict=True)
    contents = EqualRows(np.array(point), np.array(rows), names, names)
    dealt, left = divide_shares(shares, weights, contents, b"key")
    assert left.sum() == weights.sum()
    found = Counter()
    for p, group, first, last in zip(
        *(dealt[name].tolist() for name in ("point", "class", "first", "last")), strict=True
    ):
        assert first == found_before(found, p) + 1
        found[p, group] = last - first + 1
        assert found_before(found, p) <= left[p]
    return Counter(
        {
            (point[p - len(weights)], names[p - len(weights)], group): n
            for (p, group), n in found.items()
            if p >= len(weights)
        }
    )


def found_before(found, p):
    return sum(rows for (at, _), rows in found.items() if at == p)


def test_takers_get_every_content_in_proportion():
    contents = EqualRows(np.zeros(100, np.int64), np.full(100, 30), [str(i) for i in range(100)], [""] * 100)
    dealt, _ = divide_shares(shares_of((0, 0, 1000), (0, 1, 2000)), np.array([3000]), contents, b"key")
    rows = dealt["last"] - dealt["first"] + 1
    assert set(rows[dealt["class"] == 0]) <= {9, 10, 11}

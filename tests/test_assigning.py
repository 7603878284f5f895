from collections import Counter
from dataclasses import replace
from itertools import permutations
from math import comb

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutting import recording
from kech.errors import ResourceError
from kech.tables.batches import Output, RowAssigner, assign_classes, code_values, rebatch_evenly, shuffle_rows


def shares_of(*shares):
    """(point, class, rows), as a partition lists them."""
    last = Counter()
    listed = []
    for point, group, rows in shares:
        listed.append((point, group, last[point] + 1, last[point] + rows))
        last[point] += rows
    return dict(zip(("point", "class", "first", "last"), np.array(listed, np.int64).reshape(-1, 4).T, strict=True))


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=9).filter(any), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
)
def test_every_row_of_a_share_is_drawn_once(points, chance):
    """The last share of each point is nobody's."""
    rows = [p for p, shares in enumerate(points) for _ in range(sum(shares))]
    chance.shuffle(rows)
    taken = [(p, 10 * p + i, n) for p, shares in enumerate(points) for i, n in enumerate(shares[:-1]) if n]
    assigner, found = RowAssigner(shares_of(*taken), np.array([sum(shares) for shares in points])), Counter()
    for start in range(0, len(rows), 5):  # what was drawn before is remembered
        some = rows[start : start + 5]
        found.update(zip(some, assigner.assign(np.array(some)).tolist(), strict=True))
    left = {(p, -1): shares[-1] for p, shares in enumerate(points) if shares[-1]}
    assert found == {(p, group): n for p, group, n in taken} | left


def test_no_more_rows_are_dealt_than_there_are():
    assigner = RowAssigner(shares_of((0, 7, 2), (0, 8, 2)), np.array([5]))
    assigner.assign(np.zeros(5, np.int64))
    with pytest.raises(ValueError):
        assigner.assign(np.zeros(1, np.int64))


def test_every_deal_is_as_likely_as_any_other():
    """Of 5 rows two go to one class, two to another and one to nobody: 30 deals, 6,000 times."""
    found = Counter()
    for _ in range(6000):
        found[
            tuple(RowAssigner(shares_of((0, 7, 2), (0, 8, 2)), np.array([5])).assign(np.zeros(5, np.int64)).tolist())
        ] += 1
    assert set(found) == set(permutations([7, 7, 8, 8, -1]))
    assert len(found) == comb(5, 2) * comb(3, 2)
    assert sum((rows - 200) ** 2 / 200 for rows in found.values()) < 73  # chi-squared of 29 degrees: 1 in 80,000


def test_how_a_row_is_dealt_says_nothing_about_when_it_came():
    assigner = RowAssigner(shares_of((0, 0, 4000), (0, 1, 4000)), np.array([8000]))
    early, late = np.split(assigner.assign(np.zeros(8000, np.int64)), 2)
    assert abs(early.sum() - late.sum()) < 300  # sqrt(8000) / 2 is one standard deviation


@settings(deadline=None)
@given(st.integers(0, 300), st.integers(1, 70))
def test_every_row_comes_once(rows, at_once):
    batches = list(shuffle_rows(pa.table({"a": range(rows)}), at_once))
    assert sorted(x for batch in batches for x in batch["a"].to_pylist()) == [*range(rows)]
    assert {len(batch) for batch in batches[:-1]} <= {at_once}


def test_all_rows_come_in_every_order():
    """Four rows, three at a time, in 24 orders, 4,800 times; the two cells of a row stay together."""
    found = Counter()
    rows = pa.concat_tables([pa.table({"a": [0, 1], "b": ["0", "1"]}), pa.table({"a": [2, 3], "b": ["2", "3"]})])
    for _ in range(4800):
        batches = list(shuffle_rows(rows, 3))
        assert [len(batch) for batch in batches] == [3, 1]
        found[tuple(x for batch in batches for x in batch["a"].to_pylist())] += 1
    assert len(found) == 24
    assert sum((rows - 200) ** 2 / 200 for rows in found.values()) < 65  # chi-squared of 23 degrees: 1 in 150,000
    assert all(str(a) == b for batch in batches for a, b in zip(*batch.to_pydict().values(), strict=True))
    assert list(shuffle_rows(rows.slice(0, 0), 3)) == []


def test_only_rows_of_shared_points_are_drawn():
    with recording("kech.tables.batches.ShareDraw") as made:
        assigner = RowAssigner(shares_of((0, 5, 3), (2, 1, 1), (2, 4, 2)), np.array([3, 2, 3]))
    ((_, shares),) = made
    assert assigner.assign(np.array([0, 1, 0, 1, 0])).tolist() == [5, -1, 5, -1, 5]
    assert sorted(assigner.assign(np.array([2, 2, 2])).tolist()) == [1, 4, 4]
    shares.draw(np.array([0, 1, 0, 1, 0]), np.zeros(5, np.uint64))  # all rows of the others are still there
    with pytest.raises(ValueError):
        shares.draw(np.array([2]), np.zeros(1, np.uint64))


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "", None]), min_size=1, max_size=6), st.lists(st.integers(0, 5), max_size=9))
def test_labels_are_those_of_the_classes_and_no_others(labels, classes):
    classes = [c % len(labels) for c in classes]
    found = code_values(pa.array(labels, pa.string())).decode(np.array(classes, np.int64))
    assert found.to_pylist() == [labels[c] for c in classes]
    assert found.dictionary.to_pylist() == sorted({labels[c] for c in classes} - {None})
    known = replace(code_values(pa.array(labels, pa.string())), labels=True).decode(np.array(classes, np.int64))
    assert known.to_pylist() == [labels[c] for c in classes]
    assert known.dictionary.to_pylist() == sorted({*labels} - {None})


def test_numbers_are_written_out():
    found = code_values(pa.array([None, 7, 5, 7])).decode(np.array([3, 0, 2, 1], np.uint8))
    assert (found.type, found.to_pylist()) == (pa.int64(), [7, None, 5, 7])


def test_rows_pass_one_batch_after_the_other(monkeypatch):
    monkeypatch.setattr("kech.tables.batches.SIZES", (5,))
    seen = []

    def batches():
        for start in range(0, 40, 10):
            seen.append(start)
            yield pa.record_batch({"point": pa.array([0, 1] * 5, pa.int32()), "o1": range(start, start + 10)})

    stream = pa.RecordBatchReader.from_batches(pa.schema([("point", pa.int32()), ("o1", pa.int64())]), batches())
    assigner = RowAssigner(shares_of((0, 0, 20), (1, 1, 5)), np.array([20, 20]))
    lists = {0: code_values(pa.array(["low", None]))}
    rows = assign_classes(stream, assigner, [Output("x", None, ["low", None]), Output("p", 1)], lists, 100)
    first = rows.read_next_batch()
    assert seen == [0]
    found = pa.Table.from_batches([first, *rows]).to_pydict()
    assert Counter(found["x"]) == {"low": 20, None: 5}
    assert {p for x, p in zip(found["x"], found["p"], strict=True) if x} == set(range(0, 40, 2))
    assert all(p % 2 for x, p in zip(found["x"], found["p"], strict=True) if x is None)


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), max_size=9), st.integers(1, 4), st.integers(1, 9))
def test_batches_become_even_and_no_row_moves(sizes, small, times):
    starts = np.cumsum([0, *sizes])
    batches = [pa.record_batch({"x": np.arange(start, start + n)}) for start, n in zip(starts, sizes, strict=False)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kech.tables.batches.SIZES", (small * times, small))
        patch.setattr("kech.tables.batches.AT_ONCE", small * times * 8)
        found = list(rebatch_evenly(batches))
    assert [x for batch in found for x in batch["x"].to_pylist()] == list(range(sum(sizes)))
    assert {len(batch) for batch in found[:-1]} <= {small * times}
    assert sum(sizes) == 0 or 0 < len(found[-1]) <= small * times


def test_wide_rows_are_published_fewer_at_a_time():
    def first(text, most=100_000):
        return len(next(rebatch_evenly((pa.record_batch({"x": [text] * 500}) for _ in range(300)), most)))

    assert (first("x"), first("x" * 5_000)) == (100_000, 10_000)
    assert (first("x", 99_999), first("x", 20)) == (10_000, 1_000)


def test_texts_that_no_batch_can_hold_are_refused(monkeypatch):
    def too_long(_):
        raise pa.ArrowInvalid("offset overflow at CANARY")

    monkeypatch.setattr("kech.tables.batches.pa.concat_batches", too_long)
    with pytest.raises(ResourceError) as refusal:
        list(rebatch_evenly([pa.record_batch({"x": ["CANARY"] * 600})] * 2))
    assert "CANARY" not in str(refusal.value)

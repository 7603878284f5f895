"""The history cut: people hide among k with all their published rows, and as few rows as possible are left out."""

from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from kech.errors import GoalNotMet, ResourceError
from strategies import unhurried

ALMOST_ALL = 0.999
LABELS = ["number", "text"]


def as_frame(rows):
    """Rows (person, number, text), each with a number of its own."""
    frame = pd.DataFrame(rows, columns=["person", *LABELS])
    return frame.assign(person="p" + frame["person"].astype(str), row=np.arange(len(frame)))


def release(frame, k, suppress=0.0, names=LABELS, **asked):
    """A release of histories with exact edges; its rows, each with its person of the original."""
    table = kech.read_table(frame, quasi_identifiers=names, person="person", keep=["row"])
    how = {"effort": "quick", "grid": "exact", "protect_history": True}
    made = kech.make_release(table, k=k, suppress=suppress, **(how | asked))
    return made.frame.merge(frame[["row", "person"]], on="row"), made


def labels_of_people(released, names=LABELS):
    """The multiset of labels of each person, row by row."""
    labels = released[names].astype(str).agg("|".join, axis=1)
    return {person: Counter(held) for person, held in labels.groupby(released["person"])}


def check_promise(released, k):
    """Every published person has k-1 others with the same labels."""
    multisets = [frozenset(held.items()) for held in labels_of_people(released).values()]
    assert multisets
    assert min(Counter(multisets).values()) >= k


def fewest_left_out(lengths, k):
    """By trying every number of rows for every person, as many people at each number as k."""
    best = sum(lengths)
    for kept in combinations_with_replacement(range(max(lengths) + 1), len(lengths)):
        longest_first = sorted(kept, reverse=True)
        fits = all(a <= b for a, b in zip(longest_first, sorted(lengths, reverse=True), strict=True))
        if fits and all(count >= k for rows, count in Counter(kept).items() if rows):
            best = min(best, sum(lengths) - sum(kept))
    return best


@st.composite
def tables(draw, most_people=8, most_rows=4):
    """Rows of people with 1 to 4 rows each; twins and equal rows are frequent."""
    lengths = draw(st.lists(st.integers(1, most_rows), min_size=1, max_size=most_people))
    row = st.tuples(st.integers(0, draw(st.sampled_from([0, 2, 60]))), st.sampled_from("abc"))
    return [(person, *draw(row)) for person, length in enumerate(lengths) for _ in range(length)]


def ordinary_people(count=40, rows=4):
    rng = np.random.default_rng(1)
    return [(p, int(rng.integers(60)), "abc"[rng.integers(3)]) for p in range(count) for _ in range(rows)]


@settings(unhurried, max_examples=40)
@given(tables(), st.integers(2, 4), st.sampled_from([0.0, 0.1, 0.3, ALMOST_ALL]), st.sampled_from(["exact", "round"]))
def test_people_hide_among_k_or_the_cut_is_refused(rows, k, suppress, grid):
    lengths = list(Counter(row[0] for row in rows).values())
    fewest, limit = fewest_left_out(lengths, k), min(int(suppress * len(rows) + 1e-9), len(rows) - 1)

    if len(lengths) < k or fewest > limit:
        with pytest.raises(GoalNotMet):
            release(as_frame(rows), k, suppress, grid=grid)
        return
    released, _ = release(as_frame(rows), k, suppress, grid=grid)

    check_promise(released, k)
    assert len(rows) - len(released) == fewest


@settings(unhurried, max_examples=25)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=7), st.integers(2, 4))
def test_fewest_rows_are_left_out(lengths, k):
    rows = [(person, number, "a") for person, length in enumerate(lengths) for number in range(length)]
    if len(lengths) < k:
        return
    released, _ = release(as_frame(rows), k, ALMOST_ALL)

    kept = Counter(released.groupby("person").size())
    assert all(people >= k for people in kept.values())
    assert len(rows) - len(released) == fewest_left_out(lengths, k)


def test_rows_that_stay_are_spread_over_the_history():
    rows = [(0, number, "a") for number in range(9)] + [(p, number, "a") for p in (1, 2) for number in range(3)]
    released, _ = release(as_frame(rows), 3, 0.5)

    assert sorted(released.loc[released["person"] == "p0", "row"]) == [1, 4, 7]
    assert (released.groupby("person").size() == 3).all()


def test_dates_come_before_numbers_and_both_before_text():
    """Rows are aligned by their dates: two people with crossed texts and numbers keep their dates."""
    days = ["2020-01-01", "2021-01-01"]
    rows = [(p, "ab"[(p + visit) % 2], (p + visit) % 2, days[visit]) for p in range(2) for visit in range(2)]
    frame = pd.DataFrame(rows, columns=["person", "text", "number", "day"]).assign(row=range(4))
    frame["person"] = "p" + frame["person"].astype(str)
    by_day, _ = release(frame, 2, names=["text", "number", "day"])
    by_number, _ = release(frame.drop(columns="day"), 2, names=["text", "number"])

    assert sorted(by_day["day"].astype(str).unique()) == days
    assert len(by_number["number"].astype(str).unique()) == 2


def test_a_small_count_is_not_told():
    with pytest.raises(GoalNotMet, match="Fewer than 5 of 161 rows would have to be left out, and 0 may be"):
        release(as_frame([*ordinary_people(), (3, 7, "a")]), 5)


def test_what_is_said_of_a_person_with_a_thousand_rows_is_enough():
    rows = ordinary_people() + [(40, number % 60, "a") for number in range(1000)]
    with pytest.raises(GoalNotMet) as refusal:
        release(as_frame(rows), 5, 0.02)

    assert "996 of 1,160 rows would have to be left out, and 23 may be" in refusal.value.typed
    assert "--suppress 0.859" in refusal.value.typed
    released, _ = release(as_frame(rows), 5, 0.859)
    check_promise(released, 5)
    assert len(rows) - len(released) == 996


def test_k_people_come_together_in_one_row_at_least():
    released, _ = release(as_frame([(p, n, "a") for p in range(5) for n in range(p + 1)]), 5, ALMOST_ALL)

    check_promise(released, 5)
    assert len(released) == 5


def test_twins_and_constant_columns_lose_nothing():
    rows = [(p, number, text) for p in range(6) for number, text in [(1, "a"), (50, "b"), (50, "b")]]
    for held in (rows + [(p + 6, 30, "c") for p in range(3)], [(p, 5, "abc"[p % 3]) for p in range(9) for _ in (1, 2)]):
        released, made = release(as_frame(held), 3)
        check_promise(released, 3)
        assert made.public_loss == 0


def test_histories_of_many_rows_are_cut():
    """40 rows on 2 axes: more levels together than a number of 64 bits can count."""
    rng = np.random.default_rng(3)
    rows = [(p, int(rng.integers(300)), "abcdefgh"[rng.integers(8)]) for p in range(60) for _ in range(40)]
    released, _ = release(as_frame(rows), 3, grid="round")

    check_promise(released, 3)
    assert len(released) == len(rows)


def test_histories_that_are_too_long_are_refused():
    rows = [(p, number, "a") for p in range(3) for number in range(151)]

    with pytest.raises(ResourceError, match="151 rows of 2 quasi-identifiers, 302 cells; 300 at most"):
        release(as_frame(rows), 3)


def test_rows_in_any_order_give_equal_labels():
    frame = as_frame(ordinary_people())
    first, _ = release(frame, 4)
    second, _ = release(frame.sample(frac=1, random_state=4), 4)

    assert labels_of_people(first) == labels_of_people(second)

"""Composition: nested or not, and how many candidates are left, against the definition."""

import random
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import kech
from by_hand import certified, write
from kech.release.composition import Cover, Holder, compose, count_candidates, intersect, is_coarsening
from kech.release.linkage import LinkedColumn, link
from kech.release.published import read_published
from strategies import unhurried

in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=15)
STEPS = st.tuples(st.sampled_from([1, 2, 3, 4, 6, 12]), st.sampled_from([1, 2, 3, 4, 6, 12]))
PEOPLE = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=1, max_size=30)


def cell(value, step):
    return value // step * step


def box(person, steps):
    """Whole cells of a grid, so that nobody is in two of them."""
    return tuple(
        f"[{cell(value, step)}, {cell(value, step) + step - 1}]" for value, step in zip(person, steps, strict=True)
    )


@contextmanager
def linked(folder, people, *releases):
    """Releases of these people, each given as its rows, linked to the table."""
    source = write(folder / "people.csv", ("x", "y", "secret"), [(*person, i) for i, person in enumerate(people)])
    with kech.read_table(source, quasi_identifiers=["x", "y"]) as table:
        paths = [
            certified(folder / f"{i}.csv", rows, numbers=("x", "y"), secret="secret") for i, rows in enumerate(releases)
        ]
        yield [link(read_published(path, with_cells=True), table) for path in paths]


def on_grid(people, steps):
    rows = [(*box(person, steps), i) for i, person in enumerate(people)]
    return random.Random(1).sample(rows, len(rows))


@in_one_folder
@given(PEOPLE, STEPS, STEPS)
def test_grids_are_nested_when_every_label_lies_in_one(folder, people, fine, coarse):
    spans = [
        [range(cell(value, step), cell(value, step) + step) for value, step in zip(person, steps, strict=True)]
        for steps in (fine, coarse)
        for person in people
    ]
    within = [
        {*one} <= {*other}
        for small, large in zip(spans[: len(people)], spans[len(people) :], strict=True)
        for one, other in zip(small, large, strict=True)
    ]
    with linked(folder, people, on_grid(people, fine), on_grid(people, coarse)) as (earlier, later):
        assert is_coarsening(later, earlier) == all(within)


@in_one_folder
@given(PEOPLE, STEPS, STEPS, STEPS)
def test_joint_k_is_the_smallest_class_of_the_joined_rows(folder, people, one, two, three):
    grids = (one, two, three)
    joined = Counter(tuple(box(person, grid) for grid in grids) for person in people)
    alone = min(min(Counter(box(person, grid) for person in people).values()) for grid in grids)
    with linked(folder, people, *(on_grid(people, grid) for grid in grids)) as linkages:
        found = compose(linkages, "--earlier")
    assert found.joint_k == min(joined.values())
    assert found.k == alone
    assert found.below == sum(rows for rows in joined.values() if rows < alone)
    assert found.rows == len(people)
    assert found.worst_k == found.joint_k


def test_boxes_that_overlap_leave_whoever_could_be_in_the_same(folder):
    people = [(0, 0), (1, 0), (2, 0), (3, 0)]
    first = [("[0, 2]", "0", 0), ("[0, 2]", "0", 1), ("[1, 3]", "0", 2), ("[1, 3]", "0", 3)]
    second = [("[0, 1]", "0", 0), ("[0, 1]", "0", 1), ("[2, 3]", "0", 2), ("[2, 3]", "0", 3)]
    pairs = []
    with linked(folder, people, first, second) as linkages:
        found = compose(linkages, "--earlier", pairs.append)
    assert pairs == [6]  # the two in the middle could be in either class of the first file
    # everybody shares its class of the second file; but [0, 2] and [2, 3] have only the third person in common
    assert (found.k, found.joint_k, found.below, found.worst_k) == (2, 2, 0, 1)


BOXES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=5)


@given(BOXES, BOXES, st.integers(1, 6))
def test_candidates_are_counted_as_they_are_defined(first, second, enough):
    """Any intervals at all; who is in none of them does not count."""
    people, covers, shared = range(12), [], []
    for boxes in (first, second):
        cells = [set(range(low, low + width + 1)) for low, width in boxes]
        pairs = sorted((row, cell) for cell, rows in enumerate(cells) for row in people if row in rows)
        covers.append(Cover(*(np.array([pair[i] for pair in pairs], np.int64) for i in (0, 1))))
        shared.append({row: set().union(*(rows & {*people} for rows in cells if row in rows)) for row in people})
    expected = [len(shared[0][r] & shared[1][r]) for r in people if shared[0][r] and shared[1][r]]
    found = count_candidates(intersect(*covers), enough).tolist()
    assert [min(count, enough) for count in found] == [min(count, enough) for count in expected]


def test_a_column_of_many_cells_remembers_no_more_labels_than_there_is_room_for():
    cells = [str(i) for i in range(100_000)]
    column = LinkedColumn(NUMBERS, [*cells, None], np.arange(100_000, dtype=np.int32), {}, [])
    assert column.rows("[10, 12]").tolist() == [10, 11, 12]
    assert column.cover.cache_info().maxsize * len(column.texts) <= 4_000_000


NUMBERS = {"axis": "numeric", "domain": [0, 99]}
DATES = {"axis": "date", "domain": ["2020-01-01", "2024-12-31"]}
SETS = {"axis": "set", "values": 4}
SIZES = {"axis": "ordinal", "order": ["S", "M", "L", "XL"]}
TURNED = {"axis": "ordinal", "order": ["M", "S", "XL", "L"]}
MASKS = {"axis": "tree", "leaves": 9, "labels": {"4****": 4, "47***": 2, "*": 9}}
PLACES = {"axis": "tree", "leaves": 3, "labels": {"west": 2, "land": 3}}
WIDER = {"axis": "tree", "leaves": 4, "labels": {"west": 3, "land": 4}}
PATHS = {"a": {"a", "west", "land"}, "b": {"b", "west", "land"}, "c": {"c", "east", "land"}, "d": {"d", "east", "land"}}


@pytest.mark.parametrize(
    ("earlier", "label", "later", "within", "holds"),
    [
        (NUMBERS, "[20, 39]", NUMBERS, "[20, 59]", True),
        (NUMBERS, "[20, 39]", NUMBERS, "23", False),
        (NUMBERS, "[20, 39]", NUMBERS, "[20, 39)", False),
        (NUMBERS, "[20, 39)", NUMBERS, "[20, 39]", True),
        (NUMBERS, "<= 39", NUMBERS, "[0, 39]", False),
        (NUMBERS, "<= 39", NUMBERS, "< 40", True),
        (NUMBERS, ">= 80", NUMBERS, ">= 60", True),
        (NUMBERS, "23.0", NUMBERS, "23", True),
        (NUMBERS, "*", NUMBERS, "[0, 99]", False),
        (NUMBERS, ">= 80", NUMBERS, "*", True),
        (NUMBERS, None, NUMBERS, None, True),
        (NUMBERS, None, NUMBERS, "[0, 99]", False),
        (NUMBERS, "23", NUMBERS, None, False),
        (DATES, "[2020-01-01, 2020-06-30]", DATES, "[2020-01-01, 2021-01-01)", True),
        (DATES, "[2020-01-01, 2020-06-30]", DATES, "2020-06-30", False),
        (SETS, "{23, 30}", NUMBERS, "[20, 39]", True),
        (SETS, "{23, 40}", NUMBERS, "[20, 39]", False),
        (NUMBERS, "[20, 39]", SETS, "{20, 39}", False),
        (SETS, "a", SETS, "{a, b}", True),
        (SETS, "{a, b}", SETS, "a", False),
        (SETS, "{a, b}", SETS, "*", True),
        (SIZES, "S..M", SIZES, "S..L", True),
        (SIZES, "S..L", SIZES, "S..M", False),
        (SIZES, "S..L", TURNED, "S..L", False),
        (MASKS, "47612", MASKS, "47***", True),
        (MASKS, "47***", MASKS, "4****", True),
        (MASKS, "4****", MASKS, "47***", False),
        (MASKS, "47***", MASKS, "47***", True),
        (PLACES, "west", PLACES, "west", True),
        (PLACES, "a", PLACES, "west", True),
        (PLACES, "west", PLACES, "a", False),
        (PLACES, "east", PLACES, "c", False),  # only c occurs, but d is there too
        (PLACES, "west", PLACES, "land", True),
        (PLACES, "land", PLACES, "west", False),
        (PLACES, "land", PLACES, "*", True),
        (WIDER, "west", PLACES, "west", False),  # another hierarchy
    ],
)
def test_a_label_holds_another_by_what_both_say(earlier, label, later, within, holds):
    paths = PATHS if later is PLACES else {}

    def column(axis, shown):
        return LinkedColumn({"column": "x", **axis}, ["a", "b", "c", None], np.zeros(1, np.int32), paths, [shown])

    found = Holder(column(earlier, label), column(later, within))
    assert found.find_holders(label).tolist() == [holds]
    assert found.holds(label, 0) == holds


def test_without_its_hierarchy_a_label_of_a_tree_holds_itself_and_the_root_everything():
    columns = [
        LinkedColumn({"column": "x", **PLACES}, ["a", None], np.zeros(1, np.int32), {}, ["west", "a", "land"])
        for _ in range(2)
    ]
    holder = Holder(*columns)
    assert holder.find_holders("a").tolist() == [False, True, True]
    assert holder.find_holders("west").tolist() == [True, False, True]
    assert Holder(None, columns[1]).find_holders(None).tolist() == [False, False, True]


def test_the_same_boxes_with_other_people_are_no_coarsening(folder):
    people = [(0, 0), (1, 0), (2, 0), (3, 0)]
    first = [("[0, 3]", "0", 0), ("[0, 3]", "0", 1), ("[0, 2]", "0", 2), ("[0, 2]", "0", 3)]
    second = [("[0, 3]", "0", 0), ("[0, 3]", "0", 2), ("[0, 2]", "0", 1), ("[0, 2]", "0", 3)]
    with linked(folder, people, first, second, first[::-1]) as (one, other, again):
        assert not is_coarsening(other, one)
        assert is_coarsening(again, one)


@pytest.mark.parametrize(("left_out", "nested"), [((0, 1), True), ((0,), False), ((0, 1, 2), False)])
def test_only_whole_classes_may_be_left_out(folder, left_out, nested):
    people = [(i, 0) for i in range(6)]
    rows = [(f"[{i // 2 * 2}, {i // 2 * 2 + 1}]", "0", i) for i in range(6)]
    with linked(folder, people, rows, [row for row in rows if row[2] not in left_out]) as (earlier, later):
        assert is_coarsening(later, earlier) == nested
        assert not is_coarsening(earlier, later)


def test_somebody_elses_release_is_refused(folder):
    rows = [("[0, 1]", "0", 0), ("[0, 1]", "0", 1)]
    with linked(folder, [(5, 0), (6, 0)], rows) as linkages, pytest.raises(kech.errors.BadOption, match=r"^second: "):
        compose(linkages, "--second")


LETTERS = st.text("ab1\U0010ffff", max_size=4)


@given(st.lists(LETTERS, unique=True), LETTERS, st.integers(1, 4))
@unhurried
def test_a_prefix_covers_what_begins_with_it_and_is_no_longer(texts, prefix, stars):
    label = prefix + "*" * stars
    assume(label != "*")
    axis = {"column": "c", "axis": "tree", "leaves": 99, "labels": {label: 2}}
    column = LinkedColumn(axis, [*texts, None], np.arange(len(texts) + 1, dtype=np.int32), {}, [label])
    fitting = [text for text in texts if text and text.startswith(prefix) and len(text) <= len(label)]
    assert [column.texts[code] for code in np.flatnonzero(column.cover(label))] == fitting

"""Composition: nested or not, and how many candidates are left, against the definition."""

import random
from collections import Counter
from contextlib import contextmanager

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import joint_oracle as oracle
import kech
from by_hand import certified, certify, write
from kech.release.composition import compose, is_coarsening
from kech.release.linkage import link
from kech.release.published import read_published

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
    assert min(found.candidates, alone) == min(found.joint_k, alone)


def test_boxes_that_overlap_leave_whoever_could_be_in_the_same(folder):
    people = [(0, 0), (1, 0), (2, 0), (3, 0)]
    first = [("[0, 2]", "0", 0), ("[0, 2]", "0", 1), ("[1, 3]", "0", 2), ("[1, 3]", "0", 3)]
    second = [("[0, 1]", "0", 0), ("[0, 1]", "0", 1), ("[2, 3]", "0", 2), ("[2, 3]", "0", 3)]
    pairs = []
    with linked(folder, people, first, second) as linkages:
        found = compose(linkages, "--earlier", pairs.append)
    assert pairs == [10, 6, 6, 6]  # the two in the middle could be in either class of the first file
    # everybody shares its class of the second file; but [0, 2] and [2, 3] have only the third person in common
    assert (found.k, found.joint_k, found.below, found.candidates) == (2, 1, 2, 2)


BOXES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=5, unique=True)


@in_one_folder
@given(BOXES, BOXES)
def test_the_meet_is_counted_as_it_is_defined(folder, first, second):
    """Any intervals at all, of as many rows as each of them covers; who is in none of them does not count."""
    held = [[{*range(low, min(low + width, 11) + 1)} for low, width in boxes] for boxes in (first, second)]
    k = min(len(rows) for cells in held for rows in cells)
    releases = [
        [(f"[{low}, {low + width}]", "0", i) for low, width in boxes for i in range(k)] for boxes in (first, second)
    ]
    versions = [find_fits(boxes, cells, k) for boxes, cells in zip((first, second), held, strict=True)]
    expected = oracle.find_together(versions)
    sizes = [dict.fromkeys(boxes, k) for boxes in (first, second)]
    together = [oracle.count_smallest(cells, sizes) for cells in expected.values()]
    with linked(folder, [(i, 0) for i in range(12)], *releases) as linkages:
        found = compose(linkages, "--earlier")
    assert (found.rows, found.k) == (len(expected), k)
    assert found.below == sum(rows < k for rows in together)
    assert found.joint_k == min([*together, 12])


def find_fits(boxes, cells, k):
    """The boxes that each of twelve people could be in, by labels and sizes."""
    pairs = list(zip(boxes, cells, strict=True))
    fits = {row: [box for box, rows in pairs if row in rows] for row in range(12)}
    return oracle.narrow({row: found for row, found in fits.items() if found}, dict.fromkeys(boxes, k))


def test_a_column_of_many_cells_remembers_no_more_labels_than_there_is_room_for(folder):
    people = [(i, 0) for i in range(100_000)]
    with linked(folder, people, [("[10, 12]", "0", 0)]) as (linkage,):
        column = linkage.columns[0]
        assert linkage.candidates(0).tolist() == column.rows("[10, 12]").tolist() == [10, 11, 12]
        assert column.cover.cache_info().maxsize * 100_000 <= 4_000_000


NUMBERS = {"axis": "number", "domain": [0, 99]}
DATES = {"axis": "date", "domain": ["2020-01-01", "2024-12-31"]}
SETS = {"axis": "set", "values": 4}
SIZES = {"axis": "ordered", "order": ["S", "M", "L", "XL"]}
TURNED = {"axis": "ordered", "order": ["M", "S", "XL", "L"]}
MASKS = {"axis": "hierarchy", "leaves": 9, "labels": {"4****": 4, "47***": 2, "*": 9}}
PLACES = {"axis": "hierarchy", "leaves": 3, "labels": {"west": 2, "land": 3}}
WIDER = {"axis": "hierarchy", "leaves": 4, "labels": {"west": 3, "land": 4}}
PATHS = {"land": {"west": ["a", "b"], "east": ["c", "d"]}}


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
def test_a_label_holds_another_by_what_both_say(folder, earlier, label, later, within, holds):
    given = {"hierarchies": {"x": PATHS}} if later is PLACES else {}
    assert is_held(folder, ("x", earlier, label), ("x", later, within), **given) == holds


def is_held(folder, *releases, **given):
    """Whether the one class of a later release could be that of an earlier one; each is a column, axis and label."""
    people = pa.table({"x": ["a", "b", "c"], "y": ["1", "2", "3"]})
    with kech.read_table(people, quasi_identifiers=["x", "y"], **given) as table:
        paths = [
            certify(
                folder / f"{i}.csv", (name, "secret"), [(label, 1)] * 4, [{"column": name, **axis}], kept=["secret"]
            )
            for i, (name, axis, label) in enumerate(releases)
        ]
        earlier, later = (link(read_published(path, with_cells=True), table) for path in paths)
        return is_coarsening(later, earlier)


@pytest.mark.parametrize(
    ("label", "holders"), [("a", ["a", "land"]), ("west", ["west", "land"]), ("another column", ["land"])]
)
def test_without_its_hierarchy_a_label_of_a_tree_holds_itself_and_the_root_everything(folder, label, holders):
    earlier = ("x", PLACES, label) if label != "another column" else ("y", NUMBERS, "[1, 3]")
    found = [within for within in ("west", "a", "land") if is_held(folder, earlier, ("x", PLACES, within))]
    assert sorted(found) == sorted(holders)


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


@settings(in_one_folder, max_examples=50)
@given(st.lists(LETTERS, min_size=1, unique=True), LETTERS, st.integers(1, 4))
def test_a_prefix_covers_what_begins_with_it_and_is_no_longer(folder, texts, prefix, stars):
    label = prefix + "*" * stars
    assume(label != "*")
    axis = {"column": "c", "axis": "hierarchy", "leaves": 99, "labels": {label: 2}}
    path = certify(folder / "prefix.csv", ("c",), [(label,)], [axis])
    with kech.read_table(pa.table({"c": texts}), quasi_identifiers=["c"]) as table:
        found = link(read_published(path), table).candidates(0).tolist()
    assert [texts[row] for row in found] == [
        text for text in texts if text and text.startswith(prefix) and len(text) <= len(label)
    ]

"""Composition: nested or not, and how many candidates are left, against the definition."""

import random
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kech
from by_hand import certified, write
from kech.composition import Cover, compose, count_candidates, intersect, is_coarsening
from kech.linkage import link
from kech.published import read_published

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
    columns = list(zip(*people, strict=True))
    within = [
        {cell(other, coarse[j]) for other in columns[j] if cell(other, fine[j]) == cell(value, fine[j])}
        for person in people
        for j, value in enumerate(person)
    ]
    with linked(folder, people, on_grid(people, fine), on_grid(people, coarse)) as (earlier, later):
        assert is_coarsening(later, earlier) == all(len(cells) == 1 for cells in within)


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
    with linked(folder, people, first, second) as linkages:
        found = compose(linkages, "--earlier")
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
    with linked(folder, [(5, 0), (6, 0)], rows) as linkages, pytest.raises(kech.errors.BadOption, match="--second"):
        compose(linkages, "--second")

"""The refinement attack: bounds as linear programs give them, success where steps hold, none where labels are wider."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import kech
from by_hand import certified, certify, write
from kech.audit.attacks.refine import Puzzle, solve

PAIRS = 60


@st.composite
def puzzles(draw):
    """Up to seven rows, three classes, and sizes that some assignment fits."""
    rows = draw(st.lists(st.sets(st.integers(0, 2), min_size=1).map(sorted), min_size=1, max_size=7))
    chosen = [draw(st.sampled_from(groups)) for groups in rows]
    return Puzzle(rows, [chosen.count(group) for group in range(3)])


def every_assignment(puzzle):
    return [
        places
        for places in product(*puzzle.options)
        if [places.count(group) for group in range(len(puzzle.sizes))] == puzzle.sizes
    ]


@given(puzzles(), st.integers(0, 9))
def test_rows_are_pinned_where_all_assignments_agree(puzzle, seed):
    found, all_of_them = solve(puzzle, puzzle.options, np.random.default_rng(seed)), every_assignment(puzzle)
    assert tuple(found.group_of) in all_of_them
    assert found.pinned == [len(set(places)) == 1 for places in zip(*all_of_them, strict=True)]


@settings(max_examples=12)
@given(puzzles())
def test_linear_programs_pin_the_same_rows(puzzle):
    pairs = [(row, group) for row, groups in enumerate(puzzle.options) for group in groups]
    equal = [[float(row == one) for row, _ in pairs] for one in range(len(puzzle.options))]
    equal += [[float(group == one) for _, group in pairs] for one in range(len(puzzle.sizes))]
    right = [1.0] * len(puzzle.options) + puzzle.sizes
    found = solve(puzzle, puzzle.options, np.random.default_rng(0))
    for at, pair in enumerate(pairs):
        if pair[1] == found.group_of[pair[0]]:
            least = linprog([float(i == at) for i in range(len(pairs))], A_eq=equal, b_eq=right, bounds=(0, 1)).fun
            assert (least > 0.5) == found.pinned[pair[0]]


def test_steps_that_contradict_each_other_pin_nobody():
    puzzle = Puzzle([[0, 1], [0, 1], [2]], [1, 1, 1])
    found = solve(puzzle, [[0], [0], [2]], np.random.default_rng(0))
    assert (sorted(found.group_of), found.pinned) == ([0, 1, 2], [False, False, True])


INSIDE, AROUND, ACROSS = ("[1, 2]", "[1, 2]"), ("[0, 2]", "[0, 2]"), ("[1, 3]", "[1, 2]")


@pytest.mark.parametrize("narrow", [INSIDE, ACROSS], ids=["inside", "beyond in one column only"])
def test_a_box_inside_another_but_for_one_column_is_the_one_that_shrinks(folder, narrow):
    """It is claimed, once, that the other box has no row where both are; here it is the smaller that holds them."""
    places = [(1, 1), (2, 2), (1, 2), (2, 1) if narrow is INSIDE else (3, 1), *[(0, 0)] * 4]
    people = [(*place, f"p{i}") for i, place in enumerate(places)]
    rows = [(*(narrow if i < 4 else AROUND), f"p{i}") for i in range(8)]
    path = certified(folder / "released.csv", rows, numbers=("x", "y"), secret="who")
    with kech.read_table(write(folder / "people.csv", ("x", "y", "who"), people)) as table:
        *_, empty = kech.run_attacks(path, table, attacks=["refine"])
    assert (empty.note, empty.targets, empty.hits) == ("1 claims", 1, 1)


def test_an_original_that_does_not_fit_pins_nobody():
    found = solve(Puzzle([[0], [0], [0, 1]], [1, 2]), [[0], [0], [0, 1]], np.random.default_rng(0))
    assert sorted(found.group_of) == [-1, 0, 1]
    assert found.pinned == [False] * 3


# -- releases made by hand -------------------------------------------------------------------------------------------


def released_pairs(folder, *, tight, axis_grid="exact", grid="exact", pairs=PAIRS):
    """Pairs of classes [0, 10] and [8, 18] of five rows each; their ends are values, or labels are too wide."""
    people, rows = [], []
    for start in range(0, 100 * pairs, 100):
        ours, theirs = (10, 8) if tight else (8, 10)
        for values, label in (((0, 2, 4, 6, ours), (0, 10)), ((theirs, 12, 14, 16, 18), (8, 18))):
            for value in values:
                people.append((start + value, f"p{len(people)}"))
                rows.append((f"[{start + label[0]}, {start + label[1]}]", people[-1][1]))
    axis = {"column": "x", "axis": "number", "domain": [0, 100 * pairs], "grid": axis_grid}
    stated = {"sensitive": ["who"], "parameters": {"k": 5, "grid": grid}}
    path = certify(folder / "released.csv", ("x", "who"), rows, [axis], **stated)
    return path, write(folder / "people.csv", ("x", "who"), people)


@pytest.mark.parametrize(("tight", "verdict"), [(True, "above its control"), (False, "not above its control")])
def test_ends_that_are_values_pin_rows_and_wider_labels_mislead(folder, tight, verdict):
    path, people = released_pairs(folder, tight=tight)
    with kech.read_table(people) as table:
        put, pinned, _ = kech.run_attacks(path, table, attacks=["refine"])
    assert put.targets == pinned.targets == 2 * PAIRS
    assert put.hits == pinned.hits == (2 * PAIRS if tight else 0)
    assert 0.3 < pinned.control_hits / pinned.targets < 0.7
    assert put.verdict == pinned.verdict == verdict
    assert pinned.note == "120 claims; boxes and sizes leave 120 of 600 records in doubt"


@pytest.mark.parametrize(("axis_grid", "grid", "claims"), [("exact", "round", 2 * PAIRS), ("round", "exact", 0)])
def test_the_grid_of_a_column_decides_whether_its_ends_are_values(folder, axis_grid, grid, claims):
    path, people = released_pairs(folder, tight=True, axis_grid=axis_grid, grid=grid)
    with kech.read_table(people) as table:
        put, pinned, _ = kech.run_attacks(path, table, attacks=["refine"])
    assert (put.targets, pinned.targets, pinned.hits) == (claims, claims, claims)


def test_a_default_release_gives_no_record_away(folder, run):
    rng = np.random.default_rng(1)
    columns = [np.round(rng.normal(0, 10, 600), 2) for _ in range(2)]
    people = write(folder / "people.csv", ("a", "b", "who"), zip(*columns, range(600), strict=True))
    roles = ("--qi", "a", "--qi", "b", "--keep", "who")
    assert run("release", people, "-o", folder / "safe.csv", "--k", 10, *roles).code == 0
    found = run("attack", "refine", folder / "safe.csv", "--original", people, "--json").json["attacks"]
    assert [held["attack"] for held in found] == ["refine"] * 3
    assert {held["verdict"] for held in found} <= {"not above its control", "no verdict"}
    assert sum(held["targets"] for held in found) >= 10


def test_suppressed_rows_have_a_place_of_their_own(folder):
    rng = np.random.default_rng(2)
    rows = [*((int(x), i) for i, x in enumerate(rng.integers(0, 50, 200))), (900, 200), (950, 201)]
    with kech.read_table(
        write(folder / "people.csv", ("a", "who"), rows), quasi_identifiers=["a"], keep=["who"]
    ) as table:
        kech.make_release(table, k=5, suppress=0.02, grid="exact").write(folder / "safe.csv", ledger=False)
        found = kech.run_attacks(folder / "safe.csv", table, attacks=["refine"])
    assert [held.attack for held in found] == ["refine"] * 3
    assert all(0 <= held.hits <= held.targets for held in found)


def test_large_tables_are_not_refined(folder):
    path, people = released_pairs(folder, tight=True, pairs=2001)
    with kech.read_table(people) as table:
        found = kech.run_attacks(path, table, attacks=["refine"])
    assert {(held.targets, held.note) for held in found} == {(0, "only tables of at most 20,000 rows are refined")}


def test_releases_of_many_classes_are_not_refined_and_the_note_says_why(folder, monkeypatch):
    path, people = released_pairs(folder, tight=True)
    monkeypatch.setattr("kech.audit.attacks.target.MOST_CLASSES", 119)
    with kech.read_table(people) as table:
        found = kech.run_attacks(path, table, attacks=["refine"])
    assert {(held.targets, held.note) for held in found} == {(0, "only releases of at most 119 classes are refined")}


def test_fewer_rows_than_the_release_has_leave_out_nobody(folder):
    """Of one pair a row that both boxes cover is not in the original: nobody is in doubt there, all others are."""
    path, people = released_pairs(folder, tight=True)
    lines = people.read_text("utf-8").splitlines()
    people.write_text("\n".join(line for line in lines if not line.startswith("10,")) + "\n", "utf-8")
    with kech.read_table(people) as table:
        put, pinned, _ = kech.run_attacks(path, table, attacks=["refine"])
    assert pinned.note == "118 claims; boxes and sizes leave 118 of 599 records in doubt"
    assert put.hits == pinned.hits == put.targets == 2 * (PAIRS - 1)

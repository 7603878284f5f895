"""Joint k against worlds counted one by one, and against the meet by SQL, for releases of kech and of Mondrian."""

import random
from collections import Counter

import duckdb
import numpy as np
import pytest

import joint_oracle as oracle
import kech
from by_hand import certified, write
from kech import _kernels
from strategies import seeds

HEADER = ("id", "age", "zip", "finding")


# -- placements of rows into classes -----------------------------------------------------------------------------


def list_fillings(fits, room):
    """Every way to fill all classes, one row after another."""
    if not fits:
        return [()] if not any(room.values()) else []
    (row, cells), *others = fits
    found = []
    for cell in cells:
        if room[cell]:
            rest = list_fillings(others, room | {cell: room[cell] - 1})
            found += [((row, cell), *filling) for filling in rest]
    return found


@pytest.mark.parametrize("seed", seeds(300))
def test_possible_pairs_are_those_of_all_placements(seed):
    rng = random.Random(seed)
    room = {cell: rng.randint(1, 3) for cell in range(rng.randint(1, 4))}
    fits = [(row, sorted(rng.sample(range(len(room)), rng.randint(1, len(room))))) for row in range(sum(room.values()))]
    fillings = list_fillings(fits, room)

    starts = np.cumsum([0, *(len(cells) for _, cells in fits)])
    right = np.array([cell for _, cells in fits for cell in cells])
    is_found, possible = _kernels.find_placements(starts, right, np.array([*room.values()]))

    pairs = [(row, cell) for row, cells in fits for cell in cells]
    assert is_found == bool(fillings)
    if fillings:
        expected = {pair for filling in fillings for pair in filling}
        assert {pair for pair, kept in zip(pairs, possible, strict=True) if kept} == expected
        assert oracle.find_fillable_pairs(dict(fits), room) == expected


# -- worlds of two releases --------------------------------------------------------------------------------------


def draw_pair(seed):
    """Two versions of a handful of rows (id, age, value), and classes of two or more; ages may repeat."""
    rng = random.Random(seed)
    rows = [(i, rng.randint(0, 9), rng.choice("abc")) for i in range(7)]
    versions = []
    for there in (rows[: rng.randint(5, 6)], rows[rng.randint(0, 1) :]):
        ordered = sorted(there, key=lambda row: row[1]) if rng.random() < 0.7 else rng.sample(there, len(there))
        middle = rng.randint(2, len(there) - 2)
        versions.append((there, [ordered[:middle], ordered[middle:]]))
    return versions


def read_pair(versions):
    """Of each version: the classes that fit a row, and the values of each class, as a reader sees them."""
    seen = []
    for rows, parts in versions:
        values = {}
        for part in parts:
            values.setdefault(box_of(part), []).extend(row[2] for row in part)
        fits = {row[0]: [box for box in values if box[0] <= row[1] <= box[1]] for row in rows}
        seen.append((fits, values))
    return seen


def box_of(part):
    ages = [row[1] for row in part]
    return min(ages), max(ages)


def compute_pair(folder, versions):
    originals, releases = [], []
    for place, (rows, parts) in enumerate(versions):
        originals.append(write(folder / f"{place}.csv", ("id", "age", "salary"), rows))
        cells = [("[{}, {}]".format(*box_of(part)), row[2]) for part in parts for row in part]
        releases.append(certified(folder / f"{place}_safe.csv", cells))
    return kech.compute_joint_risk(releases, originals, key="id")


def find_meet_of_truth(versions):
    """Rows that are in both versions, by their classes."""
    first, second = ({row[0]: box_of(part) for part in parts for row in part} for _, parts in versions)
    return Counter((first[key], second[key]) for key in first.keys() & second.keys())


@pytest.mark.parametrize("seed", seeds(200))
def test_what_is_said_is_true_in_all_worlds(folder, seed):
    """Pinned values have no other world; joint k is the true meet where all is decided, and never below `at_least`."""
    versions = draw_pair(seed)
    seen = read_pair(versions)
    both = seen[0][0].keys() & seen[1][0].keys()
    values = {key: set() for key in both}
    for _, value_of in oracle.list_worlds(seen):
        for key in both:
            values[key].add(value_of[key])

    found = compute_pair(folder, versions)

    left = oracle.find_values([(oracle.narrow(fits, Counter(sizes(held))), held) for fits, held in seen])
    assert all(values[key] <= left[key] for key in both)  # nothing possible is excluded
    assert found.pinned[0].pinned == sum(len(left[key]) == 1 for key in both)
    assert found.pinned[0].right == found.pinned[0].pinned
    truth = min(find_meet_of_truth(versions).values())
    assert found.at_least <= truth
    if not found.undecided:
        assert found.joint_k == found.at_least == truth


def sizes(held):
    return {box: len(values) for box, values in held.items()}


# -- the meet by SQL ---------------------------------------------------------------------------------------------


def draw_versions(seed):
    rng = random.Random(seed)
    rows = [draw_row(rng, i) for i in range(rng.randint(20, 60))]
    later = [row for row in rows if rng.random() < 0.9]
    return rng, rows, [*later, *(draw_row(rng, i) for i in range(100, 100 + rng.randint(0, 15)))]


def draw_row(rng, number):
    return number, rng.randint(18, 60), rng.choice(["021", "022", "031", ""]), rng.choice(["flu", "gout", "burn"])


def release_by_kech(original, target, k):
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["finding"], "keep": ["id"], "rows_are_people": True}
    with kech.read_table(original, **roles) as table:
        kech.make_release(table, k=k, effort="quick").write(target, ledger=False)
    return {}


def release_by_mondrian(original, target, k):
    cells = f"read_csv('{original}', all_varchar=true)"
    rows = duckdb.sql(f"SELECT id, age, coalesce(zip, ''), finding FROM {cells}").fetchall()
    cells = [(row[0], *label, row[3]) for part in halve(rows, k) for label in [label_of(part)] for row in part]
    write(target, HEADER, cells)
    return {"quasi_identifiers": ["age", "zip"], "sensitive": ["finding"]}


def halve(rows, k):
    """Halves along the ages, then along the places, while both hold k (LeFevre 2006)."""
    for column in (1, 2):
        ranked = sorted(rows, key=lambda row: row[column])
        middle = ranked[len(rows) // 2][column]
        parts = [row for row in rows if row[column] < middle], [row for row in rows if row[column] >= middle]
        if min(map(len, parts)) >= k:
            return [*halve(parts[0], k), *halve(parts[1], k)]
    return [rows]


def label_of(part):
    ages, places = sorted({row[1] for row in part}), sorted({row[2] for row in part})
    return f"[{ages[0]}, {ages[-1]}]", places[0] if len(places) == 1 else f"{{{', '.join(places)}}}"


def meet_by_sql(files):
    """Rows by the labels they have in both files, which publish their number."""
    one, other = (f"read_csv('{file}', all_varchar=true)" for file in files)
    labels = "a.age, a.zip, b.age, b.zip"
    query = f"SELECT count(*) FROM {one} a JOIN {other} b USING (id) GROUP BY {labels}"
    return [rows for (rows,) in duckdb.sql(query).fetchall()]


@pytest.mark.parametrize("release", [release_by_kech, release_by_mondrian])
@pytest.mark.parametrize("seed", seeds(100))
def test_joint_k_is_the_meet_by_sql(folder, seed, release):
    rng, *tables = draw_versions(seed)
    k = rng.choice([2, 3, 5])
    originals = [write(folder / f"{place}.csv", HEADER, rows) for place, rows in enumerate(tables)]
    files = [folder / f"{place}_safe.csv" for place in range(2)]
    columns = [release(original, file, k) for original, file in zip(originals, files, strict=True)]

    found = kech.compute_joint_risk(files, originals, key="id", **columns[0])

    meet = meet_by_sql(files)
    assert (found.rows, found.undecided) == (sum(meet), 0)
    assert found.joint_k == min(meet)
    assert found.below == sum(rows for rows in meet if rows < found.k)

"""Kernels that count people: merge tree, zig-zag, lattice, suppression and repair of goals, beside plain Python."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import product
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kech import _kernels
from strategies import unhurried

CODES = 5  # on each axis
DISTINCT, ENTROPY, RECURSIVE = range(3)
ROUNDING = 1e-9


@dataclass(frozen=True)
class People:
    """Points with their rows and people; -1: each row is another person, who has no second row."""

    codes: np.ndarray
    weights: np.ndarray
    person: np.ndarray

    @property
    def points(self):
        return range(len(self.weights))

    def of(self, members):
        """Different people among some points."""
        return len({who for p in members for who in self.identify(p)})

    def identify(self, point):
        """The people of a point."""
        if self.person[point] >= 0:
            return [int(self.person[point])]
        return [(point, row) for row in range(self.weights[point])]


@st.composite
def people_tables(draw, most_rows=3):
    """Few points on two axes; equal codes of one person are one point, and of nobody known as well."""
    entries = st.tuples(st.integers(0, CODES - 1), st.integers(0, CODES - 1), st.integers(-1, 4))
    found = draw(st.lists(entries, min_size=1, max_size=10, unique=True))
    rows = draw(st.lists(st.integers(1, most_rows), min_size=len(found), max_size=len(found)))
    table = np.array(found, np.int32)
    return People(np.ascontiguousarray(table[:, :2]), np.array(rows), np.ascontiguousarray(table[:, 2]))


@st.composite
def single_rows(draw):
    """Points of one row each, and each of another person."""
    table = draw(people_tables(most_rows=1))
    distinct = np.unique(table.codes, axis=0)
    return People(distinct, np.ones(len(distinct), np.int64), np.arange(len(distinct), dtype=np.int32))


def even_widths():
    """Two lines of codes that are equally far apart."""
    widths = _kernels.Widths()
    for _ in range(2):
        places = np.arange(CODES, dtype=float)
        widths.add_line(places, places, CODES - 1.0, inf, -1)
    return widths


def assert_equal(found, expected):
    """Two answers of a kernel, array by array."""
    assert set(found) == set(expected)
    for name in expected:
        assert np.array_equal(found[name], expected[name]), name


# -- the merge tree ----------------------------------------------------------------------------------------


def merge_people(table, ball=False, threads=1):
    """The merge tree of the distinct codes with the people of each node, and the place of every point in it."""
    codes, place = np.unique(table.codes, axis=0, return_inverse=True)
    place, rows = place.ravel().astype(np.int64), np.bincount(place.ravel(), table.weights).astype(np.int64)
    units = place, table.person, np.asarray(table.weights, np.int64)
    return _kernels.merge_points(np.ascontiguousarray(codes), rows, even_widths(), ball, threads, units), place


@unhurried
@given(people_tables(), st.booleans())
def test_every_component_counts_its_people_once(table, ball):
    tree, place = merge_people(table, ball)

    for node in range(len(tree["parent"])):
        members = np.flatnonzero(np.isin(place, tree["order"][tree["begin"][node] : tree["end"][node]]))
        assert tree["people"][node] == table.of(members)
        assert tree["weight"][node] == table.weights[members].sum()


@unhurried
@given(people_tables(), st.booleans())
def test_people_leave_the_merge_tree_of_rows_as_it_is(table, ball):
    tree, place = merge_people(table, ball)
    codes, rows = np.unique(table.codes, axis=0), np.bincount(place, table.weights).astype(np.int64)

    del tree["people"]
    assert_equal(tree, _kernels.merge_points(np.ascontiguousarray(codes), rows, even_widths(), ball, 1))


@unhurried
@given(single_rows(), st.booleans())
def test_a_merge_tree_without_second_rows_counts_rows(table, ball):
    tree, _ = merge_people(table, ball)

    assert np.array_equal(tree["people"], tree["weight"])


def test_a_merge_tree_of_one_person_has_one_person_at_every_node():
    codes = np.random.default_rng(1).integers(0, CODES, (200, 2), dtype=np.int32)
    table = People(codes, np.full(200, 2), np.zeros(200, np.int32))

    assert set(merge_people(table, threads=2)[0]["people"]) == {1}


# -- the zig-zag -------------------------------------------------------------------------------------------


@st.composite
def paths(draw, tables):
    """A table and some partitions of its points."""
    table = draw(tables)
    classes = st.lists(st.integers(0, 3), min_size=len(table.points), max_size=len(table.points))
    return table, [number_in_order(found) for found in draw(st.lists(classes, min_size=1, max_size=5))]


def number_in_order(classes):
    seen = {}
    return np.array([seen.setdefault(c, len(seen)) for c in classes])


def positions(path, unions):
    """The classes at each position, as sets of points."""
    for step, here in enumerate(path):
        yield group_by(here)
        if step + 1 < len(path):
            pairs = list(zip(here.tolist(), path[step + 1].tolist(), strict=True))
            yield group_by(join_of(pairs) if unions else pairs)


def group_by(labels):
    held = defaultdict(set)
    for point, label in enumerate(labels):
        held[label if isinstance(label, tuple) else int(label)].add(point)
    return list(held.values())


def join_of(pairs):
    """The finest partition that is coarser than both: labels spread until nothing changes."""
    labels = list(range(len(pairs)))
    for _ in pairs:
        for side in range(2):
            least = {}
            for pair, label in zip(pairs, labels, strict=True):
                least[pair[side]] = min(label, least.get(pair[side], label))
            labels = [least[pair[side]] for pair in pairs]
    return labels


@unhurried
@given(paths(people_tables()), st.booleans(), st.integers(1, 2))
def test_every_bar_carries_the_people_of_its_classes(case, unions, threads):
    table, path = case
    walk = _kernels.walk_path(path, table.weights, unions, threads, table.person)

    carried = defaultdict(list)
    for bar, (birth, death) in enumerate(zip(walk["birth"], walk["death"], strict=True)):
        for position in range(birth, death + 1):
            at = walk["begin"][bar] + position - birth
            carried[position].append((int(walk["rows"][at]), int(walk["people"][at])))
    for position, classes in enumerate(positions(path, unions)):
        expected = [(int(table.weights[list(held)].sum()), table.of(held)) for held in classes]
        assert sorted(carried[position]) == sorted(expected)
        assert walk["smallest_people"][position] == min(people for _, people in expected)


@unhurried
@given(paths(people_tables()), st.booleans())
def test_people_leave_the_bars_of_rows_as_they_are(case, unions):
    table, path = case
    walk = _kernels.walk_path(path, table.weights, unions, 1, table.person)

    del walk["people"], walk["smallest_people"]
    assert_equal(walk, _kernels.walk_path(path, table.weights, unions, 1))


@unhurried
@given(paths(single_rows()), st.booleans())
def test_a_zigzag_without_second_rows_is_that_of_rows(case, unions):
    table, path = case
    walk = _kernels.walk_path(path, table.weights, unions, 1, table.person)

    assert np.array_equal(walk["people"], walk["rows"])
    assert np.array_equal(walk["smallest_people"], walk["smallest"])


# -- the lattice -------------------------------------------------------------------------------------------

CELLS = np.array([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 0]], np.int32)  # levels x codes
CELL_WIDTHS = np.array([[0, 0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25, 0.125], [1, 1, 1, 1, 1]])
BOUND = 3


def build_lattice(table, person):
    lattice = _kernels.Lattice(table.codes, table.weights, person)
    for _ in range(2):
        lattice.add_axis(CELLS, CELL_WIDTHS)
    return lattice


def figures_of(table, node, bound):
    """The definition: classes are points with equal cells."""
    cells = [tuple(int(CELLS[level][code]) for level, code in zip(node, row, strict=True)) for row in table.codes]
    classes = group_by(cells)
    counts, costs, rows = [0] * bound, [0.0] * bound, [0] * bound
    for held in classes:
        people, point = table.of(held), min(held)
        if people > bound:
            continue
        narrow = sum(1 - CELL_WIDTHS[level][code] for level, code in zip(node, table.codes[point], strict=True))
        counts[people - 1] += 1
        costs[people - 1] += narrow * int(table.weights[list(held)].sum())
        rows[people - 1] += int(table.weights[list(held)].sum())
    return len(classes), min(map(table.of, classes)), counts, costs, rows


@unhurried
@given(people_tables(), st.integers(1, 2))
def test_every_node_counts_people(table, threads):
    bound = min(BOUND, int(table.weights.sum()))
    lattice = build_lattice(table, table.person)
    nodes = list(product(range(3), repeat=2))
    rolled = lattice.roll([], bound, threads)
    seen = lattice.look(np.array(nodes, np.int32), bound, threads)
    tail = lattice.roll([1], bound, threads)

    for number, node in enumerate(nodes):
        expected = figures_of(table, node, bound)
        assert figures_at(rolled, number, bound) == expected
        assert figures_at(seen, number, bound) == expected
        if node[0] == 1:
            assert figures_at(tail, node[1], bound) == expected


def figures_at(figures, node, bound):
    """Of one node; costs are sums of eighths and so exact."""
    each = [figures[name].reshape(-1, bound)[node].tolist() for name in ("counts", "costs", "rows")]
    return int(figures["classes"][node]), int(figures["smallest"][node]), *each


@unhurried
@given(single_rows())
def test_a_lattice_without_second_rows_is_that_of_rows(table):
    bound = min(BOUND, len(table.points))
    by_people, by_rows = (build_lattice(table, person).roll([], bound, 1) for person in (table.person, None))

    assert by_people.pop("peak_bytes") >= by_rows.pop("peak_bytes")
    del by_people["rows"]
    assert_equal(by_people, by_rows)


def test_the_memory_of_a_lattice_holds_its_pairs():
    """Person 0 is in two classes of the lowest node, and in both of the nodes above it but the top."""
    codes = np.array([[0, 0], [4, 4]], np.int32)
    peaks = [
        build_lattice(People(codes, np.ones(2, np.int64), person), person).roll([], 1, 1)["peak_bytes"]
        for person in (np.array([0, 1], np.int32), np.array([0, 0], np.int32))
    ]
    assert peaks[1] > peaks[0]


# -- suppression and goals ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """A table, k, and classes of k people: pairs of a point and its rows."""

    table: People
    k: int
    classes: list

    @property
    def shares(self):
        listed = [(p, g, rows) for g, held in enumerate(self.classes) for p, rows in held]
        return tuple(np.array(column, np.int64) for column in zip(*listed, strict=True))

    def people(self, held):
        """Different people of a class; rows of nobody known are different people."""
        known = {int(self.table.person[p]) for p, _ in held if self.table.person[p] >= 0}
        return len(known) + sum(rows for p, rows in held if self.table.person[p] < 0)


@st.composite
def cuts(draw, tables, whole=True):
    """Classes at random, those of fewer than k people joined to the next; without `whole` some rows are in no class."""
    table = draw(tables)
    k = draw(st.integers(1, table.of(table.points)))
    drawn = draw(st.lists(st.integers(0, 3), min_size=len(table.points), max_size=len(table.points)))
    left = [] if whole else draw(st.lists(st.sampled_from(table.points), max_size=2))
    pieces = defaultdict(list)
    for p in table.points:
        if p not in left:
            pieces[drawn[p]].append((p, int(table.weights[p])))
    made = Cut(table, k, [])
    held = []
    for piece in pieces.values():
        held = held + piece
        if made.people(held) >= k:
            made.classes.append(held)
            held = []
    if held and made.classes:
        made.classes[-1].extend(held)
    assume(made.classes)
    return made


def classes_of(shares):
    """Each class with its points and their rows; two shares of a point in one class are one."""
    held = defaultdict(Counter)
    for point, group, rows in zip(*(column.tolist() for column in shares), strict=True):
        held[group][point] += rows
    return [list(members.items()) for members in held.values()]


def rows_of(classes):
    """Rows of each point."""
    held = Counter()
    for members in classes:
        held.update(dict(members))
    return held


def let_leave(cut, price, limit, person):
    growth = [np.zeros(CODES)] * 2
    table = cut.table
    return _kernels.leave_out(
        table.codes, table.weights, even_widths(), growth, cut.k, *cut.shares, price, limit, person
    )


@unhurried
@given(cuts(people_tables(), whole=False), st.sampled_from([0.0, 0.1, 0.5, 2.0]), st.integers(0, 8))
def test_rows_leave_within_the_limit_and_k_people_stay(cut, price, limit):
    weights = cut.table.weights
    outside = int(weights.sum()) - sum(rows_of(cut.classes).values())
    stay = classes_of(let_leave(cut, price, limit, cut.table.person))

    held = rows_of(stay)
    assert all(cut.people(members) >= cut.k for members in stay)
    assert all(held[p] in (0, weights[p]) for p in cut.table.points)
    assert int(weights.sum()) - sum(held.values()) <= max(limit, outside)


@unhurried
@given(cuts(single_rows(), whole=False), st.sampled_from([0.0, 0.1, 0.5]), st.integers(0, 8))
def test_without_second_rows_the_same_rows_leave(cut, price, limit):
    found, expected = (let_leave(cut, price, limit, person) for person in (cut.table.person, None))

    assert all(map(np.array_equal, found, expected))


def test_a_free_rider_leaves_a_class_of_k_people():
    """Person 0 has a far row; without it the class is narrow, and still holds two people."""
    codes = np.array([[0, 0], [0, 0], [4, 4]], np.int32)
    table = People(codes, np.ones(3, np.int64), np.array([0, 1, 0], np.int32))
    stay = classes_of(let_leave(Cut(table, 2, [[(0, 1), (1, 1), (2, 1)]]), 0.5, 1, table.person))

    assert [sorted(members) for members in stay] == [[(0, 1), (1, 1)]]


# -- goals, judged in plain Python -------------------------------------------------------------------------


@dataclass(frozen=True)
class Wanted:
    """Goals for one column; 0 and inf ask nothing."""

    kind: int = DISTINCT
    l: float = 0.0  # noqa: E741
    c: float = 0.0
    t: float = inf
    ordered: bool = False
    alpha: float = inf

    def aims(self):
        return _kernels.Aims(self.kind, self.l, self.c, self.t, self.alpha, [self.ordered])

    def hold(self, counts, people, overall):
        """By counts of values, the people they are shared among, and the counts of the whole table."""
        shares, whole = spread(counts, overall), spread(overall, overall)
        return (
            self.is_diverse(counts, shares)
            and distance(shares, whole, self.ordered) <= self.t + ROUNDING
            and max(counts.values()) / people <= self.alpha + ROUNDING
        )

    def is_diverse(self, counts, shares):
        if not self.l or self.kind == DISTINCT:
            return len(counts) >= self.l
        if self.kind == ENTROPY:
            return exp(-sum(p * log(p) for p in shares if p)) >= self.l - ROUNDING
        by_size = sorted(counts.values(), reverse=True)
        tail = sum(by_size[int(self.l) - 1 :])
        return tail > 0 and by_size[0] / tail < self.c


def spread(counts, values):
    """Shares of all values of the table, in their order."""
    total = sum(counts.values())
    return [counts.get(value, 0) / total for value in sorted(values)]


def distance(shares, whole, ordered):
    if not ordered:
        return sum(max(0.0, p - q) for p, q in zip(shares, whole, strict=True))
    if len(whole) == 1:
        return 0.0
    gaps = np.cumsum(shares) - np.cumsum(whole)
    return float(np.abs(gaps[:-1]).sum()) / (len(whole) - 1)


def count_by_rows(members, secrets, table):
    counts = Counter()
    for p, rows in members:
        counts[secrets[p]] += rows
    return dict(counts), sum(counts.values())


def count_by_people(members, secrets, table):
    """How many different people hold each value, and how many people there are."""
    holders = defaultdict(set)
    for p, rows in members:
        known = table.person[p] >= 0
        holders[secrets[p]] |= {int(table.person[p])} if known else {(p, row) for row in range(rows)}
    return {value: len(held) for value, held in holders.items()}, len(set().union(*holders.values()))


def keeps_goals(wanted, members, secrets, table, everybody):
    return all(
        wanted.hold(*count(members, secrets, table), count(everybody, secrets, table)[0])
        for count in (count_by_rows, count_by_people)
    )


goals = st.one_of(
    st.builds(Wanted, kind=st.just(DISTINCT), l=st.sampled_from([2.0, 3.0])),
    st.builds(Wanted, kind=st.just(ENTROPY), l=st.sampled_from([1.5, 1.9])),
    st.builds(Wanted, kind=st.just(RECURSIVE), l=st.just(2.0), c=st.sampled_from([1.5, 3.0])),
    st.builds(Wanted, t=st.sampled_from([0.1, 0.25]), ordered=st.booleans()),
    st.builds(Wanted, alpha=st.sampled_from([0.5, 0.7])),
    st.builds(Wanted, kind=st.just(DISTINCT), l=st.just(2.0), t=st.just(0.3), alpha=st.just(0.7)),
)


@st.composite
def goal_cases(draw, tables):
    cut = draw(cuts(tables))
    size = len(cut.table.points)
    return cut, draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)), draw(goals)


def repair(cut, secrets, wanted, person, split, apart):
    values = np.array(secrets, np.int32)[:, None]
    codes, shares = cut.table.codes, cut.shares
    return _kernels.repair_classes(codes, values, even_widths(), cut.k, wanted.aims(), *shares, split, apart, person)


@unhurried
@given(goal_cases(people_tables()), st.booleans(), st.booleans())
def test_every_class_keeps_its_people_and_the_goals(case, split, apart):
    cut, secrets, wanted = case
    table = cut.table
    everybody = [(p, int(table.weights[p])) for p in table.points]
    assume(keeps_goals(wanted, everybody, secrets, table, everybody))
    made = classes_of(repair(cut, secrets, wanted, table.person, split, apart))

    assert rows_of(made) == dict(everybody)
    for members in made:
        assert cut.people(members) >= cut.k
        assert keeps_goals(wanted, members, secrets, table, everybody)


@unhurried
@given(goal_cases(single_rows()), st.booleans(), st.booleans())
def test_without_second_rows_goals_are_met_as_for_rows(case, split, apart):
    cut, secrets, wanted = case
    found, expected = (repair(cut, secrets, wanted, person, split, apart) for person in (cut.table.person, None))

    assert all(map(np.array_equal, found, expected))


def test_goals_hold_by_people_where_rows_would_do():
    """Half of the rows of class 0 have value 0, but both of its people hold it."""
    codes = np.array([[0, 0], [0, 0], [0, 0], [4, 4], [4, 4]], np.int32)
    table = People(codes, np.array([1, 1, 2, 1, 1]), np.array([0, 1, 0, 2, 3], np.int32))
    cut = Cut(table, 2, [[(0, 1), (1, 1), (2, 2)], [(3, 1), (4, 1)]])
    secrets, wanted = [0, 0, 1, 0, 1], Wanted(alpha=0.75)
    everybody = [(p, int(table.weights[p])) for p in table.points]

    by_rows, by_people = (classes_of(repair(cut, secrets, wanted, who, False, False)) for who in (None, table.person))
    assert len(by_rows) == 2
    assert not all(keeps_goals(wanted, members, secrets, table, everybody) for members in by_rows)
    assert [sorted(members) for members in by_people] == [everybody]


# -- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("person", [np.zeros(3, np.int32), np.array([0, -2], np.int32), np.zeros(2, np.int64)])
def test_people_that_do_not_fit_are_refused(person):
    codes, weights = np.array([[0, 0], [1, 1]], np.int32), np.ones(2, np.int64)
    for call in (
        lambda: _kernels.merge_points(codes, weights, even_widths(), False, 1, (np.arange(2), person, weights)),
        lambda: _kernels.walk_path([np.zeros(2, np.int64)], weights, True, 1, person),
        lambda: _kernels.Lattice(codes, weights, person),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()


@pytest.mark.parametrize(
    ("place", "rows"), [([0, 2], [1, 1]), ([0, -1], [1, 1]), ([0, 0], [1, 1]), ([0, 1], [1, 2]), ([0, 1], [1, 0])]
)
def test_units_that_are_not_all_rows_of_the_points_are_refused(place, rows):
    codes, weights = np.array([[0, 0], [1, 1]], np.int32), np.ones(2, np.int64)
    units = np.array(place), np.zeros(2, np.int32), np.array(rows)

    with pytest.raises(ValueError, match=r"unit|row"):
        _kernels.merge_points(codes, weights, even_widths(), False, 1, units)

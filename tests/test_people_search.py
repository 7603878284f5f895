"""Starts and the search by people: every class holds k people, and what brute force finds is found."""

from collections import defaultdict
from math import inf

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from kech import _kernels

SIDE = 8  # codes of an axis


class Table:
    """Points with their rows and persons, on plain lines of some codes."""

    def __init__(self, codes, weights, person, side=SIDE):
        self.codes = np.ascontiguousarray(codes, np.int32)
        self.weights = np.array(weights, np.int64)
        self.person = None if person is None else np.array(person, np.int32)
        self.widths, self.side = _kernels.Widths(), side
        ends = np.arange(side, dtype=float)
        for _ in range(self.codes.shape[1]):
            self.widths.add_line(ends, ends, side - 1.0, inf, -1)
        halves = [np.arange(side) // 2**level for level in range(int(np.log2(side)) + 1)]
        self.levels = [np.ascontiguousarray(np.stack(halves), np.int32)] * self.codes.shape[1]

    def points(self):
        return self.codes, self.weights

    def orders(self):
        """By the sum of the codes, and along every axis to and fro: neighbours are near, and any order is allowed."""
        turned = self.codes.astype(np.int64)
        for axis in range(1, turned.shape[1]):
            odd = turned[:, :axis].sum(axis=1) % 2 == 1
            turned[odd, axis] = self.codes.max() - turned[odd, axis]
        return np.argsort(self.codes.sum(axis=1), kind="stable"), np.lexsort(turned.T[::-1])

    def starts(self, k, split_points=True, threads=1):
        """From every kind of start: shares (point, class, rows)."""
        for order in self.orders():
            yield _kernels.cut_order(*self.points(), order, self.widths, [k], split_points, threads, self.person)[0]
            yield _kernels.grow_points(*self.points(), order, self.widths, k, split_points, 4, 0, threads, self.person)
        yield _kernels.peel_points(
            *self.points(), self.widths, self.levels, [k], [inf], 1000, 0, False, threads, self.person
        )[0]

    def search(self, k, shares, split_points=True, seed=0):
        return _kernels.Search(self.codes, self.widths, self.levels, k, split_points, *shares, seed, self.person)

    def price(self, shares):
        """The definition: of every row the widths of its class, codes apart over the length of the axis."""
        point, group, rows = shares
        classes = [group == number for number in np.unique(group)]
        widths = [np.ptp(self.codes[point[held]], axis=0).sum() / (self.side - 1) for held in classes]
        return float(sum(width * rows[held].sum() for width, held in zip(widths, classes, strict=True)))

    def one_class(self):
        count = len(self.weights)
        return np.arange(count), np.zeros(count, np.int64), self.weights.copy()

    def people(self, shares):
        """Of each class: persons, and rows of those who have no other."""
        persons, others = defaultdict(set), defaultdict(int)
        for point, group, rows in zip(*map(np.ndarray.tolist, shares), strict=True):
            who = -1 if self.person is None else int(self.person[point])
            if who >= 0:
                persons[group].add(who)
            others[group] += rows if who < 0 else 0
        return [len(persons[group]) + others[group] for group in sorted(others)]

    def check(self, shares, k):
        """Every class has k people, every row is in one class, and no class holds a point twice."""
        point, group, rows = shares
        assert min(self.people(shares)) >= k
        assert (rows > 0).all()
        assert np.array_equal(np.bincount(point, rows, len(self.weights)).astype(np.int64), self.weights)
        assert len({*zip(point.tolist(), group.tolist(), strict=True)}) == len(point)


@st.composite
def small_tables(draw, most_rows=9):
    """Rows with persons, a few of them on the same codes; points that nobody shares may count row by row."""
    axes = draw(st.integers(1, 3))
    row = st.tuples(st.integers(-1, 4), st.tuples(*[st.integers(0, SIDE - 1)] * axes))
    rows = draw(st.lists(row, min_size=2, max_size=most_rows))
    held = defaultdict(int)
    for who, place in rows:
        held[place, who] += 1
    points = draw(st.permutations(sorted(held)))
    return Table([place for place, _ in points], [held[point] for point in points], [who for _, who in points])


def count_people(table):
    return table.people(table.one_class())[0]


@given(small_tables(), st.integers(1, 5), st.booleans())
@settings(max_examples=150, deadline=None)
def test_every_start_and_every_step_keeps_k_people(table, k, split_points):
    k = min(k, count_people(table))
    for start in table.starts(k, split_points):
        table.check(start, k)
        search = table.search(k, start, split_points)
        for step in range(8):
            before = search.price
            search.step(0.01 if step > 4 else 0.0, step > 1, 1)
            table.check(search.shares(), k)
            assert search.price <= before + 1e-9
        assert search.price == pytest.approx(table.price(search.shares()))


@given(small_tables(), st.integers(2, 4), st.booleans())
@settings(max_examples=40, deadline=None)
def test_rows_of_a_point_stay_together_where_they_must(table, k, threads):
    k = min(k, count_people(table))
    for start in table.starts(k, split_points=False, threads=1 + threads):
        search = table.search(k, start, split_points=False)
        for step in range(6):
            search.step(0.0, step > 1, 1 + threads)
        assert sorted(search.shares()[0].tolist()) == list(range(len(table.weights)))


def least_cost(table, k):
    """The least cost of all partitions of all rows into classes of k people."""
    rows = [point for point, weight in enumerate(table.weights.tolist()) for _ in range(weight)]

    def cost(classes):
        shares = [(point, group) for group, members in enumerate(classes) for point in members]
        point, group = (np.array(column, np.int64) for column in zip(*shares, strict=True))
        shares = point, group, np.ones(len(point), np.int64)
        return table.price(shares) if min(table.people(shares)) >= k else inf

    return min(map(cost, set_partitions(rows)))


def set_partitions(rows):
    if not rows:
        yield []
        return
    for classes in set_partitions(rows[1:]):
        yield [[rows[0]], *classes]
        for at in range(len(classes)):
            yield [*classes[:at], [rows[0], *classes[at]], *classes[at + 1 :]]


@given(small_tables(most_rows=7), st.integers(2, 3))
@settings(max_examples=60, deadline=None)
def test_the_search_finds_what_brute_force_finds(table, k):
    k = min(k, count_people(table))
    best, found = least_cost(table, k), inf
    for start in (table.one_class(), *table.starts(k)):
        search = table.search(k, start)
        for step in range(200):
            search.step(0.0, step > 1, 1)
            if search.price <= best + 1e-9:
                break
        assert search.price >= best - 1e-9
        found = min(found, search.price)
    assert found == pytest.approx(best)


@given(st.lists(st.tuples(*[st.integers(0, SIDE - 1)] * 2), min_size=4, max_size=60, unique=True), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_persons_of_one_row_each_change_nothing(codes, k):
    weights = np.ones(len(codes), np.int64)
    named, plain = (Table(codes, weights, person) for person in (np.arange(len(codes)), None))
    for ours, theirs in zip(named.starts(k), plain.starts(k), strict=True):
        assert all(map(np.array_equal, ours, theirs))
        searches = named.search(k, ours), plain.search(k, theirs)
        for step in range(6):
            for search in searches:
                search.step(0.001, step > 1, 1)
        assert all(map(np.array_equal, *(search.shares() for search in searches)))


def test_rows_without_a_second_one_count_row_by_row():
    """The persons of one row each, told one by one or as -1, give classes that cost the same."""
    rng = np.random.default_rng(1)
    codes = np.unique(rng.integers(0, SIDE, (40, 2)), axis=0)
    named, alone = (
        Table(codes, np.ones(len(codes)), person) for person in (np.arange(len(codes)), -np.ones(len(codes)))
    )
    for ours, theirs in zip(named.starts(3), alone.starts(3), strict=True):
        assert all(map(np.array_equal, ours, theirs))


def test_one_person_is_not_two():
    table = Table([[0], [3], [5]], [1, 2, 4], [7, 7, 7])
    order = np.arange(3)
    calls = (
        lambda: _kernels.cut_order(*table.points(), order, table.widths, [2], True, 1, table.person),
        lambda: _kernels.grow_points(*table.points(), order, table.widths, 2, True, 4, 0, 1, table.person),
        lambda: _kernels.peel_points(
            *table.points(), table.widths, table.levels, [2], [inf], 1000, 0, False, 1, table.person
        ),
        lambda: table.search(2, table.one_class()),
    )
    for call in calls:
        with pytest.raises(ValueError, match="people"):
            call()


@pytest.mark.parametrize("person", [[0, 1], [0, 1, -2], []])
def test_wrong_persons_are_refused(person):
    table = Table([[0], [3], [5]], [1, 2, 4], person)
    with pytest.raises(ValueError, match="person"):
        _kernels.cut_order(*table.points(), np.arange(3), table.widths, [1], True, 1, table.person)
    with pytest.raises(ValueError, match="person"):
        table.search(1, table.one_class())


def test_a_start_of_too_few_people_is_refused():
    table = Table([[0], [0], [5], [6]], [2, 1, 1, 1], [0, 1, 2, 2])
    split = np.arange(4), np.array([0, 0, 1, 1]), table.weights
    with pytest.raises(ValueError, match="people"):
        table.search(2, split)
    table.search(1, split)


def test_equal_rows_of_a_person_serve_several_classes():
    """A has five rows in the middle; each of four others, far from each other, needs one of them."""
    codes = [[4, 4], [0, 4], [7, 4], [4, 0], [4, 7]]
    table = Table(codes, [5, 1, 1, 1, 1], [0, 1, 2, 3, 4])
    search = table.search(2, table.one_class())
    for step in range(300):
        search.step(0.0, step > 1, 1)
    table.check(search.shares(), 2)
    assert table.people(search.shares()) == [2, 2, 2, 2]
    assert search.price == pytest.approx((2 * (4 + 3 + 4) + 3 * 3) / 7)


def test_people_who_share_a_point_fill_several_classes_there():
    """Five people with two rows each at one place, and five others beside it: one class of five there is enough."""
    codes = [[3]] * 5 + [[2]] * 5
    table = Table(codes, [2] * 5 + [1] * 5, [*range(5), *range(3, 8)])
    for order in table.orders():
        shares = _kernels.cut_order(*table.points(), order, table.widths, [5], True, 1, table.person)[0]
        table.check(shares, 5)
        assert table.price(shares) == 0


@pytest.fixture(scope="module")
def visits():
    """400 people with 5 rows each, around a home of their own."""
    rng = np.random.default_rng(7)
    homes = rng.integers(0, 64, (400, 3))
    person = np.repeat(np.arange(400), 5)
    codes = np.clip(homes[person] + rng.integers(-3, 4, (2000, 3)), 0, 63)
    points, rows = np.unique(np.column_stack([codes, person]), axis=0, return_counts=True)
    return Table(points[:, :3], rows, points[:, 3], side=64)


@pytest.mark.parametrize("k", [2, 5, 20])
def test_a_table_of_visits_costs_more_by_people_than_by_rows(visits, k):
    by_rows = Table(visits.codes, visits.weights, None, side=64)
    found = {}
    for table in (visits, by_rows):
        searches = [table.search(k, start) for start in table.starts(k)]
        for step in range(6):
            for search in searches:
                search.step(0.002, step > 1, 2)
        for search in searches:
            table.check(search.shares(), k)
        found[table] = min(search.price for search in searches)
    assert found[by_rows] <= found[visits] <= 5 * found[by_rows]


def test_many_k_are_cut_at_once(visits):
    """Runs of a batch share one sweep; large k join neighbours to pieces."""
    ks = [2, 3, 5, 7, 20, 150, 300, 400]
    for order in visits.orders():
        together = _kernels.cut_order(*visits.points(), order, visits.widths, ks, True, 2, visits.person)
        for k, shares in zip(ks, together, strict=True):
            visits.check(shares, k)
            alone = _kernels.cut_order(*visits.points(), order, visits.widths, [k], True, 1, visits.person)[0]
            assert visits.price(shares) == pytest.approx(visits.price(alone))


def test_threads_change_no_class(visits):
    found = []
    for threads in (1, 3):
        search = visits.search(5, next(visits.starts(5, threads=threads)))
        for step in range(4):
            search.step(0.001, step > 1, threads)
        found.append(search.shares())
    assert all(map(np.array_equal, *found))


def test_crowds_are_classes_and_all_others_are_searched():
    """40 people at each of three places, with two rows each, and ten who stand alone: k people in every class."""
    rng = np.random.default_rng(3)
    crowd = [(person, place, day) for place in (0, 3, 6) for person in range(40) for day in (place, place)]
    lonely = [(100 + i, int(rng.integers(0, 8)), int(rng.integers(0, 8))) for i in range(10) for _ in range(2)]
    frame = pd.DataFrame(crowd + lonely, columns=["person", "x", "y"])
    with kech.read_table(frame, quasi_identifiers=["x", "y"], person=["person"]) as table:
        released = kech.make_release(table, k=5, grid="exact", protect="none")

    partition = released.partition
    assert partition.suppressed == 0
    assert partition.k >= 5
    places = [(lo, hi) for lo, hi in zip(partition.lo.tolist(), partition.hi.tolist(), strict=True) if lo == hi]
    assert len(places) == 3
    whole = partition.people[[lo == hi for lo, hi in zip(partition.lo.tolist(), partition.hi.tolist(), strict=True)]]
    assert (whole >= 25).all()


@pytest.mark.parametrize("seed", range(12))
def test_no_partition_by_people_is_below_the_bounds_of_a_spectrum(seed):
    """All partitions of seven rows of four people: the best loses no less than the bound, and is found."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.permutation(9)[:7], "y": rng.permutation(9)[:7], "who": [0, 0, 0, 1, 1, 2, 3]})
    with kech.read_table(frame, quasi_identifiers=["x", "y"], person=["who"]) as table:
        (found,) = kech.compute_spectrum(table, k=[2], grid="exact", protect="none", bound=True).rows()
    cells, who = frame[["x", "y"]].to_numpy(float), frame["who"].tolist()
    cells = cells / np.ptp(cells, axis=0)
    admitted = [
        classes
        for classes in set_partitions(list(range(7)))
        if all(len({who[row] for row in rows}) > 1 for rows in classes)
    ]
    sides = [[(len(rows), np.ptp(cells[rows], axis=0)) for rows in classes] for classes in admitted]
    losses = [sum(rows * side.mean() for rows, side in classes) / 7 for classes in sides]
    radii = [max(side.max() for _, side in classes) / 2 for classes in sides]

    assert found["loss_lower_bound"] <= min(losses) + 1e-9
    assert found["loss"] == pytest.approx(min(losses))
    assert found["eps_lower_bound"] <= min(radii) + 1e-9

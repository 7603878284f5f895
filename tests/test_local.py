from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kech._kernels import Search, peel_points
from kech.cuts import Wishes
from kech.cuts.bounds import lower_bounds
from kech.cuts.local import (
    EFFORTS,
    candidate_ks,
    choose_start,
    choose_starts,
    cut_local,
    enforce_monotone_loss,
    ks_to_probe,
    ks_to_search,
    on_grid_of,
    protected_loss,
    search,
)
from kech.cuts.starts import (
    KINDS,
    axis_levels,
    cut_ordering,
    expected_loss,
    grow,
    level_tables,
    make_starts,
    order_along,
    peel,
)
from kech.cuts.suppressing import cut_rest
from kech.errors import BadOption
from kech.points.partition import build_partition, mean_loss
from kech.points.points import build_points
from kech.request import Labels
from kech.tables.demo import generate_town, nine_rows
from kech.tables.table import read_table
from strategies import axes, point_sets, random_case, seeds, unhurried


def check(partition, points, k, part=True):
    """Every row in one class, classes of k rows, boxes around their rows, and the loss from the axes alone."""
    rows = np.zeros(len(points.weights), np.int64)
    total, sizes = 0.0, np.zeros(partition.classes, np.int64)
    for point, group, held in zip(partition.point, partition.group, partition.rows, strict=True):
        codes = points.codes[point]
        assert all(partition.lo[group] <= codes)
        assert all(codes <= partition.hi[group])
        assert held > 0
        rows[point] += held
        sizes[group] += held
    for group, size in enumerate(sizes):
        ends = zip(partition.points.axes, partition.lo[group], partition.hi[group], strict=True)
        total += size * sum(float(axis.widths(np.array([lo]), np.array([hi]))[0]) for axis, lo, hi in ends)
    assert rows.tolist() == points.weights.tolist()
    assert sizes.min() >= k
    assert part or len(set(partition.point.tolist())) == len(partition.point)
    assert mean_loss(partition) == pytest.approx(total / points.rows / len(points.axes), abs=1e-12)


def all_partitions(units):
    """Every way to put units into classes."""
    if not units:
        yield []
        return
    first, *rest = units
    for classes in all_partitions(rest):
        yield [[first], *classes]
        for i, held in enumerate(classes):
            yield [*classes[:i], [first, *held], *classes[i + 1 :]]


def cheapest(points, k):
    """The lowest loss there is, by trying all partitions of the rows."""
    units = np.repeat(points.codes, points.weights, axis=0)
    prices = {}

    def price(held):
        key = tuple(sorted(held))
        if key not in prices:
            lo, hi = units[list(held)].min(axis=0), units[list(held)].max(axis=0)
            ends = zip(points.axes, lo, hi, strict=True)
            widths = sum(float(axis.widths(np.array([a]), np.array([b]))[0]) for axis, a, b in ends)
            prices[key] = len(held) * widths
        return prices[key]

    allowed = (c for c in all_partitions(list(range(len(units)))) if all(len(held) >= k for held in c))
    return min(sum(map(price, classes)) for classes in allowed) / points.rows / len(points.axes)


def town_points(people, **said):
    with read_table(generate_town(people), quasi_identifiers=["age", "sex", "zip", "schooling", "job"]) as table:
        return build_points(table, labels=Labels(**said))


def begin(points, k, *, part=True, seed=0):
    (start,) = cut_ordering(points, [k], threads=1, part=part)
    at = start.points
    return Search(at.codes, at.widths(), level_tables(at), k, part, start.point, start.group, start.rows, seed)


# The paper's nine rows


@pytest.mark.parametrize("effort", EFFORTS)
def test_three_classes_of_three_are_table_1b(effort):
    with read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        (partition,) = cut_local(
            build_points(table, labels=Labels(grid="exact")), [3], Wishes(threads=1, effort=effort)
        )
    boxes = set(zip(partition.labels(0), partition.labels(1), strict=True))

    assert boxes == {("[22, 25]", "[47602, 47678]"), ("[38, 52]", "[47905, 47909]"), ("[32, 47]", "[47605, 47673]")}


# Laws


@given(point_sets(), st.booleans(), st.sampled_from(["quick", "normal"]), st.data())
@settings(unhurried, max_examples=60)
def test_every_partition_is_one(points, part, effort, data):
    ks = sorted(data.draw(st.sets(st.integers(1, points.rows), min_size=1, max_size=3)))
    made = list(cut_local(points, ks, Wishes(threads=1, part=part, effort=effort)))

    for k, partition in zip(ks, made, strict=True):
        check(partition, points.at(k), k, part)


@pytest.mark.parametrize("seed", seeds(25))
def test_tables_of_every_kind_with_missing_values_and_twins(seed):
    case = random_case(seed)
    with read_table(case.table, **case.roles) as table:
        points = build_points(table, labels=Labels(grid=case.grid))
    ks = sorted({1, 2, case.k, points.rows})
    for k, partition in zip(ks, cut_local(points, ks, Wishes(threads=1, effort="quick")), strict=True):
        check(partition, points.at(k), k)


@given(point_sets(most_rows=120, heaviest=30), st.integers(0, 6), st.booleans(), st.integers(0, 9))
@unhurried
def test_stopped_at_any_moment_it_is_a_partition_and_never_dearer(points, steps, part, seed):
    k = 1 + points.rows // 7
    found = begin(points, k, part=part, seed=seed)
    before = found.price
    for step in range(steps):
        found.step(0.05, step > 0, 1)
        partition = build_partition(points.at(k), *found.shares())
        check(partition, points.at(k), k, part)
        assert found.price <= before + 1e-9
        assert mean_loss(partition) * points.rows * len(points.axes) <= found.price + 1e-9


@pytest.mark.parametrize("k", [2, 7, 60])
def test_threads_and_slices_change_nothing_and_seeds_do(k):
    points = town_points(4000)
    prices = {}
    for name, threads, seed in [("one", 1, 0), ("two", 2, 0), ("again", 2, 0), ("other", 2, 1)]:
        found = begin(points, k, seed=seed)
        while found.rounds < 6:
            found.step(0.001, found.rounds > 1, threads)
        prices[name] = [x.tolist() for x in found.shares()]

    assert prices["one"] == prices["two"] == prices["again"] != prices["other"]


def test_equal_efforts_make_equal_partitions_on_any_number_of_threads():
    points = town_points(1500)
    made = [next(cut_local(points, [5], Wishes(threads=threads, effort="normal", seed=3))) for threads in (1, 2)]

    assert np.array_equal(made[0].lo, made[1].lo)
    assert np.array_equal(made[0].rows, made[1].rows)


def test_more_effort_costs_less():
    points = town_points(2000)
    losses = [mean_loss(next(cut_ordering(points, [5], threads=2)))]
    losses += [
        mean_loss(next(cut_local(points, [5], Wishes(threads=2, effort=effort)))) for effort in ("quick", "normal")
    ]

    assert all(after < before for before, after in pairwise(losses))
    assert losses[-1] < 0.9 * losses[0]


def test_seconds_are_an_effort_too():
    points = town_points(500)
    (partition,) = cut_local(points, [4], Wishes(threads=1, effort=0.05))

    check(partition, points.at(4), 4)


@given(point_sets(most_rows=7, heaviest=3), st.integers(1, 3))
@settings(unhurried, max_examples=40)
def test_nothing_is_cheaper_than_the_cheapest(points, k):
    if points.rows < k or points.rows > 9:
        return
    (partition,) = cut_local(points, [k], Wishes(threads=1))

    assert mean_loss(on_grid_of(k, partition)) >= cheapest(points.at(k), k) - 1e-9


def test_small_tables_come_close_to_the_cheapest():
    excess = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = pa.table({"x": rng.integers(0, 50, 8), "y": rng.choice(list("abcd"), 8), "z": rng.random(8).round(2)})
        with read_table(table, quasi_identifiers=["x", "y", "z"]) as read:
            points = build_points(read, labels=Labels(grid="exact"))
        (partition,) = cut_local(points, [2], Wishes(threads=1))
        excess.append(mean_loss(partition) / cheapest(points.at(2), 2) - 1)

    assert np.mean(excess) < 0.005
    assert max(excess) < 0.1


def test_a_larger_k_serves_a_smaller_one():
    points = town_points(300, grid="exact")
    ks = list(range(2, 40))
    losses = [mean_loss(partition) for partition in cut_local(points, ks, Wishes(threads=1, effort="quick"))]
    whole, fine = (next(cut_ordering(points, [k], threads=1)) for k in (300, 5))

    assert all(np.diff(losses) >= -1e-12)
    assert enforce_monotone_loss([3, 5], [whole, fine])[0].classes == fine.classes


def test_in_haste_some_k_are_studied_and_otherwise_all():
    ks = range(2, 101)

    assert ks_to_search(ks, "normal") == list(ks)
    assert ks_to_search(range(2, 9), "quick") == list(range(2, 9))
    assert {2, 3, 4, 5, 100} <= set(ks_to_search(ks, "quick"))
    assert len(ks_to_search(ks, "quick")) < 25


def test_of_many_k_some_try_every_kind_of_start_and_the_others_the_best_below_and_above(monkeypatch):
    points, ks, asked = town_points(120), list(range(2, 30)), {}
    starts = dict(zip(ks, cut_ordering(points, ks, threads=1), strict=True))

    def remember(points, starts, kinds, wishes):
        asked.update(kinds)
        return make_starts(points, starts, kinds, wishes)

    monkeypatch.setattr("kech.cuts.local.make_starts", remember)
    best = dict(choose_starts(points, starts, Wishes()))

    assert list(best) == ks == sorted(asked)
    assert {2, 29} <= set(ks_to_probe(ks)) == {k for k in ks if len(asked[k]) == len(KINDS)}
    assert all(1 <= len(asked[k]) <= 2 for k in set(ks) - set(ks_to_probe(ks)))
    for k in ks:
        check(best[k], points.at(k), k)
    assert ks_to_probe(ks[:5]) == ks[:5]


def test_ctrl_c_ends_the_search_with_the_cheapest_so_far(monkeypatch):
    points = town_points(500)
    (start,) = cut_ordering(points, [3], threads=1)
    calls = []

    def interrupt(doing, share):
        calls.append(doing)
        if len(calls) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("kech.cuts.local.report", interrupt)
    found = search(start, 3, "best", Wishes())
    losses = [float(said.rpartition(" loss ")[2]) for said in calls[:3]]

    assert losses[0] == pytest.approx(expected_loss(start), rel=0.1)
    assert losses == sorted(losses, reverse=True)

    check(found, points.at(3), 3)
    assert mean_loss(found) < mean_loss(start)


@pytest.mark.parametrize("effort", ["fast", -1.0, float("inf"), float("nan")])
def test_an_effort_nobody_knows(effort):
    with pytest.raises(BadOption, match="quick, normal, best"):
        list(cut_local(town_points(50), [2], Wishes(threads=1, effort=effort)))


@given(point_sets(most_rows=120, heaviest=30), st.booleans(), st.data())
@unhurried
def test_grown_classes_are_a_partition(points, part, data):
    k = data.draw(st.integers(1, points.rows))

    check(grow(points.at(k), k, order_along(points, threads=1), Wishes(2, part=part)), points.at(k), k, part)


def test_a_start_is_never_dearer_than_the_cheapest_one_and_close_ones_race():
    points = town_points(600)
    tree, curve = (next(cut_ordering(points, [5], threads=1, hilbert=h)) for h in (False, True))
    whole = build_partition(points.at(5), tree.point, np.zeros_like(tree.group), tree.rows)
    ((k, best),) = choose_starts(points, {5: whole}, Wishes())

    assert k == 5
    check(best, points.at(5), 5)
    assert expected_loss(best) < min(expected_loss(tree), expected_loss(curve))
    assert choose_start({"cut": tree, "one class": whole}, 5, Wishes()) == ("cut", tree)


# Peeling


@given(axes)
@unhurried
def test_levels_are_nested_and_end_in_one_cell(drawn):
    axis, _ = drawn
    levels = axis_levels(axis)

    assert len(set(levels[-1].tolist())) == 1
    for fine, coarse in pairwise(levels):
        assert len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == len(set(fine.tolist()))
    if axis.has_null and axis.values:
        assert all(np.count_nonzero(level == level[axis.null]) == 1 for level in levels[:-1])


@given(point_sets(most_rows=200, heaviest=40), st.data())
@unhurried
def test_a_peeled_partition_is_one_and_parts_no_point(points, data):
    k = data.draw(st.integers(1, points.rows))
    at = points.at(k)
    (shares,) = peel(at, [k], [np.inf], threads=1, seed=0)

    check(build_partition(at, *shares), at, k, part=False)


def test_cells_are_peeled_from_the_narrowest_up():
    jobs = {0: ["a1", "a2", "b1", "b2"], 1: ["a", "a", "b", "b"], 2: ["*"] * 4}
    rows = ["a1"] * 3 + ["a2"] + ["b1"] + ["b2"] * 2 + ["a2"]
    with read_table(pa.table({"job": rows}), quasi_identifiers=["job"], hierarchies={"job": jobs}) as table:
        points = build_points(table)
    (shares,) = peel(points, [3], [np.inf], threads=1, seed=0)
    partition = build_partition(points, *shares)

    # a1 is a class by itself; two rows of a2 are left over and widen it less than they would widen b
    assert dict(zip(partition.labels(0), partition.sizes.tolist(), strict=True)) == {"a": 5, "b": 3}


def test_what_would_cost_more_by_far_is_not_peeled_to_the_end():
    points = town_points(2000)
    (whole,) = peel(points, [5], [np.inf], threads=1, seed=0)
    loss = expected_loss(build_partition(points, *whole))
    (same,), (none,) = (peel(points, [5], [limit], threads=1, seed=0) for limit in (loss, loss / 3))

    assert all(np.array_equal(a, b) for a, b in zip(whole, same, strict=True))
    assert len(none[0]) == 0


def test_of_a_large_lattice_some_nodes_are_enough():
    points = town_points(2000)
    tables = level_tables(points)
    few, all_of_them = (
        peel_points(points.codes, points.weights, points.widths(), tables, [5], [np.inf], most, 0, 1)[0]
        for most in (50, 10**6)
    )
    losses = [mean_loss(build_partition(points, *shares)) for shares in (few, all_of_them)]

    assert losses[1] <= losses[0] < 1.5 * losses[1]


# Lower bound


@given(point_sets(most_rows=8, heaviest=3), st.integers(1, 4))
@settings(unhurried, max_examples=40)
def test_no_partition_undercuts_the_bound(points, k):
    if points.rows < k or points.rows > 9:
        return
    (bound,) = lower_bounds(points.at(k), [k])

    assert bound.loss <= cheapest(points.at(k), k) + 1e-9


# Small classes are widened more


def family(rows, seed, **said):
    """Numbers without twins in clusters, and a short set."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 10, (5, 3))
    values = np.round(centres[rng.integers(0, 5, rows)] + rng.normal(0, 1, (rows, 3)), 3)
    held = dict(zip("abc", values.T, strict=True)) | {"job": rng.choice(list("uvwxyz"), rows)}
    with read_table(pa.table(held), quasi_identifiers=list(held), axes={"job": "set"}) as table:
        return build_points(table, labels=Labels(**said))


@pytest.mark.parametrize(("rows", "seed"), [(120, 0), (120, 1), (120, 2), (300, 3)])
def test_on_these_tables_no_release_loses_more_than_one_of_a_larger_k(rows, seed):
    points, ks = family(rows, seed), [*range(2, 10), 33, 34, 35]
    made = [found for k in ks for found in cut_local(points, [k], Wishes(effort="quick"))]

    assert all(found.k >= k for k, found in zip(ks, made, strict=True))
    assert all(np.diff([protected_loss(found) for found in made]) >= -1e-12)


@pytest.mark.parametrize(("rows", "seed", "protect"), [(150, 19, "full"), (90, 5, "full"), (60, 7, "ends")])
@pytest.mark.parametrize("ks", [[5, 6], [3, 5, 6, 8], [2, 3, 4, 5, 7, 10, 33, 34]])
def test_a_row_never_loses_more_than_it_would_alone(rows, seed, protect, ks):
    points = family(rows, seed, protect=protect)
    alone = [protected_loss(next(cut_local(points, [k], Wishes(effort="quick")))) for k in ks]
    together = [protected_loss(found) for found in cut_local(points, ks, Wishes(effort="quick"))]

    assert all(row <= release for row, release in zip(together, alone, strict=True))
    assert all(np.diff(together) >= 0)


def test_the_first_cuts_tell_which_larger_k_are_worth_a_search():
    points = family(120, 6)
    found = candidate_ks(points, [5, 6, 40], "quick", Wishes())

    assert found == {k: candidate_ks(points, [k], "quick", Wishes())[k] for k in (5, 6, 40)}
    assert all(k + 1 in found[k] for k in found)
    assert not any(candidate_ks(points, range(2, 30), "quick", Wishes()).values())
    assert candidate_ks(points, [5, 6], 0.1, Wishes()) == {5: [], 6: []}
    assert candidate_ks(family(10_001, 6), [33], "quick", Wishes()) == {33: []}
    assert candidate_ks(town_points(300, protect="ends"), [5], "quick", Wishes()) == {5: []}


@pytest.mark.parametrize(("ks", "options"), [([5], {}), ([5, 9], {}), (range(2, 30), {}), ([5], {"suppress": 0.1})])
def test_one_ctrl_c_ends_every_search_of_a_cut(monkeypatch, ks, options):
    """Of the k asked for, of the larger ones tried beside them, and of what is cut again without some rows."""
    points, wishes, said = family(120, 6), Wishes(effort="normal", **options), []

    def interrupt(doing, share):
        said.append(doing)
        if doing.startswith("searching"):
            raise KeyboardInterrupt

    monkeypatch.setattr("kech.cuts.local.report", interrupt)
    made = list(cut_rest(cut_local, points, ks, wishes, narrow=False) if options else cut_local(points, ks, wishes))

    assert sum(doing.startswith("searching") for doing in said) == 1
    assert len(made) == len(ks)
    assert all(found.k >= k for k, found in zip(ks, made, strict=True))
    assert all(np.diff([protected_loss(found) for found in made]) >= 0)

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from cutting import code_points, cut, recording, searched_loss
from kech import _kernels
from kech.cuts.bounds import lower_bounds
from kech.cuts.starts import cut_ordering, peel_classes
from kech.errors import BadOption
from kech.points.partition import build_partition, mean_loss
from kech.tables.demo import generate_town, nine_rows
from oracles import label_width, set_width
from strategies import point_sets, random_case, seeds, unhurried


def check(partition, points, k, split_points=True):
    """Every row in one class, classes of k rows, boxes around their rows, and the loss from the axes alone."""
    rows = np.zeros(len(points.weights), np.int64)
    total, sizes = 0.0, np.zeros(partition.classes, np.int64)
    printed = [partition.labels(j) for j in range(len(points.axes))]
    for point, group, held in zip(partition.point, partition.group, partition.rows, strict=True):
        codes = points.codes[point]
        assert all(partition.lo[group] <= codes)
        assert all(codes <= partition.hi[group])
        assert held > 0
        rows[point] += held
        sizes[group] += held
    for group, size in enumerate(sizes):
        total += size * sum(printed_width(partition, group, labels, j) for j, labels in enumerate(printed))
    assert rows.tolist() == points.weights.tolist()
    assert sizes.min() >= k
    assert split_points or len(set(partition.point.tolist())) == len(partition.point)
    assert mean_loss(partition) == pytest.approx(total / points.rows / len(points.axes), abs=1e-12)


def printed_width(partition, group, labels, j):
    """Of one class on one axis: of a set as its label is read, otherwise from the ends of its box."""
    axis = partition.points.axes[j]
    if axis.kind == "set":
        return label_width(labels[group], axis.parameters(()))
    return float(axis.widths(partition.lo[group, j : j + 1], partition.hi[group, j : j + 1])[0])


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


def width_around(axis, codes):
    """Of the narrowest label around some codes."""
    return set_width(axis, codes) if axis.kind == "set" else width_of_run(axis, codes)


def width_of_run(axis, codes):
    """From the first to the last of some codes, as the search measures sets too."""
    return float(axis.widths(np.array([codes.min()]), np.array([codes.max()]))[0])


def cheapest(points, k, width=width_around):
    """The lowest loss there is, by trying all partitions of the rows."""
    units = np.repeat(points.codes, points.weights, axis=0)
    prices = {}

    def price(held):
        key = tuple(sorted(held))
        if key not in prices:
            columns = zip(points.axes, units[list(held)].T, strict=True)
            prices[key] = len(held) * sum(width(axis, codes) for axis, codes in columns)
        return prices[key]

    allowed = (c for c in all_partitions(list(range(len(units)))) if all(len(held) >= k for held in c))
    return min(sum(map(price, classes)) for classes in allowed) / points.rows / len(points.axes)


def town_points(people, **said):
    return code_points(generate_town(people), ["age", "sex", "zip", "schooling", "job"], **said)


def begin(points, k, *, split_points=True, seed=0):
    """A search from the best start there is."""
    (start,) = cut(points, [k], split_points=split_points, effort=0.0)
    at, levels = start.points, [np.stack([np.arange(axis.size), np.zeros(axis.size)]) for axis in points.axes]
    tables = [np.ascontiguousarray(table, np.int32) for table in levels]
    return _kernels.Search(at.codes, at.widths(), tables, k, split_points, start.point, start.group, start.rows, seed)


# The paper's nine rows


@pytest.mark.parametrize("effort", ["quick", "normal", "best"])
def test_three_classes_of_three_are_table_1b(effort):
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        labels = kech.make_release(table, k=3, grid="exact", effort=effort).labels
    boxes = set(zip(labels["age"], labels["zip"], strict=True))

    assert boxes == {("[22, 25]", "[47602, 47678]"), ("[38, 52]", "[47905, 47909]"), ("[32, 47]", "[47605, 47673]")}


# Laws


def test_a_class_of_twenty_thousand_rows_is_parted_before_its_parts_are_paired():
    """Pairs are looked for among as many classes as a block has: of one block of all, that is the square of them."""
    rows = np.arange(20_000)
    points = code_points(pa.table({"x": rows, "y": rows * 7 % 20_011}), ["x", "y"], grid="exact")
    levels = [np.stack([np.arange(axis.size), np.zeros(axis.size)]).astype(np.int32) for axis in points.axes]
    whole = rows, np.zeros_like(rows), np.ones_like(rows)
    search = _kernels.Search(points.codes, points.widths(), levels, 2, True, *whole, 0)
    search.step(0.0, False, 1)
    parted, price = search.work, search.price
    search.step(0.0, False, 1)

    assert parted < 1_000 * len(rows)
    assert search.price < price


@given(point_sets(), st.booleans(), st.sampled_from(["quick", "normal"]), st.data())
@settings(unhurried, max_examples=60)
def test_every_partition_is_one(points, split_points, effort, data):
    ks = sorted(data.draw(st.sets(st.integers(1, points.rows), min_size=1, max_size=3)))
    made = cut(points, ks, split_points=split_points, effort=effort)

    for k, partition in zip(ks, made, strict=True):
        check(partition, points.published_at(k), k, split_points)


@pytest.mark.parametrize("seed", seeds(25))
def test_tables_of_every_kind_with_missing_values_and_twins(seed):
    case = random_case(seed)
    roles = {"axes": case.axes, "hierarchies": case.hierarchies or None}
    points = code_points(case.table, case.quasi_identifiers, roles=roles, grid=case.grid)
    ks = sorted({1, 2, case.k, points.rows})
    for k, partition in zip(ks, cut(points, ks, effort="quick"), strict=True):
        check(partition, points.published_at(k), k)


@given(point_sets(most_rows=120, heaviest=30), st.integers(0, 6), st.booleans(), st.integers(0, 9))
@unhurried
def test_stopped_at_any_moment_it_is_a_partition_and_never_dearer(points, steps, split_points, seed):
    k = 1 + points.rows // 7
    found = begin(points, k, split_points=split_points, seed=seed)
    before = found.price
    for step in range(steps):
        found.step(0.05, step > 0, 1)
        partition = build_partition(points.published_at(k), *found.shares())
        check(partition, points.published_at(k), k, split_points)
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
    made = [cut(points, [5], threads=threads, effort="normal", seed=3)[0] for threads in (1, 2)]

    assert np.array_equal(made[0].lo, made[1].lo)
    assert np.array_equal(made[0].rows, made[1].rows)


def test_more_effort_costs_less():
    points = town_points(2000, protect="none")
    losses = [mean_loss(next(cut_ordering(points, [5], threads=2)))]
    losses += [mean_loss(cut(points, [5], threads=2, effort=effort)[0]) for effort in ("quick", "normal")]

    assert all(after < before for before, after in pairwise(losses))
    assert losses[-1] < 0.9 * losses[0]


def test_seconds_are_an_effort_too():
    points = town_points(500)
    (partition,) = cut(points, [4], effort=0.05)

    check(partition, points.published_at(4), 4)


@given(point_sets(most_rows=7, heaviest=3), st.integers(1, 3))
@settings(unhurried, max_examples=40)
def test_nothing_is_cheaper_than_the_cheapest(points, k):
    if points.rows < k or points.rows > 9:
        return
    (made,) = cut(points, [k])
    partition = build_partition(points.published_at(k), made.point, made.group, made.rows)

    assert mean_loss(partition) >= cheapest(points.published_at(k), k) - 1e-9


@pytest.mark.long
def test_small_tables_come_close_to_the_cheapest():
    excess = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = pa.table({"x": rng.integers(0, 50, 8), "y": rng.choice(list("abcd"), 8), "z": rng.random(8).round(2)})
        points = code_points(table, grid="exact")
        (partition,) = cut(points, [2])
        excess.append(searched_loss(partition) / cheapest(points.published_at(2), 2, width_of_run) - 1)

    assert np.mean(excess) < 0.005
    assert max(excess) < 0.1


def test_a_larger_k_serves_a_smaller_one():
    losses = [mean_loss(partition) for partition in cut(town_points(300, grid="exact"), range(2, 40), effort="quick")]

    assert all(np.diff(losses) >= -1e-12)


def searched_ks(points, ks, effort):
    """The k at which a search makes steps."""
    with recording("kech.cuts.local.report") as calls:
        cut(points, ks, effort=effort)
    return {int(doing.split("=")[1].split(",")[0]) for (doing, *_), _ in calls if doing.startswith("searching")}


@pytest.mark.long
def test_of_many_k_some_are_searched_and_of_a_few_all():
    points = town_points(250, protect="none")
    some = searched_ks(points, range(2, 101), "quick")

    assert {*range(2, 17), 100} <= some
    assert len(some) < 45
    assert all(min(k for k in some if k >= asked) < 1.07 * asked for asked in range(16, 101))
    assert searched_ks(points, range(2, 9), "quick") == {*range(2, 9)}


@pytest.mark.long
def test_of_many_k_some_try_every_kind_of_start():
    points, ks = town_points(120, protect="none"), list(range(2, 30))
    with recording("kech.cuts.local.make_starts") as calls:
        made = cut(points, ks, effort="normal")
    probed = [k for (_, _, tried), _ in calls for k in tried]

    assert {2, 29} <= {*probed}
    assert 2 < len(probed) < len(ks) / 2
    for k, partition in zip(ks, made, strict=True):
        check(partition, points.published_at(k), k)
    with recording("kech.cuts.local.make_starts") as calls:
        cut(points, ks[:5], effort="normal")
    assert [{k: len(tried[k]) for k in tried} for (_, _, tried), _ in calls if tried] == [dict.fromkeys(ks[:5], 4)]


def test_ctrl_c_ends_the_search_with_the_cheapest_so_far(monkeypatch):
    points = town_points(500, protect="none")
    (start,) = cut_ordering(points, [3], threads=1)
    calls = []

    def interrupt(doing, share):
        calls.append(doing)
        if len(calls) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("kech.cuts.local.report", interrupt)
    (found,) = cut(points, [3], effort="best")
    losses = [float(said.rpartition(" loss ")[2]) for said in calls[:3]]

    assert losses == sorted(losses, reverse=True)
    assert losses[2] == pytest.approx(searched_loss(found), abs=1e-4)

    check(found, points.published_at(3), 3)
    assert mean_loss(found) < mean_loss(start)


@pytest.mark.parametrize("effort", ["fast", -1.0, float("inf"), float("nan")])
def test_an_effort_nobody_knows(effort):
    with pytest.raises(BadOption, match="quick, normal, best"):
        kech.Request().override(effort=effort)


@given(point_sets(most_rows=120, heaviest=30), st.booleans(), st.data())
@unhurried
def test_every_start_is_a_partition_and_peeling_parts_no_point(points, split_points, data):
    k = data.draw(st.integers(1, points.rows))
    with recording("kech.cuts.local.make_starts") as calls:
        cut(points, [k], split_points=split_points, effort=0.0, threads=2)
    starts = [start for _, made in calls for start in made.get(k, {}).items()]

    assert {"cut", "curved", "grown"} <= {kind for kind, _ in starts}
    for kind, start in starts:
        check(start, points.published_at(k), k, split_points and kind != "peeled")


def test_a_start_is_never_dearer_than_the_cheapest_one_and_close_ones_are_compared_by_a_step():
    lonely = 0
    for k in (2, 5, 20, 60):
        with recording("kech.cuts.local.choose_start") as calls:
            cut(town_points(600, protect="none"), [k], effort=0.0)
        for (starts, *_), chosen in calls:
            losses = {name: searched_loss(start) for name, start in starts.items()}
            cheapest = min(losses, key=losses.get)
            factor = 1.25 if starts[cheapest].classes <= 100 else 1.06
            close = [name for name, loss in losses.items() if loss <= factor * losses[cheapest]]
            lonely += len(close) == 1
            assert searched_loss(chosen) <= min(losses.values()) + 1e-12
            assert any(chosen is starts[name] for name in close) == (len(close) == 1)
    assert lonely


# Peeling


@given(point_sets())
@unhurried
def test_levels_are_nested_and_end_in_one_cell(points):
    with recording("kech.cuts.starts.axis_levels") as calls:
        cut(points, [1], effort=0.0)

    assert len(calls) >= len(points.axes)
    for (axis,), levels in calls:
        assert len(set(levels[-1].tolist())) == 1
        for fine, coarse in pairwise(levels):
            assert len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == len(set(fine.tolist()))
        if axis.has_null and axis.values:
            assert all(np.count_nonzero(level == level[axis.null]) == 1 for level in levels[:-1])


def test_cells_are_peeled_from_the_narrowest_up():
    jobs = {0: ["a1", "a2", "b1", "b2"], 1: ["a", "a", "b", "b"], 2: ["*"] * 4}
    rows = ["a1"] * 3 + ["a2"] + ["b1"] + ["b2"] * 2 + ["a2"]
    points = code_points(pa.table({"job": rows}), roles={"hierarchies": {"job": jobs}})
    (shares,) = peel_classes(points, [3], [np.inf], threads=1, seed=0)
    partition = build_partition(points, *shares)

    # a1 is a class by itself; two rows of a2 are left over and widen it less than they would widen b
    assert dict(zip(partition.labels(0), partition.sizes.tolist(), strict=True)) == {"a": 5, "b": 3}


def test_what_would_cost_more_by_far_is_not_peeled_to_the_end():
    points = town_points(2000, protect="none")
    (whole,) = peel_classes(points, [5], [np.inf], threads=1, seed=0)
    loss = mean_loss(build_partition(points, *whole))
    (same,), (none,) = (peel_classes(points, [5], [limit], threads=1, seed=0) for limit in (loss, loss / 3))

    assert all(np.array_equal(a, b) for a, b in zip(whole, same, strict=True))
    assert len(none[0]) == 0


def test_of_a_large_lattice_some_nodes_are_enough(monkeypatch):
    points, losses = town_points(2000, protect="none"), []
    for most in (50, 10**6):
        monkeypatch.setattr("kech.cuts.starts.MOST_NODES", most)
        (shares,) = peel_classes(points, [5], [np.inf], threads=1, seed=0)
        losses.append(mean_loss(build_partition(points, *shares)))

    assert losses[1] <= losses[0] < 1.5 * losses[1]


# Lower bound


@given(point_sets(most_rows=8, heaviest=3), st.integers(1, 4))
@settings(unhurried, max_examples=40)
def test_no_partition_undercuts_the_bound(points, k):
    if points.rows < k or points.rows > 9:
        return
    (bound,) = lower_bounds(points.published_at(k), [k])

    assert bound.loss <= cheapest(points.published_at(k), k) + 1e-9


# Small classes are widened more


def family(rows, seed, **said):
    """Numbers without twins in clusters, and a short set."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 10, (5, 3))
    values = np.round(centres[rng.integers(0, 5, rows)] + rng.normal(0, 1, (rows, 3)), 3)
    held = dict(zip("abc", values.T, strict=True)) | {"job": rng.choice(list("uvwxyz"), rows)}
    return code_points(pa.table(held), roles={"axes": {"job": "set"}}, **said)


@pytest.mark.parametrize(("rows", "seed"), [(120, 0), (120, 1), (120, 2), (300, 3)])
def test_on_these_tables_no_release_loses_more_than_one_of_a_larger_k(rows, seed):
    points, ks = family(rows, seed), [*range(2, 10), 33, 34, 35]
    made = [found for k in ks for found in cut(points, [k], effort="quick")]

    assert all(found.k >= k for k, found in zip(ks, made, strict=True))
    assert all(np.diff([mean_loss(found) for found in made]) >= -1e-12)


@pytest.mark.parametrize(("rows", "seed", "protect"), [(150, 19, "full"), (90, 5, "full"), (60, 7, "ends")])
@pytest.mark.parametrize("ks", [[5, 6], [3, 5, 6, 8], [2, 3, 4, 5, 7, 10, 33, 34]])
def test_a_row_never_loses_more_than_it_would_alone(rows, seed, protect, ks):
    points = family(rows, seed, protect=protect)
    alone = [mean_loss(cut(points, [k], effort="quick")[0]) for k in ks]
    together = [mean_loss(found) for found in cut(points, ks, effort="quick")]

    assert all(row <= release for row, release in zip(together, alone, strict=True))
    assert all(np.diff(together) >= 0)


@pytest.mark.parametrize("table", [town_points(300, grid="exact"), family(200, 8, grid="exact")])
def test_of_many_k_a_dozen_lose_no_more_than_alone(table):
    ks = list(range(2, 101))
    rows = dict(zip(ks, map(mean_loss, cut(table, ks, effort="quick")), strict=True))
    dozen = [2, 3, 5, 7, 10, 15, 22, 32, 46, 68, 100]
    alone = {k: mean_loss(cut(table, [k], effort="quick")[0]) for k in dozen}

    assert all(rows[k] <= alone[k] + 1e-12 for k in dozen)


def candidates(points, ks, effort="quick"):
    """For each k the larger ones that are cut and searched beside it."""
    with recording("kech.cuts.local.candidate_ks") as calls:
        cut(points, ks, effort=effort)
    ((_, found),) = calls
    return found


@pytest.mark.long
def test_the_first_cuts_tell_which_larger_k_are_worth_a_search():
    points = family(120, 6)
    found = candidates(points, [5, 6, 40])

    assert found == {k: candidates(points, [k])[k] for k in (5, 6, 40)}
    assert all(k + 1 in found[k] for k in found)
    assert candidates(points, [5, 6], 0.1) == {5: [], 6: []}
    assert candidates(family(10_001, 6), [33]) == {33: []}
    assert candidates(town_points(300, protect="ends"), [5]) == {5: []}


@pytest.mark.parametrize(("ks", "options"), [([5], {}), ([5, 9], {}), (range(2, 30), {}), ([5], {"suppress": 0.1})])
def test_one_ctrl_c_ends_every_search_of_a_cut(monkeypatch, ks, options):
    """Of the k asked for, of the larger ones tried beside them, and of what is cut again without some rows."""
    points, said = family(120, 6), []

    def interrupt(doing, share):
        said.append(doing)
        if doing.startswith("searching"):
            raise KeyboardInterrupt

    monkeypatch.setattr("kech.cuts.local.report", interrupt)
    made = cut(points, ks, effort="normal", **options)

    assert sum(doing.startswith("searching") for doing in said) == 1
    assert len(made) == len(ks)
    assert all(found.k >= k for k, found in zip(ks, made, strict=True))
    assert all(np.diff([mean_loss(found) for found in made]) >= 0)

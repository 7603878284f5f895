from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from cutting import cut, recording, say_labels
from kech.axes import build_rank_axis, build_tree_axis
from kech.errors import BadOption, GoalNotMet, NoSuchNode, TooFewRows, TooLittleMemory, TooManyNodes
from kech.points.partition import mean_loss
from kech.points.points import Points, build_points
from kech.system.console import listen
from kech.topology.lattice import build_lattice
from oracles import label_width
from strategies import bare_axes, point_sets, random_case, seeds, unhurried
from test_levels import COUNTRIES

DATA = Path(__file__).parents[2] / "shared" / "data"
ADULT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
KS = (1, 2, 3, 5, 8, 13, 41)
fewer = settings(unhurried, max_examples=40)


# An oracle: every row printed at a node, and counted


def printed_rows(lattice, node):
    """Labels of every row on every axis, and the width of each; by the text alone."""
    columns = []
    for j, level in enumerate(node):
        at = lattice.levels[j][level]
        cells = at.cells[lattice.points.codes[:, j]]
        labels = at.axis.labels(at.lo[cells], at.hi[cells])
        public = at.axis.parameters(labels)
        columns.append([(label, label_width(label, public)) for label in labels])
    tuples = list(zip(*columns, strict=True))
    return [row for row, weight in zip(tuples, lattice.points.weights.tolist(), strict=True) for _ in range(weight)]


def classes_of(rows):
    return Counter(tuple(label for label, _ in row) for row in rows)


def loss_of(rows, k):
    sizes = classes_of(rows)
    small = [sizes[tuple(label for label, _ in row)] < k for row in rows]
    return np.mean([[1.0 if lost else width for _, width in row] for row, lost in zip(rows, small, strict=True)])


def all_nodes(lattice):
    return list(product(*map(range, lattice.heights)))


def some_nodes(lattice, most=60):
    """All nodes of a small lattice, every so many of a large one; the bottom and the top are there."""
    nodes = all_nodes(lattice)
    return [*nodes[:: max(1, len(nodes) // most)], nodes[-1]]


def is_below(low, high):
    return all(a <= b for a, b in zip(low, high, strict=True))


# The paper's countries and genders


@pytest.fixture(scope="module")
def paper():
    """The 4 x 2 lattice of the paper's figure, over a table of our own."""
    people = {
        ("Portugal", "Male"): 1,
        ("Portugal", "Female"): 2,
        ("Spain", "Male"): 1,
        ("Hungary", "Female"): 1,
        ("Poland", "Female"): 2,
        ("USA", "Male"): 3,
        ("Canada", "Female"): 1,
        ("Brazil", "Male"): 1,
        ("Brazil", "Female"): 1,
    }
    rows = [person for person, count in people.items() for _ in range(count)]
    table = pa.table({"country": [c for c, _ in rows], "gender": [g for _, g in rows]})
    genders = {0: ["Male", "Female"], 1: ["Person", "Person"]}
    trees = {"country": COUNTRIES, "gender": genders}
    with kech.read_table(table, quasi_identifiers=["country", "gender"], hierarchies=trees) as read:
        return kech.compute_lattice(read)


def test_the_papers_lattice_has_4_by_2_nodes(paper):
    assert paper.columns == ("country", "gender")
    assert paper.heights == (4, 2)
    assert paper.nodes == 8
    assert paper.points.rows == 13


def test_classes_and_k_of_the_papers_nodes(paper):
    """Counted by hand."""
    assert {node: (paper.classes_of(node), paper.k_of(node)) for node in all_nodes(paper)} == {
        (0, 0): (9, 1),
        (0, 1): (7, 1),
        (1, 0): (7, 1),
        (1, 1): (4, 2),
        (2, 0): (4, 2),
        (2, 1): (2, 6),
        (3, 0): (2, 6),
        (3, 1): (1, 13),
    }


def test_minimal_and_best_nodes_of_the_paper(paper):
    assert paper.minimal_nodes(2) == [(1, 1), (2, 0)]
    assert paper.minimal_nodes(3) == [(2, 1), (3, 0)]
    assert paper.minimal_nodes(7) == [(3, 1)]
    assert paper.best(2).levels == (2, 0)  # countries half blurred beat genders lost
    assert paper.best(2).suppressed == 0
    assert paper.largest_k == 13


def test_with_suppression_the_paper_keeps_lower_nodes(paper):
    assert paper.suppressed_of((0, 1), 2) == 3  # Spain, Hungary and Canada
    assert paper.minimal_nodes(2, suppress=3.2 / 13) == [(0, 1), (1, 0)]


def test_the_json_people_script_against(paper):
    found = paper.to_json([2, 7])

    assert found["private"] is True
    assert found["nodes"] == 8
    assert found["minimal"] == {"2": [[1, 1], [2, 0]], "7": [[3, 1]]}
    first = found["best"][0]
    assert {key: first[key] for key in ("k", "levels", "classes", "suppressed", "proven")} == {
        "k": 2,
        "levels": {"country": 2, "gender": 0},
        "classes": 4,
        "suppressed": 0,
        "proven": True,
    }
    assert first["loss"] == pytest.approx(paper.loss_of((2, 0)))
    assert found["peak_bytes"] > 0


# Laws, against rows printed and counted


@given(point_sets(kinds=bare_axes))
@fewer
def test_every_node_has_the_classes_that_are_printed(points):
    lattice = build_lattice(points)
    table, nodes = lattice.table, all_nodes(lattice)
    for node in some_nodes(lattice):
        sizes = classes_of(printed_rows(lattice, node))
        at = nodes.index(node)
        counts = Counter(sizes.values())
        assert table.classes[at] == lattice.classes_of(node) == len(sizes)
        assert table.smallest[at] == lattice.k_of(node) == min(sizes.values())
        assert table.counts[at].tolist() == [counts[size + 1] for size in range(table.bound)]
        held = np.bincount(lattice.classes(node), weights=points.weights)
        assert sorted(held.tolist()) == sorted(sizes.values())


@given(point_sets(kinds=bare_axes))
@fewer
def test_every_node_loses_what_is_printed_and_suppresses_what_is_small(points):
    lattice = build_lattice(points)
    nodes, losses, table = all_nodes(lattice), lattice.losses, lattice.table
    for node in some_nodes(lattice, 25):
        rows = printed_rows(lattice, node)
        sizes = classes_of(rows)
        assert losses[nodes.index(node)] == pytest.approx(loss_of(rows, 1), abs=1e-9)
        for k in KS:
            lost = sum(size for size in sizes.values() if size < k)
            assert lattice.suppressed_of(node, k) == table.count_suppressed(k)[nodes.index(node)] == lost
            expected = pytest.approx(loss_of(rows, k), abs=1e-9)
            assert lattice.loss_of(node, k) == expected
            assert losses[nodes.index(node)] + table.cost(k)[nodes.index(node)] == expected


def has_every_null(points, partition):
    """Whether a published row lacks a value wherever a row may: else `*` is printed as the root."""
    codes = points.codes[partition.point]
    return all(not axis.has_null or axis.null in codes[:, j] for j, axis in enumerate(points.axes))


@given(point_sets(kinds=bare_axes), st.integers(1, 40))
@fewer
def test_the_partition_of_a_node_is_what_is_printed(points, k):
    lattice = build_lattice(points)
    for node in some_nodes(lattice, 15):
        rows = printed_rows(lattice, node)
        kept = {labels: size for labels, size in classes_of(rows).items() if size >= k}
        if not kept:
            continue
        partition = lattice.partition(node, k, suppress=0.999)
        labels = zip(*(partition.labels(j) for j in range(len(points.axes))), strict=True)
        assert sorted(partition.sizes.tolist()) == sorted(kept.values())
        assert partition.suppressed == len(rows) - sum(kept.values())
        assert partition.k >= k
        if has_every_null(points, partition):
            assert dict(zip(labels, partition.sizes.tolist(), strict=True)) == kept
        if has_every_null(points, partition) and not partition.suppressed:
            assert mean_loss(partition) == pytest.approx(loss_of(rows, k), abs=1e-9)


@given(point_sets(kinds=bare_axes))
@fewer
def test_going_up_k_grows_and_suppressed_rows_do_not(points):
    lattice = build_lattice(points)
    nodes = some_nodes(lattice)
    figures = {node: [lattice.suppressed_of(node, k) for k in KS] + [-lattice.k_of(node)] for node in nodes}
    for low, high in product(nodes, nodes):
        if is_below(low, high):
            assert all(a >= b for a, b in zip(figures[low], figures[high], strict=True))


@given(point_sets(kinds=bare_axes), st.integers(1, 45), st.sampled_from([0.0, 0.0, 0.1, 0.4]))
@fewer
def test_minimal_nodes_and_the_best_one_by_trying_all(points, k, suppress):
    lattice = build_lattice(points)
    limit = int(suppress * points.rows + 1e-9)
    good = [node for node in all_nodes(lattice) if lattice.suppressed_of(node, k) <= limit]
    if not good:
        with pytest.raises(TooFewRows):
            lattice.best(k, suppress)
        return
    minimal = [node for node in good if not any(is_below(low, node) for low in good if low != node)]
    best = lattice.best(k, suppress)

    assert lattice.minimal_nodes(k, suppress) == minimal
    assert best.levels in good
    assert best.proven
    assert best.loss == pytest.approx(min(lattice.loss_of(node, k) for node in good), abs=1e-9)
    assert best.suppressed <= limit
    assert best.classes == lattice.partition(best.levels, k, suppress).classes


@given(point_sets(kinds=bare_axes), st.integers(1, 45), st.sampled_from([0.0, 0.0, 0.1, 0.4]))
@fewer
def test_searching_finds_what_enumerating_finds(points, k, suppress):
    lattice = build_lattice(points)
    if k > points.rows:
        with pytest.raises(TooFewRows):
            lattice._choice(k, suppress).search(10**6)
        return
    found = lattice._choice(k, suppress).search(10**6)

    assert found.proven
    assert found.loss == pytest.approx(lattice.best(k, suppress).loss, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_bounds_from_single_columns_lead_to_the_same_node(seed, monkeypatch):
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        lattice = kech.compute_lattice(table, grid=case.grid)
    choice = lattice._choice(case.k, 0.1)
    together = choice.search(10**6)
    monkeypatch.setattr("kech.topology.lattice.choice.GROUP_NODES", 1)

    assert len(choice.groups()) == len(lattice.columns)
    assert choice.search(10**6).loss == pytest.approx(together.loss, abs=1e-12)


@given(point_sets(kinds=bare_axes), st.integers(1, 45), st.integers(1, 30))
@fewer
def test_a_search_that_is_cut_short_is_honest(points, k, looks):
    """What it gives reaches k, and the best node loses no less than its bound."""
    lattice = build_lattice(points)
    k = min(k, points.rows)
    found, best = lattice._choice(k, 0).search(looks), lattice.best(k)

    assert lattice.k_of(found.levels) >= k
    assert found.bound - 1e-9 <= best.loss <= found.loss + 1e-9
    assert not found.proven or found.loss == pytest.approx(best.loss, abs=1e-9)


@given(point_sets(kinds=bare_axes), st.data())
@fewer
def test_the_barcode_of_a_path_has_the_ranks_of_its_maps(points, data):
    """For every pair of positions, the bars alive at both are as many as classes the map leaves: the rank."""
    lattice = build_lattice(points)
    path = [data.draw(st.sampled_from(some_nodes(lattice)))]
    for _ in range(data.draw(st.integers(0, 4))):
        path.append(tuple(data.draw(st.integers(a, h - 1)) for a, h in zip(path[-1], lattice.heights, strict=True)))
    bars = lattice.path_barcode(path)
    for s, t in product(range(len(path)), repeat=2):
        if s <= t:
            images = {c for _, c in zip(lattice.classes(path[s]), lattice.classes(path[t]).tolist(), strict=True)}
            assert sum(bar.birth <= s and t <= bar.death for bar in bars) == len(images)
            assert lattice.rank(path[s], path[t]) == len(images)
    for t, node in enumerate(path):
        sizes = classes_of(printed_rows(lattice, node))
        alive = [bar.weights[t] for bar in bars if t <= bar.death]
        assert sorted(alive) == sorted(sizes.values())


@pytest.mark.parametrize("seed", seeds(40))
def test_two_threads_and_little_memory_give_what_one_gives(seed):
    case = random_case(seed)
    with kech.read_table(case.table, **case.roles) as table:
        points = build_points(table, labels=say_labels(grid=case.grid), by_level=True)
    one, two = (build_lattice(points, threads=threads) for threads in (1, 2))
    for name in ("classes", "smallest", "counts", "costs"):
        assert np.array_equal(getattr(one.table, name), getattr(two.table, name)), name
    assert one.table.peak_bytes == two.table.peak_bytes
    tight = kech.GeneralizationLattice(points, one.levels, memory=4000)
    assert np.array_equal(tight.table.smallest, one.table.smallest)
    with recording("kech.topology.rollup.count_fixed_axes") as calls:
        tiny = kech.GeneralizationLattice(points, one.levels, memory=20)
        assert np.array_equal(tiny.table.smallest, one.table.smallest)
    assert tiny.nodes == 1 or all(fixed > 0 for _, fixed in calls)
    assert tight.table.bound <= max(1, 2000 // 12 // one.nodes)
    assert tight.table.peak_bytes <= one.table.peak_bytes


def test_keys_of_several_words_count_as_those_of_one():
    """Each axis several times: the classes stay the same, the keys outgrow 64 bits, then 128."""
    rng = np.random.default_rng(1)
    values = [f"v{i}" for i in range(100)]
    axis = build_rank_axis("c", values, values, False, is_ordered=True)
    codes = np.unique(rng.integers(0, 100, (300, 2)), axis=0).astype(np.int32)
    weights = rng.integers(1, 5, len(codes))
    narrow = build_lattice(Points((axis, axis), (), codes, weights))
    for times in (5, 12):
        wide = build_lattice(Points((axis, axis) * times, (), np.tile(codes, times), weights))
        for node in [(0, 0), (3, 2), (1, 6), (7, 7)]:
            repeated = node * times
            assert wide.k_of(repeated) == narrow.k_of(node)
            assert np.array_equal(wide.classes(repeated), narrow.classes(node))
            assert wide.suppressed_of(repeated, 4) == narrow.suppressed_of(node, 4)
            assert wide.loss_of(repeated, 4) == pytest.approx(narrow.loss_of(node, 4))


# Chains


def three_switches():
    """Two columns of three levels; k is reached only where the second one is at its top."""
    order = [f"{i:02}" for i in range(4)]
    axis = build_rank_axis("a", order, order, False, is_ordered=True)
    codes = np.array([(0, 0), (0, 1), (0, 2), (0, 3)], np.int32)
    return build_lattice(Points((axis, replace(axis, column="b")), (), codes, np.full(4, 1)))


def test_chains_miss_what_the_lattice_holds():
    lattice = three_switches()

    assert lattice.best(4).levels == (0, 2)
    with pytest.raises(
        GoalNotMet, match=r"2 chains .*, 6 nodes: 'a' at every level, .* 0 to 1. Another node may reach it"
    ):
        lattice.chain(4, chains=2)
    assert lattice.chain(4, chains=3).levels == lattice.chain(4).levels == (0, 2)


def test_the_lower_chain_of_the_paper_comes_first(paper):
    assert paper.chain(2).levels == (2, 0)
    assert paper.chain(6).levels == (3, 0)
    assert paper.chain(7).levels == (3, 1)  # the upper one
    assert not paper.chain(2).proven
    found = paper.to_json([2], search="chain")
    assert found["best"][0]["levels"] == {"country": 2, "gender": 0}
    assert found["minimal"] is None


# Worked examples of our own, as ANJANA and ARX show theirs


def test_a_hospital_of_twelve():
    """Age under a hierarchy, gender, ZIP by prefixes; k = 3 counted by hand."""
    table = pa.table(
        {
            "age": ["21", "22", "24", "38", "36", "39", "21", "28", "27", "33", "36", "31"],
            "gender": ["F"] * 6 + ["M"] * 6,
            "zip": ["81667", "81675", "81925", "81931", "81931", "81925", "81667", "81675", "81667", "81925", "81931",
                    "81925"],
        }
    )  # fmt: skip
    ages = sorted(set(table.column("age").to_pylist()))
    zips = sorted(set(table.column("zip").to_pylist()))
    trees = {
        "age": {0: ages, 1: [f"{x[0]}0s" for x in ages], 2: ["*"] * len(ages)},
        "gender": {0: ["F", "M"], 1: ["*", "*"]},
        "zip": {level: [x[: 5 - level].ljust(5, "*") for x in zips] for level in range(3)} | {3: ["*"] * len(zips)},
    }
    with kech.read_table(table, quasi_identifiers=["age", "gender", "zip"], hierarchies=trees) as read:
        lattice = kech.compute_lattice(read)

    assert lattice.heights == (3, 2, 4)
    assert (1, 0, 2) not in lattice.minimal_nodes(3)  # a woman of 24 lives in 819**
    assert lattice.suppressed_of((1, 0, 2), 3) == 3
    assert lattice.best(3, suppress=0.25).levels == (1, 0, 2)
    assert lattice.best(3, suppress=0.25).classes == 3
    assert (1, 0, 3) in lattice.minimal_nodes(3)


# Adult, where it is at hand

needs_adult = pytest.mark.skipif(not (DATA / "adult.csv").exists(), reason="the Adult table is not at hand")


@pytest.fixture(scope="module")
def adult():
    roles = {"quasi_identifiers": ADULT, "hierarchies": DATA / "adult_hierarchies"}
    with kech.read_table(DATA / "adult.csv", **roles) as table:
        return kech.compute_lattice(table)


@needs_adult
def test_the_minimal_nodes_of_adult(adult):
    assert adult.nodes == 6480
    assert [len(adult.minimal_nodes(k)) for k in (2, 3, 5, 10, 20, 50, 100)] == [25, 28, 23, 17, 13, 8, 4]


@needs_adult
def test_sql_counts_the_same_classes_of_adult(adult):
    """Labels joined from the hierarchy files; nothing of kech in between."""
    sql = duckdb.connect()
    sql.execute("CREATE TABLE t AS FROM read_csv(?, delim=';', all_varchar=true)", [str(DATA / "adult.csv")])
    for j, column in enumerate(ADULT):
        file = str(DATA / "adult_hierarchies" / f"adult_hierarchy_{column}.csv")
        sql.execute(f"CREATE TABLE h{j} AS FROM read_csv(?, delim=';', header=false, all_varchar=true)", [file])
    nodes = all_nodes(adult)
    joined = " ".join(f'JOIN h{j} ON h{j}.column0 = t."{column}"' for j, column in enumerate(ADULT))
    for at in np.random.default_rng(7).choice(len(nodes), 25, replace=False).tolist():
        labels = ", ".join(f"h{j}.column{level}" for j, level in enumerate(nodes[at]))
        sizes = f"SELECT count(*) AS n FROM t {joined} GROUP BY {labels}"
        query = f"SELECT count(*), min(n), coalesce(sum(n) FILTER (n < 10), 0) FROM ({sizes})"
        found = adult.table.classes[at], adult.table.smallest[at], adult.table.count_suppressed(10)[at]
        assert sql.execute(query).fetchone() == found, nodes[at]


@needs_adult
def test_searching_adult_finds_its_best_nodes(adult):
    for k, suppress in ((5, 0.0), (50, 0.0), (5, 0.05)):
        found = adult._choice(k, suppress).search(5000)
        assert found.proven
        assert found.loss == pytest.approx(adult.best(k, suppress).loss, abs=1e-12)


@needs_adult
def test_a_larger_k_never_costs_less_and_suppression_never_costs_more(adult):
    strict, loose = adult.curve(), adult.curve(0.05)
    for curve in (strict, loose):
        losses = [node.loss for node in curve]
        assert losses == sorted(losses)
        assert [node.k for node in curve] == list(range(2, 101))
    assert all(b.loss <= a.loss for a, b in zip(strict, loose, strict=True))


# The odd ones


def points_of(columns, **roles):
    with kech.read_table(pa.table(columns), quasi_identifiers=list(columns), **roles) as table:
        return build_points(table, by_level=True)


def test_one_row():
    lattice = build_lattice(points_of({"a": [5], "b": ["x"]}))

    assert lattice.table.classes.tolist() == [1] * lattice.nodes
    assert lattice.best(1).levels == (0, 0)
    with pytest.raises(TooFewRows):
        lattice.best(2)


def test_twins_need_no_blur():
    lattice = build_lattice(points_of({"a": ["x", "x", "y", "y"], "b": [1, 1, 7, 7]}))

    assert lattice.best(2).levels == (0, 0)
    assert lattice.best(2).loss < 0.1
    assert lattice.minimal_nodes(2) == [(0, 0)]


def test_a_constant_column_stays_and_nulls_are_a_class_of_their_own():
    lattice = build_lattice(points_of({"a": ["c"] * 6, "b": ["x", None, None, "x", "y", None]}))

    assert lattice.heights == (1, 2)
    assert lattice.k_of((0, 0)) == 1
    assert lattice.classes_of((0, 0)) == 3
    partition = lattice.partition((0, 0), 2, suppress=0.2)
    assert sorted(zip(partition.labels(1), partition.sizes.tolist(), strict=True), key=str) == [("x", 2), (None, 3)]


def test_k_above_the_bound_of_the_histogram():
    rows = [f"{i:03}" for i in range(20) for _ in range(i * 15 + 1)]
    lattice = build_lattice(points_of({"a": rows}, axes={"a": "star"}))

    assert lattice.table.bound == 128
    assert lattice.suppressed_of((0,), 200) == sum(size for size in range(1, 300, 15) if size < 200)
    found = lattice.best(200, suppress=0.5)
    assert found.levels == (0,)
    assert found.suppressed == lattice.suppressed_of((0,), 200)
    assert lattice.best(290).levels == (1,)


def many_switches(axes=40, rows=200):
    rng = np.random.default_rng(3)
    return points_of({f"c{j}": rng.choice(["a", "b", "c"], rows, p=[0.9, 0.08, 0.02]) for j in range(axes)})


def test_forty_columns_are_searched_with_a_bound_and_a_report():
    lattice = build_lattice(many_switches())
    said = []
    with listen(lambda doing, share: said.append((doing, share))):
        found = lattice.best(5, looks=300)

    assert lattice.nodes == 2**40
    assert lattice.k_of(found.levels) >= 5
    assert 0 < found.bound <= found.loss < 1
    assert ("searching the lattice", pytest.approx(1, abs=0.9)) in said
    with pytest.raises(TooManyNodes, match="1,099,511,627,776"):
        lattice.minimal_nodes(5)


@pytest.mark.long
def test_a_large_tree_in_a_lattice():
    leaves = [f"{x:05}" for x in range(100_000)]
    paths = {0: leaves, 1: [x[:2] + "___" for x in leaves], 2: ["*"] * len(leaves)}
    axis = build_tree_axis("c", leaves, kech.read_hierarchy(paths), False)
    points = Points((axis,), (), axis.codes[:, None], np.ones(len(leaves), np.int64))
    lattice = build_lattice(points)

    assert lattice.table.classes.tolist() == [100_000, 100, 1]
    assert lattice.best(1000).levels == (1,)


@pytest.mark.parametrize("levels", [(0,), (0, 0, 0), (4, 0), (0, -1)])
def test_a_node_that_is_not_there_is_named(paper, levels):
    with pytest.raises(NoSuchNode, match=",".join(map(str, levels))):
        paper.k_of(levels)


def test_refusals(paper):
    with pytest.raises(BadOption, match="not below"):
        paper.rank((1, 0), (0, 1))
    with pytest.raises(BadOption, match="not below"):
        paper.path_barcode([(0, 1), (1, 0)])
    with pytest.raises(BadOption, match="empty"):
        paper.path_barcode([])
    with pytest.raises(BadOption, match=r"^suppress: "):
        paper.best(2, suppress=1.0)
    with pytest.raises(BadOption, match=r"^search: "):
        paper.to_json([2], search="deep")
    with pytest.raises(GoalNotMet, match="3 rows"):
        paper.partition((0, 1), 2, suppress=0.1)
    with pytest.raises(TooFewRows):
        paper.best(14)
    for ask in (paper.best, paper.minimal_nodes, paper.chain):
        for k in (0, -5, 2.5):
            with pytest.raises(BadOption, match=r"^k: "):
                ask(k)
    for ask in (paper.suppressed_of, paper.loss_of, paper.partition):
        for k in (0, -5, 2.5):
            with pytest.raises(BadOption, match=r"^k: "):
                ask((0, 0), k)
    with pytest.raises(NoSuchNode, match=r"0\.5,0"):
        paper.k_of((0.5, 0))


def test_however_large_the_share_one_row_is_published():
    lattice = build_lattice(points_of({"a": ["x", "y"]}))

    assert lattice.suppression_limit(0.9999999999) == 1
    assert lattice.best(2, 0.9999999999).levels == (1,)


def test_many_large_k_are_counted_at_once():
    rows = [f"{i:03}" for i in range(20) for _ in range(i * 15 + 1)]
    points = points_of({"a": rows}, axes={"a": "star"})
    ks = range(150, 200, 5)

    one_by_one = [build_lattice(points).best(k, 0.5) for k in ks]
    with recording("kech.topology.lattice.nodes.measure_all_nodes") as rolled:
        assert build_lattice(points).curve(0.5, ks) == one_by_one
        build_lattice(points).to_json(ks, 0.5)
        cut(points, ks, "domain", suppress=0.5)
    assert len(rolled) == 3


def test_too_little_memory_is_called_so(paper):
    small = kech.GeneralizationLattice(paper.points, paper.levels, memory=1)

    assert small.best(2) == paper.best(2)
    for ask in (small.best, small.minimal_nodes):
        with pytest.raises(TooLittleMemory, match="memory"):
            ask(2, suppress=0.3)


def test_a_table_without_rows_is_refused():
    with pytest.raises(TooFewRows, match="no rows"):
        build_lattice(points_of({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())}))


def test_nodes_beyond_the_most_are_searched(paper, monkeypatch):
    monkeypatch.setattr("kech.topology.lattice.nodes.MOST_NODES", 4)
    monkeypatch.setattr("kech.topology.lattice.choice.GROUP_NODES", 4)
    large = kech.GeneralizationLattice(paper.points, paper.levels)

    assert large.best(3) == paper.best(3)
    assert large.best(3).proven
    assert large.to_json([3])["minimal"] is None
    with pytest.raises(TooManyNodes, match="8 nodes"):
        large.minimal_nodes(3)

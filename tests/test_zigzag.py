"""Zig-zags of partitions are those of their complexes; bars carry the rows of the classes they are."""

import json
from collections import Counter
from dataclasses import astuple, dataclass
from itertools import product
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kech
from kech import _kernels
from kech.errors import BadOption, BadTarget, ResourceError
from kech.tables.demo import nine_rows
from kech.topology.zigzag import build_zigzag
from kech.views.pictures.zigzag import heights
from strategies import unhurried
from topology_oracles import betti_numbers, travellers
from zigzag_oracles import (
    canonical,
    carried_rows,
    components_of,
    dionysus_bars,
    full_complex,
    partitions_at,
    random_path,
    star_complex,
    zigzag_complexes,
)

THROUGH = ("union", "intersection")
through_both = pytest.mark.parametrize("through", THROUGH)


@dataclass(frozen=True)
class TinyLattice:
    """Axes as lists of labels, a list for each level, over the same points."""

    columns: tuple[str, ...]
    labels: tuple[tuple[tuple[str, ...], ...], ...]
    weights: tuple[int, ...]

    @property
    def points(self):
        return SimpleNamespace(weights=np.array(self.weights, np.int64), person=None)

    @property
    def heights(self):
        return tuple(len(levels) for levels in self.labels)

    @property
    def largest_k(self):
        return sum(self.weights)

    def classes(self, levels):
        rows = list(zip(*(axis[level] for axis, level in zip(self.labels, levels, strict=True)), strict=True))
        return np.array([sorted(set(rows)).index(row) for row in rows], np.int64)

    def k_of(self, levels):
        return int(np.bincount(self.classes(levels), self.weights).min())

    def loss_of(self, levels):
        """Higher is worse, and the last axis matters most."""
        return sum(level * 10**axis for axis, level in enumerate(levels))

    def minimal_nodes(self, k):
        reached = [node for node in product(*map(range, self.heights)) if self.k_of(node) >= k]
        below = [
            {n for n in reached if n != node and all(a <= b for a, b in zip(n, node, strict=True))} for node in reached
        ]
        return [node for node, smaller in zip(reached, below, strict=True) if not smaller]


def walk(path, weights=None, through="union", threads=1):
    """Straight from class numbers, without a lattice."""
    weights = np.ones(len(path[0]), np.int64) if weights is None else np.asarray(weights, np.int64)
    return _kernels.walk_path([np.asarray(node, np.int64) for node in path], weights, through == "union", threads)


def ends(found):
    """(dimension, first, last position) of every bar, in half steps."""
    classes = [(0, b, d) for b, d in zip(found["birth"].tolist(), found["death"].tolist(), strict=True)]
    return sorted(classes + [(1, at, at) for at, count in enumerate(found["holes"].tolist()) for _ in range(count)])


def carried(found):
    """(first, last, rows at each position) of every bar."""
    begin, rows = found["begin"].tolist(), found["rows"].tolist()
    pairs = zip(found["birth"].tolist(), found["death"].tolist(), begin, begin[1:], strict=False)
    return sorted((b, d, tuple(rows[i:j])) for b, d, i, j in pairs)


def counted(barcode):
    """How many bars there are of each dimension, birth and death."""
    return Counter((bar.dimension, bar.birth, bar.death) for bar in barcode.bars())


# The paper's example


COUNTRIES = ("Portugal", "Spain", "Hungary", "Poland", "USA", "Canada", "Brazil", "Chile")
REGIONS = ("West Europe", "West Europe", "East Europe", "East Europe", "North", "North", "South", "South")
CONTINENTS = ("Europe",) * 4 + ("America",) * 4


@pytest.fixture(scope="module")
def paper():
    """Gender (2 levels) and country (4 levels), every pair once but for two more women in Spain: C^{gender country}."""
    country = tuple(tuple(level) * 2 for level in (COUNTRIES, REGIONS, CONTINENTS, ("all",) * 8))
    gender = (("Female",) * 8 + ("Male",) * 8, ("Person",) * 16)
    return TinyLattice(("gender", "country"), (gender, country), (1, 3, *(1,) * 14))


def test_the_first_sequence_of_the_paper(paper):
    """C03 (2 classes) and C10 (8 countries) are not comparable: their union is one class with 16 - 2 - 8 + 1 holes."""
    barcode = build_zigzag(paper, "rows")

    assert [f"{g}{c}" for g, c in barcode.path] == ["00", "01", "02", "03", "10", "11", "12", "13"]
    assert counted(barcode) == {
        (0, 0, 0): 8, (0, 0, 1): 4, (0, 0, 2): 2, (0, 0, 3): 1, (0, 0, 7): 1,
        (0, 4, 4): 4, (0, 4, 5): 2, (0, 4, 6): 1,
        (1, 3.5, 3.5): 7,
    }  # fmt: skip
    assert barcode.classes[::2].tolist() == [16, 8, 4, 2, 8, 4, 2, 1]


def test_the_second_sequence_of_the_paper(paper):
    """Three neighbours are not comparable, so there are three unions with holes: another barcode."""
    barcode = build_zigzag(paper, "columns")

    assert [f"{g}{c}" for g, c in barcode.path] == ["00", "10", "01", "11", "02", "12", "03", "13"]
    assert counted(barcode) == {
        (0, 0, 0): 8, (0, 0, 1): 4, (0, 0, 3): 2, (0, 0, 5): 1, (0, 0, 7): 1,
        (0, 2, 2): 4, (0, 4, 4): 2, (0, 6, 6): 1,
        (1, 1.5, 1.5): 4, (1, 3.5, 3.5): 2, (1, 5.5, 5.5): 1,
    }  # fmt: skip


def test_the_rows_of_the_paper_are_carried_to_the_end(paper):
    barcode = build_zigzag(paper, "rows")
    (longest,) = [bar for bar in barcode.bars() if (bar.birth, bar.death) == (0, 7)]

    # women of Spain, of West Europe, of Europe, women; all; people of Spain, of West Europe, of Europe, all
    assert longest.rows == (3, 4, 4, 6, 6, 10, 10, 18, 4, 6, 6, 10, 10, 18, 18)
    assert longest.weight == 3


def test_the_regimes_of_the_paper(paper):
    barcode = build_zigzag(paper, "rows")

    assert [*map(astuple, barcode.regimes(2))] == [(1, 7, 2, 8)]
    assert [*map(astuple, barcode.regimes(4))] == [(2, 3, 4, 4), (5, 7, 4, 4)]
    assert [*map(astuple, barcode.regimes(18))] == [(7, 7, 18, 1)]
    assert barcode.regimes(19) == []
    with pytest.raises(BadOption, match=r"^k: "):
        barcode.regimes(0)


@through_both
@pytest.mark.parametrize("path", ["rows", "columns", "diagonal"])
def test_regimes_name_the_nodes_that_are_k_anonymous_and_nothing_between_them(paper, path, through):
    barcode = build_zigzag(paper, path, through)
    smallest = [np.bincount(paper.classes(node), weights=paper.weights).min() for node in barcode.path]
    for k in range(1, 20):
        named = [node for regime in barcode.regimes(k) for node in range(regime.start, regime.stop + 1)]

        assert named == [at for at, rows in enumerate(smallest) if rows >= k]
        assert all(barcode.holes[2 * node] == 0 for node in named)


def test_a_union_with_holes_is_in_no_regime(paper):
    barcode = build_zigzag(paper, [(0, 3), (1, 0)])

    assert (barcode.smallest.tolist(), barcode.holes.tolist()) == ([8, 18, 2], [0, 7, 0])
    assert barcode.regimes(9) == []


def test_json_has_the_fixed_fields(paper):
    made = build_zigzag(paper, [(0, 3), (1, 0)]).to_json(k=4)
    again = json.loads(json.dumps(made))

    assert again == made
    assert made["path"] == [[0, 3], [1, 0]]
    assert made["private"] is True
    no_people = {"fewest_people": None, "people": None}
    assert {"dimension": 0, "birth": 0.0, "death": 0.0, "weight": 8, "rows": [8], **no_people} in made["bars"]
    assert {"dimension": 1, "birth": 0.5, "death": 0.5, "weight": None, "rows": [], **no_people} in made["bars"]
    assert made["summary"] == [
        {"dimension": 0, "birth": 0.0, "death": 0.0, "count": 1, "weight": 8, "fewest_people": None},
        {"dimension": 0, "birth": 0.0, "death": 1.0, "count": 1, "weight": 4, "fewest_people": None},
        {"dimension": 0, "birth": 1.0, "death": 1.0, "count": 7, "weight": 2, "fewest_people": None},
        {"dimension": 1, "birth": 0.5, "death": 0.5, "count": 7, "weight": None, "fewest_people": None},
    ]
    assert made["positions"][1] == {"position": 0.5, "classes": 1, "smallest": 18, "smallest_people": None, "holes": 7}
    assert made["readings"] == ["homological", "strict", "partition"]
    assert made["regimes"] == [{"start": 0, "stop": 0, "k": 8, "classes": 2}]


# Against dionysus, which sees simplices


@through_both
@pytest.mark.parametrize("seed", range(4))
def test_bars_are_those_of_the_complexes(seed, through):
    pytest.importorskip("dionysus")
    rng = np.random.default_rng(seed)
    for _ in range(50):
        path = random_path(rng, int(rng.integers(1, 13)), int(rng.integers(1, 8)))
        complexes = zigzag_complexes([full_complex(node) for node in path], through)

        assert ends(walk(path, through=through)) == dionysus_bars(complexes)


@through_both
@pytest.mark.parametrize("field", [3, 7])
def test_bars_are_those_over_every_field(field, through):
    pytest.importorskip("dionysus")
    rng = np.random.default_rng(field)
    for _ in range(15):
        path = random_path(rng, int(rng.integers(1, 13)), int(rng.integers(1, 8)))
        complexes = zigzag_complexes([full_complex(node) for node in path], through)

        assert ends(walk(path, through=through)) == dionysus_bars(complexes, field=field)


def test_sixty_points_too():
    pytest.importorskip("dionysus")
    rng = np.random.default_rng(9)
    for _ in range(2):
        path = [canonical(rng.integers(0, 15, 60)) for _ in range(4)]
        complexes = zigzag_complexes([full_complex(node) for node in path], "union")

        assert ends(walk(path)) == dionysus_bars(complexes)


@pytest.mark.parametrize("seed", range(4))
def test_components_of_two_thousand_points(seed):
    """Stars have the components of full simplices, and so do their unions; holes are not asked for."""
    pytest.importorskip("dionysus")
    rng = np.random.default_rng(seed)
    near = random_path(rng, 2000, 12, free=False)
    far = [canonical(rng.integers(0, 25, 2000)) for _ in range(3)]
    for path in (near, far):
        complexes = zigzag_complexes([star_complex(node) for node in path], "union")
        components = [bar for bar in ends(walk(path)) if bar[0] == 0]

        assert components == [bar for bar in dionysus_bars(complexes, most=0) if bar[0] == 0]


def test_holes_of_unions_are_those_of_the_boundary_matrix():
    rng = np.random.default_rng(3)
    for _ in range(100):
        one, two = random_path(rng, int(rng.integers(1, 9)), 2)
        found = walk([one, two])
        radii = dict.fromkeys(full_complex(one) | full_complex(two), 0.0)

        assert [found["classes"][1], found["holes"][1]] == betti_numbers(radii, 0.0, 1)


# Rows


@through_both
def test_a_bar_carries_the_rows_of_the_rule(through):
    """Weights are powers of two, so no two classes of a position have as many rows."""
    rng = np.random.default_rng(4)
    for _ in range(150):
        points = int(rng.integers(1, 12))
        path = random_path(rng, points, int(rng.integers(1, 8)))
        weights = 2 ** rng.permutation(points)

        assert carried(walk(path, weights, through)) == carried_rows(path, weights, through)


partition_paths = st.integers(1, 9).flatmap(
    lambda points: st.tuples(
        st.lists(st.lists(st.integers(0, 4), min_size=points, max_size=points), min_size=1, max_size=6),
        st.lists(st.integers(1, 6), min_size=points, max_size=points),
    )
)


@unhurried
@given(partition_paths, st.sampled_from(THROUGH), st.integers(1, 3))
def test_at_every_position_the_bars_are_the_classes(drawn, through, threads):
    path, weights = [canonical(node) for node in drawn[0]], np.array(drawn[1])
    found = walk(path, weights, through, threads)
    bars = carried(found)
    for at, labels in enumerate(partitions_at(path, through)):
        rows = sorted(np.bincount(labels, weights).astype(int).tolist())

        assert sorted(rows[at - b] for b, d, rows in bars if b <= at <= d) == rows
        assert (found["classes"][at], found["smallest"][at]) == (len(rows), rows[0])


# Laws


@unhurried
@given(partition_paths)
def test_diamonds_match_the_two_zigzags(drawn):
    """[b, d] through unions is [b - 1/2, d + 1/2] through intersections; a hole is a bar of its own position."""
    path = [canonical(node) for node in drawn[0]]
    end = 2 * len(path) - 2
    union, intersection = ends(walk(path)), ends(walk(path, through="intersection"))
    matched = [(0, max(b - 1, 0), min(d + 1, end)) if dim == 0 else (0, b, d) for dim, b, d in union]

    assert all(b % 2 == d % 2 == 0 for dim, b, d in union if dim == 0)
    assert sorted(matched) == intersection


@unhurried
@given(partition_paths, st.integers(0, 5))
def test_one_diamond_at_a_time(drawn, place):
    """Union and intersection trade places between two nodes only; everything else stays as it is."""
    path = [canonical(node) for node in drawn[0]]
    if len(path) < 2:
        return
    k = 2 * (place % (len(path) - 1)) + 1
    meet = canonical(path[k // 2] * 9 + path[k // 2 + 1])
    union = ends(walk(path))
    mixed = [bar for bar in ends(walk([*path[: k // 2 + 1], meet, *path[k // 2 + 1 :]])) if bar[0] == 0]
    matched = [diamond(bar, k) for bar in union if bar[0] == 0 or bar[1] == k]

    assert sorted(matched) == sorted(squeezed(bar, k) for bar in mixed)


def diamond(bar, k):
    """The partner of a bar when the union at k becomes the intersection."""
    dimension, birth, death = bar
    if dimension == 1:
        return 0, k, k
    return 0, k if birth == k + 1 else birth, k if death == k - 1 else death


def squeezed(bar, k):
    """The meet as a node between its neighbours has unions on either side that are the neighbours themselves."""
    _, birth, death = bar
    return 0, birth - (birth >= k + 1) - (birth > k + 1), death - (death >= k + 1) - (death > k + 1)


@unhurried
@given(partition_paths, st.sampled_from(THROUGH))
def test_the_way_back_mirrors_the_bars(drawn, through):
    path = [canonical(node) for node in drawn[0]]
    end = 2 * len(path) - 2
    there, back = (ends(walk(way, through=through)) for way in (path, path[::-1]))

    assert sorted((dim, end - d, end - b) for dim, b, d in there) == back


@unhurried
@given(partition_paths, st.sampled_from(THROUGH))
def test_a_monotone_path_is_a_filtration(drawn, through):
    """All bars begin at 0, and as many die at each step as classes go; the union is the coarser neighbour."""
    path = [canonical(drawn[0][0])]
    for node in drawn[0][1:]:
        path.append(components_of(path[-1], canonical(node)) if len(set(node)) > 1 else path[-1])
    found = walk(path, through=through)
    counts = [node.max() + 1 for node in path]
    between = counts[1:] if through == "union" else counts[:-1]

    assert not found["birth"].any()
    assert not found["holes"].any()
    assert found["classes"][1::2].tolist() == between
    assert Counter((found["death"] // 2).tolist()) == Counter(
        {at: a - b for at, (a, b) in enumerate(zip(counts, [*counts[1:], 0], strict=True)) if a > b}
    )


@through_both
def test_threads_and_class_numbers_change_nothing(through):
    rng = np.random.default_rng(6)
    for _ in range(30):
        path = random_path(rng, 11, 6)
        weights = 2 ** rng.permutation(11)
        renamed = [rng.permutation(node.max() + 1)[node] for node in path]

        assert carried(walk(path, weights, through, 4)) == carried(walk(path, weights, through))
        assert carried(walk(renamed, weights, through)) == carried(walk(path, weights, through))


# Odd ones


@through_both
@pytest.mark.parametrize("nodes", [1, 2, 5])
def test_one_point_is_one_bar(nodes, through):
    found = walk([[0]] * nodes, [7], through)

    assert carried(found) == [(0, 2 * nodes - 2, (7,) * (2 * nodes - 1))]
    assert found["smallest"].tolist() == [7] * (2 * nodes - 1)


@through_both
def test_constant_and_distinct_partitions(through):
    constant, distinct = np.zeros(50, np.int64), np.arange(50)

    assert ends(walk([constant] * 3, through=through)) == [(0, 0, 4)]
    assert ends(walk([distinct] * 3, through=through)) == [(0, 0, 4)] * 50
    first, last = (1, 3) if through == "intersection" else (2, 2)
    assert Counter(ends(walk([constant, distinct, constant], through=through))) == {(0, 0, 4): 1, (0, first, last): 49}


def test_no_nodes_are_no_positions():
    assert not any(len(values) for values in _kernels.walk_path([], np.ones(3, np.int64), True, 1).values())


def test_no_points_are_no_bars():
    found = walk([[], []], [])

    assert [len(found[name]) for name in ("birth", "death", "rows")] == [0, 0, 0]
    assert found["classes"].tolist() == [0, 0, 0]


def test_of_equals_the_lower_class_number_lives_on():
    assert carried(walk([[0, 1, 2], [0, 0, 0]], [2, 2, 2])) == [(0, 0, (2,)), (0, 0, (2,)), (0, 2, (2, 6, 6))]
    heavy = 2**40
    assert carried(walk([[0, 1], [0, 0]], [heavy, heavy + 1])) == [
        (0, 0, (heavy,)),
        (0, 2, (heavy + 1, 2 * heavy + 1, 2 * heavy + 1)),
    ]


# Paths


def test_named_paths_of_three_axes():
    labels = tuple(tuple(("a" * (j == 0),) for j in range(height)) for height in (2, 1, 3))
    lattice = TinyLattice(("x", "y", "z"), labels, (1,))

    assert build_zigzag(lattice, "rows").path == tuple(product(range(2), range(1), range(3)))
    assert build_zigzag(lattice, "columns").path[:3] == ((0, 0, 0), (1, 0, 0), (0, 0, 1))
    assert build_zigzag(lattice, "diagonal").path == ((0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 0, 2))


def test_the_minimal_path_reaches_every_k_at_the_lowest_loss(paper):
    path = build_zigzag(paper, "minimal").path
    reached = [paper.k_of(node) for node in path]

    assert path == ((0, 0), (1, 0), (1, 1), (1, 2), (1, 3))
    assert reached == [1, 2, 4, 8, 18]
    for k in range(1, 19):
        node = next(node for node, r in zip(path, reached, strict=True) if r >= k)
        assert paper.loss_of(node) == min(map(paper.loss_of, paper.minimal_nodes(k)))


def test_paths_are_parsed(paper):
    column = TinyLattice(("a",), ((("x",),) * 4,), (1,))

    assert build_zigzag(paper, " 0,0  0,1\n1,0 ").path == ((0, 0), (0, 1), (1, 0))
    assert build_zigzag(column, "3").path == ((3,),)
    assert build_zigzag(paper, " rows ").path == build_zigzag(paper, "rows").path


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("0,0 0,4", r"step 2, '0,4': column 'country' has levels 0 to 3"),
        ([(0, 0), (2, 0)], r"step 2, '2,0': column 'gender' has levels 0 to 1"),
        ([(0, -1)], r"step 1, '0,-1': column 'country' has levels 0 to 3"),
        ([(0, 0.5)], r"step 1, '0,0.5': column 'country'"),
        ([(0, True)], r"step 1, '0,True': column 'country'"),
        ("0,0 1", r"step 2, '1', has 1 levels\. Give 2, for gender, country"),
        ("0,0,0", r"step 1, '0,0,0', has 3 levels"),
        ("", "is empty"),
        ("  ", "is empty"),
        ([], "is empty"),
        ("0,0 zero", r"step 2, 'zero', is no node"),
        ("0,,0", r"step 1, '0,,0', is no node"),
        ("0,-1", r"step 1, '0,-1', is no node"),
        ("0,²", "is no node"),
        ("0," + "9" * 5000, "is no node"),
        ([(0, 0)] * (10_001), "10,001 steps are too many"),
    ],
)
def test_a_bad_path_is_refused_by_its_step(paper, path, reason):
    with pytest.raises(BadOption, match=rf"^path: .*{reason}"):
        build_zigzag(paper, path)


@pytest.mark.parametrize("name", ["rows", "columns"])
def test_a_lattice_too_large_to_visit_is_refused_before_it_is_listed(name):
    lattice = TinyLattice(tuple("abcdefghij" * 4), (((),) * 5,) * 40, ())
    with pytest.raises(BadOption, match="too many"):
        build_zigzag(lattice, name)


def test_another_way_through_is_refused(paper):
    with pytest.raises(BadOption, match="Choose among union, intersection"):
        build_zigzag(paper, "rows", "cone")


@pytest.mark.parametrize(("weight", "bits"), [(1, 32), (2**31, 64)])
def test_a_long_walk_holds_only_bars_that_live(weight, bits):
    fine, coarse = np.arange(200), np.arange(200) // 20
    walk, held = _kernels.PathWalk(np.full(200, weight), True), []
    for _ in range(150):
        walk.extend([fine, coarse], 1)
        held.append(walk.bytes())

    found = walk.finish()
    births, deaths, sizes = found["birth"].tolist(), found["death"].tolist(), np.diff(found["begin"]).tolist()
    assert Counter(zip(births, deaths, strict=True)) == {
        (0, 598): 10,
        (0, 0): 190,
        **{(at, at): 190 for at in range(4, 597, 4)},
    }
    assert sizes == [death - birth + 1 for birth, death in zip(births, deaths, strict=True)]
    fours = np.tile([1, 20, 20, 20], 150)[:-1] * weight
    for birth, begin, size in zip(births, found["begin"][:-1].tolist(), sizes, strict=True):
        assert found["rows"][begin : begin + size].tolist() == fours[birth : birth + size].tolist()
    assert found["rows"].dtype == np.dtype(f"int{bits}")
    result = sum(found[name].nbytes for name in ("birth", "death", "begin", "rows"))
    assert held[-1] - held[75] < result  # with all classes on the way it would be twice as much


def test_a_path_beyond_memory_is_refused(paper, monkeypatch):
    for limit in (1000, 3000):
        monkeypatch.setattr("kech.topology.zigzag.half_the_memory", lambda limit=limit: limit)
        with pytest.raises(ResourceError, match="shorter path"):
            build_zigzag(paper, "rows")


def test_a_path_beyond_what_a_limit_leaves_is_refused(paper, monkeypatch):
    assert build_zigzag(paper, "rows", memory=1_000_000).bars() == build_zigzag(paper, "rows").bars()
    with pytest.raises(ResourceError, match="shorter path"):
        build_zigzag(paper, "rows", memory=3000)
    asked = []
    monkeypatch.setattr(
        "kech.topology.zigzag.build_zigzag",
        lambda *_, memory, **__: asked.append(memory) or build_zigzag(paper, "rows"),
    )
    for limit in ("400MB", None):
        with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"], memory=limit) as table:
            kech.compute_zigzag(table, "rows")
    assert 100_000_000 < asked[0] < 160_000_000
    assert asked[1] is None


def test_bars_are_plain_values(paper):
    barcode = build_zigzag(paper, [np.array([0, 3]), (1, 3)])

    assert barcode.path == ((0, 3), (1, 3))
    assert [*map(astuple, barcode.bars())] == [(0, 0.0, 0.0, 8, (8,), None), (0, 0.0, 1.0, 10, (10, 18, 18), None)]


def test_the_travellers_go_through_both_sequences():
    with travellers() as table:
        first, second = (kech.compute_zigzag(table, path) for path in ("rows", "columns"))
        other = kech.compute_zigzag(table, "0,3 1,0", through="intersection")

    assert counted(first)[1, 3.5, 3.5] == 7
    assert first.classes[::2].tolist() == [16, 8, 4, 2, 8, 4, 2, 1]
    assert first.smallest[::2].tolist() == [1, 2, 4, 8, 2, 4, 8, 18]
    assert [(regime.start, regime.stop) for regime in first.regimes(4)] == [(2, 3), (5, 7)]
    assert [(regime.start, regime.stop) for regime in second.regimes(4)] == [(3, 7)]
    assert other.classes.tolist() == [2, 16, 8]


@pytest.mark.parametrize("path", ["diagonal", "minimal"])
def test_a_lattice_and_a_zigzag_agree_on_a_path_that_goes_up(path):
    rng = np.random.default_rng(8)
    numbers = rng.integers(0, 60, (2, 300))
    frame = pa.table({"x": numbers[0], "y": numbers[1], "z": np.array(list("abcd"))[rng.integers(0, 4, 300)]})
    with kech.read_table(frame, quasi_identifiers=["x", "y", "z"]) as table:
        lattice = kech.compute_lattice(table)
        barcode = kech.compute_zigzag(table, path)
    k = [lattice.k_of(node) for node in barcode.path]

    assert k == sorted(k) == barcode.smallest[::2].tolist()
    assert k[-1] == 300
    assert [lattice.classes_of(node) for node in barcode.path] == barcode.classes[::2].tolist()
    if path == "diagonal":
        bars = sorted((bar.birth, bar.death, bar.weights) for bar in lattice.path_barcode(barcode.path))
        assert bars == sorted((bar.birth, bar.death, bar.rows[::2]) for bar in barcode.bars())
    else:
        assert all(node in lattice.minimal_nodes(reached) for node, reached in zip(barcode.path, k, strict=True))


# Pictures


@pytest.fixture(scope="module")
def many():
    """More than 10,000 bars along 25 nodes of a grid."""
    rng = np.random.default_rng(5)
    values = np.unique(rng.integers(0, 500, (6000, 2)), axis=0)
    labels = tuple(tuple(tuple((axis // step).tolist()) for step in (1, 4, 20, 100, 500)) for axis in values.T)
    path = list(product(range(5), range(5)))
    partitions = [canonical(np.array(labels[0][i]) * 1000 + np.array(labels[1][j])) for i, j in path]
    return kech.ZigzagBarcode(tuple(path), ("x", "y"), "union", **walk(partitions))


def boxes(ax, name):
    """Left, right, low, high of what is drawn under a name, and the colours."""
    (drawn,) = (one for one in ax.collections if one.get_gid() == name)
    corners = np.array([outline.vertices[:4] for outline in drawn.get_paths()])
    sides = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)[:, [0, 2, 1, 3]]
    return sides, drawn.get_facecolor()[:, :3]


def words(figure):
    return " ".join(text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")))


@through_both
@pytest.mark.parametrize("k", [1, 3, 4, 19])
def test_under_every_position_are_its_classes_in_their_colour(paper, through, k):
    barcode = build_zigzag(paper, "columns", through)
    sides, colours = boxes(barcode.plot(k=k), "classes")
    (few_rows,) = {tuple(colour) for colour in boxes(barcode.plot(k=19), "classes")[1].tolist()}  # of 18
    for position, classes in zip(barcode.positions, barcode.classes, strict=True):
        under = (sides[:, 0] < position) & (position < sides[:, 1])
        alive = [bar for bar in barcode.bars() if bar.dimension == 0 and bar.birth <= position <= bar.death]
        few = [bar for bar in alive if bar.rows[int(2 * (position - bar.birth))] < k]

        assert under.sum() == classes
        assert (colours[under] == few_rows).all(axis=1).sum() == len(few)


def test_bars_lie_by_birth_then_death(paper):
    barcode = build_zigzag(paper, "columns")
    sides, _ = boxes(barcode.plot(k=1), "classes")
    downward = sides[np.argsort(-sides[:, 3])]

    assert downward[:, :2].tolist() == [
        [bar.birth - 0.25, bar.death + 0.25] for bar in barcode.bars() if not bar.dimension
    ]


@pytest.mark.parametrize("k", [2, 4, 18])
def test_shaded_spans_are_the_regimes_and_marks_the_holes(paper, k):
    barcode = build_zigzag(paper, "rows")
    ax = barcode.plot(k=k)
    sides, _ = boxes(ax, "regimes")
    holes, _ = boxes(ax, "holes")

    nodes = [node for regime in barcode.regimes(k) for node in range(regime.start, regime.stop + 1)]
    assert sorted(sides[:, :2].tolist()) == [[node - 0.25, node + 0.25] for node in nodes]
    assert holes[:, :2].tolist() == [[3.25, 3.75]]
    assert "H1: 7" in words(ax)


@through_both
def test_levels_stand_below_their_positions(paper, through):
    figure = build_zigzag(paper, "rows", through).plot(k=4).figure
    below = figure.axes[1].xaxis
    between = {"union": "∪", "intersection": "∩"}[through]

    assert [label.get_text() for label in below.get_majorticklabels()][:5] == ["0,0", "0,1", "0,2", "0,3", "1,0"]
    assert below.get_majorticklocs().tolist() == list(range(8))
    assert [label.get_text() for label in below.get_minorticklabels()] == [between] * 7
    assert below.get_minorticklocs().tolist() == [at + 0.5 for at in range(7)]
    assert "gender, country" in words(figure)
    assert "PRIVATE" in words(figure)


def test_bars_too_small_to_see_are_drawn_together_and_counted(many, tmp_path):
    ax = many.plot(k=5)
    many.plot(tmp_path / "z.svg", k=5)

    assert len(many.birth) > 10_000
    assert "smallest bars are drawn together" in words(ax.figure)
    assert [image.get_gid() for image in ax.images] == ["classes together"]
    assert (tmp_path / "z.svg").stat().st_size < 2e6


def test_the_one_long_bar_is_seen_among_thousands(many):
    low, high = heights(many)
    (longest,) = np.flatnonzero((many.birth == 0) & (many.death == many.death.max()))

    assert (high[longest] - low[longest]) * 400 > 1  # pixel, in a panel of 400
    assert low[-1] == pytest.approx(0)
    assert (np.diff(high) < 0).all()
    assert "drawn thinner" in words(many.plot(k=5).figure)


def test_your_own_axes_are_drawn_into(paper, many):
    from matplotlib.figure import Figure

    mine = Figure().subplots()

    assert build_zigzag(paper, "rows").plot(k=4, ax=mine) is mine
    assert "PRIVATE" in words(mine)
    assert "drawn together" in many.plot(k=4, ax=Figure().subplots()).get_xlabel()


@pytest.mark.parametrize("name", ["z.svg", "z.png", "z.html"])
def test_a_picture_is_written_whole_marked_and_without_cells(paper, tmp_path, name):
    for path in ("rows", "0,0"):
        build_zigzag(paper, path).plot(tmp_path / name, k=2)
        content = (tmp_path / name).read_bytes()

        assert b"PRIVATE" in content
        assert not [cell for cell in (*COUNTRIES, *REGIONS, "Female") if cell.encode() in content]
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_picture_of_no_k_or_of_another_kind_is_refused(paper, tmp_path):
    with pytest.raises(BadOption, match=r"^k: "):
        build_zigzag(paper, "rows").plot(k=0)
    with pytest.raises(BadTarget, match=r"\.svg"):
        build_zigzag(paper, "rows").plot(tmp_path / "z.pdf")

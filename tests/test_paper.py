"""The paper's nine rows, computed: every number of its pages in the manual, and where the paper contradicts itself."""

import doctest
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import kech
from cutting import say_labels
from kech.points.points import build_points
from kech.tables.demo import nine_rows
from kech.topology.minimal import minimal_complex
from topology_oracles import (
    all_radii,
    betti_numbers,
    build_filtration,
    components,
    distances,
    partition_radii,
    simplex_radius,
    travellers,
)

INF = float("inf")
NINE = nine_rows().to_pydict()
PLACES = list(zip(NINE["age"], NINE["zip"], strict=True))

TABLE_1B = {(1, 2, 3), (4, 5, 6), (7, 8, 9)}

# Rows that are together for the first time, from when, and from when on they are a simplex (None: they grow first).
MERGES = {
    "ball": [
        ("13", 0.0167, 0.0167),
        ("46", 0.0833, 0.0833),
        ("89", 0.1265, 0.1265),
        ("123", 0.1282, 0.1320),
        ("456", 0.1501, 0.2334),
        ("12389", 0.1631, None),
        ("123789", 0.2142, None),
        ("123456789", 0.3809, 0.7071),
    ],
    "box": [
        ("13", 0.0167, 0.0167),
        ("46", 0.0833, 0.0833),
        ("89", 0.1075, 0.1075),
        ("1389", 0.1167, None),
        ("12389", 0.1221, None),
        ("456", 0.1500, 0.2333),
        ("123789", 0.1833, None),
        ("123456789", 0.3697, 0.5000),
    ],
}
RADII = {
    "ball": {"123": 0.1320, "456": 0.2334, "12389": 0.2604, "123789": 0.4170, "123456789": 0.7071, "789": 0.2500},
    "box": {
        "13": 0.0167,
        "46": 0.0833,
        "89": 0.1075,
        "1389": 0.2000,
        "12389": 0.2333,
        "456": 0.2333,
        "123789": 0.4167,
        "123456789": 0.5000,
        "789": 0.2500,
    },
}
HOLES = {"ball": [(0.1669, 0.1801), (0.1834, 0.1879), (0.5021, 0.5031)], "box": []}

# Stretches of eps with the k that holds there and the number of classes.
TWO_CLASSES = {"ball": (0.2142, 0.3809, 3, 2), "box": (0.1833, 0.3697, 3, 2)}
ONE_CLASS = {"ball": [(0.3809, 0.5021, 9, 1), (0.5031, INF, 9, 1)], "box": [(0.3697, INF, 9, 1)]}
HOMOLOGICAL = {
    metric: {2: [TWO_CLASSES[metric], *ONE_CLASS[metric]], 3: [TWO_CLASSES[metric], *ONE_CLASS[metric]]}
    | {4: ONE_CLASS[metric]}
    for metric in MERGES
}
STRICT = {"ball": [(0.7071, INF, 9, 1)], "box": [(0.5000, INF, 9, 1)]}
PARTITION = {
    "ball": [(0.2334, INF, 2, 4), (0.2500, INF, 3, 3), (0.4678, INF, 4, 2), (0.7071, INF, 9, 1)],
    "box": [(0.2333, INF, 2, 4), (0.2500, INF, 3, 3), (0.4167, INF, 4, 2), (0.5000, INF, 9, 1)],
}
BEST = {"ball": {2: 0.2334, 3: 0.2500, 4: 0.4678}, "box": {2: 0.2333, 3: 0.2500, 4: 0.4167}}
NEXT_BEST = {"ball": 0.3850, "box": 0.3667}
HOLES_NEED = {"ball": "scipy", "box": "ripser"}

metrics = pytest.mark.parametrize("metric", MERGES)


@pytest.fixture(scope="module")
def table():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"], sensitive=["salary"]) as opened:
        yield opened


@pytest.fixture(scope="module")
def points(table):
    return build_points(table, labels=say_labels(grid="exact"))


def names(points, chosen):
    """Rows of Table 1(a), counted from 1."""
    axes = points.axes
    return sorted(PLACES.index(tuple(axes[j].low[code] for j, code in enumerate(points.codes[i]))) + 1 for i in chosen)


def numbers(points, rows):
    """Points of rows written as in `"123"`."""
    return np.array([i for i in range(9) if str(names(points, [i])[0]) in rows])


def rounded(regimes):
    return [(round(r.start, 4), round(r.stop, 4), r.k, r.classes) for r in regimes]


# The filtration


@metrics
def test_the_nine_rows_merge_as_computed(points, metric):
    tree = build_filtration(points, metric)
    found = []
    for n in range(9, len(tree.parent)):
        rows = "".join(map(str, names(points, tree.order[tree.begin[n] : tree.end[n]])))
        full = None if tree.simplex_from[n] == INF else round(tree.simplex_from[n], 4)
        found.append((rows, round(tree.birth[n], 4), full))
        assert tree.weight[n] == len(rows)

    assert found == MERGES[metric]


@metrics
def test_the_named_sets_have_the_named_radii(points, metric):
    for rows, radius in RADII[metric].items():
        assert round(simplex_radius(points, numbers(points, rows), metric), 4) == radius


@metrics
def test_rows_7_8_9_are_never_a_component(points, metric):
    tree, distance = build_filtration(points, metric), distances(points, metric)
    parts = {tuple(names(points, tree.order[a:b])) for a, b in zip(tree.begin, tree.end, strict=True)}
    everywhere = [part for eps in np.unique(distance) / 2 for part in components(distance, eps)]

    assert (4, 5, 6) in parts
    assert (7, 8, 9) not in parts | {tuple(names(points, part)) for part in everywhere}


@metrics
def test_row_9_meets_row_1_before_row_7_meets_anybody(points, metric):
    distance = distances(points, metric)
    (one,), (seven,), (eight,), (nine,) = (numbers(points, row) for row in "1789")
    others = np.delete(distance[seven], seven)

    assert distance[nine, one] < others.min() == distance[seven, eight]


@metrics
def test_row_7_is_alone_until_there_are_two_classes(points, metric):
    tree = build_filtration(points, metric)
    (seven,) = numbers(points, "7")

    assert round(tree.death[seven], 4) == TWO_CLASSES[metric][0] > 0.08


# Holes, by definition and as computed


@metrics
def test_the_holes_of_the_nine_rows_by_definition(points, metric):
    radii = all_radii(points, metric)
    events = sorted(set(radii.values()))
    holes = [betti_numbers(radii, eps, 2) for eps in events]
    changes = [round(eps, 4) for i, eps in enumerate(events) if i and holes[i][1] != holes[i - 1][1]]

    assert changes == [round(end, 4) for bar in HOLES[metric] for end in bar]
    assert {n for _, n, _ in holes} <= {0, 1}
    assert {n for _, _, n in holes} == {0}


@metrics
def test_the_holes_of_the_nine_rows_as_computed(table, metric):
    pytest.importorskip(HOLES_NEED[metric])
    bars = kech.compute_barcode(table, metric=metric, max_dimension=2).bars()

    assert [(round(b.birth, 4), round(b.death, 4)) for b in bars if b.dimension == 1] == HOLES[metric]
    assert not [b for b in bars if b.dimension == 2]


# The three readings


@metrics
@pytest.mark.parametrize("k", [2, 3, 4])
def test_homological_regimes(table, metric, k):
    pytest.importorskip(HOLES_NEED[metric])
    regimes = kech.compute_barcode(table, metric=metric).regimes("homological", k)

    assert rounded(regimes) == HOMOLOGICAL[metric][k]


@metrics
@pytest.mark.parametrize("k", [2, 3, 4])
def test_homological_regimes_from_the_holes_of_the_definition(points, metric, k):
    holes = {1: np.array(HOLES[metric]).reshape(-1, 2)}
    barcode = kech.WeightedBarcode(build_filtration(points, metric), holes)

    assert rounded(barcode.regimes("homological", k)) == HOMOLOGICAL[metric][k]


@metrics
def test_the_second_regime_has_the_two_classes_of_the_paper(points, metric):
    tree = build_filtration(points, metric)
    labels = tree.components(TWO_CLASSES[metric][0] + 1e-4)
    parts = [names(points, np.flatnonzero(labels == label)) for label in set(labels.tolist())]

    assert sorted(parts) == [[1, 2, 3, 7, 8, 9], [4, 5, 6]]


@metrics
@pytest.mark.parametrize("k", [2, 3, 4])
def test_strict_regimes_are_trivial(points, metric, k):
    assert rounded(kech.WeightedBarcode(build_filtration(points, metric)).regimes("strict", k)) == STRICT[metric]


@metrics
@pytest.mark.parametrize("k", [2, 3, 4])
def test_partition_regimes(points, metric, k):
    regimes = kech.WeightedBarcode(build_filtration(points, metric)).regimes("partition", k)

    assert rounded(regimes) == [regime for regime in PARTITION[metric] if regime[2] == k]


# The minimal anonymity complex is Table 1(b)


@metrics
def test_table_1b_is_the_only_minimal_anonymity_complex_for_three(points, metric):
    (best, classes), (second, _), *_ = partition_radii(points, 3, metric)

    assert {tuple(names(points, part)) for part in classes} == TABLE_1B
    assert round(best, 4) == BEST[metric][3]
    assert round(second, 4) == NEXT_BEST[metric]


@metrics
@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_minimal_anonymity_complex_is_found(points, metric, k):
    eps, classes = minimal_complex(points, k, metric)

    assert round(eps, 4) == BEST[metric][k]
    assert eps == pytest.approx(partition_radii(points, k, metric)[0][0])
    assert sorted(row for part in classes for row in names(points, part)) == list(range(1, 10))
    if k == 3:
        assert {tuple(names(points, part)) for part in classes} == TABLE_1B


def test_the_local_cut_prints_table_1b_with_its_last_interval_corrected(table):
    frame = kech.make_release(table, k=3, cut="local", grid="exact").frame
    printed = {
        (1, 2, 3): ("[22, 25]", "[47602, 47678]"),
        (4, 5, 6): ("[38, 52]", "[47905, 47909]"),
        (7, 8, 9): ("[32, 47]", "[47605, 47673]"),
    }
    expected = Counter((*cells, NINE["salary"][row - 1]) for rows, cells in printed.items() for row in rows)

    assert frame.column_names == ["age", "zip", "salary"]
    assert Counter(zip(*(frame[name].to_pylist() for name in frame.column_names), strict=True)) == expected


# Algorithm 1, with radii as the paper has them


@metrics
def test_a_sample_of_radii_shows_the_regimes(points, metric):
    radii = [0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.35, 0.40]
    seen = kech.WeightedBarcode(build_filtration(points, metric)).at(radii)

    assert [(at["classes"], at["k"]) for at in seen] == {
        "ball": [(8, 1), (7, 1), (5, 1), (3, 1), (2, 3), (2, 3), (2, 3), (1, 9)],
        "box": [(8, 1), (7, 1), (3, 1), (2, 3), (2, 3), (2, 3), (2, 3), (1, 9)],
    }[metric]
    assert not any(at["strict"] for at in seen if at["k"] > 1)


# The page in the manual

FOLDER = Path(__file__).parents[1] / "docs" / "explanation"
EXAMPLES = FOLDER / "paper_examples.md"
PAGES = [FOLDER / "paper.md", EXAMPLES, *(FOLDER / f"{name}.csv" for name in ("paper", "merges", "readings", "nodes"))]


def text_of_pages():
    return "\n".join(path.read_text("utf-8") for path in PAGES)


def test_the_code_of_the_page_prints_what_the_page_says():
    failed, tried = doctest.testfile(str(EXAMPLES), module_relative=False, encoding="utf-8")

    assert tried > 10
    assert failed == 0


def test_the_pages_have_every_number():
    numbers_of_page = set(re.findall(r"\d\.\d{4}", text_of_pages()))
    known = {f"{x:.4f}" for x in all_numbers() if x != INF}

    assert known <= numbers_of_page
    assert numbers_of_page <= known


def lattice_losses():
    """Of the eight nodes of section 5."""
    with travellers() as table:
        lattice = kech.compute_lattice(table)
    return [lattice.loss_of((gender, country)) for gender in range(2) for country in range(4)]


def all_numbers():
    yield from lattice_losses()
    for metric, merges in MERGES.items():
        yield from (x for _, start, full in merges for x in (start, full) if x is not None)
        yield from RADII[metric].values()
        yield from (x for bar in HOLES[metric] for x in bar)
        regimes = [*HOMOLOGICAL[metric][2], *HOMOLOGICAL[metric][4], *STRICT[metric], *PARTITION[metric]]
        yield from (x for start, stop, _, _ in regimes for x in (start, stop))
        yield from (*BEST[metric].values(), NEXT_BEST[metric])


def test_the_page_names_tests_that_exist():
    text = text_of_pages()
    here = Path(__file__).parent
    for name in re.findall(r"`(test_\w+\.py)", text):
        assert (here / name).exists(), name
    named = re.findall(r"`(test_\w+\.py)::(\w+)`", text)
    assert len(named) > 20
    for file, name in named:
        assert f"def {name}(" in (here / file).read_text("utf-8"), name


def test_the_rows_of_the_readme_are_those_of_the_demo():
    text = (FOLDER.parents[1] / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \| → \| (\S.*?) \| (\S.*?) \| (\d+) \|$", text, re.M)
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"], sensitive=["salary"]) as table:
        published = kech.make_release(table, k=3, grid="exact").frame.to_pylist()
    before = [{"age": int(row[0]), "zip": int(row[1]), "salary": int(row[2])} for row in rows]
    after = [{"age": row[3], "zip": row[4], "salary": int(row[5])} for row in rows]

    assert before == nine_rows().to_pylist()[:3]
    assert [row for row in after if row in published] == after

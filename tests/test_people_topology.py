"""People in barcodes, zig-zags, lattices and spectra, beside sets of people counted in plain Python."""

from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kech
from kech.errors import TooFewPeople
from kech.tables.demo import nine_rows
from kech.topology.rollup import bound_kept_bytes
from strategies import unhurried
from topology_oracles import set_partitions

SIDE = 8  # of the square of places; distances are eighths, so that floats are exact
EPS = [step / (2 * SIDE) for step in range(SIDE + 1)]  # every radius at which something can happen
few = settings(unhurried, max_examples=12)  # every example reads a table


@st.composite
def visits(draw, most=10):
    """Rows of a few people on a square; its corners are there, so that both columns have length 8."""
    rows = draw(st.integers(3, most)) - 2
    place = st.tuples(st.integers(0, SIDE), st.integers(0, SIDE))
    places = [(0, 0), (SIDE, SIDE), *draw(st.lists(place, min_size=rows, max_size=rows))]
    who = draw(st.lists(st.integers(0, 4), min_size=rows + 2, max_size=rows + 2))
    return pd.DataFrame({"x": [x for x, _ in places], "y": [y for _, y in places], "who": [f"P{i}" for i in who]})


def several(frame):
    """Whether somebody has a second row; otherwise rows are people."""
    return frame["who"].duplicated().any()


def read(frame, person="who", **options):
    roles = {"quasi_identifiers": ["x", "y"], "rows_are_people": not person}
    return kech.read_table(frame, **(roles | ({"person": person} if person else {}) | options))


def barcode_of(frame, person="who", **options):
    with read(frame, person) as table:
        return kech.compute_barcode(table, **({"max_dimension": 0} | options))


def radius(frame, rows):
    held = frame.iloc[list(rows)]
    return max(held["x"].max() - held["x"].min(), held["y"].max() - held["y"].min()) / (2 * SIDE)


def components(frame, eps):
    """Rows that are joined by steps of 2 eps or less: sets that grow until nothing changes."""
    parts = [{row} for row in range(len(frame))]
    for a, b in combinations(range(len(frame)), 2):
        if radius(frame, (a, b)) <= eps:
            one, other = (next(part for part in parts if row in part) for row in (a, b))
            if one is not other:
                parts.remove(other)
                one |= other
    return parts


def people(frame, rows):
    return len({frame["who"].iloc[row] for row in rows})


# -- barcode ---------------------------------------------------------------------------------------------------


@few
@given(visits())
def test_bars_carry_the_rows_and_people_of_their_components(frame):
    assume(several(frame))
    bars = barcode_of(frame).bars()

    for eps in EPS:
        alive = Counter((bar.weight, bar.people) for bar in bars if bar.birth <= eps < bar.death)
        assert alive == Counter((len(part), people(frame, part)) for part in components(frame, eps))


@few
@given(visits(), st.sampled_from(["box", "ball"]), st.booleans())
def test_people_change_no_bar(frame, metric, zero_length):
    pytest.importorskip("ripser")
    asked = {"metric": metric, "max_dimension": 1, "zero_length": zero_length}
    by_people, by_rows = (barcode_of(frame, person, **asked) for person in ("who", None))

    assert [replace(bar, people=None) for bar in by_people.bars()] == by_rows.bars()
    assert by_people.twins == by_rows.twins
    assert by_people.left_out == by_rows.left_out
    for radii in ([], [0.125, 0.3]):
        shown = [found.to_json(2, radii, ["strict"], longest=5) for found in (by_people, by_rows)]
        assert len({(found["rows"], found["shorter_bars"], str(found["left_out"])) for found in shown}) == 1


@few
@given(visits(), st.integers(1, 5))
def test_strict_regimes_count_people(frame, k):
    assume(several(frame))
    regimes = barcode_of(frame).regimes("strict", k)

    for eps in EPS:
        parts = components(frame, eps)
        smallest = min(people(frame, part) for part in parts)
        holds = all(radius(frame, part) <= eps for part in parts) and smallest >= k
        held = [(regime.k, regime.classes) for regime in regimes if regime.start <= eps < regime.stop]
        assert held == ([(smallest, len(parts))] if holds else [])


@few
@given(visits(), st.integers(1, 5))
def test_homological_regimes_count_people(frame, k):
    pytest.importorskip("ripser")
    assume(several(frame))
    found = barcode_of(frame, max_dimension=1)

    for eps in EPS:
        parts = components(frame, eps)
        smallest = min(people(frame, part) for part in parts)
        open_holes = any(bar.dimension == 1 and bar.birth <= eps < bar.death for bar in found.bars())
        held = [regime.k for regime in found.regimes("homological", k) if regime.start <= eps < regime.stop]
        assert held == ([smallest] if smallest >= k and not open_holes else [])
        (at,) = found.at([eps])
        assert (at["k"], at["classes"]) == (smallest, len(parts))


def all_partitions(frame, k):
    """(eps, classes) of every partition into classes of k people."""
    crowds, radii = (cache(partial(measure, frame)) for measure in (people, radius))
    for parts in map(tuples, set_partitions(len(frame))):
        if all(crowds(part) >= k for part in parts):
            yield max(map(radii, parts)), parts


def tuples(parts):
    return [tuple(part) for part in parts]


def rising(pairs):
    """Each eps at which more classes are possible than below."""
    most = {}
    for eps, count in sorted(pairs):
        if count > max(most.values(), default=0):
            most[eps] = count
    return sorted(most.items())


@few
@given(visits(most=7), st.integers(1, 4))
def test_partition_regimes_are_the_best_of_all_partitions_by_people(frame, k):
    assume(several(frame))
    expected = rising((eps, len(parts)) for eps, parts in all_partitions(frame, k))
    regimes = barcode_of(frame).regimes("partition", k)

    assert [(regime.start, regime.classes) for regime in regimes] == expected
    assert all((regime.k, regime.proven) == (k, True) for regime in regimes)


@few
@given(visits(), st.integers(1, 5))
def test_strict_implies_partition_by_people(frame, k):
    found = barcode_of(frame)
    strict, partition = (found.regimes(reading, k) for reading in ("strict", "partition"))

    for regime in strict:
        assert any(held.start <= regime.start and held.classes >= regime.classes for held in partition)


@few
@given(visits(most=7), st.integers(1, 4))
def test_the_minimal_cut_has_the_smallest_eps_by_people(frame, k):
    assume(several(frame) and frame["who"].nunique() >= k)
    with read(frame) as table:
        (row,) = kech.compute_spectrum(table, k=k, cut="minimal", effort="quick", grid="exact", protect="none").rows()
    found = list(all_partitions(frame, k))
    best = min(eps for eps, _ in found)
    losses = [loss(frame, parts) for eps, parts in found if eps == best]

    assert row["eps"] == best
    assert row["loss"] >= min(losses) - 1e-12


def loss(frame, parts):
    """The average width of all cells; columns have length 8."""
    places = frame[["x", "y"]].to_numpy()
    spans = [np.ptp(places[list(part)], axis=0) / SIDE for part in parts]
    return sum(len(part) * span.mean() for part, span in zip(parts, spans, strict=True)) / len(frame)


@few
@given(visits(), st.integers(2, 3))
def test_the_regime_cut_publishes_the_components_by_people(frame, k):
    assume(several(frame) and frame["who"].nunique() >= k)
    with read(frame) as table:
        made = kech.make_release(table, k=k, cut="regime", reading="strict", grid="exact", protect="none").partition
    first, parts = next((eps, parts) for eps in EPS if is_strict(frame, parts := components(frame, eps), eps, k))

    assert made.eps == first
    assert Counter(zip(made.sizes.tolist(), made.people.tolist(), strict=True)) == by_rows_and_people(frame, parts)


def is_strict(frame, parts, eps, k):
    return all(radius(frame, part) <= eps and people(frame, part) >= k for part in parts)


def test_a_second_row_of_a_person_at_the_same_place_is_a_twin():
    frame = pd.DataFrame({"x": [0, 0, 0, 8], "y": [0, 0, 0, 8], "who": ["a", "a", "b", "c"]})
    found = barcode_of(frame, zero_length=True)

    assert found.twins == 2
    assert [(bar.weight, bar.people) for bar in found.bars()] == [(1, 1), (1, 1), (3, 2), (1, 1), (4, 3)]


# -- the paper's nine rows -------------------------------------------------------------------------------------


def paper_rows(*persons):
    """The nine rows of the paper, numbered from 1; those named together are one person."""
    frame = nine_rows().to_pandas()
    owner = {row: f"P{min(rows)}" for rows in persons for row in rows}
    frame["who"] = [owner.get(row, f"P{row}") for row in range(1, 10)]
    return frame


def nine_barcode(*persons, **options):
    with kech.read_table(
        paper_rows(*persons), quasi_identifiers=["age", "zip"], person="who", keep=["salary"]
    ) as table:
        return kech.compute_barcode(table, **({"max_dimension": 0} | options))


def test_the_nine_rows_where_rows_1_and_3_are_one_person():
    """The components of the rows: {1,3}, {1,3,8,9}, {1,2,3,8,9}, {1,2,3,7,8,9} and all have one person less."""
    bars = {(round(bar.birth, 4), bar.weight): bar.people for bar in nine_barcode({1, 3}).bars() if bar.birth}

    assert bars == {
        (0.0167, 2): 1,  # rows 1 and 3
        (0.0833, 2): 2,  # 4 and 6
        (0.1075, 2): 2,  # 8 and 9
        (0.1167, 4): 3,
        (0.1221, 5): 4,
        (0.15, 3): 3,  # 4, 5 and 6
        (0.1833, 6): 5,
        (0.3697, 9): 8,
    }


def test_the_minimal_complex_of_the_nine_rows_where_1_and_3_are_one_person():
    """Below 0.3697 rows 4, 5 and 6 are a class.  The other six rows have five people, so two classes of three people
    part rows 1 and 3, and row 7 (age 47) is with row 1 (25) at best: 22 of 30 years, eps = 11/30.  By rows it is 1/4.
    """
    by_people, by_rows = nine_barcode({1, 3}), nine_barcode()

    assert [(r.start, r.classes) for r in by_rows.regimes("partition", 3)] == [(pytest.approx(0.25), 3)]
    assert [(r.start, r.classes) for r in by_people.regimes("partition", 3)] == [(pytest.approx(11 / 30), 3)]
    assert by_people.regimes("partition", 2)[0].start == by_rows.regimes("partition", 2)[0].start
    assert by_people.regimes("partition", 9) == []
    assert by_people.regimes("partition", 8)[0].start == pytest.approx(0.5)


def test_the_nine_rows_where_rows_4_and_6_are_one_person():
    """{4,5,6} has two people, so the two classes of [0.1833, 0.3697) are 2-anonymous; 3 holds from 0.3697 on."""
    pytest.importorskip("ripser")
    found = nine_barcode({4, 6}, max_dimension=1)
    starts = {k: found.regimes("homological", k)[0] for k in (2, 3)}

    assert [(round(r.start, 4), r.k, r.classes) for r in starts.values()] == [(0.1833, 2, 2), (0.3697, 8, 1)]
    by_rows = nine_barcode(max_dimension=1).regimes("homological", 3)[0]
    assert (round(by_rows.start, 4), by_rows.k) == (0.1833, 3)


# -- lattice and zig-zag ---------------------------------------------------------------------------------------

TREES = {
    "x": {0: list("abcd"), 1: list("eeff"), 2: list("****")},
    "y": {0: list("ghi"), 1: ["j", "j", "k"], 2: ["*", "*", "*"]},
}
NODES = list(product(range(3), repeat=2))


EVERY_LABEL = [("a", "g"), ("b", "h"), ("c", "i"), ("d", "i")]


@st.composite
def wards(draw):
    """Rows of a few people; every label is there, so that both columns have three levels."""
    cell = st.tuples(*(st.sampled_from(tree[0]) for tree in TREES.values()))
    cells = EVERY_LABEL + draw(st.lists(cell, max_size=8))
    who = draw(st.lists(st.integers(0, 4), min_size=len(cells), max_size=len(cells)))
    return pd.DataFrame({"x": [x for x, _ in cells], "y": [y for _, y in cells], "who": [f"P{i}" for i in who]})


def lattice_of(frame, person="who"):
    with read(frame, person, hierarchies=TREES) as table:
        return kech.compute_lattice(table)


def classes_at(frame, node):
    """Rows with equal labels at the levels of a node."""
    held = defaultdict(set)
    for row, cells in enumerate(frame[["x", "y"]].itertuples(index=False)):
        up = zip(("x", "y"), cells, node, strict=True)
        held[tuple(TREES[name][level][TREES[name][0].index(cell)] for name, cell, level in up)].add(row)
    return list(held.values())


def join_of(one, other):
    """The finest partition that is coarser than both."""
    parts = [set(part) for part in one]
    for part in other:
        touched = [held for held in parts if held & part]
        parts = [held for held in parts if not held & part] + [set().union(*touched)]
    return parts


def meet_of(one, other):
    return [a & b for a in one for b in other if a & b]


def by_rows_and_people(frame, parts):
    return Counter((len(part), people(frame, part)) for part in parts)


@few
@given(wards(), st.integers(1, 5))
def test_every_node_counts_people(frame, k):
    assume(several(frame))
    lattice = lattice_of(frame)

    for node in NODES:
        parts = classes_at(frame, node)
        assert lattice.k_of(node) == min(people(frame, part) for part in parts)
        assert lattice.classes_of(node) == len(parts)
        assert lattice.suppressed_of(node, k) == sum(len(part) for part in parts if people(frame, part) < k)
    assert lattice.largest_k == frame["who"].nunique()
    assert lattice.to_json([1])["counted"] == lattice.neighbours((0, 0))["counted"] == "people"


@few
@given(wards(), st.integers(1, 4), st.sampled_from([0.0, 0.3]))
def test_minimal_best_and_chain_nodes_reach_k_people(frame, k, suppress):
    assume(several(frame) and frame["who"].nunique() >= k)
    lattice = lattice_of(frame)
    limit = int(suppress * len(frame) + 1e-9)
    small = {
        node: sum(len(part) for part in classes_at(frame, node) if people(frame, part) < k)
        <= min(limit, len(frame) - 1)
        for node in NODES
    }
    below = {node: [n for n in NODES if n != node and all(map(int.__le__, n, node))] for node in NODES}

    assert lattice.minimal_nodes(k, suppress) == [n for n in NODES if small[n] and not any(map(small.get, below[n]))]
    assert small[lattice.best(k, suppress).levels]
    assert small[lattice.chain(k, suppress, chains=3).levels]
    (node,) = lattice.curve(suppress, [k])
    assert node.classes == sum(people(frame, part) >= k for part in classes_at(frame, node.levels))


@few
@given(wards())
def test_path_bars_carry_people(frame):
    assume(several(frame))
    path = [(0, 0), (1, 0), (1, 1), (2, 2)]
    bars = lattice_of(frame).path_barcode(path)

    for place, node in enumerate(path):
        alive = [bar for bar in bars if bar.birth <= place <= bar.death]
        carried = Counter((bar.weights[place], bar.people[place]) for bar in alive)
        assert carried == by_rows_and_people(frame, classes_at(frame, node))


@few
@given(wards(), st.sampled_from(["rows", "columns", "diagonal", "minimal"]), st.booleans(), st.integers(1, 4))
def test_zigzag_bars_carry_the_rows_and_people_of_their_classes(frame, path, unions, k):
    assume(several(frame))
    with read(frame, hierarchies=TREES) as table:
        found = kech.compute_zigzag(table, path, through="union" if unions else "intersection")
    nodes = [classes_at(frame, node) for node in found.path]
    between = [(join_of if unions else meet_of)(a, b) for a, b in pairwise(nodes)]
    positions = [parts for pair in zip(nodes, [*between, None], strict=True) for parts in pair][:-1]

    bars = [bar for bar in found.bars() if bar.dimension == 0]
    for at, parts in zip(found.positions, positions, strict=True):
        alive = [(bar, int(2 * (at - bar.birth))) for bar in bars if bar.birth <= at <= bar.death]
        assert Counter((bar.rows[i], bar.people[i]) for bar, i in alive) == by_rows_and_people(frame, parts)
    told = found.to_json(k)
    assert [line["smallest_people"] for line in told["positions"]] == [
        min(people(frame, part) for part in parts) for parts in positions
    ]
    reached = {node for r in found.regimes(k) for node in range(r.start, r.stop + 1)}
    assert reached == {i for i, parts in enumerate(nodes) if min(people(frame, part) for part in parts) >= k}
    assert min(line["fewest_people"] for line in told["summary"] if not line["dimension"]) == min(
        bar.fewest_people for bar in bars
    )


@few
@given(wards())
def test_people_change_no_bar_of_a_zigzag(frame):
    found = []
    for person in ("who", None):
        with read(frame, person, hierarchies=TREES) as table:
            found.append(kech.compute_zigzag(table, "rows"))

    assert [replace(bar, people=None) for bar in found[0].bars()] == found[1].bars()
    assert found[0].holes.tolist() == found[1].holes.tolist()


def test_the_memory_of_a_roll_up_by_people_is_bounded():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.integers(0, 60, 3000) for name in ("x", "y", "z")})
    frame["who"] = rng.integers(0, 400, 3000)
    with kech.read_table(frame, quasi_identifiers=["x", "y", "z"], person="who") as table:
        lattice = kech.compute_lattice(table)

    peak, bound = lattice.table.peak_bytes, bound_kept_bytes(lattice.points, lattice.levels)
    assert peak <= bound <= 20 * peak


# -- spectrum --------------------------------------------------------------------------------------------------


def test_a_spectrum_goes_no_further_than_there_are_people():
    frame = pd.DataFrame({"x": range(30), "y": range(30), "who": [i // 3 for i in range(30)]})
    with read(frame) as table:
        found = kech.compute_spectrum(table, effort="quick")

        assert [row["k"] for row in found.rows()] == list(range(2, 11))
        assert (found.to_json()["counted"], found.to_json()["people"]) == ("people", 10)
        with pytest.raises(TooFewPeople, match="10 people"):
            kech.compute_spectrum(table, k=[2, 11])
    with read(frame.assign(who="one")) as table, pytest.raises(TooFewPeople, match="1 person"):
        kech.compute_spectrum(table)


def test_a_spectrum_by_people_costs_no_less_than_one_by_rows():
    """A class of k people has k rows or more; the nodes of the lattice are compared exactly."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"x": rng.integers(0, 40, 300), "y": rng.integers(0, 40, 300), "who": rng.integers(0, 90, 300)}
    )
    found = []
    for person in ("who", None):
        with read(frame, person) as table:
            found.append(kech.compute_lattice(table).curve(ks=range(2, 20)))

    assert all(by_people.loss >= by_rows.loss - 1e-12 for by_people, by_rows in zip(*found, strict=True))
    assert any(by_people.loss > by_rows.loss for by_people, by_rows in zip(*found, strict=True))


# -- one row a person ------------------------------------------------------------------------------------------


def test_one_row_a_person_gives_the_answers_by_rows():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"x": rng.integers(0, 9, 60), "y": rng.integers(0, 9, 60)})
    frame["who"] = [f"P{i}" for i in range(60)]
    told = []
    for person in ("who", None):
        with read(frame, person) as table:
            told.append(
                [
                    kech.compute_barcode(table, max_dimension=0).to_json(3, [0.1]),
                    kech.compute_lattice(table).to_json([2, 3]),
                    kech.compute_zigzag(table, "minimal").to_json(3),
                    kech.compute_spectrum(table, k=[2, 5], effort="quick").to_json(),
                ]
            )

    assert told[0] == told[1]
    assert {found["counted"] for found in told[0]} == {"rows"}


# -- what is shown ---------------------------------------------------------------------------------------------


@pytest.fixture
def visits_file(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "visits.csv"
    frame = pd.DataFrame({"who": rng.integers(0, 12, 40), "x": rng.integers(0, 9, 40), "y": rng.integers(0, 9, 40)})
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("command", ["barcode", "lattice", "zigzag", "spectrum"])
def test_commands_say_what_k_counts(run, visits_file, command):
    words = [command, visits_file, "--qi", "x", "y", "--k", "2"]
    by_people, by_rows = run(*words, "--person", "who"), run(*words)

    assert (by_people.code, by_rows.code) == (0, 0)
    assert "k counts people" in by_people.out or "k counts different people" in by_people.out
    assert "people" not in by_rows.out.replace("between people", "")


@pytest.mark.parametrize("command", ["barcode", "zigzag"])
def test_pictures_shade_by_people(run, visits_file, tmp_path, command):
    drawn = []
    for person in (["--person", "who"], []):
        target = tmp_path / f"{len(person)}.svg"
        assert run(command, visits_file, "--qi", "x", "y", "--k", "3", *person, "--plot", target).code == 0
        drawn.append(target.read_text("utf-8"))

    assert "fewer than k people" in drawn[0]
    assert "fewer than k rows" in drawn[1]
    assert "people" not in drawn[1]


def test_a_bar_of_k_rows_and_fewer_people_is_drawn_as_too_few():
    from kech.views.pictures.barcode import component_boxes

    tree = nine_barcode({1, 3}).filtration
    merges = range(9, len(tree.weight))
    alone, single = (next(n for n in nodes if tree.people[n] == 1) for nodes in (range(9), merges))
    enough = next(n for n in merges if (tree.weight[n], tree.people[n]) == (2, 2))
    boxes = component_boxes(tree, 2, 0.5)
    shades = {node: {int(box[4]) for box in boxes if int(box[5]) == node} for node in (alone, single, enough)}

    assert tree.weight[single] == 2
    assert shades[single] == shades[alone]
    assert not shades[single] & shades[enough]


def test_notebooks_and_names_say_people():
    with read(pd.DataFrame({"x": range(8), "y": range(8), "who": [0, 0, 1, 1, 2, 2, 3, 3]})) as table:
        results = [
            kech.compute_barcode(table, max_dimension=0),
            kech.compute_lattice(table),
            kech.compute_spectrum(table, k=[2], effort="quick"),
        ]

    assert all("8 rows of 4 people" in repr(found) for found in results)
    assert all("of 4 people" in found._repr_html_() for found in results)

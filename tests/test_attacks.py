"""Attacks: each succeeds on a release with the fault it looks for, and not on one without."""

import json
import random
from collections import Counter
from datetime import datetime

import numpy as np
import pytest

import kech
from by_hand import certified, write
from conftest import read_cells
from kech import Attack
from kech.errors import BadOption, NoSuchColumn
from kech.tables.demo import generate_town, write_csv
from oracles import means

COLUMNS = ["age", "sex", "zip", "moved_in", "schooling", "job"]
ORDER = ["primary", "secondary", "bachelor", "master", "doctorate"]
PEOPLE = 2_000


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A town, open as a table, and a function that releases it."""
    folder = tmp_path_factory.mktemp("town")
    source = write_csv(generate_town(PEOPLE), folder / "town.csv")
    roles = {"quasi_identifiers": COLUMNS, "sensitive": ["diagnosis"], "keep": ["income"]}
    with kech.read_table(source, **roles, axes={"schooling": ORDER}) as table:

        def release(name="released.csv", **asked):
            path = folder / name
            if not path.exists():
                kech.make_release(table, **{"k": 5, "effort": "quick", **asked}).write(path, ledger=False)
            return path

        yield source, table, release


def attack(path, table, name, **options):
    return [found.to_json() for found in kech.run_attacks(path, table, attacks=[name], **options)]


@pytest.fixture
def decades(folder):
    """A table of ages and salaries, released in decades by hand: rows in the order that is asked for."""
    rng = random.Random(5)
    rows = [(rng.randrange(20, 80), 1000 + i) for i in range(600)]
    rng.shuffle(rows)
    write(folder / "people.csv", ("age", "salary"), rows)

    def release(arrange, secret=lambda age, salary: salary):
        held = [(f"[{age // 10 * 10}, {age // 10 * 10 + 9}]", secret(age, salary)) for age, salary in arrange(rows)]
        write(folder / "people.csv", ("age", "salary"), [(age, secret(age, salary)) for age, salary in rows])
        return certified(folder / "released.csv", held)

    return release, folder / "people.csv"


# -- figures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hits", "targets", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)],
)
def test_wilson_as_in_the_tables(hits, targets, low, high):
    """The last line is Newcombe's example (1998); the others are in every textbook."""
    found = Attack("edge", "", targets, hits, targets - hits).to_json()
    assert (found["rate_low"], found["rate_high"]) == pytest.approx((low, high), abs=5e-5)
    assert (found["control_low"], found["control_high"]) == pytest.approx((1 - high, 1 - low), abs=5e-5)


def test_too_few_targets_have_no_verdict():
    assert Attack("edge", "", 99, 99, 0).verdict == "no verdict"
    assert Attack("edge", "", 100, 100, 0).verdict == "above its control"
    assert Attack("edge", "", 100, 3, 2).verdict == "not above its control"
    assert Attack("edge", "", 0, 0, 0).to_json()["rate"] is None


# -- who could be where ---------------------------------------------------------------------------------------


def covered_rows(path):
    """Of each class its rows in the file, and the rows of the town that its labels stand for, by their definition."""
    axes = json.loads(path.with_name(path.name + ".certificate.json").read_text("utf-8"))["quasi_identifiers"]
    cells, people = read_cells(path), generate_town(PEOPLE).to_pydict()
    sizes = Counter(zip(*(cells[axis["column"]] for axis in axes), strict=True))
    covered = np.ones((len(sizes), PEOPLE), bool)
    for j, axis in enumerate(axes):
        values = [read_value(value, axis) for value in people[axis["column"]]]
        paths = {value: [str(value)[:kept].ljust(5, "*") for kept in range(6)] + ["*"] for value in values if value}
        stands_for = {
            (label, value): bool(means(label, value, axis, paths))
            for label in {labels[j] for labels in sizes}
            for value in set(values)
        }
        covered &= np.array([[stands_for[labels[j], value] for value in values] for labels in sizes])
    return np.array(list(sizes.values())), covered


def read_value(value, axis):
    if axis["axis"] == "date":
        return datetime.combine(value, datetime.min.time())
    return value


@pytest.mark.long
def test_every_row_could_be_in_a_class_whatever_the_axes(town):
    _, table, release = town
    sizes, covered = covered_rows(release())
    found = covered.sum(axis=1)
    risk = kech.compute_risk(release(), population=table)
    assert covered.any(axis=0).all()
    assert risk.k_map == found.min()
    assert risk.marketer["average"] == pytest.approx((sizes / found).sum() / PEOPLE)


def test_where_classes_are_cells_of_levels_candidates_are_their_rows(town):
    _, table, release = town
    sizes, covered = covered_rows(release("domain.csv", cut="domain"))
    risk = kech.compute_risk(release("domain.csv"), population=table)
    assert covered.sum(axis=1).tolist() == sizes.tolist()
    assert risk.k_map == sizes.min()
    assert risk.marketer["average"] == pytest.approx(len(sizes) / PEOPLE)  # every class covers its own rows alone


def test_hierarchies_come_from_the_plan(folder, run):
    countries = {"Spain": "South", "Italy": "South", "Norway": "North", "Sweden": "North"}
    write(folder / "country.csv", ("Spain", "South", "*"), [(name, side, "*") for name, side in countries.items()][1:])
    people = [(name, f"s{i}") for i, name in enumerate(list(countries) * 3)]
    source = write(folder / "people.csv", ("country", "secret"), people)
    (folder / "kech.toml").write_text(
        '[columns]\nhierarchies = "."\nquasi_identifiers = ["country"]\nsensitive = ["secret"]\n[goal]\nk = 4\n'
    )
    plan = ("--plan", folder / "kech.toml")
    assert run("release", source, "-o", folder / "released.csv", *plan).code == 0
    found = run("attack", "homogeneity", folder / "released.csv", "--original", source, *plan, "--json").json
    assert (found["attacks"][0]["targets"], found["attacks"][0]["rate"]) == (12, 0.0)
    people = write(folder / "population.csv", ("country",), [(name,) for name in list(countries) * 5])
    risk = run("risk", folder / "released.csv", "--population", people, *plan, "--json").json
    assert (risk["k"], risk["k_map"], risk["population"]) == (6, 10, 20)
    for words in (("attack", "order", "--original", source), ("risk", "--population", people)):
        refused = run(*words, folder / "released.csv")
        assert (refused.code, "'country' was published with a hierarchy" in refused.err) == (2, True)


# -- seeded faults ---------------------------------------------------------------------------------------------


def test_rows_in_the_order_of_the_source_are_linked(decades):
    release, source = decades
    with kech.read_table(source) as table:
        by_file, by_class = attack(release(list), table, "order")
    assert by_file["targets"] == by_class["targets"] == 600
    assert by_file["rate"] == by_class["rate"] == 1.0
    assert by_file["control"] < 0.05
    assert by_file["verdict"] == "above its control"


def test_rows_grouped_by_class_but_not_shuffled_are_linked(decades):
    release, source = decades
    with kech.read_table(source) as table:
        by_file, by_class = attack(release(lambda rows: sorted(rows, key=lambda row: row[0] // 10)), table, "order")
    assert by_class["rate"] == 1.0
    assert by_file["rate"] < 0.1


def test_shuffled_rows_are_not_linked(decades):
    release, source = decades
    with kech.read_table(source) as table:
        found = attack(release(lambda rows: random.Random(9).sample(rows, len(rows))), table, "order")
    assert [held["verdict"] for held in found] == ["not above its control"] * 2


def test_links_that_nobody_can_check_have_no_verdict(decades):
    release, source = decades
    with kech.read_table(release(list, secret=lambda age, salary: 7) and source) as table:
        found = attack(source.with_name("released.csv"), table, "order")
    assert [(held["targets"], held["verdict"]) for held in found] == [(0, "no verdict")] * 2


def test_exact_edges_are_somebodys_values(town):
    _, table, release = town
    anywhere, *columns = attack(release("exact.csv", grid="exact"), table, "edge")
    moved_in = next(held for held in columns if held["about"].endswith("by moved_in"))
    assert anywhere["rate"] > 0.5
    assert moved_in["rate"] > 0.3 > 10 * moved_in["control"]
    assert anywhere["verdict"] == moved_in["verdict"] == "above its control"


def test_labels_without_ends_have_no_verdict(folder):
    source = write_csv(generate_town(200), folder / "people.csv")
    with kech.read_table(source, quasi_identifiers=["zip", "sex"], sensitive=["diagnosis"]) as table:
        kech.make_release(table, k=5).write(folder / "released.csv")
        (found,) = attack(folder / "released.csv", table, "edge")
    assert (found["targets"], found["rate"], found["verdict"]) == (0, None, "no verdict")
    assert found["note"] == "no label shows an end"


def test_of_many_classes_some_are_attacked(town, monkeypatch):
    _, table, release = town
    everything = attack(release(), table, "edge")[0]
    monkeypatch.setattr("kech.audit.attacks.target.MOST_CLASSES", 200)
    some = attack(release(), table, "edge")[0]
    assert everything["targets"] == PEOPLE
    assert 1_000 <= some["targets"] < 1_500
    assert some["rate"] == pytest.approx(everything["rate"], abs=0.08)


def test_steps_wider_than_a_year_give_no_age_away(town, folder):
    source, _, _ = town
    axes = {"schooling": ORDER, "age": kech.AxisChoice(grid=10)}
    with kech.read_table(source, quasi_identifiers=COLUMNS, axes=axes) as table:
        kech.make_release(table, k=5, effort="quick").write(folder / "released.csv")
        found = attack(folder / "released.csv", table, "edge")
    (age,) = [held for held in found if held["about"].endswith("by age")]
    assert age["verdict"] == "not above its control"


def test_tight_labels_are_downcoded(town):
    _, table, release = town
    halves, ends = attack(release("exact.csv", grid="exact"), table, "downcode")
    assert halves["rate"] == ends["rate"] == 1.0
    assert ends["control"] < 0.6
    assert ends["verdict"] == "above its control"


def test_boxes_that_were_fixed_before_are_not_downcoded(folder):
    rng = random.Random(3)
    people = [(rng.randrange(100), rng.randrange(100), i) for i in range(500)]
    boxes = [(*(f"[{x // 10 * 10}, {x // 10 * 10 + 9}]" for x in row[:2]), row[2]) for row in people]
    path = certified(folder / "released.csv", boxes, numbers=("x", "y"), secret="i")
    with kech.read_table(write(folder / "people.csv", ("x", "y", "i"), people)) as table:
        halves, ends = attack(path, table, "downcode")
    assert 0.9 < halves["rate"] < 1.0
    assert halves["verdict"] == ends["verdict"] == "not above its control"


def test_a_class_that_shares_a_value_gives_it_away(decades):
    release, source = decades
    path = release(list, secret=lambda age, salary: "ill" if age < 30 else str(salary % 3))
    with kech.read_table(source) as table:
        (found,) = attack(path, table, "homogeneity")
    young = sum(line.startswith("2") for line in source.read_text().splitlines())
    assert found["rate"] == young / 600
    assert (found["control"], found["verdict"]) == (0.0, "above its control")
    assert found["note"] == "1 of 6 classes hold one value"


# -- the goals of a default release ------------------------------------------------------------------------------


def test_a_default_release_keeps_the_order_goal(town):
    _, table, release = town
    risk = kech.compute_risk(release())
    for held in attack(release(), table, "order"):
        assert held["targets"] > 1_000
        assert held["rate"] <= risk.classes / risk.rows + 0.02


def test_dates_on_the_grid_keep_the_edge_goal(town):
    _, table, release = town
    found = {held["about"].split()[-1]: held["rate"] for held in attack(release(), table, "edge")}
    assert found["moved_in"] <= 0.06
    assert found["schooling"] <= 0.06


def test_a_default_release_keeps_the_edge_goal(town):
    _, table, release = town
    anywhere, *_, guessed = attack(release(), table, "edge")
    assert anywhere["rate"] <= 0.06 < anywhere["control"]
    assert guessed["about"].startswith("records singled out by a guess")
    assert 0.06 < guessed["rate"] < 0.2  # whom a value singles out by chance, and a little more


def test_tight_ends_are_somebodys_values(town):
    _, table, release = town
    anywhere, *_, guessed = attack(release("tight.csv", protect="none"), table, "edge")
    assert anywhere["rate"] > 0.25
    assert anywhere["verdict"] == "above its control"
    assert guessed["verdict"] == "not above its control"


def test_one_level_for_a_column_keeps_both_goals(town):
    _, table, release = town
    path = release("levels.csv", cut="domain", suppress=0.02)
    assert attack(path, table, "edge")[0]["rate"] <= 0.06
    assert {held["verdict"] for held in attack(path, table, "downcode")} == {"not above its control"}


def test_a_default_release_keeps_the_downcode_goal(town):
    _, table, release = town
    assert {held["verdict"] for held in attack(release(), table, "downcode")} == {"not above its control"}


def test_labels_that_are_not_widened_are_downcoded(town):
    _, table, release = town
    halves, _ = attack(release("loose.csv", protect="ends"), table, "downcode")
    assert halves["rate"] > 0.99
    assert halves["verdict"] == "above its control"


@pytest.mark.long
def test_nobody_is_given_away_when_two_values_were_asked(town):
    _, table, release = town
    (found,) = attack(release("diverse.csv", l=2), table, "homogeneity")
    assert found["rate"] == 0
    assert found["note"].startswith("0 of ")


# -- words ---------------------------------------------------------------------------------------------------


def test_equal_seeds_give_equal_controls(town):
    _, table, release = town
    once, again, other = (attack(release(), table, "edge", seed=seed) for seed in (1, 1, 2))
    assert once == again
    assert [held["rate"] for held in other[:-1]] == [held["rate"] for held in once[:-1]]  # the last one guesses
    assert [held["control"] for held in other] != [held["control"] for held in once]


def test_the_risk_command_runs_every_attack(town, run):
    source, table, release = town
    found = run("risk", release(), "--original", source, "--seed", 3, "--json").json
    assert found["private"]
    assert found["attacks"] == [held.to_json() for held in kech.run_attacks(release(), table, seed=3)]
    assert {held["attack"] for held in found["attacks"]} == {"edge", "order", "downcode", "homogeneity", "refine"}
    shown = run("risk", release(), "--original", source).out
    assert shown.count("PRIVATE") == 1
    assert run("attack", "order", release(), "--original", source).out.startswith("PRIVATE")


def test_another_table_is_not_the_original(town, folder, run):
    _, table, release = town
    other = write_csv(generate_town(300, seed=8), folder / "other.csv")
    refused = run("attack", "edge", release(), "--original", other)
    assert (refused.code, "classes cover fewer of its rows" in refused.err) == (2, True)
    with kech.read_table(other, quasi_identifiers=["age"]) as few:
        with pytest.raises(BadOption, match=r"publishes column '[a-z]+', which was not read from this table"):
            kech.run_attacks(release(), few)
    age = write_csv(generate_town(300, seed=8).select(["age"]), folder / "age.csv")
    with kech.read_table(age, quasi_identifiers=["age"]) as fewer, pytest.raises(NoSuchColumn):
        kech.run_attacks(release(), fewer)
    with pytest.raises(BadOption, match="Choose among edge, order"):
        kech.run_attacks(release(), table, attacks=["guess"])
    with pytest.raises(BadOption, match=r"^seed: "):
        kech.run_attacks(release(), table, seed=-1)


# -- two releases ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    """Like the table of the lab's report (2,000 people, 200 secrets), released tight twice, in two ways."""
    folder = tmp_path_factory.mktemp("twice")
    rng = np.random.default_rng(7)
    age, income = np.clip(rng.normal(45, 18, PEOPLE), 0, 99).round(3), rng.lognormal(4, 0.5, PEOPLE).round(3)
    people = np.column_stack([age, income, rng.uniform(0, 99, PEOPLE).round(5)])
    secrets = [f"s{secret}" for secret in rng.integers(0, 200, PEOPLE)]
    names = ("age", "income", "latitude")
    source = write(folder / "people.csv", (*names, "secret"), zip(*people.T, secrets, strict=True))
    paths = []
    for order in ((0, 1, 2), (2, 0, 1)):
        rows = [
            (*(f"[{people[part, j].min()}, {people[part, j].max()}]" for j in range(3)), secrets[i])
            for part in halve(people, np.arange(PEOPLE), order)
            for i in part
        ]
        paths.append(certified(folder / f"{order[0]}.csv", rows, numbers=names, secret="secret"))
    with kech.read_table(source, quasi_identifiers=names, sensitive=["secret"]) as table:
        yield source, table, *paths


def halve(people, rows, order):
    """Parts of 5 to 9 people: halved along one column after the other."""
    if len(rows) < 10:
        return [rows]
    ranked = rows[np.argsort(people[rows, order[0]], kind="stable")]
    turned = (*order[1:], order[0])
    return [part for half in np.array_split(ranked, 2) for part in halve(people, half, turned)]


def test_two_tight_releases_pin_values_that_neither_gives_away(twice):
    _, table, one, two = twice
    narrowed, pinned = attack(one, table, "compose", second=two)
    assert 0.03 < pinned["rate"] < 0.3  # 0.091 in the lab's report, by two other algorithms
    assert pinned["control"] < 0.005
    assert narrowed["rate"] > 0.5
    assert narrowed["control"] == 0
    assert narrowed["verdict"] == pinned["verdict"] == "above its control"


def test_pinned_records_are_those_of_the_definition(folder):
    """Eight people in a line, pairs that overlap: who is left with one value is counted by hand."""
    people = [(i, "abababab"[i]) for i in range(8)]
    source = write(folder / "people.csv", ("age", "salary"), people)
    first = [(f"[{i // 4 * 4}, {i // 4 * 4 + 3}]", value) for i, value in people]
    second = [("[0, 0]", "a"), *[("[1, 7]", value) for _, value in people[1:]]]
    paths = [certified(folder / f"{i}.csv", rows) for i, rows in enumerate((first, second))]
    with kech.read_table(source) as table:
        narrowed, pinned = attack(paths[0], table, "compose", second=paths[1])
    assert (pinned["targets"], pinned["rate"], pinned["control"]) == (8, 1 / 8, 1 / 8)
    assert (narrowed["targets"], narrowed["note"]) == (8, "joint k = 1")


def test_the_same_release_twice_gives_nothing(town):
    _, table, release = town
    narrowed, pinned = attack(release(), table, "compose", second=release())
    assert narrowed["rate"] == narrowed["control"] == 0
    assert pinned["verdict"] == "not above its control"


def test_composition_is_a_command_and_a_part_of_risk(twice, run):
    source, table, one, two = twice
    found = run("risk", one, "--original", source, "--second", two, "--json").json["attacks"]
    assert found == [held.to_json() for held in kech.run_attacks(one, table, second=two)]
    assert found[-2:] == attack(one, table, "compose", second=two)
    words = ("attack", "compose", one, "--original", source)
    assert "records whose secret is pinned" in run(*words, "--second", two).out
    assert (run(*words).code, "--second" in run(*words).err) == (2, True)
    assert run("attack", "edge", one, "--original", source, "--second", two).code == 2
    assert run("risk", one, "--second", two).code == 2

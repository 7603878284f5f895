"""Risk figures: by hand, against outside formulas, and as laws; nothing but the released file is needed."""

import csv
import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

import kech
from kech.errors import BadOption, ClaimBroken, NoSuchColumn
from kech.tables.demo import generate_town, write_csv

QI = ["age", "sex"]
BY_HAND = [("[20, 29]", "f")] * 2 + [("[30, 39]", "m")] * 3 + [("", "m")]


def write(path, rows, header=("age", "sex")):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture
def by_hand(folder):
    return write(folder / "released.csv", BY_HAND)


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A release of 400 people out of a town of 2,000, with axes of every kind."""
    folder = tmp_path_factory.mktemp("town")
    everybody = generate_town(2_000, seed=3)
    write_csv(everybody, folder / "town.csv")
    columns = ["age", "sex", "zip", "moved_in", "schooling", "job"]
    order = ["primary", "secondary", "bachelor", "master", "doctorate"]
    sample = write_csv(everybody.slice(0, 400), folder / "people.csv")
    with kech.read_table(sample, quasi_identifiers=columns, axes={"schooling": order}) as table:
        kech.make_release(table, k=5, effort="quick").write(folder / "released.csv", ledger=False)
    return folder


# -- by hand ---------------------------------------------------------------------------------------------


def test_a_file_by_hand(by_hand):
    risk = kech.compute_risk(by_hand, quasi_identifiers=QI, threshold=(0.34, 0.2))

    assert (risk.rows, risk.classes, risk.k) == (6, 3, 1)
    assert (risk.prosecutor.highest, risk.prosecutor.average) == (1.0, 0.5)
    assert risk.prosecutor.above == {"0.34": 0.5, "0.2": 1.0}
    assert risk.sample_uniqueness == 1 / 6
    assert (risk.class_sizes, risk.smallest_classes) == ({1: 1, 2: 1, 3: 1}, (1, 2, 3))
    age, sex = risk.columns
    assert (age.distinct, age.distinction, age.separation) == (3, 0.5, pytest.approx(1 - 8 / 30))
    assert (sex.distinct, sex.distinction, sex.separation) == (2, 1 / 3, pytest.approx(1 - 14 / 30))


def test_what_needs_the_population_is_not_available_without_it(by_hand, run):
    risk = kech.compute_risk(by_hand, quasi_identifiers=QI)
    assert (risk.journalist, risk.marketer, risk.k_map, risk.population_uniqueness) == (None, None, None, None)
    assert run("risk", by_hand, "--qi", *QI).out.count("not available") == 6


def test_a_labelled_population_by_hand(by_hand, folder):
    labelled = [("[20, 29]", "f")] * 4 + [("[30, 39]", "m")] * 3 + [("", "m")] * 2 + [("[20, 29]", "m")]
    population = write(folder / "population.csv", labelled)
    risk = kech.compute_risk(by_hand, quasi_identifiers=QI, population=population, threshold=(0.34,))

    assert (risk.k_map, risk.population) == (2, 10)
    assert risk.journalist.highest == 1 / 2
    assert risk.journalist.average == risk.marketer["average"] == pytest.approx((2 / 4 + 3 / 3 + 1 / 2) / 6)
    assert risk.journalist.above == {"0.34": 1 / 6}
    assert (risk.population_uniqueness, risk.uniqueness_model) == (0.0, "counted")


def test_a_person_may_be_unique_in_the_population_too(by_hand, folder):
    risk = kech.compute_risk(by_hand, quasi_identifiers=QI, population=write(folder / "same.csv", BY_HAND))
    assert (risk.population_uniqueness, risk.k_map) == (1 / 6, 1)


@pytest.mark.parametrize(("sizes", "people"), [([1, 1, 1, 2, 2, 3], 100), ([1, 5, 5], 12), ([1] * 9, 9), ([2, 3], 50)])
def test_zayatz_is_bayes_with_hypergeometric_chances(folder, sizes, people):
    rows = sum(sizes)
    chances = {i: Counter(sizes)[i] * hypergeom.pmf(1, people, i, rows) for i in set(sizes)}
    expected = chances.get(1, 0.0) / sum(chances.values()) if sum(chances.values()) else 0.0
    path = write(folder / "sizes.csv", [(i, "f") for i, size in enumerate(sizes) for _ in range(size)])
    risk = kech.compute_risk(path, quasi_identifiers=QI, population=people)
    assert risk.uniqueness_model == "zayatz"
    assert risk.population_uniqueness == pytest.approx(sizes.count(1) / rows * expected, rel=1e-9)


# -- a raw population -----------------------------------------------------------------------------------------


def test_a_raw_population_is_counted_by_what_labels_say(tmp_path):
    """The definition itself: a population row is in a class if its age is between the ends, and its sex is named."""
    everybody = generate_town(1_500, seed=5).select(QI)
    sample = write_csv(everybody.slice(0, 300), tmp_path / "sample.csv")
    all_people = write_csv(everybody, tmp_path / "all.csv")
    with kech.read_table(sample, quasi_identifiers=QI) as table:
        kech.make_release(table, k=5, effort="quick").write(tmp_path / "released.csv", ledger=False)
    with (tmp_path / "released.csv").open(encoding="utf-8") as file:
        classes = Counter((row["age"], row["sex"]) for row in csv.DictReader(file))
    people = list(zip(*(everybody[name].to_pylist() for name in QI), strict=True))
    found = [sum(has_age(age, a) and has_sex(sex, s) for a, s in people) for age, sex in classes]
    risk = kech.compute_risk(tmp_path / "released.csv", population=all_people)

    assert risk.k_map == min(found)
    shares = sum(rows / total for rows, total in zip(classes.values(), found, strict=True))
    assert risk.marketer["average"] == pytest.approx(shares / 300)


def has_age(label, age):
    if label == "*":
        return True
    if label.startswith(("<=", ">=")):
        return age <= int(label[3:]) if label[0] == "<" else age >= int(label[3:])
    ends = label.strip("[]").split(", ")
    return int(ends[0]) <= age <= int(ends[-1])


def has_sex(label, sex):
    return label == "*" or sex in label.strip("{}").split(", ")


def test_a_population_holds_its_sample_whatever_the_axes(town):
    itself = kech.compute_risk(town / "released.csv", population=town / "people.csv")
    larger = kech.compute_risk(town / "released.csv", population=town / "town.csv")
    assert itself.k <= itself.k_map <= larger.k_map
    assert larger.journalist.average < itself.journalist.average <= itself.prosecutor.average
    assert larger.population_uniqueness == 0


def test_a_number_of_people_is_enough_for_uniqueness_only(by_hand):
    risk = kech.compute_risk(by_hand, quasi_identifiers=QI, population=60)
    assert 0 < risk.population_uniqueness < risk.sample_uniqueness
    assert (risk.uniqueness_model, risk.journalist, risk.k_map) == ("zayatz", None, None)


# -- laws ------------------------------------------------------------------------------------------------


labels = st.tuples(st.sampled_from(["", "a", "b", "*"]), st.sampled_from("xyz"))


@settings(max_examples=60)
@given(st.lists(labels, min_size=1, max_size=40))
def test_the_figures_follow_from_counts_and_never_rise_when_classes_merge(tmp_path_factory, rows):
    path = write(tmp_path_factory.mktemp("law") / "released.csv", rows)
    fine, coarse = (kech.compute_risk(path, quasi_identifiers=columns) for columns in (["age", "sex"], ["sex"]))
    sizes = Counter(rows).values()

    assert fine.prosecutor.highest == 1 / min(sizes)
    assert fine.prosecutor.average == pytest.approx(len(sizes) / len(rows))
    assert fine.prosecutor.above["0.2"] == sum(size for size in sizes if size < 5) / len(rows)
    assert coarse.prosecutor.highest <= fine.prosecutor.highest
    assert coarse.prosecutor.average <= fine.prosecutor.average
    assert coarse.prosecutor.above["0.2"] <= fine.prosecutor.above["0.2"]
    assert coarse.together.separation <= fine.together.separation


@pytest.mark.parametrize("name", ["released.csv", "released.parquet"])
def test_the_highest_risk_is_one_over_the_k_of_the_certificate(tmp_path, name):
    with kech.read_table(generate_town(300), quasi_identifiers=["age", "job"]) as table:
        claims = kech.make_release(table, k=4).write(tmp_path / name, ledger=False)["claims"]
    risk = kech.compute_risk(tmp_path / name)
    assert risk.prosecutor.highest == 1 / claims["k"]
    assert risk.prosecutor.average == pytest.approx(claims["classes"] / claims["rows"])


# -- the command ---------------------------------------------------------------------------------------------


def test_the_command_prints_the_same_figures_and_keeps_formulas_for_json(run, town):
    found = run("risk", town / "released.csv", "--threshold", "0.1,0.25", "--json").json
    risk = kech.compute_risk(town / "released.csv", threshold=(0.1, 0.25))
    assert found == json.loads(json.dumps(risk.to_json())) | {
        "file": str(town / "released.csv"),
        "private": False,
        "loss_per_column": None,
        "attacks": None,
    }
    shown = " ".join(run("risk", town / "released.csv").out.split())
    assert "PRIVATE" not in shown
    assert "--json also has the formula of each figure." in shown
    assert not any(formula in shown for formula in found["formulas"].values())


def test_a_release_edited_by_hand_has_no_figures(run, town, folder):
    text = (town / "released.csv").read_text().splitlines(keepends=True)
    (folder / "released.csv").write_text("".join(text[:-1]))
    certificate = town / "released.csv.certificate.json"
    with pytest.raises(ClaimBroken):
        kech.compute_risk(folder / "released.csv", certificate=certificate)
    assert run("risk", folder / "released.csv", "--certificate", certificate).code == 4
    assert run("risk", folder / "released.csv").code == 3


def test_questions_that_make_no_sense_are_refused(by_hand, folder, town):
    for threshold in ((), (0.0,), (1.5,), (float("nan"),)):
        with pytest.raises(BadOption, match=r"^threshold: "):
            kech.compute_risk(by_hand, quasi_identifiers=QI, threshold=threshold)
    with pytest.raises(NoSuchColumn):
        kech.compute_risk(by_hand, quasi_identifiers=["zip"])
    with pytest.raises(BadOption, match="Omit certificate or quasi_identifiers"):
        kech.compute_risk(by_hand, quasi_identifiers=QI, certificate=by_hand)
    with pytest.raises(BadOption, match="fewer than the 6"):
        kech.compute_risk(by_hand, quasi_identifiers=QI, population=5)
    with pytest.raises(BadOption, match="1 of 3 classes"):
        kech.compute_risk(by_hand, quasi_identifiers=QI, population=write(folder / "few.csv", BY_HAND[1:]))
    with pytest.raises(BadOption, match="no rows"):
        kech.compute_risk(write(folder / "empty.csv", []), quasi_identifiers=QI)


@pytest.mark.parametrize(
    "words",
    [("--qi", "age", "--original", "x.csv"), ("--seed", 1), ("--plan", "kech.toml"), ("--threshold", "many")],
)
def test_options_that_would_be_ignored_are_refused(run, town, words):
    assert run("risk", town / "released.csv", *words).code == 2

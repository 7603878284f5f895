"""The judges that are not ours: what they are given of a release, and what is said of a score that is none."""

import csv
import os
from itertools import product

import numpy as np
import pytest
from benchmarks.judges import arx
from benchmarks.judges.__main__ import (
    ALIKE,
    attack_rows,
    cost_rows,
    draw_arx,
    find_majority_gain,
    find_verdict,
    say_clear,
    say_left,
    say_newer,
    say_nist,
    say_price,
    say_won_back,
)
from benchmarks.judges.cells import build_features, draw_features, write_twin
from benchmarks.judges.outcomes import TABLES, make_split
from benchmarks.public.families import FAMILIES, PublicTable
from benchmarks.score import covered, ends_of

SOURCE = [("30", "f", "yes"), ("31", "f", "no"), ("50", "m", "yes"), ("52", "x", "no")]
RELEASED = [("[30, 31]", "f", "yes"), ("<= 31", "{f, m}", "no"), ("[48, 54]", "*", "yes"), ("52", "m,x", "no")]


def write_rows(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("age", "sex", "outcome"), *rows])
    return path


def read_rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


@pytest.fixture
def table(tmp_path):
    source = write_rows(tmp_path / "source.csv", SOURCE)
    return PublicTable("by hand", 4, 0, source, ("age", "sex"), ("age",), "outcome")


@pytest.mark.parametrize("seed", range(5))
def test_a_twin_has_a_value_of_each_label(table, tmp_path, seed):
    write_twin(table, write_rows(tmp_path / "released.csv", RELEASED), tmp_path / "twin.csv", seed)
    for (age, sex, outcome), (ages, sexes, told) in zip(read_rows(tmp_path / "twin.csv"), RELEASED, strict=True):
        low, high = ends_of(ages, 30, 52)
        assert low <= int(age) <= high and sex in covered(sexes, {"f", "m", "x"}) and outcome == told


def test_raw_values_and_labels_are_features_of_one_kind(table, tmp_path):
    released = build_features(table, write_rows(tmp_path / "released.csv", RELEASED))
    raw = build_features(table, write_rows(tmp_path / "raw.csv", [*SOURCE, ("90", "new", "no")]))
    assert released.tolist()[1:3] == [[30.5, 0.5, 0.5, 0.0], [50.0, 1 / 3, 1 / 3, 1 / 3]]
    assert raw.tolist()[3:] == [[52.0, 0.0, 0.0, 1.0], [90.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize("name", [*FAMILIES, *TABLES])
def test_tables_come_from_their_seed_and_halves_differ(name, tmp_path):
    first = make_split(name, 60, 1, tmp_path)
    cells = first.table.source.read_text(), first.held_back.read_text()
    again = make_split(name, 60, 1, tmp_path)
    assert (again.table.source.read_text(), again.held_back.read_text()) == cells
    assert len(read_rows(first.table.source)) == len(read_rows(first.held_back)) == 60
    assert cells[0] != cells[1]


def test_a_score_that_could_not_be_computed_is_no_verdict():
    told = {"attack": 0.0, "attack_error": 0.0, "control": 0.0, "control_error": 0.0, "guesses": 0}
    assert find_verdict(told, 0, 400) == "no verdict"
    assert find_verdict(told, 400, 400) == "as control"
    assert find_verdict(told | {"attack": 0.3, "attack_error": 0.05, "control": 0.2}, 400, 400) == "above control"
    failed = {"table": "town", "tool": "kech", "failed": "KeyError"}
    assert [row[-1] for row in attack_rows([failed], 400)] == ["no verdict: KeyError"]


def test_a_difference_counts_the_chance_in_both_rates():
    """An attack may be above the control's rate alone, and no further than chance above the control."""
    near = {"attack": 0.758, "attack_error": 0.019, "control": 0.732, "control_error": 0.019, "guesses": 2000}
    far, none = near | {"control": 0.7}, near | {"control": 0.5, "guesses": 20}
    line = {"table": "adult", "tool": "kech", "singling out": none, "linkability": far, "inference": near}
    assert [row[-2:] for row in attack_rows([line], 400)] == [
        ["+0.258 ± 0.027", "no verdict"],
        ["+0.058 ± 0.027", "above control"],
        ["+0.026 ± 0.027", "above control"],
    ]
    others = [line | {"tool": "Mondrian"}, {"table": "town", "tool": "kech", "failed": "KeyError"}]
    assert say_clear([line, *others], 400) == (
        "Of 3 attacks on `kech`, which has k alone, the difference is clearly above 0 in 1: linkability on adult."
    )
    assert say_clear([line | {"linkability": near}], 400).endswith(" in 0.")
    assert say_left([line, *others]) == "0.027 on adult at k = 10"


def test_costs_are_means_of_draws_and_what_is_won_back_is_a_share_of_them():
    scores = {"raw copy": (0.9, 0.9), "kech": (0.8, 0.84), "kech --for": (0.82, 0.86)}
    lines = [
        {"table": table, "tool": tool, "seed": seed, "number": False, "score": middle + shift, "both": both + shift}
        for table in ("town", "loans")
        for tool, (middle, both) in scores.items()
        for seed, shift in ((1, -0.05), (2, 0.05))
    ]
    assert list(cost_rows(lines)) == [
        ["kech", "0.100", "0.060", "", ""],
        ["kech --for", "0.080", "0.040", "", ""],
    ]
    told = say_won_back(lines)
    assert "wins 33% back, both read alike (60% against middles). kech costs more than 0.005 on 2 tables" in told
    assert "wins half or more back on 0 of them. By more than 0.005 it is worse on none." in told
    worse = [line | {"both": 0.7} if line["tool"] == "kech --for" else line for line in lines]
    assert "wins -233% back, both read alike (-100% against middles)" in say_won_back(worse)
    assert "it is worse on town, loans." in say_won_back(worse)


def test_the_favourable_table_is_left_out_once_and_a_table_that_costs_nothing_counts_for_nothing():
    scores = {
        "codes": {"raw copy": 0.9, "kech": 0.7, "kech --for": 0.8},
        "town": {"raw copy": 0.9, "kech": 0.8, "kech --for": 0.8},
        "loans": {"raw copy": 0.9, "kech": 0.91, "kech --for": 0.92},
    }
    lines = [
        {"table": table, "tool": tool, "seed": 1, "number": False, "score": score, "both": score}
        for table, tools in scores.items()
        for tool, score in tools.items()
    ]
    told = say_won_back(lines)
    assert "wins 33% back, both read alike (33% against middles; 0% without codes)" in told
    assert "costs more than 0.005 on 2 tables; `kech --for` wins half or more back on 1 of them" in told


def test_random_values_of_labels_are_features_of_the_same_kind(table, tmp_path):
    released = write_rows(tmp_path / "released.csv", RELEASED)
    first, again, other = (draw_features(table, released, tmp_path, seed) for seed in (0, 0, 1))
    assert first.shape == build_features(table, released).shape
    assert (first == again).all() and (first != other).any()
    assert (first[:, 1:].sum(axis=1) == 1).all()  # of each set one value


def test_nists_figures_stand_beside_ours_or_their_absence_is_explained():
    assert "not at hand here" in say_nist([])
    told = say_nist([{"tool": "kech", "k_marginal": 981.8, "propensity": 0.0027, "unique_matched": 16.6}])
    assert "| kech | 982 | 0.003 | 16.6 % |" in told and "| AIM, eps 1 (synthetic) | 976 |" in told
    assert "| kech | no verdict: KeyError |  |  |" in say_nist([{"tool": "kech", "failed": "KeyError"}])


def test_arx_is_asked_for_the_risks_that_kech_states(table, tmp_path, monkeypatch):
    """A program in the place of Java, which prints what ARX says of two classes of two rows."""
    fake = tmp_path / "java"
    fake.write_text('#!/bin/sh\necho \'{"classes": 2, "highest": 0.5, "average": 0.625, "above": 1.0}\'\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    released = write_rows(tmp_path / "released.csv", [("[30, 31]", "f", "yes")] * 2 + [("*", "m", "no")] * 2)
    told = arx.ask_arx(table, released, tmp_path / "copy.csv")
    assert told["difference"] == pytest.approx(0.125)  # kech says 2 classes of 4 rows: 0.5
    line = {"table": "town", "tool": "kech", "number": False} | told
    drawn = draw_arx([line, line | {"table": "loans", "failed": "KeyError"}])
    assert "by at most\n0.125000. There is no verdict on 1 files." in drawn and "| town | 0.6250 |" in drawn
    assert "was not at hand" in draw_arx([])
    fake.write_text("#!/bin/sh\necho no such class >&2\nexit 1\n")
    assert arx.ask_arx(table, released, tmp_path / "copy.csv") == {"failed": "no such class"}


def test_what_was_measured_later_names_its_commit():
    lines = {"sdnist": [{"tool": "kech", "commit": "1a2b3c4d"}], "anonymeter": [{"tool": "kech"}]}
    assert say_newer(lines) == "\nMeasured later: sdnist on kech (commit 1a2b3c4d)."
    assert say_newer({"anonymeter": [{"tool": "kech"}]}) == ""


@pytest.mark.parametrize("rows", [2, 3, 10, 11])
def test_who_is_in_a_class_is_guessed_more_often_by_its_most_frequent_value(rows):
    """All classes of zeros and ones, alike probable; a tie is guessed by lot."""
    classes = np.array([*product((0, 1), repeat=rows)])
    ones = classes.sum(axis=1) * 2
    guessed_one = (ones > rows) + (ones == rows) / 2
    right = np.where(classes[:, 0], guessed_one, 1 - guessed_one).mean()

    assert find_majority_gain(rows) == pytest.approx(right - 1 / 2)


def test_the_price_of_classes_that_are_alike_is_said():
    usual = {"table": "adult", "tool": "kech", "loss": 0.13}
    alike = {"table": "adult", "tool": ALIKE, "loss": 0.25, "inference": {"attack": 0.62, "control": 0.63}}
    told = say_price({"models": [usual], "anonymeter": [usual, alike]})
    assert told == (
        "On adult, `kech --t 0.1` leaves 0.620 right against 0.630 of the control; its loss is 0.250 in place of 0.130."
    )
    assert say_price({"models": [], "anonymeter": [usual]}) == ""


def test_an_outcome_can_be_learned(tmp_path):
    """A straight line through the features tells more than the mean."""
    split = make_split("houses", 400, 1, tmp_path)
    x, y = build_features(split.table, split.table.source), [float(row[-1]) for row in read_rows(split.table.source)]
    x = np.column_stack([x, np.ones(len(x))])
    left = np.asarray(y) - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    assert left.var() < 0.5 * np.var(y)

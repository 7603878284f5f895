"""The replay attack: it finds rows with the owner's secret, and not without it."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import kech
from kech.errors import BadOption
from strategies import begin_with


@pytest.fixture
def people(folder):
    rng = np.random.default_rng(3)
    table = pa.table(
        {"age": rng.integers(18, 80, 80), "weight": rng.integers(50, 110, 80), "ill": rng.choice(["a", "b"], 80)}
    )
    pc.write_csv(table, folder / "people.csv")
    return folder / "people.csv"


@pytest.fixture
def few(monkeypatch):
    """Fewer targets and candidates, which is quicker."""
    monkeypatch.setattr("kech.audit.attacks.replay.MOST_TARGETS", 3)
    monkeypatch.setattr("kech.audit.attacks.replay.MOST_CANDIDATES", 4)


WORDS = ("--qi", "age,weight", "--sensitive", "ill", "--k", 4, "--no-ledger")


def test_a_row_is_found_with_the_secret_and_not_without_it(people, run, folder, few):
    assert run("release", people, "-o", folder / "out.csv", *WORDS).code == 0
    found = run("attack", "replay", folder / "out.csv", "--original", people, "--json").json["attacks"]
    known, unknown, nearest = found
    assert known["rate"] > unknown["rate"] == 0.0
    assert 3 <= remaining(known) < 12  # the right one always, others where they have the same place on the grid
    assert remaining(unknown) == 0
    assert nearest["targets"] == 3


def remaining(attack):
    return int(re.search(r"12 were tried, (\d+) remain", attack["note"])[1])


@pytest.mark.long
def test_where_nothing_is_drawn_the_secret_changes_nothing(people, run, folder, few):
    """At a node of the lattice the labels are a function of the table alone; all candidates of a wide cell remain."""
    assert run("release", people, "-o", folder / "out.csv", *WORDS, "--cut", "domain").code == 0
    found = run("attack", "replay", folder / "out.csv", "--original", people, "--json").json["attacks"]
    assert found[0]["note"] == found[1]["note"]
    assert found[0]["rate"] == found[1]["rate"]


@pytest.mark.parametrize("eps", begin_with([0.05, 0.2], [0.05, 0.1, 0.15, 0.2]))
def test_a_release_by_eps_alone_is_asked_for_by_eps_alone(run, folder, few, eps):
    rng = np.random.default_rng(5)
    crowds = np.concatenate([rng.normal(middle, 3, 40) for middle in (0, 60, 100)])
    pc.write_csv(pa.table({"x": crowds.round(1)}), folder / "crowds.csv")
    words = ("--qi", "x", "--cut", "regime", "--eps", eps, "--no-ledger")
    made = run("release", folder / "crowds.csv", "-o", folder / "out.csv", *words, "--json").json
    assert made["k"] >= 3
    found = run("attack", "replay", folder / "out.csv", "--original", folder / "crowds.csv", "--json").json
    assert [held["targets"] for held in found["attacks"]] == [3, 3, 3]


@pytest.mark.parametrize(
    ("step", "columns", "note", "guesses"),
    [
        (1, ["x"], "3 candidates fit the labels, 3 were tried, 3 remain", 3),
        (3, ["x"], "9 candidates fit the labels, 9 were tried, 9 remain", 1),
        (2, ["x", "y"], "12 candidates fit the labels, 12 were tried, 12 remain", 1),
        (3, ["x", "y"], "27 candidates fit the labels, 12 were tried, 12 remain", 1),
    ],
)
def test_candidates_are_those_that_fit_the_labels_and_one_at_random_is_the_control(
    run, folder, few, step, columns, note, guesses
):
    """Every value of x and y occurs, so that a label covers as many as its step is wide; four are tried at most."""
    held = [(x, y) for x in range(12) for y in range(12)]
    pc.write_csv(pa.table({"x": [x for x, _ in held], "y": [y for _, y in held]}), folder / "all.csv")
    words = ("--qi", ",".join(columns), "--cut", "domain", "--grid", step, "--no-ledger", "--k", step ** len(columns))
    assert run("release", folder / "all.csv", "-o", folder / "out.csv", *words).code == 0
    with kech.read_table(folder / "all.csv") as table:
        known, _, _ = kech.run_attacks(folder / "out.csv", table, attacks=["replay"])
    assert (known.note, known.targets, known.control_hits) == (note, 3, guesses)
    assert known.hits == 0  # nobody is found where only one fits, or where all remain


@pytest.mark.long
def test_another_request_or_key_is_refused(people, run, folder, few, refuse, tmp_path):
    assert run("release", people, "-o", folder / "out.csv", *WORDS, "--seed", 5).code == 0
    words = ("attack", "replay", folder / "out.csv", "--original", people)
    refuse(*words, code=2, says="made again, has other labels")
    kech.write_request(kech.Request().override(seed=5), tmp_path / "plan.toml")
    assert run(*words, "--plan", tmp_path / "plan.toml").code == 0
    key = kech.write_key_file(tmp_path / "other.key")
    refuse(*words, "--plan", tmp_path / "plan.toml", "--key-file", key, code=2, says="made again, has other labels")


def test_options_that_other_attacks_do_not_take_are_refused(people, run, refuse, folder, tmp_path):
    assert run("release", people, "-o", folder / "out.csv", *WORDS).code == 0
    key = kech.write_key_file(tmp_path / "other.key")
    words = ("attack", "edge", folder / "out.csv", "--original", people)
    refuse(*words, "--key-file", key, code=2, says="only the replay attack")
    with kech.read_table(people) as table, pytest.raises(BadOption, match="only the replay attack"):
        kech.run_attacks(folder / "out.csv", table, attacks=["edge"], request=kech.Request().override(seed=1))


def test_large_tables_are_refused(people, run, refuse, folder, monkeypatch):
    monkeypatch.setattr("kech.audit.attacks.replay.MOST_ROWS", 79)
    assert run("release", people, "-o", folder / "out.csv", *WORDS).code == 0
    refuse("attack", "replay", folder / "out.csv", "--original", people, code=2, says="This one has 80")

"""What each quasi-identifier costs the others, and which follow from another one."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest

import kech
from kech.tables.demo import generate_town, nine_rows, write_csv


@pytest.fixture(scope="module")
def offenders():
    """A table with a birthday, an age and a group of ages, as court tables have them."""
    rng = np.random.default_rng(2)
    age = rng.integers(18, 70, 800)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 800), "age": age, "age_cat": np.where(age < 25, "young", "old")}
    )
    return frame.assign(height=rng.normal(170, 9, 800).round().astype(int), income=rng.integers(0, 90_000, 800))


def test_costs_are_losses_of_the_others_with_a_column_and_without_it():
    """On the nine rows of the paper a column without the other is cut alone, which is tried here."""
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"], grid="exact") as table:
        preview = kech.compute_preview(kech.make_release(table, k=3), rows=0)
    costs = {cost.column: cost for cost in preview.costs}
    assert costs["age"].others == costs["zip"].loss and costs["zip"].others == costs["age"].loss
    with kech.read_table(nine_rows(), quasi_identifiers=["zip"], grid="exact") as table:
        alone = kech.make_release(table, k=3, effort=0.0).public_loss
    assert costs["age"].others_without == pytest.approx(alone)
    assert alone <= costs["age"].others


def test_the_dearest_column_and_what_follows_are_named(offenders):
    with kech.read_table(offenders) as table:
        costs = kech.inspect_table(table, k=4).costs
    assert [cost.saving for cost in costs] == sorted((cost.saving for cost in costs), reverse=True)
    assert {cost.column: cost.follows for cost in costs if cost.follows} == {"age_cat": "age"}


def test_columns_that_are_empty_together_do_not_follow_from_each_other():
    """Dates of those who came back: half of the rows have neither, the others have any two."""
    rng = np.random.default_rng(3)
    came = rng.random(900) < 0.45
    dates = {name: np.where(came, rng.integers(0, 100, 900), np.nan) for name in ("back", "out")}
    frame = pd.DataFrame(dates | {"sex": rng.choice(["f", "m"], 900)})
    with kech.read_table(frame, quasi_identifiers=["back", "out", "sex"]) as table:
        costs = kech.inspect_table(table, k=4).costs
    assert {cost.column: cost.follows for cost in costs} == dict.fromkeys(("back", "out", "sex"))


def test_inspect_and_preview_suggest_with_a_figure(run, folder):
    town = write_csv(generate_town(800), folder / "town.csv")
    told = run("inspect", town, "--json").json["costs"]
    share = 1 - told[0]["others_without"] / told[0]["others"]
    said = f"Without {told[0]['column']!r} the other columns would lose about {100 * share:.0f}"
    assert said in run("inspect", town).out.replace("\n", " ")
    assert "the other columns would lose" in run("preview", town, "--qi", "age,zip,job", "--k", 4).out


def test_a_column_that_is_kept_as_it_is_is_not_advised_to_go(offenders):
    """Leaving out sex saves most, but it is printed as it is: the advice names a column that is blurred."""
    with kech.read_table(offenders) as table:
        found = kech.inspect_table(table, k=4)
    losses = {"sex": (0.0, 0.11, 0.08), "cabin": (0.25, 0.07, 0.05), "port": (0.03, 0.1, 0.09)}
    names = ("column", "loss", "others", "others_without")
    costs = [
        replace(found.costs[0], **dict(zip(names, (column, *figures), strict=True)))
        for column, figures in losses.items()
    ]
    said = unescape(replace(found, costs=tuple(costs))._repr_html_())
    assert re.findall(r"Without\W*(\w+)", said) == ["cabin"]


def test_a_column_that_becomes_nearly_nothing_is_advised_to_go_first(run, folder):
    """Admissions as texts: in classes of a few rows hardly a label tells one."""
    rows = range(400)
    columns = {"age": [20 + row * 7 % 60 for row in rows], "height": [150 + row * 13 % 47 for row in rows]}
    columns |= {"admitted": [f"day {row * 11 % 359}" for row in rows], "sex": ["fm"[row % 2] for row in rows]}
    path = folder / "wards.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    said = run("inspect", path, "--qi", "age,height,admitted,sex").out
    assert "'admitted' would hardly tell anything: its loss is " in said and said.count("If nobody needs it") == 0
    assert "would hardly tell" not in run("inspect", path, "--qi", "age,height,sex").out


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        (
            {"a": (0.93, 0.5, 0.53), "b": (0.4, 0.8, 0.8)},
            "'a' would hardly tell anything: its loss is 0.93. Leave it out.",
        ),
        (
            {"a": (0.93, 0.5, 0.4), "b": (0.4, 0.8, 0.7)},
            "'a' would hardly tell anything: its loss is 0.93. Leave it out: the other columns would lose about 20 % ",
        ),
        (
            {"a": (0.93, 0.5, 0.4), "b": (0.97, 0.5, 0.5), "c": (0.1, 0.95, 0.95)},
            "These would hardly tell anything: 'a', 'b'. Their losses are 0.9 or more. Leave them out.",
        ),
    ],
)
def test_no_saving_is_said_that_was_not_measured(offenders, figures, said):
    """Of a column with a loss of 0.93 whose absence changes nothing it was said that the others stay more precise."""
    names = ("loss", "others", "others_without")
    with kech.read_table(offenders) as table:
        found = kech.inspect_table(table, k=4)
    costs = [
        replace(found.costs[0], column=column, follows=None, **dict(zip(names, each, strict=True)))
        for column, each in figures.items()
    ]
    shown = words_of(replace(found, costs=tuple(costs)))
    assert said in shown and shown.count("Leave ") == 1


def words_of(found):
    """The sentences of an inspection; names in quotes."""
    shown = re.sub("[\u2068\u2069]", "'", unescape(found._repr_html_())).replace("\u00a0", " ")
    return re.sub("'?<[^>]+>'?", "'", shown)


def test_nobody_is_told_to_leave_out_all_columns():
    rng = np.random.default_rng(5)
    names = [f"c{column}" for column in range(8)]
    frame = pd.DataFrame({name: [f"{word:x}z" for word in rng.integers(2**28, 2**32, 60)] for name in names})
    with kech.read_table(frame, quasi_identifiers=names) as table:
        said = words_of(kech.inspect_table(table, k=10))
    assert "every quasi-identifier has a loss of 0.9 or more. Choose a smaller k" in said
    assert "would hardly tell anything: its loss" not in said


@pytest.mark.parametrize("names", [["age"], ["age", "sex"]])
def test_nothing_is_compared_where_there_is_nothing_to_compare(offenders, names):
    with kech.read_table(offenders[:6], quasi_identifiers=names) as table:
        assert kech.inspect_table(table, k=4).costs == ()


def test_columns_of_visits_are_compared_by_people(offenders):
    visits = pd.concat([offenders.assign(patient=range(800))] * 3)
    with kech.read_table(visits, quasi_identifiers=["age", "height"], person="patient") as table:
        costs = kech.inspect_table(table, k=5).costs
    with kech.read_table(offenders, quasi_identifiers=["age", "height"]) as table:
        by_rows = kech.inspect_table(table, k=5).costs
    assert {cost.column for cost in costs} == {"age", "height"}
    assert max(cost.loss for cost in costs) > 0.5 * max(cost.loss for cost in by_rows)  # copies of a row do not hide it

"""The public benchmark: its tables come from a seed alone, and its judge counts what files of any tool give away."""

import csv
import sys

import pytest
from benchmarks.public.__main__ import parse_arguments, run_tool, say_least
from benchmarks.public.families import FAMILIES, PublicTable, make_table
from benchmarks.public.given import GIVEN, GivenTable, list_given
from benchmarks.public.judge import judge_release
from benchmarks.public.peers import CUTS, publish
from benchmarks.public.tools import describe_job, known_tools, own_tool

SOURCE = [("30", "f", "flu"), ("31", "f", "flu"), ("50", "m", "hiv"), ("52", "m", "flu")]


def write_rows(path, rows, header=("age", "sex", "secret")):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture
def source(tmp_path):
    return PublicTable("by hand", 4, 0, write_rows(tmp_path / "source.csv", SOURCE), ("age", "sex"), ("age",))


def judge(source, tmp_path, rows):
    return judge_release(source, write_rows(tmp_path / "released.csv", rows))


def test_a_copy_hides_nobody(source, tmp_path):
    judged = judge(source, tmp_path, SOURCE[::-1])

    assert judged | {"gcp": 0.0, "k": 1, "smallest_crowd": 1, "given_away": 1.0, "edge": None} == judged


def test_people_hide_among_every_row_that_fits_and_a_shared_value_is_given_away(source, tmp_path):
    young, old = ("[30, 31]", "f", "flu"), ("[48, 54]", "m")
    judged = judge(source, tmp_path, [young, young, (*old, "hiv"), (*old, "flu")])

    assert judged | {"k": 2, "rows_lost": 0, "smallest_crowd": 2, "given_away": 0.5, "edge": 0.5} == judged
    assert judged["gcp"] == pytest.approx((1 / 22 * 2 + 4 / 22 * 2) / 8)  # 52 is the last age: wider does not count


def test_somebody_who_fits_no_row_is_seen(source, tmp_path):
    assert judge(source, tmp_path, [("[30, 50]", "*", "flu")] * 4)["smallest_crowd"] == 0


@pytest.mark.parametrize("family", [*FAMILIES, *list_given()])
def test_a_table_comes_from_its_seed_alone(family, tmp_path):
    first, again, other = (make_table(family, 40, seed, tmp_path).source.read_bytes() for seed in (1, 1, 2))

    assert first == again != other


def test_a_value_that_no_label_names_hides_among_all_labels_with_rare_values(tmp_path):
    """Which value is rare is not told: an attacker knows only that no label of the column names it."""
    rows = [(str(age), sex, "flu") for age, sex in zip((30, 31, 50, 52), "abbz", strict=True)]
    table = PublicTable("by hand", 4, 0, write_rows(tmp_path / "source.csv", rows), ("age", "sex"), ("age",))
    released = [("*", "{b, 1 rare value}", "flu")] * 3 + [("*", "a", "flu")]

    assert judge(table, tmp_path, released) | {"smallest_crowd": 1} == judge(table, tmp_path, released)
    assert judge(table, tmp_path, released[:3])["smallest_crowd"] == 3  # now a is one of the values that nobody names


def test_who_loses_least_is_said_for_each_table():
    losses = {("town", 5): (0.3, 0.1, 0.2), ("codes", 5): (0.3, 0.2, 0.1), ("codes", 9): (0.1, 0.1, 0.1)}
    lines = [
        {"family": family, "asked_k": k, "tool": tool, "outcome": "done", "loss": loss + shift}
        for (family, k), found in losses.items()
        for tool, loss in zip(("kech", "kech, exact edges", "MDAV"), found, strict=True)
        for shift in (-0.01, 0.01)
    ]
    lines.append({"family": "town", "asked_k": 5, "tool": "anonypy", "outcome": "failed"})
    assert say_least(lines) == (
        "With exact edges it loses least of all on 1 of 3 tables; less is lost on codes at k = 5 (MDAV), "
        "codes at k = 9 (kech)."
    )


def test_a_public_table_is_measured_where_it_is_at_hand(tmp_path, monkeypatch):
    """Its last column is the sensitive one; a sample is of rows of the file, and a full run has it."""
    source = tmp_path / "given.csv"
    source.write_text(
        "age;town;ill\n" + "".join(f"{age};t{age % 3};{'yes' if age % 2 else 'no'}\n" for age in range(60))
    )
    monkeypatch.setattr(sys, "argv", ["public"])
    monkeypatch.setitem(GIVEN, "mine", GivenTable("Mine.", source, ";", ("age",)))
    table = make_table("mine", 20, 1, tmp_path)
    lines = table.source.read_text().splitlines()
    assert (lines[0], table.quasi_identifiers, table.numbers) == ("age,town,ill", ("age", "town"), ("age",))
    assert table.sensitive == "ill" and len({*lines[1:]} & {*source.read_text().replace(";", ",").splitlines()}) == 20
    assert "mine" in parse_arguments().families
    source.unlink()
    assert "mine" not in parse_arguments().families


@pytest.mark.parametrize("name", CUTS)
def test_peers_publish_every_row_among_k(name, tmp_path):
    table = make_table("town", 90, 3, tmp_path)
    publish(CUTS[name], describe_job(table, 4, tmp_path / "released.csv"))
    judged = judge_release(table, tmp_path / "released.csv")

    assert (judged["rows_lost"], judged["edge"]) == (0, 1.0)
    assert judged["smallest_crowd"] >= judged["k"] >= 4


def test_a_command_line_of_ones_own_is_filled_in(source, tmp_path):
    command = own_tool(f"{sys.executable} mine.py {{source}} {{target}} {{k}} {{quasi_identifiers}}")

    assert command(source, 7, tmp_path / "x.csv")[1:] == [
        "mine.py",
        str(source.source),
        str(tmp_path / "x.csv"),
        "7",
        "age,sex",
    ]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--tool", "mine"], "--tool mine: there is no command. Write NAME=COMMAND"),
        (["--tool", "mine=python mine.py {sourc}"], "--tool mine: nothing is called {sourc}. Write {source}, {target}"),
        (["--tool", "mine=python mine.py {}"], "--tool mine: nothing is called {}. Write {source}"),
        (["--tool", "mine=no-such-program {source}"], "--tool mine: there is no program no-such-program"),
        (["--tool", "mine='python {source}"], "--tool mine: No closing quotation"),
        (["--only", "Mondrain"], "--only: no tool is called Mondrain. Write kech, "),
    ],
)
def test_a_tool_that_cannot_be_started_is_refused_before_anything_runs(words, complaint, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["public", *words])
    with pytest.raises(SystemExit, match="2"):
        parse_arguments()
    assert complaint in capsys.readouterr().err


def test_what_peers_need_is_installed_only_when_one_of_them_is_started(source, tmp_path):
    asked = []
    tools = known_tools(lambda: asked.append("install") or "python")
    tools["kech"](source, 7, tmp_path / "x.csv")
    assert asked == []
    assert tools["Mondrian"](source, 7, tmp_path / "x.csv")[0] == "python" and asked == ["install"]


@pytest.mark.parametrize("header", [("age", "sex", "secret"), ("age", "sex")])
def test_a_tool_whose_file_cannot_be_judged_ends_no_run(header, source, tmp_path):
    """Neither a label that nobody can read nor a column that is missing."""
    made = write_rows(tmp_path / "made.csv", [("about 30", "f", "flu")[: len(header)]], header)
    copy = own_tool(f'{sys.executable} -c \'import shutil; shutil.copy("{made}", "{{target}}")\'')
    line = run_tool(copy, source, 2, tmp_path / "released.csv", 60)

    assert line["outcome"] == "failed" and line["why"].startswith("its file cannot be judged: ")

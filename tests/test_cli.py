"""The command line: help, one JSON object, plans that replay, progress only for people, and exit codes."""

import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout, suppress

import pyarrow
import pytest

import kech
from kech.cli import app, main
from kech.system.console import report
from kech.tables.demo import generate_town
from kech.views.screen import progress

COMMANDS = [name for name in app if not name.startswith("-")]
SPECTRUM_ROW = {
    "k", "cut", "eps", "eps_error", "eps_lower_bound", "classes", "loss", "loss_lower_bound", "loss_gap",
    "variance", "variance_lower_bound", "suppressed", "average_class", "c_avg", "discernibility", "loss_per_column",
    "l", "t",
}  # fmt: skip


@pytest.fixture
def people(folder):
    """A small town."""
    path = folder / "people.csv"
    rows = generate_town(400, seed=3).to_pylist()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def target(folder):
    return folder / "released.csv"


def rows_of(path, *columns):
    with path.open(newline="", encoding="utf-8") as file:
        return Counter(tuple(row[name] for name in columns) for row in csv.DictReader(file))


def parameters(target):
    return json.loads((target.parent / f"{target.name}.certificate.json").read_text())["parameters"]


# -- help ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example(run, command):
    outcome = run(command, "--help")
    assert outcome.code == 0
    assert f"Example: kech {command}" in " ".join(outcome.out.split())
    assert not re.search(r"default: (\[\]|False|None)|CHOICE\|", outcome.out)


def test_kech_alone_shows_its_commands(run):
    for words in ((), ("--help",)):
        outcome = run(*words)
        assert (outcome.code, outcome.err) == (0, "")
        assert not [command for command in COMMANDS if command not in outcome.out]
    assert run("--version").out.strip() == kech.__version__


# -- one JSON object -------------------------------------------------------------------------------------


@pytest.fixture
def ask(run):
    """Run a command with --json; give back its object."""

    def run_for_json(*words):
        outcome = run(*words, "--json")
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out.count("\n") == 1
        return outcome.json

    return run_for_json


def test_inspect_as_json(ask, people, folder):
    found = ask("inspect", people)
    assert {"rows", "format", "columns", "quasi_identifiers", "unique_share", "k", "plan"} <= set(found)
    assert (found["rows"], found["format"], found["delimiter"], found["encoding"]) == (400, "csv", ",", "utf-8")
    assert found["plan"] is None
    columns = {column["column"]: column for column in found["columns"]}
    assert {"type", "distinct", "nulls", "role", "reason", "generalized", "trouble"} <= set(columns["age"])
    roles = {name: column["role"] for name, column in columns.items()}
    assert (roles["age"], roles["diagnosis"], roles["person"]) == ("quasi-identifier", "sensitive", "identifier")
    assert ask("inspect", people, "--plan", folder / "kech.toml")["plan"] == str(folder / "kech.toml")


def test_spectrum_as_json(ask, people):
    found = ask("spectrum", people, "--qi", "age", "sex", "--k", "2-4,9")
    assert {"rows", "points", "quasi_identifiers", "spectrum"} <= set(found)
    assert (found["rows"], found["quasi_identifiers"]) == (400, ["age", "sex"])
    assert [row["k"] for row in found["spectrum"]] == [2, 3, 4, 9]
    for row in found["spectrum"]:
        assert set(row) == SPECTRUM_ROW
        assert row["cut"] == "local"
        assert 0 <= row["loss"] <= 1
        assert row["average_class"] == 400 / row["classes"] >= row["k"]
    losses = [row["loss"] for row in found["spectrum"]]
    assert losses == sorted(losses)


def test_spectrum_without_k_shows_2_to_100(ask, people):
    assert [row["k"] for row in ask("spectrum", people, "--qi", "sex")["spectrum"]] == list(range(2, 101))


def test_release_and_verify_as_json(ask, people, target):
    words = ("--qi", "age", "sex", "--sensitive", "diagnosis", "--identifiers", "person", "--k", 5)
    found = ask("release", people, "-o", target, *words)
    assert found["file"] == str(target)
    assert found["certificate"] == f"{target}.certificate.json"
    assert (found["rows"], found["suppressed"]) == (400, 0)
    assert found["k"] >= 5
    assert {"average_class", "l", "t", "entropy_l", "alpha"} < set(found["measured"])
    assert set(found["dropped"]) == {"person", "zip", "moved_in", "schooling", "job", "income"}
    verified = ask("verify", target)
    assert (verified["file"], verified["holds"]) == (str(target), True)
    for name in ("k", "classes", "rows", "loss"):
        assert verified[name] == pytest.approx(found[name])
    for letter in ("l", "t"):
        assert verified[letter] == found["measured"][letter]
        assert set(verified[letter]) == {"diagnosis"}
    assert ask("verify", target, "--qi", "age", "sex", "--k", 5)["loss"] is None


@pytest.mark.parametrize("share", ["1%", "0.01", " 1 %"])
def test_a_share_of_the_rows_may_be_left_out(ask, people, target, tmp_path, share):
    words = ("--qi", "age", "zip", "--cut", "minimal", "--suppress", share, "--k", 3, "--effort", "quick")
    found = ask("release", people, "-o", target, *words)
    (tmp_path / "kech.toml").write_text("[cut]\nsuppress = 0.01\neffort = 'quick'\n", "utf-8")
    planned = ask(
        "spectrum", people, "--qi", "age", "zip", "--k", 3, "--cut", "minimal", "--plan", tmp_path / "kech.toml"
    )

    (row,) = planned["spectrum"]
    assert 0 < row["suppressed"] <= 4
    assert (found["suppressed"], found["rows"]) == (
        "<3" if row["suppressed"] < 3 else row["suppressed"],
        400 - row["suppressed"],
    )
    assert ask("verify", target)["rows"] == found["rows"]


def test_lattice_as_json(ask, people):
    found = ask("lattice", people, "--qi", "age", "sex", "zip", "--k", "2,5", "--suppress", 0.01)

    assert set(found) == {"private", "counted", "nodes", "heights", "search", "peak_bytes", "best", "minimal"}
    assert [node["k"] for node in found["best"]] == [2, 5]
    assert set(found["minimal"]) == {"2", "5"}
    assert all(node["suppressed"] <= 4 and node["proven"] for node in found["best"])
    assert [node["k"] for node in ask("lattice", people, "--qi", "sex", "--search", "chain", "--k", 3)["best"]] == [3]


def test_lattice_on_the_screen(run, people):
    said = run("lattice", people, "--qi", "age", "sex", "--k", "2,400").out
    assert "levels of age 0-" in said
    assert "minimal for k = 400:" in said
    assert run("lattice", people, "--qi", "age", "--k", 401).code == 4


def test_zigzag_as_json_and_on_the_screen(ask, run, people, folder):
    found = ask("zigzag", people, "--qi", "sex", "schooling", "--path", "0,0", "0,1", "1,0", "--k", 400)
    figures = {"bars", "shorter_bars", "summary", "positions", "readings", "regimes"}
    assert {"private", "path", "columns", "through", "counted", "plot"} | figures == set(found)
    assert found["path"] == [[0, 0], [0, 1], [1, 0]]
    assert [at["position"] for at in found["positions"]] == [0, 0.5, 1, 1.5, 2]
    assert found["regimes"] == []  # their unions hold all 400 rows together, and are no nodes
    diagonal = ask("zigzag", people, "--qi", "sex", "schooling", "--k", 400)
    assert diagonal["path"][-1] == [1, 1]
    last = len(diagonal["path"]) - 1
    assert diagonal["regimes"] == [{"start": last, "stop": last, "k": 400, "classes": 1}]
    said = run("zigzag", people, "--qi", "sex", "schooling", "--path", "0,0 1,0 0,1", "--through", "intersection").out
    assert "PRIVATE" in said
    assert "intersection" in said
    assert "k-anonymous nodes, under every reading (homological, strict, partition):" in said
    assert run("zigzag", people, "--qi", "sex", "--path", "7").code == 2
    assert run("zigzag", people, "--qi", "sex", "--path", "").code == 2


def test_hierarchy_as_json_and_on_the_screen(ask, run, people, folder):
    found = ask("hierarchy", people, "zip", "-o", folder / "zip.csv")
    assert (found["kind"], found["file"]) == ("prefixes", str(folder / "zip.csv"))
    assert ask("hierarchy", people, "zip", "--from", folder / "zip.csv")["kind"] == "given"
    said = run("hierarchy", people, "age", "--kind", "intervals").out
    assert "PRIVATE" in said
    assert "below)" in said
    assert run("hierarchy", people, "nobody").code == 2
    assert run("hierarchy", people, "age", "--pad").code == 2
    assert ask("hierarchy", people, "age", "--grid", 5) != ask("hierarchy", people, "age")


def test_a_table_without_rows_has_no_barcode(run, folder):
    (folder / "empty.csv").write_text("c,d\n", "utf-8")
    assert run("barcode", folder / "empty.csv", "--qi", "c").code == 4


def test_radii_are_drawn_as_they_are_seen(run, people, folder):
    pytest.importorskip("matplotlib")
    for name, words in (("all.svg", ()), ("some.svg", ("--radii", "0.1,0.2"))):
        run("barcode", people, "--qi", "age", "--max-dimension", 0, "--plot", folder / name, *words)
    assert (folder / "all.svg").read_text() != (folder / "some.svg").read_text()


def test_the_lattice_heeds_the_plan(ask, people, folder):
    (folder / "kech.toml").write_text('[columns]\nquasi_identifiers = ["age", "sex"]\n[cut]\nsuppress = 0.2\n', "utf-8")
    planned = ask("lattice", people, "--plan", folder / "kech.toml", "--k", 5)
    typed = ask("lattice", people, "--qi", "age", "sex", "--k", 5, "--suppress", 0.2)
    assert planned == typed != ask("lattice", people, "--qi", "age", "sex", "--k", 5)


def test_barcode_says_how_many_bars_of_zero_length_are_left_out(ask, people):
    pytest.importorskip("ripser")
    some, every = (ask("barcode", people, "--qi", "age", *asked) for asked in ((), ("--zero-length",)))
    short = [bar for bar in every["bars"] if bar["birth"] == bar["death"]]

    assert sum(some["left_out"].values()) == len(short) > 0
    assert set(every["left_out"].values()) == {0}
    assert len(every["bars"]) == len(some["bars"]) + len(short)


@pytest.mark.parametrize("reading", ["strict", "homological", "partition"])
def test_barcode_shows_one_reading(ask, people, reading):
    """The option of the regime cut, which has the same name, took the place of this one."""
    found = ask("barcode", people, "--qi", "age", "--max-dimension", 0, "--reading", reading)
    assert list(found["regimes"]) == [reading]


def test_barcode_as_json(ask, people):
    found = ask("barcode", people, "--qi", "age", "--max-dimension", 0)
    assert found["private"] is True
    assert {"metric", "bars", "regimes"} <= set(found)
    assert set(found["bars"][0]) == {"birth", "death", "weight", "people", "simplex_from", "dimension"}
    assert {"homological", "strict"} <= set(found["regimes"])
    assert {"start", "stop", "k", "classes"} <= set(found["regimes"]["homological"][0])


def test_demo_as_json(ask, folder, monkeypatch):
    monkeypatch.setattr("kech.tables.demo.generate_town", lambda: generate_town(300))
    found = ask("demo", "-o", folder / "demo")
    nine, town = found["demo"]
    assert set(nine) == {"table", "release", "spectrum", "verified"}
    assert nine["verified"]["k"] >= 3
    assert town["verified"]["k"] >= 5
    assert set(town["spectrum"][0]) == SPECTRUM_ROW
    assert (folder / "demo" / "town.toml").exists()


# -- refusals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (("release", "people.csv", "-o", "released.csv", "--qi", "agee", "--k", 5), 2, "NoSuchColumn"),
        (("release", "people.csv", "-o", "released.csv", "--qi", "age"), 2, "BadOption"),
        (("release", "people.csv", "--qi", "age", "--k", 5), 2, "UsageError"),
        (("nonsense",), 2, "UsageError"),
        (("spectrum", "none.csv", "--qi", "age"), 3, "NoSuchFile"),
        (("release", "people.csv", "-o", "released.csv", "--qi", "age", "--k", 999), 4, "TooFewRows"),
        (("verify", "people.csv", "--qi", "age", "zip", "--k", 5), 4, "ClaimBroken"),
        (("inspect", "people.csv", "--memory", "1KB"), 5, "OutOfMemory"),
    ],
)
def test_a_refusal_as_json_is_one_object_among_the_errors(run, people, monkeypatch, words, code, kind):
    monkeypatch.chdir(people.parent)
    outcome = run(*words, "--json")
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.count("\n") == 1
    assert set(outcome.json) == {"error", "message", "exit_code"}
    assert (outcome.json["error"], outcome.json["exit_code"]) == (kind, code)
    assert run(*words).err == f"kech: {outcome.json['message']}\n"


@pytest.mark.parametrize("ks", ["10-2", "5,10-2", "5,x", "2-", ",", "2-90000"])
def test_values_of_k_that_are_no_numbers_or_ranges_are_refused(refuse, people, ks):
    refuse("spectrum", people, "--qi", "sex", "--k", ks, code=2, says="Write numbers or ranges: --k 2-20,50,100")


@pytest.mark.parametrize(
    ("failure", "code", "says"),
    [
        (MemoryError(), 5, "kech: Out of memory while working"),
        (ValueError("CANARY"), 5, "kech: Internal fault: ValueError at "),
        (KeyboardInterrupt(), 130, "kech: Stopped.\n"),
    ],
)
def test_what_was_not_foreseen_ends_in_order(run, people, temporary, monkeypatch, failure, code, says):
    def fail(*_, **__):
        raise failure

    monkeypatch.setattr(kech, "inspect_table", fail)
    outcome = run("inspect", people)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.startswith(says)
    assert "CANARY" not in outcome.err
    assert list(temporary.iterdir()) == []


@pytest.fixture
def press(folder, tmp_path):
    """A real Ctrl-C for a real process, once it does this; its exit code, what it left, and what it said."""
    rows = "".join(f"{i % 70},{i % 997}\n" for i in range(300_000))
    (folder / "people.csv").write_text("age,zip\n" + rows)

    def run_and_press(doing, *words, impatient=False):
        typed = ["release", folder / "people.csv", "--qi", "age", "zip", "--k", "50", "-o", folder / "safe.csv", *words]
        command = [sys.executable, "-m", "kech", *map(str, typed), "--json-lines"]
        pipe, settings = subprocess.PIPE, os.environ | {"TMPDIR": str(tmp_path)}
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=settings) as process:
            next(line for line in process.stdout if json.loads(line).get("doing", "").startswith(doing))
            process.send_signal(signal.SIGINT)
            while impatient and process.poll() is None:
                time.sleep(0.01)
                process.send_signal(signal.SIGINT)
            out, err = process.communicate()
        assert ["result" in json.loads(line) for line in out.splitlines()].count(True) == (process.returncode == 0)
        assert [path for path in tmp_path.iterdir() if path.name.startswith("kech")] == []
        return process.returncode, {path.name for path in folder.iterdir()} - {"people.csv"}, err

    return run_and_press


@pytest.mark.parametrize("impatient", [False, True])
def test_ctrl_c_before_a_release_says_that_nothing_was_released(press, impatient):
    """Pressed again and again, it broke off the clearing up: aborts, tracebacks, folders left behind."""
    said = {"error": "Stopped", "message": "Stopped; nothing was released.", "exit_code": 130}
    assert press("reading the table", impatient=impatient) == (130, set(), json.dumps(said) + "\n")


def test_ctrl_c_in_the_search_publishes_the_best_so_far_and_says_nothing(press):
    assert press("searching", "--effort", "600") == (0, {"safe.csv", "safe.csv.certificate.json"}, "")


def test_ctrl_c_while_a_release_is_written_promises_nothing_that_may_be_false(press):
    code, left, said = press("writing", "--effort", "quick")
    assert (code, left) in ((130, set()), (130, {"safe.csv", "safe.csv.certificate.json"}))
    assert json.loads(said)["message"].startswith("Stopped; the release is as it was before, or new and whole")


def test_a_traceback_is_shown_only_when_asked_for(run, people, monkeypatch, capsys):
    monkeypatch.setattr(kech, "inspect_table", lambda *_, **__: 1 / 0)
    assert "Traceback" not in run("inspect", people).err
    monkeypatch.setenv("KECH_DEBUG", "1")
    with pytest.raises(SystemExit, match="5"):
        main(["inspect", str(people)])
    assert "Traceback" in capsys.readouterr().err


def test_the_exit_code_reaches_the_shell(people, target):
    def ended(*words):
        script = "from kech.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", script, *map(str, words)], capture_output=True, text=True, check=False
        )

    assert ended("release", people, "-o", target, "--qi", "age", "--k", 5).returncode == 0
    refused = ended("release", people, "-o", target, "--qi", "age", "--k", 999)
    assert (refused.returncode, refused.stdout) == (4, "")
    assert refused.stderr.startswith("kech: k=999 needs 999 rows or more")


# -- plans -----------------------------------------------------------------------------------------------


def test_a_plan_of_inspect_replays(run, people, folder, target):
    plan, quasi_identifiers = folder / "kech.toml", run("inspect", people, "--json").json["quasi_identifiers"]
    assert run("inspect", people, "--plan", plan, "--k", 7).code == 0
    assert run("release", people, "--plan", plan, "-o", target).code == 0
    again = folder / "again.csv"
    assert run("release", people, "--plan", plan, "-o", again).code == 0
    assert rows_of(target, *quasi_identifiers) == rows_of(again, *quasi_identifiers)
    assert target.read_bytes() != again.read_bytes()  # the order of rows is secret
    assert parameters(target)["k"] == 7
    assert min(rows_of(target, *quasi_identifiers).values()) >= 7


PLAN = """
[columns]
quasi_identifiers = ["age", "sex"]
sensitive = ["diagnosis"]
keep = ["job"]

[axes.age]
kind = "number"

[goal]
k = 9

[labels]
grid = 20
"""


@pytest.fixture
def planned(run, people, folder, target):
    """Release as the plan says, but for what is typed."""
    (folder / "kech.toml").write_text(PLAN)

    def run_planned(*words):
        outcome = run("release", people, "--plan", folder / "kech.toml", "-o", target, "--no-ledger", *words)
        assert outcome.code == 0, outcome.err
        with target.open(newline="", encoding="utf-8") as file:
            return parameters(target), list(csv.DictReader(file))

    return run_planned


def test_what_is_typed_comes_before_the_plan(planned):
    as_planned, rows = planned()
    assert (as_planned["k"], as_planned["grid"]) == (9, 20)
    assert set(rows[0]) == {"age", "sex", "diagnosis", "job"}
    assert planned("--k", 3)[0]["k"] == 3
    assert planned("--grid", "exact")[0]["grid"] == "exact"
    assert set(planned("--qi", "zip")[1][0]) == {"zip", "diagnosis", "job"}
    assert set(planned("--sensitive", "income", "--keep", "schooling")[1][0]) == {"age", "sex", "income", "schooling"}
    assert set(planned("--sensitive=", "--keep=")[1][0]) == {"age", "sex"}
    assert any("[" in row["age"] for row in rows)
    typed = planned("--axis", "age=set")[1]
    assert not any("[" in row["age"] for row in typed)


def test_texts_that_mean_missing_come_from_plan_and_words(run, folder, target):
    (folder / "t.csv").write_text("age,n\n" + "30,1\n" * 9 + "?,1\n" * 2 + "NA,1\n" * 2)
    (folder / "kech.toml").write_text(
        '[input]\nnull_values = ["?", "NA"]\n[columns]\nquasi_identifiers = ["age"]\nkeep = ["n"]\n[goal]\nk = 2\n'
    )
    words = ("release", folder / "t.csv", "-o", target, "--plan", folder / "kech.toml", "--no-ledger")
    assert run(*words).code == 0
    assert rows_of(target, "age") == {("30",): 9, ("",): 4}
    assert run(*words, "--null-values", "?").code == 0
    assert rows_of(target, "age") == {("30",): 9, ("",): 2, ("NA",): 2}
    assert run(*words, "--null-values=").code == 0
    assert rows_of(target, "age") == {("30",): 9, ("?",): 2, ("NA",): 2}


def test_every_command_takes_the_plan(run, people, folder, target):
    (folder / "kech.toml").write_text(PLAN)
    plan = ("--plan", folder / "kech.toml")
    assert run("spectrum", people, *plan, "--json").json["quasi_identifiers"] == ["age", "sex"]
    assert run("release", people, *plan, "-o", target).code == 0
    assert run("verify", target, *plan).code == 0
    assert run("verify", people, *plan).code == 4


# -- words -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("--qi", '"last, first"', "age"),
        ("--qi", 'age,"last, first"'),
        ("--qi", 'age, "last, first"'),
        ("--quasi-identifiers", "age", '"last, first"'),
    ],
)
def test_names_with_commas_are_quoted(run, folder, target, words):
    (folder / "t.csv").write_text('"last, first",age,"say ""hi"""\n' + "a,1,x\n" * 3)
    command = ("release", folder / "t.csv", "-o", target, "--k", 2, *words, "--keep", '"say ""hi"""')
    assert run(*command).code == 0
    with target.open(newline="", encoding="utf-8") as file:
        assert next(csv.reader(file)) == ["last, first", "age", 'say "hi"']


@pytest.mark.parametrize(
    ("words", "ks"),
    [(("2,5",), [2, 5]), (("2-4",), [2, 3, 4]), (("9", "3"), [3, 9]), (("2-3,3-4", "4"), [2, 3, 4])],
)
def test_k_is_numbers_and_ranges(run, people, words, ks):
    found = run("spectrum", people, "--qi", "sex", "--k", *words, "--json").json
    assert [row["k"] for row in found["spectrum"]] == ks


def test_plain_words_tell_the_same_as_json(run, people, target):
    words = ("release", people, "-o", target, "--qi", "age", "sex", "--sensitive", "diagnosis", "--k", 5)
    plain, found = run(*words).out, run(*words, "--json").json
    assert f"Wrote {target}" in plain
    assert f"Every row hides among at least {found['k']}: 400 rows in {found['classes']:,} classes" in plain
    assert "Not published: person, " in plain
    assert f"{target} holds: recomputed from the file alone." in run("verify", target).out
    assert "As it is, k = 1" in run("inspect", people).out
    assert re.search(r"^ *k +cut +classes", run("spectrum", people, "--qi", "age").out, re.M)


# -- progress --------------------------------------------------------------------------------------------

SLOW = """
import sys, time
from kech import cli
from kech.views.screen import progress

progress.PATIENCE = float(sys.argv[1])
inspected = cli.kech.inspect_table

def slowly(table, **options):
    time.sleep(0.7)
    return inspected(table, **options)

cli.kech.inspect_table = slowly
cli.main(sys.argv[2:])
"""


def read_all(reading):
    shown = b""
    try:
        while chunk := os.read(reading, 1 << 16):
            shown += chunk
    except OSError:  # how a terminal says that nobody writes any more
        pass
    os.close(reading)
    return shown


def watch(patience, *words, terminal=True):
    """Standard output, and what a terminal (or a pipe) got as standard error."""
    reading, writing = pty.openpty() if terminal else os.pipe()
    command = [sys.executable, "-c", SLOW, str(patience), *map(str, words)]
    with ThreadPoolExecutor(1) as pool, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=writing) as process:
        os.close(writing)
        drained = pool.submit(read_all, reading)  # a full terminal would stop the writer
        out = process.stdout.read().decode()
        shown = drained.result()
    assert process.returncode == 0, shown
    return out, shown.decode()


def test_progress_is_shown_to_people_who_wait(people):
    out, shown = watch(0.05, "inspect", people)
    assert "reading the table" in shown
    assert out.startswith("400 rows, 9 columns")


def test_no_progress_is_shown_to_pipes_nor_to_people_who_need_not_wait(people):
    for patience, terminal in ((0.05, False), (60, True)):
        out, shown = watch(patience, "inspect", people, terminal=terminal)
        assert shown == ""
        assert out.startswith("400 rows, 9 columns")


class Terminal(io.StringIO):
    """A terminal that remembers all it got."""

    def isatty(self):
        return True

    def shown(self):
        """What was to be seen, line after line, without colours."""
        return re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", self.getvalue())

    def left(self):
        """The lines that stay."""
        lines, row = [""], 0
        for code, text in re.findall(r"\x1b\[[?\d;]*([A-Za-z])|(\n|[^\x1b\r\n]+)", self.getvalue()):
            row += (text == "\n") - (code == "A")
            lines += [""] * (row == len(lines))
            lines[row] = "" if code == "K" else lines[row] + text.strip("\n")
        return lines


def waited_for(seen):
    """Whether it was seen within ten seconds."""
    return any(seen() or time.sleep(0.01) for _ in range(1000))


@pytest.fixture
def waiting(monkeypatch, people):
    """Inspect a table on a terminal, slowly: it does something once the bar is there."""
    inspected, terminal = kech.inspect_table, Terminal()

    def wait(end):
        def slowly(table, **options):
            assert waited_for(lambda: "reading the table" in terminal.shown())
            report("cutting", 1.0)
            report("inspecting", 0.5)
            end(terminal)
            return inspected(table, **options)

        monkeypatch.setattr(kech, "inspect_table", slowly)
        with redirect_stdout(terminal), redirect_stderr(terminal), suppress(SystemExit):
            main(["inspect", str(people)])
        return terminal

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    return wait


def interrupt(_):
    raise KeyboardInterrupt


def complain(_):
    raise kech.errors.UsageError("Odd.")


def warn(terminal):
    warnings.warn(kech.errors.DoubtfulColumn("age", "odd."), stacklevel=1)
    report("inspecting again")
    assert waited_for(lambda: "inspecting again" in terminal.shown())


def test_the_bar_goes_on_after_a_piece_of_work_is_done(waiting):
    """Rich takes a share of 1 for the end: neither spinner nor clock would move any more."""
    shown = waiting(lambda terminal: waited_for(lambda: "inspecting" in terminal.shown())).shown()
    spinners = re.findall("(.) inspecting", shown)
    assert spinners
    assert " " not in spinners


@pytest.mark.parametrize(
    ("end", "first"),
    [
        (lambda _: None, "400 rows, 9 columns"),
        (interrupt, "kech: Stopped."),
        (complain, "kech: Odd."),
        (warn, "kech: warning: Column 'age': odd."),
    ],
)
def test_no_bar_is_left_beside_what_is_said(waiting, end, first):
    terminal = waiting(end)
    assert terminal.left()[0].startswith(first)
    assert "inspecting" in terminal.shown()
    assert "inspecting" not in "".join(terminal.left())


def test_json_goes_to_standard_output_while_progress_is_shown(people):
    out, shown = watch(0.05, "inspect", people, "--json")
    assert "reading the table" in shown
    assert json.loads(out)["rows"] == 400


def test_json_lines_tell_what_is_done_and_at_last_the_result(run, people, target):
    words = ["release", people, "-o", target, "--qi", "age", "zip", "--k", "5"]
    outcome = run(*words, "--json-lines")
    *lines, last = map(json.loads, outcome.out.splitlines())

    assert (outcome.code, outcome.err) == (0, "")
    assert [set(line) for line in lines] == [{"doing", "share"}] * len(lines)
    assert {"reading the table", "writing", "checking the written file"} <= {line["doing"] for line in lines}
    assert last == {"result": run(*words, "--json").json | {"ledger": last["result"]["ledger"]}}


def test_json_lines_come_while_work_is_done(people):
    """The first line is there before the process ends."""
    command = [sys.executable, "-m", "kech", "spectrum", people, "--qi", "age", "zip", "--k", "5", "--json-lines"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        first = process.stdout.readline()
        still_working = process.poll() is None
        rest = process.stdout.read().splitlines()

    assert json.loads(first)["doing"] == "reading the table"
    assert still_working
    assert json.loads(rest[-1])["result"]["spectrum"][0]["k"] == 5


def test_a_refusal_among_json_lines_is_one_object_among_the_errors(run, people):
    outcome = run("spectrum", people, "--qi", "nobody", "--json-lines")
    assert (outcome.code, outcome.json["error"]) == (2, "NoSuchColumn")


# -- odd words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("--k", "2.7"), ("--k", "5", "--threads", "1.5")])
def test_a_fraction_is_no_number_of_rows_or_threads(refuse, people, target, words):
    refuse("release", people, "-o", target, "--qi", "age", *words, code=2, says=words[-2])


def test_a_bad_grid_is_refused_also_where_it_is_not_needed(refuse, people, target):
    refuse("release", people, "-o", target, "--qi", "job", "--k", 5, "--grid", "wide", code=2, says="--grid")


def test_a_line_end_in_a_name_is_no_fault_of_kech(refuse, people, target):
    refuse("release", people, "-o", target, "--qi", "a\nb", "--k", 5, code=2, says="--qi")


def test_a_target_with_too_long_a_name_is_refused(refuse, people, folder):
    command = ("release", people, "-o", folder / ("x" * 300 + ".csv"), "--qi", "age", "--k", 5)
    refuse(*command, code=5, says="file name too long")


def test_a_demo_into_a_file_is_refused(refuse, people):
    refuse("demo", "-o", people, code=5, says="Cannot write")


@pytest.mark.parametrize("values", [[0.1, 0.10000000000000002, 0.1], [-1.7e308, 1.7e308, 0.0]])
def test_numbers_hardly_apart_or_very_far_apart_are_inspected(values):
    with kech.read_table(pyarrow.table({"a": values})) as table:
        (column,) = kech.inspect_table(table).to_json()["columns"]
    assert sum(column["histogram"]) == 3

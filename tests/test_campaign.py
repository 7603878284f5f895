"""The harnesses of the campaign see the faults that are planted for them, and a slice of each runs with the suite."""

import ast
import json
import os
import random
import subprocess
import sys

import pytest

import kech
from campaign import core, oracle, people, sanitize, series
from campaign.core import ROOT, Tally, import_all, own_place
from campaign.coverage import KECH, Ground
from campaign.crash import FAULTS, KINDS, SERVER, WINDOW, Moment, fill_disk, set_scene, try_moment
from campaign.determinism import classes_of, compare_engines, on_duckdb, write_cases
from campaign.fuzz import PLANTED, SENSIBLE_INTAKE, fuzz
from campaign.load import FAULTS as FAULTS_OF_THE_STUDIO
from campaign.load import load, look_without_secret, resident, return_to_base, studio_of, upload_bad_files
from campaign.mutants import mutants_of
from campaign.mutation import EXPLAINED, all_mutants, close, explained, fate_of
from campaign.page import PAGE, TRIED, draw_page, last_runs
from campaign.race import FAULTS as RACING
from campaign.race import PAIRS, race
from campaign.soak import CALLS, soak
from strategies import begin_with, further


@pytest.fixture(autouse=True, scope="module")
def quick_ledger():
    """As slow as it is for users: two processes shall meet there."""


@pytest.fixture(scope="module")
def place():
    import_all()
    with own_place() as folder:
        yield folder


# -- crash -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scene(place):
    return set_scene(place, KINDS["csv"])


@pytest.mark.parametrize("kind", begin_with(["csv", "series"], KINDS))
def test_a_killed_release_is_old_or_new_and_leaves_nothing(place, scene, kind, request):
    tally, rng = Tally("crash"), random.Random(kind)
    if kind == "postgres":
        os.environ[SERVER] = request.getfixturevalue("postgres")
    scene = scene if kind == "csv" else set_scene(place, KINDS[kind])
    try_moment(tally, scene, Moment(operation=rng.randrange(len(scene.operations))))
    try_moment(tally, scene, Moment(operation=rng.choice(renames(scene))))
    if kind != "folder":
        fill_disk(tally, scene, (300,))
    else:  # in its place, and killed while the ledger is told so: the next run is refused, and clears up all the same
        try_moment(tally, scene, Moment(operation=renames(scene)[-1]))
    assert tally.losses == []
    assert tally.figures[WINDOW] == (3 if kind == "folder" else 2)


def test_a_release_into_a_folder_that_cannot_be_written_is_refused(scene):
    tally = Tally("crash")
    fill_disk(tally, scene, (None,))
    assert tally.losses == []


def renames(scene):
    """Before each of them something is not yet in its place."""
    return [i for i, name in enumerate(scene.operations) if name == "os.rename"]


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_of_writing_is_seen(scene, fault):
    tally = Tally("crash")
    moments = iter([*renames(scene)[1:], *range(len(scene.operations))])
    while not tally.losses:
        try_moment(tally, scene, Moment(operation=next(moments)), fault)


# -- fuzz ------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("first", [0, *further([15, 30])])
def test_random_tables_and_options_meet_no_fault(place, first):
    tally = Tally("fuzz")
    fuzz(tally, place, range(first, first + 15))
    assert tally.losses == []
    assert set(tally.figures) > {"exit_0", "exit_2", "exit_3"}


@pytest.mark.long
@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_met(place, fault):
    tally = Tally("fuzz")
    seeds = iter(range(20))
    while not tally.losses:
        seed = next(seeds)
        fuzz(tally, place, range(seed, seed + 1), fault)


# -- the others ------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_equal_seeds_give_equal_classes_and_other_seeds_are_seen():
    assert [classes_of(case, 1, 0) for case in range(4)] == [classes_of(case, 2, 0) for case in range(4)]
    assert any(classes_of(case, 1, 0) != classes_of(case, 1, 1) for case in range(3, 12))


@pytest.mark.long
def test_an_engine_with_other_classes_is_seen(place):
    same, other = Tally("determinism"), Tally("determinism")
    cases = write_cases(place, range(2))
    found = on_duckdb(cases)
    compare_engines(same, cases, lambda _: found)
    compare_engines(other, cases, lambda _: found[::-1])
    assert (same.cases, same.losses) == (2, [])
    assert len(other.losses) == 2


def test_what_is_sensible_to_type_is_enough_memory():
    named = [word.removeprefix("--memory=") for words in SENSIBLE_INTAKE for word in words if "--memory" in word]
    assert [kech.Request().override(memory=size).limits.memory for size in named] == named != []


@pytest.mark.long
@pytest.mark.parametrize("fault", oracle.FAULTS)
def test_a_false_claim_is_seen(place, fault):
    tally = Tally("oracle")
    oracle.examine(tally, place, range(2), fault)
    assert len(tally.losses) == 2


@pytest.mark.long
@pytest.mark.parametrize("fault", people.FAULTS)
def test_a_class_of_too_few_people_and_a_lost_person_are_seen(place, fault):
    sound, faulty = Tally("people"), Tally("people")
    oracle.examine(sound, place, range(4, 5), check=people.check_people)
    oracle.examine(faulty, place, range(4, 5), fault, check=people.check_people)
    assert (sound.losses, sound.figures["as_asked"]) == ([], 1)
    assert len(faulty.losses) >= 1


@pytest.mark.long
@pytest.mark.parametrize("fault", series.FAULTS)
def test_a_history_with_a_fault_is_seen(place, fault):
    sound, faulty = Tally("series"), Tally("series")
    oracle.examine(sound, place, range(3, 4), check=series.check_series)
    oracle.examine(faulty, place, range(3, 4), fault, check=series.check_series)
    assert (sound.losses, sound.figures["as_asked"] > 1) == ([], True)
    assert len(faulty.losses) >= 1


@pytest.mark.long
def test_memory_that_grows_is_seen(place):
    kept = []

    def leak(*_):
        kept.append(bytearray(b"x" * 80_000_000))

    steady, leaking = Tally("soak"), Tally("soak")
    soak(steady, place, 2, CALLS[-1:], random.Random(0))
    soak(leaking, place, 3, [leak], random.Random(0))
    assert (steady.losses, len(leaking.losses)) == ([], 1)


@pytest.mark.long
def test_the_studio_under_a_little_load(place):
    pytest.importorskip("uvicorn", reason="the extra `studio` is not installed")
    tally = Tally("load")
    load(tally, place, uploads=21, requests=4)
    assert tally.losses == []


@pytest.mark.long
def test_planted_faults_of_the_studio_are_seen(place):
    """All in one studio, each by the part of the harness that looks for it."""
    pytest.importorskip("uvicorn", reason="the extra `studio` is not installed")
    uploading, looking, growing = Tally("load"), Tally("load"), Tally("load")
    with studio_of(place, FAULTS_OF_THE_STUDIO) as (process, studio):
        table = studio.open_nine(k=3)
        base = resident(process)
        upload_bad_files(uploading, studio, 12, random.Random(0))
        look_without_secret(looking, studio, table)
        return_to_base(growing, studio, process, base)
    assert {loss.partition(": ")[2] for loss in uploading.losses} == {"status 500"}
    assert [loss.rpartition(" is answered ")[2] for loss in looking.losses] == ["200 to anybody"] * 3
    assert [loss.partition(" ")[0] for loss in growing.losses] == ["memory", "closed"]


# -- many at once ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS)
def test_of_two_releases_into_one_target_one_wins_cleanly(place, pair):
    tally = Tally("race")
    race(tally, place / pair, pair, (5, 3))
    assert tally.losses == []


@pytest.mark.long
@pytest.mark.parametrize("fault", RACING)
def test_a_planted_fault_of_racing_is_seen(place, fault):
    tally = Tally("race")
    race(tally, place / fault, "two tables", (5, 3), fault)
    assert tally.losses


# -- coverage and mutation -------------------------------------------------------------------------------------------


def test_every_change_is_one_change_and_types_are_left_alone():
    source = "def f(a: Literal[3] = 3) -> bool:\n    return a + 1 < 2 and a == 5"
    changed = {
        "a: Literal[3]=4", "a - 1 <", "a + 2 <", "1 <= 2", "1 < 3", "2 or a", "a != 5", "a == 6", "return None",
    }  # fmt: skip
    found = [ast.unparse(mutant.tree(source)) for mutant in mutants_of(source)]
    assert len(found) == len(changed)
    assert all(sum(part in text for text in found) == 1 for part in changed)


def test_nothing_that_is_returned_is_not_changed_to_nothing():
    assert list(mutants_of("def f():\n    return None\n\ndef g():\n    return")) == []


STEPS = """LIMIT = 3


def step(n, by=1):
    if n < LIMIT:
        return n + by
    return n
"""
BELOW = "from planted.steps import step\n\ndef test_below():\n    assert step(1) == 2\n"
LIMIT = "\ndef test_at_the_limit():\n    assert (step(2), step(3)) == (3, 3)\n"
HUNT = """
import json, os
from pathlib import Path
from campaign.coverage import Ground, cover, never_run
from campaign.mutation import all_mutants, hunt

ground = Ground(Path.cwd(), "planted", ("steps.py",), ("steps",))
if not os.fork():
    report, _, passed = cover(ground)
    print(json.dumps([passed, never_run(report)]), flush=True)
    os._exit(0)
os.wait()
AFTER_COVERAGE
print(json.dumps([[fate.word, fate.mutant.change] for fate in hunt(ground, all_mutants(ground))]), flush=True)
"""


def hunt_in(folder, tests, after_coverage=""):
    """Coverage and mutation of a small room with these tests, in a process of its own."""
    (folder / "src" / "planted").mkdir(parents=True)
    (folder / "src" / "planted" / "steps.py").write_text(STEPS, "utf-8")
    (folder / "tests").mkdir()
    (folder / "tests" / "test_steps.py").write_text(tests, "utf-8")
    words = [sys.executable, "-c", HUNT.replace("AFTER_COVERAGE", after_coverage)]
    path = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(folder / "src")])}
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=300, env=path)


def hunted(folder, tests):
    """What coverage and mutation say of a small room with these tests."""
    run = hunt_in(folder, tests)
    assert run.returncode == 0, run.stderr
    covered, fates = (json.loads(line) for line in run.stdout.splitlines() if line.startswith("["))
    return covered, {change for word, change in fates if word == "survived"}, len(fates)


@pytest.mark.long
def test_a_change_that_no_test_notices_survives(tmp_path):
    assert hunted(tmp_path / "whole", BELOW + LIMIT) == ([True, []], set(), 7)
    (passed, missing), survivors, tried = hunted(tmp_path / "removed", BELOW)
    assert (passed, tried) == (True, 7)
    assert missing == ["src/planted/steps.py, line 7: never run", "src/planted/steps.py, line 5 to 7: never run"]
    assert survivors == {"3 -> 4", "n < LIMIT -> n <= LIMIT", "return n -> return None"}


SLOW = """
def test_slow():
    import time
    end = time.process_time() + 1.5
    while time.process_time() < end:
        step(3)
"""


@pytest.mark.long
def test_a_change_is_not_stopped_because_its_tests_take_long(tmp_path):
    run = hunt_in(tmp_path, BELOW + SLOW, "import campaign.mutation; campaign.mutation.PATIENCE = 1")
    assert run.returncode == 0, run.stderr
    _, fates = (json.loads(line) for line in run.stdout.splitlines() if line.startswith("["))
    assert {word for word, _ in fates} == {"noticed", "survived"}
    assert ["survived", "n < LIMIT -> n <= LIMIT"] in fates


def believed(folder):
    """Changes of which a later run would believe that a test noticed them, and by which test."""
    lines = (folder / "build" / "coverage" / "fates.jsonl").read_text("utf-8").splitlines()
    return [by for *_, word, by in map(json.loads, lines) if word == "noticed"]


FLAKY = "\ndef test_flaky():\n    import os\n    step(3)\n    assert not os.path.exists('broken')\n"


@pytest.mark.long
def test_a_test_that_fails_on_the_code_as_it_is_notices_nothing(tmp_path):
    run = hunt_in(tmp_path, BELOW + FLAKY, "open('broken', 'w').close()")
    assert run.returncode == 1
    assert (
        "RuntimeError: tests that noticed changes fail on the code as it is: tests/test_steps.py::test_flaky"
        in run.stderr
    )
    assert set(believed(tmp_path)) == {"tests/test_steps.py::test_below"}


@pytest.mark.long
def test_a_module_of_tests_that_does_not_import_notices_nothing(tmp_path):
    run = hunt_in(tmp_path, BELOW, "Path('tests/test_steps.py').write_text('import nothing_such')")
    assert run.returncode == 1
    assert "RuntimeError: the changes were not tried to their end: <ExitCode.TESTS_FAILED: 1>" in run.stderr
    assert believed(tmp_path) == []


@pytest.mark.long
def test_a_fault_of_the_harness_and_a_change_that_was_not_tried_are_losses(tmp_path):
    ground = Ground(tmp_path, "planted", ("steps.py",), ("steps",))
    (tmp_path / "src" / "planted").mkdir(parents=True)
    ground.path("steps.py").write_text(STEPS, "utf-8")
    one, other, *rest = all_mutants(ground)
    fates = {one: fate_of(one, "fault: RuntimeError: pytest ended with <ExitCode.INTERNAL_ERROR: 3>")}
    fates |= {other: fate_of(other, "tests/test_steps.py::test_below")}
    for to_the_end in (False, True):
        tally = Tally("mutation")
        close(tally, ground, [one, other, *rest], fates, to_the_end)
        assert [loss for loss in tally.losses if "INTERNAL_ERROR" in loss] == tally.losses[to_the_end:]
        assert tally.losses[:-1] == ([f"{len(rest)} changes were not tried"] if to_the_end else [])
        assert (tally.cases, tally.figures["noticed"], tally.figures["not_tried"]) == (1, 1, len(rest))


def test_every_explanation_is_of_a_change_of_the_code_as_it_is():
    known = explained()
    assert len(known) == len(json.loads(EXPLAINED.read_bytes()))
    rooms = {room: KECH.path(room).read_text("utf-8") for room, *_ in known}
    lines = {room: text.splitlines() for room, text in rooms.items()}
    there = {
        (room, lines[room][mutant.line - 1].strip(), mutant.column, mutant.change)
        for room, text in rooms.items()
        for mutant in mutants_of(text, room)
    }
    assert known.keys() - there == set()


# -- the page --------------------------------------------------------------------------------------------------------


def test_the_page_is_that_of_the_last_runs_and_names_what_was_not_run():
    runs = last_runs()
    assert PAGE.read_text("utf-8") == draw_page(runs), "make reliability"
    ran = draw_page(runs[:1])
    assert f"| {runs[0]['commit']} | {runs[0]['date']} |" in ran
    assert ran.count("no run is kept") == len(TRIED) - 1


def test_a_run_is_of_the_kech_it_began_with(monkeypatch):
    said = {"rev-parse": "0123abc", "status": ""}
    monkeypatch.setattr(core, "ask_git", lambda word, *_: said[word])
    tally = Tally("crash")
    said |= {"rev-parse": "4567def", "status": "M src/kech/release.py"}
    assert (tally.commit, core.commit()) == ("0123abc", "4567def-dirty")


# -- sanitize --------------------------------------------------------------------------------------------------------

ENDS = """import os, sys
from pathlib import Path
told = next(word.partition("=")[2] for word in sys.argv if word.startswith("--junitxml="))
Path(told).write_text("<testsuite><testcase classname='a' name='b'/></testsuite>", "utf-8")
os._exit(%d)
"""


@pytest.mark.parametrize(("code", "losses"), [(0, []), (1, ["words: 1 cases, ended with 1"])])
def test_a_module_that_ends_badly_is_a_loss_whatever_it_wrote(tmp_path, monkeypatch, code, losses):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "sanitized.py").write_text(ENDS % code, "utf-8")
    monkeypatch.setattr(sanitize, "ROOT", tmp_path)
    monkeypatch.setenv("CXX", "true")  # which names no library to load
    assert sanitize.run_module("nowhere", "words") == (1, losses)

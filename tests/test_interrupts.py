"""Ctrl-C: once for a command, again after the search, not while something takes its place."""

import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

import kech
from kech.system.console import delay_interrupts, exit_on_interrupt, interrupt_once
from kech.tables.demo import nine_rows

pytestmark = pytest.mark.usefixtures("heard")


def press():
    signal.raise_signal(signal.SIGINT)


EARLY = """
import signal, sys

class Pressing:
    def find_spec(self, name, *_):
        if name == "kech.cli":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Pressing())
from kech.__main__ import main
main()
"""


def test_ctrl_c_while_kech_is_imported_is_no_traceback():
    ended = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


LATE = """
import enum, signal, sys
from kech.__main__ import main

build = enum.EnumType.__call__

def build_and_press(kind, value, *names, **options):
    if value == "ExplainType":
        signal.raise_signal(signal.SIGINT)
    return build(kind, value, *names, **options)

enum.EnumType.__call__ = build_and_press
main()
"""


def test_ctrl_c_while_a_command_imports_duckdb_aborts_nothing(tmp_path):
    """Its import aborted Python, with a traceback; other imports lost the exception, or made another of it."""
    (tmp_path / "people.csv").write_text("age,zip\n" + "".join(f"{i % 70},{i % 997}\n" for i in range(3_000)))
    words = [sys.executable, "-c", LATE, "spectrum", tmp_path / "people.csv", "--qi", "age", "zip"]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "kech: Stopped.\n")


def test_a_command_that_was_stopped_clears_up_in_peace(run, monkeypatch):
    cleared = []

    def begin(*_, **__):
        try:
            press()
        finally:
            press()
            cleared.append("what it began")

    monkeypatch.setattr(kech, "open_ledger", begin)
    assert run("ledger").code == 130
    assert cleared == ["what it began"]


def test_a_program_that_was_stopped_is_deaf_to_its_end():
    with pytest.raises(KeyboardInterrupt), interrupt_once(ignore_until_exit=True):
        press()
    assert signal.signal(signal.SIGINT, signal.default_int_handler) is signal.SIG_IGN


def test_what_came_to_nothing_is_heard_again(monkeypatch):
    with pytest.raises(KeyboardInterrupt), interrupt_once(ignore_until_exit=False):
        with suppress(KeyboardInterrupt):
            press()
        press()
        monkeypatch.setattr("kech.system.console.CLEANUP_SECONDS", -1.0)
        press()


def test_whoever_calls_a_command_hears_as_before():
    with interrupt_once(ignore_until_exit=True):
        pass
    with pytest.raises(KeyboardInterrupt):
        press()
    with pytest.raises(KeyboardInterrupt), interrupt_once(ignore_until_exit=False):
        press()
    with pytest.raises(KeyboardInterrupt):
        press()


def test_ctrl_c_ends_the_search_and_again_the_rest(monkeypatch):
    said = []

    def tell(doing, _=None):
        said.append(doing.partition(" at")[0])
        if doing.startswith("searching"):
            press()

    monkeypatch.setattr("kech.cuts.local.report", tell)
    nine = kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"])
    with nine, pytest.raises(KeyboardInterrupt), interrupt_once(ignore_until_exit=False):
        kech.make_release(nine, k=3)
        said.append("released")
        press()
    assert said == ["searching", "stopped", "released"]


def test_ctrl_c_that_had_to_wait_stops_a_command_once():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupt_once(ignore_until_exit=False):
        try:
            with delay_interrupts():
                press()
                press()
                done.append("in place")
        finally:
            press()
            done.append("cleared")
    assert done == ["in place", "cleared"]


@pytest.fixture
def elsewhere():
    """Somebody who handles Ctrl-C in another way, as Spark does."""
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append("elsewhere"))
    yield heard
    signal.signal(signal.SIGINT, before)


def test_whoever_handles_ctrl_c_in_another_way_goes_on_doing_so(elsewhere):
    with interrupt_once(ignore_until_exit=False):
        press()
    assert elsewhere == ["elsewhere"]


def test_he_too_waits_until_all_is_in_place(elsewhere):
    with delay_interrupts():
        press()
        elsewhere.append("in place")
    assert elsewhere == ["in place", "elsewhere"]


@pytest.mark.parametrize("ignored", [signal.SIG_IGN, signal.SIG_DFL])
@pytest.mark.parametrize(
    "patient", [lambda: interrupt_once(ignore_until_exit=False), delay_interrupts, exit_on_interrupt]
)
def test_what_is_ignored_stays_ignored_and_threads_change_nothing(patient, ignored):
    seen = []

    def look():
        with patient():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    before = signal.signal(signal.SIGINT, ignored)
    look()
    signal.signal(signal.SIGINT, before)
    assert seen == [signal.default_int_handler, ignored]


def test_a_handler_that_came_meanwhile_stays():
    def other(*_):
        pass

    with interrupt_once(ignore_until_exit=False):
        signal.signal(signal.SIGINT, other)
    assert signal.signal(signal.SIGINT, signal.default_int_handler) is other

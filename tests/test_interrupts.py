"""Ctrl-C: once for a command, again after the search, not while something takes its place."""

import signal
import threading

import pytest

import kech
from kech import cli
from kech.demo import nine_rows
from kech.interrupts import heard_once, unbroken

pytestmark = pytest.mark.usefixtures("heard")


def press():
    signal.raise_signal(signal.SIGINT)


def test_a_command_that_was_stopped_clears_up_in_peace(run, monkeypatch):
    cleared = []

    def begin(*_, **__):
        try:
            press()
        finally:
            press()
            cleared.append("what it began")

    monkeypatch.setattr(cli.kech, "clear_cache", begin)
    assert run("clean").code == 130
    assert cleared == ["what it began"]


def test_a_program_that_was_stopped_is_deaf_to_its_end():
    with pytest.raises(KeyboardInterrupt), heard_once(to_the_end=True):
        press()
    press()
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_whoever_calls_a_command_hears_as_before():
    with heard_once(to_the_end=True):
        pass
    with pytest.raises(KeyboardInterrupt):
        press()
    with pytest.raises(KeyboardInterrupt), heard_once(to_the_end=False):
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
    with nine, pytest.raises(KeyboardInterrupt), heard_once(to_the_end=False):
        kech.make_release(nine, k=3)
        assert said == ["searching", "stopped"]
        press()


def test_ctrl_c_that_had_to_wait_stops_a_command_once():
    done = []
    with pytest.raises(KeyboardInterrupt), heard_once(to_the_end=False):
        try:
            with unbroken():
                press()
                press()
                done.append("in place")
        finally:
            press()
            done.append("cleared")
    assert done == ["in place", "cleared"]


@pytest.mark.parametrize("patient", [lambda: heard_once(to_the_end=False), unbroken])
def test_whoever_handles_ctrl_c_in_another_way_goes_on_doing_so(patient):
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append("elsewhere"))
    with patient():
        press()
        assert heard == ["elsewhere"]
    signal.signal(signal.SIGINT, before)

    def in_a_thread():
        with patient():
            heard.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join()
    assert heard == ["elsewhere", signal.default_int_handler]


def test_a_handler_that_came_meanwhile_stays():
    def other(*_):
        pass

    with heard_once(to_the_end=False):
        signal.signal(signal.SIGINT, other)
    assert signal.signal(signal.SIGINT, signal.default_int_handler) is other

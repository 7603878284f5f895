"""Ctrl-C: it stops a command once, and never between a file and its certificate.

Only the main thread hears it, and whoever handles it in another way goes on doing so.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

STOPPED = 130  # the exit code of Ctrl-C, as shells have it
CLEARED = 5.0  # seconds after which nobody can be clearing up any more


def answer(number: int, frame: FrameType | None) -> None:
    """Stop; what is pressed from now on is passed over."""
    signal.signal(signal.SIGINT, Deaf())
    signal.default_int_handler(number, frame)


class Deaf:
    """It was heard before; if that came to nothing, it is heard again."""

    def __init__(self) -> None:
        self.since = time.monotonic()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Pass it over, for a while."""
        if time.monotonic() > self.since + CLEARED:
            answer(number, frame)


@contextmanager
def left_at_once() -> Iterator[None]:
    """Ctrl-C ends Python itself, without a word: nothing has begun."""
    before = handler()
    if before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(STOPPED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def heard_once(to_the_end: bool) -> Iterator[None]:
    """Pressed again while a command clears what it began, Ctrl-C would break that off; or until Python itself ends."""
    if handler() is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, answer)
    try:
        yield
    finally:
        deaf = isinstance(handler(), Deaf)
        if deaf or handler() is answer:
            signal.signal(signal.SIGINT, signal.SIG_IGN if deaf and to_the_end else signal.default_int_handler)


def hear_no_more() -> None:
    """Ctrl-C was answered in another way: a command that it ended clears up in peace too."""
    if handler() is answer:
        signal.signal(signal.SIGINT, Deaf())


def hear_again() -> None:
    """Ctrl-C ended a part only: pressed again, it stops the rest."""
    if isinstance(handler(), Deaf):
        signal.signal(signal.SIGINT, answer)


@contextmanager
def unbroken() -> Iterator[None]:
    """Ctrl-C waits until this is done: a file would lack its certificate, and DuckDB says that a COMMIT was
    interrupted, and has committed.
    """
    before = handler()
    if not callable(before):
        yield
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        signal.raise_signal(signal.SIGINT)


def handler() -> Any:
    """Who hears Ctrl-C, as far as that can be changed from here."""
    return signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None

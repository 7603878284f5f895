"""Ctrl-C: it stops a command once, and never between a file and its certificate.

Only the main thread hears it, and whoever handles it in another way goes on doing so.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def answer(number: int, frame: FrameType | None) -> None:
    """Stop; from now on nothing is heard."""
    signal.signal(signal.SIGINT, pass_over)
    signal.default_int_handler(number, frame)


def pass_over(number: int, frame: FrameType | None) -> None:
    """It was heard before."""


@contextmanager
def heard_once(to_the_end: bool) -> Iterator[None]:
    """Pressed again while a command clears what it began, Ctrl-C would break that off; or until Python itself ends."""
    if not is_heard_by(signal.default_int_handler):
        yield
        return
    signal.signal(signal.SIGINT, answer)
    try:
        yield
    finally:
        if is_heard_by(answer, pass_over):
            deaf = to_the_end and is_heard_by(pass_over)
            signal.signal(signal.SIGINT, signal.SIG_IGN if deaf else signal.default_int_handler)


def hear_again() -> None:
    """Ctrl-C ended a part only: pressed again, it stops the rest."""
    if is_heard_by(pass_over):
        signal.signal(signal.SIGINT, answer)


@contextmanager
def unbroken() -> Iterator[None]:
    """Ctrl-C waits until this is done: a file would lack its certificate, and DuckDB says that a COMMIT was
    interrupted, and has committed.
    """
    if not is_heard_by(signal.default_int_handler, answer):
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        signal.raise_signal(signal.SIGINT)


def is_heard_by(*handlers: object) -> bool:
    """Whether Ctrl-C reaches one of these from here."""
    return threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) in handlers

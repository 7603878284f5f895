"""Console: what a person who waits for a command sees and does: reports of progress, and Ctrl-C.

Packages report what they do; a listener shows it.  Ctrl-C stops a command once, and never between a file and its
certificate.  Only the main thread hears it, and other handlers of it stay in place.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

Listener = Callable[[str, float | None], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_stretch: ContextVar[tuple[float, float]] = ContextVar(
    "stretch", default=(0.0, 1.0)
)  # of the whole work: start, length


def report(doing: str, share: float | None = None) -> None:
    """Say what is being done and, if known, how much of it is."""
    listener = _listener.get()
    if listener is not None:
        start, length = _stretch.get()
        listener(doing, None if share is None else start + length * share)


@contextmanager
def within(done: int, total: int) -> Iterator[None]:
    """Shares reported inside are those of one of several equal pieces of work, of which some are done."""
    start, length = _stretch.get()
    token = _stretch.set((start + length * done / total, length / total))
    try:
        yield
    finally:
        _stretch.reset(token)


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Hear every report made inside."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


# -- Ctrl-C -----------------------------------------------------------------------------------------------


INTERRUPT_EXIT_CODE = 130  # the exit code of Ctrl-C, as shells have it
CLEANUP_SECONDS = 5.0  # seconds after which no command is still clearing up


def stop_once(number: int, frame: FrameType | None) -> None:
    """Stop, and ignore Ctrl-C from now on."""
    signal.signal(signal.SIGINT, IgnoreInterrupt())
    signal.default_int_handler(number, frame)


class IgnoreInterrupt:
    """A handler that ignores Ctrl-C while a command clears up; later Ctrl-C stops again."""

    def __init__(self) -> None:
        self.since = time.monotonic()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Ignore Ctrl-C, for a while."""
        if time.monotonic() > self.since + CLEANUP_SECONDS:
            stop_once(number, frame)


@contextmanager
def exit_on_interrupt() -> Iterator[None]:
    """Ctrl-C ends Python at once, without a message: no work has begun."""
    before = current_handler()
    if before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPT_EXIT_CODE))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def interrupt_once(to_the_end: bool) -> Iterator[None]:
    """The first Ctrl-C stops a command; later ones are ignored while it clears up, or until Python ends."""
    if current_handler() is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, stop_once)
    try:
        yield
    finally:
        ignores = isinstance(current_handler(), IgnoreInterrupt)
        if ignores or current_handler() is stop_once:
            signal.signal(signal.SIGINT, signal.SIG_IGN if ignores and to_the_end else signal.default_int_handler)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C while a command clears up that was stopped in another way."""
    if current_handler() is stop_once:
        signal.signal(signal.SIGINT, IgnoreInterrupt())


def accept_interrupts() -> None:
    """Let the next Ctrl-C stop the command: the last one ended only a part of it."""
    if isinstance(current_handler(), IgnoreInterrupt):
        signal.signal(signal.SIGINT, stop_once)


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Ctrl-C waits until this is done.

    Otherwise a file could lack its certificate.  DuckDB would report that a COMMIT was interrupted, though it had
    committed.
    """
    before = current_handler()
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


def current_handler() -> Any:
    """The handler of Ctrl-C; None outside the main thread, where nobody can change it."""
    return signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None

"""Console: reports of progress, and Ctrl-C.

Packages report what they do, and a listener shows it.  Ctrl-C stops a command once, and never between a file and its
certificate.  Only the main thread receives it, and handlers of other programs stay installed.
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
_progress_range: ContextVar[tuple[float, float]] = ContextVar("progress_range", default=(0.0, 1.0))  # start, length


def report(doing: str, done: float | None = None) -> None:
    """Tell the listener what is being done and, if known, which fraction of it is done."""
    listener = _listener.get()
    if listener is not None:
        start, length = _progress_range.get()
        listener(doing, None if done is None else start + length * done)


@contextmanager
def scale_progress(done: int, total: int) -> Iterator[None]:
    """Count the work inside the block as one of `total` equal steps, of which `done` are finished."""
    start, length = _progress_range.get()
    token = _progress_range.set((start + length * done / total, length / total))
    try:
        yield
    finally:
        _progress_range.reset(token)


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Send every report made inside the block to this listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


# -- Ctrl-C -----------------------------------------------------------------------------------------------


INTERRUPT_EXIT_CODE = 130  # the exit code that shells use for Ctrl-C
CLEANUP_SECONDS = 5.0  # after which no command is still cleaning up


def stop_once(number: int, frame: FrameType | None) -> None:
    """Handle the first Ctrl-C: stop the command, and ignore the next ones."""
    signal.signal(signal.SIGINT, IgnoreInterrupt())
    signal.default_int_handler(number, frame)


class IgnoreInterrupt:
    """A handler that ignores Ctrl-C while a command cleans up; a later Ctrl-C stops it again."""

    def __init__(self) -> None:
        self.since = time.monotonic()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Ignore Ctrl-C until the time for cleaning up is over."""
        if time.monotonic() > self.since + CLEANUP_SECONDS:
            stop_once(number, frame)


@contextmanager
def exit_on_interrupt() -> Iterator[None]:
    """Let Ctrl-C end Python at once and without a message, while kech is imported."""
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
def interrupt_once(ignore_until_exit: bool) -> Iterator[None]:
    """Let the first Ctrl-C stop the command; ignore later ones while it cleans up, or until Python ends."""
    if current_handler() is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, stop_once)
    try:
        yield
    finally:
        ignores = isinstance(current_handler(), IgnoreInterrupt)
        if ignores or current_handler() is stop_once:
            after = signal.SIG_IGN if ignores and ignore_until_exit else signal.default_int_handler
            signal.signal(signal.SIGINT, after)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C while a command that was stopped in another way cleans up."""
    if current_handler() is stop_once:
        signal.signal(signal.SIGINT, IgnoreInterrupt())


def accept_interrupts() -> None:
    """Let the next Ctrl-C stop the command: the last one only ended a search inside it."""
    if isinstance(current_handler(), IgnoreInterrupt):
        signal.signal(signal.SIGINT, stop_once)


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Delay Ctrl-C until the block ends.

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
    """The handler of Ctrl-C; None outside the main thread, where it cannot be changed."""
    return signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None

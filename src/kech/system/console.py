"""Console: reports of progress, and Ctrl-C.

Packages report what they do, and a listener shows it.  Ctrl-C stops a command once, and never between a file and its
certificate.  Only the main thread receives it, and handlers of other programs stay installed.
"""

import os
import signal
import sys
import threading
import time
from _thread import interrupt_main, start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import TextIOWrapper
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


def replace_unprintable() -> None:
    """Print ? for a sign that standard output lacks: a file or pipe of Windows is in its code page."""
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")


# -- Ctrl-C -----------------------------------------------------------------------------------------------


INTERRUPT_EXIT_CODE = 130  # the exit code that shells use for Ctrl-C
CLEANUP_SECONDS = 5.0  # after which no command is still cleaning up
RETRY_SECONDS = 0.02  # between two attempts to stop a command that imports a module


class StopOnce:
    """A handler that lets the first Ctrl-C stop the command, and ignores the next ones.

    An import is finished before: inside one the exception may get lost, become another one, or abort Python.
    """

    def __init__(self) -> None:
        self.imports = count_imports(sys._getframe())

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Stop the command now, or a little later if it is importing a module."""
        if count_imports(frame) > self.imports:
            start_new_thread(press_later, ())
            return
        signal.signal(signal.SIGINT, IgnoreInterrupt(self))
        signal.default_int_handler(number, frame)


def count_imports(frame: FrameType | None) -> int:
    """Calls of the import system on the stack."""
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename.startswith("<frozen importlib")
        frame = frame.f_back
    return count


def press_later() -> None:
    """Repeat Ctrl-C after a moment, unless the command has ended."""
    time.sleep(RETRY_SECONDS)
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        interrupt_main()


class IgnoreInterrupt:
    """A handler that ignores Ctrl-C while a command cleans up; a later Ctrl-C stops it again."""

    def __init__(self, stop: StopOnce) -> None:
        self.stop, self.since = stop, time.monotonic()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Ignore Ctrl-C until the time for cleaning up is over."""
        if time.monotonic() > self.since + CLEANUP_SECONDS:
            self.stop(number, frame)


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
    signal.signal(signal.SIGINT, StopOnce())
    try:
        yield
    finally:
        ignores = isinstance(current_handler(), IgnoreInterrupt)
        if ignores or isinstance(current_handler(), StopOnce):
            after = signal.SIG_IGN if ignores and ignore_until_exit else signal.default_int_handler
            signal.signal(signal.SIGINT, after)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C while a command that was stopped in another way cleans up."""
    handler = current_handler()
    if isinstance(handler, StopOnce):
        signal.signal(signal.SIGINT, IgnoreInterrupt(handler))


def accept_interrupts() -> None:
    """Let the next Ctrl-C stop the command: the last one only ended a search inside it."""
    handler = current_handler()
    if isinstance(handler, IgnoreInterrupt):
        signal.signal(signal.SIGINT, handler.stop)


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

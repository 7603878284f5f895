"""Progress: a bar on a terminal, or one JSON object a line for scripts: what is being done, and at last the result."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, TextIO

from kech.system.console import Listener, listen

PATIENCE = 1.0  # seconds before a progress bar appears
PAUSE = 0.5  # seconds between two lines about the same work
_hide: ContextVar[Callable[[], None]] = ContextVar("hide", default=lambda: None)


@contextmanager
def show_progress() -> Iterator[None]:
    """A progress bar on a terminal, once the work has taken longer than a second."""
    if not sys.stderr.isatty():
        yield
        return
    show_progress, hider = build_bar()
    token = _hide.set(hider)
    try:
        with listen(show_progress):
            yield
    finally:
        hider()
        _hide.reset(token)


def hide() -> None:
    """Take the progress bar off the terminal, for something else to be written; the next report brings it back."""
    _hide.get()()


def build_bar() -> tuple[Listener, Callable[[], None]]:
    """A progress bar that appears when patience ends: the function that moves it, and the one that takes it away."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    drawn = Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    )
    drawn.add_task("starting", total=None)
    left, timer = estimate(), wait_for(drawn.start)

    def show_progress(what: str, share: float | None) -> None:
        nonlocal timer
        work = drawn.tasks[0]  # `update` would stop its clock for good at the first share of 1
        work.description = what + left(share)
        work.total, work.completed = None if share is None else 1.0, share or 0.0
        if timer.finished.is_set() and not drawn.live.is_started:
            timer = wait_for(drawn.start)

    def hider() -> None:
        timer.cancel()
        timer.join()  # it may be about to show the bar
        drawn.live.stop()

    return show_progress, hider


def wait_for(start: Callable[[], None]) -> threading.Timer:
    """A timer that calls a function when patience ends."""
    timer = threading.Timer(PATIENCE, start)
    timer.daemon = True
    timer.start()
    return timer


def estimate(now: Callable[[], float] = monotonic) -> Callable[[float | None], str]:
    """How long the work under way will take, roughly: as long for what is left as for what was done."""
    began, first, last = now(), 0.0, 0.0

    def tell_rest(share: float | None) -> str:
        nonlocal began, first, last
        if share is None or share < last:  # other work began
            began, first = now(), share or 0.0
        last = share or 0.0
        spent = now() - began
        if share is None or share <= first or spent < PATIENCE:
            return ""
        seconds = spent * (1 - share) / (share - first)
        return f", about {seconds / 60:.0f} min left" if seconds >= 90 else f", about {seconds:.0f} s left"

    return tell_rest


# -- lines for scripts -----------------------------------------------------------------------------------


@contextmanager
def stream_progress() -> Iterator[None]:
    """Tell what is being done, when that changes and twice a second."""
    last: tuple[str, float] = "", 0.0

    def show_progress(what: str, share: float | None) -> None:
        nonlocal last
        now = monotonic()
        if what != last[0] or now - last[1] >= PAUSE:
            last = what, now
            say({"doing": what, "share": share})

    with listen(show_progress):
        yield


def dump_line(line: dict[str, Any], stream: TextIO) -> str:
    """One object in a line of JSON, with escapes where the stream is in a code page of Windows."""
    is_unicode = (stream.encoding or "utf").lower().startswith("utf")
    return json.dumps(line, ensure_ascii=not is_unicode, allow_nan=False) + "\n"


def say(line: dict[str, Any]) -> None:
    """One object, at once."""
    sys.stdout.write(dump_line(line, sys.stdout))
    sys.stdout.flush()

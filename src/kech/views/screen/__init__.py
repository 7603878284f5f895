"""Screen: how results look on a terminal.  Results go to standard output, progress and refusals to standard error."""

import json
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from time import monotonic
from typing import Any

from kech.errors import DoubtfulColumn, KechError, ResourceError
from kech.system.interrupts import STOPPED
from kech.system.progress import Listener, listen, report
from kech.views.screen.lines import say

PATIENCE = 1.0  # seconds before a progress bar appears
_hide: ContextVar[Callable[[], None]] = ContextVar("hide", default=lambda: None)


def show(found: dict[str, Any], as_json: bool, draw: Callable[[dict[str, Any]], None], *, last: bool = False) -> None:
    """One JSON object, a drawing of it, or the last of many lines."""
    hide()
    if as_json or last:
        say({"result": found} if last else found)
    else:
        draw(found)
    sys.stdout.flush()


def nothing(found: dict[str, Any]) -> None:
    """Draw nothing."""
    del found


def script(found: dict[str, Any]) -> None:
    """The script itself, for a shell to read."""
    sys.stdout.write(found["script"])


SHOWN = "Your browser opens this page. If it does not, press Ctrl-C and use kech studio --no-browser.\n"
ONE_TIME = (
    "Paste this address into your browser within 10 minutes; it opens once. Do not put it into a command: other users "
    "of this machine can read command lines.\n"
)


def opened(found: dict[str, Any]) -> None:
    """The address of the studio, alone on the first line."""
    sys.stdout.write(f"{found['address']}\n")
    sys.stdout.write(SHOWN if found["browser"] else ONE_TIME)
    sys.stdout.write(f"Releases go to folders below {found['folder']}. Ctrl-C ends the studio.\n")


def refuse(refusal: KechError, as_json: bool) -> int:
    """Say what was refused; the exit code."""
    complain(told(refusal), as_json)
    return refusal.exit_code


def stop(pressed: KeyboardInterrupt, as_json: bool) -> int:
    """Say that Ctrl-C was heard, and what it leaves where that is known; the exit code."""
    message = "; ".join(["Stopped", *getattr(pressed, "__notes__", ())]) + "."
    complain({"error": "Stopped", "message": message, "exit_code": STOPPED}, as_json)
    return STOPPED


@contextmanager
def leaving(what: str) -> Iterator[None]:
    """Say what Ctrl-C leaves while this is being done."""
    try:
        yield
    except KeyboardInterrupt as pressed:
        pressed.add_note(what)
        raise


def complain(about: dict[str, Any], as_json: bool) -> None:
    """One line among the errors."""
    line = json.dumps(about, ensure_ascii=False) if as_json else f"kech: {about['message']}"
    sys.stderr.write(line + "\n")


def told(refusal: KechError) -> dict[str, Any]:
    """A refusal as JSON."""
    return {"error": type(refusal).__name__, "message": refusal.typed, "exit_code": refusal.exit_code}


@contextmanager
def warning(as_json: bool) -> Iterator[None]:
    """Say what is doubtful, each thing once."""
    usual = warnings.showwarning

    def say_it(message: Warning | str, *where: Any) -> None:
        hide()
        if not isinstance(message, DoubtfulColumn):
            usual(message, *where)
        elif as_json:
            line = {"warning": type(message).__name__, "message": message.typed}
            sys.stderr.write(json.dumps(line, ensure_ascii=False) + "\n")
        else:
            sys.stderr.write(f"kech: warning: {message.typed}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("default", DoubtfulColumn)
        warnings.showwarning = say_it  # type: ignore[assignment]
        yield


def internal(fault: Exception) -> KechError:
    """A fault of kech itself: where it happened, without the values a traceback would show."""
    if os.environ.get("KECH_DEBUG"):
        traceback.print_exception(fault)
    frames = [frame for frame in traceback.extract_tb(fault.__traceback__) if "kech" in frame.filename]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"
    return ResourceError(
        f"Internal fault: {type(fault).__name__} at {where}. Please report it; KECH_DEBUG=1 shows more."
    )


# -- progress ----------------------------------------------------------------------------------------------


def doing(what: str) -> None:
    """Tell whoever watches."""
    report(what)


def hide() -> None:
    """Take the progress bar off the terminal, for something else to be written; the next report brings it back."""
    _hide.get()()


@contextmanager
def watching() -> Iterator[None]:
    """A progress bar on a terminal, once the work has taken longer than a second."""
    if not sys.stderr.isatty():
        yield
        return
    hear, hider = bar()
    token = _hide.set(hider)
    try:
        with listen(hear):
            yield
    finally:
        hider()
        _hide.reset(token)


def bar() -> tuple[Listener, Callable[[], None]]:
    """A progress bar that appears when patience ends: what it hears, and what takes it away."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    drawn = Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    )
    drawn.add_task("starting", total=None)
    left, timer = estimate(), wait_for(drawn.start)

    def hear(what: str, share: float | None) -> None:
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

    return hear, hider


def wait_for(start: Callable[[], None]) -> threading.Timer:
    """Do it when patience ends."""
    timer = threading.Timer(PATIENCE, start)
    timer.daemon = True
    timer.start()
    return timer


def estimate(now: Callable[[], float] = monotonic) -> Callable[[float | None], str]:
    """How long the work under way will take, roughly: as long for what is left as for what was done."""
    began, first, last = now(), 0.0, 0.0

    def left(share: float | None) -> str:
        nonlocal began, first, last
        if share is None or share < last:  # other work began
            began, first = now(), share or 0.0
        last = share or 0.0
        spent = now() - began
        if share is None or share <= first or spent < PATIENCE:
            return ""
        seconds = spent * (1 - share) / (share - first)
        return f", about {seconds / 60:.0f} min left" if seconds >= 90 else f", about {seconds:.0f} s left"

    return left

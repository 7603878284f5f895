"""Screen: how results look on a terminal.  Results go to standard output, progress and refusals to standard error."""

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import Any

from kech.errors import DoubtfulColumn, KechError, RepeatedPeople, ResourceError
from kech.system.console import INTERRUPT_EXIT_CODE, report
from kech.views.screen.progress import dump_line, hide, say

DOUBTS = (DoubtfulColumn, RepeatedPeople)


def show(result: dict[str, Any], as_json: bool, draw: Callable[[dict[str, Any]], None], *, last: bool = False) -> None:
    """One JSON object, a drawing of it, or the last of many lines."""
    hide()
    if as_json or last:
        say({"result": result} if last else result)
    else:
        draw(result)
    sys.stdout.flush()


def print_nothing(result: dict[str, Any]) -> None:
    """Draw nothing."""
    del result


def print_script(result: dict[str, Any]) -> None:
    """The script itself, for a shell to read."""
    sys.stdout.write(result["script"])


def ask(question: str) -> bool:
    """Whether the user says yes on the terminal; the question goes to standard error."""
    hide()
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


SHOWN = "Your browser opens this page. If it does not, press Ctrl-C and use kech studio --no-browser.\n"
ONE_TIME = (
    "Paste this address into your browser within 10 minutes; it opens once. Do not put it into a command: other users "
    "of this machine can read command lines.\n"
)


def print_address(result: dict[str, Any]) -> None:
    """The address of the studio, alone on the first line."""
    sys.stdout.write(f"{result['address']}\n")
    sys.stdout.write(SHOWN if result["browser"] else ONE_TIME)
    sys.stdout.write(f"Releases go to folders below {result['folder']}. Ctrl-C ends the studio.\n")


def refuse(refusal: KechError, as_json: bool) -> int:
    """Say what was refused; the exit code."""
    complain(describe_refusal(refusal), as_json)
    return refusal.exit_code


def stop(pressed: KeyboardInterrupt, as_json: bool) -> int:
    """Say that Ctrl-C was heard, and what it leaves where that is known; the exit code."""
    message = "; ".join(["Stopped", *getattr(pressed, "__notes__", ())]) + "."
    complain({"error": "Stopped", "message": message, "exit_code": INTERRUPT_EXIT_CODE}, as_json)
    return INTERRUPT_EXIT_CODE


@contextmanager
def note_interrupt(what: str) -> Iterator[None]:
    """Say what Ctrl-C leaves while this is being done."""
    try:
        yield
    except KeyboardInterrupt as pressed:
        pressed.add_note(what)
        raise


def complain(about: dict[str, Any], as_json: bool) -> None:
    """One line among the errors."""
    sys.stderr.write(dump_line(about, sys.stderr) if as_json else break_lines(f"kech: {about['message']}") + "\n")


def break_lines(text: str) -> str:
    """A message in lines of the terminal, which would break words; as it is where no terminal shows it."""
    if not sys.stderr.isatty():
        return text
    width = get_terminal_size().columns
    return "\n".join(fill(line, width, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))


def describe_refusal(refusal: KechError) -> dict[str, Any]:
    """A refusal as JSON."""
    return {"error": type(refusal).__name__, "message": refusal.typed, "exit_code": refusal.exit_code}


@contextmanager
def show_warnings(as_json: bool) -> Iterator[None]:
    """Say what is doubtful, each thing once."""
    usual = warnings.showwarning

    def say_it(message: Warning | str, *where: Any) -> None:
        hide()
        if not isinstance(message, DOUBTS):
            usual(message, *where)
        elif as_json:
            line = {"warning": type(message).__name__, "message": message.typed}
            sys.stderr.write(dump_line(line, sys.stderr))
        else:
            sys.stderr.write(break_lines(f"kech: warning: {message.typed}") + "\n")

    with warnings.catch_warnings():
        for doubt in DOUBTS:
            warnings.simplefilter("default", doubt)
        warnings.showwarning = say_it  # type: ignore[assignment]
        yield


def report_fault(fault: Exception) -> KechError:
    """A fault of kech itself: where it happened, without the values a traceback would show."""
    if os.environ.get("KECH_DEBUG"):
        traceback.print_exception(fault)
    frames = [frame for frame in traceback.extract_tb(fault.__traceback__) if "kech" in frame.filename]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"
    return ResourceError(
        f"Internal fault: {type(fault).__name__} at {where}. Please report it; KECH_DEBUG=1 shows more."
    )


def doing(what: str) -> None:
    """Report what is being done."""
    report(what)

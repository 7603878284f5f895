"""The command line: a command parses, makes one library call, shows."""

import re
import shlex
import sys
from collections.abc import Sequence
from difflib import SequenceMatcher

import cyclopts

import kech
from kech.cli import completions, ledgers, previews, reports, risks, shapes, studio, tables
from kech.cli.intake import app, hide_password, point_to_plan
from kech.errors import CLOSE, KechError, NoQuasiIdentifier, UsageError
from kech.system.console import interrupt_once
from kech.views import screen
from kech.views.screen.progress import show_progress, stream_progress

__all__ = [
    "app",
    "completions",
    "ledgers",
    "main",
    "previews",
    "reports",
    "risks",
    "shapes",
    "studio",
    "tables",
]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; a refusal becomes a message and an exit code, here and nowhere else."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    lines = "--json-lines" in words
    as_json = lines or "--json" in words
    with interrupt_once(arguments is None), screen.show_warnings(as_json):
        try:
            with stream_progress() if lines else show_progress():
                app(words, exit_on_error=False, print_error=False)
        except cyclopts.CycloptsError as misuse:
            message = hide_passwords(suggest_close(str(misuse)), words)
            command = " ".join(["kech", *(misuse.command_chain or ())])
            sys.exit(screen.refuse(UsageError(f"{message} Run {command} --help."), as_json))
        except NoQuasiIdentifier as refusal:
            typed = shlex.join(["kech", *map(hide_password, words)])
            sys.exit(screen.refuse(NoQuasiIdentifier(refusal.suggested, typed), as_json))
        except KechError as refusal:
            sys.exit(screen.refuse(point_to_plan(refusal, words), as_json))
        except MemoryError:
            sys.exit(screen.refuse(kech.errors.OutOfMemory("working"), as_json))
        except KeyboardInterrupt as pressed:
            sys.exit(screen.stop(pressed, as_json))
        except Exception as fault:  # a traceback would show cells
            sys.exit(screen.refuse(screen.report_fault(fault), as_json))


def suggest_close(message: str) -> str:
    """The message, without its suggestion where that is not similar to the typed word; the usual commands come last."""
    message = re.sub(r" Available commands: .*", " Usual ones: inspect, release, verify, report.", message)
    suggestion = re.search(r'Unknown \w+:? "?([^\s"]+?)"?\.( Did you mean "?([^\s"]+?)"?\?)', message)
    if suggestion and SequenceMatcher(None, suggestion[1], suggestion[3]).ratio() < CLOSE:
        return message.replace(suggestion[2], "", 1)
    return message


def hide_passwords(message: str, words: Sequence[str]) -> str:
    """The message, without the passwords of addresses that it quotes from the command."""
    for word in words:
        message = message.replace(word, hide_password(word)) if "://" in word else message
    return message

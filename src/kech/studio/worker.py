"""Worker: a child process that answers questions about one table; it can be killed at any moment.

Questions come as frames on standard input, answers and progress go as frames to standard output; nothing else does.
A frame is a letter (p progress, a answer, r refusal), a length and JSON.
"""

import json
import os
import queue
import struct
import sys
import threading
import time
from typing import Any, BinaryIO

import msgspec

from kech.errors import BadOption, KechError, OutOfMemory
from kech.request import Request
from kech.studio.verbs import VERBS, TableSession, open_session
from kech.system.console import listen
from kech.system.machine import limit_this_process
from kech.views import screen

UNKNOWN_QUESTION = "the page sent what kech does not understand. Reload the page, and try again."
HEADER = struct.Struct(">cI")
PAUSE = 0.1  # seconds between two reports of progress


class Question(msgspec.Struct):
    """What the server hands over."""

    verb: str
    path: str
    name: str  # the table as its owner knows it
    plan: Request
    options: msgspec.Raw


def main() -> None:
    """Answer until standard input ends; the argument is the memory that may be used, in bytes."""
    limit_this_process(int(sys.argv[1]))  # a table that blows up takes its worker down, not the machine
    questions: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=read_questions, args=(sys.stdin.buffer, questions), daemon=True).start()
    session: TableSession | None = None
    while True:
        session = answer(msgspec.json.decode(questions.get(), type=Question), session)


def read_questions(stream: BinaryIO, questions: "queue.SimpleQueue[bytes]") -> None:
    """Read questions ahead; when the server is gone, end the worker at once."""
    while header := stream.read(HEADER.size):
        questions.put(stream.read(HEADER.unpack(header)[1]))
    os._exit(0)


def answer(question: Question, session: TableSession | None) -> TableSession | None:
    """Answer one question; the table stays open for the next."""
    try:
        with listen(reporter()):
            session = open_session(question.path, question.plan, session)
            content = VERBS[question.verb].answer(session, read_options(question))
        send(b"a", content)
    except KechError as refusal:
        send_refusal(question, refusal)
    except MemoryError:
        send_refusal(question, OutOfMemory("working"))
    except Exception as fault:  # a traceback would show cells
        send_refusal(question, screen.report_fault(fault))
    return session


def read_options(question: Question) -> Any:
    """The options of a verb, checked."""
    try:
        return msgspec.json.decode(question.options, type=VERBS[question.verb].options)
    except msgspec.ValidationError:
        raise BadOption(question.verb, UNKNOWN_QUESTION) from None


def reporter() -> Any:
    """A function that sends progress to the server, at most a few times a second."""
    last = 0.0

    def report(doing: str, share: float | None) -> None:
        nonlocal last
        if time.monotonic() - last > PAUSE:
            last = time.monotonic()
            send(b"p", {"doing": doing, "share": share})

    return report


def send_refusal(question: Question, refusal: KechError) -> None:
    """A refusal, in which the table has the name its owner gave it."""
    description = screen.describe_refusal(refusal)
    description["message"] = description["message"].replace(question.path, question.name)
    send(b"r", description)


def send(letter: bytes, content: dict[str, Any]) -> None:
    """Send one frame to the server: a letter and its content."""
    body = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    sys.stdout.buffer.write(HEADER.pack(letter, len(body)) + body)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

"""Jobs: questions on their way.  A lane is a child process that answers one question after another."""

import asyncio
import os
import secrets
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from kech.studio.worker import HEADER
from kech.system.machine import sysconf

READING, WORKING = 120.0, 3600.0  # seconds a question may take that only reads, or any other
MEMORY = int(sysconf("SC_PAGE_SIZE") * sysconf("SC_PHYS_PAGES") * 0.75)  # bytes one child may take
INHERITED = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "PYTHONPATH",
    "LD_LIBRARY_PATH",
    "KECH_HOME",
    "KECH_KEY_FILE",
    "XDG_STATE_HOME",
    "SYSTEMROOT",  # without it, Python does not start on Windows
    "USERPROFILE",
)


@dataclass(eq=False)
class Job:
    """One question and what became of it."""

    verb: str
    question: bytes
    seconds: float
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: str = "waiting"  # then running, and at last done, refused or cancelled
    doing: str = "waiting"
    share: float | None = None
    command: str | None = None  # that does the same, where one was named
    body: bytes = b""
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def end(self, state: str, body: bytes) -> None:
        """Say what became of it, once."""
        if not self.over.is_set():
            self.state, self.body = state, body
            self.over.set()

    def refuse(self, error: str, message: str, exit_code: int = 5) -> None:
        """End without an answer."""
        refusal = {"error": error, "message": message, "exit_code": exit_code}
        self.end("cancelled" if error == "Cancelled" else "refused", msgspec.json.encode(refusal))

    def to_json(self) -> dict[str, Any]:
        """How far it is."""
        fields = ("verb", "state", "doing", "share", "command")
        return {"job": self.id} | {name: getattr(self, name) for name in fields}


class Lane:
    """One child process at a time, started when it is needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # for its temporary files
        self.process: Process | None = None
        self.current: Job | None = None
        self.turn = asyncio.Lock()

    async def run(self, job: Job) -> None:
        """Wait for the others, ask, and listen until the answer comes or time is up."""
        async with self.turn:
            if job.over.is_set():
                return
            self.current, job.state, job.doing = job, "running", "starting"
            try:
                await asyncio.wait_for(self.ask(job), job.seconds)
            except TimeoutError:
                self.kill()
                job.refuse("ResourceError", f"It took longer than {job.seconds:.0f} seconds and was stopped.")
            except (asyncio.IncompleteReadError, ConnectionError):
                self.kill()
                job.refuse("ResourceError", "The worker ended: most likely the memory it may use was not enough.")
            except OSError as failure:
                job.refuse(
                    "ResourceError", f"The worker cannot be started: {(failure.strerror or 'no reason').lower()}."
                )
            finally:
                self.current = None

    async def ask(self, job: Job) -> None:
        """Send the question; take progress until something else comes."""
        process = await self.start()
        if job.over.is_set():  # cancelled while the child started
            await self.close()
            return
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(HEADER.pack(b"q", len(job.question)) + job.question)
        await process.stdin.drain()
        while True:
            letter, length = HEADER.unpack(await process.stdout.readexactly(HEADER.size))
            body = await process.stdout.readexactly(length)
            if letter != b"p":
                job.end("done" if letter == b"a" else "refused", body)
                return
            progress = msgspec.json.decode(body)
            job.doing, job.share = progress["doing"], progress["share"]

    async def warm(self) -> None:
        """Start the child before its first question, so that this one need not wait for it."""
        async with self.turn:
            with suppress(OSError):  # the first question tells
                await self.start()

    async def start(self) -> Process:
        """The child that waits for a question; standard error goes nowhere, for it could show cells."""
        if self.process is None or self.process.returncode is not None:
            known = {name: os.environ[name] for name in INHERITED if name in os.environ}
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "kech.studio.worker", str(MEMORY),
                stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd=self.folder, start_new_session=True,
                env=known | {"TMPDIR": str(self.folder)},
            )  # fmt: skip
        return self.process

    def cancel(self, job: Job) -> None:
        """A running question ends with its child; one that waits is never asked."""
        job.refuse("Cancelled", "Cancelled.", 130)
        if self.current is job:
            self.kill()

    async def close(self) -> None:
        """End the child and wait until it is gone."""
        process = self.process
        self.kill()
        if process is not None:
            await process.wait()

    def kill(self) -> None:
        """End the child."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
        self.process = None

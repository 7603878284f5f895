"""Core: what the harnesses share: a tally with its figure, kech as a user runs it, and work in a child process.

A harness counts cases and faults it injected, and names every loss.  Its figure goes to campaign/results/NAME.json.
Nothing of kech is imported before it is used: coverage and mutation are there first.
"""

import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
EVERY = ("-m", "not package")  # test of the suite, those that take long too
SHOWN = 10  # losses that are printed


def commit() -> str:
    """Which kech is attacked, and whether its source is another by now."""
    here = ask_git("rev-parse", "--short", "HEAD")
    return f"{here}-dirty" if ask_git("status", "--porcelain", "--", "src") else here or "unknown"


def ask_git(*words: str) -> str:
    """What git says of this checkout; nothing where there is none."""
    asked = ["git", "-C", str(ROOT), *words]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


@dataclass
class Tally:
    """What a harness tried and what it found."""

    name: str
    cases: int = 0
    faults: int = 0  # injected by the harness
    losses: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    lists: dict[str, Any] = field(default_factory=dict)  # written down, not printed
    started: float = field(default_factory=time.monotonic)
    commit: str = field(default_factory=commit)  # when it begins

    def expect(self, holds: bool, loss: str) -> bool:
        """Whether it holds; a loss is kept in words."""
        if not holds:
            self.losses.append(loss)
            print(f"LOSS {loss}", flush=True)
        return holds

    def close(self) -> int:
        """Write the figures down, print them last; the exit code."""
        self.write()
        more = "".join(f", {name.replace('_', ' ')} {value}" for name, value in self.figures.items())
        print(f"{self.name}: {self.cases:,} cases, {self.faults:,} faults injected{more}, {len(self.losses)} losses")
        return 1 if self.losses else 0

    def write(self) -> None:
        """Write the figures down as they are by now."""
        found = {
            "name": self.name,
            "cases": self.cases,
            "faults": self.faults,
            "losses": self.losses[:SHOWN],
            "lost": len(self.losses),
            "seconds": round(time.monotonic() - self.started, 1),
            "commit": self.commit,
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            **self.figures,
            **self.lists,
        }
        RESULTS.mkdir(exist_ok=True)
        draft = RESULTS / f".{self.name}.json"
        draft.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
        draft.replace(RESULTS / f"{self.name}.json")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command left: its exit code and both streams."""

    code: int
    out: str
    err: str


def run_kech(*words: object) -> Outcome:
    """A command in this process; what main does not catch is raised."""
    from kech.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main([str(word) for word in words])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
    return Outcome(code, out.getvalue(), err.getvalue())


@contextmanager
def own_place(where: str = "/tmp") -> Iterator[Path]:  # which nobody must be able to reach
    """A folder that holds everything a harness writes: temporary files and ledger too."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="campaign-", dir=where) as name:
        folder = Path(name)
        use_place(folder)
        try:
            yield folder
        finally:
            os.environ.clear()
            os.environ.update(before)
            tempfile.tempdir = None


def use_place(folder: Path) -> None:
    """Temporary files, the ledger and a key that is always the same lie below the folder from now on."""
    for name, variable in (("tmp", "TMPDIR"), ("home", "KECH_HOME")):
        (folder / name).mkdir(exist_ok=True)
        os.environ[variable] = str(folder / name)
    tempfile.tempdir = str(folder / "tmp")
    from kech.tables.demo import write_demo_key

    os.environ["KECH_KEY_FILE"] = str(write_demo_key(folder))


# -- work in a child -------------------------------------------------------------------------------------------------

FORK = multiprocessing.get_context("fork")  # the parent opens no engine, so it has no threads


@dataclass(frozen=True, slots=True)
class Answer:
    """What a child said last: "done", "refused" with the exit code, "fault", or "killed"."""

    word: str
    value: Any = None


class Child:
    """A process that does one piece of work and may be killed at it."""

    def __init__(self, work: Callable[..., Any], *given: Any) -> None:
        self.hears, says = FORK.Pipe(duplex=False)
        self.process = FORK.Process(target=work_aloud, args=(says, work, given), daemon=True)
        self.process.start()
        says.close()

    def wait_for(self, word: str, seconds: float = 120.0) -> Answer:
        """The next thing said under this word, or the last thing said of all."""
        end = time.monotonic() + seconds
        while self.hears.poll(max(0.0, end - time.monotonic())):
            try:
                answer = self.hears.recv()
            except EOFError:
                return Answer("killed")
            if answer.word in (word, "done", "refused", "fault"):
                return answer
        return Answer("hung")

    def kill(self) -> None:
        """End it as the system would."""
        if self.process.pid is not None:
            os.kill(self.process.pid, signal.SIGKILL)

    def result(self, seconds: float = 120.0) -> Answer:
        """What it said last; a child that hangs is killed."""
        answer = self.wait_for("done", seconds)
        if answer.word == "hung":
            self.kill()
        self.process.join()
        self.hears.close()
        return answer


def work_aloud(says: Any, work: Callable[..., Any], given: tuple[Any, ...]) -> None:
    """Do the work and say how it ended; `say` lets the work tell how far it is."""
    from kech.errors import KechError

    try:
        says.send(Answer("done", work(*given, say=lambda word: says.send(Answer(word, time.monotonic())))))
    except KechError as refusal:
        says.send(Answer("refused", (refusal.exit_code, type(refusal).__name__)))
    except BaseException as fault:
        says.send(Answer("fault", f"{type(fault).__name__}: {fault}"))
    finally:
        says.close()
        sys.stdout.flush()
        os._exit(0)


def import_all() -> None:
    """Import once what every child would import again; pyarrow brings pandas along where it is installed."""
    heavy = ("duckdb", "pandas", "pyarrow.csv", "pyarrow.dataset", "pyarrow.parquet", "scipy.spatial", "ripser")
    for name in (*heavy, "kech.tables.duckdb"):
        if find_spec(name.partition(".")[0]):
            import_module(name)


def in_child(work: Callable[..., Any], *given: Any) -> Any:
    """The result of work that opens an engine, done in a child so that this process can go on forking."""
    answer = Child(work, *given).result()
    if answer.word != "done":
        raise RuntimeError(f"{work.__name__}: {answer.word} {answer.value}")
    return answer.value

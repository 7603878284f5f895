"""Examples: the code in the pages runs, and prints what the pages say.

usage: python docs/_code/examples.py          runs every page and writes down what its commands print

    ```python    statements, or a session with >>> whose output is compared
    ```sh        one command a line; those of kech run, and must end with 0
    ```console   commands after a $, each followed by what it prints

A block marked `not-run: REASON` is left alone.  Blocks of a page share a folder and their names.
"""

import doctest
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kech.cli import main as run_kech
from kech.tables.demo import generate_town, write_csv, write_demo_key

ROOT = Path(__file__).parents[2]
PEOPLE = 400
WIDTH = "100"  # of the terminal, in letters
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
NOT_RUN = re.compile(r"not-run: \S.*")


class BadExample(Exception):
    """A page shows what does not run, or what is not printed."""


@dataclass(frozen=True)
class Block:
    """A block of code and where its text lies in the page."""

    language: str
    mark: str
    text: str
    start: int
    stop: int

    @property
    def runs(self) -> bool:
        """Whether it is to be run."""
        return not NOT_RUN.fullmatch(self.mark)


def main() -> None:
    """Write down what commands print today."""
    for path in list_pages():
        if any(block.language == "console" for block in find_blocks(path.read_text("utf-8"))):
            with tempfile.TemporaryDirectory() as folder:
                path.write_text(refreshed(path, Path(folder)), "utf-8")


def list_pages() -> list[Path]:
    """Every page that may hold examples."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def find_blocks(text: str) -> Iterator[Block]:
    """Blocks of code; one without a language that begins with a command of kech is a list of commands."""
    for found in BLOCK.finditer(text):
        language, _, mark = found[1].partition(" ")
        named = language or ("sh" if found[2].startswith("kech ") else "")
        yield Block(named, mark, found[2], found.start(2), found.end(2))


def run_page(path: Path, folder: Path) -> int:
    """Run the examples of a page in a folder; how many ran."""
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = [block for block in find_blocks(path.read_text("utf-8")) if block.runs]
    with prepared(folder):
        for block in blocks:
            run_block(block, names)
    return sum(block.language in ("python", "sh", "console") for block in blocks)


@contextmanager
def prepared(folder: Path) -> Iterator[None]:
    """In the folder, with people to work on and the tables of the tutorials."""
    write_csv(generate_town(PEOPLE), folder / "people.csv")
    for table in (ROOT / "docs" / "tutorials").glob("*.csv"):
        shutil.copy(table, folder)
    with chdir(folder):
        yield


def run_block(block: Block, names: dict[str, object]) -> None:
    """Run one block and compare what it prints.

    Commands and Python have a ledger each: a reader takes the one way or the other, and releases a table once.
    """
    with own_ledger("python" if block.language == "python" else "commands"):
        run_lines(block, names)


def own_ledger(name: str) -> AbstractContextManager[Any]:
    """A ledger in this folder, and the key of the demo: the manual prints the same figures everywhere."""
    home = Path.cwd() / f"ledger-{name}"
    home.mkdir(mode=0o700, exist_ok=True)
    return patch.dict(os.environ, KECH_HOME=str(home), KECH_KEY_FILE=str(write_demo_key(home)))


def run_lines(block: Block, names: dict[str, object]) -> None:
    """Run what a block says in its language."""
    if block.language == "python" and ">>>" in block.text:
        run_session(block.text, names)
    elif block.language == "python":
        exec(compile(block.text, "<example>", "exec"), names)
    elif block.language == "sh":
        for line in commands(block.text):
            run_command(line)
    elif block.language == "console":
        for line, said in sessions(block.text):
            if not doctest.OutputChecker().check_output(said, run_command(line), doctest.ELLIPSIS):
                raise BadExample(f"prints something else today: {line}. Run python docs/_code/examples.py.")


def run_session(text: str, names: dict[str, object]) -> None:
    """A session of Python, compared with what it says; names stay for the next one."""
    test = doctest.DocTestParser().get_doctest(text, {}, "example", None, None)
    test.globs = names
    said = StringIO()
    options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    found = doctest.DocTestRunner(optionflags=options).run(test, out=said.write, clear_globs=False)
    if found.failed or not found.attempted:
        raise BadExample(said.getvalue())


def commands(text: str) -> list[str]:
    """The commands of kech in a block, without what is said about them."""
    lines = [re.sub(r"\s+#.*", "", line).strip() for line in text.splitlines()]
    foreign = [line for line in lines if line and not line.startswith(("kech ", "#"))]
    if foreign:
        raise BadExample(f"not a command of kech, and not marked as not-run: {foreign[0]}")
    return [line for line in lines if line.startswith("kech ")]


def sessions(text: str) -> Iterator[tuple[str, str]]:
    """Commands after a $, each with what it is said to print."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.M)
    yield from zip(parts[1::2], parts[2::2], strict=True)


def run_command(line: str) -> str:
    """What a command prints; it must end with 0."""
    out, err = StringIO(), StringIO()
    with patch.dict(os.environ, COLUMNS=WIDTH), redirect_stdout(out), redirect_stderr(err):
        try:
            run_kech(shlex.split(line)[1:])
        except SystemExit as stop:
            if stop.code:
                raise BadExample(f"{line} ends with {stop.code}: {err.getvalue()}") from None
    return "".join(f"{part.rstrip()}\n" for part in out.getvalue().splitlines())


def refreshed(path: Path, folder: Path) -> str:
    """The page, with what its commands print today; sessions of Python stay as they are."""
    text, names = path.read_text("utf-8"), dict[str, object]()
    made, last = "", 0
    with prepared(folder):
        for block in find_blocks(text):
            if block.language == "console" and block.runs:
                with own_ledger("commands"):
                    said = "".join(f"$ {line}\n{run_command(line)}" for line, _ in sessions(block.text))
                made, last = made + text[last : block.start] + said, block.stop
            elif block.runs:
                run_block(block, names)
    return made + text[last:]


if __name__ == "__main__":
    main()

"""Tools: how each tool is started on a table; anything that reads CSV and writes CSV can be one.

A tool of your own is a command line with these words in braces: {source}, {target}, {k}, {quasi_identifiers} (with
commas between), {numbers}, {sensitive}.  It writes one line for each published row, with the names of the columns
first: the quasi-identifiers as labels, and the sensitive column as it is.  Labels may be a value, `[lo, hi]`, `lo-hi`,
`<= x`, `>= x`, `{a, b}`, `a,b`, `a..b`, `12***` or `*`.
"""

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from string import Formatter

from benchmarks.public.families import PublicTable

BENCHMARKS = Path(__file__).parents[1]
PEERS = BENCHMARKS / "public" / "peers.py"
KECH = str(Path(sys.executable).with_name("kech"))

JOB_WORDS = ("source", "target", "k", "quasi_identifiers", "numbers", "sensitive")

Tool = Callable[[PublicTable, int, Path], list[str]]


def kech_tool(*options: str) -> Tool:
    """kech from the command line, with options."""

    def command(table: PublicTable, k: int, target: Path) -> list[str]:
        roles = ["--qi", ",".join(table.quasi_identifiers), "--sensitive", table.sensitive]
        return [KECH, "release", str(table.source), *roles, "--k", str(k), "--no-ledger", "-o", str(target), *options]

    return command


def script_tool(find_python: Callable[[], str], *start: str) -> Tool:
    """A script that takes a job as JSON in its last argument."""
    return lambda table, k, target: [find_python(), *start, json.dumps(describe_job(table, k, target))]


def own_tool(line: str) -> Tool:
    """A command line of one's choice; ValueError says why it cannot be started."""
    program, *more = shlex.split(line) or [""]
    if not program:
        raise ValueError("there is no command. Write NAME=COMMAND.")
    if shutil.which(program) is None:
        raise ValueError(f"there is no program {program}. Check the name, or write its path.")
    named = [name for word in more for _, name, _, _ in Formatter().parse(word) if name is not None]
    if unknown := [f"{{{name}}}" for name in named if name not in JOB_WORDS]:
        known = ", ".join(f"{{{name}}}" for name in JOB_WORDS)
        raise ValueError(f"nothing is called {', '.join(unknown)}. Write {known}.")

    def command(table: PublicTable, k: int, target: Path) -> list[str]:
        job = describe_job(table, k, target)
        words = {name: ",".join(value) if isinstance(value, tuple) else str(value) for name, value in job.items()}
        return [program, *(word.format(**words) for word in more)]

    return command


def describe_job(table: PublicTable, k: int, target: Path) -> dict[str, object]:
    """Everything a tool has to know."""
    roles = table.quasi_identifiers, table.numbers, table.sensitive
    return dict(zip(JOB_WORDS, (str(table.source), str(target), k, *roles), strict=True))


def known_tools(find_python: Callable[[], str]) -> dict[str, Tool]:
    """Every tool that has an adapter here; the Python of the peers is made when the first of them is started."""
    return {
        "kech": kech_tool(),
        "kech, exact edges": kech_tool("--grid", "exact"),
        "Mondrian": script_tool(find_python, str(PEERS), "mondrian"),
        "MDAV": script_tool(find_python, str(PEERS), "mdav"),
        "anonypy": script_tool(find_python, str(BENCHMARKS / "anonypy_peer.py")),
    }

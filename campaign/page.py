"""Page: campaign/pages/reliability.md, drawn from the figures of the last runs and from nothing else.

usage: python -m campaign.page          also: make reliability
"""

import json
import sys
from typing import Any

from campaign.core import RESULTS, ROOT

TRIED = {
    "crash": "`kill -9` before every file operation of a release and at random moments while it is written, over an "
    "earlier release: CSV, Parquet, a folder of the studio, tables of a DuckDB file and of PostgreSQL; full disks, "
    "read-only folders. "
    "Old or whole new, never a certificate ahead of its file, a ledger line for what is in its place and for nothing "
    "else, nothing left behind after the next run",
    "race": "two processes that share a ledger release into one target at the same time, one table or two: one whole "
    "release with its own certificate stands there, the ledger knows what was put in place, who lost was refused",
    "sanitize": "every kernel with checks of addresses and undefined behaviour, under the tests of the kernels and "
    "with adversarial arguments: no points, one, all equal, codes and weights at the limits of their types, wrong "
    "shapes, NaN and infinities",
    "fuzz": "random tables, plans, hierarchies, options and damaged bytes through the command line: no uncaught "
    "exception, no hang, exit codes 0, 2, 3, 4 and 5 only; what is released verifies and has its k by another count",
    "malformed": "bad files, columns, values, hierarchies, plans, options and targets, each with the exit code and the "
    "words it must end in; nothing is written",
    "canary": "a value planted in every cell is found in no output, log, warning, traceback, temporary file, report, "
    "certificate, ledger, answer of the studio or storage of the browser but where it was meant to be published; "
    "nor is a name of a file or folder, but on the screen of who typed it",
    "determinism": "the same table, plan and seed with one thread, with two, in another process, and on DuckDB and "
    "Spark: the same classes",
    "oracle": "random tables from frames, CSV and Parquet, with every cut, goal, form and limit at random, released, "
    "written and read again: k, l, t and alpha by SQL and by a counter, all models by their definitions, rows, labels, "
    "loss, rows left out; what a free cut refuses is out of reach. Where more was refused, k alone is released",
    "people": "random tables in which a person has 1 to 30 rows, with every cut, goal and protection: people of every "
    "class by SQL on the original joined to the release, l, t and alpha by rows and by people, nobody lost; what a "
    "free cut refuses is out of reach",
    "series": "random histories of a table, up to six versions with arrivals, departures, corrections, returns, twins, "
    "missing values and several rows of a person, released as a series: from the files and originals alone, no rows "
    "below k are told apart by all files together, no key has cells in two cohorts, no class grows or shrinks by few",
    "load": "the studio under parallel requests, bad uploads, slow clients, clients without its secret, killed "
    "workers: it answers, and its memory returns",
    "memory": "commands under `--memory`, each in a process of its own, on tables that do not fit: rows nearly all "
    "distinct, forty columns, long texts, a cell of 30 MB, different sensitive numbers, tables of DuckDB, second "
    "releases. None takes more than 1.3 times the limit or is killed; of "
    "those that are refused (exit code 5, `faults`), the number they name is enough",
    "soak": "random calls of the library in one process: its memory stays",
    "coverage": "lines and branches of the code that claims, checks and writes: its tests run each of them",
    "mutation": "small changes to the same code (operators, comparisons, conditions, numbers, names, keywords, "
    "returned values, calls), one at a time: a test must fail",
}
HEAD = """# Reliability

Made by `make reliability` from the last runs of the harnesses in `campaign/`; do not edit. Each is a make target that
prints its figure last. Each was first seen to fail on planted faults: `tests/test_campaign.py` plants them for crash,
race, fuzz, determinism, oracle, people, series, load, soak, coverage and mutation, `tests/test_memory.py` for memory,
`tests/test_bad_input.py` for malformed, `tests/test_canary.py` and `tests/test_studio_browser.py` for canary;
sanitize plants two whenever it runs. What a harness takes is given in `OPTIONS`: `make fuzz OPTIONS="--seconds
3600"`. Runs are as long as the column of seconds says, and no longer, and hold for the kech they ran on; what came
later they did not see. Of mutation, `not tried` are the changes for which there was no time, and nothing is known of
them.

| harness | cases | faults injected | losses | seconds | kech | day |
|---|---|---|---|---|---|---|
"""
PAGE = ROOT / "campaign" / "pages" / "reliability.md"
USUAL = {"name", "cases", "faults", "losses", "lost", "seconds", "commit", "date", "survivors"}
SURVIVORS = """
## Survivors

Changes that no test noticed, and why nobody could: nothing that a user sees changes. Others are lost. Lines are those
of the kech above.

| room | line | change | why nobody notices |
|---|---|---|---|
"""


def draw_page(found: list[dict[str, Any]]) -> str:
    """The whole page."""
    lines = [
        f"| `make {run['name']}` | {run['cases']:,} | {run['faults']:,} | {run['lost']:,} "
        f"| {run['seconds']:,.0f} | {run['commit']} | {run['date']} |"
        for run in found
    ]
    lines += [
        f"| `make {name}` | no run is kept | | | | | |" for name in TRIED if name not in {x["name"] for x in found}
    ]
    survivors = [one for run in found for one in run.get("survivors", ())]
    drawn = SURVIVORS + "".join(map(draw_survivor, survivors)) if survivors else ""
    return HEAD + "\n".join(lines) + "\n\n" + "\n".join(map(draw_run, found)) + "\n" + drawn


def draw_run(run: dict[str, Any]) -> str:
    """What was tried, its own figures, and what was lost."""
    own = [f"{name.replace('_', ' ')} {value:,}" for name, value in run.items() if name not in USUAL]
    lost = "".join(f"\n  - lost: {loss}" for loss in run["losses"])
    return f"- **{run['name']}**: {TRIED[run['name']]}. {', '.join(own)}".rstrip() + lost


def draw_survivor(one: dict[str, Any]) -> str:
    """A line of the table; bars would end a cell."""
    change = f"`{one['change']}`".replace("|", "\\|")
    return f"| {one['room']} | {one['line']} | {change} | {one['why'] or 'lost'} |\n"


def last_runs() -> list[dict[str, Any]]:
    """The figures that are kept."""
    return [
        json.loads((RESULTS / f"{name}.json").read_bytes()) for name in TRIED if (RESULTS / f"{name}.json").exists()
    ]


def main() -> int:
    """Write the page anew."""
    PAGE.write_text(draw_page(last_runs()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Public benchmark: any tool that takes CSV in and writes CSV out, on tables made from a seed and public ones.

usage: python -m benchmarks.public [--seed 1] [--rows 3000] [--k 5 10] [--families town firms ...] [--only kech ...]
                                   [--tool "NAME=COMMAND"] [--cap SECONDS] [--page]

A full run of all families, with the tools known here, writes benchmarks/pages/public.md; any other run only prints.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kech.tables.demo import write_demo_key

BENCHMARKS = Path(__file__).parents[1]
sys.path.insert(0, str(BENCHMARKS))  # scripts beside this package import each other by their plain names

from benchmarks.measure import run_once  # noqa: E402
from benchmarks.page import draw  # noqa: E402
from benchmarks.public import families, tools  # noqa: E402
from benchmarks.public.given import GIVEN, list_given  # noqa: E402
from benchmarks.public.judge import judge_release  # noqa: E402
from benchmarks.run import describe_run, peers_python  # noqa: E402

RESULTS, PAGE = BENCHMARKS / "results" / "public.json", BENCHMARKS / "pages" / "public.md"
EXACT = "kech, exact edges"
COLUMNS = {
    "loss": "{:.4f}",
    "k": "{}",
    "rows_lost": "{}",
    "smallest_crowd": "{}",
    "given_away": "{:.1%}",
    "edge": "{:.2f}",
    "inside": "{:.2f}",
    "cpu": "{:.1f}",
    "peak_mb": "{:.0f}",
}


def main() -> None:
    """Measure, or draw the page again."""
    choice = parse_arguments()
    if not choice.page:
        lines = []
        for line in run(choice):
            lines.append(line)
            print(json.dumps(line), flush=True)
        results = describe_run(choice.cap) | {"seed": choice.seed, "public": lines}
        print(draw_tables(results))
        if not is_whole(choice):
            return
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    PAGE.write_text(draw_page(json.loads(RESULTS.read_text("utf-8"))), "utf-8")


def parse_arguments() -> argparse.Namespace:
    """What was asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10])
    parser.add_argument("--families", nargs="+", choices=list_families(), default=list_families())
    parser.add_argument("--only", nargs="+", help="names of tools to run")
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=COMMAND", help=tools.__doc__)
    parser.add_argument("--cap", type=float, default=300, help="seconds after which a tool is stopped")
    parser.add_argument("--page", action="store_true", help="measure nothing; draw the page again")
    choice = parser.parse_args()
    choice.tools = choose_tools(choice, parser)
    return choice


def choose_tools(choice: argparse.Namespace, parser: argparse.ArgumentParser) -> dict[str, tools.Tool]:
    """The tools that run, by name; the parser says what is wrong with one of them."""
    known = tools.known_tools(peers_python)
    for name, _, command in (text.partition("=") for text in choice.tool):
        try:
            known[name] = tools.own_tool(command)
        except ValueError as fault:
            parser.error(f"--tool {name}: {fault}")
    if unknown := [name for name in choice.only or () if name not in known]:
        parser.error(f"--only: no tool is called {', '.join(unknown)}. Write {', '.join(known)}.")
    return {name: tool for name, tool in known.items() if name in (choice.only or known)}


def list_families() -> list[str]:
    """Families of tables made from a seed, and the public tables that are at hand."""
    return [*families.FAMILIES, *list_given()]


def is_whole(choice: argparse.Namespace) -> bool:
    """Whether everything was run that the page shows."""
    return not choice.tool and not choice.only and [*choice.families] == list_families() and choice.rows >= 3000


def run(choice: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """One line for each table, k and tool."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["KECH_KEY_FILE"] = str(write_demo_key(folder))  # the same figures for everybody
        for seed in choice.seed:
            for family in choice.families:
                table = families.make_table(family, choice.rows, seed, folder)
                for k in choice.k:
                    for name, tool in choice.tools.items():
                        yield {"family": family, "seed": seed, "asked_k": k, "tool": name} | run_tool(
                            tool, table, k, folder / "released.csv", choice.cap
                        )


def run_tool(tool: tools.Tool, table: families.PublicTable, k: int, target: Path, cap: float) -> dict[str, Any]:
    """What one tool took and what it wrote is worth."""
    target.unlink(missing_ok=True)
    Path(f"{target}.certificate.json").unlink(missing_ok=True)
    line = run_once(tool(table, k, target), cap)
    line.pop("said", None)
    if line["outcome"] != "done":
        return line
    if not target.exists():
        return line | {"outcome": "failed", "why": "it wrote no file"}
    try:
        judged = judge_release(table, target)
    except (ValueError, KeyError) as fault:
        return line | {"outcome": "failed", "why": f"its file cannot be judged: {fault}"[:200]}
    return line | {"loss": judged.pop("gcp")} | judged


def draw_tables(results: dict[str, Any]) -> str:
    """One table for each family and k; figures are means over the seeds."""
    lines = results["public"]
    parts = []
    for family, k in dict.fromkeys((line["family"], line["asked_k"]) for line in lines):
        here = [line for line in lines if (line["family"], line["asked_k"]) == (family, k)]
        names = dict.fromkeys(line["tool"] for line in here)
        rows = ([name, *average([line for line in here if line["tool"] == name])] for name in names)
        about = GIVEN[family].about if family in GIVEN else (families.FAMILIES[family].__doc__ or "").strip()
        heading = [column.replace("_", " ") for column in COLUMNS]
        parts.append(f"### {family}, k = {k}\n\n{about}\n\n" + draw(["tool", *heading], rows))
    return "\n\n".join(parts)


def say_least(lines: list[dict[str, Any]]) -> str:
    """On how many tables kech with exact edges loses least, and who loses less on the others."""
    losses: dict[tuple[str, int], dict[str, list[float]]] = {}
    for line in lines:
        if line["outcome"] == "done":
            tools_here = losses.setdefault((line["family"], line["asked_k"]), {})
            tools_here.setdefault(line["tool"], []).append(line["loss"])
    means = {table: {tool: sum(each) / len(each) for tool, each in here.items()} for table, here in losses.items()}
    best = {table: min(here, key=lambda tool: here[tool]) for table, here in means.items()}
    others = [f"{family} at k = {k} ({tool})" for (family, k), tool in best.items() if tool != EXACT]
    which = f"; less is lost on {', '.join(others)}" if others else ""
    return f"With exact edges it loses least of all on {len(best) - len(others)} of {len(best)} tables{which}."


def average(lines: list[dict[str, Any]]) -> list[str]:
    """Means of one tool over the seeds; of k and the smallest crowd the least."""
    failed = [line for line in lines if line["outcome"] != "done"]
    if failed:
        return [f"{failed[0]['outcome']} on {len(failed)} of {len(lines)}", *[""] * (len(COLUMNS) - 1)]
    cells = []
    for column, form in COLUMNS.items():
        figures = [line[column] for line in lines if line[column] is not None]
        least = column in ("k", "smallest_crowd")
        worth = None if not figures else min(figures) if least else sum(figures) / len(figures)
        cells.append("" if worth is None else form.format(round(worth) if column == "rows_lost" else worth))
    return cells


def draw_page(results: dict[str, Any]) -> str:
    """The page of the manual."""
    versions = ", ".join(f"{name} {value}" for name, value in results["versions"].items())
    meaning = (sys.modules[judge_release.__module__].__doc__ or "").split("\n\n")[-1].strip()
    return f"""# Public benchmark

Generated by `python -m benchmarks.public`; do not edit. Measured with {versions}; {results["machine"]["processor"]}.

Figures are means over the seeds {", ".join(map(str, results["seed"]))}; k and the smallest crowd are the least of them.
Loss is the mean width of all published cells. CPU is in seconds, memory in MB.
All tools get the same file. kech hides the ends of its intervals; *exact edges* publishes ends like the other tools.
Of text, the other tools print the values that occur in a class. kech prints others beside them and hides rare ones, and
so loses more on tables of codes.
{say_least(results["public"])}

```
{meaning}
```

## Add your tool

Give any command line that reads a CSV file and writes one, in the folder of this repository after `make demo`:

    .venv/bin/python -m benchmarks.public --tool "mine=python mine.py {{source}} {{target}} {{k}} {{quasi_identifiers}}"

`--only mine --families town --seed 1` runs nothing else. The file has one line for each published row, with the names
of the columns first: quasi-identifiers as labels, and the sensitive column as it is.

`benchmarks/public/tools.py` lists the words in braces and the labels that are understood. To stay in the table, add an
adapter there. `benchmarks/public/given.py` names the public tables that are measured where they are at hand.

## Figures

{draw_tables(results)}
"""


if __name__ == "__main__":
    main()

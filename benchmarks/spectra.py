"""Spectra: what each row of a spectrum of every k loses over a release at the same k, at normal effort.

usage: python -m benchmarks.spectra [--tables Adult town firms] [--seed 1] [--frontier] [--page]

A run measures the tables that it names, and keeps what is known of the others.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import kech
from kech.cuts import local
from kech.tables.demo import generate_town, write_csv, write_demo_key

BENCHMARKS = Path(__file__).parent
sys.path.insert(0, str(BENCHMARKS))  # scripts beside this one import each other by their plain names

from benchmarks.measure import describe_commit  # noqa: E402
from benchmarks.page import draw  # noqa: E402
from benchmarks.public.families import make_table  # noqa: E402
from benchmarks.run import describe_run  # noqa: E402
from benchmarks.tables import ADULT  # noqa: E402

RESULTS, PAGE = BENCHMARKS / "results" / "spectra.json", BENCHMARKS / "pages" / "spectra.md"
KS = range(2, 101)
DOZEN = (2, 3, 5, 7, 10, 15, 22, 32, 46, 68, 100)  # k about 1.4 apart, which kech searches as for a release
OTHERS = (4, 6, 8, 9, 11, 12, 14, 16, 18, 20, 24, 26, 29, 37, 41, 53, 60, 78, 90)  # some of those between them
MOST_DOZEN, MOST_OTHERS = 0.01, 0.03  # by which a row may lose more than a release: the goals
MOST_NAMED = 6  # k of a table that misses a goal
SHARES = (
    (0.15, 0.05),
    (0.3, 0.05),
    (0.5, 0.1),
    (1.0, 0.1),
)  # of a release's effort: for the dozen, for others at least
TOWN_ROWS, FAMILY_ROWS = 20_000, 3000
FRONTIER = """
## What a cheaper spectrum loses

Two goals are against each other: a spectrum for the CPU of six releases, and a dozen k within 1 % of a release. Below
are spectra whose k are searched with a share of a release's effort; the last line of each table is what kech does.

"""
FAMILIES = ("firms", "survey", "clusters", "cards")
TOWN = ("age", "sex", "zip", "moved_in", "schooling", "job")


@dataclass(frozen=True)
class Roles:
    """A table and what its columns are."""

    source: Path
    options: dict[str, Any]


def make_adult(_folder: Path, _seed: int) -> Roles:
    """Adult with its hierarchies."""
    names = ADULT.read_text("utf-8").split("\n", 1)[0].split(";")
    return Roles(ADULT, {"quasi_identifiers": names[:-1], "hierarchies": ADULT.with_name("adult_hierarchies")})


def make_town(folder: Path, seed: int) -> Roles:
    """The town of `kech demo`."""
    source = write_csv(generate_town(TOWN_ROWS, seed), folder / "town.csv")
    return Roles(source, {"quasi_identifiers": TOWN, "sensitive": ["diagnosis"]})


def make_family(family: str, folder: Path, seed: int) -> Roles:
    """A table of a family."""
    table = make_table(family, FAMILY_ROWS, seed, folder)
    return Roles(table.source, {"quasi_identifiers": table.quasi_identifiers, "sensitive": [table.sensitive]})


TABLES: dict[str, Callable[[Path, int], Roles]] = {
    "Adult": make_adult,
    "town": make_town,
    **{family: partial(make_family, family) for family in FAMILIES},
}


def main() -> None:
    """Measure, and draw the page."""
    choice = parse_arguments()
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {"tables": {}}
    if not choice.page:
        known = results["tables"]
        with tempfile.TemporaryDirectory() as place:
            os.environ["KECH_KEY_FILE"] = str(write_demo_key(Path(place)))  # the same figures for everybody
            for name in choice.tables:
                roles = TABLES[name](Path(place), choice.seed)
                measured = measure(name, roles)
                measured |= {"frontier": measure_frontier(name, roles)} if choice.frontier else {}
                known[name] = {"seed": choice.seed, "commit": describe_commit()} | measured
                results = describe_run(0) | {"tables": known}
                RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    PAGE.write_text(draw_page(results), "utf-8")
    print(draw_table(results["tables"]))


def parse_arguments() -> argparse.Namespace:
    """What was asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--frontier", action="store_true", help="measure cheaper spectra too")
    parser.add_argument("--page", action="store_true", help="measure nothing; draw the page again")
    return parser.parse_args()


def measure(name: str, roles: Roles) -> dict[str, Any]:
    """The loss of each row, that of a release at its k, and what both take."""
    with kech.read_table(roles.source, **roles.options) as table:
        rows, spectrum_cpu = measure_spectrum(table)
        losses, cpu = {}, {}
        for k in sorted(DOZEN + OTHERS):
            begin = process_time()
            losses[k] = kech.make_release(table, k=k).public_loss
            cpu[k] = process_time() - begin
            print(name, k, f"{rows[str(k)]:.5f} {losses[k]:.5f} {rows[str(k)] / losses[k] - 1:+.4f}", flush=True)
    return {
        "rows": table.rows,
        "columns": len(table.quasi_identifiers),
        "spectrum": rows,
        "releases": {str(k): loss for k, loss in losses.items()},
        "cpu": {"spectrum": spectrum_cpu, "cut at 10": cpu[10]},
    }


def measure_spectrum(table: kech.Table) -> tuple[dict[str, float], float]:
    """The loss of each row of a spectrum, and the CPU seconds that it takes."""
    begin = process_time()
    rows = kech.compute_spectrum(table, k=KS).rows()
    return {str(row["k"]): row["loss"] for row in rows}, process_time() - begin


def measure_frontier(name: str, roles: Roles) -> list[dict[str, Any]]:
    """The same where k are searched with other shares of an effort: which loss for which CPU."""
    usual, found = (local.DOZEN_SHARE, local.CHAIN_SHARE), []
    for shares in SHARES:
        local.DOZEN_SHARE, local.CHAIN_SHARE = shares
        with kech.read_table(roles.source, **roles.options) as table:
            rows, cpu = measure_spectrum(table)
        found.append({"shares": shares, "spectrum": rows, "cpu": cpu})
        print(name, *shares, f"{cpu:.1f} s", flush=True)
    local.DOZEN_SHARE, local.CHAIN_SHARE = usual
    return found


def list_excesses(found: Mapping[str, Any], ks: Sequence[int]) -> list[float]:
    """By which share rows lose more than releases at their k."""
    return [found["spectrum"][str(k)] / found["releases"][str(k)] - 1 for k in ks]


def draw_table(tables: Mapping[str, Any]) -> str:
    """One line for each table."""
    goals = f"within {MOST_DOZEN:.0%}", f"within {MOST_OTHERS:.0%}"
    header = ["table", "dozen: mean", "most", goals[0], "others: mean", "most", goals[1], "CPU over a cut at k = 10"]
    return draw(header, map(draw_row, *zip(*tables.items(), strict=True)))


def draw_row(name: str, found: Mapping[str, Any]) -> list[str]:
    """The figures of one table."""
    cells = [f"{name}, {found['rows']:,} x {found['columns']}"]
    for ks, most in ((DOZEN, MOST_DOZEN), (OTHERS, MOST_OTHERS)):
        excesses = list_excesses(found, ks)
        within = sum(excess <= most for excess in excesses)
        cells += [f"{sum(excesses) / len(ks):+.1%}", f"{max(excesses):+.1%}", f"{within} of {len(ks)}"]
    return [*cells, f"{found['cpu']['spectrum'] / found['cpu']['cut at 10']:.1f}"]


def draw_frontier(tables: Mapping[str, Any]) -> str:
    """What rows lose, and at which price, for shares of an effort; nothing where that was not measured."""
    measured = {name: found for name, found in tables.items() if "frontier" in found}
    header = [
        "table",
        "share of the dozen",
        "of others",
        *("dozen: mean", "most", "others: mean", "most", "CPU over a cut"),
    ]
    rows = [draw_shares(name, found, each) for name, found in measured.items() for each in found["frontier"]]
    return FRONTIER + draw(header, rows) if rows else ""


def draw_shares(name: str, found: Mapping[str, Any], measured: Mapping[str, Any]) -> list[str]:
    """The figures of one table with some shares."""
    cells = [name, *(f"{share:.0%}" for share in measured["shares"])]
    for ks in (DOZEN, OTHERS):
        excesses = list_excesses(found | {"spectrum": measured["spectrum"]}, ks)
        cells += [f"{sum(excesses) / len(ks):+.1%}", f"{max(excesses):+.1%}"]
    return [*cells, f"{measured['cpu'] / found['cpu']['cut at 10']:.1f}"]


def draw_page(results: dict[str, Any]) -> str:
    """The page of the manual."""
    about = ", ".join(f"{name} {value}" for name, value in {**results["machine"], **results["versions"]}.items())
    return f"""# Spectra beside releases, measured

Generated by `python -m benchmarks.spectra`; do not edit. Measured with {about}.

A spectrum of every k from 2 to 100 searches about forty k. Of up to 25,000 distinct rows a dozen of them are searched
as for a release, the others for a part of its time. So rows can lose more or less than a release at the same k and
normal effort, which also tries some larger k. Figures are what a row of the spectrum loses over that release, as
published: on average, at most, and how many k are within the goal. The dozen are k =
{", ".join(map(str, DOZEN))}; the others
k = {", ".join(map(str, OTHERS))}.
CPU is that of the spectrum over one cut at k = 10, without reading, writing and checking.
Commits: {", ".join(f"{name} at {found['commit']}" for name, found in results["tables"].items())}.

{draw_table(results["tables"])}

## Where the goals are missed

Releases of small tables try larger k and take the cheapest labels as padded and moved, which a spectrum does not.
Other k are searched too briefly to leave the classes of the next larger k far behind.

{draw_missed(results["tables"])}
{draw_frontier(results["tables"])}"""


def draw_missed(tables: Mapping[str, Any]) -> str:
    """The worst k of each table that misses a goal."""
    return "\n".join(line for name, found in tables.items() if (line := draw_worst(name, found))) or "Nowhere."


def draw_worst(name: str, found: Mapping[str, Any]) -> str:
    """The k of one table whose rows lose too much, the worst ones first."""
    excesses = dict(zip(DOZEN + OTHERS, list_excesses(found, DOZEN + OTHERS), strict=True))
    above = {k: each for k, each in excesses.items() if each > (MOST_DOZEN if k in DOZEN else MOST_OTHERS)}
    worst = sorted(above, key=lambda k: -above[k])[:MOST_NAMED]
    return f"- **{name}**: {', '.join(f'k = {k} by {above[k]:.1%}' for k in worst)}." if worst else ""


if __name__ == "__main__":
    main()

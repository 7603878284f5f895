"""Zig-zag: bars of a path of partitions by kech beside a Python prototype, in one run; writes results/zigzag.json.

Also lives over the versions of a growing table, beside one release of as many rows, in one run.

usage: python benchmarks/zigzag.py [--quick] [--cap SECONDS] [--page] [--prototype FILE] [--only versions]
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from measure import measure
from run import HERE, ROOT, describe_run

RESULTS = HERE / "results" / "zigzag.json"
PROTOTYPE = ROOT.parent / "shared" / "lab" / "topology" / "zigzag_partitions.py"
RATIO = (1_000_000, 11)
ROWS = [(rows, 11) for rows in (125_000, 250_000, 500_000, 1_000_000, 2_000_000)]
GROWING = (1_000_000, 24)  # rows of the first version, versions
KINDS = ("series", "anew", "release")
WORDS = {"series": "a series of cohorts", "anew": "each version cut anew"}
NODES = [(500_000, nodes) for nodes in (6, 11, 21, 41)]


def main() -> None:
    """Measure everything, one thing at a time, or print the tables again."""
    asked = parse_arguments()
    results = RESULTS.with_name("quick-zigzag.json.tmp") if asked.quick else RESULTS
    if not asked.page:
        found = json.loads(results.read_text("utf-8")) if asked.only else measure_paths(asked)
        growing = (20_000, 6) if asked.quick else GROWING
        over_time = [run_job("versions", kind, growing, asked) for kind in KINDS]
        found["over_time"] = describe_run(asked.cap) | {"measured": over_time}
        results.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    print(draw_tables(json.loads(results.read_text("utf-8"))))


def measure_paths(asked: argparse.Namespace) -> dict[str, Any]:
    """Paths of growing size."""
    cases = [(20_000, 11), (40_000, 11)] if asked.quick else [*ROWS, *NODES]
    against = cases[0] if asked.quick else RATIO
    jobs = [("kech", through, case) for through in ("union", "intersection") for case in dict.fromkeys(cases)]
    jobs += [("prototype", "union", against)] if asked.prototype.exists() else []
    return describe_run(asked.cap) | {"measured": [run_job(*job, asked) for job in jobs]}


def parse_arguments() -> argparse.Namespace:
    """What was asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small paths only; writes nothing that is published")
    parser.add_argument("--cap", type=float, default=300, help="seconds after which a job is stopped")
    parser.add_argument("--page", action="store_true", help="measure nothing; print the tables again")
    parser.add_argument("--prototype", type=Path, default=PROTOTYPE, help="Python file with zigzag(partitions)")
    parser.add_argument("--only", choices=["versions"], help="measure these anew, and keep what is known of paths")
    return parser.parse_args()


def run_job(tool: str, through: str, case: tuple[int, int], asked: argparse.Namespace) -> dict[str, Any]:
    """One path in a process of its own."""
    rows, nodes = case
    child = [sys.executable, str(HERE / "zigzag_child.py"), tool, through, str(rows), str(nodes), str(asked.prototype)]
    line = {"tool": tool, "through": through, "rows": rows, "nodes": nodes, **measure(child, asked.cap)}
    line |= json.loads(line.pop("said")) if line["outcome"] == "done" else {}
    print(tool, through, rows, nodes, line["outcome"], line.get("seconds"), flush=True)
    return line


def draw_tables(found: dict[str, Any]) -> str:
    """Tables for a page of the manual: growth, and how many times as long the prototype takes."""
    done = [line for line in found["measured"] if line["outcome"] == "done"]
    own = {(m["through"], m["rows"], m["nodes"]): m for m in done if m["tool"] == "kech"}
    head = "| through | rows | nodes | classes at all positions | bars | seconds | ns a row and node | peak MB |"
    rows = [head, "|---" * 8 + "|", *(draw_row(line) for line in own.values())]
    for line in found["measured"]:
        if line["tool"] == "prototype":
            rows += ["", compare(line, own[line["through"], line["rows"], line["nodes"]])]
    busiest = max((line.get("others", 0.0) for line in done), default=0.0)
    quiet = ["", f"Cores that others kept busy meanwhile: at most {busiest:.1f}.", ""]
    return "\n".join([*rows, *quiet, *draw_versions(found["over_time"])])


def draw_versions(found: dict[str, Any]) -> list[str]:
    """Lives over versions, in CPU seconds and in releases."""
    lines = {line["through"]: line for line in found["measured"]}
    release = lines["release"]
    if any(line["outcome"] != "done" for line in lines.values()):
        return ["### Over versions", "", "Stopped, or failed.", ""]
    rows = [
        f"| {WORDS[kind]} | {line['row_versions']:,} | {line['bars']:,} | {line['cpu']:.1f} | "
        f"{line['cpu'] / release['cpu']:.2f} | {line['peak_mb']:.0f} |"
        for kind, line in lines.items()
        if kind != "release"
    ]
    busiest = max(line["others"] for line in lines.values())
    return [
        "### Over versions",
        "",
        f"{release['rows']:,} rows in the first of {release['nodes']} versions; 5 % more arrive and 2 % leave with "
        f"each. One release of the first version, in the same run, takes {release['cpu']:.1f} CPU seconds "
        f"({release['peak_mb']:.0f} MB).",
        "",
        "| versions | rows of all versions | bars | CPU seconds | of one release | peak MB |",
        "|---" * 6 + "|",
        *rows,
        "",
        f"Peak memory includes the versions themselves. Cores that others kept busy meanwhile: at most {busiest:.1f}.",
        "",
    ]


def draw_row(line: dict[str, Any]) -> str:
    """One path."""
    each = line["seconds"] / line["rows"] / line["nodes"] * 1e9
    sizes = f"{line['rows']:,} | {line['nodes']} | {line['classes']:,} | {line['bars']:,}"
    return f"| {line['through']} | {sizes} | {line['seconds']:.2f} | {each:.0f} | {line['peak_mb']:.0f} |"


def compare(peer: dict[str, Any], own: dict[str, Any]) -> str:
    """The prototype gives births and deaths only; kech also the rows of every bar at every position."""
    what = f"{peer['rows']:,} rows, {peer['nodes']} nodes, through unions"
    if peer["outcome"] != "done":
        return f"{what}: the prototype {peer['outcome']}."
    ratio = peer["seconds"] / own["seconds"]
    times = f"prototype {peer['seconds']:.2f} s, kech {own['seconds']:.2f} s, {ratio:.1f} times as fast"
    agreed = "as many bars" if peer["bars"] == own["all_bars"] else "NOT AS MANY BARS"
    return f"{what}: {times}; {agreed}."


if __name__ == "__main__":
    main()

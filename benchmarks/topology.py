"""Topology: spanning trees of kech beside mlpack and hdbscan, in one run; writes results/topology.json.

usage: python benchmarks/topology.py [--quick] [--cap SECONDS] [--page]
"""

import json
import sys
from typing import Any

from measure import measure
from run import HERE, describe_run, parse_arguments, peers_python

RESULTS = HERE / "results" / "topology.json"
PEERS = {"box": ("hdbscan",), "ball": ("mlpack", "hdbscan")}
KINDS, AXES = ("uniform", "clustered", "integers"), (2, 3, 5, 8)
SMALL = [(kind, rows, axes) for kind in KINDS for rows in (10_000, 100_000) for axes in AXES]
LARGE = [(kind, 1_000_000, 3) for kind in KINDS]
MOST_ROWS = {"hdbscan": 100_000}  # beyond, it needs minutes


def main() -> None:
    """Measure everything, one thing at a time, or print the table again."""
    asked = parse_arguments()
    results = RESULTS.with_name("quick-topology.json.tmp") if asked.quick else RESULTS
    if not asked.page:
        cases = SMALL[:3] if asked.quick else SMALL + LARGE
        homes = {"kech": sys.executable, "mlpack": peers_python(), "hdbscan": peers_python()}
        found = describe_run(asked.cap) | {
            "measured": [line for case in cases for line in run_case(case, homes, asked.cap)]
        }
        results.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    print(draw_table(json.loads(results.read_text("utf-8"))))


def run_case(case: tuple[str, int, int], homes: dict[str, str], cap: float) -> list[dict[str, Any]]:
    """One set of points, both metrics, all tools."""
    kind, rows, axes = case
    lines = []
    for metric, peers in PEERS.items():
        for tool in ("kech", *(peer for peer in peers if rows <= MOST_ROWS.get(peer, rows))):
            command = [homes[tool], str(HERE / "span_child.py"), tool, metric, kind, str(rows), str(axes)]
            line = {"kind": kind, "rows": rows, "axes": axes, "metric": metric, "tool": tool, **measure(command, cap)}
            line |= json.loads(line.pop("said")) if line["outcome"] == "done" else {}
            lines.append(line)
            print(kind, rows, axes, metric, tool, line["outcome"], line.get("seconds"), flush=True)
    return lines


def draw_table(found: dict[str, Any]) -> str:
    """Seconds of kech, and how many times as long the peers take."""
    rows = [
        "| points | rows | axes | metric | kech s (peak MB) | group s | mlpack x kech | hdbscan x kech |",
        "|---" * 8 + "|",
    ]
    keys = list(dict.fromkeys((m["kind"], m["rows"], m["axes"], m["metric"]) for m in found["measured"]))
    return "\n".join([*rows, *(draw_row(found["measured"], key) for key in keys), ""])


def draw_row(measured: list[dict[str, Any]], key: tuple[str, int, int, str]) -> str:
    """One set of points in one metric."""
    tools = {m["tool"]: m for m in measured if (m["kind"], m["rows"], m["axes"], m["metric"]) == key}
    own = tools["kech"]
    if own["outcome"] != "done":
        return f"| {key[0]} | {key[1]:,} | {key[2]} | {key[3]} | {own['outcome']} | | | |"
    peers = " | ".join(ratio(tools.get(name), own) for name in ("mlpack", "hdbscan"))
    mine = f"{own['seconds']:.2f} ({own['peak_mb']:.0f}) | {own['group']:.2f}"
    return f"| {key[0]} | {key[1]:,} | {key[2]} | {key[3]} | {mine} | {peers} |"


def ratio(peer: dict[str, Any] | None, own: dict[str, Any]) -> str:
    """How many times as long the peer took."""
    if peer is None:
        return "not run"
    if peer["outcome"] == "over":
        return f"> {peer['cap'] / own['seconds']:.0f}"
    return f"{peer['seconds'] / own['seconds']:.1f}" if peer["outcome"] == "done" else "failed"


if __name__ == "__main__":
    main()

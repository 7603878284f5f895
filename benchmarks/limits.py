"""Limits: large merge trees, holes and zig-zags of kech, each in a process of its own; writes results/limits.json.

usage: python benchmarks/limits.py [--quick] [--cap SECONDS] [--page]
"""

import json
import sys
import time
from typing import Any

import numpy as np

from measure import run_once
from run import HERE, ROOT, describe_run, parse_arguments

RESULTS = HERE / "results" / "limits.json"
DATA = ROOT.parent / "shared" / "data"
ADULT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
WORDS = {
    "tree": "merge tree, three numbers and three texts",
    "holes": "holes among boxes, {columns} columns",
    "zigzag": "zig-zag of Adult, path by {path}, {nodes:,} nodes",
}
JOBS = [
    ("tree", "1000000"),
    *(("holes", "100000", columns) for columns in "23"),
    *(("zigzag", path) for path in ("rows", "columns")),
]
QUICK = [("tree", "10000"), ("holes", "2000", "2")]


def main() -> None:
    """Measure everything, one thing at a time, or print the table again."""
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(CHILDREN[sys.argv[2]](*sys.argv[3:])))
        return
    asked = parse_arguments()
    results = RESULTS.with_name("quick-limits.json.tmp") if asked.quick else RESULTS
    if not asked.page:
        lines = [run_job(job, asked.cap) for job in (QUICK if asked.quick else JOBS)]
        results.write_text(json.dumps(describe_run(asked.cap) | {"measured": lines}, indent=2) + "\n", "utf-8")
    print(draw_table(json.loads(results.read_text("utf-8"))))


def run_job(job: tuple[str, ...], cap: float) -> dict[str, Any]:
    """One job in a process of its own."""
    line = {"job": job[0], **run_once([sys.executable, __file__, "child", *job], cap)}
    line |= {"own": json.loads(line.pop("said"))} if line["outcome"] == "done" else {}
    print(*job, line["outcome"], line.get("own"), flush=True)
    return line


def build_tree(rows: str) -> dict[str, Any]:
    """Merge tree of ages, incomes and days, and of texts with 2, 12 and 40 values, with the GROUP BY before it."""
    import pyarrow as pa

    import kech
    from kech.topology.barcode import compute_barcode

    rng, count = np.random.default_rng(5), int(rows)
    columns = {"age": rng.integers(18, 95, count), "income": np.exp(rng.normal(10.4, 0.6, count)).round(-1)}
    columns |= {"day": rng.integers(0, 3_000, count)}
    texts = {"sex": 2, "region": 12, "job": 40}
    columns |= {name: rng.choice([f"{i} {name}" for i in range(values)], count) for name, values in texts.items()}
    table = pa.table(columns)
    with kech.read_table(table, quasi_identifiers=[*columns], axes={name: {"kind": "set"} for name in texts}) as opened:
        return spend(lambda: {"rows": count, "bars": len(compute_barcode(opened, max_dimension=0).filtration.birth)})


def find_holes(points: str, columns: str) -> dict[str, Any]:
    """Holes of dimension 1 among uniform points."""
    import pyarrow as pa

    import kech

    values = np.random.default_rng(11).random((int(points), int(columns)))
    table = pa.table({f"x{j}": column for j, column in enumerate(values.T)})
    with kech.read_table(table, quasi_identifiers=table.column_names) as opened:
        found = {"rows": int(points), "columns": int(columns)}
        return spend(lambda: found | {"bars": len(kech.compute_barcode(opened, max_dimension=1).holes[1])})


def walk_adult(path: str) -> dict[str, Any]:
    """Zig-zag of all nodes of Adult."""
    import kech

    with kech.read_table(DATA / "adult.csv", quasi_identifiers=ADULT, hierarchies=DATA / "adult_hierarchies") as opened:
        found = spend(lambda: {"zigzag": kech.compute_zigzag(opened, path)})
        zigzag = found.pop("zigzag")
        return found | {"rows": opened.rows, "path": path, "nodes": len(zigzag.path), "bars": len(zigzag.birth)}


def spend(job: Any) -> dict[str, Any]:
    """What a job gives, with its seconds of wall and CPU."""
    began, cpu = time.perf_counter(), time.process_time()
    found = job()
    return found | {"seconds": time.perf_counter() - began, "cpu_of_job": time.process_time() - cpu}


CHILDREN = {"tree": build_tree, "holes": find_holes, "zigzag": walk_adult}


def draw_table(found: dict[str, Any]) -> str:
    """Seconds of the job, and the memory of its process."""
    head = "| job | rows | bars | seconds | CPU s | peak MB |"
    busiest = max((line.get("others", 0.0) for line in found["measured"]), default=0.0)
    told = f"Commit {found['versions']['commit']}. Cores that others kept busy meanwhile: at most {busiest:.1f}."
    return "\n".join([head, "|---" * 6 + "|", *map(draw_row, found["measured"]), "", told, ""])


def draw_row(line: dict[str, Any]) -> str:
    """One job."""
    if line["outcome"] != "done":
        return f"| {line['job']} | | | {line['outcome']} | | |"
    own = line["own"]
    sizes = f"{WORDS[line['job']].format(**own)} | {own['rows']:,} | {own['bars']:,}"
    return f"| {sizes} | {own['seconds']:.1f} | {own['cpu_of_job']:.1f} | {line['peak_mb']:,.0f} |"


if __name__ == "__main__":
    main()

"""Lattice: every node of Adult for every k by kech, beside one GROUP BY a node in DuckDB and pyCANON's k, in one run.

usage: python benchmarks/lattice.py [--quick] [--page]; needs Adult and its hierarchies (see tables.py)
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import duckdb
import numpy as np

import kech
from kech.points.points import build_points
from kech.topology.lattice import GeneralizationLattice, build_lattice
from page import draw
from run import HERE, ROOT, describe_run, parse_arguments
from tables import ADULT

RESULTS = HERE / "results" / "lattice.json"
FOLDER = ADULT.with_name("adult_hierarchies")
EIGHT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
CASES = [EIGHT, [*EIGHT, "salary-class"]]
PYCANON = ROOT / ".venv-pycanon" / "bin" / "python"
REPEATS, SAMPLE, SEED = 3, 60, 3


def main() -> None:
    """Measure, or draw the table again."""
    asked = parse_arguments()
    results = RESULTS.with_name("quick-lattice.json.tmp") if asked.quick else RESULTS
    if not asked.page:
        cases = CASES[:1] if asked.quick else CASES
        found = describe_run(asked.cap) | {"measured": [run_case(columns) for columns in cases]}
        results.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    print(draw_table(json.loads(results.read_text("utf-8"))))


def run_case(columns: list[str]) -> dict[str, Any]:
    """One set of columns: kech on one core and on all, and the peers on a sample of nodes."""
    with kech.read_table(ADULT, quasi_identifiers=columns, hierarchies=FOLDER) as table:
        group, points = best_of(lambda: build_points(table, by_level=True))
    one, lattice = best_of(lambda: rolled(build_lattice(points, threads=1)))
    every, _ = best_of(lambda: rolled(build_lattice(points, threads=os.cpu_count() or 1)))
    nodes = list(product(*map(range, lattice.heights)))
    chosen = np.random.default_rng(SEED).choice(len(nodes), SAMPLE, replace=False).tolist()
    sampled, ks = [nodes[at] for at in chosen], lattice.table.smallest[chosen].tolist()
    curve, _ = best_of(lambda: [lattice.best(k, 0.05) for k in range(2, 101)])
    figures = lattice.table.counts.nbytes + lattice.table.costs.nbytes
    return {
        "columns": len(columns),
        "rows": points.rows,
        "points": len(points.weights),
        "nodes": len(nodes),
        "group": group,
        "one core": one,
        "all cores": every,
        "curve": curve,
        "kept_mb": lattice.table.peak_bytes / 2**20,
        "figures_mb": figures / 2**20,
        "duckdb": duckdb_nodes(columns, sampled, ks),
        "pycanon": pycanon_nodes(columns, sampled[:10], ks[:10]),
    }


def rolled(lattice: GeneralizationLattice) -> GeneralizationLattice:
    """All nodes, for all k."""
    assert len(lattice.table.classes) == lattice.nodes
    return lattice


def best_of(job: Callable[[], Any]) -> tuple[float, Any]:
    """The shortest of a few runs, and what the last one gave."""
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        result = job()
        seconds.append(time.perf_counter() - began)
    return min(seconds), result


def labelled_rows(columns: list[str]) -> duckdb.DuckDBPyConnection:
    """Adult in DuckDB with a column of labels for each level, on one thread."""
    sql = duckdb.connect(config={"threads": 1})
    sql.execute("CREATE TABLE t AS FROM read_csv(?, delim=';', all_varchar=true)", [str(ADULT)])
    for j, column in enumerate(columns):
        file = str(FOLDER / f"adult_hierarchy_{column}.csv")
        sql.execute("CREATE TABLE h AS FROM read_csv(?, delim=';', header=false, all_varchar=true)", [file])
        levels = len(sql.execute("FROM h LIMIT 1").description)
        labels = ", ".join(f"h.column{level} AS c{j}_{level}" for level in range(levels))
        sql.execute(f'CREATE TABLE u AS SELECT t.*, {labels} FROM t JOIN h ON h.column0 = t."{column}"')
        sql.execute("DROP TABLE t; DROP TABLE h; ALTER TABLE u RENAME TO t")
    return sql


def duckdb_nodes(columns: list[str], nodes: list[tuple[int, ...]], ks: list[int]) -> dict[str, float]:
    """Seconds of a plain GROUP BY a node, labels at hand."""
    seconds = []
    with labelled_rows(columns) as sql:
        for node, k in zip(nodes, ks, strict=True):
            labels = ", ".join(f"c{j}_{level}" for j, level in enumerate(node))
            query = f"SELECT min(n) FROM (SELECT count(*) AS n FROM t GROUP BY {labels})"
            took, found = best_of(lambda query=query: sql.execute(query).fetchone())
            assert found == (k,), node
            seconds.append(took)
    return {"sampled": len(nodes), "seconds": mean(seconds)}


def pycanon_nodes(columns: list[str], nodes: list[tuple[int, ...]], ks: list[int]) -> dict[str, float] | None:
    """Seconds of one k at a node by pyCANON, where its environment is."""
    python = Path(os.environ.get("PYCANON_PYTHON", PYCANON))
    if not python.exists():
        return None
    needed = {(j, level) for node in nodes for j, level in enumerate(node)}
    with labelled_rows(columns) as sql:
        held = {at: sql.execute(f"SELECT c{at[0]}_{at[1]} AS x FROM t").fetchnumpy()["x"].tolist() for at in needed}
    labels = {name: {level: held[j, level] for i, level in needed if i == j} for j, name in enumerate(columns)}
    given = {"columns": labels, "nodes": [[str(level) for level in node] for node in nodes]}
    command = [str(python), "-W", "ignore", str(HERE / "lattice_child.py")]
    said = subprocess.run(command, input=json.dumps(given), stdout=subprocess.PIPE, text=True, check=True).stdout
    found = json.loads(said)
    assert found["k"] == ks, "pyCANON counts another k"
    return {"sampled": len(nodes), "seconds": mean(found["seconds"])}


def draw_table(found: dict[str, Any]) -> str:
    """All nodes for all k; peers are estimated from the nodes that were sampled."""
    header = ["columns", "nodes", "points", "one core", "all cores", "peak memory", "DuckDB x kech", "pyCANON x kech"]
    return draw(header, (table_row(line) for line in found["measured"]))


def table_row(line: dict[str, Any]) -> list[str]:
    """One set of columns."""
    peers = [line[name] and line[name]["seconds"] * line["nodes"] / line["one core"] for name in ("duckdb", "pycanon")]
    return [
        str(line["columns"]),
        f"{line['nodes']:,}",
        f"{line['points']:,}",
        f"{line['one core']:.2f} s",
        f"{line['all cores']:.2f} s",
        f"{line['kept_mb'] + line['figures_mb']:.0f} MB",
        *("not run" if ratio is None else f"{ratio:.0f}" for ratio in peers),
    ]


if __name__ == "__main__":
    sys.exit(main())

"""Determinism: one table, plan and seed give the same classes, with one thread or two, in another process, on Spark.

usage: python -m campaign.determinism [--tables 200] [--on-spark 20]
Classes are compared by their labels and sizes; the order of rows is secret and never the same.  Spark runs in an
environment of its own, .venv-spark or the Python that KECH_SPARK_PYTHON names; where there is none, that is said.
"""

import argparse
import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from campaign.core import ROOT, Tally, own_place

sys.path.insert(0, str(ROOT / "tests"))

import kech
from kech.errors import KechError

CUTS = ("local", "minimal", "domain", "regime")
RUNS = ((1, "1"), (2, "2"), (2, "3"))  # threads, and the seed of Python's hashes
Told = Callable[[Path], list[str]]  # the hashes of the cases in a file


def classes(source: Any, case: dict[str, Any], threads: int, search: int, **engine: str) -> str:
    """A hash of the classes of a table, one cut after another; a refusal is an answer too."""
    found = []
    for cut in CUTS:
        asked = {"effort": "quick", "seed": search} if cut in ("local", "minimal") else {}
        try:
            with kech.read_table(source, **case["roles"], threads=threads, **engine) as table:
                made = kech.make_release(table, k=case["k"], cut=cut, grid=case["grid"], **asked)
                sizes = made.partition.sizes.tolist()
                labels = zip(*made.labels.values(), strict=True)
                found.append(sorted((str(label), size) for label, size in zip(labels, sizes, strict=True)))
        except KechError as refusal:
            found.append(type(refusal).__name__)
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


def classes_of(seed: int, threads: int, search: int) -> str:
    """Those of a random table."""
    from strategies import random_case

    case = random_case(seed)
    return classes(case.table, {"roles": case.roles, "k": case.k, "grid": case.grid}, threads, search)


def in_process(tables: range, threads: int, hashes: str) -> list[str]:
    """The same in a process of its own."""
    words = [sys.executable, "-m", "campaign.determinism", "--first", tables.start, "--tables", len(tables)]
    words += ["--threads", threads]
    environment = os.environ | {"PYTHONHASHSEED": hashes, "PYTHONPATH": os.pathsep.join(["", *sys.path])}
    run = subprocess.run(list(map(str, words)), cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return run.stdout.split()


def compare(tally: Tally, tables: range) -> None:
    """Every table three times."""
    runs = [in_process(tables, *run) for run in RUNS]
    for seed, found in zip(tables, zip(*runs, strict=True), strict=True):
        tally.expect(len(set(found)) == 1, f"random_case({seed}) gives {len(set(found))} different partitions")
        tally.cases += len(found)


# -- engines ---------------------------------------------------------------------------------------------------------


def write_cases(place: Path, tables: range) -> Path:
    """Random tables as Parquet files, which every engine reads, and beside them what is asked of them."""
    import pyarrow.parquet as pq

    from strategies import random_case

    cases = []
    for seed in tables:
        case = random_case(seed)
        pq.write_table(case.table, place / f"{seed}.parquet")
        asked = {"roles": case.roles, "k": case.k, "grid": case.grid}
        cases.append({"seed": seed, "source": str(place / f"{seed}.parquet"), **asked})
    (place / "cases").write_bytes(pickle.dumps(cases))
    return place / "cases"


def read_cases(cases: Path) -> list[dict[str, Any]]:
    """The cases of a file."""
    return list(pickle.loads(cases.read_bytes()))


def on_duckdb(cases: Path, search: int = 0) -> list[str]:
    """Their hashes on the usual engine."""
    return [classes(case["source"], case, 1, search) for case in read_cases(cases)]


def on_spark(cases: Path) -> list[str]:
    """Their hashes on Spark, from its own environment."""
    words = [spark_python(), "-m", "campaign.determinism", "--cases", str(cases)]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(run.stderr[-2000:])
    return run.stdout.split()


def here_on_spark(cases: Path) -> list[str]:
    """Likewise in this process, which is that environment."""
    from servers import end_spark, find_spark

    with tempfile.TemporaryDirectory() as folder:
        find_spark(Path(folder), "spark")
        try:
            return [
                classes(case["source"], case, 2, 0, engine="spark", master="local[2]") for case in read_cases(cases)
            ]
        finally:
            end_spark()


def spark_python() -> str:
    """The Python that has pyspark; nothing where there is none, or no Java."""
    own = ROOT / ".venv-spark" / "bin" / "python"
    named = os.environ.get("KECH_SPARK_PYTHON") or (str(own) if own.exists() else "")
    return named if shutil.which("java") or "JAVA_HOME" in os.environ else ""


def compare_engines(tally: Tally, cases: Path, other: Told) -> None:
    """Every table on DuckDB and on another engine."""
    for case, here, there in zip(read_cases(cases), on_duckdb(cases), other(cases), strict=True):
        tally.expect(here == there, f"random_case({case['seed']}) gives other classes on the other engine")
        tally.cases += 1


def main() -> int:
    """All tables, or (with --threads or --cases) the hashes of some."""
    parser = argparse.ArgumentParser(description="Equal seeds, equal classes.")
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--on-spark", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--cases", type=Path)
    asked = parser.parse_args()
    tables = range(asked.first, asked.first + asked.tables)
    if asked.cases:
        print(*here_on_spark(asked.cases))
        return 0
    if asked.threads:
        print(*(classes_of(seed, asked.threads, 0) for seed in tables))
        return 0
    tally = Tally("determinism")
    compare(tally, tables)
    tally.figures |= {"tables": len(tables), "tables_on_Spark": 0}
    if asked.on_spark and spark_python():
        with own_place() as place:
            compare_engines(tally, write_cases(place, range(asked.on_spark)), on_spark)
        tally.figures["tables_on_Spark"] = asked.on_spark
    else:
        print("Spark is left out: there is no Java, or no .venv-spark (make test-spark makes it).")
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())

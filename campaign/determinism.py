"""Determinism: the same table, plan and seed give the same classes, with one thread or two, and in another process.

usage: python -m campaign.determinism [--tables 200]
Classes are compared by their labels and sizes; the order of rows is secret and never the same.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys

from campaign.core import ROOT, Tally

sys.path.insert(0, str(ROOT / "tests"))

import kech
from kech.errors import KechError
from strategies import random_case

CUTS = ("local", "minimal", "domain", "regime")
RUNS = ((1, "1"), (2, "2"), (2, "3"))  # threads, and the seed of Python's hashes


def classes_of(seed: int, threads: int, search: int) -> str:
    """A hash of the classes of a random table, one cut after another; a refusal is an answer too."""
    case = random_case(seed)
    found = []
    for cut in CUTS:
        wishes = {"effort": "quick", "seed": search} if cut in ("local", "minimal") else {}
        try:
            with kech.read_table(case.table, **case.roles, threads=threads) as table:
                made = kech.make_release(table, k=case.k, cut=cut, grid=case.grid, **wishes)
                sizes = made.partition.sizes.tolist()
                labels = zip(*made.labels.values(), strict=True)
                found.append(sorted((str(label), size) for label, size in zip(labels, sizes, strict=True)))
        except KechError as refusal:
            found.append(type(refusal).__name__)
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


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


def main() -> int:
    """All tables, or (with --threads) the hashes of some."""
    parser = argparse.ArgumentParser(description="Equal seeds, equal classes.")
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--threads", type=int)
    asked = parser.parse_args()
    tables = range(asked.first, asked.first + asked.tables)
    if asked.threads:
        print(*(classes_of(seed, asked.threads, 0) for seed in tables))
        return 0
    tally = Tally("determinism")
    compare(tally, tables)
    tally.figures["tables"] = len(tables)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())

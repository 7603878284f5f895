"""Oracle: random tables by the hundred thousand: no false k, l or t, by SQL and by other counters.

usage: python -m campaign.oracle [--tables 100000] [--first 2000] [--seconds 3600]
The suite checks the first 2,000; a long run begins where the last one ended.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from campaign.core import RESULTS, ROOT, Child, Tally, import_all, own_place, use_place

sys.path.insert(0, str(ROOT / "tests"))

SUITE = 2_000
BATCH = 50
FAULTS = ("a row lost", "a label changed")


def check_tables(seeds: range, place: Path, fault: str | None, say: Any) -> list[str]:
    """What is false of these tables."""
    import duckdb

    import test_oracle_tables as oracle
    from strategies import random_case

    use_place(place)
    if fault:
        plant(oracle, fault)
    wrong = []
    with duckdb.connect() as database:
        for seed in seeds:
            try:
                oracle.check(random_case(seed), place, database)
            except Exception as failure:
                wrong.append(f"random_case({seed}): {type(failure).__name__}")
    return wrong


def plant(oracle: Any, fault: str) -> None:
    """Read the written file with a fault in it, which the certificate does not know."""
    read = oracle.read_cells

    def read_wrongly(path: Path) -> tuple[list[str], list[list[str | None]]]:
        header, rows = read(path)
        changed = [*rows[:-1], ["?" for _ in header]] if fault == "a label changed" else rows[:-1]
        return header, changed

    oracle.read_cells = read_wrongly


def examine(tally: Tally, place: Path, seeds: range, fault: str | None = None) -> None:
    """A batch in a child."""
    answer = Child(check_tables, seeds, place, fault).result(1200)
    if tally.expect(answer.word == "done", f"{seeds}: {answer.word} {answer.value}"):
        for wrong in answer.value:
            tally.expect(False, wrong)
    tally.cases += len(seeds)


def where_it_ended() -> int:
    """The first table that no run has looked at."""
    path = RESULTS / "oracle.json"
    return int(json.loads(path.read_bytes())["next"]) if path.exists() else SUITE


def main() -> int:
    """Batches until all are done or the time is up."""
    parser = argparse.ArgumentParser(description="No false claim on random tables.")
    parser.add_argument("--tables", type=int, default=100_000)
    parser.add_argument("--first", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args()
    tally, first = Tally("oracle"), where_it_ended() if asked.first is None else asked.first
    seed = first
    import_all()
    with own_place() as place:
        while seed < first + asked.tables and time.monotonic() - tally.started < asked.seconds:
            examine(tally, place, range(seed, min(seed + BATCH, first + asked.tables)))
            seed += BATCH
    tally.figures["next"] = seed
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())

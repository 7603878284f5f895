"""Oracle: random tables by the hundred thousand: no false k, l or t, by SQL and by other counters.

usage: python -m campaign.oracle [--tables 100000] [--seconds 3600] [--jobs 2] [--anew]
The suite judges the first 2,000; a run begins where the last one ended, and its figure adds to that of the last.
The figure is written after every batch.  SIGTERM ends a run after the batch it is at.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from campaign.core import RESULTS, ROOT, Child, Tally, commit, import_all, own_place, use_place

sys.path.insert(0, str(ROOT / "tests"))

SUITE = 2_000
BATCH = 50
IN_MEMORY = "/dev/shm"
Check = Callable[[range, Path, str | None, Any], tuple[list[str], int]]
FAULTS = ("a row lost", "a label changed", "a false l", "a false t")


def check_tables(seeds: range, place: Path, fault: str | None, say: Any) -> tuple[list[str], int]:
    """What is false of these tables, and how many got all that was asked for."""
    import duckdb

    import test_oracle_tables as oracle

    use_place(place)
    if fault:
        plant(oracle, fault)
    with duckdb.connect() as database:
        database.execute("SET threads = 1")
        judged, wrong = oracle.check_tables(seeds, place, database)
    lost = [f"random_asked_case({seed}): {type(failure).__name__}" for seed, failure in wrong.items()]
    return lost, sum(one.as_asked for one in judged.values())


def plant(oracle: Any, fault: str) -> None:
    """Read the written file with a fault in it, which the certificate does not know; or claim what is not true."""
    read, release = oracle.read_cells, oracle.release

    def read_wrongly(path: Path) -> tuple[list[str], list[list[str | None]]]:
        header, rows = read(path)
        if fault == "a label changed":
            return header, [*rows[:-1], [x if name == "s" else "?" for name, x in zip(header, rows[-1], strict=True)]]
        return header, rows[:-1]

    def claim_wrongly(*given: Any) -> Any:
        path, certificate, made = release(*given)
        certificate["measured"][fault[-1]]["s"] += 1
        return path, certificate, made

    if fault.startswith("a false"):
        oracle.release = claim_wrongly
    else:
        oracle.read_cells = read_wrongly


def examine(
    tally: Tally, place: Path, seeds: range, fault: str | None = None, jobs: int = 1, check: Check = check_tables
) -> None:
    """A batch in children, each with a share of it and a place of its own."""
    places = [place / f"job{i}" for i in range(jobs)]
    for own in places:
        own.mkdir(exist_ok=True)
    for child in [Child(check, seeds[i::jobs], own, fault) for i, own in enumerate(places)]:
        answer = child.result(3600)
        if tally.expect(answer.word == "done", f"{seeds}: {answer.word} {answer.value}"):
            lost, as_asked = answer.value
            for wrong in lost:
                tally.expect(False, wrong)
            tally.figures["as_asked"] = tally.figures.get("as_asked", 0) + as_asked
    tally.cases += len(seeds)


def take_up(name: str) -> Tally:
    """The tally of the runs before this one."""
    tally, path = Tally(name, figures={"next": SUITE}), RESULTS / f"{name}.json"
    if path.exists():
        found = json.loads(path.read_bytes())
        tally.cases, tally.started = found["cases"], tally.started - found["seconds"]
        tally.losses = found["losses"] + ["one more"] * (found["lost"] - len(found["losses"]))
        tally.figures = {name: value for name, value in found.items() if name in ("next", "as_asked") or " at " in name}
    return tally


def run_batches(name: str, most: int, check: Check) -> int:
    """Batches until all are done, the time is up, or somebody says so."""
    parser = argparse.ArgumentParser(description="No false claim on random tables.")
    parser.add_argument("--tables", type=int, default=most)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--anew", action="store_true")
    asked = parser.parse_args()
    if asked.jobs < 1:
        parser.error("--jobs: one child or more.")
    tally = Tally(name, figures={"next": SUITE}) if asked.anew else take_up(name)
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    end, here = time.monotonic() + asked.seconds, f"tables at {commit()}"
    import_all()

    with own_place(IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else "/tmp") as place:
        while tally.cases < asked.tables and time.monotonic() < end and not told:
            first = tally.figures["next"]
            seeds = range(first, first + min(BATCH * asked.jobs, asked.tables - tally.cases))
            examine(tally, place, seeds, jobs=asked.jobs, check=check)
            tally.figures |= {"next": seeds.stop, here: tally.figures.get(here, 0) + len(seeds)}
            tally.write()
    return tally.close()


def main() -> int:
    """Random tables of all kinds."""
    import test_oracle_tables  # noqa: F401 - once for all children

    return run_batches("oracle", 100_000, check_tables)


if __name__ == "__main__":
    sys.exit(main())

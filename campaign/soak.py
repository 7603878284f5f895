"""Soak: random library calls in one process for an hour; its memory stays where it was after the first minutes.

usage: python -m campaign.soak [--seconds 3600]
"""

import argparse
import gc
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kech
from campaign.core import Tally, own_place
from campaign.tables import as_arrow, calm_columns
from kech.errors import KechError

PAGE = os.sysconf("SC_PAGE_SIZE")
WARM = 0.2  # share of the time after which memory must not grow
GROWTH = 1.10


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * PAGE


def release(table: Any, rng: random.Random, place: Path) -> None:
    target = place / f"out{rng.choice(['.csv', '.parquet'])}"
    kech.make_release(table, k=rng.choice([2, 3, 5]), effort="quick").write(target, ledger=False)
    kech.check_certificate(target)
    kech.compute_risk(target)


def domain(table: Any, rng: random.Random, place: Path) -> None:
    kech.make_release(table, k=2, cut="domain", suppress=rng.choice([0.0, 0.2])).write(place / "d.csv", ledger=False)


def spectrum(table: Any, rng: random.Random, place: Path) -> None:
    kech.compute_spectrum(table, k=[2, 4], cut=rng.choice(["local", "minimal", "regime"])).to_json()


def barcode(table: Any, rng: random.Random, place: Path) -> None:
    kech.compute_barcode(table, max_dimension=0).to_json()


def lattice(table: Any, rng: random.Random, place: Path) -> None:
    kech.compute_lattice(table).to_json([2, 3])


def inspect(table: Any, rng: random.Random, place: Path) -> None:
    kech.inspect_table(table).to_json()


Call = Callable[[Any, random.Random, Path], None]
CALLS: list[Call] = [release, release, domain, spectrum, barcode, lattice, inspect]


def soak(tally: Tally, place: Path, seconds: float, calls: list[Call], rng: random.Random) -> None:
    """Call until the time is up; compare the memory at the end with that after the first share of it."""
    start, base, peak = time.monotonic(), 0, 0
    end, warm, marks = start + seconds, start + seconds * WARM, [0.8, 0.6, 0.4]
    while time.monotonic() < end:
        frame = as_arrow(calm_columns(rng, rng.choice([20, 60, 500])))
        names = rng.sample(["a", "b", "c", "d"], rng.choice([1, 2, 3]))
        call = rng.choice(calls)
        try:
            with kech.read_table(frame, quasi_identifiers=names, sensitive=["s"]) as table:
                call(table, rng, place)
        except KechError:
            tally.faults += 1
        tally.cases += 1
        held = resident()
        base = held if time.monotonic() < warm else base or held
        peak = max(peak, held)
        if marks and time.monotonic() - start > marks[-1] * seconds:
            tally.figures[f"at_{marks.pop():.0%}_MB"] = held >> 20
    tally.figures |= {"base_MB": base >> 20, "end_MB": resident() >> 20, "peak_MB": peak >> 20}
    grown = resident() / base
    tally.expect(grown < GROWTH, f"memory grew from {base >> 20} to {resident() >> 20} MB")


def main() -> int:
    """One process, all the time."""
    parser = argparse.ArgumentParser(description="Library calls for an hour, memory flat.")
    parser.add_argument("--seconds", type=float, default=3600)
    asked = parser.parse_args()
    tally = Tally("soak")
    with own_place() as place:
        soak(tally, place, asked.seconds, CALLS, random.Random(0))
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())

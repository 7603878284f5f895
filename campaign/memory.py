"""Memory: commands under --memory, each in a process of its own, on tables that do not fit.

None takes more than 1.3 times as much, none is killed, and the number that a refusal names is enough.

usage: python -m campaign.memory
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from campaign.core import Tally, own_place

LEAST, LIMIT = 320, 350  # MB
MOST = 1.3  # times the limit
ROWS = 300_000
COLUMNS = [f"c{j}" for j in range(6)]
HOPS = 3  # refusals one after the other, each with a larger number: every stage knows only its own

CHILD = """
{fault}
import sys
from kech.cli import main
try:
    main(sys.argv[1:])
finally:
    print(open("/proc/self/status").read(), file=sys.stderr)
"""
FAULTS = {
    "memory is kept": "kept = bytearray(b'x' * 400_000_000)",
    "the number is too small": "import kech.errors; kech.errors.megabytes = lambda size: '319 MB'",
}


def columns(rows: int, different: int, names: list[str] = COLUMNS) -> dict[str, Any]:
    """Columns of numbers, and a sensitive one."""
    rng = np.random.default_rng(0)
    numbers = {name: rng.integers(0, different, rows) for name in names}
    return numbers | {"s": rng.integers(0, 9, rows).astype(str)}


def write_table(path: Path, rows: int = ROWS) -> Path:
    """Rows that are nearly all distinct: they fit into no such limit without coarser axes."""
    pq.write_table(pa.table(columns(rows, 1000)), path)
    return path


def write_numbers(path: Path, rows: int = 400_000) -> Path:
    """Sensitive numbers that are nearly all different."""
    numbers = np.random.default_rng(2).integers(0, 10**9, rows)
    pq.write_table(pa.table(columns(rows, 3) | {"s": numbers}), path)
    return path


def write_few(path: Path, rows: int = 5 * ROWS) -> Path:
    """Many rows of few points."""
    pq.write_table(pa.table(columns(rows, 3)), path)
    return path


def write_wide(path: Path) -> Path:
    """Forty columns."""
    pq.write_table(pa.table(columns(50_000, 50, [f"c{j}" for j in range(40)])), path)
    return path


def write_texts(path: Path, rows: int, letters: int = 520) -> Path:
    """A few points of rows with long sensitive texts that are all different."""
    pq.write_table(pa.table(columns(rows, 3) | {"s": long_texts(rows, letters)}), path, row_group_size=5_000)
    return path


def write_notes(path: Path) -> Path:
    """The same texts in a column beside, in one row group."""
    pq.write_table(pa.table(columns(150_000, 3) | {"note": long_texts(150_000, 520)}), path)
    return path


def write_csv(path: Path) -> Path:
    """A file of 100 MB."""
    pc.write_csv(pa.table(columns(180_000, 3) | {"note": long_texts(180_000, 520)}), path)
    return path


def write_cell(path: Path) -> Path:
    """One cell of 30 MB among short ones."""
    rows = columns(50_000, 3)
    pc.write_csv(pa.table(rows | {"note": ["x"] * 49_999 + ["y" * 30_000_000]}), path)
    return path


def long_texts(rows: int, letters: int) -> list[str]:
    """Texts that are all different."""
    rng = np.random.default_rng(1)
    return [rng.bytes(letters // 2).hex() for _ in range(rows)]


def release(
    table: Path, target: Any, limit: int, *more: str, k: int = 10, names: list[str] = COLUMNS, fault: str = ""
) -> Any:
    """A release in a process of its own: its exit code, what it says, and its peak memory in MB."""
    words = ["release", str(table), "-o", str(target), "--qi", *names, "--sensitive", "s", "--k", str(k)]
    return run([*words, "--effort", "quick", "--no-ledger", *more], limit, fault)


def release_twice(table: Path, folder: Path, limit: int) -> Any:
    """A release that is compared with one before it, which lies beside it."""
    first, second = folder / "first.parquet", folder / "second.parquet"
    release(table, first, limit, k=2_000)
    return release(table, second, limit, "--earlier", str(first), "--allow-composition", k=5_000)


def run(words: list[str], limit: int, fault: str = "") -> tuple[int, dict[str, Any], float]:
    """A command in a process of its own: its exit code, what it says, and its peak memory in MB."""
    asked = [sys.executable, "-c", CHILD.format(fault=fault), *words, "--memory", f"{limit}MB", "--json"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    seen = re.search(r"VmHWM:\s+(\d+) kB", done.stderr)  # not there where it was killed
    said = done.stdout or next((line for line in done.stderr.splitlines() if line.startswith("{")), "{}")
    return done.returncode, json.loads(said), int(seen[1]) * 1024 / 1e6 if seen else float("inf")


def follow(tally: Tally, what: str, limit: int, work: Callable[[int], tuple[int, dict[str, Any], float]]) -> None:
    """Work under a limit, then under the number that the refusal names, until it is done."""
    for hop in range(HOPS + 1):
        code, found, peak = work(limit)
        tally.cases += 1
        tally.faults += code == 5
        says = found.get("message", "done")
        print(f"{what}: --memory {limit}MB, exit code {code}, peak {peak:.0f} MB, {peak / limit:.2f} times: {says}")
        tally.figures["worst_times"] = max(tally.figures.get("worst_times", 0.0), round(peak / limit, 2))
        tally.expect(peak <= MOST * limit, f"{what}: {peak:.0f} MB with --memory {limit}MB")
        if not tally.expect(code in (0, 5), f"{what}: exit code {code} with --memory {limit}MB") or code == 0:
            return
        named = re.search(r"takes? about ([\d,]+) MB", says)
        if not tally.expect(named is not None, f"{what}: refused without a number"):
            return
        more = int(named[1].replace(",", "")) if named else 0
        if not tally.expect(more > limit and hop < HOPS, f"{what}: {more} MB are said to be enough, and are not"):
            return
        limit = more


def main() -> int:
    """Tables of several shapes, from the smallest limit on."""
    tally = Tally("memory")
    with own_place() as place:
        target, distinct = place / "out.parquet", write_table(place / "t.parquet")
        notes, text = write_notes(place / "notes.parquet"), write_csv(place / "notes.csv")
        cell, texts = write_cell(place / "cell.csv"), write_texts(place / "long.parquet", 400_000)
        wide, forty = write_wide(place / "wide.parquet"), [f"c{j}" for j in range(40)]
        many, database = write_few(place / "many.parquet"), f"duckdb:{place / 'out.db'}#released"
        numbers = write_numbers(place / "numbers.parquet")
        beside = ("--certificate", str(place / "released.json"))
        plain = ("--qi", *COLUMNS, "--max-dimension", "0")
        keep, few = ("--keep", "note"), ("--max-points", "1000")
        follow(tally, "less than the program takes", 150, lambda limit: release(distinct, target, limit))
        follow(tally, "nearly distinct rows", LIMIT, lambda limit: release(distinct, target, limit))
        follow(tally, "a spectrum", LEAST, lambda limit: run(["spectrum", str(distinct), "--qi", *COLUMNS], limit))
        follow(tally, "forty columns", LEAST, lambda limit: release(wide, target, limit, *few, names=forty))
        follow(tally, "kept texts", LIMIT, lambda limit: release(notes, target, limit, *keep))
        follow(tally, "kept texts of CSV", LEAST, lambda limit: release(text, place / "out.csv", limit, *keep))
        follow(tally, "a cell of 30 MB", LIMIT, lambda limit: release(cell, place / "out.csv", limit, *keep))
        follow(tally, "long sensitive texts", 450, lambda limit: release(texts, target, limit))
        follow(tally, "different sensitive numbers", LEAST, lambda limit: release(numbers, target, limit))
        follow(tally, "a table of DuckDB", LEAST, lambda limit: release(many, database, limit, *beside))
        follow(tally, "kept texts in DuckDB", LEAST, lambda limit: release(notes, database, limit, *beside, *keep))
        follow(tally, "a second release", LEAST, lambda limit: release_twice(many, place, limit))
        follow(tally, "a barcode", LEAST, lambda limit: run(["barcode", str(distinct), *plain], limit))
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())

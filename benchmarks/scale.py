"""Large tables: a made-up town of 1M, 10M and 100M people, released on DuckDB, beside DuckDB's own GROUP BY and COPY.

    python benchmarks/scale.py                       1M and 10M people, 4 and 8 quasi-identifiers: about 10 minutes
    python benchmarks/scale.py --people 1000000      a small run
    python benchmarks/scale.py --people 100000000    as large as the disk allows

Every figure is of a process of its own, ours and DuckDB's in turn; the table goes to docs/scale.md.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import disk_usage
from time import monotonic, process_time

import duckdb

from kech.demo import DIAGNOSES, JOBS, SCHOOLING

PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
COLUMNS = ["age", "sex", "zip", "schooling", "moved_in", "job", "income", "household"]
MEMORY, POINTS = "3GB", 200_000
BYTES_A_ROW = 40  # of disk: source, release and what spills
SEXES = {"female": 0.505, "male": 0.485, "other": 0.01}
BEGIN, END = "<!-- scale: begin -->", "<!-- scale: end -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--stage", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stage:
        print(json.dumps(STAGES[given.stage[0]](Path(given.stage[1]), COLUMNS[: int(given.stage[2])])))
        return
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for people in given.people:
            if people * BYTES_A_ROW > disk_usage(folder).free:
                print(f"{people:,} people: the disk is too small")
                continue
            town = write_town(people, Path(folder) / "town.parquet")
            for columns in (4, 8):
                lines.append(measure(people, town, columns))
                print(lines[-1], flush=True)
    text = PAGE.read_text("utf-8")
    table = "\n".join([BEGIN, "", *HEAD, *lines, "", END])
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: table, text, flags=re.S), "utf-8")


HEAD = [
    "| people | columns | points | read + group | spectrum | release | verify | peak of the release "
    "| DuckDB GROUP BY + COPY | release / DuckDB |",
    "|---|---|---|---|---|---|---|---|---|---|",
]


def measure(people: int, town: Path, columns: int) -> str:
    """A line of the table: seconds of the clock and MB of memory."""
    found = {name: run_stage(name, town, columns) for name in STAGES}
    release, yardstick = found["release"], found["duckdb"]
    seconds = " | ".join(f"{found[name]['seconds']:.1f} s" for name in ("points", "spectrum", "release", "verify"))
    return (
        f"| {people:,} | {columns} | {found['points']['points']:,} | {seconds} | {release['peak']:,.0f} MB "
        f"| {yardstick['seconds']:.1f} s | {release['seconds'] / yardstick['seconds']:.1f} |"
    )


def run_stage(name: str, town: Path, columns: int) -> dict[str, float]:
    """One stage in a process of its own."""
    words = [sys.executable, __file__, "--stage", name, str(town), str(columns)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(f"  {columns} columns, {name}: {found}", flush=True)
    return found


# -- stages, each in a process of its own ----------------------------------------------------------------


def timed(work):  # type: ignore[no-untyped-def]
    """Seconds of the clock and of all cores, and the peak memory so far."""

    def run(town: Path, columns: list[str]) -> dict[str, float]:
        clock, cpu = monotonic(), process_time()
        also = work(town, columns) or {}
        peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
        spent = {"seconds": monotonic() - clock, "cpu": process_time() - cpu}
        return spent | {"peak": int(peak[1]) * 1024 / 1e6 if peak else 0} | also

    return run


def opened(town: Path, columns: list[str]):  # type: ignore[no-untyped-def]
    import kech

    return kech.read_table(town, quasi_identifiers=columns, sensitive=["diagnosis"], memory=MEMORY)


@timed
def group(town: Path, columns: list[str]) -> dict[str, int]:
    """Read the table and find its points."""
    from kech.points import Coarse, build_points

    with opened(town, columns) as table:
        return {"points": len(build_points(table, with_secrets=True, coarse=Coarse(POINTS, 5)).weights)}


@timed
def spectrum(town: Path, columns: list[str]) -> None:
    """What k = 5, 10 and 50 would cost."""
    import kech

    with opened(town, columns) as table:
        kech.compute_spectrum(table, k=[5, 10, 50], effort="quick", max_points=POINTS)


@timed
def release(town: Path, columns: list[str]) -> None:
    """From the file to the released file with its certificate, without the ledger."""
    import kech

    with opened(town, columns) as table:
        made = kech.make_release(table, k=5, effort="quick", max_points=POINTS)
        made.write(town.with_name("released.parquet"), ledger=False)


@timed
def verify(town: Path, columns: list[str]) -> None:
    """The written file, from itself alone."""
    import kech

    del columns
    kech.check_certificate(town.with_name("released.parquet"))


@timed
def plain(town: Path, columns: list[str]) -> None:
    """DuckDB alone: group the same columns, and copy the same table."""
    names = ", ".join(columns)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE g AS SELECT {names}, count(*) FROM '{town}' GROUP BY {names}")
        target = town.with_name("copy.parquet")
        connection.execute(f"COPY (SELECT {names}, diagnosis FROM '{town}') TO '{target}' (FORMAT parquet)")


STAGES = {"duckdb": plain, "points": group, "spectrum": spectrum, "release": release, "verify": verify}


# -- the town ----------------------------------------------------------------------------------------------


def write_town(people: int, path: Path) -> Path:
    """Made-up people, the same for every run: eight quasi-identifiers of every kind and a diagnosis."""
    chances = ", ".join(f"(hash(i * 16 + {x}) >> 11) / 9007199254740992.0 AS x{x}" for x in range(1, 14))
    bell = "sqrt(-2 * ln(1 - {})) * cos(6.283185307179586 * {})"
    with duckdb.connect(config={"memory_limit": "2GB"}) as connection:
        connection.execute(
            f"""COPY (SELECT
                CAST(greatest(0, least(104, 45 + 18 * {bell.format("x1", "x2")})) AS INTEGER) AS age,
                {pick("x3", SEXES)} AS sex,
                '0' || (2100 + 10 * CAST(floor(12 * x4 * x4) AS INTEGER) + CAST(floor(10 * x5) AS INTEGER)) AS zip,
                {pick("x6", SCHOOLING)} AS schooling,
                DATE '2025-12-31' - CAST(floor(x8 * x8 * 36500) AS INTEGER) AS moved_in,
                CASE WHEN x7 < 0.97 THEN {pick("x9", JOBS)} END AS job,
                CAST(100 * round(exp(10.2 + 0.6 * {bell.format("x10", "x11")}) / 100) AS INTEGER) AS income,
                CAST(1 + floor(6 * x12 * x12) AS INTEGER) AS household,
                {pick("x13", DIAGNOSES)} AS diagnosis
            FROM (SELECT {chances} FROM range({people}) AS people(i))) TO '{path}' (FORMAT parquet)"""
        )
    return path


def pick(chance: str, shares: dict[str, float]) -> str:
    """SQL for values drawn with their shares."""
    total, below, cases = sum(shares.values()), 0.0, []
    for value, share in shares.items():
        below += share / total
        cases.append(f"WHEN {chance} < {below} THEN '{value}'")
    return f"CASE {' '.join(cases)} ELSE '{next(iter(shares))}' END"


if __name__ == "__main__":
    main()

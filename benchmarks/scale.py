"""Large tables: a made-up town of 1M, 10M and 100M people, released on DuckDB, beside DuckDB's own GROUP BY and COPY.

    python benchmarks/scale.py                       4 and 8 quasi-identifiers, Parquet, and CSV up to 10M people
    python benchmarks/scale.py --people 1000000      a small run

Towns for which the disk is too small are left out, and that is said.  Where pyspark can be imported, the largest town
of at most 10M people is released on Spark with two local threads too.
Every figure is of a process of its own, ours and DuckDB's in turn; the tables go to docs/scale.md.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import disk_usage
from time import monotonic, process_time

import duckdb

from kech.tables.demo import DIAGNOSES, JOBS, SCHOOLING

PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
COLUMNS = ["age", "sex", "zip", "schooling", "moved_in", "job", "income", "household"]
POINTS, EFFORT, K = 200_000, "quick", 5
MEMORY, MORE_MEMORY = "3GB", "16GB"  # for towns that are also written as CSV, and for larger ones
MOST_ON_SPARK = 10_000_000  # people
MOST_AS_CSV = 10_000_000
BYTES_A_ROW = 250  # of disk: sources and releases in both formats, and what spills
TIMES = 10  # so often each row is repeated, to see whether a cut of equal points cares
SEXES = {"female": 0.505, "male": 0.485, "other": 0.01}
BEGIN, END = "<!-- scale: begin -->", "<!-- scale: end -->"
SHOWN = ("points", "spectrum", "release", "verify")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", default=[1_000_000, 10_000_000, 100_000_000])
    parser.add_argument("--stage", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stage:
        name, town, columns, memory = given.stage
        print(json.dumps(STAGES[name](Path(town), COLUMNS[: int(columns)], memory=memory)))
        return
    lines = []
    for line in tables(given.people):
        lines.append(line)
        print(line, flush=True)
        write_page(lines)


def write_page(lines: list[str]) -> None:
    """What is known so far: a stage that fails takes nothing away from the others."""
    table = "\n".join([BEGIN, "", *lines, "", END])
    text = re.sub(f"{BEGIN}.*{END}", lambda _: table, PAGE.read_text("utf-8"), flags=re.S)
    PAGE.write_text(text, "utf-8")


def tables(sizes: list[int]) -> Iterator[str]:
    """The tables of the page, line by line."""
    with tempfile.TemporaryDirectory() as folder:
        towns = [people for people in sizes if people * BYTES_A_ROW <= disk_usage(folder).free]
        yield from [f"{people:,} people: the disk is too small.\n" for people in sizes if people not in towns]
        yield from HEAD
        for people in towns:
            town = write_town(people, Path(folder) / "town.parquet")
            for file in (town, write_csv(town)) if people <= MOST_AS_CSV else (town,):
                yield from (measure(people, file, columns) for columns in (4, 8))
                remove_made(Path(folder))
        yield from repeated(Path(folder), min(towns, default=0))
        yield from on_spark(Path(folder), max((n for n in towns if n <= MOST_ON_SPARK), default=0))


HEAD = [
    "| people | file | columns | points | read + group | spectrum | release | verify | peak of the release "
    "| DuckDB GROUP BY + COPY | release / DuckDB |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
]


def measure(people: int, town: Path, columns: int) -> str:
    """A line of the table: seconds of the clock and MB of memory."""
    memory = MEMORY if people <= MOST_AS_CSV else MORE_MEMORY
    found = {name: run_stage(name, town, columns, memory) for name in ("duckdb", *SHOWN)}
    release, alone = found["release"], found["duckdb"]["seconds"]
    return (
        f"| {people:,} | {kind_of(town)} | {columns} | {found['points']['points']:,} | {seconds(found)} "
        f"| {release['peak']:,.0f} MB | {alone:.1f} s | {release['seconds'] / alone:.1f} |"
    )


def repeated(folder: Path, people: int) -> list[str]:
    """From points to partition: the time of a cut does not know how often each row is there."""
    if not people:
        return []
    once = write_town(people, folder / "town.parquet")
    found = [run_stage(name, once, 4) for name in ("cut", "cut of repeated rows")]
    remove_made(folder)
    first, second = (f"{stage['cut']:.1f} s ({stage['points']:,} points)" for stage in found)
    return [
        "",
        f"From points to partition, {people:,} rows on 4 columns, `--grid exact`, k = {K}: {first}; "
        f"each row {TIMES} times, k = {TIMES * K}: {second}.",
    ]


def on_spark(folder: Path, people: int) -> list[str]:
    """The same stages on Spark, Parquet in and out."""
    if not people or find_spec("pyspark") is None:
        return []
    town = write_town(people, folder / "town.parquet")
    lines = [
        "",
        "On Spark with two local threads, the start of its Java included; memory is of Python and Java together:",
        "",
    ]
    lines += [
        "| people | columns | read + group | spectrum | release | verify | peak of the release |",
        "|---|---|---|---|---|---|---|",
    ]
    for columns in (4, 8):
        found = {name: run_stage(f"spark {name}", town, columns) for name in SHOWN[:-1]}
        found["verify"] = run_stage("verify", town, columns)
        remove_made(folder)
        lines.append(f"| {people:,} | {columns} | {seconds(found)} | {found['release']['peak']:,.0f} MB |")
    return lines


def seconds(found: dict[str, dict[str, float]]) -> str:
    """The cells of all stages that are shown."""
    return " | ".join(f"{found[name]['seconds']:.1f} s" for name in SHOWN)


def kind_of(town: Path) -> str:
    """What a file is called in the table."""
    return {".parquet": "Parquet", ".csv": "CSV"}[town.suffix]


def remove_made(folder: Path) -> None:
    """What stages wrote; the next ones begin anew."""
    for made in [*folder.glob("released.*"), *folder.glob("copy.*"), *folder.glob("repeated.*")]:
        made.unlink()


def run_stage(name: str, town: Path, columns: int, memory: str = MEMORY) -> dict[str, float]:
    """One stage in a process of its own, which must not find the answers of another."""
    words = [sys.executable, __file__, "--stage", name, str(town), str(columns), memory]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(f"  {kind_of(town)}, {columns} columns, {name}: {found}", flush=True)
    return found


# -- stages, each in a process of its own ----------------------------------------------------------------


def timed(work):  # type: ignore[no-untyped-def]
    """Seconds of the clock and of all cores, and the peak memory so far."""

    def run(town: Path, columns: list[str], **how: str) -> dict[str, float]:
        clock, cpu = monotonic(), process_time()
        also = work(town, columns, **how) or {}
        return {"seconds": monotonic() - clock, "cpu": process_time() - cpu, "peak": peak()} | also

    return run


def peak() -> float:
    """The largest memory of this process, and of the Java it started, in MB."""
    found = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:
            continue
        own, java = int(lines["Pid"]) == os.getpid(), lines["Name"].strip() == "java"
        if own or (java and int(lines["PPid"]) == os.getpid()):
            found += int(lines.get("VmHWM", "0 kB").split()[0]) * 1024
    return found / 1e6


def opened(town: Path, columns: list[str], **how: str):  # type: ignore[no-untyped-def]
    import kech

    return kech.read_table(town, quasi_identifiers=columns, sensitive=["diagnosis"], **how)


@timed
def group(town: Path, columns: list[str], **how: str) -> dict[str, int]:
    """Read the table and find its points, as a release does."""
    from kech.points.points import Coarse, build_points

    with opened(town, columns, **how) as table:
        return {"points": len(build_points(table, with_sensitive=True, coarse=Coarse(POINTS, K)).weights)}


@timed
def spectrum(town: Path, columns: list[str], **how: str) -> None:
    """What k = 5, 10 and 50 would cost."""
    import kech

    with opened(town, columns, **how) as table:
        kech.compute_spectrum(table, k=[5, 10, 50], effort=EFFORT, max_points=POINTS)


@timed
def release(town: Path, columns: list[str], **how: str) -> None:
    """From the file to the released file of the same format with its certificate, without the ledger."""
    import kech

    with opened(town, columns, **how) as table:
        made = kech.make_release(table, k=K, effort=EFFORT, max_points=POINTS)
        made.write(town.with_name("released" + town.suffix), ledger=False)


@timed
def verify(town: Path, columns: list[str], memory: str) -> None:
    """The written file, from itself alone."""
    import kech

    del columns, memory
    kech.check_certificate(town.with_name("released" + town.suffix))


@timed
def plain(town: Path, columns: list[str], memory: str) -> None:
    """DuckDB alone: group the same columns, and copy the same table to a file of the same format."""
    del memory  # it may take what it likes
    names = ", ".join(columns)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE g AS SELECT {names}, count(*) FROM '{town}' GROUP BY {names}")
        target = town.with_name("copy" + town.suffix)
        connection.execute(f"COPY (SELECT {names}, diagnosis FROM '{town}') TO '{target}'")


@timed
def cut(town: Path, columns: list[str], memory: str, times: int = 1) -> dict[str, float]:
    """From points to partition alone; each row of the table is there so many times."""
    from kech.cuts import Wishes
    from kech.cuts.dispatcher import cut_points
    from kech.points.points import Coarse
    from kech.request import Labels
    from kech.spectrum import coded_points

    if times > 1:
        source, town = town, town.with_name("repeated.parquet")
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT t.* FROM '{source}' AS t, range({times})) TO '{town}'")
    with opened(town, columns, memory=memory) as table:
        points = coded_points(table, "local", Labels(grid="exact"), Coarse(POINTS, K * times))
        begin = monotonic()
        list(cut_points(points, [K * times], "local", Wishes(table.threads, effort=EFFORT)))
        return {"cut": monotonic() - begin, "points": len(points.weights)}


def spark(stage):  # type: ignore[no-untyped-def]
    """A stage on Spark with two local threads."""

    def run(town: Path, columns: list[str], memory: str) -> dict[str, float]:
        found: dict[str, float] = stage(town, columns, memory=memory, engine="spark", master="local[2]")
        return found

    return run


STAGES = {
    "duckdb": plain,
    "points": group,
    "spectrum": spectrum,
    "release": release,
    "verify": verify,
    "cut": cut,
    "cut of repeated rows": lambda town, columns, memory: cut(town, columns, memory=memory, times=TIMES),
    "spark points": spark(group),
    "spark spectrum": spark(spectrum),
    "spark release": spark(release),
}


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


def write_csv(town: Path) -> Path:
    """The same town as CSV."""
    path = town.with_suffix(".csv")
    with duckdb.connect(config={"memory_limit": "2GB"}) as connection:
        connection.execute(f"COPY (FROM '{town}') TO '{path}'")
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

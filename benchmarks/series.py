"""Series: what twelve monthly versions lose against one fresh cut of the last, and the CPU of an update.

usage: python benchmarks/series.py [--parts losses clinic updates] [--tables town] [--rows 2000] [--sizes 100000]
                                   [--columns 4]

Each month a share of rows arrives and 2 % leave.  Four made-up tables: a town; a skewed one with heavy tails; one with
hierarchies; and visits of people who have several.  The CPU of an update is measured beside a fresh release of the
same table, stage by stage, each in a process of its own, with 5 % arrivals.  Parts that are not asked for stay as they
were measured; without parts, the page is drawn again.  A run that was stopped goes on where it was: lines measured at
the same commit are not measured again, but with --anew.
"""

import argparse
import json
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import chain, product
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import kech
from kech.tables.demo import write_demo_key
from measure import run_once
from page import draw_line
from people import make_visits
from run import HERE, ROOT, describe_run
from scale import write_town

RESULTS, PAGE = HERE / "results" / "series.json", HERE / "pages" / "series.md"
VERSIONS, DEPARTURES, CAP = 12, 0.02, 1800.0
GROWTH, KS = (0.01, 0.05, 0.2), (5, 20)
WAITING = ((0.0, 0.0), (0.3, 0.0), (0.0, 5.5))  # share of the new rows that may wait; months that all of them gather
RUNS = 3  # of each update and each fresh release, of which the middle one counts
ARRIVALS = 0.05  # of the update whose CPU is measured
CLINIC = (20_000, 500, 200)  # rows, arrivals and departures a month
REGIONS = {f"region {i}": {f"town {i}{j}": [f"{i}{j}{n}" for n in range(5)] for j in range(4)} for i in range(5)}
TOWN = ["age", "sex", "zip", "schooling"]
MORE = [*TOWN, "moved_in", "job", "income", "household"]


# -- tables ----------------------------------------------------------------------------------------------------


def make_town(rows: int) -> pa.Table:
    """The town of the scale benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        return pq.read_table(write_town(rows, Path(folder) / "town.parquet"))


def make_skewed(rows: int) -> pa.Table:
    """Incomes and stays with heavy tails, few common places and many rare ones."""
    rng = np.random.default_rng(11)
    return pa.table(
        {
            "income": np.round(np.exp(rng.normal(9, 1.2, rows)), -1).astype(int),
            "stay": np.minimum(rng.pareto(1.2, rows) * 3, 400).astype(int),
            "place": [f"p{n:03}" for n in np.minimum(rng.zipf(1.5, rows), 400)],
            "age": rng.integers(18, 95, rows),
            "diagnosis": rng.choice(["flu", "cold", "burn", "gout"], rows, p=[0.5, 0.3, 0.15, 0.05]),
        }
    )


def make_regions(rows: int) -> pa.Table:
    """A place and a kind of work under hierarchies, and an age."""
    rng = np.random.default_rng(12)
    places = [place for towns in REGIONS.values() for each in towns.values() for place in each]
    return pa.table(
        {
            "place": rng.choice(places, rows, p=np.diff(np.linspace(0, 1, len(places) + 1) ** 2)),
            "work": rng.choice(places, rows),
            "age": rng.integers(18, 95, rows),
            "diagnosis": rng.choice(["flu", "cold", "burn", "gout"], rows),
        }
    )


def make_people(rows: int) -> pa.Table:
    """Visits in the order of days; a person has 1 to 5 of them."""
    visits = make_visits(rows + 100, 3, "stable").slice(0, rows).sort_by("day")
    return visits.rename_columns([{"finding": "diagnosis"}.get(name, name) for name in visits.column_names])


TABLES: dict[str, tuple[Callable[[int], pa.Table], dict[str, Any]]] = {
    "town": (make_town, {"quasi_identifiers": TOWN}),
    "skewed": (make_skewed, {"quasi_identifiers": ["income", "stay", "place", "age"]}),
    "hierarchies": (
        make_regions,
        {"quasi_identifiers": ["place", "work", "age"], "hierarchies": {"place": REGIONS, "work": REGIONS}},
    ),
    "visits of people": (make_people, {"quasi_identifiers": ["age", "zip", "sex", "day"], "person": ["patient"]}),
}


def list_versions(rows: int, arrivals: Callable[[int], int], departures: Callable[[int], int]) -> list[Any]:
    """The rows of each version: of those that are there some leave at random, and the next ones arrive."""
    rng, there, last = np.random.default_rng(3), np.arange(rows), rows
    versions = [there]
    for _ in range(VERSIONS - 1):
        new = arrivals(len(there))
        stay = np.delete(there, rng.choice(len(there), departures(len(there)), replace=False))
        there, last = np.r_[stay, np.arange(last, last + new)], last + new
        versions.append(there)
    return versions


# -- loss ------------------------------------------------------------------------------------------------------


def measure_loss(name: str, rows: int, growth: float, k: int, wait: float, months: float) -> dict[str, Any]:
    """A series of versions, and one fresh cut of the last of them."""
    make, roles = TABLES[name]
    versions = list_versions(rows, lambda n: round(n * growth), lambda n: round(n * DEPARTURES))
    whole = number_rows(make(int(versions[-1].max()) + 1))
    said, fresh = publish_year(whole, versions, roles, k, wait=wait, gather=round(months * rows * growth))
    counts = said["series"]
    line = {"table": name, "growth": growth, "k": k, "wait": wait, "months": months}
    line |= {"first": rows, "rows": len(versions[-1])}
    return (
        line
        | {"fresh": fresh, "loss": said["loss"], "over": said["loss"] / fresh}
        | {x: counts[x] for x in ("waiting", "held")}
    )


def publish_year(
    whole: pa.Table, versions: list[Any], roles: dict[str, Any], k: int, *, checks: bool = False, **waiting: float
) -> tuple[dict[str, Any], float]:
    """What the last version of a series says, and the loss of a fresh cut of its table."""
    own = {"sensitive": ["diagnosis"]} | ({} if "person" in roles else {"rows_are_people": True})
    with tempfile.TemporaryDirectory() as folder:
        series = kech.open_series(Path(folder) / "series")
        for number, there in enumerate(versions):
            rows = whole.take(pa.array(there))
            with kech.read_table(rows, **roles, **own, key=["visit_id"]) as table:
                said = series.publish(table, Path(folder) / f"{number}.parquet", k=k, **waiting, ledger=False)
        holds = kech.verify_series(series)["holds"] if checks else None
        with kech.read_table(rows, **roles, **own) as table:
            fresh = kech.make_release(table, k=k).public_loss
    return said | {"holds": holds}, fresh


def number_rows(table: pa.Table) -> pa.Table:
    """With a key for each row."""
    return table.append_column("visit_id", pa.array([f"v{i:08}" for i in range(table.num_rows)]))


def measure_clinic() -> Iterator[dict[str, Any]]:
    """A year of a made-up clinic."""
    rows, arrivals, departures = CLINIC
    versions = list_versions(rows, lambda _: arrivals, lambda _: departures)
    whole = number_rows(make_town(int(versions[-1].max()) + 1))
    for wait, months in WAITING:
        if is_known("clinic", wait=wait, months=months):
            continue
        began, gather = process_time(), round(months * arrivals)
        said, fresh = publish_year(whole, versions, TABLES["town"][1], 5, checks=True, wait=wait, gather=gather)
        counts = {name: said["series"][name] for name in ("cohorts", "waiting", "held")}
        line = {"wait": wait, "months": months, "loss": said["loss"], "fresh": fresh, "holds": said["holds"]}
        yield line | counts | {"cpu": process_time() - began}


# -- CPU -------------------------------------------------------------------------------------------------------

STAGES = {  # the functions that read and hash the table, write the file, check it, match rows and cut them
    "kech": {"read_table": "reading"},
    "kech.tables.engine.Engine": {"read_texts": "reading"},
    "kech.release.series.store.Store": {"read_history": "reading"},
    "kech.release.series.matching": {"hash_whole": "reading", "hash_keys": "reading", "hash_people": "reading"},
    "kech.release.series.series": {"match_rows": "matching", "cut_pool": "cutting"},
    "kech.release.series.update": {
        "copy_old": "writing",
        "write_pool": "writing",
        "write_shuffled": "writing",
        "make_certificate": "checking",
    },
    "kech.release.making": {"cut_release": "cutting"},
    "kech.release.release": {"make_certificate": "checking", "write_batches": "writing"},
    "kech.release.release.Release": {"batches": "writing"},
}
WHATS = ("update", "fresh")
ASIDE = ("reading", "writing", "checking")  # they pass by every row, whatever changed


def read_java_cpu() -> float:
    """CPU seconds of the Java of this process, if it runs Spark."""
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    if context is None or context._gateway is None:
        return 0.0
    words = Path(f"/proc/{context._gateway.proc.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def watch_stages() -> Iterator[Counter[str]]:
    """CPU seconds of each stage without those inside it; those of Java under names of their own."""
    spent: Counter[str] = Counter()
    inside: list[tuple[float, float]] = []

    def watch(holder: Any, name: str, stage: str) -> None:
        function = getattr(holder, name)

        def measured(*given: Any, **named: Any) -> Any:
            began, in_java = process_time(), read_java_cpu()
            inside.append((0.0, 0.0))
            try:
                return function(*given, **named)
            finally:
                took = process_time() - began, read_java_cpu() - in_java
                others = inside.pop()
                spent[stage] += took[0] - others[0]
                spent[f"java {stage}"] += took[1] - others[1]
                if inside:
                    inside[-1] = inside[-1][0] + took[0], inside[-1][1] + took[1]

        setattr(holder, name, measured)

    for place, names in STAGES.items():
        module, _, last = place.rpartition(".")
        holder = getattr(import_module(module), last) if last[0].isupper() else import_module(place)
        for name, stage in names.items():
            watch(holder, name, stage)
    yield spent


def run_stage(what: str, first: str, second: str, folder: str, columns: str, engine: str) -> dict[str, float]:
    """An update or a fresh release in this process: CPU seconds by stage, and seconds of the clock."""
    roles: dict[str, Any] = {"quasi_identifiers": columns.split(","), "sensitive": ["diagnosis"]}
    roles |= {"engine": "spark", "master": "local[2]"} if engine == "Spark" else {}
    warnings.simplefilter("ignore")
    with kech.read_table(make_town(500), **roles) as table:  # what is imported late is imported now
        kech.make_release(table, k=5).write(Path(folder) / "warm.parquet", ledger=False)
    if what == "update":
        publish_one(first, folder, roles, "first")
    with watch_stages() as spent:
        began, in_java, clock = process_time(), read_java_cpu(), perf_counter()
        if what == "update":
            publish_one(second, folder, roles, "second")
        else:
            with kech.read_table(second, **roles, identifiers=["visit_id"]) as table:
                kech.make_release(table, k=5).write(Path(folder) / "fresh.parquet", ledger=False)
        found = {"all": process_time() - began, "java all": read_java_cpu() - in_java, "wall": perf_counter() - clock}
        return found | {stage: seconds for stage, seconds in spent.items() if seconds or not stage.startswith("java")}


def publish_one(source: str, folder: str, roles: dict[str, Any], name: str) -> None:
    """The next version of a series."""
    with kech.read_table(source, **roles, key=["visit_id"]) as table:
        series = kech.open_series(Path(folder) / "series")
        series.publish(table, Path(folder) / f"{name}.parquet", k=5, ledger=False)


def measure_cpu(rows: int, columns: list[str], engine: str, sources: tuple[str, str]) -> dict[str, Any]:
    """An update and a fresh release of one table."""
    found = {}
    for what in WHATS:
        runs = [run_alone(what, columns, engine, sources) for _ in range(RUNS)]
        found[what] = sorted(runs, key=lambda run: run.get("all", CAP))[RUNS // 2]
    return {"rows": rows, "columns": len(columns), "engine": engine, **found}


def run_alone(what: str, columns: list[str], engine: str, sources: tuple[str, str]) -> dict[str, Any]:
    """One of the two in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--stage", what, *sources, folder, ",".join(columns), engine]
        ran = run_once([str(ON_SPARK) if engine == "Spark" else sys.executable, __file__, *words], CAP)
    return json.loads(ran["said"]) if ran["outcome"] == "done" else ran


def measure_updates(rows: int, counts: Sequence[int]) -> Iterator[dict[str, Any]]:
    """On DuckDB, from Parquet, with few and many columns; where they can be had, in PostgreSQL and on Spark."""
    pairs = [("DuckDB", TOWN), ("DuckDB", MORE)]
    pairs += [("PostgreSQL", TOWN), *([("Spark", TOWN)] if ON_SPARK.exists() else [])] if rows <= MOST_ELSEWHERE else []
    pairs = [each for each in pairs if len(each[1]) in counts]
    pairs = [each for each in pairs if not is_known("updates", engine=each[0], rows=rows, columns=len(each[1]))]
    if not pairs:
        return
    with tempfile.TemporaryDirectory() as folder:
        more = number_rows(make_town(round(rows * (1 + ARRIVALS))))
        order = np.random.default_rng(4).permutation(more.num_rows)
        tables = {"first": more.slice(0, rows), "second": more.take(pa.array(order))}
        for name, table in tables.items():
            pq.write_table(table, Path(folder) / f"{name}.parquet")
        files = (str(Path(folder) / "first.parquet"), str(Path(folder) / "second.parquet"))
        for engine, columns in pairs:
            if engine == "PostgreSQL":
                yield from measure_postgres(rows, files)
            else:
                yield measure_cpu(rows, columns, engine, files)


MOST_ELSEWHERE = 100_000
ON_SPARK = ROOT / ".venv-spark" / "bin" / "python"  # make test-spark


def measure_postgres(rows: int, files: tuple[str, str]) -> Iterator[dict[str, Any]]:
    """The same tables in a server of our own."""
    import psycopg

    sys.path.insert(0, str(ROOT / "tests"))
    running_postgres = import_module("servers").running_postgres
    with running_postgres() as url:
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            for file in files:
                fill_table(cursor, Path(file))
        yield measure_cpu(rows, TOWN, "PostgreSQL", (f"{url}?table=first", f"{url}?table=second"))


def fill_table(cursor: Any, file: Path) -> None:
    """A table of a server with the rows of a file."""
    table, types = pq.read_table(file), {"int32": "integer", "date32[day]": "date"}
    columns = ", ".join(f"{field.name} {types.get(str(field.type), 'text')}" for field in table.schema)
    cursor.execute(f"CREATE TABLE {file.stem} ({columns})")
    with cursor.copy(f"COPY {file.stem} FROM STDIN (FORMAT csv)") as copy, pa.BufferOutputStream() as sink:
        pyarrow.csv.write_csv(table, sink, pyarrow.csv.WriteOptions(include_header=False))
        copy.write(sink.getvalue().to_pybytes())


# -- page ------------------------------------------------------------------------------------------------------


def draw_page(found: dict[str, Any]) -> str:
    """The page of the manual: the parts that were measured."""
    machine = found["machine"]
    head = f"""# Series against fresh cuts, measured

Generated by `python benchmarks/series.py`; do not edit. Machine: {machine["processor"]}, {machine["cores"]} cores,
which others used meanwhile.
"""
    drawn = {"losses": draw_losses, "clinic": draw_clinic, "updates": draw_updates}
    return "\n".join(
        [head, *(draw(found[part]) + draw_commits(found[part]) for part, draw in drawn.items() if part in found)]
    )


def draw_commits(lines: list[dict[str, Any]]) -> str:
    """The commits that the lines of a part were measured at."""
    return f"\nMeasured at {', '.join(sorted({line['commit'] for line in lines}))}.\n"


def draw_losses(losses: list[dict[str, Any]]) -> str:
    """A line for each table and growth; what was not measured is a dash."""
    known = {(x["table"], x["growth"], x["k"], (x["wait"], x["months"])): f"{x['over']:.2f}" for x in losses}
    pairs = sorted({(x["table"], x["growth"]) for x in losses}, key=lambda pair: (list(TABLES).index(pair[0]), pair[1]))
    asked = list(product(KS, WAITING))
    lines = (
        f"| {table} | {growth:.0%} | {' | '.join(known.get((table, growth, *each), '–') for each in asked)} |"
        for table, growth in pairs
    )
    return f"""## Loss

Twelve versions, the first of {losses[0]["first"]:,} rows; each month 2 % of the rows leave and a share arrives. Figures
are the loss of the last version over that of a fresh cut. *Wait*: `--wait 30%`. *Gather*: new rows wait until those of
half a year have gathered (`--gather`). Rows that wait at last are in no loss.

Cohorts and edges of labels come from the rows that are published at once. A class of k of A rows in d columns is about
(k / A)^(1/d) wide: six times as many rows make it 6^(-1/d) as wide, 0.64 in four columns. A share w that waits makes
the pool 1 / (1 - w) as large in the long run, but as many rows as before are published at once, and those that wait
take no part in the edges. Of 20 arrivals a month (1 %) a share that waits seldom pays, of 100 and 400 mostly, but not
on the skewed table; gathering always pays.

| table | growth a month | k = 5 | k = 5, wait | k = 5, gather | k = 20 | k = 20, wait | k = 20, gather |
|---|---|---|---|---|---|---|---|
{chr(10).join(lines)}
"""


def draw_clinic(years: list[dict[str, Any]]) -> str:
    """A line for each year."""
    lines = (
        f"| {year['wait']:.0%} | {year['months']:.1f} | {year['loss']:.4f} | {year['loss'] / year['fresh']:.2f} "
        f"| {year['cohorts']:,} | {year['waiting']} | {year['held']} | {'yes' if year['holds'] else 'no'} "
        f"| {year['cpu']:.0f} |"
        for year in years
    )
    return f"""## A year of a made-up clinic

20,000 rows, then 500 arrivals and 200 departures a month, k = 5, four columns. *Last loss* is of the last version.

| wait | gather, months | last loss | over a fresh cut | cohorts | rows that wait | rows held | all files hold | CPU s |
|---|---|---|---|---|---|---|---|---|
{chr(10).join(lines)}
"""


def draw_updates(updates: list[dict[str, Any]]) -> str:
    """A line for each engine and size."""
    with_java = [add_java(update) for update in updates if "java all" in update["update"]]
    lines = "".join(f"{draw_update(update)}\n" for update in [*updates, *with_java])
    return f"""## CPU of an update

5 % arrivals, k = 5, Parquet out, no ledger; a fresh release of the same table beside it, each in a process of its own,
the middle one of three. Cells are CPU seconds of the update / of the fresh release. *Reading* is reading the table and
the hashes of the series, and hashing rows; *writing* includes reading the last file; *checking* counts the certificate
from what was written. All three pass by every row, whatever changed. *Reading aside* is the rest: looking up hashes
(*matching*), *cutting*, counting values of the whole table to find people with several rows, and keeping the folder.
CPU of a server is not counted, that of Java in a line of its own.

New rows are searched at most three times as long, for each row, as the whole table would be: their loss was 0.2 to 7 %
larger than after a search of their own. Searched only as long as the table, it was 1 to 12 % larger. In a table of more
than 50,000 rows they are searched twice as long (1.6 % of loss on average, 0.1 to 3.4 %), and begin with the cheapest
start (0.5 % on average, -1.7 to +2.5 %).

The goal is a ratio of 0.2 at most. Twice the search of 5 % of the rows is 0.1 of a whole search by itself, and about 20
queries of the engine (counts of values, codes, points) take nearly as long for 5,000 rows as for 100,000. Where a
release takes little more than a second, reading aside, they decide; beyond, the ratio falls with rows and columns.
Spark misses the goal. New rows are cut here, by DuckDB: an update sends 540 messages to Java (1,499 where Spark cut
them), and costs the CPU that it costs on DuckDB, while Java counts for the fresh release. With Java the whole update
takes 0.20 of a release. Spark's lines are one run, on a very busy machine.

| engine | rows | columns | all | ratio | reading | writing | checking | matching | cutting | reading aside | ratio |
|---|---|---|---|---|---|---|---|---|---|---|---|
{lines}"""


def add_java(line: dict[str, Any]) -> dict[str, Any]:
    """An update on Spark and its fresh release, with the CPU of Java in every stage."""
    stages = ("all", *ASIDE, "matching", "cutting")
    both = {what: {x: line[what].get(x, 0.0) + line[what].get(f"java {x}", 0.0) for x in stages} for what in WHATS}
    return line | both | {"engine": "Spark with its Java"}


def draw_update(line: dict[str, Any]) -> str:
    """One update beside its fresh release."""
    pair = line["update"], line["fresh"]
    parts = {stage: [each.get(stage, 0.0) for each in pair] for stage in ("all", *ASIDE, "matching", "cutting")}
    rest = [each["all"] - sum(each.get(stage, 0.0) for stage in ASIDE) for each in pair]
    whole = parts.pop("all")
    first = [line["engine"], f"{line['rows']:,}", str(line["columns"]), draw_pair(whole), draw_ratio(whole)]
    return draw_line([*first, *map(draw_pair, parts.values()), draw_pair(rest), draw_ratio(rest)])


def draw_pair(seconds: list[float]) -> str:
    """Of the update, and of the fresh release."""
    return " / ".join(f"{each:.2f}" for each in seconds)


def draw_ratio(seconds: list[float]) -> str:
    """Of the update over the fresh release."""
    return f"{seconds[0] / seconds[1]:.2f}"


def main() -> None:
    """Measure, write the figures, draw the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--columns", type=int, nargs="+", choices=[4, 8], default=[4, 8])
    parser.add_argument("--anew", action="store_true", help="also measure what was measured at this commit")
    parser.add_argument("--stage", nargs=6, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    os.environ["KECH_KEY_FILE"] = str(write_demo_key(Path(tempfile.mkdtemp())))  # the same figures for everybody
    if asked.stage:
        print(json.dumps(run_stage(*asked.stage)))
        return
    warnings.simplefilter("ignore")
    KNOWN.update({} if asked.anew else read_known())
    for part in asked.parts:
        for line in PARTS[part](asked):
            keep(part, line)
    PAGE.write_text(draw_page(json.loads(RESULTS.read_text("utf-8"))), "utf-8")


def read_known() -> dict[str, list[dict[str, Any]]]:
    """Lines of each part that were measured at this commit."""
    lines, commit = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}, read_commit()
    return {part: [line for line in lines.get(part, []) if line["commit"] == commit] for part in ASKED}


def read_commit() -> str:
    """The commit that lines are stamped with."""
    return str(describe_run(CAP)["versions"]["commit"])


def is_known(part: str, **asked: Any) -> bool:
    """Whether a line was measured at this commit already."""
    return any(all(line[name] == value for name, value in asked.items()) for line in KNOWN.get(part, []))


def keep(part: str, line: dict[str, Any]) -> None:
    """Write one line of a part, so that a run that is stopped loses nothing; the line of before goes."""
    print(line, file=sys.stderr, flush=True)
    known, run = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}, describe_run(CAP)
    others = [old for old in known.get(part, []) if any(old[name] != line[name] for name in ASKED[part])]
    stamped = line | {"commit": run["versions"]["commit"]}
    RESULTS.write_text(json.dumps(known | run | {part: [*others, stamped]}, indent=1) + "\n", "utf-8")


def measure_losses(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All growths, goals and waits of the tables."""
    for name, growth, k, (wait, months) in product(asked.tables, GROWTH, KS, WAITING):
        if not is_known("losses", table=name, first=asked.rows, growth=growth, k=k, wait=wait, months=months):
            yield measure_loss(name, asked.rows, growth, k, wait, months)


PARTS: dict[str, Callable[[argparse.Namespace], Iterable[dict[str, Any]]]] = {
    "losses": measure_losses,
    "clinic": lambda _: measure_clinic(),
    "updates": lambda asked: chain.from_iterable(measure_updates(size, asked.columns) for size in asked.sizes),
}
KNOWN: dict[str, list[dict[str, Any]]] = {}  # lines that need not be measured again
ASKED = {  # what was asked for, by which a line is known again
    "losses": ("table", "growth", "k", "wait", "months"),
    "clinic": ("wait", "months"),
    "updates": ("engine", "rows", "columns"),
}


if __name__ == "__main__":
    main()

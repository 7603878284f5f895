"""People: loss, CPU and memory of releases that hide people, against the same tables by rows.

usage: python benchmarks/people.py [--rows 10000 100000 1000000] [--each 2 5 20] [--k 10] [--kinds ...] [--anew]

A run goes on where the last one ended: what was measured at this commit stays, unless it is asked for anew.
For each table four releases run, each in a fresh process: by people; by rows; and of the first visit of each person
only, which are as many people, once by rows and once by people.  These must be the same, at the same speed.
"""

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kech.tables.demo import write_demo_key
from measure import run_once
from page import draw_line
from run import HERE, describe_run

RESULTS = HERE / "results" / "people.json"
PAGE = HERE / "pages" / "people.md"
CAP = 1800.0
MOST_CPU, MOST_LOSS = 2.0, 1.15  # goals: times that of rows, times that of one row each
ROWS, EACH = [10_000, 100_000, 1_000_000], [2, 5, 20]
QUASI_IDENTIFIERS = ["age", "zip", "sex", "day"]
# Stable: age, zip and sex of a person stay the same.  Changing: zip changes between visits.  Skewed: a few people have
# very many visits.  Few codes: ages in tens, 16 regions and 24 months, so that many rows are equal.
KINDS = ("stable", "changing", "skewed", "few codes")
Name = tuple[int, int, str, int]  # of a table: rows, rows a person, shape, k
JOBS = {  # releases of a table: of which rows, and whether by people
    "people": ("visits", True),
    "rows": ("visits", False),
    "one row each": ("first", False),
    "one row each by people": ("first", True),
}
SINGLES = ("one row each", "one row each by people")

CHILD = """
import hashlib, json, sys
import pyarrow.parquet as pq
import kech

job = json.loads(sys.argv[1])
roles = {"quasi_identifiers": job["quasi_identifiers"], "sensitive": ["finding"]}
roles |= {"person": ["patient"]} if job["by_people"] else {}
with kech.read_table(job["source"], **roles) as table:
    made = kech.make_release(table, k=job["k"])
    certificate = made.write(job["target"], ledger=False)
claims = certificate["claims"]
found = {name: claims[name] for name in ("loss", "classes", "k")}
print(json.dumps(found | {"stated": certificate.get("stated")}))
"""


def make_visits(rows: int, each: int, kind: str, seed: int = 7) -> pa.Table:
    """Visits of rows / each people: most have 1 to 2 * each - 1 of them; a few zips are common, most are rare."""
    rng = np.random.default_rng(seed)
    people = rows // each
    visits = rng.integers(1, 2 * each, people)
    if kind == "skewed":
        visits = np.minimum(rng.zipf(2.0, people) + each // 2, rows // 50)
    person = np.repeat(np.arange(people), visits)[:rows]
    zips = rng.zipf(1.5, people) % 16 if kind == "few codes" else (rng.zipf(1.3, people) % 2000) + 10_000
    zip_now = zips[person]
    if kind == "changing":
        moved = rng.random(len(person)) < 0.5
        zip_now = np.where(moved, zips[rng.integers(0, people, len(person))], zip_now)
    years, days = (10, 30) if kind == "few codes" else (1, 1)
    return pa.table(
        {
            "patient": person,
            "age": rng.integers(18, 95, people)[person] // years * years,
            "zip": zip_now,
            "sex": rng.choice(["f", "m"], people)[person],
            "day": rng.integers(0, 720, len(person)) // days,
            "finding": rng.choice(["flu", "cold", "burn", "cut", "gout"], len(person), p=[0.4, 0.3, 0.15, 0.1, 0.05]),
        }
    )


def measure_table(folder: Path, rows: int, each: int, kind: str, k: int) -> dict[str, Any]:
    """Four releases of one table."""
    visits = make_visits(rows, each, kind)
    first = visits.take(pa.array(np.unique(visits["patient"].to_numpy(), return_index=True)[1]))
    sources = {"visits": visits, "first": first}
    for name, table in sources.items():
        pq.write_table(table, folder / f"{name}.parquet")
    found = {}
    for name, (source, by_people) in JOBS.items():
        target = folder / f"{name.replace(' ', '_')}.parquet"
        job = {
            "source": str(folder / f"{source}.parquet"),
            "target": str(target),
            "quasi_identifiers": QUASI_IDENTIFIERS,
            "by_people": by_people,
            "k": k,
        }
        ran = run_once([sys.executable, "-c", CHILD, json.dumps(job)], CAP)
        said = json.loads(ran.pop("said")) | {"digest": hash_rows(target)} if ran["outcome"] == "done" else {}
        found[name] = ran | said
        print(f"{kind}, {rows:,} rows, {each} each, k={k}, {name}: {found[name]}", file=sys.stderr)
    figures = {"asked": rows, "rows": visits.num_rows, "people": first.num_rows, "each": each, "k": k}
    return {"kind": kind, **figures, "measured": found}


def hash_rows(released: Path) -> str:
    """A digest of the released rows, whatever their order."""
    rows, digest = pq.read_table(released), sha256()
    for cells in rows.sort_by([(name, "ascending") for name in rows.column_names]).columns:
        digest.update(repr(cells.to_pylist()).encode())
    return digest.hexdigest()


def draw_page(found: dict[str, Any]) -> str:
    """The table of the manual."""
    head = (
        "| table | rows | people | k | loss by people | over one row each | over rows | CPU s | over rows | peak GB |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n"
    )
    lines = "".join(f"{draw_visits(table)}\n" for table in found["tables"])
    return f"""# People against rows, measured

Made by `benchmarks/people.py`; do not edit. Each release is a fresh process, from a Parquet file to a Parquet file with
its certificate, default labels, effort normal. *One row each* is a release by rows of the first visit of each person:
as many people, a row each. CPU is user and system seconds of the process.
Machine: {found["machine"]["processor"]}, {found["machine"]["cores"]} cores.

{head}{lines}
{draw_goals(found["tables"])}
{draw_singles(found["tables"])}"""


def draw_goals(tables: list[dict[str, Any]]) -> str:
    """Which tables meet the goals, and why others do not."""
    done = [table["measured"] for table in tables if table["measured"]["people"]["outcome"] == "done"]
    quick = sum(each["people"]["cpu"] <= MOST_CPU * each["rows"]["cpu"] for each in done)
    close = sum(each["people"]["loss"] <= MOST_LOSS * each["one row each"]["loss"] for each in done)
    wanted = list(product(ROWS, EACH, KINDS, [10]))
    lacking = [name for name in wanted if name not in set(map(name_table, tables))]
    missing = [f"- {kind}, {each} rows each, {rows:,} rows" for rows, each, kind, _ in lacking]
    commits = Counter(table["commit"] for table in tables)
    measured = ", ".join(f"{count} at commit {name}" for name, count in commits.items())
    return f"""Measured: {len(wanted) - len(lacking)} of the {len(wanted)} tables of a whole run ({measured}). Not run:

{chr(10).join(missing) or "- none"}

Goals: at most {MOST_CPU:g} times the CPU of a release by rows, which {quick} of {len(done)} tables meet,
and at most {MOST_LOSS:g} times the loss of one row each, which {close} of {len(done)} meet.

CPU grows most where few codes hold many rows. By rows, the engine hands over one point for each tuple of codes; by
people, one for each pair of a person and a tuple, of which there are up to as many as rows. Each pair is read, dealt
to a class and counted once when it is written.
"""


def draw_singles(tables: list[dict[str, Any]]) -> str:
    """Releases of one row each: naming the person must change no row, and cost nothing."""
    pairs = [(table, *(table["measured"].get(name, {"outcome": "not run"}) for name in SINGLES)) for table in tables]
    done = [pair for pair in pairs if pair[1]["outcome"] == pair[2]["outcome"] == "done"]
    same = sum(rows["digest"] == people["digest"] for _, rows, people in done)
    ratios = [people["cpu"] / rows["cpu"] for _, rows, people in done]
    lines = "".join(
        draw_line(
            [
                f"{table['kind']}, the first of {table['each']} rows each",
                f"{table['people']:,}",
                "the same" if rows["digest"] == people["digest"] else "others",
                f"{rows['cpu']:.1f}",
                f"{people['cpu']:.1f}",
                f"{people['cpu'] / rows['cpu']:.2f}",
            ]
        )
        + "\n"
        for table, rows, people in done
    )
    total = sum(people["cpu"] for _, _, people in done) / max(sum(rows["cpu"] for _, rows, _ in done), 1e-9)
    return f"""## Where every person has one row

Released by rows, and again with the person named. Goal: the same rows at the same speed. Released rows are the same in
{same} of {len(done)} tables. All tables together take {total:.2f} times the CPU; single runs lie between
{min(ratios, default=1):.2f} and {max(ratios, default=1):.2f}.

| table | rows and people | released rows | CPU s by rows | by people | over rows |
|---|---|---|---|---|---|
{lines}"""


def draw_visits(table: dict[str, Any]) -> str:
    """One table of visits."""
    people, rows, single = (table["measured"][name] for name in ("people", "rows", "one row each"))
    name = f"{table['kind']}, {table['each']} rows each"
    if people["outcome"] != "done":
        return draw_line([name, f"{table['rows']:,}", "", "", people["outcome"], *[""] * 5])
    losses = f"{people['loss']:.2g}", f"{people['loss'] / single['loss']:.2f}", f"{people['loss'] / rows['loss']:.2f}"
    costs = f"{people['cpu']:.1f}", f"{people['cpu'] / rows['cpu']:.2f}", f"{people['peak_mb'] / 1000:.2f}"
    return draw_line([name, f"{table['rows']:,}", f"{table['people']:,}", str(table["k"]), *losses, *costs])


def main() -> None:
    """Measure, write the figures, draw the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--each", type=int, nargs="+", default=EACH)
    parser.add_argument("--k", type=int, nargs="+", default=[10])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--anew", action="store_true", help="measure again what was measured at this commit")
    asked = parser.parse_args()
    tables = {name_table(table): table for table in json.loads(RESULTS.read_bytes())["tables"]}
    found: dict[str, Any] = describe_run(CAP)
    commit = found["versions"]["commit"]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KECH_KEY_FILE"] = str(write_demo_key(Path(folder)))  # the same figures for everybody
        for wanted in product(asked.rows, asked.each, asked.kinds, asked.k):
            if asked.anew or wanted not in tables or tables[wanted]["commit"] != commit:
                tables[wanted] = measure_table(Path(folder), *wanted) | {"commit": commit}
            found["tables"] = [tables[name] for name in sorted(tables)]
            RESULTS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
            PAGE.write_text(draw_page(found), "utf-8")


def name_table(table: dict[str, Any]) -> Name:
    """Which table it is: the rows, the rows a person and the shape that were asked for, and k."""
    return table["asked"], table["each"], table["kind"], table["k"]


if __name__ == "__main__":
    main()

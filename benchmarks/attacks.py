"""Attacks: what they find on releases at k = 5, seven families of tables, five seeds each.

usage: python benchmarks/attacks.py [--quick] [--page]; writes pages/attacks.md

The first table counts by itself, from the labels in the file and the raw values; the others are `kech attack`.
Naive boxes are those of Mondrian, which end at real values.
"""

import csv
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kech
import replay
from kech.tables.demo import generate_town, write_csv
from loss import mondrian
from page import draw
from run import HERE, describe_run, parse_arguments

sys.path.append(str(HERE.parent))

from benchmarks.public.families import draw_cards, draw_firms, draw_survey

RESULTS, PAGE = HERE / "results" / "attacks.json", HERE / "pages" / "attacks.md"
K, ROWS = 5, 2000
RELEASES: dict[str, dict[str, Any]] = {
    "default": {},
    "`--protect ends`": {"protect": "ends"},
    "`--protect none`": {"protect": "none"},
    "`--grid exact`": {"grid": "exact"},
    "`--cut domain --suppress 0.02`": {"cut": "domain", "suppress": 0.02},
}
REFINED_KS = (5, 10)
REFINED_HEADER = ["table", "k", "release", "in doubt", "put into a class", "pinned to a class", "overlap has no row"]
REFINED = {name: asked for name, asked in RELEASES.items() if "cut" not in asked}

Columns = dict[str, NDArray[Any]]
Boxes = list[list[tuple[float, float]]]


def people(rng: np.random.Generator, rows: int) -> Columns:
    """Whole ages, incomes in cents, latitudes: no two rows are equal."""
    age = np.clip(rng.normal(45, 16, rows).round(), 18, 95).astype(int)
    return {
        "age": age,
        "income": np.round(rng.lognormal(10.4, 0.6, rows), 2),
        "lat": np.round(rng.normal(48.2, 0.2, rows), 5),
    }


def clusters(rng: np.random.Generator, rows: int) -> Columns:
    """Eight clusters in four dimensions."""
    centres = rng.normal(0, 10, (8, 4))
    values = np.round(centres[rng.integers(0, 8, rows)] + rng.normal(0, 1, (rows, 4)), 3)
    return dict(zip("abcd", values.T, strict=True))


def patients(rng: np.random.Generator, rows: int) -> Columns:
    """Days of birth, weights to 0.1, heights to 1."""
    born = np.datetime64("1930-01-01") + rng.integers(0, 27_000, rows)
    weight, height = np.round(rng.normal(75, 14, rows), 1), np.round(rng.normal(170, 10, rows)).astype(int)
    return {"born": born, "weight": weight, "height": height, "sex": rng.choice(["f", "m"], rows)}


NUMERIC: dict[str, Callable[[np.random.Generator, int], Columns]] = {
    "people": people,
    "clusters": clusters,
    "patients": patients,
    "firms, heavy tails": draw_firms,
    "cards, 24 columns": draw_cards,
    "survey, small whole numbers": draw_survey,
}
FAMILIES = (*NUMERIC, "town")


def write_table(family: str, seed: int, folder: Path, rows: int = ROWS) -> tuple[Path, dict[str, Any]]:
    """A table of the family, with a sensitive column, and its roles."""
    path = folder / f"{family}.csv"
    if family == "town":
        columns = ["age", "sex", "zip", "moved_in", "schooling", "job"]
        order = ["primary", "secondary", "bachelor", "master", "doctorate"]
        write_csv(generate_town(rows, seed=seed), path)
        return path, {"quasi_identifiers": columns, "sensitive": ["diagnosis"], "axes": {"schooling": order}}
    rng = np.random.default_rng(seed)
    columns = NUMERIC[family](rng, rows)
    held = columns | {"secret": rng.integers(0, 9, rows)}
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(held), *zip(*(column.tolist() for column in held.values()), strict=True)])
    return path, {"quasi_identifiers": list(columns), "sensitive": ["secret"]}


def measure(family: str, seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Every release of one table: loss, and what each attack finds."""
    path, roles = write_table(family, seed, folder)
    with kech.read_table(path, **roles) as table:
        for name, asked in RELEASES.items():
            out = folder / "released.csv"
            claims = kech.make_release(table, k=K, **asked).write(out, ledger=False)["claims"]
            found = [attack.to_json() for attack in kech.run_attacks(out, table, attacks=["edge", "order", "downcode"])]
            yield {"family": family, "seed": seed, "release": name, "loss": claims["loss"], "attacks": found}


def refine(family: str, seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    """What `kech attack refine` claims; a kept column that tells rows apart lets every claim be judged."""
    path, roles = write_table(family, seed, folder)
    with path.open(encoding="utf-8") as file:
        (names, *rows) = csv.reader(file)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[*names, "witness"], *([*row, f"w{i}"] for i, row in enumerate(rows))])
    with kech.read_table(path, **roles, keep=["witness"]) as table:
        for k in REFINED_KS:
            for name, asked in REFINED.items():
                kech.make_release(table, k=k, **asked).write(folder / "refined.csv", ledger=False)
                found = kech.run_attacks(folder / "refined.csv", table, attacks=["refine"])
                figures = [
                    {"about": a.about, "targets": a.targets, "hits": a.hits, "control": a.control_hits} for a in found
                ]
                doubt = int(re.findall(r"leave ([\d,]+) of", found[0].note)[0].replace(",", ""))
                yield {"family": family, "seed": seed, "k": k, "release": name, "doubt": doubt, "attacks": figures}


def count_singled(family: str, seed: int, folder: Path) -> dict[str, float]:
    """Share of the records that "in this box, and at its end" singles out: naive boxes, and ours as written."""
    path, roles = write_table(family, seed, folder)
    names = roles["quasi_identifiers"]
    with path.open(encoding="utf-8") as file:
        x = np.array([[float(row[name]) for name in names] for row in csv.DictReader(file)])
    naive = [[(float(c.min()), float(c.max())) for c in x[rows].T] for rows in mondrian((x - x.mean(0)) / x.std(0), K)]
    with kech.read_table(path, **roles) as table:
        kech.make_release(table, k=K).write(folder / "released.csv", ledger=False)
    with (folder / "released.csv").open(encoding="utf-8") as file:
        labels = {tuple(row[name] for name in names) for row in csv.DictReader(file)}
    ours = [[read_label(label) for label in row] for row in labels]
    return {"naive": singled(naive, x), "default": singled(ours, x)}


def read_label(label: str) -> tuple[float, float]:
    """Both ends of an interval; open ones are infinite."""
    numbers = [float(text) for text in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", label)]
    if label == "*":
        return -np.inf, np.inf
    if label.startswith(">"):
        return numbers[0], np.inf
    if label.startswith("<"):
        return -np.inf, numbers[0]
    return numbers[0], numbers[-1]


def singled(boxes: Boxes, x: NDArray[np.float64]) -> float:
    """Records that are alone in a box at one of its ends."""
    found: set[int] = set()
    for box in boxes:
        inside = np.flatnonzero(
            np.all([(low <= c) & (c <= high) for (low, high), c in zip(box, x.T, strict=True)], axis=0)
        )
        for (low, high), column in zip(box, x.T, strict=True):
            for end in {low, high} if low < high else ():
                held = inside[column[inside] == end]
                found.update(held.tolist() if len(held) == 1 else ())
    return len(found) / len(x)


def main() -> None:
    """Measure, or draw the page again."""
    asked = parse_arguments()
    results = RESULTS.with_name("quick-attacks.json.tmp") if asked.quick else RESULTS
    if not asked.page:
        results.write_text(
            json.dumps(run(range(1, 2) if asked.quick else range(1, 6), asked.cap), indent=2) + "\n", "utf-8"
        )
    page = draw_page(json.loads(results.read_text("utf-8")))
    print(page)
    if not asked.quick:
        PAGE.write_text(page, "utf-8")


def run(seeds: Sequence[int], cap: float) -> dict[str, Any]:
    """All figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counted = [
            {"family": f, "seed": seed, **count_singled(f, seed, folder)}
            for f in ("people", "clusters")
            for seed in seeds
        ]
        measured = [line for f in FAMILIES for seed in seeds for line in measure(f, seed, folder)]
        refined = [line for f in FAMILIES for seed in seeds for line in refine(f, seed, folder)]
    tables = {"counted": counted, "measured": measured, "refined": refined, "replayed": list(replay.run())}
    return describe_run(cap) | tables


def draw_page(found: dict[str, Any]) -> str:
    """The page of the manual."""
    told = {**found["machine"], **found["versions"]}
    about = "Measured with " + ", ".join(f"{name} {value}" for name, value in told.items()) + "."
    families = list(dict.fromkeys(line["family"] for line in found["measured"]))
    counted = draw(
        ["table", "naive boxes", "default release"],
        (
            [
                family,
                *(
                    span([line[name] for line in found["counted"] if line["family"] == family])
                    for name in ("naive", "default")
                ),
            ]
            for family in dict.fromkeys(line["family"] for line in found["counted"])
        ),
    )
    lines = [rates(found["measured"], family, release) for family in families for release in RELEASES]
    header = ["table", "release", "loss", "edge", "guessed end", "order", "halves", "end parts"]
    return f"""# Attacks, measured

Generated by `python benchmarks/attacks.py`; do not edit. {ROWS:,} rows, k = {K}, five seeds: the lowest and the
highest rate. What the attacks are: [attacks](../../docs/explanation/attacks.md).

{about}

## Records singled out by "in this box, and at its end"

Counted from the labels in the written file and the raw values, by code of the benchmark's own. Naive
boxes are Mondrian's.

{counted}

## `kech attack`

Rates beside the mean rate of their controls; `!` where an attack was above its control in any seed.

{draw(header, lines)}

## `kech attack refine`

The search left no simple step that saves. That rules out classes of rows which several boxes cover. All seeds
together: right claims of all claims, and in brackets how many the control has right. The control puts the same rows
into classes at random, so that boxes and sizes fit; `!` where the attack is above it. In doubt are records (of
{ROWS:,}, on average) that boxes and sizes alone leave several classes. Every claim is judged, by a kept column
that tells rows apart; the attack does not read it.

{draw(REFINED_HEADER, refined_lines(found["refined"]))}

{conclude(found["refined"])}

The attack uses no random number of the release: neither the seed of the search nor the key of the noise. Whether
they are secret makes no difference to it.

## `kech attack replay`

{replay.ROWS} rows; seeds measured: {replay.seeds_of(found)}; at most 10 rows of each table, at most 8 candidates
for each. The attacker knows all other rows, the version and the request, and makes the release again for every
candidate: with the owner's secret, and without it (with a secret of their own). What it means:
[the owner's secret](../../docs/explanation/claims/owner_secret.md).

- `fit`: value tuples that the labels cover; `remain`: tried candidates that give the published labels.
- `found`: rows of which the right candidate remains alone, with a 95 % interval.
- `nearest`: rows whose right candidate comes nearest to the published labels, without the secret.
- `guess`: the control, one tried candidate at random.

Tables of one seed share their draws of rows and guesses, so equal lines of `guess` are one draw, not several. With ten
rows a line, intervals are wide. A family that is not listed was not measured.

{replay.draw_section(found["replayed"]) if found.get("replayed") else "Not measured."}
"""


def refined_lines(refined: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    """One line for each table, k and release: the claims of all seeds together."""
    for key in dict.fromkeys((line["family"], line["k"], line["release"]) for line in refined):
        held = [line for line in refined if (line["family"], line["k"], line["release"]) == key]
        family, k, release = key
        yield [
            family,
            str(k),
            release,
            f"{mean(line['doubt'] for line in held):.0f}",
            *map(pooled, zip(*(line["attacks"] for line in held), strict=True)),
        ]


def conclude(refined: Sequence[dict[str, Any]]) -> str:
    """What all tables tell together: of default labels, and of those without protection."""
    sentences = []
    for about, names in (
        ("With default labels", ["default"]),
        ("With `--protect none` and `--grid exact`", list(REFINED)[2:]),
    ):
        held = [line["attacks"] for line in refined if line["release"] in names]
        put, pinned, overlaps = (pooled(attacks) for attacks in zip(*held, strict=True))
        words = f"{put} records were put into the right class, {pinned} pinned to it"
        sentences.append(f"{about}, over all tables and both k, {words}, and {overlaps} overlaps had no row.")
    return "\n".join(sentences)


def pooled(attacks: Sequence[dict[str, Any]]) -> str:
    """Right claims of all claims, and what the control has right."""
    targets, hits, control = (sum(attack[name] for attack in attacks) for name in ("targets", "hits", "control"))
    above = " !" if kech.Attack("refine", "", targets, hits, control).verdict == "above its control" else ""
    return f"{hits} of {targets} ({control}){above}" if targets else "–"


def rates(measured: Sequence[dict[str, Any]], family: str, release: str) -> list[str]:
    """One line: what the attacks find on one kind of release."""
    held = [line for line in measured if (line["family"], line["release"]) == (family, release)]
    shown = [family, release, f"{mean(line['loss'] for line in held):.4f}"]
    wanted = ("by an end, by any", "guess how far", "in the file", "halves", "end parts")
    return shown + [
        beside([a for line in held for a in line["attacks"] if words in a["about"] and a["targets"]])
        for words in wanted
    ]


def beside(attacks: Sequence[dict[str, Any]]) -> str:
    """Rates, the mean of the controls, and whether any was above."""
    if not attacks:
        return "–"
    above = " !" if any(attack["verdict"] == "above its control" for attack in attacks) else ""
    return f"{span([a['rate'] for a in attacks])} / {mean(a['control'] for a in attacks):.3f}{above}"


def span(values: Sequence[float]) -> str:
    """From the lowest to the highest."""
    return f"{min(values):.3f} to {max(values):.3f}"


if __name__ == "__main__":
    main()

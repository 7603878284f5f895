"""Judges that are not ours: anonymeter, pyCANON, ARX, and models that learn from releases.

usage: python -m benchmarks.judges [--rows 2000] [--attacks 400] [--draws 2] [--page]

Each judge has an environment of its own, which `make judges` makes.  One half of every table is released at k = 10 by
kech and by its peers; the other half is held back, as the control of attacks and to test models.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from itertools import product
from math import comb, hypot
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.tables.demo import write_demo_key

BENCHMARKS = Path(__file__).parents[1]
sys.path.insert(0, str(BENCHMARKS))  # scripts beside this package import each other by their plain names

from benchmarks.judges import arx  # noqa: E402
from benchmarks.judges.cells import build_features, draw_features, write_twin  # noqa: E402
from benchmarks.judges.outcomes import TABLES, Split, make_split  # noqa: E402
from benchmarks.measure import read_answer, run_once  # noqa: E402
from benchmarks.page import draw  # noqa: E402
from benchmarks.public.families import FAMILIES, PublicTable  # noqa: E402
from benchmarks.public.given import list_given, sample_rows  # noqa: E402
from benchmarks.public.tools import KECH, Tool, kech_tool, known_tools  # noqa: E402
from benchmarks.run import describe_run, peers_python  # noqa: E402
from benchmarks.score import read_columns  # noqa: E402

HERE, ROOT = Path(__file__).parent, BENCHMARKS.parent
RESULTS, PAGE = BENCHMARKS / "results" / "judges.json", BENCHMARKS / "pages" / "judges.md"
JUDGES = {
    "anonymeter": ROOT / ".venv-judges" / "anonymeter",
    "models": ROOT / ".venv-judges" / "models",
    "pycanon": ROOT / ".venv-pycanon",
    "sdnist": ROOT / ".venv-judges" / "sdnist",
}
K, CAP, SEED = 10, 300.0, 1
RAW, FOR_OUTCOME, ALIKE = "raw copy", "kech --for", "kech --t 0.1"
DRAWN = 5  # random values of each label, where models learn from random values too
ATTACKED = ("adult", "town", "loans")  # tables, and tools whose releases are
ATTACKED_TOOLS = (RAW, "kech", ALIKE, "Mondrian")
NO_COST = 0.005  # of a score: smaller differences are those of draws
FAVOURABLE = "codes"  # the table whose outcome follows from the columns that kech keeps most precise
NIST = Path(os.environ["KECH_NIST"]) if "KECH_NIST" in os.environ else None  # the folder of NIST's excerpts
NIST_COLUMNS = ("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE")
NIST_K = 6
PUBLISHED = {  # k-marginals, propensity, unique records matched in percent: the sample reports of usnistgov/SDNist
    "sdcMicro, k = 6, 8,533 rows lost": (907, 0.018, 47.41),
    "AIM, eps 1 (synthetic)": (976, 0.002, 14.11),
    "MST, eps 1 (synthetic)": (958, 0.005, 12.47),
    "PATECTGAN, eps 10 (synthetic)": (805, 0.065, 12.97),
}
ATTACKS = ("singling out", "linkability", "inference")
ATTACK_COLUMNS = ("guesses", "right", "control", "difference", "verdict")


def main() -> None:
    """Judge, or draw the page again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000, help="rows that are released, and as many that are held back")
    parser.add_argument("--attacks", type=int, default=400)
    parser.add_argument("--draws", type=int, default=2, help="draws of every table, for models")
    parser.add_argument("--page", action="store_true", help="measure nothing; draw the page again")
    choice = parser.parse_args()
    if not choice.page:
        results = (
            describe_run(CAP)
            | {"rows": choice.rows, "attacks": choice.attacks, "draws": choice.draws}
            | judge_all(choice)
        )
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    PAGE.write_text(draw_page(json.loads(RESULTS.read_text("utf-8"))), "utf-8")


def judge_all(choice: argparse.Namespace) -> dict[str, Any]:
    """Lines of every judge that is installed; the names of those that are not."""
    tools: dict[str, Tool] = known_tools(peers_python) | {FOR_OUTCOME: release_for_outcome}
    alike = {ALIKE: kech_tool("--t", "0.1")}  # asked for its inference alone
    lines: dict[str, list[dict[str, Any]]] = {name: [] for name in (*JUDGES, "arx")}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["KECH_KEY_FILE"] = str(write_demo_key(folder))  # the same figures for everybody
        for name, seed in product(("adult", *FAMILIES, *TABLES), range(SEED, SEED + choice.draws)):
            split = (
                split_adult(choice.rows, seed, folder)
                if name == "adult"
                else make_split(name, choice.rows, seed, folder)
            )
            if split is None:
                continue
            attacked = alike if name in ATTACKED and seed == SEED else {}
            for line in judge_table(split, tools | attacked, choice.attacks if seed == SEED else 0, folder):
                print(json.dumps(line), flush=True)
                lines[line.pop("judge")].append(line)
        lines["sdnist"] += judge_nist(folder)
    return {"lines": lines, "not_installed": [name for name in JUDGES if not is_installed(name)]}


def judge_nist(folder: Path) -> Iterator[dict[str, Any]]:
    """What sdnist says of a release of NIST's excerpt of the whole country, where both are at hand."""
    if NIST is None or not is_installed("sdnist"):
        return
    source = folder / "national.csv"
    cells = read_columns(NIST / "national" / "national2019.csv", NIST_COLUMNS, ",")
    with source.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [NIST_COLUMNS, *zip(*(cells[name].to_pylist() for name in NIST_COLUMNS), strict=True)]
        )
    released, twin = folder / "national-safe.csv", folder / "national-twin.csv"
    sets = [f"{name}=set" for name in NIST_COLUMNS if name != "AGEP"]  # numbers there are codes
    words = ["--qi", *NIST_COLUMNS, "--axis", *sets, "--k", str(NIST_K), "--no-ledger", "-o", str(released)]
    for command in ([KECH, "release", str(source), *words], [KECH, "twin", str(released), "-o", str(twin)]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    yield {"tool": f"kech, k = {NIST_K}, no row lost"} | ask("sdnist", {"excerpts": str(NIST), "twin": str(twin)})


def split_adult(rows: int, seed: int, folder: Path) -> Split | None:
    """Two samples of the table Adult, where it is at hand."""
    if "adult" not in list_given():
        return None
    header, chosen = sample_rows("adult", 2 * rows, seed)
    halves = [folder / f"adult-{half}.csv" for half in ("released", "held-back")]
    for path, part in zip(halves, (chosen[:rows], chosen[rows:]), strict=True):
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *part])
    secret = header[-1]
    return Split(PublicTable("adult", rows, seed, halves[0], tuple(header[:-1]), ("age",), secret), halves[1], False)


def judge_table(split: Split, tools: dict[str, Tool], attacks: int, folder: Path) -> Iterator[dict[str, Any]]:
    """What every judge says of each tool's release of a table; without attacks only models are asked."""
    for name in (RAW, *tools):
        released = split.table.source if name == RAW else release(tools[name], split.table, folder / "released.csv")
        if released is None:
            continue
        said = {"table": split.table.family, "tool": name, "seed": split.table.seed}
        if is_installed("models") and name != ALIKE:
            yield (
                said
                | {"judge": "models", "number": split.is_number}
                | ask_models(split, released, name, folder)
                | read_loss(released)
            )
        if not attacks:
            continue
        if is_installed("pycanon") and name != ALIKE:
            job = {"path": str(released), "quasi_identifiers": split.table.quasi_identifiers}
            yield said | {"judge": "pycanon"} | ask("pycanon", job | {"secret": split.table.sensitive})
        if is_installed("arx") and name != ALIKE:
            yield said | {"judge": "arx"} | arx.ask_arx(split.table, released, folder / "copy.csv")
        if is_installed("anonymeter") and split.table.family in ATTACKED and name in ATTACKED_TOOLS:
            found = attack(split, released, name, attacks, folder / "twin.csv")
            yield said | {"judge": "anonymeter"} | found | read_loss(released)


def release_for_outcome(table: PublicTable, k: int, target: Path) -> list[str]:
    """kech with columns weighed by their use for the outcome."""
    return kech_tool("--for", table.sensitive)(table, k, target)


def is_installed(judge: str) -> bool:
    """Whether `make judges` made the environment of a judge, or its jar and Java are at hand."""
    return arx.is_at_hand() if judge == "arx" else (JUDGES[judge] / "installed").exists()


def release(tool: Tool, table: PublicTable, target: Path) -> Path | None:
    """The file that a tool makes of a table at k = 10, if it makes one."""
    target.unlink(missing_ok=True)
    Path(f"{target}.certificate.json").unlink(missing_ok=True)
    line = run_once(tool(table, K, target), CAP)
    return target if line["outcome"] == "done" and target.exists() else None


def attack(split: Split, released: Path, tool: str, attacks: int, twin: Path) -> dict[str, Any]:
    """anonymeter on the raw copy, on kech's own twin, or on a twin of another tool's labels."""
    if tool == RAW:
        twin = released
    elif tool.startswith("kech"):
        twin.unlink(missing_ok=True)
        subprocess.run([KECH, "twin", str(released), "-o", str(twin)], check=True, stdout=subprocess.DEVNULL)
    else:
        write_twin(split.table, released, twin)
    job = {"original": str(split.table.source), "control": str(split.held_back), "twin": str(twin)}
    return ask("anonymeter", job | {"secret": split.table.sensitive, "attacks": attacks})


def ask_models(split: Split, released: Path, tool: str, folder: Path) -> dict[str, Any]:
    """How well models predict raw rows that learned from a release, read in both ways."""
    table, number = split.table, split.is_number
    middle, outcome = build_features(table, released), read_outcome(split, released)
    test = write_rows(folder / "test.npz", build_features(table, split.held_back), read_outcome(split, split.held_back))
    said = ask("models", {"train": write_rows(folder / "train.npz", middle, outcome), "test": test, "number": number})
    if tool == RAW or "score" not in said:
        return said | {"both": said.get("score")}
    drawn = [draw_features(table, released, folder, seed) for seed in range(DRAWN)]
    weights = np.repeat([0.5 / DRAWN, 0.5], [DRAWN * len(outcome), len(outcome)])
    rows = write_rows(folder / "train.npz", np.vstack([*drawn, middle]), np.tile(outcome, DRAWN + 1), weights=weights)
    return said | {"both": ask("models", {"train": rows, "test": test, "number": number}).get("score")}


def read_loss(released: Path) -> dict[str, float]:
    """The mean loss of all columns, each counted once, where a certificate of kech states it."""
    certificate = Path(f"{released}.certificate.json")
    if not certificate.exists():
        return {}
    losses = json.loads(certificate.read_text("utf-8"))["claims"]["loss_per_column"].values()
    return {"loss": sum(losses) / len(losses)}


def read_outcome(split: Split, path: Path) -> NDArray[Any]:
    """The outcome of each row: a number, or whether it is yes."""
    cells = read_columns(path, [split.table.sensitive], ",")[split.table.sensitive].to_pylist()
    return np.array([float(cell) if split.is_number else cell in ("yes", ">50K") for cell in cells])


def write_rows(path: Path, features: NDArray[Any], outcome: NDArray[Any], **weights: NDArray[Any]) -> str:
    """The name of a file with rows for a model."""
    np.savez(path, x=features, y=outcome, **weights)
    return str(path)


def ask(judge: str, job: dict[str, Any]) -> dict[str, Any]:
    """The answer of a judge, in its own environment."""
    return read_answer([str(JUDGES[judge] / "bin" / "python"), str(HERE / f"{judge}_child.py"), json.dumps(job)])


# -- the page ------------------------------------------------------------------------------------------------


def draw_page(results: dict[str, Any]) -> str:
    """The page of the manual."""
    versions = ", ".join(f"{name} {value}" for name, value in results["versions"].items())
    lines, attacks = results["lines"], results["attacks"]
    attacked = draw(["table", "tool", "attack", *ATTACK_COLUMNS], attack_rows(lines["anonymeter"], attacks))
    return f"""# Judges that are not ours

Generated by `python -m benchmarks.judges` (`make judges`); do not edit. Measured with {versions}.{say_newer(lines)}

{results["rows"]:,} rows of every table are released at k = {K}; as many are held back.
{say_missing(results["not_installed"])}
## anonymeter

Each attack makes up to {attacks} guesses, inference and linkability {results["rows"]:,}. *Right* is the share of right
ones about released people, *control* about people who were held back; both with half of an interval of 95 %. An attack
is *above control* where its interval lies above the control's rate. As the control has an interval too, one attack in
twelve that learns nothing is above it by chance. *Difference* is right minus control with half of its own interval of
95 %, which counts the chance in both. anonymeter reads values, not labels: it gets a typed twin (`kech twin`), or a
random value of each label of the other tools. Where it finds fewer conditions that single out than a tenth of what was
asked, that is no verdict.

{say_clear(lines["anonymeter"], attacks)}

**What k leaves to inference.** Of the n rows of a class one is the person's own, and n is k or more. So a guess that
copies the value of one row of the class, as anonymeter's does, is right at most about (1 - control) / k more often:
{say_left(lines["anonymeter"])}. Means of ten draws, measured once by hand: 0.021 ± 0.008 on adult,
0.020 ± 0.013 on town, 0.026 ± 0.011 on loans. A guess of the most frequent value of the class can gain more: of
two equally frequent values {find_majority_gain(K):.3f} at k = {K}. No k alone removes that. `--t` makes classes alike,
at a price.
{say_price(lines)}

{attacked}

## Models

Gradient boosting learns from the release and predicts the outcome of raw rows that were held back: AUC, or R2 of a
number. Draws of each table: {results["draws"]}. *Cost* is what is lost against raw rows. `kech --for` is
`kech release --for outcome` ([how-to](../../docs/how-to/labels.md#for-a-model)).

**Weights for an outcome.** kech makes a draft, which keeps k and all goals and which nobody sees. Gradient boosting
learns the outcome from the labels of the draft. Then kech deals the labels of one column anew among the rows: the *use*
of the column is how far predictions move, in the mean of squares. The weight of a column is proportional to the square
root of its use: 4 for the most used, 1/4 at least, rounded to a power of two. A second draft with these weights gives
the final ones. Why the root: labels with sides h_j hide about sum use_j h_j^2 of the predictions, and classes of k rows
fix the product of the sides. So h_j should be proportional to 1 / sqrt(use_j), and a loss with weights w_j has its
minimum at h_j proportional to 1 / w_j. Weights proportional to use itself, as in earlier attempts, went too far.

A model that learns from labels must be given numbers. *Middle* gives it the middle of an interval, and of a set the
share of each value. *Both* gives it the middle and {DRAWN} random values of each label, as `kech twin` draws them, with
equal weight. This table has the scores of *both*.

{draw(["table", "score", RAW, *model_tools(lines["models"])], model_rows(lines["models"], "both"))}

These are the mean costs of both readings; a score above that of raw rows counts as cost below 0.

{draw(["tool", "AUC, middle", "AUC, both", "R2, middle", "R2, both"], cost_rows(lines["models"]))}

{say_won_back(lines["models"])}

**What weights can reach.** Measured once by hand, on two draws of houses, insurance, codes, town, survey and firms,
with random values of labels: releases cost 0.085, with weights from one draft 0.057. Weights that a model measures on
raw rows, which kech does not read for this, cost 0.043.

The price is precision of the other columns. This is the mean loss of all columns, each counted once:

{draw(["table", "kech", FOR_OUTCOME], price_rows(lines["models"]))}

In town, firms, survey, cards, clusters and codes the first two columns have a strong effect together. In {FAVOURABLE}
these have the fewest values, and kech keeps such columns more precise than Mondrian: the table probably flatters kech.

## pyCANON and ARX

pyCANON's k and l of the same files; all tools were asked for k = {K}.

{draw(["table", *model_tools(lines["pycanon"])], canon_rows(lines["pycanon"]))}

{draw_arx(lines.get("arx", []))}

## NIST's census excerpts

{say_nist(lines.get("sdnist", []))}
"""


def say_nist(lines: list[dict[str, Any]]) -> str:
    """sdnist's figures beside those that NIST publishes, or why there are none."""
    if not lines:
        return (
            "sdnist brings no tables; they lie in the repository usnistgov/SDNist (commit 76b74a1, before they moved "
            "to Git LFS; config.json and mappings.json came later). They were not at hand here, so nothing is said: "
            "name their folder in KECH_NIST."
        )
    names, failed = ("k_marginal", "propensity", "unique_matched"), [line for line in lines if "failed" in line]
    measured = [(line["tool"], *(line[name] for name in names)) for line in lines if line not in failed]
    published = [(tool, *figures) for tool, figures in PUBLISHED.items()]
    rows = [[line["tool"], f"no verdict: {line['failed']}", "", ""] for line in failed]
    rows += [[tool, f"{k:.0f}", f"{p:.3f}", f"{u:.1f} %"] for tool, k, p, u in (*measured, *published)]
    return f"""sdnist compares a typed twin of the release with the excerpt of the whole country: 27,253 rows and
{len(NIST_COLUMNS)} columns, those of the reports that NIST calls demographic. One release was judged.
*k-marginals* are 1000 where all pairs of columns have the shares of the original. *Propensity* is 0 where no tree can
tell both tables apart. *Matched* are unique rows of the original that stand in the other table too. A value that the
twin calls rare is one of NIST's dictionary that the release does not list. The figures of the other tools are NIST's;
of these columns it publishes one release that is not synthetic, sdcMicro's.

{draw(["tool", "k-marginals", "propensity", "matched"], rows)}"""


def say_price(lines: Mapping[str, list[dict[str, Any]]]) -> str:
    """What classes that are alike leave to inference, and how much more they lose."""
    usual = {line["table"]: line["loss"] for line in lines["models"] if line["tool"] == "kech" and "loss" in line}
    return "\n".join(
        f"On {line['table']}, `{ALIKE}` leaves {line['inference']['attack']:.3f} right against "
        f"{line['inference']['control']:.3f} of the control; its loss is {line['loss']:.3f} in place of "
        f"{usual[line['table']]:.3f}."
        for line in lines["anonymeter"]
        if line["tool"] == ALIKE and "failed" not in line
    )


def say_clear(lines: list[dict[str, Any]], attacks: int) -> str:
    """The attacks on releases with k alone whose difference from the control is more than chance."""
    judged = judged_by_k(lines)
    above = [
        f"{name} on {line['table']}"
        for line in judged
        for name in ATTACKS
        if line[name]["guesses"] >= attacks / 10 and find_difference(line[name])[0] > find_difference(line[name])[1]
    ]
    which = f": {', '.join(above)}" if above else ""
    return (
        f"Of {len(judged) * len(ATTACKS)} attacks on `kech`, which has k alone, the difference is clearly above 0 in "
        f"{len(above)}{which}."
    )


def say_left(lines: list[dict[str, Any]]) -> str:
    """What k alone can leave to inference on each table."""
    controls = {line["table"]: line["inference"]["control"] for line in judged_by_k(lines)}
    return f"{', '.join(f'{(1 - rate) / K:.3f} on {table}' for table, rate in controls.items())} at k = {K}"


def find_majority_gain(rows: int) -> float:
    """How much more often the most frequent value is that of a person in the class; two are equally frequent."""
    others = rows - 1
    return comb(others, others // 2) / 2**rows


def judged_by_k(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines of releases that promise k and nothing else."""
    return [line for line in lines if line["tool"] == "kech" and "failed" not in line]


def say_newer(lines: Mapping[str, list[dict[str, Any]]]) -> str:
    """What was measured after the rest, each by the commit that its line names."""
    newer = {
        f"{judge} on {line['tool']} (commit {line['commit']})"
        for judge, told in lines.items()
        for line in told
        if "commit" in line
    }
    return f"\nMeasured later: {'; '.join(sorted(newer))}." if newer else ""


def say_missing(names: list[str]) -> str:
    """Judges that could not be asked."""
    return f"\nNot installed, and so not asked: {', '.join(names)}.\n" if names else ""


def attack_rows(lines: list[dict[str, Any]], attacks: int) -> Iterator[list[str]]:
    """A row for each attack."""
    for line in lines:
        if "failed" in line:
            yield [line["table"], line["tool"], "all", "", "", "", "", f"no verdict: {line['failed']}"]
            continue
        for name in ATTACKS:
            told = line[name]
            rates = [f"{told[rate]:.3f} ± {told[f'{rate}_error']:.3f}" for rate in ("attack", "control")]
            more, error = find_difference(told)
            guesses, rates = told["guesses"], [*rates, f"{more:+.3f} ± {error:.3f}"]
            yield [line["table"], line["tool"], name, str(guesses), *rates, find_verdict(told, guesses, attacks)]


def find_difference(told: dict[str, Any]) -> tuple[float, float]:
    """How much more often an attack is right than its control, with half of an interval of 95 %."""
    return told["attack"] - told["control"], hypot(told["attack_error"], told["control_error"])


def find_verdict(told: dict[str, Any], guesses: int, attacks: int) -> str:
    """Whether an attack is right more often than on people who are not in the release."""
    if guesses < attacks / 10:
        return "no verdict"
    return "above control" if told["attack"] - told["attack_error"] > told["control"] else "as control"


def model_tools(lines: list[dict[str, Any]]) -> list[str]:
    """The tools whose releases were judged."""
    return [name for name in dict.fromkeys(line["tool"] for line in lines) if name != RAW]


def by_table(lines: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """For each table what was said of each tool; of several draws the mean of the scores."""
    tables: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for line in lines:
        tables.setdefault(line["table"], {}).setdefault(line["tool"], []).append(line)
    return {table: {tool: join_draws(said) for tool, said in tools.items()} for table, tools in tables.items()}


def join_draws(said: list[dict[str, Any]]) -> dict[str, Any]:
    """One line for all draws; a score is missing where one of them failed."""
    scores = {name: [line.get(name) for line in said] for name in ("score", "both", "loss")}
    means = {name: float(np.mean(values)) for name, values in scores.items() if None not in values}
    return {name: value for name, value in said[0].items() if name not in scores} | means


def model_rows(lines: list[dict[str, Any]], reading: str) -> Iterator[list[str]]:
    """A row for each table: the score of each tool's release."""
    for table, said in by_table(lines).items():
        tools = [said.get(tool, {}) for tool in (RAW, *model_tools(lines))]
        yield [
            table,
            "R2" if said[RAW]["number"] else "AUC",
            *(f"{tool[reading]:.3f}" if reading in tool else "" for tool in tools),
        ]


def cost_rows(lines: list[dict[str, Any]]) -> Iterator[list[str]]:
    """A row for each tool: what its releases cost on average, for each reading."""
    for tool in model_tools(lines):
        costs = [find_costs(lines, tool, reading, number) for number in (False, True) for reading in ("score", "both")]
        yield [tool, *(f"{np.mean([*each.values()]):.3f}" if each else "" for each in costs)]


def find_costs(lines: list[dict[str, Any]], tool: str, reading: str, number: bool) -> dict[str, float]:
    """What the releases of a tool cost on each table whose outcome is a number, or is not."""
    return {
        table: said[RAW][reading] - said[tool][reading]
        for table, said in by_table(lines).items()
        if said[RAW]["number"] == number and reading in said.get(tool, {})
    }


def price_rows(lines: list[dict[str, Any]]) -> Iterator[list[str]]:
    """A row for each table: the loss of a usual release, and of one for the outcome."""
    for table, said in by_table(lines).items():
        losses = [said.get(tool, {}).get("loss") for tool in ("kech", FOR_OUTCOME)]
        yield [table, *("" if loss is None else f"{loss:.4f}" for loss in losses)]


def say_won_back(lines: list[dict[str, Any]]) -> str:
    """How much of the cost of a usual release one for the outcome wins back, and on which tables it does not."""
    told = []
    for number, noun in ((False, "AUC"), (True, "R2")):
        middle, both, after = (
            {table: max(cost, 0.0) for table, cost in find_costs(lines, tool, reading, number).items()}
            for tool, reading in (("kech", "score"), ("kech", "both"), (FOR_OUTCOME, "both"))
        )
        dear = [name for name in after if both[name] > NO_COST]
        if not dear:
            continue
        without = [name for name in after if name != FAVOURABLE]
        half = sum(after[name] <= both[name] / 2 for name in dear)
        worse = [name for name in after if after[name] > both[name] + NO_COST]
        told.append(
            f"Of what kech costs in {noun}, `kech --for` wins {share_won(both, after, after)} back, both read alike "
            f"({share_won(middle, after, after)} against middles"
            f"{f'; {share_won(both, after, without)} without {FAVOURABLE}' if len(without) < len(after) else ''}). "
            f"kech costs more than {NO_COST} on {len(dear)} tables; `kech --for` wins half or more back on {half} of "
            f"them. By more than {NO_COST} it is worse on {', '.join(worse) or 'none'}."
        )
    return "\n\n".join(told)


def share_won(before: Mapping[str, float], after: Mapping[str, float], tables: Collection[str]) -> str:
    """The share of the costs before that the costs after do not have, of some tables together."""
    cost, left = (sum(costs[name] for name in tables) for costs in (before, after))
    return f"{1 - left / cost:.0%}" if cost else "nothing"


def canon_rows(lines: list[dict[str, Any]]) -> Iterator[list[str]]:
    """A row for each table: k and l of each tool's release."""
    for table, said in by_table(lines).items():
        yield [table, *(say_canon(said.get(tool, {})) for tool in model_tools(lines))]


def draw_arx(lines: list[dict[str, Any]]) -> str:
    """What ARX says, and its risks."""
    table = draw(["table", *model_tools(lines)], arx_rows(lines)) if lines else ""
    return f"{arx.say_arx(lines)}\n\n{table}".strip()


def arx_rows(lines: list[dict[str, Any]]) -> Iterator[list[str]]:
    """A row for each table: the average risk of each tool's release."""
    for table, said in by_table(lines).items():
        risks = [said.get(tool, {}).get("average") for tool in model_tools(lines)]
        yield [table, *("no verdict" if risk is None else f"{risk:.4f}" for risk in risks)]


def say_canon(told: dict[str, Any]) -> str:
    """k and l, or that they are not known."""
    return f"k {told['k']}, l {told['l']}" if "k" in told else "no verdict"


if __name__ == "__main__":
    main()

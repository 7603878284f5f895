"""Replay: how many candidates for one unknown row remain after releases are made again, with the owner's secret and
without it.

usage: python benchmarks/replay.py [--page]; writes its part of results/attacks.json and pages/attacks.md
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from re import findall
from typing import Any

import attacks
import kech
from kech.audit.attacks.outcome import wilson
from page import draw
from run import parse_arguments

ROWS, SEEDS = 120, (1,)
RELEASES: dict[str, dict[str, Any]] = {
    "default": {},
    "`--grid exact`": {"grid": "exact"},
    "`--cut domain`": {"cut": "domain"},
}


def measure(family: str, seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Replay rows of each kind of release of one table."""
    path, roles = attacks.write_table(family, seed, folder, ROWS)
    with kech.read_table(path, **roles) as table:
        for name, asked in RELEASES.items():
            out = folder / "replayed.csv"
            kech.make_release(table, k=attacks.K, **asked).write(out, ledger=False)
            found = [attack.to_json() for attack in kech.run_attacks(out, table, attacks=["replay"], seed=seed)]
            yield {"family": family, "seed": seed, "release": name, "attacks": found}


def run() -> Iterator[dict[str, Any]]:
    """All figures, as they are found."""
    with tempfile.TemporaryDirectory() as name:
        for seed in SEEDS:
            for family in attacks.FAMILIES:
                for line in measure(family, seed, Path(name)):
                    print(line["family"], line["seed"], line["release"], flush=True)
                    yield line


def seeds_of(found: dict[str, Any]) -> str:
    """The seeds of which there are figures."""
    return ", ".join(str(seed) for seed in sorted({line["seed"] for line in found.get("replayed", [])})) or "none"


def draw_section(measured: Sequence[dict[str, Any]]) -> str:
    """The part of the page."""
    header = [
        "table",
        "release",
        "fit",
        "tried",
        "remain",
        "remain without",
        "found",
        "found without",
        "nearest",
        "guess",
    ]
    pairs = dict.fromkeys((line["family"], line["release"]) for line in measured)
    return draw(header, (draw_line(measured, *pair) for pair in pairs))


def draw_line(measured: Sequence[dict[str, Any]], family: str, release: str) -> list[str]:
    """One kind of release of one family, over all seeds."""
    held = [line["attacks"] for line in measured if (line["family"], line["release"]) == (family, release)]
    fit, tried, remain = (sum(column) for column in zip(*(numbers(found[0]) for found in held), strict=True))
    without = sum(numbers(found[1])[2] for found in held)
    rates = [rate([found[i] for found in held], "rate") for i in range(3)]
    shown = [f"{count:,}" for count in (fit, tried, remain, without)]
    return [family, release, *shown, *rates, rate([found[0] for found in held], "control")]


def numbers(attack: dict[str, Any]) -> list[int]:
    """Candidates that fit, were tried and remain."""
    return [int(text.replace(",", "")) for text in findall(r"[\d,]*\d", attack["note"])]


def rate(held: Sequence[dict[str, Any]], name: str) -> str:
    """A rate over all seeds with its 95 % interval."""
    targets = sum(attack["targets"] for attack in held)
    hits = sum(round(attack[name] * attack["targets"]) for attack in held)
    low, high = wilson(hits, targets)
    return f"{hits / targets:.2f} ({low:.2f} to {high:.2f})"


def main() -> None:
    """Measure this part, and draw the whole page."""
    asked = parse_arguments()
    results = json.loads(attacks.RESULTS.read_text("utf-8"))
    if not asked.page:
        results["replayed"] = []
        for line in run():  # it takes long: what is known is kept
            results["replayed"].append(line)
            attacks.RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    attacks.PAGE.write_text(attacks.draw_page(results), "utf-8")


if __name__ == "__main__":
    main()

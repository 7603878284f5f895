"""Commands that ask what remains at risk in a released file: risk, attack."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import kech
from kech.cli.intake import (
    Certificate,
    Json,
    Names,
    Probabilities,
    Seed,
    app,
    open_population,
    read_plan_or_default,
    split_names,
)
from kech.errors import BadOption, unusable_value
from kech.views import screen
from kech.views.screen import audits as drawings

Released = Annotated[Path, Parameter(help="A released file.")]


@app.command
def risk(
    table: Released,
    /,
    *,
    certificate: Certificate = None,
    qi: Annotated[Names, Parameter(name=["--qi", "--quasi-identifiers"])] = [],  # noqa: B006
    population: str | Path | None = None,  # a shell completes names of files
    threshold: Probabilities = ["0.09", "0.2"],  # noqa: B006
    original: str | Path | None = None,
    person: Names = [],  # noqa: B006
    second: Path | None = None,
    plan: Path | None = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Show how likely an attacker is to identify people in a released file; with --original also results of attacks.

    Example: kech risk safe.csv

    Example: kech risk safe.csv --population town.csv --threshold 0.05 0.1

    Example: kech risk safe.csv --original people.csv

    Example: kech risk safe.csv --original visits.csv --person patient_id

    Parameters
    ----------
    qi: list[str]
        Columns to count, instead of those of the certificate.
    population: str
        Population of the people: a table with the same columns, raw or labelled, or its number of people.
    original: str
        The original table. kech runs all attacks with it, and the result is PRIVATE.
    person: list[str]
        Columns of the original or the population that identify a person. Figures then count people, not rows.
    second: Path
        Another release of the same table. kech attacks both together too.
    plan: Path
        Plan that says how to read the original and the population: hierarchies, null values, dialect.
    seed: int
        Seed of the random choices in the attacks.
    """
    if qi and original is not None:
        raise BadOption("--original", "attacks use the axes of the certificate. Omit --qi, or omit --original.")
    if original is None and second is not None:
        raise BadOption("--second", "only attacks use another release. Add --original FILE, or omit --second.")
    if original is None and seed:
        raise BadOption("--seed", "only attacks use a seed. Add --original FILE, or omit --seed.")
    if original is None and (population is None or str(population).isdecimal()) and plan is not None:
        raise BadOption(
            "--plan", "it says how to read the original and the population. Add --original FILE or --population FILE."
        )
    names = split_names(person)
    screen.doing("counting classes")
    with open_population(population, plan) as people, open_original(original, plan, names) as opened:
        figures = kech.compute_risk(
            table,
            certificate=certificate,
            quasi_identifiers=split_names(qi) or None,
            population=people,
            threshold=parse_probabilities(threshold),
            original=opened if opened and opened.person else None,
            person=names,
        ).to_json()
        chosen: dict[str, Any] = {"certificate": certificate, "second": second, "seed": seed}
        attacks = attack_release(table, opened, **chosen) if opened else None
    losses = None if original is None else kech.check_certificate(table, certificate)["loss_per_column"]
    result = {
        "file": str(table),
        "private": original is not None,
        **figures,
        "loss_per_column": losses,
        "attacks": attacks,
    }
    screen.show(result, json, drawings.print_risk)


@app.command
def attack(
    name: Annotated[
        Literal[
            "edge", "order", "downcode", "homogeneity", "refine", "compose", "replay", "one-row", "all-rows", "constant"
        ]
        | str,
        Parameter(
            help="edge, order, downcode, homogeneity, refine, compose, replay, one-row, all-rows or constant.",
            show_choices=False,
        ),
    ],
    table: Released,
    /,
    *,
    original: str | Path,
    person: Names = [],  # noqa: B006
    second: Path | None = None,
    second_original: str | Path | None = None,
    key: Names = [],  # noqa: B006
    certificate: Certificate = None,
    plan: Path | None = None,
    key_file: Path | None = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Attack a released file with its original, and compare with a control. PRIVATE: not for publication.

    Example: kech attack edge safe.csv --original people.csv

    Example: kech attack compose safe.csv --second other.csv --original people.csv

    Example: kech attack compose march_safe.csv --original march.csv --second april_safe.csv --second-original april.csv
    --key visit_id

    Example: kech attack replay safe.csv --original people.csv --plan kech.toml

    Example: kech attack constant safe.csv --original visits.csv --person patient_id

    Parameters
    ----------
    original: str
        The original table.
    person: list[str]
        For one-row, all-rows and constant: columns of the original that identify a person.
    second: Path
        For compose: another release of the same table, with its certificate beside it.
    second_original: str
        For compose: the original of the second release, where the table changed in between.
    key: list[str]
        For compose with a second original: columns of both originals by which a row is recognised.
    plan: Path
        Plan that says how to read the original: hierarchies, null values, dialect; for replay also effort and seed.
    key_file: Path
        For replay: the key file of the release, if it was not made with your own secret.
    seed: int
        Seed of the random choices: the control, and the classes to attack where there are many.
    """
    from kech.audit.attacks import OF_PEOPLE  # its libraries are not read for --help

    if person and name not in OF_PEOPLE:
        raise BadOption("--person", f"only {', '.join(OF_PEOPLE)} count people. Omit it, or choose one of them.")
    if key_file is not None and name != "replay":
        raise BadOption("--key-file", "only the replay attack makes a release again. Omit it, or choose replay.")
    if second_original is not None and second is None:
        raise BadOption("--second-original", "it is the original of --second. Name that release too.")
    chosen: dict[str, Any] = {"certificate": certificate, "seed": seed, "attacks": [name], "key": split_names(key)}
    if name == "replay":
        chosen["request"] = read_plan_or_default(plan)
    with (
        open_original(original, plan, split_names(person), key_file) as opened,
        open_original(second_original, plan, ()) as changed,
    ):
        chosen["second"] = (second, changed) if changed else second
        attacks = attack_release(table, opened, **chosen)
    screen.show({"file": str(table), "private": True, "attacks": attacks}, json, drawings.print_attacks)


@contextmanager
def open_original(
    original: str | Path | None, plan: Path | None, person: Sequence[str], key_file: Path | None = None
) -> "Iterator[Any]":
    """The original table, read with the plan; None without one."""
    if original is None:
        yield None
        return
    with kech.read_table(original, read_plan_or_default(plan), key_file=key_file, person=person or None) as opened:
        yield opened


def attack_release(table: Path, original: "kech.Table", **options: Any) -> Sequence[dict[str, Any]]:
    """The results of attacks on a release with its original."""
    screen.doing("attacking the release")
    return [attack.to_json() for attack in kech.run_attacks(table, original, **options)]


def parse_probabilities(texts: Sequence[str]) -> list[float]:
    """Probabilities from words, separated by spaces or commas."""
    try:
        return [float(text) for text in split_names(texts)]
    except ValueError:
        raise unusable_value("--threshold", "Write numbers: --threshold 0.09 0.2.") from None

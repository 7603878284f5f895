"""Commands that ask what remains at risk in a released file: risk, attack."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import kech
from kech.cli.intake import Flag, Names, Seed, app, opened_population, read_given, split
from kech.errors import BadOption
from kech.views import screen
from kech.views.screen import audits as drawings

Released = Annotated[Path, Parameter(help="A released file.")]


@app.command
def risk(
    table: Released,
    /,
    *,
    certificate: Path | None = None,
    qi: Annotated[Names, Parameter(name=["--qi", "--quasi-identifiers"])] = [],  # noqa: B006
    population: str | Path | None = None,  # a shell completes names of files
    threshold: Names = ["0.09", "0.2"],  # noqa: B006
    original: str | Path | None = None,
    second: Path | None = None,
    plan: Path | None = None,
    seed: Seed = 0,
    json: Flag = False,
) -> None:
    """Show how likely people in a released file are found again; with the original also what attacks achieve.

    Example: kech risk safe.csv
    Example: kech risk safe.csv --population town.csv --threshold 0.05 0.1
    Example: kech risk safe.csv --original people.csv

    Parameters
    ----------
    certificate: Path
        The certificate, if it is not beside the file.
    qi: list[str]
        Take these columns instead of those of a certificate.
    population: str
        The population the people are from: a table with the same columns, raw or labelled, or how many people it has.
    threshold: list[str]
        Chances above which a record counts as at risk: --threshold 0.09 0.2.
    original: str
        The table that was released: runs all attacks. What it shows is PRIVATE.
    second: Path
        Another release of the same table: both are attacked together too.
    plan: Path
        How the original and the population are read: hierarchies, null values, dialect.
    seed: int
        Decides what chance decides in the attacks.
    json: bool
        Print one JSON object.
    """
    if qi and original is not None:
        raise BadOption("--original", "attacks read the axes of the certificate; leave --qi away.")
    if original is None and second is not None:
        raise BadOption("--second", "only attacks take it: give the --original too.")
    if original is None and seed:
        raise BadOption("--seed", "only attacks take it: give the --original too.")
    if original is None and (population is None or str(population).isdecimal()) and plan is not None:
        raise BadOption("--plan", "it says how the --original and the --population are read: give one of them.")
    screen.doing("counting classes")
    with opened_population(population, plan) as people:
        found = kech.compute_risk(
            table,
            certificate=certificate,
            quasi_identifiers=split(qi) or None,
            population=people,
            threshold=as_chances(threshold),
        ).to_json()
    chosen: dict[str, Any] = {"certificate": certificate, "second": second, "seed": seed}
    attacks = None if original is None else attacked(table, original, plan, **chosen)
    losses = None if original is None else kech.check_certificate(table, certificate)["loss_per_column"]
    shown = {
        "file": str(table),
        "private": original is not None,
        **found,
        "loss_per_column": losses,
        "attacks": attacks,
    }
    screen.show(shown, json, drawings.print_risk)


@app.command
def attack(
    name: Annotated[
        Literal["edge", "order", "downcode", "homogeneity", "refine", "compose", "replay"] | str,
        Parameter(help="edge, order, downcode, homogeneity, refine, compose or replay.", show_choices=False),
    ],
    table: Released,
    /,
    *,
    original: str | Path,
    second: Path | None = None,
    certificate: Path | None = None,
    plan: Path | None = None,
    key_file: Path | None = None,
    seed: Seed = 0,
    json: Flag = False,
) -> None:
    """Attack a released file with its original, beside a control. PRIVATE: not for publication.

    Example: kech attack edge safe.csv --original people.csv
    Example: kech attack compose safe.csv --second other.csv --original people.csv
    Example: kech attack replay safe.csv --original people.csv --plan kech.toml

    Parameters
    ----------
    original: str
        The table that was released.
    second: Path
        For compose: another release of the same table, its certificate beside it.
    certificate: Path
        The certificate, if it is not beside the file.
    plan: Path
        How the original is read: hierarchies, null values, dialect; for replay also effort and seed of the release.
    key_file: Path
        For replay: the key that the release was made with, if it is not your own secret.
    seed: int
        Decides what chance decides: the control, and which classes are attacked where there are many.
    json: bool
        Print one JSON object.
    """
    if key_file is not None and name != "replay":
        raise BadOption("--key-file", "only the replay attack makes a release again.")
    chosen: dict[str, Any] = {"certificate": certificate, "second": second, "seed": seed, "attacks": [name]}
    if name == "replay":
        chosen["request"] = read_given(plan)
    found = attacked(table, original, plan, key_file, **chosen)
    screen.show({"file": str(table), "private": True, "attacks": found}, json, drawings.print_attacks)


def attacked(
    table: Path, original: str | Path, plan: Path | None, key_file: Path | None = None, **options: Any
) -> Sequence[dict[str, Any]]:
    """What the attacks found, the original read as the plan says."""
    screen.doing("attacking the release")
    with kech.read_table(original, read_given(plan), key_file=key_file) as opened:
        return [found.to_json() for found in kech.run_attacks(table, opened, **options)]


def as_chances(texts: Sequence[str]) -> list[float]:
    """Numbers, given apart or with commas between."""
    try:
        return [float(text) for text in split(texts)]
    except ValueError:
        raise BadOption("--threshold", "write numbers: --threshold 0.09 0.2.") from None

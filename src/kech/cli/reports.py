"""Commands that explain or use a released file: report, compare, twin."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import kech
from kech.cli.intake import (
    Certificate,
    Flag,
    Json,
    Names,
    Probabilities,
    Seed,
    app,
    read_plan_or_default,
    split_names,
)
from kech.cli.risks import Released, open_original, parse_probabilities
from kech.errors import BadOption
from kech.views import screen
from kech.views.screen import audits as drawings


@app.command
def report(
    table: Released,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    certificate: Certificate = None,
    plan: Path | None = None,
    threshold: Probabilities = ["0.09", "0.2"],  # noqa: B006
    original: str | Path | None = None,
    person: Names = [],  # noqa: B006
    target: str | None = None,
    seed: Seed = 0,
    all_models: Flag = False,
    json: Json = False,
) -> None:
    """Explain a released file on one page, from the file and its certificate only; with --original it is PRIVATE.

    Example: kech report safe.csv -o report.html

    Example: kech report safe.csv --original people.csv -o private.html

    Parameters
    ----------
    output: Path
        Page to write: .html. Without it, --json prints the figures.
    plan: Path
        Plan of the release, which the page shows; it also has the options to read the original.
    original: str
        The original table. It adds distributions before and after, a model and attacks, and the page is PRIVATE.
    person: list[str]
        Columns of the original that identify a person; then the risks of a private page count people.
    target: str
        Column that the model of a private page predicts. By default the first sensitive column.
    seed: int
        Seed of the random choices in a private page.
    all_models: bool
        Also show entropy and recursive l, beta and delta of the sensitive columns.
    """
    if output is None and not json:
        raise BadOption("--output", "it is missing. Name the page to write: -o report.html; or add --json.")
    if original is None and (seed or person or target is not None):
        unused = "only a private page uses --person, --target and --seed. Add --original FILE, or omit them."
        raise BadOption("--original", unused)
    screen.doing("counting classes")
    with open_original(original, plan, split_names(person)) as opened:
        page = kech.make_report(
            table,
            certificate=certificate,
            plan=plan,
            threshold=parse_probabilities(threshold),
            original=opened,
            target=target,
            seed=seed,
            all_models=all_models,
        )
    if output is not None:
        page.write(output)
    screen.show(page.to_json() | {"page": output and str(output)}, json, drawings.print_report)


@app.command
def compare(
    table: Released,
    /,
    *,
    original: str | Path,
    certificate: Certificate = None,
    plan: Path | None = None,
    target: str | None = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare a released file with its original: what can still be learned from it. PRIVATE: not for publication.

    Example: kech compare safe.csv --original people.csv

    Example: kech compare safe.csv --original people.csv --target income

    Parameters
    ----------
    original: str
        The original table.
    plan: Path
        Plan that says how to read the original: hierarchies, null values, dialect.
    target: str
        Column that the model predicts. By default the first sensitive column.
    seed: int
        Seed that chooses the rows of the original on which the model is tested.
    """
    screen.doing("comparing")
    with kech.read_table(original, read_plan_or_default(plan)) as opened:
        comparison = kech.compare(opened, table, certificate=certificate, target=target, seed=seed).to_json()
    screen.show({"file": str(table)} | comparison, json, drawings.print_comparison)


@app.command
def twin(
    table: Released,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    certificate: Certificate = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Write a copy of a released file with a random value in place of each label, for tools that read no labels.

    Example: kech twin safe.parquet -o twin.parquet

    Parameters
    ----------
    output: Path
        Where to write: a .csv or .parquet file.
    seed: int
        Seed of the draws: equal files and seeds give equal twins.
    """
    screen.doing("drawing values")
    written = kech.make_twin(table, certificate, seed=seed).write(output)
    screen.show(written, json, drawings.print_twin)

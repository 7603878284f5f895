"""Commands that explain a released file: report, compare."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import kech
from kech.cli.intake import Flag, Names, Seed, TableName, app, read_given
from kech.cli.risks import Released, as_chances
from kech.errors import BadOption
from kech.views import screen
from kech.views.screen import audits as drawings


@app.command
def report(
    table: Released,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    certificate: Path | None = None,
    plan: Path | None = None,
    threshold: Names = ["0.09", "0.2"],  # noqa: B006
    original: str | Path | None = None,
    target: str | None = None,
    seed: Seed = 0,
    json: Flag = False,
) -> None:
    """Explain a released file on one page, from the file and its certificate alone; with the original, PRIVATE.

    Example: kech report safe.csv -o report.html
    Example: kech report safe.csv --original people.csv -o private.html

    Parameters
    ----------
    output: Path
        The page to write: .html. Without it, --json prints the figures.
    certificate: Path
        The certificate, if it is not beside the file.
    plan: Path
        The plan of the release: the page shows what it adds. It also says how the original is read.
    threshold: list[str]
        Chances above which a record counts as at risk: --threshold 0.09 0.2.
    original: str
        The table that was released: adds distributions before and after, a model and attacks. The page is PRIVATE.
    target: str
        The column that the model of a private page predicts; the first sensitive one otherwise.
    seed: int
        Decides what chance decides in a private page.
    json: bool
        Print one JSON object.
    """
    if output is None and not json:
        raise BadOption("--output", "name the page to write: -o report.html; or ask for --json.")
    if original is None and (seed or target is not None):
        raise BadOption("--original", "--target and --seed are for a private page: give the original too.")
    screen.doing("counting classes")
    with nullcontext() if original is None else kech.read_table(original, read_given(plan)) as opened:
        made = kech.make_report(
            table,
            certificate=certificate,
            plan=plan,
            threshold=as_chances(threshold),
            original=opened,
            target=target,
            seed=seed,
        )
    if output is not None:
        made.write(output)
    screen.show(made.to_json() | {"page": output and str(output)}, json, drawings.print_report)


@app.command
def compare(
    original: TableName,
    table: Released,
    /,
    *,
    certificate: Path | None = None,
    plan: Path | None = None,
    target: str | None = None,
    seed: Seed = 0,
    json: Flag = False,
) -> None:
    """Show what can still be learned from a released file, beside its original. PRIVATE: not for publication.

    Example: kech compare people.csv safe.csv
    Example: kech compare people.csv safe.csv --target income

    Parameters
    ----------
    certificate: Path
        The certificate, if it is not beside the file.
    plan: Path
        How the original is read: hierarchies, null values, dialect.
    target: str
        The column that the model predicts; the first sensitive one otherwise.
    seed: int
        Decides which rows of the original the model is judged on.
    json: bool
        Print one JSON object.
    """
    screen.doing("comparing")
    with kech.read_table(original, read_given(plan)) as opened:
        found = kech.compare(opened, table, certificate=certificate, target=target, seed=seed).to_json()
    screen.show({"file": str(table)} | found, json, drawings.print_comparison)

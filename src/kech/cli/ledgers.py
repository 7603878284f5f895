"""Commands that show what was released before: ledger, series."""

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

import kech
from kech.cli.intake import Flag, Json, app
from kech.errors import BadOption
from kech.views import screen
from kech.views.screen.cohorts import print_series
from kech.views.screen.releases import print_ledger


@app.command
def ledger(*, forget: str | None = None, new_key: Path | None = None, json: Json = False) -> None:
    """List the releases that kech remembers, as hashes; or make a key file for a team.

    Example: kech ledger

    Example: kech ledger --forget safe.csv

    Example: kech ledger --new-key team.key

    Parameters
    ----------
    forget: str
        Remove a release that nobody received from the ledger: name the file, or the beginning of its hash.
    new_key: Path
        Write a key file with a new secret for --key-file of other commands. Only you can read it.
    """
    user_ledger = kech.open_ledger()
    struck = [] if forget is None else user_ledger.forget(forget)
    key = None if new_key is None else str(kech.write_key_file(new_key))
    result = {
        "file": str(user_ledger.path),
        "forgotten": struck,
        "releases": user_ledger.list_releases(),
        "key_file": key,
    }
    screen.show(result, json, print_ledger)


@app.command
def series(
    folder: Path,
    /,
    *,
    moved: Annotated[list[Path], Parameter(consume_multiple=True, negative="", show_default=False)] = [],  # noqa: B006
    forget: Flag = False,
    yes: Flag = False,
    json: Json = False,
) -> None:
    """List the releases of a series with their rows, cohorts, waiting and withdrawn rows; and its options.

    Example: kech series clinic

    Example: kech series clinic --moved archive/oct_safe.csv

    Example: kech series clinic --forget

    Parameters
    ----------
    folder: Path
        The PRIVATE folder of the series.
    moved: list[Path]
        Released files of the series that were moved: remember where they lie now.
    forget: bool
        Forget the last release, and remove its file and certificate. Only if nobody received it.
    yes: bool
        Do not ask before the last release is forgotten.
    """
    if yes and not forget:
        raise BadOption("--yes", "only --forget asks a question. Omit --yes, or add --forget.")
    opened = kech.open_series(folder)
    known = opened.to_json()
    if moved:
        opened.find_files(*moved)
    if forget and not yes:
        confirm_forgetting(known["versions"][-1])
    forgotten = opened.forget() if forget else None
    last = Path(known["versions"][-1]["file"])
    changed = {"forgotten": forgotten, "stays": str(last) if forget and last.exists() else None}
    known = opened.to_json() if opened.exists else known | {"versions": []}
    screen.show(known | changed, json, print_series)


def confirm_forgetting(version: dict[str, Any]) -> None:
    """Ask on the terminal whether to forget a version; refused without a terminal or without a yes."""
    what = f"version {version['version']} and removes its file, {version['file']}"
    if not sys.stdin.isatty():
        raise BadOption("--forget", f"it forgets {what}. If nobody received that, add --yes.")
    if not screen.ask(f"This forgets {what}. Did nobody receive it?"):
        raise BadOption("--forget", "you did not confirm, so nothing was forgotten. Run it again, or add --yes.")

"""Commands that show what was released before: ledger, series."""

from pathlib import Path

import kech
from kech.cli.intake import Flag, app
from kech.views import screen
from kech.views.screen.cohorts import print_series
from kech.views.screen.releases import print_ledger


@app.command
def ledger(*, forget: str | None = None, new_key: Path | None = None, json: Flag = False) -> None:
    """List the releases that kech remembers, as hashes; or make a key file for a team.

    Example: kech ledger

    Example: kech ledger --forget safe.csv

    Example: kech ledger --new-key team.key

    Parameters
    ----------
    forget: str
        Remove a release that nobody received: the released file, or the beginning of its hash.
    new_key: Path
        Write a key file with a new secret for --key-file of other commands. Only you can read it.
    json: bool
        Print one JSON object.
    """
    book = kech.open_ledger()
    struck = [] if forget is None else book.forget(forget)
    key = None if new_key is None else str(kech.write_key_file(new_key))
    result = {"file": str(book.path), "forgotten": struck, "releases": book.list_releases(), "key_file": key}
    screen.show(result, json, print_ledger)


@app.command
def series(folder: Path, /, *, forget: Flag = False, json: Flag = False) -> None:
    """List the releases of a series: rows, cohorts, arrivals, what waits and what was withdrawn.

    Example: kech series clinic

    Example: kech series clinic --forget

    Parameters
    ----------
    folder: Path
        The PRIVATE folder of the series.
    forget: bool
        Forget the last release first. Only if nobody received it.
    json: bool
        Print one JSON object.
    """
    opened = kech.open_series(folder)
    forgotten = opened.forget() if forget else None
    result = opened.to_json() if opened.exists else {"folder": str(folder), "versions": []}
    screen.show(result | {"forgotten": forgotten}, json, print_series)

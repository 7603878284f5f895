"""The command that shows what was released before: ledger."""

from pathlib import Path

import kech
from kech.cli.intake import Flag, app
from kech.views import screen
from kech.views.screen.releases import print_ledger


@app.command
def ledger(*, forget: str | None = None, new_key: Path | None = None, json: Flag = False) -> None:
    """List the releases that kech remembers, by hashes only; or make a key file for a team.

    Example: kech ledger
    Example: kech ledger --forget safe.csv
    Example: kech ledger --new-key team.key

    Parameters
    ----------
    forget: str
        Strike out a release that was never handed out: the released file, or the beginning of its hash.
    new_key: Path
        Make a key file (--key-file of other commands) that only you can read, with a new secret.
    json: bool
        Print one JSON object.
    """
    book = kech.open_ledger()
    struck = [] if forget is None else book.forget(forget)
    made = None if new_key is None else str(kech.write_key_file(new_key))
    found = {"file": str(book.path), "forgotten": struck, "releases": book.list_releases(), "key_file": made}
    screen.show(found, json, print_ledger)

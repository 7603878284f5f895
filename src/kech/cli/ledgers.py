"""The command that shows what was released before: ledger."""

import kech
from kech import screen
from kech.cli.intake import Flag, app
from kech.screen.ledgers import remembered


@app.command
def ledger(*, forget: str | None = None, json: Flag = False) -> None:
    """List the releases that kech remembers, by hashes only.

    Example: kech ledger
    Example: kech ledger --forget safe.csv

    Parameters
    ----------
    forget: str
        Strike out a release that was never handed out: the released file, or the beginning of its hash.
    json: bool
        Print one JSON object.
    """
    book = kech.open_ledger()
    struck = [] if forget is None else book.forget(forget)
    found = {"file": str(book.path), "forgotten": struck, "releases": book.listed()}
    screen.show(found, json, remembered)

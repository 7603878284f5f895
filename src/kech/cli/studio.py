"""The command that opens a page: studio."""

import os
import webbrowser
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kech import screen
from kech.cli.intake import Flag, Whole, app
from kech.errors import BadTarget
from kech.studio import run_studio


@app.command
def studio(
    table: Annotated[Path | None, Parameter(help="CSV, Parquet, Arrow or Excel file.")] = None,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path(),
    port: Whole = 0,
    key_file: Path | None = None,
    no_browser: Flag = False,
    json: Flag = False,
) -> None:
    """Open a page in the browser: see the spectrum, choose, release. Ctrl-C ends it.

    Example: kech studio people.csv

    Parameters
    ----------
    output: Path
        Releases are written into folders below this one; the current folder otherwise.
    port: int
        Port of the page on 127.0.0.1; 0 takes a free one.
    key_file: Path
        A key that a team shares (kech ledger --new-key FILE), in place of your own secret.
    no_browser: bool
        Only print the address.
    json: bool
        Print the address as one JSON object.
    """
    if not output.is_dir():
        raise BadTarget(output, "it is not a folder; create it first.")

    if key_file is not None:
        from kech.secret import open_secret

        open_secret(key_file)
        os.environ["KECH_KEY_FILE"] = str(key_file.resolve())  # for the child processes

    def announce(address: str) -> None:
        screen.show({"address": address, "folder": str(output.resolve())}, json, screen.opened)
        if not no_browser:
            webbrowser.open(address)

    run_studio(table, output, port, announce)

"""The command that opens a page: studio."""

import os
import webbrowser
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kech.cli.intake import Flag, Whole, app
from kech.errors import BadTarget
from kech.request import FIELDS
from kech.studio import run_studio
from kech.studio.entry import OneTimeAddress
from kech.views import screen


@app.command
def studio(
    table: Annotated[Path | None, Parameter(help="CSV, Parquet, Arrow or Excel file.")] = None,
    /,
    *,
    plan: Path | None = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path(),
    port: Whole = 0,
    key_file: Annotated[Path | None, Parameter(help=FIELDS["key_file"].help)] = None,
    no_browser: Flag = False,
    json: Flag = False,
) -> None:
    """Open a page in the browser: see the spectrum, choose, release. Ctrl-C ends it.

    Example: kech studio people.csv

    Example: kech studio people.csv --plan kech.toml

    Parameters
    ----------
    plan: Path
        Plan to start from. Columns that it does not name are left out.
    output: Path
        Folder below which the studio writes releases. By default the current folder.
    port: int
        Port of the page on 127.0.0.1. 0 takes a free port.
    no_browser: bool
        Start no browser. Print the address, which opens the page once.
    json: bool
        Print the address as one JSON object.
    """
    if not output.is_dir():
        raise BadTarget(output, "it is not a folder. Create it first.")

    if key_file is not None:
        from kech.system.secret import open_secret

        open_secret(key_file)
        os.environ["KECH_KEY_FILE"] = str(key_file.resolve())  # for the child processes

    def announce(entry: OneTimeAddress) -> None:
        is_shown = not no_browser and start_browser(entry)
        address = entry.page if is_shown else entry.address
        screen.show(
            {"address": address, "folder": str(output.resolve()), "browser": is_shown}, json, screen.print_address
        )

    run_studio(table, plan, output, port, announce)


def start_browser(entry: OneTimeAddress) -> bool:
    """Open a private file in a browser, so that its public command line shows a path and no token; whether it did."""
    try:
        return webbrowser.open(entry.write_file().as_uri())
    except OSError:  # the file cannot be written: the address is printed instead
        return False

"""Commands that look at a release before it is written: outlook, plane."""

from pathlib import Path

import kech
from kech.cli.intake import RELEASE, Asked, TableName, Whole, app, asks, check_picture
from kech.views.screen import outlooks as drawings


@app.command
@asks(*RELEASE)
def outlook(
    table: TableName,
    /,
    *,
    asked: Asked,
    rows: Whole = 10,
) -> None:
    """Say in plain words what a release would do, with rows before and after; nothing is written. PRIVATE.

    Example: kech outlook people.csv --qi age zip sex --sensitive diagnosis --k 5

    Parameters
    ----------
    rows: int
        So many of the first rows are shown before and after.
    """
    request = asked.request()
    with asked.open(table, request) as opened:
        made = kech.make_release(opened, request)
        found = kech.compute_outlook(made, rows=rows)
    asked.show(found.to_json(), drawings.print_outlook)


@app.command
@asks(*RELEASE)
def plane(
    table: TableName,
    across: str,
    up: str,
    /,
    *,
    asked: Asked,
    plot: Path | None = None,
) -> None:
    """Show rows as points and classes as boxes on two columns. PRIVATE: not for publication.

    Example: kech plane people.csv age zip --qi age zip sex --k 5 --plot plane.svg
    Example: kech plane people.csv age zip --qi age zip sex --eps 0.05 --json

    Parameters
    ----------
    across: str
        The quasi-identifier from left to right.
    up: str
        The quasi-identifier from bottom to top.
    plot: Path
        Draw them: .svg, .png or .html.
    """
    request = asked.request()
    check_picture(plot)
    with asked.open(table, request) as opened:
        found = kech.compute_plane(kech.make_release(opened, request), across, up)
    if plot is not None:
        found.plot(plot)
    asked.show(found.to_json() | {"plot": plot and str(plot)}, drawings.print_plane)

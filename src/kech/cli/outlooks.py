"""Commands that look at a release before it is written: outlook, plane."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import kech
from kech.cli.intake import CutOptions, GoalOptions, Intake, SearchOptions, TableName, Whole, app, check_picture, whole
from kech.errors import BadOption
from kech.views.screen import outlooks as drawings


@app.command
def outlook(
    table: TableName,
    /,
    *,
    intake: Intake | None = None,
    cutting: CutOptions | None = None,
    search: SearchOptions | None = None,
    wanted: GoalOptions | None = None,
    rows: Whole = 10,
) -> None:
    """Say in plain words what a release would do, with rows before and after; nothing is written. PRIVATE.

    Example: kech outlook people.csv --qi age zip sex --sensitive diagnosis --k 5

    Parameters
    ----------
    rows: int
        So many of the first rows are shown before and after.
    """
    asked = intake or Intake()
    plan = asked.settle()
    (cutting or CutOptions()).settle(plan.release, search, wanted)
    with asked.open(table, plan, search) as opened:
        made = kech.make_release(opened, **plan.release.wishes())
        found = kech.compute_outlook(made, rows=rows)
    asked.show(found.to_json(), drawings.print_outlook)


@app.command
def plane(
    table: TableName,
    across: str,
    up: str,
    /,
    *,
    intake: Intake | None = None,
    k: Annotated[int | None, Parameter(converter=whole)] = None,
    cut: str | None = None,
    eps: float | None = None,
    search: SearchOptions | None = None,
    wanted: GoalOptions | None = None,
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
    k: int
        The classes of a release for this k.
    cut: str
        Its style: local, minimal, domain or regime.
    eps: float
        The components of the barcode at this radius, in place of the classes of a release.
    plot: Path
        Draw them: .svg, .png or .html.
    """
    asked = intake or Intake()
    plan = asked.settle()
    if eps is not None and any(option is not None for option in (k, cut, search, wanted)):
        raise BadOption("--eps", "the components at a radius are no release: leave --k, --cut and its options away.")
    check_picture(plot)
    if eps is None:
        CutOptions(k, cut).settle(plan.release, search, wanted)
    with asked.open(table, plan, search) as opened:
        if eps is None:
            seen: kech.Release | kech.WeightedBarcode = kech.make_release(opened, **plan.release.wishes())
        else:
            seen = kech.compute_barcode(opened, max_dimension=0, grid="exact" if asked.grid is None else asked.grid)
        found = kech.compute_plane(seen, across, up, eps=eps)
    if plot is not None:
        found.plot(plot)
    asked.show(found.to_json() | {"plot": plot and str(plot)}, drawings.print_plane)

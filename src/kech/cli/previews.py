"""The command that looks at a release before it is written: preview."""

from pathlib import Path

import kech
from kech.cli.intake import RELEASE, Asked, Names, TableName, Whole, app, asks, check_picture, split
from kech.errors import BadOption
from kech.request import FIELDS
from kech.views.screen import previews as drawings

OF_A_RELEASE = [name for name, field in FIELDS.items() if field.part in ("goal", "cut") or name == "protect"]


@app.command
@asks(*RELEASE)
def preview(
    table: TableName,
    /,
    *,
    asked: Asked,
    rows: Whole = 10,
    on: Names = [],  # noqa: B006
    radius: float | None = None,
    plot: Path | None = None,
) -> None:
    """Say in plain words what a release would do, with rows before and after; nothing is written. PRIVATE.

    Example: kech preview people.csv --qi age zip sex --sensitive diagnosis --k 5
    Example: kech preview people.csv --qi age zip sex --k 5 --on age zip --plot plane.svg

    Parameters
    ----------
    rows: int
        So many of the first rows are shown before and after.
    on: list[str]
        Also see rows as points and classes as boxes on these two quasi-identifiers.
    radius: float
        See the components of the barcode at this eps on two columns, in place of a release.
    plot: Path
        Draw the two columns of --on: .svg, .png or .html.
    """
    request, columns = asked.request(), split(on)
    check_picture(plot)
    if radius is not None and any(asked.typed[name] is not None for name in asked.typed if name in OF_A_RELEASE):
        raise BadOption("--radius", "the components at a radius are no release: omit --k, --cut and their options.")
    if plot is not None and not columns:
        raise BadOption("--plot", "name the two quasi-identifiers to draw: --on age zip.")
    with asked.open(table, request) as opened:
        if radius is None:
            seen: kech.Release | kech.WeightedBarcode = kech.make_release(opened, request)
        else:
            seen = kech.compute_barcode(opened, max_dimension=0, grid=asked.typed["grid"] or "exact")
        found = kech.compute_preview(seen, on=columns, eps=radius, rows=rows)
    if plot is not None:
        found.plot(plot)
    asked.show(found.to_json() | {"plot": plot and str(plot)}, drawings.print_preview)

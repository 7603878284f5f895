"""The command that looks at a release before it is written: preview."""

from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import kech
from kech.cli.intake import (
    RELEASE,
    Names,
    TableName,
    TypedOptions,
    app,
    check_picture,
    parse_whole,
    split_names,
    with_options,
)
from kech.errors import BadOption
from kech.request import FIELDS
from kech.views.screen import previews as drawings

OF_A_RELEASE = [name for name, field in FIELDS.items() if field.part in ("goal", "cut") or name == "protect"]


@app.command
@with_options(*RELEASE)
def preview(
    table: TableName,
    /,
    *,
    options: TypedOptions,
    rows: Annotated[int | None, Parameter(converter=parse_whole)] = None,
    on: Names = [],  # noqa: B006
    radius: float | None = None,
    plot: Path | None = None,
) -> None:
    """Explain what a release would do, with rows before and after. It writes no release. PRIVATE.

    Example: kech preview people.csv --qi age zip sex --sensitive diagnosis --k 5

    Example: kech preview people.csv --qi age zip sex --k 5 --on age zip --plot plane.svg

    Example: kech preview visits.csv --qi age day --person patient --k 5 --protect-history

    Parameters
    ----------
    rows: int
        Number of first rows to show before and after, by default 10 where they fit on the screen.
    on: list[str]
        Two quasi-identifiers on which to show rows as points and classes as boxes.
    radius: float
        Show the components of the barcode at this eps on two columns, instead of a release.
    plot: Path
        Draw the two columns of --on into this file: .svg, .png or .html.
    """
    request, columns = options.request(), split_names(on)
    check_picture(plot)
    if radius is not None and any(options.typed[name] is not None for name in options.typed if name in OF_A_RELEASE):
        raise BadOption("--radius", "it shows components, not a release. Omit --k, --cut and their options.")
    if plot is not None and not columns:
        raise BadOption(
            "--plot", "a plane needs two columns. Name the two quasi-identifiers to draw: --on COLUMN COLUMN."
        )
    with options.open(table, request) as opened:
        price = None
        if request.goal.protect_history and radius is None:
            price_preview = kech.compute_preview(opened, request)
            price = price_preview.price
            if not (options.json or options.json_lines):
                drawings.print_price(price_preview.words)
        if radius is None:
            subject: kech.Release | kech.WeightedBarcode = kech.make_release(opened, request, preview=True)
        else:
            subject = kech.compute_barcode(opened, max_dimension=0, grid=options.typed["grid"] or "exact")
        picture = kech.compute_preview(subject, on=columns, eps=radius, rows=10 if rows is None else rows)
    if plot is not None:
        picture.plot(plot)
    draw = partial(drawings.print_preview, cell_by_cell=rows is not None)
    options.show(picture.to_json() | {"price": price, "plot": plot and str(plot)}, draw)

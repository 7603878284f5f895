"""Commands that look at the shape of a table: barcode, lattice, zigzag, hierarchy."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import kech
from kech.cli.intake import TABLE, Asked, Flag, TableName, Whole, app, asks, check_picture, parse_ks, whole
from kech.errors import BadOption, BadTarget
from kech.views.screen import shapes as drawings


@app.command
@asks(*TABLE, "max_points")
def barcode(
    table: TableName,
    /,
    *,
    asked: Asked,
    metric: str = "box",
    max_dimension: Annotated[int | None, Parameter(converter=whole)] = None,
    field: Annotated[int, Parameter(converter=whole)] = 2,
    k: Annotated[list[str], Parameter(consume_multiple=True, negative="")] = ["2"],  # noqa: B006
    reading: str | None = None,
    radii: Annotated[list[str], Parameter(consume_multiple=True, negative="")] = [],  # noqa: B006
    zero_length: Flag = False,
    longest: Annotated[int | None, Parameter(converter=whole)] = None,
    plot: Path | None = None,
) -> None:
    """Show which rows are together while eps grows, and where the table is k-anonymous. PRIVATE: not for publication.

    Example: kech barcode people.csv --qi age zip --metric ball --plot barcode.svg

    Parameters
    ----------
    metric: str
        box (any columns; Cech = Rips) or ball (Euclidean; numbers and dates).
    max_dimension: int
        Holes up to this dimension: 1 otherwise, where the extra `topology` is installed; 0 for components alone,
        which is fast for millions of rows.
    field: int
        Coefficients of homology: numbers modulo this prime, 2 to 127. Fields differ only where a complex has torsion.
    k: list[str]
        Show regimes for this k and larger ones; several k are drawn side by side: --k 2,3,4.
    reading: str
        Show this reading only: homological, strict or partition; the plot shades homological otherwise.
    radii: list[str]
        Look at these radii only, as Algorithm 1 of the paper does: --radii 0.05,0.10,0.15.
    zero_length: bool
        Show bars of zero length too: twin rows, and holes that are filled the moment they open.
    longest: int
        Only so many bars, the longest; the others are counted.
    plot: Path
        Draw the barcode: .svg, .png or .html.
    """
    request, ks = asked.request(), parse_ks(k)
    check_picture(plot)
    dimension = int(has_topology()) if max_dimension is None else max_dimension
    with asked.open(table, request) as opened:
        found = kech.compute_barcode(
            opened,
            metric=metric,
            max_dimension=dimension,
            field=field,
            grid=asked.typed["grid"] or "exact",
            zero_length=zero_length,
            max_points=request.limits.max_points,
        )
    shown = found.to_json(min(ks), parse_radii(radii), None if reading is None else [reading], longest=longest)
    if plot is not None:
        drawn = found.sample(parse_radii(radii)) if radii else found
        drawn.plot(plot, k=ks, reading="homological" if reading is None else reading)
    asked.show(shown | {"plot": plot and str(plot)}, drawings.print_barcode)


def has_topology() -> bool:
    """Whether the extra that looks for holes is installed."""
    return all(find_spec(name) for name in ("ripser", "scipy"))


def parse_radii(texts: Sequence[str]) -> list[float]:
    """Numbers with commas between."""
    try:
        return [float(part) for text in texts for part in text.split(",")]
    except ValueError:
        raise BadOption("--radii", "write numbers: --radii 0.05,0.10,0.15.") from None


@app.command
@asks(*TABLE, "suppress")
def lattice(
    table: TableName,
    /,
    *,
    asked: Asked,
    k: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    search: str | None = None,
    node: str | None = None,
) -> None:
    """Show for every k the best and the minimal nodes of the lattice: one level for all rows of a column.

    Example: kech lattice people.csv --qi age zip sex --hierarchies trees --k 2,5,10 --suppress 0.02
    Example: kech lattice people.csv --qi age zip sex --node 2,1,0

    Parameters
    ----------
    k: list[str]
        Which k; 2 to 100 otherwise. Ranges are welcome: --k 2-20,50.
    search: str
        lattice (all nodes, or the best found in a lattice too large for that) or chain (the paper's approximation).
    node: str
        Show this node, a level for every column, and those one step above and below it.
    """
    request, ks = asked.request(), parse_ks(k) if k else None
    levels = None if node is None else parse_node(node)
    if levels is not None and any(option is not None for option in (k, asked.typed["suppress"], search)):
        raise BadOption("--node", "one node is looked at as it is: omit --k, --suppress and --search.")
    with asked.open(table, request) as opened:
        found = kech.compute_lattice(opened)
        if levels is not None:
            asked.show(found.neighbours(levels), drawings.print_neighbours)
            return
        shown = found.to_json(ks, request.cut.suppress, search="lattice" if search is None else search)
    asked.show(shown, drawings.print_lattice)


def parse_node(text: str) -> list[int]:
    """Levels with commas between."""
    try:
        return [int(level) for level in text.split(",")]
    except ValueError:
        raise BadOption("--node", "write a level for every column: --node 2,1,0.") from None


@app.command
@asks(*TABLE)
def zigzag(
    table: TableName,
    /,
    *,
    asked: Asked,
    path: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    through: str = "union",
    k: Whole = 2,
    longest: Annotated[int | None, Parameter(converter=whole)] = None,
    plot: Path | None = None,
) -> None:
    """Show how classes merge and split along a path of lattice nodes. PRIVATE: not for publication.

    Example: kech zigzag people.csv --qi country sex --path "0,0 0,1 1,0 1,1" --k 5 --plot zigzag.svg

    Parameters
    ----------
    path: list[str]
        Nodes, each a level for every column, in the order of the columns: --path "0,0 0,1 1,0"; or rows, columns,
        diagonal (otherwise), minimal (the best minimal node as k grows).
    through: str
        Neighbours meet in their union or in their intersection.
    k: int
        Mark the nodes that are k-anonymous: every class has k rows or more, under every reading.
    longest: int
        Only so many bars, the longest; the others are counted.
    plot: Path
        Draw the barcode: .svg, .png or .html.
    """
    request, named = asked.request(), "diagonal" if path is None else " ".join(path)
    check_picture(plot)
    with asked.open(table, request) as opened:
        found = kech.compute_zigzag(opened, named, through=through)
    if plot is not None:
        found.plot(plot, k=k)
    asked.show(found.to_json(k, longest=longest) | {"plot": plot and str(plot)}, drawings.print_zigzag)


@app.command
@asks(*TABLE)
def hierarchy(
    table: TableName,
    column: str,
    /,
    *,
    asked: Asked,
    kind: str | None = None,
    source: Annotated[Path | None, Parameter(name="--from")] = None,
    pad: Flag = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
) -> None:
    """Build or check the hierarchy of one column, show it as a tree with counts, and write it. PRIVATE.

    Example: kech hierarchy people.csv zip -o trees/zip.csv
    Example: kech hierarchy people.csv country --from countries.csv

    Parameters
    ----------
    column: str
        The column.
    kind: str
        intervals, dates, prefixes, ordered (neighbours by 2, 4, 8, ...) or star; otherwise what suits the column.
    source: Path
        Check this hierarchy (.csv, .toml or .json) in place of building one.
    pad: bool
        Let the values of that hierarchy differ in depth: the label below the root repeats.
    output: Path
        Write the hierarchy as .csv: a value, then its labels upward.
    """
    if output is not None and output.exists():
        raise BadTarget(output, "it exists, and somebody may have edited it. Name another file, or move it away.")
    with asked.look(table, asked.request()) as opened:
        found = kech.review_hierarchy(opened, column, kind=kind, source=source, pad=pad)
    if output is not None:
        found.write(output)
    asked.show(found.to_json() | {"file": output and str(output)}, drawings.print_hierarchy)

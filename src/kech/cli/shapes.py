"""Commands that look at the shape of a table: barcode, profile, lattice, zigzag, hierarchy."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

import kech
from kech.cli.intake import (
    TABLE,
    Flag,
    Ks,
    Names,
    Numbers,
    TableName,
    TypedOptions,
    WholeOrNone,
    app,
    check_picture,
    parse_ks,
    parse_whole,
    split_names,
    with_options,
)
from kech.errors import BadOption, BadTarget, unusable_value
from kech.request import FIELDS
from kech.request.parts import LARGEST_FIELD
from kech.request.request import LARGEST_K
from kech.views import screen
from kech.views.screen import shapes as drawings

MOST_PARTITIONED = 300_000  # points with which partitions are searched by default: they take 8 s of CPU and 0.5 GB
MOST_PARTITIONED_IN_PICTURES = 1_000_000  # pictures mark what the cuts reach
OVER_VERSIONS = ("quasi_identifiers", "hierarchies", "memory", "threads", "engine", "master")  # options that it uses

Metric = Annotated[str, Parameter(help="box (any columns; Cech = Rips) or ball (Euclidean; numbers and dates).")]
Prime = Annotated[
    int,
    Parameter(
        converter=parse_whole,
        help=f"Coefficients of homology: integers modulo this prime, 2 to {LARGEST_FIELD}. They matter only where a "
        "complex has torsion.",
    ),
]
ProfileKs = Annotated[
    list[str] | None,
    Parameter(
        consume_multiple=True,
        negative="",
        help=f"List these k, up to {LARGEST_K}: --k 2,5,20. With --person, k counts people.",
    ),
]


@app.command
@with_options(*TABLE, "max_points", "suppress")
def barcode(
    table: TableName,
    /,
    *,
    options: TypedOptions,
    metric: Metric = FIELDS["metric"].default,
    max_dimension: WholeOrNone = None,
    field: Prime = FIELDS["field"].default,
    k: Numbers = None,
    reading: str | None = None,
    radii: Names = [],  # noqa: B006
    zero_length: Flag = False,
    no_partitions: Flag = False,
    longest: WholeOrNone = None,
    plot: Path | None = None,
) -> None:
    """Show which rows merge while eps grows, and where the table is k-anonymous. PRIVATE: not for publication.

    Example: kech barcode people.csv --qi age zip --metric ball --plot barcode.svg

    Parameters
    ----------
    max_dimension: int
        Largest dimension of holes. 0 shows components alone and is fast for millions of rows. By default 1 if memory
        and the extra `topology` allow it, else 0.
    k: list[str]
        Show regimes for this k and larger ones; by default that of the plan, or 2. The plot draws several k side by
        side: --k 2,3,4. With --person, k counts people.
    reading: str
        Show this reading only: homological, strict or partition. The plot's title then says from which eps on k holds.
    radii: list[str]
        Use these radii only, as Algorithm 1 of the paper does: --radii 0.05,0.10,0.15.
    zero_length: bool
        Show bars of zero length too: equal rows, and holes that fill as soon as they open.
    no_partitions: bool
        Do not search for partitions, which takes as long as two releases.
    longest: int
        Show this many of the longest bars, and count the others.
    plot: Path
        Draw the barcode into this file: .svg, .png or .html.
    """
    request = options.request()
    ks = parse_ks(k) if k else [request.goal.k or 2]
    check_picture(plot)
    with options.open(table, request) as opened:
        result = kech.compute_barcode(
            opened,
            metric=metric,
            max_dimension=max_dimension,
            field=field,
            grid=options.typed["grid"] or "exact",
            zero_length=zero_length,
            max_points=request.limits.max_points,
        )
        if reading in (None, "partition") and not no_partitions:
            most = MOST_PARTITIONED if plot is None else MOST_PARTITIONED_IN_PICTURES
            how: dict[str, Any] = {} if reading else {"effort": "quick", "most_points": most}
            result = kech.search_partitions(result, ks, threads=opened.threads, **how)
        share = request.cut.suppress
        if share:
            from kech.release.announcing import announce_regimes

            result = announce_regimes(result, opened, request, ks, reading)
    chosen = parse_radii(radii, "--radii")
    readings = None if reading is None else [reading]
    summary = result.to_json(min(ks), chosen, readings, longest=longest, suppress=share)
    if plot is not None:
        sampled = result.sample(chosen) if radii else result
        sampled.plot(plot, k=ks, reading=reading, suppress=share)
    options.show(summary | {"plot": plot and str(plot)}, drawings.print_barcode)


def parse_radii(texts: Sequence[str], option: str) -> list[float]:
    """Radii from words, separated by commas."""
    try:
        return [float(part) for text in texts for part in text.split(",")]
    except ValueError:
        raise unusable_value(option, f"Write numbers: {option} 0.05,0.10,0.15.") from None


@app.command
@with_options(*TABLE, "max_points")
def profile(
    table: TableName,
    /,
    *,
    options: TypedOptions,
    metric: Metric = FIELDS["metric"].default,
    k: ProfileKs = None,
    eps: Numbers = None,
    rows: Flag = False,
    one_person: Flag = False,
    no_cuts: Flag = False,
    plot: Path | None = None,
) -> None:
    """Show how many rows cannot hide among k at each eps, before any cut is made. PRIVATE: not for publication.

    Example: kech profile people.csv --qi age zip sex --k 2,5,20 --eps 0.01,0.05,0.2 --plot profile.svg

    Parameters
    ----------
    eps: list[str]
        List these radii: --eps 0.01,0.05,0.2.
    rows: bool
        List the numbers of the rows that need the largest eps, and the loss saved by leaving out 0.5 % of the rows.
    one_person: bool
        Show how much the needed eps can change when one person is removed.
    no_cuts: bool
        Do not cut the rows at each k to show what releases reach.
    plot: Path
        Draw exposed rows over eps and k into this file: .svg, .png or .html.
    """
    request, ks = options.request(), None if k is None else parse_ks(k)
    radii = None if eps is None else parse_radii(eps, "--eps")
    check_picture(plot)
    with options.open(table, request) as opened:
        result = kech.compute_profile(
            opened, metric=metric, grid=options.typed["grid"] or "exact", max_points=request.limits.max_points
        )
        chosen = result.choose_ks(ks)
        if not no_cuts:
            most = MOST_PARTITIONED if plot is None else MOST_PARTITIONED_IN_PICTURES
            result = kech.search_partitions(result, chosen, effort="quick", threads=opened.threads, most_points=most)
        summary = result.to_json(ks, radii)
        if rows:
            summary["last"] = [
                {**kech.weigh_last_rows(result, goal), "rows": result.last_rows(goal)} for goal in chosen
            ]
    if one_person:
        summary["one_person"] = [result.find_eps_without_one(goal) for goal in chosen]
    if plot is not None:
        result.plot(plot)
    options.show(summary | {"plot": plot and str(plot)}, drawings.print_profile)


@app.command
@with_options(*TABLE, "suppress", "weights")
def lattice(
    table: TableName,
    /,
    *,
    options: TypedOptions,
    k: Ks = None,
    search: str | None = None,
    node: str | None = None,
    metric_columns: Names = [],  # noqa: B006
    plot: Path | None = None,
) -> None:
    """Show for every k the best and the minimal nodes of the lattice: one level for all rows of a column.

    Example: kech lattice people.csv --qi age zip sex --hierarchies trees --k 2,5,10 --suppress 0.02

    Example: kech lattice people.csv --qi age zip sex --node 2,1,0

    Example: kech lattice people.csv --qi age zip sex --metric-columns age --k 5

    Parameters
    ----------
    search: str
        lattice (default: all nodes, or a search where there are too many) or chain (the approximation of the paper).
    node: str
        Show this node, one level for every column, and the nodes one step above and below it.
    metric_columns: list[str]
        Measure these columns (numbers or dates) by eps instead of levels, and show the minimal pairs of a node and an
        eps. By default for k = 2, 5, 10, 20 and 50.
    plot: Path
        Draw the nodes and eps at which the smallest k holds (--metric-columns) into this file: .svg, .png or .html.
    """
    request, ks = options.request(), parse_ks(k) if k else None
    measured = split_names(metric_columns)
    if measured and any(option is not None for option in (options.typed["suppress"], search, node)):
        raise BadOption(
            "--metric-columns", "all pairs of a node and an eps are compared. Omit --suppress, --search and --node."
        )
    if plot is not None and not measured:
        raise BadOption("--plot", "it draws levels and eps together. Add --metric-columns, or omit it.")
    check_picture(plot)
    levels = None if node is None else parse_node(node)
    if levels is not None and any(option is not None for option in (k, options.typed["suppress"], search)):
        raise BadOption("--node", "it shows one node as it is. Omit --k, --suppress and --search.")
    with options.open(table, request) as opened:
        if measured:
            mixed = kech.compute_mixed_lattice(opened, measured)
            summary = mixed.to_json(ks) | {"plot": plot and str(plot)}
            if plot is not None:
                mixed.plot(plot, k=min(map(int, summary["minimal"])))
            options.show(summary, drawings.print_mixed)
            return
        result = kech.compute_lattice(opened)
        if levels is not None:
            options.show(result.neighbours(levels), drawings.print_neighbours)
            return
        summary = result.to_json(ks, request.cut.suppress, search="lattice" if search is None else search)
    options.show(summary, drawings.print_lattice)


def parse_node(text: str) -> list[int]:
    """The levels of a node, separated by commas."""
    try:
        return [int(level) for level in text.split(",")]
    except ValueError:
        raise unusable_value("--node", "Write a level for every column: --node 2,1,0.") from None


@app.command
@with_options(*TABLE)
def zigzag(
    *tables: TableName,
    options: TypedOptions,
    path: Numbers = None,
    through: str | None = None,
    series: Path | None = None,
    original: Names = [],  # noqa: B006
    key: Names = [],  # noqa: B006
    k: WholeOrNone = None,
    longest: WholeOrNone = None,
    plot: Path | None = None,
) -> None:
    """Show how classes merge and split along a path of lattice nodes, or over versions. PRIVATE: not for publication.

    Example: kech zigzag people.csv --qi country sex --path "0,0 0,1 1,0 1,1" --k 5 --plot zigzag.svg

    Example: kech zigzag --series clinic --plot lives.svg

    Example: kech zigzag march_safe.csv april_safe.csv --original march.csv april.csv --key visit_id

    Parameters
    ----------
    path: list[str]
        Nodes, each with one level for every column in their order: --path "0,0 0,1 1,0". Or a named path: diagonal
        (default), rows, columns, or minimal (the best minimal node as k grows).
    through: str
        How neighbouring nodes are joined: union (default) or intersection.
    series: Path
        Follow the cohorts of this series over its versions, instead of a path.
    original: list[str]
        Follow the classes of the released files: the original of each, or one for all.
    key: list[str]
        Columns of the originals by which a row is recognised in the next one.
    k: int
        Mark classes of k rows or more; with --person, k people. By default 2; over versions that of the series, or the
        smallest class of any.
    longest: int
        Show this many of the longest bars, and count the others.
    plot: Path
        Draw the barcode into this file: .svg, .png or .html.
    """
    check_picture(plot)
    if series is not None or original:
        check_over_time(options, path, through)
        check_series(options, series, {"TABLE": tables, "--original": original, "--key": key})
        screen.doing("following classes")
        source = tables if series is None else kech.open_series(series)
        lives = kech.compute_lives(source, original, options.request(), key=split_names(key), k=k)
        if plot is not None:
            lives.plot(plot)
        options.show(lives.to_json(longest=longest) | {"plot": plot and str(plot)}, drawings.print_lives)
        return
    check_path_only(tables, key)
    request, steps = options.request(), "diagonal" if path is None else " ".join(path)
    with options.open(tables[0], request) as opened:
        result = kech.compute_zigzag(opened, steps, through="union" if through is None else through)
    if plot is not None:
        result.plot(plot, k=2 if k is None else k)
    listed = longest if options.json or options.json_lines or longest is not None else 0  # a screen shows the summary
    summary = result.to_json(2 if k is None else k, longest=listed)
    options.show(summary | {"plot": plot and str(plot)}, drawings.print_zigzag)


def check_over_time(options: TypedOptions, path: Sequence[str] | None, through: str | None) -> None:
    """Refuse options that only a path of nodes uses."""
    if path is not None or through is not None:
        option = "--through" if path is None else "--path"
        raise BadOption(option, f"it is for a path of one table, not for versions. Omit {option}.")
    typed = [FIELDS[name] for name, value in options.typed.items() if value is not None and name not in OVER_VERSIONS]
    if unused := [field.option for field in typed if field.part != "input"]:
        reason = "over versions, rows are followed by the labels of files and the key, and k counts rows."
        raise BadOption(unused[0], f"{reason} Omit {unused[0]}.")


def check_series(options: TypedOptions, series: Path | None, arguments: Mapping[str, Sequence[Any]]) -> None:
    """Refuse options that read tables, where a series has its own versions."""
    typed = {FIELDS[name].option: value for name, value in options.typed.items() if name != "threads"}
    unused = [name for name, value in {**arguments, **typed}.items() if value not in (None, [], ())]
    if series is not None and unused:
        raise BadOption("--series", f"it has its own versions. Omit {unused[0]}, or omit --series.")


def check_path_only(tables: Sequence[str | Path], key: Sequence[str]) -> None:
    """Refuse several tables, none, or a key, where classes are followed along a path of one table."""
    if key:
        raise BadOption("--key", "it recognises rows of the originals. Add --original FILE ..., or omit --key.")
    if not tables:
        raise BadOption("TABLE", "it is missing. Name a table, or a series: --series FOLDER.")
    if len(tables) > 1:
        raise BadOption("--original", "several released files need their originals. Add --original FILE ...")


@app.command
@with_options(*TABLE)
def hierarchy(
    table: TableName,
    column: str,
    /,
    *,
    options: TypedOptions,
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
        Column of the hierarchy.
    kind: str
        intervals, dates, prefixes, ordered (2, 4, 8, ... neighbours together) or star; by default what fits the column.
    source: Path
        Check this hierarchy (.csv, .toml or .json) instead of building one.
    pad: bool
        Allow values of different depth in that hierarchy: kech repeats the label below the root.
    output: Path
        Write the hierarchy into this .csv file: a value, then its labels upward.
    """
    if output is not None and output.exists():
        raise BadTarget(output, "it exists, and somebody may have edited it. Name another file, or move it away.")
    request = options.request()
    options.refuse_unused_axes([column], f"not {column!r}. Name that column")
    with options.read(table, request) as opened:
        review = kech.review_hierarchy(opened, column, kind=kind, source=source, pad=pad)
    if output is not None:
        review.write(output)
    options.show(review.to_json() | {"file": output and str(output)}, drawings.print_hierarchy)

"""Drawings of what a release would do, and of the first rows of a table."""

from collections.abc import Sequence
from typing import Any

from rich.markup import escape

from kech.views.screen.progress import hide
from kech.views.screen.terminal import ISOLATES, grid, out, say, say_drawn, say_private

NEARLY_ALL = 0.95  # of the rows
SHARES = {"exact": "exact>", "open": "open>", "missing": "NULL>", "lost": "lost>"}  # of rows; shown where not all are 0
TOO_WIDE = "The first rows are too wide for this screen: --rows 2 lists two of them, cell by cell."


def print_preview(result: dict[str, Any], *, cell_by_cell: bool = False) -> None:
    """What a release would do, and what two columns show."""
    if result["figures"]:
        print_consequences(result, cell_by_cell=cell_by_cell)
    if result["plane"]:
        print_plane(result["plane"], result["plot"])


def print_price(words: Sequence[str]) -> None:
    """What it costs that the rows of a person stay together, before any search."""
    hide()
    say_private("the price of --protect-history, before any search.")
    for sentence in words:
        say(sentence)


def print_consequences(result: dict[str, Any], *, cell_by_cell: bool) -> None:
    """Sentences, what becomes of each column, and the first rows before and after."""
    from kech.release.sentences import cost_words  # its libraries are not read for --help

    say_private("rows of the table before and after; do not publish them.")
    for sentence in (*result["words"], *cost_words(result["costs"])):
        say(sentence.translate(ISOLATES))
    change = ", and how the loss of the others changes without it (estimated)" * bool(result["costs"])
    say(f"What becomes of each column on average{change}:")
    without = {cost["column"]: f"{cost['others_without'] - cost['others']:+.4f}" for cost in result["costs"]}
    shown = {name: head for name, head in SHARES.items() if any(column[name] for column in result["columns"])}
    table = grid("column~", "becomes~", *shown.values(), "loss>", *["others>"] * bool(without))
    for column in result["columns"]:
        shares = (f"{column[name]:.0%}" for name in shown)
        cells = (escape(column["column"]), describe_cells(column), *shares, f"{column['loss']:.4f}")
        table.add_row(*cells, *([without.get(column["column"], "")] if without else []))
    out().print(table)
    print_pairs(result, cell_by_cell=cell_by_cell)


def describe_cells(column: dict[str, Any]) -> str:
    """What the cells of a column become, in a few words."""
    from kech.release.sentences import extent  # its libraries are not read for --help

    if column["exact"] + column["missing"] > NEARLY_ALL:
        return "as it is"
    return extent(column["axis"], column["width"]) if column["width"] is not None else "nothing"


def print_pairs(result: dict[str, Any], *, cell_by_cell: bool) -> None:
    """The first rows before and after; where they are too wide, cell by cell, or only how to see them."""
    if not result["before"]:
        return
    pairs = zip(result["before"], result["after"], strict=True)
    lines = [line for i, pair in enumerate(pairs, 1) for line in pair_rows(i, *pair)]
    print_rows(["", *result["names"]], lines, too_wide="" if cell_by_cell else TOO_WIDE)


def print_costs(costs: Sequence[dict[str, Any]], *, rows: int, columns: int) -> None:
    """What each quasi-identifier costs the others, and which may go; for a large table, why that is not said."""
    from kech.release.sentences import cost_words, uncompared_words  # their libraries are not read for --help

    if not costs:
        for sentence in uncompared_words(rows, columns):
            say(sentence)
        return

    say("What each quasi-identifier costs the others (estimated):")
    some_follow = any(cost["follows"] for cost in costs)
    table = grid("column~", "its loss>", "others>", "without it>", *["follows from~"] * some_follow)
    for cost in costs:
        losses = (f"{cost[name]:.4f}" for name in ("loss", "others", "others_without"))
        table.add_row(escape(cost["column"]), *losses, *[escape(cost["follows"] or "")] * some_follow)
    out().print(table)
    for sentence in cost_words(costs):
        say(sentence.translate(ISOLATES))


def pair_rows(number: int, before: Sequence[Any], after: Sequence[Any] | None) -> list[list[str | None]]:
    """Two lines of a table."""
    changed = ["left out", *[""] * (len(before) - 1)] if after is None else list(after)
    return [[str(number), *before], ["", *changed]]


def print_rows(names: Sequence[str], lines: Sequence[Sequence[str | None]], too_wide: str = "") -> None:
    """Rows as they are read; a sentence instead, if there is one for rows that are too wide."""
    table = grid(*(f"{escape(name)}~" for name in names))
    table.too_wide = too_wide
    for line in lines:
        table.add_row(*("NULL" if cell is None else escape(cell) for cell in line))
    out().print(table)


def print_plane(result: dict[str, Any], plot: str | None) -> None:
    """How many rows and classes two columns show."""
    say_private("where rows lie; do not publish it.")
    names = f"{result['x']['column']} and {result['y']['column']}"
    rows, dots = int(sum(point[2] for point in result["points"])), len(result["points"])
    say(f"{rows:,} rows at {dots:,} points on {names}")
    say(
        f"{result['classes']:,} classes, the smallest of {result['smallest']:,} rows, in {len(result['boxes']):,} boxes"
    )
    say_drawn(plot)
    if not plot:
        say("--plot draws them; --json tells where they lie.")

"""How risk figures and attacks look on a terminal."""

from typing import Any

from rich.markup import escape

from kech.views.screen.terminal import grid, out

MOST_BINS = 12  # of the histogram of class sizes
ROOM = 30  # for its longest bar


def risk(found: dict[str, Any]) -> None:
    """Chances of each attacker, uniqueness, class sizes, what tells the rows apart, and the formulas."""
    head = f"{found['file']}: {found['rows']:,} rows in {found['classes']:,} classes on"
    out().print(escape(f"{head} {', '.join(found['quasi_identifiers'])}; the smallest has {found['k']:,}."))
    chances(found)
    uniqueness(found)
    histogram(found["class_sizes"])
    out().print(f"smallest classes: {', '.join(map(str, found['smallest_classes']))} rows")
    separation([*found["columns"], found["together"]])
    out().print("\nformulas")
    table = grid("", "~")
    for name, formula in found["formulas"].items():
        table.add_row(escape(name), escape(formula))
    out().print(table)
    if found["attacks"] is not None:
        losses(found["loss_per_column"])
        attacks(found)


def chances(found: dict[str, Any]) -> None:
    """Prosecutor, journalist and marketer side by side."""
    taus = [f"{tau:g}" for tau in found["thresholds"]]
    table = grid("attacker", "highest>", "average>", *(f"records above {tau}>" for tau in taus))
    blank = ["not available"] * (2 + len(taus))
    for name in ("prosecutor", "journalist"):
        held = found[name]
        cells = [*map(figure, (held["highest"], held["average"]))] if held else blank
        table.add_row(name, *cells, *(f"{held['above'][tau]:.1%}" for tau in taus) if held else ())
    average = figure(found["marketer"]["average"]) if found["marketer"] else "not available"
    table.add_row("marketer", "", average, *[""] * len(taus))
    out().print(table)
    out().print("A prosecutor knows that a person is in the file; a journalist wants anybody; a marketer everybody.")
    if not found["journalist"]:
        known = "" if found["population"] is None else ", not only how many people it has"
        out().print(f"Journalist and marketer need the table of the population{known}: --population FILE.")


def uniqueness(found: dict[str, Any]) -> None:
    """Unique among the released rows, and in the population."""
    share, model = found["population_uniqueness"], found["uniqueness_model"]
    known = "not available (population unknown)" if share is None else f"{share:.4%} ({model})"
    out().print(f"unique in the file: {found['sample_uniqueness']:.4%}; in the population: {known}")
    if found["k_map"] is not None:
        people = f"{found['population']:,} people"
        out().print(f"k-map: every record could be one of {found['k_map']:,} or more of {people}.")


def histogram(sizes: dict[int, int]) -> None:
    """Classes by size, in bins of about equal width on a ruler of ratios where sizes are many."""
    bins: dict[tuple[int, int], int] = {}
    for size, classes in sizes.items():
        ends = (size, size) if len(sizes) <= MOST_BINS else (1 << size.bit_length() - 1, (1 << size.bit_length()) - 1)
        bins[ends] = bins.get(ends, 0) + classes
    table = grid("class size>", "classes>", "")
    for (low, high), classes in bins.items():
        bar = "█" * round(ROOM * classes / max(bins.values())) or "▏"
        table.add_row(f"{low:,}" if low == high else f"{low:,}-{high:,}", f"{classes:,}", bar)
    out().print(table)


def separation(columns: list[dict[str, Any]]) -> None:
    """What each quasi-identifier tells apart."""
    table = grid("column~", "distinct>", "distinction>", "separation>")
    for held in columns:
        figures = (f"{held['distinct']:,}", figure(held["distinction"]), figure(held["separation"]))
        table.add_row(escape(held["column"]), *figures)
    out().print(table)


def losses(columns: dict[str, float]) -> None:
    """Average width of the published cells of each column."""
    table = grid("column~", "loss>")
    for column, loss in columns.items():
        table.add_row(escape(column), figure(loss))
    out().print(table)


def attacks(found: dict[str, Any]) -> None:
    """Each attack and its control, as shares of the targets with 95 % intervals."""
    out().print("[yellow]PRIVATE:[/] attacks were run with the original; do not publish what follows.")
    for held in found["attacks"]:
        note = f" ({held['note']})" if held["note"] else ""
        out().print(escape(f"{held['attack']}: {held['about']}{note}"))
        rates = f"{interval(held, 'rate')} of {held['targets']:,}, control {interval(held, 'control')}"
        out().print(f"    {rates}: {held['verdict']}")
    if not found["attacks"]:
        out().print("Nothing to attack: the release has no sensitive column.")


def interval(held: dict[str, Any], name: str) -> str:
    """A rate and between what it may lie."""
    if held[name] is None:
        return "none"
    return f"{held[name]:.3f} ({held[f'{name}_low']:.3f}-{held[f'{name}_high']:.3f})"


def figure(value: float) -> str:
    """Four digits are enough to decide."""
    return f"{value:.4f}"

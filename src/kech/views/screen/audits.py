"""How risk, attacks, reports and comparisons look on a terminal."""

from typing import Any

from rich.markup import escape

from kech.views.screen.terminal import grid, out

MOST_BINS = 12  # of the histogram of class sizes
ROOM = 30  # for its longest bar
MOST_PAIRS = 8
MEASURES = {"auc": "AUC", "r2": "R2"}
MODELS = {
    "auc": ("logistic regression", "AUC 0.5 is a guess, 1 is perfect."),
    "r2": ("ridge regression", "R2 0 is the mean of all rows as a guess, 1 is perfect."),
}


def print_risk(found: dict[str, Any]) -> None:
    """Chances of each attacker, uniqueness, class sizes, what tells the rows apart, and the formulas."""
    head = f"{found['file']}: {found['rows']:,} rows in {found['classes']:,} classes on"
    out().print(escape(f"{head} {', '.join(found['quasi_identifiers'])}; the smallest has {found['k']:,}."))
    print_chances(found)
    print_uniqueness(found)
    print_histogram(found["class_sizes"])
    out().print(f"smallest classes: {', '.join(map(str, found['smallest_classes']))} rows")
    print_separation([*found["columns"], found["together"]])
    out().print("\nformulas")
    table = grid("", "~")
    for name, formula in found["formulas"].items():
        table.add_row(escape(name), escape(formula))
    out().print(table)
    if found["attacks"] is not None:
        print_losses(found["loss_per_column"])
        print_attacks(found)


def print_chances(found: dict[str, Any]) -> None:
    """Prosecutor, journalist and marketer side by side."""
    taus = [f"{tau:g}" for tau in found["thresholds"]]
    table = grid("attacker", "highest>", "average>", *(f"records above {tau}>" for tau in taus))
    blank = ["not available"] * (2 + len(taus))
    for name in ("prosecutor", "journalist"):
        held = found[name]
        cells = [*map(format_figure, (held["highest"], held["average"]))] if held else blank
        table.add_row(name, *cells, *(f"{held['above'][tau]:.1%}" for tau in taus) if held else ())
    average = format_figure(found["marketer"]["average"]) if found["marketer"] else "not available"
    table.add_row("marketer", "", average, *[""] * len(taus))
    out().print(table)
    out().print("A prosecutor knows that a person is in the file; a journalist wants anybody; a marketer everybody.")
    if not found["journalist"]:
        known = "" if found["population"] is None else ", not only how many people it has"
        out().print(f"Journalist and marketer need the table of the population{known}: --population FILE.")


def print_uniqueness(found: dict[str, Any]) -> None:
    """Unique among the released rows, and in the population."""
    share, model = found["population_uniqueness"], found["uniqueness_model"]
    known = "not available (population unknown)" if share is None else f"{share:.4%} ({model})"
    out().print(f"unique in the file: {found['sample_uniqueness']:.4%}; in the population: {known}")
    if found["k_map"] is not None:
        people = f"{found['population']:,} people"
        out().print(f"k-map: every record could be one of {found['k_map']:,} or more of {people}.")


def print_histogram(sizes: dict[int, int]) -> None:
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


def print_separation(columns: list[dict[str, Any]]) -> None:
    """What each quasi-identifier tells apart."""
    table = grid("column~", "distinct>", "distinction>", "separation>")
    for held in columns:
        figures = (f"{held['distinct']:,}", format_figure(held["distinction"]), format_figure(held["separation"]))
        table.add_row(escape(held["column"]), *figures)
    out().print(table)


def print_losses(columns: dict[str, float]) -> None:
    """Average width of the published cells of each column."""
    table = grid("column~", "loss>")
    for column, loss in columns.items():
        table.add_row(escape(column), format_figure(loss))
    out().print(table)


def print_attacks(found: dict[str, Any]) -> None:
    """Each attack and its control, as shares of the targets with 95 % intervals."""
    out().print("[yellow]PRIVATE:[/] attacks were run with the original; do not publish what follows.")
    for held in found["attacks"]:
        note = f" ({held['note']})" if held["note"] else ""
        out().print(escape(f"{held['attack']}: {held['about']}{note}"))
        rates = f"{format_rate(held, 'rate')} of {held['targets']:,}, control {format_rate(held, 'control')}"
        out().print(f"    {rates}: {held['verdict']}")
    if not found["attacks"]:
        out().print("Nothing to attack: the release has no sensitive column.")


def format_rate(held: dict[str, Any], name: str) -> str:
    """A rate and between what it may lie."""
    if held[name] is None:
        return "none"
    return f"{held[name]:.3f} ({held[f'{name}_low']:.3f}-{held[f'{name}_high']:.3f})"


def format_figure(value: float) -> str:
    """Four digits are enough to decide."""
    return f"{value:.4f}"


# -- reports and comparisons -----------------------------------------------------------------------------


def print_report(found: dict[str, Any]) -> None:
    """What was written, and what it says first."""
    out().print(escape(f"Wrote {found['page']}"))
    if found["private"]:
        out().print("[yellow]PRIVATE:[/] the page was made with the original; do not publish it.")
    verified, risk = found["verified"], found["risk"]["prosecutor"]
    out().print(
        f"The file keeps its promise: k = {verified['k']:,}, {verified['rows']:,} rows in {verified['classes']:,} "
        f"classes, loss {verified['loss']:.4f}, highest risk {risk['highest']:.1%}."
    )
    if not found["private"]:
        out().print("Anybody with the file, its certificate and the same plan can make the same page, byte for byte.")


def print_comparison(found: dict[str, Any]) -> None:
    """Columns, pairs and models."""
    out().print("[yellow]PRIVATE:[/] made with the original; do not publish what follows.")
    out().print(escape(f"{found['file']}: {found['rows_after']:,} of {found['rows_before']:,} rows are published."))
    table = grid("column~", "loss>", "distance>", "mean~", "standard deviation~", "median~")
    for column in found["columns"]:
        loss = found["loss_per_column"].get(column["column"], 0.0)
        table.add_row(escape(column["column"]), f"{loss:.4f}", format_distance(column), *format_moments(column))
    out().print(table)
    out().print("Labels are spread evenly over what they stand for. KS: sup |F - G|; TV: 1/2 sum |p - q|.")
    print_associations(found["associations"])
    if found["prediction"] is None:
        out().print("No column is sensitive, so no model is trained: --target COLUMN names what to predict.")
    else:
        print_prediction(found["prediction"])


def format_distance(column: dict[str, Any]) -> str:
    """The distance of two distributions, and which."""
    if column["ks"] is not None:
        return f"{column['ks']:.4f} KS"
    return "none" if column["tv"] is None else f"{column['tv']:.4f} TV"


def format_moments(column: dict[str, Any]) -> list[str]:
    """Mean, standard deviation and median, each before and after."""
    if column["before"] is None:
        return [""] * 3
    held = [(each["mean"], each["sd"], each["quantiles"]["0.5"]) for each in (column["before"], column["after"])]
    return [f"{format_number(before)} -> {format_number(after)}" for before, after in zip(*held, strict=True)]


def format_number(value: float | str) -> str:
    """Five digits, or a date."""
    return escape(value) if isinstance(value, str) else f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.5g}"


def print_associations(pairs: list[dict[str, Any]]) -> None:
    """The pairs of columns that changed most."""
    if not pairs:
        return
    table = grid("columns~", "association", "before>", "after>", "change>", "by chance>")
    for held in pairs[:MOST_PAIRS]:
        figures = [
            "none" if held[name] is None else f"{held[name]:.4f}" for name in ("before", "after", "change", "by_chance")
        ]
        table.add_row(
            escape(" and ".join(held["columns"])), held["measure"].replace("cramers_v", "Cramer's V"), *figures
        )
    out().print(table)
    if len(pairs) > MOST_PAIRS:
        out().print(f"{len(pairs):,} pairs were compared; --json shows all.")


def print_prediction(found: dict[str, Any]) -> None:
    """Models trained on each."""
    if not found["models"]:
        out().print(escape(f"No model predicts {found['target']}: {found['note']}."))
        return
    kind, guess = MODELS[found["measure"]]
    folds = f"{found['folds']} folds, {found['repeats']} times, of {found['rows_before']:,} rows of the original"
    out().print(escape(f"A {kind} predicts {found['target']} from the other columns; {folds}:"))
    table = grid("trained on~", "judged on~", f"{MEASURES[found['measure']]}>", "95 % interval>")
    for model in found["models"]:
        table.add_row(model["trained_on"], model["tested_on"], *format_interval(model))
    table.add_row("release minus original, all rows", "original", *format_interval(found["difference"]))
    out().print(table)
    out().print(f"{guess} The release holds the people of every fold too, so compare it with the original's all rows.")


def format_interval(found: dict[str, Any]) -> tuple[str, str]:
    """A mean and its interval."""
    if found["mean"] is None:
        return "none", ""
    return f"{found['mean']:.4f}", f"{found['low']:.4f} to {found['high']:.4f}"

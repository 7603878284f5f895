"""How risk, attacks, reports and comparisons look on a terminal."""

from typing import Any

from rich.markup import escape

from kech.views.markup import figure, format_distance, format_interval, format_number, format_rate
from kech.views.screen.people import describe_recount, describe_stated
from kech.views.screen.terminal import count_classes, grid, out, say, say_private

MOST_BINS = 12  # of the histogram of class sizes
ROOM = 30  # for its longest bar
MOST_PAIRS = 8
MEASURES = {"auc": "AUC", "r2": "R2"}
MODELS = {
    "auc": ("logistic regression", "AUC 0.5 is a guess, 1 is perfect."),
    "r2": ("ridge regression", "R2 0 is the mean of all rows as a guess, 1 is perfect."),
}


def print_risk(result: dict[str, Any]) -> None:
    """Chances of each attacker, uniqueness, class sizes, and what tells the rows apart."""
    head = f"{result['file']}: {result['rows']:,} rows in {count_classes(result['classes'])} on"
    say(f"{head} {', '.join(result['quasi_identifiers'])}; {describe_smallest(result)}.")
    print_counted(result)
    print_chances(result)
    print_uniqueness(result)
    counted = result["counted"] + " at least" * result["bounded"]
    print_histogram(result["class_sizes"], counted)
    say(f"smallest classes: {', '.join(map(str, result['smallest_classes']))} {counted}")
    print_separation([*result["columns"], result["together"]])
    say("--json also has the formula of each figure.")
    if result["attacks"] is not None:
        print_losses(result["loss_per_column"])
        print_attacks(result)


def describe_smallest(result: dict[str, Any]) -> str:
    """What the smallest class holds, or between what that lies."""
    if result["k"] is None:
        recount = result["recounted"]
        return f"the class with the fewest people has between {recount['k_at_least']:,} and {recount['k_at_most']:,}"
    return (
        f"the smallest has {result['k']:,} {'person' if by_people(result) and result['k'] == 1 else result['counted']}"
    )


def by_people(result: dict[str, Any]) -> bool:
    """Whether figures count people."""
    return bool(result["counted"] == "people")


def print_counted(result: dict[str, Any]) -> None:
    """Whether figures count people or rows, and who says so."""
    if result["recounted"]:
        say(describe_recount(result["recounted"]))
        if not result["recounted"]["made_again"]:
            say("Each class counts as the fewest people it can have, so risks are at most these.")
    if result["stated"] and result["counted"] == "rows":
        say(f"{describe_stated(result['stated'])} So the highest risk is at most {result['stated']['highest']:.4f}.")
        say("The figures below count rows: --original TABLE --person COLUMN counts people.")


def print_chances(result: dict[str, Any]) -> None:
    """Prosecutor, journalist and marketer side by side."""
    taus = [f"{tau:g}" for tau in result["thresholds"]]
    table = grid("attacker", "highest>", "average>", *(f"records above {tau}>" for tau in taus))
    blank = ["not available"] * (2 + len(taus))
    for name in ("prosecutor", "journalist"):
        figures = result[name]
        cells = [*map(figure, (figures["highest"], figures["average"]))] if figures else blank
        table.add_row(name, *cells, *(f"{figures['above'][tau]:.1%}" for tau in taus) if figures else ())
    average = figure(result["marketer"]["average"]) if result["marketer"] else "not available"
    table.add_row("marketer", "", average, *[""] * len(taus))
    out().print(table)
    say("A prosecutor knows that a person is in the file; a journalist wants anybody; a marketer everybody.")
    if not result["journalist"]:
        known = "" if result["population"] is None else ", not only how many people it has"
        say(f"Journalist and marketer need the table of the population{known}: --population FILE.")


def print_uniqueness(result: dict[str, Any]) -> None:
    """Unique among the released rows, and in the population."""
    share, model = result["population_uniqueness"], result["uniqueness_model"]
    known = "not available (population unknown)" if share is None else f"{share:.4%} ({model})"
    where = "rows in classes of one person" if by_people(result) else "rows that are unique on the quasi-identifiers"
    most = "at most " * result["bounded"]
    say(f"{where}: {most}{result['sample_uniqueness']:.4%}; unique in the population: {known}")
    if result["k_map"] is not None:
        everybody = f"{result['population']:,} {result['population_counted']}"
        say(f"k-map: every record could be one of {result['k_map']:,} or more of {everybody}.")


def print_histogram(sizes: dict[int, int], counted: str = "rows") -> None:
    """Classes by size, in bins of about equal width on a ruler of ratios where sizes are many."""
    bins: dict[tuple[int, int], int] = {}
    for size, classes in sizes.items():
        double = 1 << size.bit_length()
        ends = (max(double // 2, min(sizes)), min(double - 1, max(sizes))) if len(sizes) > MOST_BINS else (size, size)
        bins[ends] = bins.get(ends, 0) + classes
    table = grid(f"{counted} of a class>", "classes>", "")
    for (low, high), classes in bins.items():
        bar = "█" * round(ROOM * classes / max(bins.values())) or "▏"
        table.add_row(f"{low:,}" if low == high else f"{low:,}-{high:,}", f"{classes:,}", bar)
    out().print(table)


def print_separation(columns: list[dict[str, Any]]) -> None:
    """What each quasi-identifier tells apart."""
    table = grid("column~", "distinct>", "distinction>", "separation>")
    for column in columns:
        figures = (f"{column['distinct']:,}", figure(column["distinction"]), figure(column["separation"]))
        table.add_row(escape(column["column"]), *figures)
    out().print(table)


def print_losses(columns: dict[str, float]) -> None:
    """Average width of the published cells of each column."""
    table = grid("column~", "loss>")
    for column, loss in columns.items():
        table.add_row(escape(column), figure(loss))
    out().print(table)


def print_attacks(result: dict[str, Any]) -> None:
    """Each attack and its control, as shares of the targets with 95 % intervals."""
    say_private("attacks were run with the original; do not publish what follows.")
    for attack in result["attacks"]:
        note = f" ({attack['note']})" if attack["note"] else ""
        say(f"{attack['attack']}: {attack['about']}{note}")
        rates = f"{format_rate(attack, 'rate')} of {attack['targets']:,}, control {format_rate(attack, 'control')}"
        say(f"    {rates}: {attack['verdict']}")
    if not result["attacks"]:
        say("Nothing to attack: the release has no sensitive column.")


# -- reports and comparisons -----------------------------------------------------------------------------


def print_report(result: dict[str, Any]) -> None:
    """What was written, and what it says first."""
    say(f"Wrote {result['page']}")
    if result["private"]:
        say_private("the page was made with the original; do not publish it.")
    verified, risk = result["verified"], result["risk"]
    highest = f"{risk['prosecutor']['highest']:.1%}"
    if result["stated"]:
        by_rows = risk["counted"] == "rows"
        highest = (
            f"{risk['stated']['highest']:.1%} at most, as stated"
            if by_rows
            else f"{highest}{' at most,' * risk['bounded']} by people"
        )
    say(
        f"The file keeps its promise: k = {verified['k']:,}, {verified['rows']:,} rows in "
        f"{count_classes(verified['classes'])}, loss {verified['loss']:.4f}, highest risk {highest}."
    )
    if result["stated"]:
        say(f"k counts rows here. {describe_stated(result['stated'])}")
    if not result["private"]:
        say("Anybody with the file, its certificate and the same plan can make the same page, byte for byte.")


def print_comparison(result: dict[str, Any]) -> None:
    """Columns, pairs and models."""
    say_private("made with the original; do not publish what follows.")
    say(f"{result['file']}: {result['rows_after']:,} of {result['rows_before']:,} rows are published.")
    table = grid("column~", "loss>", "distance>", "mean~", "standard deviation~", "median~")
    for column in result["columns"]:
        loss = result["loss_per_column"].get(column["column"], 0.0)
        table.add_row(escape(column["column"]), f"{loss:.4f}", format_distance(column), *format_moments(column))
    out().print(table)
    say("Labels are spread evenly over what they stand for. KS: sup |F - G|; TV: 1/2 sum |p - q|.")
    print_associations(result["associations"])
    if result["prediction"] is None:
        say("No column is sensitive, so no model is trained: --target COLUMN names what to predict.")
    else:
        print_prediction(result["prediction"])


def format_moments(column: dict[str, Any]) -> list[str]:
    """Mean, standard deviation and median, each before and after."""
    if column["before"] is None:
        return [""] * 3
    sides = [(each["mean"], each["sd"], each["quantiles"]["0.5"]) for each in (column["before"], column["after"])]
    pairs = [(format_number(before), format_number(after)) for before, after in zip(*sides, strict=True)]
    return [escape(f"{before} -> {after}") for before, after in pairs]


def print_associations(pairs: list[dict[str, Any]]) -> None:
    """The pairs of columns that changed most."""
    if not pairs:
        return
    table = grid("columns~", "association", "before>", "after>", "change>", "at random>")
    for pair in pairs[:MOST_PAIRS]:
        figures = [figure(pair[name]) for name in ("before", "after", "change", "by_chance")]
        table.add_row(
            escape(" and ".join(pair["columns"])), pair["measure"].replace("cramers_v", "Cramer's V"), *figures
        )
    out().print(table)
    if len(pairs) > MOST_PAIRS:
        say(f"{len(pairs):,} pairs were compared; --json shows all.")


def print_prediction(result: dict[str, Any]) -> None:
    """Models trained on each."""
    if not result["models"]:
        say(f"No model predicts {result['target']}: {result['note']}.")
        return
    kind, guess = MODELS[result["measure"]]
    folds = f"{result['folds']} folds, {result['repeats']} times, of {result['rows_before']:,} rows of the original"
    say(f"A {kind} predicts {result['target']} from the other columns; {folds}:")
    table = grid("trained on~", "judged on~", f"{MEASURES[result['measure']]}>", "95 % interval>")
    for model in result["models"]:
        table.add_row(model["trained_on"], model["tested_on"], *format_interval(model))
    table.add_row("release minus original, all rows", "original", *format_interval(result["difference"]))
    out().print(table)
    say(f"{guess} The release holds the people of every fold too, so compare it with the original's all rows.")


def print_twin(result: dict[str, Any]) -> None:
    """What was drawn, and what holds for it."""
    say(f"Wrote {result['file']}: {result['rows']:,} rows, drawn from {result['release']}")
    say(
        f"It is made from that release alone, so what its certificate promises (k = {result['k']}) holds for it too. "
        "Drawn values are not measured ones: they are no more private or precise than the labels."
    )

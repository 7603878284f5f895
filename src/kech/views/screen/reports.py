"""How reports and comparisons look on a terminal."""

from typing import Any

from rich.markup import escape

from kech.views.screen.terminal import grid, out

MOST_PAIRS = 8


def report(found: dict[str, Any]) -> None:
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


def comparison(found: dict[str, Any]) -> None:
    """Columns, pairs and models."""
    out().print("[yellow]PRIVATE:[/] made with the original; do not publish what follows.")
    out().print(escape(f"{found['file']}: {found['rows_after']:,} of {found['rows_before']:,} rows are published."))
    table = grid("column~", "loss>", "distance>", "mean~", "standard deviation~", "median~")
    for column in found["columns"]:
        loss = found["loss_per_column"].get(column["column"], 0.0)
        table.add_row(escape(column["column"]), f"{loss:.4f}", distance(column), *moments(column))
    out().print(table)
    out().print("Labels are spread evenly over what they stand for. KS: sup |F - G|; TV: 1/2 sum |p - q|.")
    associations(found["associations"])
    if found["prediction"] is None:
        out().print("No column is sensitive, so no model is trained: --target COLUMN names what to predict.")
    else:
        prediction(found["prediction"])


def distance(column: dict[str, Any]) -> str:
    """The distance of two distributions, and which."""
    if column["ks"] is not None:
        return f"{column['ks']:.4f} KS"
    return "none" if column["tv"] is None else f"{column['tv']:.4f} TV"


def moments(column: dict[str, Any]) -> list[str]:
    """Mean, standard deviation and median, each before and after."""
    if column["before"] is None:
        return [""] * 3
    held = [(each["mean"], each["sd"], each["quantiles"]["0.5"]) for each in (column["before"], column["after"])]
    return [f"{number(before)} -> {number(after)}" for before, after in zip(*held, strict=True)]


def number(value: float | str) -> str:
    """Five digits, or a date."""
    return escape(value) if isinstance(value, str) else f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.5g}"


def associations(pairs: list[dict[str, Any]]) -> None:
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


MEASURES = {"auc": "AUC", "r2": "R2"}
MODELS = {
    "auc": ("logistic regression", "AUC 0.5 is a guess, 1 is perfect."),
    "r2": ("ridge regression", "R2 0 is the mean of all rows as a guess, 1 is perfect."),
}


def prediction(found: dict[str, Any]) -> None:
    """Models trained on each."""
    if not found["models"]:
        out().print(escape(f"No model predicts {found['target']}: {found['note']}."))
        return
    kind, guess = MODELS[found["measure"]]
    folds = f"{found['folds']} folds, {found['repeats']} times, of {found['rows_before']:,} rows of the original"
    out().print(escape(f"A {kind} predicts {found['target']} from the other columns; {folds}:"))
    table = grid("trained on~", "judged on~", f"{MEASURES[found['measure']]}>", "95 % interval>")
    for model in found["models"]:
        table.add_row(model["trained_on"], model["tested_on"], *interval(model))
    table.add_row("release minus original, all rows", "original", *interval(found["difference"]))
    out().print(table)
    out().print(f"{guess} The release holds the people of every fold too, so compare it with the original's all rows.")


def interval(found: dict[str, Any]) -> tuple[str, str]:
    """A mean and its interval."""
    if found["mean"] is None:
        return "none", ""
    return f"{found['mean']:.4f}", f"{found['low']:.4f} to {found['high']:.4f}"

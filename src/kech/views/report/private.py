"""The private part of a report: the release beside its original, and what attacks achieve."""

from collections.abc import Mapping, Sequence
from typing import Any

from kech.views.markup import (
    Content,
    Markup,
    count,
    figure,
    format_distance,
    format_interval,
    format_number,
    format_rate,
    join,
    name,
    section,
    table,
    tag,
)
from kech.views.pictures.released import draw_pair
from kech.views.report.marks import embed

MOST_PAIRS = 12
MEASURES = {"spearman": "Spearman's rho", "cramers_v": "Cramér's V"}


def show_private_parts(result: Mapping[str, Any]) -> list[Markup]:
    """Everything that needed the original."""
    beside = result["comparison"]
    parts = [show_distributions(beside), show_associations(beside["associations"]), show_models(beside["prediction"])]
    return [*parts, show_attacks(result["attacks"])]


def private_section(title: str, *contents: Content, key: str) -> Markup:
    """A part that is marked as private."""
    return section(f"{title} (private)", *contents, key=key, class_="secret")


# -- distributions ---------------------------------------------------------------------------------------


def show_distributions(beside: Mapping[str, Any]) -> Markup:
    """Each column in the original and in the release."""
    rows = [
        (
            name(column["column"]),
            figure(beside["loss_per_column"].get(column["column"], 0.0)),
            format_distance(column),
            format_pair(column, "mean"),
            format_pair(column, "sd"),
            format_pair(column, "median"),
        )
        for column in beside["columns"]
    ]
    headings = ("column", "loss>", "distance>", "mean>", "standard deviation>", "median>")
    return private_section(
        "Before and after",
        tag(
            "p",
            f"{count(beside['rows_before'])} rows before, {count(beside['rows_after'])} after. A published label is "
            "spread evenly over what it stands for: an interval over its values, a set or a node over its members, "
            "an open tail up to the end of the domain. That is what a careful reader can do; the truth inside a "
            "label may be different.",
        ),
        table("Each column, before → after", headings, rows, class_="stack"),
        tag(
            "p",
            "Distance: of numbers and dates Kolmogorov–Smirnov, sup |F − G|; of values total variation, ½ Σ |p − "
            "q|. 0 is equal, 1 is as different as can be. Standard deviations of dates are in days.",
            class_="note",
        ),
        tag("div", *(show_column(column) for column in beside["columns"] if column["bars"]), class_="cards"),
        key="before-after",
    )


def format_pair(column: Mapping[str, Any], part: str) -> str:
    """A moment before and after."""
    if column["before"] is None:
        return ""
    sides = (column["before"], column["after"])
    return " → ".join(format_number(each["quantiles"]["0.5"] if part == "median" else each[part]) for each in sides)


def show_column(column: Mapping[str, Any]) -> Markup:
    """The two distributions of a column."""
    title = f"{column['column']}, before and after"
    return tag("article", tag("h3", name(column["column"])), embed(draw_pair(column["bars"], title)), class_="card")


# -- associations and models -----------------------------------------------------------------------------


def show_associations(pairs: Sequence[Mapping[str, Any]]) -> Markup:
    """Pairs of columns whose association changed most."""
    rows = [
        (
            join(name(pair["columns"][0]), " and ", name(pair["columns"][1])),
            MEASURES[pair["measure"]],
            figure(pair["before"]),
            figure(pair["after"]),
            figure(pair["change"]),
            figure(pair["by_chance"]),
        )
        for pair in pairs[:MOST_PAIRS]
    ]
    if not rows:
        return private_section("What goes together", tag("p", "There is but one column."), key="together")
    return private_section(
        "What goes together",
        tag(
            "p",
            "How strongly two columns are associated: Spearman's rho where both have an order, Cramér's V "
            "otherwise. First come the pairs that show more than twice what two unrelated columns would at random.",
        ),
        table(
            f"{len(rows)} of {count(len(pairs))} pairs, the largest change first",
            ("columns", "measure", "before>", "after>", "change>", "at random>"),
            rows,
            class_="stack",
        ),
        key="together",
    )


def show_models(models: Mapping[str, Any] | None) -> Markup:
    """A simple model trained on each."""
    title, key = "A model trained on each", "models"
    if models is None:
        return private_section(
            title, tag("p", "No column was named as sensitive, so there is nothing to predict."), key=key
        )
    if not models["models"]:
        return private_section(
            title, tag("p", "No model predicts ", name(models["target"]), f": {models['note']}."), key=key
        )
    kind, measure = ("logistic", "AUC") if models["measure"] == "auc" else ("ridge", "R²")
    rows = [(model["trained_on"], model["tested_on"], *format_interval(model)) for model in models["models"]]
    rows.append(("release minus original, all rows", "original", *format_interval(models["difference"])))
    return private_section(
        title,
        tag(
            "p",
            f"A {kind} regression predicts ",
            name(models["target"]),
            f" from the other published columns, on {count(models['rows_before'])} rows of the original in "
            f"{models['folds']} folds, {models['repeats']} times. The release contains the people of every fold too, "
            "blurred, and nobody can tell which rows they are; so the original is used without them and with them. "
            "Compare the release with the latter.",
        ),
        table(f"{measure} of each model", ("trained on", "judged on", f"{measure}>", "95 % interval>"), rows),
        tag(
            "p",
            "AUC: the chance that a row of a class gets a higher score than another row, of several classes the mean; "
            "0.5 is a guess. R² = 1 − Σ (y − f)² / Σ (y − mean)²; 0 is the mean as a guess. Both are 1 at best.",
            class_="note",
        ),
        key=key,
    )


# -- attacks ---------------------------------------------------------------------------------------------


def show_attacks(attacks: Sequence[Mapping[str, Any]]) -> Markup:
    """Each attack beside its control."""
    rows = [
        (
            attack["attack"],
            f"{attack['about']} ({attack['note']})" if attack["note"] else attack["about"],
            count(attack["targets"]),
            format_rate(attack, "rate"),
            format_rate(attack, "control"),
            attack["verdict"],
        )
        for attack in attacks
    ]
    return private_section(
        "What attacks achieve",
        tag(
            "p",
            "Each attack was run with the original in hand, and beside it a control that knows less. Rates are "
            "shares of the targets with 95 % intervals (Wilson). “Above its control” means that the intervals do "
            "not touch.",
        ),
        table("Attacks", ("attack", "what succeeds", "targets>", "rate>", "control>", "verdict"), rows, class_="stack"),
        key="attacks",
    )

"""The middle of a report: what remains at risk, what was lost, and the shape of the released table."""

from collections.abc import Mapping, Sequence
from typing import Any

from kech.views.markup import (
    Content,
    Markup,
    amount,
    count,
    definitions,
    figure,
    join,
    name,
    paragraphs,
    percent,
    section,
    table,
    tag,
)
from kech.views.pictures.released import draw_released_barcode, draw_sizes
from kech.views.report.marks import draw_strip, embed, meter, ruler

SHARP = ("exact", "up to 5%", "up to 10%", "up to 25%", "up to half", "more than half", "all of it", "missing")
MOST_EDGES = 24
MANY_DAYS = 1_000  # are told in years
ATTACKERS = {
    "prosecutor": "knows that a certain person is in the file",
    "journalist": "wants to find anybody, and knows the population the people are from",
    "marketer": "links as many people as possible, and does not mind being wrong about some",
}


def show_risk(result: Mapping[str, Any]) -> Markup:
    """Attackers, uniqueness, class sizes and what tells rows apart."""
    risk = result["risk"]
    taus = [f"{tau:g}" for tau in risk["thresholds"]]
    headings = ("attacker", "who", "highest>", "average>", *(f"records above {tau}>" for tau in taus))
    rows = [list_chances(kind, risk, taus) for kind in ATTACKERS]
    unknown = None
    if risk["population"] is None:
        text = "“Not available”: the population is not known; these chances are never taken from the prosecutor's."
        unknown = tag("p", text, class_="note")
    counted = risk["counted"] + " at least" * risk["bounded"]
    return section(
        "What remains at risk",
        tag(
            "p",
            "The chance that a record is linked to the right person, by somebody who knows the quasi-identifiers "
            f"and picks one of the {risk['counted']} that fit. Reviewers often ask for at most 0.09 "
            "(classes of 12 or more) or 0.2 (classes of 5 or more).",
        ),
        table("Chances of three attackers", headings, rows, class_="stack"),
        unknown,
        say_counted(risk),
        say_chances(risk, taus),
        tag("h3", "Class sizes"),
        embed(draw_sizes({int(size): classes for size, classes in risk["class_sizes"].items()}, counted)),
        tag("p", say_smallest(risk["smallest_classes"], counted)),
        show_separation(risk),
        tag("h3", "Formulas"),
        definitions((label, tag("code", formula)) for label, formula in risk["formulas"].items()),
        key="risk",
    )


def list_chances(kind: str, risk: Mapping[str, Any], taus: list[str]) -> tuple[Content, ...]:
    """One attacker's chances; a marketer has but an average."""
    chances = risk[kind]
    none = "not available" if chances is None else "–"
    figures = [percent(chances[part]) if chances and part in chances else none for part in ("highest", "average")]
    above = [percent(chances["above"][tau]) if chances and "above" in chances else none for tau in taus]
    return (kind, ATTACKERS[kind], *figures, *above)


def say_chances(risk: Mapping[str, Any], taus: list[str]) -> Markup:
    """What the prosecutor's chances mean, and the rows that are alone."""
    share, chances = risk["population_uniqueness"], risk["prosecutor"]
    known = "not available, as the population is not known" if share is None else percent(share, 4)
    where = (
        "Rows in classes of one person"
        if risk["counted"] == "people"
        else "Rows that are unique on the quasi-identifiers"
    )
    above = " and ".join(f"{percent(chances['above'][tau])} of the records are above {tau}" for tau in taus)
    chance = f"{percent(chances['highest'])} at worst and {percent(chances['average'])} on average; {above}"
    guess = f"The guess is right with a chance of {'at most ' * risk['bounded']}{chance}."
    if risk["stated"] and risk["counted"] == "rows":
        guess = (
            f"Each is picked with a chance of {chance}. Several may be the person's: by people, chances may be higher "
            f"than by rows, {percent(risk['stated']['highest'])} at most."
        )
    return paragraphs(
        f"Somebody knows that a person is in this file, and picks one of the {risk['counted']} that fit. {guess}",
        f"{where}: {'at most ' * risk['bounded']}{percent(risk['sample_uniqueness'], 2)}; rows that are unique in the "
        f"population: {known}.",
    )


def say_counted(risk: Mapping[str, Any]) -> Markup | None:
    """What these chances count where a person may have several rows."""
    stated, recount = risk["stated"], risk["recounted"]
    if recount:
        how = (
            "Each class counts the fewest it can have: they are at most these.",
            "The release was made again from it.",
        )[recount["made_again"]]
        return tag("p", f"These chances count people, whom the original names. {how}")
    if stated:
        bound = f"so the prosecutor's highest chance is {percent(stated['highest'])} at most"
        text = f"The maker states {count(stated['k'])} different people or more in every class, {bound}."
        return tag("p", f"These chances count rows. {text}", class_="note")
    return None


def say_smallest(sizes: Sequence[int], counted: str) -> str:
    """The sizes of the smallest classes."""
    if len(set(sizes)) == 1:
        return f"The {count(len(sizes))} smallest classes have {count(sizes[0])} {counted} each."
    return f"The {count(len(sizes))} smallest classes have {', '.join(map(count, sizes))} {counted}."


def show_separation(risk: Mapping[str, Any]) -> Markup:
    """How well each column tells the rows apart."""
    rows = [
        (
            name(each["column"]),
            count(each["distinct"]),
            figure(each["distinction"]),
            figure(each["separation"]),
            meter(each["separation"]),
        )
        for each in (*risk["columns"], risk["together"])
    ]
    headings = ("column", "distinct labels>", "distinction>", "separation>", "")
    about = (
        "Distinction is the number of labels over rows; separation the share of the pairs of rows whose labels differ."
    )
    return join(
        tag("h3", "What tells rows apart"),
        table("Labels of each column", headings, rows),
        tag("p", about, class_="note"),
    )


# -- columns ---------------------------------------------------------------------------------------------


def show_loss(result: Mapping[str, Any]) -> Markup:
    """Loss of each column, and its labels."""
    verified, claims = result["verified"], result["claims"]
    rows: list[tuple[Content, ...]] = [
        (name(column["column"]), figure(column["loss"]), meter(column["loss"]), describe_extent(column))
        for column in result["columns"]
    ]
    rows.append(("all columns", figure(verified["loss"]), meter(verified["loss"]), ""))
    counted = (
        "" if claims["rows_in"] is None or not claims["suppressed"] else " A row that was left out counts as all lost."
    )
    weights = [
        join(name(c["column"]), f" counts {c['weight']:g} times. ") for c in result["columns"] if c["weight"] != 1
    ]
    return section(
        "What was lost",
        tag(
            "p",
            "Loss is the average width of the published cells (GCP): 0 where a value is published as it is, 1 where "
            f"nothing is said about it.{counted}",
        ),
        tag("p", *weights) if weights else None,
        table("Loss of each column", ("column", "loss>", "", "an average label covers"), rows),
        tag("p", tag("code", "loss = 1/(N d) Σ_rows Σ_columns width(label)"), class_="formula"),
        definitions(
            (
                ("width of an interval", tag("code", "(end − start) / length of the domain")),
                (
                    "width of a set, range or node",
                    tag("code", "(values it stands for − 1) / (values of the column − 1)"),
                ),
            )
        ),
        tag(
            "p",
            "Below, the coloured line of each column shows how many rows have labels that wide, as shares of the "
            "whole column. Of sets only the number of values is told here; the file names them.",
        ),
        tag("div", *(show_card(column, result["verified"]["rows"]) for column in result["columns"]), class_="cards"),
        key="loss",
    )


def describe_extent(column: Mapping[str, Any]) -> str:
    """What an average label covers, in the unit of the column."""
    extent = column["extent"]
    if extent["mean"] is None:
        return "nothing is known"
    in_years = extent["unit"] == "days" and extent["of"] >= MANY_DAYS
    scale, unit = (365.25, "years") if in_years else (1.0, extent["unit"])
    open_ended = f"; {count(extent['open'])} rows are open-ended, measured as one step" if extent["open"] else ""
    return f"{amount(extent['mean'] / scale)} of {amount(extent['of'] / scale)} {unit}".rstrip() + open_ended


def show_card(column: Mapping[str, Any], rows: int) -> Markup:
    """One column: how sharp its labels are, which are frequent, where intervals begin."""
    title = f"How wide the labels of {column['column']} are"
    labels = [(name(each["label"]), count(each["rows"]), percent(each["width"])) for each in column["labels"]]
    caption = join(f"The most frequent of {count(column['distinct'])} labels of ", name(column["column"]))
    parts = [*column["sharpness"], column["missing"]]
    return tag(
        "article",
        tag("h3", name(column["column"])),
        draw_strip(parts, SHARP, title),
        tag("ul", *(show_legend(i, part / rows) for i, part in enumerate(parts) if part), class_="legend"),
        table(caption, ("label", "rows>", "width>"), labels, class_="labels"),
        show_edges(column),
        class_="card",
    )


def show_legend(shade: int, share: float) -> Markup:
    """A colour and what it means."""
    patch = tag(
        "svg", tag("rect", width=8, height=8, class_=f"s{shade}"), viewBox="0 0 8 8", class_="patch", aria_hidden="true"
    )
    return tag("li", patch, f"{SHARP[shade]}: {percent(share)}")


def show_edges(column: Mapping[str, Any]) -> Markup | None:
    """The grid, as far as the file shows it."""
    edges = column["edges"]
    if edges is None:
        return None
    if not edges:
        return tag("p", "No interval begins anywhere: the column tells nothing.")
    selected = edges if len(edges) <= MOST_EDGES else [*edges[: MOST_EDGES // 2], "…", *edges[-MOST_EDGES // 2 :]]
    listed = [part for edge in selected for part in (tag("code", edge), " ")]
    low, high = map(shorten_digits, column["domain"])
    about = f"{count(len(edges))} edges from {edges[0]} to {edges[-1]}; the domain is {low} to {high}."
    title = f"Where intervals of {column['column']} begin"
    return join(
        tag("p", tag("strong", "Grid. "), "Intervals begin at ", count(len(edges)), " places:"),
        ruler(column["places"], tuple(column["ends"]), title, about),
        tag("p", *listed, class_="edges"),
        tag("p", f"Widths are measured on {low} to {high}.", class_="note"),
    )


def shorten_digits(text: str) -> str:
    """A number with six digits that count; a whole number or a date as it is.

    >>> shorten_digits("120.98360655737704"), shorten_digits("955.22"), shorten_digits("2020-01-31")
    ('120.984', '955.22', '2020-01-31')
    """
    whole, point, _ = text.partition(".")
    digits = whole.lstrip("-")
    return str(round(float(text), max(0, 6 - len(digits)))) if point and digits.isdecimal() else text


# -- shape -----------------------------------------------------------------------------------------------


def show_shape(result: Mapping[str, Any]) -> Markup:
    """The barcode of the released table."""
    barcode, rows = result["barcode"], result["verified"]["rows"]
    steps = [
        (f"{at['eps']:g}", count(at["classes"]), format_share(at["rows"], rows, barcode), count(at["components"]))
        for at in barcode["at"]
    ]
    return section(
        "Shape of the released table",
        tag(
            "p",
            "Every class is a box: its labels. While eps grows, a class appears when eps reaches half the longest side "
            "of its box, and two classes meet when one box of that radius holds both. A bar runs from where a class "
            "appears to where it meets an older one. Bars that start far to the left are sharp classes; long bars "
            "are groups that stay apart. At a radius, the height reached is the number of rows that are published "
            "at least that sharply. The bars are those of the published labels, not of the people behind them.",
        ),
        embed(draw_released_barcode(barcode)),
        table(
            "What a reader sees at a radius",
            ("eps>", "classes this sharp>", "rows in them>", "groups they form>"),
            steps,
        ),
        tag("p", tag("code", "eps(S) = max_j side_j(label around all labels of S in column j) / 2"), class_="formula"),
        tag(
            "p",
            "Sides are distances. Values without an order are all equally far apart, so the side of a set of several "
            "values is 1, however few it prints. Nodes of a hierarchy count as all of their column when taken "
            "together, unless their labels are written as prefixes: the file does not say how they are nested.",
            class_="note",
        ),
        key="shape",
    )


def format_share(part: int, rows: int, barcode: Mapping[str, Any]) -> str:
    """Rows, and their share where every class was looked at."""
    return f"{count(part)} ({percent(part / rows)})" if barcode["drawn"] == barcode["classes"] else count(part)

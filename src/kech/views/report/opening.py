"""The first part of a report: what was done, and what is promised."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kech.release.sentences import sample_words
from kech.request.parts import CUTS
from kech.views.markup import Content, Markup, count, figure, join, name, paragraphs, percent, section, table, tag

KINDS = {
    "number": "numbers, published as intervals",
    "date": "dates, published as intervals",
    "ordered": "ordered values, published as ranges",
    "set": "values, published as sets",
    "hierarchy": "values, published as nodes of a hierarchy",
}
WIDENED = "some labels are wider than their rows need, at random"
EXACT = "values of the data themselves: an edge of an interval may be somebody's value"
ROUND = "round numbers or dates that hide k rows or more of the table on either side; "
PROTECTIONS = {
    "full": f"{ROUND}where steps are small, ends are moved outward at random; {WIDENED}",
    "ends": f"{ROUND}where steps are small, ends are moved outward at random",
    "none": f"{ROUND}ends are not moved, so an end may be somebody's value",
}
MODELS: dict[str, tuple[str, str, str]] = {
    "l": ("l, distinct", "min number of values", "values of the column in a class, at least"),
    "entropy_l": (
        "l, entropy",
        "exp(min entropy)",
        "guessing in a class is as hard as among so many equally likely values",
    ),
    "recursive_c": (
        "c, recursive",
        "max r1 / (r_l + r_l+1 + …)",
        "the most frequent value against all from the l-th on",
    ),
    "alpha": ("alpha", "max share of a value", "no value has a larger share of a class"),
    "t": ("t, equal", "max ½ Σ |p − q|", "how far the values of a class are from those of the whole file"),
    "t_ordered": (
        "t, ordered",
        "max 1/(m−1) Σ |P − Q|",
        "the same, where a move to a neighbouring value counts little",
    ),
    "beta": ("beta, basic", "max (p − q) / q", "by how much of its share a value becomes likelier in a class"),
    "enhanced_beta": (
        "beta, enhanced",
        "the same, at most −ln q",
        "none where a frequent value gains more than −ln of its share",
    ),
    "delta": ("delta", "max |ln(p / q)|", "the log of the ratio of shares, for values that occur in a class"),
}
NOTICES = {
    "allow_composition": "This release was allowed to stand beside earlier releases of the same table, if there "
    "are any: who holds several of them may narrow a class down.",
    "no_ledger": "Nobody looked whether the same table was released before.",
}
POINTING = (
    "Who knows such a value of a person finds the row, for every k. A release without these columns, or with them as "
    "quasi-identifiers, would not give it away."
)
POINTING_TOGETHER = (
    "Who knows these values of a person finds the row, for every k. A release without one of these columns, or with "
    "one as a quasi-identifier, would not give it away."
)
USUAL_MODELS = ("l", "alpha", "t")  # others are shown where they were asked for, or all are
ASKED = {"l": ("l", "distinct"), "entropy_l": ("l", "entropy"), "recursive_c": ("c", "recursive")}


def say_asked_k(result: Mapping[str, Any]) -> str:
    """What k was asked for, and of what."""
    k = count(result["parameters"].get("k", result["verified"]["k"]))
    return f"{k} different people were asked for" if result["stated"] else f"{k} was asked for"


def say_left_out(claims: Mapping[str, Any]) -> str:
    """Suppressed rows in words; few of them are not counted, as their number would point at people."""
    if claims["rows_in"] is None and not claims["suppressed"]:
        return "rows: in a series, rows may wait for a later release"
    if claims["suppressed"] == "hidden":
        return "rows: their number is hidden; the loss is that of the published rows"
    if claims["rows_in"] is None:
        return "rows: so few that their number is hidden; the loss is that of the published rows"
    return f"of {count(claims['rows_in'])} rows" + ("; each counts as all lost" if claims["suppressed"] else "")


# -- what was done ---------------------------------------------------------------------------------------


def show_method(result: Mapping[str, Any]) -> Markup:
    """Columns and what became of them."""
    parameters = result["parameters"]
    rows = [
        (
            name(column["column"]),
            KINDS.get(column["axis"], column["axis"]),
            percent(column["width"]),
        )
        for column in result["columns"]
    ]
    axes_table = table("Quasi-identifiers", ("column", "kind", "average width>"), rows, class_="stack")
    unique, edges = tag("p", say_unique_rows(result["exposure"])), show_edges(result["columns"], parameters.get("cut"))
    return section(
        "What was done", paragraphs(*say_columns(result)), *show_notices(result), unique, axes_table, *edges, key="done"
    )


def show_edges(columns: Sequence[Mapping[str, Any]], cut: str | None) -> Iterator[Markup]:
    """How edges were chosen, once for all columns of which it is the same."""
    words_of_column = {column["column"]: describe_edges(column, cut) for column in columns}
    for words in dict.fromkeys(filter(None, words_of_column.values())):
        yield tag(
            "p",
            "Labels of ",
            names([column for column in words_of_column if words_of_column[column] == words]),
            f": {words}.",
            class_="note",
        )


def say_crowd(figures: Mapping[str, Any]) -> str:
    """Who share every label: rows, and people where the maker states them."""
    rows, stated = f"{count(figures['verified']['k'])} rows", figures["stated"]
    return f"rows of {count(stated['k'])} people (stated by the maker), by {rows}," if stated else rows


def say_columns(figures: Mapping[str, Any]) -> Iterator[Markup]:
    """What was done with the columns of each role."""
    cut = str(figures["parameters"].get("cut"))
    result = f"{CUTS[cut].result} ({cut} cut)" if cut in CUTS else "classes were formed"
    yield join(
        f"{len(figures['columns'])} columns that could point at a person (quasi-identifiers) were blurred until every "
        f"combination of their labels is shared by {say_crowd(figures)} or more: {result}. The rows "
        "were put into a random order."
    )
    if figures["sensitive"]:
        yield say_sensitive(figures)
    roles = {
        "Kept, and published as they are: ": figures["kept"],
        "Named as identifiers, and not published: ": figures["plan"] and figures["plan"]["identifiers"],
    }
    yield from (join(words, names(columns), end_after(columns)) for words, columns in roles.items() if columns)
    if figures["parameters"].get("protect_history"):
        yield join("Added: ", names(["person_number"]), ", a random number that links the rows of each person.")
    yield from map(join, sample_words(figures["parameters"]))
    yield join("No other column is in the file.")


def say_sensitive(
    figures: Mapping[str, Any], listed: Callable[[Mapping[str, Any]], Iterator[Content]] | None = None
) -> Markup:
    """The sensitive columns, all or as they are to be listed, and which goals protect them."""
    goals = [goal for goal in ("l", "t", "alpha") if goal in figures["claims"].get("goals", {})]
    head = f"Protected by {', '.join(goals)}" if goals else "Sensitive"
    tail = "." if goals else ". No l, t or alpha was asked, so a class may give them away."
    return join(f"{head}, and published as they are: ", (listed or names)(figures["sensitive"]), tail)


def show_notices(result: Mapping[str, Any]) -> Iterator[Markup]:
    """What a reader should be warned of."""
    for key, text in NOTICES.items():
        if result["parameters"].get(key):
            yield tag("p", text, class_="warn")
    alone = "Published as they are, and most of their values occur in one row only: "
    if result["identifying"]:
        yield tag("p", alone, names(result["identifying"]), f". {POINTING}", class_="warn")
    jointly = "These columns are published unchanged, and together they are unique in nearly every row: "
    if groups := result["identifying_together"]:
        listed = [part for place, columns in enumerate(groups) for part in ("; " if place else None, *names(columns))]
        yield tag("p", jointly, *listed, f". {POINTING_TOGETHER}", class_="warn")


def say_unique_rows(exposure: Mapping[str, Any]) -> str:
    """How many rows nobody else equals in everything that is published."""
    rows, share = exposure["unique_rows"], exposure["unique_share"]
    many = f"{rows} rows are" if isinstance(rows, str) else f"{percent(share)} of the rows ({count(rows)}) are"
    return f"{many} unique on all published columns together: labels, sensitive and kept ones."


def end_after(columns: Sequence[str]) -> str:
    """The full stop of a sentence that ends with these columns, unless their last one brings its own."""
    return "" if columns[-1].endswith(".") else "."


def names(columns: Sequence[str] | Mapping[str, Any]) -> Iterator[Content]:
    """Columns with commas between."""
    for i, column in enumerate(columns):
        yield ", " if i else None
        yield name(column)


def describe_edges(column: Mapping[str, Any], cut: str | None) -> str:
    """How the edges of intervals were chosen."""
    grid, protect = column["grid"], column["protect"]
    if column["axis"] in ("ordered", "set"):
        return WIDENED if protect == "full" and cut != "domain" else ""
    if grid is None:
        return ""
    if cut == "domain" and grid == "round":
        return "equal round steps, the same for all rows; a cell that is published holds a class"
    if isinstance(grid, int | float):
        return f"multiples of {grid:g}{' days' if column['axis'] == 'date' else ''}"
    return PROTECTIONS.get(str(protect), "") if grid == "round" else EXACT if grid == "exact" else ""


# -- models ----------------------------------------------------------------------------------------------


def show_promises(result: Mapping[str, Any]) -> Markup:
    """k and what classes tell about the sensitive columns."""
    verified = result["verified"]
    contents: list[Content] = [
        tag(
            "p",
            f"{say_reached_k(result)}: an attacker who knows the quasi-identifiers of "
            f"a person in the file finds {count(verified['k'])} rows or more that could be theirs. A missing value "
            "counts as a value.",
        ),
        *show_stated(result["stated"]),
    ]
    if not result["sensitive"]:
        contents.append(tag("p", "No column was named as sensitive, so nothing is said about what a class tells."))
    else:
        contents += show_models(result)
    for column in result["sensitive"]:
        contents += show_shared_values(column, result["exposure"]["one_value"][column])
    return section("What is promised", *contents, key="promised")


def show_models(result: Mapping[str, Any]) -> Iterator[Markup]:
    """What the worst class tells about each sensitive column, and what the figures mean."""
    verified, goals, one_value = result["verified"], result["claims"].get("goals", {}), result["exposure"]["one_value"]
    shown = [model for model in MODELS if result["all_models"] or model in USUAL_MODELS or format_goal(model, goals)]
    rows = [
        (
            name(column),
            *(figure(verified[model][column]) for model in shown),
            *show_shared(one_value[column]),
        )
        for column in result["sensitive"]
    ]
    heads = (*(f"{MODELS[model][0]}>" for model in shown), "rows given away>", "in classes>")
    yield table("What the worst class tells", ("column", *heads), rows, class_="stack")
    yield tag(
        "p",
        "Given away are the rows whose whole class shares one value of the column: who knows the class learns it.",
        class_="note",
    )
    meanings = [
        (label, tag("code", formula), words, format_goal(model, goals))
        for model in shown
        for label, formula, words in [MODELS[model]]
    ]
    yield table("What the figures mean", ("figure", "formula", "in words", "asked>"), meanings, class_="stack")
    yield tag(
        "p",
        "p is the share of a value in a class, q its share in the whole file, P and Q the same up to a value in "
        "its order, r the counts of a class in descending order, m the number of values. What was not asked for "
        "is measured, not promised. “none” means that the figure does not exist for this column.",
        class_="note",
    )


def show_shared(shared: Mapping[str, Any]) -> tuple[Content, str]:
    """The rows that share one value with their whole class, and in how many classes."""
    if not shared["rows"]:
        return "0", "0"
    rows = shared["rows"] if isinstance(shared["rows"], str) else count(shared["rows"])
    return tag("span", rows, class_="given"), count(shared["classes"])


def say_reached_k(figures: Mapping[str, Any]) -> str:
    """What k was asked for, and what it is."""
    reached = count(figures["verified"]["k"])
    goal = f"k was asked to be {count(figures['parameters'].get('k', figures['verified']['k']))}"
    by_people = f"{goal}, counted in people; counted in rows it is {reached}"
    return by_people if figures["stated"] else f"{goal} and is {reached}"


def show_stated(stated: Mapping[str, Any] | None) -> Iterator[Markup]:
    """What the maker says of people; histories are recounted from the file."""
    if stated and stated["promise"] == "history":
        yield tag(
            "p",
            tag("strong", "Recounted from the file: "),
            f"{count(stated['k'])} people or more share the same labels on all of their rows. The file holds rows of "
            f"{count(stated['people'])} people; the column person_number tells whose they are. The other figures of "
            "this part count rows.",
        )
    elif stated:
        yield tag(
            "p",
            tag("strong", "Stated by the maker: "),
            f"every class holds rows of {count(stated['k'])} different people or more, and the file rows of "
            f"{count(stated['people'])}. A person may have several rows, and kech adds no column that tells whose they "
            "are. Only the original tells people apart for sure, so its maker can recount them. The other figures of "
            "this part count rows.",
        )


def show_shared_values(column: str, shared: Mapping[str, Any]) -> Iterator[Markup]:
    """In a private report, which values whole classes share."""
    if shared.get("values"):
        listed = [(name(each["value"] or "missing"), count(each["rows"])) for each in shared["values"]]
        caption = join("PRIVATE: values that whole classes share in ", name(column))
        yield table(caption, ("value", "rows>"), listed)


def format_goal(model: str, goals: Mapping[str, Any]) -> str:
    """What was asked of a model, if anything."""
    if model in ASKED:
        goal, kind = ASKED[model]
        if goal not in goals or goals.get("l_kind", "distinct") != kind:
            return ""
        return f"< {goals['c']:g}, l = {goals['l']:g}" if kind == "recursive" else f"≥ {goals['l']:g}"
    if model == "alpha" and "alpha" in goals:
        return f"≤ {goals['alpha']:g}"
    if model == ("t_ordered" if goals.get("t_kind") == "ordered" else "t") and "t" in goals:
        return f"≤ {goals['t']:g}"
    return ""

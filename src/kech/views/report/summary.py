"""The first page of a report: what was done in plain words, what to do about it, and what follows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kech.release.sentences import given_away_words
from kech.views.markup import Content, Markup, count, figure, join, name, percent, tag
from kech.views.report.opening import names, say_asked_k, say_left_out, say_sensitive

USUAL, PUBLIC = 0.2, 0.09  # highest chances that reviewers often ask for: classes of 5, and of 12
MOST_NAMED = 3  # columns that lost most
MOST_LISTED = 6  # columns in a sentence of the first page, which is one page; the others stand behind it
MEND = "Mend this before you share the file, or share it only with people who may know it anyway:"
READ_ON = "What is not promised stands near the end."


def show_summary(result: Mapping[str, Any], contents: Sequence[tuple[str, str]]) -> Markup:
    """The name of the file, the verdict, a recommendation, the figures people ask for first, and the contents."""
    return tag(
        "header",
        tag("p", "Release report", class_="over"),
        tag("h1", name(result["file"]["name"])),
        tag(
            "p",
            tag("strong", "The file keeps every promise of its certificate."),
            " It was read and counted again to make this report. Everything here follows from the published file "
            "and its certificate; the original table was not needed"
            + (", except in the parts that are marked private." if result["private"] else "."),
            class_="verdict",
        ),
        show_recommendation(result),
        tag("ul", *(show_tile(*each) for each in list_tiles(result)), class_="tiles"),
        tag("h3", "In plain words"),
        tag("ul", *(tag("li", sentence) for sentence in say_plainly(result))),
        tag(
            "nav",
            tag("h3", "Contents"),
            tag("ol", *(tag("li", tag("a", title, href=f"#{key}")) for key, title in contents)),
            class_="contents",
        ),
        class_="summary",
    )


def list_tiles(result: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The figures people ask for first."""
    verified, claims, stated = result["verified"], result["claims"], result["stated"]
    yield "k", count(verified["k"]), f"rows or more share every combination of labels; {say_asked_k(result)}"
    if stated:
        yield "people", count(stated["k"]), "different people or more in every class: stated by the maker"
    average = f"{verified['average_class']:.1f}"
    yield "rows", count(verified["rows"]), f"in {count(verified['classes'])} classes of {average} on average"
    yield "highest risk", *say_highest(result["risk"])
    yield "loss", figure(verified["loss"]), "of the detail of the generalized columns: 0 is none, 1 is all"
    yield "left out", str(claims["suppressed"]), say_left_out(claims)


def show_tile(label: str, value: str, about: str) -> Markup:
    """A figure, large."""
    return tag("li", tag("span", label, class_="label"), tag("strong", value), tag("span", about, class_="about"))


def say_highest(risk: Mapping[str, Any]) -> tuple[str, str]:
    """The highest chance of a prosecutor, and what it counts; where people are stated, rows alone would flatter."""
    stated = risk["stated"]
    if risk["counted"] == "rows" and stated:
        about = f"at most, to be picked out of a class at random: 1 in {count(stated['k'])} people, stated by the maker"
        return percent(stated["highest"]), about
    people = " people, counted with the original" if risk["counted"] == "people" else ""
    if risk["bounded"]:
        people = " people, the fewest that a class can have by the original"
    fewest = risk["smallest_classes"][0]
    return percent(risk["prosecutor"]["highest"]), (
        f"{'at most, ' * risk['bounded']}to be picked out of a class at random: 1 in {count(fewest)}{people}"
    )


# -- what to do ------------------------------------------------------------------------------------------


def show_recommendation(result: Mapping[str, Any]) -> Markup:
    """What to mend before the file is shared; otherwise with whom it may be."""
    mends, doubts = list(say_mends(result)), list(say_doubts(result["parameters"]))
    advice = tag("p", tag("strong", "Recommendation. "), MEND if mends else say_advice(result["risk"]))
    listed = tag("ul", *(tag("li", each) for each in (*mends, *doubts))) if mends or doubts else None
    return tag("div", advice, listed, class_="advice warn" if mends else "advice")


def say_advice(risk: Mapping[str, Any]) -> str:
    """With whom the file may be shared, by its highest chance."""
    highest = find_highest(risk)
    if highest <= PUBLIC + 1e-9:
        fits = f"The highest chance of {percent(highest)} is within {PUBLIC:g}, which reviewers often ask for of files"
        return f"Nothing found here speaks against sharing the file. {fits} for everybody. {READ_ON}"
    if highest <= USUAL + 1e-9:
        fits = f"The highest chance of {percent(highest)} is within {USUAL:g}, but above {PUBLIC:g}"
        return f"Share the file with readers who agreed to rules. {fits}, which reviewers often ask for. {READ_ON}"
    return (
        f"Share the file only with people you trust: the highest chance of {percent(highest)} is above {USUAL:g}, "
        f"which reviewers often ask for. Release it with a larger k for anybody else. {READ_ON}"
    )


def find_highest(risk: Mapping[str, Any]) -> float:
    """The highest chance of a prosecutor, by people where they are stated."""
    stated = risk["stated"] if risk["counted"] == "rows" else None
    return float(stated["highest"] if stated else risk["prosecutor"]["highest"])


def say_mends(result: Mapping[str, Any]) -> Iterator[Content]:
    """What gives people away in spite of k, each with the one thing that mends it."""
    rows = result["verified"]["rows"]
    counts = {column: shared["rows"] for column, shared in result["exposure"]["one_value"].items()}
    shares = {column: count / rows for column, count in counts.items() if count and not isinstance(count, str)}
    few = {column: count for column, count in counts.items() if isinstance(count, str)}
    says = [*given_away_words(shares), *(f"{few[column]} rows have their {column} value given away." for column in few)]
    yield from (tag("span", each, class_="given") for each in says)
    if says:
        yield join("Release it with ", tag("span", "--l 2", class_="option"), ". ", *tell_price(result))
    if result["identifying"]:
        them = "it" if len(result["identifying"]) == 1 else "them"
        yield join("Most values of ", names(result["identifying"]), f" occur in one row only. Do not publish {them}.")
    if together := result["identifying_together"]:
        groups = [part for columns in together for part in ("; ", first_names(columns))][1:]
        yield join("Nearly every row is unique on these together: ", *groups, ". Publish fewer of them.")


def tell_price(result: Mapping[str, Any]) -> Iterator[Content]:
    """What the remedy costs, by the certificate; otherwise where its maker is told."""
    if (price := result["loss_with_l_2"]) is not None:
        now = result["claims"]["loss"]
        yield f"By its maker, the loss becomes about {price:.3f} or less with that, instead of {now:.3f}."
        return
    yield from (tag("span", "kech preview TABLE --l 2", class_="option"), " tells its maker what that costs.")


def say_doubts(parameters: Mapping[str, Any]) -> Iterator[str]:
    """What nobody can tell from the file."""
    if parameters.get("allow_composition"):
        yield "It was allowed beside earlier releases of the same table: who holds several may narrow a class down."
    if parameters.get("no_ledger"):
        yield "Nobody looked whether the same table was released before. Ask its maker."


# -- what was done ---------------------------------------------------------------------------------------


def say_plainly(result: Mapping[str, Any]) -> Iterator[Content]:
    """What readers can expect of the file, in sentences."""
    columns, stated = result["columns"], result["stated"]
    rows = f"{count(result['verified']['k'])} rows or more"
    crowd = f"rows of {count(stated['k'])} people or more (stated by the maker)" if stated else rows
    yield join("Who knows ", first_names([column["column"] for column in columns]), f" of a person finds {crowd}.")
    exact = [column["column"] for column in columns if column["width"] == 0]
    if exact:
        yield join("Published as they are in all rows: ", first_names(exact), ".")
    blurred = sorted((column for column in columns if column["loss"] > 0), key=lambda column: -column["loss"])
    if blurred:
        named = [column["column"] for column in blurred[:MOST_NAMED]]
        yield join("Most blurred: ", names(named), f" ({', '.join(percent(c['loss']) for c in blurred[:MOST_NAMED])}).")
    if result["sensitive"]:
        yield say_sensitive(result, first_names)
    else:
        yield "No column was named as sensitive, so nothing is said about what a class tells."
    claims = result["claims"]
    if claims["suppressed"]:
        yield f"Left out: {claims['suppressed']} {say_left_out(claims)}."


def first_names(columns: Sequence[str] | Mapping[str, Any]) -> Iterator[Content]:
    """Columns with commas between; of many the first, and how many others."""
    if len(columns) <= MOST_LISTED:
        yield from names(columns)
    else:
        yield from names(list(columns)[: MOST_LISTED - 1])
        yield f" and {len(columns) - MOST_LISTED + 1} others"

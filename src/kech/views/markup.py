"""Markup: elements of a page, every text escaped; and how figures are written, the same on every machine."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import inf
from typing import Any

UNSPEAKABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # no character of a page
LONGEST = 160  # characters of a label that are shown
EMPTY = ("meta",)


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Content = str | int | None


def tag(element: str, /, *contents: Content | Iterable[Content], **attributes: Any) -> Markup:
    """An element; a trailing _ of an attribute is dropped, another _ is written as -."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape_text(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    opened = f"<{element}{written}>"
    return Markup(opened if element in EMPTY else f"{opened}{join(*contents)}</{element}>")


def join(*contents: Content | Iterable[Content]) -> Markup:
    """Contents one after the other; what is not markup is escaped."""
    parts = []
    for content in contents:
        if isinstance(content, Markup):
            parts.append(str(content))
        elif isinstance(content, str | int):
            parts.append(escape_text(str(content)))
        elif content is not None:
            parts.append(str(join(*content)))
    return Markup("".join(parts))


def escape_text(text: str) -> str:
    """Text for a page: markup in it is shown as it is written, and what is no character becomes a mark."""
    return escape(UNSPEAKABLE.sub("\ufffd", text), quote=True)


def name(text: str) -> Markup:
    """A column or a label, kept apart from the words around it, in any direction of writing."""
    return tag("bdi", shorten(text, LONGEST))


def describe_start(k: int, ends: Sequence[float | None], classes: int, share: str = "") -> str:
    """From where on k holds, between two radii, for which share of the rows, in how many classes."""
    low, high = (f"{inf if end is None else end:.4g}" for end in ends)
    if low == "inf":
        return f"k = {k:,} holds nowhere"
    if high == "inf":
        return f"k = {k:,} holds from eps {low} at the earliest"
    rows = f" for {share} of the rows" if share else ""
    counted = f"{classes:,} class{'es' * (classes > 1)}"
    if ends[0] == ends[1]:
        return f"k = {k:,} holds from eps {low}{rows}" + (f", {counted}" if classes else "")
    return f"k = {k:,} begins to hold between eps {low} and {high}{rows}" + (f", there in {counted}" if classes else "")


def shorten(text: str, most: int) -> str:
    """So many characters at most."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def section(title: str, *contents: Content | Iterable[Content], key: str, class_: str | None = None) -> Markup:
    """A part of the page with its heading."""
    return tag("section", tag("h2", title, id=key), *contents, aria_labelledby=key, class_=class_)


def paragraphs(*texts: Content) -> Markup:
    """Each a paragraph."""
    return join(tag("p", text) for text in texts)


def table(
    caption: Content, headings: Sequence[str], rows: Iterable[Sequence[Content]], *, class_: str | None = None
) -> Markup:
    """A table with a caption; the first cell of each row is its heading, a heading that ends in > is of numbers.

    Rows of the class `stack` become blocks on a narrow screen, each cell below its heading.
    """
    names = [heading.removesuffix(">") for heading in headings]
    sides = ["n" if heading.endswith(">") else None for heading in headings]
    head = [tag("th", text, scope="col", class_=side) for text, side in zip(names, sides, strict=True)]
    body = [
        tag(
            "tr",
            *(
                tag("td", cell, class_=side, data_label=text or None)
                if i
                else tag("th", cell, scope="row", class_=side)
                for i, (cell, side, text) in enumerate(zip(row, sides, names, strict=True))
            ),
        )
        for row in rows
    ]
    whole = tag("table", tag("caption", caption), tag("thead", tag("tr", *head)), tag("tbody", *body), class_=class_)
    return tag("div", whole, class_="wide")


def definitions(pairs: Iterable[tuple[Content, Content]]) -> Markup:
    """Names, each with what it is."""
    return tag("dl", *(join(tag("dt", term), tag("dd", text)) for term, text in pairs))


def count(number: int) -> str:
    """A whole number."""
    return f"{number:,}"


def figure(number: float | None) -> str:
    """Four digits are enough to decide."""
    return "none" if number is None else str(number) if isinstance(number, int) else f"{number:,.4f}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share of a hundred."""
    return "not available" if share is None else f"{share:.{digits}%}"


def amount(number: float) -> str:
    """A size in the unit of a column: three digits or so."""
    if number == round(number):
        return f"{number:,.0f}"
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:,.1f}" if abs(number) >= 10 else f"{number:.3g}"


def format_number(value: float | str) -> str:
    """A number to five digits, or a date."""
    return value if isinstance(value, str) else f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.5g}"


def format_distance(column: Mapping[str, Any]) -> str:
    """The distance of two distributions, and which."""
    if column["ks"] is not None:
        return f"{column['ks']:.4f} KS"
    return "none" if column["tv"] is None else f"{column['tv']:.4f} TV"


def format_interval(score: Mapping[str, Any]) -> tuple[str, str]:
    """A mean and its interval."""
    if score["mean"] is None:
        return "none", ""
    return figure(score["mean"]), f"{figure(score['low'])} to {figure(score['high'])}"


def format_rate(rate: Mapping[str, Any], name: str) -> str:
    """A rate and between what it may lie."""
    if rate[name] is None:
        return "none"
    return f"{rate[name]:.3f} ({rate[f'{name}_low']:.3f}-{rate[f'{name}_high']:.3f})"

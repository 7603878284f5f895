"""Hints: what the owner of a column should be told before it is generalized.  A hint counts rows and shows no cell
but marks of missing values.

In: the distinct values of a column and their rows.  Out: a sentence with the option that helps.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from shlex import join, quote
from typing import Any

import numpy as np

from kech.axes.grid import Ints
from kech.axes.hierarchy import half_prefixes, have_code_form, looks_like_codes
from kech.axes.rulers import Floats
from kech.axes.spelling import count_variants

MOSTLY = 0.9
FEW_ROWS = 10  # below, nothing is far from the others
MANY_CODES = 10  # of one length: more than categories are, as a rule
POSTAL = r"(.*_)?(zip|zip_?code|plz|postleitzahl|post_?code|postal(_?code)?|cap|cep|pin_?code|eircode)(_.*)?"
MISSING = ("n/a", "na", "n.a.", "#n/a", "nan", "null", "nil", "?", "-", "--", ".", "missing", "unknown", "k.a.")
MISSED = "It holds what often means a missing value: {}."
LIKE_DATES = r"(\d{1,2})[./-](\d{1,2})[./-]\d{4}"
LIKE_COMMAS = r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+|[+-]?\d{1,3}(\.\d{3})+,?"


@dataclass(frozen=True, slots=True)
class Hint:
    """What to say; the kind of axis that suits better than the usual one; how the table should be read."""

    says: str
    axis: str | None = None
    reading: dict[str, Any] = field(default_factory=dict)


def hint_at_text(values: Sequence[str]) -> Hint | None:
    """Missing values, dates and numbers that are written otherwise than kech reads them."""
    marks = sorted({value for value in values if value.strip().casefold() in MISSING})
    known = [value.strip() for value in values if value not in marks]
    found = [Hint(MISSED.format(as_typed(marks)), None, {"null_values": marks})] if marks else []
    found += filter(None, [hint_at_writing(known)])
    if not found:
        return None
    reading = {option: said for hint in found for option, said in hint.reading.items()}
    return Hint(" ".join(hint.says for hint in found), found[-1].axis, reading)


def hint_at_writing(values: Sequence[str]) -> Hint | None:
    """Dates or numbers that are written otherwise than kech reads them."""
    return hint_at_dates(values) or hint_at_commas(values)


def as_typed(marks: Sequence[str]) -> str:
    """Marks as an option; behind a space a dash would begin another one."""
    plain = [mark for mark in marks if not mark.startswith("-")]
    dashes = [f"--null-values={mark}" for mark in marks if mark not in plain]
    return join([*dashes, *(["--null-values", *plain] if plain else [])])


def hint_at_variants(values: Sequence[str], role: str) -> Hint | None:
    """Texts that are written in several ways: one value of a sensitive column, several of any other."""
    found = count_variants(values)
    if not found:
        return None
    what = "1 text is written in several ways" if found == 1 else f"{found:,} texts are written in several ways each"
    means = "l, t and alpha count each once" if role == "sensitive" else "here these are different values"
    return Hint(f"{what} (case, width, spaces): {means}. Write each in one way.")


def join_hints(*hints: Hint | None) -> Hint | None:
    """What all of them say; the axis and the reading are those of the first that has one."""
    held = [hint for hint in hints if hint is not None]
    if len(held) < 2:
        return held[0] if held else None
    axis = next((hint.axis for hint in held if hint.axis), None)
    reading = next((hint.reading for hint in held if hint.reading), {})
    return Hint(" ".join(hint.says for hint in held), axis, reading)


def hint_at_dates(values: Sequence[str]) -> Hint | None:
    """Dates that begin with the day or the month, whatever a few odd ones say."""
    dates = [found.groups() for value in values if (found := re.fullmatch(LIKE_DATES, value))]
    if not values or len(dates) < MOSTLY * len(values):
        return None
    days, months = (sum(int(pair[i]) > 12 for pair in dates) for i in (0, 1))  # what is more than 12 is no month
    if max(days, months) < MOSTLY * (days + months) or days == months:
        return Hint("These look like dates, and are read as text: --dates dmy or --dates mdy reads them.", "date")
    order = "dmy" if days > months else "mdy"
    return Hint(f"These look like dates, and are read as text: --dates {order} reads them.", "date", {"dates": order})


def hint_at_commas(values: Sequence[str]) -> Hint | None:
    """Numbers with decimal commas."""
    commas = [value for value in values if re.fullmatch(rf"{LIKE_COMMAS}|[+-]?\d+", value)]
    if len(commas) < MOSTLY * len(values) or not any("," in value for value in commas):
        return None
    says = "These look like numbers with decimal commas, and are read as text: --decimal , reads them."
    return Hint(says, "number", {"decimal": ","})


def hint_at_codes(column: str, texts: Sequence[str]) -> Hint | None:
    """Whole numbers of one length that are called a postcode: their beginnings mean something, their size does not."""
    alike = len({len(text) for text in texts}) == 1 and all(text.isdecimal() for text in texts)
    if not (alike and is_postcode(column) and looks_like_codes(texts)):
        return None
    axis = quote(f"{column}=hierarchy")
    return Hint(f"It looks like a code: --axis {axis} shortens it to its beginning.", "hierarchy")


def hint_at_prefixes(column: str, values: Sequence[str]) -> Hint | None:
    """Codes that kech takes for sets, being few, though some begin alike: called a postcode, or of one length."""
    codes = {value.strip() for value in values}
    if looks_like_codes(values) or not have_code_form(codes) or len(half_prefixes(codes)) == len(codes):
        return None
    if not is_postcode(column) and (len(codes) < MANY_CODES or len(set(map(len, codes))) > 1):
        return None
    command = f"kech hierarchy TABLE {quote(column)} --kind prefixes -o {quote(f'trees/{column}.csv')}"
    return Hint(
        f"It looks like a code. Its beginnings often say more than sets of values: {command}, then --hierarchies trees."
    )


def is_postcode(column: str) -> bool:
    """Whether a column is called a postcode, in some language."""
    return bool(re.fullmatch(POSTAL, as_words(column)))


def as_words(column: str) -> str:
    """The name of a column in small letters, words joined by `_`."""
    return re.sub(r"[^a-z0-9]+", "_", column.casefold()).strip("_")


def hint_at_far_rows(values: Floats, counts: Ints) -> Hint | None:
    """Rows that lie farther from the bulk than the bulk is wide; the bulk is all but 1 % of the rows at each end."""
    rows = int(counts.sum())
    if rows < FEW_ROWS:
        return None
    below, aside = np.cumsum(counts), max(1, rows // 100)
    low, high = (float(values[np.searchsorted(below, rank)]) / 4 for rank in (aside + 1, rows - aside))
    quarters = values / 4  # the range may overflow
    far = (quarters > high + (high - low)) | (quarters < low - (high - low))
    found = int(counts[far].sum()) if high > low else 0
    if not found:
        return None
    who = "1 row lies" if found == 1 else f"{found:,} rows lie"
    return Hint(
        f"{who} far from all others. A slip? Mend it, or call it missing: --null-values; --suppress leaves it out."
    )

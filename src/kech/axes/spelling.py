"""Spelling: the comparable form of texts, and hints about the values of a column.

In: the distinct values of a column and their rows.  Out: the form in which texts are compared; hints, each a sentence
with an option that helps.  A hint counts rows and shows no cell, except marks of missing values.

Texts that differ only in case, width, spaces or invisible characters are equal; published texts stay unchanged.
Folded are: Unicode compatibility (NFKC) and case, all kinds of spaces, invisible characters, and dots at the end.
Not folded are: accents, abbreviations, typing errors, synonyms, and numbers in a column of text (250.0 and 250.00 can
be two codes); in a column of numbers 1 is 1.0.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from shlex import join, quote
from typing import Any
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray

from kech.axes.grid import Floats, Ints

DASHES = re.compile("[\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
LIKE_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?(e[+-]?[0-9]{1,2})?")
MOST_PLACES = 100  # of a number that is compared as one
DIGITS = re.compile(r"[0-9]{1,28}(?:\n[0-9]{1,28})*")
PLAIN_NAMES = re.compile(r"[a-z][a-z0-9_-]*(?:\n[a-z][a-z0-9_-]*)*")  # folded, their letters are small
PLAIN_NUMBERS = re.compile(r"(?:0|[1-9][0-9]{0,27})(?:\n(?:0|[1-9][0-9]{0,27}))*")  # folded, they stay as they are
SEEN_AS_SPACE = "\u2800"  # a blank of Braille
IGNORABLE = {  # Default_Ignorable_Code_Point of Unicode: first and last of each range
    0x00AD: 0x00AD,
    0x034F: 0x034F,
    0x061C: 0x061C,
    0x115F: 0x1160,
    0x17B4: 0x17B5,
    0x180B: 0x180F,
    0x200B: 0x200F,
    0x202A: 0x202E,
    0x2060: 0x206F,
    0x3164: 0x3164,
    0xFE00: 0xFE0F,
    0xFEFF: 0xFEFF,
    0xFFA0: 0xFFA0,
    0xFFF0: 0xFFF8,
    0x1BCA0: 0x1BCA3,
    0x1D173: 0x1D17A,
    0xE0000: 0xE0FFF,
}
FIRSTS, LASTS = list(IGNORABLE), list(IGNORABLE.values())


def fold(text: str) -> str:
    """The comparable form of a text, which is never published; empty for a text without visible characters.

    >>> fold(" H\u200bIV\u00a0Type  2. "), fold("250.00")
    ('hiv type 2', '250.00')
    """
    visible = _without_hidden(text)
    letters = visible.lower() if visible.isascii() else _same_case(_same_case(visible))
    words = " ".join(letters.replace(SEEN_AS_SPACE, " ").split())
    return words.rstrip(". ") or words


def fold_person(text: str) -> str:
    """The comparable form of the name or number of a person: all dashes are equal, 1 is 1.0, 001 and 1e0, and 0 is -0.

    >>> fold_person(" 0012.0 "), fold_person("P\u20131"), fold_person("-0.0")
    ('12', 'p-1', '0')
    """
    plain = DASHES.sub("-", fold(text))
    if not LIKE_NUMBER.fullmatch(plain):
        return plain
    number = Decimal(plain.replace(",", "."))
    return format(number.normalize() if number else Decimal(0), "f") if number.adjusted() < MOST_PLACES else plain


def fold_people(texts: Sequence[str]) -> Sequence[str]:
    """The forms of many: plain numbers and plain names, as most people have them, are read together.

    >>> fold_people(["0", "12", "120"]), fold_people(["12", "012", "1.2e1"]), fold_people(["P-1", "p-2"])
    (['0', '12', '120'], ['12', '12', '12'], ['p-1', 'p-2'])
    """
    together = "\n".join(texts)
    if not together.isascii() or together.count("\n") >= len(texts):
        return list(map(fold_person, texts))
    if PLAIN_NUMBERS.fullmatch(together):
        return texts
    if DIGITS.fullmatch(together):
        return [text.lstrip("0") or "0" for text in texts]
    return lower.split("\n") if PLAIN_NAMES.fullmatch(lower := together.lower()) else list(map(fold_person, texts))


def encode_spellings(
    values: Sequence[str], read: Callable[[Sequence[str]], Iterable[str]] | None = None
) -> NDArray[np.int32]:
    """The code of each distinct text: equal for texts with equal forms, 0 for an empty form."""
    code_of_form, texts = {"": 0}, map(fold, values) if read is None else read(values)
    if texts is values:  # plain numbers, which are all different
        return np.arange(1, len(values) + 1, dtype=np.int32)
    return np.array([code_of_form.setdefault(text, index) for index, text in enumerate(texts, 1)], np.int32)


def count_variants(texts: Iterable[str]) -> int:
    """How many comparable forms have several spellings among these distinct texts."""
    return sum(ways > 1 for ways in Counter(filter(None, map(fold, texts))).values())


def _same_case(text: str) -> str:
    """The text with compatible letters of one case (NFKC and casefold), without invisible characters."""
    return _without_hidden(normalize("NFKC", normalize("NFKC", text).casefold()))


def _without_hidden(text: str) -> str:
    """The text without invisible characters: format, control and ignorable ones of Unicode."""
    if text.isprintable() and text.isascii():
        return text
    return "".join(letter for letter in text if letter.isspace() or not _is_hidden(letter))


def _is_hidden(letter: str) -> bool:
    index = bisect_right(FIRSTS, ord(letter)) - 1
    return (index >= 0 and ord(letter) <= LASTS[index]) or category(letter) in ("Cf", "Cc")


# -- codes, such as ZIP --------------------------------------------------------------------------------


def looks_like_codes(values: Sequence[str]) -> bool:
    """Whether these are codes such as ZIP, whose prefixes have a meaning.

    There are 20 distinct values or more, of the form of codes; and prefixes of half the shortest length belong to two
    values or more on average.  On four tables of 2,000 rows (a town, two kinds of postcodes, ICD-10), prefixes
    lost less than sets on one at k = 5 and on three at k = 20 (sums .29 and .25, .61 and .77); its labels stay short.
    """
    codes = set(values)
    return len(codes) >= 20 and have_code_form(codes) and 2 * len(half_prefixes(codes)) <= len(codes)


def have_code_form(codes: Collection[str]) -> bool:
    """Whether all codes have one or two lengths of 3 or more, almost only letters and digits, and a digit in each."""
    lengths = {len(code) for code in codes}
    if not lengths or len(lengths) > 2 or min(lengths) < 3:
        return False
    characters = "".join(codes)
    plain = sum(map(str.isalnum, characters))
    return plain >= 0.8 * len(characters) and all(any(map(str.isdigit, code)) for code in codes)


def half_prefixes(codes: Collection[str]) -> set[str]:
    """The distinct prefixes of codes, half as long as the shortest code."""
    half = min(map(len, codes)) // 2
    return {code[:half] for code in codes}


# -- hints ----------------------------------------------------------------------------------------------


MOSTLY = 0.9
FEW_ROWS = 10  # with fewer rows no outlier is reported, and no code is named
FAR_GAPS = 3  # times the widest gap between other values, from which on a code stands apart
UNKNOWN = [-1, *(sign * (10**digits - less) for digits in range(1, 8) for less in (1, 2, 3) for sign in (1, -1))]
MANY_CODES = 10  # codes of one length; categories are usually fewer
POSTAL = r"(.*_)?(zip|zip_?code|plz|postleitzahl|post_?code|postal(_?code)?|cap|cep|pin_?code|eircode)(_.*)?"
MISSING = (
    "n/a",
    "na",
    "n.a.",
    "#n/a",
    "nan",
    "null",
    "nil",
    "?",
    "-",
    "--",
    ".",
    "missing",
    "unknown",
    "k.a.",
    "k. a.",
)
MISSED = "It has texts that often mean a missing value: {} declares them."
LIKE_DATES = r"(\d{1,2})[./-](\d{1,2})[./-]\d{4}"
SHORT_YEARS = r"(\d{1,2})[./-](\d{1,2})[./-]\d{2}"
LIKE_COMMAS = r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+|[+-]?\d{1,3}(\.\d{3})+,?"


@dataclass(frozen=True, slots=True)
class Hint:
    """A sentence; a better kind of axis; and better options to read the table."""

    says: str
    axis: str | None = None
    input: dict[str, Any] = field(default_factory=dict)
    is_planned: bool = True  # whether a plan of `inspect` does what it says; it never joins spellings by itself


def hint_at_text(values: Sequence[str]) -> Hint | None:
    """A hint at marks of missing values, and at dates and numbers in a format that kech does not read by default."""
    marks = sorted({value for value in values if value.strip().casefold() in MISSING})
    present = [value.strip() for value in values if value not in marks]
    hints = [Hint(MISSED.format(format_null_values(marks)), None, {"null_values": marks})] if marks else []
    hints += filter(None, [hint_at_writing(present)])
    if not hints:
        return None
    options = {name: value for hint in hints for name, value in hint.input.items()}
    return Hint(" ".join(hint.says for hint in hints), hints[-1].axis, options)


def hint_at_writing(values: Sequence[str]) -> Hint | None:
    """A hint at dates or numbers in a format that kech does not read by default."""
    return hint_at_dates(values) or hint_at_short_years(values) or hint_at_commas(values)


def format_null_values(marks: Sequence[str]) -> str:
    """The option that declares these texts as missing: --null-values NA ?; a text that begins with a dash follows =.

    >>> format_null_values(["NA", "-"])
    '--null-values=- --null-values NA'
    """
    plain = [mark for mark in marks if not mark.startswith("-")]
    dashes = [f"--null-values={mark}" for mark in marks if mark not in plain]
    return join([*dashes, *(["--null-values", *plain] if plain else [])])


def hint_at_variants(values: Sequence[str], role: str) -> Hint | None:
    """A hint at texts with several spellings, which are one value of a sensitive column, but several of others."""
    variants = count_variants(values)
    if not variants:
        return None
    what = (
        "1 value is spelled in several ways"
        if variants == 1
        else f"{variants:,} values are spelled in several ways each"
    )
    means = "l, t and alpha count each once" if role == "sensitive" else "kech takes each spelling for another value"
    return Hint(
        f"{what} (capitals, spaces and the like): {means}. --fold-variants joins them; in a plan, fold_variants = true "
        "below [input].",
        is_planned=False,
    )


def hint_at_own_values() -> Hint:
    """A sensitive column that is published as it is, and points at its rows."""
    return Hint(
        "Most of its values occur in one row only. If others can know them, make it a quasi-identifier, or leave it "
        "out."
    )


def hint_at_own_texts() -> Hint:
    """A quasi-identifier whose sets would hardly tell anything."""
    return Hint(
        "Nearly all its texts occur in one row only, so labels hardly tell anything. Give it a hierarchy, or leave it "
        "out."
    )


def join_hints(*hints: Hint | None) -> Hint | None:
    """One hint with the sentences of all, and with the first axis and the first options of input among them."""
    present = [hint for hint in hints if hint is not None]
    if len(present) < 2:
        return present[0] if present else None
    axis = next((hint.axis for hint in present if hint.axis), None)
    options = next((hint.input for hint in present if hint.input), {})
    return Hint(" ".join(hint.says for hint in present), axis, options, all(hint.is_planned for hint in present))


def hint_at_dates(values: Sequence[str]) -> Hint | None:
    """A hint at a column with almost only dates that begin with the day or the month."""
    dates = [match.groups() for value in values if (match := re.fullmatch(LIKE_DATES, value))]
    if not values or len(dates) < MOSTLY * len(values):
        return None
    days, months = (sum(int(pair[i]) > 12 for pair in dates) for i in (0, 1))  # a number above 12 is no month
    if max(days, months) < MOSTLY * (days + months) or days == months:
        return Hint("These look like dates, and are read as text: --dates dmy or --dates mdy reads them.", "date")
    order = "dmy" if days > months else "mdy"
    return Hint(f"These look like dates, and are read as text: --dates {order} reads them.", "date", {"dates": order})


def hint_at_short_years(values: Sequence[str]) -> Hint | None:
    """A hint at a column with almost only dates whose years have two digits, which are not read."""
    pairs = [sorted(map(int, match.groups())) for value in values if (match := re.fullmatch(SHORT_YEARS, value))]
    dates = [month for month, day in pairs if 1 <= month <= 12 and day <= 31]
    if not values or len(dates) < MOSTLY * len(values):
        return None
    return Hint(
        "These look like dates, and are read as text. Their years have two digits: write four, since no century is "
        "guessed."
    )


def hint_at_commas(values: Sequence[str]) -> Hint | None:
    """A hint at a column with almost only numbers with decimal commas."""
    commas = [value for value in values if re.fullmatch(rf"{LIKE_COMMAS}|[+-]?\d+", value)]
    if len(commas) < MOSTLY * len(values) or not any("," in value for value in commas):
        return None
    says = "These look like numbers with decimal commas, and are read as text: --decimal , reads them."
    return Hint(says, "number", {"decimal": ","})


def hint_at_codes(column: str, texts: Sequence[str]) -> Hint | None:
    """A hint at a column of whole numbers that is named as a postcode: its prefixes mean something, not its size."""
    alike = len({len(text) for text in texts}) == 1 and all(text.isdecimal() for text in texts)
    if not (alike and is_postcode(column) and looks_like_codes(texts)):
        return None
    axis = quote(f"{column}=hierarchy")
    return Hint(f"It looks like a code: --axis {axis} shortens it to its beginning.", "hierarchy")


def hint_at_categories(column: str) -> Hint:
    """A hint at a column of whole numbers whose order means nothing."""
    axis = quote(f"{column}=set")
    return Hint(f"Its numbers seem to be codes without an order: --axis {axis} makes sets of them.", "set")


def hint_at_mixed(column: str) -> Hint:
    """A hint at a column of few values, which are numbers and texts."""
    axis = quote(f"{column}=set")
    return Hint(
        f"Nearly all its values are numbers or dates, and a few are not: --axis {axis} makes sets of them. Do the "
        "others mean missing? Then say --null-values.",
        "set",
    )


def hint_at_prefixes(column: str, values: Sequence[str]) -> Hint | None:
    """A hint at few codes with common prefixes, which kech reads as a set: named as a postcode, or of one length."""
    codes = {value.strip() for value in values}
    if looks_like_codes(values) or not have_code_form(codes) or len(half_prefixes(codes)) == len(codes):
        return None
    if not is_postcode(column) and (len(codes) < MANY_CODES or len(set(map(len, codes))) > 1):
        return None
    command = f"kech hierarchy TABLE {quote(column)} --kind prefixes -o {quote(f'trees/{column}.csv')}"
    return Hint(
        f"It looks like a code. Its prefixes often make better labels than sets: {command}, then --hierarchies trees."
    )


def is_postcode(column: str) -> bool:
    """Whether the name of a column means a postcode, in one of several languages."""
    return bool(re.fullmatch(POSTAL, as_words(column)))


def as_words(column: str) -> str:
    """The name of a column in small letters, with `_` between words."""
    return re.sub(r"[^a-z0-9]+", "_", column.casefold()).strip("_")


def hint_at_unknown(values: Floats, counts: Ints) -> Hint | None:
    """A hint at codes such as 98, 99 or -9 that stand apart, which surveys write for what they do not know.

    They are negative where no other value is, or behind a gap.  A code that few rows have is not named.
    """
    is_code = np.isin(values, UNKNOWN)
    rest = values[~is_code]
    if not is_code.any() or len(rest) < 2:
        return None
    gap = FAR_GAPS * float(np.diff(rest).max())
    far = is_code & ((values > rest[-1] + gap) | ((values < 0) & (rest[0] >= 0)))
    beside = is_code & np.isin(values + 1, values[far]) & (values >= rest[-1] + gap)
    many = (far | beside) & (counts >= FEW_ROWS)
    if not many.any():
        return None
    codes = [f"{value:.0f}" for value in values[many]]
    return Hint(
        f"Codes such as {' and '.join(codes[-2:])} look like 'not known' ({counts[many].sum():,} rows). If they are, "
        f"empty these cells in the file, or say {format_null_values(codes)}, which holds for every column.",
        is_planned=False,
    )


def hint_at_far_rows(values: Floats, counts: Ints) -> Hint | None:
    """A hint at outliers: rows farther from the middle 98 % of the rows than these are wide."""
    rows = int(counts.sum())
    if rows < FEW_ROWS:
        return None
    below, outer = np.cumsum(counts), max(1, rows // 100)
    low, high = (float(values[np.searchsorted(below, rank)]) / 4 for rank in (outer + 1, rows - outer))
    quarters = values / 4  # the range of the values themselves may overflow
    far = (quarters > high + (high - low)) | (quarters < low - (high - low))
    far_rows = int(counts[far].sum()) if high > low else 0
    if not far_rows:
        return None
    who = "1 row lies" if far_rows == 1 else f"{far_rows:,} rows lie"
    return Hint(
        f"{who} far from all others. Check for an error, declare it missing (--null-values), or allow --suppress."
    )

"""Spelling: texts that differ in case, width, spaces or characters nobody sees say the same.

In: the distinct texts of a column.  Out: the form in which they are compared; published texts stay as they are.

Folded are: Unicode compatibility (NFKC) and case, all kinds of spaces, invisible characters, and dots at the end.
Not folded are: accents, abbreviations, slips of the pen, other words for the same thing, and numbers in a column of
text (250.0 and 250.00 can be two codes); in a column of numbers 1 is 1.0.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from unicodedata import category, normalize

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
    """The form in which a text is compared; empty where nothing is to be seen.

    >>> fold(" H\u200bIV\u00a0Type  2. "), fold("250.00")
    ('hiv type 2', '250.00')
    """
    shown = _without_hidden(text)
    letters = shown.lower() if shown.isascii() else _same_case(_same_case(shown))
    words = " ".join(letters.replace(SEEN_AS_SPACE, " ").split())
    return words.rstrip(". ") or words


def count_variants(texts: Iterable[str]) -> int:
    """How many texts are written in several ways, among distinct ones."""
    return sum(ways > 1 for ways in Counter(filter(None, map(fold, texts))).values())


def _same_case(text: str) -> str:
    """Compatible letters of one case, as Unicode folds names; once more for what comes out of wide letters."""
    return _without_hidden(normalize("NFKC", normalize("NFKC", text).casefold()))


def _without_hidden(text: str) -> str:
    """The text without format and control characters, and without what Unicode lets programs not show."""
    if text.isprintable() and text.isascii():
        return text
    return "".join(letter for letter in text if letter.isspace() or not _is_hidden(letter))


def _is_hidden(letter: str) -> bool:
    place = bisect_right(FIRSTS, ord(letter)) - 1
    return (place >= 0 and ord(letter) <= LASTS[place]) or category(letter) in ("Cf", "Cc")

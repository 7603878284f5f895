"""Folding: sensitive texts as they are compared, by code of its own.

Texts are the same where they differ only in case, width (NFKC), spaces of any kind, characters that are not shown,
dots at the end, or zeros at the end of a decimal.
"""

import re
import unicodedata

NUMBER = re.compile(r"(?:\+(?!-))?(-?[0-9]+)(?:\.([0-9]+))?")
HIDDEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f]")


def fold_text(text: str) -> str:
    """A text as it is compared; nothing is left of one in which nothing is seen."""
    for _ in range(2):  # what is hidden can stand between a letter and its accent, and come out of a wide letter
        text = HIDDEN.sub("", "".join(map(_shown, text)))
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = re.sub(r"[\s\u2800]+", " ", HIDDEN.sub("", "".join(map(_shown, text)))).strip(" ")
    end = len(text)
    while end and text[end - 1] in ". ":
        end -= 1
    text = text[:end] if end else text
    found = NUMBER.fullmatch(text)
    if found is None:
        return text
    decimals = (found[2] or "").rstrip("0")
    return f"{found[1]}.{decimals}" if decimals else found[1]


def _shown(letter: str) -> str:
    """A space for each kind of space, nothing for what is not shown."""
    if letter.isspace():
        return " "
    return "" if unicodedata.category(letter) in {"Cc", "Cf"} else letter

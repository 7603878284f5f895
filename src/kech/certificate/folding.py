"""Folding: sensitive texts as they are compared, by code of its own.

Texts are the same where they differ only in case, width (NFKC), spaces of any kind, characters that are not shown, or
dots at the end.
"""

import re
import unicodedata

HIDDEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f]")


def fold_text(text: str) -> str:
    """A text as it is compared; nothing is left of one in which nothing is seen."""
    passes = 0 if text.isascii() and text.isprintable() else 2  # a wide letter can hold what is hidden
    for _ in range(passes):
        text = HIDDEN.sub("", "".join(map(_shown, text)))
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        text = HIDDEN.sub("", "".join(map(_shown, text)))
    text = re.sub(r"[\s\u2800]+", " ", text.lower() if text.isascii() else text).strip(" ")
    end = len(text)
    while end and text[end - 1] in ". ":
        end -= 1
    return text[:end] if end else text


def _shown(letter: str) -> str:
    """A space for each kind of space, nothing for what is not shown."""
    if letter.isspace():
        return " "
    return "" if unicodedata.category(letter) in {"Cc", "Cf"} else letter

"""Folding: sensitive texts as they are compared, by code of its own.

Texts are the same where they differ only in case, width (NFKC), spaces of any kind, characters that are not shown, or
dots at the end.
"""

import re
import unicodedata

HIDDEN = re.compile(  # what Unicode lets programs show as nothing (Default_Ignorable_Code_Point)
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


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

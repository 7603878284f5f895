"""Wording: turns a message that names options and commands into one that names arguments and functions of Python.

In: `say --k 5, or name them: --qi COLUMN ...`.  Out: `say k=5, or name them: quasi_identifiers=[COLUMN, ...]`.
"""

import re

RENAMED = {"qi": "quasi_identifiers", "axis": "axes", "from": "source", "output": "path"}
FLAGS = {
    "allow-composition": "allow_composition=True",
    "no-ledger": "ledger=False",
    "pad": "pad=True",
    "replace": "replace=True",
    "rows-are-people": "rows_are_people=True",
}
LISTS = ("qi", "sensitive", "earlier", "null-values", "threshold", "radii")
WORDS = (  # options whose example is a word
    "cut", "grid", "protect", "reading", "labels", "metric", "dates", "decimal", "encoding",
    "l-kind", "t-kind", "effort", "person",
)  # fmt: skip
COMMANDS = {
    r"`?kech inspect TABLE`?": "`kech.inspect_table(table)`",
    r"`?kech ledger --forget (\w+)`?": r"`kech.open_ledger().forget(\1)`",
    r"`?kech ledger --new-key (\w+)`?": r"`kech.write_key_file(\1)`",
    r"`kech verify`": "`kech.verify_release`",
    r"`kech risk`": "`kech.compute_risk`",
    r"`kech ledger`": "`kech.open_ledger().list_releases()`",
    r"`kech hierarchy --pad`": "`kech.review_hierarchy(..., pad=True)`",
}
NAME = r"(?<!\w)'[^']*'(?!\w)"  # of a column or file, of any form
EXAMPLE = r"[A-Z]+\b(?: \.\.\.)?|-?[\w.,=-]*[\w=](?: \d[\d.]*\d)*|,"
OPTION = rf"--(?P<option>[a-z]+(?:-[a-z]+)*)(?: (?P<example>{EXAMPLE}))?"
NUMBER = r"\d+(\.\d+)?"


def in_python(text: str) -> str:
    """A message with Python arguments for options and Python calls for commands; quoted names stay unchanged."""
    for command, call in COMMANDS.items():
        text = re.sub(command, call, text)
    return re.sub(f"{NAME}|{OPTION}", as_argument, text)


def as_argument(match: re.Match[str]) -> str:
    """The Python argument for a matched option, with its example value where there is one."""
    option, example = match["option"], match["example"] or ""
    if option is None:
        return match[0]
    rest = match[0].removeprefix(f"--{option}")
    if option in FLAGS:
        return FLAGS[option] + rest
    name, value = RENAMED.get(option, option.replace("-", "_")), as_value(option, example)
    return f"{name}={value}" if value else name + rest


def as_value(option: str, example: str) -> str:
    """An example value in the syntax of Python; empty where the text behind the option is no example."""
    parts = [part for part in re.split(r"[ ,]", example) if part]
    if option in LISTS and (example.isupper() or len(parts) > 1):
        return f"[{', '.join(part if part.isupper() or is_plain(part) else repr(part) for part in parts)}]"
    if option == "axis" and "=" in example:
        return "{{{!r}: {!r}}}".format(*example.partition("=")[::2])
    if is_plain(example) or example.isupper():
        return example
    return f'"{example}"' if option in WORDS and example else ""


def is_plain(part: str) -> bool:
    """Whether a text is a number, or `...`."""
    return part == "..." or bool(re.fullmatch(NUMBER, part))

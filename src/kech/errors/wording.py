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
LISTS = ("qi", "sensitive", "earlier", "null-values", "threshold", "radii", "eps", "on")
CHOICES = {  # the words that an option takes
    "cut": ("local", "minimal", "domain", "regime"),
    "dates": ("ymd", "dmy", "mdy"),
    "decimal": (".", ","),
    "effort": ("quick", "normal", "best"),
    "encoding": ("utf-8", "utf-16", "latin-1", "cp1252"),
    "engine": ("duckdb", "postgres", "spark"),
    "grid": ("round", "exact"),
    "l-kind": ("distinct", "entropy", "recursive"),
    "labels": ("text", "dash", "columns", "midpoint"),
    "metric": ("box", "ball"),
    "protect": ("full", "ends", "none"),
    "reading": ("strict", "homological", "partition"),
    "search": ("lattice", "chain"),
    "t-kind": ("equal", "ordered"),
}
COMMANDS = {
    r"`?kech inspect TABLE`?": "`kech.inspect_table(table)`",
    r"`?kech ledger --forget (\w+)`?": r"`kech.open_ledger().forget(\1)`",
    r"`?kech ledger --new-key (\w+)`?": r"`kech.write_key_file(\1)`",
    r"`kech verify`": "`kech.verify_release`",
    r"`kech risk`": "`kech.compute_risk`",
    r"`kech ledger`": "`kech.open_ledger().list_releases()`",
    r"`kech hierarchy --pad`": "`kech.review_hierarchy(..., pad=True)`",
    r"kech release (?:TABLE|\.\.\.) --series FOLDER(?: \.\.\.)?": "`kech.open_series(FOLDER).publish(table, path)`",
    r"kech series FOLDER --forget": "`kech.open_series(FOLDER).forget()`",
    r"kech series FOLDER --moved FILE \.\.\.": "`kech.open_series(FOLDER).find_files(FILE, ...)`",
}
QUOTE = "'"
NAME = r"(?<!\w)'[^']*'(?!\w)"  # of a column or file, of any form
PLACES = r"[A-Z]+\b(?: [A-Z]+\b)*(?: \.\.\.)?"  # such as FILE, COLUMN COLUMN or FILE ...
EXAMPLE = rf"{PLACES}|\d+(?:\.\d+)?%|-?[\w.,=-]*[\w=](?: \d[\d.]*\d)*|,|{NAME}"
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
    rest, name = match[0].removeprefix(f"--{option}"), RENAMED.get(option, option.replace("-", "_"))
    if option in FLAGS:
        is_left_out = re.search("(?:omit|without) $", match.string[: match.start()], re.I)
        return (name if is_left_out else FLAGS[option]) + rest
    value = as_value(option, example, match.string[match.end() :])
    comma = "," * match.string.startswith(" --", match.end())
    return f"{name}={value}{comma}" if value else name + rest


def as_value(option: str, example: str, following: str) -> str:
    """An example value in the syntax of Python; empty where the text behind the option is no value that it takes."""
    parts = [part for part in re.split(r"[ ,]", example) if part]
    if "..." in parts or (option in LISTS and (example.isupper() or len(parts) > 1)):
        return f"[{', '.join(part if part.isupper() or is_plain(part) else repr(part) for part in parts)}]"
    if option == "axis" and "=" in example:
        return "{{{!r}: {!r}}}".format(*example.partition("=")[::2])
    if is_plain(example) or example.isupper():
        return example
    if example.endswith("%"):
        return f"{float(example[:-1]) / 100:g}"
    is_column = option == "person" and re.match(r"[.,;)]|$", following)
    return f'"{example.strip(QUOTE)}"' if example and (is_column or example in CHOICES.get(option, ())) else ""


def is_plain(part: str) -> bool:
    """Whether a text is a number, or `...`."""
    return part == "..." or bool(re.fullmatch(NUMBER, part))

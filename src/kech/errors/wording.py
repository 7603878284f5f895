"""Wording: turns a message that names options and commands into one that names arguments and functions of Python.

In: `say --k 5, or name them: --qi COLUMN ...`.  Out: `say k=5, or name them: quasi_identifiers=[COLUMN, ...]`.
"""

import re
import shlex
from collections.abc import Callable, Iterable
from functools import cache
from typing import Protocol

# Options of commands that are no fields of a request; those that are come from `register_options`.
RENAMED = {"from": "source", "output": "path"}
FLAGS = {
    "allow-composition": "allow_composition=True",
    "no-ledger": "ledger=False",
    "pad": "pad=True",
    "replace": "replace=True",
}
BY_COLUMN = ("axis", "weights")  # take COLUMN=VALUE
LISTS = ("earlier", "threshold", "radii", "eps", "on")
WORDS = {"search": ("lattice", "chain"), "reading": ("partition",)}
COMMANDS = {
    r"`?kech inspect TABLE`?": "`kech.inspect_table(table)`",
    r"`?kech ledger --forget (\w+)`?": r"`kech.open_ledger().forget(\1)`",
    r"`?kech ledger --new-key (\w+)`?": r"`kech.write_key_file(\1)`",
    r"`kech verify`": "`kech.verify_release`",
    r"`kech risk`": "`kech.compute_risk`",
    r"`kech ledger`": "`kech.open_ledger().list_releases()`",
    r"`kech hierarchy --pad`": "`kech.review_hierarchy(..., pad=True)`",
    r"kech hierarchy TABLE (\S+|'[^']*') --kind (\w+) -o .+, then --hierarchies trees": (
        r'`tree = kech.review_hierarchy(table, COLUMN, kind="\2").tree`, then hierarchies={COLUMN: tree}'
    ),
    r"kech release (?:TABLE|\.\.\.) --series FOLDER(?: \.\.\.)?": "`kech.open_series(FOLDER).publish(table, path)`",
    r"kech verify --series FOLDER": "`kech.verify_series(FOLDER)`",
    r"--series ((?:NEW_)?FOLDER)(?= --)": r"`kech.open_series(\1)`,",
    r"--series ((?:NEW_)?FOLDER)": r"`kech.open_series(\1)`",
    r"kech series FOLDER --forget": "`kech.open_series(FOLDER).forget()`",
    r"kech series FOLDER --moved FILE \.\.\.": "`kech.open_series(FOLDER).find_files(FILE, ...)`",
}
QUOTE = "'"
NAME = r"(?<!\w)'[^']*'(?!\w)"  # of a column or file, of any form
PLACES = r"[A-Z]+\b(?: [A-Z]+\b)*(?: \.\.\.)?"  # such as FILE, COLUMN COLUMN or FILE ...
EXAMPLE = rf"{PLACES}|\d+(?:\.\d+)?%|-?[\w.,=-]*[\w=](?: \d[\d.]*\d)*|,|{NAME}(?:=\w+)?"
OPTION = rf"--(?P<option>[a-z]+(?:-[a-z]+)*)(?: (?P<example>{EXAMPLE}))?"
MARKS = r"--null-values[= ].+?(?= declares them|, which holds)"  # texts of any form, as a shell reads them
LEFT_OUT = r"(?:omit|without) (?:--[a-z-]+,? (?:and |or )?)*$"  # before an option
NUMBER = r"\d+(\.\d+)?"


class Option(Protocol):
    """What a field of a request says of itself."""

    @property
    def option(self) -> str:
        """The option of the command line."""

    @property
    def name(self) -> str:
        """The argument of Python."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words that it takes."""

    @property
    def is_list(self) -> bool:
        """Whether it takes several names."""

    @property
    def is_switch(self) -> bool:
        """Whether it takes true or false."""


READERS: list[Callable[[], Iterable[Option]]] = []


def register_options(read: Callable[[], Iterable[Option]]) -> Callable[[], Iterable[Option]]:
    """Decorator: the function that knows the fields of a request, called when the first message needs them."""
    READERS.append(read)
    return read


@cache
def find_fields() -> dict[str, Option]:
    """The registered fields, by their options without dashes."""
    return {field.option.removeprefix("--"): field for read in READERS for field in read()}


def find_words(option: str) -> tuple[str, ...]:
    """The words that an option takes."""
    field = find_fields().get(option)
    return (field.words if field else ()) + WORDS.get(option, ())


def takes_list(option: str) -> bool:
    """Whether an option takes several values."""
    field = find_fields().get(option)
    return option in LISTS or bool(field and field.is_list)


def in_python(text: str) -> str:
    """A message with Python arguments for options and Python calls for commands; quoted names stay unchanged."""
    for command, call in COMMANDS.items():
        text = re.sub(command, call, text)
    text = re.sub(MARKS, list_marks, text)
    return re.sub(f"{NAME}|{OPTION}", as_argument, text)


def list_marks(match: re.Match[str]) -> str:
    """The Python argument for texts that mean missing, some of which stand behind `=`."""
    words = [word.removeprefix("--null-values=") for word in shlex.split(match[0])]
    return f"null_values={[word for word in words if word != '--null-values']}"


def as_argument(match: re.Match[str]) -> str:
    """The Python argument for a matched option, with its example value where there is one."""
    option, example = match["option"], match["example"] or ""
    if option is None:
        return match[0]
    field, rest = find_fields().get(option), match[0].removeprefix(f"--{option}")
    name = field.name if field else RENAMED.get(option, option.replace("-", "_"))
    if option in FLAGS or (field and field.is_switch):
        is_named = rest == "" and match.string.startswith(":", match.end())
        is_left_out = re.search(LEFT_OUT, match.string[: match.start()], re.I)
        return (name if is_named or is_left_out else FLAGS.get(option, f"{name}=True")) + rest
    value = as_value(option, example, match.string[match.end() :])
    comma = "," * match.string.startswith(" --", match.end())
    return f"{name}={value}{comma}" if value else name + rest


def as_value(option: str, example: str, following: str) -> str:
    """An example value in the syntax of Python; empty where the text behind the option is no value that it takes."""
    parts = [part for part in re.split(r"[ ,]", example) if part and not example.startswith(QUOTE)]
    if "..." in parts or (takes_list(option) and (example.isupper() or len(parts) > 1)):
        return f"[{', '.join(part if part.isupper() or is_plain(part) else repr(part) for part in parts)}]"
    if option in BY_COLUMN and "=" in example:
        column, _, value = example.strip(QUOTE).rpartition("=")
        return f"{{{column.strip(QUOTE)!r}: {value if is_plain(value) else repr(value)}}}"
    if is_plain(example) or example.isupper():
        return example
    if example.endswith("%"):
        return f"{float(example[:-1]) / 100:g}"
    is_column = option == "person" and re.match(r"[.,;)]|$", following)
    return f'"{example.strip(QUOTE)}"' if example and (is_column or example in find_words(option)) else ""


def is_plain(part: str) -> bool:
    """Whether a text is a number, or `...`."""
    return part == "..." or bool(re.fullmatch(NUMBER, part))

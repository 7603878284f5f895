"""Plan: a request as a file, kech.toml, which every command reads."""

import os
import re
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from kech.errors import BadOption, BadPlan, NoSuchFile, UsageError, check_path
from kech.errors.wording import in_python
from kech.request.parts import OLD_GRIDS
from kech.request.request import FIELDS, PARTS, Request, check_section

REPEATED = re.compile("overwrite|declare .* twice|mutate")  # words of the parser
# Words of plans of earlier versions, and what to write now.
RENAMED = (("cut", "style"), ("labels", "form"))
SECTIONS = {
    "table": "[table] is now [input]",
    "reading": "[reading] is now [input]",
    "roles": "[roles] is now [columns]",
}
OLD_VALUES = {
    "grid": {
        old: f'grid = "{grid}"' + (f' with protect = "{protect}"' if protect else "")
        for old, (grid, protect) in OLD_GRIDS.items()
    },
    "kind": {
        "numeric": 'kind = "number"',
        "ordinal": 'kind = "ordered"',
        "categorical": 'kind = "set", or kind = "hierarchy" for codes such as ZIP',
    },
    "labels": {"brackets": 'labels = "text"'},
}


def read_request(path: str | PathLike[str]) -> Request:
    """The request in a plan file; paths in it are relative to the folder of the file."""
    check_path(path)
    file = Path(path)
    if not file.is_file():
        raise NoSuchFile(path)
    try:
        plan = msgspec.toml.decode(file.read_bytes())
        if renamed := dict.fromkeys(find_old_words(plan)):
            raise BadPlan(path, f"it is for an earlier version of kech. Change these words: {'; '.join(renamed)}.")
        for name in plan:
            check_section(name, "a plan", "it below [{part}]")
        for section, name in find_paths(plan):
            section[name] = os.fspath(file.parent / section[name])
        return Request(**plan)
    except msgspec.DecodeError as fault:
        raise BadPlan(path, explain_fault(str(fault))) from None
    except UnicodeDecodeError:
        raise BadPlan(path, "it is not UTF-8. Save it as UTF-8.") from None
    except TypeError:
        raise BadPlan(path, "a path in it is not a text. Write it in double quotes.") from None
    except BadOption as refusal:
        raise BadPlan(path, locate_in_plan(refusal)) from None


def explain_fault(fault: str) -> str:
    """The place where a plan is not TOML, and what to write; the message of the parser could show a value."""
    position = re.search(r"line \d+, column \d+", fault)
    repeats = "a field or section is written twice. Omit one of the two."
    syntax = 'it is not TOML. Write fields as NAME = VALUE, texts in double quotes and lists as ["a", "b"].'
    return f"{position[0] if position else 'at its end'}: {repeats if REPEATED.search(fault) else syntax}"


def locate_in_plan(refusal: BadOption) -> str:
    """The refusal of a value, with the field and section of the plan in place of the option."""
    field = next((field for field in FIELDS.values() if field.option == refusal.option), None)
    name = f"{field.name} in [{field.part}]" if field and field.part in PARTS else in_python(refusal.option)
    return f"{name}: {in_python(refusal.reason)}"


def write_plan(request: Request, folder: str | PathLike[str] = ".", note: str = "") -> str:
    """The text of a plan file in this folder: a note as comment, then the request; paths are relative to the folder."""
    plan = msgspec.to_builtins(request, enc_hook=write_path)
    for section, name in find_paths(plan):
        section[name] = relative_path(section[name], folder)
    lines = "".join(f"# {line}\n" for line in note.splitlines())
    return (f"{lines}\n" if note else "") + tomli_w.dumps(omit_empty(plan))


def relative_path(path: str | PathLike[str], folder: str | PathLike[str]) -> str:
    """The path of a file as seen from a folder; the whole path where Windows has them on two drives."""
    try:
        return os.path.relpath(path, folder)
    except ValueError:
        return str(Path(path).absolute())


def find_paths(plan: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Every section and field of a plan that names a file or folder."""
    fields = [(get_section(plan, "columns"), "hierarchies"), (get_section(plan, "labels"), "key_file")]
    axes = get_section(plan, "axes")
    for section, name in (*fields, *((get_section(axes, column), "hierarchy") for column in axes)):
        if section.get(name) is not None:
            yield section, name


def get_section(plan: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A section of a plan; empty where it is missing."""
    section = plan.get(name)
    return section if isinstance(section, dict) else {}


def write_path(value: Any) -> Any:
    """A path as text; any other object is refused, since TOML cannot hold it."""
    if isinstance(value, PathLike):
        return os.fspath(value)
    raise UsageError("A plan names hierarchies by their files. Write each hierarchy to a file, and name that file.")


def omit_empty(value: Any) -> Any:
    """The same dictionary without None, which TOML lacks, and without empty sections."""
    if not isinstance(value, dict):
        return value
    inner = {key: omit_empty(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each is not None and each != {}}


def find_old_words(plan: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each outdated word of a plan, with its replacement."""
    yield from (SECTIONS[name] for name in plan if name in SECTIONS)
    yield from (
        f"{old} in [{section}] is now {section}" for section, old in RENAMED if old in get_section(plan, section)
    )
    if "hierarchies" in plan:
        yield "hierarchies is now hierarchies in [columns]"
    release, axes = get_section(plan, "release"), get_section(plan, "axes")
    for name in release:
        field = FIELDS.get(name)
        yield f"{name} in [release] is now {name} in [{field.part}]" if field else f"{name} no longer exists"
    for section in (plan, release, get_section(plan, "labels"), *(get_section(axes, column) for column in axes)):
        for name, values in OLD_VALUES.items():
            old = section.get(name)
            if isinstance(old, str) and old in values:
                yield f'{name} = "{old}" is now {values[old]}'

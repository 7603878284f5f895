"""Plan: a request as a file, kech.toml, which every command reads."""

import os
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from kech.errors import BadOption, BadPlan, NoSuchFile, UsageError
from kech.request.request import FIELDS, Request

# Words of plans before version 0.2, and what to write now.
SECTIONS = {"table": "[table] is now [reading]", "roles": "[roles] is now [columns]"}
OLD_GRIDS = {
    "auto": 'grid = "auto" is now grid = "round"',
    "loose": 'grid = "loose" is now grid = "round" with protect = "ends"',
    "tight": 'grid = "tight" is now grid = "round" with protect = "none"',
}
OLD_KINDS = {
    "numeric": 'kind = "numeric" is now kind = "number"',
    "ordinal": 'kind = "ordinal" is now kind = "ordered"',
    "categorical": 'kind = "categorical" is now kind = "set", or kind = "hierarchy" for codes such as ZIP',
}


def read_request(path: str | PathLike[str]) -> Request:
    """Read a plan file; paths in it count from its own folder."""
    file = Path(path)
    if not file.is_file():
        raise NoSuchFile(path)
    try:
        plan = msgspec.toml.decode(file.read_bytes())
        if renamed := dict.fromkeys(find_old_words(plan)):
            raise BadPlan(path, f"it is written in the words of an earlier kech. {'; '.join(renamed)}.")
        for section, name in paths_in(plan):
            section[name] = os.fspath(file.parent / section[name])
        return msgspec.convert(plan, Request)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError) as fault:
        raise BadPlan(path, f"{fault}.") from None
    except BadOption as refusal:
        raise BadPlan(path, refusal.typed) from None


def write_plan(request: Request, folder: str | PathLike[str] = ".", note: str = "") -> str:
    """The text of a plan file in this folder, below a note; paths count from the folder."""
    plan = msgspec.to_builtins(request, enc_hook=refuse_object)
    for section, name in paths_in(plan):
        section[name] = os.path.relpath(section[name], folder)
    return (f"# {note}\n\n" if note else "") + tomli_w.dumps(without_nothing(plan))


def paths_in(plan: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Where a plan names files and folders."""
    places = [(section_of(plan, "columns"), "hierarchies"), (section_of(plan, "labels"), "key_file")]
    axes = section_of(plan, "axes")
    for section, name in (*places, *((section_of(axes, column), "hierarchy") for column in axes)):
        if section.get(name) is not None:
            yield section, name


def section_of(plan: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A section of a plan; an empty one where there is none."""
    found = plan.get(name)
    return found if isinstance(found, dict) else {}


def refuse_object(value: Any) -> Any:
    """Only paths can be written to a file."""
    if isinstance(value, PathLike):
        return os.fspath(value)
    raise UsageError("A plan names hierarchies by their files. Write each to a file first, and name that.")


def without_nothing(value: Any) -> Any:
    """TOML has no null; empty sections say nothing."""
    if not isinstance(value, dict):
        return value
    inner = {key: without_nothing(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each is not None and each != {}}


def find_old_words(plan: Mapping[str, Any]) -> Iterator[str]:
    """What a plan of an earlier version says, and how it is said now."""
    yield from (SECTIONS[name] for name in plan if name in SECTIONS)
    if "hierarchies" in plan:
        yield "hierarchies is now hierarchies in [columns]"
    release, axes = section_of(plan, "release"), section_of(plan, "axes")
    for name in release:
        field = FIELDS.get(name)
        yield f"{name} in [release] is now {field.attribute} in [{field.part}]" if field else f"{name} is gone"
    for section in (release, *(section_of(axes, column) for column in axes)):
        yield from (said for word, said in OLD_GRIDS.items() if section.get("grid") == word)
        yield from (said for word, said in OLD_KINDS.items() if section.get("kind") == word)

"""Reference: the fields of a request as the manual and the studio show them."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from kech.request.parts import CUTS, AxisChoice, Field, fields_of
from kech.request.request import FIELDS, PARTS

HEADINGS = {
    "columns": "Columns",
    "goal": "Goal",
    "cut": "Cut",
    "labels": "Labels",
    "reading": "How the file is read",
    "limits": "Limits of the machine",
    "series": "Series of releases",
}


def heading_of(field: Field) -> str:
    """The heading under which an option is shown; axes are about columns."""
    return HEADINGS.get(field.part, HEADINGS["columns"])


def describe_fields() -> list[dict[str, Any]]:
    """Every field, for pages that make forms of them."""
    return [
        {
            "name": field.name,
            "part": field.part,
            "option": field.option,
            "help": field.help,
            "choices": list(field.choices),
            "default": field.default if isinstance(field.default, str | int | float) else None,
            "example": field.example,
        }
        for field in FIELDS.values()
    ]


def describe_cuts() -> dict[str, dict[str, Any]]:
    """Every way to part rows into classes, with the rules of what can be asked of it."""
    return {name: asdict(rules) for name, rules in CUTS.items()}


def render_reference() -> str:
    """Every field in Markdown, one table for each section of the plan file."""
    titles = {"axes.NAME": fields_of(AxisChoice)} | {part: fields_of(PARTS[part]) for part in PARTS}
    return "\n\n".join(f"### `[{title}]`\n\n{render_table(fields)}" for title, fields in titles.items()) + "\n"


def render_table(fields: Iterable[Field]) -> str:
    """A table in Markdown: the word of the plan file, the option, its default, an example and what it does."""
    lines = ["| plan | option | default | example | what it does |", "|---|---|---|---|---|"]
    for field in fields:
        option = f"`{field.option}`" if field.name in FIELDS and FIELDS[field.name].part == field.part else "`--axis`"
        cells = (f"`{field.name}`", option, format_default(field), f"`{field.example}`", field.help)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def format_default(field: Field) -> str:
    """A default as a plan file has it; nothing where a field may be absent."""
    default = str(field.default).lower() if isinstance(field.default, bool) else field.default
    return "" if field.default in (None, (), {}) else f"`{default}`"

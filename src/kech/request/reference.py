"""Reference: the fields of a request as the manual and the studio show them."""

from collections.abc import Iterable
from typing import Any

from kech.request.field import Field, fields_of
from kech.request.parts import AxisChoice
from kech.request.request import FIELDS, PARTS

HEADINGS = {
    "columns": "Columns",
    "goal": "Goal",
    "cut": "Cut",
    "labels": "Labels",
    "reading": "How the file is read",
    "limits": "Limits of the machine",
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
            "attribute": field.attribute,
            "option": field.option,
            "help": field.help,
            "choices": list(field.choices),
            "default": field.default if isinstance(field.default, str | int | float) else None,
            "example": field.example,
        }
        for field in FIELDS.values()
    ]


def render_reference() -> str:
    """Every field in Markdown, one table for each section of the plan file."""
    titles = {"axes.NAME": fields_of(AxisChoice)} | {part: fields_of(PARTS[part]) for part in PARTS}
    return "\n\n".join(f"### `[{title}]`\n\n{render_table(fields)}" for title, fields in titles.items()) + "\n"


def render_table(fields: Iterable[Field]) -> str:
    """A table in Markdown: the word of the plan file, the option, its default, an example and what it does."""
    lines = ["| plan | option | default | example | what it does |", "|---|---|---|---|---|"]
    for field in fields:
        option = f"`{field.option}`" if field.name in FIELDS and FIELDS[field.name].part == field.part else "`--axis`"
        cells = (f"`{field.attribute}`", option, shown_default(field), f"`{field.example}`", field.help)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def shown_default(field: Field) -> str:
    """A default as a plan file has it; nothing where a field may be absent."""
    return "" if field.default in (None, (), {}) else f"`{field.default}`"

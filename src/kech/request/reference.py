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
    "input": "How the file is read",
    "limits": "Limits of the machine",
    "series": "Series of releases",
}


def heading_of(field: Field) -> str:
    """The heading under which the help shows an option; options about axes are below columns."""
    return HEADINGS.get(field.part, HEADINGS["columns"])


def describe_fields() -> list[dict[str, Any]]:
    """Every field as a dictionary, for the forms of the studio."""
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
    """Every cut with its purpose and the options it accepts."""
    return {name: asdict(rules) for name, rules in CUTS.items()}


def render_reference() -> str:
    """All fields in Markdown: one table for each section of the plan file."""
    sections: dict[str, Iterable[Field]] = {"axes.NAME": fields_of(AxisChoice)} | {
        part: [field for field in FIELDS.values() if field.part == part] for part in PARTS
    }
    return "\n\n".join(f"### `[{title}]`\n\n{render_table(fields)}" for title, fields in sections.items()) + "\n"


def render_table(fields: Iterable[Field]) -> str:
    """A table in Markdown: name in the plan file, option, default, example and help of each field."""
    lines = ["| plan | option | default | example | what it does |", "|---|---|---|---|---|"]
    for field in fields:
        option = f"`{field.option}`" if field.name in FIELDS and FIELDS[field.name].part == field.part else "`--axis`"
        cells = (f"`{field.name}`", option, format_default(field), f"`{field.example}`", field.help)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def format_default(field: Field) -> str:
    """The default in the syntax of a plan file; empty where a field has none."""
    default = str(field.default).lower() if isinstance(field.default, bool) else field.default
    return "" if field.default in (None, (), {}) else f"`{default}`"

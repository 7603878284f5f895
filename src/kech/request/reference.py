"""Reference: the fields of a request as the manual and the studio show them."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from math import isfinite
from typing import Any

from kech.request.parts import (
    AXIS_KINDS,
    CUTS,
    L_KINDS,
    ROLES,
    SENSITIVE_GOALS,
    AxisChoice,
    Field,
    NumberRange,
    fields_of,
)
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


def describe_forms() -> dict[str, Any]:
    """What forms are built from: all fields, the roles of columns, and the rules of cuts, kinds of l and axes."""
    axis = {f"axes.{field.name}": replace(field, part="axes") for field in fields_of(AxisChoice)}
    return {
        "fields": {name: describe_field(field) for name, field in (FIELDS | axis).items()},
        "roles": {role: field for field, role in ROLES.items()},
        "sensitive_goals": SENSITIVE_GOALS,
        "cuts": describe_rules(CUTS),
        "l_kinds": describe_rules(L_KINDS),
        "axis_kinds": describe_rules(AXIS_KINDS),
    }


def describe_rules(rules: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The rules of every choice as a dictionary."""
    return {name: asdict(each) for name, each in rules.items()}


def describe_field(field: Field) -> dict[str, Any]:
    """A field for a form: its words, its default, and the values that it accepts or offers."""
    about = {name: getattr(field, name) for name in ("part", "option", "help", "example", "choices", "offered")}
    default = field.default if isinstance(field.default, str | int | float) else field.usual
    return about | {"default": default, "numbers": field.numbers and describe_range(field.numbers)}


def describe_range(numbers: NumberRange) -> dict[str, Any]:
    """The ends of a number box in a form, and its step; a limit that is itself refused lies one step away."""
    least = numbers.least + numbers.step if numbers.above else numbers.least
    most = numbers.most - numbers.step if numbers.below else numbers.most
    return {"min": least, "max": most if isfinite(most) else None, "step": numbers.step}


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
        option = f"`{field.option}`" if field.name == "domain" or is_option(field) else "`--axis`"
        cells = (f"`{field.name}`", option, format_default(field), f"`{field.example}`", field.help)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def is_option(field: Field) -> bool:
    """Whether a field has an option of its own; those of one axis share theirs."""
    return field.name in FIELDS and FIELDS[field.name].part == field.part


def format_default(field: Field) -> str:
    """The default in the syntax of a plan file; empty where a field has none."""
    default = str(field.default).lower() if isinstance(field.default, bool) else field.default
    return "" if field.default in (None, (), {}) else f"`{default}`"

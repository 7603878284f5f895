"""Field: one thing that a user may ask for, with the words that explain it and what its value must be.

Command line, plan file, manual and studio show a field by what stands here.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from typing import Any, get_type_hints

import msgspec

from kech.errors import BadOption

OPTIONS = {"quasi_identifiers": "--qi", "axes": "--axis"}  # that are not called as their fields


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a request."""

    help: str
    example: str = ""  # a value, as it is typed
    name: str = ""  # of the option and of the keyword, where they differ from the attribute
    choices: tuple[str, ...] = ()
    accepts: Callable[[Any], bool] | None = None
    reason: str = ""  # what a value must be, said where it is not
    drops: tuple[str, ...] = ()  # fields of which an earlier word no longer counts
    first: bool = False  # most people need it
    public: bool = False  # the certificate states it
    percent: bool = False  # it may be typed as 2%
    attribute: str = ""  # this and the rest follow from where the field is defined
    part: str = ""
    type: Any = None
    default: Any = None

    @property
    def option(self) -> str:
        """The option of the command line."""
        return OPTIONS.get(self.name, f"--{self.name.replace('_', '-')}")

    def check(self, value: Any) -> None:
        """Refuse a value that the field cannot have."""
        if value is None or not (self.choices or self.accepts):
            return
        try:
            holds = self.accepts(value) if self.accepts else value in self.choices
        except (TypeError, ValueError):
            holds = False
        if not holds:
            raise BadOption(self.option, self.reason or f"choose among {', '.join(self.choices)}.")


class Part(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """A part of a request, a section of its file; values are checked as soon as they are said."""

    def __post_init__(self) -> None:
        for field in fields_of(type(self)):
            field.check(getattr(self, field.attribute))


@cache
def fields_of(part: type[Part]) -> tuple[Field, ...]:
    """The fields of a part, each with its name, type and default."""
    hints = get_type_hints(part, include_extras=True)
    return tuple(
        replace(
            about,
            attribute=attribute,
            name=about.name or attribute,
            part=part.__name__.lower(),
            type=hints[attribute].__origin__,
            default=default,
        )
        for attribute, default in zip(part.__struct_fields__, part.__struct_defaults__, strict=True)
        for about in getattr(hints[attribute], "__metadata__", ())
    )


def settle(part: Part, **values: Any) -> None:
    """Put values of a part, as soon as it is made, into their usual form."""
    for name, value in values.items():
        msgspec.structs.force_setattr(part, name, value)


def is_whole(value: Any, least: int, most: float = inf) -> bool:
    """Whether a value is a whole number between two others."""
    return not isinstance(value, bool) and least <= operator.index(value) <= most

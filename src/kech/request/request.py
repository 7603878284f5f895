"""Request: everything that a user asks for, as one object, one file (kech.toml) and one set of options.

In: a plan file, options of the command line, or keywords of Python.  Out: a `Request` whose values are checked.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Self

import msgspec

from kech.errors import BadOption
from kech.request.field import Field, Part, fields_of, settle
from kech.request.parts import AXIS_KINDS, AxisChoice, Columns, Cut, Goal, Labels, Limits, Reading

Axes = Annotated[
    dict[str, AxisChoice],
    Field(
        "Kind of an axis: age=number, born=date, zip=hierarchy, job=set, city=star, or an order, low to high: "
        "size=S<M<L.",
        "zip=hierarchy",
    ),
]


class Request(Part, frozen=True):
    """Everything that decides a release, except the rows."""

    columns: Columns = msgspec.field(default_factory=Columns)
    axes: Axes = msgspec.field(default_factory=dict)
    goal: Goal = msgspec.field(default_factory=Goal)
    cut: Cut = msgspec.field(default_factory=Cut)
    labels: Labels = msgspec.field(default_factory=Labels)
    reading: Reading = msgspec.field(default_factory=Reading)
    limits: Limits = msgspec.field(default_factory=Limits)

    def __post_init__(self) -> None:
        settle(self, axes={name: as_choice(name, choice, None) for name, choice in self.axes.items()})
        if self.cut.eps is not None and self.cut.style != "regime":
            raise BadOption("--eps", "only --cut regime takes it.")
        if self.cut.field != 2 and not self.is_homological:
            raise BadOption("--field", "only the homological reading of the regime cut takes it.")
        if self.cut.style == "domain" and self.labels.protect in ("full", "ends"):
            raise BadOption("--protect", "--cut domain prints whole levels, whose ends are never moved.")

    @property
    def is_homological(self) -> bool:
        """Whether the regime cut is by homology."""
        return self.cut.style == "regime" and self.cut.reading == "homological" and self.cut.eps is None

    def override(self, **said: Any) -> Self:
        """The same request but for some fields, named as options and keywords are; None says nothing."""
        said = {name: value for name, value in said.items() if value is not None}
        if said.get("cut", "regime") != "regime":  # what was said of the regime cut is of no use to another
            said = {"reading": "strict", "field": 2} | said
        for name in [*said]:
            dropped = [other for other in find_field(name).drops if other not in said]
            said |= {other: FIELDS[other].default for other in dropped}
        parts: dict[str, dict[str, Any]] = {}
        for name, value in said.items():
            parts.setdefault(FIELDS[name].part, {})[FIELDS[name].attribute] = value
        said_axes = parts.pop("request", {}).get("axes", {})
        axes = {name: as_choice(name, choice, self.axes.get(name)) for name, choice in said_axes.items()}
        changed = {part: msgspec.structs.replace(getattr(self, part), **values) for part, values in parts.items()}
        return msgspec.structs.replace(self, axes=self.axes | axes, **changed)

    def public(self) -> dict[str, Any]:
        """What a certificate states: the fields that decide labels, where they say something."""
        said = {name: self.value(name) for name, field in FIELDS.items() if field.public}
        said["protect"] = "none" if self.cut.style == "domain" else self.labels.on(AxisChoice())[1]
        silent = {
            "l_kind": self.goal.l is None,
            "t_kind": self.goal.t is None,
            "reading": self.cut.style != "regime" or self.cut.eps is not None,
            "field": not self.is_homological,
            "suppress": not self.cut.suppress,
        }
        return {name: value for name, value in said.items() if value is not None and not silent.get(name)}

    def value(self, name: str) -> Any:
        """The value of a field, named as options and keywords are."""
        field = FIELDS[name]
        return getattr(self if field.part == "request" else getattr(self, field.part), field.attribute)


PARTS: dict[str, type[Part]] = {
    "columns": Columns,
    "goal": Goal,
    "cut": Cut,
    "labels": Labels,
    "reading": Reading,
    "limits": Limits,
}
FIELDS = {field.name: field for part in (Request, *PARTS.values()) for field in fields_of(part)}


def find_field(name: str) -> Field:
    """The field of an option or a keyword."""
    if name not in FIELDS:
        close = get_close_matches(name, FIELDS, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"Choose among {', '.join(FIELDS)}."
        raise BadOption(name, f"there is no such field of a request. {hint}")
    return FIELDS[name]


def check_k(k: int) -> int:
    """A number of rows, 1 or more: the only place where the maker checks k."""
    FIELDS["k"].check(k)
    return k


def as_choice(column: str, choice: AxisChoice | str | Sequence[str], known: AxisChoice | None) -> AxisChoice:
    """How a column is generalized; a kind or an order alone says nothing else of what is known."""
    if isinstance(choice, str):
        if choice not in AXIS_KINDS:
            raise BadOption("--axis", f"column {column!r} can be {', '.join(AXIS_KINDS[:-1])} or {AXIS_KINDS[-1]}.")
        choice = msgspec.structs.replace(known or AxisChoice(), kind=choice, order=())
    elif not isinstance(choice, AxisChoice):
        choice = msgspec.structs.replace(known or AxisChoice(), kind="ordered", order=tuple(choice))
    if (choice.kind == "ordered") != bool(choice.order):
        reason = f"an ordered axis names its order, low to high: {column}=low<middle<high."
        raise BadOption("--axis", f"column {column!r}: {reason}")
    return choice

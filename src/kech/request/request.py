"""Request: everything that a user asks for, as one object, one file (kech.toml) and one set of options.

In: a plan file, options of the command line, or keywords of Python.  Out: a `Request` with checked values.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Self

import msgspec

from kech.errors import BadOption, GoalNotMet, TooFewRows, unusable_value
from kech.request.parts import (
    AXIS_KINDS,
    CUTS,
    DEFAULT_AXIS,
    ROLES,
    AxisChoice,
    Columns,
    Cut,
    Field,
    Goal,
    Input,
    Labels,
    Limits,
    Part,
    SeriesPolicy,
    as_names,
    build_part,
    check_known,
    fields_of,
    set_fields,
)

LARGEST_K = 100  # of spectra, curves, profiles and pages for which no k is named

PARTS: dict[str, type[Part]] = {
    "columns": Columns,
    "goal": Goal,
    "cut": Cut,
    "labels": Labels,
    "input": Input,
    "limits": Limits,
    "series": SeriesPolicy,
}
Axes = Annotated[
    dict[str, AxisChoice],
    Field(
        "Kind of an axis: age=number, born=date, zip=hierarchy, job=set, city=star; or an order from low to high: "
        "size=S<M<L.",
        "zip=hierarchy",
    ),
]


class Request(Part, frozen=True):
    """Everything that decides a release, except the rows; a part may be given as a dictionary of its fields."""

    columns: Columns = msgspec.field(default_factory=Columns)
    axes: Axes = msgspec.field(default_factory=dict)
    goal: Goal = msgspec.field(default_factory=Goal)
    cut: Cut = msgspec.field(default_factory=Cut)
    labels: Labels = msgspec.field(default_factory=Labels)
    input: Input = msgspec.field(default_factory=Input)
    limits: Limits = msgspec.field(default_factory=Limits)
    series: SeriesPolicy = msgspec.field(default_factory=SeriesPolicy)

    def __post_init__(self) -> None:
        set_fields(self, **{name: build_part(kind, name, getattr(self, name)) for name, kind in PARTS.items()})
        if not isinstance(self.axes, Mapping):
            raise unusable_value("--axis", "Name the kind of each column: {'zip': 'hierarchy'}.")
        set_fields(self, axes={name: parse_axis_choice(name, choice, None) for name, choice in self.axes.items()})
        self.check_radius()
        if self.goal.protect_history and not CUTS[self.cut.cut].keeps_histories:
            raise BadOption("--protect-history", "only --cut local keeps the rows of a person together. Omit --cut.")
        if self.cut.by_level and self.labels.protect in ("full", "ends"):
            raise BadOption("--protect", "--cut domain writes whole levels and never moves their ends. Omit it.")
        if self.cut.target is not None and CUTS[self.cut.cut].by_components:
            raise BadOption("--for", "weights of columns change no component. Choose --cut local, or omit --for.")
        if not self.is_default("objective"):
            self.check_objective()
        if self.cut.gap is not None:
            self.check_gap()
        if self.goal.dp_epsilon is not None:
            self.check_sampled()
        elif self.cut.levels is not None and not self.cut.by_level:
            raise BadOption("--levels", "only --cut domain has levels. Add --cut domain, or omit it.")

    def check_radius(self) -> None:
        """Refuse eps, a metric or a field of numbers beside a cut that does not use it."""
        if self.cut.eps is not None and not CUTS[self.cut.cut].by_components:
            raise BadOption("--eps", "only --cut regime uses a radius. Add --cut regime, or say --k 5 instead.")
        if not self.is_default("field") and not self.is_homological:
            raise BadOption("--field", "only the homological reading of --cut regime uses it. Omit it.")
        if not self.is_default("metric") and not CUTS[self.cut.cut].measures_balls:
            raise BadOption("--metric", "only --cut minimal measures balls. Add --cut minimal, or omit --metric.")
        if not self.is_default("metric") and self.cut.suppress:
            raise BadOption("--suppress", "rows are left out by boxes only. Omit it, or use --metric box.")
        if self.cut.suppress and self.cut.eps is not None:
            raise BadOption(
                "--suppress", "with --eps every component is a class. Omit it, or say --k instead of --eps."
            )

    def check_objective(self) -> None:
        """Refuse variance beside what only widths decide."""
        if not CUTS[self.cut.cut].has_objective:
            raise BadOption("--objective", "only --cut local can make variance small. Omit --cut, or --objective.")
        if self.columns.person:
            raise BadOption("--objective", "variance counts rows, and here k counts people. Omit it.")
        others = {
            "--suppress": self.cut.suppress,
            "--gap": self.cut.gap is not None,
            "--protect-history": self.goal.protect_history,
        }
        for option in (option for option, is_used in others.items() if is_used):
            raise BadOption(option, "it goes by widths. Omit it, or --objective variance.")

    def check_gap(self) -> None:
        """Refuse to stop at a proven gap beside what no bound is known for before a search."""
        if not CUTS[self.cut.cut].stops_at_gap:
            raise BadOption("--gap", "only --cut local searches for the lowest loss. Omit it.")
        others = {
            "--suppress": self.cut.suppress,
            "--protect-history": self.goal.protect_history,
            "--l, --t and --alpha": self.goal.has_sensitive_goals,
        }
        for options in (options for options, are_used in others.items() if are_used):
            raise BadOption("--gap", f"nothing is proven of a search with {options}. Omit it.")

    def check_sampled(self) -> None:
        """Refuse differential privacy beside a cut or an option for which its theorem is not proven."""
        if not self.cut.by_level:
            self.goal.refuse_sample(f"with --cut {self.cut.cut} the rows decide the labels. Say --cut domain.")
        if self.goal.has_sensitive_goals:
            self.goal.refuse_sample("it has no sensitive columns for --l, --t and --alpha. Omit these.")
        if self.columns.person:
            self.goal.refuse_sample("it hides single rows, and not somebody with several (--person). Omit --person.")
        if self.columns.sensitive or self.columns.keep:
            reason = "cells that are published as they are tell of single rows (--sensitive, --keep)"
            self.goal.refuse_sample(f"{reason}. Make these columns quasi-identifiers.")
        if self.cut.suppress:
            raise BadOption("--suppress", "with --dp-epsilon every class of fewer than k is omitted. Omit it.")
        if self.input.fold_variants:
            raise BadOption("--fold-variants", "with --dp-epsilon no row may decide how others are read. Omit it.")

    @classmethod
    def refuse_unknown(cls, name: str) -> None:
        """Refuse a keyword that is not the name of a section."""
        check_section(
            name, "a request", "kech.Request({part}={{{name!r}: ...}}), or kech.Request().override({name}=...)"
        )

    @property
    def is_homological(self) -> bool:
        """Whether the cut is regime with the homological reading."""
        return CUTS[self.cut.cut].by_components and self.cut.reading == "homological" and self.cut.eps is None

    def override(self, **fields: Any) -> Self:
        """A copy of the request with new values of some fields; None leaves a field unchanged."""
        fields = {name: value for name, value in fields.items() if value is not None}
        FIELDS["cut"].check(fields.get("cut"))
        rules = CUTS.get(fields.get("cut", ""))
        if rules and not rules.by_components:  # only cuts by components have these fields
            fields = {name: FIELDS[name].default for name in ("reading", "field")} | fields
        if rules and not rules.measures_balls:
            fields = {"metric": FIELDS["metric"].default} | fields
        if rules and rules.by_components:
            fields = {"target": FIELDS["target"].default} | fields
        if rules and not rules.has_objective:
            fields = {"objective": FIELDS["objective"].default} | fields
        if rules and not rules.by_level:
            fields = {"levels": FIELDS["levels"].default} | fields
        if rules and not rules.stops_at_gap:
            fields = {"gap": FIELDS["gap"].default} | fields
        for name in [*fields]:
            reset = [other for other in find_field(name).resets if other not in fields]
            fields |= {other: FIELDS[other].default for other in reset}
        fields = self.roles_without_reassigned(fields) | fields
        parts: dict[str, dict[str, Any]] = {}
        for name, value in fields.items():
            parts.setdefault(FIELDS[name].part, {})[name] = value
        new_axes = parts.pop("request", {}).get("axes", {})
        axes = {name: parse_axis_choice(name, choice, self.axes.get(name)) for name, choice in new_axes.items()}
        changed = {part: msgspec.structs.replace(getattr(self, part), **values) for part, values in parts.items()}
        return msgspec.structs.replace(self, axes=self.axes | axes, **changed)

    def roles_without_reassigned(self, fields: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        """The columns of each role of this request, without those to which `fields` give another role."""
        reassigned = {name for role in ROLES if role in fields for name in as_names(fields[role], FIELDS[role].option)}
        roles = self.columns.roles().items() if reassigned else ()
        return {role: tuple(name for name in names if name not in reassigned) for role, names in roles}

    def pick_cut(self, cuts: Sequence[str], objective: str | None) -> str | None:
        """The one of these cuts that accepts the most options beside an objective: a request can name only one."""
        for name in cuts:
            FIELDS["cut"].check(name)
        has_objective = (objective or self.cut.objective) != FIELDS["objective"].default
        with_objective = [name for name, rules in CUTS.items() if has_objective and rules.has_objective]
        return next((name for name in (*with_objective, "regime", "minimal", *CUTS) if name in cuts), None)

    def public_parameters(self) -> dict[str, Any]:
        """The parameters in a certificate: the fields that decide labels, without those that have no effect."""
        parameters = {name: self.value(name) for name, field in FIELDS.items() if field.public}
        parameters["protect"] = "none" if self.cut.by_level else self.labels.for_axis(DEFAULT_AXIS)[1]
        unused = {
            "l_kind": self.goal.l is None,
            "t_kind": self.goal.t is None,
            "objective": self.is_default("objective"),
            "metric": self.is_default("metric"),
            "reading": not CUTS[self.cut.cut].by_components or self.cut.eps is not None,
            "field": not self.is_homological,
            "suppress": not self.cut.suppress,
            "protect_history": not self.goal.protect_history,
        }
        return {name: value for name, value in parameters.items() if value is not None and not unused.get(name)}

    def is_default(self, name: str) -> bool:
        """Whether a field has its default."""
        return bool(self.value(name) == FIELDS[name].default)

    def value(self, name: str) -> Any:
        """The value of a field, by its name."""
        part = FIELDS[name].part
        return getattr(self if part == "request" else getattr(self, part), name)


FIELDS = {
    field.name: replace(field, part=section)
    for section, part in {"request": Request, **PARTS}.items()
    for field in fields_of(part)
}


def check_section(name: str, whole: str, place: str) -> None:
    """Refuse a name that is no section of a request or plan; for a field, name its section and the place for it."""
    field = None if name in ("axes", *PARTS) else FIELDS.get(name)
    if field:
        where = place.format(part=field.part, name=name)
        raise BadOption(name, f"it is a field of the section {field.part}. Write {where}.")
    check_known(name, ("axes", *PARTS), f"{whole} has no such section.")


def find_field(name: str) -> Field:
    """The field of this name, or a refusal that suggests one: by its option too, as `qi` for quasi_identifiers."""
    reason = "a request has no such field."
    for field in FIELDS.values() if name not in FIELDS else ():
        if field.option == f"--{name.replace('_', '-')}":
            raise BadOption(name, f"{reason} Did you mean {field.name!r}?")
    check_known(name, FIELDS, reason)
    return FIELDS[name]


def check_k(k: int) -> int:
    """k, checked: a number of rows, 1 or more.  Only this function checks k for the maker of a release."""
    FIELDS["k"].check(k)
    return k


def check_ks(
    ks: int | Sequence[int] | None, most: int, too_few: Callable[[int, int], GoalNotMet] = TooFewRows
) -> list[int]:
    """The values of k, checked against the number of rows or people, ascending; by default 2 to 100."""
    ks_to_check = range(2, min(LARGEST_K, most) + 1) if ks is None else ks if isinstance(ks, Iterable) else [ks]
    chosen = sorted({check_k(k) for k in ks_to_check})
    if not chosen:
        raise too_few(most, 2)
    if chosen[-1] > most:
        raise too_few(most, chosen[-1])
    return chosen


def needs_order(kind: str | None) -> bool:
    """Whether an axis of this kind is defined by an order of its values."""
    return kind is not None and AXIS_KINDS[kind].needs_order


def parse_axis_choice(column: str, choice: Any, before: AxisChoice | None) -> AxisChoice:
    """The axis choice of a column from a kind, an order, a dictionary or a choice; a kind or order updates `before`."""
    axis: AxisChoice
    if isinstance(choice, str):
        if choice not in AXIS_KINDS:
            raise unusable_value("--axis", f"Choose the kind of column {column!r} among {', '.join(AXIS_KINDS)}.")
        before = before or DEFAULT_AXIS
        domain = before.domain if AXIS_KINDS[choice].has_grid else None
        axis = msgspec.structs.replace(before, kind=choice, order=(), domain=domain)
    elif isinstance(choice, AxisChoice | Mapping):
        try:
            axis = build_part(AxisChoice, f"axes.{column}", choice)
        except BadOption as refusal:
            raise BadOption("--axis", f"column {column!r}, {refusal.option.strip('-')}: {refusal.reason}") from None
    else:
        axis = msgspec.structs.replace(before or DEFAULT_AXIS, kind="ordered", order=choice, domain=None)
    if needs_order(axis.kind) != bool(axis.order):
        reason = f"name the order of an ordered axis, from low to high: {column}=low<middle<high."
        raise BadOption("--axis", f"column {column!r}: {reason}")
    return axis

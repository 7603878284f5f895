"""Inspection: what a table holds and which columns could point at a person, before anything is decided."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from kech.audit.roles import Guess, guess_roles
from kech.audit.roles.names import NAME_SAYS
from kech.audit.roles.words import NAME, SHARED_BY_MANY
from kech.axes.grid import Floats, Ints
from kech.axes.spelling import (
    Hint,
    hint_at_categories,
    hint_at_codes,
    hint_at_dates,
    hint_at_far_rows,
    hint_at_mixed,
    hint_at_own_texts,
    hint_at_own_values,
    hint_at_prefixes,
    hint_at_text,
    hint_at_unknown,
    hint_at_variants,
    join_hints,
)
from kech.errors import KechError, ManyValues, unusable_value
from kech.points.people import encode_person, number_tuples
from kech.points.points import build_axis, build_points, hint_at_domain
from kech.release.column_costs import MOST_PRICED, ColumnCost, compute_column_costs
from kech.release.identifying import find_identifying_together, is_identifying
from kech.release.published import NEARLY_ALL
from kech.release.sharing import estimate_given_away
from kech.request import AxisChoice, Labels, Request
from kech.request.parts import USUAL_K
from kech.tables.engine import ColumnFacts
from kech.tables.repeats import Repeat, find_linking_columns
from kech.tables.table import Table, check_is_table

BARS = 24  # of a histogram
MOST_MIXED = 30  # values of a column of numbers and texts that becomes sets
FEWEST_FILLED, MOST_FILLED = 4, 1  # columns of a table with rows that are nearly empty, and their cells at most
FEWEST_HINTED = 20  # rows of a table of which values of one's own mean something
MOST_COUNTED = 100_000  # distinct values of a column that is drawn
WORDS = {
    "number": "intervals of round numbers",
    "date": "intervals of calendar dates",
    "ordered": "ranges of the given order",
    "set": "sets of values",
    "hierarchy": "a hierarchy over {leaves} values",
}
BY_YOU = "named by you"
WHY = {  # why a column is the person, and how sure that is
    "named": ("it names people and repeats", 0.9),
    "stable": ("it repeats as people do", 0.8),
    "bare": ("it numbers something and repeats", 0.7),
    "numbers": ("it numbers something and repeats", 0.6),
    "steady": ("what stays with people is the same in its rows", 0.5),
}


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """One column: what it is and what it seems to be for."""

    column: str
    type: str
    distinct: int
    nulls: int
    role: str
    reason: str
    confidence: float  # of the role, from 0 to 1; 1 where you named it
    histogram: tuple[int, ...] = ()  # rows in equal steps of numbers and dates, or of the most frequent values
    generalized: str | None = None  # how kech would generalize it, for quasi-identifiers
    trouble: str | None = None  # why it could not be generalized as it is
    hint: str | None = None  # what its owner should know
    suggested: str | None = None  # the kind of axis that suits better
    input: dict[str, Any] = field(default_factory=dict)  # how the table should be read
    is_planned: bool = False  # a plan of `inspect` does what the hint says
    repeats: bool = False  # an identifier that several rows share: a plan does not declare it, as releases refuse that


@dataclass(frozen=True, slots=True)
class Inspection:
    """A table at a glance."""

    rows: int
    format: str
    delimiter: str | None
    encoding: str | None
    columns: tuple[ColumnReport, ...]
    quasi_identifiers: tuple[str, ...]
    unique_share: float | None
    k: int | None
    first_rows: list[list[str | None]] | None = None  # as they are read, where they were asked for; PRIVATE
    input: dict[str, Any] = field(default_factory=dict)  # how it was read again, as the hints say
    identifying_together: tuple[tuple[str, ...], ...] = ()  # columns that would point at rows if all were published
    repeated_people: tuple[str, ...] = ()  # what to say of columns that seem to name people and repeat
    counted: str = "rows"  # what k and the unique share count: people, where a column is the person
    costs: tuple[ColumnCost, ...] = ()  # what each quasi-identifier costs the others, the dearest first
    given_away: dict[str, float] = field(default_factory=dict)  # of sensitive columns: share of rows, estimated
    nearly_empty: tuple[int, ...] = ()  # rows with one value or none, and the number of the last, if there are any

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_inspection

        return show_inspection(self)

    def to_json(self) -> dict[str, Any]:
        """The object `kech inspect --json` prints."""
        return asdict(self)


def inspect_table(table: Table, *, rows: int = 0, as_read: bool = False, k: int = 5, costs: bool = True) -> Inspection:
    """Describe every column; measure uniqueness on the quasi-identifiers, named or guessed; show the first rows.

    Where the hints say that the table should be read otherwise, it is read again so, unless it is wanted as read.
    `costs` says what each quasi-identifier costs the others in classes of k, and `given_away` in which share of the
    rows a class of k would share one sensitive value; without `costs` neither is computed.
    """
    check_is_table(table)
    if rows < 0:
        raise unusable_value("--rows", "Write a number of rows, 0 or more.")
    inspection = describe_as_read(table, rows)
    options = suggest_input(table, inspection.columns)
    if as_read or not options:
        return estimate_costs(table, inspection, k) if costs else inspection
    with table.reread(**options) as again:
        better = describe_as_read(again, rows)
        better = estimate_costs(again, better, k) if costs else better
    columns = tuple(with_hint_of(old, new) for old, new in zip(inspection.columns, better.columns, strict=True))
    return replace(better, columns=columns, input=options)


def describe_as_read(table: Table, rows: int) -> Inspection:
    """The inspection of a table as it was read, without costs."""
    facts = {name: table.facts(name) for name in table.loaded}
    guessed = guess_roles(table)
    chosen_roles = {name: role for name in table.loaded if (role := given_role(table, name))}
    guessed |= {name: replace(role, is_code=guessed[name].is_code) for name, role in chosen_roles.items()}
    guessed |= guess_person(table, guessed)
    chosen = tuple(name for name, each in guessed.items() if each.role == "quasi-identifier")
    person = [name for name, each in guessed.items() if each.role == "person"]
    share, k = measure_uniqueness(table, chosen, person)
    source = table.source
    reports = tuple(describe(table, name, facts[name], guessed[name]) for name in table.loaded)
    first = table.head(rows) if rows else None
    as_they_are = [name for name, each in guessed.items() if each.role == "sensitive" or name in table.keep]
    together = tuple(map(tuple, find_identifying_together(table, as_they_are))) if table.rows else ()
    about = (table.rows, source.format, source.delimiter, source.encoding, reports, chosen, share, k, first)
    links = find_planned_links(table, person, as_they_are)
    repeated = tuple(say_repeats([*table.repeats, *find_repeated_identifiers(table, guessed), *links]))
    counted = "people" if person else "rows"
    says: dict[str, Any] = {"identifying_together": together, "repeated_people": repeated, "counted": counted}
    return Inspection(*about, **says, nearly_empty=find_nearly_empty(table))


def find_nearly_empty(table: Table) -> tuple[int, ...]:
    """Rows with one value or none, as sums and blank lines are, and the number of the last; none in a narrow table."""
    if len(table.loaded) < FEWEST_FILLED or not table.rows:
        return ()
    rows, last = table.engine.count_nearly_empty([table.index(name) for name in table.loaded], MOST_FILLED)
    return (rows, last) if rows else ()


def estimate_costs(table: Table, inspection: Inspection, k: int) -> Inspection:
    """The inspection with what classes of k would cost and give away; unchanged for a very large table."""
    usable = [c for c in inspection.columns if c.role == "quasi-identifier" and not c.trouble]
    if not usable or not 0 < table.rows <= MOST_PRICED:
        return inspection
    named = {role: [c.column for c in inspection.columns if c.role == role] for role in ("person", "sensitive")}
    kinds = {c.column: suggest_kind(c) if suggest_kind(c) in ("set", "hierarchy", c.type) else "set" for c in usable}
    roles = {"quasi_identifiers": [column.column for column in usable], "person": named["person"] or None}
    chosen = replace(
        table, request=table.request.override(**roles, sensitive=named["sensitive"], axes=kinds | table.request.axes)
    )
    points = build_points(chosen, with_sensitive=True)
    costs = compute_column_costs(points, k, threads=table.threads)
    away = estimate_given_away(points, k, threads=table.threads) if named["sensitive"] else {}
    return replace(inspection, costs=costs, given_away=away)


def say_repeats(repeats: Sequence[Repeat]) -> Iterator[str]:
    """What to say of columns that repeat; of several that hold names of people, the first says it for all."""
    names = [each for each in repeats if each.holds_names]
    yield from (repeat.says for repeat in repeats if repeat not in names[1:])


def suggest_input(table: Table, columns: Sequence[ColumnReport]) -> dict[str, Any]:
    """What the hints at all columns say about reading the table, where nothing else was said."""
    marks = [mark for column in columns for mark in column.input.get("null_values", [])]
    options = {"null_values": list(dict.fromkeys([*table.request.input.null_values, *marks]))} if marks else {}
    for option in ("decimal", "dates"):
        suggestions = [column.input[option] for column in columns if option in column.input]
        options |= {option: suggestions[0]} if suggestions and not getattr(table.request.input, option) else {}
    return options


def with_hint_of(old: ColumnReport, new: ColumnReport) -> ColumnReport:
    """A column that was read again, with what led to it; the other hints are those of the new reading."""
    if not old.input:
        return new
    hint = " ".join(dict.fromkeys(filter(None, (old.hint, new.hint))))
    is_planned = old.is_planned and (new.is_planned or not new.hint)
    suggested = new.suggested or old.suggested
    return replace(new, hint=hint, suggested=suggested, input=old.input, is_planned=is_planned)


def given_role(table: Table, column: str) -> Guess | None:
    """The role a user named."""
    roles = {"quasi-identifier": table.quasi_identifiers, "sensitive": table.sensitive, "plain": table.keep}
    roles |= {"identifier": table.identifiers, "person": table.person}
    return next((Guess(role, BY_YOU, 1.0) for role, names in roles.items() if column in names), None)


def guess_person(table: Table, guessed: Mapping[str, Guess]) -> dict[str, Guess]:
    """The column that most likely names people who repeat is the person; others that do are never published."""
    likely = [repeat for repeat in table.repeats if repeat.kind in WHY and is_open(guessed[repeat.columns[0]], repeat)]
    person = {repeat.columns[0]: Guess("person", *WHY[repeat.kind]) for repeat in likely[:1]}
    return person | {repeat.columns[0]: Guess("identifier", *WHY[repeat.kind]) for repeat in likely[1:]}


def is_open(guess: Guess, repeat: Repeat) -> bool:
    """Whether a column that repeats may be the person: nobody said otherwise, nor does the name of mere numbers."""
    says_other = guess.role != "identifier" and guess.reason.startswith(NAME_SAYS)
    is_known = repeat.kind in ("numbers", "steady") and says_other
    return guess.reason != BY_YOU and not is_known


def find_repeated_identifiers(table: Table, guessed: Mapping[str, Guess]) -> Iterator[Repeat]:
    """Other identifiers that repeat, which a release refuses unless somebody says whose the rows are."""
    roles = {name: each.role for name, each in guessed.items()}
    if "person" in roles.values() or table.request.columns.rows_are_people:
        return
    known = {column for repeat in table.repeats for column in repeat.columns}
    for name in (name for name in roles if name not in known):
        is_shared_by_many = any(says in guessed[name].reason for says in SHARED_BY_MANY)
        if roles[name] == "identifier" and not is_shared_by_many and table.facts(name).type != "other":
            counts = table.engine.count_repeats([table.index(name)])
            if counts[2] > 1:
                yield Repeat((name,), "names" if NAME in guessed[name].reason else "declared", *counts)


def find_planned_links(table: Table, person: Sequence[str], published: Sequence[str]) -> Iterator[Repeat]:
    """Columns that would tell which rows belong to one person, where the person is guessed and not named."""
    if person and not table.person and table.rows:
        roles = {"person": list(person), "sensitive": [name for name in published if name not in table.keep]}
        yield from find_linking_columns(replace(table, request=table.request.override(**roles)))


def describe(table: Table, column: str, facts: ColumnFacts, guess: Guess) -> ColumnReport:
    """One column; for a quasi-identifier also how it would be generalized, or why it cannot be."""
    kind, generalized, trouble, role = facts.type, None, None, guess.role
    try:
        kind = table.kind(column)
        if role == "quasi-identifier" and facts.rows:
            generalized = describe_axis(build_axis(table, column, Labels()).parameters(()))
    except KechError as refusal:
        trouble = refusal.typed if role == "quasi-identifier" else None
        generalized = WORDS["set"] if trouble and are_mixed(facts) else None
    bars, hint = count_bars(table, column, facts, kind, role, as_sets=generalized == WORDS["set"])
    is_prefixed = hint is not None and hint.axis == "hierarchy"
    is_open = column not in table.request.axes and not is_prefixed
    if guess.is_code and role == "quasi-identifier" and kind == "number" and is_open:
        hint = join_hints(hint_at_categories(column), hint if hint and not hint.axis else None)
    if trouble and generalized:
        hint, trouble = join_hints(hint_at_mixed(column), hint if hint and not hint.axis else None), None
    is_read_well = hint is None or not hint.input
    if is_read_well and facts.rows >= FEWEST_HINTED:
        hint = join_hints(hint, hint_at_own(table, column, role, generalized))
    says, axis, options = (hint.says, hint.axis, hint.input) if hint else (None, None, {})
    is_planned = hint is not None and hint.is_planned and bool(options or axis in ("hierarchy", "set"))
    if role == "quasi-identifier" and axis and not trouble:
        generalized = WORDS[axis].format(leaves=facts.distinct)
    about = (column, kind, facts.distinct, facts.nulls, role, guess.reason, guess.confidence)
    shared = role == "identifier" and is_shared(table, column, facts)
    return ColumnReport(*about, bars, generalized, trouble, says, axis, options, is_planned, shared)


def hint_at_own(table: Table, column: str, role: str, generalized: str | None) -> Hint | None:
    """What a release would say of a column whose values all differ: published as it is, or in sets that tell little."""
    if role == "sensitive" and is_identifying(table, column):
        return hint_at_own_values()
    if role == "quasi-identifier" and generalized == WORDS["set"] and is_identifying(table, column, NEARLY_ALL):
        return hint_at_own_texts()
    return None


def are_mixed(facts: ColumnFacts) -> bool:
    """Whether a few kinds of values are numbers and texts, as codes with an N for those who were not asked."""
    return facts.type == "text" and facts.not_finite is None and facts.distinct <= MOST_MIXED


def is_shared(table: Table, column: str, facts: ColumnFacts) -> bool:
    """Whether several rows have the same value, compared as identifiers are."""
    return facts.type == "other" or table.engine.count_repeats([table.index(column)], folded=True)[2] > 1


def count_bars(
    table: Table, column: str, facts: ColumnFacts, kind: str, role: str, *, as_sets: bool
) -> tuple[tuple[int, ...], Hint | None]:
    """A histogram, and a hint: rows in equal steps of numbers or dates, or rows of the most frequent values."""
    if not 0 < facts.distinct <= MOST_COUNTED:
        return (), None
    read = kind if kind in ("number", "date") else "text"
    try:
        values, counts = table.values(column, read)
    except ManyValues:
        return (), None
    if read == "text":
        return tuple(np.sort(counts)[::-1][:BARS].tolist()), hint_at_values(
            table, column, role, values, as_sets=as_sets
        )
    known = np.isfinite(values)
    if not known.any():
        return (), None
    return step_bars(values[known], counts[known]), hint_at_line(
        table, column, kind, role, values[known], counts[known]
    )


def hint_at_values(table: Table, column: str, role: str, values: Sequence[str], *, as_sets: bool) -> Hint | None:
    """What to say of a column of text; dates that all differ are no identifiers."""
    if column in table.request.axes:
        return None
    if role == "identifier":
        return hint_at_dates(values)
    return join_hints(
        hint_at_text(values) or (hint_at_prefixes(column, values) if as_sets else None), hint_at_variants(values, role)
    )


def step_bars(values: Floats, counts: Ints) -> tuple[int, ...]:
    """Rows in equal steps between the smallest and the largest value."""
    low, high = (float(end) / BARS for end in (values.min(), values.max()))  # the range may overflow
    steps = min(BARS, len(values))
    bar = np.floor((values / BARS - low) / (high - low) * steps) if high > low else np.zeros(len(values))
    bars = np.bincount(np.clip(bar, 0, steps - 1).astype(int), weights=counts, minlength=steps)
    return tuple(bars.astype(int).tolist())


def hint_at_line(table: Table, column: str, kind: str, role: str, values: Floats, counts: Ints) -> Hint | None:
    """What to say of a published column of numbers, or of a quasi-identifier of dates."""
    if role not in ("quasi-identifier", "sensitive"):
        return None
    unknown = hint_at_unknown(values, counts) if kind == "number" else None
    if role == "quasi-identifier" and table.choice(column).domain is not None:
        return join_hints(hint_at_domain(table, column, USUAL_K), unknown)
    if role == "sensitive":
        return unknown
    if kind == "number" and column not in table.request.axes:
        texts, _ = table.values(column, "text")
        if hint := hint_at_codes(column, texts):
            return hint
    return unknown or hint_at_far_rows(values, counts)


def describe_axis(parameters: dict[str, Any]) -> str:
    """The kind of an axis in a few words."""
    return WORDS[parameters["axis"]].format(**parameters)


def measure_uniqueness(table: Table, columns: Sequence[str], person: Sequence[str]) -> tuple[float | None, int | None]:
    """Share of rows that no other row, or nobody else's row, equals on these columns; and k as the table is."""
    if not columns or not table.rows:
        return None, None
    people = [encode_person(table, column) for column in person]
    codes, rows = table.engine.group([*(table.text_codes(column) for column in columns), *people])
    group = number_tuples(codes[:, : len(columns)])
    hidden = np.bincount(group, None if people else rows)
    return float(rows[hidden[group] == 1].sum() / rows.sum()), int(hidden.min())


def suggest_request(inspection: Inspection, k: int, before: Request) -> Request:
    """A request to start from: the roles and kinds an inspection found, on top of what was given."""
    roles = {"quasi-identifier": "quasi_identifiers", "sensitive": "sensitive", "identifier": "identifiers"}
    roles |= {"person": "person"} if any(c.role == "person" for c in inspection.columns) else {}
    columns = inspection.columns
    roles_found = {name: [c.column for c in columns if c.role == role] for role, name in roles.items()}
    if "person" not in roles:
        roles_found["identifiers"] = [c.column for c in columns if c.role == "identifier" and not c.repeats]
    axes = {c.column: AxisChoice(kind=suggest_kind(c)) for c in inspection.columns if c.role == "quasi-identifier"}
    read = {"delimiter": inspection.delimiter, "encoding": inspection.encoding, **inspection.input}
    return before.override(**roles_found, **read, axes=axes | before.axes, k=k)


def suggest_kind(column: ColumnReport) -> str | None:
    """The kind of axis that suits a quasi-identifier; none where that is in doubt."""
    if column.trouble or column.suggested:
        return None if column.trouble else column.suggested
    by_set = "set" if column.generalized == WORDS["set"] else "hierarchy"
    return column.type if column.type in ("number", "date") else by_set if column.generalized else None

"""Repeats: columns that seem to name people and repeat, though the request does not say whose rows they are.

In: a table.  Out: `Repeat`s, each with its counts and a sentence.  No cell leaves the engine.

A column is one of six kinds, in this order:

declared   it has the role of an identifier
named      its name means people: `patient_id`, `Kundennummer`
stable     rows with one value also have one date of birth, or one sex and place, as rows of a person do
bare       its name is `id` or similar
numbers    its name means a number (`code`, `no`), and it has many values in several rows each
steady     nobody gave it a role, its whole numbers lie close, and rows with one also have two of one birth, sex, origin
           and place

Without such a column, date of birth, sex and place together may identify people: they repeat far more often than they
would for different people.

Identifiers are compared as names of people are: case, outer spaces and the format of a number make no difference.
Where the request names a person, an identifier that several people have means that the person column is too fine, and
a published column of which nearly each value is of one person links the rows of that person.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import log2, prod
from shlex import quote
from warnings import warn

from kech.errors import ManyValues, RepeatedIdentifier, RepeatedPeople
from kech.tables.engine import ColumnFacts, is_code
from kech.tables.person_names import (
    is_ambiguous,
    is_bare,
    is_personal_name,
    may_be_size,
    names_people,
    numbers_people,
    numbers_something,
    split_words,
)
from kech.tables.table import Table

BIRTH = re.compile(r".*(?:birth|born|geburt|geboren|geboorte|naissance|nacimiento|nascita|nascimento).*|(?:.*_)?dob")
SEX = re.compile(r"(?:.*_)?(?:sex|gender|geschlecht|sexe|sexo|sesso|geslacht|genre|genero)|female|male")
ORIGIN = re.compile(r"(?:.*_)?(?:race|ethnicity|ethnic|nationality|nationalitaet|herkunft|raza|raca|etnia)|black|white")
PLACE = re.compile(
    r"(?:.*_)?(?:zip|zip_?code|post_?code|postal(?:_code)?|plz|postleitzahl|cp|cap|cep|town|city|municipality)"
)
FEW_LEVELS = 10  # fewer values of a word for people are levels: gold, silver
CATEGORY = 100  # values of a category at most
CLOSE = 0.1  # share of the whole numbers between the least and the largest that occur, as numbers of people do
SAMPLE = 1000  # of them that are looked at, about
LEAST_SHARE, MOST_SHARE = 1 / 50, 0.9  # of the rows: values of a column that people repeat
EXCEPTIONS = 0.05  # share of repeated rows whose birth, sex or place may differ: typing errors, removals
FAR_MORE = 10  # times the repeats that different people would have
MANY_REPEATS = 0.1  # of the rows
STABLE_SHARE = 0.5  # of the further combinations that different people would have at least
FEWEST_SAID = 3  # smaller counts are not shown


@dataclass(frozen=True, slots=True)
class Repeat:
    """A column, or a combination of columns, with repeated values."""

    columns: tuple[str, ...]
    kind: str  # as above; together, names, shared by several people, or linking one's rows
    values: int
    rows: int  # that have a value
    most: int  # rows of the most frequent value

    @property
    def holds_names(self) -> bool:
        """Whether it holds personal names, which several people may have: by its values, or by its name."""
        return self.kind == "names" or (len(self.columns) == 1 and is_personal_name(self.columns[0]))

    @property
    def says(self) -> str:
        """The warning for the owner of the table: what repeats, and what to do."""
        noun = "combinations" if len(self.columns) > 1 else "values"
        counts = f"{describe_counts(self.values, self.rows, self.most, noun)}. If"
        if len(self.columns) > 1:
            names = f"{', '.join(map(repr, self.columns[:-1]))} and {self.columns[-1]!r}"
            return (
                f"Columns {names} repeat together: {counts} these are the same people, k counts visits, not people. "
                "Add a column that numbers the people and name it: --person COLUMN. Or say --rows-are-people."
            )
        (column,) = self.columns
        if self.kind == "linking":
            return (
                f"Column {column!r} is published, and nearly all its values are of one person each: it tells which "
                "rows belong to one person. Do not publish it, or say --protect-history."
            )
        if self.kind == "shared":
            return (
                f"Column {column!r} is an identifier with fewer values than there are people by --person: {counts} "
                f"it names people, k counts one person several times. Say --person {quote(column)}."
            )
        if self.holds_names:
            return (
                f"Column {column!r} repeats: {counts} some of these rows are of one person, k counts visits, not "
                "people. Different people may have one name. Name a column that numbers the people (--person COLUMN), "
                "or say --rows-are-people."
            )
        advice = f"Say --person {quote(column)}, or --rows-are-people."
        return f"Column {column!r} repeats: {counts} it names people, k counts visits, not people. {advice}"


def describe_counts(values: int, rows: int, most: int, noun: str = "values") -> str:
    """How often values repeat, as text; small numbers are not shown exactly."""
    few = f"fewer than {FEWEST_SAID}"
    count = few if values < FEWEST_SAID else f"{values:,}"
    return f"{count} {noun} in {rows:,} rows, {few if most < FEWEST_SAID else f'up to {most:,}'} rows each"


def check_identifiers(table: Table) -> None:
    """Refuse an identifier that repeats, where the request does not say whether its rows are of one person."""
    for repeat in table.repeats:
        if repeat.kind == "declared":
            raise RepeatedIdentifier(repeat.columns[0], describe_counts(repeat.values, repeat.rows, repeat.most))


def warn_of_repeats(table: Table) -> None:
    """Warn of columns that seem to name people with several rows."""
    for repeat in table.repeats:
        warn(RepeatedPeople(repeat.says), stacklevel=3)


def find_repeats(table: Table) -> tuple[Repeat, ...]:
    """All repeats of a table, the likeliest first; none where the request says that every row is another person.

    Where the request names a person, only identifiers that several people have, and columns that link their rows.
    """
    if table.request.columns.rows_are_people or not table.rows:
        return ()
    if table.person:
        return (*find_shared_identifiers(table), *find_linking_columns(table))
    repeats = [repeat for column in (*table.loaded, *table.counted) for repeat in find_repeat(table, column)]
    kinds = ("declared", "named", "stable", "bare", "numbers", "steady")
    ranked = sorted(repeats, key=lambda each: (kinds.index(each.kind), not names_people(each.columns[0]), -each.values))
    return tuple(ranked) or tuple(find_repeated_traits(table))


def find_shared_identifiers(table: Table) -> Iterator[Repeat]:
    """Identifiers with clearly fewer values than people, so that several people have the same one."""
    person = [table.index(name) for name in table.person]
    for column in (name for name in table.counted if name in table.identifiers and not is_personal_name(name)):
        number = table.index(column)
        values, rows, most = table.engine.count_repeats([number], folded=True)
        both = table.engine.count_with(number, person, folded=True)
        people, _, _ = table.engine.count_repeats(person, folded=True)
        enough = values >= FEW_LEVELS or numbers_people(column)  # three remarks, or doctors, name nobody
        if enough and values < both and values <= MOST_SHARE * people:
            yield Repeat((column,), "shared", values, rows, most)


def find_linking_columns(table: Table) -> Iterator[Repeat]:
    """Published columns with about as many values as there are people, or more, nearly all of one person each."""
    published = () if table.request.goal.protect_history else (*table.sensitive, *table.keep)
    several = [column for column in published if table.facts(column).distinct >= MOST_SHARE * FEW_LEVELS]
    if not several:
        return
    person = [table.index(name) for name in table.person]
    people, rows, _ = table.engine.count_repeats(person, folded=True)
    for column in several if FEW_LEVELS <= people < rows else ():
        if table.facts(column).distinct < MOST_SHARE * people:
            continue
        number = table.index(column)
        values, present, most = table.engine.count_repeats([number], folded=True)
        both = table.engine.count_with(number, person, folded=True)
        across = both - values  # values that a further person has
        if across <= EXCEPTIONS * (present - values) and MOST_SHARE * people <= values <= MOST_SHARE * present:
            yield Repeat((column,), "linking", values, present, most)


def find_repeat(table: Table, column: str) -> Iterator[Repeat]:
    """The repeat of one column, if it repeats and seems to name people; a series checks its row key itself."""
    declared, has_person_name = column in table.identifiers, names_people(column)
    if table.row_key == (column,) and not declared:
        return
    if table.engine.layout.columns[table.index(column)].kind == "other" and not declared:
        return
    if not (declared or has_person_name or may_be_numbers(table, column)):
        return
    values, rows, most = table.engine.count_repeats([table.index(column)], folded=declared)
    if most < 2:
        return
    kind = (
        "declared"
        if declared
        else classify_by_name(column, values, rows)
        if has_person_name
        else classify_by_values(table, column, values, rows)
    )
    if kind and not (kind == "named" and is_ambiguous(column) and changes_birth(table, column, values, rows)):
        yield Repeat((column,), kind, values, rows, most)


def classify_by_name(column: str, values: int, rows: int) -> str:
    """The kind by the name of the column: bare or named; empty where it has so few values that they are levels.

    Numbers of people are never levels: six people may have all rows of a table, or one.  `pid` may be a party, and
    `family` the size of one.
    """
    is_sure = numbers_people(column) and not is_ambiguous(column)
    is_doubtful = (is_ambiguous(column) or may_be_size(column)) and values < LEAST_SHARE * rows
    enough = (values >= FEW_LEVELS and not is_doubtful) or (
        is_sure and (not is_bare(column) or values >= LEAST_SHARE * rows)
    )
    return ("bare" if is_bare(column) else "named") if enough else ""


def may_be_numbers(table: Table, column: str) -> bool:
    """Whether a loaded column has codes as values, not quantities or dates."""
    if column not in table.loaded or is_trait(column):
        return False
    facts = table.facts(column)
    present = facts.rows - facts.nulls
    many = max(CATEGORY, LEAST_SHARE * present) < facts.distinct <= MOST_SHARE * present
    if not many or facts.dates == present:
        return False
    return not is_quantity(facts) or numbers_something(column) or may_be_steady(table, column)


def is_quantity(facts: ColumnFacts) -> bool:
    """Whether all values are numbers, and none has the form of a code."""
    return facts.numbers == facts.rows - facts.nulls and not is_code(facts)


def may_be_steady(table: Table, column: str) -> bool:
    """Whether a column without a role has whole numbers close together, and its table has what stays with people."""
    has_role = column in (*table.quasi_identifiers, *table.sensitive, *table.keep)
    if has_role or not list_steady_traits(table):
        return False
    distinct = table.facts(column).distinct
    numbers = [float(text) for text in table.hash_values(column, max(0, int(log2(distinct / SAMPLE)))).texts]
    are_whole = all(map(float.is_integer, numbers))
    return are_whole and distinct >= CLOSE * (max(numbers) - min(numbers) + 1)


def classify_by_values(table: Table, column: str, values: int, rows: int) -> str:
    """The kind by the values of the column: stable or steady where they decide who somebody is; numbers by its name."""
    is_number = numbers_something(column)
    is_steady = not is_number and is_quantity(table.facts(column))
    constant = list_steady_traits(table) if is_steady else list_stable_traits(table)
    if constant:
        both = table.engine.count_with(table.index(column), list(map(table.index, constant)))
        if both - values <= EXCEPTIONS * (rows - values):
            return "steady" if is_steady else "stable"
    return "numbers" if is_number else ""


def list_stable_traits(table: Table) -> list[str]:
    """What rows of a person share, whose codes are no quantities: birth, or sex and place; none where neither is."""
    traits = find_traits(table)
    is_enough = traits["birth"] or (traits["sex"] and traits["place"])
    return [*traits["birth"], *traits["sex"], *traits["place"]] if is_enough else []


def list_steady_traits(table: Table) -> list[str]:
    """What rows of a person share, whose whole numbers could be quantities: two of birth, sex and origin, or of place.

    People move, so place counts only where birth is unknown.  An origin that nearly all have in common says nothing.
    """
    traits = find_traits(table)
    if traits["birth"] and not traits["sex"]:
        differs = any(collision_probability(table, name) <= MOST_SHARE for name in traits["origin"])
        return [*traits["birth"], *traits["origin"]] if differs else []
    if not traits["sex"] or not (traits["birth"] or traits["place"] or traits["origin"]):
        return []
    return [*traits["birth"], *traits["sex"], *([] if traits["birth"] else traits["place"]), *traits["origin"]]


def changes_birth(table: Table, column: str, values: int, rows: int) -> bool:
    """Whether rows with one value have several dates of birth: then it is a party, and not a person."""
    births = find_traits(table)["birth"]
    both = table.engine.count_with(table.index(column), list(map(table.index, births)))
    return both - values > EXCEPTIONS * (rows - values)


def find_repeated_traits(table: Table) -> Iterator[Repeat]:
    """Date of birth with sex or place, where they repeat together far more often than for different people.

    Two random people have equal values in a column with probability s = sum of p(value)^2.  Of n different people,
    about n (n - 1) / 2 * s1 s2 s3 pairs have equal values in three columns.  A person with very many rows makes s
    large.  So it is enough, too, that rows with one birth mostly have one sex and place: of different people, at least
    the share 1 - s2 s3 of the births that repeat would have two.
    """
    traits = find_traits(table)
    for combination in product(*(traits[trait] or [""] for trait in ("birth", "sex", "place"))):
        columns = [name for name in combination if name]
        if not traits["birth"] or len(columns) < 2:
            return
        values, rows, most = table.engine.count_repeats([table.index(name) for name in columns])
        (birth, *others), repeats = [collision_probability(table, name) for name in columns], rows - values
        if repeats <= MANY_REPEATS * rows:
            continue
        expected = rows * (rows - 1) / 2 * birth * prod(others)
        if repeats > FAR_MORE * expected or has_stable_births(table, columns[0], values, prod(others)):
            yield Repeat(tuple(columns), "together", values, rows, most)
            return


def has_stable_births(table: Table, birth: str, values: int, probability: float) -> bool:
    """Whether births that repeat have far fewer combinations with sex and place than different people would have.

    In: the number of combinations, and the probability that two random rows have equal sex and place.
    """
    try:
        _, counts = table.values(birth, "text")
    except ManyValues:
        return False
    repeated = int((counts > 1).sum())
    further, expected = values - len(counts), (1 - probability) * repeated
    return repeated >= FEW_LEVELS and further <= STABLE_SHARE * expected


def collision_probability(table: Table, column: str) -> float:
    """The probability that two random rows have the same value; 1 where the values exceed --memory."""
    try:
        _, counts = table.values(column, "text")
    except ManyValues:
        return 1.0
    return float(((counts / counts.sum()) ** 2).sum()) if len(counts) else 1.0


def find_traits(table: Table) -> dict[str, Sequence[str]]:
    """The loaded columns of date of birth, sex, place and origin, by their names."""
    patterns = {"birth": BIRTH, "sex": SEX, "place": PLACE, "origin": ORIGIN}
    return {
        trait: [name for name in table.loaded if pattern.fullmatch(split_words(name))]
        for trait, pattern in patterns.items()
    }


def is_trait(column: str) -> bool:
    """Whether a column is date of birth, sex or place, by its name."""
    return any(pattern.fullmatch(split_words(column)) for pattern in (BIRTH, SEX, PLACE))

"""Kinds: facts of a column, and how it is read: number, date or text.  A doubtful column is refused with its row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kech.errors import BadValue, InputError

MOSTLY = 0.9  # a column of text with this share of numbers was meant to hold numbers
MOST_DIGITS = 15  # longer numbers are codes; a float could not tell them apart


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What an engine knows about a column: counts and row numbers (from 1), never a value."""

    type: str  # text, number, date or other
    rows: int
    nulls: int
    distinct: int  # without NULL
    numbers: int  # rows that read as a finite number
    first_other: int | None  # first row that is neither NULL nor a finite number
    not_finite: int | None  # first row with NaN or an infinity
    zero_padded: int  # rows such as 02138
    dates: int
    first_not_date: int | None
    longest: int  # digits or characters of the longest value


class Alike(NamedTuple):
    """Distinct values of a column of which the same is true."""

    missing: bool
    finite: bool
    odd: bool  # NaN or an infinity
    padded: bool | None
    dated: bool
    rows: int
    held: int  # how many values
    first: int  # row of one of them
    digits: int | None  # of the longest that is a whole number


def gather_facts(kind: str, told: Sequence[Alike]) -> ColumnFacts:
    """Facts about a column from all its values."""

    def first(of: Iterable[Alike]) -> int | None:
        return min((one.first for one in of), default=None)

    present = [one for one in told if not one.missing]
    return ColumnFacts(
        kind,
        rows=sum(one.rows for one in told),
        nulls=sum(one.rows for one in told if one.missing),
        distinct=sum(one.held for one in present),
        numbers=sum(one.rows for one in told if one.finite),
        first_other=first(one for one in present if not one.finite),
        not_finite=first(one for one in told if one.odd),
        zero_padded=sum(one.rows for one in told if one.padded),
        dates=sum(one.rows for one in told if one.dated),
        first_not_date=first(one for one in present if not one.dated),
        longest=max((one.digits or 0 for one in told), default=0),
    )


def check_kind(column: str, facts: ColumnFacts, wish: str) -> str:
    """The kind the user named, if every value can be read so."""
    present = facts.rows - facts.nulls
    if wish == "number":
        check_finite(column, facts)
        if facts.numbers < present:
            hint = "Mend it, name what means missing (--null-values), or say how decimals are written (--decimal)."
            raise BadValue(column, facts.first_other or 1, f"not a number, though declared one. {hint}")
        return "number"
    if wish == "date":
        if facts.dates < present:
            hint = "Mend it, name what means missing (--null-values), or say how dates are written (--dates)."
            raise BadValue(
                column, facts.first_not_date or 1, f"not a date such as 2020-12-31, though declared one. {hint}"
            )
        return "date"
    return "text"


def guess_kind(column: str, facts: ColumnFacts) -> str:
    """Numbers and dates when every value is one; codes such as 02138 and everything else are text."""
    present = facts.rows - facts.nulls
    if facts.type == "other":
        raise InputError(f"Column {column!r} holds lists, blobs or times of day; convert it to text first.")
    if facts.type == "number" or facts.numbers >= MOSTLY * present:
        check_finite(column, facts)
    if not present or is_code(facts):
        return "text"
    if facts.numbers >= MOSTLY * present:
        check_all(column, facts.numbers == present, facts.first_other, "numbers")
        return "number"
    if facts.dates >= MOSTLY * present:
        check_all(column, facts.dates == present, facts.first_not_date, "dates")
        return "date"
    return "text"


def plain_kind(facts: ColumnFacts) -> str:
    """Numbers and dates when every value is one, text otherwise; nothing is refused."""
    present = facts.rows - facts.nulls
    if not present or is_code(facts):
        return "text"
    return "number" if facts.numbers == present else "date" if facts.dates == present else "text"


def is_code(facts: ColumnFacts) -> bool:
    """Leading zeros or very long whole numbers make a code, not a quantity."""
    return not facts.dates and (facts.zero_padded > 0 or facts.longest > MOST_DIGITS)


def check_all(column: str, holds: bool, row: int | None, words: str) -> None:
    """Nearly all is not enough."""
    if not holds:
        hint = f"Mend it, name what means missing (--null-values), or say --axis {column}=set."
        raise BadValue(column, row or 1, f"nearly all values are {words}, this one is not. {hint}")


def check_finite(column: str, facts: ColumnFacts) -> None:
    """NaN and infinities have no place on an axis."""
    if facts.not_finite is not None:
        hint = "If that means missing: --null-values NaN,inf,-inf."
        raise BadValue(column, facts.not_finite, f"NaN or an infinity cannot be generalized. {hint}")

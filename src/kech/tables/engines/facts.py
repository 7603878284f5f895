"""Facts of a column, from what is true of its distinct values.

In: how many of them are alike.  Out: counts and row numbers, never a value.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kech.tables.engines import ColumnFacts


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


def facts_of(kind: str, told: Sequence[Alike]) -> ColumnFacts:
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

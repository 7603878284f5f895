"""Rulers: where round numbers and calendar dates lie, and how they are written.

In: a stretch of a numeric or date axis.  Out: its round marks, coarse rulers first.
Dates are seconds since 1970, so one grid serves both.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_MARKS = 5000  # no axis is looked at more finely than in 5000 steps
MOST_RULERS = 7  # of an axis whose steps divide one another
MOST_DAYS = 50_000  # steps of such an axis of dates
DAY = 86400.0
EPOCH = datetime(1970, 1, 1)
CALENDAR_ENDS = (-62135596800.0, 253402214400.0)  # 0001-01-01 and 9999-12-31: beyond, no date is written
EXACT_POWER = 22  # the largest power of ten that is a float
MOST_DIGITS = 15  # a float tells decimals of so many digits apart


class Ruler(Protocol):
    """Marks at one distance; `size` is that distance, roughly."""

    @property
    def size(self) -> float:
        """Distance of two marks."""

    def marks(self, low: float, high: float) -> Floats:
        """All marks from the last one at or below `low` to the first one at or above `high`."""


@dataclass(frozen=True, slots=True)
class NumberRuler:
    """Multiples of mantissa * 10^exponent, exact as decimals."""

    mantissa: int
    exponent: int

    @property
    def size(self) -> float:
        """Distance of two marks."""
        return float(f"{self.mantissa}e{self.exponent}")

    def marks(self, low: float, high: float) -> Floats:
        """Multiples of the step around [low, high]."""
        first, last = np.floor(low / self.size + 1e-9), np.ceil(high / self.size - 1e-9)
        multiples = np.arange(first, last + 1) * self.mantissa
        if abs(self.exponent) > EXACT_POWER:
            return np.array([float(f"{int(multiple)}e{self.exponent}") for multiple in multiples])
        scale = 10.0 ** abs(self.exponent)
        return multiples * scale if self.exponent >= 0 else multiples / scale


@dataclass(frozen=True, slots=True)
class DateRuler:
    """Starts of every so many years, months, days, hours, minutes or seconds."""

    seconds: float
    period: str  # a unit of numpy.datetime64
    every: int

    @property
    def size(self) -> float:
        """Distance of two marks, in seconds."""
        return self.seconds * self.every

    def marks(self, low: float, high: float) -> Floats:
        """Starts of periods around [low, high]."""
        shift = 1970 if self.period == "Y" else 0
        first, last = (self._index(x) + shift for x in (low, high))
        starts = np.arange(first // self.every, last // self.every + 2) * self.every - shift
        marks = starts.astype(f"datetime64[{self.period}]").astype("datetime64[s]").astype(np.float64)
        return np.unique(np.clip(marks[: int(np.searchsorted(marks, high)) + 1], *CALENDAR_ENDS))

    def _index(self, seconds: float) -> int:
        moment = np.datetime64(int(seconds // 1), "s")
        return int(moment.astype(f"datetime64[{self.period}]").astype(np.int64))


CALENDAR = (
    *(DateRuler(365.25 * DAY, "Y", years) for years in (100, 50, 20, 10, 5, 2, 1)),
    *(DateRuler(30.4 * DAY, "M", months) for months in (6, 3, 1)),
    DateRuler(DAY, "D", 1),
    *(DateRuler(3600, "h", hours) for hours in (6, 1)),
    *(DateRuler(60, "m", minutes) for minutes in (10, 1)),
    DateRuler(1, "s", 1),
)


def number_rulers(span: float, unit: float) -> list[Ruler]:
    """Steps 1, 2, 5 times a power of ten, from the length of the span down to the unit."""
    top = int(np.ceil(np.log10(span)))
    rulers = [NumberRuler(m, e) for e in range(top, top - 8, -1) for m in (5, 2, 1)]
    return [r for r in rulers if span / MOST_MARKS <= r.size and unit * 0.99 <= r.size <= span * 2]


def date_rulers(span: float, unit: float) -> list[Ruler]:
    """Calendar steps, from the length of the span down to the unit."""
    fitting = [r for r in CALENDAR if span / MOST_MARKS <= r.size and unit <= r.size <= span * 2]
    return list(fitting or [DateRuler(DAY, "D", 1) if unit == DAY else DateRuler(1, "s", 1)])


def dividing_number_rulers(span: float, base: NumberRuler) -> list[Ruler]:
    """Round multiples of a step, coarse to fine, each dividing the one before: 50, 10, 5, 1.

    The coarsest is no longer than the span; of more than seven the finest are left out.
    """
    steps = max(int(span / base.size + 1e-9), 1)
    power = 10 ** (len(str(steps)) - 1)
    factors = [next(digit * power for digit in (5, 2, 1) if digit * power <= steps)]
    while factors[-1] > 1 and len(factors) < MOST_RULERS:
        factors.append(factors[-1] // (5 if str(factors[-1])[0] == "5" else 2))
    return [NumberRuler(base.mantissa * factor, base.exponent) for factor in factors]


def dividing_date_rulers(span: float, unit: float) -> list[Ruler]:
    """Hundred years, ten years, years, months, days, hours, minutes and seconds, as far as they fit; coarse to fine."""
    nested = [r for r in CALENDAR if r.every == 1 or (r.period == "Y" and r.every in (10, 100))]
    fitting = [r for r in nested if span / MOST_DAYS <= r.size and unit <= r.size <= span]
    return list(fitting[:MOST_RULERS] or date_rulers(span, unit)[-1:])


def base_ruler(step: float) -> NumberRuler:
    """Multiples of any step, as a decimal."""
    _, digits, exponent = Decimal(repr(step)).normalize().as_tuple()
    return NumberRuler(int("".join(map(str, digits))), int(exponent))


def unit_ruler(span: float, unit: float) -> NumberRuler:
    """The unit of a column, or a thousandth of the span for numbers that have none."""
    return base_ruler(unit) if unit else NumberRuler(1, Decimal(span).adjusted() - 3)


def number_unit(values: Floats) -> float:
    """The power of ten, at most 1 and at least a millionth, that divides every value; 0 if none does."""
    largest = float(np.abs(values).max(initial=0.0))
    for digits in range(7):
        if largest >= 10.0 ** (MOST_DIGITS - digits):
            break
        if bool(np.all(np.round(values, digits) == values)):
            return 10.0**-digits
    return 0.0


def date_unit(values: Floats) -> float:
    """A day, a second, or 0 for finer times."""
    return next((unit for unit in (DAY, 1.0) if bool(np.all(values % unit == 0))), 0.0)


def last_before(edges: Floats, unit: float) -> Floats:
    """The last multiple of the unit before each edge; the edge itself where there is no unit."""
    return in_digits(edges - unit, unit)


def in_digits(values: Floats, unit: float) -> Floats:
    """Multiples of the unit, without the noise of sums; values themselves where there is no unit."""
    return np.round(values, decimals(unit)) if unit else values


def decimals(unit: float) -> int:
    """Digits after the point of a unit that is a power of ten."""
    return max(0, round(-math.log10(unit)))


def format_number(value: float, unit: float) -> str:
    """The shortest decimal that reads back as the same number; multiples of a decimal unit stay short."""
    exact = round(value, decimals(unit)) if unit else value
    return str(int(exact)) if exact == int(exact) and abs(exact) < 1e15 else repr(float(exact))


def format_date(seconds: float, unit: float) -> str:
    """ISO date, with the time of day only where the column has one."""
    moment = EPOCH + timedelta(seconds=seconds)
    return moment.date().isoformat() if unit == DAY else moment.isoformat(sep=" ")

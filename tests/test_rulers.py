from datetime import datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kech.axes import build_line_axis
from kech.axes.grid import date_rulers, number_rulers
from strategies import DAY, unhurried

EPOCH = datetime(1970, 1, 1)


CALENDAR = [ruler for span in (1e10, 1e7, 1e3) for ruler in date_rulers(span, 0.0)]
MOST_MARKS = 5000


def number_ruler(mantissa, exponent):
    """The ruler with marks at multiples of mantissa * 10^exponent."""
    size = float(f"{mantissa}e{exponent}")
    return next(ruler for ruler in number_rulers(size, 0.0) if ruler.size == size)


def date_ruler(period, every):
    return next(ruler for ruler in CALENDAR if (ruler.period, ruler.every) == (period, every))


def line(values, grid="exact", *, is_date=False):
    """An axis of these values, each in one row."""
    values, counts = np.unique(np.array(values, float), return_counts=True)
    return build_line_axis("c", values, counts, False, is_date=is_date, grid=grid)


def written(value, beside=(), *, is_date=False):
    """A value as it is printed in a column that holds others too."""
    axis = line([value, *beside], is_date=is_date)
    code = int(np.searchsorted(axis.low, value))
    return axis.label(code, code)


def at(text):
    return (datetime.fromisoformat(text) - EPOCH).total_seconds()


def dates(marks):
    return [EPOCH + timedelta(seconds=mark) for mark in marks]


# The paper's nine rows


def test_tens_around_the_nine_ages():
    assert number_ruler(1, 1).marks(22, 52).tolist() == [20, 30, 40, 50, 60]
    assert number_ruler(2, 1).marks(22, 52).tolist() == [20, 40, 60]


def test_rulers_for_the_nine_ages_are_round_and_coarse_first():
    assert [ruler.size for ruler in number_rulers(30, 1)] == [50, 20, 10, 5, 2, 1]


# Laws


@given(st.sampled_from([1, 2, 5]), st.integers(-300, 300), st.integers(-(10**6), 10**6), st.integers(0, 3000))
@unhurried
def test_marks_are_the_nearest_floats_to_round_numbers_and_cover(mantissa, exponent, low, steps):
    step = Fraction(mantissa) * Fraction(10) ** exponent
    start, stop = float(low * step / 3), float((low + steps) * step / 3)
    marks = number_ruler(mantissa, exponent).marks(start, stop)

    first = round(Fraction(marks[0]) / step)
    assert marks.tolist() == [float((first + i) * step) for i in range(len(marks))]
    slack = float(step) * 1e-8
    assert marks[0] <= start + slack
    assert marks[-1] >= stop - slack
    assert len(marks) <= 2 or (marks[1] > start - slack and marks[-2] < stop + slack)


@given(
    st.sampled_from(CALENDAR),
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 30)),
    st.floats(0, 40),
)
@unhurried
def test_calendar_marks_start_their_period_and_cover(ruler, low, steps):
    start = (low - EPOCH).total_seconds()
    stop = min(start + steps * ruler.size, at("9999-12-31"))
    marks = ruler.marks(start, stop)

    assert marks[0] <= start
    assert marks[-1] >= stop
    assert len(marks) <= 2 or (marks[1] > start and marks[-2] < stop)
    moments = dates(marks)
    for moment in moments:
        assert starts_period(moment, ruler) or moment in (datetime(1, 1, 1), datetime(9999, 12, 31))
    if ruler.period not in "YM":
        assert set(np.diff(marks)) <= {ruler.size}


def starts_period(moment, ruler):
    counted = {
        "Y": moment.year,
        "M": moment.month - 1,
        "D": moment.toordinal(),
        "h": moment.hour,
        "m": moment.minute,
        "s": moment.second,
    }
    finer = {"Y": (1, 1, 0, 0, 0), "M": (1, 0, 0, 0), "D": (0, 0, 0), "h": (0, 0), "m": (0,), "s": ()}[ruler.period]
    fields = (moment.month, moment.day, moment.hour, moment.minute, moment.second)
    below = fields[len(fields) - len(finer) :] if finer else ()
    return below == finer and counted[ruler.period] % ruler.every == 0 and moment.microsecond == 0


@given(st.floats(1e-290, 1e307), st.sampled_from([0.0, 1.0, 0.1, 1e-6]))
@unhurried
def test_number_rulers_are_few_and_nested_between_unit_and_span(span, unit):
    span = max(span, 10 * unit)
    sizes = [ruler.size for ruler in number_rulers(span, unit)]

    assert sizes == sorted(sizes, reverse=True)
    assert sizes
    assert span / MOST_MARKS <= sizes[-1] <= sizes[0] <= 2 * span
    assert sizes[-1] >= 0.99 * unit
    assert len(sizes) < 15


@given(st.floats(0, 4e11), st.sampled_from([0.0, 1.0, DAY]))
@unhurried
def test_date_rulers_are_never_finer_than_the_unit(span, unit):
    rulers = date_rulers(max(span, unit, 1.0), unit)

    assert rulers
    assert all(ruler.size >= unit for ruler in rulers)
    assert [r.size for r in rulers] == sorted((r.size for r in rulers), reverse=True)


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1), st.integers(0, 6))
@unhurried
def test_unit_divides_every_value_and_is_the_largest(wholes, digits):
    values = np.array([float(f"{x}e-{digits}") for x in wholes])
    needed = min(d for d in range(digits + 1) if all(x % 10 ** (digits - d) == 0 for x in wholes))

    assert line(values).unit == 10.0**-needed


@given(st.lists(st.integers(-(10**8), 10**8), min_size=1), st.integers(0, 6))
@unhurried
def test_the_value_before_an_edge_is_a_decimal_again(wholes, digits):
    tenth = float(f"1e{1 - digits}")
    axis = line([float(f"{x}e-{digits}") for x in (*wholes, 1)], tenth)

    ends = sorted({x // 10 * 10 + 9 for x in (*wholes, 1)})
    assert axis.high.tolist() == [float(f"{x}e-{digits}") for x in ends]
    assert line([1 / 3], 0.1).high.tolist() == [0.4]  # values without a unit: the edge itself


@given(st.floats(allow_nan=False, allow_infinity=False))
@unhurried
def test_numbers_are_written_so_that_they_read_back(value):
    assert float(written(value)) == value


@given(st.integers(-(10**12), 10**12), st.integers(0, 6))
@unhurried
def test_decimals_are_written_short(whole, digits):
    text = written(float(f"{whole}e-{digits}"), [float(f"1e-{digits}")])

    assert Fraction(text) == Fraction(whole, 10**digits)
    assert "e" in text or len(text.partition(".")[2]) <= digits


@given(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)))
@unhurried
def test_times_are_written_so_that_they_read_back(moment):
    seconds = (moment - EPOCH).total_seconds()

    assert datetime.fromisoformat(written(seconds, is_date=True)) == moment


# The odd ones


@pytest.mark.parametrize(
    ("ruler", "low", "high", "marks"),
    [
        (date_ruler("Y", 10), "1969-12-31", "1970-01-01", ["1960-01-01", "1970-01-01"]),
        (date_ruler("M", 3), "2020-02-29", "2020-06-30", ["2020-01-01", "2020-04-01", "2020-07-01"]),
        (date_ruler("M", 6), "1900-02-28", "1900-03-01", ["1900-01-01", "1900-07-01"]),
        (date_ruler("D", 1), "2000-02-28", "2000-03-01", ["2000-02-28", "2000-02-29", "2000-03-01"]),
        (date_ruler("D", 1), "1900-02-28", "1900-03-01", ["1900-02-28", "1900-03-01"]),
        (date_ruler("Y", 100), "0001-01-01", "0099-01-01", ["0001-01-01", "0100-01-01"]),
        (date_ruler("Y", 100), "9950-01-01", "9999-12-31", ["9900-01-01", "9999-12-31"]),
    ],
)
def test_calendar_by_hand(ruler, low, high, marks):
    assert dates(ruler.marks(at(low), at(high))) == [datetime.fromisoformat(mark) for mark in marks]


@pytest.mark.parametrize(
    ("values", "unit"),
    [([5.0], 1), ([0.5], 0.1), ([0.1, 0.25], 0.01), ([1 / 3], 0), ([1e15], 0), ([1e308, 0.5], 0), ([-0.0], 1)],
)
def test_units_by_hand(values, unit):
    assert line(values).unit == unit


@pytest.mark.parametrize(("values", "unit"), [([0.0, -DAY], DAY), ([1.0, DAY], 1), ([0.5], 0)])
def test_date_units_by_hand(values, unit):
    assert line(values, is_date=True).unit == unit


@pytest.mark.parametrize(("value", "text"), [(25.0, "25"), (-0.0, "0"), (1e22, "1e+22"), (1e-7, "1e-07"), (0.3, "0.3")])
def test_numbers_by_hand(value, text):
    assert written(value) == text


def test_an_edge_that_is_a_sum_is_written_as_its_decimal():
    axis = line([0.1, 0.2, 0.7, 0.8], 0.3)
    assert [axis.label(code, code) for code in range(axis.values)] == ["[0, 0.2]", "[0.6, 0.8]"]

"""Strategies: columns and tables of every kind, drawn by hypothesis or, by the thousand, from a seed."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st

unhurried = settings(deadline=None)  # a shared machine may pause at any time

DAY = 86400.0

# Columns of numbers and dates, as an engine counts them: values ascend

shapes = st.lists(st.tuples(st.integers(-(10**4), 10**4), st.integers(1, 12)), min_size=1, max_size=30)


@st.composite
def number_columns(draw):
    """Distinct floats and their rows: whole, decimal, tiny, huge, crowded far from zero, and free."""
    rows = dict(draw(shapes))
    digits = draw(st.sampled_from([0, 0, 1, 2, 6, -3, -12, 25, 280, -290]))
    shift = draw(st.sampled_from([0, 0, 0, 7, -(10**6), 10**9]))
    bend = draw(st.sampled_from([1.0, 1.0, np.pi]))
    values = {float(f"{x + shift}e{-digits}") * bend: n for x, n in rows.items()}
    ascending = sorted(values)
    return np.array(ascending), np.array([values[x] for x in ascending])


@st.composite
def date_columns(draw):
    """Distinct seconds since 1970 and their rows: days, seconds, fractions; leap days; the ends of the calendar."""
    kind = draw(st.sampled_from(["days", "days", "seconds", "fractions", "leap days", "ends"]))
    rows = dict(draw(shapes))
    if kind == "days":
        values = {x * DAY: n for x, n in rows.items()}
    elif kind == "seconds":
        values = {float(x * 977): n for x, n in rows.items()}
    elif kind == "fractions":
        values = {x / 7: n for x, n in rows.items()}
    elif kind == "leap days":
        moments = {datetime(1904 + x % 49 * 4, 2, 29) - timedelta(days=x % 2): n for x, n in rows.items()}
        values = {seconds(x): n for x, n in moments.items()}
    else:
        ends = [date.min, date.max, date(1970, 1, 1), date(1969, 12, 31)]
        moments = {ends[x % 4] - timedelta(days=x % 3 if x % 4 else 0): n for x, n in rows.items()}
        values = {seconds(x): n for x, n in moments.items()}
    ascending = sorted(values)
    return np.array(ascending), np.array([values[x] for x in ascending])


def seconds(moment):
    midnight = datetime(moment.year, moment.month, moment.day)
    return (midnight - datetime(1970, 1, 1)).total_seconds()

"""Edge bound: what labels must lose whose ends hide, for the classes of a release with exact labels.

An edge hides among k rows where every two neighbouring edges have k rows between them.  Then each end of a class goes
outward to an edge of some such grid.  No end but those beside an open tail is somebody's value: it goes one unit
further where it would be.  The least that any grid loses so is found exactly, column by column:

    least(j) = min over i of  least(i) + what the ends in the cell from i to j go outward

where cells have k rows or more, and rows are in the order of the column.  Classes that were chosen for a grid may lose
less than these classes do on it, so this is a bound for these classes and not for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.score import ends_of, line_width, position, read_columns, set_width
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WIDE = 3  # units of the narrowest interval whose ends are nobody's value
DIGITS = 4  # of the finest unit


@dataclass(frozen=True)
class Ends:
    """Both ends of the classes in one column, with their rows."""

    low: Floats
    high: Floats
    rows: Ints


def bound_release(
    source: Path, exact: Path, quasi_identifiers: Sequence[str], numbers: Sequence[str], k: int, loss: float
) -> float:
    """The least loss of the classes of an exact release, on any grid whose edges hide, over the loss that it has."""
    given, found = (read_columns(path, quasi_identifiers, ",") for path in (source, exact))
    classes = found.group_by(list(quasi_identifiers)).aggregate([([], "count_all")])
    rows, total = classes["count_all"].to_numpy(), 0.0
    for column in quasi_identifiers:
        values, labels = given[column].to_pylist(), classes[column].to_pylist()
        if column in numbers:
            total += bound_column(values, labels, rows, k)
        else:
            width = set_width([*set(values)])
            total += sum(width(label) * count for label, count in zip(labels, rows.tolist(), strict=True))
    return total / (given.num_rows * len(quasi_identifiers)) / loss


def bound_column(texts: Sequence[str], labels: Sequence[str], rows: Ints, k: int) -> float:
    """The widths of all rows of one column of numbers or dates, at least."""
    values, counts = np.unique([position(text) for text in texts], return_counts=True)
    first, last = float(values[0]), float(values[-1])
    width = line_width([*set(texts)])
    low, high = np.array([ends_of(label, first, last) for label in labels]).T
    exact = sum(width(label) * count for label, count in zip(labels, rows.tolist(), strict=True))
    outward = least_outward(values, counts, Ends(low, high, rows), k, find_unit(values))
    return exact + outward / ((last - first) or 1.0)


def find_unit(values: Floats) -> float:
    """The largest of 1, 0.1, ... that divides all values; 0 if none does."""
    units = (10.0**-digits for digits in range(DIGITS + 1))
    return next((unit for digits, unit in enumerate(units) if bool(np.all(values == values.round(digits)))), 0.0)


def least_outward(values: Floats, counts: Ints, ends: Ends, k: int, unit: float) -> float:
    """By how much the ends of all rows go outward, at least; `values` ascend."""
    n, rows_up_to = len(values), np.append(0, np.cumsum(counts))
    low, high = (np.searchsorted(values, side) for side in (ends.low, ends.high))
    is_wide = ends.high - ends.low >= (WIDE - 1.5) * unit
    lows, highs = (np.bincount(side, ends.rows, n) for side in (low, high))
    wide_lows, wide_highs = (np.bincount(side, ends.rows * is_wide, n) for side in (low, high))
    further = unit * (wide_lows + np.append(0.0, wide_highs[:-1]))  # where an edge is just before a value
    few, many = np.full(n + 1, np.inf), np.full(n + 1, np.inf)  # the least with one cell, and with several
    low_sums, high_sums = (add_up(side, values) for side in (lows, highs))
    for j in range(1, n + 1):
        i = np.arange(np.searchsorted(rows_up_to, rows_up_to[j] - k, side="right"))  # cells with k rows or more
        if len(i):
            (below, low_values), (above, high_values) = (
                sums[:, j, None] - sums[:, i] for sums in (low_sums, high_sums)
            )
            cell = low_values - values[i] * below + values[j - 1] * above - high_values
            few[j] = cell[0]
            many[j] = (np.minimum(few[i], many[i] + further[i] * (j < n)) + cell).min()
    return float(min(few[n], many[n]))


def add_up(rows: Floats, values: Floats) -> Floats:
    """The rows before each place, and the sum of their values."""
    return np.hstack([np.zeros((2, 1)), np.cumsum([rows, rows * values], axis=1)])

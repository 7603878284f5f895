"""Design: the columns of a table as numbers for a model, alike for the original and for the release.

Of every column the parts (see `columns`), one number each: 1 for the part that a row of the original lies in, for a
released row the share of each part that its label covers.  Of numbers and dates also the value, or the middle of the
label, counted in standard deviations of the original from its mean; 0 where it is missing.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kech.audit.comparison.columns import Side
from kech.audit.comparison.pieces import Floats
from kech.release.published import Ints


def design_before(sides: Sequence[Side], rows: Ints) -> Floats:
    """The matrix of some rows of the original: a line for each row, the numbers of all columns side by side."""
    return np.hstack([_columns(np.eye(len(side.parts))[side.before[rows]], side, 0, rows) for side in sides])


def design_after(sides: Sequence[Side], rows: Ints) -> Floats:
    """The matrix of some released rows, with the same columns."""
    return np.hstack([_columns(side.shares[side.label[rows]], side, 1, rows) for side in sides])


def sort_released(sides: Sequence[Side]) -> list[Side]:
    """The same columns with released rows in the order of their labels: rows of a file are shuffled, folds are not."""
    keys = []
    for side in sides:
        rank = np.unique(side.shares, axis=0, return_inverse=True)[1].reshape(-1)
        keys += [rank[side.label]] + ([] if side.numbers is None else [side.numbers[1]])
    order = np.lexsort(keys)
    return [
        replace(
            side,
            label=side.label[order],
            numbers=None if side.numbers is None else (side.numbers[0], side.numbers[1][order]),
        )
        for side in sides
    ]


def _columns(shares: Floats, side: Side, which: int, rows: Ints) -> Floats:
    """The numbers of one column: shares of its parts, then the value; `which` is 0 before and 1 after the release."""
    if side.numbers is None:
        return shares
    return np.hstack([shares, _standardize(side.numbers[which][rows], side.numbers[0])[:, None]])


def _standardize(values: Floats, original: Floats) -> Floats:
    known = original[~np.isnan(original)]
    if not len(known) or not known.std():
        return np.zeros(len(values))
    return np.asarray(np.nan_to_num((values - known.mean()) / known.std()))

"""Drawn levels: the levels of a sample, drawn by the exponential mechanism where the user fixed none.

In: points, the levels that each column may have, and the part of epsilon that may be spent.  Out: one level for each
column.

A choice of levels scores the rows in classes that are large enough, times its precision, which follows from no row.
One row more lowers no score and raises none by more than STEEPEST, so a choice that is drawn with the probability
exp(epsilon score / STEEPEST) / (sum of these) is epsilon-differentially private: docs/explanation/claims/sampled.md.
Whole numbers stand for these probabilities, so that every machine draws the same.
"""

from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from hashlib import shake_256
from itertools import accumulate, product
from math import prod

import numpy as np

from kech._kernels import distinct_rows
from kech.axes.grid import Ints
from kech.axes.levels import Level
from kech.errors import BadOption
from kech.points.points import Points
from kech.system.console import report

MOST_CHOICES = 4096  # each of them is scored by all rows
STEEPEST = 2  # what one row more adds to a score at most
ONE = 10**60  # the weight of the best choice
EXACT = Context(prec=80)


def draw_levels(
    points: Points, columns: Sequence[Sequence[Level]], enough: int, epsilon: float, key: bytes
) -> list[Level]:
    """One level of each column; classes of `enough` rows count with all of them."""
    choices = prod(map(len, columns))
    if choices > MOST_CHOICES:
        reason = f"there are {choices:,} choices of levels, and {MOST_CHOICES:,} at most can be scored"
        raise BadOption("--dp-search", f"{reason}. Choose the levels of some columns yourself: --levels job=1.")
    numbers, scores = list(product(*(range(len(levels)) for levels in columns))), []
    for done, chosen in enumerate(numbers):
        report("scoring levels", done / choices)
        rows = count_rows(points, pick_levels(columns, chosen), enough)
        scores.append(rows * find_precision(chosen, [len(levels) - 1 for levels in columns]))
    return pick_levels(columns, numbers[draw_index(weigh_scores(scores, epsilon), key)])


def pick_levels(columns: Sequence[Sequence[Level]], chosen: Sequence[int]) -> list[Level]:
    """The levels with these numbers."""
    return [levels[number] for levels, number in zip(columns, chosen, strict=True)]


def count_rows(points: Points, levels: Sequence[Level], enough: int) -> int:
    """The rows in large classes.

    A class of n rows counts with n where n is `enough`; below it with 2 n - enough, but not less than 0.
    """
    _, first, group = group_at_levels(points, levels)
    sizes = np.bincount(group, points.weights, len(first)).astype(np.int64)
    return int(np.clip(STEEPEST * sizes - (STEEPEST - 1) * enough, 0, sizes).sum())


def group_at_levels(points: Points, levels: Sequence[Level]) -> tuple[Ints, Ints, Ints]:
    """The cells of each point at these levels, the first point of each class, and the class of each point."""
    cells = np.stack([level.cells[points.codes[:, j]] for j, level in enumerate(levels)], axis=1).astype(np.int64)
    return cells, *distinct_rows(cells)


def find_precision(chosen: Sequence[int], tops: Sequence[int]) -> Fraction:
    """How far, on average, the levels lie below the top of columns that have several: from 0 at the top to 1."""
    below = [1 - Fraction(number, top) for number, top in zip(chosen, tops, strict=True) if top]
    return sum(below, Fraction()) / len(below)


def weigh_scores(scores: Sequence[Fraction], epsilon: float) -> list[int]:
    """Whole numbers in the proportion of exp(epsilon score / STEEPEST), rounded upward."""
    best, slope = max(scores), Fraction(epsilon) / STEEPEST
    exponents = [(score - best) * slope for score in scores]
    powers = (EXACT.exp(EXACT.divide(Decimal(x.numerator), Decimal(x.denominator))) for x in exponents)
    return [int(EXACT.multiply(power, Decimal(ONE))) + 1 for power in powers]


def draw_index(weights: Sequence[int], key: bytes) -> int:
    """The number of a choice, drawn with the probability of its weight."""
    last = list(accumulate(weights))
    drawn = int.from_bytes(shake_256(key).digest(64), "little") * last[-1] >> 512
    return next(at for at, end in enumerate(last) if drawn < end)

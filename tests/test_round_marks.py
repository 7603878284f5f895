"""Round marks: the kernel chooses those that the definition chooses, one cell after another."""

import numpy as np
import pytest

from kech import _kernels as kernels
from strategies import seeds


def find_largest_k(rows_before: np.ndarray, values_before: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """For each mark the largest k at which it may be published; 0 for none.

    In: the rows and the distinct values below each mark, preceded by 0 and followed by the totals; and the rank of
    each mark, 0 for the roundest.

    A mark between two occupied cells hides among the rows of the smaller cell.  A mark at the end of an empty cell
    hides among the rows of the neighbouring step of its own roundness.
    Where people are counted instead of rows, a cell may have values of people who are counted elsewhere: it is empty
    only where it has no value.
    """
    neighbours = rounder_neighbours(ranks)
    largest_k = np.zeros(len(rows_before), np.int64)
    cells = [(0, len(rows_before) - 1, int(rows_before[-1]))]
    while cells:
        low, high, limit = cells.pop()
        if high - low < 2 or rows_before[high] - rows_before[low] < 2:
            continue
        inner = np.arange(low + 1, high)
        hiding = count_hiding_rows(rows_before, values_before, neighbours, (low, high), inner)
        best = hiding.max(initial=0)
        if min(best, limit) < 2:
            continue
        fair = np.flatnonzero(hiding * 2 >= best)
        roundest = fair[np.lexsort((-hiding[fair], ranks[inner[fair] - 1]))[0]]
        alike = (inner, hiding, values_before[inner], ranks[inner - 1])
        mark, limit = find_middle(roundest, *alike), int(min(limit, hiding[roundest]))
        largest_k[mark] = limit
        cells += [(low, mark, limit), (mark, high, limit)]
    return largest_k[1:-1]


def find_middle(
    chosen: int, marks: np.ndarray, hiding: np.ndarray, values_before: np.ndarray, ranks: np.ndarray
) -> int:
    """The middle one of the marks that are as good as the chosen one and lie between the same two values.

    The first of them would follow a value at once, so that the end of a label would always be somebody's.
    """
    same = np.flatnonzero(np.all([each == each[chosen] for each in (hiding, values_before, ranks)], axis=0))
    first, last = int(marks[same[0]]), int(marks[same[-1]])
    middle = (first + last + first % 2) // 2
    return int(marks[same[np.searchsorted(marks[same], middle)]])


def count_hiding_rows(
    rows_before: np.ndarray,
    values_before: np.ndarray,
    neighbours: tuple[np.ndarray, np.ndarray],
    cell: tuple[int, int],
    inner: np.ndarray,
) -> np.ndarray:
    """Among how many rows each inner mark of a cell would hide, if it split the cell."""
    (low, high), (previous, following) = cell, neighbours
    left, right = rows_before[inner] - rows_before[low], rows_before[high] - rows_before[inner]
    left_empty, right_empty = values_before[inner] == values_before[low], values_before[high] == values_before[inner]
    step_left = rows_before[inner] - rows_before[np.maximum(previous[inner], low)]
    step_right = rows_before[np.minimum(following[inner], high)] - rows_before[inner]
    return np.where(left_empty, step_right, np.where(right_empty, step_left, np.minimum(left, right)))


def rounder_neighbours(ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each mark, numbered from 1, the nearest mark on either side that is as round or rounder."""
    beyond = len(ranks) + 1
    before, after = np.zeros(beyond + 1, np.int64), np.full(beyond + 1, beyond)
    for rank in np.unique(ranks):
        round_enough = np.flatnonzero(ranks <= rank) + 1
        own = ranks[round_enough - 1] == rank
        before[round_enough[own]] = np.concatenate([[0], round_enough[:-1]])[own]
        after[round_enough[own]] = np.concatenate([round_enough[1:], [beyond]])[own]
    return before, after


@pytest.mark.parametrize("seed", seeds(60))
def test_marks_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    for marks in (0, 1, 5, 40, 300):
        gaps = rng.geometric(rng.choice([0.2, 0.7]), marks + 1) - 1  # distinct values between marks; often none
        counts = np.array([rng.integers(1, rng.choice([2, 30]), n).sum() for n in gaps])
        values, rows = (np.concatenate([[0], np.cumsum(each)]) for each in (gaps, counts))
        ranks = np.minimum(rng.geometric(0.4, marks), 6) - 1
        found = kernels.find_largest_k(rows, values, ranks)
        assert found.tolist() == find_largest_k(rows, values, ranks).tolist()

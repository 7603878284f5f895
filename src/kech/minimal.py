"""Minimal anonymity complex: the smallest eps at which the rows can be parted into simplices of at least k rows.

Exhaustive, for a handful of rows: parting a class never widens it, so classes of k to 2k - 1 rows suffice, and

    eps*(rows) = min over classes S that hold the first row of  max(radius(S), eps*(rows without S))
"""

from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations

import numpy as np

from kech.complexes import simplex_radius
from kech.points import Points

MOST_ROWS = 12

Class = tuple[int, ...]


def minimal_complex(points: Points, k: int, metric: str = "box") -> tuple[float, list[Class]] | None:
    """eps* and one partition of the rows (numbers of their points) that reaches it; None for larger tables."""
    if not 1 <= k <= points.rows <= MOST_ROWS:
        return None
    rows = np.repeat(np.arange(len(points.weights)), points.weights)
    widths = points.metric()

    @cache
    def radius(part: int) -> float:
        return simplex_radius(points, rows[members(part)], metric, widths)

    @cache
    def best(mask: int) -> tuple[float, int]:
        """eps* of the rows in a mask, and the class of the first of them; of ties the smallest class."""
        return min((max(best(mask ^ part)[0], radius(part)), part) for part in parts(mask, k)) if mask else (0.0, 0)

    whole, classes = (1 << len(rows)) - 1, []
    mask = whole
    while mask:
        part = best(mask)[1]
        classes.append(tuple(rows[members(part)].tolist()))
        mask ^= part
    return best(whole)[0], classes


def parts(mask: int, k: int) -> Iterator[int]:
    """Subsets of k to 2k - 1 rows that hold the first row of the mask, and leave none or k rows or more."""
    first, *others = (1 << row for row in members(mask))
    rows = 1 + len(others)
    sizes = (size for size in range(k, min(2 * k - 1, rows) + 1) if size == rows or rows - size >= k)
    return (first + sum(more) for more in chain.from_iterable(combinations(others, size - 1) for size in sizes))


def members(mask: int) -> list[int]:
    """Rows in a mask."""
    return [row for row in range(mask.bit_length()) if mask >> row & 1]

"""Minimal anonymity complex: the smallest eps at which the rows can be parted into simplices of at least k rows.

Exhaustive, for a handful of rows: parting a class never widens it, so classes of k to 2k - 1 rows suffice, and

    eps*(rows) = min over classes S that hold the first row of  max(radius(S), eps*(rows without S))
"""

from collections.abc import Iterator

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
    radius: dict[int, float] = {}

    def radius_of(mask: int) -> float:
        if mask not in radius:
            radius[mask] = simplex_radius(points, rows[members(mask)], metric)
        return radius[mask]

    best: dict[int, tuple[float, int]] = {0: (0.0, 0)}
    for mask in sorted(range(1, 1 << len(rows)), key=int.bit_count):
        options = ((max(radius_of(part), best[mask ^ part][0]), part) for part in parts(mask, k) if mask ^ part in best)
        if (found := min(options, default=None)) is not None:
            best[mask] = found
    return best[(1 << len(rows)) - 1][0], [tuple(rows[members(part)].tolist()) for part in chosen(best, len(rows))]


def parts(mask: int, k: int) -> Iterator[int]:
    """Subsets of k to 2k - 1 rows that hold the first row of the mask."""
    first = mask & -mask
    rest = other = mask ^ first
    while True:
        if k <= (first | other).bit_count() < 2 * k:
            yield first | other
        if not other:
            return
        other = (other - 1) & rest


def chosen(best: dict[int, tuple[float, int]], rows: int) -> Iterator[int]:
    """The classes of the best partition."""
    mask = (1 << rows) - 1
    while mask:
        part = best[mask][1]
        yield part
        mask ^= part


def members(mask: int) -> list[int]:
    """Rows in a mask."""
    return [row for row in range(mask.bit_length()) if mask >> row & 1]

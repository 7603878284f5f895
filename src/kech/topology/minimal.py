"""Minimal anonymity complex: the smallest eps at which the rows can be parted into simplices of at least k rows.

Exhaustive, for a handful of rows: parting a class never widens it, so classes of k to 2k - 1 rows suffice, and

    eps(rows, n) = min over classes S that hold the first row of  max(radius(S), eps(rows without S, n - 1))

is the smallest eps at which they can be parted into n classes of k to 2k - 1 rows.  eps* is the smallest of these.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, combinations

import numpy as np

from kech.points.points import Points
from kech.topology.filtration import simplex_radius

MOST_ROWS = 12

Class = tuple[int, ...]
Best = dict[int, tuple[float, int]]  # by number of classes: the smallest eps, and the class of the first row


def minimal_complex(points: Points, k: int, metric: str = "box") -> tuple[float, list[Class]] | None:
    """eps* and a partition of the rows (numbers of their points) that reaches it; None for larger tables.

    Of all that reach it, one with the most classes.
    """
    best = best_partitions(points, k, metric)
    if best is None:
        return None
    (eps, count), *_ = best.steps
    return eps, [tuple(best.rows[members(part)].tolist()) for part in best.classes(count)]


def count_classes(points: Points, k: int, metric: str = "box") -> list[tuple[float, int]] | None:
    """Each eps from which on more classes are possible than before, with the largest number; None for larger tables.

    Of classes of k rows or more: a larger one can be parted, so none has more than 2k - 1 where they are most.
    """
    best = best_partitions(points, k, metric)
    return None if best is None else best.steps


class Partitions:
    """The smallest eps for every number of classes of k to 2k - 1 rows."""

    def __init__(self, points: Points, k: int, metric: str) -> None:
        self.rows = np.repeat(np.arange(len(points.weights)), points.weights)
        self.whole = (1 << len(self.rows)) - 1
        widths = points.metric()

        @cache
        def radius(part: int) -> float:
            return simplex_radius(points, self.rows[members(part)], metric, widths)

        @cache
        def best(mask: int) -> Best:
            """Of ties the class with the lowest rows."""
            found: Best = {} if mask else {0: (0.0, 0)}
            for part in parts(mask, k) if mask else ():
                for count, (eps, _) in best(mask ^ part).items():
                    candidate = max(eps, radius(part)), part
                    found[count + 1] = min(found.get(count + 1, candidate), candidate)
            return found

        self.best = best

    @property
    def steps(self) -> list[tuple[float, int]]:
        """Each eps at which the largest number of classes grows."""
        return keep_rising((eps, count) for count, (eps, _) in self.best(self.whole).items())

    def classes(self, count: int) -> Iterator[int]:
        """The classes of the narrowest partition into so many of k to 2k - 1 rows."""
        mask = self.whole
        for left in range(count, 0, -1):
            part = self.best(mask)[left][1]
            yield part
            mask ^= part


def best_partitions(points: Points, k: int, metric: str) -> Partitions | None:
    """All numbers of classes that are possible, for a handful of rows."""
    return Partitions(points, k, metric) if 1 <= k <= points.rows <= MOST_ROWS else None


def keep_rising(pairs: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    """Pairs of eps and a number of classes, by eps, without those that have no more classes than one before."""
    found: list[tuple[float, int]] = []
    for eps, count in sorted(pairs, key=lambda pair: (pair[0], -pair[1])):
        if not found or count > found[-1][1]:
            found.append((eps, count))
    return found


def parts(mask: int, k: int) -> Iterator[int]:
    """Subsets of k to 2k - 1 rows that hold the first row of the mask, and leave none or k rows or more."""
    first, *others = (1 << row for row in members(mask))
    rows = 1 + len(others)
    sizes = (size for size in range(k, min(2 * k - 1, rows) + 1) if size == rows or rows - size >= k)
    return (first + sum(more) for more in chain.from_iterable(combinations(others, size - 1) for size in sizes))


def members(mask: int) -> list[int]:
    """Rows in a mask."""
    return [row for row in range(mask.bit_length()) if mask >> row & 1]

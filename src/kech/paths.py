"""Paths: the barcode of a path that only goes up a lattice.

In: the classes of the points at each position.  Out: bars with weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kech.grid import Ints


@dataclass(frozen=True, slots=True)
class PathBar:
    """A class along a monotone path, alive from position `birth` to `death`, both included.

    When classes merge the heaviest lives on; `weights` are its rows at each position.
    """

    birth: int
    death: int
    weights: tuple[int, ...]


def path_bars(classes: Sequence[Ints], weights: Ints) -> list[PathBar]:
    """Bars of partitions that only merge: at each merge the heaviest class lives on, and of equals the first."""
    rows = [np.bincount(group, weights=weights).astype(np.int64) for group in classes]
    trails = [[int(held)] for held in rows[0]]
    bar = np.arange(len(rows[0]))  # of each class that is alive
    for before, after, held, next_held in zip(classes, classes[1:], rows, rows[1:], strict=False):
        above = np.zeros(len(held), np.int64)
        above[before] = after
        order = np.lexsort((np.arange(len(held)), -held, above))
        heirs = order[np.searchsorted(above[order], np.arange(len(next_held)))]
        bar = bar[heirs]
        for number, size in zip(bar.tolist(), next_held.tolist(), strict=True):
            trails[number].append(size)
    return [PathBar(0, len(trail) - 1, tuple(trail)) for trail in trails]

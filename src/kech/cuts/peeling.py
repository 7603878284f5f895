"""Peeling: cells of the lattice from the narrowest up; each that still holds k rows becomes a class.

An axis takes part through nested levels of cells: the levels of its tree, halves and quarters of a line or an
order, or, for a set, each value and all.
"""

from collections.abc import Sequence

import numpy as np

from kech._kernels import peel_points
from kech.axes import Axis, Codes, LineAxis, RankAxis, TreeAxis
from kech.axes.grid import Ints
from kech.cuts.moved_ends import loose_widths
from kech.points.points import Points

MOST_NODES = 20_000  # of a larger lattice, random chains
MOST_HALVINGS = 7

Shares = tuple[Ints, Ints, Ints]


def peel(points: Points, ks: Sequence[int], limits: Sequence[float], *, threads: int, seed: int) -> list[Shares]:
    """Shares (point, class, rows) for each k, on the axes of `points`; none where the loss will exceed the limit."""
    how = (points.codes, points.weights, loose_widths(points), level_tables(points))
    prices = [limit * points.rows * len(points.axes) for limit in limits]
    return peel_points(*how, list(ks), prices, MOST_NODES, seed, threads)


def level_tables(points: Points) -> list[Codes]:
    """For each axis [level, code] -> cell, from fine to coarse."""
    return points.hold("levels", lambda at: [np.ascontiguousarray(levels_of(axis), np.int32) for axis in at.axes])


def levels_of(axis: Axis) -> Ints:
    """Levels of one axis; NULL is a cell of its own below the top."""
    if isinstance(axis, TreeAxis):
        levels = [axis.tree.level_codes(level).astype(np.int64) for level in range(axis.tree.height - 1)]
    elif isinstance(axis, LineAxis):
        levels = halvings(axis.ends[0][: axis.values] / axis.length, axis.cells[0][: axis.values])
    elif isinstance(axis, RankAxis) and axis.ordinal:
        levels = halvings(np.arange(axis.values) / max(axis.values, 1), np.arange(axis.values))
    else:
        levels = [axis.cells[0][: axis.values] if isinstance(axis, RankAxis) else np.arange(axis.values)]
    null = np.full(int(axis.has_null), axis.null)
    below = [np.concatenate([level, null]) for level in levels]
    return np.stack([*below, np.zeros(axis.size, np.int64)])


def halvings(place: np.ndarray, finest: Ints) -> list[Ints]:
    """The cells themselves, then 64 parts of the line, 32, down to 2."""
    start = place - place.min(initial=0.0)
    parts = [2**depth for depth in range(MOST_HALVINGS - 1, 0, -1)]
    coarser = [np.floor(np.minimum(start, 1 - 1e-9) * n).astype(np.int64) for n in parts if n < len(np.unique(finest))]
    return [finest, *coarser]

"""Sampled cut: a random sample of the rows at fixed or drawn levels, without classes of fewer than k: differential
privacy.

In: points, the levels that the user fixed, a sampling rate and the k that `request/sampling.py` computes.  Out: the
classes of the sample.  At chosen levels no label follows from the rows: a row decides only the size of its own class.

A row is in the sample if its number of 64 bits is below rate * 2^64.  The numbers are SHAKE-256 under a key made of the
owner's secret, the table and the request.  So an owner can repeat a release, and nobody else can tell what was drawn.
"""

from hashlib import blake2b, shake_256
from math import ceil
from typing import Any

import numpy as np

from kech.axes import LineAxis
from kech.axes.grid import Ints
from kech.axes.levels import Level, build_fixed_levels
from kech.cuts.drawn import draw_levels, group_at_levels
from kech.cuts.protection import derive_key
from kech.errors import GoalNotMet
from kech.points.partition import Partition, box_partition
from kech.points.points import Points
from kech.request import Cut, Goal

BLOCK = 1 << 16  # rows whose numbers are drawn together


def cut_sampled(points: Points, k: int, cut: Cut, goal: Goal) -> Partition:
    """The classes of k rows or more of a sample; rows with equal published cells are interchangeable."""
    levels = choose_levels(points, k, cut, goal)
    cells, first, group = group_at_levels(points, levels)
    rows = draw_sample(points.weights, goal.dp_rate or 0.0, derive_sample_key(points, levels, k, goal))
    sizes = np.bincount(group, rows, len(first)).astype(np.int64)
    point = np.flatnonzero((sizes[group] >= k) & (rows > 0))
    if not len(point):
        reason = f"No class of the sample has {k} rows"
        raise GoalNotMet(f"{reason}. Choose higher --levels, a larger --grid, or fewer quasi-identifiers.")
    kept, number = np.unique(group[point], return_inverse=True)
    lo, hi = (
        np.stack([getattr(level, end)[cells[first[kept], j]] for j, level in enumerate(levels)], axis=1)
        for end in ("lo", "hi")
    )
    order = np.argsort(number, kind="stable")
    published = measure_published(points, levels, point)
    return box_partition(published, point[order], number[order], rows[point][order], lo, hi)


def choose_levels(points: Points, k: int, cut: Cut, goal: Goal) -> list[Level]:
    """A level for each column: that of the user, or one that is drawn where `dp_search` pays for it."""
    columns = [build_fixed_levels(axis, (cut.levels or {}).get(axis.column)) for axis in points.axes]
    if goal.dp_search is None or goal.dp_rate is None:
        return [level for (level,) in columns]
    key = derive_request_key(points, "levels", (goal.dp_search, *request_figures(k, goal)))
    return draw_levels(points, columns, ceil(k / goal.dp_rate), goal.dp_search, key)


def measure_published(points: Points, levels: list[Level], point: Ints) -> Points:
    """The points on the axes of the levels; the domain of a line is that of the published cells."""
    axes = []
    for j, level in enumerate(levels):
        shown = np.bincount(points.codes[point, j], minlength=len(level.cells))
        axes.append(level.measure(shown) if isinstance(level.axis, LineAxis) else level.axis)
    codes = np.stack([level.axis_codes[points.codes[:, j]] for j, level in enumerate(levels)], axis=1)
    return Points(tuple(axes), points.mappings, codes.astype(np.int32), points.weights, origin=points.origin)


def draw_sample(weights: Ints, rate: float, key: bytes) -> Ints:
    """For each point the number of its rows in the sample; each row is in it with the probability `rate`, exactly."""
    last, bound = np.cumsum(weights), int(rate * 2**64)
    drawn = np.zeros(len(weights), np.int64)
    for block, start in enumerate(range(0, int(last[-1]), BLOCK)):
        rows = np.arange(start, min(start + BLOCK, int(last[-1])))
        numbers = np.frombuffer(shake_256(key + block.to_bytes(8, "little")).digest(8 * len(rows)), "<u8")
        taken = rows[numbers < np.uint64(bound)]
        drawn += np.bincount(np.searchsorted(last, taken, side="right"), minlength=len(weights))
    return drawn


def derive_sample_key(points: Points, levels: list[Level], k: int, goal: Goal) -> bytes:
    """The key of one sample: another for every table, request and owner."""
    return derive_request_key(points, "sample", (*request_figures(k, goal), [level.labels() for level in levels]))


def request_figures(k: int, goal: Goal) -> tuple[float | None, ...]:
    """What decides how many rows are drawn, and which classes are published."""
    return goal.dp_epsilon, goal.dp_delta, goal.dp_rate, k


def derive_request_key(points: Points, purpose: str, request: tuple[Any, ...]) -> bytes:
    """A key for one purpose of one request."""
    return blake2b(repr(request).encode(), key=derive_key(points, purpose), digest_size=32).digest()

"""Coarsening: fewer codes on every axis, so that there are fewer points, with a bound on the change of eps.

In: axes and a step h, a width.  Out: axes whose codes are runs of codes no wider than h, in one of two ways:

    cover       a run is printed as a whole, so labels stay true; a box grows at each end, and never shrinks
    round_axis  each code moves to one code of its run, at most h/2 away; such axes are not printed
"""

from collections.abc import Sequence
from dataclasses import replace
from math import hypot, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from kech.axes import Axis, Codes, LineAxis, RankAxis, TextAxis, TreeAxis
from kech.axes.grid import Floats, Ints

QUARTERS = (
    1.0,
    sqrt(sqrt(0.5)),
    sqrt(0.5),
    sqrt(0.5) * sqrt(sqrt(0.5)),
)  # unlike powers, square roots are equal on all platforms
STEPS: tuple[float, ...] = tuple(
    0.5 ** (rung // 4) * QUARTERS[rung % 4] for rung in range(56, -1, -1)
)  # from 1/16384 to 1


def cover(axis: Axis, step: float, k: int) -> Axis:
    """The axis with wider cells, each printed as a whole; k is the smallest of the request.

    Cells wider than the step stay unchanged, and so do the values of a set.
    """
    if isinstance(axis, LineAxis):
        left, right = axis.at(k).ends
        largest_k = np.where(axis.largest_k >= k, axis.largest_k, 0)
        kept = keep_edges(left[: axis.values], right[: axis.values], largest_k, step * axis.at(k).length)
        return rebuild_codes(replace(axis, largest_k=np.where(kept, largest_k, 0), fine=axis.fine or axis))
    if isinstance(axis, RankAxis | TreeAxis):
        return rebuild_codes(replace(axis, starts=run_starts(axis, step)))
    return axis


def keep_edges(left: Floats, right: Floats, largest_k: Ints, most: float) -> NDArray[np.bool_]:
    """Which edges remain, so that every cell is at most `most` long, or is one cell of the finer grid.

    Edges with a larger `largest_k` come first, and split only cells that are too long without them.  So cells are
    short at every k.  Between edges of one `largest_k`, cells are joined from the left as long as they are short.
    """
    remains = np.zeros(len(largest_k), bool)
    cells = [(0, len(largest_k))]
    while cells:
        first, last = cells.pop()
        top = largest_k[first:last].max(initial=0)
        if top == 0 or right[last] - left[first] <= most:
            continue
        ties = first + np.flatnonzero(largest_k[first:last] == top)
        starts, stops = np.append(first, ties + 1), np.append(ties, last)
        at = 0
        while at < len(starts):
            last_short = np.searchsorted(right[stops], left[starts[at]] + most, side="right") - 1
            end = max(int(last_short), at)
            if end + 1 < len(starts):
                remains[stops[end]] = True
            if end == at:
                cells.append((int(starts[at]), int(stops[at])))
            at = end + 1
    return remains


def run_starts(axis: RankAxis | TreeAxis, step: float) -> Ints:
    """The first code of each run: of a tree the highest nodes within the step, of an order equally many values.

    Values of a set are at distance 1, so each is a run of its own.
    """
    if isinstance(axis, RankAxis):
        return np.arange(0, axis.values, int(step * axis.steps + 1e-9) + 1 if axis.is_ordered else 1)
    starts = np.arange(axis.values)
    for level in range(1, axis.tree.height):
        codes = axis.tree.level_codes(level)
        first, last = (np.searchsorted(codes, codes, side) - (side == "right") for side in ("left", "right"))
        starts = np.where(axis.metric(first, last) <= step, first, starts)
    return np.unique(starts)


def rebuild_codes(axis: LineAxis | RankAxis | TreeAxis) -> Axis:
    """The axis with every value coded by the first code of its cell."""
    first = axis.at(1).cells[0]
    return replace(axis, codes=first[axis.codes].astype(np.int32))


def round_axis(axis: Axis, step: float) -> tuple[Axis, float]:
    """The axis with every value moved to one code of its run, and the largest change of a radius by that."""
    target = move_codes(axis, step)
    return replace(axis, codes=target[axis.codes].astype(np.int32)), rounding_error(axis, target)


def move_codes(axis: Axis, step: float) -> Ints:
    """The code to which each code moves: at most half a step away; in a tree within a node narrower than the step."""
    if isinstance(axis, TreeAxis):
        starts = run_starts(axis, step)
        return replace(axis, starts=starts).cells[0]
    left, right = code_ends(axis)
    target, at, half = np.arange(axis.size), 0, step * (1 + 1e-12) / 2
    while at < axis.values:
        middle = last_within(left, right, at, half)
        end = last_within(left, right, middle, half)
        target[at : end + 1] = middle
        at = end + 1
    return target


def code_ends(axis: Axis) -> tuple[Floats, Floats]:
    """Left and right end of each code, as fractions of the axis; values of a set are too far apart to move."""
    if isinstance(axis, LineAxis):
        left, right = (end[: axis.values] / axis.length for end in axis.ends)
        return left, right
    ends = np.arange(axis.values) / (axis.steps if isinstance(axis, RankAxis) and axis.is_ordered else 0.5)
    return ends, ends


def last_within(left: Floats, right: Floats, code: int, half: float) -> int:
    """The last code whose two ends are within half a step of those of this code."""
    ends = [int(np.searchsorted(end, end[code] + half, side="right")) - 1 for end in (left, right)]
    return max(min(ends), code)


# -- errors of eps ---------------------------------------------------------------------------------------


def covering_error(axis: Axis) -> float:
    """The most by which half the width of a range grows on an axis made by `cover`; it never shrinks."""
    if isinstance(axis, LineAxis) and axis.fine is not None:
        (left, right), (inner_left, inner_right) = axis.ends, axis.fine.at(axis.k).ends
        return float((inner_left - left).max(initial=0) + (right - inner_right).max(initial=0)) / axis.length / 2
    if isinstance(axis, RankAxis | TreeAxis) and axis.starts is not None:
        fine = replace(axis, starts=None)
        return largest_change(fine, *axis.runs)
    return 0.0


def rounding_error(axis: Axis, target: Ints) -> float:
    """The most by which half the width of a range grows or shrinks when codes move to their targets."""
    if isinstance(axis, LineAxis):
        left, right = code_ends(axis)
        moved = target[: axis.values]
        return float(max(np.abs(end[moved] - end).max(initial=0) for end in (left, right)))
    return largest_change(axis, target, target)


def largest_change(axis: Axis, first: Ints, last: Ints) -> float:
    """The largest change of half a width when a range [lo, hi] becomes [first[lo], last[hi]].

    On a tree only ranges inside one cell change.  In an order both ends change independently.  A set does not change.
    """
    if isinstance(axis, TreeAxis):
        cells = np.searchsorted(first, first), np.searchsorted(first, first, side="right") - 1
        cell_widths = axis.metric(*cells) * (cells[0] < cells[1])
        return float(cell_widths.max(initial=0)) / 2
    if axis.kind == "ordered" and isinstance(axis, RankAxis):
        wider = np.abs(first - axis.runs[0]).max(initial=0) + np.abs(last - axis.runs[1]).max(initial=0)
        return float(wider) / axis.steps / 2
    codes = np.arange(axis.size)
    return float(np.abs(axis.metric(first, last) - axis.metric(codes, codes)).max(initial=0)) / 2


def joint_error(errors: Sequence[float], metric: str = "box") -> float:
    """The error of eps from the errors of all axes: the maximum for boxes, the Euclidean norm for balls."""
    return float(hypot(*errors) if metric == "ball" else max(errors, default=0.0))


# -- the choice of the step ------------------------------------------------------------------------------


def find_step(axes: Sequence[Axis], sample: Codes, rows: int, most: int, k: int, *, rounding: bool) -> float:
    """The narrowest of STEPS with which all rows have at most about `most` points, estimated from a sample."""
    low, high = 0, len(STEPS) - 1
    while low < high:
        middle = (low + high) // 2
        maps = [cell_map(axis, STEPS[middle], k, rounding=rounding) for axis in axes]
        low, high = (low, middle) if expected_points(sample, maps, rows) <= most else (middle + 1, high)
    return STEPS[low]


def cell_map(axis: Axis, step: float, k: int, *, rounding: bool) -> Ints:
    """For each code the code of its run, after coarsening to this step."""
    if rounding:
        return move_codes(axis, step)
    covered = cover(axis, step, k).at(1)
    return covered.cells[0] if isinstance(covered, LineAxis | TextAxis) else np.arange(axis.size)


def expected_points(sample: Codes, maps: Sequence[Ints], rows: int) -> float:
    """The estimated distinct points of all rows, from those of a sample and of half of it.

    The growth from half the sample to all of it is extrapolated as a power law.  That rather overestimates, since
    later rows are new less often.
    """
    keys = point_keys(sample, maps)
    distinct, half = count_distinct(keys), count_distinct(keys[::2])
    return float(distinct * (rows / max(len(sample), 1)) ** log2(max(distinct, 1) / max(half, 1)))


def count_distinct(keys: NDArray[np.uint64]) -> int:
    """The number of distinct keys; sorting is much faster than hashing."""
    ordered = np.sort(keys)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + min(len(keys), 1)


def point_keys(codes: Codes, maps: Sequence[Ints] | None = None) -> NDArray[np.uint64]:
    """A hash of 64 bits for each row of codes."""
    factors = np.random.default_rng(0).integers(1, 2**63, codes.shape[1], np.uint64) | np.uint64(1)
    keys = np.zeros(len(codes), np.uint64)
    for j, factor in enumerate(factors):
        column = codes[:, j] if maps is None else maps[j][codes[:, j]]
        keys += column.astype(np.uint64) * factor
    return keys

"""Coarsening: fewer codes on every axis, so that there are fewer points, with a bound on what that does to eps.

In: axes and a step h, a width.  Out: axes whose codes stand for runs of codes no wider than h, in one of two ways.

    covered:  the run is printed whole, so labels stay true; a box grows at each end, and never shrinks
    round_axis:  each code moves to one of its run, at most h/2 away; nothing is printed
"""

from collections.abc import Sequence
from dataclasses import replace
from math import hypot, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from kech.axes import Axis, Codes, LineAxis, RankAxis, TextAxis, TreeAxis
from kech.axes.grid import Floats, Ints

QUARTERS = (1.0, sqrt(sqrt(0.5)), sqrt(0.5), sqrt(0.5) * sqrt(sqrt(0.5)))  # roots are exact everywhere, powers are not
STEPS: tuple[float, ...] = tuple(
    0.5 ** (rung // 4) * QUARTERS[rung % 4] for rung in range(56, -1, -1)
)  # steps to choose among, from 1/16384 to 1


def cover(axis: Axis, step: float, k: int) -> Axis:
    """The axis with wider cells, each printed whole; k is the smallest that will be asked for.

    What is wider than the step stays as it is, and so do the values of a set.
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
    """Which boundaries between codes remain, so that every cell is short, or one cell of the finer grid.

    Edges that serve a larger k come first, and part only cells that are too long without them.  So cells are short for
    every k, on the edges that are left at that k.  Between edges of one k, neighbours are joined from the left for as
    long as they are short together.
    """
    kept = np.zeros(len(largest_k), bool)
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
            reach = np.searchsorted(right[stops], left[starts[at]] + most, side="right") - 1
            end = max(int(reach), at)
            if end + 1 < len(starts):
                kept[stops[end]] = True
            if end == at:
                cells.append((int(starts[at]), int(stops[at])))
            at = end + 1
    return kept


def run_starts(axis: RankAxis | TreeAxis, step: float) -> Ints:
    """The first code of each run: the highest nodes of a tree that are narrow enough, equal numbers of an order.

    Values of a set are at distance 1, so each stays alone.
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
    """Every value on the first code of its cell."""
    first = axis.at(1).cells[0]
    return replace(axis, codes=first[axis.codes].astype(np.int32))


def round_axis(axis: Axis, step: float) -> tuple[Axis, float]:
    """The axis with every value on one code of its run, and by how much that can change a radius."""
    to = move_codes(axis, step)
    return replace(axis, codes=to[axis.codes].astype(np.int32)), rounding_error(axis, to)


def move_codes(axis: Axis, step: float) -> Ints:
    """Where each code moves: no end of its stretch by more than half a step; in a tree, within a narrow node."""
    if isinstance(axis, TreeAxis):
        starts = run_starts(axis, step)
        return replace(axis, starts=starts).cells[0]
    left, right = code_ends(axis)
    to, at, half = np.arange(axis.size), 0, step * (1 + 1e-12) / 2
    while at < axis.values:
        middle = last_within(left, right, at, half)
        end = last_within(left, right, middle, half)
        to[at : end + 1] = middle
        at = end + 1
    return to


def code_ends(axis: Axis) -> tuple[Floats, Floats]:
    """Left and right end of each code, as shares of the axis; values of a set stay, so far apart are they."""
    if isinstance(axis, LineAxis):
        left, right = (end[: axis.values] / axis.length for end in axis.ends)
        return left, right
    ends = np.arange(axis.values) / (axis.steps if isinstance(axis, RankAxis) and axis.is_ordered else 0.5)
    return ends, ends


def last_within(left: Floats, right: Floats, code: int, half: float) -> int:
    """The last code whose ends lie within half a step of those of this one."""
    ends = [int(np.searchsorted(end, end[code] + half, side="right")) - 1 for end in (left, right)]
    return max(min(ends), code)


# -- what eps loses --------------------------------------------------------------------------------------


def covering_error(axis: Axis) -> float:
    """By how much half the width of a range can grow on an axis that was covered: it never shrinks."""
    if isinstance(axis, LineAxis) and axis.fine is not None:
        (left, right), (inner_left, inner_right) = axis.ends, axis.fine.at(axis.k).ends
        return float((inner_left - left).max(initial=0) + (right - inner_right).max(initial=0)) / axis.length / 2
    if isinstance(axis, RankAxis | TreeAxis) and axis.starts is not None:
        fine = replace(axis, starts=None)
        return largest_change(fine, *axis.runs)
    return 0.0


def rounding_error(axis: Axis, to: Ints) -> float:
    """By how much half the width of a range can grow or shrink when codes move."""
    if isinstance(axis, LineAxis):
        left, right = code_ends(axis)
        moved = to[: axis.values]
        return float(max(np.abs(end[moved] - end).max(initial=0) for end in (left, right)))
    return largest_change(axis, to, to)


def largest_change(axis: Axis, first: Ints, last: Ints) -> float:
    """The largest change of half a width when a range [lo, hi] becomes [first[lo], last[hi]].

    On a tree only ranges inside one cell change.  In an order the ends change apart from each other.  Values of a set
    stay.
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
    """The error of eps from the errors of all axes: the largest for boxes; for balls a move as far on every axis."""
    return float(hypot(*errors) if metric == "ball" else max(errors, default=0.0))


# -- how wide a step must be -----------------------------------------------------------------------------


def find_step(axes: Sequence[Axis], sample: Codes, rows: int, most: int, k: int, *, rounding: bool) -> float:
    """The narrowest of a ladder of steps that will leave about so many points at most, as a sample of rows tells."""
    low, high = 0, len(STEPS) - 1
    while low < high:
        middle = (low + high) // 2
        maps = [cell_map(axis, STEPS[middle], k, rounding=rounding) for axis in axes]
        low, high = (low, middle) if expected_points(sample, maps, rows) <= most else (middle + 1, high)
    return STEPS[low]


def cell_map(axis: Axis, step: float, k: int, *, rounding: bool) -> Ints:
    """For each code the one that stands for it."""
    if rounding:
        return move_codes(axis, step)
    covered = cover(axis, step, k).at(1)
    return covered.cells[0] if isinstance(covered, LineAxis | TextAxis) else np.arange(axis.size)


def expected_points(sample: Codes, maps: Sequence[Ints], rows: int) -> float:
    """Distinct points of all rows, from those of a sample and of half of it.

    The more rows, the fewer of them are new.  So the growth from half the sample to all of it is carried on, and is
    rather more than what will be found.
    """
    keys = point_keys(sample, maps)
    distinct, half = count_distinct(keys), count_distinct(keys[::2])
    return float(distinct * (rows / max(len(sample), 1)) ** log2(max(distinct, 1) / max(half, 1)))


def count_distinct(keys: NDArray[np.uint64]) -> int:
    """How many different numbers there are; sorting them is much quicker than hashing."""
    ordered = np.sort(keys)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + min(len(keys), 1)


def point_keys(codes: Codes, maps: Sequence[Ints] | None = None) -> NDArray[np.uint64]:
    """A number for each row of codes; two different rows hardly ever share one."""
    factors = np.random.default_rng(0).integers(1, 2**63, codes.shape[1], np.uint64) | np.uint64(1)
    keys = np.zeros(len(codes), np.uint64)
    for j, factor in enumerate(factors):
        column = codes[:, j] if maps is None else maps[j][codes[:, j]]
        keys += column.astype(np.uint64) * factor
    return keys

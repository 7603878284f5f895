"""Holes among boxes: pairs decide, so the bars are those of the Rips complex of half the distances.

Holes of dimension 1 on few columns are found by a kernel of our own (_kernels/box_holes.hpp), all others by ripser.
"""

from itertools import chain, combinations
from math import comb, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech._kernels import find_holes
from kech.errors import MissingExtra, ResourceError
from kech.points.points import Points
from kech.system.memory import (
    CORNER_BYTES,
    DISTANCE_BYTES,
    HELD_DISTANCE_BYTES,
    HOLE_BYTES,
    RIPS_AXIS_BYTES,
    RIPS_BYTES,
    RIPSER_BYTES,
    SIMPLEX_BYTES,
)
from kech.topology.homology.reduction import ADVICE, Bars, Floats, Holes, Ints, check_holes, sort_bars

MOST_AXES = max(HOLE_BYTES)  # of our own kernel: work grows tenfold with each more
FLOAT32_COUNTS = 2**24  # ripser computes in float32, where larger whole numbers collide


def box_bars(points: Points, top: int, highest: int, limit: int, *, field: int, zero_length: bool) -> Holes:
    """Bars of the Rips complex up to dimension `top`; none above `highest` lasts."""
    axes = count_varying(points)
    if zero_length or min(top, highest) > 1 or axes > MOST_AXES:
        return rips_bars(points, top, highest, limit, field=field, zero_length=zero_length)
    count = len(points.codes)
    check_holes(count * HOLE_BYTES[max(axes, min(HOLE_BYTES))], limit, count)
    ends = find_holes(points.codes, points.weights, points.metric(), field, 1)
    bars = {n: np.empty((0, 2)) for n in range(1, top + 1)}
    return count_holes(count, bars | {1: sort_bars(np.stack(ends, axis=1) / 2)})


def count_varying(points: Points) -> int:
    """The number of axes on which distances vary; on all others two values are at distance 1."""
    used = [np.unique(codes).astype(np.int64) for codes in points.codes.T]
    return sum(bool((axis.metric(x[:-1], x[1:]) < 1).any()) for axis, x in zip(points.axes, used, strict=True))


def rips_bars(points: Points, top: int, highest: int, limit: int, *, field: int, zero_length: bool) -> Holes:
    """The bars of the Rips complex, computed by ripser.

    They are found in whole ranks of the distances, so that no rounding can tear ties apart.
    """
    try:
        from ripser import ripser
    except ImportError:
        raise MissingExtra("Homology of boxes above dimension 1, or on more than 4 columns,", "topology") from None
    count, looked = len(points.codes), min(top, highest)
    check_holes(RIPSER_BYTES + DISTANCE_BYTES * count**2, limit, count)
    if zero_length:
        check_holes(sum(CORNER_BYTES * (n + 1) * comb(count, n + 1) for n in range(1, top + 1)), limit, count)
    lengths, ranks = rank_distances(points)
    near = int((ranks <= ranks.max(axis=0).min()).sum() - count) // 2
    check_holes(rips_bytes(count, near, looked, len(points.axes)), limit, count)
    if len(lengths) > FLOAT32_COUNTS:
        raise ResourceError(f"{count:,} points have too many distances for holes. {ADVICE}")
    ranks_of_bars = [bars.astype(np.int64) for bars in ripser_bars(ripser, ranks, top, looked, field)]
    instants = (
        instant_bars(ranks.astype(np.int64), ranks_of_bars) if zero_length else [np.empty((0, 2), np.int64)] * top
    )
    return count_holes(
        count,
        {n: sort_bars(lengths[np.concatenate([ranks_of_bars[n], instants[n - 1]])] / 2) for n in range(1, top + 1)},
    )


def no_bars(count: int, top: int) -> Holes:
    """The holes of points of which no hole can last: none, and how many have zero length."""
    return count_holes(count, {n: np.empty((0, 2)) for n in range(1, top + 1)})


def count_holes(count: int, bars: Bars) -> Holes:
    """The holes with these bars, and how many of zero length are not among them: C(count - 1, n + 1) open in all."""
    return Holes(bars, {n: comb(count - 1, n + 1) - len(listed) for n, listed in bars.items()})


def ripser_bars(
    ripser: Any, ranks: NDArray[np.float32], top: int, looked: int, field: int
) -> list[NDArray[np.float32]]:
    """Finite bars of dimension 0, 1, ..., top in ranks; ripser looks as far as bars can last."""
    diagrams = ripser(ranks, maxdim=looked, coeff=field, distance_matrix=True)["dgms"]
    return [diagrams[0][:-1], *diagrams[1:], *[np.empty((0, 2), np.float32)] * (top - looked)]


def instant_bars(ranks: Ints, bars: list[Ints]) -> list[Ints]:
    """Holes of dimension 1, 2, ... that are filled at the rank at which they open.

    Every simplex either opens a hole or fills one.  So of the n-simplices of a rank, those that fill no hole of
    dimension n - 1 there, and open none that lasts, open one of zero length.  Points at distance 0, so close that
    rounding cannot part them, merge at rank 0; ripser does not list that.
    """
    levels = int(ranks.max(initial=0)) + 1
    fills, instants = np.bincount(bars[0][:, 1], minlength=levels), list[Ints]()
    fills[0] = len(ranks) - 1 - fills[1:].sum()
    for n, lasting in enumerate(bars[1:], start=1):
        opens = np.bincount(simplex_ranks(ranks, n), minlength=levels) - fills
        instant = opens - np.bincount(lasting[:, 0], minlength=levels)
        fills = instant + np.bincount(lasting[:, 1], minlength=levels)
        instants.append(np.repeat(np.arange(levels), instant)[:, None].repeat(2, axis=1))
    return instants


def simplex_ranks(ranks: Ints, n: int) -> Ints:
    """The rank of the longest side of every n-simplex."""
    corners = np.fromiter(chain.from_iterable(combinations(range(len(ranks)), n + 1)), np.int64).reshape(-1, n + 1)
    sides = [ranks[corners[:, i], corners[:, j]] for i, j in combinations(range(n + 1), 2)]
    return np.asarray(np.max(sides, axis=0))


def rank_distances(points: Points) -> tuple[Floats, NDArray[np.float32]]:
    """All distances in ascending order, from 0, and the matrix of their ranks: d(x, y) = max_j width_j({x_j, y_j}).

    The points are shuffled: in the order of a table, ripser takes up to ten times longer.
    """
    shuffled = np.random.default_rng(0).permutation(points.codes)
    first, second = np.triu_indices(len(shuffled), 1)
    distances = np.zeros(len(first))
    for axis, codes in zip(points.axes, shuffled.T, strict=True):
        lo, hi = np.minimum(codes[first], codes[second]), np.maximum(codes[first], codes[second])
        np.maximum(distances, np.where(lo < hi, axis.metric(lo, hi), 0.0), out=distances)
    lengths, inverse = np.unique(np.append(distances, 0.0), return_inverse=True)
    ranks = np.zeros((len(shuffled), len(shuffled)), np.float32)
    ranks[first, second] = ranks[second, first] = inverse[:-1]
    return lengths, ranks


def rips_bytes(count: int, near: int, top: int, axes: int) -> int:
    """What ripser may need, as benchmarks/holes.py measures it: for dimension 1 bytes for each pair of points, beyond
    it bytes for each simplex of the highest dimension it reduces.

    From the eps at which some row reaches all others, nothing is open; so many pairs are `near`.  They make
    the most simplices when they are all pairs of a few rows (Kruskal and Katona).
    """
    if top == 1:
        return RIPSER_BYTES + int((RIPS_BYTES + RIPS_AXIS_BYTES * axes) * count**2)
    few = (isqrt(8 * near + 1) + 3) // 2
    return RIPSER_BYTES + HELD_DISTANCE_BYTES * count**2 + SIMPLEX_BYTES * comb(few, top + 1)

"""Reduction: which simplex opens and which fills each hole."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bars = dict[int, Floats]  # births and deaths, n x 2, by dimension

ROUNDING = 1e-11  # of the unit cube: shorter bars of balls come from floats, not from the data


class Holes(NamedTuple):
    """Bars by dimension, and how many of zero length are not among them.

    A hole of zero length is filled the moment it opens; there are many, and they depend on how the complex is
    stored: all simplices of the points for boxes, the Delaunay complex for balls.
    """

    bars: Bars
    left_out: dict[int, int]


class Faces(NamedTuple):
    """All simplices of one dimension: their points ascending, and their facets; facet i lacks point i."""

    points: Ints
    facets: Ints


def reduce_boundaries(skeleton: list[Faces], radii: list[Floats]) -> Iterator[tuple[int, Floats]]:
    """Dimension and bars of the holes that each dimension of simplices fills, from the cells down.

    Simplices enter by radius.  The simplices that open the holes of one dimension have a boundary that is
    already filled: they are cleared, and the dimension below need not look at them.
    """
    order = [np.argsort(values, kind="stable") for values in radii]
    cleared: set[int] = set()
    for n in range(len(skeleton) - 1, 0, -1):
        rank = np.empty_like(order[n])
        rank[order[n]] = np.arange(len(rank))
        pairs = pair_up(rank[skeleton[n].facets[order[n + 1]]], cleared)
        births, deaths = radii[n][order[n][pairs[:, 0]]], radii[n + 1][order[n + 1][pairs[:, 1]]]
        yield n, np.stack([births, np.where(deaths - births > ROUNDING, deaths, births)], axis=1)
        cleared = set(pairs[:, 0].tolist())


def pair_up(boundaries: Ints, cleared: set[int]) -> Ints:
    """Which face opens and which simplex fills each hole: the reduction of a boundary matrix over Z/2.

    To each boundary, earlier ones are added until its youngest face is no other's; that face opened the hole.
    """
    youngest_first = (-np.sort(-boundaries, axis=1)).tolist()
    owned: dict[int, list[int] | set[int]] = {}
    pairs = []
    for simplex, boundary in enumerate(youngest_first):
        if simplex in cleared:
            continue
        chain = boundary if boundary[0] not in owned else add_owned(boundary, owned)
        if chain:
            youngest = max(chain)
            owned[youngest] = chain
            pairs.append((youngest, simplex))
    return np.array(pairs, np.int64).reshape(-1, 2)


def add_owned(boundary: list[int], owned: dict[int, list[int] | set[int]]) -> set[int]:
    """The sum of a boundary and of those that own its youngest face, until nobody does."""
    chain, queue = set(boundary), [-face for face in boundary]
    heapify(queue)
    while queue:
        youngest = -heappop(queue)
        if youngest not in chain:
            continue
        if youngest not in owned:
            break
        for face in owned[youngest]:
            if face in chain:
                chain.remove(face)
            else:
                chain.add(face)
                heappush(queue, -face)
    return chain


def sort_out(bars: Bars, *, zero_length: bool) -> Holes:
    """Bars in order; those of zero length are left out unless asked for."""
    lasting = {n: found[:, 0] < found[:, 1] for n, found in bars.items()}
    shown = {n: found if zero_length else found[lasting[n]] for n, found in bars.items()}
    left_out = {n: 0 if zero_length else int((~lasts).sum()) for n, lasts in lasting.items()}
    return Holes({n: in_order(found) for n, found in shown.items()}, left_out)


def in_order(bars: Floats) -> Floats:
    """By birth, then by death."""
    return bars[np.lexsort((bars[:, 1], bars[:, 0]))]

"""Reduction: which simplex opens and which fills each hole; what it may take is refused before it begins."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kech.system.memory import check_need

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bars = dict[int, Floats]  # births and deaths, n x 2, by dimension
Chain = dict[int, int]  # faces, each with its coefficient, which is not 0

ADVICE = "Use fewer rows or columns, or leave holes out: --max-dimension 0."
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


def check_holes(need: int, limit: int, count: int) -> None:
    """Refuse a search for holes among so many points that needs too much memory."""
    check_need(need, limit, f"Holes among {count:,} points", ADVICE)


def reduce_boundaries(skeleton: list[Faces], radii: list[Floats], field: int) -> Iterator[tuple[int, Floats]]:
    """Dimension and bars of the holes that each dimension of simplices fills, from the cells down.

    Simplices enter by radius.  The simplices that open the holes of one dimension have a boundary that is
    already filled: they are cleared, and the dimension below need not look at them.
    """
    order = [np.argsort(values, kind="stable") for values in radii]
    cleared: set[int] = set()
    for n in range(len(skeleton) - 1, 0, -1):
        rank = np.empty_like(order[n])
        rank[order[n]] = np.arange(len(rank))
        pairs = find_persistence_pairs(rank[skeleton[n].facets[order[n + 1]]], cleared, field)
        births, deaths = radii[n][order[n][pairs[:, 0]]], radii[n + 1][order[n + 1][pairs[:, 1]]]
        yield n, np.stack([births, np.where(deaths - births > ROUNDING, deaths, births)], axis=1)
        cleared = set(pairs[:, 0].tolist())


def find_persistence_pairs(boundaries: Ints, cleared: set[int], field: int) -> Ints:
    """The pairs of a face that opens a hole and the simplex that fills it: a boundary matrix reduced over Z/field.

    The boundary of a simplex is the sum of (-1)^i times the face that lacks point i.  To each boundary, multiples of
    earlier ones are added until its youngest face is no other's; that face opened the hole.
    """
    order = np.argsort(-boundaries, axis=1)
    faces = np.take_along_axis(boundaries, order, axis=1).tolist()
    signs = np.where(order % 2, field - 1, 1).tolist()
    owned: dict[int, Chain] = {}
    pairs = []
    for simplex, boundary in enumerate(faces):
        if simplex in cleared:
            continue
        chain = dict(zip(boundary, signs[simplex], strict=True))
        if boundary[0] in owned:
            reduce_chain(chain, owned, field)
        if chain:
            youngest = max(chain)
            owned[youngest] = chain
            pairs.append((youngest, simplex))
    return np.array(pairs, np.int64).reshape(-1, 2)


def reduce_chain(chain: Chain, owned: dict[int, Chain], field: int) -> None:
    """Add multiples of the chains that own the youngest face of this chain, until none owns it."""
    queue = [-face for face in chain]
    heapify(queue)
    while queue:
        youngest = -heappop(queue)
        if youngest not in chain:
            continue
        if youngest not in owned:
            break
        owner = owned[youngest]
        factor = -chain[youngest] * pow(owner[youngest], -1, field)
        for face, coefficient in owner.items():
            if face not in chain:
                heappush(queue, -face)
            left = (chain.get(face, 0) + factor * coefficient) % field
            if left:
                chain[face] = left
            else:
                del chain[face]


def omit_zero_length(bars: Bars, *, zero_length: bool) -> Holes:
    """The holes with bars in order; bars of zero length are only counted, unless they are asked for."""
    lasting = {n: pairs[:, 0] < pairs[:, 1] for n, pairs in bars.items()}
    selected = {n: pairs if zero_length else pairs[lasting[n]] for n, pairs in bars.items()}
    left_out = {n: 0 if zero_length else int((~lasts).sum()) for n, lasts in lasting.items()}
    return Holes({n: sort_bars(pairs) for n, pairs in selected.items()}, left_out)


def sort_bars(bars: Floats) -> Floats:
    """The bars, sorted by birth, then by death."""
    return bars[np.lexsort((bars[:, 1], bars[:, 0]))]

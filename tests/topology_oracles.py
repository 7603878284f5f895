"""Topology by definition, too slow to ship: point sets by the thousand, and complexes looked at subset by subset.

Distances come from `Axis.widths` alone, and from the star where values have no order; nothing else of kech is used
to decide.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
from scipy.optimize import nnls
from scipy.sparse.csgraph import connected_components

import kech
from kech.axes import build_line_axis, build_rank_axis, build_tree_axis
from kech.axes.hierarchy import build_prefix_tree
from kech.points.points import Points
from kech.topology.barcode import build_barcode

# What is tested


def build_filtration(points, metric="box", threads=1):
    """What merges when, as a barcode holds it."""
    return build_barcode(points, metric, 0, threads=threads).filtration


def simplex_radius(points, rows, metric="box"):
    """The eps from which on these rows are one simplex, as the tree of these rows alone says."""
    return build_filtration(gather(points.axes, points.codes[rows]), metric).simplex_from[-1]


# Point sets


def line_points(values, *, grid="exact", is_date=False):
    """Points of a matrix of numbers, a row each; equal rows are one point with a weight."""
    values = np.atleast_2d(np.asarray(values, float))
    axes = [line_axis(column, grid, is_date) for column in values.T]
    codes = [axis.encode(column) for axis, column in zip(axes, values.T, strict=True)]
    return gather(axes, np.stack(codes, axis=1))


def line_axis(column, grid="exact", is_date=False, has_null=False):
    known, counts = np.unique(column, return_counts=True)
    return build_line_axis("c", known, counts, has_null, is_date=is_date, grid=grid)


def gather(axes, codes):
    """Equal rows of codes are one point with a weight."""
    points, weights = np.unique(codes, axis=0, return_counts=True)
    return Points(tuple(axes), (), np.ascontiguousarray(points, np.int32), weights.astype(np.int64))


def coordinates(rng, kind, rows, axes):
    """A matrix of numbers of the named kind."""
    return KINDS[kind](rng, (rows, axes))


KINDS = {
    "uniform": lambda rng, shape: rng.random(shape),
    "grid": lambda rng, shape: rng.integers(0, rng.integers(1, 6), shape).astype(float),
    "thirds": lambda rng, shape: rng.integers(0, 4, shape) / 3,
    "collinear": lambda rng, shape: rng.integers(-9, 10, (shape[0], 1)) * rng.integers(-3, 4, shape[1]).astype(float),
    "cospherical": lambda rng, shape: rng.permuted(rng.choice([-1, 1], shape) * np.resize([3.0, 4], shape[1]), axis=1),
    "clusters": lambda rng, shape: rng.integers(0, 3, shape) + rng.random(shape) * 10.0 ** -rng.integers(1, 9),
    "far away": lambda rng, shape: 10.0**9 + rng.integers(0, 50, shape),
    "duplicates": lambda rng, shape: rng.random((5, shape[1]))[rng.integers(0, 5, shape[0])],
}
WHOLE = ("grid", "collinear", "cospherical", "far away")


def mixed_points(rng, rows, axes):
    """Points on axes of every kind, with NULLs here and there; grids as published for some k."""
    made = [mixed_axis(rng, rows) for _ in range(axes)]
    k = int(rng.integers(1, 5))
    codes = np.stack([rng.choice(np.arange(axis.size), rows) for axis in made], axis=1)
    return gather([axis.at(k) for axis in made], codes)


def mixed_axis(rng, rows):
    has_null = bool(rng.integers(0, 3) == 0)
    kind = rng.integers(0, 6)
    if kind < 3:
        grid = ("exact", "round", 2.0)[kind]
        return line_axis(rng.integers(0, 15, rows).astype(float), grid, False, has_null)
    texts = [f"{a}{b}{c}" for a in "01" for b in "012" for c in "01"][: rng.integers(1, 13)]
    texts = list(rng.permutation(texts))
    if kind == 3:
        return build_rank_axis("c", texts, texts, has_null, is_ordered=bool(rng.integers(0, 2)))
    tree = build_prefix_tree(texts) if kind == 4 else kech.read_hierarchy({0: texts, 1: ["*"] * len(texts)})
    return build_tree_axis("c", texts, tree, has_null)


# Distances and simplices


def eps_widths(axis, lo, hi):
    """Widths as eps measures them: lines as printed; texts as if no value were rare, without an order at distance 1."""
    if axis.kind in ("number", "date"):
        return axis.widths(lo, hi)
    if axis.kind == "hierarchy":
        return axis.at(1).widths(lo, hi)
    steps = axis.runs[1][hi] - axis.runs[0][lo]
    if axis.kind == "set":
        return (steps > 0) * 1.0
    return np.where((hi == axis.null) & (lo < hi), 1.0, steps / max(axis.values - 1, 1))


def axis_widths(points):
    """For each axis the width of every two points; two that agree there have none."""
    found = []
    for axis, column in zip(points.axes, points.codes.T.astype(np.int64), strict=True):
        lo, hi = np.minimum.outer(column, column), np.maximum.outer(column, column)
        found.append(np.where(lo == hi, 0.0, eps_widths(axis, lo, hi)))
    return found


def distances(points, metric):
    """Distance of every two points: the widest side, or the root of the exact sum of squares."""
    if metric == "box":
        return np.max(axis_widths(points), axis=0)
    cube = unit_cube(points)
    return np.array([[float(square_distance(a, b)) ** 0.5 for a in cube] for b in cube])


def unit_cube(points):
    """Points as fractions in the unit cube: exact, for lines only."""
    columns = []
    for axis, codes in zip(points.axes, points.codes.T, strict=True):
        places = [Fraction(x) for x in axis.ends[0].tolist()]
        columns.append([(places[code] - places[0]) / Fraction(axis.length) for code in codes])
    return list(zip(*columns, strict=True))


def simplex_eps(points, chosen, metric):
    """Smallest eps at which closed eps-balls around the chosen points share a point."""
    chosen = sorted(set(chosen))
    if metric == "box":
        return float(distances(points, "box")[np.ix_(chosen, chosen)].max()) / 2
    cube = unit_cube(points)
    return float(exact_square_radius([cube[i] for i in chosen])) ** 0.5


def exact_square_radius(places):
    """Square of the radius of the smallest ball around places, in fractions.

    Of all subsets whose circumcentre lies inside them, the one whose sphere holds everybody.
    """
    places = sorted({tuple(map(Fraction, place)) for place in places})
    for size in range(1, len(places[0]) + 2):
        for subset in combinations(places, size):
            centre = circumcentre(subset)
            if centre is not None:
                square = square_distance(subset[0], centre)
                if all(square_distance(place, centre) <= square for place in places):
                    return square
    raise AssertionError("there is always one")


def square_distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def circumcentre(subset):
    """Centre of the sphere through all of the subset, if it is a mixture of them; None otherwise."""
    first, *rest = subset
    edges = [[x - y for x, y in zip(place, first, strict=True)] for place in rest]
    rows = [[sum(x * y for x, y in zip(a, b, strict=True)) for b in edges] + [sum(x * x for x in a) / 2] for a in edges]
    shares = solve(rows)
    if shares is None or any(share < 0 for share in shares) or sum(shares) > 1:
        return None
    return [x + sum(s * e[j] for s, e in zip(shares, edges, strict=True)) for j, x in enumerate(first)]


def solve(rows):
    """Gauss-Jordan in fractions; None where there is no single answer."""
    rows = [list(row) for row in rows]
    for c in range(len(rows)):
        pivot = next((r for r in range(c, len(rows)) if rows[r][c] != 0), None)
        if pivot is None:
            return None
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [x / rows[c][c] for x in rows[c]]
        for r in range(len(rows)):
            if r != c and rows[r][c] != 0:
                rows[r] = [x - rows[r][c] * y for x, y in zip(rows[r], rows[c], strict=True)]
    return [row[-1] for row in rows]


def ball_bounds(places):
    """A lower and an upper bound of the radius of the smallest ball; each stands on its own.

    Any centre reaches somebody: the farthest distance is an upper bound.  Any mixture of the places does not
    stray far: by duality, sum s |x|^2 - |sum s x|^2 <= radius^2 for shares s >= 0 that sum to 1.
    """
    places = np.unique(places - places[0], axis=0)
    size = 2.0 ** np.frexp(np.abs(places).max())[1]
    places = places / size
    for choose in (quick_support, best_support):
        support, centre = grow_support(places, choose)
        upper = ((places - centre) ** 2).sum(axis=1).max()
        lower = mixture_bound(places[support], centre)
        if upper <= lower * (1 + 1e-12):
            break
    return float(np.sqrt(max(lower, 0.0)) * size), float(np.sqrt(upper) * size)


def grow_support(places, choose, steps=200):
    """The farthest place joins the support until nobody is farther than the support."""
    support, centre = [0], places[0]
    for _ in range(steps):
        far = int(np.argmax(((places - centre) ** 2).sum(axis=1)))
        if far in support:
            break
        support, centre = choose([*support, far], places)
    return support, centre


def mixture_bound(held, centre):
    """The bound of the mixture of places that comes closest to the centre."""
    target = np.append(np.zeros(len(centre)), 1.0)
    shares, _ = nnls(np.vstack([(held - centre).T, np.ones(len(held))]), target)
    shares /= shares.sum()
    return shares @ ((held - shares @ held) ** 2).sum(axis=1)


def sphere_through(subset, places):
    """Centre of the sphere through a subset, in its own plane, and the shares that mix it."""
    edges = places[list(subset[1:])] - places[subset[0]]
    if not len(edges):
        return places[subset[0]], np.ones(1)
    centre = np.linalg.lstsq(edges, (edges**2).sum(axis=1) / 2, rcond=1e-9)[0]
    shares = np.linalg.lstsq(edges.T, centre, rcond=1e-9)[0]
    return places[subset[0]] + centre, np.append(1 - shares.sum(), shares)


def quick_support(few, places):
    """Leave out whoever the centre lies opposite of."""
    while True:
        centre, shares = sphere_through(few, places)
        if np.ptp(np.linalg.norm(places[few] - centre, axis=1)) > 1e-9 * np.linalg.norm(places[few[0]] - centre):
            return best_support(few, places)  # no sphere goes through them all
        if shares.min() >= 0:
            return few, centre
        few = [*few[: shares.argmin()], *few[shares.argmin() + 1 :]]


def best_support(few, places):
    """Of all subsets of a few places whose sphere holds all of them, the one with the smallest sphere."""
    best = (np.inf, [], None)
    for size in range(1, len(few) + 1):
        for subset in combinations(few, size):
            centre, _ = sphere_through(subset, places)
            reach = ((places[few] - centre) ** 2).sum(axis=1).max()
            on_it = ((places[list(subset)] - centre) ** 2).sum(axis=1).min() >= reach * (1 - 1e-9)
            if on_it and reach < best[0] * (1 - 1e-14):
                best = (reach, list(subset), centre)
    return best[1:]


# Complexes at one eps


def components(distance, eps):
    """Parts of the points that hang together at eps: a chain of steps of 2 eps or less leads from each to each."""
    _, labels = connected_components(distance <= 2 * eps, directed=False)
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels)}


def merge_tree(distance):
    """Every set of points that is ever a component, with the eps at which it appears and disappears."""
    events = [0.0, *(np.unique(distance[distance > 0]) / 2)]
    alive, tree = {}, []
    for eps in events:
        now = components(distance, eps)
        tree += [(part, birth, float(eps)) for part, birth in alive.items() if part not in now]
        alive = {part: alive.get(part, float(eps)) for part in now}
    return tree + [(part, birth, np.inf) for part, birth in alive.items()]


def all_radii(points, metric):
    """The eps of every subset of a few points.

    By Helly's theorem balls meet when every few of them do: two boxes, or one ball more than there are axes.
    """
    count, enough = len(points.weights), 2 if metric == "box" else len(points.axes) + 1
    radii = {}
    for size in range(1, count + 1):
        for subset in combinations(range(count), size):
            faces = combinations(subset, size - 1)
            radii[subset] = simplex_eps(points, subset, metric) if size <= enough else max(radii[f] for f in faces)
    return radii


def betti_numbers(radii, eps, most):
    """dim H_0 .. H_most of the complex of all subsets that are simplices at eps, over the field of two elements."""
    complex_ = [[s for s, radius in radii.items() if len(s) == size and radius <= eps] for size in range(1, most + 3)]
    ranks = [0, *(boundary_rank(lower, upper) for lower, upper in pairwise(complex_))]
    return [len(complex_[n]) - ranks[n] - ranks[n + 1] for n in range(most + 1)]


def boundary_rank(lower, upper):
    """Rank of the boundary map modulo 2; a simplex is a bit mask of its faces."""
    place = {face: 1 << i for i, face in enumerate(lower)}
    basis = {}
    for simplex in upper:
        chain = 0
        for face in combinations(simplex, len(simplex) - 1):
            chain ^= place[face]
        while chain and chain.bit_length() in basis:
            chain ^= basis[chain.bit_length()]
        if chain:
            basis[chain.bit_length()] = chain
    return len(basis)


def persistent_holes(radii, most):
    """Bars (birth, death) of positive length of H_1 .. H_most while subsets become simplices at their radii.

    Each simplex either opens a hole or fills the youngest one it can: the textbook reduction, column by column.
    """
    order = sorted(radii, key=lambda subset: (radii[subset], len(subset)))
    place = {subset: i for i, subset in enumerate(order)}
    columns, bars = {}, {n: [] for n in range(1, most + 1)}
    for subset in order:
        chain = sum(1 << place[face] for face in combinations(subset, len(subset) - 1) if face)
        while chain and chain.bit_length() in columns:
            chain ^= columns[chain.bit_length()]
        if chain:
            columns[chain.bit_length()] = chain
            opened = order[chain.bit_length() - 1]
            if 1 < len(opened) <= most + 1 and radii[opened] < radii[subset]:
                bars[len(opened) - 1].append((radii[opened], radii[subset]))
    return {n: sorted(found) for n, found in bars.items()}


# Partitions


@cache
def set_partitions(count):
    """Every way to part 0 .. count - 1 into classes."""
    if count == 0:
        return [()]
    smaller = set_partitions(count - 1)
    new = count - 1
    joined = [(*p[:i], (*p[i], new), *p[i + 1 :]) for p in smaller for i in range(len(p))]
    return joined + [(*p, (new,)) for p in smaller]


def partition_radii(points, k, metric, radii=None):
    """The eps of every partition of the rows into classes of k or more, smallest first, with the partition.

    Classes are tuples of points, a point once for each of its rows.
    """
    rows = [point for point, weight in enumerate(points.weights) for _ in range(weight)]
    radii = radii or all_radii(points, metric)
    found = []
    for partition in set_partitions(len(rows)):
        if min(map(len, partition)) >= k:
            classes = [tuple(rows[i] for i in part) for part in partition]
            found.append((max(radii[tuple(sorted(set(part)))] for part in classes), classes))
    return sorted(found)


# Tables


def travellers():
    """A table for the trees of section 5 of the paper: a woman and a man of each country, two more women of Spain."""
    regions = {
        "Europe": {"West Europe": ["Portugal", "Spain"], "East Europe": ["Hungary", "Poland"]},
        "America": {"North America": ["USA", "Canada"], "South America": ["Brazil", "Chile"]},
    }
    countries = [country for part in regions.values() for region in part.values() for country in region]
    rows = [(gender, country) for gender in ("Female", "Male") for country in countries] + [("Female", "Spain")] * 2
    cells = {name: list(column) for name, column in zip(("gender", "country"), zip(*rows, strict=True), strict=True)}
    trees = {"gender": {"Person": ["Female", "Male"]}, "country": regions}
    return kech.read_table(pa.table(cells), quasi_identifiers=["gender", "country"], hierarchies=trees)

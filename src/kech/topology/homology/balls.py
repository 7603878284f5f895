"""Holes among balls: the Delaunay complex, each simplex at the radius of its smallest ball, has the bars of the
whole complex (Bauer & Edelsbrunner, The Morse theory of Cech and Delaunay complexes).

The merge tree says from which eps on a component is one simplex; nothing inside it enters later than that.  So when
every component is a simplex, no hole is open, to the last bit.
"""

from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kech.axes import LineAxis
from kech.errors import BadOption, ResourceError
from kech.points.points import Points
from kech.system.memory import DELAUNAY_BYTES, DELAUNAY_GROWTH, QHULL_BYTES
from kech.topology.filtration import Filtration
from kech.topology.homology.reduction import (
    ADVICE,
    ROUNDING,
    Faces,
    Floats,
    Holes,
    Ints,
    check_holes,
    omit_zero_length,
    reduce_boundaries,
)

FLAT = 1e13  # times longer than high
LONGEST = 2.0**24  # of a cube of whole units: its squares are exact
CROWDED = "next to the few farthest rows, the others are too close together for balls; use --metric box."
MOST_AXES = 8  # of balls: 60 points in 8 dimensions have 70,000 Delaunay cells, ten times more with each doubling


class Space(NamedTuple):
    """Distinct points, measured as the kernels measure them: in whole units of one cube where there is such a cube."""

    units: Floats
    lengths: Floats  # of the axes, in units
    side: float  # of the cube, in lengths
    number: Ints  # which of all points each is

    @property
    def coordinates(self) -> Floats:
        """Coordinates in the unit cube."""
        return np.asarray((self.units - self.units.min(axis=0)) / self.lengths / self.side)

    def sides(self, start: Ints, stop: Ints) -> Floats:
        """Vectors from points to points, in lengths."""
        return np.asarray((self.units[stop] - self.units[start]) / self.lengths)


def ball_bars(points: Points, tree: Filtration, top: int, limit: int, *, field: int, zero_length: bool) -> Holes:
    """Bars of the Delaunay complex with the radii of smallest balls."""
    space = build_space(points)
    hull = project_onto_hull(space.coordinates)
    if hull.shape[1] < 2:
        return Holes({}, {})
    if hull.shape[1] > MOST_AXES:
        raise ResourceError(f"Holes among balls need {MOST_AXES} columns or fewer. {ADVICE}")
    faces = build_skeleton(delaunay_cells(hull, limit))
    check_delaunay(space, faces[-1])
    radii = cap_radii_by_components(faces, smallest_balls(space, faces), tree, space.number)
    bars = reduce_boundaries(faces, radii, field)
    return omit_zero_length({n: births_deaths for n, births_deaths in bars if n <= top}, zero_length=zero_length)


def build_space(points: Points) -> Space:
    """The points as places in a space where all axes are equally long; where floats cannot tell two apart, one of them.

    Where lengths of axes are whole, places are counted in units of a cube whose side is a common multiple of them.
    """
    lines = [axis for axis in points.axes if isinstance(axis, LineAxis)]
    lengths = np.array([axis.length for axis in lines])
    starts = [axis.ends[0] - axis.ends[0][0] for axis in lines]
    units = np.stack([start[codes] for start, codes in zip(starts, points.codes.T, strict=True)], axis=1)
    cube = find_cube_side(lengths)
    every = np.arange(len(units))
    space = Space(units, lengths, 1.0, every)
    if cube:
        space = Space(units * (cube / lengths), np.ones(len(lines)), cube, every)
    number = np.unique(space.coordinates, axis=0, return_index=True)[1]
    return space._replace(units=space.units[number], number=number)


def find_cube_side(lengths: Floats) -> float:
    """Side of the smallest cube in which all axes have whole units, or 0, by the rule of the kernels."""
    if (lengths > LONGEST).any() or (lengths != np.floor(lengths)).any():
        return 0.0
    common = lcm(*lengths.astype(int).tolist())
    return float(common) if common <= LONGEST else 0.0


def project_onto_hull(coordinates: Floats) -> Floats:
    """The points in coordinates of the plane that they span, where that is not the whole space."""
    centred = coordinates - coordinates.mean(axis=0)
    _, singular_values, directions = np.linalg.svd(centred, full_matrices=False)
    axes = int((singular_values > ROUNDING * singular_values[0]).sum())
    return coordinates if axes == coordinates.shape[1] else centred @ directions[:axes].T


def delaunay_cells(hull: Floats, limit: int) -> NDArray[np.int32]:
    """The cells of the Delaunay complex: points whose sphere holds no other point.

    Their number may grow with the points, with their square or faster.  Samples of 32, 64, ... points are tried
    first: growth only slackens, so each tells what the next may need.
    """
    count, axes = hull.shape
    order = np.random.default_rng(0).permutation(count)
    growth, cells = float(axes), 0
    for halvings in range(count.bit_length() - 6, 0, -1):
        sample = project_onto_hull(hull[order[: count >> halvings]])
        sample_cells = len(triangulate(sample)) if sample.shape[1] > 1 else len(sample)
        growth = max(2.0, sample_cells / cells) if cells else growth
        cells = sample_cells
        check_holes(cells_bytes(cells * growth, axes), limit, count)
    simplices = triangulate(hull)
    check_holes(cells_bytes(len(simplices), axes), limit, count)
    return simplices


def triangulate(coordinates: Floats) -> NDArray[np.int32]:
    """The cells of the Delaunay complex of these points, by Qhull; refused where they lie too close together for it."""
    from scipy.spatial import Delaunay, QhullError

    try:
        return np.asarray(Delaunay(coordinates).simplices)
    except QhullError:
        raise BadOption("--metric", CROWDED) from None


def cells_bytes(cells: float, axes: int) -> int:
    """What the Delaunay complex and its reduction may need, measured for 2 to 8 axes."""
    return QHULL_BYTES + int(cells * DELAUNAY_BYTES * DELAUNAY_GROWTH**axes)


def build_skeleton(cells: NDArray[np.int32]) -> list[Faces]:
    """The faces of the cells, of dimension 1, 2, ... up to the cells themselves."""
    faces, skeleta = unique_rows(np.sort(cells.astype(np.int64), axis=1))[0], []
    for dimension in range(cells.shape[1] - 1, 0, -1):
        facets, numbers = unique_rows(np.concatenate([np.delete(faces, i, axis=1) for i in range(dimension + 1)]))
        skeleta.append(Faces(faces, numbers.reshape(dimension + 1, -1).T))
        faces = facets
    return skeleta[::-1]


def unique_rows(rows: Ints) -> tuple[Ints, Ints]:
    """Distinct rows in order, and where each row is among them."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    fresh = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    numbers = np.empty(len(rows), np.int64)
    numbers[order] = np.cumsum(fresh) - 1
    return ordered[fresh], numbers


def check_delaunay(space: Space, cells: Faces) -> None:
    """Refuse cells that are not Delaunay: a point in no cell, or a point beyond a facet inside a cell's sphere.

    Qhull computes on a paraboloid, where points closer together than a millionth of the cube become flat.
    """
    offsets, radii, doubts = circumspheres(space, cells.points)
    facets = cells.facets.ravel()
    order = np.argsort(facets, kind="stable")
    shared = np.flatnonzero(facets[order[1:]] == facets[order[:-1]])
    torn = len(np.unique(cells.points)) < len(space.units)
    for inner, outer in ((order[shared], order[shared + 1]), (order[shared + 1], order[shared])):
        cell, beyond = inner // cells.points.shape[1], cells.points.ravel()[outer]
        away = np.linalg.norm(space.sides(cells.points[cell, 0], beyond) / space.side - offsets[cell], axis=1)
        torn = torn or bool((radii[cell] - away > ROUNDING + doubts[cell]).any())
    if torn:
        raise BadOption("--metric", CROWDED)


def smallest_balls(space: Space, skeleton: list[Faces]) -> list[Floats]:
    """Radius of the smallest ball around each simplex, for dimension 0, 1, 2, ...; never below those of its faces."""
    centres, radii = space.coordinates, np.zeros(len(space.units))
    levels = [radii]
    for faces in skeleton:
        centres, radii = enclose_simplices(space, faces, centres, radii)
        levels.append(radii)
    return equalize_radii(levels)


def equalize_radii(radii: list[Floats]) -> list[Floats]:
    """The radii, equal where only rounding tells them apart: the largest of a pair among them, else the smallest.

    On a grid, what opens and what fills at the same eps must do so at the same number.  Pairs stay as they are.
    """
    pairs, values = np.unique(radii[1]), np.unique(np.concatenate(radii))
    starts = np.flatnonzero(np.diff(values, prepend=-1) > ROUNDING / 10)
    lows, highs = values[starts], values[np.append(starts[1:], len(values)) - 1]
    pair = pairs[np.searchsorted(pairs, highs, side="right") - 1]
    levels = np.where((lows <= pair) & (pair <= highs), pair, lows)
    return [*radii[:2], *(levels[np.searchsorted(lows, higher, side="right") - 1] for higher in radii[2:])]


def enclose_simplices(space: Space, faces: Faces, centres: Floats, radii: Floats) -> tuple[Floats, Floats]:
    """Smallest balls of simplices from those of their facets.

    Where the ball of a facet holds the point opposite, it is the ball of the simplex, to the last bit.  Elsewhere
    all points are on the sphere, and the facet's ball, grown to the point, bounds its radius from above.
    """
    beyond = np.linalg.norm(space.coordinates[faces.points] - centres[faces.facets], axis=2) - radii[faces.facets]
    best = beyond.argmin(axis=1)[:, None]
    facet = np.take_along_axis(faces.facets, best, axis=1)[:, 0]
    excess = np.take_along_axis(beyond, best, axis=1)[:, 0]
    least = radii[faces.facets].max(axis=1)
    centres, most = centres[facet], radii[facet] + np.maximum(excess, 0)
    wide = np.flatnonzero(excess > ROUNDING / 10)
    offsets, spheres, doubts = circumspheres(space, faces.points[wide])
    round_ = np.isfinite(doubts)
    wide, offsets, spheres = wide[round_], offsets[round_], spheres[round_]
    centres[wide] = space.coordinates[faces.points[wide, 0]] + offsets
    least[wide] = np.clip(spheres, least[wide], most[wide])
    return centres, least


# -- the merge tree is the source of when a component is a simplex -----------------------------------------


def cap_radii_by_components(skeleton: list[Faces], radii: list[Floats], tree: Filtration, number: Ints) -> list[Floats]:
    """The radii, none larger than that of the smallest component around its simplex that is ever a simplex.

    Only rounding makes one larger.  What is inside a component that is a simplex has entered then, and nothing else
    touches it before it grows: the Delaunay complex of its points, which has no hole.
    """
    position = np.empty(len(tree.order), np.int64)
    position[tree.order] = np.arange(len(position))
    ends = np.sort(position[number[skeleton[0].points]], axis=1)
    limits, entered = range_max(find_full_radii(tree), ends[:, 0], ends[:, 1]), radii[:1]
    for faces, values in zip(skeleton, radii[1:], strict=True):
        limits = limits if faces is skeleton[0] else limits[faces.facets].max(axis=1)
        entered.append(np.minimum(values, limits))
    return entered


def find_full_radii(tree: Filtration) -> Floats:
    """For neighbours in the order of the tree, from when on the smallest component with both that ever is a simplex
    is one: for any two points the largest value between them.
    """
    up = np.where(np.isfinite(tree.simplex_from), np.arange(len(tree.parent)), tree.parent)
    while np.isinf(tree.simplex_from[up]).any():
        up = up[up]
    later = np.flatnonzero((tree.parent >= 0) & (tree.begin > tree.begin[tree.parent]))
    radius = np.empty(len(tree.order) - 1)
    radius[tree.begin[later] - 1] = tree.simplex_from[up[tree.parent[later]]]
    return radius


def range_max(values: Floats, start: Ints, stop: Ints) -> Floats:
    """The largest of values[start:stop] for each pair, by runs of 1, 2, 4, ... values."""
    largest, size = np.empty(len(start)), 1
    while len(values):
        in_range = (stop - start >= size) & (stop - start < 2 * size)
        largest[in_range] = np.maximum(values[start[in_range]], values[stop[in_range] - size])
        values, size = np.maximum(values[:-size], values[size:]), 2 * size
    return largest


# -- spheres ---------------------------------------------------------------------------------------------


def circumspheres(space: Space, simplices: Ints) -> tuple[Floats, Floats, Floats]:
    """From the first point to the centre c of the sphere through all, in their plane: u_i . c = |u_i|^2 / 2.

    Also its radius, and by how much rounding may have moved c: infinite where the simplex is flat and has no c.
    """
    sides = space.sides(simplices[:, :1], simplices[:, 1:])
    if sides.shape[1] == 1:
        offsets, stretch = sides[:, 0] / 2, np.zeros(len(sides))
    else:
        offsets, stretch = solve_centres(sides)
    radii = np.linalg.norm(offsets, axis=1) / space.side
    return offsets / space.side, radii, np.where(stretch > FLAT, np.inf, 1e-15 * stretch * radii)


def solve_centres(sides: Floats) -> tuple[Floats, Floats]:
    """The solutions c, by QR, and how much longer than high each simplex is; where it is flat, c means nothing."""
    directions, triangle = np.linalg.qr(sides.transpose(0, 2, 1))
    heights = np.abs(np.einsum("kii->ki", triangle))
    with np.errstate(divide="ignore"):
        stretch = heights.max(axis=1) / heights.min(axis=1)
    triangle[stretch > FLAT] = np.eye(triangle.shape[1])
    halves = (sides**2).sum(axis=2, keepdims=True) / 2
    return (directions @ np.linalg.solve(triangle.transpose(0, 2, 1), halves))[:, :, 0], stretch

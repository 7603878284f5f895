"""Plane: rows as points and classes as boxes, seen on two columns; PRIVATE.

In: a partition.  Out: where rows lie, and how far labels reach.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kech.axes import Axis, LineAxis
from kech.axes.grid import Floats, Ints
from kech.axes.ranks import list_runs
from kech.errors import BadOption, NoSuchColumn, TooManyPoints
from kech.points.partition import Partition
from kech.tables.sql import ColumnCodes

MOST_TICKS = 24
MOST_DOTS = 20_000  # of a picture; of more pairs of values the rows of a cell are one dot
ROOM = 0.04  # of an axis beyond the outermost rows and ends, for labels without an end


@dataclass(frozen=True, slots=True)
class PlaneAxis:
    """One axis of a picture."""

    column: str
    axis: str
    low: float
    high: float
    ticks: list[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Plane:
    """Points (x, y, rows) and boxes (left, right, bottom, top, rows, classes, open sides) on two axes.

    The open sides of a box are a sum: 1 left, 2 right, 4 bottom, 8 top.
    """

    x: PlaneAxis
    y: PlaneAxis
    classes: int
    smallest: int
    points: list[list[float]]
    boxes: list[list[float]]

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_plane

        return show_plane(self)

    def plot(self, path: str | PathLike[str] | None = None, *, ax: Any = None) -> Any:
        """Draw it; the matplotlib axes, or a file (.svg, .html, .png) where a path is given.  PRIVATE."""
        from kech.views.pictures import plot
        from kech.views.pictures.plane import draw_plane

        return plot(lambda size: draw_plane(self, size), path, ax)


def see_plane(partition: Partition, columns: Sequence[str], *, cells: bool) -> Plane:
    """The points and the classes of a partition, seen on two columns; `cells` are those of equal levels."""
    names = [axis.column for axis in partition.points.axes]
    if len(columns) != 2 or columns[0] == columns[1]:
        raise BadOption("--on", "a plane needs two columns. Name two different quasi-identifiers: --on COLUMN COLUMN.")
    for name in columns:
        check_shown(name, names, partition)
    return build_plane(partition, [names.index(name) for name in columns], cells=cells)


def check_shown(name: str, names: Sequence[str], partition: Partition) -> None:
    """A quasi-identifier; of another column of the table it is said that it is none."""
    origin = partition.points.origin
    if name not in names and origin and name in origin.table.columns:
        raise BadOption("--on", f"column {name!r} is no quasi-identifier here. Name two of {', '.join(names)}.")
    if name not in names:
        raise NoSuchColumn(name, names)


def build_plane(partition: Partition, pair: list[int], *, cells: bool) -> Plane:
    """Points and boxes that look alike are one; points lie where rows do, boxes reach as far as labels say."""
    axes = [partition.points.axes[j] for j in pair]
    known = find_values(partition, pair)
    dots, weights = find_dots(partition, pair, known, cells=cells)
    frames = [find_frame(axis, known[i].values if known else dots[i]) for i, axis in enumerate(axes)]
    dots = [
        np.where(np.isnan(coordinates), frame.apart, coordinates)
        for coordinates, frame in zip(dots, frames, strict=True)
    ]
    edges, classes, rows = gather_boxes(axes, frames, partition, pair)
    return Plane(
        plane_axis(axes[0], frames[0]),
        plane_axis(axes[1], frames[1]),
        partition.classes,
        int(partition.sizes.min()),
        np.stack([*dots, weights], axis=1).tolist(),
        np.stack([*edges[:4], rows, classes, edges[4]], axis=1).tolist(),
    )


# -- where rows lie


def find_values(partition: Partition, pair: list[int]) -> list[ColumnCodes]:
    """The distinct values of both columns, each with a code of its own; none where there is no table."""
    points = partition.points
    known = [points.mappings[j] for j in pair] if points.origin and points.mappings else []
    return [replace(each, codes=np.arange(len(each.values), dtype=np.int32), null=len(each.values)) for each in known]


def find_dots(
    partition: Partition, pair: list[int], known: Sequence[ColumnCodes], *, cells: bool
) -> tuple[list[Floats], Ints]:
    """The places of the dots on both axes, and the rows of each; a dot is a pair of values that occurs.

    Where a number or a date is missing, its place is NaN.  Of too many pairs, each cell is one dot, in its middle.
    """
    axes, origin = partition.points.axes, partition.points.origin
    if known and origin:
        with suppress(TooManyPoints):
            codes, rows = origin.table.engine.group(known, MOST_DOTS)
            coordinates = [coordinates_of_values(axes[j], each) for j, each in zip(pair, known, strict=True)]
            return [coordinate[codes[:, i]] for i, coordinate in enumerate(coordinates)], rows
    return find_middles(partition, pair, known, cells=cells)


def coordinates_of_values(axis: Axis, known: ColumnCodes) -> Floats:
    """Where each distinct value is drawn, and last a missing one: numbers and dates at themselves, others at a code.

    A missing number or date is NaN here: its place depends on the frame.
    """
    if isinstance(axis, LineAxis):
        return np.append(np.asarray(known.values, np.float64), np.nan)
    return np.append(axis.encode(list(known.values)).astype(np.float64), axis.null)


def find_middles(
    partition: Partition, pair: list[int], known: Sequence[ColumnCodes], *, cells: bool
) -> tuple[list[Floats], Ints]:
    """The cells of the points, each in the middle of the values that are in it."""
    points, sizes = partition.points, partition.sizes
    codes = partition.lo[:, pair] if cells else points.codes[:, pair]
    alike, at = np.unique(codes, axis=0, return_inverse=True)
    rows = np.bincount(at.ravel(), sizes if cells else points.weights).astype(np.int64)
    coordinates = [cell_middles(points.axes[j], known[i] if known else None)[alike[:, i]] for i, j in enumerate(pair)]
    return coordinates, rows


def cell_middles(axis: Axis, known: ColumnCodes | None) -> Floats:
    """For each code the middle of its least and its greatest value; NaN for a missing number or date."""
    if not isinstance(axis, LineAxis):
        return np.arange(axis.size, dtype=np.float64)
    middles = np.full(axis.size, np.nan)
    values = np.asarray(known.values if known else np.clip(axis.low, *axis.domain), np.float64)
    codes = np.clip(axis.encode(values), 0, None)
    for code in np.unique(codes).tolist():
        inside = values[codes == code]
        middles[code] = (inside.min() + inside.max()) / 2
    return middles


# -- how far boxes reach


class AxisRange(NamedTuple):
    """The ends of an axis in a picture, and where missing numbers and dates stand."""

    low: float
    high: float
    apart: float


def find_frame(axis: Axis, values: Any) -> AxisRange:
    """Around all values and all ends of labels, with room for tails beyond them; missing ones stand below."""
    if not isinstance(axis, LineAxis):
        return AxisRange(-0.5, axis.size - 0.5, -0.5)
    ends = np.concatenate([np.asarray(values, np.float64), axis.low, axis.high])
    ends = ends[np.isfinite(ends)] if np.isfinite(ends).any() else np.array(axis.domain)
    length = float(ends.max() - ends.min()) or 1.0
    low, high = float(ends.min()) - ROOM * length, float(ends.max()) + ROOM * length
    return AxisRange(low - 2 * ROOM * length * axis.has_null, high, low - ROOM * length)


def gather_boxes(
    axes: Sequence[Axis], frames: Sequence[AxisRange], partition: Partition, pair: list[int]
) -> tuple[list[NDArray[Any]], NDArray[Any], NDArray[Any]]:
    """Each box once: its sides on both axes and which of them are open, how many classes it is, and their rows.

    A set of values that are no neighbours is several boxes.
    """
    group, boxes = split_boxes(partition, pair)
    alike, at = np.unique(boxes, axis=0, return_inverse=True)
    sides_of_axes = [box_sides(axis, frames[i], alike[:, i], alike[:, i + 2]) for i, axis in enumerate(axes)]
    opened = sum(
        open_ * side
        for (_, _, *both), coordinate in zip(sides_of_axes, (1, 4), strict=True)
        for open_, side in zip(both, (coordinate, 2 * coordinate), strict=True)
    )
    edges = [*sides_of_axes[0][:2], *sides_of_axes[1][:2], np.asarray(opened)]
    return edges, np.bincount(at.ravel()), np.bincount(at.ravel(), partition.sizes[group])


def split_boxes(partition: Partition, pair: list[int]) -> tuple[Ints, Ints]:
    """For each stretch of values that a class covers on both axes: the class, both first codes and both last ones."""
    group, boxes = np.arange(partition.classes), np.hstack([partition.lo[:, pair], partition.hi[:, pair]])
    for i, j in enumerate(pair):
        if j in partition.members:
            label, first, last = list_runs(partition.set_axis(j), partition.members[j])
            start, runs = np.searchsorted(label, group), np.bincount(label)[group]
            nth = np.arange(runs.sum()) - np.repeat(np.cumsum(runs) - runs, runs)
            at = np.repeat(start, runs) + nth
            group, boxes = np.repeat(group, runs), np.repeat(boxes, runs, axis=0)
            boxes[:, i], boxes[:, i + 2] = first[at], last[at]
    return group, boxes


def box_sides(
    axis: Axis, frame: AxisRange, lo: Ints, hi: Ints
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Where ranges of codes begin and end, and whether they are open there: numbers and dates where they lie, values
    one after another.
    """
    if not isinstance(axis, LineAxis):
        shut = np.zeros(len(lo), bool)
        return lo - 0.5, hi + 0.5, shut, shut
    low, high = (np.append(end, [frame.apart] * axis.has_null) for end in (axis.low, axis.high))
    lost = axis.mixes_null(lo, hi)
    left, right = np.where(lost, -np.inf, low[lo]), np.where(lost, np.inf, high[hi])
    opened = np.isinf(left), np.isinf(right)
    inner = np.where(lost, frame.low, frame.apart + ROOM * (frame.high - frame.apart) * axis.has_null)
    return np.where(opened[0], np.maximum(inner, frame.low), left), np.where(opened[1], frame.high, right), *opened


def plane_axis(axis: Axis, frame: AxisRange) -> PlaneAxis:
    """The ends of an axis; values that are not numbers or dates by name, some of them where they are many."""
    codes = np.unique(np.linspace(0, axis.size - 1, MOST_TICKS).round().astype(np.int64))
    ticks = [] if isinstance(axis, LineAxis) else zip(codes.tolist(), name_codes(axis, codes), strict=True)
    texts = [(float(code), "NULL" if text is None else text) for code, text in ticks]
    return PlaneAxis(axis.column, axis.kind, frame.low, frame.high, texts)


def name_codes(axis: Axis, codes: Ints) -> list[str | None]:
    """Each value by its own name: this is for the owner of the table, who may see rare ones."""
    return axis.at(1).labels(codes, codes)

"""Outlook: what a release would do to people's rows, to look at before it is written; PRIVATE.

In: a release, or a barcode and an eps.  Out: figures of every column, the first rows before and after, and classes as
boxes on two axes.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kech.axes import EVERYTHING, Axis, LineAxis, TextAxis
from kech.axes.grid import Ints
from kech.axes.rulers import DAY, Floats
from kech.cuts.dispatcher import EVEN
from kech.cuts.regime import cut_at
from kech.errors import BadOption, NoSuchColumn, TooManyPoints
from kech.points.partition import Partition
from kech.release.release import Release
from kech.release.sentences import consequences
from kech.spectrum import line
from kech.tables.engines import Mapping1D
from kech.topology.barcode import WeightedBarcode

MOST_TICKS = 24
MOST_DOTS = 20_000  # of a picture; of more pairs of values the rows of a cell are one dot
ROOM = 0.04  # of an axis beyond the outermost rows and ends, for labels without an end
Cells: TypeAlias = list[str | None]


@dataclass(frozen=True, slots=True)
class ColumnOutlook:
    """What becomes of one quasi-identifier; shares are of the published rows."""

    column: str
    axis: str  # numeric, date, ordinal, set or tree
    width: float | None  # of cells with two ends, on average: numbers, days, or values it may stand for
    exact: float  # share of rows whose cell is one value
    missing: float  # share of rows whose cell is missing, in the table too
    lost: float  # share of rows whose cell says nothing
    loss: float
    open: float = 0.0  # share of rows whose number or date has one end only, `>= 80`


@dataclass(frozen=True, slots=True)
class Outlook:
    """A release before it is written."""

    figures: dict[str, Any]  # a row of the spectrum
    columns: tuple[ColumnOutlook, ...]
    words: tuple[str, ...]  # what it does, in sentences
    names: tuple[str, ...]  # of the published columns
    before: list[Cells]
    after: list[Cells | None]  # None where a row is left out

    def to_json(self) -> dict[str, Any]:
        """The object `kech outlook --json` prints."""
        return {"private": True, **asdict(self)}


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

    def to_json(self) -> dict[str, Any]:
        """The object `kech plane --json` prints."""
        return {"private": True, **asdict(self)}

    def plot(self, path: str | PathLike[str] | None = None, *, ax: Any = None) -> Any:
        """Draw it; the matplotlib axes, or a file (.svg, .png, .html) where a path is given.  PRIVATE."""
        from kech.views.plot_plane import draw_plane, save_plane

        return draw_plane(self, ax=ax) if path is None else save_plane(self, path)


# -- the outlook of a release ------------------------------------------------------------------------------


def compute_outlook(release: Release, *, rows: int = 10) -> Outlook:
    """Figures, columns, and the first rows before and after; a row that several classes share is shown in one."""
    if rows < 0:
        raise BadOption("--rows", "it is a number of rows, 0 or more.")
    partition, asked = release.partition, release.parameters
    figures = asdict(line(asked["cut"], asked["k"], partition, None, asked.get("t_kind", "equal")))
    columns = tuple(describe(partition, j, figures["loss_per_column"]) for j in range(len(partition.points.axes)))
    table = release.table
    held = [table.loaded.index(name) for name in release.columns]
    before = [[row[at] for at in held] for row in table.head(rows)]
    classes = find_classes(release, len(before))
    after = [None if group < 0 else relabel(release, row, group) for row, group in zip(before, classes, strict=True)]
    words = tuple(consequences(figures | {"k": partition.k}, columns, asked, partition.suppressed / partition.rows_in))
    return Outlook(figures, columns, words, release.columns, before, after)


def describe(partition: Partition, j: int, losses: dict[str, float]) -> ColumnOutlook:
    """One quasi-identifier over all published rows."""
    axis, rows = partition.points.axes[j], partition.sizes
    widths = axis.widths(partition.lo[:, j], partition.hi[:, j])
    lost = np.array([label == EVERYTHING for label in partition.labels(j)])
    missing = (partition.lo[:, j] == axis.null) & ~lost
    tails = axis.is_open(partition.lo[:, j], partition.hi[:, j]) & ~lost
    ended, total = ~(lost | missing | tails), int(rows.sum())
    width = (
        float((rows * ended) @ in_values(axis, partition.lo[:, j], partition.hi[:, j]) / rows[ended].sum())
        if ended.any()
        else None
    )
    exact, tail, gone, nothing = (
        int(rows[held].sum()) / total for held in ((widths == 0) & ended, tails, missing, lost)
    )
    return ColumnOutlook(axis.column, axis.kind, width, exact, gone, nothing, losses[axis.column], tail)


def in_values(axis: Axis, lo: Ints, hi: Ints) -> Floats:
    """How wide labels are: in numbers, in days, or in values of the table that they may stand for."""
    if isinstance(axis, TextAxis):
        return np.asarray(hi - lo + 1.0)
    widths = axis.widths(lo, hi)
    if isinstance(axis, LineAxis):
        start, stop = axis.domain
        return np.asarray((widths * (stop - start) + axis.unit * axis.inclusive) / (DAY if axis.is_date else 1.0))
    return np.asarray(1 + widths * (axis.parameters(())["leaves"] - 1))


def find_classes(release: Release, rows: int) -> list[int]:
    """The class of each of the first rows, -1 where it is left out."""
    partition = release.partition
    codes = release.table.engine.code_rows(partition.points.mappings)
    _, point = np.unique(codes, axis=0, return_inverse=True)
    owner = dict(zip(partition.point.tolist(), partition.group.tolist(), strict=True))
    return [owner.get(p, -1) for p in point.ravel()[:rows].tolist()]


def relabel(release: Release, row: Cells, group: int) -> Cells:
    """A row as its class is printed."""
    pairs = zip(release.columns, row, strict=True)
    return [release.labels[name][group] if name in release.labels else cell for name, cell in pairs]


# -- two axes ------------------------------------------------------------------------------------------------


def compute_plane(found: Release | WeightedBarcode, x: str, y: str, *, eps: float | None = None) -> Plane:
    """The points and the classes of a release, or of the components at eps, seen on two columns."""
    cells = isinstance(found, Release) and found.parameters["cut"] in EVEN
    if isinstance(found, Release):
        partition = found.partition
    elif eps is None or not 0 <= eps < float("inf"):
        raise BadOption("--eps", "give a radius of 0 or more.")
    else:
        partition = cut_at(found.filtration, eps)
    names = [axis.column for axis in partition.points.axes]
    for name in (x, y):
        check_shown(name, names, partition)
    return see(partition, [names.index(x), names.index(y)], cells=cells)


def check_shown(name: str, names: Sequence[str], partition: Partition) -> None:
    """A quasi-identifier; of another column of the table it is said that it is none."""
    origin = partition.points.origin
    if name not in names and origin and name in origin.table.columns:
        raise BadOption("plane", f"column {name!r} is no quasi-identifier here; it shows two of {', '.join(names)}.")
    if name not in names:
        raise NoSuchColumn(name, names)


def see(partition: Partition, pair: list[int], *, cells: bool) -> Plane:
    """Points and boxes that look alike are one; points lie where rows do, boxes reach as far as labels say."""
    axes = [partition.points.axes[j] for j in pair]
    known = find_values(partition, pair)
    dots, weights = find_dots(partition, pair, known, cells=cells)
    frames = [find_frame(axis, known[i].values if known else dots[i]) for i, axis in enumerate(axes)]
    dots = [np.where(np.isnan(places), frame.apart, places) for places, frame in zip(dots, frames, strict=True)]
    edges, classes, rows = gather(axes, frames, partition, pair)
    return Plane(
        plane_axis(axes[0], frames[0]),
        plane_axis(axes[1], frames[1]),
        partition.classes,
        partition.k,
        np.stack([*dots, weights], axis=1).tolist(),
        np.stack([*edges[:4], rows, classes, edges[4]], axis=1).tolist(),
    )


# -- where rows lie


def find_values(partition: Partition, pair: list[int]) -> list[Mapping1D]:
    """The distinct values of both columns, each with a code of its own; none where there is no table."""
    points = partition.points
    known = [points.mappings[j] for j in pair] if points.origin and points.mappings else []
    return [replace(each, codes=np.arange(len(each.values), dtype=np.int32), null=len(each.values)) for each in known]


def find_dots(
    partition: Partition, pair: list[int], known: Sequence[Mapping1D], *, cells: bool
) -> tuple[list[Floats], Ints]:
    """For each pair of values its place on both axes, NaN where a number or a date is missing, and its rows.

    Of very many pairs, the rows of a cell are one dot, in the middle of the values that are in it.
    """
    axes, origin = partition.points.axes, partition.points.origin
    if known and origin:
        with suppress(TooManyPoints):
            codes, rows = origin.table.engine.group(known, MOST_DOTS)
            places = [find_places(axes[j], each) for j, each in zip(pair, known, strict=True)]
            return [place[codes[:, i]] for i, place in enumerate(places)], rows
    return find_middles(partition, pair, known, cells=cells)


def find_places(axis: Axis, known: Mapping1D) -> Floats:
    """Where each value lies, and last what is missing."""
    if isinstance(axis, LineAxis):
        return np.append(np.asarray(known.values, np.float64), np.nan)
    return np.append(axis.encode(list(known.values)).astype(np.float64), axis.null)


def find_middles(
    partition: Partition, pair: list[int], known: Sequence[Mapping1D], *, cells: bool
) -> tuple[list[Floats], Ints]:
    """The cells of the points, each in the middle of the values that are in it."""
    points, sizes = partition.points, partition.sizes
    codes = partition.lo[:, pair] if cells else points.codes[:, pair]
    alike, at = np.unique(codes, axis=0, return_inverse=True)
    rows = np.bincount(at.ravel(), sizes if cells else points.weights).astype(np.int64)
    places = [cell_middles(points.axes[j], known[i] if known else None)[alike[:, i]] for i, j in enumerate(pair)]
    return places, rows


def cell_middles(axis: Axis, known: Mapping1D | None) -> Floats:
    """For each code the middle of its least and its greatest value; NaN for a missing number or date."""
    if not isinstance(axis, LineAxis):
        return np.arange(axis.size, dtype=np.float64)
    found = np.full(axis.size, np.nan)
    values = np.asarray(known.values if known else np.clip(axis.low, *axis.domain), np.float64)
    codes = np.clip(axis.encode(values), 0, None)
    for code in np.unique(codes).tolist():
        held = values[codes == code]
        found[code] = (held.min() + held.max()) / 2
    return found


# -- how far boxes reach


class Frame(NamedTuple):
    """The ends of an axis in a picture, and where missing numbers and dates stand."""

    low: float
    high: float
    apart: float


def find_frame(axis: Axis, values: Any) -> Frame:
    """Around all values and all ends of labels, with room for tails beyond them; missing ones stand below."""
    if not isinstance(axis, LineAxis):
        return Frame(-0.5, axis.size - 0.5, -0.5)
    ends = np.concatenate([np.asarray(values, np.float64), axis.low, axis.high])
    ends = ends[np.isfinite(ends)] if np.isfinite(ends).any() else np.array(axis.domain)
    length = float(ends.max() - ends.min()) or 1.0
    low, high = float(ends.min()) - ROOM * length, float(ends.max()) + ROOM * length
    return Frame(low - 2 * ROOM * length * axis.has_null, high, low - ROOM * length)


def gather(
    axes: Sequence[Axis], frames: Sequence[Frame], partition: Partition, pair: list[int]
) -> tuple[list[NDArray[Any]], NDArray[Any], NDArray[Any]]:
    """Each box once: its sides on both axes and which of them are open, how many classes it is, and their rows."""
    boxes = np.hstack([partition.lo[:, pair], partition.hi[:, pair]])
    alike, at = np.unique(boxes, axis=0, return_inverse=True)
    found = [sides(axis, frames[i], alike[:, i], alike[:, i + 2]) for i, axis in enumerate(axes)]
    opened = sum(
        open_ * side
        for (_, _, *both), place in zip(found, (1, 4), strict=True)
        for open_, side in zip(both, (place, 2 * place), strict=True)
    )
    edges = [*found[0][:2], *found[1][:2], np.asarray(opened)]
    return edges, np.bincount(at.ravel()), np.bincount(at.ravel(), partition.sizes)


def sides(
    axis: Axis, frame: Frame, lo: Ints, hi: Ints
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Where ranges of codes begin and end, and whether they are open there: numbers and dates where they lie, values
    one after another.
    """
    if not isinstance(axis, LineAxis):
        shut = np.zeros(len(lo), bool)
        return lo - 0.5, hi + 0.5, shut, shut
    low, high = (np.append(end, [frame.apart] * axis.has_null) for end in (axis.low, axis.high))
    lost = axis.all_lost(lo, hi)
    left, right = np.where(lost, -np.inf, low[lo]), np.where(lost, np.inf, high[hi])
    opened = np.isinf(left), np.isinf(right)
    inner = np.where(lost, frame.low, frame.apart + ROOM * (frame.high - frame.apart) * axis.has_null)
    return np.where(opened[0], np.maximum(inner, frame.low), left), np.where(opened[1], frame.high, right), *opened


def plane_axis(axis: Axis, frame: Frame) -> PlaneAxis:
    """The ends of an axis; values that are not numbers or dates by name, some of them where they are many."""
    named = np.unique(np.linspace(0, axis.size - 1, MOST_TICKS).round().astype(np.int64))
    ticks = [] if isinstance(axis, LineAxis) else zip(named.tolist(), name_codes(axis, named), strict=True)
    texts = [(float(code), "NULL" if text is None else text) for code, text in ticks]
    return PlaneAxis(axis.column, axis.kind, frame.low, frame.high, texts)


def name_codes(axis: Axis, codes: Ints) -> list[str | None]:
    """Each value by its own name: this is for the owner of the table, who may see rare ones."""
    return axis.at(1).labels(codes, codes)

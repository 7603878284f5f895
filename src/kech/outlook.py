"""Outlook: what a release would do to people's rows, to look at before it is written; PRIVATE.

In: a release, or a barcode and an eps.  Out: figures of every column, the first rows before and after, and classes as
boxes on two axes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kech.axes import EVERYTHING, Axis, LineAxis
from kech.barcode import WeightedBarcode
from kech.cuts.regime import cut_at
from kech.errors import BadOption, NoSuchColumn
from kech.grid import Ints
from kech.partition import Partition
from kech.release import Release
from kech.rulers import DAY, Floats
from kech.sentences import consequences
from kech.spectrum import EVEN, line

MOST_TICKS = 24
Cells: TypeAlias = list[str | None]


@dataclass(frozen=True, slots=True)
class ColumnOutlook:
    """What becomes of one quasi-identifier; shares are of the published rows."""

    column: str
    axis: str  # numeric, date, ordinal, set or tree
    width: float | None  # of cells that say anything, on average: numbers, days, or values it may stand for
    exact: float  # share of rows whose cell is one value
    missing: float  # share of rows whose cell is missing, in the table too
    lost: float  # share of rows whose cell says nothing
    loss: float


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
    """Points (x, y, rows) and boxes (left, right, bottom, top, rows, classes) on two axes."""

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
        from kech.plot_plane import draw_plane, save_plane

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
    told, total = rows * ~(lost | missing), int(rows.sum())
    width = float(told @ in_values(axis, widths) / told.sum()) if told.any() else None
    exact, gone, nothing = (int(rows[held].sum()) / total for held in ((widths == 0) & ~lost & ~missing, missing, lost))
    return ColumnOutlook(axis.column, axis.kind, width, exact, gone, nothing, losses[axis.column])


def in_values(axis: Axis, widths: Floats) -> Floats:
    """Widths in numbers, in days, or in values that a label may stand for."""
    if isinstance(axis, LineAxis):
        start, stop = axis.domain
        return np.asarray((widths * (stop - start) + axis.unit * axis.inclusive) / (DAY if axis.is_date else 1.0))
    known = axis.parameters(())
    values = known.get("leaves") or known.get("values") or len(known["order"])
    return np.asarray(1 + widths * (values - 1))


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
    """Points and boxes that look alike are one; at a node of the lattice the points of a cell are not told apart."""
    points = partition.points
    axes = [points.axes[j] for j in pair]
    boxes = np.hstack([partition.lo[:, pair], partition.hi[:, pair]])
    dots = boxes if cells else np.hstack([points.codes[:, pair]] * 2)
    edges, classes, rows = gather(axes, boxes, partition.sizes)
    places, _, weights = gather(axes, dots, partition.sizes if cells else points.weights)
    middles = [(places[0] + places[1]) / 2, (places[2] + places[3]) / 2]
    return Plane(
        plane_axis(axes[0]),
        plane_axis(axes[1]),
        partition.classes,
        partition.k,
        np.stack([*middles, weights], axis=1).tolist(),
        np.stack([*edges, rows, classes], axis=1).tolist(),
    )


def gather(axes: Sequence[Axis], ranges: NDArray[Any], rows: Ints) -> tuple[list[Floats], NDArray[Any], NDArray[Any]]:
    """Each range once: its sides on both axes, how many there are, and their rows."""
    alike, at = np.unique(ranges, axis=0, return_inverse=True)
    edges = [edge for i, axis in enumerate(axes) for edge in sides(axis, alike[:, i], alike[:, i + 2])]
    return edges, np.bincount(at.ravel()), np.bincount(at.ravel(), rows)


def sides(axis: Axis, lo: Ints, hi: Ints) -> tuple[NDArray[Any], NDArray[Any]]:
    """Where ranges of codes begin and end: numbers and dates where they lie, values one after another.

    A missing number or date stands apart, one part in twelve below all others.
    """
    if not isinstance(axis, LineAxis):
        return lo - 0.5, hi + 0.5
    start, stop = axis.domain
    apart = np.full(int(axis.has_null), start - ((stop - start) or 1.0) / 12)
    left = np.concatenate([np.clip(axis.low, start, stop), apart])
    right = np.concatenate([np.clip(axis.high, start, stop), apart])
    everything = axis.all_lost(lo, hi)
    return np.where(everything, left.min(), left[lo]), np.where(everything, right.max(), right[hi])


def plane_axis(axis: Axis) -> PlaneAxis:
    """The ends of an axis; values that are not numbers or dates by name, some of them where they are many."""
    codes: Ints = np.arange(axis.size)
    left, right = sides(axis, codes, codes)
    named = np.unique(np.linspace(0, axis.size - 1, MOST_TICKS).round().astype(np.int64))
    ticks = [] if isinstance(axis, LineAxis) else zip(named.tolist(), axis.labels(named, named), strict=True)
    texts = [(float(code), "NULL" if text is None else text) for code, text in ticks]
    return PlaneAxis(axis.column, axis.kind, float(left.min()), float(right.max()), texts)

"""Preview: what a release would do to people's rows, to look at before it is written; PRIVATE.

In: a release, or a barcode and an eps.  Out: figures of every column, the first rows before and after, and a plane.
Of a table whose people shall keep their rows together, what that costs, before any search.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import inf
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from kech.axes import EVERYTHING, LineAxis, TextAxis
from kech.axes.grid import DAY, Floats
from kech.axes.ranks import count_members
from kech.cuts.history import price_history
from kech.cuts.regime import cut_at_eps
from kech.errors import BadOption, unusable_value
from kech.points.partition import Partition, mean_loss
from kech.release.column_costs import ColumnCost, compute_column_costs
from kech.release.making import build_request_points, check_request
from kech.release.plane import Plane, see_plane
from kech.release.release import Release
from kech.release.rows import find_class_of_loaded_rows
from kech.release.sentences import column_words, price_words, release_words
from kech.release.sharing import weigh_shared_values
from kech.request import Request
from kech.spectrum import measure_partition
from kech.tables.table import Table
from kech.topology.barcode import WeightedBarcode

Cells: TypeAlias = list[str | None]


@dataclass(frozen=True, slots=True)
class ColumnPreview:
    """What becomes of one quasi-identifier; shares are of the published rows."""

    column: str
    axis: str  # number, date, ordered, set or hierarchy
    width: float | None  # of cells with two ends, on average: numbers, days, or values it may stand for
    exact: float  # share of rows whose cell is one value
    missing: float  # share of rows whose cell is missing, in the table too
    lost: float  # share of rows whose cell says nothing
    loss: float
    open: float = 0.0  # share of rows whose number or date has one end only, `>= 80`
    words: str = ""  # all this in a sentence


@dataclass(frozen=True, slots=True)
class Preview:
    """A release before it is written; of the components of a barcode only the plane."""

    figures: dict[str, Any] | None  # a row of the spectrum
    columns: tuple[ColumnPreview, ...]
    words: tuple[str, ...]  # what it does, in sentences; those about a column are with the column
    names: tuple[str, ...]  # of the published columns
    before: list[Cells]
    after: list[Cells | None]  # None where a row is left out
    plane: Plane | None = None  # rows and classes on two columns
    price: dict[str, Any] | None = None  # what it costs that the rows of a person stay together; few as "<k"
    costs: tuple[ColumnCost, ...] = ()  # what each column costs the others, the dearest first
    shared: dict[str, Any] | None = None  # which rows give a sensitive value away, and the loss once none does

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_preview

        return show_preview(self)

    def to_json(self) -> dict[str, Any]:
        """The object `kech preview --json` prints."""
        return {"private": True, **asdict(self)}

    def plot(self, path: str | PathLike[str] | None = None, *, ax: Any = None) -> Any:
        """Draw the plane; the matplotlib axes, or a file (.svg, .png, .html) where a path is given.  PRIVATE."""
        if self.plane is None:
            raise BadOption(
                "--on", "a plane needs two columns. Name the two quasi-identifiers to draw: --on COLUMN COLUMN."
            )
        return self.plane.plot(path, ax=ax)


def compute_preview(
    seen: Release | WeightedBarcode | Table,
    request: Request | None = None,
    *,
    on: Sequence[str] = (),
    eps: float | None = None,
    rows: int = 10,
    costs: bool = True,
) -> Preview:
    """What a release would do: figures, columns, the first rows before and after, and two columns as a plane.

    Of a barcode, the components at eps are seen on two columns.  A row that several classes share is shown in one.
    What each column costs the others, and two values in every class, take longer: left out where `costs` is false.
    Of a table and a request with `protect_history`, the price of that promise is told before any search.
    """
    if rows < 0:
        raise unusable_value("--rows", "Write a number of rows, 0 or more.")
    if isinstance(seen, Table):
        return preview_price(seen, seen.resolve_request(request, {}))
    if isinstance(seen, Release):
        return preview_release(seen, on, rows, costs=costs)
    if eps is None or not 0 <= eps < inf:
        raise unusable_value("--radius", "Give a radius of 0 or more.")
    return Preview(None, (), (), (), [], [], see_plane(cut_at_eps(seen.filtration, eps), on, cells=False))


def preview_price(table: Table, request: Request) -> Preview:
    """What it costs that all rows of a person stay together."""
    if not request.goal.protect_history:
        reason = "it is a table, of which only the price of protect_history is told before a search."
        raise BadOption("seen", f"{reason} Give a release: kech.compute_preview(kech.make_release(table, k=5)).")
    k = check_request(request, table) or 2
    points = build_request_points(table, request)
    assert points.person is not None
    figures = asdict(price_history(points, points.person, k, threads=table.threads)) | {"rows": points.rows, "k": k}
    words = tuple(price_words(figures, points.suppression_limit(request.cut.suppress)))
    few = ("shortened", "people_left_out", "rows_left_out")
    price = figures | {name: f"<{k}" for name in few if 0 < figures[name] < k}
    return Preview(None, (), words, (), [], [], price=price)


def preview_release(release: Release, on: Sequence[str], rows: int, *, costs: bool) -> Preview:
    """Figures, columns, and the first rows before and after."""
    partition, parameters = release.partition, release.parameters
    figures = asdict(
        measure_partition(release.request.cut, parameters["k"], partition, parameters.get("t_kind", "equal"))
    )
    columns = tuple(describe_column(release, j, figures["loss_per_column"]) for j in range(len(partition.points.axes)))
    table = release.table
    indices = [table.loaded.index(name) for name in release.columns]
    before = [[row[at] for at in indices] for row in table.head(rows)] if rows else []
    classes = find_class_of_loaded_rows(release)[: len(before)].tolist() if rows else []
    after = [None if group < 0 else label_row(release, row, group) for row, group in zip(before, classes, strict=True)]
    left_out, of_people = partition.suppressed / partition.rows_in, bool(table.person)
    shared = weigh_shared_values(partition, release.request, mean_loss if costs else None)
    says = release_words(figures | {"k": partition.k}, parameters, left_out, shared=shared, of_people=of_people)
    plane = see_plane(partition, on, cells=release.request.cut.by_level) if on else None
    shown = (tuple(says), release.columns, before, after, plane)
    return Preview(figures, columns, *shown, costs=price_columns(release) if costs else (), shared=shared)


def price_columns(release: Release) -> tuple[ColumnCost, ...]:
    """What each column costs the others, where classes are boxes of any shape."""
    request, partition = release.request, release.partition
    if not request.cut.is_searched or request.goal.protect_history:
        return ()
    return compute_column_costs(partition.points, release.parameters["k"], threads=release.table.threads)


def describe_column(release: Release, j: int, losses: dict[str, float]) -> ColumnPreview:
    """What becomes of the j-th quasi-identifier, over the classes weighted with their rows."""
    partition = release.partition
    axis, rows = partition.points.axes[j], partition.sizes
    lo, hi = partition.lo[:, j], partition.hi[:, j]
    is_lost = np.array([label == EVERYTHING for label in release.labels[axis.column]])
    is_missing = (lo == axis.null) & ~is_lost
    is_open = axis.is_open(lo, hi) & ~is_lost
    has_ends = ~(is_lost | is_missing | is_open)
    is_exact = (partition.widths(j) == 0) & has_ends
    exact, missing, lost, open_ = (
        int(rows[mask].sum()) / int(rows.sum()) for mask in (is_exact, is_missing, is_lost, is_open)
    )
    extents = measure_labels(partition, j)
    width = float((rows * has_ends) @ extents / rows[has_ends].sum()) if has_ends.any() else None
    about = ColumnPreview(axis.column, axis.kind, width, exact, missing, lost, losses[axis.column], open_)
    return replace(about, words=column_words(about))


def measure_labels(partition: Partition, j: int) -> Floats:
    """The widths of labels: in numbers, in days, or in values of the table that they may stand for."""
    axis, widths = partition.points.axes[j], partition.widths(j)
    if j in partition.members:
        return count_members(partition.set_axis(j), partition.members[j]).astype(np.float64)
    if isinstance(axis, TextAxis):
        return np.asarray(partition.hi[:, j] - partition.lo[:, j] + 1.0)
    if isinstance(axis, LineAxis):
        start, stop = axis.domain
        return np.asarray((widths * (stop - start) + axis.unit * axis.inclusive) / (DAY if axis.is_date else 1.0))
    return np.asarray(1 + widths * (axis.parameters(())["leaves"] - 1))


def label_row(release: Release, row: Cells, group: int) -> Cells:
    """A row with the labels of its class."""
    pairs = zip(release.columns, row, strict=True)
    return [release.labels[name][group] if name in release.labels else cell for name, cell in pairs]

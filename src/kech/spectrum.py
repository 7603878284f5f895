"""Spectrum: every k and every cut side by side, so that k is chosen with open eyes."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any

from kech.cuts import Wishes
from kech.cuts.bounds import Bound, closest_bound, explain_no_bound, find_gap, lower_bounds, quick_bounds
from kech.cuts.dispatcher import EVEN, check_cuts, cut_points
from kech.cuts.local import fits_grid
from kech.errors import TooFewRows
from kech.points.models import distances, distinct_values
from kech.points.partition import Partition, column_losses, discernibility, largest_radius, mean_loss, tally_sensitive
from kech.points.points import Coarse, Points, build_points_to_cut
from kech.request import Request, check_k
from kech.tables.frames import as_frame
from kech.tables.table import Table

LARGEST_K = 100  # of a spectrum for which no k is named


@dataclass(frozen=True, slots=True)
class SpectrumRow:
    """What a release at k would cost.  Figures nobody has computed are None."""

    k: int
    cut: str
    eps: float
    eps_error: float  # by how much coarse axes make it larger, at most; 0 where they are not
    eps_lower_bound: float | None  # of every partition of these points
    classes: int
    loss: float
    loss_lower_bound: float | None
    loss_gap: float | None  # the share of the bound by which the loss is above it, at most
    suppressed: int
    average_class: float
    c_avg: float  # average class over k
    discernibility: int
    loss_per_column: dict[str, float]
    l: int | None  # noqa: E741 - the letter of l-diversity
    t: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Spectrum:
    """Rows ordered by cut, then k."""

    table_rows: int
    points: int
    columns: tuple[str, ...]
    lines: tuple[SpectrumRow, ...]
    step: float = 0.0  # of coarse axes
    library: str | None = None  # of dataframes: the caller's
    no_bound: dict[str, str] | None = None  # where bounds were asked for: the cuts that have none, and why

    def __repr__(self) -> str:
        ks, cuts = sorted({line.k for line in self.lines}), dict.fromkeys(line.cut for line in self.lines)
        return f"Spectrum(k from {ks[0]} to {ks[-1]}, {', '.join(cuts)}, {self.table_rows:,} rows)"

    def _repr_html_(self) -> str:
        from kech.views.notebook import show_spectrum

        return show_spectrum(self)

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for each cut and k."""
        return [asdict(line) for line in self.lines]

    def to_frame(self) -> Any:
        """The rows as a dataframe of your library, the loss of each column in one of its own."""
        apart = [(row, row.pop("loss_per_column")) for row in self.rows()]
        return as_frame([row | {f"loss[{name}]": loss[name] for name in loss} for row, loss in apart], self.library)

    def plot(self, path: str | PathLike[str] | None = None, *, ax: Any = None) -> Any:
        """Draw the trade-off; the matplotlib axes, or a file (.svg, .html, .png) where a path is given."""
        from kech.views.pictures import plot
        from kech.views.pictures.spectrum import draw_spectrum

        return plot(lambda size: draw_spectrum(self.rows(), size=size), path, ax)

    def to_json(self) -> dict[str, Any]:
        """The object `kech spectrum --json` prints."""
        return {
            "rows": self.table_rows,
            "points": self.points,
            "step": self.step,
            "quasi_identifiers": list(self.columns),
            "no_bound": self.no_bound,
            "spectrum": self.rows(),
        }


def compute_spectrum(
    table: Table,
    request: Request | None = None,
    *,
    k: Sequence[int] | None = None,
    cut: str | Sequence[str] | None = None,
    bound: bool = False,
    **fields: Any,
) -> Spectrum:
    """Fill k = 2 .. 100, or the k named, for each cut that is named; all else as a request says, or fields of it.

    l, t and alpha are goals for every class and sensitive column, as in a release.  Rows show the smallest number of
    distinct values and the largest t that are reached.
    More points than `max_points` (otherwise: than memory holds) make the axes coarser: eps_error says by how much.
    `bound` proves for every k how far its loss is above what any release could reach; that takes longer.
    """
    cuts = None if cut is None else check_cuts(cut)
    asked = table.settle(request, fields | {"cut": leading_cut(cuts)})
    cuts, ks = cuts or (asked.cut.style,), check_ks(k, table.rows)
    wishes = replace(Wishes.of(asked, table.threads), eps=None)
    _ = table.secret  # where none can be made, that is said before any work
    coarse = Coarse(asked.limits.max_points, ks[0], others=tuple(ks[1:]))
    coded = {name in EVEN: build_points_to_cut(table, asked.labels, steps=name in EVEN, coarse=coarse) for name in cuts}
    kind = asked.goal.t_kind
    why = {name: explain_no_bound(coded[name in EVEN], name, wishes.suppress) for name in cuts}
    bounds = {name: "none" if why[name] else "closest" if bound else "quick" for name in cuts}
    lines = [line for name in cuts for line in fill(coded[name in EVEN], ks, name, wishes, kind, bounds[name])]
    points = coded[cuts[0] in EVEN]
    no_bound = {name: reason for name, reason in why.items() if reason} if bound else None
    counts = (table.rows, len(points.weights))
    return Spectrum(*counts, table.quasi_identifiers, tuple(lines), points.step, table.library, no_bound)


def leading_cut(cuts: Sequence[str] | None) -> str | None:
    """Of several cuts the one that most can be said of: a request names one."""
    return next((style for style in ("regime", "local", "minimal", "domain") if style in (cuts or ())), None)


def fill(
    points: Points, ks: Sequence[int], cut: str, wishes: Wishes, t_kind: str, bounds: str
) -> Iterator[SpectrumRow]:
    """The rows of one cut, with no bounds, quick ones of some k, or the closest of every k."""
    quick = quick_bounds(points, ks, threads=wishes.threads) if bounds == "quick" else {}
    for k, partition in zip(ks, cut_points(points, ks, cut, wishes), strict=True):
        known = quick.get(k)
        if bounds == "closest":
            known = closest_bound(partition, k, threads=wishes.threads)
        elif known and not fits_grid(k, partition):  # of a larger k, and measured by its length
            (known,) = lower_bounds(replace(points, axes=partition.points.axes), [k], threads=wishes.threads)
        yield line(cut, k, partition, known, t_kind)


def check_ks(ks: Sequence[int] | None, rows: int) -> list[int]:
    """Each k once, ascending, between 1 and the number of rows."""
    chosen = sorted(set(range(2, min(LARGEST_K, rows) + 1) if ks is None else ks))
    if not chosen:
        raise TooFewRows(rows, 2)
    check_k(chosen[0])
    if chosen[-1] > rows:
        raise TooFewRows(rows, chosen[-1])
    return chosen


def line(cut: str, k: int, partition: Partition, bound: Bound | None, t_kind: str) -> SpectrumRow:
    """The figures of one partition."""
    average, tallies = float(partition.sizes.mean()), tally_sensitive(partition)
    columns = [axis.column for axis in partition.points.axes]
    return SpectrumRow(
        k=k,
        cut=cut,
        eps=largest_radius(partition),
        eps_error=partition.points.eps_error(),
        eps_lower_bound=partition.eps_bound if partition.eps_bound is not None else bound and bound.eps,
        classes=partition.classes,
        loss=mean_loss(partition),
        loss_lower_bound=bound and bound.loss,
        loss_gap=find_gap(mean_loss(partition), bound and bound.loss),
        suppressed=partition.suppressed,
        average_class=average,
        c_avg=average / k,
        discernibility=discernibility(partition),
        loss_per_column=dict(zip(columns, column_losses(partition).tolist(), strict=True)),
        l=min((int(distinct_values(tally).min()) for tally in tallies), default=None),
        t=max((float(distances(tally, t_kind).max()) for tally in tallies), default=None),
    )

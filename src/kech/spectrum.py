"""Spectrum: every k and every cut side by side, so that k is chosen with open eyes."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any

from kech.cuts import Wishes
from kech.cuts.bounds import Bound, lower_bounds
from kech.cuts.dispatcher import EVEN, check_cuts, cut_points
from kech.cuts.local import fits_grid
from kech.cuts.ordering import by_grid
from kech.errors import TooFewRows
from kech.points.loss import column_losses, discernibility, largest_radius, mean_loss
from kech.points.models import distances, distinct_values
from kech.points.partition import Partition, tally_sensitive
from kech.points.points import Coarse, Points, build_points
from kech.request import Labels, Request, check_k
from kech.system.progress import report
from kech.tables.frames import as_frame
from kech.tables.table import Table

LARGEST_K = 100  # of a spectrum for which no k is named
LANDMARKS = (2, 3, 5, 10, 20, 50, 100)
FEW_GRIDS = 8  # so many are bounded for every k
MOST_BOUNDED = 500_000  # points; of more of them bounds would take longer than releases


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
        """Draw the trade-off; the matplotlib axes, or a file (.svg, .png, .html) where a path is given."""
        from kech.views.plot_spectrum import draw_spectrum, save_spectrum

        return draw_spectrum(self.rows(), ax=ax) if path is None else save_spectrum(self.rows(), path)

    def to_json(self) -> dict[str, Any]:
        """The object `kech spectrum --json` prints."""
        return {
            "rows": self.table_rows,
            "points": self.points,
            "step": self.step,
            "quasi_identifiers": list(self.columns),
            "spectrum": self.rows(),
        }


def compute_spectrum(
    table: Table,
    request: Request | None = None,
    *,
    k: Sequence[int] | None = None,
    cut: str | Sequence[str] | None = None,
    **fields: Any,
) -> Spectrum:
    """Fill k = 2 .. 100, or the k named, for each cut that is named; all else as a request says, or fields of it.

    l, t and alpha are goals for every class and sensitive column, as in a release; the rows show what is reached.
    More points than `max_points` (otherwise: than memory holds) make the axes coarser: eps_error says by how much.
    """
    cuts = None if cut is None else check_cuts(cut)
    asked = table.settle(request, fields | {"cut": leading_cut(cuts)})
    cuts, ks = cuts or (asked.cut.style,), check_ks(k, table.rows)
    wishes = replace(Wishes.of(asked, table.threads), eps=None)
    _ = table.secret  # where none can be made, that is said before any work
    coarse = Coarse(asked.limits.max_points, ks[0], others=tuple(ks[1:]))
    coded = {name in EVEN: coded_points(table, name, asked.labels, coarse) for name in cuts}
    lines = [line for name in cuts for line in fill(coded[name in EVEN], ks, name, wishes, asked.goal.t_kind)]
    points = coded[cuts[0] in EVEN]
    return Spectrum(table.rows, len(points.weights), table.quasi_identifiers, tuple(lines), points.step, table.library)


def leading_cut(cuts: Sequence[str] | None) -> str | None:
    """Of several cuts the one that most can be said of: a request names one."""
    return next((style for style in ("regime", "local", "minimal", "domain") if style in (cuts or ())), None)


def fill(points: Points, ks: Sequence[int], cut: str, wishes: Wishes, t_kind: str) -> Iterator[SpectrumRow]:
    """The rows of one cut."""
    bounds = {} if cut in EVEN else known_bounds(points, ks, wishes)
    for k, partition in zip(ks, cut_points(points, ks, cut, wishes), strict=True):
        bound = bounds.get(k)
        if bound and not fits_grid(k, partition):  # of a larger k, and measured by its length
            (bound,) = lower_bounds(replace(points, axes=partition.points.axes), [k], threads=wishes.threads)
        yield line(cut, k, partition, bound, t_kind)


def known_bounds(points: Points, ks: Sequence[int], wishes: Wishes) -> dict[int, Bound]:
    """Bounds of every k, or of the usual ones where each k has a grid of its own; none where rows may be left out,
    and of very many points.
    """
    if wishes.suppress or len(points.weights) > MOST_BOUNDED:
        return {}
    grids = list(by_grid(points, ks))
    found: dict[int, Bound] = {}
    for at, batch in grids:
        wanted = [k for k in batch if len(grids) <= FEW_GRIDS or k in LANDMARKS]
        if wanted:
            report("bounding from below")
            found |= zip(wanted, lower_bounds(at, wanted, threads=wishes.threads), strict=True)
    return found


def coded_points(table: Table, cut: str, labels: Labels, coarse: Coarse = Coarse()) -> Points:  # noqa: B008
    """The points a cut works on: the domain cut needs equal steps."""
    points = build_points(table, labels=labels, steps=cut in EVEN, with_sensitive=True, coarse=coarse)
    points.check_room(coarse.k)
    return points


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
        suppressed=partition.suppressed,
        average_class=average,
        c_avg=average / k,
        discernibility=discernibility(partition),
        loss_per_column=dict(zip(columns, column_losses(partition).tolist(), strict=True)),
        l=min((int(distinct_values(tally).min()) for tally in tallies), default=None),
        t=max((float(distances(tally, t_kind).max()) for tally in tallies), default=None),
    )

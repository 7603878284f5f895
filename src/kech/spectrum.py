"""Spectrum: what a release costs at every k and with every cut, so that a user can choose k."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from os import PathLike
from typing import Any

import msgspec

from kech.cuts import cut_many
from kech.cuts.bounds import closest_bound, explain_no_bound, find_gap
from kech.cuts.variance import bound_least_variance, find_variance
from kech.errors import BadOption, TooFewPeople, unusable_value
from kech.points.models import worst_figures
from kech.points.partition import Partition, column_losses, discernibility, largest_radius, mean_loss, tally_sensitive
from kech.points.people import count_table_people
from kech.points.points import PointLimit, Points, build_points_to_cut
from kech.request import FIELDS, Cut, Goal, Request, check_ks
from kech.request.parts import CUTS, FEW_KS
from kech.tables.frames import as_frame
from kech.tables.repeats import warn_of_repeats
from kech.tables.table import Table, check_is_request, check_is_table


@dataclass(frozen=True, slots=True)
class SpectrumRow:
    """What a release at k with one cut would cost.  Figures that were not computed are None."""

    k: int  # fewest people of a class; rows where every row is another person
    cut: str
    eps: float
    eps_error: float  # the most by which coarse axes enlarge eps; 0 where no axis is coarse
    eps_lower_bound: float | None  # for every partition of these points
    classes: int
    loss: float
    loss_lower_bound: float | None
    loss_gap: float | None  # (loss - bound) / bound
    variance: float | None  # inside classes, as a share of that of the table; with the objective variance
    variance_lower_bound: float | None
    suppressed: int
    average_class: float  # in rows
    c_avg: float  # average_class / k
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
    step: float = 0.0  # width to which axes were coarsened
    library: str | None = None  # the caller's library of dataframes
    no_bound: dict[str, str] | None = None  # where bounds were requested: the cuts without one, and why
    people: int | None = None  # of the table; None where every row is another person

    def __repr__(self) -> str:
        ks, cuts = sorted({line.k for line in self.lines}), dict.fromkeys(line.cut for line in self.lines)
        rows = f"{self.table_rows:,} rows" + ("" if self.people is None else f" of {self.people:,} people")
        return f"Spectrum(k from {ks[0]} to {ks[-1]}, {', '.join(cuts)}, {rows})"

    def _repr_html_(self) -> str:
        from kech.views.notebook import show_spectrum

        return show_spectrum(self)

    @property
    def counted(self) -> str:
        """What k counts: people, or rows where every row is another person."""
        return "rows" if self.people is None else "people"

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for each cut and k."""
        return [asdict(line) for line in self.lines]

    def to_frame(self) -> Any:
        """The rows as a dataframe of your library, with a column `loss[NAME]` for each quasi-identifier."""
        pairs = [(row, row.pop("loss_per_column")) for row in self.rows()]
        return as_frame([row | {f"loss[{name}]": loss[name] for name in loss} for row, loss in pairs], self.library)

    def plot(self, path: str | PathLike[str] | None = None, *, ax: Any = None) -> Any:
        """Draw loss, classes and eps against k into a file (.svg, .html, .png), or on matplotlib axes."""
        from kech.views.pictures import plot
        from kech.views.pictures.spectrum import draw_spectrum

        return plot(lambda size: draw_spectrum(self.rows(), size=size, counted=self.counted), path, ax)

    def to_json(self) -> dict[str, Any]:
        """The object `kech spectrum --json` prints."""
        return {
            "rows": self.table_rows,
            "counted": self.counted,
            "people": self.people,
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
    k: int | Sequence[int] | None = None,
    cut: str | Sequence[str] | None = None,
    bound: bool = False,
    **fields: Any,
) -> Spectrum:
    """Classes, loss and eps for each k (2 to 100 by default) and each cut; other options are fields of a request.

    Where a person may have several rows, k counts people and is at most their number.  All other figures, also l and
    t, count rows.

    l, t and alpha are goals for every class and sensitive column, as in a release.  Rows show the smallest number of
    distinct values and the largest t of any class.
    With more points than `max_points` (or than memory can hold) kech makes the axes coarser; see eps_error.
    `bound` proves for every k how far its loss is above the lowest loss of any release.  That takes longer.
    """
    check_is_table(table)
    cuts = None if cut is None else check_cuts(cut)
    request = resolve_options(table, request, cuts, fields)
    warn_of_repeats(table)
    selected = [select_cut(request.cut, name) for name in cuts or [request.cut.cut]]
    request.goal.refuse_history("a spectrum compares classes of rows, and no histories.")
    request.goal.refuse_sample("a spectrum compares many k on the rows themselves.")
    if request.cut.target is not None:
        raise BadOption("--for", "a spectrum compares losses of equal weights. Omit it here; kech release uses it.")
    people = count_table_people(table)
    ks = check_ks(k, table.rows) if people is None else check_ks(k, people, TooFewPeople)
    if request.cut.gap is not None and len(ks) > FEW_KS:
        raise BadOption("--gap", f"it is for up to {FEW_KS} k, since each needs a proof. Name them: --k 5,10.")
    _ = table.secret  # refuses now, before any work, where no secret can be created
    point_limit = PointLimit(request.limits.max_points, ks[0], further_ks=tuple(ks[1:]))
    coded = {
        each.by_level: build_points_to_cut(table, request.labels, each, point_limit=point_limit)
        for each in {each.by_level: each for each in reversed(selected)}.values()
    }
    lines: list[SpectrumRow] = []
    bound = bound or request.cut.gap is not None
    obstacles = {each.cut: explain_no_bound(coded[each.by_level], each) for each in selected}
    for each in selected:
        bounded = bound and obstacles[each.cut] is None
        lines += measure_cut(coded[each.by_level], ks, each, request.goal, bound=bounded, threads=table.threads)
    points = coded[selected[0].by_level]
    counts = (table.rows, len(points.merge_people()[0].weights))
    no_bound = {name: reason for name, reason in obstacles.items() if reason} if bound else None
    columns = table.quasi_identifiers
    return Spectrum(*counts, columns, tuple(lines), points.step, table.library, no_bound, people)


def check_cuts(cut: str | Sequence[str]) -> tuple[str, ...]:
    """The names of one cut or of several; none at all is refused."""
    cuts = (cut,) if isinstance(cut, str) else tuple(cut)
    if not cuts:
        raise unusable_value("--cut", f"Choose among {', '.join(CUTS)}.")
    return cuts


def resolve_options(
    table: Table, request: Request | None, cuts: Sequence[str] | None, fields: dict[str, Any]
) -> Request:
    """The request with the options of all cuts."""
    check_is_request(request)
    base = (request or table.request).pick_cut(cuts or (), fields.get("objective"))
    return table.resolve_request(request, fields | {"cut": base})


def select_cut(cut: Cut, name: str) -> Cut:
    """The options of a cut for another one: a cut that makes no variance small is measured by width."""
    objective = cut.objective if CUTS[name].has_objective else FIELDS["objective"].default
    return msgspec.structs.replace(cut, cut=name, eps=None, objective=objective)


def measure_cut(
    points: Points, ks: Sequence[int], cut: Cut, goal: Goal, *, bound: bool, threads: int
) -> Iterator[SpectrumRow]:
    """The rows of one cut.  A partition of a larger k serves a smaller one where it loses less, so that the loss never
    falls as k grows.  For bounds all partitions are kept, otherwise only the last one.
    """
    rows: dict[int, SpectrumRow] = {}
    kept: dict[int, Partition] = {}
    last: Partition | None = None
    row: SpectrumRow | None = None
    for k, partition in cut_many(points, ks, cut, goal, threads=threads):
        row = serve(k, row) if row and partition is last else measure_partition(cut, k, partition, goal.t_kind)
        rows[k], last = row, partition
        kept |= {k: partition} if bound else {}
    for larger, k in pairwise(sorted(rows, reverse=True)):
        if find_cost(rows[larger]) < find_cost(rows[k]):
            rows[k] = serve(k, rows[larger])
            kept |= {k: kept[larger]} if bound else {}
    return (add_bound(rows[k], kept[k], threads) if bound else rows[k] for k in ks)


def find_cost(row: SpectrumRow) -> float:
    """What the search made small."""
    return row.loss if row.variance is None else row.variance


def serve(k: int, row: SpectrumRow) -> SpectrumRow:
    """The row of another k, for the same partition."""
    return replace(row, k=k, c_avg=row.average_class / k)


def add_bound(row: SpectrumRow, partition: Partition, threads: int) -> SpectrumRow:
    """The row with the closest bound."""
    bound = closest_bound(partition, row.k, threads=threads)
    eps = bound.eps if row.eps_lower_bound is None else row.eps_lower_bound
    gap, least = find_gap(row.loss, bound.loss), None
    if row.variance is not None:
        least = bound_least_variance(partition.points.merge_grains(), row.k, threads=threads)
    return replace(row, eps_lower_bound=eps, loss_lower_bound=bound.loss, loss_gap=gap, variance_lower_bound=least)


def measure_partition(cut: Cut, k: int, partition: Partition, t_kind: str) -> SpectrumRow:
    """The row of the spectrum for one partition, without a bound of its loss."""
    average, tallies = float(partition.sizes.mean()), tally_sensitive(partition)
    columns = [axis.column for axis in partition.points.axes]
    worst = worst_figures(Goal(l=1, t=1, t_kind=t_kind), tallies) if tallies else None
    return SpectrumRow(
        k=k,
        cut=cut.cut,
        eps=largest_radius(partition),
        eps_error=partition.points.eps_error(),
        eps_lower_bound=partition.eps_bound,
        classes=partition.classes,
        loss=mean_loss(partition),
        loss_lower_bound=None,
        loss_gap=None,
        variance=find_variance(partition) if cut.objective == "variance" else None,
        variance_lower_bound=None,
        suppressed=partition.suppressed,
        average_class=average,
        c_avg=average / k,
        discernibility=discernibility(partition),
        loss_per_column=dict(zip(columns, column_losses(partition).tolist(), strict=True)),
        l=None if worst is None else int(worst["l"]),
        t=None if worst is None else worst["t"],
    )

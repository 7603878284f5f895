"""Variance: the local cut for analysis of numbers, whose classes vary as little as can be.

Width counts the ends of a class, variance all of its rows.  Each column is rescaled by its variance in the whole table:

    variance = mean over columns j of  w_j SSE_j / SST_j        0 for the table itself, 1 for one class

SSE are squared distances of rows from the mean of their class, SST from that of the table.  By pairs of n rows,
SSE = sum of d(a, b)^2 / n, so columns without numbers have one too: two values of a set are at distance 1, others as
far apart as eps measures.  A number lies in the middle of its cell of the finest grid.

The search begins with MDAV (Domingo-Ferrer, Mateo-Sanz 2002), in blocks of large tables, and then only lowers it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import monotonic

from kech._kernels import VarianceSearch, Widths, bound_variance, measure_variance
from kech.cuts.bounds import LossBound, bound_release
from kech.cuts.local import Run, choose_effort, enforce_monotone_loss, space_out
from kech.cuts.starts import order_along
from kech.points.partition import Partition, build_partition
from kech.points.points import Points
from kech.request import Cut
from kech.request.parts import FEW_KS
from kech.system.console import accept_interrupts, report


@dataclass(frozen=True, slots=True)
class Effort:
    """Look-ups of a search: `each_row` of a small table; of a large one `at_once`, and `further` for each row."""

    each_row: float
    at_once: float
    further: float

    def count(self, rows: int) -> float:
        """The look-ups for a table of so many rows: the smaller of the two sums."""
        return min(self.each_row * rows, self.at_once + self.further * rows)


# Measured on nine tables of 834 to 4,092 rows at k = 3, 5 and 10: normal is 6 to 16 % below MDAV
# (benchmarks/pages/held_out.md).  Quick and best are not measured there.
EFFORTS = {"quick": Effort(2e4, 1e8, 1.5e4), "normal": Effort(2.5e5, 1e9, 3e4), "best": Effort(4e6, 2e10, 3e5)}
CHAIN_FACTOR = 1.06  # of many k, those this factor apart are searched
STUCK, GAIN = 24, 1e-4  # so many rounds that gain less than this share end the search
MOST_BOUNDED = 30_000  # points: all pairs are compared


def cut_variance(points: Points, ks: Sequence[int], cut: Cut, run: Run) -> Iterator[Partition]:
    """A partition for each k, ascending; the variance never falls as k grows."""
    effort = choose_effort(ks, cut.effort)
    searched = list(ks) if len(ks) <= FEW_KS else space_out(ks, CHAIN_FACTOR)
    partitions = {k: search_variance(points.published_at(k), k, effort, run) for k in searched}
    best = dict(zip(searched, enforce_monotone_loss(searched, list(partitions.values()), find_variance), strict=True))
    return iter([best[min(j for j in searched if j >= k)] for k in ks])


def search_variance(points: Points, k: int, effort: str | float, run: Run) -> Partition:
    """The partition of least variance found; stopped by Ctrl-C, the best so far."""
    orders = [order_along(points, threads=run.threads, hilbert=hilbert) for hilbert in (False, True)]
    weights, how = points.column_weights, (k, run.split_points, orders, run.seed)
    state = VarianceSearch(points.codes, points.weights, finest_metric(points), weights, *how)
    progress, cells = progress_of(points.rows, effort), points.rows * len(points.axes)
    last, gained = inf, 0
    try:
        state.step(run.threads)
        while (done := progress(state.work)) < 1 and state.rounds - gained <= STUCK and not run.stopped:
            report(f"searching at k={k}, variance {state.price / cells:.4f}", done)
            state.step(run.threads)
            if state.price < last * (1 - GAIN):
                last, gained = state.price, state.rounds
    except KeyboardInterrupt:
        if not state.rounds:  # there are no classes yet
            raise
        run.stopped = True
        accept_interrupts()
        report(f"stopped at k={k}", 1.0)
    return build_partition(points, *state.shares())


def progress_of(rows: int, effort: str | float) -> Callable[[int], float]:
    """The share of the effort that is spent after some work: of the work, or of the time."""
    if isinstance(effort, str):
        enough = EFFORTS[effort].count(rows)
        return lambda work: work / enough
    begin = monotonic()
    return lambda _: (monotonic() - begin) / effort if effort else 1.0


def find_variance(partition: Partition) -> float:
    """Variance inside classes as a share of that of the table, on average over columns.

    PRIVATE: it is computed from raw rows.
    """
    points = partition.points
    shares = (partition.point, partition.group, partition.rows)
    inside = measure_variance(points.codes, points.weights, finest_metric(points), *shares)
    return float((points.column_weights * inside).mean())


def bound_objective(partition: Partition, k: int, cut: Cut, *, threads: int = 1) -> LossBound:
    """The bound of the loss, and with the objective variance that of the variance too."""
    bound = bound_release(partition, k, cut, threads=threads)
    if cut.objective == "width":
        return bound
    least = bound_least_variance(partition.points.merge_grains(), k, threads=threads)
    return replace(bound, variance=find_variance(partition), variance_lower_bound=least)


def bound_least_variance(points: Points, k: int, *, threads: int = 1) -> float | None:
    """Below what the variance of no partition can go; None where points are too many to compare.

    Squared distances of n rows are least among the nearest, and their sum over n grows with n.  So a row adds at least
    half the sum of its k - 1 smallest ones, over k.
    """
    if len(points.weights) > MOST_BOUNDED:
        return None
    weights, metric = points.column_weights, finest_metric(points)
    (squares,) = bound_variance(points.codes, points.weights, metric, weights, [k], threads).tolist()
    return float(squares / (points.rows * len(points.axes)))


def finest_metric(points: Points) -> Widths:
    """Distances on the finest grid: they are the same at every k."""
    return points.compute_once("finest metric", lambda *_: points.published_at(1).metric())

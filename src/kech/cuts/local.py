"""Local cut: lowest information loss, each class with its own box.

Starts: order and cut for every k; for some, peeled lattice cells and classes grown from outlying rows.  The
cheapest start is searched: neighbouring classes exchange rows, or are freed and made anew.  At last a partition of
a larger k serves a smaller one where it costs less, so that the loss never falls as k grows.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from time import monotonic

import numpy as np

from kech._kernels import Search, grow_points, order_points
from kech.cuts.ordering import cut_ordering, published_cells
from kech.cuts.peeling import level_tables, peel
from kech.errors import BadOption
from kech.loss import mean_loss
from kech.partition import Partition, build_partition
from kech.points import Points
from kech.progress import report

FEW = 8  # so many k are all studied, however little effort is asked for
APART = 1.3  # beyond, and in haste, only k this factor apart
PAIR_ROUNDS = 2  # before classes are freed
HEAT = 0.003  # how much dearer, as a share, classes made anew may be at first
COOL = 0.85  # share of the search after which nothing may become dearer

PAIRS = 1e7  # of points that are compared while classes grow, and how long a stretch may be
STRETCHES = (200, 4000)

# Width look-ups of the search: at least, for each row, and of a large table at most these and for each row these.
EFFORTS = {
    "quick": (1e4, 400, 3.5e6, 20),
    "normal": (1e5, 6000, 40e6, 200),
    "best": (1e6, 200_000, 1.9e9, 4000),
}


def cut_local(
    points: Points,
    ks: Sequence[int],
    *,
    threads: int,
    part: bool = True,
    reading: str = "strict",
    effort: str | float | None = None,
    seed: int = 0,
) -> Iterator[Partition]:
    """A partition for each k, ascending; `effort` is quick, normal, best, or seconds for each k.

    Without it, a few k are searched normally and many quickly.
    """
    del reading
    effort = effort if effort is not None else "normal" if len(ks) <= FEW else "quick"
    check_effort(effort)
    found = list(cut_ordering(points, ks, threads=threads, part=part))
    studied = studied_ks(ks, effort)
    for k, peeled in peel_each(points, studied, threads=threads, seed=seed):
        at = ks.index(k)
        starts = [found[at], peeled]
        if effort != "quick":
            starts.append(grow(points.at(k), k, threads=threads, part=part, seed=seed))
        start = min(starts, key=mean_loss)
        found[at] = search(start, k, threads=threads, part=part, effort=effort, seed=seed)
    return iter(serve_smaller(points, ks, found))


def check_effort(effort: str | float) -> None:
    """A name, or seconds."""
    if effort not in EFFORTS and not (isinstance(effort, (int, float)) and 0 <= effort < float("inf")):
        raise BadOption("--effort", f"choose among {', '.join(EFFORTS)}, or a number of seconds.")


def studied_ks(ks: Sequence[int], effort: str | float) -> list[int]:
    """The k to peel and search for: all, or in haste some."""
    if effort != "quick" or len(ks) <= FEW:
        return list(ks)
    chosen: list[int] = []
    for k in ks:
        if not chosen or k >= chosen[-1] * APART or k == ks[-1] or k <= 5:
            chosen.append(k)
    return chosen


def peel_each(points: Points, ks: Sequence[int], *, threads: int, seed: int) -> Iterator[tuple[int, Partition]]:
    """Each k with its peeled partition; k of equal grids share the lattice."""
    for _, same in groupby(ks, key=lambda k: published_cells(points, k)):
        batch = list(same)
        at = points.at(batch[0])
        for k, shares in zip(batch, peel(at, batch, threads=threads, seed=seed), strict=True):
            yield k, build_partition(points.at(k), *shares)


def grow(points: Points, k: int, *, threads: int, part: bool, seed: int) -> Partition:
    """Classes grown from outlying rows, each time by the row that widens least; in stretches of the kd order."""
    widths = points.widths()
    order = order_points(points.codes, points.weights, widths, threads)
    stretch = int(np.clip(PAIRS / len(points.weights), *STRETCHES))
    shares = grow_points(points.codes, points.weights, order, widths, k, part, stretch, seed, threads)
    return build_partition(points, *shares)


def search(start: Partition, k: int, *, threads: int, part: bool, effort: str | float, seed: int) -> Partition:
    """The cheapest partition found from one start; stopped by Ctrl-C, the cheapest so far."""
    points = start.points
    found = Search(
        points.codes, points.widths(), level_tables(points), k, part, start.point, start.group, start.rows, seed
    )
    share = progress_of(found, points.rows, effort)
    try:
        while (done := share()) < 1 and found.price > 0:
            report(f"searching at k={k}", done)
            ruin = found.rounds >= PAIR_ROUNDS
            found.step(HEAT * max(0.0, 1 - done / COOL) if ruin else 0.0, ruin, threads)
    except KeyboardInterrupt:
        report(f"stopped at k={k}", 1.0)
    return build_partition(points, *found.shares())


def progress_of(found: Search, rows: int, effort: str | float) -> Callable[[], float]:
    """The share of the effort that is spent: of the work, or of the time."""
    if isinstance(effort, str):
        fewest, each, most, more = EFFORTS[effort]
        work = max(fewest, min(each * rows, most + more * rows))
        return lambda: found.work / work
    begin = monotonic()
    return lambda: (monotonic() - begin) / effort if effort else 1.0


def serve_smaller(points: Points, ks: Sequence[int], found: Sequence[Partition]) -> list[Partition]:
    """From the largest k down: what serves a larger k is taken where it is cheaper."""
    best: list[Partition] = []
    for k, own in zip(reversed(ks), reversed(found), strict=True):
        offered = [build_partition(points.at(k), larger.point, larger.group, larger.rows) for larger in best[-1:]]
        best.append(min([own, *offered], key=mean_loss))
    return best[::-1]

"""Local cut: lowest information loss, each class with its own box.

Starts: order and cut for every k; for some, peeled lattice cells and classes grown from outlying rows.  The
cheapest start is searched: neighbouring classes exchange rows, or are freed and made anew.  At last a partition of
a larger k serves a smaller one where it costs less, so that the loss never falls as k grows.
"""

from collections.abc import Callable, Iterator, Sequence
from time import monotonic

import numpy as np

from kech._kernels import Search, grow_points, order_points
from kech.cuts import Wishes
from kech.cuts.ordering import by_grid, cut_ordering
from kech.cuts.peeling import level_tables, peel
from kech.errors import BadOption
from kech.loosening import loose_widths, loosen
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


def cut_local(points: Points, ks: Sequence[int], wishes: Wishes) -> Iterator[Partition]:
    """A partition for each k, ascending; without a wish for effort, a few k are searched normally and many quickly."""
    wishes.keep_all()
    effort = wishes.effort if wishes.effort is not None else usual_effort(ks)
    check_effort(effort)
    found = list(cut_ordering(points, ks, threads=wishes.threads, part=wishes.part))
    studied = studied_ks(ks, effort)
    for k, peeled in peel_each(points, studied, wishes):
        at = ks.index(k)
        starts = [found[at], peeled, *([] if effort == "quick" else [grow(points.at(k), k, wishes)])]
        found[at] = search(min(starts, key=published), k, effort, wishes)
    return iter(serve_smaller(points, ks, found))


def usual_effort(ks: Sequence[int]) -> str:
    """A few k are searched normally, many quickly."""
    return "normal" if len(ks) <= FEW else "quick"


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


def peel_each(points: Points, ks: Sequence[int], wishes: Wishes) -> Iterator[tuple[int, Partition]]:
    """Each k with its peeled partition; k of equal grids share the lattice."""
    for at, batch in by_grid(points, ks):
        for k, shares in zip(batch, peel(at, batch, threads=wishes.threads, seed=wishes.seed), strict=True):
            yield k, build_partition(points.at(k), *shares)


def grow(points: Points, k: int, wishes: Wishes) -> Partition:
    """Classes grown from outlying rows, each time by the row that widens least; in stretches of the kd order."""
    widths = loose_widths(points)
    order = order_points(points.codes, points.weights, widths, wishes.threads)
    stretch = int(np.clip(PAIRS / len(points.weights), *STRETCHES))
    how = (k, wishes.part, stretch, wishes.seed, wishes.threads)
    return build_partition(points, *grow_points(points.codes, points.weights, order, widths, *how))


def search(start: Partition, k: int, effort: str | float, wishes: Wishes, *, limit: float = float("inf")) -> Partition:
    """The cheapest partition found from one start; stopped by Ctrl-C, the cheapest so far.  Sides beyond the
    limit are dear.
    """
    points, shares = start.points, (start.point, start.group, start.rows)
    widths = points.widths() if limit < float("inf") else loose_widths(points)
    found = Search(points.codes, widths.limited(limit), level_tables(points), k, wishes.part, *shares, wishes.seed)
    share = progress_of(found, points.rows, effort)
    try:
        while (done := share()) < 1 and found.price > 0:
            report(f"searching at k={k}", done)
            ruin = found.rounds >= PAIR_ROUNDS
            found.step(HEAT * max(0.0, 1 - done / COOL) if ruin else 0.0, ruin, wishes.threads)
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
    for k, own in sorted(zip(ks, found, strict=True), key=lambda pair: -pair[0]):
        larger = [build_partition(points.at(k), made.point, made.group, made.rows) for made in best[-1:]]
        best.append(min(own, *larger, key=published) if larger else own)
    return best[::-1]


def published(partition: Partition) -> float:
    """What a partition loses when its ends are loosened."""
    return mean_loss(loosen(partition))

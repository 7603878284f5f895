"""Starts: partitions from which a search begins.

Four kinds: the kd order cut, the Hilbert curve cut, classes grown from outlying rows, and peeled lattice cells.

Two orders put the points on a line so that neighbours stay close.  They do not depend on k, so one order serves the
whole spectrum.  Along it, the dynamic program finds the cheapest cut into runs of at least k rows:

    f(i) = min over runs (h, i] of at least k rows of  f(h) + rows(h, i] * sum_j width_j(h, i]

Peeling takes cells of the lattice from the narrowest up; each that still holds k rows becomes a class.  An axis takes
part through nested levels of cells: the levels of its tree, halves and quarters of a line or an order, or, for a set,
each value and all.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

import numpy as np

from kech._kernels import cut_order, grow_points, order_by_hilbert, order_points, peel_points, price_classes
from kech.axes import Axis, Codes, LineAxis, RankAxis, TreeAxis
from kech.axes.grid import Ints
from kech.cuts.protection import expected_widths
from kech.points.partition import Partition, build_partition
from kech.points.points import Points, cache_on_points
from kech.system.console import report

KINDS = ("cut", "curved", "grown", "peeled")  # of starts
PAIRS = 1e7  # of points that are compared while classes grow, and how long a stretch may be
STRETCHES = (200, 4000)
MOST_NODES = 20_000  # of a larger lattice, random chains
MOST_HALVINGS = 7

Shares = tuple[Ints, Ints, Ints]


def make_starts(
    points: Points,
    starts: Mapping[int, Partition],
    kinds: Mapping[int, Collection[str]],
    *,
    threads: int = 1,
    seed: int = 0,
    split_points: bool = True,
    table_rows: int = 0,
) -> dict[int, dict[str, Partition]]:
    """For each k its start and those of the kinds it is asked for; k of equal grids share the lattice."""
    stretch = int(np.clip(PAIRS / max(len(points.weights), table_rows), *STRETCHES))
    starts_of = {k: {"cut": start} for k, start in starts.items()}
    ks_of = {kind: [k for k in starts if kind in kinds[k]] for kind in KINDS}
    order = order_along(points, threads=threads)
    with ThreadPoolExecutor(1) as pool:
        beside = pool.map if threads > 1 else map
        grown = beside(
            lambda k: grow_classes(
                points.published_at(k), k, order, stretch, threads=threads, seed=seed, split_points=split_points
            ),
            ks_of["grown"],
        )
        curved = cut_ordering(points, ks_of["curved"], threads=threads, split_points=split_points, hilbert=True)
        for kind, partitions in (("curved", curved), ("grown", grown)):
            for k, start in zip(ks_of[kind], partitions, strict=True):
                starts_of[k][kind] = start
    for at, batch in by_grid(points, ks_of["peeled"]):
        limits = [min(map(expected_loss, starts_of[k].values())) for k in batch]
        for k, shares in zip(batch, peel_classes(at, batch, limits, threads=threads, seed=seed), strict=True):
            starts_of[k] |= {"peeled": build_partition(at, *shares)} if len(shares[0]) else {}
    return starts_of


def expected_loss(partition: Partition) -> float:
    """What a partition loses once its ends are moved, on average."""
    points, shares = partition.points, (partition.point, partition.group, partition.rows)
    return price_classes(points.codes, expected_widths(points), *shares) / (points.rows * len(points.axes))


# -- orders ------------------------------------------------------------------------------------------------


def cut_ordering(
    points: Points, ks: Sequence[int], *, threads: int, split_points: bool = True, hilbert: bool = False
) -> Iterator[Partition]:
    """A partition for each k, ascending; with `split_points` the rows of one point may go to several classes."""
    report("ordering points")
    done = 0
    for at, batch in by_grid(points, ks):
        order = order_along(points, threads=threads, hilbert=hilbert)
        for partition in cut_along(order, at, batch, threads=threads, split_points=split_points):
            yield partition
            done += 1
            report("cutting", done / len(ks))


def cut_along(
    order: Ints, points: Points, ks: Sequence[int], *, threads: int, split_points: bool
) -> Iterator[Partition]:
    """A partition for each k, all on the grid these points are on."""
    how = (order, expected_widths(points), list(ks), split_points, threads, points.person)
    for shares in cut_order(points.codes, points.weights, *how):
        yield build_partition(points, *shares)


def order_along(points: Points, *, threads: int, hilbert: bool = False) -> Ints:
    """The points as a kd tree of the finest grid puts them on a line, or as the Hilbert curve meets them; made once."""
    finest = points.compute_once("finest widths", lambda *_: points.published_at(1).widths())
    if hilbert:
        return points.compute_once("hilbert", lambda codes, _: order_by_hilbert(codes, finest))
    return points.compute_once("kd", lambda codes, weights: order_points(codes, weights, finest, threads))


def by_grid(points: Points, ks: Sequence[int]) -> Iterator[tuple[Points, list[int]]]:
    """Neighbouring k whose grids are the same, with the points on that grid."""
    for _, same in groupby(ks, key=lambda k: published_cells(points.published_at(k))):
        batch = list(same)
        yield points.published_at(batch[0]), batch


def published_cells(points: Points) -> tuple[bytes, ...]:
    """What distinguishes two grids."""
    return tuple(axis.state for axis in points.axes)


# -- growing and peeling -----------------------------------------------------------------------------------


def grow_classes(
    points: Points, k: int, order: Ints, stretch: int, *, threads: int, seed: int, split_points: bool
) -> Partition:
    """Classes grown from outlying rows, each time by the row that widens least; in stretches of the kd order."""
    how = (k, split_points, stretch, seed, threads, points.person)
    return build_partition(points, *grow_points(points.codes, points.weights, order, expected_widths(points), *how))


def peel_classes(
    points: Points, ks: Sequence[int], limits: Sequence[float], *, threads: int, seed: int, alike: bool = False
) -> list[Shares]:
    """Shares (point, class, rows) for each k, on the axes of `points`; none where the loss will exceed the limit.

    k that are `alike` look at all nodes for the first of them only, which is faster and loses a little.
    """
    how = (points.codes, points.weights, expected_widths(points), level_tables(points))
    prices = [limit * points.rows * len(points.axes) for limit in limits]
    return peel_points(*how, list(ks), prices, MOST_NODES, seed, alike, threads, points.person)


@cache_on_points
def level_tables(points: Points) -> list[Codes]:
    """For each axis [level, code] -> cell, from fine to coarse."""
    return [np.ascontiguousarray(axis_levels(axis), np.int32) for axis in points.axes]


def axis_levels(axis: Axis) -> Ints:
    """Levels of one axis; NULL is a cell of its own below the top."""
    if isinstance(axis, TreeAxis):
        levels = [axis.tree.level_codes(level).astype(np.int64) for level in range(axis.tree.height - 1)]
    elif isinstance(axis, LineAxis):
        levels = halvings(axis.ends[0][: axis.values] / axis.length, axis.cells[0][: axis.values])
    elif isinstance(axis, RankAxis) and axis.is_ordered:
        levels = halvings(np.arange(axis.values) / max(axis.values, 1), np.arange(axis.values))
    else:
        levels = [axis.cells[0][: axis.values] if isinstance(axis, RankAxis) else np.arange(axis.values)]
    null = np.full(int(axis.has_null), axis.null)
    below = [np.concatenate([level, null]) for level in levels]
    return np.stack([*below, np.zeros(axis.size, np.int64)])


def halvings(rank: np.ndarray, finest: Ints) -> list[Ints]:
    """The cells themselves, then 64 parts of the line, 32, down to 2."""
    start = rank - rank.min(initial=0.0)
    parts = [2**depth for depth in range(MOST_HALVINGS - 1, 0, -1)]
    coarser = [np.floor(np.minimum(start, 1 - 1e-9) * n).astype(np.int64) for n in parts if n < len(np.unique(finest))]
    return [finest, *coarser]

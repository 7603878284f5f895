"""Order and cut: put the points on a line so that neighbours stay close, then cut the line for every k.

Two orders, that of a kd tree and the Hilbert curve.  They do not depend on k, so one order serves the whole
spectrum.  Along it, the dynamic program finds the cheapest cut into runs of at least k rows:

    f(i) = min over runs (h, i] of at least k rows of  f(h) + rows(h, i] * sum_j width_j(h, i]
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from kech._kernels import cut_order, order_by_hilbert, order_points
from kech.axes.grid import Ints
from kech.cuts.moved_ends import loose_widths
from kech.points.partition import Partition, build_partition
from kech.points.points import Points
from kech.system.progress import report


def cut_ordering(
    points: Points, ks: Sequence[int], *, threads: int, part: bool = True, hilbert: bool = False
) -> Iterator[Partition]:
    """A partition for each k, ascending; with `part` the rows of one point may go to several classes."""
    report("ordering points")
    done = 0
    for at, batch in by_grid(points, ks):
        for found in cut_on(at, batch, threads=threads, part=part, hilbert=hilbert):
            yield found
            done += 1
            report("cutting", done / len(ks))


def cut_on(
    points: Points, ks: Sequence[int], *, threads: int, part: bool, hilbert: bool = False
) -> Iterator[Partition]:
    """A partition for each k, all on the grid these points are on."""
    order = order_along(points, threads=threads, hilbert=hilbert)
    for shares in cut_order(points.codes, points.weights, order, loose_widths(points), list(ks), part, threads):
        yield build_partition(points, *shares)


def order_along(points: Points, *, threads: int, hilbert: bool = False) -> Ints:
    """The points as a kd tree of the finest grid puts them on a line, or as the Hilbert curve meets them; made once."""
    finest = points.at(1)
    if hilbert:
        return points.once("hilbert", lambda codes, _: order_by_hilbert(codes, finest.widths()))
    return points.once("kd", lambda codes, weights: order_points(codes, weights, finest.widths(), threads))


def by_grid(points: Points, ks: Sequence[int]) -> Iterator[tuple[Points, list[int]]]:
    """Neighbouring k whose grids are the same, with the points on that grid."""
    for _, same in groupby(ks, key=lambda k: published_cells(points.at(k))):
        batch = list(same)
        yield points.at(batch[0]), batch


def published_cells(points: Points) -> tuple[bytes, ...]:
    """What distinguishes two grids."""
    return tuple(axis.state for axis in points.axes)

"""Lower bound of the loss: no partition, found by whatever means, loses less.

A row shares its class with k - 1 others, so the box of its class is at least as wide as the box around the row and
its k-th nearest row, itself counted:

    loss(k) >= 1 / (N d) * sum over rows of  min_k over rows y of  sum_j width_j({x_j, y_j})
"""

from collections.abc import Sequence
from itertools import groupby

from kech._kernels import bound_prices, order_points
from kech.cuts.ordering import published_cells
from kech.points import Points
from kech.progress import report

MOST_POINTS = 60_000  # every point is compared with every other


def loss_lower_bounds(points: Points, ks: Sequence[int], *, threads: int) -> list[float] | None:
    """For each k, ascending, a loss that no partition undercuts; None where there are too many points."""
    if len(points.weights) > MOST_POINTS:
        return None
    report("bounding the loss")
    order = order_points(points.codes, points.weights, points.at(1).widths(), threads)
    codes, weights = points.codes[order], points.weights[order]
    cells = points.rows * len(points.axes)
    bounds: list[float] = []
    for _, same in groupby(ks, key=lambda k: published_cells(points, k)):
        batch = list(same)
        widths = points.at(batch[0]).widths()
        bounds += [price / cells for price in bound_prices(codes, weights, widths, batch, threads)]
    return bounds

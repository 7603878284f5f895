"""Homology: the holes of the anonymity complex, from the eps at which each opens to the eps at which it is filled.

In: points and a metric.  Out: for each dimension 1, 2, ... the births and deaths of its holes, in radii.

A ring of rows that no simplices fill is a hole of dimension 1, a hollow shell one of dimension 2, and so on.  Chains
have coefficients in Z/field, Z/2 unless told otherwise; fields differ only where a complex has torsion.
"""

import numpy as np

from kech.points.points import Points
from kech.system.memory import half_the_memory
from kech.topology.filtration import Filtration, build_filtration, check_metric
from kech.topology.homology.balls import ball_bars
from kech.topology.homology.boxes import box_bars, no_bars
from kech.topology.homology.reduction import Holes


def find_holes(
    points: Points,
    metric: str,
    max_dimension: int,
    *,
    field: int = 2,
    tree: Filtration | None = None,
    memory: int | None = None,
    zero_length: bool = False,
) -> Holes:
    """Births and deaths of the holes of dimension 1 .. max_dimension: arrays n x 2, by birth, then death.

    All deaths are finite: a large eps makes one simplex of all rows.  Work that may need more than `memory` bytes,
    by default half of the machine's, is refused before it begins.  Who has the merge tree of the points gives it.
    """
    check_metric(points, metric)
    highest = max(highest_dimension(points, metric), 0)
    limit = half_the_memory() if memory is None else memory
    if metric == "ball":
        tree = build_filtration(points, metric) if tree is None else tree
        holes = ball_bars(points, tree, min(max_dimension, highest), limit, field=field, zero_length=zero_length)
    elif zero_length or (highest and max_dimension):
        holes = box_bars(points, max_dimension, highest, limit, field=field, zero_length=zero_length)
    else:
        holes = no_bars(len(points.codes), max_dimension)
    dimensions = range(1, max_dimension + 1)
    bars = {n: holes.bars.get(n, np.empty((0, 2))) for n in dimensions}
    return Holes(bars, {n: holes.left_out.get(n, 0) for n in dimensions})


def highest_dimension(points: Points, metric: str) -> int:
    """The highest dimension that a hole of these points can have, at any eps.

    Boxes and balls in R^d leave no hole of dimension d.  For boxes, trees and sets do not count, nor do axes with two
    values: there a scale only parts the rows, and within a part the axis has one place.
    """
    used = [len(np.unique(codes)) for codes in points.codes.T]
    if metric == "ball":
        return sum(values > 1 for values in used) - 1
    lines = (axis.kind not in ("hierarchy", "set") for axis in points.axes)
    return sum(line and values > 2 for line, values in zip(lines, used, strict=True)) - 1

"""Roll-up: the figures of all nodes of a lattice, from one GROUP BY.

In: points and the levels of their axes.  Out: for every node the number of classes, the smallest one, and how many
classes have 1, 2, 3, ... people; rows where every row is another person.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Lattice
from kech.axes.grid import Floats, Ints
from kech.axes.levels import Level
from kech.points.people import ALONE
from kech.points.points import Points
from kech.system.console import report
from kech.system.memory import PERSON_CLASS_BYTES, SETTLED_BYTES

MOST_AT_ONCE = 100_000  # nodes between two reports of progress


@dataclass(frozen=True, slots=True, eq=False)
class NodeTable:
    """Figures of all nodes; the level of the last column runs fastest."""

    classes: Ints
    smallest: Ints
    counts: NDArray[np.int32]  # nodes x bound: classes of 1, 2, ... people
    costs: Floats  # nodes x bound: what suppressing these classes adds to the loss
    rows: Ints  # nodes x bound: rows of these classes
    peak_bytes: int  # of the classes kept while rolling up

    @property
    def bound(self) -> int:
        """The largest class size that is counted."""
        return int(self.counts.shape[1])

    def count_suppressed(self, k: int) -> Ints:
        """Rows in classes of fewer than k, for k <= bound + 1."""
        return np.asarray(self.rows[:, : max(k - 1, 0)].sum(axis=1))

    def cost(self, k: int) -> Floats:
        """What suppressing them adds to the loss."""
        return np.asarray(self.costs[:, : max(k - 1, 0)].sum(axis=1))


def build_kernel_lattice(points: Points, levels: Sequence[Sequence[Level]]) -> Lattice:
    """Points and levels as the kernel knows them."""
    kernel = Lattice(points.codes, points.weights, points.person)
    for axis, weight in zip(levels, points.column_weights.tolist(), strict=True):
        cells = np.stack([level.cells for level in axis])
        widths = weight * np.stack([level.widths[level.cells] for level in axis])
        kernel.add_axis(cells.astype(np.int32), widths)
    return kernel


def measure_all_nodes(
    kernel: Lattice, points: Points, levels: Sequence[Sequence[Level]], bound: int, *, memory: int, threads: int
) -> NodeTable:
    """The figures of every node, computed in parts that fit in memory: a part has the first columns at fixed levels."""
    fixed = count_fixed_axes(points, levels, memory)
    starts = list(product(*(range(len(axis)) for axis in levels[:fixed])))
    parts = []
    for done, start in enumerate(starts):
        report("rolling up the lattice", done / len(starts))
        parts.append(kernel.roll(list(start), bound, threads))
    joined = {name: np.concatenate([part[name] for part in parts]) for name in ("classes", "smallest")}
    counts, costs = (np.concatenate([part[name] for part in parts]).reshape(-1, bound) for name in ("counts", "costs"))
    costs /= points.rows * len(levels)
    if points.person is None:
        rows = counts * np.arange(1, bound + 1)
    else:
        rows = np.concatenate([part["rows"] for part in parts]).reshape(-1, bound)
    peak = max(part["peak_bytes"] for part in parts)
    return NodeTable(**joined, counts=counts, costs=costs, rows=rows, peak_bytes=peak)


def count_fixed_axes(points: Points, levels: Sequence[Sequence[Level]], memory: int) -> int:
    """The fewest first columns to fix so that two layers of all other nodes fit into the memory."""
    parts = (levels[fixed:] for fixed in range(len(levels)))
    fitting = (len(levels) - len(part) for part in parts if fits_in_memory(points, part, memory))
    return next(fitting, len(levels))


def fits_in_memory(points: Points, levels: Sequence[Sequence[Level]], memory: int) -> bool:
    """Whether the nodes over these levels can be rolled up at once."""
    return prod(map(len, levels)) <= MOST_AT_ONCE and bound_kept_bytes(points, levels) <= memory


def bound_kept_bytes(points: Points, levels: Sequence[Sequence[Level]]) -> float:
    """A bound of what two layers of nodes hold: a node has no more classes than points, or than cells.

    Where a person may have several rows, a node holds its pairs of a person and a class too: no more than points of
    such people, or than these people times classes.
    """
    cells, layer = np.ones(1), np.zeros(1, np.int64)
    for axis in levels:
        cells = np.multiply.outer(cells, [float(level.size) for level in axis]).ravel()
        layer = np.add.outer(layer, np.arange(len(axis))).ravel()
    bits = sum((axis[0].size - 1).bit_length() for axis in levels)
    classes = np.minimum(cells, len(points.weights))
    each = classes * 8 * (3 + bits // 33)
    if points.person is not None:
        several = points.person[points.person != ALONE]
        people = len(np.unique(several))
        pairs = np.minimum(people * classes, len(several))
        each = each + SETTLED_BYTES * classes + PERSON_CLASS_BYTES * (pairs + people)
    bytes_of_layer = np.bincount(layer, each)
    return float((bytes_of_layer + np.append(bytes_of_layer[1:], 0)).max())

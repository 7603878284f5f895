"""Nodes: a node is a level for each column; rows that are then printed alike are one class.

In: points and the levels of their axes.  Out: classes, losses and class sizes, of one node or, as far as memory allows,
of all at once.

Equality is an equivalence relation, so the complex of a node is a disjoint union of full simplices: its components are
its classes, and it has no holes.  Going up, classes merge, so k never falls, and suppressed rows never become more.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import prod
from operator import le
from typing import Any

import numpy as np

from kech._kernels import Lattice, walk_path
from kech.axes import Axis
from kech.axes.grid import Floats, Ints
from kech.axes.levels import Level
from kech.errors import GoalNotMet, TooManyNodes
from kech.points.partition import Partition, box_partition
from kech.points.people import count_at_codes
from kech.points.points import Points
from kech.system.memory import NODE_SIZE_BYTES
from kech.topology.node_search import Levels, NodeFigures
from kech.topology.rollup import NodeTable, build_kernel_lattice, measure_all_nodes

MOST_NODES = 1_000_000  # beyond it nodes are searched, not enumerated
BOUND = 128  # class sizes counted at every node; for a larger k with suppression they are counted again
RECENT, MOST_RECENT = 32, 100_000  # nodes whose classes are kept for coarser ones, with up to so many points


@dataclass(frozen=True, slots=True)
class PathBar:
    """A class along a monotone path, alive from position `birth` to `death`, both included.

    When classes merge the heaviest lives on; `weights` are its rows at each position, `people` its different people,
    or None where every row is another person.
    """

    birth: int
    death: int
    weights: tuple[int, ...]
    people: tuple[int, ...] | None = None


@dataclass(eq=False, repr=False)
class Nodes:
    """All nodes over some levels; half of `memory` is for figures, half for the classes kept while rolling up."""

    points: Points
    levels: tuple[tuple[Level, ...], ...]
    threads: int
    memory: int
    twin: "Nodes | None" = None  # with the same classes, measured for another k
    _table: NodeTable | None = field(default=None, init=False)  # with class sizes counted as far as was needed
    _recent: deque[tuple[Levels, Ints]] = field(default_factory=lambda: deque(maxlen=RECENT), init=False)

    @property
    def heights(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple(map(len, self.levels))

    @property
    def count(self) -> int:
        """Number of nodes."""
        return prod(self.heights)

    @property
    def top(self) -> Levels:
        """The node with the highest level of every column."""
        return tuple(height - 1 for height in self.heights)

    def at(self, number: int) -> Levels:
        """A node by its number; the level of the last column runs fastest."""
        heights = self.heights
        return tuple(number // prod(heights[j + 1 :]) % height for j, height in enumerate(heights))

    def part(self, start: int, stop: int) -> "Nodes":
        """The nodes over some of the columns, as if the others were at the top."""
        codes = np.ascontiguousarray(self.points.codes[:, start:stop])
        points = replace(self.points, axes=self.points.axes[start:stop], mappings=(), codes=codes)
        return replace(self, points=points, levels=self.levels[start:stop], twin=None)

    @cached_property
    def _kernel(self) -> Lattice:
        return build_kernel_lattice(self.points, self.levels)

    # -- one node --------------------------------------------------------------------------------------

    def classes(self, levels: Levels) -> Ints:
        """The class of each point, numbered in the order in which the points show them.

        Along a path, a node is made from the classes of a finer one that was asked for recently.
        """
        finer = (known for node, known in reversed(self._recent) if all(map(le, node, levels)))
        classes = self._kernel.classes(list(levels), next(finer, None))
        if len(classes) <= MOST_RECENT:
            self._recent.append((levels, classes))
        return classes

    def look(self, levels: Levels, bound: int = 1) -> dict[str, Any]:
        """The number of classes, the smallest one, how many have 1, 2, ... `bound` people and what these would cost."""
        return self._kernel.look(np.array([levels], np.int32), bound, 1)

    def measure_node(self, k: int, levels: Levels) -> NodeFigures:
        """Rows in classes of fewer than k, and the loss when they are suppressed."""
        small = np.arange(1, min(k - 1, self.points.rows) + 1)
        counts = self.look(levels, max(1, len(small)))
        base = sum(float(axis[level]) for axis, level in zip(self.axis_losses, levels, strict=True))
        cost = counts["costs"][: len(small)].sum() / (self.points.rows * len(levels))
        rows = counts["rows"] if "rows" in counts else counts["counts"][: len(small)] * small
        return NodeFigures(int(rows[: len(small)].sum()), float(base + cost))

    def partition(self, k: int, levels: Levels, limit: int, at: Sequence[Level]) -> Partition:
        """The classes of k people or more, each with the cells of the levels as its box; `at` are those levels at k.

        Widths and labels are those of the published rows at k, and not those by which nodes were compared.
        """
        group, codes = self.classes(levels), self.points.codes
        sizes = np.bincount(group, weights=self.points.weights).astype(np.int64)
        kept = self.points.count_people(group) >= k
        if sizes[~kept].sum() > limit:
            rows = f"{int(sizes[~kept].sum()):,} rows are in classes of fewer than {k}"
            raise GoalNotMet(f"Node {levels}: {rows}. Take higher levels, or let more be left out: --suppress.")
        point = np.flatnonzero(kept[group])
        point = point[np.argsort(group[point], kind="stable")]
        _, first, number = np.unique(group[point], return_index=True, return_inverse=True)
        cells = [level.cells[codes[point[first], j]] for j, level in enumerate(at)]
        lo, hi = (
            np.stack([getattr(level, end)[cell] for level, cell in zip(at, cells, strict=True)], axis=1)
            for end in ("lo", "hi")
        )
        published = self._measure_published(at, point)
        for j, axis in enumerate(published.axes):
            lo[:, j], hi[:, j] = axis.close(lo[:, j], find_last_codes(axis, hi[:, j], published.codes[point, j]))
        return box_partition(published, point, number, self.points.weights[point], lo, hi)

    def _measure_published(self, at: Sequence[Level], point: Ints) -> Points:
        """The points on the axes of some levels, measured by those that are published."""
        codes, weights = self.points.codes, self.points.weights[point]
        person = None if self.points.person is None else self.points.person[point]
        standing = [count_at_codes(codes[point, j], person, weights, len(level.cells)) for j, level in enumerate(at)]
        axes = tuple(level.measure(counts) for level, counts in zip(at, standing, strict=True))
        axis_codes = np.stack([level.axis_codes[codes[:, j]] for j, level in enumerate(at)], axis=1)
        return replace(self.points, axes=axes, codes=axis_codes.astype(np.int32))

    # -- several nodes ---------------------------------------------------------------------------------

    def bars(self, path: Sequence[Levels]) -> list[PathBar]:
        """The classes along a path that only goes up; each is there from the start, since all maps are onto."""
        partitions, person = [self.classes(levels) for levels in path], self.points.person
        walk = walk_path(partitions, self.points.weights, True, self.threads, person)
        rows = split_by_bar(walk["rows"], walk["begin"])
        people = split_by_bar(walk["people"], walk["begin"]) if person is not None else [None] * len(rows)
        return [PathBar(0, len(trail) - 1, trail, who) for trail, who in zip(rows, people, strict=True)]

    @cached_property
    def axis_losses(self) -> list[Floats]:
        """What each level of each column adds to the loss."""
        points, losses = self.points, []
        for j, axis in enumerate(self.levels):
            rows = np.bincount(points.codes[:, j], points.weights, len(axis[0].cells))
            shares = points.column_weights[j] * rows / points.rows / len(self.levels)
            losses.append(np.array([(shares * level.widths[level.cells]).sum() for level in axis]))
        return losses

    @property
    def losses(self) -> Floats:
        """The loss of every node when nothing is suppressed."""
        return reduce(lambda total, axis: np.add.outer(total, axis).ravel(), self.axis_losses, np.zeros(1))

    @property
    def allowed_sizes(self) -> int:
        """How many class sizes memory holds, of all nodes together."""
        return self.memory // 2 // NODE_SIZE_BYTES

    def has_room(self, bound: int) -> bool:
        """Whether nodes are few enough to be listed, each with class sizes up to `bound`."""
        return self.count <= MOST_NODES and self.count * bound <= self.allowed_sizes

    @cached_property
    def _widths_agree(self) -> bool:
        """Whether every cell is as wide as for the other k."""
        others = self.twin.levels if self.twin is not None else self.levels
        pairs = [pair for axes in zip(self.levels, others, strict=True) for pair in zip(*axes, strict=True)]
        return all(np.array_equal(level.widths, other.widths) for level, other in pairs)

    @property
    def smallest(self) -> Ints:
        """People of the smallest class of every node, or rows where every row is another person."""
        return (self.twin or self).count_sizes().smallest

    def count_sizes(self, bound: int = 1) -> NodeTable:
        """Figures of all nodes, with class sizes counted up to `bound` or further."""
        if self.twin is not None and self._widths_agree:
            return self.twin.count_sizes(bound)
        if self.count > MOST_NODES:
            raise TooManyNodes(self.count, MOST_NODES)
        if self._table is None or self._table.bound < bound:
            far, half = max(bound, min(BOUND, self.points.rows, self.allowed_sizes // self.count)), self.memory // 2
            self._table = measure_all_nodes(
                self._kernel, self.points, self.levels, far, memory=half, threads=self.threads
            )
        return self._table


def split_by_bar(carried: Ints, begin: Ints) -> list[tuple[int, ...]]:
    """The rows or people that each bar carries at the nodes of a path.

    In: the counts of all bars in a row, at nodes and between them by turns; and where each bar begins.
    """
    return [tuple(trail[::2].tolist()) for trail in np.split(carried, begin[1:-1])]


def find_last_codes(axis: Axis, hi: Ints, codes: Ints) -> Ints:
    """The last code of each cell; NULL only where a published row has no value, so that rows left out do not show."""
    return hi if axis.null in codes else np.where(hi == axis.null, axis.null - 1, hi)

"""Generalization lattice: every node over the levels of the columns, and what can be asked of them.

In: points.  Out: for every node its classes, its k and its loss; hence, for every k and every limit of suppressed rows,
the minimal nodes, the best one, and what each k costs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np

from kech.axes import Axis, RankAxis, TreeAxis
from kech.axes.grid import Floats, Ints
from kech.axes.levels import Level, build_levels
from kech.errors import BadOption, NoSuchNode, unusable_value
from kech.points.partition import Partition
from kech.points.people import count_at_codes
from kech.points.points import Points, build_points
from kech.request import check_k
from kech.request.request import LARGEST_K
from kech.tables.frames import as_frame
from kech.tables.repeats import warn_of_repeats
from kech.tables.table import Table, check_is_table
from kech.topology.lattice.choice import LOOKS, Holds, LatticeNode, NodeGoal
from kech.topology.lattice.nodes import Nodes, PathBar
from kech.topology.node_search import Levels
from kech.topology.rollup import NodeTable

__all__ = ["GeneralizationLattice", "LatticeNode", "PathBar", "build_lattice", "compute_lattice"]

MEMORY = 1 << 30  # bytes, half for the figures of all nodes, half for the classes kept while rolling up
LEAST = 1 << 24  # of them, however little the points leave


@dataclass(frozen=True, eq=False, repr=False)
class GeneralizationLattice:
    """All nodes over the levels of the columns; `memory` bounds what is kept, in bytes."""

    points: Points
    levels: tuple[tuple[Level, ...], ...]
    threads: int = 1
    memory: int = MEMORY
    library: str | None = None  # of dataframes: the caller's

    def __repr__(self) -> str:
        rows = self.points.describe_rows()
        return f"GeneralizationLattice({self.nodes:,} nodes over {', '.join(self.columns)}, {rows})"

    def _repr_html_(self) -> str:
        from kech.views.notebook import show_lattice

        return show_lattice(self)

    @property
    def columns(self) -> tuple[str, ...]:
        """Quasi-identifiers, in the order of the levels of a node."""
        return tuple(axis.column for axis in self.points.axes)

    @property
    def heights(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return self._nodes.heights

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self._nodes.count

    @property
    def top(self) -> Levels:
        """The node with the highest level of every column: all rows are one class."""
        return self._nodes.top

    @property
    def counted(self) -> str:
        """What k counts: people, or rows where every row is another person."""
        return self.points.counted

    @property
    def largest_k(self) -> int:
        """The largest k that a node reaches: at the top all rows are one class."""
        return self.points.people

    # -- one node --------------------------------------------------------------------------------------

    def classes(self, levels: Sequence[int]) -> Ints:
        """The class of each point, numbered in the order in which the points show them."""
        return self._nodes.classes(self.check(levels))

    def classes_of(self, levels: Sequence[int]) -> int:
        """Number of classes: dim H_0."""
        return int(self._nodes.look(self.check(levels))["classes"][0])

    def k_of(self, levels: Sequence[int]) -> int:
        """People of the smallest class, or rows where every row is another person."""
        return int(self._nodes.look(self.check(levels))["smallest"][0])

    def suppressed_of(self, levels: Sequence[int], k: int) -> int:
        """Rows in classes of fewer than k people; of fewer than k rows where every row is another person."""
        return self._nodes.measure_node(check_k(k), self.check(levels)).suppressed

    def loss_of(self, levels: Sequence[int], k: int = 1) -> float:
        """Average width of all cells; rows in classes of fewer than k are suppressed and count 1."""
        return self._nodes_at(check_k(k)).measure_node(k, self.check(levels)).loss

    def rank(self, low: Sequence[int], high: Sequence[int]) -> int:
        """Rank invariant: the rank of H_0(low) -> H_0(high).  The map is onto, so it is the classes of `high`."""
        if any(a > b for a, b in zip(self.check(low), self.check(high), strict=True)):
            raise BadOption(
                "rank",
                f"{tuple(low)} is not below {tuple(high)}. Name the lower node first.",
            )
        return self.classes_of(high)

    def neighbours(self, levels: Sequence[int]) -> dict[str, Any]:
        """The object `kech lattice --node --json` prints: a node, and those one step above and below it."""
        node = self.check(levels)

        def look(j: int = 0, by: int = 0) -> dict[str, Any]:
            near = (*node[:j], node[j] + by, *node[j + 1 :])
            figures = {"k": self.k_of(near), "classes": self.classes_of(near), "loss": self.loss_of(near)}
            return {"levels": self._by_column(near), **figures}

        return {
            "private": True,
            "counted": self.counted,
            "heights": self._by_column(self.heights),
            "node": look(),
            "up": [look(j, 1) for j, last in enumerate(self.top) if node[j] < last],
            "down": [look(j, -1) for j, level in enumerate(node) if level],
        }

    def partition(self, levels: Sequence[int], k: int | None = None, suppress: float = 0.0) -> Partition:
        """The classes of a node, each with the cells of the levels as its box; those of fewer than k are left out.

        Its points lie on the axes of the levels, measured by the rows that are published: the others show in nothing.
        """
        k = check_k(1 if k is None else k)
        node, published = self.check(levels), self._levels_at(k)
        at = [axis[level] for axis, level in zip(published, node, strict=True)]
        return self._nodes.partition(k, node, self.suppression_limit(suppress), at)

    def check(self, levels: Sequence[int]) -> Levels:
        """The levels as a node; refused where the lattice has no such node."""
        return check_levels(levels, self.columns, self.heights)

    def suppression_limit(self, suppress: float) -> int:
        """The number of rows that may be suppressed, from their share."""
        return self.points.suppression_limit(suppress)

    # -- all nodes -------------------------------------------------------------------------------------

    @property
    def table(self) -> NodeTable:
        """Figures of all nodes."""
        return self._nodes.count_sizes()

    @property
    def losses(self) -> Floats:
        """The loss of every node when nothing is suppressed."""
        return self._nodes.losses

    def minimal_nodes(self, k: int, suppress: float = 0.0) -> list[Levels]:
        """Nodes that reach k within the limit while no node below them does."""
        return self._choice(k, suppress).minimal()

    def best(self, k: int, suppress: float = 0.0, *, looks: int = LOOKS, holds: Holds | None = None) -> LatticeNode:
        """The node of least loss that reaches k; in a lattice too large to enumerate, the best that `looks` find.

        `holds` says whether a node keeps what else is asked; where nothing is suppressed, what holds at a node
        must hold above it.
        """
        return self._choice(k, suppress, holds).best(looks)

    def curve(self, suppress: float = 0.0, ks: Sequence[int] | None = None) -> list[LatticeNode]:
        """The trade-off: the best node for every k, or for the k named."""
        choices = [self._choice(k, suppress) for k in (self._usual_ks if ks is None else ks)]
        for choice in reversed(choices):  # the largest k first, so that it is counted far enough for every k
            if choice.limit and choice.is_enumerable:
                choice.nodes.count_sizes(choice.bound)
        return [choice.best() for choice in choices]

    def to_frame(self, suppress: float = 0.0, ks: Sequence[int] | None = None) -> Any:
        """The trade-off as a dataframe of your library: the best node for every k, its level of each column."""
        return as_frame([self._as_line(node) for node in self.curve(suppress, ks)], self.library)

    def plot(self, suppress: float = 0.0, ks: Sequence[int] | None = None, *, ax: Any = None) -> Any:
        """Draw the loss of the best node against k: the matplotlib axes.  PRIVATE."""
        from kech.views.pictures import plot
        from kech.views.pictures.spectrum import draw_spectrum

        rows = [{"k": node.k, "cut": "domain", "loss": node.loss} for node in self.curve(suppress, ks)]
        return plot(lambda size: draw_spectrum(rows, ["loss"], size, self.counted), ax=ax)

    def chain(self, k: int, suppress: float = 0.0, *, chains: int | None = None) -> LatticeNode:
        """The first node that reaches k along the lowest chains of the lattice, as the paper approximates.

        So many chains are tried; by default all, up to the one that ends at the top.
        """
        return self._choice(k, suppress).search_chain(chains)

    def path_barcode(self, path: Sequence[Sequence[int]]) -> list[PathBar]:
        """Bars of a path that only goes up; every class is there from the start, since all maps are onto."""
        if not path:
            raise BadOption("--path", "it is empty. Name at least one node.")
        for low, high in pairwise(path):
            self.rank(low, high)
        return self._nodes.bars([self.check(levels) for levels in path])

    def to_json(
        self, ks: Sequence[int] | None = None, suppress: float = 0.0, *, search: str = "lattice"
    ) -> dict[str, Any]:
        """The object `kech lattice --json` prints, for the k named or for 2 to 100."""
        if search not in ("lattice", "chain"):
            raise unusable_value("--search", "Choose lattice or chain.")
        ks = self._usual_ks if ks is None else ks
        best = self.curve(suppress, ks) if search == "lattice" else [self.chain(k, suppress) for k in ks]
        listed = search == "lattice" and all(self._choice(k, suppress).is_enumerable for k in ks)
        return {
            "private": True,
            "counted": self.counted,
            "nodes": self.nodes,
            "heights": self._by_column(self.heights),
            "search": search,
            "peak_bytes": self.table.peak_bytes if listed else None,
            "best": [self._as_json(node) for node in best],
            "minimal": {str(k): [list(x) for x in self.minimal_nodes(k, suppress)] for k in ks} if listed else None,
        }

    # -- inside ----------------------------------------------------------------------------------------

    @cached_property
    def _nodes(self) -> Nodes:
        return Nodes(self.points, self.levels, self.threads, self.memory)

    @cached_property
    def _measured(self) -> dict[tuple[bytes, ...], Nodes]:
        return {tuple(axis.state for axis in self.points.axes): self._nodes}

    @cached_property
    def _levels(self) -> dict[int, tuple[tuple[Level, ...], ...]]:
        return {}

    def _nodes_at(self, k: int) -> Nodes:
        """The nodes as they are published for k: labels and widths of orders and trees may differ, classes do not."""
        state = tuple(axis.state for axis in self._axes_at(k)) if self._counts_agree else (bytes(str(k), "ascii"),)
        if state not in self._measured:
            levels = self._levels_at(k)
            self._measured[state] = Nodes(self.points, levels, self.threads, self.memory, self._nodes)
        return self._measured[state]

    def _levels_at(self, k: int) -> tuple[tuple[Level, ...], ...]:
        """The levels as they are published for k; those of the last k are kept."""
        if k not in self._levels:
            self._levels.clear()
            self._levels[k] = find_levels(replace(self.points, axes=self._axes_at(k)))
        return self._levels[k]

    @cached_property
    def _counts_agree(self) -> bool:
        """Whether axes count as many rows of each value as the points have: else each k is measured by itself."""
        points = self.points
        row_counts = (
            (axis.rows, count_at_codes(codes, points.person, points.weights, axis.size)[: axis.values])
            for axis, codes in zip(points.axes, points.codes.T, strict=True)
            if isinstance(axis, RankAxis | TreeAxis) and axis.rows is not None
        )
        return all(np.array_equal(expected, here) for expected, here in row_counts)

    def _axes_at(self, k: int) -> tuple[Axis, ...]:
        return tuple(axis.at(k) if axis.kind in ("ordered", "hierarchy") else axis for axis in self.points.axes)

    @property
    def _usual_ks(self) -> range:
        return range(2, min(LARGEST_K, self.points.people) + 1)

    def _choice(self, k: int, suppress: float, holds: Holds | None = None) -> NodeGoal:
        return NodeGoal(self._nodes_at(check_k(k)), k, self.suppression_limit(suppress), holds)

    def _by_column(self, levels: Levels) -> dict[str, int]:
        return dict(zip(self.columns, levels, strict=True))

    def _as_line(self, node: LatticeNode) -> dict[str, Any]:
        figures = self._as_json(node)
        levels = {f"level[{name}]": level for name, level in figures.pop("levels").items()}
        return {"k": figures.pop("k"), **levels, **figures}

    def _as_json(self, node: LatticeNode) -> dict[str, Any]:
        figures = {"loss": node.loss, "classes": node.classes, "suppressed": node.suppressed}
        levels = self._by_column(node.levels)
        return {"k": node.k, "levels": levels, **figures, "proven": node.proven, "bound": node.bound}


def compute_lattice(table: Table, *, grid: str | float | None = None, memory: int = MEMORY) -> GeneralizationLattice:
    """The lattice of a table; numbers and dates without a hierarchy get levels of round steps."""
    check_is_table(table)
    warn_of_repeats(table)
    weights = table.request.cut.weights
    points = build_points(table, labels=table.labels_on(grid), by_level=True, weights=weights)
    lattice = build_lattice(points, threads=table.threads, memory=memory)
    return replace(lattice, library=table.library)


def build_lattice(points: Points, *, threads: int = 1, memory: int = MEMORY) -> GeneralizationLattice:
    """The lattice over the levels of the axes, within what a limit of the table leaves; without rows there is none."""
    points.check_has_rows()
    left = points.check_memory_limit()
    allowed = memory if left is None else max(min(memory, left), LEAST)
    return GeneralizationLattice(points, find_levels(points), threads, allowed)


def check_levels(levels: Sequence[int], columns: Sequence[str], heights: Sequence[int]) -> Levels:
    """A node: for each column one of the levels it has."""
    if len(levels) != len(heights):
        raise NoSuchNode(levels, f"it needs {len(heights)} levels. Give one for each of {', '.join(columns)}.")
    for column, level, height in zip(columns, levels, heights, strict=True):
        if not isinstance(level, Integral) or not 0 <= level < height:
            raise NoSuchNode(levels, f"column {column!r} has the levels 0 to {height - 1}. Choose one of these.")
    return tuple(map(int, levels))


def find_levels(points: Points) -> tuple[tuple[Level, ...], ...]:
    """The levels of every axis, measured by the rows of each code."""
    pairs = zip(points.axes, points.codes.T, strict=True)
    rows = [count_at_codes(codes, points.person, points.weights, axis.size) for axis, codes in pairs]
    return tuple(map(build_levels, points.axes, rows))

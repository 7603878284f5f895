"""Mixed lattice: levels of some columns and eps on the others, in one diagram (section 5 of the paper).

In: points, and the columns that are measured.  Out: for every node over the levels of the other columns, and every eps,
classes, k and loss; hence the minimal pairs of a k, and paths through the diagram.

Rows meet at (node, eps) when they are printed alike at the node and their boxes of radius eps on the measured columns
are connected.  A node keeps classes apart at every eps, so for each node there is one merge tree inside its classes.
Both parameters only merge: going up in either maps classes onto classes, so the rank of a map is the number of classes
at its end.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from math import inf, prod
from os import PathLike
from typing import Any

import numpy as np

from kech._kernels import Widths, distinct_rows, merge_points
from kech.axes import LineAxis
from kech.axes.levels import Level
from kech.errors import BadOption, GoalNotMet, NoSuchNode, TooManyNodes
from kech.points.points import Points, build_points
from kech.request import Labels, check_k
from kech.system.console import report
from kech.tables.repeats import warn_of_repeats
from kech.tables.table import Table, check_is_table
from kech.topology.filtration import Floats, Ints
from kech.topology.lattice import check_levels, find_levels
from kech.topology.node_search import Levels
from kech.topology.zigzag import PathStep, ZigzagBarcode, walk_nodes

MOST_NODES = 5_000
APART = 3.0  # between classes of a node; no two rows of a class are farther apart than 1
USUAL_KS = (2, 5, 10, 20, 50)


@dataclass(frozen=True, slots=True)
class MixedNode:
    """A node and an eps: how many classes there are, the people or rows of the smallest, and what is lost."""

    levels: Levels
    eps: float
    k: int
    classes: int
    loss: float


@dataclass(frozen=True, eq=False, repr=False)
class NodeTree:
    """The merge tree inside the classes of a node; `leaf` is that of each point."""

    leaf: Ints
    birth: Floats
    death: Floats
    begin: Ints
    end: Ints
    order: Ints
    hidden_among: Ints  # people of each component, or rows where every row is another person

    def eps_of(self, k: int) -> float:
        """From which eps on every component has k people or more; inf where a class of the node never has."""
        latest = float(self.death[self.hidden_among < k].max(initial=0.0))
        return latest if latest < APART / 2 else inf

    def components(self, eps: float) -> tuple[Ints, Ints]:
        """The component of each point at eps, and what k counts of each component."""
        alive = np.flatnonzero((self.birth <= eps) & (eps < self.death) & (self.birth < APART / 2))
        alive = alive[np.argsort(self.begin[alive])]
        component = np.empty(len(self.order), np.int64)
        component[self.order] = np.repeat(np.arange(len(alive)), (self.end - self.begin)[alive])
        return component[self.leaf], self.hidden_among[alive]


@dataclass(frozen=True, eq=False, repr=False)
class MixedLattice:
    """All pairs of a node over the levels of some columns and an eps on the measured ones."""

    points: Points
    measured: tuple[int, ...]  # indices of the measured columns among the axes
    levels: tuple[tuple[Level, ...], ...]  # of the other columns
    threads: int = 1

    def __repr__(self) -> str:
        names = ", ".join(self.metric_columns)
        return f"MixedLattice({self.nodes:,} nodes, eps on {names}, {self.points.describe_rows()})"

    def _repr_html_(self) -> str:
        from kech.views.notebook import show_mixed

        return show_mixed(self)

    @property
    def metric_columns(self) -> tuple[str, ...]:
        """The columns that eps measures."""
        return tuple(self.points.axes[j].column for j in self.measured)

    @property
    def level_columns(self) -> tuple[str, ...]:
        """The columns that have a level at a node."""
        return tuple(axis.column for j, axis in enumerate(self.points.axes) if j not in self.measured)

    @property
    def columns(self) -> tuple[str, ...]:
        """What a step of a path consists of: the levels of a node, and eps."""
        return (*self.level_columns, "eps")

    @property
    def heights(self) -> tuple[int, ...]:
        """Number of levels of each column that has any."""
        return tuple(map(len, self.levels))

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return prod(self.heights)

    @cached_property
    def _trees(self) -> dict[Levels, NodeTree]:
        return {}

    # -- one node ------------------------------------------------------------------------------------------

    def tree(self, levels: Sequence[int]) -> NodeTree:
        """The merge tree inside the classes of a node."""
        node = self.check_levels(levels)
        if node not in self._trees:
            self._trees.clear()
            self._trees[node] = self._merge(node)
        return self._trees[node]

    def _merge(self, node: Levels) -> NodeTree:
        _, classes = distinct_rows(np.ascontiguousarray(np.stack(self._cells(node), axis=1)))
        codes = np.column_stack([self.points.codes[:, list(self.measured)], classes]).astype(np.int64)
        first, leaf = distinct_rows(np.ascontiguousarray(codes))
        weights = np.bincount(leaf, self.points.weights, len(first)).astype(np.int64)
        person = self.points.person
        units = None if person is None else (leaf, person, self.points.weights)
        widths = self._widths(int(classes.max()) + 1)
        tree = merge_points(codes[first].astype(np.int32), weights, widths, False, self.threads, units)
        hidden = tree["weight"] if person is None else tree["people"]
        parts = {name: tree[name] for name in ("birth", "death", "begin", "end", "order")}
        return NodeTree(leaf=leaf, hidden_among=hidden, **parts)

    def _cells(self, node: Levels) -> list[Ints]:
        """The cell of each point at a node, column by column; one for all where no column has levels."""
        kept = [codes for j, codes in enumerate(self.points.codes.T) if j not in self.measured]
        cells = [column[level].cells[codes] for column, level, codes in zip(self.levels, node, kept, strict=True)]
        return cells or [np.zeros(len(self.points.weights), np.int64)]

    def _widths(self, classes: int) -> Widths:
        widths = Widths()
        for j in self.measured:
            self.points.axes[j].add_metric_to(widths)
        widths.add_tree(np.zeros(classes), np.ones(classes - 1))
        widths.weigh(len(self.measured), APART)
        return widths

    def look(self, levels: Sequence[int], eps: float) -> MixedNode:
        """Classes, k and loss at a node and an eps."""
        *_, eps = self.check((*levels, eps))
        node = self.check_levels(levels)
        component, people = self.tree(node).components(eps)
        return MixedNode(node, eps, int(people.min()), len(people), self._measure_loss(node, component))

    def _measure_loss(self, node: Levels, component: Ints) -> float:
        """The average width of all cells: cells of levels, and the hull of a component on the measured columns."""
        rows, lost = self.points.weights, np.zeros(len(self.points.axes))
        indices = [j for j in range(len(lost)) if j not in self.measured]
        for j, column, level, cells in zip(indices, self.levels, node, self._cells(node), strict=False):
            lost[j] = rows @ column[level].widths[cells]
        for j in self.measured:
            lost[j] = rows @ self._hull_widths(j, component)[component]
        return float((self.points.column_weights * lost).mean() / self.points.rows)

    def _hull_widths(self, j: int, component: Ints) -> Floats:
        codes = self.points.codes[:, j].astype(np.int64)
        low, high = np.full(component.max() + 1, codes.max()), np.zeros(component.max() + 1, np.int64)
        np.minimum.at(low, component, codes)
        np.maximum.at(high, component, codes)
        return self.points.axes[j].widths(low, high)

    def classes(self, pair: PathStep) -> Ints:
        """The class of each point at a node and an eps: what a path walks through."""
        *levels, eps = self.check(pair)
        return self.tree([int(level) for level in levels]).components(eps)[0]

    def rank(self, low: PathStep, high: PathStep) -> int:
        """The rank of H_0(low) -> H_0(high): all maps are onto, so it is the classes of `high`."""
        if any(a > b for a, b in zip(self.check(low), self.check(high), strict=True)):
            raise BadOption("rank", f"{low} is not below {high}. Name the lower pair first.")
        return int(self.classes(high).max()) + 1

    # -- all nodes -----------------------------------------------------------------------------------------

    def starts(self, ks: Sequence[int]) -> Floats:
        """For each node (first column slowest) and k, the eps from which on k holds; inf where it never does."""
        if self.nodes > MOST_NODES:
            raise TooManyNodes(self.nodes, MOST_NODES)
        for k in ks:
            check_k(k)
        radii = np.empty((self.nodes, len(ks)))
        for index, node in enumerate(product(*map(range, self.heights))):
            report("growing balls inside the classes of nodes", index / self.nodes)
            tree = self.tree(node)
            radii[index] = [tree.eps_of(k) for k in ks]
        return radii

    def minimal_pairs(self, k: int, starts: Floats | None = None) -> list[MixedNode]:
        """Pairs that reach k while no pair below them does, by node."""
        eps = (self.starts([k])[:, 0] if starts is None else starts).reshape(self.heights or (1,))
        lowest = eps.copy()  # of a node and all nodes below it
        for axis in range(lowest.ndim):
            lowest = np.minimum.accumulate(lowest, axis=axis)
        below = np.full_like(eps, inf)  # of the nodes below a node, itself not counted
        for axis in range(eps.ndim):
            here = [slice(None)] * eps.ndim
            here[axis] = slice(1, None)
            before = np.take(lowest, range(eps.shape[axis] - 1), axis=axis)
            below[tuple(here)] = np.minimum(below[tuple(here)], before)
        indices = np.argwhere((eps < below) & np.isfinite(eps))
        nodes = [tuple(index) if self.levels else () for index in indices.tolist()]
        return [self.look(node, float(eps[tuple(index)])) for node, index in zip(nodes, indices.tolist(), strict=True)]

    def best(self, k: int, starts: Floats | None = None) -> MixedNode:
        """The pair of least loss that reaches k: one of the minimal ones, since both parameters only add loss."""
        pairs = self.minimal_pairs(k, starts)
        if not pairs:
            raise GoalNotMet(f"No node reaches k = {k}. Choose a smaller k.")
        return min(pairs, key=lambda pair: (pair.loss, pair.levels))

    def zigzag(self, path: Sequence[PathStep], through: str = "union") -> ZigzagBarcode:
        """Bars along a path of pairs, each the levels of a node and an eps; upwards it is a filtration."""
        steps = [self.check(pair) for pair in path]
        return walk_nodes(self, steps, through, threads=self.threads, memory=self.points.check_memory_limit())

    def plot(self, path: str | PathLike[str] | None = None, *, k: int = 5, ax: Any = None) -> Any:
        """Draw the nodes and eps at which k holds: matplotlib axes, or a file (.svg, .html, .png) with a path."""
        from kech.views.pictures import plot
        from kech.views.pictures.mixed import draw_mixed

        check_k(k)
        return plot(lambda size: draw_mixed(self, k, size), path, ax)

    def to_json(self, ks: Sequence[int] | None = None) -> dict[str, Any]:
        """The object `kech lattice --metric-columns --json` prints, for the k named or for round ones."""
        ks = [k for k in USUAL_KS if k <= self.points.people] if ks is None else ks
        starts = self.starts(ks)
        minimal = {k: self.minimal_pairs(k, starts[:, index]) for index, k in enumerate(ks)}
        best = [min(pairs, key=lambda pair: (pair.loss, pair.levels)) for pairs in minimal.values() if pairs]
        return {
            "private": True,
            "counted": self.points.counted,
            "metric_columns": list(self.metric_columns),
            "nodes": self.nodes,
            "heights": dict(zip(self.level_columns, self.heights, strict=True)),
            "best": [self._as_json(k, node) for k, node in zip((k for k in ks if minimal[k]), best, strict=True)],
            "minimal": {str(k): [self._as_json(k, pair) for pair in pairs] for k, pairs in minimal.items()},
        }

    def _as_json(self, goal: int, node: MixedNode) -> dict[str, Any]:
        levels = dict(zip(self.level_columns, node.levels, strict=True))
        return {"goal": goal, **asdict(node), "levels": levels}

    # -- checks --------------------------------------------------------------------------------------------

    def check(self, pair: PathStep) -> PathStep:
        """A pair of this diagram."""
        if len(pair) != len(self.columns):
            raise NoSuchNode(
                pair, f"it needs {len(self.levels)} levels and an eps. Give them as {', '.join(self.columns)}."
            )
        *levels, eps = pair
        if not 0 <= eps < inf:
            raise NoSuchNode(pair, "its last part is eps. Give a number of 0 or more.")
        return (*self.check_levels([int(level) for level in levels]), float(eps))

    def check_levels(self, levels: Sequence[int]) -> Levels:
        """A node of the levels."""
        return check_levels(levels, self.level_columns, self.heights)


def compute_mixed_lattice(table: Table, metric_columns: Sequence[str]) -> MixedLattice:
    """Levels of the other quasi-identifiers and eps on the metric columns, which are numbers or dates."""
    check_is_table(table)
    warn_of_repeats(table)
    unknown = [name for name in metric_columns if name not in table.quasi_identifiers]
    if unknown or not metric_columns:
        raise BadOption(
            "--metric-columns",
            "only numbers and dates are measured. Name quasi-identifiers of the table that are numbers or dates.",
        )
    points = build_points(table, labels=Labels(grid="exact"), weights=table.request.cut.weights)
    points.check_has_rows()
    return build_mixed_lattice(points, metric_columns, threads=table.threads)


def build_mixed_lattice(points: Points, metric_columns: Sequence[str], *, threads: int = 1) -> MixedLattice:
    """The diagram of points, with eps on some of their axes."""
    measured = tuple(j for j, axis in enumerate(points.axes) if axis.column in metric_columns)
    for j in measured:
        if not isinstance(points.axes[j], LineAxis):
            reason = f"{points.axes[j].column!r} does not hold numbers or dates, or has a hierarchy."
            raise BadOption("--metric-columns", f"{reason} Leave it out: then it has levels.")
    levels = tuple(column for j, column in enumerate(find_levels(points)) if j not in measured)
    return MixedLattice(points, measured, levels, threads)

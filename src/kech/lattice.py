"""Generalization lattice: a node is a level for each column; rows that are then printed alike are one class.

In: points.  Out: for every node its classes, its k and its loss; hence, for every k and every limit of suppressed rows,
the minimal nodes, the best one, and what each k costs.

Equality is an equivalence relation, so the complex of a node is a disjoint union of full simplices: its components are
its classes, and it has no holes.  Going up, classes merge, so k never falls, and suppressed rows never become more.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import prod
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Lattice, walk_path
from kech.errors import BadOption, GoalNotMet, NoSuchNode, TooFewRows, TooLittleMemory, TooManyNodes
from kech.frames import as_frame
from kech.grid import Ints
from kech.levels import Level, build_levels
from kech.partition import Partition, box_partition
from kech.points import Points, build_points
from kech.progress import report
from kech.rollup import NodeTable, build_kernel, roll_all
from kech.rulers import Floats
from kech.searching import ROUNDING, Levels, Sight, search_best, search_chains
from kech.table import Table

MOST_NODES = 1_000_000  # beyond it nodes are searched, not enumerated
MEMORY = 1 << 30  # bytes, half for the figures of all nodes, half for the classes kept while rolling up
LEAST = 1 << 24  # of them, however little the points leave
FIGURE_BYTES = 12  # of one class size at one node
BOUND = 128  # class sizes counted at every node; for a larger k with suppression they are counted again
GROUP_NODES, GROUP_WORK = 4096, 10**8  # nodes, and nodes times points, of columns looked at together for a bound
LOOKS = 20_000  # nodes a search may look at
LARGEST_K = 100  # of a curve for which no k is named


@dataclass(frozen=True, slots=True)
class LatticeNode:
    """A node as it would be released for k; no node loses less than `bound`."""

    k: int
    levels: Levels
    loss: float
    classes: int  # of k rows or more
    suppressed: int  # rows in smaller ones
    bound: float

    @property
    def proven(self) -> bool:
        """Whether no node is better."""
        return self.loss - self.bound <= ROUNDING


@dataclass(frozen=True, slots=True)
class PathBar:
    """A class along a monotone path, alive from position `birth` to `death`, both included.

    When classes merge the heaviest lives on; `weights` are its rows at each position.
    """

    birth: int
    death: int
    weights: tuple[int, ...]


@dataclass(eq=False, repr=False)
class GeneralizationLattice:
    """All nodes over the levels of the columns; `memory` bounds what is kept, in bytes."""

    points: Points
    levels: tuple[tuple[Level, ...], ...]
    threads: int = 1
    memory: int = MEMORY
    library: str | None = None  # of dataframes: the caller's
    _table: NodeTable | None = None  # figures of all nodes, with class sizes counted as far as was needed

    def __repr__(self) -> str:
        return f"GeneralizationLattice({self.nodes:,} nodes over {', '.join(self.columns)}, {self.points.rows:,} rows)"

    def _repr_html_(self) -> str:
        from kech.notebook import show_lattice

        return show_lattice(self)

    @property
    def columns(self) -> tuple[str, ...]:
        """Quasi-identifiers, in the order of the levels of a node."""
        return tuple(axis.column for axis in self.points.axes)

    @property
    def heights(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple(map(len, self.levels))

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return prod(self.heights)

    @property
    def top(self) -> Levels:
        """The node at which all is lost."""
        return tuple(height - 1 for height in self.heights)

    @property
    def largest_k(self) -> int:
        """The largest k that a node reaches: at the top all rows are one class."""
        return self.points.rows

    # -- one node --------------------------------------------------------------------------------------

    def classes(self, levels: Sequence[int]) -> Ints:
        """The class of each point, numbered in the order in which the points show them."""
        return self._kernel.classes(list(self.check(levels)))

    def classes_of(self, levels: Sequence[int]) -> int:
        """Number of classes: dim H_0."""
        return int(self._look(levels, 1)["classes"][0])

    def k_of(self, levels: Sequence[int]) -> int:
        """Rows of the smallest class."""
        return int(self._look(levels, 1)["smallest"][0])

    def suppressed_of(self, levels: Sequence[int], k: int) -> int:
        """Rows in classes of fewer than k."""
        return self._sight(levels, k).suppressed

    def loss_of(self, levels: Sequence[int], k: int = 1) -> float:
        """Average width of all cells; rows in classes of fewer than k are suppressed and count 1."""
        return self._sight(levels, k).loss

    def rank(self, low: Sequence[int], high: Sequence[int]) -> int:
        """Rank invariant: the rank of H_0(low) -> H_0(high).  The map is onto, so it is the classes of `high`."""
        if any(a > b for a, b in zip(self.check(low), self.check(high), strict=True)):
            raise BadOption("rank", f"{tuple(low)} is not below {tuple(high)}; there is no map between them.")
        return self.classes_of(high)

    def neighbours(self, levels: Sequence[int]) -> dict[str, Any]:
        """The object `kech lattice --node --json` prints: a node, and those one step above and below it."""
        node = self.check(levels)

        def step(j: int, by: int) -> Levels:
            return (*node[:j], node[j] + by, *node[j + 1 :])

        return {
            "private": True,
            "heights": dict(zip(self.columns, self.heights, strict=True)),
            "node": self._figures(node),
            "up": [self._figures(step(j, 1)) for j, last in enumerate(self.top) if node[j] < last],
            "down": [self._figures(step(j, -1)) for j, level in enumerate(node) if level],
        }

    def partition(self, levels: Sequence[int], k: int | None = None, suppress: float = 0.0) -> Partition:
        """The classes of a node, each with the cells of the levels as its box; those of fewer than k are left out.

        Its points lie on the axes of the levels, measured by the rows that are published: the others show in nothing.
        """
        check_k(1 if k is None else k)
        group = self.classes(levels)
        sizes = np.bincount(group, weights=self.points.weights).astype(np.int64)
        kept = sizes >= (k or 1)
        if sizes[~kept].sum() > self.limit(suppress):
            rows = f"{int(sizes[~kept].sum()):,} rows are in classes of fewer than {k}"
            raise GoalNotMet(f"Node {tuple(levels)}: {rows}. Take higher levels, or let more be left out: --suppress.")
        point = np.flatnonzero(kept[group])
        point = point[np.argsort(group[point], kind="stable")]
        _, first, number = np.unique(group[point], return_index=True, return_inverse=True)
        at = [axis[level] for axis, level in zip(self.levels, levels, strict=True)]
        lo, hi = (
            np.stack([getattr(x, end)[x.cells[self.points.codes[point[first], j]]] for j, x in enumerate(at)], axis=1)
            for end in ("lo", "hi")
        )
        return box_partition(self._published(at, point), point, number, self.points.weights[point], lo, hi)

    def check(self, levels: Sequence[int]) -> Levels:
        """A node of this lattice."""
        if len(levels) != len(self.heights):
            raise NoSuchNode(levels, f"it needs {len(self.heights)} levels: {', '.join(self.columns)}.")
        for column, level, height in zip(self.columns, levels, self.heights, strict=True):
            if not isinstance(level, Integral) or not 0 <= level < height:
                raise NoSuchNode(levels, f"column {column!r} has the levels 0 to {height - 1}.")
        return tuple(map(int, levels))

    def limit(self, suppress: float) -> int:
        """Rows that may be suppressed, from their share."""
        return self.points.limit(suppress)

    # -- all nodes -------------------------------------------------------------------------------------

    @property
    def table(self) -> NodeTable:
        """Figures of all nodes."""
        return self._counted(1)

    @property
    def losses(self) -> Floats:
        """The loss of every node when nothing is suppressed."""
        total = np.zeros(1)
        for axis in self._axis_losses:
            total = np.add.outer(total, axis).ravel()
        return total

    def minimal_nodes(self, k: int, suppress: float = 0.0) -> list[Levels]:
        """Nodes that reach k within the limit while no node below them does."""
        fits = self._fits(k, self._goal(k, suppress))
        minimal, stride = fits.copy(), self.nodes
        for height in self.heights:
            stride //= height
            lower, here = fits.reshape(-1, height, stride)[:, :-1], minimal.reshape(-1, height, stride)[:, 1:]
            here &= ~lower
        return [self._levels_at(node) for node in np.flatnonzero(minimal).tolist()]

    def best(
        self, k: int, suppress: float = 0.0, *, looks: int = LOOKS, holds: Callable[[Levels], bool] | None = None
    ) -> LatticeNode:
        """The node of least loss that reaches k; in a lattice too large to enumerate, the best that `looks` find.

        `holds` says whether a node keeps what else is asked; where nothing is suppressed, whatever holds at a node
        must hold above it.
        """
        limit = self._goal(k, suppress)
        if not self._is_enumerable(k, limit):
            return self._searched(k, limit, looks, holds)
        fits = self._fits(k, limit)
        if not fits.any():
            raise TooFewRows(self.points.rows, k)
        losses = np.where(fits, self.losses + (self._counted(k).cost(k) if limit else 0.0), np.inf)
        levels = self._first(np.asarray(np.round(losses, 12), np.float64), holds, upward=limit == 0)
        return self._node(k, levels, self.loss_of(levels, k))

    def curve(self, suppress: float = 0.0, ks: Sequence[int] | None = None) -> list[LatticeNode]:
        """The trade-off: the best node for every k, or for the k named."""
        ks = self._usual_ks if ks is None else ks
        self._count_once(ks, suppress)
        return [self.best(k, suppress) for k in ks]

    def to_frame(self, suppress: float = 0.0, ks: Sequence[int] | None = None) -> Any:
        """The trade-off as a dataframe of your library: the best node for every k, its level of each column."""
        return as_frame([self._as_line(node) for node in self.curve(suppress, ks)], self.library)

    def plot(self, suppress: float = 0.0, ks: Sequence[int] | None = None, *, ax: Any = None) -> Any:
        """Draw the loss of the best node against k: the matplotlib axes.  PRIVATE."""
        from kech.plot_small import draw_curve

        rows = [{"k": node.k, "cut": "domain", "loss": node.loss} for node in self.curve(suppress, ks)]
        return draw_curve(rows, ax=ax)

    def chain(self, k: int, suppress: float = 0.0, *, chains: int = 2) -> LatticeNode:
        """The first node that reaches k along the lowest chains of the lattice, as the paper approximates."""
        found = search_chains(lambda node: self._sight(node, k), self.heights, self._goal(k, suppress), chains)
        if found is None:
            raise GoalNotMet(
                f"k={k} was not reached on {chains} chains of the lattice. That is no proof that no node reaches it: "
                "search the whole lattice."
            )
        return self._node(k, found, 0.0)

    def path_barcode(self, path: Sequence[Sequence[int]]) -> list[PathBar]:
        """Bars of a path that only goes up; every class is there from the start, since all maps are onto."""
        if not path:
            raise BadOption("--path", "it is empty; name at least one node.")
        for low, high in pairwise(path):
            self.rank(low, high)
        walk = walk_path([self.classes(levels) for levels in path], self.points.weights, True, self.threads)
        trails = np.split(walk["rows"], walk["begin"][1:-1])
        return [PathBar(0, len(trail) // 2, tuple(trail[::2].tolist())) for trail in trails]

    def to_json(
        self, ks: Sequence[int] | None = None, suppress: float = 0.0, *, search: str = "lattice"
    ) -> dict[str, Any]:
        """The object `kech lattice --json` prints, for the k named or for 2 to 100."""
        if search not in ("lattice", "chain"):
            raise BadOption("--search", "choose lattice or chain.")
        ks = self._usual_ks if ks is None else ks
        found = self.curve(suppress, ks) if search == "lattice" else [self.chain(k, suppress) for k in ks]
        listed = search == "lattice" and all(self._is_enumerable(k, self.limit(suppress)) for k in ks)
        return {
            "private": True,
            "nodes": self.nodes,
            "heights": dict(zip(self.columns, self.heights, strict=True)),
            "search": search,
            "peak_bytes": self.table.peak_bytes if listed else None,
            "best": [self._as_json(node) for node in found],
            "minimal": {str(k): [list(x) for x in self.minimal_nodes(k, suppress)] for k in ks} if listed else None,
        }

    # -- inside ----------------------------------------------------------------------------------------

    def _figures(self, levels: Levels) -> dict[str, Any]:
        """What a node gives and costs."""
        classes, k, loss = self.classes_of(levels), self.k_of(levels), self.loss_of(levels)
        return {"levels": dict(zip(self.columns, levels, strict=True)), "k": k, "classes": classes, "loss": loss}

    def _published(self, at: Sequence[Level], point: Ints) -> Points:
        """The points on the axes of some levels, measured by those that are published."""
        codes = self.points.codes
        axes = tuple(level.measure(np.unique(codes[point, j]).astype(np.int64)) for j, level in enumerate(at))
        places = np.stack([level.places[codes[:, j]] for j, level in enumerate(at)], axis=1)
        return replace(self.points, axes=axes, codes=places.astype(np.int32))

    @cached_property
    def _kernel(self) -> Lattice:
        return build_kernel(self.points, self.levels)

    @cached_property
    def _axis_losses(self) -> list[Floats]:
        """What each level of each column adds to the loss."""
        points, found = self.points, []
        for j, axis in enumerate(self.levels):
            shares = (
                np.bincount(points.codes[:, j], points.weights, len(axis[0].cells)) / points.rows / len(self.levels)
            )
            found.append(np.array([shares @ level.widths[level.cells] for level in axis]))
        return found

    @property
    def _usual_ks(self) -> range:
        return range(2, min(LARGEST_K, self.points.rows) + 1)

    def _roll(self, bound: int) -> NodeTable:
        if self.nodes > MOST_NODES:
            raise TooManyNodes(self.nodes, MOST_NODES)
        return roll_all(self._kernel, self.points, self.levels, bound, memory=self.memory // 2, threads=self.threads)

    def _goal(self, k: int, suppress: float) -> int:
        """Rows that may be suppressed to reach k."""
        check_k(k)
        return self.limit(suppress)

    def _bound(self, k: int) -> int:
        """The largest class size that matters for k."""
        return max(1, min(k - 1, self.points.rows))

    def _is_enumerable(self, k: int, limit: int) -> bool:
        fitting = self.memory // 2 // FIGURE_BYTES
        return self.nodes <= MOST_NODES and (limit == 0 or self.nodes * self._bound(k) <= fitting)

    def _counted(self, k: int) -> NodeTable:
        """Figures of all nodes, with class sizes counted far enough for k."""
        if self._table is None or self._table.bound < self._bound(k):
            fitting = self.memory // 2 // FIGURE_BYTES // self.nodes
            self._table = self._roll(max(self._bound(k), min(BOUND, self.points.rows, fitting)))
        return self._table

    def _count_once(self, ks: Sequence[int], suppress: float) -> None:
        """Count class sizes far enough for every k, so that the lattice is not rolled up for each."""
        enumerable = [k for k in ks if self._is_enumerable(k, self._goal(k, suppress))]
        if enumerable and self.limit(suppress):
            self._counted(max(enumerable))

    def _fits(self, k: int, limit: int) -> NDArray[np.bool_]:
        """Nodes that reach k within the limit."""
        if limit == 0:
            return np.asarray(self.table.smallest >= k)
        if self.nodes <= MOST_NODES and not self._is_enumerable(k, limit):
            raise TooLittleMemory(self.nodes, k, 2 * FIGURE_BYTES * self.nodes * self._bound(k), self.memory)
        return np.asarray(self._counted(k).suppressed(k) <= limit)

    def _first(self, losses: Floats, holds: Callable[[Levels], bool] | None, *, upward: bool) -> Levels:
        """The node of least loss that holds; what fails at a node fails below it, if what holds goes on above it."""
        if holds is None:
            return self._levels_at(int(np.argmin(losses)))
        failed = np.zeros(self.heights, bool)
        for looks, node in enumerate(np.argsort(losses, kind="stable")[: np.isfinite(losses).sum()].tolist()):
            levels = self._levels_at(node)
            if failed[levels]:
                continue
            if holds(levels):
                return levels
            report("choosing levels")
            above = self._last_failing(levels, holds, turn=looks) if upward else levels
            failed[tuple(slice(0 if upward else level, level + 1) for level in above)] = True
        raise GoalNotMet("No node of the lattice keeps the goals within the rows that may be left out.")

    def _last_failing(self, levels: Levels, holds: Callable[[Levels], bool], turn: int) -> Levels:
        """The highest node that fails on a way from a failing one to the top; `turn` says which column rises first."""
        way, axes = [levels], range(len(levels))
        while way[-1] != self.top:
            turn += 1
            j = next(j for j in (*axes[turn % len(axes) :], *axes) if way[-1][j] < self.top[j])
            way.append((*way[-1][:j], way[-1][j] + 1, *way[-1][j + 1 :]))
        return way[bisect_left(way, True, lo=1, key=holds) - 1]

    def _searched(self, k: int, limit: int, looks: int, holds: Callable[[Levels], bool] | None = None) -> LatticeNode:
        def look(node: Levels) -> Sight:
            seen = self._sight(node, k)
            broken = holds is not None and seen.suppressed <= limit and not holds(node)
            return Sight(self.points.rows + 1, seen.loss) if broken else seen

        losses = [axis.tolist() for axis in self._axis_losses]
        found = search_best(look, losses, self._groups(k, limit), limit, looks)
        if found is None and holds is not None:
            raise GoalNotMet("All rows as one class do not keep the goals.")
        if found is None:
            raise TooFewRows(self.points.rows, k)
        return self._node(k, found.levels, found.bound)

    def _groups(self, k: int, limit: int) -> list[Floats]:
        """Neighbouring columns, as many as can be enumerated with all others at the top: loss, or inf if k fails."""
        fitting = self.memory // 2 // FIGURE_BYTES // self._bound(k)
        most = min(GROUP_NODES, GROUP_WORK // len(self.points.weights), fitting)
        found, start = [], 0
        while start < len(self.heights):
            stop = start + 1
            while stop < len(self.heights) and prod(self.heights[start : stop + 1]) <= most:
                stop += 1
            part = self._part(start, stop)
            losses = part.losses * (stop - start) / len(self.heights)
            found.append(np.where(part._fits(k, limit), losses, np.inf).reshape(part.heights))
            start = stop
        return found

    def _part(self, start: int, stop: int) -> "GeneralizationLattice":
        codes = np.ascontiguousarray(self.points.codes[:, start:stop])
        points = replace(self.points, axes=self.points.axes[start:stop], mappings=(), codes=codes)
        return GeneralizationLattice(points, self.levels[start:stop], self.threads, self.memory)

    def _look(self, levels: Sequence[int], bound: int) -> dict[str, Any]:
        return self._kernel.look(np.array([self.check(levels)], np.int32), bound, 1)

    def _sight(self, levels: Sequence[int], k: int) -> Sight:
        check_k(k)
        bound = self._bound(k)
        seen = self._look(levels, bound)
        sizes = np.arange(1, bound + 1) if k > 1 else np.zeros(1, np.int64)
        base = sum(float(axis[level]) for axis, level in zip(self._axis_losses, levels, strict=True))
        cost = seen["costs"].sum() / (self.points.rows * len(self.levels)) if k > 1 else 0.0
        return Sight(int(seen["counts"] @ sizes), float(base + cost))

    def _node(self, k: int, levels: Levels, bound: float) -> LatticeNode:
        sight = self._sight(levels, k)
        sizes = np.bincount(self.classes(levels), weights=self.points.weights)
        return LatticeNode(k, levels, sight.loss, int((sizes >= k).sum()), sight.suppressed, bound)

    def _levels_at(self, node: int) -> Levels:
        found = []
        for height in reversed(self.heights):
            node, level = divmod(node, height)
            found.append(level)
        return tuple(reversed(found))

    def _as_line(self, node: LatticeNode) -> dict[str, Any]:
        figures = self._as_json(node)
        levels = {f"level[{name}]": level for name, level in figures.pop("levels").items()}
        return {"k": figures.pop("k"), **levels, **figures}

    def _as_json(self, node: LatticeNode) -> dict[str, Any]:
        levels = dict(zip(self.columns, node.levels, strict=True))
        figures = {"loss": node.loss, "classes": node.classes, "suppressed": node.suppressed}
        return {"k": node.k, "levels": levels, **figures, "proven": node.proven, "bound": node.bound}


def compute_lattice(table: Table, *, grid: str | float = "auto", memory: int = MEMORY) -> GeneralizationLattice:
    """The lattice of a table; numbers and dates without a hierarchy get levels of round steps."""
    points = build_points(table, grid=grid, steps=True)
    left = points.check_room()
    allowed = memory if left is None else max(min(memory, left), LEAST)
    found = build_lattice(points, threads=table.threads, memory=allowed)
    return replace(found, library=table.library)


def build_lattice(points: Points, *, threads: int = 1, memory: int = MEMORY) -> GeneralizationLattice:
    """The lattice over the levels of the axes; a table without rows has none."""
    if not len(points.weights):
        raise TooFewRows(0, 1)
    held = [np.unique(codes).astype(np.int64) for codes in points.codes.T]
    levels = tuple(build_levels(axis, codes) for axis, codes in zip(points.axes, held, strict=True))
    return GeneralizationLattice(points, levels, threads, memory)


def check_k(k: int) -> None:
    """A whole number of rows, 1 or more."""
    if not isinstance(k, Integral) or k < 1:
        raise BadOption("--k", "k is a number of rows, 1 or more.")

"""Choice: which nodes reach k within the rows that may be suppressed, and which of them loses least.

In: the figures of all nodes, or a look at one after the other where there are too many.  Out: minimal and best nodes.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kech.axes.grid import Floats
from kech.errors import GoalNotMet, TooLittleMemory
from kech.system.console import report
from kech.system.memory import NODE_SIZE_BYTES
from kech.topology.lattice.nodes import Nodes
from kech.topology.node_search import (
    ROUNDING,
    Levels,
    NodeFigures,
    count_chains,
    find_tallest_axis,
    search_best,
    search_chains,
)

GROUP_NODES, GROUP_WORK = 4096, 10**8  # nodes, and nodes times points, of columns looked at together for a bound
LOOKS = 20_000  # nodes a search may look at

Holds: TypeAlias = Callable[[Levels], bool]


@dataclass(frozen=True, slots=True)
class LatticeNode:
    """A node as it would be released for k; no node loses less than `bound`."""

    k: int
    levels: Levels
    loss: float
    classes: int  # of k people or more; rows where every row is another person
    suppressed: int  # rows in smaller ones
    bound: float

    @property
    def proven(self) -> bool:
        """Whether no node is better."""
        return self.loss - self.bound <= ROUNDING


@dataclass(frozen=True, eq=False, repr=False)
class NodeGoal:
    """One k, and the rows that may be suppressed to reach it; `holds` says whether a node keeps what else is asked."""

    nodes: Nodes
    k: int
    limit: int
    holds: Holds | None = None

    @property
    def bound(self) -> int:
        """The largest class size that matters."""
        return max(1, min(self.k - 1, self.nodes.points.rows))

    @property
    def is_enumerable(self) -> bool:
        """Whether all nodes can be listed; where rows may be suppressed, with their class sizes."""
        return self.nodes.has_room(self.bound if self.limit else 0)

    def fits(self) -> NDArray[np.bool_]:
        """Whether each node reaches k within the limit."""
        if not self.limit:
            return np.asarray(self.nodes.smallest >= self.k)
        if self.nodes.has_room(0) and not self.is_enumerable:
            need = 2 * NODE_SIZE_BYTES * self.nodes.count * self.bound
            raise TooLittleMemory(self.nodes.count, self.k, need, self.nodes.memory)
        return np.asarray(self.nodes.count_sizes(self.bound).count_suppressed(self.k) <= self.limit)

    def minimal(self) -> list[Levels]:
        """Nodes that fit while no node below them does."""
        fits, stride = self.fits(), self.nodes.count
        minimal = fits.copy()
        for height in self.nodes.heights:
            stride //= height
            lower, here = fits.reshape(-1, height, stride)[:, :-1], minimal.reshape(-1, height, stride)[:, 1:]
            here &= ~lower
        return [self.nodes.at(number) for number in np.flatnonzero(minimal).tolist()]

    def best(self, looks: int = LOOKS) -> LatticeNode:
        """The node of least loss; where there are too many to list, the best that so many looks find."""
        if not self.is_enumerable:
            return self.search(looks)
        fits = self.fits()
        if not fits.any():
            raise self.nodes.points.refuse_k(self.k)
        cost = self.nodes.count_sizes(self.bound).cost(self.k) if self.limit else 0.0
        losses = np.where(fits, self.nodes.losses + cost, np.inf)
        return self._node(self._first(np.asarray(np.round(losses, 12), np.float64)))

    def _first(self, losses: Floats) -> Levels:
        """The node of least loss that holds; where none is suppressed, what fails at a node fails below it.

        By people it may hold below all the same: where no node was found so, all are looked at.
        """
        if self.holds is None:
            return self.nodes.at(int(np.argmin(losses)))
        order = [
            self.nodes.at(int(number)) for number in np.argsort(losses, kind="stable")[: np.isfinite(losses).sum()]
        ]
        counts_people = self.nodes.points.person is not None
        best = self._first_holding(order, self.holds, prune=not self.limit)
        if best is None and counts_people and not self.limit:
            best = self._first_holding(order[:LOOKS], self.holds, prune=False)
        if best is not None:
            return best
        tried = " that was tried" if counts_people and len(order) > LOOKS else ""
        raise GoalNotMet(
            f"No node of the lattice{tried} keeps the goals. Ask for less, or let more rows be left out: --suppress."
        )

    def _first_holding(self, order: Sequence[Levels], holds: Holds, *, prune: bool) -> Levels | None:
        """The first node that holds, if there is one; with `prune`, nothing below a failing node is looked at."""
        failed = np.zeros(self.nodes.heights, bool)
        for turn, levels in enumerate(order):
            if failed[levels]:
                continue
            if holds(levels):
                return levels
            report("choosing levels")
            if prune:
                above = self._last_failing(levels, holds, turn)
                failed[tuple(slice(level + 1) for level in above)] = True
        return None

    def _last_failing(self, levels: Levels, holds: Holds, turn: int) -> Levels:
        """The highest node that fails on a way from a failing one to the top; `turn` says which column rises first."""
        way, axes, top = [levels], range(len(levels)), self.nodes.top
        while way[-1] != top:
            turn += 1
            j = next(j for j in (*axes[turn % len(axes) :], *axes) if way[-1][j] < top[j])
            way.append((*way[-1][:j], way[-1][j] + 1, *way[-1][j + 1 :]))
        return way[bisect_left(way, True, lo=1, key=holds) - 1]

    def search(self, looks: int) -> LatticeNode:
        """The best node that so many looks find, and what no node can go below."""
        losses = [axis.tolist() for axis in self.nodes.axis_losses]
        best = search_best(self._look, losses, self.groups(), self.limit, looks)
        if best is None and self.holds is not None:
            raise GoalNotMet("All rows as one class do not keep the goals. Ask for less.")
        if best is None:
            raise self.nodes.points.refuse_k(self.k)
        return self._node(best.levels, best.bound)

    def groups(self) -> list[Floats]:
        """Neighbouring columns, as many as can be enumerated with all others at the top: loss, or inf if k fails."""
        heights, weights = self.nodes.heights, self.nodes.points.column_weights
        most = min(GROUP_NODES, GROUP_WORK // len(self.nodes.points.weights), self.nodes.allowed_sizes // self.bound)
        tables, start = [], 0
        while start < len(heights):
            stop = start + 1
            while stop < len(heights) and prod(heights[start : stop + 1]) <= most:
                stop += 1
            part = replace(self, nodes=self.nodes.part(start, stop))
            losses = part.nodes.losses * weights[start:stop].sum() / len(heights)
            tables.append(np.where(part.fits(), losses, np.inf).reshape(part.nodes.heights))
            start = stop
        return tables

    def search_chain(self, chains: int | None) -> LatticeNode:
        """The first node that fits along the lowest chains, or along all of them."""
        heights = self.nodes.heights
        chains = count_chains(heights) if chains is None else chains
        levels = search_chains(self._look, heights, self.limit, chains)
        if levels is None:
            along, every = self.nodes.points.axes[find_tallest_axis(heights)].column, chains * max(heights)
            raise GoalNotMet(
                f"k={self.k} was not reached on {chains} chains of the lattice, {every} nodes: "
                f"{along!r} at every level, the other columns at levels 0 to {chains - 1}. Another node may reach it. "
                "Search the whole lattice: --search lattice."
            )
        return self._node(levels, 0.0)

    def _look(self, levels: Levels) -> NodeFigures:
        """What is seen at a node; one that does not hold counts as if it suppressed everything."""
        view = self.nodes.measure_node(self.k, levels)
        broken = self.holds is not None and view.suppressed <= self.limit and not self.holds(levels)
        return replace(view, suppressed=self.nodes.points.rows + 1) if broken else view

    def _node(self, levels: Levels, bound: float | None = None) -> LatticeNode:
        """A node as it would be released; unless a bound is known, none loses less than it does."""
        view = self.nodes.measure_node(self.k, levels)
        sizes = self.nodes.points.count_people(self.nodes.classes(levels))
        least = view.loss if bound is None else bound
        return LatticeNode(self.k, levels, view.loss, int((sizes >= self.k).sum()), view.suppressed, least)

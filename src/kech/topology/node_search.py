"""Searching: the best node of a lattice that is too large to enumerate, and the paper's search along chains.

In: a way to look at nodes, and what each level of each axis loses.  Out: a node, and whether it is proven best.

Going up the lattice, classes only merge: if too many rows are in small classes at a node, so they are at every node
below it; and the loss without suppression never falls.  Both prune.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kech.axes.grid import Floats
from kech.system.console import report

Levels: TypeAlias = tuple[int, ...]
ROUNDING = 1e-12  # losses that differ by less are equal


@dataclass(frozen=True, slots=True)
class NodeFigures:
    """What is seen at a node: suppressed rows and loss for the k that is looked for."""

    suppressed: int
    loss: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best node seen; no node loses less than `bound`, so it is the best of all where loss == bound."""

    levels: Levels
    bound: float
    looks: int


Look: TypeAlias = Callable[[Levels], NodeFigures]


def search_best(
    look: Look, losses: Sequence[Sequence[float]], groups: Sequence[Floats], limit: int, budget: int
) -> SearchResult | None:
    """Best first: levels are chosen axis by axis, and the choice that may lose least is carried on.

    `losses[j][l]` is what level l of axis j adds to the loss; `groups` are explained at `LossFloor`.  A choice of some
    levels is dropped when the node with all other axes at the top suppresses more than `limit` rows, or when it must
    lose more than the best node seen.  After `budget` looks the search ends with what it has.
    """
    views, floor = NodeCache(look), LossFloor(groups)
    top = tuple(len(axis) - 1 for axis in losses)
    if views(top).suppressed > limit:
        return None
    best = descend_from_top(views, losses, limit)
    queue: list[tuple[float, int, Levels]] = [(floor(()), 0, ())]
    while queue and queue[0][0] < views(best).loss - ROUNDING:
        if views.looks >= budget:
            return SearchResult(best, queue[0][0], views.looks)
        _, _, chosen = heapq.heappop(queue)
        report("searching the lattice", views.looks / budget)
        for level in range(len(losses[len(chosen)])):
            longer = (*chosen, level)
            bound = floor(longer)
            if bound >= views(best).loss or views(longer + top[len(longer) :]).suppressed > limit:
                continue
            if len(longer) < len(top):
                heapq.heappush(queue, (bound, -len(longer), longer))
            elif views(longer).loss < views(best).loss:
                best = longer
    return SearchResult(best, views(best).loss, views.looks)


class LossFloor:
    """The least loss of any node that begins with some levels.

    Columns are looked at in groups, each as if the others were at the top: `groups[g]` holds, for every choice of its
    levels, what they add to the loss, and infinity where even so too many rows are suppressed.  Losses add up, so
    the sum of what each group must lose is a lower bound.
    """

    def __init__(self, groups: Sequence[Floats]) -> None:
        self._least = [[group.min(axis=tuple(range(n, group.ndim))) for n in range(group.ndim + 1)] for group in groups]

    def __call__(self, chosen: Levels) -> float:
        """A bound for all nodes that begin with the chosen levels; infinity where none can do."""
        total = 0.0
        for least in self._least:
            inner, chosen = chosen[: len(least) - 1], chosen[len(least) - 1 :]
            total += float(least[len(inner)][inner])
        return total


def descend_from_top(look: Look, losses: Sequence[Sequence[float]], limit: int) -> Levels:
    """From the top, lower again and again the axis that gains most, while it can be; an axis that cannot never will."""
    at = tuple(len(axis) - 1 for axis in losses)
    free = {j for j, level in enumerate(at) if level > 0}
    while free:
        gains = {j: losses[j][at[j]] - losses[j][at[j] - 1] for j in free}
        j = max(sorted(free), key=lambda axis: gains[axis])
        lower = (*at[:j], at[j] - 1, *at[j + 1 :])
        sight = look(lower)
        if sight.suppressed <= limit and sight.loss <= look(at).loss:
            at = lower
        if at is not lower or at[j] == 0:
            free.discard(j)
    return at


def search_chains(look: Look, heights: Sequence[int], limit: int, chains: int) -> Levels | None:
    """The paper's approximation: the first node, along the chains from below, that suppresses at most `limit` rows."""
    return next((node for node in chain_nodes(heights, chains) if look(node).suppressed <= limit), None)


def chain_nodes(heights: Sequence[int], chains: int) -> Iterator[Levels]:
    """Chains run along the axis of most levels; on the lowest all others are at level 0, on the next at level 1, ...

    On the paper's lattice, countries by gender, these are its lower chain and its upper one.
    """
    along = find_tallest_axis(heights)
    for fixed in range(chains):
        others = [min(fixed, height - 1) for height in heights]
        for level in range(heights[along]):
            yield tuple(level if j == along else other for j, other in enumerate(others))


def find_tallest_axis(heights: Sequence[int]) -> int:
    """The axis of most levels, the first of equals."""
    return max(range(len(heights)), key=lambda j: heights[j])


def count_chains(heights: Sequence[int]) -> int:
    """The number of chains: in the last one, all axes but the tallest stand at their last level."""
    return max((height for j, height in enumerate(heights) if j != find_tallest_axis(heights)), default=1)


class NodeCache:
    """The figures of every node that was looked at, so that each is computed once."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._seen: dict[Levels, NodeFigures] = {}

    def __call__(self, levels: Levels) -> NodeFigures:
        """The figures of a node."""
        if levels not in self._seen:
            self._seen[levels] = self._look(levels)
        return self._seen[levels]

    @property
    def looks(self) -> int:
        """Nodes looked at."""
        return len(self._seen)

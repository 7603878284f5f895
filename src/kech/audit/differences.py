"""Differences: classes of two versions that differ by so few rows that the difference shows them.  PRIVATE.

In: two releases and which key could be in which class.  Out: a `Difference`.
Three attacks read it: a class is widened for a newcomer, grows by one, or shrinks by one who left.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kech.release.composition import count_contents, find_same
from kech.release.covers import Cover, find_present, pair_cells, restrict
from kech.release.joint import LinkedVersion


@dataclass(frozen=True, slots=True)
class Difference:
    """Classes of two releases, by their places, that differ by fewer than k rows."""

    first: int
    second: int
    same_label: int  # the multiset of other cells grows or shrinks by fewer than k
    widened: int  # labels that the other lacks, but cover the same rows of both, with fewer than k cells more or less

    @property
    def classes(self) -> int:
        """Both together."""
        return self.same_label + self.widened

    def to_json(self) -> dict[str, Any]:
        """Fields and values."""
        return asdict(self)


def find_differences(
    first: int, second: int, versions: Sequence[LinkedVersion], covers: Sequence[Cover], k: int
) -> Difference:
    """Compare two releases class by class."""
    one, other = versions[first].linkage, versions[second].linkage
    columns = [name for name in one.release.cells if name in other.release.cells]
    contents = [count_contents(linkage, columns) for linkage in (one, other)]
    same = find_same(one, other)
    changed = [group for group, twin in same.items() if is_small(contents[0][group], contents[1][twin], k)]
    twins = {*same.values()}
    alike = find_alike(covers[first], covers[second])
    pairs = [(mine, theirs) for mine, theirs in alike if mine not in same and theirs not in twins]
    widened = [pair for pair in pairs if is_contained(contents[0][pair[0]], contents[1][pair[1]], k)]
    return Difference(first, second, len(changed), len(widened))


def is_small(one: Counter[Any], other: Counter[Any], k: int) -> bool:
    """Whether fewer than k rows came or went, but some did."""
    return any(0 < change.total() < k for change in (one - other, other - one))


def is_contained(one: Counter[Any], other: Counter[Any], k: int) -> bool:
    """Whether the one is the other without fewer than k rows, or the other way round."""
    few, many = sorted((one, other), key=Counter.total)
    return few <= many and 0 < many.total() - few.total() < k


def find_alike(first: Cover, second: Cover) -> list[tuple[int, int]]:
    """Pairs of classes that cover the same keys, among those that are in both versions."""
    present = np.logical_and(*find_present([first, second]).T)
    ours, theirs = restrict(first, present), restrict(second, present)
    (mine, other), rows = np.unique(np.stack(pair_cells(ours, theirs)[1:]), axis=1, return_counts=True)
    alike = np.flatnonzero((rows == ours.sizes[mine]) & (rows == theirs.sizes[other]))
    return list(zip(mine[alike].tolist(), other[alike].tolist(), strict=True))

"""Differences: classes of two versions that differ by so few rows that the difference shows them.  PRIVATE.

In: two releases and which key could be in which class.  Out: a `Difference`.
Three attacks read it: a class is widened for a newcomer, grows by one, or shrinks by one who left.  A fourth subtracts
all classes together whose labels overlap, so that coarser labels hide nobody who came or left.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise, starmap
from typing import Any

import numpy as np

from kech.release.composition import Content, count_contents, find_same, group_classes, join_contents
from kech.release.covers import Cover, count_distinct, find_present, pair_cells, restrict
from kech.release.joint import LinkedVersion, count_missing
from kech.release.published import Ints


@dataclass(frozen=True, slots=True)
class Difference:
    """Classes of two releases, by their places, that differ by fewer than k rows, or rows of fewer than k people."""

    first: int
    second: int
    same_label: int  # the multiset of other cells grows or shrinks by fewer than k
    widened: int  # labels that the other lacks, but cover the same rows of both, with fewer than k cells more or less
    changed: int = 0  # rows that came or left, fewer than k at once, in classes whose labels overlap

    @property
    def shows_rows(self) -> bool:
        """Whether subtracting the releases shows the cells of some rows."""
        return bool(self.same_label or self.widened or self.changed)

    def to_json(self) -> dict[str, Any]:
        """Fields and values."""
        return asdict(self)


def find_differences(
    first: int,
    second: int,
    versions: Sequence[LinkedVersion],
    covers: Sequence[Cover],
    k: int,
    person: Ints | None = None,
) -> Difference:
    """Compare two releases class by class, and all classes together whose labels overlap."""
    pair = versions[first], versions[second]
    columns = [name for name in pair[0].linkage.release.cells if name in pair[1].linkage.release.cells]
    if not columns:
        return Difference(first, second, 0, 0)
    ours, theirs = (count_contents(version.linkage, columns) for version in pair)
    same, twins = find_same(pair[0].linkage, pair[1].linkage), set(find_same(pair[1].linkage, pair[0].linkage))
    grown = [(ours[group], theirs[twin]) for group, twin in same.items()]
    alike = find_alike(covers[first], covers[second])
    apart = [(mine, other) for mine, other in alike if mine not in same and other not in twins]
    widened = [(mine, other) for mine, other in apart if is_contained(ours[mine], theirs[other], k)]
    group = group_classes((covers[first], covers[second]), (len(ours), len(theirs)))
    joined = list(zip(*join_contents(ours, theirs, group), strict=True))
    movers = count_movers(covers[first], covers[second], group, len(ours), person)
    exchanges, is_series = count_exchanges(versions[first : second + 1], k), all(version.section for version in pair)
    by_people = person is not None and not is_series
    return Difference(
        first,
        second,
        sum_unexplained((is_small(*change, k) for change in grown), exchanges),
        count_unexplained(widened, exchanges),
        sum_unexplained(map(partial(count_few, k=k, by_people=by_people), joined, movers), exchanges),
    )


def count_exchanges(versions: Sequence[LinkedVersion], k: int) -> int:
    """In how many places cohorts of a series may have come where others left, from the first release to the last.

    Cohorts have k rows or more and are never divided, so in a series a smaller difference is always such an exchange.
    """
    first, last = versions[0], versions[-1]
    if not (first.section and last.section):
        return 0
    left = sum(starmap(count_withdrawn, pairwise(version.section for version in versions if version.section)))
    came = left + int(last.linkage.release.sizes.sum() - first.linkage.release.sizes.sum())
    return max(0, min(left, came) // k)


def count_withdrawn(first: Mapping[str, Any], second: Mapping[str, Any]) -> int:
    """Rows that a series withdrew between two of its releases; where others lie in between, by what each lacks."""
    if second["version"] == first["version"] + 1:
        return int(second["withdrawn"])
    return max(0, count_missing(second) - count_missing(first)) + int(second["returned"])


def sum_unexplained(rows: Iterable[int], exchanges: int) -> int:
    """Differences, or rows that they show, in more places than exchanges of cohorts explain."""
    shown = sorted(filter(None, rows))
    return sum(shown[exchanges:])


def count_unexplained(pairs: Sequence[tuple[int, int]], exchanges: int) -> int:
    """Pairs of a class and one that takes its place, unless so many exchanges explain all of them.

    Where several cohorts came in the place of one, they are pairs of one exchange.
    """
    places = min((len(set(classes)) for classes in zip(*pairs, strict=True)), default=0)
    return len(pairs) - exchanges if places > exchanges else 0


def count_movers(first: Cover, second: Cover, group: Ints, classes: int, person: Ints | None) -> list[tuple[int, int]]:
    """Of each group of classes how many rows, or people, only the first version has, and how many only the second."""
    present = find_present([first, second])
    counts = []
    for cover, offset, is_elsewhere in ((first, 0, present[:, 1]), (second, classes, present[:, 0])):
        alone = restrict(cover, ~is_elsewhere)
        who = alone.row if person is None else person[alone.row]
        counted = count_distinct(group[alone.cell + offset], who)
        counts.append(np.pad(counted, (0, int(group.max()) + 1 - len(counted))).tolist())
    return list(zip(*counts, strict=True))


def count_few(contents: tuple[Content, Content], movers: tuple[int, int], k: int, by_people: bool) -> int:
    """Rows that left, and rows that came, by their cells, where fewer than k rows or people did."""
    one, other = contents
    changes = ((one - other).total(), (other - one).total())
    return sum(rows for rows, count in zip(changes, movers, strict=True) if count < k and (by_people or rows < k))


def is_small(one: Content, other: Content, k: int) -> bool:
    """Whether fewer than k rows came or went, but some did."""
    return any(0 < change.total() < k for change in (one - other, other - one))


def is_contained(one: Content, other: Content, k: int) -> bool:
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

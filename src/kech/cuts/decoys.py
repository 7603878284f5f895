"""Decoys: values that a label of a set lists though no row of its class has them.

In: what the labels of a set list.  Out: how many values each should list, and lists with decoys.

Of n random rows that share s values evenly, each value is absent with probability (1 - 1/s)^n.  A label that lists m
values, and all of them occur, tells more than that.  So labels are grouped by m, and all labels of a group list equally
many values, s: as many as would show the mean m of the group,

    mean m = mean over labels of  skew * s (1 - a (1 - 1/s)^n),    a = min(1, 7 / n)

`skew` is what rows at random show of the m values by their frequencies, over what they would show, were all equally
frequent.  Groups are those that need the fewest decoys.  Where 50 values are too few, labels of a group become `*`.
"""

import numpy as np
from numpy.typing import NDArray

from kech.axes import LONGEST_SET, RankAxis
from kech.axes.grid import Floats, Ints
from kech.axes.ranks import NOTHING, Members, close_members

SIZES = np.arange(2, LONGEST_SET + 1)  # that labels may have
FEW_ROWS = (
    7  # classes of more rows have fewer decoys: what their labels tell of one row is less.  With 5, ends of codes
)
# were above their control at k = 10; with 10, labels of codes lost 14 % more there
PAIR = 2  # values grow to four or stay: with three, the rarer half of a label is never empty
ENDLESS = np.iinfo(np.int64).max  # stands behind the last member while lists grow
FINE = 1 << 20  # parts of a weight


def choose_sizes(axis: RankAxis, table: Members, rows: Ints) -> Floats:
    """How many values each label should list, on average; labels that stay have the size they have."""
    listed = (table != NOTHING).sum(axis=1)
    grows, sizes = np.flatnonzero(listed > 1), np.asarray(listed, np.float64)
    if len(grows):
        counts, shown = sum_by_length(axis, table[grows], listed[grows], rows[grows])
        sizes[grows] = size_of_lengths(counts, shown, count_places(axis))[listed[grows]]
    return sizes


def count_places(axis: RankAxis) -> int:
    """How many members a label could list: each value that is not rare, and all rare ones as one."""
    return axis.common + (axis.common < axis.values)


def sum_by_length(axis: RankAxis, table: Members, lengths: Ints, rows: Ints) -> tuple[Ints, Floats]:
    """For each number of members: how many labels have it, and what rows at random would show at each of the sizes."""
    shown = np.zeros((LONGEST_SET + 1, len(SIZES)))
    for m in np.unique(lengths).tolist():
        alike = lengths == m
        skew = skew_factor(axis, table[alike, :m], rows[alike])
        shown[m] = (skew * show_values(SIZES, rows[alike, None])).sum(axis=0)
    shown[PAIR, SIZES == PAIR + 1] = shown[PAIR, (SIZES == PAIR) | (SIZES == 2 * PAIR)].mean()
    return np.bincount(lengths, minlength=len(shown)), shown


def show_values(values: Ints, rows: Ints) -> Floats:
    """How many different values rows at random should show, where all are equally frequent."""
    return np.asarray(values * (1 - absent_share(rows) * (1 - 1 / values) ** rows))


def absent_share(rows: Ints) -> Floats:
    """Of the values that rows at random would leave out, the share that labels should list."""
    return np.minimum(1.0, FEW_ROWS / rows)


def skew_factor(axis: RankAxis, listed: Members, rows: Ints) -> Floats:
    """What rows at random should show of these values, as a share of what they should, were all equally frequent."""
    frequency, rows_of = count_member_rows(axis)[listed], rows[:, None]
    seen = 1 - absent_share(rows_of) * (1 - frequency / frequency.sum(axis=1, keepdims=True)) ** rows_of
    return np.asarray(seen.sum(axis=1) / show_values(np.int64(listed.shape[1]), rows))[:, None]  # type: ignore[arg-type]


def count_member_rows(axis: RankAxis) -> Ints:
    """Rows of each member; rare values together."""
    rows = np.ones(axis.values, np.int64) if axis.rows is None else axis.rows
    return np.append(rows[: axis.common], rows[axis.common :].sum())


def size_of_lengths(counts: Ints, shown: Floats, places: int) -> Floats:
    """For each number of members the size of its group; groups are those with the fewest decoys.

    best(y) = min over x <= y of best(x - 1) + decoys of one group with x to y members
    """
    lengths = np.flatnonzero(counts)
    best: list[tuple[float, Floats]] = [(0.0, np.arange(len(counts), dtype=np.float64))]
    for last in range(len(lengths)):
        ways = []
        for first in range(last + 1):
            together = lengths[first : last + 1]
            size = size_of_group(together, counts, shown)
            decoys = float((counts[together] * (min(size, places) - together)).sum())
            ways.append((best[first][0] + decoys, first, size))
        cost, first, size = min(ways)
        sizes = best[first][1].copy()
        sizes[lengths[first : last + 1]] = size
        best.append((cost, sizes))
    return best[-1][1]


def size_of_group(lengths: Ints, counts: Ints, shown: Floats) -> float:
    """The size at which rows at random would show as many values as these labels have; between two sizes in part."""
    target, seen = float((counts[lengths] * lengths).sum()), shown[lengths].sum(axis=0)
    fits = np.flatnonzero((lengths[-1] <= SIZES) & (seen >= target))
    if not len(fits):
        return LONGEST_SET + 1.0
    at = int(fits[0])
    if at == 0 or SIZES[at - 1] < lengths[-1]:
        return float(SIZES[at])
    return float(SIZES[at - 1] + (target - seen[at - 1]) / (seen[at] - seen[at - 1]))


def draw_sizes(sizes: Floats, listed: Ints, draws: Floats) -> Ints:
    """A size for each label: one of the two next to its mean, so that the mean is right; of pairs two or four."""
    below, step = np.floor(sizes), np.ones(len(sizes))
    pairs = (listed == PAIR) & (sizes < 2 * PAIR)
    below[pairs], step[pairs] = PAIR, PAIR
    return np.where(sizes > listed, below + step * (draws < (sizes - below) / step), listed).astype(np.int64)


def expected_growth(axis: RankAxis, table: Members, rows: Ints) -> Floats:
    """By how much each label is wider on average with decoys."""
    sizes, listed = choose_sizes(axis, table, rows), (table != NOTHING).sum(axis=1)
    lost = sizes >= count_places(axis)
    own = np.where(listed > 1, (sizes - listed) / axis.steps, 0.0)
    rare = (table == axis.common).any(axis=1) * (axis.values - axis.common - 1) * (axis.common < axis.values)
    return np.where(lost & (listed > 1), 1 - (listed + rare - 1) / axis.steps, own)


def count_decoys(axis: RankAxis, table: Members, sizes: Ints) -> Ints:
    """How many decoys each label needs; -1 where it would list everything, or too much, and becomes `*`."""
    listed = (table != NOTHING).sum(axis=1)
    lost = (listed > 1) & (sizes >= min(count_places(axis), LONGEST_SET + 1))
    return np.where(lost, -1, sizes - listed)


def add_decoys(axis: RankAxis, table: Members, decoys: Ints, draws: Floats) -> Members:
    """The lists with so many decoys; a value is the likelier the fewer rows have it, by the square root.

    `draws` are numbers from 0 up to 1, one for each decoy of the first label, then of the next.  Rare values are no
    decoys.
    """
    listed, missing = (table != NOTHING).sum(axis=1), np.maximum(decoys, 0)
    start = np.cumsum(missing) - missing
    wide = np.full((len(table), int((listed + missing).max(initial=1))), ENDLESS)
    wide[:, : table.shape[1]] = np.where(table == NOTHING, ENDLESS, table)
    weights = np.append((FINE / np.sqrt(count_member_rows(axis)[:-1])).astype(np.int64) + 1, 0)
    for step in range(int(missing.max(initial=0))):
        growing = np.flatnonzero(missing > step)
        wide[growing, -1] = draw_decoys(wide[growing], weights, draws[start[growing] + step])
        wide[growing] = np.sort(wide[growing], axis=1)
    wide = np.where((wide == ENDLESS) | (decoys < 0)[:, None], NOTHING, wide)
    return close_members(axis, wide, (wide != NOTHING).sum(axis=1))


def draw_decoys(listed: NDArray[np.int64], weights: Ints, draws: Floats) -> Ints:
    """One value for each label that it does not list yet; lists ascend, and weights are those of all members."""
    before = np.cumsum(weights) - weights
    known = listed < len(weights)
    own = np.where(known, weights[np.where(known, listed, 0)], 0)
    left = weights.sum() - own.sum(axis=1)
    at = np.minimum((draws * left).astype(np.int64), left - 1)
    for j in range(listed.shape[1]):
        passed = known[:, j] & (at >= before[np.where(known[:, j], listed[:, j], 0)])
        at = at + np.where(passed, own[:, j], 0)
    return np.asarray(np.searchsorted(before, at, side="right") - 1)

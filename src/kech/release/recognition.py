"""Recognition: whether two tables share people or rows, from their sketches alone.

In: the sketches of two tables.  Out: whether they share some.

Tables of different people agree by accident, too.  How often, the tables tell themselves: if the rows of both were one
pile that somebody dealt out blindly, a value with c rows would have a rows in the first table, of n, and b in the
second, of m, with a binomial a.  With w = n / (n + m) and v = 1 - w,

    Y = 2 w v a b - v^2 a (a - 1) - w^2 b (b - 1)

compares agreeing pairs of rows across the tables with those inside each.  It is 0 on average, with the variance
2 c (c - 1) w^2 v^2; a row that is in both tables adds 2 w v.  So the sum of Y over its deviation, over all values that
several rows have, divided by the root of their number, is about normal with deviation 1 for different people, and
large where rows are shared.  Every value counts alike, however frequent it is.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from kech.release.sketches import Sketch, SketchKind

Floats = NDArray[np.float64]

SURE = 4.0  # deviations: one comparison of different people in 30,000 goes beyond
TOO_ALIKE = 1 / 30_000  # chance that counts of different people differ so little
ALIKE = 1 / 1_000  # the same of a second column, where the first is too alike
FEWEST_EXPECTED = 5  # rows of a value in the smaller table, for its counts to be about normal
FEWEST_VALUES = 32  # with several rows, for a column to reach that where all rows are shared
LOWEST = -30.0  # deviations that one value may speak against: a renamed one must not outvote all others
UNLIKELY = 1e-4  # chance that names agree on a quasi-identifier by accident
LEAST_CHANCE = 1e-6  # that two people agree on one


def share_rows(ours: Mapping[SketchKind, Sketch], theirs: Iterable[Sketch]) -> bool:
    """Whether names agree on a quasi-identifier too, or quasi-identifiers together, or half of the columns, or counts.

    Of several columns that could tell, one alone is not believed: quotas make tables of different people alike.
    """
    pairs = {sketch.of: (ours[sketch.of], sketch) for sketch in theirs if sketch.of in ours}
    by_kind = {kind: [name for name in pairs if name.kind == kind] for kind in ("name", "tuple", "column")}
    if any(share_people(name, pairs) for name in by_kind["name"]):
        return True
    if any(measure_agreement(*pairs[name])[0] >= SURE or are_too_alike(*pairs[name]) for name in by_kind["tuple"]):
        return True
    columns = [pairs[name] for name in by_kind["column"]]
    return are_two_alike(columns) or do_most_agree(columns)


def may_share_rows(
    new: Mapping[SketchKind, Sketch],
    whole: Mapping[SketchKind, Sketch],
    theirs: Iterable[Sketch],
    keys: Collection[str],
) -> bool:
    """Whether any of the new rows of a table may be in another one, unless sketches of all values rule that out.

    Keys tell, where most rows of the smaller table have theirs in the other one too; else quasi-identifiers together.
    Of a table that leaves no memory for hashing several columns, sketches of these are missing.
    """
    complete = [sketch for sketch in theirs if sketch.of in new and not sketch.depth and not new[sketch.of].depth]
    of_keys = [sketch for sketch in complete if sketch.kind in ("name", "column") and {*sketch.columns} <= {*keys}]
    by_key = [sketch for sketch in of_keys if sketch.of in whole and do_keys_agree(whole[sketch.of], sketch)]
    telling = by_key or [sketch for sketch in complete if sketch.kind == "tuple"]
    return not telling or any(count_shared(new[sketch.of], sketch) for sketch in telling)


def do_keys_agree(whole: Sketch, theirs: Sketch) -> bool:
    """Whether most values of the smaller table are in the other one too."""
    return 2 * count_shared(whole, theirs) > min(whole.rows, theirs.rows) * 2.0**-whole.depth


def do_most_agree(columns: Sequence[tuple[Sketch, Sketch]]) -> bool:
    """Whether half of the columns that could tell agree, and two of several."""
    agreements = [measure_agreement(*pair) for pair in columns]
    able = [score for score, values in agreements if values >= FEWEST_VALUES]
    return sum(score >= SURE for score in able) >= max(min(2, len(able)), len(able) / 2, 1)


def measure_agreement(one: Sketch, other: Sketch) -> tuple[float, int]:
    """How many deviations two tables agree more than different people would; values that several rows have."""
    a, b = count_alike(one, other)
    c = a + b
    a, b, c = a[c > 1], b[c > 1], c[c > 1]
    if not len(c) or not one.rows or not other.rows:
        return 0.0, 0
    w = one.rows / (one.rows + other.rows)
    v = 1 - w
    surplus = 2 * w * v * a * b - v**2 * a * (a - 1) - w**2 * b * (b - 1)
    scores = surplus / (w * v * np.sqrt(2 * c * (c - 1)))
    return float(np.maximum(scores, LOWEST).sum()) / len(c) ** 0.5, len(c)


def are_two_alike(columns: Sequence[tuple[Sketch, Sketch]]) -> bool:
    """Whether counts of two columns are too alike, whatever the other columns are.

    Columns depend on each other, so their chances are not multiplied: the first must do for all that can tell, and a
    second one shows that it is no quota.
    """
    chances = (measure_likeness(*pair, is_whole=True) for pair in columns)
    able = sorted(chance for chance in chances if chance < 1)
    return len(able) > 1 and able[0] * len(able) < TOO_ALIKE and able[1] * (len(able) - 1) < ALIKE


def are_too_alike(one: Sketch, other: Sketch) -> bool:
    """Whether counts of frequent values differ less than those of different people would once in 30,000 times."""
    return measure_likeness(one, other) < TOO_ALIKE


def measure_likeness(one: Sketch, other: Sketch, is_whole: bool = False) -> float:
    """The chance that counts of frequent values differ so little, if they are of different people.

    Of n values that are not rare, the sum of (v a - w b)^2 / (w v c) has a chi-squared distribution with n - 1 degrees
    of freedom.  Counts are whole numbers: equal ones stand for all that are rounded to them, half a row away at most.
    """
    from scipy.special import gammainc

    a, b = count_alike(one, other)
    w = a.sum() / max((a + b).sum(), 1)
    many = (a + b) * min(w, 1 - w) >= FEWEST_EXPECTED
    if many.sum() < 2:
        return 1.0
    a, b = a[many], b[many]
    scale = w * (1 - w) * (a + b)
    distance = (((1 - w) * a - w * b) ** 2 / scale).sum() ** 0.5 + is_whole * (0.25 / scale).sum() ** 0.5
    return float(gammainc((len(a) - 1) / 2, distance**2 / 2))


def count_alike(one: Sketch, other: Sketch) -> tuple[Floats, Floats]:
    """Rows of every value in either table, at a depth that both have."""
    depth = max(one.depth, other.depth)
    (ours, a), (theirs, b) = one.sample(depth), other.sample(depth)
    values, index = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    first, second = np.zeros(len(values)), np.zeros(len(values))
    first[index[: len(ours)]], second[index[len(ours) :]] = a, b
    return first, second


def share_people(name: SketchKind, pairs: Mapping[SketchKind, tuple[Sketch, Sketch]]) -> bool:
    """Whether names in both tables are the same people: they agree on a quasi-identifier more than others would.

    Two tables may number different people alike, from 1 on.
    """
    shared = count_shared(*pairs[name])
    traits = [kind for kind in pairs if kind.kind == "trait" and kind.columns[:-1] == name.columns]
    if not traits or not shared:
        return False
    return any(is_unlikely(shared, kind, pairs) for kind in traits)


def is_unlikely(shared: int, trait: SketchKind, pairs: Mapping[SketchKind, tuple[Sketch, Sketch]]) -> bool:
    """Whether so many of the shared names agree on a trait as different people would once in 10,000 times at most.

    Chernoff: the chance of a share s or more, where each agrees with the chance p, is at most exp(-n KL(s || p)).
    """
    column = SketchKind("column", trait.columns[-1:])
    chance = max(map(agree_at_random, pairs[column])) if column in pairs else 1.0
    share, chance = min(1.0, count_shared(*pairs[trait]) / shared), max(chance, LEAST_CHANCE)
    return share > chance and shared * divergence(share, chance) >= -log(UNLIKELY)


def count_shared(one: Sketch, other: Sketch) -> int:
    """Sampled values that both tables have."""
    a, b = count_alike(one, other)
    return int(((a > 0) & (b > 0)).sum())


def agree_at_random(column: Sketch) -> float:
    """The chance that two rows have the same value, as far as the sample tells."""
    _, counts = column.sample(column.depth)
    pairs = column.rows * (column.rows - 1)
    return float((counts * (counts - 1.0)).sum()) * 2.0**column.depth / pairs if pairs else 1.0


def divergence(share: float, chance: float) -> float:
    """Kullback-Leibler divergence of two coins."""
    first = share * log(share / chance) if share else 0.0
    if share == 1:
        return first
    return first + (1 - share) * (log((1 - share) / (1 - chance)) if chance < 1 else inf)

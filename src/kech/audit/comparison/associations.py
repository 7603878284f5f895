"""Associations: how strongly two columns go together, before and after.

From the table n_ij of rows in part i of one column and part j of the other; what is missing in either is left out.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from kech.audit.comparison.columns import Side
from kech.audit.comparison.pieces import Floats
from kech.release.published import Ints


def compare_pairs(sides: Sequence[Side]) -> list[dict[str, Any]]:
    """Every pair of columns: first those that chance does not explain, each the largest change first."""
    pairs = [compare_pair(one, other) for one, other in combinations(sides, 2)]
    return sorted(pairs, key=lambda pair: (is_by_chance(pair), -abs(pair["change"] or 0.0), pair["columns"]))


def is_by_chance(pair: dict[str, Any]) -> bool:
    """Whether neither table shows more than twice what unrelated columns would; a constant column shows nothing."""
    if pair["change"] is None:
        return True
    return bool(max(abs(pair["before"]), abs(pair["after"])) < 2 * pair["by_chance"])


def compare_pair(one: Side, other: Side) -> dict[str, Any]:
    """Spearman's rho where both have an order, Cramer's V otherwise; None where a column is constant."""
    spearman = one.is_ordered and other.is_ordered
    measure = spearman_rho if spearman else cramers_v
    table = count_before(one, other, np.arange(len(one.before)))[:-1, :-1]
    before, after = measure(table), measure(count_after(one, other)[:-1, :-1])
    return {
        "columns": [one.column, other.column],
        "measure": "spearman" if spearman else "cramers_v",
        "before": before,
        "after": after,
        "change": None if before is None or after is None else after - before,
        "by_chance": None if before is None else random_association(table, spearman=spearman),
    }


def random_association(table: Floats, *, spearman: bool) -> float:
    """About what two columns that have nothing to do with each other show in a table of so many rows.

    1 / sqrt(n - 1) is the standard deviation of rho; V of the expected chi^2, (r - 1) (c - 1), is
    sqrt((max(r, c) - 1) / n).
    """
    rows = table.sum()
    parts = max(np.count_nonzero(table.sum(axis=axis)) for axis in (0, 1))
    return float(1 / np.sqrt(rows - 1) if spearman else np.sqrt((parts - 1) / rows))


def count_before(one: Side, other: Side, rows: Ints) -> Floats:
    """Rows of the original in each pair of parts."""
    shape = len(one.parts), len(other.parts)
    cells = one.before[rows] * shape[1] + other.before[rows]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(float)


def count_after(one: Side, other: Side) -> Floats:
    """Released rows in each pair of parts; a row is spread over both labels, one apart from the other.

    n_ij = sum over rows of share_i(label in one) * share_j(label in the other)
    """
    pairs, rows = np.unique(one.label * len(other.shares) + other.label, return_counts=True)
    first, second = np.divmod(pairs, len(other.shares))
    return np.asarray(one.shares[first].T @ (rows[:, None] * other.shares[second]))


def cramers_v(table: Floats) -> float | None:
    """V = sqrt(chi^2 / (n (min(r, c) - 1))), with chi^2 = sum (n_ij - e_ij)^2 / e_ij and e_ij = n_i. n_.j / n."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return None
    rows = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / rows
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / (rows * (min(table.shape) - 1))))


def spearman_rho(table: Floats) -> float | None:
    """Pearson's correlation of the mid-ranks of the parts, every row with its weight."""
    rows = table.sum()
    ranks = []
    for counts in (table.sum(axis=1), table.sum(axis=0)):
        middle = np.cumsum(counts) - counts / 2
        ranks.append(middle - (counts @ middle) / rows if rows else middle)
    first, second = ranks
    variances = (table.sum(axis=1) @ first**2) * (table.sum(axis=0) @ second**2)
    return float(first @ table @ second / np.sqrt(variances)) if variances > 0 else None

"""Column costs: what each quasi-identifier costs the others, and which follow from another one.

In: points and k.  Out: for each column, the loss of the others with it and without it, as first cuts of some rows are.
"""

from dataclasses import dataclass, replace

import numpy as np

from kech._kernels import distinct_rows
from kech.axes.grid import Floats, Ints
from kech.cuts import cut_points
from kech.points.partition import column_losses
from kech.points.points import Points, join_equal
from kech.request import Cut, Goal

MOST_COLUMNS = 30  # more are not compared
MOST_PRICED = 200_000  # rows of a table that is only inspected: reading the points of more takes longer than a look
MOST_ROWS = 3000  # that are cut: of the town's 20,000 they rank the two dearest columns as all do
MOST_CELLS = 24_000  # of these rows: a table of 17 columns is cut 18 times
FIRST_CUT = Cut(effort=0.0)  # the best start, not searched further
ALIKE, USUAL = 0.99, 0.9  # rows that agree on one column agree on another: nearly always, where rows at random do not
FEWEST_PAIRS = 100  # of rows, to say that


@dataclass(frozen=True, slots=True)
class ColumnCost:
    """What one quasi-identifier costs; losses are estimates, comparable with each other."""

    column: str
    loss: float
    others: float  # mean loss of the other columns
    others_without: float  # the same where this column is dropped
    follows: str | None = None  # a column that decides this one

    @property
    def saving(self) -> float:
        """The share of the loss of the others that goes when this column is dropped."""
        return 1 - self.others_without / self.others if self.others > 0 else 0.0


def compute_column_costs(points: Points, k: int, *, threads: int = 1) -> tuple[ColumnCost, ...]:
    """Every column, the dearest for the others first; none where there is nothing to compare."""
    columns = len(points.axes)
    if not 2 <= columns <= MOST_COLUMNS or min(points.people, MOST_CELLS // columns) < 2 * k:
        return ()
    points = points.merge_grains()
    some = draw_rows(points, min(MOST_ROWS, MOST_CELLS // columns))
    losses, weights = cut_first(some, k, threads), points.column_weights
    costs = []
    for j, axis in enumerate(points.axes):
        others = [at for at in range(columns) if at != j]
        without = cut_first(keep_columns(some, others), k, threads)
        before, after = (float(np.average(each, weights=weights[others])) for each in (losses[others], without))
        costs.append(ColumnCost(axis.column, float(losses[j]), before, after, find_deciding(points, j)))
    return tuple(sorted(costs, key=lambda cost: -cost.saving))


def draw_rows(points: Points, most: int) -> Points:
    """Rows at equal distances in the order of the points; all where they are few."""
    if points.rows <= most:
        return replace(points, grains=None, results={})
    row = np.repeat(np.arange(len(points.weights)), points.weights)[:: -(-points.rows // most)]
    return join_equal(points, row, list(range(len(points.axes))), np.ones(len(row), np.int64))


def keep_columns(points: Points, columns: list[int]) -> Points:
    """The points on some of the axes."""
    return join_equal(points, np.arange(len(points.weights)), columns, points.weights)


def cut_first(points: Points, k: int, threads: int) -> Floats:
    """The loss of each column in a first cut."""
    (partition,) = cut_points(points, [k], FIRST_CUT, Goal(), threads=threads)
    return column_losses(partition)


def find_deciding(points: Points, j: int) -> str | None:
    """A column of which equal values nearly always mean equal values of column j."""
    if agreement(points, [], j) > USUAL:
        return None
    others = sorted((i for i in range(len(points.axes)) if i != j), key=lambda i: points.axes[i].size)
    return next((points.axes[i].column for i in others if agreement(points, [i], j) >= ALIKE), None)


def agreement(points: Points, columns: list[int], j: int) -> float:
    """How many of the rows equal to a row on some columns are equal to it on column j too: the mean over rows.

    Pairs of rows would let one frequent value decide, such as the missing one of two columns that are mostly empty.
    """
    equal, both = (count_equal(points, each) - 1 for each in (columns, [*columns, j]))
    rows = np.where(equal > 0, points.weights, 0)
    pairs = int((rows * equal).sum()) // 2
    return float(np.average(both / np.maximum(equal, 1), weights=rows)) if pairs >= FEWEST_PAIRS else 0.0


def count_equal(points: Points, columns: list[int]) -> Ints:
    """For each point, the rows that are equal to it on some columns."""
    codes = np.column_stack([np.zeros(len(points.weights), np.int64), points.codes[:, columns].astype(np.int64)])
    _, group = distinct_rows(np.ascontiguousarray(codes))
    return np.bincount(group, points.weights).astype(np.int64)[group]

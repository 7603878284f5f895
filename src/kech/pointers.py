"""Pointers: columns published as they are that point at rows together, though none of them does alone.

In: a table and the names of columns.  Out: pairs, or all of them, on which nearly every row has values of its own.
"""

from collections.abc import Sequence
from itertools import combinations

from kech.published import NEARLY_ALL
from kech.table import Table

MOST_PAIRS = 10  # each is a GROUP BY over all rows; those with the most combinations are counted


def points_at_rows(table: Table, column: str) -> bool:
    """Whether nearly every row that has a value in this column has one of its own."""
    facts = table.facts(column)
    return facts.distinct > NEARLY_ALL * (facts.rows - facts.nulls)


def find_joint_pointers(table: Table, columns: Sequence[str]) -> list[list[str]]:
    """Pairs of columns on which nearly every row is unique; all columns where no pair is enough."""
    names = [name for name in columns if not points_at_rows(table, name)]
    likely = sorted(combinations(names, 2), key=lambda pair: -most_combinations(table, pair))[:MOST_PAIRS]
    pairs = [list(pair) for pair in likely if point_together(table, pair)]
    if pairs or len(names) < 3:
        return sorted(pairs, key=lambda pair: [columns.index(name) for name in pair])
    return [names] if point_together(table, names) else []


def most_combinations(table: Table, columns: Sequence[str]) -> int:
    """How many combinations of values there can be; a missing value is one."""
    found = 1
    for name in columns:
        found *= table.facts(name).distinct + 1
    return found


def point_together(table: Table, columns: Sequence[str]) -> bool:
    """Whether nearly every row that has a value in one of these columns has a combination of its own."""
    present = max(table.rows - table.facts(name).nulls for name in columns)  # rows that have a value, at least
    if most_combinations(table, columns) <= NEARLY_ALL * present:
        return False
    combinations_held, rows = table.engine.count_together([table.index(name) for name in columns])
    return combinations_held > NEARLY_ALL * rows

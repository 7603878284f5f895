"""Minimal anonymity complex: the smallest eps at which the rows can be parted into simplices of at least k people.

Exhaustive, for a handful of rows.  Parting a class never widens it, so classes suffice that cannot be parted into two
of k people.  A person with two rows or more in a class can be in both parts, so that is possible exactly if

    sum over the people of the class of min(2, rows of the person) >= 2k.

Where every row is another person, classes of k to 2k - 1 rows are left.  With these classes,

    eps(rows, n) = min over classes S that hold the first row of  max(radius(S), eps(rows without S, n - 1))

is the smallest eps at which the rows can be parted into n of them.  eps* is the smallest of these.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from kech.points.people import ALONE
from kech.points.points import Points
from kech.system.console import report
from kech.topology import program
from kech.topology.filtration import simplex_radius

MOST_ROWS = 12

Class = tuple[int, ...]
Best = dict[int, tuple[float, int]]  # by number of classes: the smallest eps, and the class of the first row


def minimal_complex(points: Points, k: int, metric: str = "box") -> tuple[float, list[Class]] | None:
    """eps* and a partition of the rows (numbers of their points) that reaches it; None for larger tables.

    Of all that reach it, one with the most classes.
    """
    best = best_partitions(points, k, metric)
    if best is None:
        return None
    (eps, count), *_ = best.steps
    return eps, [tuple(best.rows[rows_in_mask(part)].tolist()) for part in best.classes(count)]


def find_class_counts(points: Points, k: int, metric: str = "box") -> list[tuple[float, int]] | None:
    """Each eps from which on more classes are possible than before, with the largest number; None for larger tables.

    Of classes of k people or more: what can be parted is not among them where they are most.
    """
    best = best_partitions(points, k, metric)
    return find_class_counts_by_program(points, k, metric) if best is None else best.steps


def find_class_counts_by_program(points: Points, k: int, metric: str) -> list[tuple[float, int]] | None:
    """What `count_classes` gives, by an integer program for a few dozen rows; None where it is missing or gives up."""
    if points.rows > program.MOST_ROWS or not 1 <= k <= points.people:
        return None
    report(f"parting the rows at k={k}")
    rows = np.repeat(np.arange(len(points.weights)), points.weights)
    distinct, point_of_unit = points.merge_people()
    widths = distinct.metric()
    units = point_of_unit[rows]
    solver = program.Program(
        number_people_of_rows(points, rows), k, lambda part: simplex_radius(distinct, units[list(part)], metric, widths)
    )
    try:
        return [(eps, len(classes)) for eps, classes in solver.steps(0.0)]
    except program.TooHard:
        return None


class NarrowestPartitions:
    """The smallest eps for every number of classes of k people that cannot be parted."""

    def __init__(self, points: Points, k: int, metric: str) -> None:
        self.rows = np.repeat(np.arange(len(points.weights)), points.weights)
        self.whole = (1 << len(self.rows)) - 1
        classes = list_indivisible_classes(number_people_of_rows(points, self.rows), k)
        distinct, point_of_unit = points.merge_people()
        widths = distinct.metric()

        @cache
        def radius(part: int) -> float:
            return simplex_radius(distinct, point_of_unit[self.rows[rows_in_mask(part)]], metric, widths)

        @cache
        def best(mask: int) -> Best:
            """Of ties the class with the lowest rows."""
            choices: Best = {} if mask else {0: (0.0, 0)}
            for part in classes[mask & -mask] if mask else ():
                if part & ~mask:
                    continue
                for count, (eps, _) in best(mask ^ part).items():
                    candidate = max(eps, radius(part)), part
                    choices[count + 1] = min(choices.get(count + 1, candidate), candidate)
            return choices

        self.best = best

    @property
    def steps(self) -> list[tuple[float, int]]:
        """Each eps at which the largest number of classes grows."""
        return keep_increases((eps, count) for count, (eps, _) in self.best(self.whole).items())

    def classes(self, count: int) -> Iterator[int]:
        """The classes of the narrowest partition into so many."""
        mask = self.whole
        for left in range(count, 0, -1):
            part = self.best(mask)[left][1]
            yield part
            mask ^= part


def best_partitions(points: Points, k: int, metric: str) -> NarrowestPartitions | None:
    """All numbers of classes that are possible, for a handful of rows."""
    return NarrowestPartitions(points, k, metric) if points.rows <= MOST_ROWS and 1 <= k <= points.people else None


def keep_increases(pairs: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    """Pairs of eps and a number of classes, by eps, without those that have no more classes than one before."""
    rising: list[tuple[float, int]] = []
    for eps, count in sorted(pairs, key=lambda pair: (pair[0], -pair[1])):
        if not rising or count > rising[-1][1]:
            rising.append((eps, count))
    return rising


def number_people_of_rows(points: Points, rows: Iterable[int]) -> list[int]:
    """The person of each row; who is alone has a number of their own, below 0."""
    who = [ALONE if points.person is None else int(points.person[point]) for point in rows]
    return [person if person != ALONE else -1 - row for row, person in enumerate(who)]


def list_indivisible_classes(who: list[int], k: int) -> dict[int, list[int]]:
    """By first row, the classes of k people or more that cannot be parted into two such classes."""
    classes: dict[int, list[int]] = {1 << row: [] for row in range(len(who))}
    for part in range(1, 1 << len(who)):
        rows = Counter(who[row] for row in rows_in_mask(part))
        if len(rows) >= k and sum(min(2, count) for count in rows.values()) < 2 * k:
            classes[part & -part].append(part)
    return classes


def rows_in_mask(mask: int) -> list[int]:
    """Rows in a mask."""
    return [row for row in range(mask.bit_length()) if mask >> row & 1]

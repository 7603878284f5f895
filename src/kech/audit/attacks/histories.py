"""Histories: what released rows tell where a number links those of each person.

In: a release with such numbers, and the rows that the attacker knows of a person.  Out: the numbers that fit.
A number fits where each of its rows could be another row of that person; rows of a person may have been left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kech.certificate import open_published
from kech.release.published import Ints, Published, dialect_of

SEVERAL = -1  # in place of a value
Shape = tuple[int, ...]  # the classes of the rows of a number, in order


@dataclass(frozen=True, eq=False, slots=True)
class PublishedHistories:
    """The rows of each number, and the numbers of each shape."""

    rows: Sequence[Ints]
    numbers: dict[Shape, list[int]]
    shapes: dict[int, list[Shape]]  # by their first class

    def find_fitting(self, known: Sequence[Sequence[int]]) -> list[int]:
        """The numbers that could be a person, of whom each row could be in these classes."""
        possible = frozenset().union(*known)
        shapes = (shape for group in possible for shape in self.shapes.get(group, ()))
        return [
            number
            for shape in shapes
            if len(shape) <= len(known) and possible.issuperset(shape) and can_match(shape, known)
            for number in self.numbers[shape]
        ]

    def find_constant(self, values: Ints) -> Ints:
        """The value of each number whose rows all have one, otherwise SEVERAL."""
        distinct = (np.unique(values[rows]).tolist() for rows in self.rows)
        return np.array(
            [values_of_number[0] if len(values_of_number) == 1 else SEVERAL for values_of_number in distinct]
        )


def read_histories(release: Published) -> PublishedHistories | None:
    """The histories of a release; None where nothing links its rows."""
    column = release.document.get("person_number")
    if column is None:
        return None
    number = np.array(list(map(int, list_cells(release, column))), np.int64)
    order = np.argsort(number, kind="stable")
    rows = np.split(order, np.flatnonzero(np.diff(number[order])) + 1)
    numbers, shapes = defaultdict(list), defaultdict(list)
    for index, history in enumerate(rows):
        numbers[tuple(sorted(release.group[history].tolist()))].append(index)
    for shape in numbers:
        shapes[shape[0]].append(shape)
    return PublishedHistories(rows, numbers, shapes)


def list_cells(release: Published, column: str) -> Iterator[str]:
    """The cells of a column that always has one, in the order of the file."""
    for (cells,) in open_published(release.path, **dialect_of(release.document)).batches([column]):
        yield from filter(None, cells)


def can_match(shape: Shape, known: Sequence[Sequence[int]]) -> bool:
    """Whether each class can be that of another known row: a matching, by augmenting paths.

    >>> can_match((1, 2), [(1,), (1, 2)]), can_match((1, 1), [(1,), (2,)]), can_match((2,), [(1,), (2,)])
    (True, False, True)
    """
    taken: dict[int, int] = {}

    def index(at: int, seen: set[int]) -> bool:
        for row, classes in enumerate(known):
            if shape[at] in classes and row not in seen:
                seen.add(row)
                if row not in taken or index(taken[row], seen):
                    taken[row] = at
                    return True
        return False

    return all(index(at, set()) for at in range(len(shape)))

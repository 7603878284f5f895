"""Numbering: which published rows are of one person, where all rows of a person stay together.

In: a partition whose points are told apart by person.  Out: a number for every person, and the classes by person.
Numbers are drawn anew for every release.  They follow no order of the table, and tell nothing about a person but which
rows are theirs.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kech.axes.grid import Ints
from kech.errors import BadOption
from kech.points.partition import Partition
from kech.tables.batches import draw_numbers

PERSON_NUMBER = "person_number"  # the published column


@dataclass(frozen=True, eq=False, repr=False)
class NumberedPeople:
    """The rows of each class, parted by person: a part is the rows of one person in one class."""

    group: Ints  # the class of each part
    number: Ints  # of the person of each part, from 1 on
    part: Ints  # of each share of the partition

    def shares(self, partition: Partition) -> dict[str, NDArray[np.int64]]:
        """For each point and part, which of the point's rows (counted from 1) the part takes."""
        return replace(partition, group=self.part).shares()


def number_people(partition: Partition) -> NumberedPeople:
    """Draw a number for every person."""
    assert partition.points.person is not None
    people, who = np.unique(partition.points.person[partition.point], return_inverse=True)
    numbers = np.argsort(draw_numbers(len(people)), kind="stable")
    pairs, part = np.unique(partition.group * len(people) + numbers[who.ravel()], return_inverse=True)
    return NumberedPeople(pairs // len(people), pairs % len(people) + 1, part.ravel())


def check_number_column(columns: Iterable[str]) -> None:
    """Refuse a table with a column that has the name of the published numbers."""
    if taken := [name for name in columns if name.casefold() == PERSON_NUMBER]:
        raise BadOption(
            "--protect-history", f"it publishes a column {PERSON_NUMBER!r}. Rename column {taken[0]!r} of the table."
        )

"""Histories: how many people have the same labels on all their rows, recounted from a file that numbers its people.

Rows with one number are the history of a person.  Two histories are equal when they have equally many rows of every
class, that is the same multiset of labels.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from kech.certificate.cells import TextTable
from kech.certificate.labels import Axis, as_brackets
from kech.errors import NoSuchColumn


def count_histories(table: TextTable, axes: Sequence[Axis], column: str) -> tuple[dict[str, int], list[str]]:
    """The number of people, and the fewest with equal histories (k); a complaint where numbers are not 1, 2, 3, ..."""
    if column not in table.columns:
        raise NoSuchColumn(column, table.columns, released=True)
    names = [axis["column"] for axis in axes]
    counts = as_brackets(table, axes).count([*names, column])
    _, group = counts.group_by_first(len(names))
    order = np.lexsort((group, counts.indices[-1]))
    person = counts.indices[-1][order]
    starts = np.flatnonzero(np.r_[True, np.diff(person) != 0][: len(person)])
    classes_and_rows = np.stack([group, counts.rows], axis=1)[order]
    sizes = Counter(history.tobytes() for history in np.split(classes_and_rows, starts[1:]) if len(history))
    texts = {counts.texts[-1][index] for index in person[starts].tolist()}
    numbered = texts == {str(number) for number in range(1, len(starts) + 1)}
    broken = [] if numbered else [f"{column!r}: people are not numbered from 1 on, each row with a number"]
    return {"k": min(sizes.values(), default=0), "people": len(starts)}, broken


def broken_histories(claimed: dict[str, Any], counted: dict[str, int], least_k: int) -> list[str]:
    """A complaint for every claim about histories that the recounted figures contradict."""
    broken = []
    if not counted["k"] >= claimed["k"] >= least_k:
        broken.append(f"histories.k: asked {least_k}, claimed {claimed['k']}, found {counted['k']}")
    return broken + ([] if counted["people"] == claimed["people"] else ["histories.people: not as claimed"])

"""Pinning: sensitive values that several releases together leave of a row.  PRIVATE.

In: versions of a table and which key could be in which class.  Out: `Pinned`, one a sensitive column.
Of every key the values of its classes are joined within a release and intersected over releases.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from kech.certificate import Cell
from kech.release.composition import Cover
from kech.release.joint import LinkedVersion
from kech.release.linkage import Bools, Linkage
from kech.release.published import Ints, normalize_cell

Values = frozenset[Cell]
MOST_SETS = 100_000  # of classes, whose values are joined once


@dataclass(frozen=True, slots=True)
class Pinned:
    """Of how many rows in several versions one value of a column is left, how often the right one."""

    column: str
    rows: int
    pinned: int
    right: int
    alone: int  # right ones that one release leaves by itself

    def to_json(self) -> dict[str, Any]:
        """Fields and values."""
        return asdict(self)


def find_common(versions: Sequence[LinkedVersion]) -> list[str]:
    """Sensitive columns that all releases publish."""
    first, *others = (version.linkage.release.sensitive for version in versions)
    return [name for name in first if all(name in names for names in others)]


def pin_values(
    column: str,
    versions: Sequence[LinkedVersion],
    covers: Sequence[Cover],
    certain: Bools,
    chosen: set[int] | None = None,
) -> Pinned:
    """What is left of every key that several releases must hold, or of those that are chosen.

    The value that is left is right where the key has it in one of its versions.
    """
    left: dict[int, list[Values]] = {}
    for version, cover, is_held in zip(versions, covers, certain.T, strict=True):
        for key, values in find_values(version.linkage, cover, column):
            if is_held[key] and (chosen is None or key in chosen):
                left.setdefault(key, []).append(values)
    several = {key: sets for key, sets in left.items() if len(sets) > 1}
    truth = find_truth(column, versions, several)
    one = {key: rest for key, sets in several.items() if len(rest := reduce(Values.intersection, sets)) == 1}
    right = [key for key, rest in one.items() if rest <= truth[key]]
    alone = sum(one[key] in several[key] for key in right)
    return Pinned(column, len(several), len(one), len(right), alone)


def find_values(linkage: Linkage, cover: Cover, column: str) -> list[tuple[int, Values]]:
    """Every key that is covered, with the values of all classes it could be in."""
    class_values = values_of_classes(linkage, column)
    join = lru_cache(maxsize=MOST_SETS)(lambda cells: Values().union(*(class_values[cell] for cell in cells)))
    keys, first, counts = np.unique(cover.row, return_index=True, return_counts=True)
    cells, ends = cover.cell.tolist(), (first + counts).tolist()
    places = zip(keys.tolist(), first.tolist(), ends, strict=True)
    return [(key, join(tuple(cells[start:end]))) for key, start, end in places]


def find_truth(column: str, versions: Sequence[LinkedVersion], keys: Any) -> dict[int, set[Cell]]:
    """The values that each key has in its versions: one, unless it was corrected."""
    truth: dict[int, set[Cell]] = {key: set() for key in keys}
    for version in versions:
        for key, text in zip(version.key.tolist(), version.linkage.texts(column), strict=True):
            if key in truth:
                truth[key].add(normalize_cell(text))
    return truth


def values_of_classes(linkage: Linkage, column: str) -> list[Values]:
    """The values that each class holds."""
    class_values: list[set[Cell]] = [set() for _ in linkage.release.labels]
    group: Ints = linkage.release.group
    for place, cell in zip(group.tolist(), linkage.release.cells[column], strict=True):
        class_values[place].add(normalize_cell(cell))
    return [frozenset(values) for values in class_values]

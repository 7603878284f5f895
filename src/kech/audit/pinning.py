"""Pinning: sensitive values that several releases together leave of a row.  PRIVATE.

In: versions of a table and which key could be in which class.  Out: `Pinned`, one a sensitive column.

A class holds each value just so often, so every way to give the values of a release to its rows is a matching, and a
row can have a value only if some matching gives it.  Who assumes that values stay the same keeps those that all
releases of the row leave, and matches again, until nothing more is excluded.  What is excluded is impossible; worlds of
all releases at once may exclude more, which is not looked for.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kech.certificate import Cell
from kech.release.covers import Cover
from kech.release.joint import LinkedVersion
from kech.release.linkage import Bools, read_codes
from kech.release.placement import find_fillable_pairs
from kech.release.published import Ints, normalize_cell


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


@dataclass(frozen=True, eq=False, repr=False)
class Choices:
    """The values that each key could have in one release: pairs of a key and a value of a class, its slot."""

    key: Ints
    slot: Ints
    value: Ints  # of each slot
    room: Ints  # rows of each slot

    def keep(self, kept: Bools) -> "Choices":
        """Only some of the pairs."""
        return Choices(self.key[kept], self.slot[kept], self.value, self.room)

    def match(self) -> "Choices":
        """Only pairs that some matching has."""
        return self.keep(find_fillable_pairs(self.key, self.slot, self.room))

    def pairs(self, values: int) -> Ints:
        """A number for each pair of a key and its value."""
        return self.key * values + self.value[self.slot]


def find_common(versions: Sequence[LinkedVersion]) -> list[str]:
    """Sensitive columns that all releases publish."""
    first, *others = (version.linkage.release.sensitive for version in versions)
    return [name for name in first if all(name in names for names in others)]


def pin_values(
    column: str, versions: Sequence[LinkedVersion], covers: Sequence[Cover], certain: Bools, chosen: Ints | None = None
) -> Pinned:
    """What is left of every key that several releases must hold, or of those that are chosen.

    The value that is left is right where the key has it in one of its versions.
    """
    numbers: dict[Cell, int] = {}
    choices = [
        list_choices(version, cover, column, numbers).match() for version, cover in zip(versions, covers, strict=True)
    ]
    truth = np.unique(np.concatenate([own_values(version, column, numbers) for version in versions], axis=1), axis=1)
    values = len(numbers)
    by_itself = [
        find_single(each.keep(is_held[each.key]).pairs(values), values)
        for each, is_held in pair_holders(choices, certain)
    ]
    left = exclude_values(choices, certain, values)
    several = np.flatnonzero(count_releases(choices, certain) > 1)
    several = several if chosen is None else np.intersect1d(several, chosen)
    pinned = np.intersect1d(find_single(left, values), left[np.isin(left // values, several)])
    right = np.intersect1d(pinned, truth[0] * values + truth[1])
    alone = np.isin(right, np.concatenate(by_itself))
    return Pinned(column, len(several), len(pinned), len(right), int(alone.sum()))


def pair_holders(choices: Sequence[Choices], certain: Bools) -> list[tuple[Choices, Bools]]:
    """Every release with the keys that it must hold."""
    return list(zip(choices, certain.T, strict=True))


def list_choices(version: LinkedVersion, cover: Cover, column: str, numbers: dict[Cell, int]) -> Choices:
    """Every key with all values of the classes it could be in."""
    release = version.linkage.release
    cells = release.cells[column]
    known = {cell: numbers.setdefault(normalize_cell(cell), len(numbers)) for cell in dict.fromkeys(cells)}
    value = np.array([known[cell] for cell in cells], np.int64)
    (group, values), room = np.unique(np.stack([release.group, value]), axis=1, return_counts=True)
    slots = np.bincount(group, minlength=len(release.labels))
    first, times = np.cumsum(slots) - slots, slots[cover.cell]
    nth = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    return Choices(np.repeat(cover.row, times), np.repeat(first[cover.cell], times) + nth, values, room)


def own_values(version: LinkedVersion, column: str, numbers: dict[Cell, int]) -> Ints:
    """Every key of a version with the value that it has in the original."""
    texts, codes = read_codes(version.linkage.table, [column])[column]
    known = np.array([numbers.setdefault(normalize_cell(text), len(numbers)) for text in texts], np.int64)
    return np.stack([version.key, known[codes]])


def exclude_values(choices: Sequence[Choices], certain: Bools, values: int) -> Ints:
    """Pairs of a key and a value that all releases which must hold the key leave, once nothing more is excluded."""
    while True:
        left = intersect_values(choices, certain, values)
        is_known = np.zeros(len(certain), bool)
        is_known[left // values] = True  # of others, values were corrected between versions
        narrower = [
            each.keep(~(is_held & is_known)[each.key] | np.isin(each.pairs(values), left)).match()
            for each, is_held in pair_holders(choices, certain)
        ]
        if [len(each.key) for each in narrower] == [len(each.key) for each in choices]:
            return left
        choices = narrower


def intersect_values(choices: Sequence[Choices], certain: Bools, values: int) -> Ints:
    """Pairs of a key and a value that are in all releases which must hold the key."""
    sets = [np.unique(each.keep(is_held[each.key]).pairs(values)) for each, is_held in pair_holders(choices, certain)]
    pairs, counts = np.unique(np.concatenate(sets), return_counts=True)
    return np.asarray(pairs[counts == count_releases(choices, certain)[pairs // values]])


def count_releases(choices: Sequence[Choices], certain: Bools) -> Ints:
    """For each key how many releases must hold it and leave it some value."""
    releases = np.zeros(len(certain), np.int64)
    for each, is_held in pair_holders(choices, certain):
        keys = np.unique(each.key)
        releases[keys[is_held[keys]]] += 1
    return releases


def find_single(pairs: Ints, values: int) -> Ints:
    """Pairs whose key has no other one."""
    distinct = np.unique(pairs)
    _, first, counts = np.unique(distinct // values, return_index=True, return_counts=True)
    return np.asarray(distinct[first[counts == 1]])

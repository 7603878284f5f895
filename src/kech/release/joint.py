"""Joint: releases of a table that changes, and which of them must hold a row.

In: releases, each linked to its own version of the table, with a key that finds a row again in the next version.
Out: which key could be in which class of each release, for a reader and for the owner; and where it must be in one.

A release must hold every row of its version that a class covers, but for one of a series that says that rows wait or
were withdrawn: a row may wait, or have left while it did, unless it was there when none waited; and it may be
withdrawn, if it could be in a class that lost rows since.  Where it has as many rows as its table, none is missing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kech.errors import BadOption
from kech.release.composition import count_contents, find_same
from kech.release.covers import Cover, cover_classes, find_cover, find_present
from kech.release.linkage import Bools, Linkage, check_covers, link
from kech.release.placement import cover_own_cells, rule_out_impossible
from kech.release.published import Ints

HELD = (
    "some classes hold rows that none of the originals has: rows that left stay with their cohorts. Name all releases "
    "of the series from the first on, each with its original."
)


@dataclass(frozen=True, eq=False, repr=False)
class LinkedVersion:
    """A release and its original, whose rows carry numbers that are the same in all versions."""

    linkage: Linkage
    key: Ints

    @property
    def section(self) -> Mapping[str, Any] | None:
        """What the certificate of a release of a series says about rows that came and went."""
        return self.linkage.release.document.get("series")

    def find_goal(self, alone: int) -> int:
        """The k that a release of a series promises: others may enter with as few.  Of any other, what it has alone."""
        return int(self.linkage.release.document["parameters"].get("k", alone)) if self.section else alone

    def cover(self, option: str) -> Cover:
        """Which keys could be in which class, by labels and sizes of classes."""
        cover = find_cover(self.linkage, option)
        order = np.argsort(self.key[cover.row], kind="stable")
        return rule_out_impossible(Cover(self.key[cover.row][order], cover.cell[order]), self.linkage.release.sizes)

    def cover_held(self, earlier: Sequence["LinkedVersion"], option: str) -> Cover:
        """Which keys fit which class of a series, which may still hold their cells of earlier versions."""
        release, pairs = self.linkage.release, []
        for linkage, key in self.list_held(earlier):
            cover = cover_classes(linkage)
            pairs.append(np.stack([key[cover.row], cover.cell]))
        keys, cells = np.unique(np.concatenate(pairs, axis=1), axis=1)
        classes = len(release.labels)
        try:
            check_covers(self.linkage, np.arange(classes), np.bincount(cells, minlength=classes), option)
        except BadOption:
            if release.document["series"]["version"] == 1 + len(earlier):
                raise
            raise BadOption(option, HELD) from None
        return Cover(keys, cells)

    def list_held(self, earlier: Sequence["LinkedVersion"]) -> list[tuple[Linkage, Ints]]:
        """The release linked to each version whose rows it could hold, with the keys of these."""
        before = [(link(self.linkage.release, version.linkage.table), version.key) for version in earlier]
        return [(self.linkage, self.key), *(before if self.section else [])]

    def narrow(self, cover: Cover, earlier: Sequence["LinkedVersion"]) -> Cover:
        """What the owner knows beyond a reader: a row is where its own cells are published."""
        return cover_own_cells(cover, self.list_held(earlier))


def cover_all(versions: Sequence[LinkedVersion], option: str) -> list[Cover]:
    """Which keys could be in which class of every release."""
    covers: list[Cover] = []
    for index, version in enumerate(versions):
        if version.section is None:
            covers.append(version.cover(option))
            continue
        cover = version.cover_held(versions[:index], option)
        for before, known in zip(versions, covers, strict=False):
            if before.section:
                cover = drop_newcomers(cover, known, find_unchanged(before.linkage, version.linkage))
        covers.append(rule_out_impossible(cover, version.linkage.release.sizes))
    return covers


def find_unchanged(before: Linkage, after: Linkage) -> Ints:
    """For each class of a later release of a series the earlier one with its label and its other cells; -1: none."""
    columns = [name for name in before.release.cells if name in after.release.cells]
    old, new = count_contents(before, columns), count_contents(after, columns)
    origin = np.full(len(new), -1)
    for number, now in find_same(before, after).items():
        origin[now] = number if old[number] == new[now] else -1
    return origin


def drop_newcomers(cover: Cover, known: Cover, origin: Ints) -> Cover:
    """The cover of a release of a series without rows that an unchanged class could not hold before.

    Classes change by whole cohorts, so such a class holds the same rows still.
    """
    before = origin[cover.cell]
    width = int(max(before.max(initial=0), known.cell.max(initial=0))) + 1
    was_there = np.isin(cover.row * width + before, known.row * width + known.cell)
    kept = (before < 0) | was_there
    return Cover(cover.row[kept], cover.cell[kept])


def narrow_all(versions: Sequence[LinkedVersion], covers: Sequence[Cover]) -> list[Cover]:
    """The same for the owner, who knows the cells of every row."""
    return [
        version.narrow(cover, versions[:index])
        for index, (version, cover) in enumerate(zip(versions, covers, strict=True))
    ]


def find_certain(versions: Sequence[LinkedVersion], covers: Sequence[Cover]) -> Bools:
    """For each key and each release whether it must be in a class."""
    present = find_present(covers)
    certain = present.copy()
    for index, version in enumerate(versions):
        section, earlier = version.section, versions[:index]
        if section:
            may_wait = np.ones(len(certain), bool)
            for each in (each for each in versions[: index + 1] if each.section and not each.section["waiting"]):
                may_wait[each.key] = False
            certain[may_wait, index] = False
        if section and count_missing(section):
            certain[find_withdrawn(version, earlier, covers, len(certain)), index] = False
        if section and holds_all(version, earlier):
            certain[version.key, index] = present[version.key, index]
    return certain


def holds_all(version: LinkedVersion, earlier: Sequence[LinkedVersion]) -> bool:
    """Whether a release of a series has room for no row but those of its table: then none of these waits or left.

    Rows that are not in the table left it since an earlier version, and stand in no new cohort.
    """
    assert version.section is not None
    rows = int(version.linkage.release.sizes.sum())
    known = np.unique(np.concatenate([version.key[:0], *(each.key for each in earlier if each.section)]))
    are_all = version.section["version"] == 1 + sum(
        each.section is not None for each in earlier
    )  # others may have been published in between
    departed = len(np.setdiff1d(known, version.key)) if are_all else rows
    most_departed = min(departed, rows - int(version.section["arrivals"]))
    return rows - most_departed >= len(version.key)


def find_withdrawn(
    version: LinkedVersion, earlier: Sequence[LinkedVersion], covers: Sequence[Cover], keys: int
) -> Bools:
    """Keys that could be in a class that lost rows since an earlier release; all, where rows were missing from it."""
    may_be = np.zeros(keys, bool)
    of_series = [(each, cover) for each, cover in zip(earlier, covers, strict=False) if each.section]
    for before, cover in of_series:
        may_be[cover.row[find_shrunk(before.linkage, version.linkage)[cover.cell]]] = True
    first = of_series[0][0].section if of_series else version.section
    return may_be | bool(first and count_missing(first))


def find_shrunk(before: Linkage, after: Linkage) -> Bools:
    """Of each class of a release whether a later one lacks some of its rows, by label and other cells."""
    columns = [name for name in before.release.cells if name in after.release.cells]
    old, new, same = count_contents(before, columns), count_contents(after, columns), find_same(before, after)
    return np.array([index not in same or bool(old[index] - new[same[index]]) for index in range(len(old))], bool)


def count_renewed(versions: Sequence[LinkedVersion]) -> int:
    """Rows that a series counts as new although earlier originals have their keys, and too few waited.

    They stand in two cohorts: the key by which rows are recognised is not the one that the series was made with.
    """
    most, waiting, known = 0, 0, np.empty(0, np.int64)
    for version in versions:
        if version.section is None:
            continue
        if len(known):
            fresh = len(np.setdiff1d(version.key, known))
            most = max(most, int(version.section["arrivals"]) - fresh - waiting)
        waiting += find_most_waiting(version)
        known = np.union1d(known, version.key)
    return most


def find_most_waiting(version: LinkedVersion) -> int:
    """How many rows of a version may wait: as many as it says, fewer ("<5"), or all where it hides that."""
    assert version.section is not None
    waiting = version.section["waiting"]
    if isinstance(waiting, int):
        return waiting
    return int(waiting[1:]) - 1 if re.fullmatch("<[0-9]+", waiting) else len(version.key)


def count_missing(section: Mapping[str, Any]) -> int:
    """Rows that the series published once and this release lacks."""
    return int(section["withdrawn"] + section["withdrawn_before"] - section["returned"])

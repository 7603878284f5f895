"""Homogeneity: a class gives a sensitive value away, since all its rows share it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kech.audit.attacks.outcome import Attack
from kech.audit.attacks.target import Target
from kech.certificate import Cell
from kech.certificate.check import read_values
from kech.certificate.models import text_reader
from kech.release.published import Ints

MOST_RECORDS = 1_000  # looked up among all classes


def attack_homogeneity(target: Target) -> list[Attack]:
    """Look a person up: all classes it could be in hold one and the same sensitive value.

    Control: the sensitive values of the release, assigned to its rows at random.
    """
    release, rng = target.linkage.release, target.rng()
    rows = np.sort(rng.permutation(target.linkage.rows)[:MOST_RECORDS])
    candidates = [groups for groups in target.linkage.classes_of(rows) if len(groups)]
    values_read = read_values(release.sensitive, release.document.get("values", {}))
    attacks = []
    for column in release.sensitive:
        values = number_values(release.cells[column], values_read[column])
        shared, by_chance = (
            shared_values(release.group, column_values) for column_values in (values, rng.permutation(values))
        )
        hits, control = (
            sum(is_pinned(column_values[groups]) for groups in candidates) for column_values in (shared, by_chance)
        )
        note = f"{int((shared >= 0).sum()):,} of {len(shared):,} classes hold one value"
        attacks.append(
            Attack("homogeneity", f"records whose {column} is given away", len(candidates), hits, control, note)
        )
    return attacks


def number_values(cells: Sequence[Cell], read: Mapping[str, Any]) -> Ints:
    """A number for the value of each cell, as the certificate compares them: HIV is hiv, and among numbers 1 is 1.0."""
    compared = text_reader(read)
    values = {cell: compared(cell) for cell in set(cells)}
    numbers = {value: number for number, value in enumerate(sorted(set(values.values())))}
    return np.fromiter((numbers[values[cell]] for cell in cells), np.int64, len(cells))


def shared_values(group: Ints, values: Ints) -> Ints:
    """The one value of each class, -1 where it holds several."""
    classes = int(group.max()) + 1
    least, most = np.full(classes, np.iinfo(np.int64).max), np.full(classes, -1)
    np.minimum.at(least, group, values)
    np.maximum.at(most, group, values)
    return np.where(least == most, least, -1)


def is_pinned(shared: Ints) -> bool:
    """Whether all classes share one value."""
    return bool(shared[0] >= 0 and (shared == shared[0]).all())

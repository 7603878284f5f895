"""Homogeneity: a class gives a sensitive value away, since all its rows share it."""

from collections.abc import Sequence

import numpy as np

from kech.attacks.outcome import Attack
from kech.attacks.target import Target
from kech.certificate import Cell
from kech.certificate.folding import fold_text
from kech.published import Ints

MOST_RECORDS = 1_000  # looked up among all classes


def attack_homogeneity(target: Target) -> list[Attack]:
    """Look a person up: all classes it could be in hold one and the same sensitive value.

    Control: the sensitive values of the release, dealt to its rows at random.
    """
    release, rng = target.linkage.release, target.rng()
    rows = np.sort(rng.permutation(target.linkage.rows)[:MOST_RECORDS])
    found = [groups for groups in target.linkage.classes_of(rows) if len(groups)]
    attacks = []
    for column in release.sensitive:
        values = np.unique(fold_cells(release.cells[column]), return_inverse=True)[1].ravel()
        shared, by_chance = (shared_values(release.group, held) for held in (values, rng.permutation(values)))
        hits, control = (sum(is_pinned(held[groups]) for groups in found) for held in (shared, by_chance))
        note = f"{int((shared >= 0).sum()):,} of {len(shared):,} classes hold one value"
        attacks.append(Attack("homogeneity", f"records whose {column} is given away", len(found), hits, control, note))
    return attacks


def fold_cells(cells: Sequence[Cell]) -> list[str]:
    """Cells as the certificate compares them: HIV is hiv."""
    folded = {cell: fold_text(cell or "") for cell in set(cells)}
    return [folded[cell] for cell in cells]


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

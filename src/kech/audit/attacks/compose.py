"""Compose: two releases of one table, each safe alone, tell together what neither should."""

from collections.abc import Sequence

import numpy as np

from kech.audit.attacks.homogeneity import MOST_RECORDS
from kech.audit.attacks.outcome import Attack
from kech.audit.attacks.target import Target
from kech.certificate import Cell
from kech.release.composition import count_candidates, find_cover, intersect
from kech.release.linkage import Linkage
from kech.release.published import Ints, plain

Values = frozenset[Cell]
Place = tuple[int, Sequence[int], Sequence[int]]  # a row, and the classes of each release it could be in


def attack_composition(target: Target) -> list[Attack]:
    """Look a person up in both releases: its value is in a class of the one and in a class of the other.

    A hit is a person of whom one sensitive value is left, and it is the right one; or of whom both releases leave fewer
    candidates than the smaller k of the two.  Control: either release alone, for the same people.
    """
    if target.second is None:
        return []
    ours, theirs = target.linkage, target.second
    rows = np.sort(target.rng().permutation(ours.rows)[:MOST_RECORDS])
    pairs = zip(rows.tolist(), ours.classes_of(rows), theirs.classes_of(rows), strict=True)
    found = [(row, one.tolist(), two.tolist()) for row, one, two in pairs if len(one) and len(two)]
    columns = [name for name in ours.release.sensitive if name in theirs.release.sensitive]
    return [narrow(ours, theirs), *(pin(column, found, ours, theirs) for column in columns)]


def narrow(ours: Linkage, theirs: Linkage) -> Attack:
    """How many records have fewer candidates in both releases than either promises."""
    k = min(int(linkage.release.sizes.min()) for linkage in (ours, theirs))
    one, two = (find_cover(linkage, "--second") for linkage in (ours, theirs))
    joint = count_candidates(intersect(one, two), k)
    alone = max(int((count_candidates(cover, k) < k).sum()) for cover in (one, two))
    note = f"joint k = {int(joint.min(initial=ours.rows))}"
    return Attack("compose", f"records with fewer than {k} candidates", len(joint), int((joint < k).sum()), alone, note)


def pin(column: str, found: Sequence[Place], ours: Linkage, theirs: Linkage) -> Attack:
    """How many records have one value of this column left, the right one."""
    first, second = (values_of_classes(linkage, column) for linkage in (ours, theirs))
    truth = [plain(cell) for cell in ours.texts(column)]
    hits = alone = 0
    for row, one, two in found:
        right = {truth[row]}
        hits += set().union(*(first[a] & second[b] for a in one for b in two)) == right
        alone += right in (set().union(*(first[a] for a in one)), set().union(*(second[b] for b in two)))
    return Attack("compose", f"records whose {column} is pinned", len(found), hits, alone)


def values_of_classes(linkage: Linkage, column: str) -> list[Values]:
    """The values that each class holds."""
    held: list[set[Cell]] = [set() for _ in linkage.release.labels]
    group: Ints = linkage.release.group
    for place, cell in zip(group.tolist(), linkage.release.cells[column], strict=True):
        held[place].add(plain(cell))
    return [frozenset(values) for values in held]

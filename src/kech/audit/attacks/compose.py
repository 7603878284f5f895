"""Compose: two releases, each safe alone, tell together what neither should."""

from kech.audit.attacks.homogeneity import MOST_RECORDS
from kech.audit.attacks.outcome import Attack
from kech.audit.attacks.target import Target
from kech.audit.pinning import find_common, pin_values
from kech.release.covers import Cover
from kech.release.joint import LinkedVersion, cover_all, find_certain, narrow_all
from kech.release.linkage import Bools
from kech.release.meet import find_meet, list_classes


def attack_composition(target: Target) -> list[Attack]:
    """Look a person up in both releases: its value is in a class of the one and in a class of the other.

    A hit is a person of whom one sensitive value is left, and it is the right one; or who stays together with fewer
    than the smaller k of the two.  Control: either release alone, for the same people.
    """
    if target.second is None:
        return []
    versions = [LinkedVersion(target.linkage, target.key), target.second]
    covers = cover_all(versions, "--second")
    certain = find_certain(versions, covers)
    rows = target.rng().permutation(target.linkage.rows)[:MOST_RECORDS]
    chosen = target.key[rows]
    pinned = [pin_values(column, versions, covers, certain, chosen) for column in find_common(versions)]
    return [
        attack_meet(versions, covers, certain),
        *(Attack("compose", f"records whose {pin.column} is pinned", pin.rows, pin.right, pin.alone) for pin in pinned),
    ]


def attack_meet(versions: list[LinkedVersion], covers: list[Cover], certain: Bools) -> Attack:
    """How many records stay together with fewer in both releases than either promises; alone, none does."""
    releases = [version.linkage.release for version in versions]
    k = min(int(release.sizes.min()) for release in releases)
    meet = find_meet(narrow_all(versions, covers), list_classes(releases), certain, certain)
    note = f"joint k = {versions[0].linkage.rows if meet.joint_k is None else meet.joint_k}"
    about = f"records that stay together with fewer than {k}"
    return Attack("compose", about, len(meet.key), len(meet.find_below(k)), 0, note)

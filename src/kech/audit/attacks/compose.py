"""Compose: two releases, each safe alone, tell together what neither should."""

from kech.audit.attacks.homogeneity import MOST_RECORDS
from kech.audit.attacks.outcome import Attack
from kech.audit.attacks.target import Target
from kech.audit.differences import find_differences
from kech.audit.pinning import find_common, pin_values
from kech.release.covers import Cover, find_present
from kech.release.joint import LinkedVersion, cover_all, find_certain, narrow_all
from kech.release.linkage import Bools
from kech.release.meet import find_meet, list_classes


def attack_composition(target: Target) -> list[Attack]:
    """Look a person up in both releases: its value is in a class of the one and in a class of the other.

    A hit is a person of whom one sensitive value is left, and it is the right one; or who stays together with fewer
    than the smaller k of the two; or who came or left with so few that subtracting the releases shows their cells.
    Control: either release alone, for the same people.
    """
    if target.second is None:
        return []
    versions = [LinkedVersion(target.linkage, target.key), target.second]
    covers = cover_all(versions, "--second")
    certain = find_certain(versions, covers)
    rows = target.rng().permutation(target.linkage.rows)[:MOST_RECORDS]
    chosen = target.key[rows]
    pinned = [pin_values(column, versions, covers, certain, chosen) for column in find_common(versions)]
    is_changed = target.second.linkage.table is not target.linkage.table
    return [
        attack_meet(versions, covers, certain),
        *([attack_difference(versions, covers)] if is_changed else []),
        *(Attack("compose", f"records whose {pin.column} is pinned", pin.rows, pin.right, pin.alone) for pin in pinned),
    ]


def attack_meet(versions: list[LinkedVersion], covers: list[Cover], certain: Bools) -> Attack:
    """How many records stay together with fewer in both releases than either promises; alone, none does."""
    releases = [version.linkage.release for version in versions]
    k = find_smaller_k(versions)
    meet = find_meet(narrow_all(versions, covers), list_classes(releases), certain, certain)
    joint_k = versions[0].linkage.rows if meet.joint_k is None else meet.joint_k
    least = joint_k if meet.at_least is None or all(version.section for version in versions) else meet.at_least
    note = f"joint k is between {least} and {joint_k}" if least < joint_k else f"joint k = {joint_k}"
    about = f"records that stay together with fewer than {k}"
    return Attack("compose", about, len(meet.key), len(meet.find_below(k)), 0, note)


def attack_difference(versions: list[LinkedVersion], covers: list[Cover]) -> Attack:
    """How many records came or left with fewer than k; one release alone shows none."""
    k = find_smaller_k(versions)
    difference = find_differences(0, 1, versions, covers, k)
    records = int(find_present(covers).any(axis=1).sum())
    return Attack("compose", f"records that came or left with fewer than {k}", records, difference.changed, 0)


def find_smaller_k(versions: list[LinkedVersion]) -> int:
    """Rows of the smallest class of either release; the k that a series promises."""
    return min(version.find_goal(int(version.linkage.release.sizes.min())) for version in versions)

"""Compose: two releases, each safe alone, tell together what neither should."""

import numpy as np

from kech.audit.attacks.homogeneity import MOST_RECORDS
from kech.audit.attacks.outcome import Attack
from kech.audit.attacks.target import Target
from kech.audit.pinning import find_common, pin_values
from kech.release.composition import Cover, count_candidates
from kech.release.joint import LinkedVersion, count_joint, find_certain
from kech.release.linkage import Bools


def attack_composition(target: Target) -> list[Attack]:
    """Look a person up in both releases: its value is in a class of the one and in a class of the other.

    A hit is a person of whom one sensitive value is left, and it is the right one; or of whom both releases leave fewer
    candidates than the smaller k of the two.  Control: either release alone, for the same people.
    """
    if target.second is None:
        return []
    versions = [LinkedVersion(target.linkage, target.key), target.second]
    covers = [versions[0].cover("--original"), versions[1].cover("--second")]
    certain = find_certain(versions, covers)
    rows = target.rng().permutation(target.linkage.rows)[:MOST_RECORDS]
    chosen = set(target.key[rows].tolist())
    pinned = [pin_values(column, versions, covers, certain, chosen) for column in find_common(versions)]
    return [
        attack_joint_candidates(versions, covers, certain),
        *(Attack("compose", f"records whose {pin.column} is pinned", pin.rows, pin.right, pin.alone) for pin in pinned),
    ]


def attack_joint_candidates(versions: list[LinkedVersion], covers: list[Cover], certain: Bools) -> Attack:
    """How many records have fewer candidates in both releases than either promises."""
    k = min(int(version.linkage.release.sizes.min()) for version in versions)
    joint = count_joint(covers, certain, k)
    alone = max(
        int((count_candidates(cover, k)[np.isin(np.unique(cover.row), joint.key)] < k).sum()) for cover in covers
    )
    note = f"joint k = {int(joint.count.min(initial=versions[0].linkage.rows))}"
    about = f"records with fewer than {k} candidates"
    return Attack("compose", about, len(joint.key), int((joint.count < k).sum()), alone, note)

"""Downcode: a label is no wider than its rows need, so both its ends are occupied."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from math import isfinite

import numpy as np

from kech.audit.attacks.outcome import Attack
from kech.audit.attacks.target import Target
from kech.release.linkage import Bools, LinkedColumn


def attack_downcode(target: Target) -> list[Attack]:
    """Claim that somebody of the class lies in the first, and in the last, finer part of each label.

    Parts are the two halves of an interval, range or set; or, finer, the stretches between the edges that are published
    anywhere in the column, or single values.  Control: as many rows, drawn from all that the label covers in this
    column, lie in the same part.  Where labels are no tighter than they must be, knowing the algorithm gives nothing.
    """
    columns = target.linkage.columns
    cuts = {id(column): find_cuts(column) for column in columns}
    return [
        claim_parts(target, "both halves of a label are occupied", find_halves),
        claim_parts(
            target,
            "both end parts of a label are occupied",
            lambda column, label: find_ends(column, label, cuts[id(column)]),
        ),
    ]


def claim_parts(target: Target, about: str, find: Callable[[LinkedColumn, str], list[Bools]]) -> Attack:
    """How often a part of a label is occupied by its class, and by as many rows at random."""
    rng = target.rng()
    targets = hits = by_chance = 0
    for rows, column, label in target.list_labels():
        for part in find(column, label) if label is not None else ():
            covered = column.rows(label)
            drawn = covered[rng.choice(len(covered), len(rows), replace=False, shuffle=False)]
            targets += 1
            hits += bool(part[column.codes[rows]].any())
            by_chance += bool(part[column.codes[drawn]].any())
    return Attack("downcode", about, targets, hits, by_chance)


def find_halves(column: LinkedColumn, label: str) -> list[Bools]:
    """Both halves of a label, as distinct cells; none where it cannot be halved."""
    if column.is_line:
        low, high, _ = column.interval(label)
        return find_outer_parts(column, label, [(low + high) / 2] if low < high and isfinite(high - low) else [])
    run = find_run(column, label)
    return [column.cells_among(run[: len(run) // 2]), column.cells_among(run[len(run) // 2 :])] if len(run) > 1 else []


def find_ends(column: LinkedColumn, label: str, cuts: Sequence[float]) -> list[Bools]:
    """The first and the last finer part of a label, as distinct cells; none where it has no parts."""
    if column.is_line:
        low, high, _ = column.interval(label)
        inner = cuts[bisect_right(cuts, low) : bisect_left(cuts, high)] if low < high else []
        return find_outer_parts(column, label, inner) or find_halves(column, label)
    run = find_run(column, label)
    return [column.cells_among([end]) for end in (run[0], run[-1])] if len(run) > 1 else []


def find_run(column: LinkedColumn, label: str) -> list[str]:
    """The values of a range or a set; none of other labels."""
    return column.run(label) if column.axis["axis"] in ("ordered", "set") else []


def find_outer_parts(column: LinkedColumn, label: str, cuts: Sequence[float]) -> list[Bools]:
    """The parts of an interval before the first cut and after the last one; none without cuts."""
    low, high, closed = column.interval(label)
    return [column.cells_between(low, cuts[0], False), column.cells_between(cuts[-1], high, closed)] if cuts else []


def find_cuts(column: LinkedColumn) -> list[float]:
    """Where the published intervals of a column begin, and where they end."""
    after = [float(np.nextafter(high, np.inf)) if closed else high for _, high, closed in column.intervals]
    return sorted({end for end in [*(low for low, _, _ in column.intervals), *after] if isfinite(end)})

"""Edge: the end of a published label is somebody's value."""

from collections import defaultdict
from math import isfinite

import numpy as np

from kech.attacks.outcome import Attack
from kech.attacks.target import Target
from kech.certificate import Cell
from kech.linkage import Bools, LinkedColumn

SINGLED = "records singled out by an end"


def attack_edges(target: Target) -> list[Attack]:
    """Look for the one row in a class whose value is the end of the published label.

    A hit is a record which "in this box, and this column equals this end" singles out.  Control: the same with a
    value drawn from those of the table that the label covers, in place of the end.
    """
    rng, most = target.rng(), target.rows
    found, by_chance = (defaultdict[str, set[int]](set) for _ in range(2))
    for rows, column, label in target.labelled():
        codes, name = column.codes[rows], column.axis["column"]
        for edge in find_edges(column, label):
            drawn = rng.choice(np.flatnonzero(column.covered(label)))
            for held, singled in ((edge[codes], found[name]), (codes == drawn, by_chance[name])):
                singled.update(rows[held].tolist() if np.count_nonzero(held) == 1 else ())
    if not found:
        return [Attack("edge", SINGLED, 0, 0, 0, "no label shows an end")]
    shown = [name for name in target.linkage.release.quasi_identifiers if name in found]
    each = {f"by {name}": (found[name], by_chance[name]) for name in shown}
    anywhere = (set().union(*found.values()), set().union(*by_chance.values()))
    return [
        Attack("edge", f"{SINGLED}, {about}", most, min(len(hits), most), min(len(control), most))
        for about, (hits, control) in {"by any column": anywhere, **each}.items()
    ]


def find_edges(column: LinkedColumn, label: Cell) -> list[Bools]:
    """For each end that a label shows, the distinct cells equal to it; a label of one value has no ends."""
    if label is None:
        return []
    if column.is_line:
        low, high, closed = column.interval(label)
        ends = [low, *([high] if closed else [])] if low < high else []
        return [column.numbers == end for end in ends if isfinite(end)]
    run = column.run(label) if column.axis["axis"] == "ordinal" else []
    return [column.among([end]) for end in (run[0], run[-1])] if len(run) > 1 else []

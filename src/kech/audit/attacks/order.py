"""Order: released rows lie as they did in the original."""

from collections import Counter

import numpy as np

from kech.audit.attacks.outcome import Attack
from kech.audit.attacks.target import Target
from kech.certificate import Cell
from kech.release.published import normalize_cell


def attack_order(target: Target) -> list[Attack]:
    """Take released rows for the original rows at the same place: of the file, or of their class.

    A target is a released row whose sensitive and kept cells occur once among the candidates of its class, and once in
    its class, so that the right answer is known.  Control: a candidate drawn at random, right once in class size.
    """
    release, rng = target.linkage.release, target.rng()
    ours, theirs = published_cells(target)
    scale = target.linkage.rows / max(release.rows, 1)
    hits, targets = Counter[str](), 0
    for group, rows in zip(target.groups.tolist(), target.candidates, strict=True):
        members = target.members[group]
        once, originals = Counter(theirs[row] for row in rows), Counter(ours[row] for row in members)
        for index, row in enumerate(members):
            if once[ours[row]] != 1 or originals[ours[row]] != 1:
                continue
            guesses = {
                "file": rows[np.argmin(np.abs(rows - (row + 0.5) * scale + 0.5))],
                "class": rows[int((index + 0.5) / len(members) * len(rows))],
                "chance": rng.choice(rows),
            }
            targets += 1
            hits.update(name for name, guess in guesses.items() if theirs[guess] == ours[row])
    note = "" if release.cells else "no sensitive or kept column is published, so nobody can tell a right link"
    return [
        Attack("order", "links by the place in the file", targets, hits["file"], hits["chance"], note),
        Attack("order", "links by the place in the class", targets, hits["class"], hits["chance"], note),
    ]


def published_cells(target: Target) -> tuple[list[tuple[Cell, ...]], list[tuple[Cell, ...]]]:
    """What is published as it is, for every row of the release and of the original."""
    linkage = target.linkage
    cells = linkage.release.cells
    ours = [[normalize_cell(cell) for cell in column] for column in cells.values()]
    theirs = [[normalize_cell(cell) for cell in linkage.texts(name)] for name in cells]
    return (
        list(zip(*ours, strict=True)) or [()] * linkage.release.rows,
        list(zip(*theirs, strict=True)) or [()] * linkage.rows,
    )

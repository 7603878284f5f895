"""Edge: the end of a published label is somebody's value."""

from collections import defaultdict
from collections.abc import Callable
from math import isfinite

import numpy as np

from kech.audit.attacks.outcome import Attack
from kech.audit.attacks.target import Target
from kech.certificate import Cell
from kech.release.linkage import Bools, Floats, LinkedColumn

SINGLED = "records singled out by an end"
GUESSED = "records singled out by a guess how far an end was moved"
MOVES = (1, 2)  # by so many steps ends are moved outward

Find = Callable[[LinkedColumn, Cell], list[Bools]]
Ends = tuple[Floats, Floats]
Singled = defaultdict[str, set[int]]  # records, by column


def attack_edges(target: Target) -> list[Attack]:
    """Look for the one row in a class whose value is the end of the published label.

    A hit is a record which "in this box, and this column equals this end" singles out.  Control: the same with a
    value drawn from those of the table that the label covers, in place of the end.  Who knows that ends are loosened
    guesses in place of the end one of the two next ends that are published further inside.
    """
    by_edges, by_chance = single_out(target, find_edges)
    if not by_edges:
        return [Attack("edge", SINGLED, 0, 0, 0, "no label shows an end")]
    selected = [name for name in target.linkage.release.quasi_identifiers if name in by_edges]
    each = [count_singled_out(target, f"{SINGLED}, by {name}", by_edges[name], by_chance[name]) for name in selected]
    rng = target.rng()
    ends = {id(column): published_ends(column) for column in target.linkage.columns}
    guessed = single_out(target, lambda column, label: guess_ends(column, label, ends[id(column)], rng))
    return [
        count_singled_out(target, f"{SINGLED}, by any column", join_columns(by_edges), join_columns(by_chance)),
        *each,
        count_singled_out(target, GUESSED, *map(join_columns, guessed)),
    ]


def single_out(target: Target, find: Find) -> tuple[Singled, Singled]:
    """The records that the values found in labels single out, and those that values drawn at random do."""
    rng = target.rng()
    by_edges, by_chance = Singled(set), Singled(set)
    for rows, column, label in target.list_labels():
        codes, name = column.codes[rows], column.axis["column"]
        for values in find(column, label):
            drawn = rng.choice(np.flatnonzero(column.cover(label)))
            for matches, singled in ((values[codes], by_edges[name]), (codes == drawn, by_chance[name])):
                singled.update(rows[matches].tolist() if np.count_nonzero(matches) == 1 else ())
    return by_edges, by_chance


def count_singled_out(target: Target, about: str, hits: set[int], control: set[int]) -> Attack:
    """The attack on all records: how many are singled out by edges, and how many at random."""
    return Attack("edge", about, target.rows, min(len(hits), target.rows), min(len(control), target.rows))


def join_columns(singled: Singled) -> set[int]:
    """Records singled out by any column."""
    return set().union(*singled.values())


def find_edges(column: LinkedColumn, label: Cell) -> list[Bools]:
    """For each end that a label shows, the distinct cells equal to it; a label of one value has no ends."""
    if label is None:
        return []
    if column.is_line:
        low, high, closed = column.interval(label)
        ends = [low, *([high] if closed else [])] if low < high else []
        return [column.numbers == end for end in ends if isfinite(end)]
    run = column.run(label) if column.axis["axis"] == "ordered" else []
    return [column.cells_among([end]) for end in (run[0], run[-1])] if len(run) > 1 else []


def guess_ends(column: LinkedColumn, label: Cell, ends: Ends, rng: np.random.Generator) -> list[Bools]:
    """For each end of an interval, the place one or two published ends further inside."""
    if label is None or not column.is_line:
        return []
    low, high, closed = column.interval(label)
    lows, highs = ends
    ahead = lows[(lows > low) & (lows <= high)][: max(MOVES)]
    behind = highs[(highs < high) & (highs >= low)][::-1][: max(MOVES)]
    wide = isfinite(low) and isfinite(high) and closed
    return [
        column.numbers == rng.choice(inner_ends)
        for inner_ends in (ahead, behind)
        if wide and len(inner_ends) == max(MOVES)
    ]


def published_ends(column: LinkedColumn) -> Ends:
    """Where the published intervals of a column begin, and where they end, ascending."""
    return np.unique([low for low, _, _ in column.intervals]), np.unique([high for _, high, _ in column.intervals])

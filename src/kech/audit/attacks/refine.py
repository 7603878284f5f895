"""Refine: the search left no simple step that saves, and that tells which of several classes a row is in.

The idea is the combinatorial refinement attack (Chhillar, Righi, Sutter and Kornaropoulos, 2025).  The attacker knows
the quasi-identifiers of all people, the file, its certificate and the algorithm.  Unknown are the classes of rows that
several boxes cover.  Each of these steps would save, so there is nothing left for it to do:

    ends    a box is closed on its rows: each end of a label that was not moved is somebody's value
    move    a row of a class that has more than k goes to a narrower box that covers it too
    swap    a box A lies inside a box B but for one column at most: a row at an end of A changes places with a row of B
            that both boxes cover, and A is narrower

Each rules out pairs of a row and a class.  The pairs that are left, with the sizes of the classes, are a transport
problem.  Its polytope has whole corners, so the bounds that linear programs would give follow from one assignment: a
row has the same class in all of them where no circle of exchanges leads back to its class.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kech.audit.attacks.downcode import find_cuts, find_ends
from kech.audit.attacks.edge import find_edges
from kech.audit.attacks.order import published_cells
from kech.audit.attacks.outcome import Attack
from kech.audit.attacks.target import Target
from kech.certificate.labels import width_readers
from kech.release.linkage import Bools

MOST_ROWS = 20_000  # of tables that are attacked: the classes of all rows are looked for together
MOVED = ("full", "ends")  # protections that move ends outward
GUESSED = "records in doubt, put into a class"
PINNED = "records in doubt, pinned to a class"
EMPTY = "overlaps where a class is claimed to have no row"

Options = list[list[int]]  # of each row, the classes it could be in
Overlaps = dict[tuple[int, int], list[int]]  # of two classes, rows in both boxes that the first cannot hold


@dataclass(frozen=True, eq=False, repr=False)
class Puzzle:
    """The classes that cover each row, and how many rows each class takes.

    Where fewer rows were released than the original has, one class more takes those that were left out.
    """

    options: Options
    sizes: list[int]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A class for each row that fits boxes and sizes, and whether it is the same in every such assignment."""

    group_of: list[int]
    pinned: list[bool]


def attack_refinement(target: Target) -> list[Attack]:
    """Find the classes of rows that several boxes cover, by ruling out those from which the search had moved them.

    The search ends where no simple step lowers the loss any more; a class that such a step would leave is ruled out.

    A record is in doubt where boxes and sizes leave it several classes.  It is a target where the steps rule some of
    them out and its true class is known: of the classes that cover it, one alone publishes its sensitive and kept
    cells.  An overlap of two boxes, which the file alone shows, is a hit where the class that is ruled out has no row
    there.  Control of both: the same rows, assigned to classes at random so that boxes and sizes fit.
    """
    if note := find_obstacle(target):
        return [Attack("refine", about, 0, 0, 0, note) for about in (GUESSED, PINNED, EMPTY)]
    puzzle = build_puzzle(target)
    truth, overlaps = find_truth(target, puzzle), find_overlaps(target, puzzle)
    rng = target.rng()
    by_chance = solve(puzzle, puzzle.options, rng)
    options = rule_out_classes(target, puzzle, overlaps)
    records = link_records(puzzle, options, by_chance, solve(puzzle, options, rng), truth)
    return [*records, claim_overlaps(overlaps, by_chance, truth)]


def find_obstacle(target: Target) -> str:
    """Why a release is not refined; nothing where it is."""
    if target.linkage.rows > MOST_ROWS:
        return f"only tables of at most {MOST_ROWS:,} rows are refined"
    if len(target.groups) < len(target.linkage.release.labels):
        return f"only releases of at most {len(target.groups):,} classes are refined"
    return ""


def build_puzzle(target: Target) -> Puzzle:
    """The classes that cover each row of the original, and how many rows each class takes."""
    rows, sizes = target.linkage.rows, target.linkage.release.sizes.tolist()
    options: Options = [[] for _ in range(rows)]
    for group, covered in enumerate(target.candidates):
        for row in covered.tolist():
            options[row].append(group)
    if (left_out := rows - sum(sizes)) > 0:
        for groups in options:
            groups.append(len(sizes))
        sizes.append(left_out)
    return Puzzle(options, sizes)


def find_truth(target: Target, puzzle: Puzzle) -> dict[int, int]:
    """The class of each row of which one class alone, of those that cover it, publishes the cells."""
    ours, theirs = published_cells(target)
    cells_of = defaultdict(set)
    for cells, group in zip(ours, target.linkage.release.group.tolist(), strict=True):
        cells_of[group].add(cells)
    left_out = len(target.candidates)
    class_of = {}
    for row, options in enumerate(puzzle.options):
        holding = [group for group in options if group == left_out or theirs[row] in cells_of[group]]
        if len(holding) == 1:
            class_of[row] = holding[0]
    return class_of


# -- steps that would save ------------------------------------------------------------------------------------------


def find_overlaps(target: Target, puzzle: Puzzle) -> Overlaps:
    """Pairs of classes of which a move or a swap would save, had the first one a row in both boxes."""
    together = defaultdict(list)
    for row, options in enumerate(puzzle.options):
        covering = [group for group in options if group < len(target.candidates)]
        for wide in covering if len(covering) > 1 else ():
            for narrow in covering:
                if wide != narrow:
                    together[wide, narrow].append(row)
    release = target.linkage.release
    masks = [[column.cover(label) for label in column.labels] for column in target.linkage.columns]
    k, widths = release.document["parameters"].get("k", release.sizes.min()), class_widths(target)
    return {
        (wide, narrow): rows
        for (wide, narrow), rows in together.items()
        if (release.sizes[wide] > k and widths[narrow] < widths[wide]) or is_swapped(wide, narrow, masks)
    }


def class_widths(target: Target) -> list[float]:
    """For each class the sum of the widths of its labels, over all quasi-identifiers."""
    release = target.linkage.release
    readers = width_readers([release.axes[name] for name in release.quasi_identifiers])
    return [
        sum(read(label) or 0.0 for read, label in zip(readers.values(), labels, strict=True))
        for labels in release.labels
    ]


def is_swapped(wide: int, narrow: int, masks: Sequence[Sequence[Bools]]) -> bool:
    """Whether the narrow box lies inside the wide one but for one column at most, and not the other way round."""
    out, other = (
        sum(bool((column[one] & ~column[two]).any()) for column in masks)
        for one, two in ((narrow, wide), (wide, narrow))
    )
    return out <= 1 and other > out


def rule_out_by_ends(target: Target, options: Options) -> None:
    """Leave one class to a row if no other row of that class can be at one end of its label.

    Somebody must stand at every end, in columns whose ends are not moved.  `options` are the classes left to each row.
    """
    columns = [column for column in target.linkage.columns if column.axis.get("protect") not in MOVED]
    cuts = {id(column): find_cuts(column) for column in columns}
    holders = defaultdict(set)
    for group, rows in enumerate(target.candidates):
        left = np.array([row for row in rows.tolist() if group in options[row]], np.int64)
        for column in columns:
            label = column.labels[group]
            values = find_edges(column, label) if column.axis.get("grid") == "exact" else []
            for part in values or (find_ends(column, label, cuts[id(column)]) if label is not None else ()):
                at_end = left[part[column.codes[left]]]
                if len(at_end) == 1:
                    holders[int(at_end[0])].add(group)
    for row, groups in holders.items():
        if len(groups) == 1:
            options[row] = list(groups)


def rule_out_classes(target: Target, puzzle: Puzzle, overlaps: Overlaps) -> Options:
    """The classes that the steps leave to each row; all of them again where they leave none."""
    excluded = {(row, wide) for (wide, _), rows in overlaps.items() for row in rows}
    left = [[group for group in groups if (row, group) not in excluded] for row, groups in enumerate(puzzle.options)]
    options = [few or groups for few, groups in zip(left, puzzle.options, strict=True)]
    rule_out_by_ends(target, options)
    return options


# -- assignments ----------------------------------------------------------------------------------------------------


def solve(puzzle: Puzzle, options: Options, rng: np.random.Generator) -> Solution:
    """Assign all rows at random, as the options allow; in a part of the table where they do not, as boxes and sizes do.

    Nobody is pinned in such a part: there the steps contradict each other.
    """
    shuffled = [rng.permutation(groups).tolist() for groups in options]
    group_of = [-1] * len(shuffled)
    members: list[set[int]] = [set() for _ in puzzle.sizes]
    sure = [True] * len(shuffled)
    for rows in connected_rows(puzzle):
        late = [
            row
            for row in rng.permutation(rows).tolist()
            if not make_room(row, shuffled, group_of, members, puzzle.sizes)
        ]
        for row in rows if late else ():
            sure[row], shuffled[row] = False, list(puzzle.options[row])
        for row in late:
            if not make_room(row, shuffled, group_of, members, puzzle.sizes):
                shuffled[row] = []  # the original does not fit the release
    component = strong_components(shuffled, group_of, len(puzzle.sizes))
    pinned = [
        sure[row] and all(component[group] != component[group_of[row]] for group in groups if group != group_of[row])
        for row, groups in enumerate(shuffled)
    ]
    return Solution(group_of, pinned)


def connected_rows(puzzle: Puzzle) -> list[list[int]]:
    """The rows in parts that can be solved apart: no class is an option of rows in two parts."""
    near: list[set[int]] = [set() for _ in puzzle.sizes]
    for groups in puzzle.options:
        for group in groups[1:]:
            near[groups[0]].add(group)
            near[group].add(groups[0])
    part = {group: number for number, walk in enumerate(depth_first_walks(range(len(near)), near)) for group in walk}
    rows = defaultdict(list)
    for row, groups in enumerate(puzzle.options):
        if groups:
            rows[part[groups[0]]].append(row)
    return list(rows.values())


def make_room(row: int, options: Options, group_of: list[int], members: list[set[int]], sizes: Sequence[int]) -> bool:
    """Put a row into one of its classes; where they are full, other rows move on along the shortest way."""
    came: dict[int, tuple[int, int]] = dict.fromkeys(options[row], (row, -1))
    line = list(came)
    for group in line:
        if len(members[group]) < sizes[group]:
            move_along(group, came, group_of, members)
            return True
        for other in sorted(members[group]):
            for onward in options[other]:
                if onward not in came:
                    came[onward] = (other, group)
                    line.append(onward)
    return False


def move_along(group: int, came: dict[int, tuple[int, int]], group_of: list[int], members: list[set[int]]) -> None:
    """Every row on the way to a class with room moves one class on."""
    while group >= 0:
        row, before = came[group]
        members[group].add(row)
        group_of[row] = group
        if before >= 0:
            members[before].remove(row)
        group = before


def strong_components(options: Options, group_of: Sequence[int], classes: int) -> list[int]:
    """For each class a number, equal for classes that can exchange rows in a circle (Kosaraju's two walks)."""
    onward: list[set[int]] = [set() for _ in range(classes)]
    back: list[set[int]] = [set() for _ in range(classes)]
    for row, groups in enumerate(options):
        for group in groups:
            if group != group_of[row]:
                onward[group_of[row]].add(group)
                back[group].add(group_of[row])
    order = [group for walk in depth_first_walks(range(classes), onward) for group in walk]
    component = [-1] * classes
    for number, walk in enumerate(depth_first_walks(reversed(order), back)):
        for group in walk:
            component[group] = number
    return component


def depth_first_walks(starts: Iterable[int], onward: Sequence[set[int]]) -> list[list[int]]:
    """From each start all that was not reached before, in the order in which it is left."""
    seen: set[int] = set()
    walks = []
    for start in starts:
        if start not in seen:
            seen.add(start)
            walks.append(walk_on(start, onward, seen))
    return walks


def walk_on(start: int, onward: Sequence[set[int]], seen: set[int]) -> list[int]:
    """Everything that can be reached and was not seen, in the order in which it is left."""
    walk, line = [], [(start, iter(sorted(onward[start])))]
    while line:
        at, ways = line[-1]
        following = next((way for way in ways if way not in seen), None)
        if following is None:
            walk.append(at)
            line.pop()
        else:
            seen.add(following)
            line.append((following, iter(sorted(onward[following]))))
    return walk


# -- claims ---------------------------------------------------------------------------------------------------------


def link_records(
    puzzle: Puzzle, options: Options, by_chance: Solution, refined: Solution, truth: dict[int, int]
) -> list[Attack]:
    """Records that boxes and sizes leave in doubt and of which the steps rule classes out: the likely, the sure."""
    doubt = [row for row, sure in enumerate(by_chance.pinned) if not sure]
    ruled = [row for row in doubt if len(options[row]) < len(puzzle.options[row])]
    pinned = [row for row in doubt if refined.pinned[row]]
    attacks = []
    for about, claimed in ((GUESSED, ruled), (PINNED, pinned)):
        judged = [row for row in claimed if row in truth]
        hits, control = (sum(one.group_of[row] == truth[row] for row in judged) for one in (refined, by_chance))
        note = f"{len(claimed):,} claims; boxes and sizes leave {len(doubt):,} of {len(options):,} records in doubt"
        attacks.append(Attack("refine", about, len(judged), hits, control, note))
    return attacks


def claim_overlaps(overlaps: Overlaps, by_chance: Solution, truth: dict[int, int]) -> Attack:
    """The claims that the first of two overlapping classes holds no row of their overlap, and how many are true.

    Judged are overlaps in which the true class of every row is known.  The control knows boxes and sizes alone.
    """
    judged = [(first, rows) for (first, _), rows in overlaps.items() if all(row in truth for row in rows)]
    hits = sum(all(truth[row] != first for row in rows) for first, rows in judged)
    control = sum(all(by_chance.group_of[row] != first for row in rows) for first, rows in judged)
    return Attack("refine", EMPTY, len(judged), hits, control, f"{len(overlaps):,} claims")

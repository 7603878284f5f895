"""The joint figures of several releases from their definitions, by matchings in plain Python; too slow to ship."""

from collections import Counter
from itertools import chain


def find_fillable_pairs(fits, room):
    """Pairs (row, class) that some placement has which fills every class; all pairs, where there is none.

    `fits` lists the classes of each row, `room` the rows of each class.
    """
    pairs = {(row, cell) for row, cells in fits.items() for cell in cells}
    slots = [cell for cell, rows in room.items() for _ in range(rows)]
    if not can_fill(slots, fits):
        return pairs
    return {(row, cell) for row, cell in pairs if can_fill(without(slots, cell), without_row(fits, row))}


def without(slots, cell):
    left = list(slots)
    left.remove(cell)
    return left


def without_row(fits, row):
    return {other: cells for other, cells in fits.items() if other != row}


def can_fill(slots, fits):
    """Whether every slot gets a row of its own (Kuhn)."""
    slot_of = {}

    def fill(slot, tried):
        for row, cells in fits.items():
            if slots[slot] in cells and row not in tried:
                tried.add(row)
                if row not in slot_of or fill(slot_of[row], tried):
                    slot_of[row] = slot
                    return True
        return False

    return all(fill(slot, set()) for slot in range(len(slots)))


def narrow(fits, room):
    """The classes of each row without impossible ones; a row that can be in none is left out."""
    possible = find_fillable_pairs(fits, room)
    kept = {row: [cell for cell in cells if (row, cell) in possible] for row, cells in fits.items()}
    return {row: cells for row, cells in kept.items() if cells}


def narrow_own(fits, values, value_of):
    """What the owner knows: a row is in a class that publishes its value, where there is one."""
    slots, room = spread_values(fits, values)
    own = {row: [slot for slot in each if slot[1] == value_of[row]] or each for row, each in slots.items()}
    return {row: list(dict.fromkeys(cell for cell, _ in each)) for row, each in narrow(own, room).items()}


def find_together(versions, held=None):
    """Of each row in several versions: the rows of each intersection that it could be in, and stays under its labels.

    Each version lists the classes of each row; `held` of them count for a row, by default all that have it.
    """
    held = held or {row: [v for v, fits in enumerate(versions) if row in fits] for row in chain(*versions)}
    found = {}
    for row, mine in held.items():
        if len(mine) < 2:
            continue
        absent = [fits for v, fits in enumerate(versions) if row not in fits]
        others = [
            other
            for other in held
            if all(other in versions[v] for v in mine) and not any(other in fits for fits in absent)
        ]
        paths = {other: list_paths([versions[v][other] for v in mine]) for other in others}
        found[row] = {
            tuple(zip(mine, path, strict=True)): {other for other in others if path in paths[other]}
            for path in paths[row]
        }
    return found


def count_smallest(cells, sizes, count=len):
    """Rows of the smallest of these intersections, which holds no more than the smallest of its classes."""
    return min(min(count(rows), *(sizes[v][cell] for v, cell in path)) for path, rows in cells.items())


def list_paths(choices):
    """Classes from version to version, under equal labels from one to the next where that is possible."""
    paths = [(cell,) for cell in choices[0]]
    for cells in choices[1:]:
        longer = [(*path, cell) for path in paths for cell in cells]
        paths = [path for path in longer if path[-1] == path[-2]] or longer
    return paths


def find_values(versions):
    """Values that are left of each row in several versions.

    A version lists the classes of each row, and the values of each class; values stay the same from version to version.
    """
    slots = [spread_values(fits, values) for fits, values in versions]
    while True:
        before = [len(find_pairs(each)) for each in slots]
        slots = [(narrow(fits, room), room) for fits, room in slots]
        left = {}
        for fits, _ in slots:
            for row, cells in fits.items():
                left.setdefault(row, []).append({value for _, value in cells})
        common = {row: set.intersection(*sets) for row, sets in left.items()}
        slots = [
            ({row: [c for c in cells if c[1] in common[row] or not common[row]] for row, cells in fits.items()}, room)
            for fits, room in slots
        ]
        if [len(find_pairs(each)) for each in slots] == before:
            return {row: common[row] for row, sets in left.items() if len(sets) > 1}


def find_values_alone(fits, values):
    """Values of each row that one release leaves."""
    return {row: {value for _, value in cells} for row, cells in narrow(*spread_values(fits, values)).items()}


def spread_values(fits, values):
    """Rows and the pairs of a class and a value that they could be; and how often each is there."""
    room = {(cell, value): times for cell, held in values.items() for value, times in Counter(held).items()}
    by_class = {cell: [slot for slot in room if slot[0] == cell] for cell in values}
    return {row: [slot for cell in cells for slot in by_class[cell]] for row, cells in fits.items()}, room


def find_pairs(version):
    return [(row, cell) for row, cells in version[0].items() for cell in cells]


def list_worlds(versions):
    """Every way to give the records of all releases to their rows, so that a row keeps its value.

    Yields the class of each row in each version, and the values.  Only for a handful of rows.
    """

    def go_on(number, value_of, classes):
        if number == len(versions):
            yield classes, value_of
            return
        fits, values = versions[number]
        for placed in list_placements(list(fits.items()), {c: Counter(v) for c, v in values.items()}, value_of):
            known = value_of | {row: value for row, (_, value) in placed.items()}
            yield from go_on(number + 1, known, [*classes, {row: cell for row, (cell, _) in placed.items()}])

    yield from go_on(0, {}, [])


def list_placements(rows, left, value_of):
    """Every way to give each row a record of a class that it fits, with the value that it is known to have."""
    if not rows:
        yield {}
        return
    (row, cells), *others = rows
    for cell in cells:
        for value in [value for value, times in left[cell].items() if times]:
            if value_of.get(row, value) == value:
                left[cell][value] -= 1
                for rest in list_placements(others, left, value_of):
                    yield {row: (cell, value)} | rest
                left[cell][value] += 1

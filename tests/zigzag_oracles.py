"""Oracles of zig-zags: complexes by definition, their bars by dionysus, the rule of rows by plain lists."""

from itertools import combinations, pairwise

import numpy as np


def canonical(labels):
    """Class numbers 0, 1, 2, ... without gaps."""
    return np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64).ravel()


def random_path(rng, points, nodes, free=None):
    """Partitions that have nothing to do with each other, or each a few merges, splits and moves from the last."""
    free = rng.random() < 0.5 if free is None else free
    path = [canonical(rng.integers(0, rng.integers(1, points + 1), points))]
    while len(path) < nodes:
        labels = path[-1].copy()
        if free:
            labels = rng.integers(0, rng.integers(1, points + 1), points)
        elif rng.random() < 0.5:
            labels[labels == rng.choice(labels)] = rng.choice(labels)
        else:
            part = (labels == rng.choice(labels)) & (rng.random(points) < 0.5)
            labels[part] = labels.max() + 1
            moved = rng.integers(0, points, rng.integers(0, 3))
            labels[moved] = rng.choice(labels, len(moved))
        path.append(canonical(labels))
    return path


def full_complex(labels, most=3):
    """All subsets of up to `most` points of one class: enough for H_0 and H_1 where most is 3."""
    parts = [np.flatnonzero(labels == c).tolist() for c in range(labels.max() + 1)]
    return {s for part in parts for size in range(1, most + 1) for s in combinations(part, size)}


def star_complex(labels):
    """The points, and an edge from the first of each class to each other: the same components as full simplices."""
    first = {c: i for i, c in reversed(list(enumerate(labels.tolist())))}
    edges = {(first[c], i) for i, c in enumerate(labels.tolist()) if first[c] != i}
    return edges | {(i,) for i in range(len(labels))}


def zigzag_complexes(nodes, through):
    """The complex at every position."""
    between = [a | b if through == "union" else a & b for a, b in pairwise(nodes)]
    return [nodes[p // 2] if p % 2 == 0 else between[p // 2] for p in range(2 * len(nodes) - 1)]


def dionysus_bars(complexes, most=1, field=2):
    """(dimension, first, last position) of every bar, by a library that knows nothing of classes."""
    import dionysus

    times = {}
    for at, (before, now) in enumerate(pairwise([set(), *complexes])):
        for simplex in before ^ now:
            times.setdefault(simplex, []).append(at)
    order = sorted(times, key=lambda simplex: (len(simplex), simplex))
    filtration = dionysus.Filtration([dionysus.Simplex(list(simplex)) for simplex in order])
    _, diagrams, _ = dionysus.zigzag_homology_persistence(filtration, [times[simplex] for simplex in order], field)
    found = []
    for dimension, diagram in enumerate(diagrams[: most + 1]):
        for bar in diagram:
            last = len(complexes) - 1 if bar.death == float("inf") else int(bar.death) - 1
            found += [(dimension, int(bar.birth), last)] if bar.birth <= last else []
    return sorted(found)


def components_of(labels, others):
    """Classes of the join, by spreading the lowest label until nothing changes."""
    joined = np.arange(len(labels))
    while True:
        before = joined.copy()
        for part in (labels, others):
            for c in range(part.max() + 1):
                joined[part == c] = joined[part == c].min()
        if (joined == before).all():
            return canonical(joined)


def partitions_at(path, through):
    """The partition at every position; numbers between nodes as the kernel gives them do not matter but for ties."""
    found = []
    for a, b in pairwise(path):
        between = components_of(a, b) if through == "union" else canonical(a * (b.max() + 1) + b)
        found += [a, between]
    return [*found, path[-1]]


def carried_rows(path, weights, through):
    """(birth, last, rows at each position) of every bar, by the rule itself; no two classes of a position tie.

    Living lines are lists of classes back to position 0.  A class is known by (position, label); glued ones share a
    line from there back.
    """
    levels = partitions_at(path, through)
    rows = [np.bincount(labels, weights).astype(int).tolist() for labels in levels]
    lines = {c: [(0, c)] for c in range(len(rows[0]))}  # of each class of the last position, oldest first
    bars = []

    def kill(dying, living):
        """Take off what the dying line has for itself; whoever else ran through it now runs through the living one."""
        own = next(i for i, (x, y) in enumerate(zip(dying, living, strict=True)) if x != y)
        swap = dict(zip(dying[own:], living[own:], strict=True))
        bars.append((own, len(dying) - 1, tuple(rows[at][c] for at, c in dying[own:])))
        return lambda line: [swap.get(place, place) for place in line]

    for at in range(1, len(levels)):
        lines = step(lines, levels[at - 1], levels[at], rows[at - 1], kill, at)
    heirs = step(lines, levels[-1], np.zeros_like(levels[-1]), rows[-1], kill, len(levels))
    bars.append((0, len(levels) - 1, tuple(rows[at][c] for at, c in heirs[0][:-1])))
    return sorted(bars)


def step(lines, before, after, rows, kill, at):
    """Lines of the next position: merged, the lighter dying, or parted."""
    lines = {c: list(line) for c, line in lines.items()}
    into = {}
    for c, d in zip(before.tolist(), after.tolist(), strict=True):
        into.setdefault(c, set()).add(d)
    heir = {}
    for c in sorted(lines, key=lambda c: (-rows[c], c)):
        for d in into[c]:
            if d in heir and heir[d] != c:
                reroute = kill(lines[c], lines[heir[d]])
                lines = {x: reroute(line) for x, line in lines.items()}
            heir.setdefault(d, c)
    return {d: [*lines[c], (at, d)] for d, c in heir.items()}

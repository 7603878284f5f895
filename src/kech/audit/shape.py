"""Shape of a release: the weighted barcode of its published boxes, from the file alone.

Every class is a box: its labels.  Boxes form a simplex at eps when one box of radius eps holds all of them,

    eps(S) = max_j side_j(smallest label around all labels of S in column j) / 2

so a class is born when eps reaches half its longest side, and two classes meet when one box that long holds both.
Sides are measured as distances are: shares of a line, an order or a hierarchy; 1 for a set of several values,
however few it prints, for values without an order are all equally far apart.
Bars follow the elder rule: of two components that meet, the younger ends.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.certificate import Axis, Cell
from kech.certificate.labels import (
    EVERYTHING,
    bound_interval,
    is_line,
    range_reader,
    read_domain,
    read_prefix,
    read_set,
    width_reader,
)
from kech.release.published import Ints, Published

Floats = NDArray[np.float64]
Distances = Callable[[int], Floats]  # of one class: the side of the box around it and each other class

MOST_CLASSES = 6_000  # of more, every n-th in the order of their labels is taken
RADII = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedBarcode:
    """The bars of the published boxes, one a class; the last one to live never ends."""

    classes: int  # of the release
    birth: Floats
    death: Floats
    weight: Ints  # rows of the class that was born

    def to_json(self) -> dict[str, Any]:
        """Bars by birth; infinity is null."""
        order = np.lexsort((self.death, self.birth))
        ends = zip(self.birth[order].tolist(), self.death[order].tolist(), self.weight[order].tolist(), strict=True)
        bars = [
            {"birth": birth, "death": None if death == np.inf else death, "weight": rows} for birth, death, rows in ends
        ]
        return {"classes": self.classes, "drawn": len(bars), "at": [self.at(eps) for eps in RADII], "bars": bars}

    def at(self, eps: float) -> dict[str, Any]:
        """Classes that one box of radius eps holds, the rows in them, and the components they form."""
        born = self.birth <= eps
        living = int(np.count_nonzero(born & (self.death > eps)))
        return {"eps": eps, "classes": int(born.sum()), "rows": int(self.weight[born].sum()), "components": living}


def build_released_barcode(release: Published) -> ReleasedBarcode:
    """Minimum spanning tree of the boxes, then one sweep over its edges."""
    order = sorted(range(len(release.labels)), key=lambda group: [label or "" for label in release.labels[group]])
    step = -(-len(order) // MOST_CLASSES)
    chosen = np.array(order[::step], np.int64)
    measures = [
        measure_column(release.axes[name], [release.labels[group][j] for group in chosen.tolist()])
        for j, name in enumerate(release.quasi_identifiers)
    ]
    birth = np.max([own for own, _ in measures], axis=0) / 2
    edges = span_boxes(len(chosen), [between for _, between in measures])
    death = find_deaths(birth, edges)
    return ReleasedBarcode(len(order), birth, death, release.sizes[chosen])


def span_boxes(classes: int, measures: Sequence[Distances]) -> list[tuple[float, int, int]]:
    """Edges of a minimum spanning tree (Prim), each with the eps at which its two boxes meet, ascending."""
    nearest, meets = np.full(classes, np.inf), np.zeros(classes, np.int64)
    outside = np.ones(classes, bool)
    edges, newest = [], 0
    for _ in range(classes - 1):
        outside[newest] = False
        eps = np.max([between(newest) for between in measures], axis=0) / 2
        closer = eps < nearest
        nearest[closer], meets[closer] = eps[closer], newest
        newest = int(np.argmin(np.where(outside, nearest, np.inf)))
        edges.append((float(nearest[newest]), int(meets[newest]), newest))
    return sorted(edges)


def find_deaths(birth: Floats, edges: Sequence[tuple[float, int, int]]) -> Floats:
    """When each class stops being the oldest of its component."""
    death, above = np.full(len(birth), np.inf), list(range(len(birth)))

    def find_oldest(group: int) -> int:
        while above[group] != group:
            above[group] = above[above[group]]
            group = above[group]
        return group

    for eps, one, other in edges:
        elder, younger = sorted((find_oldest(one), find_oldest(other)), key=lambda group: (birth[group], group))
        death[younger], above[younger] = max(eps, birth[younger]), elder
    return death


# -- sides in one column ---------------------------------------------------------------------------------


def measure_column(axis: Axis, labels: Sequence[Cell]) -> tuple[Floats, Distances]:
    """The side of each class's box in one column, and of the box around it and one other class."""
    known = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    index = np.array([known[label] for label in labels])
    if is_line(axis) or axis["axis"] == "ordered":
        own, joined = join_stretches(axis, list(known))
    else:
        own, table = (join_sets if axis["axis"] == "set" else join_nodes)(axis, list(known))
        joined = table.__getitem__
    return own[index], lambda group: joined(int(index[group]))[index]


def join_stretches(axis: Axis, labels: Sequence[Cell]) -> tuple[Floats, Distances]:
    """Of intervals and ranges: from the first start to the last end; what is missing goes with nothing."""
    stretch = stretch_reader(axis)
    low, high = np.array([stretch(label) if label else (0.0, 0.0) for label in labels]).T
    missing = np.array([not label for label in labels])

    def join_with(at: int) -> Floats:
        width = np.clip(np.maximum(high, high[at]) - np.minimum(low, low[at]), 0, 1)
        return np.where(missing == missing[at], width, 1.0)

    return high - low, join_with


def stretch_reader(axis: Axis) -> Callable[[str], tuple[float, float]]:
    """A reader of where a label starts and ends, as shares of its axis."""
    read: Callable[[str], tuple[float, ...]]
    if is_line(axis):
        (start, stop), read = read_domain(axis), partial(bound_interval, axis)
    else:
        start, stop, read = 0.0, len(axis["order"]) - 1.0, range_reader(axis["order"])

    def share(position: float) -> float:
        return (min(max(position, start), stop) - start) / ((stop - start) or 1.0)

    def stretch(label: str) -> tuple[float, float]:
        low, high, *_ = (start, stop) if label == EVERYTHING else read(label)
        return share(low), share(high)

    return stretch


def join_sets(axis: Axis, labels: Sequence[Cell]) -> tuple[Floats, Floats]:
    """Of sets: 0 where both labels are one and the same value, 1 otherwise.

    Two values without an order are at distance 1 (docs/explanation/claims/merge_tree.md).  How many a set prints is
    loss.
    """
    del axis
    own = np.array([0.0 if not label or is_one_value(label) else 1.0 for label in labels])
    width = np.ones((len(labels), len(labels)))
    np.fill_diagonal(width, own)
    return own, width


def is_one_value(label: str) -> bool:
    """Whether a label of a set stands for a single value."""
    values, rare = read_set(label)
    return label != EVERYTHING and len(values) + rare == 1


def join_nodes(axis: Axis, labels: Sequence[Cell]) -> tuple[Floats, Floats]:
    """Of nodes of a tree: that of the smallest published label that is seen to hold both, else everything.

    The file does not tell how labels are nested, unless they are written as prefixes (476**).
    """
    read = width_reader(axis)
    own = np.array([read(label) or 0.0 for label in labels])
    width = np.ones((len(labels), len(labels)))
    for at in np.argsort(-own, kind="stable").tolist():
        prefix = read_prefix(labels[at] or "")
        if prefix is not None:
            under = [i for i, label in enumerate(labels) if label and label.startswith(prefix)]
            width[np.ix_(under, under)] = own[at]
    np.fill_diagonal(width, own)
    return own, width

"""Icicle: a barcode as lines, one for each of some rows, each with the eps at which it hides among more and more.

In: a barcode.  Out: lines in the order in which rows merge, and how many classes there are at some eps; PRIVATE.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import kech
from kech.request.request import LARGEST_K

MOST_LINES, MOST_STEPS = 300, 120


def build_icicle(barcode: kech.WeightedBarcode) -> dict[str, Any]:
    """Every point as a line, as thick as its rows; of many points, rows at equal distances in the same order."""
    tree = barcode.filtration
    ends = np.cumsum(tree.points.weights[tree.order])
    chosen, rows = choose_lines(ends)
    lines = [{"rows": size, **list_growth(tree, int(tree.order[at]))} for at, size in zip(chosen, rows, strict=True)]
    return {
        "private": True,
        "rows": int(ends[-1]),
        "counted": barcode.counted,
        "sampled": len(chosen) < len(ends),
        "lines": lines,
        "at": sample_components(tree),
    }


def choose_lines(ends: NDArray[np.int64]) -> tuple[list[int], list[float]]:
    """Positions in the order of the tree, and the rows that each line stands for."""
    if len(ends) <= MOST_LINES:
        return list(range(len(ends))), np.diff(ends, prepend=0).astype(float).tolist()
    middles = (np.arange(MOST_LINES) + 0.5) * ends[-1] / MOST_LINES
    return np.searchsorted(ends, middles, "right").tolist(), [ends[-1] / MOST_LINES] * MOST_LINES


def list_growth(tree: Any, node: int) -> dict[str, Any]:
    """The eps at which the component of a point grows, and among how many it hides from then on."""
    hidden = tree.hidden_among
    eps, among = [float(tree.birth[node])], [int(hidden[node])]
    while among[-1] < LARGEST_K and tree.parent[node] >= 0:
        node = int(tree.parent[node])
        if hidden[node] > among[-1]:
            eps.append(float(tree.birth[node]))
            among.append(int(hidden[node]))
    return {"eps": eps, "among": among}


def sample_components(tree: Any) -> list[dict[str, Any]]:
    """The number of classes and the smallest one, at radii where something changes."""
    radii = np.unique(tree.birth[np.isfinite(tree.birth)])
    chosen = radii[np.unique(np.linspace(0, len(radii) - 1, MOST_STEPS).round().astype(int))]
    nodes = [tree.nodes_at(eps) for eps in chosen.tolist()]
    smallest = [int(tree.hidden_among[alive].min()) for alive in nodes]
    steps = zip(chosen.tolist(), nodes, smallest, strict=True)
    return [{"eps": eps, "classes": len(alive), "smallest": least} for eps, alive, least in steps]

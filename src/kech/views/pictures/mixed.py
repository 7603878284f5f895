"""Picture of a mixed lattice: at which node of levels, and from which eps on, k holds.  PRIVATE, drawn from the rows.

A line is a node: orange while a class has fewer than k, blue from the eps on at which none has.  Nodes with low levels
are at the bottom; dots are the minimal pairs, below which nothing reaches k, the diamond loses least of them.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from kech.views.pictures.bars import ENOUGH, FEW, NAMES, PanelPixels, place_boxes, point_beyond
from kech.views.pictures.picture import INK, PAPER, Floats, Marks, Panel, Picture, Scale, Shape, Size, find_ticks

NOTE = "A line is a node, with the levels of {columns}; eps is measured on {measured}."
PAIRS = "Dots: {count:,} minimal pairs, below which nothing reaches k. Diamond: the one that loses least."
BEST = "k = {k:,}: least loss {loss:.4f} at {place}, in {classes}"
NEVER = "k = {k:,} holds at no node and eps"
LEFT, RIGHT, TOP, BELOW = 84.0, 36.0, 16.0, 44.0  # pixels around the panel
LINE = 12.0  # pixels that the levels of a node need


def draw_mixed(mixed: Any, k: int, size: Size | None = None) -> Picture:
    """A line for each node, and the minimal pairs of a k."""
    starts = mixed.starts([k])[:, 0]
    nodes = list(product(*map(range, mixed.heights)))
    order = sorted(range(len(nodes)), key=lambda index: (sum(nodes[index]), nodes[index]))
    pairs = mixed.minimal_pairs(k, starts)
    wide, high = size or (760.0, 380.0)
    right = 1.08 * float(starts[np.isfinite(starts)].max(initial=0.0)) or 1.0
    x = Scale(0, right, "eps (radius)", find_ticks(0, right))
    y = Scale(0, 1, "", name_nodes([nodes[index] for index in order], high))
    pixels = PanelPixels(x, y, (wide, high))
    shapes, _ = place_boxes(node_boxes(starts[order], right), (0, 1), pixels, "nodes")
    reached = np.flatnonzero(np.isfinite(starts[order]))
    shapes += [point_beyond(pixels, (at + 0.5) / len(nodes), ENOUGH) for at in reached[-1:].tolist()]
    shapes += mark_pairs(pairs, {nodes[index]: at for at, index in enumerate(order)})
    panel = Panel(x, y, (LEFT, TOP, wide, high), shapes)
    legend = [
        (f"a class has fewer than {k:,}", [NAMES[FEW]], False),
        (f"all have {k:,} or more", [NAMES[ENOUGH]], False),
    ]
    about = f"{mixed.points.describe_rows()}; {mixed.nodes:,} nodes; k counts {mixed.points.counted}"
    width, height = LEFT + wide + RIGHT, TOP + high + BELOW
    return Picture(say_best(mixed, k, pairs), about, width, height, [panel], legend, explain(mixed, pairs))


def node_boxes(starts: Floats, right: float) -> Floats:
    """Two boxes a node, one above the other: before k holds, and from there on."""
    low = np.arange(len(starts)) / len(starts)
    sides = np.stack([low, low + 1 / len(starts)], axis=1)
    begin, number = np.minimum(starts, right), np.arange(len(starts))
    few = np.column_stack([begin * 0, begin, sides, begin * 0 + FEW, number])
    enough = np.column_stack([begin, begin * 0 + right, sides, begin * 0 + ENOUGH, number])
    return np.concatenate([few[begin > 0], enough[np.isfinite(starts)]])


def mark_pairs(pairs: Sequence[Any], place: dict[tuple[int, ...], int]) -> list[Shape]:
    """Dots at the minimal pairs, a diamond at the best of them."""
    if not pairs:
        return []
    at, eps = np.array([place[pair.levels] for pair in pairs]), np.array([pair.eps for pair in pairs])
    heights = (at + 0.5) / len(place)
    best = [min(range(len(pairs)), key=lambda index: (pairs[index].loss, pairs[index].levels))]
    dots: list[Shape] = [Marks("minimal pairs", eps, heights, INK, 3.0)]
    return [
        *dots,
        Marks("around the best", eps[best], heights[best], PAPER, 8.0, "D"),
        Marks("best", eps[best], heights[best], INK, 6.0, "D"),
    ]


def name_nodes(nodes: Sequence[tuple[int, ...]], high: float) -> list[tuple[float, str]]:
    """The levels of each node beside its line, where there is room; else how many there are."""
    if len(nodes) * LINE > high:
        return [(0.5, f"{len(nodes):,}\nnodes")]
    return [((at + 0.5) / len(nodes), ",".join(map(str, node))) for at, node in enumerate(nodes)]


def say_best(mixed: Any, k: int, pairs: Sequence[Any]) -> str:
    """The pair that loses least, in words."""
    if not pairs:
        return NEVER.format(k=k)
    best = min(pairs, key=lambda pair: (pair.loss, pair.levels))
    levels = ", ".join(f"{name} {level}" for name, level in zip(mixed.level_columns, best.levels, strict=True))
    place = f"{f'levels {levels} and ' * bool(levels)}eps {best.eps:.4g}"
    return BEST.format(k=k, loss=best.loss, place=place, classes=f"{best.classes:,} class{'es' * (best.classes != 1)}")


def explain(mixed: Any, pairs: Sequence[Any]) -> str:
    """What lines and marks are."""
    columns, measured = ", ".join(mixed.level_columns) or "no column", ", ".join(mixed.metric_columns)
    return "\n".join(
        [NOTE.format(columns=columns, measured=measured), *([PAIRS.format(count=len(pairs))] if pairs else [])]
    )

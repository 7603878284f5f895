"""Picture of lives: classes of rows as bars over versions.  PRIVATE, for it is drawn from the rows themselves.

A bar is as long as it lives and as high as the square root of its rows, orange where it carries fewer than k of them
at some version.  Where bars are many, those of equal life are one, with the rows of all.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.views.pictures.bars import (
    ENOUGH,
    FEW,
    MOST_LABELS,
    NAMES,
    ROOM_FOR_TEXT,
    PanelPixels,
    Sides,
    place_boxes,
    say_together,
)
from kech.views.pictures.picture import INK, Area, Curve, Floats, Panel, Picture, Scale, Shape, Size, Words, letters
from kech.views.pictures.zigzag import HALF, LEFT, RIGHT, find_bar_of_counts

Ints = NDArray[np.int64]

TITLE = "Lives of classes over versions"
PLACED = "One placing that fits the files, others can have more or fewer rows together:"
MANY = 40  # bars; when there are more, those of equal life are drawn as one
GAP = 0.12  # of the height of a bar, between it and the next
SEEN, MOST_SEEN = 0.005, 0.2  # share of the panel: an unsafe bar has so much at least, all of them no more by that
FEW_ROWS = 0.02  # share of the lower panel: rows that are not safe have so much at least
LEGEND = [
    ("fewer than k rows at some version", [NAMES[FEW]], False),
    ("k rows or more throughout", [NAMES[ENOUGH]], False),
]


def draw_lives(lives: Any, size: Size | None = None) -> Picture:
    """Bars over versions; below them the rows of each version."""
    wide, high = size or (float(np.clip(48 * len(lives.counts), 890, 1880)), 460.0)
    bars, are_alike = gather_bars(lives)
    x = name_versions(len(lives.counts), wide)
    panel = draw_panel(lives, bars, x, (LEFT, 22.0, wide, high))
    rows = draw_rows(lives, x, (LEFT, high + 34, wide, high / 5))
    known = {"row": lives.rows, "version": len(lives.counts), "bar": len(lives.zigzag.birth)}
    note = "A bar is a class of rows, as high as the square root of the fewest rows it carries."
    if lives.undecided:
        note = f"{PLACED} {lives.undecided:,} times a row fits several classes.\n{note}"
    alike = " Classes of equal life are one bar: classes / rows of all." if are_alike else ""
    return Picture(
        TITLE,
        ", ".join(f"{count:,} {name}{'s' * (count != 1)}" for name, count in known.items()),
        LEFT + wide + RIGHT,
        high * 1.2 + 34 + 44,
        [panel, rows],
        LEGEND,
        "\n".join(filter(None, [note + alike, panel.note])),
    )


def gather_bars(lives: Any) -> tuple[Ints, bool]:
    """Birth, death, shade, number of bars and rows of what is drawn as one; and whether that is several bars."""
    zigzag = lives.zigzag
    if len(zigzag.birth) <= MANY:
        shade = np.where(lives.safe, ENOUGH, FEW)
        alone = np.stack([zigzag.birth, zigzag.death, shade, np.ones_like(shade), zigzag.weights], axis=1)
        return alone[order_bars(alone)], False
    lines = [
        (2 * line.birth - 2, 2 * line.death - 2, ENOUGH if line.safe else FEW, line.bars, line.rows)
        for line in lives.summary()
    ]
    alike = np.array(lines).astype(np.int64)
    return alike[order_bars(alike)], True


def order_bars(bars: Ints) -> Ints:
    """The order of bars in the picture: by birth, then the longest first, then the one with most rows."""
    return np.lexsort((-bars[:, 4], -bars[:, 1], bars[:, 0]))


def name_versions(versions: int, width: float) -> Scale:
    """Versions from 1 on, some left out where they are crowded."""
    low, high = 1 - HALF, versions + HALF
    every = int(np.ceil(letters(f"{versions:,}00") * (high - low) / width))
    return Scale(low, high, "version", [(float(at), f"{at:,}") for at in range(1, versions + 1, every)])


def draw_panel(lives: Any, bars: Ints, x: Scale, area: Area) -> Panel:
    """The bars, the first at the top, with their rows where there is room."""
    y = Scale(0.0, 1.0, ticks=[(0.5, "classes")])
    pixels = PanelPixels(x, y, area[2:])
    boxes = bar_boxes(bars)
    shapes, merged = place_boxes(boxes, (0, 1), pixels, "classes")
    title = f"k = {lives.k:,}: " + say_joint(lives)
    return Panel(
        x,
        y,
        area,
        [*shapes, *label_bars(bars, boxes, pixels)],
        title,
        say_together(merged),
        has_bottom=False,
        has_side=False,
    )


def say_joint(lives: Any) -> str:
    """How many rows stay together through all versions."""
    if lives.at_least >= lives.k:
        return f"every row of several versions stays together with {lives.joint_k:,} or more"
    figure = f"{lives.joint_k:,}" if lives.at_least == lives.joint_k else f"{lives.at_least:,} to {lives.joint_k:,}"
    return f"{lives.below:,} of {lives.rows:,} rows stay together with fewer (joint k {figure})"


def bar_boxes(bars: Ints) -> Sides:
    """A box for each bar, from top to bottom."""
    high = np.sqrt(bars[:, 4])
    few = bars[:, 2] == FEW
    high[few] = np.maximum(high[few], high.sum() * min(SEEN, MOST_SEEN / max(few.sum(), 1)))
    top = 1 - (np.cumsum(high) - high) / max(high.sum(), 1)
    low = top - high * (1 - GAP) / max(high.sum(), 1)
    return np.stack(
        [bars[:, 0] / 2 + 1 - HALF, bars[:, 1] / 2 + 1 + HALF, low, top, bars[:, 2], np.arange(len(bars))], axis=1
    )


def label_bars(bars: Ints, boxes: Sides, pixels: PanelPixels) -> list[Words]:
    """Rows of each bar; where it is several, their number before it."""
    texts = [f"{rows:,}" if count == 1 else f"{count:,} / {rows:,}" for count, rows in bars[:, 3:].tolist()]
    wide, high = (boxes[:, 1] - boxes[:, 0]) * pixels.wide, (boxes[:, 3] - boxes[:, 2]) * pixels.high
    fits = [i for i, text in enumerate(texts) if wide[i] > 8 + letters(text) and high[i] > ROOM_FOR_TEXT]
    largest = sorted(fits, key=lambda i: -high[i])[:MOST_LABELS]
    return [Words(boxes[i, 0] + 4 / pixels.wide, boxes[i, 2:4].mean(), texts[i], INK, "start") for i in largest]


def draw_rows(lives: Any, x: Scale, area: Area) -> Panel:
    """Rows of each version, and those of bars that are not safe."""
    bar, at = find_bar_of_counts(lives.zigzag)
    rows, positions = lives.zigzag.rows.astype(float), len(lives.zigzag.classes)
    every, unsafe = (count_rows(at, weights, positions) for weights in (rows, rows * ~lives.safe[bar]))
    most = int(every.max(initial=1))
    y = Scale(0, most * 1.1, "rows", [(0, "0"), (most, f"{most:,}")])
    edges = np.repeat(np.arange(len(every) + 1) + 0.5, 2)[1:-1].clip(x.low, x.high)
    return Panel(x, y, area, [draw_steps(edges, every, y, ENOUGH), draw_steps(edges, unsafe, y, FEW)], is_main=False)


def count_rows(at: Ints, rows: Floats, positions: int) -> Floats:
    """Rows at each version: every other position."""
    return np.bincount(at, rows, positions)[::2].astype(np.float64)


def draw_steps(edges: Floats, counts: Floats, y: Scale, shade: int) -> Shape:
    """An area with one height for each version; a few rows are high enough to be seen."""
    heights = np.repeat(np.maximum(counts, (counts > 0) * y.high * FEW_ROWS), 2)
    return Curve("number of rows", edges, heights, NAMES[shade], floor=0.0)

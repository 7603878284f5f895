"""Plot of a plane: rows as points and classes as boxes on two columns.  PRIVATE, for it is drawn from the rows.

In: points and boxes.  Out: matplotlib axes, or a file (.svg, .png, .html).
"""

from os import PathLike
from typing import Any

import numpy as np

from kech.axes.rulers import DAY, Floats, format_date
from kech.views.plot import COLOURS, FEW, INK, PAPER, load_matplotlib, save_figure

TITLE = "Rows and classes on two columns"
EDGE = "#1f5a8a"
LONGEST = 12  # letters of a value on an axis


def draw_plane(plane: Any, *, ax: Any = None) -> Any:
    """Boxes of the classes over the points: the matplotlib axes."""
    library = load_matplotlib()
    drawn = library.figure.Figure(figsize=(8, 6), dpi=100, facecolor=PAPER, layout="constrained").subplots()
    drawn = drawn if ax is None else ax
    boxes, points = np.array(plane.boxes), np.array(plane.points)
    shade = {"color": EDGE, "alpha": float(np.clip(120 / len(boxes), 0.12, 0.8))}
    drawn.add_collection(library.collections.LineCollection(outlines(boxes), **shade))
    for marker, tips in arrow_tips(boxes).items():
        drawn.scatter(*tips.T, s=30, marker=marker, linewidths=0, clip_on=False, **shade)
    drawn.set(xlim=(plane.x.low, plane.x.high), ylim=(plane.y.low, plane.y.high))
    drawn.scatter(points[:, 0], points[:, 1], s=8 + 3 * np.sqrt(points[:, 2]), color=INK, alpha=0.6, linewidths=0)
    for side, axis in ((drawn.xaxis, plane.x), (drawn.yaxis, plane.y)):
        name_axis(side, axis, library)
    drawn.set_title(f"{plane.classes:,} classes, the smallest of {plane.smallest:,} rows", loc="left", fontsize=10)
    drawn.set_title("PRIVATE", loc="right", color=COLOURS[FEW], weight="bold")
    drawn.spines[["top", "right"]].set_visible(False)
    return drawn


def outlines(boxes: Floats) -> list[list[tuple[float, float]]]:
    """The sides of boxes that are not open."""
    lines = []
    for left, right, bottom, top, *_, opened in boxes.tolist():
        corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
        sides = {4: corners[:2], 2: corners[1:3], 8: corners[2:], 1: [corners[3], corners[0]]}
        lines += [side for bit, side in sides.items() if not int(opened) & bit]
    return lines


def arrow_tips(boxes: Floats) -> dict[str, Floats]:
    """In the middle of every open side an arrow: the label has no end there."""
    left, right, bottom, top = boxes[:, :4].T
    across, up, opened = (left + right) / 2, (bottom + top) / 2, boxes[:, 6].astype(int)
    tips = {"<": (left, up), ">": (right, up), "v": (across, bottom), "^": (across, top)}
    return {
        marker: np.stack(place, axis=1)[(opened & bit) > 0]
        for bit, (marker, place) in zip((1, 2, 4, 8), tips.items(), strict=True)
    }


def name_axis(side: Any, axis: Any, library: Any) -> None:
    """The column below its values: by name where they have one, dates as dates; a dollar sign is no formula."""
    side.set_label_text(axis.column, parse_math=False)
    if axis.ticks:
        places, names = zip(*axis.ticks, strict=True)
        side.set_ticks(places, [name[:LONGEST] for name in names], parse_math=False)
    elif axis.axis == "date":
        side.set_major_formatter(library.ticker.FuncFormatter(lambda seconds, _: format_date(seconds, DAY)))


def save_plane(plane: Any, path: str | PathLike[str]) -> None:
    """Draw into a file, whole or not at all."""
    save_figure(lambda: draw_plane(plane).figure, path, TITLE)

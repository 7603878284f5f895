"""Plot of a plane: rows as points and classes as boxes on two columns.  PRIVATE, for it is drawn from the rows.

In: points and boxes.  Out: matplotlib axes, or a file (.svg, .png, .html).
"""

from os import PathLike
from typing import Any

import numpy as np

from kech.plot import COLOURS, FEW, INK, PAPER, load_matplotlib, save_figure
from kech.rulers import DAY, format_date

TITLE = "Rows and classes on two columns"
EDGE = "#1f5a8a"
LONGEST = 12  # letters of a value on an axis


def draw_plane(plane: Any, *, ax: Any = None) -> Any:
    """Boxes of the classes over the points: the matplotlib axes."""
    library = load_matplotlib()
    drawn = library.figure.Figure(figsize=(8, 6), dpi=100, facecolor=PAPER, layout="constrained").subplots()
    drawn = drawn if ax is None else ax
    boxes, points = np.array(plane.boxes), np.array(plane.points)
    patches = [library.patches.Rectangle((x, y), right - x, top - y) for x, right, y, top in boxes[:, :4]]
    shade = {"facecolor": "none", "edgecolor": EDGE, "alpha": float(np.clip(120 / len(boxes), 0.12, 0.8))}
    drawn.add_collection(library.collections.PatchCollection(patches, **shade))
    drawn.scatter(points[:, 0], points[:, 1], s=8 + 3 * np.sqrt(points[:, 2]), color=INK, alpha=0.6, linewidths=0)
    for side, axis in ((drawn.xaxis, plane.x), (drawn.yaxis, plane.y)):
        name_axis(side, axis, library)
    drawn.set_title(f"{plane.classes:,} classes, the smallest of {plane.smallest:,} rows", loc="left", fontsize=10)
    drawn.set_title("PRIVATE", loc="right", color=COLOURS[FEW], weight="bold")
    drawn.spines[["top", "right"]].set_visible(False)
    return drawn


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

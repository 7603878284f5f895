"""Picture of a plane: rows as points and classes as boxes on two columns.  PRIVATE, for it is drawn from the rows."""

from typing import Any

import numpy as np

from kech.views.pictures.picture import (
    DEEP,
    INK,
    Floats,
    Marks,
    Panel,
    Picture,
    Scale,
    Segments,
    Shape,
    Size,
    find_ticks,
    letters,
)

TITLE = "Rows and classes on two columns"
LONGEST = 12  # letters of a value on an axis
RIGHT, BELOW = 24.0, 48.0  # pixels


def draw_plane(plane: Any, size: Size | None = None) -> Picture:
    """Boxes of the classes over the points."""
    wide, high = size or (680.0, 520.0)
    boxes, points = np.array(plane.boxes), np.array(plane.points)
    opacity = float(np.clip(120 / len(boxes), 0.25, 0.8))
    x, y = name_axis(plane.x), name_axis(plane.y)
    shapes: list[Shape] = [Segments("classes", outlines(boxes), DEEP, opacity)]
    for arrow, (across, up) in arrow_tips(boxes).items():
        shapes.append(Marks("open", across, up, DEEP, 4.0, arrow, opacity))
    radius = 1.6 + 0.9 * np.sqrt(np.sqrt(points[:, 2]))
    shapes.append(Marks("rows", points[:, 0], points[:, 1], INK, radius, opacity=0.6))
    left = 48 + max((letters(text) for _, text in y.ticks), default=0)
    about = f"{plane.classes:,} classes, the smallest of {plane.smallest:,} rows"
    panel = Panel(x, y, (left, 22.0, wide, high), shapes, about)
    return Picture(TITLE, f"{plane.x.column} and {plane.y.column}", left + wide + RIGHT, high + 22 + BELOW, [panel])


def outlines(boxes: Floats) -> Floats:
    """The sides of boxes that are not open: x and y of both ends."""
    left, right, bottom, top = boxes[:, :4].T
    opened = boxes[:, 6].astype(int)
    sides = {1: (left, bottom, left, top), 2: (right, bottom, right, top)}
    sides |= {4: (left, bottom, right, bottom), 8: (left, top, right, top)}
    return np.concatenate([np.stack(ends, axis=1)[(opened & bit) == 0] for bit, ends in sides.items()])


def arrow_tips(boxes: Floats) -> dict[str, tuple[Floats, Floats]]:
    """In the middle of every open side an arrow: the label has no end there."""
    left, right, bottom, top = boxes[:, :4].T
    across, up, opened = (left + right) / 2, (bottom + top) / 2, boxes[:, 6].astype(int)
    tips = {"<": (left, up), ">": (right, up), "v": (across, bottom), "^": (across, top)}
    has_arrow = [(opened & bit) > 0 for bit in (1, 2, 4, 8)]
    return {arrow: (x[where], y[where]) for (arrow, (x, y)), where in zip(tips.items(), has_arrow, strict=True)}


def name_axis(axis: Any) -> Scale:
    """The column beside its values: by name where they have one, dates as dates."""
    ticks = [(position, name[:LONGEST]) for position, name in axis.ticks]
    return Scale(axis.low, axis.high, axis.column, ticks or find_ticks(axis.low, axis.high, dates=axis.axis == "date"))

"""Bars: boxes of a barcode in a panel, the largest one by one, those below a pixel together in one image.

In: boxes.  Out: shapes, and how many bars are in an image alone.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.views.pictures.picture import Boxes, Floats, Image, Marks, Scale, Shape

Sides = Floats  # a row each: left, right, low, high, shade, number of the bar it is a part of

FEW, FEW_LOOSE, ENOUGH, ENOUGH_LOOSE, HOLE, REGIME, LEFT_OUT = range(7)  # loose: not yet a full simplex
LOOSE = (FEW_LOOSE, ENOUGH_LOOSE)
ORANGES, BLUES, DARKS, LIGHT = (
    [[230, 115, 20], [250, 210, 175]],
    [[125, 160, 195], [208, 221, 233]],
    [[118] * 3, [31, 90, 138]],
    [[190] * 3],
)
COLOURS = np.array([*ORANGES, *BLUES, *DARKS, *LIGHT]) / 255
NAMES = ["#{:02x}{:02x}{:02x}".format(*colour) for colour in [*ORANGES, *BLUES, *DARKS, *LIGHT]]
HOLES_FROM = 1.08  # bars lie on [0, 1] of the vertical axis, holes above, regimes below
REGIMES = (-0.13, -0.06)
REGIME_AT = (REGIMES[0] + REGIMES[1]) / 2
MOST_BOXES = 2000  # drawn one by one
MOST_LABELS = 80
ROOM_FOR_TEXT, ROOM_FOR_LABEL = 12.0, 50.0  # pixels
IMAGE = (800, 1200)  # cells, at most


class PanelPixels:
    """How large a panel is: pixels of one unit along each axis."""

    def __init__(self, x: Scale, y: Scale, size: tuple[float, float]) -> None:
        self.x, self.y, self.size = x, y, size
        self.wide, self.high = size[0] / (x.high - x.low), size[1] / (y.high - y.low)

    @property
    def has_regime_text(self) -> bool:
        """Whether regimes are high enough to be named."""
        return (REGIMES[1] - REGIMES[0]) * self.high > ROOM_FOR_TEXT


def place_boxes(boxes: Sides, span: tuple[float, float], pixels: PanelPixels, name: str) -> tuple[list[Shape], int]:
    """Boxes on a part of the vertical axis, as shapes; how many bars are in an image alone."""
    boxes = boxes.copy()
    boxes[:, 1] = boxes[:, 1].clip(max=pixels.x.high)
    boxes[:, 2:4] = span[0] + boxes[:, 2:4] * (span[1] - span[0])
    width, height = (boxes[:, 1] - boxes[:, 0]) * pixels.wide, (boxes[:, 3] - boxes[:, 2]) * pixels.high
    large = np.flatnonzero((width >= 1) & (height >= 1) | (len(boxes) < MOST_BOXES // 4))
    large = large[np.argsort(-(width * height)[large], kind="stable")[:MOST_BOXES]]
    rest, large_boxes = np.delete(boxes, large, axis=0), boxes[large]
    large_boxes[:, 1] = np.maximum(large_boxes[:, 1], large_boxes[:, 0] + 1.5 / pixels.wide)
    shades = large_boxes[:, 4].astype(int)
    colours = [NAMES[shade] for shade in shades.tolist()]
    shapes: list[Shape] = [merge_boxes(rest, span, pixels, f"{name} together")] if len(rest) else []
    shapes.append(Boxes(name, large_boxes[:, :4], colours, np.isin(shades, LOOSE)))
    return shapes, len(np.setdiff1d(rest[:, 5], large_boxes[:, 5]))


def merge_boxes(boxes: Sides, span: tuple[float, float], pixels: PanelPixels, name: str) -> Image:
    """Small boxes melt into an image; roots let a few rows among thousands be seen."""
    reach = (pixels.x.low, pixels.x.high, *span)
    high = (span[1] - span[0]) * pixels.high
    cells = min(IMAGE[0], int(2 * high) + 1), min(IMAGE[1], int(2 * pixels.size[0]) + 1)
    shares = np.stack([coverage(boxes[boxes[:, 4] == shade], reach, cells) for shade in range(len(COLOURS))], axis=-1)
    total = shares.sum(axis=-1, keepdims=True)
    shares[..., :ENOUGH] **= 0.5
    colour = shares @ COLOURS / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-9)
    picture = np.concatenate([colour, np.minimum(total, 1) ** 0.5], axis=-1)
    return Image(name, picture.clip(0, 1), reach)


def coverage(boxes: Sides, reach: tuple[float, ...], shape: tuple[int, int]) -> Floats:
    """How much of each cell of the image the boxes cover.

    A box is four quadrants with signs, a quadrant is the running sum of its corner along both axes, and a corner
    inside a cell is shared with the next cells.  So the work is one pass over the corners.
    """
    rows, columns = shape
    sums = np.zeros((rows + 2) * (columns + 2))
    across = np.clip((boxes[:, :2] - reach[0]) / (reach[1] - reach[0]), 0, 1) * columns
    upward = np.clip((boxes[:, 2:4] - reach[2]) / (reach[3] - reach[2]), 0, 1) * rows
    for i, j, right, up in np.ndindex(2, 2, 2, 2):
        x, y = np.floor(across[:, i]), np.floor(upward[:, j])
        part = np.abs(1 - right - across[:, i] + x) * np.abs(1 - up - upward[:, j] + y)
        cell = (y + up) * (columns + 2) + x + right
        sums += (-1) ** (i + j) * np.bincount(cell.astype(np.int64), part, len(sums))
    return sums.reshape(rows + 2, columns + 2).cumsum(0).cumsum(1)[:rows, :columns].clip(0)


def stack_bars(thickness: NDArray[Any]) -> Floats:
    """The edges of bars that fill the height from 1 down to 0: the first is the top of the first bar."""
    return np.asarray(1 - np.append(0, np.cumsum(thickness)) / thickness.sum())


def point_beyond(pixels: PanelPixels, height: float, shade: int) -> Marks:
    """A bar without end goes on beyond the right margin."""
    at = np.array([pixels.x.high + 5 / pixels.wide])
    return Marks("endless", at, np.array([height]), NAMES[shade], 5.0, ">")


def scale_counts(most: int, height: float) -> Scale:
    """A side for numbers of classes, with a log scale where they are many."""
    is_log = most > 30
    label = ("classes, log" if is_log else "classes") if height > ROOM_FOR_LABEL else ""
    ticks = [(tick, f"{tick:,}") for tick in sorted({1, most})]
    return Scale(0.5 if is_log else 0, most * 1.1, label, ticks, is_log=is_log)


def say_people(people: int) -> str:
    """So many people in words."""
    return "1 person" if people == 1 else f"{people:,} people"


def say_together(bars: int) -> str:
    """What is not drawn one by one is said."""
    return f"The {bars:,} smallest bars are drawn together, as an image." if bars else ""

"""Pictures of a released file: class sizes, the barcode of its labels, and columns before and after.

They are drawn from public figures, except those of a comparison, whose report is PRIVATE as a whole.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import ceil
from typing import Any

import numpy as np

from kech.views.markup import count, shorten
from kech.views.pictures.picture import BAR, DEEP, GREY, Boxes, Panel, Picture, Scale, Shape, Size, Words, letters

SMALL = 9.5  # font, for a picture as wide as a telephone
WIDE = 310.0  # of a panel
MOST_SIZES = 24  # class sizes drawn one by one
LINES = 230  # of a barcode
RADII = (0, 0.1, 0.2, 0.3, 0.4, 0.5)
LONGEST = 0.5  # where everything is together
LETTERS_BESIDE = 17  # letters that fit beside a bar


def draw_sizes(sizes: Mapping[int, int], counted: str = "rows", size: Size | None = None) -> Picture:
    """How many classes have how many rows, or people."""
    bins, (wide, high) = bin_sizes(sizes), size or (WIDE, 146.0)
    names = [name_size(*ends) for ends in bins]
    positions, most = min(sizes) + np.arange(len(bins)), max(bins.values())
    half = 0.5 - min(0.05, 0.02 * len(bins) ** 0.5)
    sides = np.stack([positions - half, positions + half, positions * 0.0, list(bins.values())], axis=1)
    titles = [
        f"{count(classes)} classes of {name} {counted}" for name, classes in zip(names, bins.values(), strict=True)
    ]
    every = ceil((max(letters(name, SMALL) for name in names) + 4) * len(bins) / wide)
    ticks = [(float(at), name) for at, name in list(zip(positions, names, strict=True))[::every]]
    marks = (0, most) if most < 2 else (0, most // 2, most)
    y = Scale(0, most, "", [(mark, count(mark)) for mark in marks])
    x = Scale(positions[0] - 0.5, positions[-1] + 0.5, f"{counted} in a class", ticks)
    left = 14 + letters(count(most), SMALL)
    panel = Panel(
        x,
        y,
        (left, 10.0, wide, high),
        [Boxes("sizes", sides, [BAR] * len(bins), titles=titles)],
        has_side=False,
        has_grid=True,
    )
    ends = (count(min(sizes)), count(max(sizes)))
    about = f"{count(sum(sizes.values()))} classes; the smallest has {ends[0]} {counted}, the largest {ends[1]}."
    return Picture("Class sizes", about, left + wide + 8, high + 40, [panel], is_private=False, font=SMALL)


def bin_sizes(sizes: Mapping[int, int]) -> dict[tuple[int, int], int]:
    """Classes by size; in bins that double where sizes are many."""
    if max(sizes) - min(sizes) < MOST_SIZES:
        return {(size, size): sizes.get(size, 0) for size in range(min(sizes), max(sizes) + 1)}
    start, bins = min(sizes), dict[tuple[int, int], int]()
    low, width = start, 1
    while low <= max(sizes):
        bins[low, low + width - 1] = sum(classes for size, classes in sizes.items() if low <= size < low + width)
        low, width = low + width, max(1, low + width - start)
    return bins


def name_size(low: int, high: int) -> str:
    """A size, or from which to which."""
    return count(low) if low == high else f"{count(low)}–{count(high)}"


def draw_released_barcode(figures: Mapping[str, Any]) -> Picture:
    """Each bar from its birth to its death, as thick as its rows, the sharpest classes lowest."""
    picked = pick_bars(figures["bars"])
    sides = [[bar["birth"], LONGEST if bar["death"] is None else bar["death"], low, high] for bar, low, high in picked]
    boxes = np.array(sides, float)
    boxes[:, 1] = np.maximum(boxes[:, 1], boxes[:, 0] + 1.5 * LONGEST / WIDE)
    boxes[:, 3] = np.maximum(boxes[:, 3], boxes[:, 2] + 0.8)
    colours = [DEEP if bar["death"] is None else BAR for bar, _, _ in picked]
    x = Scale(0, LONGEST, "eps, half the longest side", [(eps, f"{eps:g}") for eps in RADII])
    panel = Panel(x, Scale(0, LINES, "rows"), (24.0, 10.0, WIDE + 10, float(LINES)), [Boxes("bars", boxes, colours)])
    of = "" if figures["drawn"] == figures["classes"] else f" of {count(figures['classes'])}, every n-th by its labels"
    about = (
        f"{count(figures['drawn'])} classes{of}: one bar each, as thick as its rows, the sharpest class lowest; where "
        "bars are too thin for that, the longest of each line is drawn. The dark one never ends."
    )
    title = "Barcode of the released table"
    return Picture(title, about, WIDE + 50, LINES + 44, [panel], is_private=False, font=SMALL)


def pick_bars(bars: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], float, float]]:
    """Bars by birth, each with the heights it lies between; of those that share a line, the longest."""
    ends = list(accumulate((bar["weight"] for bar in bars), initial=0))
    picked: dict[int, tuple[float, Mapping[str, Any], float, float]] = {}
    for bar, start, stop in zip(bars, ends, ends[1:], strict=False):
        low, high = LINES * start / ends[-1], LINES * stop / ends[-1]
        length = LONGEST if bar["death"] is None else bar["death"] - bar["birth"]
        if int(low) not in picked or length > picked[int(low)][0]:
            picked[int(low)] = (length, bar, low, high)
    return [(bar, low, high) for _, bar, low, high in picked.values()]


def draw_pair(bins: Sequence[Mapping[str, Any]], title: str) -> Picture:
    """Shares before and after, part by part."""
    most = max((share for part in bins for share in (part["before"], part["after"])), default=0) or 1
    positions, shapes = -np.arange(len(bins)), list[Shape]()
    for when, shift, colour in (("before", 0.05, GREY), ("after", -0.32, BAR)):
        shares = np.array([part[when] for part in bins])
        sides = np.stack(
            [shares * 0, np.maximum(shares, 0.004 * most), positions + shift, positions + shift + 0.3], axis=1
        )
        titles = [f"{part['label']}: {when} {part[when]:.1%}" for part in bins]
        shapes.append(Boxes(when, sides, [colour] * len(bins), titles=titles))
    shapes += [
        Words(most * 1.45, at, f"{part['before']:.1%} → {part['after']:.1%}", anchor="end")
        for at, part in zip(positions.tolist(), bins, strict=True)
    ]
    names = [(float(at), shorten(part["label"], LETTERS_BESIDE)) for at, part in zip(positions, bins, strict=True)]
    high = 15.0 * len(bins)
    y = Scale(0.5 - len(bins), 0.5, ticks=names)
    panel = Panel(Scale(0, most * 1.45), y, (104.0, 2.0, 254.0, high), shapes, has_bottom=False, has_side=False)
    return Picture(title, "Share of the rows before (grey) and after (blue).", 360.0, high + 6, [panel], font=SMALL)

"""Picture of a zig-zag: bars along a path of lattice nodes.  PRIVATE, for it is drawn from the rows themselves.

A bar is as long as it lives, and orange where it carries fewer than k people, or rows where every row is another
person.  Each position is half a step wide, with its levels below it; what lies between two nodes stands between them.
Only levels, rows and counts are drawn.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.request import check_k
from kech.views.markup import shorten
from kech.views.pictures.bars import (
    ENOUGH,
    FEW,
    HOLE,
    HOLES_FROM,
    MOST_LABELS,
    NAMES,
    REGIME,
    REGIME_AT,
    REGIMES,
    PanelPixels,
    Sides,
    place_boxes,
    say_together,
    scale_counts,
    stack_bars,
)
from kech.views.pictures.picture import (
    GREY,
    INK,
    PAPER,
    Area,
    Curve,
    Floats,
    Panel,
    Picture,
    Scale,
    Shape,
    Size,
    Words,
)

Ints = NDArray[np.int64]

TITLE = "Zig-zag barcode: how classes split and merge along a path"
SIGNS = {"union": "∪", "intersection": "∩"}
MANY = 200  # bars; when there are more, those that live alike are drawn thinner
HALF = 0.25  # a position reaches so far to either side
LEFT, RIGHT, LETTER = 84.0, 24.0, 6.5  # pixels
MOST_NAMES = 90  # letters of the names of columns


def draw_zigzag(zigzag: Any, k: int = 2, size: Size | None = None) -> Picture:
    """Holes, bars and regimes; below them the number of classes and the path."""
    check_k(k)
    wide, high = size or (float(np.clip(60 * len(zigzag.path), 890, 1880)), 420.0)
    x = name_positions(zigzag, wide)
    panel = draw_panel(zigzag, k, x, (LEFT, 22.0, wide, high))
    counts = draw_counts(zigzag, k, x, (LEFT, high + 34, wide, high / 5))
    below = 44 + (LETTER * max(len(name) for _, name in x.ticks) if x.upright else 0)
    rows = int(zigzag.rows[find_bar_of_counts(zigzag)[1] == 0].sum())
    known = {"row": rows, "node": len(zigzag.path), "bar": len(zigzag.birth), "hole": int(zigzag.holes.sum())}
    counted = f"numbers in bars count the {zigzag.counted} from there on"
    note = f"A bar is a class of rows, the thicker the more rows; {counted}."
    note += " Bars that live alike are drawn thinner." * (len(zigzag.birth) > MANY)
    return Picture(
        TITLE,
        ", ".join(f"{count:,} {name}{'s' * (count != 1)}" for name, count in known.items()),
        LEFT + wide + RIGHT,
        high * 1.2 + 34 + below,
        [panel, counts],
        name_colours(zigzag.counted),
        "\n".join(filter(None, [note, panel.note])),
    )


def name_colours(counted: str) -> list[tuple[str, list[str], bool]]:
    """Colours in words."""
    names = {f"fewer than k {counted}": FEW, f"k {counted} or more": ENOUGH}
    names |= {"holes of a union": HOLE, "k-anonymous node": REGIME}
    return [(name, [NAMES[shade]], False) for name, shade in names.items()]


def name_positions(zigzag: Any, width: float) -> Scale:
    """Levels below the nodes and a sign between them, upright where they are crowded, some left out where too many."""
    names = [",".join(map(str, node)) for node in zigzag.path]
    low, high = -HALF, len(names) - 1 + HALF
    step = width / (high - low)
    is_flat = step / 2 > 4 + LETTER * max(map(len, names))
    every = 1 if is_flat else int(np.ceil(14 / step))
    ticks = [(float(node), names[node]) for node in range(0, len(names), every)]
    minor = [(node + 0.5, SIGNS[zigzag.through]) for node in range(len(names) - 1) if step > 28]
    label = f"levels of {shorten(', '.join(zigzag.columns), MOST_NAMES)}; between them the {zigzag.through}"
    return Scale(low, high, label, ticks, minor, upright=not is_flat)


# -- panels ----------------------------------------------------------------------------------------------


def draw_panel(zigzag: Any, k: int, x: Scale, area: Area) -> Panel:
    """Holes above, bars in the middle, regimes below."""
    top, regimes = HOLES_FROM + 0.15, zigzag.regimes(k)
    holes = f"holes\nH1: {zigzag.holes.sum():,}" if zigzag.holes.any() else "no holes"
    y = Scale(REGIMES[0], top, ticks=[(REGIME_AT, "regimes"), (0.5, "classes"), ((HOLES_FROM + top) / 2, holes)])
    pixels = PanelPixels(x, y, area[2:])
    bars, merged = place_boxes(bar_boxes(zigzag, k), (0, 1), pixels, "classes")
    regime_shapes = draw_regimes(regimes, zigzag.smallest_k[::2], pixels)
    shapes = [*shade_regimes(regimes), *bars, *label_bars(zigzag, pixels), *draw_holes(zigzag, pixels), *regime_shapes]
    first = f"first at node {regimes[0].start}" if regimes else "at no node"
    note = say_together(merged)
    return Panel(x, y, area, shapes, f"k = {k}: {first}", note, has_bottom=False, has_side=False)


def bar_boxes(zigzag: Any, k: int) -> Sides:
    """A box for each stretch of a bar on which it stays below k, or at k and above."""
    shade = np.where(zigzag.hidden_among < k, FEW, ENOUGH)
    first, last = find_runs(zigzag, shade)
    bar, at = find_bar_of_counts(zigzag)
    low, high = heights(zigzag)
    sides = at[first] / 2 - HALF, at[last] / 2 + HALF, low[bar[first]], high[bar[first]]
    return np.stack([*sides, shade[first], bar[first]], axis=1)


def find_bar_of_counts(zigzag: Any) -> tuple[Ints, Ints]:
    """For each number of rows: the bar that carries it, and the position in half steps."""
    length = np.diff(zigzag.begin)
    at = np.arange(len(zigzag.rows)) - np.repeat(zigzag.begin[:-1] - zigzag.birth, length)
    return np.repeat(np.arange(len(length)), length), at


def find_runs(zigzag: Any, value: Ints) -> tuple[Ints, Ints]:
    """The first and last index of each run of one value inside one bar."""
    fresh = np.diff(value, prepend=-1) != 0
    fresh[zigzag.begin[:-1]] = True
    first = np.flatnonzero(fresh)
    return first, np.append(first[1:], len(value)) - 1


def heights(zigzag: Any) -> tuple[Floats, Floats]:
    """Lower and upper edge of each bar, the first at the top; w rows are 1 + log2(w) thick.

    Where bars are many, those that begin and end together share the cube root of that: thousands of short bars would
    hide the few long ones.
    """
    thickness = 1 + np.log2(zigzag.weights)
    if len(thickness) > MANY:
        first = np.flatnonzero(np.diff(zigzag.birth, prepend=-1) | np.diff(zigzag.death, prepend=-1))
        alike = np.add.reduceat(thickness, first)
        thickness /= np.repeat(alike ** (2 / 3), np.diff(first, append=len(thickness)))
    edges = stack_bars(thickness)
    return edges[1:], edges[:-1]


def draw_holes(zigzag: Any, pixels: PanelPixels) -> list[Shape]:
    """Holes of each union, the higher the more, with their number where there is room."""
    at, top = np.flatnonzero(zigzag.holes), pixels.y.high
    count = zigzag.holes[at]
    height = (1 + np.log2(count)) / (1 + np.log2(count.max(initial=1)))
    low = np.zeros(len(at))
    boxes = np.stack([at / 2 - HALF, at / 2 + HALF, low, 0.6 * height, low + HOLE, at], axis=1)
    shapes, _ = place_boxes(boxes, (HOLES_FROM, top), pixels, "holes")
    for x_at, number, high in zip((at / 2).tolist(), count.tolist(), boxes[:, 3].tolist(), strict=True):
        if pixels.wide / 2 > 7 * len(f"{number:,}") and pixels.has_regime_text:
            at_top = HOLES_FROM + high * (top - HOLES_FROM)
            shapes.append(Words(x_at, at_top, f"{number:,}", move=(0, -7)))
    return shapes


def shade_regimes(regimes: Any) -> list[Shape]:
    """The nodes that are k-anonymous, through all bars; what lies between them is not."""
    nodes = [node for regime in regimes for node in range(regime.start, regime.stop + 1)]
    ends = [np.array([node - HALF, node + HALF]) for node in nodes]
    return [Curve("regime", x, np.array([1.0, 1.0]), NAMES[REGIME], floor=REGIMES[0], opacity=0.12) for x in ends]


def draw_regimes(regimes: Any, smallest: Any, pixels: PanelPixels) -> list[Shape]:
    """The same nodes below, with the people, or rows, of their smallest class."""
    if not regimes:
        return [Words((pixels.x.low + pixels.x.high) / 2, REGIME_AT, "none", GREY)]
    nodes = np.concatenate([np.arange(regime.start, regime.stop + 1) for regime in regimes])
    sides = nodes - HALF, nodes + HALF, nodes * 0.0, nodes * 0 + 1.0, nodes * 0 + REGIME, nodes
    shapes, _ = place_boxes(np.stack(sides, axis=1), REGIMES, pixels, "regimes")
    for node, count in zip(nodes.tolist(), smallest[nodes].tolist(), strict=True):
        texts = f"smallest class: {count:,}", f"{count:,}"
        text = next((text for text in texts if len(text) < pixels.wide / 12), "")
        if text and pixels.has_regime_text:
            shapes.append(Words(node, REGIME_AT, text, PAPER))
    return shapes


def label_bars(zigzag: Any, pixels: PanelPixels) -> list[Words]:
    """The number of people, or rows, where a bar begins and where it changes, if there is room."""
    first, last = find_runs(zigzag, zigzag.hidden_among)
    bar, at = find_bar_of_counts(zigzag)
    (low, top), count = heights(zigzag), zigzag.hidden_among[first]
    length = (at[last] - at[first] + 1) / 2 * pixels.wide
    fits = (length > 8 + 7 * (1 + np.log10(count))) & ((top - low)[bar[first]] * pixels.high > 11)
    chosen = np.argsort(-count * fits, kind="stable")[: min(4 * MOST_LABELS, fits.sum())]
    x, y = at[first] / 2 - HALF + 4 / pixels.wide, ((low + top) / 2)[bar[first]]
    return [Words(x[i], y[i], f"{count[i]:,}", INK, "start") for i in chosen.tolist()]


def draw_counts(zigzag: Any, k: int, x: Scale, area: Area) -> Panel:
    """Number of classes at each position, and of those with fewer than k people, or rows."""
    few = np.bincount(find_bar_of_counts(zigzag)[1][zigzag.hidden_among < k], minlength=len(zigzag.classes))
    edges = np.repeat(np.arange(len(few) + 1) / 2 - HALF, 2)[1:-1]
    y = scale_counts(int(zigzag.classes.max()), area[3])
    areas: list[Shape] = [
        Curve(
            "number of classes", edges, np.repeat(np.maximum(counts, y.low), 2).astype(float), NAMES[shade], floor=y.low
        )
        for counts, shade in ((zigzag.classes, ENOUGH), (few, FEW))
    ]
    return Panel(x, y, area, areas, is_main=False)

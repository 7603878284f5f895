"""Plot of a zig-zag: bars along a path of lattice nodes.  PRIVATE, for it is drawn from the rows themselves.

In: a zig-zag barcode.  Out: matplotlib axes, or a file (.svg, .png, .html).

A bar is as long as it lives, and orange where it carries fewer than k rows.  Each position is half a step wide, with
its levels below it; what lies between two nodes stands between them.  Only levels, rows and counts are drawn.
"""

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.request import check_k
from kech.views.plot import (
    COLOURS,
    ENOUGH,
    FEW,
    GREY,
    HOLE,
    HOLES_FROM,
    INK,
    MOST_LABELS,
    PAPER,
    REGIME,
    REGIMES,
    Boxes,
    draw_boxes,
    foot,
    head,
    load_matplotlib,
    pixels,
    save_figure,
    say_together,
)

Ints = NDArray[np.int64]

TITLE = "Zig-zag barcode: how classes split and merge along a path"
SIGNS = {"union": "∪", "intersection": "∩"}
MANY = 200  # bars; when there are more, those that live alike are drawn thinner
HALF = 0.25  # a position reaches so far to either side


def draw_zigzag(zigzag: Any, k: int = 2, *, ax: Any = None) -> Any:
    """Draw the bars: the matplotlib axes.  With `ax` into axes of your own, without legend and number of classes."""
    check_k(k)
    if ax is None:
        return build_figure(zigzag, k)
    together = draw_panel(ax, zigzag, k)
    name_positions(ax, zigzag)
    ax.set_xlabel(ax.get_xlabel() + say_together(together))
    ax.text(1, 1.01, "PRIVATE", transform=ax.transAxes, ha="right", color=COLOURS[FEW], weight="bold")
    return ax


def save_zigzag(zigzag: Any, path: str | PathLike[str], k: int = 2) -> None:
    """Draw into a file, whole or not at all."""
    save_figure(lambda: draw_zigzag(zigzag, k).figure, path, TITLE)


def build_figure(zigzag: Any, k: int) -> Any:
    """Holes, bars and regimes; below them the number of classes and the path."""
    width = float(np.clip(1.5 + 0.6 * len(zigzag.path), 10, 20))
    figure = load_matplotlib().figure.Figure(figsize=(width, 7.2), dpi=100, facecolor=PAPER)
    names = node_names(zigzag)
    wide = (width - 1.25) * figure.dpi / (len(names) - HALF * 2)
    below = 0 if is_roomy(names, wide) else 0.007 * max(map(len, names))
    sides = {"left": 0.95 / width, "right": 1 - 0.3 / width, "top": 0.85, "bottom": 0.2 + below}
    upper, lower = figure.add_gridspec(2, 1, height_ratios=(5, 1), hspace=0.05, **sides)
    panel = figure.add_subplot(upper)
    counts = figure.add_subplot(lower, sharex=panel)
    together = draw_panel(panel, zigzag, k)
    draw_counts(counts, zigzag, k)
    name_positions(counts, zigzag)
    panel.tick_params(which="both", bottom=False, labelbottom=False)
    add_words(figure, zigzag, together)
    return panel


def draw_panel(ax: Any, zigzag: Any, k: int) -> int:
    """Holes above, bars in the middle, regimes below; how many bars are drawn together."""
    top = HOLES_FROM + 0.15
    ax.set(xlim=(-HALF, len(zigzag.path) - 1 + HALF), ylim=(REGIMES[0], top))
    together = draw_boxes(ax, bar_boxes(zigzag, k), (0, 1), "classes")
    label_rows(ax, zigzag)
    draw_holes(ax, zigzag, top)
    regimes = zigzag.regimes(k)
    draw_regimes(ax, regimes, zigzag.smallest[::2])
    holes = f"holes\nH1: {zigzag.holes.sum():,}" if zigzag.holes.any() else "no holes"
    ax.set_yticks([np.mean(REGIMES), 0.5, (HOLES_FROM + top) / 2], ["regimes", "classes", holes], fontsize=9)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    first = f"first at node {regimes[0].start}" if regimes else "at no node"
    ax.set_title(f"k = {k}: {first}", loc="left", fontsize=10, weight="bold", color=INK)
    return together


# -- boxes -----------------------------------------------------------------------------------------------


def bar_boxes(zigzag: Any, k: int) -> Boxes:
    """A box for each stretch of a bar on which it stays below k, or at k and above."""
    shade = np.where(zigzag.rows < k, FEW, ENOUGH)
    first, last = stretches(zigzag, shade)
    bar, at = owners(zigzag)
    low, high = heights(zigzag)
    sides = at[first] / 2 - HALF, at[last] / 2 + HALF, low[bar[first]], high[bar[first]]
    return np.stack([*sides, shade[first], bar[first]], axis=1)


def owners(zigzag: Any) -> tuple[Ints, Ints]:
    """For each number of rows: the bar that carries it, and the position in half steps."""
    length = np.diff(zigzag.begin)
    at = np.arange(len(zigzag.rows)) - np.repeat(zigzag.begin[:-1] - zigzag.birth, length)
    return np.repeat(np.arange(len(length)), length), at


def stretches(zigzag: Any, value: Ints) -> tuple[Ints, Ints]:
    """First and last place of each run of one value inside one bar."""
    fresh = np.diff(value, prepend=-1) != 0
    fresh[zigzag.begin[:-1]] = True
    first = np.flatnonzero(fresh)
    return first, np.append(first[1:], len(value)) - 1


def heights(zigzag: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper edge of each bar, the first at the top; w rows are 1 + log2(w) thick.

    Where bars are many, those that begin and end together share the cube root of that: thousands of short bars would
    hide the few long ones.
    """
    thickness = 1 + np.log2(zigzag.weights)
    if len(thickness) > MANY:
        first = np.flatnonzero(np.diff(zigzag.birth, prepend=-1) | np.diff(zigzag.death, prepend=-1))
        alike = np.add.reduceat(thickness, first)
        thickness /= np.repeat(alike ** (2 / 3), np.diff(first, append=len(thickness)))
    edges = 1 - np.append(0, np.cumsum(thickness)) / thickness.sum()
    return edges[1:], edges[:-1]


def draw_holes(ax: Any, zigzag: Any, top: float) -> None:
    """Holes of each union, the higher the more, with their number where there is room."""
    at = np.flatnonzero(zigzag.holes)
    count = zigzag.holes[at]
    height = (1 + np.log2(count)) / (1 + np.log2(count.max(initial=1)))
    low = np.zeros(len(at))
    boxes = np.stack([at / 2 - HALF, at / 2 + HALF, low, 0.6 * height, low + HOLE, at], axis=1)
    draw_boxes(ax, boxes, (HOLES_FROM, top), "holes")
    for place, number, high in zip((at / 2).tolist(), count.tolist(), boxes[:, 3].tolist(), strict=True):
        if pixels(ax)[0] / 2 > 7 * len(f"{number:,}"):
            at_top = HOLES_FROM + high * (top - HOLES_FROM)
            ax.text(place, at_top, f"{number:,}", ha="center", va="bottom", fontsize=8, color=INK, zorder=3)


def draw_regimes(ax: Any, regimes: Any, smallest: Any) -> None:
    """The nodes that are k-anonymous, shaded through all bars and named below; what lies between them is not."""
    style = {"ha": "center", "va": "center", "fontsize": 8, "zorder": 3}
    if not regimes:
        ax.text(np.mean(ax.get_xlim()), np.mean(REGIMES), "none", color=GREY, **style)
        return
    nodes = np.concatenate([np.arange(regime.start, regime.stop + 1) for regime in regimes])
    sides = nodes - HALF, nodes + HALF, nodes * 0.0, nodes * 0 + 1.0, nodes * 0 + REGIME, nodes
    draw_boxes(ax, np.stack(sides, axis=1), REGIMES, "regimes")
    room = 2 * HALF * pixels(ax)[0] / 6
    for node, rows in zip(nodes.tolist(), smallest[nodes].tolist(), strict=True):
        ax.axvspan(node - HALF, node + HALF, color=COLOURS[REGIME], alpha=0.1, linewidth=0, zorder=0.5, gid="regime")
        text = next(text for text in (f"smallest class: {rows:,}", f"{rows:,}", "") if len(text) < room)
        ax.text(node, np.mean(REGIMES), text, color=PAPER, **style)


def draw_counts(ax: Any, zigzag: Any, k: int) -> None:
    """Number of classes at each position, and of those with fewer than k rows."""
    few = np.bincount(owners(zigzag)[1][zigzag.rows < k], minlength=len(zigzag.classes))
    edges = np.arange(len(few) + 1) / 2 - HALF
    most = int(zigzag.classes.max())
    floor = 0.5 if most > 30 else 0
    for counts, shade in ((zigzag.classes, ENOUGH), (few, FEW)):
        ax.stairs(np.maximum(counts, floor), edges, baseline=floor, fill=True, color=COLOURS[shade], linewidth=0)
    ax.set(yscale="log" if most > 30 else "linear", ylim=(floor, most * 1.1))
    ax.set_yticks(sorted({1, most}), [f"{tick:,}" for tick in sorted({1, most})], fontsize=9)
    ax.yaxis.minorticks_off()
    ax.set_ylabel("classes\n(log scale)", fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)


# -- words and numbers -----------------------------------------------------------------------------------


def label_rows(ax: Any, zigzag: Any) -> None:
    """The number of rows where a bar begins and where it changes, if there is room."""
    wide, high = pixels(ax)
    first, last = stretches(zigzag, zigzag.rows)
    bar, at = owners(zigzag)
    (low, top), rows = heights(zigzag), zigzag.rows[first]
    length = (at[last] - at[first] + 1) / 2 * wide
    room = (length > 8 + 7 * (1 + np.log10(rows))) & ((top - low)[bar[first]] * high > 11)
    for i in np.argsort(-rows * room, kind="stable")[: min(4 * MOST_LABELS, room.sum())].tolist():
        place = at[first[i]] / 2 - HALF + 4 / wide, (low + top)[bar[first[i]]] / 2
        ax.text(*place, f"{rows[i]:,}", va="center", fontsize=8, color=INK, zorder=3)


def name_positions(ax: Any, zigzag: Any) -> None:
    """Levels below the nodes and a sign between them, upright where they are crowded, some left out where too many."""
    names = node_names(zigzag)
    wide = pixels(ax)[0]
    flat = is_roomy(names, wide)
    every = 1 if flat else int(np.ceil(14 / wide))
    nodes = np.arange(0, len(names), every)
    ax.set_xticks(nodes, [names[node] for node in nodes], rotation=0 if flat else 90, fontsize=9)
    between = np.arange(len(names) - 1) + 0.5 if wide > 28 else np.empty(0)
    ax.set_xticks(between, [SIGNS[zigzag.through]] * len(between), minor=True, rotation=0, fontsize=9, color=GREY)
    ax.tick_params(axis="x", which="minor", length=0)
    ax.set_xlabel(
        f"levels of {shorten(', '.join(zigzag.columns))}; between them the {zigzag.through}",
        fontsize=9,
        parse_math=False,
    )


def node_names(zigzag: Any) -> list[str]:
    """Levels with commas between."""
    return [",".join(map(str, node)) for node in zigzag.path]


def is_roomy(names: list[str], wide: float) -> bool:
    """Whether names fit side by side when a step is so many pixels wide."""
    return wide / 2 > 4 + 6.5 * max(map(len, names))


def shorten(text: str, most: int = 90) -> str:
    """Names of many columns do not run out of the picture."""
    return text if len(text) <= most else text[: most - 1] + "…"


def add_words(figure: Any, zigzag: Any, together: int) -> None:
    """Title, mark, colours, and what cannot be seen in the picture itself."""
    rows = int(zigzag.rows[owners(zigzag)[1] == 0].sum())
    counts = {"row": rows, "node": len(zigzag.path), "bar": len(zigzag.birth), "hole": int(zigzag.holes.sum())}
    about = ", ".join(f"{count:,} {name}{'s' * (count != 1)}" for name, count in counts.items())
    edge = head(figure, TITLE, about)
    note = "A bar is a class of rows, the thicker the more rows; numbers in bars count the rows from there on."
    note += " Bars that live alike are drawn thinner." * (len(zigzag.birth) > MANY)
    foot(figure, note + say_together(together))
    add_legend(figure, edge)


def add_legend(figure: Any, edge: float) -> None:
    """Colours in words."""
    names = {
        "fewer than k rows": FEW,
        "k rows or more": ENOUGH,
        "holes of a union": HOLE,
        "k-anonymous node": REGIME,
    }
    patches = [load_matplotlib().patches.Patch(color=COLOURS[shade]) for shade in names.values()]
    place = {"loc": "lower left", "bbox_to_anchor": (edge, 0.078), "borderaxespad": 0, "borderpad": 0}
    figure.legend(patches, names, ncols=len(names), frameon=False, fontsize=9, columnspacing=1.5, **place)

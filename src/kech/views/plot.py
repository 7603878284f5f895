"""Plot: the weighted barcode as a picture.  PRIVATE, for it is drawn from the rows themselves.

In: a barcode.  Out: matplotlib axes, or a file (.svg, .png, .html).

A component is a box: as long as it lives, as thick as its rows.  What merges lies side by side, so a vertical
line at eps meets exactly the classes at eps.  Only radii, weights and counts are drawn, never a cell.
"""

from collections.abc import Callable, Sequence
from io import StringIO
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.errors import BadOption, BadTarget, MissingExtra
from kech.request import check_k
from kech.system.files import clear_refusals, put_in_place, written_aside

Floats = NDArray[np.float64]
Boxes = NDArray[np.float64]  # a row each: left, right, low, high, shade, number of the bar it is a part of

TITLE = "Weighted barcode: which rows are together while eps grows"
INK, GREY, PAPER = "#222222", "#666666", "#ffffff"
FEW, FEW_LOOSE, ENOUGH, ENOUGH_LOOSE, HOLE, REGIME = range(6)  # a loose component is not yet a full simplex
ENDINGS = (".svg", ".png", ".html")
LOOSE, STRIPES = (FEW_LOOSE, ENOUGH_LOOSE), "////"
HATCHED = 4  # pixels; smaller boxes have no room for stripes
ORANGES, BLUES, DARKS = [[230, 115, 20], [250, 210, 175]], [[125, 160, 195], [208, 221, 233]], [[70] * 3, [35, 60, 90]]
COLOURS = np.array([*ORANGES, *BLUES, *DARKS]) / 255
HOLES_FROM = 1.08  # components lie on [0, 1] of the vertical axis, holes above, regimes below
REGIMES = (-0.13, -0.06)
MOST_BOXES = 2000  # drawn one by one; the rest share an image of so many cells
IMAGE = (800, 1200)
MOST_LABELS = 80
SAVING = Lock()  # the settings of matplotlib belong to the whole process
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "kech"}
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>PRIVATE. {title}</title>
<style>body {{ margin: 1rem auto; max-width: 90rem }} svg {{ width: 100%; height: auto }}</style>
</head><body>
{svg}
</body></html>
"""
SMALL = {"fontsize": 9, "color": GREY, "va": "top"}


def draw_barcode(barcode: Any, k: Sequence[int] = (2,), *, reading: str = "homological", ax: Any = None) -> Any:
    """Draw the bars for each k, side by side: the matplotlib axes of the bars, a list where there are several k.

    With `ax` one k is drawn into axes of your own, without legend and number of classes.
    """
    if ax is None:
        panels = build_figure(barcode, k, reading)
        return panels if len(k) > 1 else panels[0]
    if len(k) != 1:
        raise BadOption("ax", "takes one k; leave ax away to see several side by side.")
    regimes = barcode.regimes(reading, k[0])
    together = draw_panel(ax, barcode, k[0], regimes, last_radius(barcode, [regimes]))
    ax.set_xlabel("eps (radius)" + say_together(together))
    ax.set_title("PRIVATE", loc="right", color=COLOURS[FEW], weight="bold")
    return ax


def save_barcode(
    barcode: Any, path: str | PathLike[str], k: Sequence[int] = (2,), *, reading: str = "homological"
) -> None:
    """Draw into a file, whole or not at all."""
    save_figure(lambda: build_figure(barcode, k, reading)[0].figure, path, TITLE)


def save_figure(build: Callable[[], Any], path: str | PathLike[str], title: str) -> None:
    """Build a figure and put it in place, whole or not at all; drawn from the rows, it is for its owner to read."""
    check_plot(path)
    target = Path(path)
    ending = target.suffix.lower()
    with SAVING, load_matplotlib().rc_context(SETTINGS):
        figure = build()
        with clear_refusals(target), written_aside(target) as draft:
            if ending == ".png":
                figure.savefig(draft, format="png", dpi=200, metadata={"Title": f"PRIVATE. {title}"})
            else:
                svg = svg_text(figure, title)
                page = PAGE.format(title=title, svg=svg[svg.index("<svg") :])
                draft.write_text(svg if ending == ".svg" else page, "utf-8")
            put_in_place({draft: target}, private=True)


def check_plot(path: str | PathLike[str]) -> None:
    """Refuse what could not be drawn, before anything is computed."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise BadTarget(target, "a plot ends in .svg, .png or .html.")
    load_matplotlib()


def svg_text(figure: Any, title: str) -> str:
    """The figure as SVG, the same text for the same picture."""
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Title": f"PRIVATE. {title}", "Date": None})
    return text.getvalue()


def load_matplotlib() -> Any:
    """Matplotlib without pyplot: no window, no list of figures."""
    try:
        import matplotlib.collections
        import matplotlib.figure
        import matplotlib.legend_handler
        import matplotlib.patches
        import matplotlib.ticker
    except ImportError:
        raise MissingExtra("Drawing", "plot") from None
    return matplotlib


# -- figure and panels -----------------------------------------------------------------------------------


def build_figure(barcode: Any, k: Sequence[int], reading: str) -> list[Any]:
    """A column for each k: holes, components, regimes; below them the number of classes."""
    if not k:
        raise BadOption("--k", "name one k or more.")
    check_k(min(k))
    regimes = [barcode.regimes(reading, goal) for goal in k]
    right = last_radius(barcode, regimes)
    figure = load_matplotlib().figure.Figure(figsize=(max(10.0, 3.3 * len(k)), 6.8), dpi=100, facecolor=PAPER)
    sides = {"left": 0.95 / figure.get_figwidth(), "right": 0.97, "top": 0.85, "bottom": 0.19}
    grid = figure.add_gridspec(2, len(k), height_ratios=(5, 1), hspace=0.07, wspace=0.12, **sides)
    panels, together = [], 0
    for column, (goal, found) in enumerate(zip(k, regimes, strict=True)):
        panel = figure.add_subplot(grid[0, column])
        below = figure.add_subplot(grid[1, column], sharex=panel)
        together = draw_panel(panel, barcode, goal, found, right)
        draw_counts(below, barcode.filtration, goal, right)
        panel.tick_params(bottom=False, labelbottom=False, labelleft=column == 0)
        below.tick_params(labelleft=column == 0, labelsize=9)
        below.set_ylabel("classes\n(log scale)" * (column == 0), fontsize=9)
        panels.append(panel)
    add_words(figure, barcode, reading, right, together)
    return panels


def draw_panel(ax: Any, barcode: Any, k: int, regimes: Any, right: float) -> int:
    """Holes above, components in the middle, regimes below; how many bars are drawn together."""
    tree, holes = barcode.filtration, hole_boxes(barcode)
    top = HOLES_FROM + min(0.3, 0.03 * max(3, len(holes)))
    ax.set(xlim=(0, right), ylim=(REGIMES[0], top))
    components = component_boxes(tree, k, right)
    together = draw_boxes(ax, components, (0, 1), "components")
    together += draw_boxes(ax, holes, (HOLES_FROM, top), "holes")
    label_weights(ax, tree, right)
    draw_arrow(ax, 0.5, int(components[components[:, 1].argmax(), 4]))
    draw_regimes(ax, regimes, right)
    ax.set_yticks([np.mean(REGIMES), 0.5, (HOLES_FROM + top) / 2], ["regimes", "rows", name_holes(barcode)], fontsize=9)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    found = "unknown" if regimes is None else f"first at eps = {regimes[0].start:.4g}" if regimes else "nowhere"
    ax.set_title(f"k = {k}: {found}", loc="left", fontsize=10, weight="bold", color=INK)
    return together


def last_radius(barcode: Any, regimes: Sequence[Any]) -> float:
    """Right end of the picture: past the last merge, the last hole and the first regime of every k."""
    tree = barcode.filtration
    seen = [tree.death[:-1], *(bars[:, 1] for bars in barcode.holes.values())]
    seen.append(np.array([found[0].start for found in regimes if found]))
    radii = np.concatenate(seen)
    last = float(radii[np.isfinite(radii)].max(initial=0.0))
    whole = float(tree.simplex_from[-1])
    return 1.08 * (whole if last < whole < 2 * last else last) or 1.0


# -- boxes -----------------------------------------------------------------------------------------------


def component_boxes(tree: Any, k: int, right: float) -> Boxes:
    """Two boxes a component: while it is loose, and as a full simplex."""
    end = np.minimum(tree.death, right)
    full = np.clip(tree.simplex_from, tree.birth, end)
    shade = np.where(tree.weight < k, FEW, ENOUGH)
    place, bar = heights(tree), np.arange(len(end))
    loose = np.stack([tree.birth, full, *place, shade + 1, bar], axis=1)
    tight = np.stack([full, end, *place, shade, bar], axis=1)
    return np.concatenate([loose[full > tree.birth], tight[full < end]])


def heights(tree: Any) -> tuple[Floats, Floats]:
    """Lower and upper edge of each component: points lie in the order in which they merge.

    A point of w rows is 1 + log2(w) thick; were it w, one heavy point would hide all light ones.
    """
    thickness = 1 + np.log2(tree.points.weights[tree.order])
    edges = 1 - np.append(0, np.cumsum(thickness)) / thickness.sum()
    return edges[tree.end], edges[tree.begin]


def hole_boxes(barcode: Any) -> Boxes:
    """One above the other, by dimension and birth, the thicker the longer; those of zero length are left out."""
    parts = [bars[np.lexsort(bars.T[::-1])] for _, bars in sorted(barcode.holes.items())]
    bars = np.concatenate([np.empty((0, 2)), *parts])
    left, right = bars[bars[:, 0] < bars[:, 1]].T
    length, number = np.minimum(right - left, 1), np.arange(len(left))
    thickness = length + 2 * length.sum() / max(1, len(length))
    edges = np.append(0, np.cumsum(thickness)) / max(thickness.sum(), 1e-300)
    return np.stack([left, right, edges[:-1], edges[1:], np.full(len(left), HOLE), number], axis=1)


def draw_boxes(ax: Any, boxes: Boxes, place: tuple[float, float], name: str) -> int:
    """The largest boxes one by one, those below a pixel in one image; how many bars are in that image alone."""
    boxes = boxes.copy()
    boxes[:, 1] = boxes[:, 1].clip(max=ax.get_xlim()[1])
    boxes[:, 2:4] = place[0] + boxes[:, 2:4] * (place[1] - place[0])
    wide, high = pixels(ax)
    width, height = (boxes[:, 1] - boxes[:, 0]) * wide, (boxes[:, 3] - boxes[:, 2]) * high
    chosen = np.flatnonzero((width >= 1) & (height >= 1) | (len(boxes) < MOST_BOXES // 4))
    chosen = chosen[np.argsort(-(width * height)[chosen], kind="stable")[:MOST_BOXES]]
    rest = np.delete(boxes, chosen, axis=0)
    if len(rest):
        draw_image(ax, rest, place, f"{name} together")
    shown, edge = boxes[chosen], np.minimum(width, height)[chosen]
    shown[:, 1] = np.maximum(shown[:, 1], shown[:, 0] + 1.5 / wide)
    corners = shown[:, [0, 2, 0, 3, 1, 3, 1, 2]].reshape(-1, 4, 2)
    drawn = load_matplotlib().collections.PolyCollection(corners, facecolors=COLOURS[shown[:, 4].astype(int)])
    drawn.set(edgecolors=PAPER, linewidths=np.minimum(0.8, 0.06 * edge), gid=name, zorder=2)
    ax.add_collection(drawn, autolim=False)
    hatch(ax, corners[np.isin(shown[:, 4], LOOSE) & (edge >= HATCHED)], f"{name} hatched")
    return len(np.setdiff1d(rest[:, 5], shown[:, 5]))


def hatch(ax: Any, corners: Floats, name: str) -> None:
    """Stripes over boxes that have room for them."""
    stripes = load_matplotlib().collections.PolyCollection(corners, facecolors="none", edgecolors=PAPER, hatch=STRIPES)
    stripes.set(linewidths=0, gid=name, zorder=2.2)
    ax.add_collection(stripes, autolim=False)


def draw_image(ax: Any, boxes: Boxes, place: tuple[float, float], name: str) -> None:
    """Small boxes melt into an image; roots let a few rows among thousands be seen."""
    limits = {"xlim": ax.get_xlim(), "ylim": ax.get_ylim()}
    reach = (*ax.get_xlim(), *place)
    shares = np.stack([coverage(boxes[boxes[:, 4] == shade], reach) for shade in range(len(COLOURS))], axis=-1)
    total = shares.sum(axis=-1, keepdims=True)
    shares[..., :ENOUGH] **= 0.5
    colour = shares @ COLOURS / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-9)
    picture = np.concatenate([colour, np.minimum(total, 1) ** 0.5], axis=-1)
    ax.imshow(picture.clip(0, 1), extent=reach, origin="lower", aspect="auto", zorder=2.5, gid=name)
    ax.set(**limits)


def coverage(boxes: Boxes, reach: tuple[float, ...], shape: tuple[int, int] = IMAGE) -> Floats:
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


def pixels(ax: Any) -> tuple[float, float]:
    """Pixels of one unit along each axis."""
    extent = ax.get_window_extent()
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    return extent.width / (right - left), extent.height / (high - low)


# -- words and numbers -----------------------------------------------------------------------------------


def label_weights(ax: Any, tree: Any, right: float) -> None:
    """The number of rows, at the beginning of every bar that has room for it."""
    wide, high = pixels(ax)
    (low, top), length = heights(tree), np.minimum(tree.death, right) - tree.birth
    room = (length * wide > 14 + 7 * np.log10(tree.weight)) & ((top - low) * high > 11)
    heaviest = np.argsort(-tree.weight * room, kind="stable")[: min(MOST_LABELS, room.sum())]
    for node in heaviest.tolist():
        place = tree.birth[node] + 4 / wide, (low[node] + top[node]) / 2
        ax.text(*place, f"{tree.weight[node]:,}", va="center", fontsize=8, color=INK, zorder=3)


def draw_regimes(ax: Any, regimes: Any, right: float) -> None:
    """Where k-anonymity holds, with the number of classes."""
    style = {"ha": "center", "va": "center", "fontsize": 8, "zorder": 3}
    if not regimes:
        ax.text(right / 2, np.mean(REGIMES), "unknown" if regimes is None else "none", color=GREY, **style)
        return
    seen = [[regime.start, regime.stop, regime.classes] for regime in regimes if regime.start < right]
    start, stop, classes = np.array(seen).T
    boxes = np.stack([start, stop.clip(max=right), start * 0, start * 0 + 1, start * 0 + REGIME, classes], axis=1)
    draw_boxes(ax, boxes, REGIMES, "regimes")
    draw_arrow(ax, float(np.mean(REGIMES)), REGIME)
    for left, end, *_, count in boxes[np.diff(boxes[:, :2])[:, 0] * pixels(ax)[0] > 12].tolist():
        number = f"{count:,.0f}"
        words = f"{number} class{'es' * (count > 1)}"
        room = (end - left) * pixels(ax)[0] / 7
        text = words if room > len(words) else number if room > len(number) else ""
        ax.text((left + end) / 2, np.mean(REGIMES), text, color=PAPER, **style)


def draw_arrow(ax: Any, height: float, shade: int) -> None:
    """A bar without end goes on beyond the right margin."""
    beyond = ax.get_xlim()[1] + 4 / pixels(ax)[0]
    ax.plot(beyond, height, ">", color=COLOURS[shade], markersize=8, markeredgewidth=0, clip_on=False)


def name_holes(barcode: Any) -> str:
    """How many holes there are of each dimension."""
    counts = {n: int((bars[:, 0] < bars[:, 1]).sum()) for n, bars in sorted(barcode.holes.items(), reverse=True)}
    if barcode.is_complete and not any(counts.values()):
        return "no holes"
    names = [f"H{n}: {count:,}" for n, count in counts.items()]
    return "\n".join(["holes", *(names or ["unknown"])])


def draw_counts(ax: Any, tree: Any, k: int, right: float) -> None:
    """How many classes there are at each eps, and how many of them have fewer than k rows."""
    most, eps = len(tree.order), np.unique(np.append(tree.birth, right))
    eps = eps if len(eps) < MOST_BOXES else np.linspace(0, right, MOST_BOXES)
    for chosen, shade in ((tree.weight > 0, ENOUGH), (tree.weight < k, FEW)):
        born, dead = np.sort(tree.birth[chosen]), np.sort(tree.death[chosen])
        count = np.searchsorted(born, eps, side="right") - np.searchsorted(dead, eps, side="right")
        ax.fill_between(eps, count, step="post", color=COLOURS[shade], linewidth=0)
    ax.set(yscale="log" if most > 30 else "linear", ylim=(0.5 if most > 30 else 0, most * 1.1))
    ax.set_yticks(sorted({1, most}), [f"{tick:,}" for tick in sorted({1, most})])
    ax.minorticks_off()
    ax.locator_params(axis="x", nbins=6)
    ax.set_xlabel("eps (radius)", fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)


def add_words(figure: Any, barcode: Any, reading: str, right: float, together: int) -> None:
    """Title, mark, colours, and what cannot be seen in the picture itself."""
    tree = barcode.filtration
    rows, whole = tree.points.rows, float(tree.simplex_from[-1])
    about = f"{rows:,} row{'s' * (rows > 1)}, {len(tree.order):,} distinct; metric: {tree.metric}; reading: {reading}"
    notes = ["A bar is a class of rows, the thicker the more rows; numbers in bars count rows."]
    notes += [f"All rows are inside one {tree.metric} from eps = {whole:.4g} on."] * (whole > right)
    edge = head(figure, TITLE, about)
    foot(figure, " ".join(notes) + say_together(together))
    add_legend(figure, tree.metric, edge)


def head(figure: Any, title: str, about: str) -> float:
    """Title, what it is about, and the mark; where text begins."""
    edge = 0.2 / float(figure.get_figwidth())
    large = {"fontsize": 12, "weight": "bold", "va": "top"}
    figure.text(edge, 0.98, title, color=INK, **large)
    figure.text(edge, 0.94, about, **SMALL)
    figure.text(1 - edge, 0.98, "PRIVATE", color=COLOURS[FEW], ha="right", **large)
    figure.text(1 - edge, 0.94, "drawn from the rows, not for publication", ha="right", **SMALL)
    return edge


def foot(figure: Any, note: str) -> None:
    """What cannot be seen in the picture itself."""
    figure.text(0.2 / figure.get_figwidth(), 0.065, note, linespacing=1.4, **SMALL)


def say_together(bars: int) -> str:
    """What is not drawn one by one is said."""
    return f"\nThe {bars:,} smallest bars are drawn together, as an image." if bars else ""


def add_legend(figure: Any, metric: str, edge: float) -> None:
    """Colours in words."""
    matplotlib = load_matplotlib()
    patches = [
        matplotlib.patches.Patch(facecolor=colour, edgecolor=PAPER, hatch=STRIPES if shade in LOOSE else None, lw=0)
        for shade, colour in enumerate(COLOURS)
    ]
    names = {
        "fewer than k rows": patches[FEW],
        "k rows or more": patches[ENOUGH],
        f"not yet inside one {metric} of radius eps": (patches[FEW_LOOSE], patches[ENOUGH_LOOSE]),
        "hole": patches[HOLE],
        "k-anonymous, with so many classes": patches[REGIME],
    }
    pair = {tuple: matplotlib.legend_handler.HandlerTuple(ndivide=None, pad=0)}
    place = {"loc": "lower left", "bbox_to_anchor": (edge, 0.078), "borderaxespad": 0, "borderpad": 0}
    style = {"ncols": len(names), "frameon": False, "fontsize": 9, "columnspacing": 1.5}
    figure.legend(names.values(), names, handler_map=pair, **place, **style)

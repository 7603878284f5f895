"""Figure: a picture painted by matplotlib, into axes of one's own, a figure or a PNG file (extra `plot`).

In: a picture.  Out: matplotlib axes.  Pyplot is never loaded: no window, no list of figures.
"""

from functools import singledispatch
from typing import Any

import numpy as np

from kech.errors import MissingExtra
from kech.views.pictures.picture import (
    GREY,
    INK,
    ORANGE,
    PAPER,
    Boxes,
    Curve,
    Image,
    Marks,
    Panel,
    Picture,
    Scale,
    Segments,
    Shape,
    Size,
    Words,
    frame,
)

DPI = 100
POINTS = 72 / DPI  # of a pixel
SIDES = {"start": "left", "middle": "center", "end": "right"}
STRIPES = "////"
STRIPED = 4.0  # pixels; smaller boxes have no room for stripes


def load_matplotlib() -> Any:
    """Matplotlib without pyplot."""
    try:
        import matplotlib.collections
        import matplotlib.figure
        import matplotlib.patches
    except ImportError:
        raise MissingExtra("Drawing", "plot") from None
    return matplotlib


def build_figure(picture: Picture) -> Any:
    """A figure of its own, laid out as the SVG is."""
    around, library = frame(picture), load_matplotlib()
    wide, high = around.width, around.height
    figure = library.figure.Figure(figsize=(wide / DPI, high / DPI), dpi=DPI, facecolor=PAPER)
    for panel in picture.panels:
        left, top, width, height = panel.area
        ax = figure.add_axes((left / wide, 1 - (around.top + top + height) / high, width / wide, height / high))
        paint_panel(ax, panel, picture.font)
    for patch in around.swatches:
        corner = (patch.x / wide, 1 - (patch.y + patch.height) / high)
        box = library.patches.Rectangle(corner, patch.width / wide, patch.height / high, transform=figure.transFigure)
        edge = {"edgecolor": GREY, "linewidth": 0.5} if patch.colour == PAPER else {"edgecolor": PAPER, "linewidth": 0}
        box.set(facecolor=patch.colour, hatch=STRIPES if patch.striped else None, **edge)
        figure.add_artist(box)
    for words, bold in around.texts:
        style = {"ha": SIDES[words.anchor], "color": words.colour or INK, "fontsize": picture.font * POINTS}
        weight = "bold" if bold else "normal"
        figure.text(words.x / wide, 1 - words.y / high, words.text, weight=weight, parse_math=False, **style)
    return figure


def paint_into(ax: Any, picture: Picture) -> Any:
    """The first panel, into axes of one's own, without legend; what cannot be seen is said below it."""
    panel = picture.panels[0]
    paint_panel(ax, panel, picture.font)
    ax.set_xlabel("\n".join(filter(None, [panel.x.label, panel.note])), parse_math=False)
    if picture.is_private:
        ax.set_title("PRIVATE", loc="right", color=ORANGE, weight="bold")
    return ax


def measure_axes(ax: Any) -> Size:
    """Pixels across and down."""
    extent = ax.get_window_extent()
    return float(extent.width), float(extent.height)


def paint_panel(ax: Any, panel: Panel, font: float) -> None:
    """Scales, shapes and title."""
    size = font * POINTS
    for side, scale in (("x", panel.x), ("y", panel.y)):
        ax.set(**{f"{side}scale": "log" if scale.is_log else "linear", f"{side}lim": (scale.low, scale.high)})
        paint_scale(ax, side, scale, size)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines["left"].set_visible(panel.has_side)
    if not panel.has_side:
        ax.tick_params(axis="y", length=0)
    if not panel.has_bottom:
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(axis="x", which="both", bottom=False, labelbottom=False)
        ax.set_xlabel("")
    if panel.has_grid:
        ax.grid(axis="y", alpha=0.2)
    for shape in panel.shapes:
        paint(shape, ax)
    ax.set_title(panel.title, loc="left", fontsize=size, weight="bold", color=INK)


def paint_scale(ax: Any, side: str, scale: Scale, size: float) -> None:
    """Ticks and label of one side."""
    turned = {"rotation": 90 if scale.upright else 0, "fontsize": size, "parse_math": False}
    for ticks, minor in ((scale.ticks, False), (scale.minor, True)):
        positions, names = [position for position, _ in ticks], [name for _, name in ticks]
        getattr(ax, f"set_{side}ticks")(positions, names, minor=minor, **(turned | ({"rotation": 0} if minor else {})))
    ax.tick_params(axis=side, which="minor", length=0)
    getattr(ax, f"set_{side}label")(scale.label, fontsize=size, parse_math=False)


# -- shapes ----------------------------------------------------------------------------------------------


@singledispatch
def paint(shape: Shape, ax: Any) -> None:
    """The artists of a shape."""
    raise NotImplementedError(shape, ax)


@paint.register
def _(shape: Boxes, ax: Any) -> None:
    corners = shape.sides[:, [0, 2, 0, 3, 1, 3, 1, 2]].reshape(-1, 4, 2)
    extent = ax.get_window_extent()
    per_unit = extent.width / np.ptp(ax.get_xlim()), extent.height / np.ptp(ax.get_ylim())
    edge = np.minimum(
        (shape.sides[:, 1] - shape.sides[:, 0]) * per_unit[0], (shape.sides[:, 3] - shape.sides[:, 2]) * per_unit[1]
    )
    polygons = load_matplotlib().collections.PolyCollection
    drawn = polygons(corners, facecolors=list(shape.colours))
    drawn.set(edgecolors=PAPER, linewidths=np.minimum(0.8, 0.06 * edge), gid=shape.name, zorder=2)
    ax.add_collection(drawn, autolim=False)
    if shape.striped is not None:
        large = corners[shape.striped & (edge >= STRIPED)]
        stripes = polygons(large, facecolors="none", edgecolors=PAPER, hatch=STRIPES)
        stripes.set(linewidths=0, gid=f"{shape.name} striped", zorder=2.2)
        ax.add_collection(stripes, autolim=False)


@paint.register
def _(shape: Image, ax: Any) -> None:
    limits = {"xlim": ax.get_xlim(), "ylim": ax.get_ylim()}
    ax.imshow(shape.cells, extent=shape.sides, origin="lower", aspect="auto", zorder=2.5, gid=shape.name)
    ax.set(**limits)


@paint.register
def _(shape: Curve, ax: Any) -> None:
    if shape.floor is None:
        marker = {"marker": "o", "markersize": 4} if shape.dotted else {}
        ax.plot(shape.x, shape.y, color=shape.colour, gid=shape.name, zorder=2.7, **marker)
        return
    ends = [(shape.x[0], shape.floor), *zip(shape.x, shape.y, strict=True), (shape.x[-1], shape.floor)]
    area = load_matplotlib().collections.PolyCollection([np.array(ends, float)], facecolors=shape.colour)
    area.set(linewidths=0, alpha=shape.opacity, gid=shape.name, zorder=1.5)
    ax.add_collection(area, autolim=False)


@paint.register
def _(shape: Segments, ax: Any) -> None:
    drawn = load_matplotlib().collections.LineCollection(shape.ends.reshape(-1, 2, 2), colors=shape.colour)
    drawn.set(alpha=shape.opacity, linewidths=1.5 * POINTS, gid=shape.name)
    ax.add_collection(drawn, autolim=False)


@paint.register
def _(shape: Marks, ax: Any) -> None:
    area = (2 * np.asarray(shape.radius, float) * POINTS) ** 2
    style = {"marker": shape.shape, "color": shape.colour, "alpha": shape.opacity, "linewidths": 0}
    ax.scatter(shape.x, shape.y, s=area, gid=shape.name, clip_on=False, zorder=3, **style)


@paint.register
def _(shape: Words, ax: Any) -> None:
    ax.annotate(
        shape.text,
        (shape.x, shape.y),
        (shape.move[0] * POINTS, -shape.move[1] * POINTS),
        textcoords="offset points",
        ha=SIDES[shape.anchor],
        va="center",
        fontsize=8,
        color=shape.colour or INK,
        zorder=4,
        annotation_clip=False,
    )

"""SVG: a picture as text, the same for the same picture; no script, no style sheet, nothing loaded.

In: a picture.  Out: an `svg` element for a page, or a file of its own.  Lines and words take the colour of the page.
"""

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator
from functools import singledispatch
from typing import Any

import numpy as np

from kech.views.markup import Content, Markup, tag
from kech.views.pictures.picture import (
    GREY,
    INK,
    PAPER,
    Boxes,
    Curve,
    Floats,
    Image,
    Marks,
    Panel,
    Picture,
    Scale,
    Segments,
    Shape,
    Words,
    frame,
    letters,
)

NAMESPACE = "http://www.w3.org/2000/svg"
FAMILY = "system-ui, sans-serif"
STRIPE = 8.0  # pixels between stripes
STRIPED = 6.0  # pixels; smaller boxes have no room for stripes
ARROWS = {"<": (-1, 0), ">": (1, 0), "^": (0, -1), "v": (0, 1)}


def render_svg(picture: Picture, *, is_bare: bool = True) -> Markup:
    """An `svg` element; a bare one has no heading and no background, since the page around it has."""
    around = frame(picture, is_bare=is_bare)
    private = "PRIVATE. " * (picture.is_private and not is_bare)
    attributes = {"role": "img", "aria_label": f"{private}{picture.title}. {picture.about}"}
    parts: list[Content] = [tag("title", f"{private}{picture.title}"), tag("desc", picture.about)]
    if not is_bare:
        parts.append(tag("rect", width="100%", height="100%", fill=PAPER))
        attributes |= {"xmlns": NAMESPACE, "width": px(around.width), "height": px(around.height), "color": INK}
    parts += [render_panel(panel, around.top, picture.font) for panel in picture.panels]
    for patch in around.swatches:
        box = np.array([[patch.x, patch.x + patch.width, patch.y, patch.y + patch.height]])
        parts += paint_boxes(box, patch.colour, box if patch.striped else box[:0])
        sides = {"x": px(patch.x), "y": px(patch.y), "width": px(patch.width), "height": px(patch.height)}
        is_like_page = patch.colour in (PAPER, INK)  # of a light or of a dark page
        parts += [tag("rect", **sides, fill="none", stroke=GREY, stroke_width="0.5")] * is_like_page
    parts += [render_text(words, words.x, words.y, bold=bold) for words, bold in around.texts]
    size = f"0 0 {px(around.width)} {px(around.height)}"
    font = {"font_family": FAMILY, "font_size": px(picture.font)}
    return tag("svg", *parts, viewBox=size, **attributes, **font)


def render_file(picture: Picture) -> str:
    """A file of its own."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{render_svg(picture, is_bare=False)}\n'


def px(number: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{round(number, 1) + 0.0:g}"


def render_text(words: Words, x: float, y: float, *, bold: bool = False, **more: Any) -> Markup:
    """A text, its lines one below the other."""
    anchor = {"x": px(x + words.move[0]), "text_anchor": None if words.anchor == "start" else words.anchor}
    style = {"fill": words.colour or "currentColor", "font_weight": "bold" if bold else None, **more}
    first, *others = words.text.split("\n")
    lines = [tag("tspan", line, x=anchor["x"], dy="1.2em") for line in others]
    return tag("text", first, *lines, y=px(y + words.move[1]), **anchor, **style)


# -- panels ----------------------------------------------------------------------------------------------


class Canvas:
    """From the units of a panel to pixels."""

    def __init__(self, panel: Panel, shift: float) -> None:
        self.panel = panel
        self.left, self.top, self.width, self.height = panel.area
        self.top += shift

    def across(self, values: Floats | float) -> Floats:
        """Pixels from the left of the picture."""
        return self.left + self.panel.x.share(values) * self.width

    def down(self, values: Floats | float) -> Floats:
        """Pixels from the top of the picture."""
        return self.top + (1 - self.panel.y.share(values)) * self.height


def render_panel(panel: Panel, shift: float, font: float) -> Markup:
    """Shapes between their axes."""
    canvas = Canvas(panel, shift)
    parts = [*render_axes(canvas, font), *(part for shape in panel.shapes for part in render(shape, canvas))]
    if panel.title:
        parts.append(render_text(Words(0, 0, panel.title, anchor="start"), canvas.left, canvas.top - 7, bold=True))
    return tag("g", *parts)


def render_axes(canvas: Canvas, font: float) -> Iterator[Markup]:
    """Lines, ticks and labels of both sides."""
    panel, left, floor = canvas.panel, canvas.left, canvas.top + canvas.height
    right = left + canvas.width
    if panel.has_grid:
        for position, _ in panel.y.ticks:
            yield stroke(f"M{px(left)} {px(float(canvas.down(position)))}H{px(right)}", "0.15")
    if panel.has_bottom:
        yield stroke(f"M{px(left)} {px(floor)}H{px(right)}", "0.5")
        yield from render_bottom(canvas, floor, font)
    if panel.has_side:
        yield stroke(f"M{px(left)} {px(canvas.top)}V{px(floor)}", "0.5")
    for position, text in panel.y.ticks:
        lines = text.count("\n")
        yield render_text(
            Words(0, 0, text, anchor="end"), left - 6, float(canvas.down(position)) + font * (0.36 - 0.6 * lines)
        )
    if panel.y.label:
        widest = max((letters(line, font) for _, text in panel.y.ticks for line in text.split("\n")), default=0)
        x, y = left - 18 - widest - font * 1.2 * panel.y.label.count("\n"), canvas.top + canvas.height / 2
        yield render_text(Words(0, 0, panel.y.label), x, y, transform=f"rotate(-90 {px(x)} {px(y)})")


def render_bottom(canvas: Canvas, floor: float, font: float) -> Iterator[Markup]:
    """Ticks and the label below a panel."""
    scale: Scale = canvas.panel.x
    low = floor
    for position, text in scale.ticks:
        x, y = float(canvas.across(position)), floor + font * 1.25
        if scale.upright:
            x, y, low = x + font * 0.36, floor + 6, max(low, floor + letters(text, font) - font * 0.6)
        turned = f"rotate(-90 {px(x)} {px(y)})" if scale.upright else None
        yield render_text(Words(0, 0, text, anchor="end" if scale.upright else "middle"), x, y, transform=turned)
    for position, text in scale.minor:
        yield render_text(Words(0, 0, text, GREY), float(canvas.across(position)), floor + font * 1.25)
    if scale.label:
        yield render_text(Words(0, 0, scale.label), canvas.left + canvas.width / 2, low + font * 2.6)


def stroke(path: str, opacity: str) -> Markup:
    """A thin line in the colour of the page."""
    return tag("path", d=path, stroke="currentColor", stroke_opacity=opacity, fill="none")


# -- shapes ----------------------------------------------------------------------------------------------


@singledispatch
def render(shape: Shape, canvas: Canvas) -> Iterator[Markup]:
    """The elements of a shape."""
    raise NotImplementedError(shape, canvas)


@render.register
def _(shape: Boxes, canvas: Canvas) -> Iterator[Markup]:
    x, y = canvas.panel.x, canvas.panel.y
    left, right, low, high = np.clip(shape.sides, [x.low, x.low, y.low, y.low], [x.high, x.high, y.high, y.high]).T
    sides = np.stack([canvas.across(left), canvas.across(right), canvas.down(high), canvas.down(low)], axis=1)
    colours = np.array(shape.colours)
    striped = np.zeros(len(sides), bool) if shape.striped is None else shape.striped
    parts: list[Content] = []
    for colour in dict.fromkeys(shape.colours):
        same = colours == colour
        if not shape.titles:
            parts += paint_boxes(sides[same], colour, sides[same & striped])
        for i in np.flatnonzero(same).tolist() if shape.titles else ():
            parts += paint_boxes(sides[i : i + 1], colour, sides[:0], shape.titles[i])
    yield tag("g", *parts, data_name=shape.name)


def paint_boxes(sides: Floats, colour: str, striped: Floats, title: str = "") -> Iterator[Markup]:
    """Boxes of one colour as one path, with a thin gap between neighbours; stripes over some of them."""
    width, height = sides[:, 1] - sides[:, 0], sides[:, 3] - sides[:, 2]
    gap = np.minimum(0.8, 0.06 * np.minimum(width, height))
    x, y = sides[:, 0] + gap / 2, sides[:, 2] + gap / 2
    wide, high = np.maximum(width - gap, 0.7), np.maximum(height - gap, 0.3)
    if len(sides):
        each = zip(x.tolist(), y.tolist(), wide.tolist(), high.tolist(), strict=True)
        path = "".join(f"M{px(a)} {px(b)}h{px(w)}v{px(h)}H{px(a)}z" for a, b, w, h in each)
        yield tag("path", tag("title", title) if title else None, d=path, fill=colour)
    large = striped[np.minimum(striped[:, 1] - striped[:, 0], striped[:, 3] - striped[:, 2]) >= STRIPED]
    if len(large):
        yield tag("path", d="".join(map(stripe, large.tolist())), stroke=PAPER, stroke_width="1.2", fill="none")


def stripe(box: list[float]) -> str:
    """Slanted lines inside a box: x + y is the same along each, and a multiple of the distance of two."""
    left, right, top, bottom = box
    sums = np.arange(np.ceil((left + top) / STRIPE), (right + bottom) / STRIPE) * STRIPE
    x = np.maximum(left, sums - bottom)
    each = zip(x.tolist(), (sums - x).tolist(), (np.minimum(right, sums - top) - x).tolist(), strict=True)
    return "".join(f"M{px(x)} {px(y)}l{px(length)}-{px(length)}" for x, y, length in each)


@render.register
def _(shape: Image, canvas: Canvas) -> Iterator[Markup]:
    left, right, low, high = shape.sides
    x, y = float(canvas.across(left)), float(canvas.down(high))
    size = {"width": px(float(canvas.across(right)) - x), "height": px(float(canvas.down(low)) - y)}
    data = f"data:image/png;base64,{b64encode(encode_png(shape.cells[::-1])).decode()}"
    yield tag("image", x=px(x), y=px(y), **size, href=data, preserveAspectRatio="none", data_name=shape.name)


def encode_png(cells: Floats) -> bytes:
    """Cells (red, green, blue, opacity) as a PNG file."""
    rows, columns, _ = cells.shape
    values = np.round(cells * 255).astype(np.uint8).reshape(rows, -1)
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), values], axis=1).tobytes()
    header = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    chunks = {b"IHDR": header, b"IDAT": zlib.compress(lines, 9), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks.items()
    )


@render.register
def _(shape: Curve, canvas: Canvas) -> Iterator[Markup]:
    path = trace(canvas.across(shape.x).tolist(), canvas.down(shape.y).tolist())
    if shape.floor is not None:
        floor, start = px(float(canvas.down(shape.floor))), px(float(canvas.across(shape.x[0])))
        area = {"fill": shape.colour, "fill_opacity": f"{shape.opacity:g}"}
        yield tag("path", d=f"{path}V{floor}H{start}z", **area, data_name=shape.name)
        return
    yield tag("path", d=path, fill="none", stroke=shape.colour, stroke_width="2", data_name=shape.name)
    if shape.dotted:
        yield from render(Marks(shape.name, shape.x, shape.y, shape.colour, 3.0), canvas)


def trace(x: list[float], y: list[float]) -> str:
    """A path through points; steps that go straight across or down are written short, and those of no length not."""
    path, before = [f"M{px(x[0])} {px(y[0])}"], (px(x[0]), px(y[0]))
    for at in zip(map(px, x), map(px, y), strict=True):
        same = at[0] == before[0], at[1] == before[1]
        path.append("" if all(same) else f"V{at[1]}" if same[0] else f"H{at[0]}" if same[1] else f"L{at[0]} {at[1]}")
        before = at
    return "".join(path)


@render.register
def _(shape: Segments, canvas: Canvas) -> Iterator[Markup]:
    x, y, to_x, to_y = shape.ends.T
    ends = np.stack([canvas.across(x), canvas.down(y), canvas.across(to_x), canvas.down(to_y)], axis=1)
    path = "".join(f"M{px(a)} {px(b)}L{px(c)} {px(d)}" for a, b, c, d in ends.tolist())
    style = {"stroke": shape.colour, "stroke_opacity": f"{shape.opacity:.2g}", "stroke_width": "1.5", "fill": "none"}
    yield tag("path", d=path, **style, data_name=shape.name)


@render.register
def _(shape: Marks, canvas: Canvas) -> Iterator[Markup]:
    radii = np.broadcast_to(np.asarray(shape.radius, np.float64), np.shape(shape.x))
    each = zip(canvas.across(shape.x).tolist(), canvas.down(shape.y).tolist(), radii.tolist(), strict=True)
    path = "".join(outline_mark(shape.shape, x, y, radius) for x, y, radius in each)
    if path:
        yield tag("path", d=path, fill=shape.colour, fill_opacity=f"{shape.opacity:.2g}", data_name=shape.name)


def outline_mark(shape: str, x: float, y: float, r: float) -> str:
    """The outline of a dot, a diamond or an arrow head."""
    if shape == "o":
        half = f"a{px(r)} {px(r)} 0 0 0"
        return f"M{px(x - r)} {px(y)}{half} {px(2 * r)} 0{half} {px(-2 * r)} 0z"
    if shape == "D":
        return f"M{px(x - r)} {px(y)}L{px(x)} {px(y - r)}L{px(x + r)} {px(y)}L{px(x)} {px(y + r)}z"
    dx, dy = ARROWS[shape]
    corners = [(x + r * dx, y + r * dy), *((x + r * (s * dy - dx), y + r * (s * dx - dy)) for s in (1, -1))]
    return "M" + "L".join(f"{px(a)} {px(b)}" for a, b in corners) + "z"


@render.register
def _(shape: Words, canvas: Canvas) -> Iterator[Markup]:
    yield render_text(shape, float(canvas.across(shape.x)), float(canvas.down(shape.y)) + 4)

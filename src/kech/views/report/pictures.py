"""Pictures of a report: plain SVG, coloured by the style of the page, each with a title and a description."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import ceil
from typing import Any

from kech.views.report.markup import Content, Markup, count, shorten, tag

WIDTH, HEIGHT = 360, 190  # as wide as a telephone, so that words stay readable
LEFT, RIGHT, TOP, BOTTOM = 34, 8, 14, 30
MOST_SIZES = 24  # class sizes drawn one by one
LINES = 230  # of a barcode
LETTER = 5.4  # how wide one is
RADII = (0, 0.1, 0.2, 0.3, 0.4, 0.5)
LONGEST = 0.5  # where everything is together
BESIDE = 17  # characters that fit beside a bar


def picture(title: str, about: str, shapes: Iterable[Content], *, height: float = HEIGHT) -> Markup:
    """A figure that says what it shows."""
    words = (tag("title", title), tag("desc", about))
    svg = tag(
        "svg", *words, *shapes, viewBox=f"0 0 {WIDTH} {place(height)}", role="img", aria_label=f"{title}. {about}"
    )
    return tag("figure", svg, tag("figcaption", about))


def place(value: float) -> str:
    """A coordinate, to a tenth."""
    return f"{value:.1f}".removesuffix(".0")


def box(x: float, y: float, width: float, height: float, class_: str, said: str = "") -> Markup:
    """A rectangle; what it stands for shows under the pointer."""
    spot = {"x": place(x), "y": place(y), "width": place(width), "height": place(height)}
    return tag("rect", tag("title", said) if said else None, **spot, class_=class_)


def words(x: float, y: float, text: str, anchor: str = "middle", *, class_: str | None = None) -> Markup:
    """A short text."""
    return tag("text", text, x=place(x), y=place(y), text_anchor=anchor, class_=class_)


def line(x: float, y: float, to_x: float, to_y: float, class_: str = "axis") -> Markup:
    """A straight line."""
    return tag("line", x1=place(x), y1=place(y), x2=place(to_x), y2=place(to_y), class_=class_)


def meter(share: float) -> Markup:
    """A share of 1 as a bar inside a cell; the figure stands beside it."""
    track = (box(0, 0, 100, 8, "track"), box(0, 0, 100 * min(max(share, 0.0), 1.0), 8, "bar"))
    return tag("svg", *track, viewBox="0 0 100 8", class_="meter", aria_hidden="true", preserveAspectRatio="none")


def strip(counts: Sequence[int], names: Sequence[str], title: str) -> Markup:
    """Parts of a whole in one line."""
    total, at, parts = sum(counts) or 1, 0.0, []
    for shade, (held, name) in enumerate(zip(counts, names, strict=True)):
        if held:
            parts.append(box(at, 0, 100 * held / total, 8, f"s{shade}", f"{name}: {held / total:.1%} of the rows"))
        at += 100 * held / total
    about = ", ".join(f"{name} {held / total:.1%}" for held, name in zip(counts, names, strict=True) if held)
    label = {"role": "img", "aria_label": f"{title}: {about}"}
    return tag(
        "svg", tag("title", title), *parts, viewBox="0 0 100 8", class_="strip", preserveAspectRatio="none", **label
    )


def ruler(edges: Sequence[float], domain: tuple[float, float], title: str, about: str) -> Markup:
    """Where intervals begin, as marks on the axis."""
    low, high = domain
    marks = {round(1000 * (edge - low) / ((high - low) or 1)) / 10 for edge in edges}
    path = "".join(f"M{place(at)} 1V7" for at in sorted(marks) if 0 <= at <= 100)
    shapes = (tag("title", title), tag("desc", about), box(0, 3.5, 100, 1, "track"), tag("path", d=path, class_="mark"))
    return tag(
        "svg", *shapes, viewBox="0 0 100 8", class_="ruler", role="img", preserveAspectRatio="none", aria_label=about
    )


# -- class sizes -----------------------------------------------------------------------------------------


def draw_sizes(sizes: Mapping[int, int], k: int) -> Markup:
    """How many classes have how many rows."""
    bins = bin_sizes(sizes)
    most = max(bins.values())
    room, base = WIDTH - LEFT - RIGHT, HEIGHT - BOTTOM
    step, tall = room / len(bins), base - TOP
    shapes: list[Content] = [*scale(most, base, tall)]
    longest = max(len(size_name(*ends)) for ends in bins)
    every = ceil((longest * LETTER + 4) / step)
    for i, ((low, high), classes) in enumerate(bins.items()):
        x, high_bar = LEFT + i * step, max(tall * classes / most, 0.8)
        name = size_name(low, high)
        gap = min(2.0, step / 5)
        shapes.append(
            box(x + gap / 2, base - high_bar, step - gap, high_bar, "bar", f"{count(classes)} classes of {name} rows")
        )
        if i % every == 0:
            shapes.append(words(x + step / 2, base + 12, name))
    shapes += [line(LEFT, base, WIDTH - RIGHT, base), words(LEFT + room / 2, HEIGHT - 4, "rows in a class")]
    largest = max(sizes)
    about = f"{count(sum(sizes.values()))} classes; the smallest has {count(k)} rows, the largest {count(largest)}."
    return picture("Class sizes", about, shapes)


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


def size_name(low: int, high: int) -> str:
    """A size, or from which to which."""
    return count(low) if low == high else f"{count(low)}–{count(high)}"


def scale(most: float, base: float, tall: float) -> list[Markup]:
    """Nothing, half and all of a vertical axis."""
    marks = (0, most) if most < 2 else (0, most // 2, most)
    return [
        part
        for mark in marks
        for y in [base - tall * mark / most]
        for part in (line(LEFT, y, WIDTH - RIGHT, y, "grid"), words(LEFT - 4, y + 3.5, count(round(mark)), "end"))
    ]


# -- barcode ---------------------------------------------------------------------------------------------


def draw_barcode(found: Mapping[str, Any]) -> Markup:
    """Each bar from its birth to its death, as thick as its rows, the sharpest classes lowest."""
    room, base = WIDTH - LEFT - RIGHT, TOP + LINES
    shapes: list[Content] = [
        part
        for eps in RADII
        for x in [LEFT + 2 * room * eps]
        for part in (line(x, TOP, x, base, "grid"), words(x, base + 12, f"{eps:g}"))
    ]
    for bar, low, high in pick_bars(found["bars"]):
        death = LONGEST if bar["death"] is None else bar["death"]
        x, wide = LEFT + 2 * room * bar["birth"], max(2 * room * (death - bar["birth"]), 1.5)
        gap = 0.6 if high - low > 2 else 0.0
        shapes.append(box(x, base - high + gap, wide, max(high - low - gap, 0.8), "bar" if bar["death"] else "ever"))
    shapes += [line(LEFT, base, WIDTH - RIGHT, base), line(LEFT, TOP, LEFT, base)]
    shapes += [
        words(LEFT + room / 2, base + 25, "eps, half the widest label"),
        words(16, TOP + LINES / 2, "rows", class_="up"),
    ]
    of = "" if found["drawn"] == found["classes"] else f" of {count(found['classes'])}, every n-th by its labels"
    about = (
        f"{count(found['drawn'])} classes{of}: one bar each, as thick as its rows, the sharpest class lowest; where "
        "bars are too thin for that, the longest of each line is drawn. The dark one never ends."
    )
    return picture("Barcode of the released table", about, shapes, height=base + 30)


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


# -- before and after ------------------------------------------------------------------------------------


def draw_pair(bins: Sequence[Mapping[str, Any]], title: str, about: str) -> Markup:
    """Shares before and after, part by part."""
    most = max((share for part in bins for share in (part["before"], part["after"])), default=0) or 1
    row, shapes = 15, list[Content]()
    for i, part in enumerate(bins):
        y = 2 + i * row
        shapes.append(words(100, y + 9.5, shorten(part["label"], BESIDE), "end"))
        for when, shift in (("before", 1.5), ("after", 7)):
            wide = max(174 * part[when] / most, 0.4)
            shapes.append(box(104, y + shift, wide, 5, when, f"{part['label']}: {when} {part[when]:.1%}"))
        shapes.append(words(WIDTH - 2, y + 10, f"{part['before']:.1%} → {part['after']:.1%}", "end", class_="small"))
    return picture(title, about, shapes, height=6 + len(bins) * row)

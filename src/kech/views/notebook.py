"""Notebook: a result as a small piece of HTML, with a plot that also reads as text.

In: a result.  Out: HTML that stands alone: no script, no style sheet, nothing loaded, no cell of the table.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import accumulate
from math import isfinite
from typing import Any

WIDE, HIGH, LEFT, FOOT = 440, 150, 46, 24  # of a plot, and the room for its numbers
ENOUGH, FEW, HOLE = "#7d9fc3", "#e67314", "#8a8a8a"
LINES = ("#5b87b5", "#e67314", "#5b8c5a", "#a77bb5")
MOST_BARS = 60  # drawn one by one
FEW_DOTS = 20  # of a line
MOST_LINES = 12  # rows of a table
LANDMARKS = (2, 5, 10, 20, 50, 100)
CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"
TABLE = "border-collapse:collapse;font:inherit"
CHEAP = 10**7  # nodes times points of a lattice whose curve is computed just to be shown
PRIVATE = f'<strong style="color:{FEW}">PRIVATE</strong> <span>not for publication</span>'

Points = Sequence[tuple[float, float]]
Box = tuple[float, float, float, float, str]  # left, right, low, high, colour


def show_table(table: Any) -> str:
    """Columns by role; how many values each quasi-identifier has, of as many as there are rows."""
    roles = ("quasi_identifiers", "sensitive", "identifiers", "keep")
    named = {role.replace("_", "-"): getattr(table, role) for role in roles if getattr(table, role)}
    lines = [(role, ", ".join(names)) for role, names in named.items()]
    distinct = {name: table.facts(name).distinct for name in table.quasi_identifiers}
    picture = bars(distinct, "distinct values", table.rows) if distinct else ""
    return card(repr(table), grid(("role", "columns"), lines), picture, private=True)


def show_spectrum(spectrum: Any) -> str:
    """Loss against k for every cut, and some rows."""
    rows = spectrum.rows()
    curves = {cut: [(row["k"], row["loss"]) for row in rows if row["cut"] == cut] for cut in cuts_of(rows)}
    chosen = rows if len(rows) <= MOST_LINES else [row for row in rows if row["k"] in LANDMARKS]
    names = ("k", "cut", "classes", "eps", "l", "t", "loss")
    lines = [tuple(figure(row[name]) for name in names) for row in chosen]
    return card(repr(spectrum), curve(curves, "k", "loss"), grid(names, lines), private=True)


def show_barcode(barcode: Any) -> str:
    """The bars, or how many components there are while eps grows."""
    found = barcode.bars()
    ends = [end for bar in found for end in (bar.birth, bar.death) if isfinite(end)]
    last = 1.15 * max(ends, default=0.0) or 1.0
    if len(found) <= MOST_BARS:
        drawn = boxes((box(i, bar, last) for i, bar in enumerate(found)), last, len(found), "eps (radius)")
    else:
        deaths = sorted(bar.death for bar in found if bar.dimension == 0 and bar.birth == 0)
        steps = [(0.0, float(len(deaths)))] + [(d, len(deaths) - i - 1.0) for i, d in enumerate(deaths) if isfinite(d)]
        drawn = curve({"components that began as single points": steps}, "eps (radius)", "left")
    regimes = {name: barcode.regimes(name, 2) for name in ("homological", "strict")}
    regimes = {f"homological over Z/{barcode.field}": regimes.pop("homological"), **regimes}
    lines = [(name, "unknown" if r is None else figure(r[0].start) if r else "never") for name, r in regimes.items()]
    return card(repr(barcode), drawn, grid(("reading", "2-anonymous from eps"), lines), private=True)


def show_lattice(lattice: Any) -> str:
    """What each k costs, where that is quick to know; how many levels each column has."""
    heights = grid(("column", "levels"), [(n, str(h)) for n, h in zip(lattice.columns, lattice.heights, strict=True)])
    if lattice.nodes * len(lattice.points.weights) > CHEAP:
        return card(repr(lattice), heights, private=True)
    best = lattice.curve(ks=[k for k in LANDMARKS if k <= lattice.largest_k])
    drawn = curve({"best node": [(node.k, node.loss) for node in best]}, "k", "loss") if best else ""
    return card(repr(lattice), drawn, heights, private=True)


def show_zigzag(zigzag: Any) -> str:
    """Bars along the path, equal ones as one that is as thick; or how many classes there are along it."""
    last, lines = float(zigzag.positions[-1]) if zigzag.positions else 0.0, zigzag.summary()
    if len(lines) <= MOST_BARS:
        tops = list(accumulate(line["count"] for line in lines))
        placed = zip(lines, [0, *tops], tops, strict=False)
        shapes = [
            (line["birth"], line["death"] + 0.4, low, high, HOLE if line["dimension"] else ENOUGH)
            for line, low, high in placed
        ]
        drawn = boxes(shapes, last + 0.5, max(tops, default=1), "position on the path")
    else:
        drawn = curve({"classes": list(zip(zigzag.positions, zigzag.classes.tolist(), strict=True))}, "position", "")
    nodes = ", ".join(",".join(map(str, node)) for node in zigzag.path[:MOST_LINES])
    more = f" and {len(zigzag.path) - MOST_LINES} more" if len(zigzag.path) > MOST_LINES else ""
    return card(repr(zigzag), drawn, grid(("path",), [(nodes + more,)]), private=True)


def show_release(release: Any, suppressed: str, loss: float) -> str:
    """How many classes there are of each size; only what the certificate says too."""
    sizes = Counter(release.partition.sizes.tolist())
    drawn = curve({"classes": sorted(sizes.items())}, "rows of a class", "classes", stems=True)
    lines = [("columns", ", ".join(release.columns)), ("loss", figure(loss)), ("suppressed", suppressed)]
    return card(repr(release), drawn, grid(("published", ""), lines), private=False)


# -- pieces --------------------------------------------------------------------------------------------


def card(title: str, *parts: str, private: bool) -> str:
    """A title, what may be shown to whom, and the parts beneath."""
    mark = f'<div style="font-size:85%">{PRIVATE}</div>' if private else ""
    style = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.4;max-width:46em"
    return f'<div style="{style}"><div><strong>{escape(title)}</strong></div>{mark}{"".join(parts)}</div>'


def grid(names: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table of text."""
    return rows_of(names, [[escape(text) for text in line] for line in lines])


def rows_of(names: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML."""
    head = "".join(f'<th style="{CELL}">{escape(name)}</th>' for name in names)
    body = "".join("<tr>" + "".join(f'<td style="{CELL}">{text}</td>' for text in line) + "</tr>" for line in lines)
    return f'<table style="{TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def curve(lines: Mapping[str, Points], across: str, up: str, *, stems: bool = False) -> str:
    """Lines, or stems, against an axis; several lines are named below."""
    points = [point for line in lines.values() for point in line]
    (low, high), top = (min(x for x, _ in points), max(x for x, _ in points)), max(y for _, y in points)
    coloured = list(zip(lines, LINES * len(lines), strict=False))
    parts: list[str] = []
    for name, colour in coloured:
        places = [(place(x, low, high), HIGH - FOOT - y / (top or 1) * (HIGH - FOOT - 12)) for x, y in lines[name]]
        parts += map(stem, places) if stems else draw_line(places, colour)
    said = "; ".join(f"{name}: {up} {figure(line[0][1])} to {figure(line[-1][1])}" for name, line in lines.items())
    words = f"{up} against {across} from {figure(low)} to {figure(high)}. {said}"
    names = [f'<span style="color:{colour}">&#9632;</span> {escape(name)}' for name, colour in coloured]
    legend = f"<div>{' &#160; '.join(names)}</div>" if len(names) > 1 else ""
    return svg(parts, words, (figure(low), figure(high)), ("0", figure(top)), across) + legend


def draw_line(places: Points, colour: str) -> list[str]:
    """A line, with dots where they are few."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places if len(places) < FEW_DOTS]
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots]


def stem(at: tuple[float, float]) -> str:
    """A stroke from the floor up."""
    x, y = at
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{HIGH - FOOT}" y2="{y:.1f}" stroke="{ENOUGH}" stroke-width="6"/>'


def boxes(shapes: Iterable[Box], last: float, high: float, across: str) -> str:
    """Bars as boxes, from one place to another."""
    step = (HIGH - FOOT - 8) / max(high, 1)
    parts = []
    for left, right, low, top, colour in shapes:
        x, stop = place(left, 0, last), place(right, 0, last)
        thick = max((top - low) * step * 0.8, 0.7)
        parts.append(
            f'<rect x="{x:.1f}" y="{4 + low * step:.1f}" width="{max(stop - x, 0.7):.1f}" height="{thick:.1f}" '
            f'fill="{colour}"/>'
        )
    return svg(parts, f"{figure(high)} bars along {across}", ("0", figure(last)), (figure(high), "0"), across)


def bars(counts: Mapping[str, int], name: str, most: int) -> str:
    """A bar for each name."""
    lines = []
    for label, count in counts.items():
        share = 100 * count / max(most, 1)
        strip = f'<span style="display:inline-block;background:{ENOUGH};height:.7em;width:{share * 1.6:.1f}px"></span>'
        lines.append((escape(label), f"{count:,}", f"{strip} {share:.0f} %"))
    return rows_of(("column", name, f"of {most:,} rows"), lines)


def svg(parts: Sequence[str], words: str, ends: tuple[str, str], sides: tuple[str, str], across: str) -> str:
    """A picture with numbers at its ends, and its words for those who do not see it."""
    text = 'font-size="11" fill="currentColor"'
    floor = HIGH - FOOT
    return (
        f'<svg viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" height="{HIGH}" role="img" aria-label="{escape(words)}" '
        f'style="max-width:100%;height:auto" xmlns="http://www.w3.org/2000/svg"><title>{escape(words)}</title>'
        f'<line x1="{LEFT}" y1="{floor}" x2="{WIDE - 8}" y2="{floor}" stroke="currentColor" opacity=".4"/>'
        f"{''.join(parts)}"
        f'<text x="{LEFT - 6}" y="{floor}" text-anchor="end" {text}>{escape(sides[0])}</text>'
        f'<text x="{LEFT - 6}" y="14" text-anchor="end" {text}>{escape(sides[1])}</text>'
        f'<text x="{LEFT}" y="{HIGH - 8}" {text}>{escape(ends[0])}</text>'
        f'<text x="{(LEFT + WIDE) / 2}" y="{HIGH - 8}" text-anchor="middle" {text}>{escape(across)}</text>'
        f'<text x="{WIDE - 8}" y="{HIGH - 8}" text-anchor="end" {text}>{escape(ends[1])}</text></svg>'
    )


def box(number: int, bar: Any, last: float) -> Box:
    """A bar of a barcode: orange where a row is alone, grey for a hole."""
    colour = HOLE if bar.dimension else FEW if bar.weight == 1 else ENOUGH
    return bar.birth, min(bar.death, last), number, number + 1, colour


def place(x: float, low: float, high: float) -> float:
    """Where a value stands across the picture."""
    return LEFT + (x - low) / ((high - low) or 1) * (WIDE - LEFT - 8)


def figure(value: Any) -> str:
    """A number as people read it."""
    if value is None:
        return ""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.4g}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


def cuts_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Each cut once."""
    return list(dict.fromkeys(row["cut"] for row in rows))

"""Notebook: a result as a small piece of HTML: its picture, small, and a table.

In: a result.  Out: HTML that stands alone: no script, no style sheet, nothing loaded, no cell of the table.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from kech.release.sentences import given_away_words
from kech.request.parts import ROLES, USUAL_K
from kech.views.barcodes import capitalize, list_sentences, say_earliest, say_headline, say_joined
from kech.views.markup import describe_start
from kech.views.pictures.barcode import draw_barcode
from kech.views.pictures.lives import draw_lives
from kech.views.pictures.mixed import draw_mixed
from kech.views.pictures.picture import BAR, ORANGE, RED, Picture
from kech.views.pictures.profile import advise, draw_profile, explain
from kech.views.pictures.released import draw_sizes
from kech.views.pictures.spectrum import draw_spectrum
from kech.views.pictures.svg import render_svg
from kech.views.pictures.zigzag import draw_zigzag

SIZE = (430.0, 200.0)  # of a panel
MOST_LINES = 12  # rows of a table
LANDMARKS = (2, 5, 10, 20, 50, 100)
CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"
NUMBERS = ";text-align:right;font-variant-numeric:tabular-nums"  # of a column of numbers, in place of the left
FIGURE = r"(&lt;|<|[-−])?[\d,.]+(e[-+]\d+)?"
NUMBER = re.compile(
    rf"(|none|never|unknown|not available|{FIGURE}( ?%)?( (KS|TV)| \({FIGURE}-{FIGURE}\))?|{FIGURE} to {FIGURE})"
)
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
TABLE = "border-collapse:collapse;font:inherit"
MOST_COMPARED = 20_000  # points whose columns are compared just to be shown: 0.3 s of CPU on six columns
CHEAP = 10**7  # nodes times points of a lattice whose curve is computed just to be shown
GIVEN = f"background:{RED};color:#fff;padding:2px 6px;font-weight:600"  # given away; legible on any ground
PRIVATE = f'<strong style="color:{ORANGE}">PRIVATE</strong> <span>not for publication</span>'


def show_table(table: Any) -> str:
    """Columns by role; how many values each quasi-identifier has, of as many as there are rows."""
    columns_of_role = {role.replace("_", "-"): getattr(table, role) for role in ROLES if getattr(table, role)}
    lines = [(role, ", ".join(names)) for role, names in columns_of_role.items()]
    distinct = {name: table.facts(name).distinct for name in table.quasi_identifiers}
    picture = share_bars(distinct, "distinct values", table.rows) if distinct else ""
    return card(repr(table), grid(("role", "columns"), lines), picture, private=True)


def show_spectrum(spectrum: Any) -> str:
    """Loss against k for every cut, and some rows."""
    rows = spectrum.rows()
    selected = rows if len(rows) <= MOST_LINES else [row for row in rows if row["k"] in LANDMARKS]
    names = ("k", "cut", "classes", "eps", "l", "t", "loss")
    lines = [tuple(format_figure(row[name]) for name in names) for row in selected]
    drawn = embed(draw_spectrum(rows, ["loss"], SIZE, spectrum.counted))
    return card(repr(spectrum), drawn, grid(names, lines), private=True)


def show_barcode(barcode: Any) -> str:
    """What to do at the smallest k that was searched, or at 2; the bars, and from which eps on that k holds."""
    k = min(barcode.reached, default=2)
    names = {"homological": f"homological over Z/{barcode.field}", "strict": "strict"}
    names |= {"partition": "partition"} if k in barcode.reached else {}
    starts = [(name, say_start(barcode.find_start(reading, k), k)) for reading, name in names.items()]
    known = barcode.describe(k)
    headline, joined = say_headline(known), say_joined(known)
    more = [] if joined in headline else [f"{capitalize(joined)}."]
    words = sentences([f"{headline}.", *more, *list_sentences(known)])
    drawn = embed(draw_barcode(barcode, [k], size=SIZE))
    return card(repr(barcode), words, drawn, grid(("reading", "one eps for all rows"), starts), private=True)


def say_start(start: Any, k: int) -> str:
    """Between which radii k begins to hold, and why that is all that is known."""
    reason = f"; {start.reason}" if start.at_least < start.at_most else ""
    return describe_start(k, (start.at_least, start.at_most), start.classes) + reason


def show_profile(profile: Any) -> str:
    """What to know at a usual k; exposed rows over eps and k, and from which eps on rows can hide at the earliest."""
    ks = [k for k in LANDMARKS if k <= profile.largest_k]
    lines = [(str(k), *(format_figure(eps) for eps in profile.eps_for(k, [0.5, 0.99, 1.0]))) for k in ks]
    names = ("k", "50 % can hide from eps, at the earliest", "99 %", "100 %")
    if len(profile.units.weights) <= MOST_COMPARED:
        profile.advise(min(USUAL_K, profile.largest_k))
    advice = advise(profile)
    words = sentences([f"{say_earliest(advice)}.", *explain(advice)])
    return card(repr(profile), words, embed(draw_profile(profile, SIZE)), grid(names, lines), private=True)


def show_lattice(lattice: Any) -> str:
    """What each k costs, where that is quick to know; how many levels each column has."""
    heights = grid(("column", "levels"), [(n, str(h)) for n, h in zip(lattice.columns, lattice.heights, strict=True)])
    if lattice.nodes * len(lattice.points.weights) > CHEAP:
        return card(repr(lattice), heights, private=True)
    best = lattice.curve(ks=[k for k in LANDMARKS if k <= lattice.largest_k])
    rows = [{"k": node.k, "cut": "domain", "loss": node.loss} for node in best]
    drawn = embed(draw_spectrum(rows, ["loss"], SIZE, lattice.counted)) if rows else ""
    return card(repr(lattice), drawn, heights, private=True)


def show_mixed(mixed: Any) -> str:
    """Where k = 5 holds, where that is quick to know; how many levels each column has, and which ones eps measures."""
    columns = zip(mixed.level_columns, mixed.heights, strict=True)
    lines = [*((name, str(height)) for name, height in columns), *((name, "eps") for name in mixed.metric_columns)]
    levels = grid(("column", "levels"), lines)
    if mixed.nodes * len(mixed.points.weights) > CHEAP // 100:
        return card(repr(mixed), levels, private=True)
    picture = draw_mixed(mixed, min(5, mixed.points.people), SIZE)
    return card(repr(mixed), sentences([f"{picture.title}."]), embed(picture), levels, private=True)


def show_lives(lives: Any) -> str:
    """Lives of classes, with the size of every version."""
    counts = [(at.version, at.rows, at.arrived, at.left, at.classes) for at in lives.counts[:MOST_LINES]]
    lines = [[f"{count:,}" for count in line] for line in counts]
    names = ("version", "rows", "arrived", "left", "classes")
    return card(repr(lives), embed(draw_lives(lives, SIZE)), grid(names, lines), private=True)


def show_zigzag(zigzag: Any) -> str:
    """Bars along the path."""
    nodes = ", ".join(",".join(map(str, node)) for node in zigzag.path[:MOST_LINES])
    more = f" and {len(zigzag.path) - MOST_LINES} more" if len(zigzag.path) > MOST_LINES else ""
    return card(repr(zigzag), embed(draw_zigzag(zigzag, size=SIZE)), grid(("path",), [(nodes + more,)]), private=True)


def show_release(release: Any, suppressed: str, loss: float) -> str:
    """How many classes there are of each size; only what the certificate says too."""
    drawn = draw_sizes(Counter(release.partition.sizes.tolist()), size=SIZE)
    lines = [("columns", ", ".join(release.columns)), ("loss", format_figure(loss)), ("suppressed", suppressed)]
    away = list(given_away_words(release.given_away))
    warning = sentences([*away, *(["l=2 prevents it."] if away else [])], GIVEN)
    return card(repr(release), embed(drawn), grid(("published", ""), lines), warning, private=False)


# -- pieces --------------------------------------------------------------------------------------------


def card(title: str, *parts: str, private: bool) -> str:
    """A title, what may be shown to whom, and the parts beneath."""
    mark = f'<div style="font-size:85%">{PRIVATE}</div>' if private else ""
    style = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.4;max-width:46em"
    return f'<div style="{style}"><div><strong>{escape(title)}</strong></div>{mark}{"".join(parts)}</div>'


def sentences(texts: Iterable[str], style: str = "") -> str:
    """Each a line."""
    opening = f'<div style="{style}">' if style else "<div>"
    return "".join(f"{opening}{escape(text)}</div>" for text in texts)


def grid(names: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table of text."""
    return write_table(names, [[escape(text) for text in line] for line in lines])


def write_table(names: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML; columns of numbers stand at the right."""
    rows = [list(line) for line in lines]
    styles = [style_column([row[j] for row in rows]) for j in range(len(names))]
    head = "".join(f'<th style="{style}">{escape(name)}</th>' for name, style in zip(names, styles, strict=True))
    cells = [[f'<td style="{style}">{text}</td>' for text, style in zip(row, styles, strict=True)] for row in rows]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return f'<table style="{TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def style_column(cells: Sequence[str]) -> str:
    """How the cells of a column stand: numbers at the right, times in one line."""
    if all(map(NUMBER.fullmatch, cells)):
        return CELL + NUMBERS
    return CELL + ";white-space:nowrap" * all(map(TIME.fullmatch, cells))


def embed(picture: Picture) -> str:
    """A picture as wide as it was drawn, or as the page if that is narrower."""
    return f'<div style="max-width:{picture.width:.0f}px">{render_svg(picture)}</div>'


def share_bars(counts: Mapping[str, int], heading: str, total: int) -> str:
    """A count for each column of the table, and a bar for its share of the total."""
    lines = []
    for label, count in counts.items():
        share = 100 * count / max(total, 1)
        strip = f'<span style="display:inline-block;background:{BAR};height:.7em;width:{share * 1.6:.1f}px"></span>'
        lines.append((escape(label), f"{count:,}", f"{strip} {share:.0f} %"))
    return write_table(("column", heading, f"of {total:,} rows"), lines)


def format_figure(value: Any) -> str:
    """A number as people read it."""
    if value is None:
        return ""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.4g}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)

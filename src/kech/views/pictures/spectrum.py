"""Picture of a spectrum: loss, classes and eps against k, for every cut.  PRIVATE, for it is drawn from the rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kech.views.pictures.picture import GREY, Area, Curve, Marks, Panel, Picture, Scale, Shape, Size, Words, find_ticks

TITLE = "Spectrum: what every k costs"
COLOURS = {"local": "#3f6fa3", "domain": "#14a3a8", "minimal": "#5b8c5a", "regime": "#a77bb5"}
MEASURES = {"loss": "loss", "classes": "classes", "eps": "eps (radius)"}
BOUNDS = {"loss": "loss_lower_bound", "eps": "eps_lower_bound"}
FEWEST = 5  # values of k between which a knee can be seen
FEW_DOTS = 30  # values of k that are dotted
LEFT, RIGHT, BELOW, GAP = 84.0, 24.0, 44.0, 18.0  # pixels around and between panels


def draw_spectrum(
    rows: Sequence[dict[str, Any]],
    measures: Sequence[str] = tuple(MEASURES),
    size: Size | None = None,
    counted: str = "rows",
) -> Picture:
    """Loss above, classes and eps below, or some of them."""
    wide, high = size or (790.0, 280.0)
    ks, panels, top = [row["k"] for row in rows], list[Panel](), 12.0
    for measure in measures:
        area = (LEFT, top, wide, high if not panels else high * 0.66)
        panels.append(draw_panel(rows, measure, area, is_last=measure == measures[-1], is_main=not panels))
        top += area[3] + GAP
    cuts = dict.fromkeys(row["cut"] for row in rows)
    legend = [(cut, [COLOURS[cut]], False) for cut in cuts]
    if any(row.get(BOUNDS[measure]) is not None for row in rows for measure in measures if measure in BOUNDS):
        legend.append(("impossible", ["#d0d0d0"], False))
    about = f"k from {min(ks)} to {max(ks)}: every row hides among at least k" + " people" * (counted == "people")
    return Picture(TITLE, about, LEFT + wide + RIGHT, top - GAP + BELOW, panels, legend if len(legend) > 1 else [])


def draw_panel(rows: Sequence[dict[str, Any]], measure: str, area: Area, *, is_last: bool, is_main: bool) -> Panel:
    """One figure against k: a line for each cut, its knee marked, below what no partition can go shaded."""
    shapes = shade_bound(rows, measure)
    for cut in dict.fromkeys(row["cut"] for row in rows):
        ks, values = zip(*((row["k"], row[measure]) for row in rows if row["cut"] == cut), strict=True)
        shapes.append(Curve(cut, np.array(ks), np.array(values), COLOURS[cut], dotted=len(ks) < FEW_DOTS))
        if measure == "loss" and (knee := find_knee(ks, values)) is not None:
            at = np.array([ks[knee]]), np.array([values[knee]])
            shapes.append(Marks(f"{cut} knee", *at, COLOURS[cut], 7.0, "D"))
            shapes.append(Words(ks[knee], values[knee], f"knee: k = {ks[knee]}", anchor="start", move=(10, 12)))
    all_ks = [row["k"] for row in rows]
    low, high = min(all_ks), max(all_ks)
    margin = 0.02 * (high - low) or 0.5
    x = Scale(low - margin, high + margin, "k", find_ticks(low, high, whole=True))
    y = scale_measure([row[measure] for row in rows], measure)
    return Panel(x, y, area, shapes, has_bottom=is_last, has_grid=True, is_main=is_main)


def scale_measure(values: Sequence[float], measure: str) -> Scale:
    """From nothing up; classes on a log scale."""
    most = max(values) or 1.0
    if measure != "classes":
        return Scale(0, most * 1.06, MEASURES[measure], find_ticks(0, most * 1.06))
    least = max(min(values), 1)
    decades = [10**power for power in range(12) if least <= 10**power <= most * 1.1]
    ticks = sorted({least, most} if len(decades) < 2 else decades)
    return Scale(least / 1.1, most * 1.1, MEASURES[measure], [(tick, f"{tick:,}") for tick in ticks], is_log=True)


def shade_bound(rows: Sequence[dict[str, Any]], measure: str) -> list[Shape]:
    """Where no partition of these rows can be; bounds differ by cut only where the grids of the cuts do."""
    bound, known = BOUNDS.get(measure), dict[int, float]()
    for row in rows:
        if bound and row.get(bound) is not None:
            known[row["k"]] = min(known.get(row["k"], np.inf), row[bound])
    ks = sorted(known)
    area = Curve("bound", np.array(ks), np.array([known[k] for k in ks]), GREY, floor=0.0, opacity=0.3)
    return [area] if known else []


def find_knee(ks: Sequence[int], values: Sequence[float]) -> int | None:
    """Where the curve is farthest from the line through its ends; none where it is straight, or falls short of it."""
    if len(ks) < FEWEST or values[-1] <= values[0]:
        return None
    across = (np.array(ks) - ks[0]) / (ks[-1] - ks[0])
    upward = (np.array(values) - values[0]) / (values[-1] - values[0])
    above = upward - across
    return int(np.argmax(above)) if above.max() > 0.05 else None

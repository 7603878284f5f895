"""Picture of a weighted barcode.  PRIVATE, for it is drawn from the rows themselves.

A component is a box: as long as it lives, as thick as its rows.  What merges lies side by side, so a vertical
line at eps meets exactly the classes at eps.  Only radii, weights and counts are drawn, never a cell.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kech.errors import BadOption
from kech.release.sentences import percent
from kech.request import check_k
from kech.views.barcodes import JOIN, announce, capitalize, list_sentences, say_headline, say_joined, say_short
from kech.views.markup import describe_start
from kech.views.pictures.bars import (
    ENOUGH,
    ENOUGH_LOOSE,
    FEW,
    FEW_LOOSE,
    HOLE,
    HOLES_FROM,
    LEFT_OUT,
    MOST_BOXES,
    MOST_LABELS,
    NAMES,
    REGIME,
    REGIME_AT,
    REGIMES,
    PanelPixels,
    Sides,
    place_boxes,
    point_beyond,
    say_people,
    say_together,
    scale_counts,
    stack_bars,
)
from kech.views.pictures.picture import (
    GREY,
    INK,
    MARK,
    PAPER,
    Area,
    Curve,
    Floats,
    Marks,
    Panel,
    Picture,
    Scale,
    Segments,
    Shape,
    Size,
    Words,
    choose_title,
    find_log_ticks,
    find_ticks,
)

TITLE = "Weighted barcode: which rows are together while eps grows"
NOTE = "A bar is a class of rows, as thick as the share of the rows it holds; numbers in bars count {counted}."
BEGINS = "begins somewhere here"
ONE_EPS = "One eps for all rows, {reading}: {start}."
MOST_STRETCHES = 40  # in which rows that are left out are shown
LEFT, BETWEEN, BELOW = 84.0, 36.0, 44.0  # pixels beside and below the panels
CROWDED = 0.1  # of the eps axis: where half of the rows have joined before, it is logarithmic
FIRST_JOINS = 0.05  # of the rows that join: a logarithmic axis begins there
DECADES = 3.0  # of it, at most


@dataclass(frozen=True, slots=True)
class EpsAxis:
    """Where each eps is drawn: at itself, or at its logarithm, where all below the lowest are drawn at the left end."""

    high: float
    lowest: float = 0.0  # 0: not logarithmic

    def place(self, eps: Any) -> Any:
        """Where radii are drawn."""
        return np.log10(np.maximum(eps, self.lowest)) if self.lowest else eps

    def scale(self) -> Scale:
        """The side of a panel."""
        low, high = (float(self.place(eps)) for eps in (0.0, self.high))
        if self.lowest:
            return Scale(low, high, "eps (radius), log scale", find_log_ticks(low, high))
        return Scale(low, high, "eps (radius)", find_ticks(low, high))

    def place_barcode(self, barcode: Any) -> Any:
        """The barcode with every radius where it is drawn."""
        if not self.lowest:
            return barcode
        tree, holes = barcode.filtration, {n: self.place(bars) for n, bars in barcode.holes.items()}
        radii = {name: self.place(getattr(tree, name)) for name in ("birth", "death", "simplex_from")}
        ends = ("minimal_eps", "local_eps")
        reached = {
            k: replace(cut, **{name: self.place(getattr(cut, name)) for name in ends})
            for k, cut in barcode.reached.items()
        }
        return replace(barcode, filtration=replace(tree, **radii), holes=holes, reached=reached)

    def place_regimes(self, regimes: Any) -> Any:
        """Regimes with both ends where they are drawn."""
        return regimes and [
            replace(regime, start=float(self.place(regime.start)), stop=float(self.place(regime.stop)))
            for regime in regimes
        ]

    def place_start(self, start: Any) -> Any:
        """The begin of regimes, where it is drawn."""
        ends = {name: float(self.place(getattr(start, name))) for name in ("at_least", "at_most")}
        return replace(start, **ends)


def choose_axis(barcode: Any, k: int, right: float) -> EpsAxis:
    """Logarithmic where half of the rows have joined in the first tenth."""
    joins = barcode.filtration.find_joining_radii(k)
    joins = joins[(joins > 0) & np.isfinite(joins)]
    if not len(joins) or np.median(joins) > CROWDED * right:
        return EpsAxis(right)
    return EpsAxis(right, max(float(np.quantile(joins, FIRST_JOINS)), right / 10**DECADES))


def draw_barcode(
    barcode: Any,
    k: Sequence[int] = (2,),
    reading: str | None = None,
    size: Size | None = None,
    suppress: float = 0.0,
) -> Picture:
    """A column for each k: holes, components, regimes; below them the number of classes.

    The title says what to do; where a reading is named, from which eps on k holds under it.
    """
    if not k:
        raise BadOption("--k", "no k is named. Name one k or more.")
    check_k(min(k))
    if size is not None and len(k) > 1:
        raise BadOption("ax", "it takes one k. Omit ax to see several side by side.")
    shown = "homological" if reading is None else reading
    starts = [barcode.find_start(shown, goal, suppress) for goal in k]
    regimes = [find_regimes(barcode, shown, goal, suppress, start) for goal, start in zip(k, starts, strict=True)]
    known = [barcode.describe(goal, suppress) for goal in k]
    right = last_radius(barcode, regimes)
    wide, high = size or (max(880.0 / len(k), 290.0), 400.0)
    begins = [say_begin(barcode, goal, start) for goal, start in zip(k, starts, strict=True)]
    heads = list(map(write_heads, known, begins, starts))
    is_headed = len(k) == 1 and size is None and reading is None  # the title of the picture is that of its only panel
    titles = begins if reading else [entitle(*both, wide, is_headed) for both in zip(known, heads, strict=True)]
    panels, axis = [], choose_axis(barcode, min(k), right)
    placed, tick = axis.place_barcode(barcode), name_holes(barcode)
    for column, (goal, intervals, start) in enumerate(zip(k, map(axis.place_regimes, regimes), starts, strict=True)):
        left = LEFT + column * (wide + BETWEEN)
        left_out = list_left_out(intervals, shown) if suppress else []
        seen = (intervals, axis.place_start(start), left_out)
        main = draw_panel(placed, goal, seen, (axis.scale(), tick), (left, 22.0, wide, high))
        pair = [replace(main, title=titles[column])]
        pair.append(draw_counts(placed.filtration, goal, axis.scale(), (left, high + 34, wide, high / 5)))
        panels += [replace(panel, y=replace(panel.y, ticks=(), label="")) for panel in pair] if column else pair
    notes = [] if reading else [ONE_EPS.format(reading=shown, start="; ".join(begins))]
    notes = [*list_advice(known), *notes, *map(explain_start, starts), *explain_bars(barcode, right), panels[0].note]
    return Picture(
        choose_title(heads[0], LEFT + wide + BETWEEN - MARK) if is_headed else TITLE,
        f"{say_points(barcode.filtration)}; reading: {shown}{say_suppress(suppress)}",
        LEFT + len(k) * (wide + BETWEEN),
        high * 1.2 + 34 + BELOW,
        panels,
        name_colours(barcode.filtration.metric, barcode.counted, suppress),
        "\n".join(dict.fromkeys(filter(None, notes))),
    )


def list_advice(known: Sequence[Any]) -> Iterator[str]:
    """What cuts reach, what isolates, what is released."""
    for one in known:
        yield from list_sentences(one)
        yield from map(announce, one["released"])


def explain_bars(barcode: Any, right: float) -> list[str]:
    """What a bar is, and why there are no holes in the picture."""
    tree = barcode.filtration
    bars = f"{NOTE.format(counted=barcode.counted)} {JOIN[tree.metric]}{say_whole(tree, right)}"
    return [bars, f"{capitalize(barcode.no_holes)}." if barcode.no_holes else ""]


def write_heads(known: Any, begin: str, start: Any) -> list[str]:
    """What to do at a k, with fewer and fewer columns named; where one eps gives several classes, that may be it."""
    is_useful = start.is_exact and start.classes > 1
    return [say_headline(known, begin if is_useful else "", most) for most in (2, 1, 0)]


def entitle(known: Any, heads: list[str], wide: float, is_headed: bool) -> str:
    """The title of a panel: what to do, as long as there is room; below a heading, how rows join."""
    shares = [line["share"] for line in known["joined"]]
    choices = [capitalize(say_joined(known, shares[first:])) for first in range(len(shares))]
    is_joined = is_headed and known["joined"][-1]["eps"] is not None
    return choose_title(choices if is_joined else [*heads, say_short(known)], wide)


def say_begin(barcode: Any, k: int, start: Any) -> str:
    """From where on k holds under the reading."""
    share = percent(1 - start.suppressed / barcode.filtration.points.rows) if start.suppressed else ""
    return describe_start(k, (start.at_least, start.at_most), start.classes, share)


def find_regimes(barcode: Any, reading: str, k: int, suppress: float, start: Any) -> Any:
    """Regimes that are known: where only their begin is, those of `strict`, which begin there and hold under all."""
    regimes = barcode.regimes(reading, k, suppress)
    return barcode.regimes("strict", k, suppress) if regimes is None and start.is_exact else regimes


def say_suppress(suppress: float) -> str:
    """Which share of the rows may be left out."""
    return f"; up to {100 * suppress:g} % of the rows left out" if suppress else ""


def say_points(tree: Any) -> str:
    """What was measured, and how."""
    return f"{say_rows(tree)}, {len(tree.order):,} distinct; metric: {tree.metric}"


def say_rows(tree: Any) -> str:
    """How many rows there are, and people where they were counted."""
    rows = f"{tree.points.rows:,} row{'s' * (tree.points.rows > 1)}"
    return rows if tree.people is None else f"{rows} of {say_people(tree.units.people)}"


def last_radius(barcode: Any, regimes: Sequence[Any]) -> float:
    """Right end of the picture: past the last merge, the last hole and the first regime of every k."""
    tree = barcode.filtration
    seen = [tree.death[:-1], *(bars[:, 1] for bars in barcode.holes.values())]
    seen.append(np.array([intervals[0].start for intervals in regimes if intervals]))
    radii = np.concatenate(seen)
    last = float(radii[np.isfinite(radii)].max(initial=0.0))
    whole = float(tree.simplex_from[-1])
    return 1.08 * (whole if last < whole < 2 * last else last) or 1.0


def say_whole(tree: Any, right: float) -> str:
    """From where on all rows are together, if that is beyond the picture."""
    whole = float(tree.simplex_from[-1])
    return f" All rows are inside one {tree.metric} from eps = {whole:.4g} on." * (whole > right)


def name_colours(metric: str, counted: str, suppress: float) -> list[tuple[str, list[str], bool]]:
    """Colours in words."""
    return [
        (f"fewer than k {counted}", [NAMES[FEW]], False),
        (f"k {counted} or more", [NAMES[ENOUGH]], False),
        *([("left out", [NAMES[LEFT_OUT]], False)] if suppress else []),
        (f"not yet inside one {metric} of radius eps", [NAMES[FEW_LOOSE], NAMES[ENOUGH_LOOSE]], True),
        ("hole", [NAMES[HOLE]], False),
        ("k-anonymous, with so many classes", [NAMES[REGIME]], False),
    ]


# -- panels ----------------------------------------------------------------------------------------------


def draw_panel(barcode: Any, k: int, seen: tuple[Any, Any, Any], sides: tuple[Scale, str], area: Area) -> Panel:
    """Holes above, components in the middle, regimes below; radii are where they are drawn."""
    tree, holes, (regimes, start, left_out), (x, holes_tick) = barcode.filtration, hole_boxes(barcode), seen, sides
    top = HOLES_FROM + min(0.3, 0.03 * max(3, len(holes)))
    ticks = [(REGIME_AT, "regimes"), (0.5, "rows"), ((HOLES_FROM + top) / 2, holes_tick)]
    y = Scale(REGIMES[0], top, ticks=ticks)
    pixels, components = PanelPixels(x, y, area[2:]), component_boxes(tree, k, x.high)
    for stretch, shades in left_out:
        components = shade_within(components, stretch, shades)
    shapes, merged = place_boxes(components, (0, 1), pixels, "components")
    above, more = place_boxes(holes, (HOLES_FROM, top), pixels, "holes")
    shapes += [*above, *label_weights(tree, pixels)]
    shapes += [point_beyond(pixels, 0.5, int(components[components[:, 1].argmax(), 4]))]
    shapes += [*draw_regimes(regimes, start, pixels), *mark_reached(barcode.reached.get(k), pixels)]
    note = say_together(merged + more)
    return Panel(x, y, area, shapes, note=note, has_bottom=False, has_side=False)


def explain_start(start: Any) -> str:
    """Why it is not known exactly from where on k holds."""
    return "" if start.is_exact or not start.reason else f"{capitalize(start.reason)}."


def list_left_out(regimes: Any, reading: str) -> list[tuple[tuple[float, float], tuple[int, ...]]]:
    """The longest stretches of eps with regimes, and the shades of the components that these leave out."""
    stretches: list[tuple[float, float]] = []
    for regime in regimes or ():
        joined = bool(stretches) and stretches[-1][1] == regime.start
        stretches[-1 if joined else len(stretches) :] = [(stretches[-1][0] if joined else regime.start, regime.stop)]
    shades = (FEW, FEW_LOOSE, *([ENOUGH_LOOSE] if reading == "strict" else []))
    longest = sorted(stretches, key=lambda stretch: stretch[0] - stretch[1])[:MOST_STRETCHES]
    return [(stretch, shades) for stretch in longest]


def shade_within(boxes: Sides, stretch: tuple[float, float], shades: tuple[int, ...]) -> Sides:
    """Boxes with the parts that lie in a stretch of eps shown as left out, where they have one of the shades."""
    start, stop = stretch
    met = np.isin(boxes[:, 4], shades) & (boxes[:, 0] < stop) & (boxes[:, 1] > start)
    before, within, after = (boxes[met].copy() for _ in range(3))
    before[:, 1], after[:, 0] = np.minimum(before[:, 1], start), np.maximum(after[:, 0], stop)
    within[:, 0], within[:, 1] = np.maximum(within[:, 0], start), np.minimum(within[:, 1], stop)
    within[:, 4] = LEFT_OUT
    parts = np.concatenate([before, within, after])
    return np.concatenate([boxes[~met], parts[parts[:, 0] < parts[:, 1]]])


def mark_reached(reached: Any, pixels: PanelPixels) -> list[Shape]:
    """Arrows at the widest class of the cuts local and minimal."""
    if reached is None:
        return []
    cuts = {"minimal": reached.minimal_eps, "local": reached.local_eps}
    if abs(cuts["local"] - cuts["minimal"]) * pixels.wide < 1:
        cuts = {"local, minimal": cuts["local"]}
    shapes: list[Shape] = []
    for name, eps in cuts.items():
        at, above = min(eps, pixels.x.high), 1 + 5 / pixels.high
        shapes.append(Segments(f"{name} cut", np.array([[at, 0.0, at, 1.0]]), INK))
        shapes.append(Marks(f"{name} cut reaches", np.array([at]), np.array([above]), GREY, 4.0, "v"))
        shapes.append(Words(at, above, name, GREY, "end", (-7.0, 0.0)))
    return shapes


def component_boxes(tree: Any, k: int, right: float) -> Sides:
    """Two boxes a component: while it is loose, and as a full simplex."""
    end = np.minimum(tree.death, right)
    full = np.clip(tree.simplex_from, tree.birth, end)
    shade = np.where(tree.hidden_among < k, FEW, ENOUGH)
    height, bar = heights(tree), np.arange(len(end))
    loose = np.stack([tree.birth, full, *height, shade + 1, bar], axis=1)
    tight = np.stack([full, end, *height, shade, bar], axis=1)
    return np.concatenate([loose[full > tree.birth], tight[full < end]])


def heights(tree: Any) -> tuple[Floats, Floats]:
    """Lower and upper edge of each component: points lie in the order in which they merge, as thick as their rows."""
    thickness = tree.points.weights[tree.order]
    edges = stack_bars(thickness)
    return edges[tree.end], edges[tree.begin]


def hole_boxes(barcode: Any) -> Sides:
    """One above the other, by dimension and birth, the thicker the longer; those of zero length are left out."""
    parts = [bars[np.lexsort(bars.T[::-1])] for _, bars in sorted(barcode.holes.items())]
    bars = np.concatenate([np.empty((0, 2)), *parts])
    left, right = bars[bars[:, 0] < bars[:, 1]].T
    length, number = np.minimum(right - left, 1), np.arange(len(left))
    thickness = length + 2 * length.sum() / max(1, len(length))
    edges = np.append(0, np.cumsum(thickness)) / max(thickness.sum(), 1e-300)
    return np.stack([left, right, edges[:-1], edges[1:], np.full(len(left), HOLE), number], axis=1)


def name_holes(barcode: Any) -> str:
    """How many holes there are of each dimension."""
    counts = {n: int((bars[:, 0] < bars[:, 1]).sum()) for n, bars in sorted(barcode.holes.items(), reverse=True)}
    if barcode.is_complete and not any(counts.values()):
        return "no holes"
    names = [f"H{n}: {count:,}" for n, count in counts.items()]
    return "\n".join(["holes", *(names or ["not", "computed"])])


def label_weights(tree: Any, pixels: PanelPixels) -> list[Words]:
    """The number of people or rows, at the beginning of every bar that has room for it."""
    (low, top), length = heights(tree), np.minimum(tree.death, pixels.x.high) - tree.birth
    count = tree.hidden_among
    fits = (length * pixels.wide > 14 + 7 * np.log10(count)) & ((top - low) * pixels.high > 11)
    largest = np.argsort(-count * fits, kind="stable")[: min(MOST_LABELS, fits.sum())].tolist()
    return [
        Words(tree.birth[i] + 4 / pixels.wide, (low[i] + top[i]) / 2, f"{count[i]:,}", INK, "start") for i in largest
    ]


def draw_regimes(regimes: Any, start: Any, pixels: PanelPixels) -> list[Shape]:
    """Where k-anonymity holds, with the number of classes; a line between the radii where it begins."""
    right = pixels.x.high
    if not regimes:
        if start.is_exact:
            return [Words((pixels.x.low + right) / 2, REGIME_AT, "none", GREY)]
        left, end = min(start.at_least, right), min(start.at_most, right)
        line = Segments("begins between", np.array([[left, REGIME_AT, end, REGIME_AT]]), GREY)
        has_room = (end - left) * pixels.wide > 7 * len(BEGINS) and pixels.has_regime_text
        words = [Words((left + end) / 2, REGIME_AT, BEGINS, GREY, "middle", (0.0, 10.0))] if has_room else []
        return [line, *words, point_beyond(pixels, REGIME_AT, LEFT_OUT)]
    seen = [[regime.start, regime.stop, regime.classes] for regime in regimes if regime.start < right]
    start, stop, classes = np.array(seen).T
    boxes = np.stack([start, stop.clip(max=right), start * 0, start * 0 + 1, start * 0 + REGIME, classes], axis=1)
    shapes, _ = place_boxes(boxes, REGIMES, pixels, "regimes")
    shapes.append(point_beyond(pixels, REGIME_AT, REGIME))
    for left, end, *_, count in boxes[(boxes[:, 1] - boxes[:, 0]) * pixels.wide > 12].tolist():
        texts = f"{count:,.0f} class{'es' * (count > 1)}", f"{count:,.0f}"
        text = next((text for text in texts if (end - left) * pixels.wide > 7 * len(text)), "")
        if text and pixels.has_regime_text:
            shapes.append(Words((left + end) / 2, REGIME_AT, text, PAPER))
    return shapes


def draw_counts(tree: Any, k: int, side: Scale, area: Area) -> Panel:
    """How many classes there are at each eps, and how many of them have fewer than k people, or rows."""
    eps = np.unique(np.append(tree.birth, side.high))
    eps = eps if len(eps) < MOST_BOXES else np.linspace(side.low, side.high, MOST_BOXES)
    y, areas = scale_counts(len(tree.order), area[3]), list[Shape]()
    for chosen, shade in ((tree.weight > 0, ENOUGH), (tree.hidden_among < k, FEW)):
        born, dead = np.sort(tree.birth[chosen]), np.sort(tree.death[chosen])
        count = np.searchsorted(born, eps, side="right") - np.searchsorted(dead, eps, side="right")
        x, steps = np.repeat(eps, 2)[1:], np.repeat(np.maximum(count, y.low), 2)[:-1]
        areas.append(Curve("number of classes", x, steps.astype(float), NAMES[shade], floor=y.low))
    return Panel(side, y, area, areas, is_main=False)

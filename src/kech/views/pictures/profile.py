"""Picture of a profile: how many rows cannot hide, over eps and k.  PRIVATE, for it is drawn from the rows.

Both sides are logarithmic.  White is hidden, orange is exposed; lines show from where on a share of the rows can hide.
"""

from typing import Any

import numpy as np

from kech.request.parts import USUAL_K
from kech.views.barcodes import name_isolating, say_bounds, say_earliest, say_hiding, say_isolating
from kech.views.pictures.picture import (
    DEEP,
    INK,
    MARK,
    ORANGE,
    PAPER,
    Curve,
    Floats,
    Image,
    Marks,
    Panel,
    Picture,
    Scale,
    Shape,
    Size,
    choose_title,
    find_log_ticks,
)

ABOUT = "Exposure profile; {rows}; metric: {metric}"
NOTE = "Orange: rows that certainly cannot hide, since their k-th nearest row is farther away than 2 eps."
CUTS = {"minimal_eps": "minimal cut", "local_eps": "local cut"}
REACHED = (
    "Marks: from there on a release of all rows exists: --cut minimal (dots, narrowest) and local (diamonds, cheapest)."
)
LEFT, RIGHT, TOP, BELOW = 84.0, 24.0, 16.0, 44.0  # pixels around the panel
CELLS = (160, 200)  # across and upward, at most
FEWEST_DECADES, DECADES = 1.0, 3.0  # of eps
KS = (1, 2, 3, 5, 10, 20, 50, 100)
LEGEND = (0.0, 0.01, 0.1, 0.5, 1.0)
SHADES = {0.5: "#9db7d3", 0.9: "#5f8bb8", 0.99: DEEP, 1.0: INK}


def draw_profile(profile: Any, size: Size | None = None) -> Picture:
    """A cell for every eps and k, and the lines of 50, 90, 99 and 100 %."""
    wide, high = size or (760.0, 380.0)
    ks = np.arange(min(2, profile.largest_k), profile.largest_k + 1)
    lines = np.array([profile.eps_for(int(k), list(SHADES)) for k in ks])
    widest = max((max(cut.minimal_eps, cut.local_eps) for cut in profile.reached.values()), default=0.0)
    x, y = scale_eps(lines, widest), Scale(float(np.log10(ks[0])), float(np.log10(ks[-1] + 1)), "k", label_ks(ks))
    shapes: list[Shape] = [
        Image(
            "exposed",
            colour_shares(count_exposed(profile, x, y, find_cells(wide, high))),
            (x.low, x.high, y.low, y.high),
        )
    ]
    for column, (share, shade) in enumerate(SHADES.items()):
        along = np.log10(np.maximum(lines[:, column], 10**x.low)).repeat(2)
        edges = np.log10(np.append(ks, ks[-1] + 1)).repeat(2)[1:-1]
        shapes.append(Curve(f"{share:.0%} can hide at the earliest", along, edges, shade))
    shapes += mark_cuts(profile.reached, x)
    legend = [(f"{100 * share:g} % exposed", [blend(share)], False) for share in LEGEND]
    legend += [(f"{100 * share:g} % can hide at the earliest", [shade], False) for share, shade in SHADES.items()]
    advice = advise(profile)
    note = "\n".join(
        [
            *explain(advice),
            f"{say_hiding(profile.filtration.metric, profile.counted)} {NOTE}",
            *([REACHED] if profile.reached else []),
        ]
    )
    about = ABOUT.format(rows=profile.units.describe_rows(), metric=profile.filtration.metric)
    panel = Panel(x, y, (LEFT, TOP, wide, high), shapes)
    title = choose_title([say_earliest(advice, most) for most in (2, 1, 0)], LEFT + wide + RIGHT - MARK)
    return Picture(title, about, LEFT + wide + RIGHT, TOP + high + BELOW, [panel], legend, note)


def advise(profile: Any) -> dict[str, Any]:
    """What the profile says at a usual k, or near it where columns were compared at another."""
    seen = {k for _, k in profile.known} or {min(USUAL_K, profile.largest_k)}
    k = min(seen, key=lambda k: (abs(k - USUAL_K), k))
    compared = all(((axis.column,), k) in profile.known for axis in profile.units.axes)
    return profile.advise(k) if compared else profile.describe_hiding(k)  # type: ignore[no-any-return]


def explain(advice: dict[str, Any]) -> list[str]:
    """What a column adds, and below which eps no release goes."""
    return [*([say_isolating(advice)] if name_isolating(advice) else []), say_bounds(advice)]


def mark_cuts(reached: Any, x: Scale) -> list[Shape]:
    """At each k that was cut, the widest class of the cuts minimal and local."""
    shapes: list[Shape] = []
    for name, shape in (("minimal_eps", "o"), ("local_eps", "D")):
        eps = np.array([getattr(reached[k], name) for k in reached], float)
        heights = np.array([find_middle(k) for k in reached], float)
        along = np.log10(np.maximum(eps, 10**x.low)).clip(max=x.high)
        if len(eps):
            shapes.append(Marks(CUTS[name], along, heights, INK, 4.0, shape))
    return shapes


def scale_eps(lines: Floats, widest: float) -> Scale:
    """From the first eps at which something can be seen to that at which all rows hide, or to the widest class."""
    positive = np.append(lines[lines > 0], [widest] * (widest > 0))
    high = float(np.log10(positive.max())) if len(positive) else 0.0
    lowest = float(np.log10(positive.min())) if len(positive) else high
    low = min(max(lowest, high - DECADES) - 0.1, high - FEWEST_DECADES)
    high += 0.05
    return Scale(low, high, "eps (radius), log scale", find_log_ticks(low, high))


def find_middle(k: Any) -> Any:
    """The height of a k: the middle of its row of cells, which ends where that of k + 1 begins."""
    return (np.log10(k) + np.log10(k + 1)) / 2


def label_ks(ks: Any) -> list[tuple[float, str]]:
    """Places of round k."""
    return [(float(find_middle(k)), str(k)) for k in KS if ks[0] <= k <= ks[-1]]


def find_cells(wide: float, high: float) -> tuple[int, int]:
    """How many cells a panel of so many pixels has across and upward."""
    return min(CELLS[0], int(wide / 4) + 1), min(CELLS[1], int(high / 1.9) + 1)


def count_exposed(profile: Any, x: Scale, y: Scale, cells: tuple[int, int]) -> Floats:
    """The share of exposed rows in the middle of every cell."""
    eps = 10 ** (x.low + (np.arange(cells[0]) + 0.5) / cells[0] * (x.high - x.low))
    heights = y.low + (np.arange(cells[1]) + 0.5) / cells[1] * (y.high - y.low)
    goals = (10**heights).astype(int).clip(1, profile.largest_k)
    share_of_k = {int(k): share_beyond(profile, int(k), eps) for k in np.unique(goals)}
    return np.stack([share_of_k[int(k)] for k in goals])


def share_beyond(profile: Any, k: int, eps: Floats) -> Floats:
    """For each eps, ascending, the share of the rows that cannot hide among k."""
    index = np.searchsorted(eps, profile.reaches.at(k))
    counts = np.bincount(index, profile.rows.weights, len(eps) + 1)
    return np.asarray(1 - np.cumsum(counts)[:-1] / counts.sum())


def colour_shares(shares: Floats) -> Floats:
    """White to orange; roots let one row in a hundred be seen."""
    ends = [np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]) for colour in (PAPER, ORANGE)]
    depth = np.sqrt(shares.clip(0, 1))[..., None]
    colours = ends[0] + depth * (ends[1] - ends[0])
    return np.concatenate([colours, np.ones((*shares.shape, 1))], axis=-1)


def blend(share: float) -> str:
    """The colour of a share."""
    return "#{:02x}{:02x}{:02x}".format(
        *(round(255 * part) for part in colour_shares(np.array([share]))[0, :3].tolist())
    )

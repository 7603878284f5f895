"""Plot of a spectrum: loss, classes and eps against k, for every cut.  PRIVATE, for it is drawn from the rows.

In: the rows of a spectrum.  Out: matplotlib axes, or a file (.svg, .png, .html).
"""

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from kech.views.plot import COLOURS, FEW, GREY, INK, PAPER, load_matplotlib, save_figure

TITLE = "Spectrum: what every k costs"
LINES = {"local": "#1f3a5a", "domain": "#e57414", "minimal": "#5b8c5a", "regime": "#7d9fc3"}
PANELS = {"loss": "loss", "classes": "classes", "eps": "eps (radius)"}
BOUNDS = {"loss": "loss_lower_bound", "eps": "eps_lower_bound"}
FEWEST = 5  # values of k between which a knee can be seen


def draw_spectrum(rows: Sequence[dict[str, Any]], *, ax: Any = None) -> Any:
    """Loss above, classes and eps below: the matplotlib axes.  With `ax` the loss alone, into axes of your own."""
    if ax is not None:
        draw_panel(ax, rows, "loss")
        ax.set_xlabel("k")
        ax.set_title("PRIVATE", loc="right", color=COLOURS[FEW], weight="bold")
        return ax
    figure = load_matplotlib().figure.Figure(figsize=(9, 8.4), dpi=100, facecolor=PAPER)
    panels = figure.subplots(3, 1, sharex=True, height_ratios=(3, 2, 2))
    figure.subplots_adjust(left=0.1, right=0.97, top=0.88, bottom=0.12, hspace=0.12)
    for panel, figures in zip(panels, PANELS, strict=True):
        draw_panel(panel, rows, figures)
    panels[-1].set_xlabel("k: every row hides among at least so many")
    add_words(figure, panels[0], rows)
    return panels[0]


def save_spectrum(rows: Sequence[dict[str, Any]], path: str | PathLike[str]) -> None:
    """Draw into a file, whole or not at all."""
    save_figure(lambda: draw_spectrum(rows).figure, path, TITLE)


def draw_panel(ax: Any, rows: Sequence[dict[str, Any]], name: str) -> None:
    """One figure against k: a line for each cut, its knee marked, below what no partition can go shaded."""
    for cut in dict.fromkeys(row["cut"] for row in rows):
        points = [(row["k"], row[name]) for row in rows if row["cut"] == cut]
        ks, values = zip(*points, strict=True)
        ax.plot(ks, values, color=LINES[cut], marker="o" if len(ks) < 30 else None, markersize=3, label=cut, gid=cut)
        if name == "loss" and (knee := find_knee(ks, values)) is not None:
            ax.plot(*points[knee], marker="D", color=LINES[cut], markersize=7, markeredgecolor=PAPER, gid=f"{cut} knee")
            ax.annotate(
                f"knee: k = {ks[knee]}", points[knee], (6, -12), textcoords="offset points", fontsize=8, color=INK
            )
    shade_bound(ax, rows, name)
    ax.xaxis.set_major_locator(load_matplotlib().ticker.MaxNLocator(integer=True))
    ax.set_ylabel(PANELS[name], fontsize=9)
    ax.set_yscale("log" if name == "classes" else "linear")
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.02)


def shade_bound(ax: Any, rows: Sequence[dict[str, Any]], name: str) -> None:
    """Where no partition of these rows can be; bounds differ by cut only where the grids of the cuts do."""
    bound = BOUNDS.get(name)
    known: dict[int, float] = {}
    for row in rows:
        if bound and row.get(bound) is not None:
            known[row["k"]] = min(known.get(row["k"], np.inf), row[bound])
    if known:
        ks = sorted(known)
        ax.fill_between(
            ks, [known[k] for k in ks], color=GREY, alpha=0.25, linewidth=0, label="impossible", gid="bound"
        )


def find_knee(ks: Sequence[int], values: Sequence[float]) -> int | None:
    """Where the curve is farthest from the line through its ends; none where it is straight, or falls short of it."""
    if len(ks) < FEWEST or values[-1] <= values[0]:
        return None
    across = (np.array(ks) - ks[0]) / (ks[-1] - ks[0])
    upward = (np.array(values) - values[0]) / (values[-1] - values[0])
    above = upward - across
    return int(np.argmax(above)) if above.max() > 0.05 else None


def add_words(figure: Any, panel: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Title, mark and legend."""
    figure.text(0.1, 0.955, TITLE, fontsize=12, weight="bold", color=INK)
    ks = [row["k"] for row in rows]
    figure.text(0.1, 0.92, f"k from {min(ks)} to {max(ks)}", fontsize=9, color=GREY)
    figure.text(0.97, 0.955, "PRIVATE", fontsize=12, weight="bold", color=COLOURS[FEW], ha="right")
    figure.text(0.97, 0.92, "drawn from the rows, not for publication", fontsize=9, color=GREY, ha="right")
    handles, names = panel.get_legend_handles_labels()
    figure.legend(
        handles, names, loc="lower left", bbox_to_anchor=(0.09, 0.02), ncols=len(names), frameon=False, fontsize=9
    )

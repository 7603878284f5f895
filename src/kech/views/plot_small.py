"""Small plots: what each k costs in a lattice, and the class sizes of a release, as matplotlib figures.

In: rows with k and loss, or class sizes.  Out: matplotlib axes.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from kech.views.plot import GREY, PAPER, load_matplotlib
from kech.views.plot_spectrum import draw_spectrum


def draw_curve(rows: Sequence[dict[str, Any]], *, ax: Any = None) -> Any:
    """Loss against k, into axes of your own or new ones.  PRIVATE."""
    return draw_spectrum(rows, ax=new_axes() if ax is None else ax)


def draw_sizes(sizes: Sequence[int], k: int, *, ax: Any = None) -> Any:
    """How many classes of each size a release has: public, as its certificate is."""
    drawn = new_axes() if ax is None else ax
    counts = sorted(Counter(sizes).items())
    drawn.bar(*zip(*counts, strict=True), color="#7d9fc3", width=0.8)
    drawn.axvline(k - 0.5, color=GREY, linewidth=1)
    drawn.set_xlabel("rows of a class")
    drawn.set_ylabel("classes")
    drawn.spines[["top", "right"]].set_visible(False)
    drawn.xaxis.set_major_locator(load_matplotlib().ticker.MaxNLocator(integer=True))
    return drawn


def new_axes() -> Any:
    """Axes of a small figure."""
    return load_matplotlib().figure.Figure(figsize=(6, 3.2), dpi=100, facecolor=PAPER, layout="constrained").subplots()

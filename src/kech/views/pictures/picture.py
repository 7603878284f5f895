"""Picture: panels of shapes in the units of their axes, with a heading, a legend and a note.

In: what the drawing functions beside this file found.  Out: for `svg` and `figure`, which only paint.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kech.axes.grid import DAY, date_rulers, format_date, number_rulers

Floats = NDArray[np.float64]
Ticks = Sequence[tuple[float, str]]
Size = tuple[float, float]  # of the first panel: pixels across and down
Area = tuple[float, float, float, float]  # of a panel: left, top, width and height in pixels

INK, GREY, PAPER = "#222222", "#767676", "#ffffff"
BAR, DEEP, ORANGE, RED = "#7d9fc3", "#1f5a8a", "#e67314", "#c0202a"  # hidden twice, exposed, given away
FONT = 12.0  # pixels
LETTER = 0.56  # width of a letter, as a share of the font
NARROW, BOLD = 0.5, 0.64  # of a letter in a long line, and in a title
MARK = 105.0  # pixels beside a title: margins, and the word PRIVATE
HEAD, LINE, EDGE = 62.0, 18.0, 20.0  # heights of the heading and of a line of text; margin
FEWEST_TICKS = 4
STEPS = (1, 2, 5)  # of ticks in each power of ten
FEWEST_DECADES = 0.9  # with fewer, every digit has a tick


@dataclass(frozen=True, slots=True)
class Scale:
    """One side of a panel; a tick is a position and its text, minor ones stand between the others."""

    low: float
    high: float
    label: str = ""
    ticks: Ticks = ()
    minor: Ticks = ()
    upright: bool = False
    is_log: bool = False

    def share(self, values: Floats | float) -> Floats:
        """How far along the side values lie, 0 to 1."""
        low, high, at = self.low, self.high, np.asarray(values, np.float64)
        if self.is_log:
            low, high, at = np.log(low), np.log(high), np.log(np.maximum(at, low))
        return np.asarray((at - low) / ((high - low) or 1.0))


@dataclass(frozen=True, eq=False)
class Boxes:
    """Rectangles: left, right, low and high of each, and its colour; some are striped, some say what they are."""

    name: str
    sides: Floats
    colours: Sequence[str]
    striped: NDArray[np.bool_] | None = None
    titles: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Image:
    """Coloured cells (red, green, blue, opacity) that fill a rectangle; the first row is the lowest."""

    name: str
    cells: Floats
    sides: tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Curve:
    """A line through points, or the area between it and a floor."""

    name: str
    x: Floats
    y: Floats
    colour: str
    floor: float | None = None
    dotted: bool = False
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class Segments:
    """Straight lines that are not joined: x and y of both ends of each."""

    name: str
    ends: Floats
    colour: str
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class Marks:
    """Dots, diamonds or arrow heads (o, D, <, >, ^, v), each with its radius in pixels."""

    name: str
    x: Floats
    y: Floats
    colour: str
    radius: Floats | float = 4.0
    shape: str = "o"
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Words:
    """A text at a point, moved by so many pixels; it begins, ends or has its middle there."""

    x: float
    y: float
    text: str
    colour: str | None = None
    anchor: str = "middle"
    move: tuple[float, float] = (0.0, 0.0)


Shape: TypeAlias = Boxes | Image | Curve | Segments | Marks | Words


@dataclass(frozen=True, eq=False)
class Panel:
    """Shapes between two scales, in an area of the picture: left, top, width and height in pixels."""

    x: Scale
    y: Scale
    area: Area
    shapes: list[Shape]
    title: str = ""
    note: str = ""  # what cannot be seen in the panel itself
    has_bottom: bool = True  # a line with ticks and a label below
    has_side: bool = True
    has_grid: bool = False
    is_main: bool = True  # other panels add to one that is


@dataclass(frozen=True, eq=False)
class Picture:
    """Panels, and the words around them; `about` says what is seen, for who does not see it."""

    title: str
    about: str
    width: float
    height: float
    panels: list[Panel]
    legend: list[tuple[str, list[str], bool]] = field(default_factory=list)  # name, colours, striped
    note: str = ""
    is_private: bool = True
    font: float = FONT


def letters(text: str, font: float = FONT, letter: float = LETTER) -> float:
    """Pixels that a text needs, roughly."""
    return len(text) * font * letter


def choose_title(choices: Sequence[str], room: float) -> str:
    """The first title that has room, or the last."""
    return next((title for title in choices if letters(title, letter=BOLD) < room), choices[-1])


def find_ticks(low: float, high: float, *, whole: bool = False, dates: bool = False) -> list[tuple[float, str]]:
    """Round numbers, or dates, from one end to the other: the coarsest steps that give a few."""
    span = (high - low) or 1.0
    for ruler in date_rulers(span, DAY) if dates else number_rulers(span, 1.0 if whole else 0.0):
        marks = ruler.marks(low, high)
        marks = marks[(marks >= low) & (marks <= high)]
        if len(marks) >= FEWEST_TICKS:
            break
    return [(mark, format_date(mark, DAY) if dates else f"{mark:,.10g}") for mark in marks.tolist()]


def find_log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Round numbers from one power of ten to another, each at its power."""
    powers = range(int(low) - 1, int(high) + 2)
    steps = STEPS if high - low >= FEWEST_DECADES else range(1, 10)
    marks = [float(f"{step}e{power}") for power in powers for step in steps]
    return [(float(np.log10(mark)), f"{mark:g}") for mark in marks if low <= np.log10(mark) <= high]


# -- words around the panels -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Swatch:
    """A patch of a legend, in pixels."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    striped: bool


@dataclass(frozen=True, eq=False)
class Surroundings:
    """All that stands around the panels, which begin at `top`; texts and patches in pixels of the whole."""

    width: float
    height: float
    top: float
    texts: list[tuple[Words, bool]]  # with whether it is bold
    swatches: list[Swatch]


def frame(picture: Picture, *, is_bare: bool = False) -> Surroundings:
    """Heading, mark, legend and note; a bare picture has a legend only, where the page has words of its own."""
    texts: list[tuple[Words, bool]] = []
    top, right = 0.0 if is_bare else HEAD, picture.width - EDGE
    if not is_bare:
        texts += [(Words(EDGE, 24, picture.title, anchor="start"), True)]
        texts += [(Words(EDGE, 42, picture.about, GREY, "start"), False)]
    if picture.is_private and not is_bare:
        texts += [(Words(right, 24, "PRIVATE", ORANGE, "end"), True)]
        texts += [(Words(right, 42, "drawn from the rows, not for publication", GREY, "end"), False)]
    words, swatches, at = place_legend(picture, top + picture.height + 6)
    texts += words
    most = int((right - EDGE) / (picture.font * NARROW))
    for sentence in picture.note.splitlines() if not is_bare else ():
        for line in wrap(sentence, most):
            at += LINE
            texts.append((Words(EDGE, at - 6, line, GREY, "start"), False))
    return Surroundings(picture.width, at + (0 if is_bare else 8), top, texts, swatches)


def place_legend(picture: Picture, top: float) -> tuple[list[tuple[Words, bool]], list[Swatch], float]:
    """Patches and names from left to right, in as many lines as they need; and where they end."""
    texts, swatches, x, at = list[tuple[Words, bool]](), list[Swatch](), EDGE, top
    for name, colours, striped in picture.legend:
        needed = 14 * len(colours) + 10 + letters(name, picture.font) + 16
        if x > EDGE and x + needed > picture.width:
            x, at = EDGE, at + LINE
        swatches += [Swatch(x + 14 * i, at + 3, 12, 10, colour, striped) for i, colour in enumerate(colours)]
        texts.append((Words(x + 14 * len(colours) + 4, at + 12, name, anchor="start"), False))
        x += needed
    return texts, swatches, at + LINE * bool(picture.legend)

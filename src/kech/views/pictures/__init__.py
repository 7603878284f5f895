"""Pictures: one drawing function for each, painted as SVG by kech itself, or by matplotlib.

In: a drawing function of a result.  Out: matplotlib axes, or a file (.svg, .html, .png), whole or not at all.
Notebook and report embed the same pictures as SVG.
"""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from kech.errors import BadTarget
from kech.system.files import draft_file, put_in_place, refuse_disk_errors
from kech.views.markup import escape_text
from kech.views.pictures.figure import build_figure, load_matplotlib, measure_axes, paint_into
from kech.views.pictures.picture import Picture, Size
from kech.views.pictures.svg import render_file, render_svg

ENDINGS = (".svg", ".png", ".html")
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>body {{ margin: 1rem auto; max-width: 90rem }} svg {{ width: 100%; height: auto }}</style>
</head><body>
{svg}
</body></html>
"""

Drawing = Callable[[Size | None], Picture]


def plot(draw: Drawing, path: str | PathLike[str] | None = None, ax: Any = None) -> Any:
    """Write a picture where a path is given; else the matplotlib axes, several where there are panels side by side."""
    if path is not None:
        return save_picture(draw, path)
    if ax is not None:
        return paint_into(ax, draw(measure_axes(ax)))
    load_matplotlib()
    picture = draw(None)
    axes = [ax for ax, panel in zip(build_figure(picture).axes, picture.panels, strict=True) if panel.is_main]
    return axes if len(axes) > 1 else axes[0]


def save_picture(draw: Drawing, path: str | PathLike[str]) -> None:
    """Put a picture in place; drawn from the rows, it is for its owner to read."""
    check_plot(path)
    target = Path(path)
    picture, ending = draw(None), target.suffix.lower()
    title = f"{'PRIVATE. ' * picture.is_private}{picture.title}"
    with refuse_disk_errors(target), draft_file(target) as draft:
        if ending == ".png":
            build_figure(picture).savefig(draft, format="png", dpi=200, metadata={"Title": title})
        else:
            page = PAGE.format(title=escape_text(title), svg=render_svg(picture, is_bare=False))
            draft.write_bytes((render_file(picture) if ending == ".svg" else page).encode())
        put_in_place({draft: target}, private=True)


def check_plot(path: str | PathLike[str]) -> None:
    """Refuse what could not be drawn, before anything is computed."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise BadTarget(target, "the name of a plot must end in .svg, .png or .html. Rename it.")
    if target.suffix.lower() == ".png":
        load_matplotlib()

"""Marks of a report: small bars inside its tables, coloured by the style of the page; and pictures with a caption."""

from collections.abc import Sequence

from kech.views.markup import Markup, tag
from kech.views.pictures.picture import Picture
from kech.views.pictures.svg import px, render_svg


def embed(picture: Picture) -> Markup:
    """A picture with what it says below."""
    return tag("figure", render_svg(picture), tag("figcaption", picture.about))


def box(x: float, y: float, width: float, height: float, class_: str, tooltip: str = "") -> Markup:
    """A rectangle; what it stands for shows under the pointer."""
    spot = {"x": px(x), "y": px(y), "width": px(width), "height": px(height)}
    return tag("rect", tag("title", tooltip) if tooltip else None, **spot, class_=class_)


def meter(share: float) -> Markup:
    """A share of 1 as a bar inside a cell; the figure stands beside it."""
    track = (box(0, 0, 100, 8, "track"), box(0, 0, 100 * min(max(share, 0.0), 1.0), 8, "bar"))
    return tag("svg", *track, viewBox="0 0 100 8", class_="meter", aria_hidden="true", preserveAspectRatio="none")


def draw_strip(counts: Sequence[int], names: Sequence[str], title: str) -> Markup:
    """Parts of a whole in one line."""
    total, at, parts = sum(counts) or 1, 0.0, []
    for shade, (count, name) in enumerate(zip(counts, names, strict=True)):
        if count:
            parts.append(box(at, 0, 100 * count / total, 8, f"s{shade}", f"{name}: {count / total:.1%} of the rows"))
        at += 100 * count / total
    about = ", ".join(f"{name} {count / total:.1%}" for count, name in zip(counts, names, strict=True) if count)
    label = {"role": "img", "aria_label": f"{title}: {about}"}
    return tag(
        "svg", tag("title", title), *parts, viewBox="0 0 100 8", class_="strip", preserveAspectRatio="none", **label
    )


def ruler(edges: Sequence[float], domain: tuple[float, float], title: str, about: str) -> Markup:
    """Where intervals begin, as marks on the axis."""
    low, high = domain
    marks = {round(1000 * (edge - low) / ((high - low) or 1)) / 10 for edge in edges}
    path = "".join(f"M{px(at)} 1V7" for at in sorted(marks) if 0 <= at <= 100)
    shapes = (tag("title", title), tag("desc", about), box(0, 3.5, 100, 1, "track"), tag("path", d=path, class_="mark"))
    return tag(
        "svg", *shapes, viewBox="0 0 100 8", class_="ruler", role="img", preserveAspectRatio="none", aria_label=about
    )

"""Rooms: the table of docs/architecture.md as a picture.

In: room -> rooms it may import, in the order of the table.  Out: SVG, coloured by the page it stands in.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

WIDTH, ROW, HIGH, MARGIN = 1180, 78, 30, 16
LETTER = 7.6  # units a letter is wide
ACROSS = 9  # rooms beside each other, at most


def read_rooms(page: Path) -> dict[str, set[str]]:
    """The table of rooms, as tests/test_architecture.py reads it."""
    rows = re.findall(r"^\| `([a-z_]+)(?:\.py|/)` \|[^|]*\|([^|]*)\|$", page.read_text("utf-8"), re.M)
    return {name: set(re.findall(r"[a-z_]+", imports)) - {name} for name, imports in rows}


def draw_rooms(rooms: Mapping[str, set[str]]) -> str:
    """Rooms in layers: what imports nothing stands at the top, and every line leads up."""
    needs = {name: {other for other in others if other in rooms} for name, others in rooms.items()}
    layers = layer(needs)
    places = {name: place for y, row in enumerate(layers) for name, place in row_places(row, y)}
    lines = [line(places[name], places[other]) for name in needs for other in sorted(direct(name, needs))]
    boxes = [box(name, *place) for name, place in places.items()]
    height = ROW * len(layers) + MARGIN
    words = f"{len(rooms)} rooms in {len(layers)} layers; every line leads from a room up to one it imports."
    return (
        f'<svg class="rooms" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{words}" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{words}</title>{"".join(lines + boxes)}</svg>'
    )


def layer(needs: Mapping[str, set[str]]) -> list[list[str]]:
    """Each room below all it imports; long layers are parted, and neighbours stand under what they import."""
    depth: dict[str, int] = {}
    for name, others in needs.items():  # the table is ordered: what a room imports comes before it
        depth[name] = 1 + max((depth[other] for other in others), default=-1)
    rows: list[list[str]] = []
    for level in range(max(depth.values()) + 1):
        names = sorted((name for name in needs if depth[name] == level), key=lambda name: middle(name, needs, rows))
        parts = -(-len(names) // ACROSS)
        size = -(-len(names) // parts)
        rows += [names[start : start + size] for start in range(0, len(names), size)]
    return rows


def middle(name: str, needs: Mapping[str, set[str]], rows: Sequence[Sequence[str]]) -> float:
    """Where, on average, the rooms stand that this one imports."""
    seen = [row.index(other) / len(row) for row in rows for other in needs[name] if other in row]
    return sum(seen) / len(seen) if seen else 0.5


def direct(name: str, needs: Mapping[str, set[str]]) -> set[str]:
    """What a room imports and does not also reach through another one: fewer lines say the same."""
    return needs[name] - {far for near in needs[name] for far in reached(near, needs)}


def reached(name: str, needs: Mapping[str, set[str]]) -> set[str]:
    """Everything above a room."""
    return needs[name] | {far for near in needs[name] for far in reached(near, needs)}


def row_places(row: Sequence[str], level: int) -> list[tuple[str, tuple[float, float, float]]]:
    """Middle, top and width of each room of a layer."""
    step = (WIDTH - 2 * MARGIN) / len(row)
    return [
        (name, (MARGIN + step * (i + 0.5), MARGIN + ROW * level, max(54.0, LETTER * len(name) + 18)))
        for i, name in enumerate(row)
    ]


def line(start: tuple[float, float, float], stop: tuple[float, float, float]) -> str:
    """A curve from the top of a room up to the bottom of another."""
    (x, y, _), (to_x, to_y, _) = start, stop
    bottom, bend = to_y + HIGH, (y - to_y - HIGH) / 2
    path = f"M{x:.0f} {y:.0f} C{x:.0f} {y - bend:.0f} {to_x:.0f} {bottom + bend:.0f} {to_x:.0f} {bottom:.0f}"
    return f'<path class="import" d="{path}"/>'


def box(name: str, x: float, y: float, width: float) -> str:
    """A room with its name."""
    return (
        f'<rect class="room" x="{x - width / 2:.1f}" y="{y:.0f}" width="{width:.1f}" height="{HIGH}" rx="6"/>'
        f'<text class="name" x="{x:.1f}" y="{y + HIGH / 2 + 4:.0f}" text-anchor="middle">{escape(name)}</text>'
    )

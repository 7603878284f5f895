"""Zig-zag: how classes split and merge along a path of lattice nodes that need not be comparable.

In: a lattice and a path.  Out: bars with the rows they carry, holes of the unions, nodes that reach k.  PRIVATE.
Where a person may have several rows, bars carry people beside rows, and k counts people.

    union:         C^0 -> C^0 u C^1 <- C^1 -> C^1 u C^2 <- C^2 ...
    intersection:  C^0 <- C^0 n C^1 -> C^1 <- C^1 n C^2 -> C^2 ...

Position i is node i of the path, i + 1/2 what lies between nodes i and i + 1.  A complex is a disjoint union of full
simplices, so the classes of the union are those of the join (finest common coarsening), the classes of the
intersection those of the meet (common refinement), and by Mayer-Vietoris

    dim H_1(C^s u C^t) = #meet - #s - #t + #join

is the only homology above H_0, over every field: H_1 is a subgroup of a free group.  A node has no holes, so the
readings homological, strict and partition agree there; what lies between nodes cannot be released, and is in no
regime.  Of comparable neighbours the union is the coarser and the intersection the finer one.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from os import PathLike
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kech._kernels import PathWalk
from kech.errors import unusable_value
from kech.request import check_k
from kech.system.console import report
from kech.system.memory import PATH_CLASS_BYTES, PATH_POINT_BYTES, check_need, half_the_memory
from kech.tables.frames import as_frame
from kech.tables.table import Table
from kech.topology.barcode import READINGS, find_longest
from kech.topology.lattice import compute_lattice
from kech.topology.paths import Lattice, resolve_path

Ints = NDArray[np.int64]

THROUGH = ("union", "intersection")
STRETCH = 64  # nodes of a path whose classes are in memory together


@dataclass(frozen=True, slots=True)
class ZigzagBar:
    """A class (dimension 0) or a hole of a union (dimension 1), from its first to its last position."""

    dimension: int
    birth: float  # position: 0, 0.5, 1, ...
    death: float  # the last position at which it lives
    weight: int | None  # fewest rows it carries
    rows: tuple[int, ...]  # rows it carries at each position of its life; none for a hole
    people: tuple[int, ...] | None = None  # different people there; None where every row is another person

    @property
    def fewest_people(self) -> int | None:
        """Fewest people it carries."""
        return min(self.people, default=None) if self.people is not None else None

    def to_json(self) -> dict[str, Any]:
        """Fields and values."""
        ends = {"dimension": self.dimension, "birth": self.birth, "death": self.death}
        people = {"fewest_people": self.fewest_people, "people": None if self.people is None else list(self.people)}
        return {**ends, "weight": self.weight, "rows": list(self.rows), **people}


@dataclass(frozen=True, slots=True)
class PathRegime:
    """Nodes of the path from start to stop, both included, each of which is k-anonymous under every reading."""

    start: int  # number of a node in the path
    stop: int
    k: int  # people of the smallest class of these nodes, or rows where every row is another person
    classes: int  # most classes of one of them


PathStep = tuple[float, ...]  # the levels of a node, or what else has classes


class WalkedSpace(Protocol):
    """What a walk needs: points, and their classes at every step of a path."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What a step consists of: names of its numbers."""

    @property
    def points(self) -> Any:
        """Weighted points."""

    def classes(self, step: Any, /) -> Ints:
        """The class of each point at a step."""


@dataclass(frozen=True, eq=False, repr=False)
class ZigzagBarcode:
    """The bars of a path; arrays by position have an entry for each half step.

    At every position the living bars of dimension 0 are the classes there, and carry their rows: together all rows of
    the table.  Where classes merge, the heaviest lives on (of equals, the one with the lower class number).  The others
    die, heavier ones first: each is the bar of the classes it came through, back to where its path parted from one that
    lives on.  What lives at the end is told apart by the same rule.  Births and deaths do not depend on the rule, only
    rows do.  Classes of one bar at neighbouring positions need not share rows: where a path has died, those that
    parted from it earlier go on from the one that outlived it.

    The two zig-zags of a path are rows of one Mayer-Vietoris pyramid.  By the diamond principle (Carlsson and de Silva)
    their bars match, one to one: a bar [b, d] through unions begins and ends at nodes, and is the bar
    [b - 1/2, d + 1/2] through intersections, cut off at the ends of the path; a hole of the union at i + 1/2 is the bar
    [i + 1/2, i + 1/2] of dimension 0 through intersections.  Intersections have no holes.  Rows need not match.
    """

    path: tuple[PathStep, ...]
    columns: tuple[str, ...]
    through: str
    birth: Ints  # of each bar of dimension 0, in half steps
    death: Ints  # last half step at which it lives
    begin: Ints  # bar b carries rows[begin[b]:begin[b + 1]]
    rows: Ints
    classes: Ints  # by position
    smallest: Ints  # rows of the smallest class, by position
    holes: Ints  # dim H_1, by position
    people: Ints | None = None  # beside `rows`; None where every row is another person
    smallest_people: Ints | None = None  # people of the class that has fewest, by position
    library: str | None = None  # of dataframes: the caller's

    def __repr__(self) -> str:
        return f"ZigzagBarcode({len(self.path)} nodes through {self.through}, {len(self.birth):,} bars of dimension 0)"

    def _repr_html_(self) -> str:
        from kech.views.notebook import show_zigzag

        return show_zigzag(self)

    def to_frame(self) -> Any:
        """The bars as a dataframe of your library, each with the fewest rows and people it carries."""
        ends = ("dimension", "birth", "death", "weight", "fewest_people")
        return as_frame([{name: getattr(bar, name) for name in ends} for bar in self.bars()], self.library)

    def _describe_positions(self) -> list[dict[str, Any]]:
        names = ("classes", "smallest", "smallest_people", "holes")
        columns = [getattr(self, name) for name in names]
        lists = [[None] * len(self.classes) if column is None else column.tolist() for column in columns]
        lines = zip(self.positions, *lists, strict=True)
        return [dict(zip(("position", *names), line, strict=True)) for line in lines]

    @property
    def positions(self) -> list[float]:
        """0, 0.5, 1, ... up to the last node."""
        return half_steps(np.arange(len(self.classes)))

    @property
    def counted(self) -> str:
        """What k counts, which is people, or rows where every row is another person."""
        return "rows" if self.people is None else "people"

    @property
    def hidden_among(self) -> Ints:
        """How many people, or rows, each bar carries at each position; k counts them."""
        return self.rows if self.people is None else self.people

    @property
    def smallest_k(self) -> Ints:
        """People, or rows, of the smallest class at each position; no larger k holds there."""
        return self.smallest if self.smallest_people is None else self.smallest_people

    @property
    def weights(self) -> Ints:
        """Fewest rows of each bar of dimension 0."""
        return np.minimum.reduceat(self.rows, self.begin[:-1]) if len(self.birth) else self.rows

    def bars(self, longest: int | None = None) -> list[ZigzagBar]:
        """Classes by birth and death, then holes by position: all, or so many of the longest."""
        holes = np.repeat(np.arange(len(self.holes)), self.holes)
        chosen = find_longest(np.append(self.death - self.birth, np.zeros(len(holes), np.int64)), longest)
        classes, at = chosen[chosen < len(self.birth)], holes[chosen[chosen >= len(self.birth)] - len(self.birth)]
        weights, ends = self.weights, zip(self.begin[classes].tolist(), self.begin[classes + 1].tolist(), strict=True)
        columns = half_steps(self.birth[classes]), half_steps(self.death[classes]), weights[classes].tolist(), ends
        bars = [ZigzagBar(0, b, d, w, *self._list_rows(i, j)) for b, d, w, (i, j) in zip(*columns, strict=True)]
        return bars + [ZigzagBar(1, at, at, None, ()) for at in half_steps(at)]

    def _list_rows(self, begin: int, end: int) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
        """The rows and people that a bar carries."""
        rows = tuple(self.rows[begin:end].tolist())
        return rows, None if self.people is None else tuple(self.people[begin:end].tolist())

    def summary(self) -> list[dict[str, Any]]:
        """Bars of equal dimension, birth and death in one line: how many, the fewest rows and people any carries."""
        changes = np.diff(self.birth, prepend=-1) | np.diff(self.death, prepend=-1)
        first = np.flatnonzero(changes)
        ends = zip(half_steps(self.birth[first]), half_steps(self.death[first]), strict=True)
        counts = np.diff(first, append=len(self.birth)).tolist()
        fewest = np.minimum.reduceat(self.weights, first).tolist()
        people = [None] * len(first) if self.people is None else self._fewest_people(first)
        classes = [describe_bars(0, *line) for line in zip(ends, counts, fewest, people, strict=True)]
        holes = zip(self.positions, self.holes.tolist(), strict=True)
        return classes + [describe_bars(1, (at, at), number, None, None) for at, number in holes if number]

    def _fewest_people(self, first: Ints) -> list[int]:
        fewest = np.minimum.reduceat(self.hidden_among, self.begin[:-1])
        return [int(count) for count in np.minimum.reduceat(fewest, first)]

    def regimes(self, k: int = 2) -> list[PathRegime]:
        """The longest runs of nodes whose classes all have k people or more; a node is what can be released.

        Where every row is another person, these are k rows.

        The readings homological, strict and partition agree at a node.  A union may have holes, and a component of it
        is no class of any release, however many rows it has.
        """
        check_k(k)
        edges = np.flatnonzero(np.diff(self.smallest_k[::2] >= k, prepend=False, append=False)).tolist()
        return [self._regime(start, stop) for start, stop in zip(edges[::2], edges[1::2], strict=True)]

    def _regime(self, start: int, stop: int) -> PathRegime:
        nodes = slice(2 * start, 2 * stop, 2)
        return PathRegime(start, stop - 1, int(self.smallest_k[nodes].min()), int(self.classes[nodes].max()))

    def plot(self, path: str | PathLike[str] | None = None, *, k: int = 2, ax: Any = None) -> Any:
        """Draw the bars; the matplotlib axes, or a file (.svg, .html, .png) where a path is given."""
        from kech.views.pictures import plot
        from kech.views.pictures.zigzag import draw_zigzag

        return plot(lambda size: draw_zigzag(self, k, size), path, ax)

    def to_json(self, k: int = 2, *, longest: int | None = None) -> dict[str, Any]:
        """The object `kech zigzag --json` prints, with all bars or the longest; `summary` tells of all."""
        bars, every = self.bars(longest), len(self.birth) + int(self.holes.sum())
        return {
            "private": True,
            "path": [list(node) for node in self.path],
            "columns": list(self.columns),
            "through": self.through,
            "counted": self.counted,
            "bars": [bar.to_json() for bar in bars],
            "shorter_bars": every - len(bars),
            "summary": self.summary(),
            "positions": self._describe_positions(),
            "readings": list(READINGS),
            "regimes": [asdict(regime) for regime in self.regimes(k)],
        }


def compute_zigzag(
    table: Table, path: str | Sequence[Sequence[int]], *, through: str = "union", grid: str | float | None = None
) -> ZigzagBarcode:
    """Bars along a path of the table's lattice: which classes live on while labels become coarser or finer.

    `path` lists nodes, each with the level of every quasi-identifier, or is `rows`, `columns`, `diagonal` or `minimal`.
    `through` joins the classes of neighbours by `union`, or cuts them by `intersection`.
    `grid` is where intervals end: `round`, `exact`, or the step of the finest level.
    """
    check_through(through)
    lattice = compute_lattice(table, grid=grid)
    barcode = build_zigzag(lattice, path, through, threads=table.threads, memory=lattice.points.check_memory_limit())
    return replace(barcode, library=table.library)


def build_zigzag(
    lattice: Lattice,
    path: str | Sequence[Sequence[int]],
    through: str = "union",
    *,
    threads: int = 1,
    memory: int | None = None,
) -> ZigzagBarcode:
    """Bars along a path of a lattice, within so many bytes, or half of the machine's."""
    return walk_nodes(lattice, resolve_path(lattice, path), through, threads=threads, memory=memory)


def walk_nodes(
    lattice: WalkedSpace, nodes: Sequence[PathStep], through: str, *, threads: int = 1, memory: int | None = None
) -> ZigzagBarcode:
    """Bars along nodes of a lattice, or along other steps whose classes it knows."""
    check_through(through)
    weights = lattice.points.weights
    allowed = half_the_memory() if memory is None else memory
    walk = PathWalk(weights, through == "union", lattice.points.person)
    last = 0  # classes of the node before
    for first in range(0, len(nodes), STRETCH):
        report("walking the path", first / len(nodes))
        partitions = [lattice.classes(node) for node in nodes[first : first + STRETCH]]
        counts = [last, *(int(classes.max(initial=-1)) + 1 for classes in partitions)]
        need = walk.bytes() + PATH_POINT_BYTES * len(partitions) * len(weights)
        check_memory(need + PATH_CLASS_BYTES * most_classes(counts, through, len(weights)), allowed)
        walk.extend(partitions, threads)
        last = counts[-1]
    return ZigzagBarcode(tuple(nodes), lattice.columns, through, library=None, **walk.finish())


def most_classes(counts: Sequence[int], through: str, points: int) -> int:
    """An upper bound of the number of classes at all positions after the first, where nodes have so many."""
    between = (min(a, b) if through == "union" else min(a * b, points) for a, b in pairwise(counts))
    return sum(counts[1:]) + sum(between)


def check_through(through: str) -> None:
    """Refuse any other way to join neighbours than union and intersection."""
    if through not in THROUGH:
        raise unusable_value("--through", f"Choose among {', '.join(THROUGH)}.")


def check_memory(need: int, allowed: int) -> None:
    """Refuse a path whose bars need more memory than is allowed."""
    check_need(need, allowed, "The path", "Take a shorter path, or a coarser --grid.")


def describe_bars(
    dimension: int, ends: tuple[float, float], count: int, weight: int | None, people: int | None
) -> dict[str, Any]:
    """One line of the summary: bars of equal dimension, birth and death."""
    fewest = {"weight": weight, "fewest_people": people}
    return {"dimension": dimension, "birth": ends[0], "death": ends[1], "count": count, **fewest}


def half_steps(values: Ints) -> list[float]:
    """Positions counted in half steps, as numbers: 0, 0.5, 1, ..."""
    return [value / 2 for value in values.tolist()]

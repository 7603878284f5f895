"""Paths: sequences of lattice nodes, written out or by name.

In: a lattice and a path.  Out: its nodes, each inside the lattice.

    rows      every node, the last axis fastest:    C00 C01 C02 C03 C10 C11 C12 C13, the paper's first sequence
    columns   every node, the first axis fastest:   C00 C10 C01 C11 C02 C12 C03 C13, the paper's second sequence
    diagonal  from bottom to top, one level up at each step, the axes in turn: C00 C10 C11 C12 C13
    minimal   for each k that minimal node which loses least, from k = 1 up to the largest k any node reaches
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kech.errors import BadOption

Node = tuple[int, ...]

MOST_STEPS = 10_000


class Lattice(Protocol):
    """What a path needs to know of a lattice."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The axes."""

    @property
    def heights(self) -> tuple[int, ...]:
        """Levels of each axis; level 0 is the finest."""

    @property
    def points(self) -> Any:
        """Weighted points."""

    @property
    def largest_k(self) -> int:
        """The k of the top."""

    def classes(self, levels: Node) -> NDArray[np.int64]:
        """The class of each point at a node."""

    def minimal_nodes(self, k: int) -> list[Node]:
        """Nodes that reach k while no node below them does."""

    def k_of(self, levels: Node) -> int:
        """People of the smallest class at a node, or rows where every row is another person."""

    def loss_of(self, levels: Node) -> float:
        """Loss of a node."""


def resolve_path(lattice: Lattice, path: str | Sequence[Sequence[int]]) -> tuple[Node, ...]:
    """The nodes of a path, whichever way it is given."""
    if not isinstance(path, Iterable):
        names = ", ".join(NAMED)
        raise BadOption(
            "--path", f"its type is {type(path).__name__}. Give nodes such as [(0, 0), (0, 1)], or {names}."
        )
    chosen = parse_path(path) if isinstance(path, str) else [tuple(node) for node in path]
    nodes = NAMED[chosen](lattice) if isinstance(chosen, str) else chosen
    check_length(len(nodes))
    for number, node in enumerate(nodes, 1):
        check_node(number, node, lattice)
    return tuple(tuple(map(int, node)) for node in nodes)


def parse_path(text: str) -> str | list[Node]:
    """A name, or nodes as they are written on a command line.

    >>> parse_path("0,0 0,1 1,0")
    [(0, 0), (0, 1), (1, 0)]
    >>> parse_path("diagonal")
    'diagonal'
    """
    if text.strip() in NAMED:
        return text.strip()
    return [parse_node(number, word) for number, word in enumerate(text.split(), 1)]


def parse_node(number: int, word: str) -> Node:
    """Levels with commas between."""
    levels = word.split(",")
    if not all(level.isascii() and level.isdigit() and len(level) < 10 for level in levels):
        names = ", ".join(NAMED)
        raise BadOption("--path", f"step {number}, {word!r}, is no node. Write levels as in '0,0 0,1 1,0', or {names}.")
    return tuple(int(level) for level in levels)


def check_length(steps: int) -> None:
    """Refuse a path without nodes, or with more than can be drawn."""
    if not steps:
        raise BadOption("--path", f"it is empty. Name a node or more, as in '0,0 0,1 1,0', or {', '.join(NAMED)}.")
    if steps > MOST_STEPS:
        reason = f"{steps:,} steps are too many, {MOST_STEPS:,} are allowed. Name fewer nodes, or diagonal or minimal."
        raise BadOption("--path", reason)


def check_node(number: int, node: Node, lattice: Lattice) -> None:
    """Refuse a node that the lattice does not have."""
    written = ",".join(map(str, node))
    if len(node) != len(lattice.heights):
        advice = f"Give {len(lattice.heights)}, for {', '.join(lattice.columns)}."
        raise BadOption("--path", f"step {number}, {written!r}, has {len(node)} levels. {advice}")
    for column, level, height in zip(lattice.columns, node, lattice.heights, strict=True):
        if isinstance(level, bool) or not isinstance(level, int | np.integer) or not 0 <= level < height:
            reason = f"step {number}, {written!r}: column {column!r} has levels 0 to {height - 1}."
            raise BadOption("--path", f"{reason} Choose one of these.")


def rows_path(lattice: Lattice) -> list[Node]:
    """Every node, the last axis fastest."""
    check_length(prod(lattice.heights))
    return list(product(*map(range, lattice.heights)))


def columns_path(lattice: Lattice) -> list[Node]:
    """Every node, the first axis fastest."""
    check_length(prod(lattice.heights))
    return [node[::-1] for node in product(*map(range, lattice.heights[::-1]))]


def diagonal_path(lattice: Lattice) -> list[Node]:
    """From bottom to top, the axes in turn; an axis at its top is passed over."""
    heights = lattice.heights
    rounds = range(1, max(heights, default=1))
    raised = [axis for level in rounds for axis, height in enumerate(heights) if level < height]
    path = [[0] * len(heights)]
    for axis in raised:
        path.append([level + (at == axis) for at, level in enumerate(path[-1])])
    return [tuple(node) for node in path]


def minimal_path(lattice: Lattice) -> list[Node]:
    """The minimal node that loses least, as k grows; it stays for every k it reaches, for it stays minimal."""
    path, k = list[Node](), 1
    while k <= lattice.largest_k:
        path.append(min(lattice.minimal_nodes(k), key=lambda node: (lattice.loss_of(node), node)))
        k = lattice.k_of(path[-1]) + 1
    return path


NAMED: dict[str, Callable[[Lattice], list[Node]]] = {
    "rows": rows_path,
    "columns": columns_path,
    "diagonal": diagonal_path,
    "minimal": minimal_path,
}

"""Trees: the steps by which a value is blurred, up to a root that says nothing.

Leaves stand in depth-first order, so that any set of values is a range of codes, for `axes` and `lattice`.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import ne
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kech.errors import BadHierarchy, BadTarget
from kech.system.files import write_text

LeafPath: TypeAlias = tuple[str, ...]
Ints: TypeAlias = NDArray[np.int64]
ROOT = "*"
PLAIN = re.compile(r"[^\s\";,\ufeff]([^\t\r\n\";,\ufeff]*[^\s\";,\ufeff])?")  # a field that needs no quotes in any CSV


@dataclass(frozen=True, repr=False)
class GeneralizationTree:
    """Leaves in depth-first order, each with its path (value, level-1 label, ..., root label).

    The leaves under a node are neighbours, so LCA(S) = LCA(min S, max S).  A label that repeats upward
    (Other, Other, *) is read as the highest node that bears it, and is as wide as that node.
    """

    paths: tuple[LeafPath, ...]
    source: str = field(default="given tree", compare=False)
    padded: int = field(default=0, compare=False)  # leaves that were less deep than others

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Values, by code."""
        return tuple(path[0] for path in self.paths)

    @property
    def height(self) -> int:
        """Number of levels, leaves and root included."""
        return len(self.paths[0]) if self.paths else 1

    def label(self, lo: int, hi: int) -> str:
        """Label of LCA(lo..hi), the lowest node above all of these leaves; of the leaf if lo == hi."""
        return self.paths[lo][self._meeting_level(lo, hi)]

    def spans(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """First and last leaf that a reader of each label(lo, hi) has to think of."""
        level = self.read_level(lo, hi)
        first, last = self._ends
        return first[level, lo], last[level, lo]

    def is_root(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Whether each label(lo, hi) is read as the root."""
        return np.asarray(self.read_level(lo, hi) == self.height - 1)

    def level_codes(self, level: int) -> NDArray[np.int32]:
        """Leaf -> index of its node at this level, in depth-first order."""
        codes: NDArray[np.int32] = self._codes[level]
        return codes

    def level_labels(self, level: int) -> tuple[str, ...]:
        """Labels of the nodes at this level, by index."""
        return tuple(dict.fromkeys(path[level] for path in self.paths))

    def leaf_counts(self, sizes: Ints | None = None) -> dict[str, int]:
        """Label of every node -> leaves under it; a label that repeats upward counts at its highest."""
        counts: dict[str, int] = {}
        for level, codes in enumerate(self.node_sizes() if sizes is None else sizes):
            first = np.flatnonzero(np.diff(self._codes[level], prepend=-1))
            counts.update(zip(self.level_labels(level), codes[first].tolist(), strict=True))
        return counts

    def node_sizes(self) -> Ints:
        """[level, leaf]: leaves under this leaf's node at this level."""
        first, last = self._ends
        return np.asarray(last - first + 1)

    def known_sizes(self, rows: Ints, k: int) -> Ints:
        """[level, leaf]: the same as k rows tell it: leaves under children that k rows hold, and one for all others.

        So the numbers follow from which nodes k rows hold; whether other children occur, and how many, does not show.
        A node counts two at least: who reads its label does not know the value.
        """
        sizes, held = np.ones((self.height, len(self.paths)), np.int64), rows
        for level, codes in enumerate(self._codes[1:], 1):
            below = np.flatnonzero(np.diff(self._codes[level - 1], prepend=-1))  # the first leaf of each child
            known = below[held[below] >= k]
            under = np.bincount(codes[known], sizes[level - 1, known], codes[-1] + 1).astype(np.int64)
            sizes[level] = np.maximum(1 + under, 2)[codes]
            held = np.bincount(codes, rows)[codes]
        return sizes

    def restrict(self, values: Iterable[str]) -> "GeneralizationTree":
        """The tree of the values present."""
        present = set(values)
        lacking = len(present.difference(self.leaves))
        if lacking:
            reason = f"distinct values of the column that are none of its leaves: {lacking}. Add a leaf for each."
            raise BadHierarchy(self.source, None, reason)
        return replace(self, paths=tuple(path for path in self.paths if path[0] in present))

    def to_levels(self) -> dict[int, list[str]]:
        """As ANJANA keeps hierarchies: {level: labels}, one label for each value, from 0, the values."""
        return {level: [path[level] for path in self.paths] for level in range(self.height)}

    def write(self, path: str | PathLike[str]) -> None:
        """As ARX and ANJANA read hierarchies: a .csv without a header, a value, then its labels upward, `;` between."""
        target = Path(path)
        if target.suffix.lower() != ".csv":
            raise BadTarget(target, "a hierarchy is written as .csv.")
        if not target.parent.is_dir():
            raise BadTarget(target, "its folder does not exist; create it first.")
        lines = "".join(";".join(map(_quoted, labels)) + "\n" for labels in self.paths)
        write_text(target, lines, private=True)  # its leaves are values of the table

    def _meeting_level(self, lo: int, hi: int) -> int:
        pairs = zip(self.paths[lo], self.paths[hi], strict=True)
        return next(level for level, (low, high) in enumerate(pairs) if low == high)

    def read_level(self, lo: Ints, hi: Ints) -> Ints:
        """The level as whose node each label(lo, hi) is read."""
        meeting = (self._codes[:, lo] != self._codes[:, hi]).sum(axis=0)
        return np.asarray(self._read_levels[meeting, lo])

    @cached_property
    def _codes(self) -> NDArray[np.int32]:
        codes = np.zeros((self.height, len(self.paths)), np.int32)
        for level, row in enumerate(codes):
            labels = [path[level] for path in self.paths]
            row[1:] = np.cumsum(np.fromiter(map(ne, labels, labels[1:]), bool))
        codes.flags.writeable = False
        return codes

    @cached_property
    def _read_levels(self) -> Ints:
        """[level, leaf]: the highest level to which the text of this leaf's node at this level repeats."""
        levels = np.repeat(np.arange(self.height)[:, None], len(self.paths), axis=1)
        for level in reversed(range(self.height - 1)):
            repeats = np.fromiter((path[level] == path[level + 1] for path in self.paths), bool)
            levels[level, repeats] = levels[level + 1, repeats]
        return levels

    @cached_property
    def _ends(self) -> tuple[Ints, Ints]:
        """[level, leaf]: first and last leaf under this leaf's node at this level."""
        first = np.stack([np.searchsorted(codes, codes) for codes in self._codes])
        last = np.stack([np.searchsorted(codes, codes, side="right") - 1 for codes in self._codes])
        return first, last


def build_prefix_tree(values: Sequence[str]) -> GeneralizationTree:
    """Codes, cut from the right: 47677, 4767*, 476**, 47***, 4****, *.

    With w the length of the longest value, level l keeps the first w - l characters of each value
    filled up to w with `*`.

    >>> build_prefix_tree(["130", "148"]).paths
    (('130', '13*', '1**', '*'), ('148', '14*', '1**', '*'))
    """
    leaves = sorted(set(values))
    width = max(map(len, leaves), default=0)
    return GeneralizationTree(depth_first([_prefix_path(leaf, width) for leaf in leaves]), "prefixes")


def star_tree(values: Iterable[str]) -> GeneralizationTree:
    """Every value under one root: published as it is, or as `*`."""
    return GeneralizationTree(tuple((value, ROOT) for value in sorted(set(values))), "star")


def looks_like_codes(values: Sequence[str]) -> bool:
    """Whether these are codes such as ZIP, whose prefixes mean something.

    20 distinct values or more, written as codes; and half of the shorter length is a prefix that, on average, two
    values or more share.
    """
    codes = set(values)
    return len(codes) >= 20 and have_code_form(codes) and 2 * len(half_prefixes(codes)) <= len(codes)


def have_code_form(codes: Collection[str]) -> bool:
    """One or two lengths from 3 on, nearly all letters and digits, a digit in each."""
    lengths = {len(code) for code in codes}
    if not lengths or len(lengths) > 2 or min(lengths) < 3:
        return False
    characters = "".join(codes)
    plain = sum(map(str.isalnum, characters))
    return plain >= 0.8 * len(characters) and all(any(map(str.isdigit, code)) for code in codes)


def half_prefixes(codes: Collection[str]) -> set[str]:
    """The different beginnings of codes, half as long as the shortest."""
    half = min(map(len, codes)) // 2
    return {code[:half] for code in codes}


def _quoted(label: str) -> str:
    return label if PLAIN.fullmatch(label) else '"' + label.replace('"', '""') + '"'


def _prefix_path(value: str, width: int) -> LeafPath:
    filled = value.ljust(width, ROOT)
    prefixes = (filled[:kept] for kept in range(width - 1, 0, -1))
    # A prefix of nothing but stars says what the root says, so it is the root, once and again.
    return (value, *(p.ljust(width, ROOT) if p.strip(ROOT) else ROOT for p in prefixes), ROOT)


def depth_first(paths: Sequence[LeafPath]) -> tuple[LeafPath, ...]:
    """Paths with the leaves of every node side by side; siblings in the order of first appearance."""
    ranks = []
    for labels in zip(*paths, strict=True):
        seen: dict[str, int] = {}
        ranks.append([seen.setdefault(label, len(seen)) for label in labels])
    return tuple(paths[row] for row in np.lexsort(ranks)) if ranks else ()

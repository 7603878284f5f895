"""Trees: texts under a hierarchy, printed as the labels of its nodes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths
from kech.axes.axis import EVERYTHING, Axis, Codes, TextAxis
from kech.axes.ranks import build_rank_axis
from kech.grid import Ints
from kech.hierarchy import GeneralizationTree
from kech.rulers import Floats


@dataclass(frozen=True, eq=False, repr=False)
class TreeAxis(TextAxis):
    """Values under a generalization tree; a range is printed as the label of its lowest common ancestor."""

    tree: GeneralizationTree
    starts: Ints | None = None

    @property
    def kind(self) -> str:
        """Tree."""
        return "tree"

    @property
    def texts(self) -> tuple[str, ...]:
        """The leaves."""
        return self.tree.leaves

    @cached_property
    def root(self) -> str:
        """Label of everything."""
        return self.tree.level_labels(self.tree.height - 1)[0]

    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """All leaves under the label; the root also stands for NULL."""
        lo, hi = self.spread(lo, hi)
        inside = hi != self.null
        leaves = lo * inside, hi * inside
        first, last = (np.where(inside, span, self.null) for span in self.tree.spans(*leaves))
        lost = self.all_lost(lo, hi) | (inside & self.tree.is_root(*leaves))
        return np.where(lost, 0, first), np.where(lost, self.size - 1, last)

    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """(leaves under the label - 1) / (leaves - 1)."""
        first, last = self.close(lo, hi)
        return (last - first) / max(self.size - 1, 1)

    def label(self, lo: int, hi: int) -> str:
        """The label of the lowest common ancestor."""
        return self.root if hi == self.null else self.tree.label(lo, hi)

    def add_to(self, widths: Widths) -> None:
        """Leaves and the gaps between them."""
        add_nodes(self, widths)

    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """Leaves under each published label that stands for several, or that a reader would take for all."""
        counts: Mapping[str, int] = self.tree.leaf_counts()
        known = {x: counts[x] for x in sorted({x for x in labels if x})}
        known |= {x: self.size for x in known if x == self.root and self.has_null}
        return tree_parameters(self.column, self.size, known)


@dataclass(frozen=True, eq=False, repr=False)
class NodeAxis(Axis):
    """The nodes of one level of a tree, each printed as its label there; two of them together are everything."""

    nodes: tuple[str, ...]  # the label of each code
    places: Mapping[str, int]  # the code of each leaf
    counts: Mapping[str, int]  # leaves that a reader of each label has to think of; of the root, NULL too
    leaves: int  # all of them, and NULL
    root: str

    @property
    def kind(self) -> str:
        """Tree."""
        return "tree"

    @property
    def values(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    @cached_property
    def shares(self) -> Floats:
        """Width of each code."""
        under = [self.counts.get(label, 1) for label in self.nodes] + [1] * self.has_null
        return (np.array(under, np.float64) - 1) / max(self.leaves - 1, 1)

    def is_everything(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Whether each range is printed as the root."""
        roots = np.array([label == self.root for label in self.nodes] + [False] * self.has_null)
        return np.asarray((lo < hi) | roots[lo])

    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """(leaves under the label - 1) / (leaves - 1)."""
        return np.where(self.is_everything(lo, hi), float(self.leaves > 1), self.shares[lo])

    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """One node, or all; the root also stands for NULL."""
        lost = self.is_everything(lo, hi)
        return np.where(lost, 0, lo), np.where(lost, self.size - 1, hi)

    def label(self, lo: int, hi: int) -> str:
        """The label of the node, or of the root."""
        return self.nodes[lo] if lo == hi else self.root

    def encode(self, values: Sequence[str | None]) -> Codes:
        """The node above each leaf; None is NULL."""
        return np.array([self.null if x is None else self.places.get(x, -1) for x in values], dtype=np.int32)

    def add_to(self, widths: Widths) -> None:
        """Nodes, and nothing between them and the root."""
        add_nodes(self, widths)

    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """Leaves under each published label that stands for several, or that a reader would take for all."""
        known = {x: self.counts.get(x, 1) for x in sorted({x for x in labels if x})}
        return tree_parameters(self.column, self.leaves, known)


def add_nodes(axis: Axis, widths: Widths) -> None:
    """Each code, and it with the next one: what lies between them is as wide as the widest of these."""
    codes = np.arange(axis.size)
    widths.add_tree(axis.widths(codes, codes), axis.widths(codes[:-1], codes[1:]))


def tree_parameters(column: str, leaves: int, known: Mapping[str, int]) -> dict[str, Any]:
    """A tree as a reader must know it: leaves under labels that stand for several, or would be taken for all."""
    several = {label: count for label, count in known.items() if count > 1 or label == EVERYTHING}
    return {"column": column, "axis": "tree", "leaves": leaves, "labels": several}


def build_tree_axis(column: str, values: Sequence[str], tree: GeneralizationTree, has_null: bool) -> Axis:
    """Values under a tree, which is cut back to the values that occur."""
    if not values:
        return build_rank_axis(column, values, (), has_null, ordinal=False)
    present = tree.restrict(values)
    rank = {text: i for i, text in enumerate(present.leaves)}
    codes = np.array([rank[value] for value in values], dtype=np.int32)
    return TreeAxis(column, codes, has_null, present)

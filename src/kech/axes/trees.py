"""Trees: axes of texts under a hierarchy, whose labels are those of its nodes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths
from kech.axes.axis import EVERYTHING, Axis, Codes, TextAxis
from kech.axes.grid import Floats, Ints
from kech.axes.hierarchy import GeneralizationTree
from kech.axes.ranks import build_rank_axis
from kech.errors import BadHierarchy


@dataclass(frozen=True, eq=False, repr=False)
class TreeAxis(TextAxis):
    """Values under a generalization tree; the label of a range is that of its lowest common ancestor.

    A range with NULL and a value is printed as `*`.  The counts of leaves do not reveal which values of fewer than k
    rows occur: in a tree of the user all leaves count; in a tree built from the values, those with k rows or more,
    and one for all others.
    """

    tree: GeneralizationTree
    starts: Ints | None = None
    public_sizes: Ints | None = None  # [level, leaf]: leaves under each node of the user's whole tree
    rows: Ints | None = None  # of each leaf, where they are known
    nulls: int = 0  # rows with NULL
    k: int = 1

    @property
    def kind(self) -> str:
        """Hierarchy."""
        return "hierarchy"

    @property
    def texts(self) -> tuple[str, ...]:
        """The leaves."""
        return self.tree.leaves

    @cached_property
    def root(self) -> str:
        """Label of all values."""
        return next(iter(self.tree.level_labels(self.tree.height - 1)), EVERYTHING)

    def at(self, k: int) -> Self:
        """The axis with leaves counted for k."""
        return replace(self, k=k)

    @property
    def state(self) -> bytes:
        """The leaves under each node, and whether NULL counts as one."""
        counts = b"" if self.public_sizes is not None else self.sizes.tobytes()
        return counts + bytes([self.leaves - int(self.sizes[-1, :1].sum())])

    @cached_property
    def sizes(self) -> Ints:
        """[level, leaf]: the counted leaves under this leaf's node at this level."""
        if self.public_sizes is not None:
            return self.public_sizes
        return self.tree.node_sizes() if self.rows is None or self.k < 2 else self.tree.known_sizes(self.rows, self.k)

    @property
    def leaves(self) -> int:
        """Number of counted leaves; NULL is one, except where fewer than k rows have it and `*` hides it."""
        hidden = self.rows is not None and self.nulls < self.k and self.root == EVERYTHING and self.k > 1
        counted = self.has_null and not hidden
        return max(int(self.sizes[-1, :1].sum()) + counted, 1 + self.has_null)

    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """All leaves under the label; `*` also covers NULL."""
        lo, hi = self.expand_to_cells(lo, hi)
        inside = hi != self.null
        leaves = lo * inside, hi * inside
        first, last = (np.where(inside, span, self.null) for span in self.tree.spans(*leaves))
        lost = self.mixes_null(lo, hi) | (inside & self.tree.is_root(*leaves) & (self.root == EVERYTHING))
        return np.where(lost, 0, first), np.where(lost, self.size - 1, last)

    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """(leaves under the label - 1) / (leaves - 1)."""
        lo, hi = self.expand_to_cells(lo, hi)
        inside = hi != self.null
        leaves = lo * inside, hi * inside
        under = np.where(inside, self.sizes[self.tree.read_level(*leaves), leaves[0]], 1)
        lost = self.mixes_null(lo, hi) | (inside & self.tree.is_root(*leaves) & (self.root == EVERYTHING))
        return np.where(lost, float(self.leaves > 1), (under - 1) / max(self.leaves - 1, 1))

    def metric(self, lo: Ints, hi: Ints) -> Floats:
        """The widths at k = 1, where every leaf counts."""
        return self.at(1).widths(lo, hi)

    def label(self, lo: int, hi: int) -> str:
        """The label of the lowest common ancestor; `*` with NULL."""
        return EVERYTHING if hi == self.null else self.tree.label(lo, hi)

    def add_to(self, widths: Widths) -> None:
        """Add the widths of single codes and of neighbours."""
        add_nodes(self, widths)

    def add_metric_to(self, widths: Widths) -> None:
        """Add the widths at k = 1, where every leaf counts."""
        self.at(1).add_to(widths)

    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """The column, all leaves, and the leaves under each published label that covers several."""
        return tree_parameters(self.column, self.leaves, self.tree.leaf_counts(self.sizes), labels, self)


@dataclass(frozen=True, eq=False, repr=False)
class NodeAxis(Axis):
    """The nodes of one level of a tree; the label of two nodes together is that of the root."""

    nodes: tuple[str, ...]  # the label of each code
    code_of_leaf: Mapping[str, int]  # the code of each leaf
    counts: Mapping[str, int]  # the number of leaves under each label
    leaves: int  # number of all leaves, with NULL
    root: str

    @property
    def kind(self) -> str:
        """Hierarchy."""
        return "hierarchy"

    @property
    def values(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    @cached_property
    def shares(self) -> Floats:
        """The width of each code alone."""
        under = [self.counts.get(label, 1) for label in self.nodes] + [1] * self.has_null
        return (np.array(under, np.float64) - 1) / max(self.leaves - 1, 1)

    def is_root(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Whether each range is printed as the root, or as `*`."""
        roots = np.array([label == self.root for label in self.nodes] + [False] * self.has_null)
        return np.asarray((lo < hi) | roots[lo])

    def is_everything(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Whether each range is printed as `*`."""
        return np.asarray(self.mixes_null(lo, hi) | (self.is_root(lo, hi) & (self.root == EVERYTHING)))

    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """(leaves under the label - 1) / (leaves - 1)."""
        root = (self.counts.get(self.root, 1) - 1) / max(self.leaves - 1, 1)
        inner = np.where(self.is_root(lo, hi), root, self.shares[lo])
        return np.where(self.is_everything(lo, hi), float(self.leaves > 1), inner)

    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """One node, or all nodes; `*` also covers NULL."""
        root, lost = self.is_root(lo, hi), self.is_everything(lo, hi)
        return np.where(root, 0, lo), np.where(lost, self.size - 1, np.where(root, self.values - 1, hi))

    def label(self, lo: int, hi: int) -> str:
        """The label of the node, of the root, or `*`."""
        return EVERYTHING if hi == self.null else self.nodes[lo] if lo == hi else self.root

    def encode(self, values: Sequence[str | None]) -> Codes:
        """The node above each leaf; None is NULL."""
        return np.array([self.null if x is None else self.code_of_leaf.get(x, -1) for x in values], dtype=np.int32)

    def add_to(self, widths: Widths) -> None:
        """Add the widths of single codes and of neighbours."""
        add_nodes(self, widths)

    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """The column, all leaves, and the leaves under each published label that covers several."""
        return tree_parameters(self.column, self.leaves, self.counts, labels, self)


def add_nodes(axis: Axis, widths: Widths) -> None:
    """Add the widths of each code and of each pair of neighbours: a range is as wide as its widest pair."""
    codes = np.arange(axis.size)
    widths.add_tree(axis.widths(codes, codes), axis.widths(codes[:-1], codes[1:]))


def tree_parameters(
    column: str, leaves: int, counts: Mapping[str, int], labels: Iterable[str | None], axis: TreeAxis | NodeAxis
) -> dict[str, Any]:
    """The parameters of a tree in a certificate: the leaves under each published label that covers several."""
    everything = {EVERYTHING: leaves} if axis.has_null or axis.root == EVERYTHING else {}
    leaf_counts = {
        label: everything.get(label, counts.get(label, 1)) for label in sorted({label for label in labels if label})
    }
    several = {label: count for label, count in leaf_counts.items() if count > 1 or label == EVERYTHING}
    return {"column": column, "axis": "hierarchy", "leaves": leaves, "labels": several}


def build_tree_axis(
    column: str,
    values: Sequence[str],
    tree: GeneralizationTree,
    has_null: bool,
    *,
    is_public: bool = True,
    rows: Ints | None = None,
    nulls: int = 0,
) -> Axis:
    """The axis of values under a tree, with the rows of each; all leaves of a user's tree are public."""
    if not values:
        return build_rank_axis(column, values, (), has_null, is_ordered=False)
    present = tree.restrict(values)
    check_star(present, has_null)
    rank = {text: i for i, text in enumerate(present.leaves)}
    codes = np.array([rank[value] for value in values], dtype=np.int32)
    present_leaves = np.flatnonzero(np.isin(np.array(tree.leaves), np.array(present.leaves))) if is_public else None
    sizes = None if present_leaves is None else tree.node_sizes()[:, present_leaves]
    by_code = None if rows is None else np.bincount(codes, rows, len(codes)).astype(np.int64)
    return TreeAxis(column, codes, has_null, present, public_sizes=sizes, rows=by_code, nulls=nulls)


def check_star(tree: GeneralizationTree, has_null: bool) -> None:
    """Refuse a tree with `*` below its root where the column has NULL: `*` must cover NULL and all values."""
    below = {label for path in tree.paths for label in path if path[-1] != EVERYTHING}
    if has_null and EVERYTHING in below:
        reason = f"the column has missing values, which {EVERYTHING!r} covers too, and that is a label below the root."
        raise BadHierarchy(tree.source, None, f"{reason} Rename that label, or name the root {EVERYTHING!r}.")

"""Review: the hierarchy of one column, built or given, with the rows under every node, to look at before it is used.

In: a table and one of its columns.  Out: a tree with counts, and the CSV file that holds it.
"""

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec.structs import replace as replace_part

from kech.axes import Axis, TreeAxis
from kech.axes.grid import Ints
from kech.axes.hierarchy import GeneralizationTree, build_prefix_tree, read_hierarchy
from kech.axes.levels import build_levels
from kech.errors import BadHierarchy, BadOption, NoSuchColumn
from kech.points.points import build_axis, encode_anew
from kech.request import Labels
from kech.tables.table import Table, check_is_table, read_table

KINDS = ("intervals", "dates", "prefixes", "ordered", "star")


@dataclass(frozen=True, eq=False, repr=False)
class HierarchyReview:
    """A tree and the rows of each of its leaves; PRIVATE, as the values are those of the table."""

    column: str
    kind: str
    tree: GeneralizationTree
    rows: Ints
    unused: int  # leaves of a given hierarchy that the column does not have
    padded: int  # leaves of a given hierarchy that were less deep than others

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_review

        return show_review(self)

    def nodes(self, level: int | None = None, first: int = 0, last: int | None = None) -> list[dict[str, Any]]:
        """The nodes of a level under one node, each with its rows and, above the leaves, its children."""
        level = self.tree.height - 1 if level is None else level
        last = len(self.rows) - 1 if last is None else last
        codes, paths = self.tree.level_codes(level), self.tree.paths
        nodes = []
        for node in range(int(codes[first]), int(codes[last]) + 1):
            start, stop = (int(np.searchsorted(codes, node, side)) for side in ("left", "right"))
            children = self.nodes(level - 1, start, stop - 1) if level else []
            nodes.append({"label": paths[start][level], "rows": int(self.rows[start:stop].sum()), "children": children})
        return nodes

    def to_json(self) -> dict[str, Any]:
        """The object `kech hierarchy --json` prints."""
        sizes = [len(self.tree.level_labels(level)) for level in range(self.tree.height)]
        figures = {
            "rows": int(self.rows.sum()),
            "leaves": len(self.rows),
            "unused": self.unused,
            "padded": self.padded,
            "levels": sizes,
        }
        return {"private": True, "column": self.column, "kind": self.kind, **figures, "tree": self.nodes()}

    def write(self, path: str | PathLike[str]) -> None:
        """The tree as a .csv file, with the values of the table and no others."""
        self.tree.write(path)


def review_hierarchy(
    table: Table,
    column: str,
    *,
    kind: str | None = None,
    source: Any = None,
    pad: bool = False,
    grid: str | float | None = None,
) -> HierarchyReview:
    """The hierarchy kech would build for a column, one of another kind, or the one given, checked against the column.

    Kinds: intervals (numbers), dates, prefixes (codes), ordered (neighbours merged by 2, 4, 8, ... in the order that
    the table's axis names, or that of the values), star.  With `pad` the values of a source may differ in depth; `grid`
    is where intervals begin.
    """
    check_is_table(table)
    if column not in table.columns:
        raise NoSuchColumn(str(column), table.columns)
    if column not in table.loaded:
        raise BadOption("column", f"{column!r} has no role among those named, so it was not read. Give it one.")
    if kind is not None and kind not in KINDS:
        raise BadOption("--kind", f"there is no such kind. Choose among {', '.join(KINDS)}.")
    if kind is not None and source is not None:
        raise BadOption("--kind", "a hierarchy that you give has its levels already. Omit --kind or --from.")
    if pad and source is None:
        raise BadOption("--pad", "only a hierarchy that you give can differ in depth. Add --from FILE, or omit --pad.")
    texts, counts = table.values(column, "text")
    if not len(texts):
        raise BadHierarchy(f"column {column}", None, "it has no values to generalize. Choose another column.")
    rows = dict(zip(texts, counts.tolist(), strict=True))
    if source is not None:
        whole = read_hierarchy(source, pad=pad, column=column)
        tree, name = whole.restrict(texts), "given"
        unused, padded = len(whole.leaves) - len(tree.leaves), whole.padded
    else:
        name, tree = build_tree(table, column, kind, texts, table.labels_on(grid))
        unused = padded = 0
    return HierarchyReview(column, name, tree, np.array([rows[leaf] for leaf in tree.leaves], np.int64), unused, padded)


def build_tree(
    table: Table, column: str, kind: str | None, texts: list[str], labels: Labels
) -> tuple[str, GeneralizationTree]:
    """A kind and its tree; without a kind, what the axis of the column would do."""
    if kind == "prefixes":
        return kind, build_prefix_tree(texts)
    choice = table.choice(column)
    axis_kind = {"intervals": "number", "dates": "date", "ordered": "ordered", "star": "star"}.get(
        kind or "", choice.kind
    )
    order = choice.order or (tuple(sorted(texts)) if kind == "ordered" else ())
    wished = replace_part(choice, kind=axis_kind, order=order if axis_kind == "ordered" else ())
    chosen = replace(table, request=replace_part(table.request, axes={**table.request.axes, column: wished}))
    axis = build_axis(chosen, column, labels, by_level=True)
    return kind or kind_of(axis), build_tree_from_axis(axis, texts)


def kind_of(axis: Axis) -> str:
    """The kind of hierarchy that an axis stands for."""
    if isinstance(axis, TreeAxis):
        return axis.tree.source if axis.tree.source in KINDS else "given"
    return {"number": "intervals", "date": "dates", "ordered": "ordered"}.get(axis.kind, "star")


def build_tree_from_axis(axis: Axis, texts: list[str]) -> GeneralizationTree:
    """The labels of an axis, level by level, above the values as they are written."""
    codes = codes_of(axis, texts)
    order = np.argsort(codes, kind="stable")
    texts, codes = [texts[i] for i in order], codes[order]
    labels = [np.array(level.labels(), object)[level.cells[codes]].tolist() for level in build_levels(axis)]
    paths = zip(texts, *labels[labels_start(labels[0], texts) :], strict=True)
    return read_hierarchy({i: list(column) for i, column in enumerate(zip(*paths, strict=True))}, column=axis.column)


def labels_start(lowest: list[str | None], texts: list[str]) -> int:
    """The lowest level says nothing new where it prints the values as they are."""
    return int(lowest == texts)


def codes_of(axis: Axis, texts: list[str]) -> Ints:
    """The code of each text, read by the engine as the column was."""
    with read_table(pa.table({axis.column: pa.array(texts)}), quasi_identifiers=[axis.column]) as table:
        return table.engine.code_rows([encode_anew(table, axis)])[:, 0].astype(np.int64)

"""Points: the weighted distinct rows of a table, as integer codes.

In: a table.  Out: m code tuples with the number of rows of each; kernels never see more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths
from kech.axes import Axis, Codes, build_line_axis, build_rank_axis, build_tree_axis
from kech.engines import Mapping1D
from kech.errors import BadHierarchy, BadOption, NoQuasiIdentifier
from kech.hierarchy import build_prefix_tree, find_hierarchies, looks_like_codes, read_hierarchy, star_tree
from kech.table import AxisChoice, Table


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """m distinct points: codes (m x d) and weights in rows."""

    axes: tuple[Axis, ...]
    mappings: tuple[Mapping1D, ...]
    codes: Codes
    weights: NDArray[np.int64]

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self.weights.sum())

    def at(self, k: int) -> "Points":
        """The same points on the axes as they may be published for k."""
        return replace(self, axes=tuple(axis.at(k) for axis in self.axes))

    def widths(self) -> Widths:
        """The axes as the kernels know them."""
        widths = Widths()
        for axis in self.axes:
            axis.add_to(widths)
        return widths


def build_points(table: Table, *, grid: str | float = "auto", steps: bool = False) -> Points:
    """Code every quasi-identifier, then one GROUP BY in the engine; with `steps`, auto grids have equal steps."""
    if not table.quasi_identifiers:
        raise NoQuasiIdentifier
    check_grid(grid)
    coded = [build_axis(table, column, grid, steps=steps) for column in table.quasi_identifiers]
    axes, mappings = zip(*coded, strict=True)
    return Points(axes, mappings, *table.engine.group(mappings))


def build_axis(table: Table, column: str, grid: str | float, *, steps: bool = False) -> tuple[Axis, Mapping1D]:
    """The axis of one column, and the mapping of its values to codes."""
    choice = table.axes.get(column, AxisChoice())
    hierarchy = choice.hierarchy if choice.hierarchy is not None else table_hierarchy(table, column)
    has_null = table.facts(column).nulls > 0
    kind = "text" if hierarchy is not None else table.kind(column)
    values, counts = table.engine.count_values(table.index(column), kind)
    if kind == "text":
        axis = text_axis(column, values, counts, has_null, choice, hierarchy)
    else:
        step = check_grid(choice.grid if choice.grid is not None else grid)
        step = "steps" if steps and step == "auto" else step
        axis = build_line_axis(column, values, counts, has_null, is_date=kind == "date", grid=step)
    return axis, Mapping1D(table.index(column), kind, values, axis.codes, max(axis.null, 0))


def table_hierarchy(table: Table, column: str) -> Any:
    """The hierarchy given for a column, or None."""
    if table.hierarchies is None:
        return None
    return find_hierarchies(table.hierarchies, table.columns).get(column)


def text_axis(
    column: str,
    values: Sequence[str],
    counts: NDArray[np.int64],
    has_null: bool,
    choice: AxisChoice,
    hierarchy: Any,
) -> Axis:
    """A hierarchy where there is one, an order where one is named, prefixes for codes, sets for the rest."""
    if hierarchy is not None:
        return build_tree_axis(column, values, read_hierarchy(hierarchy, column=column), has_null)
    if choice.kind == "ordinal":
        unknown = len(set(values) - set(choice.order))
        if unknown:
            raise BadHierarchy(f"order of {column}", None, f"{unknown} values of the column are missing from it.")
        return build_rank_axis(column, values, choice.order, has_null, ordinal=True)
    if choice.kind == "star":
        return build_tree_axis(column, values, star_tree(values), has_null)
    if looks_like_codes(values) and choice.kind != "set":
        return build_tree_axis(column, values, build_prefix_tree(values), has_null)
    by_rows = [values[i] for i in np.argsort(-counts, kind="stable")]
    return build_rank_axis(column, values, by_rows, has_null, ordinal=False)


def check_grid(grid: str | float) -> str | float:
    """Auto, exact, or a positive step."""
    if grid in ("auto", "exact"):
        return grid
    try:
        step = float(grid)
    except ValueError:
        step = 0.0
    if not 0 < step < float("inf"):
        raise BadOption("--grid", "auto, exact, or a step greater than 0 (for dates, in days).")
    return step

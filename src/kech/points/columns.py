"""Columns: from the values of a column to the codes of its axis, or to those of its sensitive values.

In: a table and the name of a column.  Out: an axis with the mapping of values to codes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from kech.axes import Axis, LineAxis, build_line_axis, build_rank_axis, build_tree_axis
from kech.axes.hierarchy import (
    build_prefix_tree,
    find_hierarchy,
    have_code_form,
    looks_like_codes,
    read_hierarchy,
    star_tree,
)
from kech.axes.hints import hint_at_writing
from kech.axes.spelling import fold
from kech.errors import BadHierarchy, BadOption, DoubtfulColumn
from kech.request import AxisChoice, Labels
from kech.tables.sql import Mapping1D
from kech.tables.table import Table

MOST_LOOKED_AT = 100_000  # distinct values of a column of text


def build_axis(table: Table, column: str, labels: Labels, *, steps: bool = False) -> tuple[Axis, Mapping1D]:
    """The axis of one column, and the mapping of its values to codes."""
    choice = table.choice(column)
    hierarchy = given_hierarchy(table, column)
    nulls = int(table.facts(column).nulls)
    kind = "text" if hierarchy is not None else table.kind(column)
    values, counts = table.values(column, kind)
    grid, protect = labels.on(choice)
    grid, protect = ("steps" if grid == "round" else grid, "none") if steps else (grid, protect)
    if kind == "text":
        axis = build_text_axis(column, values, counts, nulls, choice, hierarchy, widens=protect == "full")
    else:
        is_date = kind == "date"
        axis = build_line_axis(column, values, counts, nulls > 0, is_date=is_date, grid=grid, protect=protect)
    return axis, Mapping1D(table.index(column), kind, values, axis.codes, max(axis.null, 0))


def encode_anew(table: Table, axis: Axis) -> Mapping1D:
    """The codes that an axis of another table gives to the values of this one; -1 where it has no place for one."""
    kind = "text" if not isinstance(axis, LineAxis) else "date" if axis.is_date else "number"
    values, _ = table.values(axis.column, kind)
    return Mapping1D(table.index(axis.column), kind, values, axis.encode(values), axis.null)


def given_hierarchy(table: Table, column: str) -> Any:
    """The hierarchy given for a column, or None."""
    own = table.choice(column).hierarchy
    return find_hierarchy(own, table.hierarchies, column, table.columns)


def build_text_axis(
    column: str,
    values: Sequence[str],
    counts: NDArray[np.int64],
    nulls: int,
    choice: AxisChoice,
    hierarchy: Any,
    *,
    widens: bool,
) -> Axis:
    """A hierarchy where there is one, an order where one is named, prefixes for codes, sets for the rest."""
    has_null = nulls > 0
    if hierarchy is not None:
        tree = read_hierarchy(hierarchy, column=column)
        return build_tree_axis(column, values, tree, has_null, rows=counts, nulls=nulls)
    if choice.kind == "ordered":
        check_known(column, values, set(choice.order))
        known = dict(zip(values, counts.tolist(), strict=True))
        rows = np.array([known.get(value, 0) for value in choice.order], np.int64)
        return build_rank_axis(column, values, choice.order, has_null, ordinal=True, widens=widens, rows=rows)
    if choice.kind == "hierarchy" and values and not have_code_form(set(values)):
        raise BadOption("--axis", f"column {column!r} has no hierarchy: name its file, or choose set.")
    if choice.kind in ("star", "hierarchy") or (looks_like_codes(values) and choice.kind != "set"):
        tree = star_tree(values) if choice.kind == "star" else build_prefix_tree(values)
        return build_tree_axis(column, values, tree, has_null, given=False, rows=counts, nulls=nulls)
    by_rows = np.argsort(-counts, kind="stable")
    order = [values[i] for i in by_rows]
    return build_rank_axis(
        column, values, order, has_null, ordinal=False, widens=widens, rows=counts[by_rows].astype(np.int64)
    )


def warn_of_text(table: Table, mappings: Sequence[Mapping1D]) -> None:
    """Say which columns of text look like dates or numbers, where nobody said how they are generalized."""
    for mapping in (mapping for mapping in mappings if mapping.kind == "text"):
        column = table.columns[mapping.column]
        choice = table.choice(column)
        chosen = choice.kind is not None or column in table.kinds or given_hierarchy(table, column) is not None
        hint = None if chosen else hint_at_writing([value.strip() for value in mapping.values[:MOST_LOOKED_AT]])
        if hint is not None:
            warn(DoubtfulColumn(column, hint.says), stacklevel=2)


# -- sensitive columns -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SensitiveColumn:
    """A sensitive column: its values are coded in their order, what is missing first."""

    column: str
    kind: str  # number, date, ordinal or text
    order: tuple[str, ...] = ()  # of an ordinal

    @property
    def ordered(self) -> bool:
        """Whether values have a distance along a line."""
        return self.kind != "text"


def encode_sensitive(table: Table, column: str) -> tuple[SensitiveColumn, Mapping1D]:
    """Codes of a sensitive column in the order of its values; NULL and empty text are one value, the first.

    Texts are compared folded: `hiv`, `HIV` and ` hiv ` have one code.
    """
    choice = table.choice(column)
    kind = "ordinal" if choice.kind == "ordered" else table.secret_kind(column)
    read = "text" if kind == "ordinal" else kind
    values, _ = table.values(column, read)
    ranks = rank_values(column, values, choice.order) if kind == "ordinal" else range(len(values))
    codes = np.array(ranks, np.int32) + np.int32(1)
    if kind == "text":
        codes = encode_spellings(values)
    elif kind == "ordinal":
        codes[[i for i, value in enumerate(values) if value == ""]] = 0
    return SensitiveColumn(column, kind, choice.order), Mapping1D(table.index(column), read, values, codes, 0)


def encode_spellings(values: Sequence[str]) -> NDArray[np.int32]:
    """The code of each text: that of the first one that says the same, 0 for what says nothing."""
    known = {"": 0}
    return np.array([known.setdefault(fold(value), place) for place, value in enumerate(values, 1)], np.int32)


def rank_values(column: str, values: Sequence[str], order: Sequence[str]) -> Sequence[int]:
    """The place of each value in the order somebody gave; empty text has none."""
    rank = {text: i for i, text in enumerate(order)}
    check_known(column, values, {*order, ""})
    return [rank.get(value, 0) for value in values]


def check_known(column: str, values: Sequence[str], known: set[str]) -> None:
    """An order that somebody gave holds every value of its column."""
    if unknown := len(set(values) - known):
        told = f"{unknown:,} values of the column are missing from it. Add each of them where it belongs."
        raise BadHierarchy(f"order of {column}", None, told)

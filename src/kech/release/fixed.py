"""Fixed: what must be said of every column before rows are looked at, for a release with differential privacy.

In: a table and its request.  Out: nothing, or a refusal of what would follow from the rows.
"""

from kech.errors import BadOption
from kech.points.points import find_hierarchy
from kech.request import Request
from kech.tables.table import Table

LINES = ("number", "date")


def check_fixed(table: Table, request: Request) -> None:
    """Refuse a column whose labels would follow from its rows, a level that is missing, and missing values.

    Levels that are drawn may be missing, but one of them at least must be.
    """
    levels, is_drawn, left = request.cut.levels or {}, request.goal.dp_search is not None, 0
    if unknown := [name for name in levels if name not in table.quasi_identifiers]:
        raise BadOption("--levels", f"{unknown[0]!r} is no quasi-identifier. Omit it.")
    for column in table.quasi_identifiers:
        kind = "hierarchy" if find_hierarchy(table, column) is not None else table.choice(column).kind
        check_kind(column, kind, is_stepped=not isinstance(request.labels.for_axis(table.choice(column))[0], str))
        left += kind not in LINES and column not in levels
        if (column in levels) == (kind in LINES) and not (is_drawn and kind not in LINES):
            raise BadOption("--levels", explain_level(column, kind))
        if table.facts(column).nulls:
            reason = f"column {column!r} has missing values, for which --dp-epsilon has no level"
            raise BadOption("--dp-epsilon", f"{reason}. Write a value in their place before, such as unknown or -1.")
    if is_drawn and not left:
        raise BadOption("--dp-search", "every level is fixed, and there is none to draw. Omit it, or --levels.")


def explain_level(column: str, kind: str | None) -> str:
    """Why a column must not have a level, or must have one."""
    if kind in LINES:
        return f"column {column!r} is a {kind}, so its level is the step of --grid. Omit it from --levels."
    return f"column {column!r} has no level. Name one: --levels {column}=1; or let kech draw it: --dp-search 0.1."


def check_kind(column: str, kind: str | None, *, is_stepped: bool) -> None:
    """Refuse an axis that kech would build from the values of its column."""
    if kind in LINES and not is_stepped:
        reason = f"with --dp-epsilon no edge of column {column!r} may follow from the rows"
        raise BadOption("--grid", f"{reason}. Write a step, chosen before you look at them: --grid 10.")
    if kind not in (*LINES, "ordered", "hierarchy"):
        reason = f"with --dp-epsilon the labels of column {column!r} may not follow from its values"
        advice = "Give it a hierarchy file, an order (size=S<M<L), or say number or date and a step (--grid)"
        raise BadOption("--axis", f"{reason}. {advice}.")

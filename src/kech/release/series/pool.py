"""Pool: the rows that belong to no cohort yet, cut among themselves.

In: a table, and which of its rows are new.  Out: a release of these rows alone, or none where all of them wait.
Rows that wait take no part in the labels of the others: these are cut anew without them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec.structs import replace as replace_part

from kech.errors import GoalNotMet
from kech.points.partition import Partition, class_widths
from kech.release.making import cut_release
from kech.release.release import Release
from kech.release.series.hashes import CELLS
from kech.release.series.store import Ints, SeriesFile
from kech.request import AxisChoice, Request
from kech.tables.table import Table


def cut_pool(
    table: Table, numbers: Ints, request: Request, series_file: SeriesFile | None, published: Any
) -> Release | None:
    """New cohorts of these rows.  They are searched as a part of the table, unless the request names an effort.

    They keep t against the rows `published` in the last version (an Arrow table; none in the first) and the new ones.
    Later versions let all wait where too few have gathered or no cohort can be made; the first one is refused.
    """
    if series_file is not None and len(numbers) < max(request.series.gather or 0, 1):
        return None
    pool = table if series_file is None else table.choose(numbers, fix_kinds(table, series_file))
    request = replace_part(request, axes=pool.request.axes)
    table_rows = table.rows if request.cut.effort is None else 0
    try:
        release = cut_release(pool, tighten_t(pool, request, published), table_rows=table_rows)
    except GoalNotMet:
        if series_file is None:
            raise
        return None
    return let_wait(release, request, table_rows, published)


def fix_kinds(table: Table, series_file: SeriesFile) -> dict[str, AxisChoice]:
    """Every column that kech read by itself is read as it was in the first version."""
    choices = {name: (table.choice(name), kind) for name, kind in series_file.kinds.items()}
    fixed = series_file.fixed["hierarchies"]
    return {
        name: replace_part(choice, kind=kind)
        for name, (choice, kind) in choices.items()
        if choice.kind is None and name not in fixed
    }


def let_wait(release: Release, request: Request, table_rows: int, published: Any) -> Release:
    """The release without its most blurred rows, cut anew; itself where none may wait, or the rest cannot be cut."""
    gone = find_most_blurred(release.partition, request.series.wait or 0)
    if not len(gone):
        return release
    try:
        rest = release.table.without(release.partition.points.mappings, gone)
        return cut_release(rest, tighten_t(rest, request, published), table_rows=table_rows)
    except GoalNotMet:
        return release


def find_most_blurred(partition: Partition, share: float) -> Ints:
    """Points whose rows are all in the most blurred classes, of this share of the rows at most.

    A class that is no wider than the average does not wait.
    """
    widths, sizes = (partition.points.column_weights * class_widths(partition)).mean(axis=1), partition.sizes
    order = np.argsort(-widths, kind="stable")
    above = widths[order] > np.average(widths, weights=sizes)
    taken = order[above & (np.cumsum(sizes[order]) <= share * sizes.sum())]
    waits = np.isin(partition.group, taken)
    return np.setdiff1d(partition.point[waits], partition.point[~waits])


# -- t against all rows ------------------------------------------------------------------------------------------------


def tighten_t(pool: Table, request: Request, published: Any) -> Request:
    """The request with the t for these rows alone that keeps its t for them and the published ones together.

    Distances are metrics: d(class, all) <= d(class, pool) + d(pool, all).
    """
    if request.goal.t is None or published is None:
        return request
    t = min(tighten_for_column(pool, column, request, published[column]) for column in pool.sensitive)
    if t < 0:
        raise GoalNotMet(
            "The new rows together are further from all rows than t allows. Let them wait until more have arrived."
        )
    return replace_part(request, goal=replace_part(request.goal, t=min(t, 1.0)))


def tighten_for_column(pool: Table, column: str, request: Request, published: Any) -> float:
    """The t that this column allows; below 0 where all new rows as one class are too far from all rows.

    Between values of the pool lie others, so an ordered distance inside the pool grows by a factor where all are read.
    """
    t = request.goal.t or 0.0
    place = find_order(pool, column) if request.goal.t_kind == "ordered" else None
    names = [pool.index(name) for name in (column, *pool.person)]
    texts, *people = pool.engine.read_texts(names).columns[1:]
    of_rows = pa.table([fold_texts(texts), *people], [str(i) for i in range(len(people) + 1)])
    try:
        values = sorted({*of_rows["0"].to_pylist(), *(old := fold_texts(published)).unique().to_pylist()}, key=place)
    except (ValueError, LookupError):
        return -1.0  # the column was published as something else, so its order says nothing
    of_people = of_rows.group_by(of_rows.column_names).aggregate([]) if people else of_rows
    number = {value: i for i, value in enumerate(values)}
    new, each, old_rows = (count_texts(texts, number) for texts in (of_rows["0"], of_people["0"], old))
    both = (new + old_rows) / (new + old_rows).sum()
    gaps = [both - rows / rows.sum() for rows in (new, each)]
    if place is None:
        return t - max(float(np.abs(gap).sum() / 2) for gap in gaps)
    steps, at = max(len(values) - 1, 1), np.flatnonzero(new)
    left = t - max(float(np.abs(np.cumsum(gap)).sum() / steps) for gap in gaps)
    stretch = np.diff(at).max(initial=0) * (len(at) - 1) / steps
    return left / stretch if stretch > 0 else (1.0 if left >= 0 else left)


def find_order(pool: Table, column: str) -> Callable[[str], Any] | None:
    """By what the values of a sensitive column are sorted, missing ones first; none where they have no order."""
    choice = pool.choice(column)
    if choice.kind == "ordered":
        return ["", *choice.order].index
    kind = pool.sensitive_kind(column)
    return None if kind == "text" else read_number if kind == "number" else str


def read_number(text: str) -> float:
    """A number; a missing one is the lowest."""
    return float(text) if text else -np.inf


def fold_texts(texts: Any) -> Any:
    """Cells as they are compared; missing ones are empty."""
    chunk = texts.cast(pa.string()).combine_chunks()
    return CELLS.fold_texts(chunk.fill_null(""))


def count_texts(texts: Any, number: dict[str, int]) -> Ints:
    """How often each text occurs, by its number."""
    counts = np.zeros(len(number), np.int64)
    for each in texts.value_counts().to_pylist():
        counts[number[each["values"]]] += each["counts"]
    return counts

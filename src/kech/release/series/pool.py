"""Pool: the rows that belong to no cohort yet, cut among themselves.

In: a table, and which of its rows are new.  Out: a release of these rows alone, or none where all of them wait.
Rows that wait take no part in the labels of the others: these are cut anew without them.
"""

import numpy as np
from msgspec.structs import replace as replace_part

from kech.errors import GoalNotMet
from kech.points.partition import Partition, class_widths
from kech.release.making import cut_release
from kech.release.release import Release
from kech.release.series.store import Ints, SeriesFile
from kech.request import AxisChoice, Request
from kech.tables.table import Table


def cut_pool(table: Table, numbers: Ints, request: Request, series_file: SeriesFile | None) -> Release | None:
    """New cohorts of these rows.  They are searched as a part of the table, unless the request names an effort.

    Later versions let all wait where too few have gathered or no cohort can be made; the first one is refused.
    """
    if series_file is not None and len(numbers) < max(request.series.gather or 0, 1):
        return None
    pool = table if series_file is None else table.choose(numbers, fix_kinds(table, series_file))
    request = replace_part(request, axes=pool.request.axes)
    table_rows = table.rows if request.cut.effort is None else 0
    try:
        release = cut_release(pool, request, table_rows=table_rows)
    except GoalNotMet:
        if series_file is None:
            raise
        return None
    return let_wait(release, request, table_rows)


def fix_kinds(table: Table, series_file: SeriesFile) -> dict[str, AxisChoice]:
    """Every column that kech read by itself is read as it was in the first version."""
    choices = {name: (table.choice(name), kind) for name, kind in series_file.kinds.items()}
    fixed = series_file.fixed["hierarchies"]
    return {
        name: replace_part(choice, kind=kind)
        for name, (choice, kind) in choices.items()
        if choice.kind is None and name not in fixed
    }


def let_wait(release: Release, request: Request, table_rows: int) -> Release:
    """The release without its most blurred rows, cut anew; itself where none may wait, or the rest cannot be cut."""
    gone = find_most_blurred(release.partition, request.series.wait or 0)
    if not len(gone):
        return release
    try:
        rest = release.table.without(release.partition.points.mappings, gone)
        return cut_release(rest, request, table_rows=table_rows)
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

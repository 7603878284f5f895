"""Doubts: whether the key of a series still names the same rows.

In: the rows of a table, matched with the history of a series.  Out: nothing, or BadSeries.
Where most known rows have other cells, or most of them left and came again under other keys, the key is wrong or was
numbered anew.  Then known rows would stand for other people, and people would enter a second cohort.  Where most rows
left and most are new, cells may have changed too, so that nothing tells: the owner must say that they are others.
"""

import numpy as np

from kech.errors import BadSeries
from kech.release.series.hashes import find_positions, first_half, number_alike
from kech.release.series.matching import Bools, Match
from kech.release.series.store import Ints, Store
from kech.tables.table import Table

WRONG_KEY = (
    "the table has {found} than {share:.0%} of the rows that the series knows. Probably the key ({key}) is wrong or "
    "was numbered anew, or a column is written in another way. Mend the table. If it is right (ages grow), say so: "
    "--most-changed 100%."
)


MOST_ALIKE = 0.5  # of departed rows with cells of their own: from so many on, new rows with these cells are the same
OVER_CHANCE = 5  # so many times as many as of rows that stayed, and one, are no accident
RENAMED = (
    "{count:,} rows that the series knows are gone, and later rows have their very cells under other keys. Published "
    "again, they would stand in two cohorts. Write the key ({key}) of these rows as before. If they are other rows, "
    "say so: --most-changed 100%."
)
MOST_EXCHANGED = 0.5  # of the rows of the table are new; half as many, or half of those the last one had, are gone
MANY_EXCHANGED = 0.1  # from so many new ones on the owner is told
EXCHANGED = (
    "most {whom} of the table are new, while half as many of the last version, or half of all that it had, are gone. "
    "If they are the same ones, with other keys and other cells, each would stand in two cohorts: write keys and "
    "cells as before. If they are others (each table has a month of its own), say so: --most-changed 100%."
)


def check_changes(store: Store, table: Table, match: Match, published: Bools, most: float, k: int, since: int) -> bool:
    """Refuse a table in which more than this share of the rows that were published last changed, or k got new keys.

    `since` is the version of which the owner said last that its new rows are others.  Gives back whether they say so
    of this one: new rows look like known ones, and all rows may have changed.
    """
    renamed = 0
    if table.row_key and published.any():
        check_keys(store, table, match, published, most)
        renamed = find_renamed(match, published, k) or find_trickle(match, published, k, since)
    if most < 1 and renamed:
        raise BadSeries(store.folder, RENAMED.format(count=renamed, key=", ".join(map(repr, table.row_key))))
    is_exchanged = are_exchanged(match, bool(table.person))
    if most < 1 and is_exchanged:
        raise BadSeries(store.folder, EXCHANGED.format(whom="people" if table.person else "rows"))
    return bool(renamed) or is_exchanged


def check_keys(store: Store, table: Table, match: Match, published: Bools, most: float) -> None:
    """Refuse known keys whose rows have other cells, and known cells under other keys."""
    known = match.present & published
    changed = int((match.corrected & known).sum())
    change = "other cells in more" if changed > most * known.sum() else ""
    if count_renamed(match, published & ~match.present) > most * published.sum():
        change = "the cells, under other keys, of more"
    if change:
        reason = WRONG_KEY.format(found=change, share=most, key=", ".join(map(repr, table.row_key)))
        raise BadSeries(store.folder, reason)


def are_exchanged(match: Match, by_people: bool, share: float = MOST_EXCHANGED) -> bool:
    """Whether more than this share of the table's rows (or people) are new, and half as many, or half of all, are gone.

    Those that left before are no sign: else each old table that doubles would be refused.
    """
    listed, new, rows = match.history.listed, len(match.doubtful), len(match.same) + len(match.history_row)
    known, gone = int(listed.sum()), int((listed & ~match.present).sum())
    if by_people and new > share * rows:
        history, person = match.history.people, match.person[match.doubtful]
        ever, last, came, now = map(first_half, (history, history[listed], person, match.people_now()))
        new, rows = len(np.setdiff1d(came, ever)), len(np.unique(now))
        known, gone = len(np.unique(last)), len(np.setdiff1d(last, now))
    return new > share * rows and gone > MOST_EXCHANGED * min(new, known)


def find_renamed(match: Match, published: Bools, k: int) -> int:
    """Rows that left, in the last version or earlier, and came again under other keys; 0 where it may be chance."""
    if count_renamed(match, ~match.present) < k:
        return 0
    unlike = find_unlike(match)
    twin = unlike & (find_positions(match.history.rows.cells, match.cells[match.doubtful]) >= 0)
    gone, stayed = unlike & ~match.present, unlike & match.present & published
    together = [twin[some & gone] for some in (published, np.ones_like(published))]
    counts = [int(group.sum()) for group in together if group.sum() >= max(k, find_limit(group, twin[stayed]))]
    born = match.history.cohorts.born[match.history.rows.cohort]
    groups = [twin[gone & (born == version)] for version in np.unique(born)]
    counts += [int(group.sum()) for group in groups if group.sum() >= max(k, find_accidents(group, twin[stayed]))]
    return max(counts, default=0)


def find_trickle(match: Match, published: Bools, k: int, since: int) -> int:
    """Rows that left and came again under other keys, a few in each version after one; 0 where it may be chance.

    Compared are rows whose cells nobody had before them: those that are gone with those that stayed, born together.
    """
    if not count_renamed(match, ~match.present):
        return 0
    rows, versions = match.history.rows, int(match.history.cohorts.born.max()) + 1
    born = match.history.cohorts.born[rows.cohort]
    which = number_alike(np.concatenate([rows.cells, match.cells[match.doubtful]]))
    own, now = which[: len(born)], which[len(born) :]
    counts = (born > since) & (find_positions(rows.key, match.history.others) < 0)
    later = np.bincount(np.concatenate([own[counts], now]), minlength=int(which.max()) + 1)[own]
    is_first, is_twin = find_first(own, born), later > counts
    gone, stayed = is_first & ~match.present, is_first & match.present & published
    left, kept, twins = (np.bincount(born[some], minlength=versions) for some in (gone, stayed, stayed & is_twin))
    ratio = left / np.maximum(kept, 1)
    accidents = OVER_CHANCE * (np.where(kept, ratio * twins, left).sum() + max(ratio.max(), 1))
    count = int((gone & is_twin).sum())
    return count if count >= max(k, accidents) and np.isin(own[gone], now).any() else 0


def find_first(which: Ints, born: Ints) -> Bools:
    """Rows whose cells no row had that was born before them or with them."""
    order = np.lexsort((born, which))
    cells, born = which[order], born[order]
    begins = np.r_[True, cells[1:] != cells[:-1]]
    alone = begins & np.r_[(cells[1:] != cells[:-1]) | (born[1:] != born[:-1]), True]
    is_first = np.zeros(len(which), bool)
    is_first[order[alone]] = True
    return is_first


def find_limit(gone: Bools, stayed: Bools) -> float:
    """From so many departed rows with a new twin on they are the same rows: most of them, or too many for chance."""
    return min(MOST_ALIKE * len(gone), find_accidents(gone, stayed))


def find_accidents(gone: Bools, stayed: Bools) -> float:
    """So many departed rows can have a new twin by accident, given which rows that stayed have one."""
    if not len(stayed):
        return np.inf
    ratio = len(gone) / len(stayed)
    return float(OVER_CHANCE * (stayed.sum() * ratio + max(ratio, 1)))


def find_unlike(match: Match) -> Bools:
    """Rows of the history whose cells no other row of it has."""
    which = number_alike(match.history.rows.cells)
    return np.asarray((np.bincount(which) == 1)[which])


def count_renamed(match: Match, gone: Bools) -> int:
    """Rows that left while a new row has the same cells, each new row once."""
    if not gone.any() or not len(match.doubtful):
        return 0
    left, new = match.history.rows.cells[gone], match.cells[match.doubtful]
    which = number_alike(left)
    _, first = np.unique(which, return_index=True)
    position = find_positions(new, left[first])
    here = np.bincount(position[position >= 0], minlength=len(first))
    return int(np.minimum(np.bincount(which), here).sum())

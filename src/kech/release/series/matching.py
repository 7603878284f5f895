"""Matching: which rows of a table a series knows, which are new, which left, and which were corrected.

In: a table, and the history of a series.  Out: a `Match`.
A row is known by its key.  Without a key, rows with the same quasi-identifiers (and person) are counted: what left and
what stays never depends on other cells, of which cohorts would tell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kech.errors import BadRowKey
from kech.release.series.hashes import (
    PEOPLE,
    Hashes,
    RowHasher,
    count_before,
    differ,
    find_positions,
    have_repeats,
    number_alike,
)
from kech.release.series.store import History, Ints
from kech.tables.table import Table

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Match:
    """The rows of a table: those that are as they were, by their places in the history, and all others with hashes."""

    history: History
    same: Ints  # places of rows that are as they were
    history_row: Ints  # of each other row; -1: none
    unclear: Bools  # of each other row, whether nobody can tell if it is new: then it waits
    number: Ints  # of each other row in its engine
    base: Hashes  # of its key, or of the whole row
    key: Hashes  # of its key, or of quasi-identifiers and person
    whole: Hashes  # of key, cells and person together
    cells: Hashes
    person: Hashes

    @property
    def new(self) -> Ints:
        """Rows that belong to no cohort: those that came, and those that wait."""
        return np.flatnonzero(self.history_row < 0)

    @property
    def ready(self) -> Ints:
        """New rows that may enter a cohort."""
        return np.flatnonzero((self.history_row < 0) & ~self.unclear)

    @property
    def current(self) -> Hashes:
        """Of each row of the history: all that is read of it now, or was read last."""
        known = np.flatnonzero((self.history_row >= 0) & ~self.unclear)
        current = self.history.current.copy()
        current[self.same] = self.history.rows.whole[self.same]
        current[self.history_row[known]] = self.whole[known]
        return current

    @cached_property
    def doubtful(self) -> Ints:
        """New rows but those of which the owner said that they are others than the rows that left."""
        return self.new[find_positions(self.key[self.new], self.history.others) < 0]

    @cached_property
    def present(self) -> Bools:
        """For each row of the history whether the table has it still."""
        is_present = np.zeros(len(self.history.rows.cohort), bool)
        is_present[self.same] = True
        is_present[self.history_row[self.history_row >= 0]] = True
        return is_present

    @cached_property
    def corrected(self) -> Bools:
        """For each row of the history whether the table has it with other cells, or as another person's."""
        known = np.flatnonzero(self.history_row >= 0)
        is_corrected = np.zeros(len(self.history.rows.cohort), bool)
        history_row = self.history_row[known]
        changed = differ(self.history.rows.cells[history_row], self.cells[known])
        is_corrected[history_row] = changed | differ(self.history.rows.person[history_row], self.person[known])
        return is_corrected

    @cached_property
    def people(self) -> Hashes:
        """Of each row of the history: its person as the table says now, or as it was known last."""
        known = np.flatnonzero(self.history_row >= 0)
        people = self.history.people.copy()
        people[self.same] = self.history.rows.person[self.same]
        people[self.history_row[known]] = self.person[known]
        return people

    def people_now(self) -> Hashes:
        """Of each row of the table: its person."""
        return np.concatenate([self.history.rows.person[self.same], self.person])


def match_rows(table: Table, hasher: RowHasher, history: History) -> Match:
    """Look up every row of a table: by one hash of the whole row, and what that does not find by its key."""
    published = {*table.quasi_identifiers, *table.sensitive, *table.keep}
    names = sorted({*published, *table.person, *table.row_key})
    rows = table.engine.read_texts([table.index(name) for name in names])
    texts = dict(zip(names, rows.columns[1:], strict=True))
    whole, keys = hash_whole(table, hasher, texts), None
    if table.row_key:
        history_row, unclear = find_positions(whole, history.rows.whole), np.zeros(len(whole), bool)
    else:
        keys = hash_quasi_identifiers(table, hasher, texts)
        history_row, unclear = count_rows(history, hasher, keys, whole)
    same = history_row >= 0
    same[same] = ~differ(whole[same], history.rows.whole[history_row[same]])
    others, number = np.flatnonzero(~same), np.asarray(rows["r"].to_numpy(), np.int64)
    some = {name: column.take(pa.array(others)) for name, column in texts.items()}
    check_present(table.row_key, some, number[others])
    base = hash_keys(table, hasher, some)
    match = Match(
        history,
        same=history_row[same],
        history_row=find_positions(base, history.rows.key) if keys is None else history_row[others],
        unclear=unclear[others],
        number=number[others],
        base=base,
        key=base if keys is None else keys[others],
        whole=whole[others],
        cells=hasher.hash_rows("cells", select_columns(some, cells := sorted(published - {*table.person})), cells),
        person=hash_people(table, hasher, some),
    )
    if table.row_key and may_repeat(match):
        check_repeats(table.row_key, hash_keys(table, hasher, texts), number)
    return match


def count_rows(history: History, hasher: RowHasher, keys: Hashes, whole: Hashes) -> tuple[Ints, Bools]:
    """Without a key: the row of the history of each row (-1: none), and where nobody can tell which are new.

    Rows with one hash in `keys` are counted.  Where some left, those published first did; where there are more than
    were ever published, those are new whose cells the last table did not have.  If other known ones lack too, nobody
    can tell which are new, and all that are more wait.
    """
    kinds = number_alike(np.concatenate([history.rows.key, keys]))
    known, now = kinds[: len(history.rows.key)], kinds[len(history.rows.key) :]
    count = int(kinds.max(initial=-1)) + 1
    ever, here = np.bincount(known, minlength=count), np.bincount(now, minlength=count)
    stays = np.flatnonzero(count_later(known, rank_cohorts(history)[history.rows.cohort]) < here[known])
    position = find_positions(*(hasher.number(each, count_before(each)) for each in (whole, history.current[stays])))
    history_row = np.full(len(now), -1, np.int64)
    history_row[position >= 0] = stays[position[position >= 0]]
    left_over, free = np.flatnonzero(position < 0), np.setdiff1d(stays, history_row)
    more = np.maximum(here - ever, 0)
    is_unclear = (more > 0) & (np.bincount(now[left_over], minlength=count) > more)
    pair_in_turn(history_row, left_over, free, now, known)
    return history_row, is_unclear[now]


def rank_cohorts(history: History) -> Ints:
    """Of each cohort its place by the version it was born in, and by its labels: other cells have no say in it."""
    labels = history.cohorts.labels
    by = pa.table([pa.array(history.cohorts.born), *labels.columns], [str(i) for i in range(labels.num_columns + 1)])
    order = pc.sort_indices(by, sort_keys=[(name, "ascending") for name in by.column_names]).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def count_later(kinds: Ints, rank: Ints) -> Ints:
    """Of each row how many of its kind were published after it."""
    order = np.lexsort((np.arange(len(kinds)), rank, kinds))[::-1]
    starts = np.flatnonzero(np.r_[True, np.diff(kinds[order]) != 0])[: len(kinds)]
    later = np.empty(len(kinds), np.int64)
    later[order] = np.arange(len(kinds)) - np.repeat(starts, np.diff(np.r_[starts, len(kinds)]))
    return later


def pair_in_turn(history_row: Ints, rows: Ints, free: Ints, now: Ints, known: Ints) -> None:
    """Give each free row of the history to the next row of its kind."""
    rows, free = rows[np.argsort(now[rows], kind="stable")], free[np.argsort(known[free], kind="stable")]
    begins = np.searchsorted(now[rows], known[free])
    turn = np.arange(len(free)) - np.searchsorted(known[free], known[free])
    history_row[rows[begins + turn]] = free


def hash_whole(table: Table, hasher: RowHasher, texts: Mapping[str, Any]) -> Hashes:
    """Of each row: all that is read of it."""
    if table.row_key:
        return hasher.hash_rows("whole", list(texts.values()), list(texts))
    return hash_keys(table, hasher, texts)


def key_columns(table: Table) -> tuple[str, ...]:
    """The columns that tell rows apart: the key, or all that are read."""
    return table.row_key or tuple(sorted(table.loaded))


def hash_keys(table: Table, hasher: RowHasher, texts: Mapping[str, Any]) -> Hashes:
    """What tells rows apart, of each row."""
    names = key_columns(table)
    return hasher.hash_rows("key", select_columns(texts, names), names)


def hash_quasi_identifiers(table: Table, hasher: RowHasher, texts: Mapping[str, Any]) -> Hashes:
    """What tells rows apart without a key: quasi-identifiers and person."""
    cells = hasher.hash_rows("key", select_columns(texts, table.quasi_identifiers), table.quasi_identifiers)
    return hasher.hash_pair(cells, hash_people(table, hasher, texts)) if table.person else cells


def hash_people(table: Table, hasher: RowHasher, texts: Mapping[str, Any]) -> Hashes:
    """The person of each row; nothing where every row is another person."""
    if not table.person:
        return np.zeros((len(next(iter(texts.values()))), 16), np.uint8)
    return hasher.hash_rows("person", select_columns(texts, table.person), table.person, PEOPLE)


def select_columns(texts: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    """Some of the columns, by name."""
    return [texts[name] for name in names]


def check_present(names: Sequence[str], texts: Mapping[str, Any], number: Ints) -> None:
    """Refuse a table in which a row has no key."""
    is_missing = np.zeros(len(number), bool)
    for column in select_columns(texts, names):
        filled = pc.utf8_trim_whitespace(column.cast(pa.string()).fill_null(""))
        is_missing |= pc.equal(filled, "").to_numpy(zero_copy_only=False)
    if is_missing.any():
        raise BadRowKey(names, int(is_missing.sum()), [int(number[is_missing].min()) + 1], "is missing")


def may_repeat(match: Match) -> bool:
    """Whether two rows may have one key: no means no."""
    history_rows = np.concatenate([match.same, match.history_row[match.history_row >= 0]])
    return have_repeats(match.key) or len(history_rows) > int(match.present.sum())


def check_repeats(names: Sequence[str], keys: Hashes, number: Ints) -> None:
    """Refuse a table in which two rows have one key."""
    which = number_alike(keys)
    times = np.bincount(which)
    if rows := int(times[times > 1].sum()):
        twins = np.sort(number[which == which[times[which] > 1][0]]) + 1
        raise BadRowKey(names, rows, twins[:2].tolist(), "repeats")

"""Matching: which rows of a table a series knows, which are new, which left, and which were corrected.

In: a table, and the history of a series.  Out: a `Match`.
A row is known by its key.  Without a key, equal rows are told apart by their number only, so a corrected row looks
like one that left and one that came.
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
    number: Ints  # of each other row in its engine
    base: Hashes  # of its key, or of the whole row
    key: Hashes  # the same, with equal rows told apart
    whole: Hashes  # of key, cells and person together
    cells: Hashes
    person: Hashes

    @property
    def new(self) -> Ints:
        """Rows that belong to no cohort: those that came, and those that wait."""
        return np.flatnonzero(self.history_row < 0)

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
    whole = hash_whole(table, hasher, texts)
    history_row = find_positions(whole, history.rows.whole)
    others = np.flatnonzero(history_row < 0)
    some = {name: column.take(pa.array(others)) for name, column in texts.items()}
    base = hash_keys(table, hasher, some)
    key = base if table.row_key else whole[others]
    match = Match(
        history,
        same=history_row[history_row >= 0],
        history_row=find_positions(key, history.rows.key),
        number=np.asarray(rows["r"].to_numpy(), np.int64)[others],
        base=base,
        key=key,
        whole=whole[others],
        cells=hasher.hash_rows("cells", select_columns(some, cells := sorted(published - {*table.person})), cells),
        person=hash_people(table, hasher, some),
    )
    if table.row_key and may_repeat(match):
        check_repeats(table.row_key, hash_keys(table, hasher, texts))
    return match


def hash_whole(table: Table, hasher: RowHasher, texts: Mapping[str, Any]) -> Hashes:
    """Of each row: all that is read of it; without a key, equal rows are told apart by their number."""
    if table.row_key:
        return hasher.hash_rows("whole", list(texts.values()), list(texts))
    base = hash_keys(table, hasher, texts)
    return hasher.number(base, count_before(base))


def key_columns(table: Table) -> tuple[str, ...]:
    """The columns that tell rows apart: the key, or all that are read."""
    return table.row_key or tuple(sorted(table.loaded))


def hash_keys(table: Table, hasher: RowHasher, texts: Mapping[str, Any]) -> Hashes:
    """What tells rows apart, of each row; a key that is missing is refused."""
    names = key_columns(table)
    if table.row_key:
        check_present(names, select_columns(texts, names))
    return hasher.hash_rows("key", select_columns(texts, names), names)


def hash_people(table: Table, hasher: RowHasher, texts: Mapping[str, Any]) -> Hashes:
    """The person of each row; nothing where every row is another person."""
    if not table.person:
        return np.zeros((len(next(iter(texts.values()))), 16), np.uint8)
    return hasher.hash_rows("person", select_columns(texts, table.person), table.person, PEOPLE)


def select_columns(texts: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    """Some of the columns, by name."""
    return [texts[name] for name in names]


def check_present(names: Sequence[str], columns: Sequence[Any]) -> None:
    """Refuse a table in which a row has no key."""
    texts = [column.cast(pa.string()).fill_null("") for column in columns]
    missing = sum(pc.equal(pc.utf8_trim_whitespace(column), "").to_numpy(zero_copy_only=False) for column in texts)
    if rows := int(np.count_nonzero(missing)):
        raise BadRowKey(names, rows, "is missing")


def may_repeat(match: Match) -> bool:
    """Whether two rows may have one key: no means no."""
    history_rows = np.concatenate([match.same, match.history_row[match.history_row >= 0]])
    return have_repeats(match.key) or len(history_rows) > int(match.present.sum())


def check_repeats(names: Sequence[str], keys: Hashes) -> None:
    """Refuse a table in which two rows have one key."""
    times = np.bincount(number_alike(keys))
    if rows := int(times[times > 1].sum()):
        raise BadRowKey(names, rows, "repeats")

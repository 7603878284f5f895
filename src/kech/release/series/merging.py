"""Merging: the rows of the last file without the cohorts that leave, and those of the new cohorts, shuffled together.

In: a published file, new rows, cohorts that leave.  Out: rows, as cells of text (CSV) or typed (Parquet).
Old rows are copied as they were published, so a row that is held or was corrected stays as it is.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kech.certificate import open_published
from kech.errors import OutOfMemory, UnreadableFile
from kech.release.series.hashes import Hashes, RowHasher, count_before, find_positions
from kech.release.series.store import Cohorts, Ints, PublishedRows
from kech.release.tallies import CellTally
from kech.release.writing import write_batches
from kech.tables.batches import fill_indices, shuffle_rows

AT_ONCE = 100_000  # rows that are written together
COPIES = 6  # of a file, in memory: its text, its cells, both files together, a part of them in another order


class KeyTally(CellTally):
    """Keeps the hash of the key of each row, in the order in which rows are written."""

    def __init__(self, columns: Sequence[str], hasher: RowHasher) -> None:
        super().__init__(columns)
        self._hasher = hasher
        self._hashes: list[Hashes] = []

    def add(self, _published: Any, cells: Sequence[Any]) -> None:
        """Hash the key columns."""
        self._hashes.append(self._hasher.hash_rows("key", cells, self.columns))

    @property
    def keys(self) -> Hashes:
        """The hashes of the keys of all rows, in the order in which they were written."""
        return np.concatenate([np.empty((0, 16), np.uint8), *self._hashes])


def read_cells(path: Path, format: str, room: int) -> Any:
    """A published file as an Arrow table: cells of CSV as the texts they are, NULL apart from empty text."""
    if (need := COPIES * path.stat().st_size) > room:
        raise OutOfMemory("reading the last release of the series", room, need)
    try:
        if format == "parquet":
            return pq.read_table(path)
        names = open_published(path, format).columns
        convert = pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        parse = pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
        return pyarrow.csv.read_csv(path, parse_options=parse, convert_options=convert)
    except pa.ArrowException:
        raise UnreadableFile(path, "it is damaged. Put the file back as it was published.") from None


def hash_others(rows: Any, labels: Sequence[str], hasher: RowHasher) -> Hashes:
    """The published cells of each row beside its labels."""
    names = sorted(name for name in rows.column_names if name not in labels)
    if not names:
        return np.zeros((rows.num_rows, 16), np.uint8)
    return hasher.hash_rows("other", [rows[name] for name in names], names)


def number_labels(rows: Any, labels: Sequence[str]) -> tuple[Any, Ints]:
    """Each combination of labels once, as a table, and which of them every row has."""
    group = np.zeros(rows.num_rows, np.int64)
    texts = [rows[name].cast(pa.string()).combine_chunks() for name in labels]
    for column in texts:
        coded = column.dictionary_encode()
        both = pa.array(group * (len(coded.dictionary) + 1) + fill_indices(coded, len(coded.dictionary)))
        group = np.asarray(both.dictionary_encode().indices.to_numpy(zero_copy_only=False), np.int64)
    first = np.empty(int(group.max(initial=-1)) + 1, np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return pa.table([column.take(pa.array(first)) for column in texts], list(labels)), group


def find_cohorts(
    rows: Any, labels: Sequence[str], hasher: RowHasher, cohort_rows: PublishedRows, cohorts: Cohorts
) -> NDArray[np.bool_]:
    """Which rows of a file are those of some cohorts.

    Where cohorts share a label, the other cells tell whose a row is; where these are equal too, it does not matter.
    """
    known = hash_published_rows(cohorts.labels.take(pa.array(cohort_rows.cohort)), labels, cohort_rows.other, hasher)
    here = hash_published_rows(rows, labels, hash_others(rows, labels, hasher), hasher)
    return np.asarray(find_positions(here, known) >= 0)


def hash_published_rows(rows: Any, labels: Sequence[str], other: Hashes, hasher: RowHasher) -> Hashes:
    """A hash of all published cells of each row, equal rows told apart."""
    label = hasher.hash_rows("label", [rows[name].cast(pa.string()) for name in labels], labels)
    both = hasher.hash_pair(label, other)
    return hasher.number(both, count_before(both))


def join_rows(old: Any, new: Any) -> Any:
    """The rows of both under the columns of the old file; a column whose type changed becomes text in both."""
    columns = {}
    for name in old.column_names:
        parts = [old[name], new[name]]
        if parts[0].type != parts[1].type:
            parts = [part.cast(pa.string()) for part in parts]
        columns[name] = pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)
    return pa.table(columns)


def write_rows(rows: Any, labels: Sequence[str], draft: Path, target: Path) -> None:
    """Write rows in an order nobody can know; in Parquet each label stands once."""
    for name in labels if target.suffix.lower() != ".csv" else ():
        if pa.types.is_string(rows[name].type):
            rows = rows.set_column(rows.column_names.index(name), name, rows[name].combine_chunks().dictionary_encode())
    shuffled = map(list_own_labels, shuffle_rows(rows, AT_ONCE))
    write_batches(pa.RecordBatchReader.from_batches(rows.schema, shuffled), draft, target)


def list_own_labels(batch: Any) -> Any:
    """Rows whose dictionaries list no label that none of them has: a checker must look for each in the whole file."""
    columns = [
        column.dictionary_decode().dictionary_encode() if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return pa.record_batch(columns, schema=batch.schema)

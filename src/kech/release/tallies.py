"""Tallies: what is counted of columns that are not published, while rows are written.

In: rows as they pass by.  Out: how many different people each class has, as the maker of a file states it; and, where
its owner asks for it, the PRIVATE mapping of the values behind the labels.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech._kernels import Words, distinct_rows
from kech.axes.spelling import encode_spellings, fold_people
from kech.points.people import mix, scramble
from kech.release.published import hash_cells
from kech.release.writing import Cell
from kech.system.files import draft_file, put_in_place, refuse_disk_errors
from kech.tables.batches import fill_indices, number_cells, spell_words

BANNER = (
    "PRIVATE: not for publication. Whoever has this file and the release undoes the release. Keep it as you keep the "
    "original, or delete it."
)


class ColumnTaker(Protocol):
    """Takes columns that are not published out of a stream of rows."""

    columns: list[str]

    def take_columns(self, stream: Any) -> Any:
        """Take these columns, the last ones of the stream; gives the stream without them."""


class CellTally:
    """Counts cells of some columns, which are not published, while rows are written."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = list(columns)

    def take_columns(self, stream: Any) -> Any:
        """Take these columns, the last ones of the stream, and count them; gives the stream without them."""
        schema = pa.schema([stream.schema.field(i) for i in range(len(stream.schema) - len(self.columns))])
        return pa.RecordBatchReader.from_batches(schema, self._take(stream, schema))

    def _take(self, stream: Any, schema: Any) -> Iterator[Any]:
        for batch in stream:
            published = pa.record_batch(batch.columns[: len(schema)], schema=schema)
            self.add(published, batch.columns[len(schema) :])
            yield published

    def add(self, published: Any, cells: Sequence[Any]) -> None:
        """Count the cells of these columns beside the published rows."""
        raise NotImplementedError


# -- people: how many different ones each written class has ------------------------------------------------------------


class PeopleTally(CellTally):
    """Counts the different people of every class by its labels as they are written, while rows pass by.

    It knows nothing of the partition: a class that is too small is found here.
    """

    def __init__(self, labels: Sequence[str], columns: Sequence[str]) -> None:
        super().__init__(columns)  # the person columns
        self.labels = list(labels)  # the published columns of the quasi-identifiers
        self.person_cells = [PersonCells() for _ in columns]  # the different cells of each person column
        self.class_hashes: list[list[NDArray[np.int64]]] = []  # of each batch: the hash of the labels of each row

    def add(self, published: Any, cells: Sequence[Any]) -> None:
        """Note the class and the person of each row."""
        self.class_hashes.append(self.hash_labels(published))
        for names, column in zip(self.person_cells, cells, strict=True):
            names.add(column)

    def hash_labels(self, batch: Any) -> list[NDArray[np.int64]]:
        """A figure of each row: its class, by its labels."""
        return [mix(hash_published(batch, self.labels))]

    def state(self) -> dict[str, Any]:
        """What the maker of a file states: people of the smallest class, and of all classes."""
        (classes,), person = self.read_figures(1), self.number_people()
        sizes = np.bincount(distinct_pairs(number_values(classes), person)[0])
        people = int(np.count_nonzero(np.bincount(person)))
        return {"promise": "person", "k": int(sizes.min(initial=people)), "people": people}

    def read_figures(self, count: int) -> list[NDArray[np.int64]]:
        """So many figures of all rows."""
        return [
            np.concatenate([np.empty(0, np.int64), *(batch[i] for batch in self.class_hashes)]) for i in range(count)
        ]

    def number_people(self) -> NDArray[np.int64]:
        """The person of all rows."""
        codes = [names.codes() for names in self.person_cells]
        return codes[0] if len(codes) == 1 else distinct_rows(np.stack(codes, axis=1))[1]


class PersonCells:
    """The cells of one person column while rows pass by: texts, each held once, or whole numbers."""

    def __init__(self) -> None:
        self.words = Words()
        self.cells: list[NDArray[Any]] = []  # of each batch: the numbers of texts, or the numbers that they are
        self.whole = False

    def add(self, column: Any) -> None:
        """Keep the cells of a batch."""
        self.whole = pa.types.is_integer(column.type)
        self.cells.append(read_whole(column) if self.whole else number_texts(self.words, column))

    def codes(self) -> NDArray[np.int64]:
        """A number for each cell, by how it reads; what is missing reads as nothing."""
        cells = np.concatenate([np.empty(0, np.int64), *self.cells])
        if self.whole:
            least, most = int(cells.min()), int(cells.max())
            return cells - least if most - least < 2 * len(cells) else number_values(cells)
        spellings = encode_spellings(spell_words(self.words).to_pylist(), fold_people)
        return np.asarray(np.r_[0, spellings][cells], np.int64)


def read_whole(column: Any) -> NDArray[np.int64]:
    """Whole numbers; what is missing is the least one."""
    return np.asarray(column.cast(pa.int64(), safe=False).fill_null(np.iinfo(np.int64).min).to_numpy())


def number_values(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each different value."""
    return np.asarray(pa.array(values).dictionary_encode().indices, np.int64)


class HistoryTally(PeopleTally):
    """Counts the people who share a history, by their labels as they are written, while rows pass by."""

    def __init__(self, labels: Sequence[str], columns: Sequence[str], number: str) -> None:
        super().__init__(labels, columns)
        self.number = number  # the published column of numbers

    def hash_labels(self, batch: Any) -> list[NDArray[np.int64]]:
        """Figures of each row: its number and its class."""
        number, *labels = hash_published(batch, [self.number, *self.labels])
        return [number, mix(labels)]

    def state(self) -> dict[str, Any]:
        """What the maker of a file states: the fewest people who share a history, and all people.

        No history is safe where a number is of several people, or a person has several numbers.
        """
        (number, group), person = self.read_figures(2), self.number_people()
        number = number_values(number)
        people, who = np.unique(person, return_inverse=True)
        one_to_one = len(people) == len(np.unique(number)) == len(distinct_pairs(number, person)[0])
        sums = np.zeros(len(people), np.uint64)
        np.add.at(sums, who.ravel(), scramble(group.view(np.uint64)))  # equal for equal multisets of labels
        sizes = np.unique(sums, return_counts=True)[1]
        k = int(sizes.min()) if len(sizes) and one_to_one else 0
        return {"promise": "history", "k": k, "people": len(people)}


def distinct_pairs(first: NDArray[np.int64], second: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Pairs of numbers below 2^31, each once, in their order."""
    pairs = np.sort((first << 32) + second)
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    return pairs >> 32, pairs & 0xFFFFFFFF


def number_texts(words: Words, column: Any) -> NDArray[np.uint32]:
    """The number of each text among the words, 0 for what is missing."""
    coded = pa.types.is_dictionary(column.type)
    numbers = number_cells((words, column.dictionary if coded else column))
    assert numbers is not None  # a batch is short enough
    if not coded:
        return numbers
    return np.asarray(np.append(numbers, np.uint32(0))[fill_indices(column, len(numbers))])


def hash_published(batch: Any, names: Sequence[str]) -> list[NDArray[np.int64]]:
    """Numbers for the cells of published columns."""
    return [hash_column(first_column(batch, name)) for name in names]


def first_column(batch: Any, name: str) -> Any:
    """A published column; original values that pass by under the same name come later."""
    return batch.column(batch.schema.names.index(name))


def hash_column(column: Any) -> NDArray[np.int64]:
    """A number for each cell; what is missing is empty."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    texts = [str(value) if value is not None else "" for value in coded.dictionary.to_pylist()]
    numbers: NDArray[np.int64] = np.append(hash_cells(texts), hash(""))
    return np.asarray(numbers[fill_indices(coded, len(texts))])


# -- mapping: which values stand behind the labels of a class ----------------------------------------------------------


class ValueTally(CellTally):
    """Counts the original values of every class while rows pass by."""

    many = 100_000  # rows that are counted together

    def __init__(self, labels: Sequence[str], columns: Sequence[str]) -> None:
        super().__init__(columns)  # the quasi-identifiers
        self.labels = list(labels)  # their published columns
        self.waiting: list[Any] = []  # rows that are not counted yet
        self.counts: list[Counter[tuple[Cell, ...]]] = [Counter() for _ in columns]  # (*labels, value) -> rows

    def add(self, published: Any, cells: Sequence[Any]) -> None:
        """Keep the labels and the values of rows, and count them once they are many."""
        labels = [first_column(published, name) for name in self.labels]
        texts = [column.cast(pa.string()) for column in cells]
        self.waiting.append(pa.table([*labels, *texts], [str(i) for i in range(len(labels) + len(texts))]))
        if sum(map(len, self.waiting)) >= self.many:
            self.count()

    def count(self) -> None:
        """Count the rows that were kept."""
        if not self.waiting:
            return
        rows, self.waiting = pa.concat_tables(self.waiting), []
        for index, counts in enumerate(self.counts):
            names = [str(i) for i in (*range(len(self.labels)), len(self.labels) + index)]
            counted = rows.group_by(names).aggregate([([], "count_all")])
            keys = zip(*(counted[name].to_pylist() for name in names), strict=True)
            counts.update(dict(zip(keys, counted["count_all"].to_pylist(), strict=True)))

    def to_json(self, released: str) -> dict[str, Any]:
        """Classes in the order of their labels; `released` is the SHA-256 of the file they are in."""
        self.count()
        classes: defaultdict[tuple[Cell, ...], dict[str, list[tuple[Cell, int]]]] = defaultdict(dict)
        for column, counts in zip(self.columns, self.counts, strict=True):
            for key, rows in counts.items():
                classes[key[:-1]].setdefault(column, []).append((key[-1], rows))
        listed = [
            {
                "rows": sum(rows for _, rows in values[self.columns[0]]),
                "labels": dict(zip(self.labels, labels, strict=True)),
                "values": {
                    name: sorted(pairs, key=lambda pair: order_cells(pair[:1])) for name, pairs in values.items()
                },
            }
            for labels, values in sorted(classes.items(), key=lambda item: order_cells(item[0]))
        ]
        return {"private": True, "notice": BANNER, "released": released, "classes": listed}

    def text(self, released: str) -> str:
        """The document as it is written, a class on each line."""
        document = self.to_json(released)
        lines = [json.dumps(one, ensure_ascii=False) for one in document.pop("classes")]
        return json.dumps(document, ensure_ascii=False)[:-1] + ', "classes": [\n' + ",\n".join(lines) + "\n]}\n"


@dataclass(frozen=True, slots=True)
class MappingDraft:
    """A mapping that is put in place together with its release."""

    tally: ValueTally
    draft: Path
    target: Path

    def fill(self, released: str) -> None:
        """Write the draft, once all rows have passed by."""
        self.draft.write_bytes(self.tally.text(released).encode())

    def put_in_place(self) -> None:
        """Give it its name, readable to its owner only."""
        put_in_place({self.draft: self.target}, private=True)


@contextmanager
def mapping_aside(target: Path, tally: ValueTally) -> Iterator[MappingDraft]:
    """A private draft beside the target, which is gone afterwards unless it was put in place."""
    with refuse_disk_errors(target), draft_file(target) as draft:
        yield MappingDraft(tally, draft, target)


def order_cells(cells: Sequence[Cell]) -> list[tuple[bool, str]]:
    """Missing cells after all others."""
    return [(cell is None, cell or "") for cell in cells]

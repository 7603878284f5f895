"""Linkage: which rows of another table each class of a release could be.

In: a release and a table with the same quasi-identifiers.  Out: a `Linkage`.
A label covers a cell that is the same text, and every value that its axis in the certificate says it stands for; `*`
covers everything.  A row could be in a class whose labels all cover it; it may be in several where boxes overlap.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.axes.hierarchy import read_hierarchy
from kech.certificate import Axis, Cell
from kech.certificate.labels import (
    EVERYTHING,
    is_line,
    range_reader,
    read_interval,
    read_position,
    read_prefix,
    read_set,
    split_set,
)
from kech.errors import BadOption, NoSuchColumn
from kech.points.points import find_hierarchy
from kech.release.published import Ints, Published
from kech.tables.table import Table

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
MOST_COVERED = 4_000_000  # cells of a column that are remembered to be covered, or not, by its labels


@dataclass(frozen=True, eq=False, repr=False)
class LinkedColumn:
    """One quasi-identifier of the other table: its distinct cells, and the cell of each row as a code."""

    axis: Axis  # empty without a certificate
    texts: list[Cell]  # NULL is the last
    codes: NDArray[np.int32]
    paths: Mapping[str, frozenset[str]]  # of each leaf of its hierarchy, the labels above
    labels: list[Cell]  # of each class

    @property
    def is_line(self) -> bool:
        """Whether labels are intervals."""
        return is_line(self.axis)

    @cached_property
    def counts(self) -> Ints:
        """Rows of each distinct cell."""
        return np.bincount(self.codes, minlength=len(self.texts))

    @cached_property
    def index_of_cell(self) -> dict[Cell, int]:
        """The code of each distinct cell."""
        return {text: code for code, text in enumerate(self.texts)}

    @cached_property
    def numbers(self) -> Floats:
        """Distinct cells as places on the line; NaN for what is none."""
        return np.array([read_position(self.axis, text) for text in self.texts])

    @cached_property
    def cover(self) -> Any:
        """A function: for a label, which of the distinct cells it covers."""
        return lru_cache(maxsize=max(1, MOST_COVERED // len(self.texts)))(self._find_covered)

    @cached_property
    def weight(self) -> Any:
        """A function: for a label, how many rows it covers."""
        return lru_cache(maxsize=None)(lambda label: int(self.counts[self.cover(label)].sum()))

    @cached_property
    def by_cell(self) -> NDArray[np.int32]:
        """The rows, those of the same cell together, and in the order of the table."""
        return np.argsort(self.codes, kind="stable").astype(np.int32)

    @cached_property
    def starts(self) -> Ints:
        """Where the rows of each cell begin among these."""
        return np.cumsum(self.counts) - self.counts

    def rows(self, label: Cell) -> Ints:
        """The rows that a label covers, in the order of the table."""
        return np.sort(self.rows_by_cell(label)).astype(np.int64)

    def rows_by_cell(self, label: Cell) -> NDArray[np.int32]:
        """The rows that a label covers, one distinct cell after another."""
        cells = np.flatnonzero(self.cover(label))
        counts = self.counts[cells]
        before = np.cumsum(counts) - counts
        index_of_cell = np.arange(counts.sum()) + np.repeat(self.starts[cells] - before, counts)
        return np.asarray(self.by_cell[index_of_cell])

    def interval(self, label: str) -> tuple[float, float, bool]:
        """Both ends, and whether the second belongs to it; NaN where the label is none."""
        return read_interval(self.axis, label)

    @cached_property
    def intervals(self) -> list[tuple[float, float, bool]]:
        """The different intervals that are published in this column; none where it is no line."""
        return [self.interval(label) for label in set(self.labels) if label is not None] if self.is_line else []

    def cells_between(self, low: float, high: float, closed: bool) -> Bools:
        """The distinct cells from low to high."""
        return (self.numbers >= low) & ((self.numbers <= high) if closed else (self.numbers < high))

    @cached_property
    def values_in_order(self) -> list[str]:
        """Values in the order a label runs along: the order of the axis, for sets the most frequent first."""
        if self.axis.get("axis") == "ordered":
            return list(self.axis["order"])
        ranked = sorted(range(len(self.texts)), key=lambda code: -int(self.counts[code]))
        return [text for code in ranked if (text := self.texts[code]) is not None]

    def run(self, label: str) -> list[str]:
        """The values of a range or a set, in order."""
        kind = self.axis.get("axis")
        if kind == "set" and label.startswith("{"):
            spelled, counted = read_set(label)
            members = {*spelled, *(self.rare if counted else ())}
            return [value for value in self.values_in_order if value in members]
        if kind != "ordered" or label == EVERYTHING:
            return [label]
        first, last = self.ranks(label)
        return self.values_in_order[first : last + 1]

    @cached_property
    def ranks(self) -> Callable[[str], tuple[int, int]]:
        """A function: for a label such as low..high, the places of its first and its last value in the order."""
        return range_reader(self.values_in_order)

    @cached_property
    def rare(self) -> list[str]:
        """Values that may be among those a set only counts: none that a label spells out.

        In the table that was released they are the least frequent ones, as many as the certificate says.  In a series
        a value that is rare in one version may be spelled out in another.
        """
        if isinstance(self.axis.get("rare"), list):
            return self.values_in_order
        spelled = {text for label in set(self.labels) if label for text in read_set(label)[0]}
        others, rare = [text for text in self.values_in_order if text not in spelled], int(self.axis.get("rare") or 0)
        same = len(self.values_in_order) + bool(self.counts[-1]) == self.axis.get("values")
        return others[-rare:] if same and rare else others

    def cells_among(self, values: Sequence[str]) -> Bools:
        """The distinct cells that are one of these."""
        return self._mark([self.index_of_cell[value] for value in values if value in self.index_of_cell])

    def _find_covered(self, label: Cell) -> Bools:
        if label == EVERYTHING:
            return np.ones(len(self.texts), bool)
        if label is None:  # nothing is written for empty text too, where no label is empty
            return np.array([text is None or (not text and "" not in self.labels) for text in self.texts])
        same = self.cells_among([label])
        if self.is_line:
            return np.asarray(same | self.cells_between(*self.interval(label)))
        if self.axis.get("axis") == "hierarchy":
            return np.asarray(same | self._under(label))
        missing = self.cover(None) if self.axis.get("axis") == "set" and lists_nothing(label) else False
        return np.asarray(same | self.cells_among(self.run(label)) | missing)

    def _under(self, label: str) -> Bools:
        """The leaves below a node: of a hierarchy that is given, of the whole tree, or of a prefix such as 476**."""
        leaves = self.axis["labels"].get(label, 1)
        if leaves == self.axis["leaves"] and leaves > 1:
            return np.ones(len(self.texts), bool)
        if self.paths:
            return self._mark(self.below.get(label, []))
        prefix = read_prefix(label)
        if leaves > 1 and prefix is None and not self.cells_among([label]).any():
            reason = f"column {self.axis['column']!r} was published with a hierarchy: give the plan that names it."
            raise BadOption("--plan", reason)
        return self._mark([] if prefix is None else self._starting(prefix, len(label)))

    @cached_property
    def below(self) -> Mapping[str, list[int]]:
        """Of each label of the hierarchy, the distinct cells below."""
        codes_below = defaultdict(list)
        for code, text in enumerate(self.texts):
            for label in self.paths.get(text or "", ()):
                codes_below[label].append(code)
        return codes_below

    @cached_property
    def sorted_texts(self) -> list[tuple[str, int]]:
        """Distinct cells that are not empty, in the order of their letters, with their codes."""
        return sorted((text, code) for code, text in enumerate(self.texts) if text)

    def _starting(self, prefix: str, longest: int) -> list[int]:
        """The distinct cells with this beginning and no more letters than that."""

        def beginning(pair: tuple[str, int]) -> str:
            return pair[0][: len(prefix)]

        first = bisect_left(self.sorted_texts, prefix, key=beginning)
        last = bisect_right(self.sorted_texts, prefix, key=beginning)
        return [code for text, code in self.sorted_texts[first:last] if len(text) <= longest]

    def _mark(self, codes: Sequence[int]) -> Bools:
        mask = np.zeros(len(self.texts), bool)
        mask[list(codes)] = True
        return mask


def lists_nothing(label: str) -> bool:
    """Whether a set has an empty member, as other tools write a missing cell; kech writes empty text with quotes."""
    return label.startswith("{") and "" in split_set(label)


@dataclass(frozen=True, eq=False, repr=False)
class Linkage:
    """A release and the columns of another table."""

    release: Published
    columns: tuple[LinkedColumn, ...]
    table: Table

    @property
    def rows(self) -> int:
        """Rows of the other table."""
        return len(self.columns[0].codes)

    def candidates(self, group: int) -> Ints:
        """Rows that could be in a class, in the order of the table."""
        labels = self.release.labels[group]
        pairs = sorted(zip(self.columns, labels, strict=True), key=lambda pair: pair[0].weight(pair[1]))
        (first, label), *others = pairs
        rows = first.rows_by_cell(label)
        for column, label in others:
            rows = rows[column.cover(label)[column.codes[rows]]]
        return np.sort(rows).astype(np.int64)

    def classes_of(self, rows: Ints) -> list[Ints]:
        """For each row the classes it could be in."""
        masks = []
        for column in self.columns:
            known = {label: i for i, label in enumerate(dict.fromkeys(column.labels))}
            covers = np.stack([column.cover(label)[column.codes[rows]] for label in known])
            masks.append((covers, np.array([known[label] for label in column.labels])))
        return [
            np.flatnonzero(np.logical_and.reduce([covers[label, i] for covers, label in masks]))
            for i in range(len(rows))
        ]

    def texts(self, column: str) -> list[Cell]:
        """The cell of each row in any column of the table, as text."""
        texts, codes = read_codes(self.table, [column])[column]
        return [texts[code] for code in codes]


def link(release: Published, table: Table) -> Linkage:
    """Link a release with a table: the quasi-identifiers of the table are read, and its order is kept."""
    return link_all([release], table)[0]


def link_all(releases: Sequence[Published], table: Table) -> list[Linkage]:
    """Link several releases with one table, whose quasi-identifiers are read once."""
    names = list(dict.fromkeys(name for release in releases for name in release.quasi_identifiers))
    check_loaded(table, names)
    coded = read_codes(table, names)
    return [
        Linkage(
            release,
            tuple(
                LinkedColumn(
                    release.axes.get(name, {}), *coded[name], find_paths(table, name), release.column_labels(name)
                )
                for name in release.quasi_identifiers
            ),
            table,
        )
        for release in releases
    ]


def read_codes(table: Table, names: Sequence[str]) -> dict[str, tuple[list[Cell], NDArray[np.int32]]]:
    """Distinct cells of each column, NULL last, and the code of every row."""
    mappings = [table.text_codes(name) for name in names]
    codes = table.engine.code_rows(mappings)
    return {name: ([*mappings[j].values, None], codes[:, j]) for j, name in enumerate(names)}


def find_paths(table: Table, column: str) -> dict[str, frozenset[str]]:
    """Of each leaf of the hierarchy given for a column, the labels above it."""
    source = find_hierarchy(table, column)
    if source is None:
        return {}
    return {path[0]: frozenset(path) for path in read_hierarchy(source, column=column).paths}


def check_loaded(table: Table, names: Iterable[str]) -> None:
    """Refuse a table that lacks a column of the release."""
    for name in names:
        if name not in table.columns:
            raise NoSuchColumn(name, table.columns)
        if name not in table.loaded:
            reason = f"the release publishes column {name!r}, which was not read from this table. Give it a role there."
            raise BadOption("--plan", reason)


def count_covered(linkage: Linkage, groups: Ints, option: str) -> Ints:
    """Rows of the table that each of some classes covers, which are at least as many as it holds."""
    covered = np.array([len(linkage.candidates(group)) for group in groups.tolist()])
    check_covers(linkage, groups, covered, option)
    return covered


def check_covers(linkage: Linkage, groups: Ints, covered: Ints, option: str, least_people: Ints | None = None) -> None:
    """Refuse a table in which a class covers fewer rows, or fewer people, than it holds."""
    needed, counted = (linkage.release.sizes, "rows") if least_people is None else (least_people, "people")
    short = int((covered < needed[groups]).sum())
    if short:
        raise BadOption(
            option,
            f"{short:,} of {len(groups):,} classes cover fewer of its {counted} than they hold. Some released people "
            "are not in this table, or its values are read in another way. Name the plan of the release: --plan FILE.",
        )

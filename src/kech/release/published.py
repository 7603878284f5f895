"""Published: a released file as its readers see it: classes of rows with equal labels.

In: a written file, and its certificate or the names of its quasi-identifiers.  Out: a `Published`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.certificate import (
    AnyPath,
    Axis,
    Cell,
    as_brackets,
    check_certificate,
    open_published,
    promised_k,
    read_claims,
)
from kech.errors import BadOption, NoQuasiIdentifier, NoSuchColumn, check_path
from kech.points.people import mix
from kech.request.parts import as_names
from kech.tables.person_names import names_people
from kech.tables.repeats import classify_by_name

Ints = NDArray[np.int64]
NEARLY_ALL = 0.9  # share of rows with a value of their own
OWN_VALUES = 0.75  # distinct values by rows, from which on at least half of the rows have a value of their own
FIRST_BATCHES = 20  # of a file
MOST_PAIRS = 10  # that are looked at


@dataclass(frozen=True, eq=False, repr=False)
class Published:
    """The class of every row, the labels of every class, and the cells that are published as they are.

    Intervals are written `[low, high]` here, in every form of the file.
    """

    path: AnyPath
    quasi_identifiers: tuple[str, ...]
    axes: Mapping[str, Axis]  # of each quasi-identifier; none without a certificate
    sensitive: tuple[str, ...]
    group: Ints  # the class of each row, in the order of the file
    labels: tuple[tuple[Cell, ...], ...]  # of each class, one a quasi-identifier
    cells: Mapping[str, Sequence[Cell]]  # of each sensitive and kept column, one a row
    document: Mapping[str, Any] = field(default_factory=dict)  # its certificate, which holds; none without one
    figures: Mapping[str, Any] = field(default_factory=dict)  # what the check of that certificate found

    @cached_property
    def sizes(self) -> Ints:
        """Rows of each class."""
        return np.bincount(self.group, minlength=len(self.labels))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.group)

    @property
    def promised_k(self) -> int:
        """The k that its maker states in people, otherwise the rows of its smallest class."""
        return promised_k(self.document, int(self.sizes.min()))

    def column_labels(self, column: str) -> list[Cell]:
        """The label of each class in one quasi-identifier."""
        position = self.quasi_identifiers.index(column)
        return [labels[position] for labels in self.labels]


def read_published(
    path: AnyPath,
    *,
    certificate: AnyPath | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    with_cells: bool = False,
    cells_of: Collection[str] | None = None,
) -> Published:
    """Count the classes of a file whose certificate holds, or of any file on the columns that are named.

    With the cells of all columns that are published as they are, or of some.
    """
    check_path(path)
    if quasi_identifiers is not None:
        if certificate is not None:
            raise BadOption("--certificate", "it names the columns itself. Omit --certificate or --qi.")
        return group_rows(path, as_names(quasi_identifiers, "--qi"), {}, (), (), {})
    figures, document = check_certificate(path, certificate), read_claims(path, certificate)
    axes = {axis["column"]: axis for axis in document["quasi_identifiers"]}
    sensitive = tuple(document["sensitive"])
    also = [name for name in (*sensitive, *document["kept"]) if with_cells and (cells_of is None or name in cells_of)]
    published = group_rows(path, tuple(axes), axes, sensitive, also, dialect_of(document))
    return replace(published, document=document, figures=figures)


def dialect_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """How a certificate says its file is read."""
    return {name: document["file"][name] for name in ("format", "delimiter") if name in document["file"]}


def find_identifying(path: AnyPath, document: Mapping[str, Any]) -> list[str]:
    """Columns published as they are, in which most rows that have a value have one of their own."""
    names = [*document["sensitive"], *document["kept"]]
    return [name for (name,) in find_unique(path, dialect_of(document), [(name,) for name in names], OWN_VALUES)]


def find_identifying_together(path: AnyPath, document: Mapping[str, Any], alone: Collection[str]) -> list[list[str]]:
    """Pairs of other columns in which nearly every row has values of its own; where there is none, all of them.

    `alone` are columns in which it has one already; they are left out.
    """
    names = [name for name in (*document["sensitive"], *document["kept"]) if name not in alone]
    looks_at_all = len(names) * (len(names) - 1) // 2 <= MOST_PAIRS  # otherwise at the likeliest pairs
    distinct = dict.fromkeys(names, 0) if looks_at_all else count_values(path, dialect_of(document), names)
    pairs = find_unique(path, dialect_of(document), likeliest_pairs(distinct))
    if pairs or len(names) < 3:
        return list(map(list, pairs))
    return list(map(list, find_unique(path, dialect_of(document), [tuple(names)])))


def likeliest_pairs(distinct: Mapping[str, int]) -> list[tuple[str, str]]:
    """Of columns with so many distinct values, the pairs with the most combinations, in the order of the columns."""
    pairs = list(combinations(distinct, 2))
    likely = sorted(pairs, key=lambda pair: -(distinct[pair[0]] + 1) * (distinct[pair[1]] + 1))[:MOST_PAIRS]
    return sorted(likely, key=pairs.index)


def count_values(path: AnyPath, dialect: Mapping[str, Any], names: Sequence[str]) -> dict[str, int]:
    """Distinct values of each column; empty text is none."""
    hashes = {name: np.empty(0, np.int64) for name in names}
    for batch in open_published(path, **dialect).batches(names):
        for name, cells in zip(names, batch, strict=True):
            hashes[name] = np.union1d(hashes[name], np.unique(hash_present(list(set(cells)))))
    return {name: int(np.count_nonzero(values)) for name, values in hashes.items()}


def find_repeats(path: AnyPath, document: Mapping[str, Any]) -> dict[str, tuple[int, int, int]]:
    """Columns published as they are whose names say that they name people: values, rows that have one, rows of one."""
    names = [name for name in (*document["sensitive"], *document["kept"]) if names_people(name)]
    hashes: dict[str, list[Ints]] = {name: [np.empty(0, np.int64)] for name in names}
    for batch in open_published(path, **dialect_of(document)).batches(names) if names else ():
        for name, cells in zip(names, batch, strict=True):
            cell_hashes = hash_present(cells)
            hashes[name].append(cell_hashes[cell_hashes != 0])
    counts = {name: np.unique(np.concatenate(cells), return_counts=True)[1] for name, cells in hashes.items()}
    repeats = {name: (len(rows), int(rows.sum()), int(rows.max(initial=0))) for name, rows in counts.items()}
    return {
        name: counts_of
        for name, counts_of in repeats.items()
        if counts_of[2] > 1 and classify_by_name(name, *counts_of[:2])
    }


def find_unique(
    path: AnyPath, dialect: Mapping[str, Any], sets: Sequence[tuple[str, ...]], share: float = NEARLY_ALL
) -> list[tuple[str, ...]]:
    """Sets of columns on which this share of the rows that have a value, or more, have one of their own.

    The rows are in no order, so the first ones tell which columns are worth a look at all of them.
    """
    for most in (FIRST_BATCHES, None):
        names = list(dict.fromkeys(name for columns in sets for name in columns))
        batches = open_published(path, **dialect).batches(names) if names else iter(())
        hashes: list[list[Ints]] = [[np.empty(0, np.int64)] for _ in sets]
        for batch in islice(batches, most):
            cells = dict(zip(names, map(hash_present, batch), strict=True))
            for row_hashes, columns in zip(hashes, sets, strict=True):
                row_hashes.append(mix([cells[name] for name in columns]))
        sets = [
            columns
            for columns, row_hashes in zip(sets, hashes, strict=True)
            if _is_unique(np.concatenate(row_hashes), share)
        ]
    return list(sets)


def hash_cells(cells: Sequence[Cell]) -> Ints:
    """A number for each cell."""
    return np.fromiter(map(hash, cells), np.int64, len(cells))


def hash_present(cells: Sequence[Cell]) -> Ints:
    """A number for each cell, 0 where it is missing or empty."""
    hashes = hash_cells(cells)
    hashes[hashes == hash(None)] = hash("")  # which is 0
    return hashes


def _is_unique(cells: Ints, share: float) -> bool:
    present = np.sort(cells[cells != 0])
    distinct = min(len(present), 1) + int(np.count_nonzero(np.diff(present)))
    return distinct > share * len(present)


def normalize_cell(cell: Cell) -> Cell:
    """Text to compare: 1.0 is 1, and empty text is NULL."""
    try:
        return repr(float(cell or ""))
    except ValueError:
        return (cell or "").strip() or None


def group_rows(
    path: AnyPath,
    columns: tuple[str, ...],
    axes: Mapping[str, Axis],
    sensitive: tuple[str, ...],
    also: Sequence[str],
    dialect: Mapping[str, Any],
) -> Published:
    """Count the classes of a file on these columns; with the cells of others."""
    table = as_brackets(open_published(path, **dialect), list(axes.values()))
    if not columns:
        raise NoQuasiIdentifier
    if missing := [name for name in columns if name not in table.columns]:
        raise NoSuchColumn(missing[0], table.columns, released=True)
    known: dict[tuple[Cell, ...], int] = {}
    group = [np.empty(0, np.int64)]
    cells: dict[str, list[Cell]] = {name: [] for name in also}
    shared: dict[Cell, Cell] = {}  # equal cells are one text in memory
    for batch in table.batches([*columns, *also]):
        keys = zip(*batch[: len(columns)], strict=True)
        group.append(np.fromiter((known.setdefault(key, len(known)) for key in keys), np.int64))
        for column_cells, values in zip(cells.values(), batch[len(columns) :], strict=True):
            texts = (table.label(cell) or None for cell in values)
            column_cells += [shared.setdefault(text, text) for text in texts]
    labels = tuple(tuple(table.label(cell) for cell in key) for key in known)
    return Published(path, columns, axes, sensitive, np.concatenate(group), labels, cells)

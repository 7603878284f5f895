"""Exposure: what a released file gives away beside its classes, counted in rows, from the file alone.

In: a released file and the roles of its columns.  Out: rows that are unique on all published columns together; rows
whose whole class shares one sensitive value.  PRIVATE with the values, public without them and without small counts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.certificate import AnyPath, Cell, open_published
from kech.certificate.cells import TextTable
from kech.certificate.check import few_rows
from kech.certificate.models import guess_kind, value_reader
from kech.points.people import mix
from kech.release.published import Ints, hash_cells

MOST_VALUES = 10  # that are listed of a column


class HashedRows:
    """What is kept of each row while a file is read: numbers for its class, its sensitive values, and all its cells."""

    def __init__(self, labels: int, sensitive: Sequence[Any]) -> None:
        self.labels, self.readers = labels, sensitive
        self.whole: list[Ints] = [np.empty(0, np.int64)]
        self.group: list[Ints] = [np.empty(0, np.int64)]
        self.values: list[list[Ints]] = [[np.empty(0, np.int64)] for _ in sensitive]
        self.known: list[dict[Cell, int]] = [{} for _ in sensitive]  # the number of the value of each cell
        self.numbers: list[dict[Any, int]] = [{} for _ in sensitive]  # the number of each value
        self.texts: list[list[Cell]] = [[] for _ in sensitive]  # a cell that says it

    def add(self, batch: Sequence[Sequence[Cell]]) -> None:
        """Some rows: labels, sensitive columns, then all others."""
        cells = list(map(hash_cells, batch))
        self.whole.append(mix(cells))
        self.group.append(mix(cells[: self.labels]))
        for column, numbers in enumerate(self.values):
            numbers.append(self._number(column, batch[self.labels + column]))

    def _number(self, column: int, cells: Sequence[Cell]) -> Ints:
        known, numbers = self.known[column], self.numbers[column]
        for cell in set(cells).difference(known):
            value = self.readers[column](cell)
            if value not in numbers:
                numbers[value] = len(numbers)
                self.texts[column].append(cell)
            known[cell] = numbers[value]
        return np.fromiter(map(known.__getitem__, cells), np.int64, len(cells))


def measure_exposure(
    path: AnyPath,
    labels: Sequence[str],
    sensitive: Sequence[str],
    kept: Sequence[str],
    *,
    values: Mapping[str, Mapping[str, Any]] | None = None,
    **dialect: Any,
) -> dict[str, Any]:
    """Unique rows, and rows that share one sensitive value with their whole class; PRIVATE: values are listed.

    A sensitive column that is not in `values` is read as its cells look, as it is for l, t and alpha.
    """
    table = open_published(path, **dialect)
    read_as = {name: (values or {}).get(name) or guess_kind(table, held_cells(table, name)) for name in sensitive}
    readers = [value_reader(table, read_as[name]) for name in sensitive]
    rows = HashedRows(len(labels), readers)
    for batch in table.batches([*labels, *sensitive, *kept]):
        rows.add(batch)
    _, counts = np.unique(np.concatenate(rows.whole), return_counts=True)
    _, group = np.unique(np.concatenate(rows.group), return_inverse=True)
    columns = zip(sensitive, rows.values, rows.texts, strict=True)
    alone, total = int((counts == 1).sum()), len(group)
    return {
        "unique_rows": alone,
        "unique_share": alone / total if total else 0.0,
        "one_value": {name: describe_shared(group.ravel(), np.concatenate(v), texts) for name, v, texts in columns},
    }


def held_cells(table: TextTable, column: str) -> list[Cell]:
    """The distinct cells of a column that rows hold."""
    counts = table.count([column])
    return [counts.texts[0][i] for i in np.unique(counts.indices[0]).tolist()]


def describe_shared(group: NDArray[Any], values: Ints, texts: Sequence[Cell]) -> dict[str, Any]:
    """Classes whose rows all have one value, their rows, and the values with most of these rows."""
    classes = int(group.max(initial=-1)) + 1
    least, most = np.full(classes, len(texts)), np.full(classes, -1)
    np.minimum.at(least, group, values)
    np.maximum.at(most, group, values)
    shared = least == most
    rows: Counter[int] = Counter()
    for value, size in zip(least[shared].tolist(), np.bincount(group, minlength=classes)[shared].tolist(), strict=True):
        rows[value] += size
    listed = [{"value": texts[value] or None, "rows": count} for value, count in rows.most_common(MOST_VALUES)]
    return {"rows": rows.total(), "classes": int(shared.sum()), "values": listed}


def hide_few(exposure: Mapping[str, Any], k: int) -> dict[str, Any]:
    """The exposure without values, and with "<k" for fewer than k rows, as few rows point at people."""
    alone = hide(exposure["unique_rows"], k)
    columns = exposure["one_value"].items()
    return {
        **exposure,
        "unique_rows": alone,
        "unique_share": None if isinstance(alone, str) else exposure["unique_share"],
        "one_value": {
            name: {"rows": hide(column["rows"], k), "classes": column["classes"]} for name, column in columns
        },
    }


def hide(rows: int, k: int) -> int | str:
    """A number of rows, or "<k" where they are few."""
    return f"<{few_rows(k)}" if 0 < rows < few_rows(k) else rows

"""Rows: every row of a table, in what crowd it stands and into which class a release puts it; PRIVATE.

In: a table, or a release of it.  Out: numbers for each row and each class, for the owner to look at.
"""

from typing import Any

import numpy as np

from kech._kernels import distinct_rows
from kech.axes.grid import Ints
from kech.points.models import distinct_values
from kech.points.partition import Partition, class_widths, tally_sensitive
from kech.points.people import encode_person, number_tuples
from kech.release.release import Release
from kech.tables.table import Table

DIGITS = 4  # of a width


def count_crowds(table: Table) -> dict[str, Any]:
    """For each row how many rows, or people where they are named, share all its quasi-identifiers as they are."""
    columns = [table.text_codes(name) for name in table.quasi_identifiers]
    people = [encode_person(table, name) for name in table.person]
    codes = table.engine.code_rows([*columns, *people])
    group = number_tuples(codes[:, : len(columns)])
    holders = group
    if people:
        first, _ = distinct_rows(np.ascontiguousarray(codes.astype(np.int64)))
        holders = group[first]
    crowd = np.bincount(holders)[group]
    return {
        "k": int(crowd.min()),
        "counted": "people" if people else "rows",
        "people": int(number_tuples(codes[:, len(columns) :]).max()) + 1 if people else None,
        "rows": len(group),
        "alone": float((crowd == 1).mean()),
        "crowd": crowd.tolist(),
    }


def find_class_of_rows(release: Release, rows: int) -> Ints:
    """The class of each row of the whole table, -1 where it is left out."""
    classes = np.full(rows, -1, np.int64)
    numbers = np.asarray(release.table.engine.read_texts([]).column(0).to_numpy(), np.int64)
    classes[numbers] = find_class_of_loaded_rows(release)
    return classes


def find_class_of_loaded_rows(release: Release) -> Ints:
    """The class of each row that the release was made of, -1 where it is left out; equal rows may be divided."""
    partition, engine = release.partition, release.table.engine
    codes = engine.code_rows(partition.points.mappings)
    shares, point = partition.shares(), number_tuples(codes[:, ::-1])  # points ascend by their first code
    order = np.argsort(point, kind="stable")
    rank = np.empty(len(point), np.int64)
    rank[order] = np.arange(len(point)) - np.searchsorted(point[order], point[order]) + 1
    factor = len(point) + 1
    at = np.searchsorted(shares["point"] * factor + shares["last"], point * factor + rank)
    share = np.minimum(at, len(shares["point"]) - 1)
    is_published = (at < len(shares["point"])) & (shares["point"][share] == point)
    return np.where(is_published, shares["class"][share], -1)


def describe_classes(release: Release) -> dict[str, Any]:
    """Rows and people of each class, its labels and their widths, and the classes that give a value away."""
    partition, names = release.partition, release.table.quasi_identifiers
    widths = class_widths(partition).round(DIGITS)
    return {
        "rows": partition.sizes.tolist(),
        "people": partition.people.tolist() if partition.points.person is not None else None,
        "labels": {name: list_texts(release.labels[name]) for name in names},
        "widths": {name: widths[:, j].tolist() for j, name in enumerate(names)},
        "given_away": find_given_away(partition),
    }


def list_texts(labels: list[str | None]) -> dict[str, Any]:
    """Each text once, and its index for each class."""
    index_of_text: dict[str | None, int] = {}
    return {
        "at": [index_of_text.setdefault(label, len(index_of_text)) for label in labels],
        "texts": list(index_of_text),
    }


def find_given_away(partition: Partition) -> dict[str, list[int]]:
    """For each sensitive column the classes whose rows all share one value."""
    sensitive = partition.points.sensitive
    tallies = zip(sensitive.columns if sensitive else (), tally_sensitive(partition), strict=True)
    return {column.column: np.flatnonzero(distinct_values(tally) == 1).tolist() for column, tally in tallies}

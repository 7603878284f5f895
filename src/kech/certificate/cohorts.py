"""Cohorts: the claims of a release in a series, and the allowed differences between two of its files.

In: the section `series` of a certificate; two files of a series.  Out: complaints; rows that entered and left by label.
A release of a series is a union of cohorts: rows with one label that enter and leave together.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from kech.certificate.cells import AnyPath, open_published
from kech.certificate.labels import published_columns
from kech.certificate.tally import Cell

PROMISE = (
    "Every release of this series is a union of cohorts of k or more that come and go as a whole under one label, and "
    "every row key belongs to one cohort for ever."
)
COUNTS = ("version", "cohorts", "new_cohorts", "arrivals", "withdrawn", "withdrawn_before", "returned")
AT_CUT = ("t", "t_kind")  # goals that hold against the rows of the version before and the new ones, not of one file

SERIES_ID = re.compile("[0-9a-f]{16}")  # by which releases of two series are told apart; earlier ones have none
WHOLE_FLOAT = re.compile(r"([+-]?[0-9]+)[.]0+")

Label = tuple[Cell, ...]
Rows = Counter[tuple[Cell, ...]]  # cells of the other columns


class RowChange(NamedTuple):
    """By how many rows the class of a label differs between two files."""

    removed: int
    added: int


def is_series(section: Any) -> bool:
    """Whether a section of a certificate has the fields and types of the section `series`."""
    if not isinstance(section, dict) or section.keys() - {"id"} != {*COUNTS, "waiting", "at_cut", "promise"}:
        return False
    id = section.get("id", "0" * 16)
    counts = all(type(section[name]) is int and section[name] >= 0 for name in COUNTS)
    goals = isinstance(section["at_cut"], dict) and set(section["at_cut"]) <= set(AT_CUT)
    is_id = isinstance(id, str) and SERIES_ID.fullmatch(id) is not None
    return counts and goals and is_id and type(section["waiting"]) in (int, str)


def rows_behind_listed_values(section: Mapping[str, Any], k: int) -> int:
    """How many rows each value that a set lists must have: k; 0 in a series from which rows were withdrawn."""
    return 0 if section["withdrawn"] + section["withdrawn_before"] - section["returned"] else k


def broken_series(section: Mapping[str, Any], rows: int, classes: int, k: int) -> list[str]:
    """A complaint for each figure of the section that contradicts the file or another figure."""
    version, cohorts, arrivals = section["version"], section["cohorts"], section["arrivals"]
    wrong = {
        "promise": section["promise"] != PROMISE,
        "version": version < 1,
        "cohorts": not classes <= cohorts <= rows // max(k, 1),
        "new_cohorts": section["new_cohorts"] > min(cohorts, arrivals // max(k, 1)),
        "arrivals": arrivals + section["returned"] > rows or (arrivals > 0) != (section["new_cohorts"] > 0),
        "withdrawn": 0 < section["withdrawn"] < k or 0 < section["withdrawn_before"] < k,
        "returned": 0 < section["returned"] < k or section["returned"] > section["withdrawn_before"],
        "first version": version == 1 and (arrivals, section["new_cohorts"]) != (rows, cohorts),
    }
    return [f"series, {name}: it contradicts the file" for name, is_wrong in wrong.items() if is_wrong]


def count_rows(path: AnyPath, document: Mapping[str, Any]) -> dict[Label, Rows]:
    """For each label how many rows have each combination of sensitive and kept cells."""
    file = document["file"]
    table = open_published(path, file["format"], file.get("delimiter", ","))
    labels = [name for axis in document["quasi_identifiers"] for name in published_columns(axis)]
    rows_of_label: dict[Label, Rows] = {}
    for cells, rows in table.count([*labels, *document["sensitive"], *document["kept"]]).items():
        comparable = tuple(map(as_comparable, cells))
        rows_of_label.setdefault(comparable[: len(labels)], Counter())[comparable[len(labels) :]] += rows
    return rows_of_label


def as_comparable(cell: Cell) -> Cell:
    """A cell in the form in which versions are compared: 22.0 is 22, and an empty text is missing."""
    match = WHOLE_FLOAT.fullmatch(cell or "")
    return match[1] if match else cell or None


def compare_rows(before: Mapping[Label, Rows], after: Mapping[Label, Rows]) -> dict[Label, RowChange]:
    """For each label whose rows differ how many rows were removed and added."""
    none: Rows = Counter()
    changes = {}
    for label in before.keys() | after.keys():
        old, new = before.get(label, none), after.get(label, none)
        if old != new:
            changes[label] = RowChange((old - new).total(), (new - old).total())
    return changes


def broken_changes(
    changes: Mapping[Label, RowChange], entered: Mapping[Label, int], left: Mapping[Label, int]
) -> list[str]:
    """A complaint where classes changed by more than the cohorts that entered and left with their labels.

    Rows that enter and equal rows that leave with one label cancel out, so only the differences are exact.
    """
    wrong = 0
    for label in {*changes, *entered, *left}:
        removed, added = changes.get(label, RowChange(0, 0))
        most_added, most_removed = entered.get(label, 0), left.get(label, 0)
        wrong += added - removed != most_added - most_removed or added > most_added or removed > most_removed
    return [f"cohorts: {wrong:,} classes changed by other rows than whole cohorts"] if wrong else []

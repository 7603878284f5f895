"""Cohorts: what the certificate of a release in a series says, and how its file may differ from the one before.

In: the section `series` of a certificate; two files of a series.  Out: complaints; rows that entered and left by label.
A release of a series is a union of cohorts: rows that come and go together, under one label.
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
AT_CUT = ("t", "t_kind")  # goals that hold against the rows a cohort was cut with, and not against a later file

WHOLE = re.compile(r"([+-]?[0-9]+)[.]0+")

Label = tuple[Cell, ...]
Rows = Counter[tuple[Cell, ...]]  # cells of the other columns


class Change(NamedTuple):
    """By how many rows the class of a label differs between two files."""

    removed: int
    added: int


def is_series(section: Any) -> bool:
    """Whether a section has the shape that one of a series has."""
    if not isinstance(section, dict) or section.keys() != {*COUNTS, "waiting", "at_cut", "promise"}:
        return False
    counts = all(type(section[name]) is int and section[name] >= 0 for name in COUNTS)
    goals = isinstance(section["at_cut"], dict) and set(section["at_cut"]) <= set(AT_CUT)
    return counts and goals and type(section["waiting"]) in (int, str)


def spelling_k(section: Mapping[str, Any] | None, k: int) -> int:
    """The k that values of a set are weighed by; 0 where rows that held them are withdrawn, so that nobody can tell."""
    if section is None:
        return k
    return 0 if section["withdrawn"] + section["withdrawn_before"] - section["returned"] else k


def broken_series(section: Mapping[str, Any], rows: int, classes: int, k: int) -> list[str]:
    """Everything in the section that contradicts the rows and classes of the file, or itself."""
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
    return [f"series, {name}: it does not fit the file" for name, is_wrong in wrong.items() if is_wrong]


def count_rows(path: AnyPath, document: Mapping[str, Any]) -> dict[Label, Rows]:
    """For each label the other cells of its rows, and how many rows have them."""
    file = document["file"]
    table = open_published(path, file["format"], file.get("delimiter", ","))
    labels = [name for axis in document["quasi_identifiers"] for name in published_columns(axis)]
    rows_of_label: dict[Label, Rows] = {}
    for cells, rows in table.count([*labels, *document["sensitive"], *document["kept"]]).items():
        comparable = tuple(map(as_comparable, cells))
        rows_of_label.setdefault(comparable[: len(labels)], Counter())[comparable[len(labels) :]] += rows
    return rows_of_label


def as_comparable(cell: Cell) -> Cell:
    """A cell as it is compared: 22.0 is 22, since a number may become text in a later version; empty is missing."""
    match = WHOLE.fullmatch(cell or "")
    return match[1] if match else cell or None


def compare_rows(before: Mapping[Label, Rows], after: Mapping[Label, Rows]) -> dict[Label, Change]:
    """The labels whose rows differ, and by how many."""
    none: Rows = Counter()
    changes = {}
    for label in before.keys() | after.keys():
        old, new = before.get(label, none), after.get(label, none)
        if old != new:
            changes[label] = Change((old - new).total(), (new - old).total())
    return changes


def broken_changes(
    changes: Mapping[Label, Change], entered: Mapping[Label, int], left: Mapping[Label, int]
) -> list[str]:
    """Complaints where a class changed by other rows than the cohorts that entered and left under its label.

    Where cohorts came and went under one label, what they share does not show, but the sum does.
    """
    wrong = 0
    for label in {*changes, *entered, *left}:
        removed, added = changes.get(label, Change(0, 0))
        came, went = entered.get(label, 0), left.get(label, 0)
        wrong += added - removed != came - went or added > came or removed > went
    return [f"cohorts: {wrong:,} classes changed by other rows than whole cohorts"] if wrong else []

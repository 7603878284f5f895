"""Rare members: whether k rows could hold each value that the sets of a column spell out.

In: the labels of a column, and the rows of each.  Out: complaints.  A release says that k rows hold each such value.
Who holds which value is not in the file.  What can be found out is whether rows can be dealt to values at all:

    a row may hold the values that its label lists, or any if it is `*`;  labels that share no value are counted apart
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from kech.certificate.labels import read_set
from kech.certificate.tally import Cell


def broken_spelling(axis: Mapping[str, Any], rows: Mapping[Cell, int], k: int) -> list[str]:
    """Complaints where more values are spelled out, or counted as rare, than rows can hold."""
    if axis["axis"] != "set" or axis.get("rare") is None:
        return []
    listed = {label: _read_members(label) for label in rows if label and label != "*"}
    spelled = {label: values for label, (values, _) in listed.items()}
    rare = sum(rows[label] for label, (_, counted) in listed.items() if counted)
    column, anything = axis["column"], rows.get("*", 0)
    broken = []
    if _lacking_rows(spelled, rows, k) > anything:
        broken.append(f"{column!r}: its sets spell out more values than {k} rows each could hold")
    if axis["rare"] > rare + anything:
        broken.append(f"{column!r}: more rare values are counted than there are rows to hold them")
    return broken


def _lacking_rows(spelled: Mapping[str, list[str]], rows: Mapping[Cell, int], k: int) -> int:
    """Rows that are missing for k of each value, over all groups of labels that share values."""
    groups = _Groups(spelled.values())
    values, held = Counter(map(groups.find, groups.above)), Counter[str]()
    for label, texts in spelled.items():
        if texts:
            held[groups.find(texts[0])] += rows[label]
    return sum(max(0, k * count - held[first]) for first, count in values.items())


def _read_members(label: str) -> tuple[list[str], int]:
    """The values that a label lists, and how many rare ones it counts; none where it cannot be read."""
    try:
        return read_set(label)
    except ValueError:
        return [], 0


class _Groups:
    """Values, joined where they are listed together."""

    def __init__(self, lists: Iterable[list[str]]) -> None:
        self.above: dict[str, str] = {}
        for texts in lists:
            for text in texts:
                self.above[self.find(text)] = self.find(texts[0])

    def find(self, text: str) -> str:
        """The value that stands for all of its group."""
        while (above := self.above.setdefault(text, text)) != text:
            self.above[text] = above = self.above[above]
            text = above
        return text

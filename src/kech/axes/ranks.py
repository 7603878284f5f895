"""Ranks: axes of ordered texts and of sets; a label is a range `low..high`, or a set `{a, b}`."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths
from kech.axes.axis import EVERYTHING, Axis, TextAxis
from kech.axes.grid import Floats, Ints
from kech.errors import BadHierarchy

Members = NDArray[np.int64]

DOTS = ".."
NOTHING = -1
LONGEST_SET = 50  # members; longer sets are printed as `*`
RARE = re.compile("[0-9]+ rare values?")  # the label of values that fewer than k rows have
NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")
MISREAD = re.compile(rf"{{|\*$|{RARE.pattern}$")  # a value alone that looks like another label


@dataclass(frozen=True, eq=False, repr=False)
class RankAxis(TextAxis):
    """Values in an order; the label of a range is its two ends (ordered), or the set of its values.

    No label lists a value that fewer than k rows have.  In a set all such values, the last of the order, are printed
    as one count.  A range ends at the next value that k rows have, or is open.
    """

    order: tuple[str, ...]
    is_ordered: bool
    is_padded: bool = False
    counted: int | None = None  # values by which widths of a set are measured, where not all are published
    starts: Ints | None = None
    rows: Ints | None = None  # of each value, where they are known; of a set descending
    k: int = 1

    @property
    def kind(self) -> str:
        """Ordered or set."""
        return "ordered" if self.is_ordered else "set"

    @property
    def texts(self) -> tuple[str, ...]:
        """The values in their order."""
        return self.order

    @property
    def members(self) -> int:
        """Number of values of a set, with NULL."""
        return self.size if self.counted is None else self.counted

    @property
    def steps(self) -> int:
        """Number of steps from the first value to the last; at least 1."""
        return max((self.values if self.is_ordered else self.members) - 1, 1)

    def at(self, k: int) -> Self:
        """The axis whose labels list only values of k rows or more."""
        return replace(self, k=k)

    @property
    def state(self) -> bytes:
        """The rare values, as bytes that are equal exactly for equal values."""
        return self.rare.tobytes()

    @cached_property
    def rare(self) -> NDArray[np.bool_]:
        """Whether each value has fewer than k rows."""
        return np.zeros(self.values, bool) if self.rows is None or self.k < 2 else self.rows < self.k

    @property
    def common(self) -> int:
        """Number of values that are not rare; in a set they come first."""
        return self.values - int(self.rare.sum())

    @cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """For each code the first and last code of the narrowest label that contains it."""
        if not self.rare.any():
            return self.runs
        (first, last), inner = (end.copy() for end in self.runs), slice(self.values)
        find = self._extend_to_common if self.is_ordered else self._extend_to_rare
        first[inner], last[inner] = find(first[inner], last[inner])
        return first, last

    def _extend_to_common(self, first: Ints, last: Ints) -> tuple[Ints, Ints]:
        """Ranges of an order, extended to the next values that are not rare, or to the end of the order."""
        codes = np.arange(self.values)
        low, high = (np.flatnonzero(~self.rare & (end == codes)) for end in (first, last))
        low, high = np.insert(low, 0, 0), np.append(high, self.values - 1)
        return low[np.searchsorted(low[1:], first, side="right")], high[np.searchsorted(high[:-1], last)]

    def _extend_to_rare(self, first: Ints, last: Ints) -> tuple[Ints, Ints]:
        """Ranges of a set; one with a rare value is extended to all rare values."""
        rare = last >= self.common
        return np.where(rare, first[rare].min(), first), np.where(rare, self.values - 1, last)

    def is_everything(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Whether each range is printed as `*`."""
        whole = (lo == 0) & (hi == self.values - 1)
        if self.is_ordered:
            return np.asarray(self.mixes_null(lo, hi) | (whole & bool(self.rare[:1].any() and self.rare[-1:].any())))
        long = np.minimum(hi, self.common) - np.minimum(lo, self.common) >= LONGEST_SET
        return np.asarray(self.mixes_null(lo, hi) | long | (whole & (self.values > 1)))

    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """(rank max - rank min) / (values - 1); every rare value counts."""
        lo, hi = self.expand_to_cells(lo, hi)
        return np.where(self.is_everything(lo, hi), 1.0, (hi - lo) / self.steps)

    def metric(self, lo: Ints, hi: Ints) -> Floats:
        """The widths at k = 1 of an order.  In a set, whose order means nothing, 0 for one value and 1 for several."""
        if self.is_ordered:
            return self.at(1).widths(lo, hi)
        first, last = self.runs
        return np.asarray(first[lo] < last[hi], np.float64)

    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """The range, extended to whole cells; everything for `*`."""
        lo, hi = self.expand_to_cells(lo, hi)
        lost = self.is_everything(lo, hi)
        return np.where(lost, 0, lo), np.where(lost, self.size - 1, hi)

    def label(self, lo: int, hi: int) -> str:
        """`a`, `{a, b}`, `{a, 3 rare values}`, `low..high`, `low..`, `..high` or `*`."""
        if bool(self.is_everything(np.int64(lo), np.int64(hi))):  # type: ignore[arg-type]
            return EVERYTHING
        if self.is_ordered:
            low, high = ("" if self.rare[end] else self.texts[end] for end in (lo, hi))
            return low if low == high else f"{low}{DOTS}{high}"
        return set_label(self.texts[lo : min(hi + 1, self.common)], max(hi + 1 - max(lo, self.common), 0))

    def add_to(self, widths: Widths) -> None:
        """Add a line of equal steps; a range longer than the longest set has width 1."""
        left, right = (np.where(np.arange(self.size) < self.values, end, 0).astype(np.float64) for end in self.cells)
        if self.is_ordered and self.values == 1 and self.rare[0]:
            right[0] = self.steps  # printed as `*`
        printed = self.common + 1 if 0 < self.common < self.values else self.values
        longest = np.inf if self.is_ordered else max(min(LONGEST_SET, printed - 1), 1) - 0.5
        widths.add_line(left, right, float(self.steps), longest, self.null)
        if not self.is_ordered and 0 < self.common < self.values - 1:
            widths.abridge(np.minimum(np.arange(self.size), self.common).astype(np.float64))

    def add_metric_to(self, widths: Widths) -> None:
        """The star is a tree of two levels."""
        if self.is_ordered:
            self.at(1).add_to(widths)
        else:
            codes = np.arange(self.size)
            widths.add_tree(self.metric(codes, codes), self.metric(codes[:-1], codes[1:]))

    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """The order, or the numbers of values and of rare values; and the protection full where labels are padded."""
        del labels
        sizes = {"values": self.members, "rare": self.values - self.common}
        figures = {"order": list(self.texts)} if self.is_ordered else sizes
        return {"column": self.column, "axis": self.kind, **figures, **({"protect": "full"} if self.is_padded else {})}


def set_label(texts: Sequence[str], rare: int) -> str:
    """The label of a set: its values sorted, then the number of rare ones; one value alone without braces, if clear."""
    if len(texts) == 1 and not rare and not MISREAD.match(texts[0]):
        return texts[0]
    rare_member = [f"{rare} rare value{'s' * (rare > 1)}"] if rare else []
    return "{" + ", ".join([*map(member, sort_members(texts)), *rare_member]) + "}"


def sort_members(texts: Sequence[str]) -> list[str]:
    """The values of a set in the order in which people read them: numbers by their size, then texts.

    >>> sort_members(["10", "2", "-1"]), sort_members(["N", "10", "2"])
    (['-1', '2', '10'], ['2', '10', 'N'])
    """
    return sorted(texts, key=lambda text: (float(text) if NUMBER.fullmatch(text) else inf, text))


def member(text: str) -> str:
    """A value inside `{...}`, as a JSON string where it could be misread."""
    plain = text and text == text.strip() and not set(text) & set(',{}"\\') and not RARE.fullmatch(text)
    return text if plain else json.dumps(text, ensure_ascii=False)


def build_rank_axis(
    column: str,
    values: Sequence[str],
    order: Sequence[str],
    has_null: bool,
    *,
    is_ordered: bool,
    is_padded: bool = False,
    rows: Ints | None = None,
) -> RankAxis:
    """The axis of values in this order, with the rows of each; the rows of a set descend."""
    if is_ordered:
        check_order(column, order)
    rank = {text: i for i, text in enumerate(order)}
    codes = np.array([rank[value] for value in values], dtype=np.int32)
    return RankAxis(column, codes, has_null, tuple(order), is_ordered, is_padded, rows=rows)


def check_order(column: str, order: Sequence[str]) -> None:
    """Refuse an order that repeats a value, or that has a value which looks like a range."""
    if len(set(order)) < len(order):
        raise BadHierarchy(f"order of {column}", None, "a value is listed twice. Remove one of the two.")
    if any(DOTS in text or text in (EVERYTHING, ".", "") for text in order):
        reason = f"a value is empty, '.' or {EVERYTHING!r}, or contains {DOTS!r} as ranges do. Rename it."
        raise BadHierarchy(f"order of {column}", None, reason)


# -- members of sets: a table, labels x members, has the codes that each label lists, ascending, then NOTHING.  All rare
# values are one member, the code of the first of them.  NULL goes with no other.  A label that lists nothing is `*`.


def is_set(axis: Axis) -> TypeGuard[RankAxis]:
    """Whether labels of an axis list values."""
    return isinstance(axis, RankAxis) and not axis.is_ordered


def list_members(axis: RankAxis, group: Ints, codes: Ints, groups: int) -> Members:
    """The members of each group: its values as they occur."""
    member, factor = name_members(axis, codes), axis.size + 1
    pairs = np.unique(group * factor + member)
    return close_members(axis, *fill_table(pairs // factor, pairs % factor, groups))


def name_members(axis: RankAxis, codes: Ints) -> Ints:
    """The member of each code: rare values are one."""
    return np.where((codes >= axis.common) & (codes < axis.values), axis.common, codes)


def fill_table(group: Ints, member: Ints, groups: int) -> tuple[Members, Ints]:
    """The members of each group in a row, as many as a label can list; and how many there are."""
    lengths = np.bincount(group, minlength=groups)
    at = np.arange(len(group)) - (np.cumsum(lengths) - lengths)[group]
    table = np.full((groups, min(int(lengths.max(initial=1)), LONGEST_SET)), NOTHING)
    fits = at < LONGEST_SET
    table[group[fits], at[fits]] = member[fits]
    return table, lengths


def close_members(axis: RankAxis, table: Members, lengths: Ints) -> Members:
    """The same lists; nothing where one is too long, has NULL and a value, or has all values of several."""
    last, every = table.max(axis=1), axis.common + (axis.common < axis.values)
    mixed = (lengths > 1) & (last == axis.null)
    lost = mixed | (lengths > LONGEST_SET) | ((lengths == every) & (last < axis.values) & (axis.values > 1))
    table[lost] = NOTHING
    return table[:, : max(int((table != NOTHING).sum(axis=1).max(initial=1)), 1)]


def measure_members(axis: RankAxis, table: Members) -> Floats:
    """(members - 1) / (values - 1), where each rare value counts; 1 for `*`."""
    return np.where(table[:, 0] == NOTHING, 1.0, (count_members(axis, table) - 1) / axis.steps)


def count_members(axis: RankAxis, table: Members) -> Ints:
    """How many values each label may stand for."""
    listed = (table != NOTHING).sum(axis=1)
    has_rare = (table == axis.common).any(axis=1) & (axis.common < axis.values)
    return np.where(table[:, 0] == NOTHING, axis.size, listed + has_rare * (axis.values - axis.common - 1))


def add_pairs(axis: RankAxis, widths: Widths) -> None:
    """Add the widths of labels that list one value or two, whichever they are; of more values labels are no narrower.

    They are those of a tree: two values are as far apart as any two neighbours between them at most.
    """
    codes, first = np.arange(axis.size), np.arange(axis.size - 1)
    single = list_members(axis, codes, codes, axis.size)
    both = list_members(axis, np.r_[first, first], np.r_[first, first + 1], axis.size - 1)
    widths.add_tree(measure_members(axis, single), measure_members(axis, both))


def bound_members(axis: RankAxis, table: Members) -> tuple[Ints, Ints]:
    """The first and the last code of each label; of all codes for `*`."""
    last, lost = table.max(axis=1), table[:, 0] == NOTHING
    last = np.where((last == axis.common) & (axis.common < axis.values), axis.values - 1, last)
    return np.where(lost, 0, table[:, 0]), np.where(lost, axis.size - 1, last)


def list_runs(axis: RankAxis, table: Members) -> tuple[Ints, Ints, Ints]:
    """The stretches of neighbouring codes that labels cover: the label of each, its first and its last code."""
    label, at = np.nonzero(table != NOTHING)
    first = table[label, at]
    last = np.where((first == axis.common) & (axis.common < axis.values), axis.values - 1, first)
    lost = np.flatnonzero(table[:, 0] == NOTHING)
    label, first = np.r_[label, lost], np.r_[first, np.zeros_like(lost)]
    last = np.r_[last, np.full_like(lost, axis.size - 1)]
    order = np.lexsort((first, label))
    label, first, last = label[order], first[order], last[order]
    starts = np.ones(len(label), bool)
    starts[1:] = (label[1:] != label[:-1]) | (first[1:] > last[:-1] + 1)
    return label[starts], first[starts], last[np.append(np.flatnonzero(starts)[1:], len(label)) - 1]


def hold_code(axis: RankAxis, table: Members, code: int) -> NDArray[np.bool_]:
    """Whether each label covers a code."""
    return np.asarray((table == name_members(axis, np.int64(code))).any(axis=1) | (table[:, 0] == NOTHING))  # type: ignore[arg-type]


def label_members(axis: RankAxis, table: Members) -> list[str | None]:
    """The label of each list; NULL alone is no text."""
    rows, inverse = np.unique(table, axis=0, return_inverse=True)
    texts = [label_list(axis, row[row != NOTHING].tolist()) for row in rows]
    return [texts[i] for i in inverse.ravel()]


def label_list(axis: RankAxis, codes: list[int]) -> str | None:
    """`a`, `{a, b}`, `{a, 3 rare values}`, `*`, or None for NULL."""
    if not codes:
        return EVERYTHING
    if codes == [axis.null]:
        return None
    rare = axis.values - axis.common if codes[-1] == axis.common else 0
    return set_label([axis.texts[code] for code in codes if code < axis.common], rare)

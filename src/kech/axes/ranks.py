"""Ranks: texts in an order; a range of them is printed by its ends, or as a set."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths
from kech.axes.axis import EVERYTHING, TextAxis
from kech.errors import BadHierarchy
from kech.grid import Ints
from kech.rulers import Floats

DOTS = ".."
LONGEST_SET = 50  # a set of more values says no more than `*`


@dataclass(frozen=True, eq=False, repr=False)
class RankAxis(TextAxis):
    """Values in an order; a range is printed by its ends (ordinal) or as the set of its values."""

    order: tuple[str, ...]
    ordinal: bool
    widens: bool = False  # where lines are
    counted: int | None = None  # values a set is measured by, with NULL, where not all are published
    starts: Ints | None = None

    @property
    def kind(self) -> str:
        """Ordinal or set."""
        return "ordinal" if self.ordinal else "set"

    @property
    def texts(self) -> tuple[str, ...]:
        """The values in their order."""
        return self.order

    @property
    def members(self) -> int:
        """Values of a set; NULL is one of them."""
        return self.size if self.counted is None else self.counted

    @property
    def steps(self) -> int:
        """Steps from the first value to the last."""
        return max((self.values if self.ordinal else self.members) - 1, 1)

    def too_long(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Ranges printed as `*`."""
        long = (hi - lo >= LONGEST_SET) & (not self.ordinal)
        whole = (lo == 0) & (hi == self.values - 1) & (self.values > 1) & (not self.ordinal)
        return np.asarray(self.all_lost(lo, hi) | long | whole)

    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """(rank max - rank min) / (values - 1)."""
        lo, hi = self.spread(lo, hi)
        return np.where(self.too_long(lo, hi), 1.0, (hi - lo) / self.steps)

    def metric(self, lo: Ints, hi: Ints) -> Floats:
        """Of a set, the star: 0 for one value, 1 for several, NULL among them.  The order of a set is no distance."""
        if self.ordinal:
            return self.widths(lo, hi)
        lo, hi = self.spread(lo, hi)
        return np.asarray(lo < hi, np.float64)

    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """The range itself, or everything."""
        lo, hi = self.spread(lo, hi)
        lost = self.too_long(lo, hi)
        return np.where(lost, 0, lo), np.where(lost, self.size - 1, hi)

    def label(self, lo: int, hi: int) -> str:
        """`a`, `{a, b}`, `low..high` or `*`."""
        if bool(self.too_long(np.int64(lo), np.int64(hi))):  # type: ignore[arg-type]
            return EVERYTHING
        if self.ordinal:
            return self.texts[lo] if lo == hi else f"{self.texts[lo]}{DOTS}{self.texts[hi]}"
        if lo == hi and not self.texts[lo].startswith("{") and self.texts[lo] != EVERYTHING:
            return self.texts[lo]
        return "{" + ", ".join(map(member, sorted(self.texts[lo : hi + 1]))) + "}"

    def add_to(self, widths: Widths) -> None:
        """A line of equal steps; longer than the longest set, all is lost."""
        left, right = (np.where(np.arange(self.size) < self.values, end, 0).astype(np.float64) for end in self.cells)
        longest = np.inf if self.ordinal else max(min(LONGEST_SET, self.values - 1), 1) - 0.5
        widths.add_line(left, right, float(self.steps), longest, self.null)

    def add_metric_to(self, widths: Widths) -> None:
        """The star is a tree of two levels."""
        if self.ordinal:
            self.add_to(widths)
        else:
            codes = np.arange(self.size)
            widths.add_tree(self.metric(codes, codes), self.metric(codes[:-1], codes[1:]))

    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """The order, or the number of values; and whether labels are widened."""
        del labels
        known = {"order": list(self.texts)} if self.ordinal else {"values": self.members}
        return {"column": self.column, "axis": self.kind, **known, **({"grid": "auto"} if self.widens else {})}


def member(text: str) -> str:
    """A value inside `{...}`, quoted where it could be misread."""
    plain = text and text == text.strip() and not set(text) & set(',{}"\\')
    return text if plain else json.dumps(text, ensure_ascii=False)


def build_rank_axis(
    column: str,
    values: Sequence[str],
    order: Sequence[str],
    has_null: bool,
    *,
    ordinal: bool,
    widens: bool = False,
) -> RankAxis:
    """Values in the given order."""
    if ordinal:
        check_order(column, order)
    rank = {text: i for i, text in enumerate(order)}
    codes = np.array([rank[value] for value in values], dtype=np.int32)
    return RankAxis(column, codes, has_null, tuple(order), ordinal, widens)


def check_order(column: str, order: Sequence[str]) -> None:
    """Each value once, and none that could be read as a range."""
    if len(set(order)) < len(order):
        raise BadHierarchy(f"order of {column}", None, "a value is listed twice. Remove one of the two.")
    if any(DOTS in text or text == EVERYTHING for text in order):
        reason = f"a value is {EVERYTHING!r} or contains {DOTS!r}, with which ranges are written. Rename it."
        raise BadHierarchy(f"order of {column}", None, reason)

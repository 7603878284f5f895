"""Axis: the base classes of all kinds of axes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths
from kech.axes.grid import Floats, Ints

Codes = NDArray[np.int32]

EVERYTHING = "*"


@dataclass(frozen=True, eq=False, repr=False)
class Axis(ABC):
    """A column as ordered integer codes."""

    column: str
    codes: Codes  # the code of each distinct value of the column, in the order of the values
    has_null: bool

    @property
    @abstractmethod
    def kind(self) -> str:
        """number, date, ordered, set or hierarchy."""

    @property
    @abstractmethod
    def values(self) -> int:
        """Number of codes without NULL."""

    @abstractmethod
    def widths(self, lo: Ints, hi: Ints) -> Floats:
        """The width, from 0 to 1, of the label of each range of codes."""

    def metric(self, lo: Ints, hi: Ints) -> Floats:
        """The width of each range of codes by which eps is measured; of two values it is their distance.

        It equals the width of the label, except on trees and orders with rare values, whose labels are wider.  It is a
        metric, and without a grid it depends on which values occur, not on how often.
        """
        return self.widths(lo, hi)

    @abstractmethod
    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """The closed range of each [lo, hi]: all codes that its label covers; equal labels have equal closed ranges."""

    @abstractmethod
    def label(self, lo: int, hi: int) -> str | None:
        """The label of a closed range."""

    @abstractmethod
    def encode(self, values: Any) -> Codes:
        """The codes of values that may be new; -1 for a value that is not on the axis."""

    @abstractmethod
    def add_to(self, widths: Widths) -> None:
        """Add the widths of this axis to those of the kernels."""

    def add_metric_to(self, widths: Widths) -> None:
        """Add the metric of this axis to those of the kernels."""
        self.add_to(widths)

    @abstractmethod
    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """The parameters in a certificate from which a reader measures the published labels."""

    @property
    def null(self) -> int:
        """The code of NULL; -1 without NULL."""
        return self.values if self.has_null else -1

    @cached_property
    def size(self) -> int:
        """Number of codes, with NULL."""
        return self.values + self.has_null

    @property
    def is_padded(self) -> bool:
        """Whether labels of this axis are padded at random, to protect them."""
        return False

    def at(self, k: int) -> Self:
        """The axis as it may be published at k: only edges and values that k rows or more hide."""
        del k
        return self

    @property
    def state(self) -> bytes:
        """Bytes that are equal for two k exactly where the axis is published in the same way."""
        return b""

    def labels(self, lo: Ints, hi: Ints) -> list[str | None]:
        """The label of each closed range."""
        pairs, inverse = np.unique(np.stack([lo, hi], axis=1), axis=0, return_inverse=True)
        texts = [None if a == b == self.null else self.label(int(a), int(b)) for a, b in pairs]
        return [texts[i] for i in inverse.ravel()]

    def is_open(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Whether each label has one end only (`>= 80`), so that its true width is unknown: numbers and dates only.

        The label `middle..` of an order is not open: it ends at the last value of the public order.
        """
        del hi
        return np.zeros(len(lo), bool)

    def mixes_null(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Whether each range contains NULL and another value."""
        return np.asarray((hi == self.null) & (lo < hi))


@dataclass(frozen=True, eq=False, repr=False)
class TextAxis(Axis):
    """An axis of texts, ordered by their codes."""

    @property
    @abstractmethod
    def texts(self) -> tuple[str, ...]:
        """The value of each code."""

    @property
    @abstractmethod
    def starts(self) -> Ints | None:
        """The first code of each run, where an axis was coarsened; None where every value is a run."""

    @cached_property
    def runs(self) -> tuple[Ints, Ints]:
        """For each code the first and last code of its run, whose values have one code; NULL is a run of its own."""
        starts = np.arange(self.values) if self.starts is None else self.starts
        starts = np.append(starts, [self.values] * self.has_null).astype(np.int64)
        lengths = np.diff(np.append(starts, self.size))
        return np.repeat(starts, lengths), np.repeat(starts + lengths - 1, lengths)

    @property
    def cells(self) -> tuple[Ints, Ints]:
        """For each code the first and last code of the narrowest label that contains it."""
        return self.runs

    def expand_to_cells(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """Each range, extended to whole cells."""
        return self.cells[0][lo], self.cells[1][hi]

    @cached_property
    def values(self) -> int:
        """Number of values."""
        return len(self.texts)

    def encode(self, values: Sequence[str | None]) -> Codes:
        """The code of each text, -1 where it is not on the axis; None is NULL."""
        code_of_text: dict[str | None, int] = {text: code for code, text in enumerate(self.texts)}
        code_of_text[None] = self.null
        codes = np.array([code_of_text.get(value, -1) for value in values], dtype=np.int64)
        return np.where(codes < 0, -1, self.runs[0][codes]).astype(np.int32)

"""Axis: a column as a range of codes, with what all kinds of columns have in common."""

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
    """A column as a range of codes."""

    column: str
    codes: Codes  # the code of each distinct value, in the order the values were given
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
        """Width in [0, 1] of what is printed for each range of codes."""

    def metric(self, lo: Ints, hi: Ints) -> Floats:
        """Width of each range of codes wherever eps is measured: of two values, their distance.

        It is the printed width on lines, and on trees and orders where no value is rare: there labels are printed
        wider.  It is a metric, and off a grid depends on which values occur, not on how often.
        """
        return self.widths(lo, hi)

    @abstractmethod
    def close(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """The whole range that the label of [lo, hi] stands for: equal labels, equal ranges."""

    @abstractmethod
    def label(self, lo: int, hi: int) -> str | None:
        """What is printed for a closed range."""

    @abstractmethod
    def encode(self, values: Any) -> Codes:
        """Codes of values that may be new; -1 where an axis has no place for one."""

    @abstractmethod
    def add_to(self, widths: Widths) -> None:
        """Tell the kernels about this axis."""

    def add_metric_to(self, widths: Widths) -> None:
        """Tell the kernels how eps is measured on this axis."""
        self.add_to(widths)

    @abstractmethod
    def parameters(self, labels: Iterable[str | None]) -> dict[str, Any]:
        """What a reader must know to measure the published labels."""

    @property
    def null(self) -> int:
        """Code of NULL, or -1."""
        return self.values if self.has_null else -1

    @cached_property
    def size(self) -> int:
        """Number of codes."""
        return self.values + self.has_null

    @property
    def widens(self) -> bool:
        """Whether its labels are padded at random."""
        return False

    def at(self, k: int) -> Self:
        """This axis as it may be published for k: fewer edges, fewer values that are spelled out."""
        del k
        return self

    @property
    def state(self) -> bytes:
        """What differs between two k at which this axis is published differently."""
        return b""

    def labels(self, lo: Ints, hi: Ints) -> list[str | None]:
        """The label of each closed range."""
        pairs, inverse = np.unique(np.stack([lo, hi], axis=1), axis=0, return_inverse=True)
        texts = [None if a == b == self.null else self.label(int(a), int(b)) for a, b in pairs]
        return [texts[i] for i in inverse.ravel()]

    def is_open(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """Ranges printed with one end only, whose true width nobody knows: numbers and dates only.

        An order is public, so `middle..` ends at its last value.
        """
        del hi
        return np.zeros(len(lo), bool)

    def mixes_null(self, lo: Ints, hi: Ints) -> NDArray[np.bool_]:
        """NULL together with something else."""
        return np.asarray((hi == self.null) & (lo < hi))


@dataclass(frozen=True, eq=False, repr=False)
class TextAxis(Axis):
    """Values that are text, in the order of their codes."""

    @property
    @abstractmethod
    def texts(self) -> tuple[str, ...]:
        """The value of each code."""

    @property
    @abstractmethod
    def starts(self) -> Ints | None:
        """The first code of each cell, where cells hold several values."""

    @cached_property
    def runs(self) -> tuple[Ints, Ints]:
        """For each code the first and last code of those that are coded alike; NULL is alone."""
        starts = np.arange(self.values) if self.starts is None else self.starts
        starts = np.append(starts, [self.values] * self.has_null).astype(np.int64)
        lengths = np.diff(np.append(starts, self.size))
        return np.repeat(starts, lengths), np.repeat(starts + lengths - 1, lengths)

    @property
    def cells(self) -> tuple[Ints, Ints]:
        """For each code the first and last code that are printed with it at least."""
        return self.runs

    def expand_to_cells(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """The whole cells that a range touches."""
        return self.cells[0][lo], self.cells[1][hi]

    @cached_property
    def values(self) -> int:
        """Number of values."""
        return len(self.texts)

    def encode(self, values: Sequence[str | None]) -> Codes:
        """The code of each text; None is NULL."""
        code_of_text: dict[str | None, int] = {text: code for code, text in enumerate(self.texts)}
        code_of_text[None] = self.null
        codes = np.array([code_of_text.get(value, -1) for value in values], dtype=np.int64)
        return np.where(codes < 0, -1, self.runs[0][codes]).astype(np.int32)

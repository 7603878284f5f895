"""Pieces: published numbers and dates as their readers must take them: spread evenly over their label.

    [a, b] with values a, a + u, ..., b (u is the unit of the column)    each with the same chance
    [a, b) or a column without a unit                                   evenly along the line
    a                                                                   a itself

An open tail ends where the domain in the certificate does; `*` is all of the domain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.axes.grid import number_unit
from kech.certificate import Axis
from kech.certificate.labels import DAY, bound_interval
from kech.release.published import Ints

Floats = NDArray[np.float64]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_POSITIONS = 2048  # at which two distributions are compared
TIMES = (DAY, 1_000_000)  # microseconds
FUZZ = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Pieces:
    """Stretches of a line, each with its weight in rows; a unit of 0 is none."""

    low: Floats
    high: Floats
    unit: Floats
    rows: Ints

    @property
    def value_counts(self) -> Floats:
        """How many values each piece holds, low, low + unit, ..., high; 1 where it has no unit."""
        has_unit = self.unit > 0
        return np.where(has_unit, np.round((self.high - self.low) / np.where(has_unit, self.unit, 1)) + 1, 1)

    def shares_below(self, positions: Floats, *, strict: bool) -> Floats:
        """Of each piece (rows) what lies below, or at and below, each place (columns)."""
        low, high, unit, values = (part[:, None] for part in (self.low, self.high, self.unit, self.value_counts))
        with np.errstate(divide="ignore", invalid="ignore"):
            along = (positions - low) / (high - low)
            units_passed = (positions - low) / unit
        values_passed = np.ceil(units_passed - FUZZ) if strict else np.floor(units_passed + FUZZ) + 1
        whole = positions > low if strict else positions >= low
        share = np.where(high > low, np.where(unit > 0, values_passed / values, along), whole)
        return np.asarray(np.clip(share, 0, 1))

    def share_below(self, positions: Floats, *, strict: bool = False) -> Floats:
        """Share of all rows below, or at and below, each place."""
        point = self.low == self.high
        wide = Pieces(*(part[~point] for part in (self.low, self.high, self.unit, self.rows)))
        shares = [
            wide.rows @ wide.shares_below(part, strict=strict)
            for part in np.array_split(positions, max(1, len(positions) * len(wide.low) // 4_000_000))
        ]
        order = np.argsort(self.low[point])
        passed = np.searchsorted(self.low[point][order], positions, side="left" if strict else "right")
        points = np.concatenate([[0], np.cumsum(self.rows[point][order])])[passed]
        return np.asarray((np.concatenate(shares) + points) / self.rows.sum())

    @property
    def mean(self) -> float:
        """Average of all values."""
        return float(self.rows @ ((self.low + self.high) / 2) / self.rows.sum())

    @property
    def sd(self) -> float:
        """Standard deviation: between the pieces and within them, ((b - a)^2 + 2 u (b - a)) / 12 for each."""
        size = float(np.abs([self.low, self.high]).max()) or 1.0  # squares of large numbers would overflow
        low, high, unit = self.low / size, self.high / size, self.unit / size
        within = ((high - low) ** 2 + 2 * unit * (high - low)) / 12
        between = ((low + high) / 2 - self.rows @ ((low + high) / 2) / self.rows.sum()) ** 2
        return float(np.sqrt(self.rows @ (within + between) / self.rows.sum())) * size

    def quantile(self, share: float) -> float:
        """The smallest place at and below which this share of the rows lies."""
        low, high = float(self.low.min()), float(self.high.max())
        if self.share_below(np.array([low]))[0] >= share - FUZZ:
            return low
        for _ in range(60):
            middle = (low + high) / 2
            below = self.share_below(np.array([middle]))[0] >= share - FUZZ
            low, high = (low, middle) if below else (middle, high)
        unit = float(self.unit.max(initial=0.0))
        return round(high / unit) * unit if unit and (self.unit > 0).all() else high


def spread_labels(axis: Axis, labels: Sequence[str], rows: Ints, unit: float) -> Pieces:
    """The pieces of the labels of a line."""
    ends = [bound_interval(axis, label) for label in labels]
    low, high = (np.array([end[i] for end in ends], float) for i in (0, 1))
    closed = np.array([end[2] for end in ends], bool)
    return Pieces(low, np.maximum(low, high), np.where(closed, unit, 0.0), rows)


def point_pieces(values: Floats, rows: Ints) -> Pieces:
    """Values as they are."""
    return Pieces(values, values, np.zeros(len(values)), rows)


def find_unit(values: Floats, kind: str) -> float:
    """What divides all values: a power of ten, a day or a second; 0 if nothing does."""
    if kind == "number":
        return min(number_unit(values), 1.0)
    return next((unit for unit in TIMES if bool(np.all(values % unit == 0))), 0.0)


def describe(pieces: Pieces) -> dict[str, Any]:
    """Mean, standard deviation and quantiles."""
    return {
        "mean": pieces.mean,
        "sd": pieces.sd,
        "quantiles": {f"{share:g}": pieces.quantile(share) for share in QUANTILES},
    }


def distance(before: Pieces, after: Pieces) -> float:
    """Kolmogorov-Smirnov: the largest difference of the shares at and below any place.

        D = sup_x |F(x) - G(x)|

    F steps only at the values of the original, so D is reached at one of them or just before it.
    """
    positions = np.unique(before.low)
    if len(positions) > MOST_POSITIONS:
        positions = positions[np.linspace(0, len(positions) - 1, MOST_POSITIONS).round().astype(int)]
    gaps = [
        np.abs(before.share_below(positions, strict=strict) - after.share_below(positions, strict=strict)).max()
        for strict in (False, True)
    ]
    return float(max(gaps))

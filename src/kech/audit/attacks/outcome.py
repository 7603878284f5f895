"""Outcome of an attack: how often it succeeds, beside its control, and how sure that is."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

FEWEST_TARGETS = 100  # with fewer, a rate says too little for a verdict
Z = 1.959963984540054  # of a 95 % interval


@dataclass(frozen=True, slots=True)
class Attack:
    """How often an attack succeeds, and how often its control does on the same targets."""

    attack: str
    about: str
    targets: int
    hits: int
    control_hits: int
    note: str = ""

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_attack

        return show_attack(self)

    @property
    def verdict(self) -> str:
        """Above its control when the intervals do not even touch; none with too few targets."""
        if self.targets < FEWEST_TARGETS:
            return "no verdict"
        above = wilson(self.hits, self.targets)[0] > wilson(self.control_hits, self.targets)[1]
        return "above its control" if above else "not above its control"

    def to_json(self) -> dict[str, Any]:
        """What the command prints; rates of nothing are null."""
        figures = {"attack": self.attack, "about": self.about, "targets": self.targets}
        for name, hits in (("rate", self.hits), ("control", self.control_hits)):
            low, high = wilson(hits, self.targets) if self.targets else (None, None)
            rate = hits / self.targets if self.targets else None
            figures |= {name: rate, f"{name}_low": low, f"{name}_high": high}
        return figures | {"verdict": self.verdict, "note": self.note}


def wilson(hits: int, targets: int) -> tuple[float, float]:
    """95 % confidence interval of a rate p = hits / n (Wilson 1927).

    (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)
    """
    rate, share = hits / targets, Z * Z / targets
    middle, reach = rate + share / 2, Z * sqrt(rate * (1 - rate) / targets + share / (4 * targets))
    return max(0.0, (middle - reach) / (1 + share)), min(1.0, (middle + reach) / (1 + share))

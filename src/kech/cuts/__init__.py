"""Cuts: ways to part the points into classes of at least k rows, one file each."""

from dataclasses import dataclass, field

from kech.errors import BadOption
from kech.points.models import Goals

LARGEST_SEED = 2**63 - 1


@dataclass(slots=True)
class Halt:
    """Whether Ctrl-C has ended the search; what is made from the same wishes is then searched no further."""

    asked: bool = False


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a cut is to be made; each cut heeds what concerns it and refuses what it cannot do."""

    threads: int = 1
    part: bool = True  # the rows of one point may go to several classes
    reading: str = "strict"  # of the complex, for the regime cut
    suppress: float = 0.0  # share of the rows that may be left out
    effort: str | float | None = None  # of the search: quick, normal, best, or seconds for each k
    seed: int = 0  # equal seeds, equal partitions, unless effort is in seconds
    goals: Goals | None = None  # for the sensitive columns, beside k
    halt: Halt = field(default_factory=Halt, compare=False)
    field: int = 2  # the prime of the coefficients of homology, for the homological reading
    eps: float | None = None  # for the regime cut: the components at this radius, whatever k they reach

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= LARGEST_SEED:
            raise BadOption("--seed", f"give a whole number from 0 to {LARGEST_SEED}.")
        if self.field != 2 and self.reading != "homological":
            raise BadOption("--field", "only the homological reading of the regime cut takes it.")

    def keep_all(self) -> None:
        """For cuts that publish every row."""
        if self.suppress:
            raise BadOption("--suppress", "this cut publishes every row; local, minimal and domain may leave some out.")

"""Cuts: ways to part the points into classes of at least k rows, one file each."""

from dataclasses import dataclass, field
from typing import Self

from kech.errors import BadOption
from kech.request import Goal, Request


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
    goals: Goal | None = None  # for the sensitive columns, beside k
    halt: Halt = field(default_factory=Halt, compare=False)
    field: int = 2  # the prime of the coefficients of homology, for the homological reading
    eps: float | None = None  # for the regime cut: the components at this radius, whatever k they reach

    @classmethod
    def of(cls, request: Request, threads: int) -> Self:
        """What a request says of the cut."""
        goal, cut = request.goal, request.cut
        return cls(
            threads,
            reading=cut.reading,
            suppress=cut.suppress,
            effort=cut.effort,
            seed=cut.seed,
            goals=goal if goal.is_for_values else None,
            field=cut.field,
            eps=cut.eps,
        )

    def keep_all(self) -> None:
        """For cuts that publish every row."""
        if self.suppress:
            raise BadOption("--suppress", "this cut publishes every row; local, minimal and domain may leave some out.")

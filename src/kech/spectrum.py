"""Spectrum: every k and every cut side by side, so that k is chosen with open eyes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kech.cuts.domain import cut_domain
from kech.cuts.local import cut_local
from kech.cuts.regime import cut_regime
from kech.errors import BadOption, TooFewRows
from kech.loss import largest_radius, mean_loss
from kech.partition import Partition
from kech.points import Points, build_points
from kech.table import Table

LARGEST_K = 100  # of a spectrum for which no k is named

Cut = Callable[..., Iterator[Partition]]
CUTS: dict[str, Cut] = {"local": cut_local, "regime": cut_regime, "domain": cut_domain}


@dataclass(frozen=True, slots=True)
class SpectrumRow:
    """What a release at k would cost.  Figures nobody has computed are None."""

    k: int
    cut: str
    eps: float
    eps_lower_bound: float | None
    classes: int
    loss: float
    suppressed: int
    average_class: float
    l: int | None  # noqa: E741 - the letter of l-diversity
    t: float | None


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Rows ordered by cut, then k."""

    table_rows: int
    points: int
    columns: tuple[str, ...]
    lines: tuple[SpectrumRow, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for each cut and k."""
        return [asdict(line) for line in self.lines]

    def to_json(self) -> dict[str, Any]:
        """The object `kech spectrum --json` prints."""
        return {
            "rows": self.table_rows,
            "points": self.points,
            "quasi_identifiers": list(self.columns),
            "spectrum": self.rows(),
        }


def compute_spectrum(
    table: Table,
    *,
    k: Sequence[int] | None = None,
    cut: str | Sequence[str] = "local",
    grid: str | float = "auto",
    reading: str = "strict",
) -> Spectrum:
    """Fill k = 2 .. 100, or the k named, for each cut; the reading is for the regime cut."""
    cuts = (cut,) if isinstance(cut, str) else tuple(cut)
    coded = {steps: build_points(table, grid=grid, steps=steps) for steps in {name == "domain" for name in cuts}}
    points = coded[cuts[0] == "domain"]
    ks = check_ks(k, points.rows)
    found = {
        name: partitions(coded[name == "domain"], ks, name, threads=table.threads, reading=reading) for name in cuts
    }
    lines = [line(name, at, made) for name, cuts in found.items() for at, made in zip(ks, cuts, strict=True)]
    return Spectrum(points.rows, len(points.weights), table.quasi_identifiers, tuple(lines))


def partitions(
    points: Points, ks: Sequence[int], cut: str, *, threads: int, part: bool = True, reading: str = "strict"
) -> Iterator[Partition]:
    """One partition for each k, by the named cut; with `part`, equal rows may go to several classes."""
    if cut not in CUTS:
        raise BadOption("--cut", f"choose among {', '.join(CUTS)}.")
    return CUTS[cut](points, ks, threads=threads, part=part, reading=reading)


def check_ks(ks: Sequence[int] | None, rows: int) -> list[int]:
    """Each k once, ascending, between 1 and the number of rows."""
    chosen = sorted(set(range(2, min(LARGEST_K, rows) + 1) if ks is None else ks))
    if not chosen:
        raise TooFewRows(rows, 2)
    if chosen[0] < 1:
        raise BadOption("--k", "k is a number of rows, 1 or more.")
    if chosen[-1] > rows:
        raise TooFewRows(rows, chosen[-1])
    return chosen


def line(cut: str, k: int, partition: Partition) -> SpectrumRow:
    """The figures of one partition."""
    average = partition.points.rows / partition.classes
    return SpectrumRow(
        k,
        cut,
        largest_radius(partition),
        None,
        partition.classes,
        mean_loss(partition),
        0,
        average,
        None,
        None,
    )

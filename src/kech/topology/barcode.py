"""Weighted barcode: which rows are together, and for how long, while eps grows.

In: a filtration.  Out: bars with weights, and the regimes of eps in which the table is k-anonymous.

Where a person may have several rows, bars count people beside rows, and k counts people.  Bars are those of the rows:
people change no birth and no death.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import field as made_by
from os import PathLike
from typing import Any

import numpy as np

from kech.errors import KechError, MissingExtra, ResourceError, unusable_value
from kech.points.points import PointLimit, Points, build_points
from kech.request import FIELDS, Labels, check_k
from kech.system.console import report
from kech.tables.frames import as_frame
from kech.tables.repeats import warn_of_repeats
from kech.tables.table import Table, check_is_table
from kech.topology.filtration import Filtration, Floats, Ints, build_filtration, check_radii
from kech.topology.homology import find_holes, highest_dimension
from kech.topology.homology.boxes import count_varying
from kech.topology.minimal import find_class_counts, keep_increases

READINGS = (*reversed(FIELDS["reading"].choices), "partition")
JOINED = (0.5, 0.9, 0.99, 1.0)  # of the rows, that are in components of k: from which eps on is told
ROUND_EPS = [float(f"{step}e{power}") for power in range(-4, 1) for step in (1, 2, 5)]  # at which joining is told
FEW_JOINED = 0.05  # of the rows
SHARES = (0.01, 0.05, 0.1, 0.2, 0.3)  # of the rows, that may be left out: what each would change is told
MOST_UNASKED = {2: 100_000, 3: 20_000}  # points on so many axes whose holes are looked for unasked: seconds beyond
MOST_ON_MANY_AXES = 1_000
NOT_ASKED = "holes not computed: among {points:,} points on {axes} columns that may take long (--max-dimension 1)"
NO_HOLES = "at the lower eps {components} large enough, but holes were not computed"
NOT_ALL_HOLES = (
    "at the lower eps {components} large enough, without holes up to dimension {top}; others were not computed"
)
NOT_SEARCHED = "partitions were not searched: --reading partition"
NOT_WITHOUT = "partitions that leave out rows are not searched"
MAYBE_NARROWER = "narrower classes were neither found nor shown to be impossible"


@dataclass(frozen=True, slots=True)
class Bar:
    """A component (dimension 0) or a hole (dimension 1 and more), for as long as it lives."""

    birth: float  # eps, a radius
    death: float  # eps, or inf
    weight: int | None  # rows in the component
    people: int | None  # different people in it; None where every row is another person
    simplex_from: float | None  # eps from which the component is a full simplex, or inf
    dimension: int


@dataclass(frozen=True, slots=True)
class Regime:
    """A stretch [start, stop) of eps in which the table is k-anonymous with these classes."""

    start: float
    stop: float
    k: int  # people of the smallest class, or rows where every row is another person
    classes: int
    suppressed: int = 0  # rows that are left out of it: no class of k holds them there
    proven: bool = False  # whether all partitions at these eps were compared, and none has more classes


@dataclass(frozen=True, slots=True)
class PartitionReach:
    """What partitions of the rows into classes of k reach; eps* lies between `eps_at_least` and `eps_at_most`."""

    k: int
    eps_at_least: float  # no partition is narrower
    eps_at_most: float  # the narrowest partition that was found
    classes: int  # of it
    minimal_eps: float  # the widest class of the cut that searches for it
    minimal_classes: int
    local_eps: float  # the widest class of the cut that loses least
    local_classes: int
    effort: str | float  # of the search


@dataclass(frozen=True, slots=True)
class ReleasedRegime:
    """What a release by the regime cut gives, where rows may be left out: the others are measured alone."""

    reading: str
    k: int  # that was asked for
    suppress: float
    eps: float | None = None  # on the axes of the rows that are published; None where there is no release
    classes: int = 0
    rows: int = 0
    suppressed: int = 0
    reason: str = ""  # why there is no release
    grid: str | float = "round"  # of its edges


@dataclass(frozen=True, slots=True)
class RegimeStart:
    """The eps from which on k holds under a reading: between two radii, which are equal where it is known."""

    at_least: float
    at_most: float  # inf where no eps is known
    classes: int  # there; 0 where no eps is known
    suppressed: int  # rows that are left out there
    reason: str = ""  # why it is not known exactly

    @property
    def is_exact(self) -> bool:
        """Whether both ends are one."""
        return self.at_least == self.at_most


@dataclass(frozen=True, eq=False, repr=False)
class WeightedBarcode:
    """The bars of a filtration; `holes` has an entry for each dimension that was computed.

    Bars of zero length, of twins and of holes filled the moment they open, are shown only where asked for;
    `instants` counts the holes among them that were not even listed.
    """

    filtration: Filtration
    holes: Mapping[int, Floats] = made_by(default_factory=dict)
    instants: Mapping[int, int] = made_by(default_factory=dict)
    zero_length: bool = False
    library: str | None = None  # of dataframes: the caller's
    field: int = 2  # the prime of the coefficients of holes
    reached: Mapping[int, PartitionReach] = made_by(
        default_factory=dict
    )  # by k, what cuts reach, where it was searched
    advice: Mapping[int, Mapping[str, Any]] = made_by(default_factory=dict)  # by k, which column isolates rows most
    released: Sequence[ReleasedRegime] = ()  # where rows may be left out
    known: dict[int, list[tuple[float, int]] | None] = made_by(default_factory=dict, repr=False)  # by k, see count_most
    no_holes: str = ""  # why holes were not looked for, though nobody asked to leave them out

    def __repr__(self) -> str:
        rows = self.filtration.units.describe_rows()
        return f"WeightedBarcode({self.filtration.metric}, {rows}, {len(self.bars()):,} bars)"

    def _repr_html_(self) -> str:
        from kech.views.notebook import show_barcode

        return show_barcode(self)

    @property
    def counted(self) -> str:
        """What k counts: people, or rows where every row is another person."""
        return self.filtration.units.counted

    def to_frame(self) -> Any:
        """The bars as a dataframe of your library."""
        return as_frame([asdict(bar) for bar in self.bars()], self.library)

    def bars(self) -> list[Bar]:
        """All bars that are shown, components first, then by dimension, each ordered by birth."""
        tree = self.filtration
        order = np.lexsort((tree.death, tree.birth))
        columns = [column[order].tolist() for column in (tree.birth, tree.death, tree.weight, tree.simplex_from)]
        people = [None] * len(order) if tree.people is None else tree.people[order].tolist()
        start = float(tree.birth[0])  # 0, or the first radius of a sample
        twins = [Bar(start, start, 1, None if tree.people is None else 1, start, 0)] * self.twins
        components = [Bar(b, d, w, p, full, 0) for b, d, w, full, p in zip(*columns, people, strict=True)]
        holes = [Bar(b, d, None, None, None, n) for n, bars in self.holes.items() for b, d in sorted(bars.tolist())]
        return [bar for bar in twins + components + holes if self._shows(bar.birth, bar.death)]

    def _shows(self, birth: Any, death: Any) -> Any:
        """Whether bars are shown: those that last, and of zero length where asked for; none that is never born."""
        return (birth < death) | (self.zero_length & (birth < float("inf")))

    @property
    def eps_error(self) -> float:
        """By how much a birth, a death or the end of a regime may be off; 0 where every value stayed in its place."""
        return self.filtration.points.eps_error(self.filtration.metric)

    @property
    def left_out(self) -> dict[int, int]:
        """By dimension, how many bars are not shown: of zero length, or alive at none of the radii of a sample."""
        tree = self.filtration
        hidden = {n: int((~self._shows(*bars.T)).sum()) for n, bars in self.holes.items()}
        holes = {n: count + self.instants.get(n, 0) for n, count in hidden.items()}
        twins = 0 if self._shows(tree.birth[0], tree.birth[0]) else self.twins
        return {0: twins + int((~self._shows(tree.birth, tree.death)).sum()), **holes}

    @property
    def twins(self) -> int:
        """Rows that equal an earlier one; each joins it at eps 0."""
        return self.filtration.points.rows - len(self.filtration.points.codes)

    @property
    def is_complete(self) -> bool:
        """Whether every dimension that can have holes was computed."""
        points, metric = self.filtration.points, self.filtration.metric
        return all(n in self.holes for n in range(1, highest_dimension(points, metric) + 1))

    def regimes(self, reading: str = "homological", k: int = 2, suppress: float = 0.0) -> list[Regime] | None:
        """Where the table is k-anonymous under a reading; None where that is not known.

        With `suppress`, so large a share of the rows may be left out at most: those in components of fewer than k
        rows and, for `strict`, in components that are no full simplex.  Holes count wherever they are.

        homological: every component has k rows or more and there is no hole; unknown unless all were computed.
        strict: every component is a full simplex of k rows or more.
        partition: the rows can be parted into simplices of k rows or more, and into so many classes.  For a few
        dozen rows these are the most there can be; otherwise those that `search_partitions` found, if it was called.
        Where a person may have several rows, k counts people.
        """
        if reading not in READINGS:
            raise unusable_value("--reading", f"Choose among {', '.join(READINGS)}.")
        check_k(k)
        if reading == "partition":
            return None if suppress else self._partition_regimes(k)
        return self.regimes_within(reading, k, self.filtration.points.suppression_limit(suppress))

    def regimes_within(self, reading: str, k: int, limit: int) -> list[Regime] | None:
        """The regimes of components that leave out so many rows at most."""
        if reading == "homological" and not self.is_complete:
            return None
        return join_regimes(self._steps(reading, k, limit))

    def _partition_regimes(self, k: int) -> list[Regime] | None:
        """The regimes of the reading partition: from eps*(k) on, one for each larger number of classes.

        Components that are simplices are such a partition, to the last bit: so strict implies partition.
        """
        units = self.filtration.units
        if k > units.people:
            return []
        known = self.find_class_counts(k)
        steps = known or [(reached.eps_at_most, reached.classes) for reached in self.reached.values() if reached.k == k]
        if not steps:
            return None
        strict = [(regime.start, regime.classes) for regime in self.regimes("strict", k) or []]
        steps = keep_increases([*steps, *strict])
        stops, proven = [*(start for start, _ in steps[1:]), float("inf")], known is not None
        return [Regime(start, stop, k, classes, 0, proven) for (start, classes), stop in zip(steps, stops, strict=True)]

    def find_class_counts(self, k: int) -> list[tuple[float, int]] | None:
        """Each eps at which more classes of k are possible than before, with their number; None for larger tables."""
        if k not in self.known:
            self.known[k] = find_class_counts(self.filtration.units, k, self.filtration.metric)
        return self.known[k]

    def find_start(self, reading: str = "homological", k: int = 2, suppress: float = 0.0) -> RegimeStart:
        """From which eps on k holds under a reading, or between which two radii that eps lies.

        Without all holes, `homological` begins no earlier than every component has k rows, and no later than `strict`.
        So does `partition` where it was not searched; no hole delays it.
        """
        regimes = self.regimes(reading, k, suppress)
        if regimes is None:
            return self._bracket_start(reading, k, suppress)
        start, reached = first_start(regimes), self.reached.get(k)
        if reading == "partition" and reached and regimes and not regimes[0].proven:
            low = min(reached.eps_at_least, start.at_most)
            return replace(start, at_least=low, reason=MAYBE_NARROWER * (low < start.at_most))
        return start

    def _bracket_start(self, reading: str, k: int, suppress: float) -> RegimeStart:
        """Between which radii k begins to hold, where its regimes are not known."""
        limit, latest = self.filtration.points.suppression_limit(suppress), [self.regimes("strict", k, suppress)]
        bars = self
        if reading == "partition":
            latest.append(self._partition_regimes(k))
            bars = replace(self, holes={})
        early = first_start(bars._steps("homological", k, limit))
        start = min((first_start(regimes or []) for regimes in latest), key=lambda one: (one.at_most, -one.classes))
        reason = self.explain_holes(early) if reading == "homological" else NOT_WITHOUT if suppress else NOT_SEARCHED
        return replace(start, at_least=early.at_least, reason=reason * (early.at_least < start.at_most))

    def explain_holes(self, start: RegimeStart) -> str:
        """Why it is not known from where on there is no hole; how many components are large enough by then."""
        left, many = start.suppressed, start.classes != 1
        without = f" (without {left:,} row{'s' * (left != 1)})" * bool(left)
        components = f"{start.classes:,} component{'s' * many}{without} {'are' if many else 'is'}"
        reason = NOT_ALL_HOLES if self.holes else NO_HOLES
        return reason.format(components=components, top=max(self.holes, default=0))

    def describe(self, k: int, suppress: float = 0.0) -> dict[str, Any]:
        """What is known at one k: rows in components of k, what cuts reach, the column that isolates, releases."""
        joined = self.filtration.find_joining_quantiles(k, JOINED)
        released = [one for one in self.released if (one.k, one.suppress) == (k, suppress)]
        return {
            "k": k,
            "suppress": suppress,
            "metric": self.filtration.metric,
            "counted": self.counted,
            "joined": [
                {"share": share, "eps": finite(eps), "rows_left": left}
                for share, (eps, left) in zip(JOINED, joined, strict=True)
            ],
            "reached": [asdict(self.reached[k])] if k in self.reached else [],
            "advice": [dict(self.advice[k])] if k in self.advice else [],
            "released": [asdict(one) for one in released],
        }

    def list_joining(self, k: int) -> list[dict[str, Any]]:
        """How many classes there are at 0 and at round radii up to the last merge, and how many rows are in classes
        below k; of radii at which almost all rows are, the last.
        """
        tree, joins = self.filtration, self.filtration.find_joining_radii(k)
        last = float(tree.birth.max())
        radii = np.unique([0.0, *(eps for eps in ROUND_EPS if eps < last), last])
        order = np.argsort(joins, kind="stable")
        joined = np.append(0, np.cumsum(tree.units.weights[order]))[count_up_to(joins, radii)]
        classes = count_up_to(tree.birth, radii) - count_up_to(tree.death, radii)
        first = count_up_to(joined, np.array([FEW_JOINED * tree.units.rows]))[0]
        figures = zip(radii.tolist(), classes.tolist(), (tree.units.rows - joined).tolist(), strict=True)
        lines = [{"eps": eps, "classes": count, "rows_left": left} for eps, count, left in figures]
        changes = np.append(True, classes[1:] != classes[:-1])
        return lines[:1] + [line for i, line in enumerate(lines) if changes[i] and i >= max(first - 1, 1)]

    def find_starts_leaving_out(self, k: int, shares: Sequence[float] = SHARES) -> list[dict[str, Any]]:
        """The earlier eps from which on k holds (`homological`) if these shares of the rows may be left out."""
        lines: list[dict[str, Any]] = []
        earliest = self.find_start("homological", k)
        for share in sorted(shares):
            start = self.find_start("homological", k, share)
            if (start.at_least, start.at_most) != (earliest.at_least, earliest.at_most):
                lines.append({"share": share} | as_record(start))
            earliest = start
        return lines

    def _steps(self, reading: str, k: int, limit: int) -> list[Regime]:
        """One regime for each stretch between two events at which the reading holds, but for so many rows."""
        tree, bars = self.filtration, np.concatenate([np.empty((0, 2)), *self.holes.values()])
        kept = find_kept_components(tree, reading, k)
        trouble = bars if reading == "homological" else bars[:0]
        events = np.unique(np.concatenate([[tree.birth[0]], kept.start, kept.stop, trouble.ravel()]))
        events = events[np.isfinite(events)]
        suppressed = tree.points.rows - kept.add_up(kept.weight, events)
        holds = (count_up_to(trouble[:, 0], events) == count_up_to(trouble[:, 1], events)) & (suppressed <= limit)
        classes, stops = kept.add_up(np.ones_like(kept.weight), events), np.append(events[1:], np.inf)
        indices = np.flatnonzero(holds & (classes > 0))
        figures = zip(
            events[indices],
            stops[indices],
            kept.smallest(events[indices]),
            classes[indices],
            suppressed[indices],
            strict=True,
        )
        return [Regime(float(a), float(b), int(w), int(n), int(out)) for a, b, w, n, out in figures]

    def at(self, radii: Sequence[float]) -> list[dict[str, Any]]:
        """The complexes at the given radii: classes, smallest class, holes, and whether each reading holds.

        This is Algorithm 1 of the paper, with its radii; the complexes are read off the exact filtration.
        """
        return [self._at(eps) for eps in check_radii(radii, "--radii")]

    def _at(self, eps: float) -> dict[str, Any]:
        tree, nodes = self.filtration, self.filtration.nodes_at(eps)
        holes = {n: int(((bars[:, 0] <= eps) & (eps < bars[:, 1])).sum()) for n, bars in self.holes.items()}
        is_decided = self.is_complete or any(holes.values())
        return {
            "eps": eps,
            "classes": len(nodes),
            "k": int(tree.hidden_among[nodes].min()),
            "holes": holes,
            "homological": not any(holes.values()) if is_decided else None,
            "strict": bool((tree.simplex_from[nodes] <= eps).all()),
        }

    def sample(self, radii: Sequence[float]) -> "WeightedBarcode":
        """The barcode as Algorithm 1 sees it: from the first radius at which a bar lives to the first at which not."""
        grid = np.append(check_radii(radii, "--radii"), np.inf)
        tree = self.filtration
        birth, death, full = (round_up_to_grid(values, grid) for values in (tree.birth, tree.death, tree.simplex_from))
        sampled = replace(tree, birth=birth, death=death, simplex_from=np.where(full < death, full, np.inf))
        return replace(
            self, filtration=sampled, holes={n: round_up_to_grid(bars, grid) for n, bars in self.holes.items()}
        )

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        k: Sequence[int] = (2,),
        reading: str | None = None,
        suppress: float = 0.0,
        ax: Any = None,
    ) -> Any:
        """Draw the bars; the matplotlib axes, or a file (.svg, .html, .png) where a path is given.

        The regimes are those of a reading, by default homological.  Where one is named, the title tells of it.
        """
        from kech.views.pictures import plot
        from kech.views.pictures.barcode import draw_barcode

        return plot(lambda size: draw_barcode(self, k, reading, size, suppress), path, ax)

    def to_json(
        self,
        k: int = 2,
        radii: Sequence[float] = (),
        readings: Sequence[str] | None = None,
        *,
        longest: int | None = None,
        suppress: float = 0.0,
    ) -> dict[str, Any]:
        """The object `kech barcode --json` prints, with all bars or the longest; infinity is null."""
        regimes = {name: self.regimes(name, k, suppress) for name in readings or READINGS}
        sampled = self.sample(radii) if radii else self
        every = sampled.bars()
        bars = longest_bars(every, longest)
        return {
            "private": True,
            "metric": self.filtration.metric,
            "field": self.field,
            "rows": self.filtration.points.rows,
            **self.describe(k, suppress),
            "joining": self.list_joining(k),
            "people": self.filtration.units.people if self.counted == "people" else None,
            "eps_error": self.eps_error,
            "max_dimension": max(self.holes, default=0),
            "no_holes": self.no_holes or None,
            "bars": [as_record(bar) for bar in bars],
            "shorter_bars": len(every) - len(bars),
            "left_out": sampled.left_out,
            "regimes": {
                name: intervals if intervals is None else [as_record(regime) for regime in intervals]
                for name, intervals in regimes.items()
            },
            "starts": {name: as_record(self.find_start(name, k, suppress)) for name in regimes},
            "leaving_out": self.find_starts_leaving_out(k),
            "radii": self.at(radii),
        }


def first_start(regimes: Sequence[Regime]) -> RegimeStart:
    """Where the first regime begins."""
    if not regimes:
        return RegimeStart(float("inf"), float("inf"), 0, 0, "no eps does")
    return RegimeStart(regimes[0].start, regimes[0].start, regimes[0].classes, regimes[0].suppressed)


def compute_barcode(
    table: Table,
    *,
    metric: str = "box",
    max_dimension: int | None = None,
    field: int = 2,
    grid: str | float = "exact",
    zero_length: bool = False,
    max_points: int | None = None,
) -> WeightedBarcode:
    """Components with their rows and people, and holes up to `max_dimension`; bars of zero length where asked for.

    Holes are those of homology over Z/field; components are the same over every field.  Where no dimension is named,
    holes of dimension 1 are looked for if memory and installed extras allow it.

    Where there are more points than `max_points` (otherwise: than memory holds), values move to the middle of cells
    just wide enough, and every birth and death by `eps_error` at most.
    """
    check_is_table(table)
    if max_dimension is not None and max_dimension < 0:
        raise unusable_value("--max-dimension", "Give a dimension, 0 or more.")
    FIELDS["field"].check(field)
    warn_of_repeats(table)
    points = build_points(table, labels=Labels(grid=grid), point_limit=PointLimit(max_points, rounding=True))
    points.check_has_rows()
    how: dict[str, Any] = {"field": field, "threads": table.threads, "zero_length": zero_length}
    return replace(build_barcode(points, metric, max_dimension, **how), library=table.library)


def build_barcode(
    points: Points, metric: str, max_dimension: int | None, *, threads: int, field: int = 2, zero_length: bool = False
) -> WeightedBarcode:
    """Barcode of points, with holes up to a dimension; where none is named, with those that can be had."""
    left = points.check_memory_limit()
    filtration = build_filtration(points, metric, threads=threads)
    barcode = WeightedBarcode(filtration, zero_length=zero_length, field=field)
    if max_dimension == 0:
        return barcode
    if max_dimension is None and metric == "box" and is_slow(filtration.points):
        points = filtration.points
        return replace(barcode, no_holes=NOT_ASKED.format(points=len(points.weights), axes=len(points.axes)))
    try:
        return add_holes(barcode, 1 if max_dimension is None else max_dimension, left)
    except (MissingExtra, ResourceError) as refusal:
        if max_dimension is not None:
            raise
        return replace(barcode, no_holes=f"holes were not computed ({first_sentence(refusal)})")


def is_slow(points: Points) -> bool:
    """Whether boxes of points can have holes, and finding them takes seconds."""
    most = MOST_UNASKED.get(count_varying(points), MOST_ON_MANY_AXES)
    return len(points.weights) > most and highest_dimension(points, "box") > 0


def add_holes(barcode: WeightedBarcode, max_dimension: int, memory: int | None) -> WeightedBarcode:
    """The barcode, with holes up to a dimension."""
    report("looking for holes")
    tree = barcode.filtration
    how: dict[str, Any] = {"field": barcode.field, "zero_length": barcode.zero_length}
    holes = find_holes(tree.points, tree.metric, max_dimension, tree=tree, memory=memory, **how)
    return replace(barcode, holes=holes.bars, instants=holes.left_out)


def first_sentence(refusal: KechError) -> str:
    """What a refusal says first: what happened."""
    return re.split(r"[.:] ", str(refusal), maxsplit=1)[0].rstrip(".")


def round_up_to_grid(values: Floats, grid: Floats) -> Floats:
    """The first radius of a grid that ends in infinity, at or above each value."""
    return grid[np.searchsorted(grid, values)]


def count_up_to(values: Floats, events: Floats) -> Ints:
    """How many values are at or below each event."""
    return np.searchsorted(np.sort(values), events, side="right")


@dataclass(frozen=True, eq=False, repr=False)
class KeptComponents:
    """The components that a regime keeps, each from start to stop: their rows, and what k counts of them."""

    start: Floats
    stop: Floats
    weight: Ints
    hidden_among: Ints

    def add_up(self, values: Ints, events: Floats) -> Ints:
        """The sum over the components that are kept at each event."""
        born, ended = (np.argsort(ends, kind="stable") for ends in (self.start, self.stop))
        sums = [np.append(0, np.cumsum(values[order])) for order in (born, ended)]
        return np.asarray(sums[0][count_up_to(self.start, events)] - sums[1][count_up_to(self.stop, events)])

    def smallest(self, events: Floats) -> Ints:
        """The smallest component that is kept at each event: the largest are written first, smaller ones over them."""
        first, last = (np.searchsorted(events, ends) for ends in (self.start, self.stop))
        smallest = np.zeros(len(events), np.int64)
        seen = np.flatnonzero(first < last)
        for i in seen[np.argsort(-self.hidden_among[seen], kind="stable")].tolist():
            smallest[first[i] : last[i]] = self.hidden_among[i]
        return smallest


def find_kept_components(tree: Filtration, reading: str, k: int) -> KeptComponents:
    """Components of k people or more; for `strict`, from when on they are full simplices."""
    start = tree.simplex_from if reading == "strict" else tree.birth
    kept = np.flatnonzero((tree.hidden_among >= k) & (start < tree.death))
    return KeptComponents(start[kept], tree.death[kept], tree.weight[kept], tree.hidden_among[kept])


def join_regimes(steps: Sequence[Regime]) -> list[Regime]:
    """The regimes, with neighbouring stretches of the same classes joined into one."""
    out: list[Regime] = []
    for step in steps:
        if out and out[-1].stop == step.start and out[-1] == replace(step, start=out[-1].start, stop=out[-1].stop):
            out[-1] = replace(out[-1], stop=step.stop)
        else:
            out.append(step)
    return out


def longest_bars(bars: list[Any], most: int | None) -> list[Any]:
    """The longest of the bars, in their order; all where no number is named."""
    return [bars[i] for i in find_longest([bar.death - bar.birth for bar in bars], most).tolist()]


def find_longest(lengths: Any, most: int | None) -> Ints:
    """The indices of the longest bars, in their order; all where no number is named."""
    if most is not None and most < 0:
        raise unusable_value("--longest", "Write a number of bars, 0 or more.")
    return np.sort(np.argsort(-np.asarray(lengths), kind="stable")[:most])


def as_record(record: Bar | Regime | RegimeStart) -> dict[str, Any]:
    """Fields and values; infinity is written as null."""
    values = {name: getattr(record, name) for name in record.__slots__}
    return {name: finite(value) for name, value in values.items()}


def finite(value: Any) -> Any:
    """A value of JSON: infinity is null."""
    return None if value == float("inf") else value

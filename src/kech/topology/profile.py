"""Exposure profile: the share of the rows that cannot hide yet, at every eps and k.

In: a table.  Out: for every k the radius from which on each row can hide, all eps at once.

Let d_k(x) be the distance from row x to the k-th nearest row, itself counted.  A simplex of k rows that holds x reaches
d_k(x), and the k nearest rows of x are a simplex of radius d_k(x) or less:

    d_k(x) > 2 eps   =>   x is in no simplex of k rows at eps   =>   d_k(x) > eps

So the share of exposed rows, v(eps, k), lies between two shares that the k nearest rows give; at k = 2 it is the lower.
A class of k rows that a cut found hides them from its own radius on, where that is smaller than d_k; so does the class
of all rows.  u(eps, k), the share of rows in components of fewer than k, is at most the lower share.  Where a person
may have several rows, k counts people.
"""

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import ceil
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from kech._kernels import distinct_rows, reach_all
from kech.errors import BadOption, unusable_value
from kech.points.people import ALONE
from kech.points.points import PointLimit, Points, build_points, join_equal, rebuild_without
from kech.request import Labels, check_k
from kech.request.request import LARGEST_K
from kech.system.console import report
from kech.system.memory import ENGINE_POINT_BYTES, RADIUS_BYTES
from kech.tables.frames import as_frame
from kech.tables.repeats import warn_of_repeats
from kech.tables.table import Table, check_is_table
from kech.topology.barcode import PartitionReach
from kech.topology.filtration import Filtration, Floats, Ints, build_filtration, check_metric, check_radii

SHARES = (0.5, 0.9, 0.99, 1.0)  # of the rows that can hide: the lines of the picture
LAST_SHARE = 0.005  # of the rows: those that are advised on as the last to hide
MOST_ROWS = 0.9  # of the rows: which column keeps the others apart is advised on
ROUND_KS = (2, 5, 10, 20, 50, 100)
ROUND_EPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
PAIRS = 10_000  # of rows, of which each column is asked how much they differ
ROUNDING = 1e-9  # of a share of the rows


@dataclass(frozen=True, eq=False, repr=False)
class HidingRadii:
    """For every k from 1 on, the radius at which each unit of the points can hide at the earliest: d_k / 2."""

    radii: Floats  # k x units
    order: Ints  # the unit of each column

    def at(self, k: int) -> Floats:
        """One radius for each unit, in the order of the table."""
        return np.asarray(self.radii[k - 1])


@dataclass(frozen=True, eq=False, repr=False)
class ExposedUnits:
    """Who is exposed: every row for itself, or every person by the most exposed of their rows."""

    weights: Ints
    order: Ints | None = None  # of units, by person
    starts: Ints | None = None  # of each person in that order

    def beyond(self, radii: Floats, eps: float) -> float:
        """The share of holders whose radius is larger than eps: they are exposed."""
        return float(self.weights[self.worst(radii) > eps].sum() / self.weights.sum())

    def find_quantiles(self, radii: Floats, shares: Sequence[float]) -> list[float]:
        """The smallest eps at which each share, or more, has a radius of eps or less."""
        radii, total = self.worst(radii), int(self.weights.sum())
        needed = [max(ceil(share * total - ROUNDING), 1) for share in shares]
        if total == len(radii):
            indices = [count - 1 for count in needed]
            return [float(radius) for radius in np.partition(radii, indices)[indices]]
        order = np.argsort(radii, kind="stable")
        indices = np.searchsorted(np.cumsum(self.weights[order]), needed).tolist()
        return [float(radius) for radius in radii[order[indices]]]

    def worst(self, radii: Floats) -> Floats:
        """The radius of each holder: the largest one of their units."""
        if self.order is None or self.starts is None:
            return radii
        return np.asarray(np.maximum.reduceat(radii[self.order], self.starts))


class WithoutColumns(NamedTuple):
    """Where rows could hide at the earliest without some columns."""

    half: float  # the eps for half of the rows
    mean: float  # over all rows
    most: float  # the eps for 90 % of the rows


@dataclass(frozen=True, eq=False, repr=False)
class Profile:
    """The share of rows that cannot hide among k yet, for every eps and every k up to the largest."""

    filtration: Filtration
    reaches: HidingRadii
    threads: int = 1
    library: str | None = None  # of dataframes: the caller's
    reached: Mapping[int, PartitionReach] = field(default_factory=dict)  # by k, what cuts reach, where it was searched
    class_radii: Mapping[int, Floats] = field(default_factory=dict)  # by k, of the narrowest class that has each unit
    known: dict[Any, "WithoutColumns"] = field(default_factory=dict, init=False)  # by the columns left out, and k

    def __repr__(self) -> str:
        return f"Profile({self.filtration.metric}, {self.units.describe_rows()}, k up to {self.largest_k})"

    def _repr_html_(self) -> str:
        from kech.views.notebook import show_profile

        return show_profile(self)

    @property
    def units(self) -> Points:
        """The points, told apart by person where a person may have several rows."""
        return self.filtration.units

    @property
    def counted(self) -> str:
        """What k counts: people, or rows where every row is another person."""
        return self.units.counted

    @property
    def largest_k(self) -> int:
        """k goes from 1 to this."""
        return len(self.reaches.radii)

    @property
    def eps_error(self) -> float:
        """By how much an eps may be off; 0 where every value stayed in its place."""
        return self.filtration.points.eps_error(self.filtration.metric)

    @cached_property
    def rows(self) -> ExposedUnits:
        """Rows, in the order of the table of radii."""
        return ExposedUnits(self.units.weights[self.reaches.order])

    @cached_property
    def people(self) -> ExposedUnits | None:
        """People, each by the most exposed of their rows; None where every row is another person."""
        if self.units.person is None:
            return None
        person = self.units.person[self.reaches.order]
        order = np.argsort(person, kind="stable")
        ranked = person[order]
        new = np.r_[True, ranked[1:] != ranked[:-1]] | (ranked == ALONE)
        weights = np.where(ranked == ALONE, self.rows.weights[order], 1)[new]
        return ExposedUnits(weights, order, np.flatnonzero(new))

    def shares(self, k: int, eps: float) -> dict[str, Any]:
        """What is known at one k and eps: shares of the rows, and of the people where they are counted."""
        self.check(k)
        radii, joined = self.reaches.at(k), self.filtration.find_joining_radii(k)[self.reaches.order]
        figures: dict[str, Any] = {"k": k, "eps": eps}
        for name, holders in (("", self.rows), ("people_", self.people)):
            if holders is not None:
                figures[f"{name}alone"] = holders.beyond(joined, eps)
                figures[f"{name}exposed_at_least"] = holders.beyond(radii, eps)
                figures[f"{name}exposed_at_most"] = holders.beyond(self.find_safe_radii(k), eps)
        return figures

    def find_safe_radii(self, k: int) -> Floats:
        """For each unit, an eps from which on it certainly hides among k: with its k nearest rows, or in a class, if
        only in that of all rows.  Two rows are a simplex at half their distance, so at k = 2 no earlier eps does.
        """
        if k <= 2:
            return self.reaches.at(k)
        classes = [radii[self.reaches.order] for goal, radii in self.class_radii.items() if goal >= k]
        radii, whole = self.reaches.at(k), float(self.filtration.simplex_from[-1])
        return np.maximum(np.minimum.reduce([np.minimum(2 * radii, whole), *classes]), radii)

    def eps_for(self, k: int, shares: Sequence[float] = SHARES) -> list[float]:
        """For each share of the rows, the eps below which fewer can hide among k."""
        return self.rows.find_quantiles(self.reaches.at(self.check(k)), check_shares(shares))

    def safe_eps_for(self, k: int, shares: Sequence[float] = SHARES) -> list[float]:
        """For each share of the rows, an eps from which on that many can hide among k."""
        return self.rows.find_quantiles(self.find_safe_radii(self.check(k)), check_shares(shares))

    def without(self, column: str, ks: Sequence[int]) -> list["WithoutColumns"]:
        """For each k, where rows could hide at the earliest if a column were not there."""
        return self.without_all([column], ks)

    def without_all(self, columns: Sequence[str], ks: Sequence[int]) -> list["WithoutColumns"]:
        """The same if several columns were not there."""
        names = tuple(columns)
        missing = [k for k in ks if (names, k) not in self.known]
        if missing:
            rest = drop_axes(self.units, names)
            reaches = compute_hiding_radii(rest, self.filtration.metric, max(missing), threads=self.threads)
            rows = ExposedUnits(rest.weights[reaches.order])
            for k in missing:
                half, most = rows.find_quantiles(reaches.at(k), [0.5, MOST_ROWS])
                mean = float(np.average(reaches.at(k), weights=rows.weights))
                self.known[names, k] = WithoutColumns(half, mean, most)
        return [self.known[names, k] for k in ks]

    def columns(self, ks: Sequence[int] | None = None) -> list[dict[str, Any]]:
        """For each column and k, the eps below which not half of the rows can hide, with the column and without."""
        ks, lines = self.choose_ks(ks), list[dict[str, Any]]()
        half = [self.eps_for(k, [0.5])[0] for k in ks]
        for axis in self.units.axes:
            rest = self.without(axis.column, ks)
            lines += [
                {"column": axis.column, "k": k, "eps_half": with_it, "eps_half_without": without_it.half}
                for k, with_it, without_it in zip(ks, half, rest, strict=True)
            ]
        return lines

    def advise(self, k: int) -> dict[str, Any]:
        """The columns that isolate half of the rows most at k, and the last tenth; what the last rows to hide cost.

        Of columns without which that many rows hide equally early, the one without which rows reach least on
        average.  With exact edges, no release of all rows goes below `eps_bound`, and none without the last rows below
        `eps_but_last`.
        """
        names = [axis.column for axis in self.units.axes]
        rests = {name: self.without(name, [k])[0] for name in names}
        column = min(names, key=lambda name: rests[name])
        last = min(names, key=lambda name: (rests[name].most, rests[name].mean))
        without = {"eps_half_without": rests[column].half, "eps_most_without": rests[last].most}
        together = self.find_isolating_together(k, rests[column].half)
        return {"column": column, "last_column": last} | without | together | self.describe_hiding(k)

    def find_isolating_together(self, k: int, best: float) -> dict[str, Any]:
        """Where no column alone keeps half of the rows apart: the fewest of those in which rows differ most without
        which that many could hide earlier.  Without more columns no row hides later, so they are found by halving.
        """
        (half,) = self.eps_for(k, [0.5])
        names = sort_by_difference(self.units) if best >= half > 0 else []
        first = [names[:many] for many in range(2, len(names))]
        at = bisect_left(first, True, key=lambda columns: self.without_all(columns, [k])[0].half < half)
        if at == len(first):
            return {"columns": [], "eps_half_without_columns": None}
        return {"columns": first[at], "eps_half_without_columns": self.without_all(first[at], [k])[0].half}

    def describe_hiding(self, k: int) -> dict[str, Any]:
        """Below which eps not half of the rows can hide, not 90 %, not all, and not all but the last; how many these
        are; and below which eps no release of all rows goes.
        """
        half, most, but_last, every = self.eps_for(k, [0.5, MOST_ROWS, 1 - LAST_SHARE, 1.0])
        last = int(self.rows.weights[self.reaches.at(k) > but_last].sum())
        bound = max(every, self.reached[k].eps_at_least) if k in self.reached else every
        radii = {"eps_half": half, "eps_most": most, "eps_all": every, "eps_bound": bound, "eps_but_last": but_last}
        return {"k": k, **radii, "last_rows": last}

    def find_last_units(self, k: int) -> Ints:
        """The units that hide last at k: 0.5 % of the rows at most."""
        but_last = self.eps_for(k, [1 - LAST_SHARE])[0]
        return np.sort(self.reaches.order[self.reaches.at(k) > but_last])

    def without_last_rows(self, k: int) -> Points | None:
        """The points without the rows that hide last at k, on new axes; None without such rows, or without k others."""
        last = self.find_last_units(k)
        if self.units.origin is None or not len(last):
            return None
        rest = rebuild_without(self.units, last)
        return rest if rest.people >= k else None

    def last_rows(self, k: int) -> list[int]:
        """Numbers of the rows that hide last at k, 0.5 % of all at most, counted from 1 in the order of the table."""
        last = self.units.codes[self.find_last_units(k)]
        origin = self.units.origin
        if origin is None or not len(last):
            return []
        codes = origin.table.engine.code_rows(self.units.mappings[: len(self.units.axes)])
        names = distinct_rows(np.ascontiguousarray(np.concatenate([last, codes]).astype(np.int64)))[1]
        return (np.flatnonzero(np.isin(names[len(last) :], names[: len(last)])) + 1).tolist()

    def find_eps_without_one(self, k: int) -> dict[str, Any]:
        """Between which radii `eps_all` lies if any one person is left out; none without more than k.

        Without a person nobody's k nearest come nearer, and the k + 1 nearest of before hold k of the others.
        """
        self.check(k)
        holders = self.people or self.rows
        worst = np.sort(np.repeat(holders.worst(self.reaches.at(k)), np.minimum(holders.weights, 2)))
        figures: dict[str, Any] = {"k": k, "eps_all": float(worst[-1])}
        if k == self.units.people:
            return figures | {"eps_all_at_least": None, "eps_all_at_most": None}
        farther = compute_hiding_radii(self.units, self.filtration.metric, k + 1, threads=self.threads).at(k + 1)
        return figures | {"eps_all_at_least": float(worst[-2]), "eps_all_at_most": float(farther.max())}

    def choose_ks(self, ks: Sequence[int] | None) -> list[int]:
        """The k that are listed: those named, or round ones."""
        chosen = [k for k in ROUND_KS if k <= self.largest_k] or [self.largest_k] if ks is None else ks
        return [self.check(k) for k in chosen]

    def check(self, k: int) -> int:
        """Refuse a k that was not computed."""
        check_k(k)
        if k > self.units.people:
            raise self.units.refuse_k(k)
        if k > self.largest_k:
            raise BadOption("--k", f"a profile goes up to k = {self.largest_k}. Choose a smaller k.")
        return k

    def to_frame(self, k: Sequence[int] | None = None, eps: Sequence[float] | None = None) -> Any:
        """The listed shares as a dataframe of your library."""
        return as_frame(self.to_json(k, eps)["profile"], self.library)

    def plot(self, path: str | PathLike[str] | None = None, *, ax: Any = None) -> Any:
        """Draw exposed rows over eps and k: matplotlib axes, or a file (.svg, .html, .png) where a path is given."""
        from kech.views.pictures import plot
        from kech.views.pictures.profile import draw_profile

        return plot(lambda size: draw_profile(self, size), path, ax)

    def to_json(self, k: Sequence[int] | None = None, eps: Sequence[float] | None = None) -> dict[str, Any]:
        """The object `kech profile --json` prints: shares at the k and eps that are named, or at round ones."""
        ks, radii = self.choose_ks(k), check_radii(ROUND_EPS if eps is None else eps, "--eps", least=1)
        return {
            "private": True,
            "metric": self.filtration.metric,
            "rows": self.units.rows,
            "counted": self.counted,
            "people": self.units.people if self.counted == "people" else None,
            "eps_error": self.eps_error,
            "profile": [self.shares(goal, radius) for goal in ks for radius in radii],
            "hidden": [
                {"k": goal, "share": share, "eps_at_least": least, "eps_at_most": most}
                for goal in ks
                for share, least, most in zip(SHARES, self.eps_for(goal), self.safe_eps_for(goal), strict=True)
            ],
            "reached": [asdict(self.reached[goal]) for goal in ks if goal in self.reached],
            "columns": self.columns(ks),
            "advice": [self.advise(goal) for goal in ks],
        }


def compute_profile(
    table: Table, *, metric: str = "box", grid: str | float = "exact", max_points: int | None = None
) -> Profile:
    """The share of rows that cannot hide among k, for every eps and every k up to 100.

    Where there are more points than `max_points` (otherwise: than memory holds), values move to the middle of cells
    just wide enough, and every eps by `eps_error` at most.
    """
    check_is_table(table)
    warn_of_repeats(table)
    room = max(table.allowed_bytes // (ENGINE_POINT_BYTES + RADIUS_BYTES * LARGEST_K), 1)
    point_limit = PointLimit(room if max_points is None else max_points, rounding=True)
    points = build_points(table, labels=Labels(grid=grid), point_limit=point_limit)
    points.check_has_rows()
    return replace(build_profile(points, metric, threads=table.threads), library=table.library)


def build_profile(points: Points, metric: str, *, most: int = LARGEST_K, threads: int = 1) -> Profile:
    """The profile of points, for every k up to the most, or to the people there are."""
    points.check_memory_limit()
    tree = build_filtration(points, metric, threads=threads)
    return Profile(tree, compute_hiding_radii(points, metric, min(most, points.people), threads=threads), threads)


def check_shares(shares: Sequence[float]) -> Sequence[float]:
    """Refuse what is no share of the rows."""
    if not all(0 < share <= 1 for share in shares):
        raise unusable_value("shares", "Give shares above 0 and at most 1.")
    return shares


def find_isolating_column(tree: Filtration, k: int, *, threads: int = 1) -> dict[str, Any]:
    """The column that isolates rows most at k, and what the last rows to hide cost, where no profile is at hand."""
    return Profile(tree, compute_hiding_radii(tree.units, tree.metric, k, threads=threads), threads).advise(k)


def compute_hiding_radii(points: Points, metric: str, most: int, *, threads: int) -> HidingRadii:
    """For each k up to `most`, the smallest radius within which each unit has k people."""
    check_metric(points, metric)
    report("looking for the nearest rows")
    if not points.axes:  # all rows are alike
        return HidingRadii(np.zeros((most, len(points.weights))), np.arange(len(points.weights)))
    how = (points.metric(), metric == "ball", most, threads)
    radii, order = reach_all(points.codes, points.weights, *how, points.person)
    return HidingRadii(radii.reshape(most, -1), order)


def sort_by_difference(points: Points) -> list[str]:
    """The columns, those first in which two rows differ most on average: the same pairs of rows at every call."""
    pairs = np.random.default_rng(0).choice(len(points.weights), (2, PAIRS), p=points.weights / points.rows)
    low, high = (end(*points.codes[pairs]) for end in (np.minimum, np.maximum))
    differences = [-axis.metric(low[:, j], high[:, j]).mean() for j, axis in enumerate(points.axes)]
    return [points.axes[j].column for j in np.argsort(differences, kind="stable").tolist()]


def drop_axes(points: Points, columns: Collection[str]) -> Points:
    """The points without some columns; what becomes equal is one point."""
    kept = [j for j, axis in enumerate(points.axes) if axis.column not in columns]
    return join_equal(points, np.arange(len(points.weights)), kept, points.weights)

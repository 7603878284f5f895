"""Points: the weighted distinct rows of a table, as integer codes.

In: a table.  Out: m code tuples with the number of rows of each; kernels never see more.  Where sensitive columns
matter, a point consists of grains: its rows told apart by their sensitive values too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial, wraps
from math import prod
from typing import Any, Self, TypeVar, cast
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths
from kech.axes import Axis, Codes
from kech.axes.coarsening import count_distinct, cover, covering_error, find_step, joint_error, point_keys, round_axis
from kech.errors import (
    BadOption,
    ManyValues,
    NeedsMemory,
    NoQuasiIdentifier,
    TooManyPoints,
)
from kech.points.columns import SensitiveColumn, build_axis, encode_sensitive, warn_of_text
from kech.request import Labels
from kech.system.memory import (
    BASE_BYTES,
    ENGINE_POINT_BYTES,
    GRAIN_BYTES,
    POINT_BYTES,
    SAMPLE_ROW_BYTES,
    counting_bytes,
    holding_bytes,
    working_bytes,
)
from kech.system.progress import report
from kech.system.secret import OwnerSecret
from kech.tables.sql import Mapping1D
from kech.tables.table import Table

T = TypeVar("T")

WIDEST = 2.0  # of a step: whatever can be joined, or moved half as far, is one
HELD_CODES = 10_000  # of all axes; what is made of more would fill memory where there are many k
SAMPLE = 500_000  # rows that tell how coarse axes must be


@dataclass(frozen=True, slots=True)
class Coarse:
    """How many points there may be, and what becomes of axes that have more."""

    most: int | None = None  # None: as many as memory allows
    k: int = 1  # the smallest that will be asked for
    rounding: bool = False  # move values to the middle of their cells; otherwise cells are printed whole
    others: tuple[int, ...] = ()  # further k, whose partitions are held together

    def limit(self, table: Table) -> int:
        """Points that are allowed."""
        if self.most is not None and self.most < 1:
            raise BadOption("--max-points", "give a number of points, 1 or more.")
        return self.most if self.most is not None else max(table.room // self.each(table), 1)

    def each(self, table: Table) -> int:
        """Bytes of memory for a point; where a limit was set, for its part in the partitions of further k too."""
        held = holding_bytes(1, [1] * len(self.others))
        return ENGINE_POINT_BYTES + (held if table.is_limited else 0)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where points come from: with it they can be made again without some rows."""

    table: Table
    labels: Labels
    steps: bool
    with_sensitive: bool
    coarse: "Coarse"


@dataclass(frozen=True, eq=False, repr=False)
class SensitiveValues:
    """What the rows of each grain hold in the sensitive columns."""

    columns: tuple[SensitiveColumn, ...]
    codes: Codes  # grains x columns
    point: NDArray[np.int64]  # of which each grain is a part


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """m distinct points: codes (m x d) and weights in rows.

    Where sensitive columns matter, `grains` are the same rows told apart by their sensitive values too: codes repeat
    where only those differ.
    """

    axes: tuple[Axis, ...]
    mappings: tuple[Mapping1D, ...]
    codes: Codes
    weights: NDArray[np.int64]
    grains: "Points | None" = None
    sensitive: SensitiveValues | None = None  # of grains
    origin: Origin | None = None
    left_out: int = 0  # rows of the table that are in no point
    step: float = 0.0  # axes were coarsened to cells no wider than this
    moved: tuple[float, ...] = ()  # where values were moved to the middle of their cells: the error of each axis
    made: dict[str, Any] = field(default_factory=dict)  # of these codes and weights, whatever the axes; see `once`
    held: dict[Any, Any] = field(default_factory=dict, init=False)  # of these axes; see `cache_on_points`

    def once(self, name: str, make: Callable[[Codes, NDArray[np.int64]], T]) -> T:
        """What is made of codes and weights alone, made once for all axes these points are looked at on."""
        held = self.made.get(name)
        if held is None or held[0] is not self.codes or held[1] is not self.weights:
            held = self.made[name] = self.codes, self.weights, make(self.codes, self.weights)
        return cast(T, held[2])

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: kernels are made again."""
        return {**self.__dict__, "made": {}, "held": {}}

    @property
    def secret(self) -> OwnerSecret | None:
        """What labels are drawn with; None where no table stands behind the points."""
        return self.origin.table.secret if self.origin else None

    @property
    def rows(self) -> int:
        """Rows of all points."""
        return int(self.weights.sum())

    def limit(self, suppress: float) -> int:
        """Rows that may be left out, from their share."""
        if not 0 <= suppress < 1:
            raise BadOption("--suppress", "give a share of the rows, 0 or more and less than 1.")
        return min(int(suppress * self.rows + 1e-9), self.rows - 1)

    def at(self, k: int) -> Self:
        """The same points on the axes as they may be published for k; as long as they are in use, the same object."""
        known = self.held.setdefault("at", WeakValueDictionary())
        found = known.get(k)
        if found is None:
            found = known[k] = replace(self, axes=tuple(axis.at(k) for axis in self.axes))
            found.held["at"] = known
        return cast(Self, found)

    @property
    def others(self) -> tuple[int, ...]:
        """Further k that will be asked for together with the smallest."""
        return self.origin.coarse.others if self.origin else ()

    def memory(self, k: int | None = None) -> int:
        """Bytes of --memory that it takes to work on the points, to part them into classes of k rows and to publish.

        For further k, their partitions are held beside it.
        """
        points, grains = len(self.weights), len(self.grains.weights) if self.grains is not None else 0
        classes = self.most_classes(max(k, 1)) if k is not None else 0
        held = holding_bytes(points, [min(points, self.most_classes(other)) for other in self.others])
        return working_bytes(points, grains, classes, self.distinct_values) + held

    @property
    def distinct_values(self) -> list[int]:
        """Distinct values of each sensitive column."""
        mappings = self.grains.mappings[len(self.axes) :] if self.grains is not None else ()
        return [len(mapping.values) for mapping in mappings]

    def most_classes(self, k: int) -> int:
        """Into how many classes of k rows a cut parts the points: one has no more than k rows to give on both sides."""
        return int(np.minimum(self.weights, 3 * k).sum()) // k

    def enough(self, k: int | None = None) -> int:
        """The same where axes are coarse for want of memory: with more of it there are more points, and grains."""
        if not self.step or self.origin is None or self.origin.coarse.most is not None:
            return self.memory(k)
        grains = self.rows if self.grains is not None else 0
        classes = self.rows // max(k, 1) if k is not None else 0
        rest = working_bytes(0, grains, classes, self.distinct_values)
        rest += holding_bytes(0, [self.rows // other for other in self.others])
        each = POINT_BYTES + holding_bytes(1, [0] * len(self.others))
        allowed = self.origin.coarse.each(self.origin.table)
        return min(rest * allowed // (allowed - each) + 1, rest + self.rows * each)

    def check_room(self, k: int | None = None) -> int | None:
        """Where a limit was set, it must be enough, for classes of k rows too if that is wanted; what it leaves."""
        table = self.origin.table if self.origin else None
        if table is None or not table.is_limited:
            return None
        if (need := self.memory(k)) > table.room:
            raise NeedsMemory(len(self.weights), k, max(need, self.enough(k)), table.room)
        return table.room - need

    def merge_grains(self) -> "Points":
        """Of grains, the points they are parts of; points stay as they are."""
        if self.sensitive is None:
            return self
        _, first = np.unique(self.sensitive.point, return_index=True)
        weights = np.bincount(self.sensitive.point, weights=self.weights).astype(np.int64)
        mappings, codes = self.mappings[: len(self.axes)], np.ascontiguousarray(self.codes[first])
        return replace(self, mappings=mappings, codes=codes, weights=weights, sensitive=None, made={})

    def eps_error(self, metric: str = "box") -> float:
        """By how much coarse axes can change a radius: up and down where values were moved, otherwise only up."""
        return joint_error(self.moved or [covering_error(axis) for axis in self.axes], metric)

    def widths(self) -> Widths:
        """The axes as the kernels know them, as wide as they are printed."""
        widths = Widths()
        for axis in self.axes:
            axis.add_to(widths)
        return widths

    def metric(self) -> Widths:
        """The axes as eps is measured on them: two values of a set are at distance 1."""
        widths = Widths()
        for axis in self.axes:
            axis.add_metric_to(widths)
        return widths


def cache_on_points(make: Callable[[Points], T]) -> Callable[[Points], T]:
    """Keep what a function makes of points and their axes with the points, unless their axes are long."""

    @wraps(make)
    def keep(points: Points) -> T:
        if sum(axis.size for axis in points.axes) > HELD_CODES:
            return make(points)
        if make not in points.held:
            points.held[make] = make(points)
        return cast(T, points.held[make])

    return keep


def build_points(
    table: Table,
    *,
    labels: Labels = Labels(),  # noqa: B008
    steps: bool = False,
    with_sensitive: bool = False,
    coarse: Coarse = Coarse(),  # noqa: B008
) -> Points:
    """Code every quasi-identifier, then one GROUP BY in the engine; with `steps`, round grids have equal steps.

    Where there would be too many points, axes become coarser until there are not; equal steps are refused.
    """
    if not table.quasi_identifiers:
        raise NoQuasiIdentifier
    most = coarse.limit(table)
    coded = [build_axis(table, column, labels, steps=steps) for column in table.quasi_identifiers]
    axes, mappings = (tuple(part) for part in zip(*coded, strict=True))
    warn_of_text(table, mappings)
    origin = Origin(table, labels, steps, with_sensitive, coarse)
    sample = cache(partial(sample_rows, table, mappings))
    if steps or not exceeds_limit(table, axes, sample, most):
        try:
            return group_points(origin, axes, mappings, most)
        except TooManyPoints:
            if steps:
                raise
    return group_coarsened(origin, axes, mappings, sample(), most)


def build_points_to_cut(table: Table, labels: Labels, *, steps: bool, coarse: Coarse) -> Points:
    """Points with their sensitive values, refused where memory cannot hold classes of k rows too."""
    points = build_points(table, labels=labels, steps=steps, with_sensitive=True, coarse=coarse)
    points.check_room(coarse.k)
    return points


def exceeds_limit(table: Table, axes: Sequence[Axis], sample: Callable[[], Codes], most: int) -> bool:
    """Whether a sample of rows alone has more points than are allowed, so that grouping all is in vain."""
    if min(table.rows, prod(axis.size for axis in axes)) <= most:
        return False
    return count_distinct(point_keys(sample())) > most


def sample_rows(table: Table, mappings: Sequence[Mapping1D]) -> Codes:
    """Codes of rows at equal distances."""
    rows = min(SAMPLE, max(table.room // SAMPLE_ROW_BYTES, 1))
    return table.engine.code_rows(mappings, every=max(table.rows // rows, 1))


def group_coarsened(
    origin: Origin, axes: tuple[Axis, ...], mappings: tuple[Mapping1D, ...], sample: Codes, most: int
) -> Points:
    """Points on axes that are just coarse enough; where the sample promised too much, still coarser ones."""
    coarse, table = origin.coarse, origin.table
    step = find_step(axes, sample, table.rows, most, coarse.k, rounding=coarse.rounding)
    while True:
        report("making axes coarser")
        if coarse.rounding:
            made, moved = (tuple(part) for part in zip(*(round_axis(axis, step) for axis in axes), strict=True))
        else:
            made, moved = tuple(cover(axis, step, coarse.k) for axis in axes), ()
        coded = tuple(replace(mapping, codes=axis.codes) for mapping, axis in zip(mappings, made, strict=True))
        try:
            found = group_points(origin, made, coded, most)
            grains = found.grains and replace(found.grains, step=step, moved=moved)
            return replace(found, grains=grains, step=step, moved=moved)
        except TooManyPoints:
            if step >= WIDEST:
                raise
            step = min(1.5 * step, WIDEST)


def group_points(origin: Origin, axes: tuple[Axis, ...], mappings: tuple[Mapping1D, ...], most: int) -> Points:
    """One GROUP BY, refused where it finds more points than are allowed."""
    if origin.with_sensitive and origin.table.sensitive:
        return build_grains(origin, axes, mappings, most)
    return Points(axes, mappings, *origin.table.engine.group(mappings, most), origin=origin)


def rebuild_without(points: Points, left_out: NDArray[np.int64]) -> Points:
    """The rows of all other points, coded anew: what is left out decides no edge, no domain and no count of values."""
    origin = points.origin
    if origin is None:
        raise BadOption("--suppress", "these points have no table from which rows could be left out.")
    rest = origin.table.without(points.mappings, left_out)
    made = build_points(
        rest, labels=origin.labels, steps=origin.steps, with_sensitive=origin.with_sensitive, coarse=origin.coarse
    )
    rows = points.left_out + int(points.weights[left_out].sum())
    grains = made.grains and replace(made.grains, left_out=rows)
    return replace(made, grains=grains, left_out=rows)


def build_grains(origin: Origin, axes: tuple[Axis, ...], mappings: tuple[Mapping1D, ...], most: int) -> Points:
    """The same GROUP BY with the sensitive columns behind the others; what agrees on the others is one point."""
    table = origin.table
    coded = [encode_sensitive(table, column) for column in table.sensitive]
    check_sensitive(table)
    columns, sensitive_mappings = zip(*coded, strict=True)
    everything = (*mappings, *sensitive_mappings)
    held, rows = table.engine.group(everything, max(most, table.room // (2 * GRAIN_BYTES)))
    codes, values = (np.ascontiguousarray(part) for part in np.hsplit(held, [len(axes)]))
    new = np.r_[True, (np.diff(codes, axis=0) != 0).any(axis=1)][: len(codes)]
    first, point = np.flatnonzero(new), np.cumsum(new) - 1
    if len(first) > most:
        raise TooManyPoints(len(first), most)
    weights = np.add.reduceat(rows, first) if len(rows) else rows
    sensitive = SensitiveValues(columns, values, point)
    grains = Points(axes, everything, codes, rows, sensitive=sensitive, origin=origin)
    return Points(axes, mappings, np.ascontiguousarray(codes[first]), weights, grains, origin=origin)


def check_sensitive(table: Table) -> None:
    """Where a limit was set, it must be enough to count the values of the sensitive columns."""
    distinct = {name: table.facts(name).distinct for name in table.sensitive}
    most = max(distinct, key=distinct.__getitem__)
    need = BASE_BYTES + counting_bytes([*distinct.values()]) + distinct[most] * GRAIN_BYTES
    if table.is_limited and need > table.room:
        raise ManyValues(most, distinct[most], need, table.room)

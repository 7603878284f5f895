"""Points: the distinct rows of a table as tuples of integer codes, with weights.

In: a table.  Out: m code tuples with the number of rows of each, which is all that kernels get.  Where a person may
have several rows, a point belongs to one person, or to people with one row each (people.py).  Where sensitive columns
matter, a point consists of grains: its rows with equal sensitive values.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial, wraps
from math import prod
from typing import Any, NamedTuple, Self, TypeVar, cast
from warnings import warn
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths, distinct_rows
from kech.axes import Axis, Codes, LineAxis, build_line_axis, build_rank_axis, build_tree_axis
from kech.axes.coarsening import count_distinct, cover, covering_error, find_step, joint_error, point_keys, round_axis
from kech.axes.grid import read_date
from kech.axes.hierarchy import (
    build_prefix_tree,
    find_hierarchies,
    read_hierarchy,
    star_tree,
)
from kech.axes.ranks import add_pairs, is_set
from kech.axes.spelling import Hint, encode_spellings, have_code_form, hint_at_writing, looks_like_codes
from kech.errors import (
    BadHierarchy,
    BadOption,
    DoubtfulColumn,
    GoalNotMet,
    ManyValues,
    NeedsMemory,
    NoQuasiIdentifier,
    TooFewPeople,
    TooFewRows,
    TooManyPoints,
)
from kech.points.people import (
    ALONE,
    Persons,
    ValueHolders,
    count_holders_of_values,
    count_people,
    draw_numbers,
    draw_person_numbers,
    encode_people,
    order_pairs,
)
from kech.request import FIELDS, AxisChoice, Cut, Labels
from kech.system.console import report
from kech.system.memory import (
    BASE_BYTES,
    ENGINE_POINT_BYTES,
    GRAIN_BYTES,
    SAMPLE_ROW_BYTES,
    counting_bytes,
    further_partitions_bytes,
    point_bytes,
    working_bytes,
)
from kech.system.secret import OwnerSecret
from kech.tables.sql import ColumnCodes
from kech.tables.table import Table

T = TypeVar("T")

WIDEST = 2.0  # step with which all values are joined, or moved by up to 1
MOST_CACHED_CODES = 10_000  # of all axes; larger results, at many k, would fill memory
SAMPLE = 500_000  # rows from which the step of coarse axes is found
MOST_CHECKED = 100_000  # distinct values of a column of text
FEW_ROWS = 3  # fewer rows beyond a domain are not counted at any k


@dataclass(frozen=True, slots=True)
class PointLimit:
    """How many points are allowed, and how axes are coarsened where there are more."""

    max_points: int | None = None  # None: as many as memory allows
    k: int = 1  # the smallest of the request
    rounding: bool = False  # move values to the middle of their cells; otherwise cells are printed as a whole
    further_ks: tuple[int, ...] = ()  # k whose partitions are in memory together with that of the smallest
    for_release: bool = False  # points are only cut for one k and published
    step: float | None = None  # coarsen to this step (0: not at all), regardless of memory

    def limit(self, table: Table) -> int:
        """The number of allowed points; with --memory, at least as many as fit beside the rest of a release."""
        FIELDS["max_points"].check(self.max_points)
        if self.step is not None:
            return table.rows
        if self.max_points is not None:
            return self.max_points
        allowed, fitting = table.allowed_bytes, 0
        if self.for_release and table.is_limited:
            distinct = [table.facts(name).distinct for name in (*table.person, *table.sensitive)]
            each = point_bytes(len(table.quasi_identifiers))
            fitting = (allowed - working_bytes(0, table.rows, table.rows // max(self.k, 1), distinct)) // each
        return max(allowed // self.bytes_per_point(table), fitting, 1)

    def bytes_per_point(self, table: Table) -> int:
        """Bytes of memory for a point; with --memory also for its entries in the partitions of further k."""
        other_bytes = further_partitions_bytes(1, [1] * len(self.further_ks))
        return ENGINE_POINT_BYTES + (other_bytes if table.is_limited else 0)


@dataclass(frozen=True, slots=True)
class Origin:
    """The arguments with which points were built, to build them again without some rows."""

    table: Table
    labels: Labels
    by_level: bool
    with_sensitive: bool
    point_limit: "PointLimit"
    people: tuple[ColumnCodes, ...] = ()  # codes of the person columns, where a person has several rows
    histories: bool = False  # whether people with one row have a number too
    weights: Mapping[str, float] = field(default_factory=dict)  # of columns in the loss


@dataclass(frozen=True, slots=True)
class SensitiveColumn:
    """A sensitive column; its values are coded in their order, a missing one first."""

    column: str
    kind: str  # number, date, ordered or text
    order: tuple[str, ...] = ()  # of a column of kind ordered

    @property
    def ordered(self) -> bool:
        """Whether its values have an order, and so a distance on a line."""
        return self.kind != "text"


@dataclass(frozen=True, eq=False, repr=False)
class SensitiveValues:
    """The codes of the sensitive columns for each grain."""

    columns: tuple[SensitiveColumn, ...]
    codes: Codes  # grains x columns


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """m distinct points: codes (m x d) and weights, the number of rows of each.

    Where a person has several rows, codes repeat: a point has the rows of one person, or of all people who are ALONE.
    `grains` are the same rows, divided further by person and sensitive values.
    """

    axes: tuple[Axis, ...]
    mappings: tuple[ColumnCodes, ...]
    codes: Codes
    weights: NDArray[np.int64]
    grains: "Points | None" = None
    sensitive: SensitiveValues | None = None  # of grains
    part_of: NDArray[np.int64] | None = None  # of grains: the point of each
    person: Persons | None = None  # of each point; None where every row is another person
    origin: Origin | None = None
    left_out: int = 0  # rows of the table that are in no point
    step: float = 0.0  # the step to which axes were coarsened
    moved: tuple[float, ...] = ()  # the error of each axis, where values were moved to the middle of their cells
    results: dict[str, Any] = field(default_factory=dict)  # cached for these codes and weights: `compute_once`
    axis_results: dict[Any, Any] = field(default_factory=dict, init=False)  # cached for these axes: `cache_on_points`

    def compute_once(self, name: str, make: Callable[[Codes, NDArray[np.int64]], T]) -> T:
        """The cached result of a function of codes and weights; it does not depend on the axes."""
        cached = self.results.get(name)
        if cached is None or cached[0] is not self.codes or cached[1] is not self.weights:
            cached = self.results[name] = self.codes, self.weights, make(self.codes, self.weights)
        return cast(T, cached[2])

    def __getstate__(self) -> dict[str, Any]:
        """The fields to pickle, without cached results."""
        return {**self.__dict__, "results": {}, "axis_results": {}}

    @property
    def secret(self) -> OwnerSecret | None:
        """The secret from which labels are drawn; None for points without a table."""
        return self.origin.table.secret if self.origin else None

    @property
    def rows(self) -> int:
        """Rows of all points."""
        return int(self.weights.sum())

    @property
    def people(self) -> int:
        """Number of different people; of rows where every row is another person."""
        if self.person is None:
            return self.rows
        several = self.person != ALONE
        return int(self.weights[~several].sum()) + int(np.count_nonzero(np.bincount(self.person[several])))

    @property
    def most_rows(self) -> int:
        """The largest number of rows of one person."""
        if self.person is None:
            return 1
        several = self.person != ALONE
        return int(np.bincount(self.person[several], self.weights[several]).max(initial=1))

    def count_people(self, group: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of different people of each class, from the class of each point; of rows where rows are people."""
        classes = int(group.max(initial=-1)) + 1
        if self.person is None:
            return np.bincount(group, self.weights, classes).astype(np.int64)
        return count_people(group, self.person, self.weights, classes)

    @property
    def counted(self) -> str:
        """What k counts: people, or rows where every row is another person."""
        return "rows" if self.person is None else "people"

    def describe_rows(self) -> str:
        """The number of rows as text, with that of people where k counts people."""
        whose = "1 person" if self.people == 1 else f"{self.people:,} people"
        return f"{self.rows:,} rows" + (f" of {whose}" if self.person is not None else "")

    def refuse_k(self, k: int) -> GoalNotMet:
        """The refusal of a k that is larger than the number of rows or people."""
        return TooFewRows(self.rows, k) if self.person is None else TooFewPeople(self.people, k)

    def suppression_limit(self, suppress: float) -> int:
        """The number of rows that may be suppressed, from their share."""
        FIELDS["suppress"].check(suppress)
        return min(int(suppress * self.rows + 1e-9), self.rows - 1)

    def check_has_rows(self) -> None:
        """Refuse the points of a table without rows."""
        if not self.rows:
            raise TooFewRows(0, 1)

    def published_at(self, k: int) -> Self:
        """The same points on the axes as they may be published at k; the same object while it is in use."""
        points_at = self.axis_results.setdefault("at", WeakValueDictionary())
        published = points_at.get(k)
        if published is None:
            published = points_at[k] = replace(self, axes=tuple(axis.at(k) for axis in self.axes))
            published.axis_results["at"] = points_at
        return cast(Self, published)

    @property
    def further_ks(self) -> tuple[int, ...]:
        """The other k of the request, beside the smallest."""
        return self.origin.point_limit.further_ks if self.origin else ()

    def needed_memory(self, k: int | None = None) -> int:
        """Bytes of --memory needed to cut the points into classes of k rows and to publish; without k, for points only.

        The partitions of further k are included.
        """
        points, grains = len(self.weights), len(self.grains.weights) if self.grains is not None else 0
        classes = self.most_classes(max(k, 1)) if k is not None else 0
        other_bytes = further_partitions_bytes(
            points, [min(points, self.most_classes(other)) for other in self.further_ks]
        )
        own_bytes = points * point_bytes(len(self.axes))
        return working_bytes(own_bytes, grains, classes, self.distinct_values) + other_bytes

    @property
    def distinct_values(self) -> list[int]:
        """Distinct values of each person column and sensitive column."""
        mappings = self.grains.mappings[len(self.axes) :] if self.grains is not None else ()
        return [len(mapping.values) for mapping in mappings]

    def most_classes(self, k: int) -> int:
        """An upper bound of the number of classes of k rows; a point counts with at most 3 k rows."""
        return int(np.minimum(self.weights, 3 * k).sum()) // k

    def sufficient_memory(self, k: int | None = None) -> int:
        """The --memory to recommend: more than `needed_memory` where axes are coarse, as fine ones have more points."""
        if not self.step or self.origin is None or self.origin.point_limit.max_points is not None:
            return self.needed_memory(k)
        grains = self.rows if self.grains is not None else 0
        classes = self.rows // max(k, 1) if k is not None else 0
        rest = working_bytes(0, grains, classes, self.distinct_values)
        rest += further_partitions_bytes(0, [self.rows // other for other in self.further_ks])
        each = point_bytes(len(self.axes)) + further_partitions_bytes(1, [0] * len(self.further_ks))
        allowed = self.origin.point_limit.bytes_per_point(self.origin.table)
        return min(rest * allowed // (allowed - each) + 1, rest + self.rows * each)

    def check_memory_limit(self, k: int | None = None) -> int | None:
        """The bytes of --memory that remain, None without a limit; refused where points or classes of k exceed it."""
        table = self.origin.table if self.origin else None
        if table is None or not table.is_limited:
            return None
        if (need := self.needed_memory(k)) > table.allowed_bytes:
            raise NeedsMemory(len(self.weights), k, max(need, self.sufficient_memory(k)), table.allowed_bytes)
        return table.allowed_bytes - need

    def merge_grains(self) -> "Points":
        """The points of these grains; points themselves stay unchanged."""
        if self.part_of is None:
            return self
        _, first = np.unique(self.part_of, return_index=True)
        weights = np.bincount(self.part_of, weights=self.weights).astype(np.int64)
        mappings, codes = self.mappings[: len(self.axes)], np.ascontiguousarray(self.codes[first])
        person = None if self.person is None else self.person[first]
        merged = Points(self.axes, mappings, codes, weights, person=person, origin=self.origin)
        return replace(merged, left_out=self.left_out, step=self.step, moved=self.moved)

    def merge_people(self) -> tuple["Points", NDArray[np.int64]]:
        """The points without people: distinct code tuples; and for each point of these the index of its tuple."""
        if self.person is None:
            return self, np.arange(len(self.weights))
        first, point_of_row = distinct_rows(self.codes.astype(np.int64))
        weights = np.bincount(point_of_row, self.weights, len(first)).astype(np.int64)
        codes = np.ascontiguousarray(self.codes[first])
        return replace(self, codes=codes, weights=weights, grains=None, person=None, results={}), point_of_row

    def eps_error(self, metric: str = "box") -> float:
        """The most by which coarse axes change a radius: up or down where values were moved, otherwise only up."""
        return joint_error(self.moved or [covering_error(axis) for axis in self.axes], metric)

    def widths(self) -> Widths:
        """The widths of the labels on all axes, for the kernels, with the weights of columns."""
        widths = Widths()
        for axis in self.axes:
            axis.add_to(widths)
        return self._weigh(widths)

    def pair_widths(self) -> Widths:
        """The widths of labels around two points on all axes: a label around more points is no narrower."""
        widths = Widths()
        for axis in self.axes:
            add_pairs(axis, widths) if is_set(axis) else axis.add_to(widths)
        return self._weigh(widths)

    def _weigh(self, widths: Widths) -> Widths:
        for j, weight in enumerate(self.column_weights.tolist()):
            if weight != 1:
                widths.weigh(j, weight)
        return widths

    @property
    def column_weights(self) -> NDArray[np.float64]:
        """The weight of each column in the loss; the mean is 1, so that the largest loss is 1."""
        chosen = self.origin.weights if self.origin else {}
        weights = np.array([chosen.get(axis.column, 1.0) for axis in self.axes])
        return np.asarray(weights * len(weights) / weights.sum())

    def metric(self) -> Widths:
        """The metric of all axes, for the kernels: the widths by which eps is measured."""
        widths = Widths()
        for axis in self.axes:
            axis.add_metric_to(widths)
        return widths


def join_equal(points: Points, chosen: NDArray[np.int64], columns: Sequence[int], rows: NDArray[np.int64]) -> Points:
    """The chosen points on some of the axes, with `rows` rows each; equal ones of one person are joined."""
    codes = points.codes[chosen][:, columns]
    who = np.zeros(len(chosen), np.int64) if points.person is None else points.person[chosen]
    first, point_of_row = distinct_rows(np.ascontiguousarray(np.column_stack([codes.astype(np.int64), who])))
    return replace(
        points,
        axes=tuple(points.axes[j] for j in columns),
        mappings=(),
        codes=np.ascontiguousarray(codes[first]),
        weights=np.bincount(point_of_row, rows, len(first)).astype(np.int64),
        grains=None,
        person=None if points.person is None else np.ascontiguousarray(points.person[chosen][first]),
        results={},
    )


def cache_on_points(make: Callable[[Points], T]) -> Callable[[Points], T]:
    """Decorator: cache the result of a function of points on the points, unless their axes have many codes."""

    @wraps(make)
    def look_up(points: Points) -> T:
        if sum(axis.size for axis in points.axes) > MOST_CACHED_CODES:
            return make(points)
        if make not in points.axis_results:
            points.axis_results[make] = make(points)
        return cast(T, points.axis_results[make])

    return look_up


def build_points(
    table: Table,
    *,
    labels: Labels = Labels(),  # noqa: B008
    by_level: bool = False,
    with_sensitive: bool = False,
    point_limit: PointLimit = PointLimit(),  # noqa: B008
    histories: bool = False,
    weights: Mapping[str, float] | None = None,
) -> Points:
    """The points of a table: codes of every quasi-identifier, grouped in the engine.

    With too many points the axes are coarsened; with `by_level`, where round grids have equal steps, they are refused.
    With `histories` every point belongs to one person with a number.
    """
    if not table.quasi_identifiers:
        raise NoQuasiIdentifier
    most, people = point_limit.limit(table), encode_people(table, histories=histories)
    axes, mappings = build_axes(table, labels, people, by_level=by_level)
    warn_of_columns(table, mappings, point_limit.k)
    origin = Origin(table, labels, by_level, with_sensitive, point_limit, people, histories, weights or {})
    if no_loss := [name for name in origin.weights if name not in table.quasi_identifiers]:
        raise BadOption("--weights", f"{no_loss[0]!r} is no quasi-identifier, so it has no loss. Omit it.")
    sample = cache(partial(sample_rows, table, mappings))
    if not point_limit.step and (by_level or not exceeds_limit(table, axes, sample, most)):
        try:
            return group_points(origin, axes, mappings, most)
        except TooManyPoints:
            if by_level:
                raise
    step = point_limit.step or find_step(axes, sample(), table.rows, most, point_limit.k, rounding=point_limit.rounding)
    return group_coarsened(origin, axes, mappings, step, most)


def build_points_to_cut(
    table: Table,
    labels: Labels,
    cut: Cut,
    *,
    point_limit: PointLimit,
    histories: bool = False,
) -> Points:
    """Points with grains for a cut; refused where k is too large, or where classes of k rows exceed --memory."""
    points = build_points(
        table,
        labels=labels,
        by_level=cut.by_level,
        with_sensitive=True,
        point_limit=point_limit,
        histories=histories,
        weights=cut.weights,
    )
    if points.people < point_limit.k:
        raise points.refuse_k(point_limit.k)
    points.check_memory_limit(point_limit.k)
    return points


def exceeds_limit(table: Table, axes: Sequence[Axis], sample: Callable[[], Codes], most: int) -> bool:
    """Whether a sample of the rows already has more points than are allowed."""
    if min(table.rows, prod(axis.size for axis in axes)) <= most:
        return False
    return count_distinct(point_keys(sample())) > most


def sample_rows(table: Table, mappings: Sequence[ColumnCodes]) -> Codes:
    """The codes of a sample: every n-th row."""
    rows = min(SAMPLE, max(table.allowed_bytes // SAMPLE_ROW_BYTES, 1))
    return table.engine.code_rows(mappings, every=max(table.rows // rows, 1))


def group_coarsened(
    origin: Origin, axes: tuple[Axis, ...], mappings: tuple[ColumnCodes, ...], step: float, most: int
) -> Points:
    """Points on axes coarsened to a step, which is increased while there are too many points."""
    point_limit = origin.point_limit
    while True:
        report("making axes coarser")
        if point_limit.rounding:
            coarsened, moved = (tuple(part) for part in zip(*(round_axis(axis, step) for axis in axes), strict=True))
        else:
            coarsened, moved = tuple(cover(axis, step, point_limit.k) for axis in axes), ()
        coded = tuple(replace(mapping, codes=axis.codes) for mapping, axis in zip(mappings, coarsened, strict=True))
        try:
            points = group_points(origin, coarsened, coded, most)
            grains = points.grains and replace(points.grains, step=step, moved=moved)
            return replace(points, grains=grains, step=step, moved=moved)
        except TooManyPoints:
            if step >= WIDEST:
                raise
            step = min(1.5 * step, WIDEST)


def group_points(origin: Origin, axes: tuple[Axis, ...], mappings: tuple[ColumnCodes, ...], most: int) -> Points:
    """The points of these axes by one GROUP BY; refused where there are more than allowed."""
    if origin.people or (origin.with_sensitive and origin.table.sensitive):
        return build_grains(origin, axes, mappings, most)
    return Points(axes, mappings, *origin.table.engine.group(mappings, most), origin=origin)


def rebuild_without(points: Points, left_out: NDArray[np.int64]) -> Points:
    """The points without some of them, on newly built axes: rows left out affect no edge, domain or count."""
    origin = points.origin
    assert origin is not None
    rest = origin.table.without(*find_rows(points, left_out))
    return rebuild_from(rest, origin, points.left_out + int(points.weights[left_out].sum()))


def rebuild_shortened(points: Points, kept: NDArray[np.int64], key: bytes) -> Points:
    """The points with `kept` rows each, chosen by a hash under the key, on newly built axes."""
    origin, grains = points.origin, points.grains
    assert origin is not None and grains is not None and grains.part_of is not None
    first = np.flatnonzero(np.r_[True, np.diff(grains.part_of) != 0])  # grain of each point, as the engine orders them
    mappings = grains.mappings[: len(points.axes) + len(origin.people)]
    rest = origin.table.shorten(mappings, kept[grains.part_of[first]], key)
    return rebuild_from(rest, origin, points.left_out + int(points.weights.sum() - kept.sum()))


def rebuild_from(rest: Table, origin: Origin, left_out: int) -> Points:
    """The points of a table from which `left_out` rows were removed, built as the original ones."""
    points = build_points(
        rest,
        labels=origin.labels,
        by_level=origin.by_level,
        with_sensitive=origin.with_sensitive,
        point_limit=origin.point_limit,
        histories=origin.histories,
        weights=origin.weights,
    )
    grains = points.grains and replace(points.grains, left_out=left_out)
    return replace(points, grains=grains, left_out=left_out)


def find_rows(points: Points, chosen: NDArray[np.int64]) -> tuple[tuple[ColumnCodes, ...], NDArray[np.int64]]:
    """The mappings of the engine's points, and the numbers there of the chosen points."""
    if points.person is None or points.grains is None or points.grains.part_of is None:
        return points.mappings, chosen
    return points.grains.mappings, np.flatnonzero(np.isin(points.grains.part_of, chosen))


def build_grains(origin: Origin, axes: tuple[Axis, ...], mappings: tuple[ColumnCodes, ...], most: int) -> Points:
    """The points of these axes with their grains, by one GROUP BY over axes, people and sensitive columns."""
    table = origin.table
    columns, sensitive = encode_all_sensitive(table) if origin.with_sensitive else ((), ())
    everything = (*mappings, *origin.people, *sensitive)
    grouped_codes, rows = table.engine.group(everything, max(most, table.allowed_bytes // (2 * GRAIN_BYTES)))
    parts = np.hsplit(grouped_codes, [len(axes), len(axes) + len(origin.people)])
    codes, who, values = (np.ascontiguousarray(part) for part in parts)
    key = table.secret.derive("people") if origin.people else b""
    person = draw_person_numbers(who, rows, key, histories=origin.histories) if origin.people else None
    first, point = number_points(codes, person)
    if len(first) > most:
        raise TooManyPoints(len(first), most, len(first) * ENGINE_POINT_BYTES)
    weights = np.bincount(point, rows, len(first)).astype(np.int64)
    grains = Points(
        axes,
        everything,
        codes,
        rows,
        sensitive=SensitiveValues(columns, values) if columns else None,
        part_of=point,
        person=person,
        origin=origin,
    )
    whose = None if person is None else person[first]
    return Points(axes, mappings, np.ascontiguousarray(codes[first]), weights, grains, person=whose, origin=origin)


def number_points(codes: Codes, person: Persons | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first grain of each point, and the point of each grain; the codes of grains ascend."""
    run = number_runs(codes)
    if person is None:
        return np.flatnonzero(np.diff(run, prepend=-1)), run
    order = order_pairs(run, person)
    new = np.r_[True, (np.diff(run[order]) != 0) | (np.diff(person[order]) != 0)][: len(codes)]
    point = np.empty(len(codes), np.int64)
    point[order] = np.cumsum(new) - 1
    return order[new], point


def number_runs(codes: NDArray[Any]) -> NDArray[np.int64]:
    """The number of the run of equal neighbours that each tuple belongs to."""
    new = np.zeros(len(codes), bool)
    for column in codes.T:
        new[1:] |= column[1:] != column[:-1]
    return np.cumsum(new)


def order_grains(grains: Points, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """The chosen grains, ordered by point, then by sensitive values, then at random under the owner's secret."""
    assert grains.part_of is not None and grains.secret is not None
    values = grains.sensitive.codes[chosen].T[::-1] if grains.sensitive else ()
    drawn = draw_numbers(chosen, grains.secret.derive("people"))
    return chosen[np.lexsort((drawn, *values, grains.part_of[chosen]))]


def encode_all_sensitive(table: Table) -> tuple[tuple[SensitiveColumn, ...], tuple[ColumnCodes, ...]]:
    """The sensitive columns and their codes."""
    if not table.sensitive:
        return (), ()
    coded = [encode_sensitive(table, column) for column in table.sensitive]
    check_sensitive(table)
    columns, mappings = zip(*coded, strict=True)
    return columns, mappings


def check_sensitive(table: Table) -> None:
    """Refuse sensitive columns whose distinct values exceed --memory."""
    distinct = {name: table.facts(name).distinct for name in table.sensitive}
    most = max(distinct, key=distinct.__getitem__)
    need = BASE_BYTES + counting_bytes([*distinct.values()]) + distinct[most] * GRAIN_BYTES
    if table.is_limited and need > table.allowed_bytes:
        raise ManyValues(most, distinct[most], need, table.allowed_bytes)


# -- axes and codes from the values of a column --------------------------------------------------------------


def build_axes(
    table: Table, labels: Labels, people: Sequence[ColumnCodes], *, by_level: bool
) -> tuple[tuple[Axis, ...], tuple[ColumnCodes, ...]]:
    """The axis of each quasi-identifier, and the mapping of its values to codes."""
    numbered = [read_values(table, column) for column in table.quasi_identifiers]
    codings, by_rows = zip(*numbered, strict=True)
    holders = count_holders_of_values(table, people, codings) if people else by_rows
    coded = [
        code_values(table, values, counts, labels, by_level=by_level)
        for values, counts in zip(codings, holders, strict=True)
    ]
    axes, mappings = zip(*coded, strict=True)
    return axes, mappings


def build_axis(table: Table, column: str, labels: Labels, *, by_level: bool = False) -> Axis:
    """The axis of one column by itself, where rows are people."""
    return code_values(table, *read_values(table, column), labels, by_level=by_level)[0]


def read_values(table: Table, column: str) -> tuple[ColumnCodes, ValueHolders]:
    """The distinct values of a column, each with its index as code and NULL behind them, and the rows of each."""
    kind = "text" if find_hierarchy(table, column) is not None else table.kind(column)
    values, rows = table.values(column, kind)
    coding = ColumnCodes(table.index(column), kind, values, np.arange(len(values), dtype=np.int32), len(values))
    return coding, ValueHolders(rows, rows, int(table.facts(column).nulls))


def code_values(
    table: Table, values: ColumnCodes, holders: ValueHolders, labels: Labels, *, by_level: bool
) -> tuple[Axis, ColumnCodes]:
    """The axis of one column, and the mapping of its values to codes.

    Holders decide what is rare and where edges may lie.
    """
    column, kind = table.columns[values.column], values.kind
    choice, has_null = table.choice(column), table.facts(column).nulls > 0
    grid, protect = labels.for_axis(choice)
    grid, protect = ("levels" if grid == "round" else grid, "none") if by_level else (grid, protect)
    domain = None if choice.domain is None else read_domain(column, kind, choice.domain)
    if kind == "text":
        texts, hierarchy = TextCounts(values.values, *holders, has_null), find_hierarchy(table, column)
        axis = build_text_axis(column, texts, choice, hierarchy, is_padded=protect == "full")
    else:
        how: dict[str, Any] = {"is_date": kind == "date", "grid": grid, "protect": protect, "domain": domain}
        axis = build_line_axis(column, values.values, holders.assigned, has_null, **how)
    return axis, replace(values, codes=axis.codes, null=max(axis.null, 0))


def read_domain(column: str, kind: str, ends: tuple[Any, Any]) -> tuple[float, float]:
    """The domain that the user gave, of dates in seconds since 1970; refused for a column of another kind."""
    if kind == "text":
        reason = f"column {column!r} is no number or date, so it has no domain. Omit it, or say --axis {column}=number."
        raise BadOption("--domain", reason)
    if (kind == "date") != isinstance(ends[0], str):
        raise BadOption("--domain", f"column {column!r} is a {kind}, and its domain is not. Write two {kind}s.")
    low, high = map(read_date, ends) if kind == "date" else ends
    return low, high


def encode_anew(table: Table, axis: Axis) -> ColumnCodes:
    """The codes of the values of this table on an axis of another table; -1 for a value that is not on it."""
    kind = "text" if not isinstance(axis, LineAxis) else "date" if axis.is_date else "number"
    values, _ = table.values(axis.column, kind)
    return ColumnCodes(table.index(axis.column), kind, values, axis.encode(values), axis.null)


def find_hierarchy(table: Table, column: str) -> Any:
    """The user's hierarchy of a column, or None."""
    own = table.choice(column).hierarchy
    if own is not None or table.hierarchies is None:
        return own
    return find_hierarchies(table.hierarchies, table.columns).get(column)


class TextCounts(NamedTuple):
    """The distinct texts of a column, and how many rows or people have each."""

    values: Sequence[str]
    holders: NDArray[np.int64]  # different people with this text
    counts: NDArray[np.int64]  # people assigned to this text, each to one only, so that sums count nobody twice
    nulls: int
    has_null: bool


def build_text_axis(column: str, texts: TextCounts, choice: AxisChoice, hierarchy: Any, *, is_padded: bool) -> Axis:
    """The axis of a column of text: the user's hierarchy or order, prefixes for codes, otherwise a set."""
    values, holders, counts, nulls, has_null = texts
    if hierarchy is not None:
        tree = read_hierarchy(hierarchy, column=column)
        return build_tree_axis(column, values, tree, has_null, rows=counts, nulls=nulls)
    if choice.kind == "ordered":
        check_in_order(column, values, set(choice.order))
        holders_of = dict(zip(values, holders.tolist(), strict=True))
        rows = np.array([holders_of.get(value, 0) for value in choice.order], np.int64)
        return build_rank_axis(column, values, choice.order, has_null, is_ordered=True, is_padded=is_padded, rows=rows)
    if choice.kind == "hierarchy" and values and not have_code_form(set(values)):
        raise BadOption("--axis", f"column {column!r} has no hierarchy. Name its file, or choose set.")
    if choice.kind in ("star", "hierarchy") or (looks_like_codes(values) and choice.kind != "set"):
        tree = star_tree(values) if choice.kind == "star" else build_prefix_tree(values)
        return build_tree_axis(column, values, tree, has_null, is_public=False, rows=counts, nulls=nulls)
    commonest = np.argsort(-holders, kind="stable")
    order, rows = [values[i] for i in commonest], holders[commonest].astype(np.int64)
    return build_rank_axis(column, values, order, has_null, is_ordered=False, is_padded=is_padded, rows=rows)


def warn_of_columns(table: Table, mappings: Sequence[ColumnCodes], k: int) -> None:
    """Warn of columns of text that look like dates or numbers, where the user chose no axis.

    Of numbers and dates warn where values lie beyond a given domain, if they are cut into classes.
    """
    for mapping in mappings:
        column, hint = table.columns[mapping.column], None
        choice = table.choice(column)
        chosen = choice.kind is not None or column in table.kinds or find_hierarchy(table, column) is not None
        if mapping.kind == "text" and not chosen:
            hint = hint_at_writing([value.strip() for value in mapping.values[:MOST_CHECKED]])
        elif choice.domain is not None and k > 1:
            hint = hint_at_domain(table, column, k)
        if hint is not None:
            warn(DoubtfulColumn(column, hint.says), stacklevel=2)


def hint_at_domain(table: Table, column: str, k: int) -> Hint | None:
    """A hint at rows beyond the given domain of a column; fewer than k are not counted."""
    kind = table.kind(column)
    values, rows = table.values(column, kind)
    low, high = read_domain(column, kind, table.choice(column).domain)
    beyond = int(rows[(values < low) | (values > high)].sum())
    if not beyond:
        return None
    few = max(k, FEW_ROWS)
    count = f"fewer than {few}" if beyond < few else f"{beyond:,}"
    return Hint(
        f"{count} rows lie beyond its domain, and are measured as lying at its end, in open labels. "
        "Name a wider one (--domain)."
    )


def encode_sensitive(table: Table, column: str) -> tuple[SensitiveColumn, ColumnCodes]:
    """The codes of a sensitive column, in the order of its values; NULL and empty text have code 0.

    Texts with equal forms have one code: `hiv`, `HIV` and ` hiv `.
    """
    choice = table.choice(column)
    kind = "ordered" if choice.kind == "ordered" else table.sensitive_kind(column)
    read = "text" if kind == "ordered" else kind
    values, _ = table.values(column, read)
    if kind == "text":
        codes = encode_spellings(values)
    elif kind == "ordered":
        codes = encode_by_order(column, values, choice.order)
    else:
        codes = np.arange(1, len(values) + 1, dtype=np.int32)
    return SensitiveColumn(column, kind, choice.order), ColumnCodes(table.index(column), read, values, codes, 0)


def encode_by_order(column: str, values: Sequence[str], order: Sequence[str]) -> NDArray[np.int32]:
    """The code of each value: its position in the user's order, from 1; 0 for empty text."""
    check_in_order(column, values, {*order, ""})
    index_of = {text: i for i, text in enumerate(order, 1)} | {"": 0}
    return np.array([index_of[value] for value in values], np.int32)


def check_in_order(column: str, values: Sequence[str], order: set[str]) -> None:
    """Refuse a user's order that lacks a value of its column."""
    if unknown := len(set(values) - order):
        reason = f"{unknown:,} values of the column are missing from it. Add each of them where it belongs."
        raise BadHierarchy(f"order of {column}", None, reason)

"""Points: the weighted distinct rows of a table, as integer codes.

In: a table.  Out: m code tuples with the number of rows of each; kernels never see more.  Where sensitive columns
matter, a point consists of grains: its rows told apart by their sensitive values too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from math import prod
from typing import Any, Self, TypeVar, cast
from warnings import warn
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths
from kech.axes import HIDING, Axis, Codes, LineAxis, build_line_axis, build_rank_axis, build_tree_axis
from kech.axes.coarsening import count_distinct, cover, covering_error, fitting_step, joint_error, point_keys, rounded
from kech.axes.hierarchy import build_prefix_tree, find_hierarchy, looks_like_codes, read_hierarchy, star_tree
from kech.axes.hints import hint_at_writing
from kech.axes.spelling import fold
from kech.errors import (
    BadHierarchy,
    BadOption,
    DoubtfulColumn,
    ManyValues,
    NeedsMemory,
    NoQuasiIdentifier,
    TooManyPoints,
)
from kech.system.memory import BASE_BYTES
from kech.system.progress import report
from kech.system.secret import OwnerSecret
from kech.tables.sql import Mapping1D
from kech.tables.table import AxisChoice, Table

T = TypeVar("T")

POINT_BYTES, GRAIN_BYTES, CLASS_BYTES = 1000, 150, 700  # what a release was seen to take
VALUE_BYTES, FIGURE_BYTES = 200, 250  # of a sensitive value, and more of it while its column is looked at
HELD_BYTES, BOX_BYTES = 80, 320  # of a point, and of a class, in each of several partitions
MOST_LOOKED_AT = 100_000  # distinct values of a column of text
WIDEST = 2.0  # of a step: whatever can be joined, or moved half as far, is one
HELD_CODES = 10_000  # of all axes; what is made of more would fill memory where there are many k
SAMPLE, SAMPLE_BYTES = 500_000, 3000  # rows that tell how coarse axes must be, and what they may take each


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
        held = (HELD_BYTES + BOX_BYTES) * len(self.others)
        return TooManyPoints.each + (held if table.is_limited else 0)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where points come from: with it they can be made again without some rows."""

    table: Table
    grid: str | float
    steps: bool
    with_secrets: bool
    coarse: "Coarse"


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """m distinct points: codes (m x d) and weights in rows."""

    axes: tuple[Axis, ...]
    mappings: tuple[Mapping1D, ...]
    codes: Codes
    weights: NDArray[np.int64]
    grains: "Grains | None" = None
    origin: Origin | None = None
    left_out: int = 0  # rows of the table that are in no point
    step: float = 0.0  # axes were coarsened to cells no wider than this
    moved: tuple[float, ...] = ()  # where values were moved to the middle of their cells: the error of each axis
    made: dict[str, Any] = field(default_factory=dict)  # of these codes and weights, whatever the axes; see `once`
    held: dict[str, Any] = field(default_factory=dict, init=False)  # of these axes; see `hold`

    def once(self, name: str, make: Callable[[Codes, NDArray[np.int64]], T]) -> T:
        """What is made of codes and weights alone, made once for all axes these points are looked at on."""
        held = self.made.get(name)
        if held is None or held[0] is not self.codes or held[1] is not self.weights:
            held = self.made[name] = self.codes, self.weights, make(self.codes, self.weights)
        return cast(T, held[2])

    def hold(self, name: str, make: Callable[["Points"], T]) -> T:
        """What is made of the axes as they are, made once unless they are long."""
        if sum(axis.size for axis in self.axes) > HELD_CODES:
            return make(self)
        if name not in self.held:
            self.held[name] = make(self)
        return cast(T, self.held[name])

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
        worked_on = points * POINT_BYTES + grains * GRAIN_BYTES + classes * CLASS_BYTES + self.counting_bytes
        held = sum(points * HELD_BYTES + min(points, self.most_classes(other)) * BOX_BYTES for other in self.others)
        return BASE_BYTES + worked_on + held  # 1.3 times the limit may be taken, 0.3 of it by the engine

    @property
    def counting_bytes(self) -> int:
        """Bytes that it takes to count the sensitive values of the written file."""
        mappings = self.grains.mappings[len(self.axes) :] if self.grains is not None else ()
        return counting_bytes([len(mapping.values) for mapping in mappings])

    def most_classes(self, k: int) -> int:
        """Into how many classes of k rows a cut parts the points: one has no more than k rows to give on both sides."""
        return int(np.minimum(self.weights, 3 * k).sum()) // k

    def enough(self, k: int | None = None) -> int:
        """The same where axes are coarse for want of memory: with more of it there are more points, and grains."""
        if not self.step or self.origin is None or self.origin.coarse.most is not None:
            return self.memory(k)
        grains = self.rows * GRAIN_BYTES if self.grains is not None else 0
        classes = self.rows // max(k, 1) * CLASS_BYTES if k is not None else 0
        rest = BASE_BYTES + grains + classes + self.counting_bytes
        rest += sum(self.rows // other * BOX_BYTES for other in self.others)
        each, allowed = POINT_BYTES + HELD_BYTES * len(self.others), self.origin.coarse.each(self.origin.table)
        return min(rest * allowed // (allowed - each) + 1, rest + self.rows * each)

    def check_room(self, k: int | None = None) -> int | None:
        """Where a limit was set, it must be enough, for classes of k rows too if that is wanted; what it leaves."""
        table = self.origin.table if self.origin else None
        if table is None or not table.is_limited:
            return None
        if (need := self.memory(k)) > table.room:
            raise NeedsMemory(len(self.weights), k, max(need, self.enough(k)), table.room)
        return table.room - need

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


@dataclass(frozen=True, slots=True)
class Secret:
    """A sensitive column: its values are coded in their order, what is missing first."""

    column: str
    kind: str  # number, date, ordinal or text
    order: tuple[str, ...] = ()  # of an ordinal

    @property
    def ordered(self) -> bool:
        """Whether values have a distance along a line."""
        return self.kind != "text"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Grains(Points):
    """Points told apart by their sensitive values too: codes repeat where only those differ."""

    point: NDArray[np.int64]  # of which each is a part
    secrets: Codes  # grains x sensitive columns
    sensitive: tuple[Secret, ...]


def build_points(
    table: Table,
    *,
    grid: str | float = "auto",
    steps: bool = False,
    with_secrets: bool = False,
    coarse: Coarse = Coarse(),  # noqa: B008
) -> Points:
    """Code every quasi-identifier, then one GROUP BY in the engine; with `steps`, auto grids have equal steps.

    Where there would be too many points, axes become coarser until there are not; equal steps are refused.
    """
    if not table.quasi_identifiers:
        raise NoQuasiIdentifier
    check_grid(grid)
    most = coarse.limit(table)
    coded = [build_axis(table, column, grid, steps=steps) for column in table.quasi_identifiers]
    axes, mappings = (tuple(part) for part in zip(*coded, strict=True))
    warn_of_text(table, mappings)
    origin = Origin(table, grid, steps, with_secrets, coarse)
    sample = cache(partial(sample_rows, table, mappings))
    if steps or not looks_too_many(table, axes, sample, most):
        try:
            return group_points(origin, axes, mappings, most)
        except TooManyPoints:
            if steps:
                raise
    return coarse_points(origin, axes, mappings, sample(), most)


def warn_of_text(table: Table, mappings: Sequence[Mapping1D]) -> None:
    """Say which columns of text look like dates or numbers, where nobody said how they are generalized."""
    for mapping in (mapping for mapping in mappings if mapping.kind == "text"):
        column = table.columns[mapping.column]
        choice = table.choice(column)
        chosen = choice.kind is not None or hierarchy_of(table, column) is not None
        hint = None if chosen else hint_at_writing([value.strip() for value in mapping.values[:MOST_LOOKED_AT]])
        if hint is not None:
            warn(DoubtfulColumn(column, hint.says), stacklevel=2)


def looks_too_many(table: Table, axes: Sequence[Axis], sample: Callable[[], Codes], most: int) -> bool:
    """Whether a sample of rows alone has more points than are allowed, so that grouping all is in vain."""
    if min(table.rows, prod(axis.size for axis in axes)) <= most:
        return False
    return count_distinct(point_keys(sample())) > most


def sample_rows(table: Table, mappings: Sequence[Mapping1D]) -> Codes:
    """Codes of rows at equal distances."""
    rows = min(SAMPLE, max(table.room // SAMPLE_BYTES, 1))
    return table.engine.code_rows(mappings, every=max(table.rows // rows, 1))


def coarse_points(
    origin: Origin, axes: tuple[Axis, ...], mappings: tuple[Mapping1D, ...], sample: Codes, most: int
) -> Points:
    """Points on axes that are just coarse enough; where the sample promised too much, still coarser ones."""
    coarse, table = origin.coarse, origin.table
    step = fitting_step(axes, sample, table.rows, most, coarse.k, rounding=coarse.rounding)
    while True:
        report("making axes coarser")
        if coarse.rounding:
            made, moved = (tuple(part) for part in zip(*(rounded(axis, step) for axis in axes), strict=True))
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
    if origin.with_secrets and origin.table.sensitive:
        return build_grains(origin, axes, mappings, most)
    return Points(axes, mappings, *origin.table.engine.group(mappings, most), origin=origin)


def points_without(points: Points, left_out: NDArray[np.int64]) -> Points:
    """The rows of all other points, coded anew: what is left out decides no edge, no domain and no count of values."""
    origin = points.origin
    if origin is None:
        raise BadOption("--suppress", "these points have no table from which rows could be left out.")
    rest = origin.table.without(points.mappings, left_out)
    made = build_points(
        rest, grid=origin.grid, steps=origin.steps, with_secrets=origin.with_secrets, coarse=origin.coarse
    )
    rows = points.left_out + int(points.weights[left_out].sum())
    grains = made.grains and replace(made.grains, left_out=rows)
    return replace(made, grains=grains, left_out=rows)


def places_among(rest: Points, points: Points, kept: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Where each kept point lies among those of the rest; None where new edges part the rows of one point."""
    codes = np.empty((len(kept), len(points.axes)), np.int32)
    for j, (axis, now) in enumerate(zip(points.axes, rest.axes, strict=True)):
        codes_now = dict(zip(rest.mappings[j].values, now.codes.tolist(), strict=True))
        old = zip(points.mappings[j].values, axis.codes.tolist(), strict=True)
        pairs = {(code, codes_now[value]) for value, code in old if value in codes_now}
        pairs |= {(axis.null, now.null)} if now.has_null else set()
        moved = dict(pairs)
        if len(moved) < len(pairs):
            return None
        codes[:, j] = [moved[code] for code in points.codes[kept, j].tolist()]
    place = np.full(len(points.weights), -1)
    place[kept] = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    return place


def build_grains(origin: Origin, axes: tuple[Axis, ...], mappings: tuple[Mapping1D, ...], most: int) -> Points:
    """The same GROUP BY with the sensitive columns behind the others; what agrees on the others is one point."""
    table = origin.table
    coded = [code_secret(table, column) for column in table.sensitive]
    check_secrets(table)
    sensitive, secret_mappings = zip(*coded, strict=True)
    everything = (*mappings, *secret_mappings)
    held, rows = table.engine.group(everything, max(most, table.room // (2 * GRAIN_BYTES)))
    codes, secrets = (np.ascontiguousarray(part) for part in np.hsplit(held, [len(axes)]))
    new = np.r_[True, (np.diff(codes, axis=0) != 0).any(axis=1)][: len(codes)]
    first, point = np.flatnonzero(new), np.cumsum(new) - 1
    if len(first) > most:
        raise TooManyPoints(len(first), most)
    weights = np.add.reduceat(rows, first) if len(rows) else rows
    grains = Grains(axes, everything, codes, rows, origin=origin, point=point, secrets=secrets, sensitive=sensitive)
    return Points(axes, mappings, np.ascontiguousarray(codes[first]), weights, grains, origin)


def check_secrets(table: Table) -> None:
    """Where a limit was set, it must be enough to count the values of the sensitive columns."""
    distinct = {name: table.facts(name).distinct for name in table.sensitive}
    most = max(distinct, key=distinct.__getitem__)
    need = BASE_BYTES + counting_bytes([*distinct.values()]) + distinct[most] * GRAIN_BYTES
    if table.is_limited and need > table.room:
        raise ManyValues(most, distinct[most], need, table.room)


def counting_bytes(distinct: Sequence[int]) -> int:
    """Bytes for so many values of each sensitive column: the texts of all, the figures of one column at a time."""
    return sum(distinct) * VALUE_BYTES + max(distinct, default=0) * FIGURE_BYTES


def code_secret(table: Table, column: str) -> tuple[Secret, Mapping1D]:
    """Codes of a sensitive column in the order of its values; NULL and empty text are one value, the first.

    Texts are compared folded: `hiv`, `HIV` and ` hiv ` have one code.
    """
    choice = table.choice(column)
    kind = "ordinal" if choice.kind == "ordinal" else table.secret_kind(column)
    read = "text" if kind == "ordinal" else kind
    values, _ = table.values(column, read)
    ranks = ranks_in(column, values, choice.order) if kind == "ordinal" else range(len(values))
    codes = np.array(ranks, np.int32) + np.int32(1)
    if kind == "text":
        codes = code_spellings(values)
    elif kind == "ordinal":
        codes[[i for i, value in enumerate(values) if value == ""]] = 0
    return Secret(column, kind, choice.order), Mapping1D(table.index(column), read, values, codes, 0)


def code_spellings(values: Sequence[str]) -> NDArray[np.int32]:
    """The code of each text: that of the first one that says the same, 0 for what says nothing."""
    known = {"": 0}
    return np.array([known.setdefault(fold(value), place) for place, value in enumerate(values, 1)], np.int32)


def ranks_in(column: str, values: Sequence[str], order: Sequence[str]) -> Sequence[int]:
    """The place of each value in the order somebody gave; empty text has none."""
    rank = {text: i for i, text in enumerate(order)}
    check_known(column, values, {*order, ""})
    return [rank.get(value, 0) for value in values]


def check_known(column: str, values: Sequence[str], known: set[str]) -> None:
    """An order that somebody gave holds every value of its column."""
    if unknown := len(set(values) - known):
        told = f"{unknown:,} values of the column are missing from it. Add each of them where it belongs."
        raise BadHierarchy(f"order of {column}", None, told)


def build_axis(table: Table, column: str, grid: str | float, *, steps: bool = False) -> tuple[Axis, Mapping1D]:
    """The axis of one column, and the mapping of its values to codes."""
    choice = table.choice(column)
    hierarchy = hierarchy_of(table, column)
    nulls = int(table.facts(column).nulls)
    kind = "text" if hierarchy is not None else table.kind(column)
    values, counts = table.values(column, kind)
    step = check_grid(choice.grid if choice.grid is not None else grid)
    step = "steps" if steps and step in HIDING else step
    if kind == "text":
        axis = text_axis(column, values, counts, nulls, choice, hierarchy, step)
    else:
        axis = build_line_axis(column, values, counts, nulls > 0, is_date=kind == "date", grid=step)
    return axis, Mapping1D(table.index(column), kind, values, axis.codes, max(axis.null, 0))


def code_anew(table: Table, axis: Axis) -> Mapping1D:
    """The codes that an axis of another table gives to the values of this one; -1 where it has no place for one."""
    kind = "text" if not isinstance(axis, LineAxis) else "date" if axis.is_date else "number"
    values, _ = table.values(axis.column, kind)
    return Mapping1D(table.index(axis.column), kind, values, axis.encode(values), axis.null)


def hierarchy_of(table: Table, column: str) -> Any:
    """The hierarchy given for a column, or None."""
    own = table.choice(column).hierarchy
    return find_hierarchy(own, table.hierarchies, column, table.columns)


def text_axis(
    column: str,
    values: Sequence[str],
    counts: NDArray[np.int64],
    nulls: int,
    choice: AxisChoice,
    hierarchy: Any,
    grid: str | float,
) -> Axis:
    """A hierarchy where there is one, an order where one is named, prefixes for codes, sets for the rest."""
    has_null = nulls > 0
    if hierarchy is not None:
        tree = read_hierarchy(hierarchy, column=column)
        return build_tree_axis(column, values, tree, has_null, rows=counts, nulls=nulls)
    if choice.kind == "ordinal":
        check_known(column, values, set(choice.order))
        known = dict(zip(values, counts.tolist(), strict=True))
        rows = np.array([known.get(value, 0) for value in choice.order], np.int64)
        return build_rank_axis(column, values, choice.order, has_null, ordinal=True, widens=grid == "auto", rows=rows)
    if choice.kind == "star" or (looks_like_codes(values) and choice.kind != "set"):
        tree = star_tree(values) if choice.kind == "star" else build_prefix_tree(values)
        return build_tree_axis(column, values, tree, has_null, given=False, rows=counts, nulls=nulls)
    by_rows = np.argsort(-counts, kind="stable")
    order = [values[i] for i in by_rows]
    return build_rank_axis(
        column, values, order, has_null, ordinal=False, widens=grid == "auto", rows=counts[by_rows].astype(np.int64)
    )


def check_grid(grid: str | float) -> str | float:
    """Auto, loose, tight, exact, or a positive step."""
    if grid in (*HIDING, "exact"):
        return grid
    try:
        step = float(grid)
    except ValueError:
        step = 0.0
    if not 0 < step < float("inf"):
        raise BadOption("--grid", "auto, loose, tight, exact, or a step greater than 0 (for dates, in days).")
    return step

"""History cut: an attacker who knows all rows of a person finds k people with the same labels.

In: points told apart by person, and a cut by rows.  Out: a partition in which every person has at least k-1 others
whose published rows carry the same multiset of labels.

The history of a person is the line of their rows in a fixed order.  r rows on d axes are one point on r * d axes, the d
axes repeated, and only people with equally many rows can be compared.  So for each r the histories are points, weighted
with the people who have them, and any cut by rows parts them into classes of k people.

A class of histories becomes r classes of rows: the i-th rows of all its people, in the box around them.

Why the promise holds: all people of one class of histories have one row in each of its r classes, so their rows carry
the same r labels.  A label is a function of the class of rows.  Classes of rows that are printed alike may be joined:
then some of the r labels are equal, but they are still the same for all these people.

Where fewer than k people have r rows, rows are left out until their histories are as long as those of enough others.
As few rows as possible are left out.  Who loses rows depends on how many rows each person has; which rows, on their
place in the line.  Sensitive values decide nothing.  What is left is coded anew, so that rows left out decide no edge.

Goals for sensitive values hold in every class of rows: where some class breaks one, larger classes of histories are
tried.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from kech._kernels import add_up, distinct_rows
from kech.axes import Axis
from kech.axes.grid import Ints
from kech.cuts.goals import check_goals, check_reachable, keeps_goals
from kech.cuts.local import Run, cut_local
from kech.cuts.protection import derive_key, protect_labels
from kech.cuts.starts import cut_ordering
from kech.errors import GoalNotMet, ResourceError, TooFewPeople
from kech.points.partition import Partition, assign_grains, build_partition, mean_loss
from kech.points.people import Persons
from kech.points.points import Points, rebuild_shortened
from kech.request import Cut, Goal
from kech.system.console import report

CutByRows = Callable[[Points, int], Partition]  # classes of k rows or more; no row is left out

ORDER_OF_KINDS = ("date", "number", "ordered", "hierarchy", "set")  # by which the rows of a person are put in order

# r * d of the longest history that is cut.  Measured at k = 5 with normal effort, in seconds of one processor for 1,000
# people: 1.4 on 30 axes, 4.5 on 120, 13 on 300, 47 on 600; for 10,000 people: 20 on 120 axes, 80 on 300.
MOST_AXES = 300
NEVER = np.iinfo(np.int64).max // 2  # rows left out by what is impossible


@dataclass(frozen=True, eq=False, repr=False)
class PersonRows:
    """The rows of all people, one person after another; who has most rows comes first."""

    points: Points
    row_points: Ints  # the point of each row: those of the first person in order, then those of the second, ...
    lengths: Ints  # rows of each person, descending

    @property
    def starts(self) -> Ints:
        """Where the rows of each person begin in `row_points`."""
        return np.cumsum(self.lengths) - self.lengths

    def group_by_length(self) -> Iterator[Ints]:
        """One matrix for each number of rows r that people have, the largest r first.

        A line of the matrix is a person, its r columns are the points of that person's rows.
        """
        lengths, people = np.unique(self.lengths, return_counts=True)
        ends = np.cumsum((lengths * people)[::-1])
        for r, n, end in zip(lengths[::-1].tolist(), people[::-1].tolist(), ends.tolist(), strict=True):
            yield self.row_points[end - r * n : end].reshape(n, r)


@dataclass(frozen=True, slots=True)
class HistoryPrice:
    """What the promise costs, estimated without a search.  Counts may be below k: they are for the owner alone."""

    people: int
    most_rows: int  # of a person
    shortened: int  # people who lose some of their rows
    people_left_out: int  # who lose all
    rows_left_out: int
    loss: float | None  # None where histories are too long to be cut, or there are fewer than k people


def cut_histories(points: Points, ks: Sequence[int], cut: Cut, goal: Goal, run: Run) -> Iterator[Partition]:
    """A partition for each k, protected and with its grains assigned; the points have a number for every person."""
    if goal.has_sensitive_goals:
        check_reachable(points, goal)
    return (cut_for_people(points, k, cut, goal, run) for k in ks)


def cut_for_people(points: Points, k: int, cut: Cut, goal: Goal, run: Run) -> Partition:
    """Classes of k histories; of 2, 4, 8, ... times as many where smaller ones break a goal for sensitive values."""
    partition = cut_size(points, k, cut, run)
    size = 2 * k
    while goal.has_sensitive_goals and not keeps_goals(partition, goal) and size <= points.people:
        report("meeting goals")
        try:
            partition = cut_size(points, size, cut, run)
        except GoalNotMet:  # histories of so many people cannot be made equally long
            break
        size *= 2
    if goal.has_sensitive_goals:
        check_goals(partition, goal, "Even the largest classes of histories that kech could make reach")
    return partition


def cut_size(points: Points, k: int, cut: Cut, run: Run) -> Partition:
    """Classes of k histories, made of the rows that are kept, as they are published."""
    assert points.person is not None
    histories = order_rows(points, points.person)
    kept = shorten_histories(histories, k)
    check_left_out(histories, kept, k, points.suppression_limit(cut.suppress))
    check_longest(kept)
    if len(kept.row_points) < len(histories.row_points):
        rows = np.bincount(kept.row_points, minlength=len(points.weights))
        points = rebuild_shortened(points, rows, derive_key(points, "left out"))
        assert points.person is not None
        kept = order_rows(points, points.person)
    partition = join_classes(kept, k, lambda points_of_length, k: next(cut_local(points_of_length, [k], cut, run)))
    return assign_grains(protect_labels(partition))


def price_history(points: Points, person: Ints | Persons, k: int, *, threads: int = 1) -> HistoryPrice:
    """What the promise would cost: rows left out, and the loss of a cut along an order.

    A search lowers that loss: by 7 % on 4,000 people with 4 visits each at k = 5, with labels protected.
    """
    histories = order_rows(points, person)
    kept = shorten_histories(histories, k)
    stays = len(kept.lengths) > 0 and longest_axes(kept) <= MOST_AXES
    cut = (
        join_classes(kept, k, lambda points_of_length, k: next(cut_ordering(points_of_length, [k], threads=threads)))
        if stays
        else None
    )
    return HistoryPrice(
        len(histories.lengths),
        int(histories.lengths.max(initial=0)),
        count_shortened(histories, k) - count_lost(histories, kept),
        count_lost(histories, kept),
        len(histories.row_points) - len(kept.row_points),
        None if cut is None else mean_loss(protect_labels(cut)),
    )


def count_shortened(histories: PersonRows, k: int) -> int:
    """People who lose some or all of their rows."""
    return int((choose_lengths(histories.lengths, k) < histories.lengths).sum())


def count_lost(histories: PersonRows, kept: PersonRows) -> int:
    """People of whom nothing is kept."""
    return len(histories.lengths) - len(kept.lengths)


# -- histories ---------------------------------------------------------------------------------------------


def order_rows(points: Points, person: Ints | Persons) -> PersonRows:
    """All rows of all people: by person, then by dates, numbers and the other columns.

    `person` has the number of the person behind each point; -1 where each row is another person's only row.  Of people
    with equal histories the first numbers come first, so numbers should tell nothing about a person.
    """
    rows = np.repeat(np.arange(len(points.weights)), points.weights)
    owner = np.asarray(person, np.int64)[rows]
    alone = owner < 0
    owner[alone] = owner.max(initial=-1) + 1 + np.arange(alone.sum())
    _, owner, length = np.unique(owner, return_inverse=True, return_counts=True)
    owner = owner.ravel()
    columns = [points.codes[rows, j] for j in reversed(order_axes(points.axes))]
    order = np.lexsort((*columns, owner, -length[owner]))
    return PersonRows(points, rows[order], -np.sort(-length))


def order_axes(axes: tuple[Axis, ...]) -> list[int]:
    """The indices of the axes: dates first, then numbers, then the others."""
    return sorted(range(len(axes)), key=lambda j: ORDER_OF_KINDS.index(axes[j].kind))


def shorten_histories(histories: PersonRows, k: int) -> PersonRows:
    """The rows that are kept, for each person at even distances in the line of their rows."""
    target = choose_lengths(histories.lengths, k)
    person = np.repeat(np.arange(len(target)), target)
    rank = np.arange(len(person)) - (np.cumsum(target) - target)[person]
    position = (2 * rank + 1) * histories.lengths[person] // (2 * target[person])
    return PersonRows(histories.points, histories.row_points[histories.starts[person] + position], target[target > 0])


def choose_lengths(length: Ints, k: int) -> Ints:
    """How many rows each person keeps, descending as `length` does, so that fewest rows are left out.

    From the most rows down, b people walk on to the next smaller number of rows and lose the difference:

        f(j + 1, b) = b * (r_j - r_(j+1)) + min over a of f(j, a)

    where a people came to the c_j who have r_j rows, and a + c_j - b >= k of them stay, or none.  Of 2k people who end
    together the first k could stay earlier.  So 2k - 1 end together at most, and a, b <= 2k - 2, since one of them does
    not walk.  Whoever reaches 0 rows is left out: fewer than k people, since k could stay where the last one joined.
    """
    rows, people = (descending[::-1] for descending in np.unique(length, return_counts=True))
    walkers = np.arange(2 * k - 1)
    costs = np.where(walkers == 0, 0, NEVER)
    origins = []
    for count, step in zip(people.tolist(), (-np.diff(rows, append=0)).tolist(), strict=True):
        staying = walkers[:, None] + count - walkers
        before = np.where((staying >= k) | (staying == 0), costs[:, None], NEVER)
        origins.append(before.argmin(axis=0))
        costs = np.minimum(before.min(axis=0) + walkers * step, NEVER)
    onward = np.append(np.zeros(len(rows), np.int64), costs.argmin())
    for j in reversed(range(len(rows))):
        onward[j] = origins[j][onward[j + 1]]
    stayed = np.cumsum(people) - onward[1:]
    return np.append(rows, 0)[np.searchsorted(stayed, np.arange(len(length)), side="right")]


# -- refusals ----------------------------------------------------------------------------------------------


def check_left_out(histories: PersonRows, kept: PersonRows, k: int, limit: int) -> None:
    """Refuse where more rows must be left out than may be."""
    rows, people = len(histories.row_points), len(histories.lengths)
    lost = rows - len(kept.row_points)
    if people < k:
        raise TooFewPeople(people, k)
    if lost <= limit:
        return
    shorter = say_count(count_shortened(histories, k), k)
    share = find_share(lost, rows)
    advice = f"Allow that with --suppress {share:g}, choose a smaller k" if share < 1 else "Choose a smaller k"
    raise GoalNotMet(
        f"A history hides only among histories of as many rows, and too few people share theirs: at k={k}, {shorter} "
        f"people have too many rows. {say_count(lost, k).capitalize()} of {rows:,} rows would have to be left out, and "
        f"{limit:,} may be. {advice}, or promise less: without --protect-history a person hides with each "
        "row alone."
    )


def check_longest(kept: PersonRows) -> None:
    """Refuse histories that are too long for the search."""
    if (axes := longest_axes(kept)) > MOST_AXES:
        columns = len(kept.points.axes)
        raise ResourceError(
            f"The longest history that k people can share has {axes // columns:,} rows of {columns} quasi-identifiers, "
            f"{axes:,} cells; {MOST_AXES:,} at most can be compared in reasonable time. Sum up the rows of a person, "
            "for example by month, name fewer columns, or promise less: without --protect-history a person hides with "
            "each row alone."
        )


def longest_axes(kept: PersonRows) -> int:
    """r * d of the longest history."""
    return int(kept.lengths.max(initial=0)) * len(kept.points.axes)


def say_count(count: int, k: int) -> str:
    """A count that may be told: a small one is not."""
    return "no" if not count else f"fewer than {k:,}" if count < k else f"{count:,}"


def find_share(lost: int, rows: int) -> float:
    """The share of the rows that lets so many be left out, rounded up."""
    return ceil(1000 * lost / rows) / 1000


# -- classes -----------------------------------------------------------------------------------------------


def join_classes(kept: PersonRows, k: int, cut: CutByRows) -> Partition:
    """The classes of rows of all lengths together."""
    row_points, group, classes = [], [], 0
    for rows in kept.group_by_length():
        joined = class_of_people(kept.points, rows, k, cut)
        group.append((classes + joined[:, None] * rows.shape[1] + np.arange(rows.shape[1])).ravel())
        row_points.append(rows.ravel())
        classes += (int(joined.max()) + 1) * rows.shape[1]
    points = np.concatenate(row_points)
    shares = add_up(points, np.concatenate(group), np.ones(len(points), np.int64))
    return build_partition(kept.points.published_at(k), *shares)


def class_of_people(points: Points, rows: Ints, k: int, cut: CutByRows) -> Ints:
    """The class of each person among people with equally many rows, given as a matrix, people x rows."""
    codes = points.codes[rows].reshape(len(rows), -1)
    first, history = distinct_rows(codes.astype(np.int64))
    people = np.bincount(history)
    axes = points.axes * rows.shape[1]
    partition = cut(Points(axes, (), np.ascontiguousarray(codes[first]), people, origin=points.origin), k)
    by_history = np.lexsort((partition.group, partition.point))
    taken = np.empty(len(rows), np.int64)
    taken[np.argsort(history, kind="stable")] = np.repeat(partition.group[by_history], partition.rows[by_history])
    return taken

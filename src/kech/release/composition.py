"""Composition: what several releases of one table tell together.

In: releases, each linked to the table they were made of.  Out: which classes were merged, or the joint k.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from kech.certificate import Axis, Cell
from kech.certificate.labels import EVERYTHING, read_position, read_prefix, read_set
from kech.errors import BadOption
from kech.release.covers import Cover, find_cover, find_present, isolate_undecided
from kech.release.linkage import Bools, Linkage, LinkedColumn
from kech.release.meet import Check, ReleasedClasses, count_joint, find_meet, list_classes
from kech.release.placement import cover_own_cells, rule_out_impossible
from kech.release.published import Ints, normalize_cell

Content = Counter[tuple[Cell, ...]]  # the other cells of the rows of a class
Contents = list[Content]
MOST = 0.5  # share of the rows
MOST_CELLS = 10_000  # whose equal texts are one in memory


@dataclass(frozen=True, slots=True)
class Composition:
    """What is left to hide among for somebody who has several releases; k is the smallest class of any of them.

    Rows are counted, or people, where the table names them.
    """

    rows: int  # in several releases
    k: int
    joint_k: int  # in the smallest intersection of classes that a row could be in
    below: int  # rows in intersections of fewer than k
    candidates: int  # the fewest rows that a row could share its classes with
    changed: int  # rows that came or left under labels that are equal or overlap, fewer than k at once
    counted: str = "rows"
    at_least: int = 0  # joint k, wherever rows are that fit several classes


def compose(
    linkages: Sequence[Linkage],
    option: str,
    check: Check | None = None,
    *,
    person: Ints | None = None,
    others: Collection[int] = (),
    partly_read: Collection[int] = (),
    is_part: bool = False,
) -> Composition:
    """Among how many rows of a table each hides from somebody who has all these releases (`kech.release.meet`).

    Rows, or different people where the `person` of each row is known.  Where boxes overlap, there are many more pairs
    of a row and an intersection than rows: `check` hears how many before they are held, and may refuse.

    The releases in the places `others` were made of other tables, which share rows with this one: which rows, only
    labels tell; and rows that came or left stand out.  Of a part of a table that shares rows
    with others, any number of rows may be shared.

    Releases in the places `partly_read` have quasi-identifiers that the table lacks.  Others may know these, and with
    them which of several classes a row is in: such rows are nobody's candidates but their own.
    """
    k = min(linkage.release.promised_k for linkage in linkages)
    fits = [find_cover(linkage, option, required_rows(linkage, i in others)) for i, linkage in enumerate(linkages)]
    if check:
        check(sum(len(cover.row) for cover in fits))
    placed = (cover_for_reader_and_owner(linkages[i], cover, i in others) for i, cover in enumerate(fits))
    covers, own = zip(*placed, strict=True)
    if not is_part:
        check_overlap(covers, linkages, others, option)
    alone = [isolate_undecided(cover) if i in partly_read else cover for i, cover in enumerate(own)]
    holders = find_present(covers)
    surely = holders & ~np.isin(np.arange(len(linkages)), list(others))
    classes = list_classes([linkage.release for linkage in linkages])
    meet = find_meet(alone, add_cells(classes, alone), holders, surely, person, check)
    joint = count_joint(covers, holders, surely, k, person, check)
    few = count_rows_of_few(k, person)
    changes = [count_changes(linkages[0], linkages[i], few, () if is_part else (covers[0], covers[i])) for i in others]
    return Composition(
        len(meet.key),
        k,
        linkages[0].rows if meet.joint_k is None else meet.joint_k,
        len(meet.find_below(k)),
        int(joint.count.min(initial=linkages[0].rows)),
        max(changes, default=0),
        "rows" if person is None else "people",
        linkages[0].rows if meet.at_least is None else meet.at_least,
    )


def cover_for_reader_and_owner(linkage: Linkage, cover: Cover, is_other: bool) -> tuple[Cover, Cover]:
    """Which rows could be in which class for a reader of the file; and for the owner, who knows their other cells."""
    if is_other:
        return cover, cover
    reader = rule_out_impossible(cover, linkage.release.sizes)
    return reader, cover_own_cells(reader, [(linkage, np.arange(linkage.rows))])


def add_cells(classes: Sequence[ReleasedClasses], covers: Sequence[Cover]) -> list[ReleasedClasses]:
    """Classes and cells of one row alone, which have labels that no other has."""
    fresh, extended = 1 + max(int(released.label.max(initial=0)) for released in classes), []
    for released, cover in zip(classes, covers, strict=True):
        more = max(0, int(cover.cell.max(initial=-1)) + 1 - len(released.label))
        label = np.concatenate([released.label, fresh + np.arange(more)])
        extended.append(ReleasedClasses(label, np.concatenate([released.size, np.ones(more, np.int64)])))
        fresh += more
    return extended


def check_overlap(covers: Sequence[Cover], linkages: Sequence[Linkage], others: Collection[int], option: str) -> None:
    """Refuse tables that share rows where fewer than half of the rows lie in classes of all releases."""
    matched = int(find_present(covers).all(axis=1).sum())
    earlier = [linkages[i].release.rows for i in others]
    if earlier and matched < MOST * min(linkages[0].rows, *earlier):
        raise BadOption(
            option,
            "fewer than half of the rows lie in classes of all releases, though some rows are the same: values are "
            "written or read in another way. Write them as they were, or repeat the earlier release.",
        )


def required_rows(linkage: Linkage, is_other: bool) -> Ints | None:
    """How many of its rows each class must find in the table: none, if the release is of another table."""
    return np.zeros(len(linkage.release.labels), np.int64) if is_other else None


def count_changes(later: Linkage, earlier: Linkage, few: int, covers: Sequence[Cover] = ()) -> int:
    """Rows that came, and rows that left, by their other cells, where fewer than `few` did at once.

    Compared are classes with the same labels, and, where covers of both are given, all classes together whose labels
    overlap.  Who knows who came or left knows that the values that came or left are theirs.
    """
    columns = [name for name in later.release.cells if name in earlier.release.cells]
    if not columns:
        return 0
    ours, theirs = (count_contents(linkage, columns) for linkage in (later, earlier))
    pairs = [(ours[group], theirs[twin]) for group, twin in find_same(later, earlier).items()]
    group = group_classes(covers, (len(ours), len(theirs))) if covers else None
    joined = [] if group is None else list(zip(*join_contents(ours, theirs, group), strict=True))
    return max(sum_few_changes(pairs, few), sum_few_changes(joined, few))


def sum_few_changes(pairs: Sequence[tuple[Content, Content]], few: int) -> int:
    """Rows that came or left, wherever fewer than so many did."""
    changes = (change.total() for one, other in pairs for change in (one - other, other - one))
    return sum(count for count in changes if count < few)


def count_rows_of_few(k: int, person: Ints | None) -> int:
    """The smallest number of rows that must be of k people or more: one more than any k - 1 people have."""
    if person is None:
        return k
    return 1 + int(np.sort(np.bincount(person))[::-1][: k - 1].sum())


def group_classes(covers: Sequence[Cover], counts: tuple[int, int]) -> Ints:
    """For each class of both releases the number of its group: classes of a group share rows, one after another."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    mine, other = covers
    rows, classes = 1 + max(mine.row.max(initial=0), other.row.max(initial=0)), sum(counts)
    ends = np.concatenate([mine.cell, other.cell + counts[0]]), np.concatenate([mine.row, other.row]) + classes
    graph = coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(classes + rows, classes + rows))
    _, group = connected_components(graph, directed=False)
    return np.unique(group[:classes], return_inverse=True)[1].ravel()


def join_contents(ours: Contents, theirs: Contents, group: Ints) -> tuple[Contents, Contents]:
    """The contents of both releases in each group of classes."""
    count = int(group.max(initial=-1)) + 1
    joined: tuple[Contents, Contents] = ([Counter() for _ in range(count)], [Counter() for _ in range(count)])
    for contents, numbers, into in ((ours, group[: len(ours)], joined[0]), (theirs, group[len(ours) :], joined[1])):
        for content, number in zip(contents, numbers.tolist(), strict=True):
            into[number].update(content)
    return joined


def count_contents(linkage: Linkage, columns: Sequence[str]) -> Contents:
    """Of each class how often each row of other cells occurs."""
    contents: Contents = [Counter() for _ in linkage.release.labels]
    group = linkage.release.group.tolist()
    cells = list(zip(*cells_of(linkage, columns), strict=True)) if columns else [()] * len(group)
    for number, row in zip(group, cells, strict=True):
        contents[number][row] += 1
    return contents


def find_same(one: Linkage, other: Linkage) -> dict[int, int]:
    """Classes of the one whose labels the other has too, column by column."""
    names = sorted(one.release.quasi_identifiers)
    if names != sorted(other.release.quasi_identifiers):
        return {}
    first, second = (zip(*(each.release.column_labels(name) for name in names), strict=True) for each in (one, other))
    class_of = {labels: number for number, labels in enumerate(second)}
    return {number: class_of[labels] for number, labels in enumerate(first) if labels in class_of}


# -- nested releases -----------------------------------------------------------------------------------------


def is_coarsening(later: Linkage, earlier: Linkage) -> bool:
    """Whether the later file could have been made from the earlier one alone, by merging classes and leaving some out.

    Each earlier class goes into a later one whose labels contain its own; then every later class must
    have as many rows as went into it, with the same cells in all columns that the later file publishes as they are;
    the earlier one must publish these as they are, too.
    """
    columns = list(later.release.cells)
    if not earlier.release.cells.keys() >= {*columns}:
        return False
    into = find_merges(earlier, later)
    if into is None:
        return False
    moved = Counter(zip(into[earlier.release.group], *cells_of(earlier, columns), strict=True))
    expected = Counter(zip(later.release.group, *cells_of(later, columns), strict=True))
    return expected == Counter({key: rows for key, rows in moved.items() if key[0] >= 0})


def cells_of(linkage: Linkage, columns: Sequence[str]) -> list[list[Cell]]:
    """Cells that are published as they are, in a form that CSV and Parquet share."""
    return [list(map(lru_cache(maxsize=MOST_CELLS)(normalize_cell), linkage.release.cells[name])) for name in columns]


def find_merges(earlier: Linkage, later: Linkage) -> Ints | None:
    """The later class that each earlier one goes into, -1 for none; None where the later file could not lack it."""
    missing = earlier.release.rows - later.release.rows
    known = {column.axis["column"]: column for column in earlier.columns}
    holders = [LabelContainment(known.get(column.axis["column"]), column) for column in later.columns]
    columns = [list(known).index(name) if name in known else None for name in later.release.quasi_identifiers]
    same = {labels: group for group, labels in enumerate(later.release.labels)}
    into = []
    for labels, rows in zip(earlier.release.labels, earlier.release.sizes.tolist(), strict=True):
        label = tuple(None if column is None else labels[column] for column in columns)
        into.append(choose_containing_class(holders, label, same.get(label), later.release.sizes))
        missing -= rows if into[-1] < 0 else 0
        if missing < 0:
            return None
    return np.array(into, np.int64)


def choose_containing_class(
    holders: Sequence["LabelContainment"], labels: tuple[Cell, ...], same: int | None, sizes: Ints
) -> int:
    """The class with equal labels, else the smallest one whose labels contain all these, else none: -1."""
    pairs = list(zip(holders, labels, strict=True))
    if same is not None and all(holder.holds(label, same) for holder, label in pairs):
        return same
    groups = np.flatnonzero(np.logical_and.reduce([holder.find_holders(label) for holder, label in pairs]))
    return int(groups[np.argmin(sizes[groups])]) if len(groups) else -1


@dataclass(frozen=True, eq=False, repr=False)
class LabelContainment:
    """One quasi-identifier of two releases: which later labels contain an earlier one.

    Labels are compared by what they say, not by what the table holds: [20, 39] is not 23, though all below it are 23.
    """

    earlier: LinkedColumn | None
    later: LinkedColumn

    def holds(self, label: Cell, group: int) -> bool:
        """Whether the label of a later class contains an earlier one."""
        return bool(self.containers(label)[self.of_class[group]])

    def find_holders(self, label: Cell) -> Bools:
        """Which later classes have a label that contains an earlier one."""
        return np.asarray(self.containers(label)[self.of_class])

    @cached_property
    def labels(self) -> list[Cell]:
        """The distinct later labels."""
        return list(dict.fromkeys(self.later.labels))

    @cached_property
    def of_class(self) -> Ints:
        """For each later class the number of its label."""
        number = {label: i for i, label in enumerate(self.labels)}
        return np.array([number[label] for label in self.later.labels])

    @cached_property
    def everything(self) -> Bools:
        """Which later labels contain all there is."""
        return np.array([is_everything(self.later.axis, label) for label in self.labels])

    @cached_property
    def ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64], Bools]:
        """Both ends of each later interval, and whether the second belongs to it."""
        low, high, closed = zip(*(self.later.interval(label or "") for label in self.labels), strict=True)
        return np.array(low), np.array(high), np.array(closed)

    @cached_property
    def containers(self) -> Callable[[Cell], Bools]:
        """Of an earlier label: which later labels can be shown to contain it."""
        return lru_cache(maxsize=1024)(lambda label: self.everything | self._find_containing(label))

    def _find_containing(self, label: Cell) -> Bools:
        if self.earlier is None or is_everything(self.earlier.axis, label):
            return self.everything
        alike = "" not in self.later.labels  # nothing is written for empty text too
        if label is None:
            return np.array([within is None and (alike or "" in self.earlier.labels) for within in self.labels])
        if self.later.is_line and self.earlier.axis["axis"] == self.later.axis["axis"]:
            low, high, closed = self.earlier.interval(label)
            lows, highs, closes = self.ends
            return np.asarray((lows <= low) & ((high < highs) | ((high == highs) & (closes | (not closed)))))
        return np.array(
            [self._contains(label, within) if within is not None else alike and not label for within in self.labels]
        )

    def _contains(self, label: str, within: str) -> bool:
        assert self.earlier is not None
        ours, theirs = self.later.axis, self.earlier.axis
        same_node = label == within and ours["axis"] == theirs["axis"] == "hierarchy"
        if same_node and count_leaves(ours, label) == count_leaves(theirs, label):
            return True
        values, prefix = list_values_of_label(self.earlier, label), read_prefix(within)
        if ours["axis"] == "hierarchy" and prefix and not self.later.paths:
            begins = {label} if theirs["axis"] == "hierarchy" and read_prefix(label) else values
            return all(text.startswith(prefix) and len(text) <= len(within) for text in begins or [""])
        if self.later.is_line:
            low, high, closed = self.later.interval(within)
            positions = [read_position(ours, value) for value in values or [""]]
            return all(low <= x < high or (closed and x == high) for x in positions)
        return bool(values) and values <= list_values_of_label(self.later, within)


def is_everything(axis: Axis, label: Cell) -> bool:
    """Whether a label says nothing: `*`, or the root of a tree where nothing is missing."""
    root = axis["axis"] == "hierarchy" and label is not None and count_leaves(axis, label) == axis["leaves"] > 1
    return label == EVERYTHING or root


def count_leaves(axis: Axis, label: str) -> int:
    """Leaves below a label of a tree, as its certificate says."""
    return int(axis["labels"].get(label, 1))


def list_values_of_label(column: LinkedColumn, label: str) -> frozenset[str]:
    """The values of a label; none where they cannot be listed."""
    if column.is_line:
        low, high, _ = column.interval(label)
        return frozenset([label] if low == high else [])
    if column.axis["axis"] == "set":
        spelled, counted = read_set(label)
        return frozenset([*spelled, *(column.rare if counted else ())])
    if column.axis["axis"] != "hierarchy":
        return frozenset(column.run(label))
    leaves = {leaf for leaf, path in column.paths.items() if label in path} if column.paths else {label}
    counts = {len(leaves), len(leaves.intersection(column.index_of_cell) if column.paths else leaves)}
    return frozenset(leaves if count_leaves(column.axis, label) in counts else [])

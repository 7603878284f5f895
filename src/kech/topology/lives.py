"""Lives: how classes of rows live, part and merge through versions of a table whose rows come and go.  PRIVATE.

In: versions, each the rows it publishes and their classes.  Out: the bars of the zig-zag over time, and the joint k.

    P_1 <- P_1 n P_2 -> P_2 <- P_2 n P_3 -> P_3 ...

P_t is the complex of version t, a full simplex for each class, over the rows that version t has.  So P_t n P_{t+1} has
the rows of both, and its classes are those of the meet (common refinement).  In a series that is safe a class is
either in both versions or in one: then the meet has the classes that stay, and each bar is the life of a cohort.

Bars are those of `zigzag`, with rows entering and leaving: a class whose rows are all new begins a bar, and a class
whose rows all leave ends one.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kech._kernels import meet_classes, walk_path
from kech.errors import BadOption
from kech.request import check_k
from kech.system.console import report
from kech.system.memory import PATH_CLASS_BYTES, PATH_POINT_BYTES, check_need, half_the_memory
from kech.topology.barcode import longest_bars
from kech.topology.zigzag import ZigzagBarcode

Ints = NDArray[np.int64]
RowClasses = tuple[Ints, Ints]  # numbers of rows, each once, and the number of the class of each


@dataclass(frozen=True, slots=True)
class VersionCounts:
    """One version: what it holds, and which rows came and went."""

    version: int  # from 1 on
    rows: int
    classes: int
    smallest: int  # rows of its smallest class
    arrived: int  # rows that the version before does not have
    left: int  # rows of the version before that it does not have


@dataclass(frozen=True, slots=True)
class ClassLife:
    """One bar: a class from its first version to its last."""

    birth: float  # version 1, 2, ...; 1.5 lies between versions 1 and 2
    death: float  # the last version at which it lives
    weight: int  # fewest rows it carries
    safe: bool  # whether these are k or more
    rows: tuple[int, ...]  # rows it carries at each position of its life: versions, and what lies between


@dataclass(frozen=True, slots=True)
class EqualLives:
    """Bars from one version to another, all safe or none."""

    birth: float
    death: float
    safe: bool
    bars: int
    rows: int  # fewest rows of each bar, summed
    smallest: int  # fewest rows of any of them


class JointCount(NamedTuple):
    """What several versions tell together."""

    k: int | None  # the fewest rows that stay together; None where no row is in several versions
    at_least: int | None  # the same wherever rows are that fit several classes
    below: int  # rows that stay together with fewer than the k that is asked
    changed: int  # rows that came or left with fewer than that


@dataclass(frozen=True, eq=False, repr=False)
class Lives:
    """Bars over versions, and sets of rows that no version tells apart.

    A bar is safe if it carries k rows or more at every position of its life.  Two rows stay together if every version
    has both in one class or has neither.
    """

    zigzag: ZigzagBarcode  # position 0 is version 1
    together: Ints  # rows of each set that stays together
    counts: tuple[VersionCounts, ...]
    k: int
    joint: JointCount
    undecided: int = 0  # rows of files that fit several classes of one version, summed over versions

    def __repr__(self) -> str:
        return f"Lives({len(self.counts)} versions, {len(self.zigzag.birth):,} bars, joint k {self.joint_k:,})"

    @property
    def joint_k(self) -> int:
        """The fewest rows that stay together, of those that several versions have; without any, of all."""
        return int(self.together.min(initial=self.rows)) if self.joint.k is None else self.joint.k

    @property
    def at_least(self) -> int:
        """Joint k on the safe side, wherever rows of files are that fit several classes."""
        return self.joint_k if self.joint.at_least is None else self.joint.at_least

    @property
    def rows(self) -> int:
        """Rows of all versions together, each once."""
        return int(self.together.sum())

    @property
    def below(self) -> int:
        """Rows of several versions that stay together with fewer than k, themselves counted."""
        return self.joint.below

    @cached_property
    def safe(self) -> NDArray[np.bool_]:
        """Whether each bar carries k rows or more throughout."""
        return np.asarray(self.zigzag.weights >= self.k)

    def bars(self) -> list[ClassLife]:
        """Bars by birth and death."""
        bars = zip(self.zigzag.bars(), self.safe.tolist(), strict=True)
        return [ClassLife(bar.birth + 1, bar.death + 1, bar.weight or 0, safe, bar.rows) for bar, safe in bars]

    def summary(self) -> list[EqualLives]:
        """Bars of equal life in one line: how many, and how many rows they carry."""
        birth, death, weights = self.zigzag.birth, self.zigzag.death, self.zigzag.weights
        positions = len(self.zigzag.classes)
        kinds, kind = np.unique((birth * positions + death) * 2 + ~self.safe, return_inverse=True)
        smallest = np.full(len(kinds), self.rows)
        np.minimum.at(smallest, kind, weights)
        figures = np.bincount(kind), np.bincount(kind, weights).astype(np.int64), smallest
        columns = kinds // 2 // positions / 2 + 1, kinds // 2 % positions / 2 + 1, kinds % 2 == 0, *figures
        return [EqualLives(*line) for line in zip(*(column.tolist() for column in columns), strict=True)]

    def plot(self, path: str | PathLike[str] | None = None, *, ax: Any = None) -> Any:
        """Draw the lives; the matplotlib axes, or a file (.svg, .html, .png) where a path is given."""
        from kech.views.pictures import plot
        from kech.views.pictures.lives import draw_lives

        return plot(lambda size: draw_lives(self, size), path, ax)

    def _repr_html_(self) -> str:
        from kech.views.notebook import show_lives

        return show_lives(self)

    def to_json(self, *, longest: int | None = None) -> dict[str, Any]:
        """The object `kech zigzag --series --json` prints, with all bars or the longest; `summary` tells of all."""
        every = self.bars()
        bars = longest_bars(every, longest)
        return {
            "private": True,
            "k": self.k,
            "joint_k": self.joint_k,
            "at_least": self.at_least,
            "rows": self.rows,
            "rows_below": self.below,
            "changed": self.joint.changed,
            "undecided": self.undecided,
            "versions": [asdict(version) for version in self.counts],
            "summary": [asdict(line) for line in self.summary()],
            "bars": [asdict(bar) | {"rows": list(bar.rows)} for bar in bars],
            "shorter_bars": len(every) - len(bars),
        }


def build_lives(
    versions: Sequence[RowClasses],
    k: int | None = None,
    *,
    threads: int = 1,
    memory: int | None = None,
    joint: JointCount | None = None,
    undecided: int = 0,
) -> Lives:
    """Bars over versions; rows and classes are numbered from 0 on, with gaps or without.

    Without k, it is the smallest class of any version: what each of them promises alone.  It takes so many bytes of
    memory at most, or half of the machine's.
    """
    check_versions(versions, half_the_memory() if memory is None else memory)
    report("following classes through versions")
    sets, rows = find_inseparable_rows(versions)
    bars = walk_path(sets, rows, False, threads)
    path = tuple((version + 1,) for version in range(len(versions)))
    zigzag = ZigzagBarcode(path, ("version",), "intersection", library=None, **bars)
    smallest = zigzag.smallest[::2]
    reached = int(smallest[zigzag.classes[::2] > 0].min(initial=int(rows.sum())))
    goal = max(reached, 1) if k is None else check_k(k)
    return Lives(
        zigzag, rows, count_versions(zigzag, sets, rows), goal, joint or count_joint(sets, rows, goal), undecided
    )


def count_joint(sets: Sequence[Ints], rows: Ints, k: int) -> JointCount:
    """Of sets of rows that stay together, how small they are where several versions have them, and where one has."""
    in_several = np.sum([classes >= 0 for classes in sets], axis=0) > 1
    several, single = rows[in_several], rows[~in_several]
    fewest = int(several.min()) if len(several) else None
    return JointCount(fewest, fewest, int(several[several < k].sum()), int(single[single < k].sum()))


def check_versions(versions: Sequence[RowClasses], memory: int) -> None:
    """Refuse what is no version, and numbers so large that they would not fit into memory."""
    if not versions:
        raise BadOption("versions", "there is none. Give one or more.")
    for number, (rows, classes) in enumerate(versions, 1):
        if any(values.ndim != 1 or values.dtype != np.int64 for values in (rows, classes)) or len(rows) != len(classes):
            raise BadOption(
                "versions",
                f"version {number} is no pair of arrays. Give rows and classes, both int64 and of one length.",
            )
        if min(rows.min(initial=0), classes.min(initial=0)) < 0:
            raise BadOption("versions", f"version {number} has a negative number. Number rows and classes from 0 on.")
    largest = max(int(values.max(initial=-1)) + 1 for version in versions for values in version)
    need = PATH_POINT_BYTES * len(versions) * largest + PATH_CLASS_BYTES * sum(len(rows) for rows, _ in versions)
    check_need(need, memory, "The versions", "Number rows and classes from 0 on, or take fewer versions.")


def find_inseparable_rows(versions: Sequence[RowClasses]) -> tuple[list[Ints], Ints]:
    """Sets of rows that no version tells apart: the class of each set in every version, -1 for none, and its rows."""
    size = max(int(rows.max(initial=-1)) + 1 for rows, _ in versions)
    met = np.zeros(size, np.int64)
    for number, version in enumerate(versions, 1):
        classes = class_of_each_row(version, size)
        if np.count_nonzero(classes) < len(version[0]):
            row = np.flatnonzero(np.bincount(version[0]) > 1)[0]
            raise BadOption("versions", f"version {number} names row {row} twice. Give each row once.")
        met = meet_classes(met, classes)
    rows = np.bincount(met)
    first = np.zeros(len(rows), np.int64)
    first[met[::-1]] = np.arange(size - 1, -1, -1)
    sets = [number_classes(class_of_each_row(version, size)[first]) for version in versions]
    published = np.logical_or.reduce([classes >= 0 for classes in sets])
    return [classes[published] for classes in sets], rows[published]


def class_of_each_row(version: RowClasses, size: int) -> Ints:
    """For each row its class, counted from 1 on; 0 where the version does not have it."""
    class_of_row = np.zeros(size, np.int64)
    class_of_row[version[0]] = version[1] + 1
    return class_of_row


def number_classes(classes: Ints) -> Ints:
    """The classes that occur, numbered anew 0, 1, ... in their order; -1 for 0, which stands for no class."""
    occurs = np.zeros(int(classes.max(initial=0)) + 1, np.int64)
    occurs[classes] = 1
    occurs[0] = 0
    return np.where(classes > 0, (np.cumsum(occurs) - 1)[classes], -1)


def count_versions(zigzag: ZigzagBarcode, sets: Sequence[Ints], rows: Ints) -> tuple[VersionCounts, ...]:
    """Rows, classes, arrivals and departures of each version."""
    has = np.array([classes >= 0 for classes in sets], bool)
    before = np.vstack([np.zeros_like(has[:1]), has[:-1]])
    figures = has @ rows, zigzag.classes[::2], zigzag.smallest[::2], (has & ~before) @ rows, (before & ~has) @ rows
    return tuple(VersionCounts(number, *map(int, line)) for number, line in enumerate(zip(*figures, strict=True), 1))

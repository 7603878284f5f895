"""Target: a release and its original, with the rows that each attacked class could be."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from kech.audit.joint import number_by_key
from kech.audit.recount import number_people
from kech.certificate import AnyPath, Cell
from kech.errors import unusable_value
from kech.release.joint import LinkedVersion
from kech.release.linkage import Linkage, LinkedColumn, check_covers, check_loaded, link
from kech.release.published import Ints, read_published
from kech.request import Request
from kech.tables.table import Table

MOST_CLASSES = 5_000  # attacked; of more, so many are drawn


class Second(NamedTuple):
    """Another release of the same table; or of another version of it, whose rows a key tells again."""

    path: AnyPath
    original: Table | None = None
    key: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Target:
    """A release, its original, and the candidates of the classes that are attacked."""

    linkage: Linkage
    groups: Ints
    candidates: Sequence[Ints]
    seed: int
    key: Ints  # the number of each row of the original, by which other versions know it
    second: LinkedVersion | None = None  # another release of the table, or of a version of it
    request: Request = field(default_factory=Request)  # what the certificate does not say of it

    @property
    def rows(self) -> int:
        """Rows of the attacked classes."""
        return int(self.linkage.release.sizes[self.groups].sum())

    def rng(self) -> np.random.Generator:
        """Chance, the same for equal seeds."""
        return np.random.default_rng(self.seed)

    def list_labels(self) -> Iterator[tuple[Ints, LinkedColumn, Cell]]:
        """Candidates, column and label, for every attacked class and every column."""
        for group, rows in zip(self.groups.tolist(), self.candidates, strict=True):
            for column in self.linkage.columns:
                yield rows, column, column.labels[group]

    @cached_property
    def person(self) -> Ints:
        """The number of the person of each row of the original, which names them."""
        return number_people(self.linkage.table)

    @cached_property
    def candidates_of(self) -> Callable[[int], Ints]:
        """A function: for the number of a class, the rows of the original that it could hold; each computed once."""
        return cache(self.linkage.candidates)

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """Rows of the release in each attacked class, in the order of the file."""
        members: dict[int, list[int]] = {group: [] for group in self.groups.tolist()}
        for row, group in enumerate(self.linkage.release.group.tolist()):
            if group in members:
                members[group].append(row)
        return members


def choose_target(
    path: AnyPath, original: Table, certificate: AnyPath | None, second: Second | None, seed: int
) -> Target:
    """Find the candidates of every class, or of as many classes as are attacked."""
    release = read_published(path, certificate=certificate, with_cells=True)
    own, other = link_second(original, second)
    if seed < 0:
        raise unusable_value("--seed", "Write a whole number, 0 or more.")
    check_loaded(original, release.cells)
    linkage = link(release, original)
    classes = len(release.labels)
    groups = np.random.default_rng(seed).permutation(classes)[:MOST_CLASSES]
    candidates = [linkage.candidates(group) for group in np.sort(groups)]
    check_covers(linkage, np.sort(groups), np.array(list(map(len, candidates))), "--original")
    return Target(linkage, np.sort(groups), candidates, seed, own, other)


def link_second(original: Table, second: Second | None) -> tuple[Ints, LinkedVersion | None]:
    """The number of each row of the original, and another release with the numbers of its own rows."""
    own = np.arange(original.rows)
    if second is None:
        return own, None
    release = read_published(second.path, with_cells=True)
    if second.original is None:
        return own, LinkedVersion(link(release, original), own)
    own, theirs = number_by_key([original, second.original], second.key)
    return own, LinkedVersion(link(release, second.original), theirs)

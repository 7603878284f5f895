"""People: what somebody finds who knows one row of a person, or all of them, where a person may have several.

The original names the people.  Nobody sees which released rows belong to one person, unless a number links them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from kech.audit.attacks.histories import SEVERAL, PublishedHistories, read_histories
from kech.audit.attacks.outcome import Attack
from kech.audit.attacks.target import Target
from kech.certificate import Cell
from kech.certificate.check import read_values
from kech.certificate.models import text_reader
from kech.release.published import Ints

MOST_PEOPLE = 1_000  # looked up; of more, so many are drawn

Candidates = frozenset[int]  # people, or values, by their numbers
Look = Callable[[int], Candidates]  # of a class: the people or the values it could hold
RemainingCandidates = Callable[["KnownPerson"], Candidates]  # of a person: the values that are left


@dataclass(frozen=True, slots=True)
class KnownPerson:
    """A person whom the attacker knows: of each row that could be published, the classes it could be in."""

    person: int
    rows: tuple[int, ...]
    classes: tuple[tuple[int, ...], ...]


def attack_one_row(target: Target) -> list[Attack]:
    """Look up each row of a person alone: how many people have a candidate in the classes that the row could be in.

    A hit is a person with a row that leaves fewer than k people.  Control: people assigned to rows at random, each to
    as many as before.
    """
    k, known = target.linkage.release.promised_k, draw_people(target)
    shuffled = target.rng().permutation(target.person)
    hits, control = (
        sum(any(len(join(classes, look)) < k for classes in one.classes) for one in known)
        for look in (look_for_people(target, target.person), look_for_people(target, shuffled))
    )
    about = f"people with fewer than {k:,} candidates for one of their rows"
    return [Attack("one-row", about, len(known), hits, control)]


def attack_all_rows(target: Target) -> list[Attack]:
    """Look up all rows of a person: how many people have a candidate for every one of them, or which numbers fit.

    A hit is a person with fewer than k such people.  Control: one row of the same person, drawn at random.
    Whom no number fits is not in the file.
    """
    k, known, rng = target.linkage.release.promised_k, draw_people(target), target.rng()
    look, histories = look_for_people(target, target.person), read_histories(target.linkage.release)
    left = [
        len(histories.find_fitting(one.classes) if histories else intersect_looks(one.classes, look)) for one in known
    ]
    known, left = [one for one, count in zip(known, left, strict=True) if count], list(filter(None, left))
    control = sum(len(join(one.classes[rng.integers(len(one.classes))], look)) < k for one in known)
    note = f"{sum(count == 1 for count in left):,} are the only one whose rows fit"
    about = f"people with fewer than {k:,} candidates for all of their rows"
    return [Attack("all-rows", about, len(known), sum(count < k for count in left), control, note)]


def attack_constant(target: Target) -> list[Attack]:
    """Look up all rows of a person whose sensitive value stays the same: it is in a class of every row.

    A hit is a person of whom one value is left, and it is the right one.  Control: the sensitive values of the release,
    assigned to its rows at random.  Where numbers link rows, a value is left if a number fits that has it on all rows;
    control: such values, assigned to the numbers at random.
    """
    release, known = target.linkage.release, draw_people(target)
    histories = read_histories(release)
    attacks = []
    for column in release.sensitive:
        values, truth = compare_values(target, column)
        constant = [
            (one, distinct.pop()) for one in known if len(one.rows) > 1 and len(distinct := values_of(one, truth)) == 1
        ]
        looks = look_along(target, values, histories) if histories else look_across(target, values)
        hits, control = (sum(left(one) == {right} for one, right in constant) for left in looks)
        look = look_for_values(target, values)
        alone = sum(any(join(classes, look) == {right} for classes in one.classes) for one, right in constant)
        about = f"people of several rows with one {column}, which is given away"
        attacks.append(Attack("constant", about, len(constant), hits, control, f"{alone:,} by one row alone"))
    return attacks


def compare_values(target: Target, column: str) -> tuple[Ints, Ints]:
    """The values of the released rows and of the original as numbers, equal where a certificate takes them as equal."""
    release = target.linkage.release
    compared = cache(text_reader(read_values([column], release.document.get("values", {}))[column]))
    known: dict[object, int] = {}

    def number(cells: Iterable[Cell]) -> Ints:
        return np.array([known.setdefault(compared(cell), len(known)) for cell in cells], np.int64)

    return number(release.cells[column]), number(target.linkage.texts(column))


def look_across(target: Target, values: Ints) -> list[RemainingCandidates]:
    """Functions for the values that are in a class of every row of a person: as published, and assigned at random."""

    def see(cells: Ints) -> RemainingCandidates:
        look = look_for_values(target, cells)
        return lambda one: intersect_looks(one.classes, look)

    return [see(values), see(target.rng().permutation(values))]


def look_along(target: Target, values: Ints, histories: PublishedHistories) -> list[RemainingCandidates]:
    """Functions for the values that a fitting number has on all rows: as published, and assigned at random."""
    fitting = cache(lambda one: histories.find_fitting(one.classes))

    def see(number_values: Ints) -> RemainingCandidates:
        return lambda one: frozenset(number_values[fitting(one)].tolist()) - {SEVERAL}

    constant = histories.find_constant(values)
    return [see(constant), see(target.rng().permutation(constant))]


def draw_people(target: Target) -> list[KnownPerson]:
    """Some people of whom a row could be published, drawn by the seed."""
    person = target.person
    order = np.argsort(person, kind="stable")
    rows_of = np.split(order, np.flatnonzero(np.diff(person[order])) + 1)
    drawn = [rows_of[i] for i in np.sort(target.rng().permutation(len(rows_of))[:MOST_PEOPLE])]
    classes = iter(target.linkage.classes_of(np.concatenate(drawn)))
    people = []
    for rows in drawn:
        pairs = [(int(row), tuple(next(classes).tolist())) for row in rows]
        if published := [pair for pair in pairs if pair[1]]:
            people.append(KnownPerson(int(person[rows[0]]), *zip(*published, strict=True)))
    return people


def look_for_people(target: Target, person: Ints) -> Look:
    """A function: for a class, the people who have a candidate in it."""
    return cache(lambda group: frozenset(person[target.candidates_of(group)].tolist()))


def look_for_values(target: Target, values: Ints) -> Look:
    """A function: for a class, the sensitive values that it publishes."""
    group = target.linkage.release.group
    order = np.argsort(group, kind="stable")
    class_values = np.split(values[order], np.cumsum(target.linkage.release.sizes)[:-1])
    return lambda group: frozenset(class_values[group].tolist())


def values_of(one: KnownPerson, truth: Ints) -> set[int]:
    """The different values that a person has."""
    return set(truth[list(one.rows)].tolist())


def join(classes: Iterable[int], look: Look) -> Candidates:
    """What at least one of these classes could hold."""
    return frozenset().union(*map(look, classes))


def intersect_looks(rows: Sequence[Iterable[int]], look: Look) -> Candidates:
    """What every row could hold, each of which could be in some classes."""
    return frozenset.intersection(*(join(classes, look) for classes in rows))

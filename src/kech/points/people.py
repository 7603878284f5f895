"""People: whose rows a table holds, where one person may have several.

In: the person columns of a table.  Out: the person of every unit of the points, and how many people a class has.

A unit is the rows of one person at one tuple of codes.  People with a single row in the whole table are never counted
twice, so all of them at one tuple are one unit, whose person is ALONE: there rows are people.

    people(class) = rows of its units that are ALONE + different persons among its other units

Texts are compared folded, and rows without a person count as one person: kech counts too few rather than too many.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.axes.grid import Ints
from kech.axes.spelling import encode_spellings, fold_people
from kech.tables.sql import Mapping1D
from kech.tables.table import Table

ALONE = -1  # the person of rows that all belong to different people without a second row
Persons = NDArray[np.int32]


def encode_people(table: Table, *, histories: bool = False) -> tuple[Mapping1D, ...]:
    """The person columns as codes; none where every row is another person, unless everybody has a history."""
    mappings = tuple(encode_person(table, column) for column in table.person)
    return mappings if mappings and (histories or count_people_of(table, mappings) < table.rows) else ()


def encode_person(table: Table, column: str) -> Mapping1D:
    """One person column as codes; what is missing is 0."""
    values, _ = table.values(column, "text")
    return Mapping1D(table.index(column), "text", values, encode_spellings(values, fold_people), 0)


def count_people_of(table: Table, mappings: Sequence[Mapping1D]) -> int:
    """Different people of a table."""
    if len(mappings) == 1:
        nameless = table.facts(table.columns[mappings[0].column]).nulls > 0
        codes = mappings[0].codes
        return int(np.count_nonzero(np.bincount(np.append(codes, 0) if nameless else codes)))
    return len(table.engine.group(mappings)[1])


def count_table_people(table: Table) -> int | None:
    """Different people of a table; None where every row is another person."""
    mappings = encode_people(table)
    return count_people_of(table, mappings) if mappings else None


def number_people(codes: NDArray[np.int32]) -> Ints:
    """A number for each different row of codes."""
    if codes.shape[1] == 1:
        return np.asarray((np.cumsum(np.bincount(codes[:, 0]) > 0) - 1)[codes[:, 0]])
    order = np.lexsort(codes.T)
    new = np.r_[False, (np.diff(codes[order], axis=0) != 0).any(axis=1)][: len(codes)]
    numbers = np.empty(len(codes), np.int64)
    numbers[order] = np.cumsum(new)
    return numbers


def draw_person_numbers(codes: NDArray[np.int32], rows: Ints, key: bytes, *, histories: bool = False) -> Persons:
    """The number of the person behind each group of rows, or ALONE.

    In: for each group the codes of its person columns, equal where the person is, and how many rows it has.
    A person with one row in all groups together is ALONE, unless everybody has a history.
    Numbers decide who comes to which class.  So that no order of the table shows in a release, the key draws them.
    """
    in_table = number_people(codes)
    rows_of_person = np.bincount(in_table, rows).astype(np.int64)
    numbered = np.flatnonzero(rows_of_person > (0 if histories else 1))
    drawn = np.full(len(rows_of_person), ALONE, np.int32)
    drawn[numbered] = draw_order(len(numbered), key)
    return drawn[in_table]


def draw_order(count: int, key: bytes) -> NDArray[np.int32]:
    """The numbers from 0 on in an order that only the key knows."""
    place = np.empty(count, np.int32)
    place[np.argsort(draw_numbers(np.arange(count), key))] = np.arange(count, dtype=np.int32)
    return place


def draw_numbers(places: Ints, key: bytes) -> NDArray[np.uint64]:
    """A number for each place that only the key knows, another one for each."""
    return scramble(places.astype(np.uint64) + np.uint64(int.from_bytes(key[:8], "little")))


def mix(columns: Sequence[Ints]) -> Ints:
    """One number for the cells of each row; 0 where all are missing."""
    mixed = np.zeros(len(columns[0]), np.uint64)
    for cells in columns:
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15) + cells.view(np.uint64)
    return mixed.view(np.int64)


def scramble(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers of 64 bits that look random (the finalizer of SplitMix64)."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def count_people(group: Ints, person: Persons, rows: Ints, classes: int) -> Ints:
    """Different people of each class; shares are (class, person, rows)."""
    single = person == ALONE
    people = np.bincount(group[single], rows[single], classes).astype(np.int64)
    persons = int(person.max(initial=0)) + 1
    pairs = np.sort(group[~single] * persons + person[~single])  # np.unique hashes, which is ten times as slow
    return people + np.bincount(pairs[np.diff(pairs, prepend=-1) != 0] // persons, minlength=classes)


def count_holders(
    group: Ints, value: NDArray[np.int32], person: Persons, rows: Ints
) -> tuple[Ints, NDArray[np.int32], Ints]:
    """Shares (class, value, people): a person counts once for each value that they hold in a class."""
    single = person == ALONE
    several = np.stack([group[~single], value[~single], person[~single]]).astype(np.int64)
    order = np.lexsort(several)
    several = several[:, order]
    new = np.r_[True, (np.diff(several, axis=1) != 0).any(axis=0)][: several.shape[1]]
    ones = np.ones(int(new.sum()), np.int64)
    return (
        np.r_[group[single], several[0, new]],
        np.r_[value[single], several[1, new].astype(np.int32)],
        np.r_[rows[single], ones],
    )


def count_at_codes(codes: NDArray[np.int32], person: Persons | None, rows: Ints, size: int) -> Ints:
    """How many people there are at each code of an axis, each counted once, at the middle one of their own codes.

    Without persons, how many rows.
    """
    if person is None:
        return np.bincount(codes, rows, size).astype(np.int64)
    single = person == ALONE
    people = np.bincount(codes[single], rows[single], size).astype(np.int64)
    return people + np.bincount(find_middles(person[~single], codes[~single], rows[~single]), minlength=size)


def order_pairs(first: Ints | Persons, second: Ints | Persons) -> Ints:
    """The order of pairs of numbers from -1 on that an int32 holds; sorted as one number, in a third of the time."""
    return np.argsort((first.astype(np.int64) << 32) + second)


def find_middles(person: Ints | Persons, value: NDArray[np.int32], rows: Ints) -> NDArray[np.int32]:
    """The middle value of each person, in any order; most people have a single one in most columns."""
    several = np.bincount(person)[person] > 1
    single, person, value, rows = value[~several], person[several], value[several], rows[several]
    order = order_pairs(person, value)
    person, value, upto = person[order], value[order], np.cumsum(rows[order])
    start = np.flatnonzero(np.diff(person, prepend=-1))
    before = np.r_[0, upto][start]
    total = np.r_[before[1:], upto[-1:]] - before
    return np.asarray(np.r_[single, value[np.searchsorted(upto, before + (total + 1) // 2)]])


def count_representatives(
    table: Table, people: Sequence[Mapping1D], column: str, kind: str, values: Any
) -> tuple[Ints, Ints, int]:
    """How many different people hold each value of a column; how many stand there, and at no value.

    A person stands at the middle one of their own values.  Everybody counts once, so the sum over any values is at most
    the number of different people who hold them: what hides among k by these counts hides among k people.
    """
    nowhere = len(values)
    places = Mapping1D(table.index(column), kind, values, np.arange(nowhere, dtype=np.int32), nowhere)
    codes, rows = table.engine.count_codes((places, *people))
    number = codes[:, 1] if len(people) == 1 else number_people(codes[:, 1:])
    middles = find_middles(number, codes[:, 0], rows)
    counts = np.bincount(middles, minlength=nowhere + 1)
    holders = np.bincount(codes[:, 0], minlength=nowhere + 1)
    return holders[:nowhere], counts[:nowhere], int(counts[nowhere])

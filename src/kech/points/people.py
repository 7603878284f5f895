"""People: counts people in a table where a person may have several rows.

In: the person columns of a table.  Out: the person of every unit of the points, and the number of people of a class.

A unit is the rows of one person with one tuple of codes.  People with a single row in the whole table cannot be counted
twice, so all of them with one tuple are one unit, whose person is ALONE: there rows are people.

    people(class) = rows of its units that are ALONE + different persons among its other units

Texts are compared in their folded form, and rows without a person count as one person: kech never counts too many.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kech.axes.grid import Ints
from kech.axes.spelling import encode_spellings, fold_people
from kech.tables.sql import ColumnCodes, is_whole
from kech.tables.table import Table

MOST_EXACT = 2**53  # whole numbers below it are exact as floats
ALONE = -1  # the person of rows that all belong to different people without a second row
GOLDEN, TURN = np.uint64(2654435769), np.uint64(1 << 32)  # 2^32 divided by the golden ratio, and 2^32
Persons = NDArray[np.int32]


def encode_people(table: Table, *, histories: bool = False) -> tuple[ColumnCodes, ...]:
    """The person columns as codes; none where every row is another person, unless everybody has a history."""
    if not histories and any(has_unique_numbers(table, column) for column in table.person):
        return ()
    mappings = tuple(encode_person(table, column) for column in table.person)
    return mappings if mappings and (histories or count_people_of(table, mappings) < table.rows) else ()


def has_unique_numbers(table: Table, column: str) -> bool:
    """Whether a column holds whole numbers, another one in each row: then no spelling need be compared."""
    index = table.index(column)
    return is_whole(table.engine.layout.columns[index]) and table.engine.count_present(index)[0] == table.rows


def encode_person(table: Table, column: str) -> ColumnCodes:
    """One person column as codes, in the order of its texts; what is missing is 0."""
    index = table.index(column)
    if is_whole(table.engine.layout.columns[index]):
        numbers, _ = table.values(column, "number")
        if len(numbers) and numbers[0] >= 0 and numbers[-1] < MOST_EXACT:
            return ColumnCodes(index, "number", numbers, rank_as_texts(numbers.astype(np.int64)) + np.int32(1), 0)
    values, _ = table.values(column, "text")
    return ColumnCodes(index, "text", values, encode_spellings(values, fold_people), 0)


def rank_as_texts(numbers: Ints) -> NDArray[np.int32]:
    """The rank of each of some whole numbers among their texts, which takes a third of the time of reading texts.

    >>> rank_as_texts(np.array([0, 1, 2, 10, 11, 100]))
    array([0, 1, 5, 2, 4, 3], dtype=int32)
    """
    powers = 10 ** np.arange(1, 17)
    digits = np.searchsorted(powers, numbers, side="right")
    padded = numbers * (powers // 10)[digits.max(initial=0) - digits]
    rank = np.empty(len(numbers), np.int32)
    rank[np.lexsort((digits, padded))] = np.arange(len(numbers), dtype=np.int32)
    return rank


def count_people_of(table: Table, mappings: Sequence[ColumnCodes]) -> int:
    """Number of different people of a table, by the codes of its person columns."""
    if len(mappings) == 1:
        nameless = table.facts(table.columns[mappings[0].column]).nulls > 0
        codes = mappings[0].codes
        return int(np.count_nonzero(np.bincount(np.append(codes, 0) if nameless else codes)))
    return len(table.engine.group(mappings)[1])


def count_table_people(table: Table) -> int | None:
    """Number of different people of a table; None where every row is another person."""
    mappings = encode_people(table)
    return count_people_of(table, mappings) if mappings else None


def number_tuples(codes: NDArray[np.int32]) -> Ints:
    """A number from 0 for each row of codes: equal for equal rows, ascending by the last code first.

    Codes are -1 or more.
    """
    if codes.shape[1] == 1:
        column = codes[:, 0] + 1
        return np.asarray((np.cumsum(np.bincount(column) > 0) - 1)[column])
    order = np.lexsort(codes.T)
    new = np.r_[False, (np.diff(codes[order], axis=0) != 0).any(axis=1)][: len(codes)]
    numbers = np.empty(len(codes), np.int64)
    numbers[order] = np.cumsum(new)
    return numbers


def draw_person_numbers(codes: NDArray[np.int32], rows: Ints, key: bytes, *, histories: bool = False) -> Persons:
    """The number of the person of each group of rows, or ALONE.

    In: the codes of the person columns and the number of rows of each group.
    A person with one row in all groups together is ALONE, except with `histories`.
    Numbers affect which person comes to which class.  They are drawn with the key, so that a release does not reveal
    the order of the table.
    """
    in_table = number_tuples(codes)
    rows_of_person = np.bincount(in_table, rows).astype(np.int64)
    numbered = np.flatnonzero(rows_of_person > (0 if histories else 1))
    drawn = np.full(len(rows_of_person), ALONE, np.int32)
    drawn[numbered] = draw_order(len(numbered), key)
    return drawn[in_table]


def draw_order(count: int, key: bytes) -> NDArray[np.int32]:
    """The numbers from 0 to count - 1 in a random order that depends on the key."""
    rank = np.empty(count, np.int32)
    rank[np.argsort(draw_numbers(np.arange(count), key))] = np.arange(count, dtype=np.int32)
    return rank


def draw_numbers(indices: Ints, key: bytes) -> NDArray[np.uint64]:
    """A random number for each index, all different, from the key."""
    return scramble(indices.astype(np.uint64) + np.uint64(int.from_bytes(key[:8], "little")))


def mix(columns: Sequence[Ints]) -> Ints:
    """One number for the cells of each row; 0 where all are missing."""
    mixed = np.zeros(len(columns[0]), np.uint64)
    for cells in columns:
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15) + cells.view(np.uint64)
    return mixed.view(np.int64)


def scramble(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Pseudo-random numbers of 64 bits from numbers (the finalizer of SplitMix64)."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def count_people(group: Ints, person: Persons, rows: Ints, classes: int) -> Ints:
    """Number of different people of each class, from shares (class, person, rows)."""
    single = person == ALONE
    people = np.bincount(group[single], rows[single], classes).astype(np.int64)
    persons = int(person.max(initial=0)) + 1
    pairs = np.sort(group[~single] * persons + person[~single])  # ten times as fast as np.unique
    return people + np.bincount(pairs[np.diff(pairs, prepend=-1) != 0] // persons, minlength=classes)


def count_holders(
    group: Ints, value: NDArray[np.int32], person: Persons, rows: Ints
) -> tuple[Ints, NDArray[np.int32], Ints]:
    """How many people hold each value in each class: (class, value, people), from shares of rows.

    A person counts once for each value in a class.
    """
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
    """The number of people at each code of an axis; a person counts once, at one of their codes.

    Without persons, the number of rows.
    """
    if person is None:
        return np.bincount(codes, rows, size).astype(np.int64)
    single = person == ALONE
    people = np.bincount(codes[single], rows[single], size).astype(np.int64)
    _, assigned = assign_values(person[~single], codes[~single], rows[~single])
    return people + np.bincount(assigned, minlength=size)


def order_pairs(first: Ints | Persons, second: Ints | Persons) -> Ints:
    """The sorted order of pairs of int32 numbers from -1 on; sorted as one number, three times as fast."""
    return np.argsort((first.astype(np.int64) << 32) + second)


def assign_values(person: Ints | Persons, value: NDArray[np.int32], rows: Ints) -> tuple[Ints, Ints]:
    """The different values of each person, and the one that each is assigned to, in any order.

    Person p is assigned to the value at the quantile p / golden ratio, modulo 1, of their rows.  So people who all have
    the same values, such as the waves of a panel, are spread evenly over them; their medians would all be one value.
    Most people have a single value in most columns, so only the others are sorted.
    """
    last = np.full(int(person.max(initial=-1)) + 1, -1, np.int32)
    last[person] = value
    changes = np.zeros(len(last), bool)
    changes[person[value != last[person]]] = True
    several, single = changes[person], last[~changes & (last >= 0)]
    person, value, rows = person[several], value[several], rows[several]
    order = order_pairs(person, value)
    person, value, upto = person[order], value[order], np.cumsum(rows[order])
    start = np.flatnonzero(np.diff(person, prepend=-1))
    new = np.diff(value, prepend=-1) != 0
    new[start] = True
    before = np.r_[0, upto][start]
    total = np.r_[before[1:], upto[-1:]] - before
    quantile = person[start].astype(np.uint64) * GOLDEN % TURN
    assigned = np.searchsorted(upto, before + 1 + (quantile * total.astype(np.uint64) // TURN).astype(np.int64))
    return np.r_[single, value[new]], np.r_[single, value[assigned]]


class ValueHolders(NamedTuple):
    """How many people hold each value of a column.

    A person is assigned to one of their values (`assign_values`).  So the assigned people of some values are at most
    the different people who have one of them: an edge or label that hides among k assigned people hides among k people.
    """

    holding: Ints  # different people who hold each value
    assigned: Ints  # people who are assigned to it
    assigned_to_null: int  # people who are assigned to a missing value


def count_holders_of_values(
    table: Table, people: Sequence[ColumnCodes], values: Sequence[ColumnCodes]
) -> Iterator[ValueHolders]:
    """For each column, how many people hold each of its values; the code of a value is its index, NULL is last."""
    codes = table.engine.code_all((*people, *values))
    person, rows = number_tuples(codes[:, : len(people)]), np.ones(len(codes), np.int64)
    for column, mapping in enumerate(values, len(people)):
        size = len(mapping.codes)
        own_values, assigned = assign_values(person, codes[:, column], rows)
        counts = np.bincount(assigned, minlength=size + 1)
        yield ValueHolders(np.bincount(own_values, minlength=size + 1)[:size], counts[:size], int(counts[size]))

"""Rekeyed: how often a series refuses rows that come again under other keys, and how often it refuses others.

usage: python benchmarks/rekeyed.py [--histories 200]

Made-up histories of 300 rows, twelve months and k = 5: each month 15 rows leave and 20 arrive.  In some of them rows
get other keys, as a careless export gives them; each such row would stand in a second cohort.  The claim page of series
quotes what is counted here: histories that were refused, of all, and those in which the owner was told that rows may be
the same ones.  Every table is matched with the history of its series and judged as `kech release --series` does it; no
file is written, and cohorts are new rows in the order they came.
"""

import argparse
import json
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from kech.errors import BadSeries
from kech.release.series.doubts import MANY_EXCHANGED, are_exchanged, check_changes
from kech.release.series.hashes import find_positions
from kech.release.series.matching import Match
from kech.release.series.store import Cohorts, History, PublishedRows
from run import HERE, describe_run

RESULTS = HERE / "results" / "rekeyed.json"
FIRST, LEAVE, ARRIVE, MONTHS, K = 300, 15, 20, 12, 5


@dataclass(frozen=True)
class Row:
    """A visit; its cells are rare where ages and places are many."""

    visit: int
    person: int
    age: int
    zip: int
    sex: str
    finding: str

    @property
    def cells(self) -> tuple[object, ...]:
        """Those that are published."""
        return self.age, self.zip, self.sex, self.finding


@dataclass
class World:
    """The rows that are there, those that are away, and the next key."""

    rng: random.Random
    ages: int
    zips: int
    next_key: int = 0
    rows: list[Row] = field(default_factory=list)
    away: list[Row] = field(default_factory=list)

    def arrive(self, count: int) -> None:
        """New rows, each of another person."""
        pick = self.rng.choice
        for _ in range(count):
            key = self.take_key()
            cells = (self.rng.randrange(self.ages), 2110 + self.rng.randrange(self.zips), pick("fm"), pick("abcd"))
            self.rows.append(Row(key, key, *cells))

    def leave(self, count: int) -> list[Row]:
        """So many rows are gone."""
        self.rng.shuffle(self.rows)
        gone, self.rows = self.rows[:count], self.rows[count:]
        return gone

    def take_key(self) -> int:
        """A key that nobody had."""
        self.next_key += 1
        return self.next_key

    def rekey(self, rows: list[Row], ages: int = 0) -> None:
        """Rows come again under other keys, some years older."""
        self.rows += [replace(row, visit=self.take_key(), age=row.age + ages) for row in rows]


Change = Callable[[World, int], None]


def rekey_each_month(world: World, month: int, count: int, ages: int = 0) -> None:
    """So many rows get other keys in every month from the second on."""
    if month:
        world.rekey(world.leave(count), ages)


def rekey_once(world: World, month: int, share: float, ages: int = 0) -> None:
    """A share of the rows get other keys in the third month."""
    if month == 2:
        world.rekey(world.leave(round(share * len(world.rows))), ages)


def skip_and_rekey(world: World, month: int, count: int, ages: int = 0) -> None:
    """Rows are away in the third month, and come back in the fourth under other keys."""
    if month == 2:
        world.away = world.leave(count)
    if month == 3:
        world.rekey(world.away, ages)


def change_nothing(world: World, month: int) -> None:
    """Rows leave and arrive, and nothing else."""


RARE, COMMON = (91, 50), (9, 3)  # ages and places
KINDS: dict[str, tuple[tuple[int, int], Change, bool]] = {  # cells; what happens; whether people are named
    "others, rare cells": (RARE, change_nothing, False),
    "others, common cells": (COMMON, change_nothing, False),
    "k at once": (RARE, partial(rekey_once, share=K / FIRST), False),
    "k - 1 a month": (RARE, partial(rekey_each_month, count=K - 1), False),
    "1 a month": (RARE, partial(rekey_each_month, count=1), False),
    "k - 1 a month, common cells": (COMMON, partial(rekey_each_month, count=K - 1), False),
    "after a month away": (RARE, partial(skip_and_rekey, count=40), False),
    "most, a year older": (RARE, partial(rekey_once, share=0.6, ages=1), False),
    "40 %, a year older": (RARE, partial(rekey_once, share=0.4, ages=1), False),
    "k - 1 a month, a year older": (RARE, partial(rekey_each_month, count=K - 1, ages=1), False),
    "after a month away, a year older": (RARE, partial(skip_and_rekey, count=40, ages=1), False),
    "most, a year older, of known people": (RARE, partial(rekey_once, share=0.6, ages=1), True),
}


def judge_history(name: str, seed: int) -> str:
    """Whether some month of a history is refused, or its owner is told, or nothing is said."""
    (ages, zips), change, by_people = KINDS[name]
    world, rows, said = World(random.Random(f"{name} {seed}"), ages, zips), Published(), "nothing"
    world.arrive(FIRST)
    for month in range(MONTHS):
        if month:
            world.leave(LEAVE)
            world.arrive(ARRIVE)
        change(world, month)
        match, alive = rows.match(world.rows)
        try:
            check_changes(SERIES, NAMING if by_people else KEYED, match, alive, MOST_CHANGED, K, 0)  # type: ignore[arg-type]
        except BadSeries:
            return "refused"
        said = "told" if are_exchanged(match, by_people, MANY_EXCHANGED) else said
        rows.publish(world.rows, match, month + 1)
    return said


MOST_CHANGED = 0.5  # as usual
SERIES = SimpleNamespace(folder="series")
KEYED = SimpleNamespace(row_key=("visit",), person=())
NAMING = SimpleNamespace(row_key=("visit",), person=("person",))


@dataclass
class Published:
    """What a series keeps of the rows that it published, where all that leave are held until their cohort has left."""

    rows: list[Row] = field(default_factory=list)
    cohort: list[int] = field(default_factory=list)
    born: list[int] = field(default_factory=list)
    listed: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    def match(self, rows: Sequence[Row]) -> tuple[Match, Any]:
        """A table matched with them, and which of their rows the last version has."""
        history, now = self.history(), hash_rows(rows)
        found = find_positions(now.whole, history.rows.whole)
        others = np.flatnonzero(found < 0)
        some = now.take(others)
        known = find_positions(some.key, history.rows.key)
        there = np.bincount(history.rows.cohort, self.listed, len(self.born)) > 0
        match = Match(
            history,
            same=found[found >= 0],
            history_row=known,
            unclear=np.zeros(len(others), bool),
            number=others,
            base=some.key,
            key=some.key,
            whole=some.whole,
            cells=some.cells,
            person=some.person,
        )
        return match, there[history.rows.cohort]

    def publish(self, rows: Sequence[Row], match: Match, version: int) -> None:
        """New rows are cohorts of k; fewer wait."""
        self.listed = match.present
        new = [rows[number] for number in match.number[match.new]]
        count = len(new) // K
        if count:
            self.cohort += [len(self.born) + min(i // K, count - 1) for i in range(len(new))]
            self.born += [version] * count
            self.rows += new
            self.listed = np.r_[self.listed, np.ones(len(new), bool)]

    def history(self) -> History:
        """As `kech.release.series` reads it."""
        rows, cohort = hash_rows(self.rows), np.array(self.cohort, np.int64)
        size = np.bincount(cohort, minlength=len(self.born))
        cohorts = Cohorts(pa.table({}), size, np.zeros_like(size), np.array(self.born, np.int64))
        rows = replace(rows, cohort=cohort)
        return History(rows, cohorts, (), rows.person, self.listed, others=NONE, current=rows.whole)


def hash_rows(rows: Sequence[Row]) -> PublishedRows:
    """Hashes of rows, as a series keeps them."""
    key, cells, person = (
        (hash_all(each) for each in zip(*((x.visit, x.cells, x.person) for x in rows), strict=True))
        if rows
        else (NONE, NONE, NONE)
    )
    whole = hash_all((x.visit, x.cells, x.person) for x in rows)
    return PublishedRows(key, whole, cells, cells, person, np.zeros(len(rows), np.int64))


NONE = np.empty((0, 16), np.uint8)


def hash_all(values: Any) -> Any:
    """A hash of each value."""
    digests = b"".join(blake2b(repr(value).encode(), digest_size=16).digest() for value in values)
    return np.frombuffer(digests, np.uint8).reshape(-1, 16)


def main() -> None:
    """Count, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=200)
    asked = parser.parse_args()
    refused, told = {}, {}
    for name in KINDS:
        words = [judge_history(name, seed) for seed in range(asked.histories)]
        refused[name], told[name] = words.count("refused"), words.count("told")
        print(f"{name}: {refused[name]} refused, {told[name]} told of {asked.histories}", file=sys.stderr, flush=True)
    found = describe_run(0) | {"histories": asked.histories, "refused": refused, "told": told}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

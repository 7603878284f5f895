"""Replay: who knows all rows but one, the version and the request makes the release again for every candidate.

A release is a function of its table, its request and the owner's secret.  With the secret, only candidates that give
the published labels remain; without it, the attacker draws a secret of their own.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa

from kech.audit.attacks.outcome import Attack
from kech.audit.attacks.target import Target
from kech.audit.recount import stated_fields
from kech.certificate import Cell
from kech.errors import BadOption, GoalNotMet
from kech.release.making import repeat_release
from kech.system.secret import OwnerSecret
from kech.tables.table import Table, read_table

MOST_ROWS = 1_000  # of a table: the release is made again for every candidate
MOST_TARGETS, MOST_CANDIDATES = 10, 8  # rows that are attacked, and candidates tried for each, the right one among them
NOT_AGAIN = (
    "the release of this table, made again, has other labels. Name the plan it was made by (--plan: effort, gap, seed) "
    "and the key (--key-file); a release of another version of kech cannot be replayed."
)

Row = tuple[Cell, ...]
Classes = Counter[Row]  # labels of a class -> its rows


@dataclass(frozen=True, slots=True)
class Trial:
    """What one row's replays showed: how many candidates fit, which remain, and which comes nearest."""

    fit: int
    tried: int
    remain: Sequence[int]  # places of candidates; the right one is the first
    nearest: int


def attack_replay(target: Target) -> list[Attack]:
    """Replay some rows, with the owner's secret and without it.

    A hit is a row of which one candidate remains, the right one; or whose right candidate comes nearest to the
    published labels.  Control: how many rows one of the tried candidates at random finds on average, rounded.
    """
    check_size(target)
    if target.linkage.release.document["parameters"].get("protect_history"):
        raise BadOption("replay", "it cannot make a release with --protect-history again. Choose other attacks.")
    owner, own = target.linkage.table.secret, draw_attacker_secret(target.seed)
    if make_again(target, owner, rows_of(target)) != count_published(target):
        raise BadOption("replay", NOT_AGAIN)
    rows = target.rng().permutation(target.linkage.rows)[:MOST_TARGETS].tolist()
    rows = [row for row, classes in zip(rows, target.linkage.classes_of(np.array(rows)), strict=True) if len(classes)]
    trials = [[try_row(target, secret, row) for row in rows] for secret in (owner, own)]
    guesses = guesses_at_random(trials[0])
    return [
        count_found("rows found with the owner's secret", trials[0], guesses),
        count_found("rows found without it", trials[1], guesses),
        count_nearest("rows guessed by the nearest replay without it", trials[1], guesses),
    ]


def check_size(target: Target) -> None:
    """Refuse a table that is too large to be replayed."""
    if target.linkage.rows > MOST_ROWS:
        reason = f"it makes the release again for every candidate, of tables with {MOST_ROWS:,} rows at most."
        raise BadOption("replay", f"{reason} This one has {target.linkage.rows:,}: release a part of it to try.")


def draw_attacker_secret(seed: int) -> OwnerSecret:
    """A secret of the attacker, the same for equal seeds."""
    return OwnerSecret(sha256(b"attacker %d" % seed).digest())


# -- one row -------------------------------------------------------------------------------------------------


def try_row(target: Target, secret: OwnerSecret, row: int) -> Trial:
    """Put every candidate in place of one row, and make the release again."""
    fit, candidates = find_candidates(target, row)
    published, rows = count_published(target), rows_of(target)
    trials = []
    for candidate in candidates:
        known = (*candidate, *rows[row][len(candidate) :])
        trials.append(make_again(target, secret, [*rows[:row], known, *rows[row + 1 :]]))
    shared = np.array([(published & classes).total() for classes in trials])
    best = np.flatnonzero(shared == shared.max())
    nearest = int(np.random.default_rng([target.seed, row]).choice(best))
    return Trial(fit, len(candidates), [i for i, classes in enumerate(trials) if classes == published], nearest)


def find_candidates(target: Target, row: int) -> tuple[int, list[Row]]:
    """How many tuples of values the labels of the row's class cover, and some of them, the right one first.

    Values are those that occur in the table; where several classes cover the row, the attacker is told one of them.
    """
    columns, linkage = target.linkage.columns, target.linkage
    group = int(linkage.classes_of(np.array([row]))[0][0])
    covered = [np.flatnonzero(column.cover(column.labels[group])).tolist() for column in columns]
    covered = [[code for code in codes if column.counts[code]] for codes, column in zip(covered, columns, strict=True)]
    fit, right = prod(map(len, covered)), tuple(int(column.codes[row]) for column in columns)
    rng = np.random.default_rng([target.seed, row])
    every = product(*covered) if fit <= MOST_CANDIDATES else draw_tuples(rng, covered)
    others = islice(dict.fromkeys(codes for codes in every if codes != right), MOST_CANDIDATES - 1)
    return fit, [tuple(c.texts[code] for c, code in zip(columns, codes, strict=True)) for codes in (right, *others)]


def draw_tuples(rng: np.random.Generator, covered: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Tuples of values at random, more than are wanted."""
    for _ in range(20 * MOST_CANDIDATES):
        yield tuple(int(rng.choice(codes)) for codes in covered)


# -- the release, again --------------------------------------------------------------------------------------


def count_published(target: Target) -> Classes:
    """The classes of the file."""
    release = target.linkage.release
    return Counter(dict(zip(release.labels, release.sizes.tolist(), strict=True)))


def make_again(target: Target, secret: OwnerSecret, rows: Sequence[Row]) -> Classes:
    """The classes of a release of other rows, under a secret; none where the request cannot be met."""
    with open_rows(target, secret, rows) as table:
        try:
            document = target.linkage.release.document
            release = repeat_release(table, document, stated_fields(document, target.request))
        except GoalNotMet:
            return Counter()
        names = target.linkage.release.quasi_identifiers
        labels = zip(*(release.labels[name] for name in names), strict=True)
        return Counter(dict(zip(labels, release.partition.sizes.tolist(), strict=True)))


@contextmanager
def open_rows(target: Target, secret: OwnerSecret, rows: Sequence[Row]) -> Iterator[Table]:
    """Rows as a table that is read as the original was."""
    original, release = target.linkage.table, target.linkage.release
    names = (*release.quasi_identifiers, *release.sensitive)
    cells = {name: pa.array(column, pa.string()) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    ordered = {name: cells[name] for name in original.columns if name in cells}
    axes = {name: choice for name, choice in original.request.axes.items() if name in cells}
    roles: dict[str, Any] = {"quasi_identifiers": release.quasi_identifiers, "sensitive": release.sensitive}
    with read_table(pa.table(ordered), **roles, axes=axes, hierarchies=original.hierarchies, threads=1) as table:
        yield replace(table, other_secret=secret)


def rows_of(target: Target) -> list[Row]:
    """Every row of the original as text: quasi-identifiers, then sensitive columns."""
    linkage = target.linkage
    known = [[column.texts[code] for code in column.codes.tolist()] for column in linkage.columns]
    return list(zip(*known, *(linkage.texts(name) for name in linkage.release.sensitive), strict=True))


# -- counting ------------------------------------------------------------------------------------------------


def guesses_at_random(trials: Sequence[Trial]) -> int:
    """How many rows are found on average by picking one of the tried candidates of each row at random; rounded."""
    return round(sum(1 / trial.tried for trial in trials))


def count_found(about: str, trials: Sequence[Trial], guesses: int) -> Attack:
    """The attack on rows of which only the right candidate remains."""
    fit, tried = sum(trial.fit for trial in trials), sum(trial.tried for trial in trials)
    note = f"{fit:,} candidates fit the labels, {tried:,} were tried, {sum(len(t.remain) for t in trials):,} remain"
    hits = sum(list(trial.remain) == [0] and trial.tried > 1 for trial in trials)
    return Attack("replay", about, len(trials), hits, guesses, note)


def count_nearest(about: str, trials: Sequence[Trial], guesses: int) -> Attack:
    """Rows whose right candidate comes nearest."""
    return Attack("replay", about, len(trials), sum(trial.nearest == 0 for trial in trials), guesses)

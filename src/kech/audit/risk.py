"""Risk: how likely somebody in a released file is found again, in the figures that review boards know.

In: a released file, and optionally the population its people are from.  Out: a `Risk`.
Nothing but the published labels is read; NULL is a value.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import exp, fsum, lgamma
from typing import Any

import numpy as np

from kech.certificate import AnyPath
from kech.errors import BadOption
from kech.release.linkage import count_covered, link
from kech.release.published import Ints, Published, read_published
from kech.tables.table import Table, read_table

THRESHOLDS = (0.09, 0.2)
SMALLEST = 10  # classes of which the size is listed

FORMULAS = {
    "symbols": "N rows in J classes; class j has f_j rows; F_j rows of the population could be in it; tau a threshold",
    "prosecutor.highest": "1 / min_j f_j",
    "prosecutor.average": "J / N",
    "prosecutor.above": "sum of f_j with 1 / f_j > tau, over N",
    "journalist.highest": "1 / min_j F_j",
    "journalist.average": "max(J / sum_j F_j, 1/N sum_j f_j / F_j)",
    "journalist.above": "sum of f_j with 1 / F_j > tau, over N",
    "marketer.average": "1/N sum_j f_j / F_j",
    "k_map": "min_j F_j",
    "sample_uniqueness": "number of j with f_j = 1, over N",
    "population_uniqueness, counted": "sum of f_j with F_j = 1, over N (the population table is given)",
    "population_uniqueness, zayatz": "sample_uniqueness * h(1) p_1 / sum_i h(i) p_i, where p_i is the share of classes "
    "with i rows and h(i) = i C(P - i, N - 1) / C(P, N) for a population of P (Zayatz 1991)",
    "distinction": "distinct labels / N",
    "separation": "share of the pairs of rows whose labels differ: 1 - sum_v c_v (c_v - 1) / (N (N - 1))",
}


@dataclass(frozen=True, slots=True)
class Attacker:
    """Chances of one kind of attacker; a record's chance is one over the rows it is confused with."""

    highest: float
    average: float
    above: dict[str, float]  # threshold -> share of the records whose chance exceeds it


@dataclass(frozen=True, slots=True)
class Separation:
    """How well one quasi-identifier, or all of them together, tells the rows apart."""

    column: str
    distinct: int
    distinction: float
    separation: float


@dataclass(frozen=True, slots=True)
class Risk:
    """What remains at risk in a released file; None where the population must be known and is not."""

    rows: int
    classes: int
    k: int
    quasi_identifiers: tuple[str, ...]
    thresholds: tuple[float, ...]
    prosecutor: Attacker
    journalist: Attacker | None
    marketer: dict[str, float] | None
    k_map: int | None
    population: int | None  # its rows
    sample_uniqueness: float
    population_uniqueness: float | None
    uniqueness_model: str | None  # counted or zayatz
    class_sizes: dict[int, int]  # size -> classes
    smallest_classes: tuple[int, ...]
    columns: tuple[Separation, ...]
    together: Separation

    def to_json(self) -> dict[str, Any]:
        """What the command prints."""
        return asdict(self) | {"formulas": FORMULAS}


def compute_risk(
    path: AnyPath,
    *,
    certificate: AnyPath | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    population: AnyPath | Table | int | None = None,
    threshold: Sequence[float] = THRESHOLDS,
) -> Risk:
    """Risk figures of a file whose certificate holds, or of any file on the columns that are named.

    The population is a file or an open table with the same columns, raw or labelled, or a number of people: a number
    is enough to estimate population uniqueness, and for nothing else.
    """
    taus = check_thresholds(threshold)
    return assess(read_published(path, certificate=certificate, quasi_identifiers=quasi_identifiers), taus, population)


def assess(release: Published, taus: tuple[float, ...], population: AnyPath | Table | int | None = None) -> Risk:
    """The figures of a file that was read."""
    if not release.rows:
        raise BadOption(str(release.path), "it has no rows, so nobody is at risk in it.")
    sizes = release.sizes
    counted = None if population is None or isinstance(population, int) else count_population(release, population)
    people = population if isinstance(population, int) else counted and counted[0]
    spread = counted and counted[1]
    share, model = unique_in_population(sizes, people, spread)
    return Risk(
        rows=release.rows,
        classes=len(sizes),
        k=int(sizes.min()),
        quasi_identifiers=release.quasi_identifiers,
        thresholds=taus,
        prosecutor=attack_chances(sizes, sizes, taus),
        journalist=None if spread is None else attack_chances(sizes, spread, taus),
        marketer=None if spread is None else {"average": mean_chance(sizes, spread)},
        k_map=None if spread is None else int(spread.min()),
        population=people,
        sample_uniqueness=int((sizes == 1).sum()) / release.rows,
        population_uniqueness=share,
        uniqueness_model=model,
        class_sizes=dict(sorted(Counter(sizes.tolist()).items())),
        smallest_classes=tuple(np.sort(sizes)[:SMALLEST].tolist()),
        columns=tuple(separate(release, column) for column in release.quasi_identifiers),
        together=measure_separation("all together", sizes),
    )


def check_thresholds(threshold: Sequence[float]) -> tuple[float, ...]:
    """Chances above 0 and at most 1, each once."""
    taus = tuple(dict.fromkeys(map(float, threshold)))
    if not taus or not all(0 < tau <= 1 for tau in taus):
        raise BadOption("--threshold", "give chances above 0 and at most 1: --threshold 0.09 0.2.")
    return taus


def attack_chances(sizes: Ints, confused: Ints, taus: Sequence[float]) -> Attacker:
    """Chances where a record is confused with so many rows: f_j for a prosecutor, F_j for a journalist."""
    rows = int(sizes.sum())
    above = {f"{tau:g}": int(sizes[1 / confused > tau].sum()) / rows for tau in taus}
    average = max(len(sizes) / int(confused.sum()), mean_chance(sizes, confused))
    return Attacker(1 / int(confused.min()), average, above)


def mean_chance(sizes: Ints, confused: Ints) -> float:
    """Share of the records that somebody who links all of them gets right: 1/N sum_j f_j / F_j."""
    return fsum((sizes / confused).tolist()) / int(sizes.sum())


def count_population(release: Published, population: AnyPath | Table) -> tuple[int, Ints]:
    """Rows of the population, and how many of them could be in each class."""
    if not isinstance(population, Table):
        with read_table(population) as table:
            return count_population(release, table)
    linkage = link(release, population)
    return linkage.rows, count_covered(linkage, np.arange(len(release.labels)), "--population")


def unique_in_population(sizes: Ints, people: int | None, spread: Ints | None) -> tuple[float | None, str | None]:
    """Share of the records that are unique in the population, and how it is known."""
    rows = int(sizes.sum())
    if spread is not None:
        return int(sizes[spread == 1].sum()) / rows, "counted"
    if people is None:
        return None, None
    if people < rows:
        raise BadOption("--population", f"{people:,} people are fewer than the {rows:,} released rows.")
    return int((sizes == 1).sum()) / rows * zayatz_chance(sizes, people), "zayatz"


def zayatz_chance(sizes: Ints, people: int) -> float:
    """Chance that a record which is unique among n released ones is unique among all P people (Zayatz 1991).

    Classes of the population are taken to be as large as those of the sample, p_i of them with i rows; one with i
    rows has one of them in the sample with the hypergeometric chance h(i) = i C(P - i, n - 1) / C(P, n).  By Bayes

        P(unique) = h(1) p_1 / sum_i h(i) p_i
    """
    rows = int(sizes.sum())
    terms = {size: classes * once(size, people, rows) for size, classes in Counter(sizes.tolist()).items()}
    return terms.get(1, 0.0) / total if (total := fsum(terms.values())) else 0.0


def once(size: int, people: int, rows: int) -> float:
    """Chance that exactly one of `size` people is among `rows` drawn from `people`."""
    if people - size < rows - 1:
        return 0.0
    return size * exp(log_choose(people - size, rows - 1) - log_choose(people, rows))


def log_choose(n: int, r: int) -> float:
    """Logarithm of n over r."""
    return lgamma(n + 1) - lgamma(r + 1) - lgamma(n - r + 1)


def separate(release: Published, column: str) -> Separation:
    """How well one column tells the rows apart."""
    counts: Counter[str | None] = Counter()
    for label, rows in zip(release.column_labels(column), release.sizes.tolist(), strict=True):
        counts[label] += rows
    return measure_separation(column, np.array(list(counts.values())))


def measure_separation(column: str, counts: Ints) -> Separation:
    """Distinction and separation of rows that have `counts` equal labels."""
    rows = int(counts.sum())
    pairs = rows * (rows - 1)
    alike = int((counts * (counts - 1)).sum())
    return Separation(column, len(counts), len(counts) / rows, 1 - alike / pairs if pairs else 0.0)

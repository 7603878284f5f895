"""Risk: how likely somebody in a released file is found again, in the figures that review boards know.

In: a released file, and optionally the population its people are from, or its original.  Out: a `Risk`.
Nothing but the published labels is read; NULL is a value.  A person may have several rows: rows are counted, unless the
original names the people.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import exp, fsum, lgamma
from typing import Any

import numpy as np

from kech.audit.recount import Recount, name_people, number_people, recount_people
from kech.certificate import AnyPath
from kech.errors import BadOption, unusable_value
from kech.release.linkage import check_covers, link
from kech.release.published import Ints, Published, read_published
from kech.request.parts import as_names
from kech.tables.table import Table, read_table

THRESHOLDS = (0.09, 0.2)
SMALLEST = 10  # classes of which the size is listed

FORMULAS = {
    "symbols": "N rows in J classes; class j has n_j rows of f_j people; F_j people of the population could be in it; "
    "tau a threshold; where rows are counted, f_j = n_j, and F_j are rows",
    "prosecutor.highest": "1 / min_j f_j",
    "prosecutor.average": "1/N sum_j n_j / f_j (J / N where rows are counted)",
    "prosecutor.above": "sum of n_j with 1 / f_j > tau, over N",
    "journalist.highest": "1 / min_j F_j",
    "journalist.average": "max(J / sum_j F_j, 1/N sum_j n_j / F_j)",
    "journalist.above": "sum of n_j with 1 / F_j > tau, over N",
    "marketer.average": "1/N sum_j n_j / F_j",
    "k_map": "min_j F_j",
    "sample_uniqueness": "sum of n_j with f_j = 1, over N",
    "population_uniqueness, counted": "sum of n_j with F_j = 1, over N (the population table is given)",
    "population_uniqueness, zayatz": "sample_uniqueness * h(1) p_1 / sum_i h(i) p_i, where p_i is the share of classes "
    "with f_j = i and h(i) = i C(P - i, N - 1) / C(P, N) for a population of P (Zayatz 1991)",
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
    counted: str  # people, where the original names them; otherwise rows
    k: int | None  # of these, in the smallest class; None where people are only bounded
    bounded: bool  # each class counts the fewest people it can have, so that chances are at most these
    people: int | None  # of the file, where they were counted
    recounted: dict[str, Any] | None  # how people were counted
    stated: dict[str, Any] | None  # what the maker says of people, and the highest risk of a prosecutor that follows
    quasi_identifiers: tuple[str, ...]
    thresholds: tuple[float, ...]
    prosecutor: Attacker
    journalist: Attacker | None
    marketer: dict[str, float] | None
    k_map: int | None
    population: int | None  # its people, or rows
    population_counted: str | None  # people or rows
    sample_uniqueness: float
    population_uniqueness: float | None
    uniqueness_model: str | None  # counted or zayatz
    class_sizes: dict[int, int]  # size -> classes
    smallest_classes: tuple[int, ...]
    columns: tuple[Separation, ...]
    together: Separation

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_risk

        return show_risk(self)

    def to_json(self) -> dict[str, Any]:
        """What the command prints."""
        return asdict(self) | {"formulas": FORMULAS}


@dataclass(frozen=True, eq=False, slots=True)
class Population:
    """How many people there are, and how many of them could be in each class; rows where nobody is named."""

    size: int
    matches: Ints | None = None  # for each class, people who could be in it; None where only their number is known
    counted: str = "people"


def compute_risk(
    path: AnyPath,
    *,
    certificate: AnyPath | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    population: AnyPath | Table | int | None = None,
    threshold: Sequence[float] = THRESHOLDS,
    original: AnyPath | Table | None = None,
    person: str | Sequence[str] = (),
) -> Risk:
    """Risk figures of a file whose certificate holds, or of any file on the columns that are named.

    The population is a file or an open table with the same columns, raw or labelled, or a number of people: a number
    is enough to estimate population uniqueness, and for nothing else.
    With the original and its `person` columns, figures count people: the release is made again from it, or where that
    fails every class counts the fewest people it can have.  A population with these columns is counted by people too.
    """
    taus, columns = check_thresholds(threshold), as_names(person, "--person")
    if original is not None and quasi_identifiers is not None:
        raise BadOption("--original", "people are counted on the columns of the certificate. Omit --qi or --original.")
    if columns and original is None and (population is None or isinstance(population, int)):
        raise BadOption("--person", "only tables name people. Add --original TABLE or --population TABLE.")
    release = read_published(
        path, certificate=certificate, quasi_identifiers=quasi_identifiers, with_cells=original is not None
    )
    recount = None
    if original is not None:
        with name_people(original, columns) as table:
            recount = recount_people(release, table)
    return assess(release, taus, population, recount, columns)


def assess(
    release: Published,
    taus: tuple[float, ...],
    population: AnyPath | Table | int | None = None,
    recount: Recount | None = None,
    person: Sequence[str] = (),
) -> Risk:
    """The figures of a file that was read."""
    if not release.rows:
        raise BadOption(str(release.path), "it has no rows, so nobody is at risk. Name another file.")
    sizes = release.sizes
    hidden = sizes if recount is None else recount.least
    stated = state_risk(release)
    people_of = np.full(len(sizes), stated["k"]) if stated and recount is None else recount.least if recount else None
    known = find_population(release, population, people_of, person)
    matches = None if known is None else known.matches
    people = None if recount is None else recount.people
    share, model = unique_in_population(sizes, hidden, known, people or (stated["people"] if stated else None))
    return Risk(
        rows=release.rows,
        classes=len(sizes),
        counted="rows" if recount is None else "people",
        k=int(hidden.min()) if recount is None or hidden.min() == recount.most.min() else None,
        bounded=recount is not None and not recount.is_exact,
        people=people,
        recounted=None if recount is None else recount.to_json(),
        stated=stated,
        quasi_identifiers=release.quasi_identifiers,
        thresholds=taus,
        prosecutor=attack_chances(sizes, hidden, taus),
        journalist=None if matches is None else attack_anybody(sizes, matches, taus),
        marketer=None if matches is None else {"average": mean_chance(sizes, matches)},
        k_map=None if matches is None else int(matches.min()),
        population=None if known is None else known.size,
        population_counted=None if known is None else known.counted,
        sample_uniqueness=int(sizes[hidden == 1].sum()) / release.rows,
        population_uniqueness=share,
        uniqueness_model=model,
        class_sizes=dict(sorted(Counter(hidden.tolist()).items())),
        smallest_classes=tuple(np.sort(hidden)[:SMALLEST].tolist()),
        columns=tuple(separation_of(release, column) for column in release.quasi_identifiers),
        together=measure_separation("all together", sizes),
    )


def state_risk(release: Published) -> dict[str, Any] | None:
    """What the maker states of people, which no reader can recount, and the risk that follows from it."""
    stated = release.document.get("stated")
    return {**stated, "highest": 1 / stated["k"]} if stated else None


def check_thresholds(threshold: Sequence[float]) -> tuple[float, ...]:
    """Chances above 0 and at most 1, each once."""
    try:
        taus = tuple(dict.fromkeys(map(float, threshold)))
    except (TypeError, ValueError):
        taus = ()
    if not taus or not all(0 < tau <= 1 for tau in taus):
        raise unusable_value("--threshold", "Give chances above 0 and at most 1: --threshold 0.09 0.2.")
    return taus


def attack_chances(sizes: Ints, confused: Ints, taus: Sequence[float]) -> Attacker:
    """Chances where a record is confused with so many: f_j for a prosecutor, F_j for a journalist."""
    rows = int(sizes.sum())
    above = {f"{tau:g}": int(sizes[1 / confused > tau].sum()) / rows for tau in taus}
    return Attacker(1 / int(confused.min()), mean_chance(sizes, confused), above)


def attack_anybody(sizes: Ints, matches: Ints, taus: Sequence[float]) -> Attacker:
    """Chances of a journalist, whose average is over the population where that is worse."""
    chances = attack_chances(sizes, matches, taus)
    return replace(chances, average=max(len(sizes) / int(matches.sum()), chances.average))


def mean_chance(sizes: Ints, confused: Ints) -> float:
    """Share of the records that somebody who links all of them gets right: 1/N sum_j f_j / F_j."""
    return fsum((sizes / confused).tolist()) / int(sizes.sum())


def find_population(
    release: Published, population: AnyPath | Table | int | None, least_people: Ints | None, person: Sequence[str]
) -> Population | None:
    """The population of a release, of whose people every class holds so many at least."""
    if population is None or isinstance(population, int):
        return None if population is None else Population(population)
    if not isinstance(population, Table):
        with read_table(population) as table:
            return find_population(release, table, least_people, person)
    if not population.person and person and set(person) <= set(population.columns):
        with population.reread(person=person) as table:
            return find_population(release, table, least_people, person)
    linkage, person_columns = link(release, population), population.person
    number = number_people(population, person_columns) if person_columns else np.arange(linkage.rows)
    matches = np.array([len(np.unique(number[linkage.candidates(j)])) for j in range(len(release.labels))])
    check_covers(linkage, np.arange(len(matches)), matches, "--population", least_people)
    return Population(len(np.unique(number)), matches, "people" if person_columns else "rows")


def unique_in_population(
    sizes: Ints, hidden: Ints, known: Population | None, people: int | None
) -> tuple[float | None, str | None]:
    """Share of the records that are unique in the population, and how it is known.

    The people of the file are counted or stated; where they are not, every row is somebody else.
    """
    if known is None:
        return None, None
    rows = int(sizes.sum())
    if known.matches is not None:
        return int(sizes[known.matches == 1].sum()) / rows, "counted"
    if known.size < (people or rows):
        counted = f"{people:,} people of the file" if people else f"{rows:,} released rows"
        raise BadOption(
            "--population",
            f"{known.size:,} people are fewer than the {counted}. Count everybody who could be in the file.",
        )
    return int(sizes[hidden == 1].sum()) / rows * zayatz_chance(hidden, known.size), "zayatz"


def zayatz_chance(sizes: Ints, people: int) -> float:
    """Chance that a record which is unique among n released ones is unique among all P people (Zayatz 1991).

    Classes of the population are taken to be as large as those of the sample, p_i of them with i rows; one with i
    rows has one of them in the sample with the hypergeometric chance h(i) = i C(P - i, n - 1) / C(P, n).  By Bayes

        P(unique) = h(1) p_1 / sum_i h(i) p_i
    """
    rows = int(sizes.sum())
    terms = {size: classes * chance_of_one(size, people, rows) for size, classes in Counter(sizes.tolist()).items()}
    return terms.get(1, 0.0) / total if (total := fsum(terms.values())) else 0.0


def chance_of_one(size: int, people: int, rows: int) -> float:
    """Chance that exactly one of `size` people is among `rows` drawn from `people`."""
    if people - size < rows - 1:
        return 0.0
    return size * exp(log_choose(people - size, rows - 1) - log_choose(people, rows))


def log_choose(n: int, r: int) -> float:
    """Logarithm of n over r."""
    return lgamma(n + 1) - lgamma(r + 1) - lgamma(n - r + 1)


def separation_of(release: Published, column: str) -> Separation:
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

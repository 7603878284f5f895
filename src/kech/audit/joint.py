"""Joint risk: what several releases of a table tell together, also where it changed between them.  PRIVATE.

In: released files of any tool, the originals they were made of, and the key by which a row is recognised.
Out: a `JointRisk`: joint k, rows and people below k, sensitive values pinned, classes that differ by few rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from kech.audit.differences import Difference, find_differences
from kech.audit.pinning import Pinned, find_common, pin_values
from kech.audit.recount import number_in_all
from kech.audit.verification import find_beside
from kech.certificate import AnyPath
from kech.errors import BadOption, ClaimBroken, OutOfMemory
from kech.release.covers import Cover, count_distinct
from kech.release.foreign import read_foreign
from kech.release.joint import LinkedVersion, count_renewed, cover_all, find_certain, narrow_all
from kech.release.linkage import link
from kech.release.meet import count_joint, find_meet, list_classes
from kech.release.published import Ints, Published, read_published
from kech.request import Request
from kech.system.console import report
from kech.system.memory import BASE_BYTES, PAIR_BYTES
from kech.tables.table import Table, read_table

MAKE_SERIES = "Do not hand out the later one, or publish all as a series."
CHECK_SERIES = "Hand out no later version before you know why. Check the files: kech verify --series FOLDER."
ONE_VALUE = "All rows of some cohort share one value. Only a series that was begun with --l 2 prevents that."


@dataclass(frozen=True, slots=True)
class JointRisk:
    """What somebody finds who has all releases and knows the quasi-identifiers and versions of every row.  PRIVATE."""

    releases: tuple[str, ...]
    alone: tuple[int, ...]  # k of each release
    goal: int  # the k that is asked of all together: the smallest of the releases, that of their series, or another one
    counted: str  # people or rows
    rows: int  # in several versions
    joint_k: int | None  # rows or people that stay together through all releases; None where no row is in several
    below: int  # rows that stay together with fewer than the goal
    people_below: int | None  # people with such a row; None where nobody is named
    candidates: int | None  # the fewest that a row could share its classes with, also where it fits several
    undecided: int  # rows that could be in several classes of a release, also for the owner
    at_least: int | None  # joint k, wherever these are
    pinned: tuple[Pinned, ...]  # one a sensitive column
    differences: tuple[Difference, ...]
    of_series: bool = False  # whether each says that it is one of a series
    renewed: int = 0  # rows that a series counts as new although an earlier original has them

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_joint_risk

        return show_joint_risk(self)

    @property
    def k(self) -> int:
        """The smallest k of the releases."""
        return min(self.alone)

    @property
    def changed(self) -> int:
        """Rows that came or left between two releases, so few that subtracting shows their cells."""
        return max(difference.changed for difference in self.differences)

    @property
    def sure_k(self) -> int | None:
        """Joint k on the safe side: rows of a series keep their labels; others may be in any class that they fit."""
        return self.joint_k if self.of_series else self.at_least

    @property
    def broken(self) -> tuple[str, ...]:
        """What does not keep the goal; nothing where the releases may be handed out together."""
        pinned = sum(each.right - each.alone for each in self.pinned)
        complaints = {
            f"joint k: asked {self.goal}, found less": self.sure_k is not None and self.sure_k < self.goal,
            "pinned: sensitive values that no release shows alone": pinned > 0,
            "series: rows that count as new are in earlier originals, so they stand in two cohorts": self.renewed > 0,
            f"differences: fewer than {self.goal} came or left": any(each.shows_rows for each in self.differences),
        }
        return tuple(complaint for complaint, is_found in complaints.items() if is_found)

    @property
    def remedy(self) -> str:
        """What to do where they do not keep the goal."""
        if not self.of_series:
            return MAKE_SERIES
        is_pinned = any(each.right > each.alone for each in self.pinned)
        return ONE_VALUE if is_pinned and len(self.broken) == 1 else CHECK_SERIES

    def check(self) -> None:
        """ClaimBroken where the releases together do not keep the goal."""
        if self.broken:
            files = " and ".join(map(repr, self.releases))
            finding = f"Together {files} do not keep k = {self.goal}: {'; '.join(self.broken)}."
            raise ClaimBroken(files, self.broken, self.remedy, finding=finding)

    def to_json(self) -> dict[str, Any]:
        """What the command prints."""
        names = (
            "counted",
            "rows",
            "joint_k",
            "below",
            "people_below",
            "candidates",
            "undecided",
            "at_least",
            "of_series",
            "renewed",
            "changed",
        )
        return {
            "private": True,
            "releases": [{"file": file, "k": k} for file, k in zip(self.releases, self.alone, strict=True)],
            "k": self.k,
            "goal": self.goal,
            "holds": not self.broken,
            **{name: getattr(self, name) for name in names},
            "pinned": [each.to_json() for each in self.pinned],
            "differences": [each.to_json() for each in self.differences],
        }


def compute_joint_risk(
    releases: Sequence[AnyPath],
    originals: Sequence[AnyPath | Table],
    request: Request | None = None,
    *,
    key: Sequence[str] | str = (),
    **fields: Any,
) -> JointRisk:
    """Joint k of several releases, each with its original, or all with one.  PRIVATE.

    A row is recognised in the next version by the columns of `key`.  A release is read by the certificate beside it, or
    by the `quasi_identifiers` and `sensitive` columns of a request, or fields of it; labels of other tools are read as
    far as they are written as kech writes them.  With `person` columns, candidates are people.  With k, ClaimBroken
    says that the releases together do not keep it (`JointRisk.check`).
    """
    request = (request or Request()).override(**fields)
    joint = measure_joint_risk(releases, originals, request, key=key)
    if request.goal.k is not None:
        joint.check()
    return joint


def measure_joint_risk(
    releases: Sequence[AnyPath], originals: Sequence[AnyPath | Table], request: Request, *, key: Sequence[str] | str
) -> JointRisk:
    """The figures, whether they keep the goal or not."""
    columns = (key,) if isinstance(key, str) else tuple(key)
    check_releases(releases, originals, columns, request)
    published = [read_release(path, request) for path in releases]
    check_versions([release.document["series"] for release in published if "series" in release.document], originals)
    with ExitStack() as stack:
        tables = [stack.enter_context(opened) for opened in open_originals(published, originals, columns, request)]
        fitted = fit_versions(published, tables, columns)
        return measure_fitted(fitted, tables, columns, find_person(originals, request), request.goal.k)


def check_releases(
    releases: Sequence[AnyPath], originals: Sequence[AnyPath | Table], key: Sequence[str], request: Request
) -> None:
    """Refuse what cannot be compared, or is not used."""
    if isinstance(releases, str) or not isinstance(releases, Sequence) or len(releases) < 2:
        raise BadOption("releases", "a joint k is of two releases or more. Name another one.")
    if isinstance(originals, str) or not isinstance(originals, Sequence) or len(originals) not in (1, len(releases)):
        trouble = "the number of originals does not fit" if originals else "it is missing"
        raise BadOption("--original", f"{trouble}. Name {len(releases)}, in the order of the releases, or one for all.")
    if len(originals) > 1 and not key:
        raise BadOption(
            "--key",
            "it is missing. Name the columns of the originals by which a row is recognised in the next version.",
        )
    without = [path for path in releases if find_beside(path) is None]
    if without and not request.columns.quasi_identifiers:
        raise BadOption("--qi", f"{str(without[0])!r} has no certificate beside it. Name its quasi-identifiers: --qi.")
    if request.columns.quasi_identifiers and not without:
        raise BadOption("--qi", "every release has a certificate, which names its columns. Omit --qi.")


def check_versions(sections: Sequence[Mapping[str, Any]], originals: Sequence[AnyPath | Table]) -> None:
    """Refuse versions that are not the first ones of one series, or are compared with the table of another version."""
    numbers, ids = [section["version"] for section in sections], {section.get("id") for section in sections}
    if numbers != list(range(1, len(numbers) + 1)):
        reason = (
            "the releases of a series are not its versions 1, 2 and so on. Name all of them from the first on, each "
            "with its original, and those of one series only."
        )
        raise BadOption("releases", reason)
    if len(ids - {None}) > 1:
        raise BadOption("releases", "they are versions of different series. Name those of one series only.")
    if len(sections) > 1 and len(originals) == 1:
        reason = (
            "each version of a series was made from a table of its own, and one is named. Name the tables in the "
            "order of the releases, and the columns by which a row is recognised: --key."
        )
        raise BadOption("--original", reason)


def read_release(path: AnyPath, request: Request) -> Published:
    """A release with all its cells, by its certificate or by the columns that are named."""
    if find_beside(path) is not None:
        return read_published(path, with_cells=True)
    columns = request.columns
    return read_foreign(path, columns.quasi_identifiers, columns.sensitive, columns.hierarchies or ())


def find_person(originals: Sequence[AnyPath | Table], request: Request) -> tuple[str, ...]:
    """The columns that name people: those that are asked for, or those an original was read with."""
    persons = [table.person for table in originals if isinstance(table, Table)]
    return request.columns.person or next(filter(None, persons), ())


def open_originals(
    releases: Sequence[Published], originals: Sequence[AnyPath | Table], key: Sequence[str], request: Request
) -> Iterator[Any]:
    """Every original with the columns that are needed of it; one for all releases is read once."""
    person, columns = find_person(originals, request), dict.fromkeys(key)
    groups = [releases] if len(originals) == 1 else [[release] for release in releases]
    for original, group in zip(originals, groups, strict=True):
        names = [name for release in group for name in list_columns(release)]
        yield open_original(original, tuple(columns | dict.fromkeys([*names, *person])), request)


def list_columns(release: Published) -> list[str]:
    """The columns of a release that its original has too: of another tool, those that are named."""
    return [*release.quasi_identifiers, *release.sensitive, *release.document.get("kept", ())]


@contextmanager
def open_original(original: AnyPath | Table, names: Sequence[str], request: Request) -> Iterator[Table]:
    """An original, read as the request says, with these columns."""
    roles: dict[str, Any] = {"quasi_identifiers": names, "sensitive": (), "identifiers": (), "keep": (), "person": ()}
    roles["rows_are_people"] = True
    with original.reread(**roles) if isinstance(original, Table) else read_table(original, request, **roles) as table:
        yield table


class FittedVersions(NamedTuple):
    """Releases, and which of their classes each row fits: for a reader, and for the owner."""

    versions: Sequence[LinkedVersion]
    covers: Sequence[Cover]
    narrowed: Sequence[Cover]

    @property
    def releases(self) -> list[Published]:
        """The released files."""
        return [version.linkage.release for version in self.versions]


def fit_versions(releases: Sequence[Published], tables: Sequence[Table], key: Sequence[str]) -> FittedVersions:
    """Link releases to their open originals, and find the classes that each row fits."""
    versions = link_versions(releases, tables, key)
    report("looking for the candidates of every class")
    covers = cover_all(versions, "--original")
    return FittedVersions(versions, covers, narrow_all(versions, covers))


def measure_fitted(
    fitted: FittedVersions,
    tables: Sequence[Table],
    key: Sequence[str],
    person: Sequence[str],
    k: int | None = None,
) -> JointRisk:
    """The figures of releases whose originals are open; k is the one that is asked, or theirs."""
    (versions, covers, narrowed), releases = fitted, fitted.releases
    who = number_owners(tables, key, person)
    alone = tuple(measure_alone(version, cover, who) for version, cover in zip(versions, covers, strict=True))
    goal = min(map(LinkedVersion.find_goal, versions, alone)) if k is None else k
    certain, classes, check = find_certain(versions, covers), list_classes(releases), partial(check_room, tables[0])
    meet = find_meet(narrowed, classes, certain, certain, who, check)
    joint = count_joint(covers, certain, certain, goal, who, check)
    below = meet.find_below(goal)
    return JointRisk(
        tuple(str(release.path) for release in releases),
        alone,
        goal,
        "people" if person else "rows",
        len(meet.key),
        meet.joint_k,
        len(below),
        None if who is None else len(np.unique(who[below])),
        int(joint.count.min()) if len(joint.key) else None,
        meet.undecided,
        meet.at_least,
        tuple(pin_values(name, versions, covers, certain) for name in find_common(versions)),
        tuple(
            find_differences(first, second, versions, covers, goal, who)
            for first, second in combinations(range(len(versions)), 2)
        ),
        all("series" in release.document for release in releases),
        count_renewed(versions),
    )


def link_versions(releases: Sequence[Published], tables: Sequence[Table], key: Sequence[str]) -> list[LinkedVersion]:
    """Every release with its original, or with the one of all, and the numbers of its rows."""
    report("matching rows by their key")
    of_release = [*tables] if len(tables) > 1 else [tables[0]] * len(releases)
    numbers = number_rows(tables, key)
    keys = numbers if len(tables) > 1 else numbers * len(releases)
    return [
        LinkedVersion(link(release, table), own) for release, table, own in zip(releases, of_release, keys, strict=True)
    ]


def number_by_key(tables: Sequence[Table], key: Sequence[str]) -> list[Ints]:
    """A number for each row of every table, equal where keys are equal; a key may be of columns that were not read."""
    with ExitStack() as stack:
        opened = [stack.enter_context(open_original(table, key, table.request)) for table in tables]
        return number_rows(opened, key)


def number_rows(tables: Sequence[Table], key: Sequence[str]) -> list[Ints]:
    """The number of each row's key in every table; rows of one table alone are numbered as they stand."""
    if not key:
        return [np.arange(tables[0].rows)]
    numbers_of_tables = number_in_all(tables, key)
    for table, numbers in zip(tables, numbers_of_tables, strict=True):
        counts = np.bincount(numbers)
        if (again := np.flatnonzero(counts[numbers] > 1)).size:
            reason = (
                f"{', '.join(map(repr, key))} is the same in {again.size:,} rows of {table.source.path.name!r}, first "
                f"in row {int(again[0]) + 1:,}. A key tells every row apart: name more columns."
            )
            raise BadOption("--key", reason)
    return numbers_of_tables


def number_owners(tables: Sequence[Table], key: Sequence[str], person: Sequence[str]) -> Ints | None:
    """The number of each key's person, as the first version that has the key names them."""
    if not person:
        return None
    keys, people = number_rows(tables, key), number_in_all(tables, person)
    owner = np.zeros(1 + max(int(numbers.max(initial=-1)) for numbers in keys), np.int64)
    for numbers, who in zip(reversed(keys), reversed(people), strict=True):
        owner[numbers] = who
    return owner


def measure_alone(version: LinkedVersion, cover: Cover, person: Ints | None) -> int:
    """k of one release: rows of its smallest class; or people, as stated, or as many as its rows could be of."""
    release = version.linkage.release
    rows = int(release.sizes.min(initial=version.linkage.rows))
    if person is None:
        return rows
    stated = release.document.get("stated")
    return int(stated["k"] if stated else count_distinct(cover.cell, person[cover.row]).min(initial=rows))


def check_room(table: Table, pairs: int) -> None:
    """Pairs of a row and a cell are held in memory."""
    if (need := BASE_BYTES + pairs * PAIR_BYTES) > table.allowed_bytes:
        raise OutOfMemory("comparing releases", table.allowed_bytes, need)

"""Update: one more version of a series.

In: the last version, and the table as it is now.  Out: rows for the next file, and what the folder keeps of them.
A version is the last one without the cohorts that leave, and with new ones.  What was published is never made again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech.certificate import certificate_path, make_certificate
from kech.certificate.check import shown_suppression
from kech.certificate.cohorts import AT_CUT, PROMISE
from kech.certificate.labels import published_columns
from kech.errors import FAULT_OF_KECH, ClaimBroken, GoalNotMet
from kech.release.admission import AdmissionOptions
from kech.release.identifying import is_informative
from kech.release.release import Release, own_version
from kech.release.series.hashes import Hashes, RowHasher, count_before, find_positions, first_half, number_alike
from kech.release.series.joining import find_kinds, join_axes, join_values
from kech.release.series.matching import Match, key_columns
from kech.release.series.merging import KeyTally, find_cohorts, hash_others, join_rows, number_labels, read_cells
from kech.release.series.merging import write_rows as write_shuffled
from kech.release.series.store import (
    History,
    Ints,
    PublishedRows,
    SeriesFile,
    SeriesVersion,
    cohorts_table,
    current_table,
    others_table,
    people_table,
    rows_table,
    turns_table,
)
from kech.release.writing import WRITTEN_FORMATS, as_json, write_batches
from kech.request import Request
from kech.system.console import report
from kech.tables.table import Table

NONE = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Arrivals:
    """New cohorts, as they were written: rows with their hashes, labels and sizes of the cohorts."""

    rows: PublishedRows
    labels: Any  # an Arrow table
    size: Ints
    people: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Update:
    """Everything that is known before a version is written."""

    table: Table
    request: Request
    hasher: RowHasher
    history: History
    match: Match
    last: SeriesVersion | None
    release: Release | None  # of the new cohorts
    claimed: Mapping[str, Any]  # the certificate of the last version
    files: Mapping[int, Path]  # of earlier versions, those that are at hand
    said_new: bool  # whether new rows look like known ones, and the owner says that they are others
    exchanged: bool  # whether many are new and many are gone, of which the owner says nothing

    @property
    def number(self) -> int:
        """Of this version."""
        return self.last.number + 1 if self.last else 1

    @cached_property
    def alive(self) -> NDArray[np.bool_]:
        """The cohorts of the last version."""
        return self.history.alive(self.number - 1)

    @cached_property
    def leaving(self) -> NDArray[np.bool_]:
        """The cohorts that leave: all rows left; or one did, or was corrected, and the request withdraws it."""
        present = self._count(self.match.present)
        leaves = present == 0
        if self.request.series.departures == "withdraw":
            leaves |= present < self.history.cohorts.size
        return np.asarray((leaves | self._unwanted) & self.alive)

    @cached_property
    def returning(self) -> NDArray[np.bool_]:
        """The cohorts that come back: the table has all of their rows again, and a file at hand has them."""
        whole = self._count(self.match.present) == self.history.cohorts.size
        at_hand = np.isin(self.history.last_seen(), list(self.files))
        return np.asarray(whole & at_hand & ~self._unwanted & ~self.alive)

    @cached_property
    def staying(self) -> NDArray[np.bool_]:
        """The cohorts of this version that are not new."""
        return np.asarray((self.alive & ~self.leaving) | self.returning)

    @property
    def _unwanted(self) -> NDArray[np.bool_]:
        """Cohorts with a corrected row, where the request withdraws these; and those with fewer than k people now."""
        corrected = (self._count(self.match.corrected) > 0) & (self.request.series.corrections == "withdraw")
        return np.asarray(corrected | (self.people < (self.request.goal.k or 2)) if self.table.person else corrected)

    @cached_property
    def people(self) -> Ints:
        """Different people of each cohort, as the table names them now."""
        pairs = np.stack([self.history.rows.cohort, number_alike(self.match.people)])
        return np.bincount(np.unique(pairs, axis=1)[0], minlength=len(self.history.cohorts.size))

    def _count(self, rows: NDArray[np.bool_]) -> Ints:
        """Of each cohort, how many of its rows are among these."""
        return np.bincount(self.history.rows.cohort[rows], minlength=len(self.history.cohorts.size))

    def rows_of(self, cohorts: NDArray[np.bool_]) -> PublishedRows:
        """The rows of some cohorts."""
        return self.history.rows.take(cohorts[self.history.rows.cohort])

    def label_columns(self) -> list[str]:
        """The published columns of the quasi-identifiers."""
        if self.release is not None:
            return self.release.label_columns
        return [name for axis in self.claimed["quasi_identifiers"] for name in axis.get("columns", [axis["column"]])]


# -- rows ------------------------------------------------------------------------------------------------------------


def write_version(
    update: Update, previous: Path | None, pool: Path, draft: Path, target: Path, terms: AdmissionOptions
) -> Arrivals:
    """Write the rows of a version; the new cohorts are checked alone, as `pool`, before they join the others."""
    format = WRITTEN_FORMATS[target.suffix.lower()]
    if previous is None:
        tally = write_pool(update, draft, target)
        return collect_arrivals(update, read_cells(draft, format, update.table.allowed_bytes), tally.keys)
    labels = update.label_columns()
    rows = copy_old(update, previous, format)
    arrivals = Arrivals(update.history.rows.take(NONE), update.history.cohorts.labels.slice(0, 0), NONE, NONE)
    if update.release is not None:
        tally = write_pool(update, pool, target)
        claims = update.release.certify(pool, target.name, format, terms, None)
        certificate_path(pool).write_bytes(as_json(claims).encode())
        new = read_cells(pool, format, update.table.allowed_bytes)
        arrivals = collect_arrivals(update, new, tally.keys)
        rows = join_rows(rows, new)
    if not rows.num_rows:
        raise GoalNotMet(
            "All cohorts of the series left, and no new one can be made: nothing is left to publish. "
            "Publish again once k new rows have arrived."
        )
    report("joining versions")
    write_shuffled(rows, labels, draft, target)
    return arrivals


def copy_old(update: Update, previous: Path, format: str) -> Any:
    """The rows of cohorts that stay, from the last file, and of those that come back, from the last one with them."""
    labels, cohorts, seen = update.label_columns(), update.history.cohorts, update.history.last_seen()
    rows = read_cells(previous, format, update.table.allowed_bytes)
    if update.leaving.any():
        gone = find_cohorts(rows, labels, update.hasher, update.rows_of(update.leaving), cohorts)
        rows = rows.filter(pa.array(~gone))
    for version in np.unique(seen[update.returning]).tolist():
        file = read_cells(update.files[version], format, update.table.allowed_bytes)
        returning = update.rows_of(update.returning & (seen == version))
        back = file.filter(pa.array(find_cohorts(file, labels, update.hasher, returning, cohorts)))
        rows = join_rows(rows, back)
    if rows.num_rows != int(cohorts.size[update.staying].sum()):
        raise ClaimBroken(previous, ["rows: it does not hold the cohorts of the series"], FAULT_OF_KECH)
    return rows


def write_pool(update: Update, draft: Path, target: Path) -> KeyTally:
    """Write the new cohorts alone, and hash the key of every row."""
    assert update.release is not None
    as_csv = WRITTEN_FORMATS[target.suffix.lower()] == "csv"
    tally = KeyTally(key_columns(update.table), update.hasher)
    write_batches(update.release.batches(for_csv=as_csv, tallies=[tally], listed=not as_csv), draft, target)
    return tally


def collect_arrivals(update: Update, written: Any, keys: Hashes) -> Arrivals:
    """The new cohorts as they stand in the written rows, whose keys came in the same order."""
    labels, cohort = number_labels(written, update.label_columns())
    row = find_rows(update, keys)
    match, size = update.match, np.bincount(cohort)
    rows = PublishedRows(
        key=match.key[row],
        whole=match.whole[row],
        cells=match.cells[row],
        other=hash_others(written, update.label_columns(), update.hasher),
        person=match.person[row],
        cohort=cohort + len(update.history.cohorts.size),
    )
    people = count_people(cohort, rows.person) if update.table.person else np.zeros_like(size)
    k = update.request.goal.k or 2
    if (people if update.table.person else size).min() < k:
        raise ClaimBroken("the new cohorts", [f"k: some cohort has fewer than {k}"], FAULT_OF_KECH)
    return Arrivals(rows, labels, size, people)


def find_rows(update: Update, keys: Hashes) -> Ints:
    """The row of the table of each written row; of equal rows any, each once."""
    new = update.match.ready
    sought, known = keys, update.match.base[new]
    if not update.table.row_key:
        sought, known = (update.hasher.number(each, count_before(each)) for each in (sought, known))
    position = find_positions(sought, known)
    if (position < 0).any() or np.bincount(position, minlength=1).max() > 1:
        raise ClaimBroken("the new cohorts", ["rows: some are not those of the table"], FAULT_OF_KECH)
    return np.asarray(new[position], np.int64)


def count_people(cohort: Ints, person: Hashes) -> Ints:
    """Different people of each cohort."""
    pairs = np.unique(np.stack([cohort, number_alike(person)]), axis=1)
    return np.bincount(pairs[0])


# -- what is said of it ----------------------------------------------------------------------------------------------


def certify(update: Update, arrivals: Arrivals, draft: Path, target: Path, terms: AdmissionOptions) -> dict[str, Any]:
    """The certificate of the written version."""
    release, claimed, table = update.release, update.claimed, update.table
    parameters = {**claimed.get("parameters", {}), **(release.parameters if release else {}), **terms.to_json()}
    at_cut = {name: parameters.pop(name) for name in AT_CUT if name in parameters}
    at_cut |= {"t": update.request.goal.t} if "t" in at_cut else {}  # new rows alone were cut with a smaller one
    counts = count_version(update, arrivals)
    most_rows = int(np.bincount(number_alike(update.match.people_now())).max()) if table.person else 1
    waiting = shown_suppression(counts["waiting"], 0, parameters["k"], most_rows)["suppressed"]
    public = ("cohorts", "new_cohorts", "arrivals", "withdrawn", "withdrawn_before", "returned")
    named = {"id": update.hasher.public_id, "version": update.number}
    section = named | {name: counts[name] for name in public} | {"waiting": waiting}
    certificate = make_certificate(
        draft,
        published_name=target.name,
        axes=find_axes(update),
        sensitive=table.sensitive,
        kept=table.keep,
        rows_in=counts["rows"],
        parameters=parameters,
        kech_version=own_version(),
        values=find_values(update),
        stated=state_people(update, arrivals),
        series=section | {"at_cut": at_cut or claimed.get("series", {}).get("at_cut", {}), "promise": PROMISE},
        format=WRITTEN_FORMATS[target.suffix.lower()],
    )
    if certificate["claims"]["rows"] != counts["rows"]:
        raise ClaimBroken(target.name, ["rows: some were lost on the way"], FAULT_OF_KECH)
    if release is not None and update.last is None:
        release.check_promises(certificate["claims"], target.name)
    return certificate


def find_axes(update: Update) -> list[dict[str, Any]]:
    """Axes that read the labels of all cohorts."""
    old, release = update.claimed.get("quasi_identifiers"), update.release
    if release is None or old is None:
        return [dict(axis) for axis in (release.axes if release else old or ())]
    return join_axes(
        update.table.source.path, old, release.axes, old_labels_tell(update, old), new_labels_tell(release)
    )


def new_labels_tell(release: Release) -> list[bool]:
    """Whether the new labels of each axis tell something."""
    cells = {name: labels for _, written in release.published_cells.values() for name, labels in written.items()}
    return [
        is_informative(pa.array(cells[name], pa.string()) for name in published_columns(axis)) for axis in release.axes
    ]


def old_labels_tell(update: Update, axes: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Whether any label that was published before tells something, axis by axis."""
    labels = update.history.cohorts.labels
    return [is_informative(labels[name] for name in published_columns(axis)) for axis in axes]


def list_published_labels(
    update: Update, arrivals: Arrivals, axes: Sequence[Mapping[str, Any]]
) -> dict[str, list[Any]]:
    """The labels of this version, as Arrow columns of each quasi-identifier."""
    staying = update.history.cohorts.labels.filter(pa.array(update.staying))
    tables = [labels for labels in (staying, arrivals.labels) if labels.num_rows]
    return {axis["column"]: [labels[x] for labels in tables for x in published_columns(axis)] for axis in axes}


def find_values(update: Update) -> dict[str, dict[str, Any]]:
    """How sensitive columns are read in all versions together."""
    old, release = update.claimed.get("values"), update.release
    if release is None or old is None:
        return dict((old if release is None else release.values) or {})
    facts = {name: release.table.facts(name) for name in release.table.sensitive}
    return join_values(old, release.values, [name for name, fact in facts.items() if fact.nulls == fact.rows])


def count_version(update: Update, arrivals: Arrivals) -> dict[str, int]:
    """Rows and cohorts of this version, and what became of the rows of the table."""
    cohorts, match, stays = update.history.cohorts, update.match, update.staying
    of_row = stays[update.history.rows.cohort]
    return {
        "rows": int(cohorts.size[stays].sum() + arrivals.size.sum()),
        "cohorts": int(stays.sum()) + len(arrivals.size),
        "new_cohorts": len(arrivals.size),
        "arrivals": int(arrivals.size.sum()),
        "withdrawn": int(cohorts.size[update.leaving].sum()),
        "withdrawn_before": int(cohorts.size[~update.alive].sum()),
        "returned": int(cohorts.size[update.returning].sum()),
        "waiting": len(match.new) - int(arrivals.size.sum()),
        "held": int((of_row & ~match.present).sum()),
        "corrected": int((of_row & match.corrected).sum()),
        "kept_out": int((~of_row & match.present).sum()),
        "known_people": count_known_people(update, arrivals),
    }


def count_known_people(update: Update, arrivals: Arrivals) -> int:
    """People of new cohorts who have rows in earlier ones."""
    if not update.table.person:
        return 0
    return len(np.intersect1d(first_half(arrivals.rows.person), first_half(update.match.people)))


def state_people(update: Update, arrivals: Arrivals) -> dict[str, Any]:
    """What the maker states: people of the smallest cohort, and of all."""
    if not update.table.person:
        return {}
    staying = update.match.people[update.staying[update.history.rows.cohort]]
    people = number_alike(np.concatenate([staying, arrivals.rows.person]))
    k = min([*update.people[update.staying].tolist(), *arrivals.people.tolist()])
    return {"promise": "person", "k": int(k), "people": int(people.max()) + 1}


def build_version_tables(update: Update, arrivals: Arrivals) -> dict[str, Any]:
    """The tables of this version that the folder keeps."""
    moved = np.flatnonzero(update.leaving | update.returning)
    return {
        "rows": rows_table(arrivals.rows),
        "cohorts": cohorts_table(arrivals.labels, arrivals.size, arrivals.people),
        "moves": pa.table({"cohort": moved, "back": update.returning[moved]}),
        "people": people_table(update.history.people, update.match.people),
        "turns": turns_table(update.history.listed, update.match.present),
        "others": others_table(find_others(update, arrivals)),
        "current": current_table(update.history.current, update.match.current),
    }


def find_others(update: Update, arrivals: Arrivals) -> Hashes:
    """Keys of rows that wait while the owner says that they are others than those that left."""
    keys = update.match.key[update.match.doubtful if update.said_new else NONE]
    return keys[find_positions(keys, arrivals.rows.key) < 0]


def fix_kinds(update: Update, series_file: SeriesFile) -> dict[str, str]:
    """The kind of each column for all later versions: that of the first version whose labels said something of it."""
    now = find_kinds(update.release.axes, new_labels_tell(update.release)) if update.release else {}
    return now | series_file.kinds

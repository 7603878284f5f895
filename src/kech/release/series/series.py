"""Series: releases of a growing table that stay safe together.

In: a folder that only its owner reads, and the table of each month.  Out: a file and a certificate for each version.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from kech.certificate import BESIDE, AnyPath, certificate_path
from kech.certificate.cells import digest
from kech.errors import BadOption, BadSeries, NoSuchFile, check_path
from kech.release.admission import Admission, AdmissionOptions, DraftRelease, check_unpublished, enter_in_ledger
from kech.release.identifying import find_doubts, find_hidden
from kech.release.ledger import Ledger, pick_ledger, time_now
from kech.release.making import check_original
from kech.release.series.doubts import MANY_EXCHANGED, are_exchanged, check_changes
from kech.release.series.entering import (
    drop_last_version,
    enter_version,
    recover_series_file,
    remove_published,
    write_series_file,
)
from kech.release.series.fixing import check_fixed, check_series, fill_policy, fix_request, read_policy, restore_request
from kech.release.series.hashes import RowHasher
from kech.release.series.matching import match_rows
from kech.release.series.merging import read_cells
from kech.release.series.pool import cut_pool
from kech.release.series.store import (
    FORMAT,
    PARTS,
    RESTORE,
    SERIES_FILE,
    History,
    Ints,
    SeriesFile,
    SeriesVersion,
    Store,
    build_history,
    new_id,
    seal_series,
)
from kech.release.series.update import (
    Arrivals,
    Update,
    build_version_tables,
    certify,
    count_version,
    fix_kinds,
    list_published_labels,
    write_version,
)
from kech.release.writing import WRITTEN_FORMATS, as_json, check_certificate_path, check_target
from kech.request import Request, relative_path
from kech.system.console import delay_interrupts, report
from kech.system.files import draft_file, private_folder, put_in_place, refuse_disk_errors
from kech.tables.repeats import check_identifiers, warn_of_repeats
from kech.tables.source import find_address
from kech.tables.table import Table, check_is_table

WAITS_BESIDE = (
    "some of the rows were released before, outside of the series. Those that wait would be published among others "
    "later. Omit --wait in the first release of the series."
)
NO_SERIES = "there is no series. Begin one: kech release TABLE --series FOLDER ..."
NOT_FOUND = (
    "the file of version {number} ({name}) is not at its place, or was changed. Put it back as it was, or say where it "
    "lies: --earlier FILE. If nobody received that version, forget it: kech series FOLDER --forget."
)


@dataclass(frozen=True, slots=True, repr=False)
class Series:
    """Releases of one growing table.  The folder holds hashes, labels and certificates, and no cell of the table."""

    store: Store

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_series

        return show_series(self)

    def __repr__(self) -> str:
        count = len(self.series_file.versions) if self.exists else 0
        return f"Series({count} version{'' if count == 1 else 's'} in {str(self.store.folder)!r})"

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self.store.folder

    @property
    def exists(self) -> bool:
        """Whether a version was published."""
        return self.store.path.exists()

    @property
    def series_file(self) -> SeriesFile:
        """What the folder says, after recovering from a killed run."""
        if not self.exists:
            raise BadSeries(self.folder, NO_SERIES)
        with self.store.lock():
            series_file = recover_series_file(self.store)
        if series_file is None:
            raise BadSeries(self.folder, "its first version was never put in place. Release it again.")
        return series_file

    @property
    def request(self) -> Request:
        """What the first release asked for, and every later one has to; hierarchies are named anew."""
        return restore_request(self.series_file.fixed)

    def versions(self) -> list[tuple[Ints, Ints]]:
        """For each version its rows, numbered over the whole series, and the cohort of each."""
        series_file = self.series_file
        history, versions = self.store.read_history(series_file), []
        for version in series_file.versions:
            rows = np.flatnonzero(history.alive(version.number)[history.rows.cohort])
            versions.append((rows, history.rows.cohort[rows]))
        return versions

    def lives(self) -> "list[CohortLife]":
        """Every cohort that was ever published."""
        series_file = self.series_file
        history = self.store.read_history(series_file)
        alive = np.stack([history.alive(version.number) for version in series_file.versions])
        labels = zip(*history.cohorts.labels.to_pydict().values(), strict=True)
        each = zip(labels, history.cohorts.size.tolist(), alive.T, strict=True)
        return [CohortLife(label, rows, tuple((np.flatnonzero(seen) + 1).tolist())) for label, rows, seen in each]

    def to_json(self) -> dict[str, Any]:
        """What `kech series --json` prints: counts of each version; small ones are hidden."""
        series_file = self.series_file
        k = series_file.fixed["k"]
        listed = [describe_version(self.store, version, k) for version in series_file.versions]
        known = {"folder": str(self.folder), "k": k, "key": list(series_file.fixed["key"])}
        return known | {"in_force": dict(series_file.policy), "versions": listed}

    def publish(
        self,
        table: Table,
        path: str | PathLike[str],
        request: Request | None = None,
        *,
        certificate: str | PathLike[str] | None = None,
        ledger: Ledger | bool = True,
        earlier: Sequence[AnyPath] | AnyPath = (),
        allow_composition: bool = False,
        **fields: Any,
    ) -> dict[str, Any]:
        """Write the next version and its certificate; gives back what `kech release --json` prints.

        `earlier` are files of the series that were moved, and releases outside of it that share rows with the table.
        Nothing changes if this is refused.
        """
        check_is_table(table)
        request = table.resolve_request(request, fields)
        check_series(request)
        check_original(table)
        check_identifiers(table)
        warn_of_repeats(table)
        if find_address(path):
            raise BadOption("--output", "a series is published as .csv or .parquet files. Name a file.")
        with refuse_disk_errors(Path(path)):
            target = check_target(Path(path), table)
            own_certificate = check_certificate_path(Path(certificate), table, target) if certificate else None
            beside = own_certificate or certificate_path(target)
        named = (earlier,) if isinstance(earlier, str | PathLike) else tuple(earlier)
        terms = AdmissionOptions(pick_ledger(ledger), named, allow_composition, series=frozenset())
        if terms.ledger:
            terms.ledger.recover()
        with self.store.lock():
            return publish_next(self.store, table, request, VersionPaths(target, beside), terms)

    def find_files(self, *files: AnyPath) -> list[int]:
        """Remember where files of the series lie now; gives back their versions."""
        if not self.exists:
            raise BadSeries(self.folder, NO_SERIES)
        with self.store.lock():
            series_file = recover_series_file(self.store)
            moved, others = split_own_files(self.store, series_file, files)
            if others or moved is None:
                raise BadOption(
                    "--moved", f"{str(others[0])!r} is no file of this series as it was published. Name that file."
                )
            write_series_file(self.store, moved)
        digests = {digest(Path(file)) for file in files}
        return [version.number for version in moved.versions if version.release in digests]

    def forget(self, *, ledger: Ledger | bool = True) -> int:
        """Forget the last version, which nobody received, and remove its file, unless it changed; gives its number."""
        if not self.exists:
            raise BadSeries(self.folder, NO_SERIES)
        with self.store.lock():
            series_file = recover_series_file(self.store)
            if series_file is None:
                raise BadSeries(self.folder, "there is no version to forget. Check the name of the folder.")
            last, known = series_file.versions[-1], pick_ledger(ledger)
            remove_published(self.store, last)
            write_series_file(self.store, drop_last_version(series_file))
            if known and any(entry.release == last.release for entry in known.read().releases):
                known.forget(last.release)
            return last.number


@dataclass(frozen=True, slots=True)
class CohortLife:
    """A cohort: its labels and rows, and the versions that have it."""

    label: tuple[str | None, ...]
    rows: int
    versions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VersionPaths:
    """Where a version goes, and its certificate."""

    target: Path
    beside: Path

    def by_option(self) -> tuple[tuple[str, Path], ...]:
        """Each path with the option that names it."""
        return ("--output", self.target), ("--certificate", self.beside)


def open_series(folder: str | PathLike[str]) -> Series:
    """The series in a folder; its first version makes the folder."""
    check_path(folder, "folder")
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise BadSeries(path, "it is a file. Name a folder.")
    return Series(Store(path))


def publish_next(
    store: Store, table: Table, request: Request, paths: VersionPaths, terms: AdmissionOptions
) -> dict[str, Any]:
    """One more version; the folder is locked."""
    series_file = recover_series_file(store)
    request = fill_policy(request, series_file.policy if series_file else {})
    series_file, outside = split_own_files(store, series_file, terms.earlier)
    begun = begin_version(store, series_file, table, request, paths)
    previous = find_previous(store, series_file)
    update = prepare_update(store, series_file, table, request, begun.id, previous)
    check_newest(store, update, {paths.target.parent, paths.beside.parent})
    known = frozenset(version.release for version in series_file.versions) if series_file else frozenset()
    terms = replace(terms, earlier=outside, series=known, judged=frozenset(begun.judged))
    report("writing")
    with (
        refuse_disk_errors(paths.target),
        private_folder() as aside,
        draft_file(paths.target) as draft,
        draft_file(paths.beside) as certificate_draft,
    ):
        pool = aside / f"new{paths.target.suffix.lower()}"
        arrivals = write_version(update, previous, pool, draft, paths.target, terms)
        report("checking the written file")
        claims = certify(update, arrivals, draft, paths.target, terms)
        certificate_draft.write_bytes(as_json(claims).encode())
        new = None if series_file is None else list_new_cohorts(update, pool, paths)
        drafted = DraftRelease(draft, certificate_draft, claims, paths.target, table, draft, new=new)
        report("looking for earlier releases")
        with enter_in_ledger(drafted, terms) as admission:
            check_unpublished(drafted, (paths.target, paths.beside), terms)
            entered = add_version(store, begun, update, arrivals, drafted, paths, admission)
            with enter_version(store, series_file, entered, draft), delay_interrupts():
                put_in_place({draft: paths.target, certificate_draft: paths.beside})
    return summarize(update, arrivals, claims, paths, admission, entered, store.folder)


def begin_version(
    store: Store, series_file: SeriesFile | None, table: Table, request: Request, paths: VersionPaths
) -> SeriesFile:
    """The series file, new or as it was, with what this release fixes and puts in force."""
    check_outside(store, paths)
    fixed, policy = fix_request(table, request, WRITTEN_FORMATS[paths.target.suffix.lower()]), read_policy(request)
    id = series_file.id if series_file else new_id()
    check = table.secret.derive("series-check", id.encode())[:8].hex()
    if series_file is None:
        return SeriesFile(FORMAT, id, check, fixed, {}, [], [], policy)
    if check != series_file.check:
        reason = "it was begun with another secret. Name the key file that you used then: --key-file FILE."
        raise BadSeries(store.folder, reason)
    if series_file.versions[-1].seal != seal_series(series_file, table.secret):
        raise BadSeries(store.folder, f"{SERIES_FILE} was edited. {RESTORE}")
    check_fixed(series_file.fixed, fixed)
    check_free(store, series_file, paths)
    return msgspec.structs.replace(series_file, fixed=fixed, policy=policy)


def list_new_cohorts(update: Update, pool: Path, paths: VersionPaths) -> list[DraftRelease]:
    """The new cohorts of a later version as a release of their own, if there are any."""
    if update.release is None:
        return []
    return [DraftRelease(pool, certificate_path(pool), {}, paths.target, update.release.table, pool, is_part=True)]


def add_version(
    store: Store,
    begun: SeriesFile,
    update: Update,
    arrivals: Arrivals,
    drafted: DraftRelease,
    paths: VersionPaths,
    admission: Admission,
) -> SeriesFile:
    """The series file with one more version, whose files are in the folder already."""
    counts = count_version(update, arrivals)
    if update.last is None and counts["waiting"] and admission.judged:
        raise BadOption("--wait", WAITS_BESIDE)
    files = store.write_version(update.number, build_version_tables(update, arrivals), as_json(drafted.claims))
    version = describe_draft(store, update.number, drafted.claims, paths, files, counts, drafted.path)
    version = msgspec.structs.replace(version, said_new=update.said_new)
    entered = msgspec.structs.replace(
        begun,
        kinds=fix_kinds(update, begun),
        labels=update.label_columns(),
        versions=[*begun.versions, version],
        judged=[*begun.judged, *(admission.judged if not counts["waiting"] else ())],
    )
    sealed = msgspec.structs.replace(version, seal=seal_series(entered, drafted.table.secret))
    return msgspec.structs.replace(entered, versions=[*begun.versions, sealed])


def check_outside(store: Store, paths: VersionPaths) -> None:
    """Refuse to publish inside the private folder of the series, where readers would find all the rest."""
    for option, path in paths.by_option():
        if store.folder.resolve() in path.resolve().parents:
            raise BadOption(option, "it lies in the folder of the series, which is private. Name another folder.")


def check_free(store: Store, series_file: SeriesFile, paths: VersionPaths) -> None:
    """Refuse to overwrite a published version: its rows are needed, and readers may hold it to its certificate."""
    for version in series_file.versions:
        known = {store.find_release(version): "file", Path(version.beside): "certificate"}
        taken = {path.resolve(): what for path, what in known.items() if path is not None and path.exists()}
        for option, path in paths.by_option():
            if what := taken.get(path.resolve()):
                reason = f"it is the {what} of version {version.number} of this series. Name another file."
                raise BadOption(option, reason)


def check_newest(store: Store, update: Update, folders: Iterable[Path]) -> None:
    """Refuse to go on from an older copy of the folder, where certificates at hand name a later version."""
    for path in (path for folder in folders for path in sorted(folder.glob(f"*{BESIDE}"))):
        with suppress(OSError, ValueError, TypeError, LookupError, RecursionError):
            section = json.loads(path.read_bytes())["series"]
            if section["id"] == update.hasher.public_id and section["version"] >= update.number:
                reason = f"{path.name!r} is of version {section['version']}, which the folder does not know."
                raise BadSeries(store.folder, f"{reason} {RESTORE}")


def prepare_update(
    store: Store, series_file: SeriesFile | None, table: Table, request: Request, id: str, previous: Path | None
) -> Update:
    """Match the rows of a table, and cut those that are new."""
    hasher = RowHasher(table.secret, id.encode())
    history = store.read_history(series_file) if series_file else empty_history()
    report("matching rows")
    match = match_rows(table, hasher, history)
    most, k = request.series.most_changed or 0, request.goal.k or 2
    others = [version.number for version in series_file.versions if version.said_new] if series_file else []
    published, since = last_rows(series_file, history), max(others, default=0)
    said_new = check_changes(store, table, match, published, most, k, since)
    exchanged = most < 1 and are_exchanged(match, bool(table.person), MANY_EXCHANGED)
    shown = read_published(previous, table) if previous and request.goal.t is not None else None
    release = cut_pool(table, match.number[match.ready], request, series_file, shown)
    last = series_file.last if series_file else None
    claimed = json.loads(store.certificate(last)) if last else {}
    paths = {version.number: store.find_release(version) for version in list_needed_versions(series_file, history)}
    files = {number: path for number, path in paths.items() if path is not None}
    return Update(table, request, hasher, history, match, last, release, claimed, files, said_new, exchanged)


def read_published(file: Path, table: Table) -> Any:
    """The rows of the last version."""
    return read_cells(file, WRITTEN_FORMATS[file.suffix.lower()], table.allowed_bytes)


def last_rows(series_file: SeriesFile | None, history: History) -> NDArray[np.bool_]:
    """For each row of the history whether the last version has it."""
    return history.alive(len(series_file.versions) if series_file else 0)[history.rows.cohort]


def list_needed_versions(series_file: SeriesFile | None, history: History) -> list[SeriesVersion]:
    """Versions whose files hold cohorts that left."""
    needed = set(history.last_seen().tolist())
    return [version for version in series_file.versions if version.number in needed] if series_file else []


def empty_history() -> History:
    """The history of a series without versions."""
    return build_history({part: [] for part in PARTS}, [], [])


def split_own_files(
    store: Store, series_file: SeriesFile | None, files: Sequence[AnyPath]
) -> tuple[SeriesFile | None, list[AnyPath]]:
    """The series file, which knows where its files among these lie now; and the others, which are none of its files."""
    known = {version.release for version in series_file.versions} if series_file else set()
    moved: dict[str, Path] = {}
    others: list[AnyPath] = []
    for file in files:
        if find_address(file):
            others.append(file)
        elif not Path(file).is_file():
            raise NoSuchFile(file)
        elif (file_digest := digest(Path(file))) in known:
            moved[file_digest] = Path(file)
        else:
            others.append(file)
    return store.move(series_file, moved) if series_file else None, others


def find_previous(store: Store, series_file: SeriesFile | None) -> Path | None:
    """The file of the last version."""
    last = series_file.last if series_file else None
    if last is None:
        return None
    file = store.find_release(last)
    if file is None:
        raise BadSeries(store.folder, NOT_FOUND.format(number=last.number, name=Path(last.path).name))
    return file


def describe_draft(
    store: Store,
    number: int,
    claims: Mapping[str, Any],
    paths: VersionPaths,
    files: dict[str, str],
    counts: dict[str, int],
    draft: Path,
) -> SeriesVersion:
    """A version as series.json names it while it is put in place."""
    target, beside = paths.target.absolute(), paths.beside.absolute()
    shown = (str(target), str(beside), relative_path(target, store.folder))
    return SeriesVersion(number, time_now(), claims["file"]["sha256"], *shown, files, counts, "", str(draft.absolute()))


# -- what is shown ---------------------------------------------------------------------------------------------------

HIDDEN = ("waiting", "held", "corrected", "kept_out", "known_people")


def hide_small(count: int, k: int) -> int | str:
    """A count, or `<k` where it is so small that it may point at people."""
    return f"<{k}" if 0 < count < k else count


def describe_version(store: Store, version: SeriesVersion, k: int) -> dict[str, Any]:
    """One version, with its counts; those of rows that wait, left or were corrected are hidden where they are small."""
    file = store.find_release(version)
    counts = {name: hide_small(count, k) if name in HIDDEN else count for name, count in version.counts.items()}
    return {
        "version": version.number,
        "time": version.time,
        "file": str(file or version.path),
        "found": file is not None,
        "release": version.release,
        **counts,
    }


def summarize(
    update: Update,
    arrivals: Arrivals,
    claims: Mapping[str, Any],
    paths: VersionPaths,
    admission: Admission,
    series_file: SeriesFile,
    folder: Path,
) -> dict[str, Any]:
    """What `kech release --series --json` prints, with what the maker should look at."""
    table, axes = update.table, claims["quasi_identifiers"]
    private: dict[str, Any] = {
        name: hide_small(series_file.versions[-1].counts[name], claims["parameters"]["k"]) for name in HIDDEN
    }
    exchanged = ("people" if table.person else "rows") if update.exchanged else None
    private |= {"exchanged": exchanged, "in_force": dict(series_file.policy)}
    return {
        "file": str(paths.target),
        "certificate": str(paths.beside),
        **claims["claims"],
        "stated": claims.get("stated"),
        "measured": claims["measured"],
        "coarse": claims["parameters"].get("coarse"),
        "ledger": admission.to_json(),
        **find_doubts(table, table, axes, find_hidden(list_published_labels(update, arrivals, axes))),
        "mapping": None,
        "series": {"folder": str(folder), "key": list(table.row_key), **claims["series"], **private},
    }

"""Entering: series.json names a version while its file is put in place, so that a killed run is recovered.

In: the folder of a series, which is locked, and its file.  Out: a series file whose versions are all in place.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from kech.certificate import certificate_path
from kech.certificate.cells import digest
from kech.errors import CannotWrite
from kech.release.series.store import SeriesFile, SeriesVersion, Store
from kech.system.files import draft_file, mark_draft, put_in_place, refuse_disk_errors, remove_draft


@contextmanager
def enter_version(store: Store, before: SeriesFile | None, entered: SeriesFile, draft: Path) -> Iterator[None]:
    """Name a version in series.json while it is put in place; it is struck out if that fails."""
    entered = entered if before is None else keep_before(entered, before)
    try:
        mark_draft(draft, store.path)
        write_series_file(store, entered)
        yield
    except BaseException:
        if draft.exists():
            write_series_file(store, before)
        raise
    remove_draft(draft)  # and its marks, while a recovery would still look for them
    with suppress(CannotWrite):  # then the next run recovers
        write_series_file(store, finish_last_version(entered))


def write_series_file(store: Store, series_file: SeriesFile | None) -> None:
    """Put a series file in place; a series without versions has none."""
    if series_file is None or not series_file.versions:
        store.path.unlink(missing_ok=True)
    else:
        store.write(series_file)


def keep_before(entered: SeriesFile, before: SeriesFile) -> SeriesFile:
    """The series file, whose last version keeps what it changed: policy, hierarchies, kinds, releases compared."""
    names = ("fixed", "kinds", "labels", "policy", "judged")
    changed = {name: getattr(before, name) for name in names if getattr(before, name) != getattr(entered, name)}
    last = msgspec.structs.replace(entered.versions[-1], before=changed)
    return msgspec.structs.replace(entered, versions=[*entered.versions[:-1], last])


def drop_last_version(series_file: SeriesFile) -> SeriesFile:
    """The series file as if its last version had never been."""
    *others, last = series_file.versions
    return msgspec.structs.replace(series_file, versions=others, **last.before)


def finish_last_version(series_file: SeriesFile) -> SeriesFile:
    """The series file once its last version is in place."""
    last = msgspec.structs.replace(series_file.versions[-1], draft="")
    return msgspec.structs.replace(series_file, versions=[*series_file.versions[:-1], last])


def remove_published(store: Store, version: SeriesVersion) -> None:
    """Remove the file of a version and its certificate, where they are as they were published."""
    file, certificates = store.find_release(version), {Path(version.beside)}
    if file:
        certificates.add(certificate_path(file))  # it may have moved with its file
    with refuse_disk_errors(file or Path(version.beside)):
        for path in certificates:
            if path.is_file() and path.read_bytes() == store.certificate(version):
                path.unlink()
        if file:
            file.unlink()


def recover_series_file(store: Store) -> SeriesFile | None:
    """The series file after a killed run, without a version that was never put in place.  The caller holds the lock.

    Where nobody can tell, it stays: rows that are taken for published never enter a second cohort.
    """
    series_file = store.read()
    if series_file is None or series_file.last is None or not series_file.last.draft:
        return series_file
    last = series_file.last
    placed = Path(last.path).is_file() and digest(Path(last.path)) == last.release
    if not placed and Path(last.draft).exists():
        write_series_file(store, drop_last_version(series_file))
        return store.read()
    if placed:
        restore_certificate(store, last)
    remove_draft(Path(last.draft))
    write_series_file(store, finish_last_version(series_file))
    return finish_last_version(series_file)


def restore_certificate(store: Store, version: SeriesVersion) -> None:
    """Put the certificate beside its file, where a killed run did not."""
    beside = Path(version.beside)
    content = store.certificate(version)
    if not beside.exists() or beside.read_bytes() != content:
        with refuse_disk_errors(beside), draft_file(beside) as draft:
            draft.write_bytes(content)
            put_in_place({draft: beside})

"""Entering: the book of a series names a version while its file is put in place, so that a killed run is recovered.

In: the folder of a series, which is locked, and its book.  Out: a book whose versions are all in their places.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from kech.certificate.cells import digest
from kech.errors import CannotWrite
from kech.release.series.store import SeriesFile, SeriesVersion, Store
from kech.system.files import draft_file, put_in_place, refuse_disk_errors


@contextmanager
def enter(store: Store, before: SeriesFile | None, entered: SeriesFile, draft: Path) -> Iterator[None]:
    """The book names a version while it is put in place; it is struck out if that fails."""
    write_book(store, entered)
    try:
        yield
    except BaseException:
        if draft.exists():
            write_book(store, before)
        raise
    with suppress(CannotWrite):  # then the next run recovers
        write_book(store, finish(entered))


def write_book(store: Store, book: SeriesFile | None) -> None:
    """Put a book in place; a series without versions has none."""
    if book is None or not book.versions:
        store.path.unlink(missing_ok=True)
    else:
        store.write(book)


def finish(book: SeriesFile) -> SeriesFile:
    """A book whose last version is in its place."""
    last = msgspec.structs.replace(book.versions[-1], draft="")
    return msgspec.structs.replace(book, versions=[*book.versions[:-1], last])


def remove_published(store: Store, version: SeriesVersion) -> None:
    """Remove the file of a version and its certificate, where they are as they were published."""
    file, beside = store.find_release(version), Path(version.beside)
    with refuse_disk_errors(file or beside):
        if beside.is_file() and beside.read_bytes() == store.certificate(version):
            beside.unlink()
        if file:
            file.unlink()


def recover_book(store: Store) -> SeriesFile | None:
    """The book after a killed run: a version that was never put in place is struck out.  The caller holds the lock.

    Where nobody can tell, it stays: rows that are taken for published never enter a second cohort.
    """
    book = store.read()
    if book is None or book.last is None or not book.last.draft:
        return book
    last = book.last
    placed = Path(last.path).is_file() and digest(Path(last.path)) == last.release
    if not placed and Path(last.draft).exists():
        kept = msgspec.structs.replace(book, versions=book.versions[:-1])
        write_book(store, kept)
        return store.read()
    if placed:
        restore_certificate(store, last)
    write_book(store, finish(book))
    return finish(book)


def restore_certificate(store: Store, version: SeriesVersion) -> None:
    """Put the certificate beside its file, where a killed run did not."""
    beside = Path(version.beside)
    content = store.certificate(version)
    if not beside.exists() or beside.read_bytes() != content:
        with refuse_disk_errors(beside), draft_file(beside) as draft:
            draft.write_bytes(content)
            put_in_place({draft: beside})

"""Verification: a released file or table of a database against its certificate, or against a k of one's own.

A table is written out as text, in the order of the text, and judged by the same code as a file.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from kech import certificate as certificates
from kech.databases import find_address, open_database
from kech.errors import BadOption, ClaimBroken
from kech.files import private_folder

AnyPath = str | PathLike[str]


def check_certificate(path: AnyPath, certificate: AnyPath | None = None) -> dict[str, Any]:
    """Figures of a file or table whose certificate holds; ClaimBroken lists every claim that does not."""
    if find_address(path) and certificate is None:
        raise BadOption("--certificate", "a table in a database has no certificate beside it: name the file.")
    with as_file(path) as file:
        return certificates.check_certificate(file, certificate)


def check_table(
    path: AnyPath, quasi_identifiers: Sequence[str], k: int, sensitive: Sequence[str] = ()
) -> dict[str, Any]:
    """Figures of any file or table that holds k rows in every class; without a certificate no loss is known."""
    with as_file(path) as file:
        return certificates.check_table(file, quasi_identifiers, k, sensitive)


@contextmanager
def as_file(path: AnyPath) -> Iterator[AnyPath]:
    """The file itself, or the rows of a table in a private file for as long as they are looked at."""
    address = find_address(path)
    if address is None:
        yield path
        return
    with private_folder() as folder, open_database(address) as database:
        file = folder / "released.csv"
        database.export(Path(file))
        try:
            yield file
        except ClaimBroken as refusal:
            raise ClaimBroken(address, refusal.broken) from None

"""Targets: where a release, its certificate and its mapping may be written, and where not: over the source.

In: names that somebody gave, and the table.  Out: paths, or BadTarget.
"""

from os import PathLike
from pathlib import Path

from kech.errors import BadTarget
from kech.system.files import clear_refusals
from kech.tables.source import Address
from kech.tables.table import Table

FORMATS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}


def check_target(target: Path, table: Table) -> Path:
    """A file name kech can write, which is not the source."""
    if target.suffix.lower() not in FORMATS and not target.is_dir():
        raise BadTarget(target, f"kech writes {', '.join(FORMATS)}.")
    check_place(target, table)
    if certificate_path(target).is_dir():
        raise BadTarget(target, "a folder stands where its certificate would go.")
    return target


def check_beside(certificate: Path, table: Table, target: Path | None = None) -> Path:
    """A name for a certificate: neither the source nor the release."""
    check_place(certificate, table)
    if target is not None and certificate.resolve() == target.resolve():
        raise BadTarget(certificate, "the release itself goes there. Name another file for the certificate.")
    return certificate


def check_mapping(mapping: str | PathLike[str] | None, table: Table, *others: Path) -> Path | None:
    """A name for a mapping, if one is wanted: a .json file that is nothing else."""
    if mapping is None:
        return None
    target = Path(mapping)
    with clear_refusals(target):
        if target.suffix.lower() != ".json":
            raise BadTarget(target, "a mapping is written as .json.")
        check_place(target, table)
        if any(target.resolve() == other.resolve() for other in others):
            raise BadTarget(target, "the release or its certificate goes there. Name another file for the mapping.")
    return target


def check_place(target: Path, table: Table) -> None:
    """A file that may be written: its folder is there, and it is no part of the source."""
    if target.is_dir():
        raise BadTarget(target, "it is a folder; name a file.")
    if not target.parent.is_dir():
        raise BadTarget(target, "its folder does not exist; create it first.")
    source = table.source.here
    if target.exists() and source.exists() and target.samefile(source):
        raise BadTarget(target, "it is the source table itself. Choose another name.")
    if source.is_dir() and source.resolve() in target.resolve().parents:
        raise BadTarget(target, "it lies in the folder of the source table. Choose another folder.")


def check_elsewhere(address: Address, identity: object, table: Table) -> None:
    """A table of a database that is not the source, nor a folder in it."""
    source = table.source
    own = source.identity or (None if source.format == "frame" else source.path.resolve().as_uri())
    if identity is not None and identity == own:
        raise BadTarget(address, "it is the source table itself. Choose another name.")
    if isinstance(identity, str) and identity.startswith(f"{own}/"):
        raise BadTarget(address, "it lies in the folder of the source table. Choose another folder.")


def certificate_path(target: Path) -> Path:
    """Where the certificate of a file lies."""
    return target.with_name(target.name + ".certificate.json")

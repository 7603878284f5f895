"""Sources: what a file is, decided once.  Column names and a pinned dialect, before any row is kept.

In: a path.  Out: a `Source` an engine can read without guessing.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from kech.errors import BadOption, NoSuchFile, UnreadableFile
from kech.tables.databases import Address, find_address, open_database
from kech.tables.sources.binary import arrow_batches, excel_batches, measure_rows, read_names
from kech.tables.sources.folder import find_parts, folder_batches
from kech.tables.sources.source import Source, check_columns
from kech.tables.sources.text import csv_batches, find_fault, open_csv

__all__ = ["Source", "check_columns", "find_fault", "measure_parquet", "open_source", "read_batches"]

FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".xlsx": "excel", ".xls": "excel", ".ods": "excel",
}  # fmt: skip


def open_source(
    given: str | PathLike[str] | Address, *, delimiter: str | None = None, encoding: str | None = None
) -> Source:
    """Look at a file, a folder or a table of a database: its format, columns and dialect."""
    address = find_address(given)
    path = Path("." if isinstance(given, Address) else given)
    try:
        kind = address.scheme if address else find_format(path)
        if kind != "csv" and (delimiter or encoding):
            raise BadOption("--delimiter, --encoding", "only CSV files have them.")
        if address:
            source = open_table(address)
        else:
            source = (
                open_csv(path, delimiter, encoding) if kind == "csv" else Source(path, kind, read_names(path, kind))
            )
    except OSError as failure:
        raise UnreadableFile(address or path, f"{(failure.strerror or 'it cannot be opened').lower()}.") from None
    check_columns(source)
    return source


def open_table(address: Address) -> Source:
    """Look at a table of a database."""
    with open_database(address) as database:
        columns, identity = tuple(database.columns()), database.identity()
    path = Path(address.place if address.scheme == "duckdb" else address.table)
    return Source(path, address.scheme, columns, address=address, identity=identity)


def find_format(path: Path) -> str:
    """What the name of a file says it is."""
    if not path.exists():
        raise NoSuchFile(path)
    if path.is_dir():
        return "folder"
    if path.stat().st_size == 0:
        raise UnreadableFile(path, "it is empty.")
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise UnreadableFile(path, f"unknown ending; kech reads {', '.join(FORMATS)}.")
    return kind


def measure_parquet(source: Source, wanted: Sequence[str]) -> tuple[int, int, int]:
    """What Parquet files say of themselves: rows, bytes the wanted columns take at least, and bytes on disk."""
    files = find_parts(source.path) if source.format == "folder" else [source.path]
    measured = [measure_rows(file, wanted) for file in files]
    rows, need = (sum(figures) for figures in zip(*measured, strict=True))
    return rows, need, sum(file.stat().st_size for file in files)


def read_batches(source: Source) -> Any:
    """The rows of a file that an engine does not read by itself."""
    if source.format == "csv":
        return csv_batches(source)
    if source.format == "folder":
        return folder_batches(source.path)
    return arrow_batches(source.path) if source.format == "arrow" else excel_batches(source.path)

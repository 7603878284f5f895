"""Sources: what a file is, decided once.  Column names and a pinned dialect, before any row is kept.

In: a path.  Out: a `Source` an engine can read without guessing.
"""

from pathlib import Path
from typing import Any

from kech.errors import BadOption, NoSuchFile, UnreadableFile
from kech.sources.binary import arrow_batches, excel_batches, read_names
from kech.sources.source import Source, check_columns
from kech.sources.text import csv_batches, find_fault, open_csv

__all__ = ["Source", "check_columns", "find_fault", "open_source", "read_batches"]

FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".xlsx": "excel", ".xls": "excel", ".ods": "excel",
}  # fmt: skip


def open_source(path: Path, *, delimiter: str | None = None, encoding: str | None = None) -> Source:
    """Look at a file: its format, columns and dialect."""
    try:
        kind = find_format(path)
        if kind != "csv" and (delimiter or encoding):
            raise BadOption("--delimiter, --encoding", "only CSV files have them.")
        source = open_csv(path, delimiter, encoding) if kind == "csv" else Source(path, kind, read_names(path, kind))
    except OSError as failure:
        raise UnreadableFile(path, f"{(failure.strerror or 'it cannot be opened').lower()}.") from None
    check_columns(source)
    return source


def find_format(path: Path) -> str:
    """What the name of a file says it is."""
    if not path.exists():
        raise NoSuchFile(path)
    if path.is_dir():
        raise UnreadableFile(path, "it is a folder; name a file.")
    if path.stat().st_size == 0:
        raise UnreadableFile(path, "it is empty.")
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise UnreadableFile(path, f"unknown ending; kech reads {', '.join(FORMATS)}.")
    return kind


def read_batches(source: Source) -> Any:
    """The rows of a file that an engine does not read by itself."""
    if source.format == "csv":
        return csv_batches(source)
    return arrow_batches(source.path) if source.format == "arrow" else excel_batches(source.path)

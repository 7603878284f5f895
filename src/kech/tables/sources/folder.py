"""Folders of Parquet files: one table in parts, with columns named by its subfolders (`year=2020/`)."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from kech.errors import UnreadableFile
from kech.tables.databases.text import LOGGED, LOGS

ENDINGS = (".parquet", ".pq")


def folder_batches(folder: Path) -> Any:
    """All rows, file after file by name; a column named by subfolders is text, so that 02138 stays what it is."""
    import pyarrow.dataset as ds

    files = find_parts(folder)
    keys = dict.fromkeys(chain.from_iterable(part_keys(folder, file) for file in files))
    schema = pa.schema([(key, pa.string()) for key in keys])
    rows = ds.dataset(
        [str(file) for file in files],
        format="parquet",
        partitioning=ds.HivePartitioning(schema),
        partition_base_dir=str(folder),
    )
    return pa.RecordBatchReader.from_batches(rows.schema, refused(folder, rows))


def find_parts(folder: Path) -> Sequence[Path]:
    """The Parquet files below a folder, in the order of their names; what begins with _ or . is none."""
    found = [path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file()]
    files = sorted(path for path in found if not any(part[0] in "._" for part in path.relative_to(folder).parts))
    if any((folder / log).exists() for log in LOGS):
        raise UnreadableFile(folder, LOGGED)
    if not files:
        raise UnreadableFile(folder, "it is a folder without Parquet files; name a file.")
    return files


def part_keys(folder: Path, file: Path) -> Sequence[str]:
    """The columns that the subfolders of a file name."""
    return [part.partition("=")[0] for part in file.relative_to(folder).parts[:-1] if "=" in part]


def refused(folder: Path, rows: Any) -> Iterator[Any]:
    """Record batches; a damaged file is refused by the name of its folder."""
    try:
        yield from rows.to_batches()
    except (pa.ArrowException, OSError, ValueError):
        raise UnreadableFile(folder, "one of its files is damaged, or has other columns than the first.") from None

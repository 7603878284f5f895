"""Source: a file, dataframe or table of a database as it was found."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import url2pathname

import pyarrow as pa

from kech.errors import BadColumns
from kech.tables.databases import Address


@dataclass(frozen=True, slots=True)
class Source:
    """A file with its column names and, for CSV, its dialect."""

    path: Path
    format: str  # csv, parquet, folder, arrow, excel, frame, duckdb, postgresql or spark
    columns: tuple[str, ...]
    delimiter: str | None = None
    encoding: str | None = None
    plain: bool = True  # CSV that every engine reads alike: UTF-8, and all lines end in the same way
    address: Address | None = None  # of a table in a database
    identity: object = None  # of that table, by whatever address

    @property
    def shown(self) -> object:
        """What messages call it."""
        return self.address or self.path

    @property
    def here(self) -> Path:
        """Where it lies on this machine; what Spark reads at `file:` does too."""
        name = str(self.identity)
        return Path(url2pathname(name.removeprefix("file://"))) if name.startswith("file://") else self.path


def check_columns(source: Source) -> None:
    """There are columns, and every one has a name of its own, whatever the case."""
    if not source.columns:
        raise BadColumns(source.shown, "there are none.")
    if any(not name.strip() for name in source.columns):
        position = next(i for i, name in enumerate(source.columns, 1) if not name.strip())
        raise BadColumns(source.shown, f"column {position} has no name. Does the file begin with a header line?")
    seen = Counter(name.casefold() for name in source.columns)
    twice = [str(i) for i, name in enumerate(source.columns, 1) if seen[name.casefold()] > 1]
    if twice:
        reason = f"the names of columns {', '.join(twice)} are not distinct, whatever the case. Rename them."
        raise BadColumns(source.shown, reason)


def text_batches(columns: Sequence[str], chunks: Iterable[Sequence[Sequence[str]]]) -> Any:
    """Rows of text, some at a time, as record batches; an empty cell is NULL."""
    schema = pa.schema([(name, pa.string()) for name in columns])

    def as_batch(rows: Sequence[Sequence[str]]) -> Any:
        cells = ([cell or None for cell in column] for column in zip(*rows, strict=True))
        return pa.record_batch([pa.array(column, pa.string()) for column in cells], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, map(as_batch, chunks))

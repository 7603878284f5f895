"""Cells: a written CSV or Parquet file, every cell as text, by a reader of its own."""

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any

from kech.errors import BadColumns, BadOption, NoSuchFile, UnreadableFile

AnyPath = str | PathLike[str]
Cell = str | None
Counts = Counter[tuple[Cell, ...]]
Batch = list[list[Cell]]  # one list a column


@dataclass(frozen=True, slots=True)
class TextTable:
    """Columns, and the cells below them."""

    columns: list[str]
    batches: Callable[[Sequence[str]], Iterator[Batch]]  # cells of the named columns, some rows at a time
    label: Callable[[Cell], Cell]


def open_published(path: AnyPath, format: str | None = None, delimiter: str = ",") -> TextTable:
    """The cells of a published file, all text."""
    path, format = Path(path), format or guess_format(path)
    check_dialect(format, delimiter)
    table = _open_parquet(path) if format == "parquet" else _open_csv(path, delimiter)
    if not table.columns:
        raise UnreadableFile(path, "it has no columns.")
    if len(set(table.columns)) < len(table.columns):
        raise BadColumns(path, "two of them have the same name.")
    return table


def guess_format(name: AnyPath) -> str:
    """What the end of a file's name says."""
    return "parquet" if Path(name).suffix.lower() in (".parquet", ".pq") else "csv"


def check_dialect(format: str, delimiter: object) -> None:
    """A format and a delimiter that can be read."""
    if format not in ("csv", "parquet"):
        raise BadOption("format", "csv or parquet is expected.")
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise BadOption("delimiter", "one character is expected.")


def digest(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    with _reading(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise NoSuchFile(path) from None
    except OSError as error:
        raise UnreadableFile(path, error.strerror or "it is damaged.") from None


def _open_csv(path: Path, delimiter: str) -> TextTable:
    rows = _csv_rows(path, delimiter)
    columns = next(rows, [])

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        picks = [itemgetter(columns.index(name)) for name in names]
        while chunk := list(islice(rows, 1_000)):
            yield [list(map(pick, chunk)) for pick in picks]

    return TextTable(columns, batches, _without_guard)


def _without_guard(cell: Cell) -> Cell:
    """The text behind the ' that keeps a spreadsheet from running a cell as a formula."""
    return cell[1:] if cell and re.match(r"'+\s*[=+\-@\t\r]", cell) else cell


def _csv_rows(path: Path, delimiter: str) -> Iterator[list[str]]:
    """The header, then rows as wide as it; trouble is named by the line on which its row begins."""
    width, line = 0, 1
    csv.field_size_limit(max(csv.field_size_limit(), 2**24))  # a set may be longer than csv's 128 KiB
    with _reading(path), path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        reader = csv.reader(map(_checked_line, text), delimiter=delimiter, strict=True)
        try:
            for cells in reader:
                row = cells or [""]  # a blank line is the NULL of a table with one column
                width = width or len(row)
                if len(row) != width:
                    raise csv.Error(f"{len(row)} cells under {width} columns")
                line = reader.line_num + 1
                yield row
        except csv.Error as error:  # its text never quotes a cell
            raise UnreadableFile(path, f"line {line}: {error}.") from None


def _checked_line(line: str) -> str:
    if "\0" in line or (not line.isascii() and re.search("[\udc80-\udcff]", line)):
        raise csv.Error("a NUL byte or bytes that are not UTF-8")
    return line


def _open_parquet(path: Path) -> TextTable:
    with _parquet_file(path) as file:
        columns = list(file.schema_arrow.names)

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        with _parquet_file(path) as file:
            for batch in file.iter_batches(columns=list(names)):
                yield [batch.column(name).cast("string").to_pylist() for name in names]

    return TextTable(columns, batches, lambda cell: cell)


@contextmanager
def _parquet_file(path: Path) -> Iterator[Any]:
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with _reading(path), ParquetFile(path) as file:
            yield file
    except (pyarrow.ArrowException, ValueError):
        raise UnreadableFile(path, "it is not a Parquet file whose cells can be read as text.") from None

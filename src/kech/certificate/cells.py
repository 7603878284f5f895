"""Cells: a written CSV or Parquet file, every cell as text, by a reader of its own."""

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
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

ROWS_AT_ONCE = 100_000  # of a Parquet file that is counted


@dataclass(frozen=True, slots=True)
class TextTable:
    """Columns, and the cells below them."""

    columns: list[str]
    batches: Callable[[Sequence[str]], Iterator[Batch]]  # cells of the named columns, some rows at a time
    label: Callable[[Cell], Cell]
    groups: Callable[[Sequence[str]], Counts] | None = None  # rows of each combination of cells, where that is quicker

    def counted(self, names: Sequence[str]) -> Counts:
        """How often each combination of cells occurs in the named columns."""
        if self.groups is not None:
            return self.groups(names)
        counts: Counts = Counter()
        for batch in self.batches(names):
            counts.update(zip(*batch, strict=True))
        return counts


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
        texts = {field.name for field in file.schema_arrow if str(field.type) == "string"}

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        with _parquet_file(path) as file:
            for batch in file.iter_batches(columns=list(names)):
                yield [batch.column(name).cast("string").to_pylist() for name in names]

    def groups(names: Sequence[str]) -> Counts:
        known: list[dict[Cell, int]] = [{} for _ in names]
        found, more = None, []
        with _parquet_file(path, texts.intersection(names)) as file:
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=list(dict.fromkeys(names))):
                coded = [_code(batch.column(name), seen) for name, seen in zip(names, known, strict=True)]
                more.append(_add_up([_table(coded)]))
                if found is None or sum(map(len, more)) > len(found):
                    found, more = _add_up([*([found] if found else []), *more]), []
        tables = [*([found] if found else []), *more]
        *codes, rows = _add_up(tables).columns if tables else _table([[]] * len(names)).columns
        labels = [list(seen) for seen in known]
        cells = [[label[i] for i in column.to_pylist()] for label, column in zip(labels, codes, strict=True)]
        return Counter(dict(zip(zip(*cells, strict=True), rows.to_pylist(), strict=True)))

    return TextTable(columns, batches, lambda cell: cell, groups)


def _code(column: Any, seen: dict[Cell, int]) -> Any:
    """A number for the text of each cell, the same in every batch."""
    import pyarrow

    encoded = column if pyarrow.types.is_dictionary(column.type) else column.dictionary_encode()
    texts = [*encoded.dictionary.cast("string").to_pylist(), None]
    numbers = pyarrow.array([seen.setdefault(text, len(seen)) for text in texts], "int32")
    return numbers.take(encoded.indices.fill_null(len(texts) - 1))


def _table(codes: Sequence[Any]) -> Any:
    """Numbers of cells, and one row behind each."""
    import pyarrow

    ones = pyarrow.repeat(pyarrow.scalar(1, "int64"), len(codes[0]))
    return pyarrow.table([*codes, ones], names=[*map(str, range(len(codes))), "rows"])


def _add_up(tables: Sequence[Any]) -> Any:
    """Each combination of numbers once, with the rows of all its places."""
    import pyarrow

    together = pyarrow.concat_tables(tables)
    *keys, rows = together.column_names
    return (
        together.group_by(keys).aggregate([(rows, "sum")]).select([*keys, f"{rows}_sum"]).rename_columns([*keys, rows])
    )


@contextmanager
def _parquet_file(path: Path, coded: Iterable[str] = ()) -> Iterator[Any]:
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with _reading(path), ParquetFile(path, read_dictionary=list(coded)) as file:
            yield file
    except (pyarrow.ArrowException, ValueError):
        raise UnreadableFile(path, "it is not a Parquet file whose cells can be read as text.") from None

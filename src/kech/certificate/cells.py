"""Cells: a written CSV or Parquet file, every cell as text, by a reader of its own."""

import csv
import hashlib
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from kech.errors import BadColumns, BadOption, NoSuchFile, UnreadableFile

AnyPath = str | PathLike[str]
Cell = str | None
Counts = Counter[tuple[Cell, ...]]
Batch = list[list[Cell]]  # one list a column

ROWS_AT_ONCE, ROWS_TOGETHER = 100_000, 1_000_000  # of a Parquet file that are read, and counted
BLOCK = 1 << 16  # bytes of a CSV file that are read at once
LINES = 200_000  # different ones of a CSV file that may be held, or this many for each combination of cells:
FOR_EACH = 4
LARGEST = 2**62


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

    def groups(names: Sequence[str]) -> Counts:
        try:
            return _count_lines(path, delimiter, columns, names)
        except csv.Error:  # a row is more than a line, or something is wrong with it
            counts: Counts = Counter()
            for batch in batches(names):
                counts.update(zip(*batch, strict=True))
            return counts

    return TextTable(columns, batches, _without_guard, groups)


def _count_lines(path: Path, delimiter: str, columns: Sequence[str], names: Sequence[str]) -> Counts:
    """Rows of each combination of cells, where every line is a row: lines that are written alike are read once."""
    places = [columns.index(name) for name in names]
    counts: Counts = Counter()
    known: dict[str, str] = {}
    with _reading(path), path.open("rb") as file:
        if _split([file.readline().removeprefix(BOM_UTF8)], delimiter) != [columns]:
            raise csv.Error
        for lines in _alike(file, counts):
            for cells, rows in zip(_split(lines, delimiter), lines.values(), strict=True):
                if len(cells) != len(columns):
                    raise csv.Error
                counts[tuple([known.setdefault(cells[i], cells[i]) for i in places])] += rows
    return counts


def _alike(file: BinaryIO, found: Counts) -> Iterator[Counter[bytes]]:
    """Lines and how often each is there, all or some at a time: no more than there is room for beside what is found."""
    lines: Counter[bytes] = Counter()
    rest = b""
    while block := file.read(BLOCK):
        *whole, rest = (rest + block).split(b"\n")
        lines.update(whole)
        if len(lines) > max(LINES, FOR_EACH * len(found)):
            yield lines
            lines = Counter()
    lines.update([rest] if rest else [])
    yield lines


def _split(lines: Iterable[bytes], delimiter: str) -> list[list[str]]:
    """The cells of lines; csv.Error unless each of them is a row, and no part of one ends like a line."""
    texts = [_checked_line(line.decode("utf-8", "surrogateescape")) for line in lines]
    rows = [cells or [""] for cells in csv.reader(texts, delimiter=delimiter, strict=True)]
    if len(rows) != len(texts) or any("\r" in text.removesuffix("\n").removesuffix("\r") for text in texts):
        raise csv.Error
    return rows


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
            read = partial(file.iter_batches, ROWS_AT_ONCE, columns=list(dict.fromkeys(names)))
            for batch in read():
                for column, seen in zip(_listed(batch, names), known, strict=True):
                    _number(column, seen)
            places = _places([len(seen) for seen in known])
            for batch in read():
                more.append(_pack(_listed(batch, names), known, places))
                if sum(map(len, more)) > max(ROWS_TOGETHER, len(found or ())):
                    found, more = _add_up([*([found] if found else []), *more]), []
        tables = [*([found] if found else []), *more]
        if not tables:
            return Counter()
        *keys, rows = (column.to_numpy() for column in _add_up(tables).columns)
        cells = [
            [labels[i] for i in (keys[word] // stride % len(labels)).tolist()]
            for labels, (word, stride) in zip(map(list, known), places, strict=True)
        ]
        return Counter(dict(zip(zip(*cells, strict=True), rows.tolist(), strict=True)))

    return TextTable(columns, batches, lambda cell: cell, groups)


def _listed(batch: Any, names: Sequence[str]) -> list[Any]:
    """Columns in which every value is listed once."""
    import pyarrow

    columns = [batch.column(name) for name in names]
    return [x if pyarrow.types.is_dictionary(x.type) else x.dictionary_encode() for x in columns]


def _number(column: Any, seen: dict[Cell, int]) -> list[int]:
    """The number of each text in the list of a column, the same in every batch; the last is that of no text."""
    return [seen.setdefault(text, len(seen)) for text in [*column.dictionary.cast("string").to_pylist(), None]]


def _places(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Where the number of each cell is in the numbers of a row: in which of them, and by what it is multiplied."""
    places, word, stride = [], 0, 1
    for size in sizes:
        if stride > 1 and stride * size > LARGEST:
            word, stride = word + 1, 1
        places.append((word, stride))
        stride *= size
    return places


def _pack(columns: Sequence[Any], known: Sequence[dict[Cell, int]], places: Sequence[tuple[int, int]]) -> Any:
    """The numbers of each row, and one row behind them."""
    import pyarrow

    words: list[Any] = []
    for column, seen, (word, stride) in zip(columns, known, places, strict=True):
        numbers = pyarrow.array(_number(column, seen), "int64").to_numpy() * stride
        part = numbers[column.indices.fill_null(len(numbers) - 1).to_numpy()]
        words[word:] = [words[word] + part if word < len(words) else part]
    ones = pyarrow.repeat(pyarrow.scalar(1, "int64"), len(columns[0]))
    return pyarrow.table([*words, ones], names=[*map(str, range(len(words))), "rows"])


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

"""Cells: a written CSV or Parquet file, every cell as text, by a reader of its own."""

import csv
import hashlib
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from kech.certificate.tally import Cell, Coded, Counts, Ints, Tally, map_ahead, tally
from kech.errors import BadColumns, BadOption, NoSuchFile, UnreadableFile

AnyPath = str | PathLike[str]
Batch = list[list[Cell]]  # one list a column

BESIDE = ".certificate.json"  # added to the name of a file, it names its certificate
ROWS_AT_ONCE = 100_000  # of a Parquet file
BLOCK = 1 << 20  # bytes of a CSV file that are read at once
LONGEST = 1 << 25  # bytes of a line
WORKERS = 2  # threads that read ahead
NEWLINE, QUOTE = b'\n"'
QUOTED, EMPTY = b'""', "\0"  # empty text as it is written, and while it is read: no cell holds a NUL


@dataclass(frozen=True, slots=True)
class TextTable:
    """Columns, and the cells below them."""

    columns: list[str]
    batches: Callable[[Sequence[str]], Iterator[Batch]]  # cells of the named columns, some rows at a time
    label: Callable[[Cell], Cell]
    groups: Callable[[Sequence[str]], Counts] | None = None  # rows of each combination of cells, where that is quicker

    def count(self, names: Sequence[str]) -> Counts:
        """How often each combination of cells occurs in the named columns."""
        return tally(self.batches(names), len(names)) if self.groups is None else self.groups(names)


def open_published(path: AnyPath, format: str | None = None, delimiter: str = ",") -> TextTable:
    """The cells of a published file, all text."""
    path, format = Path(path), format or guess_format(path)
    check_dialect(format, delimiter)
    table = _open_parquet(path) if format == "parquet" else _open_csv(path, delimiter)
    if not table.columns:
        raise UnreadableFile(path, "it has no columns. Name a file with a header line.")
    if len(set(table.columns)) < len(table.columns):
        raise BadColumns(path, "two of them have the same name. Rename one.")
    return table


def certificate_path(path: AnyPath) -> Path:
    """Where the certificate of a file lies unless it is named."""
    return Path(f"{Path(path)}{BESIDE}")


def guess_format(name: AnyPath) -> str:
    """What the end of a file's name says."""
    return "parquet" if Path(name).suffix.lower() in (".parquet", ".pq") else "csv"


def check_dialect(format: str, delimiter: object) -> None:
    """A format and a delimiter that can be read."""
    if format not in ("csv", "parquet"):
        raise BadOption("format", "write csv or parquet.")
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise BadOption("delimiter", "write one character.")


def digest(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    with _refuse_unreadable(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def digest_in_background(path: Path) -> Iterator[Callable[[], str]]:
    """The digest of a file, found while it is read; a file that has none is refused before anything else."""
    with ThreadPoolExecutor(1) as pool:
        digesting = pool.submit(digest, path)
        try:
            yield digesting.result
        finally:
            digesting.result()


@contextmanager
def _refuse_unreadable(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise NoSuchFile(path) from None
    except OSError as error:
        raise UnreadableFile(path, error.strerror or "it is damaged.") from None


def _open_csv(path: Path, delimiter: str) -> TextTable:
    columns = [name or "" for name in next(_csv_rows(path, delimiter), [])]

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        picks = [itemgetter(columns.index(name)) for name in names]
        rows = islice(_csv_rows(path, delimiter), 1, None)
        while chunk := list(islice(rows, 1_000)):
            yield [list(map(pick, chunk)) for pick in picks]

    def groups(names: Sequence[str]) -> Counts:
        try:
            return _count_lines(path, delimiter, columns, names)
        except csv.Error:  # a line is too long, or no row, or something is wrong with it
            return tally(batches(names), len(names))

    return TextTable(columns, batches, _without_guard, groups)


def _count_lines(path: Path, delimiter: str, columns: Sequence[str], names: Sequence[str]) -> Counts:
    """Rows of each combination of cells, where every line is a row; csv.Error where one is not, or may not be.

    Lines are parted at the delimiters that have an even number of quotes before them.  Where each part, read alone, is
    one cell, a line that is read from its beginning has the same cells: each part ends as it would before a delimiter.
    """
    if not delimiter.isascii():
        raise csv.Error
    read = partial(
        _parse_lines, delimiter=delimiter, width=len(columns), selected=[columns.index(name) for name in names]
    )
    with _refuse_unreadable(path), path.open("rb") as file:
        _split([file.readline().removeprefix(BOM_UTF8)], delimiter)  # the header is one line too
        return Tally(len(names)).count(map_ahead(read, _whole_lines(file), WORKERS))


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The rest of a file, many lines at a time; the last ends like the others."""
    rest = b""
    while block := file.read(BLOCK):
        lines, newline, rest = (rest + block).rpartition(b"\n")
        if len(rest) > LONGEST:
            raise csv.Error
        if newline:
            yield lines + newline
    if rest:
        yield rest + b"\n"


def _parse_lines(lines: bytes, delimiter: str, width: int, selected: Sequence[int]) -> list[Coded]:
    """The cells of the wanted columns, each text once."""
    import pyarrow

    ends = _ends(np.frombuffer(lines, np.uint8), ord(delimiter), width)
    bounds = np.concatenate([[0], ends + 1]).astype(np.int32)
    parts = pyarrow.Array.from_buffers(
        pyarrow.binary(), len(ends), [None, pyarrow.py_buffer(bounds), pyarrow.py_buffer(lines)]
    ).dictionary_encode()
    texts = _parse_cells(parts.dictionary.to_pylist(), delimiter)
    rows = parts.indices.to_numpy().reshape(-1, width)
    return [_omit_unused(texts, rows[:, column]) for column in selected]


def _ends(letters: Any, delimiter: int, width: int) -> Ints:
    """Where cells end, so many in each line."""
    marks = np.flatnonzero((letters == delimiter) | (letters == NEWLINE) | (letters == QUOTE))
    quotes = letters[marks] == QUOTE
    inside = np.cumsum(quotes, dtype=np.uint8) & 1  # of the quotes so far, the last bit
    ends: Ints = marks[(inside == 0) & ~quotes]
    if inside[-1] or len(ends) % width:
        raise csv.Error
    last = (letters[ends] == NEWLINE).reshape(-1, width)
    if last[:, :-1].any() or not last[:, -1].all():
        raise csv.Error
    return ends


def _omit_unused(texts: Sequence[Cell], places: Any) -> Coded:
    """Only those texts that a column has."""
    used = np.zeros(len(texts), bool)
    used[places] = True
    return [texts[i] for i in np.flatnonzero(used).tolist()], (np.cumsum(used) - 1)[places]


def _parse_cells(parts: Sequence[bytes], delimiter: str) -> list[Cell]:
    """The cell of each part, which ends with a delimiter or as a line does; csv.Error where it is not one cell."""
    if any(b"\r" in part and not part.endswith(b"\n") for part in parts):
        raise csv.Error
    rows = _split([part if part.endswith(b"\n") else part[:-1] for part in parts], delimiter)
    if any(len(cells) != 1 for cells in rows):
        raise csv.Error
    return [cell or ("" if QUOTED in part else None) for part, (cell,) in zip(parts, rows, strict=True)]


def _split(lines: Sequence[bytes], delimiter: str) -> list[list[str]]:
    """The cells of lines; csv.Error unless each of them is a row, and no part of one ends like a line."""
    texts = [_check_line(line.decode("utf-8", "surrogateescape")) for line in lines]
    rows = [cells or [""] for cells in csv.reader(texts, delimiter=delimiter, strict=True)]
    if len(rows) != len(texts) or any("\r" in text.removesuffix("\n").removesuffix("\r") for text in texts):
        raise csv.Error
    return rows


def _without_guard(cell: Cell) -> Cell:
    """The text behind the ' that keeps a spreadsheet from running a cell as a formula."""
    return cell[1:] if cell and re.match(r"'+\s*[=+\-@\t\r]", cell) else cell


def _csv_rows(path: Path, delimiter: str) -> Iterator[list[Cell]]:
    """The header, then rows as wide as it; trouble is named by the line on which its row begins."""
    width, line = 0, 1
    csv.field_size_limit(max(csv.field_size_limit(), 2**24))  # a set may be longer than csv's 128 KiB
    with _refuse_unreadable(path), path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        lines = _Lines(map(_check_line, text), delimiter)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for cells in reader:
                row = _as_cells(cells)
                width = width or len(row)
                if len(row) != width:
                    raise csv.Error(f"{len(row)} cells under {width} columns")
                line = reader.line_num + 1
                lines.is_first = True
                yield row
        except csv.Error as error:  # its text never quotes a cell
            raise UnreadableFile(path, f"line {line}: {error}. Correct that line, or ask for a whole copy.") from None


def _as_cells(cells: list[str]) -> list[Cell]:
    """What is not written is missing, as is the one cell of a blank line; what is written as "" is empty text."""
    if cells and "" not in cells and EMPTY not in cells:
        return cast("list[Cell]", cells)
    return [None if not cell else "" if cell == EMPTY else cell for cell in cells or [""]]


class _Lines:
    """Lines in which the cell "" is marked: the reader of CSV tells it from nothing no longer.

    The reader asks for the next line when a row has ended, or while a quoted cell goes on.
    """

    def __init__(self, lines: Iterator[str], delimiter: str) -> None:
        self.lines, self.delimiter, self.is_first = lines, delimiter, True
        self.cell = re.compile(rf'"(?:[^"]|"")*+"?|[^{re.escape(delimiter)}]*')

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self.lines)
        goes_on, self.is_first = not self.is_first, False
        return self._mark(line, goes_on) if '""' in line else line

    def _mark(self, line: str, goes_on: bool) -> str:
        """The line, cell by cell; the first may be the rest of one that began before."""
        line = '"' + line if goes_on else line
        place, parts = 0, []
        while match := self.cell.match(line, place):
            parts.append(f'"{EMPTY}"' if match[0] == '""' and not (goes_on and not place) else match[0])
            place = match.end()
            if not line.startswith(self.delimiter, place):
                break
            parts.append(self.delimiter)
            place += 1
        return ("".join(parts) + line[place:])[goes_on:]


def _check_line(line: str) -> str:
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
        with _parquet_file(path, texts.intersection(names)) as file:
            batches = file.iter_batches(ROWS_AT_ONCE, columns=list(dict.fromkeys(names)))
            return Tally(len(names)).count(map_ahead(partial(_list_cells, names=names), batches, WORKERS))

    return TextTable(columns, batches, lambda cell: cell, groups)


def _list_cells(batch: Any, names: Sequence[str]) -> list[Coded]:
    """Cells as text, each text once; the last is that of no text."""
    import pyarrow

    columns = [batch.column(name) for name in names]
    listed = [x if pyarrow.types.is_dictionary(x.type) else x.dictionary_encode() for x in columns]
    texts = [[*column.dictionary.cast("string").to_pylist(), None] for column in listed]
    return [
        (listed_texts, x.indices.cast("int64").fill_null(len(listed_texts) - 1).to_numpy())
        for listed_texts, x in zip(texts, listed, strict=True)
    ]


@contextmanager
def _parquet_file(path: Path, coded: Iterable[str] = ()) -> Iterator[Any]:
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with _refuse_unreadable(path), ParquetFile(path, read_dictionary=list(coded)) as file:
            yield file
    except (pyarrow.ArrowException, ValueError):
        raise UnreadableFile(
            path, "it is not a Parquet file whose cells can be read as text. Ask for a whole copy."
        ) from None

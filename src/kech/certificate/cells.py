"""Cells: the independent reader of a published CSV or Parquet file; every cell is text."""

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

from kech.certificate.tally import Cell, CellCounter, Coded, Counts, Ints, map_ahead, tally
from kech.errors import BadColumns, NoSuchFile, UnreadableFile, unusable_value

AnyPath = str | PathLike[str]
Batch = list[list[Cell]]  # one list a column

BESIDE = ".certificate.json"  # appended to the name of a file, the name of its certificate
ROWS_AT_ONCE = 100_000  # of a Parquet file
BLOCK = 1 << 22  # bytes of a CSV file that are read at once; texts that several blocks have are looked up again
LONGEST = 1 << 25  # bytes of a line
WORKERS = 2  # threads that parse ahead
NEWLINE, QUOTE = b'\n"'
QUOTED, EMPTY = b'""', "\0"  # empty text in the file, and while it is parsed: no cell contains NUL


@dataclass(frozen=True, slots=True)
class TextTable:
    """The columns of a file, and functions that read its cells."""

    columns: list[str]
    batches: Callable[[Sequence[str]], Iterator[Batch]]  # cells of the named columns, a batch of rows at a time
    label: Callable[[Cell], Cell]  # a cell without the ' that protects spreadsheets from formulas
    groups: Callable[[Sequence[str]], Counts] | None = None  # a faster way to count combinations of cells

    def count(self, names: Sequence[str]) -> Counts:
        """How many rows have each combination of cells in the named columns."""
        return tally(self.batches(names), len(names)) if self.groups is None else self.groups(names)


def open_published(path: AnyPath, format: str | None = None, delimiter: str = ",") -> TextTable:
    """A published file as a table of text; format and delimiter are by default those of its name and a comma."""
    path, format = Path(path), format or guess_format(path)
    check_dialect(format, delimiter)
    table = _open_parquet(path) if format == "parquet" else _open_csv(path, delimiter)
    if not table.columns:
        raise UnreadableFile(path, "it has no columns. Name a file with a header line.")
    if len(set(table.columns)) < len(table.columns):
        raise BadColumns(path, "two of them have the same name. Rename one.")
    return table


def certificate_path(path: AnyPath) -> Path:
    """The default path of the certificate of a file: in the same folder."""
    return Path(f"{Path(path)}{BESIDE}")


def guess_format(name: AnyPath) -> str:
    """The format of a file, `csv` or `parquet`, by the ending of its name."""
    return "parquet" if Path(name).suffix.lower() in (".parquet", ".pq") else "csv"


def check_dialect(format: str, delimiter: object) -> None:
    """Refuse a format or delimiter that this reader does not know."""
    if format not in ("csv", "parquet"):
        raise unusable_value("format", "Write csv or parquet.")
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise unusable_value("delimiter", "Write one character.")


def digest(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    with _refuse_unreadable(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def digest_in_background(path: Path) -> Iterator[Callable[[], str]]:
    """A function that returns the digest of a file, computed on another thread during the block."""
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
        reason = (error.strerror or "it is damaged").lower()
        raise UnreadableFile(path, f"{reason}. Check its permissions, or ask for another copy.") from None


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
        except csv.Error:  # a row has several lines, or is malformed, which the slower reader reports
            return tally(batches(names), len(names))

    return TextTable(columns, batches, _without_guard, groups)


def _count_lines(path: Path, delimiter: str, columns: Sequence[str], names: Sequence[str]) -> Counts:
    """The rows of each combination of cells in a file where every line is a row; csv.Error for any other file.

    Lines are split at the delimiters that have an even number of quotes before them.  Where every piece, parsed alone,
    is one cell, parsing the whole line gives the same cells: each piece ends as it would before a delimiter.
    """
    if not delimiter.isascii():
        raise csv.Error
    read = partial(
        _parse_lines, delimiter=delimiter, width=len(columns), selected=[columns.index(name) for name in names]
    )
    with _refuse_unreadable(path), path.open("rb") as file:
        _split([file.readline().removeprefix(BOM_UTF8)], delimiter)  # the header is one line too
        return CellCounter(len(names)).count(map_ahead(read, _whole_lines(file), WORKERS))


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The rest of a file in blocks of whole lines; a missing newline at the end is added."""
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
    """The cells of the selected columns of these lines: distinct texts, and the index of each row's text."""
    import pyarrow

    ends = _ends(np.frombuffer(lines, np.uint8), ord(delimiter), width)
    bounds = np.concatenate([[0], ends + 1]).astype(np.int32)
    pieces = pyarrow.Array.from_buffers(
        pyarrow.binary(), len(ends), [None, pyarrow.py_buffer(bounds), pyarrow.py_buffer(lines)]
    ).dictionary_encode()
    texts = _parse_cells(pieces.dictionary.to_pylist(), delimiter)
    rows = pieces.indices.to_numpy().reshape(-1, width)
    return [_omit_unused(texts, rows[:, column]) for column in selected]


def _ends(text: Any, delimiter: int, width: int) -> Ints:
    """The positions of the delimiters and newlines that end cells; csv.Error unless each line has `width` cells."""
    marks = np.flatnonzero((text == delimiter) | (text == NEWLINE) | (text == QUOTE))
    quotes = text[marks] == QUOTE
    inside = np.cumsum(quotes, dtype=np.uint8) & 1  # 1 after an odd number of quotes
    ends: Ints = marks[(inside == 0) & ~quotes]
    if inside[-1] or len(ends) % width:
        raise csv.Error
    last = (text[ends] == NEWLINE).reshape(-1, width)
    if last[:, :-1].any() or not last[:, -1].all():
        raise csv.Error
    return ends


def _omit_unused(texts: Sequence[Cell], indices: Any) -> Coded:
    """The texts that a column uses, and the index of each row's text among them."""
    used = np.zeros(len(texts), bool)
    used[indices] = True
    return [texts[i] for i in np.flatnonzero(used).tolist()], (np.cumsum(used) - 1)[indices]


def _parse_cells(pieces: Sequence[bytes], delimiter: str) -> list[Cell]:
    """The cell in each piece, which ends with a delimiter or a newline; csv.Error where a piece is not one cell."""
    if any(b"\r" in piece and not piece.endswith(b"\n") for piece in pieces):
        raise csv.Error
    rows = _split([piece if piece.endswith(b"\n") else piece[:-1] for piece in pieces], delimiter)
    if any(len(cells) != 1 for cells in rows):
        raise csv.Error
    return [cell or ("" if QUOTED in piece else None) for piece, (cell,) in zip(pieces, rows, strict=True)]


def _split(lines: Sequence[bytes], delimiter: str) -> list[list[str]]:
    """The cells of each line; csv.Error unless each line is one row without a carriage return inside."""
    texts = [_check_line(line.decode("utf-8", "surrogateescape")) for line in lines]
    rows = [cells or [""] for cells in csv.reader(texts, delimiter=delimiter, strict=True)]
    if len(rows) != len(texts) or any("\r" in text.removesuffix("\n").removesuffix("\r") for text in texts):
        raise csv.Error
    return rows


def _without_guard(cell: Cell) -> Cell:
    """A cell without the leading ' that protects spreadsheets from formulas."""
    return cell[1:] if cell and re.match(r"'+\s*[=+\-@\t\r]", cell) else cell


def _csv_rows(path: Path, delimiter: str) -> Iterator[list[Cell]]:
    """The header, then all rows; a row that is malformed or of another width is refused by its first line."""
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
            raise UnreadableFile(path, f"line {line}: {error}. Correct that line, or ask for another copy.") from None


def _as_cells(cells: list[str]) -> list[Cell]:
    """The parsed cells of a row: an unquoted empty cell is None, and "" is empty text; a blank line is one None."""
    if cells and "" not in cells and EMPTY not in cells:
        return cast("list[Cell]", cells)
    return [None if not cell else "" if cell == EMPTY else cell for cell in cells or [""]]


class _Lines:
    """Lines in which the cell "" is replaced by a marked one, since csv.reader returns "" for both kinds of empty cell.

    The reader asks for the next line when a row has ended, or inside a quoted cell.
    """

    def __init__(self, lines: Iterator[str], delimiter: str) -> None:
        self.lines, self.delimiter, self.is_first = lines, delimiter, True
        self.cell = re.compile(rf'"(?:[^"]|"")*+"?|[^{re.escape(delimiter)}]*')

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self.lines)
        continues, self.is_first = not self.is_first, False
        return self._mark(line, continues) if '""' in line else line

    def _mark(self, line: str, continues: bool) -> str:
        """The line with marked empty texts; where it continues a quoted cell, its first cell is the rest of that."""
        line = '"' + line if continues else line
        position, parts = 0, []
        while match := self.cell.match(line, position):
            parts.append(f'"{EMPTY}"' if match[0] == '""' and not (continues and not position) else match[0])
            position = match.end()
            if not line.startswith(self.delimiter, position):
                break
            parts.append(self.delimiter)
            position += 1
        return ("".join(parts) + line[position:])[continues:]


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
            return CellCounter(len(names)).count(map_ahead(partial(_list_cells, names=names), batches, WORKERS))

    return TextTable(columns, batches, lambda cell: cell, groups)


def _list_cells(batch: Any, names: Sequence[str]) -> list[Coded]:
    """The cells of the named columns as text: distinct texts, the last of them None, and the index of each row's."""
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
            path, "it is no Parquet file, or has cells that cannot be read as text. Ask for another copy."
        ) from None

"""CSV: encoding, line ends, delimiter and header of a file; and a reader for files that no backend reads itself.

In: a path.  Out: a `CsvDialect`, so that nothing is guessed twice; record batches of text.
"""

import codecs
import csv
import io
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow as pa

from kech.errors import BadRow, KechError, UnreadableFile
from kech.request.parts import DELIMITERS

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
TITLE_LINES, FEWEST_NAMED = 12, 3  # lines that are looked at for a title, and columns of a table below one
SAMPLE = 1 << 16  # characters from which the delimiter is found
FEWEST_REPEATED, LEAST_REPEATED = 2, 1 / 3  # cells of a first line that occur again in their columns: it is a row
CHUNK = 1 << 24  # bytes that are checked at once
BATCH = 1 << 14  # rows of a record batch
BLOCK = 1 << 20  # bytes that are read at once to find the longest row
LONGEST = 1 << 25  # characters of a cell
TOO_LONG = "it is longer than 32 MB. Check whether a quote is missing."
QUOTES = "a quote is opened and never closed, or text follows a closing quote. Correct it there."
FIRST_ROW = (
    "Correct the header or the row, or name the delimiter (--delimiter) or the line that names the columns "
    "(--header-line)"
)
OTHER_ENCODING = "Name its encoding: --encoding latin-1, --encoding cp1252 or --encoding utf-16."


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """How a CSV file is written."""

    header: tuple[str, ...]
    delimiter: str
    encoding: str
    plain: bool  # UTF-8 with equal line ends and the header in its first line, which every backend reads
    header_line: int = 1


def find_dialect(path: Path, delimiter: str | None, encoding: str | None, header_line: int | None = None) -> CsvDialect:
    """The dialect of a CSV file: first its encoding, then the delimiter, then the header."""
    codec, above = choose_encoding(path, encoding), (header_line or 1) - 1
    plain = codec == "utf-8" and check_utf8_and_line_ends(path) and not above
    with open_text(path, codec) as file:
        deque(islice(file, above), 0)
        sample = file.read(SAMPLE)
    chosen = delimiter or sniff_delimiter(sample)
    with open_text(path, codec) as file:
        deque(islice(file, above), 0)
        try:
            header = next(csv.reader(file, delimiter=chosen, strict=True), [])
        except csv.Error as fault:
            raise BadRow(path, above + 1, TOO_LONG if "limit" in str(fault) else QUOTES) from None
    is_doubtful = len(header) < FEWEST_NAMED or not all(map(str.strip, header)) or has_number(header)
    if header_line is None and is_doubtful:
        check_title(path, sample, delimiter)
    check_header(path, header, sample, chosen)
    return CsvDialect(tuple(header) or ("",), chosen, codec, plain, above + 1)


def check_title(path: Path, sample: str, delimiter: str | None) -> None:
    """Refuse a file that begins with a title: the names of its columns stand further down."""
    lines = list(islice(io.StringIO(sample, newline=""), TITLE_LINES))
    chosen = delimiter or sniff_delimiter(sample)
    widths = {len(row) for row in split_lines(lines, chosen)}
    is_even = len(widths) == 1 and widths != {1}  # other signs may stand in its cells
    for sign in (chosen,) if delimiter or is_even else (chosen, *DELIMITERS):
        if place := find_header(split_lines(lines, sign)):
            raise UnreadableFile(path, say_title(place + 1))


def split_lines(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """The cells of each line, read by itself."""
    return [row for line in lines for row in csv.reader([line], delimiter=delimiter)]


def find_header(rows: Sequence[Sequence[str]]) -> int:
    """Which of the first rows names the columns: 0, or the first full one below a title and blank lines.

    All rows from there on are as wide, no name of a column is a number, and most names occur once.  A title has cells
    in a third of the columns; in half of them, or in all with a number, where numbers begin below the names.

    >>> find_header([["List of 2025", "", ""], ["id", "sex", "age"], ["1", "f", "30"], ["2", "m", "40"]])
    1
    >>> find_header([["", "sex", "age"], ["a", "f", "30"], ["b", "m", "40"]])
    0
    """
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    width = len(rows[-1]) if rows else 0
    place = next((place for place, row in enumerate(rows) if filled[place] == width and not has_number(row)), 0)
    is_table = width >= FEWEST_NAMED and len(rows) > place + 1 and all(len(row) == width for row in rows[place:])
    if not place or not is_table or len({*rows[place]}) <= width / 2:
        return 0
    is_short = max(filled[:place]) <= width / 2 or (place == 1 and has_number(rows[0]))
    has_numbers = any(all(map(is_number, column)) for column in zip(*rows[place + 1 :], strict=True))
    return place if max(filled[:place]) <= width / 3 or (is_short and has_numbers) else 0


def has_number(row: Sequence[str]) -> bool:
    """Whether a cell is a number, which names no column."""
    return any(map(is_number, row))


def is_number(text: str) -> bool:
    """Whether a cell is a number, with a point or a comma."""
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def say_title(line: int) -> str:
    """What to do about a title above the names of columns."""
    says = f"it begins with a title, and line {line} seems to name the columns"
    return f"{says}. Say so: --header-line {line}. Where line 1 names them: --header-line 1."


def check_header(path: Path, header: Sequence[str], sample: str, delimiter: str) -> None:
    """Refuse a file whose first line is a row: several of its cells occur again below, in their own columns.

    Numbers that count the columns, 0, 1, 2, are names, also beside a first column without one.
    """
    names = [*header[1:]] if header and not header[0].strip() else [*header]
    if names in ([str(first + number) for number in range(len(names))] for first in (0, 1)):
        return
    complete = sample[: sample.rfind("\n") + 1]
    rows = [
        row for row in csv.reader(io.StringIO(complete, newline=""), delimiter=delimiter) if len(row) == len(header)
    ]
    below = zip(header, zip(*rows[1:], strict=True), strict=False)
    again = sum(name.strip() != "" and name in column for name, column in below)
    if again >= max(FEWEST_REPEATED, LEAST_REPEATED * len(header)):
        reason = f"its first line looks like a row: {again} of its {len(header)} cells occur again below them."
        raise UnreadableFile(path, f"{reason} Add a header line with a name for each column.")


def choose_encoding(path: Path, encoding: str | None) -> str:
    """The encoding that the user named, with its byte order; otherwise UTF-8."""
    with path.open("rb") as file:
        start = file.read(4)
    if encoding is None:
        if start.startswith(UTF_16):
            raise UnreadableFile(path, "it looks like UTF-16. Say so: --encoding utf-16.")
        return "utf-8"
    name = codec_name(encoding)
    return byte_order(path, start) if name.startswith("utf-16") else name


def byte_order(path: Path, start: bytes) -> str:
    """The UTF-16 codec of a file, by its byte-order mark or by the position of the zero byte of the first letter."""
    if start.startswith(UTF_16):
        return "utf-16"
    if b"\0" not in start:
        raise UnreadableFile(path, f"it is not UTF-16. {OTHER_ENCODING}")
    return "utf-16-le" if start.index(b"\0") % 2 else "utf-16-be"


def codec_name(encoding: str) -> str:
    """The name of a checked encoding in Python."""
    name = codecs.lookup(encoding).name
    return {"utf-8-sig": "utf-8", "iso8859-1": "latin-1"}.get(name, name)


def check_utf8_and_line_ends(path: Path) -> bool:
    """Whether all lines end in the same way; a file that is not UTF-8 or has a NUL byte is refused with the line."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    ends, last = LineEnds(), b""
    with path.open("rb") as file:
        for chunk in chain(iter(lambda: file.read(CHUNK), b""), [b""]):
            fault, reason = chunk.find(b"\0"), "it contains a NUL byte. Check that it is a text file."
            try:
                if decoder.getstate()[0] or not chunk.isascii():
                    decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                fault, reason = error.start, "it is not UTF-8."
            if fault >= 0:
                ends.count(last, chunk[:fault])
                raise BadRow(path, ends.lines + 1, f"{reason} {OTHER_ENCODING}")
            ends.count(last, chunk)
            last = chunk[-1:]
    return ends.alike


@dataclass(slots=True)
class LineEnds:
    """How many lines end in LF, CR or CR LF."""

    lf: int = 0
    cr: int = 0
    both: int = 0

    def count(self, last: bytes, chunk: bytes) -> None:
        """Add the line ends of a chunk; `last` is the byte before it."""
        self.lf += chunk.count(b"\n")
        self.cr += (returns := chunk.count(b"\r"))
        self.both += (chunk.count(b"\r\n") if returns else 0) + (last == b"\r" and chunk.startswith(b"\n"))

    @property
    def lines(self) -> int:
        """The number of line ends."""
        return self.lf + self.cr - self.both

    @property
    def alike(self) -> bool:
        """Whether all line ends are of one kind."""
        return not self.lf or not self.cr or self.lf == self.cr == self.both


@contextmanager
def open_text(path: Path, codec: str) -> Iterator[TextIO]:
    """The file, opened as text; a file in another encoding is refused."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    try:
        with path.open(encoding="utf-8-sig" if codec == "utf-8" else codec, newline="") as file:
            yield file
    except UnicodeError:
        raise UnreadableFile(path, f"it is not {codec}. {OTHER_ENCODING}") from None


def sniff_delimiter(sample: str) -> str:
    """The delimiter that splits the first lines into the most fields, with the same number in each."""
    complete = sample[: sample.rfind("\n") + 1] or sample

    def score(delimiter: str) -> tuple[bool, int]:
        rows = islice(csv.reader(io.StringIO(complete, newline=""), delimiter=delimiter), 50)
        sizes = [len(row) for row in rows if row]
        header = sizes[0] if sizes else 1
        return header > 1 and len(set(sizes)) == 1, header

    return max(DELIMITERS, key=score)


def csv_batches(path: Path, dialect: CsvDialect) -> Any:
    """Record batches of a CSV file in any encoding with any line ends; slower than a backend."""
    rows = csv_rows(path, dialect)
    return text_batches(dialect.header, iter(lambda: list(islice(rows, BATCH)), []))


def text_batches(columns: Sequence[str], chunks: Iterable[Sequence[Sequence[str]]]) -> Any:
    """Record batches of rows of text; an empty cell is NULL."""
    schema = pa.schema([(name, pa.string()) for name in columns])

    def as_batch(rows: Sequence[Sequence[str]]) -> Any:
        cells = ([cell or None for cell in column] for column in zip(*rows, strict=True))
        return pa.record_batch([pa.array(column, pa.string()) for column in cells], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, map(as_batch, chunks))


def csv_rows(path: Path, dialect: CsvDialect) -> Iterator[list[str]]:
    """The rows of a CSV file without blank lines; a malformed row is refused with its first line."""
    width, above = len(dialect.header), dialect.header_line - 1
    line = first = above + 1
    with open_text(path, dialect.encoding) as file:
        deque(islice(file, above), 0)
        reader = csv.reader(check_nul(path, file), delimiter=dialect.delimiter, strict=True)
        try:
            for row in reader:
                cells = row or [""] * (width == 1)  # where there is one column, a blank line is a NULL
                if len(cells) == width + 1 and not cells[-1]:
                    cells.pop()  # a delimiter at the end of the line, which backends accept
                if cells and len(cells) != width:
                    fields = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
                    advice = FIRST_ROW if line == first + 1 else "Correct the row, or name the delimiter: --delimiter"
                    raise BadRow(path, line, f"it has {fields}, the header {width}. {advice}.")
                if cells and line > first:
                    yield cells
                line = above + reader.line_num + 1
        except csv.Error as fault:
            raise BadRow(path, line, TOO_LONG if "limit" in str(fault) else QUOTES) from None


def find_fault(path: Path, dialect: CsvDialect) -> KechError | None:
    """The refusal, with its line, for a file that a backend could not read; None where no row is malformed."""
    try:
        for _ in csv_rows(path, dialect):
            pass
    except KechError as fault:
        return fault
    return None


def check_nul(path: Path, lines: Iterable[str]) -> Iterator[str]:
    """The same lines; one with a NUL character is refused."""
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            raise BadRow(path, number, f"it contains a NUL character. {OTHER_ENCODING}")
        yield line


# -- the longest row: DuckDB silently loses a last row that is longer than its buffer ----------------------------


def longest_row(path: Path) -> int:
    """Bytes of the longest row of a CSV file, or of a block where all are shorter; assumes that quotes are paired."""
    longest, start, offset, inside = BLOCK, 0, 0, False
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            ends = row_ends(block, inside)
            if len(ends):
                longest, start = max(longest, offset + int(ends[0]) - start), offset + int(ends[-1])
            offset, inside = offset + len(block), inside ^ bool(block.count(b'"') % 2)
    return max(longest, offset - start)


def row_ends(block: bytes, inside: bool) -> Any:
    """Positions of row ends in a block, at least the first and the last; line ends within quotes are no row ends."""
    end = b"\n" if b"\n" in block else b"\r"
    if not inside and b'"' not in block:
        return [block.find(end), block.rfind(end)] if end in block else []
    cells = np.frombuffer(block, np.uint8)
    ends, quotes = (np.flatnonzero(cells == sign[0]) for sign in (end, b'"'))
    return ends[(np.searchsorted(quotes, ends) + inside) % 2 == 0]


def read_longest(path: Path, delimiter: str, most: int) -> int:
    """Bytes of the longest row of a CSV file, parsed row by row: slow, but correct for unpaired quotes."""
    csv.field_size_limit(max(csv.field_size_limit(), most))
    try:
        with path.open(encoding="latin-1", newline="") as file:  # a byte is a letter
            return max(sum(map(len, row)) + len(row) for row in csv.reader(file, delimiter=delimiter))
    except csv.Error:
        return most + 1

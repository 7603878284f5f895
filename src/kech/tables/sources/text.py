"""CSV: encoding, line ends, delimiter and header of a file; and a reader for what no engine reads by itself."""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from kech.errors import BadOption, BadRow, KechError, UnreadableFile
from kech.tables.sources.source import Source, text_batches

DELIMITERS = ",;\t|"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SAMPLE = 1 << 16  # characters looked at to find the delimiter
CHUNK = 1 << 24  # bytes looked at together
BATCH = 1 << 14  # rows handed over together
LONGEST = 1 << 25  # characters of a cell
TOO_LONG = "it is longer than 32 MB. Is a quote missing?"
QUOTES = "a quote is opened and never closed, or text follows a closing quote."
OTHER_ENCODING = "Name its encoding, for example --encoding latin-1, --encoding cp1252 or --encoding utf-16."


def open_csv(path: Path, delimiter: str | None, encoding: str | None) -> Source:
    """Decide the dialect of a CSV file: encoding first, then the delimiter, then the header."""
    if delimiter is not None and (len(delimiter.encode()) != 1 or delimiter in '"\r\n\0'):
        raise BadOption("--delimiter", "give one character; write a tab as $'\\t'.")
    codec = choose_encoding(path, encoding)
    plain = codec == "utf-8" and check_utf8(path)
    with reading_text(path, codec) as file:
        chosen = delimiter or sniff_delimiter(file.read(SAMPLE))
    with reading_text(path, codec) as file:
        try:
            header = next(csv.reader(file, delimiter=chosen, strict=True), [])
        except csv.Error as fault:
            raise BadRow(path, 1, TOO_LONG if "limit" in str(fault) else QUOTES) from None
    return Source(path, "csv", tuple(header) or ("",), chosen, codec, plain)


def choose_encoding(path: Path, encoding: str | None) -> str:
    """UTF-8, unless the user says otherwise."""
    with path.open("rb") as file:
        start = file.read(4)
    if encoding is None:
        if start.startswith(UTF_16):
            raise UnreadableFile(path, "it looks like UTF-16. Say so: --encoding utf-16.")
        return "utf-8"
    name = codec_name(encoding)
    return byte_order(path, start) if name.startswith("utf-16") else name


def byte_order(path: Path, start: bytes) -> str:
    """UTF-16 tells its byte order by a mark at its start, or else by where a letter of the header has its zero byte."""
    if start.startswith(UTF_16):
        return "utf-16"
    if b"\0" not in start:
        raise UnreadableFile(path, f"it is not UTF-16. {OTHER_ENCODING}")
    return "utf-16-le" if start.index(b"\0") % 2 else "utf-16-be"


def codec_name(encoding: str) -> str:
    """The encoding as Python knows it."""
    try:
        "".encode(encoding)
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise BadOption("--encoding", f"there is no encoding {encoding!r}; try utf-8, latin-1 or cp1252.") from None
    return {"utf-8-sig": "utf-8", "iso8859-1": "latin-1"}.get(name, name)


def check_utf8(path: Path) -> bool:
    """Whether all lines end in the same way; a NUL byte or a byte out of place is refused with its line."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    ends, last = LineEnds(), b""
    with path.open("rb") as file:
        for chunk in chain(iter(lambda: file.read(CHUNK), b""), [b""]):
            fault, reason = chunk.find(b"\0"), "it contains a NUL byte. Is this a text file?"
            try:
                if decoder.getstate()[0] or not chunk.isascii():
                    decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as found:
                fault, reason = found.start, "it is not UTF-8."
            if fault >= 0:
                ends.count(last, chunk[:fault])
                raise BadRow(path, ends.lines + 1, f"{reason} {OTHER_ENCODING}")
            ends.count(last, chunk)
            last = chunk[-1:]
    return ends.alike


@dataclass(slots=True)
class LineEnds:
    """How many lines end in LF, CR or both."""

    lf: int = 0
    cr: int = 0
    both: int = 0

    def count(self, last: bytes, chunk: bytes) -> None:
        """Add the ends in a chunk; `last` is the byte before it."""
        self.lf += chunk.count(b"\n")
        self.cr += (returns := chunk.count(b"\r"))
        self.both += (chunk.count(b"\r\n") if returns else 0) + (last == b"\r" and chunk.startswith(b"\n"))

    @property
    def lines(self) -> int:
        """Lines that have ended."""
        return self.lf + self.cr - self.both

    @property
    def alike(self) -> bool:
        """Whether all ends are of one kind."""
        return not self.lf or not self.cr or self.lf == self.cr == self.both


@contextmanager
def reading_text(path: Path, codec: str) -> Iterator[TextIO]:
    """A file opened as text; one in another encoding is refused."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    try:
        with path.open(encoding="utf-8-sig" if codec == "utf-8" else codec, newline="") as file:
            yield file
    except UnicodeError:
        raise UnreadableFile(path, f"it is not {codec}. {OTHER_ENCODING}") from None


def sniff_delimiter(sample: str) -> str:
    """The delimiter that cuts the first lines into the most fields, equally many in each."""
    complete = sample[: sample.rfind("\n") + 1] or sample

    def score(delimiter: str) -> tuple[bool, int]:
        rows = islice(csv.reader(io.StringIO(complete, newline=""), delimiter=delimiter), 50)
        sizes = [len(row) for row in rows if row]
        header = sizes[0] if sizes else 1
        return header > 1 and len(set(sizes)) == 1, header

    return max(DELIMITERS, key=score)


def csv_batches(source: Source) -> Any:
    """A CSV file of any encoding and any line ends; slower than the reader of an engine."""
    rows = csv_rows(source)
    return text_batches(source.columns, iter(lambda: list(islice(rows, BATCH)), []))


def csv_rows(source: Source) -> Iterator[list[str]]:
    """Rows as wide as the header, without blank lines; a fault is named by the line on which its row begins."""
    path, width, line = source.path, len(source.columns), 1
    with reading_text(path, source.encoding or "utf-8") as file:
        reader = csv.reader(without_nul(path, file), delimiter=source.delimiter or ",", strict=True)
        try:
            for row in reader:
                cells = row or [""] * (width == 1)  # where there is one column, a blank line is a NULL
                if len(cells) == width + 1 and not cells[-1]:
                    cells.pop()  # a delimiter at the end of the line, which engines forgive
                if cells and len(cells) != width:
                    fields = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
                    raise BadRow(
                        path, line, f"it has {fields}, the header {width}. Is the delimiter right (--delimiter)?"
                    )
                if cells and line > 1:
                    yield cells
                line = reader.line_num + 1
        except csv.Error as fault:
            raise BadRow(path, line, TOO_LONG if "limit" in str(fault) else QUOTES) from None


def find_fault(source: Source) -> KechError | None:
    """What is wrong with a file that an engine refused, and on which line."""
    try:
        for _ in csv_rows(source):
            pass
    except KechError as fault:
        return fault
    return None


def without_nul(path: Path, lines: Iterable[str]) -> Iterator[str]:
    """Lines of text; one with a NUL character is refused."""
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            raise BadRow(path, number, f"it contains a NUL character. {OTHER_ENCODING}")
        yield line

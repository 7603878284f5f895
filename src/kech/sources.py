"""Sources: what a file is, decided once.  Column names and a pinned dialect, before any row is kept.

In: a path.  Out: a `Source` an engine can read without guessing.
"""

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from kech.errors import BadColumns, BadOption, BadRow, MissingExtra, NoSuchFile, UnreadableFile

FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".xlsx": "excel", ".xls": "excel", ".ods": "excel",
}  # fmt: skip
ENCODINGS = {"utf-8": "utf-8", "utf-16": "utf-16", "iso8859-1": "latin-1"}
DELIMITERS = ",;\t|"
SAMPLE = 1 << 16
CHUNK = 1 << 24


@dataclass(frozen=True, slots=True)
class Source:
    """A file with its column names and, for CSV, its dialect."""

    path: Path
    format: str
    columns: tuple[str, ...]
    delimiter: str | None = None
    encoding: str | None = None


def open_source(path: Path, *, delimiter: str | None = None, encoding: str | None = None) -> Source:
    """Look at a file: its format, columns and dialect."""
    if not path.exists():
        raise NoSuchFile(path)
    if path.is_dir():
        raise UnreadableFile(path, "it is a folder; name a file.")
    if path.stat().st_size == 0:
        raise UnreadableFile(path, "it is empty.")
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise UnreadableFile(path, f"unknown ending; kech reads {', '.join(FORMATS)}.")
    if kind != "csv" and (delimiter or encoding):
        raise BadOption("--delimiter, --encoding", "only CSV files have them.")
    try:
        source = (
            open_csv(path, delimiter, encoding) if kind == "csv" else Source(path, kind, binary_columns(path, kind))
        )
    except PermissionError:
        raise UnreadableFile(path, "permission denied.") from None
    check_columns(source)
    return source


def check_columns(source: Source) -> None:
    """Every column has a name of its own, whatever the case."""
    if any(not name.strip() for name in source.columns):
        position = next(i for i, name in enumerate(source.columns, 1) if not name.strip())
        raise BadColumns(source.path, f"column {position} has no name. Does the file have a header line?")
    seen = Counter(name.casefold() for name in source.columns)
    twice = sorted({name for name in source.columns if seen[name.casefold()] > 1})
    if twice:
        raise BadColumns(source.path, f"the names {', '.join(map(repr, twice))} are not distinct. Rename them.")


# -- CSV ---------------------------------------------------------------------------------------------


def open_csv(path: Path, delimiter: str | None, encoding: str | None) -> Source:
    """Decide the dialect of a CSV file: encoding first, then the delimiter, then the header."""
    codec = choose_encoding(path, encoding)
    check_bytes(path, codec)
    with path.open("rb") as file:
        sample = decode(file.read(SAMPLE), codec)
    if delimiter is not None and len(delimiter.encode()) != 1:
        raise BadOption("--delimiter", "give one character; write a tab as $'\\t'.")
    chosen = delimiter or sniff_delimiter(sample)
    return Source(path, "csv", read_header(path, codec, chosen), chosen, codec)


def choose_encoding(path: Path, encoding: str | None) -> str:
    """UTF-8, unless the user says otherwise."""
    if encoding is not None:
        try:
            known = ENCODINGS.get(codecs.lookup(encoding).name.replace("-sig", ""))
        except LookupError:
            known = None
        if known is None:
            raise BadOption("--encoding", "kech reads utf-8, utf-16 and latin-1.")
        return known
    with path.open("rb") as file:
        start = file.read(4)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableFile(path, "it looks like UTF-16. Say so: --encoding utf-16.")
    return "utf-8"


def check_bytes(path: Path, codec: str) -> None:
    """No NUL byte and, for UTF-8, no byte out of place; faults are named by their line."""
    if codec == "utf-16":
        return
    decoder = codecs.getincrementaldecoder(codec)()
    line = 1
    for chunk in chunks(path):
        if b"\0" in chunk:
            line += chunk[: chunk.index(b"\0")].count(b"\n")
            raise BadRow(path, line, "it contains a NUL byte. Is this a text file? If it is UTF-16: --encoding utf-16.")
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as fault:
            line += chunk[: fault.start].count(b"\n")
            raise BadRow(
                path, line, "it is not UTF-8. Name the encoding: --encoding latin-1 or --encoding utf-16."
            ) from None
        line += chunk.count(b"\n")


def chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, a few at a time."""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def decode(sample: bytes, codec: str) -> str:
    """Text of a sample, which may end inside a character."""
    return codecs.getincrementaldecoder("utf-8-sig" if codec == "utf-8" else codec)().decode(sample)


def sniff_delimiter(sample: str) -> str:
    """The delimiter that cuts the first lines into the most fields, equally many in each."""
    complete = sample[: sample.rfind("\n") + 1] or sample

    def score(delimiter: str) -> tuple[bool, int]:
        rows = list(csv.reader(io.StringIO(complete, newline=""), delimiter=delimiter))
        sizes = [len(row) for row in rows[:50] if row]
        header = sizes[0] if sizes else 1
        return header > 1 and len(set(sizes)) == 1, header

    try:
        return max(DELIMITERS, key=score)
    except csv.Error:
        return ","


def read_header(path: Path, codec: str, delimiter: str) -> tuple[str, ...]:
    """The first record of a CSV file."""
    with path.open(encoding="utf-8-sig" if codec == "utf-8" else codec, newline="") as file:
        try:
            return tuple(next(csv.reader(file, delimiter=delimiter, strict=True)))
        except (csv.Error, StopIteration, UnicodeError):
            raise BadRow(path, 1, "the header cannot be read.") from None


# -- other formats -----------------------------------------------------------------------------------


def binary_columns(path: Path, kind: str) -> tuple[str, ...]:
    """Column names of a Parquet, Arrow or Excel file."""
    try:
        if kind == "parquet":
            import pyarrow.parquet as pq

            return tuple(pq.read_schema(path).names)
        return tuple((arrow_batches(path) if kind == "arrow" else excel_batches(path)).schema.names)
    except (pa.ArrowException, OSError, ValueError):
        raise UnreadableFile(path, "it is damaged or not in the format its name says.") from None


def arrow_batches(path: Path) -> Any:
    """An Arrow IPC file or stream as record batches."""
    mapped = pa.memory_map(str(path))
    try:
        reader = pa.ipc.open_file(mapped)
        return pa.RecordBatchReader.from_batches(
            reader.schema, (reader.get_batch(i) for i in range(reader.num_record_batches))
        )
    except pa.ArrowInvalid:
        mapped.seek(0)
        return pa.ipc.open_stream(mapped)


def excel_batches(path: Path) -> Any:
    """The first sheet of a workbook, every cell as text."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise MissingExtra("Reading Excel files", "excel") from None
    try:
        rows = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()
    except (CalamineError, OSError):
        raise UnreadableFile(path, "it is damaged or not in the format its name says.") from None
    if not rows:
        raise UnreadableFile(path, "its first sheet is empty.")
    names = [cell_text(cell) or "" for cell in rows[0]]
    columns = [
        pa.array([cell_text(cell) for cell in column], pa.string()) for column in transpose(rows[1:], len(names))
    ]
    return pa.Table.from_arrays(columns, names=names).to_reader()


def transpose(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    """Columns of a list of rows."""
    return [[row[i] for row in rows] for i in range(width)]


def cell_text(cell: Any) -> str | None:
    """An Excel cell as CSV would hold it: whole numbers without a point, an empty cell as NULL."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return None if cell is None or cell == "" else str(cell)

"""Formats: column names of Parquet, Arrow and Excel files and of folders; rows of those that no backend reads itself.

A folder of Parquet files is one table; its subfolders (`year=2020/`) are columns too.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from kech.errors import BadOption, MissingExtra, UnreadableFile
from kech.tables.csv_dialect import TITLE_LINES, find_header, say_title, text_batches

ROW, CODE = 8, 4  # bytes of the number of a row, and of the code of a cell
ENDINGS = (".parquet", ".pq")
LOGS = ("_delta_log", ".hoodie")  # of folders with files that may not belong to the table
LOGGED = "it is a table of Delta or Hudi, whose folder contains files that are no longer part of it. Export it first."
DAMAGED = "it is damaged, or its ending names another format. Save it again, or correct its ending."


def read_names(path: Path, kind: str, sheet: str | None = None, header_line: int | None = None) -> tuple[str, ...]:
    """Column names of a Parquet, Arrow or Excel file, or of a folder."""
    try:
        if kind == "parquet":
            import pyarrow.parquet as pq

            return tuple(pq.read_schema(path).names)
        return tuple(read_rows(path, kind, sheet, header_line).schema.names)
    except PermissionError:
        raise
    except (pa.ArrowException, OSError, ValueError):
        raise UnreadableFile(path, DAMAGED) from None


def read_rows(path: Path, kind: str, sheet: str | None = None, header_line: int | None = None) -> Any:
    """The rows of an Arrow or Excel file, or of a folder, as record batches."""
    if kind == "folder":
        return folder_batches(path)
    return arrow_batches(path) if kind == "arrow" else excel_batches(path, sheet, header_line)


def measure_parquet(files: Sequence[Path], columns: Sequence[str]) -> tuple[int, int, int]:
    """From the metadata of Parquet files: their rows, the least bytes of these columns in memory, bytes on disk."""
    measured = [measure_rows(file, columns) for file in files]
    rows, need = (sum(figures) for figures in zip(*measured, strict=True))
    return rows, need, sum(file.stat().st_size for file in files)


def measure_rows(path: Path, columns: Sequence[str]) -> tuple[int, int]:
    """From the metadata of a Parquet file: its rows, and the least bytes of these columns in memory."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            rows, schema = file.metadata.num_rows, file.schema_arrow
    except (pa.ArrowException, ValueError):
        raise UnreadableFile(path, DAMAGED) from None
    widths = [cell_width(schema.field(name).type) for name in schema.names if name in columns]
    return rows, rows * (ROW + sum(widths) + CODE * len(columns))


def cell_width(kind: Any) -> int:
    """Bytes of a cell; a text has at least its length and its address."""
    return max(1, int(kind.bit_width // 8)) if pa.types.is_primitive(kind) else 16


def arrow_batches(path: Path) -> Any:
    """The record batches of an Arrow IPC file or stream, each validated: a damaged one could crash its reader."""
    mapped = pa.memory_map(str(path))
    try:
        reader = pa.ipc.open_file(mapped)
        batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    except pa.ArrowInvalid:
        mapped.seek(0)
        reader = batches = pa.ipc.open_stream(mapped)
    return pa.RecordBatchReader.from_batches(reader.schema, check_batches(path, batches))


def check_batches(path: Path, batches: Iterable[Any]) -> Iterator[Any]:
    """The same record batches, validated; a damaged file is refused."""
    try:
        for batch in batches:
            batch.validate(full=True)
            yield batch
    except (pa.ArrowException, OSError, ValueError):
        raise UnreadableFile(path, DAMAGED) from None


def excel_batches(path: Path, sheet: str | None, header_line: int | None) -> Any:
    """A sheet of a workbook, every cell as text: the first one, if none is named."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise MissingExtra("Reading Excel files", "excel") from None
    try:
        book = CalamineWorkbook.from_path(str(path))
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            listed = ", ".join(map(repr, names))
            raise BadOption("--sheet", f"the workbook has none of this name. Name one of these: {listed}.")
        place = names.index(sheet) if sheet is not None else 0
        chosen = book.get_sheet_by_index(place)
        rows, blank = chosen.to_python(), (chosen.start or (0, 0))[0]  # lines above the first cell
        longest = max((book.get_sheet_by_index(i).height for i in range(len(names)) if i != place), default=0)
    except (CalamineError, OSError):
        raise UnreadableFile(path, DAMAGED) from None
    if not rows:
        which = "its first sheet" if sheet is None else "this sheet"
        raise UnreadableFile(path, f"{which} is empty. Name the sheet with the table: --sheet NAME.")
    if sheet is None and longest > len(rows):
        listed = ", ".join(map(repr, names))
        raise UnreadableFile(path, f"another sheet has more rows than the first. Name one: --sheet NAME of {listed}.")
    above = max(0, (header_line or 1) - 1 - blank)
    header, *cells = ([cell_text(cell) for cell in row] for row in rows[above:] or [[]])
    if header_line is None and (place := find_header([header, *cells[: TITLE_LINES - 1]])):
        raise UnreadableFile(path, say_title(blank + place + 1))
    kept = [row for row in cells if any(row) or len(header) == 1]  # an empty line between rows is nobody
    return text_batches(header, [kept] if kept else [])


def cell_text(cell: Any) -> str:
    """An Excel cell as text; whole numbers without a decimal point."""
    return str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell)


def folder_batches(folder: Path) -> Any:
    """The rows of a folder, file by file in the order of names; columns from subfolders are text, so 02138 stays."""
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
    return pa.RecordBatchReader.from_batches(rows.schema, read_batches(folder, rows))


def find_parts(folder: Path) -> Sequence[Path]:
    """The Parquet files below a folder by name; names that begin with _ or . are ignored."""
    parquet_files = [path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file()]
    files = sorted(
        path for path in parquet_files if not any(part[0] in "._" for part in path.relative_to(folder).parts)
    )
    if any((folder / log).exists() for log in LOGS):
        raise UnreadableFile(folder, LOGGED)
    if not files:
        raise UnreadableFile(folder, "it is a folder without Parquet files. Name a file.")
    return files


def part_keys(folder: Path, file: Path) -> Sequence[str]:
    """The names of columns in the subfolders of a file: `year` of `year=2020/`."""
    return [part.partition("=")[0] for part in file.relative_to(folder).parts[:-1] if "=" in part]


def read_batches(folder: Path, rows: Any) -> Iterator[Any]:
    """The record batches of a folder of Parquet files; a damaged file is refused by the name of the folder."""
    try:
        yield from rows.to_batches()
    except (pa.ArrowException, OSError, ValueError):
        raise UnreadableFile(
            folder, "one of its files is damaged, or has other columns than the first. Remove it."
        ) from None

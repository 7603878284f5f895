"""Parquet, Arrow and Excel files and folders: column names, and the rows of those no engine reads by itself."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from kech.errors import MissingExtra, UnreadableFile
from kech.tables.sources.folder import folder_batches
from kech.tables.sources.source import text_batches

ROW, CODE = 8, 4  # bytes of the number of a row, and of the code of each of its cells
DAMAGED = "it is damaged or not in the format its name says."


def read_names(path: Path, kind: str) -> tuple[str, ...]:
    """Column names of a Parquet, Arrow or Excel file, or of a folder."""
    try:
        if kind == "parquet":
            import pyarrow.parquet as pq

            return tuple(pq.read_schema(path).names)
        if kind == "folder":
            return tuple(folder_batches(path).schema.names)
        return tuple((arrow_batches(path) if kind == "arrow" else excel_batches(path)).schema.names)
    except PermissionError:
        raise
    except (pa.ArrowException, OSError, ValueError):
        raise UnreadableFile(path, DAMAGED) from None


def measure_rows(path: Path, wanted: Sequence[str]) -> tuple[int, int]:
    """What a Parquet file says of itself: its rows, and the bytes the wanted columns take at least."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            rows, schema = file.metadata.num_rows, file.schema_arrow
    except (pa.ArrowException, ValueError):
        raise UnreadableFile(path, DAMAGED) from None
    widths = [cell_width(schema.field(name).type) for name in schema.names if name in wanted]
    return rows, rows * (ROW + sum(widths) + CODE * len(wanted))


def cell_width(kind: Any) -> int:
    """Bytes of a cell; text has its length and a place to find it."""
    return max(1, int(kind.bit_width // 8)) if pa.types.is_primitive(kind) else 16


def arrow_batches(path: Path) -> Any:
    """An Arrow IPC file or stream as record batches, each checked: a damaged one could crash its reader."""
    mapped = pa.memory_map(str(path))
    try:
        reader = pa.ipc.open_file(mapped)
        batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    except pa.ArrowInvalid:
        mapped.seek(0)
        reader = batches = pa.ipc.open_stream(mapped)
    return pa.RecordBatchReader.from_batches(reader.schema, checked(path, batches))


def checked(path: Path, batches: Iterable[Any]) -> Iterator[Any]:
    """Record batches whose buffers hold what they should."""
    try:
        for batch in batches:
            batch.validate(full=True)
            yield batch
    except (pa.ArrowException, OSError, ValueError):
        raise UnreadableFile(path, DAMAGED) from None


def excel_batches(path: Path) -> Any:
    """The first sheet of a workbook, every cell as text."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise MissingExtra("Reading Excel files", "excel") from None
    try:
        rows = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()
    except (CalamineError, OSError):
        raise UnreadableFile(path, DAMAGED) from None
    if not rows:
        raise UnreadableFile(path, "its first sheet is empty.")
    header, *cells = ([cell_text(cell) for cell in row] for row in rows)
    return text_batches(header, [cells] if cells else [])


def cell_text(cell: Any) -> str:
    """An Excel cell as CSV would hold it: whole numbers without a point."""
    return str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell)

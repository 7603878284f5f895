"""Lines of a CSV file: how long its rows are, before DuckDB reads them.

The last row of a file, if it is longer than its buffer, DuckDB loses silently.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from kech.errors import OutOfMemory, UnreadableFile
from kech.tables.engines.failures import SHARE

LINE, LINES = 1 << 25, 6  # bytes of a line of CSV at most, and how many of them the engine must have room for
BLOCK = 1 << 20  # bytes of a file that are looked at together


def longest_line(memory: int | None) -> int:
    """Bytes of a line that can be read with so much memory."""
    return min(LINE, int(memory * SHARE) // LINES) if memory else LINE


def check_lines(path: Path, delimiter: str, memory: int | None) -> None:
    """Refuse rows that are too long."""
    most = longest_line(memory)
    if path.stat().st_size <= most or longest_row(path) <= most:
        return
    longest = read_longest(path, delimiter)
    if longest > LINE:
        raise UnreadableFile(path, "a row is longer than 32 MB. Is a quote missing?")
    if longest > most:
        raise OutOfMemory("reading long lines", memory, int(LINES * LINE / SHARE) + 1)


def longest_row(path: Path) -> int:
    """Bytes of the longest row of a CSV file, or of a block where all are shorter; quotes are taken to be in pairs."""
    longest, start, place, inside = BLOCK, 0, 0, False
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            ends = row_ends(block, inside)
            if len(ends):
                longest, start = max(longest, place + int(ends[0]) - start), place + int(ends[-1])
            place, inside = place + len(block), inside ^ bool(block.count(b'"') % 2)
    return max(longest, place - start)


def row_ends(block: bytes, inside: bool) -> Any:
    """Where rows end in a part of a file, the first and the last at least; line ends within quotes end none."""
    end = b"\n" if b"\n" in block else b"\r"
    if not inside and b'"' not in block:
        return [block.find(end), block.rfind(end)] if end in block else []
    cells = np.frombuffer(block, np.uint8)
    ends, quotes = (np.flatnonzero(cells == sign[0]) for sign in (end, b'"'))
    return ends[(np.searchsorted(quotes, ends) + inside) % 2 == 0]


def read_longest(path: Path, delimiter: str) -> int:
    """The same for files with single quotes in their cells too, a row at a time."""
    csv.field_size_limit(max(csv.field_size_limit(), LINE))
    try:
        with path.open(encoding="latin-1", newline="") as file:  # a byte is a letter
            return max(sum(map(len, row)) + len(row) for row in csv.reader(file, delimiter=delimiter))
    except csv.Error:
        return LINE + 1

"""Failures of the engine of DuckDB as refusals: what is short, how much would be enough, or whose fault it is."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from kech.errors import KechError, OutOfMemory, ResourceError, UnreadableFile
from kech.tables.databases.failures import full_disk, is_full, is_short_of_memory, is_stopped

SHARE = 0.3  # of the memory that is allowed; points, classes and the interpreter need the rest
A_JOIN = 6_000_000  # bytes that DuckDB holds for a join, however small its tables
FAILURES = (duckdb.Error, RuntimeError)  # the latter where a query is interrupted
ASKED, BLOCKS = re.compile(r"of size ([\d.]+) (bytes|[KMG]iB)"), 4  # what DuckDB wanted, and how many it may want


class EngineFailed(ResourceError):
    """Neither memory nor disk was short."""


def refusal(failure: Exception, doing: str, memory: int | None, query: str = "") -> KechError | KeyboardInterrupt:
    """What DuckDB says, without the cells it quotes; Ctrl-C ends its queries too."""
    said = str(failure)
    if is_stopped(failure):
        return KeyboardInterrupt()
    if is_full(failure):
        return full_disk(doing)
    if is_short_of_memory(failure):
        return OutOfMemory(doing, memory, memory and needed(said, memory, query))
    return EngineFailed(f"The engine failed while {doing} ({type(failure).__name__}).")


def needed(said: str, memory: int, query: str) -> int:
    """Bytes of memory that are likely to be enough for a query that had too few: twice as many, or what is known."""
    asked = ASKED.search(said)
    block = float(asked[1]) * 1024 ** ("bKMG".index(asked[2][0])) if asked else 0.0
    known = (query.count("JOIN") + 1) * A_JOIN + BLOCKS * block
    return max(2 * memory, int(known / SHARE))


@contextmanager
def readable(path: object) -> Iterator[None]:
    """What fails while a file is read is the fault of the file."""
    try:
        yield
    except EngineFailed:
        raise UnreadableFile(path, "it is damaged or not in the format its name says.") from None

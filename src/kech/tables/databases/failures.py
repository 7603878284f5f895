"""Failures of DuckDB: what it lacks and who is in its way, without the cells it quotes."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from kech.errors import CannotWrite, KechError, OutOfMemory, ResourceError, UnreadableFile
from kech.tables.databases.address import Address

STOPPED = re.compile(
    "Query interrupted$|Invalid Input Error: (Python exception .* the UDF|.* failed): KeyboardInterrupt", re.DOTALL
)
OUT_OF_MEMORY = re.compile(
    r"Out of Memory|^TransactionContext Error: Failed to commit: (could not|failed to) (allocate|pin)"
)
HELD = re.compile(r"Could not set lock on file|Unique file handle conflict")  # by another process, or in this one
HOLDER = re.compile(r"\(PID (\d+)\)")
OF_A_FILE = re.compile(r'file "(.*)": ([^":]+)$', re.DOTALL)
REASONS = {os.strerror(code): code for code in errno.errorcode}
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def refusals(doing: str, memory: int | None = None, target: Address | None = None) -> Iterator[None]:
    """What DuckDB says as a refusal; `target` is the table whose file is being written."""
    try:
        yield
    except (duckdb.Error, RuntimeError) as failure:
        if is_stopped(failure):  # Ctrl-C ends queries too
            raise KeyboardInterrupt from None
        if not isinstance(failure, duckdb.Error):
            raise
        raise (target and unwritten(failure, target)) or refusal(failure, doing, memory) from None


def refusal(failure: Exception, doing: str, memory: int | None) -> KechError:
    """What is short, or only the kind of failure."""
    if is_short_of_memory(failure):
        return OutOfMemory(doing, memory, memory and 2 * memory)
    if is_full(failure):
        return full_disk(doing)
    return ResourceError(f"DuckDB failed while {doing} ({type(failure).__name__}).")


def is_stopped(failure: Exception) -> bool:
    """Whether somebody pressed Ctrl-C."""
    return isinstance(failure, duckdb.InterruptException) or STOPPED.match(str(failure)) is not None


def is_short_of_memory(failure: Exception) -> bool:
    """Whether DuckDB ran out of memory, whatever it calls that."""
    return isinstance(failure, duckdb.OutOfMemoryException) or OUT_OF_MEMORY.search(str(failure)) is not None


def is_full(failure: Exception) -> bool:
    """Whether a disk has no room."""
    return any(os.strerror(code) in str(failure) for code in FULL)


def is_held(failure: Exception) -> bool:
    """Whether somebody else has the file open."""
    return HELD.search(str(failure)) is not None


def fault_of(failure: Exception) -> tuple[str, int | None]:
    """The file that could not be opened or written, and why, as the system numbers it."""
    found = OF_A_FILE.search(str(failure))
    return (found[1], REASONS.get(found[2])) if found else ("", None)


def full_disk(doing: str) -> ResourceError:
    """The disk of temporary files has no room."""
    return ResourceError(f"The disk is full while {doing}. Free some space, or set TMPDIR to a folder with more.")


def unwritten(failure: Exception, target: Address) -> CannotWrite | None:
    """Why the file of a table cannot be written; None where the failure is none of this file."""
    if is_held(failure):
        return CannotWrite(target, holder(failure))
    file, code = fault_of(failure)
    if code is None or not file.startswith(str(Path(target.place).resolve())):
        return None
    room = " Free some space on its disk, or write to another." if code in FULL else ""
    return CannotWrite(target, f"{os.strerror(code).lower()}.{room}")


def unread(failure: Exception, source: Address) -> UnreadableFile:
    """Why a file cannot be opened."""
    _, code = fault_of(failure)
    reason = f"{os.strerror(code).lower()}." if code else f"it is no DuckDB file ({type(failure).__name__})."
    return UnreadableFile(source, holder(failure) if is_held(failure) else reason)


def holder(failure: Exception) -> str:
    """Who has the file open, and what to do."""
    found = HOLDER.search(str(failure))
    who = f"another program has it open (process {found[1]})" if found else "another connection has it open"
    return f"{who}. Close it there, and try again."

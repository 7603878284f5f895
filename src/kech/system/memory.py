"""Memory: how much of it a user allows, and how much kech takes before it has read a row."""

import os
import re

from kech.errors import BadOption, OutOfMemory

BASE_BYTES = 240_000_000  # of memory for Python, Arrow and the kernels
LEAST_BYTES = 320_000_000  # of memory that may be allowed: these, and a small table


def check_memory(memory: str | None) -> str | None:
    """A size such as 2GB, and not less than kech takes for itself."""
    if memory is not None and not re.fullmatch(r"\d{1,6}(\.\d{1,3})?\s*[KMGT]i?B", memory, re.I):
        raise BadOption("--memory", "write a size such as 512MB or 2GB.")
    if memory is not None and (size := in_bytes(memory)) < LEAST_BYTES:
        raise OutOfMemory("starting", size, LEAST_BYTES)
    return memory


def room_of(memory: str | None) -> int:
    """Bytes that a limit allows; without one, most of the machine."""
    return in_bytes(memory) if memory else int(0.8 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def limit_of(memory: str | None) -> int | None:
    """Bytes of a limit that was checked before."""
    return in_bytes(memory) if memory else None


def in_bytes(memory: str) -> int:
    """A size such as 2GB, which was checked before."""
    number, power = re.match(r"([\d.]+)\s*([KMGT])", memory.upper()).groups()  # type: ignore[union-attr]
    return int(float(number) * (1024 if "I" in memory.upper() else 1000) ** ("KMGT".index(power) + 1))

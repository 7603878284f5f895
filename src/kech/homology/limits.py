"""Limits: what a search for holes may need, refused before it begins."""

import os

from kech.errors import ResourceError, megabytes

ADVICE = "Use fewer rows or columns, or leave holes out: --max-dimension 0."


def check_memory(need: int, limit: int, count: int) -> None:
    """Refuse before the machine does."""
    if need > limit:
        sizes = f"{megabytes(need)} of memory or more, and {megabytes(limit)} are allowed"
        raise ResourceError(f"Holes among {count:,} points may need {sizes}. {ADVICE}")


def half_the_memory() -> int:
    """Bytes; where the system does not tell, a modest machine is assumed."""
    if not hasattr(os, "sysconf"):
        return 2**32
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2

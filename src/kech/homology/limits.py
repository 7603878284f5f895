"""Limits: what a search for holes, or a walk along a path, may need, refused before it begins."""

import os

from kech.errors import ResourceError, megabytes

ADVICE = "Use fewer rows or columns, or leave holes out: --max-dimension 0."


def check_memory(need: int, limit: int, count: int) -> None:
    """Holes among so many points."""
    check_need(need, limit, f"Holes among {count:,} points", ADVICE)


def check_need(need: int, limit: int, what: str, advice: str) -> None:
    """Refuse before the machine does."""
    if need > limit:
        sizes = f"{megabytes(need)} of memory or more, and {megabytes(limit)} are allowed"
        more = f"Or allow {megabytes(need - limit)} more: --memory."
        raise ResourceError(f"{what} may need {sizes}. {advice} {more}")


def half_the_memory() -> int:
    """Bytes of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2

"""Limits: what a search for holes, or a walk along a path, may need, refused before it begins."""

import os

from kech.errors import BadOption, ResourceError, megabytes

LARGEST_FIELD = 127  # ripser holds coefficients in 8 bits with a sign: beyond, it never ends or ends the process
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


def check_field(field: int) -> None:
    """Coefficients are numbers modulo a prime."""
    if not 2 <= field <= LARGEST_FIELD or any(field % n == 0 for n in range(2, field)):
        raise BadOption("--field", f"give a prime from 2 to {LARGEST_FIELD}: --field 3.")


def half_the_memory() -> int:
    """Bytes of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2

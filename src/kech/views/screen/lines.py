"""Lines: one JSON object a line for scripts: what is being done, as it is done, and at last the result."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from kech.system.progress import listen

PAUSE = 0.5  # seconds between two lines about the same work


@contextmanager
def streaming() -> Iterator[None]:
    """Tell what is being done, when that changes and twice a second."""
    said: tuple[str, float] = "", 0.0

    def hear(what: str, share: float | None) -> None:
        nonlocal said
        now = monotonic()
        if what != said[0] or now - said[1] >= PAUSE:
            said = what, now
            say({"doing": what, "share": share})

    with listen(hear):
        yield


def say(line: dict[str, Any]) -> None:
    """One object, at once."""
    sys.stdout.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()

"""Progress: packages report what they do; whoever wants to watch, listens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, float | None], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_stretch: ContextVar[tuple[float, float]] = ContextVar(
    "stretch", default=(0.0, 1.0)
)  # of the whole work: start, length


def report(doing: str, share: float | None = None) -> None:
    """Say what is being done and, if known, how much of it is."""
    listener = _listener.get()
    if listener is not None:
        start, length = _stretch.get()
        listener(doing, None if share is None else start + length * share)


@contextmanager
def within(done: int, total: int) -> Iterator[None]:
    """Shares reported inside are those of one of several equal pieces of work, of which some are done."""
    start, length = _stretch.get()
    token = _stretch.set((start + length * done / total, length / total))
    try:
        yield
    finally:
        _stretch.reset(token)


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Hear every report made inside."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)

"""Progress: rooms say what they are doing; whoever wants to watch, listens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, float | None], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report(doing: str, share: float | None = None) -> None:
    """Say what is being done and, if known, how much of it is."""
    listener = _listener.get()
    if listener is not None:
        listener(doing, share)


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Hear every report made inside."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)

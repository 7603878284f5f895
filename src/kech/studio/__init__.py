"""Studio: a page in the browser of this machine, for people who would rather look than type.

The server holds plans and files and talks to the browser; every table is read, and every question answered, by a
child process that calls the public library.
"""

from collections.abc import Callable
from pathlib import Path

from kech.errors import MissingExtra
from kech.studio.entry import OneTimeAddress


def run_studio(
    table: Path | None, plan: Path | None, folder: Path, port: int, announce: Callable[[OneTimeAddress], None]
) -> None:
    """Serve until interrupted; `announce` is told the way in. Releases are written below the folder."""
    try:
        from kech.studio.server import serve
    except ModuleNotFoundError:
        raise MissingExtra("The studio", "studio") from None
    serve(table, plan, folder, port, announce)

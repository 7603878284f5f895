"""Plan: a request written to a file, whole or not at all, so that the same release can be made again."""

from os import PathLike
from pathlib import Path

from kech.request import Request, write_plan
from kech.system.files import write_text


def write_request(request: Request, path: str | PathLike[str], note: str = "") -> None:
    """Write a request as a plan file (kech.toml), below a note; paths in it then count from its own folder."""
    file = Path(path)
    write_text(file, write_plan(request, file.absolute().parent, note))

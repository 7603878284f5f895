"""Plan: a request written to a file, whole or not at all, so that the same release can be made again."""

from os import PathLike
from pathlib import Path

from kech.errors import BadOption, check_path
from kech.request import Request, write_plan
from kech.system.files import write_text


def write_request(request: Request, path: str | PathLike[str], note: str = "") -> None:
    """Write a request as a plan file (kech.toml), below a note; paths in it then count from its own folder."""
    check_path(path)
    if not isinstance(request, Request):
        raise BadOption(
            "request", f"its type is {type(request).__name__}, not a kech.Request. Make one: kech.Request()."
        )
    file = Path(path)
    write_text(file, write_plan(request, file.absolute().parent, note))

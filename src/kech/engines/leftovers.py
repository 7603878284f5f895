"""Leftovers: files of runs that were killed, known by the number of their process."""

import os
import shutil
from pathlib import Path


def clear_leftovers(folder: Path, pattern: str) -> None:
    """Remove what processes that are gone left behind: names hold `kech-PID-`."""
    for path in folder.glob(pattern):
        owner = path.name.rsplit("kech-", 1)[1].split("-")[0]
        if owner.isdigit() and not is_alive(int(owner)):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def is_alive(process: int) -> bool:
    """Whether a process with this number runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

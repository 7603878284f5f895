"""Machine: what Linux and macOS have and Windows lacks, with a stand-in for each, in one place.

Linux and macOS lock a file or folder by a handle.  Windows opens no folder and renames no open file.  There a small
file beside it stands for the lock, and the system removes that file when its process ends.
"""

import ctypes
import itertools
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
resource: ModuleType | None
try:
    import fcntl
    import resource
except ImportError:
    fcntl = resource = None

EXCLUSIVE, AT_ONCE = 2, 4  # of flock: LOCK_EX and LOCK_NB
NO_WAIT: int = getattr(os, "O_NONBLOCK", 0)  # a pipe in place of a file does not make kech wait
NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
FOLDER: int = getattr(os, "O_DIRECTORY", 1 << 29)
REMOVE_AT_END: int = getattr(os, "O_TEMPORARY", 0)
OTHERS = 0o077 if fcntl else 0  # rights of others in a mode; modes of Windows do not tell them
PAUSE = 0.02  # seconds between two looks at a lock
PATIENCE = 5.0  # seconds in which Windows may still be removing a file
UNKNOWN_MEMORY = 4 * 2**30  # bytes of a machine that does not tell
STOP_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]


class LockFiles:
    """Locks without handles: a file beside the one that is meant; who makes it holds the lock."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        self.paths: dict[int, Path] = {}
        self.places: dict[int, Path] = {}  # of locks: inside a folder where files are put in place, else beside
        self.holds: dict[int, int] = {}  # handles of locks

    def open(self, path: str | os.PathLike[str], flags: int, mode: int = 0o777) -> int:
        """A number in place of a handle; the file is made where the flags say so, and closed."""
        place = Path(path)
        if flags & os.O_CREAT:
            os.close(os.open(place, flags, mode))
        place.lstat()
        number = next(self.numbers)
        self.paths[number] = place
        self.places[number] = place / ".kech.held" if flags & FOLDER else place.with_name(f".{place.name}.held")
        return number

    def fstat(self, number: int) -> os.stat_result:
        """Whose it is, and which."""
        return self.paths[number].stat()

    def flock(self, number: int, how: int) -> None:
        """Hold the file as soon as nobody else does, or not at all."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | REMOVE_AT_END
                self.holds[number] = os.open(self.places[number], flags, 0o600)
                return
            except FileExistsError:
                if how & AT_ONCE:
                    raise BlockingIOError from None
                end = time.monotonic() + PATIENCE
            except PermissionError:  # of a folder; or the last lock is still being removed
                if how & AT_ONCE or time.monotonic() > end:
                    raise
            time.sleep(PAUSE)

    def fsync(self, number: int) -> None:
        """Windows writes the names in a folder to disk by itself."""

    def close(self, number: int) -> None:
        """Let go."""
        if number in self.holds:
            os.close(self.holds.pop(number))
            self.places[number].unlink(missing_ok=True)
        del self.paths[number], self.places[number]


beside = LockFiles()
open_handle = os.open if fcntl else beside.open
stat_handle = os.fstat if fcntl else beside.fstat
flock = fcntl.flock if fcntl else beside.flock
sync_handle = os.fsync if fcntl else beside.fsync
close_handle = os.close if fcntl else beside.close


def windows_sysconf(name: str) -> int:
    """Pages and their size, where the system has no such call: one byte a page."""
    return 1 if name == "SC_PAGE_SIZE" else windows_memory_bytes() or UNKNOWN_MEMORY


def windows_memory_bytes() -> int:
    """Bytes that Windows reports; 0 elsewhere."""

    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_uint32), ("load", ctypes.c_uint32), ("total", ctypes.c_uint64)] + [
            (name, ctypes.c_uint64) for name in ("free", "file", "free_file", "space", "free_space", "extended")
        ]

    status = Status(length=ctypes.sizeof(Status))
    windows = getattr(ctypes, "windll", None)
    return int(status.total) if windows and windows.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)) else 0


sysconf = os.sysconf if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}) else windows_sysconf
user_id = getattr(os, "geteuid", int)  # Windows says 0 of every file


def limit_this_process(most: int) -> None:
    """No more memory than this, no memory dump, and others first; what the system cannot do is omitted."""
    if hasattr(os, "nice"):
        os.nice(5)
    if resource is not None:
        with suppress(ValueError, OSError):  # a limit of the system is lower
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

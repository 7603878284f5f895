"""Machine: calls that Linux and macOS have and Windows lacks, each with a replacement for Windows.

Linux and macOS lock a file or folder by a handle.  Windows opens no folder and renames no open file.  There a small
lock file is created next to it, which the system removes when its process ends.
"""

import ctypes
import itertools
import os
import signal
import time
from collections.abc import Callable
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
OTHERS = 0o077 if fcntl else 0  # the bits of a mode for group and others; Windows has none
PAUSE = 0.02  # seconds between two attempts to lock
PATIENCE = 5.0  # seconds that Windows may need to remove a file
UNKNOWN_MEMORY = 4 * 2**30  # bytes, where the system does not report its memory
STOP_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]


class LockFiles:
    """Locks without file handles: the process that creates the lock file of a path has the lock."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        self.paths: dict[int, Path] = {}
        self.lock_paths: dict[int, Path] = {}  # inside a folder opened with FOLDER, otherwise next to the file
        self.lock_handles: dict[int, int] = {}

    def open(self, path: str | os.PathLike[str], flags: int, mode: int = 0o777) -> int:
        """A number in place of a file handle; with O_CREAT the file is created and closed."""
        file = Path(path)
        if flags & os.O_CREAT:
            os.close(os.open(file, flags, mode))
        file.lstat()
        number = next(self.numbers)
        self.paths[number] = file
        self.lock_paths[number] = file / ".kech.held" if flags & FOLDER else file.with_name(f".{file.name}.held")
        return number

    def fstat(self, number: int) -> os.stat_result:
        """The status of the file or folder."""
        return self.paths[number].stat()

    def flock(self, number: int, how: int) -> None:
        """Wait for the lock; with AT_ONCE raise BlockingIOError where another process has it."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | REMOVE_AT_END
                self.lock_handles[number] = os.open(self.lock_paths[number], flags, 0o600)
                return
            except FileExistsError:
                if how & AT_ONCE:
                    raise BlockingIOError from None
                end = time.monotonic() + PATIENCE
            except PermissionError:  # the folder is read-only, or the last lock file is still being removed
                if how & AT_ONCE or time.monotonic() > end:
                    raise
            time.sleep(PAUSE)

    def fsync(self, number: int) -> None:
        """Windows writes the names in a folder to disk by itself."""

    def close(self, number: int) -> None:
        """Release the lock and remove its file."""
        if number in self.lock_handles:
            os.close(self.lock_handles.pop(number))
            self.lock_paths[number].unlink(missing_ok=True)
        del self.paths[number], self.lock_paths[number]


lock_files = LockFiles()
open_handle = os.open if fcntl else lock_files.open
stat_handle = os.fstat if fcntl else lock_files.fstat
flock = fcntl.flock if fcntl else lock_files.flock
sync_handle = os.fsync if fcntl else lock_files.fsync
close_handle = os.close if fcntl else lock_files.close


def windows_sysconf(name: str) -> int:
    """The number of memory pages and their size, where the system has no sysconf: pages of one byte."""
    return 1 if name == "SC_PAGE_SIZE" else windows_memory_bytes() or UNKNOWN_MEMORY


def windows_memory_bytes() -> int:
    """Bytes of memory that Windows reports; 0 on other systems."""

    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_uint32), ("load", ctypes.c_uint32), ("total", ctypes.c_uint64)] + [
            (name, ctypes.c_uint64) for name in ("free", "file", "free_file", "space", "free_space", "extended")
        ]

    status = Status(length=ctypes.sizeof(Status))
    windows = getattr(ctypes, "windll", None)
    return int(status.total) if windows and windows.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)) else 0


knows_memory = "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {})
sysconf: Callable[[str], int] = getattr(os, "sysconf", windows_sysconf) if knows_memory else windows_sysconf
user_id = getattr(os, "geteuid", int)  # on Windows 0, as the owner of every file


def limit_this_process(most: int) -> None:
    """Limit the memory of this process, forbid memory dumps and lower its priority, as far as the system can."""
    if hasattr(os, "nice"):
        os.nice(5)
    if resource is not None:
        with suppress(ValueError, OSError):  # a limit of the system is lower
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

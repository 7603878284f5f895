"""Cache: answers of an engine about a large file, so that work which was interrupted resumes.  PRIVATE, as the file is.

In: bytes under a name that says nothing.  Out: the same bytes, or nothing: a file that is damaged or that anybody else
could have written is removed.  A cache that cannot be written is no reason to stop.
"""

import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kech.system.files import DRAFTS, FOLDERS, clear_leftovers, written_aside

MARK = b"kech cache 1\n"
ENDING = ".kech-cache"
MOST_BYTES = 1_000_000_000  # of all answers together
DIGEST = 32


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was removed."""

    folder: str
    files: int
    bytes: int
    leftovers: int  # private folders and drafts of runs that were killed
    leftover_bytes: int

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Cache:
    """A private folder of answers; several processes may share it."""

    folder: Path

    def find(self, name: str) -> memoryview | None:
        """The bytes kept under a name; they count as used now."""
        path = self.path(name)
        try:
            body = unsealed(read_private(path))
        except FileNotFoundError:
            return None
        except OSError:
            body = None
        if body is None:
            self.drop(name)
        else:
            with suppress(OSError):
                os.utime(path)
        return body

    def keep(self, name: str, body: bytes | memoryview) -> None:
        """Keep bytes under a name, whole or not at all; the longest unused go where there are too many."""
        if len(body) > MOST_BYTES:
            return
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = self.folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                return
            self.folder.chmod(0o700)
            with written_aside(self.path(name)) as draft:
                with draft.open("wb") as file:
                    file.write(seal(body))
                    file.write(body)
                draft.replace(self.path(name))  # not flushed: what a crash of the machine damages is dropped
            self.trim()

    def drop(self, name: str) -> None:
        """Forget what is kept under a name."""
        with suppress(OSError):
            self.path(name).unlink()

    def trim(self) -> None:
        """Remove the longest unused until the others are small enough."""
        room = MOST_BYTES
        for path, found in reversed(self.held()):
            room -= found.st_size
            if room < 0:
                with suppress(OSError):  # another process was quicker
                    path.unlink()

    def clear(self) -> tuple[int, int]:
        """Remove all; gives back how many files and bytes went."""
        files = size = 0
        for path, found in self.held():
            with suppress(OSError):
                path.unlink()
                files, size = files + 1, size + found.st_size
        return files, size

    def held(self) -> list[tuple[Path, os.stat_result]]:
        """All answers, the longest unused first."""
        found = []
        with suppress(OSError):
            for path in self.folder.glob(f"*{ENDING}"):
                with suppress(OSError):
                    found.append((path, path.lstat()))
        return sorted(found, key=lambda one: one[1].st_mtime_ns)

    def path(self, name: str) -> Path:
        """Where an answer lies."""
        return self.folder / f"{name}{ENDING}"


def open_cache() -> Cache | None:
    """The cache of this user; None where KECH_CACHE=0 forbids one, or where there is no home for it."""
    folder = cache_folder()
    return None if folder is None or os.environ.get("KECH_CACHE") == "0" else Cache(folder)


def clear_cache() -> Cleared:
    """Remove every cached answer of this user, and what killed runs left in the cache and among temporary files."""
    folder = cache_folder()
    places = [(Path(tempfile.gettempdir()), FOLDERS)]
    files = size = 0
    if folder is not None:
        files, size = Cache(folder).clear()
        places.append((folder, DRAFTS))
    removed = [clear_leftovers(*place) for place in places]
    if folder is not None:
        with suppress(OSError):  # it is not empty, or there is none
            folder.rmdir()
    return Cleared(str(folder or ""), files, size, sum(n for n, _ in removed), sum(n for _, n in removed))


def cache_folder() -> Path | None:
    """`cache` in $KECH_HOME, or kech below $XDG_CACHE_HOME, or below ~/.cache."""
    if home := os.environ.get("KECH_HOME"):
        return Path(home) / "cache"
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kech"
    except RuntimeError:
        return None


def read_private(path: Path) -> bytes:
    """The bytes of a file that is this user's alone; none of any other."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not is_private(os.fstat(handle)):
            return b""
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def is_private(found: os.stat_result) -> bool:
    """Whether a file is this user's, and nobody else could have read or written it."""
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def seal(body: bytes | memoryview) -> bytes:
    """What stands before the bytes: whose they are, and their hash."""
    return MARK + blake2b(body, digest_size=DIGEST).digest()


def unsealed(held: bytes) -> memoryview | None:
    """The bytes of a file that is whole."""
    body = memoryview(held)[len(MARK) + DIGEST :]
    return body if held[: len(MARK) + DIGEST] == seal(body) else None

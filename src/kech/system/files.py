"""Files: written aside, flushed, then put in place, so that a reader sees the old file or the whole new one.

A draft is locked by the process that writes it; a draft nobody holds was left by a run that was killed.
"""

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from kech.errors import CannotWrite
from kech.system import machine

DRAFTS = ".*.kech-draft"
FOLDERS = "kech-folder-*"
OPEN_WITHOUT_LINKS = os.O_RDONLY | machine.NO_WAIT | machine.NO_LINK


@contextmanager
def draft_file(target: Path) -> Iterator[Path]:
    """A private draft beside the target; it is gone afterwards unless it was put in place."""
    remove_leftovers(target.parent, DRAFTS)
    draft, handle = claim_draft(target)
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)
        machine.close_handle(handle)


@contextmanager
def draft_folder(target: Path) -> Iterator[Path]:
    """A private draft of a whole folder; it and the folders made for it are gone unless it was put in place."""
    missing = [folder for folder in target.parents if not folder.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target.parent, DRAFTS)
        draft, handle = claim_draft_folder(target)
        try:
            yield draft
        finally:
            shutil.rmtree(draft, ignore_errors=True)
            machine.close_handle(handle)
    finally:
        for folder in missing:
            with suppress(OSError):  # it is not empty
                folder.rmdir()


def put_folder_in_place(draft: Path, target: Path) -> None:
    """Give a draft its name, unless there is a folder of that name with anything in it."""
    draft.chmod(0o777 & ~current_umask())
    draft.rename(target)


def claim_draft_folder(target: Path) -> tuple[Path, int]:
    """A new locked folder; as with files, another process may be quicker."""
    while True:
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.kech-draft")
        draft.mkdir(mode=0o700)
        with suppress(FileNotFoundError):
            handle = machine.open_handle(draft, os.O_RDONLY)
            if lock_new_draft(draft, handle):
                return draft, handle


def claim_draft(target: Path) -> tuple[Path, int]:
    """A new locked file; another process may clear it before it is locked, then the next is tried."""
    while True:
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.kech-draft")
        handle = machine.open_handle(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        if lock_new_draft(draft, handle):
            return draft, handle


def claim_folder() -> tuple[Path, int]:
    """A new locked private folder for temporary files."""
    place = Path(tempfile.gettempdir())
    remove_leftovers(place, FOLDERS)
    with refuse_disk_errors(place, " Name another folder for temporary files in TMPDIR."):
        while True:
            folder = Path(tempfile.mkdtemp(prefix=FOLDERS.rstrip("*")))
            with suppress(FileNotFoundError):  # another process took it for a leftover
                handle = machine.open_handle(folder, os.O_RDONLY)
                if lock_new_draft(folder, handle):
                    return folder, handle


def lock_new_draft(path: Path, handle: int) -> bool:
    """Whether this process locked a new file or folder before another one took it for a leftover; if not, it is closed.

    Where nothing can be locked, nobody could tell a draft from a leftover.
    """
    try:
        if lock(handle) and path.exists():
            return True
    except OSError:
        machine.close_handle(handle)
        path.rmdir() if path.is_dir() else path.unlink()
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK)) from None
    machine.close_handle(handle)
    return False


@contextmanager
def private_folder() -> Iterator[Path]:
    """A private folder that is gone afterwards."""
    folder, handle = claim_folder()
    try:
        yield folder
    finally:
        remove_folder(folder, handle)


def remove_folder(folder: Path, handle: int) -> None:
    """Remove a private folder."""
    shutil.rmtree(folder, ignore_errors=True)
    machine.close_handle(handle)


def put_in_place(moves: Mapping[Path, Path], *, private: bool = False) -> None:
    """Flush drafts to disk and give them their names, in order; private ones stay readable to their owner only.

    Another process that puts files in place in the same folder waits.  So no release gets the certificate of another.
    """
    for draft in moves:
        with draft.open("r+b") as file:  # Windows flushes only what may be written
            os.fsync(file.fileno())
    with lock_folders({target.parent for target in moves.values()}) as folders:
        for draft, target in moves.items():
            draft.chmod(0o600 if private else 0o666 & ~current_umask())
            draft.replace(target)
        for folder in folders:
            machine.sync_handle(folder)


@contextmanager
def lock_folders(folders: Iterable[Path]) -> Iterator[list[int]]:
    """Lock folders, so that no other process puts files in place there; a draft already belongs to its writer.

    A folder may have several names, but is locked once: a process that waits for its own lock waits forever.
    """
    with ExitStack() as stack:
        handles = {}
        for folder in folders:
            handle = machine.open_handle(folder, os.O_RDONLY | machine.FOLDER)
            stack.callback(machine.close_handle, handle)
            status = machine.stat_handle(handle)
            handles[status.st_dev, status.st_ino] = folder, handle
        for _, (folder, handle) in sorted(handles.items()):  # all in the same order, so that nobody waits in a circle
            if not folder.match(DRAFTS):
                with suppress(OSError):  # some file systems lock no folders
                    machine.flock(handle, machine.EXCLUSIVE)
        yield [handle for _, handle in handles.values()]


@contextmanager
def refuse_disk_errors(target: Path, hint: str = "") -> Iterator[None]:
    """Turn a failure of the disk into a refusal that names the target, and what to do."""
    try:
        yield
    except OSError as failure:
        reason = os.strerror(failure.errno) if failure.errno else type(failure).__name__
        elsewhere = " Its file system locks nothing: choose another folder." * (failure.errno == errno.ENOLCK)
        raise CannotWrite(target, f"{reason.lower()}.{hint or elsewhere}") from None


def write_text(target: Path, text: str, *, private: bool = False) -> None:
    """Write a small file whole or not at all."""
    write_bytes(target, text.encode(), private=private)


def write_bytes(target: Path, content: bytes, *, private: bool = False) -> None:
    """Write a small file of bytes whole or not at all."""
    with refuse_disk_errors(target), draft_file(target) as draft:
        draft.write_bytes(content)
        put_in_place({draft: target}, private=private)


@contextmanager
def hold_lock(path: Path, hint: str = "") -> Iterator[None]:
    """Wait until no other process, and no other thread, holds this file; then hold it."""
    with refuse_disk_errors(path, hint):
        handle = acquire_lock(path)
    try:
        yield
    finally:
        machine.close_handle(handle)


def acquire_lock(path: Path) -> int:
    """A handle that holds this file; where it was removed while we waited, the new one of that name."""
    while True:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = machine.open_handle(path, os.O_CREAT | os.O_RDWR, 0o600)
        machine.flock(handle, machine.EXCLUSIVE)
        with suppress(FileNotFoundError):
            if os.path.samestat(machine.stat_handle(handle), path.stat()):
                return handle
        machine.close_handle(handle)


def remove_leftovers(folder: Path, pattern: str) -> None:
    """Remove drafts and folders of this user that no process holds; what is not ours is left alone."""
    leftovers: list[Path] = []
    with suppress(OSError):  # a folder that cannot be listed
        leftovers.extend(folder.glob(pattern))
    for path in leftovers:
        with suppress(OSError):
            handle = machine.open_handle(path, OPEN_WITHOUT_LINKS)
            try:
                if machine.stat_handle(handle).st_uid == machine.user_id() and lock(handle):
                    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            finally:
                machine.close_handle(handle)


def is_draft_locked(draft: Path) -> bool:
    """Whether somebody is still writing a draft, or may be."""
    try:
        handle = machine.open_handle(draft, OPEN_WITHOUT_LINKS)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return not lock(handle)
    except OSError:
        return True
    finally:
        machine.close_handle(handle)


def lock(handle: int) -> bool:
    """Whether this process now holds the file; OSError where the file system has no locks for it."""
    try:
        machine.flock(handle, machine.EXCLUSIVE | machine.AT_ONCE)
    except BlockingIOError:
        return False
    return True


def state_folder(hint: str) -> Path:
    """Where kech remembers: $KECH_HOME, or kech below $XDG_STATE_HOME, or below ~/.local/state."""
    if home := os.environ.get("KECH_HOME"):
        return Path(home)
    try:
        return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "kech"
    except RuntimeError:
        raise CannotWrite("kech", f"there is no home folder.{hint}") from None


def current_umask() -> int:
    """The mask of new files; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Files: written as a draft, flushed, then renamed, so that a reader sees the old file or the whole new one.

The process that writes a draft locks it.  A draft without a lock was left behind by a process that was killed.
A ledger or a series that names a draft puts a mark beside it, which holds the path of its own file.  Such a draft stays
until that file names it no more: by it the next run knows what was never put in place.
"""

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

from kech.errors import CannotWrite
from kech.system import machine

DRAFTS = ".*.kech-draft"
NAMING = (".ledger", ".series")  # endings of marks: what names a draft
LENGTH_OF_ENDING = len(".01234567.kech-draft")
FOLDERS = "kech-folder-*"
NO_FOLDER = "its folder does not exist. Create it first."
NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_RDWR
OPEN_WITHOUT_LINKS = os.O_RDONLY | machine.NO_WAIT | machine.NO_LINK


@contextmanager
def draft_file(target: Path) -> Iterator[Path]:
    """A private draft in the folder of the target, removed at the end of the block unless it was put in place."""
    remove_leftovers(target.parent, DRAFTS)
    draft, handle = claim_draft(target)
    try:
        yield draft
    finally:
        remove_draft(draft)
        machine.close_handle(handle)


@contextmanager
def draft_folder(target: Path) -> Iterator[Path]:
    """A private draft of a folder, removed with the parent folders made for it unless it was put in place."""
    missing = [folder for folder in target.parents if not folder.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target.parent, DRAFTS)
        draft, handle = claim_draft(target, is_folder=True)
        try:
            yield draft
        finally:
            remove_draft(draft)
            machine.close_handle(handle)
    finally:
        for folder in missing:
            with suppress(OSError):  # it is not empty
                folder.rmdir()


def mark_draft(draft: Path, names_it: Path) -> None:
    """Keep a draft for as long as a file, of a ledger or a series, names it."""
    handle = os.open(draft.with_name(f"{draft.name}.{names_it.stem}"), NEW_FILE, 0o600)
    with os.fdopen(handle, "wb") as mark:
        mark.write(os.fsencode(names_it.absolute()))


def is_named(draft: Path) -> bool:
    """Whether a file of which a mark tells still names this draft.  A mark without a whole path was never used."""
    name = draft.name[-LENGTH_OF_ENDING:].encode()
    for mark in list_marks(draft):
        try:
            file = Path(os.fsdecode(mark.read_bytes()))
            if file.is_file() and name in file.read_bytes():
                return True
        except OSError:
            return True
    return False


def list_marks(draft: Path) -> list[Path]:
    """The marks beside a draft."""
    return [mark for ending in NAMING if (mark := draft.with_name(f"{draft.name}{ending}")).exists()]


def remove_draft(draft: Path) -> None:
    """Remove a draft, unless a ledger or a series still names it; once it is gone, also its marks."""
    marks = list_marks(draft)
    if marks and draft.exists() and is_named(draft):
        return
    if draft.is_dir():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        draft.unlink(missing_ok=True)
    for mark in marks:
        mark.unlink(missing_ok=True)


def put_folder_in_place(draft: Path, target: Path) -> None:
    """Rename a draft folder to its target; OSError where the target is a folder with files."""
    draft.chmod(0o777 & ~current_umask())
    draft.rename(target)


def claim_draft(target: Path, *, is_folder: bool = False) -> tuple[Path, int]:
    """A new draft and its lock; another process may remove it before it is locked, then the next name is tried."""
    while True:
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.kech-draft")
        if is_folder:
            draft.mkdir(mode=0o700)
        with suppress(FileNotFoundError) if is_folder else nullcontext():  # a new folder may be removed already
            handle = machine.open_handle(draft, os.O_RDONLY if is_folder else NEW_FILE, 0o600)
            if lock_new_draft(draft, handle):
                return draft, handle


def claim_folder() -> tuple[Path, int]:
    """A new private folder for temporary files, and its lock."""
    parent = Path(tempfile.gettempdir())
    remove_leftovers(parent, FOLDERS)
    with refuse_disk_errors(parent, "Name another folder for temporary files in TMPDIR."):
        while True:
            folder = Path(tempfile.mkdtemp(prefix=FOLDERS.rstrip("*")))
            with suppress(FileNotFoundError):  # another process took it for a leftover
                handle = machine.open_handle(folder, os.O_RDONLY)
                if lock_new_draft(folder, handle):
                    return folder, handle


def lock_new_draft(path: Path, handle: int) -> bool:
    """Lock a new file or folder; False, and its handle closed, where another process removed it as a leftover.

    A file system without locks is refused: there a draft could not be told from a leftover.
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


def link_or_name(link: Path, file: Path) -> Path:
    """A new link to a file; the file itself where Windows keeps links for administrators and developers."""
    try:
        link.symlink_to(file)
    except OSError:
        if machine.fcntl:
            raise
        return file
    return link


@contextmanager
def private_folder() -> Iterator[Path]:
    """A private folder for temporary files, removed at the end of the block."""
    folder, handle = claim_folder()
    try:
        yield folder
    finally:
        remove_folder(folder, handle)


def remove_folder(folder: Path, handle: int) -> None:
    """Remove a private folder with its files, and its lock."""
    shutil.rmtree(folder, ignore_errors=True)
    machine.close_handle(handle)


def put_in_place(moves: Mapping[Path, Path], *, private: bool = False) -> None:
    """Flush drafts to disk and rename each to its target, in order; private ones stay readable to their owner only.

    The folders are locked meanwhile, so that no release gets the certificate of another one.
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
    """Lock folders, so that no other process puts files in place there; a draft folder is locked already.

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
    """Turn an OSError into a refusal that names the target; `hint` replaces the usual advice."""
    try:
        yield
    except OSError as failure:
        reason = os.strerror(failure.errno) if failure.errno else type(failure).__name__
        advice = "Check the folder, its permissions and the free space on its disk."
        if failure.errno == errno.ENOLCK:
            advice = "Its file system has no locks. Choose another folder."
        raise CannotWrite(target, f"{reason.lower()}. {hint or advice}") from None


def write_text(target: Path, text: str, *, private: bool = False) -> None:
    """Write a small text file atomically."""
    write_bytes(target, text.encode(), private=private)


def write_bytes(target: Path, content: bytes, *, private: bool = False) -> None:
    """Write a small file atomically."""
    with refuse_disk_errors(target), draft_file(target) as draft:
        draft.write_bytes(content)
        put_in_place({draft: target}, private=private)


@contextmanager
def hold_lock(path: Path, hint: str = "") -> Iterator[None]:
    """Hold the lock of a file during the block, after waiting for other processes and threads."""
    with refuse_disk_errors(path, hint):
        handle = acquire_lock(path)
    try:
        yield
    finally:
        machine.close_handle(handle)


def acquire_lock(path: Path) -> int:
    """A handle with the lock of this file, which is created where it is missing, or was removed meanwhile."""
    while True:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = machine.open_handle(path, os.O_CREAT | os.O_RDWR, 0o600)
        machine.flock(handle, machine.EXCLUSIVE)
        with suppress(FileNotFoundError):
            if os.path.samestat(machine.stat_handle(handle), path.stat()):
                return handle
        machine.close_handle(handle)


def remove_leftovers(folder: Path, pattern: str) -> None:
    """Remove drafts and temporary folders of this user that no process has locked, and no ledger or series names."""
    leftovers: list[Path] = []
    with suppress(OSError):  # a folder that cannot be listed
        leftovers.extend(folder.glob(pattern))
        for mark in (mark for ending in NAMING for mark in folder.glob(f"{DRAFTS}{ending}")):
            if not mark.with_suffix("").exists():
                mark.unlink(missing_ok=True)
    for path in leftovers:
        with suppress(OSError):
            handle = machine.open_handle(path, OPEN_WITHOUT_LINKS)
            try:
                if machine.stat_handle(handle).st_uid == machine.user_id() and lock(handle):
                    remove_draft(path)
            finally:
                machine.close_handle(handle)


def is_draft_locked(draft: Path) -> bool:
    """Whether a process may still be writing this draft."""
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
    """Try to lock a file, without waiting; OSError where the file system has no locks."""
    try:
        machine.flock(handle, machine.EXCLUSIVE | machine.AT_ONCE)
    except BlockingIOError:
        return False
    return True


def state_folder(hint: str) -> Path:
    """The folder of ledger and secret: $KECH_HOME, or kech in $XDG_STATE_HOME or in ~/.local/state."""
    if home := os.environ.get("KECH_HOME"):
        return Path(home)
    try:
        return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "kech"
    except RuntimeError:
        raise CannotWrite("kech", f"there is no home folder. {hint}") from None


def current_umask() -> int:
    """The mask of new files; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask

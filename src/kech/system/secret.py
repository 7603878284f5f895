"""Owner's secret: 32 random bytes that go into every label, so that nobody else can make a release again.

In: the folder of the ledger, or a key file that a team shares.  Out: an `OwnerSecret`, of which only hashes are used.
"""

import hashlib
import os
import re
import secrets
import stat
from os import PathLike
from pathlib import Path

from kech.errors import BadKey, BadTarget, check_path
from kech.system import machine
from kech.system.files import hold_lock, refuse_disk_errors, state_folder, write_text

SIZE = 32  # bytes
KEY_FILE = re.compile(r"kech-key-([0-9a-f]*)-([0-9a-f]*)\n?")
LONGEST = 4096  # bytes that are read of a key file
MISSING = "it does not exist. Make one: `kech ledger --new-key FILE`."
ELSEWHERE = "Name another folder in KECH_HOME, or a key file: --key-file FILE."


class OwnerSecret:
    """A secret from which keys are derived; it is neither printed nor pickled."""

    __slots__ = ("_bytes",)

    def __init__(self, secret: bytes) -> None:
        self._bytes = secret

    def derive(self, purpose: str, *parts: bytes) -> bytes:
        """A key of 32 bytes for one purpose and some parts: their keyed hash (BLAKE2b)."""
        keyed_hash = hashlib.blake2b(key=self._bytes, digest_size=SIZE, person=purpose.encode())
        for part in parts:
            keyed_hash.update(len(part).to_bytes(8, "little") + part)
        return keyed_hash.digest()

    def to_text(self) -> str:
        """The text of a key file: the secret, and the beginning of its hash, which reveals damage."""
        return f"kech-key-{self._bytes.hex()}-{check_digits(self._bytes)}\n"

    def __repr__(self) -> str:
        return "OwnerSecret(hidden)"

    def __reduce__(self) -> str:
        raise TypeError("the owner's secret is never pickled")


def open_secret(key_file: str | PathLike[str] | None = None) -> OwnerSecret:
    """The secret of a key file (or of $KECH_KEY_FILE); without one that of this user, created at first use."""
    if named := key_file or os.environ.get("KECH_KEY_FILE"):
        return read_key_file(Path(named))
    return open_secret_in(state_folder(ELSEWHERE))


def open_secret_in(folder: Path) -> OwnerSecret:
    """The secret in the file `secret` of a folder, created at first use."""
    try:
        return read_secret(folder / "secret")
    except (FileNotFoundError, NotADirectoryError):
        return make_secret(folder / "secret")


def read_key_file(path: Path) -> OwnerSecret:
    """The secret of a key file; a missing file is refused, since a team needs one common key."""
    try:
        return read_secret(path)
    except (FileNotFoundError, NotADirectoryError):
        raise BadKey(path, MISSING) from None


def make_secret(file: Path) -> OwnerSecret:
    """Write a new secret, unless another process has written one meanwhile."""
    with hold_lock(file.with_name("secret.lock"), ELSEWHERE):
        if not file.exists():
            write_text(file, draw_secret().to_text(), private=True)
    return read_secret(file)


def draw_secret() -> OwnerSecret:
    """A new random secret."""
    return OwnerSecret(secrets.token_bytes(SIZE))


def write_key_file(path: str | PathLike[str]) -> Path:
    """Write a key file with a new secret, for a team to share; an existing file is never overwritten."""
    check_path(path)
    target = Path(path)
    with refuse_disk_errors(target):
        try:
            handle = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)  # of two processes one succeeds
        except FileExistsError:
            raise BadTarget(target, "it exists, and a key is never overwritten. Name another file.") from None
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(draw_secret().to_text().encode())
                file.flush()
                os.fsync(handle)
        except OSError:
            target.unlink(missing_ok=True)
            raise
    return target


def check_digits(secret: bytes) -> str:
    """The beginning of the hash of a secret."""
    return hashlib.sha256(secret).hexdigest()[:8]


def read_secret(path: Path) -> OwnerSecret:
    """The secret in a file; FileNotFoundError where there is none."""
    try:
        handle = os.open(path, os.O_RDONLY | machine.NO_WAIT)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as failure:
        raise BadKey(path, f"it cannot be read: {failure.strerror}. Check its permissions.") from None
    try:
        check_owner(path, os.fstat(handle))
        return parse_secret(path, os.read(handle, LONGEST))
    finally:
        os.close(handle)


def check_owner(path: Path, status: os.stat_result) -> None:
    """Refuse a key that is no regular file of this user or root, or that others can read or write."""
    if not stat.S_ISREG(status.st_mode):
        raise BadKey(path, "it is not a regular file. Name a key file.")
    if status.st_uid not in (0, machine.user_id()):
        raise BadKey(path, "it belongs to another user, who may know it. Make a key of your own.")
    if status.st_mode & machine.OTHERS:
        raise BadKey(path, "others can read it or write to it. Make it yours alone: chmod 600 FILE.")


def parse_secret(path: Path, text: bytes) -> OwnerSecret:
    """The secret in the text of a key file; a refusal never quotes the text."""
    if not text.strip():
        raise BadKey(path, "it is empty. Copy it again from its maker.")
    match = KEY_FILE.fullmatch(text.decode("latin-1"))
    if not match:
        raise BadKey(path, "it is not a key of kech. Make one: `kech ledger --new-key FILE`.")
    if len(match[1]) < 2 * SIZE:
        raise BadKey(path, "its key is too short. Copy it again from its maker.")
    if len(match[1]) > 2 * SIZE or check_digits(secret := bytes.fromhex(match[1])) != match[2]:
        raise BadKey(path, "it is damaged. Copy it again from its maker.")
    return OwnerSecret(secret)

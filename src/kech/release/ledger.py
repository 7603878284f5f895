"""Ledger: which tables this user has released before.  Hashes only, in files that nobody else can read.

In: the fingerprint and the sketches of a table, and a written release.  Out: earlier releases of the same rows.
A fingerprint is hashed slowly with a key of this ledger, so that nothing is learned from it without the whole table.
The hashes of a sketch are keyed with the secret in the folder: without that they tell nothing, with it they can be
tried out value by value.
"""

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from kech.certificate.cells import digest
from kech.errors import BadLedger, BadOption, KechError, NoSuchFile, NoSuchTable
from kech.release.sketches import Sketch
from kech.system.files import (
    hold_lock,
    is_draft_locked,
    private_folder,
    refuse_disk_errors,
    remove_draft,
    state_folder,
    write_bytes,
    write_text,
)
from kech.system.secret import OwnerSecret, open_secret_in
from kech.tables.source import Address, find_address, open_database

VERSION, FIRST_VERSION = 2, 1  # the first one knew whole tables only
SKETCHES = "rows"  # the folder of the sketches
KEY = "[0-9a-f]{64}"
SHORTEST = 8  # letters of a hash that name a release
WORK = 2**14  # of scrypt


class LedgerEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One release: keyed hashes of its table and of where that lay, a plain one of the published file."""

    table: str
    source: str
    release: str  # SHA-256 of the file
    k: int  # of its people, where they were counted, otherwise of its rows
    time: str  # UTC
    draft: str = ""  # while it is put in place: a file or folder that is gone once it is
    address: str = ""  # likewise: the table of a database that it becomes
    same_as: str = ""  # hash of the release that it repeats: either stands for both
    rows: int = 0  # that were published
    columns: tuple[str, ...] = ()  # their names, as published
    sketch: str = ""  # the file of its sketches
    name: str = ""  # of the published file or table, for its owner to know it again
    path_hash: str = msgspec.field(
        default="", name="place"
    )  # keyed hash of where the published file was put; none of a release of a series

    @property
    def words(self) -> str:
        """Name, time and k, as the list of the ledger shows them."""
        shown = f"{self.time[:16].replace('T', ' ')}, k={self.k}"
        return f"{self.name!r}, {shown}" if self.name else shown


class LedgerFile(msgspec.Struct, forbid_unknown_fields=True):
    """What stands in the file."""

    ledger: int
    key: str
    releases: list[LedgerEntry]
    check: str = ""  # of the secret that the sketches are keyed with


@dataclass(frozen=True, slots=True)
class Ledger:
    """A folder with the releases of one user; several processes may share it."""

    folder: Path

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_ledger

        return show_ledger(self)

    @property
    def path(self) -> Path:
        """The file of the ledger."""
        return self.folder / "ledger.json"

    @contextmanager
    def lock(self) -> Iterator[LedgerFile]:
        """The ledger file, while no other process reads or writes it."""
        with hold_lock(self.folder / "ledger.lock", "Name another folder in KECH_HOME, or use --no-ledger."):
            yield self.read()

    def read(self) -> LedgerFile:
        """The ledger file as it stands; a new one has a new key."""
        try:
            ledger_file = msgspec.json.decode(self.path.read_bytes(), type=LedgerFile)
        except FileNotFoundError:
            ledger_file = LedgerFile(VERSION, secrets.token_hex(32), [])
        except OSError as failure:
            raise BadLedger(self.path, f"it cannot be read: {failure.strerror}.") from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise BadLedger(self.path, "it is damaged.") from None
        if ledger_file.ledger not in (FIRST_VERSION, VERSION):
            raise BadLedger(self.path, "a newer kech wrote it. Use that version of kech.")
        if not re.fullmatch(KEY, ledger_file.key):
            raise BadLedger(self.path, "its key is damaged.")
        return ledger_file

    def write(self, ledger_file: LedgerFile, releases: list[LedgerEntry]) -> None:
        """Put a ledger file with these releases in place, whole or not at all; the ledger must be held."""
        new = LedgerFile(VERSION, ledger_file.key, releases, ledger_file.check)
        write_text(self.path, msgspec.json.format(msgspec.json.encode(new)).decode() + "\n", private=True)
        kept = {entry.sketch for entry in releases}
        for path in self.sketches.iterdir() if self.sketches.is_dir() else ():
            if path.name not in kept:
                path.unlink(missing_ok=True)

    @property
    def sketches(self) -> Path:
        """The folder of the sketches, a file for each release."""
        return self.folder / SKETCHES

    def open_secret(self, ledger_file: LedgerFile) -> OwnerSecret:
        """The secret that sketches are keyed with; another one could not know any row again, so it is refused."""
        secret = open_secret_in(self.folder)
        check = secret.derive("ledger check").hex()[:SHORTEST]
        if ledger_file.check not in ("", check):
            raise BadLedger(self.path, "the secret beside it is another one, so kech recognises no row.")
        ledger_file.check = check
        return secret

    def keep_sketches(self, sketches: Iterable[Sketch]) -> str:
        """Write the sketches of a release that is about to be entered; gives the name of their file."""
        name = secrets.token_hex(16)
        with refuse_disk_errors(self.sketches):
            self.sketches.mkdir(mode=0o700, exist_ok=True)
        write_bytes(self.sketches / name, msgspec.msgpack.encode(list(sketches)), private=True)
        return name

    def read_sketches(self, entry: LedgerEntry) -> list[Sketch]:
        """The sketches of a release; none where it was entered by a kech that made none."""
        if not entry.sketch:
            return []
        try:
            return msgspec.msgpack.decode((self.sketches / entry.sketch).read_bytes(), type=list[Sketch])
        except (OSError, msgspec.DecodeError):
            raise BadLedger(self.path, f"the hashes of its release {entry.release[:SHORTEST]} are damaged.") from None

    def recover(self) -> None:
        """Strike out what a killed run had entered and never put in place; forget how the others were put in place.

        Where nobody can tell, as with a database that does not answer, an entry stays.
        """
        if not self.path.exists() or not any(entry.draft for entry in self.read().releases):
            return
        with self.lock() as ledger_file:
            statuses = [(entry, find_status(entry)) for entry in ledger_file.releases]
            kept = [
                finish_entry(entry) if status == "placed" else entry for entry, status in statuses if status != "never"
            ]
            for entry in (entry for entry, status in statuses if entry.draft and status == "placed"):
                remove_draft(Path(entry.draft))
            self.write(ledger_file, kept)

    def strike_draft(self, draft: Path) -> None:
        """Strike out the release whose draft this is: it was never put in place."""
        with self.lock() as ledger_file:
            self.write(ledger_file, [entry for entry in ledger_file.releases if entry.draft != str(draft.resolve())])

    def list_releases(self) -> list[dict[str, Any]]:
        """All releases, the first one first; tables are numbered as they came."""
        releases = self.read().releases
        tables = list(dict.fromkeys(entry.table for entry in releases))
        return [
            {
                "name": entry.name or None,
                "time": entry.time,
                "rows": entry.rows or None,
                "k": entry.k,
                "columns": list(entry.columns),
                "table": tables.index(entry.table) + 1,
                "release": entry.release,
            }
            for entry in releases
        ]

    def forget(self, release: str | PathLike[str]) -> list[str]:
        """Strike out a release that was never handed out: a file, or how its hash begins; gives the hashes back."""
        start = digest(Path(release)) if Path(release).is_file() else str(release)
        if len(start) < SHORTEST:
            raise BadOption(
                "--forget", f"this is no release. Name a released file, or at least {SHORTEST} letters of its hash."
            )
        with self.lock() as ledger_file:
            struck = [entry for entry in ledger_file.releases if entry.release.startswith(start)]
            if not struck:
                raise BadOption("--forget", "the ledger knows no such release. Choose one that `kech ledger` lists.")
            self.write(ledger_file, [entry for entry in ledger_file.releases if entry not in struck])
        return [entry.release for entry in struck]


def find_status(entry: LedgerEntry) -> str:
    """What became of a release: "placed", "never", or "open" while somebody is at it or nobody can tell."""
    try:
        if not entry.draft or not Path(entry.draft).exists():
            return "placed"
    except OSError:  # in a folder that was closed to us since
        return "open"
    if is_draft_locked(Path(entry.draft)):
        return "open"
    address = find_address(entry.address)
    return find_status_of_table(address, entry.release) if address else "never"


def find_status_of_table(address: Address, release: str) -> str:
    """What became of a release into a database: "placed" where the rows of the table, as text, have its hash."""
    try:
        with private_folder() as folder, open_database(address) as database:
            database.export(folder / "released.csv")
            return "placed" if digest(folder / "released.csv") == release else "never"
    except (NoSuchFile, NoSuchTable):
        return "never"
    except KechError:
        return "open"


def finish_entry(entry: LedgerEntry) -> LedgerEntry:
    """An entry once its release is in place."""
    return msgspec.structs.replace(entry, draft="", address="")


def open_ledger() -> Ledger:
    """The ledger of this user: in $KECH_HOME, or in kech below $XDG_STATE_HOME, or below ~/.local/state."""
    return Ledger(state_folder("Name a folder for the ledger in KECH_HOME."))


def pick_ledger(ledger: Ledger | bool) -> Ledger | None:
    """The ledger of this user, one of the caller's own, or none."""
    return (open_ledger() if ledger else None) if isinstance(ledger, bool) else ledger


def hash_table(key: str, columns: Sequence[str], fingerprint: Sequence[int]) -> str:
    """A keyed hash of the contents of a table; one guess takes some milliseconds and 16 MB."""
    words = json.dumps([sorted(columns), *fingerprint]).encode()
    return hashlib.scrypt(words, salt=bytes.fromhex(key), n=WORK, r=8, p=1, dklen=32).hex()


def hash_path(key: str, path: Path) -> str:
    """A keyed hash of where a table lay."""
    return hashlib.blake2b(os.fsencode(path.resolve()), key=bytes.fromhex(key), digest_size=32).hexdigest()


def time_now() -> str:
    """To the second, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

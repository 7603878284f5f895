"""Store: the private folder of a series.  It knows rows by hashes and holds labels, cohorts and certificates, no cell.

In: a folder.  Out: a `SeriesFile` (series.json) and a `History` (every row and cohort that was ever published).
Each version has files of its own that never change; series.json names them with their hashes and is replaced last.
"""

import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech.certificate.cells import digest
from kech.errors import BadSeries, KechError
from kech.release.series.hashes import SIZE, Hashes, as_arrow, as_hashes
from kech.request import relative_path
from kech.system import machine
from kech.system.files import (
    DRAFTS,
    draft_file,
    hold_lock,
    put_in_place,
    refuse_disk_errors,
    remove_leftovers,
    write_text,
)
from kech.system.secret import OwnerSecret

FORMAT = 4
LABEL = "label "  # with which names of columns of labels begin
SERIES_FILE, LOCK = "series.json", "series.lock"
PARTS = ("rows", "cohorts", "moves", "people", "turns", "others", "current")  # of each version, as Arrow files
OWN = re.compile(
    r"series\.(json|lock)|\..*\.kech-draft|"
    r"(?P<number>[0-9]{4,})-(rows|cohorts|moves|people|turns|others|current|certificate)\.\w+"
)
HASHES = ("key", "whole", "cells", "other", "person")

RESTORE = (
    "Restore the folder as it was after the last release. An older copy does not know later ones: their rows would "
    "enter second cohorts, where attackers can tell them apart. Without such a copy, begin a new series, with new rows "
    "only."
)

Ints = NDArray[np.int64]


class SeriesVersion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One release of a series."""

    number: int
    time: str  # UTC
    release: str  # SHA-256 of the file
    path: str  # where the file was put
    beside: str  # and its certificate
    relative: str  # the same seen from the folder of the series, which may move with it
    files: dict[str, str]  # of this version, in the folder, with their SHA-256
    counts: dict[str, int]
    seal: str  # keyed hash of what series.json fixed and named when this version came
    draft: str = ""  # while it is put in place: a file that is gone once it is
    said_new: bool = False  # whether the owner said that all new rows are others (--most-changed 100%)
    before: dict[str, Any] = {}  # other fields of series.json that this version changed, as they were


class SeriesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in series.json."""

    series: int
    id: str
    check: str  # by which the owner's secret is known again
    fixed: dict[str, Any]  # of the request, by the first version
    kinds: dict[str, str]  # how each column was read then
    labels: list[str]  # published columns of the quasi-identifiers
    versions: list[SeriesVersion]
    policy: dict[str, Any] = {}  # in force since it was last said: what waits, what is withdrawn
    judged: list[str] = []  # hashes of releases outside of the series that its cohorts were compared with

    @property
    def last(self) -> SeriesVersion | None:
        """The newest version."""
        return self.versions[-1] if self.versions else None


@dataclass(frozen=True, eq=False, repr=False)
class PublishedRows:
    """Rows that were published, in the order they came: hashes, and the cohort of each."""

    key: Hashes
    whole: Hashes  # of all that is read of it, by which a row is known that is as it was
    cells: Hashes  # of the original, by which corrections are seen
    other: Hashes  # of the published cells beside the labels
    person: Hashes
    cohort: Ints

    def take(self, which: NDArray[Any]) -> "PublishedRows":
        """Some of the rows."""
        return PublishedRows(**{name: getattr(self, name)[which] for name in (*HASHES, "cohort")})


@dataclass(frozen=True, eq=False, repr=False)
class Cohorts:
    """Cohorts in the order they came: labels, rows, people (0 where rows are people), the version each was born in."""

    labels: Any  # an Arrow table
    size: Ints
    people: Ints
    born: Ints


class Moves(NamedTuple):
    """Cohorts that a version left out, or took in again."""

    version: int
    cohort: Ints
    back: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """Everything that was ever published."""

    rows: PublishedRows
    cohorts: Cohorts
    moves: Sequence[Moves]
    people: Hashes  # of each row its person, as the last version that had the row named it
    listed: NDArray[np.bool_]  # whether the last table had each row
    others: Hashes  # keys of rows that waited when the owner said that new rows are others
    current: Hashes  # of each row all that was read of it last

    def alive(self, version: int) -> NDArray[np.bool_]:
        """Whether each cohort is part of a version."""
        is_alive = self.cohorts.born <= version
        for move in self.moves:
            if move.version <= version:
                is_alive[move.cohort] = move.back
        return np.asarray(is_alive)

    def last_seen(self) -> Ints:
        """The last version before each cohort left; 0 where it never did."""
        last = np.zeros(len(self.cohorts.size), np.int64)
        for move in self.moves:
            last[move.cohort[~move.back]] = move.version - 1
        return last


@dataclass(frozen=True, slots=True)
class Store:
    """The folder."""

    folder: Path

    @property
    def path(self) -> Path:
        """The file that names all others."""
        return self.folder / SERIES_FILE

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Nobody else changes the folder meanwhile; where no series begins, the folder is left as it was."""
        self.check_own()
        missing = [path for path in (self.folder, *self.folder.parents) if not path.exists()]
        with hold_lock(self.folder / LOCK, "Name another folder: --series FOLDER."):
            remove_leftovers(self.folder, DRAFTS)
            try:
                yield
            finally:
                with suppress(KechError):  # a damaged folder stays as it is
                    self.clear(missing)

    def check_own(self) -> None:
        """Refuse a folder that holds other files and no series."""
        if self.path.exists() or not self.folder.is_dir():
            return
        with suppress(OSError):  # a folder that cannot be listed is refused when it is locked
            names = [path.name for path in self.folder.iterdir()]
            if any(not OWN.fullmatch(name) for name in names):
                raise BadSeries(self.folder, "it holds other files and no series. Name a new folder, or an empty one.")
            if any(name.startswith("0002-") for name in names):
                raise BadSeries(self.folder, f"{SERIES_FILE} is missing. {RESTORE}")

    def close(self) -> None:
        """Nobody but its owner reads the folder from now on."""
        if self.folder.stat().st_mode & machine.OTHERS:
            self.folder.chmod(0o700)

    def clear(self, folders: Sequence[Path]) -> None:
        """Remove files of versions that series.json does not name; without it, also the folders that were made."""
        series_file = self.read()
        last = series_file.versions[-1].number if series_file else 0
        for path in self.folder.iterdir():
            match = OWN.fullmatch(path.name)
            if match and match["number"] and int(match["number"]) > last:
                path.unlink(missing_ok=True)
        if series_file is None:
            (self.folder / LOCK).unlink(missing_ok=True)
            with suppress(OSError):  # somebody else begins a series there
                for path in folders:
                    path.rmdir()

    def read(self) -> SeriesFile | None:
        """The series file; None where the folder is none of a series yet."""
        try:
            series_file = msgspec.json.decode(self.path.read_bytes(), type=SeriesFile)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as failure:
            raise BadSeries(
                self.folder,
                f"it cannot be read: {failure.strerror}. Check the permissions of the folder, and its disk.",
            ) from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise BadSeries(self.folder, f"{SERIES_FILE} is damaged. {RESTORE}") from None
        if series_file.series != FORMAT:
            reason = (
                "another version of kech began it. Go on with that version, or begin a new series in another folder."
            )
            raise BadSeries(self.folder, reason)
        if not series_file.versions:  # where all are forgotten, there is no such file
            raise BadSeries(self.folder, f"{SERIES_FILE} is damaged. {RESTORE}")
        return series_file

    def write(self, series_file: SeriesFile) -> None:
        """Put a series file in place, whole or not at all; the folder must be locked."""
        write_text(self.path, msgspec.json.format(msgspec.json.encode(series_file)).decode() + "\n", private=True)

    def write_version(self, number: int, tables: Mapping[str, Any], certificate: str) -> dict[str, str]:
        """Put the files of a version in place; they count once the series file names them."""
        self.close()
        files = {}
        for part, table in tables.items():
            target = self.folder / name_file(number, part)
            with refuse_disk_errors(target), draft_file(target) as draft:
                with pa.OSFile(str(draft), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                    writer.write_table(table)
                put_in_place({draft: target}, private=True)
            files[target.name] = digest(target)
        target = self.folder / f"{number:04}-certificate.json"
        write_text(target, certificate, private=True)
        return files | {target.name: digest(target)}

    def certificate(self, version: SeriesVersion) -> bytes:
        """The certificate of a version as it was written."""
        return self._read_file(version, f"{version.number:04}-certificate.json")

    def read_history(self, series_file: SeriesFile) -> History:
        """The rows and cohorts of all versions."""
        versions = series_file.versions
        parts = {part: [self._read_part(version, part) for version in versions] for part in PARTS}
        return build_history(parts, series_file.labels, [version.number for version in versions])

    def _read_part(self, version: SeriesVersion, part: str) -> Any:
        content = self._read_file(version, name_file(version.number, part))
        return pa.ipc.open_file(pa.py_buffer(content)).read_all()

    def _read_file(self, version: SeriesVersion, name: str) -> bytes:
        try:
            if digest(self.folder / name) == version.files[name]:
                return (self.folder / name).read_bytes()
        except (OSError, LookupError, KechError):
            pass
        raise BadSeries(self.folder, f"{name} is missing or damaged. {RESTORE}")

    def find_release(self, version: SeriesVersion) -> Path | None:
        """The published file of a version, at the place it was put or where the folder moved with it."""
        for path in (Path(os.path.normpath(self.folder / version.relative)), Path(version.path)):
            if path.is_file() and digest(path) == version.release:
                return path
        return None

    def move(self, series_file: SeriesFile, files: Mapping[str, Path]) -> SeriesFile:
        """A series file that knows where files of versions lie now, by their hashes."""
        moved = [self._move_version(version, files.get(version.release)) for version in series_file.versions]
        return msgspec.structs.replace(series_file, versions=moved)

    def _move_version(self, version: SeriesVersion, path: Path | None) -> SeriesVersion:
        if path is None:
            return version
        return msgspec.structs.replace(version, path=str(path.absolute()), relative=relative_path(path, self.folder))


def name_file(number: int, part: str) -> str:
    """The name of a file of a version."""
    return f"{number:04}-{part}.arrow"


def seal_series(series_file: SeriesFile, secret: OwnerSecret) -> str:
    """A keyed hash of all that later versions must keep; the next policy and places of files may change."""
    named = [(version.number, version.release, version.files, version.counts) for version in series_file.versions]
    kept = (series_file.id, series_file.fixed, series_file.kinds, series_file.labels, series_file.judged, named)
    return secret.derive("series-seal", msgspec.json.encode(kept, order="deterministic")).hex()


def new_id() -> str:
    """A name for a series that no other has."""
    return secrets.token_hex(SIZE)


# -- tables of a version ---------------------------------------------------------------------------------------------


def rows_table(rows: PublishedRows) -> Any:
    """Rows as they are kept."""
    return pa.table({name: as_arrow(getattr(rows, name)) for name in HASHES} | {"cohort": rows.cohort})


def cohorts_table(labels: Any, size: Ints, people: Ints) -> Any:
    """Cohorts as they are kept; `labels` are those of each cohort."""
    columns = dict(zip(labels.column_names, labels.columns, strict=True))
    return pa.table({"size": size, "people": people} | {LABEL + name: cells for name, cells in columns.items()})


def people_table(before: Hashes, now: Hashes) -> Any:
    """Rows whose person a version names in another way than the versions before, as they are kept."""
    row = np.flatnonzero((before != now).any(axis=1))
    return pa.table({"row": row, "person": as_arrow(now[row])})


def current_table(before: Hashes, now: Hashes) -> Any:
    """Rows that read otherwise than in the table before, as they are kept."""
    row = np.flatnonzero((before != now).any(axis=1))
    return pa.table({"row": row, "whole": as_arrow(now[row])})


def turns_table(before: NDArray[np.bool_], now: NDArray[np.bool_]) -> Any:
    """Rows that left the table since the last version, or came back to it, as they are kept."""
    return pa.table({"row": np.flatnonzero(before != now)})


def others_table(keys: Hashes) -> Any:
    """Keys of rows that wait, and that the owner says are others than those that left, as they are kept."""
    return pa.table({"key": as_arrow(keys)})


def empty_labels(names: Sequence[str]) -> Any:
    """Labels of no cohorts."""
    return pa.schema([(LABEL + name, pa.string()) for name in names]).empty_table()


def build_history(parts: Mapping[str, Sequence[Any]], names: Sequence[str], numbers: Sequence[int]) -> History:
    """One history of the parts of all versions."""
    none = np.empty(0, np.int64)
    hashes = {
        name: np.concatenate([empty_hashes(), *(as_hashes(part[name]) for part in parts["rows"])]) for name in HASHES
    }
    cohort = np.concatenate([none, *(as_ints(part["cohort"]) for part in parts["rows"])])
    size, people = (
        np.concatenate([none, *(as_ints(part[x]) for part in parts["cohorts"])]) for x in ("size", "people")
    )
    labels = pa.concat_tables(
        [empty_labels(names), *(part.select(LABEL + name for name in names) for part in parts["cohorts"])]
    )
    born = np.repeat(np.array(numbers, np.int64), [len(part) for part in parts["cohorts"]])
    moves = [
        Moves(number, as_ints(part["cohort"]), np.asarray(part["back"].to_numpy(), bool))
        for number, part in zip(numbers, parts["moves"], strict=True)
    ]
    rows = PublishedRows(**hashes, cohort=cohort)
    last_people = rows.person.copy()
    for part in parts["people"]:
        last_people[as_ints(part["row"])] = as_hashes(part["person"])
    listed = np.ones(len(cohort), bool)
    for part in parts["turns"]:
        listed[as_ints(part["row"])] ^= True
    others = np.concatenate([empty_hashes(), *(as_hashes(part["key"]) for part in parts["others"])])
    current = rows.whole.copy()
    for part in parts["current"]:
        current[as_ints(part["row"])] = as_hashes(part["whole"])
    cohorts = Cohorts(labels.rename_columns(names), size, people, born)
    return History(rows, cohorts, moves, last_people, listed, others, current)


def as_ints(column: Any) -> Ints:
    """A column of whole numbers."""
    return np.asarray(column.to_numpy(), np.int64)


def empty_hashes() -> Hashes:
    """Hashes of no rows."""
    return np.empty((0, SIZE), np.uint8)

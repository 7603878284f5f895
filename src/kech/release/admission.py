"""Admission: whether a written release may be put in place, given the releases of the same table before it.

In: a draft with its certificate, the table, the ledger and earlier releases.  Out: a `Word`, or ReleasedBefore.
"""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kech.certificate import AnyPath
from kech.certificate.cells import digest
from kech.errors import BadOption, CannotWrite, KechError, OutOfMemory, ReleasedBefore, UsageError
from kech.release.composition import Composition, compose, is_coarsening
from kech.release.ledger import Entry, Ledger, hash_path, hash_table, placed, time_now
from kech.release.linkage import link_all
from kech.release.published import read_published
from kech.system.files import private_folder
from kech.system.memory import BASE_BYTES, CELL_BYTES, CELL_COPIES, CODE_BYTES, PAIR_BYTES, PLACE_BYTES, ROW_BYTES
from kech.tables.databases import Address, find_address, open_database
from kech.tables.table import Table

BESIDE = ".certificate.json"
NOT_NAMED = (
    "The ledger keeps no files, and --allow-composition needs them too: name the earlier one, so that the two can be "
    "compared: --earlier FILE or TABLE. If it was never handed out, say so: kech ledger --forget HASH. Not at hand: "
)
SHOWN = 12  # letters of a hash
REPEAT = (
    "Repeat the earlier release as it was made, with the same --key-file and in the same format (CSV cannot tell NULL "
    "from empty text), or without all of its --keep columns"
)
COARSER = f"{REPEAT}; or make one that is coarser: --cut domain at a larger --k, after --cut domain"
LEFT_OUT = (
    f"The earlier one left rows out (--suppress), and one that is coarser takes them in again. {REPEAT}; "
    "only after a first release without --suppress is --cut domain at a larger --k a coarser one"
)
OTHERWISE = (
    " (docs/security.md, second releases). Allow it with --allow-composition; or, if the earlier one was never handed "
    "out, say so: kech ledger --forget FILE."
)


@dataclass(frozen=True, slots=True)
class Word:
    """What the ledger said: how many earlier releases there are, and why one more is admitted."""

    verdict: str  # no ledger, first, nested or composed
    earlier: int = 0
    updated: int = 0  # releases of a file that lay at the same path and held other rows
    nested_in: str | None = None
    k: int | None = None  # the smallest class of any release, and what is left of it
    joint_k: int | None = None
    worst_k: int | None = None
    below: int | None = None  # rows with fewer than k joint candidates
    same_as: str = ""  # hash of the earlier release that it repeats

    def to_json(self) -> dict[str, Any]:
        """What the command prints."""
        return {name: value for name, value in asdict(self).items() if name != "same_as"}


@dataclass(frozen=True, slots=True)
class Draft:
    """A release that is written aside; `trace` is gone once it is in its place, and tells so even after a crash."""

    path: Path
    certificate: Path
    claims: Mapping[str, Any]
    target: Path
    table: Table
    trace: Path
    address: Address | None = None

    def entry(self, key: str, contents: Sequence[int]) -> Entry:
        """How the ledger knows it."""
        source, table = self.table.source, hash_table(key, self.table.columns, contents)
        where = "" if source.format == "frame" or source.address else hash_path(key, source.path)
        release, k = self.claims["file"]["sha256"], self.claims["claims"]["k"]
        return Entry(
            table,
            where,
            release,
            k,
            time_now(),
            str(self.trace.resolve()),
            self.address.anywhere if self.address else "",
        )


class Nested(NamedTuple):
    """The earlier file that a release is a coarsening of, and whether it is the same one again."""

    path: Path
    is_same: bool


@contextmanager
def admitted(
    draft: Draft, ledger: Ledger | None, earlier: Sequence[AnyPath], allow_composition: bool
) -> Iterator[Word]:
    """Enter a release into the ledger while it is put in place; it is struck out if that fails."""
    if ledger is None:
        word = judge(draft, [], earlier, allow_composition)
        yield word if word.earlier else Word("no ledger")
        return
    contents = draft.table.fingerprint()
    with ledger.held() as book:
        entry = draft.entry(book.key, contents)
        before = [other for other in book.releases if other.table == entry.table]
        word = judge(draft, before, earlier, allow_composition)
        entry = msgspec.structs.replace(entry, same_as=word.same_as)
        moved = [other for other in book.releases if entry.source and other.source == entry.source]
        try:
            ledger.add(book, entry)
            yield Word(**asdict(word) | {"updated": sum(other.table != entry.table for other in moved)})
        except BaseException:
            if draft.path.exists():  # else the table has its name already
                ledger.write(book)
            raise
        if not draft.trace.exists():
            with suppress(CannotWrite):  # then the next run settles it
                ledger.add(book, placed(entry))


def judge(draft: Draft, before: Sequence[Entry], earlier: Sequence[AnyPath], allow_composition: bool) -> Word:
    """The word on a release, given those the ledger knows and those that are named."""
    folders = {draft.target.parent, draft.table.source.path.parent}
    with as_files(earlier, folders, draft.table.limit) as named:
        return judge_files(draft, before, named, folders, allow_composition)


def judge_files(
    draft: Draft, before: Sequence[Entry], earlier: Sequence[Path], folders: Iterable[Path], allow_composition: bool
) -> Word:
    """A first release is welcome, and so is a coarsening of an earlier one; others must be allowed.

    Where the ledger knows releases of the table, a file that it does not know justifies nothing: anybody can make one.
    """
    known = {entry.release for entry in before}
    files = find_files(known, folders)
    files |= {digest(path): path for path in earlier}
    if not known and not files:
        return Word("first")
    count, when = len(known | files.keys()), before[-1].when if before else next(iter(files.values())).name
    trusted = [path for release, path in files.items() if release in known or not known]
    try:
        at_hand = {first_of(entry) for entry in before if entry.release in files}
        lacking = [entry for entry in before if first_of(entry) not in at_hand]
        nested, found, left_out = compare(draft, list(files.values()), trusted, not lacking)
    except UsageError as reason:
        raise ReleasedBefore(when, f"They cannot be compared. {reason.typed}") from None
    if nested is not None:
        first = {entry.release: first_of(entry) for entry in before}
        same = nested.is_same and digest(nested.path)
        return Word("nested", count, nested_in=nested.path.name, same_as=first.get(same, "") if same else "")
    if found is None:
        hashes = dict.fromkeys(entry.release[:SHOWN] for entry in lacking)
        raise ReleasedBefore(lacking[0].when, f"{NOT_NAMED}{', '.join(hashes)}.")
    if not allow_composition:
        ways = f"{LEFT_OUT if left_out else COARSER}{OTHERWISE}"
        raise ReleasedBefore(when, f"This one is not a coarsening of it: {in_words(found)} {ways}")
    return Word("composed", count, k=found.k, joint_k=found.joint_k, worst_k=found.worst_k, below=found.below)


def first_of(entry: Entry) -> str:
    """The hash of the first release that an entry repeats; its own where it repeats none."""
    return entry.same_as or entry.release


def compare(
    draft: Draft, files: Sequence[Path], trusted: Sequence[Path], all_known: bool
) -> tuple[Nested | None, Composition | None, bool]:
    """The trusted file that a draft is a coarsening of; or else, where all are known, what the files tell together.

    And whether an earlier one left rows of the table out.
    """
    check = partial(check_room, draft.table, 1 + len(files))
    check()
    mine = read_published(draft.path, certificate=draft.certificate, with_cells=True)
    theirs = [read_published(path, with_cells=True, cells_of=mine.cells) for path in files]
    columns = dict.fromkeys(name for release in (mine, *theirs) for name in release.quasi_identifiers)
    with draft.table.reopen(list(columns)) as table:
        later, *linked = link_all([mine, *theirs], table)
        left_out = any(release.rows < table.rows for release in theirs)
        for path, other in zip(files, linked, strict=True):
            if path in trusted and is_coarsening(later, other):
                return Nested(path, is_coarsening(other, later)), None, left_out
        return None, compose([later, *linked], "--earlier", check) if all_known else None, left_out


def check_room(table: Table, releases: int, pairs: int = 0) -> None:
    """Releases are compared in memory, row by row: refused, with the number, where there is not enough.

    A row and a cell that it could be in are a pair; where boxes overlap, there are more than one for a row and release.
    """
    distinct = sum(table.facts(name).distinct for name in (*table.sensitive, *table.keep))
    texts = sum(table.engine.text_bytes(table.index(name)) for name in (*table.sensitive, *table.keep))
    places = sum(table.facts(name).distinct for name in table.quasi_identifiers)
    each = table.rows * ROW_BYTES + distinct * CELL_BYTES + CELL_COPIES * texts + places * PLACE_BYTES
    need = BASE_BYTES + table.rows * CODE_BYTES * len(table.quasi_identifiers) + releases * each
    need += max(0, pairs - releases * table.rows) * PAIR_BYTES
    if need > table.room:
        raise OutOfMemory("comparing it with earlier releases", table.room, need)


def in_words(found: Composition) -> str:
    """What both together leave."""
    return (
        f"one alone leaves every row {found.k} candidates or more; together they leave some row {found.joint_k} (the "
        f"smallest overlap of classes has {found.worst_k}), and {found.below:,} of {found.rows:,} rows fewer than "
        f"{found.k}."
    )


@contextmanager
def as_files(earlier: Sequence[AnyPath], folders: Iterable[Path], memory: int | None) -> Iterator[Sequence[Path]]:
    """Files themselves; tables of databases as text in a private folder, their certificates beside them."""
    with private_folder() as place:
        addresses = [find_address(given) for given in earlier]
        yield [
            export_table(address, place / str(i), folders, memory) if address else Path(given)
            for i, (given, address) in enumerate(zip(earlier, addresses, strict=True))
        ]


def export_table(address: Address, place: Path, folders: Iterable[Path], memory: int | None) -> Path:
    """A released table as text, with the certificate of its hash, which lies in a folder at hand."""
    place.mkdir()
    file = place / f"{address.table.replace('/', '_')}.csv"
    with open_database(address, memory) as database:
        database.export(file)
    certificate = find_certificate(digest(file), folders)
    if certificate is None:
        reason = f"the certificate of {address} is neither in the folder of the new one nor in that of the source."
        raise BadOption("--earlier", reason)
    shutil.copy(certificate, f"{file}{BESIDE}")
    return file


def find_certificate(release: str, folders: Iterable[Path]) -> Path | None:
    """The certificate of a release with this hash that lies in a folder at hand."""
    for path in (path for folder in folders for path in sorted(folder.glob("*.json"))):
        with suppress(OSError, ValueError, TypeError, LookupError, RecursionError):
            if json.loads(path.read_bytes())["file"]["sha256"] == release:
                return path
    return None


def find_files(releases: set[str], folders: Iterable[Path]) -> dict[str, Path]:
    """Released files with these hashes that lie, with their certificates, in a folder at hand."""
    found = {}
    for beside in (path for folder in folders if releases for path in sorted(folder.glob(f"*{BESIDE}"))):
        file = beside.with_name(beside.name.removesuffix(BESIDE))
        with suppress(OSError, ValueError, TypeError, LookupError, RecursionError, KechError):
            known = json.loads(beside.read_bytes())["file"]["sha256"]
            if known in releases and known not in found and digest(file) == known:
                found[known] = file
    return found

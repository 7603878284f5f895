"""Admission: whether a written release may be put in place, given the releases of the same table before it.

In: a draft with its certificate, the table, the ledger and earlier releases.  Out: a `Admission`, or ReleasedBefore.
"""

import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from kech.certificate import BESIDE, AnyPath, certificate_path, promised_k
from kech.certificate.cells import digest
from kech.certificate.sampled import STATED
from kech.errors import (
    BadOption,
    BadTarget,
    CannotWrite,
    KechError,
    NoSuchColumn,
    OutOfMemory,
    ReleasedBefore,
    UsageError,
)
from kech.points.people import encode_people, number_tuples
from kech.release.composition import Composition, compose, is_coarsening
from kech.release.ledger import Ledger, LedgerEntry, finish_entry, hash_path, hash_table, time_now
from kech.release.linkage import link_all
from kech.release.published import Published, read_published
from kech.release.recognition import may_share_rows, share_rows
from kech.release.sketches import Sketch, list_kinds, make_sketches
from kech.system.files import mark_draft, private_folder, remove_draft
from kech.system.memory import (
    BASE_BYTES,
    CELL_BYTES,
    CELL_COPIES,
    CODE_BYTES,
    DISTINCT_VALUE_BYTES,
    PAIR_BYTES,
    ROW_BYTES,
)
from kech.system.secret import OwnerSecret
from kech.tables.source import Address, find_address, open_database
from kech.tables.table import Table

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
    "--cut domain at a larger --k is coarser only if the first release used no --suppress"
)
OTHERWISE = " (docs/how-to/second_releases.md). Or allow it with --allow-composition."
SERIES = (
    "Make the releases of this table a series: kech release ... --series FOLDER. Or repeat the earlier release; or "
    "make this one coarser, so that all rows keep enough candidates; or allow it with --allow-composition "
    "(docs/how-to/second_releases.md)."
)
BEFORE_SERIES = (
    "A series keeps its own releases safe together, and no others. Make the earlier release the first of the series: "
    "release its table as it was made then, with --series FOLDER. Or omit the rows that it holds; or allow it with "
    "--allow-composition."
)
NEXT_VERSION = (
    "The earlier one is a version of a series: to publish the next version, name its folder (--series FOLDER)."
)
BESIDE_SERIES = (
    "A series keeps its own releases safe together, and no others. Omit the rows that are new in the series and were "
    "released before, or allow it with --allow-composition."
)
AS_NAMED = "Name the columns of the table as they were named then."
SAMPLED = (
    "The theorem of --dp-epsilon is for one release of a table and its later versions, and this one cannot be made "
    "from the earlier one. What both tell together it does not bound."
)
NEVER_HANDED_OUT = "If the earlier one was never handed out, say so: kech ledger --forget FILE."
PUBLISHED = "a published release, or the certificate of one, lies there. Choose another name."
TAKE_ITS_PLACE = "If {name!r} was never handed out, let this release take its place: --replace."
NOT_COMPARED = {
    "k": None,
    "joint_k": None,
    "at_least": None,
    "below": None,
    "candidates": None,
    "changed": None,
    "counted": "rows",
}  # figures of no composition


@dataclass(frozen=True, slots=True)
class Admission:
    """What the ledger said: how many earlier releases there are, and why one more is admitted."""

    verdict: str  # no ledger, first, series, nested or composed
    earlier: int = 0
    updated: int = 0  # releases of a file that lay at the same path and held other rows
    nested_in: str | None = None
    composition: Composition | None = None  # what all releases together leave to hide among, where they were compared
    shared: int = 0  # earlier releases of other tables that share some of the rows
    same_as: str = ""  # hash of the earlier release that it repeats
    judged: tuple[str, ...] = ()  # hashes of the earlier releases that it was compared with

    def to_json(self) -> dict[str, Any]:
        """What the command prints."""
        left = {name: getattr(self.composition, name, usual) for name, usual in NOT_COMPARED.items()}
        known = ("verdict", "earlier", "updated", "nested_in", "shared")
        return {name: getattr(self, name) for name in known} | left


@dataclass(frozen=True, slots=True)
class DraftRelease:
    """A release that is written aside; `trace` is gone once it is in its place, and tells so even after a crash."""

    path: Path
    certificate: Path
    claims: Mapping[str, Any]
    target: Path
    table: Table
    trace: Path
    address: Address | None = None
    new: "Sequence[DraftRelease] | None" = None  # of a later release of a series: its new rows, which alone are judged
    is_part: bool = False  # these new rows

    def open_columns(self, columns: Sequence[str]) -> AbstractContextManager[Table]:
        """The table with these quasi-identifiers, as far as it has them."""
        names = [name for name in columns if name in self.table.columns]
        return nullcontext(self.table) if self.is_part else self.table.reopen(names)

    def check_columns(self, file: str, columns: Sequence[str]) -> None:
        """Refuse an earlier release with quasi-identifiers that the series of this draft lacks."""
        names = {*self.table.columns} - {*self.table.quasi_identifiers} if self.is_part else ()
        if lacking := [repr(name) for name in columns if name in names]:
            reason = f"{file!r} has quasi-identifiers that the series lacks: {', '.join(lacking)}."
            raise UsageError(f"{reason} Remove from the table the rows that were released in it.")

    def entry(self, key: str, contents: Sequence[int]) -> LedgerEntry:
        """How the ledger knows it."""
        source, table = self.table.source, hash_table(key, self.table.columns, contents)
        where = "" if source.format == "frame" or source.address else hash_path(key, source.path)
        claims, dropped = self.claims["claims"], {*self.table.dropped}
        return LedgerEntry(
            table,
            where,
            self.claims["file"]["sha256"],
            promised_k(self.claims, claims["k"]),
            time_now(),
            str(self.trace.resolve()),
            self.address.anywhere if self.address else "",
            rows=claims["rows"],
            columns=tuple(name for name in self.table.columns if name not in dropped),
            name=self.claims["file"]["name"],
        )


@dataclass(frozen=True, slots=True)
class AdmissionOptions:
    """Where earlier releases are looked for, and whether one more may leave people fewer to hide among."""

    ledger: Ledger | None
    earlier: Sequence[AnyPath] = ()
    allow_composition: bool = False
    series: frozenset[str] | None = None  # hashes of the earlier releases of its series: cohorts keep them safe
    judged: frozenset[str] = frozenset()  # hashes of releases outside that its cohorts were compared with
    replace: bool = False  # the release at the same path was never handed out: this one takes its place
    folders: Sequence[Path] = ()  # where earlier releases may lie, besides those of the target and of the table

    def to_json(self) -> dict[str, bool]:
        """What a reader of the certificate should know of them."""
        stated = {"no_ledger": self.ledger is None, "allow_composition": self.allow_composition}
        return {name: True for name, holds in stated.items() if holds}


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """The release that a certificate tells of."""

    name: str = ""
    sha256: str = ""
    series: bool = False  # whether it is a version of one


class Coarsened(NamedTuple):
    """The earlier file that a release is a coarsening of, and whether it is the same one again."""

    path: Path
    is_same: bool


class PastComparison(NamedTuple):
    """A draft beside the files of earlier releases."""

    nested: Coarsened | None = None  # the trusted file that it is a coarsening of
    composition: Composition | None = None  # what all tell together, where all are known and it is no coarsening
    left_out: bool = False  # whether an earlier one left rows of the table out
    lacking: Sequence[str] = ()  # quasi-identifiers of earlier ones that the table does not have
    sampled: bool = False  # whether one of them is a sample with differential privacy
    of_series: bool = False  # whether one of them is a version of a series


class Past(NamedTuple):
    """The releases that the ledger knows, by what their tables have in common with the new one."""

    same: Sequence[LedgerEntry] = ()  # the whole table
    shared: Sequence[LedgerEntry] = ()  # some rows or people
    unlike: Sequence[LedgerEntry] = ()

    @property
    def before(self) -> list[LedgerEntry]:
        """Those that count, the last one last."""
        return sorted([*self.same, *self.shared], key=lambda entry: entry.time)


@contextmanager
def enter_in_ledger(draft: DraftRelease, terms: AdmissionOptions) -> Iterator[Admission]:
    """Enter a release into the ledger while it is put in place; it is struck out if that fails."""
    ledger = terms.ledger
    if ledger is None:
        admission = judge_release(draft, Past(), terms)
        yield admission if admission.earlier else Admission("no ledger")
        return
    contents = draft.table.fingerprint()
    with ledger.lock() as ledger_file:
        entry, secret = draft.entry(ledger_file.key, contents), ledger.open_secret(ledger_file)
        if terms.series is None and draft.address is None:
            entry = msgspec.structs.replace(entry, path_hash=hash_path(ledger_file.key, draft.target))
        remaining = list(ledger_file.releases)
        if terms.replace:
            del remaining[find_replaced(draft.target, entry.path_hash, remaining)]
        safe = (terms.series or frozenset()) | terms.judged
        outside = [other for other in remaining if other.release not in safe]
        sketches, past = recognise(draft.table, entry.table, outside, ledger, secret)
        if terms.judged and draft.new:
            tables = {other.table for other in remaining if other.release in (terms.series or ())}
            judged = [other for other in remaining if other.release in terms.judged and other.table not in tables]
            past = past._replace(shared=[*past.shared, *find_sharing_new_rows(draft, judged, ledger, secret)])
        admission = judge_release(draft, past, terms)
        moved = [other for other in past.unlike if entry.source and other.source == entry.source]
        try:
            mark_draft(draft.trace, ledger.path)
            kept = ledger.keep_sketches(sketches)
            entry = msgspec.structs.replace(entry, same_as=admission.same_as, sketch=kept)
            ledger.write(ledger_file, [*ledger_file.releases, entry])
            yield replace(admission, updated=len(moved))
        except BaseException:
            if draft.path.exists():  # else the table has its name already
                ledger.write(ledger_file, ledger_file.releases)
            raise
        if not draft.trace.exists():
            remove_draft(draft.trace)  # its marks
            with suppress(CannotWrite):  # then the next run recovers
                ledger.write(ledger_file, [*remaining, finish_entry(entry)])


def check_unpublished(draft: DraftRelease, paths: Iterable[Path], terms: AdmissionOptions) -> None:
    """Refuse to overwrite a version of a series, and what belongs to a release at another path than this one."""
    release, name = draft.claims["file"]["sha256"], draft.claims["file"]["name"]
    entries = terms.ledger.read().releases if terms.ledger else []
    versions = {entry.release for entry in entries if not entry.path_hash and entry.release != release}
    for path in filter(Path.is_file, paths):
        own = {release, read_identity(certificate_path(draft.target)).sha256}
        own |= {digest(draft.target)} if draft.target.is_file() else set()
        others = [other for other in list_published(path, versions) if other.series or other.sha256 not in own]
        if any(draft.address is None or other.series or other.name != name for other in others):
            raise BadTarget(path, PUBLISHED)


def list_published(path: Path, versions: Collection[str] = ()) -> list[FileIdentity]:
    """The release that a file is, as a certificate beside it or the ledger says, and the one it is a certificate of."""
    document, beside, file_digest = read_identity(path), read_identity(certificate_path(path)), digest(path)
    is_version = file_digest in versions or (beside.name == path.name and beside.series)
    table = FileIdentity(path.name, file_digest, is_version)
    return [document] * bool(document.sha256) + [table] * (is_version or beside.name == path.name)


def read_identity(path: Path) -> FileIdentity:
    """What a certificate of any version says of its file; nothing of another file."""
    try:
        with path.open("rb") as file:
            start = file.read(1)
            document = json.loads(start + file.read()) if start == b"{" else {}
        file_claims = document["file"] if "certificate" in document else {}
        return FileIdentity(str(file_claims["name"]), str(file_claims["sha256"]), "series" in document)
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return FileIdentity()


def check_replaced(target: Path | None, ledger: Ledger | None) -> None:
    """Refuse to replace what is no file that the ledger knows."""
    if target is None or ledger is None:
        raise BadOption("--replace", "it replaces a file that the ledger knows. Omit it, or --no-ledger.")
    ledger.recover()
    ledger_file = ledger.read()
    find_replaced(target, hash_path(ledger_file.key, target), ledger_file.releases)


def find_replaced(target: Path, path_hash: str, releases: Sequence[LedgerEntry]) -> int:
    """The number of the release that was put at this very path and still lies there; a copy elsewhere stays.

    A link is refused: it would be replaced, and the file behind it would stay.  A release of a series has none.
    """
    lies = digest(target) if target.is_file() and not target.is_symlink() else ""
    entries = [at for at, old in enumerate(releases) if old.release == lies and old.path_hash == path_hash != ""]
    if not entries:
        reason = f"{target.name!r} is no release that the ledger knows at this path and outside a series."
        raise BadOption("--replace", f"{reason} Omit --replace, or write to the path of that release.")
    return entries[-1]


def recognise(
    table: Table, contents: str, others: Sequence[LedgerEntry], ledger: Ledger, secret: OwnerSecret
) -> tuple[list[Sketch], Past]:
    """The sketches of a table, and which earlier releases are of the same rows, all or some."""
    same = [other for other in others if other.table == contents]
    known = {other.sketch: ledger.read_sketches(other) for other in others if other.table != contents}
    kinds = list_kinds(table)
    ours = make_sketches(
        table, [*kinds, *(known_sketch.of for known_sketch in chain.from_iterable(known.values()))], secret
    )
    alike = {sketch for sketch, theirs in known.items() if share_rows(ours, theirs)}
    rest = [other for other in others if other.table != contents]
    shared = [other for other in rest if other.sketch in alike]
    unlike = [other for other in rest if other.sketch not in alike]
    return [ours[kind] for kind in kinds if kind in ours], Past(same, shared, unlike)


def find_sharing_new_rows(
    draft: DraftRelease, judged: Sequence[LedgerEntry], ledger: Ledger, secret: OwnerSecret
) -> list[LedgerEntry]:
    """Releases that cohorts of a series were compared with, and that may hold some of its new rows too.

    They are compared with these row by row, so one row that may be shared is enough.
    """
    sharing: dict[str, LedgerEntry] = {}
    keys = {*draft.table.row_key, *draft.table.identifiers}
    for entry in judged:
        theirs = ledger.read_sketches(entry)
        whole = make_sketches(draft.table, [sketch.of for sketch in theirs], secret)
        for part in draft.new or ():
            here = {*part.table.loaded, *part.table.counted}
            kinds = [sketch.of for sketch in theirs if here.issuperset(sketch.columns)]
            if may_share_rows(make_sketches(part.table, kinds, secret), whole, theirs, keys):
                sharing[entry.release] = entry
    return [*sharing.values()]


def judge_release(draft: DraftRelease, past: Past, terms: AdmissionOptions) -> Admission:
    """The admission of a release, given those the ledger knows and those that are named."""
    if draft.new is not None:
        return judge_new(draft.new, past, terms)
    folders = {draft.target.parent, draft.table.source.path.parent, *terms.folders}
    with as_files(terms.earlier, folders, draft.table.limit) as earlier:
        known = {entry.release for entry in past.before}
        files = find_files(known, folders) | {digest(path): path for path in earlier}
        return judge_files(draft, past, files, terms) if known or files else Admission("first")


def judge_new(parts: Sequence[DraftRelease], past: Past, terms: AdmissionOptions) -> Admission:
    """The admission of a later release of a series: only its new cohorts are judged, since the old ones were before.

    They are a part of the table, so earlier releases of all of it count as releases of some of its rows.
    """
    rest = past._replace(same=(), shared=past.before)
    admissions = [judge_release(part, rest, terms) for part in parts]
    with_past = [admission for admission in admissions if admission.verdict != "first"]
    return with_past[0] if with_past else Admission("series", len(terms.series or ()))


def judge_files(draft: DraftRelease, past: Past, files: Mapping[str, Path], terms: AdmissionOptions) -> Admission:
    """A coarsening of an earlier release is admitted; others must be allowed, unless only some rows were released
    before, or it is the release of a series, and all have as many candidates as one release alone leaves.

    Where the ledger knows releases of the table, a file that it does not know justifies nothing: anybody can make one.
    """
    before = past.before
    known = {entry.release for entry in before}
    count, when = len(known | files.keys()), name_entries(before) or repr(next(iter(files.values())).name)
    refuse = partial(ReleasedBefore, some=bool(past.shared) and not past.same)
    trusted = [path for release, path in files.items() if release in known or not known]
    whole = {entry.release for entry in past.same}
    others = [path for release, path in files.items() if release in known - whole]
    try:
        at_hand = {find_first_hash(entry) for entry in before if entry.release in files}
        lacking = [entry for entry in before if find_first_hash(entry) not in at_hand]
        comparison = compare_with_files(draft, list(files.values()), trusted, others, not lacking)
    except UsageError as reason:
        rename = f" {AS_NAMED}" if isinstance(reason, NoSuchColumn) else ""
        raise refuse(when, f"They cannot be compared. {reason.typed}{rename}") from None
    nested, composition, left_out, columns, sampled, of_series = comparison
    if nested is not None:
        first = {entry.release: find_first_hash(entry) for entry in before}
        same = nested.is_same and digest(nested.path)
        admission = Admission("nested", count, nested_in=nested.path.name, judged=tuple(known))
        return replace(admission, same_as=first.get(same, "") if same else "")
    if composition is None:
        absent = dict.fromkeys(" ".join(filter(None, (entry.name, entry.release[:SHOWN]))) for entry in lacking)
        raise refuse(name_entries(lacking), f"{NOT_NAMED}{', '.join(absent)}.")
    if sampled and not terms.allow_composition:
        raise refuse(when, f"{SAMPLED} {withdraw_words(draft, known, terms)} {REPEAT}{OTHERWISE}")
    if not terms.allow_composition and not is_enough(composition, past, len(others) == len(files), terms):
        ways = SERIES if others else f"{LEFT_OUT if left_out else COARSER}{OTHERWISE}"
        ways = ways if terms.series is None else BESIDE_SERIES if draft.is_part else BEFORE_SERIES
        ways = f"{NEXT_VERSION} {ways}" if of_series and not terms.series else ways
        joint = f"{describe_composition(composition)}{describe_lacking(columns)}"
        raise refuse(when, f"This one is not a coarsening of it: {joint} {withdraw_words(draft, known, terms)} {ways}")
    return Admission("composed", count, composition=composition, shared=len(past.shared), judged=tuple(known))


def name_entries(entries: Sequence[LedgerEntry]) -> str:
    """The last of some releases, and how many others there are; nothing of none."""
    others = len(entries) - 1
    more = f"; and {others:,} other{'' if others == 1 else 's'}, see `kech ledger`" if others > 0 else ""
    return f"{entries[-1].words}{more}" if entries else ""


def withdraw_words(draft: DraftRelease, known: set[str], terms: AdmissionOptions) -> str:
    """What to do where nobody has the earlier release: in one step, where it lies at the same path."""
    lies_there = terms.series is None and draft.target.is_file() and digest(draft.target) in known
    return TAKE_ITS_PLACE.format(name=draft.target.name) if lies_there else NEVER_HANDED_OUT


def is_enough(composition: Composition, past: Past, of_others: bool, terms: AdmissionOptions) -> bool:
    """Whether releases of other tables, or a series, leave as many candidates as each promised alone.

    In every intersection of classes, and no few rows came or left.
    """
    least = max([composition.k, *(entry.k for entry in past.same)])
    is_kept = composition.at_least >= least and not composition.changed
    return (of_others or terms.series is not None) and is_kept


def find_first_hash(entry: LedgerEntry) -> str:
    """The hash of the first release that an entry repeats; its own where it repeats none."""
    return entry.same_as or entry.release


def compare_with_files(
    draft: DraftRelease, files: Sequence[Path], trusted: Sequence[Path], others: Sequence[Path], all_known: bool
) -> PastComparison:
    """The trusted file that a draft is a coarsening of; or else, where all are known, what the files tell together.

    Files of `others` were made of other tables.
    """
    check = partial(check_room, draft.table, 1 + len(files))
    check()
    mine = read_published(draft.path, certificate=draft.certificate, with_cells=True)
    theirs = [read_published(path, with_cells=True, cells_of=mine.cells) for path in files]
    columns = dict.fromkeys(name for release in (mine, *theirs) for name in release.quasi_identifiers)
    for path, release in zip(files, theirs, strict=True):
        draft.check_columns(path.name, release.quasi_identifiers)
    sampled = any(STATED[0] in release.document["parameters"] for release in (mine, *theirs))
    with draft.open_columns([*columns, *mine.cells]) as table:
        readable = [drop_unknown(release, table) for release in theirs]
        later, *linked = link_all([mine, *readable], table)
        left_out = any(release.rows < table.rows for release in theirs)
        for path, release, other in zip(files, theirs, linked, strict=True):
            if path in trusted and other.release is release and is_coarsening(later, other):
                is_same = is_coarsening(other, later)
                if is_same or not (has_histories(mine) and not has_histories(release)):
                    return PastComparison(Coarsened(path, is_same))
        if not all_known:
            return PastComparison()
        lacking = [name for name in columns if name not in table.columns]
        positions = {
            "others": [i for i, path in enumerate(files, 1) if path in others],
            "partly_read": [
                i for i, (all_of_it, read) in enumerate(zip(theirs, readable, strict=True), 1) if read is not all_of_it
            ],
        }
        linkages, person = [later, *linked], find_people(table)
        composition = compose(linkages, "--earlier", check, person=person, is_part=draft.is_part, **positions)
        of_series = any("series" in release.document for release in theirs)
        return PastComparison(None, composition, left_out, lacking, sampled, of_series)


def find_people(table: Table) -> NDArray[np.int64] | None:
    """The person of each row, as a number; none where every row is another person."""
    mappings = encode_people(table)
    return number_tuples(table.engine.code_rows(mappings)) if mappings else None


def drop_unknown(release: Published, table: Table) -> Published:
    """A release without the quasi-identifiers that the table lacks.

    Classes may have equal labels then; each stays a class, and a row may be in any of them as far as the table tells.
    """
    known = [index for index, name in enumerate(release.quasi_identifiers) if name in table.columns]
    if len(known) == len(release.quasi_identifiers) or not known:
        return release
    names = tuple(release.quasi_identifiers[index] for index in known)
    return replace(
        release, quasi_identifiers=names, labels=tuple(tuple(row[p] for p in known) for row in release.labels)
    )


def has_histories(release: Published) -> bool:
    """Whether a release says which rows are of one person: then what is finer elsewhere would undo its promise."""
    return "person_number" in release.document


def check_room(table: Table, releases: int, pairs: int = 0) -> None:
    """Refuse a comparison of releases, row by row, that does not fit in memory.

    A row and a cell that it could be in are a pair; where boxes overlap, there are more than one for a row and release.
    """
    distinct = sum(table.facts(name).distinct for name in (*table.sensitive, *table.keep))
    texts = sum(table.engine.text_bytes(table.index(name)) for name in (*table.sensitive, *table.keep))
    values = sum(table.facts(name).distinct for name in table.quasi_identifiers)
    each = table.rows * ROW_BYTES + distinct * CELL_BYTES + CELL_COPIES * texts + values * DISTINCT_VALUE_BYTES
    need = BASE_BYTES + table.rows * CODE_BYTES * len(table.quasi_identifiers) + releases * each
    need += max(0, pairs - releases * table.rows) * PAIR_BYTES
    if need > table.allowed_bytes:
        raise OutOfMemory("comparing it with earlier releases", table.allowed_bytes, need)


def describe_composition(composition: Composition) -> str:
    """What both together leave."""
    counted = "people" if composition.counted == "people" else "rows"
    noun = "row" if composition.changed == 1 else "rows"
    least, joint_k = composition.at_least, composition.joint_k
    figure = f"is between {least} and {joint_k}" if least < joint_k else f"= {joint_k}"
    changed = (
        f" {composition.changed:,} {noun} came or left among fewer than {composition.k}: the difference of the files "
        "shows their cells."
    )
    return (
        f"one alone hides every row among {composition.k} {counted} or more; together, joint k "
        f"{figure}, and {composition.below:,} of {composition.rows:,} rows stay together with fewer than "
        f"{composition.k}.{changed if composition.changed else ''}"
    )


def describe_lacking(columns: Sequence[str]) -> str:
    """Why rows that could be in several earlier classes count as alone, and what helps."""
    if not columns:
        return ""
    names = ", ".join(map(repr, columns))
    return (
        f" The table lacks {names}, by which others may know the earlier class of a row: rows that could be in several "
        "count as alone. Put the columns back into the table; they need not be published."
    )


@contextmanager
def as_files(earlier: Sequence[AnyPath], folders: Iterable[Path], memory: int | None) -> Iterator[Sequence[Path]]:
    """Files themselves; tables of databases as text in a private folder, their certificates beside them."""
    with private_folder() as folder:
        addresses = [find_address(name) for name in earlier]
        yield [
            export_table(address, folder / str(i), folders, memory) if address else Path(name)
            for i, (name, address) in enumerate(zip(earlier, addresses, strict=True))
        ]


def export_table(address: Address, folder: Path, folders: Iterable[Path], memory: int | None) -> Path:
    """A released table as text, with the certificate of its hash, which lies in a folder at hand."""
    folder.mkdir()
    file = folder / f"{address.table.replace('/', '_')}.csv"
    with open_database(address, memory) as database:
        database.export(file)
    certificate = find_certificate(digest(file), folders)
    if certificate is None:
        reason = f"the certificate of {address} is neither in the folder of the new one nor in that of the source."
        raise BadOption("--earlier", f"{reason} Copy it there.")
    shutil.copy(certificate, certificate_path(file))
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
    file_of_digest = {}
    for beside in (path for folder in folders if releases for path in sorted(folder.glob(f"*{BESIDE}"))):
        file = beside.with_name(beside.name.removesuffix(BESIDE))
        with suppress(OSError, ValueError, TypeError, LookupError, RecursionError, KechError):
            known = json.loads(beside.read_bytes())["file"]["sha256"]
            if known in releases and known not in file_of_digest and digest(file) == known:
                file_of_digest[known] = file
    return file_of_digest

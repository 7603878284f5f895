"""Workspace: the tables that are open, each with its plan, its hierarchies and its jobs.

A page names tables, jobs and hierarchies by the words it was given; no path of a page reaches the disk, but for the
name of a folder below the one the studio was started for.
"""

import asyncio
import os
import secrets
import shlex
import shutil
import weakref
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec.structs import replace

import kech
from kech.certificate import BESIDE
from kech.errors import (
    BadOption,
    BadTarget,
    KechError,
    NoQuasiIdentifier,
    NoSuchFile,
    UnreadableFile,
    UsageError,
    unusable_value,
)
from kech.release.series.store import SERIES_FILE
from kech.request import Columns, Limits, Request
from kech.studio.jobs import READING, WORKING, Job, Lane
from kech.studio.verbs import LANES, VERBS
from kech.system.files import claim_folder, refuse_disk_errors, remove_folder
from kech.tables.demo import generate_town, nine_rows, write_csv
from kech.tables.source import READ_FORMATS

EXAMPLES = {"nine": ("nine.csv", nine_rows), "town": ("town.csv", generate_town)}
TREES = (".csv", ".toml", ".json")
MOST_TABLES, MOST_JOBS = 8, 64
LONGEST_NAME = 200
COMPANIONS = ("report.html", "kech.toml")
MOST_LISTED = 50  # releases of a folder
MOST_ADDRESSED = 8  # reports whose tabs are about to open
NEXT_LANES = {"glance": "quick", "crowds": "search"}  # that a page needs after an answer


def open_private(path: str, flags: int) -> int:
    """A file that only this user can read, also if the folder around it changes."""
    return os.open(path, flags, 0o600)


class Stale(UsageError):
    """Another tab was quicker."""


class PlanChange(msgspec.Struct, forbid_unknown_fields=True):
    """What a page wants a plan to be, and which one it has seen."""

    plan: Request
    dropped: list[str]
    revision: int


@dataclass(eq=False)
class OpenTable:
    """A file that is open."""

    name: str
    path: Path
    folder: Path  # its own, private
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    plan: Request = field(default_factory=Request)
    dropped: list[str] = field(default_factory=list)  # columns that are to be left out
    revision: int = 0
    is_example: bool = False  # nobody's data: the ledger need not know of it
    released: list[str] = field(default_factory=list)  # files written before
    trees: dict[str, Path] = field(default_factory=dict)
    jobs: dict[bytes, Job] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lanes = {name: Lane(self.folder) for name in LANES}
        self.inspected: dict[bytes, list[str]] = {}  # columns that were found, by how the table was read
        self.tasks: set[asyncio.Task[None]] = set()

    def to_json(self) -> dict[str, Any]:
        """What a page shows of it."""
        plan = msgspec.to_builtins(self.with_tree_names())
        running = [job.to_json() for job in self.jobs.values() if not job.over.is_set()]
        dropped = [name for name in self.dropped if self.has_column(name)]
        known = {"id": self.id, "name": self.name, "revision": self.revision, "dropped": dropped}
        source = "example" if self.is_example else "upload" if self.is_handed_over else "file"
        return known | {"source": source, "plan": plan, "running": running}

    def change(self, change: PlanChange) -> None:
        """Take a new plan, if nobody else changed it meanwhile."""
        self.check_revision(change.revision)
        check_plan(change.plan)
        axes = change.plan.axes.items()
        trees = {name: str(self.tree(axis.hierarchy)) for name, axis in axes if axis.hierarchy}
        self.plan, self.dropped, self.revision = with_trees(change.plan, trees), change.dropped, self.revision + 1

    def take_plan(self, plan: Request) -> None:
        """The plan of a user's own file, with copies of its hierarchies."""
        check_plan(plan)
        files = {name: Path(axis.hierarchy) for name, axis in plan.axes.items() if axis.hierarchy}
        if missing := [file for file in files.values() if not file.is_file()]:
            raise NoSuchFile(missing[0])
        names = {name: self.add_tree(file.name, file.read_bytes()) for name, file in files.items()}
        self.plan = with_trees(plan, {name: str(self.tree(tree)) for name, tree in names.items()})

    def check_revision(self, revision: int | None) -> None:
        """Whether a page speaks of the plan as it is now."""
        if revision not in (None, self.revision):
            raise Stale("The table was changed in another tab. It is shown here as it is now.")

    @property
    def columns(self) -> list[str] | None:
        """Those of the table as it is read now; None while nobody looked."""
        return self.inspected.get(msgspec.json.encode(self.plan.input))

    def has_column(self, name: str) -> bool:
        """Whether the table could have a column of this name."""
        return self.columns is None or name in self.columns

    def fit_plan(self) -> Request:
        """The plan without columns that the table has only when it is read otherwise."""
        columns = {role: tuple(filter(self.has_column, names)) for role, names in self.plan.columns.roles().items()}
        axes = {name: axis for name, axis in self.plan.axes.items() if self.has_column(name)}
        alone = self.plan.columns.rows_are_people
        return replace(self.plan, columns=Columns(**columns, rows_are_people=alone), axes=axes)

    def with_tree_names(self) -> Request:
        """The plan as a page knows it: hierarchies by name."""
        return name_trees(self.fit_plan())

    # -- hierarchies -----------------------------------------------------------------------------------

    def tree(self, name: str) -> Path:
        """A hierarchy that was handed in before."""
        if name not in self.trees:
            raise BadOption("hierarchy", "it is not known here. Import it again.")
        return self.trees[name]

    def add_tree(self, name: str, body: bytes) -> str:
        """Keep a hierarchy under a name of our own."""
        ending = PurePosixPath(name).suffix.lower()
        if ending not in TREES:
            raise unusable_value("hierarchy", f"Give a file that ends in {' or '.join(TREES)}.")
        path = self.folder / f"tree-{len(self.trees) + 1}{ending}"
        with refuse_disk_errors(Path(path.name)), open(path, "wb", opener=open_private) as file:
            file.write(body)
        self.trees[path.name] = path
        return path.name

    # -- the plan as a file ----------------------------------------------------------------------------

    def write_plan(self) -> str:
        """The plan as `kech --plan` reads it; hierarchies by name, for they lie beside it."""
        file = self.folder / "plan.toml"
        kech.write_request(self.fit_plan(), file)
        text = file.read_text("utf-8")
        file.unlink()
        return text

    def read_plan(self, body: bytes) -> Request:
        """The request in a plan that a page sends."""
        file = self.folder / "plan.toml"
        with refuse_disk_errors(Path(file.name)), open(file, "wb", opener=open_private) as handed:
            handed.write(body)
        try:
            return name_trees(kech.read_request(file))
        except KechError as refusal:
            refusal.args = (refusal.typed.replace(str(file), file.name),)  # a page never sees a path of the studio
            raise
        finally:
            file.unlink()

    # -- jobs ------------------------------------------------------------------------------------------

    def ask(self, verb: str, options: dict[str, Any]) -> Job:
        """Start a job; the same question again is the same job, unless it came to nothing or is to write once more."""
        if verb not in VERBS:
            raise unusable_value("verb", f"Choose among {', '.join(VERBS)}.")
        reads_all = VERBS[verb].reads_all_columns
        if not reads_all:
            self.check_roles()
        plan = Request(input=self.plan.input) if reads_all else self.fit_plan()
        question = {"verb": verb, "path": str(self.path), "name": self.name, "plan": plan, "options": options}
        key = msgspec.json.encode(question, order="deterministic")
        job = self.jobs.get(key)
        if job is not None and (not job.over.is_set() or (job.state == "done" and not VERBS[verb].writes)):
            return job
        self.forget_old()
        self.jobs[key] = job = Job(verb, key, READING if reads_all else WORKING)
        self.begin(self.run(job, msgspec.json.encode(plan.input)))
        if verb in NEXT_LANES:  # what a page asks next finds a child that has started
            self.begin(self.lanes[NEXT_LANES[verb]].warm())
        return job

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Work on something beside the others, until the table is closed."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def read_cells(self, rows: list[int]) -> Job:
        """Some rows as they are read: asked so often that no answer is kept."""
        plan = Request(input=self.plan.input)
        question = {"verb": "cells", "path": str(self.path), "name": self.name, "plan": plan, "options": {"rows": rows}}
        job = Job("cells", msgspec.json.encode(question), READING)
        await self.lane(job).run(job)
        return job

    async def run(self, job: Job, options: bytes) -> None:
        """Have a job done; an inspection tells which columns must have a role, a release what was written."""
        await self.lane(job).run(job)
        if job.state == "done" and job.verb == "inspect":
            self.inspected[options] = [column["column"] for column in msgspec.json.decode(job.body)["columns"]]
        if job.state == "done" and job.verb == "release":
            self.released = [*self.released, msgspec.json.decode(job.body)["file"]]

    def release(self, options: dict[str, Any]) -> Job:
        """Start a release, and say which command does the same, into another folder: none is written twice.

        The ledger compares that one with what is written now, and needs its file.
        """
        job, folder = self.ask("release", options), options["folder"]
        words = ["kech", "release", self.typed_path, "-o", options["file"], "--folder", f"{folder}-again"]
        words += ["--plan", str(Path(folder, "kech.toml"))]
        words += ["--allow-composition"] * options["allow_composition"] + ["--no-ledger"] * (not options["ledger"])
        earlier = [*options["earlier"], *[str(Path(folder, options["file"]))] * options["ledger"]]
        job.command = shlex.join([*words, *(word for file in earlier for word in ("--earlier", file))])
        return job

    def publish(self, options: dict[str, Any]) -> Job:
        """Start the next version of a series, and say which command does the same."""
        axes = {name: axis.hierarchy for name, axis in self.plan.axes.items() if axis.hierarchy}
        job = self.ask("publish", options | {"hierarchies": axes, "ledger": not self.is_example})
        words = ["kech", "release", self.typed_path, "--series", options["series"], "-o", options["file"]]
        shares = {"--wait": options["wait"], "--most-changed": options["most_changed"]}
        words += [word for name, share in shares.items() if share is not None for word in (name, str(share))]
        job.command = shlex.join(words)
        return job

    @property
    def is_handed_over(self) -> bool:
        """Whether its file is a copy of the studio's own, which goes with the studio."""
        return self.path.parent == self.folder

    @property
    def typed_path(self) -> str:
        """The file in a command: by its whole path, or by the name it had where it was handed over."""
        if not self.is_handed_over:
            return str(self.path)
        return f"./{self.name}" if self.name.startswith("-") else self.name

    def list_earlier(self) -> list[str]:
        """The files of earlier releases that are still there."""
        return [file for file in self.released if Path(file).is_file()]

    def check_roles(self) -> None:
        """Refuse to go on while a column has no role."""
        roles, columns = self.fit_plan().columns, self.columns or []
        with_role = {*self.dropped, *(name for names in roles.roles().values() for name in names)}
        unknown = [name for name in columns if name not in with_role]
        if unknown or not columns:
            raise UsageError(f"Columns without a role: {len(unknown) or 'all'}. Give every column a role first.")
        if not roles.quasi_identifiers:
            raise NoQuasiIdentifier

    def lane(self, job: Job) -> Lane:
        """The child process that answers a job."""
        return self.lanes[VERBS[job.verb].lane]

    def forget_old(self) -> None:
        """Keep the latest answers only."""
        over = [key for key, job in self.jobs.items() if job.over.is_set()]
        for key in over[: max(0, len(self.jobs) - MOST_JOBS + 1)]:
            del self.jobs[key]

    def job(self, name: str) -> Job | None:
        """A job by its name, unless it is forgotten."""
        return next((job for job in self.jobs.values() if job.id == name), None)

    def cancel(self, job: Job) -> None:
        """Stop a job."""
        self.lane(job).cancel(job)

    async def close(self) -> None:
        """End its children and forget its files."""
        for job in self.jobs.values():
            self.cancel(job)
        await asyncio.gather(*self.tasks)
        await asyncio.gather(*(lane.close() for lane in self.lanes.values()))
        shutil.rmtree(self.folder, ignore_errors=True)


def check_plan(plan: Request) -> None:
    """Refuse what a plan may say and the studio does not take."""
    if plan.columns.hierarchies or plan.labels.key_file or plan.limits != Limits():
        raise BadOption("plan", "the studio takes a hierarchy for each column. Omit other files and limits.")


def name_trees(plan: Request) -> Request:
    """A plan with its hierarchies by name."""
    return with_trees(plan, {name: Path(axis.hierarchy).name for name, axis in plan.axes.items() if axis.hierarchy})


def with_trees(plan: Request, trees: Mapping[str, str]) -> Request:
    """A plan that names the hierarchy of each column otherwise."""
    axes = {name: replace(axis, hierarchy=trees.get(name)) for name, axis in plan.axes.items()}
    return replace(plan, axes=axes)


def describe_release(certificate: Path) -> dict[str, Any] | None:
    """What a page lists of a release: its files, and what its certificate says; nothing of any other file."""
    try:
        document = msgspec.json.decode(certificate.read_bytes())
        names = [certificate.name.removesuffix(BESIDE), certificate.name, *COMPANIONS]
        return {
            "files": [name for name in names if (certificate.parent / name).is_file()],
            "when": certificate.stat().st_mtime,
            "k": document["claims"]["k"],
            "rows": document["claims"]["rows"],
            "is_stated": "stated" in document,  # of people, whom no file shows: k counts rows
        }
    except (OSError, ValueError, LookupError, TypeError):
        return None


class Workspace:
    """All open tables; uploads live in a private folder that goes with the studio."""

    def __init__(self, target: Path) -> None:
        self.target = target.resolve()  # releases are written below it
        self.folder, handle = claim_folder()
        self._finalizer = weakref.finalize(self, remove_folder, self.folder, handle)  # also if the server is killed
        self.tables: dict[str, OpenTable] = {}
        self.addressed: dict[str, Path] = {}  # reports that are opened next, each by a secret word
        self.coming: set[Path] = set()  # folders of tables that are not whole yet

    def __iter__(self) -> Iterator[OpenTable]:
        return iter(self.tables.values())

    @contextmanager
    def own_folder(self, name: str) -> Iterator[Path]:
        """A folder for one table, whose name is taken from now on; it is gone again if the table does not come."""
        folder = self.folder / secrets.token_hex(6)
        self.coming.add(folder)
        try:
            if len(self.tables) + len(self.coming) > MOST_TABLES:
                raise UsageError(f"{MOST_TABLES} tables are open. Close one of them first.")
            with refuse_disk_errors(Path(name)):
                folder.mkdir(mode=0o700)
                yield folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            self.coming.discard(folder)

    def add(self, name: str, path: Path, folder: Path) -> OpenTable:
        """Open a file."""
        table = OpenTable(name, path, folder)
        self.tables[table.id] = table
        return table

    def open_file(self, path: Path, plan: Path | None = None) -> OpenTable:
        """A file of the user's own, named on the command line, and its plan; it is read where it is."""
        with self.own_folder(str(path)) as folder:
            table = self.add(str(path), path.absolute(), folder)
            if plan is not None:
                table.take_plan(kech.read_request(plan))
            return table

    def open_example(self, name: str) -> OpenTable:
        """A made-up table."""
        file, make = EXAMPLES[name]
        with self.own_folder(file) as folder:
            table = self.add(file, write_csv(make(), folder / file), folder)
        table.is_example = True
        return table

    async def take_upload(self, name: str, chunks: AsyncIterator[bytes]) -> OpenTable:
        """A file that was dropped on a page; its name is shown, and only its ending is used."""
        ending = PurePosixPath(name).suffix.lower()
        if ending not in READ_FORMATS or not 0 < len(name) <= LONGEST_NAME:
            raise UnreadableFile(
                name[:LONGEST_NAME], f"its ending is unknown. Use a file that ends in {', '.join(READ_FORMATS)}."
            )
        with self.own_folder(name) as folder:
            path = folder / f"table{ending}"
            with open(path, "xb", opener=open_private) as file:
                async for chunk in chunks:
                    file.write(chunk)
            return self.add(PurePosixPath(name).name, path, folder)

    def resolve_folder(self, name: str) -> Path:
        """The folder a release goes to: one that the user named, below the folder of the studio."""
        parts = PurePosixPath(name).parts
        plain = all(part.isprintable() and not part.startswith(".") and "\\" not in part for part in parts)
        if not parts or not plain or len(name) > LONGEST_NAME or PurePosixPath(name).is_absolute():
            raise BadTarget(
                name[:LONGEST_NAME],
                "this name cannot be used. Use letters, digits and dashes; do not begin with a dot or /.",
            )
        try:
            path = self.target.joinpath(*parts).resolve()
            taken = path.exists() and not path.is_dir()
        except (OSError, RuntimeError):  # a name that is too long, a link to itself
            raise BadTarget(name, "no folder can have this name here. Choose another name.") from None
        if not path.is_relative_to(self.target) or path == self.target:
            raise BadTarget(name, "it lies outside the folder of the studio. Choose another name.")
        if taken:
            raise BadTarget(name, "a file has this name. Choose another name.")
        return path

    def list_releases(self) -> list[dict[str, Any]]:
        """The releases in the folder of the studio, the latest first."""
        with suppress(OSError):
            written = {Path(file + BESIDE) for table in self for file in table.list_earlier()}  # also in deeper folders
            files = sorted({*self.target.glob(f"*/*{BESIDE}"), *written}, key=lambda file: -file.stat().st_mtime)
            entries = [(file.parent.relative_to(self.target), describe_release(file)) for file in files[:MOST_LISTED]]
            return [entry | {"folder": folder.as_posix()} for folder, entry in entries if entry]
        return []

    def find_file(self, folder: str, name: str) -> Path:
        """A file of a release below the folder of the studio."""
        path = self.resolve_folder(folder)
        entries = [describe_release(certificate) for certificate in path.glob(f"*{BESIDE}")]
        if not any(entry and name in entry["files"] for entry in entries):
            raise BadTarget(name, "no release of this folder has such a file. Choose one of the list.")
        return path / name

    def address_report(self, report: Path) -> str:
        """A secret word that names a report once, since a new tab sends no header."""
        if report.name != COMPANIONS[0]:
            raise BadTarget(report.name, "only a report has a page of its own. Save the file.")
        word, waiting = secrets.token_urlsafe(32), list(self.addressed.items())
        self.addressed = dict([*waiting[1 - MOST_ADDRESSED :], (word, report)])
        return word

    def open_report(self, word: str) -> Path | None:
        """The report that a word names, once."""
        return self.addressed.pop(word, None)

    def list_series(self) -> list[str]:
        """The series in the folder of the studio, by the names of their folders."""
        with suppress(OSError):
            return sorted(path.parent.name for path in self.target.glob(f"*/{SERIES_FILE}"))
        return []

    def describe_series(self, name: str) -> dict[str, Any]:
        """Versions of a series, and the lives of its cohorts; those of equal life together."""
        series = kech.open_series(self.resolve_folder(name))
        lives: dict[tuple[int, ...], Counter[str]] = defaultdict(Counter)
        for life in series.lives():
            lives[life.versions].update(cohorts=1, rows=life.rows)
        bars = [{"versions": list(versions), **counts} for versions, counts in sorted(lives.items())]
        return series.to_json() | {"name": name, "lives": bars}

    def draw_series(self, name: str) -> dict[str, Any]:
        """The lives of the cohorts of a series as bars over its versions: `kech zigzag --series --plot`."""
        lives = kech.compute_lives(kech.open_series(self.resolve_folder(name)))
        with TemporaryDirectory(dir=self.folder) as folder:
            lives.plot(file := Path(folder, "lives.svg"))
            return {"private": True, "svg": file.read_text("utf-8")}

    async def forget(self, table: OpenTable) -> None:
        """Close one table."""
        self.tables.pop(table.id, None)
        await table.close()

    async def close(self) -> None:
        """Close all tables and remove every file that was handed in."""
        for table in list(self.tables.values()):
            await self.forget(table)
        self._finalizer()

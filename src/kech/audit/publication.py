"""Publication: a release with all that goes with it, in a folder of its own, written whole or not at all.

In: a release.  Out: the table, its certificate, a report, the plan, and the word of the checker.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from kech.audit.verification import verify_release
from kech.errors import BadOption, BadTarget, check_path
from kech.release.admission import AdmissionOptions
from kech.release.ledger import open_ledger
from kech.release.plan import write_request
from kech.release.release import Release
from kech.request import Limits, Request
from kech.system.files import draft_folder, put_folder_in_place, refuse_disk_errors

PLAN, PAGE, PRIVATE = "kech.toml", "report.html", "private"


@dataclass(frozen=True, slots=True)
class Publication:
    """What was written, and what the checker recomputed from the file alone."""

    released: dict[str, Any]
    verified: dict[str, Any]
    report: Path
    plan: Path
    private: tuple[Path, ...]  # hierarchies of the plan: they hold values of the table

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_publication

        return show_publication(self)

    def to_json(self) -> dict[str, Any]:
        """The object `kech release --folder --json` prints."""
        files = {"report": str(self.report), "plan": str(self.plan), "private": list(map(str, self.private))}
        return self.released | {"verified": self.verified} | files


def publish_release(
    release: Release,
    folder: str | PathLike[str],
    name: str,
    *,
    ledger: bool = True,
    earlier: Sequence[str | PathLike[str]] = (),
    allow_composition: bool = False,
) -> Publication:
    """Write the table into a new folder, with its certificate, its report and the plan that makes it again.

    The written file is verified before anything is put in place: a refusal leaves neither a file nor a line in the
    ledger.  Hierarchies that the plan names are copied to `private`, where only their owner can read them.
    """
    from kech.views.report import make_report

    if not isinstance(release, Release):
        raise BadOption(
            "release", f"its type is {type(release).__name__}. Make one first: kech.make_release(table, k=5)."
        )
    check_path(folder, "folder")
    check_path(name, "name")
    if ledger:
        open_ledger().recover()  # from a killed run, even where this one is refused
    target_folder = check_folder(Path(folder), name)
    with refuse_disk_errors(target_folder), draft_folder(target_folder) as draft:
        file, target = draft / name, target_folder / name
        private = [target_folder / kept.relative_to(draft) for kept in keep_plan(release.request, draft)]
        beside = [path for path in target_folder.parent.iterdir() if path.is_dir()]
        known = open_ledger() if ledger else None
        terms = AdmissionOptions(known, earlier, allow_composition, folders=beside)
        release = release.with_price()
        certificate = release.write_file(file, None, None, terms, within=draft)
        with strike_unless_done(draft, ledger):
            verified = {"file": str(target), "holds": True, **verify_release(file)}
            make_report(file, plan=draft / PLAN).write(draft / PAGE)
            put_folder_in_place(draft, target_folder)
    if ledger:
        open_ledger().recover()
    return Publication(
        release.summarize(target, certificate), verified, target_folder / PAGE, target_folder / PLAN, tuple(private)
    )


def check_folder(folder: Path, name: str) -> Path:
    """A folder that is new or empty, and a name for a file in it."""
    if Path(name).name != name or name in (PLAN, PAGE, PRIVATE):
        raise BadTarget(
            name, "this is no name of a file. Name a file in the folder, such as people.csv, without a path."
        )
    with refuse_disk_errors(folder):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadTarget(folder.name, "the folder is not empty. Name another folder.")
    return folder


def keep_plan(request: Request, folder: Path) -> list[Path]:
    """The plan that makes the release again, and copies of the hierarchies it names; nothing of the owner's machine."""
    private, columns = folder / PRIVATE, request.columns
    axes = {
        name: replace(axis, hierarchy=str(copy_private(Path(axis.hierarchy), private))) if axis.hierarchy else axis
        for name, axis in request.axes.items()
    }
    if columns.hierarchies:
        for file in filter(Path.is_file, sorted(Path(columns.hierarchies).iterdir())):
            copy_private(file, private / "hierarchies")
        columns = replace(columns, hierarchies=str(private / "hierarchies"))
    labels, limits = replace(request.labels, key_file=None), Limits(max_points=request.limits.max_points)
    plan = replace(request, columns=columns, axes=axes, labels=labels, limits=limits)
    write_request(plan, folder / PLAN)
    return sorted(filter(Path.is_file, private.rglob("*")))


def copy_private(file: Path, folder: Path) -> Path:
    """A copy that only its owner can read, under a name of its own."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    copy, number = folder / file.name, 1
    while copy.exists():
        number += 1
        copy = folder / f"{file.stem}-{number}{file.suffix}"
    copy.touch(mode=0o600)
    return shutil.copyfile(file, copy)


@contextmanager
def strike_unless_done(draft: Path, ledger: bool) -> Iterator[None]:
    """A release that was never handed out does not stay in the ledger."""
    try:
        yield
    except BaseException:
        if ledger:
            open_ledger().strike_draft(draft)
        raise

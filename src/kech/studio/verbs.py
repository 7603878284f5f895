"""Verbs: what a page can ask of a table, each one call of the public library, answered as the command line would.

In: a plan, the path of a table and options.  Out: an object for JSON.
"""

import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Any

import msgspec

import kech
from kech.errors import BadTarget
from kech.files import clear_refusals, folder_aside, put_folder_in_place
from kech.plan import Plan
from kech.studio.options import (
    BarcodeOptions,
    HierarchyOptions,
    LatticeOptions,
    NodeOptions,
    Options,
    PlaneOptions,
    ReleaseOptions,
    SpectrumOptions,
    ZigzagOptions,
)

PLAN, PAGE = "kech.toml", "report.html"
ROWS = 10  # of a preview
MOST_BARS = 50_000  # that a page is given
MOST_KEPT = 8  # structures of a table kept for the next question


@dataclass
class Sitting:
    """A table that is open, and what was computed from it."""

    path: str
    plan: Plan
    table: kech.Table
    kept: dict[str, Any] = field(default_factory=dict)

    def keep(self, name: str, compute: Callable[[], Any]) -> Any:
        """Compute once; the oldest structure is forgotten first."""
        if name not in self.kept:
            while len(self.kept) >= MOST_KEPT:
                del self.kept[next(iter(self.kept))]
            self.kept[name] = compute()
        return self.kept[name]

    def barcode(self, max_dimension: int = 0) -> kech.WeightedBarcode:
        """The barcode of exact values."""
        dimension = max_dimension if all(find_spec(name) for name in ("ripser", "scipy")) else 0
        return self.keep(  # type: ignore[no-any-return]
            f"barcode {dimension}", lambda: kech.compute_barcode(self.table, max_dimension=dimension)
        )

    def lattice(self) -> kech.GeneralizationLattice:
        """The lattice on the grid of the plan."""
        grid = self.plan.release.grid
        return self.keep(f"lattice {grid}", lambda: kech.compute_lattice(self.table, grid=grid))  # type: ignore[no-any-return]

    def release(self, **others: Any) -> kech.Release:
        """The release as it is planned, with other goals where they are named."""
        goals = msgspec.structs.asdict(self.plan.release) | others
        return self.keep(f"release {goals}", lambda: kech.make_release(self.table, **goals))  # type: ignore[no-any-return]

    def is_for(self, path: str, plan: Plan) -> bool:
        """Whether a table read by another plan would be this one."""
        parts = ("table", "roles", "axes", "hierarchies")
        return self.path == path and all(getattr(self.plan, part) == getattr(plan, part) for part in parts)


def sit_down(path: str, plan: Plan, before: Sitting | None) -> Sitting:
    """Open a table, or stay with the one that is open where the plan reads it alike."""
    if before is not None and before.is_for(path, plan):
        before.plan = plan
        return before
    found = Sitting(path, plan, plan.read_table(path))  # a refusal leaves the other table open
    if before is not None:
        before.table.close()
    return found


# -- the verbs ---------------------------------------------------------------------------------------------


def inspect(sitting: Sitting, asked: Options) -> dict[str, Any]:
    """`kech inspect`."""
    del asked
    return kech.inspect_table(sitting.table).to_json() | {"plan": None}


def head(sitting: Sitting, asked: Options) -> dict[str, Any]:
    """The first rows, as they are read."""
    del asked
    return {"private": True, "columns": list(sitting.table.loaded), "rows": sitting.table.head(ROWS)}


def hierarchy(sitting: Sitting, asked: HierarchyOptions) -> dict[str, Any]:
    """`kech hierarchy`."""
    given = asked.source or (None if asked.kind else axis_file(sitting.plan, asked.column))
    found = kech.review_hierarchy(
        sitting.table,
        asked.column,
        kind=asked.kind,
        source=given,
        pad=asked.pad,
        grid=sitting.plan.release.grid,
    )
    return found.to_json() | {"file": None}


def spectrum(sitting: Sitting, asked: SpectrumOptions) -> dict[str, Any]:
    """`kech spectrum`."""
    goals = msgspec.structs.asdict(sitting.plan.release)
    goals |= {"k": asked.k, "cut": asked.cut or goals["cut"], "effort": asked.effort or goals["effort"]}
    del goals["eps"], goals["labels"]
    if asked.cut == ["regime"]:  # it publishes every row, whatever the plan lets the others leave out
        goals["suppress"] = 0.0
    return kech.compute_spectrum(sitting.table, **goals).to_json() | {"plot": None, "effort": goals["effort"]}


def barcode(sitting: Sitting, asked: BarcodeOptions) -> dict[str, Any]:
    """`kech barcode`."""
    return shorten(sitting.barcode(asked.max_dimension).to_json(asked.k) | {"plot": None})


def lattice(sitting: Sitting, asked: LatticeOptions) -> dict[str, Any]:
    """`kech lattice`."""
    return sitting.lattice().to_json(asked.k, sitting.plan.release.suppress)


def node(sitting: Sitting, asked: NodeOptions) -> dict[str, Any]:
    """One node of the lattice, and those one step above and below it."""
    found = sitting.lattice()
    levels = list(found.check(asked.levels))

    def step(j: int, by: int) -> list[int]:
        return [level + by * (at == j) for at, level in enumerate(levels)]

    heights = found.heights
    return {
        "private": True,
        "columns": list(found.columns),
        "heights": list(heights),
        "node": figures_of(found, levels),
        "up": [figures_of(found, step(j, 1)) for j, height in enumerate(heights) if levels[j] + 1 < height],
        "down": [figures_of(found, step(j, -1)) for j in range(len(heights)) if levels[j]],
    }


def figures_of(found: kech.GeneralizationLattice, levels: list[int]) -> dict[str, Any]:
    """What a node costs and gives."""
    classes, k, loss = found.classes_of(levels), found.k_of(levels), found.loss_of(levels)
    return {"levels": levels, "k": k, "classes": classes, "loss": loss}


def zigzag(sitting: Sitting, asked: ZigzagOptions) -> dict[str, Any]:
    """`kech zigzag`."""
    found = kech.compute_zigzag(sitting.table, asked.path, grid=sitting.plan.release.grid).to_json(asked.k)
    return shorten(found | {"plot": None})


def shorten(found: dict[str, Any]) -> dict[str, Any]:
    """Only the longest of too many bars; a page could not draw more."""
    extra = len(found["bars"]) - MOST_BARS
    if extra <= 0:
        return found
    lengths = [inf if bar["death"] is None else bar["death"] - bar["birth"] for bar in found["bars"]]
    kept = sorted(range(len(lengths)), key=lengths.__getitem__)[extra:]
    return found | {"bars": [found["bars"][i] for i in sorted(kept)], "bars_left_out": extra}


def plane(sitting: Sitting, asked: PlaneOptions) -> dict[str, Any]:
    """Points and class boxes on two columns."""
    if asked.eps is None:
        effort = "quick" if asked.cut in ("local", "minimal") else None
        made = sitting.release(k=asked.k, cut=asked.cut, eps=None, effort=effort)
        return kech.compute_plane(made, asked.x, asked.y).to_json()
    return kech.compute_plane(sitting.barcode(), asked.x, asked.y, eps=asked.eps).to_json()


def outlook(sitting: Sitting, asked: Options) -> dict[str, Any]:
    """What the planned release would do."""
    del asked
    return kech.compute_outlook(sitting.release(), rows=ROWS).to_json()


def release(sitting: Sitting, asked: ReleaseOptions) -> dict[str, Any]:
    """`kech release`, `kech verify` and `kech report`; the plan and its hierarchies are written beside the table.

    All of it is written aside and put in place at once: a refusal leaves neither a file nor a line in the ledger.
    """
    folder, target = Path(asked.folder), Path(asked.folder, asked.file)
    made, before = sitting.release(), listed_releases(asked.ledger)
    with clear_refusals(folder):
        if folder.exists() and any(folder.iterdir()):
            raise BadTarget(folder.name, "the folder is not empty. Name another folder.")
        with folder_aside(folder) as draft:
            private = [str(folder / file.relative_to(draft)) for file in write_plan(sitting.plan, draft)]
            certificate = made.write(
                draft / asked.file,
                ledger=asked.ledger,
                earlier=asked.earlier,
                allow_composition=asked.allow_composition,
            )
            with struck_unless_done(certificate["file"]["sha256"], asked.ledger, before):
                verified = {"file": str(target), "holds": True, **kech.verify_release(draft / asked.file)}
                kech.make_report(draft / asked.file, plan=draft / PLAN).write(draft / PAGE)
                put_folder_in_place(draft, folder)
    return {
        "release": made.told(target, certificate),
        "verified": verified,
        "plan": str(folder / PLAN),
        "report": str(folder / PAGE),
        "private": private,
        "commands": shell_lines(asked, target, folder / PLAN, folder / PAGE),
    }


def listed_releases(ledger: bool) -> set[str]:
    """Hashes of the files that the ledger knows."""
    return {entry["release"] for entry in kech.open_ledger().listed()} if ledger else set()


@contextmanager
def struck_unless_done(release: str, ledger: bool, before: set[str]) -> Iterator[None]:
    """A release that was never handed out does not stay in the ledger, unless the same file was handed out before."""
    try:
        yield
    except BaseException:
        if ledger and release not in before:
            kech.open_ledger().forget(release)
        raise


def shell_lines(asked: ReleaseOptions, target: Path, plan: Path, page: Path) -> list[str]:
    """The command lines that do the same."""
    more = [*(["--allow-composition"] * asked.allow_composition), *(["--no-ledger"] * (not asked.ledger))]
    more += [word for file in asked.earlier for word in ("--earlier", file)]
    lines = [
        ["kech", "release", asked.table, "-o", str(target), "--plan", str(plan), *more],
        ["kech", "verify", str(target)],
        ["kech", "report", str(target), "--plan", str(plan), "-o", str(page)],
    ]
    return [shlex.join(words) for words in lines]


def write_plan(plan: Plan, folder: Path) -> list[Path]:
    """The plan, and copies of the hierarchies it names: they hold raw values, and only their owner can read them."""
    copy, private = msgspec.convert(msgspec.to_builtins(plan), Plan), folder / "private"
    for axis in copy.axes.values():
        if axis.hierarchy:
            private.mkdir(mode=0o700, exist_ok=True)
            place = private / Path(axis.hierarchy).name
            place.touch(mode=0o600)
            axis.hierarchy = str(shutil.copyfile(axis.hierarchy, place))
    copy.write(folder / PLAN)
    return sorted(private.iterdir()) if private.exists() else []


def axis_file(plan: Plan, column: str) -> str | None:
    """The hierarchy that a plan names for a column."""
    return plan.axes[column].hierarchy if column in plan.axes else None


@dataclass(frozen=True, slots=True)
class Verb:
    """How a question is asked."""

    answer: Callable[[Sitting, Any], dict[str, Any]]
    options: type[Options] = Options
    whole: bool = False  # reads all columns: roles need not be known
    slow: bool = False  # has a child process of its own, so that quick questions do not wait for it


VERBS = {
    "inspect": Verb(inspect, whole=True),
    "head": Verb(head, whole=True),
    "hierarchy": Verb(hierarchy, HierarchyOptions),
    "spectrum": Verb(spectrum, SpectrumOptions, slow=True),
    "barcode": Verb(barcode, BarcodeOptions),
    "lattice": Verb(lattice, LatticeOptions),
    "node": Verb(node, NodeOptions),
    "zigzag": Verb(zigzag, ZigzagOptions, slow=True),
    "plane": Verb(plane, PlaneOptions),
    "outlook": Verb(outlook),
    "release": Verb(release, ReleaseOptions),
}

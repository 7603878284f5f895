"""Verbs: what a page can ask of a table, each one call of the public library, answered as the command line would.

In: a plan, the path of a table and options.  Out: an object for JSON.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import kech
from kech.request import Request
from kech.studio.options import (
    BarcodeOptions,
    HierarchyOptions,
    InspectOptions,
    LatticeOptions,
    Options,
    PreviewOptions,
    ReleaseOptions,
    SpectrumOptions,
    ZigzagOptions,
)

MOST_BARS = 50_000  # that a page is given
MOST_KEPT = 8  # structures of a table kept for the next question


@dataclass
class Sitting:
    """A table that is open, and what was computed from it."""

    path: str
    plan: Request
    table: kech.Table
    kept: dict[str, Any] = field(default_factory=dict)

    def keep(self, name: str, compute: Callable[[], Any]) -> Any:
        """Compute once; the oldest structure is forgotten first."""
        if name not in self.kept:
            while len(self.kept) >= MOST_KEPT:
                del self.kept[next(iter(self.kept))]
            self.kept[name] = compute()
        return self.kept[name]

    def barcode(self, max_dimension: int = 0, field: int = 2) -> kech.WeightedBarcode:
        """The barcode of exact values."""
        dimension = max_dimension if all(find_spec(name) for name in ("ripser", "scipy")) else 0
        return self.keep(  # type: ignore[no-any-return]
            f"barcode {dimension} {field}",
            lambda: kech.compute_barcode(self.table, max_dimension=dimension, field=field),
        )

    def lattice(self) -> kech.GeneralizationLattice:
        """The lattice on the grid of the plan."""
        grid = self.plan.labels.grid
        return self.keep(f"lattice {grid}", lambda: kech.compute_lattice(self.table, grid=grid))  # type: ignore[no-any-return]

    def release(self, **others: Any) -> kech.Release:
        """The release as it is planned, with other goals where they are named."""
        asked = self.plan.override(**others)
        return self.keep(f"release {asked}", lambda: kech.make_release(self.table, asked))  # type: ignore[no-any-return]

    def is_for(self, path: str, plan: Request) -> bool:
        """Whether a table read by another plan would be this one."""
        parts = ("reading", "columns", "axes", "limits")
        return self.path == path and all(getattr(self.plan, part) == getattr(plan, part) for part in parts)


def sit_down(path: str, plan: Request, before: Sitting | None) -> Sitting:
    """Open a table, or stay with the one that is open where the plan reads it alike."""
    if before is not None and before.is_for(path, plan):
        before.plan = plan
        return before
    found = Sitting(path, plan, kech.read_table(path, plan))  # a refusal leaves the other table open
    if before is not None:
        before.table.close()
    return found


# -- the verbs ---------------------------------------------------------------------------------------------


def inspect(sitting: Sitting, asked: InspectOptions) -> dict[str, Any]:
    """`kech inspect`."""
    return kech.inspect_table(sitting.table, rows=asked.rows, as_read=True).to_json() | {"plan": None}


def hierarchy(sitting: Sitting, asked: HierarchyOptions) -> dict[str, Any]:
    """`kech hierarchy`."""
    found = kech.review_hierarchy(
        sitting.table,
        asked.column,
        kind=asked.kind,
        source=asked.source,
        pad=asked.pad,
        grid=sitting.plan.labels.grid,
    )
    return found.to_json() | {"file": None}


def spectrum(sitting: Sitting, asked: SpectrumOptions) -> dict[str, Any]:
    """`kech spectrum`."""
    regime = asked.cut == ["regime"]  # it publishes every row, whatever the plan lets the others leave out
    fields: dict[str, Any] = {"effort": asked.effort, "suppress": 0.0 if regime else None}
    found = kech.compute_spectrum(sitting.table, sitting.plan, k=asked.k, cut=asked.cut or None, **fields)
    return found.to_json() | {"plot": None, "effort": asked.effort or sitting.plan.cut.effort}


def barcode(sitting: Sitting, asked: BarcodeOptions) -> dict[str, Any]:
    """`kech barcode`."""
    return sitting.barcode(asked.max_dimension, asked.field).to_json(asked.k, longest=MOST_BARS) | {"plot": None}


def lattice(sitting: Sitting, asked: LatticeOptions) -> dict[str, Any]:
    """`kech lattice`."""
    found = sitting.lattice()
    return found.neighbours(asked.node) if asked.node else found.to_json(asked.k, sitting.plan.cut.suppress)


def zigzag(sitting: Sitting, asked: ZigzagOptions) -> dict[str, Any]:
    """`kech zigzag`."""
    found = kech.compute_zigzag(sitting.table, asked.path, grid=sitting.plan.labels.grid)
    return found.to_json(asked.k, longest=MOST_BARS) | {"plot": None}


def preview(sitting: Sitting, asked: PreviewOptions) -> dict[str, Any]:
    """`kech preview`."""
    if asked.radius is None:
        seen: kech.Release | kech.WeightedBarcode = sitting.release(k=asked.k, cut=asked.cut, effort=asked.effort)
    else:
        seen = sitting.barcode()
    found = kech.compute_preview(seen, on=asked.on, eps=asked.radius, rows=asked.rows)
    return found.to_json() | {"plot": None}


def release(sitting: Sitting, asked: ReleaseOptions) -> dict[str, Any]:
    """`kech release --folder`."""
    return kech.publish_release(
        sitting.release(),
        asked.folder,
        asked.file,
        ledger=asked.ledger,
        earlier=asked.earlier,
        allow_composition=asked.allow_composition,
    ).to_json()


@dataclass(frozen=True, slots=True)
class Verb:
    """How a question is asked."""

    answer: Callable[[Sitting, Any], dict[str, Any]]
    options: type[Options] = Options
    whole: bool = False  # reads all columns: roles need not be known
    slow: bool = False  # has a child process of its own, so that quick questions do not wait for it


VERBS = {
    "inspect": Verb(inspect, InspectOptions, whole=True),
    "hierarchy": Verb(hierarchy, HierarchyOptions),
    "spectrum": Verb(spectrum, SpectrumOptions, slow=True),
    "barcode": Verb(barcode, BarcodeOptions),
    "lattice": Verb(lattice, LatticeOptions),
    "zigzag": Verb(zigzag, ZigzagOptions, slow=True),
    "preview": Verb(preview, PreviewOptions),
    "release": Verb(release, ReleaseOptions),
}

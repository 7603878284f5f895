"""Verbs: what a page can ask of a table, each one call of the public library, answered as the command line would.

In: a plan, the path of a table and options.  Out: an object for JSON.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

import kech
from kech.errors import BadOption, unusable_value
from kech.release.announcing import announce_regimes
from kech.release.identifying import find_identifying_together
from kech.release.rows import count_crowds, describe_classes, find_class_of_rows
from kech.release.sharing import weigh_shared_values
from kech.request import Request
from kech.request.parts import USUAL_K
from kech.studio.icicle import build_icicle
from kech.studio.options import (
    BarcodeOptions,
    CellsOptions,
    ClassesOptions,
    HierarchyOptions,
    InspectOptions,
    KOptions,
    LatticeOptions,
    PictureOptions,
    PreviewOptions,
    PublishOptions,
    ReleaseOptions,
    SpectrumOptions,
    VerbOptions,
    ZigzagOptions,
)
from kech.tables.source import DIALECT

MOST_BOUNDED = 20_000  # rows: below, the bound of a loss takes half a second
MOST_BARS = 50_000  # that a page is given
MOST_KEPT = 24  # structures of a table kept for the next question
MOST_CUT = 300_000  # points that are cut for the pictures of profiles and barcodes: 8 s of CPU

Shape = TypeVar("Shape", kech.Profile, kech.WeightedBarcode)


@dataclass
class TableSession:
    """A table that is open, and what was computed from it."""

    path: str
    plan: Request
    table: kech.Table
    kept: dict[str, Any] = field(default_factory=dict)

    def keep(self, name: str, compute: Callable[[], Any]) -> Any:
        """The cached result of a computation; the oldest one is dropped first."""
        if name not in self.kept:
            while len(self.kept) >= MOST_KEPT:
                del self.kept[next(iter(self.kept))]
            self.kept[name] = compute()
        return self.kept[name]

    def barcode(
        self, max_dimension: int | None = 0, field: int = 2, grid: str | float = "exact"
    ) -> kech.WeightedBarcode:
        """The barcode on a grid; where no dimension is named, with the holes that are found quickly."""
        dimension = max_dimension if max_dimension is None or find_spec("ripser") else 0
        return self.keep(  # type: ignore[no-any-return]
            f"barcode {dimension} {field} {grid}",
            lambda: kech.compute_barcode(self.table, max_dimension=dimension, field=field, grid=grid),
        )

    def lattice(self) -> kech.GeneralizationLattice:
        """The lattice on the grid of the plan."""
        grid = self.plan.labels.grid
        return self.keep(f"lattice {grid}", lambda: kech.compute_lattice(self.table, grid=grid))  # type: ignore[no-any-return]

    def profile(self) -> kech.Profile:
        """The profile of exact values; of a table that is not large, with what the cuts reach."""
        return self.keep("profile", self.compute_profile)  # type: ignore[no-any-return]

    def compute_profile(self) -> kech.Profile:
        """The profile, with what the cuts reach at round k, and the columns that isolate rows at a usual one."""
        profile = kech.compute_profile(self.table)
        marked = mark_cuts(profile, profile.choose_ks(None), self.table.threads)
        marked.advise(min(USUAL_K, marked.largest_k))
        return marked

    def barcode_at(self, k: int) -> kech.WeightedBarcode:
        """The barcode; of a table that is not large, with what the cuts reach at k."""
        return self.keep(f"barcode at {k}", lambda: mark_cuts(self.barcode(None), [k], self.table.threads))  # type: ignore[no-any-return]

    def announce(self, barcode: kech.WeightedBarcode, k: int) -> kech.WeightedBarcode:
        """The barcode; where rows may be left out, with what the regime cut would publish at k."""
        return announce_regimes(barcode, self.table, self.plan, [k], None) if self.plan.cut.suppress else barcode

    def zigzag(self, path: str) -> kech.ZigzagBarcode:
        """The zig-zag along a path of nodes, on the grid of the plan."""
        grid = self.plan.labels.grid
        return self.keep(f"zigzag {path} {grid}", lambda: kech.compute_zigzag(self.table, path, grid=grid))  # type: ignore[no-any-return]

    def texts(self) -> pa.Table:
        """All cells as text."""
        columns = [self.table.index(name) for name in self.table.loaded]
        return self.keep("texts", lambda: self.table.engine.read_texts(columns).drop_columns("r"))

    def draft(self, **others: Any) -> kech.Release:
        """The release as it is planned, with other goals where they are named."""
        return kech.make_release(self.table, self.plan.override(**others), preview=True)

    def release(self, **others: Any) -> kech.Release:
        """The same release, kept for the next question."""
        return self.keep(f"release {self.plan.override(**others)}", lambda: self.draft(**others))  # type: ignore[no-any-return]

    def price(self, request: Request) -> kech.Preview:
        """What a goal for histories costs."""
        return self.keep(f"price {request}", lambda: kech.compute_preview(self.table, request))  # type: ignore[no-any-return]

    def is_for(self, path: str, plan: Request) -> bool:
        """Whether a table read by another plan would be this one."""
        parts = ("input", "columns", "axes", "limits")
        return self.path == path and all(getattr(self.plan, part) == getattr(plan, part) for part in parts)


def open_session(path: str, plan: Request, before: TableSession | None) -> TableSession:
    """Open a table, or stay with the one that is open where the plan reads it alike."""
    if before is not None and before.is_for(path, plan):
        before.plan = plan
        return before
    session = TableSession(path, plan, kech.read_table(path, plan))  # a refusal leaves the other table open
    if before is not None:
        before.table.close()
    return session


# -- the verbs ---------------------------------------------------------------------------------------------


def glance(session: TableSession, options: VerbOptions) -> dict[str, Any]:
    """The names of the columns and the number of rows, before anything is counted."""
    del options
    return {"columns": list(session.table.loaded), "rows": session.texts().num_rows}


def inspect(session: TableSession, options: InspectOptions) -> dict[str, Any]:
    """`kech inspect`."""
    inspection = kech.inspect_table(session.table, rows=options.rows, as_read=True, costs=options.costs)
    return inspection.to_json() | {"plan": None}


def cells(session: TableSession, options: CellsOptions) -> dict[str, Any]:
    """Some rows as they are read."""
    texts = session.texts()
    if any(not 0 <= row < texts.num_rows for row in options.rows):
        raise BadOption("rows", "the table has no such row. Ask for rows that it has.")
    lines = texts.take(pa.array(options.rows, pa.int64()))
    columns = [column.to_pylist() for column in lines.columns]
    return {"cells": [list(row) for row in zip(*columns, strict=True)]}


def crowds(session: TableSession, options: VerbOptions) -> dict[str, Any]:
    """The table as it is: among how many each row stands, and what would point at rows if it is published so."""
    del options
    as_they_are = [*session.table.sensitive, *session.table.keep]
    return count_crowds(session.table) | {"identifying_together": find_identifying_together(session.table, as_they_are)}


def classes(session: TableSession, options: ClassesOptions) -> dict[str, Any]:
    """What a release would do to every row; `kech preview` prints its figures."""
    make = session.release if options.with_rows else session.draft  # of a large table only few fit into memory
    release = make(k=options.k, effort=options.effort)
    preview = kech.compute_preview(release, rows=0, costs=False).to_json()
    answer = {name: preview[name] for name in ("figures", "columns", "shared")}
    answer |= {"k": release.partition.k, "rows_in": release.partition.rows_in, "parameters": release.parameters}
    rows = find_class_of_rows(release, session.table.rows).tolist() if options.with_rows else None
    return answer | {"classes": describe_classes(release), "class_of_row": rows}


def rung(session: TableSession, options: ClassesOptions) -> dict[str, Any]:
    """`classes` of the best start, without a search: an answer at once, for the ladder of k."""
    options.effort = 0.0 if session.plan.cut.is_searched else None
    return classes(session, options)


def bound(session: TableSession, options: KOptions) -> dict[str, Any]:
    """`kech release --bound` of the best start: the least loss that any release at this k can have."""
    if session.table.rows > MOST_BOUNDED:
        return {"k": options.k, "loss_lower_bound": None}
    return session.release(k=options.k, effort=0.0 if session.plan.cut.is_searched else None).bound().to_json()


def mend(session: TableSession, options: KOptions) -> dict[str, Any]:
    """What the release at this k loses once every class has two values of each sensitive column."""
    release = session.release(k=options.k)
    return {"k": options.k, "loss": weigh_shared_values(release.partition, release.request)["loss_with_l_2"]}


def icicle(session: TableSession, options: VerbOptions) -> dict[str, Any]:
    """Which rows are together while eps grows, on the grid of the plan: a release at an eps has these classes."""
    del options
    grid = session.plan.labels.grid
    return session.keep(f"icicle {grid}", lambda: build_icicle(session.barcode(grid=grid)))  # type: ignore[no-any-return]


def mark_cuts(shape: Shape, ks: Sequence[int], threads: int) -> Shape:
    """The profile or barcode, with what the cuts reach at some k where that takes seconds."""
    return kech.search_partitions(shape, ks, effort="quick", threads=threads, most_points=MOST_CUT)


def profile(session: TableSession, options: LatticeOptions) -> dict[str, Any]:
    """`kech profile`."""
    return session.profile().to_json(options.k)


def picture(session: TableSession, options: PictureOptions) -> dict[str, Any]:
    """A picture of kech's own, as SVG, with its PRIVATE mark."""
    drawn: dict[str, Callable[[Path], Any]] = {
        "profile": lambda file: session.profile().plot(file),
        "barcode": lambda file: session.announce(session.barcode_at(options.k), options.k).plot(
            file, k=(options.k,), suppress=session.plan.cut.suppress
        ),
        "zigzag": lambda file: session.zigzag(options.path).plot(file, k=options.k),
    }
    if options.of not in drawn:
        raise unusable_value("picture", f"Choose among {', '.join(drawn)}.")
    file = Path("picture.svg")  # in the private folder of the table, where a child works
    drawn[options.of](file)
    text = file.read_text("utf-8")
    file.unlink()
    return {"private": True, "svg": text}


def hierarchy(session: TableSession, options: HierarchyOptions) -> dict[str, Any]:
    """`kech hierarchy`."""
    review = kech.review_hierarchy(
        session.table,
        options.column,
        kind=options.kind,
        source=options.source,
        pad=options.pad,
        grid=session.plan.labels.grid,
    )
    return review.to_json() | {"file": None}


def spectrum(session: TableSession, options: SpectrumOptions) -> dict[str, Any]:
    """`kech spectrum`; a spectrum compares classes of rows, and no histories."""
    fields: dict[str, Any] = {"effort": options.effort, "protect_history": False}
    result = kech.compute_spectrum(session.table, session.plan, k=options.k, cut=options.cut or None, **fields)
    return result.to_json() | {"plot": None, "effort": options.effort or session.plan.cut.effort}


def barcode(session: TableSession, options: BarcodeOptions) -> dict[str, Any]:
    """`kech barcode`."""
    barcode_on_grid = session.barcode(options.max_dimension, options.field, options.grid)
    announced = session.announce(barcode_on_grid, options.k)
    return announced.to_json(options.k, longest=MOST_BARS, suppress=session.plan.cut.suppress) | {"plot": None}


def lattice(session: TableSession, options: LatticeOptions) -> dict[str, Any]:
    """`kech lattice`."""
    result = session.lattice()
    return result.neighbours(options.node) if options.node else result.to_json(options.k, session.plan.cut.suppress)


def zigzag(session: TableSession, options: ZigzagOptions) -> dict[str, Any]:
    """`kech zigzag`."""
    return session.zigzag(options.path).to_json(options.k, longest=MOST_BARS) | {"plot": None}


def preview(session: TableSession, options: PreviewOptions) -> dict[str, Any]:
    """`kech preview`."""
    if options.price:
        return session.price(session.plan).to_json() | {"plot": None}
    if options.radius is not None:
        picture = kech.compute_preview(session.barcode(), on=options.on, eps=options.radius, rows=options.rows)
        return picture.to_json() | {"plot": None}
    others = {name: getattr(options, name) for name in ("k", "cut", "effort", "protect_history")}
    planned = session.plan.override(**others)
    price = session.price(planned).price if planned.goal.protect_history else None
    picture = kech.compute_preview(session.release(**others), on=options.on, rows=options.rows)
    return picture.to_json() | {"price": price, "plot": None}


def release(session: TableSession, options: ReleaseOptions) -> dict[str, Any]:
    """`kech release --folder`: write the planned release, with its certificate, report and plan."""
    return kech.publish_release(
        session.release(),
        options.folder,
        options.file,
        ledger=options.ledger,
        earlier=options.earlier,
        allow_composition=options.allow_composition,
    ).to_json()


def publish(session: TableSession, options: PublishOptions) -> dict[str, Any]:
    """`kech release --series`: read as the series says, published as its next version."""
    series = kech.open_series(options.series)
    trees = {name: {"kind": "hierarchy", "hierarchy": path} for name, path in options.hierarchies.items()}
    dialect = {name: getattr(session.plan.input, name) for name in DIALECT}
    with kech.read_table(session.path, series.request.override(axes=trees), **dialect) as table:
        changed = options.most_changed
        return series.publish(table, options.file, wait=options.wait, most_changed=changed, ledger=options.ledger)


@dataclass(frozen=True, slots=True)
class Verb:
    """How a question is asked."""

    answer: Callable[[TableSession, Any], dict[str, Any]]
    options: type[VerbOptions] = VerbOptions
    reads_all_columns: bool = False  # reads all columns: roles need not be known
    lane: str = "quick"  # the child process that answers, so that quick questions do not wait for others
    writes: bool = False  # writes files, so its answer is true only of the moment


VERBS = {
    "glance": Verb(glance, reads_all_columns=True, lane="look"),
    "inspect": Verb(inspect, InspectOptions, reads_all_columns=True, lane="look"),
    "cells": Verb(cells, CellsOptions, reads_all_columns=True, lane="look"),
    "crowds": Verb(crowds),
    "rung": Verb(rung, ClassesOptions),
    "bound": Verb(bound, KOptions),
    "classes": Verb(classes, ClassesOptions, lane="search"),
    "mend": Verb(mend, KOptions, lane="search"),
    "hierarchy": Verb(hierarchy, HierarchyOptions, lane="slow"),
    "spectrum": Verb(spectrum, SpectrumOptions, lane="slow"),
    "barcode": Verb(barcode, BarcodeOptions, lane="slow"),
    "icicle": Verb(icicle, lane="slow"),
    "profile": Verb(profile, LatticeOptions, lane="slow"),
    "picture": Verb(picture, PictureOptions, lane="slow"),
    "lattice": Verb(lattice, LatticeOptions),
    "zigzag": Verb(zigzag, ZigzagOptions, lane="slow"),
    "preview": Verb(preview, PreviewOptions, lane="search"),
    "release": Verb(release, ReleaseOptions, lane="search", writes=True),
    "publish": Verb(publish, PublishOptions, reads_all_columns=True, lane="slow", writes=True),
}
LANES = ("look", "quick", "search", "slow")

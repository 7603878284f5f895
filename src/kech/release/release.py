"""Release: the rows with their labels, shuffled, only allow-listed columns, written whole or not at all.

In: a table and a partition.  Out: a dataframe, or a file with its certificate beside it.
"""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.certificate import make_certificate
from kech.certificate.cells import digest
from kech.certificate.claims import shown_suppression
from kech.cuts import Wishes
from kech.cuts.bounds import LossBound, bound_release
from kech.cuts.dispatcher import EVEN, FREE, cut_points
from kech.cuts.protection import derive_key, is_protected
from kech.errors import AlreadyReleased, BadOption, ClaimBroken, GoalNotMet
from kech.points.columns import SensitiveColumn
from kech.points.partition import Partition, mean_loss, published_loss
from kech.points.points import Coarse, Points, build_points_to_cut
from kech.release.admission import Draft, Word, check_admission
from kech.release.forms import (
    Written,
    as_missing,
    as_numbers,
    as_texts,
    check_intervals,
    check_names,
    write_form,
)
from kech.release.ledger import Ledger, open_ledger
from kech.release.mapping import ValueTally, mapping_aside
from kech.release.pointers import find_joint_pointers, points_at_rows
from kech.release.targets import FORMATS, certificate_path, check_beside, check_elsewhere, check_mapping, check_target
from kech.request import Request
from kech.spectrum import check_ks
from kech.system.files import clear_refusals, private_folder, put_in_place, written_aside
from kech.system.interrupts import unbroken
from kech.system.progress import report
from kech.tables.dealing import Output, read_ahead
from kech.tables.frames import as_native
from kech.tables.kinds import plain_kind
from kech.tables.source import Address, find_address, open_database
from kech.tables.table import Table

TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A partition of a table, ready to be published; `parameters` are public."""

    table: Table
    partition: Partition
    parameters: dict[str, Any]
    version: str
    request: Request
    words: list[Word] = field(default_factory=list, init=False)  # what the ledger said, one for each file written

    @property
    def form(self) -> str:
        """How intervals are written."""
        return self.request.labels.form

    def __repr__(self) -> str:
        rows, classes = int(self.partition.rows.sum()), self.partition.classes
        return f"Release(k={self.partition.k}, {rows:,} rows in {classes:,} classes)"

    def _repr_html_(self) -> str:
        from kech.views.notebook import show_release

        published = int(self.partition.rows.sum())
        suppression = shown_suppression(self.partition.rows_in, published, self.parameters["k"])
        loss = mean_loss(self.partition) if suppression["rows_in"] is not None else published_loss(self.partition)
        return show_release(self, str(suppression["suppressed"]), loss)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw how many classes of each size there are: the matplotlib axes."""
        from kech.views.pictures import plot
        from kech.views.pictures.released import draw_sizes

        sizes = Counter(self.partition.sizes.tolist())
        return plot(lambda size: draw_sizes(sizes, self.partition.k, size or (560.0, 240.0)), ax=ax)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are published, in the order of the table."""
        published = {*self.table.quasi_identifiers, *self.table.sensitive, *self.table.keep}
        return tuple(name for name in self.table.columns if name in published)

    @cached_property
    def labels(self) -> dict[str, list[str | None]]:
        """For each quasi-identifier, the label of each class."""
        return {name: self.partition.labels(j) for j, name in enumerate(self.table.quasi_identifiers)}

    @property
    def axes(self) -> list[dict[str, Any]]:
        """What a reader must know to measure the labels."""
        return [axis for axis, _ in self.published_cells.values()]

    @cached_property
    def published_cells(self) -> dict[str, tuple[dict[str, Any], Written]]:
        """For each quasi-identifier its axis, and the cells of each class in every column that is published for it."""
        axes = [axis.parameters(self.labels[axis.column]) for axis in self.partition.points.axes]
        check_intervals(self.form, axes)
        return {axis["column"]: write_form(self.form, axis, self.labels[axis["column"]]) for axis in axes}

    @property
    def values(self) -> dict[str, dict[str, Any]]:
        """How a reader must read the sensitive columns to compare their values."""
        sensitive = self.partition.points.sensitive
        return {held.column: self.describe_values(held) for held in sensitive.columns} if sensitive else {}

    def describe_values(self, held: SensitiveColumn) -> dict[str, Any]:
        """The order of a sensitive column, and the kind of its published values; those left out do not decide it."""
        named = held.kind == "ordinal" or self.table.choice(held.column).kind
        kind = held.kind if named else plain_kind(self.published_table.facts(held.column))
        return {"kind": kind} | ({"order": list(held.order)} if held.order else {})

    @cached_property
    def published_table(self) -> Table:
        """The table without the points of which no row is published: their cells decide no type and no kind."""
        points = self.partition.points
        gone = np.setdiff1d(np.arange(len(points.weights)), self.partition.point)
        return self.table.without(points.mappings, gone) if len(gone) else self.table

    def published_shares(self) -> dict[str, NDArray[np.int64]]:
        """The shares of the partition, with points numbered as the published table has them."""
        shares = self.partition.shares()
        return shares | {"p": np.unique(shares["p"], return_inverse=True)[1].astype(np.int64)}

    @cached_property
    def frame(self) -> Any:
        """The released rows as the caller's own kind of dataframe (pandas for a file, where it is installed)."""
        return as_native(self.batches(for_csv=False).read_all(), self.table.native)

    def batches(self, *, for_csv: bool, tally: ValueTally | None = None, listed: bool = False) -> Any:
        """The released rows as a stream, in an order nobody can know; a tally hears the values behind the labels.

        Labels are texts, or `listed`: each once in a batch, as an Arrow dictionary, where the engine has them so.
        """
        outputs = [output for name in self.columns for output in self.outputs(name)]
        behind = [Output(name, self.table.index(name), private=True) for name in (tally.columns if tally else ())]
        mappings, shares = self.partition.points.mappings, self.published_shares()
        key = derive_key(self.partition.points, "dealing")
        stream = self.published_table.engine.publish(mappings, shares, outputs + behind, for_csv=for_csv, key=key)
        stream = stream if listed and not tally else as_texts(stream)
        stream = as_missing(stream, len(outputs)) if for_csv else stream
        return as_numbers(tally.watch(stream) if tally else stream, self.axes)

    def outputs(self, name: str) -> list[Output]:
        """The published columns of one column of the table."""
        if name not in self.labels:
            return [Output(name, self.table.index(name), typed=True)]
        _, cells = self.published_cells[name]
        return [Output(column, None, labels) for column, labels in cells.items()]

    def tally(self) -> ValueTally:
        """Where the values behind the labels can be counted."""
        names = self.table.quasi_identifiers
        return ValueTally([column for name in names for column in self.published_cells[name][1]], names)

    def write(
        self,
        path: str | PathLike[str],
        certificate: str | PathLike[str] | None = None,
        *,
        mapping: str | PathLike[str] | None = None,
        ledger: Ledger | bool = True,
        earlier: Sequence[str | PathLike[str]] = (),
        allow_composition: bool = False,
        within: Path | None = None,
    ) -> dict[str, Any]:
        """Write the table (.csv, .parquet or a table of a database) and its certificate; give back the certificate.

        The certificate of a file lies beside it unless it is named: `<path>.certificate.json`.  Both are written aside,
        checked from what was written alone, and put in place last.  A table that was released before (the ledger
        knows; `earlier` names the files) is refused unless this release is coarser, or composition allowed.
        A file `within` a folder that is itself a draft is in its place once that folder is.
        `mapping` names a .json file for the values behind the labels of each class: PRIVATE, for its owner only.
        """
        also, admission = state_options(ledger, allow_composition), (ledger, earlier, allow_composition)
        if book := pick_ledger(ledger):
            book.settle()
        if address := find_address(path):
            return self.write_table(address, certificate, mapping, also, admission)
        with clear_refusals(Path(path)):
            target = check_target(Path(path), self.table)
            beside = check_beside(Path(certificate), self.table, target) if certificate else certificate_path(target)
        private = check_mapping(mapping, self.table, target, beside)
        with (
            clear_refusals(target),
            mapping_aside(private, self.tally()) as mapped,
            written_aside(target) as draft,
            written_aside(beside) as certificate_draft,
        ):
            report("writing")
            format = FORMATS[target.suffix.lower()]
            as_csv = format == "csv"
            write_batches(self.batches(for_csv=as_csv, tally=mapped.tally, listed=not as_csv), draft, target)
            report("checking the written file")
            certified = self.certify(draft, target.name, format, also)
            certificate_draft.write_text(as_json(certified), "utf-8")
            mapped.fill(certified["file"]["sha256"])
            drafted = Draft(draft, certificate_draft, certified, target, self.table, within or draft)
            with self.pass_ledger(drafted, *admission), unbroken() if within is None else nullcontext():
                put_in_place({draft: target, certificate_draft: beside})
                mapped.put_in_place()
        return certified

    def write_table(
        self,
        address: Address,
        certificate: str | PathLike[str] | None,
        mapping: str | PathLike[str] | None,
        also: dict[str, Any],
        admission: tuple[Ledger | bool, Sequence[str | PathLike[str]], bool],
    ) -> dict[str, Any]:
        """Write a table of a database in one transaction, check its rows as text, then let others see it."""
        if certificate is None:
            raise BadOption("--certificate", "a table in a database has no certificate beside it: name a file.")
        with clear_refusals(Path(certificate)):
            beside = check_beside(Path(certificate), self.table)
        private = check_mapping(mapping, self.table, beside)
        with (
            clear_refusals(beside),
            mapping_aside(private, self.tally()) as mapped,
            private_folder() as folder,
            open_database(address, self.table.limit) as database,
        ):
            check_elsewhere(address, database.identity(), self.table)
            report("writing")
            text = folder / "released.csv"
            rows = self.batches(for_csv=False, tally=mapped.tally)
            with written_aside(beside) as draft, database.write_aside(rows) as table:
                report("checking the written table")
                table.export(text)
                certified = self.certify(text, address.table, "csv", also)
                draft.write_text(as_json(certified), "utf-8")
                mapped.fill(certified["file"]["sha256"])
                drafted = Draft(text, draft, certified, beside, self.table, draft, address)
                with self.pass_ledger(drafted, *admission), unbroken():
                    table.put_in_place()
                    text.unlink()
                    put_in_place({draft: beside})
                    mapped.put_in_place()
        return certified

    @contextmanager
    def pass_ledger(
        self,
        drafted: Draft,
        ledger: Ledger | bool,
        earlier: Sequence[str | PathLike[str]],
        allow_composition: bool,
    ) -> Iterator[None]:
        """What the ledger says of a release while it is put in place."""
        report("looking for earlier releases")
        with check_admission(drafted, pick_ledger(ledger), earlier, allow_composition) as word:
            yield
        self.words.append(word)

    def summarize(
        self,
        path: str | PathLike[str],
        certificate: dict[str, Any],
        beside: str | PathLike[str] | None = None,
        mapping: str | PathLike[str] | None = None,
    ) -> dict[str, Any]:
        """The object `kech release --json` prints of what was written, with what its maker should look at."""
        table = self.table
        as_they_are = (*table.sensitive, *table.keep)
        return {
            "file": str(find_address(path) or path),
            "certificate": str(beside or certificate_path(Path(path))),
            **certificate["claims"],
            "measured": certificate["measured"],
            "coarse": self.parameters.get("coarse"),
            "dropped": list(table.dropped),
            "ledger": self.words[-1].to_json(),
            "identifying": [name for name in as_they_are if points_at_rows(self.published_table, name)],
            "identifying_together": find_joint_pointers(self.published_table, as_they_are),
            "rare_texts": [
                axis["column"] for axis in self.axes if axis["axis"] == "set" and points_at_rows(table, axis["column"])
            ],
            "unhidden_edges": [axis["column"] for axis in self.axes if axis.get("grid", "round") != "round"],
            "mapping": None if mapping is None else str(mapping),
        }

    def bound(self) -> LossBound:
        """How far its loss is above what any release of these rows could reach, as far as that is proven.

        PRIVATE, and never part of the certificate: it is computed from raw rows.  It may take minutes.
        """
        asked, threads = self.parameters, self.table.threads
        return bound_release(self.partition, asked["k"], asked["cut"], asked.get("suppress", 0.0), threads=threads)

    def certify(self, draft: Path, name: str, format: str, also: dict[str, Any]) -> dict[str, Any]:
        """The certificate of the written draft; it must hold what the partition promised."""
        certificate = make_certificate(
            draft,
            published_name=name,
            axes=self.axes,
            sensitive=self.table.sensitive,
            kept=self.table.keep,
            rows_in=self.partition.rows_in,
            parameters=self.parameters | also,
            kech_version=self.version,
            values=self.values,
            format=format,
        )
        claims, promised = certificate["claims"], self.partition
        broken = [] if claims["rows"] == int(promised.rows.sum()) else ["rows: some were lost on the way"]
        broken += [] if claims["k"] >= promised.k else ["k: the written classes are smaller than the partition's"]
        expected = mean_loss(promised) if claims["rows_in"] is not None else published_loss(promised)
        if abs(claims["loss"] - expected) > TOLERANCE:
            broken.append("loss: the written file loses more or less than the partition")
        if broken:
            raise ClaimBroken(name, broken)
        return certificate


def make_release(table: Table, request: Request | None = None, *, k: int | None = None, **fields: Any) -> Release:
    """Part the rows into classes of at least k rows, as a request says, or fields of it: `make_release(table, k=5)`.

    The regime cut takes a reading (homological: with the prime of its field), or an eps in place of k: then k is what
    the components at eps give.
    The other cuts may leave rows out, a share of `suppress` at most.  The search of the local and the minimal cut takes
    an effort (quick, normal, best, or seconds) and a seed.  In every class every sensitive column keeps l (distinct,
    entropy, or recursive with c), t (equal or ordered distance) and alpha, where they are asked for.  `labels` is how
    intervals are written: brackets `[22, 25]`, dash `22-25`, or columns, one for each end.
    More points than `max_points` (otherwise: than memory holds) make the axes coarser, and the certificate says so.
    """
    asked = table.settle(request, fields | {"k": k})
    check_original(table)
    k, style = check_wanted(asked, table.rows), asked.cut.style
    wishes = Wishes.of(asked, table.threads)
    _ = table.secret  # where none can be made, that is said before any work
    coarse = Coarse(asked.limits.max_points, k or 2)
    points = build_points_to_cut(table, asked.labels, steps=style in EVEN, coarse=coarse)
    (partition,) = cut_points(points, [k or 2], style, wishes)
    if partition.k < (k or 2):
        goal = f"k={k} was asked" if k else "A release hides every row among two or more"
        raise GoalNotMet(f"{goal}; the smallest class would have {partition.k} rows.")
    parameters = asked.public() | ({} if k else {"k": partition.k, "k_reached": True}) | coarseness(partition.points)
    parameters |= {"owner_secret": True} if is_drawn(partition, style) else {}
    origin = partition.points.origin
    release = Release(origin.table if origin else table, partition, parameters, own_version(), asked)
    check_names([output.name for name in release.columns for output in release.outputs(name)])
    return release


def check_wanted(request: Request, rows: int) -> int | None:
    """The k that is asked for; none where an eps stands in its place."""
    k = request.goal.k
    if k is None and request.cut.eps is None:
        raise BadOption("--k", "say among how many rows every row must hide: --k 5.")
    return None if k is None else check_ks([k], rows)[0]


@cache
def own_version() -> str:
    """The version of kech, looked up once."""
    return version("kech")


def is_drawn(partition: Partition, cut: str) -> bool:
    """Whether the owner's secret decides the labels: the search, or how far they are padded and their ends moved."""
    return cut in FREE or (cut not in EVEN and is_protected(partition.points))


def coarseness(points: Points) -> dict[str, Any]:
    """What a reader should know of axes that were made coarser."""
    return {"coarse": {"step": points.step, "eps_error": points.eps_error()}} if points.step else {}


def pick_ledger(ledger: Ledger | bool) -> Ledger | None:
    """The ledger of this user, one of the caller's own, or none."""
    return (open_ledger() if ledger else None) if isinstance(ledger, bool) else ledger


def state_options(ledger: Ledger | bool, allow_composition: bool) -> dict[str, Any]:
    """What a reader should know about earlier releases."""
    return ({"no_ledger": True} if ledger is False else {}) | ({"allow_composition": True} if allow_composition else {})


def check_original(table: Table) -> None:
    """A file that is a release itself, by the certificate beside it, is no table of people."""
    file = table.source.here
    with suppress(OSError, ValueError, TypeError, LookupError):
        if file.is_file() and json.loads(certificate_path(file).read_bytes())["file"]["sha256"] == digest(file):
            raise AlreadyReleased(file)


def as_json(certificate: dict[str, Any]) -> str:
    """A certificate as it is written."""
    return json.dumps(certificate, indent=2, ensure_ascii=False) + "\n"


def write_batches(batches: Any, draft: Path, target: Path) -> None:
    """Write a stream of record batches as CSV or Parquet."""
    as_csv = FORMATS[target.suffix.lower()] == "csv"
    with draft.open("wb") as file, (csv_writer if as_csv else parquet_writer)(file, batches.schema) as writer:
        for batch in read_ahead(batches):
            writer.write_batch(batch)


def csv_writer(file: Any, schema: Any) -> Any:
    """A writer of CSV."""
    import pyarrow.csv as pc

    return pc.CSVWriter(file, schema)


def parquet_writer(file: Any, schema: Any) -> Any:
    """A writer of Parquet: listed labels are written as they are listed, and read back as text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    listed = {field.name for field in schema if pa.types.is_dictionary(field.type)}
    plain = pa.schema([field.with_type(field.type.value_type) if field.name in listed else field for field in schema])
    others = [name for name in schema.names if name not in listed]  # the least and the greatest label tell nothing
    writer = pq.ParquetWriter(file, schema, store_schema=False, write_statistics=others)
    writer.add_key_value_metadata({"ARROW:schema": b64encode(plain.serialize())})
    return writer

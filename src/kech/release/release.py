"""Release: the rows with their labels, shuffled, only allow-listed columns, written whole or not at all.

In: a table and its partition (`making.py` cuts it).  Out: a dataframe, or a file with its certificate beside it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from dataclasses import replace as copy_with
from functools import cache, cached_property
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kech.certificate import certificate_path, make_certificate
from kech.certificate.check import shown_suppression
from kech.certificate.sampled import STATED, pick_sample
from kech.cuts.bounds import LossBound
from kech.cuts.protection import derive_key
from kech.cuts.variance import bound_objective
from kech.errors import FAULT_OF_KECH, BadOption, BadTarget, ClaimBroken, NotAPath
from kech.points.partition import Partition, mean_loss, published_loss
from kech.points.points import SensitiveColumn
from kech.release.admission import (
    PUBLISHED,
    Admission,
    AdmissionOptions,
    DraftRelease,
    check_replaced,
    check_unpublished,
    enter_in_ledger,
    list_published,
)
from kech.release.identifying import find_doubts, find_hidden
from kech.release.ledger import Ledger, pick_ledger
from kech.release.numbering import PERSON_NUMBER, NumberedPeople, number_people
from kech.release.query import build_query
from kech.release.sharing import find_shared, round_price, weigh_shared_values
from kech.release.tallies import ColumnTaker, HistoryTally, MappingDraft, PeopleTally, ValueTally, mapping_aside
from kech.release.writing import (
    WRITTEN_FORMATS,
    Written,
    as_json,
    as_missing,
    as_texts,
    as_typed,
    check_certificate_path,
    check_elsewhere,
    check_intervals,
    check_mapping,
    check_query_file,
    check_target,
    write_batches,
    write_form,
)
from kech.request import Request
from kech.system.console import delay_interrupts, report
from kech.system.files import draft_file, private_folder, put_in_place, refuse_disk_errors, write_text
from kech.tables.batches import Output
from kech.tables.engine import plain_kind
from kech.tables.frames import as_native
from kech.tables.repeats import check_identifiers
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
    most_rows: int = 1  # of one person of the table
    is_priced: bool = False  # its certificates state what l = 2 would cost
    admissions: list[Admission] = field(default_factory=list, init=False)  # one for each file written

    def __repr__(self) -> str:
        rows, classes = int(self.partition.rows.sum()), self.partition.classes
        people = " people" if self.table.person else ""
        return f"Release(k={self.partition.k}{people}, {rows:,} rows in {classes:,} classes)"

    def _repr_html_(self) -> str:
        from kech.views.notebook import show_release

        return show_release(self, str(self.suppression["suppressed"]), self.public_loss)

    @property
    def given_away(self) -> dict[str, float]:
        """Of sensitive columns the share of the rows whose whole class has one value; `l=2` prevents it."""
        return find_shared(self.partition)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw how many classes of each size there are: the matplotlib axes."""
        from kech.views.pictures import plot
        from kech.views.pictures.released import draw_sizes

        sizes = Counter(self.partition.sizes.tolist())
        return plot(lambda size: draw_sizes(sizes, size=size or (560.0, 240.0)), ax=ax)

    @property
    def suppression(self) -> dict[str, Any]:
        """How many rows are left out, as the public may know it."""
        published = int(self.partition.rows.sum())
        rows_in, k, is_sampled = self.partition.rows_in, self.parameters["k"], STATED[0] in self.parameters
        return shown_suppression(rows_in, published, k, self.most_rows, is_sampled=is_sampled)

    @property
    def public_loss(self) -> float:
        """The loss as the public may know it."""
        return self.find_public_loss(self.partition)

    def find_public_loss(self, partition: Partition) -> float:
        """The loss of other classes of the same rows, too: of the published rows alone where few are left out."""
        return published_loss(partition) if self.suppression["rows_in"] is None else mean_loss(partition)

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
        form = self.request.labels.labels
        check_intervals(form, axes)
        return {axis["column"]: write_form(form, axis, self.labels[axis["column"]]) for axis in axes}

    @property
    def values(self) -> dict[str, dict[str, Any]]:
        """How a reader must read the sensitive columns to compare their values."""
        sensitive = self.partition.points.sensitive
        return {column.column: self.describe_values(column) for column in sensitive.columns} if sensitive else {}

    def describe_values(self, column: SensitiveColumn) -> dict[str, Any]:
        """The order of a sensitive column, and the kind of its published values; those left out do not decide it."""
        is_chosen = column.kind == "ordered" or self.table.choice(column.column).kind
        kind = column.kind if is_chosen else plain_kind(self.published_table.facts(column.column))
        return {"kind": kind} | ({"order": list(column.order)} if column.order else {})

    @cached_property
    def published_table(self) -> Table:
        """The table without the points of which no row is published: their cells decide no type and no kind."""
        points = self.partition.points
        gone = np.flatnonzero(np.bincount(self.partition.point, minlength=len(points.weights)) == 0)
        return self.table.without(points.mappings, gone) if len(gone) else self.table

    def published_shares(self) -> dict[str, NDArray[np.int64]]:
        """The shares of the partition, with points numbered as the published table has them."""
        shares = self.numbering.shares(self.partition) if self.numbering else self.partition.shares()
        taken = np.bincount(shares["point"]) > 0
        return shares | {"point": (np.cumsum(taken) - 1)[shares["point"]]}

    @cached_property
    def shared_values(self) -> dict[str, Any]:
        """The shares of the rows whose class gives a sensitive value away, and the loss that would hide them."""
        return weigh_shared_values(self.partition, self.request, self.find_public_loss)

    def with_price(self) -> Self:
        """The same release, whose certificates state what l = 2 would cost (where a class gives a value away)."""
        priced = copy_with(self, is_priced=True)
        kept = ("labels", "published_cells")
        vars(priced).update({name: value for name, value in vars(self).items() if name in kept})
        return priced

    @property
    def public_price(self) -> float | None:
        """What l = 2 would cost, as its certificate states it where a class gives a sensitive value away."""
        return round_price(self.shared_values["loss_with_l_2"])

    @cached_property
    def numbering(self) -> NumberedPeople | None:
        """The numbers of people, where all rows of a person stay together."""
        return number_people(self.partition) if self.request.goal.protect_history else None

    @cached_property
    def frame(self) -> Any:
        """The released rows as the caller's own kind of dataframe (pandas for a file, where it is installed)."""
        return as_native(self.batches(for_csv=False).read_all(), self.table.native)

    def batches(self, *, for_csv: bool, tallies: Sequence[ColumnTaker] = (), listed: bool = False) -> Any:
        """The released rows as a stream, in an order nobody can know; tallies count the values behind the labels.

        Labels are texts, or `listed`: each once in a batch, as an Arrow dictionary, where the engine has them so.
        """
        check_identifiers(self.table)
        outputs = [*(output for name in self.columns for output in self.outputs(name)), *self.number_outputs()]
        names = [name for tally in tallies for name in tally.columns]
        behind = [Output(name, self.table.index(name), private=True) for name in names]
        mappings, shares = self.partition.points.mappings, self.published_shares()
        key = derive_key(self.partition.points, "dealing")
        stream = self.published_table.engine.publish(mappings, shares, outputs + behind, for_csv=for_csv, key=key)
        stream = stream if listed and not any(isinstance(tally, ValueTally) for tally in tallies) else as_texts(stream)
        stream = as_missing(stream, len(outputs)) if for_csv else stream
        for tally in reversed(tallies):
            stream = tally.take_columns(stream)
        return as_typed(stream, self.axes, [PERSON_NUMBER] if self.numbering else [], for_csv=for_csv)

    def outputs(self, name: str) -> list[Output]:
        """The published columns of one column of the table."""
        if name not in self.labels:
            return [Output(name, self.table.index(name), typed=True)]
        _, cells = self.published_cells[name]
        if self.numbering:
            groups = self.numbering.group.tolist()
            cells = {column: [labels[group] for group in groups] for column, labels in cells.items()}
        return [Output(column, None, labels) for column, labels in cells.items()]

    def number_outputs(self) -> list[Output]:
        """The published column of numbers of people, if there is one."""
        return [Output(PERSON_NUMBER, None, list(map(str, self.numbering.number)))] if self.numbering else []

    @property
    def label_columns(self) -> list[str]:
        """The published columns of the quasi-identifiers."""
        return [column for name in self.table.quasi_identifiers for column in self.published_cells[name][1]]

    def map_values(self, target: Path | None) -> AbstractContextManager[MappingDraft | None]:
        """A draft of the mapping, if one is wanted."""
        if target is None:
            return nullcontext()
        return mapping_aside(target, ValueTally(self.label_columns, self.table.quasi_identifiers))

    def people_tally(self) -> PeopleTally | None:
        """Where the people of the classes can be counted, if the table names them."""
        if self.numbering:
            return HistoryTally(self.label_columns, self.table.person, PERSON_NUMBER)
        return PeopleTally(self.label_columns, self.table.person) if self.table.person else None

    def to_sql(self) -> str:
        """A SELECT that makes the rows of this release from the original, in DuckDB and PostgreSQL.

        Only with --cut domain.  Its first line says PRIVATE where it lists values behind labels.
        """
        return build_query(self).text

    def write(
        self,
        path: str | PathLike[str],
        certificate: str | PathLike[str] | None = None,
        *,
        mapping: str | PathLike[str] | None = None,
        sql: str | PathLike[str] | None = None,
        ledger: Ledger | bool = True,
        earlier: Sequence[str | PathLike[str]] = (),
        allow_composition: bool = False,
        replace: bool = False,
    ) -> dict[str, Any]:
        """Write the table (.csv, .parquet or a table of a database) and its certificate; give back the certificate.

        The certificate of a file lies beside it unless it is named: `<path>.certificate.json`.  Both are written aside,
        checked from what was written alone, and put in place last.  A table that was released before (the ledger
        knows; `earlier` names the files) is refused unless this release is coarser, or composition allowed.
        `replace` strikes the release at this path out of the ledger and takes its place: nobody may have received it.
        `mapping` names a .json file for the values behind the labels of each class: PRIVATE, for its owner only.
        `sql` names a .sql file for the query of `to_sql`.
        """
        address = find_address(path)
        terms = AdmissionOptions(pick_ledger(ledger), earlier, allow_composition, replace=replace)
        if replace and isinstance(path, str | PathLike):
            check_replaced(None if address else Path(path), terms.ledger)
        elif terms.ledger:
            terms.ledger.recover()
        target = None if sql is None else check_query_file(sql, self.table)
        if target and target.is_file() and list_published(target):
            raise BadTarget(target, PUBLISHED)
        query = None if sql is None else build_query(self)
        if address:
            certified = self.write_table(address, certificate, mapping, terms)
        elif isinstance(path, str | PathLike):
            certified = self.write_file(Path(path), certificate, mapping, terms)
        else:
            raise NotAPath(path)
        if target and query:
            write_text(target, query.text, private=query.is_private)
        return certified

    def write_file(
        self,
        path: Path,
        certificate: str | PathLike[str] | None,
        mapping: str | PathLike[str] | None,
        terms: AdmissionOptions,
        within: Path | None = None,
    ) -> dict[str, Any]:
        """Write a file beside its place, check it, then give it its name.

        A file `within` a folder that is itself a draft is in its place once that folder is.
        """
        with refuse_disk_errors(path):
            target = check_target(path, self.table)
            named = check_certificate_path(Path(certificate), self.table, target) if certificate else None
            beside = named or certificate_path(target)
        private = check_mapping(mapping, self.table, target, beside)
        with (
            refuse_disk_errors(target),
            self.map_values(private) as mapped,
            draft_file(target) as draft,
            draft_file(beside) as certificate_draft,
        ):
            format, people = WRITTEN_FORMATS[target.suffix.lower()], self.people_tally()
            write_batches(
                self.stream_counted(mapped, people, for_csv=format == "csv", listed=format != "csv"), draft, target
            )
            report("checking the written file")
            certified = self.certify(draft, target.name, format, terms, people)
            drafted = DraftRelease(draft, certificate_draft, certified, target, self.table, within or draft)
            with self.admit(drafted, mapped, terms):
                check_unpublished(drafted, filter(None, (target, beside, private)), terms)
                put_in_place({draft: target, certificate_draft: beside})
        return certified

    def write_table(
        self,
        address: Address,
        certificate: str | PathLike[str] | None,
        mapping: str | PathLike[str] | None,
        terms: AdmissionOptions,
    ) -> dict[str, Any]:
        """Write a table of a database in one transaction, check its rows as text, then let others see it."""
        if certificate is None:
            raise BadOption(
                "--certificate", "a table in a database has no certificate beside it. Name a file: --certificate FILE."
            )
        with refuse_disk_errors(Path(certificate)):
            beside = check_certificate_path(Path(certificate), self.table)
        private = check_mapping(mapping, self.table, beside)
        with (
            refuse_disk_errors(beside),
            self.map_values(private) as mapped,
            private_folder() as folder,
            open_database(address, self.table.limit) as database,
        ):
            check_elsewhere(address, database.identity(), self.table)
            text = folder / "released.csv"
            people = self.people_tally()
            rows = self.stream_counted(mapped, people, for_csv=False, listed=False)
            with draft_file(beside) as draft, database.write_draft(rows) as table:
                report("checking the written table")
                table.export(text)
                certified = self.certify(text, address.table, "csv", terms, people)
                drafted = DraftRelease(text, draft, certified, beside, self.table, draft, address)
                with self.admit(drafted, mapped, terms):
                    check_unpublished(drafted, filter(None, (beside, private)), terms)
                    table.put_in_place()
                    text.unlink()
                    put_in_place({draft: beside})
        return certified

    def stream_counted(
        self, mapped: MappingDraft | None, people: PeopleTally | None, *, for_csv: bool, listed: bool
    ) -> Any:
        """The rows to write; people, and values for a mapping, are counted while they pass by."""
        report("writing")
        tallies = [*([mapped.tally] if mapped else []), *([people] if people else [])]
        return self.batches(for_csv=for_csv, tallies=tallies, listed=listed and not for_csv)

    @contextmanager
    def admit(self, drafted: DraftRelease, mapped: MappingDraft | None, terms: AdmissionOptions) -> Iterator[None]:
        """Finish the drafts of a release, ask the ledger, and hold it while they are put in place."""
        drafted.certificate.write_bytes(as_json(drafted.claims).encode())
        if mapped:
            mapped.fill(drafted.claims["file"]["sha256"])
        report("looking for earlier releases")
        is_within = drafted.address is None and drafted.trace != drafted.path  # then its folder is put in place later
        with enter_in_ledger(drafted, terms) as admission, nullcontext() if is_within else delay_interrupts():
            yield
            if mapped:
                mapped.put_in_place()
        self.admissions.append(admission)

    def summarize(
        self,
        path: str | PathLike[str],
        certificate: dict[str, Any],
        beside: str | PathLike[str] | None = None,
        mapping: str | PathLike[str] | None = None,
        sql: str | PathLike[str] | None = None,
    ) -> dict[str, Any]:
        """The object `kech release --json` prints of what was written, with what its maker should look at."""
        hidden = find_hidden({name: [pa.array(labels, pa.string())] for name, labels in self.labels.items()})
        return {
            "file": str(find_address(path) or path),
            "certificate": str(beside or certificate_path(Path(path))),
            **certificate["claims"],
            "stated": certificate.get("stated"),
            "measured": certificate["measured"],
            **self.shared_values,
            "coarse": self.parameters.get("coarse"),
            "sample": pick_sample(self.parameters),
            "target": self.parameters.get("target"),
            "weights": self.parameters.get("weights"),
            "ledger": self.admissions[-1].to_json(),
            **find_doubts(self.table, self.published_table, self.axes, hidden),
            "mapping": None if mapping is None else str(mapping),
            "sql": None if sql is None else {"file": str(sql), "private": build_query(self).is_private},
        }

    def bound(self) -> LossBound:
        """How far its loss is above what any release of these rows could reach, as far as that is proven.

        PRIVATE, and never part of the certificate: it is computed from raw rows.  It may take minutes.
        """
        return bound_objective(self.partition, self.parameters["k"], self.request.cut, threads=self.table.threads)

    def certify(
        self, draft: Path, name: str, format: str, terms: AdmissionOptions, people: PeopleTally | None
    ) -> dict[str, Any]:
        """The certificate of the written draft; it must hold what the partition promised."""
        certificate = make_certificate(
            draft,
            published_name=name,
            axes=self.axes,
            sensitive=self.table.sensitive,
            kept=self.table.keep,
            rows_in=self.partition.rows_in,
            most_rows=self.most_rows,
            parameters=self.parameters | terms.to_json(),
            kech_version=self.version,
            values=self.values,
            stated=people.state() if people else {},
            loss_with_l_2=self.public_price if self.is_priced else None,
            person_number=PERSON_NUMBER if self.numbering else None,
            format=format,
        )
        self.check_promises(certificate["claims"], name)
        return certificate

    def check_promises(self, claims: Mapping[str, Any], name: str) -> None:
        """What was recounted from the written rows is what the partition promised."""
        promised = self.partition
        broken = [] if claims["rows"] == int(promised.rows.sum()) else ["rows: some were lost on the way"]
        broken += [] if claims["k"] >= promised.k else ["k: the written classes are smaller than the partition's"]
        if abs(claims["loss"] - self.public_loss) > TOLERANCE:
            broken.append("loss: the written file loses more or less than the partition")
        if broken:
            raise ClaimBroken(name, broken, FAULT_OF_KECH)


@cache
def own_version() -> str:
    """The version of kech, looked up once."""
    return version("kech")

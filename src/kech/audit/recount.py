"""Recount: how many different people each class of a release holds, with the original at hand.  PRIVATE.

In: a release, and its original with the columns that name a person.  Out: a `Recount`.
The release is made again.  Where that gives the published rows, the people of every class are counted.  Where it does
not, a class is seen as its candidates, the rows that its labels cover, and they bound its people:

    at most     min(rows of the class, people among its candidates)
    at least    the fewest people who have as many candidates as the class has rows

Nothing here counts by the code of points or cuts.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from kech.certificate import AnyPath, Axis
from kech.certificate.labels import read_prefix
from kech.certificate.models import fold_text
from kech.errors import BadOption, ClaimBroken, KechError
from kech.points.points import find_hierarchy
from kech.release.linkage import check_covers, check_loaded, link, read_codes
from kech.release.making import repeat_release
from kech.release.published import Ints, Published, group_rows, normalize_cell
from kech.release.writing import write_batches
from kech.request import FIELDS, AxisChoice, Labels, Request
from kech.system.console import report
from kech.system.files import private_folder
from kech.tables.table import Table, read_table

MOST_TEXTS = 100_000  # that are folded once
OTHER_ROWS = (
    "The release of this table, made again, has other rows. Name the plan it was made by (--plan: effort, gap, seed) "
    "and its key (--key-file). Otherwise another version or tool made the file, or the table has changed."
)
LATER_VERSION = (
    "A version of a series holds cohorts of earlier versions, so one table does not make it again. Check the series: "
    "kech verify --series FOLDER."
)
BY_ROWS = "It does not hold by people. Do not publish it. Release the original table again with --person."


@dataclass(frozen=True, eq=False, slots=True)
class Recount:
    """People of each class: at least and at most, which are equal where they are known."""

    least: Ints
    most: Ints
    people: int | None  # of the file; None where that is not known
    why_not: str | None  # made again

    @property
    def is_exact(self) -> bool:
        """Whether the people of every class are known."""
        return bool((self.least == self.most).all())

    def to_json(self) -> dict[str, Any]:
        """What the commands print."""
        return {
            "made_again": self.why_not is None,
            "why_not": self.why_not,
            "k_at_least": int(self.least.min()) if len(self.least) else 0,
            "k_at_most": int(self.most.min()) if len(self.most) else 0,
            "exact_classes": int((self.least == self.most).sum()),
            "people": self.people,
        }


@contextmanager
def name_people(original: AnyPath | Table, person: Sequence[str] = (), key_file: Any = None) -> Iterator[Table]:
    """The original with its person columns and its key: those that are named, or those it was read with."""
    options = {"person": tuple(person) or None, "key_file": key_file}
    if not isinstance(original, Table):
        with read_table(original, **options) as table:
            yield table
    elif key_file is None and options["person"] in (None, original.person):
        yield original
    else:
        with original.reread(**options) as table:
            yield table if key_file else replace(table, other_secret=original.other_secret)


def recount_people(release: Published, original: Table, request: Request | None = None) -> Recount:
    """Count the people of every class, or bound them.

    The release was read with its cells, and the original with its person columns.  The request says what a certificate
    does not: the effort and the seed of the search.
    """
    if not original.person:
        raise BadOption(
            "--person", "it is missing. Name the columns of the original that tell people apart: --person COLUMN."
        )
    if release.document.get("series", {}).get("version", 1) > 1:
        return bound_people(release, original, LATER_VERSION)
    try:
        again = make_again(release, original, request or original.request)
    except KechError as refusal:
        return bound_people(release, original, f"The release cannot be made again. {refusal}")
    if again is None:
        return bound_people(release, original, OTHER_ROWS)
    return count_people(release, again)


def check_people(release: Published, recount: Recount, least: int | None) -> None:
    """Every class can hold k people, and as many as the maker states and as are asked for; ClaimBroken otherwise."""
    stated = release.document.get("stated", {})
    least_people = {"stated": stated.get("k", 0), "asked": least or 0}
    most = recount.to_json()["k_at_most"]
    words = "found" if recount.is_exact else "at most"
    broken = [f"people: {k} {whose}, {words} {most} with the original" for whose, k in least_people.items() if most < k]
    if recount.people is not None and stated and stated["people"] != recount.people:
        broken.append(f"people of the file: {stated['people']} stated, found {recount.people} with the original")
    if broken:
        raise ClaimBroken(release.path, broken)
    if release.document and not stated and most < (k := requested_k(release.document)):
        raise ClaimBroken(
            release.path, [f"people: k = {k} counts rows here, {words} {most} with the original"], BY_ROWS
        )


def requested_k(document: Mapping[str, Any]) -> int:
    """The k that was asked for, as a certificate says."""
    return int(document["parameters"].get("k", document["claims"]["k"]))


# -- the release, again ----------------------------------------------------------------------------------------


def make_again(release: Published, original: Table, request: Request) -> Published | None:
    """The rows of a release that is made again, with the number of each one's person; None where rows differ."""
    document = release.document
    if not document:
        raise BadOption("--certificate", "without it kech cannot make the release again. Name it: --certificate FILE.")
    report("making the release again")
    numbers = PersonNumbers(original.person, [*release.quasi_identifiers, *release.cells])
    as_csv = document["file"]["format"] == "csv"
    with read_as_released(release, original) as table, private_folder() as folder:
        remade = repeat_release(table, document, stated_fields(document, request))
        file = folder / ("again.csv" if as_csv else "again.parquet")
        write_batches(remade.batches(for_csv=as_csv, tallies=[numbers], listed=not as_csv), file, file)
        also = [*release.cells, numbers.name]
        again = group_rows(file, release.quasi_identifiers, release.axes, release.sensitive, also, {})
    return again if count_rows(again, release.cells) == count_rows(release, release.cells) else None


def stated_fields(document: Mapping[str, Any], request: Request) -> dict[str, Any]:
    """What a certificate says was asked for, and what only the plan knows."""
    stated: Mapping[str, Any] = document["parameters"]
    names = [name for name, field in FIELDS.items() if field.public and name in stated]
    fields = {name: stated[name] for name in names if not (name == "k" and stated.get("k_reached"))}
    cut = request.cut
    return fields | {"effort": cut.effort, "gap": cut.gap, "seed": cut.seed}


@contextmanager
def read_as_released(release: Published, original: Table) -> Iterator[Table]:
    """The original with the roles of a certificate; k counts people only where the certificate states them."""
    document = release.document
    roles = {
        "quasi_identifiers": release.quasi_identifiers,
        "sensitive": release.sensitive,
        "person": original.person,
        "identifiers": (),
        "keep": tuple(document["kept"]),
    }
    with original.reread(**roles, axes=find_axes(release, original)) as table:
        clean = Request(
            columns=table.request.columns,
            axes=table.request.axes,
            input=table.request.input,
            labels=Labels(key_file=table.request.labels.key_file),
            limits=table.request.limits,
        )
        request = clean if "stated" in document else clean.override(person=(), rows_are_people=True)
        yield replace(table, request=request, other_secret=original.other_secret)


def find_axes(release: Published, original: Table) -> dict[str, AxisChoice]:
    """How each quasi-identifier was generalized: as the original was read, or else as the certificate tells."""
    stated, chosen = release.document["parameters"], original.request.axes
    axes = {}
    for column, axis in release.axes.items():
        if column not in chosen:
            own = {name: axis[name] for name in ("grid", "protect") if name in axis and axis[name] != stated.get(name)}
            own = {} if stated.get("cut") == "domain" else own
            own |= {"domain": axis["domain"]} if axis.get("domain_given") else {}
            axes[column] = AxisChoice(**find_kind(axis, find_hierarchy(original, column) is not None), **own)
    return axes


def find_kind(axis: Axis, has_hierarchy: bool) -> dict[str, Any]:
    """The kind of an axis as a request names it."""
    kind = axis["axis"]
    if kind == "ordered":
        return {"kind": "ordered", "order": tuple(axis["order"])}
    if kind == "hierarchy":
        is_prefix = any(read_prefix(label) for label in axis["labels"])
        return {"kind": "hierarchy" if has_hierarchy or is_prefix else "star"}
    return {"kind": kind}


class PersonNumbers:
    """Puts a number in the place of each row's person while rows pass by; texts are compared folded."""

    def __init__(self, columns: Sequence[str], taken: Sequence[str]) -> None:
        self.columns = list(columns)
        self.name = "person_number" + "_" * max(map(len, taken))  # no published column has this name
        self.known: dict[tuple[str, ...], int] = {}

    def take_columns(self, stream: Any) -> Any:
        """Take the person columns, the last ones of the stream; gives the stream with a column of numbers instead."""
        kept = [stream.schema.field(i) for i in range(len(stream.schema) - len(self.columns))]
        schema = pa.schema([*kept, pa.field(self.name, pa.int64())])
        return pa.RecordBatchReader.from_batches(schema, self._number(stream, schema))

    def _number(self, stream: Any, schema: Any) -> Iterator[Any]:
        fold = lru_cache(maxsize=MOST_TEXTS)(fold_person)
        width = len(schema) - 1
        for batch in stream:
            people = zip(*(map(fold, column.to_pylist()) for column in batch.columns[width:]), strict=True)
            numbers = [self.known.setdefault(person, len(self.known)) for person in people]
            yield pa.record_batch([*batch.columns[:width], pa.array(numbers, pa.int64())], schema=schema)


def fold_person(cell: object) -> str:
    """A cell of a person column as it is compared; what is missing is nobody, who is one person."""
    text = "" if cell is None else re.sub("[\u00ad\u2010-\u2015\u2212]", "-", fold_text(str(cell)))
    try:
        number = Decimal(text.replace(",", "."))
    except InvalidOperation:
        return text
    return str(number.normalize() if number else Decimal(0)) if number.is_finite() else text


def count_rows(release: Published, columns: Iterable[str]) -> Counter[tuple[Any, ...]]:
    """How often each published row occurs; cells in a form that CSV and Parquet share."""
    read = lru_cache(maxsize=MOST_TEXTS)(normalize_cell)
    cells = [map(read, release.cells[name]) for name in columns]
    return Counter(zip((release.labels[group] for group in release.group.tolist()), *cells, strict=True))


def count_people(release: Published, again: Published) -> Recount:
    """The people of every class, from rows that carry the number of their person."""
    group_of_labels = {labels: group for group, labels in enumerate(release.labels)}
    group = np.array([group_of_labels[labels] for labels in again.labels])[again.group]
    (numbers,) = (cells for name, cells in again.cells.items() if name not in release.cells)
    joined = pa.table({"class": group, "person": list(map(int, filter(None, numbers)))})
    counted = joined.group_by("class").aggregate([("person", "count_distinct")]).sort_by("class")
    people = counted["person_count_distinct"].to_numpy().astype(np.int64)
    return Recount(people, people, len(joined["person"].unique()), None)


# -- candidates ------------------------------------------------------------------------------------------------


def number_people(table: Table, person: Sequence[str] = ()) -> Ints:
    """The number of each row's person, in the order of the table."""
    return number_in_all([table], tuple(person) or table.person)[0]


def number_in_all(tables: Sequence[Table], columns: Sequence[str]) -> list[Ints]:
    """A number for the cells of each row in these columns, folded: equal cells have one number in all tables."""
    for table in tables:
        check_loaded(table, columns)
    coded = [read_codes(table, columns) for table in tables]
    folded = []
    for name in columns:
        texts = [fold_person(text) for each in coded for text in each[name][0]]
        numbers = np.unique(texts, return_inverse=True)[1]
        starts = np.cumsum([0, *(len(each[name][0]) for each in coded)])
        folded.append(
            np.concatenate([numbers[start + each[name][1]] for start, each in zip(starts, coded, strict=False)])
        )
    row_numbers = np.unique(np.stack(folded), axis=1, return_inverse=True)[1].ravel().astype(np.int64)
    return np.split(row_numbers, np.cumsum([table.rows for table in tables])[:-1])


def bound_people(release: Published, original: Table, why_not: str) -> Recount:
    """People of each class, at least and at most, by its candidates."""
    linkage, person = link(release, original), number_people(original)
    report("looking for the candidates of every class")
    candidates = [linkage.candidates(group) for group in range(len(release.labels))]
    check_covers(linkage, np.arange(len(candidates)), np.array(list(map(len, candidates))), "--original")
    rows_of_people = [np.unique(person[rows], return_counts=True)[1] for rows in candidates]
    pairs = list(zip(rows_of_people, release.sizes.tolist(), strict=True))
    least = np.array([fewest_people(counts, rows) for counts, rows in pairs], np.int64)
    most = np.array([min(len(counts), rows) for counts, rows in pairs], np.int64)
    return Recount(least, most, None, why_not)


def fewest_people(counts: Ints, rows: int) -> int:
    """How few people with so many candidates each can have this many rows.

    >>> fewest_people(np.array([1, 4, 2]), 5)
    2
    """
    return int(np.searchsorted(np.cumsum(np.sort(counts)[::-1]), rows)) + 1

"""Fixing: what the first release of a series decides for all others.

In: a request and its table.  Out: the fields that stay; a refusal that names what changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from kech.axes.hierarchy import read_hierarchy
from kech.errors import BadOption
from kech.points.points import find_hierarchy
from kech.request import FIELDS, Request
from kech.request.parts import CUTS, ROLES, SENSITIVE_GOALS
from kech.tables.table import Table

GOALS = ("k", *SENSITIVE_GOALS)
READING = ("dates", "decimal", "null_values", "fold_variants", "rename_duplicates")  # what cells mean
STAY = (
    *ROLES,
    *READING,
    "rows_are_people",
    "key",
    *GOALS,
    "cut",
    "reading",
    "field",
    "objective",
    "metric",
    "eps",
    "levels",
    "grid",
    "protect",
    "labels",
)

NO_ERASURE = (
    "without a key nobody can tell which of several rows with the same quasi-identifiers left or was corrected, and an "
    "erased row could stay. Say hold and keep. To withdraw, begin a series in another folder, with new rows only, and "
    "name a key (--key); share no more of this one."
)

POLICY = {field.name: field.usual for field in FIELDS.values() if field.part == "series" and field.usual is not None}


def fill_policy(request: Request, known: Mapping[str, Any]) -> Request:
    """A request that says what becomes of rows: what it says itself, else what was said last, else what is usual."""
    silent = {name: known.get(name, usual) for name, usual in POLICY.items() if request.value(name) is None}
    return request.override(**silent)


def read_policy(request: Request) -> dict[str, Any]:
    """What a request says of rows that come, leave or change, and later versions do too."""
    return {name: request.value(name) for name in POLICY if name != "most_changed"}


def fix_request(table: Table, request: Request, format: str) -> dict[str, Any]:
    """Everything that later releases must say alike, as it stands in the folder."""
    values = {name: msgspec.to_builtins(request.value(name)) for name in STAY}
    axes = {name: msgspec.structs.replace(choice, hierarchy=None) for name, choice in request.axes.items()}
    fixed = values | {
        "axes": {name: fields for name, choice in axes.items() if (fields := msgspec.to_builtins(choice))},
        "hierarchies": {name: mark for name in table.quasi_identifiers if (mark := mark_hierarchy(table, name))},
        "format": format,
    }
    return dict(msgspec.json.decode(msgspec.json.encode(fixed)))  # as it is read back


def mark_hierarchy(table: Table, column: str) -> list[str]:
    """A keyed hash of each leaf with its labels upward; none where the column has no hierarchy."""
    source = find_hierarchy(table, column)
    if source is None:
        return []
    key = table.secret.derive("hierarchy", column.encode())
    paths = read_hierarchy(source, column=column).paths
    return sorted(blake2b(msgspec.json.encode(path), key=key, digest_size=8).hexdigest() for path in paths)


def check_fixed(fixed: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse a request that differs from the first one; a hierarchy may grow."""
    fixed = add_defaults(fixed)
    changed = [name for name in fixed if name != "hierarchies" and fixed[name] != now.get(name)]
    options = [FIELDS[name].option if name in FIELDS else f"the {name} of the file" for name in changed]
    options += compare_hierarchies(fixed["hierarchies"], now["hierarchies"])
    if options:
        raise BadOption(
            "--series",
            "its first release fixed columns, hierarchies, goals, labels and format. Different now: "
            f"{', '.join(options)}. Ask as the first time; all but hierarchies may be omitted. Or begin a new series "
            "in another folder: with new rows only, or once all versions of this one are forgotten, if nobody received "
            "them (kech series FOLDER --forget).",
        )


def compare_hierarchies(before: Mapping[str, Sequence[str]], now: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What changed in hierarchies, column by column: a leaf that is new changes nothing, one that is lost does."""
    for column in sorted({*before, *now}):
        of = f"the hierarchy of column {column!r}"
        lost = {*before.get(column, ())} - {*now.get(column, ())}
        if column not in now:
            yield f"{of} is not named (--hierarchies)"
        elif column not in before:
            yield f"{of} is new"
        elif lost:
            yield f"{of} lacks {len(lost):,} of its leaves, or has other labels above them (new leaves may be added)"


def check_series(request: Request) -> None:
    """Refuse what a series has no promise for."""
    if request.goal.protect_history:
        reason = "a series cannot keep whole histories of people yet. Omit it, or release without --series."
        raise BadOption("--protect-history", reason)
    request.goal.refuse_sample("its theorem is for one release, and a series has several. Omit --series.")
    if request.labels.labels == "midpoint":
        reason = "the middle of an open label would move with the domain of each version. Take --labels columns."
        raise BadOption("--labels", reason)
    if request.cut.gap is not None:
        raise BadOption("--gap", "bounds are of whole tables, and a series searches new rows only. Omit it.")
    if request.cut.target is not None:
        reason = (
            "all versions of a series are weighed alike. Take the weights that kech preview --for shows: --weights."
        )
        raise BadOption("--for", reason)
    if request.cut.suppress:
        raise BadOption("--suppress", "a series leaves no row out for ever. Let rows wait: --wait 10%.")
    if request.series.wait and CUTS[request.cut.cut].by_components:
        raise BadOption("--wait", f"--cut {request.cut.cut} lets no row wait. Omit it, or choose another cut.")
    for option, value in (("--departures", request.series.departures), ("--corrections", request.series.corrections)):
        if value == "withdraw" and not request.series.key:
            raise BadOption(option, NO_ERASURE)
    if request.series.key and {*request.series.key} <= {*request.columns.sensitive, *request.columns.keep}:
        reason = "it would be published as it is, and tells every row apart. Take it out of --keep and --sensitive."
        raise BadOption("--key", reason)
    if request.goal.k is None:
        raise BadOption("--k", "it is missing. Say among how many rows every row must hide: --k 5.")
    if request.goal.k < 2:
        raise BadOption("--k", "a cohort of one hides nobody. Say 2 or more.")


def restore_request(fixed: Mapping[str, Any]) -> Request:
    """The request of the first release, without its hierarchies, which the folder does not hold."""
    known = add_defaults(fixed)
    fields = {name: known[name] for name in STAY if known[name] not in (None, [])}
    return Request().override(**fields, axes=dict(fixed["axes"]))


def add_defaults(fixed: Mapping[str, Any]) -> dict[str, Any]:
    """What the first release fixed; a field that kech did not have then stands at its default."""
    request = Request()
    defaults = {name: request.value(name) for name in STAY}
    return {**msgspec.json.decode(msgspec.json.encode(defaults)), **fixed}

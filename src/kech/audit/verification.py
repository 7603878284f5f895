"""Verification: what a written file keeps, in every model, by code apart from the cuts.

In: a released file or table of a database, with its certificate or columns of your own; goals; a population; the
original, to recount people.  Out: figures, or ClaimBroken.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from kech.audit.exposure import hide_few, measure_exposure
from kech.audit.recount import check_people, name_people, number_people, recount_people
from kech.certificate import (
    AnyPath,
    certificate_path,
    check_certificate,
    check_table,
    open_published,
    published_columns,
    read_claims,
)
from kech.certificate.check import has_order, read_values
from kech.certificate.sampled import pick_sample
from kech.errors import BadOption, ClaimBroken, check_path
from kech.release.covers import find_cover
from kech.release.linkage import link
from kech.release.published import (
    Published,
    dialect_of,
    find_identifying,
    find_identifying_together,
    find_repeats,
    read_published,
)
from kech.request import Goal, Request
from kech.system.files import private_folder
from kech.tables.repeats import describe_counts
from kech.tables.source import find_address, open_database
from kech.tables.table import Table, read_table

Figures = dict[str, Any]
UNCHECKED = (  # parameters of a certificate that no file shows
    "cut", "objective", "metric", "reading", "field", "eps", "levels", "suppress", "grid", "protect", "k_reached",
    "coarse", "target", "owner_secret", "no_ledger", "allow_composition",
)  # fmt: skip


def verify_release(
    path: AnyPath,
    request: Request | None = None,
    *,
    certificate: AnyPath | None = None,
    population: AnyPath | Table | int | None = None,
    original: AnyPath | Table | None = None,
    **fields: Any,
) -> Figures:
    """Figures of a file whose certificate holds, or of any file on the columns that are named; and its goals hold too.

    `checked` lists the goals that were checked: those of the certificate, and those that were asked here; `unchecked`
    are parameters of the certificate that its maker states and no file shows; `passed_over`
    is a certificate beside the file that was not looked at, since columns are named.
    Columns are named by their roles, with what the file gives away: rows that are unique on all published columns
    together, rows that share one sensitive value with their whole class (fewer than k are told as "<k"), and columns on
    which most rows have a value of their own, or nearly all several together; `repeated_people` warns of those that
    seem to name people and repeat.
    Columns and goals are those of a request, or fields of it.  With the population its people are from, k-map and
    delta-presence are stated; they are None without.
    `stated` is what the maker says of people, whom nobody can recount from the file.  With the original and its
    `person` columns, people are recounted: exactly where the release can be made again from it, as bounds otherwise.
    """
    check_path(path)
    request = (request or Request()).override(**fields)
    quasi_identifiers, sensitive = request.columns.quasi_identifiers or None, request.columns.sensitive
    orders = {name: choice.order for name, choice in request.axes.items() if choice.order and name in sensitive}
    if quasi_identifiers is not None and certificate is not None:
        raise BadOption("--certificate", "it names the columns itself. Omit --certificate or --qi.")
    if find_address(path) and quasi_identifiers is None and certificate is None:
        raise BadOption("--certificate", "a table in a database has none beside it. Name its file: --certificate FILE.")
    if quasi_identifiers is None and sensitive:
        raise BadOption("--sensitive", "a certificate names its columns itself. Omit --sensitive, or add --qi.")
    check_person(request, original)
    with export_as_file(path) as file:
        figures = check_figures(file, certificate, quasi_identifiers, sensitive, request.goal, orders)
        roles = find_roles(file, certificate, quasi_identifiers, sensitive, orders)
        figures |= {name: roles[name] for name in ("quasi_identifiers", "sensitive", "kept")}
        figures |= tell_exposure(file, roles, figures["k"])
        figures["passed_over"] = None if quasi_identifiers is None else find_beside(path)
        figures |= {"stated": roles.get("stated"), "recounted": None, "series": roles.get("series")}
        if original is not None:
            figures["recounted"] = recount_file(file, certificate, request, original)
        if population is None:
            unknown = dict.fromkeys(("population", "population_counted", "k_map", "delta_presence"))
            return figures | unknown
        release = read_published(file, certificate=certificate, quasi_identifiers=quasi_identifiers)
        return figures | measure_presence(release, population)


def check_person(request: Request, original: AnyPath | Table | None) -> None:
    """Refuse to recount people without an original that names them."""
    if original is None and request.columns.person:
        raise BadOption("--person", "only the original names people. Add --original TABLE, or omit --person.")
    person = request.columns.person or (isinstance(original, Table) and original.person)
    if original is not None and not person:
        raise BadOption(
            "--original", "it serves to recount people. Say which columns tell them apart: --person COLUMN."
        )


def recount_file(
    path: AnyPath, certificate: AnyPath | None, request: Request, original: AnyPath | Table
) -> dict[str, Any]:
    """People of the classes of a file, recounted with its original; every class must have as many as it should."""
    if request.columns.quasi_identifiers:
        release = read_published(path, quasi_identifiers=request.columns.quasi_identifiers)
    else:
        release = read_published(path, certificate=certificate, with_cells=True)
    search = {"effort": request.cut.effort, "gap": request.cut.gap, "seed": request.cut.seed or None}
    with name_people(original, request.columns.person, request.labels.key_file) as table:
        recount = recount_people(release, table, table.request.override(**search))
    check_people(release, recount, request.goal.k)
    return recount.to_json()


def find_beside(path: AnyPath) -> str | None:
    """The certificate beside a file, if there is one."""
    beside = certificate_path(path)
    return None if find_address(path) or not beside.is_file() else str(beside)


def check_figures(
    path: AnyPath,
    certificate: AnyPath | None,
    columns: Sequence[str] | None,
    sensitive: Sequence[str],
    goal: Goal,
    orders: Mapping[str, Sequence[str]] | None,
) -> Figures:
    """Figures of a file; ClaimBroken where it does not keep its certificate, or the goals that are asked here.

    Where columns are named, no certificate is looked at; otherwise it tells the columns and how they are read.
    """
    figures: Figures = {}
    certified: Figures = {}
    unchecked: Figures = {}
    known: Figures = {"values": read_orders(orders)}
    if columns is None:
        figures = check_certificate(path, certificate)
        document = read_claims(path, certificate)
        claimed = document["claims"]
        certified = {"k": document["parameters"].get("k", claimed["k"]), **claimed.get("goals", {})}
        unchecked = {name: document["parameters"][name] for name in UNCHECKED if name in document["parameters"]}
        figures |= {"sample": sample} if (sample := pick_sample(document["parameters"])) else {}
        columns = [name for axis in document["quasi_identifiers"] for name in published_columns(axis)]
        sensitive = document["sensitive"]
        known = {"values": document.get("values", {}), **dialect_of(document)}
    goal.check_sensitive(sensitive)
    check_sample(path, goal, figures.get("sample"))
    if goal.protect_history and "histories" not in figures:
        raise ClaimBroken(path, ["histories: no certificate says which rows are of one person"])
    goals = goal.sensitive_goals()
    if goals or goal.k is not None or not figures:
        measured = check_table(path, columns, 1 if goal.k is None else goal.k, sensitive, goals=goals, **known)
        figures = measured | figures
    if goal.protect_history and figures["histories"]["k"] < (goal.k or 1):
        raise ClaimBroken(path, [f"histories.k: asked {goal.k}, found {figures['histories']['k']}"])
    checked_goals = ({} if goal.k is None else {"k": goal.k}) | goals
    checked_goals |= {"t_kind": "equal"} if "t" in checked_goals and not has_order(figures) else {}
    return figures | {"checked": {"certified": certified, "asked": checked_goals}, "unchecked": unchecked}


def check_sample(path: AnyPath, goal: Goal, sample: Mapping[str, Any] | None) -> None:
    """Refuse a file whose certificate states no differential privacy, or a weaker one, where a goal asks for it."""
    limits = {"dp_epsilon": goal.dp_epsilon, "dp_delta": goal.dp_delta}
    missing = [name for name, most in limits.items() if most is not None and (sample is None or sample[name] > most)]
    if missing:
        raise ClaimBroken(path, [f"{name}: asked {limits[name]:g}, and no certificate states it" for name in missing])


def read_orders(orders: Mapping[str, Sequence[str]] | None) -> dict[str, dict[str, Any]]:
    """How ordered columns are read, as in a certificate."""
    return {name: {"kind": "ordered", "order": list(order)} for name, order in (orders or {}).items()}


def find_roles(
    path: AnyPath,
    certificate: AnyPath | None,
    columns: Sequence[str] | None,
    sensitive: Sequence[str],
    orders: Mapping[str, Sequence[str]] | None,
) -> Figures:
    """The columns of a file by their roles, and how it is read: as its certificate says, or as they are named."""
    if columns is not None:
        quasi_identifiers = list(dict.fromkeys(columns))
        others = [name for name in open_published(path).columns if name not in (*quasi_identifiers, *sensitive)]
        roles = {
            "quasi_identifiers": quasi_identifiers,
            "sensitive": list(sensitive),
            "kept": others,
            "labels": quasi_identifiers,
        }
        return {**roles, "file": {}, "values": read_orders(orders)}
    document = read_claims(path, certificate)
    axes = document["quasi_identifiers"]
    labels = [name for axis in axes for name in published_columns(axis)]
    values = read_values(document["sensitive"], document.get("values", {}))
    return {**document, "quasi_identifiers": [axis["column"] for axis in axes], "labels": labels, "values": values}


def tell_exposure(path: AnyPath, roles: Mapping[str, Any], k: int) -> Figures:
    """What a file gives away beside its classes, without values and without counts of few rows."""
    alone = find_identifying(path, roles)
    columns = [roles[name] for name in ("labels", "sensitive", "kept")]
    exposure = measure_exposure(path, *columns, values=roles["values"], **dialect_of(roles))
    together = find_identifying_together(path, roles, alone)
    repeated = [] if "stated" in roles else [warn_reader(*each) for each in find_repeats(path, roles).items()]
    return hide_few(exposure, k) | {
        "identifying": alone,
        "identifying_together": together,
        "repeated_people": repeated,
    }


def warn_reader(column: str, counts: tuple[int, int, int]) -> str:
    """What a reader should know of a published column that seems to name people."""
    sentence = f"Column {column!r} repeats: {describe_counts(*counts)}. If it names people, k counts visits, not people"
    return f"{sentence}, and who finds one row of a person finds all. Release the original again with --person."


@contextmanager
def export_as_file(path: AnyPath) -> Iterator[AnyPath]:
    """The file itself; or the rows of a table of a database as text, in a private file while they are looked at."""
    address = find_address(path)
    if address is None:
        yield path
        return
    with private_folder() as folder, open_database(address) as database:
        file = folder / "released.csv"
        database.export(file)
        try:
            yield file
        except ClaimBroken as refusal:
            raise ClaimBroken(address, refusal.broken) from None


def measure_presence(release: Published, population: AnyPath | Table | int) -> Figures:
    """k-map and delta-presence: how many people a record could be, and how likely each of them is in the file.

    With n_j rows of class j in the file, N_j rows of the population that it covers, and F_j people among them (rows,
    where the population names nobody), k-map = min_j F_j.  A person is in the file with the chance n_j / N_j, summed
    over their rows and all classes that cover them, at most 1; delta-presence is the smallest and the largest chance.
    """
    if isinstance(population, int):
        raise BadOption(
            "--population", "k-map and delta-presence need the people themselves. Name their table, not their number."
        )
    if not release.rows:
        raise BadOption(str(release.path), "it has no rows, so nobody is in it. Name another file.")
    if not isinstance(population, Table):
        with read_table(population) as table:
            return measure_presence(release, table)
    linkage, stated = link(release, population), release.document.get("stated")
    cover = find_cover(linkage, "--population", np.full(len(release.labels), stated["k"]) if stated else None)
    is_named = bool(population.person)
    number = number_people(population) if is_named else np.arange(linkage.rows)
    pairs = np.unique(np.stack([cover.cell, number[cover.row]]), axis=1)
    chances = (release.sizes / cover.sizes).clip(max=1.0)[cover.cell]
    present = np.bincount(number[cover.row], weights=chances, minlength=int(number.max()) + 1).clip(max=1.0)
    return {
        "population": len(present),
        "population_counted": "people" if is_named else "rows",
        "k_map": int(np.bincount(pairs[0]).min()),
        "delta_presence": [float(present.min()), float(present.max())],
    }

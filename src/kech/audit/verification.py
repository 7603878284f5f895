"""Verification: what a written file keeps, in every model, by code apart from the cuts.

In: a released file or table of a database, with its certificate or columns of your own; goals; a population.
Out: figures, or ClaimBroken.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kech.audit.exposure import hide_few, measure_exposure
from kech.certificate import (
    AnyPath,
    check_certificate,
    check_table,
    open_published,
    published_columns,
    read_claims,
)
from kech.certificate.check import read_values
from kech.errors import BadOption, ClaimBroken
from kech.release.composition import find_cover
from kech.release.linkage import link
from kech.release.published import Published, dialect_of, find_joint_pointers, find_pointers, read_published
from kech.request import Goal, Request
from kech.system.files import private_folder
from kech.tables.source import find_address, open_database
from kech.tables.table import Table, read_table

Figures = dict[str, Any]


def verify_release(
    path: AnyPath,
    request: Request | None = None,
    *,
    certificate: AnyPath | None = None,
    population: AnyPath | Table | int | None = None,
    **fields: Any,
) -> Figures:
    """Figures of a file whose certificate holds, or of any file on the columns that are named; and its goals hold too.

    `checked` lists the goals that were checked: those of the certificate, and those that were asked here; `passed_over`
    is a certificate beside the file that was not looked at, since columns are named.
    Columns are named by their roles, with what the file gives away: rows that are unique on all published columns
    together, rows that share one sensitive value with their whole class (fewer than k are told as "<k"), and columns on
    which nearly every row has values of its own, alone or together.
    Columns and goals are those of a request, or fields of it.  With the population its people are from, k-map and
    delta-presence are stated; they are None without.
    """
    asked = (request or Request()).override(**fields)
    quasi_identifiers, sensitive = asked.columns.quasi_identifiers or None, asked.columns.sensitive
    orders = {name: choice.order for name, choice in asked.axes.items() if choice.order and name in sensitive}
    if quasi_identifiers is not None and certificate is not None:
        raise BadOption("--certificate", "check a certificate, or the columns and goals you name, not both.")
    if find_address(path) and quasi_identifiers is None and certificate is None:
        raise BadOption("--certificate", "a table in a database has no certificate beside it: name the file.")
    if quasi_identifiers is None and sensitive:
        raise BadOption("--sensitive", "a certificate names its sensitive columns itself; use it with --qi.")
    with as_file(path) as file:
        figures = check_figures(file, certificate, quasi_identifiers, sensitive, asked.goal, orders)
        roles = find_roles(file, certificate, quasi_identifiers, sensitive, orders)
        figures |= {name: roles[name] for name in ("quasi_identifiers", "sensitive", "kept")}
        figures |= tell_exposure(file, roles, figures["k"])
        figures["passed_over"] = None if quasi_identifiers is None else find_beside(path)
        if population is None:
            return figures | {"population": None, "k_map": None, "delta_presence": None}
        release = read_published(file, certificate=certificate, quasi_identifiers=quasi_identifiers)
        return figures | measure_presence(release, population)


def find_beside(path: AnyPath) -> str | None:
    """The certificate beside a file, if there is one."""
    beside = Path(f"{os.fspath(path)}.certificate.json")
    return None if find_address(path) or not beside.is_file() else str(beside)


def check_figures(
    path: AnyPath,
    certificate: AnyPath | None,
    columns: Sequence[str] | None,
    sensitive: Sequence[str],
    goal: Goal,
    orders: Mapping[str, Sequence[str]] | None,
) -> Figures:
    """Figures of a file that keeps its certificate, and the goals that are wanted."""
    figures: Figures = {}
    certified: Figures = {}
    known: Figures = {"values": read_orders(orders)}
    if columns is None:
        figures = check_certificate(path, certificate)
        document = read_claims(path, certificate)
        claimed = document["claims"]
        certified = {"k": document["parameters"].get("k", claimed["k"]), **claimed.get("goals", {})}
        columns = [name for axis in document["quasi_identifiers"] for name in published_columns(axis)]
        sensitive = document["sensitive"]
        known = {"values": document.get("values", {}), **dialect_of(document)}
    goal.check_sensitive(sensitive)
    wanted = goal.for_values()
    if wanted or goal.k is not None or not figures:
        found = check_table(path, columns, 1 if goal.k is None else goal.k, sensitive, goals=wanted, **known)
        figures = found | figures
    asked = ({} if goal.k is None else {"k": goal.k}) | wanted
    return figures | {"checked": {"certified": certified, "asked": asked}}


def read_orders(orders: Mapping[str, Sequence[str]] | None) -> dict[str, dict[str, Any]]:
    """How ordinal columns are read, as in a certificate."""
    return {name: {"kind": "ordinal", "order": list(order)} for name, order in (orders or {}).items()}


def find_roles(
    path: AnyPath,
    certificate: AnyPath | None,
    columns: Sequence[str] | None,
    sensitive: Sequence[str],
    orders: Mapping[str, Sequence[str]] | None,
) -> Figures:
    """The columns of a file by their roles, and how it is read: as its certificate says, or as they are named."""
    if columns is not None:
        named = list(dict.fromkeys(columns))
        others = [name for name in open_published(path).columns if name not in (*named, *sensitive)]
        roles = {"quasi_identifiers": named, "sensitive": list(sensitive), "kept": others, "labels": named}
        return {**roles, "file": {}, "values": read_orders(orders)}
    document = read_claims(path, certificate)
    axes = document["quasi_identifiers"]
    labels = [name for axis in axes for name in published_columns(axis)]
    values = read_values(document["sensitive"], document.get("values", {}))
    return {**document, "quasi_identifiers": [axis["column"] for axis in axes], "labels": labels, "values": values}


def tell_exposure(path: AnyPath, roles: Mapping[str, Any], k: int) -> Figures:
    """What a file gives away beside its classes, without values and without counts of few rows."""
    alone = find_pointers(path, roles)
    given = [roles[name] for name in ("labels", "sensitive", "kept")]
    found = measure_exposure(path, *given, values=roles["values"], **dialect_of(roles))
    together = find_joint_pointers(path, roles, alone)
    return hide_few(found, k) | {"identifying": alone, "identifying_together": together}


@contextmanager
def as_file(path: AnyPath) -> Iterator[AnyPath]:
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

    With f_j rows of class j in the file, and F_j people that it covers, k-map = min_j F_j.  A person is in the file
    with the chance f_j / F_j, summed over all classes that cover it where boxes overlap, at most 1; delta-presence is
    the smallest and the largest chance.
    """
    if isinstance(population, int):
        raise BadOption("--population", "k-map and delta-presence need the table of the people, not their number.")
    if not release.rows:
        raise BadOption(str(release.path), "it has no rows, so nobody is in it.")
    if not isinstance(population, Table):
        with read_table(population) as table:
            return measure_presence(release, table)
    linkage = link(release, population)
    cover = find_cover(linkage, "--population")
    chances = (release.sizes / cover.sizes)[cover.cell]
    present = np.bincount(cover.row, weights=chances, minlength=linkage.rows).clip(max=1.0)
    delta = [float(present.min()), float(present.max())]
    return {"population": linkage.rows, "k_map": int(cover.sizes.min()), "delta_presence": delta}

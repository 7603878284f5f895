"""Making: a table is cut as a request says, and becomes a release.

In: a table or dataframe, and a request.  Out: a `Release`, or a refusal before any long work.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from os import PathLike
from typing import Any

from kech.certificate import certificate_path
from kech.certificate.cells import digest
from kech.cuts import cut_points
from kech.cuts.protection import is_protected
from kech.cuts.target import check_target
from kech.errors import AlreadyReleased, BadOption, GoalNotMet
from kech.points.partition import Partition
from kech.points.points import PointLimit, Points, build_points_to_cut
from kech.release.fixed import check_fixed
from kech.release.numbering import check_number_column
from kech.release.release import Release, own_version
from kech.release.writing import check_names
from kech.request import Request, check_ks
from kech.tables.repeats import check_identifiers, warn_of_repeats
from kech.tables.table import Table, check_is_table, read_table


def make_release(
    table: Any, request: Request | None = None, *, k: int | None = None, preview: bool = False, **fields: Any
) -> Release:
    """Part the rows into classes of at least k rows, as a request says, or fields of it: `make_release(table, k=5)`.

    A dataframe is read first, with its columns: `make_release(df, k=5, quasi_identifiers=["age"], sensitive=["pay"])`.
    The regime cut takes a reading (homological: with the prime of its field), or an eps in place of k: then k is what
    the components at eps give.
    The other cuts may leave rows out, a share of `suppress` at most.  The search of the local and the minimal cut takes
    an effort (quick, normal, best, or seconds) and a seed.  In every class every sensitive column keeps l (distinct,
    entropy, or recursive with c), t (equal or ordered distance) and alpha, where they are asked for.  `labels` is how
    intervals are written: text `[22, 25]`, dash `22-25`, columns, one for each end, or midpoint and half width.
    More points than `max_points` (otherwise: than memory holds) make the axes coarser, and the certificate says so.
    An identifier that repeats is refused, unless `person` or `rows_are_people` was said of the table.  For a `preview`
    it is a warning, and the release is refused when its rows are asked for.
    """
    if not isinstance(table, Table):
        return release_frame(table, request, preview, fields | {"k": k})
    request = table.resolve_request(request, fields | {"k": k})
    check_original(table)
    if not preview:
        check_identifiers(table)
    check_request(request, table)
    warn_of_repeats(table)
    return cut_release(table, request)


def repeat_release(table: Table, document: Mapping[str, Any], fields: Mapping[str, Any]) -> Release:
    """The release that a certificate is of, with fields that it does not state; any memory gives the same labels."""
    coarse = document["parameters"].get("coarse")
    request = table.resolve_request(None, dict(fields))
    return cut_release(table, request, step=coarse["step"] if coarse else 0.0)


def release_frame(frame: Any, request: Request | None, preview: bool, fields: Mapping[str, Any]) -> Release:
    """The release of a dataframe, which is held as long as its release; a file is read first by its owner."""
    if isinstance(frame, str | PathLike):
        check_is_table(frame)
    table = read_table(frame, request, **fields)
    try:
        return make_release(table, preview=preview)
    except BaseException:
        table.close()
        raise


def cut_release(table: Table, request: Request, step: float | None = None, *, table_rows: int = 0) -> Release:
    """The release of a table that was checked, as a checked request says; axes are as coarse as a step, if one is
    given.  A table that is a part of another one, with `table_rows`, is searched as a part of it.
    """
    k = check_request(request, table)
    _ = table.secret  # where none can be made, that is said before any work
    points = build_request_points(table, request, step)
    (partition,) = cut_points(points, [k or 2], request.cut, request.goal, threads=table.threads, table_rows=table_rows)
    if partition.k < (k or 2):
        goal = f"You asked for k={k}" if k else "A release hides every row among two or more"
        one, several = ("row", "rows") if partition.points.person is None else ("person", "people")
        advice = "Choose a smaller k, or --cut local." if k else "Choose a larger --eps."
        raise GoalNotMet(
            f"{goal}. The smallest class would have {partition.k} {one if partition.k == 1 else several}. {advice}"
        )
    origin = partition.points.origin
    stated = (state_parameters(request, partition), own_version(), request, points.most_rows)
    release = Release(origin.table if origin else table, partition, *stated)
    check_names([output.name for name in release.columns for output in release.outputs(name)])
    return release


def build_request_points(table: Table, request: Request, step: float | None = None) -> Points:
    """The points of a table as a request wants them cut."""
    point_limit = PointLimit(request.limits.max_points, request.goal.k or 2, for_release=True, step=step)
    histories = request.goal.protect_history
    return build_points_to_cut(table, request.labels, request.cut, point_limit=point_limit, histories=histories)


def check_request(request: Request, table: Table) -> int | None:
    """The k that is asked for; none where an eps stands in its place.  Histories need people."""
    k = request.goal.k
    request.goal.check_person(table.person)
    if request.goal.dp_epsilon is not None:
        check_fixed(table, request)
    if request.goal.protect_history:
        check_number_column(table.columns)
    if request.cut.target is not None:
        check_target(request.cut.target, table.sensitive)
    if k is None and request.cut.eps is None:
        raise BadOption("--k", "it is missing. Say among how many rows every row must hide: --k 5.")
    return None if k is None else check_ks([k], table.rows)[0]


def state_parameters(request: Request, partition: Partition) -> dict[str, Any]:
    """What a reader should know of a request and of how it was met.

    The owner's secret decides the labels of some cuts: the search, or how far they are padded and their ends moved.
    Where no sensitive column has an order, t bounds the equal distance, whichever was asked for.
    """
    points, cut, sensitive = partition.points, request.cut, partition.points.sensitive
    stated = request.public_parameters()
    if cut.target is not None and points.origin:
        stated["weights"] = dict(points.origin.weights)
    if request.goal.k is None:
        stated |= {"k": partition.k, "k_reached": True}
    if points.step:
        stated["coarse"] = {"step": points.step, "eps_error": points.eps_error()}
    if cut.is_searched or request.goal.dp_epsilon is not None or (not cut.by_level and is_protected(points)):
        stated["owner_secret"] = True
    if request.goal.t is not None and not (sensitive and any(column.ordered for column in sensitive.columns)):
        stated["t_kind"] = "equal"
    return stated


def check_original(table: Table) -> None:
    """A file that is a release itself, by the certificate beside it, is no table of people."""
    file = table.source.here
    with suppress(OSError, ValueError, TypeError, LookupError):
        if file.is_file() and json.loads(certificate_path(file).read_bytes())["file"]["sha256"] == digest(file):
            raise AlreadyReleased(file)

"""Lives of a series, or of releases with their originals: which classes live how long, and the joint k.  PRIVATE.

In: a series, the rows and classes of versions, or released files with their originals and a key.  Out: `Lives`.
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any, cast

import numpy as np

from kech.audit.joint import check_releases, fit_versions, measure_fitted, open_originals, read_release
from kech.audit.placing import assign_rows_to_classes
from kech.certificate import AnyPath
from kech.errors import BadOption
from kech.release.composition import find_same
from kech.release.covers import Cover
from kech.release.joint import LinkedVersion
from kech.release.series import Series
from kech.request import Request
from kech.system.console import report
from kech.system.memory import limit_of
from kech.tables.table import Table
from kech.topology import lives
from kech.topology.lives import JointCount, Lives, build_lives


def compute_lives(
    versions: Any,
    originals: Sequence[AnyPath | Table] = (),
    request: Request | None = None,
    *,
    key: Sequence[str] | str = (),
    **fields: Any,
) -> Lives:
    """Bars of the zig-zag over versions, and the joint k of all of them.  PRIVATE.

    `versions` are a series; or pairs of int64 arrays, the numbers of the rows of a version and of their classes, both
    from 0 on; or released files, each with its original, or all with one.  A row is recognised
    in the next original by the columns of `key`.  A row that fits several classes of a file is placed into one of them:
    under the labels it had in the file before where it can, and so that every class gets as many rows as it holds.
    Bars are of that reading, in which rows of a safe series may seem apart; `undecided` counts such rows.  The joint k
    of files is that of `compute_joint_risk`.  Without k, it is that of the series, or of the smallest class.
    """
    request = (request or Request()).override(**fields)
    columns = (key,) if isinstance(key, str) else tuple(key)
    known: dict[str, Any] = {"threads": request.limits.threads or 1, "memory": limit_of(request.limits.memory)}
    k = request.goal.k
    if originals:
        pairs, known["joint"], known["undecided"] = follow_files(list(versions), originals, columns, request)
    else:
        pairs = read_versions(versions, columns)
        k = versions.request.goal.k if k is None and isinstance(versions, Series) else k
    return build_lives(pairs, k, **known)


def read_versions(versions: Any, key: Sequence[str]) -> list[lives.RowClasses]:
    """The versions of a series, or those that are given."""
    if key:
        raise BadOption("--key", "it recognises rows of the originals. Name these: --original FILE ...")
    if not isinstance(versions, Series | Iterable):
        raise BadOption("versions", f"its type is {type(versions).__name__}. Give a series, or a list of versions.")
    pairs = versions.versions() if isinstance(versions, Series) else list(versions)
    if any(isinstance(version, str) or not isinstance(version, Sequence) for version in pairs):
        raise BadOption(
            "--original",
            "the number of originals does not fit. Name one for each file, in their order, or one for all.",
        )
    return [cast("lives.RowClasses", tuple(map(np.asarray, version))) for version in pairs]


def follow_files(
    files: Sequence[AnyPath], originals: Sequence[AnyPath | Table], key: Sequence[str], request: Request
) -> tuple[list[lives.RowClasses], JointCount, int]:
    """The rows of each file and their classes; their joint k; and how many rows fitted several classes."""
    check_releases(files, originals, key, request)
    published = [read_release(path, request) for path in files]
    with ExitStack() as stack:
        tables = [stack.enter_context(opened) for opened in open_originals(published, originals, key, request)]
        fitted = fit_versions(published, tables, key)
        joint = measure_fitted(fitted, tables, key, (), request.goal.k)
        assigned = assign_rows_of_versions(fitted.versions, fitted.narrowed)
    undecided = sum(int((np.unique(cover.row, return_counts=True)[1] > 1).sum()) for cover in fitted.narrowed)
    return assigned, JointCount(joint.joint_k, joint.sure_k, joint.below, joint.changed), undecided


def assign_rows_of_versions(versions: Sequence[LinkedVersion], covers: Sequence[Cover]) -> list[lives.RowClasses]:
    """Place version after version, each row under its labels of the version before where it can."""
    report("placing rows into classes")
    assigned: list[lives.RowClasses] = []
    known = set[int]()
    for index, (version, cover) in enumerate(zip(versions, covers, strict=True)):
        same = find_same(versions[index - 1].linkage, version.linkage) if assigned else {}
        before = zip(*(values.tolist() for values in assigned[-1]), strict=True) if assigned else ()
        preferred = {row: same[cell] for row, cell in before if cell in same}
        assigned.append(assign_rows_to_classes(cover, version.linkage.release.sizes, preferred, known))
        known.update(version.key.tolist())
    return assigned

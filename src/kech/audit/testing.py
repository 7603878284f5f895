"""Testing: claims about a dataframe or a released file for your own tests, counted from it alone.

In: a dataframe and what it must keep, or a file with its certificate.  Out: nothing, or an AssertionError that names
classes by their size, or claims.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from kech.certificate.cells import AnyPath, Batch, TextTable
from kech.certificate.check import broken_goals, check_certificate, count
from kech.certificate.models import model_figures
from kech.certificate.tally import Cell
from kech.errors import ClaimBroken
from kech.request import Request
from kech.tables.frames import collect

MOST_SIZES = 10  # that a message lists


def assert_k_anonymous(
    frame: Any, quasi_identifiers: Sequence[str], k: int, *, sensitive: Sequence[str] = (), **goals: Any
) -> None:
    """Fail unless every row of a pandas, polars or pyarrow frame is one of at least k that look alike.

    Rows look alike where all quasi-identifiers are equal; a missing value equals a missing value only.  With goals, as
    in `make_release` (l, t, alpha), every class must keep them for every sensitive column.  A frame without rows fails.

    >>> import pyarrow
    >>> assert_k_anonymous(pyarrow.table({"age": ["[20, 29]"] * 3 + ["[30, 39]"] * 2}), ["age"], k=2)
    >>> assert_k_anonymous(pyarrow.table({"age": ["[20, 29]"] * 3 + ["[30, 39]"] * 2}), ["age"], k=3)
    Traceback (most recent call last):
    AssertionError: not 3-anonymous on 'age': 1 of 2 classes have fewer than 3 rows, of sizes 2 (2 of 5 rows)
    """
    __tracebackhide__ = True  # pytest would show the frame
    request = Request().override(quasi_identifiers=quasi_identifiers, sensitive=sensitive, k=k, **goals)
    columns, secrets, goal = request.columns.quasi_identifiers, request.columns.sensitive, request.goal
    goal.check_sensitive(secrets)
    table = text_of(frame)
    classes, within = count(table, columns, secrets)
    broken = small_classes(classes.rows.tolist(), k, columns)
    if goal.has_sensitive_goals:
        value_goals = goal.sensitive_goals()
        broken += broken_goals(value_goals, model_figures(table, within, {}, value_goals))
    if broken:
        raise AssertionError("; ".join(broken))


def assert_release(path: AnyPath, certificate: AnyPath | None = None) -> None:
    """Fail unless a released file keeps what its certificate claims, counted from the file alone."""
    __tracebackhide__ = True
    try:
        check_certificate(path, certificate)
    except ClaimBroken as broken:
        raise AssertionError(str(broken)) from None


def small_classes(sizes: Sequence[int], k: int, columns: Sequence[str]) -> list[str]:
    """A complaint about classes of fewer than k rows."""
    small = Counter(size for size in sizes if size < k)
    claim = f"not {k}-anonymous on {', '.join(map(repr, columns))}"
    if not sizes:
        return [f"{claim}: the frame has no rows"]
    if not small:
        return []
    rows = sum(size * classes for size, classes in small.items())
    listed = [f"{size} ({classes} times)" if classes > 1 else f"{size}" for size, classes in sorted(small.items())]
    sizes_text = ", ".join(listed[:MOST_SIZES]) + (", ..." if len(listed) > MOST_SIZES else "")
    few = f"{small.total()} of {len(sizes)} classes have fewer than {k} rows, of sizes {sizes_text}"
    return [f"{claim}: {few} ({rows} of {sum(sizes)} rows)"]


def text_of(frame: Any) -> TextTable:
    """A dataframe as the certificate reads a file: every cell as text."""
    collected = collect(frame)

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        yield [column_text(collected.get_column(name)) for name in names]

    return TextTable(list(collected.columns), batches, lambda cell: cell)


def column_text(column: Any) -> list[Cell]:
    """Different values become different text; None where one is missing."""
    try:
        return list(column.to_arrow().cast(pa.string()).to_pylist())
    except (pa.ArrowException, TypeError, ValueError):
        pairs = zip(column.to_list(), column.is_null().to_list(), strict=True)
        return [None if missing else repr(value) for value, missing in pairs]

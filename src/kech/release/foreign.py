"""Foreign: released files without a certificate, of any tool.

In: a file and the names of its quasi-identifiers.  Out: a `Published` whose labels are read as far as they are written
in a way that kech knows: intervals `[20, 30]`, `[20, 30)`, `[20, 30[` and `20-30`, tails `>= 80`, sets `{a, b}`,
prefixes `476**`, `*`, values, and nodes of a hierarchy that is given.  Any other label covers only the same text.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from math import isnan

from kech.certificate import AnyPath, Axis, Cell, open_published
from kech.certificate.labels import DASHES, EVERYTHING, read_interval, read_prefix, read_set
from kech.release.published import Published, group_rows, read_published

HALF_OPEN = re.compile(r"(\[[^\[\]]+)\[")  # [20, 30[, as ARX writes it


def read_foreign(
    path: AnyPath, columns: Sequence[str], sensitive: Sequence[str], hierarchies: Collection[str]
) -> Published:
    """The classes of a file on these columns, with the cells of all others."""
    bare = read_published(path, quasi_identifiers=columns)
    guessed = {name: guess_axis(name, bare.column_labels(name), name in hierarchies) for name in bare.quasi_identifiers}
    axes = {name: axis for name, axis in guessed.items() if axis}
    others = [name for name in open_published(path).columns if name not in bare.quasi_identifiers]
    published = group_rows(path, bare.quasi_identifiers, axes, tuple(sensitive), others, {})
    return replace(published, labels=tuple(tuple(map(close_interval, labels)) for labels in published.labels))


def guess_axis(column: str, labels: Sequence[Cell], has_hierarchy: bool) -> Axis:
    """How the labels of a column can be read; empty where each stands for itself."""
    texts = {close_interval(label) or "" for label in labels} - {"", EVERYTHING}
    prefixes = {text: 2 for text in texts if read_prefix(text)}
    for kind in ("number", "date"):
        axis = {"column": column, "axis": kind}
        dashed = {text for text in texts if DASHES[kind].fullmatch(text)}
        if texts and not has_hierarchy and all(is_interval(axis, text) for text in texts - dashed):
            return axis | ({"form": "dash"} if dashed else {})
    if has_hierarchy or prefixes:
        return {"column": column, "axis": "hierarchy", "leaves": 0, "labels": prefixes}
    return {"column": column, "axis": "set"} if any(map(is_set, texts)) and all(map(is_readable, texts)) else {}


def is_interval(axis: Axis, text: str) -> bool:
    """Whether a label is an interval of numbers or dates, or one of them."""
    low, high, _ = read_interval(axis, text)
    return not (isnan(low) or isnan(high))


def is_set(text: str) -> bool:
    """Whether a label lists values."""
    return text.startswith("{")


def is_readable(text: str) -> bool:
    """Whether a label is a value, or lists values in a way that kech reads."""
    try:
        return bool(read_set(text))
    except ValueError:
        return False


def close_interval(label: Cell) -> Cell:
    """A half-open interval of ARX, `[20, 30[`, as kech writes it: `[20, 30)`; any other label as it is."""
    match = HALF_OPEN.fullmatch(label or "")
    return f"{match[1]})" if match else label

"""Joining: one axis for the labels of several versions, so that one certificate measures them all.

In: the axes of the last certificate, and those of the new cohorts.  Out: axes that read the labels of both.
Widths are shares of the widest axis that any version had: the hull of domains, the largest count of leaves or values.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kech.certificate.labels import read_position
from kech.errors import BadSeries

Axis = Mapping[str, Any]


def join_axes(
    folder: object, old: Sequence[Axis], new: Sequence[Axis], old_tells: Sequence[bool], new_tells: Sequence[bool]
) -> list[dict[str, Any]]:
    """Axes for the labels of both; an axis that tells nothing does not change the other."""
    joined = []
    for before, after, was_used, is_used in zip(old, new, old_tells, new_tells, strict=True):
        if not is_used or not was_used:
            joined.append(dict(after if is_used else before))
        elif before["axis"] != after["axis"]:
            reason = f"column {before['column']!r} was read as {before['axis']}, and is {after['axis']} now."
            raise BadSeries(folder, f"{reason} Write it as in earlier versions, or begin a new series.")
        else:
            joined.append(JOINS[before["axis"]](before, after))
    return [spread_rare(axis) for axis in joined]


def join_lines(old: Axis, new: Axis) -> dict[str, Any]:
    """The hull of both domains; an interval without its last end is read as one with it, which holds all its rows."""
    low = min(old["domain"][0], new["domain"][0], key=lambda end: read_position(old, str(end)))
    high = max(old["domain"][1], new["domain"][1], key=lambda end: read_position(old, str(end)))
    closed = {"closed": old["closed"] or new["closed"]} if "closed" in old else {}
    return {**new, "domain": [low, high], **closed}


def join_trees(old: Axis, new: Axis) -> dict[str, Any]:
    """All labels, each with the most leaves that it had in any version."""
    leaves = max(old["leaves"], new["leaves"])
    names = sorted({*old["labels"], *new["labels"]})
    labels = {name: max(old["labels"].get(name, 1), new["labels"].get(name, 1)) for name in names}
    labels |= {"*": leaves} if "*" in labels else {}
    return {**new, "leaves": leaves, "labels": labels}


def join_sets(old: Axis, new: Axis) -> dict[str, Any]:
    """The most values of any version, and every count of rare values that a label prints."""
    rare = {count for axis in (old, new) for count in list_counts(axis["rare"])}
    return {**new, "values": max(old["values"], new["values"]), "rare": sorted(rare)}


def join_orders(old: Axis, new: Axis) -> dict[str, Any]:
    """The longer order: all are parts of the one that the request names."""
    longer = max(old, new, key=lambda axis: len(axis["order"]))
    return {**new, "order": list(longer["order"])}


def spread_rare(axis: dict[str, Any]) -> dict[str, Any]:
    """An axis of a series: what is rare in one version may be spelled out in another."""
    return axis | ({"rare": list_counts(axis["rare"])} if axis["axis"] == "set" else {})


def list_counts(rare: int | list[int]) -> list[int]:
    """The counts of rare values in an axis, as a list."""
    return rare if isinstance(rare, list) else [rare]


JOINS = {"number": join_lines, "date": join_lines, "hierarchy": join_trees, "set": join_sets, "ordered": join_orders}


def join_values(
    old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]], empty: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """How sensitive columns are read: as text where versions differ; a column without values changes nothing."""
    joined = {}
    for name, before in old.items():
        after = before if name in empty else new.get(name, before)
        joined[name] = dict(before) if before == after else {"kind": "text"}
    return joined


def find_kinds(axes: Sequence[Axis], used: Sequence[bool]) -> dict[str, str]:
    """The kind of each axis that tells something, in the words of a request; an order is in the request itself."""
    return {
        axis["column"]: axis["axis"]
        for axis, is_used in zip(axes, used, strict=True)
        if is_used and axis["axis"] != "ordered"
    }

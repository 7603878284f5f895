"""Cutting: points of a table, and their partitions as a request asks for them."""

from contextlib import contextmanager
from dataclasses import replace
from pkgutil import resolve_name
from unittest.mock import patch

import numpy as np

import kech
from kech.cuts import cut_points
from kech.points.partition import mean_loss
from kech.points.points import build_points


def say_labels(**said):
    """What a request says of labels."""
    return kech.Request().override(**said).labels


def say_goal(**said):
    """What a request says of the goal."""
    return kech.Request().override(**said).goal


def code_points(source, names=None, *, by_level=False, with_sensitive=False, roles=None, **said):
    """The points of a table on the grid that is asked for; all columns are quasi-identifiers unless some are named."""
    with kech.read_table(source, quasi_identifiers=names or source.column_names, **roles or {}) as table:
        return build_points(table, labels=say_labels(**said), by_level=by_level, with_sensitive=with_sensitive)


def cut(points, ks, name="local", *, goal=None, threads=1, split_points=True, **said):
    """A partition for each k, as it is published."""
    asked = kech.Request().override(cut=name, **said).cut
    return list(cut_points(points, ks, asked, goal or say_goal(), threads=threads, split_points=split_points))


def check_partition(partition, points, k):
    """Every row in one class of k rows or more, inside its box."""
    rows = np.bincount(partition.point, weights=partition.rows, minlength=len(points.weights))
    codes = points.codes[partition.point]
    assert rows.tolist() == points.weights.tolist()
    assert partition.sizes.min() >= k
    assert partition.rows.min() > 0
    assert (partition.lo[partition.group] <= codes).all()
    assert (codes <= partition.hi[partition.group]).all()


def searched_loss(partition):
    """The loss as the search sees it: a set is as wide as the run from its most frequent to its rarest value."""
    return mean_loss(replace(partition, members={}))


@contextmanager
def recording(path):
    """The calls of a function while something else runs: (its arguments, what it returned)."""
    real, calls = resolve_name(path), []

    def call(*values, **named):
        calls.append((values, real(*values, **named)))
        return calls[-1][1]

    with patch(path, call):
        yield calls


def cut_unprotected(points, k):
    """A partition as the search leaves it, before its labels are protected."""
    with recording("kech.cuts.goals.protect_labels") as calls:
        cut(points, [k], effort="quick")
    (((tight,), _),) = calls
    return tight

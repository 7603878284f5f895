"""Points that several classes share: their rows are dealt by their sensitive values."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import kech
from cutting import say_labels
from kech.points.partition import assign_grains, build_partition
from kech.points.points import build_points


@pytest.mark.parametrize("split", [(1, 11), (2, 10), (4, 8), (5, 7), (6, 6), (9, 3), (11, 1)])
def test_rows_of_a_divided_point_are_dealt_by_their_values(split):
    """The j-th of n rows that a class takes stands at (j + 1/2) / n beside the rows of the point, lined up by value."""
    values = "xxxxxxxyyyyz"
    table = pa.table({"a": [1] * 12 + [2] * 3, "s": [*values, *"wwv"]})
    with kech.read_table(table, quasi_identifiers=["a"], sensitive=["s"]) as read:
        points = build_points(read, labels=say_labels(grid="exact"), with_sensitive=True).published_at(2)
    made = build_partition(points, np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([*split, 3]))
    dealt = assign_grains(made)
    turns = sorted((Fraction(2 * j + 1, 2 * rows), taker) for taker, rows in enumerate(split) for j in range(rows))
    expected = Counter([(1, "w"), (1, "w"), (1, "v")])
    expected.update((taker, value) for value, (_, taker) in zip(values, turns, strict=True))
    _, codes = np.unique(dealt.points.sensitive.codes[dealt.point, 0], return_inverse=True)
    found = Counter()
    for group, code, rows in zip(dealt.group.tolist(), codes.tolist(), dealt.rows.tolist(), strict=True):
        found[group, "vwxyz"[code]] += rows
    assert found == expected
    assert dealt.sizes.tolist() == made.sizes.tolist() == [split[0], split[1] + 3]
    assert dealt.labels(0) == made.labels(0) == ["1", "[1, 2]"]
    assert dealt.points.axes is points.axes
    assert made.compute_once("itself", lambda partition: partition) is made
    assert dealt.results == assign_grains(made).results == {}
    assert made.points.sensitive is None
    assert len(dealt.points.sensitive.columns) == 1


def test_rows_of_two_divided_points_are_dealt_each_among_its_own_classes():
    table = pa.table({"a": [1] * 4 + [2] * 4 + [3] * 2, "s": list("xxyyuuvvww")})
    with kech.read_table(table, quasi_identifiers=["a"], sensitive=["s"]) as read:
        points = build_points(read, labels=say_labels(grid="exact"), with_sensitive=True).published_at(2)
    made = build_partition(points, np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 2]), np.array([2, 2, 2, 2, 2]))
    dealt = assign_grains(made)
    _, codes = np.unique(dealt.points.sensitive.codes[dealt.point, 0], return_inverse=True)
    shares = zip(dealt.group.tolist(), codes.tolist(), dealt.rows.tolist(), strict=True)
    assert {(group, "uvwxy"[code]): rows for group, code, rows in shares} == {
        (0, "x"): 1, (0, "y"): 1,
        (1, "x"): 1, (1, "y"): 1, (1, "u"): 1, (1, "v"): 1,
        (2, "u"): 1, (2, "v"): 1, (2, "w"): 2,
    }  # fmt: skip

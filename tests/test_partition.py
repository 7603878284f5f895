import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kech
from cutting import say_labels
from kech.cuts.starts import cut_ordering
from kech.points.partition import build_partition
from kech.points.points import build_points
from kech.tables.demo import nine_rows
from strategies import point_sets, unhurried


@st.composite
def groupings(draw):
    """Points, and a way to deal their rows to groups: every row somewhere, groups counted from 0."""
    points = draw(point_sets())
    dealt = []
    for point, weight in enumerate(points.weights.tolist()):
        first = draw(st.integers(1, weight))
        dealt += [(draw(st.integers(0, 5)), point, first)]
        dealt += [(draw(st.integers(0, 5)), point, weight - first)] if weight > first else []
    used = sorted({group for group, _, _ in dealt})
    dealt = sorted((used.index(group), point, rows) for group, point, rows in dealt)
    return points, dealt


def build(points, dealt):
    group, point, rows = (np.array(x, np.int64) for x in zip(*dealt, strict=True))
    return build_partition(points, point, group, rows)


@pytest.fixture(scope="module")
def nine():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        return build_points(table, labels=say_labels(grid="exact"))


# The paper's nine rows


def test_the_classes_of_table_1b(nine):
    partition = build(
        nine, [(group, point, 1) for group, three in enumerate([(0, 1, 2), (3, 4, 7), (5, 6, 8)]) for point in three]
    )

    assert partition.classes == 3
    assert partition.k == 3
    assert sorted(zip(partition.labels(0), partition.labels(1), strict=True)) == [
        ("[22, 25]", "[47602, 47678]"),
        ("[32, 47]", "[47605, 47673]"),
        ("[38, 52]", "[47905, 47909]"),
    ]


# Laws


@given(groupings())
@unhurried
def test_every_row_is_in_one_class(grouping):
    points, dealt = grouping
    partition = build(points, dealt)

    assert np.array_equal(np.bincount(partition.point, weights=partition.rows), points.weights)
    assert partition.sizes.sum() == points.rows
    assert partition.k == min(partition.sizes)
    assert len(set(zip(partition.point.tolist(), partition.group.tolist(), strict=True))) == len(partition.point)


@given(groupings())
@unhurried
def test_boxes_contain_their_points_and_those_they_are_printed_with(grouping):
    points, dealt = grouping
    partition = build(points, dealt)
    codes = points.codes[partition.point]

    assert (partition.lo[partition.group] <= codes).all()
    assert (codes <= partition.hi[partition.group]).all()
    for j, axis in enumerate(points.axes):
        closed = axis.close(partition.lo[:, j], partition.hi[:, j])
        assert np.array_equal(closed, (partition.lo[:, j], partition.hi[:, j]))


def label_of_codes(axis, codes):
    """The label of one class: of a set the values that occur, otherwise that of the closed range."""
    if axis.kind != "set":
        return axis.labels(*axis.close(codes.min()[None], codes.max()[None]))[0]
    occurring = sorted(set(codes.tolist()))
    if occurring == [axis.null]:
        return None
    common = [code for code in occurring if code != axis.null and not axis.rare[code]]
    rare = int(axis.rare.sum()) * any(axis.rare[code] for code in occurring if code != axis.null)
    covered = len(common) + rare
    if axis.null in occurring or len(common) + (rare > 0) > 50 or 1 < covered == axis.values:
        return "*"
    if covered == 1 and common:
        return axis.label(common[0], common[0])
    counted = [f"{rare} rare value{'s' * (rare > 1)}"] * (rare > 0)
    texts = sorted(axis.texts[code] for code in common)
    quoted = [json.dumps(text, ensure_ascii=False) if set(text) & set(',{}"\\ ') else text for text in texts]
    return "{" + ", ".join([*quoted, *counted]) + "}"


@given(groupings())
@unhurried
def test_classes_are_what_is_printed_alike(grouping):
    """Against the groups as they were dealt, closed one at a time and joined by their labels."""
    points, dealt = grouping
    members = {}
    for group in sorted({group for group, _, _ in dealt}):
        codes = points.codes[[point for other, point, _ in dealt if other == group]].astype(np.int64)
        labels = tuple(label_of_codes(axis, codes[:, j]) for j, axis in enumerate(points.axes))
        members[labels] = members.get(labels, 0) + sum(rows for other, _, rows in dealt if other == group)
    partition = build(points, dealt)
    printed = zip(*(partition.labels(j) for j in range(len(points.axes))), strict=True)

    assert dict(zip(printed, partition.sizes.tolist(), strict=True)) == members
    assert partition.classes == len(members)


@given(groupings())
@unhurried
def test_shares_deal_out_every_row_of_a_point_once(grouping):
    points, dealt = grouping
    partition = build(points, dealt)
    shares = partition.shares()
    for point, weight in enumerate(points.weights.tolist()):
        mine = shares["point"] == point
        taken = [
            row
            for first, last in zip(shares["first"][mine].tolist(), shares["last"][mine].tolist(), strict=True)
            for row in range(first, last + 1)
        ]
        assert sorted(taken) == list(range(1, weight + 1))
    counted = np.bincount(shares["class"], weights=shares["last"] - shares["first"] + 1)
    assert np.array_equal(counted, partition.sizes)


@given(point_sets(), st.integers(1, 40), st.booleans())
@unhurried
def test_a_cut_gives_a_partition_of_at_least_k(points, k, split_points):
    k = min(k, points.rows)
    (partition,) = cut_ordering(points, [k], threads=1, split_points=split_points)

    assert partition.k >= k
    assert partition.sizes.sum() == points.rows


# The odd ones


def test_groups_with_equal_labels_are_one_class(nine):
    partition = build(
        nine, [(0, 0, 1), (0, 8, 1), (1, 1, 1), (1, 2, 1), (2, 3, 1), (2, 4, 1), (3, 5, 1), (4, 6, 1), (4, 7, 1)]
    )
    whole = build(nine, [(0, point, 1) for point in range(9)])

    assert partition.classes == 5
    assert whole.classes == 1
    assert whole.labels(0) == ["[22, 52]"]


def test_one_row():
    with kech.read_table(nine_rows().slice(0, 1), quasi_identifiers=["age"]) as table:
        points = build_points(table)
    partition = build(points, [(0, 0, 1)])

    assert partition.k == partition.classes == 1

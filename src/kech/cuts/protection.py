"""Label protection: padded labels and moved ends, drawn from noise that only the owner of the table can repeat.

In: a partition whose boxes close on their rows.  Out: the same classes in wider boxes, so that the end of a label is
hardly ever somebody's value.

Noise is a hash of a box under a key made of the whole table and the owner's secret.  Equal tables give one owner equal
releases; nobody without the table or the secret can tell what was drawn.
"""

from dataclasses import replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from kech._kernels import Widths, hash_texts
from kech.axes import Codes, LineAxis
from kech.axes.grid import Floats, Ints
from kech.axes.ranks import NOTHING, Members
from kech.cuts.decoys import add_decoys, choose_sizes, count_decoys, draw_sizes
from kech.cuts.padding import (
    DRAWS,
    FEWEST,
    FINE,
    Boxes,
    LabelCounter,
    count_labels,
    find_padded_axes,
    find_padded_sets,
    pad_labels,
    units_of,
)
from kech.points.partition import Partition, box_partition
from kech.points.points import Points, cache_on_points

DIGEST_NUMBERS = 8  # of 8 bytes each
NARROW = 3  # units of the narrowest interval whose ends move: in narrower ones an end is several people's value


def protect_labels(partition: Partition) -> Partition:
    """Pad the labels, then move their ends outward by one or two steps of the grid.

    An end that would single somebody out moves by the other number of steps.
    """
    return partition.compute_once("protected", protect_anew) if is_protected(partition.points) else partition


def is_protected(points: Points) -> bool:
    """Whether some axis has labels that are padded or ends that move."""
    return bool(find_moved_axes(points) or find_padded_axes(points) or find_padded_sets(points))


def protect_anew(partition: Partition) -> Partition:
    """The partition with its labels padded and its ends moved."""
    axes, moved, padded = partition.points.axes, find_moved_axes(partition.points), find_padded_axes(partition.points)
    members = partition.members | pad_sets(partition)
    noise = keyed_noise(partition, 2 * len(moved) + DRAWS * len(padded))
    moves = 1 + (noise[:, : 2 * len(moved)] < 0.5).reshape(len(noise), len(moved), 2)
    counter = count_labels(partition.points, members)
    boxes = pad_labels(partition, padded, noise[:, 2 * len(moved) :], counter)
    other_ends = {}
    for index, (j, axis) in enumerate(moved.items()):
        ends = boxes[0][:, j], boxes[1][:, j]
        other_ends[j], moved_ends = (move_ends(axis, *ends, steps) for steps in (3 - moves[:, index], moves[:, index]))
        boxes[0][:, j], boxes[1][:, j] = moved_ends
    avoid_singling_out(counter, boxes, other_ends)
    for j in {*moved, *(axis.index for axis in padded)}:
        boxes[0][:, j], boxes[1][:, j] = axes[j].close(boxes[0][:, j], boxes[1][:, j])
    protected = box_partition(partition.points, partition.point, partition.group, partition.rows, *boxes, members)
    return replace(protected, eps=partition.eps, eps_bound=partition.eps_bound, loss_bound=partition.loss_bound)


def pad_sets(partition: Partition) -> dict[int, Members]:
    """What labels of sets list, with decoys."""
    rows, padded = np.maximum(partition.people, FEWEST), {}
    for j, axis in find_padded_sets(partition.points).items():
        table = partition.members[j]
        draws = keyed_numbers(partition, f"sizes of {j}", np.ones(len(table), np.int64))
        sizes = draw_sizes(choose_sizes(axis, table, rows), (table != NOTHING).sum(axis=1), draws)
        decoys = count_decoys(axis, table, sizes)
        draws = keyed_numbers(partition, f"decoys of {j}", np.maximum(decoys, 0))
        padded[j] = add_decoys(axis, table, decoys, draws)
    return padded


def avoid_singling_out(counter: LabelCounter, boxes: Boxes, other_ends: dict[int, tuple[Ints, Ints]]) -> None:
    """Move ends to their other position where they single out one person of the table, and would not there."""
    for j, others in other_ends.items():
        for box, other in zip(boxes, others, strict=True):
            tried = np.flatnonzero(box[:, j] != other)
            tried = tried[counter.count_within(boxes, tried, j, box[tried, j], box[tried, j], 1) == 1]
            tried = tried[counter.count_within(boxes, tried, j, other[tried], other[tried], 1) != 1]
            box[tried, j] = other[tried]


def find_moved_axes(points: Points) -> dict[int, LineAxis]:
    """Axes whose ends move: kech chose their round edges, and their values are multiples of a unit."""
    lines = {j: axis for j, axis in enumerate(points.axes) if isinstance(axis, LineAxis)}
    return {j: axis for j, axis in lines.items() if axis.protect in ("full", "ends") and axis.unit > 0}


@cache_on_points
def expected_widths(points: Points) -> Widths:
    """The axes as the search knows them: sides end where moved ends lie on average."""
    widths = points.widths()
    for j, axis in find_moved_axes(points).items():
        codes = np.arange(axis.values)
        far = [move_all(axis, moves) for moves in (1, 2)]
        left, right = (ends.copy() for ends in axis.ends)
        left[codes] = np.mean([axis.ends[0][lo] for lo, _ in far], axis=0)
        right[codes] = np.mean([axis.ends[1][hi] for _, hi in far], axis=0)
        widths.loosen(j, left, right, NARROW - 1.5)
    return widths


def move_all(axis: LineAxis, moves: int) -> tuple[Ints, Ints]:
    """For each code, where an end at its cell would be after so many moves."""
    starts, cell, units = list_steps(axis)
    far = np.full(axis.values, moves)
    return starts[step_outward(cell, -1, far, units)], starts[step_outward(cell, 1, far, units)]


def list_steps(axis: LineAxis) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """The first code of each published cell, the cell of each code, and how many units each cell has."""
    starts, cell = np.unique(axis.cells[0][: axis.values], return_inverse=True)
    return starts, cell, units_of(axis, starts)


def move_ends(axis: LineAxis, lo: Ints, hi: Ints, moves: NDArray[np.int64]) -> tuple[Ints, Ints]:
    """The first and the last code of each box after its ends were moved."""
    starts, cell, units = list_steps(axis)
    edges = np.append(axis.low[starts], np.inf)
    last = np.minimum(hi, axis.values - 1)
    left, right = cell[np.minimum(lo, last)], cell[last]
    wide = (hi < axis.values) & (left < right) & (edges[right + 1] - edges[left] >= (NARROW - 0.5) * axis.unit)
    left = step_outward(left, -1, np.where(wide, moves[:, 0], 0), units)
    right = step_outward(right, 1, np.where(wide, moves[:, 1], 0), units)
    return np.where(wide, starts[left], lo), np.where(wide, axis.cells[1][starts[right]], hi)


def step_outward(cell: Ints, way: int, moves: NDArray[np.int64], units: NDArray[np.float64]) -> Ints:
    """So many cells onward, as long as cells are small; open tails are not entered."""
    for step in range(int(moves.max(initial=0))):
        onward = np.clip(cell + way, 0, len(units) - 1)
        inner = (onward > 0) & (onward < len(units) - 1)
        cell = np.where((moves > step) & inner & (units[onward] <= FINE), onward, cell)
    return cell


# -- noise -------------------------------------------------------------------------------------------------


def keyed_noise(partition: Partition, each: int) -> Floats:
    """For each class so many numbers from 0 up to 1."""
    return keyed_numbers(partition, "", np.full(partition.classes, each)).reshape(partition.classes, each)


def keyed_numbers(partition: Partition, purpose: str, counts: Ints) -> Floats:
    """Numbers from 0 up to 1, as many as are said of each class, one class after another."""
    key = blake2b(purpose.encode(), key=derive_key(partition.points, "labels"), digest_size=32).digest()
    boxes = np.hstack([partition.lo, partition.hi, *partition.members.values()]).astype("<i8")
    digests = -(-counts // DIGEST_NUMBERS)  # of each class
    first = np.repeat(np.cumsum(digests) - digests, digests)
    texts = np.column_stack([np.repeat(boxes, digests, axis=0), np.arange(len(first)) - first]).astype("<i8")
    ends = np.arange(len(texts) + 1) * texts.itemsize * texts.shape[1]
    numbers = hash_texts(key, 8 * DIGEST_NUMBERS, ends, texts.view(np.uint8).ravel()).view("<u8")
    is_asked = np.repeat(counts, digests) > (texts[:, -1] * DIGEST_NUMBERS + np.arange(DIGEST_NUMBERS)[:, None])
    return np.asarray((numbers[is_asked.T.ravel()] >> np.uint64(11)) / 2.0**53)


def derive_seed(points: Points, seed: int) -> int:
    """The seed of a search: another for every table, owner and seed; points without a table keep the one they have."""
    if points.secret is None:
        return seed
    key = derive_key(points, "search")
    return int.from_bytes(blake2b(seed.to_bytes(8, "little"), key=key, digest_size=8).digest(), "little") >> 2


def derive_key(points: Points, purpose: str) -> bytes:
    """A key for one purpose; without a table it is known to everybody who has the points."""
    digest = points.compute_once("digest", hash_table)
    return points.secret.derive(purpose, digest) if points.secret else digest


def hash_table(codes: Codes, weights: Ints) -> bytes:
    """The points of a table as a hash."""
    inner = blake2b(codes.astype("<i4").tobytes(), digest_size=32).digest()
    return blake2b(weights.astype("<i8").tobytes(), key=inner, digest_size=32).digest()

"""Chance: numbers that are a hash of a box, under a key made of the whole table and the owner's secret.

Equal tables give one owner equal releases; who lacks the table or the secret cannot tell what was drawn.
"""

from hashlib import blake2b, shake_256

import numpy as np

from kech.axes import Codes
from kech.axes.grid import Ints
from kech.axes.rulers import Floats
from kech.points.partition import Partition
from kech.points.points import Points


def draw_chances(partition: Partition, each: int) -> Floats:
    """For each class so many numbers from 0 up to 1."""
    key = draw_key(partition.points, "labels")
    boxes = np.hstack([partition.lo, partition.hi]).astype("<i8")
    drawn = b"".join(shake_256(key + box.tobytes()).digest(8 * each) for box in boxes)
    return (np.frombuffer(drawn, "<u8").reshape(-1, each) >> np.uint64(11)) / 2.0**53


def draw_seed(points: Points, seed: int) -> int:
    """The seed of a search: another for every table, owner and seed; points without a table keep the one they have."""
    if points.secret is None:
        return seed
    key = draw_key(points, "search")
    return int.from_bytes(blake2b(seed.to_bytes(8, "little"), key=key, digest_size=8).digest(), "little") >> 2


def draw_key(points: Points, purpose: str) -> bytes:
    """A key for one purpose; without a table it is known to everybody who has the points."""
    digest = points.once("digest", hash_table)
    return points.secret.derive(purpose, digest) if points.secret else digest


def hash_table(codes: Codes, weights: Ints) -> bytes:
    """The points of a table as a hash."""
    inner = blake2b(codes.astype("<i4").tobytes(), digest_size=32).digest()
    return blake2b(weights.astype("<i8").tobytes(), key=inner, digest_size=32).digest()

"""Chance: numbers that are a hash of a box under a key made of the whole table.

Equal tables give equal releases, and who lacks the table cannot tell what was drawn.
"""

from hashlib import blake2b, shake_256

import numpy as np

from kech.axes import Codes
from kech.grid import Ints
from kech.partition import Partition
from kech.rulers import Floats


def draw_chances(partition: Partition, each: int) -> Floats:
    """For each class so many numbers from 0 up to 1."""
    key = partition.points.once("key", table_key)
    boxes = np.hstack([partition.lo, partition.hi]).astype("<i8")
    drawn = b"".join(shake_256(key + box.tobytes()).digest(8 * each) for box in boxes)
    return (np.frombuffer(drawn, "<u8").reshape(-1, each) >> np.uint64(11)) / 2.0**53


def table_key(codes: Codes, weights: Ints) -> bytes:
    """A key nobody knows who does not have the table."""
    inner = blake2b(codes.astype("<i4").tobytes(), digest_size=32).digest()
    return blake2b(weights.astype("<i8").tobytes(), key=inner, digest_size=32).digest()

"""Local cut: lowest information loss, each class with its own box."""

from collections.abc import Iterator, Sequence

from kech.cuts.ordering import cut_ordering
from kech.partition import Partition
from kech.points import Points


def cut_local(
    points: Points, ks: Sequence[int], *, threads: int, part: bool = True, reading: str = "strict"
) -> Iterator[Partition]:
    """A partition for each k, ascending; classes need no reading."""
    del reading
    return cut_ordering(points, ks, threads=threads, part=part)

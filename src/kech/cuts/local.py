"""Local cut: lowest information loss, each class with its own box."""

from collections.abc import Iterator, Sequence

from kech.cuts.ordering import cut_ordering
from kech.partition import Partition
from kech.points import Points


def cut_local(points: Points, ks: Sequence[int], *, threads: int, part: bool = True) -> Iterator[Partition]:
    """A partition for each k, ascending."""
    return cut_ordering(points, ks, threads=threads, part=part)

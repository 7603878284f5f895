"""Local cut: lowest information loss, each class with its own box."""

from collections.abc import Iterator, Sequence

from kech.cuts import Wishes
from kech.cuts.ordering import cut_ordering
from kech.errors import BadOption
from kech.partition import Partition
from kech.points import Points


def cut_local(points: Points, ks: Sequence[int], wishes: Wishes) -> Iterator[Partition]:
    """A partition for each k, ascending."""
    if wishes.suppress:
        raise BadOption("--suppress", "only --cut domain leaves rows out.")
    return cut_ordering(points, ks, threads=wishes.threads, part=wishes.part)

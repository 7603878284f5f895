"""Domain cut: one lattice node, so that every row of a column is at the same level."""

from collections.abc import Iterator, Sequence

from kech.lattice import build_lattice
from kech.partition import Partition
from kech.points import Points
from kech.progress import report


def cut_domain(
    points: Points,
    ks: Sequence[int],
    *,
    threads: int,
    part: bool = True,
    reading: str = "strict",
    suppress: float = 0.0,
) -> Iterator[Partition]:
    """For each k the classes of the best node; at a node the readings agree and equal rows are never parted.

    `suppress` is the share of the rows that may be left out, those in classes of fewer than k.
    """
    del part, reading
    lattice = build_lattice(points, threads=threads)
    for done, k in enumerate(ks):
        report("choosing levels", done / len(ks))
        yield lattice.partition(lattice.best(k, suppress).levels, k, suppress)

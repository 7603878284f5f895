"""Domain cut: one lattice node, so that every row of a column is at the same level."""

from collections.abc import Iterator, Sequence

from kech.cuts import Wishes
from kech.lattice import build_lattice
from kech.partition import Partition
from kech.points import Points
from kech.progress import report


def cut_domain(points: Points, ks: Sequence[int], wishes: Wishes) -> Iterator[Partition]:
    """For each k the classes of the best node; at a node the readings agree and equal rows are never parted.

    Rows in classes of fewer than k are left out, as many as wished at most.
    """
    lattice = build_lattice(points, threads=wishes.threads)
    report("choosing levels")
    for node in lattice.curve(wishes.suppress, ks):
        yield lattice.partition(node.levels, node.k, wishes.suppress)

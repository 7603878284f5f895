"""Domain cut: one lattice node, so that every row of a column is at the same level."""

from collections.abc import Iterator, Sequence

from kech.cuts import Wishes
from kech.cuts.goals import check_reachable
from kech.points.models import hold
from kech.points.partition import Partition, deal, tally_sensitive
from kech.points.points import Points
from kech.request import Goal
from kech.system.progress import report
from kech.topology.lattice import GeneralizationLattice, build_lattice
from kech.topology.node_search import Levels


def cut_domain(points: Points, ks: Sequence[int], wishes: Wishes) -> Iterator[Partition]:
    """For each k the classes of the best node; at a node the readings agree and equal rows are never parted.

    Rows in classes of fewer than k are left out, as many as wished at most.
    """
    lattice = build_lattice(points, threads=wishes.threads)
    if wishes.goals is None:
        report("choosing levels")
        for node in lattice.curve(wishes.suppress, ks):
            yield lattice.partition(node.levels, node.k, wishes.suppress)
        return
    for done, k in enumerate(ks):
        report("choosing levels", done / len(ks))
        yield best_partition(lattice, k, wishes.goals, wishes.suppress)


def best_partition(lattice: GeneralizationLattice, k: int, goals: Goal, suppress: float) -> Partition:
    """The classes of the node of least loss that reaches k and the goals."""

    def holds(levels: Levels) -> bool:
        return hold(goals, tally_sensitive(deal(lattice.partition(levels, k, suppress))))

    if not suppress:  # what all rows together do not reach, fewer of them may
        check_reachable(lattice.points, goals)
    return lattice.partition(lattice.best(k, suppress, holds=holds).levels, k, suppress)

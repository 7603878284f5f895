"""Domain cut: one lattice node, so that every row of a column is at the same level."""

from collections.abc import Iterator, Mapping, Sequence

from kech.cuts.goals import check_goals, check_reachable, keeps_goals
from kech.errors import BadOption, GoalNotMet
from kech.points.partition import Partition, assign_grains
from kech.points.points import Points
from kech.request import Cut, Goal
from kech.system.console import report
from kech.topology.lattice import GeneralizationLattice, build_lattice
from kech.topology.node_search import Levels


def cut_domain(points: Points, ks: Sequence[int], cut: Cut, goal: Goal, *, threads: int = 1) -> Iterator[Partition]:
    """For each k the classes of the best node, or of the node whose levels the cut names.

    At a node the readings agree and equal rows are never parted.

    Rows in classes of fewer than k are left out, within the share that the cut allows.
    """
    lattice = build_lattice(points, threads=threads)
    if cut.levels is not None:
        yield from (chosen_partition(lattice, k, cut, goal) for k in ks)
        return
    if not goal.has_sensitive_goals:
        report("choosing levels")
        for node in lattice.curve(cut.suppress, ks):
            yield lattice.partition(node.levels, node.k, cut.suppress)
        return
    for done, k in enumerate(ks):
        report("choosing levels", done / len(ks))
        yield best_partition(lattice, k, goal, cut.suppress)


def chosen_partition(lattice: GeneralizationLattice, k: int, cut: Cut, goal: Goal) -> Partition:
    """The classes of the node whose levels the cut names; refused where it does not reach k and the goals."""
    partition = lattice.partition(find_node(lattice.columns, cut.levels or {}), k, cut.suppress)
    if goal.has_sensitive_goals:
        check_goals(assign_grains(partition), goal, "This node reaches")
    return partition


def find_node(columns: Sequence[str], levels: Mapping[str, int]) -> list[int]:
    """The level of each column; refused where one is missing, or where another column has one."""
    if unknown := [name for name in levels if name not in columns]:
        raise BadOption("--levels", f"{unknown[0]!r} is no quasi-identifier. Omit it.")
    if missing := [name for name in columns if name not in levels]:
        raise BadOption("--levels", f"column {missing[0]!r} has no level. Name one for each quasi-identifier.")
    return [levels[name] for name in columns]


def best_partition(lattice: GeneralizationLattice, k: int, goal: Goal, suppress: float) -> Partition:
    """The classes of the node of least loss that reaches k and the goals."""

    def holds(levels: Levels) -> bool:
        return keeps_goals(assign_grains(lattice.partition(levels, k, suppress)), goal)

    if not suppress:  # what all rows together do not reach, fewer of them may
        check_reachable(lattice.points, goal)
    try:
        best = lattice.best(k, suppress, holds=holds)
    except GoalNotMet:
        check_goals(
            check_reachable(lattice.points, goal),
            goal,
            "No node of the lattice keeps it, and all rows in one class reach",
        )
        raise
    return lattice.partition(best.levels, k, suppress)

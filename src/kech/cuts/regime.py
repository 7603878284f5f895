"""Regime cut: one eps for the whole table; classes are the connected components."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kech.barcode import build_barcode
from kech.complexes import Filtration
from kech.errors import BadOption, GoalNotMet
from kech.homology import highest_dimension
from kech.partition import Partition, build_partition
from kech.points import Points


def cut_regime(
    points: Points, ks: Sequence[int], *, threads: int, part: bool = True, reading: str = "strict"
) -> Iterator[Partition]:
    """For each k the components at the smallest eps whose regime holds; equal rows are never parted."""
    del part
    if reading not in ("homological", "strict"):
        raise BadOption("--reading", "the regime cut reads homological or strict.")
    for k in ks:
        at = points.at(k)
        dimension = max(highest_dimension(at, "box"), 0) if reading == "homological" else 0
        barcode = build_barcode(at, "box", dimension, threads=threads)
        regimes = barcode.regimes(reading, k)
        if not regimes:
            raise GoalNotMet(f"No eps makes the table {k}-anonymous under the {reading} reading. Try --cut local.")
        yield cut_at(barcode.filtration, regimes[0].start)


def cut_at(filtration: Filtration, eps: float) -> Partition:
    """The components at eps, as a partition."""
    component = filtration.components(eps)
    order = np.argsort(component, kind="stable")
    found = build_partition(filtration.points, order, component[order], filtration.points.weights[order])
    return replace(found, eps=eps)

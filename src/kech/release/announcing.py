"""Announcing: what releases by the regime cut give where rows may be left out, before any is written.

In: a barcode and its table.  Out: the barcode, with what each release would be.

The regimes of a barcode leave rows out on the axes of all rows.  A release measures the rows that it publishes alone,
and on them other rows may be lonely.  So it is made here as `kech release` makes it, to the last row.
"""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from kech.errors import GoalNotMet, ResourceError, TooFewPeople, TooFewRows
from kech.release.making import cut_release
from kech.request import Cut, Goal, Request
from kech.tables.table import Table
from kech.topology.barcode import ReleasedRegime, WeightedBarcode, first_sentence


def announce_regimes(
    barcode: WeightedBarcode, table: Table, request: Request, ks: Sequence[int], reading: str | None
) -> WeightedBarcode:
    """The barcode, with the release of a reading for each k; of strict, and of homological where holes are known.

    Labels, goals, weights and the share that may be left out are those of the request.
    """
    cuts = [
        Cut(
            cut="regime",
            reading=name,
            suppress=request.cut.suppress,
            field=barcode.field if name == "homological" else 2,
        )
        for name in list_readings(barcode, request.goal, reading)
    ]
    return replace(barcode, released=[announce(table, request, k, cut) for k in ks for cut in cuts])


def list_readings(barcode: WeightedBarcode, goal: Goal, reading: str | None) -> list[str]:
    """The readings whose releases are announced: none for what the regime cut does not release."""
    if barcode.filtration.metric != "box" or goal.protect_history or goal.dp_epsilon is not None:
        return []
    if reading is None:
        return ["strict", *(["homological"] if barcode.is_complete else [])]
    return [reading] if reading != "partition" else []


def announce(table: Table, plan: Request, k: int, cut: Cut) -> ReleasedRegime:
    """What a release would be, or why there is none."""
    there = ReleasedRegime(cut.reading, k, cut.suppress, grid=plan.labels.grid)
    weighed = msgspec.structs.replace(cut, weights=plan.cut.weights)
    request = msgspec.structs.replace(plan, cut=weighed, goal=msgspec.structs.replace(plan.goal, k=k))
    try:
        partition = cut_release(table, request).partition
    except (GoalNotMet, ResourceError, TooFewRows, TooFewPeople) as refusal:
        return replace(there, reason=first_sentence(refusal))
    rows, suppressed = partition.rows_in - partition.suppressed, partition.suppressed
    return replace(there, eps=partition.eps, classes=partition.classes, rows=rows, suppressed=suppressed)

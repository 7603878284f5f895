"""Judge: what a released file lost, and what an attacker learns from it who knows everybody's quasi-identifiers.

Only the source and the released file are read; neither the order of rows nor what a tool says of itself counts.
A released row is a candidate of a person if its labels cover all of the person's quasi-identifiers.

smallest crowd   candidates of the person who has fewest; 0: somebody fits no released row
given away       share of people whose candidates all have one and the same sensitive value
edge             share of ends of published intervals at which a person who fits the label has their value
inside           the same for a value drawn between the ends: the control of `edge`
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks.public.families import PublicTable
from benchmarks.score import EVERYTHING, INTERVAL, count_rare, ends_of, named, position, read_columns, score_release
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
MOST_LABELS = 400  # intervals whose ends are tried


def judge_release(table: PublicTable, released: Path) -> dict[str, Any]:
    """Loss, k, lost rows and attacks of a released file."""
    score = score_release(table.source, released, table.quasi_identifiers, table.numbers)
    source = read_columns(table.source, [*table.quasi_identifiers, table.sensitive], ",")
    labels = read_columns(released, [*table.quasi_identifiers, table.sensitive], ",")
    classes = labels.group_by(list(table.quasi_identifiers)).aggregate(
        [([], "count_all"), (table.sensitive, "count_distinct"), (table.sensitive, "min")]
    )
    fits = find_fits(table, source, classes)
    return score | find_crowds(table, fits, classes) | try_edges(table, fits, source, classes)


def find_fits(table: PublicTable, source: pa.Table, classes: pa.Table) -> Bools:
    """Whether the labels of each class (row) cover each person (column)."""
    fits = np.ones((classes.num_rows, source.num_rows), bool)
    for name in table.quasi_identifiers:
        values = source[name].combine_chunks().dictionary_encode()
        known, codes = values.dictionary.to_pylist(), values.indices.to_numpy()
        shown = classes[name].unique().to_pylist()
        read = read_interval(known) if name in table.numbers else read_set(known, shown)
        masks = {label: read(label) for label in shown}
        for row, label in enumerate(classes[name].to_pylist()):
            fits[row] &= masks[label][codes]
    return fits


def read_interval(known: list[str]) -> Any:
    """A function that says which of the known numbers a label covers."""
    places = np.array([position(value) for value in known])
    first, last = float(places.min()), float(places.max())

    def read(label: str) -> Bools:
        low, high = ends_of(label, first, last)
        return (low <= places) & (places <= high)

    return read


def read_set(known: list[str], shown: list[str]) -> Any:
    """A function that says which of the known texts a label covers.

    Where a label counts rare values, they may be any that no label of the column names.
    """
    texts = set(known)
    unnamed = texts.difference(*(named(label, texts) for label in shown if label != EVERYTHING))

    def read(label: str) -> Bools:
        members = named(label, texts) | (unnamed if count_rare(label, texts) else set())
        return np.array([value in members for value in known])

    return read


def find_crowds(table: PublicTable, fits: Bools, classes: pa.Table) -> dict[str, Any]:
    """The smallest crowd, and the share of people whose sensitive value is given away."""
    rows = classes["count_all"].to_numpy()
    kinds = np.unique(classes[f"{table.sensitive}_min"].to_pylist(), return_inverse=True)[1]
    mixed = classes[f"{table.sensitive}_count_distinct"].to_numpy() > 1
    least = np.where(fits, kinds[:, None], kinds.max() + 1).min(axis=0)
    most = np.where(fits, kinds[:, None], -1).max(axis=0)
    given_away = (least == most) & ~(fits & mixed[:, None]).any(axis=0)
    return {"smallest_crowd": int((rows @ fits).min()), "given_away": float(given_away.mean())}


def try_edges(table: PublicTable, fits: Bools, source: pa.Table, classes: pa.Table) -> dict[str, Any]:
    """How often an end of an interval is the value of a person who fits, and a value inside it."""
    rng = np.random.default_rng(1)
    at_ends, inside = [], []
    for name in table.numbers:
        values = np.array([position(value) for value in source[name].to_pylist()])
        unit = np.diff(np.unique(values)).min(initial=np.inf)
        chosen = rng.permutation(classes.num_rows)[: MOST_LABELS // len(table.numbers) + 1]
        for row in chosen:
            printed = printed_ends(classes[name][int(row)].as_py())
            if len(set(printed)) == 2:
                held, low, steps = values[fits[row]], min(printed), round(abs(printed[1] - printed[0]) / unit)
                at_ends += [end in held for end in printed]
                inside += [bool(np.isclose(held, low + unit * rng.integers(0, steps + 1)).any()) for _ in printed]
    return {name: float(np.mean(hits)) if hits else None for name, hits in (("edge", at_ends), ("inside", inside))}


def printed_ends(label: str) -> list[float]:
    """The two ends of an interval as they are printed; none of any other label."""
    interval = INTERVAL.fullmatch(label)
    return [position(end) for end in interval.groups() if end is not None] if interval else []

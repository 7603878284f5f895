"""Counting: one pass over the file, memory for the classes only."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from kech.certificate.cells import Cell, Counts, TextTable
from kech.certificate.forms import as_brackets
from kech.certificate.models import Figures, model_figures
from kech.certificate.widths import Axis, width_readers
from kech.errors import NoQuasiIdentifier, NoSuchColumn


def measure_table(
    table: TextTable,
    axes: Sequence[Axis],
    sensitive: Sequence[str],
    read_as: Mapping[str, Mapping[str, Any]],
    goals: Mapping[str, Any],
) -> tuple[Figures, list[str]]:
    """Figures, and a complaint for every column with labels that its axis cannot read (width 1)."""
    readers = width_readers(axes)
    table = as_brackets(table, axes)
    classes, within = count(table, list(readers), sensitive)
    losses, broken = {}, []
    for position, (column, read) in enumerate(readers.items()):
        labels = [(read(table.label(cell)), rows) for cell, rows in _marginal(classes, position).items()]
        lost = fsum(rows if width is None else rows * width for width, rows in labels)
        losses[column] = lost / max(classes.total(), 1)
        if unreadable := sum(rows for width, rows in labels if width is None):
            broken.append(f"{column!r}: {unreadable} rows hold a label that its axis cannot read")
    loss = fsum(losses.values()) / len(losses)
    models = model_figures(table, within, read_as, goals)
    return class_figures(classes) | {"loss": loss, "loss_per_column": losses} | models, broken


def count(
    table: TextTable, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
) -> tuple[Counts, dict[str, Counts]]:
    """Rows of every class; and, for each sensitive column, rows of every (class, value)."""
    if not quasi_identifiers:
        raise NoQuasiIdentifier
    if missing := [name for name in (*quasi_identifiers, *sensitive) if name not in table.columns]:
        raise NoSuchColumn(missing[0], table.columns)
    names = list(dict.fromkeys(sensitive))
    found = table.counted([*quasi_identifiers, *names])
    classes: Counts = Counter()
    for cells, rows in found.items():
        classes[cells[: len(quasi_identifiers)]] += rows
    return classes, {name: _with_value(found, len(quasi_identifiers), i) for i, name in enumerate(names)}


def _with_value(found: Counts, width: int, place: int) -> Counts:
    """Rows of every class and value of one sensitive column."""
    if all(len(cells) == width + 1 for cells in found):
        return found
    counts: Counts = Counter()
    for cells, rows in found.items():
        counts[*cells[:width], cells[width + place]] += rows
    return counts


def class_figures(classes: Counts) -> Figures:
    """What the sizes of the classes tell."""
    return {
        "k": min(classes.values(), default=0),
        "classes": len(classes),
        "rows": classes.total(),
        "average_class": classes.total() / max(len(classes), 1),
        "loss": None,
        "loss_per_column": {},
    }


def _marginal(counts: Counts, position: int) -> Counter[Cell]:
    marginal: Counter[Cell] = Counter()
    for key, rows in counts.items():
        marginal[key[position]] += rows
    return marginal

"""Counting: one pass over the file, memory for the classes only."""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

import numpy as np

from kech.certificate.cells import TextTable
from kech.certificate.forms import as_brackets
from kech.certificate.labels import Axis
from kech.certificate.models import Figures, Within, model_figures
from kech.certificate.rare_members import broken_spelling
from kech.certificate.tally import Counts, sums
from kech.certificate.widths import width_readers
from kech.errors import NoQuasiIdentifier, NoSuchColumn


def measure_table(
    table: TextTable,
    axes: Sequence[Axis],
    sensitive: Sequence[str],
    read_as: Mapping[str, Mapping[str, Any]],
    goals: Mapping[str, Any],
    k: int = 1,
) -> tuple[Figures, list[str]]:
    """Figures, and a complaint for every column with labels that its axis cannot read (width 1), or whose sets spell
    out values that k rows cannot hold.
    """
    readers = width_readers(axes)
    table = as_brackets(table, axes)
    classes, within = count(table, list(readers), sensitive)
    losses, broken = {}, []
    for position, (column, read) in enumerate(readers.items()):
        texts = classes.texts[position]
        found = sums(classes.places[position], classes.rows, len(texts)).astype(np.int64).tolist()
        labels = [(read(table.label(cell)), rows) for cell, rows in zip(texts, found, strict=True)]
        lost = fsum(rows if width is None else rows * width for width, rows in labels)
        losses[column] = lost / max(int(classes.rows.sum()), 1)
        if unreadable := sum(rows for width, rows in labels if width is None):
            broken.append(f"{column!r}: {unreadable} rows hold a label that its axis cannot read")
        rows_of = {table.label(cell): rows for cell, rows in zip(texts, found, strict=True) if rows}
        broken += broken_spelling(axes[position], rows_of, k)
    loss = fsum(losses.values()) / len(losses)
    models = model_figures(table, within, read_as, goals)
    return class_figures(classes) | {"loss": loss, "loss_per_column": losses} | models, broken


def count(
    table: TextTable, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
) -> tuple[Counts, dict[str, Within]]:
    """Rows of every class; and, for each sensitive column, rows of every (class, value)."""
    if not quasi_identifiers:
        raise NoQuasiIdentifier
    if missing := [name for name in (*quasi_identifiers, *sensitive) if name not in table.columns]:
        raise NoSuchColumn(missing[0], table.columns)
    names, width = list(dict.fromkeys(sensitive)), len(quasi_identifiers)
    found = table.count([*quasi_identifiers, *names])
    classes, group = found.first(width)
    values = zip(names, found.texts[width:], found.places[width:], strict=True)
    return classes, {name: Within(group, texts, places, found.rows) for name, texts, places in values}


def class_figures(classes: Counts) -> Figures:
    """What the sizes of the classes tell."""
    rows = int(classes.rows.sum())
    return {
        "k": int(classes.rows.min(initial=rows)),
        "classes": len(classes.rows),
        "rows": rows,
        "average_class": rows / max(len(classes.rows), 1),
        "loss": None,
        "loss_per_column": {},
    }

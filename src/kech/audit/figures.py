"""Figures of a report: everything it says, from the release, its certificate and its plan alone.

No cell of a sensitive or kept column is among those of a public one, and of a set of values only their number: in
certificates of earlier versions a value in a set may be that of one person.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum, isfinite, isinf
from os import PathLike
from pathlib import Path
from typing import Any

from kech.audit.exposure import hide_few, measure_exposure
from kech.audit.risk import assess, check_thresholds
from kech.audit.shape import build_released_barcode
from kech.certificate import NOT_PROMISED, AnyPath, Axis, Cell, published_columns
from kech.certificate.check import read_values
from kech.certificate.labels import (
    DAY,
    EVERYTHING,
    bound_interval,
    format_position,
    is_line,
    range_reader,
    read_domain,
    read_interval,
    read_set,
    width_reader,
)
from kech.errors import BadCertificate, BadOption
from kech.release.published import Published, dialect_of, find_identifying, find_identifying_together, read_published
from kech.release.sentences import several_rows_words
from kech.request import FIELDS, Request, read_request
from kech.request.parts import usual_effort

MISSING = "missing"
VERSION = re.compile(r"[0-9][0-9A-Za-z.+-]{0,63}")
FILE = ("name", "format", "sha256", "delimiter")
PUBLIC = [field for field in FIELDS.values() if field.public]
PARAMETERS = (
    *(field.name for field in PUBLIC),
    *("coarse", "step", "eps_error", "no_ledger", "allow_composition", "owner_secret", "k_reached"),
)
WORDS = tuple(word for field in PUBLIC for word in field.choices)
MOST_LABELS = 6
SHARPNESS = (0.0, 0.05, 0.1, 0.25, 0.5, 0.999999)  # upper ends of the widths that are counted together; then all


def gather_figures(
    path: AnyPath,
    certificate: AnyPath | None,
    plan: Request | str | PathLike[str] | None,
    threshold: Sequence[float],
    *,
    private: bool = False,
) -> dict[str, Any]:
    """Check the file, then state it; a file that does not keep its promise gets no report."""
    taus = check_thresholds(threshold)
    release = read_published(path, certificate=certificate)
    document = release.document
    request = plan if plan is None or isinstance(plan, Request) else read_request(plan)
    if request is not None:
        check_plan(request, document)
    if not all(isfinite(end) for axis in release.axes.values() if is_line(axis) for end in read_domain(axis)):
        raise BadCertificate(
            certificate or path, "the domain of an axis is too large to be drawn. Ask for a new release."
        )
    alone, stated = find_identifying(path, document), document.get("stated")
    of_series = "series" in document
    several_rows = several_rows_words(stated, release.rows, of_series=of_series, in_several=of_series)
    return {
        "private": private,
        "file": {name: document["file"][name] for name in FILE if name in document["file"]},
        "kech": document["kech"] if VERSION.fullmatch(document["kech"]) else None,
        "claims": document["claims"],
        "verified": release.figures,
        "stated": stated,
        "loss_with_l_2": document.get("loss_with_l_2"),
        "parameters": pick_parameters(document["parameters"]),
        "columns": [describe_column(release, name, document["claims"]) for name in release.quasi_identifiers],
        "sensitive": {name: document.get("values", {}).get(name, {}).get("kind", "text") for name in release.sensitive},
        "kept": document["kept"],
        "identifying": alone,
        "identifying_together": find_identifying_together(path, document, alone),
        "exposure": describe_exposure(path, document, None if private else release.figures["k"]),
        "risk": assess(release, taus).to_json(),
        "barcode": build_released_barcode(release).to_json(),
        "plan": None if request is None else describe_plan(request),
        "not_promised": [*NOT_PROMISED, *several_rows],
    }


def describe_exposure(path: AnyPath, document: Mapping[str, Any], k: int | None) -> dict[str, Any]:
    """How many rows are unique, and how many share a sensitive value with their class; counts below k are hidden."""
    labels = [name for axis in document["quasi_identifiers"] for name in published_columns(axis)]
    roles = (labels, document["sensitive"], document["kept"])
    values = read_values(document["sensitive"], document.get("values", {}))
    exposure = measure_exposure(path, *roles, values=values, **dialect_of(document))
    return exposure if k is None else hide_few(exposure, k)


def pick_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by the names that kech writes; numbers, and words that kech knows: a certificate can say anything."""
    return {name: value for name, value in parameters.items() if name in PARAMETERS and is_stated(value)}


def is_stated(value: Any) -> bool:
    """Whether a parameter is a number or a word of kech's, or some of them under such names."""
    if isinstance(value, dict):
        return all(name in PARAMETERS and is_stated(inner) for name, inner in value.items())
    return isinstance(value, bool | int | float) or value in WORDS


def check_plan(plan: Request, document: Mapping[str, Any]) -> None:
    """Refuse a plan of another release: its columns, its k or its cut differ."""
    roles, parameters = plan.columns, document["parameters"]
    published = [axis["column"] for axis in document["quasi_identifiers"]]
    pairs = {
        "quasi_identifiers": (roles.quasi_identifiers, published),
        "sensitive": (roles.sensitive, document["sensitive"]),
        "keep": (roles.keep, document["kept"]),
    }
    different = [name for name, (planned, certified) in pairs.items() if sorted(planned) != sorted(certified)]
    different += ["k"] if plan.goal.k not in (None, parameters.get("k")) else []
    different += ["cut"] if plan.cut.cut != parameters.get("cut", plan.cut.cut) else []
    if different:
        raise BadOption(
            "--plan",
            f"it is the plan of another release: {', '.join(different)} differ. Name the right one, or omit it.",
        )


def describe_plan(plan: Request) -> dict[str, Any]:
    """What a plan adds to a certificate; of files only their names, of values only how many."""
    hierarchies = {name: Path(axis.hierarchy).name for name, axis in sorted(plan.axes.items()) if axis.hierarchy}
    return {
        "identifiers": list(plan.columns.identifiers),
        "effort": usual_effort(1) if plan.cut.effort is None else plan.cut.effort,
        "seed": plan.cut.seed,
        "hierarchies": Path(plan.columns.hierarchies).name if plan.columns.hierarchies else None,
        "hierarchy": hierarchies,
        "grid": {name: axis.grid for name, axis in sorted(plan.axes.items()) if axis.grid is not None},
        "null_values": len(plan.input.null_values),
    }


# -- one quasi-identifier --------------------------------------------------------------------------------


def describe_column(release: Published, column: str, claims: Mapping[str, Any]) -> dict[str, Any]:
    """Its labels, how wide they are, and where intervals begin."""
    axis, rows = release.axes[column], Counter[Cell]()
    for label, size in zip(release.column_labels(column), release.sizes.tolist(), strict=True):
        rows[label or None] += size
    read = width_reader(axis)
    widths = {label: read(label) or 0.0 for label in rows}
    return {
        "column": column,
        "axis": axis["axis"],
        "grid": grid if is_stated(grid := axis.get("grid")) else None,
        "protect": protect if is_stated(protect := axis.get("protect")) else None,
        "loss": claims["loss_per_column"][column],
        "weight": (release.document["parameters"].get("weights") or {}).get(column, 1),
        "width": fsum(count * widths[label] for label, count in rows.items()) / max(rows.total(), 1),
        "extent": describe_extent(axis, rows),
        "sharpness": count_sharpness(rows, widths),
        "distinct": len(rows),
        "missing": rows[None],
        "labels": count_shown(axis, rows, widths),
        **(describe_grid(axis, rows) if is_line(axis) else dict.fromkeys(("edges", "places", "domain", "ends"))),
    }


def count_sharpness(rows: Mapping[Cell, int], widths: Mapping[Cell, float]) -> list[int]:
    """Rows whose label is exact, at most 5 % wide, at most 10 % wide, ..., the whole axis."""
    counts = [0] * (len(SHARPNESS) + 1)
    for label, count in rows.items():
        if label is not None:
            counts[sum(widths[label] > end for end in SHARPNESS)] += count
    return counts


def count_shown(axis: Axis, rows: Mapping[Cell, int], widths: Mapping[Cell, float]) -> list[dict[str, Any]]:
    """The labels that most rows have, sets by their size."""
    counts, wide = Counter[str](), dict[str, float]()
    for label, count in rows.items():
        text = show_label(axis, label)
        counts[text] += count
        wide[text] = widths[label]
    first = sorted(counts, key=lambda text: (-counts[text], text))[:MOST_LABELS]
    return [{"label": text, "rows": counts[text], "width": wide[text]} for text in first]


def show_label(axis: Axis, label: Cell) -> str:
    """A label as a report may show it."""
    if label is None:
        return MISSING
    if axis["axis"] == "set" and label.startswith("{"):
        return f"a set of {count_values(label)} values"
    return label


def describe_extent(axis: Axis, rows: Mapping[Cell, int]) -> dict[str, Any]:
    """How much a label covers on average, in the unit of the column: numbers, days, values, steps."""
    kind = axis["axis"]
    unit = {"number": "", "date": "days", "ordered": "steps"}.get(kind, "values")
    present = {label: count for label, count in rows.items() if label is not None}
    total = sum(present.values())
    mean = fsum(count * extent_of(axis, label) for label, count in present.items()) / total if total else None
    return {"mean": mean, "unit": unit, "of": measure_whole_axis(axis), "open": count_open(axis, present)}


def count_open(axis: Axis, rows: Mapping[str, int]) -> int:
    """Rows whose label has one end only; the domain ends it where widths are measured."""
    ends = {label: read_interval(axis, label)[:2] for label in rows if is_line(axis) and label != EVERYTHING}
    return sum(rows[label] for label, (low, high) in ends.items() if isinf(low) or isinf(high))


def extent_of(axis: Axis, label: str) -> float:
    """What one label covers."""
    kind = axis["axis"]
    if is_line(axis):
        low, high, _ = bound_interval(axis, label)
        return (high - low) / (DAY if kind == "date" else 1)
    if label == EVERYTHING:
        return measure_whole_axis(axis)
    if kind == "ordered":
        first, last = range_reader(axis["order"])(label)
        return float(last - first + 1)
    return float(count_values(label) if kind == "set" else axis["labels"].get(label, 1) if kind == "hierarchy" else 1)


def count_values(label: str) -> int:
    """Values of a set, with those that it only counts."""
    values, counted = read_set(label)
    return len(values) + counted


def measure_whole_axis(axis: Axis) -> float:
    """What all of an axis covers, in the unit of its labels."""
    if is_line(axis):
        start, stop = read_domain(axis)
        return (stop - start) / (DAY if axis["axis"] == "date" else 1)
    return float(
        {"ordered": len(axis.get("order", ())), "set": axis.get("values", 1)}.get(axis["axis"], count_tree_leaves(axis))
    )


def count_tree_leaves(axis: Axis) -> int:
    """The number of values under the root of a tree."""
    return int(axis.get("leaves", 1))


def describe_grid(axis: Axis, rows: Mapping[Cell, int]) -> dict[str, Any]:
    """Where intervals begin: the part of the grid that the file shows; as written, and as places on the line."""
    ends = [read_interval(axis, label) for label in rows if label is not None and label != EVERYTHING]
    starts = {low for low, _, _ in ends} | {high for low, high, closed in ends if not closed}
    finite = [edge for edge in sorted(starts) if isfinite(edge)]
    whole = read_domain(axis)
    return {
        "edges": [format_position(axis, edge) for edge in finite],
        "places": finite,
        "domain": [format_position(axis, end) for end in whole],
        "ends": list(whole),
    }

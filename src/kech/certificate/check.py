"""Check: measure a written file to make its certificate, and compare a file with its certificate."""

from collections.abc import Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from kech.certificate.cells import AnyPath, TextTable, digest_in_background, guess_format, open_published
from kech.certificate.cohorts import broken_series, rows_behind_listed_values
from kech.certificate.document import VERSION, check_goals, read_claims
from kech.certificate.histories import broken_histories, count_histories
from kech.certificate.labels import Axis, as_brackets, broken_sets, count_beyond, published_columns, width_readers
from kech.certificate.models import GOALS, MODELS, ClassCells, Figures, model_figures
from kech.certificate.pages import find_unpublished
from kech.certificate.sampled import STATED, broken_sample
from kech.certificate.tally import Counts, sums
from kech.errors import (
    ClaimBroken,
    ColumnInTwoRoles,
    NoQuasiIdentifier,
    NoSuchColumn,
    check_path,
    unusable_value,
)

HIDDEN = "hidden"  # in place of the number of suppressed rows, where it could identify people
IN_SERIES = {"rows_in": None, "suppressed": 0}  # suppressed rows of a series, in which rows wait
NOT_PROMISED = (  # sentences of every certificate
    "When the rows of a class agree on a sensitive value, anybody who knows a person's class learns it.",
    "Somebody who combines this file with other releases about the same people may narrow a class down.",
    "k-anonymity does not prevent predicate singling out: a condition may still isolate one person.",
    "Values of sensitive and kept columns are published as they are and may identify people themselves.",
    "Nothing is said about the truth of the rows, nor that every identifying column was named as one.",
)


def make_certificate(
    path: AnyPath,
    *,
    published_name: str,
    axes: Sequence[Axis],
    sensitive: Sequence[str],
    kept: Sequence[str],
    rows_in: int,
    parameters: Mapping[str, Any],
    kech_version: str,
    values: Mapping[str, Mapping[str, Any]] | None = None,
    stated: Mapping[str, Any] | None = None,
    loss_with_l_2: float | None = None,
    most_rows: int = 1,
    person_number: str | None = None,
    series: Mapping[str, Any] | None = None,
    format: str | None = None,
    delimiter: str = ",",
) -> dict[str, Any]:
    """Measure a written file and return its certificate; ClaimBroken where it does not meet its own k, l, t or alpha.

    `values` says how each sensitive column is read: its kind (number, date, ordered or text) and its order.
    `stated` and `loss_with_l_2` cannot be recounted: how many people a class has, and what two values in each cost.
    `person_number` is the column that numbers the people of a release that protects histories.
    `series` are the figures about cohorts in a release of a series, in which rows may wait but none is suppressed.
    """
    format = format or guess_format(published_name)
    table = open_published(path, format, delimiter)
    goals = {name: parameters[name] for name in GOALS if name in parameters}
    content = {
        "quasi_identifiers": [dict(axis) for axis in axes],
        "sensitive": list(sensitive),
        "values": read_values(sensitive, values or {}),
        "kept": list(kept),
        **({"person_number": person_number} if person_number else {}),
        "parameters": dict(parameters),
        **({"stated": dict(stated)} if stated else {}),
        **({"loss_with_l_2": loss_with_l_2} if loss_with_l_2 else {}),
        **({"series": dict(series)} if series else {}),
        "not_promised": list(NOT_PROMISED),
    }
    with digest_in_background(Path(path)) as digest:
        pages = broken_pages(path, format, certified=True)  # first: it checks the sizes that pages state
        figures, broken = measure_table(table, content, goals, parameters.get("k", 1))
    suppression = IN_SERIES if series else state_suppression(rows_in, figures, parameters, most_rows)
    figures = with_suppressed(figures, suppression["suppressed"])
    dialect = {"delimiter": delimiter} if format == "csv" else {}
    claimed = ("k", "classes", "rows", "loss", "loss_per_column", "histories")
    certificate = {
        "certificate": VERSION,
        "kech": kech_version,
        "file": {"name": published_name, "format": format, "sha256": digest(), **dialect},
        "claims": {name: figures[name] for name in claimed if name in figures} | suppression | {"goals": goals},
        "measured": {name: figures[name] for name in ("average_class", *MODELS)},
        **content,
    }
    if broken := broken + pages + broken_columns(certificate, table.columns) + broken_claims(certificate, figures):
        raise ClaimBroken(published_name, broken)
    return certificate


def check_certificate(path: AnyPath, certificate: AnyPath | None = None) -> Figures:
    """Recounted figures of a file that meets every claim of its certificate; ClaimBroken lists the claims it breaks."""
    check_path(path)
    if certificate is not None:
        check_path(certificate, "certificate")
    with digest_in_background(Path(path)) as digest:
        document = read_claims(path, certificate)
        file = document["file"]
        table = open_published(path, file["format"], file.get("delimiter", ","))
        broken = broken_columns(document, table.columns) + check_disclaimers(document)
        pages = broken_pages(path, file["format"], certified=True)
        try:
            claims = document["claims"]
            k = document["parameters"].get("k", claims["k"])
            values = read_values(document["sensitive"], document.get("values", {}))
            figures, unreadable = measure_table(table, document | {"values": values}, claims.get("goals", {}), k)
        except NoSuchColumn:
            raise ClaimBroken(path, find_changes(file, digest()) + broken) from None
        unreadable += pages
    broken = find_changes(file, digest()) + broken
    figures = with_suppressed(figures, document["claims"]["suppressed"])
    if broken := broken + unreadable + broken_claims(document, figures):
        raise ClaimBroken(path, broken)
    return figures


def check_disclaimers(document: Mapping[str, Any]) -> list[str]:
    """A complaint where the certificate does not have the exact sentences of NOT_PROMISED."""
    return (
        [] if document["not_promised"] == list(NOT_PROMISED) else ["not_promised: the sentences are not those of kech"]
    )


def find_changes(file: Mapping[str, Any], actual_digest: str) -> list[str]:
    """A complaint where the digest of the file differs from that in the certificate."""
    return [] if file["sha256"] == actual_digest else ["sha256: this is not the file that was certified"]


def check_table(
    path: AnyPath,
    quasi_identifiers: Sequence[str],
    k: int,
    sensitive: Sequence[str] = (),
    *,
    goals: Mapping[str, Any] | None = None,
    values: Mapping[str, Mapping[str, Any]] | None = None,
    format: str | None = None,
    delimiter: str = ",",
) -> Figures:
    """Figures of any file that meets k and the goals in every class, without the loss; ClaimBroken for other files.

    Goals are l, l_kind, c, t, t_kind and alpha, as in a certificate; `values` says how sensitive columns are read.
    """
    check_path(path)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise unusable_value("k", "Write a number of rows, 1 or more.")
    if repeated := [name for name in sensitive if name in quasi_identifiers]:
        raise ColumnInTwoRoles(repeated[0], "quasi-identifier", "sensitive")
    table, goals_to_check = open_published(path, format, delimiter), dict(goals or {})
    check_goals("goals", goals_to_check)
    pages = broken_pages(path, format or guess_format(path), certified=False)
    classes, within = count(table, quasi_identifiers, sensitive)
    figures = class_figures(classes) | model_figures(table, within, values or {}, goals_to_check)
    broken = [f"k: asked {k}, found {figures['k']}"] if figures["k"] < k else []
    if broken := broken + pages + broken_goals(goals_to_check, figures):
        raise ClaimBroken(path, broken)
    return figures


def broken_pages(path: AnyPath, format: str, *, certified: bool) -> list[str]:
    """A complaint for each column of a Parquet file whose dictionary or statistics contain a value of no row."""
    return find_unpublished(Path(path), certified=certified) if format == "parquet" else []


def read_values(sensitive: Sequence[str], values: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """For each sensitive column how its cells are read: as `values` says, otherwise as text."""
    return {name: dict(values.get(name, {"kind": "text"})) for name in sensitive}


# -- figures -------------------------------------------------------------------------------------------


def measure_table(
    table: TextTable, content: Mapping[str, Any], goals: Mapping[str, Any], k: int
) -> tuple[Figures, list[str]]:
    """Figures of a released table, and complaints about labels that their axis cannot read or sets of too many values.

    `content` has the axes, columns and parameters of the certificate.  A label that cannot be read has width 1.  The
    loss is the mean of the columns, weighted (by default with 1).
    """
    axes, weights = content["quasi_identifiers"], content["parameters"].get("weights") or {}
    least_rows = rows_behind_listed_values(content["series"], k) if "series" in content else k
    readers, plain = width_readers(axes), as_brackets(table, axes)
    classes, within = count(plain, list(readers), content["sensitive"])
    losses, broken = {}, []
    for position, (column, read) in enumerate(readers.items()):
        texts = classes.texts[position]
        label_rows = sums(classes.indices[position], classes.rows, len(texts)).astype(np.int64).tolist()
        labels = [(read(plain.label(cell)), rows) for cell, rows in zip(texts, label_rows, strict=True)]
        total_width = fsum(rows if width is None else rows * width for width, rows in labels)
        losses[column] = total_width / max(int(classes.rows.sum()), 1)
        if unreadable := sum(rows for width, rows in labels if width is None):
            broken.append(f"{column!r}: {unreadable} rows have a label that its axis cannot read")
        rows_of = {plain.label(cell): rows for cell, rows in zip(texts, label_rows, strict=True) if rows}
        broken += broken_sets(axes[position], rows_of, least_rows)
        if axes[position].get("domain_given") and (beyond := count_beyond(axes[position], rows_of)):
            broken.append(f"{column!r}: {beyond} labels end beyond the domain that was given")
    column_weights = {column: weights.get(column, 1) for column in losses}
    loss = fsum(losses[column] * weight for column, weight in column_weights.items()) / fsum(column_weights.values())
    figures = class_figures(classes) | {"loss": loss, "loss_per_column": losses}
    figures |= model_figures(plain, within, content["values"], goals)
    if content.get("person_number") is not None:
        figures["histories"], wrong = count_histories(table, axes, content["person_number"])
        broken += wrong
    return figures, broken


def count(
    table: TextTable, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
) -> tuple[Counts, dict[str, ClassCells]]:
    """The rows of every class; and for each sensitive column the rows of every (class, value)."""
    if not quasi_identifiers:
        raise NoQuasiIdentifier
    if missing := [name for name in (*quasi_identifiers, *sensitive) if name not in table.columns]:
        raise NoSuchColumn(missing[0], table.columns, released=True)
    names, width = list(dict.fromkeys(sensitive)), len(quasi_identifiers)
    combinations = table.count([*quasi_identifiers, *names])
    classes, group = combinations.group_by_first(width)
    values = zip(names, combinations.texts[width:], combinations.indices[width:], strict=True)
    return classes, {name: ClassCells(group, texts, indices, combinations.rows) for name, texts, indices in values}


def class_figures(classes: Counts) -> Figures:
    """k, number and average size of the classes; the loss is not known yet."""
    rows = int(classes.rows.sum())
    return {
        "k": int(classes.rows.min(initial=rows)),
        "classes": len(classes.rows),
        "rows": rows,
        "average_class": rows / max(len(classes.rows), 1),
        "loss": None,
        "loss_per_column": {},
    }


# -- claims --------------------------------------------------------------------------------------------


def shown_suppression(
    rows_in: int, rows: int, k: int, most_rows: int = 1, *, is_sampled: bool = False
) -> dict[str, Any]:
    """The number of suppressed rows as it is published: a small one, fewer than max(k, 3), is shown as "<k".

    Small numbers could identify people.  Where a person has up to `most_rows` rows, so many times that number is
    small, and it is shown as "hidden".  So is any number where rows are sampled: without a row it would be another.
    """
    if is_sampled:
        return {"rows_in": None, "suppressed": HIDDEN}
    if 0 < rows_in - rows < few_rows(k) * most_rows:
        return {"rows_in": None, "suppressed": f"<{few_rows(k)}" if most_rows == 1 else HIDDEN}
    return {"rows_in": rows_in, "suppressed": rows_in - rows}


def state_suppression(rows_in: int, figures: Figures, parameters: Mapping[str, Any], most_rows: int) -> dict[str, Any]:
    """The number of suppressed rows as a certificate with these parameters shows it."""
    k, is_sampled = parameters.get("k", figures["k"]), STATED[0] in parameters
    return shown_suppression(rows_in, figures["rows"], k, most_rows, is_sampled=is_sampled)


def promised_k(certificate: Mapping[str, Any], k_of_rows: int) -> int:
    """The k that a certificate promises: that of people where its maker states it, otherwise that of rows."""
    return int((certificate.get("stated") or {}).get("k") or k_of_rows)


def few_rows(k: int) -> int:
    """Numbers of rows below this one are not published."""
    return max(k, 3)


def with_suppressed(figures: Figures, suppressed: object) -> Figures:
    """Figures with the suppressed rows in the loss: each has width 1 in every column."""
    if not isinstance(suppressed, int) or suppressed < 1:
        return figures
    published = figures["rows"] / (figures["rows"] + suppressed)
    columns = {name: 1 - (1 - loss) * published for name, loss in figures["loss_per_column"].items()}
    return figures | {"loss": 1 - (1 - figures["loss"]) * published, "loss_per_column": columns}


def broken_columns(certificate: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    """A complaint about missing columns, or about additional ones where none is missing.

    Where claimed columns are missing, the first line may be no header: then its cells are not named.
    """
    quasi_identifiers = {name for axis in certificate["quasi_identifiers"] for name in published_columns(axis)}
    numbers = [certificate["person_number"]] if "person_number" in certificate else []
    claimed = quasi_identifiers.union(certificate["sensitive"], certificate["kept"], numbers)
    if missing := sorted(claimed.difference(columns)):
        return [f"columns: the file lacks {', '.join(map(repr, missing))}"]
    if extra := sorted(set(columns).difference(claimed)):
        return [f"columns: the file also has {', '.join(map(repr, extra))}"]
    return []


def broken_claims(certificate: Mapping[str, Any], figures: Figures) -> list[str]:
    """A complaint for every claim of the certificate that the recounted figures contradict."""
    claims = certificate["claims"]
    least_k = certificate["parameters"].get("k", claims["k"])
    broken = []
    if not figures["k"] >= claims["k"] >= least_k:
        broken.append(f"k: asked {least_k}, claimed {claims['k']}, found {figures['k']}")
    if "series" in certificate:
        broken += broken_series(certificate["series"], figures["rows"], figures["classes"], least_k)
    if STATED[0] in certificate["parameters"]:
        broken += broken_sample(certificate)
    if not _rows_add_up(certificate, least_k):
        broken.append("suppressed: it contradicts rows_in, rows and k")
    asked_goals = {name: goal for name, goal in certificate["parameters"].items() if name in GOALS}
    if claims.get("goals", {}) != asked_goals:
        broken.append("goals: not those of the parameters")
    if claims.get("goals", {}).get("t_kind") == "ordered" and not has_order(figures):
        broken.append("t_kind: ordered is claimed, and no sensitive column has an order")
    broken += broken_goals(claims.get("goals", {}), figures)
    if "stated" in certificate and certificate["stated"]["people"] > figures["rows"]:
        broken.append(f"stated.people: {certificate['stated']['people']} are stated, in {figures['rows']} rows")
    if "stated" in certificate and not figures["k"] >= certificate["stated"]["k"] >= least_k:
        broken.append(
            f"stated.k: {least_k} people were asked, {certificate['stated']['k']} stated, in {figures['k']} rows"
        )
    if "histories" in claims:
        broken += broken_histories(claims["histories"], figures["histories"], least_k)
        if {name: certificate["stated"][name] for name in ("k", "people")} != claims["histories"]:
            broken.append("stated: the maker counted other histories than the file has")
    claimed = claims | certificate["measured"]
    names = ("rows", "classes", "loss", "loss_per_column", "average_class", *(x for x in MODELS if x in claimed))
    return broken + [f"{name}: not as claimed" for name in names if not _same(claimed[name], figures[name])]


def has_order(figures: Figures) -> bool:
    """Whether a sensitive column has an order, so that the ordered distance t can be measured."""
    return any(distance is not None for distance in figures["t_ordered"].values())


def broken_goals(goals: Mapping[str, Any], figures: Figures) -> list[str]:
    """A complaint for every goal that a sensitive column does not meet."""
    broken = []
    for column in figures["l"]:
        of_column = {name: figures[name].get(column) for name in MODELS}
        kind = {"distinct": "l", "entropy": "entropy_l"}.get(goals.get("l_kind", "distinct"))
        if "l" in goals and kind and of_column[kind] < goals["l"] - 1e-9:
            broken.append(f"l of {column!r}: asked {goals['l']}, found {of_column[kind]:.4g}")
        if "l" in goals and not kind and not _below(of_column["recursive_c"], goals["c"]):
            broken.append(f"c of {column!r}: asked {goals['c']} for l = {goals['l']}, found {of_column['recursive_c']}")
        t = (
            of_column["t"]
            if goals.get("t_kind") != "ordered" or of_column["t_ordered"] is None
            else of_column["t_ordered"]
        )
        if "t" in goals and t > goals["t"] + 1e-9:
            broken.append(f"t of {column!r}: asked {goals['t']}, found {t:.4g}")
        if "alpha" in goals and of_column["alpha"] > goals["alpha"] + 1e-9:
            broken.append(f"alpha of {column!r}: asked {goals['alpha']}, found {of_column['alpha']:.4g}")
    return broken


def _below(figure: float | None, most: float) -> bool:
    return figure is not None and figure < most


def _rows_add_up(certificate: Mapping[str, Any], k: int) -> bool:
    claims = certificate["claims"]
    suppressed, rows_in = claims["suppressed"], claims["rows_in"]
    if "series" in certificate:
        return rows_in is None and suppressed == 0
    if STATED[0] in certificate["parameters"]:
        return rows_in is None and suppressed == HIDDEN
    if rows_in is None:
        return suppressed in (f"<{few_rows(k)}", *([HIDDEN] if "stated" in certificate else []))
    return bool(suppressed == rows_in - claims["rows"] and (suppressed == 0 or suppressed >= few_rows(k)))


def _same(claimed: object, measured: object) -> bool:
    if isinstance(claimed, dict) and isinstance(measured, dict):
        return claimed.keys() == measured.keys() and all(_same(claimed[name], measured[name]) for name in measured)
    if isinstance(claimed, float) and isinstance(measured, float):
        return abs(claimed - measured) <= 1e-9
    return claimed == measured

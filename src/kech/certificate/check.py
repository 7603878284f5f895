"""Check: claim what a written file holds, and find out whether a claim is true."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kech.certificate.cells import AnyPath, guess_format, hashing, open_published
from kech.certificate.claims import broken_claims, broken_columns, broken_goals, shown_suppression, with_suppressed
from kech.certificate.counting import class_figures, count, measure_table
from kech.certificate.document import VERSION, check_goals, read_claims
from kech.certificate.labels import Axis
from kech.certificate.models import GOALS, MODELS, Figures, model_figures
from kech.certificate.pages import find_unpublished
from kech.errors import BadOption, ClaimBroken, ColumnInTwoRoles, NoSuchColumn

NOT_PROMISED = (  # by every certificate of version 1, whatever its file says
    "When the rows of a class agree on a sensitive value, anybody who knows a person's class learns it.",
    "Somebody who combines this file with other releases about the same people may narrow a class down.",
    "k-anonymity does not prevent predicate singling out: a condition may still isolate one person.",
    "Values of sensitive and kept columns are published as they are and may identify people themselves.",
    "Nothing is said about the truth of the rows, nor that every identifying column was named as one.",
)


def measure(
    path: AnyPath,
    quasi_identifiers: Sequence[Axis],
    sensitive: Sequence[str] = (),
    format: str | None = None,
    delimiter: str = ",",
) -> Figures:
    """Figures of a published file, recomputed from the file and the public axes alone."""
    table = open_published(path, format, delimiter)
    figures, broken = measure_table(table, quasi_identifiers, sensitive, {}, {})
    if broken:
        raise ClaimBroken(path, broken)
    return figures


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
    format: str | None = None,
    delimiter: str = ",",
) -> dict[str, Any]:
    """Measure a written file and claim what was measured; a file below its own k, l, t or alpha gets no certificate.

    `values` says how each sensitive column is read: its kind (number, date, ordinal or text), for an ordinal its order.
    """
    format = format or guess_format(published_name)
    table = open_published(path, format, delimiter)
    read_as = read_values(sensitive, values or {})
    goals = {name: parameters[name] for name in GOALS if name in parameters}
    with hashing(Path(path)) as digest:
        pages = broken_pages(path, format, certified=True)  # first: what they say of their size is not believed
        figures, broken = measure_table(table, axes, sensitive, read_as, goals, parameters.get("k", 1))
        broken += pages
    suppression = shown_suppression(rows_in, figures["rows"], parameters.get("k", figures["k"]))
    figures = with_suppressed(figures, suppression["suppressed"])
    dialect = {"delimiter": delimiter} if format == "csv" else {}
    claimed = ("k", "classes", "rows", "loss", "loss_per_column")
    certificate = {
        "certificate": VERSION,
        "kech": kech_version,
        "file": {"name": published_name, "format": format, "sha256": digest(), **dialect},
        "claims": {name: figures[name] for name in claimed} | suppression | {"goals": goals},
        "measured": {name: figures[name] for name in ("average_class", *MODELS)},
        "quasi_identifiers": [dict(axis) for axis in axes],
        "sensitive": list(sensitive),
        "values": read_as,
        "kept": list(kept),
        "parameters": dict(parameters),
        "not_promised": list(NOT_PROMISED),
    }
    if broken := broken + broken_columns(certificate, table.columns) + broken_claims(certificate, figures):
        raise ClaimBroken(published_name, broken)
    return certificate


def check_certificate(path: AnyPath, certificate: AnyPath | None = None) -> Figures:
    """Figures of a file whose certificate holds; ClaimBroken lists every claim that does not."""
    with hashing(Path(path)) as digest:
        document = read_claims(path, certificate)
        file = document["file"]
        table = open_published(path, file["format"], file.get("delimiter", ","))
        broken = broken_columns(document, table.columns) + forged_words(document)
        pages = broken_pages(path, file["format"], certified=True)
        try:
            figures, unreadable = measure_table(
                table,
                document["quasi_identifiers"],
                document["sensitive"],
                read_values(document["sensitive"], document.get("values", {})),
                document["claims"].get("goals", {}),
                document["parameters"].get("k", document["claims"]["k"]),
            )
        except NoSuchColumn:
            raise ClaimBroken(path, find_changes(file, digest()) + broken) from None
        unreadable += pages
    broken = find_changes(file, digest()) + broken
    figures = with_suppressed(figures, document["claims"]["suppressed"])
    if broken := broken + unreadable + broken_claims(document, figures):
        raise ClaimBroken(path, broken)
    return figures


def forged_words(document: Mapping[str, Any]) -> list[str]:
    """A complaint where a certificate does not say, word for word, what none of its version promises."""
    return [] if document["not_promised"] == list(NOT_PROMISED) else ["not_promised: these are not the words of kech"]


def find_changes(file: Mapping[str, Any], found: str) -> list[str]:
    """A complaint where the digest is not that of the certificate."""
    return [] if file["sha256"] == found else ["sha256: this is not the file that was certified"]


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
    """Figures of any file that keeps k and these goals in every class; without a certificate no loss is known.

    Goals are l, l_kind, c, t, t_kind and alpha, as in a certificate; `values` says how sensitive columns are read.
    """
    if k < 1:
        raise BadOption("k", "it is a number of rows, 1 or more.")
    if twice := [name for name in sensitive if name in quasi_identifiers]:
        raise ColumnInTwoRoles(twice[0], "quasi-identifier", "sensitive")
    table, asked = open_published(path, format, delimiter), dict(goals or {})
    check_goals("goals", asked)
    pages = broken_pages(path, format or guess_format(path), certified=False)
    classes, within = count(table, quasi_identifiers, sensitive)
    figures = class_figures(classes) | model_figures(table, within, values or {}, asked)
    broken = [f"k: asked {k}, found {figures['k']}"] if figures["k"] < k else []
    if broken := broken + pages + broken_goals(asked, figures):
        raise ClaimBroken(path, broken)
    return figures


def broken_pages(path: AnyPath, format: str, *, certified: bool) -> list[str]:
    """A complaint for each column of a Parquet file whose dictionary or statistics hold what no row holds."""
    return find_unpublished(Path(path), certified=certified) if format == "parquet" else []


def read_values(sensitive: Sequence[str], values: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """How a certificate reads each sensitive column; as text where it does not say."""
    return {name: dict(values.get(name, {"kind": "text"})) for name in sensitive}

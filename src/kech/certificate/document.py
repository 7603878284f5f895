"""Document: reads a certificate file and checks its fields and their types."""

import json
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import Any

from kech.certificate.cells import AnyPath, certificate_path, check_dialect
from kech.certificate.cohorts import is_series
from kech.certificate.labels import published_columns, width_readers
from kech.certificate.models import GOALS, MODELS, VALUES
from kech.certificate.sampled import SEARCH, STATED, are_sample_figures_valid
from kech.errors import BadCertificate, BadOption, UsageError

ASK = "Ask for a whole certificate."
VERSION = 5  # earlier ones had other words for grids, axes and forms of labels, and infinite half widths
_SHAPE: dict[tuple[type, ...], str] = {
    (str,): "kech file.name file.format file.sha256",
    (int,): "claims.k claims.classes claims.rows",
    (int, str): "claims.suppressed",
    (int, NoneType): "claims.rows_in",
    (int, float): "claims.loss measured.average_class",
    (dict,): "claims.loss_per_column measured.l measured.t parameters",
    (list,): "quasi_identifiers sensitive kept not_promised",
}
_KNOWN = {  # every field that a certificate may have: what nobody checks would be read as a promise
    "": "certificate kech file claims measured quasi_identifiers sensitive values kept person_number parameters stated "
    "loss_with_l_2 series not_promised",
    "file": "name format sha256 delimiter",
    "claims": "k classes rows loss loss_per_column histories rows_in suppressed goals",
    "measured": f"average_class {' '.join(MODELS)}",
    "parameters": f"k {' '.join((*GOALS, *STATED, SEARCH))} protect_history cut objective metric reading field eps "
    "suppress weights target levels grid protect k_reached coarse owner_secret no_ledger allow_composition",
    "quasi_identifiers": "column axis domain domain_given grid protect order values rare leaves labels form columns "
    "closed",
}


def read_claims(path: AnyPath, certificate: AnyPath | None = None) -> dict[str, Any]:
    """The certificate of a file, unchecked against the file: `check_certificate` compares the two."""
    source = Path(certificate or certificate_path(path))
    try:
        document = json.loads(source.read_bytes(), object_pairs_hook=_refuse_twice)
        _check_document(document)
    except FileNotFoundError:
        other = "Without a certificate, `kech verify` and `kech risk` use the columns that you name: --qi COLUMN ..."
        raise BadCertificate(source, f"there is no such file. Name it: --certificate FILE. {other}") from None
    except OSError as error:
        raise BadCertificate(source, f"it cannot be read: {error.strerror}. Check its permissions.") from None
    except (ValueError, RecursionError):
        raise BadCertificate(source, f"it is not JSON. {ASK}") from None
    except UsageError as error:
        raise BadCertificate(source, str(error)) from None
    return dict(document)


def _refuse_twice(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of an object; other readers take the first of two, and would read another claim."""
    if len(dict(fields)) < len(fields):
        raise BadOption("certificate", f"one field stands twice. {ASK}")
    return dict(fields)


def _check_document(document: Any) -> None:
    version = document.get("certificate") if isinstance(document, dict) else None
    if version in range(1, VERSION):
        raise BadOption("certificate", "an earlier version wrote it. Check it with that version, or release again.")
    if version != VERSION:
        raise BadOption("certificate", "this kech does not know its version. Install a newer kech.")
    for kinds, fields in _SHAPE.items():
        for field in fields.split():
            _require(field, type(_look_up(document, field)) in kinds)
    for field in ("sensitive", "kept"):
        _require(field, all(isinstance(name, str) for name in document[field]))
    _require("parameters.k", type(document["parameters"].get("k", 1)) is int)
    for flag in ("owner_secret", "no_ledger", "allow_composition", "protect_history"):
        _require(f"parameters.{flag}", type(document["parameters"].get(flag, True)) is bool)
    if any(name in document["parameters"] for name in (*STATED, SEARCH)):
        _require("parameters.dp_epsilon", are_sample_figures_valid(document["parameters"]))
    check_goals("claims.goals", document["claims"].get("goals", {}))
    promise = "history" if document["parameters"].get("protect_history") else "person"
    if "stated" in document or promise == "history":
        _check_stated(document.get("stated"), promise)
    price = document.get("loss_with_l_2", 0)
    _require("loss_with_l_2", type(price) in (int, float) and 0 <= price <= 1)
    _require("series", "series" not in document or is_series(document["series"]))
    _check_values(document.get("values", {}))
    check_dialect(document["file"]["format"], document["file"].get("delimiter", ","))
    columns = width_readers(document["quasi_identifiers"])
    _refuse_unknown(document)
    weights = document["parameters"].get("weights", {})
    _require("parameters.weights", isinstance(weights, dict) and weights.keys() <= columns.keys())
    _require("parameters.weights", all(type(each) in (int, float) and 0 < each < 1e15 for each in weights.values()))
    target = document["parameters"].get("target")
    _require("parameters.target", target is None or (isinstance(target, str) and target in document["sensitive"]))
    published = [name for axis in document["quasi_identifiers"] for name in published_columns(axis)]
    _require("quasi_identifiers", len(set(published)) == len(published))
    _require("sensitive", not {*columns, *published} & {*document["sensitive"], *document["kept"]})
    _check_histories(document, {*columns, *published, *document["sensitive"], *document["kept"]}, promise)


def check_goals(field: str, goals: Any) -> None:
    """Refuse goals for sensitive columns that have unknown names or wrong types."""
    _require(field, isinstance(goals, dict) and set(goals) <= set(GOALS))
    for name in {"l", "c", "t", "alpha"} & goals.keys():
        _require(f"{field}.{name}", type(goals[name]) in (int, float) and 0 <= goals[name] < 1e15)
    kinds = ("distinct", "entropy", "recursive") if "c" in goals else ("distinct", "entropy")
    _require(f"{field}.l_kind", goals.get("l_kind", "distinct") in kinds)
    _require(f"{field}.l", goals.get("l_kind") != "recursive" or (type(goals.get("l")) is int and goals["l"] > 0))
    _require(f"{field}.t_kind", goals.get("t_kind", "equal") in ("equal", "ordered"))


def _check_histories(document: dict[str, Any], others: set[str], promise: str) -> None:
    """Refuse claims about histories in a file without numbers of people, and the lack of them in one with numbers."""
    if promise == "person":
        _require("person_number", "person_number" not in document and "histories" not in document["claims"])
        return
    number, claimed = document.get("person_number"), document["claims"].get("histories")
    _require("person_number", isinstance(number, str) and number not in others)
    _require("claims.histories", isinstance(claimed, dict) and claimed.keys() == {"k", "people"})
    _require("claims.histories", all(type(figure) is int for figure in claimed.values()))


def _check_stated(stated: Any, promise: str) -> None:
    _require("stated", isinstance(stated, dict) and stated.keys() == {"promise", "k", "people"})
    _require("stated.promise", stated["promise"] == promise)
    _require("stated.k", type(stated["k"]) is int and type(stated["people"]) is int and stated["k"] >= 1)
    _require("stated.people", stated["people"] >= stated["k"])


def _check_values(values: Any) -> None:
    _require("values", isinstance(values, dict) and all(isinstance(read, dict) for read in values.values()))
    for read in values.values():
        order = read.get("order", [])
        _require("values", isinstance(order, list) and all(isinstance(value, str) for value in order))
        _require("values", read.get("kind") in (*VALUES, "ordered"))


def _refuse_unknown(document: dict[str, Any]) -> None:
    """Refuse a certificate with a field that this kech cannot check."""
    for section, names in _KNOWN.items():
        part = document[section] if section else document
        fields = {*part} if isinstance(part, dict) else {*chain.from_iterable(part)}
        if unknown := sorted(fields - {*names.split()}):
            reason = (
                "this kech does not know it. Install a newer kech; if there is none, somebody edited the certificate."
            )
            raise BadOption(".".join(filter(None, (section, unknown[0]))), reason)


def _look_up(document: Any, field: str) -> Any:
    for name in field.split("."):
        document = document.get(name, ...) if isinstance(document, dict) else ...
    return document


def _require(field: str, holds: bool) -> None:
    if not holds:
        raise BadOption(field, f"it is missing or malformed. {ASK}")

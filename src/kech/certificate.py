"""Certificate: what a published file promises, and the independent check of that promise.

In: a written CSV or Parquet file and its public parameters.  Out: figures, or ClaimBroken.
Own reader, own counting: nothing here is shared with the code that made the file.
"""

import csv
import hashlib
import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import partial
from itertools import islice
from math import exp, fsum, log
from operator import itemgetter
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any

from kech.errors import (
    BadCertificate,
    BadColumns,
    BadOption,
    ClaimBroken,
    NoQuasiIdentifier,
    NoSuchColumn,
    NoSuchFile,
    UnreadableFile,
    UsageError,
)

AnyPath = str | PathLike[str]
Axis = Mapping[str, Any]
Figures = dict[str, Any]
Cell = str | None
Counts = Counter[tuple[Cell, ...]]
Batch = list[list[Cell]]  # one list a column
Value = tuple[int, Any]  # of a sensitive column, as it is compared; what is missing comes first

NOT_PROMISED = (
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
    table = _open_table(Path(path), format or _guess_format(path), delimiter)
    figures, broken = _measure(table, quasi_identifiers, sensitive, None, {})
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
    format = format or _guess_format(published_name)
    table = _open_table(Path(path), format, delimiter)
    read_as = {name: dict((values or {}).get(name, {"kind": "text"})) for name in sensitive}
    goals = {name: parameters[name] for name in _GOALS if name in parameters}
    figures, broken = _measure(table, axes, sensitive, read_as, goals)
    suppression = shown_suppression(rows_in, figures["rows"], parameters.get("k", figures["k"]))
    figures = _with_suppressed(figures, suppression["suppressed"])
    dialect = {"delimiter": delimiter} if format == "csv" else {}
    claimed = ("k", "classes", "rows", "loss", "loss_per_column")
    certificate = {
        "certificate": 1,
        "kech": kech_version,
        "file": {"name": published_name, "format": format, "sha256": _digest(Path(path)), **dialect},
        "claims": {name: figures[name] for name in claimed} | suppression | {"goals": goals},
        "measured": {name: figures[name] for name in ("average_class", *_MODELS)},
        "quasi_identifiers": [dict(axis) for axis in axes],
        "sensitive": list(sensitive),
        "values": read_as,
        "kept": list(kept),
        "parameters": dict(parameters),
        "not_promised": list(NOT_PROMISED),
    }
    if broken := broken + _broken_columns(certificate, table.columns) + _broken_claims(certificate, figures):
        raise ClaimBroken(published_name, broken)
    return certificate


def check_certificate(path: AnyPath, certificate: AnyPath | None = None) -> Figures:
    """Figures of a file whose certificate holds; ClaimBroken lists every claim that does not."""
    digest = _digest(Path(path))
    document = read_claims(path, certificate)
    file = document["file"]
    table = _open_table(Path(path), file["format"], file.get("delimiter", ","))
    broken = [] if file["sha256"] == digest else ["sha256: this is not the file that was certified"]
    broken += _broken_columns(document, table.columns)
    try:
        figures, unreadable = _measure(
            table,
            document["quasi_identifiers"],
            document["sensitive"],
            document.get("values", {}),
            document["claims"].get("goals", {}),
        )
    except NoSuchColumn:
        raise ClaimBroken(path, broken) from None
    figures = _with_suppressed(figures, document["claims"]["suppressed"])
    if broken := broken + unreadable + _broken_claims(document, figures):
        raise ClaimBroken(path, broken)
    return figures


def check_table(
    path: AnyPath,
    quasi_identifiers: Sequence[str],
    k: int,
    sensitive: Sequence[str] = (),
    *,
    format: str | None = None,
    delimiter: str = ",",
) -> Figures:
    """Figures of any file that holds k rows in every class; without a certificate no loss is known."""
    if k < 1:
        raise BadOption("k", "it is a number of rows, 1 or more.")
    table = _open_table(Path(path), format or _guess_format(path), delimiter)
    classes, within = _count(table, quasi_identifiers, sensitive)
    figures = _class_figures(classes) | _model_figures(table, within, None, {})
    if figures["k"] < k:
        raise ClaimBroken(path, [f"k: asked {k}, found {figures['k']}"])
    return figures


def read_claims(path: AnyPath, certificate: AnyPath | None = None) -> dict[str, Any]:
    """The certificate of a file as it is written; `check_certificate` says whether it holds."""
    return _read_certificate(Path(certificate or f"{Path(path)}.certificate.json"))


def open_published(path: AnyPath, format: str | None = None, delimiter: str = ",") -> "_Table":
    """The cells of a published file, all text."""
    return _open_table(Path(path), format or _guess_format(path), delimiter)


def _guess_format(name: AnyPath) -> str:
    return "parquet" if Path(name).suffix.lower() in (".parquet", ".pq") else "csv"


# Claims


def shown_suppression(rows_in: int, rows: int, k: int) -> dict[str, Any]:
    """Few suppressed rows would point at people: 1 to k-1 of them, and always 1 and 2, are shown as "<k"."""
    if 0 < rows_in - rows < _few(k):
        return {"rows_in": None, "suppressed": f"<{_few(k)}"}
    return {"rows_in": rows_in, "suppressed": rows_in - rows}


def _few(k: int) -> int:
    return max(k, 3)


def _with_suppressed(figures: Figures, suppressed: object) -> Figures:
    """A suppressed row loses everything: width 1 in every column."""
    if not isinstance(suppressed, int) or suppressed < 1:
        return figures
    published = figures["rows"] / (figures["rows"] + suppressed)
    columns = {name: 1 - (1 - loss) * published for name, loss in figures["loss_per_column"].items()}
    return figures | {"loss": fsum(columns.values()) / len(columns), "loss_per_column": columns}


def _broken_columns(certificate: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    """Unclaimed columns are named only when the claimed ones prove the first line to be a header."""
    quasi_identifiers = {axis["column"] for axis in certificate["quasi_identifiers"]}
    claimed = quasi_identifiers.union(certificate["sensitive"], certificate["kept"])
    if missing := sorted(claimed.difference(columns)):
        return [f"columns: the file lacks {', '.join(map(repr, missing))}"]
    if extra := sorted(set(columns).difference(claimed)):
        return [f"columns: the file also has {', '.join(map(repr, extra))}"]
    return []


def _broken_claims(certificate: Mapping[str, Any], figures: Figures) -> list[str]:
    claims = certificate["claims"]
    asked = certificate["parameters"].get("k", claims["k"])
    broken = []
    if not figures["k"] >= claims["k"] >= asked:
        broken.append(f"k: asked {asked}, claimed {claims['k']}, found {figures['k']}")
    if not _rows_add_up(claims, asked):
        broken.append("suppressed: it does not fit rows_in, rows and k")
    asked_goals = {name: goal for name, goal in certificate["parameters"].items() if name in _GOALS}
    if claims.get("goals", {}) != asked_goals:
        broken.append("goals: not those of the parameters")
    broken += _broken_goals(claims.get("goals", {}), figures)
    claimed = claims | certificate["measured"]
    names = ("rows", "classes", "loss", "loss_per_column", "average_class", *(x for x in _MODELS if x in claimed))
    return broken + [f"{name}: not as claimed" for name in names if not _same(claimed[name], figures[name])]


def _broken_goals(goals: Mapping[str, Any], figures: Figures) -> list[str]:
    """Every goal that was asked, for every sensitive column, against what was found."""
    broken = []
    for column in figures["l"]:
        found = {name: figures[name].get(column) for name in _MODELS}
        kind = {"distinct": "l", "entropy": "entropy_l"}.get(goals.get("l_kind", "distinct"))
        if "l" in goals and kind and found[kind] < goals["l"] - 1e-9:
            broken.append(f"l of {column!r}: asked {goals['l']}, found {found[kind]:.4g}")
        if "l" in goals and not kind and not _below(found["recursive_c"], goals["c"]):
            broken.append(f"c of {column!r}: asked {goals['c']} for l = {goals['l']}, found {found['recursive_c']}")
        t = found["t"] if goals.get("t_kind") != "ordered" or found["t_ordered"] is None else found["t_ordered"]
        if "t" in goals and t > goals["t"] + 1e-9:
            broken.append(f"t of {column!r}: asked {goals['t']}, found {t:.4g}")
        if "alpha" in goals and found["alpha"] > goals["alpha"] + 1e-9:
            broken.append(f"alpha of {column!r}: asked {goals['alpha']}, found {found['alpha']:.4g}")
    return broken


def _below(found: float | None, most: float) -> bool:
    return found is not None and found < most


def _rows_add_up(claims: Mapping[str, Any], k: int) -> bool:
    suppressed, rows_in = claims["suppressed"], claims["rows_in"]
    if rows_in is None:
        return bool(suppressed == f"<{_few(k)}")
    return bool(suppressed == rows_in - claims["rows"] and (suppressed == 0 or suppressed >= _few(k)))


def _same(claimed: object, found: object) -> bool:
    if isinstance(claimed, dict) and isinstance(found, dict):
        return claimed.keys() == found.keys() and all(_same(claimed[name], found[name]) for name in found)
    if isinstance(claimed, float) and isinstance(found, float):
        return abs(claimed - found) <= 1e-9
    return claimed == found


# The certificate file

_SHAPE: dict[tuple[type, ...], str] = {
    (str,): "kech file.name file.format file.sha256",
    (int,): "claims.k claims.classes claims.rows",
    (int, str): "claims.suppressed",
    (int, NoneType): "claims.rows_in",
    (int, float): "claims.loss measured.average_class",
    (dict,): "claims.loss_per_column measured.l measured.t parameters",
    (list,): "quasi_identifiers sensitive kept not_promised",
}


def _read_certificate(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
        _check_document(document)
    except FileNotFoundError:
        hint = "Name it (--certificate), or say what must hold: --qi COLUMN ... --k K."
        raise BadCertificate(path, f"there is no such file. {hint}") from None
    except OSError as error:
        raise BadCertificate(path, f"it cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise BadCertificate(path, "it is not JSON.") from None
    except UsageError as error:
        raise BadCertificate(path, str(error)) from None
    return dict(document)


def _check_document(document: Any) -> None:
    if not isinstance(document, dict) or document.get("certificate") != 1:
        raise BadOption("certificate", "this version is not known to this kech.")
    for kinds, places in _SHAPE.items():
        for place in places.split():
            _require(place, type(_look_up(document, place)) in kinds)
    for place in ("sensitive", "kept"):
        _require(place, all(isinstance(name, str) for name in document[place]))
    _require("parameters.k", type(document["parameters"].get("k", 1)) is int)
    _check_goals(document["claims"].get("goals", {}))
    _check_values(document.get("values", {}))
    _check_dialect(document["file"]["format"], document["file"].get("delimiter", ","))
    _width_readers(document["quasi_identifiers"])


def _check_goals(goals: Any) -> None:
    _require("claims.goals", isinstance(goals, dict) and set(goals) <= set(_GOALS))
    for name in {"l", "c", "t", "alpha"} & goals.keys():
        _require(f"claims.goals.{name}", type(goals[name]) in (int, float) and 0 <= goals[name] < 1e15)
    kinds = ("distinct", "entropy", "recursive") if "c" in goals else ("distinct", "entropy")
    _require("claims.goals.l_kind", goals.get("l_kind", "distinct") in kinds)
    _require("claims.goals.l", goals.get("l_kind") != "recursive" or (type(goals.get("l")) is int and goals["l"] > 0))
    _require("claims.goals.t_kind", goals.get("t_kind", "equal") in ("equal", "ordered"))


def _check_values(values: Any) -> None:
    _require("values", isinstance(values, dict) and all(isinstance(read, dict) for read in values.values()))
    for read in values.values():
        order = read.get("order", [])
        _require("values", isinstance(order, list) and all(isinstance(value, str) for value in order))
        _require("values", read.get("kind") in (*_VALUES, "ordinal"))


def _look_up(document: Any, place: str) -> Any:
    for name in place.split("."):
        document = document.get(name, ...) if isinstance(document, dict) else ...
    return document


def _require(place: str, holds: bool) -> None:
    if not holds:
        raise BadOption(place, "it is missing or malformed.")


# Counting: one pass over the file, memory for the classes only


def _measure(
    table: "_Table",
    axes: Sequence[Axis],
    sensitive: Sequence[str],
    read_as: Mapping[str, Mapping[str, Any]] | None,
    goals: Mapping[str, Any],
) -> tuple[Figures, list[str]]:
    """Figures, and a complaint for every column with labels that its axis cannot read (width 1)."""
    readers = _width_readers(axes)
    classes, within = _count(table, list(readers), sensitive)
    losses, broken = {}, []
    for position, (column, read) in enumerate(readers.items()):
        labels = [(read(table.label(cell)), rows) for cell, rows in _marginal(classes, position).items()]
        lost = fsum(rows if width is None else rows * width for width, rows in labels)
        losses[column] = lost / max(classes.total(), 1)
        if unreadable := sum(rows for width, rows in labels if width is None):
            broken.append(f"{column!r}: {unreadable} rows hold a label that its axis cannot read")
    loss = fsum(losses.values()) / len(losses)
    models = _model_figures(table, within, read_as, goals)
    return _class_figures(classes) | {"loss": loss, "loss_per_column": losses} | models, broken


def _count(
    table: "_Table", quasi_identifiers: Sequence[str], sensitive: Sequence[str]
) -> tuple[Counts, dict[str, Counts]]:
    """Rows of every class; and, for each sensitive column, rows of every (class, value)."""
    if not quasi_identifiers:
        raise NoQuasiIdentifier
    if missing := [name for name in (*quasi_identifiers, *sensitive) if name not in table.columns]:
        raise NoSuchColumn(missing[0], table.columns)
    classes: Counts = Counter()
    within: dict[str, Counts] = {name: Counter() for name in sensitive}
    for batch in table.batches([*quasi_identifiers, *within]):
        keys = batch[: len(quasi_identifiers)]
        classes.update(zip(*keys, strict=True))
        for counts, values in zip(within.values(), batch[len(keys) :], strict=True):
            counts.update(zip(*keys, values, strict=True))
    return classes, within


def _class_figures(classes: Counts) -> Figures:
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


# Sensitive columns: what a class tells about them

_GOALS = ("l", "l_kind", "c", "t", "t_kind", "alpha")
_MODELS = ("l", "t", "entropy_l", "recursive_c", "t_ordered", "alpha", "beta", "enhanced_beta", "delta")


def _model_figures(
    table: "_Table",
    within: Mapping[str, Counts],
    read_as: Mapping[str, Mapping[str, Any]] | None,
    goals: Mapping[str, Any],
) -> Figures:
    """For each model the figure of each sensitive column; without `read_as` its kind is guessed from its cells."""
    figures: Figures = {name: {} for name in _MODELS}
    for column, counts in within.items():
        read = _guess_kind(table, counts) if read_as is None else read_as.get(column, {"kind": "text"})
        found = _column_figures(_by_class(counts, _value_reader(table, read)), read["kind"] != "text", goals)
        for name, figure in found.items():
            figures[name][column] = figure
    return figures


def _column_figures(parts: Sequence[Counter[Value]], ordered: bool, goals: Mapping[str, Any]) -> Figures:
    """The worst of all classes; parts are the values of each class.  None where a figure does not exist."""
    overall: Counter[Value] = Counter()
    for part in parts:
        overall.update(part)
    diversity = min(map(len, parts), default=0)
    depth = goals["l"] if goals.get("l_kind") == "recursive" else max(diversity, 1)
    factors = [factor for part in parts if (factor := _recursive_factor(part, depth)) is not None]
    gains = [_gains(part, overall) for part in parts]
    return {
        "l": diversity,
        "t": max((_equal_distance(part, overall) for part in parts), default=0.0),
        "entropy_l": exp(min(map(_entropy, parts))) if parts else 0.0,
        "recursive_c": max(factors, default=0.0) if len(factors) == len(parts) else None,
        "t_ordered": _ordered_distance(parts, overall) if ordered else None,
        "alpha": max((max(part.values()) / part.total() for part in parts), default=0.0),
        "beta": max((gain for gain, _ in gains), default=0.0),
        "enhanced_beta": max((gain for gain, _ in gains), default=0.0) if all(ok for _, ok in gains) else None,
        "delta": max((_disclosure(part, overall) for part in parts), default=0.0),
    }


def _by_class(counts: Counts, read: Callable[[Cell], Value]) -> list[Counter[Value]]:
    parts: defaultdict[tuple[Cell, ...], Counter[Value]] = defaultdict(Counter)
    known: dict[Cell, Value] = {}
    for key, rows in counts.items():
        cell = key[-1]
        if cell not in known:
            known[cell] = read(cell)
        parts[key[:-1]][known[cell]] += rows
    return list(parts.values())


def _equal_distance(part: Counter[Value], overall: Counter[Value]) -> float:
    """How far the values of a class are from those of the whole table.

    With all values equally far apart the earth mover's distance is the total variation:

        t = 1/2 sum_v |p(v) - q(v)| = sum_v max(0, p(v) - q(v))
    """
    size, rows = part.total(), overall.total()
    return sum(max(0, found * rows - overall[value] * size) for value, found in part.items()) / (size * rows)


def _ordered_distance(parts: Sequence[Counter[Value]], overall: Counter[Value]) -> float:
    """The same with m values on a line, neighbours 1 / (m - 1) apart: 1 / (m - 1) sum_i |P(i) - Q(i)|.

    P(i) and Q(i) are the shares up to the i-th value; in whole numbers, |P(i) rows - Q(i) size| / (size rows).
    """
    values = sorted(overall)
    place = {value: i for i, value in enumerate(values)}
    up_to, sums = [0], [0]
    for value in values:
        up_to.append(up_to[-1] + overall[value])
        sums.append(sums[-1] + up_to[-1])
    del up_to[0]
    rows, worst = overall.total(), 0.0
    for part in parts:
        size, level, start, moved = part.total(), 0, 0, 0
        for stop, found in [*sorted((place[value], found) for value, found in part.items()), (len(values) - 1, 0)]:
            cross = min(max(bisect_right(up_to, level * rows // size), start), stop)
            moved += level * rows * (2 * cross - start - stop)
            moved += size * (sums[stop] - 2 * sums[cross] + sums[start])
            level, start = level + found, stop
        worst = max(worst, moved / (size * rows))
    return worst / max(len(values) - 1, 1)


def _entropy(part: Counter[Value]) -> float:
    size = part.total()
    return -fsum(rows / size * log(rows / size) for rows in part.values())


def _recursive_factor(part: Counter[Value], depth: int) -> float | None:
    """r_1 / (r_l + r_(l+1) + ...), the counts descending; None where fewer than l values are."""
    rows = sorted(part.values(), reverse=True)
    tail = sum(rows[depth - 1 :])
    return rows[0] / tail if tail else None


def _gains(part: Counter[Value], overall: Counter[Value]) -> tuple[float, bool]:
    """The largest (p(v) - q(v)) / q(v), and whether each is at most -log q(v)."""
    size, rows = part.total(), overall.total()
    found = [(part[v] * rows / (size * overall[v]) - 1, -log(overall[v] / rows)) for v in part]
    return max(0.0, *(gain for gain, _ in found)), all(gain <= most + 1e-9 for gain, most in found)


def _disclosure(part: Counter[Value], overall: Counter[Value]) -> float:
    """The largest |log(p(v) / q(v))| over the values of a class."""
    size, rows = part.total(), overall.total()
    return max(abs(log(part[v] * rows / (size * overall[v]))) for v in part)


def _value_reader(table: "_Table", read: Mapping[str, Any]) -> Callable[[Cell], Value]:
    """A sensitive cell as it is compared: 1.0 is 1 among numbers; an empty cell is a missing one."""
    ranks = {value: rank for rank, value in enumerate(read.get("order", ()))}
    parse = ranks.__getitem__ if read["kind"] == "ordinal" else _VALUES[read["kind"]]

    def value(cell: Cell) -> Value:
        text = table.label(cell)
        if not text:
            return (0, 0)
        try:
            return (1, parse(text))
        except (ValueError, LookupError, OverflowError):
            return (2, text)

    return value


def _guess_kind(table: "_Table", counts: Counts) -> dict[str, str]:
    """Number or date where every cell that is not empty is one."""
    cells = {key[-1] for key in counts}
    for kind in ("number", "date"):
        read = _value_reader(table, {"kind": kind})
        places = {read(cell)[0] for cell in cells}
        if 1 in places and 2 not in places:
            return {"kind": kind}
    return {"kind": "text"}


# Axes: the share of an axis that a published label covers, 0 to 1


def _width_readers(axes: Sequence[Axis]) -> dict[str, Callable[[Cell], float | None]]:
    try:
        readers = {axis["column"]: _width_reader(axis) for axis in axes}
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise BadOption("quasi_identifiers", "an axis is malformed.") from None
    _require("quasi_identifiers", 0 < len(readers) == len(axes))
    return readers


def _width_reader(axis: Axis) -> Callable[[Cell], float | None]:
    """Width of a label, or None when this axis cannot read it."""
    if not isinstance(axis["column"], str):
        raise TypeError
    known: dict[Cell, float] = {None: 0.0, "": 0.0, "*": 1.0}
    if axis["axis"] == "tree":
        known |= {label: _share(under, axis["leaves"]) for label, under in axis["labels"].items()}
    read = _AXES[axis["axis"]](axis)

    def width(label: Cell) -> float | None:
        try:
            return float(min(1, max(0, known[label] if label in known else read(label))))
        except ValueError:
            return None

    return width


def _share(part: int, whole: int) -> float:
    return (part - 1) / (whole - 1) if whole > 1 else 0.0


def _read_set(axis: Axis) -> Callable[[Any], float]:
    values = int(axis["values"])
    return lambda label: _share(_members(label), values) if label.startswith("{") else 0.0


def _members(label: str) -> int:
    r"""Members of a published set; one with , { } " \ or outer spaces is a JSON string.

    >>> _members('{a, "b, c", d}')
    3
    """
    bare = re.sub(r'"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"', '""', label)
    member = r'(""|[^,{}"\\ ]([^,{}"\\]*[^,{}"\\ ])?|)'
    if not re.fullmatch(rf"\{{{member}(, {member})*\}}", bare):
        raise ValueError
    return bare.count(", ") + 1


def _read_ordinal(axis: Axis) -> Callable[[Any], float]:
    ranks = {str(value): rank for rank, value in enumerate(axis["order"])}

    def width(label: str) -> float:
        if label in ranks:
            return 0.0
        for dots in re.finditer(r"(?=\.\.)", label):
            low, high = ranks.get(label[: dots.start()]), ranks.get(label[dots.start() + 2 :])
            if low is not None and high is not None and low <= high:
                return _share(high - low + 1, len(ranks))
        raise ValueError

    return width


def _read_interval(edge: Callable[[str], Any], axis: Axis) -> Callable[[Any], Any]:
    low, high = (edge(str(end)) for end in axis["domain"])
    if low > high:
        raise ValueError

    def width(label: str) -> Any:
        start, stop = _edges(label, edge, low, high)
        if start > stop:
            raise ValueError
        return (min(stop, high) - max(start, low)) / (high - low) if low < high else 0.0

    return width


def _edges(label: str, edge: Callable[[str], Any], low: Any, high: Any) -> tuple[Any, Any]:
    if match := re.fullmatch(r"\[(.+), (.+)[\])]", label):
        return edge(match[1]), edge(match[2])
    if match := re.fullmatch(r">=? (.+)", label):
        return edge(match[1]), max(edge(match[1]), high)
    if match := re.fullmatch(r"<=? (.+)", label):
        return min(edge(match[1]), low), edge(match[1])
    value = edge(label)
    return value, value


def _number(text: str) -> Fraction:
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", text):
        raise ValueError
    return Fraction(text)


def _microseconds(text: str) -> int:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?)?", text):
        raise ValueError
    return (datetime.fromisoformat(text) - datetime.min) // timedelta(microseconds=1)


def _moment(text: str) -> datetime:
    """A date or a time as it is compared; moments with a zone in UTC."""
    if not re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


_VALUES: dict[str, Callable[[str], Any]] = {
    "number": lambda text: float(_number(text.strip())),
    "date": lambda text: _moment(text.strip()),
    "text": str,
}

_AXES: dict[str, Callable[[Axis], Callable[[Any], Any]]] = {
    "numeric": partial(_read_interval, _number),
    "date": partial(_read_interval, _microseconds),
    "tree": lambda _axis: lambda _label: 0.0,
    "set": _read_set,
    "ordinal": _read_ordinal,
    "star": lambda _axis: lambda _label: 0.0,
}


# The table file


@dataclass(frozen=True, slots=True)
class _Table:
    columns: list[str]
    batches: Callable[[Sequence[str]], Iterator[Batch]]  # cells of the named columns, some rows at a time
    label: Callable[[Cell], Cell]


def _open_table(path: Path, format: str, delimiter: str) -> _Table:
    _check_dialect(format, delimiter)
    table = _open_parquet(path) if format == "parquet" else _open_csv(path, delimiter)
    if not table.columns:
        raise UnreadableFile(path, "it has no columns.")
    if len(set(table.columns)) < len(table.columns):
        raise BadColumns(path, "two of them have the same name.")
    return table


def _check_dialect(format: str, delimiter: object) -> None:
    if format not in ("csv", "parquet"):
        raise BadOption("format", "csv or parquet is expected.")
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise BadOption("delimiter", "one character is expected.")


def _digest(path: Path) -> str:
    with _reading(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise NoSuchFile(path) from None
    except OSError as error:
        raise UnreadableFile(path, error.strerror or "it is damaged.") from None


def _open_csv(path: Path, delimiter: str) -> _Table:
    rows = _csv_rows(path, delimiter)
    columns = next(rows, [])

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        picks = [itemgetter(columns.index(name)) for name in names]
        while chunk := list(islice(rows, 1_000)):
            yield [list(map(pick, chunk)) for pick in picks]

    return _Table(columns, batches, _without_guard)


def _without_guard(cell: Cell) -> Cell:
    """The text behind the ' that keeps a spreadsheet from running a cell as a formula."""
    return cell[1:] if cell and re.match(r"'+\s*[=+\-@\t\r]", cell) else cell


def _csv_rows(path: Path, delimiter: str) -> Iterator[list[str]]:
    """The header, then rows as wide as it; trouble is named by the line on which its row begins."""
    width, line = 0, 1
    csv.field_size_limit(max(csv.field_size_limit(), 2**24))  # a set may be longer than csv's 128 KiB
    with _reading(path), path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        reader = csv.reader(map(_checked_line, text), delimiter=delimiter, strict=True)
        try:
            for cells in reader:
                row = cells or [""]  # a blank line is the NULL of a table with one column
                width = width or len(row)
                if len(row) != width:
                    raise csv.Error(f"{len(row)} cells under {width} columns")
                line = reader.line_num + 1
                yield row
        except csv.Error as error:  # its text never quotes a cell
            raise UnreadableFile(path, f"line {line}: {error}.") from None


def _checked_line(line: str) -> str:
    if "\0" in line or (not line.isascii() and re.search("[\udc80-\udcff]", line)):
        raise csv.Error("a NUL byte or bytes that are not UTF-8")
    return line


def _open_parquet(path: Path) -> _Table:
    with _parquet_file(path) as file:
        columns = list(file.schema_arrow.names)

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        with _parquet_file(path) as file:
            for batch in file.iter_batches(columns=list(names)):
                yield [batch.column(name).cast("string").to_pylist() for name in names]

    return _Table(columns, batches, lambda cell: cell)


@contextmanager
def _parquet_file(path: Path) -> Iterator[Any]:
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with _reading(path), ParquetFile(path) as file:
            yield file
    except (pyarrow.ArrowException, ValueError):
        raise UnreadableFile(path, "it is not a Parquet file whose cells can be read as text.") from None

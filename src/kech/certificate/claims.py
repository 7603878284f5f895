"""Claims: what a certificate says of its file, against the figures that were found."""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from kech.certificate.forms import published_columns
from kech.certificate.models import GOALS, MODELS, Figures


def shown_suppression(rows_in: int, rows: int, k: int) -> dict[str, Any]:
    """Few suppressed rows would point at people: 1 to k-1 of them, and always 1 and 2, are shown as "<k"."""
    if 0 < rows_in - rows < few_rows(k):
        return {"rows_in": None, "suppressed": f"<{few_rows(k)}"}
    return {"rows_in": rows_in, "suppressed": rows_in - rows}


def few_rows(k: int) -> int:
    """Fewer rows than this are not counted in public."""
    return max(k, 3)


def with_suppressed(figures: Figures, suppressed: object) -> Figures:
    """A suppressed row loses everything: width 1 in every column."""
    if not isinstance(suppressed, int) or suppressed < 1:
        return figures
    published = figures["rows"] / (figures["rows"] + suppressed)
    columns = {name: 1 - (1 - loss) * published for name, loss in figures["loss_per_column"].items()}
    return figures | {"loss": fsum(columns.values()) / len(columns), "loss_per_column": columns}


def broken_columns(certificate: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    """Unclaimed columns are named only when the claimed ones prove the first line to be a header."""
    quasi_identifiers = {name for axis in certificate["quasi_identifiers"] for name in published_columns(axis)}
    claimed = quasi_identifiers.union(certificate["sensitive"], certificate["kept"])
    if missing := sorted(claimed.difference(columns)):
        return [f"columns: the file lacks {', '.join(map(repr, missing))}"]
    if extra := sorted(set(columns).difference(claimed)):
        return [f"columns: the file also has {', '.join(map(repr, extra))}"]
    return []


def broken_claims(certificate: Mapping[str, Any], figures: Figures) -> list[str]:
    """Every claim that the figures do not bear out."""
    claims = certificate["claims"]
    asked = certificate["parameters"].get("k", claims["k"])
    broken = []
    if not figures["k"] >= claims["k"] >= asked:
        broken.append(f"k: asked {asked}, claimed {claims['k']}, found {figures['k']}")
    if not _rows_add_up(claims, asked):
        broken.append("suppressed: it does not fit rows_in, rows and k")
    asked_goals = {name: goal for name, goal in certificate["parameters"].items() if name in GOALS}
    if claims.get("goals", {}) != asked_goals:
        broken.append("goals: not those of the parameters")
    broken += broken_goals(claims.get("goals", {}), figures)
    claimed = claims | certificate["measured"]
    names = ("rows", "classes", "loss", "loss_per_column", "average_class", *(x for x in MODELS if x in claimed))
    return broken + [f"{name}: not as claimed" for name in names if not _same(claimed[name], figures[name])]


def broken_goals(goals: Mapping[str, Any], figures: Figures) -> list[str]:
    """Every goal that was asked, for every sensitive column, against what was found."""
    broken = []
    for column in figures["l"]:
        found = {name: figures[name].get(column) for name in MODELS}
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
        return bool(suppressed == f"<{few_rows(k)}")
    return bool(suppressed == rows_in - claims["rows"] and (suppressed == 0 or suppressed >= few_rows(k)))


def _same(claimed: object, found: object) -> bool:
    if isinstance(claimed, dict) and isinstance(found, dict):
        return claimed.keys() == found.keys() and all(_same(claimed[name], found[name]) for name in found)
    if isinstance(claimed, float) and isinstance(found, float):
        return abs(claimed - found) <= 1e-9
    return claimed == found

"""Distributions: how the values of one column lie, before and after."""

from typing import Any

import numpy as np

from kech.audit.comparison.columns import MISSING, OTHERS, LineColumn, Side
from kech.audit.comparison.pieces import Floats, describe, distance
from kech.certificate.labels import DAY, format_position

MOST_BARS = 10


def compare_column(side: Side) -> dict[str, Any]:
    """Kolmogorov-Smirnov and moments of numbers and dates; total variation of values; shares to draw."""
    missing = [missing_share(side, name) for name in ("before", "after")]
    figures: dict[str, Any] = {"column": side.column, "role": side.role, "kind": side.kind}
    figures |= {"missing_before": missing[0], "missing_after": missing[1]}
    if side.line is None:
        return figures | {"ks": None, "tv": total_variation(side), "before": None, "after": None, "bars": bars_of(side)}
    if not len(side.line.before.low) or not len(side.line.after.low):
        return figures | {"ks": None, "tv": None, "before": None, "after": None, "bars": []}
    line = side.line
    return figures | {
        "ks": distance(line.before, line.after),
        "tv": None,
        "before": format_dates(describe(line.before), side.kind),
        "after": format_dates(describe(line.after), side.kind),
        "bars": line_bars(line, side.kind, missing),
    }


def after_shares(side: Side) -> Floats:
    """Share of the released rows in each part."""
    rows = np.bincount(side.label, minlength=len(side.shares))
    return np.asarray(rows @ side.shares / max(rows.sum(), 1))


def before_shares(side: Side) -> Floats:
    """Share of the rows of the original in each part."""
    return np.bincount(side.before, minlength=len(side.parts)) / max(len(side.before), 1)


def missing_share(side: Side, when: str) -> float:
    """The share of the rows without a value, before or after."""
    return float((before_shares if when == "before" else after_shares)(side)[-1])


def total_variation(side: Side) -> float:
    """1/2 sum_v |p(v) - q(v)| over all values; what is missing is one of them."""
    before, after = side.masses or (before_shares(side), after_shares(side))
    return float(np.abs(before - after).sum() / 2)


def bars_of(side: Side) -> list[dict[str, Any]]:
    """The most frequent parts; an order is kept."""
    before, after = before_shares(side), after_shares(side)
    listed = [i for i, part in enumerate(side.parts[:-1]) if part != OTHERS]
    ranked = listed if side.is_ordered else sorted(listed, key=lambda i: -before[i])
    bars = [bar(side.parts[i], before[i], after[i]) for i in ranked[:MOST_BARS]]
    rest = [i for i in range(len(side.parts) - 1) if i not in ranked[:MOST_BARS]]
    bars.append(bar(OTHERS, before[rest].sum(), after[rest].sum()))
    bars.append(bar(MISSING, before[-1], after[-1]))
    return [each for each in bars if each["before"] or each["after"]]


def line_bars(line: LineColumn, kind: str, missing: list[float]) -> list[dict[str, Any]]:
    """Stretches of equal length, in which all but the outermost hundredths of the original lie."""
    low, high = (line.before.quantile(share) for share in (0.005, 0.995))
    edges = np.linspace(low, high, MOST_BARS + 1)[1:-1]
    edges = np.unique(np.ceil(edges / line.unit) * line.unit if line.unit else edges)
    shares = [
        np.diff(pieces.share_below(edges, strict=True), prepend=0.0, append=1.0) * (1 - lost)
        for pieces, lost in ((line.before, missing[0]), (line.after, missing[1]))
    ]
    axis = {"axis": "date" if kind == "date" else "number"}
    texts = [format_position(axis, float(f"{edge:.6g}") if kind == "number" else edge) for edge in edges.tolist()]
    names = [f"below {texts[0]}", *(f"from {text}" for text in texts)] if texts else ["all"]
    bars = [bar(name, *pair) for name, *pair in zip(names, *shares, strict=True)]
    return [*bars, bar(MISSING, *missing)] if any(missing) else bars


def format_dates(figures: dict[str, Any], kind: str) -> dict[str, Any]:
    """Moments of dates as dates, their standard deviation in days."""
    if kind != "date":
        return figures
    quantiles = {share: format_position({"axis": "date"}, value) for share, value in figures["quantiles"].items()}
    mean = format_position({"axis": "date"}, round(figures["mean"] / DAY) * DAY)
    return {"mean": mean, "sd": figures["sd"] / DAY, "quantiles": quantiles}


def bar(label: str, before: float, after: float) -> dict[str, Any]:
    """A part and its shares."""
    return {"label": label, "before": float(before), "after": float(after)}

"""Prediction: a simple model, trained on the original and on the release, judged on the same rows of the original.

Naive Bayes over the parts of every other column, with one row added to each part (Laplace):

    P(t | x) ~ n_t / n * prod_j (n_{t, x_j} + 1) / (n_t + parts of column j)

A release holds the people that are held out too, blurred, and nobody knows which rows they are.  So the original is
used twice: without them, as one should, and with them, as the release does.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.comparison.associations import count_after, count_before
from kech.comparison.columns import Side
from kech.comparison.pieces import Floats
from kech.published import Ints

HELD_OUT = 0.3
FEWEST_ROWS = 20
CONFIDENCE_BINS = 10


def compare_models(sides: Sequence[Side], target: Side, seed: int) -> dict[str, Any]:
    """Accuracy and calibration of each model; the note says why there is none."""
    features = [side for side in sides if side.column != target.column]
    held, train, note = hold_out(target, seed)
    found: dict[str, Any] = {
        "target": target.column,
        "parts": len(target.parts) - 1,
        "held_out": len(held),
        "note": note,
    }
    if note or not features:
        return found | {"note": note or "there is no other column to predict it from", "models": []}
    everything = np.concatenate([train, held])
    tables = {
        "original, without the held-out rows": [count_before(side, target, train) for side in features],
        "original, all rows": [count_before(side, target, everything) for side in features],
        "release": [count_after(side, target) for side in features],
    }
    truth = target.before[held]
    models = [
        {"trained_on": name, **judge(predict(counted, features, held), truth)} for name, counted in tables.items()
    ]
    prior = np.bincount(target.before[train], minlength=len(target.parts))[:-1] / len(train)
    baseline = judge(np.tile(prior, (len(held), 1)), truth)
    return found | {"models": [{"trained_on": "the most frequent value", **baseline}, *models]}


def hold_out(target: Side, seed: int) -> tuple[Ints, Ints, str]:
    """Rows to judge by and rows to learn from, of those where the target is known; or why not."""
    known = np.flatnonzero(target.before < len(target.parts) - 1)
    mixed = np.random.default_rng(seed).permutation(known)
    cut = int(len(mixed) * HELD_OUT)
    note = "too few rows" if len(known) < FEWEST_ROWS else ""
    if not note and len(np.unique(target.before[known])) < 2:
        note = "it has one value only"
    return np.sort(mixed[:cut]), np.sort(mixed[cut:]), note


def predict(tables: Sequence[Floats], features: Sequence[Side], rows: Ints) -> Floats:
    """Chances of each part of the target, for rows of the original; tables are parts of a feature x of the target."""
    totals = tables[0][:, :-1].sum(axis=0)
    with np.errstate(divide="ignore"):
        logs = np.tile(np.log(totals / totals.sum()), (len(rows), 1))
    for table, side in zip(tables, features, strict=True):
        counts = table[:, :-1]
        logs += np.log((counts + 1) / (counts.sum(axis=0) + len(counts)))[side.before[rows]]
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def judge(chances: Floats, truth: Ints) -> dict[str, float]:
    """Accuracy; Brier score 1/n sum_i sum_t (p_it - [t is right])^2; expected calibration error."""
    right = np.eye(chances.shape[1])[truth]
    hit = chances.argmax(axis=1) == truth
    return {
        "accuracy": float(hit.mean()),
        "brier": float(((chances - right) ** 2).sum(axis=1).mean()),
        "calibration_error": calibration_error(chances.max(axis=1), hit),
    }


def calibration_error(confidence: Floats, hit: NDArray[np.bool_]) -> float:
    """Rows in ten bins by how sure the model is: sum_b n_b / n |share of hits - mean confidence|."""
    bins = np.minimum((confidence * CONFIDENCE_BINS).astype(int), CONFIDENCE_BINS - 1)
    gaps = np.bincount(bins, hit, CONFIDENCE_BINS) - np.bincount(bins, confidence, CONFIDENCE_BINS)
    return float(np.abs(gaps).sum() / len(hit))

"""Prediction: a model of scikit-learn, trained on the original and on the release, judged on the same rows.

Classes are predicted by a logistic regression and judged by the area under the ROC curve (AUC): the chance that a row
of a class gets a higher score than a row of another one; of several classes the mean of each against the rest.
Numbers and dates are predicted by a ridge regression and judged by R2 = 1 - sum (y - f)^2 / sum (y - mean)^2.

A release holds the people of every fold too, blurred, and nobody can tell which rows they are.  So the original is
used twice: without the rows of a fold, as one should, and with them, as the release does.  The release is also judged
on its own rows, as its readers can.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.audit.comparison.columns import Side
from kech.audit.comparison.design import design_after, design_before, sort_released
from kech.audit.comparison.pieces import Floats
from kech.release.published import NEARLY_ALL, Ints

FOLDS, REPEATS = 5, 2
FEWEST_ROWS = 20
MOST_ROWS = 10_000  # of either table; of more, as many are drawn at random
PENALTY = 1.0  # of squared weights, in both models
STEPS, TOLERANCE = 100, 1e-3  # of the search for weights: more change no AUC by 0.003, and take three times as long
CONFIDENCE = 0.95
NO_LIBRARY = "scikit-learn is not installed; install it with: pip install 'kech[sklearn]'"
ORIGINAL, ORIGINAL_ALL, RELEASE, RELEASE_ALONE = (
    "original, other folds",
    "original, all rows",
    "release",
    "release, other folds",
)


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """What is predicted: the outcome of each row, before and after; NaN where it is not known."""

    column: str
    is_class: bool
    before: Floats
    after: Floats

    @property
    def measure(self) -> str:
        """How a model is judged."""
        return "auc" if self.is_class else "r2"


@dataclass(frozen=True, eq=False, repr=False)
class ModelRows:
    """Rows of one table for a model: numbers of each row, and its outcome."""

    design: Floats
    outcome: Floats


def compare_models(sides: Sequence[Side], column: str, seed: int) -> dict[str, Any]:
    """How well each model predicts a column, with an interval; the note says why there is none."""
    rng, ordered = np.random.default_rng(seed), sort_released(sides)
    features = [side for side in ordered if side.column != column]
    target = next(side for side in ordered if side.column == column)
    task = find_task(target, rng)
    before, after = (draw_rows(outcome, task.is_class, rng) for outcome in (task.before, task.after))
    figures = {
        "target": task.column,
        "measure": task.measure,
        "classes": len(np.unique(task.before[before])) if task.is_class else None,
        "rows_before": len(before),
        "rows_after": len(after),
        "folds": FOLDS,
        "repeats": REPEATS,
        "note": find_obstacle(features, target, task, before),
    }
    if figures["note"]:
        return figures | {"models": [], "difference": None}
    original, again = (
        ModelRows(design_before(features, rows), task.before[rows])
        for rows in (before, draw_rows(task.before, task.is_class, rng))
    )
    release = ModelRows(design_after(features, after), task.after[after])
    with one_thread():
        return figures | judge_all(original, again, release, task.is_class, int(rng.integers(2**31)))


def one_thread() -> Any:
    """Limit matrices to one thread during the block: threads mostly wait for each other, up to ten times as long."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)


# -- what is predicted -----------------------------------------------------------------------------------


def find_task(target: Side, rng: np.random.Generator) -> Task:
    """Numbers and dates with more than two values are numbers; everything else is classes."""
    if target.numbers is not None and len(np.unique(target.numbers[0][~np.isnan(target.numbers[0])])) > 2:
        return Task(target.column, False, *target.numbers)
    missing = len(target.parts) - 1
    parts = (target.before, draw_parts(target, rng))
    return Task(target.column, True, *(np.where(part < missing, part, np.nan) for part in parts))


def draw_parts(target: Side, rng: np.random.Generator) -> Ints:
    """The part of each released row; of a label that stands for several, one of them at random, by their shares."""
    upto = np.cumsum(target.shares, axis=1)[target.label]
    return np.asarray(np.minimum((upto <= rng.random(len(upto))[:, None]).sum(axis=1), len(target.parts) - 1))


def draw_rows(outcome: Floats, is_class: bool, rng: np.random.Generator) -> Ints:
    """Rows whose outcome is known, without classes that are too small for the folds; a sample of many."""
    known = np.flatnonzero(~np.isnan(outcome))
    if len(known) > MOST_ROWS:
        known = np.sort(rng.choice(known, MOST_ROWS, replace=False))
    if is_class:
        classes, rows = np.unique(outcome[known], return_counts=True)
        known = known[np.isin(outcome[known], classes[rows >= FOLDS])]
    return known


def find_obstacle(features: Sequence[Side], target: Side, task: Task, rows: Ints) -> str:
    """Why no model can be trained; nothing where one can."""
    known = task.before[~np.isnan(task.before)]
    distinct = 0 if target.masses is None else np.count_nonzero(target.masses[0])
    obstacles = {
        NO_LIBRARY: find_spec("sklearn") is None,
        "there is no other column to predict it from": not features,
        f"fewer than {FEWEST_ROWS} rows have a value": len(known) < FEWEST_ROWS,
        "all rows have the same value": len(np.unique(known)) < 2,
        "nearly every row has a value of its own, as an identifier has": distinct > NEARLY_ALL * len(known),
        f"fewer than two of its values are held by {FOLDS} rows or more": len(np.unique(task.before[rows])) < 2,
        f"fewer than {FEWEST_ROWS} rows have a value that {FOLDS} rows or more hold": len(rows) < FEWEST_ROWS,
    }
    return next((note for note, holds in obstacles.items() if holds), "")


# -- models ----------------------------------------------------------------------------------------------


def judge_all(original: ModelRows, again: ModelRows, release: ModelRows, is_class: bool, seed: int) -> dict[str, Any]:
    """Scores of each model on each fold, as means with intervals; a model without scores has none.

    `again` is the original too: of many rows another sample, which holds as many of the rows to judge by as the
    sample of the release does.
    """
    of_original, of_release = (list(split(rows, is_class, seed)) for rows in (original, release))
    scores = {
        ORIGINAL: [score_fold(pick(original, train), pick(original, test), is_class) for train, test in of_original],
        ORIGINAL_ALL: judge_folds(again, original, of_original, is_class),
        RELEASE: judge_folds(release, original, of_original, is_class),
        RELEASE_ALONE: [score_fold(pick(release, train), pick(release, test), is_class) for train, test in of_release],
    }
    models = [
        {"trained_on": name, "tested_on": "release" if name == RELEASE_ALONE else "original", **summarize(fold_scores)}
        for name, fold_scores in scores.items()
    ]
    changes = np.subtract(scores[RELEASE], scores[ORIGINAL_ALL]) if scores[RELEASE] else []
    return {"models": models, "difference": summarize(changes)}


def split(rows: ModelRows, is_class: bool, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Rows to train on and rows to judge by; each row is judged once in each repeat. None where folds lack a class."""
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

    if len(rows.outcome) < FEWEST_ROWS or len(np.unique(rows.outcome)) < 2:
        return
    kind = RepeatedStratifiedKFold if is_class else RepeatedKFold
    yield from kind(n_splits=FOLDS, n_repeats=REPEATS, random_state=seed).split(rows.design, rows.outcome)


def pick(rows: ModelRows, which: Ints) -> ModelRows:
    """Some of the rows."""
    return ModelRows(rows.design[which], rows.outcome[which])


def judge_folds(train: ModelRows, test: ModelRows, folds: Sequence[tuple[Ints, Ints]], is_class: bool) -> list[float]:
    """One model, judged on each fold."""
    if len(np.unique(train.outcome)) < 2:
        return []
    predict = fit(train, is_class)
    return [score(predict, pick(test, fold), is_class) for _, fold in folds]


def score_fold(train: ModelRows, test: ModelRows, is_class: bool) -> float:
    """The score of a model of its own for one fold."""
    return score(fit(train, is_class), test, is_class)


def fit(rows: ModelRows, is_class: bool) -> Any:
    """A logistic regression, or a ridge regression."""
    from sklearn.linear_model import LogisticRegression, Ridge

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # weights that are nearly found predict nearly as well
        if not is_class:
            return Ridge(alpha=PENALTY).fit(rows.design, rows.outcome)
        return LogisticRegression(C=1 / PENALTY, max_iter=STEPS, tol=TOLERANCE).fit(rows.design, rows.outcome)


def score(model: Any, rows: ModelRows, is_class: bool) -> float:
    """AUC, of several classes the mean of each against the rest; or R2."""
    from sklearn.metrics import r2_score

    if not is_class:
        return float(r2_score(rows.outcome, model.predict(rows.design)))
    chances = model.predict_proba(rows.design)
    known = {value: chances[:, i] for i, value in enumerate(model.classes_.tolist())}
    classes = np.unique(rows.outcome)
    judged = classes[1:] if len(classes) == 2 else classes  # of two classes, both have the same area
    return float(np.mean([area(rows.outcome == value, known.get(value)) for value in judged.tolist()]))


def area(is_member: NDArray[np.bool_], chances: Floats | None) -> float:
    """AUC of one class; a class that the model has never seen is a guess."""
    from sklearn.metrics import roc_auc_score

    return 0.5 if chances is None else float(roc_auc_score(is_member, chances))


def summarize(scores: Sequence[float] | Floats) -> dict[str, float | None]:
    """Mean and interval of the scores of the folds.

    Folds share the rows they train on, so their scores are no independent draws.  The variance is corrected after
    Nadeau and Bengio (2003), with n scores and 1 / (FOLDS - 1) rows to judge by for each row to train on:

        mean +- t_{n - 1} s sqrt(1 / n + 1 / (FOLDS - 1))
    """
    from scipy.stats import t

    if not len(scores):
        return {"mean": None, "low": None, "high": None}
    mean, sd = float(np.mean(scores)), float(np.std(scores, ddof=1))
    wide = float(t.ppf((1 + CONFIDENCE) / 2, len(scores) - 1)) * sd * float(np.sqrt(1 / len(scores) + 1 / (FOLDS - 1)))
    return {"mean": mean, "low": mean - wide, "high": mean + wide}

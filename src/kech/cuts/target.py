"""Target: weights of columns by their use for predicting a sensitive column, `--for COLUMN`.

In: a draft, which is a partition that could be published.  Out: a weight for each quasi-identifier.
A model learns the target from the labels of the draft.  A column is used as much as predictions move when its labels
are dealt anew among the rows:

    use_j = mean_rows (f(x) - f(x with another row's label of column j))^2

Labels with sides h_j hide sum_j use_j h_j^2 of the predictions, and a class of k rows leaves the product of the sides
as it is.  So the sum is smallest where h_j is proportional to 1 / sqrt(use_j); a weighted loss has its minimum at
h_j proportional to 1 / weight_j.  Hence weight_j is proportional to sqrt(use_j).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kech.errors import BadOption, MissingExtra
from kech.points.partition import Partition
from kech.points.people import draw_order
from kech.points.points import Points

Floats = NDArray[np.float64]

# What was measured to choose these: benchmarks/judges, 11 tables of 2,000 rows, several draws of each, k = 10.
HEAVIEST, LIGHTEST = 4.0, 0.25  # weights; lighter ones (1/16) change no score
MOST_ROWS = 10_000  # of the draft, evenly chosen; not measured
MOST_VALUES = 64  # of a set that gets a number for each value; otherwise one for all
MOST_OUTCOMES = 8  # texts that are predicted each; rarer ones count as one
DRAFTS = 2  # each is cut with the weights of the one before; a third was not measured
DEALS = 2  # how often the labels of a column are dealt anew
MODEL = {"max_iter": 150, "learning_rate": 0.08, "early_stopping": False, "random_state": 1}


def check_target(target: str, sensitive: Sequence[str]) -> None:
    """Refuse a target that the draft does not publish, or that no model can learn here."""
    if target not in sensitive:
        raise BadOption("--for", f"{target!r} is no sensitive column. Add it: --sensitive {target}.")
    if find_spec("sklearn") is None:
        raise MissingExtra("--for", "sklearn")


def reweigh(points: Points, weights: Mapping[str, float]) -> Points:
    """The same points with other weights of columns in the loss."""
    origin = points.origin and replace(points.origin, weights=weights)
    grains = points.grains and replace(points.grains, origin=origin)
    return replace(points, origin=origin, grains=grains, results={})


def weigh_columns(draft: Partition, target: str) -> dict[str, float]:
    """The weight of each quasi-identifier, a power of two: the most used column has the heaviest weight.

    The certificate states weights, so they are rounded: they tell no more than a few bits about all rows together.
    """
    use = measure_use(draft, target)
    most = max(use.values())
    if not most > 0:
        return dict.fromkeys(use, 1.0)
    return {column: round_weight(HEAVIEST * (each / most) ** 0.5) for column, each in use.items()}


def round_weight(weight: float) -> float:
    """The nearest power of two within the limits."""
    return float(2.0 ** np.round(np.log2(np.clip(weight, LIGHTEST, HEAVIEST))))


def measure_use(draft: Partition, target: str) -> dict[str, float]:
    """How far predictions of the target move, in the mean of squares, when the labels of one column are dealt anew."""
    outcomes = read_outcome(draft, target)
    rows = choose_rows(draft, outcomes)
    classes, group = np.unique(draft.group[rows], return_inverse=True)
    blocks = [number_labels(draft, j, classes)[group] for j in range(len(draft.points.axes))]
    predict = learn(np.hstack(blocks), outcomes[rows])
    expected = predict(np.hstack(blocks))
    use = {}
    for j, axis in enumerate(draft.points.axes):
        anew = [blocks[j][deal_rows(len(rows), DEALS * j + deal)] for deal in range(DEALS)]
        dealt = [predict(np.hstack([*blocks[:j], block, *blocks[j + 1 :]])) for block in anew]
        use[axis.column] = float(np.mean([(each - expected) ** 2 for each in dealt]))
    return use


def deal_rows(rows: int, deal: int) -> NDArray[np.int32]:
    """An order of the rows, another one for each deal; equal on all platforms and with every version of NumPy.

    >>> [deal_rows(6, deal).tolist() for deal in (0, 1)]
    [[3, 0, 5, 2, 4, 1], [4, 5, 3, 1, 0, 2]]
    """
    return draw_order(rows, ((deal + 1) << 32).to_bytes(8, "little"))


def choose_rows(draft: Partition, outcomes: NDArray[Any]) -> NDArray[np.int64]:
    """The share of each row of the draft, in the order of classes and outcomes; of many rows every n-th."""
    order = np.lexsort((outcomes, draft.group))
    share = np.repeat(order, draft.rows[order])
    return share[:: -(-len(share) // MOST_ROWS)]


def read_outcome(draft: Partition, target: str) -> NDArray[Any]:
    """The outcome of each share: a number where the target has an order and more than two values, otherwise a class."""
    sensitive = draft.points.sensitive
    assert sensitive is not None
    index = [column.column for column in sensitive.columns].index(target)
    codes = sensitive.codes[draft.point, index]
    if not sensitive.columns[index].ordered or len(np.unique(codes)) <= 2:
        frequent = np.argsort(-np.bincount(codes, draft.rows), kind="stable")[:MOST_OUTCOMES]
        return np.asarray(np.where(np.isin(codes, frequent), codes, -1))
    mapping = draft.points.mappings[len(draft.points.mappings) - len(sensitive.columns) + index]
    if mapping.kind != "number":
        return np.asarray(codes.astype(float))
    values = np.zeros(int(codes.max()) + 1)  # of NULL, code 0: it becomes the mean
    values[mapping.codes] = np.array([float(value) for value in mapping.values])
    values[0] = np.average(values[codes[codes > 0]], weights=draft.rows[codes > 0])
    return np.asarray(values[codes])


def number_labels(draft: Partition, j: int, classes: NDArray[np.int64]) -> Floats:
    """Numbers of the labels of these classes on one axis: the middle, or of a set the share of each value."""
    middle: Floats = (draft.lo[classes, j] + draft.hi[classes, j])[:, None] / 2
    axis = draft.points.axes[j]
    if j not in draft.members or axis.size > MOST_VALUES:
        return middle
    members = draft.members[j][classes]
    listed = (members[:, :, None] == np.arange(axis.size + 1)).any(axis=1).astype(float)
    listed[~listed.any(axis=1)] = 1  # the label is *
    return np.asarray(listed / listed.sum(axis=1, keepdims=True))


def learn(features: Floats, outcome: NDArray[Any]) -> Any:
    """A function that predicts the outcome: gradient boosting of scikit-learn, without any draws."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        if outcome.dtype.kind == "f":
            spread = outcome.std() or 1.0
            number = HistGradientBoostingRegressor(**MODEL).fit(features, outcome / spread)
            return number.predict
        if len(np.unique(outcome)) < 2:
            return lambda rows: np.zeros(len(rows))
        return HistGradientBoostingClassifier(**MODEL).fit(features, outcome).predict_proba

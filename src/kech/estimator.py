"""Estimator: kech as a scikit-learn transformer.

`fit` parts the rows into classes, `transform` prints the label of each row's class, in the order of the rows,
as a pipeline needs it.  To publish a table use `make_release(...).write(...)`: it shuffles and certifies.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kech.axes import Axis, Codes, LineAxis
from kech.errors import BadOption
from kech.frames import frame_batches
from kech.partition import Partition
from kech.points import build_points
from kech.spectrum import check_ks, partitions
from kech.table import read_table

SUPPRESSED = "*"


class Anonymizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Generalize the quasi-identifiers so that every row of the fitted table hides among at least k.

    Rows of equal values always get equal labels.  Rows that were not fitted get the label of a class that
    contains them, or `*`; k is promised for the fitted table only.
    """

    def __init__(
        self,
        k: int = 5,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        hierarchies: Any = None,
        cut: str = "local",
        grid: str | float = "auto",
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.hierarchies = hierarchies
        self.cut = cut
        self.grid = grid

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803, ARG002
        """Find the classes; without quasi_identifiers, all columns are."""
        columns = self._columns(X, reset=True)
        chosen = tuple(columns) if self.quasi_identifiers is None else tuple(self.quasi_identifiers)
        with read_table(pa.table(columns), quasi_identifiers=chosen, hierarchies=self.hierarchies) as table:
            points = build_points(table, grid=self.grid)
        (goal,) = check_ks([self.k], points.rows)
        (self.partition_,) = partitions(points, [goal], self.cut, threads=table.threads, part=False)
        self.quasi_identifiers_ = chosen
        self.k_ = self.partition_.k
        return self

    def transform(self, X: Any) -> NDArray[np.object_]:  # noqa: N803
        """The rows with the labels of their classes; other columns as they are."""
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        axes: tuple[Axis, ...] = self.partition_.points.axes
        codes = np.stack([encode(axis, columns[axis.column]) for axis in axes], axis=1)
        labels = labels_of(self.partition_, find_classes(self.partition_, codes))
        held = [labels.get(name, column.to_pylist()) for name, column in columns.items()]
        out = np.empty((len(codes), len(held)), dtype=object)
        for j, column in enumerate(held):
            out[:, j] = column
        return out

    def _columns(self, X: Any, *, reset: bool) -> dict[str, Any]:  # noqa: N803
        """The columns of a dataframe or an array; a table to fit has at least k rows."""
        rows = max(self.k, 1) if reset else 1
        checked = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=rows)
        if hasattr(X, "columns"):
            table = frame_batches(X).read_all()
            return {name: table.column(name).combine_chunks() for name in table.column_names}
        return {f"x{j}": as_arrow(checked[:, j]) for j in range(checked.shape[1])}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def as_arrow(values: NDArray[Any]) -> pa.Array:
    """A column of an array; NaN is NULL, infinities are refused."""
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise BadOption("X", "it contains an infinity, which cannot be generalized.")
    try:
        return pa.array(values, from_pandas=True)
    except pa.ArrowException:
        raise BadOption("X", "a column mixes types; convert it to one.") from None


def encode(axis: Axis, column: pa.Array) -> Codes:
    """Codes of a column, as the axis reads it."""
    if not isinstance(axis, LineAxis):
        return axis.encode(column.cast(pa.string()).to_pylist())
    if axis.is_date:
        moments = column.cast(pa.timestamp("us")).cast(pa.int64())
        return axis.encode(moments.to_numpy(zero_copy_only=False).astype(np.float64) / 1e6)
    return axis.encode(column.cast(pa.float64()).to_numpy(zero_copy_only=False))


def find_classes(partition: Partition, codes: Codes) -> NDArray[np.int64]:
    """The class of each row: its own if it was fitted, else the first box that contains it, else -1."""
    known = dict(zip(map(bytes, partition.points.codes[partition.point]), partition.group.tolist(), strict=True))
    distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
    classes = [known.get(bytes(row), containing(partition, row)) for row in np.ascontiguousarray(distinct)]
    return np.array(classes, dtype=np.int64)[inverse.ravel()]


def containing(partition: Partition, row: NDArray[np.int32]) -> int:
    """The smallest class whose box contains a row, or -1."""
    inside = ((partition.lo <= row) & (row <= partition.hi)).all(axis=1) & (row >= 0).all()
    found = np.flatnonzero(inside)
    return int(found[np.argmin(partition.sizes[found])]) if len(found) else -1


def labels_of(partition: Partition, classes: NDArray[np.int64]) -> dict[str, NDArray[np.object_]]:
    """For each quasi-identifier the label of each row's class."""
    labels = {}
    for j, axis in enumerate(partition.points.axes):
        texts = np.array([*partition.labels(j), SUPPRESSED], dtype=object)
        labels[axis.column] = texts[classes]
    return labels

"""Estimator: kech as a scikit-learn transformer.

`fit` parts the rows into classes, `transform` prints the label of each row's class, in the order of the rows,
as a pipeline needs it.  To publish a table use `make_release(...).write(...)`: it shuffles and certifies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kech.axes import Axis, Codes
from kech.cuts import Wishes
from kech.cuts.dispatcher import check_cuts, check_field_use, cut_points
from kech.errors import BadOption
from kech.points.columns import encode_anew
from kech.points.models import set_goals
from kech.points.partition import Partition
from kech.points.points import Coarse, Points
from kech.release.forms import check_form, write_form
from kech.spectrum import check_ks, coded_points
from kech.tables.frames import frame_batches
from kech.tables.table import Table, read_table

SUPPRESSED = "*"


@dataclass(frozen=True, eq=False, repr=False)
class LeftOut:
    """Fitted rows that are not published, by the codes they had before."""

    axes: tuple[Axis, ...]
    codes: Codes


class Anonymizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Generalize the quasi-identifiers so that every row of the fitted table hides among at least k.

    Rows of equal values always get equal labels.  Rows that are left out get `*` everywhere, and so do rows that were
    not fitted unless a class contains them; k, l, t and alpha are promised for the other rows of the fitted table only.
    """

    def __init__(
        self,
        k: int = 5,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        sensitive: Sequence[str] | None = None,
        hierarchies: Any = None,
        cut: str = "local",
        grid: str | float = "auto",
        reading: str = "strict",
        field: int = 2,
        suppress: float = 0.0,
        effort: str | float | None = None,
        seed: int = 0,
        l: float | None = None,  # noqa: E741
        l_kind: str = "distinct",
        c: float | None = None,
        t: float | None = None,
        t_kind: str = "equal",
        alpha: float | None = None,
        labels: str = "brackets",
        key_file: str | PathLike[str] | None = None,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.sensitive = sensitive
        self.hierarchies = hierarchies
        self.cut = cut
        self.grid = grid
        self.reading = reading
        self.field = field
        self.suppress = suppress
        self.effort = effort
        self.seed = seed
        self.l = l
        self.l_kind = l_kind
        self.c = c
        self.t = t
        self.t_kind = t_kind
        self.alpha = alpha
        self.labels = labels
        self.key_file = key_file

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803, ARG002
        """Find the classes; without quasi_identifiers, all columns are that are not sensitive."""
        check_form(self.labels)
        check_field_use(self.field, check_cuts([self.cut]))
        if self.labels == "columns":
            raise BadOption("labels", "a transformer gives one column for each; make_release writes both ends.")
        columns = self._columns(X, reset=True)
        secret = tuple(self.sensitive or ())
        named = self.quasi_identifiers
        chosen = tuple(name for name in columns if name not in secret) if named is None else tuple(named)
        roles = {"quasi_identifiers": chosen, "sensitive": secret, "hierarchies": self.hierarchies}
        with read_table(pa.table(columns), key_file=self.key_file, **roles) as table:
            points = coded_points(table, self.cut, self.grid, Coarse(k=self.k))
            (found,) = cut_points(points, check_ks([self.k], points.rows), self.cut, self._wishes(table))
            self.left_out_ = LeftOut(points.axes, left_out(points, found))
        self.partition_ = replace(found, points=replace(found.points, origin=None))
        self.quasi_identifiers_ = chosen
        self.k_ = self.partition_.k
        self.labels_ = labels_of(self.partition_, self.labels)
        return self

    def transform(self, X: Any) -> NDArray[np.object_]:  # noqa: N803
        """The rows with the labels of their classes; other columns as they are."""
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        codes = encode(self.partition_.points.axes, columns)
        classes = find_classes(self.partition_, codes)
        if len(self.left_out_.codes):
            gone = set(map(bytes, self.left_out_.codes))
            classes[[bytes(row) in gone for row in encode(self.left_out_.axes, columns)]] = -1
        labels = {name: texts[classes] for name, texts in self.labels_.items()}
        held = [labels.get(name, column.to_pylist()) for name, column in columns.items()]
        out = np.empty((len(codes), len(held)), dtype=object)
        for j, column in enumerate(held):
            out[:, j] = column
        return out

    def _wishes(self, table: Table) -> Wishes:
        goals = set_goals(self.l, self.l_kind, self.c, self.t, self.t_kind, self.alpha, sensitive=table.sensitive)
        return Wishes(
            table.threads, False, self.reading, self.suppress, self.effort, self.seed, goals, field=self.field
        )

    def _columns(self, X: Any, *, reset: bool) -> dict[str, Any]:  # noqa: N803
        """The columns of a dataframe, each as it is, or of an array; a table to fit has at least k rows."""
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            table = frame_batches(X).read_all()
            names = table.column_names[: self.n_features_in_]  # what may follow is the index of a pandas frame
            return {name: table.column(name).combine_chunks() for name in names}
        rows = max(self.k, 1) if reset else 1
        checked = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=rows)
        return {f"x{j}": as_arrow(checked[:, j]) for j in range(checked.shape[1])}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def left_out(points: Points, found: Partition) -> Codes:
    """The codes of the points of which no row is among those the partition was made from."""
    if found.points.origin is None or not found.points.left_out:
        return points.codes[:0]
    kept, _ = found.points.origin.table.engine.group(points.mappings)
    known = set(map(bytes, kept))
    return points.codes[[bytes(row) not in known for row in points.codes]]


def as_arrow(values: NDArray[Any]) -> pa.Array:
    """A column of an array; NaN is NULL, infinities are refused."""
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise BadOption("X", "it contains an infinity, which cannot be generalized. Replace it, or leave its row out.")
    try:
        return pa.array(values, from_pandas=True)
    except pa.ArrowException:
        raise BadOption("X", "a column mixes types; convert it to one.") from None


def encode(axes: Sequence[Axis], columns: Mapping[str, Any]) -> Codes:
    """Codes of every row, read by the same engine as the fitted table; -1 for values that have no place."""
    names = [axis.column for axis in axes]
    with read_table(pa.table({name: columns[name] for name in names}), quasi_identifiers=names) as table:
        return table.engine.code_rows([encode_anew(table, axis) for axis in axes])


def find_classes(partition: Partition, codes: Codes) -> NDArray[np.int64]:
    """The class of each row: its own if it was fitted, else the smallest whose box contains it, else -1."""
    known = dict(zip(map(bytes, partition.points.codes[partition.point]), partition.group.tolist(), strict=True))
    distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
    rows = [(bytes(row), row) for row in np.ascontiguousarray(distinct)]
    classes = [known[key] if key in known else containing(partition, row) for key, row in rows]
    return np.array(classes, dtype=np.int64)[inverse.ravel()]


def containing(partition: Partition, row: NDArray[np.int32]) -> int:
    """The smallest class whose box contains a row, or -1."""
    inside = ((partition.lo <= row) & (row <= partition.hi)).all(axis=1) & (row >= 0).all()
    found = np.flatnonzero(inside)
    return int(found[np.argmin(partition.sizes[found])]) if len(found) else -1


def labels_of(partition: Partition, form: str) -> dict[str, NDArray[np.object_]]:
    """For each quasi-identifier the label of each class, and last that of rows in none."""
    labels = {}
    for j, axis in enumerate(partition.points.axes):
        texts = partition.labels(j)
        _, written = write_form(form, axis.parameters(texts), texts)
        labels[axis.column] = np.array([*written[axis.column], SUPPRESSED], dtype=object)
    return labels

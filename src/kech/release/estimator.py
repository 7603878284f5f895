"""Estimator: kech as a scikit-learn transformer.

`fit` parts the rows into classes, `transform` prints the label of each row's class, in the order of the rows,
as a pipeline needs it.  To publish a table use `make_release(...).write(...)`: it shuffles and certifies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from kech.axes import Axis, Codes
from kech.axes.ranks import hold_code
from kech.cuts import cut_points
from kech.errors import BadOption
from kech.points.partition import Partition
from kech.points.points import PointLimit, Points, build_points_to_cut, encode_anew
from kech.release.writing import as_typed, check_names, write_form
from kech.request import Request, check_ks
from kech.request.parts import USUAL_K
from kech.tables.frames import frame_batches
from kech.tables.repeats import warn_of_repeats
from kech.tables.table import read_table

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
        k: int | None = None,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        sensitive: Sequence[str] | None = None,
        hierarchies: Any = None,
        cut: str | None = None,
        grid: str | float | None = None,
        effort: str | float | None = None,
        request: Request | None = None,
    ) -> None:
        """What is named here comes before the request; without either, k is 5."""
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.sensitive = sensitive
        self.hierarchies = hierarchies
        self.cut = cut
        self.grid = grid
        self.effort = effort
        self.request = request

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803, ARG002
        """Find the classes; without quasi_identifiers, all columns are that are not sensitive."""
        request = self._build_request()
        if request.columns.person:
            raise BadOption("--person", "a transformer counts rows, not people. Omit --person, or use make_release.")
        request.goal.refuse_history("a transformer takes rows apart, and knows no people.")
        request.goal.refuse_sample("a transformer publishes every row, and no sample. Use make_release.")
        columns = self._columns(X, reset=True)
        left = tuple(name for name in columns if name not in request.columns.sensitive)
        request = request.override(quasi_identifiers=request.columns.quasi_identifiers or left)
        k = request.goal.k or 2
        with read_table(pa.table(columns), request) as table:
            request.goal.check_sensitive(table.sensitive)
            warn_of_repeats(table)
            point_limit = PointLimit(request.limits.max_points, k)
            points = build_points_to_cut(table, request.labels, request.cut, point_limit=point_limit)
            ks = check_ks([k], points.rows)
            (partition,) = cut_points(points, ks, request.cut, request.goal, threads=table.threads, split_points=False)
            self.left_out_ = LeftOut(points.axes, find_left_out(points, partition))
        self.partition_ = replace(partition, points=replace(partition.points, origin=None))
        self.quasi_identifiers_ = request.columns.quasi_identifiers
        self.k_ = self.partition_.k
        self.axes_, self.labels_ = write_labels(self.partition_, request.labels.labels)
        check_names([output for name in columns for output in self.labels_.get(name, [name])])
        return self

    def _build_request(self) -> Request:
        """The request, but for what is named as a parameter."""
        names = ("k", "quasi_identifiers", "sensitive", "hierarchies", "cut", "grid", "effort")
        request = (self.request or Request()).override(**{name: getattr(self, name) for name in names})
        return request if request.goal.k is not None or request.cut.eps is not None else request.override(k=USUAL_K)

    def transform(self, X: Any) -> Any:  # noqa: N803
        """The rows with the labels of their classes; other columns as they are.

        An array, of numbers where all columns are, or the dataframe that `set_output` asked for, each column typed.
        """
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        codes = encode_rows(self.partition_.points.axes, columns)
        classes = find_classes(self.partition_, codes)
        if len(self.left_out_.codes):
            gone = set(map(bytes, self.left_out_.codes))
            classes[[bytes(row) in gone for row in encode_rows(self.left_out_.axes, columns)]] = -1
        cells: dict[str, Any] = {}
        for name, column in columns.items():
            labels = self.labels_.get(name)
            cells |= (
                {name: column}
                if labels is None
                else {output: pa.array(texts[classes], pa.string()) for output, texts in labels.items()}
            )
        table = as_typed(pa.table(cells).to_reader(), self.axes_, for_csv=False).read_all()
        return as_container(table, _get_output_config("transform", self)["dense"], X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns that `transform` gives: two for each column whose labels take two."""
        names = super().get_feature_names_out(input_features)
        inner = getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(names))])
        outputs = zip(names, inner, strict=True)
        return np.array(
            [
                f"{name}{output[len(column) :]}"
                for name, column in outputs
                for output in self.labels_.get(column, [column])
            ],
            dtype=object,
        )

    def _columns(self, X: Any, *, reset: bool) -> dict[str, Any]:  # noqa: N803
        """The columns of a dataframe, each as it is, or of an array; a table to fit has at least k rows."""
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            table = frame_batches(X).read_all()
            names = table.column_names[: self.n_features_in_]  # what may follow is the index of a pandas frame
            return {name: table.column(name).combine_chunks() for name in names}
        rows = (self._build_request().goal.k or 1) if reset else 1
        checked = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=rows)
        return {f"x{j}": as_arrow(checked[:, j]) for j in range(checked.shape[1])}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def find_left_out(points: Points, partition: Partition) -> Codes:
    """The codes of the points of which no row is among those the partition was made from."""
    if partition.points.origin is None or not partition.points.left_out:
        return points.codes[:0]
    kept, _ = partition.points.origin.table.engine.group(points.mappings)
    known = set(map(bytes, kept))
    return points.codes[[bytes(row) not in known for row in points.codes]]


def as_arrow(values: NDArray[Any]) -> pa.Array:
    """A column of an array; NaN is NULL, infinities are refused."""
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise BadOption("X", "it contains an infinity, which cannot be generalized. Replace it, or leave its row out.")
    try:
        return pa.array(values, from_pandas=True)
    except pa.ArrowException:
        raise BadOption("X", "one of its columns mixes types. Convert that column to one type.") from None


def encode_rows(axes: Sequence[Axis], columns: Mapping[str, Any]) -> Codes:
    """Codes of every row, read by the same engine as the fitted table; -1 for values that have no place."""
    names = [axis.column for axis in axes]
    with read_table(pa.table({name: columns[name] for name in names}), quasi_identifiers=names) as table:
        return table.engine.code_rows([encode_anew(table, axis) for axis in axes])


def find_classes(partition: Partition, codes: Codes) -> NDArray[np.int64]:
    """The class of each row: its own if it was fitted, else the smallest whose labels cover it, else -1."""
    known = dict(zip(map(bytes, partition.points.codes[partition.point]), partition.group.tolist(), strict=True))
    distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
    rows = [(bytes(row), row) for row in np.ascontiguousarray(distinct)]
    classes = [known[key] if key in known else find_class(partition, row) for key, row in rows]
    return np.array(classes, dtype=np.int64)[inverse.ravel()]


def find_class(partition: Partition, row: NDArray[np.int32]) -> int:
    """The smallest class whose labels cover a row, or -1."""
    inside = ((partition.lo <= row) & (row <= partition.hi)).all(axis=1) & (row >= 0).all()
    for j, members in partition.members.items():
        inside &= hold_code(partition.set_axis(j), members, int(row[j]))
    classes = np.flatnonzero(inside)
    return int(classes[np.argmin(partition.sizes[classes])]) if len(classes) else -1


def write_labels(partition: Partition, form: str) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """The axes of a form; and for each quasi-identifier, in every column of it, the cells of each class.

    The last cells are those of rows in no class.
    """
    axes, labels = [], {}
    for j, axis in enumerate(partition.points.axes):
        texts = [*partition.labels(j), SUPPRESSED]
        written_axis, written = write_form(form, axis.parameters(texts[:-1]), texts)
        axes.append(written_axis)
        labels[axis.column] = {name: np.array(cells, dtype=object) for name, cells in written.items()}
    return axes, labels


def as_container(table: Any, library: str, origin: Any) -> Any:
    """A table as an array, or as a dataframe of a library, with the index of the rows it was made from."""
    if library == "pandas":
        frame = table.to_pandas()
        return frame.set_axis(origin.index, axis=0) if hasattr(origin, "index") and len(frame) else frame
    if library == "polars":
        import polars

        return polars.from_arrow(table)
    is_number = [pa.types.is_floating(kind) or pa.types.is_integer(kind) for kind in table.schema.types]
    if all(is_number):
        return np.column_stack([column.to_numpy().astype(np.float64) for column in table.columns])
    out = np.empty((table.num_rows, table.num_columns), dtype=object)
    for j, column in enumerate(table.columns):
        out[:, j] = column.to_pylist()
    return out

"""Comparison: what can still be learned from a release, beside what the original says.  PRIVATE.

In: the original table and a release with its certificate.  Out: a `Comparison`: distributions of each column,
associations of each pair, and a model trained on each and judged on the same rows of the original.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kech.audit.comparison.associations import compare_pairs
from kech.audit.comparison.columns import pair_column
from kech.audit.comparison.distributions import compare_column
from kech.audit.comparison.prediction import compare_models
from kech.certificate import AnyPath
from kech.errors import BadOption, NoSuchColumn, unusable_value
from kech.release.linkage import Linkage, check_loaded, count_covered, link
from kech.release.published import read_published
from kech.tables.table import Table, check_is_table

__all__ = ["Comparison", "compare"]

MOST_CHECKED = 500  # classes that are looked up in the original, to see that it is theirs


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """A release beside its original; PRIVATE."""

    rows_before: int
    rows_after: int
    loss_per_column: dict[str, float]
    columns: list[dict[str, Any]]
    associations: list[dict[str, Any]]
    prediction: dict[str, Any] | None

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_comparison

        return show_comparison(self)

    def to_json(self) -> dict[str, Any]:
        """The object `kech compare --json` prints."""
        return {
            "private": True,
            "rows_before": self.rows_before,
            "rows_after": self.rows_after,
            "loss_per_column": self.loss_per_column,
            "columns": self.columns,
            "associations": self.associations,
            "prediction": self.prediction,
        }


def compare(
    original: Table,
    path: AnyPath,
    *,
    certificate: AnyPath | None = None,
    target: str | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare a release, whose certificate must hold, with its original.  PRIVATE.

    `target` is the column that the model predicts, the first sensitive one otherwise; the seed decides into which
    folds the rows fall.  The model needs the extra `sklearn`.
    """
    check_is_table(original, "original")
    if seed < 0:
        raise unusable_value("--seed", "Write a whole number, 0 or more.")
    release = read_published(path, certificate=certificate, with_cells=True)
    published = (*release.quasi_identifiers, *release.cells)
    if target is not None and target not in published:
        if target not in original.columns:
            raise NoSuchColumn(target, published, released=True)
        names = ", ".join(published)
        raise BadOption(
            "--target", f"column {target!r} is not published, so nobody can predict it. Name one of {names}."
        )
    check_loaded(original, published)
    linkage = link(release, original)
    check_original(linkage)
    sides = [pair_column(release, linkage, name) for name in published]
    column = target or next(iter(release.sensitive), None)
    return Comparison(
        linkage.rows,
        release.rows,
        release.figures["loss_per_column"],
        [compare_column(side) for side in sides],
        compare_pairs(sides),
        None if column is None else compare_models(sides, column, seed),
    )


def check_original(linkage: Linkage) -> None:
    """Refuse an original of which a class covers fewer rows than it holds."""
    count_covered(linkage, np.arange(min(len(linkage.release.labels), MOST_CHECKED)), "ORIGINAL")

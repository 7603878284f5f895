"""Report: a release explained on one page, from the published file, its certificate and its plan alone.

In: a released file whose certificate holds.  Out: a `Report`: figures, and a self-contained HTML page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from kech.audit.attacks import run_attacks
from kech.audit.comparison import compare
from kech.audit.figures import gather_figures
from kech.audit.risk import THRESHOLDS, compute_risk
from kech.certificate import AnyPath
from kech.errors import BadTarget, check_path
from kech.request import Request
from kech.system.files import NO_FOLDER, write_text
from kech.tables.table import Table, check_is_table
from kech.views.report.page import draw_page

__all__ = ["Report", "make_report"]


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The figures of a report and the page that shows them."""

    figures: dict[str, Any]

    def _repr_html_(self) -> str:
        from kech.views.notebook_audits import show_report

        return show_report(self)

    @cached_property
    def html(self) -> str:
        """The page: the same text for the same release, certificate and plan."""
        return draw_page(self.figures)

    def to_json(self) -> dict[str, Any]:
        """The object `kech report --json` prints."""
        return self.figures

    def write(self, path: str | PathLike[str]) -> None:
        """Write the page (.html), whole or not at all."""
        write_text(check_page(path), self.html, private=self.figures["private"])


def make_report(
    path: AnyPath,
    *,
    certificate: AnyPath | None = None,
    plan: Request | str | PathLike[str] | None = None,
    threshold: Sequence[float] = THRESHOLDS,
    original: Table | None = None,
    target: str | None = None,
    seed: int = 0,
    all_models: bool = False,
) -> Report:
    """Explain a released file whose certificate holds.

    The plan adds what it says; it must be that of the release.  With the original, an open table, the report is
    PRIVATE: it compares both, with a model that predicts the target, and shows what attacks achieve.  Where it was read
    with its person columns, risks count people.  `all_models` also shows entropy and recursive l, beta and delta.
    """
    check_path(path)
    if original is not None:
        check_is_table(original, "original")
    figures = gather_figures(path, certificate, plan, threshold, private=original is not None)
    figures["all_models"] = all_models
    if original is None:
        return Report(figures)
    if original.person:
        chosen: dict[str, Any] = {"certificate": certificate, "threshold": threshold}
        figures["risk"] = compute_risk(path, original=original, **chosen).to_json()
    beside = compare(original, path, certificate=certificate, target=target, seed=seed).to_json()
    attacks = run_attacks(path, original, certificate=certificate, seed=seed)
    return Report(figures | {"comparison": beside, "attacks": [attack.to_json() for attack in attacks]})


def check_page(path: str | PathLike[str]) -> Path:
    """A place a page can be written to."""
    target = Path(path)
    if target.suffix.lower() != ".html":
        raise BadTarget(target, "the name of a report must end in .html. Rename it.")
    if target.is_dir():
        raise BadTarget(target, "it is a folder. Name a file.")
    if not target.parent.is_dir():
        raise BadTarget(target, NO_FOLDER)
    return target

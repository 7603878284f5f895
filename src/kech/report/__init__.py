"""Report: a release explained on one page, from the published file, its certificate and its plan alone.

In: a released file whose certificate holds.  Out: a `Report`: figures, and a self-contained HTML page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from kech.certificate import AnyPath
from kech.errors import BadTarget
from kech.files import write_text
from kech.plan import Plan
from kech.report.figures import gather
from kech.report.page import draw_page
from kech.risk import THRESHOLDS

__all__ = ["Report", "make_report"]


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The figures of a report and the page that shows them."""

    figures: dict[str, Any]

    @cached_property
    def html(self) -> str:
        """The page: the same text for the same release, certificate and plan."""
        return draw_page(self.figures)

    def to_json(self) -> dict[str, Any]:
        """The object `kech report --json` prints."""
        return self.figures

    def write(self, path: str | PathLike[str]) -> None:
        """Write the page (.html), whole or not at all."""
        write_text(check_page(path), self.html)


def make_report(
    path: AnyPath,
    *,
    certificate: AnyPath | None = None,
    plan: Plan | str | PathLike[str] | None = None,
    threshold: Sequence[float] = THRESHOLDS,
) -> Report:
    """Explain a released file whose certificate holds."""
    return Report(gather(path, certificate, plan, threshold))


def check_page(path: str | PathLike[str]) -> Path:
    """A place a page can be written to."""
    target = Path(path)
    if target.suffix.lower() != ".html":
        raise BadTarget(target, "a report is written as .html.")
    if target.is_dir():
        raise BadTarget(target, "it is a folder; name a file.")
    if not target.parent.is_dir():
        raise BadTarget(target, "its folder does not exist; create it first.")
    return target

"""Code as a user writes it: `mypy --strict` must see through kech, and the code must run.

A line with `type: ignore` is a fault that the types must find: were kech untyped, mypy would call it needless.
"""

from pathlib import Path
from typing import Any

import kech
from kech import AxisChoice, Release, Spectrum, Table
from kech.errors import GoalNotMet, KechError, NoSuchColumn

COLUMNS = ["age", "sex", "zip"]


def open_town(path: Path) -> Table:
    """A table with roles, and one axis of one's own choice."""
    axes = {"zip": AxisChoice(kind="set")}
    return kech.read_table(path, quasi_identifiers=COLUMNS, sensitive=["diagnosis"], axes=axes)


def cheapest_k(table: Table) -> int:
    """The smallest k of a spectrum, which loses least."""
    spectrum: Spectrum = kech.compute_spectrum(table, k=[3, 5])
    rows: list[dict[str, Any]] = spectrum.rows()
    return min(int(row["k"]) for row in rows)


def publish(table: Table, k: int, target: Path) -> dict[str, Any]:
    """A release, its certificate, and the check of both."""
    release: Release = kech.make_release(table, k=k, cut="local", suppress=0.02)
    certificate: dict[str, Any] = release.write(target, ledger=False)
    columns: tuple[str, ...] = release.columns
    assert set(columns) == {*COLUMNS, "diagnosis"}
    assert kech.check_certificate(target)["k"] == certificate["claims"]["k"]
    return kech.verify_release(target, k=k, l=1)


def look(table: Table, target: Path) -> tuple[float, str]:
    """Risk and report of a release, and how the table looks."""
    risk = kech.compute_risk(target, threshold=[0.1])
    highest: float = risk.prosecutor.highest
    kech.make_report(target).write(target.with_suffix(".html"))
    inspection = kech.inspect_table(table)
    return highest, ", ".join(column.role for column in inspection.columns)


def draw(table: Table, target: Path) -> None:
    """Pictures: a file, or axes of one's own."""
    kech.compute_spectrum(table, k=[5]).plot(target)
    kech.compute_barcode(table, max_dimension=0).plot(ax=None)
    kech.compute_lattice(table).best(5, 0.0)


def generalize(frame: Any) -> Any:
    """In a pipeline of scikit-learn."""
    return kech.Anonymizer(k=5, quasi_identifiers=COLUMNS).fit_transform(frame)


def refused(path: Path) -> str:
    """What kech says when it refuses."""
    try:
        kech.read_table(path, quasi_identifiers=["agee"])
    except NoSuchColumn as refusal:
        code: int = refusal.exit_code
        return f"{code}: {refusal}"
    except (GoalNotMet, KechError) as refusal:
        raise AssertionError from refusal
    return ""


def mistaken(table: Table) -> None:
    """What the types must find."""
    kech.make_release(table, k="five")  # type: ignore[arg-type]
    kech.compute_spectrum(table, 5)  # type: ignore[arg-type]
    kech.Anonymizer(quasi_identifiers=5)  # type: ignore[arg-type]
    kech.read_tabel("people.csv")  # type: ignore[attr-defined]

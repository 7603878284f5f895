"""Succession: whether every file of a series holds, and whether rows came and left by whole cohorts only.

In: the folder of a series, and its published files.  Out: figures of each version, or ClaimBroken.
Files are recounted alone.  What they cannot tell, which rows are a cohort, is what the folder says.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from kech.certificate import check_certificate, read_claims
from kech.certificate.cohorts import Label, Rows, broken_changes, compare_rows, count_rows, read_alike
from kech.errors import BadSeries, ClaimBroken
from kech.release.series import Series, open_series
from kech.release.series.series import Life


def verify_series(folder: str | PathLike[str] | Series) -> dict[str, Any]:
    """Check every file of a series that is at hand, and how each differs from the one before it.

    Files that are not found are listed and not checked; `holds` is true only where all are found.
    """
    series = folder if isinstance(folder, Series) else open_series(folder)
    lives, versions = series.lives(), []
    before: tuple[int, Mapping[Label, Rows]] = (0, {})
    for version in series.book.versions:
        file = series.store.find_release(version)
        summary = {"version": version.number, "file": str(file or version.path), "found": file is not None}
        if file is not None:
            beside = series.folder / f"{version.number:04}-certificate.json"
            figures, rows = check_file(file, beside, version.number, lives)
            entered, left = check_changes(file, before, (version.number, rows), lives)
            summary |= {
                "k": figures["k"],
                "rows": figures["rows"],
                "classes": figures["classes"],
                "loss": figures["loss"],
            }
            summary |= {"entered": entered, "left": left}
            before = version.number, rows
        versions.append(summary)
    if not before[0]:
        raise BadSeries(series.folder, "none of its files is at its place, so nothing can be checked.")
    return {"series": str(series.folder), "holds": all(each["found"] for each in versions), "versions": versions}


def check_file(
    file: Path, beside: Path, number: int, lives: Iterable[Life]
) -> tuple[dict[str, Any], dict[Label, Rows]]:
    """Figures of one file, and its rows, class by class: as many as its cohorts have."""
    figures, document = check_certificate(file, beside), read_claims(file, beside)
    rows = count_rows(file, document)
    expected = add_rows(life for life in lives if number in life.versions)
    if expected != {label: others.total() for label, others in rows.items()}:
        raise ClaimBroken(file, ["cohorts: its classes are not those of the series"])
    return figures, rows


def check_changes(
    file: Path, before: tuple[int, Mapping[Label, Rows]], now: tuple[int, Mapping[Label, Rows]], lives: Iterable[Life]
) -> tuple[int, int]:
    """Rows that entered and left since the file before; ClaimBroken where they are no whole cohorts."""
    entered = [life for life in lives if now[0] in life.versions and before[0] not in life.versions]
    left = [life for life in lives if before[0] in life.versions and now[0] not in life.versions]
    if broken := broken_changes(compare_rows(before[1], now[1]), add_rows(entered), add_rows(left)):
        raise ClaimBroken(file, broken)
    return sum(life.rows for life in entered), sum(life.rows for life in left)


def add_rows(lives: Iterable[Life]) -> dict[Label, int]:
    """Rows of all cohorts under each label."""
    rows_of_label: Counter[Label] = Counter()
    for life in lives:
        rows_of_label[tuple(map(read_alike, life.label))] += life.rows
    return dict(rows_of_label)

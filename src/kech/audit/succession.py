"""Succession: whether every file of a series holds, and whether rows came and left by whole cohorts only.

In: the folder of a series, and its published files.  Out: figures of each version, or ClaimBroken.
Files are recounted alone.  What they cannot tell, which rows are a cohort, is what the folder says.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from kech.certificate import check_certificate, read_claims
from kech.certificate.cohorts import Label, Rows, as_comparable, broken_changes, compare_rows, count_rows
from kech.errors import BadSeries, ClaimBroken
from kech.release.series import Series, open_series
from kech.release.series.series import CohortLife
from kech.release.series.store import SeriesVersion

AS_PUBLISHED = "Use the file as it was published."


def verify_series(folder: str | PathLike[str] | Series) -> dict[str, Any]:
    """Check every file of a series, and how each differs from the one before it.

    BadSeries, once all others are checked, where a file is not at its place or was changed.
    """
    series = folder if isinstance(folder, Series) else open_series(folder)
    versions, lives = series.series_file.versions, series.lives()
    files = {version.number: series.store.find_release(version) for version in versions}
    summaries, before = [], (0, dict[Label, Rows]())
    for number, file in files.items():
        if file is None:
            continue
        figures, rows = check_file(file, series.folder / f"{number:04}-certificate.json", number, lives)
        entered, left = check_changes(file, before, (number, rows), lives)
        counted = {name: figures[name] for name in ("k", "rows", "classes", "loss")}
        summaries.append({"version": number, "file": str(file), **counted, "entered": entered, "left": left})
        before = number, rows
    check_complete(series.folder, [version for version in versions if files[version.number] is None], len(summaries))
    return {"series": str(series.folder), "holds": True, "versions": summaries}


def check_complete(folder: Path, lacking: Sequence[SeriesVersion], checked: int) -> None:
    """Refuse a series some of whose files are not at hand."""
    if lacking:
        names = ", ".join(f"version {version.number} ({Path(version.path).name})" for version in lacking)
        others = f"The {checked} others hold." if checked > 1 else "The other one holds." if checked else ""
        reason = f"not at their place, or changed since: {names}. {others} Put them back as they were published, or say"
        raise BadSeries(folder, f"{reason} where they lie: kech series FOLDER --moved FILE ...")


def check_file(
    file: Path, beside: Path, number: int, lives: Iterable[CohortLife]
) -> tuple[dict[str, Any], dict[Label, Rows]]:
    """Figures of one file, and its rows, class by class: as many as its cohorts have."""
    figures, document = check_certificate(file, beside), read_claims(file, beside)
    rows = count_rows(file, document)
    expected = add_rows(life for life in lives if number in life.versions)
    if expected != {label: others.total() for label, others in rows.items()}:
        raise ClaimBroken(file, ["cohorts: its classes are not those that the series published"], AS_PUBLISHED)
    return figures, rows


def check_changes(
    file: Path,
    before: tuple[int, Mapping[Label, Rows]],
    now: tuple[int, Mapping[Label, Rows]],
    lives: Iterable[CohortLife],
) -> tuple[int, int]:
    """Rows that entered and left since the file before; ClaimBroken where they are no whole cohorts."""
    entered = [life for life in lives if now[0] in life.versions and before[0] not in life.versions]
    left = [life for life in lives if before[0] in life.versions and now[0] not in life.versions]
    if broken := broken_changes(compare_rows(before[1], now[1]), add_rows(entered), add_rows(left)):
        raise ClaimBroken(file, broken)
    return sum(life.rows for life in entered), sum(life.rows for life in left)


def add_rows(lives: Iterable[CohortLife]) -> dict[Label, int]:
    """Rows of all cohorts under each label."""
    rows_of_label: Counter[Label] = Counter()
    for life in lives:
        rows_of_label[tuple(map(as_comparable, life.label))] += life.rows
    return dict(rows_of_label)

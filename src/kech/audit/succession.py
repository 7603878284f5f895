"""Succession: whether every file of a series holds, and whether rows came and left by whole cohorts only.

In: the folder of a series, and its published files.  Out: figures of each version, or ClaimBroken.
Files are recounted alone.  What they cannot tell, which rows are a cohort, is what the folder says.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from kech.certificate import certificate_path, check_certificate, read_claims
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
    for version in versions:
        number, file = version.number, files[version.number]
        if file is None:
            continue
        series.store.certificate(version)  # refused where the folder was edited
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
    wrong = {
        "cohorts: its classes are not those that the series published": expected
        != {label: others.total() for label, others in rows.items()},
        "series: the certificate tells of another version": tell_version(document) != count_version(number, lives),
        "certificate: the one beside the file is not that of the series": has_other_certificate(file, document),
    }
    if broken := [complaint for complaint, is_wrong in wrong.items() if is_wrong]:
        raise ClaimBroken(file, broken, AS_PUBLISHED)
    return figures, rows


def tell_version(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a certificate says of its version that the folder knows too."""
    return {name: document.get("series", {}).get(name) for name in ("version", "cohorts", "new_cohorts", "arrivals")}


def count_version(number: int, lives: Iterable[CohortLife]) -> dict[str, Any]:
    """The same by the lives of cohorts."""
    cohorts = [life for life in lives if number in life.versions]
    new = [life for life in cohorts if min(life.versions) == number]
    return {
        "version": number,
        "cohorts": len(cohorts),
        "new_cohorts": len(new),
        "arrivals": sum(life.rows for life in new),
    }


def has_other_certificate(file: Path, document: Mapping[str, Any]) -> bool:
    """Whether a certificate lies beside a file and says something else than that of the series."""
    return certificate_path(file).exists() and read_claims(file) != document


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

"""Series: random histories of a table, released version by version and judged from the files and originals alone.

usage: python -m campaign.series [--tables 20000] [--seconds 3600] [--jobs 2] [--anew]
The suite judges the first 500; a run begins at 2,000 or where the last one ended, and its figure adds to that.
Versions share one DuckDB, which is emptied in between and not locked: to start it is a fifth of the cost of a version.
"""

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from campaign.core import ROOT, use_place
from campaign.oracle import run_batches

sys.path.insert(0, str(ROOT / "tests"))

HISTORIES = 20_000
FAULTS = ("each version anew", "a row lost", "a label changed")


def check_series(seeds: range, place: Path, fault: str | None, say: Any) -> tuple[list[str], int]:
    """What is false of these histories, and how many versions were published."""
    import test_series_oracle as suite

    use_place(place)
    share_database()
    warnings.simplefilter("ignore")
    release = suite.release_anew if fault == "each version anew" else suite.release_in_series
    read, published = suite.oracle.read_release, []

    def read_and_note(path: Path) -> Any:
        rows = read(path)
        published.extend([path] if rows else [])
        return spoil(rows, fault) if rows else rows

    suite.oracle.read_release = read_and_note
    with TemporaryDirectory(dir=place) as folder:
        wrong = suite.oracle.judge_histories(seeds, Path(folder), release)
    return wrong, len(published)


def share_database() -> None:
    """Let every engine of this process use one DuckDB."""
    from kech.tables import duckdb as module

    start, shared = module.DuckDB._connect, []

    def connect(self: Any, settings: dict[str, Any]) -> Any:
        if shared:
            empty_database(shared[0])
        else:
            shared.append(start(self, settings))
            shared[0].execute("SET GLOBAL timezone = 'UTC'")
        return shared[0]

    def lock_nothing(_self: Any, *_allowed: Path) -> None:
        """The next engine opens another file."""

    def remove_only(_connection: Any, folder: Path, handle: int) -> None:
        module.remove_folder(folder, handle)

    module.DuckDB._connect, module.DuckDB._lock, module.close_and_remove = connect, lock_nothing, remove_only


def empty_database(connection: Any) -> None:
    """Drop what the engine before left behind."""
    listed = connection.execute("SELECT table_name, table_type FROM information_schema.tables").fetchall()
    for name, kind in listed:
        connection.execute(f'DROP {"VIEW" if kind == "VIEW" else "TABLE"} IF EXISTS "{name}"')
    connection.remove_function("kech_random")


def spoil(rows: list[Any], fault: str | None) -> list[Any]:
    """What is read of a file, with a fault in it."""
    if fault == "a row lost":
        return rows[:-1]
    return [*rows[:-1], replace(rows[-1], label=("?",))] if fault == "a label changed" else rows


def main() -> int:
    """Batches of random histories."""
    import test_series_oracle  # noqa: F401 - once for all children

    return run_batches("series", HISTORIES, check_series)


if __name__ == "__main__":
    sys.exit(main())

"""People: random tables in which a person has several rows: k people in every class, and goals by rows and by people.

usage: python -m campaign.people [--tables 20000] [--seconds 3600] [--jobs 2] [--anew]
The suite judges the first 2,000; a run begins where the last one ended, and its figure adds to that of the last.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

from campaign.core import ROOT, use_place
from campaign.oracle import run_batches

sys.path.insert(0, str(ROOT / "tests"))

TABLES = 20_000
FAULTS = ("rows in place of people", "somebody is lost")


def check_people(seeds: range, place: Path, fault: str | None, say: Any) -> tuple[list[str], int]:
    """What is false of these tables, and how many were released."""
    import duckdb

    import people_oracle as oracle

    use_place(place)
    warnings.simplefilter("ignore")
    released = []
    publish = plant(oracle, fault) if fault else oracle.release_frame

    def publish_and_note(case: Any) -> Any:
        frame = publish(case)
        released.append(case.k)
        return frame

    oracle.release_frame = publish_and_note
    with duckdb.connect() as database:
        database.execute("SET threads = 1")
        wrong = oracle.judge_tables(database, seeds)
    return wrong, len(released)


def plant(oracle: Any, fault: str) -> Any:
    """Release by rows, or without the rows of one person."""
    publish = oracle.release_frame

    def publish_wrongly(case: Any) -> Any:
        if fault == "rows in place of people":
            case.roles.pop("person")
            frame = publish(case)
            case.roles["person"] = []
            return frame
        frame = publish(case)
        return frame.filter([case.who[row] != case.who[0] for row in frame[oracle.ROW].to_pylist()])

    return publish_wrongly


def main() -> int:
    """Batches of random visits."""
    import people_oracle  # noqa: F401 - once for all children

    return run_batches("people", TABLES, check_people)


if __name__ == "__main__":
    sys.exit(main())

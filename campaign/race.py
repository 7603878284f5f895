"""Race: two processes that share a ledger release into one target at the same time.

usage: python -m campaign.race [--races 20]
One wins cleanly: what stands there is one whole release with its own certificate, the ledger knows it and nothing that
is not so, who lost was refused with its exit code, and nothing is left behind.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import kech
import kech.release.ledger
import kech.release.release
import kech.system.files
from campaign.core import FORK, Answer, Child, Tally, import_all, in_child, own_place, use_place
from campaign.crash import QI, digest, ledger_of, write_rows
from kech.errors import KechError
from kech.system.console import listen

COMPOSES = 4  # the exit code of a release that an earlier one makes unsafe
SLOW = 0.05  # seconds between the names of a file and of its certificate, so that runs overlap
PAIRS = {"one table": ("people.csv", "people.csv"), "two tables": ("people.csv", "others.csv")}


def release(folder: Path, source: str, k: int, meet: Any, fault: str | None, say: Any) -> str:
    """Release a table, and begin to write when the other one does; the hash of the file."""
    del say
    use_place(folder)
    name_slowly()
    FAULTS[fault]() if fault else None
    met = []

    def hear(what: str, share: float | None) -> None:
        if what == "writing" and not met:
            met.append(meet.wait(60))

    roles: dict[str, Any] = {"quasi_identifiers": QI, "sensitive": ["ill"]}
    with listen(hear), kech.read_table(folder / source, **roles, threads=1) as table:
        made = kech.make_release(table, k=k, effort="quick")
        return str(made.write(folder / "out" / "safe.csv")["file"]["sha256"])


def name_slowly() -> None:
    """Let the other one in between two names, if nothing else keeps it out."""
    named = Path.replace

    def replace(self: Path, target: Any) -> Path:
        found = named(self, target)
        time.sleep(SLOW)
        return found

    Path.replace = replace  # type: ignore[method-assign,assignment]


def race(tally: Tally, place: Path, pair: str, ks: tuple[int, int], fault: str | None = None) -> None:
    """Two runs, and what they leave."""
    folder = place / f"race{tally.cases}"
    (folder / "out").mkdir(parents=True)
    write_rows(folder / "people.csv", 120, 0)
    write_rows(folder / "others.csv", 100, 3)
    meet = FORK.Barrier(2)
    runs = [Child(release, folder, source, k, meet, fault) for source, k in zip(PAIRS[pair], ks, strict=True)]
    ended = [run.result() for run in runs]
    judge(tally, folder, f"{pair}, k {ks[0]} and {ks[1]}", ended)
    tally.cases += 1
    tally.faults += fault is not None


def judge(tally: Tally, folder: Path, where: str, ended: list[Answer]) -> None:
    """What stands there must be explained by how the runs ended."""
    done = [run.value for run in ended if run.word == "done"]
    lost = [run for run in ended if run.word != "done"]
    told = ", ".join(f"{run.word} {run.value}" for run in ended)
    tally.expect(bool(done), f"{where}: nobody won: {told}")
    tally.expect(
        all(run.word == "refused" and run.value[0] == COMPOSES for run in lost), f"{where}: not refused: {told}"
    )
    stands = digest(folder / "out" / "safe.csv")
    tally.expect(stands in done, f"{where}: what stands there is nobody's release")
    tally.expect(in_child(check, folder), f"{where}: the certificate is not that of the file")
    tally.expect(sorted(ledger_of(folder)) == sorted(set(done)), f"{where}: the ledger tells of other releases")
    names = sorted(path.name for path in (folder / "out").iterdir())
    tally.expect(names == ["safe.csv", "safe.csv.certificate.json"], f"{where}: left behind {names}")


def check(folder: Path, say: Any) -> bool:
    """Whether the certificate holds for the file."""
    del say
    use_place(folder)
    try:
        kech.check_certificate(folder / "out" / "safe.csv")
    except KechError:
        return False
    return True


# -- faults, to see that they are seen -------------------------------------------------------------------------------


def share_folders() -> None:
    """Nobody waits for who is putting files in place, nor for the ledger."""

    @contextmanager
    def pass_by(*_: Any, **__: Any) -> Iterator[list[int]]:
        yield []

    kech.system.files.lock_folders = pass_by  # type: ignore[assignment]
    share_ledger()


def share_ledger() -> None:
    """Nobody waits for who is reading and writing the ledger."""

    @contextmanager
    def pass_by(*_: Any, **__: Any) -> Iterator[None]:
        yield

    kech.release.ledger.hold_lock = pass_by


FAULTS: dict[str | None, Callable[[], None]] = {
    "folders are not locked": share_folders,
    "the ledger is not locked": share_ledger,
}


def main() -> int:
    """Races of both kinds, with equal and with different k."""
    parser = argparse.ArgumentParser(description="Two releases into one target.")
    parser.add_argument("--races", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    tally, rng = Tally("race"), random.Random(asked.seed)
    import_all()
    with own_place() as place:
        for i in range(asked.races):
            race(tally, place, list(PAIRS)[i % 2], (rng.choice([3, 5, 8]), rng.choice([3, 5, 8])))
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())

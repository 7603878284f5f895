"""Coverage: the rooms that claim, check and write are run through by their tests, every line and every branch.

usage: python -m campaign.coverage          also: make coverage
Beside the figure, build/coverage/ keeps which test ran which line and how long each took: campaign.mutation reads it.
"""

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import coverage
import pytest

from campaign.core import EVERY, ROOT, Tally

SOURCE = ROOT / "src/kech"
FILES = (
    "certificate/[!_]*.py", "points/partition.py", "release/writing.py",
    "release/tallies.py", "release/making.py", "release/release.py",
    *(f"axes/{name}.py" for name in ("axis", "lines", "ranks", "trees")),
)  # fmt: skip
ROOMS = tuple(path.relative_to(SOURCE).as_posix() for files in FILES for path in sorted(SOURCE.glob(files)))
TESTS = (
    "rooms", "certificate", "axes", "partition", "release", "models", "regressions", "forms", "verification",
    "publication", "mapping",
)  # fmt: skip


@dataclass(frozen=True)
class Ground:
    """A package, the rooms of it that are attacked, and the tests that must notice."""

    root: Path
    package: str
    rooms: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def kept(self) -> Path:
        """What a run of the tests leaves for the next harness."""
        return self.root / "build" / "coverage"

    @property
    def files(self) -> list[str]:
        """The files with the tests."""
        return [str(self.root / "tests" / f"test_{name}.py") for name in self.tests]

    def path(self, room: str) -> Path:
        """The source of a room."""
        return self.root / "src" / self.package / room

    def module(self, room: str) -> str:
        """The name by which a room is imported."""
        return f"{self.package}.{room.removesuffix('.py').replace('/', '.')}"


KECH = Ground(ROOT, "kech", ROOMS, TESTS)


class Watch:
    """Which test runs which line, in how many seconds; what a fixture of a whole module runs, all its users run."""

    def __init__(self, cover: coverage.Coverage) -> None:
        self.cover = cover
        self.seconds: dict[str, float] = {}
        self.shared: dict[str, float] = {}
        self.users: dict[str, list[str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Who uses the fixtures of a module."""
        for item in items:
            for name in item.fixturenames:  # type: ignore[attr-defined]
                self.users.setdefault(f"{item.location[0]}::{name}", []).append(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """A test, with what it sets up."""
        self.cover.switch_context(item.nodeid)
        start = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - start

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        """What is set up once for several tests."""
        if fixturedef.scope == "function":
            return (yield)
        name = f"{request.node.nodeid}::{fixturedef.argname}"
        self.cover.switch_context(name)
        start = time.process_time()
        try:
            return (yield)
        finally:
            self.shared[name] = time.process_time() - start
            self.cover.switch_context(request._pyfuncitem.nodeid)


def cover(ground: Ground) -> tuple[dict[str, Any], Watch, bool]:
    """Run the tests: the report, what was watched, and whether they passed."""
    ground.kept.mkdir(parents=True, exist_ok=True)
    rooms = [str(ground.path(room)) for room in ground.rooms]
    found = coverage.Coverage(str(ground.kept / "data.sqlite"), branch=True, include=rooms, config_file=False)
    found.erase()
    watch = Watch(found)
    found.start()
    ended = pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *EVERY, *ground.files], plugins=[watch])
    found.stop()
    found.save()
    kept = {"seconds": watch.seconds, "shared": watch.shared, "users": watch.users}
    (ground.kept / "tests.json").write_text(json.dumps(kept), "utf-8")
    found.json_report(outfile=str(ground.kept / "report.json"))
    return json.loads((ground.kept / "report.json").read_bytes()), watch, ended == 0


def never_run(report: dict[str, Any]) -> list[str]:
    """Every line and branch that no test runs."""
    return [
        f"{name}, line {line}: never run"
        for name, file in report["files"].items()
        for line in [*file["missing_lines"], *(f"{one} to {other}" for one, other in file["missing_branches"])]
    ]


def main() -> int:
    """All rooms."""
    tally = Tally("coverage")
    report, watch, passed = cover(KECH)
    tally.expect(passed, "the tests fail")
    for loss in never_run(report):
        tally.expect(False, loss)
    totals = report["totals"]
    tally.cases = totals["num_statements"] + totals["num_branches"]
    tally.figures = {"lines": totals["num_statements"], "branches": totals["num_branches"], "tests": len(watch.seconds)}
    tally.figures["percent"] = round(totals["percent_covered"], 2)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())

"""Suite: harnesses that are tests already: run them alone, count them, and write their figure down.

usage: python -m campaign.suite malformed | canary
"""

import sys
from typing import Any

import pytest

from campaign.core import EVERY, ROOT, Tally

FILES = {
    "malformed": ["tests/test_bad_input.py"],
    "canary": ["tests/test_canary.py", "tests/test_report.py", "tests/test_studio.py", "tests/test_studio_browser.py"],
}
CHOSEN = {
    "malformed": "refused or refuses",  # the others are odd and good
    "canary": "leak or canary or seen or command_prints",
}
TEETH = ("seeded", "is_seen", "planted")  # words of tests that plant a fault and expect it to be found


class Count:
    """How many cases there were and which of them failed."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A case counts once, whatever it failed in."""
        if report.when == "call" and not report.skipped:
            self.tally.cases += 1
            self.tally.faults += any(word in report.nodeid for word in TEETH)
        if report.failed:
            self.tally.expect(False, report.nodeid)
        if report.skipped:
            self.tally.figures["skipped"] = self.tally.figures.get("skipped", 0) + 1


def main() -> int:
    """One of them."""
    name = sys.argv[1]
    tally = Tally(name)
    files = [str(ROOT / file) for file in FILES[name]]
    pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *EVERY, "-k", CHOSEN[name], *files], plugins=[Count(tally)])
    tally.expect(tally.cases >= 60, f"only {tally.cases} cases were run")
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())

"""Sanitize: every kernel with checks of addresses and of undefined behaviour, under the tests of the kernels.

usage: python -m campaign.sanitize FOLDER        of the package with such kernels; make sanitize builds it
Each module of tests runs in a process of its own, which ends at the first fault.  First the checks themselves are
shown to bite: two programs with a planted fault in the widths of an axis must not survive it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from campaign.core import EVERY, ROOT, Tally

FLAGS = ["-std=c++20", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
MODULES = (
    "adversarial", "ordering", "bounds", "protection", "gathering", "suppressing", "minimal_cut", "local", "meeting",
    "lattice", "zigzag", "complexes", "homology", "assigning", "words", "padding", "partition", "pricing", "profile",
    "ball_cut",
)  # fmt: skip
EXAMPLES = "8"  # of a property whose test does not say how many
LONGEST = 1800.0  # seconds of one module
PLANTED = {
    "a code beyond its axis": "return widths.width(0, 0, argc + 6) > 1;",
    "a sum of codes that overflows": "Code most = 0x7fffffff; return most + argc == 0;",
}
PROGRAM = """#include "widths.hpp"
using namespace kech;
int main(int argc, char**) {
    Widths widths;
    widths.add_line({0, 1}, {0, 1}, 1, 1, -1);
    %s
}
"""


def compiler() -> str:
    """The one that built the kernels."""
    return os.environ.get("CXX", "c++")


def survives(fault: str) -> bool:
    """Whether a program with this fault ends as if nothing were wrong."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "fault.cpp", Path(folder) / "fault"
        source.write_text(PROGRAM % fault, "utf-8")
        words = [compiler(), *FLAGS, "-I", str(ROOT / "src" / "kech" / "_kernels"), str(source), "-o", str(made)]
        subprocess.run(words, check=True)
        return subprocess.run([made], capture_output=True, check=False).returncode == 0


def run_module(folder: str, name: str) -> tuple[int, list[str]]:
    """Cases and losses of one module of tests, in a process that has the checks loaded."""
    libraries = [
        subprocess.run([compiler(), f"-print-file-name={library}"], capture_output=True, text=True, check=True)
        for library in ("libasan.so", "libubsan.so")
    ]
    loaded = {"LD_PRELOAD": " ".join(found.stdout.strip() for found in libraries), "ASAN_OPTIONS": "detect_leaks=0"}
    loaded |= {"KECH_EXAMPLES": EXAMPLES}
    with tempfile.TemporaryDirectory() as place:
        told = Path(place) / "told.xml"
        words = [sys.executable, "tests/sanitized.py", folder, f"--junitxml={told}"]
        words += ["-p", "no:cacheprovider", *EVERY, f"tests/test_{name}.py"]
        try:
            run = subprocess.run(
                words, cwd=ROOT, env=os.environ | loaded, capture_output=True, text=True, timeout=LONGEST, check=False
            )
        except subprocess.TimeoutExpired:
            return 0, [f"{name}: longer than {LONGEST:.0f} s"]
        if run.returncode:
            print(run.stdout[-4000:], run.stderr[-4000:], flush=True)
        cases, losses = count_cases(told) if told.exists() else (0, [])
        fallen = run.returncode != 0 or not cases
        return cases, losses or ([f"{name}: {cases} cases, ended with {run.returncode}"] if fallen else [])


def count_cases(told: Path) -> tuple[int, list[str]]:
    """From what pytest wrote down."""
    cases = list(ElementTree.parse(told).iter("testcase"))
    lost = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = [case for case in cases if case.find("skipped") is not None]
    return len(cases) - len(skipped), [f"{case.get('classname')}::{case.get('name')}" for case in lost]


def main() -> int:
    """All modules, or some."""
    parser = argparse.ArgumentParser(description="The kernels with address and undefined-behaviour checks.")
    parser.add_argument("folder")
    parser.add_argument("--only", nargs="+", choices=MODULES, default=MODULES)
    asked = parser.parse_args()
    tally = Tally("sanitize")
    for name, fault in PLANTED.items():
        tally.expect(not survives(fault), f"{name} is not seen")
        tally.faults += 1
    for name in asked.only:
        cases, losses = run_module(asked.folder, name)
        tally.cases += cases
        for loss in losses:
            tally.expect(False, loss)
        print(f"{name}: {cases} cases", flush=True)
    tally.figures["modules"] = len(asked.only)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())

"""Tests of the core against the kech that is installed: `make wheel-test`, and each wheel of cibuildwheel.

Needs pytest and hypothesis beside kech, and no optional package.  With --bare also no compiler on the path.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

import kech

ROOT = Path(__file__).parents[1]
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cl", "zig", "cmake", "ninja")
CORE = (
    "axes", "axis_codes", "certificate", "domain", "grid", "hashes", "levels", "local", "machine", "padding",
    "partition", "points", "protection", "rare", "secret", "spelling", "threads", "written_release",
)  # fmt: skip


def main() -> int:
    """Refuse to test anything but an installed package; then run the tests."""
    place = Path(kech.__file__).resolve()
    if place.is_relative_to(ROOT / "src"):
        raise SystemExit("kech runs from this checkout. Install a wheel, and start this with its Python.")
    compilers = [name for name in COMPILERS if shutil.which(name)]
    if "--bare" in sys.argv and compilers:
        raise SystemExit(f"There are compilers on the path: {', '.join(compilers)}.")
    os.chdir(ROOT)
    return pytest.main(["-q", "-p", "no:cacheprovider", *(f"tests/test_{name}.py" for name in CORE)])


if __name__ == "__main__":
    sys.exit(main())

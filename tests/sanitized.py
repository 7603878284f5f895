"""Run tests with the package in a given folder instead of the installed one: sanitized.py FOLDER TESTS..."""

import sys
from pathlib import Path

import pytest

folder, *tests = sys.argv[1:]
sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
sys.path.insert(0, folder)

import kech._kernels  # noqa: E402

if Path(folder).resolve() not in Path(kech._kernels.__file__).resolve().parents:
    sys.exit("The sanitized kernels are not the ones that were imported.")
sys.exit(pytest.main(["-q", "-n", "0", *tests]))

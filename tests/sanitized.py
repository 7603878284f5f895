"""Run tests with the package in a given folder instead of the installed one: sanitized.py FOLDER TESTS...

KECH_EXAMPLES says how many examples a property has whose test does not say it.
"""

import os
import sys
from pathlib import Path

import pytest

folder, *tests = sys.argv[1:]
sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
sys.path.insert(0, folder)

import kech._kernels  # noqa: E402

if Path(folder).resolve() not in Path(kech._kernels.__file__).resolve().parents:
    sys.exit("The sanitized kernels are not the ones that were imported.")


class Few:
    """Loads a profile once pytest has seen hypothesis come."""

    @staticmethod
    def pytest_configure():
        from hypothesis import settings

        settings.register_profile("few", deadline=None, max_examples=int(os.environ["KECH_EXAMPLES"]))
        settings.load_profile("few")


plugins = [Few()] if "KECH_EXAMPLES" in os.environ else []
sys.exit(pytest.main(["-q", "-n", "0", "--all-examples", *tests], plugins=plugins))

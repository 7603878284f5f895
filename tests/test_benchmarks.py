"""Scripts of the benchmarks start as their first lines say."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SCRIPTS = [path for path in sorted(FOLDER.glob("*.py")) if f"usage: python benchmarks/{path.name}" in path.read_text()]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_finds_all_that_it_imports(script, tmp_path):
    load = f"import runpy, sys; sys.path[0] = {str(FOLDER)!r}; runpy.run_path({str(script)!r})"
    done = subprocess.run([sys.executable, "-c", load], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

"""Scripts of the benchmarks start as their first lines say, and judge as kech does today."""

import runpy
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


def test_histories_with_other_keys_are_judged(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    judge_history = runpy.run_path(str(FOLDER / "rekeyed.py"))["judge_history"]
    said = [judge_history(name, 0) for name in ("others, rare cells", "most, a year older", "40 %, a year older")]
    assert said == ["nothing", "refused", "told"]

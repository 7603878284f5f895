"""dbt: a model that releases a table, and a test that finds classes which are too small, run by dbt-duckdb."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest

import kech
from kech.tables.demo import generate_town

ROOT = Path(__file__).parents[1]
INSTALLED = ROOT / ".venv-dbt" / "installed"
DBT = INSTALLED.parent / "bin" / "dbt"
PROJECT = 'name: town\nversion: "1.0.0"\nconfig-version: 2\nprofile: town\n'
PROFILE = "town:\n  target: dev\n  outputs:\n    dev: {type: duckdb, path: town.duckdb, threads: 1}\n"

pytestmark = pytest.mark.skipif(not INSTALLED.exists(), reason="dbt-duckdb is not installed: make dbt")


def from_manual(language, beginning):
    """A block of the manual that people paste."""
    page = (ROOT / "docs" / "how-to" / "checks.md").read_text("utf-8")
    blocks = [block.partition("\n")[2] for block in page.split("```")[1::2] if block.startswith(language)]
    (block,) = [block for block in blocks if block.startswith(beginning)]
    return block


@pytest.fixture
def project(tmp_path):
    """A project with a seed, and the model and the tests of the manual."""
    shutil.copytree(ROOT / "dbt", tmp_path / "kech_package")
    for folder in ("seeds", "models"):
        (tmp_path / folder).mkdir()
    (tmp_path / "dbt_project.yml").write_text(PROJECT, "utf-8")
    (tmp_path / "profiles.yml").write_text(PROFILE, "utf-8")
    (tmp_path / "packages.yml").write_text("packages:\n  - local: kech_package\n", "utf-8")
    (tmp_path / "models" / "people_safe.py").write_text(from_manual("python", "def model("), "utf-8")
    (tmp_path / "models" / "schema.yml").write_text(from_manual("yaml", "models:"), "utf-8")
    generate_town(300, seed=2).to_pandas().to_csv(tmp_path / "seeds" / "people.csv", index=False)
    return tmp_path


def run_dbt(project, *words):
    quiet = {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "KECH_HOME": str(project / "home")}
    command = [DBT, "--no-version-check", *words, "--profiles-dir", project]
    return subprocess.run(command, cwd=project, env=os.environ | quiet, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_a_model_is_released_and_tested(project):
    fetched = run_dbt(project, "deps")
    assert fetched.returncode == 0, fetched.stdout
    built = run_dbt(project, "build")
    assert built.returncode == 0, built.stdout
    with duckdb.connect(str(project / "town.duckdb"), read_only=True) as base:
        frame = base.sql("SELECT * FROM people_safe").df()
    kech.testing.assert_k_anonymous(frame, ["age", "zip"], k=5)
    assert kech.check_certificate(project / "people_safe.parquet")["k"] >= 5

    schema = project / "models" / "schema.yml"
    schema.write_text(schema.read_text("utf-8").replace("k: 5", "k: 200"), "utf-8")
    failed = run_dbt(project, "test")
    told = json.loads((project / "target" / "run_results.json").read_text("utf-8"))["results"][0]
    assert failed.returncode == 1
    assert told["status"] == "fail"

"""What is handed out: files, extras, entry points and types.  `make package` builds and installs it for real."""

import ast
import re
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import distribution
from importlib.metadata import version as installed
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from scikit_build_core.build import build_sdist

import as_a_user
import kech
from kech.tables.demo import generate_town, write_csv

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
NEEDED = [(None, text) for text in PROJECT["project"]["dependencies"]]
NEEDED += [(extra, text) for extra, texts in EXTRAS.items() for text in texts]


def pinned(*names):
    """Versions that files of requirements name, the first that names one."""
    texts = [(ROOT / "requirements" / f"{name}.txt").read_text("utf-8") for name in reversed(names)]
    lines = "\n".join(texts).splitlines()
    return {canonical(line.partition("==")[0]): line.partition("==")[2] for line in lines if "==" in line}


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(("extra", "text"), NEEDED)
def test_what_is_needed_is_pinned_and_installed(extra, text):
    need = Requirement(text)
    files = ["core"] if extra is None else ["core", "spark"] if extra == "spark" else ["core", "test"]

    assert need.specifier.contains(pinned(*files)[canonical(need.name)])
    if extra != "spark":  # it has an environment of its own
        assert need.specifier.contains(installed(need.name))


def test_every_extra_that_a_refusal_names_exists_and_every_extra_is_named():
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "src" / "kech").rglob("*.py"))

    assert set(re.findall(r"MissingExtra\([^)]*, \"(\w+)\"\)", sources)) == set(EXTRAS)


BEHIND_AN_EXTRA = {  # modules that are reached only where an extra is at hand, and what they may import
    "audit/comparison/prediction.py": {"sklearn", "threadpoolctl"},
    "audit/pytest_plugin.py": {"pytest"},
    "cuts/target.py": {"sklearn", "threadpoolctl"},
    "release/estimator.py": {"sklearn", "polars"},
    "studio/guard.py": {"starlette"},
    "studio/routes.py": {"starlette"},
    "studio/server.py": {"uvicorn"},
}


def unguarded_imports(tree):
    """The packages that a module imports outside of `try: ... except ImportError` and of what only types need."""
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Try) and any("ImportError" in ast.dump(handler) for handler in node.handlers):
            nodes += [*node.handlers, *node.orelse, *node.finalbody]
        elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def test_everything_that_is_imported_unasked_is_a_dependency():
    """The suite's environment has every extra, so that a forgotten dependency is seen only by who installs kech."""
    known = {Requirement(text).name.replace("-", "_") for text in PROJECT["project"]["dependencies"]}
    known |= {"kech", *sys.stdlib_module_names}
    package = ROOT / "src" / "kech"
    found = {
        path.relative_to(package).as_posix(): {*unguarded_imports(ast.parse(path.read_text("utf-8")))} - known
        for path in package.rglob("*.py")
    }

    assert {name: unknown for name, unknown in found.items() if unknown} == BEHIND_AN_EXTRA


def test_the_installed_package_says_what_the_project_says():
    held = distribution("kech")

    assert held.version == PROJECT["project"]["version"] == kech.__version__
    assert set(held.metadata.get_all("Provides-Extra")) == set(EXTRAS)
    assert [(entry.name, entry.value) for entry in held.entry_points] == [("kech", "kech.__main__:main")]


@pytest.mark.parametrize(("name", "author"), [("nanobind", "Wenzel Jakob"), ("robin_map", "Goetghebuer-Planchon")])
def test_licences_of_what_is_compiled_in_are_handed_out(name, author):
    """BSD and MIT ask for their text beside the machine code."""
    (licence,) = (path for path in distribution("kech").files if path.match(f"*.dist-info/licenses/{name}/LICENSE"))
    words = licence.read_text().split()

    assert author in " ".join(words) and "LIABILITY," in words
    assert not {"*", "*/", "#ifndef"} & {*words}


def test_the_package_runs_as_a_module():
    ran = subprocess.run([sys.executable, "-m", "kech", "--version"], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == kech.__version__


def test_the_source_distribution_holds_what_a_build_needs_and_nothing_built(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    with tarfile.open(tmp_path / build_sdist(str(tmp_path))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    package = {str(path.relative_to(ROOT)) for path in committed("src/kech")}
    assert package <= names
    assert {"CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "PKG-INFO"} <= names
    assert not {name for name in names if re.search(r"\.(so|pyc)$|(^|/)(build|\.venv|kech-demo|results)/", name)}


def test_the_package_holds_types_pages_and_no_tests():
    excluded = PROJECT["tool"]["scikit-build"]["wheel"]["exclude"]
    package = [path.relative_to(ROOT / "src") for path in committed("src/kech")]
    held = {str(path) for path in package if not any(path.match(pattern) for pattern in excluded)}

    assert {"kech/py.typed", "kech/__init__.pyi", "kech/_kernels.pyi", "kech/views/report/style.css"} <= held
    pages = {f"kech/studio/pages/{path.name}" for path in (ROOT / "src/kech/studio/pages").iterdir() if path.is_file()}
    assert pages and pages <= held
    assert {Path(name).suffix for name in held} <= {".py", ".pyi", ".typed", ".css", ".js", ".html", ".svg"}
    assert not {name for name in held if re.match(r"test_|conftest", Path(name).name)}


CONDA = {"duckdb": "python-duckdb"}  # names that differ there: https://github.com/conda-forge/python-duckdb-feedstock


def test_the_conda_recipe_and_the_citation_say_what_the_project_says():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text("utf-8")
    needs = [Requirement(text) for text in PROJECT["project"]["dependencies"]]
    wanted = {f"{CONDA.get(need.name, need.name)} {need.specifier}" for need in needs}
    wanted.add(f"python {PROJECT['project']['requires-python']}")

    assert set(re.findall(r"^    - (.+)$", recipe.partition("  run:\n")[2].partition("\n\n")[0], re.M)) == wanted
    for text in (recipe, (ROOT / "CITATION.cff").read_text("utf-8")):
        assert re.search(r"^ *version: ([\d.]+)$", text, re.M).group(1) == PROJECT["project"]["version"]
        assert PROJECT["project"]["license"] in re.findall(r"^ *license: (.+)$", text, re.M)


def test_what_wheels_are_tested_with_exists():
    tested = re.findall(
        r"\"(\w+)\"", (ROOT / "wheels" / "test.py").read_text("utf-8").partition("CORE = (")[2].partition(")")[0]
    )

    assert len(tested) > 10
    assert [name for name in tested if not (ROOT / "tests" / f"test_{name}.py").exists()] == []


def committed(folder):
    """Files that git knows; ignored ones are in no wheel."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in listed.stdout.splitlines()]


def test_code_as_a_user_writes_it_runs(tmp_path):
    pd = pytest.importorskip("pandas")
    path, target = write_csv(generate_town(60), tmp_path / "town.csv"), tmp_path / "safe.csv"
    with as_a_user.open_town(path) as table:
        k = as_a_user.cheapest_k(table)
        assert as_a_user.publish(table, k, target)["k"] >= k == 3
        highest, roles = as_a_user.look(table, target)
        assert highest <= 1 / 3
        assert "sensitive" in roles
        as_a_user.draw(table, tmp_path / "spectrum.svg")
        with pytest.raises((TypeError, kech.errors.KechError, AttributeError)):
            as_a_user.mistaken(table)
    assert as_a_user.refused(path).startswith("2: There is no column 'agee'. Did you mean 'age'?")
    assert len(as_a_user.generalize(pd.read_csv(path)[as_a_user.COLUMNS])) == 60

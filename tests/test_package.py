"""Built, installed and used in fresh environments: `make package`.  Needs an index of packages and a compiler."""

import json
import re
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest
from scikit_build_core.build import build_sdist

from kech.tables.demo import generate_town, write_csv

pytestmark = pytest.mark.package

ROOT = Path(__file__).parents[1]
ALL_EXTRAS = "excel,plot,postgres,sklearn,spark,studio,topology"


def call(*words, **options):
    """Run a program, and show what it said where it fails."""
    ran = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    assert ran.returncode == 0, f"{words}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def environment(folder, *packages):
    """A fresh environment with these packages; its folder of programs."""
    call(sys.executable, "-m", "venv", folder)
    programs = folder / "bin"
    call(programs / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages)
    return programs


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return folder / build_sdist(str(folder))


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """The wheel of the source distribution, built in isolation by what pyproject.toml names."""
    folder = tmp_path_factory.mktemp("wheel")
    programs = environment(folder / "builder", "pip")
    call(programs / "python", "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, sdist)
    (built,) = folder.glob("kech-*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory):
    """An environment where somebody typed: pip install 'kech[studio]'."""
    return environment(tmp_path_factory.mktemp("user") / "v", f"kech[studio] @ {wheel.as_uri()}")


def test_the_wheel_is_made_from_the_source_alone(sdist, wheel):
    with tarfile.open(sdist) as archive, zipfile.ZipFile(wheel) as made:
        sources = {name.partition("/src/")[2] for name in archive.getnames() if "/src/kech/" in name}
        held = set(made.namelist())
    pages = {name for name in sources if name.startswith("kech/studio/pages/") and "." in name}

    assert pages and pages <= held
    assert {"kech/py.typed", "kech/__init__.pyi", "kech/views/report/style.css"} <= held
    assert {name for name in sources if name.endswith((".py", ".pyi"))} <= held
    assert [name for name in held if re.fullmatch(r"kech/_kernels\..*\.so", name)]
    assert not {name for name in held if re.search(r"(^|/)tests?/|test_|\.(cpp|hpp)$", name)}
    assert {name.partition("/")[0] for name in held} == {"kech", f"kech-{wheel.name.split('-')[1]}.dist-info"}


def test_all_extras_resolve(programs, wheel):
    wish = f"kech[{ALL_EXTRAS}] @ {wheel.as_uri()}"
    report = call(programs / "python", "-m", "pip", "install", "-q", "--dry-run", "--report", "-", wish)
    found = {item["metadata"]["name"].lower() for item in json.loads(report)["install"]}

    assert {"matplotlib", "scikit-learn", "ripser", "psycopg", "python-calamine"} <= found


def test_a_stranger_releases_and_verifies(programs, tmp_path):
    write_csv(generate_town(200), tmp_path / "town.csv")
    there = {"cwd": tmp_path, "env": {"KECH_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}}
    call(programs / "kech", "inspect", "town.csv", "--plan", "kech.toml", **there)
    call(programs / "kech", "release", "town.csv", "--plan", "kech.toml", "--k", "3", "-o", "safe.csv", **there)
    told = call(programs / "python", "-m", "kech", "verify", "safe.csv", "--json", **there)

    assert json.loads(told)["k"] >= 3


def test_an_extra_that_is_not_installed_is_named(programs):
    asked = "import kech\ntry: kech.Anonymizer\nexcept kech.errors.MissingExtra as refusal: print(refusal)"

    assert "pip install 'kech[sklearn]'" in call(programs / "python", "-c", asked)


def test_the_studio_of_the_wheel_serves_its_pages(programs, tmp_path):
    words = [programs / "kech", "studio", "--no-browser", "--json", "-o", tmp_path]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        try:
            address = json.loads(running.stdout.readline())["address"]
            assert "<title>" in fetch(address)
        finally:
            running.terminate()


def fetch(address, patience=10):
    """A page, as soon as it is served."""
    for _ in range(patience):
        try:
            with urllib.request.urlopen(address) as answer:
                return answer.read().decode()
        except urllib.error.URLError:
            time.sleep(0.5)
    raise AssertionError("the studio did not answer")


def test_the_types_are_those_a_user_sees(programs, tmp_path):
    mypy = re.search(r"^mypy==.*$", (ROOT / "requirements" / "test.txt").read_text("utf-8"), re.M).group()
    call(programs / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", mypy)
    code = tmp_path / "as_a_user.py"
    code.write_bytes((ROOT / "tests" / "as_a_user.py").read_bytes())

    assert "Success" in call(programs / "mypy", "--strict", code, cwd=tmp_path)

"""What every test stands on: a temporary folder of its own, and kech as a user runs it."""

import csv
import json
import os
import signal
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kech.cli import main
from servers import end_spark, find_spark, running_cluster, running_postgres

SHARE_OF_EXAMPLES = 4  # one of so many is drawn in `make test`
needs_posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no owners, modes and pipes of files")
FIXED_SECRET = "kech-key-7e424b32a6aedc78954fa1c102022041dec56da03dd2e2718beecf76ea5f3de1-46762f33"


def pytest_addoption(parser):
    parser.addoption("--all-examples", action="store_true", help="draw every example of a law (make test-long)")


def pytest_configure(config):
    """Every run draws the same examples, and a shared machine may pause at any time.  Spark is tested without them."""
    if config.pluginmanager.hasplugin("hypothesispytest"):
        from hypothesis import settings

        settings.register_profile("kech", derandomize=True, deadline=None)
        settings.load_profile("kech")


def pytest_collection_finish(session):
    """`make test` draws some examples of each law of hypothesis, `make test-long` draws all."""
    if session.config.getoption("all_examples"):
        return
    for law in {item.obj for item in session.items if item.get_closest_marker("hypothesis")}:
        from hypothesis import settings

        held = law._hypothesis_internal_use_settings
        few = max(held.max_examples // SHARE_OF_EXAMPLES, 1)
        law._hypothesis_internal_use_settings = settings(held, max_examples=few)


def make_home(folder):
    """A home whose secret is the same in every run, so that every run sees the same labels."""
    place = folder.mktemp("home")
    (place / "secret").touch(mode=0o600)
    (place / "secret").write_text(f"{FIXED_SECRET}\n", "ascii")
    return place


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder(tmp_path_factory):
    """Runs side by side do not see each other's private folders."""
    use_temporary_folder(tmp_path_factory.mktemp("temporary"))


@pytest.fixture(scope="session")
def postgres():
    """The URL of a PostgreSQL server of this run."""
    with running_postgres() as url:
        yield url


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """The master of Spark in threads or on a cluster of this run; the application of another is ended."""
    masters, used = {"spark": "local[2]"}, []

    with ExitStack() as running:

        def use(kind):
            home = find_spark(tmp_path_factory.mktemp("settings"), kind)
            if used[-1:] != [kind]:
                end_spark()
                used.append(kind)
            if kind not in masters:
                masters[kind] = running.enter_context(running_cluster(home, tmp_path_factory.mktemp("cluster")))
            return masters[kind]

        yield use
        if used:
            end_spark()


@pytest.fixture
def heard():
    """Ctrl-C is heard, which workers of pytest are deaf to."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


@pytest.fixture(autouse=True, scope="module")
def own_ledger_of_a_module(tmp_path_factory):
    """What a module releases for all its tests stands in no other ledger."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KECH_HOME", str(make_home(tmp_path_factory)))
        yield


@pytest.fixture(autouse=True, scope="module")
def quick_ledger():
    """Knowing a table again costs nothing; where its cost matters, a module takes this back."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kech.release.ledger.WORK", 2)
        yield


@pytest.fixture(autouse=True)
def own_ledger(own_ledger_of_a_module, tmp_path_factory, monkeypatch):
    """No test knows the releases of another, or of the user."""
    home = make_home(tmp_path_factory)
    monkeypatch.setenv("KECH_HOME", str(home))
    return home


@pytest.fixture
def temporary(tmp_path):
    """The folder for temporary files, of this test alone; kech must leave it empty."""
    before = Path(tempfile.gettempdir())
    folder = tmp_path / "temporary"
    folder.mkdir()
    use_temporary_folder(folder)
    yield folder
    use_temporary_folder(before)
    assert list(folder.iterdir()) == []


def use_temporary_folder(folder):
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


@dataclass(frozen=True)
class Outcome:
    """What a run of kech left on the screen."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """The one object on standard output, or on standard error for a refusal."""
        return json.loads(self.err if self.code else self.out)


@pytest.fixture
def run(capsys, monkeypatch):
    """Run kech with these words, in this process."""
    monkeypatch.delenv("KECH_DEBUG", raising=False)

    def run_kech(*words):
        capsys.readouterr()
        code = 0
        try:
            main([str(word) for word in words])
        except SystemExit as stop:
            code = stop.code
        return Outcome(code, *capsys.readouterr())

    return run_kech


@pytest.fixture
def folder(tmp_path):
    """A folder for sources and targets."""
    place = tmp_path / "folder"
    place.mkdir()
    return place


@pytest.fixture
def refuse(run, folder, temporary):
    """Run kech, see it refuse with this code and these words, and leave every file as it was."""

    def run_refused(*words, code, says):
        before = contents(folder)
        outcome = run(*words)
        assert (outcome.code, outcome.out) == (code, ""), outcome
        assert outcome.err.startswith("kech: ")
        assert "Internal fault" not in outcome.err
        assert says in outcome.err
        assert contents(folder) == before
        assert list(temporary.iterdir()) == []
        return outcome.err

    return run_refused


def contents(folder):
    """Every file below a folder, hidden ones too, with its bytes."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def release(run, folder, temporary):
    """Run `kech release`, see it succeed and verify, and read what it wrote: column -> cells."""

    def run_release(source, *words, k=2, target="released.csv"):
        outcome = run("release", source, "-o", folder / target, "--k", k, *words)
        assert outcome.code == 0, outcome.err
        assert run("verify", folder / target).code == 0
        assert list(temporary.iterdir()) == []
        return read_cells(folder / target)

    return run_release


def read_cells(path):
    """A released file as column -> cells, all text, NULL as nothing."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return {name: [cell or "" for cell in column.cast("string").to_pylist()] for name, column in zip(
            table.column_names, table.columns, strict=True)}  # fmt: skip
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, strict=True)
    rows = [row or [""] for row in rows]
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}

"""The manual tells the truth: every command, option, error and public name is in it."""

import re
import runpy
from pathlib import Path

import pytest

import kech
from kech.cli import app
from kech.tables.demo import generate_town

ROOT = Path(__file__).parents[1]
COMMANDS = [name for name in app if not name.startswith("-")]


def page(name):
    return (ROOT / "docs" / name).read_text("utf-8")


def options(command):
    arguments = app[command].assemble_argument_collection()
    return {name for argument in arguments for name in argument.names if name.startswith("-")}


def errors():
    found, todo = set(), [kech.errors.KechError]
    while todo:
        kind = todo.pop()
        todo += kind.__subclasses__()
        found |= {kind} if kind.__module__ == "kech.errors" else set()
    return sorted(found, key=lambda kind: kind.__name__)


def test_there_are_commands():
    assert set(COMMANDS) == {
        "inspect",
        "spectrum",
        "barcode",
        "lattice",
        "zigzag",
        "hierarchy",
        "preview",
        "release",
        "verify",
        "demo",
        "risk",
        "attack",
        "studio",
        "ledger",
        "report",
        "compare",
        "completion",
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_is_documented(command):
    assert f"## `kech {command}" in page("cli.md")
    assert not {name for name in options(command) if f"`{name}`" not in page("cli.md")}


def test_no_option_is_documented_that_does_not_exist():
    known = {name for command in COMMANDS for name in options(command)} | {"--help", "--version"}
    assert not set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", page("cli.md"))) - known - {"-o"}


@pytest.mark.parametrize("name", kech.__all__)
def test_every_public_name_exists_and_is_documented(name):
    assert getattr(kech, name) is not None
    assert f"`kech.{name}" in page("api.md")


@pytest.mark.parametrize("kind", errors(), ids=lambda kind: kind.__name__)
def test_every_error_is_documented_with_its_exit_code(kind):
    assert re.search(rf"^\| `{kind.__name__}` \| {kind.exit_code} \|", page("errors.md"), re.M)
    assert kind.__name__ in kech.errors.__doc__


@pytest.mark.parametrize("path", [ROOT / "README.md", *(ROOT / "docs").glob("*.md")], ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text("utf-8")):
        assert (path.parent / target).exists(), target


def test_no_host_names_of_registries_are_committed():
    for path in [*(ROOT / "requirements").iterdir(), ROOT / "pyproject.toml", ROOT / "Makefile"]:
        assert not re.search(r"https?://|index-url", path.read_text("utf-8")), path


def test_the_plan_of_the_manual_is_a_plan(tmp_path):
    (example,) = re.findall(r"```toml\n(.*?)```", page("plan.md"), re.S)
    (tmp_path / "kech.toml").write_text(example, "utf-8")
    plan = kech.read_request(tmp_path / "kech.toml")
    assert plan.goal.k == 5
    assert plan.axes["schooling"].order == ("primary", "secondary", "bachelor")


def test_pictures_are_drawn_by_the_code_of_today(tmp_path, monkeypatch):
    pytest.importorskip("ripser")
    pytest.importorskip("matplotlib")
    pictures = ROOT / "docs" / "pictures"
    script = runpy.run_path(str(pictures / "draw.py"))
    monkeypatch.setitem(script["main"].__globals__, "HERE", tmp_path)
    script["main"]()

    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in pictures.glob("*.svg")}
    for path in tmp_path.iterdir():
        assert words_of(path) == words_of(pictures / path.name)


def words_of(picture):
    """What stands in a picture, and how many shapes it has."""
    text = picture.read_text("utf-8")
    return re.findall(r"<(?:text|title)[^>]*>([^<]*)<", text), text.count("<path")


def test_the_figures_of_mixed_data_are_computed_again():
    columns = ["age", "moved_in", "sex"]
    with kech.read_table(generate_town(400), quasi_identifiers=columns) as table:
        lattice = kech.compute_lattice(table)
        regimes = kech.compute_barcode(table, max_dimension=0).regimes("strict", 5)
        (local,) = kech.compute_spectrum(table, k=[5]).rows()
    lines = []
    for k, suppress in ((5, 0.0), (10, 0.0), (5, 0.05)):
        node = lattice.best(k, suppress)
        goal = f"{k}, up to 5 % left out" if suppress else str(k)
        levels = ",".join(map(str, node.levels))
        lines.append(f"| {goal} | {levels} | {node.classes} | {node.suppressed} | {node.loss:.4f} |")

    assert all(line in page("mixed.md") for line in lines)
    assert f"\n{lattice.nodes} nodes; the best ones" in page("mixed.md")
    assert [(regime.start, regime.classes) for regime in regimes] == [(0.5, 1)]
    assert f"loss {local['loss']:.2f} at k = 5" in page("mixed.md")

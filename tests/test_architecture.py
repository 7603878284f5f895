"""The rooms of docs/architecture.md: imports point only towards the table."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "kech"
PAGE = SOURCE.parents[1] / "docs" / "architecture.md"
MODULES = sorted(SOURCE.rglob("*.py"))


def room(path: Path) -> str:
    """engines/duckdb.py lives in engines, axes.py in axes."""
    inside = path.relative_to(SOURCE)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def allowed() -> dict[str, set[str]]:
    """The table of rooms in docs/architecture.md: name -> rooms it may import."""
    rows = re.findall(r"^\| `([a-z_]+)(?:\.py|/)` \|[^|]*\|([^|]*)\|$", PAGE.read_text("utf-8"), re.M)
    return {name: set(re.findall(r"[a-z_]+", imports)) for name, imports in rows}


def imported(path: Path) -> set[str]:
    """Rooms a module imports, at the top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "kech":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("kech.")}
            found |= {"kech" for alias in node.names if alias.name == "kech"}
    return found - {room(path)}


def test_every_room_is_in_the_table():
    assert {room(path) for path in MODULES} - {"__init__", "__main__"} == set(allowed()) - {"_kernels"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_follow_the_table(path):
    if room(path) not in ("__init__", "__main__"):
        assert imported(path) <= allowed()[room(path)]


def test_no_room_imports_a_later_one():
    order = list(allowed())
    for name, imports in allowed().items():
        assert imports <= {*order[: order.index(name)], "kech"}, name


def test_the_checker_shares_nothing_with_the_maker():
    assert allowed()["certificate"] == {"errors"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_functions_are_small(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef) and room(path) != "cli":
            body = node.end_lineno - node.body[0].lineno + 1
            assert body <= 40, f"{node.name} has {body} lines"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_prints_but_the_screen(path):
    if room(path) != "screen":
        calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        assert not [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]

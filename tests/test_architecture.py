"""The packages of docs/architecture.md: imports point only towards the table."""

import ast
import re
from inspect import isfunction, signature
from pathlib import Path

import pytest

import kech

SOURCE = Path(__file__).parents[1] / "src" / "kech"
PAGE = SOURCE.parents[1] / "docs" / "architecture.md"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_ENTRIES = 16
MOST_PARAMETERS = 8
MOST_WORDS = 45  # of a line on where to change what
MOST_INTERNAL_NAMES = 120
MOST_VAGUE_NAMES = 0  # of variables and fields
VERBS = {"embed", "table"}  # verbs and nouns that look like participles
VAGUE = {"found", "told", "held", "made", "asked", "said", "given", "wanted"}  # they do not say what a thing is
ROOT = ("__init__", "__main__")


def package(path: Path) -> str:
    """tables/duckdb.py belongs to tables, spectrum.py to spectrum."""
    inside = path.relative_to(SOURCE)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def allowed() -> dict[str, set[str]]:
    """The table of packages in docs/architecture.md: name -> packages it may import."""
    rows = re.findall(r"^\| `([a-z_]+)(?:\.py|/)` \|[^|]*\|([^|]*)\|$", PAGE.read_text("utf-8"), re.M)
    return {name: set(re.findall(r"[a-z_]+", imports)) for name, imports in rows}


def imported(tree: ast.AST) -> set[str]:
    """Packages that a piece of code imports, at its top or inside a function."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "kech":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("kech.")}
            found |= {"kech" for alias in node.names if alias.name == "kech"}
    return found


def imported_to_draw(tree: ast.AST) -> set[str]:
    """A result draws itself by a view, which it imports inside a function."""
    inside = {node for scope in ast.walk(tree) if isinstance(scope, ast.FunctionDef) for node in ast.walk(scope)}
    at_top = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node not in inside}
    return set() if any(name and name.startswith("kech.views") for name in at_top) else {"views"}


def test_few_entries_and_each_in_the_table():
    entries = {package(path) for path in MODULES} - {*ROOT}

    assert entries == set(allowed()) - {"_kernels"}
    assert len(allowed()) <= MOST_ENTRIES


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_follow_the_table(path):
    if package(path) not in ROOT:
        tree = ast.parse(path.read_text("utf-8"))
        assert imported(tree) - imported_to_draw(tree) - {package(path)} <= allowed()[package(path)]


def test_no_package_imports_a_later_one():
    order = list(allowed())
    for name, imports in allowed().items():
        assert imports <= {*order[: order.index(name)], "kech"}, name


def test_where_to_change_what_names_what_exists():
    """Each file or folder of the table and its lists is there; each function stands in one of the files of its line."""
    part = PAGE.read_text("utf-8").partition("## Where to change what")[2].partition("\n## ")[0]
    lines = re.findall(r"^\|[^|]*\|(.*)\|$|^(?:- |\d\. )(.*)$", part, re.M)
    assert len(lines) > 20
    for line in map("".join, lines):
        assert len(line.split()) <= MOST_WORDS
        names = re.findall(r"`([\w./]+)`", line)
        files = [SOURCE / name for name in names if "/" in name or name.endswith(".pyi")]
        assert [file for file in files if not file.exists()] == []
        text = "".join(file.read_text("utf-8") for file in files if file.is_file())
        functions = [name for name in names if "/" not in name and not name.endswith((".py", ".pyi"))]
        assert [name for name in functions if name not in text] == []


def test_the_checker_shares_nothing_with_the_maker():
    assert allowed()["certificate"] == {"errors"}


@pytest.mark.parametrize("name", [name for name in kech.__all__ if name != "errors"])
def test_no_public_function_has_more_than_eight_parameters(name):
    """Functions, and methods of public classes; only kech itself makes results, but everybody an Anonymizer."""
    public = getattr(kech, name)
    methods = [each for method, each in vars(public).items() if isfunction(each) and not method.startswith("_")]
    for each in [public] if isfunction(public) or name == "Anonymizer" else methods:
        assert len([one for one in signature(each).parameters if one != "self"]) <= MOST_PARAMETERS, each


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_functions_are_small(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef) and package(path) != "cli":
            body = node.end_lineno - node.body[0].lineno + 1
            assert body <= 40, f"{node.name} has {body} lines"


def variables(tree: ast.AST) -> set[str]:
    """Names that a piece of code gives to variables, parameters and fields."""
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    fields = {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    return stored | fields | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def test_variables_are_named_by_nouns():
    scopes = [
        (f"{path.relative_to(SOURCE)}: {scope.name}", variables(scope) & VAGUE)
        for path in MODULES
        for scope in ast.parse(path.read_text("utf-8")).body
        if isinstance(scope, ast.FunctionDef | ast.ClassDef)
    ]
    vague = [(place, sorted(names)) for place, names in scopes if names]
    assert sum(len(names) for _, names in vague) <= MOST_VAGUE_NAMES, vague


def is_property(function: ast.FunctionDef) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


def test_no_function_is_a_bare_participle():
    """A function says what it does; a property may say what a thing is."""
    functions = [
        (str(path.relative_to(SOURCE)), node.name)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and not is_property(node)
    ]
    participle = re.compile(r"_?([a-z]+(ed|able)|told|held|made|found|kept|shown)")
    bare = [(place, name) for place, name in functions if participle.fullmatch(name) and name not in VERBS]
    assert bare == []


def test_no_two_classes_have_one_name():
    """A stranger who searches for a class finds one."""
    classes = [
        node.name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    assert len(classes) > 200
    assert sorted({name for name in classes if classes.count(name) > 1}) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_prints_but_views(path):
    if package(path) != "views":
        calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        assert not [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]


def internal_names(tree: ast.AST) -> set[tuple[str, str]]:
    """What a test imports from kech besides public names and errors."""
    found: set[tuple[str, str]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kech":
            found |= {(node.module or "", alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names if alias.name.startswith("kech.")}
    public = {("kech", name) for name in kech.__all__}
    return {(module, name) for module, name in found - public if module != "kech.errors"}


def test_tests_speak_through_public_names():
    pages = [ast.parse(path.read_text("utf-8")) for path in sorted(Path(__file__).parent.glob("*.py"))]
    assert len(set().union(*map(internal_names, pages))) <= MOST_INTERNAL_NAMES

"""The manual tells the truth: every command, option, error and public name is in it, and every link leads somewhere."""

import json
import re
import runpy
import tomllib
from functools import cache
from pathlib import Path

import pytest
from examples import BLOCK
from reference import describe_options, describe_refusals, list_public_names, refusals, shown_arguments

import kech
from kech.cli import app
from kech.request import reference
from kech.tables.demo import generate_town

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
COMMANDS = [name for name in app if not name.startswith("-")]
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md")), *sorted(DOCS.rglob("*.ipynb"))]
OF_OTHERS = {"--showlocals"}  # options of other programs that the manual names


def page(name):
    return (DOCS / name).read_text("utf-8")


@cache
def options(command):
    arguments = app[command].assemble_argument_collection()
    return {name for argument in arguments for name in argument.names if name.startswith("-")}


def test_there_are_commands():
    assert set(COMMANDS) == {
        "inspect",
        "spectrum",
        "barcode",
        "profile",
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
        "series",
        "report",
        "compare",
        "twin",
        "completion",
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_page_with_its_options(command):
    text = page(f"reference/commands/{command}.md")
    assert text.startswith(f"# kech {command}\n\n```{{command}} {command}\n```\n")
    assert text.endswith(f"## Options\n\n```{{options}} {command}\n```\n")
    assert f"\n{command}\n" in page("reference/commands/index.md")
    described = describe_options(command)
    for argument in shown_arguments(app[command]):
        assert argument.parameter.help, argument.names
        assert not [name for name in argument.names if f"`{name}`" not in described]


def test_no_page_is_about_a_command_that_does_not_exist():
    assert {path.stem for path in (DOCS / "reference/commands").glob("*.md")} == {*COMMANDS, "index"}


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: str(path.relative_to(DOCS)))
def test_no_option_is_documented_that_does_not_exist(path):
    known = {name for command in COMMANDS for name in options(command)} | {"--help", "--version"} | OF_OTHERS
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", path.read_text("utf-8")))
    assert not named - known


public_names = cache(list_public_names)


@pytest.mark.parametrize("name", kech.__all__)
def test_every_public_name_exists_and_is_documented(name):
    assert getattr(kech, name) is not None
    assert "```{public-names}\n```" in page("reference/python.md")
    assert f":: kech.{name}\n" in public_names() or f"`kech.{name}`" in page("reference/python.md")


@pytest.mark.parametrize("kind", refusals(), ids=lambda kind: kind.__name__)
def test_every_error_is_documented_with_its_exit_code(kind):
    code = getattr(kind, "exit_code", "none")
    assert "```{refusals}\n```" in page("reference/errors.md")
    assert re.search(rf"^\| `{kind.__name__}` \| `\w+` \| {code} \| \S", describe_refusals(), re.M)
    assert kind.__doc__
    assert kind.__name__ in kech.errors.__doc__


# Links


@cache
def anchors(path):
    """The anchors of headings, as readers of Markdown expect them."""
    prose = BLOCK.sub("", text_of(path))
    plain = [re.sub(r"[^\w\- ]", "", title.lower()) for title in re.findall(r"^#+ (.*)$", prose, re.M)]
    return {title.strip().replace(" ", "-") for title in plain}


def text_of(path):
    """The words of a page with what it includes, or of the cells of a notebook."""
    text = path.read_text("utf-8")
    text += "".join((path.parent / name).read_text("utf-8") for name in re.findall(r"^```{include} (\S+)$", text, re.M))
    if path.suffix == ".ipynb":
        return "\n".join(
            "".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"
        )
    return text


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", path.read_text("utf-8"))):
        target, _, anchor = link.partition("#")
        if ":" not in target:
            found = (path.parent / target) if target else path
            assert found.exists(), link
            assert not anchor or anchor in anchors(found), link


def test_every_page_that_the_source_names_exists():
    sources = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".pyi", ".hpp", ".cpp", ".js")]
    texts = [path.read_text("utf-8") for path in sources]
    named = {name.rstrip(".") for text in texts for name in re.findall(r"\bdocs/[\w./-]+", text)}
    assert len(named) > 3
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def test_every_page_is_in_the_menu():
    listed = {DOCS / "index.md"}
    for path in DOCS.rglob("*.md"):
        for names in re.findall(r"```\{toctree\}\n(?::.*\n)*\n(.*?)```", path.read_text("utf-8"), re.S):
            listed |= {(path.parent / name).resolve() for name in names.split()}
    listed = {path.with_suffix("") for path in listed}
    assert {path.with_suffix("") for path in PAGES if path.is_relative_to(DOCS)} == listed


# Style


def own_pages():
    """Pages written by hand for readers; docs/architecture.md is a table that a test reads."""
    return [path for path in sorted(DOCS.rglob("*.md")) if path.name != "architecture.md"]


def paragraphs(text):
    """Paragraphs and items of lists, without code, headings, tables and pictures."""
    for part in re.split(r"\n\s*\n", BLOCK.sub("", text)):
        if not part.lstrip("\n").startswith(("    ", "#", "|", "!")):
            yield from re.split(r"\n(?=\s*(?:[-*]|\d+\.) )", part.strip("\n"))


@pytest.mark.parametrize("path", own_pages(), ids=lambda path: str(path.relative_to(DOCS)))
def test_a_paragraph_has_at_most_five_lines_of_100_letters(path):
    long = [part for part in paragraphs(path.read_text("utf-8")) if len(" ".join(part.split())) > 500]
    assert [part for part in long if '{"' not in part] == []  # the shape of a JSON object is one word


@pytest.mark.parametrize("path", own_pages(), ids=lambda path: str(path.relative_to(DOCS)))
def test_a_cell_of_a_table_has_at_most_one_sentence(path):
    rows = re.findall(r"^\|.*\|$", BLOCK.sub("", path.read_text("utf-8")), re.M)
    assert [cell for row in rows for cell in row.split("|") if re.search(r"[.!?] [A-Z]", cell)] == []


def test_the_readme_states_the_price_of_protected_labels_as_it_was_measured():
    measured = json.loads((ROOT / "benchmarks" / "results" / "held_out.json").read_text("utf-8"))["parts"].values()
    lines = [line for part in measured for line in part]
    prices = [line["figure"] for line in lines if line["what"] == "loss of protect full over exact, k = 5"]
    readme = (ROOT / "README.md").read_text("utf-8")
    ((least, most),) = re.findall(r"At k = 5 that costs ([\d.]+) to ([\d.]+) times", readme)
    assert len({line["table"] for line in lines if "exact" in line["what"]}) > 4
    assert (least, most) == (f"{min(prices):.1f}", f"{max(prices):.1f}")


def test_the_manual_is_short():
    words = [word for path in own_pages() for word in path.read_text("utf-8").split() if re.search(r"\w", word)]
    assert len(words) <= 32_000  # the bars of a table and signs are no words


# What the pages show


def test_no_host_names_of_registries_are_committed():
    for path in [*(ROOT / "requirements").iterdir(), ROOT / "pyproject.toml", ROOT / "Makefile"]:
        assert not re.search(r"https?://|index-url", path.read_text("utf-8")), path


def test_the_plan_of_the_manual_is_a_plan(tmp_path):
    (example,) = re.findall(r"```toml\n(.*?)```", page("reference/plan.md"), re.S)
    (tmp_path / "kech.toml").write_text(example, "utf-8")
    plan = kech.read_request(tmp_path / "kech.toml")
    assert plan.goal.k == 5
    assert plan.axes["schooling"].order == ("primary", "secondary", "bachelor")
    parts = (
        plan.columns,
        plan.goal,
        plan.cut,
        plan.labels,
        plan.input,
        plan.series,
        plan.limits,
        *plan.axes.values(),
    )
    assert [name for part in parts for name in part.__struct_fields__ if not re.search(rf"\b{name}\b", example)] == []


def test_the_plan_of_the_manual_has_every_choice_and_every_default():
    forms = reference.describe_forms()["fields"]
    (example,) = re.findall(r"```toml\n(.*?)```", page("reference/plan.md"), re.S)
    lines = {
        "axes." * section.startswith("axes.") + name: line
        for section in reversed(re.split(r"^\[", example, flags=re.M))  # the first line of a field counts
        for name, line in re.findall(r"^(\w+) = (.*)", section, re.M)
    }
    choices = {name: forms[name]["choices"] for name in lines.keys() - {"axes.grid"} if forms[name]["choices"]}
    assert [name for name, words in choices.items() if not all(word in lines[name] for word in words)] == []
    usual = {name: forms[name]["default"] for name in lines.keys() - {"weights"}}
    usual = {name: default for name, default in usual.items() if default is not None}
    assert {name: tomllib.loads(f"_ = {lines[name]}")["_"] for name in usual} == usual
    assert (len(choices) > 12, len(usual) > 18) == (True, True)


def test_pictures_are_drawn_by_the_code_of_today(tmp_path, monkeypatch):
    pytest.importorskip("ripser")
    pictures = DOCS / "pictures"
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

    assert all(line in page("explanation/mixed.md") for line in lines)
    assert f"\n{lattice.nodes} nodes; the best ones" in page("explanation/mixed.md")
    assert [(regime.start, regime.classes) for regime in regimes] == [(0.5, 1)]
    assert f"loss {local['loss']:.2f} at k = 5" in page("explanation/mixed.md")

"""The manual as a site: it builds, every link leads somewhere, nothing is loaded from elsewhere, every example runs."""

import ast
import inspect
import re
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import build
import cells
import examples
import pytest
import rooms
from prose import render, render_docstring
from reference import commands, shown_arguments

import kech
from kech.cli import app

ROOT = Path(__file__).parents[1]
TESTS = Path(__file__).parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
CLAIMS = sorted((ROOT / "docs" / "claims").glob("*.md"))
ELSEWHERE = re.compile(r"^(?:[a-z]+:)?//|^(?:https?|ftp):", re.I)


class Reader(HTMLParser):
    """Anchors, links and everything that a page loads."""

    def __init__(self):
        super().__init__()
        self.anchors, self.links, self.loaded = [], [], []

    def handle_starttag(self, tag, attributes):
        held = dict(attributes)
        self.anchors += [held["id"]] if "id" in held else []
        if tag == "a":
            self.links.append(held["href"])
        self.loaded += [held[name] for name in ("src", "srcset", "data", "poster") if held.get(name)]
        self.loaded += [held["href"]] if tag in ("link", "use", "image") and held.get("href") else []
        self.loaded += re.findall(r"url\(['\"]?([^)'\"]+)", held.get("style") or "")


def read(path):
    reader = Reader()
    reader.feed(path.read_text("utf-8"))
    return reader


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    target = tmp_path_factory.mktemp("site") / "site"
    build.main(target)
    return target


@pytest.fixture(scope="module")
def pages(site):
    return {path: read(path) for path in sorted(site.rglob("*.html"))}


# The site


def test_every_page_of_the_manual_is_in_the_site(site):
    sources = [path for ending in ("md", "ipynb") for path in (ROOT / "docs").rglob(f"*.{ending}")]
    sources += [ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
    for source in sources:
        assert (site / build.address_of(str(source.relative_to(ROOT)))).is_file(), source


def test_every_section_has_pages(site):
    menu = (site / "index.html").read_text("utf-8")
    for section in build.SECTIONS:
        assert f"<h2>{section}</h2><ul><li>" in menu


def test_every_link_and_anchor_leads_somewhere(pages):
    followed = 0
    for path, page in pages.items():
        for link in page.links:
            if ELSEWHERE.match(link) or link.startswith("mailto:"):
                continue
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            assert target.is_file(), (path.name, link)
            assert not anchor or anchor in pages[target].anchors, (path.name, link)
            followed += 1
    assert followed > 500


def test_no_anchor_stands_twice(pages):
    for path, page in pages.items():
        assert len(page.anchors) == len(set(page.anchors)), path


def test_nothing_is_loaded_from_elsewhere(site, pages):
    for path, page in pages.items():
        for target in page.loaded:
            assert not ELSEWHERE.match(target), (path, target)
            assert target.startswith("data:") or (path.parent / target).is_file(), (path, target)
    for path in [*site.glob("*.css"), *site.rglob("*.js"), *site.rglob("*.svg")]:
        text = path.read_text("utf-8")
        assert not re.search(r"@import|url\(\s*['\"]?(?:https?:)?//|fetch\(|XMLHttpRequest|WebSocket", text), path
        assert not re.search(r"(?:src|href)=['\"](?:https?:)?//", text), path


def test_a_page_that_loads_from_elsewhere_would_be_seen():
    page = Reader()
    page.feed('<img src="https://a.b/c.png"><link href="//a.b/c.css"><p style="background: url(http://a.b/c)">')

    assert len([target for target in page.loaded if ELSEWHERE.match(target)]) == 3


def test_a_dead_link_stops_the_build():
    lead = build.leader(ROOT / "docs" / "how.md", {"docs/cli.md": "cli.html"}, set())

    assert lead("cli.md#x") == "cli.html#x"
    with pytest.raises(build.DeadLink, match=r"how.md: nothing\.md"):
        lead("nothing.md")


def test_the_search_knows_every_page(site):
    known = (site / "index.js").read_text("utf-8")
    for path in site.rglob("*.html"):
        assert f'"{path.relative_to(site)}#' in known


def test_headings_have_anchors_as_readers_expect():
    prose = render("# `kech x` and *more*!\n\n## Same\n\n## Same\n")

    assert [(heading.level, heading.anchor) for heading in prose.headings] == [
        (1, "kech-x-and-more"),
        (2, "same"),
        (2, "same-1"),
    ]
    assert '<h2 id="same-1">' in prose.html


def test_a_link_that_shows_a_file_name_shows_a_title(site):
    assert render("# T\n\n[a.md](a.md) [b](b.md)", call=str.upper).html.count("A.MD") == 1
    assert ">Commands</a>" in (site / "studio.html").read_text("utf-8")


def test_html_in_a_page_is_text():
    assert "<script" not in render("# T\n\n<script>alert(1)</script>\n").html
    assert "<img" not in render_docstring("<img src=x>")


# References from the code


def words_of(path):
    """The text of a page, without its marks."""
    return unescape(re.sub(r"<[^>]+>", " ", path.read_text("utf-8")))


def test_every_command_and_option_is_in_the_reference(site):
    text = (site / "reference" / "commands.html").read_text("utf-8")
    found = list(commands(app, ()))

    assert {words[0] for words, _ in found} == {name for name in app if not name.startswith("-")}
    for words, command in found:
        _, part = text.split(f'<h2 id="kech-{"-".join(words)}">')
        part = part.split("<h2 id=")[0]
        for argument in shown_arguments(command):
            for name in argument.names:
                assert f"<code>{name}</code>" in part, (words, name)
            assert argument.parameter.help, (words, argument.names)


def test_every_public_name_is_in_the_reference(site):
    path = site / "reference" / "python.html"
    text, words = path.read_text("utf-8"), words_of(path)
    for name in kech.__all__:
        assert f'id="kech-{name.lower()}"' in text, name
        value = getattr(kech, name)
        if inspect.isclass(value):
            for member, held in vars(value).items():
                if not member.startswith("_") and (inspect.isfunction(held) or isinstance(held, property)):
                    assert re.search(rf"\.{member}\b", words), (name, member)


def test_every_parameter_of_a_public_function_is_in_the_reference(site):
    text = words_of(site / "reference" / "python.html")
    for name in kech.__all__:
        value = getattr(kech, name)
        if inspect.isfunction(value):
            (shape,) = re.findall(rf" {name}\((.*?)\) -> ", text, re.S)
            for parameter in inspect.signature(value).parameters:
                assert re.search(rf"\b{parameter}: ", shape), (name, parameter)


def test_every_error_is_in_the_reference(site):
    text = (site / "reference" / "python.html").read_text("utf-8")
    held = [kind for kind in vars(kech.errors).values() if isinstance(kind, type)]
    kinds = [kind for kind in held if kind.__module__ == "kech.errors"]

    assert len(kinds) > 20
    for kind in kinds:
        row = f"<td><code>{kind.__name__}</code></td><td><code>{kind.__bases__[0].__name__}</code></td>"
        assert f"{row}<td>{getattr(kind, 'exit_code', '')}</td>" in text  # a warning has none


# The picture of the rooms


def test_every_room_and_every_way_up_is_in_the_picture(site):
    page = ROOT / "docs" / "architecture.md"
    known = rooms.read_rooms(page)
    drawn = rooms.draw_rooms(known)

    assert drawn in (site / "architecture.html").read_text("utf-8")
    assert len(re.findall(r">[a-z_]+</text>", drawn)) == len(known)
    assert all(f">{name}</text>" in drawn for name in known)


def test_lines_lead_up_and_say_what_the_table_says():
    needs = {"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": {"c"}}

    assert rooms.layer(needs) == [["a"], ["b"], ["c"], ["d"]]
    assert {name: rooms.direct(name, needs) for name in needs} == {"a": set(), "b": {"a"}, "c": {"b"}, "d": {"c"}}
    assert rooms.reached("d", needs) == {"a", "b", "c"}


# Examples


def with_examples():
    """Pages with code; tests/test_paper.py runs the page about the paper."""
    for path in examples.list_pages():
        blocks = [block for block in examples.find_blocks(path.read_text("utf-8")) if block.runs]
        if path.name != "paper.md" and any(block.language in ("python", "sh", "console") for block in blocks):
            yield pytest.param(path, id=str(path.relative_to(ROOT)))


@pytest.mark.parametrize("path", list(with_examples()))
def test_examples_run_and_print_what_the_page_says(path, tmp_path):
    assert examples.run_page(path, tmp_path) > 0


@pytest.mark.parametrize(
    "text",
    [
        "```sh\nkech verify nothing.csv\n```\n",
        "```sh\nls\n```\n",
        "```sh not-run:\nls\n```\n",
        "```console\n$ kech --version\n9.9.9\n```\n",
        "```python\n>>> 1 + 1\n3\n```\n",
        "```python\nassert False\n```\n",
        "kech without a language:\n\n```\nkech nothing\n```\n",
    ],
)
def test_an_example_that_is_wrong_is_found(text, tmp_path, folder):
    (tmp_path / "page.md").write_text(text, "utf-8")
    with pytest.raises((examples.BadExample, AssertionError)):
        examples.run_page(tmp_path / "page.md", folder)


def test_an_example_that_is_marked_is_left_alone(tmp_path, folder):
    (tmp_path / "page.md").write_text("```sh not-run: it needs a printer\nlpr x\n```\n", "utf-8")

    assert examples.run_page(tmp_path / "page.md", folder) == 0


def test_what_commands_print_is_written_down(tmp_path, folder):
    (tmp_path / "page.md").write_text("# T\n\n```console\n$ kech --version\nold\n```\n\nafter\n", "utf-8")
    written = examples.refreshed(tmp_path / "page.md", folder)

    assert written == f"# T\n\n```console\n$ kech --version\n{kech.__version__}\n```\n\nafter\n"


# Notebooks


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_shows_today(path):
    """Where it does not, look at it, then run `make examples`."""
    book = cells.read_notebook(path)
    for cell, outputs in zip(cells.code_cells(book), cells.run_notebook(book), strict=True):
        shown = [{name: held for name, held in output.items() if name != "execution_count"} for output in outputs]
        stored = [{name: h for name, h in output.items() if name != "execution_count"} for output in cell["outputs"]]
        assert shown == stored, "".join(cell["source"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_one_as_jupyter_writes_it(path):
    book = cells.read_notebook(path)
    numbers = [cell["execution_count"] for cell in cells.code_cells(book)]
    names = [cell["id"] for cell in book["cells"]]

    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    assert len(path.read_bytes()) < 40_000


def test_there_are_three_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["coming_from", "nine_rows", "town"]


def test_a_cell_prints_and_shows_its_last_expression():
    class Rich:
        def _repr_html_(self):
            return "<b>x</b>"

        def __repr__(self):
            return "x"

    names = {"Rich": Rich}
    printed, shown = cells.run_cell("y = 1\nprint(y)\nRich()", names)

    assert (printed["text"], names["y"]) == (["1\n"], 1)
    assert shown["data"] == {"text/html": ["<b>x</b>"], "text/plain": ["x"]}
    assert cells.run_cell("None", {}) == cells.run_cell("y = 2", {}) == cells.run_cell("3;", {}) == []
    with pytest.raises(ZeroDivisionError):
        cells.run_cell("1 / 0", {})


# Claims


@cache
def named_in(file):
    return {node.name for node in ast.walk(ast.parse((TESTS / file).read_text("utf-8"))) if hasattr(node, "name")}


@pytest.mark.parametrize("path", CLAIMS, ids=lambda path: path.stem)
def test_a_claim_is_stated_proven_and_held_by_tests_that_exist(path):
    text = path.read_text("utf-8")
    if path.stem == "README":
        assert all(f"({other.name})" in text for other in CLAIMS if other != path)
        return
    assert re.match(r"# Claim: ", text)
    assert [name for name in ("## Statement", "## Proof", "## Held by") if f"\n{name}\n" not in text] == []
    named = re.findall(r"`(test_\w+\.py)::(\w+)`", text)
    assert len(named) >= 4
    assert [pair for pair in named if pair[1] not in named_in(pair[0])] == []

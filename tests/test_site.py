"""The manual as a site: it builds without a warning, loads nothing from elsewhere, and every example runs."""

import ast
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import cells
import examples
import pytest
from reference import as_rst, draw_table, escape, held_by

import kech

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TESTS = Path(__file__).parent
NOTEBOOKS = sorted((DOCS / "tutorials").glob("*.ipynb"))
CLAIMS = sorted((DOCS / "explanation" / "claims").glob("*.md"))
ELSEWHERE = re.compile(r"^(?:[a-z]+:)?//|^(?:https?|ftp):", re.I)


class Reader(HTMLParser):
    """Anchors, links and everything that a page loads."""

    def __init__(self):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []

    def handle_starttag(self, tag, attributes):
        held = dict(attributes)
        self.anchors |= {held["id"]} if "id" in held else set()
        if tag == "a" and "href" in held:
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
    """Built as `make docs` builds it, into another folder."""
    pytest.importorskip("myst_nb", reason="the manual is built with requirements/docs.txt")
    target = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        target / "doctrees",
        DOCS,
        target / "site",
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return target / "site"


@pytest.fixture(scope="module")
def pages(site):
    found = [path for path in site.rglob("*.html") if "_static" not in path.parts]  # the theme's own templates
    return {path: read(path) for path in sorted(found)}


# The site


@pytest.mark.long
def test_every_page_of_the_manual_is_in_the_site(site):
    for source in [path for ending in ("md", "ipynb") for path in DOCS.rglob(f"*.{ending}")]:
        assert (site / source.relative_to(DOCS).with_suffix(".html")).is_file(), source


@pytest.mark.long
def test_every_link_and_anchor_leads_somewhere(pages):
    followed = 0
    for path, page in pages.items():
        for link in page.links:
            if ELSEWHERE.match(link) or link.startswith("mailto:"):
                continue
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            assert target.is_file(), (path.name, link)
            assert not anchor or target not in pages or anchor in pages[target].anchors, (path.name, link)
            followed += 1
    assert followed > 500


@pytest.mark.long
def test_nothing_is_loaded_from_elsewhere(pages):
    for path, page in pages.items():
        for target in page.loaded:
            assert not ELSEWHERE.match(target), (path, target)
            assert target.startswith(("data:", "#")) or (path.parent / target.partition("?")[0]).is_file(), (
                path,
                target,
            )


def test_a_page_that_loads_from_elsewhere_would_be_seen():
    page = Reader()
    page.feed('<img src="https://a.b/c.png"><link href="//a.b/c.css"><p style="background: url(http://a.b/c)">')

    assert len([target for target in page.loaded if ELSEWHERE.match(target)]) == 3


# What the reference is made of


def test_plain_words_are_no_markup():
    text = "A star * and |bars| of `k`, from x_ on.\n\n    f = a * b\n\n>>> 2 * 3\n6"

    assert as_rst(text) == "A star \\* and \\|bars\\| of ``k``, from x\\_ on.\n\n::\n\n    f = a * b\n\n>>> 2 * 3\n6"
    assert escape("[22, 25] or a_b < c; --k 5") == r"\[22, 25\] or a\_b \< c; `--k` 5"


def test_a_cell_may_hold_a_bar_and_a_line_break():
    assert draw_table(("a",), [("x|y\nz",)]) == "| a |\n| --- |\n| x\\|y z |"


# Examples


SLOW_PAGES = {"checks.md", "hospital_python.md"}


def with_examples():
    """Pages with code; tests/test_paper.py runs the page about the paper."""
    for path in examples.list_pages():
        blocks = [block for block in examples.find_blocks(path.read_text("utf-8")) if block.runs]
        if path.name != "paper_examples.md" and any(block.language in ("python", "sh", "console") for block in blocks):
            marks = [pytest.mark.long] if path.name in SLOW_PAGES else []
            yield pytest.param(path, id=str(path.relative_to(ROOT)), marks=marks)


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


def test_there_are_four_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["clinic", "coming_from", "nine_rows", "town"]


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
    if path.stem == "index":
        assert all(f"\n{other.stem}\n" in text for other in CLAIMS if other != path)
        return
    assert re.match(r"# \w", text)
    assert [name for name in ("## Statement", "## Proof") if f"\n{name}\n" not in text] == []
    assert text.endswith(f"\n## Held by\n\n```{{held-by}} {path.stem}\n```\n")
    named = [line.split()[0].split("::") for line in held_by()[path.stem]]
    assert len(named) >= 4
    assert [pair for pair in named if pair[1] not in named_in(pair[0])] == []


def test_every_list_of_tests_belongs_to_a_claim():
    assert {*held_by(), "index"} == {path.stem for path in CLAIMS}

"""Build: the manual as a static site that loads nothing from elsewhere.

usage: python docs/site/build.py [FOLDER]          build/site otherwise
"""

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from os.path import relpath
from pathlib import Path

import cells
import reference
import rooms
from prose import Heading, Prose, render

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DOCS = ROOT / "docs"

SECTIONS = {
    "Start": ("docs/index.md", "docs/why.md", "docs/quickstart.md"),
    "Tutorials": (
        "docs/tutorials/hospital.md",
        "docs/tutorials/hospital_python.md",
        "docs/tutorials/choosing_k.md",
        "docs/notebooks/nine_rows.ipynb",
        "docs/notebooks/town.ipynb",
        "docs/notebooks/coming_from.ipynb",
    ),
    "Understand": ("docs/how.md", "docs/mixed.md", "docs/paper.md", "docs/notation.md"),
    "Use": (
        "docs/cli.md",
        "docs/api.md",
        "docs/plan.md",
        "docs/hierarchies.md",
        "docs/labels.md",
        "docs/checks.md",
        "docs/errors.md",
    ),
    "Reference": ("reference/commands", "reference/python"),
    "Claims": ("docs/claims/README.md", "docs/claims/*.md"),
    "Measured": ("docs/performance*.md", "docs/attacks.md", "docs/reliability.md"),
    "Project": ("docs/security.md", "SECURITY.md", "docs/architecture.md", "CONTRIBUTING.md", "CHANGELOG.md"),
}
REST = "Use"  # where pages stand that no section names
GENERATED: dict[str, Callable[[], Prose]] = {
    "reference/commands": reference.command_reference,
    "reference/python": reference.python_reference,
}
SHORT = {"docs/index.md": "Home", "SECURITY.md": "Reporting a fault"}
EXCERPT = 300  # letters of a section that the search looks through


@dataclass(frozen=True)
class Page:
    """A page of the site; `address` is counted from its root."""

    address: str
    source: str  # a path of the repository, or the name of a generated page
    section: str
    prose: Prose

    @property
    def label(self) -> str:
        """How the menu calls it."""
        plain = re.sub(r"^Claim: (\w\w)", lambda found: found[1].capitalize(), self.prose.title)
        return SHORT.get(self.source, plain.removeprefix("Claim: "))


class DeadLink(Exception):
    """A link of a page leads to nothing that the site has."""


def main(target: Path = ROOT / "build" / "site") -> None:
    """Write the whole site anew."""
    listed = list(list_sources())
    addresses = {source: address_of(source) for _, source in listed}
    files: set[Path] = set()
    pages = [Page(addresses[source], source, section, read(source, addresses, files)) for section, source in listed]
    shutil.rmtree(target, ignore_errors=True)
    for page in pages:
        write(target / page.address, dress(page, pages))
    for path in files:
        write(target / file_address(path), path.read_bytes())
    for name in ("style.css", "search.js"):
        write(target / name, (HERE / name).read_bytes())
    write(target / "index.js", "window.pages = " + json.dumps(list(find_texts(pages)), ensure_ascii=False) + ";\n")


def list_sources() -> Iterator[tuple[str, str]]:
    """Sections with their sources, in the order of the menu; every page of docs/ has a place."""
    named: dict[str, str] = {}
    for section, patterns in SECTIONS.items():
        for pattern in patterns:
            found = [pattern] if pattern in GENERATED else sorted(str(p.relative_to(ROOT)) for p in ROOT.glob(pattern))
            for source in found:
                named.setdefault(source, section)
    for path in sorted([*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]):
        named.setdefault(str(path.relative_to(ROOT)), REST)
    for section in SECTIONS:
        yield from ((section, source) for source, where in named.items() if where == section)


def address_of(source: str) -> str:
    """Where a source stands in the site; an index serves its folder."""
    plain = re.sub(r"(\.md|\.ipynb)$", "", source.removeprefix("docs/"))
    plain = {"SECURITY": "reporting", "CONTRIBUTING": "contributing", "CHANGELOG": "changelog"}.get(plain, plain)
    return re.sub(r"README$", "index", plain) + ".html"


def read(source: str, addresses: dict[str, str], files: set[Path]) -> Prose:
    """A page, rendered."""
    if source in GENERATED:
        return GENERATED[source]()
    path = ROOT / source
    lead = leader(path, addresses, files)
    if path.suffix == ".ipynb":
        return cells.render_notebook(path, lead)
    prose = render(path.read_text("utf-8"), lead, lambda name: title_of(path.parent / name))
    return with_rooms(prose, path) if source == "docs/architecture.md" else prose


def leader(path: Path, addresses: dict[str, str], files: set[Path]) -> Callable[[str], str]:
    """Says where the links of one source lead."""
    here = Path(address_of(str(path.relative_to(ROOT)))).parent

    def lead(target: str) -> str:
        name, mark, anchor = target.partition("#")
        found = (path.parent / name).resolve()
        inside = str(found.relative_to(ROOT)) if found.is_relative_to(ROOT) else ""
        if inside in addresses:
            return relpath(addresses[inside], here) + mark + anchor
        if found.suffix in (".svg", ".png", ".csv") and found.is_file():
            files.add(found)
            return relpath(file_address(found), here)
        raise DeadLink(f"{path.relative_to(ROOT)}: {target}")

    return lead


def title_of(path: Path) -> str:
    """What a page is called, where its text is only the name of its file."""
    return path.read_text("utf-8").partition("\n")[0].removeprefix("# ")


def file_address(path: Path) -> str:
    """Where a picture or a table stands in the site."""
    return f"files/{path.relative_to(DOCS)}"


def with_rooms(prose: Prose, page: Path) -> Prose:
    """The page about the rooms, with their picture above their table."""
    drawn = f'<div class="wide" tabindex="0">{rooms.draw_rooms(rooms.read_rooms(page))}</div>'
    html = re.sub(r'(<h2 id="rooms">.*?</h2>)', lambda found: found[1] + drawn, prose.html, count=1, flags=re.S)
    return Prose(html, prose.headings)


# -- one page ------------------------------------------------------------------------------------------


def dress(page: Page, pages: Sequence[Page]) -> str:
    """The page with menu, search and the way to its neighbours."""
    here = Path(page.address).parent
    root = relpath(".", here)
    return TEMPLATE.format(
        title=escape(page.prose.title if page.address != "index.html" else "kech"),
        root=root,
        contents=contents(page.prose.headings),
        body=page.prose.html,
        menu=menu(page, pages, here),
        onward=onward(page, pages, here),
    )


def menu(page: Page, pages: Sequence[Page], here: Path) -> str:
    """All pages by section."""
    parts = []
    for section in SECTIONS:
        links = [
            f'<li><a href="{relpath(other.address, here)}"{current(other is page)}>{escape(other.label)}</a></li>'
            for other in pages
            if other.section == section
        ]
        if links:
            parts.append(f"<h2>{section}</h2><ul>{''.join(links)}</ul>")
    return "".join(parts)


def current(is_here: bool) -> str:
    """Marks the page one is on."""
    return ' aria-current="page"' if is_here else ""


def contents(headings: Sequence[Heading]) -> str:
    """The headings of a page, to jump to; none where there are few."""
    inner = [heading for heading in headings if heading.level == 2]
    if len(inner) < 3:
        return ""
    links = "".join(f'<li><a href="#{heading.anchor}">{escape(heading.text)}</a></li>' for heading in inner)
    return f'<aside class="contents" aria-label="On this page"><h2>On this page</h2><ul>{links}</ul></aside>'


def onward(page: Page, pages: Sequence[Page], here: Path) -> str:
    """Links to the page before and the page after."""
    place = pages.index(page)
    near = [("prev", "←", pages[place - 1])] if place else []
    near += [("next", "→", pages[place + 1])] if place + 1 < len(pages) else []
    return "".join(
        f'<a rel="{way}" href="{relpath(other.address, here)}">{sign} {escape(other.label)}</a>'
        for way, sign, other in near
    )


def find_texts(pages: Sequence[Page]) -> Iterator[tuple[str, str, str]]:
    """What the search knows: address, heading and the first words of every section."""
    for page in pages:
        parts = re.split(r'<h[1-3] id="([^"]+)">.*?</h[1-3]>', page.prose.html, flags=re.S)
        titles = {heading.anchor: heading.text for heading in page.prose.headings}
        for anchor, html in zip(parts[1::2], parts[2::2], strict=True):
            words = " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
            title = titles.get(anchor, anchor)
            full = title if title == page.label else f"{page.label}: {title}"
            yield f"{page.address}#{anchor}", full, words[:EXCERPT]


def write(path: Path, content: str | bytes) -> None:
    """Write a file, and its folder where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · kech</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{root}/style.css">
<script defer src="{root}/index.js"></script>
<script defer src="{root}/search.js" data-root="{root}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="home" href="{root}/index.html">kech</a>
<form class="search" role="search" hidden><input type="search" aria-label="Search" placeholder="Search"
 autocomplete="off"><ol></ol></form>
<a class="to-menu" href="#menu">Menu</a>
</header>
<div class="columns">
<main id="main">
{body}
<nav class="onward" aria-label="Neighbouring pages">{onward}</nav>
</main>
{contents}
<nav id="menu" class="menu" aria-label="All pages">{menu}</nav>
</div>
</body>
</html>
"""


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))

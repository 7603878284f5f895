"""Prose: a page of Markdown as HTML, with anchors at its headings and coloured code.

In: Markdown and a function that says where a link leads.  Out: HTML, and the headings.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

FOREIGN = ("http://", "https://", "mailto:")
SPOKEN = {"sh": "bash", "console": "console", "python": "python", "toml": "toml", "json": "json", "yaml": "yaml"}


@dataclass(frozen=True)
class Heading:
    """A heading and the anchor that leads to it."""

    level: int
    anchor: str
    text: str


@dataclass(frozen=True)
class Prose:
    """A rendered page."""

    html: str
    headings: tuple[Heading, ...]

    @property
    def title(self) -> str:
        """The first heading."""
        return self.headings[0].text


def render(text: str, lead: Callable[[str], str] = str, call: Callable[[str], str] = str) -> Prose:
    """Markdown as HTML; `lead` turns a target of the source into one of the site, `call` a file into its title."""
    reader = MarkdownIt("commonmark", {"html": False, "highlight": colour}).enable("table")
    tokens = reader.parse(text)
    headings = mark_headings(tokens)
    for token in tokens:
        for child, after in pairwise([*(token.children or ()), Token("text", "", 0)]):
            follow(child, lead)
            if child.type == "link_open" and after.content.endswith(".md"):
                after.content = call(after.content)
    html = reader.renderer.render(tokens, reader.options, {})
    return Prose(widen(html), headings)


def render_docstring(text: str) -> str:
    """A docstring as HTML; its stars and arrows are no marks."""
    parts = [f"```python\n{part}\n```" if part.startswith(">>>") else part for part in re.split(r"\n{2,}", text)]
    reader = MarkdownIt("commonmark", {"html": False, "highlight": colour}).disable(["emphasis", "blockquote"])
    return str(reader.render("\n\n".join(parts)))


def mark_headings(tokens: Sequence[Token]) -> tuple[Heading, ...]:
    """Give every heading an anchor of its own."""
    found: list[Heading] = []
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            inline = tokens[place + 1]
            text = "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))
            anchor = free_anchor(text, [heading.anchor for heading in found])
            found.append(Heading(int(token.tag[1]), anchor, text))
            token.attrSet("id", anchor)
            if inline.children is not None and token.tag != "h1":
                inline.children += link_to(anchor)
    return tuple(found)


def free_anchor(text: str, taken: Sequence[str]) -> str:
    """Words joined by hyphens, as readers of Markdown expect; a number where it is taken."""
    plain = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-") or "section"
    number = sum(anchor == plain or re.fullmatch(rf"{re.escape(plain)}-\d+", anchor) is not None for anchor in taken)
    return f"{plain}-{number}" if number else plain


def link_to(anchor: str) -> list[Token]:
    """A quiet sign beside a heading that leads to it."""
    sign = Token("text", "", 0, content="#")
    opening = Token("link_open", "a", 1, attrs={"href": f"#{anchor}", "class": "anchor", "aria-label": "Link here"})
    return [opening, sign, Token("link_close", "a", -1)]


def follow(token: Token, lead: Callable[[str], str]) -> None:
    """Point a link or a picture at the site."""
    name = {"link_open": "href", "image": "src"}.get(token.type)
    target = str(token.attrGet(name)) if name else ""
    if name and not target.startswith((*FOREIGN, "#")):
        token.attrSet(name, lead(target))


def colour(code: str, language: str, _: str) -> str:
    """Code with its words marked; plain where nobody knows the language."""
    try:
        lexer = get_lexer_by_name(SPOKEN[language])
    except (KeyError, ClassNotFound):
        return escape(code)
    return str(highlight(code, lexer, HtmlFormatter(nowrap=True)))


def widen(html: str) -> str:
    """Tables and pictures scroll by themselves, so that a narrow page does not."""
    html = html.replace("<table>", '<div class="wide" tabindex="0"><table>').replace("</table>", "</table></div>")
    return re.sub(r"<p>(<img [^>]*>)</p>", r'<figure class="picture">\1</figure>', html)

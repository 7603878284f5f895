"""The page: one HTML file with its own style and nothing from elsewhere."""

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kech.views.markup import Markup, plain, tag
from kech.views.report.closing import how_to_verify, not_promised, parameters
from kech.views.report.middle import at_risk, lost, shape
from kech.views.report.opening import done, head, promised
from kech.views.report.private import private_parts

STYLE = Path(__file__).with_name("style.css").read_text("utf-8")
BANNER = "PRIVATE: made with the original table. Do not publish."


def draw_page(found: Mapping[str, Any]) -> str:
    """The whole file."""
    title = f"{'PRIVATE. ' if found['private'] else ''}Release report: {found['file']['name']}"
    parts = [head(found), done(found), promised(found), at_risk(found), lost(found), shape(found)]
    parts += private_parts(found) if found["private"] else []
    parts += [not_promised(found), how_to_verify(found), parameters(found)]
    main = tag("main", *parts)
    return f"<!doctype html>\n{tag('html', page_head(title), body(main, private=found['private']), lang='en')}\n"


def page_head(title: str) -> Markup:
    """Nothing may be loaded or run: the one style is allowed by its hash."""
    digest = b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        Markup(f"<title>{plain(title)}</title>"),
        Markup(f"<style>{STYLE}</style>"),
    )


def body(main: Markup, *, private: bool) -> Markup:
    """The parts; a private page carries its banner on the screen and on every printed page."""
    if not private:
        return tag("body", main)
    banner = tag("div", BANNER, class_="banner", role="note")
    return tag("body", tag("div", tag("div", banner, class_="every-page"), main, class_="private"))

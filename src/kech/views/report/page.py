"""The page: one HTML file with its own style and nothing from elsewhere, and its last parts."""

import hashlib
import shlex
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kech.audit.risk import THRESHOLDS
from kech.views.markup import Content, Markup, join, name, plain, section, table, tag
from kech.views.report.middle import show_loss, show_risk, show_shape
from kech.views.report.opening import show_head, show_method, show_promises
from kech.views.report.private import show_private_parts

STYLE = Path(__file__).with_name("style.css").read_text("utf-8")
BANNER = "PRIVATE: made with the original table. Do not publish."


def draw_page(found: Mapping[str, Any]) -> str:
    """The whole file."""
    title = f"{'PRIVATE. ' if found['private'] else ''}Release report: {found['file']['name']}"
    parts = [
        show_head(found),
        show_method(found),
        show_promises(found),
        show_risk(found),
        show_loss(found),
        show_shape(found),
    ]
    parts += show_private_parts(found) if found["private"] else []
    parts += [show_limits(found), show_checks(found), show_parameters(found)]
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


# -- the last parts --------------------------------------------------------------------------------------


def show_limits(found: Mapping[str, Any]) -> Markup:
    """The limits, in kech's own words: those of a certificate can be forged."""
    return section(
        "What is not promised", tag("ul", *(tag("li", str(text)) for text in found["not_promised"])), key="not-promised"
    )


def show_checks(found: Mapping[str, Any]) -> Markup:
    """Commands that anybody can run on the published file."""
    file = found["file"]
    quoted = shlex.quote(file["name"])
    certificate = shlex.quote(f"{file['name']}.certificate.json")
    thresholds = found["risk"]["thresholds"]
    chosen = "" if tuple(thresholds) == THRESHOLDS else f" --threshold {' '.join(f'{tau:g}' for tau in thresholds)}"
    planned = " --plan PLAN" if found["plan"] else ""
    steps: list[tuple[Content, Content]] = [
        ("The file is the certified one: its SHA-256 is the one below.", tag("code", f"sha256sum -- {quoted}")),
        (
            "The promises hold, counted by code that shares nothing with what made the file.",
            tag("code", f"kech verify {quoted}"),
        ),
        ("The risk figures.", tag("code", f"kech risk {quoted}{chosen}")),
        (
            "The public report, byte for byte, without the original.",
            tag("code", f"kech report {quoted}{planned}{chosen} -o again.html"),
        ),
    ]
    return section(
        "How to verify",
        tag("p", f"Put the file and {certificate} into one folder, then run:"),
        tag("ol", *(tag("li", words, " ", command) for words, command in steps)),
        tag("p", "SHA-256: ", tag("code", file["sha256"]), class_="digest"),
        key="verify",
    )


def show_parameters(found: Mapping[str, Any]) -> Markup:
    """Everything that was decided beforehand."""
    rows: list[tuple[Content, Content]] = [("file", name(found["file"]["name"])), ("format", found["file"]["format"])]
    rows += [("certificate written by", f"kech {found['kech']}" if found["kech"] else "not stated")]
    rows += [(key, format_value(value)) for key, value in sorted(found["parameters"].items())]
    rows += [(join("read as, ", name(column)), kind) for column, kind in found["sensitive"].items()]
    if found["plan"]:
        told = {key: value for key, value in found["plan"].items() if value not in (None, [], {})}
        rows += [(f"plan: {key.replace('_', ' ')}", format_value(value)) for key, value in told.items()]
    about = "As the maker of the release states them: they cannot be recounted from the file."
    return section(
        "Parameters",
        tag("p", about, class_="note"),
        table("How the release was made", ("parameter", "value"), rows),
        key="parameters",
    )


def format_value(value: Any) -> str:
    """A parameter as text."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {format_value(held)}" for key, held in value.items())
    if isinstance(value, list):
        return ", ".join(map(format_value, value))
    return f"{value:g}" if isinstance(value, float) else str(value)

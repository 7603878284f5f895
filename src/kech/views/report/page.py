"""The page: one HTML file with its own style and nothing from elsewhere, and its last parts."""

import hashlib
import re
import shlex
from base64 import b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kech.audit.risk import THRESHOLDS
from kech.certificate import certificate_path
from kech.views.markup import Content, Markup, escape_text, join, name, section, table, tag
from kech.views.report.middle import show_loss, show_risk, show_shape
from kech.views.report.opening import names, show_method, show_promises
from kech.views.report.private import show_private_parts
from kech.views.report.summary import show_summary

STYLE = Path(__file__).with_name("style.css").read_text("utf-8")
HEADING = re.compile('<h2 id="([^"]*)">([^<]*)</h2>')
BANNER = "PRIVATE: made with the original table. Do not publish."


def draw_page(result: Mapping[str, Any]) -> str:
    """The whole file: a summary on a page of its own, then the details."""
    title = f"{'PRIVATE. ' if result['private'] else ''}Release report: {result['file']['name']}"
    parts = [show_method(result), show_promises(result), show_risk(result), show_loss(result), show_shape(result)]
    parts += show_private_parts(result) if result["private"] else []
    parts += [show_limits(result), show_checks(result), show_parameters(result)]
    main = tag("main", show_summary(result, find_headings(parts)), *parts)
    return f"<!doctype html>\n{tag('html', page_head(title), body(main, private=result['private']), lang='en')}\n"


def find_headings(parts: Iterable[str]) -> list[tuple[str, str]]:
    """The key and the title of every section."""
    return [heading for part in parts for heading in HEADING.findall(part)]


def make_policy() -> str:
    """Nothing may be loaded or run: the one style is allowed by its hash."""
    digest = b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def page_head(title: str) -> Markup:
    """The policy, the title and the style."""
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=make_policy()),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        Markup(f"<title>{escape_text(title)}</title>"),
        Markup(f"<style>{STYLE}</style>"),
    )


def body(main: Markup, *, private: bool) -> Markup:
    """The parts; a private page carries its banner on the screen and on every printed page."""
    if not private:
        return tag("body", main)
    banner = tag("div", BANNER, class_="banner", role="note")
    return tag("body", tag("div", tag("div", banner, class_="every-page"), main, class_="private"))


# -- the last parts --------------------------------------------------------------------------------------


def show_limits(result: Mapping[str, Any]) -> Markup:
    """The limits, in kech's own words: those of a certificate can be forged."""
    return section(
        "What is not promised",
        tag("ul", *(tag("li", str(text)) for text in result["not_promised"])),
        key="not-promised",
    )


def show_checks(result: Mapping[str, Any]) -> Markup:
    """Commands that anybody can run on the published file."""
    file = result["file"]
    quoted = shlex.quote(file["name"])
    certificate = shlex.quote(str(certificate_path(file["name"])))
    thresholds = result["risk"]["thresholds"]
    chosen = "" if tuple(thresholds) == THRESHOLDS else f" --threshold {' '.join(f'{tau:g}' for tau in thresholds)}"
    planned = " --plan PLAN" * bool(result["plan"]) + " --all-models" * result["all_models"]
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


def group_kinds(kinds: Mapping[str, str]) -> dict[str, list[str]]:
    """The columns of each kind."""
    return {kind: [column for column in kinds if kinds[column] == kind] for kind in dict.fromkeys(kinds.values())}


def show_parameters(result: Mapping[str, Any]) -> Markup:
    """Everything that was decided beforehand."""
    rows: list[tuple[Content, Content]] = [("file", name(result["file"]["name"])), ("format", result["file"]["format"])]
    rows += [("certificate written by", f"kech {result['kech']}" if result["kech"] else "not stated")]
    rows += [(key, format_value(value)) for key, value in sorted(result["parameters"].items())]
    rows += [(f"read as {kind}", join(names(columns))) for kind, columns in group_kinds(result["sensitive"]).items()]
    if result["plan"]:
        plan = {key: value for key, value in result["plan"].items() if value not in (None, [], {})}
        rows += [(f"plan: {key.replace('_', ' ')}", format_value(value)) for key, value in plan.items()]
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
        return ", ".join(f"{key}: {format_value(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(format_value, value))
    return f"{value:g}" if isinstance(value, float) else str(value)

"""The end of a report: what is not promised, how to check it, and the parameters."""

import shlex
from collections.abc import Mapping
from typing import Any

from kech.audit.risk import THRESHOLDS
from kech.views.markup import Content, Markup, join, name, section, table, tag


def not_promised(found: Mapping[str, Any]) -> Markup:
    """The limits, in kech's own words: those of a certificate can be forged."""
    return section(
        "What is not promised", tag("ul", *(tag("li", str(text)) for text in found["not_promised"])), key="not-promised"
    )


def how_to_verify(found: Mapping[str, Any]) -> Markup:
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


def parameters(found: Mapping[str, Any]) -> Markup:
    """Everything that was decided beforehand."""
    rows: list[tuple[Content, Content]] = [("file", name(found["file"]["name"])), ("format", found["file"]["format"])]
    rows += [("certificate written by", f"kech {found['kech']}" if found["kech"] else "not stated")]
    rows += [(key, written(value)) for key, value in sorted(found["parameters"].items())]
    rows += [(join("read as, ", name(column)), kind) for column, kind in found["sensitive"].items()]
    if found["plan"]:
        told = {key: value for key, value in found["plan"].items() if value not in (None, [], {})}
        rows += [(f"plan: {key.replace('_', ' ')}", written(value)) for key, value in told.items()]
    about = "As the maker of the release states them: they cannot be recounted from the file."
    return section(
        "Parameters",
        tag("p", about, class_="note"),
        table("How the release was made", ("parameter", "value"), rows),
        key="parameters",
    )


def written(value: Any) -> str:
    """A parameter as text."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {written(held)}" for key, held in value.items())
    if isinstance(value, list):
        return ", ".join(map(written, value))
    return f"{value:g}" if isinstance(value, float) else str(value)

"""How a series of releases looks on a terminal."""

from shlex import quote as quote_word
from typing import Any

from rich.markup import escape

from kech.views.screen.terminal import grid, out, say, warn

COUNTS = ("rows", "cohorts", "arrivals", "waiting", "held", "corrected", "withdrawn")
SELDOM = {"returned": "came back", "kept_out": "stay out"}  # counts that are shown where some version has them
EXCHANGED = (
    "many {whom} left, and many are new. If they are the same ones with other keys and other cells, each stands in two "
    "cohorts now. Then forget this version before anybody receives it (kech series {folder} --forget), and write keys "
    "and cells as before."
)
NO_KEY = (
    "without --key a row whose quasi-identifiers are corrected counts as one that left and one that came, and stands "
    "in two cohorts. Nothing can be withdrawn. A key cannot be named later."
)


def format_count(count: int | str) -> str:
    """A number of rows, or how few they are."""
    return count if isinstance(count, str) else f"{count:,}"


def print_series(result: dict[str, Any]) -> None:
    """The versions of a series."""
    if result["forgotten"]:
        removed = "" if result["stays"] else " Its files are removed."
        say(f"Forgotten: version {result['forgotten']}. You said that this version was never handed out.{removed}")
    if result["stays"]:
        warn(f"{result['stays']} was changed since it was released, so it stays. Remove it yourself.")
    count = len(result["versions"])
    say(f"{result['folder']}: {count} release{'' if count == 1 else 's'}")
    seldom = [name for name in SELDOM if any(each[name] for each in result["versions"])]
    heads = (*COUNTS, *(SELDOM[name] for name in seldom))
    counts, files = grid("version>", *(f"{head}>" for head in heads)), grid("version>", "day", "file~")
    for each in result["versions"]:
        counts.add_row(str(each["version"]), *(format_count(each[name]) for name in (*COUNTS, *seldom)))
        file = each["file"] if each["found"] else f"{each['file']} (not there, or changed)"
        files.add_row(str(each["version"]), each["time"][:10], escape(file))
    if count:
        out().print(counts)
        out().print(files)
        say(f"In force: {describe_policy(result['in_force'])}.")
        say("held: rows that left the table and stay until their whole cohort has left.")
        say("corrected: rows that the table has with other cells; they stay as first published.")
    if "kept_out" in seldom:
        say("stay out: rows of the table whose cohort was withdrawn.")


def describe_policy(policy: dict[str, Any]) -> str:
    """What becomes of rows, in the words of the options."""
    return ", ".join(f"--{name} {value}" for name, value in (policy | {"wait": f"{policy['wait']:.0%}"}).items())


def print_version(series: dict[str, Any]) -> None:
    """What is particular to one release of a series."""
    cohorts = f"{series['new_cohorts']:,} new cohort{'' if series['new_cohorts'] == 1 else 's'}"
    new = f"{series['arrivals']:,} rows in {cohorts}"
    gone = f", {series['withdrawn']:,} rows withdrawn" if series["withdrawn"] else ""
    back = f", {series['returned']:,} rows came back" if series["returned"] else ""
    say(f"Version {series['version']} of {series['folder']}: {new}{gone}{back}.{describe_cut(series['at_cut'])}")
    if series["waiting"]:
        say(f"{format_count(series['waiting'])} rows wait for a later version.")
    if series["held"]:
        say(f"{format_count(series['held'])} rows left the table and are held with their cohorts.")
    if series["corrected"]:
        say(f"{format_count(series['corrected'])} rows were corrected and stay as first published.")
    if series["kept_out"]:
        say(f"{format_count(series['kept_out'])} rows belong to withdrawn cohorts and stay out.")
    if series["known_people"]:
        say(f"{format_count(series['known_people'])} people of the new cohorts have rows in earlier cohorts, too.")
    say(f"In force until you say otherwise: {describe_policy(series['in_force'])}.")
    if series["version"] == 1 and not series["key"]:
        warn(NO_KEY)
    if series["exchanged"]:
        warn(EXCHANGED.format(whom=series["exchanged"], folder=quote_word(series["folder"])))


def describe_section(series: dict[str, Any]) -> str:
    """What the certificate of a release in a series says beside the figures of its file."""
    waiting = f", {format_count(series['waiting'])} rows wait" if series["waiting"] else ""
    if series["waiting"] == "hidden":
        waiting = ", some rows wait (how many is hidden)"
    return (
        f"Version {series['version']} of a series (stated by the maker): {series['cohorts']:,} cohorts, "
        f"{series['arrivals']:,} rows new, {series['withdrawn']:,} withdrawn{waiting}. {series['promise']}"
        f"{describe_cut(series['at_cut'])}"
    )


def describe_cut(goals: dict[str, Any]) -> str:
    """The goal that cohorts keep when they are cut, and not against later rows."""
    moment = "when it was cut, against the rows of then"
    return f" t <= {goals['t']:g} ({goals['t_kind']}) held in each cohort {moment}." if goals else ""


def print_series_check(result: dict[str, Any]) -> None:
    """The files of a series that holds."""
    say(f"{result['series']}: holds; recounted from the files.")
    table = grid("version>", "k>", "rows>", "classes>", "entered>", "left>", "file")
    for each in result["versions"]:
        cells = [f"{each[name]:,}" for name in ("k", "rows", "classes", "entered", "left")]
        table.add_row(str(each["version"]), *cells, escape(each["file"]))
    out().print(table)
    say("Every class changed by whole cohorts only.")

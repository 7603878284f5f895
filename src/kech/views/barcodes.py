"""Sentences of barcodes and profiles: first what their owner can do, then what one eps for all rows gives.

In: what `WeightedBarcode.describe` gives at one k, or the advice of a profile.  Out: sentences for screen, picture and
notebook.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

JOIN = {
    "box": "Rows join at eps where no column differs by more than 2 eps of its range.",
    "ball": "Rows join at eps where they are at most 2 eps apart.",
}
HIDE = {
    "box": "A row can hide at eps among {crowd} of which no column differs by more than 2 eps of its range.",
    "ball": "A row can hide at eps among {crowd} that lie in one ball of radius eps.",
}
ROUNDING = 1e-9  # of eps
ALMOST = 0.99  # of the rows: how many are missing is said
ALL_ROWS = "all rows fit into {classes}"
NO_CLASSES = "all rows together are the only class that a cut found"
REGIME = "{without}one eps gives {classes} (--cut regime{reading})"
REACHED = (
    "kech release --grid exact --effort {effort} --cut local puts all rows into {cheap}, none wider than eps "
    "{local_eps:.4g}; --cut minimal{measured} into {narrow}, none wider than {eps:.4g}{proven}. Round edges give other "
    "classes."
)
EARLIEST = "k = {k:,}: at best, half of the rows can hide from eps {half:.3g}, all from {all:.3g}"
ISOLATES = (
    "{column} isolates most: without it half of the rows could hide from eps {rest:.4g} on at best, now from "
    "{half:.4g}."
)
LAST_APART = (
    " {column} keeps the last tenth apart: without it 90 % of the rows could hide from eps {rest:.4g} on at best, now "
    "from {most:.4g}."
)
BOUND = "No release of all rows with exact edges goes below eps {eps_bound:.4g}."
LAST = "Without the last {rows} to hide (kech profile --rows), none goes below {eps_but_last:.4g}."
NO_LAST = "Not even one without 0.5 % of them does."
WITHOUT_SOME = "Without 0.5 % of them, none goes below {eps_but_last:.4g}."
NONE_ISOLATES = "No column alone keeps half of the rows apart."
TOGETHER = (
    " Without {columns} together half of the rows could hide from eps {rest:.4g} on at best, now from {half:.4g}."
)
ANNOUNCED = (
    "kech release --cut regime --reading {reading} --k {k} --suppress {share:g}% publishes {rows:,} rows in {classes} "
    "with {edges} and leaves out {out:,}."
)


def say_hiding(metric: str, counted: str) -> str:
    """What it means that a row can hide."""
    return HIDE[metric].format(crowd="k rows" if counted == "rows" else "rows of k people")


def say_headline(known: Mapping[str, Any], begin: str = "", most_columns: int = 2) -> str:
    """What its owner can do at k; else where the one eps begins, if it has classes; else how rows join."""
    columns = [words for advice in known["advice"] if (words := name_isolating(advice, most_columns))]
    parts = [*say_cut(known), *(list(say_regime(known)) or columns)]
    if known["joined"][-1]["eps"] is None:
        return f"k = {known['k']:,} holds nowhere"
    return f"k = {known['k']:,}: {'; '.join(parts)}" if parts else begin or f"k = {known['k']:,}: {say_joined(known)}"


def say_short(known: Mapping[str, Any]) -> str:
    """The same in few letters."""
    counts = [one["local_classes"] for one in known["reached"]]
    if counts:
        return f"k = {known['k']:,}: {say_classes(counts[0])}"
    every = known["joined"][-1]["eps"]
    return f"k = {known['k']:,} holds nowhere" if every is None else f"k = {known['k']:,}: all from eps {every:.4g}"


def say_cut(known: Mapping[str, Any]) -> Iterator[str]:
    """Into how many classes a release puts all rows."""
    for reached in known["reached"]:
        many = reached["local_classes"]
        yield ALL_ROWS.format(classes=say_classes(many)) if many > 1 else NO_CLASSES


def say_regime(known: Mapping[str, Any]) -> Iterator[str]:
    """What the first release by the regime cut gives, if it is more than one class."""
    for one in [one for one in known["released"] if one["classes"] > 1][:1]:
        reading = "" if one["reading"] == "strict" else f" --reading {one['reading']}"
        without = f"without {one['suppressed']:,} of them " * bool(one["suppressed"])
        yield REGIME.format(without=without, classes=say_classes(one["classes"]), reading=reading)


def say_joined(known: Mapping[str, Any], shares: Sequence[float] = (0.99, 1.0)) -> str:
    """From which eps on so many rows are in components of k; equal radii are said once, for the larger share."""
    others = f"other{'s' * (known['k'] != 2)}" if known["counted"] == "rows" else "other people"
    last = {line["eps"]: line for line in known["joined"] if line["share"] in shares and line["eps"] is not None}
    parts = [say_share(line, known["joined"][-1]["eps"]) for line in last.values()]
    return f"rows joined with {known['k'] - 1:,} {others} or more: " + ", ".join(parts or ["none"]).replace(
        "from", "from eps", 1
    )


def say_share(line: Mapping[str, Any], every: float | None) -> str:
    """From which eps on a share of the rows is there, and how many rows are missing at almost all."""
    share = "all" if line["eps"] == every else f"{100 * line['share']:g} %"
    left = line["rows_left"] if line["share"] == ALMOST and share != "all" else 0
    return f"{share} from {line['eps']:.3g}" + f" (without {left:,} row{'s' * (left != 1)})" * bool(left)


def list_sentences(known: Mapping[str, Any]) -> Iterator[str]:
    """What cuts reach, and which column isolates."""
    for reached in known["reached"]:
        yield say_reached(reached, says_balls(known))
    for advice in known["advice"]:
        yield say_isolating(advice)


def say_isolating(advice: Mapping[str, Any]) -> str:
    """Which column isolates most, and how much that is; which other one keeps the last rows apart."""
    figures = {"rest": advice["eps_half_without"], "half": advice["eps_half"]}
    alone = ISOLATES.format(column=advice["column"], **figures) if isolates(advice) else NONE_ISOLATES
    first = alone + say_together(advice) * (not isolates(advice))
    if not isolates_last(advice):
        return first
    figures = {"rest": advice["eps_most_without"], "most": advice["eps_most"]}
    return first + LAST_APART.format(column=advice["last_column"], **figures)


def say_together(advice: Mapping[str, Any]) -> str:
    """Without which columns together half of the rows could hide earlier, where one is not enough."""
    if not advice["columns"]:
        return ""
    names = ", ".join(advice["columns"])
    return TOGETHER.format(columns=names, rest=advice["eps_half_without_columns"], half=advice["eps_half"])


def isolates(advice: Mapping[str, Any]) -> bool:
    """Whether half of the rows could hide earlier without the column."""
    return bool("column" in advice and advice["eps_half_without"] < advice["eps_half"])


def isolates_last(advice: Mapping[str, Any]) -> bool:
    """Whether 90 % of the rows could hide earlier without a column other than the one that isolates most."""
    is_other = "last_column" in advice and advice["eps_most_without"] < advice["eps_most"]
    return bool(is_other and not (isolates(advice) and advice["column"] == advice["last_column"]))


def name_isolating(advice: Mapping[str, Any], most: int = 2) -> str:
    """The columns without which half of the rows could hide earlier, or 90 %: so many at most."""
    first = [f"{advice['column']} isolates most"] if isolates(advice) else []
    first = first or [f"{len(names):,} columns isolate together" for names in [advice.get("columns")] if names]
    last = [f"{advice['last_column']} {'' if first else 'isolates '}the last tenth"] if isolates_last(advice) else []
    return ", ".join((first + last)[:most])


def say_earliest(advice: Mapping[str, Any], most_columns: int = 2) -> str:
    """Below which radii half of the rows cannot hide, nor all; which columns isolate them."""
    earliest = EARLIEST.format(k=advice["k"], half=advice["eps_half"], all=advice["eps_all"])
    return "; ".join(filter(None, [earliest, name_isolating(advice, most_columns)]))


def say_bounds(advice: Mapping[str, Any]) -> str:
    """Below which eps no release of all rows goes, and none without the last rows to hide."""
    many = advice["last_rows"]
    last = LAST if many else NO_LAST if advice["eps_but_last"] == advice["eps_bound"] else WITHOUT_SOME
    return f"{BOUND} {last}".format(rows=f"{many:,} rows" if many > 1 else "row", **advice)


def says_balls(known: Mapping[str, Any]) -> str:
    """What a release says to measure balls as its barcode does; where k counts people, the cut measures boxes."""
    return " --metric ball" if (known["metric"], known["counted"]) == ("ball", "rows") else ""


def say_reached(reached: Mapping[str, Any], measured: str) -> str:
    """What releases of all rows reach with exact edges."""
    narrow, cheap = (say_classes(reached[name]) for name in ("minimal_classes", "local_classes"))
    bound, eps = reached["eps_at_least"], reached["minimal_eps"]
    proven = " (none is narrower)" if eps - bound < ROUNDING else f" (none is narrower than {bound:.4g})"
    ends = {"eps": eps, "local_eps": reached["local_eps"], "proven": proven}
    return REACHED.format(effort=reached["effort"], narrow=narrow, cheap=cheap, measured=measured, **ends)


def announce(one: Mapping[str, Any]) -> str:
    """What a release by the regime cut gives, or why there is none."""
    if not one["classes"]:
        return f"kech release --cut regime --reading {one['reading']}: none. {one['reason']}."
    figures = {"rows": one["rows"], "classes": say_classes(one["classes"]), "out": one["suppressed"]}
    edges = f"{one['grid']} edges" if isinstance(one["grid"], str) else f"edges at multiples of {one['grid']:g}"
    return ANNOUNCED.format(reading=one["reading"], k=one["k"], share=100 * one["suppress"], edges=edges, **figures)


def say_classes(count: int) -> str:
    """So many classes."""
    return f"{count:,} class{'es' * (count != 1)}"


def capitalize(text: str) -> str:
    """A sentence begins with a capital."""
    return text[:1].upper() + text[1:]

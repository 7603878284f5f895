"""Sentences of a barcode: first what its owner can do, then what one eps for all rows gives.

In: what `WeightedBarcode.describe` gives at one k.  Out: sentences for screen, picture and notebook.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10
from typing import Any

ALMOST = 0.99  # of the rows: how many are missing is said
ALL_ROWS = "all rows fit into about {classes} (--cut local)"
NO_CLASSES = "all rows together are the only class that a cut found"
REGIME = "{without}one eps gives {classes} (--cut regime{reading})"
REACHED = (
    "At k = {k:,} the cut minimal puts all rows into {narrow}, none wider than eps {eps:.4g}{proven}; "
    "local, which loses least, into {cheap}, up to {local_eps:.4g}."
)
ISOLATES = "{column} isolates most: without it half of the rows can hide from eps {rest:.4g} on, not {half:.4g}."
NONE_ISOLATES = "No column alone keeps half of the rows apart."
ANNOUNCED = (
    "kech release --cut regime --reading {reading} --k {k} --suppress {share:g}% publishes {rows:,} rows in {classes} "
    "and leaves out {out:,}"
)


def say_headline(known: Mapping[str, Any], begin: str = "") -> str:
    """What its owner can do at k; else where the one eps begins, if it has classes; else how rows join."""
    columns = [f"{column} isolates most" for column in name_isolating(known)]
    parts = [*say_cut(known), *(list(say_regime(known)) or columns)]
    if known["joined"][-1]["eps"] is None:
        return f"k = {known['k']:,} holds nowhere"
    return f"k = {known['k']:,}: {'; '.join(parts)}" if parts else begin or f"k = {known['k']:,}: {say_joined(known)}"


def say_short(known: Mapping[str, Any]) -> str:
    """The same in few letters."""
    counts = [one["local_classes"] for one in known["reached"]]
    if counts:
        return f"k = {known['k']:,}: about {say_classes(round_count(counts[0]))}"
    every = known["joined"][-1]["eps"]
    return f"k = {known['k']:,} holds nowhere" if every is None else f"k = {known['k']:,}: all from eps {every:.4g}"


def say_cut(known: Mapping[str, Any]) -> Iterator[str]:
    """Into how many classes a release puts all rows."""
    for reached in known["reached"]:
        many = reached["local_classes"]
        yield ALL_ROWS.format(classes=say_classes(round_count(many))) if many > 1 else NO_CLASSES


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
    return f"{share} from {line['eps']:.3g}" + f" (without {left:,} rows)" * bool(left)


def list_sentences(known: Mapping[str, Any]) -> Iterator[str]:
    """What cuts reach, and which column isolates."""
    for reached in known["reached"]:
        yield say_reached(reached)
    for advice in known["advice"]:
        figures = {"rest": advice["eps_half_without"], "half": advice["eps_half"]}
        column = next(name_isolating(known), None)
        yield ISOLATES.format(column=column, **figures) if column else NONE_ISOLATES


def name_isolating(known: Mapping[str, Any]) -> Iterator[str]:
    """The column without which half of the rows hide earlier, if there is one."""
    return (one["column"] for one in known["advice"] if one["eps_half_without"] < one["eps_half"])


def say_reached(reached: Mapping[str, Any]) -> str:
    """What releases of all rows reach with exact edges."""
    narrow, cheap = (say_classes(reached[name]) for name in ("classes", "local_classes"))
    bound, eps = reached["eps_at_least"], reached["eps_at_most"]
    proven = " (none is narrower)" if bound == eps else f" (none is narrower than {bound:.4g})"
    ends = {"eps": eps, "local_eps": reached["local_eps"], "proven": proven}
    return REACHED.format(k=reached["k"], narrow=narrow, cheap=cheap, **ends)


def announce(one: Mapping[str, Any]) -> str:
    """What a release by the regime cut gives, or why there is none."""
    if not one["classes"]:
        return f"kech release --cut regime --reading {one['reading']}: none. {one['reason']}."
    figures = {"rows": one["rows"], "classes": say_classes(one["classes"]), "out": one["suppressed"]}
    return ANNOUNCED.format(reading=one["reading"], k=one["k"], share=100 * one["suppress"], **figures)


def say_classes(count: int) -> str:
    """So many classes."""
    return f"{count:,} class{'es' * (count != 1)}"


def round_count(count: int) -> int:
    """Two digits of a count that another effort or grid changes a little."""
    step = int(10 ** max(0, floor(log10(max(count, 1))) - 1))
    return step * round(count / step)


def capitalize(text: str) -> str:
    """A sentence begins with a capital."""
    return text[:1].upper() + text[1:]

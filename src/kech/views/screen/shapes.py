"""How barcodes, profiles, lattices and hierarchies look on a terminal."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate
from math import ceil
from typing import Any

from rich.markup import escape
from rich.tree import Tree

from kech.request.parts import USUAL_K
from kech.views.barcodes import (
    JOIN,
    announce,
    capitalize,
    list_sentences,
    say_bounds,
    say_earliest,
    say_headline,
    say_hiding,
    say_isolating,
    say_joined,
    says_balls,
)
from kech.views.markup import describe_start
from kech.views.screen.terminal import grid, out, say, say_drawn, say_private

MOST_BARS = MOST_NUMBERS = 20  # on the screen: bars, and numbers of rows
MOST_ADVISED = 3  # k with sentences of their own; of more, one has them
WIDTH, WIDE = 20, 30  # letters of a bar, and of one that has few columns beside it
FEW = 200  # rows, of which 0.5 % is one
MOST_CHILDREN = 8
MOST_LINES = 40
MOST_NODES = 6
MOST_REGIMES = 3
MOST_STEPS = 20
MOST_VERSIONS = 36
RULER = "eps is measured between values as they are; kech spectrum does so with --grid exact, else between round edges."
SAME_AXES = "The columns keep their ranges here. Without the last value of a column, a release measures its range anew."
CHAINS = (
    "Searched: nodes with {column} at any level and all others at the same one, or at their top, from below. "
    "Others may lose less."
)
WIDEST = {"box": "half the widest side of", "ball": "the radius of the smallest ball around"}
LEAVES_OUT = (
    "kech release --grid exact --suppress 0.5% leaves out {many} and loses {loss_without:.4f} instead of {loss:.4f}"
)
LEAVES_NONE = (
    "kech release --grid exact --suppress 0.5% leaves out no row: it finds none that costs its class more than it "
    "would lose itself"
)
WITHOUT_LAST = " Without {them} it loses {loss_without_last:.4f} of the ranges that are left, instead of {loss:.4f}."
YES = {True: "yes", False: "no", None: "unknown"}


def print_barcode(result: dict[str, Any]) -> None:
    """The longest-lived components, the number of holes, and the regimes of each reading."""
    bars = [bar for bar in result["bars"] if bar["dimension"] == 0]
    holes = len(result["bars"]) - len(bars)
    say_private("bars are real distances between people; do not publish them.")
    looked = f"{holes:,} holes up to dimension {result['max_dimension']} over Z/{result['field']}"
    looked = looked if result["max_dimension"] else result["no_holes"] or "holes not looked for (--max-dimension 1)"
    rows = f"{result['rows']:,} rows" + (f" of {result['people']:,} people" if result["counted"] == "people" else "")
    say(f"{rows}, metric {result['metric']}: {len(bars):,} bars of components, {looked}")
    say(f"{JOIN[result['metric']]}\n")
    out().print(f"[bold]{escape(say_headline(result, begin_with_classes(result)))}[/]")
    say(capitalize(say_joined(result, [line["share"] for line in result["joined"]])))
    for sentence in [*list_sentences(result), *map(announce, result["released"])]:
        say(sentence)
    print_eps_error(result)
    print_one_eps(result)
    say_counted(result["counted"])
    say("")
    print_bars(bars, result)
    if result["shorter_bars"]:
        say(f"{result['shorter_bars']:,} shorter bars are left out (--longest).")
    if left_out := sum(result["left_out"].values()):
        say(f"{left_out:,} bars of zero length are left out; --zero-length --json shows them.")
    for at in result["radii"]:
        holds = ", ".join(f"{name} {YES[at[name]]}" for name in ("homological", "strict"))
        say(f"eps {at['eps']:g}: {at['classes']:,} classes; for k up to {at['k']:,}: {holds}")
    say_drawn(result["plot"])


def begin_with_classes(result: dict[str, Any]) -> str:
    """Where one eps gives several classes, if that is known."""
    start = result["starts"].get("homological")
    is_useful = start and start["classes"] > 1 and not is_start_uncertain(start)
    return say_start(start, result) if start and is_useful else ""


def print_one_eps(result: dict[str, Any]) -> None:
    """From which eps on k holds under each reading, with one eps for all rows."""
    say(f"\nOne eps for all rows{', measured on the axes of all of them' * bool(result['suppress'])}:")
    for reading, regimes in result["regimes"].items():
        sentence = describe_first_regimes(regimes, result) if result["suppress"] else format_regimes(regimes)
        start = result["starts"][reading]
        is_listed = result["suppress"] or len(regimes or ()) > 1
        sentence = sentence if regimes and is_listed and not is_start_uncertain(start) else say_start(start, result)
        say(f"{reading}: {sentence}{say_proven(regimes)}")
    for line in () if result["suppress"] else result["leaving_out"]:
        if not is_start_uncertain(line):
            say(say_leaving_out(line, result))


def say_counted(counted: str) -> None:
    """What k is, where it is not rows."""
    if counted == "people":
        say("k counts people: a person with several rows in a class is one.")


def print_bars(bars: list[dict[str, Any]], result: dict[str, Any]) -> None:
    """Bars of components, equal ones in one line; where these are many, how rows join instead."""
    by_people = result["counted"] == "people"
    names = ["birth", "death", "weight", *(["people"] if by_people else []), "simplex_from"]
    kinds = Counter(tuple(bar[name] for name in names) for bar in bars)
    if len(kinds) > MOST_BARS:
        print_joining(result)
        say(f"--longest {MOST_BARS} shows the longest of {len(bars):,} bars, --json all of them.")
    else:
        print_each_bar(kinds, names)


def print_joining(result: dict[str, Any]) -> None:
    """How many classes there are at round eps, and how many rows are in classes below k."""
    k = result["k"]
    table = grid("eps>", "classes>", f"rows below k = {k:,}>", "[dark_orange]░[/] below k, [blue]█[/] k or more")
    for at in result["joining"]:
        below = ceil(WIDE * at["rows_left"] / result["rows"])
        drawn = f"[dark_orange]{'░' * below}[/][blue]{'█' * (WIDE - below)}[/]"
        table.add_row(f"{at['eps']:.4g}", f"{at['classes']:,}", f"{at['rows_left']:,}", drawn)
    out().print(table)


def print_each_bar(kinds: Counter[tuple[Any, ...]], names: list[str]) -> None:
    """Bars, each where it lies between 0 and the last merge."""
    by_people = "people" in names
    table = grid("bars>", "from eps>", "to eps>", "rows>", *(["people>"] if by_people else []), "simplex from>", "")
    lines = [dict(zip(names, kind, strict=True)) | {"count": count} for kind, count in kinds.items()]
    top = max((bar["death"] or 0.0 for bar in lines), default=0.0) or 1.0
    for bar in sorted(lines, key=lambda bar: (bar["birth"], bar_end(bar))):
        start, stop = (round(WIDTH * min(x / top, 1)) for x in (bar["birth"], bar_end(bar)))
        table.add_row(
            f"{bar['count']:,}",
            *(format_eps(bar[name]) for name in ("birth", "death")),
            *(f"{bar[name]:,}" for name in names[2:-1]),
            format_eps(bar["simplex_from"]),
            " " * start + ("━" * max(stop - start, 1) if bar["birth"] < bar_end(bar) else "·"),
        )
    out().print(table)


def bar_end(bar: dict[str, Any]) -> float:
    """The eps at which a bar ends; null is infinity."""
    return float("inf") if bar["death"] is None else float(bar["death"])


def is_start_uncertain(start: dict[str, Any]) -> bool:
    """Whether it is not known exactly from where on k holds."""
    return bool(start["at_least"] != start["at_most"])


def say_leaving_out(start: dict[str, Any], result: dict[str, Any]) -> str:
    """From where on k holds for most rows."""
    return f"with --suppress {100 * start['share']:g}%, homological: {say_start(start | {'reason': ''}, result)}"


def say_start(start: dict[str, Any], result: dict[str, Any]) -> str:
    """Between which radii k begins to hold, and why that is all that is known."""
    if start["at_least"] is None:
        share = f" for {100 * (1 - result['suppress']):g} % of the rows or more" if result["suppress"] else ""
        return f"no eps is known at which k = {result['k']:,} holds{share}"
    ends, share = (start["at_least"], start["at_most"]), say_share(start["suppressed"], result["rows"])
    reason = f"; {start['reason']}" if start["reason"] else ""
    return describe_start(result["k"], ends, start["classes"], share if start["suppressed"] else "") + reason


def say_share(suppressed: int, rows: int) -> str:
    """The share of the rows that are not left out, never rounded to all."""
    from kech.release.sentences import percent  # its libraries are not read for --help

    return percent(1 - suppressed / rows)


def format_regimes(regimes: list[dict[str, Any]] | None) -> str:
    """Regimes in a line."""
    if regimes is None:
        return "unknown (not computed)"
    parts = [f"[{format_eps(r['start'])}, {format_eps(r['stop'])}) k={r['k']:,} in {r['classes']:,}" for r in regimes]
    more = f"; and {len(parts) - MOST_REGIMES:,} more" * (len(parts) > MOST_REGIMES)
    return "; ".join(parts[:MOST_REGIMES]) + more or "nowhere"


def describe_first_regimes(regimes: list[dict[str, Any]] | None, result: dict[str, Any]) -> str:
    """From where on k holds for all but few rows, and where the most rows are kept."""
    if not regimes:
        share = f"{100 * result['suppress']:g} %"
        return "unknown (not computed)" if regimes is None else f"no eps leaves out {share} of the rows or less"
    most = min(regimes, key=lambda regime: regime["suppressed"])
    shown = [regimes[0]] if most is regimes[0] else [regimes[0], most]
    return f"k = {result['k']:,} holds " + "; ".join(describe_regime(regime, result["rows"]) for regime in shown)


def describe_regime(regime: dict[str, Any], rows: int) -> str:
    """Where a regime begins, and for how many rows and classes."""
    share, classes = say_share(regime["suppressed"], rows), regime["classes"]
    counted = f"{classes:,} class{'es' * (classes > 1)}"
    return f"from eps {format_eps(regime['start'])} for {share} of the rows, {counted}"


def say_proven(regimes: list[dict[str, Any]] | None) -> str:
    """Whether the number of classes is known to be the largest."""
    proven = regimes and all(regime["proven"] for regime in regimes)
    return " (proven: no partition has more)" if proven else ""


def format_eps(eps: float | None) -> str:
    """A radius; infinity as a word."""
    return "inf" if eps is None else f"{eps:.4f}"


def print_profile(result: dict[str, Any]) -> None:
    """Shares of the rows that cannot hide, from where on they can, and what each column adds."""
    say_private("a profile is counted from real rows; do not publish it.")
    rows = f"{result['rows']:,} rows" + (f" of {result['people']:,} people" if result["counted"] == "people" else "")
    say(f"{rows}, metric {result['metric']}")
    say(f"{say_hiding(result['metric'], result['counted'])} {RULER}")
    print_eps_error(result)
    for advice in choose_advice(result["advice"]):
        out().print(f"\n[bold]{escape(say_earliest(advice))}[/]")
        say(say_advice(advice))
    print_shares(result["profile"], "Rows", "")
    if result["counted"] == "people":
        print_shares(result["profile"], "People with such a row", "people_")
    say("\nSo many of the rows can hide among k from this eps on (at least-at most):")
    table = grid("k>", "50 %>", "90 %>", "99 %>", "100 %>")
    for k in dict.fromkeys(line["k"] for line in result["hidden"]):
        spans = [(line["eps_at_least"], line["eps_at_most"]) for line in result["hidden"] if line["k"] == k]
        table.add_row(f"{k:,}", *(join_ends(*map(format_eps, span)) for span in spans))
    out().print(table)
    print_cuts(result)
    print_columns(result["columns"])
    for last in result.get("last", ()):
        say(say_last(last, result["rows"]))
    for figures in result.get("one_person", ()):
        say(say_without_one(figures, "person" if result["counted"] == "people" else "row"))
    if result.get("one_person"):
        say(SAME_AXES)
    say_counted(result["counted"])
    say_drawn(result["plot"])


def print_shares(lines: list[dict[str, Any]], whose: str, prefix: str) -> None:
    """A line for each k: between which shares cannot hide at each eps."""
    say(f"\n{whose} that cannot hide among k at eps, in percent (at least-at most):")
    radii = list(dict.fromkeys(line["eps"] for line in lines))
    table = grid("k>", *(f"eps {eps:g}>" for eps in radii))
    for k in dict.fromkeys(line["k"] for line in lines):
        here = [line for line in lines if line["k"] == k]
        spans = [(line[f"{prefix}exposed_at_least"], line[f"{prefix}exposed_at_most"]) for line in here]
        table.add_row(f"{k:,}", *(format_span(*span) for span in spans))
    out().print(table)


def format_span(least: float, most: float) -> str:
    """Two shares in percent, or one where they agree on the screen."""
    return join_ends(*(f"{100 * share:.1f}" for share in (least, most)))


def join_ends(low: str, high: str) -> str:
    """Two figures, or one where they agree on the screen."""
    return low if low == high else f"{low}-{high}"


def print_cuts(result: dict[str, Any]) -> None:
    """The widest class of releases at each k, and below what no release of all rows goes."""
    reached = result["reached"]
    if not reached:
        return
    how = f" (--cut minimal{says_balls(result)})" if says_balls(result) else ""
    say(f"\nWhat releases of all rows reach{how}: eps is {WIDEST[result['metric']]} their widest class.")
    table = grid("k>", "no release below>", "minimal cut>", "classes>", "local cut>", "classes>")
    for cut in reached:
        narrow = (format_eps(cut["eps_at_least"]), format_eps(cut["minimal_eps"]), f"{cut['minimal_classes']:,}")
        table.add_row(f"{cut['k']:,}", *narrow, format_eps(cut["local_eps"]), f"{cut['local_classes']:,}")
    out().print(table)


def print_columns(columns: list[dict[str, Any]]) -> None:
    """From where on half of the rows could hide without each column."""
    say("\nHalf of the rows can hide among k from this eps at the earliest, without a column:")
    ks = list(dict.fromkeys(line["k"] for line in columns))
    table = grid("without", *(f"k = {k:,}>" for k in ks))
    first = columns[0]["column"]
    table.add_row("(none)", *(format_eps(line["eps_half"]) for line in columns if line["column"] == first))
    for column in dict.fromkeys(line["column"] for line in columns):
        rest = (line["eps_half_without"] for line in columns if line["column"] == column)
        table.add_row(escape(column), *map(format_eps, rest))
    out().print(table)


def choose_advice(advice: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The advice at each k, or at a usual one where they are many."""
    return advice if len(advice) <= MOST_ADVISED else [min(advice, key=lambda one: abs(one["k"] - USUAL_K))]


def say_advice(advice: dict[str, Any]) -> str:
    """What isolates rows most at one k, and what the last rows to hide cost."""
    return f"{say_isolating(advice)} {say_bounds(advice)}"


def say_last(last: dict[str, Any], rows: int) -> str:
    """What leaving out a few rows saves, which rows hide last, and what the others lose alone."""
    many = f"{last['left_out']:,} row{'s' * (last['left_out'] != 1)}"
    saved = (LEAVES_OUT if last["left_out"] else LEAVES_NONE).format(many=many, **last)
    them = "that row" if len(last["rows"]) == 1 else "those rows"
    without = "" if last["loss_without_last"] is None else WITHOUT_LAST.format(them=them, **last)
    return f"k = {last['k']:,}: {saved}. {name_last(last['rows'], rows)}{without}"


def name_last(numbers: list[int], rows: int) -> str:
    """The numbers of the rows that hide last, or why none is named."""
    if numbers:
        return f"Last to hide {'is row' if len(numbers) == 1 else 'are rows'} {list_numbers(numbers)}."
    return "Of so few rows, 0.5 % is not one." if rows < FEW else "More than 0.5 % of the rows hide last, at one eps."


def list_numbers(numbers: list[int]) -> str:
    """The first numbers, and how many more there are."""
    more = f" and {len(numbers) - MOST_NUMBERS:,} more (--json shows all)" * (len(numbers) > MOST_NUMBERS)
    return ", ".join(f"{number:,}" for number in numbers[:MOST_NUMBERS]) + more


def say_without_one(figures: dict[str, Any], one: str) -> str:
    """How far one more or less, a person or a row, moves the eps from which on all rows can hide."""
    k, every = figures["k"], format_eps(figures["eps_all"])
    if figures["eps_all_at_most"] is None:
        return f"k = {k:,}: all rows can hide from eps {every} at the earliest; without any one {one} none can."
    least, most = format_eps(figures["eps_all_at_least"]), format_eps(figures["eps_all_at_most"])
    earliest = f"all rows can hide from eps {every} at the earliest"
    if least == most == every:
        return f"k = {k:,}: {earliest}; leaving out any one {one} does not change that."
    return f"k = {k:,}: {earliest}; without any one {one}, from an eps of {least} to {most} at the earliest."


def print_eps_error(result: dict[str, Any]) -> None:
    """How far every eps may be wrong, where values were moved because there were too many points."""
    if result["eps_error"]:
        say(f"Too many points: values were moved, and every eps is within {result['eps_error']:.4f} of the truth.")


def print_lattice(result: dict[str, Any]) -> None:
    """The best node for each k, and the minimal ones."""
    say_private("counts of rows that are alike; do not publish them.")
    heights = ", ".join(f"{column} 0-{height - 1}" for column, height in result["heights"].items())
    say(f"{result['nodes']:,} nodes; levels of {heights}")
    table = grid("k>", "classes>", "suppressed>", "loss>", "levels~", "~")
    for node in result["best"]:
        levels = ",".join(map(str, node["levels"].values()))
        figures = (f"{node['classes']:,}", f"{node['suppressed']:,}", f"{node['loss']:.4f}")
        table.add_row(str(node["k"]), *figures, levels, describe_certainty(node, result["search"]))
    out().print(table)
    if result["search"] == "chain":
        say(CHAINS.format(column=max(result["heights"], key=result["heights"].__getitem__)))
    if result["peak_bytes"]:
        say(f"Classes of all nodes took {result['peak_bytes'] / 2**20:,.0f} MB at most.")
    for k, nodes in (result["minimal"] or {}).items():
        listed = "  ".join(",".join(map(str, levels)) for levels in nodes[:MOST_NODES])
        more = f"  and {len(nodes) - MOST_NODES} more" if len(nodes) > MOST_NODES else ""
        say(f"minimal for k = {k}: {listed}{more}")
    say_counted(result["counted"])


def print_mixed(result: dict[str, Any]) -> None:
    """The best pair of a node and an eps for each k, and the minimal ones."""
    say_private("counts of rows that are alike; do not publish them.")
    heights = ", ".join(f"{column} 0-{height - 1}" for column, height in result["heights"].items()) or "no column"
    measured = ", ".join(result["metric_columns"])
    say(f"{result['nodes']:,} nodes; levels of {heights}; eps on {measured}")
    table = grid("k>", "eps>", "classes>", "smallest>", "loss>", "levels~", "~")
    for goal, pairs in result["minimal"].items():
        best = min((pair["loss"] for pair in pairs), default=None)
        for pair in sorted(pairs, key=lambda pair: pair["loss"])[:MOST_NODES]:
            levels = ",".join(map(str, pair["levels"].values()))
            counts = f"{pair['classes']:,}", f"{pair['k']:,}", f"{pair['loss']:.4f}"
            table.add_row(goal, format_eps(pair["eps"]), *counts, levels, "best" * (pair["loss"] == best))
        if not pairs:
            table.add_row(goal, "none", "", "", "", "", "no node reaches it")
    out().print(table)
    more = sum(max(len(pairs) - MOST_NODES, 0) for pairs in result["minimal"].values())
    which = f" that lose least; --json shows {more:,} more" if more else ""
    say(f"Listed are the minimal pairs{which}: nothing below them in levels and eps reaches k.")
    say_counted(result["counted"])
    say_drawn(result["plot"])


def print_neighbours(result: dict[str, Any]) -> None:
    """A node, and those one step above and below it."""
    say_private("counts of rows that are alike; do not publish them.")
    heights = ", ".join(f"{column} 0-{height - 1}" for column, height in result["heights"].items())
    say(f"Levels of {heights}")
    table = grid("", "levels", "k>", "classes>", "loss>")
    for direction, nodes in (("up", result["up"]), ("here", [result["node"]]), ("down", result["down"])):
        for node in nodes:
            levels = ",".join(map(str, node["levels"].values()))
            table.add_row(direction, levels, f"{node['k']:,}", f"{node['classes']:,}", f"{node['loss']:.4f}")
    out().print(table)
    say_counted(result["counted"])


def describe_certainty(node: dict[str, Any], search: str) -> str:
    """What is known when not every node was seen."""
    if node["proven"]:
        return ""
    return "first on the chains" if search == "chain" else f"best found; none loses less than {node['bound']:.4f}"


def print_zigzag(result: dict[str, Any]) -> None:
    """Classes along the path, equal bars in one line, and which nodes are k-anonymous."""
    say_private("bars tell how many rows are alike; do not publish them.")
    say(f"Levels of {', '.join(result['columns'])}; neighbours meet in their {result['through']}.")
    by_people = result["counted"] == "people"
    smallest = {"smallest": "smallest>"} | ({"smallest_people": "fewest people>"} if by_people else {})
    table = grid("position>", "levels", "classes>", *smallest.values(), "holes>")
    for at in result["positions"][: 2 * MOST_STEPS]:
        node = int(at["position"])
        levels = ",".join(map(str, result["path"][node])) if at["position"] == node else result["through"]
        counts = (f"{at[name]:,}" for name in ("classes", *smallest))
        table.add_row(f"{at['position']:g}", levels, *counts, str(at["holes"] or ""))
    out().print(table)
    fewest = {"weight": "fewest rows>"} | ({"fewest_people": "fewest people>"} if by_people else {})
    bars = grid("dimension>", "from>", "to>", "bars>", *fewest.values())
    for line in result["summary"][:MOST_BARS]:
        ends = (f"{line['birth']:g}", f"{line['death']:g}")
        counts = (f"{line[name]:,}" if line[name] else "" for name in fewest)
        bars.add_row(str(line["dimension"]), *ends, f"{line['count']:,}", *counts)
    out().print(bars)
    if len(result["summary"]) > MOST_BARS or len(result["path"]) > MOST_STEPS:
        say("There are more; --json shows all.")
    parts = [f"{r['start']} to {r['stop']} (k={r['k']:,})" for r in result["regimes"]]
    listed = "; ".join(parts[:MOST_NODES]) + (
        f"; and {len(parts) - MOST_NODES} more" if len(parts) > MOST_NODES else ""
    )
    readings = ", ".join(result["readings"])
    say(f"k-anonymous nodes, under every reading ({readings}): {listed or 'none'}")
    say_counted(result["counted"])
    say_drawn(result["plot"])


def print_lives(result: dict[str, Any]) -> None:
    """Versions, lives of classes, and how many rows stay together."""
    say_private("bars tell how many rows are alike; do not publish them.")
    counted = ("version", "rows", "arrived", "left", "classes", "smallest")
    table = grid(*(f"{name}>" for name in counted))
    for version in result["versions"][:MOST_VERSIONS]:
        table.add_row(*(f"{version[name]:,}" for name in counted))
    out().print(table)
    lives = grid("from>", "to>", "bars>", "rows>", "smallest>", f"k = {result['k']:,}", "~")
    every = list_lives(result)
    lines = sorted(every, key=lambda line: (line["safe"], -line["rows"]))[:MOST_BARS]
    for line in sorted(lines, key=lambda line: (line["birth"], -line["death"], line["safe"])):
        counts = (f"{line[name]:,}" for name in ("bars", "rows", "smallest"))
        safe = "[blue]safe[/]" if line["safe"] else "[dark_orange]below k[/]"
        lives.add_row(
            f"{line['birth']:g}", f"{line['death']:g}", *counts, safe, draw_life(line, len(result["versions"]))
        )
    out().print(lives)
    if len(every) > MOST_BARS or len(result["versions"]) > MOST_VERSIONS:
        say("There are more; --json shows all, --plot draws them.")
    if result["shorter_bars"]:
        say(f"{result['shorter_bars']:,} shorter bars are left out (--longest).")
    for sentence in say_together(result):
        out().print(sentence)
    if result["undecided"]:
        say(f"Bars are one placing that fits the files: {result['undecided']:,} times a row fits several classes.")
        say("Joint k is that of kech verify, for all placings; --series knows the cohorts.")
    say_drawn(result["plot"])


def list_lives(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Bars of equal life in one line: all bars, or the longest that were asked for."""
    if not result["shorter_bars"]:
        return list(result["summary"])
    kinds = defaultdict(list)
    for bar in result["bars"]:
        kinds[bar["birth"], bar["death"], bar["safe"]].append(bar["weight"])
    return [
        {"birth": birth, "death": death, "safe": safe, "bars": len(rows), "rows": sum(rows), "smallest": min(rows)}
        for (birth, death, safe), rows in kinds.items()
    ]


def draw_life(line: dict[str, Any], versions: int) -> str:
    """A sign for each version of a life, where there is room for all of them."""
    alive = (line["birth"] <= version <= line["death"] for version in range(1, versions + 1))
    return "".join("=" if lives else "." for lives in alive) if versions <= MOST_VERSIONS else ""


def say_together(result: dict[str, Any]) -> Iterator[str]:
    """How many rows stay together through all versions, and how many came or left among too few."""
    k, joint_k, at_least = result["k"], result["joint_k"], result["at_least"]
    if at_least >= k:
        yield f"Joint k {joint_k:,}: every row of several versions stays together with {joint_k:,} or more."
    else:
        figure = f"{joint_k:,}" if at_least == joint_k else f"between {at_least:,} and {joint_k:,}"
        few = f"{result['rows_below']:,} of {result['rows']:,} rows stay together with fewer than {k:,}"
        yield f"[dark_orange]Joint k {figure}:[/] {few} through all versions."
    if result["changed"]:
        figure = f"Rows that came or left among fewer than {k:,}: {result['changed']:,}."
        yield f"[dark_orange]{figure}[/] Subtracting shows them."


def print_hierarchy(result: dict[str, Any]) -> None:
    """A tree with counts, its largest branches."""
    say_private("the values of the column and how many rows have each.")
    sizes = ", ".join(f"{size:,}" for size in result["levels"])
    counts = f"{result['leaves']:,} values in {result['rows']:,} rows; labels at each level: {sizes}"
    say(f"{result['column']} ({result['kind']}): {counts}")
    depth = choose_depth(result["levels"])
    for root in result["tree"]:
        out().print(build_branch(root, depth))
    if result["padded"]:
        say(f"{result['padded']:,} values were less deep; the label below the root is repeated for them.")
    if result["unused"]:
        say(f"{result['unused']:,} values of the hierarchy do not occur in the column.")
    if result["file"]:
        advice = f"Written to {result['file']}: review it, name it after its column,"
        say(f"{advice} and name its folder with --hierarchies.")


def choose_depth(levels: list[int]) -> int:
    """How many levels from the root have room on a screen: two, or more while they are short."""
    lines = accumulate(
        min(size, MOST_CHILDREN * above) for size, above in zip(levels[-2::-1], levels[:0:-1], strict=True)
    )
    return max(1, sum(line <= MOST_LINES for line in lines))


def build_branch(node: dict[str, Any], depth: int) -> Tree:
    """A node and the children with most rows, in their order; an only child of the same name is skipped."""
    children = node["children"]
    while len(children) == 1 and children[0]["label"] == node["label"]:
        children = children[0]["children"]
    below = f"  ({len(children):,} below)" if children and not depth else ""
    tree = Tree(escape(f"{node['label']}  {node['rows']:,}{below}"))
    largest = sorted(children, key=lambda child: -child["rows"])[: MOST_CHILDREN if depth else 0]
    for child in children:
        if child in largest:
            tree.add(build_branch(child, depth - 1))
    if depth and len(children) > len(largest):
        tree.add(f"... and {len(children) - len(largest):,} more")
    return tree

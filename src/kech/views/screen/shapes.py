"""How barcodes, lattices and hierarchies look on a terminal."""

from itertools import accumulate
from typing import Any

from rich.markup import escape
from rich.tree import Tree

from kech.views.screen.terminal import grid, out

MOST_BARS = 20  # on the screen
MOST_CHILDREN = 8
MOST_LINES = 40
MOST_NODES = 6
MOST_STEPS = 20
YES = {True: "yes", False: "no", None: "unknown"}


def print_barcode(found: dict[str, Any]) -> None:
    """The longest-lived components, the number of holes, and the regimes of each reading."""
    bars = [bar for bar in found["bars"] if bar["dimension"] == 0]
    holes = len(found["bars"]) - len(bars)
    out().print("[yellow]PRIVATE:[/] bars are real distances between people; do not publish them.")
    looked = f"{holes:,} holes up to dimension {found['max_dimension']} over Z/{found['field']}"
    looked = looked if found["max_dimension"] else "holes not looked for (--max-dimension 1, extra `topology`)"
    out().print(f"{found['rows']:,} rows, metric {found['metric']}: {len(bars):,} bars of components, {looked}")
    if found["eps_error"]:
        out().print(
            f"Too many points: values were moved, and every eps is within {found['eps_error']:.4f} of the truth."
        )
    print_bars(bars)
    if found["shorter_bars"]:
        out().print(f"{found['shorter_bars']:,} shorter bars are left out (--longest).")
    if left_out := sum(found["left_out"].values()):
        out().print(f"{left_out:,} bars of zero length are left out; --zero-length --json shows them.")
    for reading, regimes in found["regimes"].items():
        out().print(f"{reading}: {format_regimes(regimes)}{say_proven(regimes)}")
    for at in found["radii"]:
        holds = ", ".join(f"{name} {YES[at[name]]}" for name in ("homological", "strict"))
        out().print(f"eps {at['eps']:g}: {at['classes']:,} classes; for k up to {at['k']:,}: {holds}")
    if found["plot"]:
        out().print(escape(f"Drawn to {found['plot']} (PRIVATE)"))


def print_bars(bars: list[dict[str, Any]]) -> None:
    """The longest bars of components, each where it lies between 0 and the last merge."""
    table = grid("from eps>", "to eps>", "rows>", "simplex from>", "")
    top = max((bar["death"] or 0.0 for bar in bars), default=0.0) or 1.0
    longest = sorted(bars, key=lambda bar: (bar["birth"] - end(bar), -bar["weight"]))[:MOST_BARS]
    for bar in sorted(longest, key=lambda bar: (bar["birth"], end(bar))):
        start, stop = (round(30 * min(x / top, 1)) for x in (bar["birth"], end(bar)))
        ends = [format_eps(bar[name]) for name in ("birth", "death")]
        table.add_row(
            *ends,
            f"{bar['weight']:,}",
            format_eps(bar["simplex_from"]),
            " " * start + ("━" * max(stop - start, 1) if bar["birth"] < end(bar) else "·"),
        )
    out().print(table)
    if len(bars) > len(longest):
        out().print(f"The {len(longest)} longest of {len(bars):,} bars are shown; --json shows all.")


def end(bar: dict[str, Any]) -> float:
    """Where a bar ends; null is infinity."""
    return float("inf") if bar["death"] is None else float(bar["death"])


def format_regimes(regimes: list[dict[str, Any]] | None) -> str:
    """Regimes in a line."""
    if regimes is None:
        return "unknown (not computed)"
    parts = [f"[{format_eps(r['start'])}, {format_eps(r['stop'])}) k={r['k']:,} in {r['classes']:,}" for r in regimes]
    return "; ".join(parts[:6]) + ("; ..." if len(parts) > 6 else "") or "nowhere"


def say_proven(regimes: list[dict[str, Any]] | None) -> str:
    """Whether the number of classes is known to be the largest."""
    proven = regimes and all(regime["proven"] for regime in regimes)
    return " classes: proven, no partition has more" if proven else ""


def format_eps(eps: float | None) -> str:
    """A radius; infinity as a word."""
    return "inf" if eps is None else f"{eps:.4f}"


def print_lattice(found: dict[str, Any]) -> None:
    """The best node for each k, and the minimal ones."""
    out().print("[yellow]PRIVATE:[/] counts of rows that are alike; do not publish them.")
    heights = ", ".join(f"{column} 0-{height - 1}" for column, height in found["heights"].items())
    out().print(escape(f"{found['nodes']:,} nodes; levels of {heights}"))
    table = grid("k>", "classes>", "suppressed>", "loss>", "levels~", "~")
    for node in found["best"]:
        levels = ",".join(map(str, node["levels"].values()))
        figures = (f"{node['classes']:,}", f"{node['suppressed']:,}", f"{node['loss']:.4f}")
        table.add_row(str(node["k"]), *figures, levels, describe_certainty(node, found["search"]))
    out().print(table)
    if found["peak_bytes"]:
        out().print(f"Classes of all nodes took {found['peak_bytes'] / 2**20:,.0f} MB at most.")
    for k, nodes in (found["minimal"] or {}).items():
        shown = "  ".join(",".join(map(str, levels)) for levels in nodes[:MOST_NODES])
        more = f"  and {len(nodes) - MOST_NODES} more" if len(nodes) > MOST_NODES else ""
        out().print(f"minimal for k = {k}: {shown}{more}")


def print_neighbours(found: dict[str, Any]) -> None:
    """A node, and those one step above and below it."""
    out().print("[yellow]PRIVATE:[/] counts of rows that are alike; do not publish them.")
    heights = ", ".join(f"{column} 0-{height - 1}" for column, height in found["heights"].items())
    out().print(escape(f"Levels of {heights}"))
    table = grid("", "levels", "k>", "classes>", "loss>")
    for place, nodes in (("up", found["up"]), ("here", [found["node"]]), ("down", found["down"])):
        for node in nodes:
            levels = ",".join(map(str, node["levels"].values()))
            table.add_row(place, levels, f"{node['k']:,}", f"{node['classes']:,}", f"{node['loss']:.4f}")
    out().print(table)


def describe_certainty(node: dict[str, Any], search: str) -> str:
    """What is known when not every node was seen."""
    if node["proven"]:
        return ""
    return "first on the chains" if search == "chain" else f"best found; none loses less than {node['bound']:.4f}"


def print_zigzag(found: dict[str, Any]) -> None:
    """Classes along the path, equal bars in one line, and which nodes are k-anonymous."""
    out().print("[yellow]PRIVATE:[/] bars tell how many rows are alike; do not publish them.")
    out().print(escape(f"Levels of {', '.join(found['columns'])}; neighbours meet in their {found['through']}."))
    table = grid("position>", "levels", "classes>", "smallest>", "holes>")
    for at in found["positions"][: 2 * MOST_STEPS]:
        node = int(at["position"])
        levels = ",".join(map(str, found["path"][node])) if at["position"] == node else found["through"]
        table.add_row(
            f"{at['position']:g}", levels, f"{at['classes']:,}", f"{at['smallest']:,}", str(at["holes"] or "")
        )
    out().print(table)
    bars = grid("dimension>", "from>", "to>", "bars>", "fewest rows>")
    for line in found["summary"][:MOST_BARS]:
        ends = (f"{line['birth']:g}", f"{line['death']:g}")
        fewest = f"{line['weight']:,}" if line["weight"] else ""
        bars.add_row(str(line["dimension"]), *ends, f"{line['count']:,}", fewest)
    out().print(bars)
    if len(found["summary"]) > MOST_BARS or len(found["path"]) > MOST_STEPS:
        out().print("There are more; --json shows all.")
    parts = [f"{r['start']} to {r['stop']} (k={r['k']:,})" for r in found["regimes"]]
    shown = "; ".join(parts[:MOST_NODES]) + (f"; and {len(parts) - MOST_NODES} more" if len(parts) > MOST_NODES else "")
    readings = ", ".join(found["readings"])
    out().print(f"k-anonymous nodes, under every reading ({readings}): {shown or 'none'}")
    if found["plot"]:
        out().print(escape(f"Drawn to {found['plot']} (PRIVATE)"))


def print_hierarchy(found: dict[str, Any]) -> None:
    """A tree with counts, its largest branches."""
    out().print("[yellow]PRIVATE:[/] the values of the column and how many rows have each.")
    sizes = ", ".join(f"{size:,}" for size in found["levels"])
    counts = f"{found['leaves']:,} values in {found['rows']:,} rows; labels at each level: {sizes}"
    out().print(escape(f"{found['column']} ({found['kind']}): {counts}"))
    depth = choose_depth(found["levels"])
    for root in found["tree"]:
        out().print(build_branch(root, depth))
    if found["padded"]:
        out().print(f"{found['padded']:,} values were less deep; the label below the root is repeated for them.")
    if found["unused"]:
        out().print(f"{found['unused']:,} values of the hierarchy do not occur in the column.")
    if found["file"]:
        named = f"Written to {found['file']}: review it, name it after its column,"
        out().print(escape(f"{named} and name its folder with --hierarchies."))


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
    shown = sorted(children, key=lambda child: -child["rows"])[: MOST_CHILDREN if depth else 0]
    for child in children:
        if child in shown:
            tree.add(build_branch(child, depth - 1))
    if depth and len(children) > len(shown):
        tree.add(f"... and {len(children) - len(shown):,} more")
    return tree

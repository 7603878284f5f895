"""Page: pages/speed.md, drawn from the figures of a run and from nothing else."""

from collections.abc import Iterable, Sequence
from typing import Any

Line = dict[str, Any]

TOOLS = {
    "kech": "**kech**",
    "kech like peers": "kech, labels like the peers'",
    "mondrian": "Mondrian in numpy",
    "anonypy": "anonypy",
}
MANY = 99  # values of k from 2 to 100


def draw_page(found: dict[str, Any]) -> str:
    """The whole page."""
    machine, versions, peers, settings = (found[x] for x in ("machine", "versions", "peers", "settings"))
    others = max(line["others"] for line in found["measured"])
    return f"""# Performance

Made by `make bench`; do not edit. All figures come from one run on one machine, and will differ on yours.

{draw_tables(found)}

## How it was measured

- **End to end**: from starting the program to its exit: start Python, read a CSV, write a CSV. kech also shuffles the
  rows, flushes the file to the disk, reads it again, recomputes every claim and writes a certificate; the peers do not.
- **One at a time**: each measurement is a fresh process. Wall seconds are those a user waits; CPU seconds add up all
  cores. Peak memory is the largest resident set the system reports for the process. A command that takes less than
  {settings["short"]:g} s is run {settings["repeats"]} times and the shortest run counts; a longer one is run once.
- **Cap**: a command is stopped after {settings["cap"]:g} s. Then only that is reported, and no memory or loss.
- **Loss**: `benchmarks/score.py` reads the published labels of every file and takes nothing a tool says about itself.
  GCP is the mean width of all cells: 0 as in the input, 1 all lost; a missing row counts 1 in each column. k is counted
  again from the file.
- **Tables**: the town of `kech demo` (seed {settings["seed"]}, 3 % of the jobs missing) with 6 quasi-identifiers: a
  number, a date and 4 of text. Adult (30,162 rows) with 8: a number and 7 of text. The peers read the date as days
  since 1970.
- **kech** runs with its defaults: round edges that hide among k rows, and prefixes for codes such as `zip`. Such labels
  say less about single persons, and lose more. **Labels like the peers'** means `--grid exact`, edges as in the data,
  and for the town `zip` as an ordered column. Compare the peers' loss with that line.
- **Mondrian in numpy** is `benchmarks/public/peers.py`: the strict algorithm as Python usually writes it, with text
  in the order of its letters. It was written for this benchmark; it is not anybody's package.
- **anonypy** {peers["anonypy"]} (pandas {peers["pandas"]}) runs as its README shows, with text columns as categories.
  It and Mondrian print the set of values that occur in a class; for one and the same class that is never wider,
  and can be narrower, than the range from first to last that kech prints for `zip`.

Machine: {machine["processor"]}, {machine["cores"]} cores, {machine["memory_gb"]} GB, {machine["system"]}.
kech {versions["kech"]} ({versions["commit"]}), Python {versions["python"]}, DuckDB {versions["duckdb"]}, \
pyarrow {versions["pyarrow"]}, numpy {versions["numpy"]}.
While the figures were taken, everything else on the machine kept at most {others:.2f} of its cores busy.

## What is not measured

- Other formats than CSV, other tables, more than {max(line["rows"] for line in found["measured"]):,} rows, hierarchies
  from files, a limit on memory, disks slower than this one, cold file caches.
- Other k than {settings["k"]} for the peers, l-diversity and t-closeness.
- Tools that need Java or R, such as ARX and sdcMicro.
- How useful the released rows are for a given analysis; GCP only says how wide the labels are.
"""


def draw_tables(found: dict[str, Any]) -> str:
    """The figures."""
    lines, settings = found["measured"], found["settings"]
    return "\n\n".join(
        [
            f"## One release, k = {settings['k']}",
            draw(
                ["table", "rows", "tool", "time", "x kech", "CPU", "peak memory", "x kech", "GCP", "k", "rows lost"],
                (release_row(line, reference(lines, line)) for line in lines if line["what"] in TOOLS),
            ),
            "## Where kech spends the time of a release",
            draw(
                ["table", "rows", "start and import", "read and group", "order and cut", "write", "check"],
                (where(line) + parts_of(line) for line in lines if line["what"] == "parts"),
            ),
            "## Every k from 2 to 100, and verification",
            f"The middle columns compare `kech spectrum` with {MANY} times one measured command: the release at "
            f"k = {settings['k']}, which also writes and checks a file, and `kech spectrum --k "
            f"{settings['middle_k']}`, which does not. They are estimates: not every k costs the same.",
            draw(
                ["table", "rows", "spectrum", "peak memory", f"of {MANY} releases", f"of {MANY} spectra", "verify"],
                (spectrum_row(line, lines) for line in lines if line["what"] == "spectrum"),
            ),
        ]
    )


def draw(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all but the words are aligned to the right."""
    rule = ["---" if name in ("table", "tool") else "---:" for name in header]
    return "\n".join(map(draw_line, [header, rule, *rows]))


def draw_line(cells: Sequence[str]) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def release_row(line: Line, kech: Line) -> list[str]:
    """One tool on one table."""
    start = [*where(line), TOOLS[line["what"]]]
    if line["outcome"] == "over":
        bound = f"> {line['cap'] / kech['wall']:.3g}" if kech["outcome"] == "done" else "–"
        return [*start, took(line), bound, *["–"] * 6]
    if line["outcome"] != "done":
        return [*start, took(line), *["–"] * 7]
    score = line["score"]
    known = kech["outcome"] == "done"
    times, sizes = (f"{line[x] / kech[x]:.2f}" if known else "–" for x in ("wall", "peak_mb"))
    costs = [seconds(line["wall"]), times, seconds(line["cpu"]), megabytes(line), sizes]
    return [*start, *costs, f"{score['gcp']:.4f}", str(score["k"]), f"{score['rows_lost']:,}"]


def parts_of(line: Line) -> list[str]:
    """Seconds of each part and their share."""
    if line["outcome"] != "done":
        return [line["outcome"]] * 5
    return [f"{seconds(part)} ({part / line['wall']:.0%})" for part in line["parts"].values()]


def spectrum_row(line: Line, lines: Sequence[Line]) -> list[str]:
    """The spectrum beside 99 single commands, and verification."""
    shares = [share(line, reference(lines, line, what)) for what in ("kech", "spectrum of one k")]
    return [*where(line), took(line), megabytes(line), *shares, took(reference(lines, line, "verify"))]


def share(spectrum: Line, single: Line) -> str:
    """A spectrum as a share of 99 times a single command."""
    if {spectrum["outcome"], single["outcome"]} != {"done"}:
        return "–"
    return f"{spectrum['wall'] / (MANY * single['wall']):.3f}"


def reference(lines: Sequence[Line], line: Line, what: str = "kech") -> Line:
    """Another measurement on the same table."""
    return next(x for x in lines if (x["table"], x["rows"], x["what"]) == (line["table"], line["rows"], what))


def where(line: Line) -> list[str]:
    """Table and rows."""
    return [line["table"], f"{line['rows']:,}"]


def took(line: Line) -> str:
    """Wall time, or why there is none."""
    named = {"done": seconds(line["wall"]), "over": f"> {line.get('cap', 0):g} s"}
    return named.get(line["outcome"], "failed")


def seconds(value: float) -> str:
    """Two digits after the point where they say something."""
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


def megabytes(line: Line) -> str:
    """Peak memory, of a command that came to its end."""
    return f"{line['peak_mb']:,.0f} MB" if line["outcome"] == "done" else "–"

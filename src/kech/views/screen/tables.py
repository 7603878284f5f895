"""How tables and spectra look on a terminal."""

import re
import shlex
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from rich.markup import escape

from kech.views.screen.previews import print_costs, print_rows
from kech.views.screen.terminal import grid, out, say, say_drawn, say_private, warn, warn_of_values

LANDMARKS = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100)
MANY_KS = 24  # beyond, landmarks are shown
LONG_TABLE, SURE = 30, 0.9  # columns of a table whose sure guesses are told without what their names say
FEW_ROWS = 8  # of a spectrum, of which more figures are shown
ROUNDING = 1e-6  # tenths of a percent that come from floats, not from the data


def print_inspection(result: dict[str, Any], source: str) -> None:
    """Columns with their guessed roles, what is to be said of each, and the command that follows."""
    from kech.release.sentences import joint_words, nearly_empty_words  # its libraries are not read for --help

    dialect = f", delimiter {result['delimiter']!r}, {result['encoding']}" if result["delimiter"] else ""
    say(f"{result['rows']:,} rows, {len(result['columns'])} columns ({result['format']}{dialect})")
    print_columns(result["columns"])
    if result["input"]:
        say("The table was read again with the options below. Types, roles and figures come from that reading.")
    for sentence in nearly_empty_words(result["nearly_empty"], len(result["columns"])):
        warn(sentence)
    print_hints(result["columns"], planned=result["plan"] is not None)
    if result["first_rows"] is not None:
        say_private("the first rows as they are read.")
        print_rows([column["column"] for column in result["columns"]], result["first_rows"])
    if result["k"] is not None:
        names = ", ".join(result["quasi_identifiers"])
        share, by_people = f"{result['unique_share']:.1%} of the rows", result["counted"] == "people"
        unique = f"{share} equal no row of another person" if by_people else f"{share} are unique"
        say(f"As it is, k = {result['k']}{' by people' * by_people}: {unique} on {names}.")
    print_costs(result["costs"], rows=result["rows"], columns=len(result["quasi_identifiers"]))
    print_given_away(result["given_away"])
    for sentence in joint_words(result["identifying_together"]):
        warn(f"{sentence}")
    print_repeated_people(result)
    for trouble in filter(None, (column["trouble"] for column in result["columns"])):
        warn(f"a release will refuse this table. {trouble}")
    if result["plan"]:
        source, plan = map(shlex.quote, (source, result["plan"]))
        say(f"Plan written to {result['plan']}. Review it, then: kech release {source} --plan {plan} -o safe.csv")


def print_repeated_people(result: dict[str, Any]) -> None:
    """Columns that seem to name people: what the plan does about them, or what to do."""
    roles = {f"Column {column['column']!r} repeats: ": column["role"] for column in result["columns"]}
    by_people = result["plan"] and "person" in roles.values()
    solved = {"person": "The plan makes it the person: k counts people", "identifier": "The plan never publishes it"}
    for sentence in result["repeated_people"]:
        role = next((roles[head] for head in roles if sentence.startswith(head)), "")
        if by_people and role in solved:
            say(f"{sentence.partition('. If ')[0]}. {solved[role]}. If every row is another person: --rows-are-people.")
        else:
            warn(sentence)


def print_given_away(shares: Mapping[str, float]) -> None:
    """Which sensitive values classes of k would give away, before anybody released them."""
    from kech.release.sentences import given_away_words  # its libraries are not read for --help

    if shares:
        warn_of_values("a release would give values away, as far as a first cut tells:")
    for sentence in given_away_words(shares):
        say(sentence)
    if shares:
        say("--l 2 prevents it: write l = 2 below [goal] in the plan. kech preview tells its price.")


def print_columns(columns: Sequence[dict[str, Any]]) -> None:
    """What each column is, what it seems to be for, and how it would be generalized."""
    is_long = len(columns) > LONG_TABLE
    table = grid("column~", "type", "distinct>", "NULL>", "role and why~", "becomes~")
    for column in columns:
        counts = (f"{column['distinct']:,}", f"{column['nulls']:,}")
        last = (column["generalized"] or "").partition(" of ")[0] or ("see below" if column["trouble"] else "")
        why = column["reason"] + ("" if column["confidence"] == 1 else f", {column['confidence']:.0%}")
        why = why.replace("its name says", "name:").replace("its values look like", "values:")
        if is_long and column["confidence"] >= SURE and " name " in f" {column['reason']} ":
            why = f"name, {column['confidence']:.0%}"
        role = "not published" if column["role"] == "plain" and column["confidence"] < 1 else column["role"]
        cells = (repr(column["column"])[1:-1], column["type"], *counts, f"{role} ({why})", last)
        table.add_row(*map(escape, cells))
    out().print(table)


def print_hints(columns: Sequence[dict[str, Any]], *, planned: bool) -> None:
    """What is to be said of each column; what is the same of several is said once."""
    alike: dict[str, list[dict[str, Any]]] = {}
    for column in (column for column in columns if column["hint"]):
        alike.setdefault(f"{column['is_planned']} {omit_column(column)}", []).append(column)
    for first, *others in alike.values():
        says = f"{first['hint']}{' The plan says so.' * (planned and first['is_planned'])}"
        same = f" The same holds for {', '.join(repr(each['column']) for each in others)}." if others else ""
        say(f"{first['column']!r}: {says}{same}")


def omit_column(column: dict[str, Any]) -> str:
    """The hint at a column without its name, which options for its axis hold."""
    kinds = ("set", "hierarchy", "number")
    options = {shlex.quote(f"{column['column']}={kind}"): kind for kind in kinds}
    return re.sub("|".join(map(re.escape, options)), lambda match: options[match[0]], column["hint"])


def print_spectrum(result: dict[str, Any]) -> None:
    """Loss and classes for the k that people choose among."""
    rows = result["spectrum"]
    ks = {row["k"] for row in rows}
    selected = [row for row in rows if row["k"] in LANDMARKS] if len(ks) > MANY_KS else rows
    names = ", ".join(result["quasi_identifiers"])
    whose = f" of {result['people']:,} people" if result["counted"] == "people" else ""
    say(f"{result['rows']:,} rows{whose}, {result['points']:,} distinct after rounding on {names}")
    print_coarseness(result["step"], max((row["eps_error"] for row in rows), default=0.0))
    left_out = any(row["suppressed"] for row in rows)
    secrets, varies = (any(row[name] is not None for row in rows) for name in ("l", "variance"))
    bounded = result["no_bound"] is not None
    room = 10 if left_out or secrets or varies or bounded or any(map(describe_nearness, rows)) else 30
    more = [*(["left out>"] if left_out else []), *(["l>", "t>"] if secrets else []), *(["variance>"] * varies)]
    table = grid("k>", "cut", "classes>", "average>", "eps>", *more, "loss>", *(["gap>"] if bounded else []), "", "")
    for row in selected:
        bar = "█" * round(row["loss"] * room) or "▏"
        figures = (
            f"{row['classes']:,}",
            f"{row['average_class']:.1f}",
            f"{row['eps']:.4f}",
            *([f"{row['suppressed']:,}"] if left_out else []),
            *([str(row["l"]), f"{row['t']:.3f}"] if secrets else []),
            *([format_variance(row)] * varies),
            f"{row['loss']:.4f}",
            *([format_gap(row)] if bounded else []),
        )
        table.add_row(str(row["k"]), row["cut"], *figures, bar, describe_nearness(row))
    out().print(table)
    if bounded:
        explain_gaps(result["no_bound"])
    if len(selected) <= FEW_ROWS:
        print_quality(selected)
    say_drawn(result.get("plot"))
    if whose:
        say("k counts different people; averages, left out rows and losses count rows.")
    if len(selected) < len(rows):
        say(f"{len(ks)} values of k were computed; --json or --k shows any of them.")
    if len(ks) > FEW_ROWS and not result.get("effort"):
        say("Of so many k, most are searched for less time than a release takes. A release at such a k may lose less.")


def format_variance(row: dict[str, Any]) -> str:
    """The variance inside classes, and the least that is possible where it was asked for."""
    if row["variance"] is None:
        return ""
    least = row["variance_lower_bound"]
    return f"{row['variance']:.2%}" + ("" if least is None else f" (at least {least:.2%})")


def format_gap(row: dict[str, Any]) -> str:
    """How far a loss is above its bound."""
    return "" if row["loss_gap"] is None else describe_gap(row["loss_gap"])


def explain_gaps(no_bound: dict[str, str]) -> None:
    """What a gap says, and why some cuts have none."""
    say("gap: the loss is at most so far above what any release of these rows on this grid could reach.")
    for cut, why in no_bound.items():
        say(f"No bound for --cut {cut}: {why}.")


def describe_bound(bound: dict[str, Any]) -> str:
    """How far a loss is above what any release could reach, or why that is not known."""
    variance = f"{describe_variance(bound)} " if bound["variance"] is not None else ""
    return variance + describe_loss_bound(bound)


def describe_variance(bound: dict[str, Any]) -> str:
    """How much of the variance is inside classes."""
    least = bound["variance_lower_bound"]
    proven = "" if least is None else f", where no release at this k has less than {least:.2%}"
    return f"{bound['variance']:.2%} of the variance is inside classes{proven}."


def describe_loss_bound(bound: dict[str, Any]) -> str:
    """How far a loss is above what any release could reach, or why that is not known."""
    if bound["loss_lower_bound"] is None:
        return f"No lower bound of the loss: {bound['why_none']}."
    reach = f"what any release of these rows at k = {bound['k']:,} on this grid could reach"
    if bound["loss_gap"] is None:
        return f"Nothing is proven of the loss {bound['loss']:.4f}: the lower bound of {reach} is 0."
    missed = bound["gap_asked"] is not None and bound["loss_gap"] > bound["gap_asked"]
    advice = (
        f" You asked for {describe_gap(bound['gap_asked'])}: search longer (--effort best), or protect less."
        if missed
        else ""
    )
    return f"The loss {bound['loss']:.4f} is at most {describe_gap(bound['loss_gap'])} above {reach}.{advice}"


def describe_gap(gap: float) -> str:
    """A share in percent with one digit, never rounded down.

    >>> describe_gap(0.0501), describe_gap(0.0)
    ('5.1 %', '0.0 %')
    """
    return f"{ceil(1000 * gap - ROUNDING) / 10:,.1f} %"


def print_coarseness(step: float, error: float) -> None:
    """That axes were made coarser, and what it does to eps."""
    if step:
        words = f"Too many points: axes are in cells of {step:.2%} of their length, eps is up to {error:.4f} larger."
        say(f"{words} --max-points or --memory allows more.")


def print_quality(rows: list[dict[str, Any]]) -> None:
    """The figures people know, and where the loss lies."""
    columns = list(rows[0]["loss_per_column"])
    table = grid("k>", "cut", "C_avg>", "discernibility>", "loss of each column~")
    for row in rows:
        losses = ", ".join(f"{column} {row['loss_per_column'][column]:.3f}" for column in columns)
        table.add_row(str(row["k"]), row["cut"], f"{row['c_avg']:.2f}", f"{row['discernibility']:,}", escape(losses))
    out().print(table)


def describe_nearness(row: dict[str, Any]) -> str:
    """How near the eps of the minimal cut is to what is possible."""
    eps, bound = row["eps"], row["eps_lower_bound"]
    if row["cut"] != "minimal" or bound is None:
        return ""
    return "eps proven" if eps <= bound + 1e-9 else f"eps >= {bound:.4f}"

"""How tables, spectra and releases look on a terminal."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape

from kech.views.screen.ledgers import earlier_releases
from kech.views.screen.previews import rows
from kech.views.screen.terminal import grid, out

LANDMARKS = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100)
MANY_KS = 24  # beyond, landmarks are shown
FEW_ROWS = 8  # of a spectrum, of which more figures are shown
SIGNS = {"k": ">=", "l": ">=", "c": "<", "t": "<=", "alpha": "<="}  # how goals bound what is found
MISSING_IS_A_VALUE = "l counts a missing value as a value."
NEARLY_ALL = 0.9  # of the rows: then a value points at its row


def inspection(found: dict[str, Any], source: str) -> None:
    """Columns with their guessed roles, what is to be said of each, and the command that follows."""
    dialect = f", delimiter {found['delimiter']!r}, {found['encoding']}" if found["delimiter"] else ""
    out().print(f"{found['rows']:,} rows, {len(found['columns'])} columns ({found['format']}{dialect})")
    columns_of(found["columns"])
    if found["reading"]:
        out().print("The table was read again as the options below say; types, roles and figures are those of that.")
    for column in found["columns"]:
        hints(column, planned=found["plan"] is not None)
    if found["first_rows"] is not None:
        out().print("[yellow]PRIVATE:[/] the first rows as they are read.")
        rows([column["column"] for column in found["columns"]], found["first_rows"])
    if found["k"] is not None:
        names = ", ".join(found["quasi_identifiers"])
        share = f"{found['unique_share']:.1%}"
        out().print(escape(f"As it is, k = {found['k']}: {share} of the rows are unique on {names}."))
    for columns in found["identifying_together"]:
        words = "nearly every row is unique on them together. Publish one of them at most as it is"
        out().print(escape(f"Warning: {', '.join(columns)}: {words}."))
    if found["plan"]:
        source, plan = map(shlex.quote, (source, found["plan"]))
        out().print(
            escape(f"Plan written to {found['plan']}. Review it, then: kech release {source} --plan {plan} -o safe.csv")
        )


def columns_of(columns: Sequence[dict[str, Any]]) -> None:
    """What each column is, what it seems to be for, and how it would be generalized."""
    table = grid("column~", "type", "distinct>", "NULL>", "role", "why~", "generalized to~")
    for column in columns:
        counts = (f"{column['distinct']:,}", f"{column['nulls']:,}")
        last = column["generalized"] or ("see below" if column["trouble"] else "")
        cells = (repr(column["column"])[1:-1], column["type"], *counts, column["role"], column["reason"], last)
        table.add_row(*map(escape, cells))
    out().print(table)


def hints(column: dict[str, Any], *, planned: bool) -> None:
    """What is to be said of one column."""
    in_plan = planned and (column["reading"] or column["suggested"] == "hierarchy")
    hint = column["hint"] and column["hint"] + " The plan says so." * bool(in_plan)
    for said in filter(None, (column["trouble"], hint)):
        out().print(escape(f"{column['column']!r}: {said}"))


def spectrum(found: dict[str, Any]) -> None:
    """Loss and classes for the k that people choose among."""
    rows = found["spectrum"]
    ks = {row["k"] for row in rows}
    shown = [row for row in rows if row["k"] in LANDMARKS] if len(ks) > MANY_KS else rows
    names = ", ".join(found["quasi_identifiers"])
    out().print(escape(f"{found['rows']:,} rows, {found['points']:,} distinct on {names}"))
    coarse(found["step"], max((row["eps_error"] for row in rows), default=0.0))
    left_out = any(row["suppressed"] for row in rows)
    secrets = any(row["l"] is not None for row in rows)
    room = 10 if left_out or secrets or any(map(nearness, rows)) else 30
    more = [*(["left out>"] if left_out else []), *(["l>", "t>"] if secrets else [])]
    table = grid("k>", "cut", "classes>", "average>", "eps>", *more, "loss>", "", "")
    for row in shown:
        bar = "█" * round(row["loss"] * room) or "▏"
        figures = (
            f"{row['classes']:,}",
            f"{row['average_class']:.1f}",
            f"{row['eps']:.4f}",
            *([f"{row['suppressed']:,}"] if left_out else []),
            *([str(row["l"]), f"{row['t']:.3f}"] if secrets else []),
            f"{row['loss']:.4f}",
        )
        table.add_row(str(row["k"]), row["cut"], *figures, bar, nearness(row))
    out().print(table)
    if len(shown) <= FEW_ROWS:
        quality(shown)
    if found.get("plot"):
        out().print(escape(f"Drawn to {found['plot']} (PRIVATE)"))
    if len(shown) < len(rows):
        out().print(f"{len(ks)} values of k were computed; --json or --k shows any of them.")
    if len(ks) > FEW_ROWS and not found.get("effort"):
        out().print("So many k are searched quickly; a release searches longer and may lose less.")


def coarse(step: float, error: float) -> None:
    """That axes were made coarser, and what it does to eps."""
    if step:
        words = f"Too many points: axes are in cells of {step:.2%} of their length, eps is up to {error:.4f} larger."
        out().print(f"{words} --max-points or --memory allows more.")


def quality(rows: list[dict[str, Any]]) -> None:
    """The figures people know, and where the loss lies."""
    columns = list(rows[0]["loss_per_column"])
    table = grid("k>", "cut", "C_avg>", "discernibility>", "loss of each column~")
    for row in rows:
        losses = ", ".join(f"{column} {row['loss_per_column'][column]:.3f}" for column in columns)
        table.add_row(str(row["k"]), row["cut"], f"{row['c_avg']:.2f}", f"{row['discernibility']:,}", escape(losses))
    out().print(table)


def nearness(row: dict[str, Any]) -> str:
    """How near the eps of the minimal cut is to what is possible."""
    eps, bound = row["eps"], row["eps_lower_bound"]
    if row["cut"] != "minimal" or bound is None:
        return ""
    return "eps proven" if eps <= bound + 1e-9 else f"eps >= {bound:.4f}"


def released(found: dict[str, Any], *, unmoved: Sequence[str] = ()) -> None:
    """What was written, in plain words; `unmoved` are columns whose ends are not moved by chance."""
    out().print(escape(f"Wrote {found['file']} and {found['certificate']}"))
    if "verified" in found:
        out().print(escape(f"Wrote {found['report']} and {found['plan']}; the file was verified."))
    for file in found.get("private", []):
        out().print(escape(f"PRIVATE: {file} holds values of the table; the plan needs it, do not publish it."))
    claims(found)
    kept_goals("In", found["goals"], found["measured"]["l"])
    hard_goals(found)
    if "l" in found["goals"]:
        out().print(MISSING_IS_A_VALUE)
    if found["coarse"]:
        coarse(found["coarse"]["step"], found["coarse"]["eps_error"])
    homogeneous(found["measured"]["l"])
    earlier_releases(found["ledger"])
    if found["mapping"]:
        out().print(escape(f"PRIVATE: {found['mapping']} undoes this release. Keep it as you keep the original."))
    if found["dropped"]:
        out().print(escape(f"Not published: {', '.join(found['dropped'])}"))
    for said in doubts(found, unmoved):
        out().print(escape(f"Warning: {said}"))


def doubts(found: dict[str, Any], unmoved: Sequence[str]) -> Iterator[str]:
    """What its maker should look at before a release goes out."""
    if found["identifying"]:
        names = ", ".join(found["identifying"])
        remedy = "leave them out of --keep and --sensitive; numbers and dates may go to --qi"
        yield f"{names}: published as they are, and nearly every row has a value of its own: {remedy}."
    yield from joint_doubts(found)
    if found["rare_texts"]:
        names, remedy = ", ".join(found["rare_texts"]), "give them a hierarchy, or no role"
        yield f"{names}: nearly every row has a text of its own, so labels hardly tell anything: {remedy}."
    if found["unhidden_edges"]:
        yield f"edges of {', '.join(found['unhidden_edges'])} need not hide among k rows (--grid)."
    if unmoved:
        yield f"ends of {', '.join(unmoved)} are not moved at random, so many are somebody's value (--protect none)."


def joint_doubts(found: dict[str, Any]) -> Iterator[str]:
    """Columns that point at rows together."""
    for columns in found["identifying_together"]:
        remedy = "leave one of them out of --keep and --sensitive; numbers and dates may go to --qi"
        yield f"{', '.join(columns)}: published as they are, and nearly every row is unique on them together: {remedy}."


def claims(found: dict[str, Any]) -> None:
    """k, classes and loss in a sentence."""
    out().print(
        f"Every row hides among at least {found['k']:,}: {found['rows']:,} rows in {found['classes']:,} "
        f"{'class' if found['classes'] == 1 else 'classes'}, "
        f"loss {found['loss']:.4f}, suppressed {counted(found.get('suppressed', 0))}."
    )
    if isinstance(found.get("suppressed"), str):
        out().print("So few rows are left out that their number is hidden; the loss is that of the published rows.")
    if found["k"] == 1:
        out().print("[yellow]Warning:[/] k = 1 hides nobody: some row is alone in its class.")
    if found["classes"] == 1:
        out().print("All rows are one class: the quasi-identifiers tell nothing any more.")


def counted(rows: int | str) -> str:
    """A number of rows, or words where it is hidden."""
    return rows if isinstance(rows, str) else f"{rows:,}"


def kept_goals(head: str, goals: dict[str, Any], sensitive: Iterable[str]) -> None:
    """The goals that hold in what was written."""
    kinds = {"l": f" ({goals.get('l_kind')})", "t": f" ({goals.get('t_kind')})"}
    said = [f"{name} {sign} {goals[name]:g}{kinds.get(name, '')}" for name, sign in SIGNS.items() if name in goals]
    if said:
        names = f" for {', '.join(sensitive)}" if goals.keys() - {"k"} else ""
        out().print(escape(f"{head} every class {', '.join(said)}{names}."))


def hard_goals(found: dict[str, Any]) -> None:
    """Why goals left but one class, by the columns of which nearly every row has a value of its own."""
    if found["classes"] > 1 or not found["goals"]:
        return
    diversity, rows = found["measured"]["l"], found["rows"]
    names = ", ".join(column for column, values in diversity.items() if values > NEARLY_ALL * rows)
    if names:
        reason = f"nearly every row has a value of its own in {names}, so no smaller class is like all rows"
        out().print(
            escape(f"The goals leave one class: {reason}. Ask --t-kind ordered, or publish {names} in fewer values.")
        )
    else:
        out().print("The goals leave one class: ask for less, or name fewer sensitive columns.")


def homogeneous(diversity: dict[str, int]) -> None:
    """k alone does not hide a value that a whole class shares."""
    for column, values in diversity.items():
        if values == 1:
            out().print(escape(f"In some class all rows share one {column} (l = 1): who knows the class learns it."))


def verified(found: dict[str, Any]) -> None:
    """The figures of a file that holds."""
    out().print(escape(f"{found['file']} holds: recomputed from the file alone."))
    table = grid("figure", "value>")
    for name in ("k", "classes", "rows", "average_class", "loss"):
        value = found.get(name)
        table.add_row(
            name,
            "not known" if value is None else f"{value:,.4f}" if isinstance(value, float) else f"{value:,}",
        )
    known = found["population"] is not None
    delta = "{:.4f} to {:.4f}".format(*found["delta_presence"]) if known else ""
    unknown = "not available (population unknown)"
    table.add_row("k-map", f"{found['k_map']:,} of {found['population']:,} people" if known else unknown)
    table.add_row("delta-presence", delta if known else unknown)
    out().print(table)
    models(found)
    for whose, goals in (("certificate", found["checked"]["certified"]), ("your own", found["checked"]["asked"])):
        kept_goals(f"Checked ({whose}): in", goals, found["l"])
    if found["l"]:
        out().print(MISSING_IS_A_VALUE)
    exposed(found)
    if found["passed_over"]:
        words = f"{found['passed_over']} was not looked at, since columns were named with --qi: leave --qi away"
        out().print(escape(f"Warning: {words} to check it."))


def exposed(found: dict[str, Any]) -> None:
    """The columns by their roles, and what the file gives away beside its classes."""
    for role in ("quasi_identifiers", "sensitive", "kept"):
        if found[role]:
            out().print(escape(f"{role.replace('_', '-').capitalize()}: {', '.join(found[role])}"))
    rows, share = found["unique_rows"], found["unique_share"]
    many = f"{rows} rows are" if share is None else f"{rows:,} rows ({share:.1%}) are"
    out().print(f"{many} unique on all published columns together.")
    for column, held in found["one_value"].items():
        if held["rows"]:
            said = f"{counted(held['rows'])} rows, in {held['classes']:,} classes, share one {column} with their class"
            out().print(escape(f"{said}: who knows the class learns it."))
    if found["identifying"]:
        names = ", ".join(found["identifying"])
        out().print(escape(f"Warning: {names}: published as they are, and nearly every row has a value of its own."))
    for said in joint_doubts(found):
        out().print(escape(f"Warning: {said}"))


def models(found: dict[str, Any]) -> None:
    """What a class tells about each sensitive column, the worst class of all."""
    if not found["l"]:
        return
    names = ("l", "entropy_l", "recursive_c", "alpha", "t", "t_ordered", "beta", "enhanced_beta", "delta")
    table = grid("of any class, at worst", *(f"{column}>" for column in found["l"]))
    for name in names:
        values = found[name].values()
        cells = ["none" if x is None else f"{x:,.4f}" if isinstance(x, float) else str(x) for x in values]
        table.add_row(name, *map(escape, cells))
    out().print(table)


def demo(
    title: str,
    path: Path,
    target: Path,
    found: dict[str, Any],
    certificate: dict[str, Any],
    figures: dict[str, Any],
) -> None:
    """One table of the demo, end to end."""
    out().rule(title, align="left")
    spectrum(found)
    out().print(escape(f"\nReleased at k = {certificate['parameters']['k']}:"))
    claims(certificate["claims"])
    with target.open(encoding="utf-8") as file:
        for _, text in zip(range(4), file, strict=False):
            out().print("  " + escape(text.rstrip("\n")), style="dim")
    out().print(f"Verified from the file alone: k = {figures['k']}, loss = {figures['loss']:.4f}.")
    out().print(escape(f"table        {path}\nrelease      {target}\ncertificate  {target}.certificate.json\n"))

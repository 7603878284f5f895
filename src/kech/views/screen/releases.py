"""How releases, their check and the ledger look on a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape

from kech.views.screen.tables import describe_bound, print_coarseness, print_spectrum
from kech.views.screen.terminal import grid, out

SIGNS = {"k": ">=", "l": ">=", "c": "<", "t": "<=", "alpha": "<="}  # how goals bound what is found
MISSING_IS_A_VALUE = "l counts a missing value as a value."
NEARLY_ALL = 0.9  # of the rows: then a value points at its row


def print_release(found: dict[str, Any], *, unmoved: Sequence[str] = ()) -> None:
    """What was written, in plain words; `unmoved` are columns whose ends are not moved at random."""
    out().print(escape(f"Wrote {found['file']} and {found['certificate']}"))
    if "verified" in found:
        out().print(escape(f"Wrote {found['report']} and {found['plan']}; the file was verified."))
    for file in found.get("private", []):
        out().print(escape(f"PRIVATE: {file} holds values of the table; the plan needs it, do not publish it."))
    print_claims(found)
    print_goals("In", found["goals"], found["measured"]["l"])
    explain_one_class(found)
    if "l" in found["goals"]:
        out().print(MISSING_IS_A_VALUE)
    if found["coarse"]:
        print_coarseness(found["coarse"]["step"], found["coarse"]["eps_error"])
    print_shared_values(found["measured"]["l"])
    print_earlier_releases(found["ledger"])
    if "bound" in found:
        out().print(escape(f"PRIVATE: {describe_bound(found['bound'])}"))
    if found["mapping"]:
        out().print(escape(f"PRIVATE: {found['mapping']} undoes this release. Keep it as you keep the original."))
    if found["dropped"]:
        out().print(escape(f"Not published: {', '.join(found['dropped'])}"))
    for said in find_doubts(found, unmoved):
        out().print(escape(f"Warning: {said}"))


def find_doubts(found: dict[str, Any], unmoved: Sequence[str]) -> Iterator[str]:
    """What its maker should look at before a release goes out."""
    if found["identifying"]:
        names = ", ".join(found["identifying"])
        remedy = "leave them out of --keep and --sensitive; numbers and dates may go to --qi"
        yield f"{names}: published as they are, and nearly every row has a value of its own: {remedy}."
    yield from find_joint_doubts(found)
    if found["rare_texts"]:
        names, remedy = ", ".join(found["rare_texts"]), "give them a hierarchy, or no role"
        yield f"{names}: nearly every row has a text of its own, so labels hardly tell anything: {remedy}."
    if found["unhidden_edges"]:
        yield f"edges of {', '.join(found['unhidden_edges'])} need not hide among k rows (--grid)."
    if unmoved:
        yield f"ends of {', '.join(unmoved)} are not moved at random, so many are somebody's value (--protect none)."


def find_joint_doubts(found: dict[str, Any]) -> Iterator[str]:
    """Columns that point at rows together."""
    for columns in found["identifying_together"]:
        remedy = "leave one of them out of --keep and --sensitive; numbers and dates may go to --qi"
        yield f"{', '.join(columns)}: published as they are, and nearly every row is unique on them together: {remedy}."


def print_claims(found: dict[str, Any]) -> None:
    """k, classes and loss in a sentence."""
    out().print(
        f"Every row hides among at least {found['k']:,}: {found['rows']:,} rows in {found['classes']:,} "
        f"{'class' if found['classes'] == 1 else 'classes'}, "
        f"loss {found['loss']:.4f}, suppressed {format_rows(found.get('suppressed', 0))}."
    )
    if isinstance(found.get("suppressed"), str):
        out().print("So few rows are left out that their number is hidden; the loss is that of the published rows.")
    if found["k"] == 1:
        out().print("[yellow]Warning:[/] k = 1 hides nobody: some row is alone in its class.")
    if found["classes"] == 1:
        out().print("All rows are one class: the quasi-identifiers tell nothing any more.")


def format_rows(rows: int | str) -> str:
    """A number of rows, or words where it is hidden."""
    return rows if isinstance(rows, str) else f"{rows:,}"


def print_goals(head: str, goals: dict[str, Any], sensitive: Iterable[str]) -> None:
    """The goals that hold in what was written."""
    kinds = {"l": f" ({goals.get('l_kind')})", "t": f" ({goals.get('t_kind')})"}
    said = [f"{name} {sign} {goals[name]:g}{kinds.get(name, '')}" for name, sign in SIGNS.items() if name in goals]
    if said:
        names = f" for {', '.join(sensitive)}" if goals.keys() - {"k"} else ""
        out().print(escape(f"{head} every class {', '.join(said)}{names}."))


def explain_one_class(found: dict[str, Any]) -> None:
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


def print_shared_values(diversity: dict[str, int]) -> None:
    """k alone does not hide a value that a whole class shares."""
    for column, values in diversity.items():
        if values == 1:
            out().print(escape(f"In some class all rows share one {column} (l = 1): who knows the class learns it."))


def print_verification(found: dict[str, Any]) -> None:
    """The figures of a file that holds."""
    out().print(escape(f"{found['file']} holds: recomputed from the file alone."))
    table = grid("figure", "value>")
    for name in ("k", "classes", "rows", "average_class", "loss"):
        value = found.get(name)
        table.add_row(
            name, "not known" if value is None else f"{value:,.4f}" if isinstance(value, float) else f"{value:,}"
        )
    known = found["population"] is not None
    delta = "{:.4f} to {:.4f}".format(*found["delta_presence"]) if known else ""
    unknown = "not available (population unknown)"
    table.add_row("k-map", f"{found['k_map']:,} of {found['population']:,} people" if known else unknown)
    table.add_row("delta-presence", delta if known else unknown)
    out().print(table)
    print_models(found)
    for whose, goals in (("certificate", found["checked"]["certified"]), ("your own", found["checked"]["asked"])):
        print_goals(f"Checked ({whose}): in", goals, found["l"])
    if found["l"]:
        out().print(MISSING_IS_A_VALUE)
    print_exposure(found)
    if found["passed_over"]:
        words = f"{found['passed_over']} was not looked at, since columns were named with --qi: leave --qi away"
        out().print(escape(f"Warning: {words} to check it."))


def print_exposure(found: dict[str, Any]) -> None:
    """The columns by their roles, and what the file gives away beside its classes."""
    for role in ("quasi_identifiers", "sensitive", "kept"):
        if found[role]:
            out().print(escape(f"{role.replace('_', '-').capitalize()}: {', '.join(found[role])}"))
    rows, share = found["unique_rows"], found["unique_share"]
    many = f"{rows} rows are" if share is None else f"{rows:,} rows ({share:.1%}) are"
    out().print(f"{many} unique on all published columns together.")
    for column, held in found["one_value"].items():
        if held["rows"]:
            said = (
                f"{format_rows(held['rows'])} rows, in {held['classes']:,} classes, share one {column} with their class"
            )
            out().print(escape(f"{said}: who knows the class learns it."))
    if found["identifying"]:
        names = ", ".join(found["identifying"])
        out().print(escape(f"Warning: {names}: published as they are, and nearly every row has a value of its own."))
    for said in find_joint_doubts(found):
        out().print(escape(f"Warning: {said}"))


def print_models(found: dict[str, Any]) -> None:
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


# -- ledger ----------------------------------------------------------------------------------------------


def print_ledger(found: dict[str, Any]) -> None:
    """The releases of the ledger."""
    if found["forgotten"]:
        out().print(f"Forgotten: {', '.join(found['forgotten'])}")
    if found["key_file"]:
        out().print(escape(f"Made: {found['key_file']}. Whoever has it can make your releases again: keep it secret."))
    count = len(found["releases"])
    out().print(escape(f"{found['file']}: {count} release{'' if count == 1 else 's'}"))
    table = grid("time", "table>", "k>", "SHA-256")
    for held in found["releases"]:
        table.add_row(held["time"], str(held["table"]), str(held["k"]), held["release"][:16])
    if found["releases"]:
        out().print(table)


def print_earlier_releases(word: dict[str, Any]) -> None:
    """What the ledger said; nothing of a first release."""
    if word["verdict"] == "no ledger":
        out().print("The ledger was not asked and does not know this release (--no-ledger).")
    if word["verdict"] == "nested":
        proof = f"it is proved that every class of this release is a union of classes of {word['nested_in']}"
        out().print(escape(f"This table was released before; {proof}."))
    if word["verdict"] == "composed":
        out().print(
            f"[yellow]Warning:[/] with the earlier releases of this table ({word['earlier']}) some row has "
            f"{word['joint_k']} of the {word['k']} candidates that one alone leaves (the smallest overlap of classes "
            f"has {word['worst_k']}); {word['below']:,} rows have fewer than {word['k']}. Do not publish these figures."
        )
    if word["updated"]:
        out().print(
            f"[yellow]Warning:[/] this file was released {word['updated']} times with other rows. Releases of updated "
            "tables are not compared."
        )


# -- demo ------------------------------------------------------------------------------------------------


def print_demo(
    title: str, path: Path, target: Path, found: dict[str, Any], certificate: dict[str, Any], figures: dict[str, Any]
) -> None:
    """One table of the demo, end to end."""
    out().rule(title, align="left")
    print_spectrum(found)
    out().print(escape(f"\nReleased at k = {certificate['parameters']['k']}:"))
    print_claims(certificate["claims"])
    with target.open(encoding="utf-8") as file:
        for _, text in zip(range(4), file, strict=False):
            out().print("  " + escape(text.rstrip("\n")), style="dim")
    out().print(f"Verified from the file alone: k = {figures['k']}, loss = {figures['loss']:.4f}.")
    out().print(escape(f"table        {path}\nrelease      {target}\ncertificate  {target}.certificate.json\n"))

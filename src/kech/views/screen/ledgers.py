"""How the ledger, and what it says to a release, look on a terminal."""

from typing import Any

from rich.markup import escape

from kech.views.screen.terminal import grid, out


def remembered(found: dict[str, Any]) -> None:
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


def earlier_releases(word: dict[str, Any]) -> None:
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

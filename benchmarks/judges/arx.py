"""ARX: its own measures of a file, and how far those of `kech risk` are from them.

KECH_ARX names the class path of ARX's jar; Java compiles `ArxChild.java` when it starts.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import read_answer
from benchmarks.public.families import PublicTable
from benchmarks.public.tools import KECH

CLASS_PATH = os.environ.get("KECH_ARX", "")
CHILD = Path(__file__).with_name("ArxChild.java")
THRESHOLD = 0.09  # of risk, above which records are counted


def is_at_hand() -> bool:
    """Whether there is a jar, and Java to run it."""
    return bool(CLASS_PATH and shutil.which("java"))


def ask_arx(table: PublicTable, released: Path, copy: Path) -> dict[str, Any]:
    """ARX's classes and risks of a file, and the largest difference of kech's figures from them."""
    shutil.copy(released, copy)  # no certificate lies beside it
    names = table.quasi_identifiers
    theirs = read_answer(["java", "-cp", CLASS_PATH, str(CHILD), str(copy), str(THRESHOLD), *names])
    ours = read_answer([KECH, "risk", str(copy), "--qi", *names, "--json"])
    if failed := [answer for answer in (theirs, ours) if "failed" in answer]:
        return failed[0]
    risks = ours["prosecutor"]
    figures = risks | {"classes": ours["classes"], "above": risks["above"][str(THRESHOLD)]}
    return theirs | {"difference": max(abs(theirs[name] - figures[name]) for name in theirs)}


def say_arx(lines: Sequence[dict[str, Any]]) -> str:
    """What the table of ARX's risks shows, or why there is none."""
    if not lines:
        return "ARX's own measures need its jar, and Java: name the jar in KECH_ARX. It was not at hand."
    differences = [line["difference"] for line in lines if "failed" not in line]
    failed = f" There is no verdict on {len(lines) - len(differences)} files." if len(differences) < len(lines) else ""
    return (
        "ARX's average risk of a prosecutor, of the same files: classes by rows. Its number of classes, its highest\n"
        f"and average risk and the share of records above {THRESHOLD} differ from those of `kech risk` by at most\n"
        f"{max(differences, default=0.0):.6f}.{failed}"
    )
